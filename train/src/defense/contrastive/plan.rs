//! How encoders and the classifiers on them are trained.

use crate::checks::{check_positive, check_range};
use leakbound::error::Result;
use serde::Serialize;

/// Numbers of an embedding.
pub(super) const DIMENSION: usize = 128;

/// How an encoder learns without labels, and what is recorded about it.
///
/// Momentum 0.9 and weight decay 5e-4; the learning rate falls to 0 as (1 + cos(π t/T))/2 over the T steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EncoderPlan {
    /// Passes over the images of the network that has most; an incomplete batch is left out of a pass.
    pub epochs: usize,
    /// Images in a step, at least 2 and at most those of a network.
    pub batch: usize,
    /// The learning rate of the first step.
    pub rate: f64,
    /// τ, by which similarities are divided.
    pub temperature: f64,
    /// The linear classifier on the encoder.
    pub classifier: ClassifierPlan,
    /// Recorded embeddings of each audited sample, one per random view; at least 2.
    pub views: usize,
}

/// How a linear classifier learns the labels of the embeddings, by mean cross-entropy.
///
/// Weight decay 5e-4, no momentum; the learning rate is a tenth, a hundredth and a thousandth after 30, 60 and 90% of
/// the steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClassifierPlan {
    /// Passes over the images of the network that has the most.
    pub epochs: usize,
    /// Images in a step.
    pub batch: usize,
    /// The learning rate of the first step.
    pub rate: f64,
}

impl EncoderPlan {
    /// The values of Aerni, Zhang and Tramèr (2024), appendix A.4 and section 5.3, at a temperature, which they do not
    /// print.
    pub(super) const fn published(temperature: f64) -> Self {
        let classifier = ClassifierPlan { epochs: 100, batch: 256, rate: 0.5 };
        Self { epochs: 800, batch: 512, rate: 0.06, temperature, classifier, views: 12 }
    }

    /// # Errors
    /// [`Error::Domain`](leakbound::Error::Domain) for a count that is too small, and a rate or temperature that is not
    /// above 0.
    pub(super) fn check(&self) -> Result<()> {
        let counts = [
            ("epochs of the encoder", self.epochs, 1, "[1, inf)"),
            ("images in a step of the encoder", self.batch, 2, "[2, inf)"),
            ("epochs of the classifier", self.classifier.epochs, 1, "[1, inf)"),
            ("images in a step of the classifier", self.classifier.batch, 1, "[1, inf)"),
            ("views with embeddings", self.views, 2, "[2, inf)"),
        ];
        let numbers = [
            ("learning rate of the encoder", self.rate),
            ("temperature", self.temperature),
            ("learning rate of the classifier", self.classifier.rate),
        ];
        for (quantity, count, least, domain) in counts {
            check_range(quantity, count as f64, count >= least, domain)?;
        }
        numbers.into_iter().try_for_each(|(quantity, value)| check_positive(quantity, value))
    }
}
