//! Command line arguments; every value is checked while it is parsed.

mod account;
mod calibrate;
mod canaries;
mod exact;
mod label_dp;
mod mechanism;
mod membership;
mod property;
mod schema;
mod scores;
mod stream;
mod threshold;
mod tokens;
mod votes;

pub use account::{AccountOptions, LossCalculus};
pub use calibrate::CalibrateOptions;
pub use canaries::{CanariesCommand, CanaryAuditOptions, CanaryPlanOptions};
pub use exact::ExactOptions;
pub use label_dp::{LabelCompareOptions, LabelDpCommand, LabelMechanismsOptions, MemorizationOptions};
pub use mechanism::{FeatureOption, MechanismOptions};
pub use membership::{
    AnswerOptions, AnswersName, CompareOptions, ComparedName, DefensesOptions, LevelName, LiraOptions, MeasureOptions,
    MembershipCommand, ModeName, PairsName, RecordingOptions, StudentMembershipOptions, StudyOptions, TextOptions,
    VarianceName, ViewsName,
};
pub use property::{DistanceOptions, PropertyCommand};
pub use schema::{Kind, SchemaOptions, is_list, kind, names};
pub use scores::{ScoreSource, ScoresOptions, SelfCheckScoresOptions};
pub use stream::{Repeated, StreamOptions};
pub use threshold::ThresholdOptions;
pub use tokens::TokensOptions;
pub use votes::{ModelName, Queries, VotesOptions};

use clap::{Args, Parser, Subcommand, ValueEnum};
use leakbound::audit::{BinRule, FailurePer};
use leakbound::bound::Claimed;
use leakbound::model::Composition;
use leakbound::quantity::{Delta, Epsilon, FailureProbability, Order};
use leakbound::record::MemoryBudget;
use leakbound::study::{Bounds, Claims, Methods};
use serde::Serialize;
use std::path::PathBuf;
use values::{
    Parsed, bins, bounded, claim_mu, claim_rdp, count, delta, epsilon, failure_probability, fraction, methods, number,
    orders, resamples, samples, seed, threads, whole,
};

#[cfg(not(feature = "torch"))]
mod no_torch;
mod self_check;
mod simulate;
#[cfg(feature = "torch")]
mod torch;
mod values;
mod verify;

#[cfg(not(feature = "torch"))]
pub use no_torch::TorchCommand;
pub use self_check::{SelfCheckAudit, SelfCheckCommand, SelfCheckOptions};
pub use simulate::{BenchOptions, MergeOptions, SimulateOptions};
#[cfg(feature = "torch")]
pub use torch::{
    CheckpointOptions, DataOptions, DpsgdOptions, DpsgdRunsOptions, LabelDpOptions, MetaClassifierOptions,
    PateFmOptions, PromptPateOptions, RecordedMetaClassifierOptions, ShadowOptions, StudentOptions, TeachersOptions,
    TorchCommand, TorchPropertyOptions, TorchTokensOptions, WeightAttackOptions,
};
pub use values::{Directions, MOST_THREADS, Orders};
pub use verify::VerifyOptions;

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
    /// Options of every command.
    #[command(flatten)]
    pub common: Common,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Debug, Args, Serialize)]
