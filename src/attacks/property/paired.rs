//! Which of two attacks infers more on the same networks.

use super::accuracy::same_length;
use crate::error::Result;
use crate::special::log_binomial_pmf;

/// Networks on which exactly one of two attacks is right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedInferences {
    /// Networks on which only the first one is right.
    pub only_first: u64,
    /// Networks on which only the second one is right.
    pub only_second: u64,
    /// The p-value of the exact test of McNemar, for both directions together.
    pub p_value: f64,
}

/// Compares two attacks on the same networks by those on which only one of them is right.
///
/// If both attacks are equally accurate on networks that are drawn as these were, independently, each of n such
/// networks favors either attack with probability ½. With k for the attack favored more often, p = min(1, 2 P(Bin(n, ½)
/// ≥ k)); without such networks p = 1.
///
/// # Errors
/// [`Error::Length`](crate::Error::Length) for another number of inferred values than truths.
///
/// # Example
/// ```
/// # use leakbound::property::paired_inferences;
/// let paired = paired_inferences(&[0, 0, 0, 0, 0, 1], &[1, 1, 1, 1, 1, 0], &[0; 6])?;
/// assert_eq!((paired.only_first, paired.only_second), (5, 1));
/// assert!((paired.p_value - 2.0 * 7.0 / 64.0).abs() < 1e-14);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// McNemar (1947), "Note on the sampling error of the difference between correlated proportions or percentages", in its
/// exact form.
pub fn paired_inferences(first: &[usize], second: &[usize], truths: &[usize]) -> Result<PairedInferences> {
    same_length(first, truths)?;
    same_length(second, truths)?;
    let only = |one: &[usize], other: &[usize]| {
        let rows = one.iter().zip(other).zip(truths);
        rows.filter(|((one, other), truth)| one == truth && other != truth).count() as u64
    };
    let (only_first, only_second) = (only(first, second), only(second, first));
    let (n, k) = (only_first + only_second, only_first.max(only_second));
    let tail: f64 = (k..=n).map(|k| log_binomial_pmf(k, n, 0.5).exp()).sum();
    Ok(PairedInferences { only_first, only_second, p_value: (2.0 * tail).min(1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_attacks_are_not_told_apart() {
        let truths = [0, 1, 2, 0];
        let same = paired_inferences(&[0, 1, 1, 1], &[0, 1, 1, 1], &truths).unwrap();
        assert_eq!(same, PairedInferences { only_first: 0, only_second: 0, p_value: 1.0 });
        let even = paired_inferences(&[0, 1, 1, 1], &[0, 0, 2, 1], &truths).unwrap();
        assert_eq!(even, PairedInferences { only_first: 1, only_second: 1, p_value: 1.0 });
        assert!(paired_inferences(&[0], &[0, 0], &[0, 0]).is_err());
        assert!(paired_inferences(&[0, 0], &[0], &[0, 0]).is_err());
    }
}
