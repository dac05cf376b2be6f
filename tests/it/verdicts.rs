//! Right claims are never refuted by rounding, and wrong ones are: `validation/reference/verdicts.json`.

use crate::json::reference;
use leakbound::bound::{Claimed, Direction};
use leakbound::histogram::{VoteChange, VoteHistogram};
use leakbound::mechanism::{Bins, RELEASES, parse};
use leakbound::quantity::{Delta, Epsilon, Order};
use leakbound::study::{Answer, Claims, ExactStudy, Searched, Study, Verdict, unwatched};
use std::collections::BTreeSet;

/// Mechanism, data, neighbor, quantity, order, δ or ε, value of 40 digits, and whether bins lose nothing of it.
type Row = (String, Vec<u64>, Vec<u64>, String, Option<f64>, String, bool);

/// The study of these claims and nothing else.
fn study(mechanism: &str, histogram: VoteHistogram, searched: Searched, claims: Claims) -> ExactStudy {
    let (orders, epsilons, deltas) = (Vec::new(), Vec::new(), Vec::new());
    ExactStudy { mechanism: parse(mechanism).unwrap(), histogram, searched, orders, epsilons, deltas, claims }
}

/// Whether a claim about the quantity of a row is refuted.
fn refuted((mechanism, data, neighbor, quantity, at, ..): &Row, claimed: f64) -> bool {
    let [data, neighbor] = [data, neighbor].map(|counts| VoteHistogram::new(counts.clone()).unwrap());
    let at = at.unwrap_or_default();
    if quantity == "delta" {
        // No claim of a study: `verify` compares it.
        let pair = parse(mechanism).unwrap().output_pair(&data, &neighbor, Bins::at(None)).unwrap();
        let epsilon = Epsilon::new(at).unwrap();
        let claimed = Claimed::new(claimed).unwrap();
        return Direction::BOTH.iter().any(|&direction| pair.delta_at_least(direction, epsilon).refutes(claimed));
    }
    let mut claims = Claims::default();
    match quantity.as_str() {
        "epsilon" => claims.epsilon = Some((Epsilon::new(claimed).unwrap(), Delta::new(at).unwrap())),
        "renyi" => claims.rdp = vec![(Order::new(at).unwrap(), Claimed::new(claimed).unwrap())],
        "mu" => claims.mu = Some(Claimed::new(claimed).unwrap()),
        other => panic!("{other} is no quantity"),
    }
    let study = study(mechanism, data, Searched::Neighbor(neighbor), claims);
    study.run(&unwatched).unwrap().verdict() == Verdict::Refuted
}

/// Above the truth, and at the nearest double, no claim is refuted; a millionth below it every claim is where the value
/// is exact.
#[test]
fn claims_at_the_truth_hold_and_those_below_do_not() {
    let rows: Vec<Row> = reference("verdicts.json");
    let mut wrong = Vec::new();
    for row in &rows {
        let truth: f64 = row.5.parse().unwrap();
        for right in [truth, truth.next_up(), truth.next_up().next_up()] {
            if refuted(row, right) {
                wrong.push(format!("{right:e} is refuted: {row:?}"));
            }
        }
        // Smaller values are not known to a millionth of themselves.
        if row.6 && truth > 1e-6 && !refuted(row, truth * (1.0 - 1e-6)) {
            wrong.push(format!("a millionth below is not refuted: {row:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), rows.len(), wrong.join("\n"));
    let kinds: BTreeSet<&str> = rows.iter().map(|row| row.0.split(':').next().unwrap()).collect();
    assert!(rows.len() > 1_500 && kinds.len() == 20, "{kinds:?}");
}

/// Every mechanism of the registry has a largest loss that no pair exceeds, or says that it has no limit.
#[test]
fn largest_losses_bound_epsilon_without_a_delta() {
    use leakbound::mechanism::LargestLoss;
    use rand::SeedableRng;
    let mut stream = rand_chacha::ChaCha8Rng::seed_from_u64(62);
    let without_delta = Delta::new(0.0).unwrap();
    for &kind in RELEASES {
        let (mut known, mut most) = (0, 0f64);
        for _ in 0..60 {
            let Some(mechanism) = (kind.draw)(&mut stream, 3) else { continue };
            // Some take two classes only.
            for counts in [kind.data.data_in_words().1, &[1, 0]] {
                let data = VoteHistogram::new(counts.to_vec()).unwrap();
                let loss = mechanism.largest_loss(&data);
                assert_ne!(loss, LargestLoss::Unknown, "{mechanism}");
                let (LargestLoss::AtMost(loss), Ok(changes)) = (loss, kind.data.neighbors(&data, true, 100)) else {
                    continue;
                };
                known += 1;
                for neighbor in changes.into_iter().filter_map(|change| data.neighbor(change).ok()) {
                    let Ok(pair) = mechanism.output_pair(&data, &neighbor, Bins::at(None)) else { continue };
                    for direction in Direction::BOTH {
                        let least = pair.epsilon_at_least(direction, without_delta).get();
                        assert!(least <= loss.get(), "{mechanism}, {data} {neighbor}: {least} {}", loss.get());
                        most = most.max(least / loss.get());
                    }
                }
            }
        }
        println!("{}: {known} of 120 are bounded, up to {most}", kind.name);
        assert!(known == 0 || most > 0.5, "{} comes to {most} of its largest loss", kind.name);
    }
}

/// Probabilities that underflow have an ε at δ = 0, here and for the worst neighbor.
#[test]
fn underflow_hides_no_epsilon() {
    for (mechanism, data, neighbor, truth) in [
        ("exponential:sigma=1", [800, 0], [799, 1], 2.0),
        ("permute-and-flip:sigma=1", [800, 0], [799, 1], 2.0),
        ("lnmax:sigma=1", [800, 0], [799, 1], 1.997_500_518_5),
        ("gnmax:sigma=1", [80, 0], [79, 1], 79.025_016_1),
        ("above-threshold:noise=laplace,threshold=1000,threshold_sigma=1,sigma=1", [0, 0], [1, 1], 0.999),
    ] {
        let [data, neighbor] = [data, neighbor].map(|counts: [u64; 2]| VoteHistogram::new(counts.to_vec()).unwrap());
        let moved = mechanism.contains("threshold");
        let delta = Delta::new(0.0).unwrap();
        let study = |searched: Searched, epsilon: f64| {
            let claims = Claims { epsilon: Some((Epsilon::new(epsilon).unwrap(), delta)), ..Claims::default() };
            ExactStudy { deltas: vec![delta], ..study(mechanism, data.clone(), searched, claims) }
        };
        let pair = || Searched::Neighbor(neighbor.clone());
        let answer = study(pair(), 0.99 * truth).run(&unwatched).unwrap();
        let found = answer.epsilon[0].epsilon_forward.0.max(answer.epsilon[0].epsilon_reverse.0);
        assert!((found / truth - 1.0).abs() < 1e-3, "{mechanism}: {found} {truth}");
        assert_eq!(answer.verdict(), Verdict::Refuted, "{mechanism}");
        assert_eq!(study(pair(), 1.01 * truth).run(&unwatched).unwrap().verdict(), Verdict::Passed, "{mechanism}");
        if !moved {
            let all = study(Searched::All(VoteChange::Moved.into()), 0.99 * truth).run(&unwatched).unwrap();
            let epsilon = all.epsilon[0].epsilon_reverse.0;
            assert!(all.verdict() == Verdict::Refuted && epsilon >= 0.999 * found, "{mechanism}");
        }
    }
}