pub struct Common {
    /// Form of the result on stdout
    #[arg(long, value_enum, default_value = "text", global = true)]
    pub format: Format,
    /// Write the result to a file; an existing file is replaced only once the result is complete
    #[arg(long, value_name = "FILE", global = true)]
    pub output: Option<PathBuf>,
    /// Also write the result as one self-contained HTML page with figures
    #[arg(long, value_name = "FILE.html", global = true)]
    pub report: Option<PathBuf>,
    /// Also write the figures of --report FILE.html into this folder, as FILE-1.svg, FILE-2.svg, ...
    #[arg(long, value_name = "DIR", global = true)]
    pub figures: Option<PathBuf>,
    /// Seed of all random numbers; the same seed gives the same result on any number of threads
    #[arg(long, value_name = "N", default_value_t = 0, global = true, value_parser = seed, allow_hyphen_values = true)]
    pub seed: u64,
    /// Whether the seed was given on the command line; set after parsing
    #[arg(skip)]
    #[serde(skip)]
    pub seed_given: bool,
    /// The command, such as `audit counts`; set after parsing
    #[arg(skip)]
    #[serde(skip)]
    pub command: String,
    /// The caller's session; set after parsing
    #[arg(skip)]
    #[serde(skip)]
    pub session: super::session::Session,
    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", global = true, value_parser = threads, allow_hyphen_values = true)]
    pub threads: Option<usize>,
    /// Memory limit for input read from files, such as 4G [default: half of the free memory]
    #[arg(long, value_name = "SIZE", global = true, allow_hyphen_values = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_memory: Option<MemoryBudget>,
    /// No progress bar
    #[arg(long, global = true)]
    pub quiet: bool,
    /// No colors (also with the environment variable NO_COLOR)
    #[arg(long, global = true)]
    pub no_color: bool,
}

impl Common {
    /// The memory that input may take.
    pub fn memory(&self) -> MemoryBudget {
        self.max_memory.unwrap_or_default()
    }
}

/// Form of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Tables for a person
    Text,
    /// The documented JSON
    Json,
    /// One flat table
    Csv,
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
    Exact(Box<ExactOptions>),
    /// Lower bounds on leakage from recorded outputs
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Upper bounds on the total leakage of all answers: accountants, exact costs, and a budget spent query by query
    #[command(after_help = "Examples:\n  leakbound account fashion_votes.npz --noise gaussian:40 --delta 1e-5\n  \
                            leakbound account fashion_votes.npz --noise gaussian:40 --threshold 200 --threshold-noise \
                            gaussian:150 --budget 1,2,3,5\n  leakbound account pate.toml --delta 1e-6")]
    Account(AccountOptions),
    /// The least noise that meets a goal: epsilon at delta, mu, or what any attacker achieves
    #[command(
        after_help = "Examples:\n  leakbound calibrate --mechanism 'gaussian:sigma=?' --epsilon 1 --delta 1e-6\n  \
                            leakbound calibrate --mechanism 'subsampled-gaussian:sigma=?,rate=0.01' --times 1000 \
                            --epsilon 2\n  leakbound calibrate --mechanism 'subsampled-gaussian:sigma=?,rate=0.01' \
                            --times 1000 --tpr 0.02 --fpr 0.01\n\nThe goal holds for certain at the scale that is \
                            printed, against every neighbor and in both directions. Mechanisms on votes are bounded by \
                            their theorems for all votes."
    )]
    Calibrate(Box<CalibrateOptions>),
    /// Audits of one training run: planned before it, concluded after it
    #[command(subcommand)]
    Canaries(CanariesCommand),
    /// Audits of label privacy
    #[command(subcommand)]
    LabelDp(LabelDpCommand),
    /// Membership inference from recorded answers of shadow models, with bands and sample by sample
    #[command(subcommand)]
    Membership(MembershipCommand),
    /// Property inference from the answers of a student
    #[command(subcommand)]
    Property(PropertyCommand),
    /// Check on simulated data with known leakage that bounds fail no more often than stated
    #[command(subcommand)]
    SelfCheck(SelfCheckCommand),
    /// Count simulated outputs of a scenario in both worlds
    #[command(
        after_help = "Examples:\n  leakbound simulate pate.toml --samples 1e8 --format json --output counts.json\n  \
                            leakbound simulate pate.toml --samples 1e10 --checkpoint pate.checkpoint --resume\n  \
                            leakbound simulate pate.toml --shard 1/4 --format json --output part1.json\n\n\
                            `leakbound audit counts` reads the JSON and CSV forms."
    )]
    Simulate(SimulateOptions),
    /// Add up the shards of one simulation
    #[command(after_help = "Example:\n  leakbound merge part1.json part2.json part3.json part4.json --format json")]
    Merge(MergeOptions),
    /// Measure simulated outputs per second on this machine
    #[command(after_help = "Examples:\n  leakbound bench --work pate --seconds 2\n  \
                            leakbound bench --sweep --report speed.html\n\nA sweep of all takes about a minute.")]
    Bench(BenchOptions),
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
    Verify(VerifyOptions),
    /// Train models and record their answers for the other commands to audit (needs the feature `torch`)
    #[cfg_attr(feature = "torch", command(subcommand))]
    Torch(TorchCommand),
    /// Repeat a result from its JSON document and compare every value
    #[command(
        after_help = "Example:\n  leakbound audit counts counts.csv --format json --output audit.json\n  leakbound \
                            rerun audit.json\n\nThe files that the document was made from must be where they were, \
                            unchanged (SHA-256).\n\nExit status 3 if a value differs."
    )]
    Rerun(RerunOptions),
    /// Run the studies of a file one after the other, for continuous integration
    #[command(after_help = "A file has one table for each study:\n\n  [[study]]\n  name = \"four teachers\"\n  \
                            command = \"exact\"\n  histogram = [3, 1]\n  neighbor = [2, 2]\n  noise = \
                            \"gaussian:2\"\n  claim-epsilon = 1.5\n\nBeside name and command it holds the options of the \
                            command; paths are relative to the folder of the file.\n\nExit status 1 if a study fails, 3 \
                            if a claim is refuted.\n\nExample:\n  leakbound run studies.toml --format json")]
    Run(SuiteOptions),
    /// List the mechanisms with their data, neighbors and an example of their text form
    #[command(after_help = "Example:\n  leakbound mechanisms --format json")]
    Mechanisms,
    /// Print the options of commands and the JSON Schema of their documents
    #[command(
        after_help = "Example:\n  leakbound schema exact > exact.json\n\nWithout COMMAND all commands are printed. Each has its options, with type, default and \
                            choices, and the JSON Schema of what it prints with --format json."
    )]
    Schema(SchemaOptions),
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

