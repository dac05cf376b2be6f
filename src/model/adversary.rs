//! What the adversary adds to the training data and asks.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Which point the neighboring dataset has more, and which queries are asked.
///
/// Written as `nat-advq`, `pois-advq` or `pois-natq`.
///
/// # Example
/// ```
/// # use leakbound::model::Adversary;
/// let adversary: Adversary = "pois-advq".parse()?;
/// assert_eq!(adversary, Adversary::PoisAdvq);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Chadha et al. (2024), "Auditing Private Prediction", section 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adversary {
    /// The query itself is in the training data, with its true label.
    NatAdvq,
    /// The query itself is in the training data, with a wrong label.
    PoisAdvq,
    /// One mislabeled point is in the training data; the queries are natural.
    PoisNatq,
}

impl Adversary {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::NatAdvq, Self::PoisAdvq, Self::PoisNatq];

    /// Whether the query is the point that the neighboring dataset has more. Recorded queries are then about different
    /// neighboring datasets, and the adversary repeats one of them: what several leak does not add up.
    #[must_use]
    pub const fn chooses_query(self) -> bool {
        match self {
            Self::NatAdvq | Self::PoisAdvq => true,
            Self::PoisNatq => false,
        }
    }

    /// The number of the neighboring dataset that the recorded query at this position is about.
    #[must_use]
    pub const fn neighbor(self, position: usize) -> u64 {
        if self.chooses_query() { position as u64 } else { 0 }
    }
}

impl fmt::Display for Adversary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NatAdvq => "nat-advq",
            Self::PoisAdvq => "pois-advq",
            Self::PoisNatq => "pois-natq",
        })
    }
}

impl FromStr for Adversary {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|adversary| adversary.to_string() == text).ok_or_else(|| Error::Syntax {
            quantity: "adversary",
            value: text.into(),
            expected: "nat-advq, pois-advq or pois-natq",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for adversary in Adversary::ALL {
            assert_eq!(adversary.to_string().parse::<Adversary>().unwrap(), adversary);
            assert_eq!(serde_json::to_string(&adversary).unwrap(), format!("\"{adversary}\""));
        }
        assert_eq!(
            "nat".parse::<Adversary>().unwrap_err().to_string(),
            "adversary `nat` cannot be read; expected nat-advq, pois-advq or pois-natq"
        );
    }
}
