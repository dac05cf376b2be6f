//! Private-kNN: what the adversary adds, and the model of every query with and without it.

use super::modeled::Recording;
use super::votes_options::VotesOptions;
use crate::output::fault;
use leakbound::model::{
    Adversary, NeighborDistributions, NeighborIndex, NeighborSampling, PoisonSearch, PrivateKnnModel, best_candidate,
    wrong_label,
};
use leakbound::record::{InputFile, KnnCandidates, KnnQuery, KnnTraining, KnnVotes, MemoryBudget, VoteFile};
use leakbound::study::{AddedPoint, ModeledQuery};
use leakbound::{Error, Result};
use ndarray::{Array1, Array2};
use rayon::prelude::*;
use std::path::Path;

pub const DEFAULT_K: u64 = 200;
pub const DEFAULT_RATE: f64 = 0.2;
pub const DEFAULT_SEARCH: PoisonSearch = PoisonSearch::Test;

/// A point as every query sees it.
struct Point {
    ranks: Vec<u64>,
    label: usize,
}

/// Everything that is known of the queries.
struct Scene<'a> {
    file: &'a Path,
    votes: KnnVotes,
    training: Option<KnnTraining>,
    classes: usize,
    sampling: NeighborSampling,
    /// The neighbors by distance, where both sides have features.
    index: Option<NeighborIndex>,
    distributions: Vec<NeighborDistributions>,
}

pub fn read(mut file: VoteFile, options: &VotesOptions, memory: MemoryBudget) -> Result<Recording> {
    let votes = file.private_knn()?;
    let mut inputs = vec![file.input().clone()];
    let training = training(&mut file, options, &votes, &mut inputs, memory)?;
    let scene = Scene::new(&options.file, votes, training, options)?;
    let (point, added) = match options.adversary {
        Adversary::PoisNatq => {
            let (point, added) = scene.search(options.candidates.unwrap_or(DEFAULT_SEARCH))?;
            (Some(point), Some(added))
        }
        Adversary::NatAdvq | Adversary::PoisAdvq => (None, None),
    };
    let queries = scene
        .votes
        .queries
        .iter()
        .map(|query| {
            // The query itself is the nearest of all.
            let (rank, label) = match &point {
                Some(point) => (point.ranks[query.position], point.label),
                None => (1, scene.own_label(query, options.adversary)?),
            };
            let distributions = &scene.distributions[query.position];
            let inclusion = scene.sampling.inclusion(rank)?;
            let model = PrivateKnnModel::new(
                scene.sampling.neighbors(),
                &distributions.p,
                &distributions.p_last,
                inclusion,
                label,
            )?;
            let model = model.with_points(options.changed)?;
            let neighbor = options.adversary.neighbor(query.position);
            Ok(ModeledQuery { position: query.position, label: query.label, neighbor, model: model.into() })
        })
        .collect::<Result<Vec<_>>>()?;
    let points = if options.changed == 1 { String::new() } else { format!(" x {}", options.changed) };
    let words = format!(
        "private-knn, {}{}{points}, k = {} neighbors at rate {}, {} classes",
        options.adversary,
        added.as_ref().map_or_else(String::new, |added| format!(" ({added})")),
        scene.sampling.neighbors(),
        scene.sampling.rate(),
        scene.classes
    );
    Ok(Recording { queries, words, inputs, point: added })
}

/// The training points, from the file of their own or the file of the queries, where one has them.
fn training(
    file: &mut VoteFile,
    options: &VotesOptions,
    votes: &KnnVotes,
    inputs: &mut Vec<InputFile>,
    memory: MemoryBudget,
) -> Result<Option<KnnTraining>> {
    if let Some(path) = &options.train {
        let mut train = VoteFile::open(path)?.within(memory);
        let training = train.private_knn_training()?;
        inputs.push(train.input().clone());
        return Ok(Some(training));
    }
    let needed = votes.queries[0].neighbor_labels.is_none();
    if needed || file.arrays().has("features") { file.private_knn_training().map(Some) } else { Ok(None) }
}

