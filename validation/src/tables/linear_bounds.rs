//! Bounds from one linear functional: never above their formulas in real arithmetic, and hardly below.

use super::check::{Side, TableCheck};
use super::{Case, Decimal};
use leakbound::Result;
use leakbound::audit::{HalfSpace, ReferenceDistributions, Region, Variational};
use leakbound::bound::Direction;
use leakbound::counts::PairedCounts;
use leakbound::distribution::OutcomeDistribution;
use leakbound::interval::BinomialCounts;
use leakbound::quantity::{FailureProbability, Order};
use serde::Deserialize;

/// How far a bound may lie below its value in real arithmetic, relatively.
const SLACK: f64 = 1e-9;
/// The search for the largest width of a difference ends within this share of it.
const CLOSE: f64 = 2e-3;
/// The functionals are differences of means of size 1, of which each is rounded and each limit is moved by 2^-46.
const MARGIN: f64 = 1e-13;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Entry {
    HalfSpace(Case<Pair, Bounds>),
    Tangent(Case<Ratios, Bound>),
}

#[derive(Deserialize)]
pub(super) struct Pair {
    x1: u64,
    n1: u64,
    x2: u64,
    n2: u64,
    order: Order,
    g: FailureProbability,
}

#[derive(Deserialize)]
pub(super) struct Bounds {
    width: Decimal,
    difference: Decimal,
    forward: Decimal,
    reverse: Decimal,
    forward_least: Decimal,
    reverse_least: Decimal,
}

#[derive(Deserialize)]
pub(super) struct Ratios {
    x: Vec<u64>,
    y: Vec<u64>,
    log_ratio: Vec<f64>,
    order: Order,
    g: FailureProbability,
}

#[derive(Deserialize)]
pub(super) struct Bound {
    bound: Decimal,
}

pub(super) fn compare(check: &mut TableCheck, entry: Entry) -> Result<()> {
    match entry {
        Entry::HalfSpace(Case { inputs, expected }) => half_space(check, &inputs, &expected),
        Entry::Tangent(Case { inputs, expected }) => tangent(check, inputs, &expected),
    }
}

fn half_space(check: &mut TableCheck, inputs: &Pair, expected: &Bounds) -> Result<()> {
    let &Pair { x1, n1, x2, n2, order, g } = inputs;
    check.begin(format!("{x1}/{n1} against {x2}/{n2}, order {order}, g {g}"));
    let space = HalfSpace::new(BinomialCounts::new(x1, n1)?, BinomialCounts::new(x2, n2)?, g)?;
    check.side("difference", space.difference(), expected.difference, Side::Below);
    let usual = g.get() <= 0.1;
    if usual {
        check.absolute("difference", space.difference(), expected.difference, CLOSE * expected.width.value + 1e-10);
    } else {
        check.set_aside("closeness at a failure probability above 0.1, where the search may end early");
    }
    // Two outcomes have the same region but for a width that is not smaller.
    let distribution = |p: f64| OutcomeDistribution::from_probabilities(&[p, 1.0 - p]);
    let labels = vec!["inside".to_owned(), "outside".to_owned()];
    let counts = PairedCounts::new(labels, vec![x1, n1 - x1], vec![x2, n2 - x2])?;
    let reference = ReferenceDistributions::from_distributions(&distribution(0.5)?, &distribution(0.375)?)?;
    let region = Region::new(&counts, &reference, g)?;
    for (direction, expected, least) in [
        (Direction::Forward, expected.forward, expected.forward_least),
        (Direction::Reverse, expected.reverse, expected.reverse_least),
    ] {
        let value = space.bound(order, direction).value;
        check.side("half-space", value, expected, Side::Below);
        // Where nearly all of P and none of Q lies inside, 1 - p has the rounding error of a number of size 1.
        let slack = SLACK + 1e-14 / (1.0 - space.difference());
        let open = expected.value - least.value;
        if usual {
            check.absolute("half-space", value, expected, open + slack * expected.value + MARGIN);
        }
        check.side("region", region.bound(order, direction).value, expected, Side::Below);
    }
    Ok(())
}

fn tangent(check: &mut TableCheck, inputs: Ratios, expected: &Bound) -> Result<()> {
    let Ratios { x, y, log_ratio, order, g } = inputs;
    check.begin(format!("{x:?} against {y:?}, order {order}, g {g}"));
    // Distributions with the same order of ratios, so that the groups are the outcomes.
    let weights: Vec<f64> = (0..x.len()).map(|class| 1.0 + class as f64).collect();
    let distribution = |weights: &[f64]| {
        let total: f64 = weights.iter().sum();
        OutcomeDistribution::from_probabilities(&weights.iter().map(|weight| weight / total).collect::<Vec<f64>>())
    };
    let reference =
        ReferenceDistributions::from_distributions(&distribution(&weights)?, &distribution(&vec![1.0; x.len()])?)?;
    let labels = (0..x.len()).map(|class| class.to_string()).collect();
    let counts = PairedCounts::new(labels, x, y)?;
    let prepared = Variational::new(&counts, &reference, g, 1)?;
    let value = prepared.bound_at(&log_ratio, order, Direction::Forward)?.value;
    check.side("tangent", value, expected.bound, Side::Below);
    check.absolute("tangent", value, expected.bound, SLACK * expected.bound.value + MARGIN);
    Ok(())
}
