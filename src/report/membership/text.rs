//! Presentation of the answer of `leakbound membership text`.

use super::figures::{chance, roc_series};
use super::rule;
use crate::report::document::Render;
use crate::report::figure::{Axis, Curves, Drawing};
use crate::report::meaning::one_in;
use crate::report::records::{Records, fields};
use crate::report::section::{Columns, Form, Section, Table};
use crate::report::words::with_limits;
use crate::study::{
    TextAttackRow, TextMembershipAnswer, TextRateRow, VulnerableSequenceRow, percent, short, significant,
};
use easy_ext::ext;

/// Most vulnerable sequences of each score in text; a page has all of them.
const SHOWN: usize = 3;

#[ext]
impl TextMembershipAnswer {
    /// What is counted.
    fn unit(&self) -> &'static str {
        if self.documents_recorded { "documents" } else { "sequences" }
    }

    /// What the limits depend on.
    fn condition(&self) -> &'static str {
        match self.documents_recorded {
            true => "for independent documents",
            false => "as if sequences were independent (heuristic)",
        }
    }

    /// A row for each score, with TPR at each FPR in percent.
    fn scores_table(&self) -> Columns<&TextAttackRow> {
        let targets = self.attacks.first().into_iter().flat_map(|row| &row.at).enumerate();
        Table::of(&self.attacks)
            .words("score", |row| row.score)
            .number("AUC", 4, |row| row.auc)
            .at_least("from", 4, |row| row.auc_lower)
            .at_most("to", 4, |row| row.auc_upper)
            .number("balanced accuracy", 4, |row| row.balanced_accuracy)
            .number("advantage", 4, |row| row.advantage)
            .each(targets, |table, (index, at)| {
                let name = format!("TPR at FPR {}", percent(at.target_fpr));
                // The limits are those of the rule that was found.
                let cell = |at: &TextRateRow| with_limits(at.tpr, [at.tpr_lower.0, at.tpr_upper.0]);
                table.exact(name, |row| row.at.get(index).map_or_else(String::new, cell))
            })
    }

    /// Limits of the rule and of the ROC.
    fn rates_table(&self) -> Columns<(&TextAttackRow, &TextRateRow)> {
        let pair = |lower: f64, upper: f64| format!("[{}, {}]", percent(lower), percent(upper));
        Table::of(self.attacks.iter().flat_map(|row| row.at.iter().map(move |at| (row, at))))
            .words("score", |row| row.0.score)
            .percent("FPR", |row| row.1.target_fpr)
            .exact("member where", |row| rule(row.1.above))
            .percent("TPR", |row| row.1.tpr)
            .exact("of the rule", |row| pair(row.1.tpr_lower.0, row.1.tpr_upper.0))
            .percent("its FPR at most", |row| row.1.fpr_upper.0)
            .exact("of the ROC at this FPR", |row| pair(row.1.curve_lower.0, row.1.curve_upper.0))
    }

    /// The members with the highest values, at most this many of each score.
    fn vulnerable_table(&self, most: usize) -> Columns<&VulnerableSequenceRow> {
        let of = |attack: &TextAttackRow| {
            let score = attack.score;
            self.vulnerable.iter().filter(move |row| row.score == score).take(most)
        };
        Table::of(self.attacks.iter().flat_map(of))
            .words("score", |row| row.score)
            .exact("sequence", |row| row.sequence)
            .when(self.documents_recorded, |table| {
                table.words("document", |row| row.document.clone().unwrap_or_default())
            })
            .number("value", 4, |row| row.value.0)
            .percent("non-members as high", |row| row.non_members_above)
    }
}

impl Render for TextMembershipAnswer {
    fn title(&self, title: &str) -> String {
        let sizes = self.sizes;
        let of = match self.documents_recorded {
            true => format!("of {} documents, which all limits count", sizes.members + sizes.non_members),
            false => "of unknown documents, each counted as independent of all others".into(),
        };
        format!(
            "{title}\n{} sequences with {} tokens {of}: {} members, {} others",
            sizes.sequences, sizes.tokens, sizes.members, sizes.non_members
        )
    }

