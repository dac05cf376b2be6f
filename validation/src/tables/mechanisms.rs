//! One pair of datasets of each of seven mechanisms.

use super::Decimal;
use super::check::TableCheck;
use super::pairs::{Delta, Divergence, RELATIVE};
use leakbound::Result;
use leakbound::distribution::OutputPair;
use leakbound::histogram::VoteHistogram;
use leakbound::mechanism::{Bins, parse};
use leakbound::quantity::Order;
use serde::Deserialize;

/// Of probabilities that are relative to 1e-13.
const DELTA: f64 = 1e-13;

#[derive(Deserialize)]
pub(super) struct Entry {
    #[serde(flatten)]
    subject: Subject,
    divergences: Vec<Divergence>,
    hockey_stick: Vec<Delta>,
    /// Of finitely many.
    #[serde(default)]
    outcomes: Vec<Outcome>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "mechanism", rename_all = "kebab-case")]
enum Subject {
    DiscreteLaplace { scale: f64, shift: u64 },
    DiscreteGaussian { scale: f64, shift: u64 },
    Exponential { scores: Vec<u64>, neighbor: Vec<u64>, epsilon: f64 },
    PermuteAndFlip { scores: Vec<u64>, neighbor: Vec<u64>, epsilon: f64 },
    AboveThreshold { answers: Vec<u64>, neighbor: Vec<u64>, threshold: f64, threshold_scale: f64, answer_scale: f64 },
    NoisyMaxGumbel { scores: Vec<u64>, neighbor: Vec<u64>, scale: f64 },
    NoisyMaxExponential { scores: Vec<u64>, neighbor: Vec<u64>, scale: f64 },
}

#[derive(Deserialize)]
struct Outcome {
    label: String,
    p: Decimal,
    q: Decimal,
}

impl Subject {
    /// The text form of the mechanism, the data and the neighbor. Noisy max with Gumbel noise is the exponential
    /// mechanism, with exponential noise permute-and-flip.
    fn named(&self) -> (String, Vec<u64>, Vec<u64>) {
        let (text, [data, neighbor]) = match self {
            Self::DiscreteLaplace { scale, shift } => {
                return (format!("discrete-laplace:sigma={scale}"), vec![0], vec![*shift]);
            }
            Self::DiscreteGaussian { scale, shift } => {
                return (format!("discrete-gaussian:sigma={scale}"), vec![0], vec![*shift]);
            }
            Self::Exponential { scores, neighbor, epsilon } => {
                (format!("exponential:sigma={}", 2.0 / epsilon), [scores, neighbor])
            }
            Self::PermuteAndFlip { scores, neighbor, epsilon } => {
                (format!("permute-and-flip:sigma={}", 2.0 / epsilon), [scores, neighbor])
            }
            Self::NoisyMaxGumbel { scores, neighbor, scale } => {
                (format!("exponential:sigma={scale}"), [scores, neighbor])
            }
            Self::NoisyMaxExponential { scores, neighbor, scale } => {
                (format!("permute-and-flip:sigma={scale}"), [scores, neighbor])
            }
            Self::AboveThreshold { answers, neighbor, threshold, threshold_scale, answer_scale } => {
                let noise = format!("threshold_sigma={threshold_scale},sigma={answer_scale}");
                (format!("above-threshold:noise=laplace,threshold={threshold},{noise}"), [answers, neighbor])
            }
        };
        (text, data.clone(), neighbor.clone())
    }
}

pub(super) fn compare(check: &mut TableCheck, entry: Entry) -> Result<()> {
    check.begin(format!("{:?}", entry.subject));
    let (text, data, neighbor) = entry.subject.named();
    let (mechanism, data, neighbor) = (parse(&text)?, VoteHistogram::new(data)?, VoteHistogram::new(neighbor)?);
    let pair =
        |order: Option<Order>| -> Result<OutputPair> { mechanism.output_pair(&data, &neighbor, Bins::at(order)) };
    for row in &entry.divergences {
        let pair = pair(Some(row.order))?;
        for (direction, expected) in row.both() {
            check.relative("divergence", pair.renyi(direction, row.order), expected, RELATIVE);
        }
    }
    let pair = pair(None)?;
    for row in &entry.hockey_stick {
        for (direction, expected) in row.both() {
            check.absolute("delta (absolute)", pair.delta(direction, row.epsilon), expected, DELTA);
        }
    }
    for (place, Outcome { label, p, q }) in entry.outcomes.iter().enumerate() {
        check.holds(mechanism.label(&data, place) == *label, "an outcome has its label");
        for (distribution, expected) in [(pair.dataset(), p), (pair.neighbor(), q)] {
            check.relative("probability", distribution.p()[place], *expected, RELATIVE);
        }
    }
    Ok(())
}
