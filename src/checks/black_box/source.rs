//! Where outputs come from.

use super::dataset::Dataset;
use super::grid::Grid;
use super::output::Output;
use crate::error::{Error, Result, one_line};
use crate::parallel;
use crate::program::{
    Exchange, Fault, FaultKind, Limits, LineProgram, Stop, Watchdog, quoted, with_special_numbers_as_strings,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The longest answer that is read, in bytes: more is a flood.
pub const LONGEST_ANSWER: u64 = 1 << 26;

/// The outputs of a request, or why the program rejects such a dataset.
pub type Ran = std::result::Result<Vec<Output>, String>;

/// A program whose outputs are random: an output depends only on the dataset, not on earlier runs.
///
/// ```
/// # use leakbound::black_box::{BlackBox, Dataset, FunctionBlackBox, Output};
/// # use leakbound::program::{Exchange, Stop};
/// let count = FunctionBlackBox::new("count", |dataset: &Dataset, runs, _seed| {
///     Ok(vec![Output::Number(dataset.records().len() as f64); runs])
/// });
/// let ran = count.run(&"[1, 2]".parse()?, 3, 0, &Stop::default());
/// assert_eq!(ran, Exchange::Answered(Ok(vec![Output::Number(2.0); 3])));
/// # Ok::<(), leakbound::Error>(())
/// ```
pub trait BlackBox: Sync {
    /// Its name.
    fn name(&self) -> String;

    /// The grid to which its outputs were rounded, if they were.
    fn grid(&self) -> Option<Grid> {
        None
    }

    /// Exactly `runs` outputs. A program that takes a seed repeats its outputs for the same seed.
    fn run(&self, dataset: &Dataset, runs: usize, seed: u64, stop: &Stop<'_>) -> Exchange<Ran>;
}

/// A function from dataset, runs and seed to outputs, or to the reason for rejecting the dataset.
pub struct FunctionBlackBox<F> {
    name: String,
    function: F,
}

impl<F: Fn(&Dataset, usize, u64) -> Ran + Sync> FunctionBlackBox<F> {
    /// A function of this name.
    pub fn new(name: impl Into<String>, function: F) -> Self {
        Self { name: name.into(), function }
    }
}

impl<F: Fn(&Dataset, usize, u64) -> Ran + Sync> BlackBox for FunctionBlackBox<F> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn run(&self, dataset: &Dataset, runs: usize, seed: u64, stop: &Stop<'_>) -> Exchange<Ran> {
        // A function is not interrupted, but neither is it called when the time is over.
        if stop.is_over() {
            return Exchange::Unanswered("the time is over".into());
        }
        match (self.function)(dataset, runs, seed).map(|outputs| complete(outputs, runs)) {
            Err(reason) => Exchange::Answered(Err(reason)),
            Ok(Ok(outputs)) => Exchange::Answered(Ok(outputs)),
            Ok(Err(fault)) => Exchange::Failed(fault),
        }
    }
}

/// A program that is started once and exchanges JSON lines: `{"id":7,"dataset":[...],"runs":1000,"seed":123}` is
/// answered by `{"id":7,"outputs":[...]}` or by `{"id":7,"error":"..."}`.
#[derive(Debug)]
pub struct LineBlackBox {
    program: LineProgram,
    requests: AtomicU64,
}

impl LineBlackBox {
    /// Splits the command as [`LineProgram`] does, and starts the program. Answers may be longer than the limits state.
    ///
    /// # Errors
    /// As [`LineProgram::new`].
    pub fn new(command: &str, limits: Limits) -> Result<Self> {
        let limits = Limits { longest_line: limits.longest_line.max(LONGEST_ANSWER), ..limits };
        let program = LineProgram::new("command of the program", command, limits)?;
        Ok(Self { program, requests: AtomicU64::new(0) })
    }
}

#[derive(Serialize)]
struct Request<'a> {
    id: u64,
    dataset: &'a Dataset,
    runs: usize,
    seed: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    id: u64,
    outputs: Option<Vec<Output>>,
    error: Option<String>,
}

