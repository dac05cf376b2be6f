//! False claims: how often do bounds from canary scores claim leakage that is not there, or more than there is?

pub use crate::audit_cases::FAILURE;
use crate::coverage::allowed;
use crate::experiment::{Report, stream};
use crate::peers::one_run_over_hull;
use leakbound::Result;
use leakbound::audit::{
    CanaryScores, GuessSelection, GuessedSides, OneRunGuesses, ThresholdSelection, audit_one_run, audit_scores,
    one_run_epsilon,
};
use leakbound::bound::Direction;
use leakbound::divergence::gdp_epsilon;
use leakbound::interval::BinomialCounts;
use leakbound::quantity::{Delta, FailureProbability};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

/// Canaries of every audit, each in or out by a fair coin.
pub const CANARIES: usize = 1000;
const REPETITIONS: u64 = 4_000;
const KNOWN_REPETITIONS: u64 = 1_000;
const SEED: u64 = 20_230_515;

/// The distribution of scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scores {
    /// N(μ, 1) for members, N(0, 1) for others.
    Normal(f64),
    /// The canary's coin through randomized response of this ε.
    RandomizedResponse(f64),
}

impl Scores {
    fn draw(self, stream: &mut ChaCha8Rng) -> Result<CanaryScores> {
        let mut sides = [Vec::new(), Vec::new()];
        for _ in 0..CANARIES {
            let member: bool = stream.random();
            let score = match self {
                Self::Normal(mu) => {
                    let z: f64 = StandardNormal.sample(stream);
                    if member { z + mu } else { z }
                }
                Self::RandomizedResponse(epsilon) => {
                    let kept = stream.random::<f64>() * (1.0 + (-epsilon).exp()) < 1.0;
                    f64::from(u8::from(member == kept))
                }
            };
            sides[usize::from(!member)].push(score);
        }
        let [members, others] = sides;
        CanaryScores::new(members, others)
    }
}

/// What a practice bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bounds {
    Epsilon,
    Mu,
}

/// A practice under test.
struct Practice {
    name: &'static str,
    bounds: Bounds,
    /// Whether it promises anything for finite samples.
    valid: bool,
    by: By,
}

/// How it comes to its bound.
#[derive(Debug, Clone, Copy)]
enum By {
    Threshold(ThresholdSelection),
    OneRun(GuessSelection),
    /// One-run f-DP over the hull, each vertex at f/K.
    Hull,
    BestOfHull,
    BestGuesses,
}

impl Practice {
    const fn new(name: &'static str, bounds: Bounds, valid: bool, by: By) -> Self {
        Self { name, bounds, valid, by }
    }

    fn bound(&self, scores: &CanaryScores, delta: Delta, seed: u64) -> Result<f64> {
        match (self.by, self.bounds) {
            (By::Threshold(selection), Bounds::Epsilon) => epsilon_by(scores, selection, delta, seed),
            (By::Threshold(selection), Bounds::Mu) => mu_by(scores, selection, delta, seed),
            (By::OneRun(selection), bounds) => {
                let [epsilon, mu] = one_run_by(scores, selection, delta, seed)?;
                Ok(if bounds == Bounds::Mu { mu } else { epsilon })
            }
            (By::Hull, _) => Ok(one_run_over_hull(scores, delta, failure()?)?.value),
            (By::BestOfHull, _) => uncorrected_hull(scores, delta),
            (By::BestGuesses, _) => best_guesses(scores, delta),
        }
    }
}

fn failure() -> Result<FailureProbability> {
    FailureProbability::new(FAILURE)
}

fn epsilon_by(scores: &CanaryScores, selection: ThresholdSelection, delta: Delta, seed: u64) -> Result<f64> {
    let evidence = audit_scores(scores, selection, delta, failure()?, seed)?;
    Ok(Direction::BOTH.map(|direction| evidence.epsilon(delta, direction).value).into_iter().fold(0.0, f64::max))
}

fn mu_by(scores: &CanaryScores, selection: ThresholdSelection, delta: Delta, seed: u64) -> Result<f64> {
    Ok(audit_scores(scores, selection, delta, failure()?, seed)?.gdp().value)
}

fn one_run_by(scores: &CanaryScores, selection: GuessSelection, delta: Delta, seed: u64) -> Result<[f64; 2]> {
    let audit = audit_one_run(scores, selection, delta, failure()?, seed)?;
    Ok([audit.epsilon.value, audit.mu.map_or(0.0, |mu| mu.value)])
}

