//! Roots of monotone functions: Newton's method within a bracket that every evaluation narrows. Maxima of functions of
//! one variable: Brent's method.

mod line_search;

#[doc(hidden)]
pub use line_search::maximize;

use crate::error::{Error, Result};

/// When a search may end.
#[derive(Debug, Clone, Copy)]
pub struct Search {
    /// First point.
    pub start: f64,
    /// The longest first step of Newton's method; it doubles while the root is out of reach.
    pub first_reach: f64,
    /// A bracket this narrow, absolutely for small roots and relatively for large ones, is as accurate as a root can
    /// be.
    pub narrowest: f64,
    /// The unknown, for the message if the search fails.
    pub quantity: &'static str,
}

/// Steps before a search fails: bisection alone needs 64 for any bracket of non-denormal doubles.
const MAX_STEPS: usize = 200;
/// Steps of Newton's method before a search takes longer ones: if the slope consists of rounding, or is a bound
/// supplied by the caller, Newton's method does not reach distant roots.
const PATIENT_STEPS: usize = 24;

/// Finds a point where an increasing function is close enough to 0, with the data computed there.
///
/// `evaluate` returns data to keep, the value and a positive slope; `close` decides from value and slope whether the
/// value is close enough. A bracket narrower than `narrowest` also ends the search: a function that jumps over 0 has no
/// better point.
///
/// # Errors
/// [`Error::NoConvergence`] after 200 steps, with the last value as residual.
pub fn increasing_root<T>(
    search: Search,
    mut evaluate: impl FnMut(f64) -> (T, f64, f64),
    close: impl Fn(f64, f64) -> bool,
) -> Result<(f64, T)> {
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut x = search.start;
    let mut residual = f64::INFINITY;
    let mut reach = search.first_reach;
    let mut leap = search.first_reach;
    for step in 0..MAX_STEPS {
        let (kept, value, slope) = evaluate(x);
        if close(value, slope) || high - low < search.narrowest * (1.0 + 1e-6 * x.abs()) {
            return Ok((x, kept));
        }
        residual = value;
        if value > 0.0 {
            high = x;
        } else {
            low = x;
        }
        let mut newton = x - (value / slope).clamp(-reach, reach);
        reach = (2.0 * reach).min(f64::MAX);
        let (bracketed, patient) = (low.is_finite() && high.is_finite(), step < PATIENT_STEPS);
        if !patient && !bracketed {
            newton = if value > 0.0 { newton.min(x - leap) } else { newton.max(x + leap) };
            leap = (2.0 * leap).min(f64::MAX);
        }
        let bisect = !patient && bracketed && step % 2 == 0;
        x = if newton > low && newton < high && !bisect {
            newton
        } else if bracketed {
            0.5 * (low + high)
        } else {
            // Newton's step is below the rounding of x: the root is here, and a bracket around it confirms that.
            x + 0.5 * search.narrowest * (1.0 + 1e-6 * x.abs()) * if value > 0.0 { -1.0 } else { 1.0 }
        };
    }
    Err(Error::no_convergence(search.quantity, residual.abs(), search.narrowest, MAX_STEPS))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEARCH: Search = Search { start: 0.0, first_reach: 1.0, narrowest: 1e-12, quantity: "test" };

    #[test]
    fn finds_roots_far_away_steep_and_flat() {
        for root in [0.0, 1.5, -7.25, 40.0] {
            let cubic = |x: f64| ((), (x - root).powi(3), 3.0 * (x - root).powi(2) + 1e-15);
            let (x, ()) = increasing_root(SEARCH, cubic, |value, _| value.abs() < 1e-18).unwrap();
            assert!((x - root).abs() < 1e-5, "{root} {x}");
        }
    }

    /// With a lower bound on the slope, Newton steps are at most about a hundred long.
    #[test]
    fn finds_roots_that_newtons_method_does_not_reach() {
        for root in [3e5, -7e7] {
            let logistic = |x: f64| {
                let share = 1.0 / (1.0 + (root - x).exp());
                ((), share - 0.5, (share * (1.0 - share)).max(1e-2))
            };
            let (x, ()) = increasing_root(SEARCH, logistic, |value, _| value.abs() < 0.1).unwrap();
            assert!((x - root).abs() < 0.5, "{root} {x}");
        }
    }

    /// A value that consists of rounding and is never close enough, and a step that does not move x.
    #[test]
    fn a_step_below_rounding_ends_the_search() {
        let search = Search { start: 116.0, narrowest: 1e-13, ..SEARCH };
        let (x, ()) = increasing_root(search, |x| ((), x - 116.0 + 1e-15, 1.0), |_, _| false).unwrap();
        assert!((x - 116.0).abs() < 1e-12, "{x}");
    }

    #[test]
    fn a_jump_over_zero_ends_at_the_jump_and_a_missing_root_is_an_error() {
        let (x, ()) = increasing_root(SEARCH, |x| ((), if x < 3.25 { -1.0 } else { 1.0 }, 1e-3), |_, _| false).unwrap();
        assert!((x - 3.25).abs() < 1e-11);
        assert!(increasing_root(SEARCH, |_| ((), 1.0, 1.0), |_, _| false).is_err());
        assert!(increasing_root(SEARCH, |_| ((), f64::NAN, 1.0), |_, _| false).is_err());
    }
}
