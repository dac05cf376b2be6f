//! The quantities that may be recorded for texts.

use crate::named::named;

/// One kind of number that is recorded for every sequence. Logarithms are natural, and losses are mean negative
/// log-probabilities of a token, in nats, so that all of them may be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TextPart {
    /// ln p of each token, given those before it.
    LogProbabilities,
    /// Σ p ln p of the distribution that each token was predicted by: the mean of ln p under it, at most 0. Its
    /// negative is the entropy.
    Means,
    /// The standard deviation of ln p under the same distribution.
    Deviations,
    /// The entropy of the same distribution.
    Entropies,
    /// The loss of the sequence under a reference model; one number.
    ReferenceLoss,
    /// The size of the text in bytes after compression in zlib's format; one number. It depends slightly on the
    /// compressor.
    ZlibBytes,
    /// The losses of neighbors of the text under the model.
    NeighborLosses,
    /// The losses under the model of candidates that might replace a canary: with the same number of tokens as the
    /// text, and without the text itself.
    CandidateLosses,
}

named!(TextPart, "part of a recorded text", [
    LogProbabilities "log_probabilities", Means "log_probability_mean", Deviations "log_probability_deviation",
    Entropies "entropy", ReferenceLoss "reference_loss", ZlibBytes "zlib_bytes", NeighborLosses "neighbor_losses",
    CandidateLosses "candidate_losses",
]);

/// The largest number that is accepted: beyond it, differences and quotients might overflow.
const LARGEST: f64 = 1e30;
/// The smallest deviation and loss that may divide.
const SMALLEST: f64 = 1e-30;

impl TextPart {
    /// The part that is the negative of this one: entropies are negative means.
    #[must_use]
    pub const fn negative(self) -> Option<Self> {
        match self {
            Self::Means => Some(Self::Entropies),
            Self::Entropies => Some(Self::Means),
            Self::LogProbabilities
            | Self::Deviations
            | Self::ReferenceLoss
            | Self::ZlibBytes
            | Self::NeighborLosses
            | Self::CandidateLosses => None,
        }
    }

    /// Whether there is a number for each token.
    #[must_use]
    pub const fn is_of_tokens(self) -> bool {
        matches!(self, Self::LogProbabilities | Self::Means | Self::Deviations | Self::Entropies)
    }

    /// Whether there is one number for each sequence.
    #[must_use]
    pub const fn is_one(self) -> bool {
        matches!(self, Self::ReferenceLoss | Self::ZlibBytes)
    }

    /// Whether the part can have this value.
    #[must_use]
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::LogProbabilities | Self::Means => (-LARGEST..=0.0).contains(&value),
            Self::Deviations => (SMALLEST..=LARGEST).contains(&value),
            Self::Entropies | Self::ReferenceLoss | Self::NeighborLosses | Self::CandidateLosses => {
                (0.0..=LARGEST).contains(&value)
            }
            Self::ZlibBytes => (1.0..=LARGEST).contains(&value),
        }
    }

    /// The values that the part can have.
    #[must_use]
    pub const fn domain(self) -> &'static str {
        match self {
            Self::LogProbabilities | Self::Means => "[-1e30, 0]",
            Self::Deviations => "[1e-30, 1e30]",
            Self::Entropies | Self::ReferenceLoss | Self::NeighborLosses | Self::CandidateLosses => "[0, 1e30]",
            Self::ZlibBytes => "[1, 1e30]",
        }
    }

    /// The possible values in words.
    #[must_use]
    pub const fn expected(self) -> &'static str {
        match self {
            Self::LogProbabilities => "a log-probability, from -1e30 to 0",
            Self::Means => "a mean of log-probabilities, from -1e30 to 0",
            Self::Deviations => "a standard deviation, from 1e-30 to 1e30",
            Self::Entropies => "an entropy, from 0 to 1e30",
            Self::ReferenceLoss | Self::NeighborLosses | Self::CandidateLosses => "a loss, from 0 to 1e30",
            Self::ZlibBytes => "a number of bytes, at least 1",
        }
    }

    /// How to correct a value that the part cannot have.
    #[must_use]
    pub const fn hint(self) -> &'static str {
        match self {
            Self::LogProbabilities => {
                "record natural logarithms of probabilities, not losses; leave a first token out that has none"
            }
            Self::Means => "record the sum of p ln p over the vocabulary, which is minus the entropy",
            Self::Deviations => "clip the variance below, at 1e-6 for example, before the root is taken",
            Self::Entropies => "record minus the sum of p ln p over the vocabulary",
            Self::ReferenceLoss | Self::NeighborLosses | Self::CandidateLosses => {
                "record mean negative log-probabilities of a token"
            }
            Self::ZlibBytes => "record the length of the compressed text",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_would_make_nonsense_are_no_values() {
        for part in TextPart::ALL {
            for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e31, -1e31] {
                assert!(!part.holds(value), "{part:?} {value}");
            }
            assert!(!part.expected().is_empty() && !part.hint().is_empty());
        }
        assert!(TextPart::LogProbabilities.holds(0.0) && !TextPart::LogProbabilities.holds(f64::MIN_POSITIVE));
        assert!(TextPart::Entropies.holds(-0.0) && !TextPart::Deviations.holds(0.0));
        assert!(TextPart::ZlibBytes.holds(1.0) && !TextPart::ZlibBytes.holds(0.0));
    }
}
