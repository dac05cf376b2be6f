use super::*;
use crate::sample::{rejection, sample, train_on_sample};
use crate::{Augmentation, Defense, NetworkPlan, Optimizer, Schedule, TrainingPlan};

fn plan() -> ShadowPlan {
    ShadowPlan {
        models: 6,
        audit: 60,
        fixed: Some(300),
        canaries: CanaryKind::Mislabeled,
        inclusion: Inclusion::Half,
        views: Views::Itself,
        neighbors: false,
        network: NetworkPlan::Mlp { hidden: 32 },
        training: TrainingPlan::new(25, 32, Optimizer::ADAM, Schedule::Constant { rate: 3e-3 }),
        defense: Defense::None,
        seed: 1,
    }
}

fn train(plan: &ShadowPlan) -> Result<ShadowAnswers> {
    let others = &sample()[1];
    let others = (plan.canaries == CanaryKind::OutOfDistribution).then_some(others);
    train_on_sample(|context, plan| train_shadow_models(context, others, plan), plan)
}

#[test]
fn wrong_labels_are_known_to_those_who_met_them() {
    let answers = train(&plan()).unwrap();
    let [member, other] = [true, false].map(|member| answers.audit_accuracy(member).unwrap());
    let accuracy = answers.mean_test_accuracy();
    println!("test {accuracy}, members {member}, others {other}");
    // Processors differ in the last digits: room for them.
    assert!(accuracy > 0.5 && member > 0.5 && other < 0.2, "{accuracy} {member} {other}");
    assert_eq!(answers.logits.dim(), (6, 60, 1, 10));
    assert!(answers.keep.columns().into_iter().all(|keep| keep.iter().filter(|&&keep| keep).count() == 3));
    assert_eq!(answers, train(&plan()).unwrap());
}

/// The image itself is queried on in both cases, with the same models.
#[test]
fn views_are_of_the_same_samples_by_the_same_models() {
    let training =
        TrainingPlan { epochs: 3, augmentation: Some(Augmentation { flip: true, shift: 2 }), ..plan().training };
    let one = ShadowPlan { training, ..plan() };
    let many = ShadowPlan { views: Views::Eighteen { shift: 2 }, ..one.clone() };
    let [one, many] = [one, many].map(|plan| train(&plan).unwrap());
    assert_eq!(many.logits.dim(), (6, 60, 18, 10));
    let itself = many.logits.index_axis(Axis(2), many.itself);
    // Products of matrices of another height are summed in another order.
    let error = (&one.logits.index_axis(Axis(2), one.itself) - &itself).mapv(f32::abs).into_iter().fold(0.0, f32::max);
    assert!(error < 1e-3, "{error}");
    assert_eq!((&one.test_accuracy, &one.keep), (&many.test_accuracy, &many.keep));
    assert!(many.logits.index_axis(Axis(2), 13) != itself);
    // Training met flips and shifts.
    let training = TrainingPlan { epochs: 3, ..plan().training };
    assert_ne!(train(&ShadowPlan { training, ..plan() }).unwrap().logits, one.logits);
}

/// Neighbors are images of every model, which it knows; what else is answered does not depend on them.
#[test]
fn models_know_the_neighbors_of_all_samples() {
    let without = train(&plan()).unwrap();
    let with = train(&ShadowPlan { neighbors: true, ..plan() }).unwrap();
    let neighbors = with.neighbors.clone().unwrap();
    assert_eq!(neighbors.logits.dim(), (6, 60, 1, 10));
    let mut index = neighbors.index.to_vec();
    assert!(index.iter().all(|image| with.fixed_index.as_slice().unwrap().binary_search(image).is_ok()));
    index.sort_unstable();
    index.dedup();
    assert_eq!(index.len(), 60);

    let [images, _] = sample();
    let labels = neighbors.index.mapv(|image| i64::from(images.labels[image as usize]));
    let keep = Array2::from_elem(with.keep.dim(), true);
    let known = ShadowAnswers { logits: neighbors.logits, labels, keep, ..with.clone() };
    let known = known.audit_accuracy(true).unwrap();
    // Close in pixels, and so mostly of the same class: the right one, not the wrong one of the canaries.
    let own = with.audit_index.mapv(|image| images.labels[image as usize]);
    let same = own.iter().zip(&neighbors.index).filter(|&(own, &image)| *own == images.labels[image as usize]).count();
    println!("answers right at neighbors {known}, same class {same} of 60");
    assert!(known > 0.9 && same > 30, "{known} {same}");

    // Products of matrices of another height are summed in another order.
    let error = (&with.logits - &without.logits).mapv(f32::abs).into_iter().fold(0.0, f32::max);
    assert!(error < 1e-3, "{error}");
    assert_eq!((with.keep, with.test_accuracy), (without.keep, without.test_accuracy));
    assert_eq!(without.neighbors, None);
}

