//! What the steps of DP-SGD cost.

use crate::checks::{check_counts, reject};
use leakbound::accountant::subsampled_gaussian_rdp;
use leakbound::divergence::{epsilon_of_rdp, gdp_epsilon, order_grid};
use leakbound::error::{Error, Result};
use leakbound::quantity::{Delta, Epsilon, NoiseScale, Probability};
use serde::Serialize;
use std::f64::consts::LN_2;

/// A search for the noise ends when its limits are this close, relatively.
const CLOSE: f64 = 1e-6;
/// The range of noise multipliers that is searched.
const RANGE: (f64, f64) = (1e-6, 1e9);

/// T steps of DP-SGD, each on a Poisson sample of rate q.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DpSgdSteps {
    /// q: the probability with which an image takes part in a step, independently of others.
    pub rate: Probability,
    /// T.
    pub steps: u64,
}

impl DpSgdSteps {
    /// Training with `epochs` passes over `images` images and an expected `batch` images per step: q = batch/images, T
    /// = ⌈epochs · images/batch⌉.
    ///
    /// # Errors
    /// [`Error::Domain`] for a count of 0, [`Error::Rejected`] for more images in a step than there are.
    pub fn of_epochs(images: usize, batch: usize, epochs: usize) -> Result<Self> {
        check_counts([("images", images), ("images in a step", batch), ("epochs", epochs)])?;
        if batch > images {
            return reject("DP-SGD", format!("{batch} images expected in a step of {images}"));
        }
        let rate = Probability::new(batch as f64 / images as f64)?;
        Ok(Self { rate, steps: (epochs as u64 * images as u64).div_ceil(batch as u64) })
    }

    /// ε at δ of all steps with noise of σ times the clipping norm, for datasets that differ in one added image.
    ///
    /// The smaller of two upper bounds: the Rényi divergences of the subsampled Gaussian mechanism
    /// ([`subsampled_gaussian_rdp`](leakbound::accountant::subsampled_gaussian_rdp)), added up over the steps and
    /// converted at the best order; and the Gaussian trade-off with μ = √T/σ, which holds without sampling and is exact
    /// for q = 1 ([`gdp_epsilon`](leakbound::divergence::gdp_epsilon)). Sampling never hurts: mixing with the same
    /// distribution on both sides does not move them further apart.
    ///
    /// # Errors
    /// [`Error::NoConvergence`] when the root of the trade-off is not found.
    ///
    /// # References
    /// Mironov, Talwar and Zhang (2019), Theorem 4; Dong, Roth and Su (2022), Corollary 3.3.
    pub fn epsilon(self, noise_multiplier: NoiseScale, delta: Delta) -> Result<Epsilon> {
        let unsampled = gdp_epsilon((self.steps as f64).sqrt() / noise_multiplier.get(), delta)?;
        if self.rate.get() == 1.0 || delta.get() == 0.0 {
            return Ok(unsampled);
        }
        let mut smallest = unsampled;
        for order in order_grid() {
            let rdp = self.steps as f64 * subsampled_gaussian_rdp(order, self.rate, noise_multiplier, 1.0);
            let converted = epsilon_of_rdp(rdp, order, delta);
            if converted < smallest {
                smallest = converted;
            }
            // The divergence grows with the order, and from order 2 on the conversion takes off 2 ln 2 at most: no
            // higher order gives less.
            if order.get() >= 2.0 && rdp > smallest.get() + 2.0 * LN_2 {
                break;
            }
        }
        Ok(smallest)
    }

