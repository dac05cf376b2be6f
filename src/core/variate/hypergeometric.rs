//! Hypergeometric variables: how many items of a part drawn without replacement are marked.
//!
//! This replaces `rand_distr`, whose acceptance test subtracts logarithms of factorials, which are off by 4e-3 for
//! 10^12 items. Here the distribution is a quotient of three binomial probabilities in saddle-point form.

use crate::special::log_binomial_pmf;
use rand::{Rng, RngExt};

/// Up to this many items are drawn one by one.
const ONE_BY_ONE: u64 = 12;

/// How many of `drawn` items are marked, if they are taken without replacement from `total` ≤ 2^53 items with `marked`
/// marked ones; `marked` and `drawn` are at most `total`.
pub(super) fn draw(total: u64, marked: u64, drawn: u64, stream: &mut impl Rng) -> u64 {
    let unmarked = total - marked;
    // By symmetry: draw the smaller part, count the rarer items.
    if drawn > total - drawn {
        return marked - draw(total, marked, total - drawn, stream);
    }
    if marked > unmarked {
        return drawn - draw(total, unmarked, drawn, stream);
    }
    if marked == 0 || drawn == 0 {
        0
    } else if drawn <= ONE_BY_ONE {
        one_by_one(total, marked, drawn, stream)
    } else if marked <= ONE_BY_ONE {
        // The drawn and the marked items may be exchanged.
        one_by_one(total, drawn, marked, stream)
    } else {
        by_rejection(total, marked, drawn, stream)
    }
}

fn one_by_one(total: u64, marked: u64, drawn: u64, stream: &mut impl Rng) -> u64 {
    let mut left = marked;
    for gone in 0..drawn {
        if stream.random_range(0..total - gone) < left {
            left -= 1;
        }
    }
    marked - left
}

/// Ratio of uniforms with the table mountain hat (Stadlober 1990, "The ratio of uniforms approach for generating
/// discrete random variates", J. Comput. Appl. Math. 31): k = floor(mean + 1/2 + h (v - 1/2)/u) with
/// h = 2√(2/e) √(variance + 1/2) + 3 - 2√(3/e) is accepted where u² ≤ P(k)/P(mode).
fn by_rejection(total: u64, marked: u64, drawn: u64, stream: &mut impl Rng) -> u64 {
    const WIDTH: f64 = 1.715_527_769_921_413_5;
    const OFFSET: f64 = 0.898_916_162_058_898_8;
    let (n, share) = (drawn as f64, marked as f64 / total as f64);
    let rest = (total - drawn) as f64 / (total - 1) as f64;
    let variance = n * share * (1.0 - share) * rest;
    let height = WIDTH * (variance + 0.5).sqrt() + OFFSET;
    let mode = ((n + 1.0) * ((marked + 1) as f64 / (total + 2) as f64)) as u64;
    let (least, most) = (drawn.saturating_sub(total - marked), marked.min(drawn));
    let mode = mode.clamp(least, most);
    // (marked choose k) (unmarked choose drawn-k), up to factors independent of k; the probability is arbitrary.
    let p = n / total as f64;
    let ln = |k: u64| log_binomial_pmf(k, marked, p) + log_binomial_pmf(drawn - k, total - marked, p);
    let ln_mode = ln(mode);
    // The mean relative to the mode, so no digits are lost for 2^53 items.
    let shift = n.mul_add(share, -(mode as f64)) + 0.5;
    loop {
        let (u, v): (f64, f64) = (stream.random(), stream.random());
        let offset = shift + height * (v - 0.5) / u;
        // Infinite or NaN for u = 0: as i64 out of range, or 0 with a logarithm that accepts it correctly.
        let k = i128::from(offset.floor() as i64) + i128::from(mode);
        if !(i128::from(least)..=i128::from(most)).contains(&k) {
            continue;
        }
        let k = k as u64;
        if 2.0 * u.ln() <= ln(k) - ln_mode {
            return k;
        }
    }
}

