//! The tables of `validation/reference`: every entry is compared, or set aside with a reason and counted.

mod above_threshold;
mod accountants;
mod argmax;
mod berk_jones;
mod best_of_runs;
mod check;
mod clopper_pearson;
mod conversions;
mod decimal;
mod discrete_noise;
mod epsilon_bounds;
mod gnmax;
mod hockey_stick;
mod k_cut;
mod linear_bounds;
mod local;
mod mechanisms;
mod more_noise;
mod one_run;
mod pate_costs;
mod random_votes;
mod renyi;
mod selection;
mod simultaneous;
mod subsampling;
mod tails;
mod two_cut;
mod worst_case;

pub use check::{TableCheck, Worst};
pub use decimal::Decimal;

use crate::experiment::Report;
use leakbound::distribution::{Noise, OutcomeDistribution, noisy_argmax_distribution};
use leakbound::histogram::VoteHistogram;
use leakbound::quantity::{NoiseScale, Order};
use rayon::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A table and how it is checked.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Name of the file.
    pub file: &'static str,
    /// Compares every entry.
    compare: fn(&mut TableCheck),
}

impl Table {
    /// Compares every entry.
    #[must_use]
    pub fn check(self) -> TableCheck {
        let mut check = TableCheck::new(self.file);
        (self.compare)(&mut check);
        check
    }
}

/// All tables.
pub const ALL: [Table; 32] = [
    Table { file: "cp.json", compare: clopper_pearson::compare },
    Table { file: "cp_more.json", compare: clopper_pearson::compare },
    Table { file: "argmax.json", compare: argmax::compare },
    Table { file: "argmax_more.json", compare: argmax::compare },
    Table { file: "renyi.json", compare: renyi::compare },
    Table { file: "renyi_more.json", compare: renyi::compare },
    Table { file: "tails.json", compare: tails::compare },
    Table { file: "accountants.json", compare: accountants::compare },
    Table { file: "conversions_more.json", compare: conversions::compare },
    Table { file: "gnmax_more.json", compare: gnmax::compare },
    Table { file: "pate_costs.json", compare: pate_costs::compare },
    Table { file: "hockey_more.json", compare: hockey_stick::compare },
    Table { file: "linear_bounds.json", compare: linear_bounds::compare },
    Table { file: "distributions.json", compare: random_votes::compare_coarse },
    Table { file: "random_votes_more.json", compare: random_votes::compare },
    Table { file: "displaced_votes.json", compare: random_votes::compare_displaced },
    Table { file: "two_cut_more.json", compare: two_cut::compare },
    Table { file: "simul.json", compare: simultaneous::compare },
    Table { file: "simultaneous_more.json", compare: simultaneous::compare },
    Table { file: "berk_jones.json", compare: berk_jones::compare },
    Table { file: "k_cut.json", compare: k_cut::compare },
    Table { file: "epsilon_bounds.json", compare: epsilon_bounds::compare },
    Table { file: "one_run.json", compare: one_run::compare },
    Table { file: "worst_case.json", compare: worst_case::compare },
    Table { file: "selection.json", compare: selection::compare },
    Table { file: "local.json", compare: local::compare },
    Table { file: "discrete_noise.json", compare: discrete_noise::compare },
    Table { file: "more_noise.json", compare: more_noise::compare },
    Table { file: "above_threshold.json", compare: above_threshold::compare },
    Table { file: "mechanisms.json", compare: mechanisms::compare },
    Table { file: "subsampling.json", compare: subsampling::compare },
    Table { file: "best_of_runs.json", compare: best_of_runs::compare },
];

/// The entries of a table.
///
/// # Panics
/// When the file is missing or has another form: the tables are part of this repository.
pub(crate) fn load<T: DeserializeOwned>(file: &str) -> Vec<T> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("reference").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The noise of an entry.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum NoiseName {
    Gaussian,
    Laplace,
}

fn noise(name: NoiseName, scale: f64) -> Noise {
    let scale = NoiseScale::new(scale).expect("a table's scale is positive");
    match name {
        NoiseName::Gaussian => Noise::Gaussian(scale),
        NoiseName::Laplace => Noise::Laplace(scale),
    }
}

fn order(a: f64) -> Order {
    Order::new(a).expect("a table's order is above 1")
}

fn argmax_distribution(histogram: &[u64], noise: Noise) -> leakbound::Result<OutcomeDistribution> {
    noisy_argmax_distribution(&VoteHistogram::new(histogram.to_vec())?, noise)
}

/// Checks all tables.
#[must_use]
pub fn report() -> Report {
    let mut report = Report::new(
        "every entry of every reference table: worst error of each quantity, in brackets the largest share of its \
         tolerance",
    );
    let checks: Vec<TableCheck> = ALL.par_iter().map(|table| table.check()).collect();
    for check in &checks {
        report.claim(check.passed(), check.line());
        for (reason, count) in &check.set_aside {
            report.line(format!("      {:<24} {count:>4} set aside: {reason}", ""));
        }
        for failure in &check.failures {
            report.line(format!("      {:<24} missed: {failure}", ""));
        }
    }
    let entries: usize = checks.iter().map(|check| check.entries).sum();
    let compared: usize = checks.iter().map(|check| check.compared_entries).sum();
    report.line(format!("{compared} of {entries} entries compared"));
    report
}
