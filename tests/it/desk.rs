//! The program as its user runs it: in a folder, with words, to an exit status and what it prints.

use crate::arrays::{Arrays, packed};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_leakbound");

/// A run that cannot do what it is asked for finds out before the work.
const SOON: Duration = Duration::from_secs(60);

/// A folder in which the program runs: one of its own, which goes with it, or the root of the repository.
pub struct Desk {
    folder: PathBuf,
    own: Option<TempDir>,
}

impl Desk {
    /// An empty folder.
    pub fn new() -> Self {
        let own = tempfile::tempdir().unwrap();
        Self { folder: own.path().to_owned(), own: Some(own) }
    }

    /// The root of the repository, whose files are only read.
    pub fn root() -> Self {
        Self { folder: crate::ROOT.into(), own: None }
    }

    /// The place of a file, whether or not it is there.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes a file.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        assert!(self.own.is_some(), "{name} would be written into the repository");
        fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    /// Writes a numpy archive whose arrays are stored as they are.
    pub fn arrays(&self, name: &str, arrays: &Arrays<'_>) -> PathBuf {
        self.file(name, packed(false, arrays))
    }

    /// Writes a numpy archive whose arrays are compressed.
    pub fn compressed(&self, name: &str, arrays: &Arrays<'_>) -> PathBuf {
        self.file(name, packed(true, arrays))
    }

    /// What a file holds.
    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Demands that two files hold the same.
    #[cfg(feature = "torch")]
    #[track_caller]
    pub fn are_the_same(&self, names: [&str; 2]) {
        let [first, second] = names.map(|name| fs::read(self.path(name)).unwrap());
        assert!(first == second, "{names:?}");
    }

    /// Everything that lies in the folder, sorted.
    pub fn names(&self) -> Vec<String> {
        names(&self.folder)
    }

    /// The program with these words, before it runs.
    pub fn command(&self, words: &(impl Words + ?Sized)) -> Command {
        let mut command = Command::new(PROGRAM);
        // What the terminal of the tests is like must not matter.
        command.current_dir(&self.folder).env_remove("NO_COLOR").env_remove("COLUMNS");
        command.args(words.words()).stdin(Stdio::null());
        command
    }

    /// A run with these words, to its end.
    pub fn run(&self, words: &(impl Words + ?Sized)) -> Ran {
        Ran::of(&mut self.command(words))
    }

