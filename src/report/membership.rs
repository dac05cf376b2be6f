//! Presentation of the answers of `leakbound membership`.

mod comparison;
mod defenses;
mod figures;
mod text;

use super::document::Render;
use super::figure::Drawing;
use super::records::{Records, fields};
use super::section::{Columns, Form, Section, Table};
use crate::report::membership::comparison::{MembershipAnswerText, level_words, with_limits};
use crate::report::membership::figures::MembershipAnswerFigures;
use crate::study::{
    CanaryRow, LevelRow, MembershipAnswer, Number, SampleCurve, SampleRow, TprRow, percent, short, significant,
};
use easy_ext::ext;

/// Most vulnerable samples of each attack, in text and on a page.
const SHOWN_SAMPLES: usize = 3;
const SHOWN_SAMPLES_ON_PAGE: usize = 10;

/// Where "member" is guessed.
fn rule(above: Option<Number>) -> String {
    above.map_or_else(|| "always".into(), |above| format!("score > {}", significant(above.0, 4)))
}

/// Why some rates have no limits.
const SELECTED: &str = "Top and most vulnerable samples are selected by the same guesses: their rates are too high by the \
                        selection and have no limits. Those of single samples hold after any selection.";

#[ext]
impl MembershipAnswer {
    /// Which limits hold simultaneously.
    fn limits(&self) -> String {
        let classes = self.levels.iter().any(|row| row.level == "class");
        let together = match (self.shared, classes) {
            (false, false) => "",
            (true, false) => " for all attacks",
            (false, true) => " for the population and for all classes",
            (true, true) => " for the population and for all classes, of all attacks,",
        };
        let failure = short(self.failure_probability);
        format!("with limits{together} at failure probability {failure} as if guesses were independent (heuristic)")
    }

    /// Several attacks in few lines; a page has the rest below.
    fn comparison(&self, form: Form) -> Vec<Section> {
        let each = if self.shared { "all attacks and samples" } else { "all samples of an attack" };
        let failure = short(self.failure_probability);
        let compared = Section::new("Attacks compared")
            .heading(format!("Attacks compared, {}", self.limits()))
            .table(self.comparison_table())
            .notes(self.levels.iter().any(|row| row.chosen_on_data).then_some(SELECTED));
        if form == Form::Page {
            return vec![compared.notes([
                "In brackets Clopper-Pearson limits of the rule that was found. Exposed: samples whose TPR is above \
                 their FPR with simultaneous limits for all samples of an attack, and of all attacks unless each has \
                 the failure probability for itself. The best of several attacks is chosen after the fact; an \
                 adversary with only one attack achieves only what that attack shows.",
            ])];
        }
        let samples = Section::new(format!(
            "Most vulnerable sample of each attack, simultaneous limits for {each} if victims are independent, failure \
             probability {failure}"
        ));
        vec![compared, samples.table(self.samples_table(1))]
    }

    /// Attack by level, with TPR at each FPR in percent.
    fn levels_table(&self) -> Columns<&LevelRow> {
        let targets = self.levels.first().into_iter().flat_map(|row| &row.at).enumerate();
        Table::of(&self.levels)
            .words("attack", |row| &row.attack)
            .words("level", |row| level_words(row))
            .exact("guesses", |row| row.members + row.non_members)
            .number("AUC", 4, |row| row.auc)
            .number("balanced accuracy", 4, |row| row.balanced_accuracy)
            .each(targets, |table, (index, at)| {
                let name = format!("TPR at FPR {}", percent(at.target_fpr));
                table.exact(name, |row| row.at.get(index).map_or_else(String::new, with_limits))
            })
    }

    /// Bands of the population: of the rule, of the ROC, and over victims.
    fn bands_table(&self) -> Columns<(&LevelRow, &TprRow)> {
        let pair = |lower: Option<Number>, upper: Option<Number>| match lower.zip(upper) {
            Some((lower, upper)) => format!("[{}, {}]", percent(lower.0), percent(upper.0)),
            None => "none".into(),
        };
        let population = self.levels.iter().filter(|row| row.level == "population");
        Table::of(population.flat_map(|row| row.at.iter().map(move |at| (row, at))))
            .words("attack", |row| &row.0.attack)
            .percent("FPR", |row| row.1.target_fpr)
            .exact("member where", |row| rule(row.1.above))
            .percent("TPR", |row| row.1.tpr)
            .exact("of the rule", |row| pair(row.1.tpr_lower, row.1.tpr_upper))
            .percent("its FPR at most", |row| row.1.fpr_upper.map(|limit| limit.0))
            .exact("of the ROC at this FPR", |row| pair(row.1.curve_lower, row.1.curve_upper))
            .exact("over victims (heuristic)", |row| pair(row.1.bootstrap_lower, row.1.bootstrap_upper))
    }

