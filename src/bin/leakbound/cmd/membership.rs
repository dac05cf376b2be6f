//! `leakbound membership`: an attack on recorded answers of shadow models, and what it shows.

use crate::args::{
    Common, LevelName, LiraOptions, MeasureOptions, MembershipCommand, ModeName, RecordingOptions, VarianceName,
    ViewsName,
};
use crate::output::{Output, envelope};
use leakbound::record::{ShadowArrays, ShadowRecording, read_shadow_arrays, read_shadow_models};
use leakbound::report::{MembershipDocument, Warning};
use leakbound::{
    AttackScores, Error, Guesses, InputError, Level, LiraMode, LiraPlan, LiraVariance, LiraViews, MembershipPlan,
    MembershipScore, Probability, Result, RmiaPlan, ScoredLogits, ShadowLogits, Victims, label_only, lira,
    membership_metrics, right_answers, risk_score, rmia, threshold_attack, trained_attacker,
};
use ndarray::{Array2, ArrayView2, Axis};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Runs an attack on recorded scores, or on those made of recorded logits.
macro_rules! with_scores {
    ($work:expr, $wanted:expr, $usual:expr, |$source:ident| $attack:expr) => {
        match &$work.recording {
            ShadowRecording::Logits(logits) => {
                let $source = &ScoredLogits::new(logits, $wanted.unwrap_or($usual));
                $attack
            }
            ShadowRecording::Scores(scores) => {
                refuse_score($wanted)?;
                let $source = scores;
                $attack
            }
        }
    };
}
pub fn run(common: &Common, command: &MembershipCommand) -> Result<bool> {
    use MembershipScore::{Confidence, Correct, Logit, Loss, ModifiedEntropy};
    match command {
        MembershipCommand::Lira(options) => {
            let plan = lira_plan(options);
            let work = Work::new(common, options, &options.recording, &options.measure, &options.victims.0)?;
            let score = options.score.map(|score| score.0);
            let guesses = with_scores!(work, score, Logit, |source| lira(source, &plan))?;
            work.finish("leakbound.membership-lira/1", &format!("LiRA, variant {}", plan.variant), guesses)
        }
        MembershipCommand::LabelOnly(options) => {
            let (victims, strength) = (&options.victims.0, options.strength);
            let work = Work::new(common, options, &options.recording, &options.measure, victims)?;
            let guesses = with_scores!(work, None, Correct, |source| label_only(source, strength, victims))?;
            work.finish("leakbound.membership-label-only/1", "label-only", guesses)
        }
        MembershipCommand::Threshold(options) => {
            let everyone = Victims::LeaveOneOut;
            let work = Work::new(common, options, &options.recording, &options.measure, &everyone)?;
            let score = options.score.map(|score| score.0);
            let scores = with_scores!(work, score, Loss, |source| threshold_attack(source))?;
            work.finish("leakbound.membership-threshold/1", "threshold", decided(scores))
        }
        MembershipCommand::Rmia(options) => {
            let victims = &options.victims.0;
            let work = Work::new(common, options, &options.recording, &options.measure, victims)?;
            let (mode, gamma, slope) = (mode(options.mode), options.gamma, options.slope);
            let plan = RmiaPlan { mode, gamma, slope, victims: victims.clone() };
            let guesses = with_scores!(work, None, Confidence, |source| rmia(source, &plan))?;
            work.finish("leakbound.membership-rmia/1", "RMIA", guesses)
        }
        MembershipCommand::Risk(options) => {
            let victims = &options.victims.0;
            let work = Work::new(common, options, &options.recording, &options.measure, victims)?;
            let score = options.score.map(|score| score.0);
            let labels = work.recording.labels();
            let guesses = with_scores!(work, score, ModifiedEntropy, |source| {
                risk_score(source, labels, options.bins, victims)
            })?;
            work.finish("leakbound.membership-risk/1", "privacy-risk score", guesses)
        }
        MembershipCommand::Attacker(options) => {
            let everyone = Victims::LeaveOneOut;
            let work = Work::new(common, options, &options.recording, &options.measure, &everyone)?;
            let ShadowRecording::Logits(logits) = &work.recording else {
                let reason = "the attacker looks at all confidences, and scores are recorded".into();
                return Err(Error::Refused { operation: "trained attacker", reason });
            };
            let guesses = decided(trained_attacker(logits, common.seed)?);
            work.finish("leakbound.membership-attacker/1", "trained attacker", guesses)
        }
    }
}

/// An attack compares models that were trained on a sample with models that were not.
fn compared(members: ArrayView2<'_, bool>, files: &[&Path]) -> Result<()> {
    if members.columns().into_iter().any(|sample| sample.iter().any(|&member| member != sample[0])) {
        return Ok(());
    }
    Err(InputError {
        file: files.first().map_or_else(PathBuf::new, |file| file.to_path_buf()),
        place: "array `keep`".into(),
        found: "only samples that every model was trained on or none".into(),
        expected: "samples that some models were trained on and others were not".into(),
        hint: None,
    }
    .into())
}

/// A score cannot be made of another one.
fn refuse_score(wanted: Option<MembershipScore>) -> Result<()> {
    match wanted {
        None => Ok(()),
        Some(_) => Err(Error::Refused {
            operation: "--score",
            reason: "scores are recorded already; it is for recorded logits".into(),
        }),
    }
}

fn decided(scores: AttackScores) -> Guesses {
    Guesses { scores, undecided: 0 }
}

