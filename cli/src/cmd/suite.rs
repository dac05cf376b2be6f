//! `leakbound run`.

use super::suite_plan::plan;
use crate::args::Common;
use crate::command_line::Program;
use crate::embedded::run_within;
use crate::output::{Output, envelope, interrupted};
use crate::signals::{Second, interruption};
use clap::Args;
use leakbound::error::{ErrorKind, echo};
use leakbound::record::SuiteStudy;
use leakbound::report::Answered;
use leakbound::study::{Answer, StudyOutcome, SuiteAnswer, SuiteRow, Verdict};
use leakbound::{Error, Result};
use serde::Serialize;
use serde_json::value::RawValue;
use std::path::PathBuf;

/// Run the studies of a file one after the other, for continuous integration
#[derive(Debug, Args, Serialize)]
#[command(after_help = "A file has one table for each study:\n\n  [[study]]\n  name = \"four teachers\"\n  \
                        command = \"exact\"\n  histogram = [3, 1]\n  neighbor = [2, 2]\n  noise = \
                        \"gaussian:2\"\n  claim-epsilon = 1.5\n\nIn addition to name and command it has the options of \
                        the command; paths are relative to the folder of the file.\n\nExit status 1 if a study fails, 3 \
                        if a claim is refuted.\n\nExample:\n  leakbound run studies.toml --format json")]
pub struct SuiteOptions {
    /// The studies (TOML)
    #[arg(value_name = "STUDIES.toml")]
    pub file: PathBuf,
}

pub fn run<P: Program>(common: &Common, options: &SuiteOptions) -> Result<Verdict> {
    let output = Output::open(common, &[&options.file])?;
    let (suite, requests) = plan::<P>(common, &options.file)?;
    let second = if requests.iter().any(P::runs_program) { Second::Waits } else { Second::Ends };
    let failed = |source| Error::Io { path: options.file.clone(), action: "be watched", source };
    interruption(&common.session, second).map_err(failed)?;
    let answered = |(study, request): (&SuiteStudy, P)| match answered(common, study, request) {
        Err(Error::Interrupted) if !common.session.is_hosted() => {
            Err(interrupted(&options.file, format!("interrupted in study {}; nothing is printed", echo(&study.name))))
        }
        other => other,
    };
    let studies = suite.studies.iter().zip(requests).map(answered).collect::<Result<Vec<SuiteRow>>>()?;
    let answer = SuiteAnswer { studies };
    let verdict = answer.verdict();
    let envelope = envelope(SuiteAnswer::SCHEMA, common, options, vec![suite.input], Vec::new());
    let title = match answer.studies.len() {
        1 => format!("1 study of {}", options.file.display()),
        count => format!("{count} studies of {}", options.file.display()),
    };
    output.write(&Answered { envelope, title, answer })?;
    Ok(verdict)
}

/// The outcome of one study: an error is its outcome and does not end the others, but an interruption does.
fn answered(common: &Common, study: &SuiteStudy, request: impl Program) -> Result<SuiteRow> {
    let row = |outcome, message| SuiteRow {
        name: study.name.clone(),
        command: study.command.clone(),
        outcome,
        message,
        document: None,
        text: String::new(),
    };
    let (verdict, found) = match run_within(common, request) {
        Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
        Err(error) => return Ok(row(StudyOutcome::Failed, Some(error.to_string()))),
        Ok(found) => found,
    };
    let (outcome, message) = match verdict {
        Verdict::Passed => (StudyOutcome::Passed, None),
        Verdict::Refuted => (StudyOutcome::Refuted, None),
        Verdict::Broken(line) => (StudyOutcome::Failed, Some(line)),
    };
    let text = found.forms.text();
    let document = RawValue::from_string(found.json).map_err(|error| Error::rejected("document", error))?;
    Ok(SuiteRow { document: Some(document), text, ..row(outcome, message) })
}
