//! A guess of both distributions before the counts are seen: the direction in which a k-cut looks.

use crate::counts::PairedCounts;
use crate::distribution::{OutcomeDistribution, OutputPair};
use crate::divergence::same_outcomes;
use crate::error::{Error, Result};
use crate::order;

/// Classes are merged into at most this many groups of nearly equal likelihood ratio.
const MOST_GROUPS: usize = 64;
/// Larger logarithmic ratios carry no more information: e^40 exceeds every accepted number of samples.
const MOST_LOG_RATIO: f64 = 40.0;
/// The smallest variance of the logarithmic ratios assumed for a pilot, relative to its noise: enough to keep the
/// direction of a pilot that shows nothing.
const LEAST_SIGNAL: f64 = 0.05;

/// A guess (P₀, Q₀) of both distributions, made without looking at the counts to be bounded: from exact distributions,
/// or from a pilot.
///
/// A wrong guess makes bounds weaker, never wrong. Outcomes of equal likelihood ratio are merged, and beyond 64 groups
/// also those of nearly equal ratio: the merged outcome is a function of the outcome, so a bound for it holds for the
/// mechanism (data processing), and fewer groups have sharper limits.
///
/// ```
/// # use leakbound::audit::ReferenceDistributions;
/// # use leakbound::distribution::OutcomeDistribution;
/// let p = OutcomeDistribution::from_probabilities(&[0.5, 0.25, 0.25])?;
/// let q = OutcomeDistribution::from_probabilities(&[0.4, 0.3, 0.3])?;
/// let reference = ReferenceDistributions::from_distributions(&p, &q)?;
/// assert_eq!((reference.outcomes(), reference.groups()), (3, 2));
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ReferenceDistributions {
    /// Group of each outcome; groups are sorted by increasing ln(P₀/Q₀).
    group_of: Vec<usize>,
    p: Vec<f64>,
    q: Vec<f64>,
    log_ratio: Vec<f64>,
}

impl ReferenceDistributions {
    /// The guess that both worlds have these distributions.
    ///
    /// # Errors
    /// [`Error::Length`] if the distributions differ in outcomes.
    pub fn from_distributions(p: &OutcomeDistribution, q: &OutcomeDistribution) -> Result<Self> {
        same_outcomes(p, q)?;
        let log_ratio: Vec<f64> = p.ln_p().iter().zip(q.ln_p()).map(|(&p, &q)| bounded(p - q)).collect();
        Ok(Self { group_of: (0..p.outcomes()).collect(), p: p.p().to_vec(), q: q.p().to_vec(), log_ratio }.compressed())
    }

    /// The guess from a pilot sample whose counts are not used for the bound: its [`shrunken_pair`].
    ///
    /// # Errors
    /// As [`OutcomeDistribution::from_probabilities`].
    pub fn from_pilot(pilot: &PairedCounts) -> Result<Self> {
        let pair = shrunken_pair(pilot)?;
        Self::from_distributions(pair.dataset(), pair.neighbor())
    }

    /// The same guess with groups below the probability `least` joined to a neighbor in the order of the ratios.
    ///
    /// Always valid (data processing). A rare group with an extreme ratio makes the range of a k-cut large.
    #[must_use]
    pub fn merged(&self, least: f64) -> Self {
        let mut joined = vec![0; self.p.len()];
        let (mut group, mut mass) = (0usize, 0.0);
        for (joined, (p, q)) in joined.iter_mut().zip(self.p.iter().zip(&self.q)) {
            *joined = group;
            mass += 0.5 * (p + q);
            if mass >= least {
                (group, mass) = (group + 1, 0.0);
            }
        }
        // The remainder at the end belongs to the last complete group.
        let last = group.saturating_sub(1);
        joined.iter_mut().for_each(|group| *group = (*group).min(last));
        self.regrouped(&joined)
    }

