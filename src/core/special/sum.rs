//! Compensated summation.

/// A running sum that carries the rounding error of every addition (Neumaier 1974).
///
/// The error of the result is about one rounding plus n ε² Σ|x|, instead of n ε Σ|x|.
///
/// ```
/// # use leakbound::special::CompensatedSum;
/// let sum: CompensatedSum = [1.0, 1e100, 1.0, -1e100].into_iter().collect();
/// assert_eq!(sum.value(), 2.0);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CompensatedSum {
    sum: f64,
    error: f64,
}

impl CompensatedSum {
    /// Adds a term.
    pub fn add(&mut self, term: f64) {
        let total = self.sum + term;
        self.error += if self.sum.abs() >= term.abs() { (self.sum - total) + term } else { (term - total) + self.sum };
        self.sum = total;
    }

    /// The sum so far.
    #[must_use]
    pub fn value(self) -> f64 {
        // An overflow leaves infinities in both parts, whose sum would be NaN.
        if self.sum.is_finite() { self.sum + self.error } else { self.sum }
    }
}

impl FromIterator<f64> for CompensatedSum {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        let mut sum = Self::default();
        terms.into_iter().for_each(|term| sum.add(term));
        sum
    }
}
