//! The privacy loss of real-valued outputs, enclosed by what is known about it on cells.

use super::{Atom, PrivacyLoss};
use crate::order;
use crate::quadrature::LogIntegral;

/// A set of outputs: its probabilities under P and Q, and two numbers between which ln p/q lies on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossCell {
    /// ln P of the cell.
    pub p: LogIntegral,
    /// ln Q of the cell.
    pub q: LogIntegral,
    /// A lower and an upper bound on ln p/q over the cell. Either may be infinite.
    pub losses: [f64; 2],
}

impl LossCell {
    /// A cell with P and Q known up to a relative error.
    #[must_use]
    pub fn of_probabilities(probabilities: [f64; 2], error: f64, losses: [f64; 2]) -> Self {
        Self::of_logarithms(probabilities.map(f64::ln), error, losses)
    }

    /// A cell with known ln P and ln Q, each probability up to a relative error, even if they underflow.
    #[must_use]
    pub fn of_logarithms(logarithms: [f64; 2], error: f64, losses: [f64; 2]) -> Self {
        let [p, q] = logarithms.map(|ln_value| LogIntegral { ln_value, error });
        Self { p, q, losses }
    }

    /// The same cell with P and Q exchanged.
    #[must_use]
    pub fn exchanged(self) -> Self {
        Self { p: self.q, q: self.p, losses: [-self.losses[1], -self.losses[0]] }
    }
}

/// Two losses that enclose the true one: every privacy profile, including those of compositions, lies between theirs.
///
/// If outputs are real numbers, neither sums nor integrals give the profile of many of them exactly. Cells, however,
/// give both sides:
///
/// *From below*, the cell replaces the output, which is post-processing.
///
/// *From above*, the cell becomes two outcomes whose losses are the ends f < g of those on the cell, with the same
/// total P and Q. An output of loss l between f and g is the result of merging the two, if P splits as
/// ```text
/// u = p (1 - e^{f-l})/(1 - e^{f-g}) at g, and p - u at f,
/// ```
/// so the two dominate it; u is linear in p and q, so the cell is split by its P and Q alone. The errors of both sides
/// are of second order in g - f.
///
/// The estimated errors of the probabilities are put on the safe side: below, P is smaller and Q larger than computed;
/// above, the reverse.
///
/// # References
/// Doroshenko et al. (2022), "Connect the dots: tighter discrete approximations of privacy loss distributions".
#[derive(Debug, Clone, PartialEq)]
pub struct EnclosedLoss {
    /// A loss whose profile is at most the true one.
    pub at_least: PrivacyLoss,
    /// A loss whose profile is at least the true one.
    pub at_most: PrivacyLoss,
}

impl EnclosedLoss {
    /// From a loss that is known exactly.
    #[must_use]
    pub fn known(loss: PrivacyLoss) -> Self {
        Self { at_least: loss.clone(), at_most: loss }
    }

    /// From cells that cover all outputs and do not overlap.
    #[must_use]
    pub fn of_cells(cells: &[LossCell]) -> Self {
        let (mut at_least, mut at_most) = (Vec::with_capacity(cells.len()), Vec::with_capacity(2 * cells.len()));
        let (mut least_infinite, mut most_infinite) = (0.0, 0.0);
        for cell in cells.iter().filter(|cell| cell.p.ln_value > f64::NEG_INFINITY) {
            let [low, high] = cell.losses;
            let slack = cell.p.error + cell.q.error;
            let loss = cell.p.ln_value - cell.q.ln_value;
            let p = libm::exp(cell.p.ln_value);
            // Low enough that q = p e^-l is not too large either: mixtures of both are lower bounds as well.
            let below = Atom { l: loss - slack, p: p * (1.0 - 2.0 * slack).max(0.0) };
            if below.l < f64::INFINITY {
                at_least.push(below);
            } else {
                least_infinite += below.p;
            }
            // A probability that underflows still exists: without it, an unbounded loss would get a bound.
            let least = if high > 0.0 { f64::MIN_POSITIVE } else { 0.0 };
            let p = (p * (1.0 + cell.p.error)).max(least);
            let above = (p * upper_share(low, high, (loss + slack).clamp(low, high))).max(least);
            if high < f64::INFINITY {
                at_most.push(Atom { l: high, p: above });
            } else {
                most_infinite += above;
            }
            if above < p {
                at_most.push(Atom { l: low, p: p - above });
            }
        }
        let sorted = |mut atoms: Vec<Atom>, infinite: f64| {
            atoms.retain(|atom| atom.p > 0.0);
            order::sort(&mut atoms, |a, b| b.l.total_cmp(&a.l));
            PrivacyLoss { atoms, infinite }
        };
        Self { at_least: sorted(at_least, least_infinite), at_most: sorted(at_most, most_infinite.min(1.0)) }
    }

    /// At least every one of these from above; from below, the `chosen` one. `None` if there are none.
    #[must_use]
    pub fn of_some(losses: &[Self], chosen: usize) -> Option<Self> {
        let mut different: Vec<PrivacyLoss> = Vec::new();
        for loss in losses {
            if !different.contains(&loss.at_most) {
                different.push(loss.at_most.clone());
            }
        }
        Some(Self { at_least: losses.get(chosen)?.at_least.clone(), at_most: PrivacyLoss::dominating(&different)? })
    }
}

