//! Noisy argmax of a random histogram: multinomial votes, and the same with one vote drawn from another law.
//!
//! With N_i independent Poisson variables of means ρkP_i, Mult(k, P) is their law given Σ N_i = k, for every tilt
//! ρ > 0. So the density of the winning noisy count x with winner c is a coefficient of a product of polynomials,
//! ```text
//! p_c(x) = [z^k] φ_c(z) Π_{i≠c} a_i(z) / (ρ^k P(Poi(k) = k)),
//! a_i(z) = Σ_n P(Poi(kP_i) = n) ρ^n F((x-n)/s) z^n,   φ_c the same with the density f((x-n)/s)/s.
//! ```
//! All coefficients are non-negative, so the result has relative accuracy however small p_c is, where a Fourier
//! inversion would be accurate only to 1e-16 of the largest class. ρ is chosen at every x so that the mean degree of
//! the product is k: then P(Σ = k) is of the order 1/√k, and dropping coefficients below e^-56 of the largest of each
//! factor changes p_c by less than 1e-15. Where the density of a class moves the mean too far, that class gets a tilt
//! of its own. A marked vote, drawn from P', is a dual number: a_i + ε P'_i ā_i with ā_i(z) = a_i with n+1 for n
//! inside F, and the result is the coefficient of ε.

use super::categorical::OutcomeLaw;
use super::dual::{Dual, DualMass};
use super::noise::Noise;
use super::polynomial::{Moments, Polynomial};
use crate::error::{Error, Result};
use crate::histogram::MAX_CLASSES;
use crate::quadrature::LogIntegral;
use crate::solve::{Search, increasing_root};
use crate::special::{CompensatedSum, LN_SQRT_2PI, log_ndtr, log_poisson_pmf, log_sum_exp};

/// The law of argmax(H + Z) for H ~ Mult(k, P) and Gaussian noise Z_c of standard deviation σ.
///
/// `probabilities` is P, one entry per class, summing to 1 within 1e-9. The cost grows like k^{3/2} and with k/σ;
/// C = 10, k = 250, σ = 40 takes a few milliseconds.
///
/// # Errors
/// [`Error::Domain`] for k = 0 or above 10^6, [`Error::Length`] and [`Error::Domain`] for a P that is not a law,
/// [`Error::Refused`] for Laplace noise or for k/σ above about 20,000, [`Error::NoConvergence`] when the integral does not reach its tolerance.
///
/// # Example
/// ```
/// # use leakbound::{Noise, multinomial_argmax_law};
/// let law = multinomial_argmax_law(10, &[0.1492, 0.5883, 0.2625], "gaussian:4".parse()?)?;
/// assert!((law.p()[0] - 0.159_520_995_319_951_5).abs() < 1e-13);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Chadha et al. (2024), "Auditing Private Prediction", section 5.1 (the model); the evaluation is ours.
pub fn multinomial_argmax_law(k: u64, probabilities: &[f64], noise: Noise) -> Result<OutcomeLaw> {
    Votes::new(k, probabilities, None, noise)?.law()
}

/// The law of argmax(H + Z) for H ~ Mult(k-1, P) + Mult(1, P'): one voter of k was trained on the changed point.
///
/// # Errors
/// As [`multinomial_argmax_law`], also for P'.
///
/// # Example
/// ```
/// # use leakbound::{Noise, marked_argmax_law};
/// let (p, marked) = ([0.1492, 0.5883, 0.2625], [0.5036, 0.1086, 0.3878]);
/// let law = marked_argmax_law(10, &p, &marked, "gaussian:4".parse()?)?;
/// assert!((law.p()[0] - 0.188_986_685_179_190_98).abs() < 1e-10);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn marked_argmax_law(k: u64, probabilities: &[f64], marked: &[f64], noise: Noise) -> Result<OutcomeLaw> {
    Votes::new(k, probabilities, Some(marked), noise)?.law()
}

