//! Attacks that compare one number with one threshold for all samples.

use super::AttackScores;
use super::means::means;
use super::shadow_scores::ShadowScores;
use crate::error::Result;

/// The threshold attack: the score of an answer itself, averaged over the views, regardless of how hard the sample is.
/// **High means member.**
///
/// With the score [`Loss`](crate::membership::MembershipScore::Loss) it is the attack of Yeom et al., with
/// [`TopConfidence`](crate::membership::MembershipScore::TopConfidence) or
/// [`Entropy`](crate::membership::MembershipScore::Entropy) that of Salem et al., with
/// [`ModifiedEntropy`](crate::membership::MembershipScore::ModifiedEntropy) that of Song and Mittal. Every model is a
/// victim; nothing is learned from the others, so none is left out.
///
/// Shapes: scores \[model, sample, view\]; the result is \[model, sample\].
///
/// ```
/// # use leakbound::membership::{MemoryScores, threshold_attack};
/// # use ndarray::{Array3, array};
/// let scores = Array3::from_shape_vec((2, 1, 2), vec![1.0, 2.0, -1.0, 0.0]).unwrap();
/// let guesses = threshold_attack(&MemoryScores::double(scores, array![[true], [false]])?)?;
/// assert_eq!(guesses.scores(), array![[1.5], [-0.5]]);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # Errors
/// Errors in reading the source.
///
/// # References
/// Yeom, Giacomelli, Fredrikson and Jha (2018), adversary 1; Salem et al. (2019), adversary 3; Song and Mittal (2021),
/// section 3.2.
pub fn threshold_attack(source: &impl ShadowScores) -> Result<AttackScores> {
    AttackScores::new(means(source)?, source.members().to_owned())
}
