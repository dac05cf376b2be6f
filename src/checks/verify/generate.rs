//! Cases likely to expose faults: ties, consensus, one vote, two classes, tiny and huge noise, orders near 1 and 500.

use super::check::Asks;
use super::draws::order;
use super::request::{Case, Question, Request};
use crate::histogram::VoteHistogram;
use crate::mechanism::draw::{between, pick};
use crate::mechanism::{DataKind, MechanismKind};
use crate::quantity::{Delta, Epsilon};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// A case of a mechanism. Repetitions beyond 1 keep few outcomes where the distributions must be composed.
pub(super) fn case(kind: &MechanismKind, asks: Asks, stream: &mut ChaCha8Rng) -> Option<Case> {
    let histogram = (kind.draw_data)(stream, asks != Asks::Order);
    let largest = histogram.iter().copied().max().unwrap_or(0);
    let repetitions = match stream.random_range(0..4u32) {
        0 | 1 => 1,
        2 => stream.random_range(2..=4),
        // RDP is composed for any number, distributions for few outcomes.
        _ if asks == Asks::Order => stream.random_range(2..=1000),
        _ if histogram.len() <= 2 => stream.random_range(2..=40),
        _ => stream.random_range(2..=3),
    };
    let mechanism = (kind.draw)(stream, largest)?;
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
pub(super) fn small_case(kind: &MechanismKind, asks: Asks, stream: &mut ChaCha8Rng) -> Option<Case> {
    let mut case = case(kind, asks, stream)?;
    if kind.data == DataKind::OneRecord {
        return Some(case);
    }
    let mut counts = vec![0; stream.random_range(2..=3)];
    for _ in 0..stream.random_range(1..=5u32) {
        let class = stream.random_range(0..counts.len());
        counts[class] += 1;
    }
    let largest = |counts: &[u64]| counts.iter().copied().max().unwrap_or(0) as f64;
    let more = largest(&counts) - largest(case.request.histogram.counts());
    if let Some(moved) = case.request.mechanism.translated(more) {
        case.request.mechanism = moved;
    }
    if kind.data == DataKind::OneVoter {
        counts.fill(0);
        counts[0] = 1;
    }
    case.request.histogram = VoteHistogram::new(counts).ok()?;
    Some(case)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::{GNMAX, Role};
    use rand::SeedableRng;

    #[test]
    fn cases_are_legal_and_visit_every_corner() {
        let mut stream = ChaCha8Rng::seed_from_u64(3);
        let (mut ties, mut consensus, mut single, mut near_one, mut tiny, mut huge) = (0, 0, 0, 0, 0, 0);
        for _ in 0..5_000 {
            let case = case(GNMAX, Asks::Order, &mut stream).unwrap();
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
            let sigma = case.request.mechanism.numbers(Role::Noise)[0].1;
            tiny += u32::from(sigma < 0.3);
            huge += u32::from(sigma > 1e3);
        }
        let seen = [ties, consensus, single, near_one, tiny, huge];
        println!("{seen:?}");
        assert!(seen.iter().all(|count| *count > 50));
    }
}
