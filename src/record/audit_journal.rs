//! The checkpoint of an audit of a program: the answers that it got.

use super::fault::{checkpoint_exists, fault, hinted};
use super::file_lock::FileLock;
use crate::black_box::{Asked, Journal, Output, Reply, Tally, Trouble};
use crate::error::{Error, Result};
use crc32fast::Hasher;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The form of the file; the number rises when the form of the content changes.
const SCHEMA: &str = "leakbound.audit-checkpoint/2";
/// The time between two savings of counts; only the last ones matter.
const PACE: Duration = Duration::from_secs(10);

/// A line of the file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Line {
    /// The first one: the form, and a digest of what is audited.
    Head {
        schema: String,
        audit: String,
    },
    Outputs(Asked, Vec<Output>),
    Trouble(Asked, Trouble),
    Tally(Tally),
}

impl Line {
    /// The line with its end: JSON behind the checksum of all JSON up to and with it, so that no line can be changed,
    /// lost or moved unnoticed.
    fn text(&self, sum: &mut Hasher) -> io::Result<Vec<u8>> {
        let json = serde_json::to_vec(self)?;
        sum.update(&json);
        Ok([format!("{:08x} ", sum.clone().finalize()).as_bytes(), &json, b"\n"].concat())
    }

    const fn is_head(&self) -> bool {
        matches!(self, Self::Head { .. })
    }

    /// None for a line that was changed.
    fn read(text: &[u8], sum: &mut Hasher) -> Option<Self> {
        let (begin, json) = text.strip_suffix(b"\n")?.split_at_checked(9)?;
        sum.update(json);
        let expected = format!("{:08x} ", sum.clone().finalize());
        serde_json::from_slice(json).ok().filter(|_| begin == expected.as_bytes())
    }
}

/// A file to which answers are appended as they come, one line each, with a checksum.
///
/// A line that was cut off by a sudden end is removed when the audit resumes; a file in which anything else has changed
/// is rejected. After an answer that could not be written, no more are kept, because answers are given again in order.
#[derive(Debug)]
pub struct AuditJournal {
    path: PathBuf,
    state: Mutex<State>,
    /// Two processes would mix their answers.
    _lock: FileLock,
}

#[derive(Debug)]
struct State {
    file: File,
    /// The length of all whole lines, and their checksum.
    whole: u64,
    sum: Hasher,
    /// Answers kept earlier, from the next one on: read as they are needed, because there may be many.
    kept: BufReader<File>,
    kept_sum: Hasher,
    /// How many of them are left.
    left: usize,
    /// Whether an answer is missing.
    broken: bool,
    tally: Option<Tally>,
    saved: Instant,
    /// Whether answers were kept before.
    resumed: bool,
}

