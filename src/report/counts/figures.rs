//! The figures of `leakbound audit counts` and `leakbound audit confusion`.

use crate::bound::{Direction, Validity};
use crate::report::bound_figures::{epsilon_per_query, method, query_rows, rows_figure};
use crate::report::composed::ComposedSectionText;
use crate::report::words::distinct;
use crate::report::{Axis, Curves, Drawing, Row, Scale, Series, SeriesKind, meaning};
use crate::study::{BoundRow, CountsAnswer, DistributionDivergenceRow, EpsilonRow, ForecastRow, short, significant};
use easy_ext::ext;

#[ext(CountsAnswerFigures)]
impl CountsAnswer {
    /// Directions of the bounds.
    pub(crate) fn directions(&self) -> Vec<Direction> {
        let bounded = |direction: &Direction| self.bounds.iter().any(|row| row.direction == *direction);
        Direction::BOTH.into_iter().filter(bounded).collect()
    }

    pub(crate) fn queries(&self) -> Vec<&str> {
        let names = self.bounds.iter().map(|row| &row.query).chain(self.epsilon.iter().map(|row| &row.query));
        distinct(names.map(String::as_str))
    }

    /// The query that a figure of one query is about, and why: the one that leaks most by the given distribution at the
    /// first order, or else the first of the file. Never the one with the largest bound, which chance favors.
    pub(crate) fn shown_query(&self) -> Option<(&str, &'static str)> {
        let first = self.bounds.first()?;
        let of_distribution = self.distribution.iter().filter(|row| row.order == first.order);
        let leakiest = of_distribution.reduce(|a, b| if b.divergence.0 > a.divergence.0 { b } else { a });
        Some(leakiest.map_or((first.query.as_str(), "the first of the file"), |row| {
            (row.query.as_str(), "which leaks most by the given distribution")
        }))
    }

    pub(crate) fn drawings(&self) -> Vec<Drawing> {
        let mut figures = Vec::new();
        let several = self.queries().len() > 1;
        let shown = self.shown_query();
        for direction in Direction::BOTH {
            let rows: Vec<&BoundRow> = self.bounds.iter().filter(|row| row.direction == direction).collect();
            if several {
                figures.extend(per_query(&rows, direction));
            }
            let one = shown.map(|(query, _)| query);
            let rows: Vec<&BoundRow> = rows.into_iter().filter(|row| Some(row.query.as_str()) == one).collect();
            let of = shown.filter(|_| several).map(|(query, why)| format!(", query {query}, {why}"));
            figures.extend(per_order(&rows, &self.distribution, direction, &of.unwrap_or_default()));
        }
        figures.extend(if several {
            epsilon_per_query(&self.epsilon.iter().collect::<Vec<_>>())
        } else {
            epsilon_per_method(&self.epsilon)
        });
        figures.extend(tightness(&self.forecasts));
        if let Some(composed) = &self.composed {
            let directions = self.directions().into_iter();
            figures.extend(directions.filter_map(|direction| composed.figure(direction, letters(direction))));
        }
        figures
    }
}

/// The share of the divergence against the samples, for the first query.
fn tightness(forecasts: &[ForecastRow]) -> Option<Drawing> {
    let first = forecasts.first()?;
    let rows = forecasts.iter().filter(|row| row.query == first.query);
    let series = rows.map(|row| Series::new(row.method, SeriesKind::Lower, row.tightness.clone()));
    let of = if first.query.is_empty() { String::new() } else { format!(", query {}", first.query) };
    let figure = Curves {
        title: format!(
            "Tightness against samples: share of {} of order {}{of}",
            letters(first.direction),
            short(first.order)
        ),
        description: "Which share of the divergence each method is expected to certify, if it is as it looks now."
            .into(),
        x: Axis::log("samples per world"),
        y: Axis { label: "share certified".into(), scale: Scale::Linear },
        series: series.collect(),
    };
    Some(figure.draw())
}

/// The divergence in letters, P that of the dataset.
const fn letters(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "D(P‖Q)",
        Direction::Reverse => "D(Q‖P)",
    }
}

/// The bounds of one query and direction against the order.
fn per_order(
    rows: &[&BoundRow],
    distribution: &[DistributionDivergenceRow],
    direction: Direction,
    of: &str,
) -> Option<Drawing> {
    let title = format!("Lower bounds on the Rényi divergence {}{of}", letters(direction));
    if distinct(rows.iter().map(|row| row.order.to_bits())).len() < 2 {
        let title = format!("{title}, order {}", short(rows.first()?.order));
        let rows = rows.iter().map(|row| (row.method.to_owned(), row.validity, row.rdp_lower.0));
        return Some(per_method(title, "nats", rows));
    }
    let series = distinct(rows.iter().map(|row| (row.method, row.validity))).into_iter().map(|(name, validity)| {
        let points = rows.iter().filter(|row| row.method == name && row.validity == validity);
        let (label, kind) = method(name, validity);
        Series::new(label, kind, points.map(|row| [row.order, row.rdp_lower.0]).collect())
    });
    let query = rows.first().map(|row| row.query.as_str());
    let distribution =
        distribution.iter().filter(|row| Some(row.query.as_str()) == query && row.direction == direction);
    let exact: Vec<_> = distribution.map(|row| [row.order, row.divergence.0]).collect();
    let exact = (!exact.is_empty()).then(|| Series::new("of the given distribution", SeriesKind::Exact, exact));
    let words = "The leakage is above every line with a guarantee, at all orders of a line together, except with the line's \
                 failure probability.";
    Some(Curves::of_orders(title, words, exact.into_iter().chain(series).collect()).draw())
}

/// The bounds of the first order, a row for each query.
fn per_query(rows: &[&BoundRow], direction: Direction) -> Option<Drawing> {
    let order = rows.first()?.order;
    let title =
        format!("Lower bounds on the Rényi divergence {} of order {} per query", letters(direction), short(order));
    let rows = rows.iter().filter(|row| row.order == order);
    let rows: Vec<_> = rows.map(|row| (row.query.as_str(), row.method, row.validity, row.rdp_lower.0)).collect();
    Some(query_rows(title, "", "nats", &rows))
}

/// ε bounds of one query, a row for each method and direction.
fn epsilon_per_method(rows: &[EpsilonRow]) -> Option<Drawing> {
    let title = format!("Lower bounds on ε at δ = {}", short(rows.first()?.delta));
    let rows = rows.iter().map(|row| (format!("{} {}", row.method, row.direction), row.validity, row.epsilon_lower.0));
    Some(per_method(title, "ε", rows))
}

/// Named bounds, marked by their guarantees.
fn per_method(title: String, quantity: &str, bounds: impl Iterator<Item = (String, Validity, f64)> + Clone) -> Drawing {
    let validities = distinct(bounds.clone().map(|bound| bound.1));
    let rows = bounds.map(|(label, validity, value)| Row {
        label,
        values: validities.iter().map(|known| (*known == validity).then_some(value)).collect(),
        bands: Vec::new(),
        note: significant(value, 4),
    });
    let series = validities.iter().map(|&validity| (validity.name().to_owned(), meaning::kind(validity)));
    rows_figure(title, "Each bound is marked by what it guarantees.".into(), quantity, series, rows.collect())
}
