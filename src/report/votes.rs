//! The document of `leakbound audit votes`.

use super::counts::{BoundRow, Claim, EpsilonRow, claims_text};
use super::document::{Document, Envelope};
use super::number::{Number, short, significant};
use super::table::{TextTable, csv_text, warnings_text};
use crate::bound::{Direction, Validity};
use crate::error::Result;
use serde::Serialize;
use std::fmt;

/// What a composed figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Meaning {
    /// A theorem stands behind it.
    Bound,
    /// It compares, and proves nothing about the whole sequence.
    Illustrative,
}

impl fmt::Display for Meaning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Bound => "bound",
            Self::Illustrative => "illustrative",
        })
    }
}

/// The exact divergence of one order.
#[derive(Debug, Clone, Serialize)]
pub struct ExactRow {
    /// α.
    pub order: f64,
    /// D(S‖S').
    pub forward: Number,
    /// D(S'‖S).
    pub reverse: Number,
}

/// One upper bound of D(S‖S').
#[derive(Debug, Clone, Serialize)]
pub struct UpperRow {
    /// The accountant.
    pub name: &'static str,
    /// α.
    pub order: f64,
    /// The RDP it promises.
    pub rdp: Number,
    /// What it guarantees.
    pub validity: Validity,
}

/// One query: what was seen, what is true of the model, what is promised.
#[derive(Debug, Clone, Serialize)]
pub struct VotesQuery {
    /// Position of the query in the recording.
    pub query: String,
    /// Its true class, where recorded.
    pub label: Option<usize>,
    /// Outputs per class under S.
    pub counts: Vec<u64>,
    /// Outputs per class under S'.
    pub counts_neighbor: Vec<u64>,
    /// Rényi lower bounds.
    pub lower: Vec<BoundRow>,
    /// ε lower bounds.
    pub epsilon: Vec<EpsilonRow>,
    /// Exact divergences of the fitted model.
    pub exact: Vec<ExactRow>,
    /// Upper bounds.
    pub upper: Vec<UpperRow>,
}

/// ε at δ of a composed curve.
#[derive(Debug, Clone, Serialize)]
pub struct ComposedEpsilon {
    /// δ.
    pub delta: f64,
    /// ε by the improved conversion.
    pub epsilon: Number,
    /// The order that gives it.
    pub order: f64,
    /// What it is: a lower RDP curve converts to nothing but an illustration.
    pub meaning: Meaning,
}

/// A curve of the whole sequence of queries.
#[derive(Debug, Clone, Serialize)]
pub struct ComposedCurve {
    /// `lower-sum`, `lower-largest-query`, `exact-sum`, or an accountant.
    pub name: &'static str,
    /// Which divergence.
    pub direction: Direction,
    /// Its value at each of the section's orders.
    pub values: Vec<Number>,
    /// What the values are.
    pub meaning: Meaning,
    /// Converted.
    pub epsilon: ComposedEpsilon,
}

/// The figures of the whole sequence.
#[derive(Debug, Clone, Serialize)]
pub struct ComposedSection {
    /// The mode: independent, shared-teachers or per-query.
    pub composition: String,
    /// What the sequence is, in words.
    pub sequence: String,
    /// Number of queries in the sequence.
    pub queries: u64,
    /// What the sum of the lower bounds is.
    pub meaning: Meaning,
    /// Why.
    pub reason: &'static str,
    /// Orders of the curves.
    pub orders: Vec<f64>,
    /// The curves.
    pub curves: Vec<ComposedCurve>,
    /// The probability that the lower curves are wrong, all queries together.
    pub failure_probability: f64,
}

/// The result of `leakbound audit votes`.
#[derive(Debug, Clone, Serialize)]
pub struct VotesDocument {
    /// The common part.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// Title lines of the text.
    #[serde(skip)]
    pub title: String,
    /// Orders of the rows, as asked for.
    #[serde(skip)]
    pub orders: Vec<f64>,
    /// The direction that the text shows.
    #[serde(skip)]
    pub shown: Direction,
    /// The queries.
    pub queries: Vec<VotesQuery>,
    /// The whole sequence; none with `--composition per-query`.
    pub composed: Option<ComposedSection>,
    /// Claims tested.
    pub claims: Vec<Claim>,
}

/// Orders in text.
const MOST_ORDERS: usize = 6;

impl VotesDocument {
    fn upper_names(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for row in self.queries.iter().flat_map(|query| &query.upper) {
            if !names.contains(&row.name) {
                names.push(row.name);
            }
        }
        names
    }