/// The most voters: beyond, the tables would not fit.
const MAX_VOTERS: u64 = 1_000_000;
/// A node is left out when its upper bound is below exp(-46) = 1e-20 of the largest density met, for every class.
const NEGLIGIBLE: f64 = 46.0;
/// The most nodes of the first level, and the most values of ln Φ at them: some minutes of work.
const MAX_NODES: f64 = 5e4;
const MAX_TABLE_VALUES: f64 = 1e10;
/// ln of the smallest share P(Σ = k) of the mass at which dropped coefficients do not matter.
const SMALLEST_SHARE: f64 = -16.0;
/// Distance of two levels of the trapezoid rule from which the squared distance is below rounding.
const LEVEL_DISTANCE: f64 = 2e-8;
/// Step of the first level, in units of σ, and the number of levels.
const FIRST_STEP: f64 = 0.4;
const LEVELS: u32 = 4;

/// The random histogram: classes sorted by probability, the largest last, so that early products stay short.
struct Votes {
    /// Votes besides the marked one.
    unmarked: usize,
    classes: Vec<VoteClass>,
    /// Sorted position of each class.
    position: Vec<usize>,
    sigma: f64,
    marked: bool,
    ln_normaliser: f64,
}

struct VoteClass {
    /// ln P(Poi(kP_i) = n) for n = 0..=unmarked; a single entry where P_i = 0.
    ln_poisson: Vec<f64>,
    /// P'_i.
    mark: f64,
    /// The earlier position with the same P_i and P'_i, which has the same probability.
    same_as: Option<usize>,
}

impl Votes {
    fn new(k: u64, probabilities: &[f64], marked: Option<&[f64]>, noise: Noise) -> Result<Self> {
        let Noise::Gaussian(sigma) = noise else {
            return Err(Error::Refused {
                operation: "exact law of random votes",
                reason: format!("only Gaussian noise is supported, not {noise}"),
            });
        };
        if !(1..=MAX_VOTERS).contains(&k) {
            return Err(Error::Domain { quantity: "number of voters", value: k as f64, domain: "[1, 1e6]" });
        }
        let probabilities = normalised(probabilities, "vote probabilities")?;
        let marks = match marked {
            Some(marked) => normalised(marked, "vote probabilities of the changed voter")?,
            None => vec![0.0; probabilities.len()],
        };
        if marks.len() != probabilities.len() {
            return Err(Error::Length {
                quantity: "vote probabilities of the changed voter",
                found: marks.len(),
                expected: format!("{} classes", probabilities.len()),
            });
        }
        let unmarked = if marked.is_some() { k - 1 } else { k };
        let mut order: Vec<usize> = (0..probabilities.len()).collect();
        order.sort_by(|&a, &b| {
            (probabilities[a], marks[a]).partial_cmp(&(probabilities[b], marks[b])).unwrap_or(std::cmp::Ordering::Equal)
        });
        let mut classes: Vec<VoteClass> = Vec::with_capacity(order.len());
        let mut position = vec![0; order.len()];
        for (place, &class) in order.iter().enumerate() {
            let mean = unmarked as f64 * probabilities[class];
            let votes = if mean > 0.0 { unmarked } else { 0 };
            let same_as = place
                .checked_sub(1)
                .filter(|&before| {
                    (probabilities[order[before]], marks[order[before]]) == (probabilities[class], marks[class])
                })
                .map(|before| classes[before].same_as.unwrap_or(before));
            classes.push(VoteClass {
                ln_poisson: (0..=votes).map(|n| log_poisson_pmf(n, mean)).collect(),
                mark: marks[class],
                same_as,
            });
            position[class] = place;
        }
        Ok(Self {
            unmarked: unmarked as usize,
            classes,
            position,
            sigma: sigma.get(),
            marked: marked.is_some(),
            ln_normaliser: -log_poisson_pmf(unmarked, unmarked as f64),
        })
    }

