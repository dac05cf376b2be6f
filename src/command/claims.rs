//! Claims against lower bounds or exact values.

use crate::command::args::ClaimOptions;
use crate::report::{Claim, Number, short};
use crate::{
    BoundEvent, Delta, Direction, FailureBudget, FailureProbability, Guide, Order, PairedCounts, Rectangle, Region,
    Result, rectangles,
};

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

    /// Tests every claim on evidence that holds at once, over all queries, except with the failure probability.
    pub fn test_evidence(&self, queries: &[(String, Evidence)], failure: FailureProbability) -> Vec<Claim> {
        self.test(queries, failure.get(), |evidence, quantity| {
            let bounds = Direction::BOTH.map(|direction| match quantity {
                Quantity::Epsilon(delta) => evidence.epsilon(delta, direction),
                Quantity::Rdp(order) => evidence.renyi(order, direction),
                Quantity::Mu => evidence.largest(|rectangle| rectangle.gdp().value),
            });
            bounds[0].max(bounds[1])
        })
    }

    /// What the claims are about, so that the failure probability is spent on it.
    pub fn wanted(&self) -> Wanted {
        match (self.claim_rdp.is_empty(), self.claim_epsilon.is_none() && self.claim_mu.is_none()) {
            (false, true) => Wanted::Renyi,
            (true, _) => Wanted::Cuts,
            (false, false) => Wanted::Both,
        }
    }
}

/// What evidence is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Rényi divergences only.
    Renyi,
    /// ε or μ, which come from output sets.
    Cuts,
    /// Both.
    Both,
}

impl Wanted {
    /// The events that the evidence is read from: where there is a guess of the laws, Rényi divergences are bounded by
    /// the region of the k-cut; everything else by the output sets.
    pub fn events(self, guide: &Guide) -> &'static [BoundEvent] {
        match (guide.reference(), self) {
            (Some(_), Self::Renyi) => &[BoundEvent::Region],
            (Some(_), Self::Both) => &[BoundEvent::OutputSets, BoundEvent::Region],
            (Some(_), Self::Cuts) | (None, _) => &[BoundEvent::OutputSets],
        }
    }
}

/// What is known of one query: all of it holds at once, unless one of its events fails.
pub struct Evidence {
    rectangles: Vec<Rectangle>,
    region: Option<Region>,
}

impl Evidence {
    /// What is wanted, from its [`Wanted::events`]; each of them fails with probability `share` at most.
    pub fn new(counts: &PairedCounts, guide: &Guide, share: FailureProbability, wanted: Wanted) -> Result<Self> {
        let events = wanted.events(guide);
        let reference = guide.reference().filter(|_| events.contains(&BoundEvent::Region));
        let region = reference.map(|reference| Region::new(counts, reference, share)).transpose()?;
        let rectangles =
            if events.contains(&BoundEvent::OutputSets) { rectangles(counts, &guide.sets, share)? } else { Vec::new() };
        Ok(Self { rectangles, region })
    }

    /// The evidence of named queries, all of which holds at once.
    pub fn of_all<'a>(
        queries: impl Iterator<Item = (&'a str, &'a PairedCounts, &'a Guide)>,
        budget: &FailureBudget,
        wanted: Wanted,
    ) -> Result<Vec<(String, Self)>> {
        let one = |(name, counts, guide): (&str, &PairedCounts, &Guide)| {
            let share = budget.share_of_all(budget.queries(), wanted.events(guide).len());
            Ok((name.to_owned(), Self::new(counts, guide, share, wanted)?))
        };
        queries.map(one).collect()
    }

    fn largest(&self, bound: impl Fn(&Rectangle) -> f64) -> f64 {
        self.rectangles.iter().map(bound).fold(0.0, f64::max)
    }

    pub fn renyi(&self, order: Order, direction: Direction) -> f64 {
        let cut = self.largest(|rectangle| rectangle.corner(order, direction).value);
        self.region.as_ref().map_or(cut, |region| region.bound(order, direction).value.max(cut))
    }

    fn epsilon(&self, delta: Delta, direction: Direction) -> f64 {
        self.largest(|rectangle| rectangle.epsilon(delta, direction).value)
    }
}
