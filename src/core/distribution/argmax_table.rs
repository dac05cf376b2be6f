//! Noisy argmaxes of many histograms that share their noise: one table of Φ for all of them.
//!
//! p_c(h) = ∫ f_c Π_{i≠c} F_i dx by the trapezoid rule in x, with F_i = Φ((x - h_i)/σ). Nodes and votes lie on one
//! lattice, so a table in the one variable x - h_i serves every node and every count. With the whole product Π_i F_i,
//! and with F_i replaced by the ratios f_i/F_i and, for a vote more or less, Φ((x - h_i ∓ 1)/σ)/F_i, a mean over whom a
//! vote goes to costs no more than one histogram:
//! ```text
//! Σ_y w_y p_c(h ± e_y) = ∫ Π_i F_i [w_c f_c^±/F_c + f_c/F_c (Σ_y w_y F_y^±/F_y - w_c F_c^±/F_c)] dx.
//! ```

use super::noise::Noise;
use crate::error::{Error, Result};
use crate::special::{LN_SQRT_2PI, log_ndtr, ndtr};

/// A vote more or a vote less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// A vote more.
    More,
    /// A vote less.
    Less,
}

/// Step of the trapezoid rule in units of σ for some number of classes.
///
/// The error is largest where all counts are equal. In the sum of all probabilities it is then, at a step of 0.2, below
/// 2e-15 for 30 classes, but 1e-11 for 100 and 8e-6 for 10,000; at a step of 0.1 below 1e-12 for 10,000.
pub(super) fn lattice_step(classes: f64) -> f64 {
    if classes <= 30.0 { 0.2 } else { 0.1 }
}

/// Standard deviations on each side of the largest count that are covered: the rest is below 1e-16.
const REACH: f64 = 8.5;
/// The noise scales for which a table can be made.
const SCALES: std::ops::RangeInclusive<f64> = 0.1..=1e4;

/// Values of one function at all differences x - h.
#[derive(Debug, Clone)]
struct Row {
    /// F.
    below: Vec<f64>,
    /// f/F.
    wins: Vec<f64>,
    /// F^+/F and f^+/F, then F^-/F and f^-/F.
    changed: [[Vec<f64>; 2]; 2],
}

/// The table for one noise scale. Probabilities have an absolute error of 1e-14, or of 1e-14/σ for σ below one vote.
#[derive(Debug, Clone)]
pub struct ArgmaxTable {
    /// How many classes the last entry of a histogram stands for.
    alike: f64,
    /// Steps of the lattice per vote, or votes per step: one of the two is 1.
    steps_a_vote: i64,
    votes_a_step: i64,
    /// Nodes for one histogram.
    nodes: usize,
    /// Counts further than this below the largest are treated as being this far below.
    most_behind: i64,
    /// One row for each remainder of a count by `votes_a_step`.
    rows: Vec<Row>,
    /// The difference in steps of the first entry of a row.
    first: i64,
    step: f64,
}

/// Scratch space for one histogram, reused.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    product: Vec<f64>,
    ratios: Vec<f64>,
}

impl ArgmaxTable {
    /// For histograms of this many `entries`; the last one stands for `alike` classes with the same count.
    ///
    /// # Errors
    /// [`Error::Rejected`] for Laplace noise, whose density has a kink, and for a σ outside [0.1, 1e4].
    pub fn new(noise: Noise, entries: usize, alike: f64) -> Result<Self> {
        let sigma = match noise {
            Noise::Gaussian(sigma) if SCALES.contains(&sigma.get()) => sigma.get(),
            _ => {
                let reason = format!("it is made for Gaussian noise of 0.1 to 1e4 votes, not for {noise}");
                return Err(Error::rejected("table of noisy argmaxes", reason));
            }
        };
        let wished = lattice_step(entries as f64 - 1.0 + alike) * sigma;
        let (steps_a_vote, votes_a_step) =
            if wished >= 1.0 { (1, wished as i64) } else { ((1.0 / wished).ceil() as i64, 1) };
        let step = votes_a_step as f64 / steps_a_vote as f64;
        // A change may move the largest count by a vote.
        let half = ((REACH * sigma + 1.0) / step).ceil() as i64 + 1;
        // Beyond 2 REACH behind, every node of the window has F = 1.
        let most_behind = (2.0 * REACH * sigma).ceil() as i64 + 5;
        let (first, last) = (-half - 2 * steps_a_vote - 2, half + (most_behind as f64 / step).ceil() as i64 + 2);
        let row = |remainder: i64| {
            let z = |index: i64, more: f64| (index as f64 * step + remainder as f64 - more) / sigma;
            let density = |z: f64| -0.5 * z * z - LN_SQRT_2PI - sigma.ln();
            let over = |f: &dyn Fn(i64) -> f64| -> Vec<f64> {
                (first..=last).map(|index| libm::exp(f(index) - log_ndtr(z(index, 0.0)))).collect()
            };
            let changed = |more: f64| [over(&|index| log_ndtr(z(index, more))), over(&|index| density(z(index, more)))];
            Row {
                below: (first..=last).map(|index| ndtr(z(index, 0.0))).collect(),
                wins: over(&|index| density(z(index, 0.0))),
                changed: [changed(1.0), changed(-1.0)],
            }
        };
        Ok(Self {
            alike,
            steps_a_vote,
            votes_a_step,
            nodes: 2 * half as usize + 1,
            most_behind,
            rows: (0..votes_a_step).map(row).collect(),
            first,
            step,
        })
    }

