//! Sampling from mixtures of each member with a public model (PMixED).

use super::divergences::{mixture_distance, renyi};
use super::share::largest_share;
use super::{Charge, EnsembleSize, NextTokens, Released, TokenMechanism, TokenMechanismKind, TokenNeighbors};
use crate::accountant::{Statement, Theorem};
use crate::error::{Error, Result};
use crate::mechanism::draw::{between, pick, rate};
use crate::mechanism::{Parameter, Parameters};
use crate::quantity::{Order, Probability};
use rand::RngExt;
use std::sync::Arc;

/// A token from the mean of mixtures of members with a public model: PMixED.
///
/// Each member i joins independently with a probability, the sampling rate. One that joins is mixed with the public
/// model p₀ as p̄ᵢ = λᵢ pᵢ + (1-λᵢ) p₀, with the largest λᵢ at which both D_α(p̄ᵢ‖p₀) and D_α(p₀‖p̄ᵢ) are at most the
/// radius r at the one order α. The answer is drawn from the mean of those p̄ᵢ, or from p₀ if no member joins. As a
/// mean of means, the answer's distribution is
/// ```text
/// (1 - (1-γ)^N)/N Σᵢ p̄ᵢ + (1-γ)^N p₀
/// ```
/// for N members at rate γ, because all members are sampled alike.
///
/// # Guarantee
/// The authors charge D_α = ln((N-1 + e^{4(α-1)r})/N)/(α-1) for N members against N-1 ([`pmixed_as_published`]). The
/// factor of 4 is that of a triangle inequality, D_α(p̄ᵢ‖p̄ⱼ) ≤ 4r, which holds if divergences grow with the order as r
/// does, at all orders; the mixtures have a bound at only one. Let p₀ = u at one token, p̄ᵢ = A u^{(α-1)/α} and
/// p̄ⱼ = B u^{α/(α-1)}, which the radius allows for some A and B however small u is. The term p̄ᵢ^a p̄ⱼ^{1-a} of D_a is
/// a power of u, with a negative exponent for every order a > α²/(2α-1), and α is such an order: D_a is unbounded
/// there, and the published value is not a bound (a test has a case). Up to the order α²/(2α-1) there is a bound. By
/// Hölder's inequality with 1/v + 1/w = 1,
/// ```text
/// D_a(p̄ᵢ‖p̄ⱼ) ≤ (a - 1/v)/(a-1) D_{va}(p̄ᵢ‖p₀) + D_{(va-1)/(v-1)}(p₀‖p̄ⱼ),
/// ```
/// which with v = (α-1)/(α-a) is at most r (2α-1)/(α-1), because the second order is then α and the first at most α.
/// Convexity of exp((a-1) D_a) in both distributions extends this to means of mixtures, as in the paper, and to random
/// sets of members.
///
/// ```
/// # use leakbound::quantity::{Order, Probability};
/// # use leakbound::token::{MixedTokens, NextTokens, TokenMechanism, pmixed_as_published, removed_members};
/// # use ndarray::{array, aview1};
/// // A token of public probability 1e-6: 4e-5 to one member, 4e-9 to the other.
/// let members = array![[4e-5f64, 1.0 - 4e-5], [4e-9, 1.0 - 4e-9]].mapv(f64::ln);
/// let public = [1e-6f64, 1.0 - 1e-6].map(f64::ln);
/// let position = NextTokens::from_logits(members.view(), Some(aview1(&public)))?;
/// let order = Order::new(3.0)?;
/// let mechanism = MixedTokens::new(order, 0.04, Probability::new(1.0)?)?;
/// // Both are within the radius: nothing is mixed.
/// assert_eq!(mechanism.shares(&position)?, [1.0, 1.0]);
/// let found = removed_members(&mechanism, &position, &[order])?;
/// assert!(found.iter().any(|found| found.value > 30.0 * pmixed_as_published(order, 2, 0.04)));
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Flemings, Razaviyayn and Annavaram (2024), "Differentially private next-token prediction of large language models";
/// Mironov (2017), Proposition 11, for the inequality of Hölder's kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MixedTokens {
    order: Order,
    radius: f64,
    rate: Probability,
}