impl Command {
    /// Whether the command has a result with a document, unlike those that print a text for a shell.
    pub const fn has_document(&self) -> bool {
        !matches!(self, Self::Mechanisms | Self::Schema(_) | Self::Completions { .. } | Self::Man)
    }
}

/// Options of `leakbound rerun`.
#[derive(Debug, Args, Serialize)]
pub struct RerunOptions {
    /// A document of any command, written with --format json
    #[arg(value_name = "RESULT.json")]
    pub file: PathBuf,
}

/// Options of `leakbound run`.
#[derive(Debug, Args, Serialize)]
pub struct SuiteOptions {
    /// The studies (TOML)
    #[arg(value_name = "STUDIES.toml")]
    pub file: PathBuf,
}

/// The audits.
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Audit recorded output counts, or raw outputs, of two worlds
    #[command(after_help = "Files: CSV or JSON with columns outcome,count,count_neighbor[,query], or raw outputs \
                            with columns world,output (world: s or s_prime).\n\nExample:\n  leakbound audit counts \
                            counts.csv --orders 2,10 --delta 1e-5 --pilot-fraction 0.1")]
    Counts(AuditCountsOptions),
    /// Audit the confusion matrix of a membership attack
    #[command(after_help = "Example:\n  leakbound audit confusion --tp 90 --fn 10 --fp 5 --tn 95 --delta 1e-5")]
    Confusion(ConfusionOptions),
    /// Audit the scores of an attack on canaries: lower bounds of epsilon, mu and delta, or of one training run
    #[command(after_help = "Examples:\n  leakbound audit scores canaries.csv --delta 1e-5\n  leakbound audit scores \
                            --members in.npy --non-members out.npy --selection split\n  leakbound audit scores \
                            canaries.csv --one-run --guesses 100,100\n\nA file has the columns score,member (1 for a \
                            canary that was trained on); high scores mean members unless --flip is given.")]
    Scores(ScoresOptions),
    /// Audit recorded teacher votes: simulated outputs, lower bounds, exact leakage and accountants side by side
    #[command(after_help = "Example:\n  leakbound audit votes fashion_votes.npz --model pate --adversary pois-advq \
                            --noise gaussian:40 --samples 1e6")]
    Votes(VotesOptions),
    /// Audit a stream of raw outputs: bounds valid at any time; stops as soon as a claim is refuted
    #[command(after_help = "Example:\n  my-mechanism | leakbound audit stream - --claim-rdp 2:0.05\n\nEach line is \
                            `s,OUTPUT` or `s_prime,OUTPUT` below the header `world,output`. Outputs of one world must \
                            be independent, and which world is asked next must not depend on them.\n\nWith --state a batch is \
                            counted once: a run that was ended in any way is repeated with the same input, and an \
                            input that was counted before is rejected.")]
    Stream(StreamOptions),
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
    Mechanism(Box<MechanismOptions>),
    /// Audit recorded next tokens of an ensemble of language models: exact leakage of each member, and lower bounds
    #[command(after_help = "Files: npz, safetensors or a folder of .npy with `logits`, `log_probabilities` or \
                            `probabilities` [position, member, token], the same of a public model as `public_logits` and \
                            so on [position, token], and what was answered as `tokens` [position]. Planted sequences \
                            are `canary` [position], the sequence that a token is a part of or -1, and `planted` \
                            [sequence], the member that was trained on it.\n\nNeighbors are ensembles of which one lacks a \
                            member.\n\nExample:\n  leakbound audit tokens ensemble.npz --mechanism \
                            mixed-tokens:order=3,radius=0.05 --report tokens.html\n\nExit status 3 if a claim is refuted.")]
    Tokens(Box<TokensOptions>),
}

