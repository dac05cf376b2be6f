//! What the log-probabilities of tokens show about which texts a language model was trained on.

mod answer;
mod warnings;

pub use answer::{TextAttackRow, TextMembershipAnswer, TextRateRow, TextSizes, VulnerableSequenceRow};

use super::Study;
use super::bounds::usual_failure;
use super::membership::RocCurve;
use super::number::Number;
use super::progress::{Meter, Progress};
use crate::bound::Validity;
use crate::error::{Error, Result};
use crate::membership::{
    TextPart, TextRule, TextScore, TextSequences, auc_limits, document_scores, text_scores, tpr_at_fpr,
};
use crate::parallel;
use crate::quantity::{FailureProbability, Probability};
use crate::roc::Roc;

/// Which texts was a language model trained on, judged by the log-probabilities of their tokens?
///
/// Documents are counted, not sequences: a document's score is the mean over its sequences, and every limit holds for
/// independent documents, members drawn from one distribution and non-members from another, and for the recorded model.
/// Without recorded documents each sequence is taken for one, and the limits are labeled heuristic. With S scores and F
/// false-positive rates the failure probability is shared equally among S (1 + 3F) limits or pairs of limits, so that
/// all of them hold simultaneously, also those of the score that looks best. Each is a limit of something different: of
/// the area of the two distributions; for each rate of the TPR of the rule "score > above", of the FPR of this rule,
/// and of the ROC of the two distributions at the target. Balanced accuracy and advantage have none. Which scores are
/// available depends only on the arrays recorded, not on their values. A document without any value ranks lowest, by
/// convention.
///
/// ```
/// # use leakbound::membership::{MemoryText, Ragged};
/// # use leakbound::study::{Study, TextMembershipStudy, unwatched};
/// let tokens = (0..40).flat_map(|s| [-1.0 - f64::from(s % 7), if s % 2 == 0 { -1.0 } else { -9.0 }]).collect();
/// let text = MemoryText::new(Ragged::of_length(tokens, 2), (0..40).map(|s| s % 2 == 0).collect())?;
/// let answer = TextMembershipStudy::new(&text).run(&unwatched)?;
/// assert_eq!(answer.attacks.len(), 2); // Loss and Min-K%; nothing is recorded for the others.
/// assert!(answer.attacks[0].auc_lower > 0.5);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Those of [`TextScore`]; of the measures [`auc_limits`] and [`TprAtFpr`](crate::membership::TprAtFpr).
#[derive(Clone)]
pub struct TextMembershipStudy<'a> {
    /// The sequences, which are read piece by piece.
    pub sequences: &'a dyn TextSequences,
    /// The scores; if none is named, all that can be computed from the recording.
    pub scores: Vec<TextScore>,
    /// Constants of scores that look at only some of the tokens.
    pub rule: TextRule,
    /// Target FPRs.
    pub fprs: Vec<Probability>,
    /// Most vulnerable sequences of each score.
    pub top: usize,
    /// Failure probability of all limits together.
    pub failure_probability: FailureProbability,
}

impl<'a> TextMembershipStudy<'a> {
    /// All scores that the recording allows, at FPRs of 0.001 and 0.01, with a failure probability of 0.05.
    #[must_use]
    pub fn new(sequences: &'a dyn TextSequences) -> Self {
        Self {
            sequences,
            scores: Vec::new(),
            rule: TextRule::default(),
            fprs: [0.001, 0.01].map(|fpr| Probability::new(fpr).expect("a probability")).to_vec(),
            top: 10,
            failure_probability: usual_failure(),
        }
    }
}

