//! How much of a model may be mixed in.

use crate::error::Result;
use crate::solve::{Search, increasing_root};
use std::cell::Cell;

/// A share is computed to this relative accuracy, and rounded down by the same amount.
const TOLERANCE: f64 = 1e-12;

/// The largest share λ in \[0, 1\] at which a distance is at most a radius. The distance grows with λ from 0,
/// approximately as `curvature` λ² at first; a `curvature` that is infinite or 0 is ignored.
pub(super) fn largest_share(radius: f64, curvature: f64, mut distance: impl FnMut(f64) -> f64) -> Result<f64> {
    if distance(1.0) <= radius {
        return Ok(1.0);
    }
    if radius == 0.0 {
        return Ok(0.0);
    }
    // The logarithm of the distance is close to a line in ln λ of slope 2 if λ is small.
    let start = (radius / curvature).ln() / 2.0;
    let start = if start.is_finite() { start.clamp(-700.0, -1e-3) } else { -1.0 };
    let last = Cell::new(None::<(f64, f64)>);
    let evaluate = |log_share: f64| {
        let value = if log_share < 0.0 { (distance(log_share.exp()) / radius).ln() } else { f64::MAX };
        let slope = last.get().map_or(2.0, |(x, before)| (value - before) / (log_share - x));
        last.set(Some((log_share, value)));
        let value = value.clamp(-700.0, 700.0);
        ((), value, if slope > 0.1 && slope < 1e6 { slope } else { 2.0 })
    };
    let search = Search { start, first_reach: 8.0, narrowest: 1e-13, quantity: "share of a member" };
    let (log_share, ()) = increasing_root(search, evaluate, |value, _| value.abs() <= TOLERANCE)?;
    Ok(log_share.exp() * (1.0 - TOLERANCE))
}
