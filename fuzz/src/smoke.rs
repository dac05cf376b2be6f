//! Seeds of a target and random changes of them, the same ones every time.

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::path::Path;

/// Changed inputs of each target.
const CHANGES: usize = 5_000;
/// Numbers at the ends of their range, in the bytes of a double.
const DOUBLES: [f64; 8] =
    [f64::NAN, f64::INFINITY, -0.0, 1.0, f64::MAX, f64::MIN_POSITIVE, 5e-324, 9_007_199_254_740_993.0];
/// The same as text, and what separates numbers there.
const TEXTS: [&str; 16] = [
    "nan",
    "inf",
    "-inf",
    "-0",
    "1e308",
    "1e-320",
    "1e999",
    "-1",
    "9007199254740993",
    ",",
    "\n",
    "\"",
    "{",
    "]",
    ":",
    "\0",
];

/// Runs the target on all its seeds and on changes of them; an input that fails is kept in a file.
pub fn run(name: &str, target: fn(&[u8])) {
    let seeds = seeds(name);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let changed = (0..CHANGES).map(|_| {
        let mut input = picked(&seeds, &mut rng).clone();
        for _ in 0..rng.random_range(1..=4) {
            change(&mut input, &seeds, &mut rng);
        }
        input
    });
    for input in seeds.iter().cloned().chain(changed) {
        if let Err(panic) = std::panic::catch_unwind(|| target(&input)) {
            let path = std::env::temp_dir().join(format!("leakbound-fuzz-{name}"));
            std::fs::write(&path, &input).expect("a file can be written");
            let path = path.display();
            eprintln!("an input of {name} failed: LEAKBOUND_FUZZ={name} cargo run --package leakbound-fuzz -- {path}");
            std::panic::resume_unwind(panic);
        }
    }
}

/// Files of the target in `fuzz/seeds`, in the order of their names; one empty input if there are none.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name);
    let files = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<_> = files.map(|file| file.expect("a folder can be read").path()).collect();
    paths.sort_unstable();
    let mut seeds: Vec<_> = paths.iter().map(|path| std::fs::read(path).expect("a seed can be read")).collect();
    if seeds.is_empty() {
        seeds.push(Vec::new());
    }
    seeds
}

fn picked<'a, T>(choices: &'a [T], rng: &mut impl Rng) -> &'a T {
    &choices[rng.random_range(0..choices.len())]
}

/// Flips a bit, writes over, inserts, removes, repeats, or goes on with another seed.
fn change(input: &mut Vec<u8>, seeds: &[Vec<u8>], rng: &mut impl Rng) {
    let [start, end] = {
        let ends = [0, 1].map(|_| rng.random_range(0..=input.len()));
        // Mostly short pieces.
        let length = rng.random_range(0..=16);
        [ends[0], if rng.random_range(0..4) == 0 { ends[1].max(ends[0]) } else { (ends[0] + length).min(input.len()) }]
    };
    let piece: Vec<u8> = match rng.random_range(0..7) {
        0 => input[start..end].iter().map(|byte| byte ^ (1 << rng.random_range(0..8))).collect(),
        1 => (start..end).map(|_| rng.random_range(0..=u8::MAX)).collect(),
        2 => (0..rng.random_range(0..64)).map(|_| rng.random_range(0..=u8::MAX)).collect(),
        3 => picked(&DOUBLES, rng).to_le_bytes().to_vec(),
        4 => picked(&TEXTS, rng).as_bytes().to_vec(),
        5 => input[start..end].repeat(rng.random_range(0..4)),
        _ => {
            let other = picked(seeds, rng);
            other[rng.random_range(0..=other.len())..].to_vec()
        }
    };
    input.splice(start..end, piece);
}
