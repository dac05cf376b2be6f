//! Bounds from scores under each way of choosing the threshold.

use super::scores::CanaryScores;
use super::uniform::uniform_rectangles;
use crate::audit::gdp::gdp_bounds;
use crate::audit::rectangle::Rectangle;
use crate::bound::{Direction, LowerBound, Validity};
use crate::error::{Error, Result};
use crate::order;
use crate::parallel;
use crate::quantity::{Delta, Epsilon, FailureProbability};
use crate::roc::RocPoint;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// How the threshold is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ThresholdSelection {
    /// Declared without looking at the scores.
    Explicit(f64),
    /// Chosen on a random half; the other half is bounded.
    Split,
    /// The median over many random splits.
    MultiSplit,
    /// All thresholds simultaneously.
    Uniform,
    /// The best threshold on the same scores, as in other tools: no guarantee.
    Naive,
}

impl ThresholdSelection {
    /// The name used in tables and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Explicit(_) => "explicit",
            Self::Split => "split",
            Self::MultiSplit => "multi-split",
            Self::Uniform => "uniform",
            Self::Naive => "naive",
        }
    }
}

/// Splits of [`ThresholdSelection::MultiSplit`]: odd, so that the median is one of them.
const SPLITS: usize = 21;

/// The evidence in the scores about both error rates: rectangles at thresholds, from which bounds are read.
///
/// All bounds from one evidence hold simultaneously except with its failure probability, for every δ, ε and direction.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreEvidence {
    points: Vec<(RocPoint, Rectangle)>,
    selection: ThresholdSelection,
    failure: FailureProbability,
}

/// Bounds the error rates of an attack that calls a canary a member from a threshold on; high scores mean members.
///
/// `delta` is where ε is needed: a split chooses the threshold with the largest bound of ε there.
///
/// The scores of members must be independent draws from one distribution P, those of the others from one distribution
/// Q: canaries of independent runs, or canaries of one run whose scores do not influence each other. For dependent
/// canaries of one run, use [`audit_one_run`](crate::audit::audit_one_run). Then, with n members and m others,
///
/// - `explicit`: one rectangle TPR ≥ TPR_l, FPR ≤ FPR_u with half of the failure probability for each limit
///   ([`Rectangle::two_tails`]); finite-sample.
/// - `split`: the same on a random half, at the threshold with the largest bound on the other half; given that half,
///   the threshold is a constant. μ and both directions are read at this one threshold; if μ matters more, `uniform`
///   finds more. Finite-sample.
/// - `multi-split`: 21 such splits at half of the failure probability f, and for each quantity the median m of the 21
///   bounds. If m exceeds the truth, then at least 11 of 21 rectangles miss it; each does with probability at most f/2,
///   so the expected share of those that do is at most f/2 and, by Markov's inequality, the probability that the share
///   reaches 11/21 > 1/2 is below f, however dependent the splits are. Finite-sample.
/// - `uniform`: simultaneous rectangles at all thresholds; the best of them is used. Finite-sample.
/// - `naive`: for each quantity the largest bound over the vertices of the ROC hull at the uncorrected level.
///   *Heuristic*: on equal distributions it claims ε > 0 more often than the failure probability, as measured by
///   [`best_threshold_false_claims`].
///
/// # Errors
/// [`Error::Domain`] for a threshold that is NaN, [`Error::Rejected`] if fewer than 2 canaries of a kind cannot be
/// split; as [`Rectangle::two_tails`].
///
/// # Example
/// ```
/// # use leakbound::audit::{CanaryScores, ThresholdSelection, audit_scores};
/// # use leakbound::prelude::*;
/// let scores = CanaryScores::new((0..500).map(f64::from).collect(), (-200..300).map(f64::from).collect())?;
/// let (delta, failure) = (Delta::new(1e-5)?, FailureProbability::new(0.05)?);
/// let evidence = audit_scores(&scores, ThresholdSelection::Explicit(250.0), delta, failure, 0)?;
/// let epsilon = evidence.epsilon(delta, Direction::Forward);
/// // 250 of 500 members and 50 of 500 others: ln 5 = 1.609 at the frequencies.
/// assert!((epsilon.value - 1.256).abs() < 1e-3 && epsilon.validity == Validity::FiniteSample);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Jagielski, Ullman and Oprea (2020), "Auditing differentially private machine learning"; Rüger (1978) for the median
/// of dependent tests, and Vovk and Wang (2020), "Combining p-values via averaging", for its place among other means.
pub fn audit_scores(
    scores: &CanaryScores,
    selection: ThresholdSelection,
    delta: Delta,
    failure: FailureProbability,
    seed: u64,
) -> Result<ScoreEvidence> {
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    let points = match selection {
        ThresholdSelection::Explicit(threshold) => vec![at_threshold(scores, threshold, failure)?],
        ThresholdSelection::Split => vec![split_once(scores, delta, failure, &mut stream)?],
        ThresholdSelection::MultiSplit => {
            (0..SPLITS).map(|_| split_once(scores, delta, failure.split(2), &mut stream)).collect::<Result<_>>()?
        }
        ThresholdSelection::Uniform => uniform_rectangles(scores, failure)?,
        ThresholdSelection::Naive => vertices(scores, failure)?,
    };
    Ok(ScoreEvidence { points, selection, failure })
}

