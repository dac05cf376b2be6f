//! CaPC on recorded votes: its distribution by the series around independent counts, against Rao-Blackwell Monte Carlo
//! and against the multinomial distribution of the mean voter.

use crate::experiment::Report;
use leakbound::Result;
use leakbound::bound::Direction;
use leakbound::distribution::{Noise, multinomial_argmax_distribution};
use leakbound::divergence::renyi_divergence;
use leakbound::model::{CapcModel, PateModel, VoteModel};
use leakbound::quantity::{NoiseScale, Order};
use leakbound::record::VoteFile;
use leakbound::simulate::{Estimate, Simulation, World, rao_blackwell};
use ndarray::{Array1, Array2, Array3, Axis};
use std::time::Instant;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/fashion_votes.npz");
const CLASSES: usize = 10;
const DRAWS: u64 = 20_000;
const SEED: u64 = 1_776;
/// 4,000 comparisons with normal errors fail together with probability 2e-4; estimates of rare classes are skewed, and
/// those that are seen in less than one of 10,000 outputs are left out.
const STANDARD_ERRORS: f64 = 5.5;
const RARE: f64 = 1e-4;

/// One CaPC model for each adversarial query and each of two adversaries.
fn models() -> Result<Vec<CapcModel>> {
    let mut file = VoteFile::open(FILE)?;
    let arrays = file.arrays();
    let votes: Array3<u64> = arrays.whole_numbers("capc_votes")?;
    let positions: Array1<u64> = arrays.whole_numbers("adv_query")?;
    let count = |votes: &mut dyn Iterator<Item = &u64>| {
        let mut counts = vec![0; CLASSES];
        votes.for_each(|&class| counts[class as usize] += 1);
        counts
    };
    let mut models = Vec::new();
    for adversary in ["capc_nat_advq", "capc_pois_advq"] {
        let changed: Array2<u64> = arrays.whole_numbers(adversary)?;
        for (row, &position) in positions.iter().enumerate() {
            let parties = votes.dim().2;
            let of_query = votes.index_axis(Axis(1), position as usize);
            let of_party = |party| count(&mut of_query.index_axis(Axis(1), party).iter());
            let parties: Vec<Vec<u64>> = (0..parties).map(of_party).collect();
            models.push(CapcModel::from_votes(&parties, &count(&mut changed.row(row).iter()))?);
        }
    }
    Ok(models)
}

/// The middle and the largest of some numbers.
fn summary(mut values: Vec<f64>) -> String {
    if values.is_empty() {
        return "none".into();
    }
    values.sort_by(f64::total_cmp);
    format!("median {:.1e}, largest {:.1e}", values[values.len() / 2], values[values.len() - 1])
}

#[derive(Default)]
struct Found {
    remainders: Vec<f64>,
    sizes: [Vec<f64>; 5],
    degrees: Vec<f64>,
    /// |D_2 of the mean voter's distribution / D_2 - 1|.
    mean_distribution: Vec<f64>,
    relative_errors: Vec<f64>,
    standard_errors_off: Vec<f64>,
    seconds: [f64; 2],
}

fn compare(model: &CapcModel, query: u64, noise: Noise, found: &mut Found) -> Result<()> {
    let start = Instant::now();
    let [p, q] = model.expanded_distributions(noise)?;
    found.seconds[0] += start.elapsed().as_secs_f64();
    for distribution in [&p, &q] {
        found.remainders.push(distribution.remainder);
        found.degrees.extend(distribution.degree().map(|degree| degree as f64));
        for (sizes, degree) in found.sizes.iter_mut().zip(2..) {
            sizes.extend(distribution.sizes.get(degree));
        }
    }
    let [p, q] = [p.distribution, q.distribution];
    let order = Order::new(2.0)?;
    let exact = renyi_divergence(&q, &p, order)?;

    let k = model.parties() as u64;
    let mut mean = model.mean();
    let plain = multinomial_argmax_distribution(k, &mean, noise)?;
    for (mean, (old, new)) in mean.iter_mut().zip(model.probabilities()[0].iter().zip(model.probabilities_marked())) {
        *mean = (*mean + (new - old) / k as f64).max(0.0);
    }
    let changed = multinomial_argmax_distribution(k, &mean, noise)?;
    if exact > 0.0 {
        found.mean_distribution.push((renyi_divergence(&changed, &plain, order)? / exact - 1.0).abs());
    }

    let start = Instant::now();
    let estimates =
        rao_blackwell(&VoteModel::from(model.clone()), noise, Simulation::new(DRAWS)?.seed(SEED).query(query))?;
    found.seconds[1] += start.elapsed().as_secs_f64();
    let mut check = |estimate: Estimate, expected: f64| {
        // Without a spread all draws agree, and so must the distributions.
        let error = estimate.standard_error.max(1e-13);
        found.standard_errors_off.push((estimate.value - expected).abs() / error);
    };
    for class in (0..CLASSES).filter(|&class| p.p()[class] >= RARE) {
        check(estimates.probability(World::Dataset, class), p.p()[class]);
        check(estimates.probability(World::Neighbor, class), q.p()[class]);
        check(estimates.difference(class), q.p()[class] - p.p()[class]);
    }
    for order in [2.0, 10.0] {
        let order = Order::new(order)?;
        let [forward, reverse] = Direction::BOTH.map(|direction| estimates.renyi(direction, order));
        check(forward, renyi_divergence(&p, &q, order)?);
        check(reverse, renyi_divergence(&q, &p, order)?);
    }
    let reverse = estimates.renyi(Direction::Reverse, order);
    if exact > 0.0 {
        found.relative_errors.push(reverse.standard_error / exact);
    }
    Ok(())
}

