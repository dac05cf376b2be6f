//! The token that most members would give, after noise on every count.

use super::{DominatingAnswer, EnsembleSize, NextTokens, Released, TokenMechanism, TokenMechanismKind, TokenNeighbors};
use crate::accountant::{Statement, Theorem, gaussian_rdp};
use crate::distribution::{Noise, noisy_argmax_distribution};
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::mechanism::draw::scale;
use crate::mechanism::{Parameter, Parameters};
use crate::quantity::NoiseScale;
use std::sync::Arc;

/// The token with the most votes, each count with Gaussian noise.
///
/// Each member votes for its likeliest token, the first one in a tie. Noise of standard deviation σ is added to the
/// count of every token of the vocabulary, and the answer is the token with the largest sum. A removed member takes
/// away one vote, so D_α is at most α/(2σ²); a replaced member moves one, and D_α is at most α/σ². Positions at which a
/// token has a probability below 1e-300 are rejected: counts about 52 standard deviations apart.
///
/// # References
/// Papernot et al. (2018), "Scalable private learning with PATE", for the vote; Mironov (2017), Proposition 7.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VotedTokens {
    sigma: NoiseScale,
}

/// The token with the most votes: the standard deviation of the noise on each count.
pub const VOTED_TOKENS: &TokenMechanismKind = &TokenMechanismKind {
    name: "voted-tokens",
    example: "voted-tokens:sigma=4",
    releases: "the token of the most votes, each count with Gaussian noise",
    theorems: &[&GAUSSIAN],
    parameters: &[Parameter::noise("sigma")],
    needs_public: false,
    models_of_owner: 1,
    read: |parameters| Ok(Arc::new(VotedTokens::new(parameters.scale("sigma")?))),
    draw: |stream| Some(Arc::new(VotedTokens::new(scale(stream)?))),
};

/// Smaller probabilities lose digits and then underflow; at high orders they would still matter.
const SMALLEST: f64 = 1e-300;

static GAUSSIAN: Statement = Statement::for_any_data(
    "voted-tokens",
    "tokens by a noisy vote",
    "Mironov (2017), Proposition 7, for a vote that is removed or moved",
);

impl VotedTokens {
    /// With noise of this standard deviation.
    #[must_use]
    pub const fn new(sigma: NoiseScale) -> Self {
        Self { sigma }
    }
}

impl TokenMechanism for VotedTokens {
    fn kind(&self) -> &'static TokenMechanismKind {
        VOTED_TOKENS
    }

    fn parameters(&self) -> Parameters {
        Parameters::default().with("sigma", self.sigma.get())
    }

    fn released(&self, position: &NextTokens) -> Result<Released> {
        let mut counts = vec![0u64; position.tokens()];
        let votes: Vec<usize> = (0..position.members()).map(|member| likeliest(position.member(member))).collect();
        votes.iter().for_each(|&token| counts[token] += 1);
        let of = |counts: &[u64]| -> Result<Vec<f64>> {
            if counts.iter().all(|&count| count == 0) {
                return Ok(vec![1.0 / counts.len() as f64; counts.len()]);
            }
            let votes = VoteHistogram::new(counts.to_vec())?;
            let found = noisy_argmax_distribution(&votes, Noise::Gaussian(self.sigma))?;
            if found.p().iter().any(|probability| *probability < SMALLEST) {
                let reason = format!(
                    "votes so far apart in units of the noise {} that a token has a probability below {SMALLEST:e}, which \
                     is not computed; more noise hides more",
                    self.sigma.get()
                );
                return Err(Error::Rejected { operation: "vote of tokens", reason });
            }
            Ok(found.p().to_vec())
        };
        let whole = of(&counts)?;
        let mut without: Vec<f64> = Vec::with_capacity(whole.len() * votes.len());
        for (member, &token) in votes.iter().enumerate() {
            // Members with the same vote are removed alike.
            if let Some(like) = votes[..member].iter().position(|&other| other == token) {
                without.extend_from_within(like * whole.len()..(like + 1) * whole.len());
                continue;
            }
            counts[token] -= 1;
            without.extend(of(&counts)?);
            counts[token] += 1;
        }
        Ok(Released::new(whole, without))
    }

    fn theorems(&self, _: EnsembleSize, neighbors: TokenNeighbors) -> Vec<Theorem> {
        let sigma = self.sigma;
        vec![Theorem::alike(&GAUSSIAN, move |order| gaussian_rdp(order, sigma, moved(neighbors)))]
    }

    fn dominating(&self, _: EnsembleSize, neighbors: TokenNeighbors) -> Option<DominatingAnswer> {
        Some(DominatingAnswer::Gaussian { mu: moved(neighbors) / self.sigma.get() })
    }
}

/// How far the counts of neighbors are apart: a vote is taken away, or moved.
fn moved(neighbors: TokenNeighbors) -> f64 {
    match neighbors {
        TokenNeighbors::Removed => 1.0,
        TokenNeighbors::Replaced => std::f64::consts::SQRT_2,
    }
}

/// The first token with the largest probability.
fn likeliest(probabilities: &[f64]) -> usize {
    let mut best = 0;
    for (token, probability) in probabilities.iter().enumerate() {
        if *probability > probabilities[best] {
            best = token;
        }
    }
    best
}
