//! The noise added to each count.

use crate::error::{Error, Result};
use crate::quantity::NoiseScale;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Independent noise on each class, in votes.
///
/// Written as `gaussian:sigma=S` or `laplace:scale=B`. Both names may be left out: documents hold `gaussian:40`.
///
/// ```
/// # use leakbound::distribution::Noise;
/// let noise: Noise = "gaussian:sigma=40".parse()?;
/// assert_eq!((noise.scale(), noise), (40.0, "gaussian:40".parse()?));
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Noise {
    /// Normal with mean 0 and this standard deviation σ.
    Gaussian(NoiseScale),
    /// Density exp(-|x|/b)/(2b).
    Laplace(NoiseScale),
}

impl Noise {
    /// σ or b, in votes.
    #[must_use]
    pub const fn scale(self) -> f64 {
        match self {
            Self::Gaussian(scale) | Self::Laplace(scale) => scale.get(),
        }
    }

    /// The same noise in units of several votes; `None` if its scale underflows.
    pub fn divided_by(self, votes: f64) -> Option<Self> {
        let scale = NoiseScale::new(self.scale() / votes).ok()?;
        Some(match self {
            Self::Gaussian(_) => Self::Gaussian(scale),
            Self::Laplace(_) => Self::Laplace(scale),
        })
    }
}

impl FromStr for Noise {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let syntax = || Error::syntax("noise", text, "gaussian:sigma=S or laplace:scale=B");
        let (name, scale) = text.split_once(':').ok_or_else(syntax)?;
        let scale = match scale.split_once('=') {
            None => scale,
            // As the parameters of mechanisms read.
            Some((name, scale)) if ["sigma", "scale"].contains(&name.trim()) => scale,
            Some(_) => return Err(syntax()),
        };
        let scale = NoiseScale::new(scale.trim().parse().map_err(|_| syntax())?)?;
        match name.trim() {
            "gaussian" => Ok(Self::Gaussian(scale)),
            "laplace" => Ok(Self::Laplace(scale)),
            _ => Err(syntax()),
        }
    }
}

impl fmt::Display for Noise {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gaussian(scale) => write!(formatter, "gaussian:{scale}"),
            Self::Laplace(scale) => write!(formatter, "laplace:{scale}"),
        }
    }
}

impl TryFrom<String> for Noise {
    type Error = Error;
    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Noise> for String {
    fn from(noise: Noise) -> Self {
        noise.to_string()
    }
}
