//! Pairs of neighbors among which faults are usually found.

use super::dataset::{Dataset, plain};
use crate::error::{Error, Result};
use crate::relation::Relation;
use serde::Serialize;
use serde_json::Value;
use std::collections::{HashSet, VecDeque};

/// Records of a long dataset that are removed or replaced one by one.
const MOST_PLACES: usize = 4;
/// Pairs in all: each takes runs from the others.
const MOST_PAIRS: usize = 32;
/// Kinds of records that are added or replace others.
const MOST_KINDS: usize = 4;
/// Records of a dataset that is made of few kinds, if the user's has fewer.
const FEWEST: usize = 3;

/// A pair of neighbors, and why it is tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pair {
    /// The dataset S.
    pub dataset: Dataset,
    /// Its neighbor S'.
    pub neighbor: Dataset,
    /// What the pair looks like, such as `one entry up`.
    pub pattern: String,
}

/// The legal numbers of a record, ends included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Domain {
    low: f64,
    high: f64,
}

impl Domain {
    /// The numbers from `low` to `high`.
    ///
    /// # Errors
    /// [`Error::Rejected`] unless they are finite and `low` < `high`.
    pub fn new(low: f64, high: f64) -> Result<Self> {
        let legal = low.is_finite() && high.is_finite() && low < high;
        let reason = format_args!("[{low}, {high}] must have two finite ends, the smaller one first");
        Error::check_possible(legal, "domain of records", reason)?;
        Ok(Self { low, high })
    }

    /// Whether a number is legal.
    #[must_use]
    pub const fn contains(&self, number: f64) -> bool {
        self.low <= number && number <= self.high
    }
}

/// Pairs of neighbors that are known to find faults, the most usual ones first, without repetition.
///
/// Under a norm: one entry up, one down, one up and the rest down, half up and half down, all up, alternating, at the
/// given vector and at zero (Ding et al. 2018). Otherwise: each record of the dataset removed or replaced, records
/// added; the same for datasets of one record, of none, of equal records, and of two kinds in equal numbers. Records
/// come from the dataset, and from the ends of the domain if there is one: no others are known to be legal. Only if one
/// record is to be replaced and no other is known, a number is replaced by 0, 1, the next number or -1, and a truth
/// value by its negation.
///
/// # Errors
/// As [`Dataset::fits`].
///
/// # Example
/// ```
/// # use leakbound::black_box::neighbor_pairs;
/// # use leakbound::relation::Relation;
/// let pairs = neighbor_pairs(Relation::AddRemove, &"[1, 2]".parse()?, None)?;
/// assert!(pairs.iter().all(|pair| pair.dataset.is_neighbor(&pair.neighbor, Relation::AddRemove)));
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Ding, Wang, Wang, Zhang and Kifer (2018), "Detecting violations of differential privacy", Table 1.
pub fn neighbor_pairs(relation: Relation, dataset: &Dataset, domain: Option<Domain>) -> Result<Vec<Pair>> {
    dataset.fits(relation)?;
    let mut pairs = match relation {
        Relation::AddRemove => by_turns(removals(dataset.records(), &kinds(dataset, domain))),
        Relation::ReplaceOne => {
            let mut kinds = kinds(dataset, domain);
            let mut made_up = "";
            if let [only] = &kinds[..] {
                kinds.extend(others(only));
                made_up = " (the other record is made up)";
            }
            let mut pairs = by_turns(replacements(dataset.records(), &kinds));
            pairs.iter_mut().for_each(|pair| pair.pattern.push_str(made_up));
            pairs
        }
        Relation::L1(distance) => by_vectors(dataset, |vector| l1_patterns(vector, distance)),
        Relation::Linf(distance) => by_vectors(dataset, |vector| linf_patterns(vector, distance)),
    };
    let mut seen = HashSet::new();
    pairs.retain(|pair| {
        let (a, b) = (pair.dataset.clone(), pair.neighbor.clone());
        a != b && !seen.contains(&(b.clone(), a.clone())) && seen.insert((a, b))
    });
    pairs.truncate(MOST_PAIRS);
    Ok(pairs)
}

/// The first ones of each group, then the second ones, and so on.
fn by_turns(groups: Vec<Vec<Pair>>) -> Vec<Pair> {
    let mut groups: Vec<_> = groups.into_iter().map(Vec::into_iter).collect();
    let mut pairs = Vec::new();
    loop {
        let turn: Vec<Pair> = groups.iter_mut().filter_map(Iterator::next).collect();
        if turn.is_empty() {
            return pairs;
        }
        pairs.extend(turn);
    }
}