impl BlackBox for LineBlackBox {
    fn name(&self) -> String {
        self.program.name()
    }

    fn run(&self, dataset: &Dataset, runs: usize, seed: u64, stop: &Stop<'_>) -> Exchange<Ran> {
        let id = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        let request = serde_json::to_string(&Request { id, dataset, runs, seed }).unwrap_or_default();
        self.program.exchange(&request, stop, |line| read(line, id, runs))
    }
}

/// Reads the answer to a request.
fn read(line: &str, id: u64, runs: usize) -> std::result::Result<Ran, Fault> {
    let malformed = |message: String| Fault { kind: FaultKind::Malformed, message };
    let no_answer = |error: serde_json::Error| {
        let expected = r#"expected {"id":ID,"outputs":[...]} or {"id":ID,"error":"REASON"}"#;
        malformed(format!("{} is not an answer: {}; {expected}", quoted(line), one_line(&error.to_string())))
    };
    // Python writes NaN and Infinity, which JSON has no words for.
    let answer: Answer = serde_json::from_str(line)
        .or_else(|error| serde_json::from_str(&with_special_numbers_as_strings(line)).map_err(|_| error))
        .map_err(no_answer)?;
    if answer.id != id {
        return Err(malformed(format!("it answered request {} when it was sent request {id}", answer.id)));
    }
    match (answer.outputs, answer.error) {
        (Some(outputs), None) => complete(outputs, runs).map(Ok),
        (None, Some(reason)) => Ok(Err(one_line(&reason))),
        _ => Err(malformed(format!("{} has not exactly one of `outputs` and `error`", quoted(line)))),
    }
}

/// The outputs, if their number is the requested one.
fn complete(outputs: Vec<Output>, runs: usize) -> std::result::Result<Vec<Output>, Fault> {
    if outputs.len() == runs {
        return Ok(outputs);
    }
    let message = format!("{} outputs where {runs} were requested", outputs.len());
    Err(Fault { kind: FaultKind::Malformed, message })
}

/// A program whose outputs are described by another one, which gets `{"id":7,"outputs":[...]}` and answers in the same
/// form with one description per output.
///
/// Whatever holds for the descriptions holds for the outputs (data processing), whatever the description is, as long as
/// it depends on one output alone.
pub struct DescribedBlackBox {
    inner: Box<dyn BlackBox>,
    features: LineProgram,
    requests: AtomicU64,
}

impl DescribedBlackBox {
    /// Splits the command of the describing program as [`LineProgram`] does, and starts it.
    ///
    /// # Errors
    /// As [`LineProgram::new`].
    pub fn new(inner: Box<dyn BlackBox>, command: &str, limits: Limits) -> Result<Self> {
        let limits = Limits { longest_line: limits.longest_line.max(LONGEST_ANSWER), ..limits };
        let features = LineProgram::new("command of the features", command, limits)?;
        Ok(Self { inner, features, requests: AtomicU64::new(0) })
    }
}

#[derive(Serialize)]
struct Described<'a> {
    id: u64,
    outputs: &'a [Output],
}

impl BlackBox for DescribedBlackBox {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn grid(&self) -> Option<Grid> {
        self.inner.grid()
    }

    fn run(&self, dataset: &Dataset, runs: usize, seed: u64, stop: &Stop<'_>) -> Exchange<Ran> {
        let outputs = match self.inner.run(dataset, runs, seed, stop) {
            Exchange::Answered(Ok(outputs)) => outputs,
            other => return other,
        };
        let id = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        let request = serde_json::to_string(&Described { id, outputs: &outputs }).unwrap_or_default();
        let described = |message: String| format!("the program of the features: {message}");
        match self.features.exchange(&request, stop, |line| read(line, id, runs)) {
            Exchange::Answered(Ok(outputs)) => Exchange::Answered(Ok(outputs)),
            // It takes whatever the audited program prints: a dataset is never the reason.
            Exchange::Answered(Err(reason)) => {
                Exchange::Failed(Fault { kind: FaultKind::Malformed, message: described(reason) })
            }
            Exchange::Failed(fault) => Exchange::Failed(Fault { message: described(fault.message), ..fault }),
            Exchange::Unanswered(reason) => Exchange::Unanswered(described(reason)),
        }
    }
}

