//! How networks learn from few labels and many images.

use crate::augment::Augmentation;
use crate::checks::{check_counts, check_range};
use crate::optimizer::{Optimizer, Schedule};
use crate::train::TrainingPlan;
use leakbound::error::Result;
use serde::Serialize;

/// Share of half a period of the cosine that the learning rate follows.
const PART: f64 = 7.0 / 16.0;

/// Training by FixMatch: K steps of SGD with Nesterov's momentum at the rate η cos(7πk/(16K)); the result is the
/// networks with averaged parameters.
///
/// # References
/// Sohn et al. (2020), "FixMatch: Simplifying semi-supervised learning with consistency and confidence", Algorithm 1 and
/// section 2.4.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FixMatchPlan {
    /// Steps K.
    pub steps: u64,
    /// Labeled images B of a step.
    pub batch: usize,
    /// What is learned from images without labels; if absent, the labels are all that the networks learn from.
    pub unlabeled: Option<Unlabeled>,
    /// Learning rate η of the first step.
    pub rate: f64,
    /// Momentum β.
    pub momentum: f64,
    /// Factor of the parameters that is added to their gradient.
    pub weight_decay: f64,
    /// Decay of the moving average of parameters and running statistics, in [0, 1).
    pub average: f64,
    /// Weak augmentation, which strong augmentation also starts with; none if absent.
    pub augmentation: Option<Augmentation>,
    /// Networks that are trained side by side; see [`TrainingPlan::side_by_side`].
    pub side_by_side: Option<usize>,
}

/// The part of the loss that needs no labels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Unlabeled {
    /// Images without labels for each labeled one, μ.
    pub ratio: usize,
    /// The probability τ from which on the likeliest class is a pseudo-label, in [0, 1].
    pub confidence: f64,
    /// Weight λ of this part.
    pub weight: f64,
}

impl Unlabeled {
    /// Those of Sohn et al. (2020), table 4, for CIFAR-10 and SVHN.
    pub const PUBLISHED: Self = Self { ratio: 7, confidence: 0.95, weight: 1.0 };
}

impl FixMatchPlan {
    /// The same training without unlabeled images: the same numbers of steps and of labeled images.
    #[must_use]
    pub fn supervised(&self) -> Self {
        Self { unlabeled: None, ..self.clone() }
    }

    /// # Errors
    /// [`Error::Domain`](leakbound::Error::Domain) for a count of 0, and for a number out of its range;
    /// [`Error::Rejected`](leakbound::Error::Rejected) for a shift that leaves nothing of an image of this shape.
    pub(crate) fn check(&self, shape: [usize; 3]) -> Result<()> {
        let mut counts = vec![("steps", usize::from(self.steps > 0)), ("images in a step", self.batch)];
        counts.extend(self.side_by_side.map(|networks| ("networks side by side", networks)));
        counts.extend(self.unlabeled.map(|unlabeled| ("unlabeled images per labeled one", unlabeled.ratio)));
        check_counts(counts)?;
        check_range("decay of the average", self.average, (0.0..1.0).contains(&self.average), "[0, 1)")?;
        if let Some(Unlabeled { confidence, weight, .. }) = self.unlabeled {
            check_range("confidence", confidence, (0.0..=1.0).contains(&confidence), "[0, 1]")?;
            check_range("weight of unlabeled images", weight, weight >= 0.0 && weight.is_finite(), "[0, inf)")?;
        }
        self.augmentation.map_or(Ok(()), |augmentation| augmentation.check(shape))
    }

    /// What groups of networks are trained by: one pass with the rule and the rate of these steps.
    pub(crate) fn training(&self) -> TrainingPlan {
        TrainingPlan {
            augmentation: self.augmentation,
            side_by_side: self.side_by_side,
            ..TrainingPlan::new(
                1,
                self.batch,
                Optimizer::Sgd { momentum: self.momentum, weight_decay: self.weight_decay, nesterov: true },
                Schedule::PartialCosine { rate: self.rate, part: PART },
            )
        }
    }
}
