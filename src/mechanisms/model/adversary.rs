//! What the adversary adds to the training data and queries.

use crate::named::named;
use serde::{Deserialize, Serialize};

/// The additional point of the neighboring dataset, and the queries asked.
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

named!(Adversary, "adversary", [NatAdvq "nat-advq", PoisAdvq "pois-advq", PoisNatq "pois-natq"]);

impl Adversary {
    /// Whether the query is the additional point of the neighboring dataset. Recorded queries then concern different
    /// neighboring datasets, and the adversary repeats one of them: the leakage of several does not add up.
    #[must_use]
    pub const fn chooses_query(self) -> bool {
        match self {
            Self::NatAdvq | Self::PoisAdvq => true,
            Self::PoisNatq => false,
        }
    }

    /// The number of the neighboring dataset that the recorded query at this position concerns.
    #[must_use]
    pub const fn neighbor(self, position: usize) -> u64 {
        if self.chooses_query() { position as u64 } else { 0 }
    }
}
