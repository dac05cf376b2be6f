//! A noisy threshold test before the noisy argmax: a mechanism that may abstain.

use super::{Noise, OutcomeDistribution, noisy_argmax_distribution};
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::named::named;
use crate::quadrature::LogIntegral;
use crate::quantity::{NoiseScale, Probability};
use crate::special::{log_ndtr, log_sum_exp};
use serde::{Deserialize, Serialize};

/// Where the noise of a threshold test is added. Both forms are used in practice, with different distributions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdForm {
    /// One draw on the largest count: max_i n_i + N(0, σ₁²) ≥ T (Papernot et al. 2018, Algorithm 1).
    Max,
    /// A draw on each count: max_i {n_i + N(0, σ₁²)} ≥ T (Malek Esmaeili et al. 2021, Algorithm 2).
    PerClass,
}

named!(ThresholdForm, "form of the threshold test", [Max "max", PerClass "per-class"]);

/// A noisy comparison of the largest count with a threshold T.
///
/// ```
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::distribution::{ThresholdForm, ThresholdTest};
/// # use leakbound::quantity::NoiseScale;
/// let test = ThresholdTest::new(150.0, NoiseScale::new(30.0)?, ThresholdForm::Max)?;
/// let odds = test.odds(&VoteHistogram::new(vec![240, 5, 5])?);
/// assert!((odds.ln_pass + 0.001_350_809_964_748_192_5).abs() < 1e-15);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ThresholdTest {
    threshold: f64,
    sigma: NoiseScale,
    form: ThresholdForm,
}

/// The logarithms of the probabilities that a threshold test passes and fails; either may be tiny.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThresholdOdds {
    /// ln P(pass).
    pub ln_pass: f64,
    /// ln P(fail).
    pub ln_fail: f64,
}

impl ThresholdOdds {
    /// ln min(P(pass), P(fail)): the probability of the less likely answer.
    #[must_use]
    pub const fn log_q(self) -> f64 {
        self.ln_pass.min(self.ln_fail)
    }

    /// P(pass).
    #[must_use]
    pub fn pass(self) -> f64 {
        libm::exp(self.ln_pass)
    }
}

impl ThresholdTest {
    /// A test at T votes with Gaussian noise of standard deviation σ₁.
    ///
    /// # Errors
    /// [`Error::Domain`] when T is not a finite number.
    pub fn new(threshold: f64, sigma: NoiseScale, form: ThresholdForm) -> Result<Self> {
        Error::check_domain(threshold.is_finite(), "threshold", threshold, "(-inf, inf)")?;
        Ok(Self { threshold, sigma, form })
    }

    /// T, in votes.
    #[must_use]
    pub const fn threshold(&self) -> f64 {
        self.threshold
    }

    /// σ₁, in votes.
    #[must_use]
    pub const fn sigma(&self) -> NoiseScale {
        self.sigma
    }

    /// Where the noise is added.
    #[must_use]
    pub const fn form(&self) -> ThresholdForm {
        self.form
    }

    /// The probabilities of both results of the test for these votes.
    #[must_use]
    pub fn odds(&self, histogram: &VoteHistogram) -> ThresholdOdds {
        self.odds_of(histogram.counts().iter().map(|&count| count as f64))
    }

    /// The same for scores that are not counts, such as votes minus a student's expectation; at least one, none NaN.
    fn odds_of(&self, scores: impl Iterator<Item = f64>) -> ThresholdOdds {
        let z = |score: f64| (self.threshold - score) / self.sigma.get();
        match self.form {
            ThresholdForm::Max => {
                let z = z(scores.fold(f64::NEG_INFINITY, f64::max));
                ThresholdOdds { ln_pass: log_ndtr(-z), ln_fail: log_ndtr(z) }
            }
            ThresholdForm::PerClass => {
                // All counts stay below: independent events. 1 - P keeps its digits when P is close to 1, until its
                // logarithm underflows. Beyond that the sum of the chances to pass exceeds 1 - P by less than the
                // square of that sum.
                let (fails, passes): (Vec<f64>, Vec<f64>) = scores.map(z).map(|z| (log_ndtr(z), log_ndtr(-z))).unzip();
                let (ln_fail, ln_union) = (fails.iter().sum::<f64>(), log_sum_exp(passes.into_iter()));
                let ln_pass = if ln_union < -200.0 { ln_union } else { (-libm::expm1(ln_fail)).ln() };
                ThresholdOdds { ln_pass, ln_fail }
            }
        }
    }

