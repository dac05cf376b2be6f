//! Presentation of the answer of `leakbound label-dp compare`.

use super::document::Render;
use super::figure::{Axis, Curves, Drawing, Row, RowSeries, Rows, Series, SeriesKind};
use super::meaning;
use super::records::{Records, fields};
use super::section::{Form, Section, Table};
use super::words::{decided, with_limits};
use crate::label_dp::LabelFamily;
use crate::order;
use crate::study::{
    BandedAccuracy, BandedGain, Decision, LabelComparisonAnswer, LabelFinding, LabelFindingRow, LabelMechanismRow,
    Number, percent, short, significant_above, significant_below,
};
use easy_ext::ext;

/// What was published, in few words.
const fn statement(finding: LabelFinding) -> &'static str {
    match finding {
        LabelFinding::AlibiBeforeStages => "ALIBI is more accurate than LP-2ST at the same ε",
        LabelFinding::StagesBeforeResponse => "LP-2ST is more accurate than randomized response at the same ε",
        LabelFinding::AlibiShowsMore => "ALIBI shows more of its labels than PATE-FM of the same accuracy",
        LabelFinding::UnlabeledImagesHelp => "unlabeled images help PATE-FM, by 5 percentage points",
    }
}

fn accuracy(accuracy: &BandedAccuracy) -> String {
    accuracy.band.map_or_else(|| percent(accuracy.mean), |band| with_limits(accuracy.mean, band))
}

/// In percentage points.
fn gain(gain: &BandedGain) -> String {
    let points = |share: f64| format!("{:+.1}", 100.0 * share);
    match gain.band {
        None => points(gain.mean),
        Some(band) => {
            let [lower, upper] = band.map(points);
            format!("{} [{lower}, {upper}]", points(gain.mean))
        }
    }
}

fn interval([lower, upper]: [Number; 2]) -> String {
    format!("{} to {}", significant_below(lower.0, 4), significant_above(upper.0, 4))
}

fn band(finding: LabelFinding, name: &str, ends: [Number; 2]) -> String {
    match finding {
        LabelFinding::AlibiShowsMore => format!("{name}: {}", interval(ends)),
        LabelFinding::UnlabeledImagesHelp if ends[0] == ends[1] => format!("{name}: {:+.1}", 100.0 * ends[0].0),
        LabelFinding::UnlabeledImagesHelp if ends[0].0.is_finite() => {
            format!("{name}: {:+.1} to {:+.1}", 100.0 * ends[0].0, 100.0 * ends[1].0)
        }
        _ if ends.iter().any(|end| end.0.is_infinite()) => format!("{name}: one model"),
        _ => format!("{name}: {} to {}", percent(ends[0].0), percent(ends[1].0)),
    }
}

#[ext]
impl LabelComparisonAnswer {
    /// Accuracy against both: rows by accuracy, with the ε that is claimed and what labels show.
    fn figure(&self) -> Drawing {
        let series = [
            ("ε claimed", SeriesKind::Reference),
            ("bound that holds", SeriesKind::Lower),
            ("published interval", SeriesKind::Heuristic),
        ];
        let row = |row: &LabelMechanismRow| {
            let finite = |value: f64| value.is_finite().then_some(value);
            let ends = row.published.map(|end| end.0);
            Row {
                label: row.name.clone(),
                values: vec![finite(row.epsilon.0), Some(row.epsilon_lower.0), finite(0.5 * (ends[0] + ends[1]))],
                bands: vec![None, None, ends[1].is_finite().then_some(ends)],
                note: percent(row.accuracy.mean),
            }
        };
        let mut rows: Vec<&LabelMechanismRow> = self.mechanisms.iter().collect();
        order::sort(&mut rows, |a, b| b.accuracy.mean.total_cmp(&a.accuracy.mean));
        let figure = Rows {
            title: "ε claimed and ε shown, by accuracy".into(),
            description: "A row for each recording, the most accurate first, with its accuracy at the end.".into(),
            x: Axis::linear("ε of label privacy"),
            series: series.map(|(name, kind)| RowSeries { name: name.into(), kind }).to_vec(),
            bar: None,
            rows: rows.into_iter().map(row).collect(),
            sorted_by: None,
        };
        figure.draw()
    }

