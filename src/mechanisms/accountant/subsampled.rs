//! The Gaussian mechanism on a Poisson subsample.

use super::gaussian::gaussian_rdp;
use crate::bound::outward::{product_up, quotient_up, up};
use crate::quantity::{NoiseScale, Order, Probability};
use crate::special::{LN_SQRT_2PI, log_binomial_pmf, log_sum_exp, softplus};

/// Beyond this many standard deviations of a peak, an integrand is below 1e-21 of it.
const REACH: f64 = 10.0;
/// The longest step of the trapezoid rule.
const STEP: f64 = 0.25;
/// The largest number of nodes at one step; beyond it, a bound without nodes is used.
pub(super) const MAX_NODES: f64 = 65_536.0;
/// If two step lengths agree to this relative distance, the finer one is the integral.
pub(super) const TOLERANCE: f64 = 1e-12;
/// Terms below e^-64 of the largest are omitted: 65,536 of them are below 1e-22 of the sum.
const NEGLIGIBLE: f64 = 64.0;
/// Halvings of the step.
const LEVELS: usize = 4;

/// RDP of the Gaussian mechanism with ℓ₂ sensitivity s (in votes) and standard deviation σ on a Poisson subsample of
/// rate γ, for two datasets, one with one more point:
/// ```text
/// D = ln E_{z ~ N(0,1)} (1 - γ + γ e^{zν - ν²/2})^α/(α-1),    ν = s/σ,
/// ```
/// for any real order, in both directions: the other, D(N(0,1) ‖ (1-γ) N(0,1) + γ N(ν,1)), is never larger.
///
/// *Sensitivity in Private-kNN.* An added point x is in the subsample T ∪ {x} with probability γ. If it is, and is
/// among the k nearest, it adds a vote for its label and displaces the vote of the k-th neighbor: the votes move by
/// e_{y'} - e_c, of norm √2, or not at all, or by 1 if fewer than k points were in the subsample. Given T, the answers
/// are N(h, σ²I) without x and (1-γ) N(h, σ²I) + γ N(h + v, σ²I) with it, ‖v‖ ≤ √2, a pair in one dimension; and since
/// exp((α-1) D) is jointly convex, the mixture over T is no further apart than the worst T. So although neighbors
/// differ in one added point, `sensitivity` is √2, not 1.
///
/// The integral is computed by the trapezoid rule in the form E[(1+u)^α - 1 - αu], u = γ (e^w - 1), where nothing
/// cancels and all terms are positive. The integrand grows with w like e^{kw}, k between 0 and max(α, 2): like e^{2w}
/// as long as αu is small, however close α is to 1. So its peaks are between 0 and max(α, 2) ν. The relative error is
/// below 1e-12, plus the rounding of exponents if they are large; the result is rounded up by that much, and so is ν.
/// If the order or ν is so large that the rule needs more than 65,536 nodes, Minkowski's inequality gives D ≤ α/(α-1)
/// ln(1 - γ + γ e^{(α-1)ν²/2}) instead; no value exceeds that or the α ν²/2 without subsampling.
///
/// ```
/// # use leakbound::accountant::subsampled_gaussian_rdp;
/// # use leakbound::quantity::{NoiseScale, Order, Probability};
/// let (order, rate, sigma) = (Order::new(2.0)?, Probability::new(0.2)?, NoiseScale::new(30.0)?);
/// let rdp = subsampled_gaussian_rdp(order, rate, sigma, 2f64.sqrt());
/// assert!((rdp / (1.0 + 0.04 * (2.0 / 900.0f64).exp_m1()).ln() - 1.0).abs() < 1e-11);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Mironov, Talwar and Zhang (2019), "Rényi differential privacy of the sampled Gaussian mechanism", Theorems 4 and 5;
/// Zhu et al. (2020), "Private-kNN", for the mechanism.
#[must_use]
pub fn subsampled_gaussian_rdp(order: Order, rate: Probability, sigma: NoiseScale, sensitivity: f64) -> f64 {
    let (a, q) = (order.get(), rate.get());
    let shift = quotient_up(sensitivity.abs(), sigma.get());
    let whole = gaussian_rdp(order, sigma, sensitivity);
    if q == 0.0 || shift == 0.0 {
        return 0.0;
    }
    if q == 1.0 || !whole.is_finite() {
        return whole;
    }
    let exponent = up(0.5 * (a - 1.0) * shift * shift, 4.0);
    // e^x is off by x rounding errors of it, which its logarithm takes back from 1 on.
    let minkowski = a / (a - 1.0) * log_mean_exp(q, exponent) * (1.0 + TOLERANCE);
    let integral = integral(a, q, shift)
        .map_or(f64::INFINITY, |Integral { ln, error }| up(softplus(ln + TOLERANCE + error) / (a - 1.0), 8.0));
    integral.min(minkowski.next_up()).min(whole)
}

