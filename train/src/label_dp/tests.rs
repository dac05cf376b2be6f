use super::*;
use crate::guard::TrainingProgress;
use crate::sample::{on_sample, on_threads, rejection, train_on_sample, unwatched};
use crate::{NetworkPlan, Optimizer, Schedule, TrainingCheckpoint, TrainingPlan};
use leakbound::label_dp::LabelCanaries;
use leakbound::quantity::{Delta, Epsilon, NoiseScale};
use std::ops::ControlFlow;

fn plan(mechanism: LabelMechanism) -> LabelDpPlan {
    let optimizer = Optimizer::Sgd { momentum: 0.9, weight_decay: 0.0, nesterov: false };
    LabelDpPlan {
        network: NetworkPlan::Mlp { hidden: 16 },
        mechanism,
        models: 2,
        canaries: 100,
        training: TrainingPlan::new(6, 64, optimizer, Schedule::Constant { rate: 0.05 }),
        seed: 1,
    }
}

fn all(epsilon: f64) -> Vec<LabelMechanism> {
    let epsilon = Epsilon::new(epsilon).unwrap();
    vec![
        LabelMechanism::NotPrivate,
        LabelMechanism::alibi(epsilon).unwrap(),
        LabelMechanism::agibi(epsilon, Delta::new(1e-5).unwrap()).unwrap(),
        LabelMechanism::RandomizedResponse(epsilon),
        LabelMechanism::MultiStage { epsilon, shares: vec![0.5, 0.5] },
    ]
}

fn train(plan: &LabelDpPlan) -> Result<LabelDpModels> {
    train_on_sample(train_label_dp, plan)
}

/// Images tell more than private labels: room for other processors.
#[test]
fn networks_learn_from_private_labels() {
    for mechanism in all(3.0) {
        let models = train(&plan(mechanism.clone())).unwrap();
        let [accuracy, of_labels] =
            [&models.test_accuracy, &models.private_label_accuracy].map(|accuracy| accuracy.mean().unwrap());
        println!("{mechanism:?}: {accuracy} from labels of which {of_labels} are right");
        let private = mechanism != LabelMechanism::NotPrivate;
        assert!(accuracy > 0.5 && private == (of_labels < 1.0));
        assert_eq!(models.logits.dim(), (2, 100, 10));
        assert!(models.labels_true.iter().zip(&models.labels_trained).all(|(truth, trained)| truth != trained));
        assert_ne!(models.canary_index.row(0), models.canary_index.row(1));
        let classes = |labels: &Array2<i64>| labels.iter().map(|&label| label as usize).collect();
        let logits = models.logits.to_shape((200, 10)).unwrap().mapv(f64::from);
        let labels = (classes(&models.labels_true), classes(&models.labels_trained));
        assert!(LabelCanaries::from_logits(&logits, labels.0, labels.1).is_ok());
    }
}

/// Of 2,000 labels by randomized response with ε = 3 a share e³/(e³ + 9) stays: within five standard errors (false
/// alarms: 6e-7). A prior keeps more.
#[test]
fn a_prior_keeps_more_labels() {
    let kept = |mechanism| train(&plan(mechanism)).unwrap().private_label_accuracy;
    let (epsilon, share) = (Epsilon::new(3.0).unwrap(), 3f64.exp() / (3f64.exp() + 9.0));
    let plain = kept(LabelMechanism::RandomizedResponse(epsilon));
    let staged = kept(LabelMechanism::MultiStage { epsilon, shares: vec![0.3, 0.3, 0.4] });
    println!("{plain} of {share}, {staged}");
    for (plain, staged) in plain.iter().zip(&staged) {
        assert!((plain - share).abs() < 5.0 * (share * (1.0 - share) / 2000.0).sqrt());
        assert!(*staged > plain + 0.02);
    }
}

/// For each mechanism, a training interrupted after one network and resumed gives the same result as without a stop.
#[test]
fn a_training_goes_on_where_it_was_stopped() {
    let folder = tempfile::tempdir().unwrap();
    for (number, mechanism) in all(2.0).into_iter().enumerate() {
        let mut plan = LabelDpPlan { models: 3, canaries: 20, ..plan(mechanism) };
        plan.training.side_by_side = Some(1);
        let whole = train(&plan).unwrap();
        let path = folder.path().join(format!("{number}.checkpoint"));
        let open = |resume| TrainingCheckpoint::open(&path, resume, "label-dp", "cpu", &[], &plan).unwrap();
        let goes_on = |progress: &TrainingProgress<'_>, checkpoint: &TrainingCheckpoint| {
            on_sample(progress, Some(checkpoint), |context| train_label_dp(context, &plan))
        };
        assert!(goes_on(&|_| ControlFlow::Break(()), &open(false)).is_err());
        let checkpoint = open(true);
        assert!(checkpoint.networks() > 0);
        assert_eq!(goes_on(&unwatched, &checkpoint).unwrap(), whole);
    }
}

/// A model does not depend on those trained with it, nor on the number of threads.
#[test]
fn one_thread_gives_the_same() {
    let plan = plan(LabelMechanism::MultiStage { epsilon: Epsilon::new(2.0).unwrap(), shares: vec![0.4, 0.6] });
    let on = |threads| on_threads(threads, || train(&plan).unwrap());
    assert_eq!(on(1), on(2));
}

#[test]
fn what_cannot_be_trained_is_rejected() {
    let message = |change: &dyn Fn(&mut LabelDpPlan)| {
        rejection(plan(LabelMechanism::alibi(Epsilon::new(4.0).unwrap()).unwrap()), change, train)
    };
    assert_eq!(message(&|plan| plan.canaries = 0), "canaries = 0 is not in [1, inf)");
    assert_eq!(message(&|plan| plan.models = 0), "models = 0 is not in [1, inf)");
    assert_eq!(message(&|plan| plan.canaries = 2001), "label privacy: 2001 canaries of 2000 training images");
    let diverged = message(&|plan| plan.training.schedule = Schedule::Constant { rate: 1e30 });
    assert_eq!(diverged, "training: parameters are no longer finite; lower the learning rate");
    let none = message(&|plan| {
        plan.mechanism = LabelMechanism::MultiStage { epsilon: Epsilon::ZERO, shares: vec![1e-5, 1.0 - 1e-5] };
    });
    assert_eq!(none, "label privacy: stage 1 has a share of 0.00001 of 2000 images: none");
    // Of the smallest noise the posterior is the label itself.
    let tiny = plan(LabelMechanism::Agibi(NoiseScale::new(1e-20).unwrap()));
    assert!(train(&tiny).unwrap().test_accuracy.iter().all(|accuracy| *accuracy > 0.6));
}
