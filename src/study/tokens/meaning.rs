//! What a reader of an audit of tokens must know.

use super::answer::TokensAnswer;
use super::sums::Sums;
use crate::study::Warning;
use crate::study::number::significant;

/// Warnings about the figures of an answer.
pub(super) fn warnings(answer: &TokensAnswer, sums: &Sums) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for row in answer.accountants.iter().filter(|row| row.above > 0) {
        warnings.push(Warning {
            code: "charge-exceeded",
            message: format!(
                "{} ({}) charges {} for D of one answer at α = {}, and {} of {} positions leak more, at most {}",
                row.name,
                row.source,
                significant(row.answer.0, 3),
                row.order,
                row.above,
                answer.positions,
                significant(row.largest.0, 3)
            ),
            hint: "what is charged is no bound: use a theorem of the table, or the exact values".into(),
        });
    }
    // e^{-l} of the loss against a neighbor has mean 1 over tokens of the whole ensemble.
    let smallest = sums.losses().and_then(|losses| losses.into_iter().enumerate().min_by(|a, b| a.1.total_cmp(&b.1)));
    if let Some((index, loss)) = smallest {
        let p_value = sums.neighbors().len() as f64 * loss.exp();
        if p_value < answer.failure_probability {
            warnings.push(Warning {
                code: "answers-of-another-ensemble",
                message: format!(
                    "the answered tokens are e^{:.1} times likelier {} than with all members; tokens \
                     of the recorded distributions do so with probability {} at most",
                    -loss,
                    sums.neighbors()[index],
                    significant(p_value, 2)
                ),
                hint:
                    "check that the tokens were drawn by this mechanism from these distributions: lower bounds need it"
                        .into(),
            });
        }
    }
    warnings
}
