//! `leakbound audit mechanism`.

use super::conclude::{Asked, publish, watched};
use crate::args::values::{Parsed, seconds, whole};
use crate::args::{BoundOptions, ClaimOptions, Common};
use crate::output::{Output, interrupted, reject_any};
use crate::session::{BlackBoxCall, Session};
use crate::signals::{Second, interruption};
use crate::usage::warn;
use clap::Args;
use leakbound::black_box::{
    self, BlackBox, Dataset, DescribedBlackBox, Domain, ExecBlackBox, Features, FunctionBlackBox, Grid, Journal,
    LineBlackBox, Pair, Reply, RoundedBlackBox, Shrink, Tally, neighbor_pairs,
};
use leakbound::program::Limits;
use leakbound::quantity::Delta;
use leakbound::record::{AtomicFile, AuditJournal, InputFile, KeptCounterexample, read_dataset, read_pairs};
use leakbound::relation::Relation;
use leakbound::study::{Claims, CounterexampleFound, MechanismStudy, Verdict, Warning};
use leakbound::{Error, InputError, Result};
use serde::{Serialize, Serializer};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Run a program on neighboring datasets, find where it leaks, bound the leakage, and refute claims about it
#[derive(Debug, Args, Serialize)]
#[command(
    after_help = "Example:\n  leakbound audit mechanism --program 'python3 examples/noisy_count.py 1.5' --dataset \
                        '[1, 1, 1]' --relation add-remove --claim-epsilon 1 --delta 0\n\nA request is a line of \
                        JSON such as {\"id\": 7, \"dataset\": [1, 1, 1], \"runs\": 1000, \"seed\": 123}; the answer is \
                        {\"id\": 7, \"outputs\": [...]} or {\"id\": 7, \"error\": \"reason\"}. An output is a number, \
                        string, boolean, null, or an array or object of them. Outputs must be independent.\n\nThe \
                        program and its child processes are killed when this command exits; processes that start a \
                        session of their own, as daemons do, survive.\n\nExit status 3 if a claim is refuted."
)]
#[command(next_help_heading = "Advanced")]
#[command(mut_arg("orders", |orders| orders.help_heading("Advanced")))]
#[command(mut_arg("methods", |methods| methods.help_heading("Advanced")))]
pub struct MechanismOptions {
    /// A program that reads one JSON request and writes one JSON answer per line; split into arguments as by a shell,
    /// but run without one
    #[arg(long, alias = "command", value_name = "COMMAND", conflicts_with = "exec")]
    #[arg(required_unless_present_any = ["exec", "counterexample"], help_heading = None)]
    pub program: Option<String>,
    /// A program that is run once per output: {dataset} stands for the path of a JSON file, {seed} for a number; its
    /// stdout is the output
    #[arg(long, value_name = "COMMAND", help_heading = None)]
    pub exec: Option<String>,
    /// An example input, from which neighbors are made: a JSON array, or a file that holds one
    #[arg(long, value_name = "FILE.json|[...]", conflicts_with = "pairs")]
    #[arg(required_unless_present_any = ["pairs", "counterexample"], help_heading = None)]
    pub dataset: Option<String>,
    /// Which datasets are neighbors: add-remove, replace-one, l1:D or linf:D
    #[arg(long, value_name = "RELATION", required_unless_present_any = ["pairs", "counterexample"], help_heading = None)]
    pub relation: Option<Relation>,
    /// Smallest and largest legal number in a record; neighbors are then also tried at both ends
    #[arg(long, value_name = "LOW,HIGH", value_parser = domain, requires = "dataset", allow_hyphen_values = true, help_heading = None)]
    pub domain: Option<Domain>,
    /// Pairs of neighbors to try instead of those made from a dataset: a JSON array of objects with dataset and
    /// neighbor
    #[arg(long, value_name = "FILE.json")]
    pub pairs: Option<PathBuf>,
    /// How outputs are told apart: auto, identity (the output itself), or a program that describes outputs, given as a
    /// command or a Python file. It reads {"id", "outputs"} per line and answers with as many outputs, each computed
    /// from one output alone
    #[arg(long, value_name = "FEATURES", default_value = "auto")]
    pub features: FeatureOption,
    /// Round every number in the outputs to a multiple of this before anything looks at it. A claim that is then
    /// refuted is refuted for the program too, and not by the last binary places of floating-point numbers
    #[arg(long, value_name = "GRID", value_parser = grid, allow_hyphen_values = true)]
    pub round: Option<Grid>,
    /// Test a saved counterexample on fresh outputs: a file of --save-counterexample, which also supplies the program,
    /// the rounding and the claim where these options do not
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["dataset", "relation", "domain", "pairs", "stop_early"])]
    pub counterexample: Option<PathBuf>,
    /// Write the counterexample to a file, for --counterexample
    #[arg(long, value_name = "FILE.json", conflicts_with = "counterexample")]
    pub save_counterexample: Option<PathBuf>,
    /// Extra runs of each dataset for shrinking the counterexample; 0 leaves it as it was found [default: half of
    /// --runs, or 4000 with --stop-early]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0, 1_000_000_000_000, "10^12"), allow_hyphen_values = true)]
    pub shrink_runs: Option<u64>,
    /// Runs of each of the two datasets, including the search
    #[arg(long, value_name = "N", default_value = "1e5", value_parser = whole::<u64>(leakbound::study::MechanismStudy::FEWEST, 1_000_000_000_000, "10^12"), allow_hyphen_values = true, help_heading = None)]
    pub runs: u64,
    /// Time limit in seconds
    #[arg(long, value_name = "S", value_parser = seconds, allow_hyphen_values = true)]
    pub time_limit: Option<f64>,
    /// Stop as soon as a claim is refuted: claims are tested, but nothing is bounded
    #[arg(long, conflicts_with_all = ["orders", "methods", "direction", "resamples", "failure_per"])]
    pub stop_early: bool,
    /// Keep the program's answers in this file, so that an interrupted audit can resume
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Resume from the checkpoint; start over if there is none
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
    /// Runs per request
    #[arg(long, value_name = "N", default_value = "1000", value_parser = whole::<u64>(1, 1_000_000, "10^6"), allow_hyphen_values = true)]
    pub batch: u64,
    /// Time limit in seconds for each answer
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds, allow_hyphen_values = true)]
    pub answer_timeout: f64,
    /// Time limit in seconds for the first answer; a program that misses it is not started again
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds, allow_hyphen_values = true)]
    pub start_timeout: f64,
    #[command(flatten)]
    #[serde(flatten)]
    pub bound: BoundOptions,
}