    /// The probabilities of both results when votes are compared with what a student expects: the scores are
    /// n_j - M p_j for M votes and the student's probabilities p (Interactive-GNMax).
    ///
    /// # Errors
    /// [`Error::Length`] unless there is one probability per class.
    pub fn interactive_odds(&self, histogram: &VoteHistogram, student: &[Probability]) -> Result<ThresholdOdds> {
        Error::check_size("student's prediction", student.len(), histogram.classes(), " probabilities, one per class")?;
        let votes: f64 = histogram.counts().iter().map(|&count| count as f64).sum();
        let scores = histogram.counts().iter().zip(student).map(|(&count, p)| p.get().mul_add(-votes, count as f64));
        Ok(self.odds_of(scores))
    }
}

/// The distribution of Confident-GNMax: C + 1 outcomes, abstention first, then the classes.
///
/// ```text
/// P(abstain) = P(test fails),    P(c) = P(test passes) P(argmax_i {n_i + Z_i} = c),
/// ```
/// because the noise Z of the argmax is drawn afresh after the test. The test has Gaussian noise in either form; the
/// argmax may have Gaussian or Laplace noise.
///
/// # Errors
/// As [`noisy_argmax_distribution`].
///
/// # Example
/// ```
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::distribution::{ThresholdForm, ThresholdTest, confident_argmax_distribution};
/// # use leakbound::quantity::NoiseScale;
/// let test = ThresholdTest::new(10.0, NoiseScale::new(5.0)?, ThresholdForm::Max)?;
/// let distribution = confident_argmax_distribution(&VoteHistogram::new(vec![10, 10])?, &test, "gaussian:2".parse()?)?;
/// assert_eq!(distribution.outcomes(), 3);
/// assert!((distribution.p()[0] - 0.5).abs() < 1e-15 && (distribution.p()[1] - 0.25).abs() < 1e-14);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2018), "Scalable private learning with PATE", Algorithm 1; Malek Esmaeili et al. (2021),
/// "Antipodes of label differential privacy: PATE and ALIBI", Algorithm 2.
pub fn confident_argmax_distribution(
    histogram: &VoteHistogram,
    test: &ThresholdTest,
    noise: Noise,
) -> Result<OutcomeDistribution> {
    tested(test.odds(histogram), &noisy_argmax_distribution(histogram, noise)?)
}

/// The distribution of Interactive-GNMax, on C + 1 outcomes: first that the student keeps its own answer (or gives
/// none, which depends only on the student), then the classes that the teachers print.
///
/// The teachers answer when max_j {n_j - M p_j} + N(0, σ₁²) ≥ T, for M votes and the student's probabilities p.
///
/// # Errors
/// As [`noisy_argmax_distribution`]; [`Error::Length`] unless there is one probability per class.
///
/// # Example
/// ```
/// # use leakbound::distribution::{ThresholdForm, ThresholdTest, interactive_argmax_distribution};
/// # use leakbound::prelude::*;
/// let test = ThresholdTest::new(0.0, NoiseScale::new(5.0)?, ThresholdForm::Max)?;
/// // A student who expects these votes exactly: the scores are 0, at the threshold.
/// let student = [Probability::new(0.75)?, Probability::new(0.25)?];
/// let distribution = interactive_argmax_distribution(&VoteHistogram::new(vec![3, 1])?, &student, &test, "gaussian:2".parse()?)?;
/// assert!((distribution.p()[0] - 0.5).abs() < 1e-15);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2018), Algorithm 2.
pub fn interactive_argmax_distribution(
    histogram: &VoteHistogram,
    student: &[Probability],
    test: &ThresholdTest,
    noise: Noise,
) -> Result<OutcomeDistribution> {
    tested(test.interactive_odds(histogram, student)?, &noisy_argmax_distribution(histogram, noise)?)
}