fn at_threshold(scores: &CanaryScores, threshold: f64, failure: FailureProbability) -> Result<(RocPoint, Rectangle)> {
    let [inside, inside_others] = scores.counts(threshold)?;
    let point = RocPoint {
        threshold: Some(threshold),
        true_positives: inside.successes(),
        false_positives: inside_others.successes(),
    };
    Ok((point, Rectangle::two_tails(inside, inside_others, failure)?))
}

fn split_once(
    scores: &CanaryScores,
    delta: Delta,
    failure: FailureProbability,
    stream: &mut ChaCha8Rng,
) -> Result<(RocPoint, Rectangle)> {
    let [choosing, bounding] = scores.split(0.5, stream)?;
    let threshold = best(&choosing, delta, failure)?.0.cut();
    at_threshold(&bounding, threshold, failure)
}

/// The vertex of the hull with the largest bound of ε, in either direction; if no bound is positive, the one with the
/// largest true minus false positive rate.
///
/// With limits at a fixed level, more true positives or fewer false positives never lower a bound, so the best
/// threshold is a corner of the curve. Corners below the hull are omitted for speed, which costs no validity because
/// this is only a choice.
fn best(scores: &CanaryScores, delta: Delta, failure: FailureProbability) -> Result<(RocPoint, Rectangle)> {
    let sizes = [scores.members().len() as f64, scores.others().len() as f64];
    let mut found: Option<((f64, f64), RocPoint, Rectangle)> = None;
    for (point, rectangle) in vertices(scores, failure)? {
        let epsilon = Direction::BOTH.map(|direction| rectangle.epsilon(delta, direction).value);
        let gap = point.true_positives as f64 / sizes[0] - point.false_positives as f64 / sizes[1];
        let worth = (epsilon[0].max(epsilon[1]), gap);
        if found.as_ref().is_none_or(|(most, ..)| worth > *most) {
            found = Some((worth, point, rectangle));
        }
    }
    let (_, point, rectangle) = found.ok_or(Error::length("thresholds", 0, "at least 1"))?;
    Ok((point, rectangle))
}

/// The rectangle of every vertex of the hull, each at the failure probability.
fn vertices(scores: &CanaryScores, failure: FailureProbability) -> Result<Vec<(RocPoint, Rectangle)>> {
    let rectangle = |point: RocPoint| -> Result<(RocPoint, Rectangle)> {
        let [inside, inside_others] = scores.of_point(point)?;
        Ok((point, Rectangle::two_tails(inside, inside_others, failure)?))
    };
    scores.roc().hull().into_iter().map(rectangle).collect()
}

