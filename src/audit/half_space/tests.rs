//! The half-space compared with exact tails, grids of its region, and tabulated shares.

use super::*;
use crate::audit::tests::{failure, order};
use crate::audit::variational::tests::{Case, FIG_6, FIVE, TEN, distributions, share as share_of};
use crate::audit::{OutputSet, Rectangle};
use crate::distribution::OutcomeDistribution;
use crate::special::{log_binomial_pmf, ndtr};
use proptest::prelude::*;

fn half_space(k: u64, n: u64, l: u64, m: u64, f: f64) -> HalfSpace {
    HalfSpace::new(BinomialCounts::new(k, n).unwrap(), BinomialCounts::new(l, m).unwrap(), failure(f)).unwrap()
}

/// Methods 1.4: the share of the divergence certified at the frequencies of the distributions.
fn share(p: f64, q: f64, n: f64, a: f64) -> f64 {
    let space = half_space((p * n).round() as u64, n as u64, (q * n).round() as u64, n as u64, 0.05);
    space.bound(order(a), Direction::Forward).value / bernoulli_renyi((p, 1.0 - p), (q, 1.0 - q), order(a))
}

/// Two classes at a tie, 250 votes, Gaussian noise of scale 40: p = ½ against Φ(-2/(40√2)).
#[test]
fn a_tie_is_certified_as_tabulated() {
    let q = ndtr(-2.0 / (40.0 * std::f64::consts::SQRT_2));
    for (n, expected) in [(1e5, [0.531, 0.534]), (1e6, [0.837, 0.838]), (1e8, [0.983, 0.983])] {
        for (a, expected) in [2.0, 10.0].into_iter().zip(expected) {
            let found = share(0.5, q, n, a);
            println!("n = {n:e}, order {a}: {found:.3}, tabulated {expected}");
            assert!((found - expected).abs() < 0.02, "{n} {a}: {found}");
        }
    }
}

/// The prefix of the outcomes sorted by p/q with the largest forward 2-cut.
fn best_set(case: Case, order: Order) -> OutputSet {
    let [p, q] = distributions(case);
    let mut classes: Vec<usize> = (0..p.outcomes()).collect();
    classes.sort_by(|&a, &b| (q.p()[a] / p.p()[a]).total_cmp(&(q.p()[b] / p.p()[b])));
    let cut = |inside: usize| {
        let sums = |distribution: &OutcomeDistribution, part: &[usize]| {
            part.iter().map(|&class| distribution.p()[class]).sum::<f64>()
        };
        let [side, other] = [&classes[..inside], &classes[inside..]];
        bernoulli_renyi((sums(&p, side), sums(&p, other)), (sums(&q, side), sums(&q, other)), order)
    };
    let best = (1..p.outcomes()).fold(1, |best, inside| if cut(inside) > cut(best) { inside } else { best });
    OutputSet::new((0..p.outcomes()).map(|class| classes[..best].contains(&class)).collect())
}

