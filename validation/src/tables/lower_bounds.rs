//! Lower bounds of Rényi divergences from counts: never above the bound in real arithmetic, and hardly below.

use super::check::{Side, TableCheck};
use super::{Case, Decimal};
use leakbound::Result;
use leakbound::audit::{
    HalfSpace, KCutBox, Rectangle, ReferenceDistributions, Region, SimultaneousIntervals, Variational,
};
use leakbound::bound::Direction;
use leakbound::counts::PairedCounts;
use leakbound::distribution::OutcomeDistribution;
use leakbound::interval::{BinomialCounts, RectangleProbability};
use leakbound::quantity::{FailureProbability, Order};
use serde::Deserialize;

/// How far a bound may lie below its value in real arithmetic, relatively.
const SLACK: f64 = 1e-9;
/// The bounds see differences of limits, and each limit is moved outwards by 2^-46; functionals are differences of
/// means of size 1, of which each is rounded too.
const MARGIN: f64 = 1e-13;
/// γ comes from 1 - ν, whose error of 1e-13 is divided by the distance of two neighboring values.
const GAMMA_ERROR: f64 = 1e-8;
/// The search for the largest width of a difference ends within this share of it.
const CLOSE: f64 = 2e-3;

fn bound(check: &mut TableCheck, quantity: &'static str, value: f64, expected: Decimal, margin: f64) {
    check.side(quantity, value, expected, Side::Below);
    check.absolute(quantity, value, expected, SLACK * expected.value + margin);
}

#[derive(Deserialize)]
pub(super) struct TwoCut {
    inputs: Cut,
    expected: OfRectangles,
    limits: Limits,
}

#[derive(Deserialize)]
struct Limits {
    p1_lower: Decimal,
    p1_upper: Decimal,
    p2_lower: Decimal,
    p2_upper: Decimal,
}

impl Limits {
    /// Σ |ln| of the limits and complements that the termwise bound multiplies.
    fn size(&self) -> f64 {
        let logs = [
            self.p1_lower.value.ln(),
            self.p2_upper.value.ln(),
            (-self.p1_upper.value).ln_1p(),
            (-self.p2_lower.value).ln_1p(),
        ];
        logs.into_iter().filter(|ln| ln.is_finite()).map(f64::abs).sum()
    }
}

#[derive(Deserialize)]
pub(super) struct Cut {
    x1: u64,
    n1: u64,
    x2: u64,
    n2: u64,
    order: Order,
    g: FailureProbability,
    /// Of a rectangle.
    tails: Option<u8>,
}

#[derive(Deserialize)]
struct OfRectangles {
    corner: Decimal,
    termwise: Decimal,
}

pub(super) fn compare_two_cut(check: &mut TableCheck, TwoCut { inputs, expected, limits }: TwoCut) -> Result<()> {
    let Cut { x1, n1, x2, n2, order, g, tails } = inputs;
    let tails = tails.expect("the table says how many tails");
    check.begin(format!("{x1}/{n1} against {x2}/{n2}, order {order}, g {g}, {tails} tails"));
    let (p, q) = (BinomialCounts::new(x1, n1)?, BinomialCounts::new(x2, n2)?);
    let (corner, termwise) = if tails == 4 {
        let rectangle = Rectangle::four_tails(p, q, g)?;
        (rectangle, Some(rectangle))
    } else {
        // The table's termwise value has g/2 on each of four limits: the rectangle of total 2g.
        let all_four = FailureProbability::new(2.0 * g.get()).ok();
        let termwise = all_four.map(|failure| Rectangle::four_tails(p, q, failure)).transpose()?;
        (Rectangle::two_tails(p, q, g)?, termwise)
    };
    let value = corner.corner(order, Direction::Forward).value;
    bound(check, "corner", value, expected.corner, MARGIN);
    match termwise {
        Some(rectangle) => {
            let value = rectangle.termwise(order, Direction::Forward).value;
            // The margin for the rounding of the exponents, as documented in the library.
            let margin = 1e-15 * (1.0 + order.get() * limits.size()) / (order.get() - 1.0);
            bound(check, "termwise", value, expected.termwise, MARGIN + margin);
        }
        None => check.set_aside("termwise with g = 1/2 on each of four limits: their total is no probability"),
    }
    Ok(())
}

#[derive(Deserialize)]
pub(super) struct Counts {
    counts: Vec<u64>,
    neighbor: Vec<u64>,
    order: Order,
    failure: FailureProbability,
}

#[derive(Deserialize)]
pub(super) struct OfCounts {
    r#box: Decimal,
    goodman: Decimal,
    edgeworth: Decimal,
    exact: Option<Decimal>,
}

pub(super) fn compare_k_cut(check: &mut TableCheck, entry: Case<Counts, OfCounts>) -> Result<()> {
    let Case { inputs: Counts { counts, neighbor, order: a, failure }, expected } = entry;
    check.begin(format!("{counts:?} {neighbor:?} order {a}"));
    let labels = (0..counts.len()).map(|class| class.to_string()).collect();
    let counts = PairedCounts::new(labels, counts, neighbor)?;
    let forward = Direction::Forward;
    let least = KCutBox::new(&counts, failure)?.bound(a, forward).value;
    bound(check, "box", least, expected.r#box, 2.0 * MARGIN);
    let goodman = SimultaneousIntervals::goodman(&counts, failure)?.bound(a, forward).value;
    bound(check, "goodman", goodman, expected.goodman, 2.0 * MARGIN);
    let sison_glaz = |wanted| -> Result<f64> {
        Ok(SimultaneousIntervals::sison_glaz(&counts, failure, wanted)?.bound(a, forward).value)
    };
    check.absolute("edgeworth", sison_glaz(RectangleProbability::Edgeworth)?, expected.edgeworth, GAMMA_ERROR);
    if let Some(exact) = expected.exact {
        check.absolute("exact", sison_glaz(RectangleProbability::Exact)?, exact, GAMMA_ERROR);
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Linear {
    HalfSpace(Case<Cut, OfHalfSpaces>),
    Tangent(Case<Ratios, OfTangents>),
}

#[derive(Deserialize)]
pub(super) struct OfHalfSpaces {
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
pub(super) struct OfTangents {
    bound: Decimal,
}

pub(super) fn compare_linear(check: &mut TableCheck, entry: Linear) -> Result<()> {
    match entry {
        Linear::HalfSpace(Case { inputs, expected }) => half_space(check, &inputs, &expected),
        Linear::Tangent(Case { inputs, expected }) => tangent(check, inputs, &expected),
    }
}

fn half_space(check: &mut TableCheck, inputs: &Cut, expected: &OfHalfSpaces) -> Result<()> {
    let &Cut { x1, n1, x2, n2, order, g, .. } = inputs;
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

fn tangent(check: &mut TableCheck, inputs: Ratios, expected: &OfTangents) -> Result<()> {
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
    bound(check, "tangent", value, expected.bound, MARGIN);
    Ok(())
}
