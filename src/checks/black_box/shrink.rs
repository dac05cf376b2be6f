//! Smaller pairs of neighbors that may show the same violation.

use super::dataset::{Dataset, plain};
use super::neighbors::{Domain, Pair};
use crate::relation::Relation;
use serde_json::Value;
use std::collections::HashSet;

/// Pairs of neighbors that are smaller than a given one: fewer records first, then fewer different ones, then rounder
/// numbers. Each step of a shrinking takes the first of them that still shows what the given one shows, and continues
/// from there.
///
/// Records are only left out, replaced by others of the same pair, or rounded inside the domain, because no other
/// records are known to be legal. Under a norm, entries are left out, made equal, moved to zero or rounded, and the
/// difference of the two datasets stays the same or becomes smaller.
///
/// # References
/// Zeller and Hildebrandt (2002), "Simplifying and isolating failure-inducing input", for the order of the steps.
///
/// # Example
/// ```
/// # use leakbound::black_box::{Pair, Shrink};
/// # use leakbound::relation::Relation;
/// let pair = Pair { dataset: "[3, 1, 2]".parse()?, neighbor: "[3, 1]".parse()?, pattern: "one removed".into() };
/// let shrink = Shrink { relation: Some(Relation::AddRemove), domain: None };
/// let smallest = shrink.smaller(&pair).next().unwrap();
/// assert_eq!((smallest.dataset.to_string(), smallest.neighbor.to_string()), ("[2]".into(), "[]".into()));
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Shrink {
    /// Which datasets are neighbors. Without it, the pair must remain one in which all but the first and the last
    /// records are untouched.
    pub relation: Option<Relation>,
    /// The legal numbers of a record.
    pub domain: Option<Domain>,
}

/// Records that replace others, and places of a long dataset where they do so one by one.
const MOST_KINDS: usize = 8;
const MOST_PLACES: usize = 64;

/// What makes a pair large: records, records that differ, different records, numbers that are not 0, characters.
type Size = (usize, usize, usize, usize, usize);

impl Shrink {
    /// Smaller pairs, those that are smaller by most first, one after another: a long dataset has many of them.
    pub fn smaller<'a>(&self, pair: &'a Pair) -> impl Iterator<Item = Pair> + 'a {
        let (relation, domain) = (self.relation, self.domain);
        let size = size(pair);
        let inside = move |pair: &Pair| {
            let mut records = pair.dataset.records().iter().chain(pair.neighbor.records());
            domain
                .is_none_or(|domain| records.all(|record| record.as_f64().is_none_or(|number| domain.contains(number))))
        };
        // What a domain forbids does not come in by shrinking.
        let is_inside = inside(pair);
        let candidates = match relation {
            Some(Relation::L1(_) | Relation::Linf(_)) => of_vectors(pair),
            Some(Relation::AddRemove | Relation::ReplaceOne) | None => self.of_lists(pair),
        };
        let mut seen = HashSet::new();
        candidates.filter(move |next| {
            let smaller = next.dataset != next.neighbor && self::size(next) < size;
            let admitted = || relation.is_none_or(|relation| next.dataset.is_neighbor(&next.neighbor, relation));
            smaller
                && admitted()
                && (!is_inside || inside(next))
                && seen.insert((next.dataset.clone(), next.neighbor.clone()))
        })
    }

    fn of_lists<'a>(&self, pair: &'a Pair) -> Box<dyn Iterator<Item = Pair> + 'a> {
        let (aligned, domain) = (Aligned::of(pair), self.domain);
        let common = aligned.common();
        let mut kinds = distinct(pair);
        kinds.truncate(MOST_KINDS);
        let fewer = chunks(common).map(move |chunk| aligned.without(pair, &chunk));
        let with_all = kinds.clone().into_iter();
        let equal = with_all.map(move |kind| aligned.with(pair, &(0..common).collect::<Vec<_>>(), &kind));
        let places = move || 0..common.min(MOST_PLACES);
        let replaced = places().flat_map(move |place| {
            let kinds = kinds.clone();
            kinds.into_iter().map(move |kind| aligned.with(pair, &[place], &kind))
        });
        let rounded = places().flat_map(move |place| {
            let number = domain.and_then(|_| aligned.record(pair, place).as_f64());
            let rounder = number.into_iter().flat_map(rounder);
            let legal = rounder.filter(move |&number| domain.is_some_and(|domain| domain.contains(number)));
            legal.map(move |number| aligned.with(pair, &[place], &plain(number)))
        });
        Box::new(fewer.chain(equal).chain(replaced).chain(rounded))
    }
}

/// Two lists that begin and end alike.
#[derive(Clone, Copy)]
struct Aligned {
    front: usize,
    back: usize,
}

