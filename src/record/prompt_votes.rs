//! Recorded votes of PromptPATE: a histogram of each query under each of two sets of prompts.

use super::array_file::ArrayFile;
use super::fault::several;
use super::vote_arrays::{histogram, histogram_bytes, labels, rows};
use crate::counts::MAX_COUNT;
use crate::error::Result;
use crate::histogram::{MAX_CLASSES, VoteHistogram};
use ndarray::{Array1, Array2};
use serde::Serialize;

/// Votes of PromptPATE teachers for every query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PromptPateVotes {
    /// Number of classes C.
    pub classes: usize,
    /// The queries, in the order of the file; at least one.
    pub queries: Vec<PromptPateQuery>,
}

/// The votes on one query in both worlds. The two histograms may be equal: the changed prompt then changed no vote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PromptPateQuery {
    /// The place of the query in the arrays, counted from 0.
    pub position: usize,
    /// Its true class, if the file has it.
    pub label: Option<usize>,
    /// Which neighbor its second histogram is of: queries with the same number share one.
    pub neighbor: u64,
    /// Votes per class under the dataset.
    pub histogram: VoteHistogram,
    /// Votes per class under its neighbor.
    pub histogram_neighbor: VoteHistogram,
}

/// Reads whichever of the two forms is there.
pub(super) fn read(arrays: &mut ArrayFile) -> Result<PromptPateVotes> {
    let voted = arrays.has("votes") || arrays.has("votes_prime");
    let counted = arrays.has("histogram") || arrays.has("histogram_prime");
    if voted == counted {
        let expected = "either `votes` and `votes_prime` or `histogram` and `histogram_prime`";
        return Err(arrays.missing(expected).into());
    }
    let names = if voted { ["votes", "votes_prime"] } else { ["histogram", "histogram_prime"] };
    let [first, second]: [Array2<u64>; 2] = if voted {
        count_votes(arrays, names)?
    } else {
        [read_histogram(arrays, names[0])?, read_histogram(arrays, names[1])?]
    };
    let (queries, classes) = first.dim();
    rows(arrays, names[1], second.nrows(), queries, format!("{} as in `{}`", several(queries, "row"), names[0]))?;
    if second.ncols() != classes {
        let found = format!("{} classes", second.ncols());
        return Err(arrays.at(names[1], found, format!("{classes} as in `{}`", names[0])).into());
    }
    let labels = labels(arrays, queries, names[0])?;
    if let Some(labels) = &labels {
        let expected = format!("a class from 0 to {}", classes - 1);
        arrays.check_each("query_label", labels, |label| usize::from(label) >= classes, &expected)?;
    }
    let neighbors = neighbors(arrays, queries, names[1])?;
    let queries = first.outer_iter().zip(second.outer_iter()).enumerate().map(|(position, (votes, changed))| {
        let (teachers, teachers_changed) = (votes.sum(), changed.sum());
        if teachers.abs_diff(teachers_changed) > 1 {
            let found = format!("{} on query {position}", several(teachers_changed as usize, "vote"));
            let expected = format!("{teachers} as in `{}`, or one more or less", names[0]);
            return Err(arrays.at(names[1], found, expected).into());
        }
        if teachers == 0 {
            return Err(arrays.at(names[0], format!("0 votes on query {position}"), "at least 1 vote").into());
        }
        Ok(PromptPateQuery {
            position,
            label: labels.as_ref().map(|labels| usize::from(labels[position])),
            neighbor: neighbors.as_ref().map_or(0, |neighbors| neighbors[position]),
            histogram: VoteHistogram::new(votes.to_vec())?,
            histogram_neighbor: VoteHistogram::new(changed.to_vec())?,
        })
    });
    Ok(PromptPateVotes { classes, queries: queries.collect::<Result<_>>()? })
}

