//! The integral if the noise is wider than the spread of the votes: an expansion that needs no tilt and no circle.
//!
//! At every value x of the winning noisy count the density of winner c is an expectation over multinomial votes of f((x -
//! n_c)/σ)/σ Π_{i≠c} F((x - n_i)/σ), a series in Charlier's polynomials ([`charlier`](super::charlier)). Class i varies
//! by s_i = √(kP_i), and its coefficients fall like (P_i s_i²/(σ² + s_i²))^{r/2}, those of the product like
//! (Σ_i P_i s_i²/(σ² + s_i²))^{R/2}: twenty of them for 250 votes with noise of 40.
//!
//! Nothing guarantees the relative accuracy of rare winners here, so it is measured: how large the added terms are, how
//! large the last of them are, and whether the probabilities add up to 1. If any of these is not good enough, there is
//! no result, and the integral with tilts is used.

#![allow(clippy::needless_range_loop, reason = "the same lane of several arrays")]

use super::charlier::{Weights, coefficients_up_to, growth, moments};
use super::integral::LEVEL_DISTANCE;
use super::lanes::{LANES, Lane};
use super::lattice::first_step;
use super::series::{Sum, add_scaled, divide, functional, multiply, root_factorial};
use super::votes::{Group, Output, Votes};
use crate::quadrature::LogIntegral;
use crate::special::{LN_SQRT_2PI, exp_in_loops, log_poisson_pmf, ndtr};
use crate::vectorized::{Arch, in_vectors};
use rayon::prelude::*;

/// The largest number of coefficients of a product: beyond it, the integral with tilts is just as fast.
const MOST_COEFFICIENTS: usize = 48;
/// The largest number of tabulated noise values, if the votes are fewer.
const MOST_VALUES: usize = 20_000;
/// Later coefficients below this share of the first do not matter.
const DROPPED: f64 = 1e-17;
/// The largest share of a probability that the last terms may be, and the most by which terms may exceed it.
const MOST_REST: f64 = 4e-15;
const MOST_SIZE: f64 = 8.0;
/// The largest growth of rounding errors along the coefficients: below ten voters, few coefficients would be left.
const MOST_GROWTH: f64 = 10.0;
/// The largest range of numbers of votes for which the noise is collected.
const MOST_ROWS: usize = 100_000;
/// The smallest peak of a winner when all votes equal their means.
const LEAST_PEAK: f64 = 1e-280;
/// The largest share of the integral at the ends of the range, and the most that the probabilities may fall short of 1.
const MOST_AT_ENDS: f64 = 1e-16;
const MOST_LACKING: f64 = 1e-12;
/// Nodes where the density would be below this share of its peak, if the votes were their means, are left out.
const NEGLIGIBLE: f64 = 1e-24;

/// ln of the integrals, by output, then group; `None` if the expansion is not accurate.
pub(super) fn distributions(votes: &Votes, sigma: f64) -> Option<Vec<Vec<LogIntegral>>> {
    let expansion = Expansion::new(votes, sigma)?;
    let nodes = Nodes::new(&expansion)?;
    let block =
        |workspace: &mut Workspace, block: usize| in_vectors!(Arch::new(), workspace.block(&expansion, &nodes, block));
    let blocks: Vec<Vec<Sum>> =
        (0..nodes.blocks).into_par_iter().map_init(|| Workspace::new(&expansion), block).collect();
    expansion.integrals(&nodes, &blocks)
}

/// The parts of the sum that do not depend on x.
struct Expansion<'a> {
    votes: &'a Votes,
    sigma: f64,
    /// Half of the first step of the trapezoid rule: a whole number of votes.
    step: i64,
    /// Number of coefficients of a product.
    terms: usize,
    /// By group.
    weights: Vec<Weights>,
    /// By output: what the coefficients of a product are multiplied by.
    moments: Vec<Vec<f64>>,
    /// The smallest number of votes, marks included, and how many there are.
    first: i64,
    rows: usize,
}

