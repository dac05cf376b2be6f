//! Defenses against membership inference side by side: what they hide on average, and what the most vulnerable samples
//! still show.

use super::attack::Attack;
use super::defense_findings::{FindingRow, findings};
use super::defense_rows::{AccuracySpread, AttackRole, BandedRate, DefenseEvaluation, DefenseRoc, DefenseRow};
use super::measures::Measures;
use super::recorded::{LooksAt, RecordedAnswers};
use super::rows::RocCurve;
use super::warnings::{of_all, undecided};
use crate::error::{Error, Result};
use crate::membership::{
    CanaryKind, DefenseAttack, DefenseFamily, LabelOnlyPlan, LiraPlan, LiraVariance, MembershipMetrics, MembershipPlan,
    ViewPairs,
};
use crate::study::progress::{Meter, Progress};
use crate::study::{Number, Study, Warning};
use serde::Serialize;

/// What do defenses leak on average, what do they leak about the most vulnerable samples to an attack adapted to them,
/// and do the published findings hold?
///
/// LiRA on the original samples is the usual evaluation in publications. The attack adapted to a defense, on canaries,
/// shows the exposure of the most vulnerable samples. Every model is a victim in turn, and the others are its shadow
/// models. Bands are percentiles over resampled victims ([`victim_bootstrap`](crate::membership::victim_bootstrap)),
/// widened to the Clopper-Pearson limits of the same rule: if no victim finds a member, all resamples agree on a TPR of
/// 0, which is not evidence that it is 0. All attacks share the failure probability, so that the bands at one FPR are
/// meant to hold simultaneously, also for whatever looks best.
///
/// # References
/// Aerni, Zhang and Tramèr (2024), "Evaluations of machine learning privacy defenses are misleading", sections 4 and 5,
/// table 1, figures 1, 5 and 7.
#[derive(Clone)]
pub struct DefenseStudy<'a> {
    /// The defenses, under different names.
    pub defenses: Vec<StudiedDefense<'a>>,
    /// Where LiRA takes its variances from; pooled for few models.
    pub variance: LiraVariance,
    /// What is measured: at least one FPR, and resamples; without resamples nothing is decided.
    pub measures: Measures,
}

impl<'a> DefenseStudy<'a> {
    /// With pooled variances and the usual measures.
    #[must_use]
    pub fn new(defenses: Vec<StudiedDefense<'a>>) -> Self {
        Self { defenses, variance: LiraVariance::Pooled, measures: Measures::default() }
    }
}

/// A defense and its recordings.
#[derive(Clone)]
pub struct StudiedDefense<'a> {
    /// Its name.
    pub name: String,
    /// Which it is.
    pub family: DefenseFamily,
    /// The attack that is adapted to it.
    pub attack: DefenseAttack,
    /// What was recorded: each kind of canary once, including the original samples. The first kind that is not
    /// [`CanaryKind::Original`] represents the most vulnerable samples.
    pub recordings: Vec<StudiedRecording<'a>>,
}

/// Answers of the shadow models of one defense on one kind of canary.
#[derive(Clone)]
pub struct StudiedRecording<'a> {
    /// What was audited.
    pub canaries: CanaryKind,
    /// The answers of the whole defense.
    pub answers: RecordedAnswers<'a>,
    /// The answers without what the defense does at test time, if they differ.
    pub training_time: Option<RecordedAnswers<'a>>,
    /// The answers of SELENA's Split-AI, and those at the nearest neighbors of the samples, if recorded.
    pub split_ai: Option<RecordedAnswers<'a>>,
    /// \[model\]: share of the test images that it classifies correctly, if known.
    pub test_accuracy: Option<Vec<f64>>,
}

/// The answer of a [`DefenseStudy`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DefensesAnswer {
    /// A row for each defense.
    pub defenses: Vec<DefenseRow>,
    /// Published findings that the recordings can decide.
    pub findings: Vec<FindingRow>,
    /// Every attack on every kind of canary.
    pub evaluations: Vec<DefenseEvaluation>,
    /// Their ROCs, thinned out.
    pub roc: Vec<DefenseRoc>,
    /// The nominal probability that some band at an FPR misses.
    pub failure_probability: f64,
    /// The seed of the bootstrap and of the training.
    #[serde(skip)]
    pub seed: u64,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

answer!(DefensesAnswer, "leakbound.membership-defenses/1", warnings, seed);

