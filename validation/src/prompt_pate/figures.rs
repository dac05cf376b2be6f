//! Rényi curves of the two kinds of adversaries, after figures 3 and 4 of Chadha et al. (2024).

use crate::experiment::Report;
use crate::private_prediction::figures::{CURVES, Row};
use leakbound::report::{Axis, Curves, Series, SeriesKind};

/// What each curve of a row is.
const KINDS: [SeriesKind; 3] = [SeriesKind::Lower, SeriesKind::Exact, SeriesKind::Upper];
/// Orders that are drawn.
const ORDERS: std::ops::RangeInclusive<f64> = 1.5..=64.0;

pub fn draw(report: &mut Report, rows: &[Row]) {
    let kinds = [
        ("prompt-pate-chosen-queries", "Queries chosen by the adversary: the worst, one answer", false),
        ("prompt-pate-natural-queries", "Natural queries: the mean of all, one answer each", true),
    ];
    for (name, title, natural) in kinds {
        let chosen = rows.iter().filter(|row| row.adversary.starts_with("pois-natq") == natural);
        let curves = Curves {
            title: format!("PromptPATE. {title}"),
            description:
                "Rényi divergence of one answer against the order: lower bounds of an audit, the distribution \
                          itself, and the data-dependent accountant."
                    .into(),
            x: Axis::log("order α"),
            y: Axis::log("Rényi divergence in nats"),
            // Theory depends on the votes of the dataset alone, which are the same for all natural queries.
            series: chosen.enumerate().flat_map(|(place, row)| series(row, !natural || place == 0)).collect(),
        };
        report.figure(name.into(), curves.draw().svg());
    }
}

fn series(row: &Row, with_theory: bool) -> Vec<Series> {
    let kinds = if with_theory { &KINDS[..] } else { &KINDS[..2] };
    let name = row.adversary.trim_start_matches("pois-natq (").trim_end_matches(')');
    let curve = |(place, kind): (usize, SeriesKind)| {
        let points = row.curves[place].as_ref()?.iter().filter(|[order, _]| ORDERS.contains(order)).copied().collect();
        Some(Series::new(format!("{name}, {}", CURVES[place]), kind, points))
    };
    kinds.iter().copied().enumerate().filter_map(curve).collect()
}
