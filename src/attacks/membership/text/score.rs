//! Scores of texts: how much a sequence looks like one that the model was trained on.

use super::formulas::{mean, mean_of_lowest, mean_of_surprising};
use super::part::TextPart;
use super::sequence::TextSequence;
use crate::audit::exposure;
use crate::error::{Error, Result};
use crate::named::named;
use serde::Serialize;

/// The number computed from the log-probabilities of the tokens of one sequence. **High means member** for all of them.
///
/// With l_t = ln p(token t | those before it) of n tokens, ℓ = -(Σ l_t)/n the loss, and μ_t, σ_t and H_t the mean of
/// ln p, its standard deviation and the entropy under the distribution that predicted token t, all in nats:
///
/// | name | score | needs besides l |
/// |---|---|---|
/// | `loss` | -ℓ | |
/// | `zlib` | -ℓ / bytes of the text after compression in zlib's format | `zlib_bytes` |
/// | `min-k` | mean of the lowest ⌊k n⌋ of l_t, at least one | |
/// | `min-k-plus-plus` | mean of the lowest ⌊k n⌋ of (l_t - μ_t)/σ_t, at least one | `log_probability_mean`, `log_probability_deviation` |
/// | `reference` | loss of the reference model - ℓ | `reference_loss` |
/// | `neighborhood` | mean loss of neighbors of the text - ℓ | `neighbor_losses` |
/// | `surprise` | mean of the l_t that are at most the ⌊k n⌋-th lowest where H_t < h | `entropy` |
/// | `exposure` | log₂ c - log₂ (1 + number of the c candidates with a loss below ℓ), in bits | `candidate_losses` |
///
/// `exposure` ranks by the mean loss of a token, which is the order of probabilities among texts with the same number
/// of tokens: candidates must have as many tokens as the text. The text must not be among them, since it is counted
/// anyway.
///
/// k and h are those of [`TextRule`]. Since H_t = -μ_t, either of the two arrays is enough. If no token is surprising,
/// `surprise` has no value.
///
/// ```
/// # use leakbound::membership::{TextPart, TextRule, TextScore, TextSequence};
/// let (rule, tokens) = (TextRule::default(), [-1.0, -3.0, -0.5, -1.5, -4.0]);
/// let sequence = TextSequence::new(&tokens)?.with(TextPart::ReferenceLoss, &[2.5])?;
/// assert_eq!(TextScore::Loss.of(&sequence, rule)?, Some(-2.0));
/// assert_eq!(TextScore::MinK.of(&sequence, rule)?, Some(-4.0)); // The lowest fifth of five.
/// assert_eq!(TextScore::Reference.of(&sequence, rule)?, Some(0.5));
/// assert!(TextScore::Zlib.of(&sequence, rule).is_err());
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Yeom, Giacomelli, Fredrikson and Jha (2018), "Privacy risk in machine learning" (`loss`); Carlini et al. (2021),
/// "Extracting training data from large language models", section 5.2 (`zlib`, and the ratio of the losses of two models);
/// Mireshghallah et al. (2022), "Quantifying privacy risks of masked language models using membership inference attacks"
/// (`reference`, the difference of two losses); Mattern et al. (2023), "Membership inference attacks against language models via neighborhood
/// comparison" (`neighborhood`); Shi et al. (2024), "Detecting pretraining data from large language models" (`min-k`);
/// Zhang et al. (2024), "Min-K%++: improved baseline for detecting pre-training data from large language models"
/// (`min-k-plus-plus`); Zhang and Wu (2024), "Adaptive pre-training data detection for large language models via
/// surprising tokens" (`surprise`); Carlini et al. (2019), "The secret sharer" (`exposure`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum TextScore {
    /// The mean log-probability of a token
    Loss,
    /// The mean log-probability over the size of the compressed text
    Zlib,
    /// The mean log-probability of the least likely tokens
    MinK,
    /// The same of log-probabilities that are standardized by the model's prediction
    MinKPlusPlus,
    /// How much the loss is below that of a reference model
    Reference,
    /// How much the loss is below that of neighbors of the text
    Neighborhood,
    /// The mean log-probability of tokens that surprise a model that was sure
    Surprise,
    /// The rank of the loss among those of candidates for a canary
    Exposure,
}

