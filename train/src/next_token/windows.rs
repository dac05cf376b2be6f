//! Windows of documents that a language model learns from.

use rand::{Rng, RngExt};

/// All windows of some bytes that lie within one document.
pub(super) struct Windows<'a> {
    documents: &'a [Vec<u8>],
    length: usize,
    /// For each document, the windows of it and of those before it.
    ends: Vec<usize>,
}

impl<'a> Windows<'a> {
    /// Of documents, one of which is as long as a window.
    pub fn new(documents: &'a [Vec<u8>], length: usize) -> Self {
        let mut all = 0;
        let count = |document: &Vec<u8>| {
            all += (document.len() + 1).saturating_sub(length);
            all
        };
        Self { documents, length, ends: documents.iter().map(count).collect() }
    }

    /// The bytes of `count` windows, each equally likely.
    pub fn draw(&self, count: usize, stream: &mut impl Rng) -> Vec<i64> {
        let all = self.ends.last().copied().unwrap_or(0);
        let mut bytes = Vec::with_capacity(count * self.length);
        for _ in 0..count {
            let window = stream.random_range(0..all);
            let document = self.ends.partition_point(|&end| end <= window);
            let first = document.checked_sub(1).map_or(0, |before| self.ends[before]);
            let start = window - first;
            bytes.extend(self.documents[document][start..start + self.length].iter().map(|&byte| i64::from(byte)));
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Purpose, stream};
    use std::collections::BTreeSet;

    /// Six windows; that one of them is not among 200 draws has a probability below 6 (5/6)^200 < 1e-15.
    #[test]
    fn every_window_of_every_document_is_drawn() {
        let documents = [b"abcd".to_vec(), b"x".to_vec(), b"efg".to_vec(), b"hijkl".to_vec()];
        let windows = Windows::new(&documents, 3);
        let drawn = windows.draw(200, &mut stream(1, Purpose::TextWindows, 0, 0));
        let drawn: BTreeSet<String> =
            drawn.chunks_exact(3).map(|window| window.iter().map(|&byte| char::from(byte as u8)).collect()).collect();
        assert_eq!(drawn.iter().map(String::as_str).collect::<Vec<_>>(), ["abc", "bcd", "efg", "hij", "ijk", "jkl"]);
    }
}
