//! The integral over the winning noisy count, for all classes and distributions together.

use super::factors::{Factors, Modes, Place, Winner};
use super::inversion::Circle;
use super::lattice::{LEVELS, Lattice, Level};
use super::spectrum::coefficients;
use super::votes::{Output, Votes};
use crate::error::{Error, Result};
use crate::order;
use crate::parallel;
use crate::quadrature::LogIntegral;
use crate::solve::{Search, increasing_root};
use crate::special::log_sum_exp;

/// Distance of two levels of the trapezoid rule from which the squared distance is below rounding.
pub(super) const LEVEL_DISTANCE: f64 = 2e-8;
/// Number of consecutive nodes; each search starts where the last one ended.
const CHUNK: usize = 16;
/// The largest number of nodes whose factors are kept between bounding and computing their densities.
const MOST_KEPT: usize = 256;
/// ln of the share of the peak below which a bounded density does not matter.
const NEGLIGIBLE: f64 = -42.0;
/// ln of the rounding error, relative to the peak, from which a density is recomputed: 30 ε.
const INEXACT: f64 = -32.6;
/// -ln of the smallest share of its mass that a density usually has.
const COMMON_SHARE: f64 = 5.0;

/// ln of the density of a winner at one node.
#[derive(Debug, Clone, Copy)]
struct Density {
    ln_value: f64,
    /// ln of its rounding error, or of an upper bound of the density if the density is not known.
    ln_error: f64,
    known: bool,
}

impl Density {
    /// A density that is at most this. Without a bound, or with one below the range of doubles relative to the other
    /// winners, it must be computed with a separate tilt.
    fn bounded(ln_mass: Option<f64>) -> Self {
        let ln_error = ln_mass.filter(|&ln_mass| ln_mass > f64::NEG_INFINITY).unwrap_or(f64::INFINITY);
        Self { ln_value: f64::NEG_INFINITY, ln_error, known: false }
    }

    fn is_vague(self, peak: f64) -> bool {
        self.ln_error > peak + if self.known { INEXACT } else { NEGLIGIBLE }
    }
}

/// The largest tilt among densities that matter.
fn largest_tilt(ln_densities: &[f64], ln_tilts: &[f64]) -> f64 {
    let peak = ln_densities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let matter = ln_densities.iter().zip(ln_tilts).filter(|(ln_density, _)| **ln_density > peak + NEGLIGIBLE);
    matter.fold(0.0, |most, (_, &tilt)| most.max(tilt))
}

#[derive(Debug, Default)]
struct Node {
    /// The position of the node in its level.
    place: usize,
    /// The tilt of each output that has a separate one.
    ln_tilts: Vec<f64>,
    /// Its factors, kept if there are few nodes so that memory does not grow with k/σ.
    kept: Vec<Factors>,
    /// By output, then group.
    densities: Vec<Vec<Density>>,
}

pub(super) struct Integral<'a> {
    votes: &'a Votes,
    sigma: f64,
    circle: Circle,
    /// How far the mean may be from the degree.
    slack: f64,
}

impl<'a> Integral<'a> {
    pub(super) fn new(votes: &'a Votes, sigma: f64) -> Self {
        let k = votes.k as f64;
        // The degree of a product under its tilt is ultra log-concave, so its tails are below those of a Poisson
        // variable with the same mean: beyond t = E + √(E² + 2Ek) they hold less than e^-E, for E = 40. Each mark
        // shifts the mean by at most 1.
        let tail = 40.0 / 3.0 + (40.0f64 / 3.0).hypot((80.0 * k).sqrt());
        let slack = 2.0 * k.sqrt() + 1.0;
        Self { votes, sigma, circle: Circle::new(tail + slack + votes.marks as f64), slack }
    }

    #[cfg(test)]
    pub(super) fn circle(&self) -> &Circle {
        &self.circle
    }

