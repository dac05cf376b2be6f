//! Recorded sequences of tokens: an archive of arrays, lines of JSON, or a Parquet table.

use super::budget::{MemoryBudget, Room};
use super::fault::unreadable;
use super::input_file::{Digested, InputFile, open, pipe};
use super::parquet::MAGIC;
use super::text_arrays::TextArrays;
use super::text_lines::{Lines, read_lines};
use super::text_parquet::read_table;
use crate::error::Result;
use crate::membership::{Documents, MemoryText, Ragged, TextPart, TextSequences};
use std::io::BufReader;
use std::ops::Range;
use std::path::Path;

/// Bytes of a text read in one piece.
const BUFFER: usize = 256 << 10;
/// How an archive starts.
const ARCHIVE: &[u8] = b"PK";

/// Sequences of tokens in a file.
#[derive(Debug)]
pub struct TextRecording(Source);

#[derive(Debug)]
enum Source {
    Arrays(Box<TextArrays>),
    Lines {
        text: Box<MemoryText>,
        /// Whether the sizes of texts were made here.
        compressed: bool,
        unused: Vec<String>,
        input: InputFile,
    },
}

/// Reads sequences of tokens.
///
/// *An archive* (npz) has `offsets` \[sequence + 1\], where each sequence starts among all tokens, rising from 0 to
/// their number, `log_probabilities` \[token\] and `member` \[sequence\]. It may have `log_probability_mean`,
/// `log_probability_deviation` and `entropy` \[token\], `reference_log_probabilities` \[token\] or `reference_loss`
/// \[sequence\], `zlib_bytes` \[sequence\], `neighbor_losses` \[sequence, neighbor\], `candidate_losses` \[sequence,
/// candidate\] and `document` \[sequence\], whole numbers. Floats have 16, 32 or 64 bits. Arrays of tokens are read in
/// pieces when they are asked for, so an archive without compression may be larger than memory.
///
/// *Lines of JSON* have one object for each sequence with keys of the same names, but no offsets: lists of numbers, one
/// number for `reference_loss` and `zlib_bytes`, true or false for `member`, any name for `document`. Without
/// `zlib_bytes`, the size of the compressed text comes from `text`. Every line has the same keys; others are ignored.
///
/// *A Parquet table* has a row for each sequence and columns of the same names as the keys: lists of numbers, a number
/// for `reference_loss` and `zlib_bytes`, truth values or 0 and 1 for `member`, names or whole numbers for `document`.
///
/// What is held may take `memory`.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when the file cannot be read, [`Error::Input`](crate::Error::Input) with array and
/// index, line and key, or row and column, for anything but such sequences of members and non-members, and for a
/// document with both.
pub fn read_text_sequences(path: impl AsRef<Path>, memory: MemoryBudget) -> Result<TextRecording> {
    let path = path.as_ref();
    let (mut reader, mut room) = (open(path)?, Room::new(memory));
    let start = reader.peek(MAGIC[0].len()).map_err(|source| unreadable(path, source))?;
    if start.starts_with(ARCHIVE) {
        if reader.is_pipe() {
            return Err(pipe(path, "an archive (.npz) that is a file"));
        }
        let arrays = TextArrays::open(path, &reader, &mut room)?;
        return Ok(TextRecording(Source::Arrays(Box::new(arrays))));
    }
    if MAGIC.iter().any(|magic| start == *magic) {
        if reader.is_pipe() {
            return Err(pipe(path, "a Parquet table that is a file"));
        }
        let Lines { text, compressed, unused } = read_table(path, &reader, &mut room)?;
        let input = reader.identity(path)?;
        return Ok(TextRecording(Source::Lines { text: Box::new(text), compressed, unused, input }));
    }
    let mut source = Digested::new(reader);
    let lines = read_lines(path, BufReader::with_capacity(BUFFER, &mut source), &mut room)?;
    let Lines { text, compressed, unused } = lines;
    let input = source.finish_unchanged(path)?;
    Ok(TextRecording(Source::Lines { text: Box::new(text), compressed, unused, input }))
}

impl TextRecording {
    fn sequences(&self) -> &dyn TextSequences {
        match &self.0 {
            Source::Arrays(arrays) => &**arrays,
            Source::Lines { text, .. } => &**text,
        }
    }

    /// The file, which must be the same until now.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) when it changed since it was opened.
    pub fn input(&self) -> Result<InputFile> {
        match &self.0 {
            Source::Arrays(arrays) => arrays.trace.input(),
            Source::Lines { input, .. } => Ok(input.clone()),
        }
    }

    /// The names of arrays, columns or keys that are present but unused; for lines of JSON, those of the first.
    #[must_use]
    pub fn unused(&self) -> &[String] {
        match &self.0 {
            Source::Arrays(arrays) => &arrays.unused,
            Source::Lines { unused, .. } => unused,
        }
    }

    /// Whether `zlib_bytes` were computed from texts by this program's compressor, whose sizes differ by some bytes
    /// from those of other implementations of zlib.
    #[must_use]
    pub const fn compressed_here(&self) -> bool {
        matches!(self.0, Source::Lines { compressed: true, .. })
    }
}

impl TextSequences for TextRecording {
    fn members(&self) -> &[bool] {
        self.sequences().members()
    }

    fn documents(&self) -> Option<&Documents> {
        self.sequences().documents()
    }

    fn tokens_before(&self, sequence: usize) -> usize {
        self.sequences().tokens_before(sequence)
    }

    fn has(&self, part: TextPart) -> bool {
        self.sequences().has(part)
    }

    fn length(&self, part: TextPart, sequence: usize) -> usize {
        self.sequences().length(part, sequence)
    }

    fn read(&self, part: TextPart, sequences: Range<usize>) -> Result<Ragged> {
        self.sequences().read(part, sequences)
    }
}
