//! Least scales against closed forms, other programs and themselves.

use super::*;
use crate::divergence::{gaussian_sigma, gdp_delta};
use crate::quantity::Delta;
use crate::study::unwatched;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn study(text: &str, times: u64, goal: Goal) -> CalibrateStudy {
    CalibrateStudy { family: NoiseFamily::parse(text).unwrap(), histogram: None, times, goal }
}

fn epsilon(epsilon: f64, delta: f64) -> Goal {
    Goal::Epsilon { epsilon: Epsilon::new(epsilon).unwrap(), delta: Delta::new(delta).unwrap() }
}

fn share(value: f64) -> Probability {
    Probability::new(value).unwrap()
}

#[test]
fn gaussian_noise_is_that_of_the_analytic_mechanism() {
    for (e, d) in [(0.1, 1e-5), (1.0, 1e-6), (8.0, 1e-10)] {
        let truth = gaussian_sigma(Epsilon::new(e).unwrap(), Delta::new(d).unwrap()).unwrap().get();
        let answer = study("gaussian:sigma=?", 16, epsilon(e, d)).run(&unwatched).unwrap();
        let share = answer.scale.0 / (4.0 * truth);
        assert!((1.0 - 1e-9..1.0003).contains(&share), "{e} {d}: {share}");
        assert!(answer.too_little.unwrap().0 > 0.9997 * answer.scale.0 && answer.bound == ProfileKind::Gaussian);
    }
    let answer = study("gaussian:sigma=?", 25, Goal::Mu(0.5)).run(&unwatched).unwrap();
    assert!((answer.scale.0 - 10.0).abs() < 0.003, "{:?}", answer.scale);
}

/// Randomized response and Laplace noise have ε = 1/σ at δ = 0.
#[test]
fn pure_mechanisms_need_the_noise_of_their_epsilon() {
    for times in [1, 7] {
        for text in ["laplace:sigma=?", "discrete-laplace:sigma=?"] {
            let answer = study(text, times, epsilon(0.5, 0.0)).run(&unwatched).unwrap();
            let truth = 2.0 * times as f64;
            assert!(
                answer.scale.0 >= truth * (1.0 - 1e-9) && answer.scale.0 < truth * 1.0004,
                "{text}: {:?}",
                answer.scale
            );
            assert!(answer.profile.iter().all(|at| at.epsilon.0 <= 0.5 + 1e-9));
        }
    }
    let votes = VoteHistogram::new(vec![1, 0, 0]).unwrap();
    let study = CalibrateStudy {
        histogram: Some(votes),
        ..study("randomized-response:sigma=?", 1, Goal::Advantage(share(0.2)))
    };
    let answer = study.run(&unwatched).unwrap();
    // Three classes: (e^ε - 1)/(e^ε + 2).
    let e = libm::exp(answer.scale.0.recip());
    let advantage = (e - 1.0) / (e + 2.0);
    assert!(advantage <= 0.2 * (1.0 + 1e-9) && advantage > 0.2 * 0.999, "{advantage}");
}

/// A correct program never fails: goals are drawn, and the bound is checked on both sides of the scale it finds.
#[test]
fn the_bound_holds_at_the_scale_and_fails_just_below() {
    let mut stream = ChaCha8Rng::seed_from_u64(20_261_124);
    let texts =
        ["subsampled-gaussian:sigma=?,rate=0.02", "laplace:sigma=?", "discrete-gaussian:sigma=?", "gaussian:sigma=?"];
    for index in 0..12 {
        let (text, times) = (texts[index % 4], stream.random_range(1..=200));
        let rate = share(10f64.powf(stream.random_range(-3.0..-0.5)));
        let goal = match index % 5 {
            0 | 1 => epsilon(10f64.powf(stream.random_range(-1.0..1.0)), 10f64.powf(stream.random_range(-9.0..-3.0))),
            2 => Goal::TruePositiveRate { most: share(rate.get() * stream.random_range(1.1..2.5)), rate },
            3 => Goal::Advantage(share(stream.random_range(0.02..0.5))),
            _ => Goal::Posterior { most: share(stream.random_range(0.3..0.45)), prior: share(0.2), rate },
        };
        let study = study(text, times, goal);
        let answer = study.run(&unwatched).unwrap();
        let profiles = Profiles::new(study.data().unwrap(), times);
        let met = |scale: f64| {
            let profile = profiles.above(&*study.family.at(scale).unwrap(), &goal.deltas()).unwrap();
            goal.is_met(&profile.0).unwrap()
        };
        let scale = answer.scale.0;
        println!("{text} x {times}, {goal}: {scale}, too little {:?}", answer.too_little);
        assert!(met(scale) && !met(0.999 * scale), "{text} x {times}, {goal}: {scale}");
        assert!(
            answer.too_little.unwrap().0 > 0.98 * scale,
            "{text} x {times}, {goal}: {scale} {:?}",
            answer.too_little
        );
    }
}

