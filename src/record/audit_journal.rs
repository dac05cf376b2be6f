//! The checkpoint of an audit of a program: the answers that it got.

use super::fault::{fault, hinted};
use super::file_lock::FileLock;
use crate::black_box::{Asked, Journal, Output, Reply, Tally, Trouble};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The form of the file; the number rises when the content takes another form.
const SCHEMA: &str = "leakbound.audit-checkpoint/1";
/// Between two savings of counts, of which only the last ones matter.
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

/// A file to which answers are appended as they come, one line each.
///
/// A line that was cut off by a sudden end is removed when the audit goes on.
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
    /// Answers that were kept before, from the next one on: read as they are needed, because there may be many.
    kept: BufReader<File>,
    /// How many of them are left.
    left: usize,
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
        if path.symlink_metadata().is_ok() && !resume {
            let hint = "--resume goes on where it ends; remove it to start anew";
            return Err(hinted(fault(&path, "--checkpoint", "a file that is there already", "a new file"), hint).into());
        }
        let failed = |source| Error::Io { path: path.clone(), action: "write", source };
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let file = open.map_err(failed)?;
        // With a place of its own in the file.
        let kept = BufReader::new(File::open(&path).map_err(failed)?);
        let state = State { file, kept, left: 0, tally: None, saved: Instant::now(), resumed: false };
        let journal = Self { state: Mutex::new(state), _lock: lock, path };
        journal.read(audit)?;
        Ok(journal)
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
        let foreign = |number: usize| {
            let found = "something else, or a line that was changed";
            fault(&self.path, format!("line {number}"), found, "a checkpoint of `leakbound audit mechanism`")
        };
        let (mut number, mut whole, mut text) = (0, 0, Vec::new());
        loop {
            text.clear();
            // Bytes: what was cut off may end within a character.
            let bytes = reader.read_until(b'\n', &mut text).map_err(self.failed("read"))?;
            if text.last() != Some(&b'\n') {
                let begun = serde_json::to_vec(&head).is_ok_and(|head| head.starts_with(&text));
                if number == 0 && !begun {
                    return Err(foreign(1).into());
                }
                break;
            }
            number += 1;
            whole += bytes as u64;
            let line: Line = serde_json::from_slice(&text).map_err(|_| foreign(number))?;
            match line {
                Line::Outputs(asked, outputs) if outputs.len() as u64 != asked.runs => {
                    return Err(foreign(number).into());
                }
                Line::Head { schema, audit: of } if number == 1 && schema == SCHEMA => {
                    if of != audit {
                        let found = "the checkpoint of an audit with other options";
                        let hint = "give the options of the audit that is to go on, or another --checkpoint";
                        return Err(hinted(fault(&self.path, "line 1", found, "one of this audit"), hint).into());
                    }
                }
                Line::Outputs(..) | Line::Trouble(..) => state.left += 1,
                Line::Tally(tally) => state.tally = Some(tally),
                Line::Head { .. } => {
                    let place = format!("line {number}");
                    return Err(fault(&self.path, place, "another form", format!("`{SCHEMA}` in line 1")).into());
                }
            }
        }
        state.file.set_len(whole).map_err(self.failed("write"))?;
        state.file.seek(SeekFrom::End(0)).map_err(self.failed("write"))?;
        drop(state);
        if number == 0 {
            self.write(&head)?;
        }
        let mut state = self.state();
        state.resumed = state.left > 0;
        Ok(())
    }

    /// The next answer that was kept.
    fn next(&self) -> Result<Option<(Asked, Reply)>> {
        let mut state = self.state();
        if state.left == 0 {
            return Ok(None);
        }
        let mut text = Vec::new();
        loop {
            text.clear();
            state.kept.read_until(b'\n', &mut text).map_err(self.failed("read"))?;
            let line = serde_json::from_slice(&text).map_err(|error| self.failed("read")(error.into()))?;
            let found = match line {
                Line::Outputs(asked, outputs) => (asked, Ok(outputs)),
                Line::Trouble(asked, trouble) => (asked, Err(trouble)),
                Line::Head { .. } | Line::Tally(_) => continue,
            };
            state.left -= 1;
            return Ok(Some(found));
        }
    }

    fn write(&self, line: &Line) -> Result<()> {
        let mut text = serde_json::to_vec(line).map_err(|error| self.failed("write")(error.into()))?;
        text.push(b'\n');
        self.state().file.write_all(&text).map_err(self.failed("write"))
    }
}

impl Journal for AuditJournal {
    fn recall(&self, asked: Asked) -> Result<Option<Reply>> {
        let Some((kept, reply)) = self.next()? else { return Ok(None) };
        if kept != asked {
            let found = format!("the answer to a request of {} runs with seed {}", kept.runs, kept.seed);
            let expected = format!("{} runs with seed {}", asked.runs, asked.seed);
            let hint = "the program, or what it reads, has changed since: start anew";
            return Err(hinted(fault(&self.path, "checkpoint", found, expected), hint).into());
        }
        Ok(Some(reply))
    }

    fn is_resumed(&self) -> bool {
        self.state().resumed
    }

    fn keep(&self, asked: Asked, reply: &Reply) -> Result<()> {
        self.write(&match reply {
            Ok(outputs) => Line::Outputs(asked, outputs.clone()),
            Err(trouble) => Line::Trouble(asked, trouble.clone()),
        })
    }

    fn recall_tally(&self, of: &str) -> Option<Tally> {
        self.state().tally.clone().filter(|tally| tally.of == of)
    }

    fn keep_tally(&self, tally: &Tally, last: bool) -> Result<()> {
        if !last && self.state().saved.elapsed() < PACE {
            return Ok(());
        }
        self.write(&Line::Tally(tally.clone()))?;
        self.state().saved = Instant::now();
        Ok(())
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
        assert!(AuditJournal::open(&path, "one", false).unwrap_err().to_string().contains("there already"));
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
        for text in ["something else\n", "{\"precious\": 1}", "{\"outputs\":[{\"runs\":2,\"seed\":1},[]]}\n"] {
            std::fs::write(&path, text).unwrap();
            assert!(AuditJournal::open(&path, "one", true).unwrap_err().to_string().contains("line 1"), "{text}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}
