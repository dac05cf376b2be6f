//! Mechanisms of label privacy side by side: accuracy, what is claimed, and what memorized labels show.

use super::bounds::usual_failure;
use super::membership::{AccuracySpread, Decision};
use super::number::{Number, short, significant};
use super::progress::{Meter, Progress};
use super::{Claim, Study, Warning};
use crate::bound::AtLeast;
use crate::error::{Error, Result};
use crate::label_dp::{AntipodesInterval, LabelFamily, LabelThreshold, audit_labels};
use crate::quantity::{Delta, Epsilon, FailureProbability};
use crate::record::LabelRecording;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Accuracies this close are the same utility.
const SAME_UTILITY: f64 = 0.02;
/// By how much FixMatch should improve on its labels alone.
const GAIN: f64 = 0.05;

/// How accurate are models with private labels, what is claimed, and what do memorized labels show?
///
/// # References
/// Malek Esmaeili et al. (2021), "Antipodes of label differential privacy: PATE and ALIBI", sections 6 and 7, tables 1 and
/// 2; Ghazi et al. (2021), "Deep learning with label differential privacy", section 5.
#[derive(Debug, Clone)]
pub struct LabelComparisonStudy {
    /// At least one recording, under different names.
    pub recordings: Vec<StudiedLabels>,
    /// The failure probability of all bounds together, and of each band of accuracies.
    pub failure_probability: FailureProbability,
    /// The seed of the random splits.
    pub seed: u64,
}

impl LabelComparisonStudy {
    /// With a failure probability of 0.05.
    #[must_use]
    pub fn new(recordings: Vec<StudiedLabels>) -> Self {
        Self { recordings, failure_probability: usual_failure(), seed: 0 }
    }
}

/// A recording of one mechanism at one ε.
#[derive(Debug, Clone)]
pub struct StudiedLabels {
    /// Its name.
    pub name: String,
    /// The mechanism.
    pub family: LabelFamily,
    /// What was recorded.
    pub recording: LabelRecording,
}

/// The mean accuracy of models, with a band for that of others trained in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BandedAccuracy {
    /// Models.
    pub models: usize,
    /// Mean.
    pub mean: f64,
    /// Student's t interval of the mean over models within \[0, 1\], as if their accuracies were normal; absent for one
    /// model.
    pub band: Option<[f64; 2]>,
}

/// The mean gain of accuracy over models, each compared with the network trained on its labels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BandedGain {
    /// Mean, in \[-1, 1\].
    pub mean: f64,
    /// Student's t interval of the mean of the differences, as if they were normal; absent for one model.
    pub band: Option<[f64; 2]>,
}

/// One line of table 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabelMechanismRow {
    /// The name.
    pub name: String,
    /// The mechanism.
    pub family: LabelFamily,
    /// Accuracy on test images.
    pub accuracy: BandedAccuracy,
    /// That of networks with the same labels and no other images.
    pub supervised: Option<BandedAccuracy>,
    /// How much more accurate models are than those networks.
    pub gain: Option<BandedGain>,
    /// The ε that is claimed.
    pub epsilon: Number,
    /// Its δ.
    pub delta: f64,
    /// Canaries.
    pub canaries: u64,
    /// The lower bound of ε at this δ, which holds.
    pub epsilon_lower: Number,
    /// The interval of ε as published, a heuristic.
    pub published: [Number; 2],
}

/// What was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LabelFinding {
    /// ALIBI is more accurate than LP-2ST at the same ε (Malek Esmaeili et al., table 2).
    AlibiBeforeStages,
    /// LP-2ST is more accurate than randomized response at the same ε (Ghazi et al., table 1).
    StagesBeforeResponse,
    /// ALIBI shows more of its labels than PATE-FM of the same accuracy (Malek Esmaeili et al., table 1).
    AlibiShowsMore,
    /// A student of PATE-FM is more accurate than a network with its labels alone, here by 5% of the images: decided by
    /// the band of the gain.
    UnlabeledImagesHelp,
}

/// A finding compared with two recordings.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabelFindingRow {
    /// The finding.
    pub finding: LabelFinding,
    /// What should be larger.
    pub larger: String,
    /// Its band.
    pub larger_band: [Number; 2],
    /// What should be smaller.
    pub smaller: String,
    /// Its band.
    pub smaller_band: [Number; 2],
    /// What the bands show.
    pub decision: Decision,
}

