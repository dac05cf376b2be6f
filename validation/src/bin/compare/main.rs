//! `cargo xtask compare [--python PROGRAM] [--baselines FOLDER] [--rounds N] [--seconds S] [--work NAME] [--write]`:
//! runs the Python programs that a user would otherwise write (`benches/baselines`) and `leakbound bench`, one after
//! the other and again, and prints the ratios of their rates round by round, of all works or of the one named. With
//! `--write` the table of all goes to `benches/RESULTS.md`. `--work random-histograms` is by itself: see
//! `random_histograms.rs`.
//!
//! A ratio is formed within a round, so that what else the machine did meanwhile has met both sides.

mod next_tokens;
mod noisy_votes;
mod privacy_losses;
mod random_histograms;

use self::noisy_votes::pool;
use self::privacy_losses::once_per_second;
use clap::Parser;
use clap::builder::PossibleValuesParser;
use leakbound::membership::{AttackScores, LiraPlan, MemoryScores, lira};
use leakbound::quantity::Probability;
use leakbound::roc::Roc;
use ndarray::{Array2, Array3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// A work and the program of `benches/baselines` that does the same.
struct Work {
    name: &'static str,
    /// The program with its arguments.
    script: &'static [&'static str],
    /// How many times the rate of the best NumPy program is promised, where a promise was made.
    promised: Option<f64>,
    /// Ours, per second on two threads, measured for so many seconds.
    ours: fn(work: &str, seconds: f64) -> Result<f64>,
}

impl Work {
    const fn new(
        name: &'static str,
        script: &'static [&'static str],
        promised: Option<f64>,
        ours: fn(&str, f64) -> Result<f64>,
    ) -> Self {
        Self { name, script, promised, ours }
    }
}

const WORKS: [Work; 13] = [
    Work::new("fixed", &["noisy_argmax.py", "fixed", "4000000"], Some(5.0), benched),
    Work::new("fixed-100", &["noisy_argmax.py", "fixed-100", "500000"], Some(15.0), noisy_votes::fixed_100_rate),
    Work::new("pate", &["noisy_argmax.py", "pate", "1000000"], Some(24.0), benched),
    Work::new("capc", &["noisy_argmax.py", "capc", "200000"], Some(16.0), benched),
    Work::new("private-knn", &["noisy_argmax.py", "private-knn", "1000000"], Some(20.0), benched),
    Work::new("lira", &["membership.py", "lira"], Some(0.53 / 0.15), lira_rate),
    Work::new("roc", &["membership.py", "roc"], Some(0.48 / 0.15), roc_rate),
    Work::new("exact-distribution-pair", &["exact_distribution.py", "1"], Some(62e-3 * 2.0 / 5e-3), benched),
    Work::new(
        "exact-distribution-pair-100",
        &["exact_distribution.py", "1", "100"],
        Some(300.0),
        noisy_votes::pair_100_rate,
    ),
    Work::new("dp-sgd-1000", &["privacy_losses.py", "dp-sgd", "1000"], None, privacy_losses::dp_sgd_rate::<1_000>),
    Work::new("dp-sgd-10000", &["privacy_losses.py", "dp-sgd", "10000"], None, privacy_losses::dp_sgd_rate::<10_000>),
    Work::new("different-releases", &["privacy_losses.py", "different", "40"], None, privacy_losses::releases_rate),
    Work::new("next-tokens", &["next_tokens.py"], None, next_tokens::rate),
];

/// Runs Python programs and `leakbound bench` in turn, and prints the ratios of their rates.
#[derive(Parser)]
struct Options {
    /// The Python that runs them
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// The folder of the programs
    #[arg(long, value_name = "FOLDER", default_value_os_t = root().join("benches/baselines"), value_parser = folder)]
    baselines: PathBuf,
    /// Runs of each
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1000))]
    rounds: u16,
    /// How long a run of ours takes
    #[arg(long, value_name = "S", default_value = "2", value_parser = seconds)]
    seconds: f64,
    /// The one work that is run
    #[arg(long, value_parser = PossibleValuesParser::new(WORKS.iter().map(|work| work.name).chain([random_histograms::NAME])))]
    work: Option<String>,
    /// Write the table of all works to benches/RESULTS.md
    #[arg(long, conflicts_with = "work")]
    write: bool,
}

fn folder(text: &str) -> std::result::Result<PathBuf, &'static str> {
    Some(PathBuf::from(text)).filter(|folder| folder.is_dir()).ok_or("no such folder")
}

