//! The parser of the program: its commands, and which of them does what.

use crate::args::Common;
use crate::cmd;
use crate::cmd::label_dp::LabelDpCommand;
use crate::cmd::property::PropertyCommand;
use crate::cmd::self_check::{SelfCheckAudit, SelfCheckCommand};
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
    /// Exact leakage of one answer of a mechanism between two datasets
    #[command(after_help = "Examples:\n  leakbound exact --histogram 14,12,10,8,6 --neighbor 13,13,10,8,6 \
                            --noise gaussian:2 --orders 2,10\n  leakbound exact --mechanism exponential:sigma=2 \
                            --histogram 3,1,4,1,5 --worst-neighbor moved\n  leakbound exact --mechanism \
                            subsampled-gaussian:sigma=2,rate=0.01 --deltas 1e-5\n\nA mechanism whose output is a \
                            number, such as gaussian, has the data 0 without a record and 1 with it. Its outputs are \
                            cut into bins, so that all values are lower ends, at most those of the numbers \
                            themselves.\n\nTheorems stand beside the exact values where the two datasets are \
                            neighbors as the mechanism means it.")]
    Exact(Box<cmd::exact::ExactOptions>),
    /// Lower bounds on leakage from recorded outputs
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Upper bounds on the total leakage of all answers: accountants, exact costs, and a budget spent query by query
    #[command(after_help = "Examples:\n  leakbound account fashion_votes.npz --noise gaussian:40 --delta 1e-5\n  \
                            leakbound account fashion_votes.npz --noise gaussian:40 --threshold 200 --threshold-noise \
                            gaussian:150 --budget 1,2,3,5\n  leakbound account pate.toml --delta 1e-6")]
    Account(cmd::account::AccountOptions),
    /// The least noise that meets a goal: epsilon at delta, mu, or what any attacker achieves
    #[command(
        after_help = "Examples:\n  leakbound calibrate --mechanism 'gaussian:sigma=?' --epsilon 1 --delta 1e-6\n  \
                            leakbound calibrate --mechanism 'subsampled-gaussian:sigma=?,rate=0.01' --times 1000 \
                            --epsilon 2\n  leakbound calibrate --mechanism 'subsampled-gaussian:sigma=?,rate=0.01' \
                            --times 1000 --tpr 0.02 --fpr 0.01\n\nThe goal holds for certain at the scale that is \
                            printed, against every neighbor and in both directions. Mechanisms on votes are bounded by \
                            their theorems for all votes."
    )]
    Calibrate(Box<cmd::calibrate::CalibrateOptions>),
    /// Audits of one training run: planned before it, concluded after it
    #[command(subcommand)]
    Canaries(cmd::canaries::CanariesCommand),
    /// Audits of label privacy
    #[command(subcommand)]
    LabelDp(cmd::label_dp::LabelDpCommand),
    /// Membership inference from recorded answers of shadow models, with bands and sample by sample
    #[command(subcommand)]
    Membership(cmd::membership::MembershipCommand),
    /// Property inference from the answers of a student
    #[command(subcommand)]
    Property(cmd::property::PropertyCommand),
    /// Check on simulated data with known leakage that bounds fail no more often than stated
    #[command(subcommand)]
    SelfCheck(cmd::self_check::SelfCheckCommand),
    /// Count simulated outputs of a scenario in both worlds
    #[command(
        after_help = "Examples:\n  leakbound simulate pate.toml --samples 1e8 --format json --output counts.json\n  \
                            leakbound simulate pate.toml --samples 1e10 --checkpoint pate.checkpoint --resume\n  \
                            leakbound simulate pate.toml --shard 1/4 --format json --output part1.json\n\n\
                            `leakbound audit counts` reads the JSON and CSV forms."
    )]
    Simulate(cmd::simulate::SimulateOptions),
    /// Add up the shards of one simulation
    #[command(after_help = "Example:\n  leakbound merge part1.json part2.json part3.json part4.json --format json")]
    Merge(cmd::simulate::MergeOptions),
    /// Measure simulated outputs per second on this machine
    #[command(after_help = "Examples:\n  leakbound bench --work pate --seconds 2\n  \
                            leakbound bench --sweep --report speed.html\n\nA sweep of all takes about a minute.")]
    Bench(cmd::bench::BenchOptions),
    /// Test an accountant against exact distributions and find the smallest counterexample
    #[command(after_help = "Examples:\n  leakbound verify --accountant gnmax-data-dependent\n  leakbound verify \
                            --program 'python3 examples/accountant.py' --mechanism gnmax\n\nA request is a line of \
                            JSON such as {\"mechanism\": \"gnmax\", \"sigma\": 2, \"histogram\": [3, 1], \
                            \"repetitions\": 1, \"order\": 8}, with delta (the answer is epsilon) or epsilon (the \
                            answer is delta) in the place of order; the answer is {\"value\": 2} or {\"error\": \
                            \"reason\"}.\n\nMechanisms that need more name it: subsampled-gaussian has rate; \
                            confident-gnmax has threshold, threshold_sigma and threshold_form (max or per-class); \
                            conversion has rdp and rdp_order in the place of sigma; smooth-sensitivity has beta; gnss, a \
                            number f(D) with noise of sigma times its beta-smooth sensitivity, has beta, step = \
                            |f(D) - f(D')|, width and neighbor_width = the smooth sensitivities of D and D', as in \
                            {\"mechanism\": \"gnss\", \"sigma\": 5, \"beta\": 0.02, \"step\": 0.98, \"width\": 1, \
                            \"neighbor_width\": 0.981, \"histogram\": [0], \"repetitions\": 1, \"order\": 20}; claims \
                            are about all pairs.\n\nThe program is ended with everything that it started, however this command \
                            ends; processes that make a session of their own, as daemons do, live on.\n\nExit status 3 \
                            if a property is refuted.")]
    Verify(cmd::verify::VerifyOptions),
    /// Train models and record their answers for the other commands to audit (needs the feature `torch`)
    #[cfg_attr(feature = "torch", command(subcommand))]
    Torch(cmd::torch::TorchCommand),
    /// Repeat a result from its JSON document and compare every value
    #[command(
        after_help = "Example:\n  leakbound audit counts counts.csv --format json --output audit.json\n  leakbound \
                            rerun audit.json\n\nThe files that the document was made from must be where they were, \
                            unchanged (SHA-256).\n\nExit status 3 if a value differs."
    )]
    Rerun(cmd::rerun::RerunOptions),
    /// Run the studies of a file one after the other, for continuous integration
    #[command(after_help = "A file has one table for each study:\n\n  [[study]]\n  name = \"four teachers\"\n  \
                            command = \"exact\"\n  histogram = [3, 1]\n  neighbor = [2, 2]\n  noise = \
                            \"gaussian:2\"\n  claim-epsilon = 1.5\n\nBeside name and command it holds the options of the \
                            command; paths are relative to the folder of the file.\n\nExit status 1 if a study fails, 3 \
                            if a claim is refuted.\n\nExample:\n  leakbound run studies.toml --format json")]
    Run(cmd::suite::SuiteOptions),
    /// List the mechanisms with their data, neighbors and an example of their text form
    #[command(after_help = "Example:\n  leakbound mechanisms --format json")]
    Mechanisms,
    /// Print the options of commands and the JSON Schema of their documents
    #[command(
        after_help = "Example:\n  leakbound schema exact > exact.json\n\nWithout COMMAND all commands are printed. Each has its options, with type, default and \
                            choices, and the JSON Schema of what it prints with --format json."
    )]
    Schema(cmd::schema::SchemaOptions),
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
    /// Audit recorded output counts, or raw outputs, of two worlds
    #[command(after_help = "Files: CSV or JSON with columns outcome,count,count_neighbor[,query], or raw outputs \
                            with columns world,output (world: s or s_prime).\n\nExample:\n  leakbound audit counts \
                            counts.csv --orders 2,10 --delta 1e-5 --pilot-fraction 0.1")]
    Counts(cmd::audit_counts::AuditCountsOptions),
    /// Audit the confusion matrix of a membership attack
    #[command(after_help = "Example:\n  leakbound audit confusion --tp 90 --fn 10 --fp 5 --tn 95 --delta 1e-5")]
    Confusion(cmd::audit_counts::ConfusionOptions),
    /// Audit the scores of an attack on canaries: lower bounds of epsilon, mu and delta, or of one training run
    #[command(after_help = "Examples:\n  leakbound audit scores canaries.csv --delta 1e-5\n  leakbound audit scores \
                            --members in.npy --non-members out.npy --selection split\n  leakbound audit scores \
                            canaries.csv --one-run --guesses 100,100\n\nA file has the columns score,member (1 for a \
                            canary that was trained on); high scores mean members unless --flip is given.")]
    Scores(cmd::audit_scores::ScoresOptions),
    /// Audit recorded teacher votes: simulated outputs, lower bounds, exact leakage and accountants side by side
    #[command(after_help = "Example:\n  leakbound audit votes fashion_votes.npz --model pate --adversary pois-advq \
                            --noise gaussian:40 --samples 1e6")]
    Votes(cmd::audit_votes::VotesOptions),
    /// Audit a stream of raw outputs: bounds valid at any time; stops as soon as a claim is refuted
    #[command(after_help = "Example:\n  my-mechanism | leakbound audit stream - --claim-rdp 2:0.05\n\nEach line is \
                            `s,OUTPUT` or `s_prime,OUTPUT` below the header `world,output`. Outputs of one world must \
                            be independent, and which world is asked next must not depend on them.\n\nWith --state a batch is \
                            counted once: a run that was ended in any way is repeated with the same input, and an \
                            input that was counted before is rejected.")]
    Stream(cmd::audit_stream::StreamOptions),
    /// Run a program on neighboring datasets, find where it leaks, and bound it; refute what is claimed of it
    #[command(
        after_help = "Example:\n  leakbound audit mechanism --program 'python3 examples/noisy_count.py 1.5' --dataset \
                            '[1, 1, 1]' --relation add-remove --claim-epsilon 1 --delta 0\n\nA request is a line of \
                            JSON such as {\"id\": 7, \"dataset\": [1, 1, 1], \"runs\": 1000, \"seed\": 123}; the answer is \
                            {\"id\": 7, \"outputs\": [...]} or {\"id\": 7, \"error\": \"reason\"}. An output is a number, \
                            string, boolean, null, or an array or object of them. Outputs must be independent.\n\nThe \
                            program is ended with everything that it started, however this command ends; processes that \
                            make a session of their own, as daemons do, live on.\n\nExit status 3 if a claim is refuted."
    )]
    Mechanism(Box<cmd::audit_mechanism::MechanismOptions>),
    /// Audit recorded next tokens of an ensemble of language models: exact leakage of each member, and lower bounds
    #[command(after_help = "Files: npz, safetensors or a folder of .npy with `logits`, `log_probabilities` or \
                            `probabilities` [position, member, token], the same of a public model as `public_logits` and \
                            so on [position, token], and what was answered as `tokens` [position]. Planted sequences \
                            are `canary` [position], the sequence that a token is a part of or -1, and `planted` \
                            [sequence], the member that was trained on it.\n\nNeighbors are ensembles of which one lacks a \
                            member.\n\nExample:\n  leakbound audit tokens ensemble.npz --mechanism \
                            mixed-tokens:order=3,radius=0.05 --report tokens.html\n\nExit status 3 if a claim is refuted.")]
    Tokens(Box<cmd::audit_tokens::TokensOptions>),
}

