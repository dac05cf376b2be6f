//! The worst case of GNMax: the supremum over all votes and all numbers of classes, enclosed on both sides.

mod cells;
mod cone;
mod density;
mod lanes;
mod line;
mod objective;
mod plane;
mod search;
mod witness;

use self::line::line_supremum;
use self::search::Plane;
pub use self::witness::{WorstHistogram, gnmax_worst_histogram};
use super::gaussian::gaussian_rdp;
use super::gnmax::gnmax_data_independent;
use crate::bound::{UpperBound, Validity};
use crate::histogram::VoteChange;
use crate::parallel;
use crate::quantity::{NoiseScale, Order};
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// Relative error of a value by rounding and quadrature, with a margin; bounds are moved outwards by it.
const ROUNDING: f64 = 1e-9;
/// Logarithms of probabilities of exp(-(α h)²) are rounded to 1e-16 of themselves, which amounts to this much of D per
/// unit of the order.
const ROUNDING_OF_ORDER: f64 = 1e-14;
/// Shifts h = 1/σ for which the search is made: squares of others leave the range of doubles.
const SHIFTS: std::ops::RangeInclusive<f64> = 1e-70..=1e70;
/// The largest order for which the search is made.
const LARGEST_ORDER: f64 = 1e12;
/// Number of orders that share their boxes: fixed, so values do not depend on the number of threads.
const CHUNK: usize = 10;
/// Standard deviations of the noise over which the search extends: from here on, α/σ² is the supremum to 1e-6.
const WIDEST: f64 = 1e4;

/// Where the largest divergence is attained, in votes. These are points of the continuum, not histograms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WorstVotes {
    /// Two classes: the first leads the second by this many votes before its voter moves to the second.
    TwoClasses {
        /// n_first - n_second, often negative.
        margin: f64,
    },
    /// Two classes before a threshold, the largest noisy count of all others: this many votes above it.
    Threshold {
        /// n_first minus the threshold.
        first: f64,
        /// n_second minus the threshold.
        second: f64,
    },
    /// One class before the threshold, with the vote that is added or removed.
    OneClass {
        /// The count with the vote, minus the threshold.
        lead: f64,
    },
}

/// Enclosure of the worst case at one order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorstCase {
    /// α.
    pub order: Order,
    /// An upper bound on the supremum of D_α over all histograms and all their neighbors.
    pub upper: f64,
    /// D_α at `votes`, rounded down.
    pub lower: f64,
    /// Where `lower` is attained.
    pub votes: WorstVotes,
}

impl WorstCase {
    /// The upper end as the bound of an accountant, `gnmax-worst-case`.
    #[must_use]
    pub const fn bound(&self) -> UpperBound {
        UpperBound::new(self.upper, "gnmax-worst-case", Validity::NumericallyCertified)
    }
}

