//! `leakbound torch prompt-pate`: votes of prompts, with and without what an adversary adds.

use super::recipe::Recipe;
use super::training_run::About;
use crate::args::{Common, PromptPateOptions};
use leakbound::Result;
use leakbound::record::ArrayWriter;
use leakbound::report::TrainingFact;
use leakbound::study::{Number, Warning};
use leakbound_train::{PromptVotes, ShownQueries, TrainingDevice, train_prompt_pate};
use ndarray::arr0;

pub fn run(common: &Common, options: &PromptPateOptions, device: TrainingDevice) -> Result<()> {
    let plan = options.plan(common.seed)?;
    let recipe = Recipe::open(common, &options.data, device, &options.checkpoint.files())?;
    // The transformer alone: other teachers, queries and adversaries go on from the same file.
    let checkpoint = recipe.checkpoint(&options.checkpoint, "prompt-pate", &plan.learner)?;
    let steps = plan.steps();
    let votes = recipe.train(&format!("a {}", plan.learner), (steps, "steps"), |progress| {
        train_prompt_pate(&recipe.context(progress, checkpoint.as_ref()), &plan)
    })?;
    let about = About {
        schema: "leakbound.torch-prompt-pate/1",
        options,
        title: format!(
            "{} prompts with {} private {} each ({}), {}, {} queries",
            plan.teachers,
            plan.shots,
            if plan.shots == 1 { "example" } else { "examples" },
            plan.learner,
            plan.adversary,
            plan.queries
        ),
        networks: 1,
        facts: facts(&votes),
        warnings: plan.adversary.chooses_the_query().then(neighbor_of_each_query).into_iter().collect(),
        figures: Vec::new(),
    };
    let (output, document) = recipe.record(about, |writer| add(writer, &votes, common.seed))?;
    output.write(&document)
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

fn facts(votes: &PromptVotes) -> Vec<TrainingFact> {
    let accuracy = votes.accuracy;
    [
        ("permuted-accuracy-with-example", accuracy.with_example),
        ("permuted-accuracy-without-example", accuracy.without_example),
        ("canonical-accuracy", accuracy.canonical),
        ("obeyed-instructions", accuracy.instructed),
        ("ensemble-accuracy", votes.ensemble_accuracy()),
        ("mean-accuracy", votes.mean_accuracy()),
        ("changed-votes", votes.changed()),
    ]
    .map(|(name, value)| TrainingFact { name, value: Number(value) })
    .into()
}

/// The arrays that `audit votes` reads, then what else there is to know.
fn add(writer: &mut ArrayWriter, votes: &PromptVotes, seed: u64) -> Result<()> {
    writer.add("votes", &votes.votes)?;
    writer.add("votes_prime", &votes.votes_prime)?;
    writer.add("query_label", &votes.query_label)?;
    writer.add("query_index", &votes.query_index)?;
    writer.add("example_index", &votes.example_index)?;
    writer.add("changed_teacher", &votes.changed_teacher)?;
    writer.add("neighbor", &votes.neighbor)?;
    if let Some(ShownQueries { query, label }) = &votes.shown {
        writer.add("shown_query", query)?;
        writer.add("shown_label", label)?;
    }
    writer.add("seed", &arr0(seed))
}
