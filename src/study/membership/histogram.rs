//! Scores of one sample, as a member and as a non-member.

use crate::study::Number;
use ndarray_stats::histogram::{Bins, Edges};
use noisy_float::types::{N64, n64};
use serde::Serialize;

/// A histogram of the scores of one sample over the victims.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScoreHistogram {
    /// The attack.
    pub attack: String,
    /// The sample.
    pub sample: usize,
    /// Ends of the bins, one more than bins; the last bin holds its upper end.
    pub edges: Vec<Number>,
    /// Victims trained on the sample, in each bin.
    pub members: Vec<u64>,
    /// Victims not trained on it.
    pub non_members: Vec<u64>,
    /// Scores of -∞ and of ∞ of members.
    pub infinite_members: [u64; 2],
    /// Scores of -∞ and of ∞ of non-members.
    pub infinite_non_members: [u64; 2],
}

/// The largest number of bins.
const MOST_BINS: usize = 24;

impl ScoreHistogram {
    /// Equal bins over the finite scores; their number is about the square root of the number of scores.
    pub(super) fn new(attack: &str, (sample, classes): &(usize, [Vec<f64>; 2])) -> Self {
        let finite = || classes.iter().flatten().copied().filter(|score| score.is_finite());
        let low = finite().fold(f64::INFINITY, f64::min);
        let high = finite().fold(f64::NEG_INFINITY, f64::max);
        let number = finite().count();
        let bins = match number {
            0 => 0,
            _ if low == high => 1,
            _ => ((2.0 * (number as f64).sqrt()).ceil() as usize).clamp(4, MOST_BINS),
        };
        let (low, high) = if low == high { (low - 0.5, high + 0.5) } else { (low, high) };
        // Halves, because the difference of two doubles may be none.
        let edge = |index: usize| {
            let share = index as f64 / bins as f64;
            2.0 * (low / 2.0 + share * (high / 2.0 - low / 2.0))
        };
        let edges: Vec<f64> = if bins == 0 { Vec::new() } else { (0..=bins).map(edge).collect() };
        let places = Bins::new(Edges::from(edges.iter().copied().map(n64).collect::<Vec<N64>>()));
        let counted = |scores: &[f64]| {
            let mut counts = vec![0u64; bins];
            for score in scores.iter().filter(|score| score.is_finite()) {
                // Bins are open to the right, but for the last.
                counts[places.index_of(&n64(*score)).unwrap_or(bins - 1)] += 1;
            }
            counts
        };
        let infinite = |scores: &[f64]| {
            [f64::NEG_INFINITY, f64::INFINITY].map(|end| scores.iter().filter(|score| **score == end).count() as u64)
        };
        Self {
            attack: attack.to_owned(),
            sample: *sample,
            edges: edges.into_iter().map(Number).collect(),
            members: counted(&classes[0]),
            non_members: counted(&classes[1]),
            infinite_members: infinite(&classes[0]),
            infinite_non_members: infinite(&classes[1]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_score_is_counted_once() {
        let inf = f64::INFINITY;
        let classes: [Vec<f64>; 5] = [
            vec![],
            vec![0.0; 9],
            vec![inf, -inf, 1.0],
            vec![f64::MAX, -f64::MAX, 5e-324],
            (0..99).map(f64::from).collect(),
        ];
        for members in &classes {
            for non_members in &classes {
                let histogram = ScoreHistogram::new("a", &(0, [members.clone(), non_members.clone()]));
                let counted = |bins: &[u64], infinite: [u64; 2]| bins.iter().chain(&infinite).sum::<u64>() as usize;
                assert_eq!(counted(&histogram.members, histogram.infinite_members), members.len());
                assert_eq!(counted(&histogram.non_members, histogram.infinite_non_members), non_members.len());
                assert!(histogram.edges.is_empty() || histogram.edges.len() == histogram.members.len() + 1);
                assert!(histogram.edges.windows(2).all(|pair| pair[0].0 < pair[1].0), "{histogram:?}");
            }
        }
    }
}