/// Where features come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeatureOption {
    /// From the outputs.
    Of(Features),
    /// From a program.
    Program(String),
}

impl FromStr for FeatureOption {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let named = |features: &Features| serde_json::to_value(features).is_ok_and(|name| name == text);
        Ok(match [Features::Auto, Features::Identity].into_iter().find(named) {
            Some(features) => Self::Of(features),
            None if Path::new(text).extension().is_some_and(|end| end == "py") && !text.contains(' ') => {
                Self::Program(format!("python3 '{text}'"))
            }
            None => Self::Program(text.to_owned()),
        })
    }
}

impl Serialize for FeatureOption {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Of(features) => features.serialize(serializer),
            Self::Program(command) => command.serialize(serializer),
        }
    }
}

fn domain(text: &str) -> Parsed<Domain> {
    let ends: Option<Vec<f64>> = text.split(',').map(|end| end.trim().parse().ok()).collect();
    match ends.as_deref() {
        Some(&[low, high]) => Domain::new(low, high).map_err(|error| error.to_string()),
        _ => Err(format!("`{text}` is not LOW,HIGH, such as 0,1")),
    }
}

fn grid(text: &str) -> Parsed<Grid> {
    let step = text.parse().map_err(|_| format!("`{text}` is not a number, such as 0.001"))?;
    Grid::new(step).map_err(|error| error.to_string())
}

/// What may make a counterexample smaller where the audit is to end early.
const SOON: u64 = 4000;

