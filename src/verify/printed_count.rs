//! Laws of printed real numbers, cut into bins.
//!
//! Cutting is post-processing: every divergence of the binned laws is at most that of the numbers themselves, so that a
//! claim below it is wrong. Where the ratio of the densities is constant on a bin nothing is lost.

use super::request::Mechanism;
use crate::error::{Error, Result};
use crate::law::OutcomeLaw;
use crate::quadrature::LogIntegral;
use crate::quantity::Order;
use crate::special::{log_ndtr, log_sum_exp};

/// Bins for each of the places where an integrand is large.
pub(super) const BINS: usize = 150;
/// Standard deviations on each side of such a place.
const REACH: f64 = 9.0;
/// Where bins are finer: on so many standard deviations, and no more of them than this.
const FINE_REACH: f64 = 5.0;
const MOST_FINE: f64 = 600.0;

/// The laws of the output without and with the one vote, in bins that resolve D_α at `order`.
pub(super) fn printed_laws(mechanism: &Mechanism, order: Option<Order>, bins: usize) -> Result<[OutcomeLaw; 2]> {
    if matches!(mechanism, Mechanism::Gnss { .. }) {
        return super::gnss::laws(mechanism, order, bins);
    }
    let Some(sigma) = mechanism.sigma() else {
        return Err(Error::Refused { operation: "case", reason: "no count is printed".into() });
    };
    let shift = sigma.get().recip();
    let a = order.map_or(1.0, Order::get);
    if !(shift * a < 1e12) {
        return Err(Error::Domain { quantity: "order over noise scale", value: shift * a, domain: "[0, 1e12)" });
    }
    match *mechanism {
        Mechanism::Laplace { .. } => laplace(shift, bins),
        Mechanism::SubsampledGaussian { rate, .. } => {
            // E (1 + u)^α is largest near 0, where most of the mass is, and where the ratio is.
            let far = far_peak(rate.get(), shift, a);
            let mut edges = edges(&[0.5 * shift, far], bins);
            // There one law falls by e^{-far} a step: bins of that width keep what the power makes of it.
            let fine = far.recip().max(2.0 * FINE_REACH / MOST_FINE);
            if bins == BINS && fine < 2.0 * REACH / BINS as f64 {
                let count = (FINE_REACH / fine) as i32;
                edges.retain(|edge| (edge - far).abs() > FINE_REACH);
                edges.extend((-count..=count).map(|i| far + fine * f64::from(i)));
                edges.sort_by(f64::total_cmp);
            }
            let (without, with) = (normal_bins(&edges, 0.0), normal_bins(&edges, shift));
            let (stay, come) = ((1.0 - rate.get()).ln(), rate.get().ln());
            let mixture: Vec<LogIntegral> = without
                .iter()
                .zip(&with)
                .map(|(a, b)| LogIntegral {
                    ln_value: log_sum_exp([stay + a.ln_value, come + b.ln_value].into_iter()),
                    error: a.error.max(b.error) + 4.0 * f64::EPSILON,
                })
                .collect();
            Ok([OutcomeLaw::from_integrals(&without)?, OutcomeLaw::from_integrals(&mixture)?])
        }
        _ => {
            let edges = edges(&[0.5 * shift, (1.0 - a) * shift, a * shift], bins);
            Ok([
                OutcomeLaw::from_integrals(&normal_bins(&edges, 0.0))?,
                OutcomeLaw::from_integrals(&normal_bins(&edges, shift))?,
            ])
        }
    }
}

/// Where φ(x) (1 - q + q e^{tx - t²/2})^α is largest far from 0, if it is: a fixed point of x = α t r(x), r the share of
/// the second term, which falls from α t.
fn far_peak(rate: f64, shift: f64, a: f64) -> f64 {
    let mut x = a * shift;
    for _ in 0..50 {
        let ratio = (1.0 - rate) / rate * libm::exp(0.5 * shift * shift - shift * x);
        x = a * shift / (1.0 + ratio);
    }
    x
}

/// Increasing edges of bins around each center.
fn edges(centers: &[f64], bins: usize) -> Vec<f64> {
    let step = 2.0 * REACH / bins as f64;
    let mut edges: Vec<f64> =
        centers.iter().flat_map(|center| (0..=bins).map(move |i| center - REACH + step * i as f64)).collect();
    edges.sort_by(f64::total_cmp);
    let mut last = f64::NEG_INFINITY;
    edges.retain(|&edge| {
        let keep = edge - last > 0.4 * step;
        if keep {
            last = edge;
        }
        keep
    });
    edges
}

