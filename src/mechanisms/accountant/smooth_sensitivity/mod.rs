//! How much a data-dependent cost may change with the votes: its local sensitivities at a distance, and their smooth
//! maximum, which allows the cost to be released privately.

mod cells;
mod threshold;

pub use threshold::threshold_local_sensitivities;

use self::cells::{Cells, Cost};
use super::gnmax::{gnmax_data_dependent, gnmax_data_independent, log_flip_probability};
use super::halving::halved;
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::quantity::{NoiseScale, Order};
use crate::special::{log_ndtr, ndtri_exp};
use std::f64::consts::SQRT_2;

/// The largest number of votes for which every distance is tried.
const MAX_VOTES: u64 = 10_000_000;
/// Points at which the two conditions are checked.
const CHECKED: u32 = 1000;
/// The smallest ln q in the search for the crossing of the two costs.
const SMALLEST_LOG_Q: f64 = -1e12;

/// The local sensitivities of the data-dependent cost of one GNMax query, as a function of the votes.
///
/// The cost β(q) of [`gnmax_data_dependent`] depends on the votes through q of [`log_flip_probability`]; from q₀ on,
/// where it reaches α/σ², it is α/σ². One moved vote changes each gap n_{i*} - n_i by at most 2, so with
/// S_c(q) = (C-1) Φ(Φ⁻¹(q/(C-1)) + c) the neighbor's q lies between S_{-√2/σ}(q) and S_{√2/σ}(q): x ↦ Φ(Φ⁻¹(x) + c) is
/// concave for c > 0 and convex for c < 0, and Jensen's inequality takes the sum over classes at its mean. So the
/// change of the cost is at most
/// ```text
/// L(q) = max{β(S_{√2/σ}(q)) - β(q), β(q) - β(S_{-√2/σ}(q))},    L(q₁) for q₁ = S_{-√2/σ}(q₀) ≤ q ≤ q₀,
/// ```
/// provided that β increases up to q₀ and its increments β(S(q)) - β(q) increase up to q₁ (*the monotone case*), which
/// is checked numerically on construction. Within d moves, the largest L is found by the moves that bring q toward [q₁,
/// q₀] fastest: votes of the runner-up to the leader if q > q₀, of the leader to the runner-up if q < q₁.
///
/// If only β increases, as at σ = 20 and order 20 for two classes, d moves take q no further than S_{±d√2/σ}(q), and
/// the largest L on the way is bounded on a fine grid of Φ⁻¹(q/(C-1)): a few percent above the largest L.
///
/// ```
/// # use leakbound::accountant::GnmaxSensitivity;
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::quantity::{NoiseScale, Order};
/// let sensitivity = GnmaxSensitivity::new(Order::new(10.0)?, NoiseScale::new(250.0)?, 5)?;
/// let local = sensitivity.local(&VoteHistogram::new(vec![1000, 500, 300, 200, 0])?)?;
/// assert!((local[299] / 2.108_539_795_479_027_5e-6 - 1.0).abs() < 1e-8);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2018), "Scalable private learning with PATE", appendix B, Propositions 12 to 17 and Algorithms 3 to
/// 5.
#[derive(Debug, Clone, PartialEq)]
pub struct GnmaxSensitivity {
    order: Order,
    sigma: NoiseScale,
    classes: usize,
    log_q0: f64,
    log_q1: f64,
    /// Set if the increments do not increase.
    cells: Option<Cells>,
}

impl GnmaxSensitivity {
    /// Finds q₀ and q₁ and checks the monotone case.
    ///
    /// # Errors
    /// [`Error::Rejected`] if the cost does not increase with q at this order and noise, or never falls below α/σ².
    pub fn new(order: Order, sigma: NoiseScale, classes: usize) -> Result<Self> {
        let log_q0 = log_q0(order, sigma)?;
        let mut sensitivity = Self { order, sigma, classes, log_q0, log_q1: log_q0, cells: None };
        if classes > 1 {
            sensitivity.log_q1 = sensitivity.moved(log_q0, -1.0);
            if !sensitivity.increments_increase()? {
                let cost = Cost {
                    classes,
                    step: sensitivity.step(),
                    ln_others: sensitivity.ln_others(),
                    at: &|log_q| sensitivity.cost_at(log_q),
                    rejected: &|log_q| sensitivity.rejected(log_q),
                };
                let cells = Cells::new(&cost)?;
                sensitivity.cells = Some(cells);
            }
        }
        Ok(sensitivity)
    }

