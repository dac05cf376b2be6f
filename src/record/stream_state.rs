//! An audit of a stream that was saved.

use super::atomic_file::write_atomically;
use super::fault::{fault, hinted, quoted};
use super::input_file::{InputFile, read_up_to};
use super::known_batches::Batch;
use super::output_stream::OutcomeNames;
use crate::audit::{PairStream, StreamBins, StreamCounts};
use crate::error::Result;
use crate::json;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// First words of a saved audit; the number rises when the form of the content changes.
const MARK: &str = "leakbound stream 2, sha256 ";
/// The same before batches were known.
const OLD_MARK: &str = "leakbound stream 1, sha256 ";
/// The largest saved audit read.
const MAX_BYTES: u64 = 64 << 20;

/// An audit of a stream that continues with the next rows.
///
/// The file has a first line with the SHA-256 of all that follows, and then one line of JSON. It is written next to its
/// place and renamed; a file with a single byte changed, or cut off anywhere, is rejected.
#[derive(Debug, Clone)]
pub struct SavedStream {
    /// What is asked of the stream, in words: bets and failure probability are divided accordingly, so it must not
    /// change once outputs have been seen.
    pub asked: String,
    /// Names of the outcomes; none if they are binned.
    pub names: OutcomeNames,
    /// The batches that the outputs came in.
    pub batches: Vec<Batch>,
    /// The outputs so far.
    pub counts: StreamCounts,
}

#[derive(Serialize)]
struct BodyOut<'a> {
    asked: &'a str,
    names: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<&'a StreamBins>,
    rows: [u64; 2],
    batches: &'a [Batch],
    stream: &'a PairStream,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    asked: String,
    names: Vec<String>,
    #[serde(default)]
    bins: Option<StreamBins>,
    rows: [u64; 2],
    #[serde(default)]
    batches: Vec<Batch>,
    stream: PairStream,
}

impl SavedStream {
    /// Writes the file next to its place and renames it.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) when it cannot be written; an existing file is kept.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        self.write_with(path, &self.names)
    }

    /// The same with these names instead of its own, which a reader may hold.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_with(&self, path: impl AsRef<Path>, names: &OutcomeNames) -> Result<()> {
        let Self { asked, batches, counts: StreamCounts { outputs, bins, pairs }, .. } = self;
        let (names, bins) = (names.names(), bins.as_ref());
        let body = BodyOut { asked, names, bins, rows: *outputs, batches, stream: pairs };
        // Finite numbers, texts and lists can always be written as JSON.
        let body = serde_json::to_string(&body).unwrap_or_default() + "\n";
        write_atomically(path, format!("{MARK}{}\n{body}", sha256(body.as_bytes())).as_bytes())
    }

    /// Reads a file that [`write`](Self::write) wrote.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) when it cannot be read; otherwise [`Error::Input`](crate::Error::Input), one
    /// line that states what is wrong: not a saved stream, or one that was changed or cut off since.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let file = path.as_ref();
        let bytes = read_up_to(file, MAX_BYTES)?;
        let reject =
            |found: String, hint: &str| hinted(fault(file, "whole file", found, "a state of an audited stream"), hint);
        if bytes.len() as u64 > MAX_BYTES {
            return Err(reject("more than 64 MiB".into(), "name another file").into());
        }
        let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
        let (first, rest) = (&bytes[..end], bytes.get(end + 1..).unwrap_or_default());
        let digest = [MARK, OLD_MARK].iter().find_map(|mark| first.strip_prefix(mark.as_bytes()));
        let Some(digest) = digest else {
            return Err(reject("another kind of file".into(), "to start over, name a file that does not exist").into());
        };
        let anew = "remove it to start over";
        let text = std::str::from_utf8(rest).ok().filter(|_| digest == sha256(rest).as_bytes());
        let Some(text) = text else {
            return Err(reject("a state that was changed or cut off after it was written".into(), anew).into());
        };
        let body: Body = json::from_str(text).map_err(|error| reject(quoted(&error.to_string()), anew))?;
        let mut names = OutcomeNames::default();
        let distinct = body.names.iter().enumerate().all(|(index, name)| names.position(name) == Some(index));
        if !distinct || body.stream.process().outcomes() != OutcomeNames::MOST {
            return Err(reject("impossible outcomes".into(), anew).into());
        }
        let Body { asked, bins, rows, batches, stream, .. } = body;
        Ok(Self { asked, names, batches, counts: StreamCounts { outputs: rows, bins, pairs: stream } })
    }
}

fn sha256(body: &[u8]) -> String {
    InputFile::of_bytes("", body).sha256
}
