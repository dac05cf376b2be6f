//! Lower bounds from the scores of an attack on canaries.

use super::bounds::{usual_delta, usual_failure};
use super::claim::Claim;
use super::number::{Number, short, significant};
use super::progress::Progress;
use super::score_bounds::ScoreBoundRow;
use super::score_renyi::renyi_rows;
use super::{Study, Warning};
use crate::audit::{
    CanaryScores, GuessSelection, Rectangle, ScoreEvidence, ThresholdSelection, audit_one_run, audit_scores,
    best_threshold_false_claims,
};
use crate::bound::{AtLeast, Claimed, Direction, Validity};
use crate::divergence::gdp_epsilon;
use crate::error::{Error, Result};
use crate::order;
use crate::quantity::{Delta, Epsilon, FailureProbability, Order};
use crate::roc::RocPoint;
use serde::Serialize;

/// Canaries of all simulated audits of the naive practice together: these take a second or less.
const SIMULATED_CANARIES: u64 = 4_000_000;

/// How scores become answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ScoreAnswers {
    /// A canary is called a member from a threshold on. Scores of members and of others are independent draws.
    Threshold(ThresholdSelection),
    /// In one training run, each canary is in or out by a separate fair coin; those with the highest scores are called
    /// members, and those with the lowest non-members.
    OneRun(GuessSelection),
}

/// What do the scores of canaries prove?
///
/// ```
/// # use leakbound::audit::{CanaryScores, ThresholdSelection};
/// # use leakbound::bound::Claimed;
/// # use leakbound::study::{ScoreAnswers, ScoresStudy, Study, unwatched};
/// let members = (0..500).map(|i| 1.0 + f64::from(i % 100) / 100.0).collect();
/// let others = (0..500).map(|i| f64::from(i % 100) / 100.0).collect();
/// let answers = ScoreAnswers::Threshold(ThresholdSelection::Explicit(1.0));
/// let mut study = ScoresStudy::new(CanaryScores::new(members, others)?, answers);
/// study.claim_mu = Some(Claimed::new(1.0)?);
/// assert!(study.run(&unwatched)?.claims[0].refuted);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ScoresStudy {
    /// The scores; high ones mean members.
    pub scores: CanaryScores,
    /// How scores become answers.
    pub answers: ScoreAnswers,
    /// δ of the ε bounds and of the claimed ε.
    pub delta: Delta,
    /// The probability that any bound of the answer is wrong.
    pub failure_probability: FailureProbability,
    /// Values of ε at which δ is bounded, by thresholds.
    pub epsilons: Vec<Epsilon>,
    /// Rényi orders at which the divergence of independent scores is bounded, with half of the failure probability.
    pub orders: Vec<Order>,
    /// Claim: training is (ε, δ)-differentially private.
    pub claim_epsilon: Option<Epsilon>,
    /// Claim: training is μ-GDP.
    pub claim_mu: Option<Claimed>,
    /// The seed of random splits.
    pub seed: u64,
}

impl ScoresStudy {
    /// ε at δ = 1e-5 and μ, with a failure probability of 0.05; without further values of ε, orders and claims.
    #[must_use]
    pub fn new(scores: CanaryScores, answers: ScoreAnswers) -> Self {
        Self {
            scores,
            answers,
            delta: usual_delta(),
            failure_probability: usual_failure(),
            epsilons: Vec::new(),
            orders: Vec::new(),
            claim_epsilon: None,
            claim_mu: None,
            seed: 0,
        }
    }
}

/// Counts and limits at one threshold.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RatePoint {
    /// The threshold.
    pub threshold: Number,
    /// Members at or above it.
    pub true_positives: u64,
    /// Others at or above it.
    pub false_positives: u64,
    /// Lower limit of the true positive rate.
    pub tpr_lower: Number,
    /// Upper limit of the false positive rate.
    pub fpr_upper: Number,
}

/// The guesses of one run.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneRunRow {
    /// How the numbers of guesses were chosen.
    pub selection: &'static str,
    /// Canaries that the bound concerns.
    pub canaries: u64,
    /// k+: canaries called members.
    pub guessed_members: u64,
    /// k-: canaries called non-members.
    pub guessed_non_members: u64,
    /// Correct guesses.
    pub right: u64,
}

/// How often the chosen practice claims leakage for equal distributions.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FalseClaimRow {
    /// Simulated audits of the same number of canaries with a bound above 0.
    pub claims: u64,
    /// All simulated audits.
    pub repetitions: u64,
    /// The share with a bound above 0.
    pub rate: f64,
}