    fn law(&self) -> Result<OutcomeLaw> {
        let integrals = self.integrate()?;
        OutcomeLaw::from_integrals(&self.position.iter().map(|&place| integrals[place]).collect::<Vec<_>>())
    }

    /// The trapezoid rule in x for all classes at once; the peaks of g lie in [0, k + 5σ] and are at least as narrow
    /// as σ, so the range covers all but e^-46 of every class.
    fn integrate(&self) -> Result<Vec<LogIntegral>> {
        let votes = (self.unmarked + 1) as f64;
        let (first, last) = (-9.6, votes / self.sigma + 5.0 + 9.6);
        let nodes = (last - first) / FIRST_STEP;
        if !(nodes <= MAX_NODES && nodes * votes <= MAX_TABLE_VALUES) {
            return Err(Error::Refused {
                operation: "exact law of random votes",
                reason: format!(
                    "{votes} voters with noise of scale {:e} need {nodes:.1e} nodes of {votes} values, more than the \
                     {MAX_NODES:e} nodes or {MAX_TABLE_VALUES:e} values of some minutes",
                    self.sigma
                ),
            });
        }
        let mut solver = Solver::new(self);
        // The largest density of each class met so far: what a node must be able to reach in order to matter.
        let mut peaks = vec![f64::NEG_INFINITY; self.classes.len()];
        let mut sums: Vec<Vec<f64>> = vec![Vec::new(); self.classes.len()];
        let mut before: Option<Vec<f64>> = None;
        let mut distance = f64::INFINITY;
        for level in 0..LEVELS {
            let step = FIRST_STEP / f64::from(1u32 << level);
            let count = (((last - first) / step).ceil() as u64) + 1;
            let new = (0..count).filter(|node| level == 0 || node % 2 == 1);
            let abscissae: Vec<f64> = new.map(|node| (first + node as f64 * step) * self.sigma).collect();
            let nodes = if level == 0 {
                solver.by_falling_bounds(&abscissae)?
            } else {
                abscissae.into_iter().map(|x| (x, None)).collect()
            };
            for (x, kept) in nodes {
                let node = kept.map_or_else(|| solver.node(x), Ok)?;
                if (0..self.classes.len()).all(|class| node.ln_bound(self, class) < peaks[class] - NEGLIGIBLE) {
                    continue;
                }
                for (class, value) in solver.ln_densities(&node)?.into_iter().enumerate() {
                    sums[class].push(value);
                    peaks[class] = peaks[class].max(value);
                }
            }
            let ln_step = (step * self.sigma).ln();
            let values: Vec<f64> = sums.iter().map(|sum| ln_step + log_sum_exp(sum.iter().copied())).collect();
            if let Some(coarse) = before.replace(values.clone()) {
                distance = values.iter().zip(&coarse).fold(0.0, |worst: f64, (fine, coarse)| {
                    let difference = if fine == coarse { 0.0 } else { (fine - coarse).abs() };
                    worst.max(difference / (1.0 + 1e-7 * fine.abs()))
                });
                if distance <= LEVEL_DISTANCE {
                    return Ok(values.into_iter().map(|ln_value| self.with_error(ln_value, distance)).collect());
                }
            }
        }
        Err(Error::NoConvergence {
            quantity: "law of random votes",
            residual: distance,
            tolerance: LEVEL_DISTANCE,
            iterations: LEVELS as usize,
        })
    }

    /// Truncation, and rounding of products of this many factors.
    fn with_error(&self, ln_value: f64, distance: f64) -> LogIntegral {
        let rounding = f64::EPSILON * (8.0 + self.classes.len() as f64 + 2.0 * ln_value.abs());
        LogIntegral { ln_value, error: distance * distance + rounding }
    }
}