/// Members among the first k canaries in falling order of score, for each k.
fn members_above(scores: &CanaryScores) -> Vec<u64> {
    let members = scores.members().iter().map(|&score| (score, 1u64));
    let mut all: Vec<(f64, u64)> = members.chain(scores.others().iter().map(|&score| (score, 0))).collect();
    // Scores of the null case have no ties.
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut sum = 0;
    [0].into_iter()
        .chain(all.into_iter().map(|(_, member)| {
            sum += member;
            sum
        }))
        .collect()
}

/// The best one-run bound over all pairs of k+ and k- in steps of 20, uncorrected: what a search over both numbers on
/// the same coins amounts to.
fn best_guesses(scores: &CanaryScores, delta: Delta) -> Result<f64> {
    const STEP: usize = 20;
    let sums = members_above(scores);
    let m = sums.len() - 1;
    let mut best = 0.0f64;
    for members in (0..=m).step_by(STEP) {
        for others in (0..=m - members).step_by(STEP).filter(|others| members + others > 0) {
            let right = sums[members] + others as u64 - (sums[m] - sums[m - others]);
            // At most half right proves nothing.
            if 2 * right as usize > members + others {
                let right = BinomialCounts::new(right, (members + others) as u64)?;
                best = best.max(one_run_epsilon(right, m as u64, delta, failure()?)?.value);
            }
        }
    }
    Ok(best)
}

/// The best one-run bound over the vertices of the hull, uncorrected.
fn uncorrected_hull(scores: &CanaryScores, delta: Delta) -> Result<f64> {
    let m = (scores.members().len() + scores.others().len()) as u64;
    let mut best = 0.0f64;
    for point in scores.roc().hull() {
        let guesses = point.true_positives + point.false_positives;
        if 2 * point.true_positives > guesses {
            let right = BinomialCounts::new(point.true_positives, guesses)?;
            best = best.max(one_run_epsilon(right, m, delta, failure()?)?.value);
        }
    }
    Ok(best)
}

const HALF: GuessSelection = GuessSelection::Declared(OneRunGuesses { members: 250, others: 250 });
const FEW: GuessSelection = GuessSelection::Declared(OneRunGuesses { members: 50, others: 50 });

const DECLARED: By = By::Threshold(ThresholdSelection::Explicit(0.5));
const SPLIT: By = By::Threshold(ThresholdSelection::Split);
const MULTI_SPLIT: By = By::Threshold(ThresholdSelection::MultiSplit);
const UNIFORM: By = By::Threshold(ThresholdSelection::Uniform);

const PRACTICES: [Practice; 19] = [
    Practice::new("threshold declared (0.5)", Bounds::Epsilon, true, DECLARED),
    Practice::new("threshold from a split", Bounds::Epsilon, true, SPLIT),
    Practice::new("threshold from 21 splits", Bounds::Epsilon, true, MULTI_SPLIT),
    Practice::new("all thresholds (uniform)", Bounds::Epsilon, true, UNIFORM),
    Practice::new("best threshold (naive)", Bounds::Epsilon, false, By::Threshold(ThresholdSelection::Naive)),
    Practice::new("threshold declared (0.5)", Bounds::Mu, true, DECLARED),
    Practice::new("threshold from a split", Bounds::Mu, true, SPLIT),
    Practice::new("threshold from 21 splits", Bounds::Mu, true, MULTI_SPLIT),
    Practice::new("all thresholds (uniform)", Bounds::Mu, true, UNIFORM),
    Practice::new("one run, 250 + 250 declared", Bounds::Epsilon, true, By::OneRun(HALF)),
    Practice::new("one run, 50 + 50 declared", Bounds::Epsilon, true, By::OneRun(FEW)),
    Practice::new("one run, split", Bounds::Epsilon, true, By::OneRun(GuessSelection::Split)),
    Practice::new("one run, paid for", Bounds::Epsilon, true, By::OneRun(GuessSelection::PaidFor)),
    Practice::new("one run, nested", Bounds::Epsilon, true, By::OneRun(GuessSelection::Nested(GuessedSides::Both))),
    Practice::new("one run, 250 + 250 declared", Bounds::Mu, true, By::OneRun(HALF)),
    Practice::new("one run, split", Bounds::Mu, true, By::OneRun(GuessSelection::Split)),
    Practice::new("one run, f/K over the hull", Bounds::Epsilon, false, By::Hull),
    Practice::new("one run, best of the hull", Bounds::Epsilon, false, By::BestOfHull),
    Practice::new("one run, best k+ and k-", Bounds::Epsilon, false, By::BestGuesses),
];

