//! `leakbound torch prompt-pate`: votes of prompts, with and without what an adversary adds.

use super::data::DataOptions;
use super::numbers::{below_1, count, rate};
use super::recipe::Recipe;
use super::training_run::{About, Recorded, add_fields};
use crate::args::Common;
use crate::args::values::{Choice, Names, choice};
use clap::Args;
use leakbound::record::ArrayWriter;
use leakbound::study::Warning;
use leakbound::{Error, Result};
use leakbound_train::{
    InContextPlan, LessonShares, PromptAdversary, PromptPatePlan, PromptVotes, ShownQueries, TrainingDevice,
    train_prompt_pate,
};
use serde::Serialize;

/// The answer of all-same, as published.
const CLASS: u8 = 1;

/// Train a transformer that learns in context, and record the votes of prompts with and without what an adversary adds
#[derive(Debug, Clone, Args, Serialize)]
#[command(
    after_help = "Each prompt is a teacher of PromptPATE with private examples. nat-advq and pois-advq also choose the \
                  query: each row of votes_prime is a separate case, and --n-queries repeats the worst. The \
                  checkpoint keeps the transformer, and with --resume every adversary continues from \
                  it.\n\nExample:\n  \
                  leakbound torch prompt-pate --data fashion-mnist --recording advq.npz --adversary pois-advq \
                  --checkpoint transformer.checkpoint\n  leakbound audit votes advq.npz --model prompt-pate \
                  --noise gaussian:20 --n-queries 200\n  leakbound torch prompt-pate --data fashion-mnist \
                  --recording same.npz --adversary all-same --checkpoint transformer.checkpoint --resume\n  leakbound \
                  audit votes same.npz --model prompt-pate --noise gaussian:20"
)]
pub struct PromptPateOptions {
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// What is in one teacher's prompt in the neighboring dataset
    #[arg(long, value_parser = choice(ADVERSARIES), value_name = "NAME", default_value = "pois-advq")]
    pub adversary: Choice<PromptAdversary>,
    /// The answer that all-same instructs a teacher to give [default: 1]
    #[arg(long, value_name = "C", help_heading = "Advanced")]
    pub class: Option<u8>,
    /// Teachers: prompts with private examples
    #[arg(long, value_name = "K", default_value = "200", value_parser = count, allow_hyphen_values = true)]
    pub teachers: usize,
    /// Private examples per teacher, drawn from the test images
    #[arg(long, value_name = "N", default_value = "1", value_parser = count, allow_hyphen_values = true)]
    pub shots: usize,
    /// Queries, drawn from the other test images
    #[arg(long, value_name = "N", default_value = "200", value_parser = count, allow_hyphen_values = true)]
    pub queries: usize,
    #[command(flatten)]
    #[serde(flatten)]
    pub transformer: TransformerOptions,
}

/// A transformer that learns in context, and its training.
#[derive(Debug, Clone, Args, Serialize)]
#[command(next_help_heading = "Advanced")]
pub struct TransformerOptions {
    /// Width of a token, a multiple of --heads
    #[arg(long, value_name = "N", default_value = "64", value_parser = count, allow_hyphen_values = true)]
    pub width: usize,
    /// Transformer blocks
    #[arg(long, value_name = "N", default_value = "2", value_parser = count, allow_hyphen_values = true)]
    pub depth: usize,
    /// Attention heads
    #[arg(long, value_name = "N", default_value = "4", value_parser = count, allow_hyphen_values = true)]
    pub heads: usize,
    /// Examples in a prompt, at most
    #[arg(long, value_name = "N", default_value = "10", value_parser = count, allow_hyphen_values = true)]
    pub context: usize,
    /// Training steps
    #[arg(long, value_name = "N", default_value = "6000", value_parser = count, allow_hyphen_values = true)]
    pub steps: usize,
    /// Prompts in a step
    #[arg(long, value_name = "N", default_value = "32", value_parser = count, allow_hyphen_values = true)]
    pub batch: usize,
    /// Largest learning rate of Adam: reached linearly in 1/20 of the steps, then decayed by half a cosine
    #[arg(long, value_name = "R", default_value = "0.001", value_parser = rate, allow_hyphen_values = true)]
    pub learning_rate: f64,
    /// Fraction of training prompts with permuted labels
    #[arg(long, value_name = "S", default_value = "0.4", value_parser = below_1, allow_hyphen_values = true)]
    pub permuted: f64,
    /// Fraction of training prompts in which two classes have exchanged their labels
    #[arg(long, value_name = "S", default_value = "0.15", value_parser = below_1, allow_hyphen_values = true)]
    pub exchanged: f64,
    /// Fraction of training prompts that begin with the instruction to answer one class whatever is asked
    #[arg(long, value_name = "S", default_value = "0.1", value_parser = below_1, allow_hyphen_values = true)]
    pub instructed: f64,
}