/// Splits off `drawn` items at random from a stock of counted kinds with `total` items left: calls `take` with every
/// kind drawn and its number, and removes them from the stock.
pub fn draw_counts(stock: &mut [u64], total: u64, drawn: u64, stream: &mut impl Rng, mut take: impl FnMut(usize, u64)) {
    let (mut others, mut wanted) = (total, drawn.min(total));
    for (kind, left) in stock.iter_mut().enumerate() {
        if wanted == 0 {
            return;
        }
        if *left == 0 {
            continue;
        }
        let count = draw(others, *left, wanted, stream);
        others -= *left;
        *left -= count;
        wanted -= count;
        if count > 0 {
            take(kind, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variate::p_value;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn stream(seed: u64) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(seed)
    }

    /// ln P(k) with a probability that is exact for all three binomials.
    fn ln_distribution(k: u64, total: u64, marked: u64, drawn: u64) -> f64 {
        let p = drawn as f64 / total as f64;
        log_binomial_pmf(k, marked, p) + log_binomial_pmf(drawn - k, total - marked, p)
            - log_binomial_pmf(drawn, total, p)
    }

    /// Chi-square over all outcomes: each of the 12 fails with probability 1e-6 over the seeds.
    #[test]
    fn draws_fit_the_distribution() {
        for (total, marked, drawn) in [
            (10, 3, 4),
            (30, 14, 14),
            (30, 15, 15),
            (100, 20, 13),
            (100, 80, 50),
            (100, 50, 87),
            (1_000, 30, 400),
            (1_000, 500, 500),
            (10_000, 300, 300),
            (1_000_000_000, 40_000, 1_000_000),
            (1_000_000_000_000, 5_000_000, 20_000_000),
            (1 << 53, 1 << 30, 1 << 26),
        ] {
            let mut stream = stream(total ^ marked);
            let (low, high) = (drawn - drawn.min(total - marked), marked.min(drawn));
            let cells = (high - low).min(4_000) as usize;
            let mut counts = vec![0u64; cells + 1];
            for _ in 0..200_000 {
                counts[(draw(total, marked, drawn, &mut stream) - low) as usize] += 1;
            }
            let distribution: Vec<f64> =
                (0..=cells).map(|k| ln_distribution(low + k as u64, total, marked, drawn).exp()).collect();
            let fit = p_value(&counts, &distribution);
            println!(
                "{marked} of {total} marked, {drawn} drawn: p-value {fit:.4}, total {}",
                distribution.iter().sum::<f64>()
            );
            assert!(fit > 1e-6);
        }
    }

    /// A large variance: mean and variance within five standard errors (6e-7 each, 4 of them).
    #[test]
    fn huge_draws_have_the_right_moments() {
        for (total, marked, drawn) in
            [(1u64 << 53, 1u64 << 52, 1u64 << 51), (1_000_000_000_000, 3_000_000_000, 400_000_000_000)]
        {
            let (share, n) = (marked as f64 / total as f64, drawn as f64);
            let deviation = (n * share * (1.0 - share) * (1.0 - n / total as f64)).sqrt();
            let mut stream = stream(3);
            let (draws, mut sum, mut squares) = (100_000, 0.0, 0.0);
            for _ in 0..draws {
                let z = (draw(total, marked, drawn, &mut stream) as f64 - n * share) / deviation;
                (sum, squares) = (sum + z, squares + z * z);
            }
            let draws = f64::from(draws);
            let (first, second) = (sum / draws * draws.sqrt(), (squares / draws - 1.0) * (draws / 2.0).sqrt());
            println!("{marked} of {total}: mean {first:.2} and variance {second:.2} standard errors off");
            assert!(first.abs() < 5.0 && second.abs() < 5.0);
        }
    }

    #[test]
    fn ends_are_exact_and_splits_add_up() {
        let mut stream = stream(0);
        assert_eq!(draw(5, 5, 3, &mut stream), 3);
        assert_eq!(draw(5, 0, 3, &mut stream), 0);
        assert_eq!(draw(5, 2, 5, &mut stream), 2);
        assert_eq!(draw(1 << 53, 1 << 53, 1 << 53, &mut stream), 1 << 53);
        let mut stock = [5, 0, 100_000, 1 << 50, 3];
        let before = stock;
        let mut taken = [0; 5];
        let total = stock.iter().sum();
        draw_counts(&mut stock, total, 1 << 49, &mut stream, |kind, count| taken[kind] += count);
        assert_eq!(taken.iter().sum::<u64>(), 1 << 49);
        assert!((0..5).all(|kind| taken[kind] + stock[kind] == before[kind]));
    }
}
