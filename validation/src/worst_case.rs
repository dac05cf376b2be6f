//! The worst case of GNMax: random histograms stay below it, and two classes come within 0.6 % of it.

use crate::experiment::{Report, stream};
use leakbound::Result;
use leakbound::accountant::{WorstCase, WorstVotes, gnmax_data_independent, gnmax_worst_case};
use leakbound::distribution::{Noise, noisy_argmax_distribution};
use leakbound::divergence::renyi_divergence;
use leakbound::histogram::{Neighbor, VoteChange, VoteHistogram};
use leakbound::quantity::{NoiseScale, Order};
use rand::{Rng, RngExt};
use rayon::prelude::*;

const SEED: u64 = 4;
const HISTOGRAMS: usize = 100_000;
const CHUNKS: usize = 200;
const SIGMAS: [f64; 6] = [0.5, 1.0, 2.0, 10.0, 40.0, 150.0];
const ORDERS: [f64; 7] = [1.001, 1.5, 2.0, 5.0, 16.0, 64.0, 300.0];
/// Exact divergences are computed to 3e-12.
const RELATIVE: f64 = 1e-11;
/// What two classes lose at most: 0.53 % in the limit of many classes, and the width of the enclosure.
const TWO_CLASSES: f64 = 0.006;

/// One noise and order with the bounds for each kind of change.
struct Case {
    sigma: NoiseScale,
    order: Order,
    bounds: [WorstCase; 3],
}

fn cases() -> Vec<Case> {
    let pairs = SIGMAS.iter().flat_map(|&sigma| ORDERS.iter().map(move |&order| (sigma, order)));
    pairs
        .map(|(sigma, order)| {
            let (sigma, order) = (NoiseScale::new(sigma).expect("positive"), Order::new(order).expect("above 1"));
            let bounds = [VoteChange::Moved, VoteChange::Added, VoteChange::Removed]
                .map(|kind| gnmax_worst_case(order, sigma, kind));
            Case { sigma, order, bounds }
        })
        .collect()
}

/// Trouble first: ties, two contenders near the worst margin, consensus, few and many classes, then anything.
fn random_histogram(case: &Case, stream: &mut impl Rng) -> VoteHistogram {
    let (sigma, a) = (case.sigma.get(), case.order.get());
    let classes = stream.random_range(2..=12usize);
    let near = |center: f64, u: f64| (center + sigma * (4.0 * u - 2.0)).max(0.0) as u64;
    let base = 4.0 * sigma + 2.0 * a + 10.0;
    let mut counts: Vec<u64> = match stream.random_range(0..4) {
        0 => (0..classes).map(|_| near(base, stream.random())).collect(),
        1 => {
            // The best gap below two contenders is about a standard deviation of the largest of the others.
            let low = (base - sigma * (1.0 + 3.0 * stream.random::<f64>())).max(0.0);
            let mut counts = vec![low as u64; classes];
            counts[0] = near(base - a * stream.random::<f64>(), stream.random());
            counts[1] = near(base, stream.random());
            counts
        }
        2 => (0..classes).map(|_| (base * stream.random::<f64>().powi(3)) as u64).collect(),
        _ => (0..classes).map(|_| stream.random_range(0..=3)).collect(),
    };
    counts[0] += 1; // the vote that may move
    VoteHistogram::new(counts).expect("a histogram")
}

