//! The largest value of a function on an interval, by Brent's method.

use std::f64::consts::GOLDEN_RATIO;

/// A point of the interval and the value of the function there, `-inf` if that is NaN.
#[derive(Debug, Clone, Copy)]
struct Point {
    x: f64,
    value: f64,
}

/// The best (x, value) among at most 1 + `steps` points that Brent's method visits on [`low`, `high`] until they are
/// about `tolerance` apart, absolutely for small x and relatively for large ones; `None` if every value was NaN or
/// `-inf`.
///
/// Each point is the vertex of the parabola through the three best so far, or the golden section of the larger side if
/// that vertex is outside the bracket or the steps do not shrink. The search is for certificates: each one is valid, so
/// a search that fails can only return a worse one.
///
/// # References
/// Brent (1973), Algorithms for Minimization without Derivatives, chapter 5.
pub fn maximize(
    [mut low, mut high]: [f64; 2],
    tolerance: f64,
    steps: u64,
    function: impl Fn(f64) -> f64,
) -> Option<(f64, f64)> {
    let section = 2.0 - GOLDEN_RATIO;
    let at = |x| Point { x, value: Some(function(x)).filter(|value| !value.is_nan()).unwrap_or(f64::NEG_INFINITY) };
    let [mut best, mut second, mut third] = [at(low + section * (high - low)); 3];
    // The last step and the one before it.
    let [mut step, mut earlier] = [0.0f64; 2];
    for _ in 0..steps {
        let near = tolerance * best.x.abs() + tolerance;
        let middle = (low + high) / 2.0;
        if (best.x - middle).abs() <= 2.0 * near - (high - low) / 2.0 {
            break;
        }
        let vertex = vertex(best, second, third);
        if earlier.abs() > near && vertex.abs() < earlier.abs() / 2.0 && (low..=high).contains(&(best.x + vertex)) {
            earlier = step;
            let at_an_end = best.x + vertex - low < 2.0 * near || high - best.x - vertex < 2.0 * near;
            step = if at_an_end { near.copysign(middle - best.x) } else { vertex };
        } else {
            earlier = if best.x < middle { high } else { low } - best.x;
            step = section * earlier;
        }
        let new = at(best.x + if step.abs() >= near { step } else { near.copysign(step) });
        let (inner, outer) = if new.value >= best.value { (new, best) } else { (best, new) };
        if outer.x > inner.x {
            high = outer.x;
        } else {
            low = outer.x;
        }
        if new.value >= best.value {
            [best, second, third] = [new, best, second];
        } else if new.value >= second.value || second.x == best.x {
            [second, third] = [new, second];
        } else if new.value >= third.value || third.x == best.x || third.x == second.x {
            third = new;
        }
    }
    (best.value > f64::NEG_INFINITY).then_some((best.x, best.value))
}

/// The step from the best point to the vertex of the parabola through three points; NaN or infinite without one.
fn vertex(best: Point, second: Point, third: Point) -> f64 {
    let [to_second, to_third] = [second, third].map(|other| best.x - other.x);
    let [above_second, above_third] = [second, third].map(|other| other.value - best.value);
    let numerator = to_third * to_third * above_second - to_second * to_second * above_third;
    numerator / (2.0 * (to_second * above_third - to_third * above_second))
}

#[cfg(test)]
mod tests {
    use super::maximize;
    use std::cell::Cell;

    #[test]
    fn finds_a_peak_and_survives_functions_that_are_no_numbers() {
        let (x, value) = maximize([0.0, 1.0], 1e-3, 20, |x| -(x - 0.3f64).powi(2)).unwrap();
        assert!((x - 0.3).abs() < 1e-3 && value > -1e-6);
        assert!(maximize([0.0, 1.0], 1e-3, 20, |_| f64::NAN).is_none());
        assert!(maximize([0.0, 1.0], 1e-3, 20, |x| if x > 0.5 { f64::NAN } else { x }).unwrap().1 > 0.3);
        assert!(maximize([0.0, 1.0], 1e-6, 60, |x| if x > 0.5 { f64::NEG_INFINITY } else { x }).unwrap().1 > 0.49);
        assert_eq!(maximize([1.0, 1.0], 1e-3, 20, |x| x), Some((1.0, 1.0)));
    }

    #[test]
    fn a_smooth_peak_takes_few_points_and_a_maximum_at_an_end_is_approached() {
        let points = Cell::new(0);
        let (x, _) = maximize([-10.0, 10.0], 1e-8, 100, |x: f64| {
            points.set(points.get() + 1);
            x - x.exp()
        })
        .unwrap();
        assert!(x.abs() < 1e-7 && points.get() < 25, "{x} after {points:?} points");
        let (x, _) = maximize([0.0, 1.0], 1e-6, 100, |x| x).unwrap();
        assert!(x > 1.0 - 1e-5);
    }
}
