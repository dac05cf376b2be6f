//! Local sensitivities compared with brute force over all histograms.

use super::*;
use crate::histogram::VoteChange;
use std::collections::HashMap;

fn histograms(votes: u64, classes: usize) -> Vec<Vec<u64>> {
    if classes == 1 {
        return vec![vec![votes]];
    }
    (0..=votes)
        .flat_map(|first| {
            histograms(votes - first, classes - 1).into_iter().map(move |mut rest| {
                rest.insert(0, first);
                rest
            })
        })
        .collect()
}

/// Number of moves between two histograms with the same number of votes.
fn distance(a: &[u64], b: &[u64]) -> usize {
    a.iter().zip(b).map(|(a, b)| a.saturating_sub(*b)).sum::<u64>() as usize
}

/// For every histogram of k ≤ 12 votes in C ≤ 4 classes and every distance, the bound is above the truth, and so is the
/// smooth sensitivity.
#[test]
fn bounds_hold_for_every_small_histogram() {
    let mut checked = 0;
    let mut closest = [f64::INFINITY; 2];
    for (votes, classes) in [(1, 2), (2, 3), (5, 2), (6, 2), (7, 3), (12, 2), (12, 3), (9, 4), (12, 4)] {
        let all = histograms(votes, classes);
        for (sigma, order) in
            [(0.1, 3.0), (0.3, 2.0), (0.7, 1.5), (1.0, 2.0), (1.5, 3.0), (2.0, 1.2), (3.0, 8.0), (4.0, 2.0)]
        {
            let (sigma, order) = (NoiseScale::new(sigma).unwrap(), Order::new(order).unwrap());
            let sensitivity = GnmaxSensitivity::new(order, sigma, classes).unwrap();
            let monotone = sensitivity.cells.is_none();
            // LS of a histogram by its sorted counts.
            let mut own: HashMap<Vec<u64>, f64> = HashMap::new();
            for counts in &all {
                let histogram = VoteHistogram::new(counts.clone()).unwrap();
                let here = sensitivity.cost(&histogram);
                let largest = histogram.neighbors(VoteChange::Moved).into_iter().fold(0.0, |largest: f64, change| {
                    largest.max((sensitivity.cost(&histogram.neighbor(change).unwrap()) - here).abs())
                });
                own.insert(counts.clone(), largest);
            }
            for counts in all.iter().filter(|counts| counts.windows(2).all(|pair| pair[0] >= pair[1])) {
                let mut truth = vec![0.0f64; votes as usize + 1];
                for other in &all {
                    let d = distance(counts, other);
                    truth[d] = truth[d].max(own[other]);
                }
                let bounds = sensitivity.local(&VoteHistogram::new(counts.clone()).unwrap()).unwrap();
                let (mut most, mut bound) = (0.0f64, 0.0f64);
                for d in 0..truth.len() {
                    (most, bound) = (most.max(truth[d]), bound.max(bounds[d]));
                    assert!(most <= bound * (1.0 + 1e-9) + 1e-300, "{counts:?} {sigma} {order} {d}: {most} {bound}");
                    let side = &mut closest[usize::from(monotone)];
                    *side = if most > 1e-9 { side.min(bound / most) } else { *side };
                    checked += 1;
                }
                for beta in [0.05, 0.3, 2.0] {
                    let [smooth, exact] = [&bounds, &truth].map(|local| smooth_sensitivity(local, beta).unwrap());
                    assert!(exact <= smooth * (1.0 + 1e-9), "{counts:?} {sigma} {order} {beta}: {exact} {smooth}");
                }
            }
        }
    }
    println!("{checked} distances; smallest ratio of bound and truth {closest:?}, on a grid and in the monotone case");
    assert!(checked > 6000 && closest.iter().all(|ratio| *ratio < 1.1), "{checked} {closest:?}");
}

/// At the parameters of the literature, the cost increases with q; at some of them, its increments do not.
#[test]
fn usual_parameters_have_a_sensitivity() {
    for sigma in [20.0, 40.0, 100.0, 250.0] {
        for order in [1.5, 2.0, 5.0, 10.0, 20.0, 50.0] {
            for classes in [2, 10, 100] {
                let (sigma, order) = (NoiseScale::new(sigma).unwrap(), Order::new(order).unwrap());
                let sensitivity = GnmaxSensitivity::new(order, sigma, classes).unwrap();
                let monotone = GnmaxSensitivity { cells: None, ..sensitivity.clone() };
                let mut counts = vec![0; classes];
                (counts[0], counts[1]) = (170, 80);
                let votes = VoteHistogram::new(counts).unwrap();
                // The greedy moves are a lower bound on the grid's value, which is close to them.
                let [bound, greedy] = [&sensitivity, &monotone].map(|one| one.smooth(&votes, 0.02).unwrap());
                assert!(bound >= greedy * (1.0 - 1e-9), "{sigma} {order} {classes}: {bound} {greedy}");
                println!("{sigma} {order} {classes}: {:?} {}", sensitivity.cells.is_some(), bound / greedy);
            }
        }
    }
}

