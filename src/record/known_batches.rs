//! Batches of outputs that were counted before, known by their bytes.

use super::input_file::hexadecimal;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::io::{self, Read};

/// After this many bytes an input differs from most batches that it does not repeat, long before it is read to its end.
const HEADS: [u64; 3] = [64, 512, 4096];

/// How far a batch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BatchStage {
    /// It was counted up to here, and may continue.
    Reading,
    /// It was counted to its end, but delivery of the answer is unknown.
    Read,
    /// It was counted to its end, and the answer was given.
    Delivered,
}

/// The start of an input, or all of it, that was counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// How many bytes were counted, from the start.
    pub bytes: u64,
    /// How many lines these bytes have.
    pub lines: u64,
    /// Their SHA-256 in hexadecimal.
    pub sha256: String,
    /// SHA-256 of the first 64, 512 and 4096 bytes, as far as there are that many.
    pub heads: Vec<String>,
    /// Whether the last line has no end, so that in an input that continues there the line differs.
    pub open: bool,
    /// How far the batch is.
    pub stage: BatchStage,
}

impl Batch {
    /// Numbers of bytes at which an input that repeats it has these hashes, in rising order.
    fn marks(&self) -> impl Iterator<Item = (u64, &str)> {
        let heads = HEADS.into_iter().zip(self.heads.iter().map(String::as_str)).filter(|&(at, _)| at < self.bytes);
        heads.chain([(self.bytes, &*self.sha256)])
    }

    /// The first of them after this many bytes.
    fn mark_after(&self, bytes: u64) -> Option<u64> {
        self.marks().map(|(at, _)| at).find(|&at| at > bytes)
    }
}

/// A reader that compares what passes through it with batches that were counted before, and knows the identity of what
/// came before a line.
///
/// Data are looked at before they are passed on: a row is known to belong to a batch of at most one piece before it is
/// read; for a longer batch this is known at its end, and [`is_undecided`](Self::is_undecided) until then.
///
/// ```
/// # use leakbound::record::{BatchReader, BatchStage};
/// # use std::io::Read;
/// let read = |text: &str, known: &[_]| {
///     let reader = BatchReader::new(text.as_bytes(), known);
///     std::io::copy(&mut &reader, &mut std::io::sink()).unwrap();
///     (reader.found(), reader.batch_to_end(BatchStage::Delivered))
/// };
/// let (none, first) = read("s,a\ns,b\n", &[]);
/// assert_eq!((none, first.bytes, first.lines), (None, 8, 2));
/// assert_eq!(read("s,a\ns,b\ns,c\n", &[first.clone()]).0, Some(0));
/// assert_eq!(read("s,a\ns,c\ns,b\n", &[first]).0, None);
/// ```
#[derive(Debug)]
pub struct BatchReader<R>(RefCell<Inner<R>>);

#[derive(Debug)]
struct Inner<R> {
    reader: R,
    /// Of everything before the piece.
    digest: Sha256,
    bytes: u64,
    lines: u64,
    /// What was handed out last.
    piece: Vec<u8>,
    heads: Vec<String>,
    /// Batches that this input may still begin with, and their places in the list.
    candidates: Vec<(usize, Batch)>,
    /// The next number of bytes at which a candidate is looked at.
    next: Option<u64>,
    found: Option<(usize, u64)>,
    /// Whether the last batch found ends in the middle of a line.
    torn: bool,
    /// Whether the input began as a batch did.
    alike: bool,
}

impl<R: Read> BatchReader<R> {
    /// Compares with these batches.
    pub fn new(reader: R, known: &[Batch]) -> Self {
        let candidates: Vec<(usize, Batch)> =
            known.iter().cloned().enumerate().filter(|(_, batch)| batch.bytes > 0).collect();
        let next = candidates.iter().filter_map(|(_, batch)| batch.mark_after(0)).min();
        Self(RefCell::new(Inner {
            reader,
            digest: Sha256::new(),
            bytes: 0,
            lines: 0,
            piece: Vec::new(),
            heads: Vec::new(),
            candidates,
            next,
            found: None,
            torn: false,
            alike: false,
        }))
    }

    /// The place of the longest batch that the input begins with, as far as it was read.
    pub fn found(&self) -> Option<usize> {
        self.0.borrow().found.map(|(index, _)| index)
    }

