//! Exact laws of the mechanisms under test, as pairs of neighbors.

use super::conversion::extreme_pairs;
use super::exact::LEAST_ERROR;
use super::printed_count::{BINS, printed_laws};
use super::request::{Mechanism, MechanismKind, Request};
use crate::error::{Error, Result};
use crate::histogram::{Adjacency, Neighbor, VoteHistogram};
use crate::law::{Noise, OutcomeLaw, ThresholdTest};
use crate::mechanism::NoisyArgmax;
use crate::quadrature::LogIntegral;
use crate::quantity::{NoiseScale, Order};

/// The laws of a mechanism under the votes of a request and under a neighbor.
pub(super) struct LawPair {
    pub p: OutcomeLaw,
    pub q: OutcomeLaw,
    pub neighbor: VoteHistogram,
}

/// From so many neighbors on only those are searched whose vote leaves or reaches one of the three largest counts.
const MANY_NEIGHBORS: usize = 24;

/// The pair of every neighbor, one for each pair of distinct counts. `order` is where printed counts are to be
/// resolved best.
pub(super) fn pairs(request: &Request, order: Option<Order>) -> Result<Vec<LawPair>> {
    let (mechanism, histogram) = (&request.mechanism, &request.histogram);
    if let Mechanism::Conversion { rdp, rdp_order } = *mechanism {
        return extreme_pairs(rdp, rdp_order);
    }
    if mechanism.kind().prints_a_count() {
        return printed_pair(request, order).map(|pair| vec![pair]);
    }
    let p = class_law(mechanism, histogram)?;
    let neighbors = match &request.neighbor {
        Some(neighbor) if histogram.adjacency_to(neighbor) == Some(Adjacency::Moved) => vec![neighbor.clone()],
        Some(_) => return Err(refused("the neighbor is not one moved vote away".into())),
        None => changes(histogram).into_iter().map(|change| histogram.neighbor(change)).collect::<Result<_>>()?,
    };
    let pair = |neighbor: VoteHistogram| Ok(LawPair { p: p.clone(), q: class_law(mechanism, &neighbor)?, neighbor });
    neighbors.into_iter().map(pair).collect()
}

/// The changes that are searched; any selection keeps a refutation sound.
fn changes(histogram: &VoteHistogram) -> Vec<Neighbor> {
    let mut all = histogram.neighbors(Adjacency::Moved);
    if all.len() > MANY_NEIGHBORS {
        let counts = histogram.counts();
        let mut order: Vec<usize> = (0..counts.len()).collect();
        order.sort_by_key(|&class| std::cmp::Reverse(counts[class]));
        let third = counts[order[2.min(order.len() - 1)]];
        all.retain(|change| match *change {
            Neighbor::Moved { from, to } => counts[from] >= third || counts[to] >= third,
            _ => true,
        });
    }
    all
}

fn printed_pair(request: &Request, order: Option<Order>) -> Result<LawPair> {
    if request.histogram.counts() != [0] {
        return Err(refused("a printed count has the histogram 0, which one vote makes 1".into()));
    }
    let neighbor = VoteHistogram::new(vec![1])?;
    let [p, q] = printed_laws(&request.mechanism, order, BINS)?;
    Ok(LawPair { p, q, neighbor })
}

fn refused(reason: String) -> Error {
    Error::Refused { operation: "case", reason }
}

/// The distribution of what is printed for these votes, where that is a class: of GNMax, LNMax, and Confident-GNMax, whose
/// first outcome is that it abstains.
fn class_law(mechanism: &Mechanism, histogram: &VoteHistogram) -> Result<OutcomeLaw> {
    match *mechanism {
        Mechanism::Gnmax { sigma } => NoisyArgmax::new(Noise::Gaussian(sigma)).distribution(histogram),
        Mechanism::Lnmax { sigma } => NoisyArgmax::new(Noise::Laplace(sigma)).distribution(histogram),
        Mechanism::ConfidentGnmax { sigma, threshold, threshold_sigma, threshold_form } => {
            let test = ThresholdTest::new(threshold, threshold_sigma, threshold_form)?;
            NoisyArgmax::new(Noise::Gaussian(sigma)).after_test(test).distribution(histogram)
        }
        Mechanism::RandomizedResponse { .. } => mechanism.response(histogram)?.distribution(only_vote(histogram)?),
        Mechanism::Gaussian { .. }
        | Mechanism::Laplace { .. }
        | Mechanism::SubsampledGaussian { .. }
        | Mechanism::Gnss { .. }
        | Mechanism::Conversion { .. }
        | Mechanism::SmoothSensitivity { .. } => {
            Err(refused(format!("{} prints no class", MechanismKind::name(mechanism.kind()))))
        }
    }
}

/// The class of the one voter of randomized response.
fn only_vote(histogram: &VoteHistogram) -> Result<usize> {
    let counts = histogram.counts();
    let one = counts.iter().fold(0u64, |sum, &count| sum.saturating_add(count)) == 1;
    let voted = counts.iter().position(|&count| count == 1).filter(|_| one);
    voted.ok_or_else(|| refused("randomized response has one voter".into()))
}

/// The most outcomes of a composed law.
const MAX_OUTCOMES: u64 = 6_000;

