//! Cases that look for trouble: ties, consensus, one vote, two classes, tiny and huge noise, orders near 1 and 500.

use super::property::Asks;
use super::request::{Case, Mechanism, MechanismKind, Question, Request};
use crate::histogram::VoteHistogram;
use crate::law::ThresholdForm;
use crate::quantity::{Delta, Epsilon, NoiseScale, Order, Probability};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// A case of a mechanism. Repetitions beyond 1 keep few outcomes where the laws must be composed.
pub(super) fn case(kind: MechanismKind, asks: Asks, stream: &mut ChaCha8Rng) -> Option<Case> {
    let histogram = match kind {
        _ if kind.prints_a_count() => vec![0],
        MechanismKind::RandomizedResponse => one_vote(stream, asks != Asks::Order),
        MechanismKind::SmoothSensitivity => few_votes(stream),
        _ => votes(stream, asks != Asks::Order),
    };
    let largest = histogram.iter().copied().max().unwrap_or(0);
    let repetitions = match stream.random_range(0..4u32) {
        0 | 1 => 1,
        2 => stream.random_range(2..=4),
        // RDP is composed for any number, laws for few outcomes.
        _ if asks == Asks::Order => stream.random_range(2..=1000),
        _ if histogram.len() <= 2 => stream.random_range(2..=40),
        _ => stream.random_range(2..=3),
    };
    let sigma = scale(stream)?;
    let mechanism = match kind {
        MechanismKind::Gnmax => Mechanism::Gnmax { sigma },
        MechanismKind::Lnmax => Mechanism::Lnmax { sigma },
        MechanismKind::Gaussian => Mechanism::Gaussian { sigma },
        MechanismKind::Laplace => Mechanism::Laplace { sigma },
        MechanismKind::SubsampledGaussian => Mechanism::SubsampledGaussian { sigma, rate: rate(stream)? },
        MechanismKind::RandomizedResponse => Mechanism::RandomizedResponse { sigma },
        MechanismKind::Gnss => gnss(sigma, stream)?,
        MechanismKind::Conversion => {
            Mechanism::Conversion { rdp: between(stream, 1e-4, 30.0), rdp_order: order(stream)? }
        }
        MechanismKind::SmoothSensitivity => {
            Mechanism::SmoothSensitivity { sigma, beta: *pick(stream, &[0.0, 0.01, 0.1, 0.5, 2.0]) }
        }
        MechanismKind::ConfidentGnmax => {
            let threshold_sigma = scale(stream)?;
            // Near the largest count, in units of its noise, or far from it.
            let off = stream.random_range(-3.0..3.0) * threshold_sigma.get();
            let threshold = if stream.random_bool(0.7) { largest as f64 + off } else { largest as f64 * 0.5 };
            let threshold_form = if stream.random_bool(0.5) { ThresholdForm::Max } else { ThresholdForm::PerClass };
            Mechanism::ConfidentGnmax { sigma, threshold: threshold.round(), threshold_sigma, threshold_form }
        }
    };
    let question = match asks {
        Asks::Order => Question::Order(order(stream)?),
        Asks::Delta => Question::Delta(Delta::new(delta(stream)).ok()?),
        Asks::Epsilon => Question::Epsilon(epsilon(stream)?),
    };
    let factor = *pick(stream, &[1.001, 1.1, 2.0, 3.0, 10.0]);
    let histogram = VoteHistogram::new(histogram).ok()?;
    let request = Request { mechanism, histogram, neighbor: None, repetitions, question };
    Some(Case { request, factor })
}

/// A case of at most three classes and five votes.
pub(super) fn small_case(kind: MechanismKind, asks: Asks, stream: &mut ChaCha8Rng) -> Option<Case> {
    let mut case = case(kind, asks, stream)?;
    if !kind.prints_a_count() {
        let mut counts = vec![0; stream.random_range(2..=3)];
        for _ in 0..stream.random_range(1..=5u32) {
            let class = stream.random_range(0..counts.len());
            counts[class] += 1;
        }
        let before = case.request.histogram.counts().iter().copied().max().unwrap_or(0);
        if let Mechanism::ConfidentGnmax { threshold, .. } = &mut case.request.mechanism {
            *threshold += counts.iter().copied().max().unwrap_or(0) as f64 - before as f64;
        }
        if kind == MechanismKind::RandomizedResponse {
            counts.fill(0);
            counts[0] = 1;
        }
        case.request.histogram = VoteHistogram::new(counts).ok()?;
    }
    Some(case)
}

fn pick<'a, T>(stream: &mut ChaCha8Rng, from: &'a [T]) -> &'a T {
    &from[stream.random_range(0..from.len())]
}

/// Log-uniform.
fn between(stream: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    (low.ln() + (high / low).ln() * stream.random::<f64>()).exp()
}

fn scale(stream: &mut ChaCha8Rng) -> Option<NoiseScale> {
    let value = match stream.random_range(0..10u32) {
        0..4 => *pick(stream, &[1.0, 2.0, 5.0, 10.0, 40.0]),
        4..8 => between(stream, 0.3, 60.0),
        8 => between(stream, 0.05, 0.3),
        _ => between(stream, 60.0, 1e5),
    };
    NoiseScale::new(value).ok()
}

fn order(stream: &mut ChaCha8Rng) -> Option<Order> {
    let value = match stream.random_range(0..10u32) {
        0..3 => *pick(stream, &[2.0, 3.0, 4.0, 8.0, 16.0, 32.0, 64.0]),
        3 => 1.0 + between(stream, 1e-4, 1e-2),
        4 => stream.random_range(490.0..510.0),
        _ => 1.0 + between(stream, 0.01, 500.0),
    };
    Order::new(value).ok()
}

