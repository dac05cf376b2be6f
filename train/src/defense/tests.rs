use super::*;
use crate::sample::{on_sample, on_threads};
use crate::{
    CanaryKind, Inclusion, NetworkPlan, Optimizer, Schedule, ShadowAnswers, ShadowPlan, TrainingCheckpoint,
    TrainingPlan, Views, train_shadow_models,
};
use leakbound::Error;
use leakbound::error::Result;
use leakbound::quantity::{Delta, NoiseScale};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Every defense, each as small as it goes.
fn all() -> [Defense; 8] {
    [
        Defense::None,
        Defense::RelaxLoss(RelaxLoss { loss_threshold: 1.0 }),
        Defense::Hamp(Hamp { entropy_share: 0.9, entropy_weight: 0.01 }),
        Defense::Selena(Selena { models: 5, left_out: 2 }),
        Defense::Dfkd(Dfkd { iterations: 2, images: 8, steps: 2, epochs: 1, filters: 2, temperature: 20.0 }),
        Defense::DpSgd(DpSgd {
            clipping_norm: 1.0,
            noise: GradientNoise::Multiplier(NoiseScale::new(2.0).unwrap()),
            delta: Delta::new(1e-5).unwrap(),
            learning_rate: 0.5,
            momentum: 0.0,
            average: None,
            views: 1,
        }),
        Defense::SimClr(SimClr { encoder: ENCODER }),
        Defense::MoCo(MoCo { encoder: ENCODER, queue: 64, momentum: 0.9 }),
    ]
}

/// One that learns next to nothing.
const ENCODER: EncoderPlan = EncoderPlan {
    epochs: 3,
    batch: 32,
    rate: 0.06,
    temperature: 0.5,
    classifier: ClassifierPlan { epochs: 4, batch: 32, rate: 0.1 },
    views: 4,
};

pub(super) fn plan(defense: Defense) -> ShadowPlan {
    ShadowPlan {
        models: 6,
        audit: 40,
        fixed: Some(160),
        canaries: CanaryKind::Mislabeled,
        inclusion: Inclusion::Half,
        views: Views::Eighteen { shift: 1 },
        neighbors: true,
        network: match defense {
            Defense::Dfkd(_) => NetworkPlan::Cnn { filters: 2 },
            _ => NetworkPlan::Mlp { hidden: 12 },
        },
        training: TrainingPlan::new(4, 32, Optimizer::ADAM, Schedule::Constant { rate: 3e-3 }),
        defense,
        seed: 5,
    }
}

/// How a training is run.
struct Run<'a> {
    threads: usize,
    /// File, and whether it is there already.
    checkpoint: Option<(&'a Path, bool)>,
    /// Networks after which it is interrupted.
    most: u64,
}

impl Run<'_> {
    /// What the models answer, and how many networks were reported.
    fn answers(&self, plan: &ShadowPlan) -> (Result<ShadowAnswers>, u64) {
        let done = AtomicU64::new(0);
        let progress = |networks| {
            let done = done.fetch_add(networks, Ordering::Relaxed) + networks;
            if done < self.most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let answers = on_threads(self.threads, || {
            let open = |(path, resume)| TrainingCheckpoint::open(path, resume, "shadow", "cpu", &[], plan);
            let checkpoint = self.checkpoint.map(open).transpose()?;
            on_sample(&progress, checkpoint.as_ref(), |context| train_shadow_models(context, None, plan))
        });
        (answers, done.into_inner())
    }
}

pub(super) fn answers(plan: &ShadowPlan) -> ShadowAnswers {
    Run { threads: 2, checkpoint: None, most: u64::MAX }.answers(plan).0.unwrap()
}

/// Why a plan is rejected.
pub(super) fn rejection(plan: &ShadowPlan) -> String {
    Run { threads: 1, checkpoint: None, most: u64::MAX }.answers(plan).0.unwrap_err().to_string()
}

#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    for defense in all() {
        let plan = plan(defense);
        let [one, two] = [1, 2].map(|threads| Run { threads, checkpoint: None, most: u64::MAX }.answers(&plan));
        assert_eq!((one.1, two.1), (plan.networks(), plan.networks()), "{defense}");
        assert!(one.0.unwrap() == two.0.unwrap(), "{defense}");
    }
}

