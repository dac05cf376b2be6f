//! Options of `leakbound torch student`.

use super::DataOptions;
use super::network::{NetworkName, NetworkOptions};
use super::numbers::{any_count, count, factor, rate, share};
use super::training::TrainingOptions;
use crate::args::values::{Orders, Parsed, delta, number, orders};
use clap::{Args, ValueEnum};
use leakbound::accountant::PrivacyBudget;
use leakbound::distribution::{Noise, ThresholdForm, ThresholdTest};
use leakbound::divergence::{Conversion, order_grid};
use leakbound::quantity::{Delta, Epsilon, NoiseScale};
use leakbound::study::Number;
use leakbound::{Error, Result};
use leakbound_train::{LabelCosts, LabelingPlan, Optimizer, Schedule, StudentPlan, TrainingPlan};
use serde::{Serialize, Serializer};

/// Options of `leakbound torch student`.
#[derive(Debug, Clone, Args, Serialize)]
pub struct StudentOptions {
    /// Images and recording
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// Teachers
    #[arg(long, value_name = "K", default_value = "250", value_parser = count, allow_hyphen_values = true)]
    pub teachers: usize,
    /// Training images per teacher [default: an equal share of all]
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub images: Option<usize>,
    /// The network of each teacher
    #[command(flatten)]
    #[serde(flatten)]
    pub network: NetworkOptions,
    /// The training of each teacher
    #[command(flatten)]
    #[serde(flatten)]
    pub training: TrainingOptions,
    /// Fraction of the test images of each class that is public; the rest measures accuracy
    #[arg(long, value_name = "P", default_value = "0.8", value_parser = share, allow_hyphen_values = true)]
    pub public: f64,
    /// Privacy budgets: for each E, label queries until epsilon would exceed E and train a student; inf labels all
    #[arg(long, value_name = "E,...", value_delimiter = ',', value_parser = budget, default_value = "1,2,3,5", allow_hyphen_values = true)]
    #[serde(serialize_with = "serialize_budgets")]
    pub budgets: Vec<Epsilon>,
    /// Delta of the budgets
    #[arg(long, value_name = "D", value_parser = delta, default_value = "1e-5", allow_hyphen_values = true)]
    pub delta: Delta,
    /// Answer only if the noisy largest count reaches T votes
    #[arg(long, value_name = "T", value_parser = threshold, default_value = "200", allow_hyphen_values = true)]
    pub threshold: f64,
    /// Noise of the threshold test: gaussian:SIGMA
    #[arg(long, value_name = "NOISE", default_value = "gaussian:150", allow_hyphen_values = true)]
    pub threshold_noise: Noise,
    /// Where that noise is added: max (one draw on the largest count) or per-class (a draw on each count)
    #[arg(long, value_name = "FORM", default_value = "max")]
    pub threshold_form: ThresholdForm,
    /// Noise on every count of an answer: gaussian:SIGMA
    #[arg(long, value_name = "NOISE", default_value = "gaussian:40", allow_hyphen_values = true)]
    pub noise: Noise,
    /// What an answer is charged: for these votes, or for any votes
    #[arg(long, value_enum, default_value = "data-dependent")]
    pub costs: CostsName,
    /// Rényi orders of which the best is taken, such as 16 or 2..64 [default: a dense grid from 1.05 to 1e5]
    #[arg(long, value_parser = orders, allow_hyphen_values = true)]
    pub orders: Option<Orders>,
    /// Conversion of composed RDP to epsilon: improved or classic
    #[arg(long, value_name = "NAME", default_value = "improved")]
    pub conversion: Conversion,
    /// The network of each student [default: that of the teachers]
    #[arg(long, value_name = "NETWORK")]
    pub student_network: Option<NetworkName>,
    /// Hidden units of a student that is an mlp [default: those of the teachers]
    #[arg(long, value_name = "H", value_parser = count, allow_hyphen_values = true)]
    pub student_hidden: Option<usize>,
    /// Filters of each convolution of a student that is a cnn [default: those of the teachers]
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub student_filters: Option<usize>,
    /// Epochs over the labeled images
    #[arg(long, value_name = "N", default_value = "50", value_parser = count, allow_hyphen_values = true)]
    pub student_epochs: usize,
    /// Batch size of the student
    #[arg(long, value_name = "N", default_value = "128", value_parser = count, allow_hyphen_values = true)]
    pub student_batch: usize,
    /// Learning rate of Adam for students
    #[arg(long, value_name = "R", default_value = "0.001", value_parser = rate, allow_hyphen_values = true)]
    pub student_learning_rate: f64,
    /// What that rate is multiplied by after each pass
    #[arg(long, value_name = "F", default_value = "0.95", value_parser = factor, allow_hyphen_values = true)]
    pub student_decay: f64,
    /// Randomly drawn training images that students are queried on [default: 2000, or all if there are fewer]
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub private: Option<usize>,
    /// Networks without privacy to compare with: trained like students, but on all private images with their true labels
    #[arg(long, value_name = "N", default_value = "0", value_parser = any_count, allow_hyphen_values = true)]
    pub baselines: usize,
    /// Independent runs, with new partitions, weights, query orders and noise
    #[arg(long, value_name = "N", default_value = "1", value_parser = count, allow_hyphen_values = true)]
    pub runs: usize,
}

