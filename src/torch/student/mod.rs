//! Students: trained on public images that teachers labeled within a privacy budget.

mod lab;
mod labeling;
mod plan;
mod split;
mod students;

pub use labeling::{LabelCosts, LabelingPlan};
pub use plan::StudentPlan;
pub use students::{StudentRun, Students};

use super::checkpoint::TrainingCheckpoint;
use super::device::TrainingDevice;
use super::seed::{Purpose, stream};
use super::teachers::split::{Split, partition};
use super::training_images::Example;
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::record::ImageSet;
use lab::{Lab, Parts, Pupil};
use labeling::{Campaign, campaign};
use ndarray::{Array1, Array2, Array3, ArrayView1, Axis};
use rand::Rng;
use rayon::prelude::*;
use split::{order_of_queries, private_images, public_and_held_out};
use std::ops::Range;

/// Trains teachers, lets them label public images until each budget is spent, and trains a student on the labels of each
/// budget: `progress` is told how many networks are done, and `checkpoint` keeps the votes of teachers.
///
/// The training images are private and belong to the teachers, none of them to two. The test images are split, class by
/// class: a share is public, the others measure the accuracy of teachers and students. Public images are asked about in
/// random order, each once. What is answered is the labeled public part, on which a student is trained with the given
/// labels and nothing else; the rest of the public images stays unlabeled. Within a run, a smaller budget has the first
/// labels of a larger one, with the same noise.
///
/// Each ε is for one student alone. The students of one run cost together what the largest budget does; runs share their
/// private images, so that their costs add up. Noise that is a function of a seed can be taken off by whoever knows it:
/// a student that leaves the laboratory needs a seed that is drawn in secret.
///
/// # Errors
/// [`Error::Domain`] for a count or budget of 0, [`Error::Refused`] if there are too few images or if a run gave no label
/// within a budget, [`Error::Length`] if training and test images differ in shape,
/// [`Error::Unavailable`] if libtorch fails; those of the checkpoint.
///
/// # References
/// Papernot et al. (2018), "Scalable private learning with PATE"; Ihrig (2021), thesis, sections 2.4 and 5.1.
pub fn train_student(
    train: &ImageSet,
    test: &ImageSet,
    plan: &StudentPlan,
    device: TrainingDevice,
    progress: &(dyn Fn(u64) + Sync),
    checkpoint: Option<&TrainingCheckpoint>,
) -> Result<Students> {
    let each = plan.images_each(train, test)?;
    let classes = train.classes.max(test.classes);
    let test_labels: Vec<u8> = test.labels.to_vec();
    let [public, held_out] = public_and_held_out(&test_labels, classes, plan.public, plan.seed)?;
    let parts = Parts { public, held_out, private: private_images(train.len(), plan.private, plan.seed) };
    let lab = Lab::new((train, test), &parts, plan, device, progress, checkpoint)?;

    let teachers: Vec<Vec<u32>> = (0..plan.runs as u64)
        .flat_map(|run| partition(train.len(), (plan.teachers, each), plan.seed, Split::Pate(run)))
        .collect();
    let examples: Vec<Vec<Example>> =
        teachers.iter().map(|images| images.iter().map(|&image| Example::labeled(image)).collect()).collect();
    let votes = lab.votes(&examples)?;
    let query_label = labels(test, &parts.public);
    let test_label = labels(test, &parts.held_out);

    let orders: Vec<Vec<u32>> =
        (0..plan.runs as u64).map(|run| order_of_queries(parts.public.len(), plan.seed, run)).collect();
    let seeds: Vec<u64> =
        (0..plan.runs as u64).map(|run| stream(plan.seed, Purpose::Labels, run, 0).next_u64()).collect();
    let campaigns: Vec<Campaign> = votes
        .par_chunks(plan.teachers)
        .zip(&orders)
        .zip(&seeds)
        .map(|((votes, order), &seed)| {
            let query = |&query: &u32| {
                let mut counts = vec![0; classes];
                votes.iter().for_each(|votes| counts[usize::from(votes[query as usize])] += 1);
                Ok((VoteHistogram::new(counts)?, usize::from(query_label[query as usize])))
            };
            campaign(&order.iter().map(query).collect::<Result<Vec<_>>>()?, &plan.labeling, seed)
        })
        .collect::<Result<_>>()?;
    refuse_no_labels(&campaigns, plan)?;

    let given = |run: usize, queries: u64| -> Vec<Option<u8>> {
        let mut labels = vec![None; parts.public.len()];
        for (&query, answer) in orders[run].iter().zip(&campaigns[run].answers).take(queries as usize) {
            labels[query as usize] = answer.map(|class| class as u8);
        }
        labels
    };
    let labels_of_students: Vec<(usize, Vec<Option<u8>>)> = campaigns
        .iter()
        .enumerate()
        .flat_map(|(run, campaign)| campaign.labelings.iter().map(move |labeling| (run, labeling.queries)))
        .map(|(run, queries)| (run, given(run, queries)))
        .collect();
    let pupils: Vec<Pupil<'_>> =
        labels_of_students.iter().map(|(run, labels)| Pupil { run: *run as u64, labels }).collect();
    let logits = lab.students(&pupils)?;

    let views: Vec<_> = logits.iter().map(|logits| logits.view()).collect();
    let stacked = ndarray::stack(Axis(0), &views)
        .map_err(|error| Error::Unavailable { operation: "answers", reason: error.to_string() })?;
    let ends = [parts.public.len(), parts.public.len() + parts.held_out.len()];
    let part = |images: Range<usize>| stacked.slice_axis(Axis(1), images.into()).to_owned();
    let test_logits = part(ends[0]..ends[1]);
    let accuracies: Vec<f64> =
        test_logits.outer_iter().map(|logits| accuracy(logits.rows().into_iter().map(argmax), &test_label)).collect();
    let runs = campaigns
        .iter()
        .zip(votes.chunks(plan.teachers))
        .zip(accuracies.chunks(plan.labeling.budgets.len()))
        .map(|((campaign, votes), accuracies)| {
            let right = votes.iter().map(|votes| accuracy(votes[ends[0]..].iter().copied(), &test_label));
            StudentRun {
                teacher_accuracy: right.sum::<f64>() / plan.teachers as f64,
                labelings: campaign.labelings.clone(),
                student_accuracies: accuracies.to_vec(),
            }
        })
        .collect();
    let indices = |images: &[u32]| images.iter().map(|&image| image as i32).collect::<Array1<i32>>();
    Ok(Students {
        runs,
        pate_votes: Array3::from_shape_fn((plan.runs, ends[0], plan.teachers), |(run, query, teacher)| {
            votes[run * plan.teachers + teacher][query]
        }),
        query_index: indices(&parts.public),
        query_order: Array2::from_shape_fn((plan.runs, ends[0]), |(run, place)| orders[run][place] as i32),
        given_label: {
            let given: Vec<_> =
                campaigns.iter().enumerate().map(|(run, all)| given(run, all.answers.len() as u64)).collect();
            Array2::from_shape_fn((plan.runs, ends[0]), |(run, query)| given[run][query].map_or(-1, i32::from))
        },
        label_seed: seeds.into(),
        pate_images: Array3::from_shape_fn((plan.runs, plan.teachers, each), |(run, teacher, image)| {
            teachers[run * plan.teachers + teacher][image]
        }),
        keep: Array2::from_shape_fn((pupils.len(), ends[0]), |(student, query)| {
            pupils[student].labels[query].is_some()
        }),
        logits: part(0..ends[0]).insert_axis(Axis(2)),
        test_index: indices(&parts.held_out),
        private_index: indices(&parts.private),
        private_label: labels(train, &parts.private),
        private_logits: part(ends[1]..stacked.len_of(Axis(1))),
        query_label,
        test_label,
        test_logits,
    })
}

