//! A program that is run for its stdout.

use super::fault::{Fault, FaultKind};
use super::group::ProcessGroup;
use super::lines::{Exchange, is_short_of_means};
use super::stop::Stop;
use super::watchdog::Watchdog;
use crate::error::{Error, one_line};
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long a request to stop may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(50);
/// How long the end of a program that closed its stdout may take.
const GRACE: Duration = Duration::from_secs(2);
/// Bytes of stderr that are kept.
const KEPT: u64 = 4_096;

/// Runs a program to its end, with nothing on its stdin: its stdout. A status other than 0 is a crash.
pub(crate) fn run_once(
    words: &[String],
    time: Duration,
    longest: u64,
    stop: &Stop<'_>,
    watchdog: &Arc<Watchdog>,
) -> Exchange<Vec<u8>> {
    let failed = |kind: FaultKind, message: String| Exchange::Failed(Fault { kind, message });
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut program = match ProcessGroup::spawn(&mut command, watchdog) {
        Ok(program) => program,
        Err(source) => {
            let error = Error::Io { path: words[0].clone().into(), action: "run", source };
            let short = is_short_of_means(&error);
            let text = one_line(&error.to_string());
            return if short { Exchange::Unanswered(text) } else { failed(FaultKind::Crash, text) };
        }
    };
    let (sender, streams) = channel();
    let pipes = [
        program.child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
        program.child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
    ];
    for (index, (pipe, most)) in pipes.into_iter().zip([longest + 1, KEPT]).enumerate() {
        let sender = sender.clone();
        let read = move || {
            let mut bytes = Vec::new();
            if let Some(pipe) = pipe {
                // A broken pipe gives what it holds; the rest is also read, so that nobody waits for it.
                let mut pipe = pipe.take(most);
                let _ = pipe.read_to_end(&mut bytes);
                if index == 1 {
                    let _ = std::io::copy(&mut pipe.into_inner(), &mut std::io::sink());
                }
            }
            let _ = sender.send((index, bytes));
        };
        if let Err(error) = thread::Builder::new().spawn(read) {
            return Exchange::Unanswered(one_line(&error.to_string()));
        }
    }
    drop(sender);
    let start = Instant::now();
    let mut found: [Option<Vec<u8>>; 2] = [None, None];
    while found[0].is_none() {
        let rest = time.saturating_sub(start.elapsed());
        match streams.recv_timeout(rest.min(PATIENCE).min(stop.left().unwrap_or(PATIENCE))) {
            Ok((index, bytes)) => found[index] = Some(bytes),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if stop.is_over() => return Exchange::Unanswered("the time is over".into()),
            Err(RecvTimeoutError::Timeout) if !rest.is_zero() => {}
            Err(RecvTimeoutError::Timeout) => {
                return failed(FaultKind::TimeOut, format!("it did not end in {} s", time.as_secs_f64()));
            }
        }
    }
    let stdout = found[0].take().unwrap_or_default();
    if stdout.len() as u64 > longest {
        return failed(FaultKind::TooLong, format!("more than {longest} bytes on stdout"));
    }
    let status = program.ended_within(GRACE.min(time));
    match status {
        Some(status) if status.success() => Exchange::Answered(stdout),
        Some(status) => {
            let stderr = found[1].take().or_else(|| streams.recv_timeout(GRACE).ok().map(|(_, bytes)| bytes));
            let said = stderr.map(|bytes| one_line(String::from_utf8_lossy(&bytes).trim())).unwrap_or_default();
            let said = if said.is_empty() { String::new() } else { format!("; stderr: {said}") };
            failed(FaultKind::Crash, format!("the program ended ({status}){said}"))
        }
        None => failed(FaultKind::TimeOut, "it closed its stdout and did not end".into()),
    }
}