#[test]
fn canaries_take_the_place_of_the_same_images() {
    let with = |canaries| {
        let training = TrainingPlan { epochs: 1, ..plan().training };
        train(&ShadowPlan { canaries, training, ..plan() }).unwrap()
    };
    let wrong = with(CanaryKind::Mislabeled);
    for kind in [CanaryKind::Original, CanaryKind::Uniform, CanaryKind::Blank, CanaryKind::OutOfDistribution] {
        let answers = with(kind);
        assert_eq!((&answers.audit_index, &answers.fixed_index), (&wrong.audit_index, &wrong.fixed_index));
        assert_eq!(answers.keep, wrong.keep);
        assert_eq!(answers.canary_pixels.is_some(), kind != CanaryKind::Original);
    }
    for kind in [CanaryKind::AlwaysDuplicated, CanaryKind::Poisoned] {
        let answers = with(kind);
        assert_eq!((&answers.audit_index, &answers.fixed_index), (&wrong.audit_index, &wrong.fixed_index));
        assert_eq!((&answers.keep, &answers.labels), (&wrong.keep, &wrong.labels));
        let copies = answers.copy_labels.as_ref().unwrap();
        assert_eq!(copies == answers.labels, kind == CanaryKind::Poisoned);
        assert!(answers.logits != wrong.logits);
    }
    let pairs = with(CanaryKind::Duplicated);
    assert_eq!(pairs.logits.dim(), (6, 30, 1, 10));
    let (keep, duplicates) = wrong.keep.view().split_at(Axis(1), 30);
    assert_eq!((pairs.keep.view(), pairs.duplicate_keep.as_ref().unwrap().view()), (keep, duplicates));
    assert_eq!(pairs.audit_index.view(), wrong.audit_index.view().split_at(Axis(0), 30).0);
    assert_eq!(pairs.labels.view(), wrong.labels.view().split_at(Axis(0), 30).0);
}

#[test]
fn each_sample_is_in_half_of_the_models_or_in_each_with_probability_one_half() {
    let half = kept(10, 1000, Inclusion::Half, 4);
    assert!(half.columns().into_iter().all(|keep| keep.iter().filter(|&&keep| keep).count() == 5));
    for keep in [half, kept(10, 1000, Inclusion::Independent, 4)] {
        // 1,000 coins for each model: 5 standard deviations are 79; ten models beyond that with probability 6e-6.
        let members: Vec<usize> =
            keep.rows().into_iter().map(|keep| keep.iter().filter(|&&keep| keep).count()).collect();
        println!("{members:?}");
        assert!(members.iter().all(|&members| members.abs_diff(500) < 79), "{members:?}");
    }
    let independent = kept(10, 1000, Inclusion::Independent, 4);
    assert!(independent.columns().into_iter().any(|keep| keep.iter().filter(|&&keep| keep).count() != 5));
}

#[test]
fn what_cannot_be_trained_is_rejected() {
    let rejected = |change: &dyn Fn(&mut ShadowPlan)| rejection(plan(), change, train);
    let wide = Some(Augmentation { flip: false, shift: 28 });
    let images = "of 2000 training images; both must fit and be more than none";
    for (message, expected) in [
        (rejected(&|plan| plan.models = 0), "shadow models = 0 is not in [1, inf)".to_owned()),
        (rejected(&|plan| plan.training.epochs = 0), "epochs = 0 is not in [1, inf)".into()),
        (rejected(&|plan| plan.models = 5), "shadow models: 5 models have no exact half; take an even number".into()),
        (
            rejected(&|plan| plan.fixed = Some(1941)),
            format!("shadow models: 60 audited images and 1941 fixed ones {images}"),
        ),
        (rejected(&|plan| plan.fixed = Some(0)), format!("shadow models: 60 audited images and 0 fixed ones {images}")),
        (
            rejected(&|plan| plan.fixed = Some(usize::MAX)),
            format!("shadow models: 60 audited images and {} fixed ones {images}", usize::MAX),
        ),
        (
            rejected(&|plan| plan.models = 1 << 40),
            "shadow models: 1099511627776 simultaneous networks of 360 images need more than 4 GiB for tables".into(),
        ),
        (
            rejected(&|plan| plan.views = Views::Eighteen { shift: 28 }),
            "views: a shift of 28 pixels leaves nothing of an image of 28 x 28".into(),
        ),
        (
            rejected(&|plan| plan.training.augmentation = wide),
            "augmentation: a shift of 28 pixels leaves nothing of an image of 28 x 28".into(),
        ),
    ] {
        assert_eq!(message, expected);
    }
}

/// Models that were trained on a copy with the wrong label answer it whether or not they were trained on the canary;
/// with a copy that has the right label, the answer is seldom the wrong one.
#[test]
fn copies_are_in_every_training_set() {
    let [plain, right, wrong] =
        [CanaryKind::Mislabeled, CanaryKind::AlwaysDuplicated, CanaryKind::Poisoned].map(|canaries| {
            let answers = train(&ShadowPlan { canaries, ..plan() }).unwrap();
            [true, false].map(|member| answers.audit_accuracy(member).unwrap())
        });
    println!("members and others: plain {plain:?}, right {right:?}, wrong {wrong:?}");
    // Processors differ in the last digits: room for them.
    assert!(wrong[0] > 0.5 && wrong[1] > plain[1] + 0.3, "{plain:?} {wrong:?}");
    assert!(right[0] < plain[0] && right[1] < plain[1] + 0.05, "{plain:?} {right:?}");
}
