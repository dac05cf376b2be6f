//! The defense of the models that a recipe trains.

use super::contrastive::ContrastiveOptions;
use super::noise::NoiseOptions;
use super::numbers::{above_0, at_least_0, below_1, count, rate};
use clap::{Args, ValueEnum};
use leakbound::error::{Error, Result};
use leakbound_train::{Defense, Dfkd, DpSgd, Hamp, RelaxLoss, Selena};
use serde::Serialize;

/// Which defense.
#[derive(Debug, Clone, Args, Serialize)]
#[command(next_help_heading = "Advanced")]
pub struct DefenseOptions {
    /// The defense against membership inference
    #[arg(long, value_name = "DEFENSE", default_value = "none", help_heading = None)]
    pub defense: DefenseName,
    /// Loss in nats that relaxloss aims at
    #[arg(long, value_name = "NATS", default_value = "0.5946", value_parser = at_least_0, allow_hyphen_values = true)]
    pub loss_threshold: f64,
    /// Entropy of the soft labels of hamp as a share of the largest
    #[arg(
        long,
        value_name = "S",
        default_value = "0.9996837722339832",
        value_parser = below_1,
        allow_hyphen_values = true
    )]
    pub entropy_share: f64,
    /// Weight of the entropy of answers in the loss of hamp
    #[arg(long, value_name = "W", default_value = "0.005", value_parser = at_least_0, allow_hyphen_values = true)]
    pub entropy_weight: f64,
    /// Models that selena splits the images among
    #[arg(long, value_name = "K", default_value = "25", value_parser = count, allow_hyphen_values = true)]
    pub split_models: usize,
    /// Of them, models that leave out an image
    #[arg(long, value_name = "L", default_value = "10", value_parser = count, allow_hyphen_values = true)]
    pub left_out: usize,
    /// Iterations of dfkd, each of synthesis and of distillation
    #[arg(long, value_name = "T", default_value = "240", value_parser = count, allow_hyphen_values = true)]
    pub synthesis_iterations: usize,
    /// Images that dfkd makes in each iteration
    #[arg(long, value_name = "N", default_value = "256", value_parser = count, allow_hyphen_values = true)]
    pub synthetic_images: usize,
    /// Steps in which dfkd makes them
    #[arg(long, value_name = "K", default_value = "10", value_parser = count, allow_hyphen_values = true)]
    pub synthesis_steps: usize,
    /// Filters of the generator of dfkd
    #[arg(long, value_name = "N", default_value = "64", value_parser = count, allow_hyphen_values = true)]
    pub generator_filters: usize,
    /// Epochs of the student of dfkd in each iteration, over all synthetic images so far
    #[arg(long, value_name = "E", default_value = "5", value_parser = count, allow_hyphen_values = true)]
    pub student_epochs: usize,
    /// Temperature of the answers that the student of dfkd learns
    #[arg(long, value_name = "T", default_value = "20", value_parser = above_0, allow_hyphen_values = true)]
    pub distillation_temperature: f64,
    #[command(flatten)]
    #[serde(flatten)]
    pub contrastive: ContrastiveOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub private: PrivateOptions,
}

/// Training by DP-SGD, with the epochs and the batch size of all models.
#[derive(Debug, Clone, Args, Serialize)]
#[command(next_help_heading = "Advanced")]
pub struct PrivateOptions {
    #[command(flatten)]
    #[serde(flatten)]
    pub noise: NoiseOptions,
    /// Learning rate of dp-sgd, which has its own optimizer: SGD
    #[arg(long, value_name = "R", default_value = "1", value_parser = rate, allow_hyphen_values = true)]
    pub private_learning_rate: f64,
    /// Momentum of dp-sgd
    #[arg(long, value_name = "B", default_value = "0", value_parser = below_1, allow_hyphen_values = true)]
    pub private_momentum: f64,
    /// Views of each image, drawn by --flip and --shift at every step, of which dp-sgd averages the gradients before it
    /// clips them
    #[arg(long, value_name = "K", default_value = "1", value_parser = count, allow_hyphen_values = true)]
    pub gradient_views: usize,
}

impl PrivateOptions {
    fn defense(&self) -> Result<DpSgd> {
        Ok(DpSgd {
            clipping_norm: self.noise.clipping_norm,
            noise: self.noise.noise()?,
            delta: self.noise.delta,
            learning_rate: self.private_learning_rate,
            momentum: self.private_momentum,
            average: self.noise.average,
            views: self.gradient_views,
        })
    }

    /// Options with whether they are at another value than their default.
    fn chosen(&self) -> impl Iterator<Item = (&'static str, bool)> {
        let own = [
            ("--private-learning-rate", self.private_learning_rate != 1.0),
            ("--private-momentum", self.private_momentum != 0.0),
            ("--gradient-views", self.gradient_views != 1),
        ];
        self.noise.chosen().into_iter().chain(own)
    }
}

