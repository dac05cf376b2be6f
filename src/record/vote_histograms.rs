//! Recorded votes of one world: what an accountant needs of a recording.

use super::array_file::ArrayFile;
use super::fault::several;
use super::vote_arrays::{histogram, histogram_bytes, labels};
use crate::counts::MAX_COUNT;
use crate::error::Result;
use crate::histogram::{MAX_CLASSES, VoteHistogram};
use ndarray::{Array2, Array3, Axis};
use serde::Serialize;

/// The votes on every query of a recording, as they were cast.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VoteHistograms {
    /// The array that was read.
    pub array: &'static str,
    /// Number of classes C.
    pub classes: usize,
    /// How many instantiations the array holds; 1 if it has no such axis.
    pub instantiations: usize,
    /// The queries, in the order of the file; at least one.
    pub queries: Vec<RecordedQuery>,
}

/// The votes on one query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordedQuery {
    /// The place of the query in the array, counted from 0.
    pub position: usize,
    /// Its true class, if the file has it.
    pub label: Option<usize>,
    /// Votes per class.
    pub histogram: VoteHistogram,
    /// The class that each teacher or party voted for, if the array has it; otherwise empty.
    #[serde(skip)]
    pub votes: Vec<u16>,
}

/// Reads the first of the arrays `pate_votes`, `capc_votes`, `votes` and `histogram` that is there.
pub(super) fn read(arrays: &mut ArrayFile, instantiation: usize) -> Result<VoteHistograms> {
    const NAMES: [&str; 4] = ["pate_votes", "capc_votes", "votes", "histogram"];
    let Some(array) = NAMES.into_iter().find(|name| arrays.has(name)) else {
        let expected = "one of `pate_votes`, `capc_votes`, `votes` and `histogram`";
        return Err(arrays.missing(expected).into());
    };
    let mut instantiations = 1;
    let mut counts: Vec<Vec<u64>> = Vec::new();
    let mut voters: Vec<Vec<u16>> = Vec::new();
    let mut classes;
    if array == "histogram" {
        if let [queries, classes] = arrays.shape(array)?[..] {
            if classes > MAX_CLASSES as u64 {
                let expected = format!("1 to {MAX_CLASSES} classes");
                return Err(arrays.at(array, format!("{classes} classes"), expected).into());
            }
            arrays.take(array, queries, histogram_bytes(classes))?;
        }
        let votes: Array2<u64> = arrays.whole_numbers(array)?;
        classes = votes.ncols();
        let most = "a whole number from 0 to 2^53";
        arrays.check_each(array, &votes, |count| count > MAX_COUNT, most)?;
        counts.extend(votes.outer_iter().map(|row| row.to_vec()));
    } else {
        let votes: Array2<u16> = if array == "votes" {
            arrays.classes(array)?
        } else {
            let votes: Array3<u16> = arrays.classes(array)?;
            instantiations = votes.len_of(Axis(0));
            if instantiation >= instantiations {
                let expected = format!("more than {}", several(instantiation, "instantiation"));
                return Err(arrays.at(array, several(instantiations, "instantiation"), expected).into());
            }
            votes.index_axis(Axis(0), instantiation).to_owned()
        };
        classes = 1 + usize::from(votes.iter().copied().max().unwrap_or(0));
        arrays.take(array, votes.nrows() as u64, histogram_bytes(classes as u64))?;
        counts.extend(votes.outer_iter().map(|row| histogram(row, classes)));
        voters.extend(votes.outer_iter().map(|row| row.to_vec()));
    }
    let labels = labels(arrays, counts.len(), array)?;
    if let Some(labels) = &labels {
        // A class that nobody voted for is a class all the same.
        let largest = 1 + usize::from(labels.iter().copied().max().unwrap_or(0));
        if array == "histogram" {
            let expected = format!("a class from 0 to {}", classes - 1);
            arrays.check_each("query_label", labels, |label| usize::from(label) >= classes, &expected)?;
        } else if largest > classes {
            classes = largest;
            counts.iter_mut().for_each(|row| row.resize(classes, 0));
        }
    }
    let queries = counts
        .into_iter()
        .enumerate()
        .map(|(position, counts)| {
            let label = labels.as_ref().map(|labels| usize::from(labels[position]));
            let votes = voters.get_mut(position).map(std::mem::take).unwrap_or_default();
            Ok(RecordedQuery { position, label, histogram: VoteHistogram::new(counts)?, votes })
        })
        .collect::<Result<_>>()?;
    Ok(VoteHistograms { array, classes, instantiations, queries })
}

#[cfg(test)]
mod tests {
    use super::super::test_arrays::{AnyArray, Named, npz};
    use super::*;
    use crate::record::votes_from_bytes;
    use ndarray::array;

    fn read(arrays: &Named<'_>, instantiation: usize) -> Result<VoteHistograms> {
        votes_from_bytes("v.npz", npz(arrays))?.histograms(instantiation)
    }

    #[test]
    fn the_three_forms_give_the_same_histograms() {
        let labels = array![3u8, 1];
        let of = |name: &str, votes: &dyn AnyArray, instantiation| {
            read(&[(name, votes), ("query_label", &labels)], instantiation).unwrap()
        };
        let three = of("pate_votes", &array![[[2u8, 2, 2], [0, 0, 0]], [[0, 0, 1], [1, 1, 0]]], 1);
        let two = of("votes", &array![[0u8, 0, 1], [1, 1, 0]], 0);
        let one = of("histogram", &array![[2i64, 1, 0, 0], [1, 2, 0, 0]], 0);
        assert_eq!((three.instantiations, &three.queries), (2, &two.queries));
        // Counts alone do not show who voted for what.
        let counted = |query: &RecordedQuery| RecordedQuery { votes: Vec::new(), ..query.clone() };
        assert_eq!(two.queries[0].votes, [0, 0, 1]);
        let counted: Vec<RecordedQuery> = two.queries.iter().map(counted).collect();
        assert_eq!((one.instantiations, one.classes, &one.queries), (1, 4, &counted));
        assert_eq!(one.queries[0].histogram.counts(), [2, 1, 0, 0]);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let message = |arrays: &Named<'_>, instantiation| read(arrays, instantiation).unwrap_err().to_string();
        insta::assert_snapshot!(
            [
                message(&[("pate_votes", &array![[[0u8, 1]], [[1, 1]]])], 2),
                message(&[("x", &array![1u8])], 0),
                message(&[("histogram", &array![[2u8, 1]]), ("query_label", &array![2u8])], 0),
            ]
            .join("\n"),
            @r"
            v.npz: array `pate_votes`: found 2 instantiations, expected more than 2 instantiations
            v.npz: whole file: found arrays `x`, expected one of `pate_votes`, `capc_votes`, `votes` and `histogram`
            v.npz: array `query_label`, index [0]: found `2`, expected a class from 0 to 1
            "
        );
    }
}
