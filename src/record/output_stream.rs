//! Raw outputs as they come, row by row in bounded memory, and an audit of them that was saved.

use super::atomic_file::write_atomically;
use super::fault::{fault, hinted, quoted, unreadable};
use super::input_file::{Digested, InputFile, open};
use super::lines::{Line, Lines};
use super::rows::check_name;
use super::table::MAX_OUTCOMES;
use super::text::{Text, sniff};
use super::value_file::{NUMBER, number};
use crate::audit::{PairStream, StreamBins};
use crate::error::{InputError, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

const COLUMNS: &str = "`world`, `output`";
/// First words of a saved audit; the number rises when the content takes another form.
const MARK: &str = "leakbound stream 1, sha256 ";
/// The largest saved audit read.
const MAX_BYTES: u64 = 64 << 20;

/// Names of outcomes in the order in which they came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutcomeNames {
    names: Vec<String>,
    positions: HashMap<String, usize>,
}

impl OutcomeNames {
    /// The names.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The most names there can be.
    pub const MOST: usize = MAX_OUTCOMES;

    /// The number of a name, which is added if it is new; `None` where there is no room for it.
    fn position(&mut self, name: &str) -> Option<usize> {
        if let Some(&position) = self.positions.get(name) {
            return Some(position);
        }
        if self.names.len() == Self::MOST {
            return None;
        }
        self.positions.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        Some(self.names.len() - 1)
    }
}

/// Which world a row of raw outputs is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputWorld {
    /// `s`, the dataset.
    Dataset,
    /// `s_prime`, its neighbour.
    Neighbor,
}

/// Reads CSV with the columns `world` (`s` or `s_prime`) and `output`, one row per output, and hands each row with its
/// line number, world and outcome to `each`, until the end or until `each` breaks off. `file` stands for the reader in
/// messages. Returns the identity of what was read where that was all.
///
/// # Errors
/// [`Error::Input`](crate::Error::Input) with the line of what is wrong, [`Error::Io`](crate::Error::Io) when the reader
/// fails, and whatever `each` returns.
///
/// # Example
/// ```
/// # use leakbound::record::{OutcomeNames, OutputWorld, read_outputs};
/// # use std::ops::ControlFlow;
/// let mut names = OutcomeNames::default();
/// let mut neighbors = 0;
/// let text = b"world,output\ns,cat\ns_prime,dog\ns_prime,cat\n";
/// read_outputs("t.csv", &text[..], &mut names, |_, world, _| {
///     neighbors += u32::from(world == OutputWorld::Neighbor);
///     Ok(ControlFlow::Continue(()))
/// })?;
/// assert_eq!((names.names(), neighbors), (&["cat".to_owned(), "dog".to_owned()][..], 2));
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn read_outputs(
    file: impl AsRef<Path>,
    reader: impl Read,
    names: &mut OutcomeNames,
    mut each: impl FnMut(u64, OutputWorld, usize) -> Result<ControlFlow<()>>,
) -> Result<Option<InputFile>> {
    read_rows(file.as_ref(), reader, |line, world, output| {
        let Some(outcome) = names.position(output) else {
            let found = format!("the new outcome {}", quoted(output));
            let error = line.at("output").fault(found, format!("at most {} outcomes", OutcomeNames::MOST));
            return Err(hinted(error, "bin outputs that are numbers: --bins quantile:20").into());
        };
        each(line.number(), world, outcome)
    })
}

/// Reads what [`read_outputs`] reads where every output is a number, and hands each row with its line number, world and
/// value to `each`. Infinite values are written `inf` and `-inf`; `nan` is refused.
///
/// # Errors
/// As [`read_outputs`], and [`Error::Input`](crate::Error::Input) for an output that is not a number.
pub fn read_real_outputs(
    file: impl AsRef<Path>,
    reader: impl Read,
    mut each: impl FnMut(u64, OutputWorld, f64) -> Result<ControlFlow<()>>,
) -> Result<Option<InputFile>> {
    read_rows(file.as_ref(), reader, |line, world, output| {
        let value = number(output).map_err(|hint| {
            let error = line.at("output").fault(quoted(output), NUMBER);
            InputError { hint: hint.map(Into::into), ..error }
        })?;
        each(line.number(), world, value)
    })
}

