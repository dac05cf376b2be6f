//! `leakbound membership`: attacks on recorded answers of shadow models, and what they show.

use super::membership_attack::{Attack, views};
use crate::args::{Common, LevelName, MeasureOptions, MembershipCommand, RecordingOptions, StudyOptions};
use crate::output::{Output, envelope};
use leakbound::record::{ShadowArrays, ShadowRecording, read_shadow_arrays, read_shadow_models};
use leakbound::report::{MembershipDocument, Warning};
use leakbound::{
    Error, Guesses, InputError, Level, MembershipMetrics, MembershipPlan, Probability, Result, Victims,
    membership_metrics, right_answers,
};
use ndarray::{Array2, ArrayView2, Axis};
use serde::Serialize;
use std::path::{Path, PathBuf};

pub fn run(common: &Common, command: &MembershipCommand) -> Result<bool> {
    let everyone = Victims::LeaveOneOut;
    match command {
        MembershipCommand::Lira(options) => {
            let work = Work::new(common, options, &options.study, &options.victims.victims.0)?;
            work.one(
                "leakbound.membership-lira/1",
                &format!("LiRA, variant {}", options.variant.0),
                &Attack::lira(options),
            )
        }
        MembershipCommand::LabelOnly(options) => {
            let work = Work::new(common, options, &options.study, &options.victims.victims.0)?;
            work.one("leakbound.membership-label-only/1", "label-only", &Attack::label_only(options))
        }
        MembershipCommand::Threshold(options) => {
            let work = Work::new(common, options, &options.study, &everyone)?;
            work.one("leakbound.membership-threshold/1", "threshold", &Attack::threshold(options))
        }
        MembershipCommand::Rmia(options) => {
            let work = Work::new(common, options, &options.study, &options.victims.victims.0)?;
            work.one("leakbound.membership-rmia/1", "RMIA", &Attack::rmia(options))
        }
        MembershipCommand::Risk(options) => {
            let work = Work::new(common, options, &options.study, &options.victims.victims.0)?;
            work.one("leakbound.membership-risk/1", "privacy-risk score", &Attack::risk(options))
        }
        MembershipCommand::Attacker(options) => {
            let work = Work::new(common, options, &options.study, &everyone)?;
            work.one("leakbound.membership-attacker/1", "trained attacker", &Attack::Trained { seed: common.seed })
        }
        MembershipCommand::Compare(options) => super::membership_compare::run(common, options),
    }
}

/// One command from its files to its result.
pub struct Work<'a> {
    common: &'a Common,
    options: serde_json::Value,
    measure: &'a MeasureOptions,
    pub victims: &'a Victims,
    pub recording: ShadowRecording,
    output: Output,
}

impl<'a> Work<'a> {
    pub fn new(
        common: &'a Common,
        options: &impl Serialize,
        study: &'a StudyOptions,
        victims: &'a Victims,
    ) -> Result<Self> {
        let recording = read(&study.recording)?;
        let inputs: Vec<&Path> = recording.files().iter().map(AsRef::as_ref).collect();
        compared(recording.members(), &inputs)?;
        let output = Output::open(common, &inputs)?;
        let options = serde_json::to_value(options).unwrap_or_default();
        Ok(Self { common, options, measure: &study.measure, victims, recording, output })
    }

    /// One attack and its result. Rows are named as the command is: `leakbound.membership-lira/1` has rows `lira`.
    fn one(self, schema: &'static str, title: &str, attack: &Attack) -> Result<bool> {
        let guesses = attack.run(&self.recording)?;
        let victims = self.victims.list(self.recording.members().nrows())?;
        let correct = self.correct(&victims)?;
        let metrics = self.metrics(&guesses, correct.as_ref())?;
        let warnings = undecided(&guesses, None).into_iter().collect();
        let name = schema.strip_prefix("leakbound.membership-").and_then(|name| name.strip_suffix("/1"));
        self.write(schema, title, &[(name.unwrap_or(title), &metrics)], warnings)?;
        Ok(false)
    }

    /// Whether each victim predicts the label of each sample, where logits are recorded.
    pub fn correct(&self, victims: &[usize]) -> Result<Option<Array2<bool>>> {
        let ShadowRecording::Logits(logits) = &self.recording else { return Ok(None) };
        Ok(Some(right_answers(logits)?.1.select(Axis(0), victims)))
    }

    /// What is wanted of the guesses of an attack.
    pub fn metrics(&self, guesses: &Guesses, correct: Option<&Array2<bool>>) -> Result<MembershipMetrics> {
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
        let correct = correct.map(|correct| correct.view());
        let mut metrics = membership_metrics(&guesses.scores, labels.as_deref(), correct, &plan)?;
        metrics.levels.retain(|level| {
            let population = matches!(level.level, Level::Population | Level::Class(_));
            match measure.level {
                LevelName::Both => true,
                LevelName::Population => population,
                LevelName::Sample => !population,
            }
        });
        Ok(metrics)
    }

    /// Writes the result of attacks, all on the same victims.
    pub fn write(
        self,
        schema: &'static str,
        attack: &str,
        attacks: &[(&str, &MembershipMetrics)],
        warnings: Vec<Warning>,
    ) -> Result<()> {
        let envelope = envelope(schema, self.common, &self.options, self.recording.inputs()?, warnings);
        let (views, (models, samples)) = (views(&self.recording), self.recording.members().dim());
        let title = format!(
            "Membership inference, {attack}: {} of {models} models as victims, {samples} samples, {views} view{}",
            attacks.first().map_or(0, |(_, metrics)| metrics.victims),
            if views == 1 { "" } else { "s" }
        );
        self.output.write(&MembershipDocument::new(envelope, title, attacks))
    }
}

/// Says how many guesses come without evidence, where there are any.
pub fn undecided(guesses: &Guesses, attack: Option<&str>) -> Option<Warning> {
    (guesses.undecided > 0).then(|| Warning {
        code: "undecided-guesses",
        message: format!(
            "{}{} of {} guesses have no evidence and the neutral score: too few other models with the sample, or too few \
             without",
            attack.map_or_else(String::new, |attack| format!("{attack}: ")),
            guesses.undecided,
            guesses.scores.scores().len()
        ),
        hint: "record more models, each trained on a random half of the samples".into(),
    })
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
