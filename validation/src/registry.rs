//! Every accountant that a command prints, against the exact value in the same direction.
//!
//! Random and extreme cases go through `exact`, `audit votes`, `account` and `verify` as a user asks them. An upper
//! bound must be at least the exact value of its direction; an accountant of one direction must not be printed as a
//! bound of the other. Lower bounds are counted by answers: an answer is wrong if any number in it, of whatever query,
//! order, direction or method, is above the exact value.

use crate::experiment::{Report, Tally};
use leakbound::program::never_stop;
use leakbound::record::{MemoryFile, MemoryFiles};
use leakbound::verify::{Plan, accountant_names, accountant_of_name, verify};
use leakbound_cli::{Request, answer};
use ndarray::{Array2, Array3};
use ndarray_npy::NpzWriter;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Cursor;
use std::time::{Duration, Instant};

/// Rounding of exact values: relative, and absolute where a logarithm is divided by α - 1.
const RELATIVE: f64 = 1e-9;
const ABSOLUTE: f64 = 1e-13;
/// The series of CaPC estimates its divergences.
const OF_SERIES: f64 = 1e-6;
/// Failure probability of an answer.
const FAILURE: f64 = 0.05;

/// How much is tried.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Cases of each kind at least: `exact`, `audit votes`, `account`.
    pub cases: [usize; 3],
    /// Cases per property of each accountant of `verify`.
    pub verified: u64,
    /// More cases of all kinds until this much time has passed.
    pub at_least: Duration,
    /// Seed of the first case.
    pub seed: u64,
}

/// About a minute.
pub const GATE: Effort = Effort { cases: [1300, 500, 250], verified: 10, at_least: Duration::ZERO, seed: 1 };

/// What was seen.
#[derive(Debug, Default)]
struct Tallies {
    /// By command, accountant, relation and direction.
    upper: BTreeMap<String, Tally>,
    /// Answers with lower bounds, and those with any number above the exact value.
    answers: u64,
    wrong_answers: u64,
    numbers: u64,
    /// Answers that ended in an error.
    errors: Vec<String>,
    cases: [usize; 3],
}

/// An exact value and a bound of it from above, at an order, or at 0 where there is none.
struct Pair {
    exact: f64,
    bound: f64,
    order: f64,
}

impl Tallies {
    /// Counts a pair of a case; `relative` is the accuracy of the exact value.
    fn at_most(&mut self, heading: String, Pair { exact, bound, order }: Pair, relative: f64, case: &str) {
        let tally = self.upper.entry(heading).or_default();
        tally.checked += 1;
        let rounding = ABSOLUTE * if order > 1.0 { 1.0 + 1.0 / (order - 1.0) } else { 1.0 };
        // NaN is broken.
        if !(exact <= bound * (1.0 + relative) + rounding) {
            tally.broken.push(format!("exact {exact:e} above {bound:e} at {order}: {case}"));
        }
        if bound > 1e-12 && bound.is_finite() {
            tally.tightest = tally.tightest.max(exact / bound);
        }
    }

    fn add(&mut self, other: Self) {
        for (heading, tally) in other.upper {
            let sum = self.upper.entry(heading).or_default();
            sum.checked += tally.checked;
            sum.tightest = sum.tightest.max(tally.tightest);
            sum.broken.extend(tally.broken);
        }
        self.answers += other.answers;
        self.wrong_answers += other.wrong_answers;
        self.numbers += other.numbers;
        self.errors.extend(other.errors);
        self.cases.iter_mut().zip(other.cases).for_each(|(sum, cases)| *sum += cases);
    }
}

/// A number of a document, where infinity is a text.
fn number(value: &Value) -> f64 {
    match value {
        Value::String(text) if text == "inf" => f64::INFINITY,
        other => other.as_f64().unwrap_or(f64::NAN),
    }
}

fn rows(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or("")
}

