//! What a reader of scores of texts must know.

use super::answer::TextMembershipAnswer;
use crate::error::Result;
use crate::membership::{TextPart, TextScore, TextSequences};
use crate::study::Warning;
use crate::study::number::{percent, significant};

/// The arrays in which a part may be recorded.
pub(super) fn recorded_as(part: TextPart) -> String {
    let other = match part {
        TextPart::ReferenceLoss => Some("reference_log_probabilities"),
        TextPart::ZlibBytes => Some("text"),
        TextPart::LogProbabilities
        | TextPart::Means
        | TextPart::Deviations
        | TextPart::Entropies
        | TextPart::NeighborLosses
        | TextPart::CandidateLosses => part.negative().map(TextPart::name),
    };
    other.map_or_else(|| format!("`{}`", part.name()), |other| format!("`{}` or `{other}`", part.name()))
}

/// A score that cannot be computed from the recording.
pub(super) fn left_out(score: TextScore, part: TextPart) -> Warning {
    Warning {
        code: "score-left-out",
        message: format!("{score} is left out: it needs {}", recorded_as(part)),
        hint: "record what it needs, or name the scores that you want".into(),
    }
}

/// No model gives a token less: e^-1000 is far below the least double.
const LEAST: f64 = -1000.0;
/// Tokens that are looked at together.
const TOGETHER: usize = 1 << 20;

/// Placeholder numbers for what was not recorded, as serving APIs write them.
pub(super) fn recorded(sequences: &dyn TextSequences) -> Result<Vec<Warning>> {
    let all = sequences.members().len();
    let (mut low, mut lowest, mut certain, mut start) = (0u64, 0.0f64, 0, 0);
    while start < all {
        let most = sequences.tokens_before(start) + TOGETHER;
        let within = |end: &usize| sequences.tokens_before(*end + 1) <= most;
        let end = (start + 1..all).find(|end| !within(end)).unwrap_or(all);
        let rows = sequences.read(TextPart::LogProbabilities, start..end)?;
        for row in (0..rows.rows()).map(|row| rows.row(row)) {
            low += row.iter().filter(|&&value| value <= LEAST).count() as u64;
            lowest = row.iter().copied().fold(lowest, f64::min);
            certain += usize::from(row.first() == Some(&0.0));
        }
        start = end;
    }
    let mut warnings = Vec::new();
    if low > 0 {
        warnings.push(Warning {
            code: "unlikely-tokens",
            message: format!(
                "{low} log-probabilities are at most {LEAST}, the lowest {}: no model gives so little",
                significant(lowest, 4)
            ),
            hint:
                "serving APIs write -9999 or the like where a token is not among the top ones: leave such tokens out \
                   of every list, or record them"
                    .into(),
        });
    }
    if 10 * certain >= all {
        warnings.push(Warning {
            code: "certain-first-tokens",
            message: format!("{certain} of {all} sequences begin with a log-probability of exactly 0"),
            hint: "some programs write 0 for a first token, which nothing predicts: leave it out of every list".into(),
        });
    }
    Ok(warnings)
}

pub(super) fn of(answer: &TextMembershipAnswer) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |code, message, hint: &str| warnings.push(Warning { code, message, hint: hint.into() });
    if !answer.documents_recorded {
        warn(
            "documents-unknown",
            "no documents are recorded: each sequence counts as independent of all others".into(),
            "if sequences come from longer texts, record `document`, or the limits are too narrow",
        );
    }
    let undecided = answer.attacks.iter().filter(|attack| attack.undecided > 0);
    for attack in undecided {
        warn(
            "undecided-sequences",
            format!(
                "{}: {} of {} sequences and {} of {} documents have no value, since no unlikely token was predicted with \
                 an entropy below {}",
                attack.score,
                attack.undecided,
                answer.sizes.sequences,
                attack.undecided_documents,
                answer.sizes.members + answer.sizes.non_members,
                significant(answer.entropy_limit.0, 3)
            ),
            "documents without any value rank lowest, by convention; a larger share or entropy limit leaves fewer",
        );
    }
    for attack in answer.attacks.iter().filter(|attack| attack.auc_upper < 0.5) {
        warn(
            "below-chance",
            format!(
                "{}: members score lower than others, AUC at most {}",
                attack.score,
                significant(attack.auc_upper, 3)
            ),
            "members and others may differ in more than membership, such as their source, date or length",
        );
    }
    let rates = answer.attacks.first().into_iter().flat_map(|attack| &attack.at);
    for at in rates.filter(|at| at.target_fpr > 0.0 && at.target_fpr * (answer.sizes.non_members as f64) < 1.0) {
        warn(
            "few-non-members",
            format!(
                "{} non-members cannot tell an FPR of {} from {}",
                answer.sizes.non_members,
                percent(at.target_fpr),
                percent(at.fpr_upper.0)
            ),
            "the rule allows no false positive at all; record more non-members or ask for a larger FPR",
        );
    }
    warnings
}
