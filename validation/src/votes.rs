//! Vote histograms of every model on 10^9 samples: every class, every pair of neighboring classes, and the joint
//! distribution of few votes, by chi-square against distributions that are computed without the samplers.

use crate::experiment::Report;
use leakbound::Result;
use leakbound::model::{CapcModel, PateModel, PrivateKnnModel, VoteModel};
use leakbound::simulate::{Stream, StreamId, VoteSampler, World, chi_square_p_value};
use rayon::prelude::*;

/// Histograms per world of each of two worlds.
const SAMPLES: usize = 500_000_000;
const BLOCK: usize = 1 << 16;
/// A p-value below this is a failure: 232 of them give a false alarm with probability 2.4e-4.
const THRESHOLD: f64 = 1e-6;

/// Runs everything: some minutes.
///
/// # Panics
/// When a model of this file is not one.
pub fn report() -> Report {
    let mut report = Report::new(format!(
        "Vote histograms, {SAMPLES} per world and model, seed 3: chi-square of the votes of every class and of every two \
         neighboring classes together against convolutions of their voters, and of whole histograms where there are few. \
         p-values below {THRESHOLD:e} fail"
    ));
    for (name, model) in models().expect("the models are models") {
        for world in World::ALL {
            let sums = sums(&model, world);
            let smallest = sums.iter().map(|(p, _)| *p).fold(1.0, f64::min);
            let worst = sums.iter().find(|(p, _)| *p == smallest).map_or("", |(_, name)| name);
            let line = format!("{name}, {world:?}: smallest of {} p-values {smallest:.5} ({worst})", sums.len());
            report.claim(smallest > THRESHOLD, line);
        }
    }
    let p = joint().expect("the models are models");
    let line = format!("pate, k = 4, C = 3, whole histograms: p = {:.4} and {:.4}", p[0], p[1]);
    report.claim(p.iter().all(|&p| p > THRESHOLD), line);
    report
}

pub(crate) const P: [f64; 10] = [0.30, 0.22, 0.13, 0.10, 0.08, 0.06, 0.05, 0.03, 0.02, 0.01];
const SURE: [f64; 10] = [0.002, 0.0, 0.97, 0.01, 0.0, 0.008, 0.005, 0.003, 0.001, 0.001];
pub(crate) const MARKED: [f64; 10] = [0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.55];

/// What each of 250 parties votes, by its distribution over ten classes.
pub(crate) fn parties() -> Vec<Vec<f64>> {
    let party = |party: usize| {
        let mut row = vec![0.0; 10];
        row[party % 3] += 0.75;
        row[party % 7] += 0.125;
        row[party % 10] += 0.125;
        row
    };
    (0..250).map(party).collect()
}

fn models() -> Result<Vec<(&'static str, VoteModel)>> {
    Ok(vec![
        ("pate, k = 250", PateModel::new(250, &P, &MARKED)?.into()),
        ("pate, k = 250, 5 changed, sure", PateModel::new(250, &SURE, &MARKED)?.with_changed_teachers(5)?.into()),
        ("pate, k = 10,000", PateModel::new(10_000, &P, &MARKED)?.into()),
        ("capc, 250 parties", CapcModel::new(&parties(), &MARKED)?.into()),
        ("private-knn, k = 200, 3 points", PrivateKnnModel::new(200, &P, &MARKED, 0.2, 9)?.with_points(3)?.into()),
    ])
}

/// The p-values of the sums of votes over every class and every two neighboring classes, with their names.
fn sums(model: &VoteModel, world: World) -> Vec<(f64, String)> {
    let classes = model.classes();
    let sets: Vec<Vec<usize>> =
        (0..classes).map(|c| vec![c]).chain((0..classes).map(|c| vec![c, (c + 1) % classes])).collect();
    // Private-kNN takes votes away from classes that may have none: room for that below 0.
    let points = if let VoteModel::PrivateKnn(model) = model { model.points() as usize } else { 0 };
    let distributions: Vec<Vec<f64>> = sets.iter().map(|set| distribution_of_sum(model, world, set)).collect();
    let counts = counted(model, world, |votes, counts: &mut Vec<Vec<u64>>| {
        if counts.is_empty() {
            counts.extend(distributions.iter().map(|distribution| vec![0; distribution.len()]));
        }
        for (set, counts) in sets.iter().zip(counts) {
            let sum: i64 = set.iter().map(|&class| votes[class]).sum();
            counts[(sum + points as i64) as usize] += 1;
        }
    });
    sets.iter()
        .zip(counts.iter().zip(&distributions))
        .map(|(set, (counts, distribution))| {
            (chi_square_p_value(counts, distribution).expect("the same length"), format!("classes {set:?}"))
        })
        .collect()
}

