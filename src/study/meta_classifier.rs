//! What attacks infer about a property of the training data of networks whose weights are known.

use super::bounds::usual_failure;
use super::number::Number;
use super::progress::{Meter, Progress};
use super::{Study, Warning};
use crate::error::{Error, Result};
use crate::parallel;
use crate::property::{PropertyAttack, inference_accuracy, paired_inferences, property_distance};
use crate::quantity::FailureProbability;
use ndarray::{Array3, Array4, Axis};
use serde::Serialize;

/// How often is the value of a property of a network's training data inferred, and which attack infers more?
///
/// All attacks are measured on the same networks, and no attack was built with any of them. The intervals hold
/// together: the failure probability is split among the attacks.
///
/// ```
/// # use leakbound::property::PropertyAttack;
/// # use leakbound::study::{InferredValues, MetaClassifierStudy, Study, unwatched};
/// let truths: Vec<usize> = (0..40).map(|network| network % 2).collect();
/// let inferred = vec![InferredValues { attack: PropertyAttack::Set, values: truths.clone() }];
/// let answer = MetaClassifierStudy::new(2, truths, inferred).run(&unwatched)?;
/// assert!(answer.attacks[0].accuracy == 1.0 && answer.attacks[0].p_value == 1e-4);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Ihrig (2021), thesis, sections 4.4.2 and 5.3.2; Ganju, Wang, Yang, Gunter and Borisov (2018), "Property inference
/// attacks on fully connected neural networks using permutation invariant representations".
#[derive(Debug, Clone)]
pub struct MetaClassifierStudy {
    /// m: property values.
    pub values: usize,
    /// The value of each attacked network.
    pub truths: Vec<usize>,
    /// What attacks inferred.
    pub inferred: Vec<InferredValues>,
    /// Answers, which add the attack by distance.
    pub answers: Option<TargetAnswers>,
    /// Failure probability of all intervals together.
    pub failure_probability: FailureProbability,
    /// Permutations of the truths behind each p-value.
    pub permutations: usize,
    /// The seed of the permutations.
    pub seed: u64,
}

impl MetaClassifierStudy {
    /// A failure probability of 0.05 for all intervals, 9,999 permutations, and no attack by distance.
    #[must_use]
    pub fn new(values: usize, truths: Vec<usize>, inferred: Vec<InferredValues>) -> Self {
        Self {
            values,
            truths,
            inferred,
            answers: None,
            failure_probability: usual_failure(),
            permutations: 9_999,
            seed: 0,
        }
    }
}

/// The values that an attack inferred, network by network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InferredValues {
    /// The attack.
    pub attack: PropertyAttack,
    /// \[network\].
    pub values: Vec<usize>,
}

/// Answers at public points.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetAnswers {
    /// Probabilities \[network, point, class\] of the attacked networks.
    pub targets: Array3<f64>,
    /// Probabilities \[property value, member, point, class\] of networks of known values.
    pub ensembles: Array4<f64>,
}

/// What one attack infers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PropertyAttackRow {
    /// The attack.
    pub attack: PropertyAttack,
    /// Networks attacked.
    pub networks: u64,
    /// Networks whose value was inferred.
    pub right: u64,
    /// Their share.
    pub accuracy: f64,
    /// Lower end of its Clopper-Pearson interval.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// Permutation p-value.
    pub p_value: f64,
    /// The value inferred for each network.
    pub inferred: Vec<usize>,
}

/// Two attacks on the same networks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairedAttackRow {
    /// One attack.
    pub first: PropertyAttack,
    /// The other one.
    pub second: PropertyAttack,
    /// Networks that only the first one infers.
    pub only_first: u64,
    /// Networks that only the second one infers.
    pub only_second: u64,
    /// Two-sided p-value of the exact test of McNemar.
    pub p_value: f64,
}

/// The answer of a [`MetaClassifierStudy`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetaClassifierAnswer {
    /// Property values.
    pub values: usize,
    /// Share of the most frequent value, which a guess gets right.
    pub guessing: f64,
    /// The attacks.
    pub attacks: Vec<PropertyAttackRow>,
    /// Each pair of them.
    pub pairs: Vec<PairedAttackRow>,
    /// Failure probability of all intervals together.
    pub failure_probability: Number,
    /// Permutations behind each p-value.
    pub permutations: usize,
    /// The value of each attacked network.
    pub truths: Vec<usize>,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

answer!(MetaClassifierAnswer, "leakbound.property-meta-classifier/1", warnings);

impl MetaClassifierAnswer {
    /// The row of an attack.
    #[must_use]
    pub fn attack(&self, attack: PropertyAttack) -> Option<&PropertyAttackRow> {
        self.attacks.iter().find(|row| row.attack == attack)
    }
}

impl Study for MetaClassifierStudy {
    type Answer = MetaClassifierAnswer;

