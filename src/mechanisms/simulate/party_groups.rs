//! Groups of parties with an alias table of their likely joint histograms.
//!
//! A group grows party by party. Its distribution is A + B: A holds the likely histograms individually, B is the
//! omitted part. One more party with distribution p makes it A*p + B*p; if A*p has too many histograms, the least
//! likely of them, D, are cut off,
//! ```text
//! A' = A*p - D,    B' = B*p + D,    so that at last    B = Σ_j D_j * p_{j+1} * .. * p_last.
//! ```
//! The table of the group has the histograms of A and one more outcome for B. When that is drawn, which is rare, a cut
//! j is chosen by its mass, a histogram of D_j by its own table, and the parties added after the cut vote one by one.

use super::alias::{AliasTables, ROW, fetch, whole};
use super::halves::Halves;
use super::stream::Stream;
use crate::vectorized::{Arch, in_vectors};
use rand::Rng;
use std::rc::Rc;

/// The largest number of classes whose votes are added many at a time.
pub(super) const MAX_PACKED: usize = 16;
/// Number of parties whose votes are added before a byte could overflow.
const MAX_ADDED: usize = 255;
/// The largest number in four bits.
const MAX_NIBBLE: u8 = 15;
/// The low four bits of every byte.
const LOW_NIBBLES: u64 = 0x0f0f_0f0f_0f0f_0f0f;
/// Histograms in the table of a group. With 8,192 cells of half a word, and the data added for each of them, it is read
/// at random for a batch of samples and should stay in the caches of a core: 4,095 or 8,192 are slower, and 8,191 are
/// as fast but take twice the time to build.
const MAX_LIKELY: usize = 6000;
/// The largest mass of B.
const MAX_CUT: f64 = 0.001;
/// Histograms below this probability, 2^-75, are dropped: those of 255 parties, 2^16 each time, together weigh less
/// than the 2^-49 of a table.
const NEGLIGIBLE: f64 = 2.646_977_960_169_688_6e-23;

/// Votes per class as bytes.
type Packed = [u64; 2];

/// A histogram with its probability.
type Weighted = (Packed, f64);

/// Parties that are drawn together.
#[derive(Debug)]
pub(super) struct Group {
    parties: usize,
    table: AliasTables,
    /// The histogram of every outcome of the table; for B, the minimum.
    histograms: Histograms,
    /// The number of the outcome B: the last, if there is one.
    likely: u32,
    /// The table that chooses a cut.
    cuts: Option<AliasTables>,
    cut_off: Vec<CutOff>,
    /// The distributions of the parties, in the order in which they came.
    distributions: Vec<AliasTables>,
}

/// D_j, after this many parties.
#[derive(Debug)]
struct CutOff {
    parties: usize,
    table: AliasTables,
    histograms: Vec<Packed>,
}

/// The histograms of a table.
#[derive(Debug)]
enum Histograms {
    /// The votes of a class differ by at most 15: the excess over the minimum of each class, four bits each, those of
    /// class c below those of class 8 + c.
    Near { least: Packed, most: [u8; MAX_PACKED], above: Vec<u64> },
    /// The votes.
    Far(Vec<Packed>),
}

impl Histograms {
    /// From some histograms, followed by the outcome B if there is one.
    fn of(likely: Vec<Packed>, has_more: bool) -> Self {
        let votes = |[low, high]: &Packed| -> [u8; MAX_PACKED] {
            std::array::from_fn(|class| (if class < 8 { low } else { high } >> (8 * (class % 8))) as u8)
        };
        let (mut least, mut most) = ([u8::MAX; MAX_PACKED], [0; MAX_PACKED]);
        for histogram in likely.iter().map(votes) {
            for (class, votes) in histogram.into_iter().enumerate() {
                least[class] = least[class].min(votes);
                most[class] = most[class].max(votes);
            }
        }
        let most: [u8; MAX_PACKED] = std::array::from_fn(|class| most[class] - least[class]);
        let more = usize::from(has_more);
        if most.iter().any(|&most| most > MAX_NIBBLE) {
            return Self::Far(likely.into_iter().chain(std::iter::repeat_n([0; 2], more)).collect());
        }
        let least = [&least[..8], &least[8..]]
            .map(|least| least.iter().rev().fold(0, |word, &votes| word << 8 | u64::from(votes)));
        let above = |[low, high]: Packed| (low - least[0]) | (high - least[1]) << 4;
        Self::Near { least, most, above: likely.into_iter().map(above).chain(std::iter::repeat_n(0, more)).collect() }
    }
}