    /// The row and the range of entries of a class that is `behind` votes behind a largest count of `most`.
    ///
    /// With v votes a step, x = v t and -h = v q + r, x - h = v (t + q) + r. The window is centered on the largest.
    fn place(&self, most: i64, behind: i64) -> (&Row, std::ops::Range<usize>) {
        let center = most * self.steps_a_vote / self.votes_a_step;
        let count = most - behind.min(self.most_behind);
        let (quotient, remainder) = ((-count).div_euclid(self.votes_a_step), (-count).rem_euclid(self.votes_a_step));
        let start = center - (self.nodes as i64 - 1) / 2 + quotient * self.steps_a_vote - self.first;
        (&self.rows[remainder as usize], start as usize..start as usize + self.nodes)
    }

    /// p_c(h) for every class, for a `histogram` of at most 2^53 votes a class.
    pub fn distribution(&self, histogram: &[i64], work: &mut Workspace, distribution: &mut [f64]) {
        let most = self.product(histogram, work);
        for (&count, p) in histogram.iter().zip(distribution) {
            let (row, range) = self.place(most, most - count);
            *p = self.step * dot(&work.product, &row.wins[range]);
        }
    }

    /// Σ_y w_y p_c(h ± e_y) for every class c and each of some `weights` w, into one entry of `distributions` each.
    pub fn changed_distributions<const N: usize>(
        &self,
        histogram: &[i64],
        change: Change,
        weights: [&[f64]; N],
        work: &mut Workspace,
        distributions: &mut [Vec<f64>; N],
    ) {
        let most = self.product(histogram, work);
        for (weights, distribution) in weights.into_iter().zip(distributions) {
            work.ratios.clear();
            work.ratios.resize(self.nodes, 0.0);
            for (&count, &weight) in histogram.iter().zip(weights).filter(|(_, weight)| **weight != 0.0) {
                let (row, range) = self.place(most, most - count);
                let below = &row.changed[change as usize][0][range];
                work.ratios.iter_mut().zip(below).for_each(|(sum, ratio)| *sum += weight * ratio);
            }
            work.ratios.iter_mut().zip(&work.product).for_each(|(ratio, product)| *ratio *= product);
            for ((&count, &weight), p) in histogram.iter().zip(weights).zip(distribution.iter_mut()) {
                let (row, range) = self.place(most, most - count);
                let wins = &row.wins[range.clone()];
                let mut sum = dot(&work.ratios, wins);
                if weight != 0.0 {
                    let [below, own] = &row.changed[change as usize];
                    let own = own[range.clone()].iter().zip(&below[range]).zip(wins);
                    let excess =
                        own.zip(&work.product).map(|(((own, below), wins), product)| product * (own - below * wins));
                    sum += weight * excess.sum::<f64>();
                }
                *p = self.step * sum;
            }
        }
    }

    /// Π_i F_i at all nodes, and the largest count.
    fn product(&self, histogram: &[i64], work: &mut Workspace) -> i64 {
        let most = histogram.iter().copied().max().unwrap_or(0);
        work.product.clear();
        work.product.resize(self.nodes, 1.0);
        for &count in histogram {
            let (row, range) = self.place(most, most - count);
            work.product.iter_mut().zip(&row.below[range]).for_each(|(product, below)| *product *= below);
        }
        if let Some(&count) = histogram.last().filter(|_| self.alike > 1.0) {
            let (row, range) = self.place(most, most - count);
            let others = row.below[range].iter().map(|below| libm::pow(*below, self.alike - 1.0));
            work.product.iter_mut().zip(others).for_each(|(product, others)| *product *= others);
        }
        most
    }
}