/// Methods 1.4: the best set of the exact distributions, at the frequencies of the distributions.
#[test]
fn cuts_of_many_classes_are_certified_as_tabulated() {
    for (case, n, expected) in [
        (FIG_6, 1e5, [0.948, 0.979]),
        (FIG_6, 1e8, [0.972, 0.999]),
        (FIVE, 1e5, [0.445, 0.453]),
        (FIVE, 1e8, [0.875, 0.890]),
        (TEN, 1e5, [0.328, 0.340]),
        (TEN, 1e6, [0.600, 0.626]),
        (TEN, 1e8, [0.736, 0.769]),
    ] {
        for (a, expected) in [2.0, 10.0].into_iter().zip(expected) {
            let set = best_set(case, order(a));
            let found = share_of(case, n, order(a), |counts, _| {
                let [inside, inside_neighbor] = set.inside(counts).unwrap();
                let space = HalfSpace::new(inside, inside_neighbor, failure(0.05)).unwrap();
                space.bound(order(a), Direction::Forward).value
            });
            println!("{:?}, n = {n:e}, order {a}: {found:.3}, tabulated {expected}", case.0);
            assert!((found - expected).abs() < 0.02, "{:?} {n} {a}: {found}", case.0);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// The certificate against a fine grid of the region.
    #[test]
    fn the_bound_is_the_minimum_over_the_region(
        n in prop_oneof![Just(30u64), Just(3_000), Just(1_000_000)],
        x in 0.0f64..1.0, y in 0.0f64..1.0, a in 1.01f64..40.0, forward in any::<bool>(),
    ) {
        let space = half_space((x * n as f64) as u64, n, (y * n as f64) as u64, n, 0.05);
        let direction = if forward { Direction::Forward } else { Direction::Reverse };
        let bound = space.bound(order(a), direction).value;
        // In the coordinates of the region, which are those of the complement if that is rarer.
        let direction = space.internal(direction);
        let mut least = f64::INFINITY;
        for i in 0..=400 {
            let q = space.q_low.value + (space.q_high.value - space.q_low.value) * f64::from(i) / 400.0;
            let p = (q + space.difference).max(space.p_low.value).max(q.min(space.p_high.value));
            if p <= space.p_high.value {
                let (p, q) = ((p, 1.0 - p), (q, 1.0 - q));
                least = least.min(match direction {
                    Direction::Forward => bernoulli_renyi(p, q, order(a)),
                    Direction::Reverse => bernoulli_renyi(q, p, order(a)),
                });
            }
        }
        prop_assert!(bound <= least * (1.0 + 1e-9) + 1e-13, "{bound} {least}");
        prop_assert!(bound >= least * 0.99 - 1e-9, "{bound} {least}");
    }

    /// Any counts, orders and levels: finite and never NaN.
    #[test]
    fn extreme_counts_give_numbers(
        n in prop_oneof![Just(1u64), Just(7), Just(1_000_000_000_000)], m in prop_oneof![Just(1u64), Just(1 << 53)],
        x in prop_oneof![Just(0.0), Just(1.0), 0.0f64..1.0], y in prop_oneof![Just(0.0), Just(1.0), 0.0f64..1.0],
        a in prop_oneof![Just(1.0 + 1e-12), Just(1e5), Just(1e300), 1.1f64..60.0],
        f in prop_oneof![Just(1e-300), Just(0.999), Just(0.05)],
    ) {
        let space = half_space((x * n as f64) as u64, n, (y * m as f64) as u64, m, f);
        for direction in Direction::BOTH {
            prop_assert!(space.bound(order(a), direction).value.is_finite());
            let epsilon = space.epsilon(Delta::new(1e-5).unwrap(), direction).value;
            prop_assert!(epsilon >= 0.0 && epsilon.is_finite());
        }
    }
}

/// Close distributions: the half-space needs 2.8 times fewer samples than the rectangle.
#[test]
fn the_half_space_beats_the_rectangle_at_small_signals() {
    let (k, l, n) = (510_000, 500_000, 1_000_000);
    let rectangle =
        Rectangle::two_tails(BinomialCounts::new(k, n).unwrap(), BinomialCounts::new(l, n).unwrap(), failure(0.05))
            .unwrap();
    for a in [1.5, 2.0, 32.0] {
        for direction in Direction::BOTH {
            let bound = half_space(k, n, l, n, 0.05).bound(order(a), direction).value;
            assert!(bound > 1.05 * rectangle.corner(order(a), direction).value);
        }
    }
}

/// Every pair of binomial counts with its probability: no bound exceeds the true divergence more often than stated.
#[test]
fn the_exact_failure_rate_stays_below_the_level() {
    let (n, f) = (40u64, 0.2);
    let spaces: Vec<(u64, u64, HalfSpace)> =
        (0..=n).flat_map(|k| (0..=n).map(move |l| (k, l, half_space(k, n, l, n, f)))).collect();
    let rate = |p: f64, q: f64, fails: &dyn Fn(&HalfSpace) -> bool| -> f64 {
        let failing = spaces.iter().filter(|(_, _, space)| fails(space));
        failing.map(|&(k, l, _)| (log_binomial_pmf(k, n, p) + log_binomial_pmf(l, n, q)).exp()).sum()
    };
    for (p, q) in [(0.5, 0.5), (0.55, 0.5), (0.9, 0.4), (0.05, 0.02), (0.2, 0.6)] {
        for direction in Direction::BOTH {
            let (x, y) = if direction == Direction::Forward { (p, q) } else { (q, p) };
            for a in [1.5, 8.0] {
                let truth = bernoulli_renyi((x, 1.0 - x), (y, 1.0 - y), order(a));
                let found = rate(p, q, &|space| space.bound(order(a), direction).value > truth);
                assert!(found <= f, "{p} {q} {a} {direction}: {found}");
            }
            let truth = (x / y).ln().max(((1.0 - x) / (1.0 - y)).ln());
            let found = rate(p, q, &|space| space.epsilon(Delta::new(0.0).unwrap(), direction).value > truth);
            assert!(found <= f, "{p} {q} epsilon {direction}: {found}");
        }
    }
}

/// More samples with the same frequencies give a larger bound, and in the limit the whole 2-cut divergence.
#[test]
fn bounds_grow_with_the_sample() {
    for (p, q) in [(0.5, 0.49), (0.75, 0.25), (1e-3, 1e-5)] {
        for a in [1.5, 2.0, 16.0] {
            let shares = [1e5, 1e6, 1e7, 1e8, 1e10, 1e12, 1e14].map(|n| share(p, q, n, a));
            assert!(shares.is_sorted(), "{p} {q} {a}: {shares:?}");
            assert!(shares[6] > 0.999 && shares[6] < 1.0, "{p} {q} {a}: {shares:?}");
        }
    }
}
