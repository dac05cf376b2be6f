//! The interval of ε as published with the attack; a heuristic.

use super::memorization::LabelCanaries;
use crate::error::{Error, Result};
use ndarray::{Array2, ArrayView2};

/// Thresholds tried.
const THRESHOLDS: [f64; 7] = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];
/// The normal quantile as printed.
const QUANTILE: f64 = 1.96;
/// Added to the denominator of the weighted variance by the authors.
const GUARD: f64 = 1e-8;
/// With all guesses right, fewer canaries than this are taken for a fluke.
const FLUKE: usize = 50;

/// An interval without a guarantee.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AntipodesInterval {
    /// Lower end of ε.
    pub lower: f64,
    /// Upper end; `inf` if the attack may always be right.
    pub upper: f64,
    /// The threshold at which it was read; None if no threshold gave anything.
    pub threshold: Option<f64>,
}

impl AntipodesInterval {
    /// The interval of these canaries ([`antipodes_interval`]).
    ///
    /// # Errors
    /// As [`antipodes_interval`].
    pub fn of_canaries(canaries: &LabelCanaries) -> Result<Self> {
        let trained: Vec<f64> = (0..canaries.len()).map(|canary| canaries.trained(canary)).collect();
        let mut others = Array2::zeros((canaries.len(), canaries.classes() - 2));
        for canary in 0..canaries.len() {
            for (column, class) in canaries.alternatives(canary).enumerate() {
                others[[canary, column]] = canaries.probabilities(canary)[class];
            }
        }
        antipodes_interval(&trained, others.view())
    }
}

/// The published interval: `trained` \[canary\] is the model's confidence in the label y' that was trained on, `others`
/// \[canary, alternative\] that in each of the other wrong labels y''.
///
/// At each threshold τ of 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99 the attack guesses the more confident of y' and y'' if
/// either reaches τ. Canary i has m_i guesses, and a share a_i of them are right; with weights m_i over the N canaries
/// that have any, the weighted mean and standard deviation (reliability weights) give mean ± 1.96 sd/√N, reflected if
/// the mean is below one half, at least 0.5 and at most 1; with all guesses right the lower end is at most 1 - 3/N, and
/// 0.5 for N ≤ 50. The interval of ε is ln(a/(1-a)) of both ends, at the τ with the largest lower end.
///
/// *Heuristic*: the best of seven thresholds without correction (as its authors note), a normal interval, guesses on
/// one model taken for independent, and a direction chosen on the data. [`audit_labels`](crate::label_dp::audit_labels)
/// is the valid counterpart.
///
/// # Errors
/// [`Error::Length`] unless there is one row per canary, at least 1, and at least 1 alternative; [`Error::Domain`] for
/// a confidence that is NaN.
///
/// # Example
/// ```
/// # use leakbound::label_dp::antipodes_interval;
/// # use ndarray::Array2;
/// let interval = antipodes_interval(&[0.9; 100], Array2::from_elem((100, 8), 0.01).view())?;
/// // All guesses right: 1 - 3/100.
/// assert!((interval.lower - (0.97f64 / 0.03).ln()).abs() < 1e-12 && interval.upper == f64::INFINITY);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Malek Esmaeili et al. (2021), "Antipodes of label differential privacy: PATE and ALIBI", section 7 and appendix B;
/// Theorem B.1 has the formula of ε, section 7 misprints it.
pub fn antipodes_interval(trained: &[f64], others: ArrayView2<'_, f64>) -> Result<AntipodesInterval> {
    let (found, canaries) = (others.nrows(), trained.len());
    let expected = format_args!("{}, one row per canary, and at least 1 column", canaries.max(1));
    let fits = canaries > 0 && found == canaries && others.ncols() > 0;
    Error::check_length(fits, "alternatives", found, expected)?;
    Error::check_domain_of_all(trained.iter().chain(others), |value| !value.is_nan(), "confidence", "[0, 1]")?;
    let mut best = AntipodesInterval { lower: 0.0, upper: 0.0, threshold: None };
    for threshold in THRESHOLDS {
        let (lower, upper) = at(threshold, trained, others);
        let wider = lower == best.lower && upper > best.upper && upper < f64::INFINITY;
        if lower > best.lower {
            best = AntipodesInterval { lower, upper, threshold: Some(threshold) };
        } else if wider {
            best = AntipodesInterval { upper, threshold: Some(threshold), ..best };
        }
    }
    Ok(best)
}

