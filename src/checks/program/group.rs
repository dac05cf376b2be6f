//! A program and its child processes, ended together.

use super::watchdog::Watchdog;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// A program in a separate process group. When it is dropped, every process of the group is killed, and the program is
/// waited for.
///
/// Processes that a program starts belong to its group, through shells and pipelines, unless they leave it: a process
/// that creates a new session (`setsid`, daemons) is lost track of and lives on. If this process itself is killed with
/// `SIGKILL`, the [`Watchdog`] ends the group. Without process groups (Windows) only the program itself is killed, and
/// if this process is killed, the program only sees the end of its stdin.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    pub(crate) child: Child,
    /// Its end was seen and its number may be given to another process.
    reaped: bool,
    watchdog: Arc<Watchdog>,
}

/// Between two looks at a program that may be about to end.
const STEP: Duration = Duration::from_millis(5);

impl ProcessGroup {
    /// Starts the program.
    pub(crate) fn spawn(command: &mut Command, watchdog: &Arc<Watchdog>) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let child = command.spawn()?;
        watchdog.note(&child);
        Ok(Self { child, reaped: false, watchdog: Arc::clone(watchdog) })
    }

    /// Waits this long for the program to end on its own, then also ends its group. None if it has not ended.
    pub(crate) fn ended_within(&mut self, time: Duration) -> Option<ExitStatus> {
        let start = Instant::now();
        while !self.has_ended() {
            if start.elapsed() >= time {
                return None;
            }
            thread::sleep(STEP);
        }
        self.end()
    }

    /// Whether the program has ended; its number stays its own until it is waited for.
    #[cfg(unix)]
    fn has_ended(&mut self) -> bool {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // An error means that there is nothing to wait for.
        self.reaped || !matches!(waitid(WaitId::Pid(Pid::from_child(&self.child)), look), Ok(None))
    }

    #[cfg(not(unix))]
    fn has_ended(&mut self) -> bool {
        self.reaped || !matches!(self.child.try_wait(), Ok(None))
    }

    /// Kills the group and waits for the program. The group goes first: as long as the program was not waited for, its
    /// number means this group and no other.
    fn end(&mut self) -> Option<ExitStatus> {
        if !std::mem::replace(&mut self.reaped, true) {
            #[cfg(unix)]
            let _ = rustix::process::kill_process_group(
                rustix::process::Pid::from_child(&self.child),
                rustix::process::Signal::KILL,
            );
            // If it is not yet the leader of a group.
            let _ = self.child.kill();
            self.watchdog.note(&self.child);
        }
        self.child.wait().ok()
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.end();
    }
}
