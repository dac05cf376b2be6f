//! Selections by score: the exponential mechanism and permute-and-flip.

use super::categorical::OutcomeDistribution;
use super::count_groups::{CountGroups, Spread};
use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::quadrature::{LogIntegral, log_concave_panels};
use crate::quantity::NoiseScale;
use crate::special::CompensatedSum;

/// Probabilities fall by at most the exponential of the spread. Nothing oscillates, so any spread can be computed.
const SPREAD: Spread = Spread { most: 1e100, domain: "[0, 1e100]" };

/// The distribution of the exponential mechanism: class c with probability proportional to e^{n_c/s}.
///
/// It is the noisy argmax with Gumbel noise of scale s. If every score has sensitivity Δ, it is 2Δ/s-differentially
/// private. ln P has an error of 1e-15 (1 + |ln P|).
///
/// # Errors
/// [`Error::Domain`](crate::Error::Domain) when the counts spread over more than 10^100 scales.
///
/// # Example
/// ```
/// # use leakbound::distribution::exponential_distribution;
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::quantity::NoiseScale;
/// let distribution = exponential_distribution(&VoteHistogram::new(vec![3, 1])?, NoiseScale::new(2.0)?)?;
/// assert!((distribution.p()[0] - 1.0 / (1.0 + (-1.0f64).exp())).abs() < 1e-15);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// McSherry and Talwar (2007), "Mechanism design via differential privacy".
pub fn exponential_distribution(histogram: &VoteHistogram, scale: NoiseScale) -> Result<OutcomeDistribution> {
    let groups = CountGroups::new(histogram, scale.get(), SPREAD)?;
    let mut sum = CompensatedSum::default();
    for group in &groups.groups {
        sum.add(group.multiplicity * libm::exp(-group.gap));
    }
    // At least 1, the weight of the largest count.
    let ln_sum = sum.value().ln();
    let integrals: Vec<LogIntegral> = groups
        .groups
        .iter()
        .map(|group| {
            let ln_value = -group.gap - ln_sum;
            LogIntegral { ln_value, error: 4.0 * f64::EPSILON * (1.0 + ln_value.abs()) }
        })
        .collect();
    OutcomeDistribution::from_groups(&groups.of_class, &groups.multiplicities(), &integrals)
}

