//! Sequences of tokens, in files or in memory.

use super::documents::Documents;
use super::part::TextPart;
use super::ragged::Ragged;
use crate::error::{Error, Result};
use std::ops::Range;

/// What was recorded for every sequence, and which of them the model was trained on.
///
/// Implemented by [`MemoryText`] and by files of `record`, which are read in pieces.
pub trait TextSequences: Sync {
    /// Whether the model was trained on each sequence.
    fn members(&self) -> &[bool];

    /// The document of each sequence; none if each is its own document.
    fn documents(&self) -> Option<&Documents>;

    /// The number of tokens of all sequences before this one.
    fn tokens_before(&self, sequence: usize) -> usize;

    /// Whether a part is recorded.
    fn has(&self, part: TextPart) -> bool;

    /// How many numbers a part has for one sequence; 0 if it is not recorded.
    fn length(&self, part: TextPart, sequence: usize) -> usize;

    /// A part of some of the sequences, a row for each: one number per token, a single number, or any number of them.
    ///
    /// # Errors
    /// What goes wrong in reading, and an error for a number that the part cannot have.
    fn read(&self, part: TextPart, sequences: Range<usize>) -> Result<Ragged>;
}

/// Sequences that are in memory.
///
/// ```
/// # use leakbound::membership::{MemoryText, Ragged, TextPart, TextSequences};
/// let mut tokens = Ragged::default();
/// tokens.push([-1.0, -2.0]);
/// tokens.push([-3.0]);
/// let text = MemoryText::new(tokens, vec![true, false])?
///     .with(TextPart::ReferenceLoss, Ragged::of_length(vec![2.0, 2.5], 1))?;
/// assert!(text.has(TextPart::ReferenceLoss) && text.tokens_before(1) == 2);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryText {
    parts: [Option<Ragged>; TextPart::ALL.len()],
    members: Vec<bool>,
    documents: Option<Documents>,
}

impl MemoryText {
    /// The log-probabilities of the tokens of each sequence, and whether the model was trained on it.
    ///
    /// # Errors
    /// [`Error::Length`] for a sequence without tokens and for lists of different lengths, [`Error::Domain`] for a
    /// number that is not a log-probability.
    pub fn new(log_probabilities: Ragged, members: Vec<bool>) -> Result<Self> {
        let rows = log_probabilities.rows();
        Error::check_size("members", members.len(), rows, ", one for each sequence")?;
        let none = Self { parts: [const { None }; TextPart::ALL.len()], members, documents: None };
        none.with(TextPart::LogProbabilities, log_probabilities)
    }

    /// Adds one more part. Means of log-probabilities also give the negative entropies, and vice versa, unless both are
    /// given.
    ///
    /// # Errors
    /// [`Error::Length`] for rows that do not fit the sequences or their tokens, [`Error::Domain`] for a number that
    /// the part cannot have.
    pub fn with(mut self, part: TextPart, rows: Ragged) -> Result<Self> {
        Error::check_size(part.name(), rows.rows(), self.members.len(), ", one row for each sequence")?;
        for sequence in 0..rows.rows() {
            let found = rows.row(sequence).len();
            let tokens = self.parts[TextPart::LogProbabilities as usize].as_ref();
            let wanted = tokens.filter(|_| part.is_of_tokens()).map(|tokens| tokens.row(sequence).len());
            let wanted = if part.is_one() { Some(1) } else { wanted };
            let expected = wanted.map_or("at least 1".into(), |wanted| format!("{wanted} in sequence {sequence}"));
            let fits = found > 0 && wanted.is_none_or(|wanted| found == wanted);
            Error::check_length(fits, part.name(), found, expected)?;
        }
        Error::check_domain_of_all(rows.values(), |value| part.holds(value), part.name(), part.domain())?;
        self.parts[part as usize] = Some(rows);
        Ok(self)
    }

