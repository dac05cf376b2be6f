//! Meta-classifiers on the weights of networks that are trained here, beside a published accuracy.

use crate::experiment::Report;
use leakbound::Result;
use leakbound::property::{NetworkSplit, PropertyAttack};
use leakbound::quantity::FailureProbability;
use leakbound::record::RecordedNetworks;
use leakbound::study::{
    InferredValues, MetaClassifierAnswer, MetaClassifierStudy, PropertyAttackRow, Study, TargetAnswers, unwatched,
};
use leakbound_train::{
    MetaClassifierPlan, NetworkPlan, Optimizer, Schedule, TargetPlan, TrainingPlan, WeightInference, infer_by_weights,
    train_target_networks,
};
use ndarray::{Array4, Axis};

/// Ihrig (2021), section 6.3.2: EMNIST Letters, 4,028 networks of 509,533 weights, 206 of them attacked.
const PUBLISHED: f64 = 0.6087;
/// Networks for each value, and what is theirs.
const NETWORKS: usize = 1000;
const HIDDEN: usize = 16;
const IMAGES: usize = 500;
const EPOCHS: usize = 15;
const POINTS: usize = 100;
/// Failure probability of all intervals together, and of each claim.
const FAILURE: f64 = 0.05;

/// Six minutes on two cores.
pub fn report() -> Report {
    let mut report = Report::new(format!(
        "{NETWORKS} networks of one hidden layer with {HIDDEN} units for each of two values of a property, all and a \
         quarter of the images of class 0 of Fashion-MNIST, {IMAGES} images each, {EPOCHS} epochs of batches of 32, Adam \
         1e-3; the attacked tenth has images of one half of the training set, all others of the other half; \
         meta-classifiers with the published training (Adam 1e-3, 0.95 every second epoch, at most 100 epochs of batches \
         of 24, patience 30) and 7 layers in the place of 21; seed 0"
    ));
    report.trained(|report, context| {
        let networks = train_target_networks(context, &plan())?.networks;
        let split = networks.split.clone().unwrap_or_default();
        let plan = MetaClassifierPlan::default();
        let inferences = infer_by_weights(&networks, &split, &plan, context.device, context.progress)?;
        tables(report, &judged(&networks, &split, &inferences)?, &inferences);
        Ok(())
    });
    report
}

fn plan() -> TargetPlan {
    TargetPlan {
        class: 0,
        shares: vec![1.0, 0.25],
        networks: NETWORKS,
        images: IMAGES,
        points: POINTS,
        network: NetworkPlan::Mlp { hidden: HIDDEN },
        training: TrainingPlan::new(EPOCHS, 32, Optimizer::ADAM, Schedule::Constant { rate: 1e-3 }),
        seed: 0,
    }
}

/// All attacks on the networks for test, that by distance with all networks for training as members.
fn judged(
    networks: &RecordedNetworks,
    split: &[NetworkSplit],
    inferences: &[WeightInference],
) -> Result<MetaClassifierAnswer> {
    let of = |part: NetworkSplit| (0..split.len()).filter(|&row| split[row] == part).collect::<Vec<_>>();
    // Value by value, equally many of each.
    let (targets, members) = (of(NetworkSplit::Test), of(NetworkSplit::Training));
    let answers = networks.answers.as_ref().and_then(|answers| {
        let (_, points, classes) = answers.dim();
        let shape = (networks.values, members.len() / networks.values, points, classes);
        let picked = answers.select(Axis(0), &members).iter().map(|&p| f64::from(p)).collect();
        let ensembles = Array4::from_shape_vec(shape, picked).ok()?;
        Some(TargetAnswers { targets: answers.select(Axis(0), &targets).mapv(f64::from), ensembles })
    });
    let inferred = |found: &WeightInference| InferredValues { attack: found.attack, values: found.values.clone() };
    MetaClassifierStudy {
        values: networks.values,
        truths: targets.iter().map(|&network| networks.value[network]).collect(),
        inferred: inferences.iter().map(inferred).collect(),
        answers,
        failure_probability: FailureProbability::new(FAILURE)?,
        permutations: 9999,
        seed: 0,
    }
    .run(&unwatched)
}

fn tables(report: &mut Report, answer: &MetaClassifierAnswer, inferences: &[WeightInference]) {
    report.line(format!("{:>9}  {:>5}  {:>8}  {:>16}  {:>8}", "attack", "right", "accuracy", "interval", "p-value"));
    for row in &answer.attacks {
        report.line(format!(
            "{:>9}  {:>5}  {:>6.2} %  {:>5.2} to {:>5.2} %  {:>8.2e}",
            row.attack.name(),
            format!("{}/{}", row.right, row.networks),
            100.0 * row.accuracy,
            100.0 * row.lower,
            100.0 * row.upper,
            row.p_value
        ));
    }
    for found in inferences {
        report.line(format!(
            "{}: {} epochs; accuracy {:.4} in training, {:.4} in validation",
            found.attack, found.epochs, found.training_accuracy, found.validation_accuracy
        ));
    }
    report.line(format!("published: {:.2} % on 206 networks, without an interval", 100.0 * PUBLISHED));
    let verdict = |agrees: bool, differs: bool| match (agrees, differs) {
        (true, _) => "AGREES   ",
        (false, true) => "DIFFERS  ",
        (false, false) => "UNDECIDED",
    };
    if let Some(flat) = answer.attack(PropertyAttack::Flat) {
        let better = better_than_guessing(flat, answer.guessing);
        let not_better = flat.upper <= answer.guessing;
        let words = "the meta-classifier infers the property better than guessing";
        report.line(format!("{}  {words}", verdict(better, not_better)));
        let within = (flat.lower..=flat.upper).contains(&PUBLISHED);
        report.line(format!("{}  the published accuracy lies in its interval", verdict(within, !within)));
    }
    let pair =
        answer.pairs.iter().find(|pair| (pair.first, pair.second) == (PropertyAttack::Flat, PropertyAttack::Set));
    if let Some(pair) = pair {
        let [better, worse] = [pair.only_second > pair.only_first, pair.only_second < pair.only_first]
            .map(|more| more && pair.p_value < FAILURE);
        report.line(format!(
            "{}  a set of units infers more than a vector (McNemar: {} to {}, p = {:.2e})",
            verdict(better, worse),
            pair.only_second,
            pair.only_first,
            pair.p_value
        ));
    }
    let set = answer.attack(PropertyAttack::Set);
    report.claim(set.is_some_and(|set| better_than_guessing(set, answer.guessing)), "the set is better than guessing");
}

fn better_than_guessing(row: &PropertyAttackRow, guessing: f64) -> bool {
    row.accuracy > guessing && row.p_value < FAILURE
}
