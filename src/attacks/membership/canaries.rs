//! Scores of an attack as canaries of an audit.

use super::attack_scores::AttackScores;
use crate::audit::CanaryScores;
use crate::error::{Error, Result};
use ndarray::ArrayView1;

impl AttackScores {
    /// One sample under all victims: members are the victims that were trained on it. If victims are trained
    /// independently, these scores are independent draws from two distributions, as
    /// [`audit_scores`](crate::audit::audit_scores) requires. A sample must be named before its scores are seen: the
    /// most vulnerable of n found on the same scores is one of n.
    ///
    /// # Errors
    /// [`Error::Domain`] for a sample that does not exist, [`Error::Length`] if all victims are members or none are.
    ///
    /// # Example
    /// ```
    /// # use leakbound::membership::AttackScores;
    /// # use ndarray::array;
    /// let attack = AttackScores::new(array![[3.0, 0.0], [1.0, 2.0]], array![[true, true], [false, false]])?;
    /// let canaries = attack.canaries_of_sample(0)?;
    /// assert_eq!((canaries.members(), canaries.others()), (&[3.0][..], &[1.0][..]));
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    pub fn canaries_of_sample(&self, sample: usize) -> Result<CanaryScores> {
        Error::check_domain(sample < self.samples(), "sample", sample as f64, "the samples of the attack")?;
        divided(self.scores().column(sample), self.members().column(sample))
    }

    /// All samples under one victim. They share a model, so their scores may depend on each other:
    /// [`audit_one_run`](crate::audit::audit_one_run) allows for that, [`audit_scores`](crate::audit::audit_scores)
    /// does not.
    ///
    /// # Errors
    /// [`Error::Domain`] for a victim that does not exist, [`Error::Length`] if all samples are members or none are.
    ///
    /// # Example
    /// ```
    /// # use leakbound::membership::AttackScores;
    /// # use ndarray::array;
    /// let attack = AttackScores::new(array![[3.0, 0.0, 2.0]], array![[true, false, true]])?;
    /// assert_eq!(attack.canaries_of_victim(0)?.members(), [3.0, 2.0]);
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    pub fn canaries_of_victim(&self, victim: usize) -> Result<CanaryScores> {
        Error::check_domain(victim < self.victims(), "victim", victim as f64, "the victims of the attack")?;
        divided(self.scores().row(victim), self.members().row(victim))
    }
}

fn divided(scores: ArrayView1<'_, f64>, truth: ArrayView1<'_, bool>) -> Result<CanaryScores> {
    let side = |member: bool| -> Vec<f64> {
        scores.iter().zip(truth).filter(|(_, truth)| **truth == member).map(|(&score, _)| score).collect()
    };
    CanaryScores::new(side(true), side(false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn what_is_not_there_is_rejected() {
        let attack = AttackScores::new(array![[1.0]], array![[true]]).unwrap();
        assert!(attack.canaries_of_sample(1).is_err() && attack.canaries_of_victim(1).is_err());
        assert!(attack.canaries_of_sample(0).unwrap_err().to_string().contains("scores of non-members"));
    }
}