/// Sums of the votes of groups, for each sample of a batch.
pub(super) struct Sums {
    arch: Arch,
    /// Votes as in [`Histograms::Near`], and their maximum.
    above: Vec<u64>,
    most: [u8; MAX_PACKED],
    /// Votes minus those of `least`, which may be negative: words are sums modulo 2^64.
    bytes: [Vec<u64>; 2],
    least: Packed,
    /// Number of parties whose votes these are.
    parties: usize,
}

impl Sums {
    /// No votes.
    pub(super) fn new(arch: Arch, batch: usize) -> Self {
        let bytes = [vec![0; batch], vec![0; batch]];
        Self { arch, above: vec![0; batch], most: [0; MAX_PACKED], bytes, least: [0; 2], parties: 0 }
    }

    /// Adds a histogram of a group for every sample, from one word each and, if that selects B, from the stream. Votes
    /// without room are moved to `votes`, those of class c in sample s at `batch` c + s. The batch is a multiple of 64.
    pub(super) fn add(&mut self, group: &Group, words: &Halves, stream: &mut Stream, votes: &mut [u32]) {
        if self.parties + group.parties > MAX_ADDED {
            self.empty_into(votes);
        }
        self.parties += group.parties;
        group.fetch();
        let mut unlikely = Vec::new();
        let below = match &group.histograms {
            Histograms::Near { least, most, above } => {
                if self.most.iter().zip(most).any(|(sum, more)| sum + more > MAX_NIBBLE) {
                    self.spread();
                }
                self.most.iter_mut().zip(most).for_each(|(sum, more)| *sum += more);
                self.least = sum(self.least, *least);
                let sums = &mut self.above;
                in_vectors!(self.arch, {
                    // A separate slice: writes cannot change where it is.
                    let above = above.as_slice();
                    let rows = sums.as_chunks_mut::<ROW>().0.iter_mut().zip(words.first().as_chunks::<ROW>().0);
                    for (row, (sums, halves)) in rows.enumerate() {
                        let outcomes = group.draw_row(halves, words, row * ROW, &mut unlikely);
                        for lane in 0..ROW {
                            sums[lane] += above[outcomes[lane] as usize];
                        }
                    }
                });
                *least
            }
            Histograms::Far(histograms) => {
                let [low, high] = &mut self.bytes;
                in_vectors!(self.arch, {
                    let histograms = histograms.as_slice();
                    let rows = low.as_chunks_mut::<ROW>().0.iter_mut().zip(high.as_chunks_mut::<ROW>().0);
                    for (row, ((low, high), halves)) in rows.zip(words.first().as_chunks::<ROW>().0).enumerate() {
                        let outcomes = group.draw_row(halves, words, row * ROW, &mut unlikely);
                        for lane in 0..ROW {
                            let histogram = histograms[outcomes[lane] as usize];
                            [low[lane], high[lane]] = sum([low[lane], high[lane]], histogram);
                        }
                    }
                });
                [0; 2]
            }
        };
        for sample in unlikely {
            let histogram = group.draw_unlikely(stream);
            for word in 0..2 {
                let bytes = &mut self.bytes[word][sample];
                *bytes = bytes.wrapping_add(histogram[word]).wrapping_sub(below[word]);
            }
        }
    }

    /// Moves four bits of every class to its byte.
    fn spread(&mut self) {
        let Self { above, bytes: [low, high], .. } = self;
        in_vectors!(self.arch, {
            for ((low, high), above) in low.iter_mut().zip(high).zip(above) {
                *low = low.wrapping_add(*above & LOW_NIBBLES);
                *high = high.wrapping_add(*above >> 4 & LOW_NIBBLES);
                *above = 0;
            }
        });
        self.most = [0; MAX_PACKED];
    }