    /// ln q₀, from which on the cost is α/σ².
    #[must_use]
    pub const fn log_q0(&self) -> f64 {
        self.log_q0
    }

    /// The cost whose sensitivity this is.
    #[must_use]
    pub fn cost(&self, histogram: &VoteHistogram) -> f64 {
        self.cost_at(log_flip_probability(histogram, self.sigma))
    }

    fn cost_at(&self, log_q: f64) -> f64 {
        if log_q >= self.log_q0 {
            gnmax_data_independent(self.order, self.sigma)
        } else {
            gnmax_data_dependent(self.order, self.sigma, log_q)
        }
    }

    /// ln S(q): as far as one vote moves q, upward for a positive sign, plus a rounding error, because the cost may
    /// jump.
    fn moved(&self, log_q: f64, sign: f64) -> f64 {
        let ln_others = self.ln_others();
        let mean = (log_q - ln_others).min(0.0);
        let log_mean = log_ndtr(ndtri_exp(mean) + sign * self.step());
        (ln_others + log_mean + sign * 1e-13 * (1.0 + log_mean.abs())).min(0.0)
    }

    /// L(q).
    fn local_at(&self, log_q: f64) -> f64 {
        if log_q == f64::NEG_INFINITY {
            return 0.0;
        }
        if log_q >= self.log_q1 && log_q <= self.log_q0 {
            // S(q₁) is q₀ up to a rounding error, and the cost may jump there.
            return gnmax_data_independent(self.order, self.sigma) - self.cost_at(self.log_q1);
        }
        let here = self.cost_at(log_q);
        let (up, down) = (self.cost_at(self.moved(log_q, 1.0)), self.cost_at(self.moved(log_q, -1.0)));
        (up - here).max(here - down).max(0.0)
    }

    /// √2/σ.
    fn step(&self) -> f64 {
        SQRT_2 / self.sigma.get()
    }

    /// ln(C-1).
    fn ln_others(&self) -> f64 {
        ((self.classes - 1) as f64).ln()
    }

    fn rejected(&self, log_q: f64) -> Error {
        let (order, sigma) = (self.order, self.sigma);
        let reason =
            format_args!("at order {order} and sigma {sigma} the cost does not increase with q at ln q = {log_q:.6}");
        Error::rejected("local sensitivity of a GNMax cost", reason)
    }

    /// Whether the second condition of the monotone case holds, on a grid of Φ⁻¹(q/(C-1)).
    fn increments_increase(&self) -> Result<bool> {
        let ln_others = self.ln_others();
        let end = ndtri_exp((self.log_q0 - ln_others).min(0.0));
        // Well below q₁, which small noise puts far below the smallest double; logarithms still represent it.
        let crossing = ndtri_exp((self.log_q1 - ln_others).min(0.0));
        let start = (3.0 * end.min(0.0) - 10.0).min(crossing - self.step() - 10.0);
        let (mut cost, mut increment, mut increasing) = (0.0, 0.0, true);
        for step in 0..=CHECKED {
            let z = start + (end - start) * f64::from(step) / f64::from(CHECKED);
            let log_q = (ln_others + log_ndtr(z)).min(self.log_q0);
            let next_cost = self.cost_at(log_q);
            let next_increment = self.cost_at(self.moved(log_q, 1.0)) - next_cost;
            if next_cost < cost * (1.0 - 1e-9) {
                return Err(self.rejected(log_q));
            }
            increasing &= log_q > self.log_q1 || next_increment >= increment * (1.0 - 1e-9);
            (cost, increment) = (next_cost, next_increment);
        }
        Ok(increasing)
    }

