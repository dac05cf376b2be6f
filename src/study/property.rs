//! Which of several properties of the training data a student's answers reveal.

use super::number::Number;
use super::progress::Progress;
use super::{Study, Warning};
use crate::error::Result;
use crate::property::property_distance;
use crate::record::PropertyAnswers;
use serde::Serialize;

/// Which ensemble, each trained on data with one property value, does a student resemble most?
///
/// ```
/// # use leakbound::record::PropertyAnswers;
/// # use leakbound::study::{PropertyStudy, Study, unwatched};
/// let student = ndarray::Array2::from_elem((4, 2), 0.5);
/// let first = |value: usize, member: usize| 0.5 + 0.2 * value as f64 + 0.01 * member as f64;
/// let ensembles = ndarray::Array4::from_shape_fn((2, 3, 4, 2), |(value, member, _, class)| {
///     if class == 0 { first(value, member) } else { 1.0 - first(value, member) }
/// });
/// let answers = PropertyAnswers { student, ensembles };
/// assert_eq!(PropertyStudy::new(answers).run(&unwatched)?.inferred, 0);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PropertyStudy {
    /// Answers of the student and of the ensembles on the same points.
    pub answers: PropertyAnswers,
    /// Permutations of the members behind the p-value.
    pub permutations: usize,
    /// The seed of the permutations.
    pub seed: u64,
}

impl PropertyStudy {
    /// With 9,999 permutations.
    #[must_use]
    pub const fn new(answers: PropertyAnswers) -> Self {
        Self { answers, permutations: 9_999, seed: 0 }
    }
}

/// How far the ensemble of one property value is from the student.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PropertyDistanceRow {
    /// The property value, counted from 0.
    pub value: usize,
    /// Mean divergence from the student in nats.
    pub distance: Number,
    /// Whether it is the nearest.
    pub inferred: bool,
}

/// The answer of a [`PropertyStudy`].
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PropertyAnswer {
    /// The inferred property value, counted from 0.
    pub inferred: usize,
    /// Distance of the second nearest value minus that of the nearest.
    pub margin: Number,
    /// Permutation p-value.
    pub p_value: f64,
    /// Permutations.
    pub permutations: usize,
    /// All values.
    pub distances: Vec<PropertyDistanceRow>,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

answer!(PropertyAnswer, "leakbound.property-distance/1", warnings);

impl Study for PropertyStudy {
    type Answer = PropertyAnswer;

    /// # Errors
    /// Those of [`property_distance`].
    fn run(&self, _: &Progress<'_>) -> Result<PropertyAnswer> {
        let (student, ensembles) = (self.answers.student.view(), self.answers.ensembles.view());
        let members = ensembles.dim().1;
        let decision = property_distance(student, ensembles, self.permutations, self.seed)?;
        let single = (members == 1).then(|| Warning {
            code: "single-members",
            message: "with one member per property value the p-value is always 1".into(),
            hint: "train several members for each value".into(),
        });
        let row = |(value, &distance): (usize, &f64)| PropertyDistanceRow {
            value,
            distance: Number(distance),
            inferred: value == decision.value,
        };
        Ok(PropertyAnswer {
            inferred: decision.value,
            margin: Number(decision.margin),
            p_value: decision.p_value,
            permutations: self.permutations,
            distances: decision.distances.iter().enumerate().map(row).collect(),
            warnings: single.into_iter().collect(),
        })
    }
}
