//! What a reader of an audit of tokens must know.

use super::answer::{TokensAnswer, TranscriptRenyiRow};
use super::position::is_above;
use super::sums::Sums;
use crate::bound::Direction;
use crate::study::Warning;
use crate::study::number::significant;

/// A bound by transcripts above the exact value: the mechanism leaks more than its recorded distributions.
fn transcripts_exceed(answer: &TokensAnswer) -> Option<Warning> {
    let rows = answer.transcripts.iter().flat_map(|section| &section.renyi);
    let excess = |row: &TranscriptRenyiRow| {
        let values = [
            (Direction::Forward, row.forward.0, row.exact_forward.0),
            (Direction::Reverse, row.reverse.0, row.exact_reverse.0),
        ];
        values
            .into_iter()
            .filter(|(_, bound, exact)| is_above(*bound, *exact))
            .max_by(|a, b| (a.1 - a.2).total_cmp(&(b.1 - b.2)))
    };
    let found = rows.filter_map(|row| Some((row, excess(row)?)));
    let (row, (direction, bound, exact)) = found.max_by(|(_, a), (_, b)| (a.1 - a.2).total_cmp(&(b.1 - b.2)))?;
    Some(Warning {
        code: "transcripts-of-another-mechanism",
        message: format!(
            "by the transcripts, D at α = {} ({direction}) of all answers is at least {} for member {}, above {} of the recorded \
             distributions; such bounds are wrong with probability {} at most",
            row.order,
            significant(bound, 3),
            row.member,
            significant(exact, 3),
            significant(answer.failure_probability, 2)
        ),
        hint: "check that the tokens were drawn by this mechanism from these distributions: what gave them leaks more"
            .into(),
    })
}

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
            hint: "the charge is not a bound: use a theorem of the table, or the exact values".into(),
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
    warnings.extend(transcripts_exceed(answer));
    warnings
}
