//! Groups of parties with an alias table of their likely joint histograms.
//!
//! A group grows party by party. Its distribution is A + B: A holds the likely histograms one by one, B is what was
//! left out. One more party with distribution p makes it A*p + B*p; where A*p has too many histograms, the least likely
//! of them, D, are cut off,
//! ```text
//! A' = A*p - D,    B' = B*p + D,    so that at last    B = Σ_j D_j * p_{j+1} * .. * p_last.
//! ```
//! The table of the group has the histograms of A and one more outcome for B. When that is drawn, which is rare, a cut
//! j is chosen by its mass, a histogram of D_j by its own table, and the parties that came after the cut vote one by
//! one.

use super::alias::AliasTables;
use super::stream::Stream;
use rand::Rng;
use std::rc::Rc;

/// Classes that are added as bytes.
pub(super) const MAX_PACKED: usize = 16;
/// Histograms in the table of a group: read at random for a batch of samples, it should stay in the nearest caches.
const MAX_LIKELY: usize = 2048;
/// The most that B may weigh.
const MAX_CUT: f64 = 0.001;
/// Histograms below this probability are forgotten: those of a group together weigh less than the 2^-50 of its table.
const NEGLIGIBLE: f64 = 5.421_010_862_427_522e-20;

/// Votes per class as bytes.
pub(super) type Packed = [u64; 2];

/// A histogram with its probability.
type Weighted = (Packed, f64);

/// Parties that are drawn together.
#[derive(Debug)]
pub(super) struct Group {
    parties: usize,
    table: AliasTables,
    /// The histogram of every outcome of the table; nothing for B.
    histograms: Vec<Packed>,
    /// The number of the outcome B: the last, if there is one.
    likely: usize,
    /// Which cut.
    cuts: Option<AliasTables>,
    cut_off: Vec<CutOff>,
    /// The distributions of the parties, in the order in which they came.
    distributions: Vec<AliasTables>,
}

/// D_j, after so many parties.
#[derive(Debug)]
struct CutOff {
    parties: usize,
    table: AliasTables,
    histograms: Vec<Packed>,
}

impl Group {
    /// Number of parties.
    pub(super) const fn parties(&self) -> usize {
        self.parties
    }

