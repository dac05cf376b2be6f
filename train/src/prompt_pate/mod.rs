//! PromptPATE: teachers that are prompts of one transformer, with and without what an adversary adds.

mod adversary;
mod plan;

pub use plan::{PromptAdversary, PromptPatePlan};

use super::answers::{histogram, indices};
use super::context::TrainingContext;
use super::guard::guarded;
use super::in_context::{
    InContextAccuracy, Instruction, Labeled, Library, Prompt, Transformer, answers, in_context_accuracy,
    learn_in_context,
};
use super::seed::{Purpose, shuffled, stream};
use super::teachers::ranked;
use super::training_images::TrainingImages;
use adversary::{Change, Scene};
use leakbound::error::Result;
use ndarray::{Array1, Array2, ArrayView1};
use tch::Tensor;

/// Trains a transformer on the training images to classify in context, and asks prompts with private test images about
/// other test images: under the dataset, and under the neighbor that the adversary makes. An answer is the most likely
/// class. Progress counts steps of training.
///
/// Both worlds have the same number of teachers; one has another prompt. The checkpoint keeps the transformer, which
/// any number of teachers, queries and adversaries can reuse; answers take seconds and are never kept.
///
/// # Errors
/// [`Error::Domain`](leakbound::Error::Domain) for a count of 0 or a share out of range,
/// [`Error::Rejected`](leakbound::Error::Rejected) for too few test images, prompts that the transformer cannot have and
/// a training that diverges, [`Error::Length`](leakbound::Error::Length) if training and test images differ in shape,
/// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails; those of the checkpoint.
///
/// # References
/// Duan et al. (2023), "Flocks of stochastic parrots" (PromptPATE); Chadha et al. (2024), "Auditing private prediction",
/// section 5.3 and appendix D.2 (the adversaries).
pub fn train_prompt_pate(context: &TrainingContext<'_>, plan: &PromptPatePlan) -> Result<PromptVotes> {
    let (test, classes) = (context.test, context.classes());
    plan.check(test.len(), classes)?;
    context.check_shapes()?;
    let transformer = learn_in_context(context, &plan.learner)?;
    let images = guarded("images", || Ok(TrainingImages::of(test, classes, context.device.tensors()).inputs))?;
    let library = Library::new(&test.labels.to_vec(), classes);
    let accuracy = in_context_accuracy(&transformer, &images, &library, plan.learner.seed)?;

    let order = shuffled(test.len(), stream(plan.learner.seed, Purpose::PromptSplit, 0, 0));
    let (private, rest) = order.split_at(plan.teachers * plan.shots);
    let mut queries = rest[..plan.queries].to_vec();
    queries.sort_unstable();
    let query_label: Vec<u8> = queries.iter().map(|&query| library.label(query)).collect();
    let prompts: Vec<Prompt> = private.chunks_exact(plan.shots).map(|images| prompt(images, &library)).collect();
    let asked = Asked { transformer: &transformer, images: &images, queries: &queries };
    let everything: Vec<usize> = (0..queries.len()).collect();
    let rows = asked.answers(&prompts, &vec![everything; prompts.len()])?;
    let votes = Array2::from_shape_fn((queries.len(), prompts.len()), |(query, teacher)| rows[teacher][query]);

    let scene = Scene { prompts: &prompts, queries: &queries, labels: &query_label, votes: &votes, classes };
    let changes = scene.changes(plan.adversary);
    let (changed_prompts, changed_queries): (Vec<Prompt>, Vec<Vec<usize>>) =
        changes.iter().map(|change| (change.prompt.clone(), change.queries.clone())).unzip();
    let rows = asked.answers(&changed_prompts, &changed_queries)?;
    let mut votes_prime = votes.clone();
    let mut changed_teacher = Array1::zeros(queries.len());
    let mut neighbor = Array1::zeros(queries.len());
    for (number, (change, row)) in changes.iter().zip(rows).enumerate() {
        for (&query, vote) in change.queries.iter().zip(row) {
            votes_prime[[query, change.teacher]] = vote;
            changed_teacher[query] = change.teacher as i32;
            neighbor[query] = number as i32;
        }
    }
    let example = |(teacher, shot): (usize, usize)| private[teacher * plan.shots + shot] as i32;
    Ok(PromptVotes {
        votes,
        votes_prime,
        query_label: query_label.into(),
        query_index: indices(&queries),
        example_index: Array2::from_shape_fn((plan.teachers, plan.shots), example),
        changed_teacher,
        neighbor,
        shown: plan.adversary.shows_a_query().then(|| shown(&changes, &queries)),
        accuracy,
    })
}