/// Placeholders in the command of [`ExecBlackBox`] for the file with the dataset, and for the seed.
const DATASET: &str = "{dataset}";
const SEED: &str = "{seed}";

/// A program that is run once for each output: the dataset is in a file, its stdout is the output.
///
/// In the words of the command, `{dataset}` is the path of a file with the dataset as JSON, and `{seed}` a number that
/// differs for each run. The output is an array, an object, a number, a truth value or null in JSON, and otherwise the
/// text or the bytes as they are, without the end of the last line. Programs run side by side.
#[derive(Debug)]
pub struct ExecBlackBox {
    words: Vec<String>,
    time: std::time::Duration,
    watchdog: Arc<Watchdog>,
}

impl ExecBlackBox {
    /// Splits the command; it is not started yet. `time` is the limit of one run.
    ///
    /// # Errors
    /// [`Error::Rejected`] for an empty command, an open quote, or one without `{dataset}`.
    pub fn new(command: &str, time: std::time::Duration) -> Result<Self> {
        let words = crate::program::split_command("command of the program", command)?;
        let reason = format_args!("`{command}` does not say where the file with the dataset goes: {DATASET}");
        Error::check_possible(words.iter().any(|word| word.contains(DATASET)), "command of the program", reason)?;
        Ok(Self { words, time, watchdog: Watchdog::start() })
    }

    fn output(&self, path: &str, seed: u64, stop: &Stop<'_>) -> Exchange<Ran> {
        let fill = |word: &String| word.replace(DATASET, path).replace(SEED, &seed.to_string());
        let words: Vec<String> = self.words.iter().map(fill).collect();
        match crate::program::run_once(&words, self.time, LONGEST_ANSWER, stop, &self.watchdog) {
            Exchange::Answered(stdout) => Exchange::Answered(Ok(vec![printed(stdout)])),
            Exchange::Unanswered(reason) => Exchange::Unanswered(reason),
            Exchange::Failed(fault) => Exchange::Failed(fault),
        }
    }
}

/// What was printed, without the end of its last line: JSON, or a text. A string of JSON stays the text that it is, with
/// its quotes: without them it would be another output.
fn printed(mut stdout: Vec<u8>) -> Output {
    let line = stdout.strip_suffix(b"\n").map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    stdout.truncate(line.map_or(stdout.len(), <[u8]>::len));
    match String::from_utf8(stdout) {
        Err(error) => Output::Bytes(error.into_bytes()),
        Ok(text) => match serde_json::from_str(&text) {
            Ok(Output::Text(_) | Output::Bytes(_)) | Err(_) => Output::of_text(text),
            Ok(output) => output,
        },
    }
}

impl BlackBox for ExecBlackBox {
    fn name(&self) -> String {
        self.words.join(" ")
    }

