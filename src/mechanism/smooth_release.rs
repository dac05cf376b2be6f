//! A number with Gaussian noise in proportion to its smooth sensitivity.

use crate::accountant::{Statement, Theorem, gnss_rdp};
use crate::quantity::NoiseScale;

/// f(D) + SS(D) N(0, σ²) with the β-smooth sensitivity SS (GNSS). Neighbors differ by one record.
///
/// ```
/// # use leakbound::{Direction, NoiseScale, Order, SmoothRelease};
/// let [theorem] = SmoothRelease { sigma: NoiseScale::new(5.0)?, beta: 0.02 }.theorems();
/// assert!(theorem.at(Order::new(8.0)?, Direction::Forward).unwrap().value > 8.0 / 50.0);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Nissim, Raskhodnikova and Smith (2007); Papernot et al. (2018), Theorem 23, corrected: see
/// [`gnss_rdp`](crate::gnss_rdp).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SmoothRelease {
    /// Standard deviation over the smooth sensitivity.
    pub sigma: NoiseScale,
    /// β.
    pub beta: f64,
}

static GNSS: Statement =
    Statement::for_any_data("gnss", "leakbound, corrected from Papernot et al. (2018), Theorem 23");

impl SmoothRelease {
    /// The theorem of the release.
    #[must_use]
    pub fn theorems(&self) -> [Theorem; 1] {
        let Self { sigma, beta } = *self;
        [Theorem::new(&GNSS, move |order, _| gnss_rdp(order, beta, sigma))]
    }
}
