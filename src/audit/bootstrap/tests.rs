use super::*;
use crate::audit::tests::{self, FIG6, LOW, failure, order};
use crate::distribution::OutcomeDistribution;
use crate::divergence::renyi_divergence;
use crate::variate::Multinomial;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn counts(distributions: [&OutcomeDistribution; 2], n: u64, seed: u64) -> PairedCounts {
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    let [x, y] = distributions.map(|distribution| {
        let mut counts = vec![0; distribution.outcomes()];
        Multinomial::new(distribution.p()).add(n, &mut stream, |outcome, count| counts[outcome] += count);
        counts
    });
    tests::counts(x, y)
}

/// Coverage, and mean of bound over truth (over 1 if the truth is 0), of two-cut and k-cut, percentile and BCa: 200
/// recordings with 500 resamples each.
fn study(distributions: [[f64; 5]; 2], n: u64) -> [(f64, f64); 4] {
    let [p, q] = distributions.map(|p| OutcomeDistribution::from_probabilities(&p).unwrap());
    let truth = renyi_divergence(&p, &q, order(2.0)).unwrap();
    let set = [OutputSet::new(vec![true, false, false, false, false])];
    let (runs, mut result) = (200, [(0.0, 0.0); 4]);
    for run in 0..runs {
        let counts = counts([&p, &q], n, run);
        let bootstrap = Bootstrap::new(&counts, &set, 500, run).unwrap();
        let cuts = [Bootstrap::two_cut, Bootstrap::k_cut];
        for (at, interval) in [BootstrapInterval::Percentile, BootstrapInterval::Bca].into_iter().enumerate() {
            for (cut, result) in cuts.iter().zip(result[2 * at..].iter_mut()) {
                let value = cut(&bootstrap, order(2.0), Direction::Forward, failure(0.05), interval).value;
                result.0 += f64::from(u8::from(value <= truth)) / runs as f64;
                result.1 += value / if truth > 0.0 { truth } else { 1.0 } / runs as f64;
            }
        }
    }
    println!("n = {n}: (coverage, bound/truth) two-cut, k-cut, BCa two-cut, BCa k-cut {result:.3?}");
    result
}

/// Why these bounds are heuristic: at divergence 0, every percentile bound is wrong.
#[test]
fn percentile_bounds_never_cover_zero() {
    for n in [10_000, 100_000] {
        let [two, k, ..] = study([FIG6[1]; 2], n);
        // A bound is 0 only if more than 5% of the resampled divergences are exactly 0, which requires equal counts.
        assert!(two.0 < 0.02 && k.0 == 0.0);
    }
}

/// The prototype's coverage and tightness in 200 recordings: standard errors of both together are below 0.035.
#[test]
fn coverage_and_tightness_are_those_of_the_literature() {
    for (distributions, n, two, k) in [
        (FIG6, 10_000, (0.995, 0.896), (0.970, 0.926)),
        (LOW, 100_000, (0.975, 0.495), (0.910, 0.699)),
        (LOW, 1_000_000, (0.990, 0.756), (0.900, 0.873)),
    ] {
        let found = study(distributions, n);
        for ((coverage, tightness), expected) in found.into_iter().zip([two, k]) {
            assert!((coverage - expected.0).abs() < 0.07 && (tightness - expected.1).abs() < 0.05);
        }
    }
    let [_, k, ..] = study(LOW, 10_000);
    assert!((k.0 - 0.605).abs() < 0.12 && (k.1 - 1.01).abs() < 0.15);
}

/// Against z₀ and the level by mpmath with 30 digits.
#[test]
fn the_corrected_level_is_that_of_efron() {
    assert!((corrected_level(0.05, 0.0, 0.0) - 0.05).abs() < 1e-15);
    for (failure, bias, acceleration, expected) in LEVELS {
        let level = corrected_level(failure, bias, acceleration);
        assert!((level / expected - 1.0).abs() < 1e-12, "{level} {expected}");
    }
    assert_eq!(corrected_level(0.05, -1.0, -0.5), 0.0);
    assert_eq!(bias(&[1.0, 2.0, 3.0, 4.0], 2.5), 0.0);
    assert!((bias(&[1.0, 2.0, 3.0, 4.0], 2.0) - ndtri(0.375)).abs() < 1e-15);
}

/// γ, z₀, a and Φ(z₀ + (z₀ + z)/(1 - a(z₀ + z))); from validation/reference/scripts/bca_levels.py.
const LEVELS: [(f64, f64, f64, f64); 4] = [
    (5.000000e-02, -0.25, 0.02, 0.018962416042569466),
    (5.000000e-02, 0.3, -0.05, 0.12676766187851954),
    (1.000000e-06, -0.5, 0.01, 1.9958945282469948e-8),
    (3.000000e-01, 0.1, 0.2, 0.38545079677302741),
];

#[test]
fn the_warning_is_due_where_the_signal_is_small() {
    let doubtful = |distributions: [[f64; 5]; 2], n| {
        let [p, q] = distributions.map(|p| OutcomeDistribution::from_probabilities(&p).unwrap());
        let counts = counts([&p, &q], n, 0);
        let bootstrap = Bootstrap::new(&counts, &[], 200, 0).unwrap();
        let bound = bootstrap.k_cut(order(2.0), Direction::Forward, failure(0.05), BootstrapInterval::Percentile);
        println!("n χ² = {:.0}, bound {}", bootstrap.signal(), bound.value);
        bootstrap.is_doubtful(&bound)
    };
    assert!(doubtful([FIG6[0]; 2], 1_000_000) && doubtful(LOW, 100_000));
    assert!(!doubtful(FIG6, 10_000) && !doubtful(LOW, 10_000_000));
}

#[test]
fn no_input_panics_and_no_bound_is_nan_or_infinite() {
    let big = 1_000_000_000_000;
    for (x, y) in [
        (vec![1], vec![1]),
        (vec![1, 0], vec![0, 1]),
        (vec![0, 0, 7], vec![0, 0, 9]),
        (vec![big, 1, 0], vec![big, 0, 1]),
        (vec![1 << 53, 0], vec![1, 1]),
        (vec![big, big - 1], vec![big - 1, big]),
        (vec![3; 200], vec![2; 200]),
    ] {
        let counts = tests::counts(x.clone(), y);
        let set = OutputSet::new((0..x.len()).map(|c| c == 0).collect());
        let bootstrap = Bootstrap::new(&counts, &[set], 100, 1).unwrap();
        for a in [1.0 + f64::EPSILON, 2.0, 64.0, 1e20, f64::MAX] {
            for f in [1e-300, 0.05, 0.999] {
                for direction in Direction::BOTH {
                    for interval in [BootstrapInterval::Percentile, BootstrapInterval::Bca] {
                        for cut in [Bootstrap::two_cut, Bootstrap::k_cut] {
                            let value = cut(&bootstrap, order(a), direction, failure(f), interval).value;
                            assert!(value >= 0.0 && value.is_finite(), "{a} {f} {value}");
                        }
                    }
                }
            }
        }
    }
    let counts = PairedCounts::new(vec!["a".into()], vec![1], vec![1]).unwrap();
    assert!(Bootstrap::new(&counts, &[], 99, 0).is_err() && Bootstrap::new(&counts, &[], 1_000_001, 0).is_err());
    assert!(Bootstrap::new(&counts, &[OutputSet::new(vec![true, false])], 100, 0).is_err());
    let none = Bootstrap::new(&counts, &[], 100, 0).unwrap();
    let bound = none.two_cut(order(2.0), Direction::Forward, failure(0.05), BootstrapInterval::Percentile);
    assert_eq!(bound.value, 0.0);
}