/// The neighbor of each query, if the file has it; otherwise all queries have the same one.
fn neighbors(arrays: &mut ArrayFile, queries: usize, like: &str) -> Result<Option<Array1<u64>>> {
    if !arrays.has("neighbor") {
        return Ok(None);
    }
    let neighbors: Array1<u64> = arrays.whole_numbers("neighbor")?;
    rows(arrays, "neighbor", neighbors.len(), queries, format!("{} as in `{like}`", several(queries, "row")))?;
    Ok(Some(neighbors))
}

/// Histograms of both worlds over the classes that occur in either or in the labels.
fn count_votes(arrays: &mut ArrayFile, names: [&str; 2]) -> Result<[Array2<u64>; 2]> {
    let votes: [Array2<u16>; 2] = [arrays.classes(names[0])?, arrays.classes(names[1])?];
    let labels = labels(arrays, votes[0].nrows(), names[0])?;
    let occurring = votes.iter().flatten().chain(labels.iter().flatten());
    let classes = 1 + usize::from(occurring.copied().max().unwrap_or(0));
    for (votes, name) in votes.iter().zip(names) {
        // As an array, and then query by query.
        arrays.take(name, votes.nrows() as u64, 2 * histogram_bytes(classes as u64))?;
    }
    Ok(votes.map(|votes| {
        let mut histograms = Array2::zeros((votes.nrows(), classes));
        for (mut row, votes) in histograms.outer_iter_mut().zip(votes.outer_iter()) {
            row.assign(&ndarray::Array1::from(histogram(votes, classes)));
        }
        histograms
    }))
}

fn read_histogram(arrays: &mut ArrayFile, name: &str) -> Result<Array2<u64>> {
    if let [queries, classes] = arrays.shape(name)?[..] {
        if classes > MAX_CLASSES as u64 {
            let found = format!("{classes} classes");
            return Err(arrays.at(name, found, format!("at most {MAX_CLASSES} classes")).into());
        }
        arrays.take(name, queries, histogram_bytes(classes))?;
    }
    let histogram: Array2<u64> = arrays.whole_numbers(name)?;
    // Ten thousand classes of this size still sum without overflow.
    let expected = "a whole number from 0 to 2^49";
    arrays.check_each(name, &histogram, |votes| votes > MAX_COUNT >> 4, expected)?;
    Ok(histogram)
}

#[cfg(test)]
mod tests {
    use super::super::test_arrays::{AnyArray, Named, npz};
    use super::*;
    use crate::record::votes_from_bytes;
    use ndarray::{Array, array};
    use ndarray_npy::WritableElement;

    fn read_arrays(arrays: &Named<'_>) -> Result<PromptPateVotes> {
        votes_from_bytes("v.npz", npz(arrays))?.prompt_pate()
    }

    fn read<A: WritableElement>(names: [&str; 2], first: Array2<A>, second: Array2<A>) -> Result<PromptPateVotes> {
        read_arrays(&[(names[0], &first), (names[1], &second)])
    }

    const VOTES: [&str; 2] = ["votes", "votes_prime"];
    const HISTOGRAMS: [&str; 2] = ["histogram", "histogram_prime"];

    #[test]
    fn both_forms_give_the_same_histograms() {
        let voted = read(VOTES, array![[0u8, 2, 2], [1, 1, 1]], array![[0, 0, 2], [1, 1, 1]]).unwrap();
        let counted = read(HISTOGRAMS, array![[1i64, 0, 2], [0, 3, 0]], array![[2, 0, 1], [0, 3, 0]]).unwrap();
        assert_eq!(voted, counted);
        assert_eq!(voted.classes, 3);
        assert_eq!(voted.queries[0].histogram_neighbor.counts(), [2, 0, 1]);
    }

