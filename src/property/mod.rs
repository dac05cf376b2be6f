//! Properties of training data inferred from the answers of a student.

mod distance;
mod restore;

pub use distance::{PropertyDecision, property_distance};
pub use restore::{RestoredPoints, restore_labeled_points};