    /// Adds a histogram to every sum, from a word each and, where that says B, from the stream.
    pub(super) fn add(&self, words: &[u64], stream: &mut Stream, sums: &mut [Packed]) {
        let mut unlikely = Vec::new();
        for (sample, (sum, &word)) in sums.iter_mut().zip(words).enumerate() {
            let outcome = self.table.draw(word);
            let [low, high] = self.histograms[outcome];
            sum[0] += low;
            sum[1] += high;
            if outcome == self.likely {
                unlikely.push(sample);
            }
        }
        for sample in unlikely {
            let [low, high] = self.draw_unlikely(stream);
            sums[sample][0] += low;
            sums[sample][1] += high;
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

/// Groups of at most so many parties, the first with the first party; and that group with its other distribution.
pub(super) fn groups(parties: &[Vec<f64>], marked: &[f64], most: usize) -> (Vec<Group>, Group) {
    let mut order: Vec<&[f64]> = parties[1..].iter().map(Vec::as_slice).collect();
    order.sort_by_key(|p| key(p));
    let mut groups = Vec::new();
    let (mut first, mut changed) = (Distribution::of(&parties[0]), Distribution::of(marked));
    let mut others = order.into_iter().peekable();
    while let Some((more, more_changed)) = others.peek().and_then(|p| first.with(p, most).zip(changed.with(p, most))) {
        (first, changed) = (more, more_changed);
        others.next();
    }
    groups.push(first.group());
    while let Some(p) = others.next() {
        let mut distribution = Distribution::of(p);
        while let Some(more) = others.peek().and_then(|p| distribution.with(p, most)) {
            distribution = more;
            others.next();
        }
        groups.push(distribution.group());
    }
    (groups, changed.group())
}

/// Parties that vote for the same few classes have few joint histograms: the number of classes that a party is likely
/// to vote for, and which.
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

    /// With one more party; None when that would leave out too much, or make more votes than `most`.
    fn with(&self, p: &'a [f64], most: usize) -> Option<Self> {
        if self.parties.len() == most {
            return None;
        }
        let mut likely = added(&self.likely, p);
        let mut distribution = Self { parties: self.parties.clone(), likely: Vec::new(), ..self.clone() };
        distribution.parties.push(p);
        if likely.len() > MAX_LIKELY {
            let mut by_weight: Vec<f64> = likely.iter().map(|(_, weight)| *weight).collect();
            by_weight.sort_by(|a, b| b.total_cmp(a));
            let least = by_weight[MAX_LIKELY - 1];
            let cut: Vec<Weighted> = likely.iter().copied().filter(|(_, weight)| *weight < least).collect();
            likely.retain(|(_, weight)| *weight >= least);
            distribution.cut += cut.iter().map(|(_, weight)| weight).sum::<f64>();
            distribution.cut_off.push((distribution.parties.len(), cut.into()));
        }
        distribution.likely = likely;
        // Ties at the end of the list could keep it too long.
        (distribution.cut <= MAX_CUT && distribution.likely.len() <= 2 * MAX_LIKELY).then_some(distribution)
    }

    fn group(self) -> Group {
        let (mut histograms, mut weights): (Vec<Packed>, Vec<f64>) = self.likely.into_iter().unzip();
        let likely = histograms.len();
        let mut cuts = Vec::new();
        let cut_off = self.cut_off.into_iter().flat_map(|(parties, cut)| {
            // An alias table has so many cells at most.
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
            histograms.push([0; 2]);
        }
        Group {
            parties: self.parties.len(),
            table: AliasTables::of(&weights),
            histograms,
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
    // A stable sort, so that the sums do not depend on how it sorts.
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
    use super::super::goodness_of_fit::p_value;
    use super::super::stream::{StreamId, World};
    use super::*;
    use std::collections::BTreeMap;

    /// Five parties that are nearly sure of one of 16 classes: the table has the likely histograms and what it leaves
    /// out is drawn by its own distribution. Fails with probability 1e-6 each.
    #[test]
    fn what_the_table_leaves_out_is_drawn_exactly() {
        let party = |sure: usize| -> Vec<f64> {
            let weights = (0..16).map(|class| if class == sure { 400.0 } else { 1.0 + class as f64 / 8.0 });
            let total: f64 = weights.clone().sum();
            weights.map(|weight| weight / total).collect()
        };
        let parties: Vec<Vec<f64>> = [0, 0, 1, 0, 1].map(party).to_vec();
        let (groups, changed) = groups(&parties, &parties[0], 255);
        assert_eq!((groups.len(), groups[0].parties(), changed.parties()), (1, 5, 5));
        let group = &groups[0];
        assert!(!group.cut_off.is_empty() && group.likely < group.table.len());

        // The distribution of all histograms, of which the table has the likely ones.
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
        let table = group.table.distribution(0, group.table.len() as u32);
        for (histogram, p) in group.histograms[..group.likely].iter().zip(&table) {
            let whole = distribution[histogram];
            assert!(*p <= whole * (1.0 + 1e-9) + 1e-15);
            distribution.insert(*histogram, whole - p);
        }
        let rest: f64 = distribution.values().sum();
        assert!((rest / table[group.likely] - 1.0).abs() < 1e-9 && rest <= MAX_CUT, "{rest}");

        let mut stream = Stream::new(StreamId { seed: 4, query: 0, world: World::Dataset, block: 0 });
        let mut drawn: BTreeMap<Packed, u64> = distribution.keys().map(|&histogram| (histogram, 0)).collect();
        for _ in 0..400_000 {
            *drawn.get_mut(&group.draw_unlikely(&mut stream)).expect("a histogram of five votes") += 1;
        }
        let shares: Vec<f64> = distribution.values().map(|weight| (weight / rest).max(0.0)).collect();
        let fit = p_value(&drawn.into_values().collect::<Vec<_>>(), &shares);
        println!("{} histograms left out, mass {rest:.2e}, p-value {fit:.4}", distribution.len() - group.likely);
        assert!(fit > 1e-6);

        // And the table draws it as often as it should: five standard deviations.
        let words: Vec<u64> = (0..1 << 20).map(|_| stream.next_u64()).collect();
        let found = words.iter().filter(|&&word| group.table.draw(word) == group.likely).count() as f64;
        let expected = rest * words.len() as f64;
        assert!((found - expected).abs() < 5.0 * expected.sqrt() + 1.0, "{found} {expected}");
    }
}