    #[test]
    fn a_label_without_votes_is_a_class() {
        let labels = array![3u8];
        let labeled = |names: [&str; 2], first: &dyn AnyArray, second: &dyn AnyArray| {
            read_arrays(&[(names[0], first), (names[1], second), ("query_label", &labels)])
        };
        let voted = labeled(VOTES, &array![[0u8, 1]], &array![[0u8, 0]]).unwrap();
        assert_eq!((voted.classes, voted.queries[0].label), (4, Some(3)));
        let error = labeled(HISTOGRAMS, &array![[1u16, 1]], &array![[2u16, 0]]).unwrap_err();
        assert_eq!(error.to_string(), "v.npz: array `query_label`, index [0]: found `3`, expected a class from 0 to 1");
    }

    #[test]
    fn queries_may_have_neighbors_of_their_own() {
        let read = |neighbors: &[i32]| {
            read_arrays(&[
                ("votes", &array![[0u8, 1], [1, 1]]),
                ("votes_prime", &array![[1u8, 1], [1, 0]]),
                ("neighbor", &Array1::from(neighbors.to_vec())),
            ])
        };
        let neighbors: Vec<u64> = read(&[4, 9]).unwrap().queries.iter().map(|query| query.neighbor).collect();
        assert_eq!(neighbors, [4, 9]);
        let message = |neighbors: &[i32]| read(neighbors).unwrap_err().to_string();
        assert_eq!(message(&[0]), "v.npz: array `neighbor`: found 1 row, expected 2 rows as in `votes_prime`");
        assert!(message(&[0, -1]).contains("array `neighbor`, index [1]: found `-1`"), "{}", message(&[0, -1]));
    }

    #[test]
    fn worlds_that_are_no_neighbors_are_named() {
        let message = |result: Result<PromptPateVotes>| result.unwrap_err().to_string();
        let wide: Array2<u8> = Array::zeros((1, MAX_CLASSES + 1));
        insta::assert_snapshot!(
            [
                message(read(VOTES, array![[0u8, 1]], array![[0, 1], [1, 1]])),
                message(read(VOTES, array![[0u8, 1, 1]], array![[0]])),
                message(read(HISTOGRAMS, array![[1u32, 1]], array![[1, 1, 0]])),
                message(read(HISTOGRAMS, array![[1u64, 1]], array![[5, 1]])),
                message(read(HISTOGRAMS, array![[1i32, -1]], array![[1, 1]])),
                message(read(HISTOGRAMS, array![[1u64, u64::MAX]], array![[1, 1]])),
                message(read(HISTOGRAMS, array![[1.0f32]], array![[1.0]])),
                message(read(HISTOGRAMS, array![[0u8, 0]], array![[0, 1]])),
                message(read(HISTOGRAMS, wide.clone(), wide)),
                message(read(["votes", "histogram_prime"], array![[1u8]], array![[1]])),
                message(read(["votes", "other"], array![[1u8]], array![[1]])),
            ]
            .join("\n"),
            @r"
            v.npz: array `votes_prime`: found 2 rows, expected 1 row as in `votes`
            v.npz: array `votes_prime`: found 1 vote on query 0, expected 3 as in `votes`, or one more or less
            v.npz: array `histogram_prime`: found 3 classes, expected 2 as in `histogram`
            v.npz: array `histogram_prime`: found 6 votes on query 0, expected 2 as in `histogram`, or one more or less
            v.npz: array `histogram`, index [0, 1]: found `-1`, expected a whole number of at least 0
            v.npz: array `histogram`, index [0, 1]: found `18446744073709551615`, expected a whole number from 0 to 2^49
            v.npz: array `histogram`: found dtype `f32`, expected an integer dtype; hint: numpy converts with .astype(numpy.int64)
            v.npz: array `histogram`: found 0 votes on query 0, expected at least 1 vote
            v.npz: array `histogram`: found 10001 classes, expected at most 10000 classes
            v.npz: whole file: found arrays `votes`, `histogram_prime`, expected either `votes` and `votes_prime` or `histogram` and `histogram_prime`
            v.npz: whole file: found arrays `votes`, `other`, expected the array `votes_prime`
            "
        );
    }
}
