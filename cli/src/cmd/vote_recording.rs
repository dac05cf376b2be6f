//! From a file of recorded votes to a model for every query.

use super::added_point;
use super::modeled::Recording;
use super::votes_options::{ModelName, VotesOptions};
use leakbound::model::{CapcModel, PateModel, PromptPateModel};
use leakbound::record::{CapcQuery, MemoryBudget, PateQuery, PromptPateQuery, VoteFile};
use leakbound::study::ModeledQuery;
use leakbound::{Error, Result};

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
    let knn = options.model == ModelName::PrivateKnn;
    for (operation, given) in [
        ("--k", options.k.is_some()),
        ("--rate", options.rate.is_some()),
        ("--candidates", options.candidates.is_some()),
        ("--train", options.train.is_some()),
    ] {
        Error::check_possible(knn || !given, operation, "only --model private-knn has it")?;
    }
    let reason = match options.model {
        ModelName::Capc => "the changed points of CaPC are all with one party, which has one vote",
        ModelName::PromptPate => "the votes of both worlds are recorded",
        ModelName::Pate | ModelName::PrivateKnn => return Ok(()),
    };
    Error::check_possible(options.changed <= 1, "--changed", reason)
}
