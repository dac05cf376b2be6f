//! How much noise is enough?

mod goal;
mod profile;
mod search;

pub use goal::Goal;
pub use profile::ProfileKind;

use super::account::EpsilonAtDelta;
use super::number::{Number, short};
use super::progress::{Meter, Progress};
use super::{Study, Warning};
use crate::bound::{AtMost, Direction};
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::mechanism::{DataKind, LargestLoss, Mechanism, NoiseFamily};
use crate::order;
use crate::quantity::{Epsilon, Probability};
use profile::{Enclosure, Profiles};
use search::{CLOSE, CLOSEST, Least, least, rounded_down};
use serde::Serialize;

/// How much noise makes a mechanism that is run a number of times meet a privacy goal?
///
/// The least scale is found by bisection on a bound that holds: the closed form of Gaussian noise, the upper side of
/// composed privacy-loss distributions, or, for mechanisms on votes, theorems for all votes as Rényi divergences. The
/// goal is certainly met at the scale found, and the bound misses it at 0.9998 of that scale.
///
/// ```
/// # use leakbound::mechanism::NoiseFamily;
/// # use leakbound::quantity::{Delta, Epsilon};
/// # use leakbound::study::{CalibrateStudy, Goal, Study, unwatched};
/// let study = CalibrateStudy {
///     family: NoiseFamily::parse("laplace:sigma=?")?,
///     histogram: None,
///     times: 1,
///     goal: Goal::Epsilon { epsilon: Epsilon::new(0.5)?, delta: Delta::new(0.0)? },
/// };
/// let answer = study.run(&unwatched)?;
/// // ε = 1/b, and no δ helps.
/// assert!(answer.scale.0 >= 2.0 && answer.scale.0 < 2.0005);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct CalibrateStudy {
    /// The mechanism, with the unknown scale left open.
    pub family: NoiseFamily,
    /// Votes per class, which give the number of classes, and for one voter its vote. None for mechanisms of a record.
    pub histogram: Option<VoteHistogram>,
    /// How often the mechanism is run with fresh noise, at least once.
    pub times: u64,
    /// The goal.
    pub goal: Goal,
}

impl CalibrateStudy {
    /// One run of a mechanism that needs no votes.
    #[must_use]
    pub const fn new(family: NoiseFamily, goal: Goal) -> Self {
        Self { family, histogram: None, times: 1, goal }
    }
}

/// The largest true-positive rate at a false-positive rate.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttackRow {
    /// False-positive rate.
    pub fpr: f64,
    /// No attacker has a higher true-positive rate.
    pub tpr: Number,
}

