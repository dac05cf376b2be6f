//! An accountant under test.

use super::request::Request;
use crate::bound::{Claimed, Directions};
use crate::mechanism::{MechanismKind, RELEASES};
use crate::named::named;
use crate::program::{Fault, FaultKind, Stop};
use serde::Serialize;

/// An accountant under test.
///
/// ```
/// use leakbound::mechanism::{GNMAX, Role};
/// use leakbound::program::never_stop;
/// use leakbound::verify::{Accountant, AccountantAnswer, Plan, Question, Request, PropertyVerdict, verify};
///
/// struct Half;
///
/// impl Accountant for Half {
///     fn name(&self) -> String {
///         "half".into()
///     }
///     fn answer(&self, request: &Request) -> AccountantAnswer {
///         let Question::Order(order) = request.question else {
///             return AccountantAnswer::Declined("only Rényi divergences".into());
///         };
///         if request.mechanism.kind() != GNMAX {
///             return AccountantAnswer::Declined("only GNMax".into());
///         }
///         let sigma = request.mechanism.numbers(Role::Noise)[0].1;
///         AccountantAnswer::Value(f64::from(request.repetitions) * order.get() / (2.0 * sigma * sigma))
///     }
/// }
///
/// let outcome = verify(&Half, &Plan { cases: 500, ..Plan::default() }, &never_stop);
/// assert!(outcome.refuted());
/// assert!(matches!(outcome.of("rdp-covers-exact").unwrap().verdict, PropertyVerdict::Refuted(_)));
/// ```
pub trait Accountant: Sync {
    /// Its name.
    fn name(&self) -> String;

    /// Its answer.
    fn answer(&self, request: &Request) -> AccountantAnswer;

    /// Its answer; once it is time to stop, nobody waits for it, and a refusal then does not count. An accountant that
    /// computes its answers in this process gives them a moment later.
    fn answer_before(&self, request: &Request, _stop: &Stop<'_>) -> AccountantAnswer {
        self.answer(request)
    }

    /// The mechanisms it is queried on.
    fn mechanisms(&self) -> Vec<&'static MechanismKind> {
        RELEASES.to_vec()
    }

    /// What its claims depend on, which decides which theorems apply to them.
    fn scope(&self) -> ClaimScope {
        ClaimScope::DataDependent
    }

    /// The relative precision of its claims, in [0, 1): a search leaves a gap above the supremum, and the claims may
    /// lack structure by this much. Validity is tested without it.
    fn precision(&self) -> f64 {
        1e-9
    }

    /// Whether it must be asked one question at a time.
    fn sequential(&self) -> bool {
        false
    }
}

/// What the claims of an accountant depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ClaimScope {
    /// On the mechanism alone: they hold for every pair of neighbors, in both directions.
    DataIndependent,
    /// Also on the votes: they hold for the distribution under these votes and that under every neighbor, in both
    /// directions.
    DataDependent,
    /// Also on the votes, and they bound the distribution under these votes against that under every neighbor, never
    /// the reverse: they do not bound the mechanism, and their ε is not an ε of differential privacy.
    DataDependentForward,
}

named!(ClaimScope, "scope of claims", [
    DataIndependent "data-independent", DataDependent "data-dependent", DataDependentForward "data-dependent-forward",
]);

impl ClaimScope {
    /// The directions that the claims cover.
    #[must_use]
    pub const fn directions(self) -> Directions {
        match self {
            Self::DataIndependent | Self::DataDependent => Directions::Both,
            Self::DataDependentForward => Directions::Forward,
        }
    }
}

/// What an accountant answers.
#[derive(Debug, Clone, PartialEq)]
pub enum AccountantAnswer {
    /// A claim: infinite if it guarantees nothing, never NaN.
    Value(f64),
    /// It does not answer such requests, with its reason.
    Declined(String),
    /// It failed to answer.
    Fault(Fault),
}

impl AccountantAnswer {
    /// The claim, if it is a number.
    ///
    /// # Errors
    /// NaN as a [`Fault`], and the other answers as themselves.
    pub(super) fn claim(self) -> Result<Claimed, Self> {
        match self {
            Self::Value(value) => Claimed::new(value)
                .map_err(|_| Self::Fault(Fault { kind: FaultKind::NotANumber, message: "the claim is NaN".into() })),
            other => Err(other),
        }
    }
}
