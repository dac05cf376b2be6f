//! Extreme inputs: every public function answers with a number in its range or with an error, in bounded time, and
//! never panics.

use leakbound::accountant::{
    gaussian_rdp, gnmax_data_dependent, gnmax_data_independent, laplace_rdp, lnmax_data_independent,
    log_flip_probability,
};
use leakbound::audit::Rectangle;
use leakbound::bound::Direction;
use leakbound::counts::MAX_COUNT;
use leakbound::distribution::{
    Noise, OutcomeDistribution, marked_argmax_distribution, multinomial_argmax_distribution, noisy_argmax_distribution,
};
use leakbound::divergence::{
    RdpCurve, classic_epsilon_of_rdp, delta_of_rdp, epsilon_of_rdp, hockey_stick, renyi_divergence,
};
use leakbound::histogram::VoteHistogram;
use leakbound::interval::{BinomialCounts, clopper_pearson, clopper_pearson_lower, clopper_pearson_upper};
use leakbound::quantity::{Delta, Epsilon, FailureProbability, NoiseScale, Order};
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// Far above what any of these calls takes, also on a slow machine.
const LONG: Duration = Duration::from_secs(60);

/// Failures are mended, not kept beside the tests.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

/// 10^e for e uniform: all orders of magnitude alike.
fn magnitude(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low..high).prop_map(|exponent| 10f64.powf(exponent))
}

fn count() -> impl Strategy<Value = u64> {
    prop_oneof![0..=3u64, 0..=300u64, 0..=MAX_COUNT, Just(MAX_COUNT), Just(MAX_COUNT - 1)]
}

fn scale() -> impl Strategy<Value = f64> {
    prop_oneof![magnitude(-300.0, 300.0), magnitude(-3.0, 4.0), Just(f64::MIN_POSITIVE), Just(f64::MAX), Just(5e-324)]
}

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![
        magnitude(-15.0, 15.0).prop_map(|excess| 1.0 + excess),
        Just(f64::MAX),
        Just(1.0 + f64::EPSILON),
        Just(2.0)
    ]
    .prop_map(|a| Order::new(a).unwrap())
}

/// From 1e-300 to the last double below one.
fn failure() -> impl Strategy<Value = FailureProbability> {
    prop_oneof![
        magnitude(-300.0, -0.001),
        magnitude(-15.9, -0.1).prop_map(|rest| 1.0 - rest),
        Just(1.0 - f64::EPSILON / 2.0),
        Just(5e-324)
    ]
    .prop_map(|f| FailureProbability::new(f).unwrap())
}

fn noise(laplace: bool, scale: f64) -> Noise {
    let scale = NoiseScale::new(scale).unwrap();
    if laplace { Noise::Laplace(scale) } else { Noise::Gaussian(scale) }
}

