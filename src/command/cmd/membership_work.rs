//! An attack on recorded answers of shadow models, from its files to its result.

use super::membership_attack::{Attack, views};
use super::membership_watch::{Watch, Watched};
use crate::command::args::{Common, LevelName, MeasureOptions, RecordingOptions, StudyOptions};
use crate::command::output::{Output, envelope, progress};
use crate::membership::{
    Guesses, Level, MembershipMetrics, MembershipPlan, Victims, membership_metrics, right_answers,
};
use crate::quantity::Probability;
use crate::record::{InputFile, MemoryBudget, ShadowArrays, ShadowRecording, read_shadow_arrays, read_shadow_models};
use crate::report::MembershipDocument;
use crate::study::Warning;
use crate::{Error, InputError, Result};
use ndarray::{Array2, ArrayView2, Axis};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// One command from its files to its result, without the recording itself: it is let go as soon as no attack needs it.
pub struct Work<'a> {
    common: &'a Common,
    options: serde_json::Value,
    measure: &'a MeasureOptions,
    /// The models that are attacked.
    pub victims: Vec<usize>,
    /// One per sample, where classes are wanted.
    labels: Option<Vec<i64>>,
    models: usize,
    samples: usize,
    views: usize,
    output: Output,
}

impl<'a> Work<'a> {
    pub fn new(
        common: &'a Common,
        options: &impl Serialize,
        study: &'a StudyOptions,
        victims: &Victims,
    ) -> Result<(Self, ShadowRecording)> {
        let recording = read(&study.recording, common.memory())?;
        let inputs: Vec<&Path> = recording.files().iter().map(AsRef::as_ref).collect();
        compared(recording.members(), &inputs)?;
        let (models, samples) = recording.members().dim();
        let labels = recording.labels().filter(|_| study.measure.per_class);
        let work = Self {
            common,
            options: serde_json::to_value(options).unwrap_or_default(),
            measure: &study.measure,
            victims: match victims {
                // Whether the others are enough is for the attack to say: a threshold needs none.
                Victims::LeaveOneOut => (0..models).collect(),
                Victims::HeldOut(_) => victims.list(models)?,
            },
            labels: labels.map(|labels| labels.iter().map(|&label| label as i64).collect()),
            models,
            samples,
            views: views(&recording),
            output: Output::open(common, &inputs)?,
        };
        Ok((work, recording))
    }

    /// One attack and its result. Rows are named as the command is: `leakbound.membership-lira/1` has rows `lira`.
    pub fn one(self, schema: &'static str, title: &str, attack: &Attack, recording: ShadowRecording) -> Result<bool> {
        let bar = progress(self.common, self.samples as u64, "samples");
        let watch = |more| bar.inc_in_rounds(more, self.samples as u64);
        let guesses = attack.run(&recording, &watch)?;
        let correct = self.correct(&recording, &watch)?;
        bar.finish_and_clear();
        let inputs = recording.inputs()?;
        // What was unpacked into memory is not needed beside the metrics.
        drop(recording);
        let metrics = self.metrics(&guesses, correct.as_ref(), 1)?;
        let warnings = undecided(&guesses, None).into_iter().chain(attack.few_models(self.models)).collect();
        let name = schema.strip_prefix("leakbound.membership-").and_then(|name| name.strip_suffix("/1"));
        self.write(schema, title, &[(name.unwrap_or(title), &metrics)], inputs, warnings)?;
        Ok(false)
    }

    /// Whether each victim predicts the label of each sample, where logits are recorded.
    pub fn correct(&self, recording: &ShadowRecording, watch: Watch<'_>) -> Result<Option<Array2<bool>>> {
        let ShadowRecording::Logits(source) = recording else { return Ok(None) };
        Ok(Some(right_answers(&Watched { source, watch })?.1.select(Axis(0), &self.victims)))
    }

    /// What is wanted of the guesses of an attack, one of so many that share the failure probability of samples.
    pub fn metrics(
        &self,
        guesses: &Guesses,
        correct: Option<&Array2<bool>>,
        attacks: usize,
    ) -> Result<MembershipMetrics> {
        let measure = self.measure;
        let ranked_by = Probability::new(0.001)?;
        let plan = MembershipPlan {
            fprs: measure.fpr.clone(),
            ranked_by: measure.fpr.iter().copied().find(|fpr| fpr.get() > 0.0).unwrap_or(ranked_by),
            top: measure.top.clone(),
            failure: measure.failure_probability,
            attacks,
            resamples: Some(measure.resamples).filter(|&resamples| resamples > 0),
            seed: self.common.seed,
        };
        let correct = correct.map(|correct| correct.view());
        let mut metrics = membership_metrics(&guesses.scores, self.labels.as_deref(), correct, &plan)?;
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
        inputs: Vec<InputFile>,
        warnings: Vec<Warning>,
    ) -> Result<()> {
        let envelope = envelope(schema, self.common, &self.options, inputs, warnings);
        let title = format!(
            "Membership inference, {attack}: {} of {} models as victims, {} samples, {} view{}",
            self.victims.len(),
            self.models,
            self.samples,
            self.views,
            if self.views == 1 { "" } else { "s" }
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

fn read(options: &RecordingOptions, memory: MemoryBudget) -> Result<ShadowRecording> {
    let separate = match (&options.logits, &options.scores) {
        (Some(logits), _) => Some((logits, true)),
        (None, Some(scores)) => Some((scores, false)),
        (None, None) => None,
    };
    match (separate, &options.keep) {
        (Some((answers, logits)), Some(keep)) => {
            let (answers, keep) = (answers.clone(), keep.clone());
            read_shadow_arrays(&ShadowArrays { answers, logits, keep, labels: options.labels.clone() }, memory)
        }
        (None, None) if options.labels.is_none() => read_shadow_models(&options.files, memory),
        _ => Err(Error::Refused {
            operation: "--labels and --keep",
            reason: "they go with --logits or --scores; other recordings hold them".into(),
        }),
    }
}
