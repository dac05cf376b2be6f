//! Ends programs when this process can no longer do so.

use std::io::Write;
use std::process::Child;
#[cfg(unix)]
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

/// The script of the shell. It reads the number of a process group when the group begins and again when it has ended.
/// The end of what it reads is the end of the process that writes: then it ends the groups that are left, and itself.
#[cfg(unix)]
const SCRIPT: &str = r#"left=" "
while read -r id; do
  case $left in
    *" $id "*) left="${left%% $id *} ${left#* $id }" ;;
    *) left="$left$id " ;;
  esac
done
for id in $left; do kill -s KILL -- "-$id"; done"#;

/// A shell that ends process groups after this process was killed, in whatever way.
///
/// A signal for the death of a parent would be bound to the thread that starts a program, would not reach its child
/// processes, and exists only on Linux. Without a shell, programs are ended by this process alone.
#[derive(Debug)]
pub(crate) struct Watchdog {
    shell: Option<Mutex<Child>>,
}

impl Watchdog {
    pub(crate) fn start() -> Arc<Self> {
        Arc::new(Self { shell: shell().map(Mutex::new) })
    }

    /// Notes that the group of this program has begun or ended.
    pub(super) fn note(&self, program: &Child) {
        let Some(shell) = &self.shell else { return };
        if let Some(stdin) = &mut shell.lock().unwrap_or_else(PoisonError::into_inner).stdin {
            // A shell that is gone ends nothing.
            let _ = stdin.write_all(format!("{}\n", program.id()).as_bytes());
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Some(shell) = &mut self.shell {
            let shell = shell.get_mut().unwrap_or_else(PoisonError::into_inner);
            drop(shell.stdin.take());
            let _ = shell.wait();
        }
    }
}

#[cfg(unix)]
fn shell() -> Option<Child> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // A signal of the terminal must not reach it.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().ok()
}

#[cfg(not(unix))]
fn shell() -> Option<Child> {
    None
}