/// Some places of a long list, the ends among them.
fn places(length: usize) -> Vec<usize> {
    let step = |index: usize| index * (length - 1) / (MOST_PLACES - 1);
    if length <= MOST_PLACES { (0..length).collect() } else { (0..MOST_PLACES).map(step).collect() }
}

/// Records that a dataset may contain: the ends of the domain, then the most different records of the dataset.
fn kinds(dataset: &Dataset, domain: Option<Domain>) -> Vec<Value> {
    let mut kinds: Vec<Value> = domain.iter().flat_map(|domain| [plain(domain.high), plain(domain.low)]).collect();
    let mut records: VecDeque<&Value> = dataset.records().iter().collect();
    if dataset.numbers().is_some() {
        let number = |value: &Value| value.as_f64().unwrap_or(0.0);
        records.make_contiguous().sort_by(|a, b| number(b).total_cmp(&number(a)));
    }
    // From both ends inward.
    while let Some(record) = if kinds.len().is_multiple_of(2) { records.pop_front() } else { records.pop_back() } {
        if !kinds.iter().any(|kind| is_same(kind, record)) {
            kinds.push(record.clone());
        }
    }
    kinds.truncate(MOST_KINDS);
    kinds
}

/// Whether two records are equal, even if 1 is written as 1.0.
fn is_same(one: &Value, other: &Value) -> bool {
    let number = one.is_f64() != other.is_f64();
    one == other || number && one.as_f64().is_some_and(|value| other.as_f64() == Some(value))
}

/// Records that may replace one if no other is known to be legal.
fn others(only: &Value) -> Vec<Value> {
    let mut found = match only {
        Value::Number(_) => {
            let next = only.as_f64().map(|number| plain(number + 1.0));
            [Some(plain(0.0)), Some(plain(1.0)), next, Some(plain(-1.0))].into_iter().flatten().collect()
        }
        Value::Bool(value) => vec![Value::Bool(!value)],
        Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => Vec::new(),
    };
    found.retain(|value| !is_same(value, only));
    found.truncate(MOST_KINDS - 1);
    found
}

/// A pair in a group of similar ones.
fn pair(pattern: impl Into<String>, dataset: &[Value], neighbor: &[Value]) -> Pair {
    Pair { dataset: Dataset::new(dataset.to_vec()), neighbor: Dataset::new(neighbor.to_vec()), pattern: pattern.into() }
}

fn with(records: &[Value], more: &Value) -> Vec<Value> {
    [records, std::slice::from_ref(more)].concat()
}

/// Groups of pairs in which one dataset has one more record, the most informative ones of each group first.
fn removals(records: &[Value], kinds: &[Value]) -> Vec<Vec<Pair>> {
    let without = |place: usize| [&records[..place], &records[place + 1..]].concat();
    let added = kinds.iter().map(|kind| pair("one added", &with(records, kind), records));
    let removed = places(records.len()).into_iter().map(|place| pair("one removed", records, &without(place)));
    let alone = kinds.iter().map(|kind| pair("only record removed", std::slice::from_ref(kind), &[]));
    let second = ordered_pairs(kinds).map(|[one, other]| pair("one of two removed", &[one.clone(), other], &[one]));
    let length = records.len().max(FEWEST);
    let equal = ordered_pairs(kinds).flat_map(|[one, other]| {
        let equal = vec![one.clone(); length];
        [
            pair("equal records, another one added", &with(&equal, &other), &equal),
            pair("equal records, one removed", &equal, &equal[1..]),
        ]
    });
    let half = ordered_pairs(kinds).map(|[one, other]| {
        let half = halves(&one, &other, length);
        pair("two kinds of records, one removed", &half, &half[1..])
    });
    vec![added.collect(), alone.collect(), removed.collect(), second.collect(), equal.collect(), half.collect()]
}

