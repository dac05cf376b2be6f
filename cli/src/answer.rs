//! One command, run for another program in its process.

use super::args::Format;
use super::cmd::Cli;
use super::command_line::{CommandLine, Program};
use super::interruption::Interruption;
use super::options::{Origin, Schema, Unusable};
use super::rejection::Rejection;
use super::session::{Ask, BlackBoxCall, Forms, Found, Host, Progress, Session};
use super::threads::{self, Alone};
use super::usage;
use leakbound::error::{Error, echo};
use leakbound::json;
use leakbound::record::MemoryFiles;
use leakbound::study::Verdict;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// One command that another program wants to be run.
#[derive(Default)]
pub struct Request {
    /// The command, such as `audit counts`.
    pub command: String,
    /// Its options as a JSON object, by the names that documents and study files have; empty for none. Wherever the
    /// command takes a file, a name of [`Request::files`] may stand.
    pub options: String,
    /// Files in memory.
    pub files: MemoryFiles,
    /// The progress callback, called on any thread.
    pub progress: Option<Progress>,
    /// Ends the work early, where it reports how far it is.
    pub interruption: Interruption,
    /// In `verify`, in place of the program that `program` names.
    pub accountant: Option<Ask>,
    /// In `audit mechanism`, in place of the program that `program` names.
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

impl From<Unusable> for Rejection {
    fn from(unusable: Unusable) -> Self {
        match unusable {
            Unusable::Command(_) | Unusable::Twice(_) => Self::usage(unusable.to_string()),
            Unusable::Unknown(option) => {
                Self::Usage { parameter: Some(option), sentence: "the command does not have this option".into() }
            }
            Unusable::Value { option, value, expected } => Self::Usage {
                parameter: Some(option),
                sentence: format!("found {}, expected {expected}", echo(&value)),
            },
        }
    }
}

/// Usage errors name an option where they concern one; other errors concern data or the system.
impl From<Error> for Rejection {
    fn from(error: Error) -> Self {
        match error {
            Error::Interrupted => Self::Interrupted,
            error if usage::is_usage(&error) => usage::in_parameters(&error.to_string()),
            error => Self::Failed(error),
        }
    }
}

/// Runs one command and gives its document; nothing is printed.
///
/// # Errors
/// [`Rejection`], with the sentence that the command would print.
///
/// # Panics
/// Passes on panics, which are faults of this library.
///
/// ```
/// use leakbound_cli::{Rejection, Request, answer};
///
/// let exact = |options: &str| Request { command: "exact".into(), options: options.into(), ..Request::default() };
/// let options = r#"{"histogram": [14, 12, 10, 8, 6], "neighbor": [13, 13, 10, 8, 6], "noise": "gaussian:2", "orders": 2}"#;
/// let found = answer(exact(options)).unwrap();
/// assert!(found.json.contains("\"forward\": 0.239564145745"), "{}", found.json);
/// let rejected = answer(exact(r#"{"histogram": [3, -1]}"#)).unwrap_err();
/// assert!(matches!(rejected, Rejection::Usage { parameter: Some(name), .. } if name == "histogram"));
/// ```
pub fn answer(request: Request) -> Result<Answer, Rejection> {
    Commands::default().answer(request)
}

/// Arguments that are kept for the next call.
const KEPT: usize = 64;

/// Runs commands one after the other or side by side, and keeps the parser and the options that it has read: building
/// the parser and reading take longer than small work, and programs ask the same of other data.
#[derive(Debug, Default)]
pub struct Commands {
    schema: Mutex<Option<Schema<Cli>>>,
    read: Mutex<HashMap<(String, String), Cli>>,
}

impl Commands {
    /// Runs one command, as [`answer`] does.
    ///
    /// # Errors
    /// [`Rejection`], as from [`answer`].
    ///
    /// # Panics
    /// Passes on panics, which are faults of this library.
    pub fn answer(&self, request: Request) -> Result<Answer, Rejection> {
        let key = (request.command.clone(), request.options.clone());
        let kept = self.read.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
        let mut cli = match kept {
            Some(cli) => cli,
            None => self.line(&key.0, &key.1)?,
        };
        let found = run_for(&mut cli, request);
        cli.common.session = Session::default();
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.len() >= KEPT {
            read.clear();
        }
        read.insert(key, cli);
        found
    }

