//! How DFKD is carried out.

use serde::Serialize;

/// Data-free knowledge distillation: a network that never sees a training image.
///
/// A teacher is trained by cross-entropy. Then, in each of T iterations, a generator makes n images whose statistics in
/// the teacher's layers of batch normalization are close to the running ones; the images, as bytes, and the teacher's
/// answers enter a memory bank; and a student of the same shape is trained for some epochs on the whole bank, with the
/// batch, optimizer, schedule and augmentation of the plan. Only the student is queried.
///
/// - An image batch minimizes Σ ‖mean - running mean‖₂ + ‖variance - running variance‖₂ over the layers, as in Aerni et
///   al.; the class-prior and adversarial losses of Fang et al. are left out, as there.
/// - The generator meta-learns (first-order MAML): for each batch, a copy of it and fresh noise take `steps` steps of
///   Adam; the images of the step with the least distance are kept, and the gradients of all steps together move the
///   generator by one step of Adam. Its first layer is drawn again for each batch, so that batches differ.
/// - The student minimizes T² · CE(teacher at temperature T, student at temperature T).
///
/// Besides the logits, the recording has `synthetic_images` \[model, 16, channel, row, column\] in [0, 1], of the last
/// iteration; `statistics_distance` \[model, iteration\], that of the images kept; and `teacher_test_accuracy`
/// \[model\].
///
/// # References
/// Fang et al. (2022), "Up to 100x faster data-free knowledge distillation"; Yin et al. (2020), "Dreaming to distill:
/// Data-free knowledge transfer via DeepInversion", (4); Aerni, Zhang and Tramèr (2024), "Evaluations of machine
/// learning privacy defenses are misleading", appendix A.4.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Dfkd {
    /// Iterations, at least 1.
    pub iterations: usize,
    /// n, synthetic images of an iteration, at least 2.
    pub images: usize,
    /// Steps that noise and generator take for each batch, at least 1.
    pub steps: usize,
    /// Epochs on the memory bank in each iteration, at least 1.
    pub epochs: usize,
    /// Filters of the last hidden layer of the generator; the others have twice this number. At least 1.
    pub filters: usize,
    /// T, above 0.
    pub temperature: f64,
}

impl Dfkd {
    /// Iterations, images and epochs of Aerni et al. (2024), appendix A.4; the rest as the program of Fang et al. has it
    /// for CIFAR.
    pub const PUBLISHED: Self =
        Self { iterations: 240, images: 256, steps: 10, epochs: 5, filters: 64, temperature: 20.0 };
}
