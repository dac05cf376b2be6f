//! Exact distributions of the mechanisms under test, as pairs of neighbors.

use super::distribution_pair::DistributionPair;
use super::extreme_pairs::extreme_pairs;
use super::known_rdp::KnownRdp;
use super::request::Request;
use crate::distribution::{OutcomeDistribution, OutputPair};
use crate::divergence::LEAST_ERROR;
use crate::error::Result;
use crate::histogram::{Neighbor, VoteHistogram};
use crate::mechanism::{Bins, DataKind, rejected};
use crate::order;
use crate::quadrature::LogIntegral;
use crate::quantity::Order;

/// From this many neighbors on, only those are searched whose vote leaves or reaches one of the three largest counts,
/// or in which every count changes.
const MANY_NEIGHBORS: usize = 24;
/// The most neighbors of answers to queries; at most 2^10 are searched.
const MOST_OF_ANSWERS: usize = 60_000;

/// The pair of every neighbor, one for each pair of distinct counts. `order` is where printed numbers are to be
/// resolved best.
pub(super) fn pairs(request: &Request, order: Option<Order>) -> Result<Vec<DistributionPair>> {
    let (mechanism, histogram, bins) = (&request.mechanism, &request.histogram, Bins::at(order));
    if let Some(&KnownRdp { rdp, order }) = mechanism.downcast() {
        return extreme_pairs(rdp, order);
    }
    let kind = mechanism.kind().data;
    let neighbors = match (kind, &request.neighbor) {
        (DataKind::OneRecord, _) | (_, None) => {
            changes(kind, histogram)?.into_iter().map(|change| histogram.neighbor(change)).collect::<Result<_>>()?
        }
        (_, Some(neighbor)) if neighbor != histogram && kind.holds(histogram, neighbor) => vec![neighbor.clone()],
        (_, Some(_)) => return Err(rejected(format!("the data are not a neighbor for {}", mechanism.kind()))),
    };
    let p = mechanism.output_distribution(histogram, bins)?;
    let pair = |neighbor: VoteHistogram| {
        Ok(DistributionPair {
            distributions: OutputPair::new(p.clone(), mechanism.output_distribution(&neighbor, bins)?)?,
            neighbor,
        })
    };
    neighbors.into_iter().map(pair).collect()
}

/// The changes that are searched; any selection keeps a refutation sound.
fn changes(kind: DataKind, histogram: &VoteHistogram) -> Result<Vec<Neighbor>> {
    let most = if kind == DataKind::Answers { MOST_OF_ANSWERS } else { usize::MAX };
    let mut all = kind.neighbors(histogram, true, most)?;
    if all.len() > MANY_NEIGHBORS {
        let counts = histogram.counts();
        let order = order::positions(counts.len(), |a, b| counts[b].cmp(&counts[a]));
        let third = counts[order[2.min(order.len() - 1)]];
        all.retain(|change| match *change {
            Neighbor::Moved { from, to } => counts[from] >= third || counts[to] >= third,
            // As far as counts change.
            Neighbor::Shifted { by } => by.by().iter().zip(counts).all(|(by, &count)| *by != 0 || count == 0),
            Neighbor::Added { .. } | Neighbor::Removed { .. } => true,
        });
    }
    Ok(all)
}

/// The most outcomes of a composed distribution.
const MAX_OUTCOMES: u64 = 6_000;

/// The distributions of `repetitions` independent outputs; outputs in another order are one outcome, since they have
/// the same ratio of probabilities. None if there would be more than 6,000 outcomes.
///
/// By enumeration: this is where a privacy-loss distribution could take over for many repetitions.
pub(super) fn composed(pair: &OutputPair, repetitions: u32) -> Result<Option<OutputPair>> {
    let outcomes = pair.outcomes() as u64;
    if multisets(outcomes, u64::from(repetitions)).is_none() {
        return Ok(None);
    }
    let mut counts = vec![0u32; pair.outcomes()];
    let mut rows: [Vec<LogIntegral>; 2] = [Vec::new(), Vec::new()];
    let log_factorial = |n: u32| libm::lgamma(f64::from(n) + 1.0);
    let mut add = |counts: &[u32]| {
        let orders = log_factorial(repetitions) - counts.iter().map(|&n| log_factorial(n)).sum::<f64>();
        for (distribution, row) in [pair.dataset(), pair.neighbor()].into_iter().zip(&mut rows) {
            let chosen = counts.iter().zip(distribution.ln_p()).filter(|(n, _)| **n > 0);
            let ln_value = orders + chosen.map(|(&n, ln_p)| f64::from(n) * ln_p).sum::<f64>();
            // Every factor has the error of its distribution, and the factorials that of their logarithms.
            let error = f64::from(repetitions) * distribution.error().max(LEAST_ERROR)
                + 8.0 * f64::EPSILON * (1.0 + log_factorial(repetitions));
            row.push(LogIntegral { ln_value, error });
        }
    };
    enumerate(&mut counts, 0, repetitions, &mut add);
    let [p, q] = rows;
    OutputPair::new(OutcomeDistribution::from_integrals(&p)?, OutcomeDistribution::from_integrals(&q)?).map(Some)
}

/// Calls `add` with every way to share `left` repetitions among the outcomes from `first` on.
fn enumerate(counts: &mut [u32], first: usize, left: u32, add: &mut impl FnMut(&[u32])) {
    if first + 1 == counts.len() {
        counts[first] = left;
        add(counts);
        return;
    }
    for n in 0..=left {
        counts[first] = n;
        enumerate(counts, first + 1, left - n, add);
    }
}

