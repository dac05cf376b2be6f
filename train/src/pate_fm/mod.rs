//! PATE-FM: a student of teachers that vote with noise, all trained by FixMatch, with wrong labels as canaries.

mod lab;
mod plan;

pub use plan::{LabelGoal, PateFmPlan, VotesPlan, VotingPlan};

use super::answers::{histogram, indices};
use super::canaries::MislabeledImages;
use super::checks::reject;
use super::context::TrainingContext;
use super::seed::{Purpose, shuffled, stream};
use super::student::{LabelCosts, LabelingPlan};
use super::teachers::split::Split;
use lab::{Answers, Lab, Lesson, Phase};
use leakbound::accountant::{Labeling, PrivacyBudget, label_until_spent};
use leakbound::divergence::{Conversion, order_grid};
use leakbound::error::Result;
use leakbound::histogram::VoteHistogram;
use leakbound::quantity::Epsilon;
use ndarray::{Array1, Array2};
use rand::Rng;

/// Trains teachers on disjoint parts of the labels, lets them label training images within the limits of the plan, and
/// trains a student on these labels; all networks see all training images without labels. Progress counts networks. The
/// checkpoint keeps the votes of teachers, which runs with other noise, labels or students share, and the answers of
/// students, which they do not share.
///
/// The wrong label of a canary goes to the teacher that has the image. Queries are training images in random order,
/// each once, and canaries among them. Images are public and labels are private: replacing one label changes one
/// teacher, and one of its votes on each query. The student is compared with a network with the same labels, steps and
/// weak augmentation that sees no other image. Runs share nothing but the images; each claim is for one run alone.
///
/// Noise that is a function of a seed can be taken off by anyone who knows it: a student that leaves the laboratory needs
/// a seed that is drawn in secret.
///
/// # Errors
/// [`Error::Domain`](leakbound::Error::Domain) for a count of 0 or a number out of its range,
/// [`Error::Rejected`](leakbound::Error::Rejected) for more teachers, queries or canaries than images, if a run gave no
/// label, and if training diverges, [`Error::Length`](leakbound::Error::Length) if training and test images differ in
/// shape, [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails; those of the checkpoint.
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
            reject("PATE-FM", reason)
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
            // The requested number.
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

/// Images 0..n of each of T teachers: all of them, none in two hands, and no teacher has two more than another.
fn parts(images: usize, teachers: usize, (seed, run): (u64, u64)) -> Vec<Vec<u32>> {
    let order = shuffled(images, Split::Pate(run).stream(seed));
    let end = |teacher: usize| teacher * images / teachers;
    (0..teachers).map(|teacher| order[end(teacher)..end(teacher + 1)].to_vec()).collect()
}

/// The first N images of a random order of 0..n: what teachers are asked about.
fn queries(images: usize, count: usize, (seed, run): (u64, u64)) -> Vec<u32> {
    let mut order = shuffled(images, stream(seed, Purpose::Queries, run, 0));
    order.truncate(count);
    order
}

/// Students of PATE-FM, run by run.
#[derive(Debug, Clone, PartialEq)]
pub struct PateFmModels {
    /// Each with its own canaries, partition and noise.
    pub runs: Vec<PateFmRun>,
}

/// A run: the teachers, their labels, the student and its answers on its canaries.
#[derive(Debug, Clone, PartialEq)]
pub struct PateFmRun {
    /// Logits of the student on its canaries, \[canary, class\].
    pub logits: Array2<f32>,
    /// The class of each canary.
    pub labels_true: Array1<i64>,
    /// The wrong class that a teacher was trained on.
    pub labels_trained: Array1<i64>,
    /// Training image behind each canary, rising.
    pub canary_index: Array1<i32>,
    /// Votes \[query, teacher\] on all N queries, made or not.
    pub votes: Array2<u8>,
    /// Training image behind each of them, in the order in which they are made.
    pub query_index: Array1<i32>,
    /// The label that each was given: -1 if there was no answer, or no further query.
    pub given_label: Array1<i32>,
    /// Whether the student was trained on it.
    pub used: Array1<bool>,
    /// Seed of the noise.
    pub label_seed: u64,
    /// Queries that were made, answers, how many of them are right, and their data-dependent ε, which depends on the
    /// votes and guarantees nothing when it is published.
    pub labeling: Labeling,
    /// Whether the student got all the labels that it wanted.
    pub complete: bool,
    /// Share of test images that each teacher classifies correctly.
    pub teacher_accuracy: Array1<f64>,
    /// Share of test images whose class is the plurality of the teachers, without noise.
    pub ensemble_accuracy: f64,
    /// Share of test images that the student classifies correctly.
    pub test_accuracy: f64,
    /// The same for a network trained on only the student's labels, for the same number of steps.
    pub supervised_accuracy: f64,
}

/// What the teachers of a run answered.
#[derive(Debug, Clone, PartialEq)]
struct GivenLabels {
    /// The class, or none, of each query that was made.
    pub answers: Vec<Option<u8>>,
    /// Whether the student learns the answer to each of them.
    pub used: Vec<bool>,
    /// How many answers are right, and their data-dependent ε.
    pub labeling: Labeling,
    /// Whether the student has all the labels that it wanted.
    pub complete: bool,
}

/// Makes queries in their order, each with its true class, for C classes. Query number i has its own noise, as in
/// [`student`](crate::student).
fn give_labels(
    queries: &[(VoteHistogram, usize)],
    classes: usize,
    plan: &VotingPlan,
    seed: u64,
) -> Result<GivenLabels> {
    let mut all = PrivacyBudget::new(Epsilon::INFINITE, plan.delta, Conversion::Improved, order_grid())?;
    let labeling = LabelingPlan {
        test: plan.test,
        sigma: plan.sigma,
        budgets: vec![all.clone()],
        costs: LabelCosts::DataDependent,
    };
    let (mut given, mut made, mut used) = (vec![0; classes], Vec::new(), Vec::new());
    for (index, query) in queries.iter().enumerate().take(plan.queries) {
        if plan.goal.is_reached(&given) || given.iter().sum::<usize>() >= plan.answers() {
            break;
        }
        let answer = labeling.answer(query, index, seed);
        used.push(answer.class.is_some_and(|class| plan.goal.uses(given[class])));
        answer.class.into_iter().for_each(|class| given[class] += 1);
        made.push(answer);
    }
    let answers = made.iter().map(|answer| answer.class.map(|class| class as u8)).collect();
    Ok(GivenLabels {
        answers,
        used,
        labeling: label_until_spent(made, &mut all)?,
        complete: plan.goal.is_reached(&given),
    })
}

#[cfg(test)]
mod tests;
