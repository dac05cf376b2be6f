//! What is known of one mechanism and one adversary.

use super::cases::{Case, Drawn};
use leakbound::Result;
use leakbound::accountant::{Scope, WorstCases};
use leakbound::audit::{ReferenceDistributions, Region};
use leakbound::bound::Direction;
use leakbound::counts::PairedCounts;
use leakbound::distribution::{Noise, OutcomeDistribution, OutputPair};
use leakbound::divergence::{RdpCurve, order_grid};
use leakbound::mechanism::RandomVotes;
use leakbound::model::VoteModel;
use leakbound::quantity::{FailureProbability, NoiseScale, Order};
use leakbound::simulate::{ArgmaxSampler, Simulation, sample_distributions, simulate};
use rayon::prelude::*;

/// Outputs per query and world, as published.
const SAMPLES: u64 = 100_000_000;
/// δ of the composed ε, as published.
pub const DELTA: f64 = 1e-6;
/// Failure probability of the lower bounds of one row, over all its queries together.
const FAILURE: f64 = 0.05;
/// Orders of the table.
pub const SHOWN: [f64; 2] = [2.0, 10.0];

/// The curves of the table, in its order.
pub const CURVES: [&str; 4] = ["lower", "distribution", "data-dependent", "data-independent"];

/// One row.
pub struct Row {
    pub model: &'static str,
    pub adversary: &'static str,
    pub note: String,
    /// Which query is repeated, or how many are asked once each.
    pub queries: String,
    /// Per answer: [curve], points (order, value); means where every query is asked once.
    pub curves: [Option<Vec<[f64; 2]>>; 4],
    /// The distribution's RDP of one answer at the first order of SHOWN, a mean over all queries.
    pub mean: f64,
    /// The largest of them.
    pub largest: f64,
    /// After the answers of the case, converted; illustrative for the lower curve and where answers are dependent.
    pub epsilon: [Option<f64>; 4],
}

impl Row {
    /// A curve at an order of [`SHOWN`].
    pub fn rdp(&self, curve: usize, place: usize) -> Option<f64> {
        let [_, value] = self.curves[curve].as_ref()?.iter().find(|[order, _]| *order == SHOWN[place])?;
        Some(*value)
    }
}

struct Judged<'a> {
    model: &'a VoteModel,
    /// None where the added point is hardly ever among the neighbors.
    pair: Option<OutputPair>,
}

/// A point that votes with a smaller probability leaks nothing that shows: by the subsampled Gaussian with this rate,
/// below 1e-19 at the orders shown.
const NEVER: f64 = 1e-9;

impl<'a> Judged<'a> {
    fn new(model: &'a VoteModel, noise: Noise) -> Result<Self> {
        let never = matches!(model, VoteModel::PrivateKnn(model) if model.inclusion() < NEVER);
        Ok(Self { model, pair: if never { None } else { Some(model.output_pair(noise)?) } })
    }

    fn divergence(&self, order: Order) -> f64 {
        self.pair.as_ref().map_or(0.0, |pair| pair.renyi(Direction::Forward, order))
    }
}