impl Aligned {
    fn of(pair: &Pair) -> Self {
        let (a, b) = (pair.dataset.records(), pair.neighbor.records());
        let front = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let rest = a.len().min(b.len()) - front;
        let back = a.iter().rev().zip(b.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
        Self { front, back }
    }

    fn common(&self) -> usize {
        self.front + self.back
    }

    /// The place of a common record in a list of this length.
    fn place(&self, common: usize, length: usize) -> usize {
        if common < self.front { common } else { length - self.back + common - self.front }
    }

    fn record<'a>(&self, pair: &'a Pair, common: usize) -> &'a Value {
        let records = pair.dataset.records();
        &records[self.place(common, records.len())]
    }

    fn each(pair: &Pair, change: impl Fn(&[Value]) -> Vec<Value>) -> Pair {
        let changed = |dataset: &Dataset| Dataset::new(change(dataset.records()));
        Pair { dataset: changed(&pair.dataset), neighbor: changed(&pair.neighbor), pattern: pair.pattern.clone() }
    }

    fn without(&self, pair: &Pair, common: &[usize]) -> Pair {
        Self::each(pair, |records| {
            let gone: HashSet<usize> = common.iter().map(|&common| self.place(common, records.len())).collect();
            records.iter().enumerate().filter(|(at, _)| !gone.contains(at)).map(|(_, record)| record.clone()).collect()
        })
    }

    fn with(&self, pair: &Pair, common: &[usize], kind: &Value) -> Pair {
        Self::each(pair, |records| {
            let mut records = records.to_vec();
            for &common in common {
                let at = self.place(common, records.len());
                records[at] = kind.clone();
            }
            records
        })
    }
}

/// All of this many places, then each half of them, each quarter, and so on to single ones.
fn chunks(length: usize) -> impl Iterator<Item = Vec<usize>> {
    let sizes = std::iter::successors(Some(length), |&size| (size > 1).then(|| size.div_ceil(2)));
    sizes
        .filter(|&size| size > 0)
        .flat_map(move |size| (0..length).step_by(size).map(move |start| (start..(start + size).min(length)).collect()))
}

/// The different records of a pair, the shortest first.
fn distinct(pair: &Pair) -> Vec<Value> {
    let mut seen = HashSet::new();
    let records = pair.dataset.records().iter().chain(pair.neighbor.records());
    let mut kinds: Vec<Value> = records.filter(|record| seen.insert(*record)).cloned().collect();
    kinds.sort_by_cached_key(|kind| kind.to_string().len());
    kinds
}

/// Rounder numbers than this one, the roundest first.
fn rounder(number: f64) -> impl Iterator<Item = f64> {
    let digits = |digits: usize| format!("{number:.digits$e}").parse::<f64>().ok();
    let all = [Some(0.0), Some(number.round()), digits(0), digits(1), digits(2)];
    all.into_iter().flatten().filter(move |rounder| *rounder != number && rounder.is_finite())
}

/// Two vectors of one length.
#[derive(Clone)]
struct Vectors<'a> {
    a: Vec<f64>,
    b: Vec<f64>,
    pattern: &'a str,
}

impl Vectors<'_> {
    fn pair(&self, a: &[f64], b: &[f64]) -> Pair {
        let (dataset, neighbor) = (Dataset::of_numbers(a), Dataset::of_numbers(b));
        Pair { dataset, neighbor, pattern: self.pattern.to_owned() }
    }

    fn places(&self, which: fn(f64, f64) -> bool) -> Vec<usize> {
        (0..self.a.len()).filter(|&at| which(self.a[at], self.b[at])).collect()
    }

    fn without(&self, gone: &[usize]) -> Pair {
        let gone: HashSet<&usize> = gone.iter().collect();
        let left = |of: &[f64]| -> Vec<f64> {
            of.iter().enumerate().filter(|(at, _)| !gone.contains(at)).map(|(_, x)| *x).collect()
        };
        self.pair(&left(&self.a), &left(&self.b))
    }

    fn moved(&self, which: &[usize], to: impl Fn(f64, f64) -> (f64, f64)) -> Pair {
        let (mut a, mut b) = (self.a.clone(), self.b.clone());
        for &at in which {
            (a[at], b[at]) = to(a[at], b[at]);
        }
        self.pair(&a, &b)
    }
}

/// Smaller pairs of vectors.
fn of_vectors(pair: &Pair) -> Box<dyn Iterator<Item = Pair> + '_> {
    let numbers = pair.dataset.numbers().zip(pair.neighbor.numbers()).filter(|(a, b)| a.len() == b.len());
    let Some((a, b)) = numbers else { return Box::new(std::iter::empty()) };
    let all = a.len();
    let vectors = Vectors { a, b, pattern: &pair.pattern };
    let chunks_of = |places: Vec<usize>| {
        chunks(places.len()).map(move |chunk| chunk.into_iter().map(|index| places[index]).collect::<Vec<usize>>())
    };
    let different = vectors.places(|a, b| a != b);
    let [of_fewer, of_equal, of_zero, of_round] = [(); 4].map(|()| vectors.clone());
    let gone = chunks_of(vectors.places(|a, b| a == b)).chain(chunks_of(different.clone()));
    let fewer = gone.map(move |chunk| of_fewer.without(&chunk));
    let equal = chunks_of(different).map(move |chunk| of_equal.moved(&chunk, |a, _| (a, a)));
    let zero = chunks(all).map(move |chunk| of_zero.moved(&chunk, |a, b| (0.0, b - a)));
    let round = (0..all).flat_map(move |at| {
        let vectors = of_round.clone();
        rounder(of_round.a[at]).map(move |round| vectors.moved(&[at], |a, b| (round, round + (b - a))))
    });
    Box::new(fewer.chain(equal).chain(zero).chain(round))
}

