//! Audits of programs: the zoo, false claims about right mechanisms, and how much of a known leakage is proved.

use crate::experiment::Report;
use leakbound::black_box::{
    Dataset, Domain, FunctionBlackBox, LineBlackBox, Output, Pair, Ran, Shrink, neighbor_pairs,
};
use leakbound::interval::{BinomialCounts, clopper_pearson};
use leakbound::program::Limits;
use leakbound::quantity::{Delta, Epsilon, FailureProbability, Order};
use leakbound::relation::Relation;
use leakbound::study::{Bounds, MechanismAnswer, MechanismStudy, Study, unwatched};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use serde::Deserialize;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Failure probability of an audit.
pub(crate) const FAILURE: f64 = 0.05;
/// Runs of each world in which the zoo's faults are to be seen, and the most that half of them may take.
const VISIBLE: u64 = 10_000;
const HALF: u64 = 1_000;
/// Runs of an audit with bounds.
const WHOLE: u64 = 100_000;
/// Audits of right mechanisms, and runs of each.
const AUDITS: usize = 2_000;
const RUNS: u64 = 2_000;
/// Real outputs are multiples of this, as a careful author would release them.
const GRID: f64 = 1e6;

/// What is claimed of a program, and of which datasets.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Claimed {
    relation: String,
    dataset: Vec<serde_json::Value>,
    domain: Option<[f64; 2]>,
    epsilon: Option<f64>,
    #[serde(default)]
    delta: f64,
    #[serde(default)]
    rdp: Vec<String>,
    mu: Option<f64>,
}

/// An entry of `zoo.toml`.
#[derive(Debug, Deserialize)]
struct Entry {
    name: String,
    arguments: Vec<String>,
    #[serde(flatten)]
    claimed: Claimed,
    right: bool,
    #[serde(default)]
    visible: bool,
}

#[derive(Deserialize)]
struct Zoo {
    mechanism: Vec<Entry>,
}

impl Claimed {
    /// The claims, which are also what is bounded.
    fn bounds(&self) -> leakbound::Result<Bounds> {
        let delta = Delta::new(self.delta)?;
        let mut bounds = Bounds::new(vec![Order::new(2.0)?], delta, FailureProbability::new(FAILURE)?);
        bounds.claims.epsilon =
            self.epsilon.map(|epsilon| Ok::<_, leakbound::Error>((Epsilon::new(epsilon)?, delta))).transpose()?;
        bounds.claims.mu = self.mu.map(leakbound::bound::Claimed::new).transpose()?;
        for claim in &self.rdp {
            let (order, value) = claim.split_once(':').unwrap_or_default();
            let claimed = leakbound::bound::Claimed::new(value.parse().unwrap_or(0.0))?;
            bounds.claims.rdp.push((Order::new(order.parse().unwrap_or(2.0))?, claimed));
        }
        Ok(bounds)
    }

    /// An audit of a program that is started by this command.
    pub(crate) fn audit(&self, command: &str, runs: u64, stop_early: bool) -> leakbound::Result<MechanismAnswer> {
        let source = LineBlackBox::new(command, Limits::default())?;
        let domain = self.domain.map(|[low, high]| Domain::new(low, high)).transpose()?;
        let relation: Relation = self.relation.parse()?;
        let pairs = neighbor_pairs(relation, &Dataset::new(self.dataset.clone()), domain)?;
        let bounds = self.bounds()?;
        let shrink = Shrink { relation: Some(relation), domain };
        let study = MechanismStudy::new(&source, pairs, bounds, runs);
        MechanismStudy { stop_early, shrink, shrink_runs: runs / 2, ..study }.run(&unwatched)
    }

    /// The neighbors, as the option of the command has them.
    pub(crate) fn relation(&self) -> &str {
        &self.relation
    }
}

/// An audit of an entry.
fn audit(
    entry: &Entry,
    python: &Path,
    folder: &Path,
    runs: u64,
    stop_early: bool,
) -> leakbound::Result<MechanismAnswer> {
    let script = folder.join(&entry.arguments[0]);
    let words = [python.display().to_string(), script.display().to_string()].into_iter();
    let command = shell_words::join(words.chain(entry.arguments[1..].iter().cloned()));
    entry.claimed.audit(&command, runs, stop_early)
}

pub(crate) fn refuted(answer: &MechanismAnswer) -> bool {
    answer.claims.iter().any(|claim| claim.refuted)
}