/// The rows of raw outputs of one query.
fn read_rows(
    file: &Path,
    reader: impl Read,
    mut each: impl FnMut(&Line<'_>, OutputWorld, &str) -> Result<ControlFlow<()>>,
) -> Result<Option<InputFile>> {
    let mut digested = Digested::new(reader);
    let Text::Csv(reader) = sniff(file, &mut digested, "raw outputs")? else {
        return Err(fault(file, "whole file", "JSON", "raw outputs as CSV").into());
    };
    let mut lines = Lines::new(file, reader);
    let header = lines.header(COLUMNS)?;
    if !header.has("world") && !header.has("output") {
        return Err(header.missing(COLUMNS).into());
    }
    if header.has("query") {
        let error = header.fault("a column `query`", COLUMNS);
        return Err(hinted(error, "a stream is of one query; split the file by query").into());
    }
    let columns = [Some(header.require("world")?), Some(header.require("output")?)];
    let mut rows = 0u64;
    while let Some(line) = lines.next()? {
        let [world, output] = line.fields(&header, columns)?;
        let world = match &*world {
            "s" => OutputWorld::Dataset,
            "s_prime" => OutputWorld::Neighbor,
            other => return Err(line.at("world").fault(quoted(other), "`s` or `s_prime`").into()),
        };
        check_name(&line, "output", &output)?;
        rows += 1;
        if each(&line, world, &output)?.is_break() {
            return Ok(None);
        }
    }
    if rows == 0 {
        return Err(header.alone().into());
    }
    drop(lines);
    digested.finish(file).map(Some)
}

/// An audit of a stream that goes on with the next rows.
///
/// The file has a first line with the SHA-256 of all that follows, and then one line of JSON. It is written beside its
/// place and renamed; a file with a single byte changed, or cut off anywhere, is refused.
#[derive(Debug, Clone)]
pub struct SavedStream {
    /// What is asked of the stream, in words: bets and failure probability are divided accordingly, so that it must
    /// not change once outputs have been seen.
    pub asked: String,
    /// Names of the outcomes; none where they are binned.
    pub names: OutcomeNames,
    /// Bins of outputs that are numbers, and the pilot that chooses them.
    pub bins: Option<StreamBins>,
    /// Rows of both worlds so far.
    pub rows: [u64; 2],
    /// The pairs.
    pub stream: PairStream,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    asked: String,
    names: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bins: Option<StreamBins>,
    rows: [u64; 2],
    stream: PairStream,
}

impl SavedStream {
    /// Writes the file beside its place and renames it.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) when it cannot be written; what stood there stays.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let body = Body {
            asked: self.asked.clone(),
            names: self.names.names.clone(),
            bins: self.bins.clone(),
            rows: self.rows,
            stream: self.stream.clone(),
        };
        // Finite numbers, texts and lists can always be written as JSON.
        let body = serde_json::to_string(&body).unwrap_or_default() + "\n";
        write_atomically(path, format!("{}\n{body}", first_line(body.as_bytes())).as_bytes())
    }

    /// Reads a file that [`write`](Self::write) wrote.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) when it cannot be read; otherwise [`Error::Input`](crate::Error::Input), one
    /// line that says what is wrong: no saved stream, or one that was changed or cut off since.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let file = path.as_ref();
        let mut bytes = Vec::new();
        open(file)?.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|source| unreadable(file, source))?;
        let refuse = |found: String, hint: &str| {
            hinted(fault(file, "whole file", found, "a state of leakbound audit stream"), hint)
        };
        if bytes.len() as u64 > MAX_BYTES {
            return Err(refuse("more than 64 MiB".into(), "name another file").into());
        }
        let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
        let (first, rest) = (&bytes[..end], bytes.get(end + 1..).unwrap_or_default());
        if !first.starts_with(MARK.as_bytes()) {
            return Err(refuse("another kind of file".into(), "name a file that is not there to start anew").into());
        }
        let anew = "remove it to start anew";
        let text = std::str::from_utf8(rest).ok().filter(|_| first == first_line(rest).as_bytes());
        let Some(text) = text else {
            return Err(refuse("a state that was changed or cut off after it was written".into(), anew).into());
        };
        let body: Body = serde_json::from_str(text).map_err(|error| refuse(quoted(&error.to_string()), anew))?;
        let mut names = OutcomeNames::default();
        let distinct = body.names.iter().enumerate().all(|(index, name)| names.position(name) == Some(index));
        if !distinct || body.stream.process().outcomes() != OutcomeNames::MOST {
            return Err(refuse("impossible outcomes".into(), anew).into());
        }
        Ok(Self { asked: body.asked, names, bins: body.bins, rows: body.rows, stream: body.stream })
    }
}

fn first_line(body: &[u8]) -> String {
    format!("{MARK}{}", InputFile::of_bytes("", body).sha256)
}