impl AuditJournal {
    /// Opens or makes the file; `audit` is a digest of everything that decides what is asked.
    ///
    /// # Errors
    /// [`Error::Input`] for a file that is there already without `resume`, and for one of another audit;
    /// [`Error::Io`] when it cannot be written.
    pub fn open(path: impl AsRef<Path>, audit: &str, resume: bool) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let lock = FileLock::take(&path, "a checkpoint")?;
        let is_there = path.symlink_metadata().is_ok();
        if is_there && !resume {
            return Err(checkpoint_exists(&path).into());
        }
        let failed = |source| Error::Io { path: path.clone(), action: "write", source };
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let file = open.map_err(failed)?;
        // With a separate position in the file.
        let kept = BufReader::new(File::open(&path).map_err(failed)?);
        let state = State {
            file,
            whole: 0,
            sum: Hasher::new(),
            kept,
            kept_sum: Hasher::new(),
            left: 0,
            broken: false,
            tally: None,
            saved: Instant::now(),
            resumed: false,
        };
        let journal = Self { state: Mutex::new(state), _lock: lock, path };
        let read = journal.read(audit);
        if read.is_err() && !is_there {
            // A disk that is full from the start: nothing is left on it.
            let _ = fs::remove_file(&journal.path);
        }
        read.map(|()| journal)
    }

    /// Answers that are kept and were not given yet.
    #[must_use]
    pub fn left(&self) -> usize {
        self.state().left
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, action: &'static str) -> impl Fn(io::Error) -> Error + '_ {
        move |source| Error::Io { path: self.path.clone(), action, source }
    }

    fn read(&self, audit: &str) -> Result<()> {
        let mut state = self.state();
        let mut reader = BufReader::new(state.file.try_clone().map_err(self.failed("read"))?);
        let head = Line::Head { schema: SCHEMA.into(), audit: audit.into() };
        let (mut number, mut text) = (0, Vec::new());
        loop {
            text.clear();
            // Bytes: what was cut off may end within a character.
            let bytes = reader.read_until(b'\n', &mut text).map_err(self.failed("read"))?;
            if text.last() != Some(&b'\n') {
                let begun = head.text(&mut Hasher::new()).is_ok_and(|head| head.starts_with(&text));
                if number == 0 && !begun {
                    return Err(self.changed("line 1"));
                }
                break;
            }
            number += 1;
            let place = format!("line {number}");
            let line = Line::read(&text, &mut state.sum).filter(|line| (number == 1) == line.is_head());
            match line.ok_or_else(|| self.changed(&place))? {
                Line::Head { schema, .. } if schema != SCHEMA => return Err(self.changed(&place)),
                Line::Head { audit: of, .. } if of != audit => {
                    let found = "the checkpoint of an audit with other options";
                    let hint = "give the options of the audit that is to go on, or another checkpoint";
                    return Err(hinted(fault(&self.path, place, found, "one of this audit"), hint).into());
                }
                Line::Outputs(asked, outputs) if outputs.len() as u64 != asked.runs => {
                    return Err(self.changed(&place));
                }
                Line::Outputs(..) | Line::Trouble(..) => state.left += 1,
                Line::Tally(tally) => state.tally = Some(tally),
                Line::Head { .. } => {}
            }
            state.whole += bytes as u64;
        }
        self.cut(&mut state).map_err(self.failed("write"))?;
        if number == 0 {
            self.write(&mut state, &head)?;
        }
        state.resumed = state.left > 0;
        Ok(())
    }

    fn changed(&self, place: &str) -> Error {
        let found = "another form, or a line that was changed after it was written";
        let error = fault(&self.path, place, found, format!("a checkpoint as this program writes it, `{SCHEMA}`"));
        hinted(error, "start over with another checkpoint").into()
    }

    /// The next answer that was kept.
    fn next(&self) -> Result<Option<(Asked, Reply)>> {
        let mut state = self.state();
        let state = &mut *state;
        if state.left == 0 {
            return Ok(None);
        }
        let mut text = Vec::new();
        loop {
            text.clear();
            state.kept.read_until(b'\n', &mut text).map_err(self.failed("read"))?;
            let line = Line::read(&text, &mut state.kept_sum).ok_or_else(|| self.changed("whole file"))?;
            let found = match line {
                Line::Outputs(asked, outputs) => (asked, Ok(outputs)),
                Line::Trouble(asked, trouble) => (asked, Err(trouble)),
                Line::Head { .. } | Line::Tally(_) => continue,
            };
            state.left -= 1;
            return Ok(Some(found));
        }
    }

    /// Appends a line, or leaves the file as it was.
    fn write(&self, state: &mut State, line: &Line) -> Result<()> {
        let mut sum = state.sum.clone();
        let written = line.text(&mut sum).and_then(|text| state.file.write_all(&text).map(|()| text.len() as u64));
        match written {
            Ok(bytes) => {
                (state.whole, state.sum) = (state.whole + bytes, sum);
                Ok(())
            }
            Err(error) => {
                // What there is of the line; if it stays, the next line is put in its place.
                let _ = self.cut(state);
                Err(self.failed("write")(error))
            }
        }
    }

    /// Removes what follows the last whole line, and continues there.
    fn cut(&self, state: &mut State) -> io::Result<()> {
        state.file.seek(SeekFrom::Start(state.whole))?;
        state.file.set_len(state.whole)
    }
}

