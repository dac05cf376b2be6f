//! The predictions of an ensemble at one position.

use crate::error::{Error, Result};
use crate::special::exp_in_loops;
use crate::vectorized::{Arch, in_vectors, largest_of};
use ndarray::{ArrayView1, CowArray, Ix2};
use std::ops::Range;
use std::sync::OnceLock;

/// Logarithms of probabilities below this, relative to the largest one, count as those of 0.
const SMALLEST: f64 = -708.0;
/// Number of values that are added up before their sums are, and of partial sums.
const CHUNK: usize = 512;
const LANES: usize = 8;

/// The size of an ensemble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnsembleSize {
    /// Its members, including the removed one.
    pub members: usize,
    /// Tokens of the vocabulary.
    pub tokens: usize,
}

/// The distributions of the next token at one position: of each member of an ensemble, and of a public model.
///
/// ```
/// # use leakbound::token::NextTokens;
/// # use ndarray::{array, aview1};
/// // Logits count up to a constant.
/// let members = array![[1.0, 0.0], [2.0, 2.0]];
/// let position = NextTokens::from_logits(members.view(), Some(aview1(&[5.0, 5.0])))?;
/// assert_eq!((position.members(), position.tokens()), (2, 2));
/// assert!((position.member(0)[0] - 1.0 / (1.0 + (-1.0f64).exp())).abs() < 1e-15);
/// assert_eq!(position.public().unwrap(), [0.5, 0.5]);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct NextTokens {
    tokens: usize,
    /// \[member, token\], then \[spare, token\]
    logits: Vec<f64>,
    /// \[member\], then \[spare\]: the largest logit.
    largest: Vec<f64>,
    /// \[member, token\], then \[spare, token\]: computed on demand, because not every mechanism needs them.
    probabilities: OnceLock<Vec<f64>>,
    /// How many of the last models are not members.
    spares: usize,
    public: Option<Vec<f64>>,
}

impl NextTokens {
    /// From logits \[member, token\] of the ensemble and \[token\] of the public model: probabilities are proportional
    /// to their exponentials. -∞ means that a token is never given, as does a logit 708 below the largest. Logarithms
    /// of probabilities are also logits.
    ///
    /// # Errors
    /// [`Error::Length`] for no member, fewer than two tokens, or a public model with a different number of tokens;
    /// [`Error::Domain`] for logits that are NaN or +∞, and for a model that gives no token.
    pub fn from_logits<'a>(
        members: impl Into<CowArray<'a, f64, Ix2>>,
        public: Option<ArrayView1<'_, f64>>,
    ) -> Result<Self> {
        let members = members.into();
        let (count, tokens) = members.dim();
        let expected = "at least one member and two tokens";
        Error::check_length(count > 0 && tokens >= 2, "next tokens", count.min(tokens), expected)?;
        if let Some(public) = public.filter(|public| public.len() != tokens) {
            let expected = format!("{tokens}, as the members have");
            return Err(Error::Length { quantity: "tokens of the public model", found: public.len(), expected });
        }
        let logits =
            if members.is_standard_layout() { members.into_owned() } else { members.as_standard_layout().into_owned() };
        let (mut logits, start) = logits.into_raw_vec_and_offset();
        // A view of a part of an array that it owns.
        logits.truncate(start.unwrap_or(0) + count * tokens);
        logits.drain(..start.unwrap_or(0));
        let largest = logits.chunks_exact(tokens).map(largest_logit).collect::<Result<_>>()?;
        let public = public
            .map(|public| {
                let mut probabilities = public.to_vec();
                softmax(&mut probabilities).map(|()| probabilities)
            })
            .transpose()?;
        Ok(Self { tokens, logits, largest, probabilities: OnceLock::new(), spares: 0, public })
    }

    /// The same position, with the last models set aside: they are not members, but may replace one.
    ///
    /// # Errors
    /// [`Error::Length`] unless a member is left.
    pub fn setting_aside(mut self, spares: usize) -> Result<Self> {
        let expected = format_args!("fewer than the {} models", self.models());
        Error::check_length(spares < self.models(), "models that stand in", spares, expected)?;
        self.spares = spares;
        Ok(self)
    }

    /// The ensemble after some of the models set aside have joined as its last members.
    ///
    /// # Panics
    /// If there are no such models.
    #[must_use]
    pub fn joined_by(&self, spares: Range<usize>) -> Self {
        assert!(spares.end <= self.spares, "spares {spares:?} of {}", self.spares);
        let members = self.members() * self.tokens;
        let joined = members + spares.start * self.tokens..members + spares.end * self.tokens;
        let of = |models: &[f64]| [&models[..members], &models[joined.clone()]].concat();
        let probabilities = self.probabilities.get().map_or_else(OnceLock::new, |all| OnceLock::from(of(all)));
        let count = self.members();
        let largest = [&self.largest[..count], &self.largest[count + spares.start..count + spares.end]].concat();
        let (logits, public) = (of(&self.logits), self.public.clone());
        Self { tokens: self.tokens, logits, largest, probabilities, spares: 0, public }
    }

    fn models(&self) -> usize {
        self.logits.len() / self.tokens
    }

    /// Number of members.
    #[must_use]
    pub fn members(&self) -> usize {
        self.models() - self.spares
    }

    /// Number of models set aside.
    #[must_use]
    pub const fn spares(&self) -> usize {
        self.spares
    }

    /// Number of tokens of the vocabulary.
    #[must_use]
    pub const fn tokens(&self) -> usize {
        self.tokens
    }

    /// The size of the ensemble.
    #[must_use]
    pub fn size(&self) -> EnsembleSize {
        EnsembleSize { members: self.members(), tokens: self.tokens }
    }

    /// Probabilities of a member.
    ///
    /// # Panics
    /// If there is no such member.
    #[must_use]
    pub fn member(&self, index: usize) -> &[f64] {
        let all = self.probabilities.get_or_init(|| {
            let mut probabilities = self.logits.clone();
            let models = probabilities.chunks_exact_mut(self.tokens).zip(&self.largest);
            models.for_each(|(logits, &largest)| exponentials(logits, largest));
            probabilities
        });
        &all[index * self.tokens..][..self.tokens]
    }

    /// Logits of a member, as given.
    ///
    /// # Panics
    /// If there is no such member.
    #[must_use]
    pub fn logits(&self, index: usize) -> &[f64] {
        &self.logits[index * self.tokens..][..self.tokens]
    }

    /// The largest logit of a member.
    ///
    /// # Panics
    /// If there is no such member.
    #[must_use]
    pub fn largest_logit(&self, index: usize) -> f64 {
        self.largest[index]
    }

    /// Probabilities of the public model.
    #[must_use]
    pub fn public(&self) -> Option<&[f64]> {
        self.public.as_deref()
    }
}

