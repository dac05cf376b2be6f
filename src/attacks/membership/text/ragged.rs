//! Rows of different lengths in one piece of memory.

use crate::error::{Error, Result};

/// Rows of different lengths, one after the other.
///
/// ```
/// # use leakbound::membership::Ragged;
/// let mut rows = Ragged::default();
/// rows.push([-1.0, -2.0]);
/// rows.push([-3.0]);
/// assert_eq!((rows.rows(), rows.row(0), rows.row(1)), (2, &[-1.0, -2.0][..], &[-3.0][..]));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ragged {
    values: Vec<f64>,
    /// Where each row ends.
    ends: Vec<usize>,
}

impl Ragged {
    /// Rows that end at these places of the values.
    ///
    /// # Errors
    /// [`Error::Length`] if the last row does not end with the values, [`Error::Rejected`] for ends that fall.
    pub fn new(values: Vec<f64>, ends: Vec<usize>) -> Result<Self> {
        Error::check_possible(ends.is_sorted(), "rows of values", "a row ends before its start")?;
        let end = ends.last().copied().unwrap_or(0);
        Error::check_size("values of rows", values.len(), end, ", where the last row ends")?;
        Ok(Self { values, ends })
    }

    /// Rows of one length; leftover values that do not fill a row are dropped.
    #[must_use]
    pub fn of_length(mut values: Vec<f64>, length: usize) -> Self {
        let rows = values.len() / length.max(1);
        values.truncate(rows * length.max(1));
        Self { values, ends: (1..=rows).map(|row| row * length.max(1)).collect() }
    }

    /// Adds a row.
    pub fn push(&mut self, row: impl IntoIterator<Item = f64>) {
        self.values.extend(row);
        self.ends.push(self.values.len());
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.ends.len()
    }

    /// Where a row starts among the values; their number for a row that does not exist.
    #[must_use]
    pub fn start(&self, row: usize) -> usize {
        match row.checked_sub(1) {
            None => 0,
            Some(before) => self.ends.get(before).copied().unwrap_or(self.values.len()),
        }
    }

    /// A row; empty if it does not exist.
    #[must_use]
    pub fn row(&self, row: usize) -> &[f64] {
        let end = self.ends.get(row).copied().unwrap_or(self.values.len());
        &self.values[self.start(row)..end]
    }

    /// All rows, one after the other.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_what_was_put_in() {
        let rows = Ragged::new(vec![1.0, 2.0, 3.0], vec![1, 1, 3]).unwrap();
        assert_eq!((rows.rows(), rows.row(0), rows.row(1)), (3, &[1.0][..], &[][..]));
        assert_eq!((rows.row(2), rows.row(3), rows.start(9)), (&[2.0, 3.0][..], &[][..], 3));
        assert!(Ragged::new(vec![1.0], vec![1, 0]).is_err() && Ragged::new(vec![1.0], Vec::new()).is_err());
        let even = Ragged::of_length(vec![1.0, 2.0, 3.0, 4.0, 5.0], 2);
        assert_eq!((even.rows(), even.row(1)), (2, &[3.0, 4.0][..]));
        assert_eq!(Ragged::of_length(Vec::new(), 0).rows(), 0);
    }
}