    /// Adds the votes to those of their classes and resets them.
    pub(super) fn empty_into(&mut self, votes: &mut [u32]) {
        self.spread();
        let Self { bytes, least, .. } = self;
        let batch = bytes[0].len();
        in_vectors!(self.arch, {
            for (class, votes) in votes.chunks_exact_mut(batch).enumerate() {
                let (word, shift) = (class / 8, 8 * (class % 8));
                for (votes, bytes) in votes.iter_mut().zip(&bytes[word]) {
                    *votes += (bytes.wrapping_add(least[word]) >> shift) as u32 & 255;
                }
            }
        });
        bytes.iter_mut().for_each(|bytes| bytes.fill(0));
        (self.least, self.parties) = ([0; 2], 0);
    }
}

/// Sums of all classes.
#[inline(always)]
fn sum(one: Packed, other: Packed) -> Packed {
    [one[0].wrapping_add(other[0]), one[1].wrapping_add(other[1])]
}

impl Group {
    /// Loads the data that the samples of a batch read at random into the caches: with thousands of parties, the tables
    /// of all groups do not fit there, and memory is read several times as fast in order.
    fn fetch(&self) {
        self.table.fetch();
        match &self.histograms {
            Histograms::Near { above, .. } => fetch(above),
            Histograms::Far(histograms) => fetch(histograms.as_flattened()),
        }
    }

    /// Draws an outcome for every sample of a row; adds the samples in which it is B to a list.
    #[inline(always)]
    fn draw_row(&self, halves: &[u32; ROW], words: &Halves, first: usize, unlikely: &mut Vec<usize>) -> [u32; ROW] {
        let mut outcomes = [0; ROW];
        let open = self.table.reader().draw_row(
            #[inline(always)]
            |_| 0,
            halves,
            &mut outcomes,
        );
        if open {
            self.complete(halves, words, first, &mut outcomes);
        }
        let mut found = false;
        for outcome in outcomes {
            found |= outcome == self.likely;
        }
        if found {
            let lanes = outcomes.iter().enumerate().filter(|(_, outcome)| **outcome == self.likely);
            unlikely.extend(lanes.map(|(lane, _)| first + lane));
        }
        outcomes
    }

    /// The outcomes of whole words.
    #[cold]
    #[inline(never)]
    fn complete(&self, halves: &[u32; ROW], words: &Halves, first: usize, outcomes: &mut [u32; ROW]) {
        for (lane, outcome) in outcomes.iter_mut().enumerate() {
            let word = whole(halves[lane], words.rest().half(first + lane));
            *outcome = self.table.reader().decide(0, word) as u32;
        }
    }

    #[cold]
    fn draw_unlikely(&self, stream: &mut Stream) -> Packed {
        let Some(cuts) = &self.cuts else { return [0; 2] };
        let cut = &self.cut_off[cuts.draw(stream.next_u64())];
        let mut histogram = cut.histograms[cut.table.draw(stream.next_u64())];
        for distribution in &self.distributions[cut.parties..] {
            histogram = with_vote(histogram, distribution.draw(stream.next_u64()));
        }
        histogram
    }
}

/// A histogram with one more vote.
fn with_vote([low, high]: Packed, class: usize) -> Packed {
    let vote = 1 << (8 * (class % 8));
    if class < 8 { [low + vote, high] } else { [low, high + vote] }
}

/// Groups of parties, the first with the first party; and that group with its other distribution.
pub(super) fn groups(parties: &[Vec<f64>], marked: &[f64]) -> (Vec<Group>, Group) {
    let mut order: Vec<&[f64]> = parties[1..].iter().map(Vec::as_slice).collect();
    order.sort_by_key(|p| key(p));
    let mut groups = Vec::new();
    let (mut first, mut changed) = (Distribution::of(&parties[0]), Distribution::of(marked));
    let mut others = order.into_iter().peekable();
    while let Some((more, more_changed)) = others.peek().and_then(|p| first.with(p).zip(changed.with(p))) {
        (first, changed) = (more, more_changed);
        others.next();
    }
    groups.push(first.group());
    while let Some(p) = others.next() {
        let mut distribution = Distribution::of(p);
        while let Some(more) = others.peek().and_then(|p| distribution.with(p)) {
            distribution = more;
            others.next();
        }
        groups.push(distribution.group());
    }
    (groups, changed.group())
}