pub fn run(common: &Common, options: &MechanismOptions) -> Result<Verdict> {
    let files = [&options.pairs, &options.counterexample].into_iter().flatten().map(PathBuf::as_path);
    let files: Vec<&Path> = files.chain(options.dataset.as_deref().and_then(dataset_file)).collect();
    let output = Output::open(common, &files)?;
    let place = options.save_counterexample.as_deref().map(|path| place(common, path, &files)).transpose()?;
    let mut inputs = Vec::new();
    let kept = options.counterexample.as_deref().map(KeptCounterexample::read).transpose()?;
    let kept = kept.map(|(kept, input)| {
        inputs.push(input);
        kept
    });
    let pairs = if kept.is_some() { Vec::new() } else { pairs(options, &mut inputs)? };
    let mut bounds = options.bound.bounds();
    if let (Some(kept), true) = (&kept, bounds.claims.is_empty()) {
        bounds.claims = Claims::of(kept.counterexample.claim.aim()?)?;
        bounds.delta = delta(options, bounds.claims.epsilon.map(|(_, delta)| delta))?;
    }
    let [program, exec] = command(options, kept.as_ref())?;
    let features = match (&options.features, &kept) {
        (FeatureOption::Program(command), _) => Some(command.clone()),
        (FeatureOption::Of(_), Some(kept)) => kept.features.clone(),
        (FeatureOption::Of(_), None) => None,
    };
    let round = options.round.or(kept.as_ref().and_then(|kept| kept.round));
    let function = common.session.black_box();
    // A function has a name, which is no command.
    let saved = [program.clone().filter(|_| function.is_none()), exec.clone(), features.clone()];
    let source = source(common, options, [&program, &exec, &features].map(Option::as_deref), round, function)?;
    let title = format!("Audit of {}", source.name());
    let journal = journal(common, options, &pairs, (&files, &inputs))?;
    let journal = journal.map(|journal| Kept { journal, session: &common.session, unkept: Mutex::default() });
    let study = MechanismStudy {
        source: &*source,
        pairs,
        known: kept.map(|kept| kept.counterexample),
        features: match options.features {
            FeatureOption::Of(features) => features,
            FeatureOption::Program(_) => Features::Auto,
        },
        bounds,
        runs: options.runs,
        time_limit: options.time_limit.map(Duration::from_secs_f64),
        stop_early: options.stop_early,
        shrink: Shrink { relation: options.relation, domain: options.domain },
        shrink_runs: options.shrink_runs.unwrap_or(if options.stop_early { SOON } else { options.runs / 2 }),
        batch: options.batch as usize,
        journal: journal.as_ref().map(|journal| journal as &dyn Journal),
        seed: common.seed,
    };
    let answer = watched(common, &study)?;
    if answer.interrupted && common.session.is_hosted() {
        return Err(Error::Interrupted);
    }
    let found = answer.counterexample.as_ref().map(CounterexampleFound::recorded);
    let early = answer.interrupted.then(|| {
        let on = if journal.is_some() { "; --resume continues" } else { "" };
        let runs = answer.runs.all();
        let reason = format!("interrupted after {runs} runs of each dataset; what they show is printed{on}");
        interrupted(Path::new(&answer.program), reason)
    });
    let unkept = journal.and_then(Kept::unkept);
    let unsaved = place.zip(found).and_then(|(place, found)| {
        let kept = KeptCounterexample::new(saved, round, options.relation, found);
        let error = kept.write(place).err()?.to_string();
        told(&common.session, &format!("{error}; the counterexample is in the answer alone"));
        Some(unwritten("counterexample-not-saved", error))
    });
    let warnings = unkept.into_iter().chain(unsaved).collect();
    let verdict = publish(common, output, answer, Asked { options, inputs, title, warnings })?;
    early.map_or(Ok(verdict), Err)
}

/// One line on the terminal about a file; a program that calls finds it among the warnings.
fn told(session: &Session, line: &str) {
    if !session.is_hosted() {
        warn(line);
    }
}

