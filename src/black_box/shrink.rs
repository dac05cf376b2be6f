//! Smaller pairs of neighbors that may show the same.

use super::dataset::{Dataset, plain};
use super::neighbors::{Domain, Pair};
use super::relation::Relation;
use serde_json::Value;
use std::collections::HashSet;

/// Pairs of neighbors that are smaller than a given one: fewer records first, then fewer different ones, then rounder
/// numbers. Each step of a shrinking takes the first of them that still shows what the given one shows, and goes on
/// from there.
///
/// Records are only left out, replaced by others of the same pair, or rounded inside the domain: no other records are
/// known to be legal. Under a norm, entries are left out, made equal, moved to zero or rounded, and the difference of
/// the two datasets stays what it was or becomes smaller.
///
/// # References
/// Zeller and Hildebrandt (2002), "Simplifying and isolating failure-inducing input", for the order of the steps.
///
/// # Example
/// ```
/// # use leakbound::black_box::{Pair, Relation, Shrink};
/// let pair = Pair { dataset: "[3, 1, 2]".parse()?, neighbor: "[3, 1]".parse()?, pattern: "one removed".into() };
/// let shrink = Shrink { relation: Some(Relation::AddRemove), domain: None };
/// let smallest = shrink.smaller(&pair).remove(0);
/// assert_eq!((smallest.dataset.to_string(), smallest.neighbor.to_string()), ("[2]".into(), "[]".into()));
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Shrink {
    /// Which datasets are neighbors. Without it, the pair must stay one of which everything but the first and the last
    /// records is untouched.
    pub relation: Option<Relation>,
    /// The legal numbers of a record.
    pub domain: Option<Domain>,
}

/// What makes a pair large: records, records that differ, different records, numbers that are not 0, characters.
type Size = (usize, usize, usize, usize, usize);

impl Shrink {
    /// Smaller pairs, those that are smaller by most first.
    #[must_use]
    pub fn smaller(&self, pair: &Pair) -> Vec<Pair> {
        let size = size(pair);
        let candidates = match self.relation {
            Some(Relation::L1(_) | Relation::Linf(_)) => of_vectors(pair),
            _ => self.of_lists(pair),
        };
        let mut seen = HashSet::new();
        let legal = |next: &Pair| {
            let admitted = self.relation.is_none_or(|relation| relation.admits(&next.dataset, &next.neighbor));
            admitted && next.dataset != next.neighbor && self::size(next) < size
        };
        candidates
            .into_iter()
            .filter(|next| legal(next) && seen.insert((next.dataset.clone(), next.neighbor.clone())))
            .collect()
    }

    fn of_lists(&self, pair: &Pair) -> Vec<Pair> {
        let aligned = Aligned::of(pair);
        let common = aligned.common();
        let mut found: Vec<Pair> = chunks(common).map(|chunk| aligned.without(pair, &chunk)).collect();
        let kinds = distinct(pair);
        let equal = |kind: &Value| aligned.with(pair, &(0..common).collect::<Vec<_>>(), kind);
        found.extend(kinds.iter().map(equal));
        found.extend(
            (0..common)
                .flat_map(|place| kinds.iter().map(move |kind| (place, kind)))
                .map(|(place, kind)| aligned.with(pair, &[place], kind)),
        );
        if let Some(domain) = self.domain {
            for place in 0..common {
                let number = aligned.record(pair, place).as_f64();
                let rounder = number.into_iter().flat_map(rounder).filter(|&number| domain.contains(number));
                found.extend(rounder.map(|number| aligned.with(pair, &[place], &plain(number))));
            }
        }
        found
    }
}

/// Two lists that begin and end alike.
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

    /// Where a common record stands in a list of this length.
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

/// All of so many places, then each half of them, each quarter, and so on to single ones.
fn chunks(length: usize) -> impl Iterator<Item = Vec<usize>> {
    let sizes = std::iter::successors(Some(length), |&size| (size > 1).then(|| size.div_ceil(2)));
    sizes
        .filter(|&size| size > 0)
        .flat_map(move |size| (0..length).step_by(size).map(move |start| (start..(start + size).min(length)).collect()))
}

