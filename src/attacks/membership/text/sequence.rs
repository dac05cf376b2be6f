//! What is known about one sequence of tokens.

use super::part::TextPart;
use crate::error::{Error, Result};

/// The parts of one sequence, borrowed.
///
/// ```
/// # use leakbound::membership::{TextPart, TextSequence};
/// let sequence = TextSequence::new(&[-1.0, -3.0])?.with(TextPart::ReferenceLoss, &[2.5])?;
/// assert_eq!(sequence.get(TextPart::ReferenceLoss), Some(&[2.5][..]));
/// assert!(sequence.with(TextPart::Entropies, &[0.5]).is_err()); // One entropy for two tokens.
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct TextSequence<'a> {
    parts: [Option<&'a [f64]>; TextPart::ALL.len()],
}

impl<'a> TextSequence<'a> {
    /// A sequence with a known log-probability of each token.
    ///
    /// # Errors
    /// [`Error::Length`] without tokens, [`Error::Domain`] for a number that is not a log-probability.
    pub fn new(log_probabilities: &'a [f64]) -> Result<Self> {
        Self { parts: [None; TextPart::ALL.len()] }.with(TextPart::LogProbabilities, log_probabilities)
    }

    /// Adds one more part.
    ///
    /// # Errors
    /// [`Error::Length`] for a part of tokens without one number per token, for a single-number part with another
    /// count, and for an empty part; [`Error::Domain`] for a number that the part cannot have.
    pub fn with(mut self, part: TextPart, values: &'a [f64]) -> Result<Self> {
        let tokens = self.tokens();
        let expected = match values.len() {
            0 => Some("at least 1".to_owned()),
            found if part.is_one() && found != 1 => Some("1, of the sequence".to_owned()),
            found if part.is_of_tokens() && tokens > 0 && found != tokens => {
                Some(format!("{tokens}, one for each token"))
            }
            _ => None,
        };
        if let Some(expected) = expected {
            return Err(Error::length(part.name(), values.len(), expected));
        }
        Error::check_domain_of_all(values, |value| part.holds(value), part.name(), part.domain())?;
        self.parts[part as usize] = Some(values);
        Ok(self)
    }

    /// A part, if it is known.
    #[must_use]
    pub const fn get(&self, part: TextPart) -> Option<&'a [f64]> {
        self.parts[part as usize]
    }

    /// The number of tokens.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.get(TextPart::LogProbabilities).map_or(0, <[f64]>::len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_do_not_fit_are_rejected() {
        assert!(TextSequence::new(&[]).is_err() && TextSequence::new(&[0.5]).is_err());
        let sequence = TextSequence::new(&[-1.0, 0.0]).unwrap();
        assert_eq!((sequence.tokens(), sequence.get(TextPart::Means)), (2, None));
        assert!(sequence.with(TextPart::ZlibBytes, &[4.0, 5.0]).is_err());
        assert!(sequence.with(TextPart::NeighborLosses, &[]).is_err());
        assert!(sequence.with(TextPart::Deviations, &[1.0, f64::NAN]).is_err());
        assert_eq!(sequence.with(TextPart::CandidateLosses, &[1.0; 9]).unwrap().tokens(), 2);
    }
}
