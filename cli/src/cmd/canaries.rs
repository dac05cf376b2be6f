//! `leakbound canaries`: audits of one training run, before it and after it.

use super::audit_scores::guesses;
use super::conclude::{Asked, conclude};
use crate::args::Common;
use crate::args::values::{Choice, Names, Parsed, choice, delta, epsilon, failure_probability, mu, samples, whole};
use crate::output::Output;
use clap::{ArgGroup, Args, Subcommand};
use leakbound::audit::{GuessSelection, GuessedSides, MembersScore, OneRunGuesses};
use leakbound::error::one_line;
use leakbound::mechanism::{self, Mechanism};
use leakbound::quantity::{Delta, Epsilon, FailureProbability};
use leakbound::record::{TrainingClaim, read_canary_plan, read_planned_scores};
use leakbound::study::{CanaryAttackScores, CanaryAuditStudy, CanaryPlanStudy, PlannedGuesses, Verdict};
use leakbound::{Error, Result};
use rand::TryRng;
use rand::rngs::SysRng;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Audits of one training run.
#[derive(Debug, Subcommand)]
pub enum CanariesCommand {
    /// Plan the audit of one training run: fair coins of its canaries, guesses, and what to expect
    #[command(after_help = "Examples:\n  leakbound canaries plan --canaries 1000 --mechanism \
                            subsampled-gaussian:sigma=1,rate=0.01 --times 1000 --format json --output plan.json\n  \
                            leakbound canaries plan --canaries 5000 --claim-epsilon 4 --delta 1e-6\n\n`plan.coins` of \
                            the JSON form has a digit for each canary: train on those with a 1. The CSV form is \
                            canary,member.\n\nWithout --seed the coins are drawn by the operating system. Keep the plan from anyone who scores the canaries, and take a new one for every run.\n\nClaims are about a record that is added or removed, as canaries are.")]
    Plan(CanaryPlanOptions),
    /// Bound the leakage of a training run from the scores of its planned canaries
    #[command(
        after_help = "Example:\n  leakbound canaries audit plan.json scores.npy\n\nA numpy array (.npy) has one \
                            score for each canary in the order of the coins, also for those that were left out. A \
                            recording of `leakbound torch dpsgd --canary-plan` (.npz) has them too. A CSV \
                            file has the columns canary,score with canaries counted from 0. Which scores mean members, high ones \
                            or low ones, is a part of the plan, and so is how many sets of scores there may be: the best of more is not covered by its failure probability.\n\nExit status 3 if the claim is refuted."
    )]
    Audit(CanaryAuditOptions),
}

