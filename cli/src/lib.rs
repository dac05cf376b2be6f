//! The command `leakbound`, for a terminal and for programs that run its commands in their own process.
//!
//! [`main`] is the whole program: stdout is data, everything else goes to stderr. [`answer`] runs one command for
//! another program, with files in memory and a progress callback: the same parser, the same work, the same JSON to
//! the last digit.

mod answer;
mod args;
mod cmd;
mod embedded;
mod interruption;
mod options;
mod output;
mod session;
mod signals;
mod threads;
mod usage;

pub use self::answer::{Answer, Commands, Rejection, Request, answer};
pub use self::interruption::Interruption;
pub use self::session::{Ask, BlackBoxCall, Forms, Progress};

use self::args::{AuditCommand, Cli, Command, LabelDpCommand, PropertyCommand, SelfCheckAudit, SelfCheckCommand};
use self::threads::Alone;
use leakbound::error::Result;
use leakbound::study::Verdict;
use std::ffi::OsString;
use std::process::ExitCode;

/// A claim was refuted.
const REFUTED: u8 = 3;

/// Parses the arguments of the process, runs the command and prints: the program `leakbound`.
#[must_use]
pub fn main() -> ExitCode {
    ExitCode::from(run_program(std::env::args_os()))
}

/// The whole program with these arguments, of which the first is its name, in a process that does nothing else: its exit
/// status.
#[must_use]
pub fn run_program(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match usage::parse(arguments) {
        Ok(cli) => cli,
        Err(error) => return usage::explain(&error),
    };
    signals::make_limits_errors();
    // One line for a damaged file, not the report of a panic before it.
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !leakbound::record::is_panic_expected() {
            print(panic);
        }
    }));
    // What prints a text computes nothing.
    if cli.command.has_document() {
        match threads::start(cli.common.threads, Alone::Works) {
            Ok(fewer) => _ = fewer.map(|fewer| usage::warn(&fewer.sentence())),
            Err(error) => return usage::reject(&error, None),
        }
    }
    match run(&cli) {
        Ok(Verdict::Passed) => 0,
        Ok(Verdict::Refuted) => REFUTED,
        Ok(Verdict::Broken(line)) => usage::fail(&line),
        Err(error) => usage::reject(&error, cli.common.session.terminal().signal()),
    }
}

/// Runs the command; what it decides.
fn run(cli: &Cli) -> Result<Verdict> {
    let decided = |refuted| if refuted { Verdict::Refuted } else { Verdict::Passed };
    match &cli.command {
        Command::Exact(options) => cmd::exact::run(&cli.common, options),
        Command::Account(options) => cmd::account::run(&cli.common, options),
        Command::Calibrate(options) => cmd::calibrate::run(&cli.common, options),
        Command::Audit(AuditCommand::Counts(options)) => cmd::audit_counts::run(&cli.common, options),
        Command::Audit(AuditCommand::Confusion(options)) => cmd::audit_confusion::run(&cli.common, options),
        Command::Audit(AuditCommand::Scores(options)) => cmd::audit_scores::run(&cli.common, options),
        Command::Audit(AuditCommand::Votes(options)) => cmd::audit_votes::run(&cli.common, options),
        Command::Audit(AuditCommand::Stream(options)) => cmd::audit_stream::run(&cli.common, options),
        Command::Audit(AuditCommand::Mechanism(options)) => cmd::audit_mechanism::run(&cli.common, options),
        Command::Audit(AuditCommand::Tokens(options)) => cmd::audit_tokens::run(&cli.common, options),
        Command::Membership(command) => cmd::membership::run(&cli.common, command),
        Command::Canaries(command) => cmd::canaries::run(&cli.common, command),
        Command::LabelDp(LabelDpCommand::Memorization(options)) => cmd::label_dp::run(&cli.common, options),
        Command::LabelDp(LabelDpCommand::Mechanisms(options)) => cmd::label_mechanisms::run(&cli.common, options),
        Command::LabelDp(LabelDpCommand::Compare(options)) => cmd::label_dp::compare(&cli.common, options),
        Command::Property(PropertyCommand::Distance(options)) => cmd::property::run(&cli.common, options),
        #[cfg(feature = "torch")]
        Command::Property(PropertyCommand::MetaClassifier(options)) => cmd::meta_classifier::run(&cli.common, options),
        Command::SelfCheck(SelfCheckCommand::Audit(SelfCheckAudit::Counts(options))) => {
            cmd::self_check::run(&cli.common, options)
        }
        Command::SelfCheck(SelfCheckCommand::Audit(SelfCheckAudit::Scores(options))) => {
            cmd::self_check_scores::run(&cli.common, options)
        }
        Command::Simulate(options) => cmd::simulate::run(&cli.common, options),
        Command::Merge(options) => cmd::merge::run(&cli.common, options),
        Command::Bench(options) => cmd::bench::run(&cli.common, options),
        Command::Verify(options) => cmd::verify::run(&cli.common, options),
        Command::Torch(command) => cmd::torch::run(&cli.common, command).map(decided),
        Command::Rerun(options) => cmd::rerun::run(&cli.common, options, run),
        Command::Run(options) => cmd::suite::run(&cli.common, options, run),
        Command::Mechanisms => cmd::mechanisms::run(&cli.common).map(decided),
        Command::Schema(options) => cmd::schema::run(&cli.common, options).map(decided),
        Command::Completions { shell } => cmd::generate::completions(&cli.common, *shell).map(decided),
        Command::Man => cmd::generate::man(&cli.common).map(decided),
    }
}