/// The queries that stand first in the changed prompts.
fn shown(changes: &[Change], queries: &[u32]) -> ShownQueries {
    let mut shown = ShownQueries { query: Array1::zeros(queries.len()), label: Array1::zeros(queries.len()) };
    for change in changes {
        let Some(&Labeled { image, label }) = change.prompt.examples.first() else { continue };
        // Queries are sorted.
        let place = queries.partition_point(|&query| query < image);
        for &query in &change.queries {
            (shown.query[query], shown.label[query]) = (place as i32, label);
        }
    }
    shown
}

/// A teacher's examples with their labels.
fn prompt(images: &[u32], library: &Library) -> Prompt {
    let examples = images.iter().map(|&image| Labeled { image, label: library.label(image) }).collect();
    Prompt { instruction: Instruction::Classify, examples }
}

/// A transformer and the images that it is asked about.
struct Asked<'a> {
    transformer: &'a Transformer,
    images: &'a Tensor,
    /// Rows of the images.
    queries: &'a [u32],
}

impl Asked<'_> {
    /// Classes that each prompt gives to its queries, which are places among all.
    fn answers(&self, prompts: &[Prompt], places: &[Vec<usize>]) -> Result<Vec<Vec<u8>>> {
        let rows = |places: &Vec<usize>| places.iter().map(|&place| self.queries[place]).collect();
        answers(self.transformer, self.images, prompts, &places.iter().map(rows).collect::<Vec<_>>())
    }
}

/// Recorded votes: classes, under the names of the arrays that `audit votes` reads.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptVotes {
    /// \[query, teacher\] under the dataset.
    pub votes: Array2<u8>,
    /// The same under its neighbor; for adversaries who choose the query, each row has its own neighbor.
    pub votes_prime: Array2<u8>,
    /// The class of each query.
    pub query_label: Array1<u8>,
    /// Test image behind each query, rising.
    pub query_index: Array1<i32>,
    /// Test images that teachers have as examples, \[teacher, example\].
    pub example_index: Array2<i32>,
    /// The teacher that is changed for each query.
    pub changed_teacher: Array1<i32>,
    /// \[query\]: the number of the neighboring dataset that its row of `votes_prime` is of: 0 for all, or one for each.
    pub neighbor: Array1<i32>,
    /// The query that the changed prompt shows, of adversaries who show one.
    pub shown: Option<ShownQueries>,
    /// What the transformer has learned.
    pub accuracy: InContextAccuracy,
}

/// The replacement of an example, for each query.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownQueries {
    /// Its place among the queries.
    pub query: Array1<i32>,
    /// The label that it is shown with.
    pub label: Array1<u8>,
}

impl PromptVotes {
    /// Share of queries whose most voted class is correct.
    #[must_use]
    pub fn ensemble_accuracy(&self) -> f64 {
        let classes = usize::from(self.votes.iter().chain(&self.query_label).copied().max().unwrap_or(0)) + 1;
        let right = |(votes, label): (ArrayView1<'_, u8>, &u8)| {
            ranked(&histogram(votes.iter().copied(), classes))[0] == usize::from(*label)
        };
        self.votes.outer_iter().zip(&self.query_label).filter(|&row| right(row)).count() as f64
            / self.query_label.len() as f64
    }

    /// Share of votes for the query's class.
    #[must_use]
    pub fn mean_accuracy(&self) -> f64 {
        let rows = self.votes.outer_iter().zip(&self.query_label);
        let right: usize = rows.map(|(votes, label)| votes.iter().filter(|&vote| vote == label).count()).sum();
        right as f64 / self.votes.len() as f64
    }

    /// Share of queries on which the changed teacher votes differently.
    #[must_use]
    pub fn changed(&self) -> f64 {
        let rows = self.votes.outer_iter().zip(self.votes_prime.outer_iter());
        rows.filter(|(votes, changed)| votes != changed).count() as f64 / self.query_label.len() as f64
    }
}

#[cfg(test)]
mod tests;