fn seconds(text: &str) -> std::result::Result<f64, &'static str> {
    text.parse().ok().filter(|seconds| (0.1..=600.0).contains(seconds)).ok_or("expected a number from 0.1 to 600")
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("compare: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The repository's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A line that the programs write.
#[derive(Deserialize)]
struct Baseline {
    variant: String,
    rate_median: f64,
}

/// Rates by what was measured, one per round; ours beside them.
#[derive(Default)]
struct Measured {
    ours: Vec<f64>,
    baselines: BTreeMap<String, Vec<f64>>,
}

fn run(options: &Options) -> Result<()> {
    let random = options.work.as_deref() == Some(random_histograms::NAME);
    if random { random_histograms::compare(options) } else { compare(options) }
}

fn compare(options: &Options) -> Result<()> {
    let works: Vec<&Work> =
        WORKS.iter().filter(|work| options.work.as_ref().is_none_or(|name| work.name == name)).collect();
    let mut all: Vec<(&Work, Measured)> = works.iter().map(|work| (*work, Measured::default())).collect();
    let mut sweep = Vec::new();
    for round in 0..options.rounds {
        for (work, measured) in &mut all {
            eprintln!("round {} of {}: {}", round + 1, options.rounds, work.name);
            for line in baseline(options, work.script)? {
                measured.baselines.entry(line.variant).or_default().push(line.rate_median);
            }
            measured.ours.push((work.ours)(work.name, options.seconds)?);
        }
        if options.work.is_none() {
            eprintln!("round {} of {}: a thousand queries", round + 1, options.rounds);
            sweep.push(thousand_queries()?);
        }
    }
    let text = table(options, &all, &sweep);
    println!("{text}");
    if options.write {
        let file = root().join("benches/RESULTS.md");
        std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(())
}

/// A program of the folder of baselines.
fn python(options: &Options, script: &[&str]) -> Command {
    let mut command = Command::new(&options.python);
    command.args(script).current_dir(&options.baselines).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn no_python(options: &Options, error: &std::io::Error) -> String {
    format!("{}: {error} (hint: --python PROGRAM)", options.python.display())
}

/// Runs a program and returns its lines; one that finds its own result wrong ends with an error.
fn baseline(options: &Options, script: &[&str]) -> Result<Vec<Baseline>> {
    let output = python(options, script).stdin(Stdio::null()).output().map_err(|error| no_python(options, &error))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || text.is_empty() {
        let message = String::from_utf8_lossy(&output.stderr);
        let hint = "(hint: `cargo xtask compare` installs benches/baselines/requirements.txt)";
        return Err(format!("{}: {} {hint}", script[0], message.lines().last().unwrap_or("no result")).into());
    }
    let read = |line| Ok(serde_json::from_str(line).map_err(|error| format!("{}: {error}", script[0]))?);
    text.lines().map(read).collect()
}

/// What `leakbound bench` measures.
fn benched(work: &str, seconds: f64) -> Result<f64> {
    let seconds = seconds.to_string();
    let arguments = ["bench", "--work", work, "--threads", "2", "--seconds", &seconds, "--format", "json"];
    let document: serde_json::Value =
        serde_json::from_slice(&leakbound(&arguments)?).map_err(|error| format!("bench: {error}"))?;
    let rows = document["rows"].as_array().ok_or("bench: no rows")?;
    let row = rows.iter().find(|row| row["threads"] == 2).ok_or("bench: no row for two threads")?;
    row["rate"].as_f64().ok_or_else(|| "bench: no rate".into())
}

/// Guesses per second of leave-one-out LiRA on two threads: the recording of the script, 64 models on 50,000 samples in
/// 18 views, with scores from memory.
fn lira_rate(_: &str, seconds: f64) -> Result<f64> {
    let mut generator = ChaCha8Rng::seed_from_u64(1);
    let members = Array2::from_shape_simple_fn((64, 50_000), || generator.random::<f32>() < 0.5);
    let scores = Array3::from_shape_fn((64, 50_000, 18), |(model, sample, _)| {
        generator.sample::<f32, _>(StandardNormal) + if members[[model, sample]] { 0.5 } else { 0.0 }
    });
    let source = MemoryScores::single(scores, members)?;
    once_per_second(seconds, 64.0 * 50_000.0, || lira(&source, &LiraPlan::default()).map(drop).map_err(Into::into))
}

/// Guesses per second of the ROC on two threads: 3.2 million guesses of both classes, from the scores of the victims
/// on.
fn roc_rate(_: &str, seconds: f64) -> Result<f64> {
    let mut generator = ChaCha8Rng::seed_from_u64(1);
    let members = Array2::from_shape_simple_fn((64, 50_000), || generator.random::<f32>() < 0.5);
    let scores = members.map(|&member| generator.sample::<f64, _>(StandardNormal) + if member { 0.5 } else { 0.0 });
    let guesses = AttackScores::new(scores, members)?;
    let fpr = Probability::new(0.001)?;
    let pool = pool()?;
    let start = Instant::now();
    let mut rates = Vec::new();
    while rates.len() < 3 || start.elapsed().as_secs_f64() < seconds {
        let once = Instant::now();
        let [members, non_members] = guesses.pooled(|_| true);
        let roc = pool.install(|| Roc::new(&members, &non_members))?;
        std::hint::black_box(roc.auc() + roc.tpr(roc.at_fpr(fpr)));
        rates.push(64.0 * 50_000.0 / once.elapsed().as_secs_f64());
    }
    Ok(median(&rates))
}

fn leakbound(arguments: &[&str]) -> Result<Vec<u8>> {
    let program = root().join("target/dist/leakbound");
    let output = Command::new(&program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    if !output.status.success() {
        return Err(format!("leakbound {}: {}", arguments[0], String::from_utf8_lossy(&output.stderr).trim()).into());
    }
    Ok(output.stdout)
}

/// Seconds for 1000 queries with distributions of their own, two worlds, 10^8 outputs each, drawn from the exact
/// distributions.
fn thousand_queries() -> Result<f64> {
    let mut scenario = String::from("model = \"pate\"\nnoise = \"gaussian:40\"\nk = 250\nsamples = 1e8\n");
    for query in 0..1000u32 {
        // From teachers that are nearly sure to teachers that are not, all different.
        let weights: Vec<f64> = (0..10u32)
            .map(|class| (-f64::from(class * (1 + query % 97)) / 40.0).exp() + f64::from(query) * 1e-5)
            .collect();
        let total: f64 = weights.iter().sum();
        let p: Vec<String> = weights.iter().map(|weight| format!("{:.17}", weight / total)).collect();
        let mut marked = p.clone();
        marked.rotate_right(1 + (query % 9) as usize);
        let _ = writeln!(scenario, "[[query]]\np = [{}]\np_marked = [{}]", p.join(", "), marked.join(", "));
    }
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("queries.toml");
    std::fs::write(&file, scenario).map_err(|error| format!("{}: {error}", file.display()))?;
    let start = Instant::now();
    let name = file.to_string_lossy();
    let arguments = ["simulate", &name, "--sampling", "exact-distribution", "--threads", "2", "--format", "json"];
    leakbound(&arguments)?;
    Ok(start.elapsed().as_secs_f64())
}

fn table(options: &Options, all: &[(&Work, Measured)], sweep: &[f64]) -> String {
    let date = time::OffsetDateTime::now_utc().date();
    let mut text = format!(
        "# Rates beside those of Python programs, {date}\n\n{}, 2 threads, {} rounds of one run each, interleaved. Ratios \
         are formed within a round: median [smallest .. largest]. Rates are medians, per second of wall time on a shared \
         machine: compare them within a line only. Written by `cargo xtask compare --write`.\n\n\
         | work | program | its rate | ours | ratio | promised |\n|---|---|---|---|---|---|\n",
        processor(),
        options.rounds
    );
    for (Work { name, promised, .. }, measured) in all {
        let numpy = best(measured, "numpy");
        let others = ["numba", "sklearn", "dp_accounting", "prv_accountant"].map(|family| best(measured, family));
        for (variant, rates) in [numpy].into_iter().chain(others).flatten() {
            let ratios: Vec<f64> = measured.ours.iter().zip(rates).map(|(ours, theirs)| ours / theirs).collect();
            let of_numpy = promised.filter(|_| Some(variant) == numpy.map(|(variant, _)| variant));
            let promise = of_numpy.map_or_else(String::new, |promised| format!("{promised:.1} x"));
            let _ = writeln!(
                text,
                "| {name} | {variant} | {} | {} | {} | {promise} |",
                rate(median(rates)),
                rate(median(&measured.ours)),
                spread(&ratios, "x"),
            );
        }
    }
    if sweep.is_empty() {
        return text;
    }
    let pate = all.iter().find(|(work, _)| work.name == "pate").and_then(|(_, measured)| best(measured, "numpy"));
    let days = pate.map_or(f64::NAN, |(_, rates)| 2e11 / median(rates) / 86_400.0);
    let _ = writeln!(
        text,
        "\n1000 queries x 2 worlds x 10^8 outputs of PATE by exact-distribution sampling, distributions included: {}; the best \
         NumPy program would simulate them in {days:.1} days.",
        spread(sweep, "s"),
    );
    text
}

/// The variant of a family with the largest median rate.
fn best<'a>(measured: &'a Measured, family: &str) -> Option<(&'a String, &'a [f64])> {
    let of_family = measured.baselines.iter().filter(|(variant, _)| variant.starts_with(family));
    of_family.max_by(|a, b| median(a.1).total_cmp(&median(b.1))).map(|(variant, rates)| (variant, rates.as_slice()))
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    if sorted.is_empty() { f64::NAN } else { (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0 }
}

/// Median, smallest and largest.
fn spread(values: &[f64], unit: &str) -> String {
    let [least, most] = ends(values);
    format!("{:.1} {unit} [{least:.1} .. {most:.1}]", median(values))
}

/// The smallest and the largest.
fn ends(values: &[f64]) -> [f64; 2] {
    let values = || values.iter().copied();
    [values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max)]
}

fn rate(value: f64) -> String {
    if value >= 1e6 { format!("{:.1} M/s", value / 1e6) } else { format!("{value:.3} /s") }
}

/// The processor's name where the system tells it.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split(':').nth(1).map(str::trim));
    name.map_or_else(|| format!("{} {}", std::env::consts::ARCH, std::env::consts::OS), str::to_owned)
}
