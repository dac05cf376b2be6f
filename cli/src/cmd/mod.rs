//! The commands, each in one file: its help and options, its work, its document.

pub mod account;
mod added_point;
mod announcement;
pub mod audit_counts;
pub mod audit_mechanism;
pub mod audit_scores;
pub mod audit_stream;
pub mod audit_tokens;
pub mod audit_votes;
pub mod bench;
mod binned;
pub mod calibrate;
pub mod canaries;
mod checkpointing;
mod compared;
mod conclude;
mod defense_tuning;
pub mod defenses;
pub mod exact;
pub mod generate;
mod interruptible;
pub mod label_dp;
pub mod mechanisms;
pub mod membership;
mod modeled;
#[cfg(not(feature = "torch"))]
pub mod no_torch;
mod output_sets;
mod pace;
mod planned_recording;
pub mod property;
mod recorded_plan;
pub mod rerun;
pub mod schema;
pub mod self_check;
mod shadow_answers;
pub mod simulate;
mod stream_state;
mod student_membership;
pub mod suite;
mod suite_plan;
mod text_membership;
#[cfg(feature = "torch")]
pub mod torch;
pub mod verify;
mod vote_recording;
mod votes_options;

#[cfg(not(feature = "torch"))]
pub use no_torch as torch;

use self::label_dp::LabelDpCommand;
use self::property::PropertyCommand;
use self::self_check::{SelfCheckAudit, SelfCheckCommand};
use crate::args::Common;
use crate::command_line::{CommandLine, Program};
use clap::{CommandFactory, Parser, Subcommand};
use leakbound::error::Result;
use leakbound::study::Verdict;
use std::path::Path;

/// Bounds the privacy leakage of real mechanisms, from below and from above.
#[derive(Debug, Parser)]
#[command(
    name = "leakbound",
    version,
    about,
    max_term_width = 100,
    after_help = "Exit status: 0 done, 1 bad data or a failure of the system, 2 wrong usage, 3 a claim or a property is \
                  refuted; 129, 130 or 143 ended early, after saving what can be saved, by a hangup, Ctrl-C or a \
                  request to terminate (128 plus the number of the signal)."
)]
pub struct Cli {
    #[command(flatten)]
    pub common: Common,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    Exact(Box<exact::ExactOptions>),
    /// Lower bounds on leakage from recorded outputs
    #[command(subcommand)]
    Audit(AuditCommand),
    Account(account::AccountOptions),
    Calibrate(Box<calibrate::CalibrateOptions>),
    /// Audits of one training run: planned before it, concluded after it
    #[command(subcommand)]
    Canaries(canaries::CanariesCommand),
    /// Audits of label privacy
    #[command(subcommand)]
    LabelDp(label_dp::LabelDpCommand),
    /// Membership inference from recorded answers of shadow models, with bands and sample by sample
    #[command(subcommand)]
    Membership(membership::MembershipCommand),
    /// Property inference from the answers of a student
    #[command(subcommand)]
    Property(property::PropertyCommand),
    /// Check on simulated data with known leakage that bounds fail no more often than stated
    #[command(subcommand)]
    SelfCheck(self_check::SelfCheckCommand),
    Simulate(simulate::SimulateOptions),
    Merge(simulate::MergeOptions),
    Bench(bench::BenchOptions),
    Verify(verify::VerifyOptions),
    /// Train models and record their answers for the other commands to audit (needs the feature `torch`)
    #[cfg_attr(feature = "torch", command(subcommand))]
    Torch(torch::TorchCommand),
    Rerun(rerun::RerunOptions),
    Run(suite::SuiteOptions),
    Mechanisms(mechanisms::MechanismsOptions),
    Schema(schema::SchemaOptions),
    /// Print a completion script for a shell
    #[command(after_help = "Example:\n  leakbound completions bash > leakbound.bash")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    #[command(after_help = "Example:\n  leakbound man > leakbound.1")]
    Man,
}

/// The audits.
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    Counts(audit_counts::AuditCountsOptions),
    Confusion(audit_counts::ConfusionOptions),
    Scores(audit_scores::ScoresOptions),
    Votes(votes_options::VotesOptions),
    Stream(audit_stream::StreamOptions),
    Mechanism(Box<audit_mechanism::MechanismOptions>),
    Tokens(Box<audit_tokens::TokensOptions>),
}

