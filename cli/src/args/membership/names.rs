//! Values of the options of `leakbound membership`.

use crate::args::{Parsed, number, resamples, whole};
use clap::ValueEnum;
use leakbound::membership::{LiraVariant, MembershipScore, Victims};
use leakbound::quantity::Probability;
use serde::{Serialize, Serializer};

/// Whose guesses are pooled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LevelName {
    /// All samples, and classes
    Population,
    /// The most vulnerable samples
    Sample,
    /// Both
    Both,
}

/// Shadow models that a victim is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModeName {
    /// Those with the sample and those without
    Online,
    /// Those without the sample
    Offline,
    /// Those with the sample (LiRA as tf-amia)
    InOnly,
}

/// Where variances come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum VarianceName {
    /// The models on the sample itself; for 64 models and more
    PerSample,
    /// All samples; for few models
    Pooled,
}

/// How views are taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ViewsName {
    /// Log densities are added up
    Independent,
    /// One normal vector with a shrunk covariance
    Multivariate,
}

/// What an attack looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswersName {
    /// Logits or scores on the samples
    Sample,
    /// Logits at the nearest neighbor of each sample
    Neighbor,
    /// Embeddings of views by an encoder (white box)
    Encoder,
}

/// Which views of a sample are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairsName {
    /// Every view with every other one
    All,
    /// The first with the second, the third with the fourth, and so on, as published
    Disjoint,
}

/// An attack among several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparedName {
    /// LiRA with a variance per sample
    Lira,
    /// LiRA with one variance for all samples
    LiraPooled,
    /// LiRA without models trained on the sample
    LiraOffline,
    /// RMIA
    Rmia,
    /// RMIA without models trained on the sample
    RmiaOffline,
    /// The privacy-risk score
    Risk,
    /// Logistic regression on which views are answered correctly
    LabelOnly,
    /// One threshold for the loss of all samples
    Threshold,
    /// One threshold for the largest confidence of all samples
    TopConfidence,
    /// One threshold for the entropy of all samples
    Entropy,
    /// A small network trained on sorted confidences
    Attacker,
    /// LiRA on the answers at the nearest neighbor of each sample
    NeighborLira,
    /// The same with one variance for all samples
    NeighborLiraPooled,
    /// Logistic regression on which views of the nearest neighbor get the label of the sample
    NeighborLabelOnly,
    /// LiRA on how alike an encoder's embeddings of views are
    EncoderLira,
    /// The same with one variance for all samples
    EncoderLiraPooled,
    /// One threshold for how alike the embeddings of views of all samples are
    EncoderThreshold,
}

/// A score by its name.
#[derive(Debug, Clone, Copy)]
pub struct ScoreName(pub MembershipScore);

/// A variant by its name.
#[derive(Debug, Clone, Copy)]
pub struct VariantName(pub LiraVariant);

/// Victims as they are written.
#[derive(Debug, Clone)]
pub struct VictimList(pub Victims);

impl Serialize for ScoreName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl Serialize for VariantName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl Serialize for VictimList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Victims::LeaveOneOut => serializer.serialize_str("loo"),
            Victims::HeldOut(victims) => victims.serialize(serializer),
        }
    }
}

pub(super) fn score(text: &str) -> Parsed<ScoreName> {
    text.trim().parse().map(ScoreName).map_err(|error: leakbound::Error| error.to_string())
}

pub(super) fn variant(text: &str) -> Parsed<VariantName> {
    text.trim().parse().map(VariantName).map_err(|error: leakbound::Error| error.to_string())
}

pub(super) fn victims(text: &str) -> Parsed<VictimList> {
    text.trim().parse().map(VictimList).map_err(|error: leakbound::Error| error.to_string())
}

pub(super) fn probability(text: &str) -> Parsed<Probability> {
    Probability::new(number(text)?).map_err(|error| error.to_string())
}

pub(super) fn top(text: &str) -> Parsed<usize> {
    whole(text, 1_000_000_000, "1e9").map(|count| count as usize)
}

pub(super) fn bins(text: &str) -> Parsed<usize> {
    whole(text, 10_000, "10000").map(|bins| bins as usize)
}

pub(super) fn resamples_or_none(text: &str) -> Parsed<usize> {
    if text.trim() == "0" { Ok(0) } else { resamples(text) }
}
