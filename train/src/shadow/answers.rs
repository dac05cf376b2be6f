//! What shadow models answered.

use crate::answers::largest;
use crate::defense::method::Shown;
use ndarray::{Array1, Array2, Array4, Array5, ArrayD, Axis};

/// Answers of shadow models, and their training sets.
///
/// S audited samples, A of which are attacked: all of them, or, if they are duplicated, the mislabeled half.
#[derive(Debug, Clone, PartialEq)]
pub struct ShadowAnswers {
    /// \[model, attacked sample, view, class\].
    pub logits: Array4<f32>,
    /// Answers at the nearest neighbors of the samples.
    pub neighbors: Option<NeighborAnswers>,
    /// \[model, attacked sample\]: true if the model was trained on the sample.
    pub keep: Array2<bool>,
    /// \[attacked sample\]: the label in training.
    pub labels: Array1<i64>,
    /// \[attacked sample\]: the training image behind it, or the one it replaced.
    pub audit_index: Array1<i32>,
    /// Training images of every model, sorted.
    pub fixed_index: Array1<i32>,
    /// \[model\]: share of the test images that it classifies correctly.
    pub test_accuracy: Array1<f32>,
    /// \[model, attacked sample\]: true if the model was trained on the sample's correctly labeled duplicate.
    pub duplicate_keep: Option<Array2<bool>>,
    /// \[attacked sample\]: the label of the sample's copy, on which every model was trained.
    pub copy_labels: Option<Array1<i64>>,
    /// \[attacked sample\]: image of the other data set.
    pub source_index: Option<Array1<i32>>,
    /// \[attacked sample, channel, row, column\]: pixels that were drawn.
    pub canary_pixels: Option<Array4<u8>>,
    /// Answers of the models' defense besides the logits.
    pub further: Vec<FurtherAnswers>,
    /// Views of the first attacked samples that their defense asks about, \[sample, view, channel, row, column\] in
    /// [0, 1].
    pub views: Option<Array5<f32>>,
    /// Which view is the image itself.
    pub itself: usize,
}

/// Answers at the nearest neighbor of each attacked sample among the images of every model.
#[derive(Debug, Clone, PartialEq)]
pub struct NeighborAnswers {
    /// \[attacked sample\]: the training image, another one for each sample.
    pub index: Array1<i32>,
    /// \[model, attacked sample, 1, class\].
    pub logits: Array4<f32>,
}

/// What models answer besides their logits, by their defense.
#[derive(Debug, Clone, PartialEq)]
pub struct FurtherAnswers {
    /// Its name in the recording.
    pub name: &'static str,
    /// The name of its mean over the models, if it has one number for each.
    pub mean: Option<&'static str>,
    /// \[model, ...\]; see [`Defense`](crate::Defense) for the other dimensions.
    pub values: ArrayD<f32>,
    /// What a figure of it shows.
    pub shown: Shown,
}

impl FurtherAnswers {
    /// The mean over the models with its name, if it has one.
    #[must_use]
    pub fn named_mean(&self) -> Option<(&'static str, f64)> {
        let sum: f64 = self.values.iter().map(|&value| f64::from(value)).sum();
        self.mean.map(|name| (name, sum / self.values.len() as f64))
    }
}

impl ShadowAnswers {
    /// Mean over the models.
    #[must_use]
    pub fn mean_test_accuracy(&self) -> f64 {
        self.test_accuracy.iter().map(|&accuracy| f64::from(accuracy)).sum::<f64>() / self.test_accuracy.len() as f64
    }

    /// Share of samples, themselves and not another view, whose label in training is answered, over the models that
    /// were trained on them (`member`) or were not; nothing if there is no such pair.
    #[must_use]
    pub fn audit_accuracy(&self, member: bool) -> Option<f64> {
        let (mut right, mut all) = (0u64, 0u64);
        for ((model, sample), _) in self.keep.indexed_iter().filter(|&(_, &keep)| keep == member) {
            let answer = self.logits.index_axis(Axis(0), model).index_axis_move(Axis(0), sample);
            let logits = answer.index_axis(Axis(0), self.itself);
            right += u64::from(largest(&logits.to_vec()) as i64 == self.labels[sample]);
            all += 1;
        }
        (all > 0).then(|| right as f64 / all as f64)
    }
}
