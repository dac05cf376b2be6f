//! The samplers of the library on 10^9 draws: noise against its distribution, outcomes against exact distributions.

use crate::experiment::Report;
use crate::votes::{MARKED, P, parties};
use leakbound::distribution::Noise;
use leakbound::histogram::VoteHistogram;
use leakbound::model::{CapcModel, PateModel, PrivateKnnModel, PromptPateModel, VoteModel};
use leakbound::simulate::{
    ArgmaxSampler, Simulation, Stream, StreamId, World, chi_square_p_value, coarse_noise_errors, fill_noise,
    noise_approximation_errors, simulate,
};
use leakbound::{Result, special};
use rayon::prelude::*;
use statrs::distribution::DiscreteCDF;
use statrs::distribution::{ContinuousCDF, Normal, Poisson};

const BLOCK: usize = 1_000_000;
const BLOCKS: u64 = 1000;
const OUTCOMES: u64 = 500_000_000;
/// A p-value below this is a failure: 28 of them give a false alarm with probability 3e-4.
const THRESHOLD: f64 = 1e-5;

/// Runs everything: some minutes.
///
/// # Panics
/// When a model of this file is not one.
pub fn report() -> Report {
    let mut report = Report::new(format!(
        "Noise: all 2^31 cells of the approximation; {BLOCKS} blocks of {BLOCK} draws, Anderson-Darling over the blocks \
         and counts beyond 3 to 7 scales; outcomes: {OUTCOMES} per world and model by chi-square. p-values below \
         {THRESHOLD:e} fail"
    ));
    let [gaussian, laplace] = noise_approximation_errors(0..1 << 31);
    report.claim(gaussian < 6.2e-5, format!("largest error of the Gaussian approximation, all cells: {gaussian:.3e}"));
    report.claim(laplace < 6.2e-5, format!("largest error of the Laplace approximation, all cells:  {laplace:.3e}"));
    let [gaussian, laplace] = coarse_noise_errors(0..1 << 31);
    report.claim(gaussian < 2.45e-3, format!("largest error of coarse Gaussian noise, all cells: {gaussian:.4e}"));
    report.claim(laplace < 4.45e-3, format!("largest error of coarse Laplace noise, all cells:  {laplace:.4e}"));
    noise(&mut report, "gaussian:1", special::ndtr, |x| special::ndtr(-x));
    let tail = |x: f64| if x < 0.0 { 1.0 - 0.5 * x.exp() } else { 0.5 * (-x).exp() };
    noise(&mut report, "laplace:1", move |x| tail(-x), tail);
    outcomes(&mut report).expect("the models are models");
    report
}

/// Draws of one distribution, given its distribution function and the complement of it.
fn noise(report: &mut Report, name: &str, below: impl Fn(f64) -> f64 + Sync, above: impl Fn(f64) -> f64 + Sync) {
    let distribution: Noise = name.parse().expect("a distribution");
    let block = |block: u64| {
        let mut stream = Stream::new(StreamId { seed: 1, query: 0, world: World::Dataset, block });
        let mut values = vec![0.0; BLOCK];
        fill_noise(distribution, &mut stream, &mut values);
        values.sort_by(f64::total_cmp);
        let beyond: [u64; 5] = std::array::from_fn(|index| {
            let scale = 3.0 + index as f64;
            let low = values.partition_point(|&value| value < -scale);
            let high = values.len() - values.partition_point(|&value| value <= scale);
            (low + high) as u64
        });
        let n = BLOCK as f64;
        let sum: f64 = (0..BLOCK)
            .map(|i| (2.0 * i as f64 + 1.0) * (below(values[i]).ln() + above(values[BLOCK - 1 - i]).ln()))
            .sum();
        (-n - sum / n, beyond)
    };
    let blocks: Vec<(f64, [u64; 5])> = (0..BLOCKS).into_par_iter().map(block).collect();
    // The statistic has the mean 1 and, for many draws, the variance 2(π² - 9)/3 (Anderson and Darling 1954).
    let count = BLOCKS as f64;
    let mean = blocks.iter().map(|(statistic, _)| statistic).sum::<f64>() / count;
    let deviation = (2.0 * (std::f64::consts::PI.powi(2) - 9.0) / 3.0 / count).sqrt();
    let normal = Normal::new(0.0, 1.0).expect("a distribution");
    let p = 2.0 * normal.cdf(-((mean - 1.0) / deviation).abs());
    let line = format!("{name}: mean Anderson-Darling statistic {mean:.4} +- {deviation:.4}, p = {p:.3}");
    report.claim(p > THRESHOLD, line);
    for index in 0..5 {
        let scale = 3.0 + index as f64;
        let found: u64 = blocks.iter().map(|(_, beyond)| beyond[index]).sum();
        let expected = 2.0 * above(scale) * count * BLOCK as f64;
        let poisson = Poisson::new(expected).expect("a mean");
        let tails = [poisson.cdf(found), found.checked_sub(1).map_or(1.0, |less| poisson.sf(less))];
        let p = (2.0 * tails[0].min(tails[1])).min(1.0);
        report
            .claim(p > THRESHOLD, format!("{name}: beyond {scale} scales {found}, expected {expected:.4}, p = {p:.3}"));
    }
}

/// Outcomes of every model in both worlds.
fn outcomes(report: &mut Report) -> Result<()> {
    let votes = |votes: [u64; 10]| VoteHistogram::new(votes.to_vec());
    let [before, after] = [[75, 55, 33, 25, 20, 15, 12, 8, 5, 2], [74, 55, 33, 25, 20, 15, 12, 8, 5, 3]].map(votes);
    let fixed = VoteModel::from(PromptPateModel::new(before?, after?)?);
    let neighbors = PrivateKnnModel::new(200, &P, &MARKED, 0.2, 9)?;
    let models: [(&str, VoteModel, &str); 7] = [
        ("fixed votes", fixed.clone(), "gaussian:40"),
        ("fixed votes", fixed, "laplace:20"),
        ("pate, k = 250", PateModel::new(250, &P, &MARKED)?.into(), "gaussian:40"),
        ("pate, 5 changed", PateModel::new(250, &P, &MARKED)?.with_changed_teachers(5)?.into(), "gaussian:40"),
        ("capc, 250 parties", CapcModel::new(&parties(), &MARKED)?.into(), "gaussian:40"),
        ("private-knn, k = 200", neighbors.clone().into(), "gaussian:30"),
        ("private-knn, 3 points", neighbors.with_points(3)?.into(), "gaussian:30"),
    ];
    for (name, model, noise) in models {
        let noise: Noise = noise.parse()?;
        let distributions = model.output_pair(noise)?.into_distributions();
        let counts = simulate(&ArgmaxSampler::new(&model, noise), Simulation::new(OUTCOMES)?.seed(2), |_| ())?;
        let values = [
            chi_square_p_value(counts.counts(), distributions[0].p())?,
            chi_square_p_value(counts.counts_neighbor(), distributions[1].p())?,
        ];
        let line = format!("{name}, {noise}: chi-square p = {:.4} and {:.4}", values[0], values[1]);
        report.claim(values[0] > THRESHOLD && values[1] > THRESHOLD, line);
    }
    Ok(())
}
