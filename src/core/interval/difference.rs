//! How far the difference of two binomial frequencies exceeds that of the proportions.

use super::binomial::ProportionLimit;
use super::linear_functional::Moments;
use crate::quantity::FailureProbability;

/// The largest number of cells of the box that are examined.
const MAX_CELLS: usize = 200;
/// The search ends when the largest width of a cell is this close to a width attained in it. For failure probabilities
/// above 0.1 and few outputs, the cells may run out first.
const CLOSE: f64 = 2e-3;

/// A proportion with known limits, and the number of outputs behind its estimate.
#[derive(Debug, Clone, Copy)]
pub struct Limited {
    /// The lower limit.
    pub low: ProportionLimit,
    /// The upper limit.
    pub high: ProportionLimit,
    /// Outputs behind the estimate.
    pub trials: u64,
}

impl Limited {
    /// The smallest and the largest x (1 - x) within the limits.
    fn variances(&self) -> [f64; 2] {
        let [low, high] = [self.low, self.high].map(|limit| limit.value * limit.complement);
        let most = if self.low.value < 0.5 && self.high.value > 0.5 { 0.25 } else { low.max(high) };
        [low.min(high), most]
    }
}

/// A range of u = p(1-p) and of v = q(1-q), with its width.
struct Cell {
    ranges: [[f64; 2]; 2],
    width: f64,
}

/// A t with P(p̂ - q̂ ≥ p - q + t) ≤ g for every p and q within their limits.
///
/// The width at (p, q), the smaller one of Berry and Esseen's and of Bennett's ([`Moments::width`]), depends on the
/// variances u = p(1-p), v = q(1-q) and the third moments u(1-2u), v(1-2v), which increase in u, v ≤ 1/4. Its supremum
/// over the box of (u, v) is found by bisection of the cell with the largest width, with each moment taken at its worse
/// end: with few outputs the box is wide, and no single pair of distributions attains all its worst ends. All cells
/// remain covered whenever the search stops, so the result can only be too wide.
pub fn difference_width(p: Limited, q: Limited, main: FailureProbability) -> f64 {
    let trials = [p.trials, q.trials].map(|trials| trials as f64);
    let reach = (p.low.complement / trials[0]).max(q.high.value / trials[1]);
    let deviation =
        [p, q].map(|x| x.high.value.max(x.low.complement) / x.trials as f64).into_iter().fold(0.0, f64::max);
    let at = |[[u_low, u_high], [v_low, v_high]]: [[f64; 2]; 2]| {
        let sum = |of: [f64; 2]| of[0] / trials[0] + of[1] / trials[1];
        let third = |u: f64, n: f64| u * (1.0 - 2.0 * u) / n / n;
        Moments {
            variance_low: sum([u_low, v_low]) * (1.0 - MARGIN),
            variance_high: sum([u_high, v_high]) * (1.0 + MARGIN),
            third: (third(u_high, trials[0]) + third(v_high, trials[1])) * (1.0 + MARGIN),
            deviation: deviation * (1.0 + MARGIN),
            reach: reach * (1.0 + MARGIN),
        }
        .width(main)
    };
    let cell = |ranges| Cell { ranges, width: at(ranges) };
    let mut cells = vec![cell([p.variances(), q.variances()])];
    // The largest width at a point is at least this.
    let mut reached: f64 = 0.0;
    loop {
        let worst = (0..cells.len()).fold(0, |worst, i| if cells[i].width > cells[worst].width { i } else { worst });
        let Cell { ranges: [u, v], width } = cells[worst];
        let [middle_u, middle_v] = [u, v].map(|[low, high]| 0.5 * (low + high));
        reached = reached.max(at([[u[1]; 2], [v[1]; 2]])).max(at([[middle_u; 2], [middle_v; 2]]));
        if !(width.is_finite() && width > reached * (1.0 + CLOSE)) || cells.len() >= MAX_CELLS {
            return width;
        }
        // Bisect the range that leaves more of the variance open.
        let halves = if (u[1] - u[0]) / trials[0] >= (v[1] - v[0]) / trials[1] {
            [[[u[0], middle_u], v], [[middle_u, u[1]], v]]
        } else {
            [[u, [v[0], middle_v]], [u, [middle_v, v[1]]]]
        };
        cells.swap_remove(worst);
        cells.extend(halves.map(cell));
    }
}

