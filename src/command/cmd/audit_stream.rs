//! `leakbound audit stream`.

use super::interruptible::Interruptible;
use super::stream_state::{Counted, Counting, StateFile};
use crate::audit::{BinRule, EProcess, OutputBins, PairStream, StreamBins};
use crate::bound::Direction;
use crate::command::args::{Common, StreamOptions};
use crate::command::interruption::Interruption;
use crate::command::output::{Output, envelope, interrupted};
use crate::command::signals::{Second, interruption};
use crate::counts::hardly_repeats;
use crate::quantity::{Epsilon, FailureProbability, Order};
use crate::record::{
    BatchReader, BatchStage, InputFile, InputReader, OutcomeNames, OutputWorld, SavedStream, read_outputs,
    read_real_outputs,
};
use crate::report::{Envelope, StreamBinsRow, StreamDocument, one_line};
use crate::study::{BoundRow, Claim, Number, Warning, short};
use crate::{Error, InputError, Result};
use std::io::{Read, stdin};
use std::ops::ControlFlow;
use std::path::Path;

/// From so many outputs on a stream is refused while it is read, if nearly every output is different.
const EARLY: u64 = 1024;

/// Outputs of the pilot for each bin, unless said otherwise.
const PILOT_PER_BIN: u64 = 20;

/// Claims are tested each time the pairs have grown by one part in so many.
const LOOKS: u64 = 16;

pub fn run(common: &Common, options: &StreamOptions) -> Result<bool> {
    let live = options.file.as_os_str() == "-";
    let taken: Vec<&Path> = options.state.iter().map(|path| &**path).chain((!live).then_some(&*options.file)).collect();
    let output = Output::open(common, &taken)?;
    let questions = Questions::new(options);
    let state = StateFile::open(&common.session, options)?;
    let mut saved = start(common, options, &state)?;
    let mut refuted = questions.refuted(options, saved.stream.process());
    let (mut inputs, mut stopped_at_line) = (Vec::new(), None);
    let (mut warnings, mut batch) = (Vec::new(), None);
    if !refuted.contains(&true) {
        let file = (!live).then(|| crate::record::open(&options.file)).transpose()?;
        // A pipe does not give again what it gave.
        let whole = file.as_ref().filter(|file| !file.is_pipe()).map(InputReader::again);
        let source =
            move || -> Box<dyn Read> { file.map_or_else(|| Box::new(stdin()) as _, |file| Box::new(file) as _) };
        let interruption = options.state.as_ref().map(|path| noted(common, path)).transpose()?;
        let reader: Box<dyn Read> = match &interruption {
            Some(interruption) => Interruptible::of(source, interruption.clone()),
            // Without a state there is nothing to save.
            None => source(),
        };
        let file = if live { Path::new("stdin") } else { &*options.file };
        let binned = saved.bins.is_some();
        let mut names = std::mem::take(&mut saved.names);
        let mut counting = Counting::new(file, &state, options, &mut saved);
        let reader = BatchReader::new(reader, counting.known());
        let mut next_look = 1;
        let mut take = |line: u64, world: OutputWorld, output: Counted, names: &OutcomeNames| {
            counting.count(&reader, line, world, output, names)?;
            // Nothing follows from outputs that may be counted twice.
            if reader.is_undecided() {
                return Ok(ControlFlow::Continue(()));
            }
            let outputs = counting.rows().iter().sum::<u64>();
            if !binned && outputs >= EARLY && outputs.is_power_of_two() {
                provable(file, names.names().len(), counting.rows())?;
            }
            let process = counting.stream().process();
            // Without a claim there is nothing to stop for.
            if questions.claims == 0 || process.pairs() < next_look {
                return Ok(ControlFlow::Continue(()));
            }
            let pairs = process.pairs();
            next_look = pairs + (pairs / LOOKS).max(1);
            refuted = questions.refuted(options, process);
            if refuted.contains(&true) {
                stopped_at_line = Some(line);
                return Ok(ControlFlow::Break(()));
            }
            Ok(ControlFlow::Continue(()))
        };
        let read = if binned {
            read_real_outputs(file, &reader, |line, world, value| take(line, world, Counted::Value(value), &names))
        } else {
            read_outputs(file, &reader, &mut names, |line, world, outcome, names| {
                take(line, world, Counted::Outcome(outcome), names)
            })
        };
        if interruption.is_some_and(|interruption| interruption.is_noted()) && stopped_at_line.is_none() {
            return interrupted_reading(options, &mut counting, &reader, &names);
        }
        let read = read?;
        counting.settle(&reader)?;
        if !binned && stopped_at_line.is_none() {
            provable(file, names.names().len(), counting.rows())?;
        }
        inputs.extend(identity(file, whole.as_ref(), &reader, read.as_ref(), stopped_at_line)?);
        counting.finish(&reader, read.is_some(), &names)?;
        (warnings, batch) = counting.end(&reader);
        saved.names = names;
        refuted = questions.refuted(options, saved.stream.process());
    }
    warnings.extend(unpaired(&saved));
    warnings.extend(saved.bins.as_ref().filter(|bins| bins.bins().is_none()).map(|_| Warning {
        code: "pilot-lasts",
        message: "the outputs so far are all part of the pilot that chooses the bins: nothing is bounded yet".into(),
        hint: "record more outputs, or take a shorter pilot from the start: --pilot-outputs N".into(),
    }));
    let document = StreamDocument {
        stopped_at_line,
        bounds: questions.bounds(options, saved.stream.process()),
        claims: questions.claims(options, saved.stream.process(), &refuted),
        ..document(&saved, options, envelope("leakbound.audit-stream/1", common, options, inputs, warnings))
    };
    output.write(&document)?;
    state.deliver(saved, batch);
    Ok(refuted.contains(&true))
}

