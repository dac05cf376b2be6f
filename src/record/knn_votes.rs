//! Recorded neighbors of Private-kNN: labels of the training points nearest to every query, ranks of points that an
//! adversary may add, and the features behind both.

use super::array_file::ArrayFile;
use super::fault::{hinted, several};
use super::vote_arrays::{histogram_bytes, labels, rows};
use crate::error::Result;
use ndarray::{Array1, Array2};

/// The recorded queries of a Private-kNN; at least one query.
#[derive(Debug, Clone, PartialEq)]
pub struct KnnVotes {
    /// Number of classes C, one more than the largest of any array.
    pub classes: usize,
    /// The queries, in the order of the file; at least one.
    pub queries: Vec<KnnQuery>,
    /// Points that an adversary may add, if the file has them.
    pub candidates: Option<KnnCandidates>,
    /// Features of the queries of shape (query, feature), if the file has them.
    pub features: Option<Array2<f64>>,
}

/// One query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnnQuery {
    /// The place of the query in the file, counted from 0.
    pub position: usize,
    /// Its true class, if the file has it.
    pub label: Option<usize>,
    /// Labels of the training points nearest to it, the nearest first; none if the file has only features.
    pub neighbor_labels: Option<Vec<usize>>,
}

/// Points that an adversary may add to the training data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnnCandidates {
    /// Shape (candidate, query): the rank that the candidate would take among the training points as seen from the
    /// query, 1 for the nearest.
    pub ranks: Array2<u64>,
    /// True class of every candidate.
    pub labels: Vec<usize>,
    /// Whether a candidate is a test point rather than a training point, if recorded.
    pub is_test: Option<Vec<bool>>,
}

/// Training points of a Private-kNN.
#[derive(Debug, Clone, PartialEq)]
pub struct KnnTraining {
    /// Shape (point, feature).
    pub features: Array2<f64>,
    /// The class of every point.
    pub labels: Vec<usize>,
}

/// Reads the queries and candidates.
pub(super) fn read(arrays: &mut ArrayFile) -> Result<KnnVotes> {
    let ranked = arrays.has("neighbour_labels");
    if !ranked && !arrays.has("query_features") {
        let expected = "the array `neighbour_labels` of shape (query, rank), or `query_features`";
        return Err(arrays.missing(expected).into());
    }
    let neighbors: Option<Array2<u16>> = ranked.then(|| arrays.classes("neighbour_labels")).transpose()?;
    let features = if arrays.has("query_features") { Some(features(arrays, "query_features")?) } else { None };
    let (like, queries) = match (&neighbors, &features) {
        (Some(neighbors), _) => ("neighbour_labels", neighbors.nrows()),
        (None, features) => ("query_features", features.as_ref().map_or(0, Array2::nrows)),
    };
    if let Some(features) = &features {
        rows(arrays, "query_features", features.nrows(), queries, one_per_query(queries, like))?;
    }
    let labels = labels(arrays, queries, like)?;
    let candidates = if arrays.has("candidate_rank") { Some(candidates(arrays, queries, like)?) } else { None };
    let largest = neighbors.iter().flatten().chain(labels.iter().flatten()).copied().max().unwrap_or(0);
    let largest_candidate = candidates.iter().flat_map(|candidates| &candidates.labels).copied().max().unwrap_or(0);
    if let Some(neighbors) = &neighbors {
        // Ranks as numbers of 8 bytes, in a list for each query.
        arrays.take("neighbour_labels", queries as u64, histogram_bytes(neighbors.ncols() as u64))?;
    }
    let query = |position: usize| KnnQuery {
        position,
        label: labels.as_ref().map(|labels| usize::from(labels[position])),
        neighbor_labels: neighbors
            .as_ref()
            .map(|neighbors| neighbors.row(position).iter().map(|&label| usize::from(label)).collect()),
    };
    Ok(KnnVotes {
        classes: 1 + usize::from(largest).max(largest_candidate),
        queries: (0..queries).map(query).collect(),
        candidates,
        features,
    })
}

fn one_per_query(queries: usize, like: &str) -> String {
    format!("{}, one per query of `{like}`", several(queries, "row"))
}

fn candidates(arrays: &mut ArrayFile, queries: usize, like: &str) -> Result<KnnCandidates> {
    let ranks: Array2<u64> = arrays.whole_numbers("candidate_rank")?;
    if ranks.ncols() != queries {
        let expected = format!("{}, one per query of `{like}`", several(queries, "column"));
        return Err(arrays.at("candidate_rank", several(ranks.ncols(), "column"), expected).into());
    }
    arrays
        .check_each("candidate_rank", &ranks, |rank| rank == 0, "a rank of at least 1")
        .map_err(|error| hinted(error, "the nearest point has rank 1"))?;
    let expected = || format!("{}, one per candidate of `candidate_rank`", several(ranks.nrows(), "row"));
    let labels: Array1<u16> = arrays.classes("candidate_label")?;
    rows(arrays, "candidate_label", labels.len(), ranks.nrows(), expected())?;
    let is_test = if arrays.has("candidate_is_test") {
        let is_test: Array1<bool> = arrays.array("candidate_is_test")?;
        rows(arrays, "candidate_is_test", is_test.len(), ranks.nrows(), expected())?;
        Some(is_test.to_vec())
    } else {
        None
    };
    Ok(KnnCandidates { labels: labels.iter().map(|&label| usize::from(label)).collect(), ranks, is_test })
}

