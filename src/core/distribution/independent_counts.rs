//! Counts of the classes taken separately: their Poisson-binomial distributions, smoothed by Gaussian noise on a
//! lattice of the winning noisy count, with differences of every degree.

use super::argmax_table::lattice_step;
use super::cumulant_series::Term;
use crate::special::{LN_SQRT_2PI, ndtr};

/// Standard deviations beyond the means that are covered.
const REACH: f64 = 9.6;
/// Tails of a count below this are dropped.
const DROPPED: f64 = 1e-60;
/// From this σ on, differences are summed from derivatives, up to this many degrees beyond their own.
const SMOOTH: f64 = 8.0;
const MORE_DERIVATIVES: usize = 16;
/// Nodes are left out if the other classes stay below with a smaller probability than this.
const SMALLEST_PRODUCT: f64 = 1e-280;

/// The distribution of the votes of each class separately: Σ_j Ber(P^j_i).
pub(super) struct Marginals {
    counts: Vec<Count>,
    /// How many classes each count stands for.
    multiplicity: Vec<f64>,
}

struct Count {
    /// P(H_i = first + n) for every n.
    first: usize,
    pmf: Vec<f64>,
    mean: f64,
    variance: f64,
}

impl Marginals {
    /// For voters with these distributions, all on the same entries, each of which stands for some number of classes.
    pub(super) fn new(parties: &[Vec<f64>], multiplicity: &[f64]) -> Self {
        let counts = (0..parties[0].len()).map(|class| Count::new(parties.iter().map(|p| p[class]))).collect();
        Self { counts, multiplicity: multiplicity.to_vec() }
    }

    fn classes(&self) -> usize {
        self.counts.len()
    }
}

impl Count {
    fn new(chances: impl Iterator<Item = f64>) -> Self {
        let (mut first, mut pmf) = (0, vec![1.0f64]);
        let (mut mean, mut variance) = (0.0, 0.0);
        for p in chances {
            mean += p;
            variance += p * (1.0 - p);
            if p == 1.0 {
                first += 1;
            } else if p > 0.0 {
                pmf.push(0.0);
                for n in (1..pmf.len()).rev() {
                    pmf[n] = pmf[n] * (1.0 - p) + pmf[n - 1] * p;
                }
                pmf[0] *= 1.0 - p;
                while pmf.last().is_some_and(|&last| last < DROPPED) {
                    pmf.pop();
                }
                let low = pmf.iter().take_while(|&&p| p < DROPPED).count();
                pmf.drain(..low);
                first += low;
            }
        }
        Self { first, pmf, mean, variance }
    }
}

/// The values x of the winning noisy count: low + j step.
pub(super) struct Lattice {
    sigma: f64,
    step: f64,
    low: f64,
    nodes: f64,
}

impl Lattice {
    pub(super) fn new(marginals: &Marginals, sigma: f64) -> Self {
        let reach = |count: &Count| REACH * (sigma * sigma + count.variance).sqrt();
        let low = marginals.counts.iter().map(|count| count.mean - reach(count)).fold(f64::INFINITY, f64::min);
        let high = marginals.counts.iter().map(|count| count.mean + reach(count)).fold(0.0, f64::max);
        let step = lattice_step(marginals.multiplicity.iter().sum()) * sigma;
        Self { sigma, step, low, nodes: ((high - low) / step).ceil() + 1.0 }
    }

    /// Number of nodes.
    pub(super) const fn nodes(&self) -> f64 {
        self.nodes
    }

    /// All differences up to a degree at all nodes.
    pub(super) fn tables(&self, marginals: &Marginals, degree: usize) -> Tables {
        let expansion = Expansion::new(degree);
        let nodes = (0..self.nodes as usize)
            .map(|node| {
                let x = self.low + self.step * node as f64;
                if self.sigma >= SMOOTH {
                    Node::from_derivatives(marginals, x, self.sigma, &expansion)
                } else {
                    Node::from_differences(marginals, x, self.sigma, degree)
                }
            })
            .collect();
        Tables { nodes, step: self.step, classes: marginals.classes(), degree }
    }
}

/// (e^∂ - 1)^m = Σ_l t(m, l) ∂^l.
struct Expansion {
    degree: usize,
    /// `t[m][l]` for m = 0..=degree.
    t: Vec<Vec<f64>>,
}

impl Expansion {
    fn new(degree: usize) -> Self {
        let derivatives = degree + MORE_DERIVATIVES;
        let mut exponential = vec![0.0; derivatives + 1];
        let mut term = 1.0;
        for (l, entry) in exponential.iter_mut().enumerate().skip(1) {
            term /= l as f64;
            *entry = term;
        }
        let mut t = vec![vec![0.0; derivatives + 1]];
        t[0][0] = 1.0;
        for m in 1..=degree {
            let before = &t[m - 1];
            t.push((0..=derivatives).map(|l| (0..=l).map(|j| before[j] * exponential[l - j]).sum()).collect());
        }
        Self { degree, t }
    }
}

