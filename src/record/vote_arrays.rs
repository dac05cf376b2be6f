//! What recordings of votes have in common: labels, positions of the queries, histograms.

use super::array_file::ArrayFile;
use super::fault::{fault, several};
use crate::error::Result;
use crate::model::Adversary;
use ndarray::{Array1, ArrayView1};

/// Bytes of a histogram in memory, with what stands beside it in a list of queries.
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

/// The true classes of the queries, where the file has them.
pub(super) fn labels(arrays: &mut ArrayFile, queries: usize, like: &str) -> Result<Option<Array1<u16>>> {
    if !arrays.has("query_label") {
        return Ok(None);
    }
    let labels: Array1<u16> = arrays.classes("query_label")?;
    rows(
        arrays,
        "query_label",
        labels.len(),
        queries,
        format!("{}, one per query of `{like}`", several(queries, "row")),
    )?;
    Ok(Some(labels))
}

/// Rejects an array with another number of rows than wanted.
pub(super) fn rows(arrays: &ArrayFile, name: &str, found: usize, wanted: usize, expected: String) -> Result<()> {
    if found == wanted { Ok(()) } else { Err(arrays.at(name, several(found, "row"), expected).into()) }
}

/// The queries that an adversary asks: all of them, or those of `adv_query`, each at most once. The array with the
/// votes of the neighbor has a row for each.
pub(super) fn asked(
    arrays: &mut ArrayFile,
    adversary: Adversary,
    like: &str,
    queries: usize,
    changed: &str,
    changed_rows: usize,
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
