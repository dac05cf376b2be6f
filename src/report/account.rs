//! The document of `leakbound account`.

use super::document::{Document, Envelope};
use super::number::{Number, short, significant};
use super::page::Page;
use super::table::{TextTable, csv_text, warnings_text};
use crate::bound::{Directions, Validity};
use crate::divergence::Conversion;
use crate::error::Result;
use serde::Serialize;
use std::fmt;

/// What a curve of costs holds for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostMeaning {
    /// A bound for all votes: may be published.
    DataIndependent,
    /// A bound for these votes.
    DataDependent,
    /// The mean charge over the noise of a test: planning, no bound.
    Expected,
    /// The largest divergence from any histogram one moved vote away, per answer: nothing smaller holds for these votes.
    ExactGivenVotes,
    /// The largest sum of divergences over the answers when one teacher or party changes any of its votes.
    ExactOfOneVoter,
    /// The divergence of the two worlds of a scenario, per answer; of the sequence only where answers are independent.
    ExactOfScenario,
}

impl CostMeaning {
    /// What stands in tables.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::DataIndependent => "any votes",
            Self::DataDependent => "these votes",
            Self::Expected => "expected charge, no bound",
            Self::ExactGivenVotes => "these votes, any voter at each answer, exact per answer",
            Self::ExactOfOneVoter => "these votes, one voter at all answers, exact per answer",
            Self::ExactOfScenario => "these two worlds, exact per answer",
        }
    }

    /// Whether it is computed from output distributions.
    #[must_use]
    pub const fn is_exact(self) -> bool {
        matches!(self, Self::ExactGivenVotes | Self::ExactOfOneVoter | Self::ExactOfScenario)
    }
}

impl fmt::Display for CostMeaning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.words())
    }
}

/// ε at one δ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EpsilonAtDelta {
    /// δ.
    pub delta: f64,
    /// ε.
    pub epsilon: Number,
}

/// The cost of all answers by one accountant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostCurve {
    /// Its name.
    pub name: &'static str,
    /// What it holds for.
    pub meaning: CostMeaning,
    /// The directions that it covers: with one direction its ε is not an ε of differential privacy.
    pub directions: Directions,
    /// How it is guaranteed.
    pub validity: Validity,
    /// The RDP at each of the document's orders.
    pub rdp: Vec<Number>,
    /// ε at the document's δ.
    pub epsilon: Number,
    /// The order that gives it.
    pub order: f64,
    /// ε at other δ.
    pub profile: Vec<EpsilonAtDelta>,
}

impl CostCurve {
    /// What it holds for, with the direction where it is one only.
    #[must_use]
    pub fn holds_for(&self) -> String {
        match self.directions {
            Directions::Both => self.meaning.to_string(),
            Directions::Forward => format!("{}, S against S' only", self.meaning),
        }
    }
}

/// ε at one δ between two ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ComposedEpsilonAt {
    /// δ.
    pub delta: f64,
    /// At most ε.
    pub lower: Number,
    /// At least ε.
    pub upper: Number,
}

/// All answers composed by their privacy losses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LossComposition {
    /// What it holds for.
    pub meaning: CostMeaning,
    /// ε at the document's δ.
    pub epsilon: ComposedEpsilonAt,
    /// ε at other δ.
    pub profile: Vec<ComposedEpsilonAt>,
    /// ε is at least this when one teacher or party changes any of its votes, where the recording says who voted for what;
    /// `epsilon` lets another one change at each answer.
    pub one_voter: Option<Vec<EpsilonAtDelta>>,
}

/// A labeling campaign with one budget.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BudgetRow {
    /// The budget.
    pub budget: f64,
    /// Its δ.
    pub delta: f64,
    /// ε of what was spent.
    pub epsilon: Number,
    /// The order that gives it.
    pub order: f64,
    /// Queries asked.
    pub queries: u64,
    /// Queries answered.
    pub labels: u64,
    /// Their ratio.
    pub success_rate: Option<f64>,
    /// The share of right answers, where the true classes are recorded.
    pub label_accuracy: Option<f64>,
    /// Whether a query was turned away; otherwise the queries ran out.
    pub exhausted: bool,
}

/// The result of `leakbound account`.
#[derive(Debug, Clone, Serialize)]
pub struct AccountDocument {
    /// The common part.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// What was accounted, in words.
    #[serde(skip)]
    pub title: String,
    /// Number of answers.
    pub queries: usize,
    /// δ.
    pub delta: f64,
    /// How RDP became ε.
    pub conversion: Conversion,
    /// Its source.
    #[serde(skip)]
    pub conversion_words: &'static str,
    /// The orders of `rdp`.
    pub orders: Vec<f64>,
    /// The accountants.
    pub curves: Vec<CostCurve>,
    /// Composition by privacy-loss distributions, where it was asked for.
    pub losses: Option<LossComposition>,
    /// The labeling campaigns.
    pub budgets: Vec<BudgetRow>,
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".into(), |share| format!("{:.2} %", 100.0 * share))
}

