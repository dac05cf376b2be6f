//! One number for each model and sample, for attacks that look at no more.

use super::shadow_scores::{ShadowScores, blocks};
use crate::error::Result;
use ndarray::{Array2, ArrayViewMut2, Axis};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::ops::Range;

/// Means over the views \[model, sample\].
pub(super) fn means(source: &impl ShadowScores) -> Result<Array2<f64>> {
    of_views(source, |views| views.iter().sum::<f64>() / views.len() as f64)
}

/// What a function makes of the views, \[model, sample\].
pub(super) fn of_views(source: &impl ShadowScores, number: impl Fn(&[f64]) -> f64 + Sync) -> Result<Array2<f64>> {
    let mut numbers = Array2::zeros(source.members().raw_dim());
    let mut parts = Vec::new();
    let mut rest = numbers.view_mut();
    for range in blocks(source) {
        let (part, after) = rest.split_at(Axis(1), range.len());
        parts.push((range, part));
        rest = after;
    }
    let one = |(range, mut part): (Range<usize>, ArrayViewMut2<'_, f64>)| -> Result<()> {
        let block = source.block(range)?;
        for (model, mut numbers) in part.rows_mut().into_iter().enumerate() {
            block.views_of(model, |sample, views| numbers[sample] = number(views));
        }
        Ok(())
    };
    parts.into_par_iter().map(one).collect::<Result<()>>()?;
    Ok(numbers)
}