/// Asks with options as on the command line, a value after each, which can be repeated there.
fn ask(words: &str, file: Option<(&str, Vec<u8>)>, tallies: &mut Tallies) -> Option<Value> {
    let mut parts = words.split(" --");
    let command = parts.next().unwrap_or_default();
    let option = |part: &str| match part.split_once(' ') {
        Some((name, value)) => (name.to_owned(), Value::from(value.trim())),
        None => (part.trim().to_owned(), Value::from(true)),
    };
    let mut options: BTreeMap<String, Value> = parts.map(option).collect();
    let mut command = command.to_owned();
    if let Some((name, _)) = &file {
        command = command.replace(&format!(" {name}"), "");
        options.insert("file".into(), (*name).into());
    }
    let files = file.into_iter().map(|(name, bytes)| (name.into(), MemoryFile::of_bytes(bytes)));
    let options = serde_json::to_string(&options).expect("texts");
    let request = Request { command, options, files: MemoryFiles::from_iter(files), ..Request::default() };
    match answer(request) {
        Ok(found) => Some(serde_json::from_str(&found.json).expect("a document")),
        Err(rejection) => {
            tallies.errors.push(format!("{rejection}: {words}"));
            None
        }
    }
}

/// Log-uniform.
fn scale(random: &mut ChaCha8Rng, from: f64, to: f64) -> f64 {
    let value = (random.random_range(from.ln()..to.ln())).exp();
    format!("{value:.3}").parse().expect("a number")
}

fn noise(random: &mut ChaCha8Rng) -> String {
    let kind = if random.random_bool(0.5) { "gaussian" } else { "laplace" };
    format!("{kind}:{}", scale(random, 0.2, 60.0))
}

