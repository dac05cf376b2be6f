//! The tables of `validation/reference`: every entry is compared, or set aside with a reason and counted.

mod accountants;
mod argmax;
mod check;
mod decimal;
mod epsilon_bounds;
mod limits;
mod lower_bounds;
mod mechanisms;
mod pairs;
mod pate_costs;
mod random_votes;
mod subsampling;
mod tails;

pub use check::{TableCheck, Worst};
pub use decimal::Decimal;

use crate::experiment::Report;
use leakbound::Result;
use leakbound::distribution::Noise;
use leakbound::quantity::NoiseScale;
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
    Table { file: "cp.json", compare: |check| each(check, limits::compare_clopper_pearson) },
    Table { file: "cp_more.json", compare: |check| each(check, limits::compare_clopper_pearson) },
    Table { file: "argmax.json", compare: |check| each(check, argmax::compare) },
    Table { file: "argmax_more.json", compare: |check| each(check, argmax::compare) },
    Table { file: "renyi.json", compare: |check| each(check, argmax::compare_renyi) },
    Table { file: "renyi_more.json", compare: |check| each(check, argmax::compare_renyi) },
    Table { file: "tails.json", compare: |check| each(check, tails::compare) },
    Table { file: "accountants.json", compare: |check| each(check, accountants::compare) },
    Table { file: "conversions_more.json", compare: |check| each(check, accountants::compare_conversion) },
    Table { file: "gnmax_more.json", compare: |check| each(check, pate_costs::compare_gnmax) },
    Table { file: "pate_costs.json", compare: |check| each(check, pate_costs::compare) },
    Table { file: "hockey_more.json", compare: |check| each(check, argmax::compare_hockey_stick) },
    Table { file: "linear_bounds.json", compare: |check| each(check, lower_bounds::compare_linear) },
    Table { file: "distributions.json", compare: |check| each(check, random_votes::compare_coarse) },
    Table { file: "random_votes_more.json", compare: |check| each(check, random_votes::compare) },
    Table { file: "displaced_votes.json", compare: |check| each(check, random_votes::compare_displaced) },
    Table { file: "two_cut_more.json", compare: |check| each(check, lower_bounds::compare_two_cut) },
    Table { file: "simul.json", compare: |check| each(check, limits::compare_simultaneous) },
    Table { file: "simultaneous_more.json", compare: |check| each(check, limits::compare_simultaneous) },
    Table { file: "berk_jones.json", compare: |check| each(check, limits::compare_berk_jones) },
    Table { file: "k_cut.json", compare: |check| each(check, lower_bounds::compare_k_cut) },
    Table { file: "epsilon_bounds.json", compare: |check| each(check, epsilon_bounds::compare) },
    Table { file: "one_run.json", compare: |check| each(check, epsilon_bounds::compare_one_run) },
    Table { file: "worst_case.json", compare: |check| each(check, pate_costs::compare_worst_case) },
    Table { file: "selection.json", compare: |check| each(check, mechanisms::compare_selection) },
    Table { file: "local.json", compare: |check| each(check, mechanisms::compare_local) },
    Table { file: "discrete_noise.json", compare: |check| each(check, subsampling::compare_discrete_noise) },
    Table { file: "more_noise.json", compare: |check| each(check, subsampling::compare_more_noise) },
    Table { file: "above_threshold.json", compare: |check| each(check, mechanisms::compare_above_threshold) },
    Table { file: "mechanisms.json", compare: |check| each(check, mechanisms::compare) },
    Table { file: "subsampling.json", compare: |check| each(check, subsampling::compare) },
    Table { file: "best_of_runs.json", compare: |check| each(check, accountants::compare_best_of_runs) },
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

/// Compares every entry of a table; what the library rejects is a failure of its entry.
fn each<T: DeserializeOwned>(check: &mut TableCheck, compare: impl Fn(&mut TableCheck, T) -> Result<()>) {
    for entry in load::<T>(check.table) {
        if let Err(error) = compare(check, entry) {
            check.fail(error.to_string());
        }
    }
}

/// An entry as most tables have it.
#[derive(Deserialize)]
struct Case<I, E> {
    inputs: I,
    expected: E,
}

/// The noise of an entry.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum NoiseName {
    Gaussian,
    Laplace,
}

fn noise(name: NoiseName, scale: NoiseScale) -> Noise {
    match name {
        NoiseName::Gaussian => Noise::Gaussian(scale),
        NoiseName::Laplace => Noise::Laplace(scale),
    }
}

/// Checks all tables.
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