/// What an audit bounds.
#[derive(Debug, Clone, Args, Serialize)]
pub struct BoundOptions {
    /// Rényi orders, such as 2,5 or 2..64
    #[arg(long, value_parser = orders, default_value = "2,4,8,16,32,64", allow_hyphen_values = true)]
    pub orders: Orders,
    /// Failure probability: that any number with a finite-sample guarantee is wrong
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", allow_hyphen_values = true)]
    pub failure_probability: FailureProbability,
    /// Scope of the failure probability: the whole answer, so that any number may be quoted, or each method on each
    /// query (answer, query)
    #[arg(long, value_name = "answer|query", default_value = "answer")]
    pub failure_per: FailurePer,
    /// Methods: auto (the sharpest valid ones, chosen before the counts are seen), all, or a list of two-cut-paper,
    /// two-cut-corner, two-cut-half-space, k-cut-goodman, k-cut-sison-glaz, k-cut-box, k-cut-variational, k-cut-region,
    /// bootstrap-two-cut, bootstrap-k-cut, e-process, clopper-pearson, jeffreys, joint-beta, katz-log, gdp
    #[arg(long, value_name = "NAME,...", value_parser = methods, default_value = "auto")]
    pub methods: Methods,
    /// Direction of the divergences
    #[arg(long, value_enum, default_value = "both")]
    pub direction: Directions,
    /// Resamples of the bootstrap methods
    #[arg(long, value_name = "N", value_parser = resamples, default_value = "10000", allow_hyphen_values = true)]
    pub resamples: usize,
    /// Claims to test
    #[command(flatten)]
    #[serde(flatten)]
    pub claims: ClaimOptions,
}

/// Options of `leakbound audit counts`.
#[derive(Debug, Args, Serialize)]
pub struct CountsOptions {
    /// Recorded counts or raw outputs
    pub file: PathBuf,
    /// What to bound
    #[command(flatten)]
    #[serde(flatten)]
    pub bound: BoundOptions,
    /// Choose the output sets from a pilot recording, which is not used for the bounds
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pilot_fraction", "distribution"])]
    pub pilot: Option<PathBuf>,
    /// Fraction of the recorded outputs to set aside as a pilot
    #[arg(long, value_name = "F", conflicts_with = "distribution", value_parser = fraction, allow_hyphen_values = true)]
    pub pilot_fraction: Option<f64>,
    /// Choose the output sets from the exact distribution: CSV or JSON with columns outcome,p,q[,query]
    #[arg(long, value_name = "FILE")]
    pub distribution: Option<PathBuf>,
}

