//! The privacy loss of the worst answer, and of many of them.

use crate::divergence::{CertifiedProfile, EnclosedLoss, PrivacyLoss, compose_losses};
use crate::error::Result;
use crate::quantity::Delta;

/// The target width of the enclosure of ε.
const RELATIVE: f64 = 1e-3;
/// Number of positions of a range of losses that are distinguished.
const PLACES: u32 = 256;

/// A pair of distributions whose privacy profile is at least that of every answer. Answers may depend on earlier ones:
/// their pairs compose (Zhu, Dong and Wang 2022, Theorem 10).
#[derive(Debug, Clone, PartialEq)]
pub enum DominatingAnswer {
    /// Two normal distributions of variance 1, at this distance.
    Gaussian {
        /// The distance of their means.
        mu: f64,
    },
    /// Privacy losses of both directions.
    Losses([PrivacyLoss; 2]),
}

impl DominatingAnswer {
    /// For answers whose privacy losses lie between -`down` and `up`, forward, and between -`up` and `down`, reverse.
    /// `None` for an infinite range.
    ///
    /// A profile is the mean of a convex function of the ratio of probabilities, whose mean is 1: it is largest if the
    /// ratio takes only the ends of its range.
    pub(super) fn of_range(up: f64, down: f64) -> Option<Self> {
        let finite = up.is_finite() && down.is_finite();
        finite.then(|| Self::Losses([two_losses(up, down), two_losses(down, up)]))
    }

    /// For answers whose privacy losses lie within a range of this width at any position (a bounded range). `None` for
    /// an infinite width.
    ///
    /// The range starts at some -t: for t between two of the distinguished positions, it lies within the range from one
    /// to the other.
    pub(super) fn of_width(width: f64) -> Option<Self> {
        if !width.is_finite() {
            return None;
        }
        let step = width / f64::from(PLACES);
        let losses: Vec<PrivacyLoss> = (0..PLACES)
            .map(|place| two_losses(f64::from(place + 1) * step, f64::from(PLACES - place) * step))
            .collect();
        let loss = PrivacyLoss::dominating(&losses)?;
        Some(Self::Losses([loss.clone(), loss]))
    }

    /// The privacy profile of this many answers, even if contexts depend on answers; narrow at δ.
    ///
    /// ```
    /// # use leakbound::quantity::Delta;
    /// # use leakbound::token::DominatingAnswer;
    /// let (one, delta) = (DominatingAnswer::Gaussian { mu: 0.1 }, Delta::new(1e-5)?);
    /// let four = DominatingAnswer::Gaussian { mu: 0.2 };
    /// let epsilon = |answer: &DominatingAnswer, times| Ok::<_, leakbound::Error>(answer.composed(times, delta)?.epsilon(1e-5));
    /// assert!((epsilon(&one, 4)? - epsilon(&four, 1)?).abs() < 1e-9);
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) for no answers.
    pub fn composed(&self, answers: u64, delta: Delta) -> Result<CertifiedProfile> {
        match self {
            Self::Gaussian { mu } => CertifiedProfile::gaussian(mu * (answers as f64).sqrt()),
            Self::Losses(losses) => {
                let both = losses.clone().map(EnclosedLoss::known);
                Ok(CertifiedProfile::of_losses(vec![compose_losses(&[(&both, answers)], delta, RELATIVE)?]))
            }
        }
    }
}

/// The loss of two tokens whose probabilities have ratios e^`up` and e^-`down`.
fn two_losses(up: f64, down: f64) -> PrivacyLoss {
    let [_, p] = range_ends(up, down);
    PrivacyLoss::of_atoms(vec![(up, p[0]), (-down, p[1])])
}

/// Q and P on two tokens whose ratios are e^`up` and e^-`down`, with mean 1. Only decreasing exponentials appear, so no
/// range overflows: Q of the first is (1 - e^-down)/(e^up - e^-down).
pub(super) fn range_ends(up: f64, down: f64) -> [[f64; 2]; 2] {
    let [first, second, all] = [down, up, up + down].map(|width| -libm::expm1(-width));
    if all == 0.0 {
        return [[0.5; 2]; 2];
    }
    let (p, q) = (first / all, second / all);
    [[p * libm::exp(-up), q], [p, q * libm::exp(-down)]]
}