impl<'a> Expansion<'a> {
    fn new(votes: &'a Votes, sigma: f64) -> Option<Self> {
        let step = (0.5 * first_step(votes.positions.len()) * sigma).floor();
        if !(1.0..=1e6).contains(&step) || votes.marks > 1 {
            return None;
        }
        let voters = votes.k as f64;
        let decay = |group: &Group| group.mean / voters * group.mean / (sigma * sigma + group.mean);
        let whole = votes.groups.iter().map(|group| group.multiplicity as f64 * decay(group)).sum();
        let terms = coefficients_up_to(degree(whole)?);
        let splits = |output: &Output| votes.groups.iter().all(|group| parts(group, output)[0].weight > 0.0);
        let usable = terms <= MOST_COEFFICIENTS && growth(voters, terms) <= MOST_GROWTH;
        if !(usable && votes.outputs.iter().all(splits)) {
            return None;
        }
        let of_group = |group: &Group| {
            Some(Weights::new(group.mean, voters, coefficients_up_to(degree(decay(group))? + 1).min(terms)))
        };
        let weights = votes.groups.iter().map(of_group).collect::<Option<Vec<_>>>()?;
        let shifts = || {
            votes.groups.iter().zip(&weights).flat_map(|(group, weights)| {
                group.components.iter().map(move |component| (weights.first + component.shift, weights.rows() as i64))
            })
        };
        let first = shifts().map(|(first, _)| first).min()?;
        let end = shifts().map(|(first, rows)| first + rows).max()?;
        if end - first > MOST_ROWS as i64 {
            return None;
        }
        let of_output = |output: &Output| moments(voters, votes.k - output.degree, terms);
        Some(Self {
            votes,
            sigma,
            step: step as i64,
            terms,
            weights,
            moments: votes.outputs.iter().map(of_output).collect(),
            first,
            rows: (end - first) as usize,
        })
    }
}

/// The degree from which on powers of √`square` are negligible; `None` if they never are.
fn degree(square: f64) -> Option<usize> {
    if square == 0.0 {
        return Some(0);
    }
    let degree = DROPPED.ln() / (0.5 * square.ln()) + 1.0;
    (0.0..1e3).contains(&degree).then_some(degree as usize)
}

/// The values of x, eight in a block, and the noise at all distances.
struct Nodes {
    /// The first x, a multiple of the step, and the number of blocks.
    start: i64,
    blocks: usize,
    /// The smallest distance in the tables.
    first: i64,
    below: Vec<f64>,
    /// Without the factor 1/(σ√2π).
    density: Vec<f64>,
}

impl Nodes {
    /// The nodes at which a winner matters.
    fn new(expansion: &Expansion<'_>) -> Option<Self> {
        let (votes, sigma, step) = (expansion.votes, expansion.sigma, expansion.step);
        let means = || votes.groups.iter().map(|group| group.mean);
        let (least, most) = (means().fold(f64::INFINITY, f64::min), means().fold(0.0, f64::max));
        let from = (most - 11.0 * sigma).min(0.5 * (least + most) - 8.5 * sigma);
        let spread = (2.0 * libm::log(votes.positions.len() as f64)).sqrt();
        let to = most + (11.0 + spread) * sigma;
        let [from, to] = [from, to].map(|x| (x / step as f64).floor() as i64 * step);
        // Seven more, so that the last block is complete.
        let first = from - expansion.first - expansion.rows as i64;
        let last = to + LANES as i64 * step - expansion.first;
        let length = (last - first + 1) as usize;
        if length > MOST_VALUES.max(4 * votes.k) {
            return None;
        }
        let z: Vec<f64> = (first..=last).map(|distance| distance as f64 / sigma).collect();
        let mut density: Vec<f64> = z.iter().map(|z| -0.5 * z * z).collect();
        in_vectors!(Arch::new(), density.iter_mut().for_each(|value| *value = exp_in_loops(*value)));
        let below = z.iter().map(|&z| ndtr(z)).collect();
        let mut nodes = Self { start: from, blocks: 0, first, below, density };
        let last = nodes.confine(expansion, to)?;
        nodes.blocks = ((last - nodes.start) / step) as usize / LANES + 1;
        Some(nodes)
    }

