//! What is known of a command line below the parser: commands that run others (`rerun`, `run`), or that train by the
//! options of others, take any command line with these properties.

use crate::args::Common;
use clap::Parser;
use leakbound::Result;
use leakbound::study::Verdict;
use std::path::Path;

/// A command line that was read, with the options that all commands share.
pub trait CommandLine: Parser {
    fn common(&self) -> &Common;

    fn common_mut(&mut self) -> &mut Common;

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

    /// Has a command begin anew that would go on from a checkpoint: the options that this takes from it.
    fn without_checkpoint(&mut self) -> &'static [&'static str];

    /// Whether the command starts another program, which must not be left behind.
    fn runs_program(&self) -> bool;

    /// The file of studies that the command runs.
    fn studies(&self) -> Option<&Path>;
}
