//! Claims against lower bounds or exact values.

use super::number::{Number, short};
use crate::black_box::Aim;
use crate::bound::{AtLeast, Claimed};
use crate::error::Result;
use crate::order;
use crate::quantity::{Delta, Epsilon, Order};
use serde::Serialize;

/// A claim and its verdict.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Claim {
    /// The claim in words, such as `ε ≤ 0.1 at δ = 1e-5`.
    pub claim: String,
    /// The largest lower bound of the claimed quantity; for an exact value its lower end, rounded down by its error.
    pub lower: Number,
    /// Which query gave it.
    pub query: String,
    /// True when the claim cannot hold.
    pub refuted: bool,
    /// The probability that any refutation of this run is wrong; 0 for exact values.
    pub failure_probability: f64,
}

/// A claimed quantity of one answer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Quantity {
    /// ε at δ.
    Epsilon(Delta),
    /// Rényi divergence.
    Rdp(Order),
    /// μ of Gaussian differential privacy.
    Mu,
}

/// What the author of a mechanism claims about one answer.
#[derive(Debug, Clone, Default)]
pub struct Claims {
    /// The answer is (ε, δ)-differentially private.
    pub epsilon: Option<(Epsilon, Delta)>,
    /// Its Rényi divergence of this order is at most this value.
    pub rdp: Vec<(Order, Claimed)>,
    /// The answer is μ-GDP.
    pub mu: Option<Claimed>,
}

impl Claim {
    /// Compares a claim with a lower bound of the claimed quantity. No other comparison refutes by a number.
    pub(crate) fn tested(
        (claim, claimed): (String, Claimed),
        (query, lower): (String, AtLeast),
        failure_probability: f64,
    ) -> Self {
        let refuted = lower.refutes(claimed);
        Self { claim, lower: Number(lower.get()), query, refuted, failure_probability }
    }
}

impl Claims {
    /// The claim that an audit looks for.
    ///
    /// # Errors
    /// [`Error::Domain`](crate::Error::Domain) for a negative ε and for NaN.
    pub fn of(aim: Aim) -> Result<Self> {
        let mut claims = Self::default();
        match aim {
            Aim::Epsilon(delta, epsilon) => claims.epsilon = Some((Epsilon::new(epsilon)?, delta)),
            Aim::Rdp(order, divergence) => claims.rdp = vec![(order, Claimed::new(divergence)?)],
            Aim::Mu(mu) => claims.mu = Some(Claimed::new(mu)?),
        }
        Ok(claims)
    }

    /// Claims in words, with quantity and value.
    pub(crate) fn all(&self) -> Vec<(String, Quantity, Claimed)> {
        let epsilon = self
            .epsilon
            .map(|(epsilon, delta)| (epsilon_words(epsilon, delta), Quantity::Epsilon(delta), epsilon.into()));
        let rdp = self.rdp.iter().map(|&(order, value)| (rdp_words(order, value), Quantity::Rdp(order), value));
        let mu = self.mu.map(|mu| (format!("μ ≤ {}", short(mu.get())), Quantity::Mu, mu));
        epsilon.into_iter().chain(rdp).chain(mu).collect()
    }

    /// Whether nothing is claimed.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.epsilon.is_none() && self.rdp.is_empty() && self.mu.is_none()
    }

    /// Tests every claim against the largest value that `lower` gives, over the named queries.
    pub(crate) fn test<Q>(
        &self,
        queries: &[(String, Q)],
        failure_probability: f64,
        lower: impl Fn(&Q, Quantity) -> AtLeast,
    ) -> Vec<Claim> {
        self.all()
            .into_iter()
            .map(|(claim, quantity, claimed)| {
                let strongest = queries
                    .iter()
                    .map(|(name, query)| (name.clone(), lower(query, quantity)))
                    .fold((String::new(), AtLeast::NOTHING), |best, next| if next.1 > best.1 { next } else { best });
                Claim::tested((claim, claimed), strongest, failure_probability)
            })
            .collect()
    }
}

/// Orders with those that were requested among them, rising.
pub(crate) fn with_requested<'a>(mut orders: Vec<Order>, requested: impl IntoIterator<Item = &'a Order>) -> Vec<Order> {
    orders.extend(requested);
    order::sort(&mut orders, |a, b| a.get().total_cmp(&b.get()));
    orders.dedup();
    orders
}

/// Orders that are asked for, and those of claims.
pub(crate) fn with_claimed<'a>(orders: &[Order], claims: impl IntoIterator<Item = &'a (Order, Claimed)>) -> Vec<Order> {
    let mut orders = orders.to_vec();
    for &(order, _) in claims {
        if !orders.contains(&order) {
            orders.push(order);
        }
    }
    orders
}

/// A claim about ε in words.
pub(crate) fn epsilon_words(claimed: Epsilon, delta: Delta) -> String {
    format!("ε ≤ {} at δ = {}", short(claimed.get()), short(delta.get()))
}

/// A claim about a Rényi divergence in words.
pub(crate) fn rdp_words(order: Order, claimed: Claimed) -> String {
    format!("D ≤ {} at α = {order}", short(claimed.get()))
}
