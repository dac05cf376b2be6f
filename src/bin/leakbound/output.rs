//! Where results go, and what is seen while they are made.

use crate::args::{Common, Format};
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use leakbound::record::{AtomicFile, InputFile};
use leakbound::report::{Document, Envelope, Warning};
use leakbound::{Error, InputError, Result};
use serde::Serialize;
use std::fmt::Write;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// The place of the result, opened before the work so that a full disk or a wrong folder is known at once.
pub struct Output {
    file: Option<AtomicFile>,
    format: Format,
}

impl Output {
    /// `inputs` are the files that the command reads: a result never replaces one of them.
    pub fn open(common: &Common, inputs: &[&Path]) -> Result<Self> {
        if let Some(output) = &common.output {
            // Without a place there is nothing to replace.
            let same = |input: &&&Path| matches!((place(input), place(output)), (Some(input), Some(output)) if input == output);
            if inputs.iter().any(|input| same(&input)) {
                return Err(Error::from(InputError {
                    file: output.clone(),
                    place: "--output".into(),
                    found: "the input file itself".into(),
                    expected: "another file, because the result replaces it".into(),
                    hint: None,
                }));
            }
        }
        let file = common.output.as_ref().map(AtomicFile::create).transpose()?;
        Ok(Self { file, format: common.format })
    }

    pub fn write(self, document: &impl Document) -> Result<()> {
        let text = match self.format {
            Format::Text => document.text(),
            Format::Json => document.json(),
            Format::Csv => document.csv()?,
        };
        match self.file {
            Some(file) => file.commit(text.as_bytes()),
            None => print(text.as_bytes()),
        }
    }
}

/// Where a file is or will be.
fn place(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().or_else(|| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(folder.canonicalize().ok()?.join(path.file_name()?))
    })
}

/// Writes to stdout; a reader that has seen enough is no error.
pub fn print(bytes: &[u8]) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(source) if source.kind() != ErrorKind::BrokenPipe => {
            Err(Error::Io { path: "stdout".into(), action: "write", source })
        }
        _ => Ok(()),
    }
}

/// The common part of a document.
pub fn envelope(
    schema: &'static str,
    common: &Common,
    options: &impl Serialize,
    inputs: Vec<InputFile>,
    warnings: Vec<Warning>,
) -> Envelope {
    let mut all = serde_json::to_value(options).unwrap_or_default();
    if let (Some(all), Ok(serde_json::Value::Object(shared))) = (all.as_object_mut(), serde_json::to_value(common)) {
        all.extend(shared);
    }
    Envelope { schema, version: env!("CARGO_PKG_VERSION"), inputs, options: all, seed: common.seed, warnings }
}

/// A bar with rate and time left on a terminal; nothing when piped or quiet.
pub fn progress(common: &Common, length: u64, unit: &'static str) -> ProgressBar {
    if common.quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    let template = format!("{{wide_bar}} {{percent}} %  {{human_pos}} {unit}, {{rate}}, {{eta}} left");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        // A terminal that cannot be written to shows no bar.
        let rate = |state: &ProgressState, text: &mut dyn Write| {
            let _ = write!(text, "{}/s", HumanCount(state.per_sec() as u64));
        };
        bar.set_style(style.with_key("rate", rate));
    }
    bar
}
