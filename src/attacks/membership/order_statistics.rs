//! Order statistics of scores.

use ndarray::{Array1, ArrayRef1};
use ndarray_stats::Sort1dExt;
use noisy_float::types::{N64, n64};

/// The values at these places of the sorted `values`, which must not be NaN; each place is below their number.
pub(super) fn order_statistics(values: impl IntoIterator<Item = f64>, places: &[usize]) -> Vec<f64> {
    let mut values: Array1<N64> = values.into_iter().map(n64).collect();
    let places = Array1::from(places.to_vec());
    let wanted: &ArrayRef1<usize> = &places;
    let found = values.get_many_from_sorted_mut(wanted);
    places.iter().map(|place| found[place].raw()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_sorted_values() {
        let values = [3.0, -1.0, f64::INFINITY, 0.5, 0.5, f64::NEG_INFINITY, 7.0];
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        // In any order, and one twice.
        let places = [6, 0, 3, 2, 3, 1, 4, 5];
        let expected: Vec<f64> = places.iter().map(|&place| sorted[place]).collect();
        assert_eq!(order_statistics(values, &places), expected);
        assert_eq!(order_statistics([2.0], &[0]), [2.0]);
        assert!(order_statistics([2.0], &[]).is_empty());
    }
}