impl Study for DefenseStudy<'_> {
    type Answer = DefensesAnswer;

    /// # Errors
    /// [`Error::Length`] without defenses, FPRs or resamples; [`Error::Rejected`] with the name of the defense if an
    /// attack cannot use its recording; those of [`membership_metrics`](crate::membership::membership_metrics), and
    /// errors in reading the answers.
    fn run(&self, progress: &Progress<'_>) -> Result<DefensesAnswer> {
        self.check()?;
        let attacks = self.attacks();
        let meter = Meter::new(progress, attacks.len() as u64, "attacks");
        let plan = MembershipPlan { attacks: attacks.len(), ..self.measures.plan.clone() };
        let measures = Measures { plan, ..self.measures.clone() };
        let (mut evaluations, mut roc) = (Vec::new(), Vec::new());
        let (mut found, mut warnings) = (Vec::new(), Vec::new());
        for attack in &attacks {
            let (metrics, more) = attack.run(&measures, &meter)?;
            warnings.extend(more);
            evaluations.push(attack.row(&metrics));
            roc.push(DefenseRoc {
                defense: attack.defense.name.clone(),
                canaries: attack.recording.canaries,
                role: attack.role,
                curve: RocCurve::new(&attack.attack.name(), &metrics),
            });
            found.push((attack.words(), metrics));
            meter.add(1)?;
        }
        // Those about the number of models or views are the same for many attacks.
        let mut said: Vec<Warning> = Vec::new();
        for warning in warnings {
            if !said.contains(&warning) {
                said.push(warning);
            }
        }
        said.extend(of_all(&found));
        let defenses: Vec<DefenseRow> = self.defenses.iter().map(|defense| row(defense, &evaluations)).collect();
        Ok(DefensesAnswer {
            findings: findings(&defenses, &evaluations),
            defenses,
            evaluations,
            roc,
            failure_probability: self.measures.plan.failure.get(),
            seed: self.measures.plan.seed,
            warnings: said,
        })
    }
}

impl<'r> DefenseStudy<'r> {
    fn check(&self) -> Result<()> {
        let plan = &self.measures.plan;
        let counts = [
            ("defenses", self.defenses.len()),
            ("false-positive rates", plan.fprs.len()),
            ("resamples of the victims", plan.resamples.unwrap_or(0)),
        ];
        match counts.into_iter().find(|&(_, count)| count == 0) {
            Some((quantity, found)) => Err(Error::Length { quantity, found, expected: "at least 1".into() }),
            None => Ok(()),
        }
    }

    /// Every attack on every recording, in the order of the rows.
    fn attacks(&self) -> Vec<StudiedAttack<'_, 'r>> {
        let mut attacks = Vec::new();
        for defense in &self.defenses {
            for recording in &defense.recordings {
                attacks.extend(self.attacks_on(defense, recording));
            }
        }
        attacks
    }

    fn attacks_on<'a>(
        &'a self,
        defense: &'a StudiedDefense<'r>,
        recording: &'a StudiedRecording<'r>,
    ) -> impl Iterator<Item = StudiedAttack<'a, 'r>> {
        let attack = |role, answers, attack| StudiedAttack { defense, recording, role, answers, attack };
        let lira = |role, answers| attack(role, answers, self.attack(DefenseAttack::Lira));
        let whole = recording.answers.has(LooksAt::Sample).then(|| lira(AttackRole::Lira, recording.answers));
        let adaptive = (defense.attack != DefenseAttack::Lira)
            .then(|| attack(AttackRole::Adaptive, recording.answers, self.attack(defense.attack)));
        let training_time = recording.training_time.map(|answers| lira(AttackRole::TrainingTime, answers));
        let split_ai = recording.split_ai.map(|answers| lira(AttackRole::SplitAi, answers));
        let neighbors = recording.split_ai.filter(|answers| answers.has(LooksAt::Neighbor));
        let neighbors = neighbors
            .map(|answers| attack(AttackRole::SplitAiNeighbor, answers, self.attack(DefenseAttack::NeighborLira)));
        [whole, adaptive, training_time, split_ai, neighbors].into_iter().flatten()
    }

    /// The attack with the defaults of its command.
    fn attack(&self, attack: DefenseAttack) -> Attack {
        let plan = || LiraPlan { variance: self.variance, ..LiraPlan::default() };
        let lira = || Attack::lira(plan(), None);
        // Studies may have few models.
        let label_only = || Attack::new(LabelOnlyPlan { balanced: true, ..LabelOnlyPlan::default() });
        match attack {
            DefenseAttack::Lira => lira(),
            DefenseAttack::LabelOnly => label_only(),
            DefenseAttack::EncoderLira => lira().on_encoder(ViewPairs::All),
            DefenseAttack::NeighborLira => lira().at_neighbors(),
            DefenseAttack::NeighborLabelOnly => label_only().at_neighbors(),
        }
    }
}

