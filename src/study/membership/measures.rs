//! What is measured of the guesses of an attack.

use crate::error::Result;
use crate::membership::{Guesses, MembershipMetrics, MembershipPlan, membership_metrics};
use ndarray::Array2;

/// Whose guesses are pooled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Levels {
    /// All samples, and classes.
    Population,
    /// The most vulnerable samples.
    Sample,
    /// Both.
    #[default]
    Both,
}

/// What is measured of the guesses of an attack.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Measures {
    /// FPRs, samples to pool, failure probability, resamples and their seed. A [`ComparisonStudy`] sets the number of
    /// attacks itself.
    ///
    /// [`ComparisonStudy`]: crate::study::ComparisonStudy
    pub plan: MembershipPlan,
    /// Whose guesses are pooled.
    pub levels: Levels,
    /// Whether each class is also measured separately, if labels are known.
    pub per_class: bool,
}

impl Measures {
    /// The metrics of one attack.
    pub(super) fn metrics(
        &self,
        guesses: &Guesses,
        labels: Option<&[usize]>,
        right: Option<&Array2<bool>>,
    ) -> Result<MembershipMetrics> {
        let labels = labels.filter(|_| self.per_class);
        let labels: Option<Vec<i64>> = labels.map(|labels| labels.iter().map(|&label| label as i64).collect());
        let right = right.map(|right| right.view());
        let mut metrics = membership_metrics(&guesses.scores, labels.as_deref(), right, &self.plan)?;
        metrics.levels.retain(|level| {
            let selected = level.level.is_selected();
            match self.levels {
                Levels::Both => true,
                Levels::Population => !selected,
                Levels::Sample => selected,
            }
        });
        Ok(metrics)
    }
}