fn joined<T: ToString>(values: &[T]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// Votes from even to unanimous, with empty and huge classes among them.
fn votes(random: &mut ChaCha8Rng, classes: usize) -> Vec<u64> {
    let most: u64 = [3, 12, 60, 300][random.random_range(0..4)];
    let mut votes: Vec<u64> = (0..classes).map(|_| random.random_range(0..=most)).collect();
    match random.random_range(0..4) {
        0 => votes[0] += 4 * most,
        1 => votes.iter_mut().skip(1).for_each(|votes| *votes = u64::from(*votes > most / 2)),
        2 => votes[1] = votes[0],
        _ => {}
    }
    votes
}

/// One vote moved, and whether there was one to move.
fn moved(random: &mut ChaCha8Rng, votes: &[u64]) -> Option<Vec<u64>> {
    let from: Vec<usize> = (0..votes.len()).filter(|&class| votes[class] > 0).collect();
    if from.is_empty() {
        return None;
    }
    let from = from[random.random_range(0..from.len())];
    let to = (from + random.random_range(1..votes.len())) % votes.len();
    let mut neighbor = votes.to_vec();
    neighbor[from] -= 1;
    neighbor[to] += 1;
    Some(neighbor)
}

const ORDERS: &str = "1.001,1.5,2,8,64,1000";

fn exact_case(random: &mut ChaCha8Rng, tallies: &mut Tallies, _seed: usize) {
    let classes = random.random_range(2..6);
    let histogram = votes(random, classes);
    let (relation, pair) = match random.random_range(0..8) {
        0..3 => match moved(random, &histogram) {
            Some(neighbor) => ("moved", format!("--neighbor {}", joined(&neighbor))),
            None => return,
        },
        3 => ("other", format!("--neighbor {}", joined(&votes(random, classes)))),
        4 => {
            let mut neighbor = histogram.clone();
            neighbor[random.random_range(0..classes)] += 1;
            ("added", format!("--neighbor {}", joined(&neighbor)))
        }
        5 => ("worst moved", "--worst-neighbor moved".into()),
        6 => ("worst added", "--worst-neighbor added".into()),
        _ => ("worst removed", "--worst-neighbor removed".into()),
    };
    let movable = histogram.iter().any(|count| *count > 0);
    if !movable && (relation == "worst moved" || relation == "worst removed") {
        return;
    }
    let noise = noise(random);
    let test = if random.random_bool(0.3) {
        let most = histogram.iter().copied().max().unwrap_or(0) as f64;
        let threshold = (most * random.random_range(0.3..1.5)).round();
        let form = if random.random_bool(0.5) { "max" } else { "per-class" };
        format!(
            " --threshold {threshold} --threshold-noise gaussian:{} --threshold-form {form}",
            scale(random, 0.3, 50.0)
        )
    } else {
        String::new()
    };
    let words = format!("exact --histogram {} {pair} --noise {noise}{test} --orders {ORDERS}", joined(&histogram));
    let Some(document) = ask(&words, None, tallies) else { return };
    for upper in rows(&document["accountants"]) {
        let order = number(&upper["order"]);
        let direction = text(upper, "direction");
        let Some(row) = rows(&document["divergences"]).find(|row| number(&row["order"]) == order) else { continue };
        let heading = format!("exact, {}, {relation}, {direction}", text(upper, "name"));
        let pair = Pair { exact: number(&row[direction]), bound: number(&upper["rdp"]), order };
        tallies.at_most(heading, pair, RELATIVE, &words);
    }
}

/// Arrays of a recording.
type Arrays = NpzWriter<Cursor<Vec<u8>>>;

fn no_arrays() -> Arrays {
    NpzWriter::new(Cursor::default())
}

/// Asks with these arrays as `votes.npz`.
fn ask_with(words: &str, arrays: Arrays, tallies: &mut Tallies) -> Option<Value> {
    let bytes = arrays.finish().expect("an archive in memory").into_inner();
    ask(words, Some(("votes.npz", bytes)), tallies)
}

/// A class, most often the query's own.
fn class(random: &mut ChaCha8Rng, classes: u8, own: u8, agreement: f64) -> u8 {
    if random.random_bool(agreement) { own } else { random.random_range(0..classes) }
}

/// Writes recorded votes of a model; its number and its options.
fn recorded(random: &mut ChaCha8Rng, writer: &mut Arrays) -> (usize, String) {
    let (queries, classes) = (random.random_range(1..4usize), random.random_range(2..5u8));
    let agreement = [0.0, 0.5, 0.9, 0.99][random.random_range(0..4)];
    let own: Vec<u8> = (0..queries).map(|_| random.random_range(0..classes)).collect();
    let labels = ndarray::Array1::from(own.clone());
    let model = random.random_range(0..4);
    let options = match model {
        0 => {
            let mut pairs = (Vec::new(), Vec::new());
            for _ in 0..queries {
                let mut votes = votes(random, usize::from(classes));
                // A recording without a vote is rejected.
                votes[0] += u64::from(votes.iter().all(|count| *count == 0));
                // As many votes, or one more.
                let mut neighbor = moved(random, &votes).unwrap_or_else(|| votes.clone());
                match random.random_range(0..5) {
                    0 => neighbor = moved(random, &neighbor).unwrap_or(neighbor),
                    1 => {
                        neighbor.clone_from(&votes);
                        neighbor[random.random_range(0..usize::from(classes))] += 1;
                    }
                    _ => {}
                }
                pairs.0.extend(votes);
                pairs.1.extend(neighbor);
            }
            let shape = (queries, usize::from(classes));
            let array = |votes| Array2::from_shape_vec(shape, votes).expect("as many entries");
            writer.add_array("histogram", &array(pairs.0)).expect("memory");
            writer.add_array("histogram_prime", &array(pairs.1)).expect("memory");
            "--model prompt-pate".to_owned()
        }
        1 | 2 => {
            let (instantiations, voters) = (random.random_range(1..5usize), random.random_range(3..14usize));
            let (name, changed) = if model == 1 { ("pate", "pate_pois_advq") } else { ("capc", "capc_pois_advq") };
            let votes = Array3::from_shape_fn((instantiations, queries, voters), |(_, query, _)| {
                class(random, classes, own[query], agreement)
            });
            writer.add_array(format!("{name}_votes"), &votes).expect("memory");
            let positions = ndarray::Array1::from_iter(0..queries as i32);
            writer.add_array("adv_query", &positions).expect("memory");
            let marked = random.random_range(0..classes);
            let votes = Array2::from_shape_fn((queries, 4), |_| class(random, classes, marked, 0.8));
            writer.add_array(changed, &votes).expect("memory");
            writer.add_array("query_label", &labels).expect("memory");
            let more = if model == 1 && random.random_bool(0.2) { " --changed 2" } else { "" };
            format!("--model {name}{more}")
        }
        _ => {
            // So many that all who vote are among them.
            let ranks = 60;
            let votes =
                Array2::from_shape_fn((queries, ranks), |(query, _)| class(random, classes, own[query], agreement));
            writer.add_array("neighbour_labels", &votes).expect("memory");
            writer.add_array("query_label", &labels).expect("memory");
            let points = if random.random_bool(0.2) { 2 } else { 1 };
            let (k, rate) = (random.random_range(2..5), random.random_range(6..10));
            format!("--model private-knn --k {k} --rate 0.{rate} --changed {points}")
        }
    };
    (model, options)
}

fn votes_case(random: &mut ChaCha8Rng, tallies: &mut Tallies, seed: usize) {
    let mut arrays = no_arrays();
    let (model, options) = recorded(random, &mut arrays);
    let composition = ["", " --composition shared-teachers", " --composition independent"];
    // Independent answers add up for one neighbor: that of fixed votes, or of an adversary who does not choose the query.
    let one_neighbor = model == 0 || options.contains("pois-natq");
    let composition = composition[random.random_range(0..if one_neighbor { 3 } else { 2 })];
    let sampling = if random.random_bool(0.5) { "exact-distribution" } else { "monte-carlo" };
    let noise = match model {
        0 => noise(random),
        // The series of undecided parties converges for noise that is not small.
        2 => format!("gaussian:{}", scale(random, 4.0, 60.0)),
        _ => format!("gaussian:{}", scale(random, 0.5, 60.0)),
    };
    let words = format!(
        "audit votes votes.npz {options} --noise {noise} --samples {} --sampling {sampling} --orders 1.25,2,8,64 \
         --seed {seed}{composition}",
        [100, 1000, 20_000][random.random_range(0..3)],
    );
    let Some(document) = ask_with(&words, arrays, tallies) else { return };
    let series = text(&document, "distribution") == "series";
    let mut wrong = 0;
    for query in rows(&document["queries"]) {
        let values = if series { &query["approximate"] } else { &query["exact"] };
        let exact = |order: f64, direction: &str| {
            rows(values).find(|row| number(&row["order"]) == order).map(|row| number(&row[direction]))
        };
        for upper in rows(&query["upper"]) {
            let (order, direction) = (number(&upper["order"]), text(upper, "direction"));
            let Some(exact) = exact(order, direction) else { continue };
            let heading = format!("audit votes, {}, {direction}", text(upper, "name"));
            let relative = if series { OF_SERIES } else { RELATIVE };
            tallies.at_most(heading, Pair { exact, bound: number(&upper["rdp"]), order }, relative, &words);
        }
        for lower in rows(&query["lower"]).filter(|lower| text(lower, "validity") == "finite-sample") {
            let Some(exact) = exact(number(&lower["order"]), text(lower, "direction")) else { continue };
            tallies.numbers += 1;
            wrong += usize::from(number(&lower["rdp_lower"]) > exact * (1.0 + OF_SERIES));
        }
    }
    tallies.answers += 1;
    tallies.wrong_answers += u64::from(wrong > 0);
    composed_curves(&document, tallies, &words);
}

/// Curves of all answers together: exact ones against upper bounds.
fn composed_curves(document: &Value, tallies: &mut Tallies, words: &str) {
    let curves = || rows(&document["composed"]["curves"]);
    let bound = |curve: &&Value| text(curve, "meaning") == "bound";
    for exact in curves().filter(bound).filter(|curve| text(curve, "kind") == "exact") {
        for upper in curves().filter(bound).filter(|curve| text(curve, "kind") == "upper") {
            if text(exact, "direction") != text(upper, "direction") {
                continue;
            }
            let heading = format!("audit votes composed, {}, {}", text(upper, "name"), text(upper, "direction"));
            let orders = rows(&document["composed"]["orders"]).map(number);
            for ((order, exact), upper) in orders.zip(rows(&exact["values"])).zip(rows(&upper["values"])) {
                let pair = Pair { exact: number(exact), bound: number(upper), order };
                tallies.at_most(heading.clone(), pair, RELATIVE, words);
            }
        }
        // ε covers the reverse direction too: no smaller than that of either curve.
        let epsilons: Vec<f64> = curves()
            .filter(|curve| text(curve, "name") == text(exact, "name"))
            .map(|curve| number(&curve["epsilon"]["epsilon"]))
            .collect();
        assert!(epsilons.windows(2).all(|pair| pair[0] == pair[1]), "{epsilons:?}: {words}");
    }
}

fn account_case(random: &mut ChaCha8Rng, tallies: &mut Tallies, _seed: usize) {
    let (queries, classes) = (random.random_range(1..6usize), random.random_range(2..5u8));
    let voters = [4, 15, 60][random.random_range(0..3)];
    let agreement = [0.0, 0.6, 0.95, 1.0][random.random_range(0..4)];
    let own: Vec<u8> = (0..queries).map(|_| random.random_range(0..classes)).collect();
    let votes =
        Array3::from_shape_fn((1, queries, voters), |(_, query, _)| class(random, classes, own[query], agreement));
    let mut arrays = no_arrays();
    arrays.add_array("pate_votes", &votes).expect("memory");
    let noise = noise(random);
    let test = if random.random_bool(0.3) {
        let threshold = (voters as f64 * random.random_range(0.3..1.1)).round();
        format!(" --threshold {threshold} --threshold-noise gaussian:{}", scale(random, 0.5, 50.0))
    } else {
        String::new()
    };
    let delta = ["1e-5", "1e-9", "0.01"][random.random_range(0..3)];
    let words = format!("account votes.npz --noise {noise}{test} --delta {delta} --orders {ORDERS} --composition pld");
    let Some(document) = ask_with(&words, arrays, tallies) else { return };
    let curves = || rows(&document["curves"]).filter(|curve| text(curve, "meaning") != "expected");
    // One voter at all answers is fewer neighbors than any voter at each.
    let one_voter = |curve: &Value| text(curve, "meaning") == "exact-of-one-voter";
    let exact = |curve: &&Value| text(curve, "meaning").starts_with("exact");
    for upper in curves() {
        let both = text(upper, "directions") == "both";
        let name = text(upper, "name");
        if !both {
            assert!(name.ends_with("-forward"), "{name} covers one direction and does not say so: {words}");
            continue;
        }
        for exact in curves().filter(exact).filter(|exact| one_voter(exact) || !one_voter(upper)) {
            let orders = rows(&document["orders"]).map(number);
            for ((order, exact), upper) in orders.zip(rows(&exact["rdp"])).zip(rows(&upper["rdp"])) {
                let heading = format!("account, {name}, RDP");
                let pair = Pair { exact: number(exact), bound: number(upper), order };
                tallies.at_most(heading, pair, RELATIVE, &words);
            }
        }
        // A composition between two histograms that may be meant, from below, against every ε of both directions.
        let (losses, profile) = (&document["losses"], || rows(&upper["profile"]).map(|at| number(&at["epsilon"])));
        let heading = format!("account, {name}, epsilon");
        for (composed, epsilon) in rows(&losses["profile"]).zip(profile()).filter(|_| !one_voter(upper)) {
            let pair = Pair { exact: number(&composed["lower"]), bound: epsilon, order: 0.0 };
            tallies.at_most(heading.clone(), pair, RELATIVE, &words);
        }
        for (composed, epsilon) in rows(&losses["one_voter"]).zip(profile()) {
            let pair = Pair { exact: number(&composed["epsilon"]), bound: epsilon, order: 0.0 };
            tallies.at_most(heading.clone(), pair, RELATIVE, &words);
        }
    }
}

/// Runs the cases, on all threads; what is found does not depend on how many there are.
fn run(effort: Effort) -> Tallies {
    let start = Instant::now();
    let mut tallies = Tallies::default();
    let kinds: [fn(&mut ChaCha8Rng, &mut Tallies, usize); 3] = [exact_case, votes_case, account_case];
    let mut round = 0;
    while round == 0 || start.elapsed() < effort.at_least {
        for (kind, (case, cases)) in kinds.iter().zip(effort.cases).enumerate() {
            let of_one = |index: usize| {
                let seed = effort.seed + (round * 1_000_000 + kind * 100_000 + index) as u64;
                let mut found = Tallies::default();
                case(&mut ChaCha8Rng::seed_from_u64(seed), &mut found, seed as usize);
                found.cases[kind] += 1;
                found
            };
            // Answers in order of their cases.
            let found: Vec<Tallies> = (0..cases).into_par_iter().map(of_one).collect();
            found.into_iter().for_each(|found| tallies.add(found));
        }
        round += 1;
    }
    tallies
}

/// How many of `answers` may be wrong by chance at [`FAILURE`] with probability 1e-6, by Chernoff's bound.
fn most_by_chance(answers: u64) -> u64 {
    let n = answers as f64;
    let relative = |share: f64| share * (share / FAILURE).ln() + (1.0 - share) * ((1.0 - share) / (1.0 - FAILURE)).ln();
    (0..=answers)
        .find(|&wrong| {
            let share = wrong as f64 / n;
            share > FAILURE && (share >= 1.0 || n * relative(share) > 1e6f64.ln())
        })
        .unwrap_or(answers)
}

/// Every bound of every command; one line for each command, accountant, relation and direction.
///
/// # Panics
/// When an accountant of one direction is printed as one of both.
pub fn check(effort: Effort) -> Report {
    let mut report = Report::new(format!(
        "at least {} cases of `exact`, {} of `audit votes`, {} of `account` with compositions, {} of each property of each \
         accountant of `verify`; seed {}",
        effort.cases[0], effort.cases[1], effort.cases[2], effort.verified, effort.seed
    ));
    let tallies = run(effort);
    let total: usize = tallies.cases.iter().sum();
    report.claim(total >= 2000, format!("{total} cases: {:?} of exact, audit votes, account", tallies.cases));
    report.claim(tallies.errors.is_empty(), format!("{} answers ended in an error", tallies.errors.len()));
    tallies.errors.iter().take(10).for_each(|error| report.line(format!("      {error}")));
    for (heading, tally) in &tallies.upper {
        let line = format!("{heading:<72} {:>7} checked, exact/bound at most {:.6}", tally.checked, tally.tightest);
        report.claim(tally.broken.is_empty(), line);
        tally.broken.iter().take(3).for_each(|broken| report.line(format!("      {broken}")));
    }
    let most = most_by_chance(tallies.answers);
    let line = format!(
        "{} of {} answers have a lower bound above the exact value, {} numbers in all; chance alone reaches {most} with \
             probability below 1e-6 at failure probability {FAILURE} for an answer",
        tallies.wrong_answers, tallies.answers, tallies.numbers
    );
    report.claim(tallies.wrong_answers < most, line);
    for name in accountant_names().iter().filter(|name| !name.starts_with("broken:")) {
        let accountant = accountant_of_name(name).expect("a name of the list");
        let cases = if accountant.precision() > 1e-8 { effort.verified.min(4) } else { effort.verified };
        let outcome = verify(&*accountant, &Plan { cases, seed: effort.seed, ..Plan::default() }, &never_stop);
        let tested: u64 = outcome.findings.iter().map(|finding| finding.cases).sum();
        report.claim(!outcome.refuted(), format!("verify, {name:<60} {tested:>7} checked"));
    }
    report
}

/// An hour.
pub fn report() -> Report {
    check(Effort { verified: 2000, at_least: Duration::from_secs(3600), seed: 1_000_000_000, ..GATE })
}
