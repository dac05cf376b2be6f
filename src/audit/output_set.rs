//! The output sets of 2-cuts: the most powerful sets are prefixes of the likelihood ratio.

use crate::bound::Direction;
use crate::counts::PairedCounts;
use crate::distribution::OutcomeDistribution;
use crate::divergence::bernoulli_renyi;
use crate::error::{Error, Result};
use crate::interval::BinomialCounts;
use crate::order;
use crate::quantity::Order;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A set O of outcomes: `contains()[i]` tells whether outcome i belongs to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutputSet {
    contains: Vec<bool>,
}

impl OutputSet {
    /// A set from the membership of each outcome.
    #[must_use]
    pub const fn new(contains: Vec<bool>) -> Self {
        Self { contains }
    }

    /// Membership of each outcome.
    #[must_use]
    pub fn contains(&self) -> &[bool] {
        &self.contains
    }

    /// Indices of the outcomes in the set.
    #[must_use]
    pub fn members(&self) -> Vec<usize> {
        (0..self.contains.len()).filter(|&outcome| self.contains[outcome]).collect()
    }

    /// Counts inside the set, under the dataset and under its neighbor.
    ///
    /// # Errors
    /// [`Error::Length`] if the counts have a different number of outcomes.
    pub fn inside(&self, counts: &PairedCounts) -> Result<[BinomialCounts; 2]> {
        Error::check_size("counts", counts.outcomes(), self.contains.len(), " outcomes, as the output set")?;
        let sum = |world: &[u64]| world.iter().zip(&self.contains).filter(|(_, inside)| **inside).map(|(n, _)| n).sum();
        Ok([
            BinomialCounts::new(sum(counts.counts()), counts.trials())?,
            BinomialCounts::new(sum(counts.counts_neighbor()), counts.trials_neighbor())?,
        ])
    }

    /// Probability of the set and of its complement.
    fn probability(&self, distribution: &OutcomeDistribution) -> (f64, f64) {
        let sum = |inside: bool| {
            distribution
                .p()
                .iter()
                .zip(&self.contains)
                .filter(|(_, member)| **member == inside)
                .map(|(p, _)| p)
                .sum::<f64>()
        };
        (sum(true), sum(false))
    }
}

/// The origin of output sets, which is never the counts that are bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SetSource {
    /// Likelihood-ratio prefixes of the exact distribution of both worlds.
    ExactDistribution,
    /// Likelihood-ratio prefixes of a pilot sample that is not used for the bound.
    Pilot,
    /// A fixed list: each outcome alone, with the failure probability divided among them.
    FixedList,
    /// Declared by the user, such as the positive answers of an attack.
    Declared,
}

impl fmt::Display for SetSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::ExactDistribution => "exact distribution",
            Self::Pilot => "pilot",
            Self::FixedList => "fixed list",
            Self::Declared => "declared",
        })
    }
}

/// The output sets of one audit, which share the failure probability.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputSets {
    /// The sets, at least one.
    pub sets: Vec<OutputSet>,
    /// Their origin.
    pub source: SetSource,
    /// True when P(O) ≥ Q(O) is expected of every set, so that two tails suffice.
    pub directed: bool,
}

/// One set is used for all orders if it reaches this share of the best 2-cut at each.
const ENOUGH: f64 = 0.9;

impl OutputSets {
    /// The sets that need no knowledge: each outcome alone, or the first of two outcomes.
    #[must_use]
    pub fn fixed_list(outcomes: usize) -> Self {
        let alone = |member| OutputSet::new((0..outcomes).map(|outcome| outcome == member).collect());
        let sets = if outcomes <= 2 { vec![alone(0)] } else { (0..outcomes).map(alone).collect() };
        Self { sets, source: SetSource::FixedList, directed: false }
    }

    /// One declared set.
    #[must_use]
    pub fn declared(set: OutputSet) -> Self {
        Self { sets: vec![set], source: SetSource::Declared, directed: true }
    }

