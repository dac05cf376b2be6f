//! Composition in both directions, as differential privacy requires.

use super::{Bracket, ComposedDirection, EnclosedLoss};
use crate::bound::Direction;
use crate::error::Result;
use crate::quantity::{Delta, Epsilon};

/// The privacy profile of a sequence of independent outputs, in both directions: δ(ε) and ε(δ), each enclosed.
///
/// A neighbor has one record more or less, so the privacy parameter is the larger of the two directions.
#[derive(Debug, Clone)]
pub struct ComposedLoss([ComposedDirection; 2]);

/// Composes independent outputs: the losses of each in both directions, forward and reverse, and how often its query
/// was answered. [`ComposedDirection`] describes the width of the enclosure and why it holds.
///
/// # Errors
/// As [`ComposedDirection::of_enclosed`].
pub fn compose_losses(losses: &[(&[EnclosedLoss; 2], u64)], delta: Delta, relative: f64) -> Result<ComposedLoss> {
    let composed = |direction: Direction| {
        let losses: Vec<(&EnclosedLoss, u64)> =
            losses.iter().map(|(both, times)| (&both[direction as usize], *times)).collect();
        ComposedDirection::of_enclosed(&losses, delta, relative)
    };
    let [forward, reverse] = Direction::BOTH.map(composed);
    Ok(ComposedLoss([forward?, reverse?]))
}

impl ComposedLoss {
    /// ε at δ: the smallest ε ≥ 0 with δ(ε) ≤ δ in both directions.
    #[must_use]
    pub fn epsilon(&self, delta: Delta) -> Bracket {
        self.larger(|composed| composed.epsilon(delta))
    }

    /// δ at ε, the larger of both directions.
    #[must_use]
    pub fn delta(&self, epsilon: Epsilon) -> Bracket {
        self.larger(|composed| composed.delta(epsilon))
    }

    /// One direction alone, which is not enough for a privacy parameter.
    #[must_use]
    pub const fn in_direction(&self, direction: Direction) -> &ComposedDirection {
        &self.0[direction as usize]
    }

    fn larger(&self, of: impl Fn(&ComposedDirection) -> Bracket) -> Bracket {
        let [forward, reverse] = self.0.each_ref().map(of);
        Bracket { lower: forward.lower.max(reverse.lower), upper: forward.upper.max(reverse.upper) }
    }
}
