//! Text files.

use leakbound::error::{Error, InputError, Result};
use leakbound::record::{InputFile, open};
use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes of all texts together, at most.
const MOST: u64 = 256 << 20;

/// Texts as bytes, and the files that they were read from. No two have the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Texts {
    bytes: Vec<Vec<u8>>,
    files: Vec<InputFile>,
    /// SHA-256 of each.
    known: HashSet<String>,
}

impl Texts {
    /// Reads files, and from a folder and the folders within it the files that are text, by name. A file that is named
    /// may hold any bytes; in a folder, files with a zero byte are not text and are left out. A text that was read
    /// before, such as the target of a link, is taken once. Links to folders are not followed.
    ///
    /// # Errors
    /// [`Error::Io`] when a file cannot be read, [`Error::Input`] for an empty file, a folder without text, and more
    /// than 256 MiB together.
    pub fn read<P: AsRef<Path>>(paths: &[P]) -> Result<Self> {
        let mut texts = Self::default();
        for path in paths {
            let path = path.as_ref();
            if path.is_dir() {
                texts.read_folder(path)?;
                continue;
            }
            let bytes = texts.file(path)?;
            if bytes.is_empty() {
                return Err(fault(path, "whole file", "an empty file", "text", None));
            }
            texts.add(path, bytes);
        }
        Ok(texts)
    }

    fn read_folder(&mut self, folder: &Path) -> Result<()> {
        let mut paths = Vec::new();
        list(folder, &mut paths)?;
        paths.sort();
        let mut found = 0;
        for path in &paths {
            let bytes = self.file(path)?;
            if !bytes.is_empty() && !bytes.contains(&0) {
                self.add(path, bytes);
                found += 1;
            }
        }
        if found > 0 {
            return Ok(());
        }
        let files = format!("{} files, none of them text", paths.len());
        let hint = "a file of another kind can be named itself; unpack compressed ones";
        Err(fault(folder, "whole folder", &files, "files of plain text", Some(hint)))
    }

    /// The content of a file.
    fn file(&self, path: &Path) -> Result<Vec<u8>> {
        let (mut bytes, room) = (Vec::new(), MOST - self.len());
        open(path)?.take(room + 1).read_to_end(&mut bytes).map_err(|source| Error::Io {
            path: path.into(),
            action: "read",
            source,
        })?;
        if bytes.len() as u64 <= room {
            return Ok(bytes);
        }
        Err(fault(path, "whole file", "more text than there is room for", "256 MiB of text together", None))
    }

    fn add(&mut self, path: &Path, bytes: Vec<u8>) {
        let file = InputFile::of_bytes(path, &bytes);
        if self.known.insert(file.sha256.clone()) {
            self.files.push(file);
            self.bytes.push(bytes);
        }
    }

    /// The texts that others do not also have: public texts are not private.
    #[must_use]
    pub fn without(self, others: &Self) -> Self {
        let (mut texts, Self { bytes, files, .. }) = (Self::default(), self);
        for (bytes, file) in bytes.into_iter().zip(files) {
            if !others.known.contains(&file.sha256) {
                texts.known.insert(file.sha256.clone());
                texts.bytes.push(bytes);
                texts.files.push(file);
            }
        }
        texts
    }

    /// The texts.
    #[must_use]
    pub fn texts(&self) -> &[Vec<u8>] {
        &self.bytes
    }

    /// The file of each text.
    #[must_use]
    pub fn files(&self) -> &[InputFile] {
        &self.files
    }

    /// Bytes of all texts.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Whether there is nothing to read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// What is wrong with all texts together.
    pub(super) fn fault(&self, found: &str, expected: &str, hint: &str) -> Error {
        let (path, place) = match self.files.as_slice() {
            [] => (PathBuf::from("texts"), "no file".into()),
            [file] => (file.path.clone(), "whole file".into()),
            [first, ..] => (first.path.clone(), format!("this file and {} more", self.files.len() - 1)),
        };
        fault(&path, &place, found, expected, Some(hint))
    }
}

/// The files in a folder and in those within it.
fn list(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    let unreadable = |source| Error::Io { path: folder.into(), action: "read", source };
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path();
        if entry.file_type().map_err(unreadable)?.is_dir() {
            list(&path, paths)?;
        } else if path.is_file() {
            paths.push(path);
        }
    }
    Ok(())
}

fn fault(path: &Path, place: &str, found: &str, expected: &str, hint: Option<&str>) -> Error {
    let [place, found, expected] = [place, found, expected].map(str::to_owned);
    InputError { file: path.into(), place, found, expected, hint: hint.map(str::to_owned) }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gives_its_texts_by_name_and_each_once() {
        let folder = tempfile::tempdir().unwrap();
        let files = [("b", b"second".as_slice()), ("a", b"first"), ("c", b"first"), ("d", b"bin\0ary"), ("e", b"")];
        for (name, bytes) in files {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        fs::create_dir(folder.path().join("within")).unwrap();
        fs::write(folder.path().join("within/f"), b"third").unwrap();
        let texts = Texts::read(&[folder.path()]).unwrap();
        assert_eq!(texts.texts(), [b"first".to_vec(), b"second".to_vec(), b"third".to_vec()]);
        assert_eq!(texts.len(), 16);
        // A file that is named may hold any bytes.
        let named = Texts::read(&["c", "d"].map(|name| folder.path().join(name))).unwrap();
        assert_eq!(named.texts(), [b"first".to_vec(), b"bin\0ary".to_vec()]);
        assert_eq!(texts.without(&named).texts(), [b"second".to_vec(), b"third".to_vec()]);
    }

    #[test]
    fn what_is_no_text_is_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        fs::write(place("binary"), b"abc\0").unwrap();
        fs::write(place("empty"), b"").unwrap();
        let rejected = |path: PathBuf, expected: &str| {
            let error = Texts::read(&[path]).unwrap_err().to_string();
            assert!(error.contains(expected) && !error.contains('\n'), "{error}");
        };
        rejected(place("empty"), "whole file: found an empty file, expected text");
        rejected(place("nowhere"), "nowhere");
        rejected(folder.path().into(), "whole folder: found 2 files, none of them text, expected files of plain text");
    }
}
