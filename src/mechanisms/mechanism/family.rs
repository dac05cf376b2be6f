//! Mechanisms that differ in one scale of noise.

use super::{Mechanism, Role, parse, rejected, required};
use crate::error::{Result, echo};
use std::fmt;
use std::sync::Arc;

/// Mechanisms that differ in one scale of noise, which their text form leaves open with a `?`.
///
/// ```
/// # use leakbound::mechanism::NoiseFamily;
/// let family = NoiseFamily::parse("subsampled-gaussian:sigma=?,rate=0.01")?;
/// assert_eq!((family.parameter(), family.at(2.0)?.to_string()), ("sigma", "subsampled-gaussian:sigma=2,rate=0.01".into()));
/// let error = NoiseFamily::parse("subsampled-gaussian:sigma=2,rate=?").unwrap_err().to_string();
/// assert!(error.contains("rate is not a scale of noise; those are: sigma"), "{error}");
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoiseFamily {
    /// The text around the scale.
    before: String,
    after: String,
    /// The name of the parameter.
    parameter: String,
}

impl NoiseFamily {
    /// Reads the text form of a mechanism in which one value is `?`.
    ///
    /// # Errors
    /// [`Error::Rejected`](crate::Error::Rejected) unless there is one `?` instead of a scale of noise, and the errors
    /// of [`parse`].
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        let Some((before, after)) = text.split_once('?') else {
            let reason = format!("`{}` leaves no scale of noise open; write a ? for it, as in sigma=?", echo(text));
            return Err(rejected(reason));
        };
        required(!after.contains('?'), format_args!("`{}` has more than one ?; one scale is sought", echo(text)))?;
        let name = before.strip_suffix('=').unwrap_or_default();
        let name = name.rsplit([',', ':', '[', ' ']).next().unwrap_or_default();
        let family = Self { before: before.into(), after: after.into(), parameter: name.into() };
        let one = family.at(1.0)?;
        let scales: Vec<&str> = one.numbers(Role::Noise).into_iter().map(|(name, _)| name).collect();
        let known = one.kind().parameters.iter().any(|parameter| parameter.name == name);
        if known && !scales.contains(&name) {
            let scales = if scales.is_empty() { "none".into() } else { scales.join(", ") };
            return Err(rejected(format!("`{}`: {name} is not a scale of noise; those are: {scales}", echo(text))));
        }
        Ok(family)
    }

    /// The name of the parameter.
    #[must_use]
    pub fn parameter(&self) -> &str {
        &self.parameter
    }

    /// The mechanism with this scale.
    ///
    /// # Errors
    /// Those of [`parse`].
    pub fn at(&self, scale: f64) -> Result<Arc<dyn Mechanism>> {
        parse(&format!("{}{scale}{}", self.before, self.after))
    }
}

impl fmt::Display for NoiseFamily {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}?{}", self.before, self.after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_one_open_scale() {
        for (text, words) in [
            ("gaussian:sigma=2", "leaves no scale of noise open"),
            ("confident-gnmax:sigma=?,threshold=3,threshold_sigma=?,threshold_form=max", "more than one ?"),
            ("gauss:sigma=?", "unknown mechanism `gauss`"),
            ("gaussian:?", "is not of the form name=value"),
            ("gaussian:sigma=1,sigma=?", "sigma comes twice"),
        ] {
            let error = NoiseFamily::parse(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
        let family =
            NoiseFamily::parse(" confident-gnmax:sigma=4,threshold=3,threshold_sigma=?,threshold_form=max").unwrap();
        assert_eq!(family.parameter(), "threshold_sigma");
        let smallest = family.at(1.234_567_890_123e-7).unwrap();
        assert_eq!(smallest.parameters().number("threshold_sigma").unwrap(), 1.234_567_890_123e-7);
        assert_eq!(family.to_string(), "confident-gnmax:sigma=4,threshold=3,threshold_sigma=?,threshold_form=max");
    }
}
