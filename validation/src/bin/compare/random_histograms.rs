//! `--work random-histograms`: nothing is tuned to the histogram that is measured. Rates on twenty random works of each
//! kind beside those of the NumPy and the numba program, which read the same works from their standard input.
//!
//! Every work is a draw of its own: vote probabilities are Dirichlet variables whose concentration is itself random,
//! log-uniform from 0.05 (nearly all votes for one class) to 20 (nearly flat), and so is the noise, from 10 to 100 votes.

use super::noisy_votes::{fixed, outputs_rate};
use super::{Options, Result, ends, median, no_python, python};
use leakbound::model::{CapcModel, PateModel, PrivateKnnModel, VoteModel};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Gamma};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// The name on the command line.
pub const NAME: &str = "random-histograms";

const INPUTS: usize = 20;
const CLASSES: usize = 10;
const VOTERS: u64 = 250;
const NEIGHBORS: u64 = 200;
/// The longest that ours is measured at a time; the others have outputs for about as long.
const SECONDS: f64 = 0.25;

/// A random work on both sides.
struct Input {
    model: VoteModel,
    sigma: f64,
    /// What the programs are told.
    told: Value,
    /// What a reader is told.
    about: String,
}

/// A kind of works with the numbers of outputs of the two programs.
struct Kind {
    name: &'static str,
    draw: fn(&mut ChaCha8Rng) -> Result<Input>,
    numpy: u64,
    numba: u64,
}

const KINDS: [Kind; 4] = [
    Kind { name: "fixed", draw: random_fixed, numpy: 4_000_000, numba: 32_000_000 },
    Kind { name: "pate", draw: random_pate, numpy: 400_000, numba: 8_000_000 },
    Kind { name: "capc", draw: random_capc, numpy: 200_000, numba: 2_500_000 },
    Kind { name: "private-knn", draw: random_private_knn, numpy: 400_000, numba: 8_000_000 },
];

/// Measures all kinds and prints the ratios. Every work is measured in as many rounds as asked for, and its ratio is
/// the median of those of the rounds.
pub fn compare(options: &Options) -> Result<()> {
    println!(
        "| kind | program | ratio, median of {INPUTS} | smallest | largest | ours, median | ours, slowest | the slowest ratio was of |\n\
         |---|---|---|---|---|---|---|---|"
    );
    for (number, kind) in KINDS.iter().enumerate() {
        let mut generator = ChaCha8Rng::seed_from_u64(number as u64);
        let mut program = Program::start(options)?;
        let mut rows = Vec::new();
        for index in 0..INPUTS {
            let input = (kind.draw)(&mut generator)?;
            let row = measure(options, kind, &input, &mut program)?;
            eprintln!("{} {index}: {} numpy {:.2} numba {:.2}", kind.name, input.about, row.ratios[0], row.ratios[1]);
            rows.push((row, input.about));
        }
        program.end()?;
        for (place, family) in ["numpy", "numba"].into_iter().enumerate() {
            println!("{}", line(kind.name, family, place, &rows));
        }
    }
    Ok(())
}

/// Our rate, and the ratios to NumPy and numba.
struct Row {
    ours: f64,
    ratios: [f64; 2],
}

fn measure(options: &Options, kind: &Kind, input: &Input, program: &mut Program) -> Result<Row> {
    let noise = format!("gaussian:{}", input.sigma);
    let mut told = input.told.clone();
    told["sigma"] = json!(input.sigma);
    told["numpy"] = json!(kind.numpy);
    told["numba"] = json!(kind.numba);
    let seconds = options.seconds.min(SECONDS);
    let (mut ours, mut ratios) = (Vec::new(), [Vec::new(), Vec::new()]);
    for _ in 0..options.rounds {
        let rates = program.ask(&told)?;
        let rate = outputs_rate(&input.model, &noise, seconds)?;
        ours.push(rate);
        ratios[0].push(rate / rates.numpy);
        ratios[1].push(rate / rates.numba);
    }
    Ok(Row { ours: median(&ours), ratios: ratios.map(|ratios| median(&ratios)) })
}

fn line(kind: &str, family: &str, place: usize, rows: &[(Row, String)]) -> String {
    let ratios: Vec<f64> = rows.iter().map(|(row, _)| row.ratios[place]).collect();
    let ours: Vec<f64> = rows.iter().map(|(row, _)| row.ours).collect();
    let [smallest, largest] = ends(&ratios);
    let worst = rows.iter().min_by(|a, b| a.0.ratios[place].total_cmp(&b.0.ratios[place])).map_or("", |row| &row.1);
    format!(
        "| {kind} | {family} | {:.1} x | {:.1} x | {:.1} x | {} | {} | {worst} |",
        median(&ratios),
        smallest,
        largest,
        super::rate(median(&ours)),
        super::rate(ends(&ours)[0]),
    )
}

