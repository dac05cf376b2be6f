//! The largest privacy loss: guarantees without a δ.

use crate::bound::AtMost;
use crate::bound::outward::{product_up, quotient_up, up};
use crate::quantity::{NoiseScale, Probability};

/// The largest privacy loss of one output, over all data and their neighbors: ε at δ = 0. For outputs released
/// together, even adaptively, the losses add up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LargestLoss {
    /// At most this: the mechanism is ε-differentially private.
    AtMost(AtMost),
    /// Losses are unbounded for any scale of the noise: no ε holds without a δ.
    Unbounded,
    /// Not determined.
    Unknown,
}

impl LargestLoss {
    /// No privacy loss.
    pub(super) const NONE: Self = Self::AtMost(AtMost::new(0.0));

    /// `distance`/`scale`, for noise whose density falls by at most that share where the data change.
    pub(super) fn over(distance: f64, scale: NoiseScale) -> Self {
        Self::AtMost(AtMost::new(quotient_up(distance, scale.get())))
    }

    /// From a number, which gives no guarantee if it is infinite.
    pub(super) fn of(loss: f64) -> Self {
        if loss < f64::INFINITY { Self::AtMost(AtMost::new(loss)) } else { Self::Unbounded }
    }

    /// For a subsample that contains each record with probability γ (Poisson or of fixed size): ln(1 + γ(e^ε - 1)).
    ///
    /// # References
    /// Balle, Barthe and Gaboardi (2018), "Privacy amplification by subsampling", Theorems 8 and 9.
    pub(super) fn of_subsample(self, rate: Probability) -> Self {
        let rate = rate.get();
        match self {
            _ if rate == 0.0 => Self::NONE,
            Self::AtMost(loss) => {
                let e = loss.get();
                // For large ε, without e^ε.
                let mixed = if e < 30.0 {
                    (rate * libm::expm1(e)).ln_1p()
                } else {
                    e + (rate + (1.0 - rate) * libm::exp(-e)).ln()
                };
                Self::AtMost(AtMost::new(up(mixed, 16.0).min(e)))
            }
            other => other,
        }
    }

    /// The loss of this many outputs together, or of data this many changes apart; infinite if unknown.
    #[must_use]
    pub fn times(self, times: f64) -> AtMost {
        match self {
            Self::AtMost(loss) => AtMost::new(product_up(loss.get(), times)),
            Self::Unbounded | Self::Unknown => AtMost::NOTHING,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsamples_lose_less() {
        let rate = |rate: f64| Probability::new(rate).unwrap();
        let of = |loss: f64, share: f64| LargestLoss::of(loss).of_subsample(rate(share)).times(1.0).get();
        assert!((of(1.0, 0.1) - (0.1 * 1f64.exp() + 0.9).ln()).abs() < 1e-15);
        assert!((of(1000.0, 0.1) - (1000.0 + 0.1f64.ln())).abs() < 1e-11 && of(5.0, 1.0) == 5.0);
        assert_eq!([of(3.0, 0.0), of(0.0, 0.3), LargestLoss::Unbounded.times(1.0).get()], [0.0, 0.0, f64::INFINITY]);
        assert_eq!(LargestLoss::Unbounded.of_subsample(rate(0.0)), LargestLoss::NONE);
        assert_eq!(LargestLoss::of(f64::INFINITY), LargestLoss::Unbounded);
    }
}
