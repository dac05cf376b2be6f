//! Students: trained on public images that teachers labeled within a privacy budget; who gets which images, and what all
//! of them answered.

mod lab;
mod labeling;
mod plan;

pub use labeling::{LabelCosts, LabelingPlan};
pub use plan::StudentPlan;

use super::answers::{histogram, indices, largest};
use super::checks::{reject, unavailable};
use super::context::TrainingContext;
use super::seed::{Purpose, shuffled, some_of, stream};
use super::teachers::ballots;
use super::teachers::split::{Split, partition};
use super::training_images::Example;
use lab::{Lab, Parts, Pupil};
use labeling::{Campaign, campaign};
use leakbound::accountant::Labeling;
use leakbound::error::Result;
use leakbound::histogram::VoteHistogram;
use leakbound::record::ImageSet;
use ndarray::{Array1, Array2, Array3, Array4, ArrayView1, Axis};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::ops::Range;

/// Trains teachers, lets them label public images until each budget is spent, and trains a student on the labels of
/// each budget. Progress counts networks. The checkpoint keeps the votes of teachers, which runs with other budgets and
/// students share, and the answers of students and baselines, which they do not share.
///
/// The training images are private and belong to the teachers, none of them to two. The test images are split, class by
/// class: a share is public, the others measure the accuracy of teachers and students. Public images are queried on in
/// random order, each once. The answered queries are the labeled public part; a student is trained on it with the given
/// labels and nothing else. The rest of the public images stays unlabeled. Within a run, a smaller budget has the first
/// labels of a larger one, with the same noise. Baselines learn the private images themselves, all of them and without
/// privacy.
///
/// Each ε is for one student alone. The students of one run cost together what the largest budget does; runs share
/// their private images, so their costs add up. Noise that is a function of a seed can be taken off by anyone who knows
/// it: a student that leaves the laboratory needs a seed that is drawn in secret.
///
/// # Errors
/// [`Error::Domain`](leakbound::Error::Domain) for a count or budget of 0,
/// [`Error::Rejected`](leakbound::Error::Rejected) if there are too few images or if a run gave no label within a
/// budget, [`Error::Length`](leakbound::Error::Length) if training and test images differ in shape,
/// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails; those of the checkpoint.
///
/// # References
/// Papernot et al. (2018), "Scalable private learning with PATE"; Ihrig (2021), thesis, sections 2.4 and 5.1.
pub fn train_student(context: &TrainingContext<'_>, plan: &StudentPlan) -> Result<Students> {
    let &TrainingContext { train, test, .. } = context;
    let each = plan.images_each(context)?;
    let classes = context.classes();
    let test_labels: Vec<u8> = test.labels.to_vec();
    let [public, held_out] = public_and_held_out(&test_labels, classes, plan.public, plan.seed)?;
    let parts = Parts { public, held_out, private: private_images(train.len(), plan.private, plan.seed) };
    let lab = Lab::new(context, &parts, plan)?;

    let teachers: Vec<Vec<u32>> = (0..plan.runs as u64)
        .flat_map(|run| partition(train.len(), (plan.teachers, each), plan.seed, Split::Pate(run)))
        .collect();
    let examples: Vec<Vec<Example>> = teachers.iter().map(|images| Example::all(images)).collect();
    let votes = lab.votes(&examples)?;
    let query_label = labels(test, &parts.public);
    let test_label = labels(test, &parts.held_out);
    let labeled = Labeled::by_votes(&votes, &query_label, classes, plan)?;
    reject_no_labels(&labeled.campaigns, plan)?;

    let labels_of_students = labeled.of_students();
    let pupils: Vec<Pupil<'_>> =
        labels_of_students.iter().map(|(run, labels)| Pupil { run: *run as u64, labels }).collect();
    let stacked = stacked(&lab.students(&pupils)?)?;
    let ends = [parts.public.len(), parts.public.len() + parts.held_out.len()];
    let part = |images: Range<usize>| stacked.slice_axis(Axis(1), images.into()).to_owned();
    let test_logits = part(ends[0]..ends[1]);
    let baselines = match plan.baselines {
        0 => None,
        networks => Some(of_baselines(&lab.baselines(networks)?, ends, &test_label)?),
    };
    Ok(Students {
        runs: labeled.runs(&votes, &test_logits, &test_label),
        pate_votes: ballots(&votes, (plan.runs, plan.teachers, ends[0])),
        query_index: indices(&parts.public),
        query_order: Array2::from_shape_fn((plan.runs, ends[0]), |(run, place)| labeled.orders[run][place] as i32),
        given_label: labeled.given_labels(),
        pate_images: Array3::from_shape_fn((plan.runs, plan.teachers, each), |(run, teacher, image)| {
            teachers[run * plan.teachers + teacher][image]
        }),
        keep: Array2::from_shape_fn((pupils.len(), ends[0]), |(student, query)| {
            pupils[student].labels[query].is_some()
        }),
        label_seed: labeled.seeds.into(),
        logits: part(0..ends[0]).insert_axis(Axis(2)),
        test_index: indices(&parts.held_out),
        private_index: indices(&parts.private),
        private_label: labels(train, &parts.private),
        private_logits: part(ends[1]..stacked.len_of(Axis(1))),
        query_label,
        test_label,
        test_logits,
        baselines,
    })
}