/// One attack of the study.
struct StudiedAttack<'a, 'r> {
    defense: &'a StudiedDefense<'r>,
    recording: &'a StudiedRecording<'r>,
    role: AttackRole,
    answers: RecordedAnswers<'r>,
    attack: Attack,
}

impl StudiedAttack<'_, '_> {
    /// Its name in warnings.
    fn words(&self) -> String {
        let (attack, part) = (self.attack.name(), self.role.part());
        format!("{attack}{part} on {} {}", self.defense.name, self.recording.canaries)
    }

    fn run(&self, measures: &Measures, meter: &Meter<'_>) -> Result<(MembershipMetrics, Vec<Warning>)> {
        // Attacks are counted; they can end between samples.
        let watch = |_| meter.add(0);
        let answers = self.answers;
        let named = |error| named(error, &self.defense.name, self.recording.canaries);
        let guesses = self.attack.check_fed(answers).and_then(|()| self.attack.run(answers, &watch)).map_err(named)?;
        let models = answers.members().nrows();
        let right = answers.right(&(0..models).collect::<Vec<_>>(), &watch)?;
        let warnings = undecided(&guesses, Some(&self.words())).into_iter();
        let warnings = warnings.chain(self.attack.warning(answers));
        let metrics = measures.metrics(&guesses, answers.labels(), right.as_ref()).map_err(named)?;
        Ok((metrics, warnings.collect()))
    }

    fn row(&self, metrics: &MembershipMetrics) -> DefenseEvaluation {
        let population = metrics.levels.first();
        let bands = metrics.bootstrap.as_ref();
        let rates = population.into_iter().flat_map(|level| level.at.iter().enumerate()).map(|(place, at)| {
            let band = bands.and_then(|bands| bands.tpr.get(place));
            // Without a second victim nothing is known about how they differ.
            let (lower, upper) = band.map_or((0.0, 1.0), |band| (band.lower, band.upper));
            BandedRate {
                fpr: at.target.get(),
                tpr: at.tpr_estimate(),
                lower: Number(lower.min(at.tpr.lower)),
                upper: Number(upper.max(at.tpr.upper)),
            }
        });
        let auc = bands.map_or([0.0, 1.0], |bands| [bands.auc.lower, bands.auc.upper]);
        DefenseEvaluation {
            defense: self.defense.name.clone(),
            family: self.defense.family,
            canaries: self.recording.canaries,
            role: self.role,
            attack: self.attack.name(),
            victims: metrics.victims,
            samples: self.answers.members().ncols(),
            views: self.answers.views(self.attack.looks_at()),
            auc: population.map_or(f64::NAN, |level| level.auc),
            auc_bootstrap: auc.map(Number),
            at: rates.collect(),
        }
    }
}

/// The same error, with what could not be attacked.
fn named(error: Error, defense: &str, canaries: CanaryKind) -> Error {
    let Error::Rejected { operation, reason } = error else { return error };
    Error::Rejected { operation, reason: format!("{defense}, {canaries} samples: {reason}") }
}

/// The line of table 1.
fn row(defense: &StudiedDefense<'_>, evaluations: &[DefenseEvaluation]) -> DefenseRow {
    let original = |recording: &&StudiedRecording<'_>| recording.canaries == CanaryKind::Original;
    let recordings = || defense.recordings.iter();
    let canaries = recordings().map(|recording| recording.canaries).find(|&kind| kind != CanaryKind::Original);
    let accuracy = recordings()
        .filter(original)
        .chain(recordings())
        .find_map(|recording| recording.test_accuracy.as_deref().and_then(AccuracySpread::of));
    let rates = |canaries: Option<CanaryKind>, role: AttackRole| {
        let found = canaries.and_then(|canaries| DefenseEvaluation::find(evaluations, &defense.name, canaries, role));
        found.map_or_else(Vec::new, |found| found.at.clone())
    };
    DefenseRow {
        defense: defense.name.clone(),
        family: defense.family,
        attack: defense.attack,
        canaries,
        test_accuracy: accuracy,
        original: rates(Some(CanaryKind::Original), AttackRole::Lira),
        adaptive: rates(Some(CanaryKind::Original), AttackRole::Adaptive),
        ours: rates(canaries, AttackRole::Adaptive),
    }
}
