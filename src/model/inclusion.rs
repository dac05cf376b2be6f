//! Whether a point of known rank is among the nearest neighbours of a subsample.

use crate::special::{CompensatedSum, log_binomial_pmf};

/// γ P(Bin(r-1, γ) ≤ k-1): that the r-th nearest point is in a Poisson subsample of rate γ, and fewer than k nearer ones.
pub(crate) fn inclusion_of_rank(k: u64, rank: u64, rate: f64) -> f64 {
    if rank <= k {
        return rate;
    }
    let nearer = (0..k).map(|nearer| libm::exp(log_binomial_pmf(nearer, rank - 1, rate)));
    // A sum of terms that round up may exceed 1.
    (rate * nearer.collect::<CompensatedSum>().value()).min(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the sum of the paper, Σ_{i<k} C(r-1, i) γ^(i+1) (1-γ)^(r-i-1), term by term.
    #[test]
    fn inclusion_is_that_of_the_paper() {
        for (k, rank, rate) in [(3u64, 7u64, 0.2f64), (1, 2, 0.5), (5, 5, 0.3), (4, 30, 0.9), (2, 9, 0.0), (2, 9, 1.0)]
        {
            let mut sum = 0.0;
            let mut choose = 1.0;
            for i in 0..k.min(rank) {
                sum += choose * rate.powi(i as i32 + 1) * (1.0 - rate).powi((rank - i - 1) as i32);
                choose *= (rank - 1 - i) as f64 / (i + 1) as f64;
            }
            let value = inclusion_of_rank(k, rank, rate);
            assert!((value - sum).abs() <= 1e-14 * sum, "{k} {rank} {rate}: {value} {sum}");
        }
    }
}
