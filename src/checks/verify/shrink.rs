//! From a counterexample to the smallest one nearby.
//!
//! The integrated shrinking of a property-testing library would not do: it goes back through the choices of the
//! generator, and a case drawn from one family of votes (a consensus of 40,000, say) never becomes one of another.
//! Votes have their own moves: one class less, equally many votes less for every class, one vote less; and numbers
//! become rounder. A step is kept if the case gets simpler in a fixed measure and the same property still fails, so
//! shrinking ends, and it depends on the case and the accountant alone.

use super::request::{Case, Question, Request};
use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::mechanism::{DataKind, Mechanism, rounder};
use crate::quantity::{Delta, Epsilon, Order};
use std::sync::Arc;

/// The smallest case found from `case` on for which `fails` still returns something, with what it returned last, and
/// how many cases were tried: at most `limit`.
pub(super) fn shrink<T>(case: Case, found: T, limit: usize, fails: impl Fn(&Case) -> Option<T>) -> (Case, T, usize) {
    let (mut best, mut witness, mut tried) = (case, found, 0);
    'again: loop {
        let size = size(&best);
        for candidate in candidates(&best) {
            if self::size(&candidate) >= size {
                continue;
            }
            if tried == limit {
                break 'again;
            }
            tried += 1;
            if let Some(found) = fails(&candidate) {
                (best, witness) = (candidate, found);
                continue 'again;
            }
        }
        break;
    }
    (best, witness, tried)
}

/// Classes, votes and repetitions first; then how much there is to read of the numbers.
fn size(case: &Case) -> (u64, u64) {
    let request = &case.request;
    let votes: u64 = request.histogram.counts().iter().fold(0, |sum: u64, count| sum.saturating_add(*count));
    let whole = (request.histogram.classes() as u64 * 4)
        .saturating_add(votes.saturating_mul(4))
        .saturating_add(u64::from(request.repetitions - 1) * 4);
    let mut words = weight(case.factor);
    words += request.mechanism.parameters().numbers().map(|(_, number)| weight(number)).sum::<u64>();
    words += match request.question {
        Question::Order(order) => weight(order.get()),
        Question::Delta(delta) => weight(delta.get()),
        Question::Epsilon(epsilon) => weight(epsilon.get()),
    };
    (whole, words)
}

/// Digits of a number, then its distance from 1.
fn weight(value: f64) -> u64 {
    let digits = format!("{value:e}").chars().take_while(|c| *c != 'e').filter(char::is_ascii_digit).count() as u64;
    let far = if value == 0.0 { 0.0 } else { (20.0 * value.abs().ln().abs()).min(1e6) };
    1_000 * digits + far as u64
}

/// Simpler cases, the boldest first.
fn candidates(case: &Case) -> Vec<Case> {
    let mut all = Vec::new();
    let request = &case.request;
    let mut push = |request: Request| all.push(Case { request, factor: case.factor });
    for repetitions in [1, 2, request.repetitions / 2, request.repetitions - 1] {
        if repetitions >= 1 && repetitions < request.repetitions {
            push(Request { repetitions, ..request.clone() });
        }
    }
    for (histogram, fewer) in fewer_votes(request) {
        let request = Request { histogram, ..request.clone() };
        // What moves with the votes stays where it is, or where it is relative to them.
        push(request.clone());
        if let Some(mechanism) = request.mechanism.translated(-(fewer as f64)) {
            push(Request { mechanism, ..request });
        }
    }
    for mechanism in simpler_mechanisms(&*request.mechanism) {
        push(Request { mechanism, ..request.clone() });
    }
    for question in simpler_questions(request.question) {
        push(Request { question, ..request.clone() });
    }
    all.extend([2.0, 1.1].map(|factor| Case { factor, ..case.clone() }));
    all
}

