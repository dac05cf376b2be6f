//! GNMax: the argmax of votes with Gaussian noise, when one vote may move.

use crate::bound::outward::{log_probability_up, over_square_up, up};
use crate::histogram::VoteHistogram;
use crate::quantity::{NoiseScale, Order};
use crate::special::{CompensatedSum, log_ndtr, log_sum_exp};
use std::f64::consts::SQRT_2;

/// ln q is rounded up by this many units of 2^-52 of 1 + |ln q|: z = d/(σ√2) is off by two units, so z²/2 by four; ln Φ
/// adds one, and the sum of terms that are below the largest adds two.
pub(super) const LN_Q_UNITS: f64 = 8.0;
/// The loss of probabilities below the normal doubles to underflow, before they are divided by α - 1.
const UNDERFLOW: f64 = 1e-321;

/// RDP of GNMax for any votes: α/σ², the Gaussian mechanism with sensitivity √2 before post-processing. Rounded up.
///
/// ```
/// # use leakbound::accountant::gnmax_data_independent;
/// # use leakbound::quantity::{NoiseScale, Order};
/// assert_eq!(gnmax_data_independent(Order::new(16.0)?, NoiseScale::new(40.0)?), 0.01);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2018), "Scalable private learning with PATE", Proposition 8.
#[must_use]
pub fn gnmax_data_independent(order: Order, sigma: NoiseScale) -> f64 {
    over_square_up(order.get(), sigma.get())
}

/// ln q, an upper bound of the probability that GNMax does not print the plurality class i*:
/// q = min(1 - 1/C, ½ Σ_{i≠i*} erfc((n_{i*} - n_i)/(2σ))), by the union bound. Rounded up.
///
/// `-inf` for a single class.
///
/// # References
/// Papernot et al. (2018), Proposition 7.
#[must_use]
pub fn log_flip_probability(histogram: &VoteHistogram, sigma: NoiseScale) -> f64 {
    let counts = histogram.counts();
    let (top, &most) = counts.iter().enumerate().max_by_key(|(_, count)| **count).unwrap_or((0, &0));
    // ½ erfc(d/(2σ)) = Φ(-d/(σ√2)); the largest term is split off so that the sum never underflows.
    let log_terms = counts
        .iter()
        .enumerate()
        .filter(|&(class, _)| class != top)
        .map(|(_, &count)| log_ndtr(-((most - count) as f64) / (sigma.get() * SQRT_2)));
    let largest = log_terms.clone().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    let union = largest + log_terms.map(|term| libm::exp(term - largest)).collect::<CompensatedSum>().value().ln();
    log_probability_up(union.min(libm::log1p(-1.0 / counts.len() as f64)), LN_Q_UNITS)
}

/// ln q for the votes of independent parties with separate distributions (CaPC), an upper bound on the probability that
/// GNMax does not print the class i* of the most expected votes:
/// ```text
/// q = min(1, Σ_{c≠i*} E Φ(-(H_{i*} - H_c)/(σ√2))),    H_{i*} - H_c = Σ_j X_j,
/// ```
/// by the union bound, where X_j is 1, -1 or 0 if party j votes for i*, for c, or otherwise; the distribution of their
/// sum is their convolution. `parties` has one distribution per party, rows of the same C classes that sum to 1, and
/// the cost is about C k² additions for k parties: 2 ms for k = 250 and C = 10.
///
/// `-inf` for a single class, 0 (q = 1) for no parties or rows of different lengths.
///
/// ```
/// # use leakbound::accountant::{log_flip_probability, log_flip_probability_of_parties};
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::quantity::NoiseScale;
/// // Parties that always vote alike are a histogram.
/// let (sigma, parties) = (NoiseScale::new(1.0)?, [vec![1.0, 0.0], vec![1.0, 0.0], vec![0.0, 1.0]]);
/// let fixed = log_flip_probability(&VoteHistogram::new(vec![2, 1])?, sigma);
/// assert!((log_flip_probability_of_parties(&parties, sigma) - fixed).abs() < 1e-14);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// The union bound of Papernot et al. (2018), Proposition 7, for random votes.
#[must_use]
pub fn log_flip_probability_of_parties(parties: &[Vec<f64>], sigma: NoiseScale) -> f64 {
    let classes = parties.first().map_or(0, Vec::len);
    if classes == 0 || parties.iter().any(|party| party.len() != classes) {
        return 0.0;
    }
    let expected: Vec<f64> = (0..classes).map(|class| parties.iter().map(|party| party[class]).sum()).collect();
    let top = (1..classes).fold(0, |best, class| if expected[class] > expected[best] { class } else { best });
    let k = parties.len();
    let log_terms = (0..classes).filter(|class| *class != top).map(|class| {
        // P(H_top - H_class = d - n) at index d after n parties.
        let mut lead = vec![0.0; 2 * k + 1];
        lead[0] = 1.0;
        for (n, party) in parties.iter().enumerate() {
            let (up, down) = (party[top], party[class]);
            let same = (1.0 - up - down).max(0.0);
            for d in (0..=2 * n + 2).rev() {
                let at = |back: usize| d.checked_sub(back).map_or(0.0, |index| lead[index]);
                lead[d] = down * at(0) + same * at(1) + up * at(2);
            }
        }
        let terms = lead.iter().enumerate().map(|(d, &p)| {
            let votes = d as f64 - k as f64;
            p.ln() + log_ndtr(-votes / (sigma.get() * SQRT_2))
        });
        log_sum_exp(terms)
    });
    let log_terms: Vec<f64> = log_terms.collect();
    // Sums of products of at most k factors, all of them positive.
    log_probability_up(log_sum_exp(log_terms.iter().copied()), LN_Q_UNITS + 2.0 * k as f64)
}

