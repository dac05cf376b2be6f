//! The recorded data as models: every private prediction mechanism with every adversary.

use leakbound::Result;
use leakbound::histogram::{Neighbor, VoteHistogram};
use leakbound::model::{
    Adversary, CapcModel, NeighborDistributions, NeighborIndex, NeighborSampling, PateModel, PrivateKnnModel,
    PromptPateModel, VoteModel, best_candidate, wrong_label,
};
use leakbound::quantity::Probability;
use leakbound::record::{KnnTraining, KnnVotes, VoteFile};
use std::path::Path;

/// Noise of PATE, CaPC and PromptPATE, as published for k = 250.
pub const SIGMA: f64 = 40.0;
/// Noise of Private-kNN, as published for images.
pub const SIGMA_KNN: f64 = 30.0;
/// Neighbors and subsampling rate of Private-kNN, as published.
pub const NEIGHBORS: u64 = 200;
pub const RATE: f64 = 0.2;
/// Answers composed, as published.
pub const ANSWERS: f64 = 1000.0;

/// How the outputs of a case are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drawn {
    /// Their counts at once, from the distributions.
    FromDistribution,
    /// One by one, with noise on the votes.
    Simulated,
}

/// One mechanism and one adversary.
pub struct Case {
    pub model: &'static str,
    pub adversary: &'static str,
    /// Whether the queries are asked once each; otherwise one query is repeated.
    pub natural: bool,
    pub queries: Vec<VoteModel>,
    pub sigma: f64,
    /// Answers that are composed.
    pub answers: f64,
    /// How outputs are drawn.
    pub drawn: Drawn,
    /// The subsampling rate of Private-kNN.
    pub rate: Option<Probability>,
    /// What there is to know about the adversary's point.
    pub note: String,
}

impl Case {
    pub fn new(model: &'static str, adversary: &'static str, queries: Vec<VoteModel>) -> Self {
        let natural = adversary.starts_with("pois-natq");
        Self {
            model,
            adversary,
            natural,
            queries,
            sigma: SIGMA,
            answers: ANSWERS,
            drawn: Drawn::FromDistribution,
            rate: None,
            note: String::new(),
        }
    }
}

const fn name(adversary: Adversary) -> &'static str {
    match adversary {
        Adversary::NatAdvq => "nat-advq",
        Adversary::PoisAdvq => "pois-advq",
        Adversary::PoisNatq => "pois-natq",
    }
}

/// PATE and CaPC with the recorded adversaries, and the stand-in of PromptPATE.
pub fn of_teachers(votes: &Path) -> Result<Vec<Case>> {
    let mut file = VoteFile::open(votes)?;
    let mut cases = Vec::new();
    for adversary in Adversary::ALL {
        let votes = file.pate(adversary)?;
        let fit = |query: &leakbound::record::PateQuery| {
            PateModel::from_votes(votes.teachers as u64, &query.votes, &query.votes_neighbor).map(VoteModel::from)
        };
        cases.push(Case::new("pate", name(adversary), votes.queries.iter().map(fit).collect::<Result<_>>()?));
    }
    // The recording has no votes of a party under pois-natq.
    for adversary in [Adversary::NatAdvq, Adversary::PoisAdvq] {
        let votes = file.capc(adversary)?;
        let fit = |query: &leakbound::record::CapcQuery| {
            CapcModel::from_votes(&query.votes, &query.votes_neighbor).map(VoteModel::from)
        };
        cases.push(Case::new("capc", name(adversary), votes.queries.iter().map(fit).collect::<Result<_>>()?));
    }
    // Where the second label is the true one the point was not mislabeled.
    let second: ndarray::Array1<u64> = file.arrays().whole_numbers("second_label")?;
    let asked = file.pate(Adversary::PoisAdvq)?.queries;
    let wrong: Vec<bool> =
        asked.iter().map(|query| query.label.is_some_and(|label| second[query.position] != label as u64)).collect();
    for case in cases.iter_mut().filter(|case| case.adversary == "pois-advq") {
        let mut wrong = wrong.iter();
        case.queries.retain(|_| wrong.next().is_some_and(|wrong| *wrong));
        let (kept, all) = (case.queries.len(), asked.len());
        case.note = format!("{} of {all} queries left out: their second label is the true one", all - kept);
    }
    cases.extend(prompts(&mut file)?);
    Ok(cases)
}