/// Adversaries by name.
const ADVERSARIES: Names<PromptAdversary> = &[
    (
        "nat-advq",
        "Nat-AdvQ: the query with its label in place of an example; another neighbor for each query",
        PromptAdversary::NatAdvq,
    ),
    (
        "pois-advq",
        "Pois-AdvQ: the query with a wrong label in place of an example; another neighbor for each query",
        PromptAdversary::PoisAdvq,
    ),
    ("confident", "Pois-NatQ: the mislabeled query on which most teachers agree", PromptAdversary::Confident),
    (
        "unconfident",
        "Pois-NatQ: the mislabeled query whose two most voted classes are closest",
        PromptAdversary::Unconfident,
    ),
    (
        "all-same",
        "Pois-NatQ: the instruction to answer --class whatever is asked",
        PromptAdversary::AllSame { class: CLASS },
    ),
    ("mapping", "Pois-NatQ: an example of each class under a wrong name", PromptAdversary::Mapping),
];

impl PromptPateOptions {
    /// Fails with [`Error::Rejected`] for an option of another adversary.
    pub fn plan(&self, seed: u64) -> Result<PromptPatePlan> {
        let adversary = match (self.adversary.value, self.class) {
            (PromptAdversary::AllSame { class }, asked) => PromptAdversary::AllSame { class: asked.unwrap_or(class) },
            (adversary, None) => adversary,
            (_, Some(_)) => {
                let reason = "only --adversary all-same has it".into();
                return Err(Error::Rejected { operation: "--class", reason });
            }
        };
        let TransformerOptions { width, depth, heads, context, steps, batch, learning_rate, .. } = self.transformer;
        let TransformerOptions { permuted, exchanged, instructed, .. } = self.transformer;
        Ok(PromptPatePlan {
            learner: InContextPlan {
                width,
                depth,
                heads,
                context,
                steps: steps as u64,
                batch,
                schedule: InContextPlan::schedule(learning_rate),
                lessons: LessonShares { permuted, exchanged, instructed },
                seed,
            },
            teachers: self.teachers,
            shots: self.shots,
            queries: self.queries,
            adversary,
        })
    }
}

pub fn record(common: &Common, options: &PromptPateOptions, device: TrainingDevice) -> Result<Recorded> {
    let plan = options.plan(common.seed)?;
    let mut recipe = Recipe::open(common, &options.data, device, &[])?;
    // The transformer alone: other teachers, queries and adversaries go on from the same file.
    recipe.open_checkpoint("prompt-pate", &plan.learner)?;
    let steps = (plan.steps(), "steps");
    let votes = recipe.train(&format!("a {}", plan.learner), steps, |context| train_prompt_pate(context, &plan))?;
    let about = About {
        title: format!(
            "{} prompts with {} private {} each ({}), {}, {} queries",
            plan.teachers,
            plan.shots,
            if plan.shots == 1 { "example" } else { "examples" },
            plan.learner,
            plan.adversary,
            plan.queries
        ),
        facts: facts(&votes),
        warnings: plan.adversary.chooses_the_query().then(neighbor_of_each_query).into_iter().collect(),
        ..About::of("leakbound.torch-prompt-pate/1", options)
    };
    recipe.record(about, |writer| add(writer, &votes))
}

/// Leakage adds up only for one pair of datasets.
fn neighbor_of_each_query() -> Warning {
    Warning {
        code: "neighbor-of-each-query",
        message: "the adversary chooses the query: each row of `votes_prime` is of another neighbor, and the leakage of \
                  the queries does not add up"
            .into(),
        hint: "audit votes --n-queries N composes N answers to the query that leaks most; without it no answers are composed"
            .into(),
    }
}

fn facts(votes: &PromptVotes) -> Vec<(&'static str, f64)> {
    let accuracy = votes.accuracy;
    vec![
        ("permuted-accuracy-with-example", accuracy.with_example),
        ("permuted-accuracy-without-example", accuracy.without_example),
        ("canonical-accuracy", accuracy.canonical),
        ("obeyed-instructions", accuracy.instructed),
        ("ensemble-accuracy", votes.ensemble_accuracy()),
        ("mean-accuracy", votes.mean_accuracy()),
        ("changed-votes", votes.changed()),
    ]
}

/// The arrays that `audit votes` reads, then what else there is to know.
fn add(writer: &mut ArrayWriter, votes: &PromptVotes) -> Result<()> {
    add_fields!(writer, votes; votes, votes_prime, query_label, query_index, example_index, changed_teacher, neighbor);
    if let Some(ShownQueries { query, label }) = &votes.shown {
        writer.add("shown_query", query)?;
        writer.add("shown_label", label)?;
    }
    Ok(())
}
