//! From a file of recorded votes to a model for every query.

use super::added_point;
use super::audit_votes::{ModelName, Queries, VotesOptions};
use crate::output::fault;
use leakbound::model::{CapcModel, PateModel, PromptPateModel};
use leakbound::record::{CapcQuery, InputFile, MemoryBudget, PateQuery, PromptPateQuery, VoteFile};
use leakbound::study::{AddedPoint, ModeledQuery};
use leakbound::{Error, Result};
use std::collections::HashMap;

/// Reads the recording and fits the models.
pub fn read(options: &VotesOptions, memory: MemoryBudget) -> Result<Recording> {
    reject_foreign_options(options)?;
    let mut file = VoteFile::open(&options.file)?.within(memory);
    let of = |queries: Result<Vec<ModeledQuery>>, words: String, file: &VoteFile| {
        Ok(Recording { queries: queries?, words, inputs: vec![file.input().clone()], point: None })
    };
    match options.model {
        ModelName::Pate => {
            let votes = file.pate(options.adversary)?;
            let k = votes.teachers as u64;
            let changed =
                if options.changed == 1 { String::new() } else { format!(", {} of them changed", options.changed) };
            let words = format!("pate, {}, k = {k} teachers{changed}, {} classes", options.adversary, votes.classes);
            let fit = |PateQuery { position, label, votes, votes_neighbor, .. }| {
                let model =
                    PateModel::from_votes(k, &votes, &votes_neighbor)?.with_changed_teachers(options.changed)?;
                let neighbor = options.adversary.neighbor(position);
                Ok(ModeledQuery { position, label, neighbor, model: model.into() })
            };
            of(votes.queries.into_iter().map(fit).collect(), words, &file)
        }
        ModelName::Capc => {
            let votes = file.capc(options.adversary)?;
            let words =
                format!("capc, {}, k = {} parties, {} classes", options.adversary, votes.parties, votes.classes);
            let fit = |CapcQuery { position, label, votes, votes_neighbor, .. }| {
                let model = CapcModel::from_votes(&votes, &votes_neighbor)?.into();
                let neighbor = options.adversary.neighbor(position);
                Ok(ModeledQuery { position, label, neighbor, model })
            };
            of(votes.queries.into_iter().map(fit).collect(), words, &file)
        }
        ModelName::PromptPate => {
            let votes = file.prompt_pate()?;
            let words = format!("prompt-pate, fixed votes, {} classes", votes.classes);
            let fit = |PromptPateQuery { position, label, neighbor, histogram, histogram_neighbor }| {
                let model = PromptPateModel::new(histogram, histogram_neighbor)?.into();
                Ok(ModeledQuery { position, label, neighbor, model })
            };
            of(votes.queries.into_iter().map(fit).collect(), words, &file)
        }
        ModelName::PrivateKnn => added_point::read(file, options, memory),
    }
}

/// Options of another model would be ignored; they are rejected instead.
fn reject_foreign_options(options: &VotesOptions) -> Result<()> {
    let reject = |operation, reason: &str| Err(Error::Rejected { operation, reason: reason.into() });
    let knn = options.model == ModelName::PrivateKnn;
    for (operation, given) in [
        ("--k", options.k.is_some()),
        ("--rate", options.rate.is_some()),
        ("--candidates", options.candidates.is_some()),
        ("--train", options.train.is_some()),
    ] {
        if given && !knn {
            return reject(operation, "only --model private-knn has it");
        }
    }
    match options.model {
        ModelName::Capc if options.changed > 1 => {
            reject("--changed", "the changed points of CaPC are all with one party, which has one vote")
        }
        ModelName::PromptPate if options.changed > 1 => reject("--changed", "the votes of both worlds are recorded"),
        _ => Ok(()),
    }
}

/// The recorded queries, fitted.
pub struct Recording {
    pub queries: Vec<ModeledQuery>,
    /// Model, adversary and sizes.
    pub words: String,
    /// The files that were read.
    pub inputs: Vec<InputFile>,
    /// The point of an adversary who adds one to a Private-kNN and does not choose the queries.
    pub point: Option<AddedPoint>,
}

/// The requested queries, in the order of the request.
pub fn choose(queries: Vec<ModeledQuery>, options: &VotesOptions) -> Result<Vec<ModeledQuery>> {
    let reject = |found: String, expected: String| fault(&options.file, "--queries", found, expected);
    let chosen: Vec<ModeledQuery> = match &options.queries {
        Queries::All(_) => queries,
        Queries::Some(positions) => {
            let recorded: Vec<String> = queries.iter().map(|query| query.position.to_string()).collect();
            let shown = recorded.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
            let more = if recorded.len() > 8 { ", ..." } else { "" };
            let mut by_position: HashMap<usize, ModeledQuery> =
                queries.into_iter().map(|query| (query.position, query)).collect();
            let take = |position: &usize| {
                by_position.remove(position).ok_or_else(|| {
                    let expected = format!("each of the recorded positions at most once: {shown}{more}");
                    reject(format!("position {position}"), expected)
                })
            };
            positions.iter().map(take).collect::<Result<_>>()?
        }
    };
    if chosen.is_empty() {
        return Err(reject("no query".into(), "at least 1 query".into()));
    }
    Ok(chosen)
}