    /// Whether the input may yet turn out to begin with a batch.
    pub fn is_undecided(&self) -> bool {
        !self.0.borrow().candidates.is_empty()
    }

    /// Whether the batch found ends in the middle of a line of this input.
    pub fn is_torn(&self) -> bool {
        self.0.borrow().torn
    }

    /// Whether the input has the first 4096 bytes of a batch, and then continues or ends differently.
    pub fn is_alike(&self) -> bool {
        let inner = self.0.borrow();
        inner.alike && inner.found.is_none()
    }

    /// The input up to the end of a line, which must be the one read last or one in the same piece.
    pub fn batch_to_line(&self, line: u64, stage: BatchStage) -> Batch {
        let inner = self.0.borrow();
        let wanted = line.saturating_sub(inner.lines);
        let ends = inner.piece.iter().enumerate().filter(|&(_, &byte)| byte == b'\n').map(|(index, _)| index + 1);
        let length = match wanted.checked_sub(1).and_then(|wanted| usize::try_from(wanted).ok()) {
            None => 0,
            Some(before) => ends.into_iter().nth(before).unwrap_or(inner.piece.len()),
        };
        inner.batch(length, line, stage)
    }

    /// The whole input, once it has been read.
    pub fn batch_to_end(&self, stage: BatchStage) -> Batch {
        let inner = self.0.borrow();
        let open = inner.piece.last().is_some_and(|&byte| byte != b'\n');
        let lines = inner.lines + line_ends(&inner.piece) + u64::from(open);
        inner.batch(inner.piece.len(), lines, stage)
    }
}

fn line_ends(piece: &[u8]) -> u64 {
    piece.iter().filter(|&&byte| byte == b'\n').count() as u64
}

impl<R> Inner<R> {
    /// SHA-256 of everything up to this many bytes of the piece.
    fn sha256(&self, length: usize) -> String {
        hexadecimal(&self.digest.clone().chain_update(&self.piece[..length]).finalize())
    }

    fn batch(&self, length: usize, lines: u64, stage: BatchStage) -> Batch {
        let sha256 = self.sha256(length);
        let bytes = self.bytes + length as u64;
        let heads = self.heads.iter().take(HEADS.iter().filter(|&&head| head <= bytes).count()).cloned().collect();
        let open = length > 0 && self.piece[length - 1] != b'\n';
        Batch { bytes, lines, sha256, heads, open, stage }
    }

    /// Takes the next piece and compares.
    fn take(&mut self, piece: &[u8]) {
        self.digest.update(&self.piece);
        self.bytes += self.piece.len() as u64;
        self.lines += line_ends(&self.piece);
        self.piece.clear();
        self.piece.extend_from_slice(piece);
        let end = self.bytes + piece.len() as u64;
        for at in HEADS.into_iter().filter(|&at| at > self.bytes && at <= end) {
            self.heads.push(self.sha256((at - self.bytes) as usize));
        }
        while let Some(at) = self.next.filter(|&at| at <= end) {
            let sha256 = self.sha256((at - self.bytes) as usize);
            // A batch that has another hash here is not repeated; one that has none here may be.
            let same = |batch: &Batch| batch.marks().find(|mark| mark.0 == at).is_none_or(|mark| mark.1 == sha256);
            self.candidates.retain(|(_, batch)| same(batch));
            self.alike |= self.candidates.iter().any(|(_, batch)| at == HEADS[HEADS.len() - 1] && batch.bytes > at);
            if let Some((index, batch)) = self.candidates.iter().rfind(|(_, batch)| batch.bytes == at) {
                self.found = Some((*index, at));
                self.torn = batch.open;
            }
            self.candidates.retain(|(_, batch)| batch.bytes > at);
            self.next = self.candidates.iter().filter_map(|(_, batch)| batch.mark_after(at)).min();
        }
        // A line without an end that was counted must end where the input continues.
        if let Some((_, bytes)) = self.found.filter(|_| self.torn)
            && bytes >= self.bytes
            && let Some(byte) = self.piece.get((bytes - self.bytes) as usize)
        {
            self.torn = !matches!(byte, b'\n' | b'\r');
        }
    }

    /// No more input comes: batches not found are absent, and a line without an end is complete.
    fn end(&mut self) {
        self.candidates.clear();
        let end = self.bytes + self.piece.len() as u64;
        self.torn &= self.found.is_some_and(|(_, bytes)| bytes < end);
    }
}