impl<'a> Scene<'a> {
    fn new(file: &'a Path, votes: KnnVotes, training: Option<KnnTraining>, options: &VotesOptions) -> Result<Self> {
        let (k, rate) = (options.k.unwrap_or(DEFAULT_K), options.rate.unwrap_or(DEFAULT_RATE));
        let recorded = votes.queries[0].neighbor_labels.as_ref().map(Vec::len);
        let points = training.as_ref().map_or(0, |training| training.labels.len());
        let ranks = recorded.unwrap_or_else(|| ranks_needed(k, rate).min(points));
        let sampling = NeighborSampling::new(k, rate, ranks)?;
        let index = match (&votes.features, &training) {
            (Some(queries), Some(training)) => {
                let (found, wanted) = (training.features.ncols(), queries.ncols());
                if found != wanted {
                    let file = options.train.as_ref().unwrap_or(&options.file);
                    let found = format!("{found} features of each point");
                    return Err(fault(file, "array `features`", found, format!("{wanted} as in `query_features`")));
                }
                Some(NeighborIndex::new(queries.view(), training.features.view(), ranks)?)
            }
            _ => None,
        };
        let largest = training.iter().flat_map(|training| &training.labels).copied().max().unwrap_or(0);
        let classes = votes.classes.max(largest + 1);
        let distributions = votes
            .queries
            .iter()
            .map(|query| match (&query.neighbor_labels, &index, &training) {
                (Some(labels), ..) => sampling.distributions(labels, classes),
                (None, Some(index), Some(training)) => {
                    let nearest = index.neighbors(query.position);
                    sampling.distributions(
                        &nearest.iter().map(|&point| training.labels[point]).collect::<Vec<_>>(),
                        classes,
                    )
                }
                _ => sampling.distributions(&[], classes),
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Self { file, votes, training, classes, sampling, index, distributions })
    }

    fn missing(&self, array: &str, why: &str) -> Error {
        fault(self.file, "whole file", "no such array", format!("the array `{array}`, {why}"))
    }

    /// The label of a query that is added itself: the true one, or the second most likely of its neighbors.
    fn own_label(&self, query: &KnnQuery, adversary: Adversary) -> Result<usize> {
        if adversary == Adversary::NatAdvq {
            return query.label.ok_or_else(|| self.missing("query_label", "with which the query is added"));
        }
        let p = Array2::from_shape_fn((1, self.classes), |(_, class)| self.distributions[query.position].p[class]);
        wrong_label(Array1::ones(1).view(), p.view(), None)
    }

    /// The point that is expected to vote on most queries, mislabeled.
    fn search(&self, search: PoisonSearch) -> Result<(Point, AddedPoint)> {
        let (ranks, own, added) = match (search, &self.index, &self.training) {
            (PoisonSearch::Train, Some(index), Some(training)) => {
                let value = |point: usize| -> Result<(f64, usize)> {
                    let ranks = index.ranks_of(training.features.row(point))?;
                    Ok((self.sampling.expected_votes(ranks)?, point))
                };
                let larger =
                    |a: (f64, usize), b: (f64, usize)| Ok(if b.0 > a.0 || (b.0 == a.0 && b.1 < a.1) { b } else { a });
                let (expected_votes, point) =
                    (0..training.labels.len()).into_par_iter().map(value).try_reduce(|| (-1.0, usize::MAX), larger)?;
                let ranks = index.ranks_of(training.features.row(point))?;
                (ranks, Some(training.labels[point]), self.added(search, Some(point), expected_votes))
            }
            (PoisonSearch::Train | PoisonSearch::Test, ..) => {
                let (candidates, is_test) = self.candidates(search)?;
                let wanted = search == PoisonSearch::Test;
                let best = best_candidate(&self.sampling, candidates.ranks.view(), |row| is_test[row] == wanted)?;
                let best = best.ok_or_else(|| {
                    self.missing("candidate_is_test", &format!("with at least 1 {search} point among the candidates"))
                })?;
                let ranks = candidates.ranks.row(best.candidate).to_vec();
                let added = self.added(search, Some(best.candidate), best.expected_votes);
                (ranks, Some(candidates.labels[best.candidate]), added)
            }
            (PoisonSearch::Embedding, Some(index), Some(training)) => {
                let labels: Option<Vec<usize>> = self.votes.queries.iter().map(|query| query.label).collect();
                let labels = labels.ok_or_else(|| self.missing("query_label", "by which queries are averaged"))?;
                let found = index.worst_embedding(training.features.view(), &labels, &self.sampling)?;
                (found.ranks, None, self.added(search, None, found.expected_votes))
            }
            (PoisonSearch::Embedding, ..) => {
                return Err(match self.votes.features {
                    None => self.missing("query_features", "of shape (query, feature)"),
                    Some(_) => self.missing("features", "of the training points, here or in the file of --train"),
                });
            }
        };
        let inclusion = ranks.iter().map(|&rank| self.sampling.inclusion(rank)).collect::<Result<Array1<f64>>>()?;
        let p = Array2::from_shape_fn((self.distributions.len(), self.classes), |(query, class)| {
            self.distributions[query].p[class]
        });
        let label = wrong_label(inclusion.view(), p.view(), own)?;
        Ok((Point { ranks, label }, AddedPoint { label, ..added }))
    }

    fn candidates(&self, search: PoisonSearch) -> Result<(&KnnCandidates, &[bool])> {
        let of = format!("of {search} points that may be added");
        let candidates = self.votes.candidates.as_ref().ok_or_else(|| self.missing("candidate_rank", &of))?;
        let is_test = candidates.is_test.as_deref();
        Ok((candidates, is_test.ok_or_else(|| self.missing("candidate_is_test", "which tells test points"))?))
    }

    fn added(&self, search: PoisonSearch, row: Option<usize>, expected_votes: f64) -> AddedPoint {
        AddedPoint { search, row, label: 0, expected_votes, queries: self.votes.queries.len() }
    }
}

/// Ranks beyond which the k neighbors lie with a probability below 1e-12: by Chernoff's inequality
/// P(Bin(R, γ) < k) ≤ exp(-(Rγ - k)²/(2Rγ)).
fn ranks_needed(k: u64, rate: f64) -> usize {
    let (k, exponent) = (k as f64, 28.0f64);
    // x = Rγ solves (x - k)² = 2 · 28 x.
    let expected = k + exponent + (exponent * (exponent + 2.0 * k)).sqrt();
    (expected / rate).ceil().min(1e7) as usize
}
