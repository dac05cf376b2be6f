//! Exposure of a secret: how early it would be found by guessing in order of perplexity.

use crate::error::{Error, Result};

/// The exposure of a secret in bits: log₂ n - log₂ rank, where the rank is 1 plus the number of the n reference
/// secrets, which were not trained on, that the model finds more likely (of lower perplexity).
///
/// A secret that was not trained on either has each rank from 1 to n + 1 with the same probability, so an exposure of x
/// or more occurs by chance with probability at most 2^-x. Exposure measures memorization; it does not bound ε.
///
/// # Errors
/// [`Error::Length`] without references, [`Error::Domain`] for a perplexity that is NaN.
///
/// # Example
/// ```
/// # use leakbound::audit::exposure;
/// assert_eq!(exposure(0.6, &[0.5, 0.7, 0.8, 1.0])?, 1.0);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Carlini et al. (2019), "The secret sharer: evaluating and testing unintended memorization in neural networks".
pub fn exposure(perplexity: f64, reference: &[f64]) -> Result<f64> {
    Error::check_length(!reference.is_empty(), "reference secrets", 0, "at least 1")?;
    let all = reference.iter().chain([&perplexity]);
    Error::check_domain_of_all(all, |value| !value.is_nan(), "perplexity", "[-inf, inf]")?;
    let rank = 1 + reference.iter().filter(|&&other| other < perplexity).count();
    Ok((reference.len() as f64 / rank as f64).log2())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_at_both_ends() {
        assert_eq!(exposure(f64::NEG_INFINITY, &[1.0; 8]).unwrap(), 3.0);
        assert!(exposure(2.0, &[1.0; 8]).unwrap() < 0.0);
        assert!(exposure(1.0, &[]).is_err() && exposure(f64::NAN, &[1.0]).is_err());
    }
}
