use super::*;
use crate::defense::Defense;
use crate::defense::tests::{answers, plan, rejection};
use crate::{Augmentation, CanaryKind, EarlyStopping, NetworkPlan, ShadowAnswers, ShadowPlan, TrainingPlan, Views};
use leakbound::membership::{MemoryEmbeddings, ScoreBlock, ScoredEmbeddings, ShadowScores, ViewPairs};
use ndarray::Ix4;

const ENCODER: EncoderPlan = EncoderPlan {
    epochs: 300,
    batch: 8,
    rate: 0.06,
    temperature: 0.5,
    classifier: ClassifierPlan { epochs: 40, batch: 32, rate: 0.2 },
    views: 8,
};
const SIMCLR: SimClr = SimClr { encoder: ENCODER };
const MOCO: MoCo = MoCo { encoder: ENCODER, queue: 16, momentum: 0.9 };

fn both(change: impl Fn(EncoderPlan) -> EncoderPlan) -> [Defense; 2] {
    let moco = MoCo { encoder: change(MOCO.encoder), ..MOCO };
    [Defense::SimClr(SimClr { encoder: change(SIMCLR.encoder) }), Defense::MoCo(moco)]
}

/// How much more alike the views of a sample are to models that were trained on it, as LiRA sees it: the mean over
/// samples, and its standard error.
fn leak(answers: &ShadowAnswers) -> [f64; 2] {
    let recorded = &answers.further[0];
    assert_eq!(recorded.name, "embeddings");
    let embeddings = recorded.values.mapv(f64::from).into_dimensionality::<Ix4>().unwrap();
    let embeddings = MemoryEmbeddings::new(embeddings, answers.keep.clone()).unwrap();
    let scored = ScoredEmbeddings::new(&embeddings, ViewPairs::All).unwrap();
    let ScoreBlock::Double(scores) = scored.block(0..answers.labels.len()).unwrap() else { panic!("doubles expected") };
    let means = answers.keep.columns().into_iter().enumerate().map(|(sample, keep)| {
        let mean = |member: bool| {
            let models = keep.iter().enumerate().filter(|&(_, &keep)| keep == member);
            let scores: Vec<f64> = models.map(|(model, _)| scores[[model, sample, 0]]).collect();
            scores.iter().sum::<f64>() / scores.len() as f64
        };
        mean(true) - mean(false)
    });
    let means: Vec<f64> = means.collect();
    let count = means.len() as f64;
    let mean = means.iter().sum::<f64>() / count;
    let variance = means.iter().map(|mean_of_one| (mean_of_one - mean).powi(2)).sum::<f64>() / (count - 1.0);
    [mean, (variance / count).sqrt()]
}

/// Few images and many epochs: the encoder knows the images it learned from, and the classifier learned classes.
#[test]
fn views_of_members_are_more_alike() {
    for defense in both(|plan| plan) {
        let network = NetworkPlan::Mlp { hidden: 64 };
        let canaries = CanaryKind::Original;
        let answers = answers(&ShadowPlan {
            audit: 40,
            fixed: Some(4),
            canaries,
            network,
            views: Views::Itself,
            neighbors: false,
            ..plan(defense)
        });
        assert_eq!(answers.further[0].values.shape(), [6, 40, 8, 128]);
        let ([larger, error], accuracy) = (leak(&answers), answers.mean_test_accuracy());
        println!("{defense}: Fisher's cosines of members are larger by {larger} ± {error}; accuracy {accuracy}");
        assert!(larger > 0.1 && larger > 3.0 * error && accuracy > 0.3, "{defense}: {larger} {error} {accuracy}");
    }
}

