//! Inequalities that hold by theorem, on random inputs: exact divergences never exceed what accountants promise.

use crate::experiment::{Report, Tally};
use leakbound::Result;
use leakbound::accountant::{
    gaussian_rdp, gnmax_data_dependent, gnmax_data_independent, laplace_rdp, lnmax_data_independent,
    log_flip_probability,
};
use leakbound::distribution::{
    Noise, OutcomeDistribution, marked_argmax_distribution, multinomial_argmax_distribution, noisy_argmax_distribution,
};
use leakbound::divergence::renyi_divergence;
use leakbound::histogram::{VoteChange, VoteHistogram};
use leakbound::quantity::{NoiseScale, Order};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

const SEED: u64 = 99;
const HISTOGRAMS: usize = 300;
const RANDOM_VOTES: usize = 150;
const ORDERS: [f64; 8] = [1.001, 1.5, 2.0, 5.0, 10.0, 32.0, 200.0, 1000.0];
/// Exact divergences are computed to 3e-12.
const RELATIVE: f64 = 1e-11;
/// Two computed distributions of the same thing may differ by their rounding.
const SAME_DISTRIBUTION: f64 = 1e-12;

/// Comparisons by inequality.
#[derive(Default)]
struct Tallies(BTreeMap<&'static str, Tally>);

impl Tallies {
    fn at_most(&mut self, name: &'static str, small: f64, large: f64, what: impl Fn() -> String) {
        let tally = self.0.entry(name).or_default();
        tally.checked += 1;
        if large > f64::MIN_POSITIVE {
            tally.tightest = tally.tightest.max(small / large);
        }
        if !(small <= large * (1.0 + RELATIVE) + f64::MIN_POSITIVE) {
            tally.broken.push(format!("{}: {small:e} > {large:e}", what()));
        }
    }
}

/// Votes from one-sided to tied, and scales from small to large, both spread over their orders of magnitude.
fn random_histogram(stream: &mut impl Rng) -> (VoteHistogram, f64) {
    let classes = stream.random_range(2..=8);
    let most = 10f64.powf(stream.random_range(0.3..3.0));
    let mut counts: Vec<u64> = (0..classes).map(|_| (most * stream.random::<f64>().powi(2)) as u64).collect();
    if stream.random_bool(0.3) {
        counts[1] = counts[0];
    }
    counts[0] += 1;
    let sigma = most * 10f64.powf(stream.random_range(-1.5..1.0));
    (VoteHistogram::new(counts).expect("a histogram"), sigma)
}

fn random_distribution(classes: usize, stream: &mut impl Rng) -> Vec<f64> {
    let power = stream.random_range(1..=6);
    let weights: Vec<f64> = (0..classes).map(|_| stream.random::<f64>().powi(power) + 1e-9).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

fn fixed_histograms(tallies: &mut Tallies, stream: &mut impl Rng) -> Result<()> {
    for _ in 0..HISTOGRAMS {
        let (histogram, scale) = random_histogram(stream);
        let scale = NoiseScale::new(scale)?;
        let (gaussian, laplace) = (Noise::Gaussian(scale), Noise::Laplace(scale));
        let ln_q = log_flip_probability(&histogram, scale);
        let distributions =
            [noisy_argmax_distribution(&histogram, gaussian)?, noisy_argmax_distribution(&histogram, laplace)?];
        tallies.at_most(
            "ln P(not the plurality) <= ln q of the union bound, as P",
            distributions[0].complement()[plurality(&histogram)],
            ln_q.exp(),
            || format!("{histogram} {gaussian}"),
        );
        for kind in [VoteChange::Moved, VoteChange::Added, VoteChange::Removed] {
            for change in histogram.neighbors(kind) {
                let neighbor = histogram.neighbor(change)?;
                for (noise, p) in [gaussian, laplace].into_iter().zip(&distributions) {
                    let q = noisy_argmax_distribution(&neighbor, noise)?;
                    for order in ORDERS {
                        let what = || format!("{histogram} to {neighbor}, {noise}, order {order}");
                        let order = Order::new(order)?;
                        let [forward, reverse] = [renyi_divergence(p, &q, order)?, renyi_divergence(&q, p, order)?];
                        let both = forward.max(reverse);
                        match (noise, kind) {
                            (Noise::Gaussian(_), VoteChange::Moved) => {
                                let dependent = gnmax_data_dependent(order, scale, ln_q);
                                let independent = gnmax_data_independent(order, scale);
                                tallies.at_most("moved: exact forward <= data-dependent", forward, dependent, what);
                                tallies.at_most("moved: exact <= data-independent", both, independent, what);
                                tallies.at_most("data-dependent <= data-independent", dependent, independent, what);
                            }
                            (Noise::Gaussian(_), _) => {
                                let bound = gaussian_rdp(order, scale, 1.0);
                                tallies.at_most("added, removed: exact <= Gaussian", both, bound, what);
                            }
                            (Noise::Laplace(_), VoteChange::Moved) => {
                                let bound = lnmax_data_independent(order, scale);
                                tallies.at_most("moved: exact <= LNMax", both, bound, what);
                            }
                            (Noise::Laplace(_), _) => {
                                let bound = laplace_rdp(order, scale);
                                tallies.at_most("added, removed: exact <= Laplace", both, bound, what);
                            }
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

/// The class that `log_flip_probability` takes for the plurality, up to ties, which have equal probabilities.
fn plurality(histogram: &VoteHistogram) -> usize {
    let counts = histogram.counts();
    (0..counts.len()).fold(0, |best, class| if counts[class] > counts[best] { class } else { best })
}

/// The largest relative difference of two distributions of the same thing.
fn distance(a: &OutcomeDistribution, b: &OutcomeDistribution) -> f64 {
    let differences = a.ln_p().iter().zip(b.ln_p()).map(|(a, b)| (a - b).abs() / (1.0 + 1e-3 * a.abs()));
    differences.fold(0.0, f64::max)
}

fn random_votes(tallies: &mut Tallies, stream: &mut impl Rng) -> Result<f64> {
    let mut farthest = 0.0f64;
    for _ in 0..RANDOM_VOTES {
        let classes = stream.random_range(2..=6);
        let k = stream.random_range(1..=120);
        let (p, marked) = (random_distribution(classes, stream), random_distribution(classes, stream));
        let sigma = NoiseScale::new(10f64.powf(stream.random_range(-0.3..1.7)))?;
        let noise = Noise::Gaussian(sigma);
        let distribution = multinomial_argmax_distribution(k, &p, noise)?;
        farthest = farthest.max(distance(&distribution, &marked_argmax_distribution(k, &p, &p, noise)?));
        let changed = marked_argmax_distribution(k, &p, &marked, noise)?;
        let ln_q = distribution.complement()[distribution.mode()].ln();
        for a in ORDERS {
            let what = || format!("Mult({k}, {p:?}), marked {marked:?}, {noise}, order {a}");
            let order = Order::new(a)?;
            let exact = renyi_divergence(&distribution, &changed, order)?;
            let reverse = renyi_divergence(&changed, &distribution, order)?;
            let dependent = gnmax_data_dependent(order, sigma, ln_q);
            let independent = gnmax_data_independent(order, sigma);
            tallies.at_most("random votes: exact forward <= data-dependent", exact, dependent, what);
            tallies.at_most("random votes: exact reverse <= data-independent", reverse, independent, what);
        }
    }
    Ok(farthest)
}

/// Runs all inequalities.
pub fn report() -> Report {
    let mut report = Report::new(format!(
        "{HISTOGRAMS} random histograms with all their neighbors and {RANDOM_VOTES} random pairs of vote distributions, orders \
         {ORDERS:?}, seed {SEED}: the largest ratio of the smaller to the larger side; no sampling, so no false alarms"
    ));
    let mut stream = ChaCha8Rng::seed_from_u64(SEED);
    let mut tallies = Tallies::default();
    report.found("fixed histograms", fixed_histograms(&mut tallies, &mut stream));
    if let Some(farthest) = report.found("random votes", random_votes(&mut tallies, &mut stream)) {
        let name = "a marked vote from P changes nothing";
        let line = format!("{name:<58} {RANDOM_VOTES:>7} checked, farthest {farthest:.1e}");
        report.claim(farthest <= SAME_DISTRIBUTION, line);
    }
    for (name, tally) in &tallies.0 {
        let line = format!("{name:<58} {:>7} checked, tightest {:.6}", tally.checked, tally.tightest);
        report.claim(tally.broken.is_empty(), line);
        tally.broken.iter().take(5).for_each(|broken| report.line(format!("      {broken}")));
    }
    report
}
