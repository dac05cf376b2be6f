//! Distributions of random votes against sums over all histograms.

use super::*;
use crate::special::log_ndtr;

/// ln n!.
fn ln_factorial(n: u64) -> f64 {
    (2..=n).map(|i| (i as f64).ln()).sum()
}

/// All vectors of counts with this sum, with the probability of each under Mult(k, P).
fn multinomial(k: u64, p: &[f64]) -> Vec<(Vec<i64>, f64)> {
    if p.is_empty() {
        return if k == 0 { vec![(Vec::new(), 1.0)] } else { Vec::new() };
    }
    let mut all = Vec::new();
    for first in 0..=k {
        let weight = (ln_factorial(k) - ln_factorial(first) - ln_factorial(k - first)).exp() * p[0].powi(first as i32);
        for (mut rest, q) in multinomial(k - first, &p[1..]) {
            rest.insert(0, first as i64);
            all.push((rest, q * weight));
        }
    }
    all
}

/// P(argmax(n + Z) = c) by a fine trapezoid rule, for counts of either sign.
fn winner(counts: &[i64], sigma: f64) -> Vec<f64> {
    let largest = counts.iter().copied().max().unwrap() as f64;
    let step = sigma / 12.0;
    let mut p = vec![0.0; counts.len()];
    for node in -240i32..=240 {
        let x = largest + f64::from(node) * step;
        let z: Vec<f64> = counts.iter().map(|&n| (x - n as f64) / sigma).collect();
        let total: f64 = z.iter().map(|&z| log_ndtr(z)).sum();
        for (p, &z) in p.iter_mut().zip(&z) {
            let ln_density = -0.5 * z * z - (2.0 * std::f64::consts::PI).sqrt().ln();
            *p += step / sigma * (total - log_ndtr(z) + ln_density).exp();
        }
    }
    p
}

/// The mixture of the winners over distributions of vectors that are added up.
fn mixture(parts: &[Vec<(Vec<i64>, f64)>], classes: usize, sigma: f64) -> Vec<f64> {
    let mut sums = std::collections::BTreeMap::from([(vec![0i64; classes], 1.0)]);
    for part in parts {
        let mut next = std::collections::BTreeMap::new();
        for (counts, p) in &sums {
            for (more, q) in part {
                let sum: Vec<i64> = counts.iter().zip(more).map(|(a, b)| a + b).collect();
                *next.entry(sum).or_insert(0.0) += p * q;
            }
        }
        sums = next;
    }
    let mut distribution = vec![0.0; classes];
    for (counts, p) in sums {
        for (distribution, q) in distribution.iter_mut().zip(winner(&counts, sigma)) {
            *distribution += p * q;
        }
    }
    distribution
}

fn gaussian(sigma: f64) -> Noise {
    format!("gaussian:{sigma}").parse().unwrap()
}

fn assert_close(distribution: &OutcomeDistribution, expected: &[f64], what: &str) {
    for (class, (p, expected)) in distribution.p().iter().zip(expected).enumerate() {
        assert!((p / expected - 1.0).abs() < 1e-11, "{what}: class {class}: {p} {expected}");
    }
}

const DISTRIBUTIONS: [[f64; 3]; 3] = [[0.2, 0.5, 0.3], [0.7, 0.3, 0.0], [0.01, 0.19, 0.8]];

#[test]
fn changed_voters_agree_with_enumeration() {
    for (k, sigma) in [(1, 1.0), (3, 0.4), (5, 2.0), (8, 6.0)] {
        for p in DISTRIBUTIONS {
            for changed in DISTRIBUTIONS {
                for m in 1..=k {
                    let [plain, marked] = marked_argmax_distributions(k, &p, &changed, m, gaussian(sigma)).unwrap();
                    let what = format!("k {k} m {m} P {p:?} P' {changed:?} σ {sigma}");
                    assert_close(&plain, &mixture(&[multinomial(k, &p)], 3, sigma), &what);
                    let parts = [multinomial(k - m, &p), multinomial(m, &changed)];
                    assert_close(&marked, &mixture(&parts, 3, sigma), &what);
                }
            }
        }
    }
}

#[test]
fn displaced_labels_agree_with_enumeration() {
    for (k, sigma) in [(1, 1.0), (3, 0.4), (5, 2.0), (8, 6.0)] {
        for p in DISTRIBUTIONS {
            for last in DISTRIBUTIONS {
                for (points, inclusion, label) in [(1, 0.3, 0), (1, 1.0, 2), (2, 0.6, 2), (3, 1.0, 1), (2, 0.0, 0)] {
                    if points > k {
                        continue;
                    }
                    let noise = gaussian(sigma);
                    let change = Displacement { distribution: &last, points, inclusion, label };
                    let [plain, changed] = displaced_argmax_distributions(k, &p, &change, noise).unwrap();
                    let what = format!("k {k} m {points} ν {inclusion} y' {label} P {p:?} P^k {last:?} σ {sigma}");
                    assert_close(&plain, &mixture(&[multinomial(k, &p)], 3, sigma), &what);
                    let one: Vec<(Vec<i64>, f64)> = (0..3)
                        .map(|displaced| {
                            let mut change = vec![0; 3];
                            change[label] += 1;
                            change[displaced] -= 1;
                            (change, inclusion * last[displaced])
                        })
                        .chain([(vec![0; 3], 1.0 - inclusion)])
                        .collect();
                    let mut parts = vec![multinomial(k, &p)];
                    parts.extend(std::iter::repeat_n(one, points as usize));
                    assert_close(&changed, &mixture(&parts, 3, sigma), &what);
                }
            }
        }
    }
}

/// Marks from P itself change nothing, however many; neither do points that are never included.
#[test]
fn marks_that_change_nothing_leave_the_distribution() {
    let never = Displacement { distribution: &[0.2; 5], points: 3, inclusion: 0.0, label: 2 };
    let p = [0.6, 0.3, 0.06, 0.03, 0.01];
    for (k, sigma) in [(250, 40.0), (60, 4.0), (40, 0.8)] {
        let plain = multinomial_argmax_distribution(k, &p, gaussian(sigma)).unwrap();
        let same = |distribution: &OutcomeDistribution, what: &str| {
            for (a, b) in distribution.ln_p().iter().zip(plain.ln_p()) {
                assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{what} k {k} σ {sigma}: {a} {b}");
            }
        };
        for m in [1, 4, 24] {
            let [first, second] = marked_argmax_distributions(k, &p, &p, m, gaussian(sigma)).unwrap();
            same(&first, "plain");
            same(&second, &format!("{m} marks"));
        }
        let [first, second] = displaced_argmax_distributions(k, &p, &never, gaussian(sigma)).unwrap();
        same(&first, "plain");
        same(&second, "never included");
    }
}

/// A certain vote, with noise of thousandths of a vote: the tilt of the mark is where the tails of the noise are, at
/// hundreds of thousands.
#[test]
fn hardly_any_noise_leaves_a_certain_vote() {
    for sigma in [0.0015, 0.0015179460678956729, 0.002, 0.01] {
        let noise = crate::distribution::Noise::Gaussian(crate::quantity::NoiseScale::new(sigma).unwrap());
        let distribution = marked_argmax_distribution(1, &[1.0, 0.0], &[1.0, 0.0], noise).unwrap();
        assert_eq!(distribution.p(), [1.0, 0.0], "{sigma}");
    }
}