/// Checks a probability vector and divides it by its sum.
pub(crate) fn normalised(probabilities: &[f64], quantity: &'static str) -> Result<Vec<f64>> {
    if probabilities.is_empty() || probabilities.len() > MAX_CLASSES {
        return Err(Error::Length {
            quantity,
            found: probabilities.len(),
            expected: format!("1 to {MAX_CLASSES} classes"),
        });
    }
    if let Some(&value) = probabilities.iter().find(|value| !(0.0..=1.0).contains(*value)) {
        return Err(Error::Domain { quantity, value, domain: "[0, 1]" });
    }
    let total = probabilities.iter().copied().collect::<CompensatedSum>().value();
    if !((total - 1.0).abs() <= 1e-9) {
        return Err(Error::Domain {
            quantity: "sum of vote probabilities",
            value: total,
            domain: "[1 - 1e-9, 1 + 1e-9]",
        });
    }
    Ok(probabilities.iter().map(|value| value / total).collect())
}

/// The factors of all classes at one x, under their common tilt.
struct NodeFactors {
    x: f64,
    /// ln F((x-n)/s) for n = 0..=k.
    ln_cdf: Vec<f64>,
    ln_tilt: f64,
    /// a_i with its mark, and the same with the density of a winner.
    factors: Vec<Dual>,
    winners: Vec<Dual>,
    /// ln of the mass of each.
    factor_masses: Vec<DualMass>,
    winner_masses: Vec<DualMass>,
}

impl NodeFactors {
    /// ln of an upper bound of p_c(x): the product of the masses, all degrees together.
    fn ln_bound(&self, votes: &Votes, class: usize) -> f64 {
        let masses =
            || (0..self.factors.len()).map(|i| if i == class { self.winner_masses[i] } else { self.factor_masses[i] });
        let product: f64 = masses().map(|mass| mass.main).sum();
        let marks = if votes.marked { log_sum_exp(masses().map(|mass| mass.mark - mass.main)) } else { 0.0 };
        product + marks + self.ln_scale(votes)
    }

    fn ln_scale(&self, votes: &Votes) -> f64 {
        votes.ln_normaliser - votes.unmarked as f64 * self.ln_tilt
    }
}

/// Works from node to node, starting each search where the last one ended.
struct Solver<'a> {
    votes: &'a Votes,
    ln_tilt: f64,
    factor_modes: Vec<usize>,
    density_modes: Vec<usize>,
}

impl<'a> Solver<'a> {
    fn new(votes: &'a Votes) -> Self {
        let modes = vec![0; votes.classes.len()];
        Self { votes, ln_tilt: 0.0, factor_modes: modes.clone(), density_modes: modes }
    }

    /// ln f((x-n)/s)/s for the winner.
    fn ln_density(&self, x: f64, n: usize) -> f64 {
        let z = (x - n as f64) / self.votes.sigma;
        -0.5 * z * z - LN_SQRT_2PI - self.votes.sigma.ln()
    }

    fn factor(&mut self, class: usize, ln_cdf: &[f64], ln_tilt: f64) -> Polynomial {
        let ln_poisson = &self.votes.classes[class].ln_poisson;
        Polynomial::from_log_concave(ln_poisson.len() - 1, &mut self.factor_modes[class], |n| {
            ln_poisson[n] + n as f64 * ln_tilt + ln_cdf[n]
        })
        .unwrap_or_else(Polynomial::one)
    }

    fn density(&mut self, class: usize, x: f64, ln_tilt: f64) -> Polynomial {
        let ln_poisson = &self.votes.classes[class].ln_poisson;
        let mut mode = self.density_modes[class];
        let density = Polynomial::from_log_concave(ln_poisson.len() - 1, &mut mode, |n| {
            ln_poisson[n] + n as f64 * ln_tilt + self.ln_density(x, n)
        });
        self.density_modes[class] = mode;
        density.unwrap_or_else(Polynomial::one)
    }

