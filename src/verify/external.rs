//! An accountant that is a program: a request as a line of JSON on its stdin, an answer as a line of JSON on its
//! stdout.

use super::accountant::{Accountant, Answer, ClaimScope, Fault, FaultKind};
use super::answer_line::{quoted, read_answer};
use super::process_group::ProcessGroup;
use super::request::Request;
use super::stop::Stop;
use crate::error::{Error, Result, one_line};
use crate::mechanism::{MechanismKind, RELEASES};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The longest line that is read as an answer, in bytes.
const LONGEST_LINE: u64 = 65_536;
/// Lines of stderr that are kept, and bytes of each.
const KEPT_LINES: usize = 5;
const KEPT_BYTES: u64 = 4_096;
/// How long the end of a process that closed its stdout, or its last lines, may take.
const GRACE: Duration = Duration::from_millis(200);
/// How long the wish to stop may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(50);

/// How to start a program, and how long to wait for it.
#[derive(Debug, Clone)]
pub struct ExternalOptions {
    /// What its claims depend on.
    pub scope: ClaimScope,
    /// The mechanisms it is queried on.
    pub mechanisms: Vec<&'static MechanismKind>,
    /// The time for an answer.
    pub answer_time: Duration,
    /// The time for the first answer after a start.
    pub start_time: Duration,
}

impl Default for ExternalOptions {
    fn default() -> Self {
        Self {
            scope: ClaimScope::DataDependent,
            mechanisms: RELEASES.to_vec(),
            answer_time: Duration::from_secs(10),
            start_time: Duration::from_secs(60),
        }
    }
}

/// A program as an accountant: one process, kept alive and asked one question after the other.
///
/// Whatever it does is an answer: a crash, silence, NaN, a line that is no answer or that nobody asked for are
/// [`Fault`]s. After a fault the process is killed and waited for, and the next question starts another one. With the
/// process ends what it started, as far as that stayed in its process group: a daemon, which makes a session of its
/// own, lives on.
///
/// The command is split into words as a POSIX shell splits them, quotes included, and the first word is run; no shell
/// takes part. Variables, globs, pipes and `;` therefore mean themselves, nothing in a command can run another one, and
/// what is killed is the program and not a shell that started it. `sh -c '...'` is a command as any other.
#[derive(Debug)]
pub struct ExternalAccountant {
    words: Vec<String>,
    options: ExternalOptions,
    process: Mutex<Option<Process>>,
}

impl ExternalAccountant {
    /// Splits the command and starts the program.
    ///
    /// # Errors
    /// [`Error::Rejected`] for an empty command or an open quote, [`Error::Io`] when there is no such program.
    pub fn new(command: &str, options: ExternalOptions) -> Result<Self> {
        let reject = |reason: String| Error::Rejected { operation: "command of the accountant", reason };
        let words = shell_words::split(command).map_err(|error| reject(error.to_string()))?;
        if words.first().is_none_or(String::is_empty) {
            return Err(reject("it is empty".into()));
        }
        let process = Process::start(&words)?;
        Ok(Self { words, options, process: Mutex::new(Some(process)) })
    }

    fn ask(
        &self,
        slot: &mut Option<Process>,
        request: &Request,
        stop: &Stop<'_>,
    ) -> std::result::Result<Answer, Fault> {
        let mut process = match slot.take() {
            Some(process) => process,
            None => match Process::start(&self.words) {
                Ok(process) => process,
                // The fault of the machine is none of the program.
                Err(error) if is_short_of_means(&error) => return Ok(Answer::Declined(one_line(&error.to_string()))),
                Err(error) => return Err(Fault { kind: FaultKind::Crash, message: one_line(&error.to_string()) }),
            },
        };
        let time = if process.answers == 0 { self.options.start_time } else { self.options.answer_time };
        let Some(line) = process.exchange(request, time, stop)? else {
            // The process, which may answer yet, ends with this.
            return Ok(Answer::Declined("the time is over".into()));
        };
        let answer = read_answer(&line)?;
        process.answers += 1;
        // Kept only after an answer: after a fault dropping it ends the process.
        *slot = Some(process);
        Ok(answer)
    }
}

impl Accountant for ExternalAccountant {
    fn name(&self) -> String {
        self.words.join(" ")
    }

    fn answer(&self, request: &Request) -> Answer {
        self.answer_before(request, &Stop::default())
    }

    fn answer_before(&self, request: &Request, stop: &Stop<'_>) -> Answer {
        let mut slot = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        self.ask(&mut slot, request, stop).unwrap_or_else(Answer::Fault)
    }

    fn mechanisms(&self) -> Vec<&'static MechanismKind> {
        self.options.mechanisms.clone()
    }

    fn scope(&self) -> ClaimScope {
        self.options.scope
    }

    fn sequential(&self) -> bool {
        true
    }
}

/// A line of stdout: its text, or what is wrong with it.
type Line = std::result::Result<String, Fault>;

