//! Private-kNN: a noisy vote of the nearest neighbors in a Poisson subsample.

use super::subsampled::subsampled_gaussian_rdp;
use crate::quantity::{NoiseScale, Order, Probability};
use std::f64::consts::SQRT_2;

/// RDP of one answer of Private-kNN with subsampling rate γ and noise σ, for datasets of which one has **one training
/// point more** (add/remove adjacency), in both directions.
///
/// It is the Gaussian mechanism on a Poisson subsample with sensitivity √2: a point that is added displaces the vote of
/// the k-th neighbor, so two counts move although one point did. See [`subsampled_gaussian_rdp`] for the proof. A point
/// that is *replaced* is one removed and another added, a chain of two changes, which costs more: see
/// [`group_rdp`](crate::accountant::group_rdp).
///
/// ```
/// # use leakbound::accountant::private_knn_rdp;
/// # use leakbound::quantity::{NoiseScale, Order, Probability};
/// let rdp = private_knn_rdp(Order::new(2.0)?, Probability::new(0.2)?, NoiseScale::new(30.0)?);
/// assert!((rdp / (1.0 + 0.04 * (2.0 / 900.0f64).exp_m1()).ln() - 1.0).abs() < 1e-11);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Zhu et al. (2020), "Private-kNN: practical differential privacy for computer vision"; Mironov, Talwar and Zhang
/// (2019), Theorems 4 and 5.
#[must_use]
pub fn private_knn_rdp(order: Order, rate: Probability, sigma: NoiseScale) -> f64 {
    subsampled_gaussian_rdp(order, rate, sigma, SQRT_2)
}