/// Logits \[network, image, class\].
fn stacked(logits: &[Array2<f32>]) -> Result<Array3<f32>> {
    let views: Vec<_> = logits.iter().map(|logits| logits.view()).collect();
    ndarray::stack(Axis(0), &views).map_err(unavailable("answers"))
}

/// What baselines answered, of public images to the first end, of images that measure to the second, of private ones
/// behind.
fn of_baselines(logits: &[Array2<f32>], ends: [usize; 2], test_label: &Array1<u8>) -> Result<Baselines> {
    let all = stacked(logits)?;
    let part = |images: Range<usize>| all.slice_axis(Axis(1), images.into()).to_owned();
    let (test_logits, private_logits) = (part(ends[0]..ends[1]), part(ends[1]..all.len_of(Axis(1))));
    Ok(Baselines { accuracies: accuracies(&test_logits, test_label), private_logits, test_logits })
}

/// The public images as the teachers of each run labeled them.
struct Labeled {
    /// Queries in the order in which they were made.
    orders: Vec<Vec<u32>>,
    /// Seeds of the noise.
    seeds: Vec<u64>,
    campaigns: Vec<Campaign>,
}

impl Labeled {
    /// Labels by the votes of each run's teachers, on public images of these true classes.
    fn by_votes(votes: &[Vec<u8>], truth: &Array1<u8>, classes: usize, plan: &StudentPlan) -> Result<Self> {
        let runs = 0..plan.runs as u64;
        let orders: Vec<Vec<u32>> = runs.clone().map(|run| order_of_queries(truth.len(), plan.seed, run)).collect();
        let seeds: Vec<u64> = runs.map(|run| stream(plan.seed, Purpose::Labels, run, 0).next_u64()).collect();
        let campaigns = votes
            .par_chunks(plan.teachers)
            .zip(&orders)
            .zip(&seeds)
            .map(|((votes, order), &seed)| {
                let query = |&query: &u32| {
                    let counts = histogram(votes.iter().map(|votes| votes[query as usize]), classes);
                    Ok((VoteHistogram::new(counts)?, usize::from(truth[query as usize])))
                };
                campaign(&order.iter().map(query).collect::<Result<Vec<_>>>()?, &plan.labeling, seed)
            })
            .collect::<Result<_>>()?;
        Ok(Self { orders, seeds, campaigns })
    }