/// Forward divergences of one case; none with the reason where its distribution cannot be computed.
pub fn row(case: &Case) -> Result<Row> {
    let noise = Noise::Gaussian(NoiseScale::new(case.sigma)?);
    let judged: Vec<Judged<'_>> =
        case.queries.par_iter().map(|model| Judged::new(model, noise)).collect::<Result<_>>()?;
    let two = Order::new(SHOWN[0])?;
    let (chosen, queries): (Vec<(usize, &Judged<'_>)>, String) = if case.natural {
        (judged.iter().enumerate().collect(), format!("{} once each", judged.len()))
    } else {
        let mut worst = (0, -1.0);
        for (index, judged) in judged.iter().enumerate() {
            let divergence = judged.divergence(two);
            if divergence > worst.1 {
                worst = (index, divergence);
            }
        }
        (vec![(worst.0, &judged[worst.0])], format!("the worst of {}", judged.len()))
    };
    let mut orders = order_grid();
    orders.extend(SHOWN.iter().map(|&order| Order::new(order)).collect::<Result<Vec<_>>>()?);
    orders.sort_by(|a, b| a.get().total_cmp(&b.get()));
    let share = FailureProbability::new(FAILURE)?.split(chosen.len());
    // [curve][order], a mean over the chosen queries.
    let per_query: Vec<[Option<Vec<f64>>; 4]> = chosen
        .par_iter()
        .map(|(index, judged)| {
            let lower = match &judged.pair {
                None => Some(vec![0.0; orders.len()]),
                Some(pair) => counts(case, judged.model, pair, *index)?
                    .map(|counts| lower(pair, &counts, &orders, share))
                    .transpose()?,
            };
            let distribution = orders.iter().map(|&order| judged.divergence(order)).collect();
            let [dependent, independent] = accountants(case, judged, &orders)?;
            Ok([lower, Some(distribution), dependent, independent])
        })
        .collect::<Result<_>>()?;
    let mean = |curve: usize| -> Option<Vec<f64>> {
        let curves: Option<Vec<&Vec<f64>>> = per_query.iter().map(|curves| curves[curve].as_ref()).collect();
        let curves = curves?;
        let count = curves.len() as f64;
        Some((0..orders.len()).map(|order| curves.iter().map(|curve| curve[order]).sum::<f64>() / count).collect())
    };
    let means: [Option<Vec<f64>>; 4] = std::array::from_fn(mean);
    let delta = leakbound::quantity::Delta::new(DELTA)?;
    let mut epsilon = [None; 4];
    let points = |values: &Vec<f64>| orders.iter().zip(values).map(|(order, value)| [order.get(), *value]).collect();
    let curves = std::array::from_fn(|curve| means[curve].as_ref().map(points));
    for (epsilon, mean) in epsilon.iter_mut().zip(means) {
        if let Some(values) = mean {
            // Nothing proved converts to nothing.
            let nothing = values.iter().all(|value| *value == 0.0);
            let curve = RdpCurve::new(orders.clone(), values)?.repeated(case.answers);
            *epsilon = Some(if nothing { 0.0 } else { curve.epsilon(delta).0.get() });
        }
    }
    let divergences: Vec<f64> = judged.iter().map(|judged| judged.divergence(two)).collect();
    let mean = divergences.iter().sum::<f64>() / divergences.len() as f64;
    let largest = divergences.iter().copied().fold(0.0, f64::max);
    let Case { model, adversary, note, .. } = case;
    Ok(Row { model, adversary, note: note.clone(), queries, curves, mean, largest, epsilon })
}

/// Counts of outputs that are simulated, or drawn from the distributions; none where these are not accurate enough.
fn counts(case: &Case, model: &VoteModel, pair: &OutputPair, index: usize) -> Result<Option<PairedCounts>> {
    let simulation = Simulation::new(SAMPLES)?.query(index as u64);
    if case.drawn == Drawn::Simulated {
        let noise = Noise::Gaussian(NoiseScale::new(case.sigma)?);
        return simulate(&ArgmaxSampler::new(model, noise), simulation, |_| ()).map(Some);
    }
    match sample_distributions(pair.dataset(), pair.neighbor(), simulation) {
        Ok(counts) => Ok(Some(counts)),
        Err(leakbound::Error::Rejected { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn lower(pair: &OutputPair, counts: &PairedCounts, orders: &[Order], share: FailureProbability) -> Result<Vec<f64>> {
    let region =
        Region::new(counts, &ReferenceDistributions::from_distributions(pair.dataset(), pair.neighbor())?, share)?;
    // D_α never falls in α, and the region is one event: each order has the largest bound of those not above it.
    let mut least: f64 = 0.0;
    let at = |order: &Order| {
        least = least.max(region.bound(*order, Direction::Forward).value);
        least
    };
    Ok(orders.iter().map(at).collect())
}

/// Data-dependent and data-independent: the first theorem for these votes and the first for any votes, if there are.
fn accountants(case: &Case, judged: &Judged<'_>, orders: &[Order]) -> Result<[Option<Vec<f64>>; 2]> {
    let noise = Noise::Gaussian(NoiseScale::new(case.sigma)?);
    let mechanism = RandomVotes { model: judged.model, noise, rate: case.rate };
    let known = WorstCases::default();
    let theorems = match &judged.pair {
        Some(pair) => mechanism.theorems(pair, &known),
        // Theorems of a subsample do not look at the distributions.
        None => {
            let nothing = OutcomeDistribution::from_probabilities(&[1.0])?;
            mechanism.theorems(&OutputPair::new(nothing.clone(), nothing)?, &known)
        }
    };
    let first = |scope| {
        let found = theorems.iter().find(|theorem| theorem.statement().scope == scope)?;
        found.values(orders, Direction::Forward)
    };
    Ok([first(Scope::TheseData), first(Scope::AnyData)])
}
