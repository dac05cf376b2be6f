//! The same seed gives the same counts: on any number of threads, and from one version to the next. A change of the
//! committed numbers is value-breaking and is called so in the changelog.

use leakbound::counts::PairedCounts;
use leakbound::histogram::VoteHistogram;
use leakbound::model::{CapcModel, PateModel, PrivateKnnModel, PromptPateModel};
use leakbound::simulate::{ArgmaxSampler, BLOCK_SAMPLES, Sampler, Simulation, World, simulate};
use std::collections::HashSet;

fn pate() -> ArgmaxSampler {
    let model = PateModel::new(250, &[0.30, 0.25, 0.2, 0.15, 0.1], &[0.1, 0.1, 0.1, 0.1, 0.6]).unwrap();
    ArgmaxSampler::new(&model.into(), "gaussian:40".parse().unwrap())
}

fn prompts() -> ArgmaxSampler {
    let histogram = |counts: [u64; 5]| VoteHistogram::new(counts.to_vec()).unwrap();
    let model = PromptPateModel::new(histogram([14, 12, 10, 8, 6]), histogram([13, 13, 10, 8, 6])).unwrap();
    ArgmaxSampler::new(&model.into(), "laplace:4".parse().unwrap())
}

fn parties() -> ArgmaxSampler {
    let rows = [[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [0.125, 0.0, 0.875]];
    let rows: Vec<Vec<f64>> = rows.iter().cycle().take(40).map(|row| row.to_vec()).collect();
    let model = CapcModel::new(&rows, &[0.0, 0.0, 1.0]).unwrap();
    ArgmaxSampler::new(&model.into(), "gaussian:8".parse().unwrap())
}

fn neighbors() -> ArgmaxSampler {
    let model = PrivateKnnModel::new(200, &[0.5, 0.4, 0.1, 0.0], &[0.4, 0.4, 0.1, 0.1], 0.2, 2).unwrap();
    ArgmaxSampler::new(&model.into(), "gaussian:30".parse().unwrap())
}

/// Three whole blocks and a part of a fourth, for query 2.
fn simulation() -> Simulation {
    Simulation::new(200_000).unwrap().seed(7).query(2)
}

fn on_threads(threads: usize, mechanism: &ArgmaxSampler) -> PairedCounts {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| simulate(mechanism, simulation(), |_| ()).unwrap())
}

#[test]
fn committed_counts_are_drawn_again() {
    let drawn = |mechanism: &ArgmaxSampler| {
        let counts = on_threads(2, mechanism);
        [counts.counts().to_vec(), counts.counts_neighbor().to_vec()]
    };
    assert_eq!(
        [pate(), prompts(), parties(), neighbors()].map(|mechanism| drawn(&mechanism)),
        [
            [vec![79266, 53209, 34353, 20971, 12201], vec![78597, 53262, 34441, 21068, 12632]],
            [vec![90332, 52729, 29847, 17124, 9968], vec![70882, 71146, 30254, 17414, 10304]],
            [vec![27881, 95791, 76328], vec![25357, 91059, 83584]],
            [vec![133323, 63891, 2343, 443], vec![133192, 64035, 2314, 459]],
        ]
    );
}

#[test]
fn threads_do_not_matter() {
    for mechanism in [pate(), prompts(), parties(), neighbors()] {
        let serial = World::ALL.map(|world| {
            let mut counts = vec![0; mechanism.outcomes()];
            for block in 0..simulation().blocks() {
                let samples = simulation().block_samples(block);
                mechanism.sample_block(world, &mut simulation().stream(world, block), samples, &mut counts);
            }
            counts
        });
        for threads in [1, 2, 3, 5] {
            let counts = on_threads(threads, &mechanism);
            assert_eq!([counts.counts(), counts.counts_neighbor()], [&serial[0][..], &serial[1][..]], "{threads}");
        }
    }
}

#[test]
fn blocks_have_the_right_borders() {
    let mechanism = prompts();
    for samples in [1, BLOCK_SAMPLES - 1, BLOCK_SAMPLES, BLOCK_SAMPLES + 1] {
        let counts = simulate(&mechanism, Simulation::new(samples).unwrap(), |_| ()).unwrap();
        assert_eq!((counts.trials(), counts.trials_neighbor()), (samples, samples));
    }
    // The sample after the first block is the first of the second.
    let count = |samples| simulate(&mechanism, Simulation::new(samples).unwrap(), |_| ()).unwrap();
    let (whole, more) = (count(BLOCK_SAMPLES), count(BLOCK_SAMPLES + 1));
    let mut next = vec![0; 5];
    let mut stream = Simulation::new(1).unwrap().stream(World::Dataset, 1);
    mechanism.sample_block(World::Dataset, &mut stream, 1, &mut next);
    let added: Vec<u64> = more.counts().iter().zip(whole.counts()).map(|(more, whole)| more - whole).collect();
    assert_eq!(added, next);
}

/// Two of these 5 · 5 · 2 count vectors agree by chance with probability below 1e-5.
#[test]
fn seeds_queries_and_worlds_matter() {
    let mechanism = pate();
    let mut seen = HashSet::new();
    for seed in [0, 1, 2, 1 << 40, u64::MAX] {
        for query in [0, 1, 2, 1 << 40, u64::MAX] {
            let simulation = Simulation::new(BLOCK_SAMPLES).unwrap().seed(seed).query(query);
            let counts = simulate(&mechanism, simulation, |_| ()).unwrap();
            assert!(seen.insert(counts.counts().to_vec()) && seen.insert(counts.counts_neighbor().to_vec()));
        }
    }
}