    /// Sets from the distributions of both worlds: prefixes of the outcomes sorted by p/q.
    ///
    /// The 2-cut divergence is largest at a likelihood-ratio threshold test (Neyman and Pearson; f is jointly convex),
    /// so C-1 prefixes suffice. One prefix serves all `orders` and `directions` if it reaches 90% of the best 2-cut at
    /// each of them; otherwise each takes its best one, and the distinct sets share the failure probability.
    ///
    /// # Errors
    /// [`Error::Length`] if the distributions differ in outcomes.
    pub fn from_distributions(
        p: &OutcomeDistribution,
        q: &OutcomeDistribution,
        orders: &[Order],
        directions: &[Direction],
        source: SetSource,
    ) -> Result<Self> {
        Error::check_size("distribution of the neighbor", q.outcomes(), p.outcomes(), " outcomes")?;
        let prefixes = ratio_prefixes(p, q);
        if prefixes.is_empty() {
            return Ok(Self { sets: Self::fixed_list(p.outcomes()).sets, source, directed: true });
        }
        let goals: Vec<(Order, Direction)> =
            orders.iter().flat_map(|&order| directions.iter().map(move |&direction| (order, direction))).collect();
        // cuts[set][goal]
        let cuts: Vec<Vec<f64>> = prefixes
            .iter()
            .map(|set| {
                let (inside, inside_neighbor) = (set.probability(p), set.probability(q));
                goals
                    .iter()
                    .map(|&(order, direction)| match direction {
                        Direction::Forward => bernoulli_renyi(inside, inside_neighbor, order),
                        Direction::Reverse => bernoulli_renyi(inside_neighbor, inside, order),
                    })
                    .collect()
            })
            .collect();
        let best_set = |goal: usize| {
            (0..cuts.len()).fold(0, |best, set| if cuts[set][goal] > cuts[best][goal] { set } else { best })
        };
        let best: Vec<usize> = (0..goals.len()).map(best_set).collect();
        let share = |set: usize| {
            (0..goals.len())
                .map(|goal| if cuts[best[goal]][goal] > 0.0 { cuts[set][goal] / cuts[best[goal]][goal] } else { 1.0 })
                .fold(1.0, f64::min)
        };
        let single = (0..cuts.len()).fold(0, |kept, set| if share(set) > share(kept) { set } else { kept });
        let mut chosen = if share(single) >= ENOUGH { vec![single] } else { best };
        chosen.sort_unstable();
        chosen.dedup();
        Ok(Self { sets: chosen.into_iter().map(|set| prefixes[set].clone()).collect(), source, directed: true })
    }

    /// Sets from a pilot sample, by the same rule on its frequencies, with half a count added to each outcome seen in
    /// it.
    ///
    /// The sets contain only outcomes seen in the pilot: any other outcome, whether it is seen later or never, belongs
    /// to the complement of every set. So the sets are fixed before any other output is examined, and nothing depends
    /// on which further outcomes the counts name.
    ///
    /// # Errors
    /// As [`OutputSets::from_distributions`].
    pub fn from_pilot(pilot: &PairedCounts, orders: &[Order], directions: &[Direction]) -> Result<Self> {
        let (shown, members) = shown(pilot)?;
        let distribution = |counts: &[u64]| {
            let total: f64 = counts.iter().map(|&count| count as f64 + 0.5).sum();
            let p: Vec<f64> = counts.iter().map(|&count| (count as f64 + 0.5) / total).collect();
            OutcomeDistribution::from_probabilities(&p)
        };
        let (p, q) = (distribution(shown.counts())?, distribution(shown.counts_neighbor())?);
        let mut found = Self::from_distributions(&p, &q, orders, directions, SetSource::Pilot)?;
        for set in &mut found.sets {
            let mut contains = vec![false; pilot.outcomes()];
            members.iter().zip(&set.contains).for_each(|(&member, &inside)| contains[member] = inside);
            set.contains = contains;
        }
        Ok(found)
    }
}

