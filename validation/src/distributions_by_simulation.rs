//! Exact distributions against direct simulation: votes drawn, noise added, argmax taken, as the mechanism is
//! described.

use crate::experiment::{Report, stream};
use crate::multinomial;
use leakbound::Result;
use leakbound::distribution::{
    Noise, OutcomeDistribution, marked_argmax_distribution, multinomial_argmax_distribution, noisy_argmax_distribution,
};
use leakbound::histogram::VoteHistogram;
use leakbound::quantity::NoiseScale;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Normal};
use rayon::prelude::*;
use statrs::distribution::{ChiSquared, ContinuousCDF};

const SAMPLES: u64 = 10_000_000;
const BLOCK: u64 = 100_000;
const SEED: u64 = 7_041_776;
/// A p-value below this is a failure.
const THRESHOLD: f64 = 1e-5;
/// Classes with fewer expected samples are merged into one.
const FEW: f64 = 10.0;

/// Where the votes come from.
enum Votes {
    Fixed(Vec<u64>),
    Multinomial(u64, Vec<f64>),
    Marked(u64, Vec<f64>, Vec<f64>),
}

struct Case {
    votes: Votes,
    noise: Noise,
}

impl Case {
    fn distribution(&self) -> Result<OutcomeDistribution> {
        match &self.votes {
            Votes::Fixed(histogram) => noisy_argmax_distribution(&VoteHistogram::new(histogram.clone())?, self.noise),
            Votes::Multinomial(k, p) => multinomial_argmax_distribution(*k, p, self.noise),
            Votes::Marked(k, p, marked) => marked_argmax_distribution(*k, p, marked, self.noise),
        }
    }

    fn histogram(&self, stream: &mut ChaCha8Rng) -> Vec<u64> {
        match &self.votes {
            Votes::Fixed(histogram) => histogram.clone(),
            Votes::Multinomial(k, p) => multinomial::draw(p, *k, stream),
            Votes::Marked(k, p, marked) => {
                let mut histogram = multinomial::draw(p, k - 1, stream);
                for (count, one) in histogram.iter_mut().zip(multinomial::draw(marked, 1, stream)) {
                    *count += one;
                }
                histogram
            }
        }
    }

    fn noise(&self, stream: &mut ChaCha8Rng) -> f64 {
        match self.noise {
            Noise::Gaussian(sigma) => Normal::new(0.0, sigma.get()).expect("a scale").sample(stream),
            Noise::Laplace(b) => {
                // By inversion, with the sign apart.
                let exponential = -(1.0 - stream.random::<f64>()).ln() * b.get();
                if stream.random::<bool>() { exponential } else { -exponential }
            }
        }
    }

    /// How often each class won among one block of samples.
    fn block(&self, classes: usize, index: u64) -> Vec<u64> {
        let mut stream = stream(SEED, index);
        let mut wins = vec![0; classes];
        for _ in 0..BLOCK {
            let histogram = self.histogram(&mut stream);
            let (mut winner, mut best) = (0, f64::NEG_INFINITY);
            for (class, &count) in histogram.iter().enumerate() {
                let noisy = count as f64 + self.noise(&mut stream);
                if noisy > best {
                    (winner, best) = (class, noisy);
                }
            }
            wins[winner] += 1;
        }
        wins
    }

    fn describe(&self) -> String {
        match &self.votes {
            Votes::Fixed(histogram) => format!("{histogram:?}, {}", self.noise),
            Votes::Multinomial(k, p) => format!("Mult({k}, {p:?}), {}", self.noise),
            Votes::Marked(k, p, marked) => format!("Mult({}, {p:?}) + Mult(1, {marked:?}), {}", k - 1, self.noise),
        }
    }
}

fn cases() -> Result<Vec<Case>> {
    let gaussian = |sigma| NoiseScale::new(sigma).map(Noise::Gaussian);
    let laplace = |b| NoiseScale::new(b).map(Noise::Laplace);
    let four = vec![0.4, 0.35, 0.2, 0.05];
    Ok(vec![
        Case { votes: Votes::Fixed(vec![14, 12, 10, 8, 6]), noise: gaussian(2.0)? },
        Case { votes: Votes::Fixed(vec![70, 66, 40, 30, 20, 10, 8, 4, 2, 0]), noise: gaussian(40.0)? },
        Case { votes: Votes::Fixed(vec![3, 3, 3]), noise: gaussian(0.4)? },
        Case { votes: Votes::Fixed(vec![14, 12, 10, 8, 6]), noise: laplace(2.0)? },
        Case { votes: Votes::Fixed(vec![5, 5, 4, 0]), noise: laplace(0.7)? },
        Case { votes: Votes::Fixed(vec![70, 66, 40, 30, 20, 10]), noise: laplace(20.0)? },
        Case { votes: Votes::Multinomial(50, four.clone()), noise: gaussian(4.0)? },
        Case { votes: Votes::Multinomial(250, vec![0.3, 0.28, 0.2, 0.12, 0.1]), noise: gaussian(40.0)? },
        Case { votes: Votes::Multinomial(20, vec![0.5, 0.5]), noise: gaussian(0.3)? },
        Case { votes: Votes::Marked(50, four.clone(), vec![0.05, 0.1, 0.25, 0.6]), noise: gaussian(4.0)? },
        Case { votes: Votes::Marked(10, four, vec![0.0, 0.0, 0.0, 1.0]), noise: gaussian(1.0)? },
        Case { votes: Votes::Marked(16, vec![0.6, 0.4], vec![0.0, 1.0]), noise: gaussian(0.3)? },
    ])
}

/// The p-value of Pearson's statistic with rare classes merged, and the classes left.
fn p_value(wins: &[u64], distribution: &OutcomeDistribution) -> (f64, usize) {
    let total = wins.iter().sum::<u64>() as f64;
    let mut cells: Vec<(f64, f64)> = Vec::new();
    let mut rare = (0.0, 0.0);
    for (&found, &p) in wins.iter().zip(distribution.p()) {
        let (found, expected) = (found as f64, p * total);
        if expected < FEW { rare = (rare.0 + found, rare.1 + expected) } else { cells.push((found, expected)) }
    }
    if rare.1 >= FEW {
        cells.push(rare);
    } else if let Some(last) = cells.last_mut() {
        *last = (last.0 + rare.0, last.1 + rare.1);
    }
    let statistic: f64 = cells.iter().map(|(found, expected)| (found - expected).powi(2) / expected).sum();
    let p = ChiSquared::new((cells.len() - 1) as f64).map_or(f64::NAN, |distribution| distribution.sf(statistic));
    (p, cells.len())
}

/// Simulates all cases.
pub fn report() -> Report {
    let mut report = Report::new(format!(
        "{SAMPLES} simulated outputs per case, seed {SEED}: p-value of the chi-square test against the exact distribution, \
         failed below {THRESHOLD:e}; all cases together raise a false alarm with probability 1.2e-4"
    ));
    for case in cases().unwrap_or_default() {
        let Some(distribution) = report.found(case.describe(), case.distribution()) else { continue };
        let classes = distribution.outcomes();
        let wins = (0..SAMPLES / BLOCK)
            .into_par_iter()
            .map(|index| case.block(classes, index))
            .reduce(|| vec![0; classes], |a, b| a.iter().zip(&b).map(|(a, b)| a + b).collect());
        let (p, cells) = p_value(&wins, &distribution);
        report.claim(p >= THRESHOLD, format!("p-value {p:.4} ({cells} classes)  {}", case.describe()));
    }
    report
}
