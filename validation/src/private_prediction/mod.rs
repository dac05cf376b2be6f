//! The audit of private prediction on recorded data: the figures of Chadha et al. (2024) as one table, and whether the
//! findings agree.

pub(crate) mod cases;
pub(crate) mod figures;
mod findings;

use crate::experiment::{self, Report, Verdict};
use cases::Case;
use figures::{CURVES, Row, SHOWN};
use leakbound::Result;
use std::path::{Path, PathBuf};

/// Where a recording lies: in the given folder, or the copy beside this program.
fn recording(name: &str) -> Option<PathBuf> {
    let copies = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    [experiment::data_folder(), copies].into_iter().map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Audits every model with every adversary.
pub fn report() -> Report {
    let setting = "Recorded Fashion-MNIST votes and neighbors: lower bounds from 10^8 outputs per query and world, drawn from the \
         distributions and, of repeated queries to prompt-pate*, simulated (k-cut-region, failure probability 0.05 per \
         row), the distribution itself, and accountants; forward divergences D(S||S'). PATE, CaPC and PromptPATE: k = \
         250, sigma = 40; Private-kNN: k = 200, rate 0.2, sigma = 30. \
         prompt-pate* is a stand-in: recorded votes, fixed, with the change that a prompt would make. Per-answer RDP is \
         that of the worst query where one is repeated and the mean where all are asked once; epsilon is at delta = 1e-6 \
         after 1000 answers, by adding the RDP and converting it: illustrative, as published, except for accountants.";
    Report::filled(setting, |report| -> Result<()> {
        let rows = rows(report)?;
        table(report, &rows, cases::ANSWERS);
        findings::judge(report, &rows);
        Ok(())
    })
}

fn rows(report: &mut Report) -> Result<Vec<Row>> {
    let mut cases: Vec<Case> = Vec::new();
    match recording("fashion_votes.npz") {
        Some(path) => cases.extend(cases::of_teachers(&path)?),
        None => report.line("skipped: fashion_votes.npz is not there"),
    }
    let training = recording("fashion_knn_train.npz");
    match recording("fashion_knn.npz") {
        Some(path) => cases.extend(cases::of_neighbors(&path, training.as_deref())?),
        None => report.line("skipped: fashion_knn.npz is not there"),
    }
    if training.is_none() {
        report.line("skipped: the embedding adversary, since fashion_knn_train.npz is not in the folder of --data");
    }
    report.line("skipped: capc with pois-natq, of which nothing is recorded");
    let mut rows = Vec::new();
    for case in &cases {
        match figures::row(case) {
            Ok(row) => rows.push(row),
            Err(error @ leakbound::Error::Rejected { .. }) => {
                report.line(format!("skipped: {} {}: {error}", case.model, case.adversary));
            }
            Err(error) => return Err(error),
        }
    }
    if rows.is_empty() {
        report.verdict = Verdict::Figures;
    }
    Ok(rows)
}

/// A figure of three digits.
fn shown(value: Option<f64>) -> String {
    match value {
        None => "-".into(),
        Some(0.0) => "0".into(),
        Some(value) if (1e-2..1e4).contains(&value) => format!("{value:.4}"),
        Some(value) => format!("{value:.2e}"),
    }
}

/// The rows: per answer, and after so many answers.
pub(crate) fn table(report: &mut Report, rows: &[Row], answers: f64) {
    let cells =
        |values: &[Option<f64>; 4]| values.iter().map(|value| format!("{:>13}", shown(*value))).collect::<String>();
    for (place, order) in SHOWN.iter().enumerate() {
        report.line("");
        let head: String =
            ["lower", "distribution", "dependent", "independent"].map(|name| format!("{name:>13}")).concat();
        report.line(format!("{:<53}{head}", format!("RDP of one answer, order {order}")));
        for row in rows {
            let values = std::array::from_fn(|curve| row.rdp(curve, place));
            report.line(format!("{:<13}{:<24}{:<16}{}", row.model, row.adversary, row.queries, cells(&values)));
        }
    }
    report.line("");
    report.line(format!(
        "epsilon after {answers} answers, delta = {:e} ({}; of lower bounds illustrative)",
        figures::DELTA,
        CURVES.join(", ")
    ));
    for row in rows {
        report.line(format!("{:<13}{:<24}{:<16}{}", row.model, row.adversary, row.queries, cells(&row.epsilon)));
    }
    report.line("");
    report.line("mean over all queries of the distribution's RDP of one answer, order 2, and the largest");
    for row in rows {
        let [mean, largest] = [row.mean, row.largest].map(|value| shown(Some(value)));
        report.line(format!("{:<13}{:<24}{mean:>10}{largest:>12}", row.model, row.adversary));
    }
    report.line("");
    for row in rows.iter().filter(|row| !row.note.is_empty()) {
        report.line(format!("{} {}: {}", row.model, row.adversary, row.note));
    }
}
