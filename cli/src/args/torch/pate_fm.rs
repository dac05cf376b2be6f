//! Options of `leakbound torch pate-fm`.

use super::DataOptions;
use super::fixmatch::FixMatchOptions;
use super::network::NetworkOptions;
use super::numbers::count;
use super::student::{scale, threshold};
use crate::args::values::delta;
use clap::Args;
use leakbound::Result;
use leakbound::distribution::{Noise, ThresholdForm, ThresholdTest};
use leakbound::quantity::Delta;
use leakbound_train::{LabelGoal, PateFmPlan, VotingPlan};
use serde::Serialize;

/// Options of `leakbound torch pate-fm`.
#[derive(Debug, Clone, Args, Serialize)]
pub struct PateFmOptions {
    /// Images and recording
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// Teachers; each has an equal part of the labels
    #[arg(long, value_name = "T", default_value = "100", value_parser = count, allow_hyphen_values = true)]
    pub teachers: usize,
    /// Answer only if the noisy largest count reaches T votes
    #[arg(long, value_name = "T", value_parser = threshold, default_value = "50", allow_hyphen_values = true)]
    pub threshold: f64,
    /// Noise of the threshold test: gaussian:SIGMA
    #[arg(long, value_name = "NOISE", default_value = "gaussian:40", allow_hyphen_values = true)]
    pub threshold_noise: Noise,
    /// Where that noise is added: per-class (a draw on each count, as published) or max (one draw on the largest count)
    #[arg(long, value_name = "FORM", default_value = "per-class")]
    pub threshold_form: ThresholdForm,
    /// Noise on every count of an answer: gaussian:SIGMA
    #[arg(long, value_name = "NOISE", default_value = "gaussian:20", allow_hyphen_values = true)]
    pub noise: Noise,
    /// Labels of the student: queries end when there are so many
    #[arg(long, value_name = "K", default_value = "250", value_parser = count, allow_hyphen_values = true)]
    pub labels: usize,
    /// Labels of each class instead: queries end when every class has so many; answers beyond cost as much and are not
    /// used
    #[arg(long, value_name = "K", value_parser = count, conflicts_with = "labels", allow_hyphen_values = true)]
    pub labels_per_class: Option<usize>,
    /// Answers at most with --labels-per-class, for which epsilon is claimed [default: --queries]
    #[arg(long, value_name = "A", value_parser = count, requires = "labels_per_class", allow_hyphen_values = true)]
    pub answers: Option<usize>,
    /// Queries at most, for which epsilon is claimed, whether or not they are made: training images in random order
    #[arg(long, value_name = "N", default_value = "1000", value_parser = count, allow_hyphen_values = true)]
    pub queries: usize,
    /// Delta of epsilon
    #[arg(long, value_name = "D", default_value = "1e-5", value_parser = delta, allow_hyphen_values = true)]
    pub delta: Delta,
    /// Canaries: training images with a wrong label, drawn at random
    #[arg(long, value_name = "N", default_value = "1000", value_parser = count, allow_hyphen_values = true)]
    pub canaries: usize,
    /// The network of teachers and students
    #[command(flatten)]
    #[serde(flatten)]
    pub network: NetworkOptions,
    /// Their training
    #[command(flatten)]
    #[serde(flatten)]
    pub training: FixMatchOptions,
    /// Independent runs, with new canaries, partitions, weights, queries and noise
    #[arg(long, value_name = "N", default_value = "1", value_parser = count, allow_hyphen_values = true)]
    pub runs: usize,
}

impl PateFmOptions {
    /// The library's plan.
    pub fn plan(&self, seed: u64) -> Result<PateFmPlan> {
        let sigma = scale("--threshold-noise", self.threshold_noise)?;
        let [teacher_training, student_training] = self.training.plans();
        Ok(PateFmPlan {
            teachers: self.teachers,
            network: self.network.plan(),
            teacher_training,
            student_training,
            voting: VotingPlan {
                test: ThresholdTest::new(self.threshold, sigma, self.threshold_form)?,
                sigma: scale("--noise", self.noise)?,
                goal: match self.labels_per_class {
                    Some(labels) => LabelGoal::PerClass { labels, answers: self.answers },
                    None => LabelGoal::Total(self.labels),
                },
                queries: self.queries,
                delta: self.delta,
            },
            canaries: self.canaries,
            runs: self.runs,
            seed,
        })
    }
}