/// Σ a b, in four lanes that the compiler keeps in registers.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (mut lanes, fours) = ([0.0; 4], a.len() / 4 * 4);
    for (a, b) in a[..fours].chunks_exact(4).zip(b[..fours].chunks_exact(4)) {
        for lane in 0..4 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a[fours..].iter().zip(&b[fours..]).map(|(a, b)| a * b).sum();
    lanes[0] + lanes[1] + (lanes[2] + lanes[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::noisy_argmax_distribution;
    use crate::histogram::VoteHistogram;

    fn exact(histogram: &[i64], noise: Noise) -> Vec<f64> {
        // Adding a vote to every class changes nothing and allows a class to have -1.
        let counts = histogram.iter().map(|&count| (count + 1) as u64).collect();
        noisy_argmax_distribution(&VoteHistogram::new(counts).unwrap(), noise).unwrap().p().to_vec()
    }

    #[test]
    fn distributions_agree_with_single_ones() {
        let histograms: [&[i64]; 7] = [
            &[70, 66, 40, 30, 20, 10, 8, 4, 2, 0],
            &[250, 0, 0, 0],
            &[3, 3, 3],
            &[125, 124],
            &[1_000_000, 999_990, 0],
            &[7],
            &[12, 11, 10, 9, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0],
        ];
        let mut worst = 0.0f64;
        for sigma in [0.1, 0.3, 1.0, 3.7, 5.0, 12.3, 40.0, 100.0, 1000.0] {
            let noise = Noise::Gaussian(crate::quantity::NoiseScale::new(sigma).unwrap());
            let mut work = Workspace::default();
            for histogram in histograms {
                let classes = histogram.len();
                let table = ArgmaxTable::new(noise, classes, 1.0).unwrap();
                let mut distribution = vec![0.0; classes];
                table.distribution(histogram, &mut work, &mut distribution);
                let mut compare = |found: &[f64], expected: &[f64]| {
                    for (found, expected) in found.iter().zip(expected) {
                        worst = worst.max((found - expected).abs());
                        assert!(
                            (found - expected).abs() < 1e-14 * (1.0 / sigma).max(1.0),
                            "{sigma} {histogram:?}: {found} {expected}"
                        );
                    }
                };
                compare(&distribution, &exact(histogram, noise));
                let rising: Vec<f64> = (0..classes).map(|y| (y + 1) as f64).collect();
                let total: f64 = rising.iter().sum();
                let rising: Vec<f64> = rising.iter().map(|weight| weight / total).collect();
                let mut single = vec![0.0; classes];
                single[classes - 1] = 1.0;
                for (change, by) in [(Change::More, 1), (Change::Less, -1)] {
                    let mut distributions = [vec![0.0; classes], vec![0.0; classes]];
                    table.changed_distributions(histogram, change, [&rising, &single], &mut work, &mut distributions);
                    for (weights, distribution) in [&rising, &single].into_iter().zip(&distributions) {
                        let mut expected = vec![0.0; classes];
                        for (y, weight) in weights.iter().enumerate() {
                            let mut changed = histogram.to_vec();
                            changed[y] += by;
                            let p = exact(&changed, noise);
                            expected.iter_mut().zip(p).for_each(|(sum, p)| *sum += weight * p);
                        }
                        compare(distribution, &expected);
                    }
                }
            }
        }
        println!("largest difference {worst:e}");
    }

    /// Many equal counts are hardest for the trapezoid rule; one entry may stand for all of them.
    #[test]
    fn distributions_of_many_classes_agree_with_single_ones() {
        for (classes, sigma) in [(31, 40.0), (100, 5.0), (1_000, 0.7), (10_000, 40.0)] {
            let noise = Noise::Gaussian(crate::quantity::NoiseScale::new(sigma).unwrap());
            let mut histogram = vec![0; classes];
            histogram[0] = 3;
            let expected = exact(&histogram, noise);
            let mut distribution = vec![0.0; classes];
            ArgmaxTable::new(noise, classes, 1.0).unwrap().distribution(
                &histogram,
                &mut Workspace::default(),
                &mut distribution,
            );
            let mut short = [0.0; 2];
            let table = ArgmaxTable::new(noise, 2, classes as f64 - 1.0).unwrap();
            table.distribution(&[3, 0], &mut Workspace::default(), &mut short);
            for (class, (found, expected)) in distribution.iter().zip(&expected).enumerate() {
                let off = (found - expected).abs().max((short[class.min(1)] - expected).abs());
                assert!(off < 1e-13 * expected.max(1e-2), "{classes} classes, class {class}: off by {off}");
            }
        }
    }

    #[test]
    fn other_noise_is_rejected() {
        for noise in ["laplace:1", "gaussian:0.04", "gaussian:1e5"] {
            assert!(ArgmaxTable::new(noise.parse().unwrap(), 2, 1.0).is_err(), "{noise}");
        }
    }
}
