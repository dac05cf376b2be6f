//! The winners of a batch of noisy votes.

use super::coarse::Coarse;
use super::deficits::{Deficits, MASKED, ROW, at_least};
use super::halves::Rest;
use super::lanes::Lanes;
use super::noise::{MARGIN, UnitNoise, is_extreme};
use super::stream::Stream;
#[cfg(target_arch = "x86_64")]
use super::wide_filter::WideFilter;
#[cfg(target_arch = "x86_64")]
use crate::vectorized::avx2;
use crate::vectorized::{Arch, in_vectors};
use std::marker::PhantomData;

/// Samples drawn together, side by side in memory: many, so that tables are read repeatedly while they are cached;
/// fewer if there are many classes, so that the votes are also cached.
pub(super) fn batch_size(classes: usize) -> usize {
    (32_768 / classes / 64 * 64).clamp(64, 2048)
}

/// Processes batches of noisy votes.
pub(super) struct Argmax<'a, N> {
    arch: Arch,
    coarse: &'a Coarse,
    /// The cell of the noise of class c in sample s at `batch` c + s.
    cells: Vec<u32>,
    winners: Vec<u32>,
    /// The bits of samples whose winner is left open by an approximation.
    open: Vec<u32>,
    finer: Finer,
    noise: PhantomData<N>,
}

impl<'a, N: UnitNoise> Argmax<'a, N> {
    /// For batches of this many samples, a multiple of 64, with coarse noise of the same distribution.
    pub(super) fn new(classes: usize, batch: usize, coarse: &'a Coarse) -> Self {
        let (cells, winners, open) = (vec![0; batch * classes], vec![0; batch], vec![0; batch / MASKED]);
        let finer = Finer::new(classes);
        Self { arch: Arch::new(), coarse, cells, winners, open, finer, noise: PhantomData }
    }

    /// The winners of a batch: argmax_c of deficit plus noise, the first one in a tie.
    ///
    /// Draws half a word for every class and sample, and one word for the batch, from which the words are generated
    /// that complete the noise where approximations leave a winner open. So winners are a function of the stream alone,
    /// whatever the approximations are: each instruction set has different ones.
    pub(super) fn winners(&mut self, deficits: &impl Deficits, lanes: &mut Lanes, stream: &mut Stream) -> &[u32] {
        lanes.fill_halves(&mut self.cells);
        let rest = Rest::new(stream);
        self.filter(deficits);
        let Self { cells, winners, open, finer, .. } = self;
        for (winners, (group, open)) in winners.chunks_exact_mut(MASKED).zip(open.iter().enumerate()) {
            let mut left = *open;
            while left != 0 {
                let place = left.trailing_zeros() as usize;
                left &= left - 1;
                winners[place] = finer.decide::<N>(self.arch, deficits, cells, group * MASKED + place, rest);
            }
        }
        winners
    }

    /// The winners as far as approximations decide.
    fn filter<D: Deficits>(&mut self, deficits: &D) {
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = avx2(self.arch) {
            return simd.vectorize(WideFilter {
                simd,
                coarse: self.coarse,
                close: 2.0 * N::COARSE,
                deficits,
                cells: &self.cells,
                winners: &mut self.winners,
                open: &mut self.open,
            });
        }
        let Self { arch, cells, winners, open, .. } = self;
        in_vectors!(*arch, filter::<N>(deficits, cells, winners, open));
    }
}

/// The winners as far as approximations decide.
#[inline(always)]
fn filter<N: UnitNoise>(deficits: &impl Deficits, cells: &[u32], winners: &mut [u32], open: &mut [u32]) {
    let cells = cells.as_chunks::<ROW>().0;
    let winners = winners.as_chunks_mut::<ROW>().0;
    let open = open.as_chunks_mut::<{ ROW / MASKED }>().0;
    let rows = winners.len();
    for row in 0..rows {
        let mut best = [f32::NEG_INFINITY; ROW];
        let mut second = [f32::NEG_INFINITY; ROW];
        let mut extreme = [0u32; ROW];
        let mut winner = [0u32; ROW];
        for class in 0..deficits.classes() {
            let cells = &cells[rows * class + row];
            let deficit = deficits.approximate(class, row);
            for lane in 0..ROW {
                let sum = deficit(lane) + N::approximate(cells[lane]);
                extreme[lane] |= u32::from(is_extreme(cells[lane]));
                let loser = if sum > best[lane] { best[lane] } else { sum };
                second[lane] = at_least(second[lane], loser);
                winner[lane] = if sum > best[lane] { class as u32 } else { winner[lane] };
                best[lane] = at_least(sum, best[lane]);
            }
        }
        winners[row] = winner;
        open[row] = [0; ROW / MASKED];
        for lane in 0..ROW {
            let is_open = extreme[lane] != 0 || !(best[lane] - second[lane] > 2.0 * MARGIN);
            open[row][lane / MASKED] |= u32::from(is_open) << (lane % MASKED);
        }
    }
}

