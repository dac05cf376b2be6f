//! Sampling from the mean of members, interpolated with the uniform distribution.

use super::dominating::range_ends;
use super::{DominatingAnswer, EnsembleSize, NextTokens, Released, TokenMechanism, TokenMechanismKind, TokenNeighbors};
use crate::accountant::{Statement, Theorem};
use crate::divergence::two_ratios_renyi;
use crate::error::Result;
use crate::mechanism::draw::rate;
use crate::mechanism::{Parameter, Parameters};
use crate::quantity::Probability;
use std::sync::Arc;

/// A token from the mean of the members' distributions, interpolated with the uniform one.
///
/// N members with distributions pᵢ over V tokens answer with the distribution
/// ```text
/// λ/N Σᵢ pᵢ + (1-λ)/V
/// ```
/// for a share λ. With u = (1-λ)/V, the ratio of the probabilities of a token with all members and without one lies
/// between e^{-b} and e^{a},
/// ```text
/// a = ln(1 + λ/(N u)),   b = ln((λ + u)/(λ (N-1)/N + u)),
/// ```
/// reached for N > 1 if only the removed member gives the token, or if it alone does not. A single member is compared
/// with the uniform distribution: a = ln(1 + λ(V-1)), b = -ln(1-λ). If a member is replaced, b is a: one model alone
/// gives the token, and the other alone does not. An answer is (max(a, b), 0)-private. D_α of any two distributions
/// with ratios in a range is at most that of the two distributions on two tokens whose ratios are the ends of the
/// range, because exp((α-1) D_α) is the mean of a convex function of the ratio.
///
/// ```
/// # use leakbound::token::{InterpolatedTokens, NextTokens, TokenMechanism};
/// # use leakbound::quantity::Probability;
/// # use ndarray::array;
/// let position = NextTokens::from_logits(array![[0.0, 0.0], [0.0, f64::NEG_INFINITY]].view(), None)?;
/// let released = InterpolatedTokens::new(Probability::new(0.5)?).released(&position)?;
/// assert_eq!(released.whole(), [0.625, 0.375]);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// After Majmudar et al. (2022), "Differentially private decoding in large language models", who interpolate a single
/// model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InterpolatedTokens {
    share: Probability,
}

/// A token from the mean of the members interpolated with the uniform distribution: the share of the members.
pub const INTERPOLATED_TOKENS: &TokenMechanismKind = &TokenMechanismKind {
    name: "interpolated-tokens",
    example: "interpolated-tokens:share=0.5",
    releases: "a token from the mean of the members, interpolated with the uniform distribution",
    theorems: &[&RANGE],
    parameters: &[Parameter::number("share", &[0.5, 0.9, 1.0])],
    needs_public: false,
    models_of_owner: 1,
    read: |parameters| Ok(Arc::new(InterpolatedTokens::new(parameters.probability("share")?))),
    draw: |stream| Some(Arc::new(InterpolatedTokens::new(rate(stream)?))),
};

static RANGE: Statement = Statement::for_any_data(
    "interpolated-tokens",
    "tokens interpolated with the uniform distribution",
    "this library, the largest divergence of a range of ratios (after Majmudar et al. 2022)",
);

impl InterpolatedTokens {
    /// With a share λ of the members.
    #[must_use]
    pub const fn new(share: Probability) -> Self {
        Self { share }
    }
}

impl TokenMechanism for InterpolatedTokens {
    fn kind(&self) -> &'static TokenMechanismKind {
        INTERPOLATED_TOKENS
    }

    fn parameters(&self) -> Parameters {
        Parameters::default().with("share", self.share.get())
    }

    fn released(&self, position: &NextTokens) -> Result<Released> {
        let uniform = (1.0 - self.share.get()) / position.tokens() as f64;
        let mut released = Released::means(position.members(), position.tokens(), |member| position.member(member));
        released.change(|mean, members| {
            // No member is left.
            let (share, rest) = if members == 0 { (0.0, 1.0 / mean.len() as f64) } else { (self.share.get(), uniform) };
            mean.iter_mut().for_each(|mean| *mean = share * *mean + rest);
        });
        Ok(released)
    }

    fn theorems(&self, size: EnsembleSize, neighbors: TokenNeighbors) -> Vec<Theorem> {
        let (up, down) = self.range(size, neighbors);
        vec![Theorem::new(&RANGE, move |order, direction| {
            let [up, down] = direction.ordered([up, down]);
            if up == 0.0 {
                return 0.0;
            }
            if !(up.is_finite() && down.is_finite()) {
                return f64::INFINITY;
            }
            let [q, _] = range_ends(up, down);
            two_ratios_renyi(q, [up, -down], order) * (1.0 + 1e-10)
        })]
    }

    fn dominating(&self, size: EnsembleSize, neighbors: TokenNeighbors) -> Option<DominatingAnswer> {
        let (up, down) = self.range(size, neighbors);
        DominatingAnswer::of_range(up, down)
    }
}

impl InterpolatedTokens {
    /// a and b: losses lie between -b and a.
    fn range(&self, size: EnsembleSize, neighbors: TokenNeighbors) -> (f64, f64) {
        let (share, members) = (self.share.get(), size.members as f64);
        if share == 0.0 {
            return (0.0, 0.0);
        }
        let uniform = (1.0 - share) / size.tokens as f64;
        let up = (share / (members * uniform)).ln_1p();
        match neighbors {
            TokenNeighbors::Replaced => (up, up),
            // (λ + u)/(λ (N-1)/N + u) = 1 + (λ/N)/(λ (N-1)/N + u)
            TokenNeighbors::Removed if size.members > 1 => {
                (up, (share / members / (share * (members - 1.0) / members + uniform)).ln_1p())
            }
            // One member against the uniform distribution.
            TokenNeighbors::Removed => ((share * (size.tokens as f64 - 1.0)).ln_1p(), -(-share).ln_1p()),
        }
    }
}
