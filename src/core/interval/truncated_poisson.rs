//! Poisson distributions cut to λ ± c, the building blocks of a multinomial: multinomial counts are independent Poisson
//! counts given their sum.

use crate::special::{log_poisson_density, log_poisson_pmf};

/// Up to this many points, a window is summed term by term.
const MAX_SUMMED: f64 = 512.0;
/// Weights below this share of the largest are left out.
const NEGLIGIBLE: f64 = 1e-40;
/// A Poisson variable leaves λ ± c with probability below e^-45 on each side if Chernoff's exponent is this.
const CERTAIN: f64 = 45.0;
/// Standard deviations beyond which the weights of a wide window (λ ≥ 1500) are below 1e-30.
const REACH: f64 = 13.0;

/// The moments of Poi(λ) given λ - c ≤ Y ≤ λ + c, for Edgeworth's expansion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TruncatedMoments {
    /// ln P(λ - c ≤ Poi(λ) ≤ λ + c).
    pub(super) ln_mass: f64,
    /// E Y - λ.
    pub(super) shift: f64,
    /// Variance.
    pub(super) variance: f64,
    /// Third central moment.
    pub(super) third: f64,
    /// Fourth central moment minus 3 variance².
    pub(super) fourth_cumulant: f64,
}

impl TruncatedMoments {
    /// For a whole λ ≥ 1 and c ≥ 1.
    ///
    /// Moments are taken about λ; the published recipe with factorial moments loses all digits for large λ. Wide
    /// windows are integrals: with f the Poisson weights joined smoothly by the gamma function,
    /// Σ_{k=b}^{a} f(k) = ∫ f over [b-½, a+½] - (f'(a+½) - f'(b-½))/24 + O(f''') (Euler and Maclaurin).
    pub(super) fn new(lambda: u64, c: u64) -> Self {
        let (mean, width) = (lambda as f64, c as f64);
        if nearly_certain(mean, width) {
            return Self { ln_mass: 0.0, shift: 0.0, variance: mean, third: mean, fourth_cumulant: mean };
        }
        let reach = REACH * mean.sqrt();
        let points = width.min(mean).min(reach) + width.min(reach);
        if points <= MAX_SUMMED {
            let window = Window::new(lambda, c);
            let sums = power_sums(window.weights.iter().enumerate().map(|(i, &weight)| {
                // Both are below 2^53, so their difference is exact.
                ((window.start + i as u64) as f64 - mean, weight)
            }));
            Self::from_sums(sums, 0.0)
        } else {
            let (low, high) = (-width.min(mean).min(reach) - 0.5, width.min(reach) + 0.5);
            // Scaled by the weight at λ, by sd^r, so that nothing overflows.
            let sd = mean.sqrt();
            let top = log_poisson_density(mean, 0.0);
            let density = |t: f64| libm::exp(log_poisson_density(mean, t * sd) - top);
            let integral = integrate(low / sd, high / sd, density);
            let slope = |u: f64| -libm::log1p(u / mean) - 0.5 / (mean + u);
            let mut sums = integral.map(|sum| sum * sd);
            for (end, sign) in [(high, 1.0), (low, -1.0)] {
                let t = end / sd;
                let weight = density(t);
                for (power, sum) in sums.iter_mut().enumerate() {
                    let lowered = if power == 0 { 0.0 } else { power as f64 * t.powi(power as i32 - 1) / sd };
                    *sum -= sign / 24.0 * weight * (t.powi(power as i32) * slope(end) + lowered);
                }
            }
            let mut scale = 1.0;
            for sum in &mut sums {
                *sum *= scale;
                scale *= sd;
            }
            Self::from_sums(sums, top)
        }
    }

