//! A program that answers lines: a request as a line on its stdin, an answer as a line on its stdout.

use super::fault::{Fault, FaultKind, quoted};
use super::group::ProcessGroup;
use super::stop::Stop;
use super::watchdog::Watchdog;
use crate::error::{Error, Result, one_line};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Lines of stderr that are kept, and bytes of each.
const KEPT_LINES: usize = 5;
const KEPT_BYTES: u64 = 4_096;
/// How long the end of a process that closed its stdout, or its last lines, may take.
const GRACE: Duration = Duration::from_millis(200);
/// How long a request to stop may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(50);

/// What is waited for, and what is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The time for an answer.
    pub answer_time: Duration,
    /// The time for the first answer after a start.
    pub start_time: Duration,
    /// The longest line that is read as an answer, in bytes.
    pub longest_line: u64,
}

impl Default for Limits {
    /// 10 s for an answer, 60 s for the first one, 64 KiB.
    fn default() -> Self {
        Self { answer_time: Duration::from_secs(10), start_time: Duration::from_secs(60), longest_line: 65_536 }
    }
}

/// How a program answered a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Exchange<T> {
    /// With an answer that could be read.
    Answered(T),
    /// Not at all, through no fault of the program: it was time to stop, or the machine could not start it.
    Unanswered(String),
    /// It failed to answer.
    Failed(Fault),
}

/// Answers that outweigh a time-out, and what is lost before a program is given up.
const TIME_OUT: u32 = 10;
const MOST_PATIENCE: u32 = 5 * TIME_OUT;

/// A program that is started once, kept alive, and sent one request after the other.
///
/// Whatever it does is an answer: a crash, silence, an unreadable line and an unrequested line are [`Fault`]s. After a
/// fault the process is killed and waited for, and the next request starts a new one. It is [given up](Self::given_up) if
/// it never answered, if two starts in a row gave no first answer in time, or if time-outs are more than a tenth of its
/// answers, beyond the first few. The child processes end with it if
/// they stayed in its process group; a daemon, which creates a new session, lives on.
///
/// The command is split into words as a POSIX shell splits them, quotes included, and the first word is run; no shell
/// takes part. Variables, globs, pipes and `;` are therefore taken literally, nothing in a command can run another one,
/// and the program itself is killed rather than a shell that started it. `sh -c '...'` is a command like any other.
#[derive(Debug)]
pub struct LineProgram {
    words: Vec<String>,
    limits: Limits,
    state: Mutex<State>,
    watchdog: Arc<Watchdog>,
}

#[derive(Debug)]
struct State {
    process: Option<Process>,
    /// Starts that may still fail to give a first answer in time before the program is given up.
    starts: u32,
    /// Falls with every answer that is late, and rises with those in time; at 0 the program is given up.
    patience: u32,
    /// Why no further start is made.
    given_up: Option<Fault>,
}

impl LineProgram {
    /// Splits the command and starts the program; `operation` names the command in an error.
    ///
    /// # Errors
    /// [`Error::Rejected`] for an empty command or an open quote, [`Error::Io`] when there is no such program.
    pub fn new(operation: &'static str, command: &str, limits: Limits) -> Result<Self> {
        let words = split_command(operation, command)?;
        let watchdog = Watchdog::start();
        let process = Some(Process::start(&words, limits.longest_line, &watchdog)?);
        let state = Mutex::new(State { process, starts: 1, patience: MOST_PATIENCE, given_up: None });
        Ok(Self { words, limits, state, watchdog })
    }

    /// Why the program is not started any more: the answer to every further exchange.
    #[must_use]
    pub fn given_up(&self) -> Option<Fault> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).given_up.clone()
    }

    /// The command.
    #[must_use]
    pub fn name(&self) -> String {
        self.words.join(" ")
    }

    /// Sends a line, without its end, and reads the answer. Requests of several threads are sent one after the other.
    pub fn exchange<T>(
        &self,
        request: &str,
        stop: &Stop<'_>,
        read: impl FnOnce(&str) -> std::result::Result<T, Fault>,
    ) -> Exchange<T> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fault) = &state.given_up {
            return Exchange::Failed(fault.clone());
        }
        let mut process = match state.process.take() {
            Some(process) => process,
            None => match Process::start(&self.words, self.limits.longest_line, &self.watchdog) {
                Ok(process) => process,
                // A fault of the machine is not a fault of the program.
                Err(error) if is_short_of_means(&error) => return Exchange::Unanswered(one_line(&error.to_string())),
                Err(error) => {
                    return Exchange::Failed(Fault { kind: FaultKind::Crash, message: one_line(&error.to_string()) });
                }
            },
        };
        let time = if process.answers == 0 { self.limits.start_time } else { self.limits.answer_time };
        match process.exchange(request, time, stop).and_then(|line| line.map(|line| read(&line)).transpose()) {
            Err(mut fault) => {
                if fault.kind == FaultKind::TimeOut {
                    state.starts -= u32::from(process.answers == 0);
                    state.patience = state.patience.saturating_sub(TIME_OUT);
                    if state.starts == 0 || state.patience == 0 {
                        fault.message += "; it is not started again";
                        state.given_up = Some(fault.clone());
                    }
                }
                Exchange::Failed(fault)
            }
            // The process, which may answer yet, ends with this.
            Ok(None) => Exchange::Unanswered("the time is over".into()),
            Ok(Some(answer)) => {
                process.answers += 1;
                // Kept only after an answer: after a fault dropping it ends the process.
                (state.process, state.starts) = (Some(process), 2);
                state.patience = (state.patience + 1).min(MOST_PATIENCE);
                Exchange::Answered(answer)
            }
        }
    }
}