fn recorded(report: &mut Report, sigma: f64) -> Result<()> {
    let noise = Noise::Gaussian(NoiseScale::new(sigma)?);
    let mut found = Found::default();
    let models = models()?;
    for (query, model) in (0..).zip(&models) {
        compare(model, query, noise, &mut found)?;
    }
    let count = models.len() as f64;
    report.line(format!("gaussian:{sigma}, {} models of 250 parties:", models.len()));
    for (degree, sizes) in (2..).zip(std::mem::take(&mut found.sizes)) {
        report.line(format!("      terms of degree {degree}, relative to each probability: {}", summary(sizes)));
    }
    report.line(format!("      last degree: {}", summary(std::mem::take(&mut found.degrees))));
    let small = found.remainders.iter().all(|&remainder| remainder < 1e-8);
    report.claim(small, format!("the remainder of the series is below 1e-8: {}", summary(found.remainders)));
    report.line(format!(
        "      D_2 of the mean voter's multinomial distribution is off by: {}",
        summary(found.mean_distribution)
    ));
    report.line(format!(
        "      relative standard error of D_2 by {DRAWS} Rao-Blackwell draws: {}",
        summary(found.relative_errors)
    ));
    let within = found.standard_errors_off.iter().all(|&off| off < STANDARD_ERRORS);
    let line = format!(
        "{} estimates (p, q, q - p, D_2, D_10) within {STANDARD_ERRORS} standard errors of the series: {}",
        found.standard_errors_off.len(),
        summary(found.standard_errors_off)
    );
    report.claim(within, line);
    report.line(format!(
        "      {:.1} ms for both distributions by the series, {:.0} ms for {DRAWS} draws",
        1e3 * found.seconds[0] / count,
        1e3 * found.seconds[1] / count
    ));
    Ok(())
}

/// Rao-Blackwell Monte Carlo of PATE with k = 250 and C = 10.
fn pate(report: &mut Report) -> Result<()> {
    let p = [0.25, 0.2, 0.15, 0.1, 0.08, 0.07, 0.06, 0.04, 0.03, 0.02];
    let marked = [0.05, 0.1, 0.15, 0.1, 0.08, 0.07, 0.06, 0.04, 0.03, 0.32];
    let model = VoteModel::from(PateModel::new(250, &p, &marked)?);
    let noise = Noise::Gaussian(NoiseScale::new(40.0)?);
    let [distribution, neighbor] = model.output_pair(noise)?.into_distributions();
    let start = Instant::now();
    let estimates = rao_blackwell(&model, noise, Simulation::new(DRAWS)?.seed(SEED))?;
    let seconds = start.elapsed().as_secs_f64();
    let order = Order::new(2.0)?;
    let reverse = estimates.renyi(Direction::Reverse, order);
    let off = (reverse.value - renyi_divergence(&neighbor, &distribution, order)?) / reverse.standard_error;
    let line = format!(
        "PATE, k = 250, C = 10: D_2 {off:.2} standard errors off, relative standard error {:.1e}, {:.0} ms",
        reverse.standard_error / reverse.value,
        1e3 * seconds
    );
    report.claim(off.abs() < STANDARD_ERRORS, line);
    Ok(())
}

/// Compares.
pub fn report() -> Report {
    let setting = format!(
        "CaPC on the 60 adversarial queries of data/fashion_votes.npz, each with a naturally and a wrongly labeled \
         point; {DRAWS} draws, seed {SEED}; all comparisons together raise a false alarm with probability 2e-3"
    );
    Report::filled(setting, |report| {
        recorded(report, 40.0)?;
        recorded(report, 20.0)?;
        pate(report)
    })
}
