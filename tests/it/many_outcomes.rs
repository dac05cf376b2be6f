//! Mechanisms with many rare outcomes, most of which are never printed: what is said of the whole outcome space must
//! hold for it, and forecasts must not take rounded fractions for counts.

use leakbound::audit::{
    AuditPlan, Guide, Method, OutputSet, Rectangle, SetSource, audit_counts, expected_counts, outcome_rectangles,
    samples_to_reach, split_pilot, trade_off_band, typical_bound,
};
use leakbound::bound::Direction;
use leakbound::counts::PairedCounts;
use leakbound::distribution::OutcomeDistribution;
use leakbound::divergence::renyi_divergence;
use leakbound::quantity::{Epsilon, FailureProbability, Order};
use leakbound_validation::audit_cases::{self, FAILURE};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const AUDITS: u64 = 400;

/// Counts of n outputs of equal worlds, as a file lists them: what was seen, by the number of the class.
fn recorded(distribution: &[f64], n: usize, stream: &mut ChaCha8Rng) -> PairedCounts {
    let mut sum = 0.0;
    let add = |p: &f64| {
        sum += p;
        sum
    };
    let cumulative: Vec<f64> = distribution.iter().map(add).collect();
    let mut worlds = [vec![0u64; distribution.len()], vec![0u64; distribution.len()]];
    for world in &mut worlds {
        for _ in 0..n {
            let at = stream.random::<f64>() * cumulative[distribution.len() - 1];
            world[cumulative.partition_point(|sum| *sum <= at).min(distribution.len() - 1)] += 1;
        }
    }
    let seen: Vec<usize> = (0..distribution.len()).filter(|&class| worlds[0][class] + worlds[1][class] > 0).collect();
    let pick = |world: &[u64]| seen.iter().map(|&class| world[class]).collect();
    let labels = seen.iter().map(ToString::to_string).collect();
    PairedCounts::new(labels, pick(&worlds[0]), pick(&worlds[1])).unwrap()
}

/// Whether P of the outcomes of each set lies within its rectangle, in both of two equal worlds.
fn holds(counts: &PairedCounts, distribution: &[f64], sets: &[OutputSet], rectangles: &[Rectangle]) -> bool {
    assert_eq!(sets.len(), rectangles.len());
    sets.iter().zip(rectangles).all(|(set, rectangle)| {
        let truth: f64 =
            set.members().iter().map(|&member| distribution[counts.labels()[member].parse::<usize>().unwrap()]).sum();
        let within = |[low, high]: [leakbound::interval::ProportionLimit; 2]| low.value <= truth && truth <= high.value;
        within(rectangle.inside()) && within(rectangle.inside_neighbor())
    })
}

fn plan() -> AuditPlan {
    let methods = vec![Method::TwoCutCorner, Method::KCutBox, Method::ClopperPearson];
    let plan = audit_cases::plan(vec![Order::new(2.0).unwrap()], methods).unwrap();
    AuditPlan { resamples: 1, ..plan }
}

/// Bounds that say of equal worlds that they differ.
fn differ(counts: &PairedCounts, guide: &Guide, rectangles: &[Rectangle]) -> bool {
    let audit = audit_counts(counts, guide, &plan()).unwrap();
    let values = audit.rdp.iter().map(|row| row.bound.value).chain(audit.epsilon.iter().map(|row| row.bound.value));
    let zero = Epsilon::new(0.0).unwrap();
    let delta = |rectangle: &Rectangle| rectangle.gdp().value.max(rectangle.delta(zero, Direction::Forward).value);
    values.chain(rectangles.iter().map(delta)).any(|value| value > 0.0)
}

/// The most failures among the audits: four standard errors above the failure probability, which a correct program
/// exceeds with probability 3e-5 at most.
fn most() -> u32 {
    let audits = AUDITS as f64;
    (audits * FAILURE + 4.0 * (audits * FAILURE * (1.0 - FAILURE)).sqrt()) as u32
}

/// 5,001 classes, 1 % of the mass on 5,000 of them. Dividing by the outcomes that were seen failed in 93 %.
#[test]
fn single_outcomes_hold_whatever_was_not_seen() {
    let mut distribution = vec![0.01 / 5000.0; 5001];
    distribution[2500] = 0.99;
    let mut stream = ChaCha8Rng::seed_from_u64(5);
    let (mut wrong, mut differing) = (0, 0);
    for _ in 0..AUDITS {
        let counts = recorded(&distribution, 200, &mut stream);
        let rectangles = outcome_rectangles(&counts, FailureProbability::new(FAILURE).unwrap()).unwrap();
        let outcomes = counts.outcomes();
        let alone = |member| OutputSet::new((0..outcomes).map(|outcome| outcome == member).collect());
        let sets: Vec<OutputSet> = (0..outcomes).map(alone).collect();
        wrong += u32::from(!holds(&counts, &distribution, &sets, &rectangles));
        differing += u32::from(differ(&counts, &Guide::fixed_list(outcomes), &rectangles));
    }
    println!("{wrong} intervals and {differing} bounds of {AUDITS} audits are wrong, at most {} may be", most());
    assert!(wrong <= most() && differing <= most());
}

