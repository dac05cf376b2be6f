//! Classes with the same count.

use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::order;

/// The largest spread of the counts, in noise scales.
pub(super) struct Spread {
    pub(super) most: f64,
    pub(super) domain: &'static str,
}

impl Spread {
    /// Beyond 10^17, no lattice node is left at the peak of a class far below.
    pub(super) const LATTICE: Self = Self { most: 1e17, domain: "[0, 1e17]" };
}

/// Classes with equal counts, largest count first: they share one probability.
pub(super) struct CountGroups {
    pub(super) groups: Vec<CountGroup>,
    /// Group of each class.
    pub(super) of_class: Vec<usize>,
    pub(super) scale: f64,
}

pub(super) struct CountGroup {
    pub(super) count: u64,
    /// (largest count - count)/scale ≥ 0.
    pub(super) gap: f64,
    pub(super) multiplicity: f64,
}

impl CountGroups {
    pub(super) fn new(histogram: &VoteHistogram, scale: f64, spread: Spread) -> Result<Self> {
        let counts = histogram.counts();
        let order = order::positions(counts.len(), |a, b| counts[b].cmp(&counts[a]));
        let mut groups: Vec<CountGroup> = Vec::new();
        let mut of_class = vec![0; counts.len()];
        for &class in &order {
            let count = counts[class];
            match groups.last_mut() {
                Some(group) if group.count == count => group.multiplicity += 1.0,
                _ => {
                    groups.push(CountGroup { count, gap: (counts[order[0]] - count) as f64 / scale, multiplicity: 1.0 })
                }
            }
            of_class[class] = groups.len() - 1;
        }
        let found = groups.last().map_or(0.0, |group| group.gap);
        Error::check_domain(found <= spread.most, "spread of the counts over the noise scale", found, spread.domain)?;
        Ok(Self { groups, of_class, scale })
    }

    pub(super) fn multiplicities(&self) -> Vec<f64> {
        self.groups.iter().map(|group| group.multiplicity).collect()
    }
}
