//! What is known of a command line below the parser: commands that run others (`rerun`, `run`), or that train by the
//! options of others, take any command line with these properties.

use crate::args::Common;
use clap::{Arg, Args, Parser};
use leakbound::Result;
use leakbound::study::Verdict;
use std::path::Path;

/// A command line that was read, with the options that all commands share.
pub trait CommandLine: Parser {
    fn common(&self) -> &Common;

    fn common_mut(&mut self) -> &mut Common;

    /// The parser, with the options of every help in groups.
    fn grouped() -> clap::Command {
        let shared = Common::augment_args(clap::Command::new("shared"));
        grouped(Self::command(), &shared.get_arguments().cloned().collect::<Vec<_>>())
    }

    /// Whether the command has a result with a document, unlike those that print a text for a shell.
    fn has_document(&self) -> bool {
        true
    }
}

/// A command line of the whole program.
pub trait Program: CommandLine {
    /// Runs the command; what it decides.
    fn run(&self) -> Result<Verdict>;

    /// Why a command is not repeated, if it does more than read files and compute.
    fn unrepeatable(&self) -> Option<&'static str>;

    /// Makes a command start over that would resume from a checkpoint: the options that this takes from it.
    fn without_checkpoint(&mut self) -> &'static [&'static str];

    /// Whether the command starts another program, which must not be left behind.
    fn runs_program(&self) -> bool;

    /// The file of studies that the command runs.
    fn studies(&self) -> Option<&Path>;
}

/// Options that are rarely needed; the short help leaves them out.
const ADVANCED: &str = "Advanced";
/// The groups of options in a help, after those of the command itself.
const GROUPS: [&str; 3] = ["Bounds", "Output", ADVANCED];

/// A command and those below it, with their options in the order of the groups. The shared options are added here: clap
/// would add them after all others, and show groups in the order in which it meets them.
fn grouped(command: clap::Command, shared: &[Arg]) -> clap::Command {
    let own: Vec<Arg> = command.get_arguments().cloned().collect();
    let missing = shared.iter().filter(|shared| own.iter().all(|own| own.get_id() != shared.get_id())).cloned();
    let command = command.args(missing);
    let mut sorted: Vec<Arg> = command.get_arguments().cloned().collect();
    sorted.sort_by_key(|argument| argument.get_help_heading().map(|own| GROUPS.iter().position(|group| *group == own)));
    let mut sorted = sorted.into_iter().enumerate().map(|(place, argument)| {
        let rare = argument.get_help_heading() == Some(ADVANCED);
        argument.display_order(place).hide_short_help(rare)
    });
    let command = command.mut_args(|argument| sorted.next().unwrap_or(argument));
    command.mut_subcommands(|below| grouped(below, shared))
}
