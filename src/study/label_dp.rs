//! ε of label privacy from memorized wrong labels.

use super::bounds::usual_failure;
use super::claim::{Claim, epsilon_words};
use super::number::Number;
use super::progress::Progress;
use super::{Study, Warning};
use crate::bound::Validity;
use crate::error::Result;
use crate::label_dp::{AntipodesInterval, LabelCanaries, LabelThreshold, audit_labels};
use crate::quantity::{Delta, Epsilon, FailureProbability};
use serde::Serialize;

/// The published interval is a 95% interval.
const NOMINAL: f64 = 0.05;

/// What do answers on canaries with wrong labels prove about label privacy?
///
/// ```
/// # use leakbound::label_dp::{LabelCanaries, LabelThreshold};
/// # use leakbound::study::{LabelStudy, Study, unwatched};
/// // Images of class 0 that were trained with the label 1, all of them memorized: class 2 is never preferred to it.
/// let probabilities = ndarray::Array2::from_shape_fn((200, 3), |(_, class)| [0.05, 0.9, 0.05][class]);
/// let canaries = LabelCanaries::new(probabilities, vec![0; 200], vec![1; 200])?;
/// let study = LabelStudy::new(canaries, LabelThreshold::Declared(0.8));
/// assert!(study.run(&unwatched)?.epsilon[0].epsilon_lower.0 > 3.0);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LabelStudy {
    /// The answers on canaries, with their wrong labels.
    pub canaries: LabelCanaries,
    /// The confidence from which the attack guesses.
    pub threshold: LabelThreshold,
    /// δ of the ε bound.
    pub delta: Delta,
    /// The probability that the bound is wrong.
    pub failure_probability: FailureProbability,
    /// Claim: training is (ε, δ)-label-differentially private.
    pub claim_epsilon: Option<Epsilon>,
    /// The seed of the random split.
    pub seed: u64,
}

impl LabelStudy {
    /// ε at δ = 0 with a failure probability of 0.05, and no claim.
    #[must_use]
    pub fn new(canaries: LabelCanaries, threshold: LabelThreshold) -> Self {
        Self {
            canaries,
            threshold,
            delta: Delta::new(0.0).expect("a δ"),
            failure_probability: usual_failure(),
            claim_epsilon: None,
            seed: 0,
        }
    }
}

/// What the canaries show about ε.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabelBoundRow {
    /// `label-guesses` or `antipodes`.
    pub method: &'static str,
    /// How the confidence threshold was chosen.
    pub selection: &'static str,
    /// The attack guesses from this confidence on; absent if no threshold gave anything.
    pub threshold: Option<f64>,
    /// δ.
    pub delta: f64,
    /// Canaries that the bound concerns.
    pub canaries: u64,
    /// Guesses about them, if each is about one pair of labels.
    pub guesses: Option<u64>,
    /// Correct guesses.
    pub right: Option<u64>,
    /// The lower bound of ε, or lower end of an interval.
    pub epsilon_lower: Number,
    /// The upper end of a heuristic interval.
    pub epsilon_upper: Option<Number>,
    /// The failure probability; nominal for a heuristic.
    pub failure_probability: f64,
    /// What is guaranteed.
    pub validity: Validity,
}

/// The answer of a [`LabelStudy`].
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabelAnswer {
    /// Canaries of the file.
    pub canaries: u64,
    /// Classes.
    pub classes: usize,
    /// Bounds of ε.
    pub epsilon: Vec<LabelBoundRow>,
    /// Claims tested.
    pub claims: Vec<Claim>,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

answer!(LabelAnswer, "leakbound.label-dp-memorization/1", claims, warnings);

impl Study for LabelStudy {
    type Answer = LabelAnswer;

    /// # Errors
    /// Those of [`audit_labels`] and [`AntipodesInterval::of_canaries`].
    fn run(&self, _: &Progress<'_>) -> Result<LabelAnswer> {
        let (canaries, delta) = (&self.canaries, self.delta);
        let audit = audit_labels(canaries, self.threshold, delta, self.failure_probability, self.seed)?;
        let published = AntipodesInterval::of_canaries(canaries)?;
        let valid = LabelBoundRow {
            method: audit.epsilon.method,
            selection: match self.threshold {
                LabelThreshold::Declared(_) => "declared",
                LabelThreshold::Split => "split",
            },
            threshold: Some(audit.threshold),
            delta: delta.get(),
            canaries: audit.canaries,
            guesses: Some(audit.guesses.map_or(0, |guesses| guesses.trials())),
            right: Some(audit.guesses.map_or(0, |guesses| guesses.successes())),
            epsilon_lower: Number(audit.epsilon.value),
            epsilon_upper: None,
            failure_probability: audit.epsilon.failure_probability.get(),
            validity: audit.epsilon.validity,
        };
        let heuristic = LabelBoundRow {
            method: "antipodes",
            selection: "best of 7",
            threshold: published.threshold,
            delta: 0.0,
            canaries: canaries.len() as u64,
            guesses: None,
            right: None,
            epsilon_lower: Number(published.lower),
            epsilon_upper: Some(Number(published.upper)),
            failure_probability: NOMINAL,
            validity: Validity::Heuristic,
        };
        let claim = self.claim_epsilon.map(|epsilon| {
            let (claim, lower) = (epsilon_words(epsilon, delta), audit.epsilon.at_least());
            Claim::tested((claim, epsilon.into()), (String::new(), lower), self.failure_probability.get())
        });
        Ok(LabelAnswer {
            canaries: canaries.len() as u64,
            classes: canaries.classes(),
            epsilon: vec![valid, heuristic],
            claims: claim.into_iter().collect(),
            warnings: vec![Warning {
                code: "antipodes-heuristic",
                message:
                    "the published interval takes the best of seven thresholds on the same canaries and a normal distribution"
                        .into(),
                hint: "only the row label-guesses is guaranteed".into(),
            }],
        })
    }
}
