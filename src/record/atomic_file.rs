//! Results are complete or absent: written next to their place, then renamed.

use crate::error::{Error, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A place for a result, reserved before long work and filled at its end.
///
/// Until [`commit`](Self::commit) an existing file keeps its content, also if the reservation is dropped.
///
/// ```
/// # use leakbound::record::AtomicFile;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("result.json");
/// let output = AtomicFile::create(&path)?; // fails now, not after hours
/// let result = b"{}";
/// output.commit(result)?;
/// assert_eq!(std::fs::read(&path).unwrap(), result);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    /// A pipe or device, which can be opened once only.
    stream: Option<File>,
}

#[derive(Debug)]
enum Target {
    /// A file next to the place, and the place with symbolic links resolved.
    Beside(NamedTempFile, PathBuf),
    /// A pipe or device, which can be written to but not replaced.
    Stream(File),
}

impl AtomicFile {
    /// Reserves a place: checks that the folder and an existing file are writable.
    ///
    /// A symbolic link is followed; an existing file keeps its permissions; pipes and devices are written to directly.
    ///
    /// # Errors
    /// [`Error::Io`] when the path is a directory, the folder does not exist or may not be written to, or an existing
    /// file may not be written to.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        // The file next to it is removed again immediately: interrupted work leaves nothing behind.
        let stream = match reserve(path).map_err(|source| unwritable(path, source))? {
            Target::Beside(..) => None,
            Target::Stream(file) => Some(file),
        };
        Ok(Self { path: path.to_path_buf(), stream })
    }

    /// The place as the user named it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the content, waits until it is on the disk, and puts it in its place in one step.
    ///
    /// # Errors
    /// [`Error::Io`] when the content cannot be written; the temporary file is removed, and an existing file is kept.
    pub fn commit(self, bytes: &[u8]) -> Result<()> {
        self.commit_with(|file| file.write_all(bytes))
    }

    /// [`commit`](Self::commit) of a content that is written piece by piece, so that it is never whole in memory.
    ///
    /// # Errors
    /// As [`commit`](Self::commit), and what `write` returns.
    pub fn commit_with(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        let target = self.stream.map_or_else(|| reserve(&self.path), |file| Ok(Target::Stream(file)));
        let done = target.and_then(|target| match target {
            Target::Stream(mut file) => buffered(&mut file, write),
            Target::Beside(beside, place) => replace(beside, &place, write),
        });
        done.map_err(|source| unwritable(&self.path, source))
    }
}

/// Writes a file whole: [`AtomicFile::create`], then [`AtomicFile::commit`].
///
/// # Errors
/// As those two.
pub fn write_atomically(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    AtomicFile::create(path)?.commit(bytes)
}

fn unwritable(path: &Path, source: io::Error) -> Error {
    Error::Io { path: path.to_path_buf(), action: "write", source }
}

fn reserve(path: &Path) -> io::Result<Target> {
    let existing = match fs::metadata(path) {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let permissions = match existing {
        Some(metadata) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Some(metadata) => {
            // Opened without truncating: a file that may not be written must not be replaced either.
            let file = OpenOptions::new().write(true).open(path)?;
            if !metadata.is_file() {
                return Ok(Target::Stream(file));
            }
            Some(metadata.permissions())
        }
        None => None,
    };
    let place = if permissions.is_some() { fs::canonicalize(path)? } else { path.to_path_buf() };
    let prefix = prefix(&place).ok_or(io::ErrorKind::InvalidFilename)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX).rand_bytes(RANDOM);
    let new = permissions.or_else(of_a_new_file);
    if let Some(permissions) = new {
        builder.permissions(permissions);
    }
    // tempfile puts its own random name into the error; so the system's error about the folder is asked for first, and
    // only the kind of other errors is kept: the message then names only the user's path.
    fs::metadata(folder(&place))?;
    let beside = builder.tempfile_in(folder(&place)).map_err(|error| io::Error::from(error.kind()))?;
    Ok(Target::Beside(beside, place))
}