/// Failure of the test first, then the outcomes of the distribution given that it passed.
fn tested(odds: ThresholdOdds, distribution: &OutcomeDistribution) -> Result<OutcomeDistribution> {
    let rounding = |ln_value: f64| 4.0 * f64::EPSILON * (1.0 + if ln_value.is_finite() { ln_value.abs() } else { 0.0 });
    let fail = LogIntegral { ln_value: odds.ln_fail, error: rounding(odds.ln_fail) };
    let classes = distribution.ln_p().iter().map(|ln_p| {
        let ln_value = odds.ln_pass + ln_p;
        LogIntegral { ln_value, error: distribution.error() + rounding(ln_value) }
    });
    let outcomes: Vec<LogIntegral> = std::iter::once(fail).chain(classes).collect();
    OutcomeDistribution::from_integrals(&outcomes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::ndtr;
    use rand::{RngExt, SeedableRng};
    use rand_distr::StandardNormal;

    fn test(threshold: f64, sigma: f64, form: ThresholdForm) -> ThresholdTest {
        ThresholdTest::new(threshold, NoiseScale::new(sigma).unwrap(), form).unwrap()
    }

    fn histogram(counts: &[u64]) -> VoteHistogram {
        VoteHistogram::new(counts.to_vec()).unwrap()
    }

    #[test]
    fn one_class_is_one_noise_in_both_forms() {
        for threshold in [-1e6, -3.0, 0.0, 4.5, 7.0, 1e6] {
            let odds = [ThresholdForm::Max, ThresholdForm::PerClass]
                .map(|form| test(threshold, 2.0, form).odds(&histogram(&[5])));
            for (a, b) in [(odds[0].ln_pass, odds[1].ln_pass), (odds[0].ln_fail, odds[1].ln_fail)] {
                assert!(a == b || (a - b).abs() <= 1e-13 * a.abs().min(b.abs()).max(1e-300), "{threshold}: {a} {b}");
            }
        }
    }

    #[test]
    fn noise_on_each_class_passes_more_often() {
        let votes = histogram(&[3, 3, 3, 1]);
        let (one, each) = (test(4.0, 1.0, ThresholdForm::Max), test(4.0, 1.0, ThresholdForm::PerClass));
        assert!((one.odds(&votes).pass() - ndtr(-1.0)).abs() < 1e-15);
        let fail = ndtr(1.0).powi(3) * ndtr(3.0);
        assert!((each.odds(&votes).pass() - (1.0 - fail)).abs() < 1e-15);
    }

    /// 200,000 draws of the algorithms as printed; each of 10 frequencies is within 5 standard errors of its
    /// probability but for one correct program in 170,000.
    #[test]
    fn distributions_agree_with_the_algorithms() {
        let counts = [7.0, 6.0, 2.0, 0.0];
        let (threshold, s1, s2) = (8.0, 3.0, 2.0);
        let mut generator = rand_chacha::ChaCha8Rng::seed_from_u64(11);
        let draws = 200_000;
        for form in [ThresholdForm::Max, ThresholdForm::PerClass] {
            let distribution = confident_argmax_distribution(
                &histogram(&[7, 6, 2, 0]),
                &test(threshold, s1, form),
                "gaussian:2".parse().unwrap(),
            )
            .unwrap();
            let mut seen = [0u32; 5];
            for _ in 0..draws {
                let mut normal = || generator.sample::<f64, _>(StandardNormal);
                let largest = match form {
                    ThresholdForm::Max => 7.0 + s1 * normal(),
                    ThresholdForm::PerClass => counts.iter().map(|n| n + s1 * normal()).fold(f64::MIN, f64::max),
                };
                let noisy = counts.map(|n| n + s2 * normal());
                let winner = (0..4).fold(0, |best, class| if noisy[class] > noisy[best] { class } else { best });
                seen[if largest >= threshold { winner + 1 } else { 0 }] += 1;
            }
            for (count, &p) in seen.iter().zip(distribution.p()) {
                let (frequency, error) =
                    (f64::from(*count) / f64::from(draws), (p * (1.0 - p) / f64::from(draws)).sqrt());
                println!("{form}: {frequency} {p}");
                assert!((frequency - p).abs() < 5.0 * error, "{form}: {frequency} {p} {error}");
            }
        }
    }

    #[test]
    fn far_thresholds_leave_a_distribution() {
        for form in [ThresholdForm::Max, ThresholdForm::PerClass] {
            for threshold in [-1e300, -1e9, 1e9, 1e300] {
                for sigma in [1e-300, 1.0, 1e300] {
                    let distribution = confident_argmax_distribution(
                        &histogram(&[1 << 40, 0, 3]),
                        &test(threshold, sigma, form),
                        "gaussian:1e10".parse().unwrap(),
                    )
                    .unwrap();
                    assert!(
                        distribution.p().iter().chain(distribution.complement()).all(|p| (0.0..=1.0).contains(p)),
                        "{distribution:?}"
                    );
                    assert!(distribution.ln_p().iter().all(|ln_p| !ln_p.is_nan()));
                }
            }
        }
        assert!(ThresholdTest::new(f64::NAN, NoiseScale::new(1.0).unwrap(), ThresholdForm::Max).is_err());
    }

    #[test]
    fn the_error_of_a_tested_distribution_is_that_of_rounding() {
        let distribution = confident_argmax_distribution(
            &histogram(&[14, 12, 3]),
            &test(12.0, 3.0, ThresholdForm::Max),
            "gaussian:2".parse().unwrap(),
        );
        let error = distribution.unwrap().error();
        assert!(error > 0.0 && error < 1e-11, "{error}");
    }
}