/// Counts over all samples of a world, added up block by block.
fn counted(model: &VoteModel, world: World, count: impl Fn(&[i64], &mut Vec<Vec<u64>>) + Sync) -> Vec<Vec<u64>> {
    let sampler = VoteSampler::new(model);
    let blocks = SAMPLES.div_ceil(BLOCK);
    (0..blocks as u64)
        .into_par_iter()
        .fold(Vec::new, |mut counts, block| {
            let mut stream = Stream::new(StreamId { seed: 3, query: 0, world, block });
            let samples = BLOCK.min(SAMPLES - block as usize * BLOCK);
            let votes = sampler.draw(world, samples, &mut stream);
            for row in votes.rows() {
                count(row.to_slice().expect("rows lie together"), &mut counts);
            }
            counts
        })
        .reduce(Vec::new, |mut sum, part| {
            if sum.is_empty() {
                return part;
            }
            for (sum, part) in sum.iter_mut().flatten().zip(part.iter().flatten()) {
                *sum += part;
            }
            sum
        })
}

/// The distribution of the votes of a set of classes together, from -points on: voters one by one.
fn distribution_of_sum(model: &VoteModel, world: World, set: &[usize]) -> Vec<f64> {
    let mass = |distribution: &[f64]| set.iter().map(|&class| distribution[class]).sum::<f64>().min(1.0);
    let neighbor = world == World::Neighbor;
    match model {
        VoteModel::Pate(model) => {
            let changed = if neighbor { model.changed_teachers() } else { 0 };
            let (p, marked) = (mass(model.probabilities()), mass(model.probabilities_marked()));
            let voters = (0..model.teachers()).map(|teacher| if teacher < changed { marked } else { p });
            binomial_sum(voters)
        }
        VoteModel::Capc(model) => {
            binomial_sum(model.probabilities().iter().enumerate().map(|(party, distribution)| {
                if neighbor && party == 0 { mass(model.probabilities_marked()) } else { mass(distribution) }
            }))
        }
        VoteModel::PrivateKnn(model) => {
            let points = model.points() as usize;
            let votes = binomial_sum((0..model.neighbors()).map(|_| mass(model.probabilities())));
            // From -points to k + points.
            let mut distribution = vec![0.0; points];
            distribution.extend(votes);
            distribution.resize(distribution.len() + points, 0.0);
            if !neighbor {
                return distribution;
            }
            let last = mass(model.probabilities_last());
            let gains = f64::from(u8::from(set.contains(&model.label())));
            for _ in 0..points {
                let nu = model.inclusion();
                // One vote for the label, one taken away from the last neighbor.
                let (up, down) = (nu * gains * (1.0 - last), nu * (1.0 - gains) * last);
                let at = |index: usize| distribution.get(index).copied().unwrap_or(0.0);
                distribution = (0..distribution.len())
                    .map(|index| {
                        let below = if index > 0 { at(index - 1) } else { 0.0 };
                        at(index) * (1.0 - up - down) + below * up + at(index + 1) * down
                    })
                    .collect();
            }
            distribution
        }
        _ => unreachable!("no other model in this file"),
    }
}

/// The distribution of the number of successes of independent trials, in the order of their probabilities.
fn binomial_sum(probabilities: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut distribution = vec![1.0];
    for p in probabilities {
        distribution.push(0.0);
        for successes in (0..distribution.len()).rev() {
            let fewer = if successes > 0 { distribution[successes - 1] } else { 0.0 };
            distribution[successes] = distribution[successes] * (1.0 - p) + fewer * p;
        }
    }
    distribution
}

/// p-values of all histograms of four teachers, one of them changed under the neighbor.
fn joint() -> Result<[f64; 2]> {
    let (p, marked) = ([0.2, 0.5, 0.3], [0.6, 0.1, 0.3]);
    let model: VoteModel = PateModel::new(4, &p, &marked)?.into();
    let place = |a: i64, b: i64| (5 * a + b) as usize;
    let mut values = [0.0; 2];
    for world in World::ALL {
        let mut distribution = vec![0.0; 25];
        for votes in 0..81usize {
            let classes = [votes % 3, votes / 3 % 3, votes / 9 % 3, votes / 27];
            let first = if world == World::Neighbor { &marked } else { &p };
            let mass = first[classes[0]] * classes[1..].iter().map(|&class| p[class]).product::<f64>();
            let votes_for = |class| classes.iter().filter(|&&other| other == class).count() as i64;
            distribution[place(votes_for(0), votes_for(1))] += mass;
        }
        let counts = counted(&model, world, |votes, counts| {
            if counts.is_empty() {
                counts.push(vec![0; 25]);
            }
            counts[0][place(votes[0], votes[1])] += 1;
        });
        values[world.index()] = chi_square_p_value(&counts[0], &distribution)?;
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_of_sums_are_distributions() {
        assert_eq!(binomial_sum([0.5, 0.5].into_iter()), [0.25, 0.5, 0.25]);
        for (name, model) in models().unwrap() {
            for world in World::ALL {
                for set in [&[0][..], &[9], &[8, 9]] {
                    let distribution = distribution_of_sum(&model, world, set);
                    assert!(
                        (distribution.iter().sum::<f64>() - 1.0).abs() < 1e-12
                            && distribution.iter().all(|p| *p >= 0.0),
                        "{name}"
                    );
                }
            }
        }
    }
}