/// A token from the mean of mixtures of members with a public model: the order and the radius of the mixtures in nats,
/// and the rate at which members join, 1 if not given.
pub const MIXED_TOKENS: &TokenMechanismKind = &TokenMechanismKind {
    name: "mixed-tokens",
    example: "mixed-tokens:order=3,radius=0.04",
    releases: "a token from the mean of the members, each mixed with a public model (PMixED)",
    theorems: &[&HOELDER],
    parameters: &[
        Parameter::number("order", &[2.0, 3.0]),
        Parameter::number("radius", &[0.01, 0.1]),
        Parameter::number("rate", &[1.0, 0.5]).optional(),
    ],
    needs_public: true,
    models_of_owner: 1,
    read: |parameters| {
        let rate = if parameters.has("rate") { parameters.probability("rate")? } else { Probability::new(1.0)? };
        let order = parameters.in_domain("order", Order::new)?;
        Ok(Arc::new(MixedTokens::new(order, parameters.number("radius")?, rate)?))
    },
    draw: |stream| {
        let order = Order::new(*pick(stream, &[1.5, 2.0, 3.0, 4.0, 8.0, 16.0, 64.0])).ok()?;
        let joining = if stream.random_bool(0.75) { Probability::new(1.0).ok()? } else { rate(stream)? };
        Some(Arc::new(MixedTokens::new(order, between(stream, 1e-4, 1.0), joining).ok()?))
    },
};

static HOELDER: Statement = Statement::for_any_data(
    "mixed-tokens",
    "tokens of PMixED",
    "this library, by Hölder's inequality at orders up to α²/(2α-1) (after Mironov 2017, Proposition 11)",
);

impl MixedTokens {
    /// Mixtures within a radius at an order, in nats; the paper's β is the radius divided by α. With a rate of 1, all
    /// members join.
    ///
    /// # Errors
    /// [`Error::Domain`] unless the radius is ≥ 0.
    pub fn new(order: Order, radius: f64, rate: Probability) -> Result<Self> {
        Error::check_domain(radius >= 0.0, "radius of the mixtures", radius, "[0, inf]")?;
        Ok(Self { order, radius, rate })
    }

    /// λ of each member: its share in its mixture.
    ///
    /// # Errors
    /// [`Error::Rejected`] for a position without a public model.
    pub fn shares(&self, position: &NextTokens) -> Result<Vec<f64>> {
        let public = public(position)?;
        (0..position.members()).map(|member| self.share(position.member(member), public)).collect()
    }

    fn share(&self, member: &[f64], public: &[f64]) -> Result<f64> {
        let mut mixture = vec![0.0; public.len()];
        let mut change = vec![0.0; public.len()];
        for ((change, &member), &public) in change.iter_mut().zip(member).zip(public) {
            *change = if member == public { 0.0 } else { (member - public) / public };
        }
        let mut distance = |share: f64| -> f64 {
            mixture_distance(public, &change, share, self.order).unwrap_or_else(|| {
                mix_into(&mut mixture, member, public, share);
                renyi(&mixture, public, self.order).max(renyi(public, &mixture, self.order))
            })
        };
        // No mixture is close to a public model that never gives a token.
        let unknown = member.iter().zip(public).any(|(&member, &public)| member > 0.0 && public == 0.0);
        // D_α is close to α λ²/2 Σ p₀ d² if λ is small.
        let square: f64 = public.iter().zip(&change).map(|(public, change)| public * change * change).sum();
        if unknown && distance(1.0) > self.radius {
            return Ok(0.0);
        }
        largest_share(self.radius, 0.5 * self.order.get() * square, distance)
    }

    /// exp((a-1) D_a) - 1 of m members against a neighbor, all of which joined, with the digits of small values. For
    /// two means that differ in one of m mixtures, it is 1/m of that of the two mixtures, whether the other one is
    /// another member's or the mean of the rest.
    fn excess(&self, order: Order, members: f64, neighbors: TokenNeighbors) -> f64 {
        let (a, alpha) = (order.get(), self.order.get());
        if members <= 1.0 && neighbors == TokenNeighbors::Removed {
            return if a <= alpha { ((a - 1.0) * self.radius).exp_m1() } else { f64::INFINITY };
        }
        if a > alpha * alpha / (2.0 * alpha - 1.0) {
            return f64::INFINITY;
        }
        let pair = self.radius * (2.0 * alpha - 1.0) / (alpha - 1.0);
        ((a - 1.0) * pair).exp_m1() / members
    }
}