impl CommandLine for Cli {
    fn common(&self) -> &Common {
        &self.common
    }

    fn common_mut(&mut self) -> &mut Common {
        &mut self.common
    }

    fn has_document(&self) -> bool {
        !matches!(self.command, Command::Mechanisms | Command::Schema(_) | Command::Completions { .. } | Command::Man)
    }
}

impl Program for Cli {
    fn run(&self) -> Result<Verdict> {
        let common = &self.common;
        let decided = |refuted| if refuted { Verdict::Refuted } else { Verdict::Passed };
        match &self.command {
            Command::Exact(options) => cmd::exact::run(common, options),
            Command::Account(options) => cmd::account::run(common, options),
            Command::Calibrate(options) => cmd::calibrate::run(common, options),
            Command::Audit(AuditCommand::Counts(options)) => cmd::audit_counts::run(common, options),
            Command::Audit(AuditCommand::Confusion(options)) => cmd::audit_counts::confusion(common, options),
            Command::Audit(AuditCommand::Scores(options)) => cmd::audit_scores::run(common, options),
            Command::Audit(AuditCommand::Votes(options)) => cmd::audit_votes::run(common, options),
            Command::Audit(AuditCommand::Stream(options)) => cmd::audit_stream::run(common, options),
            Command::Audit(AuditCommand::Mechanism(options)) => cmd::audit_mechanism::run(common, options),
            Command::Audit(AuditCommand::Tokens(options)) => cmd::audit_tokens::run(common, options),
            Command::Membership(command) => cmd::membership::run(common, command),
            Command::Canaries(command) => cmd::canaries::run(common, command),
            Command::LabelDp(LabelDpCommand::Memorization(options)) => cmd::label_dp::run(common, options),
            Command::LabelDp(LabelDpCommand::Mechanisms(options)) => cmd::label_dp::mechanisms(common, options),
            Command::LabelDp(LabelDpCommand::Compare(options)) => cmd::label_dp::compare(common, options),
            Command::Property(PropertyCommand::Distance(options)) => cmd::property::run(common, options),
            #[cfg(feature = "torch")]
            Command::Property(PropertyCommand::MetaClassifier(options)) => {
                cmd::torch::weight_attacks::run(common, options)
            }
            Command::SelfCheck(SelfCheckCommand::Audit(SelfCheckAudit::Counts(options))) => {
                cmd::self_check::run(common, options)
            }
            Command::SelfCheck(SelfCheckCommand::Audit(SelfCheckAudit::Scores(options))) => {
                cmd::audit_scores::self_check(common, options)
            }
            Command::Simulate(options) => cmd::simulate::run(common, options),
            Command::Merge(options) => cmd::simulate::merge(common, options),
            Command::Bench(options) => cmd::bench::run(common, options),
            Command::Verify(options) => cmd::verify::run(common, options),
            Command::Torch(command) => cmd::torch::run(common, command).map(decided),
            Command::Rerun(options) => cmd::rerun::run::<Self>(common, options),
            Command::Run(options) => cmd::suite::run::<Self>(common, options),
            Command::Mechanisms => cmd::mechanisms::run(common).map(decided),
            Command::Schema(options) => cmd::schema::run(common, options, Self::command()).map(decided),
            Command::Completions { shell } => cmd::generate::completions(common, *shell, Self::command()).map(decided),
            Command::Man => cmd::generate::man(common, Self::command()).map(decided),
        }
    }

    fn unrepeatable(&self) -> Option<&'static str> {
        match &self.command {
            Command::Bench(_) => Some("measures the speed of a machine"),
            Command::Torch(_) => Some("trains models and writes a recording"),
            Command::Rerun(_) | Command::Run(_) => Some("repeats other work"),
            Command::Audit(AuditCommand::Stream(options)) if options.state.is_some() => Some("has moved its state on"),
            _ if self.runs_program() => Some("runs another program"),
            _ => None,
        }
    }

    fn without_checkpoint(&mut self) -> &'static [&'static str] {
        let Command::Simulate(simulation) = &mut self.command else { return &[] };
        (simulation.checkpoint, simulation.resume) = (None, false);
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
