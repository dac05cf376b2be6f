//! `leakbound audit stream`.

use super::conclude::{Asked, publish};
use super::interruptible::Interruptible;
use super::stream_state::{Counting, StateFile, StateOptions};
use crate::args::Common;
use crate::args::values::{
    DIRECTIONS, Directions, Orders, choice, claim_rdp, delta, epsilon, failure_probability, named, orders, samples,
    whole,
};
use crate::interruption::Interruption;
use crate::output::{Output, interrupted};
use crate::signals::{Second, interruption};
use clap::Args;
use leakbound::audit::{BinRule, OutputWorld, StreamOutput};
use leakbound::bound::Claimed;
use leakbound::counts::hardly_repeats;
use leakbound::error::one_line;
use leakbound::quantity::{Delta, Epsilon, FailureProbability, Order};
use leakbound::record::{
    BatchReader, BatchStage, InputFile, InputReader, OutcomeNames, SavedStream, read_outputs, read_real_outputs,
};
use leakbound::study::{StreamStudy, Verdict, Warning};
use leakbound::{Error, InputError, Result};
use serde::Serialize;
use std::io::{Read, stdin};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Audit a stream of raw outputs: bounds valid at any time; stops as soon as a claim is refuted
#[derive(Debug, Args, Serialize)]
#[command(after_help = "Example:\n  my-mechanism | leakbound audit stream - --claim-rdp 2:0.05\n\nEach line is \
                        `s,OUTPUT` or `s_prime,OUTPUT` below the header `world,output`. Outputs of one world must \
                        be independent, and which world is asked next must not depend on them.\n\nWith --state a batch is \
                        counted once: a run that was ended in any way is repeated with the same input, and an \
                        input that was counted before is rejected.")]
pub struct StreamOptions {
    /// Raw outputs as CSV with columns world,output (world: s or s_prime); - for stdin
    pub file: PathBuf,
    /// Rényi orders to bound, such as 2,5 [default: those of the claims, or 2]
    #[arg(long, value_parser = orders, allow_hyphen_values = true, help_heading = "Bounds")]
    pub orders: Option<Orders>,
    /// Direction of the divergences
    #[arg(long, value_parser = choice(DIRECTIONS), default_value = "both", help_heading = "Advanced")]
    pub direction: Directions,
    /// Failure probability: that any bound or refutation is ever wrong, at any time
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", allow_hyphen_values = true, help_heading = "Bounds")]
    pub failure_probability: FailureProbability,
    /// Delta of --claim-epsilon
    #[arg(long, value_name = "D", value_parser = delta, default_value = "1e-5", allow_hyphen_values = true, help_heading = "Bounds")]
    pub delta: Delta,
    /// Claim: one answer is (E, delta)-differentially private; reading stops when it is refuted
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true, help_heading = "Bounds")]
    pub claim_epsilon: Option<Epsilon>,
    /// Claim: the Rényi divergence of one answer at ORDER is at most VALUE; reading stops when it is refuted
    #[arg(long, value_name = "ORDER:VALUE", value_parser = claim_rdp, allow_hyphen_values = true, help_heading = "Bounds")]
    pub claim_rdp: Vec<(Order, Claimed)>,
    /// Planned number of output pairs, where bounds are sharpest; they are valid at any number
    #[arg(long, value_name = "N", value_parser = samples, allow_hyphen_values = true)]
    pub horizon: Option<u64>,
    /// Bins for numeric outputs: quantile:K (K equal shares of the first outputs, which are then not used for bounds)
    /// or edges:A,B,...
    #[arg(long, value_name = "RULE", value_parser = named::<BinRule>, allow_hyphen_values = true)]
    pub bins: Option<BinRule>,
    /// Outputs of both worlds that choose the bins of quantile:K [default: 20 K]
    #[arg(long, value_name = "N", requires = "bins", value_parser = whole::<u64>(1, 1_000_000, "10^6"), allow_hyphen_values = true, help_heading = "Advanced")]
    pub pilot_outputs: Option<u64>,
    #[command(flatten)]
    #[serde(flatten)]
    pub kept: StateOptions,
}

/// From this many outputs on, a stream is rejected while it is read if nearly every output is different.
const EARLY: u64 = 1024;