/// RDP of the same mechanism for two datasets, one with up to m more points, each moving the votes by at most s:
/// ```text
/// exp((α-1) D) ≤ Σ_{b=1..m} w_b/γ_m exp((α-1) D(γ_m, b s)),    γ_m = 1 - (1-γ)^m,   w_b = P(Bin(m, γ) = b),
/// ```
/// with D(γ, s) of [`subsampled_gaussian_rdp`]. For m = 1 that is D(γ, s) itself. Rounded up.
///
/// *Proof.* Given the other points of the subsample, b of the m are in it with probability w_b and move the votes by
/// some v_b, ‖v_b‖ ≤ b s. With N_v = N(h + v, σ²I) the answers are N_0 without the points and Σ_b w_b N_{v_b} with
/// them, which is the mixture with weights w_b/γ_m of (1-γ_m) N_0 + γ_m N_{v_b}. exp((α-1) D) is jointly convex, in
/// either direction.
///
/// ```
/// # use leakbound::accountant::{subsampled_gaussian_group_rdp, subsampled_gaussian_rdp};
/// # use leakbound::quantity::{NoiseScale, Order, Probability};
/// let (order, rate, sigma) = (Order::new(8.0)?, Probability::new(0.2)?, NoiseScale::new(30.0)?);
/// let group = |points| subsampled_gaussian_group_rdp(order, rate, sigma, 2f64.sqrt(), points);
/// assert!((group(1) / subsampled_gaussian_rdp(order, rate, sigma, 2f64.sqrt()) - 1.0).abs() < 1e-12);
/// assert!(group(4) > 4.0 * group(1) && group(4) < 16.0 * group(1) * 1.8);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// The theorems of [`subsampled_gaussian_rdp`]; Chadha et al. (2024), "Auditing Private Prediction", appendix C, for
/// the question.
#[must_use]
pub fn subsampled_gaussian_group_rdp(
    order: Order,
    rate: Probability,
    sigma: NoiseScale,
    sensitivity: f64,
    points: u64,
) -> f64 {
    let (a, q) = (order.get(), rate.get());
    let together = up(-libm::expm1(points as f64 * libm::log1p(-q)), 8.0).min(1.0);
    let Some(together_rate) = Probability::new(together).ok().filter(|rate| rate.get() > 0.0) else { return 0.0 };
    let terms: Vec<(f64, f64)> = (1..=points)
        .map(|b| {
            let rdp = subsampled_gaussian_rdp(order, together_rate, sigma, product_up(b as f64, sensitivity.abs()));
            let (ln_weight, ln_together) = (log_binomial_pmf(b, points, q), together.ln());
            // Both are off by some units of 1 and of themselves, and `together` was moved up by 8.
            let error = f64::EPSILON * (24.0 + 8.0 * (ln_weight.abs() + ln_together.abs()));
            (ln_weight - ln_together + error, (a - 1.0) * rdp)
        })
        .filter(|(ln_weight, _)| *ln_weight > f64::NEG_INFINITY)
        .collect();
    let largest = terms.iter().map(|term| term.1).fold(0.0, f64::max);
    let log_mean = if largest < 1.0 {
        libm::log1p(terms.iter().map(|(ln_weight, exponent)| libm::exp(*ln_weight) * libm::expm1(*exponent)).sum())
    } else {
        log_sum_exp(terms.iter().map(|(ln_weight, exponent)| ln_weight + exponent))
    };
    // Sums of m terms; a mean is at most the largest, and on overflow the bound without subsampling applies.
    let value = up(log_mean.min(largest).max(0.0) / (a - 1.0), 16.0 + points as f64);
    value.min(gaussian_rdp(order, sigma, product_up(points as f64, sensitivity.abs())))
}

/// ln(1 - q + q e^x), without cancellation if q e^x is small.
pub(super) fn log_mean_exp(q: f64, x: f64) -> f64 {
    if x <= 40.0 {
        return libm::log1p(q * libm::expm1(x));
    }
    let y = x + q.ln();
    if y > 40.0 { y + libm::log1p((1.0 - q) * libm::exp(-y)) } else { libm::log1p((libm::exp(y) - q).max(0.0)) }
}

/// ln(E (1+u)^a - 1) and a bound of its rounding error.
struct Integral {
    ln: f64,
    error: f64,
}