impl TokenMechanism for MixedTokens {
    fn kind(&self) -> &'static TokenMechanismKind {
        MIXED_TOKENS
    }

    fn parameters(&self) -> Parameters {
        let (order, radius, rate) = (self.order.get(), self.radius, self.rate.get());
        Parameters::default().with("order", order).with("radius", radius).with("rate", rate)
    }

    /// [`pmixed_as_published`] at the order of the mixtures, if all members join.
    fn charge(&self, size: EnsembleSize, order: Order) -> Option<Charge> {
        (order == self.order && self.rate.get() == 1.0).then(|| Charge {
            name: "pmixed-as-published",
            source: "Flemings, Razaviyayn and Annavaram (2024)",
            value: pmixed_as_published(order, size.members, self.radius),
        })
    }

    fn released(&self, position: &NextTokens) -> Result<Released> {
        let public = public(position)?;
        let (count, tokens) = (position.members(), position.tokens());
        let mut mixtures = vec![0.0; count * tokens];
        for (member, mixture) in mixtures.chunks_exact_mut(tokens).enumerate() {
            let share = self.share(position.member(member), public)?;
            mix_into(mixture, position.member(member), public, share);
        }
        let nobody = |members: usize| (1.0 - self.rate.get()).powi(i32::try_from(members).unwrap_or(i32::MAX));
        let mut released = Released::means(count, tokens, |member| &mixtures[member * tokens..][..tokens]);
        released.change(|mean, members| {
            let none = nobody(members);
            mean.iter_mut().zip(public).for_each(|(mean, public)| *mean = (1.0 - none) * *mean + none * public);
        });
        Ok(released)
    }

    /// One, for both directions: finite at orders up to α²/(2α-1).
    fn theorems(&self, size: EnsembleSize, neighbors: TokenNeighbors) -> Vec<Theorem> {
        let (mechanism, members) = (*self, size.members);
        vec![Theorem::alike(&HOELDER, move |order| {
            let (rate, others) = (mechanism.rate.get(), members.saturating_sub(1));
            // The others that join, and with probability `rate` the member itself.
            if rate == 0.0 {
                return 0.0;
            }
            let excess: f64 = binomial_masses(others, rate)
                .map(|(joined, mass)| mass * rate * mechanism.excess(order, joined as f64 + 1.0, neighbors))
                .sum();
            excess.ln_1p() / (order.get() - 1.0) * (1.0 + 1e-10)
        })]
    }
}

/// The authors' charge for D_α of this many members, all joined, against one fewer, at the order α of the mixtures and
/// their radius, in nats. It is not a bound: see [`MixedTokens`].
///
/// ```
/// # use leakbound::quantity::Order;
/// # use leakbound::token::pmixed_as_published;
/// let published = pmixed_as_published(Order::new(3.0)?, 2, 0.04);
/// assert!((published - ((1.0 + 0.32f64.exp()) / 2.0).ln() / 2.0).abs() < 1e-15);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Flemings, Razaviyayn and Annavaram (2024), and their program.
#[must_use]
pub fn pmixed_as_published(order: Order, members: usize, radius: f64) -> f64 {
    match members {
        0 => 0.0,
        1 => radius,
        _ => (((order.get() - 1.0) * 4.0 * radius).exp_m1() / members as f64).ln_1p() / (order.get() - 1.0),
    }
}

fn public(position: &NextTokens) -> Result<&[f64]> {
    let none = || Error::rejected("mixtures with a public model", "the position has no public model");
    position.public().ok_or_else(none)
}

/// λ p + (1-λ) p₀.
pub(super) fn mix_into(mixture: &mut [f64], member: &[f64], public: &[f64], share: f64) {
    for ((mixture, member), public) in mixture.iter_mut().zip(member).zip(public) {
        *mixture = share * member + (1.0 - share) * public;
    }
}

/// How many of `count` members join, with its probability.
fn binomial_masses(count: usize, rate: f64) -> impl Iterator<Item = (usize, f64)> {
    use crate::special::log_binomial_pmf;
    (0..=count)
        .map(move |joined| (joined, log_binomial_pmf(joined as u64, count as u64, rate).exp()))
        .filter(|(_, mass)| *mass > 0.0)
}