    /// ln of the integrals, by output, then group.
    pub(super) fn distributions(&self) -> Result<Vec<Vec<LogIntegral>>> {
        let lattice = Lattice::new(self.votes, self.sigma)?;
        let mut sums: Vec<Vec<Vec<f64>>> = Vec::new();
        let mut tilts: Vec<f64> = Vec::new();
        let mut before: Option<Vec<Vec<f64>>> = None;
        let mut distance = f64::INFINITY;
        for level in 0..LEVELS {
            let level = lattice.level(level);
            let nodes = self.densities(&level)?;
            for (output, sums) in self.each_output(&mut sums).enumerate() {
                for (group, sums) in sums.iter_mut().enumerate() {
                    sums.extend(nodes.iter().map(|node| node.densities[output][group].ln_value));
                }
            }
            tilts.extend(
                nodes.iter().map(|node| node.ln_tilts.iter().fold(0.0, |most: f64, tilt| most.max(tilt.abs()))),
            );
            let value = |sum: &Vec<f64>| level.step().ln() + log_sum_exp(sum.iter().copied());
            let values: Vec<Vec<f64>> = sums.iter().map(|sums| sums.iter().map(value).collect()).collect();
            if let Some(coarse) = before.replace(values.clone()) {
                distance =
                    values.iter().flatten().zip(coarse.iter().flatten()).fold(0.0, |worst: f64, (fine, coarse)| {
                        let difference = if fine == coarse { 0.0 } else { (fine - coarse).abs() };
                        worst.max(difference / (1.0 + 1e-7 * fine.abs()))
                    });
                if distance <= LEVEL_DISTANCE {
                    let integral = |(ln_value, sum): (&f64, &Vec<f64>)| {
                        self.with_error(*ln_value, distance, largest_tilt(sum, &tilts))
                    };
                    let of_output =
                        |(values, sums): (&Vec<f64>, &Vec<Vec<f64>>)| values.iter().zip(sums).map(integral).collect();
                    return Ok(values.iter().zip(&sums).map(of_output).collect());
                }
            }
        }
        Err(Error::no_convergence("distribution of random votes", distance, LEVEL_DISTANCE, LEVELS as usize))
    }