/// The interruption of the command, which saves the state.
fn noted(common: &Common, state: &Path) -> Result<Interruption> {
    let failed = |source| Error::Io { path: state.to_owned(), action: "be kept", source };
    interruption(&common.session, Second::Ends).map_err(failed)
}

/// What was read of the file. Before anything is saved it is known whether the file, unless it is a pipe, still begins with
/// what was counted of it.
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

/// The counts so far, without bounds and claims.
fn document(saved: &SavedStream, options: &StreamOptions, envelope: Envelope) -> StreamDocument {
    StreamDocument {
        envelope,
        title: format!("Audit of a stream, {}", one_line(&options.file.to_string_lossy())),
        outputs: saved.rows[0],
        outputs_neighbor: saved.rows[1],
        pairs: saved.stream.process().pairs(),
        outcomes: match &saved.bins {
            Some(bins) => bins.bins().map_or(0, OutputBins::bins),
            None => saved.names.names().len(),
        },
        bins: saved.bins.as_ref().map(|bins| StreamBinsRow {
            pilot_outputs: bins.pilot()[0],
            pilot_outputs_neighbor: bins.pilot()[1],
            labels: bins.bins().map_or_else(Vec::new, OutputBins::labels),
        }),
        stopped_at_line: None,
        bounds: Vec::new(),
        claims: Vec::new(),
    }
}