/// What was seen of one practice in one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The practice.
    pub name: &'static str,
    /// `ε` or `μ`.
    pub quantity: &'static str,
    /// Whether it is labeled finite-sample.
    pub valid: bool,
    /// Audits with a bound above the truth.
    pub wrong: u64,
    /// Mean bound.
    pub mean: f64,
}

/// Audits of one case: `truth` of ε at `delta` and of μ; a truth of infinity is never exceeded. `only_valid` leaves out
/// the practices of other tools.
///
/// # Errors
/// Those of the bounds.
pub fn measure(scores: Scores, delta: Delta, truth: [f64; 2], repetitions: u64, only_valid: bool) -> Result<Vec<Row>> {
    let practices: Vec<&Practice> = PRACTICES.iter().filter(|practice| practice.valid || !only_valid).collect();
    let one = |repetition: u64| -> Result<Vec<(u64, f64)>> {
        let scores = scores.draw(&mut stream(SEED, repetition))?;
        let bound = |practice: &&Practice| -> Result<(u64, f64)> {
            let bound = practice.bound(&scores, delta, repetition)?;
            let truth = truth[usize::from(practice.bounds == Bounds::Mu)];
            Ok((u64::from(!(bound <= truth)), bound))
        };
        practices.iter().map(bound).collect()
    };
    let found: Vec<Vec<(u64, f64)>> = (0..repetitions).into_par_iter().map(one).collect::<Result<_>>()?;
    let row = |(index, practice): (usize, &&Practice)| Row {
        name: practice.name,
        quantity: if practice.bounds == Bounds::Mu { "μ" } else { "ε" },
        valid: practice.valid,
        wrong: found.iter().map(|bounds| bounds[index].0).sum(),
        mean: found.iter().map(|bounds| bounds[index].1).sum::<f64>() / repetitions as f64,
    };
    Ok(practices.iter().enumerate().map(row).collect())
}

/// The μ whose ε at δ is this.
fn mu_of(epsilon: f64, delta: Delta) -> Result<f64> {
    let (mut low, mut high) = (0.0, 100.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if gdp_epsilon(middle, delta)?.get() < epsilon { low = middle } else { high = middle }
    }
    Ok(high)
}

/// The experiment.
pub fn report() -> Report {
    let setting = format!(
        "{CANARIES} canaries in or out by fair coins, failure probability {FAILURE}, seed {SEED}: noise N(0, 1) in {REPETITIONS} \
         audits at δ = 0, then known leakage in {KNOWN_REPETITIONS} audits each. A practice labeled finite-sample passes with \
         at most 5 % of wrong audits and three standard errors."
    );
    Report::filled(setting, fill)
}

fn fill(report: &mut Report) -> Result<()> {
    let zero = Delta::new(0.0)?;
    report.line("noise: audits that claim leakage");
    for row in measure(Scores::Normal(0.0), zero, [0.0, 0.0], REPETITIONS, false)? {
        let note = if row.valid { "" } else { "  (no guarantee: as other tools do)" };
        let line = format!(
            "{:<28} {}  {:>5} of {REPETITIONS}  {:>6.2} %{note}",
            row.name,
            row.quantity,
            row.wrong,
            100.0 * row.wrong as f64 / REPETITIONS as f64
        );
        report.judged(row.valid.then(|| row.wrong as f64 <= allowed(REPETITIONS)), line);
    }
    let small = Delta::new(1e-5)?;
    for epsilon in [0.5, 1.0, 4.0] {
        let response = [Scores::RandomizedResponse(epsilon)].map(|scores| (scores, zero, [epsilon, f64::INFINITY]));
        let mu = mu_of(epsilon, small)?;
        for (scores, delta, truth) in response.into_iter().chain([(Scores::Normal(mu), small, [epsilon, mu])]) {
            report.line("");
            report.line(format!("{scores:?}, ε = {epsilon} at δ = {}: wrong audits, mean bound", delta.get()));
            for row in measure(scores, delta, truth, KNOWN_REPETITIONS, true)? {
                let of = truth[usize::from(row.quantity == "μ")];
                let share =
                    if of.is_finite() { format!("{:>5.1} % of {of:.4}", 100.0 * row.mean / of) } else { String::new() };
                let line = format!("{:<28} {}  {:>4}  {:>7.4}  {share}", row.name, row.quantity, row.wrong, row.mean);
                report.claim(row.wrong as f64 <= allowed(KNOWN_REPETITIONS), line);
            }
        }
    }
    Ok(())
}
