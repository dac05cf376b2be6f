//! How much of the true divergence each 2-cut certifies: the C = 2 tie of 250 voters at σ = 40, with the counts at
//! their expected values.

use crate::audit_cases::TIE;
use crate::experiment::Report;
use leakbound::Result;
use leakbound::audit::Rectangle;
use leakbound::bound::Direction;
use leakbound::distribution::OutcomeDistribution;
use leakbound::divergence::renyi_divergence;
use leakbound::interval::BinomialCounts;
use leakbound::quantity::{FailureProbability, Order};

/// Names of the columns: bound and split of the failure probability.
pub const COLUMNS: [&str; 4] = ["paper, each 95 %", "paper, jointly 95 %", "corner, undirected", "corner, directed"];

/// The fractions printed in the notes on methods, section 1.4: n, and (order 2, order 10) for each column. The row of
/// 1e7 was not printed there.
pub const PRINTED: [(u64, [[f64; 2]; 4]); 3] = [
    (100_000, [[0.0, 0.0], [0.0, 0.0], [0.247, 0.249], [0.313, 0.316]]),
    (1_000_000, [[0.0, 0.0], [0.0, 0.0], [0.707, 0.709], [0.741, 0.743]]),
    (100_000_000, [[0.261, 0.895], [0.155, 0.880], [0.968, 0.969], [0.972, 0.973]]),
];
/// Half a unit of the last digit printed, and as much again for counts rounded to whole numbers.
pub const TOLERANCE: f64 = 0.001;
/// The sample sizes of the ladder.
pub const SAMPLES: [u64; 4] = [100_000, 1_000_000, 10_000_000, 100_000_000];

/// Certified fractions of the true divergence of orders 2 and 10 from n outputs in each world.
///
/// # Errors
/// As [`Rectangle::four_tails`].
pub fn fractions(n: u64) -> Result<[[f64; 2]; 4]> {
    // The first class is the likelier one under the first.
    let [p, q] = TIE.distributions()?;
    let expected =
        |distribution: &OutcomeDistribution| BinomialCounts::new((distribution.p()[0] * n as f64).round() as u64, n);
    let (x, y) = (expected(&p)?, expected(&q)?);
    // Two-sided 95 % intervals have tails of 0.025: a total of 0.1 over four.
    let (each, joint) = (FailureProbability::new(0.1)?, FailureProbability::new(0.05)?);
    let rectangles = [
        Rectangle::four_tails(x, y, each)?,
        Rectangle::four_tails(x, y, joint)?,
        Rectangle::four_tails(x, y, joint)?,
        Rectangle::two_tails(x, y, joint)?,
    ];
    let mut fractions = [[0.0; 2]; 4];
    for (column, rectangle) in rectangles.iter().enumerate() {
        for (index, a) in [2.0, 10.0].into_iter().enumerate() {
            let order = Order::new(a)?;
            let bound = if column < 2 {
                rectangle.termwise(order, Direction::Forward)
            } else {
                rectangle.corner(order, Direction::Forward)
            };
            fractions[column][index] = bound.value / renyi_divergence(&p, &q, order)?;
        }
    }
    Ok(fractions)
}

/// Prints the ladder beside the printed one.
pub fn report() -> Report {
    let mut report = Report::new(
        "(125, 125) against (124, 126), sigma 40: certified fraction of the true divergence of orders 2 / 10 at the \
         expected counts; in brackets the printed one",
    );
    report.line(format!("{:>11}  {}", "n", COLUMNS.map(|column| format!("{column:<28}")).join("")));
    for n in SAMPLES {
        let Some(found) = report.found(n, fractions(n)) else { continue };
        let printed = PRINTED.iter().find(|row| row.0 == n).map(|row| row.1);
        let cells: Vec<String> = (0..COLUMNS.len())
            .map(|column| {
                let [two, ten] = found[column];
                let beside =
                    printed.map_or(String::new(), |row| format!(" ({:.3}/{:.3})", row[column][0], row[column][1]));
                format!("{:<28}", format!("{two:.4}/{ten:.4}{beside}"))
            })
            .collect();
        let line = format!("{n:>11}  {}", cells.concat());
        report.judged(printed.map(|row| agrees(&found, &row)), line);
    }
    report
}

/// Whether all fractions agree with the printed ones.
#[must_use]
pub fn agrees(found: &[[f64; 2]; 4], printed: &[[f64; 2]; 4]) -> bool {
    found.iter().flatten().zip(printed.iter().flatten()).all(|(a, b)| (a - b).abs() <= TOLERANCE)
}
