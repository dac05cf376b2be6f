//! One point of a ROC.

/// One threshold with its true and false positives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RocPoint {
    /// "Member" is guessed if score ≥ threshold; with `None`, it is never guessed.
    pub threshold: Option<f64>,
    /// Members at or above it.
    pub true_positives: u64,
    /// Non-members at or above it.
    pub false_positives: u64,
}

impl RocPoint {
    /// The threshold as a number: `inf`, which no finite score reaches, if "member" is never guessed.
    #[must_use]
    pub fn cut(&self) -> f64 {
        self.threshold.unwrap_or(f64::INFINITY)
    }
}
