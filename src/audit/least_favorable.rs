//! The two distributions in two boxes of proportions that are hardest to distinguish, and the divergence between them.
//!
//! **One pair for all orders and both directions.** For boxes p ∈ [p_l, p_u] and q ∈ [q_l, q_u], both summing to 1, the
//! minimum of F = Σ p^α q^{1-α}, jointly convex, is where each distribution is best given the other. For fixed q, the
//! multiplier rule gives p/q = λ for every class with p inside its range, p = p_l where p/q > λ and p = p_u where p/q <
//! λ; for fixed p likewise with μ and q_u, q_l. In other words, p = clip(λ q) and q = clip(p/μ), without α: one pair
//! minimizes F for every α, and also Σ q^α p^{1-α}. It is Huber and Strassen's (1973) least favorable pair, and is
//! computed here once and directly:
//!
//! - λ < μ: every class has q_l or p_l, p = clip(λ q_l) and q = clip(p_l/μ), so λ and μ each solve a monotone equation
//!   (the sum is 1). λ > μ: p = clip(λ q_u), q = clip(p_u/μ) likewise.
//! - Otherwise λ = μ = ρ, and a class has ratio p_l/q_u if that is above ρ (set U), p_u/q_l if that is below ρ (set D),
//!   and ρ if its ranges allow. The masses left for the last kind agree if G(ρ) = Σ_U (p_l - ρ q_u) - Σ_D (ρ q_l -
//!   p_u) - (1 - ρ) = 0. With λ_l, μ_l from the first case and λ_u, μ_u from the second, the remaining mass can be
//!   placed for ρ between max(λ_u, μ_l) and min(λ_l, μ_u); there the slope of G is that mass, so G does not decrease,
//!   and at the ends G ≤ 0 and G ≥ 0: the root is found by bisection.
//!
//! This need not be exact: ratios and multipliers define a tangent, and its minimum over the boxes is a bound wherever
//! the search ended ([`super::dual_tangent`]).

use super::dual_tangent::{LARGEST_LN, Tangent};
use crate::interval::{ProportionLimit, ProportionRange};
use crate::special::CompensatedSum;

/// Halvings of a bracket of at most 1400: to the last digit of a double.
const HALVINGS: usize = 70;

/// The tangent at the least favorable pair, for ranges of the proportions of both distributions, class by class; `None`
/// if a box contains no distribution.
pub(super) fn least_favorable(p: &[ProportionRange], q: &[ProportionRange]) -> Option<Tangent> {
    // A box that contains a distribution only by a rounding error cannot result from data.
    let holds_a_distribution = |ranges: &[ProportionRange]| {
        let sum = |limit: fn(&ProportionRange) -> f64| ranges.iter().map(limit).collect::<CompensatedSum>().value();
        sum(|range| range.lower.value) <= 1.0 + 1e-12 && sum(|range| range.upper.value) >= 1.0 - 1e-12
    };
    if p.len() != q.len() || !holds_a_distribution(p) || !holds_a_distribution(q) {
        return None;
    }
    let pairs: Vec<(ProportionRange, ProportionRange)> = p.iter().copied().zip(q.iter().copied()).collect();
    let lower = Multipliers::solve(&pairs, |range| range.lower);
    let upper = Multipliers::solve(&pairs, |range| range.upper);
    for (multipliers, limit, apart) in [
        (lower, (|range| range.lower.value) as fn(ProportionRange) -> f64, lower.ln_lambda < lower.ln_mu),
        (upper, |range| range.upper.value, upper.ln_lambda > upper.ln_mu),
    ] {
        if apart {
            let [ln_lambda, ln_mu] =
                [multipliers.ln_lambda, multipliers.ln_mu].map(|ln| ln.clamp(-LARGEST_LN, LARGEST_LN));
            let ratio = |&(p, q): &(ProportionRange, ProportionRange)| {
                let x = clip(libm::exp(ln_lambda) * limit(q), p);
                let y = clip(limit(p) * libm::exp(-ln_mu), q);
                if x > 0.0 && y > 0.0 { (x / y).ln() } else { ln_lambda }
            };
            return Some(Tangent::new(pairs.iter().map(|pair| (pair, ratio(pair))), ln_lambda, ln_mu));
        }
    }
    let low = upper.ln_lambda.max(lower.ln_mu).max(-LARGEST_LN);
    let high = lower.ln_lambda.min(upper.ln_mu).min(LARGEST_LN);
    let ln_ratio = bisect(low, high, |t| unplaced_mass(&pairs, libm::expm1(t)));
    let e = libm::expm1(ln_ratio);
    let apart = pairs.iter().filter_map(|pair| {
        let (p, q) = pair;
        if above(pair, e) > 0.0 {
            Some((pair, ln_quotient(p.lower, q.upper)))
        } else if below(pair, e) > 0.0 {
            Some((pair, ln_quotient(p.upper, q.lower)))
        } else {
            None
        }
    });
    Some(Tangent::new(apart, ln_ratio, ln_ratio))
}

