//! `leakbound membership defenses`: defenses trained, attacked and compared.

use super::conclude::{Asked, publish, watched};
use super::defense_tuning::tuned;
use super::planned_recording::{Planned, beside};
use super::recorded_plan::{RecordedPlan, untrained_views};
use super::shadow_answers;
use super::shadow_answers::RecordingOptions;
use super::torch::complete_defenses;
use crate::args::Common;
use crate::output::Output;
use clap::Args;
use leakbound::membership::{CanaryKind, DefenseAttack, MembershipPlan};
use leakbound::record::{
    DefenseEntry, DefenseFile, DefenseSource, MemoryBudget, ShadowExtras, ShadowRecording, read_defense_study,
    read_shadow_extras,
};
use leakbound::study::{
    DefenseStudy, Levels, LooksAt, Measures, RecordedAnswers, StudiedDefense, StudiedRecording, Verdict, Warning,
};
use leakbound::{InputError, Result};
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Debug, Args, Serialize)]
pub struct DefensesOptions {
    /// The study (TOML)
    #[arg(value_name = "STUDY.toml")]
    pub file: PathBuf,
    /// Folder of the recordings NAME-original.npz and NAME-KIND.npz; missing ones are trained and kept there [default:
    /// STUDY-recordings next to the study]
    #[arg(long, value_name = "DIR", alias = "out")]
    pub recordings: Option<PathBuf>,
}

/// A recording of a defense with the files next to it.
struct Recorded {
    canaries: CanaryKind,
    recording: ShadowRecording,
    extras: ShadowExtras,
}

pub fn run(common: &Common, options: &DefensesOptions) -> Result<Verdict> {
    let study = read_defense_study(&options.file)?;
    let seed = if common.seed_given { common.seed } else { study.seed.unwrap_or(common.seed) };
    let folder = options.recordings.clone().unwrap_or_else(|| beside(&options.file));
    let planned = planned(&study, &folder)?;
    let elsewhere = study.entries.iter().flat_map(|entry| match &entry.source {
        DefenseSource::Recorded(files) => files.iter().map(|(_, file)| file.as_path()).collect(),
        DefenseSource::Trained { .. } => Vec::new(),
    });
    let read: Vec<&Path> = elsewhere.chain(planned.iter().map(|planned| planned.path.as_path())).collect();
    let output = Output::open(common, &[&read[..], &[&options.file]].concat())?;
    // What was recorded elsewhere is looked at before hours of training.
    let of_entry = |entry: &DefenseEntry| match &entry.source {
        DefenseSource::Recorded(files) => recorded(files, common.memory()).map(Some),
        DefenseSource::Trained { .. } => Ok(None),
    };
    let given = study.entries.iter().map(of_entry).collect::<Result<Vec<_>>>()?;
    let complete = |planned: &[Planned<'_>]| complete_defenses(common, &study, planned, seed);
    let (planned, mut warnings) = tuned(common, &folder, planned, &complete)?;
    complete(&planned)?;
    warnings.extend(of_views(&planned, common.memory())?);
    let mut recordings = Vec::new();
    for (entry, given) in study.entries.iter().zip(given) {
        recordings.push(match given {
            Some(given) => given,
            None => {
                let own = planned.iter().filter(|planned| planned.entry.name == entry.name);
                let files: Vec<_> = own.map(|planned| (planned.canaries, planned.path.clone())).collect();
                recorded(&files, common.memory())?
            }
        });
    }
    for (entry, recordings) in study.entries.iter().zip(&recordings) {
        check_recorded(&study, entry, recordings)?;
    }
    let answer = watched(common, &of_recordings(&study, &recordings, seed)?)?;
    // What the files are is known once they were read.
    let mut inputs = vec![study.input.clone()];
    for recorded in recordings.iter().flatten() {
        inputs.extend(recorded.recording.inputs()?);
    }
    publish(common, output, answer, Asked { options, inputs, title: String::new(), warnings })
}

/// All recordings of the study's own defenses: the original samples first, then the canaries.
fn planned<'a>(study: &'a DefenseFile, folder: &Path) -> Result<Vec<Planned<'a>>> {
    let mut all: Vec<Planned<'a>> = Vec::new();
    for entry in &study.entries {
        let DefenseSource::Trained { canaries, options, .. } = &entry.source else { continue };
        for canaries in [&[CanaryKind::Original], &canaries[..]].concat() {
            let path = folder.join(format!("{}-{canaries}.npz", entry.name));
            if let Some(other) = all.iter().find(|other| other.path == path) {
                let found = format!("the recording {} of two defenses", path.display());
                return Err(study.fault(entry.line, found, format!("another name than {}", other.entry.name)).into());
            }
            all.push(Planned { entry, canaries, options: options.clone(), path });
        }
    }
    Ok(all)
}

