//! A reader that ends at a line where the user interrupts the program.

use crate::interruption::Interruption;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long Ctrl-C may go unnoticed while nothing comes.
const PATIENCE: Duration = Duration::from_millis(100);
const CHUNK: usize = 1 << 16;

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

/// Opens a reader, in the thread in which it is read or, where that thread does not start, here.
type Open = Box<dyn FnOnce() -> Box<dyn Read> + Send>;

impl Interruptible {
    /// Reads from what `open` opens. Where the system starts no thread the reader itself is handed back: it works as
    /// well, and an interruption is noticed when something comes.
    pub fn of(open: impl FnOnce() -> Box<dyn Read> + Send + 'static, interruption: Interruption) -> Box<dyn Read> {
        let start = |work: Box<dyn FnOnce() + Send>| thread::Builder::new().spawn(work).map(drop);
        Self::with(Box::new(open), interruption, start)
    }

    fn with(
        open: Open,
        interruption: Interruption,
        start: impl FnOnce(Box<dyn FnOnce() + Send>) -> io::Result<()>,
    ) -> Box<dyn Read> {
        let (sender, chunks) = sync_channel(1);
        // What opens is lost with a thread that does not start, unless it is kept here too.
        let open = Arc::new(Mutex::new(Some(open)));
        let take = |open: &Mutex<Option<Open>>| open.lock().unwrap_or_else(PoisonError::into_inner).take();
        let there = Arc::clone(&open);
        let started = start(Box::new(move || {
            let Some(open) = take(&there) else { return };
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
        }));
        match started.err().and_then(|_| take(&open)) {
            Some(open) => Box::new(WholeLines { inner: BufReader::new(open()), interruption, within: false }),
            None => Box::new(Self { chunks, interruption, held: Vec::new(), lines: 0, ended: false }),
        }
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

/// The same without a thread: it ends after a whole line too, but waits for what comes.
struct WholeLines {
    inner: BufReader<Box<dyn Read>>,
    interruption: Interruption,
    /// Whether a part of a line was handed out.
    within: bool,
}

impl Read for WholeLines {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.interruption.is_noted() && !self.within {
            return Ok(0);
        }
        let held = self.inner.fill_buf()?;
        let most = held.len().min(into.len());
        let length = held[..most].iter().rposition(|&byte| byte == b'\n').map_or(most, |end| end + 1);
        into[..length].copy_from_slice(&held[..length]);
        self.within = length > 0 && held[length - 1] != b'\n';
        self.inner.consume(length);
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
            let open = move || Box::new(io::Cursor::new(source)) as Box<dyn Read>;
            Interruptible::of(open.clone(), interruption.clone()).read_to_string(&mut read).unwrap();
            assert!(read == text);
            // Without a thread the same.
            read.clear();
            let reject = |_| Err(io::ErrorKind::WouldBlock.into());
            Interruptible::with(Box::new(open), interruption, reject).read_to_string(&mut read).unwrap();
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
        let mut reader = Interruptible::of(|| Box::new(Stuck(false)), interruption.clone());
        let mut three = [0; 8];
        assert_eq!(reader.read(&mut three).unwrap(), 3);
        interruption.note();
        assert_eq!(reader.read(&mut three).unwrap(), 0);
    }
}