/// A Python with numpy: the one of the adapters, or the one on the path.
fn python() -> Option<PathBuf> {
    let adapters = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/adapters/bin/python");
    let has_numpy = |python: &PathBuf| {
        let status = Command::new(python).args(["-c", "import numpy"]).stderr(std::process::Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    [adapters, "python3".into()].into_iter().find(has_numpy)
}

fn zoo(report: &mut Report) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("zoo");
    let text = std::fs::read_to_string(folder.join("zoo.toml")).unwrap_or_default();
    let (Ok(zoo), Some(python)) = (toml::from_str::<Zoo>(&text), python()) else {
        return report
            .claim(false, "the zoo was not run: it needs zoo.toml, and numpy in target/adapters or on the path");
    };
    let (mut needed, mut wrong, mut wrong_whole, mut right) = (Vec::new(), 0u64, 0u64, [0u64; 3]);
    let mut shrunk: Vec<bool> = Vec::new();
    for entry in &zoo.mechanism {
        let start = Instant::now();
        let runs = |answer: &MechanismAnswer| answer.runs.search + answer.runs.bounded;
        let found = [(VISIBLE, true), (WHOLE, false)].map(|(runs, early)| audit(entry, &python, &folder, runs, early));
        let [Ok(early), Ok(whole)] = &found else {
            let errors: Vec<String> =
                found.iter().filter_map(|found| Some(found.as_ref().err()?.to_string())).collect();
            report.claim(false, format!("{}: {}", entry.name, errors.join("; ")));
            continue;
        };
        let of = |refuted: bool| if refuted { "refuted" } else { "stands" };
        let case = whole.counterexample.as_ref().or(early.counterexample.as_ref());
        let words =
            case.map(|case| format!("{} / {}: {}", case.dataset, case.neighbor, case.event)).unwrap_or_default();
        let kind = match (entry.right, entry.visible) {
            (true, _) => "right",
            (false, true) => "wrong",
            (false, false) => "hidden",
        };
        report.line(format!(
            "{:<38} {kind:<6} early {:<7} {:>6} runs, whole {:<7} {:>5.1} s  {words}",
            entry.name,
            of(refuted(early)),
            runs(early),
            of(refuted(whole)),
            start.elapsed().as_secs_f64()
        ));
        if entry.right {
            right = [right[0] + 1, right[1] + u64::from(refuted(early)), right[2] + u64::from(refuted(whole))];
        } else if entry.visible {
            wrong += 1;
            wrong_whole += u64::from(refuted(whole));
            let cases = [early, whole].into_iter().filter_map(|answer| answer.counterexample.as_ref());
            shrunk.extend(cases.map(|case| case.shrunk));
            needed.push(if refuted(early) { runs(early) } else { u64::MAX });
        }
    }
    needed.sort_unstable();
    let seen = needed.iter().filter(|runs| **runs < u64::MAX).count() as u64;
    let median = needed.get(needed.len() / 2).copied().unwrap_or(u64::MAX);
    report.claim(10 * seen >= 9 * wrong, format!("{seen} of {wrong} visible wrong mechanisms refuted within {VISIBLE} runs of each world, search included (at least 90 %)"));
    report.claim(median <= HALF, format!("median runs of each world, search included: {median} (at most {HALF})"));
    report.line(format!("{wrong_whole} of {wrong} refuted with {WHOLE} runs of each world"));
    let cases = shrunk.iter().filter(|shrunk| **shrunk).count();
    let line = format!(
        "{cases} of {} counterexamples were made smaller and passed a test on fresh outputs (at least 90 %)",
        shrunk.len()
    );
    report.claim(10 * cases >= 9 * shrunk.len(), line);
    let allowed = |refuted: u64| interval(refuted, right[0])[0] <= FAILURE;
    let line = format!("right mechanisms refuted: {} and {} of {}", right[1], right[2], right[0]);
    report.claim(allowed(right[1]) && allowed(right[2]), line);
}

/// The ends of a 99 % interval.
pub(crate) fn interval(count: u64, trials: u64) -> [f64; 2] {
    let found =
        BinomialCounts::new(count, trials).and_then(|counts| clopper_pearson(counts, FailureProbability::new(0.01)?));
    found.map_or([0.0, 1.0], |limits| [limits.lower, limits.upper])
}

pub(crate) fn rounded(value: f64) -> f64 {
    (value * GRID).round() / GRID
}

pub(crate) fn laplace(stream: &mut ChaCha8Rng) -> f64 {
    let uniform: f64 = stream.random_range(-0.5..0.5);
    -uniform.signum() * (1.0 - 2.0 * uniform.abs()).ln()
}

/// One output of a right mechanism, for a sum in [0, 1] that a neighbor moves by 1.
type One = fn(f64, &mut ChaCha8Rng) -> Output;

/// Cheap right mechanisms with ε = 1, or μ = 1 for the last.
const RIGHT: [(&str, One); 4] = [
    ("Laplace", |sum, stream| Output::Number(rounded(sum + laplace(stream)))),
    ("randomized response", |sum, stream| {
        let truth = stream.random_bool(1.0 / (1.0 + (-1f64).exp()));
        Output::Bool((sum > 0.5) == truth)
    }),
    ("report noisy max", |sum, stream| {
        let scores = [sum + 2.0 * laplace(stream), 1.0 - sum + 2.0 * laplace(stream), 0.5 + 2.0 * laplace(stream)];
        Output::Number((0..3).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(0) as f64)
    }),
    ("Gaussian", |sum, stream| {
        let noise: f64 = StandardNormal.sample(stream);
        Output::Number(rounded(sum + noise))
    }),
];

fn of_function(
    name: &str,
    one: impl Fn(f64, &mut ChaCha8Rng) -> Output + Sync,
) -> FunctionBlackBox<impl Fn(&Dataset, usize, u64) -> Ran + Sync> {
    FunctionBlackBox::new(name, move |dataset: &Dataset, runs, seed| {
        let mut stream = ChaCha8Rng::seed_from_u64(seed);
        let sum = dataset.numbers().unwrap_or_default().iter().sum();
        Ok((0..runs).map(|_| one(sum, &mut stream)).collect())
    })
}

/// Right mechanisms, audited so often that a failure probability that does not hold shows.
fn false_claims(report: &mut Report) {
    for (index, (name, one)) in RIGHT.into_iter().enumerate() {
        for stop_early in [false, true] {
            let refuted = (0..AUDITS as u64 / 4)
                .into_par_iter()
                .filter(|&seed| {
                    let source = of_function(name, one);
                    let mut bounds = claim(0.0);
                    if index == 3 {
                        (bounds.claims.epsilon, bounds.claims.mu) = (None, leakbound::bound::Claimed::new(1.0).ok());
                    }
                    let study = MechanismStudy::new(&source, moved_by_one(), bounds, RUNS);
                    MechanismStudy { stop_early, seed, ..study }
                        .run(&unwatched)
                        .is_ok_and(|answer| self::refuted(&answer))
                })
                .count() as u64;
            let all = AUDITS as u64 / 4;
            let [low, high] = interval(refuted, all);
            let how = if stop_early { "stopping early" } else { "with bounds" };
            report.claim(low <= FAILURE, format!("{name}, {how}: {refuted} of {all} audits refute the right claim, [{low:.4}, {high:.4}] at 99 % (at most {FAILURE})"));
        }
    }
}

/// The number 0 with the neighbors that are 1 away.
fn moved_by_one() -> Vec<Pair> {
    neighbor_pairs(Relation::Linf(1.0), &Dataset::of_numbers(&[0.0]), None).unwrap_or_default()
}

/// ε = 1, at this δ.
pub(crate) fn claim(delta: f64) -> Bounds {
    let delta = Delta::new(delta).expect("a delta");
    let failure = FailureProbability::new(FAILURE).expect("a probability");
    let mut bounds = Bounds::new(vec![Order::new(2.0).expect("an order")], delta, failure);
    bounds.claims.epsilon = Some((Epsilon::new(1.0).expect("an epsilon"), delta));
    bounds
}

/// How much is proved of a known leakage with 10^5 runs of each world of a given pair.
fn tightness(report: &mut Report) {
    let pairs = || {
        let dataset = |number: f64| Dataset::of_numbers(&[number]);
        vec![Pair { dataset: dataset(1.0), neighbor: dataset(0.0), pattern: "given".into() }]
    };
    for (dimensions, wanted) in [(1usize, 0.85), (10, 0.8), (100, 0.7)] {
        // In a direction that no sum and no single coordinate shows.
        let direction = |at: usize| [1.0, -2.0, 3.0, -1.0, 2.0][at % 5];
        let length = (0..dimensions).map(|at| direction(at) * direction(at)).sum::<f64>().sqrt();
        let source = of_function("Gaussian", move |sum, stream| {
            let mut number = |at: usize| {
                rounded(sum * direction(at) / length + Distribution::<f64>::sample(&StandardNormal, stream))
            };
            match dimensions {
                1 => Output::Number(number(0)),
                _ => Output::Vector((0..dimensions).map(number).collect()),
            }
        });
        let study = MechanismStudy { seed: 1, ..MechanismStudy::new(&source, pairs(), claim(1e-5), WHOLE) };
        let start = Instant::now();
        let rows = study.run(&unwatched).map_or_else(|_| Vec::new(), |answer| answer.bounds);
        let proved = rows.iter().map(|row| row.rdp_lower.0).fold(0.0, f64::max);
        let line = format!(
            "N(mu, I) in {dimensions} dimensions, D_2 = 1: {proved:.4} proved (at least {wanted}), {:.1} s",
            start.elapsed().as_secs_f64()
        );
        report.claim(proved >= wanted && proved <= 1.0, line);
    }
    let source = of_function("Laplace", |sum, stream| Output::Number(rounded(sum + laplace(stream))));
    let study = MechanismStudy { seed: 1, ..MechanismStudy::new(&source, pairs(), claim(0.0), WHOLE) };
    let rows = study.run(&unwatched).map_or_else(|_| Vec::new(), |answer| answer.epsilon);
    let proved = rows.iter().map(|row| row.epsilon_lower.0).fold(0.0, f64::max);
    let line = format!("Laplace noise of scale 1: epsilon {proved:.4} of 1 proved at delta 0 (at least 0.9)");
    report.claim((0.9..=1.0).contains(&proved), line);
}

/// How much longer an audit takes than the audited program, of which each output takes 10 us.
fn overhead(report: &mut Report) {
    let Some(python) = python() else { return report.claim(false, "no Python with numpy: the overhead is not known") };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("zoo/own_time.py");
    let words = [python.display().to_string(), script.display().to_string(), "count".to_owned()];
    // The program alone reads as many requests from a file.
    let alone = |runs: u64| -> std::io::Result<f64> {
        let mut requests = tempfile::tempfile()?;
        for id in 0..2 * runs / 1000 {
            writeln!(requests, "{{\"id\":{id},\"dataset\":[1,1,1],\"runs\":1000,\"seed\":{id}}}")?;
        }
        requests.rewind()?;
        let start = Instant::now();
        let silent = std::process::Stdio::null;
        Command::new(&words[0]).args(&words[1..]).stdin(requests).stdout(silent()).status()?;
        Ok(start.elapsed().as_secs_f64())
    };
    let audited = || -> leakbound::Result<(f64, u64)> {
        let source = LineBlackBox::new(&shell_words::join(&words), Limits::default())?;
        let pairs = neighbor_pairs(Relation::AddRemove, &Dataset::of_numbers(&[1.0; 3]), None)?;
        let start = Instant::now();
        let answer = MechanismStudy::new(&source, pairs, claim(0.0), WHOLE).run(&unwatched)?;
        Ok((start.elapsed().as_secs_f64(), answer.runs.all()))
    };
    let round = || {
        let (seconds, runs) = audited().ok()?;
        Some(seconds / alone(runs).ok()? - 1.0)
    };
    let mut found: Vec<f64> = (0..5).filter_map(|_| round()).collect();
    found.sort_by(f64::total_cmp);
    let [least, median] = [0, 2].map(|place| 100.0 * found.get(place).copied().unwrap_or(f64::NAN));
    let line = format!(
        "a Python program that takes 10 us for an output: an audit of {WHOLE} runs of each world takes {median:.0} % longer than the program alone, median of 5 rounds by turns, {least:.0} % at least (at most 20 %)"
    );
    report.claim(median <= 20.0, line);
}

/// The most memory that this process has used since it was asked last, in MiB; none where the system does not say.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    Some(peak.trim().trim_end_matches(" kB").parse::<f64>().ok()? / 1024.0)
}