/// Positions are equal if their logits are.
impl PartialEq for NextTokens {
    fn eq(&self, other: &Self) -> bool {
        let of = |position: &Self| (position.tokens, position.spares);
        of(self) == of(other) && self.logits == other.logits && self.public == other.public
    }
}

/// Turns logits into the probabilities that are proportional to their exponentials.
pub(super) fn softmax(logits: &mut [f64]) -> Result<()> {
    let largest = largest_logit(logits)?;
    exponentials(logits, largest);
    Ok(())
}

/// The largest of the logits of a model, which must give some token.
fn largest_logit(logits: &[f64]) -> Result<f64> {
    let largest = largest_of(logits);
    if largest.is_finite() {
        return Ok(largest);
    }
    Error::check_domain_of_all(logits, |logit| logit < f64::INFINITY, "logit", "[-inf, inf)")?;
    let domain = "(-inf, inf): a model gives some token";
    Err(Error::Domain { quantity: "largest logit of a model", value: largest, domain })
}

/// Turns logits into probabilities, given the largest one.
fn exponentials(logits: &mut [f64], largest: f64) {
    let mut sum = 0.0;
    in_vectors!(Arch::new(), {
        for chunk in logits.chunks_mut(CHUNK) {
            // A separate loop uses wide instructions.
            chunk.iter_mut().for_each(|value| *value = weight(*value - largest));
            let mut sums = [0.0; LANES];
            let mut groups = chunk.chunks_exact(LANES);
            for group in &mut groups {
                for lane in 0..LANES {
                    sums[lane] += group[lane];
                }
            }
            sums.iter_mut().zip(groups.remainder()).for_each(|(sum, value)| *sum += *value);
            sum += sums.iter().sum::<f64>();
        }
        let factor = 1.0 / sum;
        logits.iter_mut().for_each(|value| *value *= factor);
    });
}

#[inline(always)]
fn weight(x: f64) -> f64 {
    let weight = exp_in_loops(x);
    if x < SMALLEST { 0.0 } else { weight }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};

    #[test]
    fn logits_that_are_no_distribution() {
        let of = |members: Array2<f64>, public: Option<&[f64]>| {
            NextTokens::from_logits(members.view(), public.map(ArrayView1::from)).unwrap_err().to_string()
        };
        let messages = [
            of(Array2::zeros((0, 3)), None),
            of(Array2::zeros((2, 1)), None),
            of(Array2::zeros((2, 3)), Some(&[0.0, 0.0])),
            of(array![[0.0, f64::NAN]], None),
            of(array![[0.0, f64::INFINITY]], None),
            of(array![[0.0, 1.0]], Some(&[f64::NEG_INFINITY; 2])),
        ];
        insta::assert_snapshot!(messages.join("\n"), @r"
        next tokens has length 0; expected at least one member and two tokens
        next tokens has length 1; expected at least one member and two tokens
        tokens of the public model has length 2; expected 3, as the members have
        logit = NaN is not in [-inf, inf)
        logit = inf is not in [-inf, inf)
        largest logit of a model = -inf is not in (-inf, inf): a model gives some token
        ");
    }
}