/// The ending of the names of temporary files, after this many random characters.
const SUFFIX: &str = ".part";
const RANDOM: usize = 6;

/// How they begin.
fn prefix(place: &Path) -> Option<String> {
    let name = place.file_name()?.to_string_lossy();
    Some(format!(".{}.", name.chars().take(100).collect::<String>()))
}

/// Removes the temporary files next to a place that killed writers left there.
///
/// Only for a place that nobody else writes to: a file that another process is writing there is also removed. Files
/// that cannot be removed stay.
pub fn remove_leftovers(path: impl AsRef<Path>) {
    let place = fs::canonicalize(path.as_ref()).unwrap_or_else(|_| path.as_ref().to_path_buf());
    let Some(prefix) = prefix(&place) else { return };
    for entry in fs::read_dir(folder(&place)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let random = name.to_str().and_then(|name| name.strip_prefix(&prefix)?.strip_suffix(SUFFIX));
        if random
            .is_some_and(|random| random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The permissions of an ordinary new file, from which the system takes the user's mask; temporary files are private.
#[cfg(unix)]
fn of_a_new_file() -> Option<fs::Permissions> {
    Some(std::os::unix::fs::PermissionsExt::from_mode(0o666))
}

#[cfg(not(unix))]
fn of_a_new_file() -> Option<fs::Permissions> {
    None
}

fn folder(place: &Path) -> &Path {
    match place.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Writes everything through a buffer.
fn buffered(file: &mut File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut buffer = BufWriter::new(file);
    write(&mut buffer)?;
    buffer.flush()
}

fn replace(
    mut beside: NamedTempFile,
    place: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    // Through the file itself: tempfile would name its own path in the error.
    buffered(beside.as_file_mut(), write)?;
    beside.as_file().sync_all()?;
    beside.persist(place).map_err(|error| error.error)?;
    // The new name is on the disk only once the folder is. Some systems and file systems cannot sync a folder; the
    // file itself is complete either way.
    let _ = File::open(folder(place)).and_then(|folder| folder.sync_all());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn the_old_content_stays_until_the_new_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        write_atomically(&path, b"old").unwrap();
        let output = AtomicFile::create(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        drop(output);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["a.json"]);
        AtomicFile::create(&path).unwrap().commit(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["a.json"]);
    }

    #[test]
    fn places_that_cannot_be_written_are_rejected_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let message = |path: &Path| AtomicFile::create(path).unwrap_err().to_string();
        assert!(message(folder.path()).ends_with(": cannot write: is a directory"));
        assert!(message(&folder.path().join("none").join("a")).contains("cannot write: No such file or directory"));
        let file = folder.path().join("file");
        fs::write(&file, "x").unwrap();
        assert!(AtomicFile::create(file.join("a")).is_err());
        assert_eq!(names(folder.path()), ["file"]);
    }

    #[test]
    fn what_killed_writers_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        for name in
            ["c", ".c.aB3dE6.part", ".c.123456.part", ".c.12345.part", ".c.123.56.part", ".d.123456.part", "x.part"]
        {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        remove_leftovers(folder.path().join("c"));
        remove_leftovers(folder.path().join("none").join("c"));
        let mut left = names(folder.path());
        left.sort();
        assert_eq!(left, [".c.123.56.part", ".c.12345.part", ".d.123456.part", "c", "x.part"]);
        // The names that are written are those that are looked for.
        let Target::Beside(beside, _) = reserve(&folder.path().join("c")).unwrap() else { panic!("a file") };
        let (_, path) = beside.keep().unwrap();
        remove_leftovers(folder.path().join("c"));
        assert!(!path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn permissions_links_and_devices_are_respected() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("a", &link).unwrap();
        write_atomically(&link, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        write_atomically("/dev/null", b"x").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
