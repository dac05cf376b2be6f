//! The findings of the paper against the table: inequalities are claims, findings agree or differ.

use super::figures::{Row, SHOWN};
use crate::experiment::Report;

const LOWER: usize = 0;
const DISTRIBUTION: usize = 1;

/// Chance may put a lower bound above the distribution: 5 % per row.
const ALLOWED: usize = 3;

pub fn judge(report: &mut Report, rows: &[Row]) {
    report.line("");
    inequalities(report, rows);
    report.line("");
    for (paper, found) in findings(rows) {
        match found {
            Some((true, figures)) => report.line(format!("AGREES   {paper} ({figures})")),
            Some((false, figures)) => report.line(format!("DIFFERS  {paper} ({figures})")),
            None => report.line(format!("UNKNOWN  {paper} (rows are missing)")),
        }
    }
}

fn inequalities(report: &mut Report, rows: &[Row]) {
    let mut above_distribution = Vec::new();
    for (place, order) in SHOWN.iter().enumerate() {
        for row in rows {
            let value = |curve: usize| row.rdp(curve, place);
            if value(LOWER) > value(DISTRIBUTION) {
                above_distribution.push(format!("{} {} at order {order}", row.model, row.adversary));
            }
            for curve in 2..4 {
                let Some(upper) = value(curve) else { continue };
                if value(DISTRIBUTION).is_some_and(|distribution| distribution > upper * (1.0 + 1e-9)) {
                    report.claim(false, format!("{} {} exceeds accountant {curve}", row.model, row.adversary));
                }
            }
        }
    }
    report.claim(true, "every distribution lies below its accountants, at both orders, unless said above");
    let named =
        if above_distribution.is_empty() { String::new() } else { format!(": {}", above_distribution.join(", ")) };
    let line = format!("{} lower bounds lie above the distribution{named}", above_distribution.len());
    report.claim(above_distribution.len() <= ALLOWED, line);
}

/// A finding, whether it holds here, and the figures that say so.
type Finding = (&'static str, Option<(bool, String)>);

fn findings(rows: &[Row]) -> Vec<Finding> {
    let distribution = |model: &str, adversary: &str| {
        let row = rows.iter().find(|row| row.model == model && row.adversary.starts_with(adversary));
        row.and_then(|row| row.rdp(DISTRIBUTION, 0))
    };
    let compare = |names: &[(&str, &str)], holds: &dyn Fn(&[f64]) -> bool| {
        let values: Option<Vec<f64>> = names.iter().map(|(model, adversary)| distribution(model, adversary)).collect();
        values.map(|values| {
            let figures: Vec<String> = values.iter().map(|value| format!("{value:.3e}")).collect();
            (holds(&values), figures.join(", "))
        })
    };
    let mean = |model: &str, adversary: &str| {
        rows.iter().find(|row| row.model == model && row.adversary == adversary).map(|row| row.mean)
    };
    let means = |names: [(&str, &str); 2], holds: &dyn Fn(f64, f64) -> bool| {
        let [a, b] = names.map(|(model, adversary)| mean(model, adversary));
        a.zip(b).map(|(a, b)| (holds(a, b), format!("{a:.3e}, {b:.3e}")))
    };
    let rising = |values: &[f64]| values.is_sorted();
    let close = |values: &[f64]| (0.5..2.0).contains(&(values[1] / values[0]));
    let models = |adversary| [("pate", adversary), ("capc", adversary), ("prompt-pate*", adversary)];
    vec![
        ("nat-advq leaks least in PATE, then CaPC, then PromptPATE", compare(&models("nat-advq"), &rising)),
        ("pois-advq leaks least in PATE, then CaPC, then PromptPATE", compare(&models("pois-advq"), &rising)),
        (
            "pois-natq leaks far less in PATE than in PromptPATE",
            compare(&[("pate", "pois-natq"), ("prompt-pate*", "pois-natq")], &|values| 10.0 * values[0] < values[1]),
        ),
        (
            "in PATE pois-advq leaks more than nat-advq",
            compare(&[("pate", "nat-advq"), ("pate", "pois-advq")], &|values| values[0] < values[1]),
        ),
        (
            "in PATE pois-advq leaks more than nat-advq in the mean over the queries of each",
            means([("pate", "nat-advq"), ("pate", "pois-advq")], &|natural, poisoned| natural < poisoned),
        ),
        (
            "PATE leaks less than CaPC in the mean over the queries",
            means([("pate", "pois-advq"), ("capc", "pois-advq")], &|pate, capc| pate < capc),
        ),
        (
            "in CaPC both adversarial queries leak alike (within a factor of 2)",
            compare(&[("capc", "nat-advq"), ("capc", "pois-advq")], &close),
        ),
        (
            "in PromptPATE both adversarial queries leak alike (within a factor of 2)",
            compare(&[("prompt-pate*", "nat-advq"), ("prompt-pate*", "pois-advq")], &close),
        ),
        (
            "in Private-kNN both adversarial queries leak alike (within a factor of 2)",
            compare(&[("private-knn", "nat-advq"), ("private-knn", "pois-advq")], &close),
        ),
        (
            "natural queries leak much less than adversarial ones in PATE",
            compare(&[("pate", "pois-advq"), ("pate", "pois-natq")], &|values| 10.0 * values[1] < values[0]),
        ),
        (
            "natural queries leak less than adversarial ones in PromptPATE",
            compare(&[("prompt-pate*", "pois-advq"), ("prompt-pate*", "pois-natq")], &|values| values[1] < values[0]),
        ),
        (
            "natural queries leak much less than adversarial ones in Private-kNN",
            compare(&[("private-knn", "pois-advq"), ("private-knn", "pois-natq (test)")], &|values| {
                10.0 * values[1] < values[0]
            }),
        ),
        (
            "in Private-kNN a point in the space of features leaks more than a test point (there: about twice)",
            compare(&[("private-knn", "pois-natq (test)"), ("private-knn", "pois-natq (embedding)")], &|values| {
                values[1] > 1.5 * values[0]
            }),
        ),
    ]
}
