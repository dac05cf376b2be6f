//! One number with noise.

use crate::accountant::{Statement, Theorem, gaussian_rdp, laplace_rdp};
use crate::law::Noise;

/// A count with Gaussian or Laplace noise, printed as it is. Neighbors differ by one in the count.
///
/// ```
/// # use leakbound::{AdditiveNoise, Direction, Order};
/// let [theorem] = AdditiveNoise { noise: "gaussian:2".parse()? }.theorems();
/// assert_eq!(theorem.at(Order::new(4.0)?, Direction::Reverse).unwrap().value, 0.5);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdditiveNoise {
    /// The noise, in units of the change of the count.
    pub noise: Noise,
}

pub(super) const GAUSSIAN: Statement = Statement::for_any_data("gaussian", "Mironov (2017), Proposition 7");
pub(super) const LAPLACE: Statement = Statement::for_any_data("laplace", "Mironov (2017), Proposition 6");
static OF_GAUSSIAN: Statement = GAUSSIAN;
static OF_LAPLACE: Statement = LAPLACE;

impl AdditiveNoise {
    /// The theorem of the noise.
    #[must_use]
    pub fn theorems(&self) -> [Theorem; 1] {
        [match self.noise {
            Noise::Gaussian(sigma) => Theorem::new(&OF_GAUSSIAN, move |order, _| gaussian_rdp(order, sigma, 1.0)),
            Noise::Laplace(b) => Theorem::new(&OF_LAPLACE, move |order, _| laplace_rdp(order, b)),
        }]
    }
}