impl ScoreEvidence {
    /// How the threshold was chosen.
    #[must_use]
    pub const fn selection(&self) -> ThresholdSelection {
        self.selection
    }

    /// The thresholds with their counts and rectangles: one for explicit and split selection, one per split for
    /// multi-split, the whole band from the highest threshold down for uniform, and the vertices of the hull for naive.
    #[must_use]
    pub fn points(&self) -> &[(RocPoint, Rectangle)] {
        &self.points
    }

    /// Lower bound of ε at δ; forward is members over others, ln((TPR - δ)/FPR), reverse ln((TNR - δ)/FNR).
    /// Differential privacy needs both.
    #[must_use]
    pub fn epsilon(&self, delta: Delta, direction: Direction) -> LowerBound {
        self.read("clopper-pearson", |rectangle| rectangle.epsilon(delta, direction).value).0
    }

    /// Lower bound of δ at ε.
    #[must_use]
    pub fn delta(&self, epsilon: Epsilon, direction: Direction) -> LowerBound {
        self.read("clopper-pearson", |rectangle| rectangle.delta(epsilon, direction).value).0
    }

    /// Lower bound of the μ of Gaussian differential privacy, which both directions share.
    #[must_use]
    pub fn gdp(&self) -> LowerBound {
        self.read("gdp", declared_mu).0
    }

    /// Lower bound of μ with the ε at δ implied by this μ ([`gdp_bounds`](crate::audit::gdp_bounds)); the latter is
    /// heuristic.
    ///
    /// # Errors
    /// As [`gdp_bounds`](crate::audit::gdp_bounds).
    pub fn gdp_epsilon(&self, delta: Delta) -> Result<[LowerBound; 2]> {
        let (mu, index) = self.read("gdp", declared_mu);
        let Some((_, rectangle)) = self.points.get(index) else { return Ok([mu, mu]) };
        let [_, epsilon] = gdp_bounds(rectangle, delta)?;
        let value = if mu.value > 0.0 { epsilon.value } else { 0.0 };
        Ok([mu, mu.with_value(value).heuristic()])
    }

    /// The threshold at which the bound of ε at δ is read.
    #[must_use]
    pub fn epsilon_threshold(&self, delta: Delta, direction: Direction) -> Option<f64> {
        let index = self.read("clopper-pearson", |rectangle| rectangle.epsilon(delta, direction).value).1;
        self.points.get(index).map(|(point, _)| point.cut())
    }

    /// The threshold at which the bound of μ is read.
    #[must_use]
    pub fn gdp_threshold(&self) -> Option<f64> {
        let index = self.read("gdp", declared_mu).1;
        self.points.get(index).map(|(point, _)| point.cut())
    }

    /// The joint bound of the rectangles, and which rectangle gives it: the median for multi-split, else the largest.
    fn read(&self, method: &'static str, value: impl Fn(&Rectangle) -> f64) -> (LowerBound, usize) {
        let mut values: Vec<(f64, usize)> =
            self.points.iter().enumerate().map(|(index, (_, rectangle))| (value(rectangle), index)).collect();
        // In decreasing order; the first one in a tie has the highest threshold.
        order::sort(&mut values, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let rank = if self.selection == ThresholdSelection::MultiSplit { values.len() / 2 } else { 0 };
        let (value, index) = values.get(rank).copied().unwrap_or((0.0, 0));
        let (method, validity) = match self.selection {
            ThresholdSelection::Naive => (method, Validity::Heuristic),
            ThresholdSelection::Uniform if method == "clopper-pearson" => ("uniform-band", Validity::FiniteSample),
            ThresholdSelection::Explicit(_)
            | ThresholdSelection::Split
            | ThresholdSelection::MultiSplit
            | ThresholdSelection::Uniform => (method, Validity::FiniteSample),
        };
        (LowerBound::new(value, self.failure, method, validity), index)
    }
}

/// μ if members are called members more often, as declared.
fn declared_mu(rectangle: &Rectangle) -> f64 {
    rectangle.gdp().value
}

/// How many simulated audits without any leakage claim ε > 0 under a practice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FalseClaims {
    /// Number of audits with a bound above 0.
    pub claims: u64,
    /// Number of audits.
    pub repetitions: u64,
}

