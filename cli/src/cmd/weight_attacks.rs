//! Attacks on the weights of networks, recorded or just trained.

use super::training_run::say;
use crate::args::{Common, WeightAttackOptions};
use crate::output::Watch;
use leakbound::Result;
use leakbound::property::NetworkSplit;
use leakbound::record::RecordedNetworks;
use leakbound::study::{InferredValues, MetaClassifierAnswer, MetaClassifierStudy, Step, Study, TargetAnswers};
use leakbound_train::{TrainingDevice, WeightInference, infer_by_weights};
use ndarray::{Array3, Array4, Axis};
use std::sync::atomic::{AtomicU64, Ordering};

/// Trains the meta-classifiers on the weights.
pub fn infer(
    common: &Common,
    options: &WeightAttackOptions,
    networks: &RecordedNetworks,
    split: &[NetworkSplit],
    device: TrainingDevice,
) -> Result<Vec<WeightInference>> {
    let plan = options.plan(common.seed);
    let all = (plan.classifiers.len() * plan.epochs) as u64;
    let (watch, done) = (Watch::new(common), AtomicU64::new(0));
    let inferences = infer_by_weights(networks, split, &plan, device, &|more| {
        let done = done.fetch_add(more, Ordering::Relaxed) + more;
        watch.step(Step { done, all, unit: "epochs" })
    })?;
    drop(watch);
    for found in &inferences {
        say(
            common,
            &format!(
                "{}: {} epochs, accuracy {:.4} in training, {:.4} in validation",
                found.attack, found.epochs, found.training_accuracy, found.validation_accuracy
            ),
        );
    }
    Ok(inferences)
}

/// Holds what was inferred against the truth, the attack by distance beside it.
pub fn judge(
    common: &Common,
    options: &WeightAttackOptions,
    networks: &RecordedNetworks,
    split: &[NetworkSplit],
    inferences: &[WeightInference],
) -> Result<MetaClassifierAnswer> {
    let of = |part: NetworkSplit| (0..split.len()).filter(move |&network| split[network] == part);
    let targets: Vec<usize> = of(NetworkSplit::Test).collect();
    let answers = networks.answers.as_ref().and_then(|answers| {
        let members =
            |value: usize| of(NetworkSplit::Training).filter(move |&network| networks.value[network] == value);
        ensembles(answers, &(0..networks.values).map(|value| members(value).collect()).collect::<Vec<_>>())
            .map(|ensembles| TargetAnswers { targets: answers.select(Axis(0), &targets).mapv(f64::from), ensembles })
    });
    let inferred = |found: &WeightInference| InferredValues { attack: found.attack, values: found.values.clone() };
    let study = MetaClassifierStudy {
        values: networks.values,
        truths: targets.iter().map(|&network| networks.value[network]).collect(),
        inferred: inferences.iter().map(inferred).collect(),
        answers,
        failure_probability: options.failure_probability,
        permutations: options.permutations,
        seed: common.seed,
    };
    let watch = Watch::new(common);
    study.run(&|step| watch.step(step))
}

/// Answers \[value, member, point, class\] of the networks of each value, as many of each as there are of the rarest.
fn ensembles(answers: &Array3<f32>, members: &[Vec<usize>]) -> Option<Array4<f64>> {
    let each = members.iter().map(Vec::len).min()?;
    let (_, points, classes) = answers.dim();
    let rows: Vec<usize> = members.iter().flat_map(|members| members[..each].to_vec()).collect();
    let picked = answers.select(Axis(0), &rows).mapv(f64::from);
    let shape = (members.len(), each, points, classes);
    Array4::from_shape_vec(shape, picked.iter().copied().collect()).ok().filter(|_| each > 0)
}
