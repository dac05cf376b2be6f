//! Where results go, and what is seen while they are made.

use crate::command::args::{Common, Format};
use crate::command::session::Session;
use crate::record::{AtomicFile, InputFile, write_atomically};
use crate::report::{Document, Envelope, Page, Warning};
use crate::{Error, InputError, Result};
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use serde::Serialize;
use std::fmt::Write;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// The places of the result, opened before the work so that a full disk or a wrong folder is known at once.
pub struct Output {
    session: Session,
    file: Option<AtomicFile>,
    format: Format,
    report: Option<Report>,
}

/// Places of the page and of its figures.
struct Report {
    page: AtomicFile,
    /// What the figures are called, without `-1.svg`.
    figures: Option<PathBuf>,
}

impl Output {
    /// `inputs` are the files that the command reads: a result never replaces one of them.
    pub fn open(common: &Common, inputs: &[&Path]) -> Result<Self> {
        if let Some(output) = &common.output {
            refuse_any("--output", output, inputs, "the input file itself")?;
        }
        let report = Report::open(common, inputs)?;
        let file = common.output.as_ref().map(AtomicFile::create).transpose()?;
        Ok(Self { session: common.session.clone(), file, format: common.format, report })
    }

    /// Page and figures first: a reader of the result finds them there.
    pub fn write(self, document: &impl Document) -> Result<()> {
        let text = match self.format {
            Format::Text => document.text(),
            Format::Json => document.json(),
            Format::Csv => document.csv()?,
        };
        if let Some(report) = self.report {
            report.write(&document.page())?;
        }
        match self.file {
            Some(file) => file.commit(text.as_bytes()),
            None if self.session.is_hosted() => Ok(()),
            None => print(text.as_bytes()),
        }?;
        self.session.hand_over(|| document.json(), || document.page().html());
        Ok(())
    }
}

impl Report {
    fn open(common: &Common, inputs: &[&Path]) -> Result<Option<Self>> {
        let Some(page) = &common.report else {
            return match &common.figures {
                None => Ok(None),
                Some(_) => Err(Error::Refused {
                    operation: "--figures",
                    reason: "the figures are those of a page, and --report FILE.html is missing".into(),
                }),
            };
        };
        refuse_any("--report", page, inputs, "the input file itself")?;
        let output: Vec<&Path> = common.output.iter().map(PathBuf::as_path).collect();
        refuse_any("--report", page, &output, "the file of --output itself")?;
        let figures = common.figures.as_ref().map(|folder| folder.join(page.file_stem().unwrap_or_default()));
        if let Some(figures) = &figures {
            if let Some(taken) = inputs.iter().chain(&output).find(|taken| is_figure(taken, figures)) {
                return Err(replaces("--figures", taken, "a file that this command reads or writes otherwise"));
            }
            AtomicFile::create(figure(figures, 1))?;
        }
        Ok(Some(Self { page: AtomicFile::create(page)?, figures }))
    }

    fn write(self, page: &Page) -> Result<()> {
        if let Some(figures) = &self.figures {
            for (index, svg) in page.figures().iter().enumerate() {
                write_atomically(figure(figures, index + 1), svg.as_bytes())?;
            }
        }
        self.page.commit(page.html().as_bytes())
    }
}

fn figure(figures: &Path, number: usize) -> PathBuf {
    let mut name = figures.as_os_str().to_owned();
    name.push(format!("-{number}.svg"));
    name.into()
}

/// Whether a figure of any number would be written to this path.
fn is_figure(path: &Path, figures: &Path) -> bool {
    let (Some(path), Some(first)) = (place(path), place(&figure(figures, 1))) else { return false };
    let number = |path: &Path| {
        let name = path.file_name()?.to_str()?.strip_suffix(".svg")?.rsplit_once('-')?;
        name.1.bytes().all(|byte| byte.is_ascii_digit()).then(|| name.0.to_owned())
    };
    path.parent() == first.parent() && number(&path).is_some() && number(&path) == number(&first)
}