fn size(pair: &Pair) -> Size {
    let (a, b) = (pair.dataset.records(), pair.neighbor.records());
    let differ = a.iter().zip(b).filter(|(a, b)| a != b).count();
    let characters = pair.dataset.to_string().len() + pair.neighbor.to_string().len();
    let kinds: HashSet<&Value> = a.iter().chain(b).collect();
    let other_than_0 = a.iter().chain(b).filter(|record| record.as_f64().is_some_and(|number| number != 0.0)).count();
    (a.len() + b.len(), differ, kinds.len(), other_than_0, characters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(dataset: &str, neighbor: &str) -> Pair {
        Pair { dataset: dataset.parse().unwrap(), neighbor: neighbor.parse().unwrap(), pattern: "pair".into() }
    }

    /// The smallest pair that a condition holds for, found as the audit finds it.
    fn shrunk(shrink: Shrink, start: Pair, holds: impl Fn(&Pair) -> bool) -> [String; 2] {
        let mut pair = start;
        loop {
            let next = shrink.smaller(&pair).find(&holds);
            let Some(next) = next else { break };
            assert!(shrink.relation.is_none_or(|relation| next.dataset.is_neighbor(&next.neighbor, relation)));
            assert!(size(&next) < size(&pair));
            pair = next;
        }
        [pair.dataset.to_string(), pair.neighbor.to_string()]
    }

    #[test]
    fn pairs_shrink_to_what_matters() {
        let shrink = |relation: &str, domain: Option<(f64, f64)>| Shrink {
            relation: Some(relation.parse().unwrap()),
            domain: domain.map(|(low, high)| Domain::new(low, high).unwrap()),
        };
        let start = || pair("[3, 1, 4, 1, 5, 9]", "[3, 1, 4, 1, 5]");
        assert_eq!(shrunk(shrink("add-remove", None), start(), |_| true), ["[9]", "[]"]);
        // At least three records are needed.
        let three = |pair: &Pair| pair.neighbor.records().len() >= 2;
        assert_eq!(shrunk(shrink("add-remove", None), start(), three), ["[9,9,9]", "[9,9]"]);
        let replaced = pair("[7.25, 1, 2]", "[7.25, 1, 80]");
        let holds = |pair: &Pair| pair.dataset.records().len() == 3;
        assert_eq!(shrunk(shrink("replace-one", None), replaced.clone(), holds), ["[2,2,2]", "[2,2,80]"]);
        let first = |pair: &Pair| (6.0..9.0).contains(&pair.dataset.numbers().unwrap()[0]);
        assert_eq!(shrunk(shrink("replace-one", Some((0.0, 100.0))), replaced, first), ["[7,2]", "[7,80]"]);
        let vectors = pair("[3.5, 2, 0, 8]", "[4.5, 1, 1, 7]");
        assert_eq!(shrunk(shrink("linf:1", None), vectors.clone(), |_| true), ["[0]", "[-1]"]);
        // All lengths but this one are illegal, and the second and the third entry must differ.
        let holds = |pair: &Pair| {
            let (a, b) = (pair.dataset.numbers().unwrap(), pair.neighbor.numbers().unwrap());
            a.len() == 4 && a[1] != b[1] && a[2] != b[2]
        };
        assert_eq!(shrunk(shrink("linf:1", None), vectors, holds), ["[0,0,0,0]", "[0,-1,1,0]"]);
        let vector = pair("[7.5]", "[8.5]");
        assert_eq!(shrunk(shrink("linf:1", Some((5.0, 10.0))), vector, |_| true), ["[8]", "[9]"]);
        let objects = pair(r#"[{"a":1},{"a":2},{"a":3}]"#, r#"[{"a":1},{"a":3}]"#);
        assert_eq!(shrunk(Shrink::default(), objects, |_| true), [r#"[{"a":2}]"#, "[]"]);
        assert_eq!(Shrink::default().smaller(&pair("[1]", "[]")).count(), 0);
        // One after another: all of them together would be 10^12 numbers.
        let long = Dataset::of_numbers(&(0..10_000).map(f64::from).collect::<Vec<_>>());
        let shorter = Dataset::new(long.records()[1..].to_vec());
        let long = Pair { dataset: long, neighbor: shorter, pattern: "long".into() };
        assert_eq!(shrink("add-remove", None).smaller(&long).next().unwrap().dataset.to_string(), "[0]");
        assert_eq!(shrink("linf:1", None).smaller(&pair("[1, 2]", "[1]")).count(), 0);
    }
}