/// The answer of a [`CalibrateStudy`].
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CalibrateAnswer {
    /// The mechanism with the scale that was found.
    pub mechanism: String,
    /// The parameter that was searched for.
    pub parameter: String,
    /// The least scale at which the bound meets the goal.
    pub scale: Number,
    /// A smaller scale at which the goal is certainly missed, if one is known.
    pub too_little: Option<Number>,
    /// How often the mechanism is run.
    pub times: u64,
    /// The goal in words.
    pub goal: String,
    /// What bounds the leakage.
    pub bound: ProfileKind,
    /// An upper bound of ε, in both directions, at each δ.
    pub profile: Vec<EpsilonAtDelta>,
    /// What attackers achieve at most, in both directions.
    pub attacks: Vec<AttackRow>,
    /// The largest difference of true- and false-positive rate, at most.
    pub advantage: Number,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

answer!(CalibrateAnswer, "leakbound.calibrate/1", warnings);

/// δ of the table.
const DELTAS: [f64; 6] = [1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10];
/// False-positive rates of the table and of the figure.
const RATES: [f64; 9] = [1e-5, 1e-4, 0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 0.9];
/// Shares of the scale that are tried, to find one that is certainly too little.
const LESS: [f64; 7] = [0.9998, 0.9995, 0.998, 0.99, 0.95, 0.8, 0.5];
/// About how many scales are looked at.
const LOOKS: u64 = 40;

impl Study for CalibrateStudy {
    type Answer = CalibrateAnswer;

    /// # Errors
    /// [`Error::Rejected`] for a goal that is trivial, that needs no noise or that no noise meets, those of
    /// [`NoiseFamily::at`], and those of the privacy losses.
    fn run(&self, progress: &Progress<'_>) -> Result<CalibrateAnswer> {
        self.goal.check()?;
        Error::check_possible(self.times > 0, "calibrate", "`times` must be at least 1")?;
        let data = self.data()?;
        let profiles = Profiles::new(data.clone(), self.times);
        let meter = Meter::new(progress, LOOKS, "scales");
        let deltas = self.goal.deltas();
        let example = self.family.at(1.0)?;
        // Of many outputs the noise counts like that of a Gaussian mechanism. Subsampled ones need less.
        let start = (self.times as f64).sqrt() * self.goal.gaussian_sigma();
        let found = match (self.goal.without_delta(), example.largest_loss(&data)) {
            (Some(_), LargestLoss::Unbounded) => {
                let kind = example.kind();
                let why = format!(
                    "is not met by any noise, however much: some output of {kind} has a privacy loss above every number; \
                     set a delta above 0"
                );
                return Err(self.rejected(&why));
            }
            (Some(epsilon), LargestLoss::AtMost(_)) => least(start, CLOSEST, |scale| {
                meter.add(1)?;
                let loss = self.family.at(scale)?.largest_loss(&data).times(self.times as f64);
                Ok(loss <= AtMost::new(epsilon.get()))
            })?,
            (Some(_), LargestLoss::Unknown) | (None, _) => {
                // A closed form costs nothing.
                let close = if example.gaussian_mu().is_some() { CLOSEST } else { CLOSE };
                // One of the values of δ is enough where it is far from the goal.
                let middle = deltas.len() / 2;
                least(start, close, |scale| {
                    meter.add(1)?;
                    let mechanism = self.family.at(scale)?;
                    for few in [&deltas[middle..=middle], &deltas].into_iter().take(deltas.len()) {
                        let Some(rough) = profiles.both(&*mechanism, few, Enclosure::Rough)? else { break };
                        if self.goal.is_met(&rough)? {
                            return Ok(true);
                        }
                        if self.goal.is_missed(&rough)? {
                            return Ok(false);
                        }
                    }
                    self.goal.is_met(&profiles.above(&*mechanism, &deltas)?.0)
                })?
            }
        };
        let (scale, below) = match found {
            Least::At { enough, too_little } => (enough, too_little),
            Least::Everywhere(scale) => {
                return Err(
                    self.rejected(&format!("holds even with {}, the least noise that is tried", self.with(scale)))
                );
            }
            Least::Nowhere(scale) => {
                return Err(self.rejected(&format!("is not met by any noise up to {}", self.with(scale))));
            }
        };
        let too_little = self.too_little(&profiles, scale, below, &meter)?;
        self.answer(&profiles, scale, too_little)
    }
}

impl CalibrateStudy {
    /// The data of the mechanism.
    fn data(&self) -> Result<VoteHistogram> {
        let kind = self.family.at(1.0)?.kind().data;
        match (&self.histogram, kind) {
            (None, DataKind::OneRecord) => VoteHistogram::new(vec![0]),
            (Some(_), DataKind::OneRecord) => Err(Error::Rejected {
                operation: "calibrate",
                reason: format!("{} releases a number and has no histogram", self.family),
            }),
            (Some(histogram), _) => Ok(histogram.clone()),
            (None, _) => Err(Error::Rejected {
                operation: "calibrate",
                reason: format!("{} needs a histogram, such as 1,0,0, which sets the number of classes", self.family),
            }),
        }
    }

    fn with(&self, scale: f64) -> String {
        format!("{} = {}", self.family.parameter(), short(scale))
    }

    fn rejected(&self, what: &str) -> Error {
        Error::rejected("calibrate", format_args!("{} {what}", self.goal))
    }

    /// A scale at which the goal is certainly missed.
    fn too_little(&self, profiles: &Profiles, scale: f64, below: f64, meter: &Meter<'_>) -> Result<Option<f64>> {
        let deltas = self.goal.deltas();
        for scale in std::iter::once(below).chain(LESS.map(|share| share * scale)).map(rounded_down) {
            meter.add(1)?;
            let Some(profile) = profiles.both(&*self.family.at(scale)?, &deltas, Enclosure::Fine)? else {
                return Ok(None);
            };
            if self.goal.is_missed(&profile)? {
                return Ok(Some(scale));
            }
        }
        Ok(None)
    }

    /// What the mechanism with this scale guarantees.
    fn answer(&self, profiles: &Profiles, scale: f64, too_little: Option<f64>) -> Result<CalibrateAnswer> {
        let mechanism = self.family.at(scale)?;
        let wide = DELTAS.into_iter().chain([0.01, 0.1]).chain(self.goal.deltas()).collect::<Vec<_>>();
        let (profile, by_profile) = profiles.above(&*mechanism, &wide)?;
        let largest_loss = mechanism.largest_loss(&self.data()?).times(self.times as f64);
        let by_losses = self.goal.without_delta().is_some() && largest_loss < AtMost::NOTHING;
        let bound = if by_losses { ProfileKind::LargestLoss } else { by_profile };
        let goal = match self.goal {
            Goal::Epsilon { delta, .. } => Some(delta.get()),
            Goal::Mu(_) | Goal::TruePositiveRate { .. } | Goal::Advantage(_) | Goal::Posterior { .. } => None,
        };
        let mut deltas: Vec<f64> = DELTAS.into_iter().chain(goal).collect();
        order::falling(&mut deltas);
        deltas.dedup();
        let epsilon = |delta: f64| {
            let epsilon = AtMost::new(profile.epsilon(delta)).min(largest_loss);
            EpsilonAtDelta { delta, epsilon: Number(epsilon.get()) }
        };
        let attack = |fpr: f64| {
            let rate = Probability::new(fpr)?;
            let [forward, reverse] = Direction::BOTH.map(|side| profile.true_positive_rate(side, rate));
            Ok(AttackRow { fpr, tpr: Number(forward?.max(reverse?)) })
        };
        let [forward, reverse] = Direction::BOTH.map(|side| profile.delta(side, Epsilon::ZERO));
        Ok(CalibrateAnswer {
            mechanism: mechanism.to_string(),
            parameter: self.family.parameter().to_owned(),
            scale: Number(scale),
            too_little: too_little.map(Number),
            times: self.times,
            goal: self.goal.to_string(),
            bound,
            profile: deltas.into_iter().map(epsilon).collect(),
            attacks: RATES.into_iter().map(attack).collect::<Result<_>>()?,
            advantage: Number(forward?.upper.max(reverse?.upper)),
            warnings: warnings(&*mechanism, by_profile),
        })
    }
}

/// Warnings about the limits of the scale found.
fn warnings(mechanism: &dyn Mechanism, bound: ProfileKind) -> Vec<Warning> {
    let theorems = Warning {
        code: "least-by-theorems",
        message: format!(
            "the scale is the smallest that the theorems about {} certify, not the smallest that is private",
            mechanism.kind()
        ),
        hint: "less noise may be private too; compare with the exact leakage of your votes".into(),
    };
    (bound == ProfileKind::RenyiDivergences).then_some(theorems).into_iter().collect()
}

#[cfg(test)]
mod tests;