/// Number of classes whose sums are approximated together.
const TOGETHER: usize = 16;

/// Decides about single samples.
struct Finer {
    /// The cells of all classes of a sample, and their sums, padded with extreme cells.
    cells: Vec<[u32; TOGETHER]>,
    sums: Vec<[f32; TOGETHER]>,
}

impl Finer {
    fn new(classes: usize) -> Self {
        let groups = classes.div_ceil(TOGETHER);
        Self { cells: vec![[0; TOGETHER]; groups], sums: vec![[f32::NEG_INFINITY; TOGETHER]; groups] }
    }

    /// The winner of one sample, with noise in double precision for every class that may win.
    #[cold]
    fn decide<N: UnitNoise>(
        &mut self,
        arch: Arch,
        deficits: &impl Deficits,
        cells: &[u32],
        sample: usize,
        rest: Rest,
    ) -> u32 {
        let classes = deficits.classes();
        let batch = cells.len() / classes;
        let ours = self.cells.as_flattened_mut().iter_mut().zip(self.sums.as_flattened_mut());
        for (class, (cell, sum)) in ours.enumerate().take(classes) {
            (*cell, *sum) = (cells[batch * class + sample], deficits.exact(class, sample) as f32);
        }
        in_vectors!(arch, {
            for (sums, cells) in self.sums.iter_mut().zip(&self.cells) {
                for lane in 0..TOGETHER {
                    sums[lane] += N::approximate(cells[lane]);
                }
            }
        });
        let (cells, sums) = (&self.cells.as_flattened()[..classes], &self.sums.as_flattened()[..classes]);
        let (mut best, mut second, mut winner, mut extreme) = (f32::NEG_INFINITY, f32::NEG_INFINITY, 0, false);
        for (class, (&cell, &sum)) in cells.iter().zip(sums).enumerate() {
            if is_extreme(cell) {
                extreme = true;
                continue;
            }
            second = second.max(sum.min(best));
            if sum > best {
                (best, winner) = (sum, class as u32);
            }
        }
        if !extreme && best - second > 2.0 * MARGIN {
            return winner;
        }
        let least = best - 2.0 * MARGIN;
        let (mut winner, mut most) = (0, f64::NEG_INFINITY);
        for (class, (&cell, &sum)) in cells.iter().zip(sums).enumerate() {
            if is_extreme(cell) || sum >= least {
                let value = deficits.exact(class, sample) + N::exact(cell, rest.word(batch * class + sample));
                if value > most {
                    (winner, most) = (class as u32, value);
                }
            }
        }
        winner
    }
}

#[cfg(test)]
mod tests {
    use super::super::deficits::{Few, Fixed, Random};
    use super::super::noise::{UnitGaussian, UnitLaplace};
    use super::super::stream::{StreamId, World};
    use super::*;
    use rand::Rng;

    fn stream(seed: u64) -> Stream {
        Stream::new(StreamId { seed, query: 0, world: World::Dataset, block: 0 })
    }

    fn is_open<N>(argmax: &Argmax<'_, N>, sample: usize) -> bool {
        argmax.open[sample / MASKED] >> (sample % MASKED) & 1 != 0
    }

    /// A decided winner is correct whatever the rest of the noise would have been.
    fn check<N: UnitNoise>(deficits: &impl Deficits, argmax: &Argmax<'_, N>) {
        let batch = argmax.winners.len();
        for sample in (0..batch).filter(|&sample| !is_open(argmax, sample)) {
            let winner = argmax.winners[sample] as usize;
            let range = |class: usize| {
                let cell = argmax.cells[batch * class + sample];
                let ends = [0, u64::MAX].map(|word| deficits.exact(class, sample) + N::exact(cell, word));
                (ends[0].min(ends[1]), ends[0].max(ends[1]))
            };
            let least = range(winner).0;
            assert!((0..deficits.classes()).all(|class| class == winner || range(class).1 < least), "{sample}");
        }
    }

