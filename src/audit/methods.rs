//! The descriptions of the methods, and parsing of their names.

use super::Method;
use super::method::{Bounds, Draws};
use crate::bound::Validity;
use crate::error::{Error, Result};
use serde::Serialize;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

/// The quantity that a method bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Bounded {
    /// D_α.
    Renyi,
    /// ε at δ.
    Epsilon,
}

impl Method {
    /// The name on the command line, in tables and in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The quantity that the method bounds.
    #[must_use]
    pub const fn bounds(self) -> Bounded {
        match self.row().bounds {
            Bounds::Renyi(_) => Bounded::Renyi,
            Bounds::Epsilon(_) => Bounded::Epsilon,
        }
    }

    /// The guarantee of its bounds.
    #[must_use]
    pub const fn validity(self) -> Validity {
        self.row().guarantee.validity()
    }

    /// Whether it is a bootstrap, which draws resamples of the outputs.
    #[must_use]
    pub fn is_bootstrap(self) -> bool {
        self.row().draws == Draws::Resamples
    }

    /// Whether its bounds depend on random numbers in addition to the outputs.
    #[must_use]
    pub fn is_randomized(self) -> bool {
        self.row().draws != Draws::Nothing
    }
}

impl fmt::Display for Method {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        static NAMES: LazyLock<String> = LazyLock::new(|| {
            let [others @ .., last] = Method::ALL.map(Method::name);
            format!("{} or {last}", others.join(", "))
        });
        let found = Self::ALL.into_iter().find(|one| one.name() == text.trim());
        found.ok_or_else(|| Error::syntax("method", text, &NAMES))
    }
}

/// The description of a method.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DescribedMethod {
    /// Its name.
    pub name: &'static str,
    /// One sentence about it, as Markdown with links to items of this library.
    pub about: &'static str,
    /// The quantity that it bounds.
    pub bounds: Bounded,
    /// The guarantee of its bounds.
    pub validity: Validity,
    /// When to use it.
    pub when: &'static str,
}

/// All methods with their descriptions for the documentation.
///
/// ```
/// # use leakbound::audit::{Method, methods};
/// let all = methods();
/// assert_eq!(all.len(), Method::ALL.len());
/// assert_eq!(all[5].when, "There is no pilot and no reference distribution.");
/// ```
#[must_use]
pub fn methods() -> Vec<DescribedMethod> {
    let described = |method: Method| DescribedMethod {
        name: method.name(),
        about: method.about(),
        bounds: method.bounds(),
        validity: method.validity(),
        when: method.row().when,
    };
    Method::ALL.map(described).to_vec()
}