/// At one x: F_i, f_i/F_i, and the differences divided by F_i.
struct Node {
    /// Π_i F_i over all classes.
    product: f64,
    /// δ_i^m F_i/F_i at [i (degree + 1) + m].
    below: Vec<f64>,
    /// δ_i^m f_i/F_i there.
    wins: Vec<f64>,
}

impl Node {
    /// With G_0 = Φ(z) and G_d = σ^-d He_{d-1}(z) φ(z) at z = (x - n)/σ, the derivatives in n are -G_d of Φ and G_{d+1}
    /// of the density.
    fn from_derivatives(marginals: &Marginals, x: f64, sigma: f64, expansion: &Expansion) -> Self {
        let derivatives = expansion.degree + MORE_DERIVATIVES;
        let mut g = vec![0.0; derivatives + 2];
        let mut means = vec![vec![0.0; derivatives + 2]; marginals.classes()];
        let first = marginals.counts.iter().map(|count| count.first).min().unwrap_or(0);
        let end = marginals.counts.iter().map(|count| count.first + count.pmf.len()).max().unwrap_or(0);
        for n in first..end {
            let z = (x - n as f64) / sigma;
            g[0] = ndtr(z);
            let (mut before, mut now) = (0.0, libm::exp(-0.5 * z * z - LN_SQRT_2PI) / sigma);
            for (d, entry) in g.iter_mut().enumerate().skip(1) {
                *entry = now;
                // He_d = z He_{d-1} - (d-1) He_{d-2}.
                (before, now) = (now, (z * now - (d - 1) as f64 * before / sigma) / sigma);
            }
            for (count, means) in marginals.counts.iter().zip(&mut means) {
                if let Some(&p) = n.checked_sub(count.first).and_then(|n| count.pmf.get(n)) {
                    means.iter_mut().zip(&g).for_each(|(mean, g)| *mean += g * p);
                }
            }
        }
        let differences = means.iter().map(|means| {
            let below = |t: &Vec<f64>| t[0] * means[0] - (1..=derivatives).map(|l| t[l] * means[l]).sum::<f64>();
            let wins = |t: &Vec<f64>| (0..=derivatives).map(|l| t[l] * means[l + 1]).sum::<f64>();
            (expansion.t.iter().map(below).collect(), expansion.t.iter().map(wins).collect())
        });
        Self::new(differences, &marginals.multiplicity)
    }

    fn from_differences(marginals: &Marginals, x: f64, sigma: f64, degree: usize) -> Self {
        let differences = marginals.counts.iter().map(|count| {
            let mean = |shift: usize, f: &dyn Fn(f64) -> f64| -> f64 {
                let votes = count.pmf.iter().enumerate();
                votes.map(|(n, p)| p * f((x - (count.first + n + shift) as f64) / sigma)).sum()
            };
            let density = |z: f64| libm::exp(-0.5 * z * z - LN_SQRT_2PI) / sigma;
            let below = (0..=degree).map(|shift| mean(shift, &ndtr)).collect();
            let wins = (0..=degree).map(|shift| mean(shift, &density)).collect();
            (forward_differences(below), forward_differences(wins))
        });
        Self::new(differences, &marginals.multiplicity)
    }

    fn new(differences: impl Iterator<Item = (Vec<f64>, Vec<f64>)>, multiplicity: &[f64]) -> Self {
        let mut node = Self { product: 1.0, below: Vec::new(), wins: Vec::new() };
        for ((below, wins), &classes) in differences.zip(multiplicity) {
            let own = below[0];
            node.product *= if classes == 1.0 { own } else { libm::pow(own, classes) };
            node.below.extend(below.iter().map(|value| value / own));
            node.wins.extend(wins.iter().map(|value| value / own));
        }
        if !(node.product > SMALLEST_PRODUCT) {
            node.product = 0.0;
        }
        node
    }
}

/// f(0), f(1) - f(0), and so on, instead of f(0), f(1), ...
fn forward_differences(mut values: Vec<f64>) -> Vec<f64> {
    for m in 1..values.len() {
        for n in (m..values.len()).rev() {
            values[n] -= values[n - 1];
        }
    }
    values
}

/// All nodes.
pub(super) struct Tables {
    nodes: Vec<Node>,
    step: f64,
    classes: usize,
    degree: usize,
}

/// The contributions of the terms of each degree to the probability of each class.
pub(super) struct Sums {
    /// `by_degree[m][c]`.
    pub(super) by_degree: Vec<Vec<f64>>,
    /// Estimated relative error of the trapezoid rule: the square of the change from halving the step.
    pub(super) step_error: f64,
}

