//! Training by FixMatch.

use super::numbers::{any_count, at_least_0, below_1, count, probability, rate};
use clap::Args;
use leakbound_train::{Augmentation, FixMatchPlan, Unlabeled};
use serde::Serialize;

/// How teachers and students learn from labeled and from unlabeled images.
#[derive(Debug, Clone, Args, Serialize)]
#[command(next_help_heading = "Advanced")]
pub struct FixMatchOptions {
    /// Steps of the student
    #[arg(long, value_name = "N", default_value = "3000", value_parser = count, allow_hyphen_values = true)]
    pub steps: usize,
    /// Steps of each teacher
    #[arg(long, value_name = "N", default_value = "500", value_parser = count, allow_hyphen_values = true)]
    pub teacher_steps: usize,
    /// Labeled images in a step
    #[arg(long, value_name = "B", default_value = "64", value_parser = count, allow_hyphen_values = true)]
    pub batch: usize,
    /// Unlabeled images in a step for each labeled one
    #[arg(long, value_name = "MU", default_value = "7", value_parser = count, allow_hyphen_values = true)]
    pub unlabeled_ratio: usize,
    /// Labeled images in a step of a teacher, which has more labels than a student [default: --batch]
    #[arg(long, value_name = "B", value_parser = count, allow_hyphen_values = true)]
    pub teacher_batch: Option<usize>,
    /// Unlabeled images in a step of a teacher for each labeled one [default: --unlabeled-ratio]
    #[arg(long, value_name = "MU", value_parser = count, allow_hyphen_values = true)]
    pub teacher_unlabeled_ratio: Option<usize>,
    /// Probability from which on the likeliest class of an unlabeled image is learned as its label
    #[arg(long, value_name = "P", default_value = "0.95", value_parser = probability, allow_hyphen_values = true)]
    pub confidence: f64,
    /// Weight of the loss of unlabeled images
    #[arg(long, value_name = "W", default_value = "1", value_parser = at_least_0, allow_hyphen_values = true)]
    pub unlabeled_weight: f64,
    /// Decay of the exponential moving average of the parameters, which is the network that answers
    #[arg(long, value_name = "D", default_value = "0.999", value_parser = below_1, allow_hyphen_values = true)]
    pub average: f64,
    /// Learning rate of the first step; it falls along a cosine to a fifth
    #[arg(long, value_name = "R", default_value = "0.03", value_parser = rate, allow_hyphen_values = true)]
    pub learning_rate: f64,
    /// Nesterov's momentum
    #[arg(long, value_name = "B", default_value = "0.9", value_parser = below_1, allow_hyphen_values = true)]
    pub momentum: f64,
    /// Weight decay
    #[arg(long, value_name = "W", default_value = "0.0005", value_parser = below_1, allow_hyphen_values = true)]
    pub weight_decay: f64,
    /// Flip images with probability 1/2 in weak augmentation
    #[arg(long)]
    pub flip: bool,
    /// Shift images by up to this many pixels on each axis in weak augmentation, padding with 0
    #[arg(long, value_name = "P", default_value = "0", value_parser = any_count, allow_hyphen_values = true)]
    pub shift: usize,
    /// Networks trained in parallel; fewer need less memory [default: fastest on the device]
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub side_by_side: Option<usize>,
}

impl FixMatchOptions {
    /// The training of each teacher, and that of the student.
    pub fn plans(&self) -> [FixMatchPlan; 2] {
        let augmentation = Augmentation { flip: self.flip, shift: self.shift };
        let plan = |steps: usize, batch, ratio| FixMatchPlan {
            steps: steps as u64,
            batch,
            unlabeled: Some(Unlabeled { ratio, confidence: self.confidence, weight: self.unlabeled_weight }),
            rate: self.learning_rate,
            momentum: self.momentum,
            weight_decay: self.weight_decay,
            average: self.average,
            augmentation: (self.flip || self.shift > 0).then_some(augmentation),
            side_by_side: self.side_by_side,
        };
        let (batch, ratio) = (self.batch, self.unlabeled_ratio);
        let of_teachers = (self.teacher_batch.unwrap_or(batch), self.teacher_unlabeled_ratio.unwrap_or(ratio));
        [plan(self.teacher_steps, of_teachers.0, of_teachers.1), plan(self.steps, batch, ratio)]
    }
}
