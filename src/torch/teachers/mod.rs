//! Teachers that vote: PATE's random partitions, CaPC's fixed one, and teachers that met one more point.

mod lab;
mod plan;
mod queries;
pub(super) mod split;
mod votes;

pub use plan::TeacherPlan;
pub use votes::TeacherVotes;

use super::checkpoint::TrainingCheckpoint;
use super::device::TrainingDevice;
use super::training_images::Example;
use crate::error::{Error, Result};
use crate::record::ImageSet;
use lab::Lab;
use ndarray::{Array1, Array2, Axis};
use queries::{adversarial, poisoned, second_votes};
use split::{Phase, Split, partition, some_images};
use votes::ballots;

/// Trains teachers as Fashion-MNIST's recorded votes were: `progress` is told how many networks are done, and
/// `checkpoint` keeps their votes.
///
/// An adversarial query is met by a PATE teacher in place of one of its images, and by party 0 beside its own.
///
/// # Errors
/// [`Error::Domain`] for a count of 0, [`Error::Refused`] if there are too few images or queries,
/// [`Error::Length`] if training and test images differ in shape, [`Error::Unavailable`] if libtorch fails;
/// those of the checkpoint.
///
/// # References
/// Papernot et al. (2018), "Scalable private learning with PATE"; Choquette-Choo et al. (2021), "CaPC learning".
pub fn train_teachers(
    train: &ImageSet,
    test: &ImageSet,
    plan: &TeacherPlan,
    device: TrainingDevice,
    progress: &(dyn Fn(u64) + Sync),
    checkpoint: Option<&TrainingCheckpoint>,
) -> Result<TeacherVotes> {
    let each = plan.images_each(train.len())?;
    if plan.queries > test.len() {
        let reason = format!("{} queries of {} test images", plan.queries, test.len());
        return Err(Error::Refused { operation: "teachers", reason });
    }
    if plan.adversarial > plan.queries {
        let reason = format!("{} adversarial queries of {}", plan.adversarial, plan.queries);
        return Err(Error::Refused { operation: "teachers", reason });
    }
    if train.shape() != test.shape() {
        let expected = format!("that of the training images, {:?}", train.shape());
        return Err(Error::Length { quantity: "shape of test images", found: test.shape().iter().product(), expected });
    }
    let mut lab = Lab::new(train, test, plan, device, progress, checkpoint)?;
    let partitions = |split: Split| partition(train.len(), (plan.teachers, each), plan.seed, split);
    let (mut pate_images, mut tables) = (Vec::new(), Vec::new());
    for instantiation in 0..plan.instantiations {
        let teachers = partitions(Split::Pate(instantiation as u64));
        pate_images.extend(teachers.iter().flatten().copied());
        tables.extend(teachers.iter().map(|images| labeled(images)));
    }
    let shape = (plan.instantiations, plan.teachers, plan.queries);
    let (votes, accuracies) = lab.vote(Phase::Pate, &tables, plan.teachers)?;
    let pate_votes = ballots(votes, shape);
    let parties = partitions(Split::Capc);
    let tables: Vec<Vec<Example>> =
        (0..plan.instantiations).flat_map(|_| parties.iter().map(|images| labeled(images))).collect();
    let capc_votes = ballots(lab.vote(Phase::Capc, &tables, 0)?.0, shape);

    let second_label = second_votes(&pate_votes, lab.classes());
    lab.add_queries(&second_label)?;
    let adv_query = adversarial(&pate_votes, lab.classes(), plan);
    // Of the queries with the most agreement, so that its own label is clearly not the poisoned one.
    let poison = poisoned(&pate_votes, lab.classes());
    let with_label = |query: usize| Example::labeled((train.len() + query) as u32);
    let mislabeled = |query: usize| {
        let natural = with_label(query);
        Example { target: natural.target + plan.queries as u32, ..natural }
    };
    let met = |phase: Phase| -> Vec<(Vec<Example>, usize)> {
        let mut all = Vec::new();
        for &query in &adv_query {
            for retraining in 0..plan.retrainings {
                let mut examples = match phase {
                    Phase::CapcNatural | Phase::CapcPoisoned => labeled(&parties[0]),
                    _ => labeled(&some_images(train.len(), each - 1, plan.seed, phase, (query, retraining))),
                };
                examples.push(match phase {
                    Phase::PateNatural | Phase::CapcNatural => with_label(query),
                    _ => mislabeled(query),
                });
                all.push((examples, query));
            }
        }
        all
    };
    let retrained = |phase| -> Result<Array2<u8>> {
        let (tables, asked): (Vec<_>, Vec<_>) = met(phase).into_iter().unzip();
        let votes = lab.vote_on_one(phase, &tables, &asked)?;
        Ok(Array2::from_shape_fn((adv_query.len(), plan.retrainings), |(row, column)| {
            votes[row * plan.retrainings + column]
        }))
    };
    let pate_nat_advq = retrained(Phase::PateNatural)?;
    let pate_pois_advq = retrained(Phase::PatePoisoned)?;
    let capc_nat_advq = retrained(Phase::CapcNatural)?;
    let capc_pois_advq = retrained(Phase::CapcPoisoned)?;
    let tables: Vec<Vec<Example>> = (0..plan.teachers)
        .map(|teacher| {
            let mut examples =
                labeled(&some_images(train.len(), each - 1, plan.seed, Phase::PateOther, (poison, teacher)));
            examples.push(mislabeled(poison));
            examples
        })
        .collect();
    let (other, _) = lab.vote(Phase::PateOther, &tables, 0)?;
    let pate_pois_natq = Array2::from_shape_fn((plan.queries, plan.teachers), |(query, teacher)| other[teacher][query]);
    let images =
        |count: usize, images: Vec<u32>| Array1::from(images).into_shape_with_order((count, plan.teachers, each));
    Ok(TeacherVotes {
        pate_votes,
        capc_votes,
        query_index: lab.queries.iter().map(|&query| query as i32).collect(),
        query_label: lab.query_label,
        second_label: second_label.into(),
        adv_query: adv_query.iter().map(|&query| query as i32).collect(),
        pate_nat_advq,
        pate_pois_advq,
        capc_nat_advq,
        capc_pois_advq,
        pate_pois_natq,
        poison_query: poison as i64,
        // As many as were drawn.
        pate_images: images(plan.instantiations, pate_images).unwrap_or_default(),
        test_accuracy: accuracies.into(),
        capc_images: images(1, parties.concat()).unwrap_or_default().index_axis_move(Axis(0), 0),
    })
}

