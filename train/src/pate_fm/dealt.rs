//! Which teacher has which label, and what teachers are asked about.

use crate::seed::{Purpose, shuffled, stream};
use crate::teachers::split::Split;

/// Images 0..n of each of T teachers: all of them, none in two hands, and no teacher has two more than another.
pub(super) fn parts(images: usize, teachers: usize, (seed, run): (u64, u64)) -> Vec<Vec<u32>> {
    let order = shuffled(images, Split::Pate(run).stream(seed));
    let end = |teacher: usize| teacher * images / teachers;
    (0..teachers).map(|teacher| order[end(teacher)..end(teacher + 1)].to_vec()).collect()
}

/// The first N images of a random order of 0..n: what teachers are asked about.
pub(super) fn queries(images: usize, count: usize, (seed, run): (u64, u64)) -> Vec<u32> {
    let mut order = shuffled(images, stream(seed, Purpose::Queries, run, 0));
    order.truncate(count);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_label_belongs_to_one_teacher() {
        let parts = parts(103, 10, (5, 1));
        let mut all = parts.concat();
        all.sort_unstable();
        assert_eq!(all, (0..103).collect::<Vec<u32>>());
        assert!(parts.iter().all(|part| part.len() == 10 || part.len() == 11));
    }

    #[test]
    fn fewer_queries_are_the_first_of_more() {
        let (few, all) = (queries(50, 20, (5, 0)), queries(50, 50, (5, 0)));
        assert_eq!(few, all[..20]);
        assert_ne!(all, queries(50, 50, (5, 1)));
    }
}
