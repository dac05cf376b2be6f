//! What recordings of votes have in common: labels, positions of the queries, histograms.

use super::array_file::ArrayFile;
use super::fault::{fault, several};
use crate::error::Result;
use crate::model::Adversary;
use ndarray::{Array1, Array2, Array3, ArrayView1, ArrayView2, Axis};

/// Bytes of a histogram in memory, with its other fields in a list of queries.
pub(super) const fn histogram_bytes(classes: u64) -> u64 {
    classes.saturating_mul(8).saturating_add(96)
}

/// How many of the votes go to each class.
pub(super) fn histogram(votes: ArrayView1<'_, u16>, classes: usize) -> Vec<u64> {
    let mut histogram = vec![0; classes];
    for &vote in votes {
        histogram[usize::from(vote)] += 1;
    }
    histogram
}

/// The true classes of the queries, if the file has them.
pub(super) fn labels(arrays: &mut ArrayFile, queries: usize, like: &str) -> Result<Option<Array1<u16>>> {
    if !arrays.has("query_label") {
        return Ok(None);
    }
    let labels: Array1<u16> = arrays.classes("query_label")?;
    let expected = format!("{}, one per query of `{like}`", several(queries, "row"));
    rows(arrays, "query_label", labels.len(), queries, expected)?;
    Ok(Some(labels))
}

/// Rejects an array with another number of rows than wanted.
pub(super) fn rows(arrays: &ArrayFile, name: &str, found: usize, wanted: usize, expected: String) -> Result<()> {
    if found == wanted { Ok(()) } else { Err(arrays.at(name, several(found, "row"), expected).into()) }
}

/// Recorded votes of both worlds of one adversary: repeated trainings of all voters, and of one with the changed point.
pub(super) struct TwoWorlds {
    /// \[training, query, voter\]
    pub(super) votes: Array3<u16>,
    /// Those asked queries, in the order of the rows of `changed`.
    pub(super) positions: Vec<usize>,
    /// \[asked query, training\]
    pub(super) changed: Array2<u16>,
    labels: Option<Array1<u16>>,
    /// One more than the largest class of any array.
    pub(super) classes: usize,
}

/// The array with the votes of the voters that were trained with the changed point.
pub(super) fn changed_array(kind: &str, adversary: Adversary) -> String {
    format!("{kind}_{}", adversary.name().replace('-', "_"))
}

impl TwoWorlds {
    /// Reads the arrays `KIND_votes` and `KIND_ADVERSARY`.
    pub(super) fn read(arrays: &mut ArrayFile, kind: &str, adversary: Adversary) -> Result<Self> {
        let (like, name) = (format!("{kind}_votes"), changed_array(kind, adversary));
        let votes: Array3<u16> = arrays.classes(&like)?;
        let queries = votes.dim().1;
        let changed: Array2<u16> = arrays.classes(&name)?;
        let labels = labels(arrays, queries, &like)?;
        let positions = asked(arrays, adversary, (&like, queries), (&name, changed.nrows()))?;
        let occurring = votes.iter().chain(&changed).chain(labels.iter().flatten());
        let classes = 1 + usize::from(occurring.copied().max().unwrap_or(0));
        Ok(Self { votes, positions, changed, labels, classes })
    }

    /// Counts the memory of this many histograms of each asked query, before they are made.
    pub(super) fn take(&self, arrays: &mut ArrayFile, kind: &str, each: usize) -> Result<()> {
        let histograms = (each as u64).saturating_mul(self.positions.len() as u64);
        arrays.take(&format!("{kind}_votes"), histograms, histogram_bytes(self.classes as u64))
    }

    /// The true class of a query, if the file has it.
    pub(super) fn label(&self, position: usize) -> Option<usize> {
        self.labels.as_ref().map(|labels| usize::from(labels[position]))
    }

    /// Position, votes \[training, voter\] and votes per class in the changed world of each asked query.
    pub(super) fn queries(&self) -> impl Iterator<Item = (usize, ArrayView2<'_, u16>, Vec<u64>)> {
        self.positions.iter().zip(self.changed.outer_iter()).map(|(&position, changed)| {
            (position, self.votes.index_axis(Axis(1), position), histogram(changed, self.classes))
        })
    }
}

/// The queries that an adversary asks: all of them, or those of `adv_query`, each at most once. The array with the
/// votes of the neighbor has a row for each.
fn asked(
    arrays: &mut ArrayFile,
    adversary: Adversary,
    (like, queries): (&str, usize),
    (changed, changed_rows): (&str, usize),
) -> Result<Vec<usize>> {
    if adversary == Adversary::PoisNatq {
        let expected = format!("{}, one per query of `{like}`", several(queries, "row"));
        rows(arrays, changed, changed_rows, queries, expected)?;
        return Ok((0..queries).collect());
    }
    let positions: Array1<u64> = arrays.whole_numbers("adv_query")?;
    let expected = format!("a position from 0 to {} of `{like}`", queries - 1);
    arrays.check_each("adv_query", &positions, |position| position >= queries as u64, &expected)?;
    let mut seen = vec![false; queries];
    for (index, &position) in positions.iter().enumerate() {
        if std::mem::replace(&mut seen[position as usize], true) {
            let place = format!("array `adv_query`, index [{index}]");
            let found = format!("`{position}` a second time");
            return Err(fault(&arrays.input().path, place, found, "each query once").into());
        }
    }
    let expected = format!("{}, one per entry of `adv_query`", several(positions.len(), "row"));
    rows(arrays, changed, changed_rows, positions.len(), expected)?;
    Ok(positions.iter().map(|&position| position as usize).collect())
}