    #[test]
    fn what_the_filter_decides_is_certain() {
        let (normal, exponential) = (Coarse::of::<UnitGaussian>(), Coarse::of::<UnitLaplace>());
        let mut stream = stream(0);
        let mut lanes = Lanes::new(&mut stream);
        let close: Vec<f64> = (0..10).map(|class| -0.2 * f64::from(class)).collect();
        let far = [0.0, -9.0, -16.0, -131.0, -1e9, f64::NEG_INFINITY];
        let mut open = 0;
        for arch in [Arch::new(), Arch::Scalar] {
            for deficits in [&close[..], &far] {
                let deficits = Fixed::new(deficits);
                let mut gaussian = Argmax::<UnitGaussian> { arch, ..Argmax::new(deficits.classes(), 2048, &normal) };
                let mut laplace = Argmax::<UnitLaplace> { arch, ..Argmax::new(deficits.classes(), 2048, &exponential) };
                for _ in 0..20 {
                    gaussian.winners(&deficits, &mut lanes, &mut stream);
                    open += gaussian.open.iter().map(|open| open.count_ones()).sum::<u32>();
                    check(&deficits, &gaussian);
                    laplace.winners(&deficits, &mut lanes, &mut stream);
                    check(&deficits, &laplace);
                }
            }
        }
        println!("{open} of {} samples left open", 80 * 2048);
        assert!((1..2_000).contains(&open));
    }

    /// The instructions of this machine, with their own approximations, give the same winners as the plain ones.
    #[test]
    fn winners_do_not_depend_on_the_vector_width() {
        let (normal, exponential) = (Coarse::of::<UnitGaussian>(), Coarse::of::<UnitLaplace>());
        let close: Vec<f64> = (0..10).map(|class| -0.2 * f64::from(class)).collect();
        let winners = |arch: Arch| {
            let mut stream = stream(1);
            let mut lanes = Lanes::new(&mut stream);
            lanes.arch = arch;
            let mut gaussian = Argmax::<UnitGaussian> { arch, ..Argmax::new(10, 2048, &normal) };
            let mut laplace = Argmax::<UnitLaplace> { arch, ..Argmax::new(10, 2048, &exponential) };
            (0..200)
                .map(|_| {
                    let winners = gaussian.winners(&Fixed::new(&close), &mut lanes, &mut stream).to_vec();
                    (winners, laplace.winners(&Fixed::new(&close), &mut lanes, &mut stream).to_vec())
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(winners(Arch::Scalar), winners(Arch::new()));
    }

    #[test]
    fn random_votes_are_compared_like_fixed_ones() {
        let normal = Coarse::of::<UnitGaussian>();
        let mut votes_stream = stream(7);
        let mut stream = stream(8);
        let mut lanes = Lanes::new(&mut stream);
        let mut argmax = Argmax::<UnitGaussian>::new(5, 2048, &normal);
        let batch = argmax.winners.len();
        for inverse_scale in [f64::MAX, 1e30, 1.0, 0.025, 1e-9, 1e-300] {
            let votes: Vec<u32> =
                (0..5 * batch).map(|_| votes_stream.next_u32() >> (1 + votes_stream.next_u32() % 31)).collect();
            let mut most = vec![0; batch];
            let deficits = Random::new(&votes, &mut most, inverse_scale);
            argmax.winners(&deficits, &mut lanes, &mut stream);
            check(&deficits, &argmax);
            for sample in 0..batch {
                let own: Vec<u64> = (0..5).map(|class| votes[batch * class + sample].into()).collect();
                let most = own.iter().max().unwrap();
                for (class, votes) in own.iter().enumerate() {
                    assert_eq!(deficits.exact(class, sample), -((most - votes) as f64) * inverse_scale);
                }
            }
            for arch in [Arch::new(), Arch::Scalar] {
                let mut argmax = Argmax::<UnitGaussian> { arch, ..Argmax::new(5, 2048, &normal) };
                let few: Vec<u32> = votes.iter().map(|votes| votes % 5_000).collect();
                assert!(Few::are(5_000, 0.025) && !Few::are(5_121, 0.025));
                let few = Few::new(&few, batch, 0.025);
                argmax.winners(&few, &mut lanes, &mut stream);
                check(&few, &argmax);
            }
        }
    }

    #[test]
    fn the_first_of_equals_wins() {
        let rest = Rest::new(&mut stream(0));
        let cells = [1 << 20; 3]; // the same noise for three classes of one sample
        let arch = Arch::new();
        let decided =
            |deficits: &[f64]| Finer::new(3).decide::<UnitGaussian>(arch, &Fixed::new(deficits), &cells, 0, rest);
        assert_eq!(decided(&[-1.0, 0.0, -1.0]), 1);
        assert_eq!(decided(&[f64::NEG_INFINITY, -1.0, 0.0]), 2);
        // The largest tail that a cell can hold is 1/2 and its noise 0, for any sign and other bits.
        let ends = [u32::MAX >> 1, u32::MAX, u32::MAX];
        let decided = Finer::new(3).decide::<UnitLaplace>(arch, &Fixed::new(&[-1.0, 0.0, 0.0]), &ends, 0, rest);
        assert!(decided == 1 || decided == 2);
    }

    #[test]
    fn batches_suit_the_number_of_classes() {
        assert_eq!([1, 2, 10, 16, 100, 1000, 10_000].map(batch_size), [2048, 2048, 2048, 2048, 320, 64, 64]);
    }
}