    fn methods(&self) -> Vec<&'static str> {
        let mut methods = Vec::new();
        for row in self.queries.first().map_or(&[][..], |query| &query.lower) {
            if !methods.contains(&row.method) {
                methods.push(row.method);
            }
        }
        methods
    }

    /// The orders that fit a page: the first, the last, and some between them in equal ratios.
    fn shown_orders(&self) -> Vec<f64> {
        let count = self.orders.len();
        if count <= MOST_ORDERS {
            return self.orders.clone();
        }
        let places = (0..MOST_ORDERS)
            .map(|step| (((count as f64).powf(step as f64 / (MOST_ORDERS - 1) as f64)).round() as usize - 1).max(step));
        places.map(|place| self.orders[place.min(count - 1)]).collect()
    }

    fn lower(&self, query: &VotesQuery, method: &str, order: f64) -> Option<f64> {
        let row =
            query.lower.iter().find(|row| row.method == method && row.order == order && row.direction == self.shown);
        row.map(|row| row.rdp_lower.0)
    }

    fn exact(&self, query: &VotesQuery, order: f64) -> f64 {
        let row = query.exact.iter().find(|row| row.order == order);
        row.map_or(0.0, |row| if self.shown == Direction::Forward { row.forward.0 } else { row.reverse.0 })
    }

    /// Per query at one order: lower bounds, exact value, upper bounds, and the share certified.
    fn queries_text(&self, order: f64) -> String {
        let (methods, uppers) = (self.methods(), self.upper_names());
        let mut header = vec!["query", "label"];
        header.extend(&methods);
        header.push("exact");
        header.extend(&uppers);
        header.push("lower/exact");
        let with_epsilon = self.queries.iter().any(|query| !query.epsilon.is_empty());
        if with_epsilon {
            header.push("ε at least");
        }
        let mut table = TextTable::new(&header, &[]);
        for query in &self.queries {
            let exact = self.exact(query, order);
            let lower: Vec<f64> = methods.iter().filter_map(|method| self.lower(query, method, order)).collect();
            let best = lower.iter().copied().fold(0.0, f64::max);
            let mut cells =
                vec![query.query.clone(), query.label.map_or_else(|| "-".into(), |label| label.to_string())];
            cells.extend(lower.iter().map(|value| significant(*value, 3)));
            cells.push(significant(exact, 3));
            for name in &uppers {
                let row = query.upper.iter().find(|row| row.name == *name && row.order == order);
                cells.push(row.map_or_else(String::new, |row| significant(row.rdp.0, 3)));
            }
            cells.push(share(best, exact));
            if with_epsilon {
                let epsilon = query.epsilon.iter().map(|row| row.epsilon_lower.0).fold(0.0, f64::max);
                cells.push(significant(epsilon, 3));
            }
            table.row(cells);
        }
        let certified = self.queries.iter().filter(|query| {
            methods.iter().any(|method| self.lower(query, method, order).is_some_and(|value| value > 0.0))
        });
        let count = self.queries.len();
        let mut text = table.text();
        text.truncate(text.trim_end().len());
        text + &format!("\n  leakage certified in {} of {count} queries\n\n", certified.count())
    }

    /// Means over the queries, order by order.
    fn orders_text(&self) -> String {
        let (methods, uppers) = (self.methods(), self.upper_names());
        let mut header = vec!["order α"];
        header.extend(&methods);
        header.push("exact");
        header.extend(&uppers);
        header.push("lower/exact");
        let mut table = TextTable::new(&header, &[]);
        let count = self.queries.len() as f64;
        for order in self.shown_orders() {
            let mean = |value: &dyn Fn(&VotesQuery) -> f64| self.queries.iter().map(value).sum::<f64>() / count;
            let lower: Vec<f64> =
                methods.iter().map(|method| mean(&|query| self.lower(query, method, order).unwrap_or(0.0))).collect();
            let exact = mean(&|query| self.exact(query, order));
            let mut cells = vec![short(order)];
            cells.extend(lower.iter().map(|value| significant(*value, 4)));
            cells.push(significant(exact, 4));
            for name in &uppers {
                let upper = mean(&|query| {
                    query.upper.iter().find(|row| row.name == *name && row.order == order).map_or(0.0, |row| row.rdp.0)
                });
                cells.push(significant(upper, 4));
            }
            cells.push(share(lower.iter().copied().fold(0.0, f64::max), exact));
            table.row(cells);
        }
        table.text()
    }

    fn composed_text(&self) -> String {
        let Some(composed) = &self.composed else { return String::new() };
        let mut text = format!(
            "Composed: {} ({}). The sum of the lower bounds is {}: {}.\n",
            composed.sequence,
            composed.composition,
            match composed.meaning {
                Meaning::Bound => "a bound",
                Meaning::Illustrative => "illustrative",
            },
            composed.reason
        );
        let shown: Vec<usize> = self
            .shown_orders()
            .iter()
            .filter_map(|order| composed.orders.iter().position(|other| other == order))
            .collect();
        let names: Vec<String> = shown.iter().map(|&index| format!("α = {}", short(composed.orders[index]))).collect();
        let delta = composed.curves.first().map_or(0.0, |curve| curve.epsilon.delta);
        let epsilon_name = format!("ε at δ = {}", short(delta));
        let mut header = vec!["curve", "RDP is"];
        header.extend(names.iter().map(String::as_str));
        header.extend([epsilon_name.as_str(), "ε is"]);
        let mut table = TextTable::new(&header, &[0, 1, header.len() - 1]);
        for curve in composed.curves.iter().filter(|curve| curve.direction == self.shown) {
            let mut cells = vec![curve.name.to_owned(), curve.meaning.to_string()];
            cells.extend(shown.iter().map(|&index| significant(curve.values[index].0, 4)));
            cells.extend([significant(curve.epsilon.epsilon.0, 4), curve.epsilon.meaning.to_string()]);
            table.row(cells);
        }
        text += &table.text();
        text
    }
}