/// `None` if the trapezoid rule would be too long or does not settle.
fn integral(a: f64, q: f64, shift: f64) -> Option<Integral> {
    // 1 - q + q e^w vanishes at a distance of πσ/s from the real line.
    let mut step = STEP.min(0.4 / shift);
    let (mut terms, mut before, mut low) = (Vec::new(), None, -REACH);
    for level in 0..=LEVELS {
        // The first nodes are one step apart; each later level adds the midpoints.
        let spacing = if level == 0 { step } else { 0.5 * step };
        // (1+u)^a - 1 - au falls up to u = 0 and grows from there on.
        let excess = |t: f64| log_excess(a, q, t * shift - 0.5 * shift * shift);
        let length = a.max(2.0) * shift + 2.0 * REACH;
        if !(length / spacing <= MAX_NODES) {
            return None;
        }
        terms.extend(Integrand { excess, low, step }.largest_terms((length / step).ceil() as usize));
        let value = log_sum_exp(terms.iter().map(|(_, term)| *term)) + spacing.ln();
        if before.is_some_and(|before: f64| (before - value).abs() <= TOLERANCE) {
            // The largest term decides: w = t ν - ν²/2 is off by units of its parts and counts with the weight max(α,
            // 2), and so do ln q, where it is added to w, and t²/2. Terms far from it are smaller by more than their
            // errors are larger.
            let t = peak(&terms);
            let w = t.abs() * shift + 0.5 * shift * shift;
            let exponent = w + if w > 40.0 { q.ln().abs() } else { 0.0 };
            let size = a.max(2.0) * exponent + t * t + value.abs();
            return Some(Integral { ln: value, error: 4.0 * f64::EPSILON * size });
        }
        before = Some(value);
        (step, low) = (spacing, 0.5 * spacing - REACH);
    }
    None
}

/// The position of the largest term.
pub(super) fn peak(terms: &[(f64, f64)]) -> f64 {
    terms.iter().fold((0.0, f64::NEG_INFINITY), |best, &at| if at.1 > best.1 { at } else { best }).0
}

/// ln of an integral against N(0, 1) before summation, at the nodes of a trapezoid rule.
///
/// The integrated function decreases up to some point and increases from there on.
pub(super) struct Integrand<F> {
    /// ln of the function.
    pub excess: F,
    pub low: f64,
    pub step: f64,
}

impl<F: Fn(f64) -> f64> Integrand<F> {
    fn at(&self, node: usize) -> f64 {
        self.low + node as f64 * self.step
    }

    fn excess(&self, node: usize) -> f64 {
        (self.excess)(self.at(node))
    }

    fn term(&self, node: usize, excess: f64) -> f64 {
        let t = self.at(node);
        excess - 0.5 * t * t - LN_SQRT_2PI
    }

    /// The positions and terms of nodes 0 to `last`, without those below e^-[`NEGLIGIBLE`] of the largest.
    ///
    /// A peak is a few units wide and the range is max(α, 2) ν, so most nodes of a large order are negligible. Ranges
    /// of nodes are halved until they contain no further node or only negligible ones: a function that falls and then
    /// grows is largest at an end of any range, and t²/2 is smallest at an end or at t = 0.
    pub(super) fn largest_terms(&self, last: usize) -> Vec<(f64, f64)> {
        let ends = [(0, self.excess(0)), (last, self.excess(last))];
        let mut terms: Vec<(f64, f64)> = ends.map(|(node, excess)| (self.at(node), self.term(node, excess))).to_vec();
        let mut largest = terms[0].1.max(terms[1].1);
        let mut ranges = vec![(ends[0], ends[1])];
        while !ranges.is_empty() {
            let mut halves = Vec::with_capacity(2 * ranges.len());
            for (from, to) in ranges {
                if to.0 - from.0 < 2 {
                    continue;
                }
                let middle = usize::midpoint(from.0, to.0);
                let middle = (middle, self.excess(middle));
                let term = self.term(middle.0, middle.1);
                largest = largest.max(term);
                terms.push((self.at(middle.0), term));
                halves.extend([(from, middle), (middle, to)]);
            }
            halves.retain(|&(from, to)| {
                let (from_t, to_t) = (self.at(from.0), self.at(to.0));
                let nearest = from_t.max(0.0).max(-to_t);
                let most = from.1.max(to.1) - 0.5 * nearest * nearest - LN_SQRT_2PI;
                most >= largest - NEGLIGIBLE
            });
            ranges = halves;
        }
        terms
    }
}