/// Data-dependent RDP of GNMax from ln q, q ≥ P(output ≠ i*): bounds D_α(M(D)‖M(D')) for every D' that differs from D
/// by one moved vote. Never above [`gnmax_data_independent`].
///
/// With μ₂ = σ √(ln 1/q), μ₁ = μ₂ + 1, ε_i = μ_i/σ², if μ₁ ≥ α, μ₂ > 1 and
/// q ≤ e^{(μ₂-1) ε₂}/(μ₁/(μ₁-1) · μ₂/(μ₂-1))^{μ₂}:
/// ```text
/// ε(α) = ln[(1-q) A^{α-1} + q B^{α-1}]/(α-1),
/// A = (1-q)/(1 - (q e^{ε₂})^{(μ₂-1)/μ₂}),   B = e^{ε₁}/q^{1/(μ₁-1)}.
/// ```
/// Everything is computed in logarithms: q may be 1e-300 and less. The bound holds for any mechanism that satisfies (μ,
/// μ/σ²)-RDP, so q may also be the exact probability from a distribution, and the histogram may be random.
///
/// Rounded up by a bound on its rounding errors, which is 1e-14 of it unless |ln q| is large or 1 - q e^{ε₂} is small.
/// An inequality that holds only to within rounding counts as not holding, and the bound is then α/σ².
///
/// ```
/// # use leakbound::accountant::gnmax_data_dependent;
/// # use leakbound::quantity::{NoiseScale, Order};
/// let rdp = gnmax_data_dependent(Order::new(2.0)?, NoiseScale::new(40.0)?, -5.903_330_380_876_797);
/// assert!((rdp - 0.000_705_237_204_367_768_9).abs() < 1e-15);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2018), Theorem 6 with the orders of Proposition 10.
#[must_use]
pub fn gnmax_data_dependent(order: Order, sigma: NoiseScale, log_q: f64) -> f64 {
    let independent = gnmax_data_independent(order, sigma);
    if log_q == f64::NEG_INFINITY {
        return 0.0;
    }
    let (a, s) = (order.get(), sigma.get());
    let mu2 = s * (-log_q).sqrt();
    // μ₂ is off by a unit and a half.
    if !(log_q < 0.0 && mu2 > 1.0 + 4.0 * f64::EPSILON && mu2 * (1.0 - 4.0 * f64::EPSILON) + 1.0 >= a) {
        return independent;
    }
    let (e1, e2) = ((mu2 + 1.0) / s / s, mu2 / s / s);
    let (rise, fall) = ((mu2 - 1.0) * e2, mu2 * (libm::log1p(1.0 / mu2) - libm::log1p(-1.0 / mu2)));
    // (q e^{ε₂})^{(μ₂-1)/μ₂}; μ₂ - 1 is off by two units of μ₂.
    let log_ratio = (log_q + e2) * (mu2 - 1.0) / mu2;
    let size = e2 - log_q;
    let ratio_error = 8.0 * f64::EPSILON * size;
    // 1/(1 - 1/μ₂) is the factor by which ln(1 - 1/μ₂) amplifies an error of μ₂.
    let limit_error = 8.0 * f64::EPSILON * (mu2 * e2 + fall + mu2 / (mu2 - 1.0));
    if !(log_q <= rise - fall - limit_error && log_ratio < -2.0 * ratio_error) {
        return independent;
    }
    let q = libm::exp(log_q);
    // A - 1 = (r - q)/(1 - r) with r = (q e^{ε₂})^{(μ₂-1)/μ₂} = q e^growth, growth > 0.
    let growth = (e2 * (mu2 - 1.0) - log_q) / mu2;
    let missing = -libm::expm1(log_ratio);
    let excess_of_a = times_expm1(q, log_q, growth) / missing;
    let units = 24.0 + times_expm1_units(log_q, growth) + 2.0 * ratio_error / missing / f64::EPSILON;
    let stay = (a - 1.0) * libm::log1p(excess_of_a); // ln A^{α-1} ≥ 0
    let leave = (a - 1.0) * (e1 - log_q / mu2); // ln B^{α-1} ≥ 0
    let cost = cost_of_branches(a - 1.0, log_q, stay, units, leave);
    // Exponents that overflow give NaN; the data-independent cost always holds.
    if cost.is_nan() { independent } else { cost.clamp(0.0, independent) }
}

