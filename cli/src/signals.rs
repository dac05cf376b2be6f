//! Signals that ask the program to end, and the exit statuses that tell of them.

use super::interruption::{Interruption, Signal};
use super::session::Session;
use std::io;

/// What a second signal does, once the first was noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Second {
    /// It ends the process immediately: a second signal means that the user does not want to wait.
    Ends,
    /// Nothing more than the first: the end must be orderly, because other processes are to be ended too.
    Waits,
}

/// The interruption of a command: by the program that called it, or by signals from now on. Where signals are noted
/// already, they stay what they are.
///
/// A signal that is ignored stays so: `nohup` ignores the hangup, and a shell ignores Ctrl-C for what it runs in the
/// background.
pub(super) fn interruption(session: &Session, second: Second) -> io::Result<Interruption> {
    if let Some(interruption) = session.interruption() {
        return Ok(interruption.clone());
    }
    let interruption = session.terminal().clone();
    if interruption.take_watch() {
        note_signals(&interruption, second)?;
    }
    Ok(interruption)
}

#[cfg(unix)]
fn note_signals(interruption: &Interruption, second: Second) -> io::Result<()> {
    use signal_hook::flag;
    for signal in heeded(ignored().as_deref()) {
        let number = i32::from(signal.number());
        if second == Second::Ends {
            // Before the flag is set, so that the first signal does not end the process.
            flag::register_conditional_shutdown(number, i32::from(signal.status()), interruption.flag())?;
        }
        flag::register_usize(number, interruption.number(), usize::from(signal.number()))?;
        flag::register(number, interruption.flag())?;
    }
    Ok(())
}

#[cfg(windows)]
fn note_signals(interruption: &Interruption, second: Second) -> io::Result<()> {
    let noted = interruption.clone();
    let handler = move || {
        if noted.note_signal(Signal::Interrupt) && second == Second::Ends {
            std::process::exit(i32::from(Signal::Interrupt.status()));
        }
    };
    ctrlc::set_handler(handler).map_err(io::Error::other)
}

#[cfg(not(any(unix, windows)))]
fn note_signals(_: &Interruption, _: Second) -> io::Result<()> {
    Ok(())
}

/// The signals to look after, as the system describes this process: the mask of ignored signals in hexadecimal.
///
/// Where it cannot be asked without unsafe code, a hangup is left as it was found: ignored under `nohup`, and the end
/// of the process otherwise.
#[cfg(unix)]
fn heeded(ignored: Option<&str>) -> Vec<Signal> {
    let mask = ignored.and_then(|mask| u128::from_str_radix(mask, 16).ok());
    let heeds = |signal: &Signal| match mask {
        Some(mask) => mask & (1 << (signal.number() - 1)) == 0,
        None => *signal != Signal::Hangup,
    };
    Signal::ALL.into_iter().filter(heeds).collect()
}

/// The mask of ignored signals of this process, where the system shows it (Linux).
#[cfg(unix)]
fn ignored() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    Some(status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?.trim().to_owned())
}

/// A file that grows beyond the limit of the process (`ulimit -f`) is an error of the write, as a full disk is, and not
/// the end of the process, which would leave a file half written.
#[cfg(unix)]
pub(super) fn make_limits_errors() {
    // Without it the program works as well, up to the limit.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}

/// There is no such signal.
#[cfg(not(unix))]
pub(super) fn make_limits_errors() {}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_stay_ignored() {
        assert_eq!(heeded(Some("0000000000000000")), Signal::ALL);
        // nohup: signal 1.
        assert_eq!(heeded(Some("0000000000000001")), [Signal::Interrupt, Signal::Terminate]);
        // In the background of a shell: signals 2 and 3.
        assert_eq!(heeded(Some("0000000000000006")), [Signal::Hangup, Signal::Terminate]);
        assert_eq!(heeded(Some("0000000000004000")), [Signal::Hangup, Signal::Interrupt]);
        for unknown in [None, Some(""), Some("x")] {
            assert_eq!(heeded(unknown), [Signal::Interrupt, Signal::Terminate]);
        }
    }

    #[test]
    fn statuses_are_those_of_shells() {
        assert_eq!(Signal::ALL.map(Signal::status), [129, 130, 143]);
    }
}