/// Log-uniform between two ends.
fn between(generator: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    (low.ln() + (high / low).ln() * generator.random::<f64>()).exp()
}

/// A Dirichlet variable.
fn dirichlet(generator: &mut ChaCha8Rng, concentrations: &[f64]) -> Result<Vec<f64>> {
    let mut weights = Vec::new();
    for shape in concentrations {
        weights.push(Gamma::new(shape.max(1e-3), 1.0)?.sample(generator));
    }
    let total: f64 = weights.iter().sum();
    Ok(weights.iter().map(|weight| weight / total).collect())
}

/// Vote probabilities of any unevenness, and those of a changed voter, with the concentration and sigma.
fn random_probabilities(generator: &mut ChaCha8Rng) -> Result<([Vec<f64>; 2], f64, f64)> {
    let concentration = between(generator, 0.05, 20.0);
    let sigma = between(generator, 10.0, 100.0);
    let p = dirichlet(generator, &[concentration; CLASSES])?;
    let marked = dirichlet(generator, &[concentration; CLASSES])?;
    Ok(([p, marked], concentration, sigma))
}

fn random_fixed(generator: &mut ChaCha8Rng) -> Result<Input> {
    let ([p, _], _, sigma) = random_probabilities(generator)?;
    let mut votes = vec![0u64; CLASSES];
    for _ in 0..VOTERS {
        let mut left = generator.random::<f64>();
        let class = p.iter().position(|share| {
            left -= share;
            left < 0.0
        });
        votes[class.unwrap_or(0)] += 1;
    }
    let about = format!("votes {votes:?}, sigma {sigma:.1}");
    Ok(Input { told: json!({ "votes": votes }), model: fixed(votes)?, sigma, about })
}

fn random_pate(generator: &mut ChaCha8Rng) -> Result<Input> {
    let ([p, marked], concentration, sigma) = random_probabilities(generator)?;
    let about = format!("concentration {concentration:.3}, sigma {sigma:.1}");
    let model = PateModel::new(VOTERS, &p, &marked)?.into();
    Ok(Input { model, sigma, told: json!({ "k": VOTERS, "p": p }), about })
}

fn random_private_knn(generator: &mut ChaCha8Rng) -> Result<Input> {
    let ([p, marked], concentration, sigma) = random_probabilities(generator)?;
    let (inclusion, label) = (generator.random_range(0.05..0.95), generator.random_range(0..CLASSES));
    let about = format!("concentration {concentration:.3}, sigma {sigma:.1}, inclusion {inclusion:.2}");
    let model = PrivateKnnModel::new(NEIGHBORS, &p, &marked, inclusion, label)?.into();
    Ok(Input { model, sigma, told: json!({ "k": NEIGHBORS, "p": p }), about })
}

/// Parties around a random mean, from all sure each of a class of its own to all much alike.
fn random_capc(generator: &mut ChaCha8Rng) -> Result<Input> {
    let ([mean, marked], concentration, sigma) = random_probabilities(generator)?;
    let closeness = between(generator, 0.05, 20.0);
    let around: Vec<f64> = mean.iter().map(|share| share * closeness * CLASSES as f64).collect();
    let mut parties = Vec::new();
    for _ in 0..VOTERS {
        parties.push(dirichlet(generator, &around)?);
    }
    let about = format!("concentration {concentration:.3}, of parties {closeness:.3}, sigma {sigma:.1}");
    let model = CapcModel::new(&parties, &marked)?.into();
    Ok(Input { model, sigma, told: json!({ "parties": parties }), about })
}

/// The Python program, which answers line by line and compiles once.
struct Program {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// What it answers: outputs per second on two threads.
#[derive(Deserialize)]
struct Rates {
    numpy: f64,
    numba: f64,
}

impl Program {
    fn start(options: &Options) -> Result<Self> {
        let mut child = python(options, &["noisy_argmax.py", "inputs"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| no_python(options, &error))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else { return Err("noisy_argmax.py: no pipes".into()) };
        Ok(Self { child, input, output: BufReader::new(output) })
    }

    fn ask(&mut self, told: &Value) -> Result<Rates> {
        let failed = |error: std::io::Error| format!("noisy_argmax.py: {error}");
        writeln!(self.input, "{told}").and_then(|()| self.input.flush()).map_err(failed)?;
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(failed)?;
        // What went wrong stands on its standard error, which is ours.
        Ok(serde_json::from_str(&line).map_err(|error| format!("noisy_argmax.py: {error}"))?)
    }

    /// Closes its input and waits until it has ended.
    fn end(self) -> Result<()> {
        let Self { mut child, input, .. } = self;
        drop(input);
        child.wait().map(drop).map_err(|error| format!("noisy_argmax.py: {error}").into())
    }
}