pub fn run(common: &Common, options: &StreamOptions) -> Result<Verdict> {
    let taken = options.kept.state.iter().chain((!is_live(options)).then_some(&options.file));
    let output = Output::open(common, &taken.map(|path| &**path).collect::<Vec<&Path>>())?;
    let study = StreamStudy {
        orders: options.orders.as_ref().map(|orders| orders.0.clone()).unwrap_or_default(),
        directions: options.direction.value.to_vec(),
        failure_probability: options.failure_probability,
        claim_epsilon: options.claim_epsilon.map(|epsilon| (epsilon, options.delta)),
        claim_rdp: options.claim_rdp.clone(),
        horizon: options.horizon,
        bins: options.bins.clone(),
        pilot_outputs: options.pilot_outputs,
        seed: common.seed,
    };
    let state = StateFile::open(&common.session, &options.kept)?;
    let mut saved = start(common, options, &study, &state)?;
    let read = match study.is_refuted(&saved.counts) {
        true => Counted::default(),
        false => read(common, options, &study, &state, &mut saved)?,
    };
    let answer = study.finish(&saved.counts, saved.names.names().len(), read.stopped_at_line);
    let title = format!("Audit of a stream, {}", one_line(&options.file.to_string_lossy()));
    let asked = Asked { options, inputs: read.inputs, title, warnings: read.warnings };
    let verdict = publish(common, output, answer, asked)?;
    state.deliver(saved, read.batch);
    Ok(verdict)
}

/// Whether outputs come from stdin.
fn is_live(options: &StreamOptions) -> bool {
    options.file.as_os_str() == "-"
}

/// What is known of an input that was counted.
#[derive(Default)]
struct Counted {
    inputs: Vec<InputFile>,
    stopped_at_line: Option<u64>,
    warnings: Vec<Warning>,
    /// The batch that waits for its answer.
    batch: Option<usize>,
}

/// Counts the input, until its end or until a claim is refuted.
fn read(
    common: &Common,
    options: &StreamOptions,
    study: &StreamStudy,
    state: &StateFile,
    saved: &mut SavedStream,
) -> Result<Counted> {
    let live = is_live(options);
    let file = (!live).then(|| leakbound::record::open(&options.file)).transpose()?;
    // A pipe does not give again what it gave.
    let whole = file.as_ref().filter(|file| !file.is_pipe()).map(InputReader::again);
    let source = move || -> Box<dyn Read> { file.map_or_else(|| Box::new(stdin()) as _, |file| Box::new(file) as _) };
    let interruption = options.kept.state.as_ref().map(|path| noted(common, path)).transpose()?;
    let reader: Box<dyn Read> = match &interruption {
        Some(interruption) => Interruptible::of(source, interruption.clone()),
        // Without a state there is nothing to save.
        None => source(),
    };
    let file = if live { Path::new("stdin") } else { &*options.file };
    let mut names = std::mem::take(&mut saved.names);
    let mut counting = Counting::new(file, state, &options.kept, saved);
    let reader = BatchReader::new(reader, counting.known());
    let (read, stopped_at_line) = count(file, study, &reader, &mut counting, &mut names);
    if interruption.is_some_and(|interruption| interruption.is_noted()) && stopped_at_line.is_none() {
        return Err(interrupted_reading(options, &mut counting, &reader, &names)?);
    }
    let read = read?;
    counting.settle(&reader)?;
    if stopped_at_line.is_none() {
        provable(file, &names, &counting)?;
    }
    let inputs = identity(file, whole.as_ref(), &reader, read.as_ref(), stopped_at_line)?.into_iter().collect();
    counting.finish(&reader, read.is_some(), &names)?;
    let (warnings, batch) = counting.end(&reader);
    saved.names = names;
    Ok(Counted { inputs, stopped_at_line, warnings, batch })
}

