//! Two values per outcome, grouped by query, in the order of the file.

use super::fault::{fault, hinted, quoted};
use crate::counts::MAX_COUNT;
use crate::error::{InputError, breaks_line};
use crate::histogram::MAX_CLASSES;
use crate::order;
use std::collections::HashMap;
use std::path::Path;

/// The most outcomes one query may have.
pub(super) const MAX_OUTCOMES: usize = MAX_CLASSES;

/// The most outcomes all queries of a file may have together: what bounds the memory of reading.
pub(super) const MAX_PAIRS: usize = 1 << 20;

/// The longest name of an outcome or query, in bytes.
const MAX_NAME_BYTES: usize = 1024;

/// A table of the values of both worlds; the query `None` is the one of a file without queries.
pub(super) struct Table<T> {
    groups: Vec<Group<T>>,
    positions: HashMap<Option<String>, usize>,
    pairs: usize,
}

/// The outcomes of one query.
pub(super) struct Group<T> {
    pub(super) query: Option<String>,
    pub(super) labels: Vec<String>,
    /// Per outcome the value under the dataset and under its neighbor.
    pub(super) values: Vec<[T; 2]>,
    positions: HashMap<String, usize>,
}

/// Why a row does not fit into the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Misfit {
    /// This outcome of this query is there already.
    Duplicate,
    /// Too many outcomes: the limit, and the quantity that it limits.
    Full(usize, &'static str),
}

impl<T: Copy + Default> Table<T> {
    pub(super) fn new() -> Self {
        Self { groups: Vec::new(), positions: HashMap::new(), pairs: 0 }
    }

    /// Puts a new outcome.
    pub(super) fn insert(&mut self, query: Option<&str>, outcome: &str, values: [T; 2]) -> Result<(), Misfit> {
        let before = self.pairs;
        let slot = self.slot(query, outcome)?;
        *slot = values;
        if self.pairs == before { Err(Misfit::Duplicate) } else { Ok(()) }
    }

    /// The values of an outcome, which is added if it is new.
    pub(super) fn slot(&mut self, query: Option<&str>, outcome: &str) -> Result<&mut [T; 2], Misfit> {
        let last = self.groups.last().is_some_and(|group| group.query.as_deref() == query);
        let position = match last {
            true => self.groups.len() - 1,
            false => self.position(query),
        };
        let group = &mut self.groups[position];
        let index = match group.positions.get(outcome) {
            Some(&index) => index,
            None => {
                if group.labels.len() == MAX_OUTCOMES {
                    return Err(Misfit::Full(MAX_OUTCOMES, "outcomes of one query"));
                }
                if self.pairs == MAX_PAIRS {
                    return Err(Misfit::Full(MAX_PAIRS, "outcomes of all queries together"));
                }
                self.pairs += 1;
                group.positions.insert(outcome.to_owned(), group.labels.len());
                group.labels.push(outcome.to_owned());
                group.values.push([T::default(); 2]);
                group.labels.len() - 1
            }
        };
        Ok(&mut group.values[index])
    }

    fn position(&mut self, query: Option<&str>) -> usize {
        let query = query.map(str::to_owned);
        let next = self.groups.len();
        let position = *self.positions.entry(query.clone()).or_insert(next);
        if position == next {
            self.groups.push(Group { query, labels: Vec::new(), values: Vec::new(), positions: HashMap::new() });
        }
        position
    }

    /// The same table with the outcomes of every query sorted.
    pub(super) fn sorted(mut self) -> Self {
        self.groups.iter_mut().for_each(Group::sort);
        self
    }

    /// The queries in the order of their first rows.
    pub(super) fn into_groups(self) -> Vec<Group<T>> {
        self.groups
    }
}

impl<T: Copy> Group<T> {
    /// One side of the table.
    pub(super) fn side(&self, side: usize) -> Vec<T> {
        self.values.iter().map(|values| values[side]).collect()
    }

    /// Sorts the outcomes: by value if all are whole numbers, by the bytes of their names otherwise.
    fn sort(&mut self) {
        let numbers: Option<Vec<i128>> = self.labels.iter().map(|label| label.parse().ok()).collect();
        // Equal numbers in different spelling (`1`, `01`) fall back to the spelling, so that the order is total.
        let order = order::positions(self.labels.len(), |a, b| {
            let by_number = numbers.as_ref().map(|numbers| numbers[a].cmp(&numbers[b]));
            by_number.unwrap_or(std::cmp::Ordering::Equal).then_with(|| self.labels[a].cmp(&self.labels[b]))
        });
        self.values = order.iter().map(|&index| self.values[index]).collect();
        self.labels = order.iter().map(|&index| std::mem::take(&mut self.labels[index])).collect();
        self.positions.clear();
    }

    /// The place of an error of the whole query.
    pub(super) fn place(&self) -> String {
        place_of(self.query.as_deref())
    }
}

/// The place of an error of a whole query.
pub(super) fn place_of(query: Option<&str>) -> String {
    query.map_or_else(|| "whole file".into(), |query| format!("query {}", quoted(query)))
}

/// Checks the samples of both worlds of a query here, where the file is known; types could only name the counts.
pub(super) fn check_totals(file: &Path, query: Option<&str>, totals: [u64; 2]) -> Result<(), InputError> {
    for (total, world) in totals.into_iter().zip(["the dataset (s)", "the neighbor (s_prime)"]) {
        let found = format!("{total} samples under {world}");
        if total == 0 {
            let error = fault(file, place_of(query), found, "at least 1 sample in each world");
            return Err(hinted(error, "a bound compares the outputs of two worlds; record both"));
        }
        if total > MAX_COUNT {
            return Err(fault(file, place_of(query), found, "at most 2^53 samples in each world"));
        }
    }
    Ok(())
}

/// What a name must be, for messages.
pub(super) const NAME: &str = "a name of 1 to 1024 bytes without control characters";

/// Whether a text can be the name of an outcome or a query.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_NAME_BYTES && !text.contains(breaks_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_keep_their_order_and_come_once() {
        let mut table = Table::new();
        table.insert(Some("q"), "b", [1, 2]).unwrap();
        table.insert(Some("r"), "b", [3, 4]).unwrap();
        table.insert(Some("q"), "a", [5, 6]).unwrap();
        assert_eq!(table.insert(Some("q"), "b", [7, 8]), Err(Misfit::Duplicate));
        let groups = table.into_groups();
        assert_eq!(groups.len(), 2);
        assert_eq!(groups[0].labels, ["b", "a"]);
        assert_eq!(groups[0].side(1)[1], 6);
        assert_eq!(groups[1].place(), "query `r`");
    }

    #[test]
    fn whole_numbers_are_sorted_by_value() {
        let sorted = |labels: &[&str]| {
            let mut table = Table::<u64>::new();
            for (index, label) in labels.iter().enumerate() {
                table.insert(None, label, [index as u64; 2]).unwrap();
            }
            let mut group = table.into_groups().remove(0);
            group.sort();
            group.labels.join(" ")
        };
        assert_eq!(sorted(&["10", "9", "-1"]), "-1 9 10");
        assert_eq!(sorted(&["10", "9", "cat"]), "10 9 cat");
    }

    #[test]
    fn the_number_of_outcomes_is_bounded() {
        let mut table = Table::<u64>::new();
        for outcome in 0..MAX_OUTCOMES {
            table.slot(None, &outcome.to_string()).unwrap();
        }
        assert!(table.slot(None, "0").is_ok());
        assert_eq!(table.slot(None, "x"), Err(Misfit::Full(MAX_OUTCOMES, "outcomes of one query")));
    }
}
