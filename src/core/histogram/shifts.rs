//! Simultaneous changes of every count.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The largest number of counts in one change.
const MOST: usize = 16;

/// A change of every count by -1, 0 or 1, in the order of the counts; written as a list.
///
/// ```
/// # use leakbound::histogram::Shifts;
/// let shifts = Shifts::new(&[1, -1, 0])?;
/// assert_eq!((shifts.by(), shifts.to_string().as_str()), (&[1, -1, 0][..], "+1,-1,0"));
/// assert!(Shifts::new(&[2]).is_err());
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<i8>", into = "Vec<i8>")]
pub struct Shifts {
    by: [i8; MOST],
    counts: u8,
}

impl Shifts {
    /// Checks and stores the change of each count.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are 1 to 16 counts, [`Error::Rejected`] for a change by more than 1.
    pub fn new(by: &[i8]) -> Result<Self> {
        let (found, expected) = (by.len(), format_args!("1 to {MOST} counts"));
        Error::check_length((1..=MOST).contains(&found), "change of every count", found, expected)?;
        if let Some(far) = by.iter().find(|by| !(-1..=1).contains(*by)) {
            let reason = format!("a count changes by {far}, which is not -1, 0 or 1");
            return Err(Error::rejected("neighboring histogram", reason));
        }
        let mut kept = [0; MOST];
        kept[..by.len()].copy_from_slice(by);
        Ok(Self { by: kept, counts: by.len() as u8 })
    }

    /// The change of each count.
    #[must_use]
    pub fn by(&self) -> &[i8] {
        &self.by[..usize::from(self.counts)]
    }

    /// The number of changes of these counts that leave no count below 0 and change at least one; `u64::MAX` for more
    /// than 16 counts.
    pub(super) fn number(counts: &[u64]) -> u64 {
        if counts.len() > MOST {
            return u64::MAX;
        }
        counts.iter().map(|&count| ways(count)).product::<u64>() - 1
    }

    /// All of them.
    pub(super) fn all(counts: &[u64]) -> impl Iterator<Item = Self> + '_ {
        let number = if counts.len() > MOST { 0 } else { Self::number(counts) + 1 };
        let of = move |mut index: u64| {
            let mut shifts = Self { by: [0; MOST], counts: counts.len() as u8 };
            for (by, &count) in shifts.by.iter_mut().zip(counts) {
                // 1 first, so that the first changes do not contain a 0.
                *by = 1 - (index % ways(count)) as i8;
                index /= ways(count);
            }
            shifts
        };
        (0..number).map(of).filter(|shifts| shifts.by().iter().any(|by| *by != 0))
    }
}

/// By 1 or 0, and by -1 if there is something to take away.
const fn ways(count: u64) -> u64 {
    if count == 0 { 2 } else { 3 }
}

impl TryFrom<Vec<i8>> for Shifts {
    type Error = Error;
    fn try_from(by: Vec<i8>) -> Result<Self> {
        Self::new(&by)
    }
}

impl From<Shifts> for Vec<i8> {
    fn from(shifts: Shifts) -> Self {
        shifts.by().to_vec()
    }
}

impl fmt::Display for Shifts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, by) in self.by().iter().enumerate() {
            let between = if place == 0 { "" } else { "," };
            if *by == 0 { write!(formatter, "{between}0")? } else { write!(formatter, "{between}{by:+}")? }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn all_changes_are_there_once_and_none_takes_what_is_not_there() {
        for counts in [vec![3, 1, 2], vec![0, 1, 0, 5], vec![0], vec![7; 6]] {
            let all: Vec<Shifts> = Shifts::all(&counts).collect();
            assert_eq!(all.len() as u64, Shifts::number(&counts));
            assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
            for shifts in all {
                assert!(shifts.by().iter().any(|by| *by != 0), "{shifts}");
                assert!(shifts.by().iter().zip(&counts).all(|(by, &count)| *by >= 0 || count > 0), "{shifts}");
                assert_eq!(Shifts::new(shifts.by()).unwrap(), shifts);
            }
        }
        assert_eq!([Shifts::number(&[3, 1, 2]), Shifts::number(&[0, 1])], [26, 5]);
        assert_eq!((Shifts::number(&[1; 17]), Shifts::all(&[1; 17]).count()), (u64::MAX, 0));
    }

    #[test]
    fn the_written_form_reads_back() {
        let shifts = Shifts::new(&[0, -1, 1]).unwrap();
        let text = serde_json::to_string(&shifts).unwrap();
        assert_eq!((text.as_str(), serde_json::from_str::<Shifts>(&text).unwrap()), ("[0,-1,1]", shifts));
        assert!(serde_json::from_str::<Shifts>("[]").is_err() && serde_json::from_str::<Shifts>("[3]").is_err());
    }
}
