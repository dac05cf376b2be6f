//! The mechanisms that make labels private before networks are trained on them, and their guarantees.

use crate::checks::reject;
use leakbound::accountant::{agibi_rdp, alibi_scale};
use leakbound::divergence::{RdpCurve, gaussian_sigma, gdp_epsilon, order_grid};
use leakbound::error::Result;
use leakbound::quantity::{Delta, Epsilon, NoiseScale};
use serde::Serialize;
use std::f64::consts::SQRT_2;

/// How far the shares of the stages may be from summing to 1.
const SUM_SLACK: f64 = 1e-9;

/// How labels are made private. Each label is used once, so the output of its mechanism is all that a network knows
/// about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelMechanism {
    /// Labels as they are: the baseline of the others.
    NotPrivate,
    /// ALIBI: Laplace noise of scale λ, standard deviation √2 λ, on every coordinate of the one-hot label, and iterative
    /// Bayesian inference.
    Alibi(NoiseScale),
    /// AGIBI: likewise, but with Gaussian noise of standard deviation σ.
    Agibi(NoiseScale),
    /// A class that is e^ε times as likely the label as each other class.
    RandomizedResponse(Epsilon),
    /// LP-MST: randomized response among the classes that are likely for the network of the stage before; LP-2ST with
    /// two stages.
    MultiStage {
        /// ε of every label.
        epsilon: Epsilon,
        /// The share of the images of each stage, at least two, of sum 1.
        shares: Vec<f64>,
    },
}

impl LabelMechanism {
    /// ALIBI with the ε of its labels: λ = 2/ε.
    ///
    /// # Errors
    /// [`Error::Domain`](leakbound::Error::Domain) for ε = 0 or infinity.
    pub fn alibi(epsilon: Epsilon) -> Result<Self> {
        alibi_scale(epsilon).map(Self::Alibi)
    }

    /// AGIBI with the ε of its labels at δ, by the exact trade-off: √2 times the σ of
    /// [`gaussian_sigma`](leakbound::divergence::gaussian_sigma).
    ///
    /// # Errors
    /// [`Error::Rejected`](leakbound::Error::Rejected) if no σ is needed or none is enough (δ = 0).
    pub fn agibi(epsilon: Epsilon, delta: Delta) -> Result<Self> {
        NoiseScale::new(SQRT_2 * gaussian_sigma(epsilon, delta)?.get()).map(Self::Agibi)
    }

    /// ε at δ of label differential privacy.
    ///
    /// 2/λ at every δ for ALIBI; that of the Gaussian trade-off with μ = √2/σ for AGIBI, whose labels are at the
    /// distance √2; ε at every δ for randomized response and LP-MST, whose stages have separate labels: the prior of a
    /// label depends only on the answers for other labels, so the stages compose in parallel.
    ///
    /// # Errors
    /// [`Error::NoConvergence`](leakbound::Error::NoConvergence) when the root of the trade-off is not found.
    ///
    /// # References
    /// Malek Esmaeili et al. (2021), "Antipodes of label differential privacy: PATE and ALIBI", section 5.1; Dong, Roth
    /// and Su (2022), "Gaussian differential privacy", Theorem 2.7; Ghazi et al. (2021), "Deep learning with label
    /// differential privacy", section 4.
    pub fn epsilon(&self, delta: Delta) -> Result<Epsilon> {
        match self {
            Self::NotPrivate => Ok(Epsilon::INFINITE),
            Self::Alibi(lambda) => Epsilon::new(2.0 / lambda.get()),
            Self::Agibi(sigma) => gdp_epsilon(SQRT_2 / sigma.get(), delta),
            Self::RandomizedResponse(epsilon) | Self::MultiStage { epsilon, .. } => Ok(*epsilon),
        }
    }

