//! `leakbound canaries`: audits of one training run, before it and after it.

use super::conclude::{Asked, conclude};
use crate::args::{CanariesCommand, CanaryAuditOptions, CanaryPlanOptions, Common};
use crate::output::Output;
use leakbound::audit::MembersScore;
use leakbound::record::{read_canary_plan, read_planned_scores};
use leakbound::report::one_line;
use leakbound::study::{AttackScores, CanaryAuditStudy, CanaryPlanStudy, Verdict};
use leakbound::{Error, Result};
use rand::TryRng;
use rand::rngs::SysRng;
use std::path::{Path, PathBuf};

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
        attacks.push(AttackScores { name: path.display().to_string(), scores });
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