    fn each_output<'s>(&self, sums: &'s mut Vec<Vec<Vec<f64>>>) -> impl Iterator<Item = &'s mut Vec<Vec<f64>>> {
        if sums.is_empty() {
            *sums = vec![vec![Vec::new(); self.votes.groups.len()]; self.votes.outputs.len()];
        }
        sums.iter_mut()
    }

    /// Truncation, and rounding of products of this many factors and of their tilt, which is removed again.
    fn with_error(&self, ln_value: f64, distance: f64, ln_tilt: f64) -> LogIntegral {
        let taken_out = self.votes.k as f64 * ln_tilt;
        let rounding = f64::EPSILON * (8.0 + self.votes.groups.len() as f64 + 2.0 * ln_value.abs() + 4.0 * taken_out);
        LogIntegral { ln_value, error: distance * distance + rounding }
    }

    /// The densities at the nodes of a level: bounds on all of them, then values for those that may matter.
    fn densities(&self, level: &Level) -> Result<Vec<Node>> {
        let mut nodes: Vec<Node> = (0..level.len()).map(|place| Node { place, ..Node::default() }).collect();
        parallel::try_map(nodes.chunks_mut(CHUNK), |nodes| self.bound(nodes, level))?;
        let mut largest = vec![f64::NEG_INFINITY; self.votes.outputs.len() * self.votes.groups.len()];
        for node in &nodes {
            for (largest, density) in largest.iter_mut().zip(node.densities.iter().flatten()) {
                *largest = largest.max(density.ln_error);
            }
        }
        let mut matter: Vec<&mut Node> = nodes
            .iter_mut()
            .filter(|node| {
                let mut bounds = node.densities.iter().flatten().zip(&largest);
                bounds.any(|(density, largest)| density.ln_error > largest + NEGLIGIBLE - COMMON_SHARE)
            })
            .collect();
        parallel::try_map(matter.chunks_mut(CHUNK), |nodes| self.evaluate(nodes, level))?;
        nodes.iter_mut().for_each(|node| node.kept = Vec::new());
        self.refine(&mut nodes, level)?;
        Ok(nodes)
    }

    fn factors(
        &self,
        place: Place<'_>,
        ln_tilt: f64,
        marked: bool,
        modes: &mut Modes,
        wins: Winner,
    ) -> Result<Factors> {
        let mut factors = Factors::new(self.votes, place, ln_tilt, marked, modes, wins);
        if marked {
            factors.weigh(self.votes, wins)?;
        }
        Ok(factors)
    }

    /// The outputs that share a tilt: all of them if the marks move the mean by a fraction of its standard deviation.
    fn sharing(&self) -> impl Iterator<Item = &[Output]> {
        let outputs = &self.votes.outputs;
        outputs.chunks(if self.marks_are_few() { outputs.len() } else { 1 })
    }

    fn marks_are_few(&self) -> bool {
        self.votes.marks as f64 <= 0.3 * (self.votes.k as f64).sqrt() + 1.0
    }

    /// Chooses the tilts of nodes and bounds their densities.
    fn bound(&self, nodes: &mut [Node], level: &Level) -> Result<()> {
        let mut modes = Modes::new(self.votes);
        let mut start = vec![0.0; self.votes.outputs.len()];
        let mut last = vec![None; self.votes.outputs.len()];
        for node in nodes {
            let place = level.place(node.place);
            for ((outputs, start), last) in self.sharing().zip(&mut start).zip(&mut last) {
                let (ln_tilt, _) = self.tilted(place, &outputs[0], Winner::None, *start, &mut modes)?;
                // The nodes are equally spaced, so the next tilt is extrapolated.
                *start = 2.0 * ln_tilt - last.replace(ln_tilt).unwrap_or(ln_tilt);
                node.ln_tilts.push(ln_tilt);
                let marked = outputs.iter().any(|output| output.marked);
                let factors = self.factors(place, ln_tilt, marked, &mut modes, Winner::Any)?;
                for output in outputs {
                    let masses = factors.masses(self.votes, output).into_iter();
                    node.densities.push(masses.map(|mass| Density::bounded(mass.map(|mass| mass.ln_mass))).collect());
                }
                if level.len() <= MOST_KEPT {
                    node.kept.push(factors);
                }
            }
        }
        Ok(())
    }

    /// The densities of all winners under the common tilt.
    fn evaluate(&self, nodes: &mut [&mut Node], level: &Level) -> Result<()> {
        let mut modes = Modes::new(self.votes);
        for node in nodes {
            let place = level.place(node.place);
            node.densities.clear();
            let mut kept = std::mem::take(&mut node.kept).into_iter();
            for (outputs, &ln_tilt) in self.sharing().zip(&node.ln_tilts) {
                let marked = outputs.iter().any(|output| output.marked);
                let factors = match kept.next() {
                    Some(factors) => factors,
                    None => self.factors(place, ln_tilt, marked, &mut modes, Winner::Any)?,
                };
                node.densities.extend(self.of_winners(&factors, outputs));
            }
        }
        Ok(())
    }

    /// The densities of the winners included in the factors.
    fn of_winners(&self, factors: &Factors, outputs: &[Output]) -> Vec<Vec<Density>> {
        let values = coefficients(&self.circle, self.votes, factors, outputs);
        let of_output = |(output, values): (&Output, Vec<super::spectrum::Coefficient>)| {
            let masses = factors.masses(self.votes, output);
            let ln_scale = factors.ln_scale(self.votes, output, None);
            let of_group = |(group, coefficient): (usize, super::spectrum::Coefficient)| {
                let Some(mass) = masses[group].filter(|mass| mass.ln_mass > f64::NEG_INFINITY) else {
                    return Density::bounded(None);
                };
                if !((mass.mean - output.degree as f64).abs() <= self.slack) {
                    return Density::bounded(Some(mass.ln_mass));
                }
                let ln_scale = factors.with_winner(ln_scale, output, group);
                let ln_error = ln_scale + (f64::EPSILON * coefficient.magnitude).ln();
                Density { ln_value: ln_scale + coefficient.value.max(0.0).ln(), ln_error, known: true }
            };
            values.into_iter().enumerate().map(of_group).collect()
        };
        outputs.iter().zip(values).map(of_output).collect()
    }

    /// The factors with the tilt that centers the degree of an output, with a winner or without one.
    pub(super) fn tilted(
        &self,
        place: Place<'_>,
        output: &Output,
        winner: Winner,
        start: f64,
        modes: &mut Modes,
    ) -> Result<(f64, Factors)> {
        let search = Search { start, first_reach: 3.0, narrowest: 1e-6, quantity: "tilt of the votes" };
        let mut steps = 0;
        // A few marks move the mean by a negligible amount.
        let marked = output.marked && (winner != Winner::None || !self.marks_are_few());
        let output = &Output { marked, ..*output };
        let evaluate = |ln_tilt: f64| {
            // A multiple of 2^-20, so that n ln ρ is exact.
            let ln_tilt = (ln_tilt * 1_048_576.0).round() / 1_048_576.0;
            let factors = match self.factors(place, ln_tilt, output.marked, modes, winner) {
                Ok(factors) => factors,
                Err(error) => return (Err(error), 0.0, 1.0),
            };
            let (mass, variance) = factors.mass(self.votes, output, winner.group());
            // Half a standard deviation off costs nothing.
            let close = 0.5 * variance.sqrt() + 0.25;
            steps += 1;
            // The slope is a guess; if Newton's method oscillates with it, every other step halves the bracket.
            let slope = if steps > 8 && steps % 2 == 0 { f64::MIN_POSITIVE } else { variance.max(1e-3) / close };
            (Ok(factors), (mass.mean - output.degree as f64) / close, slope)
        };
        let (_, factors) = increasing_root(search, evaluate, |excess, _| excess.abs() <= 1.0)?;
        let factors = factors?;
        Ok((factors.ln_tilt, factors))
    }

    /// Recomputes densities that are not exact enough, each with its own tilt, the largest first.
    fn refine(&self, nodes: &mut [Node], level: &Level) -> Result<()> {
        let mut most = 4;
        loop {
            let mut vague: Vec<(usize, usize, usize)> = Vec::new();
            for output in 0..self.votes.outputs.len() {
                for group in 0..self.votes.groups.len() {
                    let densities = || nodes.iter().map(|node| node.densities[output][group]);
                    let peak = densities().fold(f64::NEG_INFINITY, |peak, density| peak.max(density.ln_value));
                    let mut found: Vec<(f64, usize)> = densities()
                        .enumerate()
                        .filter(|(_, density)| density.is_vague(peak))
                        .map(|(node, density)| (density.ln_error, node))
                        .collect();
                    order::sort(&mut found, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                    found.truncate(most);
                    vague.extend(found.into_iter().map(|(_, node)| (output, group, node)));
                }
            }
            if vague.is_empty() {
                return Ok(());
            }
            most *= 2;
            let refined = parallel::try_map(&vague, |&(output, group, node)| {
                self.with_own_tilt(output, group, &nodes[node], level)
            })?;
            for ((output, group, node), density) in vague.into_iter().zip(refined) {
                nodes[node].densities[output][group] = density;
            }
        }
    }

    fn with_own_tilt(&self, output: usize, group: usize, node: &Node, level: &Level) -> Result<Density> {
        let output = self.votes.outputs[output];
        let place = level.place(node.place);
        let mut modes = Modes::new(self.votes);
        let (_, factors) = self.tilted(place, &output, Winner::Group(group), node.ln_tilts[0], &mut modes)?;
        let density = self.of_winners(&factors, &[output])[0][group];
        // No better tilt exists.
        Ok(Density { ln_error: f64::NEG_INFINITY, ..density })
    }
}
