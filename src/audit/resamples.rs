//! Resampled counts of both worlds, in the cells of a partition, and their plug-in divergences.

use crate::bound::Direction;
use crate::counts::PairedCounts;
use crate::parallel;
use crate::special::{exp_less_one_in_loops, log_sum_exp};
use crate::vectorized::{Arch, in_vectors};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Binomial, Distribution};

/// Number of resamples drawn from one random stream: fixed, so threads do not matter.
const BLOCK: usize = 256;
/// Number of resamples whose terms are computed together.
const ROWS: usize = 64;
/// Above this exponent, powers are added as logarithms.
const LARGEST_EXPONENT: f64 = 600.0;

/// Resampled frequencies in the cells of one partition.
#[derive(Debug, Clone, Default)]
pub(super) struct Resamples {
    cells: usize,
    /// Counts as recorded, by cell.
    observed: [Vec<u64>; 2],
    /// Frequencies, p - q and ln p/q, by resample and then by cell; 0 for ln 0/0.
    p: Vec<f64>,
    q: Vec<f64>,
    difference: Vec<f64>,
    log_ratio: Vec<f64>,
    /// The smallest and the largest ln p/q of each resample.
    extremes: Vec<(f64, f64)>,
}

/// The cell of each outcome in the k-cut: outcomes seen in only one world share a cell, together with the rarest others
/// until that cell was seen in both.
pub(super) fn partition(counts: &PairedCounts) -> Vec<usize> {
    let both: Vec<(u64, u64)> = counts.counts().iter().copied().zip(counts.counts_neighbor().iter().copied()).collect();
    let mut others: Vec<usize> = (0..both.len()).filter(|&c| both[c].0 > 0 && both[c].1 > 0).collect();
    others.sort_by_key(|&c| (std::cmp::Reverse(u128::from(both[c].0) + u128::from(both[c].1)), c));
    let mut shared: Vec<usize> = (0..both.len()).filter(|&c| both[c].0 == 0 || both[c].1 == 0).collect();
    let one_sided = |shared: &[usize]| {
        let sum = |side: fn(&(u64, u64)) -> u64| shared.iter().map(|&c| side(&both[c])).sum::<u64>();
        (sum(|x| x.0) == 0) != (sum(|x| x.1) == 0)
    };
    while one_sided(&shared) {
        let Some(rarest) = others.pop() else { break };
        shared.push(rarest);
    }
    let mut cells = vec![0; both.len()];
    let first = usize::from(!shared.is_empty());
    others.sort_unstable();
    others.iter().enumerate().for_each(|(index, &outcome)| cells[outcome] = first + index);
    cells
}

impl Resamples {
    /// Draws Mult(n, p̂) and Mult(n', q̂) this many times, and counts each draw in every partition, given as the cell
    /// of each outcome.
    pub(super) fn draw(counts: &PairedCounts, partitions: &[Vec<usize>], resamples: usize, seed: u64) -> Vec<Self> {
        let worlds = [counts.counts(), counts.counts_neighbor()];
        let totals = [counts.trials(), counts.trials_neighbor()];
        let distributions = [0, 1].map(|world| shares(worlds[world]));
        let sizes: Vec<usize> = partitions.iter().map(|cells| cells.iter().max().map_or(1, |most| most + 1)).collect();
        let ends: Vec<usize> = sizes
            .iter()
            .scan(0, |end, size| {
                *end += size;
                Some(*end)
            })
            .collect();
        let width = ends.last().copied().unwrap_or(0);
        let places = Places::new(partitions, &sizes);
        let blocks = parallel::map(0..resamples.div_ceil(BLOCK), |block| {
            let mut stream = ChaCha8Rng::seed_from_u64(seed);
            stream.set_stream(block as u64);
            let length = BLOCK.min(resamples - block * BLOCK);
            let mut drawn = vec![[0.0; 2]; width * length];
            for row in drawn.chunks_exact_mut(width) {
                for (world, distribution) in distributions.iter().enumerate() {
                    multinomial(distribution, totals[world], &mut stream, |outcome, count| {
                        for &place in places.of(outcome) {
                            row[place][world] += count as f64;
                        }
                    });
                }
                places.fill(row, totals);
            }
            drawn
        });
        let of = |(index, cells): (usize, &Vec<usize>)| {
            let (size, end) = (sizes[index], ends[index]);
            let observed = worlds.map(|world| {
                let mut sums = vec![0; size];
                world.iter().zip(cells).for_each(|(&count, &cell)| sums[cell] += count);
                sums
            });
            let mut of = Self { cells: size, observed, ..Self::default() };
            [&mut of.p, &mut of.q, &mut of.difference, &mut of.log_ratio]
                .into_iter()
                .for_each(|column| column.reserve(size * resamples));
            for row in blocks.iter().flat_map(|block| block.chunks_exact(width)) {
                let row = row[end - size..end].iter();
                of.push(row.map(|&[x, y]| (x / totals[0] as f64, y / totals[1] as f64)));
            }
            of
        };
        partitions.iter().enumerate().map(of).collect()
    }