/// A file that is not written changes nothing about what was found.
fn unwritten(code: &'static str, message: String) -> Warning {
    Warning { code, message, hint: "make room, and run the audit again if the file is needed".into() }
}

/// A checkpoint that the audit continues without if it cannot be written.
struct Kept<'a> {
    journal: AuditJournal,
    session: &'a Session,
    /// Why it is not whole.
    unkept: Mutex<Option<String>>,
}

impl Kept<'_> {
    fn goes_on(&self, kept: Result<()>) -> Result<()> {
        let mut unkept = self.unkept.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Err(error), None) = (kept, &*unkept) {
            let error = error.to_string();
            told(self.session, &format!("{error}; the audit continues, and not everything that follows is kept"));
            *unkept = Some(error);
        }
        Ok(())
    }

    fn unkept(self) -> Option<Warning> {
        let unkept = self.unkept.into_inner().unwrap_or_else(PoisonError::into_inner);
        unkept.map(|error| unwritten("checkpoint-not-whole", error))
    }
}

impl Journal for Kept<'_> {
    fn recall(&self, asked: black_box::Asked) -> Result<Option<Reply>> {
        self.journal.recall(asked)
    }

    fn is_resumed(&self) -> bool {
        self.journal.is_resumed()
    }

    fn keep(&self, asked: black_box::Asked, reply: &Reply) -> Result<()> {
        self.goes_on(self.journal.keep(asked, reply))
    }

    fn recall_tally(&self, of: &str) -> Option<Tally> {
        self.journal.recall_tally(of)
    }

    fn keep_tally(&self, tally: &Tally, last: bool) -> Result<()> {
        self.goes_on(self.journal.keep_tally(tally, last))
    }
}

/// The δ of ε bounds where the claim is that of a counterexample.
fn delta(options: &MechanismOptions, kept: Option<Delta>) -> Result<Delta> {
    let given = options.bound.claims.delta;
    match kept {
        Some(kept) if given != kept && given.get() != ClaimOptions::DELTA => {
            let reason = format_args!(
                "--delta is {}, and the claim of the counterexample has {}: --claim-epsilon states another claim",
                given.get(),
                kept.get()
            );
            Err(Error::rejected("audit of a program", reason))
        }
        kept => Ok(kept.unwrap_or(given)),
    }
}

/// The checkpoint of this audit: of these options and datasets, whatever they are written to.
fn journal(
    common: &Common,
    options: &MechanismOptions,
    pairs: &[Pair],
    (inputs, read): (&[&Path], &[InputFile]),
) -> Result<Option<AuditJournal>> {
    let Some(path) = &options.checkpoint else { return Ok(None) };
    let others = [&common.output, &common.report, &options.save_counterexample].into_iter().flatten();
    let others: Vec<&Path> = others.map(PathBuf::as_path).chain(inputs.iter().copied()).collect();
    reject_any("--checkpoint", path, &others, "a file that this command reads or writes otherwise")?;
    let mut asked = serde_json::to_value(options).unwrap_or_default();
    for beside in ["checkpoint", "resume", "save_counterexample", "time_limit", "answer_timeout", "start_timeout"] {
        asked.as_object_mut().map(|asked| asked.remove(beside));
    }
    let read: Vec<&str> = read.iter().map(|input| input.sha256.as_str()).collect();
    let version = env!("CARGO_PKG_VERSION");
    let pairs = serde_json::to_string(pairs).unwrap_or_default();
    let words = format!("{version} {asked} {} {} {pairs}", common.seed, read.join(" "));
    let audit = InputFile::of_bytes(path, words.as_bytes()).sha256;
    AuditJournal::open(path, &audit, options.resume).map(Some)
}

/// The place of the counterexample, which replaces no file that is read or written otherwise.
fn place(common: &Common, path: &Path, inputs: &[&Path]) -> Result<AtomicFile> {
    reject_any("--save-counterexample", path, inputs, "the input file itself")?;
    let written: Vec<&Path> = [&common.output, &common.report].into_iter().flatten().map(PathBuf::as_path).collect();
    reject_any("--save-counterexample", path, &written, "a file that this command writes otherwise")?;
    AtomicFile::create(path)
}