/// Both ends of ε at one threshold.
fn at(threshold: f64, trained: &[f64], others: ArrayView2<'_, f64>) -> (f64, f64) {
    // Per canary the guesses and the share of right ones; canaries without a guess are left out.
    let mut canaries: Vec<(f64, f64)> = Vec::new();
    for (&trained, others) in trained.iter().zip(others.rows()) {
        let guessed = others.iter().filter(|&&other| trained.max(other) >= threshold);
        let (guesses, right) =
            guessed.fold((0u32, 0u32), |(guesses, right), &other| (guesses + 1, right + u32::from(trained > other)));
        if guesses > 0 {
            canaries.push((f64::from(guesses), f64::from(right) / f64::from(guesses)));
        }
    }
    let size = canaries.len() as f64;
    let guesses: f64 = canaries.iter().map(|(guesses, _)| guesses).sum();
    if canaries.is_empty() {
        return (0.0, f64::INFINITY);
    }
    let weighted = |value: &dyn Fn(f64) -> f64| -> f64 {
        canaries.iter().map(|&(weight, share)| weight / guesses * value(share)).sum()
    };
    let mean = weighted(&|share| share);
    let squares: f64 = canaries.iter().map(|(weight, _)| (weight / guesses).powi(2)).sum();
    let variance = weighted(&|share| (share - mean).powi(2)) / (1.0 - squares + GUARD);
    let spread = QUANTILE * (variance.max(0.0) / size).sqrt();
    // Sums of weights may be rounded past 1.
    let mean = if canaries.iter().all(|(_, share)| *share == canaries[0].1) { canaries[0].1 } else { mean };
    let mean = mean.max(1.0 - mean);
    let (mut low, high) = ((mean - spread).max(0.5), (mean + spread).min(1.0));
    if mean == 1.0 {
        low = if canaries.len() > FLUKE { low.min(1.0 - 3.0 / size) } else { 0.5 };
    }
    (log_odds(low), log_odds(high))
}

fn log_odds(share: f64) -> f64 {
    if share <= 0.5 {
        0.0
    } else if share >= 1.0 {
        f64::INFINITY
    } else {
        (share / (1.0 - share)).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn odd_inputs() {
        assert!(antipodes_interval(&[], Array2::zeros((0, 1)).view()).is_err());
        assert!(antipodes_interval(&[0.5], Array2::zeros((1, 0)).view()).is_err());
        assert!(antipodes_interval(&[f64::NAN], array![[0.5]].view()).is_err());
        let silent = antipodes_interval(&[0.1; 60], Array2::from_elem((60, 8), 0.1).view()).unwrap();
        assert_eq!((silent.lower, silent.threshold), (0.0, None));
        let one = antipodes_interval(&[0.9], array![[0.05]].view()).unwrap();
        assert_eq!(one.lower, 0.0);
    }

    /// Always wrong is as informative as always right.
    #[test]
    fn the_guess_is_turned_round() {
        let wrong = antipodes_interval(&[0.01; 100], Array2::from_elem((100, 3), 0.9).view()).unwrap();
        let right = antipodes_interval(&[0.9; 100], Array2::from_elem((100, 3), 0.01).view()).unwrap();
        assert_eq!(wrong, right);
    }

    #[test]
    fn canaries_give_the_same_as_their_columns() {
        let canaries = LabelCanaries::new(
            Array2::from_shape_fn((80, 4), |(_, class)| if class == 1 { 0.7 } else { 0.1 }),
            vec![0; 80],
            vec![1; 80],
        )
        .unwrap();
        let columns = antipodes_interval(&[0.7; 80], Array2::from_elem((80, 2), 0.1).view()).unwrap();
        assert_eq!(AntipodesInterval::of_canaries(&canaries).unwrap(), columns);
    }
}
