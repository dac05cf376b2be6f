//! Properties of training data inferred from the answers of a student, or from the weights of networks.

mod accuracy;
mod attack;
mod distance;
mod layers;
mod paired;
mod restore;
mod split;

pub use accuracy::{InferenceAccuracy, inference_accuracy};
pub use attack::PropertyAttack;
pub use distance::{PropertyDecision, property_distance};
pub use layers::LayerWeights;
pub use paired::{PairedInferences, paired_inferences};
pub use restore::{RestoredPoints, restore_labeled_points};
pub use split::NetworkSplit;