    /// Abscissae with their nodes, those with large bounds, next to the peaks, first. Few nodes are kept, many are made
    /// again when they are needed: memory does not grow with k/σ.
    fn by_falling_bounds(&mut self, abscissae: &[f64]) -> Result<Vec<(f64, Option<NodeFactors>)>> {
        const MOST_KEPT: usize = 256;
        let classes = self.votes.classes.len();
        let mut nodes = Vec::with_capacity(abscissae.len());
        let mut bounds: Vec<Vec<f64>> = Vec::with_capacity(abscissae.len());
        for &x in abscissae {
            let node = self.node(x)?;
            bounds.push((0..classes).map(|class| node.ln_bound(self.votes, class)).collect());
            nodes.push((x, (abscissae.len() <= MOST_KEPT).then_some(node)));
        }
        let largest: Vec<f64> = (0..classes)
            .map(|class| bounds.iter().map(|bound| bound[class]).fold(f64::NEG_INFINITY, f64::max))
            .collect();
        let height = |bound: &[f64]| {
            bound.iter().zip(&largest).map(|(bound, largest)| bound - largest).fold(f64::NEG_INFINITY, f64::max)
        };
        let mut ranked: Vec<(f64, (f64, Option<NodeFactors>))> =
            bounds.iter().map(|bound| height(bound)).zip(nodes).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(ranked.into_iter().map(|(_, node)| node).collect())
    }

    /// The factors at x with the tilt that centres the total degree on k; `winner` puts its density in place of its F,
    /// `mark` the marked factor of its class in place of the other.
    fn tilted(
        &mut self,
        x: f64,
        ln_cdf: &[f64],
        winner: Option<usize>,
        mark: Option<usize>,
    ) -> Result<(f64, Vec<Polynomial>)> {
        let target = self.votes.unmarked as f64;
        let search = Search { start: self.ln_tilt, first_reach: 3.0, narrowest: 1e-9, quantity: "tilt of the votes" };
        let evaluate = |ln_tilt: f64| {
            let factors: Vec<Polynomial> = (0..self.votes.classes.len())
                .map(|class| {
                    let at = (winner == Some(class)).then_some(x);
                    if mark == Some(class) {
                        self.marked_factor(class, ln_cdf, ln_tilt, at).unwrap_or_else(Polynomial::one)
                    } else if winner == Some(class) {
                        self.density(class, x, ln_tilt)
                    } else {
                        self.factor(class, ln_cdf, ln_tilt)
                    }
                })
                .collect();
            let moments: Vec<Moments> = factors.iter().map(Polynomial::moments).collect();
            let mean: f64 = moments.iter().map(|moments| moments.mean).sum();
            let variance: f64 = moments.iter().map(|moments| moments.variance).sum();
            (factors, mean - target, variance.max(1e-3))
        };
        // Half a standard deviation off costs nothing.
        increasing_root(search, evaluate, |excess, variance| excess.abs() <= 0.5 * variance.sqrt() + 0.25)
    }

    fn node(&mut self, x: f64) -> Result<NodeFactors> {
        let sigma = self.votes.sigma;
        let ln_cdf: Vec<f64> = (0..=self.votes.unmarked + 1).map(|n| log_ndtr((x - n as f64) / sigma)).collect();
        let (ln_tilt, mains) = self.tilted(x, &ln_cdf, None, None)?;
        self.ln_tilt = ln_tilt;
        let mut factors = Vec::with_capacity(mains.len());
        let mut winners = Vec::with_capacity(mains.len());
        for (class, main) in mains.into_iter().enumerate() {
            factors.push(Dual { main, mark: self.marked_factor(class, &ln_cdf, ln_tilt, None) });
            let main = self.density(class, x, ln_tilt);
            winners.push(Dual { main, mark: self.marked_factor(class, &ln_cdf, ln_tilt, Some(x)) });
        }
        let factor_masses = factors.iter().map(Dual::ln_masses).collect();
        let winner_masses = winners.iter().map(Dual::ln_masses).collect();
        Ok(NodeFactors { x, ln_cdf, ln_tilt, factors, winners, factor_masses, winner_masses })
    }