/// Ratios of exact to bound: the largest for each case and kind of change, and how many exceed 1.
fn chunk(cases: &[Case], index: u64) -> Result<(usize, usize, Vec<[f64; 3]>)> {
    let mut stream = stream(SEED, index);
    let mut largest = vec![[0.0f64; 3]; cases.len()];
    let (mut checked, mut broken) = (0, 0);
    for _ in 0..HISTOGRAMS / CHUNKS {
        let number = stream.random_range(0..cases.len());
        let case = &cases[number];
        let histogram = random_histogram(case, &mut stream);
        let distribution = noisy_argmax_distribution(&histogram, Noise::Gaussian(case.sigma))?;
        let to = stream.random_range(1..histogram.classes());
        let changes = [Neighbor::Moved { from: 0, to }, Neighbor::Added { class: to }, Neighbor::Removed { class: 0 }];
        for ((change, bound), largest) in changes.into_iter().zip(&case.bounds).zip(&mut largest[number]) {
            let other = noisy_argmax_distribution(&histogram.neighbor(change)?, Noise::Gaussian(case.sigma))?;
            for exact in [
                renyi_divergence(&distribution, &other, case.order)?,
                renyi_divergence(&other, &distribution, case.order)?,
            ] {
                checked += 1;
                broken += usize::from(!(exact <= bound.upper * (1.0 + RELATIVE)));
                *largest = largest.max(exact / bound.upper);
            }
        }
    }
    Ok((checked, broken, largest))
}

/// The best two-class histogram around the worst margin.
fn two_classes(case: &Case) -> Result<f64> {
    let a = case.order.get();
    let middle = match case.bounds[0].votes {
        WorstVotes::TwoClasses { margin } => margin,
        WorstVotes::Threshold { first, second } => first - second,
        WorstVotes::OneClass { lead } => lead,
    };
    let mut best = 0.0f64;
    let spread = (case.sigma.get() + 0.1 * a) as i64 + 3;
    for margin in middle as i64 - spread..=middle as i64 + spread {
        // n_first - n_second with at least one vote to move.
        let (first, second) = if margin >= 1 { (margin as u64, 0) } else { (1, 1 + margin.unsigned_abs()) };
        let histogram = VoteHistogram::new(vec![first, second])?;
        let other = histogram.neighbor(Neighbor::Moved { from: 0, to: 1 })?;
        let [p, q] =
            [histogram, other].map(|histogram| noisy_argmax_distribution(&histogram, Noise::Gaussian(case.sigma)));
        best = best.max(renyi_divergence(&p?, &q?, case.order)?);
    }
    Ok(best)
}

/// Runs the experiment.
pub fn report() -> Report {
    let mut report = Report::new(format!(
        "{HISTOGRAMS} random histograms of 2 to 12 classes, each with a moved, an added and a removed vote in both \
         directions, sigma of {SIGMAS:?}, orders {ORDERS:?}, seed {SEED}: exact divergence over the certified bound; no \
         sampling of outputs, so no false alarms"
    ));
    let cases = cases();
    let results: Result<Vec<_>> = (0..CHUNKS as u64).into_par_iter().map(|index| chunk(&cases, index)).collect();
    if let Some(chunks) = report.found("random histograms", results) {
        let checked: usize = chunks.iter().map(|chunk| chunk.0).sum();
        let broken: usize = chunks.iter().map(|chunk| chunk.1).sum();
        report.claim(broken == 0, format!("{checked} divergences at most their bound, {broken} above"));
        for (index, name) in ["moved", "added", "removed"].into_iter().enumerate() {
            let closest =
                chunks.iter().flat_map(|chunk| chunk.2.iter()).fold(0.0, |best: f64, one| best.max(one[index]));
            report.line(format!("      {name:<8} closest {closest:.6}"));
        }
    }
    report.line("   sigma   order   upper/(a/s^2)   upper/lower - 1   two classes/upper");
    for case in &cases {
        let bound = case.bounds[0];
        let unit = gnmax_data_independent(case.order, case.sigma);
        let gap = bound.upper / bound.lower - 1.0;
        let found = two_classes(case).unwrap_or(f64::NAN);
        let line = format!(
            "{:>7} {:>7} {:>14.6} {:>17.1e} {:>19.6}",
            case.sigma.get(),
            case.order.get(),
            bound.upper / unit,
            gap,
            found / bound.upper
        );
        // Where the noise is less than a few votes, whole votes miss the best margin: by 1.3 % at order 1.001 and σ =
        // 2.
        let near = || found >= bound.upper * (1.0 - TWO_CLASSES) - bound.upper * gap && found <= bound.upper;
        report.judged((case.sigma.get() >= 5.0).then(near), line);
    }
    report
}
