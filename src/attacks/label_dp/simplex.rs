//! The nearest point of the probability simplex.

use crate::error::{Error, Result};
use crate::order;

/// The point of the probability simplex nearest to `values` in Euclidean distance: max(o_i - u, 0), where u makes the
/// sum 1.
///
/// With s the values in falling order, u = (s_1 + ... + s_k - 1)/k for the largest k with k s_k > s_1 + ... + s_k - 1:
/// by the conditions of Karush, Kuhn and Tucker the solution is max(o_i - u, 0) with a multiplier u of the sum, and the
/// sum falls in u.
///
/// # Errors
/// [`Error::Length`] without a value, [`Error::Domain`] for a value that is not finite.
///
/// # Example
/// ```
/// # use leakbound::label_dp::simplex_projection;
/// let nearest = simplex_projection(&[0.5, 0.8, -0.2])?;
/// assert!((nearest[0] - 0.35).abs() < 1e-15 && (nearest[1] - 0.65).abs() < 1e-15 && nearest[2] == 0.0);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Duchi, Shalev-Shwartz, Singer and Chandra (2008), "Efficient projections onto the l1-ball for learning in high
/// dimensions", Figure 1; Malek Esmaeili et al. (2021), Algorithm 4.
pub fn simplex_projection(values: &[f64]) -> Result<Vec<f64>> {
    Error::check_length(!values.is_empty(), "values to project", 0, "at least 1")?;
    Error::check_domain_of_all(values, |value| value.is_finite(), "value to project", "(-inf, inf)")?;
    // A common shift changes nothing; with the largest at 0 nothing overflows, and what lies below -1 is cut off.
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sorted: Vec<f64> = values.iter().map(|value| value - top).collect();
    order::falling(&mut sorted);
    let (mut sum, mut shift) = (0.0, -1.0);
    for (index, value) in sorted.into_iter().enumerate() {
        let count = (index + 1) as f64;
        sum += value;
        if count * value > sum - 1.0 {
            shift = (sum - 1.0) / count;
        } else {
            break;
        }
    }
    Ok(values.iter().map(|value| (value - top - shift).max(0.0)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// In the simplex, and no nearer point: the residual makes an obtuse angle with the way to every vertex.
        #[test]
        fn the_projection_is_optimal(values in prop::collection::vec(-3.0f64..3.0, 1..12)) {
            let projected = simplex_projection(&values).unwrap();
            prop_assert!((projected.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            prop_assert!(projected.iter().all(|p| *p >= 0.0));
            let inner = |x: &[f64]| -> f64 { values.iter().zip(&projected).zip(x).map(|((o, p), x)| (o - p) * (x - p)).sum() };
            for vertex in 0..values.len() {
                let mut at = vec![0.0; values.len()];
                at[vertex] = 1.0;
                prop_assert!(inner(&at) < 1e-12);
            }
        }
    }

    #[test]
    fn extremes() {
        assert_eq!(simplex_projection(&[1e308, -1e308]).unwrap(), [1.0, 0.0]);
        assert_eq!(simplex_projection(&[-7.0]).unwrap(), [1.0]);
        assert!(simplex_projection(&[]).is_err() && simplex_projection(&[f64::NAN]).is_err());
    }
}
