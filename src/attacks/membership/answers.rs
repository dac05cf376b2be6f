//! Whether models know the samples that they were trained on.

use super::means::of_views;
use super::score::MembershipScore;
use super::shadow_scores::{ScoredLogits, ShadowLogits, ShadowScores, blocks};
use crate::error::Result;
use crate::parallel;
use ndarray::Array2;
use std::ops::Range;

/// Whether each model predicts the label of each sample, \[model, sample\], on the view on which most samples are
/// predicted correctly by models that were trained on them; and that view, the first among ties.
///
/// Models that were trained without augmentation know a mislabeled sample as it was and not its shifted copies, so an
/// average over the views would call memorized samples forgotten.
///
/// ```
/// # use leakbound::membership::{MemoryLogits, right_answers};
/// # use ndarray::{Array4, array};
/// // One model, one sample of class 1, two views, two classes.
/// let logits = Array4::from_shape_vec((1, 1, 2, 2), vec![2.0, 1.0, 0.0, 3.0]).unwrap();
/// let (view, right) = right_answers(&MemoryLogits::new(logits, array![1], array![[true]])?)?;
/// assert_eq!((view, right), (1, array![[true]]));
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # Errors
/// Errors in reading the source.
pub fn right_answers(logits: &impl ShadowLogits) -> Result<(usize, Array2<bool>)> {
    let source = ScoredLogits::new(logits, MembershipScore::Correct);
    let (members, views) = (source.members(), source.views());
    let of_block = |range: Range<usize>| -> Result<Vec<u64>> {
        let block = source.block(range.clone())?;
        let (mut scores, mut right) = (Vec::new(), vec![0; views]);
        for (index, sample) in range.enumerate() {
            block.sample(index, &mut scores);
            let trained = scores.chunks_exact(views).zip(members.column(sample)).filter(|(_, member)| **member);
            for (scores, _) in trained {
                right.iter_mut().zip(scores).for_each(|(right, score)| *right += u64::from(*score > 0.5));
            }
        }
        Ok(right)
    };
    let mut right = vec![0; views];
    for block in parallel::try_map(blocks(&source), of_block)? {
        right.iter_mut().zip(block).for_each(|(all, own)| *all += own);
    }
    let most = right.iter().copied().max().unwrap_or(0);
    let view = right.iter().position(|&count| count == most).unwrap_or(0);
    Ok((view, of_views(&source, |views| views[view])?.mapv(|score| score > 0.5)))
}