#[derive(Debug, Args, Serialize)]
#[command(group = ArgGroup::new("claim").args(["claim_epsilon", "claim_mu", "mechanism"]))]
pub struct CanaryPlanOptions {
    /// Number of canaries, each in or out of the training set by its own coin
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1, 1_000_000, "10^6"), allow_hyphen_values = true)]
    pub canaries: u64,
    /// Numbers of guesses: this many of the highest scores are called members, this many of the lowest non-members
    #[arg(long, value_name = "K+,K-", value_parser = guesses, allow_hyphen_values = true)]
    #[serde(serialize_with = "super::audit_scores::serialize_guesses")]
    pub guesses: Option<OneRunGuesses>,
    /// How the numbers of guesses are chosen, if none are given: nested, or best for a claim of μ or of Gaussian noise
    #[arg(long, value_parser = choice(GUESSES), conflicts_with = "guesses", help_heading = "Advanced")]
    pub guess_selection: Option<Choice<PlannedGuesses>>,
    /// Low scores mean members, as with losses
    #[arg(long, visible_alias = "low-is-member")]
    pub flip: bool,
    /// Sets of scores to be audited: each gets a share of the failure probability, and the largest bound holds
    #[arg(long, value_name = "A", value_parser = whole::<u64>(1, 1_000, "1000"), default_value = "1", allow_hyphen_values = true)]
    pub attacks: u64,
    /// Delta of the bound and of --claim-epsilon
    #[arg(long, value_name = "D", value_parser = delta, default_value = "1e-5", allow_hyphen_values = true, help_heading = "Bounds")]
    pub delta: Delta,
    /// Failure probability: that any bound is wrong
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", allow_hyphen_values = true, help_heading = "Bounds")]
    pub failure_probability: FailureProbability,
    /// Claim: training is (E, delta)-differentially private
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true, help_heading = "Bounds")]
    pub claim_epsilon: Option<Epsilon>,
    /// Claim: training is M-GDP
    #[arg(long, value_name = "M", value_parser = mu, allow_hyphen_values = true, help_heading = "Advanced")]
    pub claim_mu: Option<f64>,
    /// Claim: training reveals no more about a record than this mechanism, run --times times
    #[arg(long, value_name = "NAME:PARAMETER=VALUE,...", value_parser = claimed)]
    #[serde(serialize_with = "crate::args::values::some_written")]
    pub mechanism: Option<Arc<dyn Mechanism>>,
    /// How often the mechanism is run: the steps of a training
    #[arg(long, value_name = "N", value_parser = samples, default_value = "1", requires = "mechanism", allow_hyphen_values = true)]
    pub times: u64,
    /// Simulated audits behind the forecast
    #[arg(long, value_name = "R", value_parser = whole::<u64>(1, 100_000, "10^5"), default_value = "200", allow_hyphen_values = true, help_heading = "Advanced")]
    pub repetitions: u64,
}

#[derive(Debug, Args, Serialize)]
pub struct CanaryAuditOptions {
    /// The plan: the JSON form of `leakbound canaries plan`
    #[arg(value_name = "PLAN.json")]
    pub plan: PathBuf,
    /// A score for each canary: .npy, .npz of a training, or CSV with the columns canary,score; one file for each set
    /// of scores in the plan
    #[arg(value_name = "SCORES", required = true)]
    pub scores: Vec<PathBuf>,
    /// SHA-256 of the plan as it was deposited before training, or at least its first 8 digits; any other plan is an
    /// error
    #[arg(long, value_name = "HEX", value_parser = digest)]
    pub plan_sha256: Option<String>,
    /// Simulated audits behind the forecast
    #[arg(long, value_name = "R", value_parser = whole::<u64>(1, 100_000, "10^5"), default_value = "200", allow_hyphen_values = true, help_heading = "Advanced")]
    pub repetitions: u64,
}

/// How numbers of guesses are chosen.
const GUESSES: Names<PlannedGuesses> = &[
    (
        "best",
        "Those with the largest forecast of all that can refute the claim, declared in the plan",
        PlannedGuesses::BestForecast,
    ),
    ("split", "On a random half; the other half is bounded", PlannedGuesses::Selection(GuessSelection::Split)),
    (
        "paid-for",
        "The best of a fixed list that shares the failure probability",
        PlannedGuesses::Selection(GuessSelection::PaidFor),
    ),
    (
        "nested",
        "All clear scores simultaneously, the clearer ones more often: for epsilon alone, and its largest bound; with \
         a claim, at members alone where that makes the forecast larger",
        PlannedGuesses::Nested,
    ),
    (
        "nested-members",
        "Likewise, but all guesses are at members",
        PlannedGuesses::Selection(GuessSelection::Nested(GuessedSides::Members)),
    ),
];

impl CanaryPlanOptions {
    /// The claim meant.
    pub fn claim(&self) -> Option<TrainingClaim> {
        let mechanism = self.mechanism.as_ref();
        let mechanism =
            mechanism.map(|mechanism| TrainingClaim::Mechanism { mechanism: Arc::clone(mechanism), times: self.times });
        let epsilon = self.claim_epsilon.map(TrainingClaim::Epsilon);
        epsilon.or(self.claim_mu.map(TrainingClaim::Mu)).or(mechanism)
    }

    /// The direction meant.
    pub const fn members_score(&self) -> MembersScore {
        if self.flip { MembersScore::Low } else { MembersScore::High }
    }