    /// Upper bounds on the local sensitivity at distance d = 0, 1, ..., k: no histogram within d moved votes has a
    /// neighbor whose cost differs by more than the largest of the first d + 1.
    ///
    /// # Errors
    /// [`Error::Length`] for a different number of classes; [`Error::Rejected`] for more than 10⁷ votes.
    pub fn local(&self, histogram: &VoteHistogram) -> Result<Vec<f64>> {
        Error::check_size("vote histogram", histogram.classes(), self.classes, " classes")?;
        let total = histogram.counts().iter().fold(0u64, |sum, &count| sum.saturating_add(count));
        let reason = format_args!("{total} votes; at most {MAX_VOTES} are tried one by one");
        Error::check_possible(total <= MAX_VOTES, "local sensitivity of a GNMax cost", reason)?;
        let mut local = vec![if self.classes == 1 { 0.0 } else { self.local_at(self.log_q1) }; total as usize + 1];
        let mut log_q = log_flip_probability(histogram, self.sigma);
        if let Some(cells) = &self.cells {
            cells.local(ndtri_exp((log_q - self.ln_others()).min(0.0)), &mut local);
            return Ok(local);
        }
        if self.classes == 1 || (self.log_q1..=self.log_q0).contains(&log_q) {
            return Ok(local);
        }
        let mut votes = histogram.counts().to_vec();
        votes.sort_unstable_by(|a, b| b.cmp(a));
        let toward_consensus = log_q > self.log_q0;
        for value in &mut local {
            *value = self.local_at(log_q);
            let go_on = if toward_consensus {
                log_q > self.log_q0 && votes[1] > 0
            } else {
                log_q < self.log_q1 && votes[0] > 0
            };
            if !go_on {
                break;
            }
            if toward_consensus {
                votes[0] += 1;
                votes[1] -= 1;
                // The last of the classes that tied with the runner-up gives the vote, so the order is preserved.
                let last = votes.iter().rposition(|&count| count == votes[1] + 1).filter(|&last| last > 1);
                if let Some(last) = last {
                    votes.swap(1, last);
                }
            } else {
                votes[0] -= 1;
                votes[1] += 1;
            }
            log_q = VoteHistogram::new(votes.clone()).map_or(log_q, |votes| log_flip_probability(&votes, self.sigma));
        }
        Ok(local)
    }

    /// The β-smooth sensitivity max_d e^{-βd} L_d. A sum of costs has at most the sum of their smooth sensitivities.
    ///
    /// # Errors
    /// As [`GnmaxSensitivity::local`]; [`Error::Domain`] for a β outside [0, inf).
    ///
    /// # References
    /// Nissim, Raskhodnikova and Smith (2007), Definition 2.2.
    pub fn smooth(&self, histogram: &VoteHistogram, beta: f64) -> Result<f64> {
        smooth_sensitivity(&self.local(histogram)?, beta)
    }
}

/// max_d e^{-βd} L_d of local sensitivities at the distances d = 0, 1, ...
///
/// # Errors
/// [`Error::Domain`] for a β outside [0, inf).
///
/// ```
/// # use leakbound::accountant::smooth_sensitivity;
/// assert_eq!(smooth_sensitivity(&[1.0, 3.0, 1.0], 1.0)?, 3.0 * (-1f64).exp());
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn smooth_sensitivity(local: &[f64], beta: f64) -> Result<f64> {
    Error::check_domain((0.0..f64::INFINITY).contains(&beta), "smoothness beta", beta, "[0, inf)")?;
    Ok(local.iter().enumerate().map(|(d, value)| value * libm::exp(-beta * d as f64)).fold(0.0, f64::max))
}

/// ln q₀: the largest q, among those for which the theorem holds, below which the data-dependent cost is the smaller
/// one.
fn log_q0(order: Order, sigma: NoiseScale) -> Result<f64> {
    let (a, s) = (order.get(), sigma.get());
    let independent = gnmax_data_independent(order, sigma);
    let dependent_wins = |log_q: f64| gnmax_data_dependent(order, sigma, log_q) < independent;
    // μ₂ > 1, μ₁ > α and small enough q all hold below this (with 0.99 for rounding).
    let high = -(1.0 + 1.0 / s).powi(2).max(((a - 0.99) / s).powi(2)).max(1.0 / s / s);
    if dependent_wins(high) {
        return Ok(high);
    }
    let mut low = 2.0 * high;
    while !dependent_wins(low) {
        let reason = format_args!("at order {a} and sigma {s} no consensus makes a query cheaper");
        Error::check_possible(low > SMALLEST_LOG_Q, "local sensitivity of a GNMax cost", reason)?;
        low *= 1.5;
    }
    // The costs cross between the two: halve until only neighboring doubles are left.
    Ok(halved(low, high, 200, dependent_wins).1)
}

#[cfg(test)]
mod tests;