fn delta(stream: &mut ChaCha8Rng) -> f64 {
    match stream.random_range(0..6u32) {
        0 | 1 => *pick(stream, &[1e-5, 1e-6, 1e-3, 1e-8, 1e-10]),
        2 => between(stream, 1e-2, 0.5),
        3 => between(stream, 1e-15, 1e-9),
        _ => between(stream, 1e-9, 1e-2),
    }
}

fn epsilon(stream: &mut ChaCha8Rng) -> Option<Epsilon> {
    let value = match stream.random_range(0..6u32) {
        0 => 0.0,
        1 | 2 => *pick(stream, &[0.1, 0.5, 1.0, 2.0, 5.0]),
        _ => between(stream, 1e-3, 20.0),
    };
    Epsilon::new(value).ok()
}

/// Pairs at the edges of what smooth sensitivity allows, and inside.
fn gnss(sigma: NoiseScale, stream: &mut ChaCha8Rng) -> Option<Mechanism> {
    let beta = if stream.random_bool(0.3) {
        *pick(stream, &[0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5])
    } else {
        between(stream, 1e-5, 2.0)
    };
    let width = if stream.random_bool(0.5) { 1.0 } else { between(stream, 0.01, 100.0) };
    let side = if stream.random_bool(0.7) { *pick(stream, &[-1.0, -1.0, 1.0]) } else { stream.random_range(-1.0..1.0) };
    let neighbor_width = width * libm::exp(side * beta);
    let share = if stream.random_bool(0.7) { 1.0 } else { *pick(stream, &[0.0, 0.1, 0.5]) };
    let step = share * width.min(neighbor_width);
    let (width, neighbor_width) = (NoiseScale::new(width).ok()?, NoiseScale::new(neighbor_width).ok()?);
    Some(Mechanism::Gnss { sigma, beta, step, width, neighbor_width })
}

fn rate(stream: &mut ChaCha8Rng) -> Option<Probability> {
    let value = if stream.random_bool(0.5) { *pick(stream, &[0.5, 0.1, 0.01]) } else { between(stream, 1e-4, 0.95) };
    Probability::new(value).ok()
}

/// The vote of one voter.
fn one_vote(stream: &mut ChaCha8Rng, few: bool) -> Vec<u64> {
    let classes = if few { stream.random_range(2..=5) } else { *pick(stream, &[2, 2, 3, 4, 10, 100]) };
    let mut counts = vec![0; classes];
    counts[stream.random_range(0..classes)] = 1;
    counts
}

/// At most a dozen votes of at most four classes: all neighbors of all neighbors are tried.
fn few_votes(stream: &mut ChaCha8Rng) -> Vec<u64> {
    let mut counts = vec![0; stream.random_range(2..=4)];
    for _ in 0..stream.random_range(1..=12u32) {
        // Biased to the first, so that a consensus is seen.
        let class = stream.random_range(0..counts.len()).min(stream.random_range(0..counts.len()));
        counts[class] += 1;
    }
    counts
}

/// Votes with at least one vote to move; few classes where their laws must be composed.
fn votes(stream: &mut ChaCha8Rng, few: bool) -> Vec<u64> {
    let classes = match stream.random_range(0..20u32) {
        0..9 => 2,
        9..15 => 3,
        15..18 => 4,
        _ if few => 5,
        18 => stream.random_range(5..=8),
        _ => 10,
    };
    let voters = match stream.random_range(0..10u32) {
        0..5 => stream.random_range(1..=12),
        5..9 => stream.random_range(1..=300),
        _ => between(stream, 300.0, 1e6) as u64,
    };
    let mut counts = match stream.random_range(0..6u32) {
        // A tie of all classes.
        0 => vec![voters.div_ceil(classes as u64); classes],
        // Consensus.
        1 => (0..classes).map(|class| if class == 0 { voters } else { 0 }).collect(),
        // A tie of two, the others far behind.
        2 => (0..classes).map(|class| if class < 2 { voters } else { 0 }).collect(),
        // One vote.
        3 if stream.random_bool(0.3) => (0..classes).map(|class| u64::from(class == 0)).collect(),
        // Close to a tie.
        3 => (0..classes).map(|_| voters + stream.random_range(0..=3)).collect(),
        // A gap to the rest.
        4 => (0..classes).map(|class| if class == 0 { voters } else { stream.random_range(0..=voters) }).collect(),
        _ => (0..classes).map(|_| stream.random_range(0..=voters)).collect(),
    };
    if counts.iter().all(|&count| count == 0) {
        counts[0] = 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn cases_are_legal_and_visit_every_corner() {
        let mut stream = ChaCha8Rng::seed_from_u64(3);
        let (mut ties, mut consensus, mut single, mut near_one, mut tiny, mut huge) = (0, 0, 0, 0, 0, 0);
        for _ in 0..5_000 {
            let case = case(MechanismKind::Gnmax, Asks::Order, &mut stream).unwrap();
            let again = Case::from_json(&case.json()).unwrap();
            assert_eq!(again, case);
            let counts = case.request.histogram.counts();
            let votes: u64 = counts.iter().sum();
            let most = *counts.iter().max().unwrap();
            assert!(votes > 0);
            ties += u32::from(counts.iter().filter(|count| **count == most).count() > 1);
            consensus += u32::from(votes == most);
            single += u32::from(votes == 1);
            let Question::Order(order) = case.request.question else { panic!("asked for an order") };
            near_one += u32::from(order.get() < 1.01);
            let sigma = case.request.mechanism.sigma().unwrap().get();
            tiny += u32::from(sigma < 0.3);
            huge += u32::from(sigma > 1e3);
        }
        let seen = [ties, consensus, single, near_one, tiny, huge];
        println!("{seen:?}");
        assert!(seen.iter().all(|count| *count > 50));
    }
}