    /// Accuracy against the ε that is claimed, a curve for each mechanism that was recorded at several; a finite ε only.
    fn accuracy_figure(&self) -> Option<Drawing> {
        let mut families: Vec<LabelFamily> = Vec::new();
        for row in &self.mechanisms {
            if !families.contains(&row.family) {
                families.push(row.family);
            }
        }
        let series = |family: LabelFamily| {
            let mut rows: Vec<&LabelMechanismRow> =
                self.mechanisms.iter().filter(|row| row.family == family && row.epsilon.0.is_finite()).collect();
            order::sort(&mut rows, |a, b| a.epsilon.0.total_cmp(&b.epsilon.0));
            let points: Vec<[f64; 2]> = rows.iter().map(|row| [row.epsilon.0, row.accuracy.mean]).collect();
            let band = rows.iter().filter_map(|row| row.accuracy.band.map(|[low, high]| [row.epsilon.0, low, high]));
            let several = points.first().is_some_and(|first| points.iter().any(|point| point[0] != first[0]));
            several.then(|| Series::new(family.name(), SeriesKind::Measured, points.clone()).with_band(band.collect()))
        };
        let series: Vec<Series> = families.into_iter().filter_map(series).collect();
        let figure = Curves {
            title: "Accuracy by the ε that is claimed".into(),
            description: "A curve for each mechanism that was recorded at several ε, with the band of its accuracies."
                .into(),
            x: Axis::log("ε of label privacy that is claimed"),
            y: Axis::linear("accuracy on test images"),
            series,
        };
        (!figure.series.is_empty()).then(|| figure.draw())
    }
}

impl Render for LabelComparisonAnswer {
    fn title(&self, _: &str) -> String {
        let count = |decision| self.findings.iter().filter(|row| row.decision == decision).count();
        format!(
            "{} recordings of label privacy; published findings: {} agree, {} differ, {} undecided",
            self.mechanisms.len(),
            count(Decision::Agrees),
            count(Decision::Differs),
            count(Decision::Undecided)
        )
    }

    fn sections(&self, _: Form) -> Vec<Section> {
        let table = Table::of(&self.mechanisms)
            .words("recording", |row| &row.name)
            .words("mechanism", |row| row.family.name())
            .exact("models", |row| row.accuracy.models)
            .exact("accuracy", |row| accuracy(&row.accuracy))
            .exact("its labels alone", |row| row.supervised.as_ref().map_or_else(String::new, accuracy))
            .exact("gain", |row| row.gain.as_ref().map_or_else(String::new, gain))
            .number("ε claimed", 4, |row| row.epsilon.0)
            .short("δ", |row| row.delta)
            .exact("canaries", |row| row.canaries)
            .at_least("ε at least", 4, |row| row.epsilon_lower.0)
            .exact("published interval", |row| interval(row.published));
        let mut sections = vec![Section::new("Accuracy, ε claimed and ε shown").heading("").table(table)];
        if !self.findings.is_empty() {
            let findings = Table::of(&self.findings)
                .words("published finding", |row: &&LabelFindingRow| statement(row.finding))
                .words("to be larger", |row| band(row.finding, &row.larger, row.larger_band))
                .words("than", |row| band(row.finding, &row.smaller, row.smaller_band))
                .words("bands", |row| decided(row.decision));
            sections.push(Section::new("Published findings, decided by the bands").table(findings));
        }
        sections
    }

    fn figures(&self) -> Vec<Drawing> {
        [Some(self.figure()), self.accuracy_figure()].into_iter().flatten().collect()
    }

    fn meaning(&self) -> Vec<String> {
        let failure = self.failure_probability;
        vec![
            format!(
                "All bounds \"ε at least\" hold together but with probability {} ({}). Each is about the threshold that a \
                 random half of its canaries chose.",
                short(failure),
                meaning::one_in(failure)
            ),
            "The published interval is a heuristic. The ε that is claimed is that of one model; about each canary it holds \
             for all models together, since each has canaries of its own."
                .into(),
            format!(
                "A band of accuracies is Student's t interval of the mean at failure probability {}, over models that \
                 differ in noise, canaries and initial weights and share the images. A finding AGREES where bands are \
                 apart in the published order, DIFFERS where they are apart in the other order. A gain is that of each \
                 student over the network with its labels alone, in percentage points, with the same kind of band. \
                 PATE-FM and ALIBI are compared where their mean accuracies differ by 2% at most.",
                short(failure)
            ),
        ]
    }

    fn records(&self) -> Records<'_> {
        Records::of(&self.mechanisms)
            .column("recording", |row| &row.name)
            .column("mechanism", |row| row.family.name())
            .column("models", |row| row.accuracy.models)
            .column("accuracy", |row| row.accuracy.mean)
            .column("accuracy_lower", |row| row.accuracy.band.map(|band| band[0]))
            .column("accuracy_upper", |row| row.accuracy.band.map(|band| band[1]))
            .column("supervised_accuracy", |row| row.supervised.map(|supervised| supervised.mean))
            .column("gain", |row| row.gain.map(|gain| gain.mean))
            .column("gain_lower", |row| row.gain.and_then(|gain| gain.band).map(|band| band[0]))
            .column("gain_upper", |row| row.gain.and_then(|gain| gain.band).map(|band| band[1]))
            .columns(fields!(row => epsilon, delta, canaries, epsilon_lower))
            .column("published_lower", |row| row.published[0])
            .column("published_upper", |row| row.published[1])
            .into()
    }
}
