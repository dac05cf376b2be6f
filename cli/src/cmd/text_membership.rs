//! `leakbound membership text`: what log-probabilities of tokens show about the training data of a language model.

use super::conclude::{Asked, publish, watched};
use crate::args::{Common, TextOptions};
use crate::output::{Output, reject_any};
use leakbound::membership::TextRule;
use leakbound::record::{ArrayWriter, AtomicFile, read_text_sequences};
use leakbound::study::{TextMembershipAnswer, TextMembershipStudy, Verdict};
use leakbound::{Error, Result};
use ndarray::{Array2, Array3};
use std::path::{Path, PathBuf};

pub fn run(common: &Common, options: &TextOptions) -> Result<Verdict> {
    let output = Output::open(common, &[&options.file])?;
    let kept = options.scores_output.as_deref().map(|path| kept(common, options, path)).transpose()?;
    let recording = read_text_sequences(&options.file, common.memory())?;
    let study = TextMembershipStudy {
        sequences: &recording,
        scores: options.scores.clone(),
        rule: TextRule::new(options.share, options.entropy_limit)?,
        fprs: options.fpr.clone(),
        top: options.top,
        failure_probability: options.failure_probability,
    };
    let answer = watched(common, &study)?;
    // What the file is is known once it was read.
    let inputs = vec![recording.input()?];
    if let Some((path, file)) = kept {
        file.commit(&one_model(path, &answer)?)?;
    }
    let title = "Membership inference from log-probabilities of tokens".into();
    publish(common, output, answer, Asked { options, inputs, title, warnings: Vec::new() })
}

/// The place of the values, which replaces no file that is read or written otherwise.
fn kept<'a>(common: &Common, options: &TextOptions, path: &'a Path) -> Result<(&'a Path, AtomicFile)> {
    if options.scores.len() != 1 {
        let reason = "a recording of one model has the values of one score: name one by --scores".into();
        return Err(Error::Rejected { operation: "--scores-output", reason });
    }
    let others = [&common.output, &common.report].into_iter().flatten().map(PathBuf::as_path);
    let others: Vec<&Path> = others.chain([options.file.as_path()]).collect();
    reject_any("--scores-output", path, &others, "a file that this command reads or writes otherwise")?;
    Ok((path, AtomicFile::create(path)?))
}

/// The values of documents as scores \[1, document, 1\] of one model.
fn one_model(path: &Path, answer: &TextMembershipAnswer) -> Result<Vec<u8>> {
    let values = answer.values.first().map_or(&[][..], Vec::as_slice);
    let mut writer = ArrayWriter::new(path);
    writer.add("scores", &Array3::from_shape_fn((1, values.len(), 1), |(_, document, _)| values[document]))?;
    writer.add("keep", &Array2::from_shape_fn((1, values.len()), |(_, document)| answer.members[document]))?;
    writer.finish()
}
