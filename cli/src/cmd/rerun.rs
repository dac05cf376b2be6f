//! `leakbound rerun`.

use crate::args::Common;
use crate::command_line::Program;
use crate::embedded::run_within;
use crate::options::{Origin, Schema, shared_options};
use crate::output::{Output, envelope};
use clap::Args;
use leakbound::record::{InputFile, read_document};
use leakbound::report::Answered;
use leakbound::study::{Answer, RerunAnswer, Verdict};
use leakbound::{Error, InputError, Result, json};
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Repeat a result from its JSON document and compare every value
#[derive(Debug, Args, Serialize)]
#[command(after_help = "Example:\n  leakbound audit counts counts.csv --format json --output audit.json\n  leakbound \
                        rerun audit.json\n\nThe files that the document was made from must be where they were, \
                        unchanged (SHA-256).\n\nExit status 3 if a value differs.")]
pub struct RerunOptions {
    /// A document of any command, written with --format json
    #[arg(value_name = "RESULT.json")]
    pub file: PathBuf,
}

pub fn run<P: Program>(common: &Common, options: &RerunOptions) -> Result<Verdict> {
    let output = Output::open(common, &[&options.file])?;
    let recorded = read_document(&options.file)?;
    recorded.inputs.iter().try_for_each(|input| unchanged(&options.file, input))?;
    let mut left_out = shared_options();
    let mut own = recorded.options.clone();
    own.retain(|name, _| !left_out.contains(name));
    own.insert("seed".into(), recorded.seed.into());
    let fault = |place: &str, found: String, expected: String| {
        let hint = Some("run the command again by hand".into());
        Error::from(InputError { file: options.file.clone(), place: place.into(), found, expected, hint })
    };
    let bad_option = |found| fault("options", found, format!("the options of `leakbound {}`", recorded.command));
    let mut schema = Schema::<P>::new();
    let arguments = schema.arguments(&recorded.command, &own, Origin::Document);
    let arguments = arguments.map_err(|unusable| bad_option(unusable.to_string()))?.words;
    let mut line = schema.parsed(&arguments).map_err(bad_option)?;
    if let Some(reason) = line.unrepeatable() {
        let found = format!("`{}`", recorded.command);
        return Err(fault("command", found, format!("a command that reads files and computes; this one {reason}")));
    }
    // The checkpoint holds the counts, which are to be drawn again.
    left_out.extend(line.without_checkpoint().iter().copied().map(String::from));
    let (_, found) = run_within(common, line)?;
    let repeated: Value = json::from_str(&found.json).unwrap_or_default();
    let words = arguments.iter().map(|word| word.to_string_lossy());
    let repeat = shell_words::join(std::iter::once("leakbound".into()).chain(words));
    // The seed that was used is a member of its own; a scenario may have brought it.
    left_out.push("seed".into());
    let answer = RerunAnswer::compare(repeat, &recorded.document, &repeated, &left_out);
    let verdict = answer.verdict();
    let envelope = envelope(RerunAnswer::SCHEMA, common, options, vec![recorded.input], answer.warnings().to_vec());
    output.write(&Answered { envelope, title: format!("Rerun of {}", options.file.display()), answer })?;
    Ok(verdict)
}

/// The input must be the same to the last byte.
fn unchanged(file: &Path, input: &InputFile) -> Result<()> {
    let place = || format!("inputs, {}", input.path.display());
    let fault = |found: String, hint: &str| {
        Error::from(InputError {
            file: file.to_path_buf(),
            place: place(),
            found,
            expected: format!("{} bytes with SHA-256 {}", input.bytes, input.sha256),
            hint: Some(hint.into()),
        })
    };
    if input.path == Path::new("-") {
        return Err(fault("the standard input".into(), "save the input in a file and run the command on it"));
    }
    let now = InputFile::of_file(&input.path)
        .map_err(|error| fault(error.to_string(), "run this in the folder in which the document was made"))?;
    if now.sha256 == input.sha256 {
        return Ok(());
    }
    Err(fault(format!("{} bytes with SHA-256 {}", now.bytes, now.sha256), "the file has changed since"))
}