/// Moments are rounded outwards by this share.
const MARGIN: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::{BinomialCounts, clopper_pearson_lower, clopper_pearson_upper};
    use proptest::prelude::*;

    fn failure(f: f64) -> FailureProbability {
        FailureProbability::new(f).unwrap()
    }

    fn limited(successes: u64, trials: u64, f: f64) -> Limited {
        let counts = BinomialCounts::new(successes, trials).unwrap();
        let low = clopper_pearson_lower(counts, failure(f)).unwrap();
        Limited { low, high: clopper_pearson_upper(counts, failure(f)).unwrap(), trials }
    }

    /// The width at one pair of proportions, from its own moments.
    fn width_at(p: f64, q: f64, [n, m]: [f64; 2], main: FailureProbability) -> f64 {
        let (u, v) = (p * (1.0 - p), q * (1.0 - q));
        let variance = u / n + v / m;
        Moments {
            variance_low: variance,
            variance_high: variance,
            third: u * (p * p + (1.0 - p) * (1.0 - p)) / n / n + v * (q * q + (1.0 - q) * (1.0 - q)) / m / m,
            deviation: (p.max(1.0 - p) / n).max(q.max(1.0 - q) / m),
            reach: ((1.0 - p) / n).max(q / m),
        }
        .width(main)
    }

    proptest! {
        /// No pair of proportions in the box needs a larger width.
        #[test]
        fn the_width_covers_every_pair_in_the_box(
            (n, k) in (1u64..5000).prop_flat_map(|n| (Just(n), 0..=n)),
            (m, l) in (1u64..5000).prop_flat_map(|m| (Just(m), 0..=m)),
            f in prop_oneof![Just(0.05), Just(1e-6), Just(0.6)],
            (x, y) in (0.0..=1.0f64, 0.0..=1.0f64),
        ) {
            let (p, q) = (limited(k, n, 1e-3), limited(l, m, 1e-3));
            let width = difference_width(p, q, failure(f));
            let inside = |at: &Limited, x: f64| at.low.value + x * (at.high.value - at.low.value);
            let one = width_at(inside(&p, x), inside(&q, y), [n as f64, m as f64], failure(f));
            prop_assert!(one <= width * (1.0 + 1e-9), "{one} {width}");
        }
    }

    /// If both proportions are known, the width is that of their own moments.
    #[test]
    fn known_proportions_have_the_width_of_their_moments() {
        let known = |p: f64, trials: u64| {
            let limit = ProportionLimit { value: p, complement: 1.0 - p };
            Limited { low: limit, high: limit, trials }
        };
        for (p, q, n, m) in [(0.1, 0.5, 1000, 100), (0.3, 0.2, 400, 900), (0.05, 0.02, 5000, 3000)] {
            let width = difference_width(known(p, n), known(q, m), failure(0.2));
            let expected = width_at(p, q, [n as f64, m as f64], failure(0.2));
            assert!((width / expected - 1.0).abs() < 1e-9, "{p} {q}: {width} {expected}");
        }
    }

    #[test]
    fn counts_of_any_size_have_a_width() {
        for (k, n) in [(0, 1), (1, 1), (0, 1 << 53), (1 << 52, 1 << 53), (5, 1_000_000_000_000)] {
            for (l, m) in [(0, 1), (1, 1), (1 << 53, 1 << 53), (3, 7)] {
                for f in [1e-300, 0.05, 0.999] {
                    let width = difference_width(limited(k, n, f), limited(l, m, f), failure(f));
                    assert!(width >= 0.0, "{k}/{n} {l}/{m} {f}: {width}");
                }
            }
        }
    }
}
