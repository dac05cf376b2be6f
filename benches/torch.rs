//! Training side by side against one after another, for few steps: 48 multilayer perceptrons and 12 convolutional
//! networks, alone on one thread, in groups on one thread, and in groups on all threads, as recipes train them; and
//! perceptrons as they are usually written, with automatic differentiation and libtorch's own Adam on all its threads.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use leakbound::record::ImageSet;
use leakbound::torch::{
    DeviceChoice, NetworkPlan, Optimizer, Schedule, TeacherPlan, TrainingDevice, TrainingPlan, train_teachers,
};
use ndarray::{Array1, Array4};
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

fn training(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("torch");
    group.sample_size(10);
    let (train, test) = (images(1024), images(1));
    let device = TrainingDevice::open(DeviceChoice::Cpu).expect("a processor");
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let mlp = NetworkPlan::Mlp { hidden: 64 };
    for (name, network, teachers, epochs, most) in
        [("mlp", mlp, 16, 20, 8), ("cnn", NetworkPlan::Cnn { filters: 64 }, 4, 1, 4)]
    {
        let ways = [
            ("one after another", Some(1), 1),
            ("side by side on one thread", Some(most), 1),
            ("side by side on all threads", None, 0),
        ];
        for (way, side_by_side, threads) in ways {
            let plan = plan(network, teachers, epochs, side_by_side);
            let pool = pool(threads);
            group.throughput(Throughput::Elements(plan.networks()));
            group.bench_function(format!("{name}, {way}"), |bencher| {
                let run = || train_teachers(&train, &test, &plan, device, &|_| (), None).expect("votes");
                bencher.iter(|| pool.install(run));
            });
        }
    }
    let pixels = Tensor::from_slice(&train.pixels.iter().copied().collect::<Vec<u8>>());
    let pixels = pixels.view([1024, 784]).to_kind(Kind::Float) / 255.0;
    let labels = Tensor::from_slice(&train.labels.iter().map(|&label| i64::from(label)).collect::<Vec<i64>>());
    tch::set_num_threads(std::thread::available_parallelism().map_or(1, |threads| threads.get() as i32));
    group.throughput(Throughput::Elements(48));
    group.bench_function("mlp, as usually written", |bencher| bencher.iter(|| usual(48, &pixels, &labels)));
    group.finish();
}

criterion_group!(benches, training);
criterion_main!(benches);
