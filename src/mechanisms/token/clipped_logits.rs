//! Sampling from the mean of clipped logits.

use super::position::softmax;
use super::{DominatingAnswer, EnsembleSize, NextTokens, Released, TokenMechanism, TokenMechanismKind, TokenNeighbors};
use crate::accountant::{Statement, Theorem, exponential_mechanism_rdp};
use crate::error::{Error, Result};
use crate::mechanism::draw::between;
use crate::mechanism::{Parameter, Parameters};
use crate::quantity::Epsilon;
use crate::vectorized::{Arch, in_vectors};
use std::sync::Arc;

/// Probabilities further apart would underflow to 0, and their divergences would be infinite.
const WIDEST: f64 = 700.0;

/// A token from the mean of clipped logits, by the exponential mechanism with a temperature τ.
///
/// The logits of a member are shifted so that the largest is the clip c, and those below -c are raised to -c. The
/// answer has probabilities proportional to exp(Σ z/(s τ)), with the sum over all members and a batch size s that is
/// fixed beforehand. A removed member takes away between -c and c from each sum, so ratios of probabilities change
/// within a range of ε = 2c/(sτ): D_α is at most that of the bounded range, and zero-concentrated privacy has ρ at most
/// ε²/8. A replaced member changes each sum by up to 2c, and the range is twice as wide. Positions at which
/// probabilities could be e^700 apart are rejected.
///
/// # References
/// Amin et al. (2024), "Private prediction for large-scale synthetic text generation"; Dong, Durfee and Rogers (2020).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClippedLogits {
    clip: f64,
    batch: f64,
    temperature: f64,
    /// s τ
    scale: f64,
}

/// A token from the mean of clipped logits: the clip of the logits, the batch size that their sum is divided by, and
/// the temperature, 1 if not given.
pub const CLIPPED_LOGITS: &TokenMechanismKind = &TokenMechanismKind {
    name: "clipped-logits",
    example: "clipped-logits:clip=4,batch=8",
    releases: "a token by the exponential mechanism on the sum of the members' clipped logits",
    theorems: &[&CONCENTRATED, &BOUNDED_RANGE],
    parameters: &[
        Parameter::number("clip", &[1.0, 10.0]),
        Parameter::number("batch", &[1.0, 10.0]),
        Parameter::number("temperature", &[1.0]).optional(),
    ],
    needs_public: false,
    models_of_owner: 1,
    read: |parameters| {
        let temperature = if parameters.has("temperature") { parameters.number("temperature")? } else { 1.0 };
        Ok(Arc::new(ClippedLogits::new(parameters.number("clip")?, parameters.number("batch")?, temperature)?))
    },
    draw: |stream| {
        let (clip, batch) = (between(stream, 1e-3, 20.0), between(stream, 0.5, 20.0));
        Some(Arc::new(ClippedLogits::new(clip, batch, between(stream, 0.2, 5.0)).ok()?))
    },
};

static BOUNDED_RANGE: Statement = Statement::for_any_data(
    "clipped-logits-bounded-range",
    "tokens by clipped logits; the smaller of both counts",
    "Dong, Durfee and Rogers (2020), the largest divergence of a bounded range",
);
static CONCENTRATED: Statement = Statement::for_any_data(
    "clipped-logits-zcdp",
    "tokens by clipped logits, as published",
    "Amin et al. (2024), zero-concentrated privacy of one token",
);

impl ClippedLogits {
    /// With a clip c, a batch size s, and a temperature τ.
    ///
    /// # Errors
    /// [`Error::Domain`] unless all are positive and finite.
    pub fn new(clip: f64, batch: f64, temperature: f64) -> Result<Self> {
        for (quantity, value) in [("clip of logits", clip), ("batch size", batch), ("temperature", temperature)] {
            Error::check_domain(value > 0.0 && value.is_finite(), quantity, value, "(0, inf)")?;
        }
        let scale = batch * temperature;
        Error::check_domain(scale > 0.0 && scale.is_finite(), "batch size times temperature", scale, "(0, inf)")?;
        Ok(Self { clip, batch, temperature, scale })
    }

    /// A shifted and clipped logit of a member.
    #[inline(always)]
    fn clipped(&self, logit: f64, shift: f64) -> f64 {
        let moved = logit + shift;
        if moved > -self.clip { moved } else { -self.clip }
    }
}

impl TokenMechanism for ClippedLogits {
    fn kind(&self) -> &'static TokenMechanismKind {
        CLIPPED_LOGITS
    }

    fn parameters(&self) -> Parameters {
        let all = Parameters::default().with("clip", self.clip).with("batch", self.batch);
        all.with("temperature", self.temperature)
    }

    fn released(&self, position: &NextTokens) -> Result<Released> {
        let tokens = position.tokens();
        let range = 2.0 * self.clip * position.members() as f64 / self.scale;
        let reason = format_args!(
            "clip {}, an ensemble of {} and batch size times temperature {} let ratios of probabilities reach e^{range:.0}; \
                 e^{WIDEST} is the largest that is computed",
            self.clip,
            position.members(),
            self.scale
        );
        Error::check_possible(!(range > WIDEST), "mean of clipped logits", reason)?;
        // The shift that moves the largest logit of a member to the clip.
        let shift = |member| self.clip - position.largest_logit(member);
        let shifts: Vec<f64> = (0..position.members()).map(shift).collect();
        let (mut whole, factor) = (vec![0.0; tokens], 1.0 / self.scale);
        let mut without = Vec::with_capacity(position.members() * tokens);
        in_vectors!(Arch::new(), {
            for (member, &shift) in shifts.iter().enumerate() {
                for (sum, &logit) in whole.iter_mut().zip(position.logits(member)) {
                    *sum += self.clipped(logit, shift);
                }
            }
            for (member, &shift) in shifts.iter().enumerate() {
                let sums = whole.iter().zip(position.logits(member));
                without.extend(sums.map(|(sum, &logit)| (sum - self.clipped(logit, shift)) * factor));
            }
            whole.iter_mut().for_each(|sum| *sum *= factor);
        });
        without.chunks_exact_mut(tokens).try_for_each(softmax)?;
        softmax(&mut whole)?;
        Ok(Released::new(whole, without))
    }

    fn theorems(&self, _: EnsembleSize, neighbors: TokenNeighbors) -> Vec<Theorem> {
        let width = self.width(neighbors);
        let mut theorems = vec![Theorem::alike(&CONCENTRATED, move |order| order.get() * width * width / 8.0)];
        if let Ok(epsilon) = Epsilon::new(width) {
            theorems.push(Theorem::alike(&BOUNDED_RANGE, move |order| exponential_mechanism_rdp(order, epsilon)));
        }
        theorems
    }

    fn dominating(&self, _: EnsembleSize, neighbors: TokenNeighbors) -> Option<DominatingAnswer> {
        DominatingAnswer::of_width(self.width(neighbors))
    }
}

impl ClippedLogits {
    /// The width ε of the range of log ratios.
    fn width(&self, neighbors: TokenNeighbors) -> f64 {
        let removed = 2.0 * self.clip / self.scale;
        match neighbors {
            TokenNeighbors::Removed => removed,
            TokenNeighbors::Replaced => 2.0 * removed,
        }
    }
}
