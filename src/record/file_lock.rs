//! One process at a time: an advisory lock next to a file.

use super::fault::{fault, hinted};
use crate::error::{Error, Result};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// The right to change a file that several processes may use, held until it is dropped or the process ends, however it
/// ends.
///
/// The file itself is replaced whenever it is written, so a lock on it would be lost with it. The lock is therefore on
/// an empty file next to it, `.NAME.lock`, which is removed at the end.
///
/// ```
/// # use leakbound::record::FileLock;
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("state");
/// let lock = FileLock::take(&path, "a state")?;
/// assert!(FileLock::take(&path, "a state").is_err());
/// drop(lock);
/// assert!(FileLock::take(&path, "a state").is_ok());
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug)]
pub struct FileLock {
    /// Closed, and thereby unlocked, after the name is removed; none if locks are not available.
    file: Option<File>,
    path: PathBuf,
}

/// How often the file of the lock is opened again because its holder removed it meanwhile.
const TRIES: usize = 1_000;

impl FileLock {
    /// Locks `path`, which need not exist; `what` names its content in messages.
    ///
    /// # Errors
    /// [`Error::Input`] when another process holds it, [`Error::Io`] when no file can be created next to it.
    pub fn take(path: impl AsRef<Path>, what: &str) -> Result<Self> {
        let named = path.as_ref();
        let failed = |source: io::Error| Error::Io { path: named.into(), action: "write", source };
        let place = fs::canonicalize(named).unwrap_or_else(|_| named.to_path_buf());
        let name = place.file_name().ok_or_else(|| failed(io::ErrorKind::InvalidFilename.into()))?;
        let mut lock = std::ffi::OsString::from(".");
        lock.push(name);
        lock.push(".lock");
        let path = place.with_file_name(lock);
        for _ in 0..TRIES {
            let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let file = open.map_err(failed)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, &path) => return Ok(Self { file: Some(file), path }),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(held(named, what)),
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                    return Ok(Self { file: None, path });
                }
                Err(TryLockError::Error(source)) => {
                    return Err(Error::Io { path: named.into(), action: "lock", source });
                }
            }
        }
        Err(held(named, what))
    }

    /// Whether others are really kept out: some network file systems have no locks.
    #[must_use]
    pub const fn holds(&self) -> bool {
        self.file.is_some()
    }
}

fn held(path: &Path, what: &str) -> Error {
    let found = format!("{what} that another process is changing");
    hinted(fault(path, "whole file", found, "one process at a time"), "wait until it has ended").into()
}

/// Whether a file that was locked is still the one of this name: its earlier holder may have removed it.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let of = |metadata: &fs::Metadata| (metadata.dev(), metadata.ino());
    matches!((file.metadata(), fs::metadata(path)), (Ok(ref held), Ok(ref named)) if of(held) == of(named))
}

/// It is not removed if this is unknown.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

impl Drop for FileLock {
    fn drop(&mut self) {
        if cfg!(unix) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holds_it_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let first = FileLock::take(&path, "a state").unwrap();
        assert_eq!(
            FileLock::take(&path, "a state").unwrap_err().to_string().replace(&*path.to_string_lossy(), "s"),
            "s: whole file: found a state that another process is changing, expected one process at a time; \
             hint: wait until it has ended"
        );
        drop(first);
        // What a killed process left does not matter.
        fs::write(folder.path().join(".s.lock"), "").unwrap();
        drop(FileLock::take(&path, "a state").unwrap());
        if cfg!(unix) {
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
        let absent = FileLock::take(folder.path().join("none").join("s"), "a state").unwrap_err().to_string();
        assert!(absent.contains("cannot write: "), "{absent}");
    }

    /// Each of several threads adds 1 repeatedly; none is lost.
    #[test]
    fn no_update_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("n");
        fs::write(&path, "0").unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let _lock = loop {
                            match FileLock::take(&path, "a number") {
                                Ok(lock) => break lock,
                                Err(_) => std::thread::yield_now(),
                            }
                        };
                        let number: u32 = fs::read_to_string(&path).unwrap().parse().unwrap();
                        fs::write(&path, (number + 1).to_string()).unwrap();
                    }
                });
            }
        });
        assert_eq!(fs::read_to_string(&path).unwrap(), "200");
    }
}