/// The words of a command as a POSIX shell splits them.
///
/// # Errors
/// [`Error::Rejected`] for an empty command or an open quote.
pub(crate) fn split_command(operation: &'static str, command: &str) -> Result<Vec<String>> {
    let reject = |reason: String| Error::Rejected { operation, reason };
    let words = shell_words::split(command).map_err(|error| reject(error.to_string()))?;
    if words.first().is_none_or(String::is_empty) {
        return Err(reject("it is empty".into()));
    }
    Ok(words)
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
    fn start(words: &[String], longest_line: u64, watchdog: &Arc<Watchdog>) -> Result<Self> {
        let failed = |source| Error::Io { path: words[0].clone().into(), action: "run", source };
        // A thread that does not start ends the program with what is dropped here.
        let spawn = |work: Box<dyn FnOnce() + Send>| thread::Builder::new().spawn(work).map(drop).map_err(failed);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut program = ProcessGroup::spawn(&mut command, watchdog).map_err(failed)?;
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
                while let Some(line) = read_line(&mut reader, longest_line) {
                    // Anything already there besides the line of an answer was written before the next request.
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

    /// Sends a request and waits for a line; none if it is time to stop before it comes.
    fn exchange(
        &mut self,
        request: &str,
        time: Duration,
        stop: &Stop<'_>,
    ) -> std::result::Result<Option<String>, Fault> {
        match self.lines.try_recv() {
            Ok(line) => return Err(unasked(&line?)),
            Err(TryRecvError::Disconnected) => return Err(self.crash()),
            Err(TryRecvError::Empty) => {}
        }
        // A writer that has ended saw its pipe break; the program's fate shows when its lines end.
        let _ = self.requests.as_ref().map(|requests| requests.send(format!("{request}\n")));
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
pub(super) fn is_short_of_means(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if matches!(source.kind(), ErrorKind::WouldBlock | ErrorKind::OutOfMemory))
}

/// A line without its end; None at the end of the stream.
fn read_line(reader: &mut impl BufRead, longest_line: u64) -> Option<Line> {
    let mut bytes = Vec::new();
    let read = reader.take(longest_line + 1).read_until(b'\n', &mut bytes).ok()?;
    if read == 0 {
        return None;
    }
    if read as u64 > longest_line {
        let message = format!("a line of more than {longest_line} bytes");
        return Some(Err(Fault { kind: FaultKind::TooLong, message }));
    }
    while matches!(bytes.last(), Some(b'\n' | b'\r')) {
        bytes.pop();
    }
    Some(String::from_utf8(bytes).map_err(|error| {
        let (place, bytes) = (error.utf8_error().valid_up_to(), error.as_bytes());
        let message = format!(
            "{} has the byte 0x{:02X} after {place} bytes, which is not UTF-8",
            quoted(&String::from_utf8_lossy(bytes)),
            bytes.get(place).copied().unwrap_or_default()
        );
        Fault { kind: FaultKind::Malformed, message }
    }))
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

    /// The faults of three exchanges in which `yes` is the one answer that can be read.
    fn faults(command: &str, limits: Limits) -> Vec<Option<FaultKind>> {
        let program = LineProgram::new("command", command, limits).unwrap();
        let read = |line: &str| match line {
            "yes" => Ok(()),
            _ => Err(Fault { kind: FaultKind::Malformed, message: quoted(line) }),
        };
        let fault = |exchange| match exchange {
            Exchange::Failed(fault) => Some(fault.kind),
            _ => None,
        };
        (0..3).map(|_| fault(program.exchange("x", &Stop::default(), read))).collect()
    }

    /// A process that hangs is ended and waited for: nothing of it is left.
    #[cfg(target_os = "linux")]
    #[test]
    fn no_process_is_left_behind() {
        let program = LineProgram::new("command", "sleep 100", Limits::default()).unwrap();
        let id = program.state.lock().unwrap().process.as_ref().unwrap().program.child.id();
        let running = || std::path::Path::new(&format!("/proc/{id}")).exists();
        assert!(running());
        drop(program);
        assert!(!running());
    }

    /// One start without an answer is enough if none was ever given; a program that answered has two.
    #[cfg(unix)]
    #[test]
    fn a_program_that_never_answers_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let short = Duration::from_millis(300);
        let limits = Limits { start_time: short, answer_time: short, ..Limits::default() };
        let starts = |answer: &str, exchanges: usize| {
            std::fs::write(&log, "").unwrap();
            let script = format!("echo >> {}; {answer} exec sleep 100", log.display());
            let program = LineProgram::new("command", &shell_words::join(["sh", "-c", &script]), limits).unwrap();
            let ask = |_| program.exchange("x", &Stop::default(), |_| Ok(()));
            let last = (0..exchanges).map(ask).last();
            assert!(program.given_up().is_none_or(|fault| last == Some(Exchange::Failed(fault))));
            (std::fs::read_to_string(&log).unwrap().len(), program.given_up())
        };
        let (never, fault) = starts("", 5);
        assert_eq!((never, fault.unwrap().message), (1, "no answer in 0.3 s; it is not started again".into()));
        // Once: then each start hangs.
        let once = format!("[ $(wc -c < {}) = 1 ] && read x && echo yes;", log.display());
        let (once, fault) = starts(&once, 6);
        assert!(once == 3 && fault.is_some(), "{once}");
        assert_eq!(starts("read x; echo yes;", 6), (3, None));
        let (seldom, fault) = starts("read x; echo yes;", 20);
        assert!(seldom <= 6 && fault.is_some(), "{seldom}");
    }

    #[cfg(unix)]
    #[test]
    fn every_fault_has_its_kind() {
        let short = Duration::from_millis(300);
        let quick = || Limits { start_time: short, answer_time: short, ..Limits::default() };
        let kinds = |script: &str, limits: Limits| faults(&shell_words::join(["sh", "-c", script]), limits);
        let patient = Limits::default;
        let all = |kind| vec![Some(kind); 3];
        assert_eq!(kinds("exit 3", patient()), all(FaultKind::Crash));
        assert_eq!(kinds("exec sleep 100", quick()), all(FaultKind::TimeOut));
        assert_eq!(kinds("sleep 1; while read x; do echo yes; done", quick()), all(FaultKind::TimeOut));
        assert_eq!(kinds("sleep 0.5; while read x; do echo yes; done", patient()), vec![None; 3]);
        assert_eq!(kinds("while read x; do echo hello; done", patient()), all(FaultKind::Malformed));
        assert_eq!(
            kinds("read x; head -c 100000 /dev/zero | tr '\\0' x; echo; sleep 9", patient()),
            all(FaultKind::TooLong)
        );
        assert_eq!(kinds("exec >&-; exec sleep 100", patient()), all(FaultKind::Crash));
        // One answer and then the end.
        let once = kinds("read x; echo yes", patient());
        assert_eq!(once, [None, Some(FaultKind::Crash), None]);
        // Two answers to one question: seen before the next is asked, or, if they come late, before the one after it.
        let twice = kinds("while read x; do printf 'yes\\nyes\\n'; done", patient());
        assert!(twice.contains(&Some(FaultKind::Unasked)), "{twice:?}");
    }

    #[test]
    fn commands_that_cannot_run_are_errors() {
        let start = |command: &str| {
            LineProgram::new("command of the accountant", command, Limits::default())
                .map(|_| ())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(start(""), "command of the accountant: it is empty");
        assert_eq!(start("python 'x"), "command of the accountant: missing closing quote");
        assert!(start("no-such-program-here; true").starts_with("no-such-program-here;: cannot run: "));
    }

    #[test]
    fn long_lines_are_not_read_to_their_end() {
        let mut endless = BufReader::new(std::io::repeat(b'x'));
        assert_eq!(read_line(&mut endless, 100).unwrap().unwrap_err().kind, FaultKind::TooLong);
        let mut two = BufReader::new(&b"one\r\ntwo"[..]);
        assert_eq!(read_line(&mut two, 100), Some(Ok("one".into())));
        assert_eq!(read_line(&mut two, 100), Some(Ok("two".into())));
        assert_eq!(read_line(&mut two, 100), None);
        let fault = read_line(&mut BufReader::new(&b"a\xffb\n"[..]), 100).unwrap().unwrap_err();
        assert_eq!(fault.message, "`a\u{fffd}b` has the byte 0xFF after 1 bytes, which is not UTF-8");
    }
}
