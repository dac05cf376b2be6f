//! Counting and judging the comparisons of one table.

use super::decimal::Decimal;
use std::collections::BTreeMap;

/// The worst comparison of one quantity.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Worst {
    /// Number of comparisons.
    pub compared: usize,
    /// The largest error, in the measure that the tolerance is in.
    pub error: f64,
    /// The largest ratio of an error to its tolerance.
    pub share: f64,
}

/// The comparisons of one table.
#[derive(Debug, Clone, Default)]
pub struct TableCheck {
    /// Name of the file.
    pub table: &'static str,
    /// Entries in the table.
    pub entries: usize,
    /// Entries of which at least one number was compared.
    pub compared_entries: usize,
    /// The worst of each quantity.
    pub worst: BTreeMap<&'static str, Worst>,
    /// Why numbers were not compared, and how many.
    pub set_aside: BTreeMap<&'static str, usize>,
    /// What missed its tolerance or its direction.
    pub failures: Vec<String>,
    entry: String,
    entry_compared: bool,
    entry_touched: bool,
    touched_entries: usize,
}

/// Which side of the expected value a number must be on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Never above.
    Below,
    /// Never below.
    Above,
}

impl TableCheck {
    /// An empty check of a table.
    #[must_use]
    pub fn new(table: &'static str) -> Self {
        Self { table, ..Self::default() }
    }

    /// Begins the next entry, named in failures.
    pub fn begin(&mut self, entry: impl Into<String>) {
        self.entries += 1;
        self.entry = entry.into();
        self.entry_compared = false;
        self.entry_touched = false;
    }

    /// Compares relatively.
    pub fn relative(&mut self, quantity: &'static str, value: f64, expected: Decimal, tolerance: f64) {
        if expected.underflows {
            // Nothing of the number is left in a double; zero and the smallest doubles are as good as it gets.
            self.record(quantity, value, expected, value.abs(), f64::MIN_POSITIVE);
            return self.set_aside("below the range of a double: only checked to vanish");
        }
        self.record(quantity, value, expected, expected.relative_error_of(value).abs(), tolerance);
    }

    /// Compares absolutely.
    pub fn absolute(&mut self, quantity: &'static str, value: f64, expected: Decimal, tolerance: f64) {
        let equal = value == expected.value && !value.is_finite();
        self.record(quantity, value, expected, if equal { 0.0 } else { expected.error_of(value).abs() }, tolerance);
    }

    /// Compares in multiples of 1 + |expected|, the measure for logarithms.
    pub fn logarithm(&mut self, quantity: &'static str, value: f64, expected: Decimal, tolerance: f64) {
        if value == expected.value && !value.is_finite() {
            return self.record(quantity, value, expected, 0.0, tolerance);
        }
        let error = expected.error_of(value).abs() / (1.0 + expected.value.abs());
        self.record(quantity, value, expected, error, tolerance);
    }

    /// Demands a side, exactly: a published bound has a direction.
    pub fn side(&mut self, quantity: &'static str, value: f64, expected: Decimal, side: Side) {
        let error = expected.error_of(value);
        let holds = match side {
            Side::Below => error <= 0.0,
            Side::Above => error >= 0.0,
        };
        if !holds {
            self.fail(format!("{quantity} = {value:e} is on the wrong side of {:e} by {error:e}", expected.value));
        }
    }

    /// Demands that something holds.
    pub fn holds(&mut self, condition: bool, claim: &str) {
        self.entry_done();
        if !condition {
            self.fail(claim.to_owned());
        }
    }

    /// Counts a number that is not compared, with the reason.
    pub fn set_aside(&mut self, reason: &'static str) {
        self.touch();
        *self.set_aside.entry(reason).or_default() += 1;
    }

    /// Records a failure of the current entry.
    pub fn fail(&mut self, what: String) {
        self.failures.push(format!("{}: {what}", self.entry));
    }

    fn touch(&mut self) {
        self.touched_entries += usize::from(!self.entry_touched);
        self.entry_touched = true;
    }

    fn entry_done(&mut self) {
        self.touch();
        if !self.entry_compared {
            self.entry_compared = true;
            self.compared_entries += 1;
        }
    }

    fn record(&mut self, quantity: &'static str, value: f64, expected: Decimal, error: f64, tolerance: f64) {
        self.entry_done();
        let worst = self.worst.entry(quantity).or_default();
        worst.compared += 1;
        worst.error = worst.error.max(error);
        worst.share = worst.share.max(error / tolerance);
        if !(error <= tolerance) {
            self.fail(format!(
                "{quantity} = {value:e}, expected {:e}: error {error:.2e}, tolerance {tolerance:.2e}",
                expected.value
            ));
        }
    }

    /// Whether everything compared is within its tolerance and no entry was passed over in silence.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.failures.is_empty() && self.entries > 0 && self.touched_entries == self.entries
    }

    /// One line of figures: worst errors, and in brackets the largest share of a tolerance that was used.
    #[must_use]
    pub fn line(&self) -> String {
        let quantities: Vec<String> = self
            .worst
            .iter()
            .map(|(quantity, worst)| {
                format!("{quantity} {:.1e} [{:.2}] of {}", worst.error, worst.share, worst.compared)
            })
            .collect();
        format!("{:<24} {:>4} entries  {}", self.table, self.entries, quantities.join(", "))
    }
}
