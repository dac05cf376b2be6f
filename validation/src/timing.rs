//! How long the expensive calls take on this machine. Figures only.

use crate::experiment::{Report, Verdict};
use leakbound::Result;
use leakbound::distribution::{
    Noise, marked_argmax_distribution, multinomial_argmax_distribution, noisy_argmax_distribution,
};
use leakbound::histogram::VoteHistogram;
use leakbound::interval::{BinomialCounts, clopper_pearson_lower};
use leakbound::quantity::{FailureProbability, NoiseScale};
use std::hint::black_box;
use std::time::Instant;

/// Seconds per call: the fastest of three runs, which a busy machine disturbs least.
fn seconds_per_call(calls: u32, mut call: impl FnMut(u32) -> Result<()>) -> Result<f64> {
    let mut fastest = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        for index in 0..calls {
            call(index)?;
        }
        fastest = fastest.min(start.elapsed().as_secs_f64() / f64::from(calls));
    }
    Ok(fastest)
}

fn measure(report: &mut Report) -> Result<()> {
    let mut line = |what: &str, calls: u32, seconds: f64| {
        report.line(format!("{what:<62} {:>12.3} us per call, {calls} calls", seconds * 1e6));
    };
    let failure = FailureProbability::new(0.0125)?;
    // A multiplicative walk visits proportions from 0 to 1 without order.
    let spread = |index: u32, n: u64| (u64::from(index).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11) % (n + 1);
    for (n, calls) in [(100_000_000, 333_334), (10_000, 100_000), (1_000_000_000_000, 3_000), (1 << 53, 20)] {
        let seconds = seconds_per_call(calls, |index| {
            black_box(clopper_pearson_lower(BinomialCounts::new(spread(index, n), n)?, failure)?);
            Ok(())
        })?;
        line(&format!("clopper_pearson_lower, n = {n:e}, all proportions", n = n as f64), calls, seconds);
    }
    let (gaussian, laplace) = (Noise::Gaussian(NoiseScale::new(40.0)?), Noise::Laplace(NoiseScale::new(20.0)?));
    let ten = VoteHistogram::new(vec![70, 66, 40, 30, 20, 10, 8, 4, 2, 0])?;
    let seconds = |histogram: &VoteHistogram, noise, calls| {
        seconds_per_call(calls, |_| {
            black_box(noisy_argmax_distribution(black_box(histogram), noise)?);
            Ok(())
        })
    };
    line("noisy_argmax_distribution, C = 10, gaussian:40", 2_000, seconds(&ten, gaussian, 2_000)?);
    line("noisy_argmax_distribution, C = 10, laplace:20", 200, seconds(&ten, laplace, 200)?);
    let many = VoteHistogram::new((0..10_000).collect())?;
    line("noisy_argmax_distribution, C = 10000 distinct counts, gaussian:40", 1, seconds(&many, gaussian, 1)?);
    let (p, marked) = ([0.25, 0.2, 0.15, 0.1, 0.08, 0.07, 0.06, 0.04, 0.03, 0.02], [0.1; 10]);
    let plain = seconds_per_call(20, |_| {
        black_box(multinomial_argmax_distribution(250, black_box(&p), gaussian)?);
        Ok(())
    })?;
    line("multinomial_argmax_distribution, C = 10, k = 250, gaussian:40", 20, plain);
    let with_mark = seconds_per_call(20, |_| {
        black_box(marked_argmax_distribution(250, black_box(&p), &marked, gaussian)?);
        Ok(())
    })?;
    line("marked_argmax_distribution, C = 10, k = 250, gaussian:40", 20, with_mark);
    report.verdict = Verdict::Figures;
    Ok(())
}

/// Measures.
pub fn report() -> Report {
    Report::filled("one thread, the fastest of three runs of the stated number of calls", measure)
}
