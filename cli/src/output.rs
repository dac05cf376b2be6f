//! Where results go, and what is seen while they are made.

use crate::args::{Common, Format};
use crate::session::Session;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use leakbound::record::{AtomicFile, InputFile, write_atomically};
use leakbound::report::{Document, Envelope, Page, fit};
use leakbound::study::{Step, Warning};
use leakbound::{Error, InputError, Result};
use serde::Serialize;
use std::fmt::Write;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Bytes that are written to stdout in one piece.
const PIECE: usize = 1 << 16;

/// The places of the result, opened before the work so that a full disk or a wrong folder is known immediately.
pub struct Output {
    session: Session,
    file: Option<AtomicFile>,
    format: Format,
    /// Whether verdicts are colored, where they are read on a terminal.
    colors: bool,
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
            reject_any("--output", output, inputs, "the input file itself")?;
        }
        let report = Report::open(common, inputs)?;
        let file = common.output.as_ref().map(AtomicFile::create).transpose()?;
        let colors = !common.no_color && has_colors();
        Ok(Self { session: common.session.clone(), file, format: common.format, colors, report })
    }

    /// Whether nothing but the flat table of bounds is wanted, and what else a document has may be left out.
    pub fn has_bounds_alone(&self) -> bool {
        self.format == Format::Csv && self.report.is_none() && !self.session.is_hosted()
    }

    /// Page and figures first: a reader of the result finds them there.
    pub fn write<D: Document + Clone + Send + Sync + 'static>(self, document: &D) -> Result<()> {
        // JSON is written piece by piece; the others are small, or reject what they cannot say before anything is
        // written.
        let text = match self.format {
            Format::Json => None,
            // Files have the same lines on every machine.
            Format::Text if self.file.is_some() => Some(document.text()),
            Format::Text if self.colors => Some(colored(&fit(&document.text(), terminal_width()))),
            Format::Text => Some(fit(&document.text(), terminal_width())),
            Format::Csv => Some(document.csv()?),
        };
        let result = |writer: &mut dyn io::Write| match &text {
            Some(text) => writer.write_all(text.as_bytes()),
            None => document.write_json(writer),
        };
        // A full disk must not lose the work: a result whose file cannot be written goes to stdout, and a page that
        // cannot be written does not hold the result back.
        let page = self.report.map_or(Ok(()), |report| report.write(&document.page()));
        let printed = || if self.session.is_hosted() { Ok(()) } else { print_with(result) };
        match self.file {
            Some(file) => file.commit_with(result).inspect_err(|_| drop(printed())),
            None => printed(),
        }?;
        self.session.hand_over(document);
        page
    }
}

