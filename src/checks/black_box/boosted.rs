//! A score of two worlds by boosted trees.

use super::feature::Feature;
use super::output::Output;
use serde::{Deserialize, Serialize};
use smartcore::linalg::basic::matrix::DenseMatrix;
use smartcore::xgboost::{XGRegressor, XGRegressorParameters};
use std::fmt;

/// Trees, their depth, and how much of each is added.
const TREES: usize = 20;
const DEPTH: u16 = 3;
const RATE: f64 = 0.3;
/// Leaves of fewer outputs are not split off.
const LEAST: usize = 10;
/// Outputs of each world that the trees are made from: time grows with them.
const MOST: usize = 1500;
/// Fewer outputs show nothing about combinations of features.
const FEWEST: usize = 100;
/// Replaces a feature that an output does not have, and infinities.
const MISSING: f64 = -1e300;
const LARGEST: f64 = 1e299;

/// A sum of small decision trees: large if the output is likelier under the dataset than under its neighbor.
///
/// # References
/// Chen and Guestrin (2016), "XGBoost: a scalable tree boosting system", as the crate smartcore builds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct BoostedTrees {
    features: Vec<Feature>,
    trees: Vec<Tree>,
}

/// A node with its branches, or a leaf with its summand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Tree {
    Leaf(f64),
    /// Feature, and the largest number of it that goes to the first branch.
    Node(usize, f64, Box<(Self, Self)>),
}

/// A tree as smartcore writes it.
#[derive(Deserialize)]
struct Written {
    left: Option<Box<Self>>,
    right: Option<Box<Self>>,
    value: f64,
    threshold: f64,
    split_feature_idx: usize,
}

#[derive(Deserialize)]
struct WrittenTrees {
    regressors: Vec<Written>,
}

impl From<Written> for Tree {
    fn from(written: Written) -> Self {
        match (written.left, written.right) {
            (Some(left), Some(right)) => {
                let branches = (Self::from(*left), Self::from(*right));
                Self::Node(written.split_feature_idx, written.threshold, Box::new(branches))
            }
            _ => Self::Leaf(written.value),
        }
    }
}

impl Tree {
    fn value(&self, row: &[f64]) -> f64 {
        let mut tree = self;
        loop {
            match tree {
                Self::Leaf(value) => return *value,
                Self::Node(feature, threshold, branches) => {
                    let first = row.get(*feature).is_some_and(|x| x <= threshold);
                    tree = if first { &branches.0 } else { &branches.1 };
                }
            }
        }
    }
}

impl BoostedTrees {
    /// Trees for the least squared distance to 1 for outputs of the first world and to -1 for those of the second. None
    /// with few outputs, or if nothing tells them apart.
    pub(super) fn fit(features: &[Feature], worlds: [&[Output]; 2]) -> Option<Self> {
        if worlds.iter().any(|world| world.len() < FEWEST) {
            return None;
        }
        let fit = Self { features: features.to_vec(), trees: Vec::new() };
        let rows = |world: &[Output]| world.iter().take(MOST).map(|output| fit.row(output)).collect::<Vec<_>>();
        let signs = |world: &[Output], sign: f64| vec![sign; world.len().min(MOST)];
        let x = DenseMatrix::from_2d_vec(&[rows(worlds[0]), rows(worlds[1])].concat()).ok()?;
        let y = [signs(worlds[0], 1.0), signs(worlds[1], -1.0)].concat();
        let parameters = XGRegressorParameters::default()
            .with_n_estimators(TREES)
            .with_max_depth(DEPTH)
            .with_learning_rate(RATE)
            .with_min_child_weight(LEAST)
            .with_base_score(0.0);
        let found = XGRegressor::fit(&x, &y, parameters).ok()?;
        // Its trees are private, but written: they are read into nodes that score one output at a time.
        let written: WrittenTrees = serde_json::from_value(serde_json::to_value(&found).ok()?).ok()?;
        let trees: Vec<Tree> = written.regressors.into_iter().map(Tree::from).collect();
        trees.iter().any(|tree| matches!(tree, Tree::Node(..))).then_some(Self { trees, ..fit })
    }

    /// Numbers that can be compared: trees are cut at no NaN.
    fn row(&self, output: &Output) -> Vec<f64> {
        let number = |feature: &Feature| match feature.measure(output) {
            number if number.is_nan() => MISSING,
            number => number.clamp(-LARGEST, LARGEST),
        };
        self.features.iter().map(number).collect()
    }

    pub(super) fn score(&self, output: &Output) -> f64 {
        let row = self.row(output);
        self.trees.iter().map(|tree| RATE * tree.value(&row)).sum()
    }

    /// The feature that is looked at first.
    pub(super) fn first(&self) -> Option<&Feature> {
        self.trees.iter().find_map(|tree| match tree {
            Tree::Node(feature, ..) => self.features.get(*feature),
            Tree::Leaf(_) => None,
        })
    }
}

impl fmt::Display for BoostedTrees {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a score of {} boosted trees", self.trees.len())?;
        self.first().map_or(Ok(()), |feature| write!(formatter, " that look at {feature} first"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Where the sign of a product tells the worlds apart, no single number and no weighted sum does.
    #[test]
    fn trees_see_what_two_numbers_say_together() {
        let mut stream = ChaCha8Rng::seed_from_u64(1);
        let mut world = |same: f64| -> Vec<Output> {
            let mut output = || {
                let x: f64 = stream.random_range(-1.0..1.0);
                let y: f64 = stream.random_range(0.0..1.0);
                Output::Vector(vec![x, if stream.random_bool(same) { y * x.signum() } else { -y * x.signum() }])
            };
            (0..1000).map(|_| output()).collect()
        };
        let (a, b) = (world(0.9), world(0.1));
        let features: Vec<Feature> =
            Feature::of_outputs(a.iter()).into_iter().filter(|f| f.to_string().starts_with("output[")).collect();
        let trees = BoostedTrees::fit(&features, [&a, &b]).unwrap();
        let right = |world: &[Output]| world.iter().filter(|output| trees.score(output) > 0.0).count();
        let (a, b) = (world(0.9), world(0.1));
        assert!(right(&a) > 850 && right(&b) < 150, "{} {}", right(&a), right(&b));
        let text = serde_json::to_string(&trees).unwrap();
        assert_eq!(serde_json::from_str::<BoostedTrees>(&text).unwrap(), trees);
        assert!(BoostedTrees::fit(&features, [&a[..50], &b[..50]]).is_none());
        // Outputs without these parts are scored as well.
        assert!(trees.score(&Output::Null).is_finite());
    }
}