/// The distribution of permute-and-flip: classes are visited in random order, and each is accepted with probability
/// p_c = e^{(n_c - max n)/s} until one is.
///
/// It is the noisy argmax with exponential noise of scale s. With x the noisy count of the winner c and
/// u = e^{-(x - max n)/s}, the density of c at x is p_c du, and another class j stays below x with probability
/// 1 - p_j u, so that
/// ```text
/// P(c) = p_c ∫ Π_{j≠c} (1 - p_j u) du,   u from 0 to 1,
/// ```
/// which is integrated over y = -ln u, where the integrand is log-concave. If every score has sensitivity Δ, it is
/// 2Δ/s-differentially private. Probabilities have a relative error of 1e-13.
///
/// # Errors
/// As [`exponential_distribution`]; [`Error::NoConvergence`](crate::Error::NoConvergence) when an integral does not
/// reach its tolerance.
///
/// # Example
/// The second of two classes wins if it is visited first and accepted: half of p_2.
/// ```
/// # use leakbound::distribution::permute_and_flip_distribution;
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::quantity::NoiseScale;
/// let distribution = permute_and_flip_distribution(&VoteHistogram::new(vec![3, 1])?, NoiseScale::new(2.0)?)?;
/// assert!((distribution.p()[1] - (-1.0f64).exp() / 2.0).abs() < 1e-14);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// McKenna and Sheldon (2020), "Permute-and-flip: a new mechanism for differentially private selection"; Ding, Kifer et
/// al. (2021), "The permute-and-flip mechanism is identical to report-noisy-max with exponential noise".
pub fn permute_and_flip_distribution(histogram: &VoteHistogram, scale: NoiseScale) -> Result<OutcomeDistribution> {
    let groups = CountGroups::new(histogram, scale.get(), SPREAD)?;
    let mut start = 1.0;
    let mut integrals = Vec::with_capacity(groups.groups.len());
    for (class, group) in groups.groups.iter().enumerate() {
        let log_integrand = |y: f64| {
            if y < 0.0 {
                return f64::NEG_INFINITY;
            }
            let below = groups.groups.iter().enumerate().map(|(other, group)| {
                let classes = group.multiplicity - if other == class { 1.0 } else { 0.0 };
                // 1 - e^{-(gap + y)}, to full precision where it is small.
                if classes > 0.0 { classes * (-libm::expm1(-(group.gap + y))).ln() } else { 0.0 }
            });
            below.sum::<f64>() - y
        };
        let (integral, peak) = log_concave_panels(log_integrand, start, 1.0, &[0.0])?;
        start = peak.max(1.0);
        let ln_value = integral.ln_value - group.gap;
        integrals.push(LogIntegral { ln_value, error: integral.error + f64::EPSILON * ln_value.abs() });
    }
    OutcomeDistribution::from_groups(&groups.of_class, &groups.multiplicities(), &integrals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::{LogConcaveNoise, custom_argmax_distribution};
    use proptest::prelude::*;

    fn of(counts: &[u64], scale: f64) -> [OutcomeDistribution; 2] {
        let (histogram, scale) = (VoteHistogram::new(counts.to_vec()).unwrap(), NoiseScale::new(scale).unwrap());
        [
            exponential_distribution(&histogram, scale).unwrap(),
            permute_and_flip_distribution(&histogram, scale).unwrap(),
        ]
    }

    /// Values to 25 digits: counts, probabilities of the exponential mechanism and of permute-and-flip, scale 2.
    #[test]
    fn agrees_with_values_of_high_precision() {
        let table: [(&[u64], [f64; 5], [f64; 5]); 2] = [
            (
                &[3, 1, 4, 1, 5],
                [
                    0.163_860_232_961_907_588_936_584_3,
                    0.060_280_810_932_248_916_867_821_23,
                    0.270_159_851_506_175_302_899_971_8,
                    0.060_280_810_932_248_916_867_821_23,
                    0.445_418_293_667_419_274_427_801_4,
                ],
                [
                    0.135_545_725_353_415_210_680_778_5,
                    0.046_435_712_646_270_845_717_942_12,
                    0.244_469_612_000_262_214_238_146_5,
                    0.046_435_712_646_270_845_717_942_12,
                    0.527_113_237_353_780_883_645_190_7,
                ],
            ),
            (
                &[4, 0, 4, 2, 4],
                [
                    0.285_452_100_047_613_250_287_440_4,
                    0.038_631_740_810_429_642_501_261_61,
                    0.285_452_100_047_613_250_287_440_4,
                    0.105_011_959_046_730_606_636_417_2,
                    0.285_452_100_047_613_250_287_440_4,
                ],
                [
                    0.293_058_341_911_590_880_308_517_8,
                    0.031_344_467_390_759_975_824_532_75,
                    0.293_058_341_911_590_880_308_517_8,
                    0.089_480_506_874_467_383_249_913_82,
                    0.293_058_341_911_590_880_308_517_8,
                ],
            ),
        ];
        for (counts, exponential, flip) in table {
            let found = of(counts, 2.0);
            for ((found, expected), tolerance) in found.iter().zip([exponential, flip]).zip([1e-15, 1e-13]) {
                for (found, expected) in found.p().iter().zip(expected) {
                    assert!((found / expected - 1.0).abs() < tolerance, "{counts:?}: {found} {expected}");
                }
            }
        }
    }

    /// By the rule itself: the mean over all orders of the classes.
    fn by_permutations(p: &[f64]) -> Vec<f64> {
        fn walk(left: &mut Vec<usize>, reached: f64, p: &[f64], sum: &mut [f64]) {
            for place in 0..left.len() {
                let class = left.remove(place);
                let share = reached / (left.len() + 1) as f64;
                sum[class] += share * p[class];
                walk(left, share * (1.0 - p[class]), p, sum);
                left.insert(place, class);
            }
        }
        let mut sum = vec![0.0; p.len()];
        walk(&mut (0..p.len()).collect(), 1.0, p, &mut sum);
        sum
    }

    struct Gumbel(f64);

    impl LogConcaveNoise for Gumbel {
        fn scale(&self) -> f64 {
            self.0
        }
        fn ln_density(&self, x: f64) -> f64 {
            -x / self.0 - libm::exp(-x / self.0) - self.0.ln()
        }
        fn ln_cdf(&self, x: f64) -> f64 {
            -libm::exp(-x / self.0)
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn agrees_with_all_orders_and_with_gumbel_noise(
            counts in prop::collection::vec(0u64..12, 1..7), scale in -1.5f64..4.0,
        ) {
            let scale = scale.exp();
            let [exponential, flip] = of(&counts, scale);
            let most = *counts.iter().max().unwrap();
            let p: Vec<f64> = counts.iter().map(|&count| (-((most - count) as f64) / scale).exp()).collect();
            for (found, expected) in flip.p().iter().zip(by_permutations(&p)) {
                prop_assert!((found / expected - 1.0).abs() < 1e-13, "{found} {expected}");
            }
            let histogram = VoteHistogram::new(counts).unwrap();
            let noisy = custom_argmax_distribution(&histogram, &Gumbel(scale)).unwrap();
            for (found, expected) in exponential.ln_p().iter().zip(noisy.ln_p()) {
                prop_assert!((found - expected).abs() < 1e-11 * (1.0 + expected.abs()), "{found} {expected}");
            }
        }
    }

    /// P(c) = ∫ f(x - n_c) Π_{j≠c} F(x - n_j) dx with the density f and the distribution function F of exponential
    /// noise, over x itself and panel by panel.
    fn largest_with_exponential_noise(counts: &[u64], scale: f64, class: usize) -> f64 {
        let most = counts.iter().copied().max().unwrap() as f64;
        // The noisy count of a class cannot be below its count.
        let value = |x: f64| {
            let density = (-(x - counts[class] as f64) / scale).exp() / scale;
            let others = counts.iter().enumerate().filter(|(other, _)| *other != class);
            others.fold(density, |product, (_, &count)| product * -(-(x - count as f64) / scale).exp_m1())
        };
        let rule = super::super::laplace_argmax::GAUSS_LEGENDRE;
        let panel = |number: u32| -> f64 {
            let (low, half) = (most + 0.5 * scale * f64::from(number), 0.25 * scale);
            let at = |node: f64| value(low + half * (1.0 + node));
            rule.iter().map(|&(node, weight)| half * weight * (at(-node) + at(node))).sum()
        };
        (0..100).map(panel).collect::<CompensatedSum>().value()
    }

    #[test]
    fn permute_and_flip_is_noisy_max_with_exponential_noise() {
        let lists: [&[u64]; 8] =
            [&[3, 1, 4, 1, 5], &[4, 0, 4, 2, 4], &[7], &[0, 0], &[9, 0], &[2; 9], &[20, 19, 5, 0], &[0, 1, 2, 3, 4, 5]];
        let mut worst: f64 = 0.0;
        for counts in lists {
            for scale in [0.5, 1.0, 2.0, 7.5, 40.0] {
                let [_, flip] = of(counts, scale);
                for (class, found) in flip.p().iter().enumerate() {
                    let expected = largest_with_exponential_noise(counts, scale, class);
                    let error = (found / expected - 1.0).abs();
                    worst = worst.max(error);
                    assert!(error < 1e-13, "{counts:?} {scale} {class}: {found} {expected}");
                }
            }
        }
        println!("largest relative difference {worst:e}");
    }

    /// Ties of many classes, one class, consensus, and spreads so large that probabilities vanish.
    #[test]
    fn extremes_are_distributions() {
        for counts in [vec![7], vec![3; 1000], vec![1_000_000, 0], vec![0, 0, 1 << 53], (0..400).collect()] {
            for scale in [1e-30, 0.05, 1.0, 40.0, 1e9] {
                for distribution in of(&counts, scale) {
                    let sum: f64 = distribution.p().iter().sum();
                    assert!((sum - 1.0).abs() < 1e-12, "{scale}: {sum}");
                }
            }
        }
        let [exponential, flip] = of(&[1_000_000, 0], 1.0);
        assert_eq!([exponential.ln_p()[1], flip.ln_p()[1]], [-1e6, -1e6 - std::f64::consts::LN_2]);
    }
}
