//! `leakbound membership text`: what log-probabilities of tokens show about the training data of a language model.

use super::conclude::{Asked, publish, unused, watched};
use crate::args::Common;
use crate::args::values::{Parsed, failure_probability, number, probability, whole};
use crate::output::{Output, reject_any};
use clap::Args;
use leakbound::membership::{Documents, TextRule, TextScore, TextSequences};
use leakbound::quantity::{FailureProbability, Probability};
use leakbound::record::{ArrayWriter, AtomicFile, TextRecording, read_text_sequences};
use leakbound::study::{TextMembershipAnswer, TextMembershipStudy, Verdict, Warning};
use leakbound::{Error, Result};
use ndarray::{Array2, Array3};
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Debug, Args, Serialize)]
pub struct TextOptions {
    /// Log-probabilities of tokens: .npz, or one JSON object per sequence, a line each
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Scores [default: all that the recording can feed]
    #[arg(long, value_enum, value_name = "NAME,...", value_delimiter = ',')]
    pub scores: Vec<TextScore>,
    /// Share of the least likely tokens that min-k, min-k-plus-plus and surprise look at
    #[arg(long, value_name = "K", value_parser = share, default_value = "0.2", allow_hyphen_values = true)]
    pub share: f64,
    /// Entropy in nats below which a token can be surprising
    #[arg(long, value_name = "H", value_parser = entropy_limit, default_value = "2", allow_hyphen_values = true, help_heading = "Advanced")]
    #[serde(serialize_with = "crate::args::values::infinite")]
    pub entropy_limit: f64,
    /// False-positive rates at which to report the true-positive rate
    #[arg(long, value_name = "P,...", value_delimiter = ',', value_parser = probability, default_value = "0.001,0.01", allow_hyphen_values = true)]
    pub fpr: Vec<Probability>,
    /// Most vulnerable sequences of each score
    #[arg(long, value_name = "N", value_parser = whole::<usize>(1, 1_000_000_000, "1e9"), default_value = "10", allow_hyphen_values = true)]
    pub top: usize,
    /// Write each document's value of the one score named by --scores, ordered by name: a recording of one model for
    /// `membership lira`. All recordings need the same documents, or, without `document`, the same sequences in the
    /// same order
    #[arg(long, value_name = "FILE.npz", requires = "scores")]
    pub scores_output: Option<PathBuf>,
    /// Failure probability of all limits of all scores together
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", allow_hyphen_values = true, help_heading = "Bounds")]
    pub failure_probability: FailureProbability,
}

fn share(text: &str) -> Parsed<f64> {
    TextRule::new(number(text)?, 1.0).map(TextRule::share).map_err(|error| error.to_string())
}

fn entropy_limit(text: &str) -> Parsed<f64> {
    TextRule::new(1.0, number(text)?).map(TextRule::entropy_limit).map_err(|error| error.to_string())
}

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
        file.commit(&one_model(path, &answer, recording.documents())?)?;
    }
    let title = "Membership inference from log-probabilities of tokens".into();
    let warnings = sizes_made_here(&recording, &answer).into_iter().chain(unused(recording.unused())).collect();
    publish(common, output, answer, Asked { options, inputs, title, warnings })
}

/// To compare with published numbers, users must know that a few bytes more or less change them.
fn sizes_made_here(recording: &TextRecording, answer: &TextMembershipAnswer) -> Option<Warning> {
    let measured = answer.attacks.iter().any(|attack| attack.score == TextScore::Zlib);
    (measured && recording.compressed_here()).then(|| Warning {
        code: "sizes-computed",
        message:
            "zlib: the sizes of compressed texts were computed from `text`; they differ by some bytes from those of \
                  the C library zlib, which moves the AUC"
                .into(),
        hint: "record `zlib_bytes`, len(zlib.compress(text)) in Python, for numbers to publish or to compare".into(),
    })
}

/// The place of the values, which replaces no file that is read or written otherwise.
fn kept<'a>(common: &Common, options: &TextOptions, path: &'a Path) -> Result<(&'a Path, AtomicFile)> {
    let reason = "a recording of one model has the values of one score: name one by --scores";
    Error::check_possible(options.scores.len() == 1, "--scores-output", reason)?;
    let others = [&common.output, &common.report].into_iter().flatten().map(PathBuf::as_path);
    let others: Vec<&Path> = others.chain([options.file.as_path()]).collect();
    reject_any("--scores-output", path, &others, "a file that this command reads or writes otherwise")?;
    Ok((path, AtomicFile::create(path)?))
}

/// The values of documents as scores \[1, document, 1\] of one model, in the order of their names: recordings of several
/// models may have the documents in any order.
fn one_model(path: &Path, answer: &TextMembershipAnswer, documents: Option<&Documents>) -> Result<Vec<u8>> {
    let values = answer.values.first().map_or(&[][..], Vec::as_slice);
    let unknown = values.iter().filter(|value| !value.is_finite()).count();
    if unknown > 0 {
        let (all, score) = (values.len(), answer.attacks.first().map_or("the score", |attack| attack.score.name()));
        let reason = format!(
            "{unknown} of {all} documents have no value of {score}, and LiRA needs one of each: a larger --share or \
             --entropy-limit leaves fewer"
        );
        return Err(Error::Rejected { operation: "--scores-output", reason });
    }
    let order = documents.map_or_else(|| (0..values.len()).collect(), Documents::by_name);
    let mut writer = ArrayWriter::new(path);
    writer.add("scores", &Array3::from_shape_fn((1, order.len(), 1), |(_, place, _)| values[order[place]]))?;
    writer.add("keep", &Array2::from_shape_fn((1, order.len()), |(_, place)| answer.members[order[place]]))?;
    writer.finish()
}
