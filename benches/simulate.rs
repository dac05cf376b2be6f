//! Nanoseconds per simulated sample on one core.

use criterion::{Criterion, Throughput, criterion_group};
use leakbound::histogram::VoteHistogram;
use leakbound::model::{CapcModel, PateModel, PrivateKnnModel, PromptPateModel, VoteModel};
use leakbound::simulate::{ArgmaxSampler, BLOCK_SAMPLES, Sampler, Stream, StreamId, World};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Gamma};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Vote probabilities of 10 classes, from even to nearly sure.
const SPREAD: [f64; 10] = [0.30, 0.22, 0.13, 0.10, 0.08, 0.06, 0.05, 0.03, 0.02, 0.01];
const CONCENTRATED: [f64; 10] = [0.96, 0.02, 0.01, 0.004, 0.003, 0.002, 0.001, 0.0, 0.0, 0.0];

/// 250 distributions like those of parties with data of their own: Dirichlet(6, 3, 1/8, .., 1/8).
fn parties() -> CapcModel {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(0);
    let shapes = [6.0, 3.0].into_iter().chain([0.125; 8]);
    let gammas: Vec<Gamma<f64>> = shapes.map(|shape| Gamma::new(shape, 1.0).unwrap()).collect();
    let mut distribution = || {
        let draws: Vec<f64> = gammas.iter().map(|gamma| gamma.sample(&mut generator)).collect();
        let total: f64 = draws.iter().sum();
        draws.into_iter().map(|draw| draw / total).collect::<Vec<f64>>()
    };
    let distributions: Vec<Vec<f64>> = (0..250).map(|_| distribution()).collect();
    CapcModel::new(&distributions, &distribution()).unwrap()
}

/// What 12 recorded trainings of each party leave: few classes each.
fn recorded_parties() -> CapcModel {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(1);
    let votes: Vec<Vec<u64>> = parties()
        .probabilities()
        .iter()
        .map(|distribution| {
            let mut votes = vec![0; 10];
            for _ in 0..12 {
                let mut left: f64 = generator.random();
                let class = distribution.iter().position(|p| {
                    left -= p;
                    left < 0.0
                });
                votes[class.unwrap_or(0)] += 1;
            }
            votes
        })
        .collect();
    CapcModel::from_votes(&votes, &[3, 9, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap()
}

fn block(criterion: &mut Criterion) {
    let pate = |k, p: &[f64]| VoteModel::from(PateModel::new(k, p, &[0.1; 10]).unwrap());
    let histogram = |counts: &[u64]| VoteHistogram::new(counts.to_vec()).unwrap();
    let votes = [75, 55, 33, 25, 20, 15, 12, 8, 5, 2];
    let prompts = VoteModel::from(PromptPateModel::new(histogram(&votes), histogram(&votes)).unwrap());
    let mut group = criterion.benchmark_group("block");
    group.throughput(Throughput::Elements(BLOCK_SAMPLES)).sample_size(20);
    for (name, model, noise) in [
        ("pate, k = 250, spread", pate(250, &SPREAD), "gaussian:40"),
        ("pate, k = 250, spread, laplace", pate(250, &SPREAD), "laplace:40"),
        ("pate, k = 250, concentrated", pate(250, &CONCENTRATED), "gaussian:40"),
        ("pate, k = 20000, without tables", pate(20_000, &SPREAD), "gaussian:40"),
        ("capc", parties().into(), "gaussian:40"),
        ("capc, 12 trainings", recorded_parties().into(), "gaussian:40"),
        ("private-knn, k = 200", PrivateKnnModel::new(200, &SPREAD, &[0.1; 10], 0.2, 3).unwrap().into(), "gaussian:30"),
        ("prompt-pate", prompts.clone(), "gaussian:40"),
        ("prompt-pate, laplace", prompts, "laplace:40"),
    ] {
        let mechanism = ArgmaxSampler::new(&model, noise.parse().unwrap());
        for world in World::ALL {
            let mut stream = Stream::new(StreamId { seed: 0, query: 0, world, block: 0 });
            let mut counts = vec![0; 10];
            group.bench_function(format!("{name}, {world}"), |bencher| {
                bencher.iter(|| mechanism.sample_block(world, &mut stream, BLOCK_SAMPLES, &mut counts));
            });
        }
    }
    group.finish();
    criterion.bench_function("tables, k = 250, C = 10", |bencher| {
        let model = pate(250, &SPREAD);
        bencher.iter(|| ArgmaxSampler::new(&model, "gaussian:40".parse().unwrap()));
    });
}

criterion_group!(benches, block);
