//! Which values of a column are in which row and list.

/// What cannot be used in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    /// A list that is null or has no entry.
    Empty,
    /// An entry of a list that is null.
    Null,
}

/// The rows of a column, made of levels that come one after the other.
#[derive(Debug)]
pub(super) struct Rows {
    /// The definition levels at which there is an entry of each list.
    lists: Vec<i16>,
    /// The definition level of a value.
    defined: i16,
    /// \[row\]: whether it has a value, of columns without lists.
    pub(super) present: Vec<bool>,
    /// \[row\]: entries of its list.
    pub(super) outer: Vec<usize>,
    /// \[entry\]: entries of the list in it.
    pub(super) inner: Vec<usize>,
}

impl Rows {
    pub(super) fn new(lists: &[i16], defined: i16) -> Self {
        Self { lists: lists.to_vec(), defined, present: Vec::new(), outer: Vec::new(), inner: Vec::new() }
    }

    /// The definition level of a value.
    pub(super) const fn defined(&self) -> i16 {
        self.defined
    }

    /// The number of values so far.
    pub(super) fn values(&self) -> usize {
        match self.lists.len() {
            0 => self.present.iter().filter(|present| **present).count(),
            1 => self.outer.iter().sum(),
            _ => self.inner.iter().sum(),
        }
    }

    /// The number of rows so far.
    pub(super) fn count(&self) -> usize {
        if self.lists.is_empty() { self.present.len() } else { self.outer.len() }
    }

    /// Adds a value with these levels, which starts a row if the level of repetition is 0.
    ///
    /// Levels that do not start with a row are those of a damaged file; they count as the row that is missing.
    pub(super) fn add(&mut self, definition: i16, repetition: i16) -> Result<(), Gap> {
        let Some(&first) = self.lists.first() else {
            self.present.push(definition == self.defined);
            return Ok(());
        };
        if repetition == 0 || self.outer.is_empty() {
            self.outer.push(0);
        }
        if definition < first {
            return Err(Gap::Empty);
        }
        let last = self.outer.len() - 1;
        match self.lists.get(1) {
            None => self.outer[last] += 1,
            Some(&second) => {
                if repetition <= 1 || self.inner.is_empty() {
                    self.outer[last] += 1;
                    self.inner.push(0);
                }
                if definition < second {
                    return Err(Gap::Empty);
                }
                let last = self.inner.len() - 1;
                self.inner[last] += 1;
            }
        }
        if definition < self.defined { Err(Gap::Null) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_make_rows() {
        // optional list of optional lists of optional numbers: [[1, 2], [3]], [[4]]
        let mut rows = Rows::new(&[2, 4], 5);
        for (definition, repetition) in [(5, 0), (5, 2), (5, 1), (5, 0)] {
            rows.add(definition, repetition).unwrap();
        }
        assert_eq!((rows.count(), rows.outer.as_slice(), rows.inner.as_slice()), (2, &[2, 1][..], &[2, 1, 1][..]));
        // null; []; [null]; [[]]; [[1, null]]
        let gap = |levels: &[(i16, i16)]| {
            let mut rows = Rows::new(&[2, 4], 5);
            levels.iter().try_for_each(|&(definition, repetition)| rows.add(definition, repetition)).unwrap_err()
        };
        let gaps = [gap(&[(0, 0)]), gap(&[(1, 0)]), gap(&[(2, 0)]), gap(&[(3, 0)]), gap(&[(5, 0), (4, 2)])];
        assert_eq!(gaps, [Gap::Empty, Gap::Empty, Gap::Empty, Gap::Empty, Gap::Null]);
        // Numbers, one of them null.
        let mut flat = Rows::new(&[], 1);
        [1, 0, 1].into_iter().for_each(|definition| flat.add(definition, 0).unwrap());
        assert_eq!((flat.count(), flat.present), (3, vec![true, false, true]));
    }

    #[test]
    fn levels_of_damaged_files_make_no_panic() {
        let mut rows = Rows::new(&[1], 1);
        rows.add(1, 1).unwrap();
        assert_eq!(rows.outer, [1]);
        let mut rows = Rows::new(&[1, 2], 2);
        rows.add(2, 2).unwrap();
        assert_eq!((rows.outer, rows.inner), (vec![1], vec![1]));
    }
}
