//! Which sequences are parts of one document.

use crate::error::{Error, Result};
use std::collections::HashMap;

/// The document that each sequence is a part of. Sequences of one document are not independent of each other, so limits
/// must count documents.
///
/// ```
/// # use leakbound::membership::{Documents, document_scores};
/// let documents = Documents::new(["a", "b", "a"])?;
/// assert_eq!((documents.len(), documents.of(2), documents.name(1)), (2, 0, "b"));
/// assert_eq!(document_scores(&[Some(-1.0), Some(-5.0), Some(-3.0)], Some(&documents)), [-2.0, -5.0]);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Documents {
    of: Vec<u32>,
    names: Vec<String>,
}

impl Documents {
    /// The document of each sequence by its name; documents are numbered in order of first appearance.
    ///
    /// # Errors
    /// [`Error::Length`] for more than 2^32 documents.
    pub fn new(names: impl IntoIterator<Item = impl Into<String>>) -> Result<Self> {
        let mut known: HashMap<String, u32> = HashMap::new();
        let (mut of, mut all) = (Vec::new(), Vec::new());
        for name in names {
            let name = name.into();
            if let Some(&document) = known.get(&name) {
                of.push(document);
                continue;
            }
            let most = |_| Error::length("documents", all.len(), "at most 2^32");
            let document = u32::try_from(all.len()).map_err(most)?;
            of.push(document);
            all.push(name.clone());
            known.insert(name, document);
        }
        Ok(Self { of, names: all })
    }

    /// The number of documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The number of sequences.
    #[must_use]
    pub fn sequences(&self) -> usize {
        self.of.len()
    }

    /// The document of a sequence, counted from 0.
    #[must_use]
    pub fn of(&self, sequence: usize) -> usize {
        self.of[sequence] as usize
    }

    /// The name of a document.
    #[must_use]
    pub fn name(&self, document: usize) -> &str {
        &self.names[document]
    }

    /// All documents in the order of their names, which recordings of the same documents share: whole numbers first, by
    /// their size, then other names by their bytes.
    #[must_use]
    pub fn by_name(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_cached_key(|&document| {
            let name = self.name(document);
            // Such as 007 and 7 differ by their bytes.
            name.parse::<i128>().map_or((true, 0, name), |number| (false, number, name))
        });
        order
    }

    /// The first sequence that differs in membership from an earlier one of its document.
    #[must_use]
    pub fn divided(&self, members: &[bool]) -> Option<usize> {
        let mut first: Vec<Option<bool>> = vec![None; self.len()];
        let pairs = self.of.iter().zip(members);
        pairs
            .enumerate()
            .find(|&(_, (&document, &member))| *first[document as usize].get_or_insert(member) != member)
            .map(|(sequence, _)| sequence)
    }

    /// Which documents are members, if no document is divided.
    #[must_use]
    pub fn members(&self, members: &[bool]) -> Vec<bool> {
        let mut of_documents = vec![false; self.len()];
        self.of.iter().zip(members).for_each(|(&document, &member)| of_documents[document as usize] = member);
        of_documents
    }
}

/// The score of each document: the mean over its sequences that have one. If none has one, it is -inf: by convention
/// such a document ranks lowest, and is accused last. Without documents each sequence counts as one.
#[must_use]
pub fn document_scores(scores: &[Option<f64>], documents: Option<&Documents>) -> Vec<f64> {
    let Some(documents) = documents else {
        return scores.iter().map(|score| score.unwrap_or(f64::NEG_INFINITY)).collect();
    };
    let mut sums = vec![(0.0, 0u32); documents.len()];
    for (&document, &score) in documents.of.iter().zip(scores) {
        if let Some(score) = score {
            let (sum, count) = &mut sums[document as usize];
            *sum += score;
            *count += 1;
        }
    }
    sums.into_iter().map(|(sum, count)| if count > 0 { sum / f64::from(count) } else { f64::NEG_INFINITY }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_have_the_mean_of_what_is_known() {
        let documents = Documents::new(["x", "y", "x", "z", "y"]).unwrap();
        let scores = [Some(1.0), None, Some(2.0), None, Some(7.0)];
        assert_eq!(document_scores(&scores, Some(&documents)), [1.5, 7.0, f64::NEG_INFINITY]);
        assert_eq!(document_scores(&scores[..2], None), [1.0, f64::NEG_INFINITY]);
    }

    #[test]
    fn a_divided_document_is_found() {
        let documents = Documents::new(["x", "y", "x", "y"]).unwrap();
        assert_eq!(documents.divided(&[true, false, true, false]), None);
        assert_eq!(documents.divided(&[true, false, true, true]), Some(3));
        assert_eq!(documents.members(&[true, false, true, false]), [true, false]);
        assert!(Documents::new(Vec::<String>::new()).unwrap().is_empty());
    }

    #[test]
    fn the_order_of_names_is_not_that_of_sequences() {
        let names = ["b", "10", "9", "10", "-3", "a", "18446744073709551615", "09"];
        let documents = Documents::new(names).unwrap();
        let order: Vec<&str> = documents.by_name().into_iter().map(|document| documents.name(document)).collect();
        assert_eq!(order, ["-3", "09", "9", "10", "18446744073709551615", "a", "b"]);
    }
}
