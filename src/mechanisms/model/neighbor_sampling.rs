//! Private-kNN: from ranked labels of the nearest training points to the model of their votes.

use super::pate::check_voters;
use super::private_knn::PrivateKnnModel;
use crate::error::{Error, Result};
use crate::histogram::MAX_CLASSES;
use crate::special::{CompensatedSum, binomial_tails, log_binomial_pmf};

/// The training points that vote on a query: the k nearest to it within a Poisson subsample, which contains every
/// training point with probability γ, independently.
///
/// Let r = 1, 2, .. be the rank of a training point by its distance from the query. It is among the k nearest of the
/// subsample if it is in the subsample and fewer than k of the r - 1 nearer points are, and it is the k-th if exactly
/// k - 1 of them are:
/// ```text
/// ν(r) = γ P(Bin(r-1, γ) ≤ k-1),    λ(r) = γ P(Bin(r-1, γ) = k-1).
/// ```
/// For r ≤ k this is ν = γ. λ is the distribution of a waiting time T (negative binomial), and ν(r) = γ P(T ≥ r). The
/// label of a member of the k drawn at random, and that of the k-th, have the distributions
/// ```text
/// P_q(c) ∝ Σ_{r: y_r = c} ν(r),    P^k_q(c) ∝ Σ_{r: y_r = c} λ(r).
/// ```
///
/// Only some of the nearest training points are recorded. The k nearest are all among the first R, except with
/// probability P(T > R) = P(Bin(R, γ) < k); a fit for which this exceeds 1e-9 is rejected.
///
/// # Example
/// ```
/// # use leakbound::model::NeighborSampling;
/// let sampling = NeighborSampling::new(200, 0.2, 2000)?;
/// assert_eq!(sampling.inclusion(200)?, 0.2);
/// assert!((sampling.inclusion(1000)? - 0.2 * 0.495).abs() < 0.01); // 999 nearer points, 199.8 of them expected
/// assert!(sampling.beyond() < 1e-30);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Chadha et al. (2024), "Auditing Private Prediction", section 6; Zhu et al. (2020), "Private-kNN".
#[derive(Debug, Clone, PartialEq)]
pub struct NeighborSampling {
    k: u64,
    rate: f64,
    /// ν(r) at index r - 1.
    inclusion: Vec<f64>,
    /// λ(r) at index r - 1.
    last: Vec<f64>,
    /// P(T > R).
    beyond: f64,
}

/// The distributions of the labels of the neighbors of one query.
#[derive(Debug, Clone, PartialEq)]
pub struct NeighborDistributions {
    /// P_q: the distribution of the label of a neighbor drawn at random from the k, one entry per class.
    pub p: Vec<f64>,
    /// P^k_q: the distribution of the label of the k-th neighbor, one entry per class.
    pub p_last: Vec<f64>,
}

/// The largest number of ranks with a table.
const MAX_RANKS: usize = 1 << 24;
/// The largest probability that the recorded ranks may leave out.
const MAX_BEYOND: f64 = 1e-9;

impl NeighborSampling {
    /// The k nearest of a subsample of rate γ, with tables for the first `ranks` training points.
    ///
    /// # Errors
    /// [`Error::Domain`] for a k outside [1, 2^53] and a γ outside (0, 1], NaN included; [`Error::Length`] for no rank
    /// or more than 2^24.
    pub fn new(k: u64, rate: f64, ranks: usize) -> Result<Self> {
        check_voters(k)?;
        Error::check_domain(rate > 0.0 && rate <= 1.0, "subsampling rate", rate, "(0, 1]")?;
        Error::check_length((1..=MAX_RANKS).contains(&ranks), "list of neighbors", ranks, "1 to 2^24 ranks")?;
        let last: Vec<f64> =
            (1..=ranks as u64).map(|rank| rate * libm::exp(log_binomial_pmf(k - 1, rank - 1, rate))).collect();
        let (_, beyond) = binomial_tails(k, ranks as u64, rate)?;
        // From the far end: terms that add up to a tail are positive, and a tail is never a difference.
        let mut inclusion = vec![0.0; ranks];
        let mut tail = CompensatedSum::default();
        tail.add(beyond);
        for (inclusion, last) in inclusion.iter_mut().zip(&last).rev() {
            tail.add(*last);
            *inclusion = rate * tail.value().min(1.0);
        }
        let certain = inclusion.len().min(usize::try_from(k).unwrap_or(usize::MAX));
        inclusion[..certain].fill(rate);
        Ok(Self { k, rate, inclusion, last, beyond })
    }

    /// Number of neighbors k that vote.
    #[must_use]
    pub const fn neighbors(&self) -> u64 {
        self.k
    }

