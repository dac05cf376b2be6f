//! The answer of an exact study.

use crate::bound::{Direction, Figures};
use crate::error::Result;
use crate::histogram::Neighbor;
use crate::study::claim::Claim;
use crate::study::number::Number;
use serde::Serialize;

/// One outcome under both histograms.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutcomeRow {
    /// Class, counted from 0, or `abstain`; for other outputs the number of the outcome or of its bin, counted from 0.
    pub label: String,
    /// Its probability under the histogram.
    pub p: Number,
    /// ln p.
    pub log_p: Number,
    /// Its probability under the neighbor.
    pub q: Number,
    /// ln q.
    pub log_q: Number,
}

/// What is shown of a quantity, forward and reverse.
pub(super) struct Ends {
    pub(super) values: [Number; 2],
    pub(super) at_least: [Number; 2],
    pub(super) at_most: [Number; 2],
    pub(super) changes: [Option<Neighbor>; 2],
}

/// Rows of a quantity in both directions: the argument, and the two values.
macro_rules! both_directions {
    ($($(#[$row:meta])* $name:ident {
        $(#[$place:meta])* $at:ident, $(#[$one:meta])* $forward:ident, $(#[$other:meta])* $reverse:ident
    })*) => {$(
        $(#[$row])*
        #[derive(Debug, Clone, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $name {
            $(#[$place])*
            pub $at: f64,
            $(#[$one])*
            pub $forward: Number,
            $(#[$other])*
            pub $reverse: Number,
            /// Lower bounds of both values, as far as known.
            pub at_least: [Number; 2],
            /// Upper bounds of both values; infinite if nothing is known beyond the bins.
            pub at_most: [Number; 2],
            /// In a search: the change that attains the forward value.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub forward_change: Option<Neighbor>,
            /// The same for the reverse value.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub reverse_change: Option<Neighbor>,
        }

        impl $name {
            pub(super) const fn new($at: f64, ends: Ends) -> Self {
                let Ends { values, at_least, at_most, changes } = ends;
                let ([$forward, $reverse], [forward_change, reverse_change]) = (values, changes);
                Self { $at, $forward, $reverse, at_least, at_most, forward_change, reverse_change }
            }
        }
    )*};
}

both_directions! {
    /// The Rényi divergence of one order in both directions.
    DivergenceRow {
        /// α.
        order,
        /// D(P‖Q).
        forward,
        /// D(Q‖P).
        reverse
    }
    /// δ at one ε in both directions.
    HockeyStickRow {
        /// ε.
        epsilon,
        /// Smallest δ with P ≤ e^ε Q + δ.
        delta_forward,
        /// Smallest δ with Q ≤ e^ε P + δ.
        delta_reverse
    }
    /// ε at one δ in both directions.
    ProfileEpsilonRow {
        /// δ.
        delta,
        /// Smallest ε with P ≤ e^ε Q + δ.
        epsilon_forward,
        /// Smallest ε with Q ≤ e^ε P + δ.
        epsilon_reverse
    }
    /// The largest true-positive rate of any test at one false-positive rate, in both directions.
    TestPowerRow {
        /// False-positive rate.
        fpr,
        /// The largest share of the outputs of P that a test accepts if it accepts this share of the outputs of Q.
        tpr_forward,
        /// The largest share of the outputs of Q that a test accepts if it accepts this share of the outputs of P.
        tpr_reverse
    }
}

/// One value of one accountant.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccountantRow {
    /// Its name.
    pub name: &'static str,
    /// α.
    pub order: f64,
    /// The divergence that it bounds.
    pub direction: Direction,
    /// The RDP that it guarantees.
    pub rdp: Number,
}

/// The answer of an [`ExactStudy`](super::ExactStudy).
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExactAnswer {
    /// The mechanism, such as `exponential:sigma=2`.
    pub mechanism: String,
    /// The histogram of the dataset.
    pub histogram: String,
    /// The histogram of the neighbor; in a search the worst one at the first order, forward.
    pub neighbor: Option<String>,
    /// Number of neighbors, in a search.
    pub neighbors_searched: Option<usize>,
    /// The noise of a noisy argmax.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<String>,
    /// The threshold test before the argmax, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<String>,
    /// Whether outputs are numbers cut into bins; if so, the values here are lower ends, at most those of the numbers
    /// themselves.
    pub binned: bool,
    /// The output distributions; in a search those of the worst neighbor at the first order, forward.
    pub outcomes: Vec<OutcomeRow>,
    /// Estimated largest relative error of a probability.
    pub distribution_error: Number,
    /// Rényi divergences.
    pub divergences: Vec<DivergenceRow>,
    /// Privacy profile.
    pub hockey_stick: Vec<HockeyStickRow>,
    /// ε at chosen δ.
    pub epsilon: Vec<ProfileEpsilonRow>,
    /// The trade-off curve at a few false-positive rates.
    pub test_power: Vec<TestPowerRow>,
    /// Upper bounds.
    pub accountants: Vec<AccountantRow>,
    /// Claims tested.
    pub claims: Vec<Claim>,
}

impl ExactAnswer {
    /// No exact value exceeds an accountant of its direction.
    pub(super) fn consistent(&self) -> Result<()> {
        for row in &self.divergences {
            for (direction, exact) in Direction::BOTH.into_iter().zip(row.at_least) {
                let mut figures =
                    Figures::of_order(format!("{direction} Rényi divergence of order {}", row.order), row.order);
                figures.at_least("exact", exact.0);
                let same = self.accountants.iter().filter(|upper| upper.order == row.order);
                same.filter(|upper| upper.direction == direction)
                    .for_each(|upper| figures.at_most(upper.name, upper.rdp.0));
                figures.check()?;
            }
        }
        Ok(())
    }
}
