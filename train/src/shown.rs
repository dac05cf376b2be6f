//! What there is to see in recorded arrays.

/// What there is to see in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Nothing.
    Nothing,
    /// Images: \[model, image, channel, row, column\] in [0, 1].
    Images,
    /// A course: \[model, iteration\].
    Iterations,
}