fn share(lower: f64, exact: f64) -> String {
    if exact > 0.0 { format!("{:.1} %", 100.0 * lower / exact) } else { "-".into() }
}

impl Document for VotesDocument {
    fn text(&self) -> String {
        let mut text = format!("{}\n\n", self.title);
        if let Some(&order) = self.orders.first() {
            text += &format!("Rényi divergence of order {}, {}, per query (nats)\n", short(order), self.shown);
            text += &self.queries_text(order);
        }
        let more = self.orders.len() - self.shown_orders().len();
        let more = if more > 0 { format!("; {more} more orders in --format json") } else { String::new() };
        text += &format!("Mean over the queries, {}, per order (nats{more})\n", self.shown);
        text += &self.orders_text();
        text += &self.composed_text();
        text += &claims_text(&self.claims);
        text + &warnings_text(&self.envelope.warnings)
    }

    fn csv(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Row<'a> {
            query: &'a str,
            kind: &'a str,
            name: &'a str,
            direction: &'a str,
            order: Option<f64>,
            delta: Option<f64>,
            value: String,
            failure_probability: Option<f64>,
            validity: &'a str,
        }
        let mut rows = Vec::new();
        for query in &self.queries {
            let name = query.query.as_str();
            rows.extend(query.lower.iter().map(|row| Row {
                query: name,
                kind: "lower",
                name: row.method,
                direction: row.direction.name(),
                order: Some(row.order),
                delta: None,
                value: row.rdp_lower.text(),
                failure_probability: Some(row.failure_probability),
                validity: row.validity.name(),
            }));
            rows.extend(query.epsilon.iter().map(|row| Row {
                query: name,
                kind: "lower-epsilon",
                name: row.method,
                direction: row.direction.name(),
                order: None,
                delta: Some(row.delta),
                value: row.epsilon_lower.text(),
                failure_probability: Some(row.failure_probability),
                validity: row.validity.name(),
            }));
            let exact = query.exact.iter().flat_map(|row| {
                Direction::BOTH.map(|direction| {
                    (row.order, direction, if direction == Direction::Forward { row.forward } else { row.reverse })
                })
            });
            rows.extend(exact.map(|(order, direction, value)| Row {
                query: name,
                kind: "exact",
                name: "exact",
                direction: direction.name(),
                order: Some(order),
                delta: None,
                value: value.text(),
                failure_probability: None,
                validity: Validity::Exact.name(),
            }));
            rows.extend(query.upper.iter().map(|row| Row {
                query: name,
                kind: "upper",
                name: row.name,
                direction: Direction::Forward.name(),
                order: Some(row.order),
                delta: None,
                value: row.rdp.text(),
                failure_probability: None,
                validity: row.validity.name(),
            }));
        }
        csv_text(rows)
    }
}