/// A warning of the defenses whose views training did not meet.
fn of_views(planned: &[Planned<'_>], memory: MemoryBudget) -> Result<Option<Warning>> {
    let mut names: Vec<&str> = Vec::new();
    for Planned { entry, path, .. } in planned {
        let known = names.last() == Some(&entry.name.as_str());
        if !known && RecordedPlan::of_file(path, memory)?.has_untrained_views() {
            names.push(&entry.name);
        }
    }
    Ok((!names.is_empty()).then(|| untrained_views(&names.join(", "))))
}

/// The recordings of one defense, which must be of the same models and samples.
fn recorded(files: &[(CanaryKind, PathBuf)], memory: MemoryBudget) -> Result<Vec<Recorded>> {
    let mut all: Vec<Recorded> = Vec::new();
    for (canaries, file) in files {
        let options =
            RecordingOptions { files: vec![file.clone()], logits: None, scores: None, labels: None, keep: None };
        let recording = shadow_answers::read(&options, memory)?;
        let extras = read_shadow_extras(file, &recording, memory)?;
        if let Some(first) = all.first() {
            check_together(file, (&recording, &extras), first)?;
        }
        all.push(Recorded { canaries: *canaries, recording, extras });
    }
    Ok(all)
}

/// Rejects another number of models, and samples instead of other training images. Of duplicated canaries half as
/// many are attacked as of the others.
fn check_together(file: &Path, (recording, extras): (&ShadowRecording, &ShadowExtras), first: &Recorded) -> Result<()> {
    let fault = |place: &str, found: String, expected: String| InputError {
        file: file.to_path_buf(),
        place: place.into(),
        found,
        expected,
        hint: Some("the recordings of one defense are of the same models and samples".into()),
    };
    let other = first.recording.files().first().map(|file| file.display().to_string()).unwrap_or_default();
    let [found, expected] = [recording, &first.recording].map(|recording| recording.members().nrows());
    if found != expected {
        return Err(fault("array `keep`", format!("{found} models"), format!("{expected}, as in {other}")).into());
    }
    if let (Some(found), Some(expected)) = (&extras.audit_index, &first.extras.audit_index)
        && found.iter().zip(expected).any(|(found, expected)| found != expected)
    {
        let expected = format!("those of {other}");
        return Err(fault("array `audit_index`", "other samples".into(), expected).into());
    }
    Ok(())
}

/// Rejects an attack on what was not recorded.
fn check_recorded(study: &DefenseFile, entry: &DefenseEntry, recordings: &[Recorded]) -> Result<()> {
    let (looks_at, array) = match entry.attack {
        DefenseAttack::Lira | DefenseAttack::LabelOnly => (LooksAt::Sample, "logits"),
        DefenseAttack::EncoderLira => (LooksAt::Encoder, "embeddings"),
        DefenseAttack::NeighborLira | DefenseAttack::NeighborLabelOnly => (LooksAt::Neighbor, "neighbor_logits"),
    };
    let without = |recorded: &&Recorded| !RecordedAnswers::from(&recorded.recording).has(looks_at);
    let Some(recorded) = recordings.iter().find(without) else { return Ok(()) };
    let file = recorded.recording.files().first().map(|file| file.display().to_string()).unwrap_or_default();
    let found = format!("the attack {} on {file}, which has no `{array}`", entry.attack);
    Err(study.fault(entry.line, found, "an attack on what is recorded").into())
}

/// The study of what was recorded.
fn of_recordings<'a>(study: &DefenseFile, recordings: &'a [Vec<Recorded>], seed: u64) -> Result<DefenseStudy<'a>> {
    let of_one = |Recorded { canaries, recording, extras }: &'a Recorded| -> Result<StudiedRecording<'a>> {
        let split_ai = extras.split_ai.as_ref().map(|logits| {
            let answers = RecordedAnswers::logits(logits);
            extras.split_ai_neighbors.as_ref().map_or(Ok(answers), |logits| answers.with_neighbors(logits))
        });
        Ok(StudiedRecording {
            canaries: *canaries,
            answers: RecordedAnswers::from(recording),
            training_time: extras.training_time.as_ref().map(|logits| RecordedAnswers::logits(logits)),
            split_ai: split_ai.transpose()?,
            test_accuracy: extras.test_accuracy.clone(),
        })
    };
    let of_defense = |(entry, recordings): (&DefenseEntry, &'a Vec<Recorded>)| -> Result<StudiedDefense<'a>> {
        Ok(StudiedDefense {
            name: entry.name.clone(),
            family: entry.family,
            attack: entry.attack,
            recordings: recordings.iter().map(of_one).collect::<Result<_>>()?,
        })
    };
    let defenses = study.entries.iter().zip(recordings).map(of_defense).collect::<Result<Vec<_>>>()?;
    let usual = MembershipPlan::default();
    let plan = MembershipPlan {
        ranked_by: study.fprs.first().copied().unwrap_or(usual.ranked_by),
        fprs: study.fprs.clone(),
        top: Vec::new(),
        failure: study.failure,
        resamples: Some(study.resamples),
        seed,
        ..usual
    };
    Ok(DefenseStudy {
        defenses,
        variance: study.variance,
        measures: Measures { plan, levels: Levels::Both, per_class: false },
    })
}
