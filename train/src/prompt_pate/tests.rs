//! Prompts on the sample of Fashion-MNIST.

use super::*;
use crate::TrainingCheckpoint;
use crate::in_context::{InContextPlan, LessonShares};
use crate::sample::{on_sample, on_threads, rejection, train_on_sample, until};
use leakbound::error::Error;
use leakbound::record::{ArrayWriter, votes_from_bytes};
use std::path::Path;

fn plan(adversary: PromptAdversary) -> PromptPatePlan {
    PromptPatePlan {
        learner: InContextPlan {
            width: 16,
            heads: 2,
            context: 10,
            batch: 8,
            schedule: InContextPlan::schedule(3e-3),
            lessons: LessonShares { permuted: 0.3, exchanged: 0.1, instructed: 0.2 },
            ..InContextPlan::small()
        },
        teachers: 20,
        shots: 1,
        queries: 30,
        adversary,
    }
}

/// Trains until `steps` are done, with a checkpoint if there is a path.
fn train_until(plan: &PromptPatePlan, path: Option<&Path>, steps: u64) -> Result<PromptVotes> {
    let checkpoint = path.map(|path| TrainingCheckpoint::open(path, true, "prompt-pate", "cpu", &[], &plan.learner));
    on_sample(&until(steps), checkpoint.transpose()?.as_ref(), |context| train_prompt_pate(context, plan))
}

fn train(plan: &PromptPatePlan) -> Result<PromptVotes> {
    train_on_sample(train_prompt_pate, plan)
}

#[test]
fn worlds_are_neighbors_under_every_adversary_and_one_transformer_serves_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prompts.checkpoint");
    let mut all = Vec::new();
    for adversary in [
        PromptAdversary::NatAdvq,
        PromptAdversary::PoisAdvq,
        PromptAdversary::Confident,
        PromptAdversary::Unconfident,
        PromptAdversary::AllSame { class: 3 },
        PromptAdversary::Mapping,
    ] {
        let votes = train_until(&plan(adversary), Some(&path), u64::MAX).unwrap();
        println!("{adversary}: changed {}, {:?}", votes.changed(), votes.accuracy);
        let mut writer = ArrayWriter::new("v.npz");
        writer.add("votes", &votes.votes).unwrap();
        writer.add("votes_prime", &votes.votes_prime).unwrap();
        writer.add("query_label", &votes.query_label).unwrap();
        let read = votes_from_bytes("v.npz", writer.finish().unwrap()).unwrap().prompt_pate().unwrap();
        for query in &read.queries {
            let pairs = query.histogram.counts().iter().zip(query.histogram_neighbor.counts());
            assert!(pairs.map(|(a, b)| a.abs_diff(*b)).sum::<u64>() <= 2, "{adversary}: {query:?}");
        }
        if let Some(shown) = &votes.shown {
            for (query, (&place, &label)) in shown.query.iter().zip(&shown.label).enumerate() {
                let mislabeled = votes.query_label[place as usize] != label;
                assert_eq!(mislabeled, adversary != PromptAdversary::NatAdvq, "{adversary}, query {query}");
                assert!(!adversary.chooses_the_query() || place as usize == query);
            }
        }
        // Private examples and queries are different images.
        assert!(votes.query_index.iter().all(|query| !votes.example_index.iter().any(|example| example == query)));
        all.push(votes);
    }
    assert!(all.iter().all(|votes| votes.votes == all[0].votes && votes.accuracy == all[0].accuracy));
    // Another process without a checkpoint, from the first step.
    assert_eq!(train(&plan(PromptAdversary::PoisAdvq)).unwrap(), all[1]);
}

#[test]
fn threads_and_interruptions_change_nothing() {
    let plan = plan(PromptAdversary::Mapping);
    let whole = on_threads(1, || train(&plan)).unwrap();
    assert_eq!(on_threads(2, || train(&plan)).unwrap(), whole);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prompts.checkpoint");
    // A tenth is 6 steps: 12 of these 15 are kept, and then 42 of 45.
    for until in [15, 45] {
        let error = on_threads(2, || train_until(&plan, Some(&path), until)).unwrap_err();
        assert!(matches!(error, Error::Interrupted), "{error}");
    }
    assert_eq!(on_threads(1, || train_until(&plan, Some(&path), u64::MAX)).unwrap(), whole);
}

#[test]
fn what_cannot_be_trained_is_rejected() {
    let rejected = |change: &dyn Fn(&mut PromptPatePlan)| rejection(plan(PromptAdversary::Mapping), change, train);
    let messages = [
        rejected(&|plan| plan.teachers = 0),
        rejected(&|plan| plan.shots = 11),
        rejected(&|plan| plan.queries = 481),
        rejected(&|plan| plan.adversary = PromptAdversary::AllSame { class: 10 }),
        rejected(&|plan| plan.learner.context = 9),
        rejected(&|plan| plan.learner.heads = 3),
        rejected(&|plan| plan.learner.steps = 0),
        rejected(&|plan| plan.learner.lessons.permuted = f64::NAN),
        rejected(&|plan| plan.learner.lessons.permuted = 0.8),
        rejected(&|plan| plan.learner.schedule = InContextPlan::schedule(1e30)),
    ];
    insta::assert_snapshot!(
        messages.join("\n"),
        @"
    teachers = 0 is not in [1, inf)
    prompts: 11 examples of a teacher for a transformer with a context of 10
    prompts: 20 teachers with an example each and 481 queries of 500 test images
    prompts: class 10 of 10, counted from 0
    prompts: a mapping of 10 classes has an example of each, more than a context of 9
    transformer: a width of 16 for 3 heads, which do not divide it
    steps = 0 is not in [1, inf)
    share of permuted prompts = NaN is not in [0, 1]
    transformer: shares of prompts are more than 1 together: 0.8 permuted, 0.1 exchanged, 0.2 instructed
    training: parameters are no longer finite; lower the learning rate
    "
    );
}