    /// Starts at the first node that matters, and returns the last one.
    fn confine(&mut self, expansion: &Expansion<'_>, to: i64) -> Option<i64> {
        let groups = &expansion.votes.groups;
        let count = ((to - self.start) / expansion.step + 1) as usize;
        // The densities when all votes equal their means.
        let mut densities = vec![0.0; count * groups.len()];
        for (node, densities) in densities.chunks_exact_mut(groups.len()).enumerate() {
            let x = self.start + node as i64 * expansion.step;
            let mut product = 1.0;
            for (group, density) in groups.iter().zip(&mut *densities) {
                let at = (x - group.mean.round() as i64 - self.first) as usize;
                product *= self.below[at].powi(group.multiplicity as i32);
                *density = self.density[at] / self.below[at];
            }
            densities.iter_mut().for_each(|density| *density *= product);
        }
        let mut peaks = vec![0.0f64; groups.len()];
        for densities in densities.chunks_exact(groups.len()) {
            peaks.iter_mut().zip(densities).for_each(|(peak, density)| *peak = peak.max(*density));
        }
        if !peaks.iter().all(|&peak| peak > LEAST_PEAK) {
            return None;
        }
        let matters =
            |densities: &[f64]| densities.iter().zip(&peaks).any(|(density, peak)| !(*density < NEGLIGIBLE * peak));
        let first = densities.chunks_exact(groups.len()).position(matters)? as i64;
        let last = densities.chunks_exact(groups.len()).rposition(matters)? as i64;
        let start = self.start;
        self.start = start + first * expansion.step;
        Some(start + last * expansion.step)
    }
}

/// Polynomials in v, each coefficient for eight nodes.
struct Workspace {
    /// F and f at the distances of the nodes from all numbers of votes.
    below: Vec<Lane>,
    density: Vec<Lane>,
    factors: Vec<Factor>,
    /// The product of the first components of all classes, and the product without one class.
    product: Vec<Lane>,
    others: Vec<Lane>,
    /// By group: its second component divided by the first.
    quotients: Vec<Lane>,
    /// The sum of all quotients, and what is to be multiplied by the others.
    sum: Vec<Lane>,
    own: Vec<Lane>,
    marked: Vec<Lane>,
}

/// A class: by component, with F and with f.
struct Factor {
    losing: Vec<Lane>,
    winning: Vec<Lane>,
    /// The last coefficient of F or f, relative to the first.
    last: Lane,
}

impl Factor {
    /// The coefficients of all components, from the values of F and f for numbers of votes from `first` on.
    #[inline(always)]
    fn fill(&mut self, group: &Group, weights: &Weights, [below, density]: [&[Lane]; 2], first: i64) {
        let terms = weights.terms;
        for (coefficients, values) in [(&mut self.losing, below), (&mut self.winning, density)] {
            // The second component is often the first, or vice versa, with one more vote.
            let (head, tail) = coefficients.split_at_mut(terms);
            let from = |index: usize| &values[(weights.first + group.components[index].shift - first) as usize..];
            if tail.is_empty() {
                weights.coefficients(from(0), head);
            } else if weights.shifts() && group.components[1].shift == group.components[0].shift + 1 {
                weights.coefficients(from(0), head);
                weights.shifted(head, tail);
            } else if weights.shifts() && group.components[0].shift == group.components[1].shift + 1 {
                weights.coefficients(from(1), tail);
                weights.shifted(tail, head);
            } else {
                weights.coefficients(from(0), head);
                weights.coefficients(from(1), tail);
            }
        }
        self.last = [0.0; LANES];
        let root_factorial = root_factorial(terms - 1);
        for series in self.losing.chunks_exact(terms).chain(self.winning.chunks_exact(terms)) {
            for lane in 0..LANES {
                // Twice: the last coefficient of a shifted series lacks the part of the next one. NaN is kept.
                let last = 2.0 * root_factorial * (series[terms - 1][lane] / series[0][lane]).abs();
                if !(last <= self.last[lane]) {
                    self.last[lane] = last;
                }
            }
        }
    }
}

