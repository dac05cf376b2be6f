//! The race of pairs in an audit of a program: one of many pairs of neighbors leaks by a rare event.

use crate::audit_mechanism::{FAILURE, claim, interval, laplace, refuted, rounded};
use crate::experiment::Report;
use leakbound::black_box::{Dataset, FunctionBlackBox, Output, Pair, Ran};
use leakbound::study::{MechanismAnswer, MechanismStudy, Study, unwatched};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Programs, the probability of the rare event of the first and of the last, and how many pairs each has by turns.
const PROGRAMS: usize = 20;
const PROBABILITIES: [f64; 2] = [1e-3, 5e-2];
const PAIRS: [usize; 5] = [2, 5, 10, 20, 40];
/// Audits of the named pair. All but `MISSED` of them must refute the claim; that fixes the runs it needs.
const NAMED: u64 = 20;
const MISSED: usize = 1;
/// Audits among all pairs, with this multiple of those runs.
const AUDITS: u64 = 5;
const TIMES: u64 = 3;
/// Audits of right programs, and the runs of each.
const RIGHT: u64 = 200;
const RIGHT_RUNS: u64 = 20_000;

/// A program that is right but for a rare output of one of two neighbors.
#[derive(Debug, Clone, Copy)]
struct Program {
    /// What the other outputs look like.
    usual: Usual,
    /// The rare output.
    rare: Rare,
    probability: f64,
    /// The claimed δ; ε is 1.
    delta: f64,
    pairs: usize,
}

/// Outputs whose probabilities differ by factors up to e, as they may.
#[derive(Debug, Clone, Copy)]
enum Usual {
    Real,
    Whole,
    Answer,
}

/// What is put out rarely.
#[derive(Debug, Clone, Copy)]
enum Rare {
    Nothing,
    Text,
    Large,
}

impl Usual {
    fn output(self, bit: f64, stream: &mut ChaCha8Rng) -> Output {
        match self {
            Self::Real => Output::Number(rounded(bit + laplace(stream))),
            Self::Whole => {
                let mut geometric = || (-(1.0 - stream.random_range(0.0..1.0f64)).ln()).floor();
                Output::Number(bit + geometric() - geometric())
            }
            Self::Answer => {
                let truth = stream.random_bool(1.0 / (1.0 + (-1f64).exp()));
                Output::Bool((bit > 0.5) == truth)
            }
        }
    }
}

impl Rare {
    fn output(self) -> Output {
        match self {
            Self::Nothing => Output::Null,
            Self::Text => Output::Text("rare".into()),
            Self::Large => Output::Number(1e6),
        }
    }
}

impl Program {
    fn all() -> Vec<Self> {
        let [least, most] = PROBABILITIES.map(f64::ln);
        let program = |place: usize| {
            let probability = (least + (most - least) * place as f64 / (PROGRAMS - 1) as f64).exp();
            Self {
                usual: [Usual::Real, Usual::Whole, Usual::Answer][place % 3],
                rare: [Rare::Nothing, Rare::Text, Rare::Large][(place / 3) % 3],
                probability,
                delta: [0.0, probability / 2.0, probability / 3.0][(place / 2) % 3],
                pairs: PAIRS[place % PAIRS.len()],
            }
        };
        (0..PROGRAMS).map(program).collect()
    }

    /// The program that leaks on the pair at this place.
    fn source(self, guilty: usize) -> FunctionBlackBox<impl Fn(&Dataset, usize, u64) -> Ran + Sync> {
        FunctionBlackBox::new("rare", move |dataset: &Dataset, runs, seed| {
            let mut stream = ChaCha8Rng::seed_from_u64(seed);
            let numbers = dataset.numbers().unwrap_or_default();
            let leaks = numbers == [guilty as f64, (guilty % 2) as f64];
            let mut output = || match leaks && stream.random_bool(self.probability) {
                true => self.rare.output(),
                false => self.usual.output(numbers.get(1).copied().unwrap_or_default(), &mut stream),
            };
            Ok((0..runs).map(|_| output()).collect())
        })
    }

    fn pair(place: usize) -> Pair {
        let dataset = |bit: f64| Dataset::of_numbers(&[place as f64, bit]);
        Pair { dataset: dataset(1.0), neighbor: dataset(0.0), pattern: format!("pair {place}") }
    }

    fn audit(self, pairs: Vec<Pair>, guilty: usize, runs: u64, stop_early: bool, seed: u64) -> Option<MechanismAnswer> {
        let source = self.source(guilty);
        let study = MechanismStudy::new(&source, pairs, claim(self.delta), runs);
        MechanismStudy { stop_early, seed, ..study }.run(&unwatched).ok()
    }

