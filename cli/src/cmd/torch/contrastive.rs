//! The encoders of contrastive defenses, and the classifiers on them.

use super::numbers::{below_1, count, rate, two_or_more};
use super::training::{AugmentationOptions, TrainingOptions};
use clap::Args;
use leakbound::error::{Error, Result};
use leakbound_train::{ClassifierPlan, EncoderPlan, MoCo, SimClr};
use serde::Serialize;

/// How encoders learn without labels, and classifiers on them with labels.
#[derive(Debug, Clone, Args, Serialize)]
#[command(next_help_heading = "Advanced")]
pub struct ContrastiveOptions {
    /// Epochs of the encoder of simclr or moco
    #[arg(long, value_name = "N", default_value = "800", value_parser = count, allow_hyphen_values = true)]
    pub encoder_epochs: usize,
    /// Batch size of the encoder
    #[arg(long, value_name = "N", default_value = "512", value_parser = two_or_more, allow_hyphen_values = true)]
    pub encoder_batch: usize,
    /// Learning rate of the encoder, which falls to 0 as half a cosine
    #[arg(long, value_name = "R", default_value = "0.06", value_parser = rate, allow_hyphen_values = true)]
    pub encoder_rate: f64,
    /// What similarities are divided by in the loss of the encoder [default: 0.5; moco 0.07]
    #[arg(long, value_name = "T", value_parser = rate, allow_hyphen_values = true)]
    pub temperature: Option<f64>,
    /// Epochs of the linear classifier on the encoder
    #[arg(long, value_name = "N", default_value = "100", value_parser = count, allow_hyphen_values = true)]
    pub classifier_epochs: usize,
    /// Batch size of the classifier
    #[arg(long, value_name = "N", default_value = "256", value_parser = count, allow_hyphen_values = true)]
    pub classifier_batch: usize,
    /// Learning rate of the classifier, a tenth of that after 30, 60 and 90% of its epochs
    #[arg(long, value_name = "R", default_value = "0.5", value_parser = rate, allow_hyphen_values = true)]
    pub classifier_rate: f64,
    /// Random views of each audited sample whose embeddings by the encoder are recorded
    #[arg(long, value_name = "V", default_value = "12", value_parser = two_or_more, allow_hyphen_values = true)]
    pub encoder_views: usize,
    /// Keys that moco tells an image apart from
    #[arg(long, value_name = "Q", default_value = "4096", value_parser = two_or_more, allow_hyphen_values = true)]
    pub queue: usize,
    /// Share that the parameters of moco's encoder of keys keep at a step
    #[arg(long, value_name = "M", default_value = "0.999", value_parser = below_1, allow_hyphen_values = true)]
    pub key_momentum: f64,
}

impl ContrastiveOptions {
    /// SimCLR with these options.
    pub fn simclr(&self) -> SimClr {
        SimClr { encoder: self.encoder(SimClr::PUBLISHED.encoder.temperature) }
    }

    /// MoCo with these options.
    pub fn moco(&self) -> MoCo {
        let encoder = self.encoder(MoCo::PUBLISHED.encoder.temperature);
        MoCo { encoder, queue: self.queue, momentum: self.key_momentum }
    }

    fn encoder(&self, temperature: f64) -> EncoderPlan {
        EncoderPlan {
            epochs: self.encoder_epochs,
            batch: self.encoder_batch,
            rate: self.encoder_rate,
            temperature: self.temperature.unwrap_or(temperature),
            classifier: ClassifierPlan {
                epochs: self.classifier_epochs,
                batch: self.classifier_batch,
                rate: self.classifier_rate,
            },
            views: self.encoder_views,
        }
    }

    /// Options of both with whether they are at another value than their default.
    pub fn chosen(&self) -> [(&'static str, bool); 8] {
        let EncoderPlan { epochs, batch, rate, classifier, views, .. } = SimClr::PUBLISHED.encoder;
        [
            ("--encoder-epochs", self.encoder_epochs != epochs),
            ("--encoder-batch", self.encoder_batch != batch),
            ("--encoder-rate", self.encoder_rate != rate),
            ("--temperature", self.temperature.is_some()),
            ("--classifier-epochs", self.classifier_epochs != classifier.epochs),
            ("--classifier-batch", self.classifier_batch != classifier.batch),
            ("--classifier-rate", self.classifier_rate != classifier.rate),
            ("--encoder-views", self.encoder_views != views),
        ]
    }

    /// Those of MoCo alone.
    pub fn chosen_of_moco(&self) -> [(&'static str, bool); 2] {
        let MoCo { queue, momentum, .. } = MoCo::PUBLISHED;
        [("--queue", self.queue != queue), ("--key-momentum", self.key_momentum != momentum)]
    }
}

/// # Errors
/// [`Error::Rejected`] for an option of training by labels that is not at its default.
pub fn check_training(training: &TrainingOptions, augmentation: &AugmentationOptions) -> Result<()> {
    let moved = [("--flip", augmentation.flip), ("--shift", augmentation.shift > 0)];
    let mut options = training.chosen().into_iter().chain(moved);
    let Some((option, _)) = options.find(|&(_, chosen)| chosen) else { return Ok(()) };
    let reason = format!(
        "{option} is for networks that learn labels; encoders learn from their own views, as set by --encoder-epochs, \
         --encoder-batch, --encoder-rate and the same options of --classifier; leave it out"
    );
    Err(Error::Rejected { operation: "defense", reason })
}