/// Groups of pairs that differ in one record.
fn replacements(records: &[Value], kinds: &[Value]) -> Vec<Vec<Pair>> {
    let replaced = |records: &[Value], place: usize, kind: &Value| {
        let mut other = records.to_vec();
        other[place] = kind.clone();
        other
    };
    // The last place has the smallest, or the largest, record as often as not: kinds and places by turns.
    let places = places(records.len());
    let own = (0..kinds.len().max(1) * places.len()).filter_map(|turn| {
        let place = places[turn % places.len()];
        let kind = kinds.get((turn + turn / places.len()) % kinds.len().max(1))?;
        Some(pair("one replaced", records, &replaced(records, place, kind)))
    });
    let alone = ordered_pairs(kinds).map(|[one, other]| pair("one record", &[one], &[other]));
    let length = records.len().max(FEWEST);
    let equal = ordered_pairs(kinds).map(|[one, other]| {
        let equal = vec![one; length];
        pair("equal records, one replaced", &equal, &replaced(&equal, 0, &other))
    });
    let half = ordered_pairs(kinds).map(|[one, other]| {
        let half = halves(&one, &other, length);
        pair("two kinds of records, one replaced", &half, &replaced(&half, 0, &other))
    });
    vec![own.collect(), alone.collect(), equal.collect(), half.collect()]
}

/// Both orders of two kinds, the first two kinds first.
fn ordered_pairs(kinds: &[Value]) -> impl Iterator<Item = [Value; 2]> {
    (0..kinds.len())
        .flat_map(move |last| (0..last).flat_map(move |first| [[first, last], [last, first]]))
        .map(|pair| pair.map(|kind| kinds[kind].clone()))
}

/// Half of the records of one kind, half of another.
fn halves(one: &Value, other: &Value, length: usize) -> Vec<Value> {
    (0..length).map(|place| if 2 * place < length { one } else { other }.clone()).collect()
}