impl AccountDocument {
    pub(super) fn epsilon_table(&self) -> TextTable {
        let mut table = TextTable::new(&["accountant", "holds for", "ε", "at order"], &[0, 1]);
        for curve in &self.curves {
            table.row(vec![
                curve.name.into(),
                curve.holds_for(),
                significant(curve.epsilon.0, 6),
                significant(curve.order, 4),
            ]);
        }
        if let Some(losses) = &self.losses {
            let meaning = match losses.meaning {
                CostMeaning::ExactOfScenario => "these two worlds, all answers composed",
                _ => "these votes, any voter at each answer, composed",
            };
            let ends = [losses.epsilon.lower, losses.epsilon.upper].map(|end| significant(end.0, 6));
            table.row(vec!["privacy-loss, at most".into(), meaning.into(), ends[1].clone(), String::new()]);
            table.row(vec!["privacy-loss, at least".into(), meaning.into(), ends[0].clone(), String::new()]);
            let one_voter = losses.one_voter.iter().flatten().find(|at| at.delta == self.delta);
            if let Some(at) = one_voter {
                let meaning = "these votes, one voter at all answers, composed";
                let epsilon = significant(at.epsilon.0, 6);
                table.row(vec!["privacy-loss, at least".into(), meaning.into(), epsilon, String::new()]);
            }
        }
        table
    }

    pub(super) fn rdp_table(&self) -> TextTable {
        let mut header = vec!["order α"];
        header.extend(self.curves.iter().map(|curve| curve.name));
        let mut table = TextTable::new(&header, &[]);
        for (index, &order) in self.orders.iter().enumerate() {
            let values = self.curves.iter().map(|curve| significant(curve.rdp[index].0, 6));
            table.row(std::iter::once(short(order)).chain(values).collect());
        }
        table
    }

    pub(super) fn budget_table(&self) -> TextTable {
        let header = ["budget", "ε spent", "order", "queries", "labels", "answered", "label accuracy"];
        let mut table = TextTable::new(&header, &[]);
        for row in &self.budgets {
            table.row(vec![
                short(row.budget),
                significant(row.epsilon.0, 4),
                significant(row.order, 4),
                row.queries.to_string(),
                row.labels.to_string(),
                percent(row.success_rate),
                percent(row.label_accuracy),
            ]);
        }
        table
    }

    pub(super) fn epsilon_words(&self) -> String {
        format!(
            "ε at δ = {} of {} answers together, {} conversion ({})",
            short(self.delta),
            self.queries,
            self.conversion,
            self.conversion_words
        )
    }

    pub(super) fn budget_words(&self) -> String {
        format!(
            "Budgets at δ = {}: recorded votes answered with fresh noise until the next answer would exceed the budget, \
             charged what happened. The charges depend on the votes and the order is the best one afterwards: these are the \
             figures that the literature reports, and no bounds of ε",
            short(self.delta)
        )
    }
}

impl Document for AccountDocument {
    fn text(&self) -> String {
        let mut text = format!("{}\n\n{}\n{}", self.title, self.epsilon_words(), self.epsilon_table().text());
        text += &format!("Rényi divergence of all answers in nats\n{}", self.rdp_table().text());
        if !self.budgets.is_empty() {
            text += &format!("{}\n{}", self.budget_words(), self.budget_table().text());
        }
        text + &warnings_text(&self.envelope.warnings)
    }

    fn csv(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Row {
            kind: &'static str,
            name: String,
            at: String,
            value: String,
        }
        let row = |kind, name: &str, at: String, value: String| Row { kind, name: name.into(), at, value };
        let rdp = self.curves.iter().flat_map(|curve| {
            self.orders
                .iter()
                .zip(&curve.rdp)
                .map(move |(order, rdp)| row("rdp", curve.name, short(*order), rdp.text()))
        });
        let epsilon = self.curves.iter().flat_map(|curve| {
            curve.profile.iter().map(move |at| row("epsilon", curve.name, short(at.delta), at.epsilon.text()))
        });
        let budgets = self.budgets.iter().flat_map(|budget| {
            let at = || short(budget.budget);
            let number = |share: Option<f64>| share.map_or_else(String::new, |share| Number(share).text());
            [
                row("budget", "epsilon", at(), budget.epsilon.text()),
                row("budget", "queries", at(), budget.queries.to_string()),
                row("budget", "labels", at(), budget.labels.to_string()),
                row("budget", "success_rate", at(), number(budget.success_rate)),
                row("budget", "label_accuracy", at(), number(budget.label_accuracy)),
            ]
        });
        let losses = self.losses.iter().flat_map(|losses| {
            losses.profile.iter().flat_map(|at| {
                [("privacy-loss-lower", at.lower), ("privacy-loss-upper", at.upper)]
                    .map(|(name, end)| row("epsilon", name, short(at.delta), end.text()))
            })
        });
        let one_voter = self.losses.iter().flat_map(|losses| losses.one_voter.iter().flatten());
        let one_voter =
            one_voter.map(|at| row("epsilon", "privacy-loss-one-voter-lower", short(at.delta), at.epsilon.text()));
        csv_text(rdp.chain(epsilon).chain(losses).chain(one_voter).chain(budgets))
    }

    fn page(&self) -> Page {
        self.as_page()
    }
}
