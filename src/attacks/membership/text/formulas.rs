//! Means over all tokens and over the least likely ones.

/// The mean; it has no value for an empty slice.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Number of tokens in the lowest share of all: the product, in doubles, rounded down; at least one.
fn lowest_count(tokens: usize, share: f64) -> usize {
    ((tokens as f64 * share) as usize).clamp(1, tokens.max(1))
}

/// Moves the lowest share of some values to the front, and returns them; the largest of them is the last.
fn lowest(values: &mut [f64], share: f64) -> &[f64] {
    let count = lowest_count(values.len(), share);
    if !values.is_empty() {
        values.select_nth_unstable_by(count - 1, f64::total_cmp);
    }
    values.get(..count).unwrap_or_default()
}

/// The mean of the lowest share of the values.
pub(super) fn mean_of_lowest(values: impl Iterator<Item = f64>, share: f64) -> f64 {
    let mut values: Vec<f64> = values.collect();
    mean(lowest(&mut values, share))
}

/// The mean log-probability of the tokens that are among the lowest share, equal ones included, although the entropy of
/// their prediction is below a limit; none without such a token.
pub(super) fn mean_of_surprising(log_probabilities: &[f64], entropies: &[f64], share: f64, limit: f64) -> Option<f64> {
    let cut = lowest(&mut log_probabilities.to_vec(), share).last().copied()?;
    let (mut sum, mut count) = (0.0, 0u32);
    for (&log_probability, &entropy) in log_probabilities.iter().zip(entropies) {
        if log_probability <= cut && entropy < limit {
            sum += log_probability;
            count += 1;
        }
    }
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_round_down_to_at_least_one_token() {
        let counts = [(1, 0.2), (4, 0.2), (5, 0.2), (9, 0.2), (10, 0.2), (10, 1.0), (3, 1e-9)];
        assert_eq!(counts.map(|(tokens, share)| lowest_count(tokens, share)), [1, 1, 1, 1, 2, 10, 1]);
    }

    #[test]
    fn the_lowest_are_found_wherever_they_stand() {
        let values = [-0.5, -3.0, -0.1, -2.0, -7.0, -0.2, -1.0, -0.3, -0.4, -0.6];
        assert_eq!(mean_of_lowest(values.into_iter(), 0.2), -5.0);
        assert_eq!(mean_of_lowest(values.into_iter(), 1.0), mean(&values));
        assert_eq!(mean_of_lowest([-2.0].into_iter(), 0.2), -2.0);
    }

    #[test]
    fn surprising_tokens_are_unlikely_where_the_model_was_sure() {
        let (own, entropies) = ([-4.0, -1.0, -6.0, -0.5, -3.0], [1.0, 0.5, 5.0, 0.1, 1.9]);
        // The lowest three are -6, -4 and -3; at -6 the model was not sure.
        assert_eq!(mean_of_surprising(&own, &entropies, 0.6, 2.0), Some(-3.5));
        assert_eq!(mean_of_surprising(&own, &entropies, 0.6, 1.0), None);
        // Of equal tokens none is left out by its place.
        assert_eq!(mean_of_surprising(&[-1.0, -1.0, 0.0], &[9.0, 0.0, 0.0], 0.4, 1.0), Some(-1.0));
        assert_eq!(mean_of_surprising(&[], &[], 0.2, 2.0), None);
    }
}
