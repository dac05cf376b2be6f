//! One pair of datasets of each of seven mechanisms.

use super::check::TableCheck;
use super::{Decimal, load, order};
use leakbound::bound::Direction;
use leakbound::distribution::OutputPair;
use leakbound::histogram::VoteHistogram;
use leakbound::mechanism::{Bins, parse};
use leakbound::quantity::{Epsilon, Order};
use serde::Deserialize;

const RELATIVE: f64 = 1e-12;
/// Of probabilities that are relative to 1e-13.
const DELTA: f64 = 1e-13;

#[derive(Deserialize)]
struct Entry {
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
struct Divergence {
    order: f64,
    forward: Decimal,
    reverse: Decimal,
}

#[derive(Deserialize)]
struct Delta {
    epsilon: f64,
    delta_forward: Decimal,
    delta_reverse: Decimal,
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
        match self {
            Self::DiscreteLaplace { scale, shift } => {
                (format!("discrete-laplace:sigma={scale}"), vec![0], vec![*shift])
            }
            Self::DiscreteGaussian { scale, shift } => {
                (format!("discrete-gaussian:sigma={scale}"), vec![0], vec![*shift])
            }
            Self::Exponential { scores, neighbor, epsilon } => {
                (format!("exponential:sigma={}", 2.0 / epsilon), scores.clone(), neighbor.clone())
            }
            Self::PermuteAndFlip { scores, neighbor, epsilon } => {
                (format!("permute-and-flip:sigma={}", 2.0 / epsilon), scores.clone(), neighbor.clone())
            }
            Self::NoisyMaxGumbel { scores, neighbor, scale } => {
                (format!("exponential:sigma={scale}"), scores.clone(), neighbor.clone())
            }
            Self::NoisyMaxExponential { scores, neighbor, scale } => {
                (format!("permute-and-flip:sigma={scale}"), scores.clone(), neighbor.clone())
            }
            Self::AboveThreshold { answers, neighbor, threshold, threshold_scale, answer_scale } => {
                let noise = format!("threshold_sigma={threshold_scale},sigma={answer_scale}");
                let text = format!("above-threshold:noise=laplace,threshold={threshold},{noise}");
                (text, answers.clone(), neighbor.clone())
            }
        }
    }
}

fn compare_entry(check: &mut TableCheck, entry: &Entry) -> leakbound::Result<()> {
    let (text, data, neighbor) = entry.subject.named();
    let (mechanism, data, neighbor) = (parse(&text)?, VoteHistogram::new(data)?, VoteHistogram::new(neighbor)?);
    let pair = |order: Option<Order>| -> leakbound::Result<OutputPair> {
        mechanism.output_pair(&data, &neighbor, Bins::at(order))
    };
    for Divergence { order: a, forward, reverse } in &entry.divergences {
        let pair = pair(Some(order(*a)))?;
        for (direction, expected) in Direction::BOTH.into_iter().zip([forward, reverse]) {
            check.relative("divergence", pair.renyi(direction, order(*a)), *expected, RELATIVE);
        }
    }
    let pair = pair(None)?;
    for Delta { epsilon, delta_forward, delta_reverse } in &entry.hockey_stick {
        for (direction, expected) in Direction::BOTH.into_iter().zip([delta_forward, delta_reverse]) {
            check.absolute("delta (absolute)", pair.delta(direction, Epsilon::new(*epsilon)?), *expected, DELTA);
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

pub(super) fn compare(check: &mut TableCheck) {
    for entry in load::<Entry>(check.table) {
        check.begin(format!("{:?}", entry.subject));
        if let Err(error) = compare_entry(check, &entry) {
            check.fail(error.to_string());
        }
    }
}
