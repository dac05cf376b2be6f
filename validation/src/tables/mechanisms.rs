//! Outputs of mechanisms, protocols of local differential privacy among them, on pairs of datasets: probabilities,
//! divergences and hockey-stick divergences.

use super::Decimal;
use super::check::TableCheck;
use super::pairs::{Delta, Divergence, RELATIVE, compare_theorem};
use leakbound::accountant::{Theorem, WorstCases};
use leakbound::bound::Direction;
use leakbound::distribution::{
    OutcomeDistribution, OutputPair, exponential_distribution, permute_and_flip_distribution,
};
use leakbound::histogram::VoteHistogram;
use leakbound::mechanism::{self, Bins, parse};
use leakbound::quantity::{NoiseScale, Order};
use leakbound::{Error, Result};
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
        row.compare(check, &pair, RELATIVE);
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

const PROBABILITY: f64 = 1e-13;

#[derive(Deserialize)]
pub(super) struct Selection {
    kind: Rule,
    inputs: Votes,
    expected: OfSelection,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Rule {
    Exponential,
    PermuteAndFlip,
}

#[derive(Deserialize)]
struct Votes {
    scale: NoiseScale,
    histogram: VoteHistogram,
    neighbor: VoteHistogram,
}

#[derive(Deserialize)]
struct OfSelection {
    p: Vec<Decimal>,
    divergences: Vec<Divergence>,
    hockey_stick: Vec<Delta>,
}

pub(super) fn compare_selection(check: &mut TableCheck, Selection { kind, inputs, expected }: Selection) -> Result<()> {
    let Votes { scale, histogram, neighbor } = inputs;
    check.begin(format!("{kind:?} {histogram} {neighbor} scale {scale}"));
    let distribution = |histogram: &VoteHistogram| match kind {
        Rule::Exponential => exponential_distribution(histogram, scale),
        Rule::PermuteAndFlip => permute_and_flip_distribution(histogram, scale),
    };
    let pair = OutputPair::new(distribution(&histogram)?, distribution(&neighbor)?)?;
    for (value, expected) in pair.dataset().p().iter().zip(expected.p) {
        check.relative("probability", *value, expected, PROBABILITY);
    }
    expected.divergences.iter().for_each(|row| row.compare(check, &pair, RELATIVE));
    expected.hockey_stick.iter().for_each(|row| row.compare(check, &pair));
    Ok(())
}

/// Of logarithms of which little or nothing is left in a probability.
const LOGARITHM: f64 = 1e-14;
/// Where they begin.
const FAR: f64 = -200.0;

#[derive(Deserialize)]
pub(super) struct AboveThreshold {
    mechanism: String,
    answers: VoteHistogram,
    neighbor: VoteHistogram,
    expected: OfThreshold,
}

#[derive(Deserialize)]
struct OfThreshold {
    p: Vec<Decimal>,
    q: Vec<Decimal>,
    ln_p: Vec<Decimal>,
    ln_q: Vec<Decimal>,
    divergences: Vec<Divergence>,
    hockey_stick: Vec<Delta>,
}

fn probabilities(check: &mut TableCheck, found: &OutcomeDistribution, [p, ln_p]: [&[Decimal]; 2]) {
    check.holds(found.outcomes() == p.len(), "the table has as many outcomes");
    for (place, (&p, &ln_p)) in p.iter().zip(ln_p).enumerate() {
        if ln_p.value > FAR {
            check.relative("probability", found.p()[place], p, RELATIVE);
        } else {
            check.logarithm("logarithm", found.ln_p()[place], ln_p, LOGARITHM);
        }
    }
}

pub(super) fn compare_above_threshold(check: &mut TableCheck, entry: AboveThreshold) -> Result<()> {
    let AboveThreshold { mechanism, answers, neighbor, expected } = entry;
    check.begin(format!("{mechanism} {answers} {neighbor}"));
    let pair = parse(&mechanism)?.output_pair(&answers, &neighbor, Bins::at(None))?;
    probabilities(check, pair.dataset(), [&expected.p, &expected.ln_p]);
    probabilities(check, pair.neighbor(), [&expected.q, &expected.ln_q]);
    let logarithms = expected.ln_p.iter().chain(&expected.ln_q);
    let farthest = logarithms.fold(0.0, |far: f64, ln| far.max(ln.value.abs()));
    for row in expected.divergences {
        // Where a divergence comes from far outcomes, its powers have the errors of their logarithms.
        let of_far = 2.0 * row.order.get() * LOGARITHM * farthest;
        let tolerance = RELATIVE.max(if farthest > -FAR { of_far } else { 0.0 });
        row.compare(check, &pair, tolerance);
    }
    expected.hockey_stick.iter().for_each(|row| row.compare(check, &pair));
    Ok(())
}

#[derive(Deserialize)]
pub(super) struct Local {
    mechanism: String,
    classes: usize,
    expected: OfLocal,
}

#[derive(Deserialize)]
struct OfLocal {
    /// None where there are too many outcomes.
    p: Vec<Decimal>,
    divergences: Vec<Divergence>,
    hockey_stick: Vec<Delta>,
}

/// The theorem, and the distributions for votes for the first and for the second class where there are few.
fn computed(entry: &Local) -> Result<(Theorem, Option<OutputPair>)> {
    let mechanism = mechanism::parse(&entry.mechanism)?;
    let vote = |class: usize| VoteHistogram::new((0..entry.classes).map(|other| u64::from(other == class)).collect());
    let (first, second) = (vote(0)?, vote(1)?);
    let theorems = mechanism.theorems_for(&first, &WorstCases::default());
    let [theorem] = &theorems[..] else {
        return Err(Error::Rejected { operation: "table", reason: "one theorem is expected".into() });
    };
    let few = !entry.expected.p.is_empty();
    let pair = if few { Some(mechanism.output_pair(&first, &second, Bins::at(None))?) } else { None };
    Ok((theorem.clone(), pair))
}

/// Logarithms of probabilities lose the digits that small ε has in common with 0: the ratio of two of them is off by
/// about 1e-15 (1 + |ln p|), and a divergence by twice that over ε.
fn of_distribution(epsilon: f64) -> f64 {
    RELATIVE + 4e-14 / epsilon.min(1.0)
}

pub(super) fn compare_local(check: &mut TableCheck, entry: Local) -> Result<()> {
    check.begin(format!("{} of {} classes", entry.mechanism, entry.classes));
    let (theorem, pair) = computed(&entry)?;
    // The bound of the largest orders is ε itself.
    let largest = theorem.at(Order::new(1e300)?, Direction::Forward).map_or(0.0, |bound| bound.value);
    for row in entry.expected.divergences {
        for (direction, expected) in row.both() {
            compare_theorem(check, &theorem, (row.order, direction), expected, ("theorem", RELATIVE));
            if let Some(pair) = &pair {
                let exact = pair.renyi(direction, row.order);
                check.relative("divergence", exact, expected, of_distribution(largest));
            }
        }
    }
    let Some(pair) = &pair else { return Ok(()) };
    for (value, expected) in pair.dataset().p().iter().zip(entry.expected.p) {
        check.relative("probability", *value, expected, PROBABILITY);
    }
    entry.expected.hockey_stick.iter().for_each(|row| row.compare(check, pair));
    Ok(())
}