impl FalseClaims {
    /// The share.
    #[must_use]
    pub fn rate(self) -> f64 {
        self.claims as f64 / self.repetitions.max(1) as f64
    }
}

/// How often the best threshold on the same scores (`naive`) claims ε > 0 at `delta` when members and others have the
/// same distribution: `repetitions` simulated audits with the same numbers of canaries and uniform scores. Any
/// continuous distribution gives the same result, because only ranks matter.
///
/// The result is the same on any number of threads. Time grows with the number of canaries: a millisecond for 10,000.
///
/// # Errors
/// As [`audit_scores`].
pub fn best_threshold_false_claims(
    [members, others]: [usize; 2],
    delta: Delta,
    failure: FailureProbability,
    repetitions: u64,
    seed: u64,
) -> Result<FalseClaims> {
    let one = |repetition: u64| -> Result<u64> {
        let mut stream = ChaCha8Rng::seed_from_u64(seed);
        stream.set_stream(repetition);
        let mut draw = |size: usize| (0..size).map(|_| stream.random::<f64>()).collect::<Vec<_>>();
        let scores = CanaryScores::new(draw(members), draw(others))?;
        let evidence = audit_scores(&scores, ThresholdSelection::Naive, delta, failure, 0)?;
        let claims = Direction::BOTH.iter().any(|&direction| evidence.epsilon(delta, direction).value > 0.0);
        Ok(u64::from(claims))
    };
    let claims = parallel::try_map(0..repetitions, one)?.into_iter().sum();
    Ok(FalseClaims { claims, repetitions })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::tests::failure;
    use rand_distr::{Distribution, StandardNormal};

    const VALID: [ThresholdSelection; 4] = [
        ThresholdSelection::Explicit(0.5),
        ThresholdSelection::Split,
        ThresholdSelection::MultiSplit,
        ThresholdSelection::Uniform,
    ];

    fn normal(sizes: [usize; 2], shift: f64, stream: &mut ChaCha8Rng) -> CanaryScores {
        let mut draw = |size, shift| -> Vec<f64> {
            let draws = StandardNormal.sample_iter(&mut *stream).take(size);
            draws.map(|z: f64| z + shift).collect()
        };
        let members = draw(sizes[0], shift);
        CanaryScores::new(members, draw(sizes[1], 0.0)).unwrap()
    }

    /// Equal distributions: claims of ε > 0, of μ > 0 or of δ > 0 at ε = 0 in at most 10% of audits, plus five standard
    /// errors (a correct program fails with probability below 1e-5); the naive practice exceeds this.
    #[test]
    fn valid_selections_rarely_claim_leakage_of_equal_distributions() {
        const AUDITS: u64 = 300;
        const FAILURE: f64 = 0.1;
        let delta = Delta::new(0.0).unwrap();
        let mut stream = ChaCha8Rng::seed_from_u64(12);
        let mut claims = [0u64; 5];
        for audit in 0..AUDITS {
            let scores = normal([100, 80], 0.0, &mut stream);
            for (claims, selection) in claims.iter_mut().zip(VALID.into_iter().chain([ThresholdSelection::Naive])) {
                let evidence = audit_scores(&scores, selection, delta, failure(FAILURE), audit).unwrap();
                let bounds = Direction::BOTH.map(|direction| {
                    evidence.epsilon(delta, direction).value.max(evidence.delta(Epsilon::ZERO, direction).value)
                });
                *claims += u64::from(bounds[0].max(bounds[1]).max(evidence.gdp().value) > 0.0);
            }
        }
        println!("{claims:?} of {AUDITS}");
        let most = AUDITS as f64 * FAILURE + 5.0 * (AUDITS as f64 * FAILURE * (1.0 - FAILURE)).sqrt();
        assert!(claims[..4].iter().all(|&claims| (claims as f64) < most));
        assert!(claims[4] > claims[..4].iter().copied().max().unwrap());
    }

    /// A shift of 2: μ = 2. Every bound stays below the truth here (fixed seed; each fails with probability 1e-3) and
    /// finds more than half of it.
    #[test]
    fn a_shift_of_normal_scores_is_found() {
        let delta = Delta::new(1e-2).unwrap();
        let truth = crate::divergence::gdp_epsilon(2.0, delta).unwrap().get();
        let scores = normal([1000, 1000], 2.0, &mut ChaCha8Rng::seed_from_u64(5));
        for selection in VALID {
            let evidence = audit_scores(&scores, selection, delta, failure(1e-3), 1).unwrap();
            let [mu, implied] = evidence.gdp_epsilon(delta).unwrap();
            let epsilon = Direction::BOTH.map(|direction| evidence.epsilon(delta, direction).value);
            println!("{} {epsilon:?} {} {}", selection.name(), mu.value, implied.value);
            assert!(mu.value > 1.0 && mu.value < 2.0 && implied.validity == Validity::Heuristic);
            assert!(epsilon[0].max(epsilon[1]) < truth && epsilon[0].max(epsilon[1]) > 0.25 * truth);
            assert_eq!(mu, evidence.gdp());
        }
    }

    #[test]
    fn extremes_are_numbers() {
        let one = CanaryScores::new(vec![f64::INFINITY], vec![f64::NEG_INFINITY]).unwrap();
        let equal = CanaryScores::new(vec![1.0; 50], vec![1.0; 3]).unwrap();
        for scores in [one, equal] {
            for selection in [ThresholdSelection::Explicit(1.0), ThresholdSelection::Uniform, ThresholdSelection::Naive]
            {
                for f in [1e-300, 0.05, 0.999] {
                    for delta in [0.0, 0.999].map(|delta| Delta::new(delta).unwrap()) {
                        let evidence = audit_scores(&scores, selection, delta, failure(f), 0).unwrap();
                        let [mu, epsilon] = evidence.gdp_epsilon(delta).unwrap();
                        for bound in [mu, epsilon, evidence.epsilon(delta, Direction::Reverse)] {
                            assert!(bound.value >= 0.0, "{selection:?} {f} {bound:?}");
                        }
                    }
                }
            }
        }
        let nan = audit_scores(
            &CanaryScores::new(vec![1.0], vec![1.0]).unwrap(),
            ThresholdSelection::Explicit(f64::NAN),
            Delta::new(0.0).unwrap(),
            failure(0.05),
            0,
        );
        assert!(nan.is_err());
    }

    #[test]
    fn the_practice_of_the_best_threshold_is_measured() {
        let delta = Delta::new(0.0).unwrap();
        let measured = best_threshold_false_claims([500, 500], delta, failure(0.05), 200, 3).unwrap();
        println!("{}", measured.rate());
        assert_eq!(measured, best_threshold_false_claims([500, 500], delta, failure(0.05), 200, 3).unwrap());
        assert!(measured.rate() > 0.05);
        assert_eq!(best_threshold_false_claims([1, 1], delta, failure(0.05), 0, 3).unwrap().rate(), 0.0);
    }

    /// A threshold chosen on the bounded scores claims leakage of equal distributions too often, but not always.
    #[test]
    fn the_naive_practice_is_wrong_in_some_audits_and_right_in_others() {
        let found = best_threshold_false_claims([60, 60], Delta::new(0.0).unwrap(), failure(0.05), 200, 3).unwrap();
        assert_eq!(found.repetitions, 200);
        assert!((1..60).contains(&found.claims), "{found:?}");
    }
}
