//! The kinds of data that mechanisms take.

use crate::error::{Error, Result};
use crate::histogram::{Changes, Neighbor, VoteChange, VoteHistogram};
use crate::relation::Relation;

/// The kind of data of a mechanism, all of them stored as counts; it determines the neighboring relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataKind {
    /// Votes per class; one vote moves to another class.
    Votes,
    /// The vote of one voter, who may vote for any class.
    OneVoter,
    /// A count: `[0]` without a record, `[1]` with it.
    OneRecord,
    /// Answers to queries that are counts, one after the other; every answer changes by at most 1, in either direction.
    Answers,
}

impl DataKind {
    /// Which data are neighbors.
    #[must_use]
    pub const fn relation(self) -> Relation {
        match self {
            Self::Votes | Self::OneVoter => Relation::ReplaceOne,
            Self::OneRecord => Relation::AddRemove,
            Self::Answers => Relation::Linf(1.0),
        }
    }

    /// The changes that lead from data to a neighbor.
    ///
    /// ```
    /// # use leakbound::histogram::{Changes, VoteChange};
    /// # use leakbound::mechanism::DataKind;
    /// assert_eq!(DataKind::Votes.changes(), [Changes::OneVote(VoteChange::Moved)]);
    /// assert_eq!(DataKind::OneRecord.changes(), [VoteChange::Added, VoteChange::Removed].map(Changes::OneVote));
    /// ```
    #[must_use]
    pub const fn changes(self) -> &'static [Changes] {
        match self {
            // The vote of one voter also moves.
            Self::Votes | Self::OneVoter => &[Changes::OneVote(VoteChange::Moved)],
            Self::OneRecord => &[Changes::OneVote(VoteChange::Added), Changes::OneVote(VoteChange::Removed)],
            Self::Answers => &[Changes::EveryCount],
        }
    }

    /// Whether all of these changes lead to neighbors.
    ///
    /// ```
    /// # use leakbound::histogram::{Changes, VoteChange};
    /// # use leakbound::mechanism::DataKind;
    /// assert!(DataKind::Answers.covers(Changes::OneVote(VoteChange::Moved)));
    /// assert!(!DataKind::Votes.covers(Changes::EveryCount));
    /// ```
    #[must_use]
    pub fn covers(self, changes: Changes) -> bool {
        self == Self::Answers || self.changes().contains(&changes)
    }

    /// Whether two histograms are equal or neighbors. Equal data result from a change without effect.
    ///
    /// ```
    /// # use leakbound::histogram::VoteHistogram;
    /// # use leakbound::mechanism::DataKind;
    /// let [votes, moved, more] = [vec![3, 1], vec![2, 2], vec![4, 2]].map(|votes| VoteHistogram::new(votes).unwrap());
    /// assert!(DataKind::Votes.holds(&votes, &moved) && DataKind::Votes.holds(&votes, &votes));
    /// assert!(!DataKind::Votes.holds(&votes, &more));
    /// assert!(DataKind::Answers.holds(&votes, &more));
    /// ```
    #[must_use]
    pub fn holds(self, data: &VoteHistogram, other: &VoteHistogram) -> bool {
        data == other || data.is_neighbor(other, self.relation())
    }

    /// The changes of these data that lead to a neighbor, at most `most`; with `alike`, changes that only swap classes
    /// of equal counts count once.
    ///
    /// ```
    /// # use leakbound::histogram::VoteHistogram;
    /// # use leakbound::mechanism::DataKind;
    /// let answers = VoteHistogram::new(vec![3, 1])?;
    /// assert_eq!(DataKind::Answers.neighbors(&answers, false, 100)?.len(), 8);
    /// let error = DataKind::Answers.neighbors(&answers, false, 7).unwrap_err().to_string();
    /// assert_eq!(error, "neighbors: a histogram has 8 neighbors; 7 different ones are looked at");
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Rejected`] if there are more.
    pub fn neighbors(self, data: &VoteHistogram, alike: bool, most: usize) -> Result<Vec<Neighbor>> {
        let changes: &[Changes] = match (self, data.counts()) {
            // A count of 2 belongs to no data.
            (Self::OneRecord, [0]) => &[Changes::OneVote(VoteChange::Added)],
            (Self::OneRecord, [1]) => &[Changes::OneVote(VoteChange::Removed)],
            (Self::OneRecord, _) => &[],
            _ => self.changes(),
        };
        let number = |alike| changes.iter().fold(0u64, |sum, &all| sum.saturating_add(data.number_of(all, alike)));
        if number(alike) > most as u64 {
            let found = match number(false) {
                u64::MAX => "too many".to_owned(),
                number => number.to_string(),
            };
            let reason = format!("a histogram has {found} neighbors; {most} different ones are looked at");
            return Err(Error::Rejected { operation: "neighbors", reason });
        }
        Ok(changes.iter().flat_map(|&changes| data.changes(changes, alike)).collect())
    }

    /// Whether neighbors of some data are further apart than those of others, so that a figure for all neighbors of
    /// given data does not apply to other data.
    #[must_use]
    pub const fn depends_on_data(self) -> bool {
        matches!(self, Self::Votes | Self::Answers)
    }

    /// A description of the data, with an example.
    #[must_use]
    pub const fn data_in_words(self) -> (&'static str, &'static [u64]) {
        match self {
            Self::Votes => ("votes per class", &[3, 1]),
            Self::OneVoter => ("vote of one voter", &[1, 0, 0]),
            Self::OneRecord => ("number of records", &[0]),
            Self::Answers => ("answers to the queries", &[3, 1, 4]),
        }
    }

    /// The rule that makes data neighbors.
    #[must_use]
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Votes => "one vote moves to another class",
            Self::OneVoter => "the voter votes for another class",
            Self::OneRecord => "one record is added or removed",
            Self::Answers => "every answer changes by at most 1",
        }
    }
}
