//! A reader that ends at a line where the user interrupts the program.

use leakbound::{Error, Result};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

/// How long Ctrl-C may go unnoticed while nothing comes.
const PATIENCE: Duration = Duration::from_millis(100);
const CHUNK: usize = 1 << 16;

/// Set by Ctrl-C.
#[derive(Clone)]
pub struct Interruption(Arc<AtomicBool>);

impl Interruption {
    /// Ctrl-C is noted from now on; a second one ends the program at once.
    pub fn noted(path: &Path) -> Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        let set = Arc::clone(&flag);
        let handler = move || {
            if set.swap(true, Ordering::Relaxed) {
                std::process::exit(1);
            }
        };
        let failed = |error| Error::Io { path: path.into(), action: "be kept", source: io::Error::other(error) };
        ctrlc::set_handler(handler).map_err(failed)?;
        Ok(Self(flag))
    }

    pub fn is_noted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
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
            let interruption = Interruption(Arc::new(AtomicBool::new(false)));
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
        let flag = Arc::new(AtomicBool::new(false));
        let mut reader = Interruptible::new(|| Box::new(Stuck(false)), Interruption(Arc::clone(&flag)));
        let mut three = [0; 8];
        assert_eq!(reader.read(&mut three).unwrap(), 3);
        flag.store(true, Ordering::Relaxed);
        assert_eq!(reader.read(&mut three).unwrap(), 0);
    }
}