/// 200 classes with half of the mass on 196 of them and a pilot of thirty outputs. Sets with outcomes that the pilot
/// had not shown failed in 99 %.
#[test]
fn a_band_by_a_pilot_holds_whatever_the_pilot_did_not_show() {
    let distribution: Vec<f64> = (0..200).map(|class| if class % 50 == 0 { 0.125 } else { 0.5 / 196.0 }).collect();
    let mut stream = ChaCha8Rng::seed_from_u64(6);
    let (mut wrong, mut differing) = (0, 0);
    for seed in 0..AUDITS {
        let counts = recorded(&distribution, 300, &mut stream);
        let (pilot, rest) = split_pilot(&counts, 0.1, seed).unwrap();
        let guide = Guide::from_pilot(&pilot, &plan().orders, &Direction::BOTH).unwrap();
        let band = trade_off_band(&rest, guide.score().unwrap(), plan().failure).unwrap();
        let shown = |member: usize| pilot.counts()[member] + pilot.counts_neighbor()[member] > 0;
        for set in band.sets.iter().chain(&guide.sets.sets) {
            assert!(set.members().into_iter().all(shown));
        }
        wrong += u32::from(!holds(&rest, &distribution, &band.sets, &band.rectangles));
        differing += u32::from(differ(&rest, &guide, &band.rectangles));
    }
    println!("{wrong} intervals and {differing} bounds of {AUDITS} audits are wrong, at most {} may be", most());
    assert!(wrong <= most() && differing <= most());
}

/// Every outcome is a little more or less likely by turns.
fn striped(classes: usize, contrast: f64) -> [OutcomeDistribution; 2] {
    let distribution = |contrast: f64| {
        let of = |class: usize| (1.0 + if class.is_multiple_of(2) { contrast } else { -contrast }) / classes as f64;
        OutcomeDistribution::from_probabilities(&(0..classes).map(of).collect::<Vec<_>>()).unwrap()
    };
    [distribution(contrast), distribution(0.0)]
}

/// 3,000 outcomes, D = 0.0025: rounded fractions of 15 samples were said to certify half of it. What is forecast now is
/// what drawn audits find: with 25,800 samples (1 - 2 √(1/2n) 1.645/0.05)² = 0.5 for the limit of a mean.
#[test]
fn forecasts_with_many_outcomes_are_what_audits_find() {
    let [p, q] = striped(3000, 0.05);
    let order = plan().orders[0];
    let divergence = renyi_divergence(&p, &q, order).unwrap();
    let guide =
        Guide::from_distributions(&p, &q, &[order], &[Direction::Forward], SetSource::ExactDistribution).unwrap();
    let bound = |method: Method| {
        let guide = &guide;
        let plan = AuditPlan { methods: vec![method], directions: vec![Direction::Forward], ..plan() };
        move |counts: &PairedCounts| {
            let audit = audit_counts(counts, guide, &plan)?;
            Ok(audit.rdp_bound(method, Direction::Forward, order).unwrap().value)
        }
    };
    for method in [Method::TwoCutHalfSpace, Method::KCutVariational, Method::KCutRegion] {
        let samples = samples_to_reach(&p, &q, 0.5 * divergence, bound(method)).unwrap().unwrap();
        println!("{method}: {samples}");
        assert!((22_000..32_000).contains(&samples), "{method}: {samples}");
        let few = typical_bound(&p, &q, 16, bound(method)).unwrap();
        assert!(few < 0.1 * divergence, "{method}: {few}");
    }
    // The box of all outcomes, which needs a multiple, sees noise that expected counts do not have.
    for samples in [16, 100, 1000, 25_000] {
        for method in [Method::KCutBox, Method::TwoCutCorner, Method::TwoCutHalfSpace] {
            let share = typical_bound(&p, &q, samples, bound(method)).unwrap() / divergence;
            assert!(share <= 1.0, "{method} at {samples}: {share}");
        }
    }
    // Where counts are many, the forecast is that of the expected counts.
    let [p, q] = striped(2, 0.05);
    let all = |counts: &PairedCounts| Ok(counts.counts()[0] as f64);
    let expected = expected_counts(&p, &q, 1_000_000).unwrap().counts()[0] as f64;
    assert_eq!(typical_bound(&p, &q, 1_000_000, all).unwrap(), expected);
}