#[derive(Debug)]
struct Process {
    program: ProcessGroup,
    /// Requests on their way to its stdin, written elsewhere: a program that reads nothing blocks no one.
    requests: Option<Sender<String>>,
    lines: Receiver<Line>,
    last_words: Arc<Mutex<VecDeque<String>>>,
    answers: u64,
}

impl Process {
    fn start(words: &[String]) -> Result<Self> {
        let failed = |source| Error::Io { path: words[0].clone().into(), action: "run", source };
        // A thread that does not start ends the program with what is dropped here.
        let spawn = |work: Box<dyn FnOnce() + Send>| thread::Builder::new().spawn(work).map(drop).map_err(failed);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut program = ProcessGroup::spawn(&mut command).map_err(failed)?;
        let (requests, to_send) = channel::<String>();
        if let Some(mut stdin) = program.child.stdin.take() {
            spawn(Box::new(move || {
                let mut write = |text: String| stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush());
                while to_send.recv().is_ok_and(|text| write(text).is_ok()) {}
            }))?;
        }
        let (sender, lines) = channel();
        // The readers end with their pipes; a grandchild that keeps one open holds a sleeping thread and nothing else.
        if let Some(stdout) = program.child.stdout.take() {
            spawn(Box::new(move || {
                let mut reader = BufReader::new(stdout);
                while let Some(line) = read_line(&mut reader) {
                    // What is there already beside the line of an answer was written before the next request.
                    let beside = String::from_utf8_lossy(reader.buffer()).into_owned();
                    let line = if beside.is_empty() { line } else { line.and(Err(unasked(beside.trim_end()))) };
                    let stop = line.is_err();
                    if sender.send(line).is_err() || stop {
                        break;
                    }
                }
            }))?;
        }
        let last_words = Arc::new(Mutex::new(VecDeque::new()));
        if let Some(stderr) = program.child.stderr.take() {
            let kept = Arc::clone(&last_words);
            spawn(Box::new(move || keep_last_lines(BufReader::new(stderr), &kept)))?;
        }
        Ok(Self { program, requests: Some(requests), lines, last_words, answers: 0 })
    }

    /// Sends a request and waits for a line; none where it is time to stop before it came.
    fn exchange(
        &mut self,
        request: &Request,
        time: Duration,
        stop: &Stop<'_>,
    ) -> std::result::Result<Option<String>, Fault> {
        match self.lines.try_recv() {
            Ok(line) => return Err(unasked(&line?)),
            Err(TryRecvError::Disconnected) => return Err(self.crash()),
            Err(TryRecvError::Empty) => {}
        }
        let mut text = serde_json::to_string(request).unwrap_or_default();
        text.push('\n');
        // A writer that has ended saw its pipe break; the program's fate shows when its lines end.
        let _ = self.requests.as_ref().map(|requests| requests.send(text));
        let start = Instant::now();
        loop {
            let rest = time.saturating_sub(start.elapsed());
            match self.lines.recv_timeout(rest.min(PATIENCE).min(stop.left().unwrap_or(PATIENCE))) {
                Ok(line) => return line.map(Some),
                Err(RecvTimeoutError::Disconnected) => return Err(self.crash()),
                Err(RecvTimeoutError::Timeout) if stop.is_over() => return Ok(None),
                Err(RecvTimeoutError::Timeout) if !rest.is_zero() => {}
                Err(RecvTimeoutError::Timeout) => {
                    let message = format!("no answer in {} s{}", time.as_secs_f64(), self.said());
                    return Err(Fault { kind: FaultKind::TimeOut, message });
                }
            }
        }
    }

    /// The outcome of a process that no longer reads or writes.
    fn crash(&mut self) -> Fault {
        let status = self.program.ended_within(GRACE);
        // Its last words may still be on their way.
        thread::sleep(GRACE / 10);
        let ended = match status {
            Some(status) => format!("the program ended ({status})"),
            None => "the program closed its stdout".to_owned(),
        };
        Fault { kind: FaultKind::Crash, message: ended + &self.said() }
    }

    /// The last lines of stderr.
    fn said(&self) -> String {
        let lines = self.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.is_empty() {
            return String::new();
        }
        let lines: Vec<String> = lines.iter().map(|line| one_line(line)).collect();
        format!("; stderr: {}", lines.join(" | "))
    }
}

/// Whether the machine, and not the program, is why it did not start: too many processes or threads, or no memory.
fn is_short_of_means(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if matches!(source.kind(), ErrorKind::WouldBlock | ErrorKind::OutOfMemory))
}

/// A line without its end; None at the end of the stream.
fn read_line(reader: &mut impl BufRead) -> Option<Line> {
    let mut bytes = Vec::new();
    let read = reader.take(LONGEST_LINE + 1).read_until(b'\n', &mut bytes).ok()?;
    if read == 0 {
        return None;
    }
    if read as u64 > LONGEST_LINE {
        let message = format!("a line of more than {LONGEST_LINE} bytes");
        return Some(Err(Fault { kind: FaultKind::TooLong, message }));
    }
    while matches!(bytes.last(), Some(b'\n' | b'\r')) {
        bytes.pop();
    }
    Some(Ok(String::from_utf8_lossy(&bytes).into_owned()))
}

