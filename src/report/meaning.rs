//! What the numbers of a page mean, in words.

use super::words::distinct;
use crate::audit::FailurePer;
use crate::bound::Validity;
use crate::report::SeriesKind;
use crate::report::failure::FailureNoteText;
use crate::study::{FailureNote, short, significant};

/// A probability as odds, such as `1 in 20`.
pub(super) fn one_in(probability: f64) -> String {
    let odds = 1.0 / probability;
    if !(probability > 0.0 && odds.is_finite()) {
        return "next to never".into();
    }
    if probability >= 0.4 {
        return format!("{}%", significant(100.0 * probability, 3));
    }
    let whole = odds.round();
    let exact = (whole - odds).abs() < 1e-9 * odds;
    format!(
        "{}1 in {}",
        if exact { "" } else { "about " },
        if whole < 1e6 { whole.to_string() } else { significant(odds, 3) }
    )
}

/// How a lower bound with this guarantee is drawn.
pub(super) const fn kind(validity: Validity) -> SeriesKind {
    match validity {
        Validity::FiniteSample | Validity::Exact | Validity::NumericallyCertified => SeriesKind::Lower,
        Validity::Asymptotic | Validity::Bayesian | Validity::Heuristic => SeriesKind::Heuristic,
    }
}

/// The meaning of a lower bound with this guarantee.
const fn promise(validity: Validity) -> &'static str {
    match validity {
        Validity::FiniteSample => "holds for every number of samples, however small",
        Validity::Asymptotic => "holds in the limit of many samples only; with few it may fail more often",
        Validity::Bayesian => {
            "is a posterior statement under a stated prior, and guarantees nothing about repeated audits"
        }
        Validity::Heuristic => "has no known guarantee and may claim leakage where there is none",
        Validity::Exact => "follows from a theorem, without sampling",
        Validity::NumericallyCertified => "is a numerical supremum or integral whose error was verified",
    }
}

/// The meaning of lower bounds by this many methods.
pub(super) fn lower_bounds(
    failure: &FailureNote,
    validities: impl Iterator<Item = Validity>,
    methods: usize,
) -> Vec<String> {
    let seen = distinct(validities);
    if seen.is_empty() {
        return Vec::new();
    }
    let (stated, odds) = (short(failure.probability), one_in(failure.probability));
    let covered = match failure.per {
        FailurePer::Answer => {
            let share = if failure.share < failure.probability {
                format!(" The events of one method on one query have a share of {}.", significant(failure.share, 3))
            } else {
                String::new()
            };
            format!(
                "This probability is for all numbers of this answer that have a finite-sample guarantee together: all queries, \
                 methods, orders, output sets and both directions. Any of them may be picked, the largest included.{share}"
            )
        }
        FailurePer::Query => {
            "This probability is for all bounds of one method on one query together: all orders, both \
                              directions and all output sets."
                .into()
        }
    };
    let mut paragraphs = vec![format!(
        "A lower bound means that the mechanism leaks at least this much, unless an event of probability {stated} \
         ({odds}) happened. {covered} A bound of 0 tells you nothing."
    )];
    let guarantees: Vec<String> =
        seen.iter().map(|validity| format!("a {validity} bound {}", promise(*validity))).collect();
    let guarantees = guarantees.join("; ");
    let mut letters = guarantees.chars();
    if let Some(first) = letters.next() {
        paragraphs.push(format!("{}{}.", first.to_uppercase(), letters.as_str()));
    }
    paragraphs.extend(match failure.per {
        FailurePer::Answer if failure.nominal => Some(format!(
            "Methods without a finite-sample guarantee take no part of the failure probability: {stated} is the nominal one of \
             each on each query."
        )),
        FailurePer::Answer => None,
        FailurePer::Query => several(methods, failure.queries),
    });
    paragraphs
}

/// The meaning of lower bounds that fail together, in one event.
pub(super) fn of_one_event(failure: Option<f64>, validities: impl Iterator<Item = Validity>) -> Vec<String> {
    failure.map_or_else(Vec::new, |failure| lower_bounds(&FailureNote::of_one_event(failure), validities, 1))
}

/// The joint meaning of many statements with separate failure probabilities.
fn several(methods: usize, queries: usize) -> Option<String> {
    let several = match (methods > 1, queries > 1) {
        (true, true) => {
            format!("{methods} methods and {queries} queries are {} statements", methods as u128 * queries as u128)
        }
        (true, false) => format!("{methods} methods are {methods} statements"),
        (false, true) => format!("{queries} queries are {queries} statements"),
        (false, false) => return None,
    };
    Some(format!(
        "Here {several}, each with its own failure probability: among this many some may be wrong, and the largest of \
         them is wrong more often than one chosen beforehand. Claims are tested at a failure probability that is \
         divided among the queries."
    ))
}

/// What a lower bound does not show.
pub(super) const LIMIT: &str = "What this does not show: a small lower bound is not a proof of privacy. It may be \
    small because the mechanism leaks little, because the samples are few, or because the adversary is weak.";

/// The meaning of an upper bound.
pub(super) const UPPER: &str = "An upper bound is what an accountant's theorem promises about one answer, whatever the \
    samples show. A data-dependent one depends on the votes and is not private itself.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_in_words() {
        let words = [0.05, 0.01, 0.3, 0.5, 0.999, 1e-300, 5e-324, 0.0].map(one_in);
        assert_eq!(
            words,
            [
                "1 in 20",
                "1 in 100",
                "about 1 in 3",
                "50.0%",
                "99.9%",
                "1 in 1.00e300",
                "next to never",
                "next to never"
            ]
        );
    }

    #[test]
    fn every_guarantee_is_said_once() {
        use Validity::{Asymptotic, FiniteSample, Heuristic};
        let validities = || [FiniteSample, Heuristic, FiniteSample, Asymptotic].into_iter();
        let whole = FailureNote::of_one_event(0.05);
        let each = FailureNote { per: FailurePer::Query, queries: 60, nominal: true, ..whole };
        let words = lower_bounds(&each, validities(), 3);
        let [meaning, guarantees, several] = &words[..] else { panic!("{words:?}") };
        assert!(meaning.contains("0.05 (1 in 20)") && several.contains("180 statements"), "{words:?}");
        assert_eq!(guarantees.matches("finite-sample").count(), 1);
        let shared = FailureNote { per: FailurePer::Answer, share: 0.05 / 120.0, ..each };
        let words = lower_bounds(&shared, validities(), 3);
        let [meaning, _, nominal] = &words[..] else { panic!("{words:?}") };
        assert!(
            meaning.contains("the largest included. The events of one method on one query have a share of 4.17e-4.")
        );
        assert!(nominal.contains("0.05 is the nominal one"), "{words:?}");
        assert!(lower_bounds(&whole, [].into_iter(), 0).is_empty());
        assert_eq!(lower_bounds(&whole, [FiniteSample].into_iter(), 1).len(), 2);
    }
}