/// Histograms with fewer classes or votes, each with how many votes the largest count lost.
fn fewer_votes(request: &Request) -> Vec<(VoteHistogram, u64)> {
    let counts = request.histogram.counts();
    if request.mechanism.kind().data == DataKind::OneRecord || request.neighbor.is_some() {
        return Vec::new();
    }
    let top = counts.iter().copied().max().unwrap_or(0);
    let mut all: Vec<Vec<u64>> = Vec::new();
    if counts.len() > 2 {
        for class in 0..counts.len() {
            let mut fewer = counts.to_vec();
            fewer.remove(class);
            all.push(fewer);
        }
    }
    let least = counts.iter().copied().min().unwrap_or(0);
    let each = |change: &dyn Fn(u64) -> u64| counts.iter().map(|&count| change(count)).collect::<Vec<_>>();
    all.push(each(&|count| count - least));
    // A class that keeps a vote can still give one.
    all.push(each(&|count| count - least.saturating_sub(1)));
    all.push(each(&|count| count / 2));
    all.push(each(&|count| count.saturating_sub(1)));
    for class in 0..counts.len() {
        for count in [0, 1, counts[class] / 2, counts[class].saturating_sub(1)] {
            let mut fewer = counts.to_vec();
            fewer[class] = count;
            all.push(fewer);
        }
    }
    all.retain(|fewer| fewer.iter().any(|count| *count > 0));
    let lost = |fewer: &[u64]| top.saturating_sub(fewer.iter().copied().max().unwrap_or(0));
    all.into_iter().filter_map(|fewer| Some((VoteHistogram::new(fewer.clone()).ok()?, lost(&fewer)))).collect()
}

/// The same mechanism with rounder numbers, one at a time, and what else it has nearby.
fn simpler_mechanisms(mechanism: &dyn Mechanism) -> Vec<Arc<dyn Mechanism>> {
    let parameters = mechanism.parameters();
    let mut all = Vec::new();
    for parameter in mechanism.kind().parameters.iter().filter(|parameter| !parameter.round.is_empty()) {
        let Ok(value) = parameters.number(parameter.name) else { continue };
        all.extend(
            rounder(value, parameter.round).into_iter().filter_map(|round| mechanism.with(parameter.name, round)),
        );
    }
    all.extend(mechanism.simpler());
    all
}

fn simpler_questions(question: Question) -> Vec<Question> {
    let rounder = |value: f64, round: &[f64], ask: fn(f64) -> Result<Question>| {
        rounder(value, round).into_iter().filter_map(|value| ask(value).ok()).collect()
    };
    match question {
        Question::Order(order) => {
            rounder(order.get(), &[2.0, 3.0, 5.0, 10.0, 1.5, 100.0], |value| Order::new(value).map(Question::Order))
        }
        Question::Delta(delta) => {
            rounder(delta.get(), &[0.1, 0.01, 1e-3, 1e-5], |value| Delta::new(value).map(Question::Delta))
        }
        Question::Epsilon(epsilon) => {
            rounder(epsilon.get(), &[1.0, 0.0, 0.1, 0.5], |value| Epsilon::new(value).map(Question::Epsilon))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_shrinks_to_the_edge_of_its_failure_and_no_further() {
        let text = r#"{"mechanism":"gnmax","sigma":37.123,"histogram":[40000,39,512],"repetitions":712,"order":41.77}"#;
        let case = Case::from_json(text).unwrap();
        let fails = |case: &Case| {
            let counts = case.request.histogram.counts();
            (counts.iter().sum::<u64>() >= 5 && case.request.repetitions >= 3 && counts.len() >= 2).then_some(())
        };
        let (small, (), tried) = shrink(case.clone(), (), 10_000, fails);
        assert_eq!(small.request.histogram.classes(), 2);
        assert_eq!(small.request.histogram.counts().iter().sum::<u64>(), 5);
        assert_eq!(small.request.repetitions, 3);
        assert_eq!(small.request.mechanism.to_string(), "gnmax:sigma=1");
        assert_eq!(small.request.question, Question::Order(Order::new(2.0).unwrap()));
        println!("{} after {tried}", small.json());
        let (unchanged, (), tried) = shrink(case.clone(), (), 10, |_| None);
        assert_eq!((unchanged, tried), (case, 10));
    }
}