/// ln[(1-q) e^s + q e^x]/l for s, x ≥ 0, rounded up, where s is known to `units` times 2^-52 of itself and x to 16.
///
/// Without the 1 that cancels it is ln(1 + (1-q)(e^s - 1) + q (e^x - 1))/l, of positive terms. With s < 1 and q e^x < 1
/// relative errors of terms are at most 1.6 `units` (x/(1 - e^-x) ≤ 1.6 up to 1) and those of [`times_expm1`]; beyond,
/// the logarithm has the absolute errors of the exponents.
pub(super) fn cost_of_branches(l: f64, log_q: f64, stay: f64, units: f64, leave: f64) -> f64 {
    let q = libm::exp(log_q);
    let value = if log_q + leave < 0.0 && stay < 1.0 {
        let excess = (1.0 - q) * libm::expm1(stay) + times_expm1(q, log_q, leave);
        up(libm::log1p(excess), 16.0 + 1.6 * units + times_expm1_units(log_q, leave))
    } else {
        let (staying, leaving) = (libm::log1p(-q) + stay, log_q + leave);
        let top = staying.max(leaving);
        let value = top + libm::log1p(libm::exp(staying.min(leaving) - top));
        up(value, 4.0) + f64::EPSILON * (4.0 + (units + 2.0) * stay + 16.0 * leave - 2.0 * log_q)
    };
    up((value + UNDERFLOW) / l, 4.0)
}

/// q (e^x - 1) for x ≥ 0, where q = e^{ln q} may underflow although the product does not.
pub(super) fn times_expm1(q: f64, log_q: f64, x: f64) -> f64 {
    if x > 1.0 { libm::exp(log_q + x) - q } else { q * libm::expm1(x) }
}