impl Workspace {
    fn new(expansion: &Expansion<'_>) -> Self {
        let zeros = |length: usize| vec![[0.0; LANES]; length];
        let factor = |(group, weights): (&Group, &Weights)| {
            let length = group.components.len() * weights.terms;
            Factor { losing: zeros(length), winning: zeros(length), last: [0.0; LANES] }
        };
        let [product, others, sum, own, marked] = [(); 5].map(|()| zeros(expansion.terms));
        Self {
            below: zeros(expansion.rows),
            density: zeros(expansion.rows),
            factors: expansion.votes.groups.iter().zip(&expansion.weights).map(factor).collect(),
            quotients: zeros(expansion.votes.groups.len() * expansion.terms),
            product,
            others,
            sum,
            own,
            marked,
        }
    }

    /// The densities at a block of nodes, by output, then group.
    #[inline(always)]
    fn block(&mut self, expansion: &Expansion<'_>, nodes: &Nodes, block: usize) -> Vec<Sum> {
        let x = nodes.start + (block * LANES) as i64 * expansion.step - nodes.first - expansion.first;
        for (row, (below, density)) in self.below.iter_mut().zip(&mut self.density).enumerate() {
            for lane in 0..LANES {
                let at = (x - row as i64 + lane as i64 * expansion.step) as usize;
                (below[lane], density[lane]) = (nodes.below[at], nodes.density[at]);
            }
        }
        for ((factor, group), weights) in self.factors.iter_mut().zip(&expansion.votes.groups).zip(&expansion.weights) {
            factor.fill(group, weights, [&self.below, &self.density], expansion.first);
        }
        let mut winners = Vec::with_capacity(expansion.moments.len() * expansion.votes.groups.len());
        for (output, moments) in expansion.votes.outputs.iter().zip(&expansion.moments) {
            let scale = self.products(expansion, output);
            self.winners(expansion, output, (moments, scale), &mut winners);
        }
        winners
    }

    /// The product of the first components and the sum of the quotients; the weight of the product.
    #[inline(always)]
    fn products(&mut self, expansion: &Expansion<'_>, output: &Output) -> f64 {
        let mut scale = 1.0;
        self.product.fill([0.0; LANES]);
        self.product[0] = [1.0; LANES];
        self.sum.fill([0.0; LANES]);
        for (index, (group, weights)) in expansion.votes.groups.iter().zip(&expansion.weights).enumerate() {
            let factor = &self.factors[index];
            let [first, second] = parts(group, output);
            let series = &factor.losing[first.place(weights.terms)];
            for _ in 0..group.multiplicity {
                multiply(&mut self.own, series, &self.product);
                std::mem::swap(&mut self.own, &mut self.product);
                scale *= first.weight;
            }
            if output.marked {
                let quotient = &mut self.quotients[index * expansion.terms..][..expansion.terms];
                quotient.fill([0.0; LANES]);
                if second.weight > 0.0 {
                    let weight = second.weight / first.weight;
                    for (quotient, value) in quotient.iter_mut().zip(&factor.losing[second.place(weights.terms)]) {
                        *quotient = value.map(|value| weight * value);
                    }
                    divide(quotient, series);
                    add_scaled(&mut self.sum, quotient, group.multiplicity as f64);
                }
            }
        }
        scale
    }

