//! Which samples an audit by shadow models attacks.

use crate::named::named;
use serde::Serialize;

/// What replaces the audited training images.
///
/// An attack succeeds to different degrees on different images; an audit must find out how it does on the most
/// vulnerable, which these represent. Which they are depends on the defense: wrong labels for supervised learning,
/// wrong labels with a duplicate for SELENA, out-of-distribution images for self-supervised learning (appendix A.5,
/// table 2).
///
/// # References
/// Aerni, Zhang and Tramèr (2024), "Evaluations of machine learning privacy defenses are misleading", sections 4.2, 5.4
/// and 5.5, appendices A.5 and B.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CanaryKind {
    /// The images as they are: what is found holds for the average image.
    Original,
    /// The images, each with a label uniform among the other classes.
    Mislabeled,
    /// The first half of the images, each twice: with a label uniform among the other classes and with its own. Only
    /// the mislabeled ones are attacked. Each of the two is in half of the models, so the duplicate is there for only
    /// half of the members (section 5.4).
    Duplicated,
    /// The images, each with a label uniform among the other classes, and a duplicate of each with its own label that
    /// is in every training set: as [`CanaryKind::Duplicated`], but only the mislabeled image comes and goes.
    AlwaysDuplicated,
    /// The images, each with a label uniform among the other classes, and a copy of each *with the same wrong label*
    /// that is in every training set: appendix B.3 and figure 12(b) copy the audited set with its wrong labels. An
    /// adversary who places the copies poisons the training data, and is stronger than those that the other kinds
    /// represent (Tramèr et al. 2022, "Truth Serum").
    Poisoned,
    /// Images of another data set at random, each with a label uniform among all classes.
    OutOfDistribution,
    /// Every value of every pixel uniform from 0 to 255, labels uniform among all classes.
    Uniform,
    /// Images of one color each, uniform from 0 to 255 in each channel, labels uniform among all classes.
    Blank,
}

named!(CanaryKind, "canaries", [
    Original "original", Mislabeled "mislabeled", Duplicated "duplicated", AlwaysDuplicated "always-duplicated",
    Poisoned "poisoned", OutOfDistribution "out-of-distribution", Uniform "uniform", Blank "blank",
]);

impl CanaryKind {
    /// Whether every training set has a copy of every audited image.
    #[must_use]
    pub const fn has_copies(self) -> bool {
        matches!(self, Self::AlwaysDuplicated | Self::Poisoned)
    }

    /// Whether they are images of another data set.
    #[must_use]
    pub const fn needs_others(self) -> bool {
        matches!(self, Self::OutOfDistribution)
    }

    /// Whether a mislabeled image has a second one alongside it, in some training sets or in all.
    #[must_use]
    pub const fn has_duplicates(self) -> bool {
        matches!(self, Self::Duplicated) || self.has_copies()
    }
}
