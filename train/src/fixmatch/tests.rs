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
    // Ten classes: a network that learned nothing has 10%.
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

mod of_the_loss {
    use crate::fixmatch::{PseudoLabels, Unlabeled, loss};
    use tch::{Device, Kind, Tensor};

    const NETWORKS: usize = 2;
    const LABELED: usize = 3;
    const RATIO: usize = 2;
    const CLASSES: usize = 4;
    const PLAN: Unlabeled = Unlabeled { ratio: RATIO, confidence: 0.6, weight: 0.7 };

    fn waves(count: usize, phase: f64) -> Tensor {
        let numbers = Tensor::linspace(phase, phase + 40.0, count as i64, (Kind::Float, Device::Cpu));
        numbers.sin() * 2.0
    }

    fn softmax(logits: &[f64]) -> Vec<f64> {
        let sum: f64 = logits.iter().map(|logit| logit.exp()).sum();
        logits.iter().map(|logit| logit.exp() / sum).collect()
    }

    fn numbers(tensor: &Tensor) -> Vec<f64> {
        tensor.to_kind(Kind::Double).flatten(0, -1).try_into().unwrap()
    }

    /// The loss, its mask, and its gradient at the logits, against loops over images and classes.
    #[test]
    fn the_loss_and_its_gradient_are_those_of_a_loop() {
        let strong = RATIO * LABELED;
        let (all, classes) = (LABELED + strong, CLASSES as i64);
        let weak = waves(NETWORKS * strong * CLASSES, 0.3).view([NETWORKS as i64, -1, classes]);
        let logits = waves(NETWORKS * all * CLASSES, 5.0).view([NETWORKS as i64, -1, classes]).set_requires_grad(true);
        let targets = waves(NETWORKS * LABELED * CLASSES, 9.0).view([NETWORKS as i64, -1, classes]);
        let targets = targets.softmax(-1, Kind::Float);
        let pseudo = PseudoLabels::of(&weak, PLAN.confidence);
        let found = loss(&logits, &targets, &pseudo, PLAN);
        let gradient = numbers(&Tensor::run_backward(&[&found], &[&logits], false, false)[0]);

        let (weak, values, wanted) = (numbers(&weak), numbers(&logits.detach()), numbers(&targets));
        let mask = numbers(&pseudo.mask);
        let mut expected = 0.0;
        for network in 0..NETWORKS {
            for image in 0..all {
                let at = (network * all + image) * CLASSES;
                let probabilities = softmax(&values[at..at + CLASSES]);
                // What the image is to be, and how much it weighs.
                let (target, weight) = if image < LABELED {
                    let at = (network * LABELED + image) * CLASSES;
                    (wanted[at..at + CLASSES].to_vec(), 1.0 / LABELED as f64)
                } else {
                    let place = network * strong + image - LABELED;
                    let answer = softmax(&weak[place * CLASSES..(place + 1) * CLASSES]);
                    let class =
                        (1..CLASSES).fold(0, |best, class| if answer[class] > answer[best] { class } else { best });
                    let sure = answer[class] >= PLAN.confidence;
                    assert_eq!(mask[place], f64::from(u8::from(sure)));
                    let target = (0..CLASSES).map(|other| f64::from(u8::from(other == class))).collect();
                    (target, if sure { PLAN.weight / strong as f64 } else { 0.0 })
                };
                for (class, (p, t)) in probabilities.iter().zip(&target).enumerate() {
                    expected -= weight * t * p.ln();
                    assert!((gradient[at + class] - weight * (p - t)).abs() < 1e-6, "{network} {image} {class}");
                }
            }
        }
        let sure: f64 = mask.iter().sum();
        println!("{sure} of {} pseudo-labels", mask.len());
        assert!(sure > 2.0 && sure < 10.0);
        let found = f64::try_from(found).unwrap();
        assert!((found - expected).abs() < 1e-6 * expected, "{found} {expected}");
    }
}