/// The answer of a [`LabelComparisonStudy`].
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabelComparisonAnswer {
    /// A row for each recording.
    pub mechanisms: Vec<LabelMechanismRow>,
    /// Published findings that the recordings can decide.
    pub findings: Vec<LabelFindingRow>,
    /// The claims of the recordings.
    pub claims: Vec<Claim>,
    /// The failure probability of all bounds together, and of each band.
    pub failure_probability: f64,
    /// The seed of the splits.
    #[serde(skip)]
    pub seed: u64,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

answer!(LabelComparisonAnswer, "leakbound.label-dp-compare/1", claims, warnings, seed);

impl Study for LabelComparisonStudy {
    type Answer = LabelComparisonAnswer;

    /// # Errors
    /// [`Error::Length`] without a recording, and for a number of supervised accuracies that is neither 0 nor that of
    /// models; those of [`audit_labels`] and [`AntipodesInterval::of_canaries`].
    fn run(&self, progress: &Progress<'_>) -> Result<LabelComparisonAnswer> {
        Error::check_length(!self.recordings.is_empty(), "recordings", 0, "at least 1")?;
        let meter = Meter::new(progress, self.recordings.len() as u64, "recordings");
        let (mut mechanisms, mut claims) = (Vec::new(), Vec::new());
        for studied in &self.recordings {
            let row = self.row(studied)?;
            claims.extend(self.claim(studied, &row));
            mechanisms.push(row);
            meter.add(1)?;
        }
        let mut warnings = vec![Warning {
            code: "antipodes-heuristic",
            message: "the published intervals take the best of seven thresholds on the same canaries and a normal \
                      distribution"
                .into(),
            hint: "only the column of the bound is guaranteed".into(),
        }];
        if mechanisms.iter().any(|row| row.accuracy.models == 1) {
            warnings.push(Warning {
                code: "one-model",
                message: "a recording of one model does not show how accuracy varies".into(),
                hint: "train several models, or make several runs of pate-fm".into(),
            });
        }
        Ok(LabelComparisonAnswer {
            findings: findings(&mechanisms),
            mechanisms,
            claims,
            failure_probability: self.failure_probability.get(),
            seed: self.seed,
            warnings,
        })
    }
}

impl LabelComparisonStudy {
    fn row(&self, studied: &StudiedLabels) -> Result<LabelMechanismRow> {
        let StudiedLabels { name, family, recording } = studied;
        let canaries = &recording.canaries;
        let audit = audit_labels(canaries, LabelThreshold::Split, recording.delta, self.share(), self.seed)?;
        let published = AntipodesInterval::of_canaries(canaries)?;
        let banded = |accuracies: &[f64]| BandedAccuracy::of(accuracies, self.failure_probability);
        let accuracy = banded(&recording.test_accuracy).ok_or(Error::Length {
            quantity: "test accuracies",
            found: 0,
            expected: "at least 1".into(),
        })?;
        let alone = &recording.supervised_accuracy;
        if !alone.is_empty() && alone.len() != accuracy.models {
            let expected = format!("one for each of {} models, or none", accuracy.models);
            return Err(Error::Length { quantity: "supervised accuracies", found: alone.len(), expected });
        }
        let pairs = recording.test_accuracy.iter().zip(alone);
        let differences: Vec<f64> = pairs.map(|(student, supervised)| student - supervised).collect();
        Ok(LabelMechanismRow {
            name: name.clone(),
            family: *family,
            accuracy,
            supervised: banded(alone),
            gain: BandedGain::of(&differences, self.failure_probability),
            epsilon: Number(recording.epsilon.get()),
            delta: recording.delta.get(),
            canaries: canaries.len() as u64,
            epsilon_lower: Number(audit.epsilon.value),
            published: [published.lower, published.upper].map(Number),
        })
    }

    /// What each bound may spend, so that all hold together.
    fn share(&self) -> FailureProbability {
        self.failure_probability.split(self.recordings.len())
    }

    /// A claim about one model is a claim about all models together, for each canary.
    fn claim(&self, studied: &StudiedLabels, row: &LabelMechanismRow) -> Option<Claim> {
        let (epsilon, delta): (Epsilon, Delta) = (studied.recording.epsilon, studied.recording.delta);
        (epsilon != Epsilon::INFINITE).then(|| {
            // Computed from the noise, and shown as in the table.
            let claim = format!("ε ≤ {} at δ = {} ({})", significant(epsilon.get(), 4), short(delta.get()), row.family);
            let lower = (String::new(), AtLeast::new(row.epsilon_lower.0));
            Claim::tested((claim, epsilon.into()), lower, self.share().get())
        })
    }
}

impl BandedAccuracy {
    /// Mean and Student's t interval; nothing without a model.
    fn of(accuracies: &[f64], failure: FailureProbability) -> Option<Self> {
        let spread = AccuracySpread::of(accuracies)?;
        let band = band_of_mean(spread, failure).map(|[lower, upper]| [lower.max(0.0), upper.min(1.0)]);
        Some(Self { models: spread.models, mean: spread.mean, band })
    }

    /// The band; for one model, everything.
    fn band(&self) -> [f64; 2] {
        self.band.unwrap_or([f64::NEG_INFINITY, f64::INFINITY])
    }

    fn is_near(&self, other: &Self) -> bool {
        (self.mean - other.mean).abs() <= SAME_UTILITY
    }
}

impl BandedGain {
    /// As [`BandedAccuracy::of`], for differences.
    fn of(differences: &[f64], failure: FailureProbability) -> Option<Self> {
        let spread = AccuracySpread::of(differences)?;
        Some(Self { mean: spread.mean, band: band_of_mean(spread, failure) })
    }
}

/// Student's t interval of a mean; nothing for one model.
fn band_of_mean(
    AccuracySpread { models, mean, deviation }: AccuracySpread,
    failure: FailureProbability,
) -> Option<[f64; 2]> {
    let quantile = || StudentsT::new(0.0, 1.0, models as f64 - 1.0).map(|t| t.inverse_cdf(1.0 - failure.get() / 2.0));
    let half = || quantile().map_or(f64::INFINITY, |quantile| quantile * deviation / (models as f64).sqrt());
    (models > 1).then(half).map(|half| [mean - half, mean + half])
}

impl LabelMechanismRow {
    /// Whether the same ε is claimed: that of a scale may differ in its last digits.
    fn has_epsilon_of(&self, other: &Self) -> bool {
        let [first, second] = [self, other].map(|row| row.epsilon.0);
        first == second || (first / second - 1.0).abs() < 1e-9
    }
}

/// All findings that these recordings can decide.
fn findings(rows: &[LabelMechanismRow]) -> Vec<LabelFindingRow> {
    let of = |family: LabelFamily| rows.iter().filter(move |row| row.family == family);
    let mut all = Vec::new();
    let at_one_epsilon = |larger: LabelFamily, smaller: LabelFamily| {
        let pairs = of(larger).flat_map(move |first| of(smaller).map(move |second| (first, second)));
        pairs.filter(|(first, second)| first.has_epsilon_of(second))
    };
    let accuracy = |finding, (larger, smaller): (&LabelMechanismRow, &LabelMechanismRow)| {
        finding_row(
            finding,
            (larger.name.clone(), larger.accuracy.band()),
            (smaller.name.clone(), smaller.accuracy.band()),
        )
    };
    for (finding, larger, smaller) in [
        (LabelFinding::AlibiBeforeStages, LabelFamily::Alibi, LabelFamily::Lp2st),
        (LabelFinding::StagesBeforeResponse, LabelFamily::Lp2st, LabelFamily::RandomizedResponse),
    ] {
        all.extend(at_one_epsilon(larger, smaller).map(|pair| accuracy(finding, pair)));
    }
    for student in of(LabelFamily::PateFm) {
        for alibi in of(LabelFamily::Alibi).filter(|alibi| alibi.accuracy.is_near(&student.accuracy)) {
            let memorized = |row: &LabelMechanismRow| (row.name.clone(), row.published.map(|end| end.0));
            all.push(finding_row(LabelFinding::AlibiShowsMore, memorized(alibi), memorized(student)));
        }
        if let Some(gain) = student.gain {
            // One model shows nothing.
            let band = gain.band.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
            let gained = (format!("gain of {}", student.name), band);
            all.push(finding_row(LabelFinding::UnlabeledImagesHelp, gained, ("margin".into(), [GAIN; 2])));
        }
    }
    all
}

fn finding_row(
    finding: LabelFinding,
    (larger, larger_band): (String, [f64; 2]),
    (smaller, smaller_band): (String, [f64; 2]),
) -> LabelFindingRow {
    let decision = Decision::of(larger_band, smaller_band);
    let [larger_band, smaller_band] = [larger_band, smaller_band].map(|band| band.map(Number));
    LabelFindingRow { finding, larger, larger_band, smaller, smaller_band, decision }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label_dp::LabelCanaries;
    use crate::study::unwatched;
    use ndarray::Array2;

    /// Models that know a share of 200 wrong labels.
    fn studied(name: &str, known: f64, accuracy: &[f64], epsilon: f64) -> StudiedLabels {
        let sure = (200.0 * known) as usize;
        let probabilities = Array2::from_shape_fn((200, 3), |(canary, class)| match (canary < sure, class) {
            (true, 1) | (false, 2) => 0.9,
            _ => 0.05,
        });
        let family = LabelFamily::of_name(name);
        StudiedLabels {
            name: format!("{name} {epsilon:.1}"),
            family,
            recording: LabelRecording {
                canaries: LabelCanaries::new(probabilities, vec![0; 200], vec![1; 200]).unwrap(),
                test_accuracy: accuracy.to_vec(),
                supervised_accuracy: if family == LabelFamily::PateFm { vec![0.7, 0.71] } else { Vec::new() },
                epsilon: Epsilon::new(epsilon).unwrap(),
                delta: Delta::new(0.0).unwrap(),
            },
        }
    }

    fn run(recordings: Vec<StudiedLabels>) -> LabelComparisonAnswer {
        let failure_probability = FailureProbability::new(0.05).unwrap();
        LabelComparisonStudy { recordings, failure_probability, seed: 1 }.run(&unwatched).unwrap()
    }

    #[test]
    fn findings_are_decided_by_bands() {
        let answer = run(vec![
            studied("alibi", 1.0, &[0.8, 0.81, 0.8], 2.0f64.next_down()),
            studied("lp-2st", 0.9, &[0.7, 0.71, 0.7], 2.0),
            studied("randomized-response", 0.9, &[0.7, 0.72, 0.69], 2.0),
            studied("pate-fm", 0.5, &[0.8, 0.81], 5.0),
        ]);
        let decided: Vec<_> = answer.findings.iter().map(|row| (row.finding, row.decision)).collect();
        assert_eq!(
            decided,
            [
                (LabelFinding::AlibiBeforeStages, Decision::Agrees),
                (LabelFinding::StagesBeforeResponse, Decision::Undecided),
                (LabelFinding::AlibiShowsMore, Decision::Agrees),
                (LabelFinding::UnlabeledImagesHelp, Decision::Agrees),
            ]
        );
        // Who knows all of 100 labels refutes ε = 2: ln(c/(1-c)) with c = f^(1/100), f a quarter of 0.05.
        let c = 0.0125f64.powf(0.01);
        assert!((answer.mechanisms[0].epsilon_lower.0 - (c / (1.0 - c)).ln()).abs() < 1e-6);
        assert!(answer.claims[0].refuted && answer.claims[0].failure_probability == 0.0125);
        assert!(!answer.claims[3].refuted && answer.claims.len() == 4);
    }

    /// Of two models the t quantile has one degree of freedom: tan(π (1 - f)/2) = 12.7062.
    #[test]
    fn bands_are_those_of_student() {
        let banded = BandedAccuracy::of(&[0.79, 0.81], FailureProbability::new(0.05).unwrap()).unwrap();
        let [lower, upper] = banded.band.unwrap();
        assert!(
            (lower - (0.8 - 0.127_062)).abs() < 1e-6 && (upper - (0.8 + 0.127_062)).abs() < 1e-6,
            "{lower} {upper}"
        );
        // Runs differ by as much, and the gain hardly: it is that of pairs.
        let paired = run(vec![studied("pate-fm", 0.5, &[0.8, 0.812], 5.0)]);
        let gain = paired.mechanisms[0].gain.unwrap();
        let [lower, upper] = gain.band.unwrap();
        assert!((gain.mean - 0.101).abs() < 1e-9 && (upper - lower - 2.0 * 0.012_706_2).abs() < 1e-6, "{gain:?}");
        assert_eq!(paired.findings[0].decision, Decision::Agrees);
        let smaller = run(vec![studied("pate-fm", 0.5, &[0.72, 0.731], 5.0)]);
        assert_eq!(smaller.findings[0].decision, Decision::Differs);
        // Without a partner for each there are no pairs.
        let recordings = vec![studied("pate-fm", 0.5, &[0.8, 0.81, 0.8], 5.0)];
        let failure_probability = FailureProbability::new(0.05).unwrap();
        let unpaired = LabelComparisonStudy { recordings, failure_probability, seed: 1 }.run(&unwatched);
        assert_eq!(
            unpaired.unwrap_err().to_string(),
            "supervised accuracies has length 2; expected one for each of 3 models, or none"
        );
        let one =
            run(vec![studied("alibi", 1.0, &[0.9], f64::INFINITY), studied("lp-2st", 0.9, &[0.1], f64::INFINITY)]);
        assert_eq!(one.findings[0].decision, Decision::Undecided);
        assert!(one.claims.is_empty() && one.warnings.iter().any(|warning| warning.code == "one-model"));
    }
}
