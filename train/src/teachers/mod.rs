//! Teachers that vote: PATE's random partitions, CaPC's fixed one, and teachers that saw one more point.

mod lab;
mod plan;
pub(super) mod split;
mod votes;

pub use plan::TeacherPlan;
pub use votes::TeacherVotes;
pub(super) use votes::ballots;
pub(super) use votes::{margin, ranked};

use super::answers::indices;
use super::context::TrainingContext;
use super::teachers::votes::{adversarial, poisoned, second_votes};
use super::training_images::Example;
use crate::checks::reject;
use lab::Lab;
use leakbound::error::Result;
use ndarray::{Array1, Array2, Axis};
use split::{Phase, Split, partition, some_images};

/// Trains teachers as Fashion-MNIST's recorded votes were. Progress counts networks, and the checkpoint keeps their
/// votes.
///
/// A PATE teacher sees an adversarial query instead of one of its images, and party 0 sees it in addition to its own.
///
/// # Errors
/// [`Error::Domain`](leakbound::Error::Domain) for a count of 0, [`Error::Rejected`](leakbound::Error::Rejected) if
/// there are too few images or queries, [`Error::Length`](leakbound::Error::Length) if training and test images differ
/// in shape, [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails; those of the checkpoint.
///
/// # References
/// Papernot et al. (2018), "Scalable private learning with PATE"; Choquette-Choo et al. (2021), "CaPC learning".
pub fn train_teachers(context: &TrainingContext<'_>, plan: &TeacherPlan) -> Result<TeacherVotes> {
    let each = checked_images_each(context, plan)?;
    let (mut lab, classes) = (Lab::new(context, plan)?, context.classes());
    let partitions = |split: Split| partition(context.train.len(), (plan.teachers, each), plan.seed, split);
    let (mut pate_images, mut tables) = (Vec::new(), Vec::new());
    for instantiation in 0..plan.instantiations {
        let teachers = partitions(Split::Pate(instantiation as u64));
        pate_images.extend(teachers.iter().flatten().copied());
        tables.extend(teachers.iter().map(|images| Example::all(images)));
    }
    let shape = (plan.instantiations, plan.teachers, plan.queries);
    let (votes, accuracies) = lab.vote(Phase::Pate, &tables, plan.teachers)?;
    let pate_votes = ballots(&votes, shape);
    let parties = partitions(Split::Capc);
    let tables: Vec<Vec<Example>> =
        (0..plan.instantiations).flat_map(|_| parties.iter().map(|images| Example::all(images))).collect();
    let capc_votes = ballots(&lab.vote(Phase::Capc, &tables, 0)?.0, shape);

    let second_label = second_votes(&pate_votes, classes);
    lab.add_queries(&second_label)?;
    let adv_query = adversarial(&pate_votes, classes, plan);
    // Of the queries with the most agreement, so that its own label is clearly not the poisoned one.
    let poison = poisoned(&pate_votes, classes);
    let added = AddedQueries { lab: &lab, plan, available: context.train.len(), each, party: &parties[0] };
    let pate_nat_advq = added.votes(Phase::PateNatural, &adv_query)?;
    let pate_pois_advq = added.votes(Phase::PatePoisoned, &adv_query)?;
    let capc_nat_advq = added.votes(Phase::CapcNatural, &adv_query)?;
    let capc_pois_advq = added.votes(Phase::CapcPoisoned, &adv_query)?;
    let pate_pois_natq = added.votes_on_all(poison)?;
    let images =
        |count: usize, images: Vec<u32>| Array1::from(images).into_shape_with_order((count, plan.teachers, each));
    Ok(TeacherVotes {
        pate_votes,
        capc_votes,
        query_index: indices(&lab.queries),
        query_label: lab.query_label,
        second_label: second_label.into(),
        adv_query: adv_query.iter().map(|&query| query as i32).collect(),
        pate_nat_advq,
        pate_pois_advq,
        capc_nat_advq,
        capc_pois_advq,
        pate_pois_natq,
        poison_query: poison as i64,
        // The number drawn.
        pate_images: images(plan.instantiations, pate_images).unwrap_or_default(),
        test_accuracy: accuracies.into(),
        capc_images: images(1, parties.concat()).unwrap_or_default().index_axis_move(Axis(0), 0),
    })
}

/// Images of each teacher of a plan that fits the images.
fn checked_images_each(context: &TrainingContext<'_>, plan: &TeacherPlan) -> Result<usize> {
    let each = plan.images_each(context.train.len())?;
    if plan.queries > context.test.len() {
        return reject("teachers", format!("{} queries of {} test images", plan.queries, context.test.len()));
    }
    if plan.adversarial > plan.queries {
        return reject("teachers", format!("{} adversarial queries of {}", plan.adversarial, plan.queries));
    }
    context.check_shapes()?;
    Ok(each)
}

/// Teachers that met a query, with its own label or with another.
struct AddedQueries<'a> {
    lab: &'a Lab<'a>,
    plan: &'a TeacherPlan,
    /// Training images; the queries are behind them.
    available: usize,
    /// Images of a teacher.
    each: usize,
    /// Images of party 0 of CaPC.
    party: &'a [u32],
}