    /// Number of outcomes.
    #[must_use]
    pub fn outcomes(&self) -> usize {
        self.group_of.len()
    }

    /// Number of groups of merged outcomes.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.p.len()
    }

    /// P₀ and Q₀ of the groups.
    pub(super) fn distributions(&self) -> [&[f64]; 2] {
        [&self.p, &self.q]
    }

    /// ln(P₀/Q₀) of the groups, in increasing order.
    pub(super) fn log_ratio(&self) -> &[f64] {
        &self.log_ratio
    }

    /// The outcomes of each group.
    pub(super) fn members(&self) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.groups()];
        self.group_of.iter().enumerate().for_each(|(outcome, &group)| members[group].push(outcome));
        members
    }

    /// Counts of the groups, under the dataset and under its neighbor.
    pub(super) fn grouped(&self, counts: &PairedCounts) -> Result<[Vec<u64>; 2]> {
        Error::check_size("counts", counts.outcomes(), self.outcomes(), " outcomes, as the reference distributions")?;
        Ok([counts.counts(), counts.counts_neighbor()].map(|world| {
            let mut sums = vec![0; self.groups()];
            for (&count, &group) in world.iter().zip(&self.group_of) {
                sums[group] += count;
            }
            sums
        }))
    }

    /// Equal ratios merged; beyond the largest number of groups also nearly equal ones, cut at the cells of the
    /// least-squares quantizer: at equal steps of ∫ (density)^{1/3} over the ratio (Panter and Dite 1951).
    fn compressed(&self) -> Self {
        let order = order::positions(self.p.len(), |a, b| self.log_ratio[a].total_cmp(&self.log_ratio[b]));
        let mut rank = vec![0; order.len()];
        order.iter().enumerate().for_each(|(position, &class)| rank[class] = position);
        let this = self.regrouped(&rank);
        let mut distinct = vec![0; this.p.len()];
        for class in 1..this.p.len() {
            distinct[class] = distinct[class - 1] + usize::from(this.log_ratio[class] > this.log_ratio[class - 1]);
        }
        let this = this.regrouped(&distinct);
        if this.p.len() <= MOST_GROUPS {
            return this;
        }
        let mass = |class: usize| 0.5 * (this.p[class] + this.q[class]);
        let mut length = vec![0.0; this.p.len()];
        for class in 1..this.p.len() {
            let (gap, mass) =
                (this.log_ratio[class] - this.log_ratio[class - 1], 0.5 * (mass(class) + mass(class - 1)));
            length[class] = length[class - 1] + mass.cbrt() * (gap * gap).cbrt();
        }
        let total = length[this.p.len() - 1];
        let cell = |length: f64| ((length / total * MOST_GROUPS as f64) as usize).min(MOST_GROUPS - 1);
        let cells: Vec<usize> = length.iter().map(|&length| cell(length)).collect();
        let mut group = 0;
        let joined: Vec<usize> = (0..cells.len())
            .map(|class| {
                group += usize::from(class > 0 && cells[class] > cells[class - 1]);
                group
            })
            .collect();
        this.regrouped(&joined)
    }

    /// Merges each group `c` into group `joined[c]`; the new groups are numbered without gaps.
    fn regrouped(&self, joined: &[usize]) -> Self {
        let groups = joined.iter().copied().max().map_or(0, |last| last + 1);
        let (mut p, mut q) = (vec![0.0; groups], vec![0.0; groups]);
        let mut only: Vec<Option<usize>> = vec![None; groups];
        let mut members = vec![0; groups];
        for (class, &group) in joined.iter().enumerate() {
            p[group] += self.p[class];
            q[group] += self.q[class];
            only[group] = Some(class);
            members[group] += 1;
        }
        let log_ratio = (0..groups)
            .map(|group| match only[group] {
                // The ratio of a group of one, or of equal ones, is known better than the quotient of its sums.
                Some(class) if members[group] == 1 || self.same_ratio(joined, group, class) => self.log_ratio[class],
                _ => bounded(p[group].ln() - q[group].ln()),
            })
            .collect();
        Self { group_of: self.group_of.iter().map(|&group| joined[group]).collect(), p, q, log_ratio }
    }

    fn same_ratio(&self, joined: &[usize], group: usize, class: usize) -> bool {
        joined.iter().zip(&self.log_ratio).all(|(&other, &ratio)| other != group || ratio == self.log_ratio[class])
    }
}