/// PromptPATE without a language model: the votes of the first recorded instantiation, fixed, where one teacher's
/// prompt decides its vote. Nat-AdvQ: a teacher that was wrong votes for the true class. Pois-AdvQ: a teacher that was
/// right votes for the second class. Pois-NatQ: the first teacher answers the same class whatever is asked.
fn prompts(file: &mut VoteFile) -> Result<Vec<Case>> {
    let all = file.pate(Adversary::PoisNatq)?;
    let adversarial: Vec<usize> = file.pate(Adversary::PoisAdvq)?.queries.iter().map(|query| query.position).collect();
    let ranked = |counts: &[u64]| {
        let mut classes: Vec<usize> = (0..counts.len()).collect();
        classes.sort_by_key(|&class| std::cmp::Reverse(counts[class]));
        classes
    };
    let moved = |counts: &[u64], from: usize, to: usize| -> Result<VoteModel> {
        let histogram = VoteHistogram::new(counts.to_vec())?;
        let other = histogram.neighbor(Neighbor::Moved { from, to })?;
        Ok(PromptPateModel::new(histogram, other)?.into())
    };
    let (mut natural, mut poisoned) = (Vec::new(), Vec::new());
    for &position in &adversarial {
        let query = &all.queries[position];
        let Some(truth) = query.label else { continue };
        let counts = &query.histograms[0];
        let order = ranked(counts);
        if let Some(&wrong) = order.iter().find(|class| **class != truth && counts[**class] > 0) {
            natural.push(moved(counts, wrong, truth)?);
        }
        let second = order[usize::from(order[0] == truth)];
        if counts[truth] > 0 {
            poisoned.push(moved(counts, truth, second)?);
        }
    }
    // A teacher that otherwise votes with the majority; one class is as good as another.
    let constant = 0;
    let mut same = Vec::new();
    for query in &all.queries {
        let counts = &query.histograms[0];
        let top = ranked(counts)[0];
        if top == constant {
            let histogram = VoteHistogram::new(counts.clone())?;
            same.push(PromptPateModel::new(histogram.clone(), histogram)?.into());
        } else {
            same.push(moved(counts, top, constant)?);
        }
    }
    let mut cases = vec![
        Case::new("prompt-pate*", "nat-advq", natural),
        Case::new("prompt-pate*", "pois-advq", poisoned),
        Case::new("prompt-pate*", "pois-natq (all same)", same),
    ];
    // Fixed votes take no time.
    for case in cases.iter_mut().filter(|case| !case.natural) {
        case.drawn = Drawn::Simulated;
    }
    cases[2].note = format!("one teacher always answers class {constant}");
    Ok(cases)
}

/// Private-kNN with every adversary; the embedding needs the training points.
pub fn of_neighbors(queries: &Path, training: Option<&Path>) -> Result<Vec<Case>> {
    let votes = VoteFile::open(queries)?.private_knn()?;
    let training = training.map(|path| VoteFile::open(path)?.private_knn_training()).transpose()?;
    let ranks = votes.queries[0].neighbor_labels.as_ref().map_or(0, Vec::len);
    let sampling = NeighborSampling::new(NEIGHBORS, RATE, ranks)?;
    let labels = |query: &leakbound::record::KnnQuery| query.neighbor_labels.clone().unwrap_or_default();
    let distributions: Vec<NeighborDistributions> = votes
        .queries
        .iter()
        .map(|query| sampling.distributions(&labels(query), votes.classes))
        .collect::<Result<_>>()?;
    let model = |position: usize, rank: u64, label: usize| -> Result<VoteModel> {
        let NeighborDistributions { p, p_last } = &distributions[position];
        Ok(PrivateKnnModel::new(NEIGHBORS, p, p_last, sampling.inclusion(rank)?, label)?.into())
    };
    let p = ndarray::Array2::from_shape_fn((distributions.len(), votes.classes), |(query, class)| {
        distributions[query].p[class]
    });
    let own = |adversary: &'static str| -> Result<Case> {
        let queries = votes.queries.iter().enumerate().map(|(position, query)| {
            let label = match (adversary, query.label) {
                ("nat-advq", Some(label)) => label,
                _ => {
                    wrong_label(ndarray::Array1::ones(1).view(), p.select(ndarray::Axis(0), &[position]).view(), None)?
                }
            };
            model(position, 1, label)
        });
        Ok(Case::new("private-knn", adversary, queries.collect::<Result<_>>()?))
    };
    let added = |adversary: &'static str, ranks: &[u64], label: Option<usize>, expected: f64| -> Result<Case> {
        let inclusion = ranks.iter().map(|&rank| sampling.inclusion(rank)).collect::<Result<ndarray::Array1<f64>>>()?;
        let label = wrong_label(inclusion.view(), p.view(), label)?;
        let queries = ranks.iter().enumerate().map(|(position, &rank)| model(position, rank, label));
        let mut case = Case::new("private-knn", adversary, queries.collect::<Result<_>>()?);
        case.note = format!("E(x) = {expected:.3} of {} queries, as class {label}", ranks.len());
        Ok(case)
    };
    let mut cases = vec![own("nat-advq")?, own("pois-advq")?];
    if let Some(candidates) = &votes.candidates {
        let is_test = candidates.is_test.clone().unwrap_or_else(|| vec![true; candidates.labels.len()]);
        for (adversary, test) in [("pois-natq (train)", false), ("pois-natq (test)", true)] {
            if let Some(best) = best_candidate(&sampling, candidates.ranks.view(), |row| is_test[row] == test)? {
                let ranks = candidates.ranks.row(best.candidate).to_vec();
                cases.push(added(adversary, &ranks, Some(candidates.labels[best.candidate]), best.expected_votes)?);
            }
        }
    }
    if let Some(training) = &training {
        let found = embedding(&votes, training, &sampling)?;
        if let Some(found) = found {
            let mut case = added("pois-natq (embedding)", &found.ranks, None, found.expected_votes)?;
            case.note += &format!("; {:.3} before the ascent", found.expected_votes_average);
            cases.push(case);
        }
    }
    for case in &mut cases {
        case.sigma = SIGMA_KNN;
        case.rate = Some(Probability::new(RATE)?);
    }
    Ok(cases)
}

fn embedding(
    votes: &KnnVotes,
    training: &KnnTraining,
    sampling: &NeighborSampling,
) -> Result<Option<leakbound::model::Embedding>> {
    let labels: Option<Vec<usize>> = votes.queries.iter().map(|query| query.label).collect();
    let (Some(features), Some(labels)) = (&votes.features, labels) else { return Ok(None) };
    let index = NeighborIndex::new(features.view(), training.features.view(), sampling.ranks())?;
    index.worst_embedding(training.features.view(), &labels, sampling).map(Some)
}