    /// The densities of all winners.
    #[inline(always)]
    fn winners(
        &mut self,
        expansion: &Expansion<'_>,
        output: &Output,
        (moments, scale): (&[f64], f64),
        winners: &mut Vec<Sum>,
    ) {
        let [size, rest] = self.sizes(output, moments);
        for (index, (group, weights)) in expansion.votes.groups.iter().zip(&expansion.weights).enumerate() {
            let factor = &self.factors[index];
            let [first, second] = parts(group, output);
            self.others.copy_from_slice(&self.product);
            divide(&mut self.others, &factor.losing[first.place(weights.terms)]);
            let winning = &factor.winning[first.place(weights.terms)];
            let own = if output.marked {
                // The mark is with one of the others, or with the winner.
                let quotient = &self.quotients[index * expansion.terms..][..expansion.terms];
                self.own.copy_from_slice(&self.sum);
                add_scaled(&mut self.own, quotient, -1.0);
                multiply(&mut self.marked, winning, &self.own);
                if second.weight > 0.0 {
                    let winning = &factor.winning[second.place(weights.terms)];
                    add_scaled(&mut self.marked, winning, second.weight / first.weight);
                }
                functional(&self.marked, &self.others, moments, &mut self.own)
            } else {
                functional(winning, &self.others, moments, &mut self.own)
            };
            // Terms of the product without a winner, and those of the winner.
            let mut winner = own;
            for lane in 0..LANES {
                winner.value[lane] *= scale;
                let value = winner.value[lane].abs();
                winner.size[lane] = larger(size[lane] * value, own.size[lane] * scale);
                winner.rest[lane] = larger(rest[lane] * value, own.rest[lane] * scale);
            }
            winners.push(winner);
        }
    }

    /// The largest and the last terms of the probability that all noisy counts are below x, relative to it.
    #[inline(always)]
    fn sizes(&mut self, output: &Output, moments: &[f64]) -> [Lane; 2] {
        let product = if output.marked {
            multiply(&mut self.marked, &self.sum, &self.product);
            &self.marked
        } else {
            &self.product
        };
        let (mut value, mut size, mut rest) = ([0.0; LANES], [0.0f64; LANES], [0.0f64; LANES]);
        let mut root_factorial = 1.0;
        for (degree, (coefficient, moment)) in product.iter().zip(moments).enumerate() {
            root_factorial *= (degree as f64).max(1.0).sqrt();
            for lane in 0..LANES {
                value[lane] = coefficient[lane].mul_add(*moment, value[lane]);
                let term = coefficient[lane].abs() * root_factorial;
                size[lane] = size[lane].max(term);
                if degree + 2 >= product.len() {
                    rest[lane] = rest[lane].max(term);
                }
            }
        }
        for lane in 0..LANES {
            size[lane] /= value[lane].abs();
            rest[lane] /= value[lane].abs();
        }
        for factor in &self.factors {
            for lane in 0..LANES {
                rest[lane] = factor.last[lane].mul_add(size[lane], rest[lane]);
            }
        }
        [size, rest]
    }
}

/// The larger of two numbers, NaN if one is NaN.
#[inline(always)]
fn larger(left: f64, right: f64) -> f64 {
    if left >= right || left.is_nan() { left } else { right }
}

/// A component with its weight.
#[derive(Clone, Copy)]
struct Part {
    index: usize,
    weight: f64,
}

impl Part {
    /// Its position among the components with this many coefficients.
    const fn place(self, terms: usize) -> std::ops::Range<usize> {
        self.index * terms..(self.index + 1) * terms
    }
}

/// The components of a class without a mark and with one, as in an output; the weight is 0 if there is none.
fn parts(group: &Group, output: &Output) -> [Part; 2] {
    if !output.marked {
        return [Part { index: group.base, weight: 1.0 }, Part { index: 0, weight: 0.0 }];
    }
    [0, 1].map(|power| {
        let part = group.components.iter().enumerate().find(|(_, component)| component.power == power);
        part.map_or(Part { index: 0, weight: 0.0 }, |(index, component)| Part {
            index,
            weight: libm::exp(component.ln_weight),
        })
    })
}

/// Sums over the nodes.
#[derive(Debug, Default)]
struct Sums {
    /// Over all nodes, and over those of the first level.
    fine: f64,
    coarse: f64,
    /// Over negative values, which no density has.
    negative: f64,
    size: f64,
    rest: f64,
    /// The density at the first and the last node.
    ends: f64,
}