/// Further results of an audit.
#[derive(Debug, Clone, Args, Serialize)]
pub struct FurtherOptions {
    /// Values of epsilon at which to bound delta from below; implies --trade-off
    #[arg(long, value_name = "E,...", value_delimiter = ',', value_parser = epsilon, allow_hyphen_values = true)]
    pub epsilons: Vec<Epsilon>,
    /// Also bound mu of Gaussian differential privacy and the whole trade-off curve
    #[arg(long)]
    pub trade_off: bool,
}

/// Options of `leakbound audit counts` alone; a self-check has the others too.
#[derive(Debug, Args, Serialize)]
pub struct AuditCountsOptions {
    /// The audit
    #[command(flatten)]
    #[serde(flatten)]
    pub audit: CountsOptions,
    /// Bins for numeric outputs: quantile:K (K equal shares of the pilot) or edges:A,B,...
    #[arg(long, value_name = "RULE", conflicts_with = "distribution", value_parser = bins, allow_hyphen_values = true)]
    pub bins: Option<BinRule>,
    /// Further results
    #[command(flatten)]
    #[serde(flatten)]
    pub further: FurtherOptions,
    /// How the queries compose: independent (independent outputs under both datasets), shared-teachers or per-query
    #[arg(long, value_name = "MODE", default_value = "per-query")]
    pub composition: Composition,
}

/// Options of `leakbound audit confusion`.
#[derive(Debug, Args, Serialize)]
pub struct ConfusionOptions {
    /// Members called members
    #[arg(long = "tp", value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub true_positives: u64,
    /// Members called non-members
    #[arg(long = "fn", value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub false_negatives: u64,
    /// Non-members called members
    #[arg(long = "fp", value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub false_positives: u64,
    /// Non-members called non-members
    #[arg(long = "tn", value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub true_negatives: u64,
    /// What to bound
    #[command(flatten)]
    #[serde(flatten)]
    pub bound: BoundOptions,
    /// Further results
    #[command(flatten)]
    #[serde(flatten)]
    pub further: FurtherOptions,
}

/// Claims of a mechanism's author; a refuted claim exits with status 3.
#[derive(Debug, Clone, Args, Serialize)]
pub struct ClaimOptions {
    /// Delta of epsilon bounds and of --claim-epsilon
    #[arg(long, value_name = "D", value_parser = delta, default_value = "1e-5", allow_hyphen_values = true)]
    pub delta: Delta,
    /// Claim: one answer is (E, delta)-differentially private
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true)]
    pub claim_epsilon: Option<Epsilon>,
    /// Claim: the Rényi divergence of one answer at ORDER is at most VALUE
    #[arg(long, value_name = "ORDER:VALUE", value_parser = claim_rdp, allow_hyphen_values = true)]
    pub claim_rdp: Vec<(Order, Claimed)>,
    /// Claim: one answer is M-GDP
    #[arg(long, value_name = "M", value_parser = claim_mu, allow_hyphen_values = true)]
    pub claim_mu: Option<Claimed>,
}

impl ClaimOptions {
    /// The value of `--delta` where none is given.
    pub const DELTA: f64 = 1e-5;

    /// The claims that a study tests.
    pub fn claims(&self) -> Claims {
        Claims {
            epsilon: self.claim_epsilon.map(|epsilon| (epsilon, self.delta)),
            rdp: self.claim_rdp.clone(),
            mu: self.claim_mu,
        }
    }
}

impl BoundOptions {
    /// What a study bounds.
    pub fn bounds(&self) -> Bounds {
        Bounds {
            orders: self.orders.0.clone(),
            delta: self.claims.delta,
            directions: self.direction.list(),
            failure_probability: self.failure_probability,
            failure_per: self.failure_per,
            methods: self.methods.clone(),
            resamples: self.resamples,
            claims: self.claims.claims(),
        }
    }
}