    /// The most vulnerable samples of each attack.
    fn samples_table(&self, most: usize) -> Columns<(&SampleCurve, &SampleRow)> {
        Table::of(
            self.sample_level
                .iter()
                .flat_map(|curve| curve.samples.iter().take(most).map(move |sample| (curve, sample))),
        )
        .words("attack", |row| &row.0.attack)
        .exact("sample", |row| row.1.sample)
        .percent("TPR", |row| row.1.tpr)
        .percent("TPR at least", |row| row.1.tpr_lower.0)
        .percent("FPR at most", |row| row.1.fpr_upper.0)
        .number("AUC", 4, |row| row.1.auc)
    }

    /// Fitness of the samples.
    fn canaries_table(&self) -> Columns<&CanaryRow> {
        Table::of(&self.canaries)
            .words("attack", |row| &row.attack)
            .exact("samples", |row| row.samples)
            .exact("in or out always", |row| row.without_both)
            .percent("accuracy inside", |row| row.accuracy)
            .percent("outside", |row| row.accuracy_outside)
            .number("rms correlation", 3, |row| row.rms_correlation)
            .number("expected", 3, |row| row.rms_expected)
            .number("p-value", 3, |row| row.p_value)
    }
}

impl Render for MembershipAnswer {
    /// The attack, who was attacked, and on how much.
    fn title(&self, _: &str) -> String {
        let models = self.models;
        format!(
            "Membership inference, {}: {} of {} models as victims, {} samples, {} view{}",
            self.attack,
            models.victims,
            models.models,
            models.samples,
            models.views,
            if models.views == 1 { "" } else { "s" }
        )
    }

    fn sections(&self, form: Form) -> Vec<Section> {
        let mut sections = if self.is_comparison() { self.comparison(form) } else { Vec::new() };
        if self.is_comparison() && form == Form::Text {
            return sections;
        }
        let mut levels = Section::new("Attack by level")
            .heading(format!("Attack by level, {}", self.limits()))
            .table(self.levels_table())
            .notes(self.levels.iter().any(|row| row.chosen_on_data).then_some(SELECTED));
        let mut most = SHOWN_SAMPLES;
        if form == Form::Page {
            most = SHOWN_SAMPLES_ON_PAGE;
            levels = levels.notes(["In brackets Clopper-Pearson limits of the rule that was found."]);
        }
        let target = self.sample_level.first().map_or(0.0, |curve| curve.target_fpr);
        let samples = Section::new("Most vulnerable samples").heading(format!(
            "Most vulnerable samples at FPR {}, simultaneous limits for all samples if victims are independent",
            percent(target)
        ));
        sections.extend([
            levels,
            Section::new("Bands of the population").table(self.bands_table()),
            samples.table(self.samples_table(most)),
            Section::new("Samples as canaries").table(self.canaries_table()),
        ]);
        sections
    }

    fn figures(&self) -> Vec<Drawing> {
        self.drawings()
    }

    fn meaning(&self) -> Vec<String> {
        self.explanation()
    }

    fn records(&self) -> Records<'_> {
        Records::of(self.levels.iter().flat_map(|row| row.at.iter().map(move |at| (row, at))))
            .column("attack", |row| &row.0.attack)
            .columns(fields!(row.0 => level, label, samples, members, non_members, auc, balanced_accuracy))
            .columns(fields!(row.1 =>
                target_fpr, above, fpr, tpr, tpr_lower, tpr_upper, fpr_upper, curve_lower, curve_upper, bootstrap_lower,
                bootstrap_upper, failure_probability, validity
            ))
            .into()
    }
}

#[cfg(test)]
mod tests;
