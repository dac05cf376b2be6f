//! PATE-FM: a student of teachers that vote with noise, all trained by FixMatch, with wrong labels as canaries.

mod dealt;
mod goal;
mod lab;
mod labels;
mod models;
mod plan;

pub use goal::LabelGoal;
pub use models::{PateFmModels, PateFmRun};
pub use plan::{PateFmPlan, VotesPlan, VotingPlan};

use super::answers::{histogram, indices};
use super::context::TrainingContext;
use super::mislabeled::MislabeledImages;
use super::seed::{Purpose, stream};
use dealt::{parts, queries};
use lab::{Answers, Lab, Lesson, Phase};
use labels::{GivenLabels, give_labels};
use leakbound::error::{Error, Result};
use leakbound::histogram::VoteHistogram;
use ndarray::{Array1, Array2};
use rand::Rng;

/// Trains teachers on disjoint parts of the labels, lets them label training images within the limits of the plan, and
/// trains a student on these labels; all networks see all training images without labels. Progress counts networks.
/// The checkpoint keeps the votes of teachers, which other noise, labels and students have too, and the answers of
/// students, which others do not find.
///
/// The wrong label of a canary goes to the teacher that has the image. Queries are training images in random order, each
/// once, and canaries among them. Images are public and labels are private: replacing one label changes one teacher, and
/// one of its votes on each query. Beside the student stands a network with the same labels, steps and weak augmentation
/// that sees no other image. Runs share nothing but the images; each claim is for one run alone.
///
/// Noise that is a function of a seed can be taken off by anyone who knows it: a student that leaves the laboratory needs
/// a seed that is drawn in secret.
///
/// # Errors
/// [`Error::Domain`] for a count of 0 or a number out of its range, [`Error::Rejected`] for more teachers, queries or
/// canaries than images, if a run gave no label, and if training diverges, [`Error::Length`] if training and test images
/// differ in shape, [`Error::Unavailable`] if libtorch fails; those of the checkpoint.
///
/// # References
/// Malek Esmaeili et al. (2021), "Antipodes of label differential privacy: PATE and ALIBI", Algorithms 1 and 2.
pub fn train_pate_fm(context: &TrainingContext<'_>, plan: &PateFmPlan) -> Result<PateFmModels> {
    plan.check(context.train, context.test)?;
    context.check_shapes()?;
    let draws: Vec<Draws> = (0..plan.runs as u64).map(|run| Draws::new(context, plan, run)).collect();
    let lab = Lab::new(context, plan)?;
    let votes = lab.answers(&teachers(plan, &draws))?;
    let votes: Vec<&[Answers]> = votes.chunks(plan.teachers).collect();
    let classes = context.classes();
    let given = draws.iter().zip(&votes).map(|(draws, votes)| draws.ask(votes, classes, &plan.voting));
    let given: Vec<GivenLabels> = given.collect::<Result<_>>()?;
    reject_no_labels(&given)?;
    let labels: Vec<Vec<u8>> = draws.iter().zip(&given).map(|(draws, given)| draws.labels(given)).collect();
    let supervised = plan.student_training.supervised();
    let lesson = |phase, training| Lesson {
        phase,
        training,
        labels: labels.iter().map(Vec::as_slice).collect(),
        tables: draws.iter().zip(&given).map(|(draws, given)| draws.used(given)).enumerate().collect(),
        asked: draws.iter().map(|draws| draws.canaries.images.as_slice()).collect(),
    };
    let students = lab.answers(&lesson(Phase::Students, &plan.student_training))?;
    let rivals = lab.answers(&lesson(Phase::Supervised, &supervised))?;
    let tests: Vec<u8> = context.test.labels.to_vec();
    let all = draws.iter().zip(given).zip(votes).zip(students.into_iter().zip(&rivals));
    let runs = all.map(|(((draws, given), votes), (student, rival))| draws.run(given, votes, (student, rival), &tests));
    Ok(PateFmModels { runs: runs.collect() })
}

/// The teachers of all runs, those of run 0 first.
fn teachers<'a>(plan: &'a PateFmPlan, draws: &'a [Draws]) -> Lesson<'a> {
    let tables =
        draws.iter().enumerate().flat_map(|(run, draws)| draws.parts.iter().map(move |part| (run, part.clone())));
    let asked = draws.iter().flat_map(|draws| std::iter::repeat_n(draws.queries.as_slice(), draws.parts.len()));
    let (tables, asked) = (tables.collect(), asked.collect());
    Lesson {
        phase: Phase::Teachers,
        training: &plan.teacher_training,
        labels: draws.iter().map(|draws| draws.trained.as_slice()).collect(),
        tables,
        asked,
    }
}

/// A student needs something to learn from.
fn reject_no_labels(given: &[GivenLabels]) -> Result<()> {
    match given.iter().enumerate().find(|(_, given)| given.labeling.labels == 0) {
        None => Ok(()),
        Some((run, given)) => {
            let queries = given.labeling.queries;
            let reason =
                format!("run {run} gave no label in {queries} queries; lower the threshold or make more queries");
            Err(Error::Rejected { operation: "PATE-FM", reason })
        }
    }
}