/// Images with their labels.
fn labeled(images: &[u32]) -> Vec<Example> {
    images.iter().map(|&image| Example::labeled(image)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{ImagePart, MemoryBudget, read_images};
    use crate::torch::{DeviceChoice, EarlyStopping, NetworkPlan, Optimizer, Schedule, TrainingPlan};

    fn plan() -> TeacherPlan {
        TeacherPlan {
            teachers: 10,
            images: None,
            network: NetworkPlan::Mlp { hidden: 16 },
            instantiations: 1,
            queries: 100,
            adversarial: 2,
            retrainings: 2,
            training: TrainingPlan::new(10, 32, Optimizer::ADAM, Schedule::Constant { rate: 1e-3 }),
            seed: 1,
        }
    }

    fn train_on_sample(plan: &TeacherPlan) -> Result<TeacherVotes> {
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/validation/data/fashion_sample.npz");
        let [(train, _), (test, _)] = [ImagePart::Train, ImagePart::Test]
            .map(|part| read_images(sample, part, MemoryBudget::of_machine()).unwrap());
        train_teachers(&train, &test, plan, TrainingDevice::open(DeviceChoice::Cpu)?, &|_| (), None)
    }

    #[test]
    fn teachers_learn_and_two_runs_agree() {
        let votes = train_on_sample(&plan()).unwrap();
        let accuracy = votes.pate_accuracy();
        println!("mean accuracy {accuracy}, with one partition {}", votes.capc_accuracy());
        // Ten classes: a network that learned nothing has 10 %. Processors differ in the last digits: room for them.
        assert_eq!(votes.test_accuracy.len(), 10);
        // Queries are 100 of the 500 test images.
        assert!((votes.mean_test_accuracy() - accuracy).abs() < 0.2, "{}", votes.test_accuracy);
        assert!(accuracy > 0.4 && votes.capc_accuracy() > 0.4, "{accuracy}");
        let mut images: Vec<u32> = votes.pate_images.iter().copied().collect();
        images.sort_unstable();
        assert_eq!(images, (0..2000).collect::<Vec<u32>>());
        assert_eq!(votes, train_on_sample(&plan()).unwrap());
    }

    /// Convolutions, an exponential schedule and early stopping together.
    #[test]
    fn convolutional_teachers_learn() {
        let votes = train_on_sample(&TeacherPlan {
            teachers: 2,
            images: Some(200),
            network: NetworkPlan::Cnn { filters: 8 },
            adversarial: 0,
            retrainings: 0,
            training: TrainingPlan {
                schedule: Schedule::Exponential { rate: 3e-3, factor: 0.95, parts: 10 },
                early_stopping: Some(EarlyStopping { validation: 0.1, patience: 5 }),
                ..plan().training
            },
            ..plan()
        })
        .unwrap();
        println!("accuracies {}", votes.test_accuracy);
        assert!(votes.mean_test_accuracy() > 0.4, "{}", votes.test_accuracy);
    }

    #[test]
    fn what_cannot_be_trained_is_refused() {
        let refused = |change: &dyn Fn(&mut TeacherPlan)| {
            let mut plan = plan();
            change(&mut plan);
            train_on_sample(&plan).unwrap_err().to_string()
        };
        let messages = [
            refused(&|plan| plan.teachers = 0),
            refused(&|plan| plan.images = Some(201)),
            refused(&|plan| plan.queries = 501),
            refused(&|plan| plan.adversarial = 101),
            refused(&|plan| plan.training.batch = 0),
            refused(&|plan| plan.training.schedule = Schedule::Constant { rate: 1e30 }),
            refused(&|plan| plan.training.early_stopping = Some(EarlyStopping { validation: 1.0, patience: 1 })),
            refused(&|plan| plan.training.early_stopping = Some(EarlyStopping { validation: 0.1, patience: 0 })),
        ];
        assert_eq!(messages[0], "teachers = 0 is not in [1, inf)");
        assert_eq!(messages[1], "teachers: 10 teachers with 201 images each need more than the 2000 there are");
        assert_eq!(messages[2], "teachers: 501 queries of 500 test images");
        assert_eq!(messages[3], "teachers: 101 adversarial queries of 100");
        assert_eq!(messages[4], "images in a step = 0 is not in [1, inf)");
        assert_eq!(messages[5], "training: parameters are no longer finite; lower the learning rate");
        assert_eq!(messages[6], "share of images for validation = 1 is not in (0, 1)");
        assert_eq!(messages[7], "patience = 0 is not in [1, inf)");
    }
}