    /// The label of each public image in a run, if the first `queries` gave it one.
    fn given(&self, run: usize, queries: u64) -> Vec<Option<u8>> {
        let mut labels = vec![None; self.orders[run].len()];
        for (&query, answer) in self.orders[run].iter().zip(&self.campaigns[run].answers).take(queries as usize) {
            labels[query as usize] = answer.map(|class| class as u8);
        }
        labels
    }

    /// For each student its run and its labels: run by run, in each the budgets.
    fn of_students(&self) -> Vec<(usize, Vec<Option<u8>>)> {
        let students = self.campaigns.iter().enumerate();
        students
            .flat_map(|(run, campaign)| campaign.labelings.iter().map(move |labeling| (run, labeling.queries)))
            .map(|(run, queries)| (run, self.given(run, queries)))
            .collect()
    }

    /// Labels \[run, public image\] within the largest budget, -1 for none.
    fn given_labels(&self) -> Array2<i32> {
        let given: Vec<_> =
            self.campaigns.iter().enumerate().map(|(run, all)| self.given(run, all.answers.len() as u64)).collect();
        let shape = (given.len(), self.orders.first().map_or(0, Vec::len));
        Array2::from_shape_fn(shape, |(run, query)| given[run][query].map_or(-1, i32::from))
    }

    /// What each run's teachers and students are worth on the images that measure, which are behind the public ones.
    fn runs(&self, votes: &[Vec<u8>], test_logits: &Array3<f32>, test_label: &Array1<u8>) -> Vec<StudentRun> {
        let (runs, public) = (self.campaigns.len(), votes.first().map_or(0, Vec::len) - test_label.len());
        let accuracies = accuracies(test_logits, test_label);
        self.campaigns
            .iter()
            .zip(votes.chunks(votes.len() / runs))
            .zip(accuracies.chunks(accuracies.len() / runs))
            .map(|((campaign, votes), accuracies)| {
                let right = votes.iter().map(|votes| accuracy(votes[public..].iter().copied(), test_label));
                StudentRun {
                    teacher_accuracy: right.sum::<f64>() / votes.len() as f64,
                    labelings: campaign.labelings.clone(),
                    student_accuracies: accuracies.to_vec(),
                }
            })
            .collect()
    }
}

/// A student needs something to learn from.
fn reject_no_labels(campaigns: &[Campaign], plan: &StudentPlan) -> Result<()> {
    for (run, campaign) in campaigns.iter().enumerate() {
        let none = campaign.labelings.iter().zip(&plan.labeling.budgets).find(|(labeling, _)| labeling.labels == 0);
        if let Some((labeling, budget)) = none {
            let reason = format!(
                "run {run} gave no label within a budget of {} ({} queries); raise the budget or lower the threshold",
                budget.epsilon().get(),
                labeling.queries
            );
            return reject("students", reason);
        }
    }
    Ok(())
}

fn labels(set: &ImageSet, images: &[u32]) -> Array1<u8> {
    images.iter().map(|&image| set.labels[image as usize]).collect()
}

/// Accuracy of each network, for logits \[network, image, class\].
fn accuracies(logits: &Array3<f32>, labels: &Array1<u8>) -> Vec<f64> {
    let classes = |logits: ArrayView1<'_, f32>| largest(&logits.to_vec()) as u8;
    logits.outer_iter().map(|logits| accuracy(logits.rows().into_iter().map(classes), labels)).collect()
}

fn accuracy(answers: impl Iterator<Item = u8>, labels: &Array1<u8>) -> f64 {
    answers.zip(labels).filter(|(answer, label)| answer == *label).count() as f64 / labels.len() as f64
}

/// Splits in addition to those of the teachers, which count from 0 and, one for each run, from 16.
#[derive(Debug, Clone, Copy)]
enum StudentSplit {
    Public = 3,
    Private = 4,
    Asked = 5,
}

impl StudentSplit {
    fn stream(self, seed: u64, run: u64) -> ChaCha8Rng {
        stream(seed, Purpose::Split, self as u64, run)
    }
}