/// Multisets of `size` among `outcomes`, if there are no more than the most.
fn multisets(outcomes: u64, size: u64) -> Option<u64> {
    let mut count: u64 = 1;
    for i in 1..=size.min(MAX_OUTCOMES) {
        count = count * (outcomes + i - 1) / i;
        if count > MAX_OUTCOMES {
            return None;
        }
    }
    (size < MAX_OUTCOMES).then_some(count)
}

/// The distributions that (ε, δ) is measured on; None if there would be too many outcomes.
pub(super) fn composed_pair(pair: &DistributionPair, request: &Request) -> Result<Option<OutputPair>> {
    let repetitions = request.repetitions;
    if repetitions == 1 {
        return Ok(Some(pair.distributions.clone()));
    }
    let (mechanism, histogram) = (&request.mechanism, &request.histogram);
    if let Some(all) = mechanism.repeated(repetitions) {
        return all.output_pair(histogram, &pair.neighbor, Bins::at(None)).map(Some);
    }
    let single = composed(&pair.distributions, repetitions)?;
    if single.is_some() || mechanism.kind().data != DataKind::OneRecord || mechanism.kind().releases.is_none() {
        return Ok(single);
    }
    // As few bins as composition allows; coarser distributions are below the truth.
    for count in [64, 24, 12, 6, 3] {
        let coarse = mechanism.output_pair(histogram, &pair.neighbor, Bins { order: None, count })?;
        if let Some(distributions) = composed(&coarse, repetitions)? {
            return Ok(Some(distributions));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::super::request::Case;
    use super::*;
    use crate::bound::Direction;
    use crate::quantity::Epsilon;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    fn request(text: &str) -> Request {
        Case::from_json(text).unwrap().request
    }

    const CONFIDENT: &str = r#"{"mechanism":"confident-gnmax","sigma":2,"threshold":6,"threshold_sigma":1.5,"threshold_form":"FORM","histogram":[6,5,1],"order":2}"#;

    /// 400,000 runs as the mechanism is described; each of eight frequencies is within five standard errors, except
    /// with probability 5e-6 for all.
    #[test]
    fn confident_distributions_are_what_the_mechanism_prints() {
        for form in ["max", "per-class"] {
            let request = request(&CONFIDENT.replace("FORM", form));
            let distribution = request.mechanism.output_distribution(&request.histogram, Bins::at(None)).unwrap();
            let mut stream = ChaCha8Rng::seed_from_u64(11);
            let mut wins = [0u32; 4];
            let samples = 400_000;
            for _ in 0..samples {
                let mut normal = || -> f64 { StandardNormal.sample(&mut stream) };
                let noisy = match form {
                    "max" => 6.0 + 1.5 * normal(),
                    _ => [6.0, 5.0, 1.0].map(|n| n + 1.5 * normal()).into_iter().fold(f64::MIN, f64::max),
                };
                let votes = [6.0, 5.0, 1.0].map(|n| n + 2.0 * normal());
                let top = (0..3).max_by(|&a, &b| votes[a].total_cmp(&votes[b])).unwrap();
                wins[if noisy < 6.0 { 0 } else { 1 + top }] += 1;
            }
            for (won, p) in wins.iter().zip(distribution.p()) {
                let error = (p * (1.0 - p) / f64::from(samples)).sqrt();
                let distance = (f64::from(*won) / f64::from(samples) - p) / error;
                println!("{form}: {won} of {samples}, p = {p}, {distance:.2} standard errors");
                assert!(distance.abs() < 5.0);
            }
        }
    }

    /// With one class both forms are the same test; far thresholds keep their logarithms.
    #[test]
    fn confident_distributions_keep_their_tails() {
        let text = CONFIDENT.replace("[6,5,1]", "[6]").replace(":6,\"thr", ":T,\"thr");
        for threshold in ["-300", "6", "6.5", "300"] {
            let distribution = |form: &str| {
                let request = request(&text.replace("FORM", form).replace(":T", &format!(":{threshold}")));
                request.mechanism.output_distribution(&request.histogram, Bins::at(None)).unwrap()
            };
            let (max, per_class) = (distribution("max"), distribution("per-class"));
            for (a, b) in max.ln_p().iter().zip(per_class.ln_p()) {
                assert!((a - b).abs() <= 1e-13 * a.abs(), "{threshold}: {a} {b}");
                assert!(a.is_finite());
            }
        }
    }

    /// Two outputs written out, against the composed distribution.
    #[test]
    fn composition_by_enumeration_is_the_product() {
        let request = request(r#"{"mechanism":"gnmax","sigma":1,"histogram":[2,1,1],"order":3}"#);
        let pair = &pairs(&request, None).unwrap()[0].distributions;
        let both = composed(pair, 2).unwrap().unwrap();
        let product = |distribution: &OutcomeDistribution| {
            let p: Vec<f64> =
                distribution.p().iter().flat_map(|a| distribution.p().iter().map(move |b| a * b)).collect();
            OutcomeDistribution::from_probabilities(&p).unwrap()
        };
        let written = OutputPair::new(product(pair.dataset()), product(pair.neighbor())).unwrap();
        let epsilon = Epsilon::new(0.3).unwrap();
        let (a, b) = (both.delta(Direction::Forward, epsilon), written.delta(Direction::Forward, epsilon));
        assert!((a / b - 1.0).abs() < 1e-12, "{a} {b}");
        let order = Order::new(3.0).unwrap();
        let single = pair.renyi(Direction::Forward, order);
        assert!((both.renyi(Direction::Forward, order) / (2.0 * single) - 1.0).abs() < 1e-12);
        assert!(composed(pair, 500).unwrap().is_none());
        assert!(composed(pair, u32::MAX).unwrap().is_none());
    }
}