named!(TextScore, "score of a text", [
    Loss "loss", Zlib "zlib", MinK "min-k", MinKPlusPlus "min-k-plus-plus", Reference "reference",
    Neighborhood "neighborhood", Surprise "surprise", Exposure "exposure",
]);

/// The constants of scores that look at only some of the tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextRule {
    share: f64,
    entropy_limit: f64,
}

impl Default for TextRule {
    /// The lowest fifth of the tokens, and entropies below 2 nats.
    fn default() -> Self {
        Self { share: 0.2, entropy_limit: 2.0 }
    }
}

impl TextRule {
    /// The share k of the tokens in (0, 1], and the limit h of the entropy in nats, above 0.
    ///
    /// # Errors
    /// [`Error::Domain`] for any other number.
    pub fn new(share: f64, entropy_limit: f64) -> Result<Self> {
        Error::check_domain(share > 0.0 && share <= 1.0, "share of the tokens", share, "(0, 1]")?;
        Error::check_domain(entropy_limit > 0.0, "limit of the entropy", entropy_limit, "(0, inf]")?;
        Ok(Self { share, entropy_limit })
    }

    /// k.
    #[must_use]
    pub const fn share(self) -> f64 {
        self.share
    }

    /// h in nats.
    #[must_use]
    pub const fn entropy_limit(self) -> f64 {
        self.entropy_limit
    }
}

impl TextScore {
    /// What the score needs besides the log-probabilities.
    #[must_use]
    pub const fn needs(self) -> &'static [TextPart] {
        match self {
            Self::Loss | Self::MinK => &[],
            Self::Zlib => &[TextPart::ZlibBytes],
            Self::MinKPlusPlus => &[TextPart::Means, TextPart::Deviations],
            Self::Reference => &[TextPart::ReferenceLoss],
            Self::Neighborhood => &[TextPart::NeighborLosses],
            Self::Surprise => &[TextPart::Entropies],
            Self::Exposure => &[TextPart::CandidateLosses],
        }
    }

    /// The score of one sequence; none if it has no value.
    ///
    /// # Errors
    /// [`Error::Rejected`] if a required part is not known.
    pub fn of(self, sequence: &TextSequence<'_>, rule: TextRule) -> Result<Option<f64>> {
        let part = |part: TextPart| {
            sequence.get(part).ok_or_else(|| {
                let reason = format!("{} needs `{}`", self.name(), part.name());
                Error::rejected("score of a text", reason)
            })
        };
        let own = part(TextPart::LogProbabilities)?;
        let negative_loss = mean(own);
        Ok(Some(match self {
            Self::Loss => negative_loss,
            Self::Zlib => negative_loss / mean(part(TextPart::ZlibBytes)?),
            Self::MinK => mean_of_lowest(own.iter().copied(), rule.share),
            Self::MinKPlusPlus => {
                let predicted = part(TextPart::Means)?.iter().zip(part(TextPart::Deviations)?);
                let standardized = own.iter().zip(predicted).map(|(own, (mean, deviation))| (own - mean) / deviation);
                mean_of_lowest(standardized, rule.share)
            }
            Self::Reference => mean(part(TextPart::ReferenceLoss)?) + negative_loss,
            Self::Neighborhood => mean(part(TextPart::NeighborLosses)?) + negative_loss,
            Self::Surprise => {
                return Ok(mean_of_surprising(own, part(TextPart::Entropies)?, rule.share, rule.entropy_limit));
            }
            Self::Exposure => exposure(-negative_loss, part(TextPart::CandidateLosses)?)?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_have_limits() {
        assert_eq!(TextRule::new(0.2, 2.0).unwrap(), TextRule::default());
        for (share, limit) in [(0.0, 1.0), (1.1, 1.0), (f64::NAN, 1.0), (0.5, 0.0), (0.5, f64::NAN)] {
            assert!(TextRule::new(share, limit).is_err(), "{share} {limit}");
        }
        assert!(TextRule::new(1.0, f64::INFINITY).is_ok());
    }
}
