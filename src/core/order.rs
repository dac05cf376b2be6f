//! Sorting where speed does not matter: one compiled sort for all types and comparisons.

use std::cmp::Ordering;

/// The positions from 0 to `count` in the order of a comparison; ties keep their order.
pub fn positions(count: usize, compare: impl Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    sort_positions(&mut order, &compare);
    order
}

fn sort_positions(order: &mut [usize], compare: &dyn Fn(usize, usize) -> Ordering) {
    order.sort_by(|&a, &b| compare(a, b));
}

/// Sorts things by a comparison; ties keep their order.
pub fn sort<T>(things: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut order = positions(things.len(), |a, b| compare(&things[a], &things[b]));
    // Along each cycle of the permutation.
    for start in 0..order.len() {
        let mut place = start;
        while order[place] != start {
            let from = std::mem::replace(&mut order[place], place);
            things.swap(place, from);
            place = from;
        }
        order[place] = place;
    }
}

/// Sorts numbers in decreasing order.
pub fn falling(numbers: &mut [f64]) {
    numbers.sort_by(f64::total_cmp);
    numbers.reverse();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_are_sorted_as_the_standard_library_does() {
        // A linear congruence with many ties.
        let mut state = 1u64;
        for count in 0..200 {
            let things: Vec<(u64, usize)> = (0..count)
                .map(|place| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 60, place)
                })
                .collect();
            let (mut sorted, mut expected) = (things.clone(), things.clone());
            sort(&mut sorted, |a, b| b.0.cmp(&a.0));
            expected.sort_by_key(|thing| std::cmp::Reverse(thing.0));
            assert_eq!(sorted, expected);
            let order = positions(count, |a, b| things[b].0.cmp(&things[a].0));
            assert!(order.iter().map(|&place| things[place]).eq(expected));
        }
    }

    #[test]
    fn numbers_fall() {
        let mut numbers = [0.5, -0.0, f64::INFINITY, 0.0, -1.0];
        falling(&mut numbers);
        assert_eq!(numbers.map(f64::to_bits), [f64::INFINITY, 0.5, 0.0, -0.0, -1.0].map(f64::to_bits));
    }
}
