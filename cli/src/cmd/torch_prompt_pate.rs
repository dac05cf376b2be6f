//! `leakbound torch prompt-pate`: votes of prompts, with and without what an adversary adds.

use super::recipe::Recipe;
use super::training_run::{About, Recorded};
use crate::args::{Common, PromptPateOptions};
use leakbound::Result;
use leakbound::record::ArrayWriter;
use leakbound::study::Warning;
use leakbound_train::{PromptVotes, ShownQueries, TrainingDevice, train_prompt_pate};

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
    Ok(())
}