/// The relative error of [`times_expm1`] in units of 2^-52, for an x that is off by 16 units: up to 1 those of
/// the two functions, and 1.6 · 16; beyond, the sum ln q + x is off by half a unit of itself and 16 of x, and
/// q e^x - q makes 1.6 of it.
pub(super) fn times_expm1_units(log_q: f64, x: f64) -> f64 {
    if x > 1.0 { 8.0 + 0.8 * (log_q + x).abs() + 26.0 * x } else { 32.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::noisy_argmax_distribution;

    /// Theorem 6 as published, without logarithms, where nothing overflows or underflows.
    #[test]
    fn the_data_dependent_cost_is_the_formula() {
        for (a, s, log_q) in [(2.0, 40.0, -5.9), (1.5, 10.0, -8.0), (8.0, 20.0, -12.0), (20.0, 40.0, -20.0)] {
            let mu2 = s * f64::sqrt(-log_q);
            let (mu1, q) = (mu2 + 1.0, f64::exp(log_q));
            let (e1, e2) = (mu1 / (s * s), mu2 / (s * s));
            let stay = (1.0 - q) / (1.0 - (q * e2.exp()).powf((mu2 - 1.0) / mu2));
            let leave = e1.exp() / q.powf(1.0 / (mu1 - 1.0));
            let plain = ((1.0 - q) * stay.powf(a - 1.0) + q * leave.powf(a - 1.0)).ln() / (a - 1.0);
            let cost = gnmax_data_dependent(Order::new(a).unwrap(), NoiseScale::new(s).unwrap(), log_q);
            // The logarithm of a number near 1 has lost digits in the plain formula.
            assert!((cost - plain).abs() < 1e-14 + 1e-9 * plain, "{a} {s} {log_q}: {cost} {plain}");
            assert!(cost < gnmax_data_independent(Order::new(a).unwrap(), NoiseScale::new(s).unwrap()));
        }
    }

    /// With σ = 1, order 10 requires μ₂ = √(ln 1/q) of at least 9; just below, the formula would still be smaller.
    #[test]
    fn orders_beyond_those_of_the_theorem_cost_what_they_cost_always() {
        let (order, sigma) = (Order::new(10.0).unwrap(), NoiseScale::new(1.0).unwrap());
        let cost = |mu2: f64| gnmax_data_dependent(order, sigma, -mu2 * mu2);
        assert_eq!([cost(8.5), cost(8.99)], [10.0; 2]);
        assert!(cost(9.01) < 10.0);
    }

    /// The union bound for five equal counts is 2, but one of five classes is printed at least every fifth time.
    #[test]
    fn a_tie_flips_no_more_often_than_all_other_classes_together() {
        let log_q = log_flip_probability(&VoteHistogram::new(vec![5; 5]).unwrap(), NoiseScale::new(1.0).unwrap());
        assert!(log_q >= 0.8f64.ln() && log_q < 0.8f64.ln() + 1e-14, "{log_q}");
    }

    /// The published cost is at least that of exponents at the upper ends of their errors.
    #[test]
    fn costs_cover_the_errors_of_their_exponents() {
        for (log_q, stay, units, leave) in
            [(-5.0, 3.0, 16.0, 1000.0), (-5.0, 30.0, 1e5, 8.0), (-800.0, 2.0, 16.0, 900.0), (-1e4, 1.5, 16.0, 100.0)]
        {
            let (s, x) = (stay * (1.0 + units * f64::EPSILON), leave * (1.0 + 16.0 * f64::EPSILON));
            let plain = log_sum_exp([libm::log1p(-f64::exp(log_q)) + s, log_q + x].into_iter());
            let cost = cost_of_branches(1.0, log_q, stay, units, leave);
            assert!(cost >= plain * (1.0 - f64::EPSILON), "{log_q} {stay} {units} {leave}: {cost:e} {plain:e}");
            assert!(cost <= plain * (1.0 + 1e-9), "{log_q} {stay} {units} {leave}: {cost:e} {plain:e}");
        }
        // The possible loss to underflow is added.
        assert!(cost_of_branches(1.0, -2000.0, 0.0, 16.0, 1.0) > 0.0);
    }

    /// q (e^x - 1) for an x that is off by 16 units is off by at most the stated error.
    #[test]
    fn errors_of_a_product_cover_those_of_its_exponent() {
        for (log_q, x) in [(-10.0, 10.0), (-50.0, 50.0), (-700.0, 3.0), (-1.0, 0.5), (-30.0, 1.5)] {
            let at = |x: f64| times_expm1(f64::exp(log_q), log_q, x);
            let moved = at(x * (1.0 + 16.0 * f64::EPSILON)) / at(x) - 1.0;
            assert!(moved <= times_expm1_units(log_q, x) * f64::EPSILON, "{log_q} {x}: {moved:e}");
        }
    }

    /// Compared with the exact distribution, by enumerating all votes of five parties: above it, and equal for two
    /// classes.
    #[test]
    fn parties_flip_at_most_as_often_as_the_union_bound_says() {
        let rows = [[0.7, 0.2, 0.1], [0.9, 0.05, 0.05], [0.4, 0.5, 0.1], [1.0, 0.0, 0.0], [0.25, 0.25, 0.5]];
        for (classes, sigma) in [(2, 0.7), (2, 3.0), (3, 0.7), (3, 3.0)] {
            let sigma = NoiseScale::new(sigma).unwrap();
            let parties: Vec<Vec<f64>> = rows
                .iter()
                .map(|row| {
                    let sum: f64 = row[..classes].iter().sum();
                    row[..classes].iter().map(|p| p / sum).collect()
                })
                .collect();
            let mut flip = 0.0;
            for code in 0..classes.pow(5) {
                let votes: Vec<usize> = (0..5).map(|party| code / classes.pow(party) % classes).collect();
                let weight: f64 = parties.iter().zip(&votes).map(|(party, &vote)| party[vote]).product();
                let counts = (0..classes).map(|class| votes.iter().filter(|vote| **vote == class).count() as u64);
                let histogram = VoteHistogram::new(counts.collect()).unwrap();
                let distribution =
                    noisy_argmax_distribution(&histogram, crate::distribution::Noise::Gaussian(sigma)).unwrap();
                flip += weight * distribution.complement()[0];
            }
            let bound = log_flip_probability_of_parties(&parties, sigma);
            assert!(bound >= flip.ln() - 1e-13, "{classes} {sigma}: {bound} {}", flip.ln());
            assert!(classes > 2 || (bound - flip.ln()).abs() < 1e-12, "{sigma}: {bound} {}", flip.ln());
            // For any class with the most votes.
            let turned: Vec<Vec<f64>> = parties.iter().map(|party| party.iter().rev().copied().collect()).collect();
            let other = log_flip_probability_of_parties(&turned, sigma);
            assert!((bound - other).abs() < 1e-13, "{classes} {sigma}: {bound} {other}");
        }
        assert_eq!(log_flip_probability_of_parties(&[], NoiseScale::new(1.0).unwrap()), 0.0);
        assert_eq!(log_flip_probability_of_parties(&[vec![1.0]], NoiseScale::new(1.0).unwrap()), f64::NEG_INFINITY);
    }
}