    fn run(&self, dataset: &Dataset, runs: usize, seed: u64, stop: &Stop<'_>) -> Exchange<Ran> {
        let failed = |error: std::io::Error| Exchange::Unanswered(format!("no file for the dataset: {error}"));
        let file = match tempfile::Builder::new().suffix(".json").tempfile() {
            Ok(file) => file,
            Err(error) => return failed(error),
        };
        if let Err(error) = std::fs::write(file.path(), dataset.to_string()) {
            return failed(error);
        }
        let path = file.path().to_string_lossy();
        let one = |run: usize| match self.output(&path, seed.wrapping_add(run as u64), stop) {
            Exchange::Answered(Ok(outputs)) => Ok(outputs),
            other => Err(other),
        };
        match parallel::until_error(0..runs, one) {
            Ok(outputs) => Exchange::Answered(Ok(outputs.into_iter().flatten().collect())),
            Err(other) => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(ran: Exchange<Ran>) -> Fault {
        match ran {
            Exchange::Failed(fault) => fault,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn answers_are_read_and_nothing_else() {
        assert_eq!(read(r#"{"id":1,"outputs":[1,2.5]}"#, 1, 2).unwrap().unwrap().len(), 2);
        assert_eq!(
            read(r#"{"id":1,"outputs":[NaN,-Infinity]}"#, 1, 2).unwrap().unwrap()[1],
            Output::Number(f64::NEG_INFINITY)
        );
        assert_eq!(read(r#"{"id":1,"error":"empty"}"#, 1, 2).unwrap(), Err("empty".into()));
        let message = |line: &str| read(line, 1, 2).unwrap_err().message;
        assert_eq!(message(r#"{"id":2,"outputs":[1,2]}"#), "it answered request 2 when it was sent request 1");
        assert_eq!(message(r#"{"id":1,"outputs":[1]}"#), "1 outputs where 2 were requested");
        for (line, expected) in [
            (r#"{"id":1,"outputs":[{"a":1,"a":2},1]}"#, "the key `a` comes twice"),
            (r#"{"id":1,"outputs":["\ud800",1]}"#, "`\"\\ud800\"`"),
        ] {
            assert!(message(line).contains(expected), "{}", message(line));
        }
        for line in ["", "x", "[1,2]", r#"{"id":1}"#, r#"{"id":1,"outputs":[1,2],"error":"x"}"#, r#"{"outputs":[1,2]}"#]
        {
            assert_eq!(read(line, 1, 2).unwrap_err().kind, FaultKind::Malformed, "{line}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn programs_are_run_for_each_output() {
        let time = std::time::Duration::from_secs(20);
        let run = |command: &str| {
            let program = ExecBlackBox::new(command, time).unwrap();
            program.run(&"[1, 2]".parse().unwrap(), 3, 7, &Stop::default())
        };
        assert_eq!(run("cat {dataset}"), Exchange::Answered(Ok(vec![Output::Vector(vec![1.0, 2.0]); 3])));
        let seeds = run("sh -c 'echo $1' {dataset} x{seed}");
        let texts = ["x7", "x8", "x9"].map(|text| Output::Text(text.into()));
        assert_eq!(seeds, Exchange::Answered(Ok(texts.to_vec())));
        // What differs stays apart, and equal values are one.
        let print = |text: &str| match run(&shell_words::join(["printf", text, "{dataset}"])) {
            Exchange::Answered(Ok(outputs)) => outputs[0].clone(),
            other => panic!("{other:?}"),
        };
        let different = [
            "\\377",
            "\\376",
            "\\377\\n\\n",
            "a",
            "a ",
            "a\\n\\n",
            "\"a\"",
            "\"\\\\u0061\"",
            "true",
            "\"true\"",
            "01",
            "1",
            "",
        ];
        let found: std::collections::BTreeSet<Output> = different.into_iter().map(print).collect();
        assert_eq!(found.len(), different.len(), "{found:?}");
        for [a, b] in [["1", " 1.0\\n"], ["nan", "\"nan\""], ["a", "a\\r\\n"], ["[1,2]", "[ 1, 2 ]\\n"]] {
            assert_eq!(print(a), print(b));
        }
        assert_eq!(fault(run("sh -c 'echo no >&2; exit 3' {dataset}")).kind, FaultKind::Crash);
        assert_eq!(fault(run("no-such-program {dataset}")).kind, FaultKind::Crash);
        assert!(ExecBlackBox::new("cat x.json", time).is_err());
        let slow = ExecBlackBox::new("sh -c 'sleep 100' {dataset}", std::time::Duration::from_millis(100)).unwrap();
        assert_eq!(fault(slow.run(&Dataset::default(), 1, 0, &Stop::default())).kind, FaultKind::TimeOut);
    }
}