/// Reads the training points.
pub(super) fn read_training(arrays: &mut ArrayFile) -> Result<KnnTraining> {
    let features = features(arrays, "features")?;
    let labels: Array1<u16> = arrays.classes("labels")?;
    let expected = format!("{}, one per row of `features`", several(features.nrows(), "row"));
    rows(arrays, "labels", labels.len(), features.nrows(), expected)?;
    Ok(KnnTraining { features, labels: labels.iter().map(|&label| usize::from(label)).collect() })
}

/// Features of shape (point, feature), finite numbers.
fn features(arrays: &mut ArrayFile, name: &str) -> Result<Array2<f64>> {
    let features: Array2<f64> = arrays.numbers(name)?;
    arrays.check_each(name, &features, |value| !value.is_finite(), "a finite number")?;
    Ok(features)
}

#[cfg(test)]
mod tests {
    use super::super::test_arrays::{Named, npz};
    use crate::record::{VoteFile, votes_from_bytes};
    use ndarray::array;

    fn file(arrays: &Named<'_>) -> VoteFile {
        votes_from_bytes("k.npz", npz(arrays)).unwrap()
    }

    #[test]
    fn queries_and_candidates_are_read_together() {
        let votes = file(&[
            ("neighbour_labels", &array![[0u8, 1, 1], [2, 2, 0]]),
            ("query_label", &array![1u8, 2]),
            ("query_features", &array![[0.5f32, 1.0], [2.0, -1.0]]),
            ("candidate_rank", &array![[1u32, 7]]),
            ("candidate_label", &array![4u8]),
            ("candidate_is_test", &array![true]),
        ])
        .private_knn()
        .unwrap();
        assert_eq!((votes.classes, votes.queries.len()), (5, 2));
        assert_eq!(votes.queries[1].neighbor_labels, Some(vec![2, 2, 0]));
        assert_eq!(votes.queries[1].label, Some(2));
        assert_eq!(votes.features, Some(array![[0.5, 1.0], [2.0, -1.0]]));
        let candidates = votes.candidates.unwrap();
        assert_eq!((candidates.ranks, candidates.labels), (array![[1, 7]], vec![4]));
        assert_eq!(candidates.is_test, Some(vec![true]));
    }

    #[test]
    fn features_alone_are_enough() {
        let mut file = file(&[
            ("query_features", &array![[0.5f64]]),
            ("features", &array![[0.0f64], [1.0]]),
            ("labels", &array![3i64, 0]),
        ]);
        assert_eq!(file.private_knn().unwrap().queries[0].neighbor_labels, None);
        let training = file.private_knn_training().unwrap();
        assert_eq!((training.features, training.labels), (array![[0.0], [1.0]], vec![3, 0]));
    }

    #[test]
    fn arrays_that_disagree_are_named() {
        let queries = |arrays: &Named<'_>| file(arrays).private_knn().unwrap_err().to_string();
        let neighbors = array![[0u8, 1, 1], [2, 2, 0]];
        let first: &Named<'_> = &[("neighbour_labels", &neighbors)];
        let more = |arrays: &Named<'_>| queries(&[first, arrays].concat());
        let training = |arrays: &Named<'_>| file(arrays).private_knn_training().unwrap_err().to_string();
        insta::assert_snapshot!(
            [
                queries(&[("labels", &array![0u8])]),
                queries(&[("neighbour_labels", &array![[0.5f32]])]),
                queries(&[("neighbour_labels", &array![0u8])]),
                more(&[("query_label", &array![0u8])]),
                more(&[("query_features", &array![[0.5f32]])]),
                more(&[("query_features", &array![[0u8]])]),
                more(&[("query_features", &array![[0.5f32], [f32::NAN]])]),
                more(&[("candidate_rank", &array![[1u32]])]),
                more(&[("candidate_rank", &array![[1u32, 0]])]),
                more(&[("candidate_rank", &array![[1u32, 2]])]),
                more(&[("candidate_rank", &array![[1u32, 2]]), ("candidate_label", &array![1u8, 2])]),
                more(&[
                    ("candidate_rank", &array![[1u32, 2]]),
                    ("candidate_label", &array![1u8]),
                    ("candidate_is_test", &array![1u8]),
                ]),
                training(&[("features", &array![[1.0f32]])]),
                training(&[("features", &array![[1.0f32]]), ("labels", &array![1u8, 2])]),
            ]
            .join("\n"),
            @r"
            k.npz: whole file: found arrays `labels`, expected the array `neighbour_labels` of shape (query, rank), or `query_features`
            k.npz: array `neighbour_labels`: found dtype `f32`, expected an integer dtype; hint: numpy converts with .astype(numpy.int64)
            k.npz: array `neighbour_labels`: found shape [1], expected 2 axes
            k.npz: array `query_label`: found 1 row, expected 2 rows, one per query of `neighbour_labels`
            k.npz: array `query_features`: found 1 row, expected 2 rows, one per query of `neighbour_labels`
            k.npz: array `query_features`: found dtype `u8`, expected dtype `f32` or `f64`; hint: numpy converts with .astype(numpy.float64)
            k.npz: array `query_features`, index [1, 0]: found `NaN`, expected a finite number
            k.npz: array `candidate_rank`: found 1 column, expected 2 columns, one per query of `neighbour_labels`
            k.npz: array `candidate_rank`, index [0, 1]: found `0`, expected a rank of at least 1; hint: the nearest point has rank 1
            k.npz: whole file: found arrays `neighbour_labels`, `candidate_rank`, expected the array `candidate_label`
            k.npz: array `candidate_label`: found 2 rows, expected 1 row, one per candidate of `candidate_rank`
            k.npz: array `candidate_is_test`: found dtype `u8`, expected dtype `bool`
            k.npz: whole file: found arrays `features`, expected the array `labels`
            k.npz: array `labels`: found 2 rows, expected 1 row, one per row of `features`
            "
        );
    }
}