    /// # Errors
    /// [`Error::Length`] without attacks or for another number of inferred values than networks, [`Error::Domain`] for
    /// a value that the property does not have, and those of [`property_distance`].
    fn run(&self, progress: &Progress<'_>) -> Result<MetaClassifierAnswer> {
        let mut inferred = self.inferred.clone();
        if let Some(answers) = &self.answers {
            inferred
                .push(InferredValues { attack: PropertyAttack::Distance, values: self.nearest(answers, progress)? });
        }
        self.check(&inferred)?;
        let share = self.failure_probability.split(inferred.len());
        let attacks: Result<Vec<_>> = inferred.iter().map(|inferred| self.row(inferred, share)).collect();
        let mut pairs = Vec::new();
        for (index, first) in inferred.iter().enumerate() {
            for second in &inferred[index + 1..] {
                let paired = paired_inferences(&first.values, &second.values, &self.truths)?;
                let (first, second) = (first.attack, second.attack);
                let (only_first, only_second) = (paired.only_first, paired.only_second);
                pairs.push(PairedAttackRow { first, second, only_first, only_second, p_value: paired.p_value });
            }
        }
        let of_value = |value: usize| self.truths.iter().filter(|&&truth| truth == value).count();
        let most = (0..self.values).map(of_value).max().unwrap_or(0);
        Ok(MetaClassifierAnswer {
            values: self.values,
            guessing: most as f64 / self.truths.len() as f64,
            attacks: attacks?,
            pairs,
            failure_probability: Number(self.failure_probability.get()),
            permutations: self.permutations,
            truths: self.truths.clone(),
            warnings: self.few_networks().into_iter().collect(),
        })
    }
}

impl MetaClassifierStudy {
    /// The value whose ensemble is nearest to each attacked network.
    fn nearest(&self, answers: &TargetAnswers, progress: &Progress<'_>) -> Result<Vec<usize>> {
        let targets: Vec<_> = answers.targets.axis_iter(Axis(0)).collect();
        let meter = Meter::new(progress, targets.len() as u64, "networks");
        parallel::try_map(targets, |target| {
            let decision = property_distance(target, answers.ensembles.view(), 0, self.seed)?;
            meter.add(1)?;
            Ok(decision.value)
        })
    }

    fn check(&self, inferred: &[InferredValues]) -> Result<()> {
        Error::check_length(!inferred.is_empty(), "attacks", 0, "at least 1")?;
        let mut all = inferred.iter().flat_map(|inferred| &inferred.values).chain(&self.truths);
        match all.find(|&&value| value >= self.values) {
            Some(&value) => Err(Error::Domain {
                quantity: "property value",
                value: value as f64,
                domain: "the values of the property, counted from 0",
            }),
            None => Ok(()),
        }
    }

    fn row(&self, inferred: &InferredValues, failure: FailureProbability) -> Result<PropertyAttackRow> {
        let (values, truths) = (&inferred.values, &self.truths);
        let accuracy = inference_accuracy(values, truths, failure, self.permutations, self.seed)?;
        Ok(PropertyAttackRow {
            attack: inferred.attack,
            networks: accuracy.right.trials(),
            right: accuracy.right.successes(),
            accuracy: accuracy.accuracy(),
            lower: accuracy.interval.lower,
            upper: accuracy.interval.upper,
            p_value: accuracy.p_value,
            inferred: values.clone(),
        })
    }

    /// A warning that intervals will be wide.
    fn few_networks(&self) -> Option<Warning> {
        let networks = self.truths.len();
        (networks < 100).then(|| Warning {
            code: "few-targets",
            message: format!("accuracies are those on {networks} networks, and their intervals are wide"),
            hint: "train more networks for each value; a tenth of them is attacked".into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::unwatched;

    fn study(inferred: Vec<InferredValues>) -> MetaClassifierStudy {
        MetaClassifierStudy {
            values: 3,
            truths: (0..150).map(|network| network % 3).collect(),
            inferred,
            answers: None,
            failure_probability: FailureProbability::new(0.06).unwrap(),
            permutations: 499,
            seed: 1,
        }
    }

    #[test]
    fn attacks_stand_side_by_side() {
        let of = |attack, values: Vec<usize>| InferredValues { attack, values };
        let right: Vec<usize> = (0..150).map(|network| network % 3).collect();
        let first = vec![0; 150];
        let mut study = study(vec![of(PropertyAttack::Flat, first), of(PropertyAttack::Set, right)]);
        // Members answer nearly one-hot for their value.
        let probability = |value: usize, class: usize| if value == class { 0.8 } else { 0.1 };
        study.answers = Some(TargetAnswers {
            targets: Array3::from_shape_fn((150, 2, 3), |(network, _, class)| probability(network % 3, class)),
            ensembles: Array4::from_shape_fn((3, 2, 2, 3), |(value, _, _, class)| probability(value, class)),
        });
        let answer = study.run(&unwatched).unwrap();
        let [flat, set, distance] =
            [PropertyAttack::Flat, PropertyAttack::Set, PropertyAttack::Distance].map(|a| answer.attack(a).unwrap());
        assert_eq!((flat.right, flat.p_value, answer.guessing), (50, 1.0, 1.0 / 3.0));
        assert_eq!((set.right, set.p_value, distance.right), (150, 0.002, 150));
        // 0.02 for each of three intervals: 0.01^(1/150).
        assert!((set.lower - 0.01f64.powf(1.0 / 150.0)).abs() < 1e-9, "{}", set.lower);
        let counts: Vec<_> = answer.pairs.iter().map(|pair| (pair.only_first, pair.only_second)).collect();
        assert_eq!(counts, [(0, 100), (0, 100), (0, 0)]);
        assert!(answer.pairs[0].p_value < 1e-29 && answer.pairs[2].p_value == 1.0);
        assert!(answer.warnings.is_empty());
    }

    #[test]
    fn what_is_no_value_is_rejected() {
        let of = |values| study(vec![InferredValues { attack: PropertyAttack::Flat, values }]).run(&unwatched);
        assert!(of(vec![3; 150]).unwrap_err().to_string().starts_with("property value = 3 is not in the values"));
        assert!(of(vec![0; 149]).is_err() && study(Vec::new()).run(&unwatched).is_err());
    }
}
