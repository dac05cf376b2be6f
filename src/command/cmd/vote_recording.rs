//! From a file of recorded votes to a model for every query.

use super::added_point;
use crate::command::args::{ModelName, Queries, VotesOptions};
use crate::record::{CapcQuery, InputFile, MemoryBudget, PateQuery, PromptPateQuery, VoteFile};
use crate::study::{AddedPoint, ModeledQuery};
use crate::{CapcModel, Error, InputError, PateModel, PromptPateModel, Result};
use std::collections::HashMap;

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

impl Recording {
    pub fn read(options: &VotesOptions, memory: MemoryBudget) -> Result<Self> {
        refuse_foreign_options(options)?;
        let mut file = VoteFile::open(&options.file)?.within(memory);
        let of = |queries: Result<Vec<ModeledQuery>>, words: String, file: &VoteFile| {
            Ok(Self { queries: queries?, words, inputs: vec![file.input().clone()], point: None })
        };
        match options.model {
            ModelName::Pate => {
                let votes = file.pate(options.adversary)?;
                let k = votes.teachers as u64;
                let changed =
                    if options.changed == 1 { String::new() } else { format!(", {} of them changed", options.changed) };
                let words =
                    format!("pate, {}, k = {k} teachers{changed}, {} classes", options.adversary, votes.classes);
                let fit = |PateQuery { position, label, votes, votes_neighbor, .. }| {
                    let model =
                        PateModel::from_votes(k, &votes, &votes_neighbor)?.with_changed_teachers(options.changed)?;
                    Ok(ModeledQuery { position, label, model: model.into() })
                };
                of(votes.queries.into_iter().map(fit).collect(), words, &file)
            }
            ModelName::Capc => {
                let votes = file.capc(options.adversary)?;
                let words =
                    format!("capc, {}, k = {} parties, {} classes", options.adversary, votes.parties, votes.classes);
                let fit = |CapcQuery { position, label, votes, votes_neighbor, .. }| {
                    Ok(ModeledQuery { position, label, model: CapcModel::from_votes(&votes, &votes_neighbor)?.into() })
                };
                of(votes.queries.into_iter().map(fit).collect(), words, &file)
            }
            ModelName::PromptPate => {
                let votes = file.prompt_pate()?;
                let words = format!("prompt-pate, fixed votes, {} classes", votes.classes);
                let fit = |PromptPateQuery { position, label, histogram, histogram_neighbor }| {
                    Ok(ModeledQuery {
                        position,
                        label,
                        model: PromptPateModel::new(histogram, histogram_neighbor)?.into(),
                    })
                };
                of(votes.queries.into_iter().map(fit).collect(), words, &file)
            }
            ModelName::PrivateKnn => added_point::read(file, options, memory),
        }
    }
}

/// Options of another model would be ignored; they are refused instead.
fn refuse_foreign_options(options: &VotesOptions) -> Result<()> {
    let refuse = |operation, reason: &str| Err(Error::Refused { operation, reason: reason.into() });
    let knn = options.model == ModelName::PrivateKnn;
    for (operation, given) in [
        ("--k", options.k.is_some()),
        ("--rate", options.rate.is_some()),
        ("--candidates", options.candidates.is_some()),
        ("--train", options.train.is_some()),
    ] {
        if given && !knn {
            return refuse(operation, "only --model private-knn has it");
        }
    }
    match options.model {
        ModelName::Capc if options.changed > 1 => {
            refuse("--changed", "the changed points of CaPC are all with one party, which has one vote")
        }
        ModelName::PromptPate if options.changed > 1 => refuse("--changed", "the votes of both worlds are recorded"),
        _ => Ok(()),
    }
}

/// The requested queries, in the order of the request.
pub fn choose(queries: Vec<ModeledQuery>, options: &VotesOptions) -> Result<Vec<ModeledQuery>> {
    let refuse = |found: String, expected: String| {
        Error::from(InputError { file: options.file.clone(), place: "--queries".into(), found, expected, hint: None })
    };
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
                    refuse(format!("position {position}"), expected)
                })
            };
            positions.iter().map(take).collect::<Result<_>>()?
        }
    };
    if chosen.is_empty() {
        return Err(refuse("no query".into(), "at least 1 query".into()));
    }
    Ok(chosen)
}