impl Report {
    fn open(common: &Common, inputs: &[&Path]) -> Result<Option<Self>> {
        let Some(page) = &common.report else {
            let reason = "the figures are those of a page, and --report FILE.html is missing";
            return Error::check_possible(common.figures.is_none(), "--figures", reason).map(|()| None);
        };
        reject_any("--report", page, inputs, "the input file itself")?;
        let output: Vec<&Path> = common.output.iter().map(PathBuf::as_path).collect();
        reject_any("--report", page, &output, "the file of --output itself")?;
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

/// The file of a figure.
pub fn figure(figures: &Path, number: usize) -> PathBuf {
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
pub fn reject_any(option: &'static str, path: &Path, others: &[&Path], found: &str) -> Result<()> {
    // Without a place there is nothing to replace.
    let same = |other: &&Path| matches!((place(other), place(path)), (Some(other), Some(path)) if other == path);
    if others.iter().any(same) { Err(replaces(option, path, found)) } else { Ok(()) }
}

/// The error for a result that would replace a file which is something else.
pub fn replaces(option: &'static str, path: &Path, found: &str) -> Error {
    fault(path, option, found, "another file, because the result replaces it")
}

/// An error of a file that has no hint.
pub fn fault(file: &Path, place: &str, found: impl Into<String>, expected: impl Into<String>) -> Error {
    let (file, found, expected) = (file.to_path_buf(), found.into(), expected.into());
    InputError { file, place: place.into(), found, expected, hint: None }.into()
}

/// Where a file is or will be.
pub fn place(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().or_else(|| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(folder.canonicalize().ok()?.join(path.file_name()?))
    })
}

/// Writes the text of a command that has no document, to stdout or to the file of `--output`.
pub fn print(common: &Common, forms: &[Format], bytes: &[u8]) -> Result<()> {
    let reason = "this command prints a text and nothing else";
    Error::check_possible(common.report.is_none(), "--report", reason)?;
    Error::check_possible(common.figures.is_none(), "--figures", reason)?;
    Error::check_possible(forms.contains(&common.format), "--format", reason)?;
    match &common.output {
        Some(path) => write_atomically(path, bytes),
        None => print_with(|stdout| stdout.write_all(bytes)),
    }
}

/// Writes to stdout, piece by piece; a reader that has seen enough is not an error.
fn print_with(write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> Result<()> {
    let mut stdout = BufWriter::with_capacity(PIECE, io::stdout().lock());
    match write(&mut stdout).and_then(|()| stdout.flush()) {
        Err(source) if source.kind() != ErrorKind::BrokenPipe => {
            Err(Error::Io { path: "stdout".into(), action: "write", source })
        }
        _ => Ok(()),
    }
}

/// The columns of the terminal that stdout is; none where it is a file or a pipe, so that those have the same lines
/// everywhere. `COLUMNS` comes first, as the user's word about a terminal, and 80 are the columns of a terminal that
/// does not tell.
fn terminal_width() -> Option<usize> {
    let stdout = io::stdout();
    let given = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|&columns: &usize| columns > 0);
    let found = || terminal_size::terminal_size_of(io::stdout()).map(|(columns, _)| usize::from(columns.0));
    stdout.is_terminal().then(|| given().or_else(found).filter(|&columns| columns > 0).unwrap_or(80))
}

/// Whether stdout is a terminal that shows colors, and nobody has asked for none (no-color.org).
fn has_colors() -> bool {
    let given = |name: &str| std::env::var_os(name).unwrap_or_default();
    io::stdout().is_terminal() && given("NO_COLOR").is_empty() && given("TERM") != "dumb"
}

/// Verdicts, and their color on a terminal: bold red or green.
const VERDICTS: [(&str, &str); 7] = [
    ("REFUTED", "1;31"),
    ("Refuted", "1;31"),
    ("refuted", "1;31"),
    ("failed", "1;31"),
    ("not refuted", "32"),
    ("not-refuted", "32"),
    ("passed", "32"),
];

/// A text whose verdicts are colored: at the start of a line, of a claim, or alone in a cell of a table.
fn colored(text: &str) -> String {
    let is_verdict = |before: &str, after: &str| {
        let ends = after.trim_end().is_empty() || after.starts_with("  ");
        before.is_empty() && after.starts_with(':')
            || before.starts_with("claim ") && before.ends_with(": ")
            || before.starts_with("  ") && before.ends_with("  ") && !before.trim().is_empty() && ends
    };
    let line = |line: &str| {
        let found =
            VERDICTS.iter().flat_map(|verdict| line.match_indices(verdict.0).map(move |found| (verdict, found.0)));
        let parts = |(&(verdict, color), at): (&(&'static str, &'static str), usize)| {
            let (before, after) = (&line[..at], &line[at + verdict.len()..]);
            is_verdict(before, after).then(|| format!("{before}\u{1b}[{color}m{verdict}\u{1b}[0m{after}"))
        };
        found.map(parts).find_map(|colored| colored).unwrap_or_else(|| line.to_owned())
    };
    text.split_inclusive('\n').map(line).collect()
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
    Envelope {
        schema,
        command: common.command.clone(),
        version: env!("CARGO_PKG_VERSION"),
        inputs,
        options: all,
        seed: common.seed,
        warnings,
    }
}

/// Shows the progress of a study on a terminal, or tells the program that called, which may end the work.
pub struct Watch {
    session: Session,
    quiet: bool,
    /// The bar of the present phase.
    bar: Mutex<Option<(Step, ProgressBar)>>,
    /// Units done in the present phase.
    done: AtomicU64,
}

impl Watch {
    pub fn new(common: &Common) -> Self {
        let (session, done) = (common.session.clone(), AtomicU64::new(0));
        Self { session, quiet: common.quiet, bar: Mutex::new(None), done }
    }

    /// Units done in the present phase.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    pub fn step(&self, step: Step) -> ControlFlow<()> {
        let session = &self.session;
        self.done.store(step.done, Ordering::Relaxed);
        if session.is_hosted() {
            session.tell(step.done, step.all, step.unit);
        } else {
            self.show(step);
        }
        let ended = session.noted().is_noted();
        if ended { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Leaves the terminal to others for a moment.
    pub fn suspend(&self, work: impl FnOnce()) {
        match &*self.bar.lock().unwrap_or_else(PoisonError::into_inner) {
            Some((_, bar)) => bar.suspend(work),
            None => work(),
        }
    }

    fn show(&self, step: Step) {
        let mut bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        let phase = Step { done: 0, ..step };
        if bar.as_ref().is_none_or(|bar| bar.0 != phase) {
            let new = terminal_bar(self.quiet, step.all, step.unit);
            // The time left is foretold from what happens from now on.
            new.set_position(step.done);
            new.reset_eta();
            *bar = Some((phase, new));
        }
        if let Some((_, shown)) = &*bar {
            // Threads may report out of order.
            shown.set_position(step.done.max(shown.position()));
            if step.done == step.all {
                shown.finish_and_clear();
                *bar = None;
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some((_, bar)) = &*self.bar.lock().unwrap_or_else(PoisonError::into_inner) {
            bar.finish_and_clear();
        }
    }
}

/// A bar with rate and time left on a terminal; nothing when piped or hidden.
fn terminal_bar(hidden: bool, length: u64, unit: &'static str) -> ProgressBar {
    if hidden {
        return ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
    }
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    let template = format!("{{wide_bar}} {{percent}}%  {{human_pos}} {unit}, {{rate}}, {{eta}} left");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        // A terminal that cannot be written to shows no bar.
        let rate = |state: &ProgressState, text: &mut dyn Write| {
            let _ = write!(text, "{}/s", HumanCount(state.per_sec() as u64));
        };
        bar.set_style(style.with_key("rate", rate));
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::colored;

    #[test]
    fn verdicts_alone_are_colored() {
        let text = "Rerun of refuted.json\nclaim ε ≤ 1: REFUTED (at least 2)\nclaim passed: not refuted (at least 1)\n  a  \
                    refuted\n  passed   exact   passed\nRefuted: too low\nwarning: it failed\n";
        let shown = "Rerun of refuted.json\nclaim ε ≤ 1: <REFUTED> (at least 2)\nclaim passed: {not refuted} (at least \
                     1)\n  a  <refuted>\n  passed   exact   {passed}\n<Refuted>: too low\nwarning: it failed\n";
        let shown = shown.replace('<', "\u{1b}[1;31m").replace('{', "\u{1b}[32m").replace(['>', '}'], "\u{1b}[0m");
        assert_eq!(colored(text), shown);
    }
}
