//! `leakbound audit votes`: fit, draw outputs, bound from below, compute the distribution, bound from above.

use super::added_point::{DEFAULT_K, DEFAULT_RATE, DEFAULT_SEARCH};
use super::conclude::{Asked, conclude};
use super::modeled::choose;
use super::vote_recording;
use super::votes_options::{ModelName, VotesOptions};
use crate::args::Common;
use crate::output::Output;
use leakbound::Result;
use leakbound::error::one_line;
use leakbound::model::{Adversary, Composition};
use leakbound::quantity::Probability;
use leakbound::study::{ModeledQuery, Sampling, Verdict, VotesStudy, short};

pub fn run(common: &Common, options: &VotesOptions) -> Result<Verdict> {
    let inputs: Vec<_> = std::iter::once(&options.file).chain(&options.train).map(|path| path.as_path()).collect();
    let output = Output::open(common, &inputs)?;
    let recording = vote_recording::read(options, common.memory())?;
    let options = &with_defaults(options);
    let queries = choose(recording.queries, options)?;
    let title = title(common, options, &recording.words, queries.len());
    let study = VotesStudy {
        noise: options.noise,
        rate: options.rate.map(Probability::new).transpose()?,
        sampling: options.sampling,
        samples: options.samples,
        composition: options.composition.unwrap_or_else(|| default_composition(&queries, options)),
        repeated: options.n_queries,
        whole: options.answer_queries,
        bounds: options.bound.bounds(),
        added_point: recording.point,
        seed: common.seed,
        queries,
    };
    conclude(common, output, &study, Asked { options, inputs: recording.inputs, title, warnings: Vec::new() })
}

/// What the model guarantees; of independent answers nothing where each query has a neighbor of its own.
fn default_composition(queries: &[ModeledQuery], options: &VotesOptions) -> Composition {
    let usual = queries[0].model.default_composition();
    let is_sum = usual.divergences_add() && options.n_queries.is_none();
    if is_sum && !ModeledQuery::share_a_neighbor(queries) { Composition::PerQuery } else { usual }
}

/// The options as they are used: those of Private-kNN have values only there.
fn with_defaults(options: &VotesOptions) -> VotesOptions {
    let mut options = options.clone();
    if options.model == ModelName::PrivateKnn {
        options.k.get_or_insert(DEFAULT_K);
        options.rate.get_or_insert(DEFAULT_RATE);
        if options.adversary == Adversary::PoisNatq {
            options.candidates.get_or_insert(DEFAULT_SEARCH);
        }
    }
    options
}

fn title(common: &Common, options: &VotesOptions, words: &str, queries: usize) -> String {
    let (samples, seed) = (short(options.samples as f64), common.seed);
    let drawn = match options.sampling {
        Sampling::MonteCarlo => format!("{samples} outputs simulated per query and world, seed {seed}"),
        Sampling::ExactDistribution => {
            format!(
                "{samples} outputs per query and world, seed {seed}, drawn from the distribution itself and not simulated"
            )
        }
    };
    format!(
        "Audit of {}: {words}, {} noise, {queries} queries\n{drawn}",
        one_line(&options.file.to_string_lossy()),
        options.noise
    )
}