    /// A run with these words that goes on, with a pipe for each of its streams.
    #[cfg(unix)]
    pub fn start(&self, words: &(impl Words + ?Sized)) -> std::process::Child {
        let mut command = self.command(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// A run that finds this text on its stdin.
    pub fn fed(&self, words: &(impl Words + ?Sized), stdin: &str) -> Ran {
        assert_cmd::Command::from_std(self.command(words)).write_stdin(stdin).output().unwrap().into()
    }

    /// What a run prints that ends with 0 and says nothing else.
    #[track_caller]
    pub fn stdout(&self, words: &(impl Words + ?Sized)) -> String {
        self.run(words).printed(0)
    }

    /// What a run prints that ends with 0, whatever else it says.
    #[cfg(feature = "torch")]
    #[track_caller]
    pub fn done(&self, words: &(impl Words + ?Sized)) -> String {
        let ran = self.run(words);
        assert_eq!(ran.status, 0, "{ran:?}");
        ran.stdout
    }

    /// The document of such a run.
    #[cfg(feature = "torch")]
    #[track_caller]
    pub fn done_json(&self, words: &str) -> Value {
        serde_json::from_str(&self.done(&format!("{words} --format json"))).unwrap()
    }

    /// Demands that a run ends with this status and has these words on stderr.
    #[cfg(feature = "torch")]
    #[track_caller]
    pub fn ends(&self, status: i32, words: &(impl Words + ?Sized), part: &str) -> Ran {
        let ran = self.run(words);
        assert!(ran.status == status && ran.stderr.contains(part), "{ran:?}");
        ran
    }

    /// The document of a run that ends with 0 and says nothing else.
    #[track_caller]
    pub fn json(&self, words: &(impl Words + ?Sized)) -> Value {
        self.answer(0, words)
    }

    /// The document of a run that ends with this status and says nothing else.
    #[track_caller]
    pub fn answer(&self, status: i32, words: &(impl Words + ?Sized)) -> Value {
        self.run(&[&words.words()[..], &["--format", "json"]].concat()).json(status)
    }

    /// The one line, without `error: `, of a run that must end with this status.
    #[track_caller]
    pub fn rejected(&self, status: i32, words: &(impl Words + ?Sized)) -> String {
        let (found, line) = self.failed(words);
        assert_eq!(found, status, "{line}");
        line
    }

    /// Demands that a run ends with this status, and with one line that has these words in it.
    #[track_caller]
    pub fn is_rejected(&self, status: i32, words: &(impl Words + ?Sized), part: &str) {
        let line = self.rejected(status, words);
        assert!(line.contains(part), "{:?}: {line}", words.words());
    }

    /// The same with a line that begins with these words.
    #[track_caller]
    pub fn is_rejected_as(&self, status: i32, words: &(impl Words + ?Sized), beginning: &str) {
        let line = self.rejected(status, words);
        assert!(line.starts_with(beginning), "{:?}: {line}", words.words());
    }

    /// Demands of lines `words => status: line` that a run of this command with these words ends so, as [`table`] says.
    #[track_caller]
    pub fn rejects(&self, command: &str, rows: &str) {
        table(rows, |words| {
            let (status, line) = self.failed(&shell_words::split(&format!("{command} {words}")).unwrap());
            format!("{status}: {line}")
        });
    }

    /// The status, 1 or 2, and the one line, without `error: `, of a run that must fail, soon, and leave no file
    /// behind.
    #[track_caller]
    pub fn failed(&self, words: &(impl Words + ?Sized)) -> (i32, String) {
        let mut words = words.words();
        // Where the place of the result is not the subject, it must not appear.
        if self.own.is_some() && !words.contains(&"--output") {
            words.extend(["--output", "result"]);
        }
        let (before, start) = (self.names(), Instant::now());
        let ran = self.run(&words);
        assert!(start.elapsed() < SOON, "{words:?}: {:?}", start.elapsed());
        assert!(matches!(ran.status, 1 | 2), "{ran:?}");
        // The repository belongs to others too.
        assert!(self.own.is_none() || self.names() == before, "{words:?}: {:?} after {before:?}", self.names());
        (ran.status, ran.line(ran.status))
    }
}

/// What a run in the root of the repository prints that ends with 0 and says nothing else.
#[track_caller]
pub fn stdout(words: &str) -> String {
    Desk::root().stdout(words)
}

/// The document of such a run.
#[track_caller]
pub fn json(words: &str) -> Value {
    Desk::root().json(words)
}

/// Demands that a text has all of these in it.
#[track_caller]
pub fn says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// The rows of a section of `tables/FILE.txt`, which begins with `# ` and its name.
#[track_caller]
pub fn rows_of(file: &str, section: &str) -> String {
    let text = fs::read_to_string(format!("{}/tests/it/tables/{file}.txt", crate::ROOT)).unwrap();
    let found = text.split("\n\n").find_map(|rows| rows.strip_prefix("# ")?.strip_prefix(section)?.strip_prefix('\n'));
    found.unwrap_or_else(|| panic!("{file}.txt has no section {section}")).to_owned()
}

/// Rows `one => other`.
#[track_caller]
pub fn pairs(rows: &str) -> Vec<(&str, &str)> {
    rows.lines().map(|row| row.split_once(" => ").unwrap_or_else(|| panic!("{row}: no pair"))).collect()
}

/// Each section is the table of a test.
#[test]
fn every_table_is_held() {
    let tests = Path::new(crate::ROOT).join("tests/it");
    let sources: String = crate::source::files(&tests).iter().map(|path| crate::source::read(path)).collect();
    for file in names(&tests.join("tables")) {
        let (text, name) = (crate::source::read(&tests.join("tables").join(&file)), file.trim_end_matches(".txt"));
        let sections = text.lines().filter(|line| !line.contains("=>")).filter_map(|line| line.strip_prefix("# "));
        for section in sections {
            assert!(sources.contains(&format!("rows_of(\"{name}\", \"{section}\")")), "{file}: {section}");
        }
    }
}

/// Demands of lines `input => output` that this comes of each input. In an input `\n`, `\r` and `\e` are an end of a
/// line, a carriage return and an escape; in an output `…` is anything.
#[track_caller]
pub fn table(rows: &str, output: impl Fn(&str) -> String) {
    for row in rows.lines().map(str::trim).filter(|row| !row.is_empty()) {
        let (input, expected) = row.split_once("=>").unwrap_or_else(|| panic!("{row}: no output"));
        let input = input.trim().replace(r"\n", "\n").replace(r"\r", "\r").replace(r"\e", "\u{1b}");
        let found = output(&input);
        assert!(fits(&found, expected.trim()), "{row}\n{found}");
    }
}

/// Whether a text is the pattern with any texts in the places of `…`.
fn fits(text: &str, pattern: &str) -> bool {
    let parts: Vec<&str> = pattern.split('…').collect();
    let [first, middle @ .., last] = &parts[..] else { return text == pattern };
    let mut rest = text.strip_prefix(first);
    for part in middle {
        rest = rest.and_then(|rest| rest.split_once(part)).map(|(_, after)| after);
    }
    rest.is_some_and(|rest| rest.ends_with(last))
}

/// The text in which, for a change `one | other`, one piece is another.
#[track_caller]
pub fn changed(text: &str, change: &str) -> String {
    let (from, to) = change.split_once(" |").unwrap();
    assert!(text.contains(from), "{from}: {text}");
    text.replacen(from, to.trim_start(), 1)
}

/// Everything that lies in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// What a run left: its exit status and both of its streams.
#[derive(Debug)]
pub struct Ran {
    /// A run that a signal ends has none, and is no `Ran`.
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
    /// What ran, for the message of an assertion that fails.
    #[expect(dead_code, reason = "only shown")]
    command: String,
}

impl Ran {
    /// Runs a command to its end.
    pub fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        Self { command: format!("{command:?}"), ..Self::from(output) }
    }

    /// Stdout of a run that ended with this status and said nothing on stderr.
    #[track_caller]
    pub fn printed(self, status: i32) -> String {
        assert_eq!((self.status, &*self.stderr), (status, ""), "{self:?}");
        self.stdout
    }

    /// The same, as JSON.
    #[track_caller]
    pub fn json(self, status: i32) -> Value {
        serde_json::from_str(&self.printed(status)).unwrap()
    }

    /// The one line on stderr, without `error: `, of a run that ended with this status and printed nothing.
    #[track_caller]
    pub fn line(&self, status: i32) -> String {
        assert_eq!(self.stdout, "", "{self:?}");
        self.complaint(status)
    }

    /// The same of a run whose result went to stdout, because its file cannot be written.
    #[track_caller]
    pub fn complaint(&self, status: i32) -> String {
        assert_eq!(self.status, status, "{self:?}");
        let line = self.stderr.strip_prefix("error: ").and_then(|text| text.strip_suffix('\n'));
        let line = line.unwrap_or_else(|| panic!("{self:?}"));
        // What a user did not write is no name to tell, and nothing rewrites the terminal.
        assert!(!line.contains(char::is_control) && !line.contains(".part"), "{self:?}");
        line.to_owned()
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let status = output.status.code().unwrap_or_else(|| panic!("{}", output.status));
        Self { status, stdout: text(output.stdout), stderr: text(output.stderr), command: String::new() }
    }
}

/// Sends a signal, such as `-INT`.
#[cfg(unix)]
pub fn signal(child: &std::process::Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

/// Words of a command line: a text is split at its blanks, a list is taken as it is.
pub trait Words {
    /// The words, in order.
    fn words(&self) -> Vec<&str>;
}

impl Words for str {
    fn words(&self) -> Vec<&str> {
        self.split_whitespace().collect()
    }
}

impl Words for String {
    fn words(&self) -> Vec<&str> {
        self.as_str().words()
    }
}

impl<T: AsRef<str>> Words for [T] {
    fn words(&self) -> Vec<&str> {
        self.iter().map(AsRef::as_ref).collect()
    }
}

impl<T: AsRef<str>, const N: usize> Words for [T; N] {
    fn words(&self) -> Vec<&str> {
        self.as_slice().words()
    }
}

impl<T: AsRef<str>> Words for Vec<T> {
    fn words(&self) -> Vec<&str> {
        self.as_slice().words()
    }
}
