//! How logits are processed before a mechanism sees them.

use super::NextTokens;
use crate::error::{Error, Result};
use ndarray::{ArrayView1, Axis, CowArray, Ix2};

/// A temperature, and the tokens that may be given.
///
/// Logits are divided by the temperature. With a number K of tokens, the vocabulary of a position consists of the K
/// likeliest tokens of its public model, the first ones in a tie: the choice must not depend on a member.
///
/// ```
/// # use leakbound::token::Decoding;
/// # use ndarray::{array, aview1};
/// let members = array![[3.0, 0.0, 1.0], [1.0, 1.0, 1.0]];
/// let decoding = Decoding::new(0.5, Some(2))?;
/// let decoded = decoding.position(members.view(), Some(aview1(&[0.0, 2.0, 1.0])))?;
/// assert_eq!(decoded.kept, Some(vec![1, 2]));
/// assert!((decoded.position.member(0)[0] - 1.0 / (1.0 + 2f64.exp())).abs() < 1e-15);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decoding {
    temperature: f64,
    kept: Option<usize>,
}

/// A position after its decoding.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// The position, restricted to the tokens that are kept.
    pub position: NextTokens,
    /// Which tokens these are, in increasing order; `None` for all.
    pub kept: Option<Vec<usize>>,
}

impl Decoded {
    /// The index of a token among those that are kept.
    #[must_use]
    pub fn place_of(&self, token: usize) -> Option<usize> {
        match &self.kept {
            None => (token < self.position.tokens()).then_some(token),
            Some(kept) => kept.binary_search(&token).ok(),
        }
    }
}

impl Decoding {
    /// Unchanged logits of all tokens.
    pub const PLAIN: Self = Self { temperature: 1.0, kept: None };

    /// With a temperature, and a number of tokens that may be given.
    ///
    /// # Errors
    /// [`Error::Domain`] unless the temperature is positive and finite, [`Error::Length`] for fewer than two tokens.
    pub fn new(temperature: f64, kept: Option<usize>) -> Result<Self> {
        Error::check_domain(temperature > 0.0 && temperature.is_finite(), "temperature", temperature, "(0, inf)")?;
        if let Some(found) = kept.filter(|&kept| kept < 2) {
            return Err(Error::Length { quantity: "tokens that may be given", found, expected: "at least 2".into() });
        }
        Ok(Self { temperature, kept })
    }

    /// How many tokens may be given, out of this many.
    #[must_use]
    pub fn kept(&self, tokens: usize) -> usize {
        self.kept.map_or(tokens, |kept| kept.min(tokens))
    }

    /// The tokens of a position that may be given.
    ///
    /// # Errors
    /// Those of [`NextTokens::from_logits`]; [`Error::Rejected`] if tokens are to be chosen without a public model.
    pub fn position<'a>(
        &self,
        members: impl Into<CowArray<'a, f64, Ix2>>,
        public: Option<ArrayView1<'_, f64>>,
    ) -> Result<Decoded> {
        let members = members.into();
        let Some(kept) = self.kept.filter(|&kept| kept < members.ncols()) else {
            return Ok(Decoded { position: self.tempered(members, public)?, kept: None });
        };
        let Some(public) = public else {
            let reason = "tokens are chosen by the public model, and the position has none".into();
            return Err(Error::Rejected { operation: "likeliest tokens", reason });
        };
        let likelier = |a: &usize, b: &usize| public[*b].total_cmp(&public[*a]).then(a.cmp(b));
        let mut tokens: Vec<usize> = (0..public.len()).collect();
        tokens.select_nth_unstable_by(kept - 1, likelier);
        tokens.truncate(kept);
        tokens.sort_unstable();
        let (members, public) = (members.select(Axis(1), &tokens), public.select(Axis(0), &tokens));
        Ok(Decoded { position: self.tempered(members.into(), Some(public.view()))?, kept: Some(tokens) })
    }

    fn tempered(&self, members: CowArray<'_, f64, Ix2>, public: Option<ArrayView1<'_, f64>>) -> Result<NextTokens> {
        if self.temperature == 1.0 {
            return NextTokens::from_logits(members, public);
        }
        let factor = 1.0 / self.temperature;
        let public = public.map(|public| public.mapv(|logit| logit * factor));
        NextTokens::from_logits(
            members.into_owned().mapv_into(|logit| logit * factor),
            public.as_ref().map(|one| one.view()),
        )
    }
}
