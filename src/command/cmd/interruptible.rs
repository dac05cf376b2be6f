//! A reader that ends at a line where the user interrupts the program.

use crate::command::session::{Interruption, Session};
use crate::{Error, Result};
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

/// How long Ctrl-C may go unnoticed while nothing comes.
const PATIENCE: Duration = Duration::from_millis(100);
const CHUNK: usize = 1 << 16;

/// The wish to end of whoever runs the command: of a program, or Ctrl-C from now on. Then a second one ends the process
/// at once: whoever asks twice does not want to wait for what is begun. `path` is what would be lost.
pub fn interruption(session: &Session, path: &Path) -> Result<Interruption> {
    if let Some(interruption) = session.interruption() {
        return Ok(interruption.clone());
    }
    let interruption = Interruption::default();
    let noted = interruption.clone();
    let handler = move || {
        if noted.note() {
            std::process::exit(1);
        }
    };
    let failed = |error| Error::Io { path: path.into(), action: "be kept", source: io::Error::other(error) };
    ctrlc::set_handler(handler).map_err(failed)?;
    Ok(interruption)
}

/// Whole lines of another reader, which waits in a thread of its own; ends early, after a whole line, on Ctrl-C.
pub struct Interruptible {
    chunks: Receiver<io::Result<Vec<u8>>>,
    interruption: Interruption,
    /// What has come and was not handed out.
    held: Vec<u8>,
    /// How much of it may be handed out.
    lines: usize,
    ended: bool,
}

impl Interruptible {
    /// Reads from what `open` opens.
    pub fn new(open: impl FnOnce() -> Box<dyn Read> + Send + 'static, interruption: Interruption) -> Self {
        let (sender, chunks) = sync_channel(1);
        thread::spawn(move || {
            let mut reader = open();
            loop {
                let mut chunk = vec![0; CHUNK];
                let read = loop {
                    match reader.read(&mut chunk) {
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        read => break read,
                    }
                };
                let last = !matches!(read, Ok(1..));
                let read = read.map(|length| {
                    chunk.truncate(length);
                    chunk
                });
                // Nobody waits for more once the other end is gone.
                if sender.send(read).is_err() || last {
                    return;
                }
            }
        });
        Self { chunks, interruption, held: Vec::new(), lines: 0, ended: false }
    }

    /// Waits until a whole line has come, the end, or the user.
    fn wait(&mut self) -> io::Result<()> {
        while self.lines == 0 && !self.ended {
            if self.interruption.is_noted() {
                self.held.clear();
                self.ended = true;
                return Ok(());
            }
            match self.chunks.recv_timeout(PATIENCE) {
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.ended = true,
                Ok(chunk) => {
                    let chunk = chunk?;
                    self.ended = chunk.is_empty();
                    let before = self.held.len();
                    self.lines = match chunk.iter().rposition(|&byte| byte == b'\n') {
                        Some(end) => before + end + 1,
                        // A line of any length is handed on in parts, so that memory stays bounded.
                        None if before >= CHUNK => before,
                        None => 0,
                    };
                    self.held.extend(chunk);
                }
            }
        }
        if self.ended {
            self.lines = self.held.len();
        }
        Ok(())
    }
}

impl Read for Interruptible {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.lines == 0 {
            self.wait()?;
        }
        let length = self.lines.min(into.len());
        into[..length].copy_from_slice(&self.held[..length]);
        self.held.drain(..length);
        self.lines -= length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_handed_on_once() {
        for text in [String::new(), "a".into(), "a\nb".into(), "x".repeat(300_000) + "\n", "ab\n".repeat(100_000)] {
            let source = text.clone().into_bytes();
            let interruption = Interruption::default();
            let mut read = String::new();
            Interruptible::new(move || Box::new(io::Cursor::new(source)), interruption)
                .read_to_string(&mut read)
                .unwrap();
            assert!(read == text);
        }
    }

    #[test]
    fn an_interrupted_reader_ends_after_a_whole_line() {
        struct Stuck(bool);
        impl Read for Stuck {
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                if std::mem::replace(&mut self.0, true) {
                    thread::sleep(Duration::from_secs(3600));
                }
                into[..5].copy_from_slice(b"ab\ncd");
                Ok(5)
            }
        }
        let interruption = Interruption::default();
        let mut reader = Interruptible::new(|| Box::new(Stuck(false)), interruption.clone());
        let mut three = [0; 8];
        assert_eq!(reader.read(&mut three).unwrap(), 3);
        interruption.note();
        assert_eq!(reader.read(&mut three).unwrap(), 0);
    }
}