/// A run ends after some networks, in the middle of a line; a resumed run ends with the same answers.
#[test]
fn a_defended_run_that_is_killed_goes_on_to_the_same_answers() {
    for defense in all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.checkpoint");
        let plan = plan(defense);
        let run = |resume, most| Run { threads: 1, checkpoint: Some((&path, resume)), most }.answers(&plan);
        let stopped = run(false, plan.networks() / 2);
        assert!(matches!(stopped.0, Err(Error::Interrupted)), "{defense}: {:?}", stopped.0);
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        assert!((3..8).contains(&lines), "{defense}: {lines}");
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"0 4 1 0123").unwrap();
        let (resumed, reported) = run(true, u64::MAX);
        assert!(resumed.unwrap() == answers(&plan), "{defense}");
        assert_eq!(reported, plan.networks(), "{defense}");
    }
}

#[test]
fn a_checkpoint_knows_its_defense() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.checkpoint");
    for (number, defense) in all().into_iter().enumerate() {
        let run = Run { threads: 1, checkpoint: Some((&path, number > 0)), most: 1 };
        let error = run.answers(&plan(defense)).0.unwrap_err();
        match number {
            0 => assert!(matches!(error, Error::Interrupted)),
            _ => {
                let line = error.to_string();
                assert!(line.contains("plan: found {") && !line.contains('\n'), "{line}");
                assert!(line.contains(r#""defense":{"name":"none"}"#), "{line}");
            }
        }
    }
}

#[test]
fn undefended_models_have_logits_only() {
    let answers = answers(&plan(Defense::None));
    assert_eq!((answers.logits.dim(), answers.further.len()), ((6, 40, 18, 10), 0));
}

/// Members' cross-entropy in nats, of the images themselves, and the models' accuracy on test images.
fn member_loss(defense: Defense) -> (f64, f64) {
    let training = TrainingPlan::new(30, 32, Optimizer::ADAM, Schedule::Constant { rate: 3e-3 });
    let answers =
        answers(&ShadowPlan { canaries: CanaryKind::Original, views: Views::Itself, training, ..plan(defense) });
    let losses = answers.keep.indexed_iter().filter(|&(_, &keep)| keep).map(|((model, sample), _)| {
        let logits: Vec<f64> = (0..10).map(|class| answers.logits[[model, sample, 0, class]].into()).collect();
        logits.iter().map(|logit| logit.exp()).sum::<f64>().ln() - logits[answers.labels[sample] as usize]
    });
    let losses: Vec<f64> = losses.collect();
    (losses.iter().sum::<f64>() / losses.len() as f64, answers.mean_test_accuracy())
}

#[test]
fn relaxloss_keeps_the_loss_of_members_near_its_threshold() {
    let [none, relaxed] = [Defense::None, Defense::RelaxLoss(RelaxLoss { loss_threshold: 0.8 })].map(member_loss);
    println!("loss of members and accuracy: {none:?} without, {relaxed:?} at 0.8");
    assert!(none.0 < 0.25 && relaxed.0 > 0.5 && relaxed.0 < 1.5, "{none:?} {relaxed:?}");
    assert!(relaxed.1 > 0.5, "{relaxed:?}");
}

/// The classes of a row, the largest logit first.
fn order(logits: impl Iterator<Item = f32>) -> Vec<usize> {
    let logits: Vec<f32> = logits.collect();
    let mut order: Vec<usize> = (0..logits.len()).collect();
    order.sort_by(|&one, &other| logits[other].total_cmp(&logits[one]));
    order
}

#[test]
fn hamp_answers_keep_the_order_of_the_true_ones_and_nothing_else() {
    let plan = plan(all()[2]);
    let hamp = answers(&plan);
    let before = &hamp.further[0];
    assert_eq!((before.name, before.values.shape()), ("training_time_logits", [6, 40, 18, 10].as_slice()));
    for place in 0..6 * 40 * 18 {
        let [model, sample, view] = [place / 18 / 40, place / 18 % 40, place % 18];
        let found = order((0..10).map(|class| hamp.logits[[model, sample, view, class]]));
        assert_eq!(found, order((0..10).map(|class| before.values[[model, sample, view, class]])), "{place}");
    }
    let sorted = |answers: &ShadowAnswers| -> Vec<Vec<f32>> {
        let rows = answers.logits.rows().into_iter().map(|row| {
            let mut row = row.to_vec();
            row.sort_by(f32::total_cmp);
            row
        });
        rows.collect()
    };
    // One network at a time and four of them: random images are those of the model.
    let alone = TrainingPlan { side_by_side: Some(1), ..plan.training.clone() };
    let alone = answers(&ShadowPlan { training: alone, ..plan });
    let pairs = sorted(&alone).into_iter().flatten().zip(sorted(&hamp).into_iter().flatten());
    let error = pairs.map(|(alone, together)| (alone - together).abs()).fold(0.0, f32::max);
    println!("one network at a time: {error:e}");
    assert!(error < 1e-2, "{error}");
}

#[test]
fn hamp_makes_networks_less_confident() {
    let training = TrainingPlan::new(30, 32, Optimizer::ADAM, Schedule::Constant { rate: 3e-3 });
    let entropy = |defense| {
        let network = NetworkPlan::Mlp { hidden: 32 };
        let training = training.clone();
        let plan =
            ShadowPlan { views: Views::Itself, canaries: CanaryKind::Original, network, training, ..plan(defense) };
        let answers = answers(&plan);
        let logits =
            answers.further.first().map_or_else(|| answers.logits.clone().into_dyn(), |one| one.values.clone());
        let rows: Vec<f32> = logits.into_iter().collect();
        let entropies = rows.chunks_exact(10).map(|row| {
            let all: f64 = row.iter().map(|&logit| f64::from(logit).exp()).sum();
            row.iter().map(|&logit| f64::from(logit).exp() / all).map(|p| -p * p.ln()).sum::<f64>()
        });
        (entropies.sum::<f64>() / (rows.len() / 10) as f64 / 10f64.ln(), answers.mean_test_accuracy())
    };
    let [none, hamp] = [all()[0], all()[2]].map(entropy);
    println!("entropy as a share of the largest, and accuracy: {none:?} without, {hamp:?} with HAMP at 0.9");
    assert!(none.0 < 0.6 && hamp.0 > 0.8 && hamp.1 > 0.4, "{none:?} {hamp:?}");
}

/// Split-AI knows nothing of a wrong label by which only models learned that do not answer, where one that is not
/// defended learns it.
#[test]
fn selena_answers_as_models_that_did_not_see_the_image() {
    let training = TrainingPlan::new(40, 32, Optimizer::ADAM, Schedule::Constant { rate: 3e-3 });
    let network = NetworkPlan::Mlp { hidden: 32 };
    let trained =
        |defense| answers(&ShadowPlan { views: Views::Itself, network, training: training.clone(), ..plan(defense) });
    let (none, selena) = (trained(all()[0]), trained(all()[3]));
    let [split, accuracy] = [0, 1].map(|number| &selena.further[number]);
    assert_eq!((split.name, split.values.shape()), ("split_ai_logits", [6, 40, 1, 10].as_slice()));
    assert_eq!((accuracy.name, accuracy.values.shape()), ("split_ai_test_accuracy", [6].as_slice()));
    let neighbors = &selena.further[2];
    assert_eq!((neighbors.name, neighbors.values.shape()), ("split_ai_neighbor_logits", split.values.shape()));
    assert_ne!(neighbors.values, split.values);
    let all: Vec<f32> = split.values.iter().chain(&neighbors.values).copied().collect();
    let rows = all.chunks_exact(10).map(|row| row.iter().map(|&log| f64::from(log).exp()).sum::<f64>());
    assert!(rows.into_iter().all(|sum| (sum - 1.0).abs() < 1e-5));
    let split = ShadowAnswers { logits: split.values.clone().into_dimensionality().unwrap(), ..selena.clone() };
    let known = |answers: &ShadowAnswers| [true, false].map(|member| answers.audit_accuracy(member).unwrap());
    let (of_none, of_selena, of_split) = (known(&none), known(&selena), known(&split));
    println!(
        "wrong labels answered by members and others: {of_none:?} without, {of_selena:?} with SELENA, {of_split:?} by \
         Split-AI; accuracy {}, {} and {}",
        none.mean_test_accuracy(),
        selena.mean_test_accuracy(),
        accuracy.named_mean().unwrap().1
    );
    assert!(of_none[0] > 0.6 && of_split[0] < 0.3 && of_selena[0] < 0.4, "{of_none:?} {of_selena:?} {of_split:?}");
    assert!(selena.mean_test_accuracy() > 0.4 && accuracy.named_mean().unwrap().1 > 0.4);
}

#[test]
fn images_that_selena_cannot_split_are_rejected() {
    let defense = Defense::Selena(Selena { models: 20, left_out: 19 });
    let few = ShadowPlan { audit: 2, fixed: Some(3), ..plan(defense) };
    let error = rejection(&few);
    assert!(error.starts_with("defense: model ") && error.contains(" of the 20 of SELENA leaves out all "), "{error}");
    assert!(error.ends_with("take more images or leave out fewer"), "{error}");
}
