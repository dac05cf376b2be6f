use super::*;
use crate::answers::{accuracy, numbers};
use crate::augment::Augmentation;
use crate::context::TrainingContext;
use crate::ensemble::logits_of_all;
use crate::network::NetworkPlan;
use crate::sample::{on_sample, on_threads, rejection, unwatched};

fn plan() -> FixMatchPlan {
    FixMatchPlan {
        steps: 40,
        batch: 16,
        unlabeled: Some(Unlabeled { ratio: 2, confidence: 0.8, weight: 1.0 }),
        rate: 0.03,
        momentum: 0.9,
        weight_decay: 5e-4,
        average: 0.9,
        augmentation: Some(Augmentation { flip: true, shift: 2 }),
        side_by_side: None,
    }
}

/// Logits on the first 500 test images of networks with 40 labels each, and their accuracies.
fn train(plan: &FixMatchPlan, network: NetworkPlan, networks: u32) -> Result<Vec<(Vec<f32>, f64)>> {
    let train = |context: &TrainingContext<'_>| {
        let [images, tests] =
            [context.train, context.test].map(|set| TrainingImages::of(set, 10, context.device.tensors()));
        let pixels: Vec<u8> = context.train.pixels.iter().copied().collect();
        let training = plan.training();
        let fixmatch = FixMatch { trainer: context.trainer(network, &training, 3), plan, pixels: &pixels };
        let tables: Vec<Vec<Example>> =
            (0..networks).map(|network| (40 * network..40 * (network + 1)).map(Example::labeled).collect()).collect();
        let labels = context.test.labels.to_vec();
        fixmatch.train_and_ask(1, &images, &tables, &|| tests.inputs.shallow_clone(), &|networks, group, tests| {
            let logits = logits_of_all(networks, tests);
            let answer = |network: usize| {
                let logits = logits.select(0, network as i64);
                (numbers(&logits).unwrap(), accuracy(&logits, &labels).unwrap())
            };
            Ok((0..group.len()).map(answer).collect())
        })
    };
    on_sample(&unwatched, None, train)
}

/// With τ = 1 and floats that never reach it, what remains is the supervised part, with the same images and the same
/// steps.
#[test]
fn without_pseudo_labels_it_is_supervised_training() {
    let none =
        FixMatchPlan { unlabeled: Some(Unlabeled { ratio: 1, confidence: 1.0, weight: 1.0 }), steps: 10, ..plan() };
    let network = NetworkPlan::Mlp { hidden: 8 };
    let both = [&none, &none.supervised()].map(|plan| train(plan, network, 2).unwrap());
    for (found, expected) in both[0].iter().zip(&both[1]) {
        assert!(found.0.iter().zip(&expected.0).all(|(found, expected)| (found - expected).abs() < 1e-4));
    }
}

#[test]
fn networks_learn_from_forty_labels() {
    let found = train(&plan(), NetworkPlan::Cnn { filters: 6 }, 2).unwrap();
    let accuracies: Vec<f64> = found.iter().map(|(_, accuracy)| *accuracy).collect();
    println!("accuracies {accuracies:?}");
    // Ten classes: a network that learned nothing has 10 %.
    assert!(accuracies.iter().all(|&accuracy| accuracy > 0.35), "{accuracies:?}");
    // Groups on other threads, with other networks in them, train the same networks.
    assert!(on_threads(1, || train(&plan(), NetworkPlan::Cnn { filters: 6 }, 2)).unwrap() == found);
}

#[test]
fn impossible_plans_are_rejected() {
    let message = |change: &dyn Fn(&mut FixMatchPlan)| {
        rejection(plan(), change, |plan| train(plan, NetworkPlan::Mlp { hidden: 4 }, 1))
    };
    let part = |ratio, confidence, weight| Some(Unlabeled { ratio, confidence, weight });
    assert_eq!(message(&|plan| plan.steps = 0), "steps = 0 is not in [1, inf)");
    assert_eq!(
        message(&|plan| plan.unlabeled = part(0, 0.9, 1.0)),
        "unlabeled images per labeled one = 0 is not in [1, inf)"
    );
    assert_eq!(message(&|plan| plan.unlabeled = part(1, 1.5, 1.0)), "confidence = 1.5 is not in [0, 1]");
    assert_eq!(
        message(&|plan| plan.unlabeled = part(1, 0.9, -1.0)),
        "weight of unlabeled images = -1 is not in [0, inf)"
    );
    assert_eq!(message(&|plan| plan.average = 1.0), "decay of the average = 1 is not in [0, 1)");
    assert_eq!(message(&|plan| plan.rate = 1e30), "training: parameters are no longer finite; lower the learning rate");
}
