//! From a study to its document.

use crate::args::Common;
use crate::output::{Output, Watch, envelope};
use leakbound::Result;
use leakbound::error::echo;
use leakbound::record::InputFile;
use leakbound::report::{Answered, Render};
use leakbound::study::{Study, Verdict, Warning};
use serde::Serialize;

/// What a document holds about the command besides the answer.
pub struct Asked<'a, O> {
    pub options: &'a O,
    pub inputs: Vec<InputFile>,
    pub title: String,
    /// What is known before the study runs.
    pub warnings: Vec<Warning>,
}

/// Runs the study with progress on the terminal or to the calling program's callback.
pub fn watched<S: Study>(common: &Common, study: &S) -> Result<S::Answer> {
    let watch = Watch::new(common);
    study.run(&|step| watch.step(step))
}

/// Runs the study, writes its document and returns its verdict.
pub fn conclude<S: Study, O: Serialize>(
    common: &Common,
    output: Output,
    study: &S,
    asked: Asked<'_, O>,
) -> Result<Verdict>
where
    S::Answer: Render + Clone + Send + Sync + 'static,
{
    publish(common, output, watched(common, study)?, asked)
}

/// Writes the document of an answer and returns its verdict.
pub fn publish<A, O: Serialize>(common: &Common, output: Output, answer: A, asked: Asked<'_, O>) -> Result<Verdict>
where
    A: Render + Clone + Send + Sync + 'static,
{
    let Asked { options, inputs, title, mut warnings } = asked;
    warnings.extend_from_slice(answer.warnings());
    let mut envelope = envelope(answer.schema(), common, options, inputs, warnings);
    envelope.seed = answer.seed().unwrap_or(common.seed);
    let document = Answered { envelope, title, answer };
    output.write(&document)?;
    Ok(document.answer.verdict())
}

/// Names in the warning; a table may have thousands of columns.
const SHOWN: usize = 12;

/// What of a recording is not looked at: it may be misspelled.
pub fn unused(names: &[String]) -> Option<Warning> {
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{}`", echo(name))).collect();
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    (!names.is_empty()).then(|| Warning {
        code: "not-used",
        message: format!("the recording has entries that are not used: {}{more}", shown.join(", ")),
        hint: "docs/file-formats.md lists the names that are used; one of these may be misspelled".into(),
    })
}
