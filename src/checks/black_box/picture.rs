//! Outputs of both worlds, sorted into few bars for a figure.

use super::event::Event;
use super::output::Output;
use crate::order;
use std::collections::BTreeMap;

/// The most bars.
const MOST: usize = 24;
/// Bins of a number between its outermost two hundredths.
const BINS: f64 = 22.0;
const OUTER: f64 = 0.01;

/// Outputs that are drawn as one bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// The outputs of the bar, in words.
    pub label: String,
    /// Where it begins, for a bin.
    pub low: Option<f64>,
    /// Outputs of each world in it.
    pub counts: [u64; 2],
    /// Whether it lies in the event, most of it at least.
    pub inside: bool,
}

/// A bar while outputs are put into it.
#[derive(Default)]
struct Heap {
    counts: [u64; 2],
    inside: u64,
}

impl Heap {
    fn add(&mut self, world: usize, inside: bool) {
        self.counts[world] += 1;
        self.inside += u64::from(inside);
    }

    fn bar(&self, label: String, low: Option<f64>) -> Bar {
        let all = self.counts[0] + self.counts[1];
        Bar { label, low, counts: self.counts, inside: 2 * self.inside > all }
    }
}

/// The bars of these outputs, for a figure of an event: one for each value if there are few, else bins of the number
/// that the event looks at.
pub fn picture(event: &Event, worlds: [&[Output]; 2]) -> Vec<Bar> {
    // Long texts of different outcomes may have one label.
    let mut values: BTreeMap<(String, usize), Heap> = BTreeMap::new();
    let mut numbers: Vec<f64> = Vec::new();
    let labels = event.witness().labels();
    for (world, output) in each(worlds) {
        let outcome = event.witness().outcome(output);
        let number = event.witness().number(output);
        if number.is_finite() {
            numbers.push(number);
        }
        if values.len() <= 2 * MOST * MOST {
            let label = match number {
                _ if event.witness().bins().is_empty() => labels[outcome].clone(),
                number if number.is_nan() => "missing".into(),
                // Adding 0 makes -0 the same number as 0.
                number => (number + 0.0).to_string(),
            };
            values.entry((label, outcome)).or_default().add(world, event.contains(output));
        }
    }
    if event.witness().bins().is_empty() || values.len() <= MOST {
        return of_values(values);
    }
    numbers.sort_by(f64::total_cmp);
    of_bins(event, worlds, &numbers)
}

fn each(worlds: [&[Output]; 2]) -> impl Iterator<Item = (usize, &Output)> {
    worlds.into_iter().enumerate().flat_map(|(world, outputs)| outputs.iter().map(move |output| (world, output)))
}

/// One bar for each of the most frequent values.
fn of_values(values: BTreeMap<(String, usize), Heap>) -> Vec<Bar> {
    let mut bars: Vec<(f64, Bar)> = values
        .into_iter()
        .map(|((label, outcome), heap)| (label.parse().unwrap_or(outcome as f64), heap.bar(label, None)))
        .collect();
    bars.sort_by_key(|(_, bar)| std::cmp::Reverse(bar.counts[0] + bar.counts[1]));
    let rest = bars.split_off(bars.len().min(MOST));
    order::sort(&mut bars, |a, b| a.0.total_cmp(&b.0));
    let mut bars: Vec<Bar> = bars.into_iter().map(|(_, bar)| bar).collect();
    for inside in [true, false] {
        let left: Vec<&Bar> = rest.iter().map(|(_, bar)| bar).filter(|bar| bar.inside == inside).collect();
        if !left.is_empty() {
            let counts = [0, 1].map(|world| left.iter().map(|bar| bar.counts[world]).sum());
            bars.push(Bar { label: format!("{} others", left.len()), low: None, counts, inside });
        }
    }
    bars
}

/// Bins of equal width; one begins where the event does.
fn of_bins(event: &Event, worlds: [&[Output]; 2], sorted: &[f64]) -> Vec<Bar> {
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share) as usize];
    let (low, high) = (at(OUTER), at(1.0 - OUTER));
    let width = ((high - low) / BINS).max(f64::MIN_POSITIVE);
    // The grid passes through the first cut of the event.
    let cut = event.witness().cut().filter(|cut| (low..high).contains(cut));
    let low = cut.map_or(low, |cut| cut - ((cut - low) / width).ceil() * width);
    let bins = (((high - low) / width).ceil()).clamp(1.0, 2.0 * BINS) as i64;
    let mut heaps: BTreeMap<i64, Heap> = BTreeMap::new();
    let (missing, lowest, highest) = (i64::MIN, i64::MIN + 1, i64::MAX);
    for (world, output) in each(worlds) {
        let place = match event.witness().number(output) {
            number if number.is_nan() => missing,
            f64::NEG_INFINITY => lowest,
            f64::INFINITY => highest,
            number => (((number - low) / width).floor() as i64).clamp(-1, bins),
        };
        heaps.entry(place).or_default().add(world, event.contains(output));
    }
    let first = heaps.keys().copied().find(|&place| place > lowest).unwrap_or(0);
    let last = heaps.keys().rev().copied().find(|&place| place < highest).unwrap_or(0);
    for place in first..=last {
        heaps.entry(place).or_default();
    }
    let edge = |place: i64| place as f64 * width + low;
    let bar = |(place, heap): (i64, Heap)| match place {
        place if place == missing => heap.bar("missing".into(), None),
        place if place == lowest => heap.bar("-inf".into(), None),
        place if place == highest => heap.bar("inf".into(), None),
        -1 => heap.bar("below".into(), None),
        place if place == bins => heap.bar("above".into(), None),
        place => heap.bar(String::new(), Some(edge(place))),
    };
    heaps.into_iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::super::aim::Aim;
    use super::super::simple::simplest;
    use super::*;
    use crate::quantity::Delta;

    #[test]
    fn every_output_is_in_one_bar() {
        let aim = Aim::Epsilon(Delta::new(0.0).unwrap(), 0.5);
        let make = |of: &dyn Fn(u32) -> Output| (0..2000).map(of).collect::<Vec<_>>();
        let hash = |k: u32| f64::from(k.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24);
        let cases: [[Vec<Output>; 2]; 3] = [
            [make(&|k| Output::Number(hash(k))), make(&|k| Output::Number(hash(k) * 0.5))],
            [make(&|k| Output::Number(f64::from(k % 7))), make(&|k| Output::Number(f64::from(k % 5)))],
            [make(&|k| Output::Text((k % 40).to_string())), make(&|k| Output::Text((k % 20).to_string()))],
        ];
        for [a, b] in cases {
            let event = simplest([&a, &b], aim, super::super::feature::Features::Auto).unwrap();
            let bars = picture(&event, [&a, &b]);
            assert!((2..=60).contains(&bars.len()), "{}", bars.len());
            for (world, outputs) in [&a, &b].into_iter().enumerate() {
                assert_eq!(bars.iter().map(|bar| bar.counts[world]).sum::<u64>(), outputs.len() as u64);
            }
            assert!(bars.iter().any(|bar| bar.inside) && bars.iter().any(|bar| !bar.inside), "{event}");
        }
    }
}