    /// Adds a resample with these frequencies of its cells.
    fn push(&mut self, frequencies: impl Iterator<Item = (f64, f64)>) {
        let (mut least, mut most) = (0.0f64, 0.0f64);
        for (p, q) in frequencies {
            // From the difference, which is exact if p and q are close.
            let log_ratio = if p == q { 0.0 } else { libm::log1p((p - q) / q) };
            (least, most) = (least.min(log_ratio), most.max(log_ratio));
            self.p.push(p);
            self.q.push(q);
            self.difference.push(p - q);
            self.log_ratio.push(log_ratio);
        }
        self.extremes.push((least, most));
    }

    /// Plug-in D_α of every resample, ln(Σ q (p/q)^α)/(α-1). The sum minus 1 is Σ [q (e^{αl} - 1) - α (p - q)] with l =
    /// ln p/q, where every term is at least 0; for the other direction, p and q are exchanged and l changes sign.
    pub(super) fn divergences(&self, a: f64, direction: Direction) -> Vec<f64> {
        let (weights, sign) = match direction {
            Direction::Forward => (&self.q, a),
            Direction::Reverse => (&self.p, -a),
        };
        let mut values = Vec::with_capacity(self.extremes.len());
        let mut terms = vec![0.0; ROWS * self.cells];
        let size = terms.len();
        let columns = weights.chunks(size).zip(self.difference.chunks(size)).zip(self.log_ratio.chunks(size));
        for (((weights, differences), log_ratios), extremes) in columns.zip(self.extremes.chunks(ROWS)) {
            in_vectors!(Arch::new(), {
                for (((term, q), d), l) in terms.iter_mut().zip(weights).zip(differences).zip(log_ratios) {
                    *term = q * exp_less_one_in_loops(sign * l) - sign * d;
                }
            });
            let rows = terms.chunks_exact(self.cells).zip(weights.chunks_exact(self.cells));
            let rows = rows.zip(log_ratios.chunks_exact(self.cells)).zip(extremes);
            values.extend(rows.map(|(((terms, q), log_ratio), &(least, most))| {
                let largest = sign * if sign > 0.0 { most } else { least };
                let value = if largest == f64::INFINITY {
                    // An outcome that only one world has, or an order at which everything overflows.
                    return f64::INFINITY;
                } else if largest > LARGEST_EXPONENT {
                    let possible = q.iter().zip(log_ratio).filter(|(q, _)| **q > 0.0);
                    log_sum_exp(possible.map(|(q, l)| q.ln() + sign * l))
                } else {
                    libm::log1p(terms.iter().sum())
                };
                let divergence = value / (a - 1.0);
                if divergence > 0.0 { divergence } else { 0.0 }
            }));
        }
        values
    }

    /// Plug-in D_α of the counts as recorded.
    pub(super) fn observed(&self, a: f64, direction: Direction) -> f64 {
        let [x, y] = &self.observed;
        self.of_counts(x, y, a, direction)
    }

    fn of_counts(&self, x: &[u64], y: &[u64], a: f64, direction: Direction) -> f64 {
        let (n, m) = (x.iter().sum::<u64>() as f64, y.iter().sum::<u64>() as f64);
        let mut one = Self { cells: self.cells, ..Self::default() };
        one.push(x.iter().zip(y).map(|(&x, &y)| (x as f64 / n, y as f64 / m)));
        one.divergences(a, direction).first().copied().unwrap_or(0.0)
    }

