//! μ of Gaussian differential privacy from one output set, and the ε that it would imply.

use super::method::{Bounds, Draws, Guarantee, MethodRow, Needs};
use super::rectangle::Rectangle;
use crate::bound::{LowerBound, Validity};
use crate::divergence::gdp_epsilon;
use crate::error::Result;
use crate::quantity::Delta;

pub(super) const GDP: MethodRow = MethodRow {
    name: "gdp",
    when: "The claim under test is Gaussian: a μ, or the ε of Gaussian noise.",
    guarantee: Guarantee::Nominal(Validity::Heuristic),
    needs: Needs::Nothing,
    draws: Draws::Nothing,
    bounds: Bounds::Epsilon(|task| {
        Ok(task.of_rectangles(|rectangle, _| gdp_bounds(rectangle, task.delta).map(|[_, epsilon]| epsilon)))
    }),
};

/// The implied ε is rounded down by this share of ε + μ, a hundred times the error of the root.
const MARGIN: f64 = 1e-11;

/// The lower bound of μ from a rectangle ([`Rectangle::gdp`]), and the ε at δ that μ-GDP with this μ implies.
///
/// The first is *finite-sample*: no mechanism that is μ-GDP with a smaller μ can have this P(O) and Q(O). The second
/// bounds the consequences of the *claim* of μ-GDP: an author who claims μ-GDP, hence ε(δ; μ), is refuted by a larger
/// one. It is a lower bound of the mechanism's own ε at δ only if the mechanism's trade-off is that of two normal
/// distributions, which no count can show; any other mechanism may have a much smaller ε at this δ (randomized response
/// has 1.1 where the implied one is 6.2 at δ = 1e-5). It is therefore labeled *heuristic*; [`Rectangle::epsilon`] needs
/// no such assumption. Both directions share the bounds, because the trade-off is symmetric, and one rectangle serves
/// all.
///
/// # Errors
/// As [`gdp_epsilon`].
///
/// # Example
/// ```
/// # use leakbound::audit::{Rectangle, gdp_bounds};
/// # use leakbound::interval::BinomialCounts;
/// # use leakbound::prelude::*;
/// let (inside, inside_neighbor) = (BinomialCounts::new(8_413, 10_000)?, BinomialCounts::new(5_000, 10_000)?);
/// let rectangle = Rectangle::two_tails(inside, inside_neighbor, FailureProbability::new(0.05)?)?;
/// let [mu, epsilon] = gdp_bounds(&rectangle, Delta::new(1e-5)?)?;
/// assert!((mu.value - 0.945).abs() < 1e-3 && mu.validity == Validity::FiniteSample);
/// assert!((epsilon.value - 4.1).abs() < 0.1 && epsilon.validity == Validity::Heuristic);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Nasr et al. (2023), "Tight auditing of differentially private machine learning"; Dong, Roth and Su (2022), "Gaussian
/// differential privacy".
pub fn gdp_bounds(rectangle: &Rectangle, delta: Delta) -> Result<[LowerBound; 2]> {
    let mu = rectangle.gdp();
    let epsilon = gdp_epsilon(mu.value, delta)?.get();
    let lowered = if epsilon < f64::INFINITY { epsilon - MARGIN * (epsilon + mu.value) } else { epsilon };
    Ok([mu, mu.with_value(lowered).heuristic()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::BinomialCounts;
    use crate::quantity::FailureProbability;

    #[test]
    fn extremes_are_numbers() {
        let large = 1_000_000_000_000;
        for (k, n) in [(0, 1), (1, 1), (large, large), (1, large), (large / 2, large)] {
            for (l, m) in [(0, 1), (1, 1), (0, large), (large - 1, large)] {
                for f in [1e-300, 0.05, 0.999] {
                    let (p, q) = (BinomialCounts::new(k, n).unwrap(), BinomialCounts::new(l, m).unwrap());
                    let rectangle = Rectangle::four_tails(p, q, FailureProbability::new(f).unwrap()).unwrap();
                    for delta in [0.0, 1e-300, 1e-5, 0.999] {
                        let [mu, epsilon] = gdp_bounds(&rectangle, Delta::new(delta).unwrap()).unwrap();
                        assert!(mu.value >= 0.0 && mu.value.is_finite() && epsilon.value >= 0.0);
                        assert!(mu.value > 0.0 || epsilon.value == 0.0);
                    }
                }
            }
        }
    }
}