impl CommandLine for Cli {
    fn common(&self) -> &Common {
        &self.common
    }

    fn common_mut(&mut self) -> &mut Common {
        &mut self.common
    }

    fn has_document(&self) -> bool {
        !matches!(self.command, Command::Schema(_) | Command::Completions { .. } | Command::Man)
    }
}

impl Program for Cli {
    fn run(&self) -> Result<Verdict> {
        let common = &self.common;
        let decided = |refuted| if refuted { Verdict::Refuted } else { Verdict::Passed };
        match &self.command {
            Command::Exact(options) => exact::run(common, options),
            Command::Account(options) => account::run(common, options),
            Command::Calibrate(options) => calibrate::run(common, options),
            Command::Audit(AuditCommand::Counts(options)) => audit_counts::run(common, options),
            Command::Audit(AuditCommand::Confusion(options)) => audit_counts::confusion(common, options),
            Command::Audit(AuditCommand::Scores(options)) => audit_scores::run(common, options),
            Command::Audit(AuditCommand::Votes(options)) => audit_votes::run(common, options),
            Command::Audit(AuditCommand::Stream(options)) => audit_stream::run(common, options),
            Command::Audit(AuditCommand::Mechanism(options)) => audit_mechanism::run(common, options),
            Command::Audit(AuditCommand::Tokens(options)) => audit_tokens::run(common, options),
            Command::Membership(command) => membership::run(common, command),
            Command::Canaries(command) => canaries::run(common, command),
            Command::LabelDp(LabelDpCommand::Memorization(options)) => label_dp::run(common, options),
            Command::LabelDp(LabelDpCommand::Mechanisms(options)) => label_dp::mechanisms(common, options),
            Command::LabelDp(LabelDpCommand::Compare(options)) => label_dp::compare(common, options),
            Command::Property(PropertyCommand::Distance(options)) => property::run(common, options),
            #[cfg(feature = "torch")]
            Command::Property(PropertyCommand::MetaClassifier(options)) => torch::weight_attacks::run(common, options),
            Command::SelfCheck(SelfCheckCommand::Audit(SelfCheckAudit::Counts(options))) => {
                self_check::run(common, options)
            }
            Command::SelfCheck(SelfCheckCommand::Audit(SelfCheckAudit::Scores(options))) => {
                audit_scores::self_check(common, options)
            }
            Command::Simulate(options) => simulate::run(common, options),
            Command::Merge(options) => simulate::merge(common, options),
            Command::Bench(options) => bench::run(common, options),
            Command::Verify(options) => verify::run(common, options),
            Command::Torch(command) => torch::run(common, command).map(decided),
            Command::Rerun(options) => rerun::run::<Self>(common, options),
            Command::Run(options) => suite::run::<Self>(common, options),
            Command::Mechanisms(options) => mechanisms::run(common, options),
            Command::Schema(options) => schema::run(common, options, Self::command()).map(decided),
            Command::Completions { shell } => generate::completions(common, *shell, Self::grouped()).map(decided),
            Command::Man => generate::man(common, Self::grouped()).map(decided),
        }
    }

    fn unrepeatable(&self) -> Option<&'static str> {
        match &self.command {
            Command::Bench(_) => Some("measures the speed of a machine"),
            Command::Torch(_) => Some("trains models and writes a recording"),
            Command::Rerun(_) | Command::Run(_) => Some("repeats other work"),
            Command::Audit(AuditCommand::Stream(options)) if options.kept.state.is_some() => {
                Some("has moved its state on")
            }
            _ if self.runs_program() => Some("runs another program"),
            _ => None,
        }
    }

    fn without_checkpoint(&mut self) -> &'static [&'static str] {
        let Command::Simulate(simulation) = &mut self.command else { return &[] };
        (simulation.kept.checkpoint, simulation.kept.resume) = (None, false);
        &["checkpoint", "resume"]
    }

    fn runs_program(&self) -> bool {
        match &self.command {
            Command::Verify(options) => options.program.is_some(),
            command => matches!(command, Command::Audit(AuditCommand::Mechanism(_))),
        }
    }

    fn studies(&self) -> Option<&Path> {
        if let Command::Run(options) = &self.command { Some(&options.file) } else { None }
    }
}
