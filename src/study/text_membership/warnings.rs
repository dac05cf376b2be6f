//! What a reader of scores of texts must know.

use super::answer::TextMembershipAnswer;
use crate::membership::{TextPart, TextScore};
use crate::study::Warning;
use crate::study::number::{percent, significant};

/// The arrays in which a part may be recorded.
pub(super) fn recorded_as(part: TextPart) -> String {
    let other = match part {
        TextPart::ReferenceLoss => Some("reference_log_probabilities"),
        TextPart::ZlibBytes => Some("text"),
        part => part.negative().map(TextPart::name),
    };
    other.map_or_else(|| format!("`{}`", part.name()), |other| format!("`{}` or `{other}`", part.name()))
}

/// A score that the recording cannot feed.
pub(super) fn left_out(score: TextScore, part: TextPart) -> Warning {
    Warning {
        code: "score-left-out",
        message: format!("{score} is left out: it needs {}", recorded_as(part)),
        hint: "record what it needs, or name the scores that are wanted with --scores".into(),
    }
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
            "documents without any value rank lowest, by convention; a larger --share or --entropy-limit leaves fewer",
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
