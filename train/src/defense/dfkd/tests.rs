use super::*;
use crate::defense::tests::plan;
use crate::sample::train_on_sample;
use crate::{CanaryKind, Defense, Optimizer, Schedule, ShadowAnswers, ShadowPlan, Views, train_shadow_models};
use ndarray::Axis;

const SMALL: Dfkd = Dfkd { iterations: 8, images: 64, steps: 5, epochs: 3, filters: 8, temperature: 20.0 };

fn answers(dfkd: Dfkd, network: NetworkPlan) -> Result<ShadowAnswers> {
    let plan = ShadowPlan {
        models: 2,
        audit: 20,
        fixed: Some(400),
        canaries: CanaryKind::Original,
        views: Views::Itself,
        neighbors: false,
        network,
        training: TrainingPlan::new(8, 32, Optimizer::ADAM, Schedule::Constant { rate: 3e-3 }),
        seed: 3,
        ..plan(Defense::Dfkd(dfkd))
    };
    train_on_sample(|context, plan| train_shadow_models(context, None, plan), &plan)
}

#[test]
fn a_student_learns_from_images_that_come_closer_to_the_statistics() {
    let answers = answers(SMALL, NetworkPlan::Cnn { filters: 6 }).unwrap();
    let [images, distances, teachers] = [0, 1, 2].map(|number| &answers.further[number]);
    assert_eq!((images.name, images.values.shape()), ("synthetic_images", [2, 16, 1, 28, 28].as_slice()));
    assert!(images.values.iter().all(|pixel| (0.0..=1.0).contains(pixel)));
    assert_eq!((distances.name, distances.values.shape()), ("statistics_distance", [2, 8].as_slice()));
    let [first, last] = [0, 7].map(|iteration| distances.values.index_axis(Axis(1), iteration).mean().unwrap());
    let (teacher, student) = (teachers.named_mean().unwrap().1, answers.mean_test_accuracy());
    println!("distance {first} to {last}; accuracy of teachers {teacher}, of students {student}");
    assert!(last < 0.8 * first, "{first} {last}");
    assert!(teacher > 0.5 && student > 0.25, "{teacher} {student}");
}

#[test]
fn a_network_without_batch_normalization_is_rejected() {
    let message = |dfkd, network| answers(dfkd, network).unwrap_err().to_string();
    assert_eq!(
        message(SMALL, NetworkPlan::LeNet5),
        "defense: DFKD makes images of the statistics of batch normalization, and LeNet-5 has none; take a network \
         that has, such as --network cnn"
    );
    let cnn = NetworkPlan::Cnn { filters: 6 };
    assert_eq!(
        message(Dfkd { iterations: 1 << 20, images: 1 << 20, ..SMALL }, cnn),
        "defense: 1048576 times 1048576 synthetic images of DFKD need more than 4 GiB; take fewer"
    );
    assert_eq!(message(Dfkd { images: 1, ..SMALL }, cnn), "synthetic images of DFKD = 1 is not in [2, inf)");
    assert_eq!(message(Dfkd { temperature: 0.0, ..SMALL }, cnn), "temperature of DFKD = 0 is not in (0, inf)");
}
