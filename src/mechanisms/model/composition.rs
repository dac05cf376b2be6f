//! Whether the leakage of several queries may be added.

use crate::named::named;
use serde::{Deserialize, Serialize};

/// How the answers to several queries depend on each other, which determines how their divergences may be combined.
///
/// Write D_q for the Rényi divergence of order α between the answers to query q under the two datasets.
///
/// *When divergences add.* Σ_q D_q is the divergence of the whole sequence of answers if the joint distribution of the
/// answers is a product under **both** datasets: either the histograms are deterministic and the noise of every query
/// is fresh, or the teachers are retrained for every query. In these cases a sum of lower bounds is a lower bound on
/// the leakage of the sequence; in no other case is it known to be one.
///
/// *When they do not.* Teachers trained once answer all queries. Given their votes H, the answers are independent, but
/// H itself is random and common to all, so by data processing, for one query repeated any number of times,
/// ```text
/// D(all answers) ≤ D(H' || H) = ln E_{H ~ Mult(k,P)} (Σ_y H_y P'_y / (k P_y))^α / (α-1) ≈ (α/2) χ²(P'||P) / k,
/// ```
/// whereas Σ_q D_q grows without limit. For P = (0.52, 0.48), P' = (0.22, 0.78), k = 250, Gaussian noise of σ = 40 and
/// α = 2 the sum exceeds the divergence of the sequence by a factor of 1.4 after 10 queries, 5.5 after 100 and 47
/// after 1000.
///
/// *What the sum still shows.* A sum of certified D_q is a lower bound on the total that an accountant **claims** when
/// it adds its guarantees per query, so it can refute or illustrate that claim; it is not a lower bound on the leakage
/// of the released sequence. Upper bounds (Rényi guarantees that hold for every query given all earlier answers) add in
/// every case.
///
/// Written as `independent`, `shared-teachers` or `per-query`.
///
/// # Example
/// ```
/// # use leakbound::model::Composition;
/// assert!(Composition::Independent.divergences_add());
/// assert!(!"shared-teachers".parse::<Composition>()?.divergences_add());
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Mironov (2017), "Rényi differential privacy", Proposition 1 (addition of guarantees); van Erven and Harremoës
/// (2014), "Rényi divergence and Kullback-Leibler divergence", Theorems 9 (data processing) and 28 (products).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Composition {
    /// The joint distribution of the answers is a product under both datasets: divergences add.
    Independent,
    /// The same trained teachers answer all queries: a sum of divergences is illustrative, not a bound on the leakage.
    SharedTeachers,
    /// Nothing is known or claimed about several queries: each one is reported separately.
    PerQuery,
}

named!(Composition, "composition", [Independent "independent", SharedTeachers "shared-teachers", PerQuery "per-query"]);

impl Composition {
    /// Whether a sum of lower bounds per query is a lower bound on the leakage of all answers together.
    #[must_use]
    pub const fn divergences_add(self) -> bool {
        matches!(self, Self::Independent)
    }
}