/// What an answer is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostsName {
    /// For the votes that were cast: as the literature reports
    DataDependent,
    /// For any votes: a guarantee where one order is given
    DataIndependent,
}

impl StudentOptions {
    /// The library's plan, with this many training images.
    pub fn plan(&self, seed: u64, training_images: usize) -> Result<StudentPlan> {
        let test =
            ThresholdTest::new(self.threshold, scale("--threshold-noise", self.threshold_noise)?, self.threshold_form)?;
        let network = self.network.plan();
        let orders = self.orders.as_ref().map_or_else(order_grid, |orders| orders.0.clone());
        let budget = |&epsilon| PrivacyBudget::new(epsilon, self.delta, self.conversion, orders.clone());
        Ok(StudentPlan {
            teachers: self.teachers,
            images: self.images,
            network,
            training: self.training.plan(30),
            labeling: LabelingPlan {
                test,
                sigma: scale("--noise", self.noise)?,
                budgets: self.budgets.iter().map(budget).collect::<Result<_>>()?,
                costs: match self.costs {
                    CostsName::DataDependent => LabelCosts::DataDependent,
                    CostsName::DataIndependent => LabelCosts::DataIndependent,
                },
            },
            public: self.public,
            private: self.private.unwrap_or(training_images.min(2000)),
            student_network: self.student_network.unwrap_or(self.network.network).plan(
                self.student_hidden.unwrap_or(self.network.hidden),
                self.student_filters.unwrap_or(self.network.filters),
            ),
            student_training: TrainingPlan::new(
                self.student_epochs,
                self.student_batch,
                Optimizer::ADAM,
                Schedule::Exponential {
                    rate: self.student_learning_rate,
                    factor: self.student_decay,
                    parts: self.student_epochs,
                },
            ),
            baselines: self.baselines,
            runs: self.runs,
            seed,
        })
    }
}

/// The accountant is that of Gaussian noise.
pub(super) fn scale(operation: &'static str, noise: Noise) -> Result<NoiseScale> {
    match noise {
        Noise::Gaussian(sigma) => Ok(sigma),
        Noise::Laplace(_) => {
            Err(Error::Rejected { operation, reason: format!("Confident-GNMax has Gaussian noise, not {noise}") })
        }
    }
}

pub(super) fn threshold(text: &str) -> Parsed<f64> {
    let value = number(text)?;
    if value.is_finite() { Ok(value) } else { Err(format!("threshold = {value} is not in (-inf, inf)")) }
}

/// JSON has no infinity.
fn serialize_budgets<S: Serializer>(budgets: &[Epsilon], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_seq(budgets.iter().map(|budget| Number(budget.get())))
}

fn budget(text: &str) -> Parsed<Epsilon> {
    Epsilon::new(number(text)?).map_err(|_| format!("budget = {text} is not in (0, inf]"))
}
