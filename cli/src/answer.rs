//! One command, run for another program in its process.

use super::args::Format;
use super::cmd::Cli;
use super::command_line::{CommandLine, Program};
use super::interruption::Interruption;
use super::session::{Ask, BlackBoxCall, Forms, Found, Host, Progress, Session};
use super::threads::{self, Alone};
use super::usage;
use clap::CommandFactory;
use leakbound::error::Error;
use leakbound::record::MemoryFiles;
use leakbound::study::Verdict;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// One command that another program wants to be run.
#[derive(Default)]
pub struct Request {
    /// The words after `leakbound`. Wherever the command takes a file, a name of [`Request::files`] may stand.
    pub words: Vec<OsString>,
    /// Files in memory.
    pub files: MemoryFiles,
    /// The progress callback, called on any thread.
    pub progress: Option<Progress>,
    /// Ends the work early, where it reports how far it is.
    pub interruption: Interruption,
    /// In `verify`, in place of the program of `--program`, whose word is then its name.
    pub accountant: Option<Ask>,
    /// In `audit mechanism`, in place of the program of `--program`, whose word is then its name.
    pub black_box: Option<BlackBoxCall>,
}

/// What a command found.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Its document, as `--format json` prints it.
    pub json: String,
    /// Its text and its page.
    pub forms: Forms,
    /// Whether a claim was refuted.
    pub refuted: bool,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Rejection {
    /// An argument cannot be used: exit status 2 of the command.
    Usage(String),
    /// The data or the system failed: exit status 1.
    Failed(Error),
    /// The work was interrupted.
    Interrupted,
}

impl fmt::Display for Rejection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(sentence) => formatter.write_str(sentence),
            Self::Failed(error) => error.fmt(formatter),
            Self::Interrupted => formatter.write_str("the work was interrupted"),
        }
    }
}

impl std::error::Error for Rejection {}

/// Runs one command and gives its document; nothing is printed.
///
/// # Errors
/// [`Rejection`], with the sentence that the command would print.
///
/// # Panics
/// Passes on panics, which are faults of this library.
///
/// ```
/// use leakbound_cli::{Request, answer};
///
/// let words = "exact --histogram 14,12,10,8,6 --neighbor 13,13,10,8,6 --noise gaussian:2 --orders 2";
/// let found = answer(Request { words: words.split(' ').map(Into::into).collect(), ..Request::default() }).unwrap();
/// assert!(found.json.contains("\"forward\": 0.239564145745"), "{}", found.json);
/// let rejected = answer(Request { words: vec!["exact".into()], ..Request::default() }).unwrap_err();
/// assert!(rejected.to_string().starts_with("exact: name a mechanism: --noise"));
/// ```
pub fn answer(request: Request) -> Result<Answer, Rejection> {
    Commands::default().answer(request)
}

/// Arguments that are kept for the next call.
const KEPT: usize = 64;

/// Runs commands one after the other or side by side, and keeps the parser and the arguments that it has read: building
/// the parser and reading take longer than small work, and programs ask the same of other data.
#[derive(Debug, Default)]
pub struct Commands {
    parser: Mutex<Option<clap::Command>>,
    read: Mutex<HashMap<Vec<OsString>, Cli>>,
}

impl Commands {
    /// Runs one command, as [`answer`] does.
    ///
    /// # Errors
    /// [`Rejection`], with the sentence that the command would print.
    ///
    /// # Panics
    /// Passes on panics, which are faults of this library.
    pub fn answer(&self, request: Request) -> Result<Answer, Rejection> {
        let words = request.words.clone();
        let kept = self.read.lock().unwrap_or_else(PoisonError::into_inner).remove(&words);
        let mut cli = match kept {
            Some(cli) => cli,
            None => {
                let mut parser = self.parser.lock().unwrap_or_else(PoisonError::into_inner);
                usage::read_with(parser.get_or_insert_with(Cli::command), &words)
                    .map_err(|error| Rejection::Usage(usage::sentence(&error)))?
            }
        };
        let found = run_for(&mut cli, request);
        cli.common.session = Session::default();
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.len() >= KEPT {
            read.clear();
        }
        read.insert(words, cli);
        found
    }
}