impl Study for TextMembershipStudy<'_> {
    type Answer = TextMembershipAnswer;

    /// # Errors
    /// [`Error::Rejected`] for a named score that the recording does not allow, [`Error::Length`] without documents of
    /// a kind; errors in reading the sequences; [`Error::Interrupted`].
    fn run(&self, progress: &Progress<'_>) -> Result<TextMembershipAnswer> {
        let (scores, left_out) = self.chosen()?;
        let source = self.sequences;
        let sequences = source.members().len();
        let meter = Meter::new(progress, sequences as u64, "sequences");
        let values = text_scores(source, &scores, self.rule, &|done| meter.add(done as u64))?;
        let each = self.failure_probability.split(scores.len() * (1 + 3 * self.fprs.len()));
        let documents = source.documents();
        let members = documents.map_or_else(|| source.members().to_vec(), |all| all.members(source.members()));
        let sizes = TextSizes {
            sequences,
            tokens: source.tokens_before(sequences),
            members: members.iter().filter(|member| **member).count(),
            non_members: members.iter().filter(|member| !**member).count(),
        };
        let found = parallel::try_map(scores.iter().zip(&values), |(&score, values)| {
            let of_documents = document_scores(values, documents);
            let (mut row, roc) = self.attack(score, &of_documents, &members, each)?;
            row.undecided = values.iter().filter(|value| value.is_none()).count();
            row.undecided_documents = of_documents.iter().filter(|value| **value == f64::NEG_INFINITY).count();
            Ok((row, roc, of_documents))
        })?;
        let (mut attacks, mut all_roc, mut all_values) = (Vec::new(), Vec::new(), Vec::new());
        for (row, roc, of_documents) in found {
            all_roc.push(RocCurve::of(row.score.name(), &roc));
            attacks.push(row);
            all_values.push(of_documents);
        }
        let vulnerable = parallel::map(scores.iter().zip(&values), |(&score, values)| self.vulnerable(score, values));
        let mut answer = TextMembershipAnswer {
            sizes,
            documents_recorded: documents.is_some(),
            failure_probability: Number(self.failure_probability.get()),
            each_failure_probability: Number(each.get()),
            share: self.rule.share(),
            entropy_limit: Number(self.rule.entropy_limit()),
            attacks,
            roc: all_roc,
            vulnerable: vulnerable.concat(),
            values: all_values,
            members,
            warnings: Vec::new(),
        };
        answer.warnings = [left_out, warnings::recorded(source)?, warnings::of(&answer)].concat();
        Ok(answer)
    }
}