impl Expansion<'_> {
    /// The sums of the densities, if they are accurate.
    fn integrals(&self, nodes: &Nodes, blocks: &[Vec<Sum>]) -> Option<Vec<Vec<LogIntegral>>> {
        let groups = self.votes.groups.len();
        let of_output = |(index, output): (usize, &Output)| {
            let integral = |group: usize| self.integral(output, &self.sums(nodes, blocks, index * groups + group));
            let integrals = (0..groups).map(integral).collect::<Option<Vec<_>>>()?;
            let probabilities = integrals.iter().zip(&self.votes.groups);
            let total: f64 =
                probabilities.map(|(integral, group)| group.multiplicity as f64 * libm::exp(integral.ln_value)).sum();
            ((total - 1.0).abs() <= MOST_LACKING).then_some(integrals)
        };
        self.votes.outputs.iter().enumerate().map(of_output).collect()
    }

    fn sums(&self, nodes: &Nodes, blocks: &[Vec<Sum>], winner: usize) -> Sums {
        let mut sums = Sums::default();
        let last = blocks.len() * LANES - 1;
        for node in 0..=last {
            let (block, lane) = (&blocks[node / LANES][winner], node % LANES);
            let value = block.value[lane];
            sums.fine += value;
            sums.negative += value.min(0.0).abs();
            if (nodes.start / self.step + node as i64) % 2 == 0 {
                sums.coarse += value;
            }
            sums.size += block.size[lane];
            sums.rest += block.rest[lane];
            if node == 0 || node == last {
                sums.ends += value.abs();
            }
        }
        sums
    }

    /// The integral with its error; `None` if the error is too large.
    fn integral(&self, output: &Output, sums: &Sums) -> Option<LogIntegral> {
        let (size, rest) = (sums.size / sums.fine, sums.rest / sums.fine);
        let accurate = size <= MOST_SIZE
            && rest <= MOST_REST
            && sums.negative <= MOST_REST * sums.fine
            && sums.ends <= MOST_AT_ENDS * sums.fine;
        let distance = (2.0 * sums.coarse / sums.fine - 1.0).abs();
        if !(sums.fine > 0.0 && accurate && distance <= LEVEL_DISTANCE) {
            return None;
        }
        let voters = self.votes.k as u64;
        // A step covers this many votes, and the density per vote is 1/(σ√2π) times that of the tables.
        let ln_step = libm::log(self.step as f64 / self.sigma) - LN_SQRT_2PI;
        let ln_value = libm::log(sums.fine) + ln_step + output.ln_factor + log_poisson_pmf(voters, voters as f64);
        let factors = self.votes.positions.len() as f64;
        let rounding = f64::EPSILON * (8.0 + factors + 2.0 * ln_value.abs()) * size.max(1.0);
        Some(LogIntegral { ln_value, error: distance * distance + rest + rounding })
    }
}

#[cfg(test)]
mod tests {
    use super::super::integral::Integral;
    use super::super::votes::{Displacement, Marks};
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// With few voters, the last numbers of long series are noise, and certain marks leave nothing to divide by.
    #[test]
    fn what_the_expansion_cannot_do_it_declines() {
        let halves = [0.5, 0.5];
        let moved = Displacement { distribution: &halves, points: 1, inclusion: 1.0, label: 0 };
        let certain = Displacement { distribution: &[1.0, 0.0], ..moved };
        let two = Marks::Added { marks: 2, distribution: &halves };
        for (k, sigma, marks) in [
            (2, 6.0, None),
            (250, 4.0, None),
            (5_000, 40.0, None),
            (250, 1e7, None),
            (250, 40.0, Some(two)),
            (250, 40.0, Some(Marks::Displaced(certain))),
        ] {
            let votes = Votes::new(k, &halves, marks.as_ref(), true).unwrap();
            assert!(distributions(&votes, sigma).is_none(), "{k} {sigma} {marks:?}");
        }
        let votes = Votes::new(250, &halves, Some(&Marks::Displaced(moved)), true).unwrap();
        assert!(distributions(&votes, 40.0).is_some());
        assert!(larger(f64::NAN, 1.0).is_nan() && larger(1.0, f64::NAN).is_nan());
    }