/// λ and μ if the other distribution is at one end of its ranges; infinite if no multiplier gives the sum 1.
#[derive(Debug, Clone, Copy)]
struct Multipliers {
    ln_lambda: f64,
    ln_mu: f64,
}

impl Multipliers {
    /// Σ clip(λ q) = 1 and Σ clip(p/μ) = 1 for p and q at the given ends.
    fn solve(pairs: &[(ProportionRange, ProportionRange)], end: impl Fn(ProportionRange) -> ProportionLimit) -> Self {
        let excess_p = |t: f64| excess(pairs.iter().map(|&(p, q)| (end(q), p)), t);
        let shortfall_q = |t: f64| -excess(pairs.iter().map(|&(p, q)| (end(p), q)), -t);
        Self { ln_lambda: root(excess_p), ln_mu: root(shortfall_q) }
    }
}

/// Σ clip(e^t x) - 1 over limits x and ranges; a class above one half enters through its complement, so the sum is as
/// accurate as the rest, however rare.
fn excess(classes: impl Iterator<Item = (ProportionLimit, ProportionRange)>, t: f64) -> f64 {
    let (scale, growth) = (libm::exp(t), libm::expm1(t));
    let (mut sum, mut whole) = (0.0, 1.0);
    for (x, range) in classes {
        if range.lower.value > 0.5 {
            // 1 - e^t x
            let complement = scale * x.complement - growth;
            whole = complement.max(range.upper.complement).min(range.lower.complement);
        } else {
            sum += clip(scale * x.value, range);
        }
    }
    sum - whole
}

/// The root of a non-decreasing function, or the infinity beyond which it would lie.
fn root(f: impl Fn(f64) -> f64) -> f64 {
    if f(LARGEST_LN) < 0.0 {
        f64::INFINITY
    } else if f(-LARGEST_LN) >= 0.0 {
        f64::NEG_INFINITY
    } else {
        bisect(-LARGEST_LN, LARGEST_LN, f)
    }
}