/// The commands of the program: those of the options, or those with which a counterexample was found.
fn command(options: &MechanismOptions, kept: Option<&KeptCounterexample>) -> Result<[Option<String>; 2]> {
    let given = [&options.program, &options.exec].map(Clone::clone);
    let Some(kept) = kept.filter(|_| given.iter().all(Option::is_none)) else { return Ok(given) };
    match (&kept.program, &kept.exec) {
        (None, None) => {
            let reason = "the counterexample does not say which program it was found in: give --program or --exec";
            Err(Error::rejected("audit of a program", reason))
        }
        (program, exec) => Ok([program.clone(), exec.clone()]),
    }
}

/// The file of a dataset that is not written on the command line.
fn dataset_file(text: &str) -> Option<&Path> {
    (!text.trim_start().starts_with('[')).then(|| Path::new(text))
}

fn pairs(options: &MechanismOptions, inputs: &mut Vec<InputFile>) -> Result<Vec<Pair>> {
    if let Some(path) = &options.pairs {
        let (pairs, input) = read_pairs(path)?;
        inputs.push(input);
        let stranger =
            |pair: &&Pair| options.relation.is_some_and(|relation| !pair.dataset.is_neighbor(&pair.neighbor, relation));
        if let (Some(pair), Some(relation)) = (pairs.iter().find(stranger), options.relation) {
            let hint = Some("leave --relation out if the pairs are neighbors in another way".into());
            let (place, found) = (pair.pattern.clone(), format!("{} and {}", pair.dataset, pair.neighbor));
            let expected = format!("neighbors under {relation}");
            return Err(InputError { file: path.clone(), place, found, expected, hint }.into());
        }
        return Ok(pairs);
    }
    let text = options.dataset.as_deref().unwrap_or_default();
    let dataset = match dataset_file(text) {
        None => text.parse::<Dataset>()?,
        Some(path) => {
            let (dataset, input) = read_dataset(path)?;
            inputs.push(input);
            dataset
        }
    };
    let relation = options.relation.ok_or_else(|| Error::rejected("neighbors", "no --relation is given"))?;
    neighbor_pairs(relation, &dataset, options.domain)
}

/// The error about a features program that there is not, which may be a name with a typing error.
fn no_features(command: &str, error: Error) -> Error {
    match error {
        Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            let reason =
                format!("no program `{command}` was found; expected auto, identity, or a command that can be run");
            Error::Rejected { operation: "--features", reason }
        }
        other => other,
    }
}

fn source(
    common: &Common,
    options: &MechanismOptions,
    [program, exec, features]: [Option<&str>; 3],
    round: Option<Grid>,
    function: Option<BlackBoxCall>,
) -> Result<Box<dyn BlackBox>> {
    let (answer_time, start_time) =
        (Duration::from_secs_f64(options.answer_timeout), Duration::from_secs_f64(options.start_timeout));
    let limits = || Limits { answer_time, start_time, ..Limits::default() };
    let command = program.or(exec).unwrap_or_default();
    let failed = |source| Error::Io { path: command.into(), action: "be watched", source };
    if function.is_none() || features.is_some() {
        // Before a program starts: it has a process group of its own, which no signal of a terminal reaches.
        interruption(&common.session, Second::Waits).map_err(failed)?;
    }
    let source: Box<dyn BlackBox> = match (program, function) {
        (Some(name), Some(call)) => Box::new(FunctionBlackBox::new(name, call)),
        (Some(command), None) => Box::new(LineBlackBox::new(command, limits())?),
        (None, _) => Box::new(ExecBlackBox::new(command, answer_time)?),
    };
    let source = match round {
        None => source,
        Some(grid) => Box::new(RoundedBlackBox::new(source, grid)),
    };
    Ok(match features {
        None => source,
        Some(command) => {
            Box::new(DescribedBlackBox::new(source, command, limits()).map_err(|error| no_features(command, error))?)
        }
    })
}