#[test]
fn no_input_panics() {
    for (order, sigma) in [(1.0 + 1e-12, 1e-3), (2.0, 1e-6), (1e6, 40.0), (64.0, 1e6), (1e300, 1.0), (2.0, 1e300)] {
        for classes in [1, 2, 1000] {
            let (order, sigma) = (Order::new(order).unwrap(), NoiseScale::new(sigma).unwrap());
            if let Ok(sensitivity) = GnmaxSensitivity::new(order, sigma, classes) {
                let mut counts = vec![0; classes];
                counts[classes - 1] = 50;
                let local = sensitivity.local(&VoteHistogram::new(counts).unwrap()).unwrap();
                assert!(local.iter().all(|value| *value >= 0.0 && value.is_finite()), "{order} {sigma} {classes}");
            }
        }
    }
    let sensitivity = GnmaxSensitivity::new(Order::new(8.0).unwrap(), NoiseScale::new(40.0).unwrap(), 2).unwrap();
    assert!(sensitivity.local(&VoteHistogram::new(vec![1 << 40, 0]).unwrap()).is_err());
    assert!(sensitivity.local(&VoteHistogram::new(vec![0, 0]).unwrap()).is_ok());
    assert!(sensitivity.smooth(&VoteHistogram::new(vec![9, 1]).unwrap(), f64::NAN).is_err());
}

/// Smooth sensitivities of neighbors differ by a factor of at most e^β, with and without the monotone condition:
/// otherwise the noise of a release proportional to it would distinguish them.
#[test]
fn neighbors_differ_by_no_more_than_promised() {
    let mut worst: f64 = 0.0;
    for (votes, classes) in [(1, 2), (2, 3), (5, 2), (6, 2), (7, 3), (12, 2), (6, 4)] {
        for (sigma, order) in [(0.7, 1.5), (1.0, 2.0), (1.5, 3.0), (3.0, 8.0), (4.0, 2.0)] {
            let (order, scale) = (Order::new(order).unwrap(), NoiseScale::new(sigma).unwrap());
            let Ok(sensitivity) = GnmaxSensitivity::new(order, scale, classes) else { continue };
            for counts in histograms(votes, classes) {
                let one = VoteHistogram::new(counts).unwrap();
                let local = sensitivity.local(&one).unwrap();
                for change in one.neighbors(VoteChange::Moved) {
                    let other = sensitivity.local(&one.neighbor(change).unwrap()).unwrap();
                    for beta in [0.05, 0.3, 2.0] {
                        let [x, y] = [&local, &other].map(|local| smooth_sensitivity(local, beta).unwrap());
                        worst = worst.max(x / (y * beta.exp()));
                    }
                }
            }
        }
    }
    assert!(worst <= 1.0 + 1e-9, "{worst}");
}

/// The largest of e^{-βd} times the local sensitivity at distance d, wherever it is.
#[test]
fn distant_sensitivities_are_discounted_by_their_distance() {
    assert_eq!(smooth_sensitivity(&[2.0, 1.0], 1.0).unwrap(), 2.0);
    assert_eq!(smooth_sensitivity(&[1.0, 1.0, 5.0], 0.5).unwrap(), 5.0 * libm::exp(-1.0));
}

/// Just below q₀ the data-dependent cost is the smaller one, and it is at most equal at q₀.
#[test]
fn the_costs_cross_at_q0() {
    for (order, sigma) in [(2.0, 1.0), (2.0, 5.0), (8.0, 10.0), (1.5, 3.0), (30.0, 40.0)] {
        let (order, sigma) = (Order::new(order).unwrap(), NoiseScale::new(sigma).unwrap());
        let crossing = log_q0(order, sigma).unwrap();
        let independent = gnmax_data_independent(order, sigma);
        assert!(gnmax_data_dependent(order, sigma, crossing * (1.0 + 1e-9)) < independent, "{order} {sigma}");
    }
}

/// Close to order 1 with little noise, the cost of most votes is a constant: the possible loss to underflow.
#[test]
fn a_cost_that_underflows_is_not_taken_for_a_decrease() {
    for classes in [2, 5] {
        let (order, sigma) = (Order::new(1.0 + 1e-9).unwrap(), NoiseScale::new(0.1).unwrap());
        let sensitivity = GnmaxSensitivity::new(order, sigma, classes).unwrap();
        assert!(sensitivity.cost_at(-2000.0) == sensitivity.cost_at(-3000.0) && sensitivity.cost_at(-2000.0) > 0.0);
    }
}

/// q₀ is where the conditions of the theorem hold, even with little noise: μ₂ > 1 and q small enough from (1 + 1/σ)²
/// on.
#[test]
fn the_crossing_is_where_the_theorem_holds() {
    for (sigma, order) in [(0.3, 1.5), (0.5, 1.5), (0.7, 1.2), (2.0, 3.0)] {
        let (noise, order) = (NoiseScale::new(sigma).unwrap(), Order::new(order).unwrap());
        let found = GnmaxSensitivity::new(order, noise, 2).unwrap().log_q0();
        assert!(found <= -(1.0 + 1.0 / sigma).powi(2) * (1.0 - 1e-12), "{sigma}: {found}");
    }
}
