//! `leakbound label-dp mechanisms`: mechanisms of label privacy trained, attacked and compared.

use super::conclude::{Asked, conclude};
use super::label_training::complete;
use super::planned_recording::{PlannedLabels, beside};
use crate::args::{Common, LabelMechanismsOptions};
use crate::output::Output;
use leakbound::Result;
use leakbound::record::{LabelEntry, LabelSource, read_label_recording, read_label_study};
use leakbound::study::{LabelComparisonStudy, StudiedLabels, Verdict};
use std::path::{Path, PathBuf};

pub fn run(common: &Common, options: &LabelMechanismsOptions) -> Result<Verdict> {
    let study = read_label_study(&options.file)?;
    let seed = if common.seed_given { common.seed } else { study.seed.unwrap_or(common.seed) };
    let folder = options.recordings.clone().unwrap_or_else(|| beside(&options.file));
    let place = |entry: &LabelEntry| match &entry.source {
        LabelSource::Trained(_) => folder.join(format!("{}.npz", entry.name)),
        LabelSource::Recorded(file) => file.clone(),
    };
    let places: Vec<PathBuf> = study.entries.iter().map(place).collect();
    let read: Vec<&Path> = places.iter().map(PathBuf::as_path).chain([options.file.as_path()]).collect();
    let output = Output::open(common, &read)?;
    let mut planned = Vec::new();
    for (entry, path) in study.entries.iter().zip(&places) {
        match &entry.source {
            LabelSource::Trained(options) => planned.push(PlannedLabels { entry, options, path: path.clone() }),
            // What was recorded elsewhere is looked at before hours of training.
            LabelSource::Recorded(_) => drop(read_label_recording(path, common.memory())?),
        }
    }
    complete(common, &study, &planned, seed)?;
    let (mut recordings, mut inputs) = (Vec::new(), vec![study.input.clone()]);
    for (entry, path) in study.entries.iter().zip(&places) {
        let (recording, input) = read_label_recording(path, common.memory())?;
        recordings.push(StudiedLabels { name: entry.name.clone(), family: entry.family, recording });
        inputs.push(input);
    }
    let study = LabelComparisonStudy { recordings, failure_probability: study.failure, seed };
    conclude(common, output, &study, Asked { options, inputs, title: String::new(), warnings: Vec::new() })
}