impl AddedQueries<'_> {
    fn natural(&self, query: usize) -> Example {
        Example::labeled((self.available + query) as u32)
    }

    fn poisoned(&self, query: usize) -> Example {
        let natural = self.natural(query);
        Example { target: natural.target + self.plan.queries as u32, ..natural }
    }

    /// All but one of the images of a PATE teacher, which is given by `which`.
    fn teacher(&self, phase: Phase, which: (usize, usize)) -> Vec<Example> {
        Example::all(&some_images(self.available, self.each - 1, self.plan.seed, phase, which))
    }

    /// Votes \[query, retraining\] of teachers that met a query on this query.
    fn votes(&self, phase: Phase, queries: &[usize]) -> Result<Array2<u8>> {
        let retrainings = self.plan.retrainings;
        let (mut tables, mut asked) = (Vec::new(), Vec::new());
        for &query in queries {
            for retraining in 0..retrainings {
                let mut examples = match phase {
                    Phase::CapcNatural | Phase::CapcPoisoned => Example::all(self.party),
                    _ => self.teacher(phase, (query, retraining)),
                };
                examples.push(match phase {
                    Phase::PateNatural | Phase::CapcNatural => self.natural(query),
                    _ => self.poisoned(query),
                });
                tables.push(examples);
                asked.push(query);
            }
        }
        let votes = self.lab.vote_on_one(phase, &tables, &asked)?;
        Ok(Array2::from_shape_fn((queries.len(), retrainings), |(row, column)| votes[row * retrainings + column]))
    }

    /// Votes \[query, teacher\] of teachers that met the query `poison` with another label.
    fn votes_on_all(&self, poison: usize) -> Result<Array2<u8>> {
        let tables: Vec<Vec<Example>> = (0..self.plan.teachers)
            .map(|teacher| {
                let mut examples = self.teacher(Phase::PateOther, (poison, teacher));
                examples.push(self.poisoned(poison));
                examples
            })
            .collect();
        let (votes, _) = self.lab.vote(Phase::PateOther, &tables, 0)?;
        let shape = (self.plan.queries, self.plan.teachers);
        Ok(Array2::from_shape_fn(shape, |(query, teacher)| votes[teacher][query]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{rejection, train_on_sample};
    use crate::{EarlyStopping, NetworkPlan, Optimizer, Schedule, TrainingPlan};

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

    #[test]
    fn teachers_learn_and_two_runs_agree() {
        let votes = train_on_sample(train_teachers, &plan()).unwrap();
        let accuracy = votes.pate_accuracy();
        println!("mean accuracy {accuracy}, with one partition {}", votes.capc_accuracy());
        // Ten classes: a network that learned nothing has 10%. Processors differ in the last digits: room for them.
        assert_eq!(votes.test_accuracy.len(), 10);
        // Queries are 100 of the 500 test images.
        assert!((votes.mean_test_accuracy() - accuracy).abs() < 0.2, "{}", votes.test_accuracy);
        assert!(accuracy > 0.4 && votes.capc_accuracy() > 0.4, "{accuracy}");
        let mut images: Vec<u32> = votes.pate_images.iter().copied().collect();
        images.sort_unstable();
        assert_eq!(images, (0..2000).collect::<Vec<u32>>());
        assert_eq!(votes, train_on_sample(train_teachers, &plan()).unwrap());
    }

    /// Convolutions, an exponential schedule and early stopping together.
    #[test]
    fn convolutional_teachers_learn() {
        let plan = TeacherPlan {
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
        };
        let votes = train_on_sample(train_teachers, &plan).unwrap();
        println!("accuracies {}", votes.test_accuracy);
        assert!(votes.mean_test_accuracy() > 0.4, "{}", votes.test_accuracy);
    }

    #[test]
    fn what_cannot_be_trained_is_rejected() {
        let message =
            |change: &dyn Fn(&mut TeacherPlan)| rejection(plan(), change, |plan| train_on_sample(train_teachers, plan));
        let early = |validation, patience| Some(EarlyStopping { validation, patience });
        assert_eq!(message(&|plan| plan.teachers = 0), "teachers = 0 is not in [1, inf)");
        let many = "teachers: 10 teachers with 201 images each need more than the 2000 there are";
        assert_eq!(message(&|plan| plan.images = Some(201)), many);
        assert_eq!(message(&|plan| plan.queries = 501), "teachers: 501 queries of 500 test images");
        assert_eq!(message(&|plan| plan.adversarial = 101), "teachers: 101 adversarial queries of 100");
        assert_eq!(message(&|plan| plan.training.batch = 0), "images in a step = 0 is not in [1, inf)");
        let diverged = message(&|plan| plan.training.schedule = Schedule::Constant { rate: 1e30 });
        assert_eq!(diverged, "training: parameters are no longer finite; lower the learning rate");
        let share = "share of images for validation = 1 is not in (0, 1)";
        assert_eq!(message(&|plan| plan.training.early_stopping = early(1.0, 1)), share);
        assert_eq!(message(&|plan| plan.training.early_stopping = early(0.1, 0)), "patience = 0 is not in [1, inf)");
    }
}
