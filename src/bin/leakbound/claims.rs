//! Claims against lower bounds or exact values.

use crate::args::ClaimOptions;
use leakbound::report::{Claim, Number, short};
use leakbound::{Delta, Direction, FailureProbability, Order, Rectangle};

/// A claimed quantity of one answer.
#[derive(Debug, Clone, Copy)]
pub enum Quantity {
    /// ε at δ.
    Epsilon(Delta),
    /// Rényi divergence.
    Rdp(Order),
    /// μ of Gaussian differential privacy.
    Mu,
}

impl ClaimOptions {
    /// What is claimed: words, quantity and value.
    fn all(&self) -> Vec<(String, Quantity, f64)> {
        let epsilon = self.claim_epsilon.map(|epsilon| {
            (
                format!("ε ≤ {} at δ = {}", short(epsilon.get()), short(self.delta.get())),
                Quantity::Epsilon(self.delta),
                epsilon.get(),
            )
        });
        let rdp = self
            .claim_rdp
            .iter()
            .map(|&(order, value)| (format!("D ≤ {} at α = {order}", short(value)), Quantity::Rdp(order), value));
        let mu = self.claim_mu.map(|mu| (format!("μ ≤ {}", short(mu)), Quantity::Mu, mu));
        epsilon.into_iter().chain(rdp).chain(mu).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.claim_epsilon.is_none() && self.claim_rdp.is_empty() && self.claim_mu.is_none()
    }

    /// Tests every claim against the largest value that `lower` gives, over the named queries.
    pub fn test<Q>(
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

    /// Tests every claim on rectangles that hold at once, over all queries, except with the failure probability.
    pub fn test_rectangles(&self, queries: &[(String, Vec<Rectangle>)], failure: FailureProbability) -> Vec<Claim> {
        self.test(queries, failure.get(), |rectangles, quantity| {
            let bounds = rectangles.iter().flat_map(|rectangle| {
                Direction::BOTH.map(|direction| match quantity {
                    Quantity::Epsilon(delta) => rectangle.epsilon(delta, direction).value,
                    Quantity::Rdp(order) => rectangle.corner(order, direction).value,
                    Quantity::Mu => rectangle.gdp().value,
                })
            });
            bounds.fold(0.0, f64::max)
        })
    }
}