/// A student needs something to learn from.
fn refuse_no_labels(campaigns: &[Campaign], plan: &StudentPlan) -> Result<()> {
    for (run, campaign) in campaigns.iter().enumerate() {
        let none = campaign.labelings.iter().zip(&plan.labeling.budgets).find(|(labeling, _)| labeling.labels == 0);
        if let Some((labeling, budget)) = none {
            let reason = format!(
                "run {run} gave no label within a budget of {} ({} queries); raise the budget or lower the threshold",
                budget.epsilon().get(),
                labeling.queries
            );
            return Err(Error::Refused { operation: "students", reason });
        }
    }
    Ok(())
}

fn labels(set: &ImageSet, images: &[u32]) -> Array1<u8> {
    images.iter().map(|&image| set.labels[image as usize]).collect()
}

/// The class of the largest logit, the first of equals.
fn argmax(logits: ArrayView1<'_, f32>) -> u8 {
    (1..logits.len()).fold(0, |best, class| if logits[class] > logits[best] { class } else { best }) as u8
}

fn accuracy(answers: impl Iterator<Item = u8>, labels: &Array1<u8>) -> f64 {
    answers.zip(labels).filter(|(answer, label)| answer == *label).count() as f64 / labels.len() as f64
}

#[cfg(test)]
mod tests;
