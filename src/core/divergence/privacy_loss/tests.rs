use super::*;
use crate::distribution::{Noise, noisy_argmax_distribution};
use crate::divergence::{RdpCurve, gdp_epsilon, hockey_stick, order_grid, renyi_divergence};
use crate::histogram::{Neighbor, VoteHistogram};
use crate::quantity::{Delta, Epsilon};
use crate::special::log_binomial_pmf;

fn distribution(p: &[f64]) -> OutcomeDistribution {
    OutcomeDistribution::from_probabilities(p).unwrap()
}

fn delta(value: f64) -> Delta {
    Delta::new(value).unwrap()
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// δ(ε) of randomized response with truth probability e^ε₀/(1+e^ε₀), n times: k true answers have loss (2k-n) ε₀.
fn randomized_response(n: u64, e0: f64, epsilon: f64) -> f64 {
    let truth = 1.0 / (1.0 + (-e0).exp());
    (0..=n)
        .map(|k| {
            let l = (2.0 * k as f64 - n as f64) * e0;
            if l > epsilon { -log_binomial_pmf(k, n, truth).exp() * (epsilon - l).exp_m1() } else { 0.0 }
        })
        .sum()
}

#[test]
fn randomized_response_is_binomial() {
    for (n, e0) in [(1u64, 1.0f64), (2, 0.3), (10, 1.1), (100, 0.1), (1000, 0.05), (50, 1e-7)] {
        let truth = 1.0 / (1.0 + (-e0).exp());
        let loss =
            PrivacyLoss::of_distributions(&distribution(&[truth, 1.0 - truth]), &distribution(&[1.0 - truth, truth]))
                .unwrap();
        for target in [0.01, 1e-5, 1e-9, 1e-12] {
            let composed = ComposedDirection::of_known(&[(loss.clone(), n)], delta(target), 1e-3).unwrap();
            let bracket = composed.epsilon(delta(target));
            assert!(bracket.lower <= bracket.upper, "{n} {e0} {target}: {bracket:?}");
            // The truth is in between: δ at the ends.
            let (low, high) = (randomized_response(n, e0, bracket.lower), randomized_response(n, e0, bracket.upper));
            assert!(
                low >= target * (1.0 - 1e-9) || bracket.lower == 0.0,
                "{n} {e0} {target}: {bracket:?} {low:e} {high:e}"
            );
            assert!(high <= target * (1.0 + 1e-9), "{n} {e0} {target}: {bracket:?} {low:e} {high:e}");
            let width = bracket.upper - bracket.lower;
            println!("{n} {e0} {target}: {bracket:?} {:.1e}", width / bracket.upper);
            assert!(width <= 1e-3 * bracket.upper, "{n} {e0} {target}: {bracket:?} {:e}", width / bracket.upper);
            for scale in [0.5, 0.9, 1.0, 1.1] {
                let at = bracket.upper * scale;
                let (found, exact) = (composed.delta(epsilon(at)), randomized_response(n, e0, at));
                assert!(
                    found.lower <= exact * (1.0 + 1e-9) && exact <= found.upper * (1.0 + 1e-9),
                    "{n} {e0} {at}: {found:?} {exact:e}"
                );
            }
        }
    }
}

/// Outcomes of four different distributions, in all combinations.
#[test]
fn few_distributions_agree_with_enumeration() {
    let pairs = [
        ([0.5, 0.3, 0.2], [0.4, 0.4, 0.2]),
        ([0.7, 0.2, 0.1], [0.69, 0.1, 0.21]),
        ([0.1, 0.1, 0.8], [0.1, 0.11, 0.79]),
        ([0.25, 0.7, 0.05], [0.3, 0.7, 0.0]),
    ];
    let distributions = pairs.map(|(p, q)| (distribution(&p), distribution(&q)));
    let mut product = vec![(1.0, 1.0)];
    for (p, q) in &distributions {
        product = product.iter().flat_map(|&(a, b)| (0..3).map(move |i| (a * p.p()[i], b * q.p()[i]))).collect();
    }
    for reverse in [false, true] {
        let losses: Vec<(PrivacyLoss, u64)> = distributions
            .iter()
            .map(|(p, q)| {
                (
                    if reverse { PrivacyLoss::of_distributions(q, p) } else { PrivacyLoss::of_distributions(p, q) }
                        .unwrap(),
                    1,
                )
            })
            .collect();
        let exact = |epsilon: f64| -> f64 {
            product
                .iter()
                .map(|&(p, q)| if reverse { (q, p) } else { (p, q) })
                .map(|(p, q): (f64, f64)| (p - epsilon.exp() * q).max(0.0))
                .sum()
        };
        for target in [0.3, 0.1, 0.06, 0.01, 1e-4] {
            let composed = ComposedDirection::of_known(&losses, delta(target), 1e-4).unwrap();
            for e in [0.0, 0.05, 0.1, 0.3, 0.7, 1.0, 1.5, 2.0, 3.0] {
                let bracket = composed.delta(epsilon(e));
                assert!(
                    bracket.lower <= exact(e) + 1e-15 && exact(e) <= bracket.upper + 1e-15,
                    "{reverse} {e}: {bracket:?} {}",
                    exact(e)
                );
            }
            let bracket = composed.epsilon(delta(target));
            println!("{reverse} {target}: {bracket:?}");
            if bracket.upper.is_finite() {
                assert!(
                    exact(bracket.upper) <= target + 1e-12 && bracket.upper - bracket.lower <= 1e-3 * bracket.upper
                );
            } else {
                assert!(!reverse && target < 0.05 && bracket.lower == f64::INFINITY);
            }
            assert!(bracket.lower == 0.0 || bracket.lower == f64::INFINITY || exact(bracket.lower) >= target - 1e-12);
        }
    }
}

/// Different queries with ten classes: narrow, below the RDP value, near the Gaussian limit.
#[test]
fn different_queries() {
    let noise: Noise = "gaussian:40".parse().unwrap();
    let queries: Vec<[OutcomeDistribution; 2]> = (0..200u64)
        .map(|query| {
            let mut counts = vec![130 - query % 77, 40 + query % 77, 20, 15, 12, 10, 8, 7, 5, 3];
            counts[(query % 7 + 2) as usize] += query % 13;
            let p = VoteHistogram::new(counts).unwrap();
            let q = p.neighbor(Neighbor::Moved { from: 0, to: 1 }).unwrap();
            [noisy_argmax_distribution(&p, noise).unwrap(), noisy_argmax_distribution(&q, noise).unwrap()]
        })
        .collect();
    let losses: Vec<(PrivacyLoss, u64)> =
        queries.iter().map(|[p, q]| (PrivacyLoss::of_distributions(p, q).unwrap(), 1)).collect();
    for target in [1e-5, 1e-30] {
        let start = std::time::Instant::now();
        let composed = ComposedDirection::of_known(&losses, delta(target), 1e-3).unwrap();
        let bracket = composed.epsilon(delta(target));
        let elapsed = start.elapsed();
        let orders: Vec<_> = order_grid().into_iter().step_by(5).filter(|order| order.get() < 200.0).collect();
        let curve = RdpCurve::from_fn(&orders, |order| {
            queries.iter().map(|[p, q]| renyi_divergence(p, q, order).unwrap()).sum()
        });
        let rdp = curve.epsilon(delta(target)).0.get();
        println!("{target}: {bracket:?} gap {:.1e}, RDP {rdp}, {elapsed:?}", bracket.upper / bracket.lower - 1.0);
        assert!(bracket.upper <= bracket.lower * 1.001 && bracket.lower <= rdp);
        if target < 1e-9 {
            continue; // beyond the limit theorem
        }
        let variance: f64 = queries
            .iter()
            .map(|[p, q]| (0..10).map(|i| p.p()[i] * (p.ln_p()[i] - q.ln_p()[i]).powi(2)).sum::<f64>())
            .sum();
        let limit = gdp_epsilon(variance.sqrt(), delta(target)).unwrap().get();
        assert!((bracket.upper / limit - 1.0).abs() < 0.05, "{limit}");
    }
}

#[test]
fn unusual_distributions() {
    let same = distribution(&[0.3, 0.7]);
    let cases = [
        (same.clone(), same.clone()),
        (distribution(&[1.0]), distribution(&[1.0])),
        (distribution(&[1.0, 0.0]), distribution(&[0.0, 1.0])),
        (distribution(&[0.1, 0.9]), distribution(&[0.0, 1.0])),
        (distribution(&[0.0, 1.0]), distribution(&[0.1, 0.9])),
        (distribution(&[1.0, 0.0]), distribution(&[0.5, 0.5])),
        (distribution(&[1e-300, 1.0]), distribution(&[1e-9, 1.0 - 1e-9])),
        (distribution(&[1e-9, 1.0 - 1e-9]), distribution(&[1e-300, 1.0])),
        (distribution(&[0.5, 0.5 - 1e-12, 1e-12]), distribution(&[0.5 - 1e-12, 0.5, 1e-12])),
        (distribution(&[0.999, 0.001]), distribution(&[0.001, 0.999])),
    ];
    for (p, q) in &cases {
        let loss = PrivacyLoss::of_distributions(p, q).unwrap();
        for times in [0, 1, 1_000_000_000_000] {
            for target in [0.0, 1e-9] {
                let target = delta(target);
                let composed = ComposedDirection::of_known(&[(loss.clone(), times)], target, 0.1).unwrap();
                let bracket = composed.epsilon(target);
                assert!(bracket.lower >= 0.0 && bracket.lower <= bracket.upper, "{p:?} {q:?} {times}: {bracket:?}");
                for e in [0.0, 1e-12, 1.0, 700.0, 1e300, f64::INFINITY] {
                    let bracket = composed.delta(epsilon(e));
                    assert!(
                        0.0 <= bracket.lower && bracket.lower <= bracket.upper && bracket.upper <= 1.0,
                        "{p:?} {q:?} {times} {e}: {bracket:?}"
                    );
                    if times == 1 && e < f64::INFINITY {
                        let exact = hockey_stick(p, q, epsilon(e)).unwrap();
                        assert!(
                            bracket.lower <= exact * (1.0 + 1e-12) + 1e-300
                                && exact <= bracket.upper * (1.0 + 1e-12) + 1e-300,
                            "{p:?} {q:?} {e}: {bracket:?} {exact:e}"
                        );
                    }
                }
            }
        }
    }
    assert!(ComposedDirection::of_known(&[], delta(1e-5), 1e-3).is_err());
    let loss = PrivacyLoss::of_distributions(&same, &same).unwrap();
    for relative in [0.0, 1.0, -1.0, f64::NAN] {
        assert!(ComposedDirection::of_known(&[(loss.clone(), 1)], delta(1e-5), relative).is_err());
    }
}

/// Five answers that are all but certain: ε at δ = 1e-5 is 0, since no set of outputs has probabilities that differ by
/// more than 1e-42, however large the losses of the rare outputs are.
#[test]
fn a_consensus_costs_nothing() {
    let noise: Noise = "gaussian:2".parse().unwrap();
    let votes = VoteHistogram::new(vec![40, 1]).unwrap();
    let p = noisy_argmax_distribution(&votes, noise).unwrap();
    for change in [Neighbor::Moved { from: 0, to: 1 }, Neighbor::Moved { from: 1, to: 0 }] {
        let q = noisy_argmax_distribution(&votes.neighbor(change).unwrap(), noise).unwrap();
        for (p, q) in [(&p, &q), (&q, &p)] {
            let loss = PrivacyLoss::of_distributions(p, q).unwrap();
            for target in [1e-5, 1e-12] {
                let bracket = ComposedDirection::of_known(&[(loss.clone(), 5)], delta(target), 1e-3)
                    .unwrap()
                    .epsilon(delta(target));
                assert_eq!((bracket.lower, bracket.upper), (0.0, 0.0), "{change:?} {target}");
            }
        }
    }
}

/// At δ = 0, ε is the largest loss of all answers.
#[test]
fn nothing_may_fail_at_delta_0() {
    let loss = PrivacyLoss::of_distributions(&distribution(&[0.75, 0.25]), &distribution(&[0.25, 0.75])).unwrap();
    let bracket = ComposedDirection::of_known(&[(loss, 5)], delta(1e-6), 1e-3).unwrap().epsilon(delta(0.0));
    let expected = 5.0 * 3f64.ln();
    assert!(bracket.lower <= expected && expected <= bracket.upper, "{bracket:?}");
    assert!(bracket.upper < expected * (1.0 + 1e-9), "{bracket:?}");
}

/// P is certain of an output that Q has with probability 1/2: after k answers δ(ε) is 1 - e^ε/2^k, as both ends show.
#[test]
fn a_loss_of_one_value_is_known_exactly() {
    let certain = PrivacyLoss::of_distributions(&distribution(&[1.0, 0.0]), &distribution(&[0.5, 0.5])).unwrap();
    let unasked = PrivacyLoss::of_distributions(&distribution(&[0.3, 0.7]), &distribution(&[0.6, 0.4])).unwrap();
    for losses in [vec![(certain.clone(), 3)], vec![(certain, 3), (unasked, 0)]] {
        let composed = ComposedDirection::of_known(&losses, delta(0.1), 1e-3).unwrap();
        for e in [0.0, 0.5, 1.0, 2.0] {
            let (found, exact) = (composed.delta(epsilon(e)), 1.0 - f64::exp(e) / 8.0);
            assert!(found.lower <= exact && exact <= found.upper, "{e}: {found:?} {exact}");
            assert!(found.upper - found.lower < 1e-10, "{e}: {found:?} {exact}");
        }
    }
}

/// Sixty answers of randomized response as one output with many rare losses, four times: the losses counted as infinite
/// take no more of the width than requested.
#[test]
fn many_rare_losses_leave_the_enclosure_as_narrow_as_asked() {
    let (n, e0) = (60, 0.1f64);
    let truth = 1.0 / (1.0 + (-e0).exp());
    let right: Vec<f64> = (0..=n).map(|k| log_binomial_pmf(k, n, truth).exp()).collect();
    let wrong: Vec<f64> = right.iter().rev().copied().collect();
    let loss = PrivacyLoss::of_distributions(&distribution(&right), &distribution(&wrong)).unwrap();
    for (target, relative) in [(1e-5, 1e-3), (1e-5, 2e-4), (1e-8, 2e-4)] {
        let bracket =
            ComposedDirection::of_known(&[(loss.clone(), 4)], delta(target), relative).unwrap().epsilon(delta(target));
        let exact = [bracket.lower, bracket.upper].map(|at| randomized_response(4 * n, e0, at));
        println!("{target} {relative}: {bracket:?} {:e}", bracket.upper / bracket.lower - 1.0);
        assert!(exact[0] >= target * (1.0 - 1e-9) && exact[1] <= target * (1.0 + 1e-9), "{bracket:?} {exact:?}");
        assert!(bracket.upper - bracket.lower <= relative * bracket.upper, "{target} {relative}: {bracket:?}");
    }
}

#[test]
fn equal_distributions_lose_exactly_nothing() {
    let loss = PrivacyLoss::of_distributions(&distribution(&[0.3, 0.7]), &distribution(&[0.3, 0.7])).unwrap();
    let composed = ComposedDirection::of_known(&[(loss, 1000)], delta(1e-5), 1e-3).unwrap();
    for found in [composed.delta(epsilon(0.0)), composed.epsilon(delta(0.0))] {
        assert_eq!((found.lower, found.upper), (0.0, 0.0));
    }
}
