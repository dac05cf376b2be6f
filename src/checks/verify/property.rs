//! The properties that every accountant must have, each with the theorem behind it.

use super::accountant::{Accountant, ClaimScope};
use super::check::{Asks, Check};
use super::known_rdp::CONVERSION;
use super::request::Case;
use super::sensitivity::covers_neighbors;
use super::smooth_cost::SMOOTH_SENSITIVITY;
use super::structure::{
    below_data_independent, composition_adds, convex_in_order, invariant_under_permutation,
    invariant_under_translation, limit_of_consensus, limit_of_much_noise, monotone_in_noise, monotone_in_order,
};
use super::validity::{delta_covers_exact, epsilon_covers_exact, kl_below_order_near_1, rdp_covers_exact};
use crate::mechanism::MechanismKind;
use serde::Serialize;

/// What it means if a property does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PropertyKind {
    /// A claim is below the leakage: it promises privacy that does not exist.
    Validity,
    /// The claims lack a structure that theorems give them: some are looser than they need be, or the program does not
    /// compute the intended quantity.
    Structure,
}

/// A property that the answers of an accountant must have.
#[derive(Debug)]
pub struct Property {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it means if the property does not hold.
    pub kind: PropertyKind,
    /// What is tested, and the theorem.
    pub theorem: &'static str,
    /// Whether the theorem is about claims that depend on the mechanism alone.
    pub data_independent_only: bool,
    pub(super) asks: Asks,
    /// The mechanisms it is about.
    pub(super) about: fn(&MechanismKind) -> bool,
    pub(super) check: fn(&dyn Accountant, &Case) -> Check,
}

/// About claims of RDP for the mechanisms that release something.
const fn of_releases(
    name: &'static str,
    kind: PropertyKind,
    theorem: &'static str,
    check: fn(&dyn Accountant, &Case) -> Check,
) -> Property {
    let about = |kind: &MechanismKind| kind.releases.is_some();
    Property { name, kind, theorem, data_independent_only: false, asks: Asks::Order, about, check }
}

/// All properties, validity first.
pub const PROPERTIES: [Property; 14] = [
    of_releases(
        "rdp-covers-exact",
        PropertyKind::Validity,
        "the Rényi divergence of the exact output distributions is at most the claim, for every neighbor (Mironov 2017, \
         Definition 4; independent outputs add, Proposition 1)",
        rdp_covers_exact,
    ),
    Property {
        asks: Asks::Delta,
        about: a_release_or_conversion,
        ..of_releases(
            "epsilon-covers-exact",
            PropertyKind::Validity,
            "the hockey-stick divergence of the exact distributions of all repetitions together at the claimed epsilon is at \
             most delta (Balle, Barthe and Gaboardi 2018, Theorem 1)",
            epsilon_covers_exact,
        )
    },
    Property {
        asks: Asks::Epsilon,
        about: a_release_or_conversion,
        ..of_releases(
            "delta-covers-exact",
            PropertyKind::Validity,
            "the hockey-stick divergence of the exact distributions of all repetitions together at epsilon is at most the \
             claimed delta (Balle, Barthe and Gaboardi 2018, Theorem 1)",
            delta_covers_exact,
        )
    },
    of_releases(
        "below-data-independent",
        PropertyKind::Structure,
        "a claim never exceeds the data-independent RDP of the mechanism, which holds always (Mironov 2017, \
         Propositions 6 and 7; Papernot et al. 2018, Proposition 8; Mironov, Talwar and Zhang 2019; gnss_rdp)",
        below_data_independent,
    ),
    of_releases(
        "monotone-in-order",
        PropertyKind::Structure,
        "claims do not fall with the order, as divergences do not (van Erven and Harremoës 2014, Theorem 3)",
        monotone_in_order,
    ),
    Property {
        data_independent_only: true,
        ..of_releases(
            "monotone-in-noise",
            PropertyKind::Structure,
            "data-independent claims do not rise with the noise: more Gaussian noise is post-processing, and Laplace \
             noise of a larger scale has the same distribution with a smaller sensitivity",
            monotone_in_noise,
        )
    },
    Property {
        data_independent_only: true,
        ..of_releases(
            "convex-in-order",
            PropertyKind::Structure,
            "(order - 1) times the claim is convex in the order, as a supremum of cumulants is (van Erven and \
             Harremoës 2014, Corollary 2)",
            convex_in_order,
        )
    },
    of_releases(
        "composition-adds",
        PropertyKind::Structure,
        "the claim for n repetitions is at most n times the claim for one (Mironov 2017, Proposition 1)",
        composition_adds,
    ),
    of_releases(
        "invariant-under-permutation",
        PropertyKind::Structure,
        "classes have no order: permuted votes have permuted output distributions and the same neighbors",
        invariant_under_permutation,
    ),
    of_releases(
        "invariant-under-translation",
        PropertyKind::Structure,
        "the noisy argmax sees only differences of votes: the same number added to every class, and to the threshold, \
         leaves the distribution unchanged",
        invariant_under_translation,
    ),
    of_releases(
        "limit-of-much-noise",
        PropertyKind::Structure,
        "with a million times the noise nothing is left to claim: every one of these mechanisms but gnss, whose \
         widths differ, has RDP at most 2 order/scale^2",
        limit_of_much_noise,
    ),
    of_releases(
        "kl-below-order-near-1",
        PropertyKind::Validity,
        "the Kullback-Leibler divergence of the exact distributions, the limit at order 1, is at most the claim at an order \
         as close to 1 as a millionth of the order of the case (van Erven and Harremoës 2014, Theorems 3 and 5)",
        kl_below_order_near_1,
    ),
    of_releases(
        "limit-of-consensus",
        PropertyKind::Structure,
        "with all votes in one class, a million times the noise and the order ahead, the output is certain and a \
         claim that depends on the votes is no larger than for any others",
        limit_of_consensus,
    ),
    Property {
        about: |kind| kind == SMOOTH_SENSITIVITY,
        ..of_releases(
            "smooth-sensitivity-covers-neighbors",
            PropertyKind::Validity,
            "the smooth sensitivity is at least the change of the cost to every neighbor, and at least e^-beta times \
             the change from every neighbor to every neighbor of it (Nissim, Raskhodnikova and Smith 2007, \
             Definition 2.2), by trying all",
            covers_neighbors,
        )
    },
];

fn a_release_or_conversion(kind: &MechanismKind) -> bool {
    kind.releases.is_some() || kind == CONVERSION
}

impl Property {
    /// The property of a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<&'static Self> {
        static ALL: [Property; 14] = PROPERTIES;
        ALL.iter().find(|property| property.name == name)
    }

    /// All properties that apply to the claims of an accountant.
    #[must_use]
    pub fn applicable(scope: ClaimScope) -> Vec<&'static Self> {
        let all = PROPERTIES.iter().filter_map(|property| Self::of_name(property.name));
        all.filter(|property| scope == ClaimScope::DataIndependent || !property.data_independent_only).collect()
    }
}
