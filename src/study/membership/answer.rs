//! What attacks show about the membership of samples.

use super::histogram::ScoreHistogram;
use super::rows::{CanaryRow, LevelRow, RocCurve, SampleCurve};
use super::warnings::of_all;
use crate::membership::MembershipMetrics;
use crate::study::{Answer, Warning};
use serde::Serialize;

/// The sizes of an attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VictimModels {
    /// Models that were attacked.
    pub victims: usize,
    /// Models, victims included.
    pub models: usize,
    /// Samples.
    pub samples: usize,
    /// Views of a sample.
    pub views: usize,
}

/// The answer of a [`MembershipStudy`](super::MembershipStudy) or of a [`ComparisonStudy`](super::ComparisonStudy).
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MembershipAnswer {
    /// The name of the JSON schema, which names the attack.
    #[serde(skip)]
    pub schema: &'static str,
    /// The attack, or the number of attacks compared, in words.
    #[serde(skip)]
    pub attack: String,
    /// The models and samples attacked.
    #[serde(skip)]
    pub models: VictimModels,
    /// The failure probability of the limits at each FPR, of all attacks together; none without an attack.
    #[serde(skip)]
    pub failure_probability: f64,
    /// Whether attacks share it, so that the best-looking one may be picked.
    #[serde(skip)]
    pub shared: bool,
    /// Attack by level: population, classes, top, most vulnerable sample.
    pub levels: Vec<LevelRow>,
    /// ROC of the population under each attack, thinned out, with limits.
    pub roc: Vec<RocCurve>,
    /// TPR of every single sample under each attack, the most vulnerable first.
    pub sample_level: Vec<SampleCurve>,
    /// Scores of the most vulnerable samples, as members and as non-members.
    pub score_histograms: Vec<ScoreHistogram>,
    /// Whether the samples are fit to measure with.
    pub canaries: Vec<CanaryRow>,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

impl MembershipAnswer {
    /// The answer from the metrics of attacks under their names; their warnings follow those given.
    pub fn new(
        schema: &'static str,
        attack: String,
        models: VictimModels,
        warnings: Vec<Warning>,
        attacks: &[(String, MembershipMetrics)],
    ) -> Self {
        let mut answer = Self {
            schema,
            attack,
            models,
            failure_probability: attacks.first().map_or(f64::NAN, |(_, metrics)| metrics.plan.failure.get()),
            shared: attacks.iter().any(|(_, metrics)| metrics.plan.attacks > 1),
            levels: Vec::new(),
            roc: Vec::new(),
            sample_level: Vec::new(),
            score_histograms: Vec::new(),
            canaries: Vec::new(),
            warnings,
        };
        for (attack, metrics) in attacks {
            answer.levels.extend(metrics.levels.iter().map(|level| LevelRow::new(attack, level, metrics)));
            answer.roc.push(RocCurve::new(attack, metrics));
            answer.sample_level.push(SampleCurve::new(attack, metrics));
            let shown = metrics.vulnerable_scores.iter();
            answer.score_histograms.extend(shown.map(|scores| ScoreHistogram::new(attack, scores)));
            answer.canaries.push(CanaryRow::new(attack, metrics));
        }
        answer.warnings.extend(of_all(attacks));
        answer
    }
}

impl Answer for MembershipAnswer {
    /// The schema of a comparison; a single attack has its own [`schema`](Answer::schema).
    const SCHEMA: &'static str = "leakbound.membership-compare/1";

    fn schema(&self) -> &'static str {
        self.schema
    }

    fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}
