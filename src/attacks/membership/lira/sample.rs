//! The answers about one sample.

/// The least standard deviation in units of the largest value near it: the resolution of single precision.
const RESOLUTION: f64 = f32::EPSILON as f64;

/// One sample: the answers of all models, and who was trained on it.
pub(super) struct Sample<'a> {
    /// Views of model after model.
    pub(super) scores: &'a [f64],
    pub(super) views: usize,
    /// Per model, whether it was trained on the sample.
    pub(super) members: &'a [bool],
    /// Per model, whether it may be a shadow model.
    pub(super) shadows: &'a [bool],
}

impl Sample<'_> {
    /// The shadow models of one side.
    #[inline]
    pub(super) fn side(&self, member: bool) -> impl Iterator<Item = usize> + Clone + '_ {
        (0..self.members.len()).filter(move |&model| self.shadows[model] && self.members[model] == member)
    }

    #[inline]
    pub(super) fn answer(&self, model: usize) -> &[f64] {
        &self.scores[model * self.views..][..self.views]
    }
}

/// The least variance of values near these. Every distance between them is below 2 of the largest, so that a squared
/// distance over it is at most (2/RESOLUTION)², never infinite.
// In the innermost loop of another file, which may be compiled apart from this one.
#[inline]
pub(super) fn floor(x: f64, outside: f64, inside: f64) -> f64 {
    let scale = RESOLUTION * x.abs().max(outside.abs()).max(inside.abs());
    (scale * scale).max(f64::MIN_POSITIVE)
}