    /// Two cases of `random_votes_more.json` and `displaced_votes.json` in `validation/reference`, which have 40 digits
    /// of both worlds: the expansion is compared with them, not with the integral with tilts.
    #[test]
    fn cases_of_the_reference_tables_are_expanded() {
        let p = [0.1277, 0.3058, 0.0887, 0.035, 0.0613, 0.09, 0.1068, 0.0138, 0.0225, 0.1484];
        let other = [0.0849, 0.0477, 0.1433, 0.007, 0.0399, 0.027, 0.5463, 0.0053, 0.0281, 0.0705];
        let moved = Displacement { distribution: &other, points: 1, inclusion: 0.2, label: 6 };
        for marks in [Marks::Added { marks: 1, distribution: &other }, Marks::Displaced(moved)] {
            let votes = Votes::new(250, &p, Some(&marks), true).unwrap();
            assert!(distributions(&votes, 40.0).is_some(), "{marks:?}");
        }
    }

    /// If the expansion has a result, it equals the integral with tilts, for votes of all kinds.
    #[test]
    fn the_expansion_is_the_integral_with_tilts() {
        let mut generator = ChaCha8Rng::seed_from_u64(29);
        let cases: u32 = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300);
        let (mut found, mut worst, mut largest, mut farthest) = (0, 0.0f64, 0.0f64, 0.0f64);
        for case in 0..cases {
            let classes = [2, 3, 5, 10, 30][generator.random_range(0..5)];
            let k = libm::exp(generator.random_range(0.0..7.0)) as u64 + 1;
            let sigma = (k as f64).sqrt() * libm::exp(generator.random_range(-0.3..3.0));
            let spread = generator.random_range(0.0..20.0);
            let mut law = || {
                let weights: Vec<f64> = (0..classes).map(|_| (-spread * generator.random::<f64>()).exp()).collect();
                let sum: f64 = weights.iter().sum();
                weights.into_iter().map(|weight| weight / sum).collect::<Vec<f64>>()
            };
            let (mut p, other) = (law(), law());
            if case % 7 == 0 {
                p = vec![0.0; classes];
                p[1] = 1.0;
            }
            let displacement = Displacement {
                distribution: &other,
                points: 1,
                inclusion: f64::from(case % 5) / 4.0,
                label: case as usize % classes,
            };
            let marks = match case % 3 {
                0 => None,
                1 => Some(Marks::Added { marks: 1, distribution: &other }),
                _ => Some(Marks::Displaced(displacement)),
            };
            let votes = Votes::new(k, &p, marks.as_ref(), true).unwrap();
            let Some(expansion) = distributions(&votes, sigma) else { continue };
            found += 1;
            let exact = Integral::new(&votes, sigma).distributions().unwrap();
            for (expansion, exact) in expansion.iter().flatten().zip(exact.iter().flatten()) {
                let difference = (expansion.ln_value - exact.ln_value).abs();
                worst = worst.max(difference / (expansion.error + exact.error));
                largest = largest.max(expansion.error / (1.0 + exact.ln_value.abs()));
                farthest = farthest.min(exact.ln_value);
                // No number is more accurate than the rounding of its terms.
                assert!(expansion.error > 8.0 * f64::EPSILON, "case {case}: {expansion:?}");
                assert!(
                    difference <= expansion.error + exact.error,
                    "case {case}: k {k} σ {sigma} P {p:?} {marks:?}: {expansion:?} {exact:?}"
                );
            }
        }
        println!("{found} of {cases}, differences up to {worst} of the errors, {largest:e}; ln p down to {farthest}");
        assert!(largest < 4e-14);
        assert!(found >= cases / 3);
    }
}
