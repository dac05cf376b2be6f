//! One number for each model and sample, for attacks that need no more.

use super::shadow_scores::{ShadowScores, blocks, columns};
use crate::error::{Error, Result};
use crate::parallel;
use ndarray::{Array2, ArrayViewMut2};
use std::ops::Range;

/// Means over the views \[model, sample\].
pub(super) fn means(source: &impl ShadowScores) -> Result<Array2<f64>> {
    of_views(source, |views| views.iter().sum::<f64>() / views.len() as f64)
}

/// What a function makes of the views, \[model, sample\].
pub(super) fn of_views(source: &impl ShadowScores, number: impl Fn(&[f64]) -> f64 + Sync) -> Result<Array2<f64>> {
    let mut numbers = Array2::zeros(source.members().raw_dim());
    let parts = columns(&mut numbers, &blocks(source));
    let one = |(range, mut part): (Range<usize>, ArrayViewMut2<'_, f64>)| -> Result<()> {
        let block = source.block(range)?;
        let expected = [part.nrows(), part.ncols(), source.views()];
        let reason =
            format_args!("a block of scores has the shape {:?} where {expected:?} was asked for", block.shape());
        Error::check_possible(block.shape() == expected, "reading scores", reason)?;
        for (model, mut numbers) in part.rows_mut().into_iter().enumerate() {
            block.views_of(model, |sample, views| numbers[sample] = number(views));
        }
        Ok(())
    };
    parallel::try_map(parts, one)?;
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::super::shadow_scores::{MemoryScores, ScoreBlock};
    use super::*;
    use ndarray::{Array3, ArrayView2};

    /// Gives a sample less than it is asked for.
    struct Short(MemoryScores);

    impl ShadowScores for Short {
        fn members(&self) -> ArrayView2<'_, bool> {
            self.0.members()
        }

        fn views(&self) -> usize {
            self.0.views()
        }

        fn block(&self, samples: Range<usize>) -> Result<ScoreBlock<'_>> {
            self.0.block(samples.start..samples.end - 1)
        }
    }

    #[test]
    fn what_a_source_leaves_out_is_not_taken_for_zero() {
        let scores = Array3::from_shape_fn((2, 4, 3), |(model, sample, view)| (model + 2 * sample + 4 * view) as f64);
        let source = MemoryScores::double(scores, Array2::from_elem((2, 4), true)).unwrap();
        assert_eq!(means(&source).unwrap(), Array2::from_shape_fn((2, 4), |(m, s)| (m + 2 * s + 4) as f64));
        let error = means(&Short(source)).unwrap_err().to_string();
        assert!(error.contains("shape [2, 3, 3] where [2, 4, 3]"), "{error}");
    }
}
