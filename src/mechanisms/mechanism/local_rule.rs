//! Rules of the protocols of local differential privacy.

use crate::error::{Error, Result};
use crate::quantity::Epsilon;

/// Exact distributions and samplers have an outcome for every vector of bits, up to 4,096.
pub(super) const MOST_CLASSES: usize = 12;

/// How the vote is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalRule {
    /// The one-hot vector of the vote, every bit kept with probability e^{ε/2}/(e^{ε/2} + 1).
    SymmetricUnary,
    /// The same, the bit of the vote 1 with probability 1/2, every other one with probability 1/(e^ε + 1).
    OptimizedUnary,
    /// A random function to this many hashes, and the hash of the vote by randomized response.
    LocalHashing {
        /// The number of hashes.
        hashes: u64,
    },
    /// A set of this many classes, e^ε times as likely if it contains the vote.
    SubsetSelection {
        /// The number of classes.
        size: u64,
    },
}

impl LocalRule {
    /// Local hashing with e^ε + 1 hashes, rounded, which gives the best frequency estimates.
    ///
    /// ```
    /// # use leakbound::mechanism::LocalRule;
    /// # use leakbound::quantity::Epsilon;
    /// assert_eq!(LocalRule::optimized_hashing(Epsilon::new(1.0)?)?, LocalRule::LocalHashing { hashes: 4 });
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Domain`] for ε from 36 on, where the number of hashes nears the limit of exact doubles.
    ///
    /// # References
    /// Wang, Blocki, Li and Jha (2017), "Locally differentially private protocols for frequency estimation".
    pub fn optimized_hashing(epsilon: Epsilon) -> Result<Self> {
        Error::check_domain(epsilon.get() < 36.0, "epsilon of local hashing", epsilon.get(), "[0, 36)")?;
        Ok(Self::LocalHashing { hashes: libm::exp(epsilon.get()).round() as u64 + 1 })
    }

    /// Subset selection with k/(e^ε + 1) of k classes, rounded and at least 1: the best frequency estimates.
    ///
    /// ```
    /// # use leakbound::mechanism::LocalRule;
    /// # use leakbound::quantity::Epsilon;
    /// assert_eq!(LocalRule::optimized_subsets(Epsilon::new(1.0)?, 10), LocalRule::SubsetSelection { size: 3 });
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    ///
    /// # References
    /// Ye and Barg (2018), "Optimal schemes for discrete distribution estimation under locally differential privacy".
    #[must_use]
    pub fn optimized_subsets(epsilon: Epsilon, classes: usize) -> Self {
        let size = (classes as f64 / (libm::exp(epsilon.get()) + 1.0)).round();
        Self::SubsetSelection { size: size.max(1.0) as u64 }
    }
}