/// Whether memory grows with the runs.
fn memory(report: &mut Report) {
    let audited = |runs: u64| {
        let source = of_function("Gaussian", |sum, stream| {
            let number = |_| sum + Distribution::<f64>::sample(&StandardNormal, stream);
            Output::Vector((0..10).map(number).collect())
        });
        peak_memory()?;
        MechanismStudy::new(&source, moved_by_one(), claim(1e-5), runs).run(&unwatched).ok()?;
        peak_memory()
    };
    match (audited(10 * WHOLE), audited(100 * WHOLE)) {
        (Some(few), Some(many)) => report.claim(
            many <= 1.1 * few + 10.0,
            format!(
                "vectors of 10 numbers: {few:.0} MiB at most with {} runs of each world, {many:.0} MiB with {}",
                10 * WHOLE,
                100 * WHOLE
            ),
        ),
        _ => report.line("memory was not measured: this system does not tell the peak".to_owned()),
    }
}

/// All of it.
pub fn report() -> Report {
    let mut report = Report::new(format!(
        "Audits of programs at failure probability {FAILURE}: the mechanisms of validation/zoo, each audited once stopping early with {VISIBLE} runs of \
         each world and once with bounds and {WHOLE} runs; {AUDITS} audits of right mechanisms in each way with {RUNS} runs; known leakages with {WHOLE} runs. \
         Seeds 0, 0 to 499, and 1."
    ));
    memory(&mut report);
    tightness(&mut report);
    overhead(&mut report);
    false_claims(&mut report);
    zoo(&mut report);
    report
}