/// The outcomes seen in a pilot in at least one world, as counts and as positions.
pub(super) fn shown(pilot: &PairedCounts) -> Result<(PairedCounts, Vec<usize>)> {
    let (counts, others) = (pilot.counts(), pilot.counts_neighbor());
    let members: Vec<usize> = (0..pilot.outcomes()).filter(|&outcome| counts[outcome] + others[outcome] > 0).collect();
    let pick = |world: &[u64]| members.iter().map(|&outcome| world[outcome]).collect();
    let labels = members.iter().map(|&outcome| pilot.labels()[outcome].clone()).collect();
    Ok((PairedCounts::new(labels, pick(counts), pick(others))?, members))
}

/// The proper prefixes of the outcomes sorted by decreasing likelihood ratio; ties stay together.
fn ratio_prefixes(p: &OutcomeDistribution, q: &OutcomeDistribution) -> Vec<OutputSet> {
    let ratio = |outcome: usize| {
        let (ln_p, ln_q) = (p.ln_p()[outcome], q.ln_p()[outcome]);
        if ln_p == ln_q { 0.0 } else { ln_p - ln_q }
    };
    let order = order::positions(p.outcomes(), |a, b| ratio(b).total_cmp(&ratio(a)));
    let mut contains = vec![false; p.outcomes()];
    let mut prefixes = Vec::new();
    for pair in order.windows(2) {
        contains[pair[0]] = true;
        if ratio(pair[0]) > ratio(pair[1]) {
            prefixes.push(OutputSet::new(contains.clone()));
        }
    }
    prefixes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// No set of outcomes beats the best prefix (methods: Neyman-Pearson), by enumerating all sets.
        #[test]
        fn a_prefix_is_the_best_of_all_sets(weights in prop::collection::vec((0.01f64..1.0, 0.01f64..1.0), 2..8), a in 1.1f64..20.0) {
            let distribution = |pick: fn(&(f64, f64)) -> f64| {
                let total: f64 = weights.iter().map(pick).sum();
                OutcomeDistribution::from_probabilities(&weights.iter().map(|w| pick(w) / total).collect::<Vec<_>>()).unwrap()
            };
            let (p, q) = (distribution(|w| w.0), distribution(|w| w.1));
            let order = Order::new(a).unwrap();
            let cut = |set: &OutputSet| bernoulli_renyi(set.probability(&p), set.probability(&q), order);
            let best = ratio_prefixes(&p, &q).iter().map(cut).fold(0.0, f64::max);
            for bits in 1..(1u32 << weights.len()) - 1 {
                let set = OutputSet::new((0..weights.len()).map(|i| bits >> i & 1 == 1).collect());
                prop_assert!(cut(&set) <= best * (1.0 + 1e-12) + 1e-15);
            }
        }
    }

    #[test]
    fn equal_distributions_and_single_outcomes_have_a_set() {
        let distribution = OutcomeDistribution::from_probabilities(&[0.5, 0.25, 0.25]).unwrap();
        let sets = OutputSets::from_distributions(
            &distribution,
            &distribution,
            &[Order::new(2.0).unwrap()],
            &Direction::BOTH,
            SetSource::ExactDistribution,
        )
        .unwrap();
        assert!(!sets.sets.is_empty());
        assert_eq!(OutputSets::fixed_list(1).sets.len(), 1);
    }

    #[test]
    fn a_set_and_its_complement_have_their_probabilities() {
        let distribution = OutcomeDistribution::from_probabilities(&[0.5, 0.25, 0.125, 0.125]).unwrap();
        assert_eq!(OutputSet::new(vec![true, false, true, false]).probability(&distribution), (0.625, 0.375));
        assert_eq!(OutputSet::new(vec![false; 4]).probability(&distribution), (0.0, 1.0));
    }
}