/// Defenses by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DefenseName {
    /// None: mean cross-entropy on the labels
    None,
    /// The loss of a batch is kept at --loss-threshold (Chen et al., 2022)
    #[value(name = "relaxloss")]
    #[serde(rename = "relaxloss")]
    RelaxLoss,
    /// Soft labels, less confident answers, and random ones in their order (Chen and Pattabiraman, 2024)
    Hamp,
    /// Distillation of --split-models, each image by --left-out that did not see it (Tang et al., 2022)
    Selena,
    /// Distillation on images that a generator makes of batch-normalization statistics (Fang et al., 2022)
    Dfkd,
    /// Noisy gradients of clipped norm, for --epsilon or --noise-multiplier (Abadi et al., 2016)
    DpSgd,
    /// An encoder that learns without labels, and a linear classifier on it (Chen et al., 2020)
    #[value(name = "simclr")]
    #[serde(rename = "simclr")]
    SimClr,
    /// An encoder that learns without labels, from a queue of keys, and a linear classifier on it (He et al., 2020)
    #[value(name = "moco")]
    #[serde(rename = "moco")]
    MoCo,
}

impl DefenseOptions {
    /// Rejects an option of another defense that is not at its default, and the lack of one that it needs.
    pub fn defense(&self) -> Result<Defense> {
        self.check()?;
        let &Self { loss_threshold, entropy_share, entropy_weight, split_models, left_out, .. } = self;
        Ok(match self.defense {
            DefenseName::None => Defense::None,
            DefenseName::RelaxLoss => Defense::RelaxLoss(RelaxLoss { loss_threshold }),
            DefenseName::Hamp => Defense::Hamp(Hamp { entropy_share, entropy_weight }),
            DefenseName::Selena => Defense::Selena(Selena { models: split_models, left_out }),
            DefenseName::Dfkd => Defense::Dfkd(self.dfkd()),
            DefenseName::DpSgd => Defense::DpSgd(self.private.defense()?),
            DefenseName::SimClr => Defense::SimClr(self.contrastive.simclr()),
            DefenseName::MoCo => Defense::MoCo(self.contrastive.moco()),
        })
    }

    /// Whether networks learn from views of images before they learn labels.
    pub fn is_contrastive(&self) -> bool {
        matches!(self.defense, DefenseName::SimClr | DefenseName::MoCo)
    }

    fn dfkd(&self) -> Dfkd {
        Dfkd {
            iterations: self.synthesis_iterations,
            images: self.synthetic_images,
            steps: self.synthesis_steps,
            epochs: self.student_epochs,
            filters: self.generator_filters,
            temperature: self.distillation_temperature,
        }
    }

    /// A document has all options at their values, and is read back: those at their defaults fit every defense.
    fn check(&self) -> Result<()> {
        let (relaxloss, hamp, selena) = (RelaxLoss::PUBLISHED, Hamp::PUBLISHED, Selena::PUBLISHED);
        let (dfkd, published) = (self.dfkd(), Dfkd::PUBLISHED);
        let parameters = [
            ("--loss-threshold", self.loss_threshold != relaxloss.loss_threshold, DefenseName::RelaxLoss),
            ("--entropy-share", self.entropy_share != hamp.entropy_share, DefenseName::Hamp),
            ("--entropy-weight", self.entropy_weight != hamp.entropy_weight, DefenseName::Hamp),
            ("--split-models", self.split_models != selena.models, DefenseName::Selena),
            ("--left-out", self.left_out != selena.left_out, DefenseName::Selena),
            ("--synthesis-iterations", dfkd.iterations != published.iterations, DefenseName::Dfkd),
            ("--synthetic-images", dfkd.images != published.images, DefenseName::Dfkd),
            ("--synthesis-steps", dfkd.steps != published.steps, DefenseName::Dfkd),
            ("--generator-filters", dfkd.filters != published.filters, DefenseName::Dfkd),
            ("--student-epochs", dfkd.epochs != published.epochs, DefenseName::Dfkd),
            ("--distillation-temperature", dfkd.temperature != published.temperature, DefenseName::Dfkd),
        ];
        let private = self.private.chosen().map(|(option, chosen)| (option, chosen, DefenseName::DpSgd));
        let of_moco = self.contrastive.chosen_of_moco().map(|(option, chosen)| (option, chosen, DefenseName::MoCo));
        let encoder = if self.is_contrastive() { self.defense } else { DefenseName::SimClr };
        let of_encoder = self.contrastive.chosen().map(|(option, chosen)| (option, chosen, encoder));
        let mut all = parameters.into_iter().chain(private).chain(of_moco).chain(of_encoder);
        let Some((option, _, of)) = all.find(|&(_, chosen, of)| chosen && of != self.defense) else { return Ok(()) };
        let [of, ours] = [of, self.defense].map(name);
        let reason = format!("{option} is an option of {of}, not of {ours}; leave it out, or take --defense {of}");
        Err(Error::Rejected { operation: "defense", reason })
    }
}

fn name(defense: DefenseName) -> String {
    defense.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