/// Patterns at the user's vector and at zero, by turns.
fn by_vectors(dataset: &Dataset, patterns: impl Fn(&[f64]) -> Vec<(Vec<f64>, &'static str)>) -> Vec<Pair> {
    let vector = dataset.numbers().unwrap_or_default();
    let pairs = |base: Vec<f64>, of: &str| -> Vec<Pair> {
        let pair = |(neighbor, pattern): (Vec<f64>, &str)| Pair {
            dataset: Dataset::of_numbers(&base),
            neighbor: Dataset::of_numbers(&neighbor),
            pattern: format!("{pattern}{of}"),
        };
        patterns(&base).into_iter().map(pair).collect()
    };
    let zeros = vec![0.0; vector.len()];
    by_turns(vec![pairs(vector, ""), pairs(zeros, ", from zero")])
}

fn linf_patterns(vector: &[f64], d: f64) -> Vec<(Vec<f64>, &'static str)> {
    let length = vector.len();
    let moved = |by: &dyn Fn(usize) -> f64| vector.iter().enumerate().map(|(place, x)| x + by(place)).collect();
    let largest = (0..length).max_by(|&a, &b| vector[a].total_cmp(&vector[b])).unwrap_or(0);
    let mut found: Vec<(Vec<f64>, &'static str)> = vec![
        (moved(&|_| d), "all up"),
        (moved(&|at| if at == largest { d } else { -d }), "one up and the rest down"),
        (moved(&|at| if at == largest { -d } else { d }), "one down and the rest up"),
        (moved(&|at| if at == largest { d } else { 0.0 }), "one entry up"),
        (moved(&|at| if 2 * at < length { d } else { -d }), "half up and half down"),
        (moved(&|at| if at == largest { -d } else { 0.0 }), "one entry down"),
        (moved(&|_| -d), "all down"),
        (moved(&|at| if at % 2 == 0 { d } else { -d }), "alternating"),
    ];
    for place in [length - 1, 0] {
        found.push((moved(&|at| if at == place { d } else { -d }), "one up and the rest down"));
        found.push((moved(&|at| if at == place { -d } else { d }), "one down and the rest up"));
        found.push((moved(&|at| if at == place { d } else { 0.0 }), "one entry up"));
    }
    found
}

fn l1_patterns(vector: &[f64], d: f64) -> Vec<(Vec<f64>, &'static str)> {
    let moved = |by: &dyn Fn(usize) -> f64| vector.iter().enumerate().map(|(place, x)| x + by(place)).collect();
    let mut found: Vec<(Vec<f64>, &'static str)> = Vec::new();
    for place in places(vector.len()) {
        found.push((moved(&|at| if at == place { d } else { 0.0 }), "one entry up"));
        found.push((moved(&|at| if at == place { -d } else { 0.0 }), "one entry down"));
    }
    if vector.len() > 1 {
        let half = d / 2.0;
        let by = |at: usize| [half, -half].get(at).copied().unwrap_or(0.0);
        found.insert(1, (moved(&by), "one entry up and one down"));
        let share = d / vector.len() as f64;
        found.insert(2, (moved(&|_| share), "all up a little"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_neighbors_and_none_comes_twice() {
        for (relation, dataset, domain) in [
            ("add-remove", "[]", None),
            ("add-remove", "[]", Some(Domain::new(0.0, 1.0).unwrap())),
            ("add-remove", "[3, 1, 2]", Some(Domain::new(0.0, 10.0).unwrap())),
            ("add-remove", "[\"a\", \"b\", \"a\"]", None),
            ("replace-one", "[{\"age\": 3}, {\"age\": 80}]", None),
            ("replace-one", "[1]", Some(Domain::new(-1.0, 1.0).unwrap())),
            ("replace-one", "[5]", None),
            ("replace-one", "[true, true]", None),
            ("replace-one", "[1e300]", None),
            ("replace-one", "[1, 1.0]", None),
            ("l1:1", "[1, 2, 3]", None),
            ("linf:2", "[5]", None),
            ("linf:1", "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]", None),
        ] {
            let relation: Relation = relation.parse().unwrap();
            let pairs = neighbor_pairs(relation, &dataset.parse().unwrap(), domain).unwrap();
            let nothing = dataset == "[]" && domain.is_none();
            assert_eq!(pairs.is_empty(), nothing, "{relation} {dataset}");
            assert!(pairs.len() <= MOST_PAIRS, "{} {dataset}", pairs.len());
            for (index, pair) in pairs.iter().enumerate() {
                assert!(pair.dataset.is_neighbor(&pair.neighbor, relation), "{pair:?}");
                assert!(
                    pairs[..index].iter().all(|other| other.dataset != pair.dataset || other.neighbor != pair.neighbor)
                );
            }
        }
        assert!(Domain::new(1.0, 1.0).is_err() && Domain::new(0.0, f64::INFINITY).is_err());
    }

    /// Where one number is all that is known, its neighbors are tried; other numbers are not made up.
    #[test]
    fn one_number_has_neighbors() {
        let numbers = |text: &str| -> Vec<f64> {
            let pairs = neighbor_pairs(Relation::ReplaceOne, &text.parse().unwrap(), None).unwrap();
            let mut found: Vec<f64> = pairs
                .iter()
                .flat_map(|pair| [&pair.dataset, &pair.neighbor])
                .flat_map(|dataset| dataset.numbers().unwrap())
                .collect();
            found.sort_by(f64::total_cmp);
            found.dedup();
            found
        };
        assert_eq!(numbers("[5]"), [0.0, 1.0, 5.0, 6.0]);
        assert_eq!(numbers("[0, 0]"), [-1.0, 0.0, 1.0]);
        assert_eq!(numbers("[0.5]"), [0.0, 0.5, 1.0, 1.5]);
        assert_eq!(numbers("[-2]"), [-2.0, -1.0, 0.0, 1.0]);
        assert_eq!(numbers("[3, 4]"), [3.0, 4.0]);
        let pairs = |text: &str| neighbor_pairs(Relation::ReplaceOne, &text.parse().unwrap(), None).unwrap();
        assert!(!pairs("[false]").is_empty() && pairs("[\"a\"]").is_empty() && pairs("[null, null]").is_empty());
    }

    /// An added record is tried at the ends of the domain, and the empty dataset against each of them.
    #[test]
    fn extremes_are_among_them() {
        let domain = Some(Domain::new(0.0, 10.0).unwrap());
        let pairs = neighbor_pairs(Relation::AddRemove, &"[3, 1]".parse().unwrap(), domain).unwrap();
        let has = |a: &str, b: &str| {
            let (a, b) = (a.parse().unwrap(), b.parse().unwrap());
            pairs.iter().any(|pair| pair.dataset == a && pair.neighbor == b)
        };
        assert!(
            has("[3, 1, 10]", "[3, 1]")
                && has("[10]", "[]")
                && has("[0]", "[]")
                && has("[10, 10, 10, 0]", "[10, 10, 10]")
                && has("[3, 1]", "[1]")
        );
    }
}
