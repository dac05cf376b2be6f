//! Simultaneous limits of all class probabilities of one world, and the range of a linear function within them.

use super::binomial::{BinomialCounts, clopper_pearson_lower, clopper_pearson_upper};
use crate::error::Result;
use crate::quantity::FailureProbability;
use crate::special::CompensatedSum;

/// The distributions P on C classes with `low` ≤ P ≤ `high` in every class and Σ P = 1.
#[derive(Debug, Clone, PartialEq)]
pub struct SimplexBox {
    low: Vec<f64>,
    high: Vec<f64>,
    /// 1 - Σ `low`: the mass that can be moved.
    spare: f64,
    /// An upper bound on the rounding error of `spare`.
    spare_error: f64,
}

impl SimplexBox {
    /// The number of one-sided limits in the box of C classes: the second of two classes is the complement of the
    /// first, and a single class has no uncertainty.
    pub const fn tails(classes: usize) -> usize {
        match classes {
            0 | 1 => 0,
            2 => 2,
            _ => 2 * classes,
        }
    }

    /// Clopper-Pearson limits of every class, each of which fails with probability at most `tail`; they hold
    /// simultaneously except with probability `tails(C) · tail`.
    pub fn clopper_pearson(counts: &[u64], tail: FailureProbability) -> Result<Self> {
        let trials: u64 = counts.iter().sum();
        if let &[_] = counts {
            return Ok(Self::new(vec![1.0], vec![1.0]));
        }
        if let &[first, _] = counts {
            let first = BinomialCounts::new(first, trials)?;
            let (low, high) = (clopper_pearson_lower(first, tail)?, clopper_pearson_upper(first, tail)?);
            // u - l, which keeps the digits that 1 - l - (1 - u) would lose.
            let spare = (high.value - low.value).max(0.0);
            return Ok(Self {
                low: vec![low.value, high.complement],
                high: vec![high.value, low.complement],
                spare,
                spare_error: f64::EPSILON * high.value,
            });
        }
        let (mut lows, mut highs) = (Vec::with_capacity(counts.len()), Vec::with_capacity(counts.len()));
        for &count in counts {
            let count = BinomialCounts::new(count, trials)?;
            lows.push(clopper_pearson_lower(count, tail)?.value);
            highs.push(clopper_pearson_upper(count, tail)?.value);
        }
        Ok(Self::new(lows, highs))
    }

    fn new(low: Vec<f64>, high: Vec<f64>) -> Self {
        let total = low.iter().copied().collect::<CompensatedSum>().value();
        Self { low, high, spare: (1.0 - total).max(0.0), spare_error: 2.0 * f64::EPSILON }
    }

    /// Lower limit of each class.
    pub fn low(&self) -> &[f64] {
        &self.low
    }

    /// Upper limit of each class.
    pub fn high(&self) -> &[f64] {
        &self.high
    }

    /// An upper bound on the largest Σ P_c v_c in the box: the free mass goes to the largest values first, the optimum
    /// of a fractional knapsack.
    ///
    /// Rounded up: the terms are summed relative to the smallest value, so all are positive and the compensated sum is
    /// accurate to 8ε of itself. The free mass has its own error and loses ε/2 of itself at each of at most C
    /// subtractions, times the spread of the values; the smallest value is rounded once more.
    pub fn maximum(&self, values: &[f64]) -> f64 {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let spread = most - least;
        if !(spread > 0.0 && spread < f64::INFINITY) {
            return most; // all values equal, or one infinite: nothing to choose
        }
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_unstable_by(|&a, &b| values[b].total_cmp(&values[a]));
        let mut sum = CompensatedSum::default();
        let mut spare = self.spare;
        for class in order {
            let added = (self.high[class] - self.low[class]).min(spare);
            spare -= added;
            sum.add((self.low[class] + added) * (values[class] - least));
        }
        let sum = sum.value();
        let moved = self.spare_error + values.len() as f64 * f64::EPSILON * self.spare;
        let margin = moved * spread + f64::EPSILON * (8.0 * sum + 2.0 * least.abs());
        // No distribution has a mean above the largest value.
        (least + sum + margin).min(most)
    }

    /// A lower bound on the smallest Σ P_c v_c in the box, rounded down.
    pub fn minimum(&self, values: &[f64]) -> f64 {
        let mirrored: Vec<f64> = values.iter().map(|value| -value).collect();
        -self.maximum(&mirrored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tail() -> FailureProbability {
        FailureProbability::new(1e-3).unwrap()
    }

    proptest! {
        /// The extreme points of box ∩ simplex have all classes but one at a limit: enumeration finds the true optimum.
        #[test]
        fn the_knapsack_is_the_optimum_over_all_vertices(
            counts in prop::collection::vec(0u64..60, 3..6), values in prop::collection::vec(-5.0f64..5.0, 6),
        ) {
            prop_assume!(counts.iter().sum::<u64>() > 0);
            let classes = counts.len();
            let (limits, values) = (SimplexBox::clopper_pearson(&counts, tail()).unwrap(), &values[..classes]);
            let mut best = f64::NEG_INFINITY;
            for free in 0..classes {
                for bits in 0..1u32 << classes {
                    let mut distribution: Vec<f64> =
                        (0..classes).map(|c| if bits >> c & 1 == 1 { limits.high[c] } else { limits.low[c] }).collect();
                    distribution[free] = 1.0 - (0..classes).filter(|&c| c != free).map(|c| distribution[c]).sum::<f64>();
                    if distribution[free] >= limits.low[free] - 1e-12 && distribution[free] <= limits.high[free] + 1e-12 {
                        best = best.max(distribution.iter().zip(values).map(|(p, v)| p * v).sum());
                    }
                }
            }
            let maximum = limits.maximum(values);
            prop_assert!(maximum >= best - 1e-11 && maximum <= best + 1e-11, "{maximum} {best}");
            prop_assert!(limits.minimum(values) <= maximum);
        }
    }

    #[test]
    fn one_class_is_certain_and_two_are_complements() {
        assert_eq!(SimplexBox::clopper_pearson(&[7], tail()).unwrap().maximum(&[3.0]), 3.0);
        let two = SimplexBox::clopper_pearson(&[3, 7], tail()).unwrap();
        assert!((two.low[1] - (1.0 - two.high[0])).abs() < 1e-15);
        assert!((two.maximum(&[1.0, 0.0]) - two.high[0]).abs() < 1e-14);
        assert!((two.minimum(&[1.0, 0.0]) - two.low[0]).abs() < 1e-14);
    }
}
