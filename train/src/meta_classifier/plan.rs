//! Which meta-classifiers learn, and how.

use crate::checks::{check_counts, check_range};
use leakbound::error::Result;
use leakbound::property::PropertyAttack;
use serde::Serialize;

/// Meta-classifiers that learn from the same networks.
///
/// The defaults of training are those of the thesis: Adam at 0.001, multiplied by 0.95 after every second epoch, for at
/// most 100 epochs of batches of 24, ended when the accuracy on the networks for validation was not better for 30
/// epochs; the parameters of the best epoch are kept.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetaClassifierPlan {
    /// The meta-classifiers.
    pub classifiers: Vec<MetaClassifier>,
    /// The most passes over the networks.
    pub epochs: usize,
    /// Networks in a step.
    pub batch: usize,
    /// Learning rate of Adam in the first two epochs.
    pub rate: f64,
    /// The factor of the learning rate after every second epoch.
    pub decay: f64,
    /// Epochs without a better accuracy on the networks for validation, after which learning ends.
    pub patience: usize,
    /// Share of the units in front of the last layer that are dropped in each step, in [0, 1).
    pub dropout: f64,
    /// The seed of all random numbers.
    pub seed: u64,
}

/// A network whose inputs are the weights of others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum MetaClassifier {
    /// The weights as one vector.
    Flat(FlatPlan),
    /// The weights as sets of units.
    Set(SetPlan),
}

impl MetaClassifier {
    /// Its name among the attacks.
    #[must_use]
    pub const fn attack(self) -> PropertyAttack {
        match self {
            Self::Flat(_) => PropertyAttack::Flat,
            Self::Set(_) => PropertyAttack::Set,
        }
    }
}

/// One-dimensional convolutions on the vector of weights: blocks of `convolutions` convolutions with ReLU and the largest
/// of every `pooling` values; each block has twice the filters of the one before. Then `dense` layers with ReLU and
/// dropout, and the last layer.
///
/// The published network has 21 layers with weights, and the default has 7, which two cores train in minutes.
/// `FlatPlan { blocks: 6, convolutions: 3, dense: 2, .. }` has 21.
///
/// # References
/// Ihrig (2021), thesis, section 5.3.2, which takes the network of its reference \[17\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FlatPlan {
    /// Blocks.
    pub blocks: usize,
    /// Convolutions of a block.
    pub convolutions: usize,
    /// Filters of the first block.
    pub filters: usize,
    /// Length of a kernel, odd.
    pub kernel: usize,
    /// Values per pool; the largest is kept.
    pub pooling: usize,
    /// Dense layers before the last one.
    pub dense: usize,
    /// Units of each.
    pub units: usize,
}

impl Default for FlatPlan {
    fn default() -> Self {
        Self { blocks: 5, convolutions: 1, filters: 8, kernel: 9, pooling: 4, dense: 1, units: 64 }
    }
}

/// A deep set for each layer: what belongs to a unit goes through two dense layers with ReLU that all units of the layer
/// share, and is averaged over the units. The averages of all layers, side by side, go through a dense layer with ReLU
/// and dropout, and the last layer.
///
/// A unit has its numbers besides the kernel, and its weights: in the first layer as they are, in a later layer each
/// times the representation of the unit below, summed over the units below. The order of hidden units therefore does
/// not matter. The units of the last layer are classes, which are not a set: their representations are concatenated.
///
/// # References
/// Ganju, Wang, Yang, Gunter and Borisov (2018), "Property inference attacks on fully connected neural networks using
/// permutation invariant representations", section 4.3; Zaheer et al. (2017), "Deep sets".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SetPlan {
    /// Units of the first of two dense layers, and of the layer behind the averages.
    pub units: usize,
    /// Numbers that represent a unit.
    pub representation: usize,
}

impl Default for SetPlan {
    fn default() -> Self {
        Self { units: 64, representation: 16 }
    }
}

impl Default for MetaClassifierPlan {
    /// Both meta-classifiers.
    fn default() -> Self {
        Self {
            classifiers: vec![MetaClassifier::Flat(FlatPlan::default()), MetaClassifier::Set(SetPlan::default())],
            epochs: 100,
            batch: 24,
            rate: 1e-3,
            decay: 0.95,
            patience: 30,
            dropout: 0.5,
            seed: 0,
        }
    }
}

impl MetaClassifierPlan {
    pub(super) fn check(&self) -> Result<()> {
        let mut counts = vec![("epochs", self.epochs), ("networks in a step", self.batch), ("patience", self.patience)];
        counts.extend(self.classifiers.iter().flat_map(MetaClassifier::counts));
        check_counts(counts)?;
        let within = [
            ("learning rate", self.rate, self.rate > 0.0 && self.rate.is_finite(), "(0, inf)"),
            ("decay of the learning rate", self.decay, self.decay > 0.0 && self.decay <= 1.0, "(0, 1]"),
            ("dropout", self.dropout, (0.0..1.0).contains(&self.dropout), "[0, 1)"),
        ];
        within.into_iter().try_for_each(|(quantity, value, fits, domain)| check_range(quantity, value, fits, domain))
    }
}

impl MetaClassifier {
    /// That of its streams.
    pub(super) const fn number(self) -> u64 {
        match self {
            Self::Flat(_) => 0,
            Self::Set(_) => 1,
        }
    }

    fn counts(&self) -> Vec<(&'static str, usize)> {
        match self {
            Self::Flat(plan) => vec![
                ("blocks", plan.blocks),
                ("convolutions of a block", plan.convolutions),
                ("filters", plan.filters),
                ("length of a kernel", plan.kernel),
                ("pooling", plan.pooling),
                ("dense layers", plan.dense),
                ("units", plan.units),
            ],
            Self::Set(plan) => vec![("units", plan.units), ("numbers of a representation", plan.representation)],
        }
    }
}
