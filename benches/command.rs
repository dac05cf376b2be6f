//! Commands run for another program: what reading their options and writing their documents costs beside the work.

use criterion::{Criterion, criterion_group, criterion_main};
use leakbound_cli::{Request, answer};
use std::hint::black_box;

fn benches(criterion: &mut Criterion) {
    let requests = [
        // What `python/benchmarks/calls.py` calls.
        ("audit confusion", r#"{"tp": 1, "fn": 1, "fp": 1, "tn": 1, "methods": "clopper-pearson"}"#),
        ("audit confusion", r#"{"tp": 90, "fn": 10, "fp": 5, "tn": 95}"#),
        ("exact", r#"{"histogram": [14, 12], "neighbor": [13, 13], "noise": "gaussian:2", "orders": 2}"#),
    ];
    for (command, options) in requests {
        let request = || Request { command: command.into(), options: options.into(), ..Request::default() };
        criterion.bench_function(&format!("answer: {command} {options}"), |bencher| {
            bencher.iter(|| answer(black_box(request())));
        });
    }
}

criterion_group!(all, benches);
criterion_main!(all);