/// A point between `low` and `high` where a non-decreasing function changes sign.
fn bisect(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if f(middle) < 0.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

fn clip(x: f64, range: ProportionRange) -> f64 {
    x.max(range.lower.value).min(range.upper.value)
}

/// G at ρ = 1 + e; e is combined with a class above one half in both worlds, for the same reason.
fn unplaced_mass(pairs: &[(ProportionRange, ProportionRange)], e: f64) -> f64 {
    let (mut sum, mut rest) = (0.0, e);
    for pair in pairs {
        let (p, q) = pair;
        let (above, below) = (above(pair, e), below(pair, e));
        if !(above > 0.0 || below > 0.0) {
            continue;
        }
        if p.lower.value > 0.5 && q.lower.value > 0.5 {
            rest = if above > 0.0 {
                difference(p.lower, q.upper) + e * q.upper.complement
            } else {
                e * q.lower.complement - difference(q.lower, p.upper)
            };
        } else {
            sum += above.max(0.0) - below.max(0.0);
        }
    }
    sum + rest
}

/// p_l - ρ q_u for ρ = 1 + e.
fn above((p, q): &(ProportionRange, ProportionRange), e: f64) -> f64 {
    difference(p.lower, q.upper) - e * q.upper.value
}

/// ρ q_l - p_u for ρ = 1 + e.
fn below((p, q): &(ProportionRange, ProportionRange), e: f64) -> f64 {
    difference(q.lower, p.upper) + e * q.lower.value
}

/// x - y, from the complements if those have the digits.
fn difference(x: ProportionLimit, y: ProportionLimit) -> f64 {
    if x.value > 0.5 { y.complement - x.complement } else { x.value - y.value }
}

/// ln(x/y), accurate for x close to y.
fn ln_quotient(x: ProportionLimit, y: ProportionLimit) -> f64 {
    let difference = difference(x, y);
    if difference.abs() <= 0.25 * y.value { libm::log1p(difference / y.value) } else { x.value.ln() - y.value.ln() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::tests::{distribution, order};
    use crate::bound::Direction;
    use crate::divergence::renyi_divergence;
    use proptest::prelude::*;

    fn range(low: f64, high: f64) -> ProportionRange {
        let limit = |value: f64| ProportionLimit { value, complement: 1.0 - value };
        ProportionRange { lower: limit(low), upper: limit(high) }
    }

    /// Two outcomes close to a tie. The order is lowered, and still leaves all but a thousandth of the largest ratio.
    #[test]
    fn the_largest_orders_have_the_largest_ratio() {
        for gap in [1e-5, 1e-3, 0.1] {
            let p = [range(0.5 + gap, 0.5 + 2.0 * gap), range(0.5 - 2.0 * gap, 0.5 - gap)];
            let q = [range(0.5 - gap, 0.5), range(0.5, 0.5 + gap)];
            let tangent = least_favorable(&p, &q).unwrap();
            let (found, most) = (tangent.divergence(order(1e12), Direction::Forward), libm::log1p(2.0 * gap));
            assert!(found <= most * (1.0 + 1e-12) && found > 0.999 * most, "{gap}: {found} {most}");
        }
    }

    #[test]
    fn limits_that_just_hold_a_distribution_are_a_box() {
        let wide = [range(0.0, 1.0); 2];
        for just in [[range(0.2, 0.5); 2], [range(0.5, 0.7); 2]] {
            assert!(least_favorable(&just, &wide).is_some() && least_favorable(&wide, &just).is_some());
        }
    }

    /// Ranges around a distribution, so that the box contains one.
    fn boxes(classes: std::ops::Range<usize>) -> impl Strategy<Value = [Vec<ProportionRange>; 2]> {
        let world = |weights: Vec<(f64, f64, f64)>| -> Vec<ProportionRange> {
            let total: f64 = weights.iter().map(|weight| weight.0).sum();
            weights
                .iter()
                .map(|&(w, below, above)| {
                    let p = w / total;
                    range((p - below).max(0.0), (p + above).min(1.0))
                })
                .collect()
        };
        let weights = move |count: usize| prop::collection::vec((1e-3..1.0f64, 0.0..0.2f64, 1e-6..0.2f64), count);
        classes
            .prop_flat_map(move |count| (weights(count), weights(count)))
            .prop_map(move |(p, q)| [world(p), world(q)])
    }

    /// Alternating minimization, which shares nothing with the direct solution: p = clip(λ q), q = clip(p/μ).
    fn alternate(p: &[ProportionRange], q: &[ProportionRange]) -> [Vec<f64>; 2] {
        let project = |target: &[f64], ranges: &[ProportionRange]| -> Vec<f64> {
            let at = |t: f64| -> Vec<f64> {
                target.iter().zip(ranges).map(|(&x, &range)| clip(x * t.exp(), range)).collect()
            };
            at(bisect(-60.0, 60.0, |t| at(t).iter().sum::<f64>() - 1.0))
        };
        let mut y = project(&vec![1.0; q.len()], q);
        let mut x = project(&y, p);
        for _ in 0..1000 {
            let before = x.clone();
            y = project(&x, q);
            x = project(&y, p);
            if x.iter().zip(&before).all(|(x, before)| (x - before).abs() < 1e-15) {
                break;
            }
        }
        let normal = |mut z: Vec<f64>| {
            let sum: f64 = z.iter().sum();
            z.iter_mut().for_each(|z| *z /= sum);
            z
        };
        [normal(x), normal(y)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// Never above the divergence of any pair in the boxes, and equal to the smallest one.
        #[test]
        fn the_least_divergence_is_that_of_alternating_minimization(
            [p, q] in boxes(2..7), a in prop_oneof![1.01..3.0f64, 3.0..64.0f64],
        ) {
            let least = least_favorable(&p, &q).unwrap();
            let [x, y] = alternate(&p, &q);
            for (direction, x, y) in [(Direction::Forward, &x, &y), (Direction::Reverse, &y, &x)] {
                let found = least.divergence(order(a), direction);
                let reached = renyi_divergence(&distribution(x), &distribution(y), order(a)).unwrap();
                prop_assert!(found <= reached + 1e-11, "{found} {reached}");
                prop_assert!(found >= reached - 1e-6 * reached - 1e-9, "{direction}: {found} {reached}");
            }
        }

        /// The brief's own oracle: all pairs on a grid of two or three classes.
        #[test]
        fn no_pair_on_a_grid_is_closer([p, q] in boxes(2..4), a in 1.1..20.0f64) {
            const STEPS: i32 = 24;
            let points = |ranges: &[ProportionRange]| -> Vec<Vec<f64>> {
                let at = |range: ProportionRange, i: i32| {
                    range.lower.value + (range.upper.value - range.lower.value) * f64::from(i) / f64::from(STEPS)
                };
                let last = ranges[ranges.len() - 1];
                let mut points = Vec::new();
                for i in 0..=STEPS {
                    for j in 0..=(if ranges.len() == 3 { STEPS } else { 0 }) {
                        let mut point = vec![at(ranges[0], i)];
                        if ranges.len() == 3 {
                            point.push(at(ranges[1], j));
                        }
                        let rest = 1.0 - point.iter().sum::<f64>();
                        if rest >= last.lower.value && rest <= last.upper.value {
                            point.push(rest);
                            points.push(point);
                        }
                    }
                }
                points
            };
            let (least, ps, qs) = (least_favorable(&p, &q).unwrap(), points(&p), points(&q));
            let found = Direction::BOTH.map(|direction| least.divergence(order(a), direction));
            for x in &ps {
                for y in &qs {
                    let sum = |x: &[f64], y: &[f64]| {
                        x.iter().zip(y).filter(|(x, _)| **x > 0.0).map(|(x, y)| x.powf(a) * y.powf(1.0 - a)).sum::<f64>()
                    };
                    let divergences = [sum(x, y).ln() / (a - 1.0), sum(y, x).ln() / (a - 1.0)];
                    prop_assert!(found[0] <= divergences[0] + 1e-11 && found[1] <= divergences[1] + 1e-11);
                }
            }
        }
    }

    /// Among random boxes, more than 7% have λ < μ and 6% λ > μ; here is one of each kind.
    #[test]
    fn multipliers_may_be_apart_either_way_or_equal() {
        let cases = [
            // ln λ = -0.20, ln μ = 1.12
            (
                vec![range(0.344, 0.544), range(0.278, 0.378), range(0.178, 0.278)],
                vec![range(0.545, 0.545), range(0.091, 0.191), range(0.364, 0.364)],
            ),
            // ln λ = 0.84, ln μ = -1.91
            (
                vec![range(0.394, 0.444), range(0.45, 0.5), range(0.056, 0.106)],
                vec![range(0.172, 0.192), range(0.081, 0.091), range(0.717, 0.737)],
            ),
            (vec![range(0.5, 0.6), range(0.3, 0.5)], vec![range(0.1, 0.2), range(0.7, 0.9)]),
            (vec![range(0.0, 1.0), range(0.0, 1.0)], vec![range(0.2, 0.3), range(0.7, 0.8)]),
        ];
        for (p, q) in cases {
            let least = least_favorable(&p, &q).unwrap();
            let [x, y] = alternate(&p, &q);
            let reached = renyi_divergence(&distribution(&x), &distribution(&y), order(3.0)).unwrap();
            let found = least.divergence(order(3.0), Direction::Forward);
            assert!((found - reached).abs() <= 1e-9 * (1.0 + reached), "{found} {reached} {least:?}");
        }
    }

    #[test]
    fn boxes_without_a_distribution_say_nothing_and_huge_orders_reach_the_largest_ratio() {
        assert!(least_favorable(&[range(0.0, 0.4), range(0.0, 0.5)], &[range(0.0, 1.0), range(0.0, 1.0)]).is_none());
        assert!(least_favorable(&[range(0.6, 1.0), range(0.5, 1.0)], &[range(0.0, 1.0), range(0.0, 1.0)]).is_none());
        assert!(least_favorable(&[], &[]).is_none());
        let (p, q) = ([range(0.6, 0.7), range(0.3, 0.4)], [range(0.1, 0.2), range(0.8, 0.9)]);
        let least = least_favorable(&p, &q).unwrap();
        let largest = [(0.6f64 / 0.2).ln(), (0.8f64 / 0.4).ln()];
        for (direction, largest) in Direction::BOTH.into_iter().zip(largest) {
            let mut previous = 0.0;
            for a in [1.0 + f64::EPSILON, 2.0, 300.0, 1e4, 1e9, 1e300, f64::MAX] {
                let found = least.divergence(order(a), direction);
                assert!(found >= previous && found <= largest, "{a}: {found}");
                previous = found;
            }
            assert!(previous > largest - 1e-5);
        }
    }
}