    /// The guesses meant.
    pub fn planned_guesses(&self) -> PlannedGuesses {
        let claims_mu = self.claim().is_some_and(|claim| claim.mu().is_some());
        match (self.guesses, &self.guess_selection) {
            (Some(guesses), _) => PlannedGuesses::Selection(GuessSelection::Declared(guesses)),
            (None, Some(chosen)) => chosen.value,
            (None, None) if claims_mu => PlannedGuesses::BestForecast,
            (None, None) => PlannedGuesses::Nested,
        }
    }
}

fn digest(text: &str) -> Parsed<String> {
    let digits = text.to_ascii_lowercase();
    if (8..=64).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        Ok(digits)
    } else {
        Err("expected 8 to 64 hexadecimal digits".into())
    }
}

fn claimed(text: &str) -> Parsed<Arc<dyn Mechanism>> {
    mechanism::parse(text).map_err(|error| error.to_string())
}

pub fn run(common: &Common, command: &CanariesCommand) -> Result<Verdict> {
    match command {
        CanariesCommand::Plan(options) => plan(common, options),
        CanariesCommand::Audit(options) => audit(common, options),
    }
}

fn plan(common: &Common, options: &CanaryPlanOptions) -> Result<Verdict> {
    let output = Output::open(common, &[])?;
    let study = CanaryPlanStudy {
        canaries: options.canaries,
        seed: if common.seed_given { common.seed } else { drawn_seed()? },
        guesses: options.planned_guesses(),
        members_score: options.members_score(),
        attacks: usize::try_from(options.attacks).unwrap_or(usize::MAX),
        delta: options.delta,
        failure_probability: options.failure_probability,
        claim: options.claim(),
        repetitions: options.repetitions,
    };
    // The seed is as secret as the coins.
    let title = format!("Plan for the audit of one training run with {} canaries", study.canaries);
    conclude(common, output, &study, Asked { options, inputs: Vec::new(), title, warnings: Vec::new() })
}

fn audit(common: &Common, options: &CanaryAuditOptions) -> Result<Verdict> {
    let mut read: Vec<&Path> = vec![&options.plan];
    read.extend(options.scores.iter().map(PathBuf::as_path));
    let output = Output::open(common, &read)?;
    let (plan, plan_input) = read_canary_plan(&options.plan)?;
    if let Some(deposited) = &options.plan_sha256 {
        let found = plan.recorded().sha256;
        if !found.starts_with(deposited.as_str()) {
            let path = one_line(&options.plan.to_string_lossy());
            let reason =
                format!("{path} has the SHA-256 {found}, expected {deposited}: it is not the plan that was deposited");
            return Err(Error::Rejected { operation: "audit of a planned run", reason });
        }
    }
    let mut inputs = vec![plan_input];
    let mut attacks = Vec::new();
    for path in &options.scores {
        let (scores, input) = read_planned_scores(path, &plan, common.memory())?;
        inputs.push(input);
        attacks.push(CanaryAttackScores { name: path.display().to_string(), scores });
    }
    let title = format!(
        "Audit of one training run by {} canaries of the plan {}, {} scores meaning members",
        plan.audit.canaries(),
        one_line(&options.plan.to_string_lossy()),
        match plan.audit.members_score() {
            MembersScore::High => "high",
            MembersScore::Low => "low",
        }
    );
    let study = CanaryAuditStudy { plan, attacks, repetitions: options.repetitions };
    conclude(common, output, &study, Asked { options, inputs, title, warnings: Vec::new() })
}

/// A seed that nobody knows: coins that can be guessed prove nothing. As every seed, below 2^53, which JSON keeps.
fn drawn_seed() -> Result<u64> {
    let drawn = SysRng.try_next_u64().map_err(|error| Error::Unavailable {
        operation: "coins of canaries",
        reason: format!("the operating system has no random numbers ({error}); give --seed"),
    })?;
    Ok(drawn >> 11)
}
