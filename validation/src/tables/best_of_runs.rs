//! The best of a random number of runs: the theorem, and selections of which the distribution is known.

use super::Decimal;
use super::check::{Side, TableCheck};
use leakbound::Result;
use leakbound::accountant::Runs;
use leakbound::divergence::{RdpCurve, bernoulli_renyi};
use leakbound::quantity::Order;
use serde::Deserialize;

/// The ratio of the number of runs is moved up by 1e-11.
const RELATIVE: f64 = 1e-9;

#[derive(Deserialize)]
pub(super) struct Entry {
    runs: RunsName,
    mean: f64,
    shape: Option<f64>,
    /// σ of Gaussian noise on a count.
    gaussian: Option<f64>,
    /// The probability of the truth of randomized response.
    truth: Option<f64>,
    orders: Vec<Order>,
    expected: Expected,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RunsName {
    Poisson,
    NegativeBinomial,
}

#[derive(Deserialize)]
struct Expected {
    values: Vec<Decimal>,
    exact: Option<Vec<Decimal>>,
}

pub(super) fn compare(check: &mut TableCheck, entry: Entry) -> Result<()> {
    check.begin(format!("mean {}, shape {:?}, {:?} {:?}", entry.mean, entry.shape, entry.gaussian, entry.truth));
    let runs = match entry.runs {
        RunsName::Poisson => Runs::poisson(entry.mean)?,
        RunsName::NegativeBinomial => Runs::negative_binomial(entry.shape.unwrap_or(f64::NAN), entry.mean)?,
    };
    let one = |order: Order| {
        let gaussian = entry.gaussian.map(|sigma| order.get() / (2.0 * sigma * sigma));
        let response = entry.truth.map(|p| bernoulli_renyi((p, 1.0 - p), (1.0 - p, p), order));
        gaussian.or(response).unwrap_or(f64::INFINITY)
    };
    let best = runs.best_of(&RdpCurve::from_fn(&entry.orders, one));
    for (&value, &expected) in best.values().iter().zip(&entry.expected.values) {
        check.relative("theorem", value, expected, RELATIVE);
        // The curve of one run is itself rounded.
        check.holds(value >= expected.value * (1.0 - 1e-14), "a bound is rounded up");
    }
    for (&value, &expected) in best.values().iter().zip(entry.expected.exact.iter().flatten()) {
        check.side("selection of which the distribution is known", value, expected, Side::Above);
    }
    Ok(())
}