/// ln of the probabilities of N(mean, 1) in the bins below, between and above the edges.
pub(super) fn normal_bins(edges: &[f64], mean: f64) -> Vec<LogIntegral> {
    let ends = |i: usize| {
        let at = |i: usize| edges[i] - mean;
        (if i == 0 { f64::NEG_INFINITY } else { at(i - 1) }, if i == edges.len() { f64::INFINITY } else { at(i) })
    };
    let bin = |i: usize| {
        let (low, high) = ends(i);
        // In the tail the difference of two tails of the same side; around the center 1 minus both.
        let (near, far) = if low >= 0.0 { (-low, -high) } else { (high, low) };
        if low < 0.0 && high > 0.0 {
            let outside = libm::exp(log_ndtr(low)) + libm::exp(log_ndtr(-high));
            let ln_value = libm::log1p(-outside);
            return LogIntegral { ln_value, error: 4.0 * f64::EPSILON / (1.0 - outside) };
        }
        let (larger, smaller) = (log_ndtr(near), log_ndtr(far));
        let share = -libm::expm1(smaller - larger);
        LogIntegral { ln_value: larger + share.ln(), error: 4.0 * f64::EPSILON * (1.0 + larger.abs()) / share }
    };
    (0..=edges.len()).map(bin).collect()
}

/// Laplace noise of scale 1/t around 0 and around 1: outside the two centers the ratio is constant, inside it has
/// equal steps.
fn laplace(t: f64, bins: usize) -> Result<[OutcomeLaw; 2]> {
    let row = |ln_value: f64| LogIntegral { ln_value, error: 8.0 * f64::EPSILON * (1.0 + ln_value.abs()) };
    let width = t / bins as f64;
    let bin = -libm::expm1(-width);
    // In units of the scale: the center of the first law is at 0, of the second at t.
    let mut first = vec![row(0.5f64.ln())];
    let inside = |i: usize| row((0.5 * bin).ln() - width * i as f64);
    first.extend((0..bins).map(inside));
    first.push(row(0.5f64.ln() - t));
    let second: Vec<LogIntegral> = first.iter().rev().copied().collect();
    Ok([OutcomeLaw::from_integrals(&first)?, OutcomeLaw::from_integrals(&second)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accountant::{gaussian_rdp, laplace_rdp, subsampled_gaussian_rdp};
    use crate::divergence::{gdp_delta, hockey_stick, renyi_divergence};
    use crate::quantity::{Epsilon, NoiseScale, Probability};

    /// Never above the closed forms, and close to them.
    #[test]
    fn binned_divergences_are_just_below_the_true_ones() {
        for sigma in [0.3, 1.0, 7.0, 300.0] {
            let sigma = NoiseScale::new(sigma).unwrap();
            for a in [1.01, 2.0, 9.5, 500.0] {
                let order = Order::new(a).unwrap();
                let rate = Probability::new(0.1).unwrap();
                let cases = [
                    (Mechanism::Gaussian { sigma }, gaussian_rdp(order, sigma, 1.0), 0.01),
                    (Mechanism::Laplace { sigma }, laplace_rdp(order, sigma), 0.01),
                    (
                        Mechanism::SubsampledGaussian { sigma, rate },
                        subsampled_gaussian_rdp(order, rate, sigma, 1.0),
                        0.1,
                    ),
                ];
                for (mechanism, truth, loss) in cases {
                    let [p, q] = printed_laws(&mechanism, Some(order), BINS).unwrap();
                    let found = [(&p, &q), (&q, &p)].map(|(p, q)| renyi_divergence(p, q, order).unwrap());
                    let largest = found[0].max(found[1]);
                    assert!(largest <= truth * (1.0 + 1e-9), "{mechanism:?} {a}: {largest} {truth}");
                    assert!(largest >= truth * (1.0 - loss), "{mechanism:?} {a}: {largest} {truth}");
                }
            }
        }
    }

    /// Two places with most of the integral, ratios that overflow; expected values with 60 digits.
    #[test]
    fn far_tails_of_a_subsample_count() {
        let (sigma, rate) = (NoiseScale::new(3.6).unwrap(), Probability::new(0.01).unwrap());
        let order = Order::new(120.0).unwrap();
        let [p, q] = printed_laws(&Mechanism::SubsampledGaussian { sigma, rate }, Some(order), BINS).unwrap();
        for (p, q, truth) in [(&p, &q, 4.393_373_728_654_144e-4), (&q, &p, 4.590_292_521_229_673e-3)] {
            let found = super::super::exact::renyi(p, q, order).unwrap();
            println!("{found:?} of {truth}");
            assert!(found.value <= truth * (1.0 + 1e-10) && found.value >= 0.97 * truth, "{found:?} {truth}");
            assert!(found.error < 1e-6 * truth);
        }
    }

    #[test]
    fn binned_profiles_are_just_below_the_true_ones() {
        for (sigma, epsilon) in [(1.0, 1.0), (3.0, 0.1), (0.5, 4.0)] {
            let (sigma, epsilon) = (NoiseScale::new(sigma).unwrap(), Epsilon::new(epsilon).unwrap());
            let [p, q] = printed_laws(&Mechanism::Gaussian { sigma }, None, BINS).unwrap();
            let (found, truth) =
                (hockey_stick(&p, &q, epsilon).unwrap(), gdp_delta(1.0 / sigma.get(), epsilon).unwrap());
            assert!(found <= truth * (1.0 + 1e-12) && found >= truth * 0.99, "{found} {truth}");
        }
    }

    #[test]
    fn hopeless_cases_are_refused() {
        let mechanism = Mechanism::Gaussian { sigma: NoiseScale::new(1e-300).unwrap() };
        assert!(printed_laws(&mechanism, None, BINS).is_err());
    }
}