fn keep_last_lines(mut reader: impl BufRead, kept: &Mutex<VecDeque<String>>) {
    let mut bytes = Vec::new();
    // A line without end comes in pieces.
    while matches!(reader.by_ref().take(KEPT_BYTES).read_until(b'\n', &mut bytes), Ok(read) if read > 0) {
        let line = String::from_utf8_lossy(&bytes).trim_end().chars().take(200).collect();
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == KEPT_LINES {
            kept.pop_front();
        }
        kept.push_back(line);
        bytes.clear();
    }
}

fn unasked(line: &str) -> Fault {
    Fault { kind: FaultKind::Unasked, message: format!("a line that no request called for: {}", quoted(line)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(command: &str, options: ExternalOptions) -> Vec<Answer> {
        let accountant = ExternalAccountant::new(command, options).unwrap();
        let case =
            super::super::request::Case::from_json(r#"{"mechanism":"gnmax","sigma":2,"histogram":[3,1],"order":8}"#);
        let request = case.unwrap().request;
        (0..3).map(|_| accountant.answer(&request)).collect()
    }

    /// A process that hangs is ended and waited for: nothing of it is left.
    #[cfg(target_os = "linux")]
    #[test]
    fn no_process_is_left_behind() {
        let accountant = ExternalAccountant::new("sleep 100", ExternalOptions::default()).unwrap();
        let id = accountant.process.lock().unwrap().as_ref().unwrap().program.child.id();
        let running = || std::path::Path::new(&format!("/proc/{id}")).exists();
        assert!(running());
        drop(accountant);
        assert!(!running());
    }

    #[cfg(unix)]
    #[test]
    fn every_fault_has_its_kind() {
        let quick = || ExternalOptions {
            start_time: Duration::from_millis(300),
            answer_time: Duration::from_millis(300),
            ..ExternalOptions::default()
        };
        let kinds = |script: &str, options: ExternalOptions| -> Vec<Option<FaultKind>> {
            let command = shell_words::join(["sh", "-c", script]);
            let kind = |answer| match answer {
                Answer::Fault(fault) => Some(fault.kind),
                _ => None,
            };
            ask(&command, options).into_iter().map(kind).collect()
        };
        let patient = ExternalOptions::default;
        let all = |kind| vec![Some(kind); 3];
        assert_eq!(kinds("exit 3", patient()), all(FaultKind::Crash));
        assert_eq!(kinds("exec sleep 100", quick()), all(FaultKind::TimeOut));
        assert_eq!(kinds("sleep 1; while read x; do echo '{\"value\": 1}'; done", quick()), all(FaultKind::TimeOut));
        assert_eq!(kinds("sleep 0.5; while read x; do echo '{\"value\": 1}'; done", patient()), vec![None; 3]);
        assert_eq!(kinds("while read x; do echo hello; done", patient()), all(FaultKind::Malformed));
        assert_eq!(
            kinds("read x; head -c 100000 /dev/zero | tr '\\0' x; echo; sleep 9", patient()),
            all(FaultKind::TooLong)
        );
        assert_eq!(kinds("exec >&-; exec sleep 100", patient()), all(FaultKind::Crash));
        // One answer and then the end.
        let once = kinds("read x; echo '{\"value\": 1}'", patient());
        assert_eq!(once, [None, Some(FaultKind::Crash), None]);
        // Two answers to one question: seen before the next is asked, or, if they come late, before the one after it.
        let twice = kinds("while read x; do printf '{\"value\": 1}\\n{\"value\": 1}\\n'; done", patient());
        assert!(twice.contains(&Some(FaultKind::Unasked)), "{twice:?}");
    }

    #[test]
    fn commands_that_cannot_run_are_errors() {
        let start = |command: &str| {
            ExternalAccountant::new(command, ExternalOptions::default()).map(|_| ()).unwrap_err().to_string()
        };
        assert_eq!(start(""), "command of the accountant: it is empty");
        assert_eq!(start("python 'x"), "command of the accountant: missing closing quote");
        assert!(start("no-such-program-here; true").starts_with("no-such-program-here;: cannot run: "));
    }

    #[test]
    fn long_lines_are_not_read_to_their_end() {
        let mut endless = BufReader::new(std::io::repeat(b'x'));
        assert_eq!(read_line(&mut endless).unwrap().unwrap_err().kind, FaultKind::TooLong);
        let mut two = BufReader::new(&b"one\r\ntwo"[..]);
        assert_eq!(read_line(&mut two), Some(Ok("one".into())));
        assert_eq!(read_line(&mut two), Some(Ok("two".into())));
        assert_eq!(read_line(&mut two), None);
    }
}