/// A logarithmic ratio within the range that samples can show; 0 if neither distribution has the outcome.
fn bounded(log_ratio: f64) -> f64 {
    if log_ratio.is_nan() { 0.0 } else { log_ratio.clamp(-MOST_LOG_RATIO, MOST_LOG_RATIO) }
}

/// The distributions suggested by noisy counts, for choices that cost nothing if they are wrong.
///
/// With frequencies p̂, q̂ of counts increased by ½, the ratio l = ln(p̂/q̂) of an outcome has the variance
/// v = 1/(x + ½) + 1/(y + ½) from chance alone. The variance t of the true ratios is the excess of the mean square of
/// l, weighted by frequency, over the mean of v; each l is shrunk to l t/(t + v) (empirical Bayes), and the
/// distributions keep the mean of p̂ and q̂.
///
/// # Errors
/// As [`OutcomeDistribution::from_probabilities`].
///
/// # Example
/// ```
/// # use leakbound::audit::shrunken_pair;
/// # use leakbound::counts::PairedCounts;
/// let counts = PairedCounts::new(vec!["a".into(), "b".into()], vec![52, 48], vec![50, 50])?;
/// let pair = shrunken_pair(&counts)?; // a difference that chance explains is nearly gone
/// assert!(pair.dataset().p()[0] - pair.neighbor().p()[0] < 0.002);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn shrunken_pair(pilot: &PairedCounts) -> Result<OutputPair> {
    let classes = pilot.outcomes() as f64;
    let worlds = [(pilot.counts(), pilot.trials()), (pilot.counts_neighbor(), pilot.trials_neighbor())];
    let [p, q] = worlds.map(|(counts, trials)| {
        let total = trials as f64 + 0.5 * classes;
        counts.iter().map(|&count| (count as f64 + 0.5) / total).collect::<Vec<f64>>()
    });
    let counts = || pilot.counts().iter().zip(pilot.counts_neighbor());
    let noise: Vec<f64> = counts().map(|(&x, &y)| 1.0 / (x as f64 + 0.5) + 1.0 / (y as f64 + 0.5)).collect();
    let mass: Vec<f64> = p.iter().zip(&q).map(|(p, q)| 0.5 * (p + q)).collect();
    let ratio: Vec<f64> = p.iter().zip(&q).map(|(p, q)| (p / q).ln()).collect();
    let seen: f64 = mass.iter().zip(&ratio).map(|(mass, ratio)| mass * ratio * ratio).sum();
    let chance: f64 = mass.iter().zip(&noise).map(|(mass, noise)| mass * noise).sum();
    let signal = (seen - chance).max(LEAST_SIGNAL * chance);
    let shrunk: Vec<f64> =
        ratio.iter().zip(&noise).map(|(ratio, noise)| bounded(ratio * signal / (signal + noise))).collect();
    let side = |sign: f64| {
        let p: Vec<f64> = mass.iter().zip(&shrunk).map(|(mass, l)| mass / (1.0 + libm::exp(-sign * l))).collect();
        let total: f64 = p.iter().sum();
        OutcomeDistribution::from_probabilities(&p.iter().map(|p| p / total).collect::<Vec<f64>>())
    };
    OutputPair::new(side(1.0)?, side(-1.0)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::renyi_divergence;
    use crate::quantity::Order;
    use proptest::prelude::*;

    fn distribution(weights: impl Iterator<Item = f64>) -> OutcomeDistribution {
        let weights: Vec<f64> = weights.collect();
        let total: f64 = weights.iter().sum();
        OutcomeDistribution::from_probabilities(&weights.iter().map(|weight| weight / total).collect::<Vec<_>>())
            .unwrap()
    }

    proptest! {
        /// Groups keep the mass, stay sorted, and lose at most a hundredth of the divergence.
        #[test]
        fn merging_keeps_mass_and_nearly_all_divergence(
            weights in prop::collection::vec((0.01f64..1.0, -0.3f64..0.3), 2..400), least in 0.0f64..0.3,
        ) {
            let q = distribution(weights.iter().map(|weight| weight.0));
            let p = distribution(weights.iter().map(|weight| weight.0 * weight.1.exp()));
            let reference = ReferenceDistributions::from_distributions(&p, &q).unwrap();
            prop_assert!(reference.groups() <= MOST_GROUPS.min(weights.len()));
            let divergence = |reference: &ReferenceDistributions| {
                let [p, q] = reference.distributions().map(|side| distribution(side.iter().copied()));
                renyi_divergence(&p, &q, Order::new(2.0).unwrap()).unwrap()
            };
            let exact = renyi_divergence(&p, &q, Order::new(2.0).unwrap()).unwrap();
            prop_assert!(divergence(&reference) >= 0.99 * exact, "{} {exact}", divergence(&reference));
            let merged = reference.merged(least);
            prop_assert!(divergence(&merged) <= exact * (1.0 + 1e-9));
            for reference in [&reference, &merged] {
                prop_assert!(reference.log_ratio().is_sorted());
                prop_assert!(reference.group_of.iter().all(|&group| group < reference.groups()));
                for side in reference.distributions() {
                    prop_assert!((side.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                }
            }
        }
    }

    /// Whatever the ratios, they are cut into nearly the largest number of groups allowed.
    #[test]
    fn close_ratios_are_cut_as_finely_as_others() {
        for scale in [1e-6, 1e-3, 3.0] {
            let weight = |class: u32| f64::from(1 + class % 7);
            let q = distribution((0..200).map(weight));
            let p = distribution((0..200).map(|class| weight(class) * (scale * f64::from(class) / 200.0).exp()));
            let groups = ReferenceDistributions::from_distributions(&p, &q).unwrap().groups();
            assert!((MOST_GROUPS / 2..=MOST_GROUPS).contains(&groups), "{scale}: {groups}");
        }
    }

    #[test]
    fn pilots_are_shrunk_by_their_noise() {
        let pilot = |scale: u64| {
            let labels = ["a", "b", "c"].map(String::from).to_vec();
            PairedCounts::new(
                labels,
                vec![50 * scale, 30 * scale, 20 * scale],
                vec![45 * scale, 33 * scale, 22 * scale],
            )
        };
        let ratio = |scale| ReferenceDistributions::from_pilot(&pilot(scale).unwrap()).unwrap().log_ratio()[2];
        // 0.105 = ln(50/45) once the noise is small; nothing like it with a hundred samples.
        assert!((ratio(1_000_000) - (50.0f64 / 45.0).ln()).abs() < 1e-3);
        assert!(ratio(1) < 0.02 && ratio(1) > 0.0);
    }

    #[test]
    fn impossible_outcomes_and_other_sizes() {
        let p = OutcomeDistribution::from_probabilities(&[0.5, 0.5, 0.0, 0.0]).unwrap();
        let q = OutcomeDistribution::from_probabilities(&[0.5, 0.0, 0.5, 0.0]).unwrap();
        let reference = ReferenceDistributions::from_distributions(&p, &q).unwrap();
        assert_eq!(reference.log_ratio(), [-MOST_LOG_RATIO, 0.0, MOST_LOG_RATIO]);
        let counts = PairedCounts::new(vec!["a".into()], vec![1], vec![1]).unwrap();
        assert!(reference.grouped(&counts).is_err());
    }
}