    /// A noise multiplier at which [`epsilon`](Self::epsilon) is at most the target, and one smaller by 1e-6 of it is
    /// not enough.
    ///
    /// # Errors
    /// [`Error::Rejected`] if no noise between 1e-6 and 1e9 is enough, or any noise is.
    pub fn noise_multiplier(self, target: Epsilon, delta: Delta) -> Result<NoiseScale> {
        let rejected = |found: &str| reject("noise multiplier", format!("{found} epsilon {target} at delta {delta}"));
        let enough = |noise: f64| Ok::<_, Error>(self.epsilon(NoiseScale::new(noise)?, delta)?.get() <= target.get());
        let (mut low, mut high) = RANGE;
        if !enough(high)? {
            return rejected("none up to 1e9 gives");
        }
        if enough(low)? {
            return rejected("1e-6 is more than enough for");
        }
        while high > low * (1.0 + CLOSE) {
            let middle = (low * high).sqrt();
            if enough(middle)? {
                high = middle;
            } else {
                low = middle;
            }
        }
        NoiseScale::new(high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakbound::accountant::gaussian_rdp;
    use leakbound::divergence::{RdpCurve, gaussian_sigma};

    fn steps(rate: f64, steps: u64) -> DpSgdSteps {
        DpSgdSteps { rate: Probability::new(rate).unwrap(), steps }
    }

    fn noise(value: f64) -> NoiseScale {
        NoiseScale::new(value).unwrap()
    }

    fn delta() -> Delta {
        Delta::new(1e-5).unwrap()
    }

    #[test]
    fn sampled_steps_are_the_subsampled_gaussian_accountant() {
        for (rate, sigma, times) in [(0.01, 1.1, 1000), (0.05, 5.0, 20), (0.04, 0.2, 4883)] {
            let (rate, sigma) = (Probability::new(rate).unwrap(), noise(sigma));
            // Orders that matter, and above.
            let orders: Vec<_> = order_grid().into_iter().filter(|order| order.get() < 200.0).collect();
            let curve = RdpCurve::from_fn(&orders, |order| subsampled_gaussian_rdp(order, rate, sigma, 1.0));
            let expected = curve.repeated(times as f64).epsilon(delta()).0;
            let found = steps(rate.get(), times).epsilon(sigma, delta()).unwrap();
            println!("{found}");
            // Each is rounded up in its own order of operations.
            assert!((found.get() / expected.get() - 1.0).abs() < 1e-14, "{found} {expected}");
        }
    }

    #[test]
    fn without_sampling_steps_are_a_gaussian_composition() {
        // T steps of noise σ are one of noise σ/√T.
        let epsilon = steps(1.0, 100).epsilon(noise(20.0), delta()).unwrap();
        assert_eq!(epsilon, gdp_epsilon(0.5, delta()).unwrap());
        let rdp = RdpCurve::from_fn(&order_grid(), |order| gaussian_rdp(order, noise(20.0), 1.0)).repeated(100.0);
        let by_rdp = rdp.epsilon(delta()).0;
        assert!(epsilon < by_rdp && by_rdp.get() < 1.2 * epsilon.get(), "{epsilon} {by_rdp}");
        // Hardly any sampling: no jump.
        let nearly = steps(1.0 - 1e-9, 100).epsilon(noise(20.0), delta()).unwrap();
        assert_eq!(nearly, epsilon);
    }

    #[test]
    fn the_noise_for_a_target_never_exceeds_it() {
        let target = Epsilon::new(2.0).unwrap();
        let plain = steps(1.0, 50).noise_multiplier(target, delta()).unwrap().get();
        let closed = 50f64.sqrt() * gaussian_sigma(target, delta()).unwrap().get();
        assert!(plain >= closed * (1.0 - 1e-12) && plain <= closed * (1.0 + 1e-5), "{plain} {closed}");
        let sampled = steps(0.02, 200).noise_multiplier(target, delta()).unwrap();
        let found = steps(0.02, 200).epsilon(sampled, delta()).unwrap();
        println!("sigma {sampled}, epsilon {found}");
        assert!(found <= target && found.get() > 2.0 - 1e-4);
        assert!(steps(0.02, 200).epsilon(noise(sampled.get() * (1.0 - 1e-5)), delta()).unwrap() > target);
    }

    #[test]
    fn impossible_targets_are_rejected() {
        let rejected = |epsilon, delta| {
            steps(1.0, 10).noise_multiplier(epsilon, Delta::new(delta).unwrap()).unwrap_err().to_string()
        };
        let none = "noise multiplier: none up to 1e9 gives epsilon 1 at delta 0";
        assert_eq!(rejected(Epsilon::new(1.0).unwrap(), 0.0), none);
        let any = "noise multiplier: 1e-6 is more than enough for epsilon inf at delta 1e-5";
        assert_eq!(rejected(Epsilon::INFINITE, 1e-5), any);
    }

    #[test]
    fn passes_become_steps() {
        let of = |images, batch, epochs| DpSgdSteps::of_epochs(images, batch, epochs);
        assert_eq!(of(1000, 30, 3).unwrap(), steps(0.03, 100));
        assert_eq!(of(10, 0, 3).unwrap_err().to_string(), "images in a step = 0 is not in [1, inf)");
        assert_eq!(of(10, 11, 3).unwrap_err().to_string(), "DP-SGD: 11 images expected in a step of 10");
    }
}
