//! What an accountant is asked: a mechanism, its votes, and one question. The JSON form is a contract.

use crate::accountant::{Theorem, WorstCases};
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::law::{Noise, ThresholdForm, ThresholdTest};
use crate::mechanism::{AdditiveNoise, NoisyArgmax, RandomizedResponse, SmoothRelease, SubsampledGaussian};
use crate::quantity::{Delta, Epsilon, NoiseScale, Order, Probability};
use serde::{Deserialize, Serialize};

/// A mechanism whose leakage is claimed; scales are in votes.
///
/// Neighbors of the votes differ in one moved vote, for [`Mechanism::Gaussian`], [`Mechanism::Laplace`] and
/// [`Mechanism::SubsampledGaussian`] in one added or removed vote of a single count. [`Mechanism::RandomizedResponse`] has
/// the one vote of the voter who answers.
///
/// [`Mechanism::Gnss`] is one pair of datasets. The last two release nothing. [`Mechanism::Conversion`] asks what follows from a Rényi divergence, its histogram is
/// `[0]`; [`Mechanism::SmoothSensitivity`] asks for a sensitivity in place of a divergence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "mechanism", rename_all = "kebab-case")]
pub enum Mechanism {
    /// The class of the most votes, each count with Gaussian noise.
    Gnmax {
        /// Standard deviation.
        sigma: NoiseScale,
    },
    /// The class of the most votes, each count with Laplace noise.
    Lnmax {
        /// b of the density exp(-|x|/b)/(2b).
        sigma: NoiseScale,
    },
    /// One count with Gaussian noise.
    Gaussian {
        /// Standard deviation.
        sigma: NoiseScale,
    },
    /// One count with Laplace noise.
    Laplace {
        /// b of the density exp(-|x|/b)/(2b).
        sigma: NoiseScale,
    },
    /// One count of a Poisson subsample, with Gaussian noise.
    SubsampledGaussian {
        /// Standard deviation.
        sigma: NoiseScale,
        /// The probability with which a voter is asked.
        rate: Probability,
    },
    /// A noisy threshold test of the largest count; the class of the most votes, with fresh Gaussian noise, where it is
    /// passed, and nothing otherwise.
    ConfidentGnmax {
        /// Standard deviation of the noise of the argmax.
        sigma: NoiseScale,
        /// Votes needed.
        threshold: f64,
        /// Standard deviation of the noise of the test.
        threshold_sigma: NoiseScale,
        /// Where that noise is added.
        threshold_form: ThresholdForm,
    },
    /// The class of the only voter, e^{1/sigma} times as likely as each other class: randomized response of ε = 1/sigma
    /// among as many answers as the histogram has classes.
    RandomizedResponse {
        /// 1/ε, as Laplace noise of this scale gives ε.
        sigma: NoiseScale,
    },
    /// A number f(D) with Gaussian noise in proportion to its β-smooth sensitivity SS(D), for one pair of datasets: D, with
    /// `histogram` `[0]`, and its neighbor D', with `[1]`. A claim is about all pairs.
    Gnss {
        /// Standard deviation of the noise over the smooth sensitivity.
        sigma: NoiseScale,
        /// β.
        beta: f64,
        /// |f(D) - f(D')|, at most the smaller width.
        step: f64,
        /// SS(D).
        width: NoiseScale,
        /// SS(D'), within a factor of e^β.
        neighbor_width: NoiseScale,
    },
    /// Any mechanism of which this alone is known: D at one order is at most `rdp`, for neighbors in both directions.
    Conversion {
        /// The Rényi divergence.
        rdp: f64,
        /// Its order.
        rdp_order: Order,
    },
    /// What is asked at an order is the β-smooth sensitivity of the data-dependent cost of GNMax at that order.
    SmoothSensitivity {
        /// Standard deviation of GNMax.
        sigma: NoiseScale,
        /// β.
        beta: f64,
    },
}

/// The kinds of [`Mechanism`], without their parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MechanismKind {
    /// [`Mechanism::Gnmax`].
    Gnmax,
    /// [`Mechanism::Lnmax`].
    Lnmax,
    /// [`Mechanism::Gaussian`].
    Gaussian,
    /// [`Mechanism::Laplace`].
    Laplace,
    /// [`Mechanism::SubsampledGaussian`].
    SubsampledGaussian,
    /// [`Mechanism::ConfidentGnmax`].
    ConfidentGnmax,
    /// [`Mechanism::RandomizedResponse`].
    RandomizedResponse,
    /// [`Mechanism::Gnss`].
    Gnss,
    /// [`Mechanism::Conversion`].
    Conversion,
    /// [`Mechanism::SmoothSensitivity`].
    SmoothSensitivity,
}