fn mode(name: ModeName) -> LiraMode {
    match name {
        ModeName::Online => LiraMode::Online,
        ModeName::Offline => LiraMode::Offline,
        ModeName::InOnly => LiraMode::InOnly,
    }
}

fn lira_plan(options: &LiraOptions) -> LiraPlan {
    LiraPlan {
        variant: options.variant.0,
        mode: mode(options.mode),
        variance: match options.variance {
            VarianceName::PerSample => LiraVariance::PerSample,
            VarianceName::Pooled => LiraVariance::Pooled,
        },
        views: match options.views {
            ViewsName::Independent => LiraViews::Independent,
            ViewsName::Multivariate => LiraViews::Multivariate,
        },
        victims: options.victims.0.clone(),
    }
}

/// One command from its files to its result.
struct Work<'a> {
    common: &'a Common,
    options: serde_json::Value,
    measure: &'a MeasureOptions,
    victims: &'a Victims,
    recording: ShadowRecording,
    output: Output,
}

impl<'a> Work<'a> {
    fn new(
        common: &'a Common,
        options: &impl Serialize,
        files: &RecordingOptions,
        measure: &'a MeasureOptions,
        victims: &'a Victims,
    ) -> Result<Self> {
        let recording = read(files)?;
        let inputs: Vec<&Path> = recording.files().iter().map(AsRef::as_ref).collect();
        compared(recording.members(), &inputs)?;
        let output = Output::open(common, &inputs)?;
        let options = serde_json::to_value(options).unwrap_or_default();
        Ok(Self { common, options, measure, victims, recording, output })
    }

    /// Whether each victim predicts the label of each sample, where logits are recorded.
    fn correct(&self, victims: &[usize]) -> Result<Option<Array2<bool>>> {
        let ShadowRecording::Logits(logits) = &self.recording else { return Ok(None) };
        Ok(Some(right_answers(logits)?.1.select(Axis(0), victims)))
    }

    fn finish(self, schema: &'static str, attack: &str, guesses: Guesses) -> Result<bool> {
        let models = self.recording.members().nrows();
        let victims = match self.victims {
            Victims::LeaveOneOut => (0..models).collect(),
            Victims::HeldOut(victims) => victims.clone(),
        };
        let measure = self.measure;
        let ranked_by = Probability::new(0.001)?;
        let plan = MembershipPlan {
            fprs: measure.fpr.clone(),
            ranked_by: measure.fpr.iter().copied().find(|fpr| fpr.get() > 0.0).unwrap_or(ranked_by),
            top: measure.top.clone(),
            failure: measure.failure_probability,
            resamples: Some(measure.resamples).filter(|&resamples| resamples > 0),
            seed: self.common.seed,
        };
        let labels: Option<Vec<i64>> =
            self.recording.labels().map(|all| all.iter().map(|&label| label as i64).collect());
        let labels = labels.filter(|_| measure.per_class);
        let correct = self.correct(&victims)?;
        let correct = correct.as_ref().map(|correct| correct.view());
        let mut metrics = membership_metrics(&guesses.scores, labels.as_deref(), correct, &plan)?;
        metrics.levels.retain(|level| {
            let population = matches!(level.level, Level::Population | Level::Class(_));
            match measure.level {
                LevelName::Both => true,
                LevelName::Population => population,
                LevelName::Sample => !population,
            }
        });
        let mut warnings = Vec::new();
        if guesses.undecided > 0 {
            warnings.push(Warning {
                code: "undecided-guesses",
                message: format!(
                    "{} of {} guesses have no evidence and the neutral score: too few other models with the sample, or \
                     too few without",
                    guesses.undecided,
                    guesses.scores.scores().len()
                ),
                hint: "record more models, each trained on a random half of the samples".into(),
            });
        }
        let envelope = envelope(schema, self.common, &self.options, self.recording.inputs()?, warnings);
        let views = views(&self.recording);
        let title = format!(
            "Membership inference, {attack}: {} of {models} models as victims, {} samples, {views} view{}",
            guesses.scores.victims(),
            guesses.scores.samples(),
            if views == 1 { "" } else { "s" }
        );
        // Rows are named as the command is: `leakbound.membership-lira/1` has rows `lira`.
        let name = schema.strip_prefix("leakbound.membership-").and_then(|name| name.strip_suffix("/1"));
        self.output.write(&MembershipDocument::new(envelope, title, &[(name.unwrap_or(attack), &metrics)]))?;
        Ok(false)
    }
}

fn views(recording: &ShadowRecording) -> usize {
    match recording {
        ShadowRecording::Logits(logits) => logits.views(),
        ShadowRecording::Scores(scores) => leakbound::ShadowScores::views(scores),
    }
}

fn read(options: &RecordingOptions) -> Result<ShadowRecording> {
    let separate = match (&options.logits, &options.scores) {
        (Some(logits), _) => Some((logits, true)),
        (None, Some(scores)) => Some((scores, false)),
        (None, None) => None,
    };
    match (separate, &options.keep) {
        (Some((answers, logits)), Some(keep)) => read_shadow_arrays(&ShadowArrays {
            answers: answers.clone(),
            logits,
            keep: keep.clone(),
            labels: options.labels.clone(),
        }),
        (None, None) if options.labels.is_none() => read_shadow_models(&options.files),
        _ => Err(Error::Refused {
            operation: "--labels and --keep",
            reason: "they go with --logits or --scores; other recordings hold them".into(),
        }),
    }
}