/// A distribution is one: finite or absent logarithms, probabilities and complements in [0, 1], sum 1.
fn is_a_distribution(distribution: &OutcomeDistribution) -> Result<(), TestCaseError> {
    for class in 0..distribution.outcomes() {
        let (p, ln_p, complement) =
            (distribution.p()[class], distribution.ln_p()[class], distribution.complement()[class]);
        prop_assert!((0.0..=1.0).contains(&p) && (0.0..=1.0).contains(&complement), "{p} {complement}");
        prop_assert!(ln_p <= 0.0, "{ln_p}");
    }
    prop_assert!((distribution.p().iter().sum::<f64>() - 1.0).abs() < 1e-10);
    Ok(())
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn distributions_of_extreme_histograms_and_their_divergences(
        counts in prop::collection::vec(count(), 1..=50),
        near in any::<bool>(),
        laplace in any::<bool>(),
        scale in scale(),
        order in order(),
        epsilon in magnitude(-20.0, 300.0),
    ) {
        // Half of the cases keep the counts close together, where extreme scales still give a distribution.
        let base = counts[0].min(MAX_COUNT - 400);
        let counts: Vec<u64> = if near { counts.iter().map(|count| base + count % 300).collect() } else { counts };
        let mut moved = counts.clone();
        if moved.len() > 1 && moved[0] > 0 && moved[1] < MAX_COUNT {
            moved[0] -= 1;
            moved[1] += 1;
        }
        let noise = noise(laplace, scale);
        let start = Instant::now();
        let distribution = |counts: &[u64]| noisy_argmax_distribution(&VoteHistogram::new(counts.to_vec()).unwrap(), noise);
        let distributions = (distribution(&counts), distribution(&moved));
        prop_assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
        if let (Ok(p), Ok(q)) = &distributions {
            is_a_distribution(p)?;
            is_a_distribution(q)?;
            let divergence = renyi_divergence(p, q, order).unwrap();
            prop_assert!(divergence >= 0.0, "{divergence}");
            prop_assert_eq!(renyi_divergence(p, p, order).unwrap(), 0.0);
            let delta = hockey_stick(p, q, Epsilon::new(epsilon).unwrap()).unwrap();
            prop_assert!((0.0..=1.0).contains(&delta), "{delta}");
        } else if let Err(error) = &distributions.0 {
            // The documented reason, not a failure of the integrals.
            prop_assert!(error.to_string().contains("spread"), "{error}");
        }
    }

    #[test]
    fn limits_of_any_counts(
        trials in prop_oneof![1..=20u64, 1..=100_000u64, 1..=MAX_COUNT, Just(MAX_COUNT)],
        part in prop_oneof![0.0..=1.0f64, magnitude(-16.0, 0.0), magnitude(-16.0, 0.0).prop_map(|x| 1.0 - x)],
        failure in failure(),
    ) {
        let successes = ((trials as f64 * part) as u64).min(trials);
        let counts = BinomialCounts::new(successes, trials).unwrap();
        let start = Instant::now();
        let lower = clopper_pearson_lower(counts, failure).unwrap();
        let upper = clopper_pearson_upper(counts, failure).unwrap();
        let both = clopper_pearson(counts, failure).unwrap();
        prop_assert!(start.elapsed() < LONG);
        for limit in [lower, upper] {
            prop_assert!((0.0..=1.0).contains(&limit.value) && (0.0..=1.0).contains(&limit.complement), "{limit:?}");
            prop_assert!((limit.value + limit.complement - 1.0).abs() <= 1e-15, "{limit:?}");
        }
        let share = successes as f64 / trials as f64;
        prop_assert!(both.lower <= share && share <= both.upper, "{both:?} {share}");
        prop_assert!(failure.get() > 0.5 || (lower.value <= share && share <= upper.value), "{lower:?} {upper:?}");
    }

    #[test]
    fn bounds_from_any_counts(
        counts in prop::collection::vec((count(), 0.0..=1.0f64), 2),
        failure in failure(),
        order in order(),
        delta in prop_oneof![Just(0.0), magnitude(-300.0, -0.01)],
    ) {
        let world = |(trials, part): (u64, f64)| {
            let trials = trials.max(1);
            BinomialCounts::new(((trials as f64 * part) as u64).min(trials), trials).unwrap()
        };
        let (p, q) = (world(counts[0]), world(counts[1]));
        for rectangle in [Rectangle::four_tails(p, q, failure), Rectangle::two_tails(p, q, failure)] {
            let rectangle = rectangle.unwrap();
            for direction in Direction::BOTH {
                let (corner, termwise) = (rectangle.corner(order, direction), rectangle.termwise(order, direction));
                prop_assert!(corner.value >= termwise.value && termwise.value >= 0.0, "{corner:?} {termwise:?}");
                prop_assert!(rectangle.epsilon(Delta::new(delta).unwrap(), direction).value >= 0.0);
            }
        }
    }

    #[test]
    fn accountants_at_extreme_arguments(
        order in order(),
        scale in scale(),
        sensitivity in magnitude(-300.0, 300.0),
        ln_q in prop_oneof![magnitude(-300.0, 300.0).prop_map(|x| -x), Just(0.0), Just(f64::NEG_INFINITY), Just(1.0)],
        counts in prop::collection::vec(count(), 1..=20),
        (delta, rdp, epsilon) in (
            prop_oneof![Just(0.0), magnitude(-300.0, -0.01), Just(1.0 - f64::EPSILON)],
            prop_oneof![magnitude(-300.0, 300.0), Just(0.0), Just(f64::INFINITY)],
            prop_oneof![magnitude(-300.0, 300.0), Just(0.0), Just(f64::INFINITY)],
        ),
    ) {
        let noise_scale = NoiseScale::new(scale).unwrap();
        let independent = gnmax_data_independent(order, noise_scale);
        for value in [
            independent,
            gaussian_rdp(order, noise_scale, sensitivity),
            laplace_rdp(order, noise_scale),
            lnmax_data_independent(order, noise_scale),
        ] {
            prop_assert!(value >= 0.0, "{value}");
        }
        let flip = log_flip_probability(&VoteHistogram::new(counts).unwrap(), noise_scale);
        prop_assert!(flip <= 0.0, "{flip}");
        for ln_q in [ln_q, flip] {
            let dependent = gnmax_data_dependent(order, noise_scale, ln_q);
            prop_assert!((0.0..=independent).contains(&dependent), "{dependent} {independent}");
        }
        let (delta, epsilon) = (Delta::new(delta).unwrap(), Epsilon::new(epsilon).unwrap());
        prop_assert!(epsilon_of_rdp(rdp, order, delta).get() <= classic_epsilon_of_rdp(rdp, order, delta).get());
        let converted = delta_of_rdp(rdp, order, epsilon);
        prop_assert!((0.0..=1.0).contains(&converted), "{converted}");
        let curve = RdpCurve::new(vec![order], vec![rdp]).unwrap();
        prop_assert!(curve.epsilon(delta).0.get() >= 0.0 && curve.delta(epsilon).0 <= 1.0);
    }
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn distributions_of_extreme_random_votes(
        k in 1..=12u64,
        weights in prop::collection::vec(prop_oneof![Just(0.0), magnitude(-300.0, 0.0), 0.1..1.0f64], 2..=6),
        marks in prop::collection::vec(prop_oneof![Just(0.0), magnitude(-300.0, 0.0), 0.1..1.0f64], 6),
        scale in prop_oneof![magnitude(-1.5, 4.0), magnitude(4.0, 300.0), magnitude(-300.0, -1.5)],
    ) {
        let normalized = |weights: &[f64]| -> Vec<f64> {
            let mut weights = weights.to_vec();
            weights[0] += 0.01;
            let total: f64 = weights.iter().sum();
            weights.iter().map(|weight| weight / total).collect()
        };
        let (p, marked) = (normalized(&weights), normalized(&marks[..weights.len()]));
        let start = Instant::now();
        let distributions = [
            multinomial_argmax_distribution(k, &p, noise(false, scale)),
            marked_argmax_distribution(k, &p, &marked, noise(false, scale)),
        ];
        prop_assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
        for distribution in distributions {
            match distribution {
                Ok(distribution) => is_a_distribution(&distribution)?,
                // Noise far below one vote needs more nodes than there is time for.
                Err(error) => prop_assert!(error.to_string().contains("nodes"), "{error}"),
            }
        }
    }
}