impl Journal for AuditJournal {
    fn recall(&self, asked: Asked) -> Result<Option<Reply>> {
        let Some((kept, reply)) = self.next()? else { return Ok(None) };
        if kept != asked {
            let found = format!("the answer to a request of {} runs with seed {}", kept.runs, kept.seed);
            let expected = format!("{} runs with seed {}", asked.runs, asked.seed);
            let hint = "the program, or what it reads, has changed since: start over";
            return Err(hinted(fault(&self.path, "checkpoint", found, expected), hint).into());
        }
        Ok(Some(reply))
    }

    fn is_resumed(&self) -> bool {
        self.state().resumed
    }

    fn keep(&self, asked: Asked, reply: &Reply) -> Result<()> {
        let line = match reply {
            Ok(outputs) => Line::Outputs(asked, outputs.clone()),
            Err(trouble) => Line::Trouble(asked, trouble.clone()),
        };
        let mut state = self.state();
        if state.broken {
            return Ok(());
        }
        let written = self.write(&mut state, &line);
        state.broken = written.is_err();
        written
    }

    fn recall_tally(&self, of: &str) -> Option<Tally> {
        self.state().tally.clone().filter(|tally| tally.of == of)
    }

    fn keep_tally(&self, tally: &Tally, last: bool) -> Result<()> {
        let mut state = self.state();
        if !last && state.saved.elapsed() < PACE {
            return Ok(());
        }
        state.saved = Instant::now();
        self.write(&mut state, &Line::Tally(tally.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_given_again_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.checkpoint");
        let asked = |seed| Asked { runs: 2, seed };
        let outputs = || Ok(vec![Output::Number(1.5), Output::Number(f64::NAN)]);
        let trouble = || Err(Trouble::Rejected("empty".into()));
        let tally = |runs| Tally { of: "pair".into(), runs, counts: [vec![runs], vec![0]] };
        {
            let journal = AuditJournal::open(&path, "one", false).unwrap();
            assert!(journal.recall(asked(1)).unwrap().is_none() && !journal.is_resumed());
            journal.keep(asked(1), &outputs()).unwrap();
            journal.keep(asked(2), &trouble()).unwrap();
            journal.keep_tally(&tally(3), false).unwrap();
            journal.keep_tally(&tally(4), true).unwrap();
            assert!(AuditJournal::open(&path, "one", true).is_err(), "two at once");
        }
        assert!(AuditJournal::open(&path, "one", false).unwrap_err().to_string().contains("already exists"));
        assert!(AuditJournal::open(&path, "two", true).unwrap_err().to_string().contains("other options"));
        // Cut off in the middle of a line, and of a character.
        std::fs::write(&path, [&std::fs::read(&path).unwrap(), &b"{\"outputs\":[\"\xc3"[..]].concat()).unwrap();
        {
            let journal = AuditJournal::open(&path, "one", true).unwrap();
            assert!(journal.left() == 2 && journal.is_resumed());
            assert_eq!(journal.recall(asked(1)).unwrap(), Some(outputs()));
            assert_eq!(journal.recall(asked(2)).unwrap(), Some(trouble()));
            assert_eq!(journal.recall(asked(3)).unwrap(), None);
            assert_eq!((journal.recall_tally("pair"), journal.recall_tally("other")), (Some(tally(4)), None));
            journal.keep(asked(3), &outputs()).unwrap();
        }
        let journal = AuditJournal::open(&path, "one", true).unwrap();
        assert_eq!(journal.left(), 3);
        assert!(journal.recall(asked(9)).unwrap_err().to_string().contains("seed 1"));
        drop(journal);
        // Files of others are left as they are.
        let headless = Line::Outputs(asked(1), outputs().unwrap()).text(&mut Hasher::new()).unwrap();
        for text in [b"something else\n", &b"{\"precious\": 1}"[..], &headless] {
            fs::write(&path, text).unwrap();
            assert!(AuditJournal::open(&path, "one", true).unwrap_err().to_string().contains("line 1"), "{text:?}");
            assert_eq!(fs::read(&path).unwrap(), text);
        }
    }

    /// Every bit of a checkpoint of each kind of line, flipped: an error, or the loss of the last line.
    #[test]
    fn no_flipped_bit_is_another_answer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.checkpoint");
        let asked = |seed| Asked { runs: 2, seed };
        let replies: [Reply; 3] = [
            Ok(vec![Output::Number(1.5), Output::Number(7.0)]),
            Err(Trouble::Rejected("empty".into())),
            Ok(vec![Output::Bool(true), Output::Text("yes".into())]),
        ];
        let tally = Tally { of: "pair".into(), runs: 3, counts: [vec![1, 2], vec![0, 3]] };
        {
            let journal = AuditJournal::open(&path, "one", false).unwrap();
            journal.keep_tally(&tally, true).unwrap();
            for (seed, reply) in replies.iter().enumerate() {
                journal.keep(asked(seed as u64), reply).unwrap();
            }
        }
        let whole = fs::read(&path).unwrap();
        let last = whole[..whole.len() - 1].iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
        let open = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            AuditJournal::open(&path, "one", true)
        };
        let mut lost = 0;
        for bit in 0..8 * whole.len() {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let Ok(journal) = open(&bytes) else { continue };
            lost += 1;
            assert!(bit / 8 == whole.len() - 1 && journal.left() == 2, "bit {bit}");
            assert_eq!(fs::read(&path).unwrap(), whole[..last]);
        }
        assert_eq!(lost, 8);
        // Lines that are lost, doubled or moved.
        let lines: Vec<&[u8]> = whole.split_inclusive(|&byte| byte == b'\n').collect();
        for order in [&[0, 1, 3, 4][..], &[0, 1, 2, 2, 3, 4], &[0, 1, 3, 2, 4], &[1, 2, 3, 4]] {
            let bytes: Vec<u8> = order.iter().flat_map(|&line: &usize| lines[line]).copied().collect();
            assert!(open(&bytes).unwrap_err().to_string().contains("was changed"), "{order:?}");
        }
        // A change while the audit is running.
        let journal = open(&whole).unwrap();
        let mut changed = whole.clone();
        changed[last - 3] ^= 1;
        fs::write(&path, changed).unwrap();
        assert_eq!(journal.recall(asked(0)).unwrap().as_ref(), Some(&replies[0]));
        assert!(journal.recall(asked(1)).unwrap_err().to_string().contains("was changed"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_disk_that_fills_leaves_whole_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c");
        let journal = AuditJournal::open(&path, "one", false).unwrap();
        let keep = |seed| journal.keep(Asked { runs: 1, seed }, &Ok(vec![Output::Null]));
        keep(1).unwrap();
        let whole = fs::read(&path).unwrap();
        let disk =
            std::mem::replace(&mut journal.state().file, OpenOptions::new().write(true).open("/dev/full").unwrap());
        assert!(keep(2).unwrap_err().to_string().contains("No space left"));
        journal.state().file = disk;
        // There is room again: an answer behind one that is missing would never be given, counts are.
        keep(3).unwrap();
        assert_eq!(fs::read(&path).unwrap(), whole);
        journal.keep_tally(&Tally { of: "pair".into(), runs: 0, counts: [vec![], vec![]] }, true).unwrap();
        drop(journal);
        let journal = AuditJournal::open(&path, "one", true).unwrap();
        assert!(journal.left() == 1 && journal.recall_tally("pair").is_some());
    }
}
