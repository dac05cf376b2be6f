//! The largest value of a function on an interval, searched by Brent's method.

use argmin::core::{CostFunction, Error, Executor};
use argmin::solver::brent::BrentOpt;
use std::cell::Cell;

/// Every evaluation is remembered, whether the solver ends with it or fails.
struct Search<F> {
    function: F,
    best: Cell<(f64, f64)>,
}

impl<F: Fn(f64) -> f64> CostFunction for &Search<F> {
    type Param = f64;
    type Output = f64;

    fn cost(&self, &x: &f64) -> Result<f64, Error> {
        let value = (self.function)(x);
        if value > self.best.get().1 {
            self.best.set((x, value));
        }
        Ok(if value.is_nan() { f64::INFINITY } else { -value })
    }
}

/// The best (x, value) among at most `evaluations` points that Brent's method visits on [`low`, `high`] until they are
/// about `tolerance` apart, absolutely for small x and relatively for large ones; None where every value was NaN or
/// `-inf`.
///
/// For certificates, of which any is valid: a search that fails can only return a worse one.
pub fn maximize(
    [low, high]: [f64; 2],
    tolerance: f64,
    evaluations: u64,
    function: impl Fn(f64) -> f64,
) -> Option<(f64, f64)> {
    let search = Search { function, best: Cell::new((low, f64::NEG_INFINITY)) };
    let solver = BrentOpt::new(low, high).set_tolerance(tolerance, tolerance);
    // An error of the solver leaves the best point found so far.
    let _ = Executor::new(&search, solver).configure(|state| state.max_iters(evaluations)).timer(false).run();
    let best = search.best.get();
    (best.1 > f64::NEG_INFINITY).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::maximize;

    #[test]
    fn finds_a_peak_and_survives_functions_that_are_no_numbers() {
        let (x, value) = maximize([0.0, 1.0], 1e-3, 20, |x| -(x - 0.3f64).powi(2)).unwrap();
        assert!((x - 0.3).abs() < 1e-3 && value > -1e-6);
        assert!(maximize([0.0, 1.0], 1e-3, 20, |_| f64::NAN).is_none());
        assert!(maximize([0.0, 1.0], 1e-3, 20, |x| if x > 0.5 { f64::NAN } else { x }).unwrap().1 > 0.3);
    }
}