/// The laws of `repetitions` independent outputs; outputs in another order are one outcome, since they have the same
/// ratio of probabilities. None where there would be more than 6,000 outcomes.
///
/// By enumeration: this is where a privacy-loss distribution could take over for many repetitions.
pub(super) fn composed(pair: &LawPair, repetitions: u32) -> Result<Option<[OutcomeLaw; 2]>> {
    let outcomes = pair.p.outcomes() as u64;
    if multisets(outcomes, u64::from(repetitions)).is_none() {
        return Ok(None);
    }
    let mut counts = vec![0u32; pair.p.outcomes()];
    let mut rows: [Vec<LogIntegral>; 2] = [Vec::new(), Vec::new()];
    let log_factorial = |n: u32| libm::lgamma(f64::from(n) + 1.0);
    let mut add = |counts: &[u32]| {
        let orders = log_factorial(repetitions) - counts.iter().map(|&n| log_factorial(n)).sum::<f64>();
        for (law, row) in [&pair.p, &pair.q].into_iter().zip(&mut rows) {
            let chosen = counts.iter().zip(law.ln_p()).filter(|(n, _)| **n > 0);
            let ln_value = orders + chosen.map(|(&n, ln_p)| f64::from(n) * ln_p).sum::<f64>();
            // Every factor has the error of its law, and the factorials that of their logarithms.
            let error = f64::from(repetitions) * law.error().max(LEAST_ERROR)
                + 8.0 * f64::EPSILON * (1.0 + log_factorial(repetitions));
            row.push(LogIntegral { ln_value, error });
        }
    };
    enumerate(&mut counts, 0, repetitions, &mut add);
    let [p, q] = rows;
    Ok(Some([OutcomeLaw::from_integrals(&p)?, OutcomeLaw::from_integrals(&q)?]))
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

/// The laws that (ε, δ) is measured on; None where there would be too many outcomes.
pub(super) fn composed_pair(pair: &LawPair, request: &Request) -> Result<Option<[OutcomeLaw; 2]>> {
    let repetitions = request.repetitions;
    if repetitions == 1 {
        return Ok(Some([pair.p.clone(), pair.q.clone()]));
    }
    match request.mechanism {
        // The sum of the outputs is sufficient: one output with less noise.
        Mechanism::Gaussian { sigma } => {
            let sigma = NoiseScale::new(sigma.get() / f64::from(repetitions).sqrt())?;
            printed_laws(&Mechanism::Gaussian { sigma }, None, BINS).map(Some)
        }
        Mechanism::Laplace { .. } | Mechanism::SubsampledGaussian { .. } | Mechanism::Gnss { .. } => {
            // As few bins as composition allows; coarser laws are below the truth.
            for bins in [64, 24, 12, 6, 3] {
                let [p, q] = printed_laws(&request.mechanism, None, bins)?;
                let coarse = LawPair { p, q, neighbor: pair.neighbor.clone() };
                if let Some(laws) = composed(&coarse, repetitions)? {
                    return Ok(Some(laws));
                }
            }
            Ok(None)
        }
        _ => composed(pair, repetitions),
    }
}

#[cfg(test)]
mod tests {
    use super::super::request::Case;
    use super::*;
    use crate::divergence::{hockey_stick, renyi_divergence};
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
    fn confident_laws_are_what_the_mechanism_prints() {
        for form in ["max", "per-class"] {
            let request = request(&CONFIDENT.replace("FORM", form));
            let law = class_law(&request.mechanism, &request.histogram).unwrap();
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
            for (won, p) in wins.iter().zip(law.p()) {
                let error = (p * (1.0 - p) / f64::from(samples)).sqrt();
                let distance = (f64::from(*won) / f64::from(samples) - p) / error;
                println!("{form}: {won} of {samples}, p = {p}, {distance:.2} standard errors");
                assert!(distance.abs() < 5.0);
            }
        }
    }

    /// With one class both forms are the same test; far thresholds keep their logarithms.
    #[test]
    fn confident_laws_keep_their_tails() {
        let text = CONFIDENT.replace("[6,5,1]", "[6]").replace(":6,\"thr", ":T,\"thr");
        for threshold in ["-300", "6", "6.5", "300"] {
            let law = |form: &str| {
                let request = request(&text.replace("FORM", form).replace(":T", &format!(":{threshold}")));
                class_law(&request.mechanism, &request.histogram).unwrap()
            };
            let (max, per_class) = (law("max"), law("per-class"));
            for (a, b) in max.ln_p().iter().zip(per_class.ln_p()) {
                assert!((a - b).abs() <= 1e-13 * a.abs(), "{threshold}: {a} {b}");
                assert!(a.is_finite());
            }
        }
    }

    /// Two outputs written out, against the composed law.
    #[test]
    fn composition_by_enumeration_is_the_product() {
        let request = request(r#"{"mechanism":"gnmax","sigma":1,"histogram":[2,1,1],"order":3}"#);
        let pair = &pairs(&request, None).unwrap()[0];
        let [p, q] = composed(pair, 2).unwrap().unwrap();
        let product = |law: &OutcomeLaw| {
            let p: Vec<f64> = law.p().iter().flat_map(|a| law.p().iter().map(move |b| a * b)).collect();
            OutcomeLaw::from_probabilities(&p).unwrap()
        };
        let (p2, q2) = (product(&pair.p), product(&pair.q));
        let epsilon = Epsilon::new(0.3).unwrap();
        let (a, b) = (hockey_stick(&p, &q, epsilon).unwrap(), hockey_stick(&p2, &q2, epsilon).unwrap());
        assert!((a / b - 1.0).abs() < 1e-12, "{a} {b}");
        let order = Order::new(3.0).unwrap();
        let single = renyi_divergence(&pair.p, &pair.q, order).unwrap();
        assert!((renyi_divergence(&p, &q, order).unwrap() / (2.0 * single) - 1.0).abs() < 1e-12);
        assert!(composed(pair, 500).unwrap().is_none());
        assert!(composed(pair, u32::MAX).unwrap().is_none());
    }
}