impl TextMembershipStudy<'_> {
    /// The scores that are measured, and warnings of those that are left out.
    fn chosen(&self) -> Result<(Vec<TextScore>, Vec<super::Warning>)> {
        let lacks = |score: TextScore| -> Option<TextPart> {
            score.needs().iter().copied().find(|&part| !self.sequences.has(part))
        };
        if self.scores.is_empty() {
            let (fed, others): (Vec<_>, Vec<_>) = TextScore::ALL.into_iter().partition(|score| lacks(*score).is_none());
            let left_out = others.into_iter().filter_map(|score| Some(warnings::left_out(score, lacks(score)?)));
            return Ok((fed, left_out.collect()));
        }
        let mut scores: Vec<TextScore> = Vec::new();
        for &score in &self.scores {
            if let Some(part) = lacks(score) {
                let reason = format!("{score} needs {}, which is not recorded", warnings::recorded_as(part));
                return Err(Error::Rejected { operation: "score of texts", reason });
            }
            if !scores.contains(&score) {
                scores.push(score);
            }
        }
        Ok((scores, Vec::new()))
    }

    /// One score of documents.
    fn attack(
        &self,
        score: TextScore,
        values: &[f64],
        members: &[bool],
        each: FailureProbability,
    ) -> Result<(TextAttackRow, Roc)> {
        let [mut inside, mut outside] = [Vec::new(), Vec::new()];
        for (&value, &member) in values.iter().zip(members) {
            if member { inside.push(value) } else { outside.push(value) }
        }
        let roc = Roc::new(&inside, &outside)?;
        let area = auc_limits(&roc, each);
        let validity = |validity| if self.sequences.documents().is_some() { validity } else { Validity::Heuristic };
        let mut row = TextAttackRow::new(score, &roc, &area, validity(area.validity));
        for &target in &self.fprs {
            let at = tpr_at_fpr(&roc, target, each)?;
            row.at.push(TextRateRow::new(&at, validity(at.tpr.validity)));
        }
        Ok((row, roc))
    }

    /// The member sequences with the highest values, the first of equal ones first.
    fn vulnerable(&self, score: TextScore, values: &[Option<f64>]) -> Vec<VulnerableSequenceRow> {
        let members = self.sequences.members();
        let of = |wanted: bool| {
            let known = values.iter().zip(members).enumerate().filter(move |(_, (_, member))| **member == wanted);
            known.filter_map(|(sequence, (value, _))| Some((sequence, (*value)?)))
        };
        let higher = |a: &(usize, f64), b: &(usize, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        let mut highest: Vec<(usize, f64)> = of(true).collect();
        if self.top < highest.len() {
            highest.select_nth_unstable_by(self.top, higher);
            highest.truncate(self.top);
        }
        highest.sort_unstable_by(higher);
        let mut others: Vec<f64> = of(false).map(|(_, value)| value).collect();
        others.sort_unstable_by(f64::total_cmp);
        let all = members.iter().filter(|member| !**member).count() as f64;
        let row = |(sequence, value): (usize, f64)| VulnerableSequenceRow {
            score,
            sequence,
            document: self.sequences.documents().map(|all| all.name(all.of(sequence)).to_owned()),
            value: Number(value),
            non_members_above: (others.len() - others.partition_point(|other| *other < value)) as f64 / all,
        };
        highest.into_iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::membership::{Documents, MemoryText, Ragged};
    use crate::special::{ndtr, ndtri};
    use crate::study::unwatched;
    use rand::{RngExt, SeedableRng};
    use rand_distr::StandardNormal;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn study<'a>(text: &'a MemoryText, fpr: f64, failure: f64) -> TextMembershipStudy<'a> {
        TextMembershipStudy {
            sequences: text,
            scores: vec![TextScore::Loss],
            rule: TextRule::default(),
            fprs: vec![Probability::new(fpr).unwrap()],
            top: 2,
            failure_probability: FailureProbability::new(failure).unwrap(),
        }
    }

    /// How much members are shifted, and the deviation of a sequence from its document.
    const SHIFT: f64 = 0.7;
    const NOISE: f64 = 0.5;

    /// 60 documents of each kind with this many sequences of one token: ln p = -20 + a normal number of the document +
    /// noise of the sequence, members shifted up. Low enough that none is positive.
    fn drawn(generator: &mut Xoshiro256PlusPlus, sequences: usize, named: bool) -> MemoryText {
        let (mut tokens, mut members, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for document in 0..120 {
            let own: f64 = generator.sample(StandardNormal);
            for _ in 0..sequences {
                let noise: f64 = generator.sample(StandardNormal);
                let member = document % 2 == 0;
                tokens.push(-20.0 + own + NOISE * noise + if member { SHIFT } else { 0.0 });
                members.push(member);
                names.push(document.to_string());
            }
        }
        let text = MemoryText::new(Ragged::of_length(tokens, 1), members).unwrap();
        if named { text.in_documents(Documents::new(names).unwrap()).unwrap() } else { text }
    }

    /// Whether any statement of an answer is wrong if scores are normal with this deviation.
    fn wrong(answer: &TextMembershipAnswer, deviation: f64) -> bool {
        let (row, at) = (&answer.attacks[0], &answer.attacks[0].at[0]);
        let outside = |lower: f64, upper: f64, value: f64| value < lower - 1e-12 || value > upper + 1e-12;
        let area = ndtr(SHIFT / (deviation * 2f64.sqrt()));
        let curve = ndtr(ndtri(at.target_fpr) + SHIFT / deviation);
        outside(row.auc_lower, row.auc_upper, area) || outside(at.curve_lower.0, at.curve_upper.0, curve)
    }

    /// Three standard errors above 20% are 26%. Limits that count the 16 sequences of a document as independent are
    /// wrong far more often: those of the area alone in 37%.
    #[test]
    fn limits_of_documents_hold_and_those_of_their_sequences_do_not() {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(5);
        let (mut of_documents, mut of_sequences) = (0, 0);
        for _ in 0..400 {
            let answer = study(&drawn(&mut generator, 16, true), 0.1, 0.2).run(&unwatched).unwrap();
            of_documents += usize::from(wrong(&answer, (1.0 + NOISE * NOISE / 16.0).sqrt()));
            let answer = study(&drawn(&mut generator, 16, false), 0.1, 0.2).run(&unwatched).unwrap();
            of_sequences += usize::from(wrong(&answer, (1.0 + NOISE * NOISE).sqrt()));
        }
        println!("wrong in {of_documents} and {of_sequences} of 400");
        assert!(of_documents <= 104 && of_sequences > 120, "{of_documents} {of_sequences}");
    }

    #[test]
    fn the_share_of_each_limit_counts_scores_and_rates() {
        let text = drawn(&mut Xoshiro256PlusPlus::seed_from_u64(6), 4, true);
        let mut asked = study(&text, 0.1, 0.05);
        asked.scores = vec![TextScore::MinK, TextScore::Loss, TextScore::MinK];
        asked.fprs.push(Probability::new(0.01).unwrap());
        let answer = asked.run(&unwatched).unwrap();
        assert_eq!(answer.each_failure_probability.0, 0.05 / (2.0 * 7.0));
        assert_eq!(answer.attacks.iter().map(|row| row.score).collect::<Vec<_>>(), [TextScore::MinK, TextScore::Loss]);
        // One token is its own lowest fifth.
        assert_eq!(answer.attacks[0].auc, answer.attacks[1].auc);
        assert_eq!((answer.sizes.members, answer.sizes.tokens, answer.vulnerable.len()), (60, 480, 4));
        assert_eq!(answer.attacks[0].auc_validity, Validity::FiniteSample);
        assert_eq!(answer.attacks[0].at[0].validity, Validity::FiniteSample);
        let codes: Vec<_> = answer.warnings.iter().map(|warning| warning.code).collect();
        assert_eq!(codes, ["few-non-members"]);
        asked.scores = vec![TextScore::Surprise];
        assert!(asked.run(&unwatched).unwrap_err().to_string().contains("needs `entropy` or `log_probability_mean`"));
    }

    #[test]
    fn the_most_vulnerable_are_members_with_the_highest_scores() {
        let tokens = Ragged::of_length(vec![-3.0, -1.0, -2.0, -0.5, -1.0, -9.0], 1);
        let text = MemoryText::new(tokens, vec![true, true, false, false, true, false]).unwrap();
        let answer = study(&text, 0.1, 0.05).run(&unwatched).unwrap();
        let rows: Vec<_> = answer.vulnerable.iter().map(|row| (row.sequence, row.value.0)).collect();
        assert_eq!(rows, [(1, -1.0), (4, -1.0)]);
        assert_eq!((answer.vulnerable[0].non_members_above, &answer.vulnerable[0].document), (1.0 / 3.0, &None));
        assert_eq!(answer.attacks[0].at[0].validity, Validity::Heuristic);
        assert!(answer.warnings.iter().any(|warning| warning.code == "documents-unknown"));
        // One member shows hardly anything; without members there is no attack.
        let of = |member| MemoryText::new(Ragged::of_length(vec![-3.0, -1.0, -2.0], 1), vec![member, false, false]);
        let few = study(&of(true).unwrap(), 0.1, 0.05).run(&unwatched).unwrap();
        assert!(few.attacks[0].auc_lower == 0.0 && few.attacks[0].auc_upper > 0.99);
        assert!(study(&of(false).unwrap(), 0.1, 0.05).run(&unwatched).is_err());
    }
}
