//! Gaussian noise on a Poisson subsample.

use crate::accountant::{Statement, Theorem, private_knn_rdp, subsampled_gaussian_group_rdp, subsampled_gaussian_rdp};
use crate::quantity::{NoiseScale, Probability};
use std::f64::consts::SQRT_2;

/// A count of a Poisson subsample with Gaussian noise. Neighbors differ by one record that is added or removed.
///
/// ```
/// # use leakbound::{Direction, NoiseScale, Order, Probability, SubsampledGaussian};
/// let mechanism = SubsampledGaussian { sigma: NoiseScale::new(2.0)?, rate: Probability::new(0.01)? };
/// for theorem in mechanism.theorems() {
///     // Far below the 0.25 of all records.
///     assert!(theorem.at(Order::new(2.0)?, Direction::Forward).unwrap().value < 1e-4);
/// }
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SubsampledGaussian {
    /// Standard deviation.
    pub sigma: NoiseScale,
    /// The probability with which a record is drawn.
    pub rate: Probability,
}

static SUBSAMPLED_GAUSSIAN: Statement =
    Statement::for_any_data("subsampled-gaussian", "Mironov, Talwar and Zhang (2019), section 3.3").certified(1e-9);
static PRIVATE_KNN: Statement =
    Statement::for_any_data("private-knn", "Zhu et al. (2020); Mironov, Talwar and Zhang (2019)").certified(1e-9);

impl SubsampledGaussian {
    /// The theorem of the subsample, and that of Private-kNN, whose votes move by √2: with √2 times the noise they are one
    /// count.
    #[must_use]
    pub fn theorems(&self) -> Vec<Theorem> {
        let Self { sigma, rate } = *self;
        let mut theorems =
            vec![Theorem::new(&SUBSAMPLED_GAUSSIAN, move |order, _| subsampled_gaussian_rdp(order, rate, sigma, 1.0))];
        if let Ok(wider) = NoiseScale::new(sigma.get() * SQRT_2) {
            theorems.push(Theorem::new(&PRIVATE_KNN, move |order, _| private_knn_rdp(order, rate, wider)));
        }
        theorems
    }

    /// The theorem for the votes of neighbors, to which each of `points` records adds a vote and displaces another.
    pub(super) fn of_votes(self, points: u64) -> Theorem {
        let Self { sigma, rate } = self;
        Theorem::new(&SUBSAMPLED_GAUSSIAN, move |order, _| {
            subsampled_gaussian_group_rdp(order, rate, sigma, SQRT_2, points)
        })
    }
}
