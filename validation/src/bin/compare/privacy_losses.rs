//! Our rates of composing privacy losses.

use super::noisy_votes::pool;
use super::{Result, median};
use leakbound::divergence::{ComposedDirection, Conversion};
use leakbound::histogram::VoteHistogram;
use leakbound::mechanism::parse;
use leakbound::quantity::{Delta, Order};
use leakbound::record::releases_from_bytes;
use leakbound::study::{AccountStudy, Answers, Study, unwatched};
use std::time::Instant;

/// The relative width of an enclosure of epsilon, and the cells of the outputs that it takes.
const WIDTH: f64 = 1e-3;
const CELLS: usize = 2_000;

/// Compositions of so many steps of DP-SGD per second, with noise 0.8 at a rate of 1 %: from the parameters to epsilon at
/// 1e-5, enclosed from both sides, of a record that is added and of one that is removed.
pub fn dp_sgd_rate<const STEPS: u64>(_: &str, seconds: f64) -> Result<f64> {
    once_per_second(seconds, 1.0, || {
        let delta = Delta::new(1e-5)?;
        let [without, with] = [0, 1].map(|count| VoteHistogram::new(vec![count]));
        let mechanism = parse("subsampled-gaussian:sigma=0.8,rate=0.01")?;
        for loss in mechanism.enclosed_losses(&without?, &with?, CELLS)? {
            let epsilon = ComposedDirection::of_enclosed(&[(&loss, STEPS)], delta, WIDTH)?.epsilon(delta);
            if !(epsilon.upper <= 1.01 * epsilon.lower) {
                return Err(format!("{STEPS} steps: epsilon from {} to {}", epsilon.lower, epsilon.upper).into());
            }
        }
        Ok(())
    })
}

/// Different releases.
const RELEASES: u32 = 10_000;

/// Releases per second of `account` over ten thousand of four kinds, no two the same: by Renyi divergences, and epsilon at
/// 1e-5 enclosed by privacy losses.
pub fn releases_rate(_: &str, seconds: f64) -> Result<f64> {
    let release = |index: u32| {
        let sigma = 20.0 + 180.0 * (f64::from(index) * 0.618_033_988_749_895).fract();
        let mechanism = match index % 4 {
            0 => format!("gaussian:sigma={sigma}"),
            1 => format!("laplace:sigma={sigma}"),
            2 => format!("subsampled-gaussian:sigma={sigma},rate={}", 0.01 + 0.002 * f64::from(index % 200)),
            _ => format!("discrete-laplace:sigma={sigma}"),
        };
        format!("[[release]]\nmechanism = '{mechanism}'\n")
    };
    let text: String = (0..RELEASES).map(release).collect();
    once_per_second(seconds, f64::from(RELEASES), || {
        let study = AccountStudy {
            answers: Answers::Releases(releases_from_bytes("r.toml", text.as_bytes())?.releases),
            delta: Delta::new(1e-5)?,
            conversion: Conversion::Improved,
            orders: vec![Order::new(2.0)?],
            exact: true,
            privacy_losses: true,
            budgets: Vec::new(),
            seed: 0,
        };
        study.run(&unwatched).map(drop).map_err(Into::into)
    })
}

/// Items per second on two threads: the median of at least three runs, or of as many as there is time for.
pub fn once_per_second(seconds: f64, items: f64, run: impl Fn() -> Result<()> + Sync) -> Result<f64> {
    let pool = pool()?;
    let start = Instant::now();
    let mut rates = Vec::new();
    while rates.len() < 3 || start.elapsed().as_secs_f64() < seconds {
        let once = Instant::now();
        pool.install(&run)?;
        rates.push(items / once.elapsed().as_secs_f64());
    }
    Ok(median(&rates))
}
