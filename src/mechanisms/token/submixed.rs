//! Sampling from an ensemble of pairs of models, mixed with a public one as far as the halves agree (SubMix).

use super::divergences::renyi;
use super::mixed::mix_into;
use super::share::largest_share;
use super::{EnsembleSize, NextTokens, Released, TokenMechanism, TokenMechanismKind, TokenNeighbors};
use crate::accountant::Theorem;
use crate::error::{Error, Result};
use crate::mechanism::draw::{between, pick};
use crate::mechanism::{Parameter, Parameters};
use crate::quantity::Order;
use std::sync::Arc;

/// A token from the mean of pairs of models, mixed with a public model as far as the models of each pair agree: SubMix.
///
/// Models 2i and 2i + 1 of the ensemble, pᵢ and pᵢ', were trained on the two halves of the records of owner i. With the
/// public model p₀, λᵢ is the largest share in \[0, 1\] at which both divergences D_α between λ pᵢ + (1-λ) p₀ and
/// λ pᵢ' + (1-λ) p₀ are at most the discordance. With λ* the mean of the λᵢ of k owners, the answer is drawn from
/// ```text
/// λ*/k Σᵢ (pᵢ + pᵢ')/2 + (1-λ*) p₀,
/// ```
/// and without owner i by the same formula for the others; from p₀ if nobody is left.
///
/// # Guarantee
/// Nothing that holds for all data: two owners whose halves agree have shares of 1 each, whatever the other predicts,
/// and D_α is infinite if one gives a token that the other never gives. The authors charge the exact divergences of the
/// answers that were given, until a budget is spent; an audit computes them.
///
/// ```
/// # use leakbound::quantity::Order;
/// # use leakbound::token::{NextTokens, SubmixedTokens, TokenMechanism};
/// # use ndarray::{array, aview1};
/// // Halves that agree are not mixed with the public model; those that never do are not taken at all.
/// let members = array![[0.0, 0.0], [0.0, 0.0], [0.0, f64::NEG_INFINITY], [f64::NEG_INFINITY, 0.0]];
/// let position = NextTokens::from_logits(members.view(), Some(aview1(&[0.0, 1.0])))?;
/// let mechanism = SubmixedTokens::new(Order::new(2.0)?, 0.0)?;
/// assert_eq!(mechanism.shares(&position)?, [1.0, 0.0]);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Ginart, van der Maaten, Zou and Guo (2022), "SubMix: practical private prediction for large-scale language models".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SubmixedTokens {
    order: Order,
    discordance: f64,
}

/// A token from pairs of models, mixed with a public model: the order, and the discordance that the models of a pair may
/// have, in nats.
pub const SUBMIXED_TOKENS: &TokenMechanismKind = &TokenMechanismKind {
    name: "submixed-tokens",
    example: "submixed-tokens:order=2,discordance=0.1",
    releases: "a token from the mean of pairs of models, mixed with a public model (SubMix)",
    theorems: &[],
    parameters: &[Parameter::number("order", &[2.0, 3.0]), Parameter::number("discordance", &[0.01, 0.1])],
    needs_public: true,
    models_of_owner: 2,
    read: |parameters| {
        let order = parameters.in_domain("order", Order::new)?;
        Ok(Arc::new(SubmixedTokens::new(order, parameters.number("discordance")?)?))
    },
    draw: |stream| {
        let order = Order::new(*pick(stream, &[1.5, 2.0, 3.0, 6.0])).ok()?;
        Some(Arc::new(SubmixedTokens::new(order, between(stream, 1e-4, 1.0)).ok()?))
    },
};

const OPERATION: &str = "pairs of models mixed with a public model";

impl SubmixedTokens {
    /// Pairs whose mixtures are at most this far apart at an order, in nats.
    ///
    /// # Errors
    /// [`Error::Domain`] unless the discordance is ≥ 0.
    pub fn new(order: Order, discordance: f64) -> Result<Self> {
        Error::check_domain(discordance >= 0.0, "discordance of a pair of models", discordance, "[0, inf]")?;
        Ok(Self { order, discordance })
    }

    /// λᵢ of each owner.
    ///
    /// # Errors
    /// [`Error::Rejected`] for a position without a public model, and for an odd number of models.
    pub fn shares(&self, position: &NextTokens) -> Result<Vec<f64>> {
        let public = position.public().ok_or_else(|| Error::rejected(OPERATION, "the position has no public model"))?;
        let reason = format_args!("{} models, which cannot be paired", position.members());
        Error::check_possible(position.members().is_multiple_of(2), OPERATION, reason)?;
        let pairs = (0..position.members()).step_by(2);
        pairs.map(|first| self.share([position.member(first), position.member(first + 1)], public)).collect()
    }

    fn share(&self, [p, q]: [&[f64]; 2], public: &[f64]) -> Result<f64> {
        let mut mixtures = [vec![0.0; public.len()], vec![0.0; public.len()]];
        let distance = |share: f64| {
            let [first, second] = &mut mixtures;
            mix_into(first, p, public, share);
            mix_into(second, q, public, share);
            renyi(first, second, self.order).max(renyi(second, first, self.order))
        };
        // A token that only one half gives, and the public model never does: no mixtures are close to each other.
        let alone = |((&p, &q), &public): ((&f64, &f64), &f64)| public == 0.0 && (p == 0.0) != (q == 0.0);
        if p.iter().zip(q).zip(public).any(alone) {
            return Ok(if self.discordance == f64::INFINITY { 1.0 } else { 0.0 });
        }
        let terms = p.iter().zip(q).zip(public).filter(|(_, public)| **public > 0.0);
        let square: f64 = terms.map(|((p, q), public)| (p - q) * (p - q) / public).sum();
        largest_share(self.discordance, 0.5 * self.order.get() * square, distance)
    }
}

impl TokenMechanism for SubmixedTokens {
    fn kind(&self) -> &'static TokenMechanismKind {
        SUBMIXED_TOKENS
    }

    fn parameters(&self) -> Parameters {
        Parameters::default().with("order", self.order.get()).with("discordance", self.discordance)
    }

    fn released(&self, position: &NextTokens) -> Result<Released> {
        let shares = self.shares(position)?;
        let public = position.public().unwrap_or_default();
        let (owners, tokens) = (shares.len(), position.tokens());
        let mut halves = Vec::with_capacity(owners * tokens);
        for owner in 0..owners {
            let pair = position.member(2 * owner).iter().zip(position.member(2 * owner + 1));
            halves.extend(pair.map(|(p, q)| 0.5 * (p + q)));
        }
        let mut released = Released::means(owners, tokens, |owner| &halves[owner * tokens..][..tokens]);
        // The sum of the others: subtracting a share from a sum would leave its rounding error.
        let mean = |without: Option<usize>| {
            let others = shares.iter().enumerate().filter(|(owner, _)| Some(*owner) != without);
            let (count, sum) = others.fold((0u32, 0.0), |(count, sum), (_, share)| (count + 1, sum + share));
            if count == 0 { 0.0 } else { sum / f64::from(count) }
        };
        released.change_each(|one, without| {
            let share = mean(without);
            one.iter_mut().zip(public).for_each(|(one, public)| *one = share * *one + (1.0 - share) * public);
        });
        Ok(released)
    }

    fn theorems(&self, _: EnsembleSize, _: TokenNeighbors) -> Vec<Theorem> {
        Vec::new()
    }
}
