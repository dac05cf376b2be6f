//! Recorded votes of PATE teachers: many instantiations of the dataset's world, votes of retrained teachers of the
//! neighbor's.

use super::array_file::ArrayFile;
use super::vote_arrays::{TwoWorlds, histogram};
use crate::error::Result;
use crate::model::Adversary;
use ndarray::ArrayView2;
use serde::Serialize;

/// Votes of PATE teachers for every query of one adversary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PateVotes {
    /// Number of teachers k of one instantiation.
    pub teachers: usize,
    /// Number of classes C.
    pub classes: usize,
    /// The queries, in the order of the file; at least one.
    pub queries: Vec<PateQuery>,
}

/// The votes on one query; every list of votes has one entry per class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PateQuery {
    /// The place of the query in `pate_votes`, counted from 0.
    pub position: usize,
    /// Its true class, if the file has it.
    pub label: Option<usize>,
    /// Number of instantiations: independent draws of the partition and the training, k votes each.
    pub instantiations: usize,
    /// Votes under the dataset, all instantiations together.
    pub votes: Vec<u64>,
    /// Votes under the dataset, per instantiation.
    pub histograms: Vec<Vec<u64>>,
    /// Votes of the teachers trained with the changed point: samples of one teacher's vote under the neighbor.
    pub votes_neighbor: Vec<u64>,
}

/// Reads the arrays and counts the votes.
pub(super) fn read(arrays: &mut ArrayFile, adversary: Adversary) -> Result<PateVotes> {
    let worlds = TwoWorlds::read(arrays, "pate", adversary)?;
    let (instantiations, _, teachers) = worlds.votes.dim();
    let classes = worlds.classes;
    // A histogram for each instantiation of each query, and two for the query.
    worlds.take(arrays, "pate", instantiations + 2)?;
    let query = |(position, votes, votes_neighbor): (usize, ArrayView2<'_, u16>, Vec<u64>)| {
        let histograms: Vec<Vec<u64>> = votes.outer_iter().map(|votes| histogram(votes, classes)).collect();
        PateQuery {
            position,
            label: worlds.label(position),
            instantiations,
            votes: (0..classes).map(|class| histograms.iter().map(|histogram| histogram[class]).sum()).collect(),
            histograms,
            votes_neighbor,
        }
    };
    Ok(PateVotes { teachers, classes, queries: worlds.queries().map(query).collect() })
}

#[cfg(test)]
mod tests {
    use super::super::test_arrays::{Named, npz};
    use super::*;
    use crate::record::votes_from_bytes;
    use ndarray::{Array1, Array2, Array3, array};

    fn read(arrays: &Named<'_>, adversary: Adversary) -> Result<PateVotes> {
        votes_from_bytes("v.npz", npz(arrays))?.pate(adversary)
    }

    fn two_instantiations() -> Array3<u8> {
        array![[[0, 0, 1], [2, 2, 2]], [[0, 1, 1], [2, 2, 0]]]
    }

    #[test]
    fn votes_are_counted_per_query() {
        let arrays: &Named<'_> = &[
            ("pate_votes", &two_instantiations()),
            ("adv_query", &array![1i64]),
            ("pate_nat_advq", &array![[3i64, 3, 2, 2, 2]]),
            ("query_label", &array![0i32, 4]),
        ];
        let votes = read(arrays, Adversary::NatAdvq).unwrap();
        let query = PateQuery {
            position: 1,
            label: Some(4),
            instantiations: 2,
            votes: vec![1, 0, 5, 0, 0],
            histograms: vec![vec![0, 0, 3, 0, 0], vec![1, 0, 2, 0, 0]],
            votes_neighbor: vec![0, 0, 3, 2, 0],
        };
        assert_eq!(votes, PateVotes { teachers: 3, classes: 5, queries: vec![query] });
    }

    #[test]
    fn arrays_that_disagree_are_named() {
        let message = |arrays: &Named<'_>, adversary| read(arrays, adversary).unwrap_err().to_string();
        let votes = two_instantiations();
        let natural =
            |rows: Array2<i64>| message(&[("pate_votes", &votes), ("pate_pois_natq", &rows)], Adversary::PoisNatq);
        let adversarial = |positions: Array1<i32>| {
            let rows = array![[0u8], [1]];
            let arrays: &Named<'_> = &[("pate_votes", &votes), ("pate_pois_advq", &rows), ("adv_query", &positions)];
            message(arrays, Adversary::PoisAdvq)
        };
        insta::assert_snapshot!(
            [
                natural(array![[1]]),
                adversarial(array![0]),
                adversarial(array![0, 2]),
                adversarial(array![-1, 0]),
                adversarial(array![1, 1]),
                natural(array![[1, 2], [10_000, 0]]),
            ]
            .join("\n"),
            @r"
            v.npz: array `pate_pois_natq`: found 1 row, expected 2 rows, one per query of `pate_votes`
            v.npz: array `pate_pois_advq`: found 2 rows, expected 1 row, one per entry of `adv_query`
            v.npz: array `adv_query`, index [1]: found `2`, expected a position from 0 to 1 of `pate_votes`
            v.npz: array `adv_query`, index [0]: found `-1`, expected a whole number of at least 0
            v.npz: array `adv_query`, index [1]: found `1` a second time, expected each query once
            v.npz: array `pate_pois_natq`, index [1, 0]: found `10000`, expected a class from 0 to 9999
            "
        );
    }
}