/// The answer of a [`ScoresStudy`].
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScoresAnswer {
    /// Canaries that were trained on.
    pub members: u64,
    /// Canaries that were not.
    pub non_members: u64,
    /// Bounds of ε at δ.
    pub epsilon: Vec<ScoreBoundRow>,
    /// Bounds of μ.
    pub mu: Vec<ScoreBoundRow>,
    /// The ε at δ that the bound of μ implies for a claim of Gaussian differential privacy.
    pub epsilon_of_mu: Vec<ScoreBoundRow>,
    /// Bounds of δ at ε.
    pub delta: Vec<ScoreBoundRow>,
    /// Bounds of Rényi divergences at the requested orders.
    pub renyi: Vec<ScoreBoundRow>,
    /// The guesses of a one-run audit.
    pub one_run: Option<OneRunRow>,
    /// Rates at the thresholds, with limits that hold simultaneously.
    pub rates: Vec<RatePoint>,
    /// The ROC curve as recorded: false and true positive rate.
    #[serde(skip)]
    pub roc: Vec<[f64; 2]>,
    /// What the naive practice claims for equal distributions.
    pub false_claims: Option<FalseClaimRow>,
    /// Claims tested.
    pub claims: Vec<Claim>,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

answer!(ScoresAnswer, "leakbound.audit-scores/1", claims, warnings);

impl ScoresAnswer {
    fn rows_mut(&mut self) -> impl Iterator<Item = &mut ScoreBoundRow> {
        let Self { epsilon, mu, epsilon_of_mu, delta, renyi, .. } = self;
        [epsilon, mu, epsilon_of_mu, delta, renyi].into_iter().flatten()
    }
}

impl Study for ScoresStudy {
    type Answer = ScoresAnswer;

    /// # Errors
    /// [`Error::Rejected`] for a claim under a naive selection, which refutes nothing, and for orders of one run; those of
    /// the audits.
    fn run(&self, _: &Progress<'_>) -> Result<ScoresAnswer> {
        let mut answer = ScoresAnswer {
            members: self.scores.members().len() as u64,
            non_members: self.scores.others().len() as u64,
            roc: roc(&self.scores),
            ..ScoresAnswer::default()
        };
        match self.answers {
            ScoreAnswers::OneRun(selection) => self.one_run(selection, &mut answer)?,
            ScoreAnswers::Threshold(selection) => self.thresholds(selection, &mut answer)?,
        }
        answer.claims = self.tested(&answer)?;
        for row in answer.rows_mut() {
            row.failure_probability = self.failure_probability.get();
        }
        Ok(answer)
    }
}

impl ScoresStudy {
    fn thresholds(&self, selection: ThresholdSelection, answer: &mut ScoresAnswer) -> Result<()> {
        let (delta, name) = (self.delta, selection.name());
        // Both parts of the answer hold simultaneously.
        let parts = if self.orders.is_empty() { 1 } else { 2 };
        let failure = self.failure_probability.split(parts);
        let evidence = audit_scores(&self.scores, selection, delta, failure, self.seed)?;
        answer.renyi = renyi_rows(&self.scores, &self.orders, failure, self.seed)?;
        // Of many splits the median is shown, and no one threshold.
        let shown = |threshold: Option<f64>| threshold.map(Number);
        for direction in Direction::BOTH {
            let bound = ScoreBoundRow::of(&evidence.epsilon(delta, direction), name);
            let threshold = shown(evidence.epsilon_threshold(delta, direction));
            answer.epsilon.push(ScoreBoundRow {
                direction: Some(direction),
                delta: Some(delta.get()),
                threshold,
                ..bound
            });
            for &epsilon in &self.epsilons {
                let bound = ScoreBoundRow::of(&evidence.delta(epsilon, direction), name);
                answer.delta.push(ScoreBoundRow { direction: Some(direction), epsilon: Some(epsilon.get()), ..bound });
            }
        }
        let threshold = shown(evidence.gdp_threshold());
        let [mu, implied] = evidence.gdp_epsilon(delta)?;
        answer.mu.push(ScoreBoundRow { threshold, ..ScoreBoundRow::of(&mu, name) });
        answer.epsilon_of_mu.push(ScoreBoundRow {
            threshold,
            delta: Some(delta.get()),
            ..ScoreBoundRow::of(&implied, name)
        });
        answer.rates = rates(&evidence);
        if selection == ThresholdSelection::Naive {
            self.naive(answer)?;
        }
        let found = answer.epsilon.iter().any(|row| row.lower.0 > 0.0);
        if !found && turned_round(&self.scores) {
            answer.warnings.push(Warning {
                code: "direction-contradicted",
                message: "members have lower scores than non-members".into(),
                hint: "if low scores mean members, flip the scores; decide before looking at them".into(),
            });
        }
        Ok(())
    }

    /// How often the best threshold on the same scores claims leakage when there is none.
    fn naive(&self, answer: &mut ScoresAnswer) -> Result<()> {
        let sizes = [self.scores.members().len(), self.scores.others().len()];
        let repetitions = (SIMULATED_CANARIES / (sizes[0] + sizes[1]) as u64).clamp(5, 2_000);
        let failure = self.failure_probability;
        let measured = best_threshold_false_claims(sizes, self.delta, failure, repetitions, self.seed)?;
        answer.warnings.push(Warning {
            code: "naive-selection",
            message: format!(
                "the best threshold on the same scores claims ε > 0 in {}% of {repetitions} simulated audits of the \
                 same number of canaries without any leakage; {}% would be allowed",
                significant(100.0 * measured.rate(), 3),
                short(100.0 * failure.get()),
            ),
            hint: "use the selection `split`, `multi-split` or `uniform`, or declare a threshold before looking".into(),
        });
        answer.false_claims =
            Some(FalseClaimRow { claims: measured.claims, repetitions: measured.repetitions, rate: measured.rate() });
        Ok(())
    }

    fn one_run(&self, selection: GuessSelection, answer: &mut ScoresAnswer) -> Result<()> {
        if !self.orders.is_empty() {
            let reason = "scores of canaries of one run are not independent draws; Rényi bounds need independent draws";
            return Err(Error::Rejected { operation: "Rényi bounds of scores", reason: reason.into() });
        }
        let audit = audit_one_run(&self.scores, selection, self.delta, self.failure_probability, self.seed)?;
        let (name, delta) = (selection.name(), Some(self.delta.get()));
        answer.epsilon.push(ScoreBoundRow { delta, ..ScoreBoundRow::of(&audit.epsilon, name) });
        if let Some(mu) = audit.mu {
            answer.mu.push(ScoreBoundRow::of(&mu, name));
            let implied = mu.with_value(gdp_epsilon(mu.value, self.delta)?.get() * (1.0 - 1e-9)).heuristic();
            answer.epsilon_of_mu.push(ScoreBoundRow { delta, ..ScoreBoundRow::of(&implied, name) });
        } else if self.claim_mu.is_some() {
            let reason = "nested guesses say nothing of μ; choose another selection".into();
            return Err(Error::Rejected { operation: "test of a claim", reason });
        }
        answer.one_run = Some(OneRunRow {
            selection: name,
            canaries: audit.canaries,
            guessed_members: audit.guesses.members,
            guessed_non_members: audit.guesses.others,
            right: audit.right.successes(),
        });
        if selection == GuessSelection::Naive {
            answer.warnings.push(Warning {
                code: "naive-selection",
                message:
                    "the numbers of guesses were chosen on the same coins: false claims of leakage are more frequent \
                     than the failure probability"
                        .into(),
                hint: "use the guess selection `nested`, `split` or `paid-for`, or declare the guesses before looking"
                    .into(),
            });
        }
        Ok(())
    }

    /// Claims against the bounds printed, which hold simultaneously.
    fn tested(&self, answer: &ScoresAnswer) -> Result<Vec<Claim>> {
        let largest =
            |rows: &[ScoreBoundRow]| rows.iter().map(|row| AtLeast::new(row.lower.0)).max().unwrap_or(AtLeast::NOTHING);
        let claimed = [
            self.claim_epsilon.map(|epsilon| {
                let words = format!("ε ≤ {} at δ = {}", claimed_words(epsilon.get()), short(self.delta.get()));
                ((words, epsilon.into()), largest(&answer.epsilon))
            }),
            self.claim_mu.map(|mu| ((format!("μ ≤ {}", claimed_words(mu.get())), mu), largest(&answer.mu))),
        ];
        let guaranteed = answer.epsilon.iter().all(|row| row.validity == Validity::FiniteSample);
        let claims: Vec<_> = claimed.into_iter().flatten().collect();
        let reason = "naive selection guarantees nothing and refutes nothing; choose another";
        Error::check_possible(claims.is_empty() || guaranteed, "test of a claim", reason)?;
        let failure_probability = self.failure_probability.get();
        let claim = |(claim, lower)| Claim::tested(claim, (String::new(), lower), failure_probability);
        Ok(claims.into_iter().map(claim).collect())
    }
}

/// The recorded curve, all its vertices and at most some hundreds of points between them.
fn roc(scores: &CanaryScores) -> Vec<[f64; 2]> {
    let sizes = [scores.others().len() as f64, scores.members().len() as f64];
    let corners = scores.corners();
    let step = corners.len().div_ceil(400).max(1);
    let mut points: Vec<[f64; 2]> = corners
        .iter()
        .step_by(step)
        .chain(&scores.roc().hull())
        .map(|point| [point.false_positives as f64 / sizes[0], point.true_positives as f64 / sizes[1]])
        .collect();
    order::sort(&mut points, |a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    points.dedup();
    points
}

/// Whether members mostly have lower scores than others: the median member against the median of others.
fn turned_round(scores: &CanaryScores) -> bool {
    scores.members()[scores.members().len() / 2] < scores.others()[scores.others().len() / 2]
}

fn rates(evidence: &ScoreEvidence) -> Vec<RatePoint> {
    let point = |(point, rectangle): &(RocPoint, Rectangle)| RatePoint {
        threshold: Number(point.cut()),
        true_positives: point.true_positives,
        false_positives: point.false_positives,
        tpr_lower: Number(rectangle.inside()[0].value),
        fpr_upper: Number(rectangle.inside_neighbor()[1].value),
    };
    evidence.points().iter().map(point).collect()
}

/// A number as it was written, or six digits of one that was computed.
fn claimed_words(value: f64) -> String {
    let exact = short(value);
    if exact.len() > 10 { significant(value, 6) } else { exact }
}
