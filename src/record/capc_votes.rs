//! Recorded votes of CaPC parties: repeated trainings of every party on its own data, and of the first party once a
//! point is added to its data.

use super::array_file::ArrayFile;
use super::fault::hinted;
use super::vote_arrays::{TwoWorlds, changed_array, histogram};
use crate::error::Result;
use crate::model::Adversary;
use ndarray::ArrayView2;
use serde::Serialize;

/// Votes of CaPC parties for every query of one adversary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CapcVotes {
    /// Number of parties k.
    pub parties: usize,
    /// Number of classes C.
    pub classes: usize,
    /// The queries, in the order of the file; at least one.
    pub queries: Vec<CapcQuery>,
}

/// The votes on one query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CapcQuery {
    /// The place of the query in `capc_votes`, counted from 0.
    pub position: usize,
    /// Its true class, if the file has it.
    pub label: Option<usize>,
    /// Number of repeated trainings of every party on its own data, one vote each.
    pub instantiations: usize,
    /// Votes under the dataset: a row per party with one entry per class.
    pub votes: Vec<Vec<u64>>,
    /// Votes per class of the first party trained with the changed point.
    pub votes_neighbor: Vec<u64>,
}

/// Reads the arrays and counts the votes.
pub(super) fn read(arrays: &mut ArrayFile, adversary: Adversary) -> Result<CapcVotes> {
    let name = |adversary| changed_array("capc", adversary);
    if arrays.has("capc_votes") && !arrays.has(&name(adversary)) {
        let expected = format!("the array `{}` of shape (query, training)", name(adversary));
        let others: Vec<&str> =
            Adversary::ALL.into_iter().filter(|other| arrays.has(&name(*other))).map(Adversary::name).collect();
        let recorded = if others.is_empty() { String::new() } else { format!("; recorded: {}", others.join(", ")) };
        let hint = format!("record votes of party 0 trained on its data and the changed point{recorded}");
        return Err(hinted(arrays.missing(expected), hint).into());
    }
    let worlds = TwoWorlds::read(arrays, "capc", adversary)?;
    let (instantiations, _, parties) = worlds.votes.dim();
    let classes = worlds.classes;
    // A histogram for each party on each query, and one for the changed party.
    worlds.take(arrays, "capc", parties + 1)?;
    let query = |(position, votes, votes_neighbor): (usize, ArrayView2<'_, u16>, Vec<u64>)| CapcQuery {
        position,
        label: worlds.label(position),
        instantiations,
        // A column holds all trainings of a party.
        votes: votes.columns().into_iter().map(|party| histogram(party, classes)).collect(),
        votes_neighbor,
    };
    Ok(CapcVotes { parties, classes, queries: worlds.queries().map(query).collect() })
}

#[cfg(test)]
mod tests {
    use super::super::test_arrays::{Named, npz};
    use super::*;
    use crate::record::votes_from_bytes;
    use ndarray::{Array1, Array2, Array3, array};

    fn read(arrays: &Named<'_>, adversary: Adversary) -> Result<CapcVotes> {
        votes_from_bytes("v.npz", npz(arrays))?.capc(adversary)
    }

    /// Two trainings of three parties on two queries.
    fn votes() -> Array3<u8> {
        array![[[0, 0, 1], [2, 2, 2]], [[0, 1, 1], [2, 2, 0]]]
    }

    #[test]
    fn a_column_is_a_party() {
        let arrays: &Named<'_> = &[
            ("capc_votes", &votes()),
            ("adv_query", &array![1i64]),
            ("capc_nat_advq", &array![[1i64, 2, 2]]),
            ("query_label", &array![0i32, 3]),
        ];
        let votes = read(arrays, Adversary::NatAdvq).unwrap();
        let query = CapcQuery {
            position: 1,
            label: Some(3),
            instantiations: 2,
            votes: vec![vec![0, 0, 2, 0], vec![0, 0, 2, 0], vec![1, 0, 1, 0]],
            votes_neighbor: vec![0, 1, 2, 0],
        };
        assert_eq!(votes, CapcVotes { parties: 3, classes: 4, queries: vec![query] });
    }

    #[test]
    fn what_is_missing_or_disagrees_is_named() {
        let message = |arrays: &Named<'_>, adversary| read(arrays, adversary).unwrap_err().to_string();
        let votes = votes();
        let advq = |rows: Array2<u8>, positions: Array1<i32>| {
            let arrays: &Named<'_> = &[("capc_votes", &votes), ("capc_pois_advq", &rows), ("adv_query", &positions)];
            message(arrays, Adversary::PoisAdvq)
        };
        let one = array![[1u8]];
        insta::assert_snapshot!(
            [
                message(&[("pate_votes", &votes)], Adversary::NatAdvq),
                message(&[("capc_votes", &votes)], Adversary::NatAdvq),
                message(
                    &[("capc_votes", &votes), ("capc_nat_advq", &one), ("capc_pois_advq", &one)],
                    Adversary::PoisNatq,
                ),
                message(&[("capc_votes", &votes), ("capc_pois_natq", &one)], Adversary::PoisNatq),
                message(&[("capc_votes", &array![[0u8, 1]])], Adversary::NatAdvq),
                advq(array![[0], [1]], array![0]),
                advq(array![[0]], array![2]),
            ]
            .join("\n"),
            @r"
            v.npz: whole file: found arrays `pate_votes`, expected the array `capc_votes`
            v.npz: whole file: found arrays `capc_votes`, expected the array `capc_nat_advq` of shape (query, training); hint: record votes of party 0 trained on its data and the changed point
            v.npz: whole file: found arrays `capc_votes`, `capc_nat_advq`, `capc_pois_advq`, expected the array `capc_pois_natq` of shape (query, training); hint: record votes of party 0 trained on its data and the changed point; recorded: nat-advq, pois-advq
            v.npz: array `capc_pois_natq`: found 1 row, expected 2 rows, one per query of `capc_votes`
            v.npz: whole file: found arrays `capc_votes`, expected the array `capc_nat_advq` of shape (query, training); hint: record votes of party 0 trained on its data and the changed point
            v.npz: array `capc_pois_advq`: found 2 rows, expected 1 row, one per entry of `adv_query`
            v.npz: array `adv_query`, index [0]: found `2`, expected a position from 0 to 1 of `capc_votes`
            "
        );
    }
}