    /// Adds the document of each sequence.
    ///
    /// # Errors
    /// [`Error::Length`] for another number of sequences, [`Error::Rejected`] for a document with members and
    /// non-members.
    pub fn in_documents(self, documents: Documents) -> Result<Self> {
        Error::check_size("documents", documents.sequences(), self.members.len(), ", one for each sequence")?;
        if let Some(sequence) = documents.divided(&self.members) {
            let name = documents.name(documents.of(sequence));
            let reason = format!("document {name} has members and non-members");
            return Err(Error::rejected("documents of sequences", reason));
        }
        Ok(Self { documents: Some(documents), ..self })
    }

    /// A part, or the one whose negative it is.
    fn part(&self, part: TextPart) -> Option<(&Ragged, f64)> {
        let own = self.parts[part as usize].as_ref();
        let other = part.negative().and_then(|other| self.parts[other as usize].as_ref());
        own.map(|rows| (rows, 1.0)).or_else(|| other.map(|rows| (rows, -1.0)))
    }
}

impl TextSequences for MemoryText {
    fn members(&self) -> &[bool] {
        &self.members
    }

    fn documents(&self) -> Option<&Documents> {
        self.documents.as_ref()
    }

    fn tokens_before(&self, sequence: usize) -> usize {
        self.part(TextPart::LogProbabilities).map_or(0, |(rows, _)| rows.start(sequence))
    }

    fn has(&self, part: TextPart) -> bool {
        self.part(part).is_some()
    }

    fn length(&self, part: TextPart, sequence: usize) -> usize {
        self.part(part).map_or(0, |(rows, _)| rows.row(sequence).len())
    }

    /// # Errors
    /// [`Error::Rejected`] for a part that is not there.
    fn read(&self, part: TextPart, sequences: Range<usize>) -> Result<Ragged> {
        let Some((rows, sign)) = self.part(part) else {
            return Err(Error::rejected("part of sequences", format_args!("there is no `{}`", part.name())));
        };
        let mut read = Ragged::default();
        sequences.for_each(|sequence| read.push(rows.row(sequence).iter().map(|value| sign * value)));
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens() -> Ragged {
        Ragged::new(vec![-1.0, -2.0, -3.0], vec![2, 3]).unwrap()
    }

    #[test]
    fn entropies_are_negative_means() {
        let text = MemoryText::new(tokens(), vec![true, false]).unwrap();
        assert!(!text.has(TextPart::Means) && text.read(TextPart::Means, 0..1).is_err());
        let entropies = Ragged::new(vec![0.5, 1.0, 2.0], vec![2, 3]).unwrap();
        let text = text.with(TextPart::Entropies, entropies.clone()).unwrap();
        assert_eq!(text.read(TextPart::Means, 1..2).unwrap().values(), [-2.0]);
        assert_eq!(text.read(TextPart::Entropies, 0..2).unwrap(), entropies);
    }

    #[test]
    fn what_does_not_fit_is_rejected() {
        assert!(MemoryText::new(tokens(), vec![true]).is_err());
        assert!(MemoryText::new(Ragged::new(vec![-1.0], vec![1, 1]).unwrap(), vec![true, false]).is_err());
        let text = MemoryText::new(tokens(), vec![true, false]).unwrap();
        let with = |part, rows| text.clone().with(part, rows);
        assert!(with(TextPart::Deviations, Ragged::new(vec![1.0; 3], vec![1, 3]).unwrap()).is_err());
        assert!(with(TextPart::Deviations, Ragged::new(vec![0.0; 3], vec![2, 3]).unwrap()).is_err());
        assert!(with(TextPart::ZlibBytes, Ragged::of_length(vec![9.0; 4], 2)).is_err());
        assert!(with(TextPart::NeighborLosses, Ragged::of_length(vec![9.0; 4], 2)).is_ok());
        assert!(text.clone().in_documents(Documents::new(["a", "a"]).unwrap()).is_err());
        assert!(text.clone().in_documents(Documents::new(["a"]).unwrap()).is_err());
        assert!(text.in_documents(Documents::new(["a", "b"]).unwrap()).is_ok());
    }
}