/// Parties that vote for the same few classes have few joint histograms: the number of classes that a party is likely
/// to vote for, and which ones.
fn key(p: &[f64]) -> (u32, u32) {
    let likely = p.iter().enumerate().fold(0u32, |set, (class, &p)| set | u32::from(p > 0.01) << class);
    (likely.count_ones(), likely)
}

/// The distribution of the histogram of some parties while a group grows.
#[derive(Clone)]
struct Distribution<'a> {
    parties: Vec<&'a [f64]>,
    /// A: histograms in order, with their probabilities.
    likely: Vec<Weighted>,
    /// The D_j, with the number of parties they are after.
    cut_off: Vec<(usize, Rc<[Weighted]>)>,
    /// The mass of B.
    cut: f64,
}

impl<'a> Distribution<'a> {
    fn of(p: &'a [f64]) -> Self {
        let likely = added(&[([0; 2], 1.0)], p);
        Self { parties: vec![p], likely, cut_off: Vec::new(), cut: 0.0 }
    }

    /// With one more party; `None` if that would omit too much, or give more votes than a byte holds.
    fn with(&self, p: &'a [f64]) -> Option<Self> {
        if self.parties.len() == MAX_ADDED {
            return None;
        }
        let mut likely = added(&self.likely, p);
        let mut distribution = Self { parties: self.parties.clone(), likely: Vec::new(), ..self.clone() };
        distribution.parties.push(p);
        if likely.len() > MAX_LIKELY {
            let mut by_weight: Vec<f64> = likely.iter().map(|(_, weight)| *weight).collect();
            let (_, &mut least, _) = by_weight.select_nth_unstable_by(MAX_LIKELY - 1, |a, b| b.total_cmp(a));
            let cut: Vec<Weighted> = likely.iter().copied().filter(|(_, weight)| *weight < least).collect();
            likely.retain(|(_, weight)| *weight >= least);
            distribution.cut += cut.iter().map(|(_, weight)| weight).sum::<f64>();
            distribution.cut_off.push((distribution.parties.len(), cut.into()));
        }
        distribution.likely = likely;
        // Ties at the end of the list could make it too long.
        (distribution.cut <= MAX_CUT && distribution.likely.len() <= 2 * MAX_LIKELY).then_some(distribution)
    }

    fn group(self) -> Group {
        let (histograms, mut weights): (Vec<Packed>, Vec<f64>) = self.likely.into_iter().unzip();
        let likely = histograms.len() as u32;
        let mut cuts = Vec::new();
        let cut_off = self.cut_off.into_iter().flat_map(|(parties, cut)| {
            // The largest number of cells of an alias table.
            cut.chunks(super::alias::MAX_CELLS)
                .map(|cut| {
                    let (histograms, weights): (Vec<Packed>, Vec<f64>) = cut.iter().copied().unzip();
                    cuts.push(weights.iter().sum::<f64>());
                    CutOff { parties, table: AliasTables::of(&weights), histograms }
                })
                .collect::<Vec<_>>()
        });
        let cut_off: Vec<CutOff> = cut_off.collect();
        if !cuts.is_empty() {
            weights.push(self.cut);
        }
        Group {
            parties: self.parties.len(),
            table: AliasTables::of(&weights),
            histograms: Histograms::of(histograms, !cuts.is_empty()),
            likely,
            cuts: (!cuts.is_empty()).then(|| AliasTables::of(&cuts)),
            cut_off,
            distributions: self.parties.into_iter().map(AliasTables::of).collect(),
        }
    }
}

