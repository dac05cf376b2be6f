//! Simultaneous lower bounds of one query, for claims and composition.

use super::claim::{Claim, Claims, Quantity};
use crate::audit::{BoundEvent, FailureBudget, Guide, Method, Rectangle, Region, rectangles};
use crate::bound::{AtLeast, Direction, LowerBound};
use crate::counts::PairedCounts;
use crate::error::Result;
use crate::quantity::{FailureProbability, Order};

impl Claims {
    /// Tests every claim on evidence of named queries that holds simultaneously, except with the failure probability.
    pub(crate) fn test_queries<'a>(
        &self,
        queries: impl Iterator<Item = (&'a str, &'a PairedCounts, &'a Guide)>,
        budget: &FailureBudget,
        failure: FailureProbability,
    ) -> Result<Vec<Claim>> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let evidence = Evidence::of_all(queries, budget, self.wanted())?;
        Ok(self.test(&evidence, failure.get(), Evidence::strongest))
    }

    /// What the claims are about, so that the failure probability is spent on it.
    pub(crate) const fn wanted(&self) -> Wanted {
        match (self.rdp.is_empty(), self.epsilon.is_none() && self.mu.is_none()) {
            (false, true) => Wanted::Renyi,
            (true, _) => Wanted::Cuts,
            (false, false) => Wanted::Both,
        }
    }
}

/// What evidence is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Rényi divergences only.
    Renyi,
    /// ε or μ, which come from output sets.
    Cuts,
    /// Both.
    Both,
}

impl Wanted {
    /// The events that the evidence is read from: given a guess of the distributions, Rényi divergences are bounded by
    /// the region of the k-cut; everything else is bounded by the output sets.
    pub(crate) fn events(self, guide: &Guide) -> &'static [BoundEvent] {
        match (guide.reference(), self) {
            (Some(_), Self::Renyi) => &[BoundEvent::Of(Method::KCutRegion)],
            (Some(_), Self::Both) => &[BoundEvent::OutputSets, BoundEvent::Of(Method::KCutRegion)],
            (Some(_), Self::Cuts) | (None, _) => &[BoundEvent::OutputSets],
        }
    }
}

/// What is known of one query: all of it holds simultaneously, unless one of its events fails.
pub(crate) struct Evidence {
    rectangles: Vec<Rectangle>,
    region: Option<Region>,
}

impl Evidence {
    /// The evidence that is needed, from its [`Wanted::events`]; each of them fails with probability `share` at most.
    pub(crate) fn new(counts: &PairedCounts, guide: &Guide, share: FailureProbability, wanted: Wanted) -> Result<Self> {
        let events = wanted.events(guide);
        let reference = guide.reference().filter(|_| events.contains(&BoundEvent::Of(Method::KCutRegion)));
        let region = reference.map(|reference| Region::new(counts, reference, share)).transpose()?;
        let rectangles =
            if events.contains(&BoundEvent::OutputSets) { rectangles(counts, &guide.sets, share)? } else { Vec::new() };
        Ok(Self { rectangles, region })
    }

    /// The evidence of named queries, which holds simultaneously.
    pub(crate) fn of_all<'a>(
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

    fn largest(&self, bound: impl Fn(&Rectangle) -> LowerBound) -> AtLeast {
        self.rectangles.iter().map(|rectangle| bound(rectangle).at_least()).max().unwrap_or(AtLeast::NOTHING)
    }

    /// The larger bound of both directions.
    pub(crate) fn strongest(&self, quantity: Quantity) -> AtLeast {
        let bounds = Direction::BOTH.map(|direction| match quantity {
            Quantity::Epsilon(delta) => self.largest(|rectangle| rectangle.epsilon(delta, direction)),
            Quantity::Rdp(order) => self.renyi(order, direction),
            Quantity::Mu => self.largest(Rectangle::gdp),
        });
        bounds[0].max(bounds[1])
    }

    pub(crate) fn renyi(&self, order: Order, direction: Direction) -> AtLeast {
        let cut = self.largest(|rectangle| rectangle.corner(order, direction));
        self.region.as_ref().map_or(cut, |region| region.bound(order, direction).at_least().max(cut))
    }
}