impl Tables {
    /// `scales[i][m]`: the largest of |δ_i^m F_i/F_i| and |δ_i^m f_i/f_i| where the integrand of any class is above a
    /// thousandth of its peak.
    pub(super) fn scales(&self) -> Vec<Vec<f64>> {
        let width = self.degree + 1;
        let mut peaks = vec![0.0f64; self.classes];
        for node in self.nodes.iter().filter(|node| node.product > 0.0) {
            for (class, peak) in peaks.iter_mut().enumerate() {
                *peak = peak.max(node.product * node.wins[class * width]);
            }
        }
        let mut scales = vec![vec![0.0f64; width]; self.classes];
        for node in self.nodes.iter().filter(|node| node.product > 0.0) {
            let matters = |(class, peak): (usize, &f64)| node.product * node.wins[class * width] >= 1e-3 * peak;
            if !peaks.iter().enumerate().any(matters) {
                continue;
            }
            for (class, scales) in scales.iter_mut().enumerate() {
                for (m, scale) in scales.iter_mut().enumerate() {
                    let place = class * width;
                    let wins = node.wins[place + m] / node.wins[place];
                    *scale =
                        scale.max(node.below[place + m].abs()).max(if wins.is_finite() { wins.abs() } else { 0.0 });
                }
            }
        }
        scales
    }

    /// Integrals of the series 1 + Σ terms, by degree.
    pub(super) fn sums(&self, terms: &[Term]) -> Sums {
        let mut halves = [self.zeros(), self.zeros()];
        for (index, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.product > 0.0) {
            self.add_node(node, terms, &mut halves[index % 2]);
        }
        let [mut even, odd] = halves;
        let mut distance = 0.0f64;
        for class in 0..self.classes {
            let total = |half: &[Vec<f64>]| half.iter().map(|degree| degree[class]).sum::<f64>();
            let (a, b) = (total(&even), total(&odd));
            if a + b > 0.0 {
                distance = distance.max(((a - b) / (a + b)).abs());
            }
        }
        for (even, odd) in even.iter_mut().zip(&odd) {
            even.iter_mut().zip(odd).for_each(|(even, odd)| *even = (*even + odd) * self.step);
        }
        Sums { by_degree: even, step_error: distance * distance }
    }

    fn zeros(&self) -> Vec<Vec<f64>> {
        vec![vec![0.0; self.classes]; self.degree + 1]
    }

    /// The terms at one node: a class without a power has its density instead of F, which is common to all of them.
    fn add_node(&self, node: &Node, terms: &[Term], sums: &mut [Vec<f64>]) {
        let width = self.degree + 1;
        let mut totals = vec![0.0; width];
        totals[0] = 1.0;
        for term in terms {
            let below = |&(class, power): &(usize, usize)| node.below[class * width + power];
            let all = term.coefficient * term.powers.iter().map(below).product::<f64>();
            totals[term.degree] += all;
            for (place, &(class, power)) in term.powers.iter().enumerate() {
                let others = term.powers.iter().enumerate().filter(|(other, _)| *other != place);
                let others = term.coefficient * others.map(|(_, power)| below(power)).product::<f64>();
                let [wins, plain] = [node.wins[class * width + power], node.wins[class * width]];
                sums[term.degree][class] += node.product * (others * wins - all * plain);
            }
        }
        for (sums, total) in sums.iter_mut().zip(totals) {
            for (class, sum) in sums.iter_mut().enumerate() {
                *sum += node.product * total * node.wins[class * width];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For three voters and two classes, exchanging the classes exchanges how much their votes matter.
    #[test]
    fn scales_belong_to_their_class() {
        let scales = |exchanged: bool| {
            let party = |p: f64| if exchanged { vec![1.0 - p, p] } else { vec![p, 1.0 - p] };
            let marginals = Marginals::new(&[0.95, 0.9, 0.8].map(party), &[1.0, 1.0]);
            Lattice::new(&marginals, 1.0).tables(&marginals, 2).scales()
        };
        let (plain, exchanged) = (scales(false), scales(true));
        assert!((plain[0][1] / plain[1][1] - 1.0).abs() > 0.05, "{plain:?}");
        for (one, other) in plain.iter().zip(exchanged.iter().rev()) {
            assert!(one.iter().zip(other).all(|(x, y)| (x / y - 1.0).abs() < 1e-9), "{plain:?} {exchanged:?}");
        }
    }

    /// The two rules of twice the step have 3 and 1 of the first class and 1 and 5 of the second: they differ by a half
    /// and by two thirds of their sum.
    #[test]
    fn the_error_of_the_step_is_the_square_of_what_halving_it_changed() {
        let node = |wins: [f64; 2]| Node { product: 1.0, below: vec![1.0; 2], wins: wins.to_vec() };
        let tables = |nodes: Vec<Node>| Tables { nodes, step: 0.5, classes: 2, degree: 0 };
        let sums = tables(vec![node([1.0, 0.0]), node([1.0, 5.0]), node([2.0, 1.0])]).sums(&[]);
        assert_eq!(sums.by_degree, [[2.0, 3.0]]);
        assert!((sums.step_error - 4.0 / 9.0).abs() < 1e-15, "{}", sums.step_error);
        let sums = tables(vec![node([3.0, 0.0]), node([1.0, 0.0])]).sums(&[]);
        assert!((sums.step_error - 0.25).abs() < 1e-15, "{}", sums.step_error);
    }
}