/// Counts what the reader gives: the identity of the input where that was all of it, and the line at which a claim was
/// refuted.
fn count<R: Read>(
    file: &Path,
    study: &StreamStudy,
    reader: &BatchReader<R>,
    counting: &mut Counting<'_>,
    names: &mut OutcomeNames,
) -> (Result<Option<InputFile>>, Option<u64>) {
    let (mut next_look, mut stopped_at_line) = (1, None);
    let binned = counting.counts().bins.is_some();
    let mut take = |line: u64, world: OutputWorld, output: StreamOutput, names: &OutcomeNames| {
        counting.count(reader, line, world, output, names)?;
        // Nothing follows from outputs that may be counted twice.
        if reader.is_undecided() {
            return Ok(ControlFlow::Continue(()));
        }
        let outputs = counting.counts().outputs.iter().sum::<u64>();
        if outputs >= EARLY && outputs.is_power_of_two() {
            provable(file, names, counting)?;
        }
        if study.look(counting.counts(), &mut next_look) {
            stopped_at_line = Some(line);
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    };
    let read = if binned {
        read_real_outputs(file, reader, |line, world, value| take(line, world, StreamOutput::Value(value), names))
    } else {
        read_outputs(file, reader, names, |line, world, outcome, names| {
            take(line, world, StreamOutput::Outcome(outcome), names)
        })
    };
    (read, stopped_at_line)
}

/// The interruption of the command, which saves the state.
fn noted(common: &Common, state: &Path) -> Result<Interruption> {
    let failed = |source| Error::Io { path: state.to_owned(), action: "be kept", source };
    interruption(&common.session, Second::Ends).map_err(failed)
}

/// What was read of the file. Before anything is saved it is known whether the file, unless it is a pipe, still begins
/// with what was counted of it.
fn identity<R: Read>(
    file: &Path,
    whole: Option<&InputReader>,
    reader: &BatchReader<R>,
    read: Option<&InputFile>,
    stopped_at_line: Option<u64>,
) -> Result<Option<InputFile>> {
    match (read, stopped_at_line, whole) {
        (Some(read), _, whole) => {
            whole.map_or(Ok(()), |whole| whole.check_start(file, read))?;
            Ok(Some(read.clone()))
        }
        (None, Some(line), Some(whole)) => {
            let counted = reader.batch_to_line(line, BatchStage::Reading);
            whole.identity_with_start(file, counted.bytes, &counted.sha256).map(Some)
        }
        (None, _, _) => Ok(None),
    }
}

/// An error where nearly every outcome is different and none is counted in bins.
fn provable(file: &Path, names: &OutcomeNames, counting: &Counting<'_>) -> Result<()> {
    let (counts, outcomes) = (counting.counts(), names.names().len());
    let outputs = counts.outputs[0].saturating_add(counts.outputs[1]);
    if counts.bins.is_some() || !hardly_repeats(outcomes as u64, outputs) {
        return Ok(());
    }
    Err(Error::from(InputError {
        file: file.to_owned(),
        place: "whole file".into(),
        found: format!("{outcomes} different outcomes in {outputs} outputs"),
        expected: "outcomes that repeat: what is seen once or never in a world shows nothing of its probability".into(),
        hint: Some("count outputs that are numbers in bins: --bins quantile:20".into()),
    }))
}

/// Saves what was read; the error that reports it.
fn interrupted_reading<R: Read>(
    options: &StreamOptions,
    counting: &mut Counting<'_>,
    reader: &BatchReader<R>,
    names: &OutcomeNames,
) -> Result<Error> {
    let line = counting.last_line;
    let reason = if counting.leave(reader, names)? {
        format!(
            "interrupted after line {line}, up to which all is saved; go on with the same input, or with the lines after it"
        )
    } else {
        "interrupted while reading what may have been counted before; go on with the same input".into()
    };
    Ok(interrupted(options.kept.state.as_deref().unwrap_or(Path::new("state")), reason))
}

/// The stream as it was saved, or a new one.
fn start(common: &Common, options: &StreamOptions, study: &StreamStudy, state: &StateFile) -> Result<SavedStream> {
    let asked = asked(common, options);
    let Some(saved) = state.read()? else {
        return Ok(SavedStream { asked, names: OutcomeNames::default(), batches: Vec::new(), counts: study.start()? });
    };
    if saved.asked == asked {
        return Ok(saved);
    }
    Err(Error::from(InputError {
        file: options.kept.state.clone().unwrap_or_default(),
        place: "whole file".into(),
        found: format!("a state of `{}`", one_line(&saved.asked)),
        expected: format!("one of `{asked}`, as requested"),
        hint: Some("what is asked must be fixed before the outputs are seen".into()),
    }))
}

/// Everything that must not change between runs.
fn asked(common: &Common, options: &StreamOptions) -> String {
    let mut words = Vec::new();
    if let Some(orders) = &options.orders {
        let orders: Vec<String> = orders.0.iter().map(ToString::to_string).collect();
        words.push(format!("--orders {}", orders.join(",")));
    }
    words.extend(options.claim_rdp.iter().map(|(order, value)| format!("--claim-rdp {order}:{}", value.get())));
    if let Some(epsilon) = options.claim_epsilon {
        words.push(format!("--claim-epsilon {epsilon} --delta {}", options.delta));
    }
    let directions: Vec<&str> = options.direction.value.iter().map(|direction| direction.name()).collect();
    words.push(format!("--direction {}", if directions.len() == 2 { "both" } else { directions[0] }));
    words.push(format!("--failure-probability {}", options.failure_probability));
    words.extend(options.horizon.map(|pairs| format!("--horizon {pairs}")));
    words.extend(options.bins.as_ref().map(|rule| format!("--bins {rule}")));
    words.extend(options.pilot_outputs.map(|outputs| format!("--pilot-outputs {outputs}")));
    words.push(format!("--seed {}", common.seed));
    words.join(" ")
}
