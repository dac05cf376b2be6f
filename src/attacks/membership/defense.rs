//! Defenses against membership inference, with the attack and the canaries for evaluating each.

use super::canary_kind::CanaryKind;
use crate::named::named;
use serde::Serialize;

/// The defense that models were trained with, if its evaluation has been published.
///
/// # References
/// Aerni, Zhang and Tramèr (2024), "Evaluations of machine learning privacy defenses are misleading", section 5.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DefenseFamily {
    /// No defense.
    None,
    /// RelaxLoss (Chen, Yu and Fritz 2022).
    #[serde(rename = "relaxloss")]
    RelaxLoss,
    /// HAMP (Chen and Pattabiraman 2024), whose answers at test time are made up in the order of the true ones.
    Hamp,
    /// SELENA (Tang et al. 2022), distillation of models, each image by those that did not see it.
    Selena,
    /// Data-free knowledge distillation (Fang et al. 2022): a student of synthetic images.
    Dfkd,
    /// A linear classifier on an encoder trained without labels by SimCLR (Chen et al. 2020).
    #[serde(rename = "simclr")]
    SimClr,
    /// Likewise with MoCo (He et al. 2020).
    #[serde(rename = "moco")]
    MoCo,
    /// DP-SGD (Abadi et al. 2016), also when used as a heuristic.
    DpSgd,
    /// Another one.
    Other,
}

named!(DefenseFamily, "defense", [
    None "none", RelaxLoss "relaxloss", Hamp "hamp", Selena "selena", Dfkd "dfkd", SimClr "simclr", MoCo "moco",
    DpSgd "dp-sgd", Other "other",
]);

impl DefenseFamily {
    /// The family of a defense of this name; [`DefenseFamily::Other`] for one that is not known.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        name.parse().unwrap_or(Self::Other)
    }

    /// The attack that sections 5.3 and 5.5 adapt to it; LiRA if nothing better is known.
    #[must_use]
    pub const fn attack(self) -> DefenseAttack {
        match self {
            Self::Hamp => DefenseAttack::LabelOnly,
            Self::SimClr | Self::MoCo => DefenseAttack::EncoderLira,
            Self::None | Self::RelaxLoss | Self::Selena | Self::Dfkd | Self::DpSgd | Self::Other => DefenseAttack::Lira,
        }
    }

    /// The canaries that table 2 chooses for it; wrong labels if nothing better is known.
    #[must_use]
    pub const fn canaries(self) -> CanaryKind {
        match self {
            Self::Selena => CanaryKind::Duplicated,
            Self::SimClr | Self::MoCo => CanaryKind::OutOfDistribution,
            Self::None | Self::RelaxLoss | Self::Hamp | Self::Dfkd | Self::DpSgd | Self::Other => {
                CanaryKind::Mislabeled
            }
        }
    }
}

/// An attack that is adapted to a defense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DefenseAttack {
    /// LiRA on the logits of the samples.
    Lira,
    /// The label-only attack, for masked confidences.
    LabelOnly,
    /// LiRA on the similarity of an encoder's embeddings of the views, for self-supervised learning.
    EncoderLira,
    /// LiRA on the answers at the nearest neighbor of each sample, for SELENA without duplicates.
    NeighborLira,
    /// The label-only attack on the answers at the nearest neighbor.
    NeighborLabelOnly,
}

named!(DefenseAttack, "attack", [
    Lira "lira", LabelOnly "label-only", EncoderLira "encoder-lira", NeighborLira "neighbor-lira",
    NeighborLabelOnly "neighbor-label-only",
]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_defenses_are_other_ones() {
        assert_eq!(DefenseFamily::of_name(" selena"), DefenseFamily::Selena);
        assert_eq!(DefenseFamily::of_name("new"), DefenseFamily::Other);
    }
}