/// The tight RDP of GNMax for any votes: an enclosure of
/// ```text
/// S₃(α, σ) = sup_{u,v} D_α(T(u, v) ‖ T(u - 1/σ, v + 1/σ)),
/// T(u, v) = the distribution of (u + Z₁ and v + Z₂ both negative, the first larger, the second larger)
/// ```
/// for a moved vote, and of S₁ = sup_s D_α(Bern(Φ(s)) ‖ Bern(Φ(s - 1/σ))) for one added or removed. Both bound every
/// histogram with any number of classes, and never exceed the Gaussian mechanism, α/σ² and α/(2σ²). For little noise
/// they approach it; for α ≪ σ they are 0.640 α/σ² and 0.318 α/σ².
///
/// *Theorem.* For every histogram n of any number of classes C and the move of a vote from a to b,
/// D_α(argmax(n + σZ) ‖ argmax(n - e_a + e_b + σZ)) ≤ S₃.
/// *Proof.* Let M be the largest noisy count of the other classes and I its class. Their joint distribution is the same
/// for both histograms and independent of the noisy counts of a and b. The argmax is a function of I, M and the outcome
/// W ∈ {neither exceeds M, a wins, b wins}. By data processing its divergence is at most that of (I, M, W), and
/// exp((α-1) D(I, M, W)) = E_M exp((α-1) D(W | M)) ≤ sup_m exp((α-1) D(W | M = m)). Given M = m, W has the distribution
/// T with u = (n_a - m)/σ, v = (n_b - m)/σ. With two classes M = -∞, the limit u, v → ∞ with u - v fixed. For an added
/// vote only b changes, and W is whether it exceeds M. ∎
///
/// *Certificate.* [`WorstCase::upper`] is certified by branch and bound over the plane: for each box, by the value at
/// its center and a proven bound on how much a critical point nearby may exceed it; outside a triangle, other
/// inequalities hold. `upper/lower - 1` is at most 1e-4 for σ ≥ 1 and orders up to 8 σ, and 1e-3 beyond, where no
/// composition is optimal; for less noise it is given by `lower`, which is attained. Rounding and quadrature errors are
/// below 1e-9, by which both ends are moved outwards. Beyond orders of 10^12 or σ of 10^±70, or for α > 10^4 σ, no
/// search is made: `upper` is the Gaussian bound and `lower` is 0.
///
/// Two classes alone reach 0.6366 α/σ², 0.53% less, and S₃ itself is approached only as C → ∞.
///
/// ```
/// # use leakbound::accountant::gnmax_worst_case;
/// # use leakbound::histogram::VoteChange;
/// # use leakbound::quantity::{NoiseScale, Order};
/// let worst = gnmax_worst_case(Order::new(2.0)?, NoiseScale::new(40.0)?, VoteChange::Moved);
/// assert!((worst.upper / (2.0 / 1600.0) - 0.6400).abs() < 1e-4);
/// assert!(worst.lower <= worst.upper && worst.upper <= worst.lower * 1.0001);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// The theorem is this library's own; the data-independent bound is Papernot et al. (2018), Proposition 8. Brascamp and
/// Lieb (1976) and Caffarelli (2000) for restrictions of normal distributions to convex sets.
#[must_use]
pub fn gnmax_worst_case(order: Order, sigma: NoiseScale, kind: VoteChange) -> WorstCase {
    enclose(order, sigma, kind, &mut Plane::new(1.0 / sigma.get()))
}

/// [`gnmax_worst_case`] at many orders for one noise scale, in groups of ten that share their boxes, on all threads:
/// some tens of milliseconds for 60 orders, longest for noise of one to ten votes (bench `worst_case`).
///
/// ```
/// # use leakbound::accountant::gnmax_worst_case_curve;
/// # use leakbound::prelude::*;
/// // 1000 answers with σ = 40: ε at δ = 1e-5 is 4.163, where α/σ² gives 5.378.
/// let orders: Vec<Order> = (2..=60).map(|a| Order::new(f64::from(a) / 4.0 + 1.0)).collect::<Result<_>>()?;
/// let worst = gnmax_worst_case_curve(&orders, NoiseScale::new(40.0)?, VoteChange::Moved);
/// let curve = RdpCurve::new(orders, worst.iter().map(|worst| worst.upper).collect())?;
/// let (epsilon, _) = curve.repeated(1000.0).epsilon(Delta::new(1e-5)?);
/// assert!((epsilon.get() - 4.163).abs() < 1e-3);
/// # Ok::<(), Error>(())
/// ```
#[must_use]
pub fn gnmax_worst_case_curve(orders: &[Order], sigma: NoiseScale, kind: VoteChange) -> Vec<WorstCase> {
    let of_chunk = |orders: &[Order]| {
        let mut plane = Plane::new(1.0 / sigma.get());
        orders.iter().map(|&order| enclose(order, sigma, kind, &mut plane)).collect::<Vec<_>>()
    };
    parallel::map(orders.chunks(CHUNK), of_chunk).concat()
}