/// ln[(1+u)^a - 1 - a u] with u = q (e^w - 1): -inf at u = 0.
fn log_excess(a: f64, q: f64, w: f64) -> f64 {
    let u = q * libm::expm1(w);
    // If the power series suffices, no logarithm is needed. Far out, 1 + u overflows, but its logarithm does not.
    log_power_excess(a, u, || if w <= 40.0 { libm::log1p(u) } else { log_mean_exp(q, w) })
}

/// ln[(1+u)^a - 1 - a u] of u and ln(1+u): -inf at u = 0.
pub(super) fn log_power_excess(a: f64, u: f64, log_ratio: impl Fn() -> f64) -> f64 {
    if (a * u).abs() <= 0.02 {
        // Σ_{j≥2} C(a, j) u^j: ten terms reach 1e-17 of the first.
        let mut term = 0.5 * a * (a - 1.0) * u * u;
        let mut sum = term;
        for j in 2..12 {
            let j = f64::from(j);
            term *= (a - j) / (j + 1.0) * u;
            sum += term;
        }
        return sum.ln();
    }
    // With l = ln(1+u): (1+u) (e^{(a-1)l} - 1) - (a-1)u.
    let l = log_ratio();
    let x = (a - 1.0) * l;
    if x > 30.0 {
        return a * l + libm::log1p(-libm::exp(-x) * (1.0 - (a - 1.0) * libm::expm1(-l)));
    }
    if l > 1.0 {
        // The same without e^l, which overflows far out.
        return l + (libm::expm1(x) + (a - 1.0) * libm::expm1(-l)).ln();
    }
    ((1.0 + u) * libm::expm1(x) - (a - 1.0) * u).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rdp(a: f64, q: f64, sigma: f64, s: f64) -> f64 {
        let scale = NoiseScale::new(sigma).unwrap();
        subsampled_gaussian_rdp(Order::new(a).unwrap(), Probability::new(q).unwrap(), scale, s)
    }

    #[test]
    fn tiny_rates_leave_something_positive() {
        // q e^x decides, whatever the sizes of q and x.
        assert!((log_mean_exp(1e-83, 44.6) / (44.6f64 - 83.0 * std::f64::consts::LN_10).exp() - 1.0).abs() < 1e-12);
        assert!((log_mean_exp(1e-20, 46.0) / (1e-20 * 46f64.exp()).ln_1p() - 1.0).abs() < 1e-12);
        assert!((log_mean_exp(0.5, 100.0) - 100.0 - 0.5f64.ln()).abs() < 1e-12);
        for q in [5e-324, 1e-300, 2.8e-83, 1e-30] {
            let value = rdp(8274.5, q, 9.6, 1.0);
            assert!((0.0..1e-6).contains(&value), "{q}: {value}");
        }
    }

    /// For whole orders the binomial theorem: Σ_j C(a,j) (1-q)^{a-j} q^j e^{j(j-1)ν²/2}, with the 1 taken out.
    #[test]
    fn whole_orders_are_finite_sums() {
        for a in [2u64, 3, 5, 17, 64] {
            for q in [1e-6, 0.01, 0.2, 0.7, 0.999] {
                for (sigma, s) in [(1.0, 1.0), (30.0, 2f64.sqrt()), (5.0, 4.0), (0.4, 1.0)] {
                    let shift = s / sigma;
                    let terms = (2..=a).map(|j| {
                        let exponent = 0.5 * (j * (j - 1)) as f64 * shift * shift;
                        let ln = if exponent > 1.0 {
                            exponent + libm::log1p(-libm::exp(-exponent))
                        } else {
                            libm::expm1(exponent).ln()
                        };
                        log_binomial_pmf(j, a, q) + ln
                    });
                    let expected = softplus(log_sum_exp(terms)) / (a - 1) as f64;
                    let value = rdp(a as f64, q, sigma, s);
                    assert!((value / expected - 1.0).abs() < 5e-12, "{a} {q} {sigma} {s}: {value} {expected}");
                    assert!(value >= expected * (1.0 - 1e-14));
                }
            }
        }
    }

    #[test]
    fn terms_left_out_do_not_count() {
        for a in [1.001, 2.0, 37.5, 1e3, 2e4] {
            for q in [1e-30, 1e-6, 0.2, 0.999] {
                for shift in [1e-3, 0.1, 0.7, 3.0] {
                    let excess = |t: f64| log_excess(a, q, t * shift - 0.5 * shift * shift);
                    let integrand = Integrand { excess, low: -REACH, step: STEP.min(0.4 / shift) };
                    let last = ((a.max(2.0) * shift + 2.0 * REACH) / integrand.step).ceil() as usize;
                    if last > 65_536 {
                        continue;
                    }
                    let all = (0..=last).map(|node| integrand.term(node, integrand.excess(node)));
                    let terms = integrand.largest_terms(last);
                    let (all, kept) = (log_sum_exp(all), log_sum_exp(terms.iter().map(|(_, term)| *term)));
                    assert!((all - kept).abs() <= f64::EPSILON * (1.0 + all.abs()), "{a} {q} {shift}: {all} {kept}");
                    assert!(last < 4000 || terms.len() < last / 2, "{a} {q} {shift}: {} of {last}", terms.len());
                }
            }
        }
    }

    #[test]
    fn limits() {
        assert_eq!(rdp(7.5, 0.0, 2.0, 1.0), 0.0);
        assert_eq!(rdp(7.5, 0.3, 2.0, 0.0), 0.0);
        assert_eq!(rdp(8.0, 1.0, 2.0, 1.0), 1.0);
        // No order, rate or noise gives more than without subsampling, or NaN.
        for a in [1.0 + 1e-12, 1.01, 2.0, 1e3, 1e6, 1e12, 1e300] {
            for q in [1e-300, 1e-9, 0.2, 1.0 - 1e-12] {
                for sigma in [1e-300, 1e-3, 1.0, 1e3, 1e150] {
                    let value = rdp(a, q, sigma, 1.5);
                    let whole = gaussian_rdp(Order::new(a).unwrap(), NoiseScale::new(sigma).unwrap(), 1.5);
                    assert!(value >= 0.0 && value <= whole, "{a} {q} {sigma}: {value} {whole}");
                }
            }
        }
    }

    /// The bound without nodes is above the integral and close to it where it takes over.
    #[test]
    fn the_bound_of_large_orders_continues_the_integral() {
        let (below, above) = (rdp(3900.0, 0.2, 1.0, 1.0), rdp(20_000.0, 0.2, 1.0, 1.0));
        assert!(below < 0.5 * 3900.0 && above < 1e4 && above > 1e4 - 2.0, "{below} {above}");
        let orders = [1.5, 4.0, 40.0, 400.0, 4000.0, 40_000.0, 400_000.0];
        assert!(orders.windows(2).all(|pair| rdp(pair[0], 0.2, 1.0, 1.0) < rdp(pair[1], 0.2, 1.0, 1.0)));
    }

    /// Order 2 of the whole mixture by its closed form: Σ_{b,c} w_b w_c e^{b c s²/σ²}, for points that all move the
    /// votes in one direction. The bound holds and is close to it at rates for which all or none of the points matter.
    #[test]
    fn groups_are_bounded() {
        let (sigma, s) = (30.0, 2f64.sqrt());
        let (order, scale) = (Order::new(2.0).unwrap(), NoiseScale::new(sigma).unwrap());
        for points in [1u64, 2, 5, 40] {
            for q in [1e-4, 0.2, 0.9, 1.0] {
                let w = |b: u64| libm::exp(log_binomial_pmf(b, points, q));
                let excess: f64 = (0..=points)
                    .flat_map(|b| (0..=points).map(move |c| (b, c)))
                    .map(|(b, c)| w(b) * w(c) * libm::expm1((b * c) as f64 * (s / sigma).powi(2)))
                    .sum();
                let truth = libm::log1p(excess);
                let bound = subsampled_gaussian_group_rdp(order, Probability::new(q).unwrap(), scale, s, points);
                assert!(bound >= truth * (1.0 - 1e-12), "{points} {q}: {bound} {truth}");
                assert!(bound <= 1.5 * truth, "{points} {q}: {bound} {truth}");
            }
        }
    }

    /// e^x overflows the logarithm's argument while q e^x does not decide it: ln(q e^x) + (1 - q) e^-y.
    #[test]
    fn huge_exponents_of_rare_events_keep_their_digits() {
        for (q, x) in [(1e-30, 115.0), (0.25, 300.0), (1e-300, 740.0)] {
            let expected = x + f64::ln(q);
            assert!((log_mean_exp(q, x) / expected - 1.0).abs() < 1e-14, "{q} {x}: {}", log_mean_exp(q, x));
        }
    }

    /// If (1+u)^a is large, the rest is a correction of about e^-30 to its logarithm.
    #[test]
    fn large_moments_are_corrected_by_what_is_taken_off() {
        for (a, q, w) in [(40.0, 0.5, 1.2), (60.0, 0.3, 1.3), (35.0, 0.9, 1.1)] {
            let u: f64 = q * f64::exp_m1(w);
            let expected = ((1.0 + u).powf(a) - 1.0 - a * u).ln();
            assert!(((a - 1.0) * u.ln_1p() > 30.0) && (log_excess(a, q, w) - expected).abs() < 1e-12, "{a} {q} {w}");
        }
    }
}
