//! Commands run for another program: what reading their words and writing their documents costs beside the work.

use criterion::{Criterion, criterion_group, criterion_main};
use leakbound_cli::{Request, answer};
use std::ffi::OsString;
use std::hint::black_box;

fn benches(criterion: &mut Criterion) {
    let commands = [
        // What `python/benchmarks/calls.py` calls.
        "audit confusion --tp=1 --fn=1 --fp=1 --tn=1 --methods=clopper-pearson",
        "audit confusion --tp 90 --fn 10 --fp 5 --tn 95",
        "exact --histogram 14,12 --neighbor 13,13 --noise gaussian:2 --orders 2",
    ];
    for command in commands {
        let words: Vec<OsString> = command.split(' ').map(Into::into).collect();
        criterion.bench_function(&format!("answer: {command}"), |bencher| {
            bencher.iter(|| answer(Request { words: black_box(words.clone()), ..Request::default() }));
        });
    }
}

criterion_group!(all, benches);
criterion_main!(all);