/// A result never replaces one of these files.
pub fn refuse_any(option: &'static str, path: &Path, others: &[&Path], found: &str) -> Result<()> {
    // Without a place there is nothing to replace.
    let same = |other: &&Path| matches!((place(other), place(path)), (Some(other), Some(path)) if other == path);
    if others.iter().any(same) { Err(replaces(option, path, found)) } else { Ok(()) }
}

fn replaces(option: &'static str, path: &Path, found: &str) -> Error {
    Error::from(InputError {
        file: path.to_path_buf(),
        place: option.into(),
        found: found.into(),
        expected: "another file, because the result replaces it".into(),
        hint: None,
    })
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

/// Work that ended early because somebody wanted it to; `path` is what is not complete.
pub fn interrupted(path: &Path, reason: String) -> Error {
    let source = std::io::Error::new(ErrorKind::Interrupted, reason);
    Error::Io { path: path.into(), action: "complete", source }
}

/// The common part of a document.
pub fn envelope(
    schema: &'static str,
    common: &Common,
    options: &impl Serialize,
    inputs: Vec<InputFile>,
    mut warnings: Vec<Warning>,
) -> Envelope {
    warnings.extend(common.session.fewer_threads().map(|fewer| Warning {
        code: "fewer-threads",
        message: fewer.sentence(),
        hint: "raise the limit of processes or memory, or ask for fewer threads".into(),
    }));
    let mut all = serde_json::to_value(options).unwrap_or_default();
    if let (Some(all), Ok(serde_json::Value::Object(shared))) = (all.as_object_mut(), serde_json::to_value(common)) {
        all.extend(shared);
    }
    Envelope { schema, version: env!("CARGO_PKG_VERSION"), inputs, options: all, seed: common.seed, warnings }
}

/// How far the work is, shown on a terminal or told to the program that runs the command.
pub struct Bar {
    bar: ProgressBar,
    session: Session,
    unit: &'static str,
}

impl Bar {
    /// The same, where the work itself looks after its end.
    pub fn without_interruption(mut self) -> Self {
        self.session = self.session.uninterrupted();
        self
    }

    pub fn inc(&self, more: u64) {
        self.bar.inc(more);
        self.tell();
    }

    /// Work in rounds of which nobody knows how many there are: the whole grows by a round when the last one is over.
    pub fn inc_in_rounds(&self, more: u64, round: u64) {
        let done = self.bar.position() + more;
        if self.bar.length().is_some_and(|length| length < done) {
            self.bar.set_length(done.next_multiple_of(round.max(1)));
        }
        self.inc(more);
    }

    pub fn set_position(&self, done: u64) {
        self.bar.set_position(done);
        self.tell();
    }

    pub fn position(&self) -> u64 {
        self.bar.position()
    }

    /// What is left is foretold from what happens from now on.
    pub fn reset_eta(&self) {
        self.bar.reset_eta();
    }

    pub fn finish_and_clear(&self) {
        self.bar.finish_and_clear();
    }

    /// Leaves the terminal to others for a moment.
    pub fn suspend(&self, work: impl FnOnce()) {
        self.bar.suspend(work);
    }

    fn tell(&self) {
        if self.session.is_hosted() {
            let done = self.bar.position();
            self.session.tell(done, self.bar.length().unwrap_or_default().max(done), self.unit);
            self.session.check();
        }
    }
}

/// A bar with rate and time left on a terminal; nothing when piped or quiet.
pub fn progress(common: &Common, length: u64, unit: &'static str) -> Bar {
    Bar { bar: terminal_bar(common, length, unit), session: common.session.clone(), unit }
}

fn terminal_bar(common: &Common, length: u64, unit: &'static str) -> ProgressBar {
    if common.quiet || common.session.is_hosted() {
        return ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
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