    /// From Σ w u^r, r = 0 to 4, with the weights divided by exp(`ln_scale`).
    fn from_sums(sums: [f64; 5], ln_scale: f64) -> Self {
        let [mass, first, second, third, fourth] = sums;
        let (shift, second, third, fourth) = (first / mass, second / mass, third / mass, fourth / mass);
        let variance = second - shift * shift;
        let third_central = third - 3.0 * shift * second + 2.0 * shift.powi(3);
        let fourth_central = fourth - 4.0 * shift * third + 6.0 * shift * shift * second - 3.0 * shift.powi(4);
        Self {
            ln_mass: mass.ln() + ln_scale,
            shift,
            variance,
            third: third_central,
            fourth_cumulant: fourth_central - 3.0 * variance * variance,
        }
    }
}

/// P(Poi(λ) = k) for the k of a window, in increasing order, without negligible ones.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Window {
    /// The first k.
    pub(super) start: u64,
    /// The probabilities from there on.
    pub(super) weights: Vec<f64>,
}

impl Window {
    /// λ - c to λ + c, of a whole λ ≥ 1, by recurrence from the mode.
    pub(super) fn new(lambda: u64, c: u64) -> Self {
        let mean = lambda as f64;
        let top = libm::exp(log_poisson_pmf(lambda, mean));
        let mut below = Vec::new();
        let mut weight = 1.0;
        for k in (lambda.saturating_sub(c)..lambda).rev() {
            weight *= (k + 1) as f64 / mean;
            if weight < NEGLIGIBLE {
                break;
            }
            below.push(weight * top);
        }
        let start = lambda - below.len() as u64;
        let mut weights: Vec<f64> = below.into_iter().rev().collect();
        weights.push(top);
        let mut weight = 1.0;
        for k in lambda..lambda.saturating_add(c) {
            weight *= mean / (k + 1) as f64;
            if weight < NEGLIGIBLE {
                break;
            }
            weights.push(weight * top);
        }
        Self { start, weights }
    }

    /// The approximate number of points of a window.
    pub(super) fn expected_points(lambda: u64, c: u64) -> f64 {
        let (mean, width) = (lambda as f64, c as f64);
        let reach = (REACH + 1.0) * mean.sqrt();
        width.min(mean).min(reach) + width.min(reach + 45.0) + 1.0
    }
}

/// Chernoff: P(Poi(λ) ≥ k) and, below λ, P(Poi(λ) ≤ k) are at most exp(-(k ln(k/λ) - k + λ)).
fn nearly_certain(mean: f64, width: f64) -> bool {
    let exponent = |u: f64| (mean + u) * libm::log1p(u / mean) - u;
    exponent(width) >= CERTAIN && (width >= mean || exponent(-width) >= CERTAIN)
}

/// Σ w u^r for r = 0 to 4. Weights are not negative and the points lie on both sides of 0: plain sums of a few hundred
/// terms keep 13 digits of the even moments, and of the odd ones as far as they matter compared with those.
fn power_sums(points: impl Iterator<Item = (f64, f64)>) -> [f64; 5] {
    let mut sums = [0.0; 5];
    for (u, weight) in points {
        let (square, first) = (u * u, weight * u);
        let terms = [weight, first, weight * square, first * square, weight * square * square];
        sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
    }
    sums
}

/// ∫ t^r f(t) dt for r = 0 to 4 over [low, high], in panels of at most 5: 16 nodes each leave 1e-15 of a Gaussian.
fn integrate(low: f64, high: f64, f: impl Fn(f64) -> f64) -> [f64; 5] {
    let panels = ((high - low) / 5.0).ceil().max(1.0);
    let half = 0.5 * (high - low) / panels;
    let points = (0..panels as usize).flat_map(|panel| {
        let middle = low + half * (2.0 * panel as f64 + 1.0);
        GAUSS_LEGENDRE
            .into_iter()
            .flat_map(move |(x, weight)| [(middle - half * x, half * weight), (middle + half * x, half * weight)])
    });
    power_sums(points.map(|(t, weight)| (t, weight * f(t))))
}

