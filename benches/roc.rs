//! The ROC of all guesses of 64 victims about 50,000 samples: sorting, AUC and TPR at small FPR.

use criterion::{Criterion, criterion_group};
use leakbound::membership::AttackScores;
use leakbound::quantity::Probability;
use leakbound::roc::Roc;
use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use std::hint::black_box;

fn guesses() -> AttackScores {
    let mut stream = ChaCha8Rng::seed_from_u64(1);
    let members = Array2::from_shape_fn((64, 50_000), |_| stream.random_bool(0.5));
    let scores = members.map(|&member| {
        let noise: f64 = StandardNormal.sample(&mut stream);
        noise + if member { 0.5 } else { 0.0 }
    });
    AttackScores::new(scores, members).expect("guesses")
}

fn roc(criterion: &mut Criterion) {
    let guesses = guesses();
    let fprs = [0.0, 0.001, 0.01].map(|fpr| Probability::new(fpr).expect("a probability"));
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let mut group = criterion.benchmark_group(format!("3.2 million guesses, {threads} threads"));
        group.sample_size(10);
        group.bench_function("ROC, AUC and TPR at three FPRs", |bencher| {
            bencher.iter(|| {
                pool.install(|| {
                    let [members, non_members] = black_box(&guesses).pooled(|_| true);
                    let roc = Roc::new(&members, &non_members).expect("a ROC");
                    roc.auc() + fprs.iter().map(|&fpr| roc.tpr(roc.at_fpr(fpr))).sum::<f64>()
                })
            });
        });
        group.finish();
    }
}

criterion_group!(benches, roc);
