//! Noise on one-hot labels, and what it guarantees.

use leakbound::accountant::{agibi_rdp, alibi_scale};
use leakbound::divergence::{RdpCurve, gaussian_sigma, gdp_epsilon, order_grid};
use leakbound::error::Result;
use leakbound::label_dp::{agibi_labels, agibi_posterior, alibi_labels, alibi_posterior};
use leakbound::quantity::{Delta, Epsilon, NoiseScale};
use ndarray::Array2;
use serde::Serialize;
use std::f64::consts::SQRT_2;

/// The noise of every coordinate of a one-hot label.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelNoise {
    /// ALIBI: Laplace noise of scale λ, standard deviation √2 λ.
    Laplace(NoiseScale),
    /// AGIBI: Gaussian noise of standard deviation σ.
    Gaussian(NoiseScale),
}

impl LabelNoise {
    /// ALIBI with the ε of its labels: λ = 2/ε.
    ///
    /// # Errors
    /// [`Error::Domain`](leakbound::Error::Domain) for ε = 0 or infinity.
    pub fn alibi(epsilon: Epsilon) -> Result<Self> {
        alibi_scale(epsilon).map(Self::Laplace)
    }

    /// AGIBI with the ε of its labels at δ, by the exact trade-off: √2 times the σ of
    /// [`gaussian_sigma`](leakbound::divergence::gaussian_sigma).
    ///
    /// # Errors
    /// [`Error::Rejected`](leakbound::Error::Rejected) where no σ is needed or none is enough (δ = 0).
    pub fn agibi(epsilon: Epsilon, delta: Delta) -> Result<Self> {
        NoiseScale::new(SQRT_2 * gaussian_sigma(epsilon, delta)?.get()).map(Self::Gaussian)
    }

    /// ε at δ of label differential privacy: 2/λ at every δ for ALIBI; that of the Gaussian trade-off with μ = √2/σ for
    /// AGIBI, whose labels are at the distance √2.
    ///
    /// # Errors
    /// [`Error::NoConvergence`](leakbound::Error::NoConvergence) when the root of the trade-off is not found.
    ///
    /// # References
    /// Malek Esmaeili et al. (2021), "Antipodes of label differential privacy: PATE and ALIBI", section 5.1; Dong, Roth
    /// and Su (2022), "Gaussian differential privacy", Theorem 2.7.
    pub fn epsilon(self, delta: Delta) -> Result<Epsilon> {
        match self {
            Self::Laplace(lambda) => Epsilon::new(2.0 / lambda.get()),
            Self::Gaussian(sigma) => gdp_epsilon(SQRT_2 / sigma.get(), delta),
        }
    }

    /// The ε at δ that an accountant by Rényi divergences gives AGIBI, which is larger than [`epsilon`](Self::epsilon);
    /// nothing for ALIBI, which needs none.
    #[must_use]
    pub fn epsilon_by_rdp(self, delta: Delta) -> Option<Epsilon> {
        match self {
            Self::Laplace(_) => None,
            Self::Gaussian(sigma) => {
                Some(RdpCurve::from_fn(&order_grid(), |order| agibi_rdp(order, sigma)).epsilon(delta).0)
            }
        }
    }

    /// Noisy labels [image, class].
    pub(super) fn labels(self, labels: &[usize], classes: usize, seed: u64) -> Result<Array2<f64>> {
        match self {
            Self::Laplace(lambda) => alibi_labels(labels, classes, lambda, seed),
            Self::Gaussian(sigma) => agibi_labels(labels, classes, sigma, seed),
        }
    }

    /// What a noisy label says about the label, given a prior.
    pub(super) fn posterior(self, observed: &[f64], prior: &[f64]) -> Result<Vec<f64>> {
        match self {
            Self::Laplace(lambda) => alibi_posterior(observed, prior, lambda),
            Self::Gaussian(sigma) => agibi_posterior(observed, prior, sigma),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakbound::accountant::alibi_rdp;
    use leakbound::divergence::gdp_delta;
    use leakbound::quantity::Order;

    /// The ratio of the densities of two noisy labels is exp(2/λ) at its largest, where the first coordinate is above 1
    /// and the second below 0, and the Rényi divergences rise to the same value.
    #[test]
    fn alibi_has_the_epsilon_of_its_densities() {
        let target = Epsilon::new(0.7).unwrap();
        let lambda = alibi_scale(target).unwrap();
        assert_eq!(LabelNoise::alibi(target).unwrap(), LabelNoise::Laplace(lambda));
        let epsilon = LabelNoise::Laplace(lambda).epsilon(Delta::new(0.0).unwrap()).unwrap();
        assert!((epsilon.get() / 0.7 - 1.0).abs() < 1e-15);
        let log_ratio = |first: f64, second: f64| {
            ((first.abs() - (first - 1.0).abs()) + ((second - 1.0).abs() - second.abs())) / lambda.get()
        };
        let grid = || (-30..=30).map(|step| f64::from(step) * 0.1);
        let largest = grid().flat_map(|first| grid().map(move |second| (first, second)));
        let largest = largest.map(|(first, second)| log_ratio(first, second)).fold(0.0, f64::max);
        assert!((largest / epsilon.get() - 1.0).abs() < 1e-12, "{largest}");
        let rdp = alibi_rdp(Order::new(1e9).unwrap(), lambda);
        assert!(rdp <= epsilon.get() && rdp > epsilon.get() * (1.0 - 1e-7), "{rdp}");
        // Standard deviation 2√2/ε.
        assert!((SQRT_2 * lambda.get() - 2.0 * SQRT_2 / 0.7).abs() < 1e-14);
    }

    #[test]
    fn agibi_is_a_gaussian_of_sensitivity_root_two() {
        let (sigma, delta) = (NoiseScale::new(1.5).unwrap(), Delta::new(1e-5).unwrap());
        let noise = LabelNoise::Gaussian(sigma);
        let epsilon = noise.epsilon(delta).unwrap();
        let by_rdp = noise.epsilon_by_rdp(delta).unwrap();
        println!("{epsilon}, by Rényi divergences {by_rdp}");
        assert!((gdp_delta(SQRT_2 / 1.5, epsilon).unwrap() / 1e-5 - 1.0).abs() < 1e-9);
        assert!(epsilon < by_rdp && by_rdp.get() < 1.15 * epsilon.get());
        assert_eq!(LabelNoise::Laplace(sigma).epsilon_by_rdp(delta), None);
        let LabelNoise::Gaussian(again) = LabelNoise::agibi(epsilon, delta).unwrap() else {
            panic!("of Gaussian noise")
        };
        assert!((again.get() / 1.5 - 1.0).abs() < 1e-9, "{again}");
    }
}
