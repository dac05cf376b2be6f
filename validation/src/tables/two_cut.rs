//! Lower bounds from counts: never above the bound in real arithmetic, and hardly below.

use super::Decimal;
use super::check::{Side, TableCheck};
use leakbound::Result;
use leakbound::audit::Rectangle;
use leakbound::bound::Direction;
use leakbound::interval::BinomialCounts;
use leakbound::quantity::{FailureProbability, Order};
use serde::Deserialize;

/// How far a bound may lie below its value in real arithmetic, relatively.
const SLACK: f64 = 1e-9;
/// The bounds see differences of limits, and each limit is moved outwards by 2^-46.
const LIMIT_MARGIN: f64 = 1e-13;

#[derive(Deserialize)]
pub(super) struct Entry {
    inputs: Inputs,
    expected: Expected,
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
struct Inputs {
    x1: u64,
    n1: u64,
    x2: u64,
    n2: u64,
    order: Order,
    g: FailureProbability,
    tails: u8,
}

#[derive(Deserialize)]
struct Expected {
    corner: Decimal,
    termwise: Decimal,
}

pub(super) fn compare(check: &mut TableCheck, Entry { inputs, expected, limits }: Entry) -> Result<()> {
    let Inputs { x1, n1, x2, n2, order, g, tails } = inputs;
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
    bound(check, "corner", value, expected.corner, LIMIT_MARGIN);
    match termwise {
        Some(rectangle) => {
            let value = rectangle.termwise(order, Direction::Forward).value;
            // The margin for the rounding of the exponents, as documented in the library.
            let margin = 1e-15 * (1.0 + order.get() * limits.size()) / (order.get() - 1.0);
            bound(check, "termwise", value, expected.termwise, LIMIT_MARGIN + margin);
        }
        None => check.set_aside("termwise with g = 1/2 on each of four limits: their total is no probability"),
    }
    Ok(())
}

fn bound(check: &mut TableCheck, quantity: &'static str, value: f64, expected: Decimal, margin: f64) {
    check.side(quantity, value, expected, Side::Below);
    check.absolute(quantity, value, expected, SLACK * expected.value + margin);
}
