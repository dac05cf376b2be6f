//! Training side by side against one after another, for few steps: 48 multilayer perceptrons and 12 convolutional
//! networks, on one thread and on all; alone, these are libtorch's own. And perceptrons as they are usually written,
//! with automatic differentiation and libtorch's Adam on all its threads; the fused Adam of its Python half is not part
//! of `tch`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use leakbound::record::ImageSet;
use leakbound_train::{
    DeviceChoice, NetworkPlan, Optimizer, Schedule, TeacherPlan, TrainingContext, TrainingDevice, TrainingPlan,
    train_teachers,
};
use ndarray::{Array1, Array4};
use std::hint::black_box;
use std::time::Instant;
use tch::nn::{self, Module, OptimizerConfig};
use tch::{Device, Kind, Tensor};

/// Images of noise: the time does not depend on what they show.
fn images(count: usize) -> ImageSet {
    let pixels =
        Array4::from_shape_fn((count, 1, 28, 28), |(image, _, row, column)| (31 * image + 17 * row + 7 * column) as u8);
    ImageSet { pixels, labels: Array1::from_shape_fn(count, |image| (image % 10) as u8), classes: 10 }
}

/// Each ensemble is trained three times: with two partitions and with a poisoned query.
fn plan(network: NetworkPlan, teachers: usize, epochs: usize, side_by_side: Option<usize>) -> TeacherPlan {
    TeacherPlan {
        teachers,
        images: Some(64),
        network,
        instantiations: 1,
        queries: 1,
        adversarial: 0,
        retrainings: 0,
        training: TrainingPlan {
            side_by_side,
            ..TrainingPlan::new(epochs, 32, Optimizer::ADAM, Schedule::Constant { rate: 1e-3 })
        },
        seed: 0,
    }
}

/// Trains perceptrons of 64 units one after another, 40 steps of 32 images each.
fn usual(networks: u64, images: &Tensor, labels: &Tensor) -> f64 {
    let mut loss = 0.0;
    for network in 0..networks as i64 {
        let variables = nn::VarStore::new(Device::Cpu);
        let root = variables.root();
        let model = nn::seq()
            .add(nn::linear(&root / "hidden", 784, 64, nn::LinearConfig::default()))
            .add_fn(|hidden| hidden.relu())
            .add(nn::linear(&root / "classes", 64, 10, nn::LinearConfig::default()));
        let mut adam = nn::Adam::default().build(&variables, 1e-3).expect("Adam");
        for step in 0..40i64 {
            let rows = Tensor::arange(32, (Kind::Int64, Device::Cpu)) + (network + 2 * step) % 32 * 32;
            let logits = model.forward(&images.index_select(0, &rows));
            let step = logits.cross_entropy_for_logits(&labels.index_select(0, &rows));
            adam.backward_step(&step);
            loss = step.double_value(&[]);
        }
    }
    loss
}

/// Threads of this machine.
fn all_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Trains as recipes do, on threads of its own, with so many for libtorch inside each.
fn trained(images: &(ImageSet, ImageSet), plan: &TeacherPlan, threads: usize, inside: usize) {
    let device = TrainingDevice::open(DeviceChoice::Cpu).expect("a processor");
    tch::set_num_threads(inside as i32);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let context = TrainingContext {
        train: &images.0,
        test: &images.1,
        device,
        progress: &|_| std::ops::ControlFlow::Continue(()),
        checkpoint: None,
    };
    pool.install(|| train_teachers(&context, plan)).expect("votes");
}

fn training(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("torch");
    group.sample_size(10);
    let all = all_threads();
    let sets = (images(1024), images(1));
    let mlp = NetworkPlan::Mlp { hidden: 64 };
    for (name, network, teachers, epochs) in [("mlp", mlp, 16, 20), ("cnn", NetworkPlan::Cnn { filters: 64 }, 4, 1)] {
        let ways = [
            ("one after another on one thread", Some(1), 1, 1),
            ("one after another on all threads", Some(1), 1, all),
            ("side by side on one thread", None, 1, 1),
            ("side by side on all threads", None, all, 1),
        ];
        for (way, side_by_side, threads, inside) in ways {
            let plan = plan(network, teachers, epochs, side_by_side);
            group.throughput(Throughput::Elements(plan.networks()));
            group.bench_function(format!("{name}, {way}"), |bencher| {
                bencher.iter(|| trained(&sets, &plan, threads, inside));
            });
        }
    }
    let train = &sets.0;
    let pixels = Tensor::from_slice(&train.pixels.iter().copied().collect::<Vec<u8>>());
    let pixels = pixels.view([1024, 784]).to_kind(Kind::Float) / 255.0;
    let labels = Tensor::from_slice(&train.labels.iter().map(|&label| i64::from(label)).collect::<Vec<i64>>());
    let usual = || {
        tch::set_num_threads(all as i32);
        black_box(usual(48, &pixels, &labels));
    };
    group.throughput(Throughput::Elements(48));
    group.bench_function("mlp, as usually written", |bencher| bencher.iter(usual));
    // In turn, so that what else the machine does falls on every way.
    let [alone, together] = [Some(1), None].map(|side_by_side| plan(mlp, 16, 20, side_by_side));
    let mut rounds = Vec::new();
    group.bench_function("mlp, three ways in turn on all threads", |bencher| {
        bencher.iter_custom(|count| {
            let start = Instant::now();
            rounds.extend((0..count).map(|_| {
                let usual = seconds(usual);
                [usual, seconds(|| trained(&sets, &alone, 1, all)), seconds(|| trained(&sets, &together, all, 1))]
            }));
            start.elapsed()
        });
    });
    group.finish();
    if rounds.is_empty() {
        return;
    }
    let median = |value: &dyn Fn(&[f64; 3]) -> f64| {
        let mut values: Vec<f64> = rounds.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    println!(
        "in {} rounds, medians: usual {:.3} s, one after another {:.3} s, side by side {:.3} s; side by side is {:.2} \
         times as fast as usual, {:.2} times as fast as one after another",
        rounds.len(),
        median(&|round| round[0]),
        median(&|round| round[1]),
        median(&|round| round[2]),
        median(&|round| round[0] / round[2]),
        median(&|round| round[1] / round[2]),
    );
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

criterion_group!(benches, training);
criterion_main!(benches);