    /// Reads the options of a command.
    fn line(&self, command: &str, options: &str) -> Result<Cli, Rejection> {
        let options = if options.is_empty() { "{}" } else { options };
        let options = json::from_str(options).map_err(|error| Rejection::usage(format!("options: {error}")))?;
        let mut schema = self.schema.lock().unwrap_or_else(PoisonError::into_inner);
        let schema = schema.get_or_insert_with(Schema::new);
        let words = schema.arguments(command, &options, Origin::File(None))?.words;
        schema.read(&words).map_err(|error| usage::in_parameters_of(&error))
    }
}

/// Runs a command for a program.
fn run_for(cli: &mut Cli, request: Request) -> Result<Answer, Rejection> {
    let Request { files, progress, interruption, accountant, black_box, .. } = request;
    if !cli.has_document() {
        return Err(Rejection::usage("this command prints a text and has no document"));
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
    let refuted = ended? == Verdict::Refuted;
    let found = host.found.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Found { json, forms } =
        found.ok_or_else(|| Rejection::usage("this command prints a text and has no document"))?;
    Ok(Answer { json, forms, refuted })
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakbound::black_box::Output;
    use leakbound::record::MemoryFile;

    fn request(command: &str, options: &str) -> Request {
        Request { command: command.into(), options: options.into(), ..Request::default() }
    }

    const SCENARIO: &str = "samples = 1e9\nmodel = 'prompt-pate'\nnoise = 'gaussian:2'\nhistogram = [3, 1]\n\
                            histogram_neighbor = [2, 2]\n";

    #[test]
    fn files_in_memory_are_read_and_pages_are_made() {
        let text = b"outcome,count,count_neighbor\na,600,500\nb,400,500\n".to_vec();
        let files = MemoryFiles::from_iter([("c.csv".into(), MemoryFile::of_bytes(text))]);
        let found = answer(Request { files, ..request("audit counts", r#"{"file": "c.csv", "orders": 2}"#) }).unwrap();
        assert!(found.json.starts_with('{') && found.forms.page().contains("</html>") && !found.refuted);
        assert!(found.forms.text().starts_with("Audit of c.csv (1 query)"), "{}", found.forms.text());
    }

    #[test]
    fn sentences_name_parameters() {
        let rejected = |command: &str, options: &str| answer(request(command, options)).unwrap_err();
        assert!(matches!(rejected("audit counts", r#"{"file": "missing.csv"}"#), Rejection::Failed(_)));
        for (options, sentence) in [
            (r#"{"histogram": [3, -1], "neighbor": [2, 0], "noise": "gaussian:2"}"#, "histogram: "),
            (r#"{"histogram": [3, 1], "neighborr": [2, 0]}"#, "neighborr: the command does not have this option"),
            (r#"{"histogram": [3, 1], "orders": []}"#, "orders: found [], expected a list with at least one value"),
            (r#"{"threshold_form": "mean"}"#, "threshold_form: "),
            (
                r#"{"histogram": [3, 1], "neighbor": [2, 2], "noise": "gaussian:2", "threshold": 3}"#,
                "threshold_noise: ",
            ),
            (r#"{"seed": 1, "seed": 2}"#, "options: "),
        ] {
            let line = rejected("exact", options).to_string();
            assert!(line.starts_with(sentence) && !line.contains("--") && !line.contains('\n'), "{line}");
        }
        let line =
            rejected("audit scores", r#"{"members": "a.npy", "threshold": 1, "selection": "split"}"#).to_string();
        assert!(line.contains("`threshold`") && line.contains("`selection`") && !line.contains("--"), "{line}");
        assert!(matches!(rejected("man", ""), Rejection::Usage { parameter: None, .. }));
        assert!(matches!(rejected("verify", r#"{"accountant": "list"}"#), Rejection::Usage { .. }));
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
        let request = Request {
            files,
            progress: Some(progress),
            interruption,
            ..request("simulate", r#"{"scenario": "s.toml"}"#)
        };
        assert!(matches!(answer(request), Err(Rejection::Interrupted)));
    }

    #[test]
    fn functions_of_the_program_are_audited() {
        let options =
            r#"{"program": "count", "dataset": [1, 2], "relation": "add-remove", "claim_epsilon": 1, "runs": 400}"#;
        let audit = || request("audit mechanism", options);
        let call: BlackBoxCall =
            Box::new(|dataset, runs, _| Ok(vec![Output::Number(dataset.records().len() as f64); runs]));
        let found = answer(Request { black_box: Some(call), ..audit() }).unwrap();
        assert!(found.refuted && found.json.contains("\"program\": \"count\""), "{}", found.json);
        let call: BlackBoxCall = Box::new(|_, _, _| Err("no such data".into()));
        let rejected = answer(Request { black_box: Some(call), ..audit() }).unwrap_err();
        assert!(rejected.to_string().contains("no such data"), "{rejected}");
    }

    #[test]
    fn calls_from_several_threads_do_not_meet() {
        std::thread::scope(|scope| {
            for index in 0..4u64 {
                scope.spawn(move || {
                    let text = format!("outcome,count,count_neighbor\na,{},500\nb,400,500\n", 100 + index);
                    let files = MemoryFiles::from_iter([("c.csv".into(), MemoryFile::of_bytes(text.into_bytes()))]);
                    let options = format!(r#"{{"file": "c.csv", "orders": 2, "threads": {}}}"#, 1 + index % 2);
                    let read = |files| answer(Request { files, ..request("audit counts", &options) }).unwrap().json;
                    assert_eq!(read(files.clone()), read(files));
                });
            }
        });
    }
}