    /// The ε at δ that an accountant by Rényi divergences gives AGIBI, which is larger than [`epsilon`](Self::epsilon);
    /// nothing for the others, which need none.
    #[must_use]
    pub fn epsilon_by_rdp(&self, delta: Delta) -> Option<Epsilon> {
        match self {
            Self::Agibi(sigma) => {
                Some(RdpCurve::from_fn(&order_grid(), |order| agibi_rdp(order, *sigma)).epsilon(delta).0)
            }
            Self::NotPrivate | Self::Alibi(_) | Self::RandomizedResponse(_) | Self::MultiStage { .. } => None,
        }
    }

    /// λ or σ of the noise on one-hot labels.
    #[must_use]
    pub const fn noise_scale(&self) -> Option<NoiseScale> {
        match self {
            Self::Alibi(scale) | Self::Agibi(scale) => Some(*scale),
            Self::NotPrivate | Self::RandomizedResponse(_) | Self::MultiStage { .. } => None,
        }
    }

    /// Networks that are trained for one model.
    #[must_use]
    pub fn networks(&self) -> usize {
        match self {
            Self::MultiStage { shares, .. } => shares.len(),
            Self::NotPrivate | Self::Alibi(_) | Self::Agibi(_) | Self::RandomizedResponse(_) => 1,
        }
    }

    /// # Errors
    /// [`Error::Rejected`](leakbound::Error::Rejected) for stages that cannot be.
    pub(super) fn check(&self) -> Result<()> {
        let Self::MultiStage { shares, .. } = self else { return Ok(()) };
        let sum: f64 = shares.iter().sum();
        let reason = if shares.len() < 2 {
            format!("{} stage; LP-MST has at least 2", shares.len())
        } else if let Some(share) = shares.iter().find(|share| !(**share > 0.0 && **share < 1.0)) {
            format!("a stage with the share {share} of the images, which is not in (0, 1)")
        } else if (sum - 1.0).abs() > SUM_SLACK {
            format!("stages with shares of the images that sum to {sum}, not to 1")
        } else {
            return Ok(());
        };
        reject("label privacy", reason)
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
        assert_eq!(LabelMechanism::alibi(target).unwrap(), LabelMechanism::Alibi(lambda));
        let epsilon = LabelMechanism::Alibi(lambda).epsilon(Delta::new(0.0).unwrap()).unwrap();
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
        let noise = LabelMechanism::Agibi(sigma);
        let epsilon = noise.epsilon(delta).unwrap();
        let by_rdp = noise.epsilon_by_rdp(delta).unwrap();
        println!("{epsilon}, by Rényi divergences {by_rdp}");
        assert!((gdp_delta(SQRT_2 / 1.5, epsilon).unwrap() / 1e-5 - 1.0).abs() < 1e-9);
        assert!(epsilon < by_rdp && by_rdp.get() < 1.15 * epsilon.get());
        assert_eq!(LabelMechanism::Alibi(sigma).epsilon_by_rdp(delta), None);
        let LabelMechanism::Agibi(again) = LabelMechanism::agibi(epsilon, delta).unwrap() else {
            panic!("of Gaussian noise")
        };
        assert!((again.get() / 1.5 - 1.0).abs() < 1e-9, "{again}");
    }

    #[test]
    fn stages_share_the_images() {
        let rejected = |shares: &[f64]| {
            let mechanism = LabelMechanism::MultiStage { epsilon: Epsilon::ZERO, shares: shares.to_vec() };
            mechanism.check().err().map(|error| error.to_string())
        };
        assert_eq!((rejected(&[0.5, 0.5]), rejected(&[0.2, 0.3, 0.5])), (None, None));
        assert_eq!(rejected(&[1.0]).unwrap(), "label privacy: 1 stage; LP-MST has at least 2");
        let share = "label privacy: a stage with the share NaN of the images, which is not in (0, 1)";
        assert_eq!(rejected(&[0.5, f64::NAN]).unwrap(), share);
        let sum = "label privacy: stages with shares of the images that sum to 0.75, not to 1";
        assert_eq!(rejected(&[0.5, 0.25]).unwrap(), sum);
    }
}
