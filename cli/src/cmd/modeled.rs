//! Recorded queries with their models.

use super::votes_options::{Queries, VotesOptions};
use crate::output::fault;
use leakbound::Result;
use leakbound::record::InputFile;
use leakbound::study::{AddedPoint, ModeledQuery};
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
