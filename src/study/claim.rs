//! Claims against lower bounds or exact values.

use super::number::{Number, short};
use crate::black_box::Aim;
use crate::error::Result;
use crate::quantity::{Delta, Epsilon, Order};
use serde::Serialize;

/// A claim and its verdict.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Claim {
    /// The claim in words, such as `ε ≤ 0.1 at δ = 1e-5`.
    pub claim: String,
    /// The largest lower bound, or the exact value, of the claimed quantity.
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

/// What the author of a mechanism claims of one answer.
#[derive(Debug, Clone, Default)]
pub struct Claims {
    /// It is (ε, δ)-differentially private.
    pub epsilon: Option<(Epsilon, Delta)>,
    /// Its Rényi divergence of an order is at most a value.
    pub rdp: Vec<(Order, f64)>,
    /// It is μ-GDP.
    pub mu: Option<f64>,
}

impl Claims {
    /// The claim that an audit looks for.
    ///
    /// # Errors
    /// [`Error::Rejected`](crate::Error::Rejected) for a negative ε.
    pub fn of(aim: Aim) -> Result<Self> {
        let mut claims = Self::default();
        match aim {
            Aim::Epsilon(delta, epsilon) => claims.epsilon = Some((Epsilon::new(epsilon)?, delta)),
            Aim::Rdp(order, divergence) => claims.rdp = vec![(order, divergence)],
            Aim::Mu(mu) => claims.mu = Some(mu),
        }
        Ok(claims)
    }

    /// Claims in words, with quantity and value.
    pub(crate) fn all(&self) -> Vec<(String, Quantity, f64)> {
        let epsilon = self.epsilon.map(|(epsilon, delta)| {
            let claim = format!("ε ≤ {} at δ = {}", short(epsilon.get()), short(delta.get()));
            (claim, Quantity::Epsilon(delta), epsilon.get())
        });
        let rdp = self
            .rdp
            .iter()
            .map(|&(order, value)| (format!("D ≤ {} at α = {order}", short(value)), Quantity::Rdp(order), value));
        let mu = self.mu.map(|mu| (format!("μ ≤ {}", short(mu)), Quantity::Mu, mu));
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
        lower: impl Fn(&Q, Quantity) -> f64,
    ) -> Vec<Claim> {
        self.all()
            .into_iter()
            .map(|(claim, quantity, value)| {
                let (query, strongest) = queries
                    .iter()
                    .map(|(name, query)| (name.clone(), lower(query, quantity)))
                    .fold((String::new(), 0.0), |best, next| if next.1 > best.1 { next } else { best });
                Claim { claim, lower: Number(strongest), query, refuted: strongest > value, failure_probability }
            })
            .collect()
    }
}