/// Refuses outputs of which nearly every one is different.
fn provable(file: &Path, outcomes: usize, rows: [u64; 2]) -> Result<()> {
    let outputs = rows[0].saturating_add(rows[1]);
    if !hardly_repeats(outcomes as u64, outputs) {
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

/// Saves what was read.
fn interrupted_reading<R: Read>(
    options: &StreamOptions,
    counting: &mut Counting<'_>,
    reader: &BatchReader<R>,
    names: &OutcomeNames,
) -> Result<bool> {
    let line = counting.last_line;
    let reason = if counting.leave(reader, names)? {
        format!(
            "interrupted after line {line}, up to which all is saved; go on with the same input, or with the lines after it"
        )
    } else {
        "interrupted while reading what may have been counted before; go on with the same input".into()
    };
    Err(interrupted(options.state.as_deref().unwrap_or(Path::new("state")), reason))
}

/// What is asked, each question with its share of the failure probability.
struct Questions {
    orders: Vec<Order>,
    directions: Vec<Direction>,
    claims: usize,
    share: FailureProbability,
}

impl Questions {
    fn new(options: &StreamOptions) -> Self {
        let mut orders: Vec<Order> = options.orders.as_ref().map(|orders| orders.0.clone()).unwrap_or_default();
        for &(order, _) in &options.claim_rdp {
            if !orders.contains(&order) {
                orders.push(order);
            }
        }
        if orders.is_empty() && options.claim_epsilon.is_none() {
            orders.extend(Order::new(2.0));
        }
        let directions = options.direction.list();
        let events = (orders.len() + usize::from(options.claim_epsilon.is_some())) * directions.len();
        Self {
            orders,
            directions,
            claims: options.claim_rdp.len() + usize::from(options.claim_epsilon.is_some()),
            share: options.failure_probability.split(events),
        }
    }

    /// Whether each claim is refuted, that of epsilon first.
    fn refuted(&self, options: &StreamOptions, process: &EProcess) -> Vec<bool> {
        let any = |rejects: &dyn Fn(Direction) -> bool| self.directions.iter().any(|&direction| rejects(direction));
        let enough = -self.share.get().ln();
        let epsilon = |epsilon: Epsilon| {
            any(&|direction| process.log_e_value_of_epsilon(epsilon, options.delta, direction) >= enough)
        };
        let rdp =
            |&(order, value): &(Order, f64)| any(&|direction| process.rejects(order, direction, value, self.share));
        options.claim_epsilon.map(epsilon).into_iter().chain(options.claim_rdp.iter().map(rdp)).collect()
    }

    fn bounds(&self, options: &StreamOptions, process: &EProcess) -> Vec<BoundRow> {
        let row = |direction: Direction, order: Order| {
            let bound = process.lower_bound(order, direction, self.share);
            BoundRow {
                query: String::new(),
                method: bound.method,
                direction,
                order: order.get(),
                rdp_lower: Number(bound.value),
                failure_probability: options.failure_probability.get(),
                validity: bound.validity,
            }
        };
        self.directions
            .iter()
            .flat_map(|&direction| self.orders.iter().map(move |&order| row(direction, order)))
            .collect()
    }

    fn claims(&self, options: &StreamOptions, process: &EProcess, refuted: &[bool]) -> Vec<Claim> {
        let failure_probability = options.failure_probability.get();
        let epsilon = options.claim_epsilon.map(|epsilon| {
            let claim = format!("ε ≤ {} at δ = {}", short(epsilon.get()), short(options.delta.get()));
            (claim, None, epsilon.get())
        });
        let rdp = options.claim_rdp.iter().map(|&(order, value)| {
            let bounds = self.directions.iter().map(|&side| process.lower_bound(order, side, self.share).value);
            (format!("D ≤ {} at α = {order}", short(value)), Some(bounds.fold(0.0, f64::max)), value)
        });
        let claims = epsilon.into_iter().chain(rdp).zip(refuted);
        claims
            .map(|((claim, lower, value), &refuted)| Claim {
                claim,
                // A refuted ε is known to be exceeded, by an unknown amount.
                lower: Number(lower.unwrap_or(if refuted { value } else { 0.0 })),
                query: String::new(),
                refuted,
                failure_probability,
            })
            .collect()
    }
}

/// The stream as it was saved, or a new one.
fn start(common: &Common, options: &StreamOptions, state: &StateFile) -> Result<SavedStream> {
    let asked = asked(common, options);
    let Some(saved) = state.read()? else {
        let process = EProcess::new(OutcomeNames::MOST)?;
        let process = match options.horizon {
            Some(pairs) => process.with_horizon(pairs)?,
            None => process,
        };
        let stream = PairStream::new(process, common.seed);
        let (names, bins) = (OutcomeNames::default(), bins(options)?);
        return Ok(SavedStream { asked, names, bins, rows: [0, 0], batches: Vec::new(), stream });
    };
    if saved.asked == asked {
        return Ok(saved);
    }
    Err(Error::from(InputError {
        file: options.state.clone().unwrap_or_default(),
        place: "whole file".into(),
        found: format!("a state of `{}`", one_line(&saved.asked)),
        expected: format!("one of `{asked}`, as asked for"),
        hint: Some("what is asked must be fixed before the outputs are seen".into()),
    }))
}

/// The bins of a new stream.
fn bins(options: &StreamOptions) -> Result<Option<StreamBins>> {
    match &options.bins {
        Some(BinRule::Quantiles(bins)) => {
            let pilot = options.pilot_outputs.unwrap_or(PILOT_PER_BIN * *bins as u64);
            StreamBins::new(*bins, pilot).map(Some)
        }
        Some(BinRule::Edges(bins)) => Ok(Some(StreamBins::declared(bins.clone()))),
        None => Ok(None),
    }
}

/// Everything that must not change between runs.
fn asked(common: &Common, options: &StreamOptions) -> String {
    let mut words = Vec::new();
    if let Some(orders) = &options.orders {
        let orders: Vec<String> = orders.0.iter().map(ToString::to_string).collect();
        words.push(format!("--orders {}", orders.join(",")));
    }
    words.extend(options.claim_rdp.iter().map(|(order, value)| format!("--claim-rdp {order}:{value}")));
    if let Some(epsilon) = options.claim_epsilon {
        words.push(format!("--claim-epsilon {epsilon} --delta {}", options.delta));
    }
    let directions: Vec<&str> = options.direction.list().iter().map(|direction| direction.name()).collect();
    words.push(format!("--direction {}", if directions.len() == 2 { "both" } else { directions[0] }));
    words.push(format!("--failure-probability {}", options.failure_probability));
    words.extend(options.horizon.map(|pairs| format!("--horizon {pairs}")));
    words.extend(options.bins.as_ref().map(|rule| format!("--bins {rule}")));
    words.extend(options.pilot_outputs.map(|outputs| format!("--pilot-outputs {outputs}")));
    words.push(format!("--seed {}", common.seed));
    words.join(" ")
}

/// Outputs without a partner count for nothing.
fn unpaired(saved: &SavedStream) -> Vec<Warning> {
    let [s, s_prime] = saved.stream.waiting();
    let pairs = saved.stream.process().pairs();
    if s.max(s_prime) <= pairs / 10 + 1 {
        return Vec::new();
    }
    let (most, world, other) = if s > 0 { (s, "s", "s_prime") } else { (s_prime, "s_prime", "s") };
    vec![Warning {
        code: "unpaired",
        message: format!(
            "{most} outputs of {world} wait for outputs of {other} and count for nothing yet ({pairs} pairs)"
        ),
        hint: format!("record as many outputs of {other}"),
    }]
}