/// Networks that normalize batches, and one network at a time as well as four.
#[test]
fn networks_have_streams_of_their_own() {
    // In few steps: rounding grows where a convolution's largest of nine is another one, to 1 within some twenty steps.
    let classifier = ClassifierPlan { epochs: 2, ..ENCODER.classifier };
    let few = |plan| EncoderPlan { epochs: 1, batch: 16, classifier, ..plan };
    for defense in both(few) {
        for network in [NetworkPlan::Mlp { hidden: 12 }, NetworkPlan::Cnn { filters: 2 }] {
            let together = TrainingPlan { side_by_side: Some(4), ..plan(defense).training };
            let alone = TrainingPlan { side_by_side: Some(1), ..together.clone() };
            let [together, alone] = [together, alone].map(|training| {
                answers(&ShadowPlan {
                    models: 4,
                    fixed: Some(60),
                    views: Views::Itself,
                    training,
                    network,
                    ..plan(defense)
                })
            });
            let pairs = together.logits.iter().zip(&alone.logits);
            let pairs = pairs.chain(together.further[0].values.iter().zip(&alone.further[0].values));
            let error = pairs.map(|(together, alone)| (together - alone).abs()).fold(0.0, f32::max);
            println!("{defense}, {network}: {error:e}");
            // With other random numbers they would be as far apart as embeddings are large.
            assert!(error < 1e-3, "{defense}, {network}: {error}");
        }
    }
}

#[test]
fn what_encoders_cannot_learn_from_is_rejected() {
    let with = |change: &dyn Fn(EncoderPlan) -> EncoderPlan| rejection(&plan(both(change)[0]));
    let moco = |change: &dyn Fn(MoCo) -> MoCo| rejection(&plan(Defense::MoCo(change(MOCO))));
    let trained = |change: &dyn Fn(&mut ShadowPlan)| {
        let mut plan = plan(Defense::SimClr(SIMCLR));
        change(&mut plan);
        rejection(&plan)
    };
    let classifier = |plan| ClassifierPlan { epochs: 0, ..plan };
    let stopping = Some(EarlyStopping { validation: 0.1, patience: 2 });
    let own = "defense: encoders learn from their own random views and for a set number of epochs; leave out flips, \
               shifts and early stopping";
    for (found, expected) in [
        (with(&|plan| EncoderPlan { epochs: 0, ..plan }), "epochs of the encoder = 0 is not in [1, inf)"),
        (with(&|plan| EncoderPlan { batch: 1, ..plan }), "images in a step of the encoder = 1 is not in [2, inf)"),
        (with(&|plan| EncoderPlan { views: 1, ..plan }), "views with embeddings = 1 is not in [2, inf)"),
        (with(&|plan| EncoderPlan { temperature: 0.0, ..plan }), "temperature = 0 is not in (0, inf)"),
        (with(&|plan| EncoderPlan { rate: f64::NAN, ..plan }), "learning rate of the encoder = NaN is not in (0, inf)"),
        (
            with(&|plan| EncoderPlan { classifier: classifier(plan.classifier), ..plan }),
            "epochs of the classifier = 0 is not in [1, inf)",
        ),
        (moco(&|moco| MoCo { momentum: 1.0, ..moco }), "momentum of the keys = 1 is not in [0, 1)"),
        (moco(&|moco| MoCo { queue: 7, ..moco }), "defense: a queue of 7 keys has no room for a batch of 8"),
        (trained(&|plan| plan.training.early_stopping = stopping), own),
        (trained(&|plan| plan.training.augmentation = Some(Augmentation { flip: true, shift: 0 })), own),
    ] {
        assert_eq!(found, expected);
    }
    let many = with(&|plan| EncoderPlan { views: 1 << 20, ..plan });
    assert_eq!(many, "shadow models: 6 models answer simultaneously with more than 4 GiB of embeddings");
    let batch = with(&|plan| EncoderPlan { batch: 512, ..plan });
    assert!(batch.starts_with("defense: a batch of 512 for an encoder of 1"), "{batch}");
    let queue = moco(&|moco| MoCo { queue: 4096, ..moco });
    assert!(queue.starts_with("defense: a queue of 4096 keys for an encoder of 1"), "{queue}");
}