/// The positive nodes and the weights of the 16-point rule on [-1, 1], to the digits of mpmath's Legendre roots.
const GAUSS_LEGENDRE: [(f64, f64); 8] = [
    (0.095_012_509_837_637_440_185_32, 0.189_450_610_455_068_496_285_4),
    (0.281_603_550_779_258_913_230_5, 0.182_603_415_044_923_588_866_8),
    (0.458_016_777_657_227_386_342_4, 0.169_156_519_395_002_538_189_3),
    (0.617_876_244_402_643_748_446_7, 0.149_595_988_816_576_732_081_5),
    (0.755_404_408_355_003_033_895_1, 0.124_628_971_255_533_872_052_5),
    (0.865_631_202_387_831_743_880_5, 0.095_158_511_682_492_784_809_93),
    (0.944_575_023_073_232_576_078_0, 0.062_253_523_938_647_892_862_84),
    (0.989_400_934_991_649_932_596_2, 0.027_152_459_411_754_094_851_78),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The integral against the sum over the same window, where both are affordable.
    #[test]
    fn wide_windows_are_integrated_as_if_summed() {
        let mut worst = 0.0f64;
        for (lambda, c) in [(4_000u64, 600u64), (300_000, 600), (10_000_000, 2_000), (1_000_000, 3_000), (40_000, 700)]
        {
            let mean = lambda as f64;
            let window = Window::new(lambda, c);
            let sums = power_sums(
                window.weights.iter().enumerate().map(|(i, &w)| ((window.start + i as u64) as f64 - mean, w)),
            );
            let summed = TruncatedMoments::from_sums(sums, 0.0);
            let found = TruncatedMoments::new(lambda, c);
            let sd = summed.variance.sqrt();
            let errors = [
                found.ln_mass - summed.ln_mass,
                (found.shift - summed.shift) / sd,
                found.variance / summed.variance - 1.0,
                (found.third - summed.third) / sd.powi(3),
                (found.fourth_cumulant - summed.fourth_cumulant) / sd.powi(4),
            ];
            println!("{lambda} {c}: {errors:?}");
            worst = errors.iter().fold(worst, |worst, error| worst.max(error.abs()));
        }
        assert!(worst < 1e-9);
    }

    /// A window that contains everything has the moments of the Poisson distribution itself: variance, third and fourth
    /// cumulant λ.
    #[test]
    fn a_window_of_everything_leaves_the_poisson_moments() {
        for lambda in [1u64, 5, 40, 900, 100_000] {
            let mean = lambda as f64;
            let whole = Window::new(lambda, (8.0 * mean.sqrt()) as u64 + 40);
            let sums =
                power_sums(whole.weights.iter().enumerate().map(|(i, &w)| ((whole.start + i as u64) as f64 - mean, w)));
            let summed = TruncatedMoments::from_sums(sums, 0.0);
            assert!(summed.ln_mass.abs() < 1e-11 && (summed.variance / mean - 1.0).abs() < 1e-9, "{summed:?}");
            assert!((summed.third / mean - 1.0).abs() < 1e-7 && (summed.fourth_cumulant / mean - 1.0).abs() < 1e-4);
            assert_eq!(TruncatedMoments::new(lambda, 1 << 40).variance, mean);
        }
    }

    /// ∫ exp(-t²/2) dt = √(2π), and t² has the same integral: one panel over the whole range would not suffice.
    #[test]
    fn wide_ranges_are_cut_into_panels() {
        for reach in [20.0, 12.5] {
            let found = integrate(-reach, reach, |t| libm::exp(-0.5 * t * t));
            let expected = (2.0 * std::f64::consts::PI).sqrt();
            for (moment, factor) in [(0, 1.0), (2, 1.0), (4, 3.0)] {
                let off = found[moment] / (factor * expected) - 1.0;
                assert!(off.abs() < 1e-12, "{reach} {moment}: {off}");
            }
        }
    }

    #[test]
    fn wide_windows_are_certain_and_narrow_ones_are_not() {
        assert!(nearly_certain(2.0, 200.0) && nearly_certain(1e6, 1e5));
        assert!(!nearly_certain(2.0, 3.0) && !nearly_certain(1e6, 1e3));
    }
}