    fn sections(&self, form: Form) -> Vec<Section> {
        let heading = format!(
            "Scores of {}; all limits of all scores hold simultaneously {}, except with probability {}",
            self.unit(),
            self.condition(),
            significant(self.failure_probability.0, 3)
        );
        let mut scores = Section::new("Scores").heading(heading).table(self.scores_table());
        let vulnerable = Section::new("Most vulnerable sequences").heading(
            "Member sequences with the highest scores, and the share of non-member sequences that score as high",
        );
        if form == Form::Text {
            return vec![scores, vulnerable.table(self.vulnerable_table(SHOWN))];
        }
        scores = scores.notes([
            "In brackets Clopper-Pearson limits of the TPR of the rule that was found. Limits of the AUC are those of \
             Hoeffding's bound and Chernoff's for means of pairs. The best threshold, behind balanced accuracy and \
             advantage, is chosen on the same scores: these two are optimistic and have no limits.",
        ]);
        let vulnerable = vulnerable.table(self.vulnerable_table(usize::MAX)).notes([
            "Chosen by the same scores, of all members: the first of many is high by luck alone. The list shows where \
             to look, and bounds nothing.",
        ]);
        vec![scores, Section::new("Rates with their limits").table(self.rates_table()), vulnerable]
    }

    fn figures(&self) -> Vec<Drawing> {
        let series = self.roc.iter().map(|curve| roc_series(curve, false));
        let figure = Curves {
            title: "ROC of each score on logarithmic axes".into(),
            description: format!("True-positive rate against false-positive rate of {}.", self.unit()),
            x: Axis::log("false-positive rate"),
            y: Axis::log("true-positive rate"),
            series: series.chain([chance(self.roc.iter())]).collect(),
        };
        vec![figure.draw()]
    }

    fn meaning(&self) -> Vec<String> {
        let (all, each) = (self.failure_probability.0, self.each_failure_probability.0);
        vec![
            format!(
                "For every score a high value means member. The value of a document is the mean over its sequences, \
                 since sequences of one document are not independent. All limits of all scores hold simultaneously {}, \
                 for the given model, except with probability {} ({}): each has a failure probability of {}. So they \
                 also hold for the score that looks best, each as a limit of its own quantity: the area of the two \
                 distributions, TPR and FPR of the rule that is named, or the ROC.",
                self.condition(),
                short(all),
                one_in(all),
                significant(each, 3)
            ),
            "TPR is the share of members that a rule finds, FPR the share of non-members that it accuses. The rule \
             guesses member where score > above; `above` is the score of a non-member, the lowest with which no larger \
             share of the given non-members is accused than the target. The limits of TPR and FPR are those of this \
             rule on other documents; its FPR may be above the target. The limits of the ROC are of the TPR that the \
             best threshold with this true FPR would have. A document without a value of a score ranks lowest, by \
             convention."
                .into(),
            "Members must be drawn from the training data and others from data like them that the model never saw. Where the \
             two differ in date, source or length, scores tell them apart without any memory of the model, and an AUC above \
             0.5 shows that difference: the same scores of a model that saw neither are the test."
                .into(),
            "What this does not show: a score that fails is not a proof of privacy. These scores use one model; \
             attacks with models trained with and without a text are stronger."
                .into(),
        ]
    }

    fn records(&self) -> Records<'_> {
        Records::of(self.attacks.iter().flat_map(|row| row.at.iter().map(move |at| (row, at))))
            .column("score", |row| row.0.score.name())
            .column("members", |_| self.sizes.members)
            .column("non_members", |_| self.sizes.non_members)
            .columns(fields!(row.0 => auc, auc_lower, auc_upper, auc_validity, balanced_accuracy, advantage))
            .columns(fields!(row.1 =>
                target_fpr, above, fpr, tpr, tpr_lower, tpr_upper, fpr_upper, curve_lower, curve_upper
            ))
            .column("failure_probability", |_| self.each_failure_probability)
            .column("validity", |row| row.1.validity)
            .into()
    }
}