    /// Acceleration of two samples, Σ_k Σ_i U³/n_k³ / (6 (Σ_k Σ_i U²/n_k²)^{3/2}), with the jackknife's
    /// U = (n_k - 1)(mean of θ without one output of world k, less θ without output i). Outputs of one cell are
    /// alike, so the sums over outputs are sums over cells with their counts as weights. 0 if a left-out output makes
    /// the divergence infinite or leaves a world empty.
    ///
    /// Efron and Tibshirani (1993), Eq. (14.15), for several samples as in Davison and Hinkley (1997), section 5.3.
    pub(super) fn acceleration(&self, a: f64, direction: Direction) -> f64 {
        let (mut cubes, mut squares) = (0.0, 0.0);
        for world in 0..2 {
            let counts = &self.observed[world];
            let total: u64 = counts.iter().sum();
            if total < 2 {
                return 0.0;
            }
            let without: Vec<f64> = (0..self.cells)
                .map(|cell| {
                    if counts[cell] == 0 {
                        return 0.0;
                    }
                    let mut fewer = self.observed.clone();
                    fewer[world][cell] -= 1;
                    self.of_counts(&fewer[0], &fewer[1], a, direction)
                })
                .collect();
            let n = total as f64;
            let mean: f64 = without.iter().zip(counts).map(|(value, &count)| value * (count as f64 / n)).sum();
            for (value, &count) in without.iter().zip(counts) {
                let u = (n - 1.0) * (mean - value);
                squares += count as f64 / n * u * u / n;
                cubes += count as f64 / n * u * u * u / n / n;
            }
        }
        let acceleration = cubes / (6.0 * squares * squares.sqrt());
        if acceleration.is_finite() { acceleration } else { 0.0 }
    }
}

/// The places in a row with the cells of all partitions to which the count of each outcome is added.
///
/// The cell of a partition with the most outcomes is skipped and filled afterwards with the remainder of the total, so
/// that K sets of one outcome each cost K additions and not K². Counts are whole numbers below 2^53, so the differences
/// equal the sums, to the last digit.
struct Places {
    /// Places of all outcomes, one outcome after the other, and where those of each outcome begin.
    places: Vec<usize>,
    starts: Vec<usize>,
    /// The cells of each partition in a row, and its cell that is filled afterwards.
    cells: Vec<(std::ops::Range<usize>, usize)>,
}

impl Places {
    fn new(partitions: &[Vec<usize>], sizes: &[usize]) -> Self {
        let mut first = 0;
        let cells: Vec<(std::ops::Range<usize>, usize)> = partitions
            .iter()
            .zip(sizes)
            .map(|(of_outcomes, &size)| {
                let mut outcomes = vec![0usize; size];
                of_outcomes.iter().for_each(|&cell| outcomes[cell] += 1);
                let largest = (0..size).max_by_key(|&cell| outcomes[cell]).unwrap_or(0);
                let range = first..first + size;
                first += size;
                (range, largest)
            })
            .collect();
        let outcomes = partitions.first().map_or(0, Vec::len);
        let (mut places, mut starts) = (Vec::new(), Vec::with_capacity(outcomes + 1));
        for outcome in 0..outcomes {
            starts.push(places.len());
            let of_partition = partitions.iter().zip(&cells).filter(|(of, (_, largest))| of[outcome] != *largest);
            places.extend(of_partition.map(|(of, (range, _))| range.start + of[outcome]));
        }
        starts.push(places.len());
        let cells = cells.into_iter().map(|(range, largest)| (range.clone(), range.start + largest)).collect();
        Self { places, starts, cells }
    }

    fn of(&self, outcome: usize) -> &[usize] {
        &self.places[self.starts[outcome]..self.starts[outcome + 1]]
    }

    /// Gives the remainder of the totals to the skipped cells.
    fn fill(&self, row: &mut [[f64; 2]], totals: [u64; 2]) {
        for (range, largest) in &self.cells {
            for (world, total) in totals.into_iter().enumerate() {
                let others: f64 = range.clone().filter(|cell| cell != largest).map(|cell| row[cell][world]).sum();
                row[*largest][world] = total as f64 - others;
            }
        }
    }
}

/// For each outcome with a count, likely ones first: its share of the total of itself and all later ones.
fn shares(counts: &[u64]) -> Vec<(usize, f64)> {
    let mut order: Vec<usize> = (0..counts.len()).filter(|&outcome| counts[outcome] > 0).collect();
    order.sort_by_key(|&outcome| (std::cmp::Reverse(counts[outcome]), outcome));
    let mut left: u64 = counts.iter().sum();
    let share = |outcome: usize| {
        let share = counts[outcome] as f64 / left as f64;
        left -= counts[outcome];
        (outcome, share)
    };
    order.into_iter().map(share).collect()
}

/// Adds a multinomial draw, outcome by outcome. `rand_distr` is off by up to 5e-6 in total variation for 10^10 outputs,
/// which a quantile of 10^6 resamples cannot detect, and is three times as fast as the sampler of simulations.
fn multinomial(shares: &[(usize, f64)], total: u64, stream: &mut ChaCha8Rng, mut add: impl FnMut(usize, u64)) {
    let mut left = total;
    for &(outcome, share) in shares {
        // A share is a probability, so the distribution exists.
        let count = if share < 1.0 {
            Binomial::new(left, share).map_or(0, |distribution| distribution.sample(stream))
        } else {
            left
        };
        add(outcome, count);
        left -= count.min(left);
        if left == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
