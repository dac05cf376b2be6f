//! What every method makes of counts without chance: expected counts of distributions whose leakage is known.

use crate::k_cut::{distributions, expected, failure, order};
use leakbound::audit::{AuditPlan, EProcess, Guide, Method, SetSource, audit_counts};
use leakbound::bound::{Direction, Validity};
use leakbound::counts::PairedCounts;
use leakbound::distribution::OutcomeDistribution;
use leakbound::divergence::{epsilon_at_delta, gdp_epsilon, renyi_divergence};
use leakbound::quantity::Delta;
use leakbound_validation::audit_cases::plan;
use statrs::distribution::{ContinuousCDF, Normal};

/// Mechanisms before and after a vote moved.
fn pairs() -> [[OutcomeDistribution; 2]; 2] {
    [
        distributions(&[14, 12, 10, 8, 6], "gaussian:2"),
        distributions(&[70, 66, 40, 30, 20, 10, 6, 4, 3, 1], "gaussian:40"),
    ]
}

/// The largest μ that any set of outcomes shows: max over sets of Φ⁻¹(P(A)) - Φ⁻¹(Q(A)). The outcomes with the largest
/// ratios are the corners of the hull of all pairs (Q(A), P(A)), and curves of equal μ are concave, so a corner is
/// best.
fn largest_mu([p, q]: [&OutcomeDistribution; 2]) -> f64 {
    let mut order: Vec<usize> = (0..p.outcomes()).collect();
    let log_ratio = |c: usize| p.ln_p()[c] - q.ln_p()[c];
    order.sort_by(|a, b| log_ratio(*b).total_cmp(&log_ratio(*a)));
    let (normal, mut sums) = (Normal::standard(), [0.0, 0.0]);
    let prefixes = order[..order.len() - 1].iter().map(|&c| {
        sums = [sums[0] + p.p()[c], sums[1] + q.p()[c]];
        normal.inverse_cdf(sums[0]) - normal.inverse_cdf(sums[1])
    });
    prefixes.fold(0.0, f64::max)
}

/// Below the truth for every n, larger for larger n, and close to what the method can reach in the end. Posteriors and
/// the bootstrap promise none of it. `gdp` is held against the ε of the largest μ that a set of outcomes shows. The
/// e-process plays recorded counts in a random order, here that of one seed; without chance it is in the next test.
#[test]
fn bounds_rise_with_the_sample_and_stay_below_the_truth() {
    let methods: Vec<Method> = Method::ALL
        .into_iter()
        .filter(|method| matches!(method.validity(), Validity::FiniteSample | Validity::Asymptotic))
        .collect();
    for distributions in pairs() {
        let [p, q] = &distributions;
        let plan = plan([1.5, 2.0, 10.0, 64.0].map(order).to_vec(), methods.clone()).unwrap();
        let plan = AuditPlan { delta: Delta::new(1e-5).unwrap(), resamples: 10, ..plan };
        let guide =
            Guide::from_distributions(p, q, &plan.orders, &plan.directions, SetSource::ExactDistribution).unwrap();
        let mut before: Vec<f64> = Vec::new();
        for digits in 2..=12 {
            let audit = audit_counts(&expected(&distributions, 10u64.pow(digits)), &guide, &plan).unwrap();
            assert!(audit.skipped.is_empty());
            let mut values = Vec::new();
            for row in &audit.rdp {
                let (x, y) = if row.direction == Direction::Forward { (p, q) } else { (q, p) };
                let truth = renyi_divergence(x, y, row.order).unwrap();
                values.push((row.bound.method, row.bound.value, truth));
            }
            for row in &audit.epsilon {
                let (x, y) = if row.direction == Direction::Forward { (p, q) } else { (q, p) };
                let truth = if row.bound.method == "gdp" {
                    gdp_epsilon(largest_mu([x, y]).max(largest_mu([y, x])), plan.delta).unwrap()
                } else {
                    epsilon_at_delta(x, y, plan.delta).unwrap()
                };
                values.push((row.bound.method, row.bound.value, truth.get()));
            }
            for (at, (method, value, truth)) in values.iter().enumerate() {
                assert!(*value <= *truth, "{method}, n 1e{digits}: {value} {truth}");
                let least = before.get(at).copied().unwrap_or(0.0);
                assert!(*value >= least, "{method}, n 1e{digits}: {value} after {least}");
            }
            before = values.iter().map(|(_, value, _)| *value).collect();
            if digits == 12 {
                for (method, value, truth) in values.iter().filter(|(method, ..)| method.starts_with("k-cut")) {
                    assert!(value / truth > 0.9, "{method}: {value} {truth}");
                }
            }
        }
    }
}

/// A stream at the expected frequencies: the bound rises from look to look, 26 of them from 100 to 10^12 pairs.
#[test]
fn the_e_process_of_a_stream_rises() {
    for distributions in pairs() {
        let [p, q] = &distributions;
        let questions = [1.5, 2.0, 10.0, 64.0].map(order);
        let mut stream = EProcess::new(p.outcomes()).unwrap();
        let mut seen = [vec![0; p.outcomes()], vec![0; p.outcomes()]];
        let mut before = vec![0.0f64; 8];
        for look in (20..=120).step_by(4) {
            let now = expected(&distributions, 10f64.powf(look as f64 / 10.0).round() as u64);
            let more = |now: &[u64], seen: &[u64]| -> Vec<u64> { now.iter().zip(seen).map(|(n, s)| n - s).collect() };
            let new = PairedCounts::new(
                now.labels().to_vec(),
                more(now.counts(), &seen[0]),
                more(now.counts_neighbor(), &seen[1]),
            )
            .unwrap();
            stream.observe_counts(&new, look).unwrap();
            seen = [now.counts().to_vec(), now.counts_neighbor().to_vec()];
            let places = questions.iter().flat_map(|&order| Direction::BOTH.map(|direction| (order, direction)));
            for ((order, direction), before) in places.zip(&mut before) {
                let (x, y) = if direction == Direction::Forward { (p, q) } else { (q, p) };
                let bound = stream.lower_bound(order, direction, failure(0.05)).value;
                assert!(bound <= renyi_divergence(x, y, order).unwrap());
                // A bound is rounded down by up to 1e-6 of itself.
                assert!(
                    bound >= (1.0 - 2e-6) * *before,
                    "look {look}, {order:?} {direction:?}: {bound} after {before}"
                );
                *before = bound;
            }
        }
    }
}
