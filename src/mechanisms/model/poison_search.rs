//! Private-kNN: the point added by an adversary who does not choose the queries.

use super::neighbor_sampling::NeighborSampling;
use crate::error::{Error, Result};
use crate::named::named;
use crate::special::CompensatedSum;
use ndarray::{ArrayView1, ArrayView2, Axis};
use serde::{Deserialize, Serialize};

/// Where the adversary Pois-NatQ looks for the point that it adds to a Private-kNN.
///
/// In each case, the point with the largest E(x) = Σ_q ν(r_q(x)), the expected number of queries it votes on, is taken
/// and given a wrong label. Written as `train`, `test` or `embedding`.
///
/// # References
/// Chadha et al. (2024), "Auditing Private Prediction", section 6 and appendix D.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PoisonSearch {
    /// Among the training points: one more copy of a point, with a wrong label.
    Train,
    /// Among test points that are not queried.
    Test,
    /// Anywhere in the feature space.
    Embedding,
}

named!(PoisonSearch, "search for the added point", [Train "train", Test "test", Embedding "embedding"]);

/// A candidate with the expected number of queries on which it votes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestCandidate {
    /// Its row among the ranks.
    pub candidate: usize,
    /// E(x), at most γ times the number of queries.
    pub expected_votes: f64,
}

/// The candidate with the largest E(x) = Σ_q ν(r_q(x)), the first one in a tie, among the rows of `ranks`, shape
/// (candidate, query), for which `allowed` holds; `None` if it holds for none.
///
/// # Errors
/// As [`NeighborSampling::inclusion`].
///
/// # Example
/// ```
/// # use leakbound::model::{NeighborSampling, best_candidate};
/// let ranks = ndarray::array![[1u64, 5000], [150, 180], [40, 9000]];
/// let best = best_candidate(&NeighborSampling::new(200, 0.2, 2000)?, ranks.view(), |_| true)?.unwrap();
/// assert_eq!((best.candidate, best.expected_votes), (1, 0.4));
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn best_candidate(
    sampling: &NeighborSampling,
    ranks: ArrayView2<'_, u64>,
    allowed: impl Fn(usize) -> bool,
) -> Result<Option<BestCandidate>> {
    let mut best: Option<BestCandidate> = None;
    for (candidate, ranks) in ranks.axis_iter(Axis(0)).enumerate().filter(|(candidate, _)| allowed(*candidate)) {
        let expected_votes = sampling.expected_votes(ranks.iter().copied())?;
        if best.is_none_or(|best| expected_votes > best.expected_votes) {
            best = Some(BestCandidate { candidate, expected_votes });
        }
    }
    Ok(best)
}

/// The misleading label of a point: the most common class other than its own where the point votes, that is, the one
/// with the largest Σ_q ν(r_q) P_q(c) over c ≠ `own`; the first one in a tie. If the point has no class, the most
/// common one is used as `own`, so the label is the second most common.
///
/// `inclusion` holds ν(r_q), one entry per query, `p` the distributions P_q of shape (query, class). With a single
/// class, that class is returned.
///
/// # Errors
/// [`Error::Length`] if there is no class, or a different number of distributions than of ν.
///
/// # Example
/// ```
/// # use leakbound::model::wrong_label;
/// // The point votes on the first query only, whose neighbors have the labels 2, 0 and 1 in this order.
/// let (inclusion, p) = (ndarray::array![0.2, 0.0], ndarray::array![[0.3, 0.1, 0.6], [0.0, 1.0, 0.0]]);
/// assert_eq!(wrong_label(inclusion.view(), p.view(), Some(2))?, 0);
/// assert_eq!(wrong_label(inclusion.view(), p.view(), Some(1))?, 2);
/// assert_eq!(wrong_label(inclusion.view(), p.view(), None)?, 0);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn wrong_label(inclusion: ArrayView1<'_, f64>, p: ArrayView2<'_, f64>, own: Option<usize>) -> Result<usize> {
    let expected = format_args!("{} distributions of at least 1 class", inclusion.len());
    let fits = p.ncols() > 0 && p.nrows() == inclusion.len();
    Error::check_length(fits, "list of label probabilities", p.nrows(), expected)?;
    let votes: Vec<f64> = p
        .columns()
        .into_iter()
        .map(|class| class.iter().zip(&inclusion).map(|(p, nu)| p * nu).collect::<CompensatedSum>().value())
        .collect();
    let largest = |but: Option<usize>| {
        let others = votes.iter().enumerate().filter(|(class, _)| Some(*class) != but);
        others.fold(None, |best: Option<(usize, f64)>, (class, &votes)| match best {
            Some((_, most)) if !(votes > most) => best,
            _ => Some((class, votes)),
        })
    };
    let own = own.or_else(|| largest(None).map(|(class, _)| class));
    Ok(largest(own).map_or(0, |(class, _)| class))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array1, Array2, array};

    #[test]
    fn only_allowed_candidates_are_taken_and_the_first_of_equals() {
        let sampling = NeighborSampling::new(2, 0.5, 60).unwrap();
        let ranks = array![[9u64, 9], [1, 2], [2, 1], [5, 1]];
        let best = |allowed: &dyn Fn(usize) -> bool| best_candidate(&sampling, ranks.view(), allowed).unwrap();
        assert_eq!(best(&|_| true), Some(BestCandidate { candidate: 1, expected_votes: 1.0 }));
        assert_eq!(best(&|row| row > 1).unwrap().candidate, 2);
        assert_eq!(best(&|_| false), None);
        assert!(best_candidate(&sampling, array![[0u64]].view(), |_| true).is_err());
    }

    #[test]
    fn a_single_class_has_no_wrong_label() {
        assert_eq!(wrong_label(array![0.1].view(), array![[1.0]].view(), Some(0)).unwrap(), 0);
        assert!(wrong_label(array![0.1].view(), Array2::zeros((1, 0)).view(), None).is_err());
        assert!(wrong_label(Array1::zeros(2).view(), array![[1.0]].view(), None).is_err());
    }
}