fn enclose(order: Order, sigma: NoiseScale, kind: VoteChange, plane: &mut Plane) -> WorstCase {
    let (a, h) = (order.get(), 1.0 / sigma.get());
    let moved = kind == VoteChange::Moved;
    let gaussian = if moved { gnmax_data_independent(order, sigma) } else { gaussian_rdp(order, sigma, 1.0) };
    let in_range = SHIFTS.contains(&h) && a <= LARGEST_ORDER && a * h <= WIDEST;
    let (lower, upper, votes) = if !in_range {
        // The middle between a distribution and its tilt, where the half-line is nearly as good as the plane.
        let middle = -0.5 * a;
        let votes =
            if moved { WorstVotes::TwoClasses { margin: middle + 1.0 } } else { WorstVotes::OneClass { lead: middle } };
        (0.0, f64::INFINITY, votes)
    } else if moved {
        let found = plane.supremum(a);
        let votes = if found.t == f64::INFINITY {
            WorstVotes::TwoClasses { margin: found.s * SQRT_2 / h }
        } else {
            let [first, second] = [found.t + found.s, found.t - found.s].map(|x| x * FRAC_1_SQRT_2 / h);
            WorstVotes::Threshold { first, second }
        };
        (found.lower, found.upper, votes)
    } else {
        let found = line_supremum(a, h);
        (found.lower, found.upper, WorstVotes::OneClass { lead: found.s / h })
    };
    let rounding = ROUNDING + ROUNDING_OF_ORDER * a;
    let upper = upper / (a - 1.0) * (1.0 + rounding);
    // The Gaussian bound is a theorem as well; its rounding error is negligible.
    let upper = if upper < gaussian { upper } else { gaussian };
    let lower = (lower / (a - 1.0) * (1.0 - rounding)).clamp(0.0, upper);
    WorstCase { order, upper, lower, votes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::{Noise, OutcomeDistribution, noisy_argmax_distribution};
    use crate::divergence::{RdpCurve, bernoulli_renyi, renyi_divergence};
    use crate::histogram::{Neighbor, VoteHistogram};
    use crate::quantity::Delta;
    use crate::special::{log_ndtr, log_sum_exp, ndtr};

    fn order(a: f64) -> Order {
        Order::new(a).unwrap()
    }

    fn moved(a: f64, sigma: f64) -> WorstCase {
        gnmax_worst_case(order(a), NoiseScale::new(sigma).unwrap(), VoteChange::Moved)
    }

    /// The values of a numerical maximization by other methods, in units of α/σ².
    #[test]
    fn known_values() {
        let known = [(10.0, 2.0, 0.6404), (10.0, 16.0, 0.7007), (10.0, 64.0, 0.9473), (40.0, 2.0, 0.6400)];
        for (sigma, a, expected) in known.into_iter().chain([(40.0, 16.0, 0.6433), (40.0, 64.0, 0.7041)]) {
            let worst = moved(a, sigma);
            let unit = a / sigma / sigma;
            assert!((worst.upper / unit - expected).abs() < 1.3e-4, "{sigma} {a}: {worst:?}");
            assert!((worst.lower / unit - expected).abs() < 1e-4, "{sigma} {a}: {worst:?}");
            assert!(worst.upper <= worst.lower * 1.000_100_1);
        }
        // Low signal: 0.639968 at u = v = 0.7394.
        let worst = moved(2.0, 1e6);
        assert!((worst.upper / 2e-12 - 0.639_97).abs() < 7e-5 && (worst.lower / 2e-12 - 0.639_97).abs() < 1e-5);
    }

    #[test]
    fn composed_epsilon() {
        let orders: Vec<Order> =
            crate::divergence::order_grid().into_iter().filter(|a| (2.0..32.0).contains(&a.get())).collect();
        for (sigma, queries, delta, expected) in [
            (40.0, 1000.0, 1e-5, 4.163),
            (40.0, 1000.0, 1e-6, 4.607),
            (25.0, 1000.0, 1e-5, 7.181),
            (20.0, 1000.0, 1e-5, 9.373),
            (40.0, 100.0, 1e-5, 1.161),
            (100.0, 1000.0, 1e-5, 1.498),
        ] {
            let worst = gnmax_worst_case_curve(&orders, NoiseScale::new(sigma).unwrap(), VoteChange::Moved);
            let curve = RdpCurve::new(orders.clone(), worst.iter().map(|worst| worst.upper).collect()).unwrap();
            let epsilon = curve.repeated(queries).epsilon(Delta::new(delta).unwrap()).0.get();
            assert!((epsilon - expected).abs() < 1.5e-3, "{sigma} {queries} {delta}: {epsilon}");
        }
    }

    /// Every histogram of up to 5 classes and 9 votes, every move: below S₃; and two classes are close to it.
    #[test]
    fn all_small_histograms_are_below() {
        let mut closest = 0.0f64;
        for (sigma, a) in [(2.0, 2.0), (1.0, 1.5), (4.0, 8.0), (0.5, 1.2)] {
            let bound = moved(a, sigma).upper;
            let noise = Noise::Gaussian(NoiseScale::new(sigma).unwrap());
            for classes in 2..=5usize {
                let mut histogram = vec![0u64; classes];
                loop {
                    let total: u64 = histogram.iter().sum();
                    if histogram[0] > 0 && total <= 9 && histogram[2..].is_sorted() {
                        let p = VoteHistogram::new(histogram.clone()).unwrap();
                        let q = p.neighbor(Neighbor::Moved { from: 0, to: 1 }).unwrap();
                        let distributions =
                            [p, q].map(|histogram| noisy_argmax_distribution(&histogram, noise).unwrap());
                        let exact = renyi_divergence(&distributions[0], &distributions[1], order(a)).unwrap();
                        assert!(exact <= bound, "{histogram:?} {sigma} {a}: {exact} {bound}");
                        closest = closest.max(exact / bound);
                    }
                    let Some(digit) = histogram.iter().position(|count| *count < 6) else { break };
                    histogram[digit] += 1;
                    histogram[..digit].fill(0);
                }
            }
        }
        assert!(closest > 0.99, "{closest}");
    }

    /// Random points of the plane and the line, by the distributions themselves.
    #[test]
    fn no_point_exceeds_the_bound() {
        for (sigma, a) in [(0.3, 1.05), (1.0, 3.0), (7.0, 1.5), (7.0, 20.0), (40.0, 300.0), (1e4, 2.0)] {
            let worst = moved(a, sigma);
            let one = gnmax_worst_case(order(a), NoiseScale::new(sigma).unwrap(), VoteChange::Added);
            let h = 1.0 / sigma;
            let reach = a * h + 3.0;
            for i in 0..100 {
                let s = -reach + 0.02 * f64::from(i) * reach;
                let pair = |s: f64| (ndtr(s), ndtr(-s));
                let value = bernoulli_renyi(pair(s), pair(s - SQRT_2 * h), order(a));
                assert!(value <= worst.upper, "{sigma} {a} {s}: {value}");
                assert!(bernoulli_renyi(pair(s), pair(s - h), order(a)) <= one.upper);
                assert!(bernoulli_renyi(pair(-s), pair(h - s), order(a)) <= one.upper);
                for j in 0..30 {
                    let t = -3.0 + 0.3 * f64::from(j);
                    let outcomes = plane::outcomes(s, t, h, objective::Reach { s: 0.0, t: 0.0 });
                    let value = objective::moment(&outcomes, a).ln / (a - 1.0);
                    assert!(value <= worst.upper, "{sigma} {a} {s} {t}: {value}");
                }
            }
        }
    }

    /// So little noise that a ratio of probabilities overflows, at orders that hardly depend on it.
    #[test]
    fn ratios_that_overflow_are_counted() {
        for (sigma, a) in [(0.035, 1.001), (0.03, 1.001), (0.03, 1.0001), (0.02, 1.0001), (0.02, 1.01), (0.01, 1.000_1)]
        {
            let h = 1.0 / sigma;
            let one = gnmax_worst_case(order(a), NoiseScale::new(sigma).unwrap(), VoteChange::Added);
            for (worst, shift) in [(moved(a, sigma), SQRT_2 * h), (one, h)] {
                assert!(worst.upper <= worst.lower * 1.01, "{worst:?}");
                for i in 0..60 {
                    let s = 0.1 * f64::from(i);
                    let sides = [(s, s - shift), (-s, shift - s)];
                    let terms = sides.map(|(p, q)| a * log_ndtr(p) + (1.0 - a) * log_ndtr(q));
                    let value = log_sum_exp(terms.into_iter()) / (a - 1.0);
                    assert!(value <= worst.upper, "{sigma} {a} {s}: {value} {worst:?}");
                }
            }
        }
    }

    #[test]
    fn extreme_inputs_have_bounds() {
        for a in [1.0 + f64::EPSILON, 1.001, 2.0, 1e4, 1e12, f64::MAX] {
            for sigma in [f64::from_bits(1), 1e-69, 1e-2, 1.0, 1e3, 1e69, f64::MAX] {
                for kind in [VoteChange::Moved, VoteChange::Added, VoteChange::Removed] {
                    let scale = NoiseScale::new(sigma).unwrap();
                    let worst = gnmax_worst_case(order(a), scale, kind);
                    let whole = gaussian_rdp(order(a), scale, 1.0) * if kind == VoteChange::Moved { 2.0 } else { 1.0 };
                    assert!(worst.lower >= 0.0 && worst.lower <= worst.upper, "{a} {sigma}: {worst:?}");
                    assert!(worst.upper <= whole * 1.000_001, "{a} {sigma}: {worst:?} {whole}");
                }
            }
        }
    }

    /// Across four decades of orders and of noise, the enclosure is as narrow as documented, and increases.
    #[test]
    fn enclosures_are_narrow() {
        let mut widest = 0.0f64;
        for sigma in [0.1, 1.0, 40.0] {
            let orders: Vec<Order> = (0..20).map(|i| order(1.0 + 1e-3 * 1.96f64.powi(i))).collect();
            let start = std::time::Instant::now();
            let curve = gnmax_worst_case_curve(&orders, NoiseScale::new(sigma).unwrap(), VoteChange::Moved);
            println!("{sigma}: {:?}", start.elapsed());
            for pair in curve.windows(2) {
                assert!(pair[1].upper >= pair[0].lower && pair[1].lower >= pair[0].lower * 0.999);
            }
            for worst in &curve {
                let gap = worst.upper / worst.lower - 1.0;
                if gap > 1.01e-4 {
                    println!("{sigma} {}: {gap:e}", worst.order.get());
                }
                widest = widest.max(gap);
            }
        }
        assert!(widest < 2e-3, "{widest}");
    }

    /// The lower end is attained at the stated votes.
    #[test]
    fn the_named_votes_attain_the_lower_end() {
        for (a, scale) in [(2.0, 40.0), (8.0, 5.0), (3.0, 1.0), (1.5, 0.7)] {
            let (order, sigma, h) = (Order::new(a).unwrap(), NoiseScale::new(scale).unwrap(), 1.0 / scale);
            let added = gnmax_worst_case(order, sigma, VoteChange::Added);
            let WorstVotes::OneClass { lead } = added.votes else { panic!("{added:?}") };
            let distribution = |s: f64| (ndtr(s), ndtr(-s));
            let found = bernoulli_renyi(distribution(lead * h), distribution(lead * h - h), order);
            assert!((found / added.lower - 1.0).abs() < 1e-4, "{a} {scale}: {found} {added:?}");
            let moved = gnmax_worst_case(order, sigma, VoteChange::Moved);
            let found = match moved.votes {
                WorstVotes::TwoClasses { margin } => {
                    let z = margin * h / SQRT_2;
                    bernoulli_renyi(distribution(z), distribution(z - SQRT_2 * h), order)
                }
                WorstVotes::Threshold { first, second } => {
                    let (p, q) = (three_outcomes(first * h, second * h), three_outcomes(first * h - h, second * h + h));
                    renyi_divergence(&p, &q, order).unwrap()
                }
                WorstVotes::OneClass { .. } => panic!("{moved:?}"),
            };
            assert!((found / moved.lower - 1.0).abs() < 1e-4, "{a} {scale}: {found} {moved:?}");
        }
    }

    /// Both of u + Z and v + Z' below 0, the first larger, the second larger.
    fn three_outcomes(u: f64, v: f64) -> OutcomeDistribution {
        let wins = |u: f64, v: f64| -> f64 {
            // Simpson's rule over 0 to 12 standard deviations beyond the mean.
            let (nodes, end) = (20_000, u.max(v).max(0.0) + 12.0);
            let step = end / f64::from(nodes);
            let density =
                |x: f64| libm::exp(-0.5 * (x - u) * (x - u)) / (2.0 * std::f64::consts::PI).sqrt() * ndtr(x - v);
            let weight = |i: i32| {
                if i == 0 || i == nodes {
                    1.0
                } else if i % 2 == 1 {
                    4.0
                } else {
                    2.0
                }
            };
            (0..=nodes).map(|i| weight(i) * density(f64::from(i) * step)).sum::<f64>() * step / 3.0
        };
        let (first, second) = (wins(u, v), wins(v, u));
        OutcomeDistribution::from_probabilities(&[1.0 - first - second, first, second]).unwrap()
    }
}