    /// The fewest runs, among powers of √2, with which the guilty pair alone is refuted.
    fn runs_of_named(self, stop_early: bool) -> u64 {
        let named = |runs: u64, seed: u64| self.audit(vec![Self::pair(0)], 0, runs, stop_early, seed);
        let missed = |runs: u64, seeds: std::ops::Range<u64>| {
            seeds.into_par_iter().filter(|&seed| !named(runs, seed).is_some_and(|answer| refuted(&answer))).count()
        };
        // Far too few runs show in a few audits.
        let enough = |runs: u64| missed(runs, 0..NAMED / 4) <= MISSED && missed(runs, 0..NAMED) <= MISSED;
        // Fewer outputs than four in the event never refute.
        let least = (2.0 * (4.0 / self.probability).log2()) as i32;
        let mut steps = (least..least + 32).map(|step| 2f64.powf(f64::from(step) / 2.0).max(200.0) as u64);
        steps.find(|&runs| enough(runs)).unwrap_or(u64::MAX / TIMES)
    }

    /// How many audits find the guilty pair among all, and the runs that the audit itself forecasts for that.
    fn found(self, runs: u64, stop_early: bool) -> (u64, u64) {
        let audit = |seed: u64| {
            let guilty = (seed as usize * 13 + 3) % self.pairs;
            self.audit((0..self.pairs).map(Self::pair).collect(), guilty, runs, stop_early, 100 + seed)
        };
        let answers: Vec<MechanismAnswer> = (0..AUDITS).into_par_iter().filter_map(audit).collect();
        let forecast = answers.first().and_then(|answer| answer.naming).map_or(0, |naming| naming.runs_needed);
        (answers.iter().filter(|answer| refuted(answer)).count() as u64, forecast)
    }
}

/// The audits of one kind, with the share of those that refute.
fn leaks(report: &mut Report, stop_early: bool) {
    let how = if stop_early { "stopping early" } else { "with bounds" };
    let (mut all, mut forecast) = ([0; 2], [0; 2]);
    for program in Program::all() {
        let Program { usual, rare, probability, delta, pairs } = program;
        let named = program.runs_of_named(stop_early);
        let runs = TIMES * named;
        let (found, needed) = program.found(runs, stop_early);
        all = [all[0] + found, all[1] + AUDITS];
        if needed <= runs {
            forecast = [forecast[0] + found, forecast[1] + AUDITS];
        }
        let words = [format!("{usual:?}"), format!("{rare:?}")];
        report.line(format!(
            "{how:<14} p {probability:.5}, delta {delta:.5}, {:<6} {:<7}: {named:>7} runs named, {runs:>7} among {pairs:>2} \
             (forecast {needed:>7}): {found:>2} of {AUDITS} refuted",
            words[0], words[1],
        ));
    }
    let share =
        |[found, of]: [u64; 2]| format!("{found} of {of} audits ({:.1} %)", 100.0 * found as f64 / of.max(1) as f64);
    let enough = |[found, of]: [u64; 2]| 100 * found >= 95 * of;
    let line =
        format!("{how}: {} among all pairs refute the claim with {TIMES} times the runs of the named pair", share(all));
    if stop_early {
        report.line(line)
    } else {
        report.claim(enough(all), format!("{line} (at least 95 %)"))
    }
    report.line(format!("{how}: {} where the audit's own forecast asks for no more runs", share(forecast)));
}

/// The same programs where the rare event is just as likely as δ allows.
fn right(report: &mut Report) {
    for stop_early in [false, true] {
        let program = |place: usize| {
            let program = Program::all()[place % PROGRAMS];
            Program { delta: program.probability, pairs: 8, ..program }
        };
        let audit = |&seed: &u64| {
            let pairs = (0..8).map(Program::pair).collect();
            let answer = program(seed as usize).audit(pairs, 3, RIGHT_RUNS, stop_early, seed);
            answer.is_some_and(|answer| self::refuted(&answer))
        };
        let refuted = (0..RIGHT).into_par_iter().filter(audit).count() as u64;
        let [low, high] = interval(refuted, RIGHT);
        let how = if stop_early { "stopping early" } else { "with bounds" };
        report.claim(low <= FAILURE, format!("{how}: {refuted} of {RIGHT} audits refute a right claim, [{low:.4}, {high:.4}] at 99 % (at most {FAILURE})"));
    }
}

/// The table.
pub fn report() -> Report {
    let mut report = Report::new(format!(
        "{PROGRAMS} programs with epsilon = 1 but for an output that one of two neighbors has with probability p and the other \
         never; one pair in each program leaks. `named`: the fewest runs of each world, a power of the root of 2, with which \
         all but {MISSED} of {NAMED} audits of that pair alone refute (1, delta). Then {AUDITS} audits among all pairs, \
         with {TIMES} times these runs. Failure probability {FAILURE}, seeds 0 to {}, and from 100",
        RIGHT - 1
    ));
    for stop_early in [false, true] {
        leaks(&mut report, stop_early);
    }
    right(&mut report);
    report
}
