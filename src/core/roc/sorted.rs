//! Scores of two classes in decreasing order with their counts, ties together.

use super::point::RocPoint;
use crate::parallel;
use rayon::prelude::*;

/// A distinct score with the number of members and of non-members at or above it.
///
/// A tuple: the standard library requests zeroed memory from the system only for types it knows; with other types, all
/// pages would be touched before the first step is written.
pub(super) type Step = (f64, [u32; 2]);

pub(super) fn counts(&(_, [hits, alarms]): &Step) -> [u64; 2] {
    [u64::from(hits), u64::from(alarms)]
}

pub(super) fn point(step: &Step) -> RocPoint {
    let [true_positives, false_positives] = counts(step);
    RocPoint { threshold: Some(step.0), true_positives, false_positives }
}

/// From this size on, a class is sorted on more than one thread.
const LARGE: usize = 1 << 14;

/// The largest number of parts of a merge.
const MOST_PARTS: usize = 16;

/// Below every key of a score: all bits of a negative NaN inverted.
const NONE: u64 = 0;

/// A whole number that is ordered like the scores: IEEE doubles compare like their bits once those of negative numbers
/// are inverted. Adding 0 makes -0 equal to 0.
const fn key(score: f64) -> u64 {
    let bits = (score + 0.0).to_bits();
    bits ^ (((bits as i64 >> 63) as u64) | (1 << 63))
}

/// The score of a key.
const fn score(key: u64) -> f64 {
    let mask = if key >> 63 == 1 { 1 << 63 } else { u64::MAX };
    f64::from_bits(key ^ mask)
}

/// Keys in increasing order after one that is below all, sorted on one thread or on all.
fn rising(scores: &[f64], alone: bool) -> Vec<u64> {
    let mut keys = Vec::with_capacity(scores.len() + 1);
    keys.push(NONE);
    keys.extend(scores.iter().map(|&score| key(score)));
    if alone || scores.len() < LARGE {
        keys.sort_unstable();
    } else {
        keys.par_sort_unstable();
    }
    keys
}

/// Distinct scores in decreasing order, with their counts. Scores must not be NaN.
///
/// Whole numbers are sorted in place, each class separately: a third of the time of sorting an index of all scores.
pub(super) fn descending(members: &[f64], non_members: &[f64]) -> Vec<Step> {
    let (most, least) = (members.len().max(non_members.len()), members.len().min(non_members.len()));
    let sorted = if most < LARGE {
        [rising(members, true), rising(non_members, true)]
    } else {
        // The sort of the standard library takes two thirds of the time of rayon's, on one thread each.
        let alone = rayon::current_num_threads() <= 2 && most < 2 * least;
        rayon::join(|| rising(members, alone), || rising(non_members, alone)).into()
    };
    merge(&sorted[0], &sorted[1])
}

/// The steps of both classes; if there are many scores, in parts on all threads.
fn merge(members: &[u64], non_members: &[u64]) -> Vec<Step> {
    let total = members.len() + non_members.len() - 2;
    let parts = if total < LARGE { 1 } else { rayon::current_num_threads().clamp(1, MOST_PARTS) };
    // The places before the parts, from the highest scores down.
    let larger = if members.len() > non_members.len() { members } else { non_members };
    let cut = |part: usize| {
        let key = larger[(larger.len() - 1) * (parts - part) / parts];
        [members, non_members].map(|keys| keys.partition_point(|&other| other <= key) - 1)
    };
    let mut cuts = vec![[members.len() - 1, non_members.len() - 1]];
    cuts.extend((1..parts).map(cut));
    cuts.push([0, 0]);
    let mut steps = vec![(0.0, [0, 0]); total];
    let mut rest = &mut steps[..];
    let mut places = Vec::with_capacity(parts);
    for cut in cuts.windows(2) {
        let most = cut[0].iter().sum::<usize>() - cut[1].iter().sum::<usize>();
        let (own, behind) = std::mem::take(&mut rest).split_at_mut(most);
        rest = behind;
        places.push((cut[0], cut[1], own));
    }
    let part =
        |(from, to, steps): (_, _, &mut [Step])| (steps.len(), merge_part(members, non_members, from, to, steps));
    let lengths = parallel::map(places, part);
    let (mut from, mut length) = (0, 0);
    for (most, found) in lengths {
        if length < from {
            steps.copy_within(from..from + found, length);
        }
        (from, length) = (from + most, length + found);
    }
    steps.truncate(length);
    steps
}

/// Writes the steps of the keys at these places down to those above other places, and returns how many there are.
fn merge_part(
    members: &[u64],
    non_members: &[u64],
    [mut i, mut j]: [usize; 2],
    to: [usize; 2],
    steps: &mut [Step],
) -> usize {
    let ends = [members.len() - 1, non_members.len() - 1];
    let (mut length, mut last) = (0, NONE);
    // At most one key of each class is taken per turn, without a branch on the data; a tie overwrites its own step. The
    // keys at the end are below all keys of the part.
    while i + j > to[0] + to[1] {
        let (a, b) = (members[i], non_members[j]);
        let top = a.max(b);
        i -= usize::from(a == top);
        j -= usize::from(b == top);
        length += usize::from(top != last);
        last = top;
        steps[length - 1] = (score(top), [(ends[0] - i) as u32, (ends[1] - j) as u32]);
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_are_ordered_as_scores(a: f64, b: f64) {
            prop_assume!(!a.is_nan() && !b.is_nan());
            prop_assert_eq!(key(a).cmp(&key(b)), a.partial_cmp(&b).unwrap());
            prop_assert_eq!(score(key(a)), a);
            prop_assert!(key(a) > NONE);
        }
    }

    #[test]
    fn keys_of_the_ends() {
        let rising = [f64::NEG_INFINITY, f64::MIN, -5e-324, 0.0, 5e-324, f64::MAX, f64::INFINITY];
        assert!(rising.windows(2).all(|pair| key(pair[0]) < key(pair[1])));
        assert_eq!(key(-0.0), key(0.0));
        assert!(key(f64::NEG_INFINITY) > NONE);
    }
}
