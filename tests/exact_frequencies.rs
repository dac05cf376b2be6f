//! What every method makes of counts without chance: expected counts of laws whose leakage is known.

use leakbound::{
    AuditPlan, Delta, Direction, FailureProbability, Guide, Method, NoiseScale, Order, OutcomeLaw, PairedCounts,
    SetSource, Validity, VoteHistogram, audit_counts, epsilon_at_delta, noisy_argmax_law, renyi_divergence,
};

fn laws(histogram: &[u64], neighbor: &[u64], sigma: f64) -> [OutcomeLaw; 2] {
    let noise = leakbound::Noise::Gaussian(NoiseScale::new(sigma).unwrap());
    [histogram, neighbor].map(|votes| noisy_argmax_law(&VoteHistogram::new(votes.to_vec()).unwrap(), noise).unwrap())
}

/// Counts at their expected values; rounding errors go to the most frequent outcome.
fn expected([p, q]: &[OutcomeLaw; 2], n: u64) -> PairedCounts {
    let world = |law: &OutcomeLaw| {
        let mut counts: Vec<u64> = law.p().iter().map(|p| (p * n as f64).round() as u64).collect();
        let most = (0..counts.len()).fold(0, |most, c| if counts[c] > counts[most] { c } else { most });
        let others: u64 = counts.iter().enumerate().filter(|(c, _)| *c != most).map(|(_, count)| count).sum();
        counts[most] = n - others;
        counts
    };
    PairedCounts::new((0..p.outcomes()).map(|c| c.to_string()).collect(), world(p), world(q)).unwrap()
}

/// Below the truth for every n, larger for larger n, and close to what the method can reach in the end. Posteriors and
/// the bootstrap promise none of it. The e-process plays in a random order, so that it may fall a little; `gdp` bounds
/// the ε of a Gaussian trade-off, which these laws do not have.
#[test]
fn bounds_rise_with_the_sample_and_stay_below_the_truth() {
    let methods: Vec<Method> = Method::ALL
        .into_iter()
        .filter(|method| matches!(method.validity(), Validity::FiniteSample | Validity::Asymptotic))
        .collect();
    for laws in [
        laws(&[14, 12, 10, 8, 6], &[13, 13, 10, 8, 6], 2.0),
        laws(&[70, 66, 40, 30, 20, 10, 6, 4, 3, 1], &[69, 67, 40, 30, 20, 10, 6, 4, 3, 1], 40.0),
    ] {
        let [p, q] = &laws;
        let plan = AuditPlan {
            orders: [1.5, 2.0, 10.0, 64.0].map(|a| Order::new(a).unwrap()).to_vec(),
            delta: Delta::new(1e-5).unwrap(),
            failure: FailureProbability::new(0.05).unwrap(),
            methods: methods.clone(),
            directions: Direction::BOTH.to_vec(),
            seed: 0,
            resamples: 10,
        };
        let guide = Guide::from_laws(p, q, &plan.orders, &plan.directions, SetSource::ExactLaw).unwrap();
        let mut before: Vec<f64> = Vec::new();
        for digits in 2..=12 {
            let audit = audit_counts(&expected(&laws, 10u64.pow(digits)), &guide, &plan).unwrap();
            assert!(audit.skipped.is_empty());
            let mut values = Vec::new();
            for row in &audit.rdp {
                let (x, y) = if row.direction == Direction::Forward { (p, q) } else { (q, p) };
                let truth = renyi_divergence(x, y, row.order).unwrap();
                values.push((row.bound.method, row.bound.value, truth));
            }
            for row in audit.epsilon.iter().filter(|row| row.bound.method != "gdp") {
                let (x, y) = if row.direction == Direction::Forward { (p, q) } else { (q, p) };
                values.push((row.bound.method, row.bound.value, epsilon_at_delta(x, y, plan.delta).unwrap().get()));
            }
            for (at, (method, value, truth)) in values.iter().enumerate() {
                assert!(*value <= *truth, "{method}, n 1e{digits}: {value} {truth}");
                let slack = if *method == "e-process" { 0.9 } else { 1.0 };
                let least = before.get(at).map_or(0.0, |value| slack * value);
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