/// Test images that are public, and those that measure, both sorted: the same share of every class, to one image.
fn public_and_held_out(labels: &[u8], classes: usize, share: f64, seed: u64) -> Result<[Vec<u32>; 2]> {
    let order = shuffled(labels.len(), StudentSplit::Public.stream(seed, 0));
    let (mut public, mut held_out) = (Vec::new(), Vec::new());
    for class in 0..classes {
        let images: Vec<u32> =
            order.iter().copied().filter(|&image| usize::from(labels[image as usize]) == class).collect();
        let (first, rest) = images.split_at((share * images.len() as f64).round() as usize);
        public.extend_from_slice(first);
        held_out.extend_from_slice(rest);
    }
    if public.is_empty() || held_out.is_empty() {
        let reason =
            format!("{} public images and {} to measure with, of {}", public.len(), held_out.len(), labels.len());
        return reject("students", reason);
    }
    public.sort_unstable();
    held_out.sort_unstable();
    Ok([public, held_out])
}

/// This many training images at random, sorted.
fn private_images(images: usize, count: usize, seed: u64) -> Vec<u32> {
    some_of(images, count, StudentSplit::Private.stream(seed, 0))
}

/// The order in which public images are queried on in a run.
fn order_of_queries(public: usize, seed: u64, run: u64) -> Vec<u32> {
    shuffled(public, StudentSplit::Asked.stream(seed, run))
}

/// One run: its teachers, and the students of its budgets.
#[derive(Debug, Clone, PartialEq)]
pub struct StudentRun {
    /// Share of correct votes of the teachers on the measuring images.
    pub teacher_accuracy: f64,
    /// What each budget paid for.
    pub labelings: Vec<Labeling>,
    /// Share of the measuring images whose class each student predicts.
    pub student_accuracies: Vec<f64>,
}

/// Students with all that was recorded on the way; student s is number s mod B of the B budgets, in run ⌊s/B⌋.
#[derive(Debug, Clone, PartialEq)]
pub struct Students {
    /// Run by run.
    pub runs: Vec<StudentRun>,
    /// Votes on public images, \[run, query, teacher\]: a new random partition and new weights each time.
    pub pate_votes: Array3<u8>,
    /// Test image behind each query.
    pub query_index: Array1<i32>,
    /// Its class.
    pub query_label: Array1<u8>,
    /// Queries in the order in which they were asked, \[run, place\].
    pub query_order: Array2<i32>,
    /// Label that a query was given, \[run, query\]: -1 if it was refused or not asked within the largest budget.
    pub given_label: Array2<i32>,
    /// Seed of the noise of each run.
    pub label_seed: Array1<u64>,
    /// Training images of each teacher, \[run, teacher, image\].
    pub pate_images: Array3<u32>,
    /// Whether the student was trained on the query, with its given label, \[student, query\].
    pub keep: Array2<bool>,
    /// Logits on public images, \[student, query, view, class\] with one view.
    pub logits: Array4<f32>,
    /// Test images that measure.
    pub test_index: Array1<i32>,
    /// Their classes.
    pub test_label: Array1<u8>,
    /// Logits on them, \[student, image, class\].
    pub test_logits: Array3<f32>,
    /// Some training images of the teachers.
    pub private_index: Array1<i32>,
    /// Their classes.
    pub private_label: Array1<u8>,
    /// Logits on them, \[student, image, class\].
    pub private_logits: Array3<f32>,
    /// What baselines without privacy answered, if there are any.
    pub baselines: Option<Baselines>,
}

/// Networks that were trained on the private images themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct Baselines {
    /// Logits on the private images, \[network, image, class\].
    pub private_logits: Array3<f32>,
    /// Logits on the test images that measure, \[network, image, class\].
    pub test_logits: Array3<f32>,
    /// Share of the latter whose class each network predicts.
    pub accuracies: Vec<f64>,
}

#[cfg(test)]
mod tests;
