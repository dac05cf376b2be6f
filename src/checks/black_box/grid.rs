//! Outputs on a grid.

use super::output::Output;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// From this many steps on, doubles are not finer than the grid.
const MOST: f64 = 9_007_199_254_740_992.0;

/// A grid to whose multiples all numbers of an output are rounded.
///
/// Rounding is a function of the output alone: what rounded outputs show holds for the outputs, and a claim that holds
/// for the outputs holds for rounded ones (post-processing). The information in the last binary places is lost.
///
/// ```
/// # use leakbound::black_box::{Grid, Output};
/// let grid = Grid::new(0.1)?;
/// assert_eq!(grid.output(Output::Vector(vec![0.2600000000000001, -0.04])), Output::Vector(vec![0.3, 0.0]));
/// assert!(Grid::new(0.0).is_err());
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64")]
pub struct Grid(f64);

impl Grid {
    /// The multiples of this step.
    ///
    /// # Errors
    /// [`Error::Domain`] unless it is positive and finite.
    pub fn new(step: f64) -> Result<Self> {
        Error::check_domain(step > 0.0 && step.is_finite(), "grid of outputs", step, "(0, inf)")?;
        Ok(Self(step))
    }

    /// The step.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The nearest multiple; none for NaN, infinities, and numbers beyond which doubles are not finer than the grid.
    fn nearest(self, number: f64) -> Option<f64> {
        let steps = (number / self.0).round();
        // A tenth is not a double, but ten is: so 3 steps of 0.1 are 0.3.
        let parts = self.0.recip().round();
        let multiple = if parts * self.0 == 1.0 { steps / parts } else { steps * self.0 };
        // Adding 0 makes -0 the same number as 0.
        (steps.abs() < MOST).then_some(multiple + 0.0)
    }

    /// The output with every number in it rounded.
    #[must_use]
    pub fn output(self, output: Output) -> Output {
        let number = |number: f64| self.nearest(number).unwrap_or(number);
        match output {
            Output::Number(value) => Output::Number(number(value)),
            Output::Decimal(decimal) => {
                self.nearest(decimal.nearest()).map_or(Output::Decimal(decimal), Output::Number)
            }
            Output::Vector(numbers) => Output::Vector(numbers.into_iter().map(number).collect()),
            Output::List(parts) => Output::of_parts(parts.into_iter().map(|part| self.output(part)).collect()),
            Output::Object(parts) => {
                Output::Object(parts.into_iter().map(|(name, part)| (name, self.output(part))).collect())
            }
            other @ (Output::Null | Output::Bool(_) | Output::Text(_) | Output::Bytes(_)) => other,
        }
    }
}

impl TryFrom<f64> for Grid {
    type Error = Error;

    fn try_from(step: f64) -> Result<Self> {
        Self::new(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_number_of_an_output_is_rounded() {
        let output = |text: &str| serde_json::from_str::<Output>(text).unwrap();
        let rounded = |step: f64, text: &str| Grid::new(step).unwrap().output(output(text)).to_string();
        for (step, text, expected) in [
            (0.1, "0.30000000000000004", "0.3"),
            (0.1, "-0.04", "0"),
            (0.25, "[0.3, -0.4, \"nan\", \"-inf\"]", "[0.25,-0.5,\"nan\",\"-inf\"]"),
            (5.0, "{\"a\": [7.6, \"x\", {\"b\": 2.4}], \"c\": true}", "{\"a\":[10,\"x\",{\"b\":0}],\"c\":true}"),
            (0.7, "2", "2.0999999999999996"),
            (1e-3, "1e300", "1e+300"),
            (10.0, "[0.12345678901234567891, 14.00000000000000000001]", "[0,10]"),
            (10.0, "18446744073709551617", "18446744073709551617"),
            (1e300, "1e308", "1e+308"),
            (5e-324, "5e-324", "5e-324"),
        ] {
            assert_eq!(rounded(step, text), expected, "{text}");
        }
        for step in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Grid::new(step).is_err());
        }
    }

    proptest! {
        /// It depends on the multiple alone, and rounding twice is rounding once.
        #[test]
        fn what_is_on_the_grid_stays(steps in -1_000_000i32..1_000_000, beside in -0.49f64..0.49, step in 1e-12f64..1e12) {
            let grid = Grid::new(step).unwrap();
            let round = |number: f64| grid.nearest(number).unwrap();
            let multiple = round(f64::from(steps) * step);
            prop_assert_eq!(round((f64::from(steps) + beside) * step).to_bits(), multiple.to_bits());
            prop_assert_eq!(round(multiple).to_bits(), multiple.to_bits());
        }
    }
}