    /// The subsampling rate γ.
    #[must_use]
    pub const fn rate(&self) -> f64 {
        self.rate
    }

    /// Number of ranks R with a table.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.inclusion.len()
    }

    /// P(T > R): the probability that not all of the k neighbors are among the first R training points.
    #[must_use]
    pub const fn beyond(&self) -> f64 {
        self.beyond
    }

    /// ν(r): the probability that the training point of rank r, or a point added there, is among the k nearest of the
    /// subsample. Relative error about 1e-13, even if it is tiny.
    ///
    /// # Errors
    /// [`Error::Domain`] for rank 0, since the nearest has rank 1; [`Error::NoConvergence`] only for ranks near 2^53.
    pub fn inclusion(&self, rank: u64) -> Result<f64> {
        let Some(before) = rank.checked_sub(1) else {
            return Err(Error::Domain { quantity: "rank of a neighbor", value: 0.0, domain: "[1, 2^64)" });
        };
        match usize::try_from(before).ok().and_then(|index| self.inclusion.get(index)) {
            Some(&inclusion) => Ok(inclusion),
            None => Ok(self.rate * binomial_tails(self.k, before, self.rate)?.1),
        }
    }

    /// E(x) = Σ_q ν(r_q): the expected number of queries a point votes on, from its rank on each.
    ///
    /// # Errors
    /// As [`NeighborSampling::inclusion`].
    pub fn expected_votes(&self, ranks: impl IntoIterator<Item = u64>) -> Result<f64> {
        let mut sum = CompensatedSum::default();
        for rank in ranks {
            sum.add(self.inclusion(rank)?);
        }
        Ok(sum.value())
    }

    /// P_q and P^k_q from the labels of the nearest training points, nearest first. Labels beyond the table are not
    /// used; the missing probability, at most 1e-9, is distributed proportionally.
    ///
    /// # Errors
    /// [`Error::Rejected`] if the labels leave out more than 1e-9 of P^k_q; [`Error::Domain`] for a label that is not a
    /// class; [`Error::Length`] unless there are 1 to 10,000 classes.
    pub fn distributions(&self, labels: &[usize], classes: usize) -> Result<NeighborDistributions> {
        let expected = format_args!("1 to {MAX_CLASSES} classes");
        let fits = (1..=MAX_CLASSES).contains(&classes);
        Error::check_length(fits, "label probabilities of the neighbors", classes, expected)?;
        let ranks = labels.len().min(self.ranks());
        let beyond =
            if ranks == self.ranks() { self.beyond } else { binomial_tails(self.k, ranks as u64, self.rate)?.1 };
        let reason = format_args!(
            "with probability {} the {} neighbors at rate {} are not all among the {ranks} recorded; \
                     at most 1e-9 is allowed, so record more neighbors of each query",
            if beyond > 0.01 { format!("{beyond:.2}") } else { format!("{beyond:.1e}") },
            self.k,
            self.rate
        );
        Error::check_possible(beyond <= MAX_BEYOND, "fit of Private-kNN", reason)?;
        let mut distributions = [vec![CompensatedSum::default(); classes], vec![CompensatedSum::default(); classes]];
        for ((&label, &inclusion), &last) in labels.iter().zip(&self.inclusion).zip(&self.last) {
            Error::check_domain(label < classes, "label of a neighbor", label as f64, "[0, classes - 1]")?;
            distributions[0][label].add(inclusion);
            distributions[1][label].add(last);
        }
        let [p, p_last] = distributions.map(|sums| {
            let total: f64 = sums.iter().map(|sum| sum.value()).sum();
            sums.iter().map(|sum| sum.value() / total).collect()
        });
        Ok(NeighborDistributions { p, p_last })
    }

    /// The model of a query whose neighbors have these labels, when a point of label y' is added at a rank.
    ///
    /// # Errors
    /// As [`NeighborSampling::distributions`], [`NeighborSampling::inclusion`] and [`PrivateKnnModel::new`].
    pub fn fit(&self, labels: &[usize], classes: usize, rank: u64, label: usize) -> Result<PrivateKnnModel> {
        let distributions = self.distributions(labels, classes)?;
        PrivateKnnModel::new(self.k, &distributions.p, &distributions.p_last, self.inclusion(rank)?, label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every subsample of nine points, weighted by its probability: the k nearest, and the k-th.
    #[test]
    fn distributions_are_those_of_all_subsamples() {
        let labels = [0usize, 2, 1, 1, 0, 2, 2, 0, 1];
        for (k, rate) in [(1u64, 0.9f64), (2, 0.95), (3, 0.97)] {
            let sampling = NeighborSampling::new(k, rate, labels.len()).unwrap();
            let (mut inclusion, mut last, mut short) = ([0.0; 9], [0.0; 9], 0.0);
            for subset in 0u32..1 << labels.len() {
                let size = subset.count_ones() as i32;
                let weight = rate.powi(size) * (1.0 - rate).powi(labels.len() as i32 - size);
                let members = (0..labels.len()).filter(|rank| subset >> rank & 1 == 1).take(k as usize);
                for (place, rank) in members.clone().enumerate() {
                    inclusion[rank] += weight;
                    if place + 1 == k as usize {
                        last[rank] += weight;
                    }
                }
                short += if members.count() < k as usize { weight } else { 0.0 };
            }
            for rank in 0..labels.len() {
                assert!((sampling.inclusion(rank as u64 + 1).unwrap() - inclusion[rank]).abs() < 1e-14);
                assert!((sampling.last[rank] - last[rank]).abs() < 1e-14);
            }
            assert!((sampling.beyond() - short).abs() < 1e-14);
        }
    }

    /// With rate 1, the k nearest always vote.
    #[test]
    fn without_subsampling_the_first_k_vote() {
        let sampling = NeighborSampling::new(3, 1.0, 5).unwrap();
        let distributions = sampling.distributions(&[1, 1, 0, 2, 2], 3).unwrap();
        assert_eq!(
            distributions,
            NeighborDistributions { p: vec![1.0 / 3.0, 2.0 / 3.0, 0.0], p_last: vec![1.0, 0.0, 0.0] }
        );
        assert_eq!((sampling.inclusion(3).unwrap(), sampling.inclusion(4).unwrap()), (1.0, 0.0));
    }

    /// The published sum, term by term, and the table against the tail function beyond it.
    #[test]
    fn inclusion_is_the_published_sum() {
        let (k, rate) = (20u64, 0.15);
        let [short, long] = [10usize, 900].map(|ranks| NeighborSampling::new(k, rate, ranks).unwrap());
        for rank in [1u64, 19, 20, 21, 22, 100, 134, 200, 400, 880] {
            let sum: f64 = (0..k)
                .filter(|i| *i < rank)
                .map(|i| {
                    let choose: f64 = (0..i).map(|j| (rank - 1 - j) as f64 / (i - j) as f64).product();
                    choose * rate.powi(i as i32 + 1) * (1.0 - rate).powi((rank - i) as i32 - 1)
                })
                .sum();
            for sampling in [&short, &long] {
                let value = sampling.inclusion(rank).unwrap();
                assert!((value / sum - 1.0).abs() < 1e-12, "{rank}: {value} {sum}");
            }
        }
        let votes = long.expected_votes([1, 20, 880]).unwrap();
        assert!((votes - 0.3).abs() < 1e-15, "{votes}");
    }

    #[test]
    fn every_fault_is_named() {
        let message = |error: Option<Error>| error.map_or_else(|| "accepted".into(), |error| error.to_string());
        let sampling = NeighborSampling::new(200, 0.2, 1500).unwrap();
        insta::assert_snapshot!(
            [
                message(NeighborSampling::new(0, 0.2, 10).err()),
                message(NeighborSampling::new(3, 0.0, 10).err()),
                message(NeighborSampling::new(3, f64::NAN, 10).err()),
                message(NeighborSampling::new(3, 0.5, 0).err()),
                message(sampling.inclusion(0).err()),
                message(sampling.distributions(&[0; 1500], 1).err()),
                message(sampling.distributions(&[0; 1200], 1).err()),
                message(sampling.distributions(&[3; 1500], 3).err()),
                message(sampling.distributions(&[3; 1500], 0).err()),
                message(sampling.distributions(&[], 1).err()),
            ]
            .join("\n"),
            @r"
            number of voters = 0 is not in [1, 2^53]
            subsampling rate = 0 is not in (0, 1]
            subsampling rate = NaN is not in (0, 1]
            list of neighbors has length 0; expected 1 to 2^24 ranks
            rank of a neighbor = 0 is not in [1, 2^64)
            accepted
            fit of Private-kNN: with probability 1.4e-3 the 200 neighbors at rate 0.2 are not all among the 1200 recorded; at most 1e-9 is allowed, so record more neighbors of each query
            label of a neighbor = 3 is not in [0, classes - 1]
            label probabilities of the neighbors has length 0; expected 1 to 10000 classes
            fit of Private-kNN: with probability 1.00 the 200 neighbors at rate 0.2 are not all among the 0 recorded; at most 1e-9 is allowed, so record more neighbors of each query
            "
        );
    }
}