/// The different records of a pair, the shortest first.
fn distinct(pair: &Pair) -> Vec<Value> {
    let mut kinds: Vec<Value> = Vec::new();
    for record in pair.dataset.records().iter().chain(pair.neighbor.records()) {
        if !kinds.contains(record) {
            kinds.push(record.clone());
        }
    }
    kinds.sort_by_key(|kind| kind.to_string().len());
    kinds
}

/// Rounder numbers than this one, the roundest first.
fn rounder(number: f64) -> impl Iterator<Item = f64> {
    let digits = |digits: usize| format!("{number:.digits$e}").parse::<f64>().ok();
    let all = [Some(0.0), Some(number.round()), digits(0), digits(1), digits(2)];
    all.into_iter().flatten().filter(move |rounder| *rounder != number && rounder.is_finite())
}

/// Smaller pairs of vectors.
fn of_vectors(pair: &Pair) -> Vec<Pair> {
    let Some((a, b)) = pair.dataset.numbers().zip(pair.neighbor.numbers()) else { return Vec::new() };
    let pattern = &pair.pattern;
    let made = |a: Vec<f64>, b: Vec<f64>| Pair {
        dataset: Dataset::of_numbers(&a),
        neighbor: Dataset::of_numbers(&b),
        pattern: pattern.clone(),
    };
    let places =
        |which: fn(f64, f64) -> bool| -> Vec<usize> { (0..a.len()).filter(|&at| which(a[at], b[at])).collect() };
    let (equal, different) = (places(|a, b| a == b), places(|a, b| a != b));
    let without = |gone: &[usize]| {
        let left = |of: &[f64]| of.iter().enumerate().filter(|(at, _)| !gone.contains(at)).map(|(_, x)| *x).collect();
        made(left(&a), left(&b))
    };
    let moved = |which: &[usize], to: &dyn Fn(f64, f64) -> (f64, f64)| {
        let (mut a, mut b) = (a.clone(), b.clone());
        for &at in which {
            (a[at], b[at]) = to(a[at], b[at]);
        }
        made(a, b)
    };
    let of = |places: &[usize], chunk: &[usize]| chunk.iter().map(|&index| places[index]).collect::<Vec<_>>();
    let mut found = Vec::new();
    for places in [&equal, &different] {
        found.extend(chunks(places.len()).map(|chunk| without(&of(places, &chunk))));
    }
    found.extend(chunks(different.len()).map(|chunk| moved(&of(&different, &chunk), &|a, _| (a, a))));
    let all: Vec<usize> = (0..a.len()).collect();
    for chunk in chunks(a.len()) {
        found.push(moved(&of(&all, &chunk), &|a, b| (0.0, b - a)));
    }
    for at in all {
        found.extend(rounder(a[at]).map(|round| moved(&[at], &|a, b| (round, round + (b - a)))));
    }
    found
}

fn size(pair: &Pair) -> Size {
    let (a, b) = (pair.dataset.records(), pair.neighbor.records());
    let differ = a.iter().zip(b).filter(|(a, b)| a != b).count();
    let characters = pair.dataset.to_string().len() + pair.neighbor.to_string().len();
    let other_than_0 = a.iter().chain(b).filter(|record| record.as_f64().is_some_and(|number| number != 0.0)).count();
    (a.len() + b.len(), differ, distinct(pair).len(), other_than_0, characters)
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
        while let Some(next) = shrink.smaller(&pair).into_iter().find(&holds) {
            assert!(shrink.relation.is_none_or(|relation| relation.admits(&next.dataset, &next.neighbor)));
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
        let objects = pair(r#"[{"a":1},{"a":2},{"a":3}]"#, r#"[{"a":1},{"a":3}]"#);
        assert_eq!(shrunk(Shrink::default(), objects, |_| true), [r#"[{"a":2}]"#, "[]"]);
        assert!(Shrink::default().smaller(&pair("[1]", "[]")).is_empty());
    }
}