impl MechanismKind {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::Gnmax,
        Self::Lnmax,
        Self::Gaussian,
        Self::Laplace,
        Self::SubsampledGaussian,
        Self::ConfidentGnmax,
        Self::RandomizedResponse,
        Self::Gnss,
        Self::Conversion,
        Self::SmoothSensitivity,
    ];

    /// Those that release something: what an accountant is asked about if nothing else is said.
    pub const RELEASES: [Self; 8] = [
        Self::Gnmax,
        Self::Lnmax,
        Self::Gaussian,
        Self::Laplace,
        Self::SubsampledGaussian,
        Self::ConfidentGnmax,
        Self::RandomizedResponse,
        Self::Gnss,
    ];

    /// The name in JSON and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gnmax => "gnmax",
            Self::Lnmax => "lnmax",
            Self::Gaussian => "gaussian",
            Self::Laplace => "laplace",
            Self::SubsampledGaussian => "subsampled-gaussian",
            Self::ConfidentGnmax => "confident-gnmax",
            Self::RandomizedResponse => "randomized-response",
            Self::Gnss => "gnss",
            Self::Conversion => "conversion",
            Self::SmoothSensitivity => "smooth-sensitivity",
        }
    }

    /// Whether there is no histogram of votes: a single count is printed with noise, or nothing but an RDP value is known.
    #[must_use]
    pub const fn prints_a_count(self) -> bool {
        matches!(self, Self::Gaussian | Self::Laplace | Self::SubsampledGaussian | Self::Gnss | Self::Conversion)
    }
}

impl Mechanism {
    /// Which mechanism it is.
    #[must_use]
    pub const fn kind(&self) -> MechanismKind {
        match self {
            Self::Gnmax { .. } => MechanismKind::Gnmax,
            Self::Lnmax { .. } => MechanismKind::Lnmax,
            Self::Gaussian { .. } => MechanismKind::Gaussian,
            Self::Laplace { .. } => MechanismKind::Laplace,
            Self::SubsampledGaussian { .. } => MechanismKind::SubsampledGaussian,
            Self::ConfidentGnmax { .. } => MechanismKind::ConfidentGnmax,
            Self::RandomizedResponse { .. } => MechanismKind::RandomizedResponse,
            Self::Gnss { .. } => MechanismKind::Gnss,
            Self::Conversion { .. } => MechanismKind::Conversion,
            Self::SmoothSensitivity { .. } => MechanismKind::SmoothSensitivity,
        }
    }

    /// The scale of the noise of what is printed; None for [`Mechanism::Conversion`].
    #[must_use]
    pub const fn sigma(&self) -> Option<NoiseScale> {
        match *self {
            Self::Gnmax { sigma }
            | Self::Lnmax { sigma }
            | Self::Gaussian { sigma }
            | Self::Laplace { sigma }
            | Self::SubsampledGaussian { sigma, .. }
            | Self::RandomizedResponse { sigma }
            | Self::SmoothSensitivity { sigma, .. }
            | Self::Gnss { sigma, .. }
            | Self::ConfidentGnmax { sigma, .. } => Some(sigma),
            Self::Conversion { .. } => None,
        }
    }

    /// The theorems that bound an output for these votes.
    #[must_use]
    pub fn theorems(&self, votes: &VoteHistogram, known: &WorstCases) -> Vec<Theorem> {
        let argmax = |noise| NoisyArgmax::new(noise).theorems_for_votes(votes, known);
        match *self {
            Self::Gnmax { sigma } => argmax(Noise::Gaussian(sigma)),
            Self::Lnmax { sigma } => argmax(Noise::Laplace(sigma)),
            Self::ConfidentGnmax { sigma, threshold, threshold_sigma, threshold_form } => {
                let Ok(test) = ThresholdTest::new(threshold, threshold_sigma, threshold_form) else {
                    return Vec::new();
                };
                NoisyArgmax::new(Noise::Gaussian(sigma)).after_test(test).theorems_for_votes(votes, known)
            }
            Self::Gaussian { sigma } => AdditiveNoise { noise: Noise::Gaussian(sigma) }.theorems().to_vec(),
            Self::Laplace { sigma } => AdditiveNoise { noise: Noise::Laplace(sigma) }.theorems().to_vec(),
            Self::SubsampledGaussian { sigma, rate } => SubsampledGaussian { sigma, rate }.theorems(),
            Self::RandomizedResponse { .. } => {
                self.response(votes).map_or_else(|_| Vec::new(), |response| response.theorems())
            }
            Self::Gnss { sigma, beta, .. } => SmoothRelease { sigma, beta }.theorems().to_vec(),
            Self::Conversion { .. } | Self::SmoothSensitivity { .. } => Vec::new(),
        }
    }

