//! `leakbound rerun`.

use crate::args::{AuditCommand, Command, Common, RerunOptions};
use crate::embedded::{Run, run_within};
use crate::options::{Origin, Schema};
use crate::output::{Output, envelope};
use leakbound::record::{InputFile, read_document};
use leakbound::report::Answered;
use leakbound::study::{Answer, RerunAnswer, Verdict};
use leakbound::{Error, InputError, Result, json};
use serde_json::Value;
use std::path::Path;

pub fn run(common: &Common, options: &RerunOptions, run: Run) -> Result<Verdict> {
    let output = Output::open(common, &[&options.file])?;
    let recorded = read_document(&options.file)?;
    recorded.inputs.iter().try_for_each(|input| unchanged(&options.file, input))?;
    let mut left_out = Schema::shared_options();
    let mut own = recorded.options.clone();
    own.retain(|name, _| !left_out.contains(name));
    own.insert("seed".into(), recorded.seed.into());
    let fault = |place: &str, found: String, expected: String| {
        let hint = Some("run the command again by hand".into());
        Error::from(InputError { file: options.file.clone(), place: place.into(), found, expected, hint })
    };
    let bad_option = |found| fault("options", found, format!("the options of `leakbound {}`", recorded.command));
    let mut schema = Schema::new();
    let arguments = schema.arguments(&recorded.command, &own, Origin::Document).map_err(bad_option)?.words;
    let mut cli = schema.parsed(&arguments).map_err(bad_option)?;
    if let Some(reason) = unrepeatable(&cli.command) {
        let found = format!("`{}`", recorded.command);
        return Err(fault("command", found, format!("a command that reads files and computes; this one {reason}")));
    }
    if let Command::Simulate(simulation) = &mut cli.command {
        // The checkpoint holds the counts, which are to be drawn again.
        (simulation.checkpoint, simulation.resume) = (None, false);
        left_out.extend(["checkpoint", "resume"].map(String::from));
    }
    let (_, found) = run_within(common, cli, run)?;
    let repeated: Value = json::from_str(&found.json).unwrap_or_default();
    let words = arguments.iter().map(|word| word.to_string_lossy());
    let line = shell_words::join(std::iter::once("leakbound".into()).chain(words));
    // The seed that was used is a member of its own; a scenario may have brought it.
    left_out.push("seed".into());
    let answer = RerunAnswer::compare(line, &recorded.document, &repeated, &left_out);
    let verdict = answer.verdict();
    let envelope = envelope(RerunAnswer::SCHEMA, common, options, vec![recorded.input], answer.warnings().to_vec());
    output.write(&Answered { envelope, title: format!("Rerun of {}", options.file.display()), answer })?;
    Ok(verdict)
}

/// Why a command is not repeated, if it does more than read files and compute.
const fn unrepeatable(command: &Command) -> Option<&'static str> {
    match command {
        Command::Bench(_) => Some("measures the speed of a machine"),
        Command::Torch(_) => Some("trains models and writes a recording"),
        Command::Rerun(_) | Command::Run(_) => Some("repeats other work"),
        Command::Audit(AuditCommand::Stream(options)) if options.state.is_some() => Some("has moved its state on"),
        Command::Verify(options) if options.program.is_some() => Some("runs another program"),
        Command::Audit(AuditCommand::Mechanism(_)) => Some("runs another program"),
        _ => None,
    }
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