impl<R: Read> Read for &BatchReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut inner = self.0.borrow_mut();
        let length = inner.reader.read(into)?;
        if length > 0 {
            inner.take(&into[..length]);
        } else if !into.is_empty() {
            inner.end();
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Hands out pieces of this size.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(self.0.len()).min(into.len());
            let (piece, rest) = self.0.split_at(length);
            into[..length].copy_from_slice(piece);
            self.0 = rest;
            Ok(length)
        }
    }

    fn through<'a>(text: &'a [u8], piece: usize, known: &[Batch]) -> BatchReader<Pieces<'a>> {
        let reader = BatchReader::new(Pieces(text, piece), known);
        io::copy(&mut &reader, &mut io::sink()).unwrap();
        reader
    }

    fn batch(text: &[u8]) -> Batch {
        through(text, 100, &[]).batch_to_end(BatchStage::Read)
    }

    proptest! {
        /// Whatever the sizes, the longest prefix is found, and nothing else.
        #[test]
        fn the_longest_prefix_is_found(
            length in 0usize..12_000,
            known in proptest::collection::vec((0usize..12_000, 0u8..2), 0..5),
            piece in 1usize..9_000,
        ) {
            let text: Vec<u8> = (0..12_000u32).map(|i| if i % 7 == 6 { b'\n' } else { b'a' + (i % 23) as u8 }).collect();
            let batches: Vec<Batch> = known
                .iter()
                .map(|&(length, change)| {
                    let mut known = text[..length / 7 * 7].to_vec();
                    if let Some(last) = known.first_mut() {
                        *last += change;
                    }
                    batch(&known)
                })
                .collect();
            let input = &text[..length];
            let reader = through(input, piece, &batches);
            let expected = (0..known.len())
                .filter(|&index| known[index].0 / 7 * 7 <= length && known[index].0 >= 7 && known[index].1 == 0)
                .max_by_key(|&index| known[index].0 / 7);
            let bytes = |index: Option<usize>| index.map(|index| batches[index].bytes);
            prop_assert_eq!(bytes(reader.found().filter(|&index| batches[index].bytes > 0)), bytes(expected));
            prop_assert!(!reader.is_undecided() && !reader.is_torn());
            prop_assert_eq!(reader.batch_to_end(BatchStage::Read), batch(input));
        }

        /// The identity up to a line does not depend on how it was read.
        #[test]
        fn a_batch_ends_with_its_line(line in 1u64..1_500, piece in 1usize..9_000) {
            let text: Vec<u8> = (0..1_500).flat_map(|i| format!("s,{}\n", i * i % 1_000).into_bytes()).collect();
            let expected: Vec<u8> = text.split_inclusive(|&byte| byte == b'\n').take(line as usize).flatten().copied().collect();
            let reader = BatchReader::new(Pieces(&text, piece), &[]);
            let mut lines = 0;
            let mut buffer = vec![0; 70_000];
            while lines < line {
                let length = (&reader).read(&mut buffer).unwrap();
                lines += line_ends(&buffer[..length]);
            }
            prop_assert_eq!(reader.batch_to_line(line, BatchStage::Read), batch(&expected));
        }
    }

    #[test]
    fn a_line_that_goes_on_is_another_line() {
        let known = [batch(b"s,a\ns,ye")];
        assert!(known[0].open);
        for piece in [1, 8, 100] {
            for (text, found, torn) in [
                ("s,a\ns,yes\n", true, true),
                ("s,a\ns,ye", true, false),
                ("s,a\ns,ye\ns,b\n", true, false),
                ("s,a\r\ns,ye", false, false),
            ] {
                let reader = through(text.as_bytes(), piece, &known);
                assert_eq!((reader.found().is_some(), reader.is_torn()), (found, torn), "{text:?} {piece}");
            }
        }
    }

    #[test]
    fn what_only_begins_alike_is_told() {
        let long = "s,yes\n".repeat(2_000);
        let known = [batch(long.as_bytes())];
        let changed = format!("{}s,no\n", &long[..6_000]);
        for (text, alike) in [(&changed[..], true), (&long[..6_000], true), (&long, false), (&long[..600], false)] {
            assert_eq!(through(text.as_bytes(), 1_000, &known).is_alike(), alike, "{}", text.len());
        }
    }
}