    /// Randomized response among as many answers as the histogram has classes.
    ///
    /// # Errors
    /// [`Error::Refused`](crate::Error::Refused) for another mechanism, those of [`RandomizedResponse::new`].
    pub(super) fn response(&self, votes: &VoteHistogram) -> Result<RandomizedResponse> {
        match self {
            Self::RandomizedResponse { sigma } => {
                RandomizedResponse::new(Epsilon::new(sigma.get().recip())?, votes.classes())
            }
            _ => Err(Error::Refused { operation: "case", reason: "no randomized response".into() }),
        }
    }

    /// The same with all noise `factor` times as large; None where that is no scale.
    #[must_use]
    pub fn with_noise_times(mut self, factor: f64) -> Option<Self> {
        let larger = |scale: NoiseScale| NoiseScale::new(scale.get() * factor).ok();
        match &mut self {
            Self::Gnmax { sigma }
            | Self::Lnmax { sigma }
            | Self::Gaussian { sigma }
            | Self::Laplace { sigma }
            | Self::RandomizedResponse { sigma }
            | Self::SmoothSensitivity { sigma, .. }
            | Self::Gnss { sigma, .. }
            | Self::SubsampledGaussian { sigma, .. } => *sigma = larger(*sigma)?,
            Self::Conversion { .. } => return None,
            Self::ConfidentGnmax { sigma, threshold_sigma, .. } => {
                *sigma = larger(*sigma)?;
                *threshold_sigma = larger(*threshold_sigma)?;
            }
        }
        Some(self)
    }
}

/// What is asked; the others of order, ε and δ are absent from the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// `order`: the Rényi divergence at this order.
    Order(Order),
    /// `delta`: the ε at this δ.
    Delta(Delta),
    /// `epsilon`: the δ at this ε.
    Epsilon(Epsilon),
}

/// One question to an accountant, as it stands in JSON:
/// ```json
/// {"mechanism": "gnmax", "sigma": 2.0, "histogram": [3, 1], "repetitions": 1, "order": 8.0}
/// ```
/// The answer `{"value": 0.5}` claims, by the question: D_α ≤ 0.5 at `order`; (0.5, δ)-differential privacy at `delta`;
/// (ε, 0.5)-differential privacy at `epsilon`. It is about `repetitions` independent outputs for the same votes, and
/// about their law under `histogram` against that under every neighbor (against `neighbor` only, where there is one).
/// `{"error": "reason"}` declines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// `mechanism` and its parameters.
    #[serde(flatten)]
    pub mechanism: Mechanism,
    /// Votes per class; a single count where that is printed.
    pub histogram: VoteHistogram,
    /// The one neighbor in question, if not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbor: Option<VoteHistogram>,
    /// Independent outputs for the same votes.
    #[serde(default = "once")]
    pub repetitions: u32,
    /// `order`, `delta` or `epsilon`.
    #[serde(flatten)]
    pub question: Question,
}

const fn once() -> u32 {
    1
}

/// A request with the factor by which properties that compare two requests change the order or the noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The first request.
    #[serde(flatten)]
    pub request: Request,
    /// A factor above 1.
    #[serde(default = "double")]
    pub factor: f64,
}

const fn double() -> f64 {
    2.0
}