/// Runs a command for a program.
fn run_for(cli: &mut Cli, request: Request) -> Result<Answer, Rejection> {
    let Request { files, progress, interruption, accountant, black_box, .. } = request;
    if !cli.has_document() {
        return Err(Rejection::Usage("this command prints a text and has no document".into()));
    }
    let host = Arc::new(Host {
        progress,
        interruption,
        accountant: Mutex::new(accountant),
        black_box: Mutex::new(black_box),
        fewer: Mutex::default(),
        found: Mutex::default(),
    });
    cli.common.session = Session::of(Arc::clone(&host));
    cli.common.format = Format::Json;
    let work = || files.provide(|| cli.run());
    let ended = match cli.common.threads {
        None => threads::start(None, Alone::Rejects).and_then(|fewer| {
            host.note(fewer);
            work()
        }),
        Some(threads) => threads::pool(threads).and_then(|(pool, fewer)| {
            host.note(fewer);
            pool.install(work)
        }),
    };
    let refuted = match ended {
        Ok(verdict) => verdict == Verdict::Refuted,
        Err(Error::Interrupted) => return Err(Rejection::Interrupted),
        Err(error) if usage::is_usage(&error) => return Err(Rejection::Usage(error.to_string())),
        Err(error) => return Err(Rejection::Failed(error)),
    };
    let found = host.found.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Found { json, forms } =
        found.ok_or_else(|| Rejection::Usage("this command prints a text and has no document".into()))?;
    Ok(Answer { json, forms, refuted })
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakbound::black_box::Output;
    use leakbound::record::MemoryFile;

    fn request(words: &str) -> Request {
        Request { words: words.split(' ').map(Into::into).collect(), ..Request::default() }
    }

    const SCENARIO: &str = "samples = 1e9\nmodel = 'prompt-pate'\nnoise = 'gaussian:2'\nhistogram = [3, 1]\n\
                            histogram_neighbor = [2, 2]\n";

    #[test]
    fn files_in_memory_are_read_and_pages_are_made() {
        let text = b"outcome,count,count_neighbor\na,600,500\nb,400,500\n".to_vec();
        let files = MemoryFiles::from_iter([("c.csv".into(), MemoryFile::of_bytes(text))]);
        let found = answer(Request { files, ..request("audit counts c.csv --orders 2") }).unwrap();
        assert!(found.json.starts_with('{') && found.forms.page().contains("</html>") && !found.refuted);
        assert!(found.forms.text().starts_with("Audit of c.csv (1 query)"), "{}", found.forms.text());
    }

    #[test]
    fn sentences_are_those_of_the_command() {
        let sentence = |words: &str| answer(request(words)).unwrap_err();
        assert!(matches!(sentence("audit counts missing.csv"), Rejection::Failed(_)));
        let line = sentence("exact --histogram 3,-1 --neighbor 2,0 --noise gaussian:2").to_string();
        assert!(line.starts_with("invalid value '3,-1' for '--histogram"), "{line}");
        let line = sentence("exact --histogram 3,1 --neighborr 2,0").to_string();
        assert!(line.contains("--neighbor") && !line.contains('\n'), "{line}");
        assert!(matches!(sentence("man"), Rejection::Usage(_)));
        assert!(matches!(sentence("verify --accountant list"), Rejection::Usage(_)));
    }

    #[test]
    fn work_that_is_interrupted_ends() {
        let interruption = Interruption::default();
        let noting = interruption.clone();
        let progress: Progress = Box::new(move |done, all, unit| {
            assert!(done <= all && unit == "outputs");
            noting.note();
        });
        let files = MemoryFiles::from_iter([("s.toml".into(), MemoryFile::of_bytes(SCENARIO.into()))]);
        let request = Request { files, progress: Some(progress), interruption, ..request("simulate s.toml") };
        assert!(matches!(answer(request), Err(Rejection::Interrupted)));
    }

    #[test]
    fn functions_of_the_program_are_audited() {
        let words =
            "audit mechanism --program count --dataset [1,2] --relation add-remove --claim-epsilon 1 --runs 400";
        let call: BlackBoxCall =
            Box::new(|dataset, runs, _| Ok(vec![Output::Number(dataset.records().len() as f64); runs]));
        let found = answer(Request { black_box: Some(call), ..request(words) }).unwrap();
        assert!(found.refuted && found.json.contains("\"program\": \"count\""), "{}", found.json);
        let call: BlackBoxCall = Box::new(|_, _, _| Err("no such data".into()));
        let rejected = answer(Request { black_box: Some(call), ..request(words) }).unwrap_err();
        assert!(rejected.to_string().contains("no such data"), "{rejected}");
    }

    #[test]
    fn calls_from_several_threads_do_not_meet() {
        std::thread::scope(|scope| {
            for index in 0..4u64 {
                scope.spawn(move || {
                    let text = format!("outcome,count,count_neighbor\na,{},500\nb,400,500\n", 100 + index);
                    let files = MemoryFiles::from_iter([("c.csv".into(), MemoryFile::of_bytes(text.into_bytes()))]);
                    let words = format!("audit counts c.csv --orders 2 --threads {}", 1 + index % 2);
                    let read = |files| answer(Request { files, ..request(&words) }).unwrap().json;
                    assert_eq!(read(files.clone()), read(files));
                });
            }
        });
    }
}