/// The share of P placed at `high`, for a cell with overall loss `l`.
fn upper_share(low: f64, high: f64, l: f64) -> f64 {
    if low == high || low == f64::NEG_INFINITY {
        return 1.0;
    }
    (libm::expm1(low - l) / libm::expm1(low - high)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::{ComposedDirection, gdp_epsilon};
    use crate::quantity::{Delta, Epsilon};
    use crate::special::log_ndtr;

    /// N(0, 1) against N(-mu, 1) on cells of this width.
    fn gaussian(mu: f64, width: f64) -> EnclosedLoss {
        let edges: Vec<f64> = (0..).map(|i| -12.0 - mu + width * f64::from(i)).take_while(|x| *x < 12.0).collect();
        let at = |i: usize| edges.get(i).copied().unwrap_or(f64::INFINITY);
        let cells: Vec<LossCell> = (0..=edges.len())
            .map(|i| {
                let [low, high] = [i.checked_sub(1).map_or(f64::NEG_INFINITY, at), at(i)];
                let ln = |low: f64, high: f64| {
                    let (low, high) = if low >= 0.0 { (-high, -low) } else { (low, high) };
                    let ln_value = log_ndtr(high) + (-libm::exp(log_ndtr(low) - log_ndtr(high))).ln_1p();
                    LogIntegral { ln_value, error: 1e-13 }
                };
                let loss = |x: f64| mu * x + 0.5 * mu * mu;
                LossCell { p: ln(low, high), q: ln(low + mu, high + mu), losses: [loss(low), loss(high)] }
            })
            .collect();
        EnclosedLoss::of_cells(&cells)
    }

    /// n of them equal one with √n μ, whose ε has a closed form.
    #[test]
    fn compositions_of_gaussians_are_enclosed() {
        for (mu, times, delta) in [(1.0, 1, 1e-5), (0.1, 100, 1e-5), (0.02, 10_000, 1e-10), (2.0, 7, 1e-3)] {
            let delta = Delta::new(delta).unwrap();
            let truth = gdp_epsilon(mu * f64::from(times).sqrt(), delta).unwrap().get();
            let mut widths = Vec::new();
            for cells in [0.05, 0.005] {
                let loss = gaussian(mu, cells);
                let epsilon = |loss: &PrivacyLoss| {
                    ComposedDirection::of_known(&[(loss.clone(), times as u64)], delta, 1e-4).unwrap().epsilon(delta)
                };
                let (lower, upper) = (epsilon(&loss.at_least).lower, epsilon(&loss.at_most).upper);
                assert!(lower <= truth && truth <= upper, "{mu} {times}: {lower} {truth} {upper}");
                widths.push((upper - lower) / truth);
            }
            assert!(widths[0] < 2e-3 && widths[1] < 2.5e-4, "{mu} {times}: {widths:?}");
        }
    }

    /// At every ε of one output, the profiles enclose the closed form.
    #[test]
    fn profiles_stand_around_the_closed_form() {
        let loss = gaussian(1.0, 0.1);
        let delta = |loss: &PrivacyLoss, epsilon: f64| {
            let atoms = loss.atoms.iter().filter(|atom| atom.l > epsilon);
            loss.infinite + atoms.map(|atom| atom.p * -libm::expm1(epsilon - atom.l)).sum::<f64>()
        };
        for epsilon in [0.0, 0.3, 1.0, 3.0, 7.0, 20.0] {
            let truth = crate::divergence::gdp_delta(1.0, Epsilon::new(epsilon).unwrap()).unwrap();
            let (lower, upper) = (delta(&loss.at_least, epsilon), delta(&loss.at_most, epsilon));
            assert!(lower <= truth && truth <= upper, "{epsilon}: {lower} {truth} {upper}");
            assert!(upper - lower < 0.02 * truth.max(1e-30), "{epsilon}: {lower} {truth} {upper}");
        }
    }

    /// Cells of constant loss, without Q, without P, and with nothing known about them.
    #[test]
    fn extreme_cells() {
        let ln = |p: f64| LogIntegral { ln_value: p.ln(), error: 0.0 };
        let cell = |p: f64, q: f64, losses| LossCell { p: ln(p), q: ln(q), losses };
        let all = [f64::NEG_INFINITY, f64::INFINITY];
        let loss = EnclosedLoss::of_cells(&[cell(1.0, 1.0, all)]);
        assert_eq!([loss.at_least.largest(), loss.at_most.infinite()], [0.0, 1.0]);
        let loss = EnclosedLoss::of_cells(&[
            cell(0.5, 0.0, [f64::INFINITY; 2]),
            cell(0.5, 0.5, [0.0; 2]),
            cell(0.0, 0.5, [f64::NEG_INFINITY; 2]),
        ]);
        assert_eq!([loss.at_least.infinite(), loss.at_most.infinite()], [0.5, 0.5]);
        assert_eq!(loss.at_least, loss.at_most);
        // All of it at the far end, because there is no lower bound.
        let loss = EnclosedLoss::of_cells(&[cell(1.0, 1.0, [f64::NEG_INFINITY, 2.0])]);
        assert_eq!(loss.at_most.largest(), 2.0);
    }
}