impl Case {
    /// Reads a case that somebody wrote.
    ///
    /// # Errors
    /// [`Error::Refused`](crate::Error::Refused) when the text is no case.
    ///
    /// # Example
    /// ```
    /// # use leakbound::verify::Case;
    /// let case = Case::from_json(r#"{"mechanism": "gnmax", "sigma": 2, "histogram": [3, 1], "order": 8}"#)?;
    /// assert_eq!(case.request.repetitions, 1);
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    pub fn from_json(text: &str) -> crate::Result<Self> {
        let refuse = |reason: String| crate::Error::Refused { operation: "case", reason };
        let case: Self = serde_json::from_str(text).map_err(|error| refuse(error.to_string()))?;
        if !(case.factor > 1.0 && case.factor.is_finite()) {
            return Err(refuse(format!("factor = {} is not in (1, inf)", case.factor)));
        }
        if !(1..=MAX_REPETITIONS).contains(&case.request.repetitions) {
            return Err(refuse(format!("repetitions = {} is not in [1, 1e6]", case.request.repetitions)));
        }
        if let Mechanism::Gnss { beta, step, width, neighbor_width, .. } = case.request.mechanism {
            super::gnss::check(beta, step, width, neighbor_width)?;
        }
        let parameter = match case.request.mechanism {
            Mechanism::Conversion { rdp, .. } => Some(("rdp", rdp)),
            Mechanism::SmoothSensitivity { beta, .. } => Some(("beta", beta)),
            _ => None,
        };
        match parameter {
            Some((name, value)) if !(0.0..f64::INFINITY).contains(&value) => {
                Err(refuse(format!("{name} = {value} is not in [0, inf)")))
            }
            _ => Ok(case),
        }
    }

    /// The case as one line of JSON.
    #[must_use]
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The same case with another question.
    #[must_use]
    pub fn asking(&self, question: Question) -> Request {
        Request { question, ..self.request.clone() }
    }
}

/// The most repetitions of a case.
const MAX_REPETITIONS: u32 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_read_back_as_they_are_written() {
        let texts = [
            r#"{"mechanism":"gnmax","sigma":2.0,"histogram":[3,1],"repetitions":1,"order":8.0,"factor":2.0}"#,
            r#"{"mechanism":"subsampled-gaussian","sigma":2.0,"rate":0.1,"histogram":[3],"repetitions":4,"delta":1e-5,"factor":1.5}"#,
            r#"{"mechanism":"randomized-response","sigma":2.0,"histogram":[0,1,0],"repetitions":1,"order":8.0,"factor":2.0}"#,
            r#"{"mechanism":"conversion","rdp":0.5,"rdp_order":8.0,"histogram":[0],"repetitions":1,"delta":1e-5,"factor":2.0}"#,
            r#"{"mechanism":"smooth-sensitivity","sigma":2.0,"beta":0.1,"histogram":[3,1],"repetitions":1,"order":8.0,"factor":2.0}"#,
            r#"{"mechanism":"gnss","sigma":5.0,"beta":0.02,"step":0.98,"width":1.0,"neighbor_width":0.981,"histogram":[0],"repetitions":1,"order":8.0,"factor":2.0}"#,
            r#"{"mechanism":"confident-gnmax","sigma":2.0,"threshold":3.5,"threshold_sigma":1.0,"threshold_form":"per-class","histogram":[3,1],"neighbor":[2,2],"repetitions":1,"epsilon":0.5,"factor":2.0}"#,
        ];
        for text in texts {
            let case = Case::from_json(text).unwrap();
            let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(value(&case.json()), value(text));
        }
        let short = Case::from_json(r#"{"mechanism":"gnmax","sigma":2,"histogram":[3,1],"order":8}"#).unwrap();
        assert_eq!(short, Case::from_json(texts[0]).unwrap());
    }

    #[test]
    fn what_is_no_case_is_refused() {
        for text in [
            "",
            "[]",
            r#"{"mechanism":"gnmax","sigma":0,"histogram":[3,1],"order":8}"#,
            r#"{"mechanism":"gnmax","sigma":1,"histogram":[3,1]}"#,
            r#"{"mechanism":"gnmax","sigma":1,"histogram":[],"order":8}"#,
            r#"{"mechanism":"gnmax","sigma":1,"histogram":[3,1],"order":1}"#,
            r#"{"mechanism":"gnmax","sigma":1,"histogram":[3,1],"order":2,"repetitions":0}"#,
            r#"{"mechanism":"gnmax","sigma":1,"histogram":[3,1],"order":2,"factor":1}"#,
            r#"{"mechanism":"other","sigma":1,"histogram":[3,1],"order":2}"#,
            r#"{"mechanism":"conversion","rdp":-1,"rdp_order":2,"histogram":[0],"delta":0.1}"#,
            r#"{"mechanism":"smooth-sensitivity","sigma":1,"beta":-1,"histogram":[3,1],"order":2}"#,
        ] {
            assert!(Case::from_json(text).is_err(), "{text}");
        }
    }
}