    /// ln p_c(x) for every class.
    fn ln_densities(&self, node: &NodeFactors) -> Result<Vec<f64>> {
        let votes = self.votes;
        let degree = votes.unmarked;
        let NodeFactors { factors, winners, .. } = node;
        let prefixes = Dual::prefix_products(factors, degree);
        let floors = Dual::suffix_floors(factors, winners, &prefixes, degree);
        let suffixes = Dual::suffix_products(factors, &floors, degree);
        let mut values: Vec<f64> = Vec::with_capacity(factors.len());
        for (class, winner) in winners.iter().enumerate() {
            let value = if let Some(same) = votes.classes[class].same_as {
                values[same]
            } else {
                let share = match (&prefixes[class], &suffixes[class + 1]) {
                    (Some(left), Some(right)) => winner.ln_coefficient(left, right, degree, votes.marked),
                    _ => f64::NEG_INFINITY,
                };
                let ln_value = share + node.ln_scale(votes);
                if ln_value - node.ln_bound(votes, class) < SMALLEST_SHARE {
                    self.ln_density_with_own_tilts(node, class)?
                } else {
                    ln_value
                }
            };
            values.push(value);
        }
        Ok(values)
    }

    /// P'_i ā_i, or the same with the density at x for the winner; None where P'_i = 0.
    fn marked_factor(&self, class: usize, ln_cdf: &[f64], ln_tilt: f64, winner_at: Option<f64>) -> Option<Polynomial> {
        let VoteClass { ln_poisson, mark, .. } = &self.votes.classes[class];
        if *mark == 0.0 {
            return None;
        }
        let mut mode = if winner_at.is_some() { self.density_modes[class] } else { self.factor_modes[class] };
        let factor = Polynomial::from_log_concave(ln_poisson.len() - 1, &mut mode, |n| {
            let noise = winner_at.map_or_else(|| ln_cdf[n + 1], |x| self.ln_density(x, n + 1));
            ln_poisson[n] + n as f64 * ln_tilt + noise
        })?;
        Some(factor.scaled(*mark))
    }

    /// The same for one class, each part of it with the tilt that suits it: the marked vote may go to any class.
    fn ln_density_with_own_tilts(&self, node: &NodeFactors, winner: usize) -> Result<f64> {
        if !self.votes.marked {
            return self.ln_part_with_own_tilt(node, winner, None);
        }
        let marks = (0..self.votes.classes.len()).filter(|&class| self.votes.classes[class].mark > 0.0);
        let parts: Vec<f64> =
            marks.map(|mark| self.ln_part_with_own_tilt(node, winner, Some(mark))).collect::<Result<_>>()?;
        Ok(log_sum_exp(parts.into_iter()))
    }

    /// The part in which the marked vote went to `mark`, times its probability.
    fn ln_part_with_own_tilt(&self, node: &NodeFactors, winner: usize, mark: Option<usize>) -> Result<f64> {
        let mut solver = Solver {
            votes: self.votes,
            ln_tilt: node.ln_tilt,
            factor_modes: self.factor_modes.clone(),
            density_modes: self.density_modes.clone(),
        };
        let (ln_tilt, factors) = solver.tilted(node.x, &node.ln_cdf, Some(winner), mark)?;
        let degree = self.votes.unmarked;
        let mut others = factors.iter().enumerate().filter(|&(class, _)| class != winner);
        let product = others.try_fold(Polynomial::one(), |product, (_, factor)| product.times(factor, 0..=degree));
        let share = product.map_or(f64::NEG_INFINITY, |product| {
            factors[winner].ln_coefficient_of_product(&product, &Polynomial::one(), degree)
        });
        Ok(share + self.votes.ln_normaliser - degree as f64 * ln_tilt)
    }
}