/// μ of Laplace noise: the smallest that covers the closed profile δ(ε) = 1 - e^{(ε - 1/b)/2}.
#[test]
fn mu_covers_the_whole_profile() {
    let answer = study("laplace:sigma=?", 1, Goal::Mu(1.0)).run(&unwatched).unwrap();
    let fits = |b: f64| {
        (0..10_000).map(|step| f64::from(step) / 10_000.0 / b).all(|e| {
            let gaussian = gdp_delta(1.0, Epsilon::new(e).unwrap()).unwrap();
            -libm::expm1(0.5 * (e - 1.0 / b)) <= gaussian + Goal::SLACK
        })
    };
    let b = answer.scale.0;
    assert!(fits(b) && !fits(0.999 * b), "{b}");
    assert!(answer.too_little.unwrap().0 > 0.999 * b);
}

#[test]
fn votes_are_bounded_by_theorems() {
    let votes = VoteHistogram::new(vec![1, 0, 0]).unwrap();
    let goal = epsilon(1.0, 1e-6);
    let missing = study("lnmax:sigma=?", 10, goal);
    assert!(missing.run(&unwatched).unwrap_err().to_string().contains("lnmax:sigma=? needs a histogram"));
    let answer = CalibrateStudy { histogram: Some(votes.clone()), ..missing }.run(&unwatched).unwrap();
    assert!(answer.bound == ProfileKind::RenyiDivergences && answer.too_little.is_none());
    assert_eq!(answer.warnings[0].code, "least-by-theorems");
    let known = CalibrateStudy { histogram: Some(votes), ..study("gaussian:sigma=?", 1, goal) };
    assert!(known.run(&unwatched).unwrap_err().to_string().contains("has no histogram"));
}

/// Without a δ the largest loss decides, which adds up; Gaussian noise has none.
#[test]
fn pure_mechanisms_are_calibrated_without_a_delta() {
    let votes = || Some(VoteHistogram::new(vec![10, 0]).unwrap());
    for (family, histogram, times, scale) in [
        ("exponential:sigma=?", votes(), 1, 2.0),
        ("permute-and-flip:sigma=?", votes(), 1, 2.0),
        ("lnmax:sigma=?", votes(), 5, 10.0),
        ("above-threshold:noise=laplace,threshold=3,threshold_sigma=2,sigma=?", votes(), 1, 4.0),
        ("laplace:sigma=?", None, 3, 3.0),
        ("discrete-laplace:sigma=?", None, 1, 1.0),
        ("laplace-vector:sigma=?,counts=4", None, 1, 4.0),
        ("staircase:sigma=?", None, 1, 1.0),
        ("randomized-response:sigma=?", Some(VoteHistogram::new(vec![1, 0]).unwrap()), 2, 2.0),
    ] {
        let answer = CalibrateStudy { histogram, ..study(family, times, epsilon(1.0, 0.0)) };
        let answer = answer.run(&unwatched).unwrap();
        // Thirds and fifths are rounded up, and the scale with them.
        let found = answer.scale.0;
        assert!(
            found >= scale && found <= scale * (1.0 + 1.1e-5) && answer.bound == ProfileKind::LargestLoss,
            "{family}: {found}"
        );
        assert!(times > 1 || found == scale, "{family}: {found}");
        assert!(answer.profile.iter().all(|at| at.epsilon.0 <= 1.0), "{family}: {:?}", answer.profile);
        assert!(answer.too_little.is_none_or(|less| less.0 < scale), "{family}");
    }
    let none = [
        ("gnmax:sigma=?", votes()),
        ("confident-lnmax:sigma=?,threshold=5,threshold_sigma=2,threshold_form=max", votes()),
        ("subsampled-gaussian:sigma=?,rate=0.01", None),
        ("discrete-gaussian:sigma=?", None),
    ];
    for (family, histogram) in none {
        let answer = CalibrateStudy { histogram, ..study(family, 1, epsilon(1.0, 0.0)) };
        let error = answer.run(&unwatched).unwrap_err().to_string();
        assert!(error.contains("however much") && error.contains("set a delta above 0"), "{family}: {error}");
    }
}

#[test]
fn goals_without_an_answer_are_one_line() {
    let rejected = |study: CalibrateStudy| study.run(&unwatched).unwrap_err().to_string();
    let none = rejected(study("gaussian:sigma=?", 1, epsilon(1.0, 0.0)));
    assert!(none.contains("ε ≤ 1 at δ = 0 is not met by any noise, however much"), "{none}");
    let all = rejected(study("subsampled-gaussian:sigma=?,rate=0.01", 1, Goal::Advantage(share(0.02))));
    assert!(all.contains("advantage ≤ 0.02 holds even with sigma"), "{all}");
    assert!(rejected(study("gaussian:sigma=?", 0, epsilon(1.0, 1e-5))).contains("`times` must be at least 1"));
}