/// What is drawn for a run.
struct Draws {
    canaries: MislabeledImages,
    /// The class of each training image, and the label that its teacher has.
    truth: Vec<u8>,
    trained: Vec<u8>,
    /// Images of each teacher.
    parts: Vec<Vec<u32>>,
    /// Images that the teachers are asked about, in this order.
    queries: Vec<u32>,
    /// Seed of the noise.
    label_seed: u64,
}

impl Draws {
    fn new(context: &TrainingContext<'_>, plan: &PateFmPlan, run: u64) -> Self {
        let (seed, truth) = (plan.seed, context.train.labels.to_vec());
        let canaries = MislabeledImages::draw(&truth, context.classes(), plan.canaries, (seed, run));
        Self {
            trained: canaries.among(&truth),
            canaries,
            parts: parts(truth.len(), plan.teachers, (seed, run)),
            queries: queries(truth.len(), plan.voting.queries, (seed, run)),
            label_seed: stream(seed, Purpose::Labels, run, 0).next_u64(),
            truth,
        }
    }

    /// Asks the teachers until there are enough labels.
    fn ask(&self, votes: &[Answers], classes: usize, plan: &VotingPlan) -> Result<GivenLabels> {
        let query = |(place, &image): (usize, &u32)| {
            let counts = histogram(votes.iter().map(|votes| votes.classes[place]), classes);
            Ok((VoteHistogram::new(counts)?, usize::from(self.truth[image as usize])))
        };
        let queries = self.queries.iter().enumerate().map(query).collect::<Result<Vec<_>>>()?;
        give_labels(&queries, classes, plan, self.label_seed)
    }

    /// The labels that a student has: those that were given, and for all other images one that it never sees.
    fn labels(&self, given: &GivenLabels) -> Vec<u8> {
        let mut labels = vec![0; self.truth.len()];
        for (&image, answer) in self.queries.iter().zip(&given.answers) {
            labels[image as usize] = answer.unwrap_or(0);
        }
        labels
    }

    /// The images whose labels it learns.
    fn used(&self, given: &GivenLabels) -> Vec<u32> {
        self.queries.iter().zip(&given.used).filter(|(_, used)| **used).map(|(&image, _)| image).collect()
    }

    /// All that is to be known about the run; `tests` are the classes of the test images.
    fn run(
        &self,
        given: GivenLabels,
        votes: &[Answers],
        (student, rival): (Answers, &Answers),
        tests: &[u8],
    ) -> PateFmRun {
        let queries = self.queries.len();
        let of_tests = |answers: &Answers| answers.classes[answers.classes.len() - tests.len()..].to_vec();
        let accuracy = |classes: &[u8]| {
            classes.iter().zip(tests).filter(|(class, label)| class == label).count() as f64 / tests.len() as f64
        };
        let labels = |labels: &[u8]| labels.iter().map(|&label| label.into()).collect();
        let teachers: Vec<Vec<u8>> = votes.iter().map(of_tests).collect();
        let plurality: Vec<u8> =
            (0..tests.len()).map(|test| plurality(teachers.iter().map(|votes| votes[test]))).collect();
        let canaries = self.canaries.images.len();
        PateFmRun {
            // As many as were requested.
            logits: Array2::from_shape_vec((canaries, student.logits.len() / canaries), student.logits.clone())
                .unwrap_or_default(),
            labels_true: labels(&self.canaries.truth),
            labels_trained: labels(&self.canaries.wrong),
            canary_index: indices(&self.canaries.images),
            votes: Array2::from_shape_fn((queries, votes.len()), |(query, teacher)| votes[teacher].classes[query]),
            query_index: indices(&self.queries),
            given_label: Array1::from_shape_fn(queries, |query| {
                given.answers.get(query).copied().flatten().map_or(-1, i32::from)
            }),
            used: Array1::from_shape_fn(queries, |query| given.used.get(query).copied().unwrap_or(false)),
            label_seed: self.label_seed,
            labeling: given.labeling,
            complete: given.complete,
            teacher_accuracy: teachers.iter().map(|classes| accuracy(classes)).collect(),
            ensemble_accuracy: accuracy(&plurality),
            test_accuracy: accuracy(&of_tests(&student)),
            supervised_accuracy: accuracy(&of_tests(rival)),
        }
    }
}

/// The class with the most votes, the first of equals.
fn plurality(votes: impl Iterator<Item = u8>) -> u8 {
    let mut counts = [0usize; 256];
    votes.for_each(|vote| counts[usize::from(vote)] += 1);
    (0..=u8::MAX).rev().max_by_key(|&class| counts[usize::from(class)]).unwrap_or(0)
}

#[cfg(test)]
mod tests;
