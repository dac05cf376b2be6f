//! A distribution on finitely many outcomes; logarithms and complements are stored apart from the probabilities.

use crate::error::{Error, Result};
use crate::quadrature::LogIntegral;
use crate::special::CompensatedSum;

/// Probabilities of C outcomes, with ln p and 1 - p to full relative precision.
///
/// `ln_p` stays finite where p underflows, `complement` stays accurate where p rounds to 1.
///
/// ```
/// # use leakbound::distribution::OutcomeDistribution;
/// let distribution = OutcomeDistribution::from_probabilities(&[0.25, 0.75])?;
/// assert_eq!(distribution.complement(), [0.75, 0.25]);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct OutcomeDistribution {
    p: Vec<f64>,
    ln_p: Vec<f64>,
    complement: Vec<f64>,
    error: f64,
}

/// Checks probabilities, whose sum may be off by 1e-9, and divides them by their sum.
pub(super) fn divided_by_sum(p: &[f64], quantity: &'static str, sum: &'static str) -> Result<Vec<f64>> {
    Error::check_domain_of_all(p, |value| (0.0..=1.0).contains(&value), quantity, "[0, 1]")?;
    let total = p.iter().copied().collect::<CompensatedSum>().value();
    Error::check_domain((total - 1.0).abs() <= 1e-9, sum, total, "[1 - 1e-9, 1 + 1e-9]")?;
    Ok(p.iter().map(|value| value / total).collect())
}

/// How far the sum of computed probabilities may be from 1: far above rounding, far below any mistake.
const SUM_TOLERANCE: f64 = 1e-11;

impl OutcomeDistribution {
    /// A distribution from given probabilities, which must sum to 1 within 1e-9; they are divided by their sum.
    ///
    /// # Errors
    /// [`Error::Length`] for no outcome, [`Error::Domain`] for a probability outside [0, 1] or a wrong sum.
    pub fn from_probabilities(p: &[f64]) -> Result<Self> {
        Error::check_length(!p.is_empty(), "outcome distribution", 0, "at least 1 outcome")?;
        let p = divided_by_sum(p, "probability", "sum of probabilities")?;
        let ln_p = p.iter().map(|value| value.ln()).collect();
        Ok(Self::assemble(p, ln_p, f64::EPSILON))
    }

    /// A distribution from the log-probabilities of its outcomes, checked to sum to 1 and completed from their
    /// complements.
    pub fn from_integrals(integrals: &[LogIntegral]) -> Result<Self> {
        let of_class: Vec<usize> = (0..integrals.len()).collect();
        Self::from_groups(&of_class, &vec![1.0; integrals.len()], integrals)
    }

    /// As `from_integrals`, for groups of outcomes with equal probabilities.
    pub fn from_groups(of_class: &[usize], multiplicity: &[f64], integrals: &[LogIntegral]) -> Result<Self> {
        let total: CompensatedSum =
            integrals.iter().zip(multiplicity).map(|(integral, m)| m * libm::exp(integral.ln_value)).collect();
        let residual = (total.value() - 1.0).abs();
        if !(residual <= SUM_TOLERANCE) {
            return Err(Error::NoConvergence {
                quantity: "sum of the outcome probabilities",
                residual,
                tolerance: SUM_TOLERANCE,
                iterations: integrals.len(),
            });
        }
        let error = integrals.iter().fold(0.0, |worst: f64, integral| worst.max(integral.error));
        let ln_p: Vec<f64> = of_class.iter().map(|&group| integrals[group].ln_value).collect();
        Ok(Self::assemble(ln_p.iter().map(|&value| libm::exp(value)).collect(), ln_p, error))
    }

    /// Completes probabilities and their logarithms: a probability above one half is computed from the sum of the
    /// others, which is exact to rounding even when its own integral is not.
    fn assemble(mut p: Vec<f64>, mut ln_p: Vec<f64>, error: f64) -> Self {
        let mut complement: Vec<f64> = p.iter().map(|value| 1.0 - value).collect();
        if let Some(top) = p.iter().position(|&value| value > 0.5) {
            let others = p.iter().enumerate().filter(|&(class, _)| class != top);
            let rest = others.map(|(_, &value)| value).collect::<CompensatedSum>().value();
            complement[top] = rest;
            p[top] = 1.0 - rest;
            ln_p[top] = libm::log1p(-rest);
        }
        Self { p, ln_p, complement, error }
    }

    /// Probability of each outcome.
    #[must_use]
    pub fn p(&self) -> &[f64] {
        &self.p
    }

    /// ln of the probability of each outcome.
    #[must_use]
    pub fn ln_p(&self) -> &[f64] {
        &self.ln_p
    }

    /// 1 - p of each outcome, to full relative precision.
    #[must_use]
    pub fn complement(&self) -> &[f64] {
        &self.complement
    }

    /// Estimate of the largest relative error of a probability.
    #[must_use]
    pub const fn error(&self) -> f64 {
        self.error
    }

    /// Number of outcomes C.
    #[must_use]
    pub fn outcomes(&self) -> usize {
        self.p.len()
    }

    /// The most probable outcome; the first one in a tie.
    #[must_use]
    pub fn mode(&self) -> usize {
        (1..self.p.len()).fold(0, |best, class| if self.ln_p[class] > self.ln_p[best] { class } else { best })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_is_the_first_of_equals() {
        let mode = |p: &[f64]| OutcomeDistribution::from_probabilities(p).unwrap().mode();
        assert_eq!([mode(&[0.5, 0.5]), mode(&[0.2, 0.4, 0.4]), mode(&[0.1, 0.2, 0.7])], [0, 1, 2]);
    }

    #[test]
    fn given_probabilities_are_divided_by_their_sum() {
        let distribution = OutcomeDistribution::from_probabilities(&[0.25, 0.25, 0.5 + 8e-10]).unwrap();
        assert!((distribution.p().iter().sum::<f64>() - 1.0).abs() < 1e-15, "{distribution:?}");
        assert!((distribution.p()[0] - 0.25 / (1.0 + 8e-10)).abs() < 1e-16, "{distribution:?}");
    }
}