/// Histograms with one more vote of this distribution.
fn added(likely: &[Weighted], p: &[f64]) -> Vec<Weighted> {
    let mut all = Vec::with_capacity(likely.len() * p.len());
    for (class, &p) in p.iter().enumerate().filter(|(_, p)| **p > 0.0) {
        all.extend(likely.iter().map(|&(histogram, weight)| (with_vote(histogram, class), weight * p)));
    }
    // A stable sort, so the sums do not depend on the sorting algorithm.
    all.sort_by_key(|(histogram, _)| *histogram);
    all.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    all.retain(|(_, weight)| *weight > NEGLIGIBLE);
    all
}

#[cfg(test)]
mod tests {
    use super::super::stream::{StreamId, World};
    use super::*;
    use crate::variate::p_value;
    use std::collections::BTreeMap;

    /// Five parties that are nearly certain to vote for one of 16 classes: the table has the likely histograms, and the
    /// omitted ones are drawn by their own distribution. Fails with probability 1e-6 each.
    #[test]
    fn what_the_table_leaves_out_is_drawn_exactly() {
        let party = |sure: usize| -> Vec<f64> {
            let weights = (0..16).map(|class| if class == sure { 400.0 } else { 1.0 + class as f64 / 8.0 });
            let total: f64 = weights.clone().sum();
            weights.map(|weight| weight / total).collect()
        };
        let parties: Vec<Vec<f64>> = [0, 0, 1, 0, 1].map(party).to_vec();
        let (groups, changed) = groups(&parties, &parties[0]);
        assert_eq!((groups.len(), groups[0].parties, changed.parties), (1, 5, 5));
        let group = &groups[0];
        assert!(!group.cut_off.is_empty() && (group.likely as usize) < group.table.len());

        // The distribution of all histograms; the table has the likely ones.
        let mut distribution: BTreeMap<Packed, f64> = BTreeMap::from([([0; 2], 1.0)]);
        for p in &parties {
            let mut next = BTreeMap::new();
            for (histogram, weight) in distribution {
                for (class, p) in p.iter().enumerate() {
                    *next.entry(with_vote(histogram, class)).or_insert(0.0) += weight * p;
                }
            }
            distribution = next;
        }
        let table = group.table.distribution(0);
        let Histograms::Near { least, above, .. } = &group.histograms else { panic!("votes differ by five") };
        for (above, p) in above[..group.likely as usize].iter().zip(&table) {
            let histogram = sum(*least, [above & LOW_NIBBLES, above >> 4 & LOW_NIBBLES]);
            let whole = distribution[&histogram];
            assert!(*p <= whole * (1.0 + 1e-9) + 1e-15);
            distribution.insert(histogram, whole - p);
        }
        let rest: f64 = distribution.values().sum();
        assert!((rest / table[group.likely as usize] - 1.0).abs() < 1e-9 && rest <= MAX_CUT, "{rest}");

        let mut stream = Stream::new(StreamId { seed: 4, query: 0, world: World::Dataset, block: 0 });
        let mut drawn: BTreeMap<Packed, u64> = distribution.keys().map(|&histogram| (histogram, 0)).collect();
        for _ in 0..400_000 {
            *drawn.get_mut(&group.draw_unlikely(&mut stream)).expect("a histogram of five votes") += 1;
        }
        let shares: Vec<f64> = distribution.values().map(|weight| (weight / rest).max(0.0)).collect();
        let fit = p_value(&drawn.into_values().collect::<Vec<_>>(), &shares);
        println!(
            "{} histograms left out, mass {rest:.2e}, p-value {fit:.4}",
            distribution.len() - group.likely as usize
        );
        assert!(fit > 1e-6);

        // And the table draws it with the expected frequency: five standard deviations.
        let words: Vec<u64> = (0..1 << 20).map(|_| stream.next_u64()).collect();
        let found = words.iter().filter(|&&word| group.table.draw(word) == group.likely as usize).count() as f64;
        let expected = rest * words.len() as f64;
        assert!((found - expected).abs() < 5.0 * expected.sqrt() + 1.0, "{found} {expected}");
    }
}
