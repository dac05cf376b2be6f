//! Presentation of the answer of `leakbound membership defenses`.

use super::figures::{chance, roc_series};
use crate::report::document::Render;
use crate::report::figure::{Axis, Curves, Drawing, Row, RowSeries, Rows, SeriesKind};
use crate::report::meaning;
use crate::report::records::{Records, fields};
use crate::report::section::{Columns, Form, Section, Table};
use crate::report::words::{decided, with_limits};
use crate::study::{
    AttackRole, BandedRate, ComparedRate, Decision, DefenseEvaluation, DefenseRow, DefensesAnswer, Finding, FindingRow,
    RateSource, RocCurve, percent, short,
};
use easy_ext::ext;

/// What was published, in few words.
const fn statement(finding: Finding) -> &'static str {
    match finding {
        Finding::TestTimeDefenseMasks => "LiRA finds more without the test-time defense",
        Finding::LabelsShowWhatIsMasked => "label-only finds more than LiRA",
        Finding::DuplicatesLeakMore => "mislabeled samples leak more with duplicates",
        Finding::NeighborsShowWhatIsLeftOut => "Split-AI shows at a neighbor what it hides at the sample",
        Finding::EncoderLeaksMore => "LiRA finds more on the encoder than on logits",
        Finding::OutOfDistributionLeaksMore => "out-of-distribution samples leak more than original ones",
        Finding::DistilledCanariesLeak => "canaries are found more often than by guessing",
        Finding::DpSgdLeaksLess => "canaries leak more than those of DP-SGD at the same utility",
    }
}

const fn role(role: AttackRole) -> &'static str {
    match role {
        AttackRole::Lira => "lira",
        AttackRole::Adaptive => "adaptive",
        AttackRole::TrainingTime => "training-time",
        AttackRole::SplitAi => "split-ai",
        AttackRole::SplitAiNeighbor => "split-ai-neighbor",
    }
}

/// The attack for a reader.
fn attack(name: &str, role: AttackRole) -> String {
    format!("{name}{}", role.part())
}

/// A rate with its band, in percent.
fn banded(rate: &BandedRate) -> String {
    with_limits(rate.tpr, [rate.lower.0, rate.upper.0])
}

fn compared(side: &ComparedRate) -> String {
    match &side.source {
        RateSource::Guessing => format!("guessing, {}", percent(side.rate.tpr)),
        RateSource::Evaluation { defense, canaries, role, attack: name } => {
            format!("{defense}, {}, {canaries}: {}", attack(name, *role), banded(&side.rate))
        }
    }
}

#[ext]
impl DefensesAnswer {
    /// Table 1.
    fn defenses_table(&self) -> Columns<&DefenseRow> {
        let fprs = self.evaluations.first().into_iter().flat_map(|row| &row.at).map(|rate| rate.fpr).enumerate();
        let at = |rates: &[BandedRate], place: usize| rates.get(place).map_or_else(|| "none".into(), banded);
        Table::of(&self.defenses)
            .words("defense", |row| &row.defense)
            .exact("test accuracy", |row| {
                let words = |spread: crate::study::AccuracySpread| {
                    format!("{} ± {}", percent(spread.mean), percent(spread.deviation))
                };
                row.test_accuracy.map_or_else(|| "none".into(), words)
            })
            .words("adapted attack", |row| row.attack.name())
            .words("canaries", |row| row.canaries.map_or("none", |kind| kind.name()))
            .each(fprs, move |table, (place, fpr)| {
                let name = |what: &str| format!("{what}, FPR {}", percent(fpr));
                table
                    .exact(name("LiRA on originals"), move |row| at(&row.original, place))
                    .exact(name("adapted on originals"), move |row| at(&row.adaptive, place))
                    .exact(name("adapted on canaries"), move |row| at(&row.ours, place))
            })
    }

    fn findings_table(&self) -> Columns<&FindingRow> {
        Table::of(&self.findings)
            .words("defense", |row| &row.defense)
            .words("published finding", |row| statement(row.finding))
            .percent("FPR", |row| row.fpr)
            .words("TPR that is to be larger", |row| compared(&row.larger))
            .words("than", |row| compared(&row.smaller))
            .words("bands", |row| {
                let apart = row.accuracies.filter(|_| row.is_at_other_utility());
                let accuracies = apart.map(|accuracies| accuracies.map(percent));
                let accuracies = accuracies.map(|[larger, smaller]| format!(" (accuracy {larger} and {smaller})"));
                format!("{}{}", decided(row.decision), accuracies.unwrap_or_default())
            })
    }

    fn evaluations_table(&self) -> Columns<(&DefenseEvaluation, &BandedRate)> {
        Table::of(self.evaluations.iter().flat_map(|row| row.at.iter().map(move |rate| (row, rate))))
            .words("defense", |row| &row.0.defense)
            .words("samples", |row| row.0.canaries)
            .words("attack", |row| attack(&row.0.attack, row.0.role))
            .exact("models", |row| row.0.victims)
            .exact("samples attacked", |row| row.0.samples)
            .exact("views", |row| row.0.views)
            .number("AUC", 4, |row| row.0.auc)
            .percent("FPR", |row| row.1.fpr)
            .exact("TPR", |row| banded(row.1))
    }

    /// Figure 5: the published evaluation of a defense, and the exposure of its most vulnerable samples.
    fn rates_figure(&self) -> Option<Drawing> {
        let fpr = self.evaluations.first()?.at.first()?.fpr;
        let series =
            [("LiRA on original samples", SeriesKind::Reference), ("adapted attack on canaries", SeriesKind::Measured)];
        let row = |row: &DefenseRow| {
            let rates = [row.original.first(), row.ours.first()];
            Row {
                label: row.defense.clone(),
                values: rates.iter().map(|rate| rate.map(|rate| rate.tpr)).collect(),
                bands: rates.iter().map(|rate| rate.map(|rate| [rate.lower.0, rate.upper.0])).collect(),
                note: row.canaries.map_or_else(String::new, |kind| kind.name().to_owned()),
            }
        };
        let figure = Rows {
            title: format!("TPR at FPR {} on original samples and on canaries", percent(fpr)),
            description: "A row for each defense, with the canaries at its end. Lines behind the marks: bands over \
                          resampled victims (heuristic)."
                .into(),
            x: Axis::log("true-positive rate"),
            series: series.map(|(name, kind)| RowSeries { name: name.into(), kind }).to_vec(),
            bar: None,
            rows: self.defenses.iter().map(row).collect(),
            sorted_by: None,
        };
        Some(figure.draw())
    }

    /// The ROCs of one defense.
    fn roc_figure(&self, defense: &DefenseRow) -> Option<Drawing> {
        let curves = self.roc.iter().filter(|roc| roc.defense == defense.defense);
        let curves: Vec<RocCurve> = curves
            .map(|roc| {
                // What is cut off of a long name is its end.
                let name = format!("{}, {}", roc.canaries, attack(&roc.curve.attack, roc.role));
                RocCurve { attack: name, ..roc.curve.clone() }
            })
            .collect();
        let mut series: Vec<_> = curves.iter().map(|curve| roc_series(curve, false)).collect();
        series.push(chance(curves.iter()));
        let figure = Curves {
            title: format!("ROC of {} on logarithmic axes", defense.defense),
            description: "True-positive rate against false-positive rate over all guesses about all samples of a kind."
                .into(),
            x: Axis::log("false-positive rate"),
            y: Axis::log("true-positive rate"),
            series,
        };
        (!curves.is_empty()).then(|| figure.draw())
    }
}

impl Render for DefensesAnswer {
    fn title(&self, _: &str) -> String {
        let count = |decision| self.findings.iter().filter(|row| row.decision == decision).count();
        let plural = if self.defenses.len() == 1 { "" } else { "s" };
        format!(
            "{} defense{plural} against membership inference; published findings: {} agree, {} differ, {} undecided",
            self.defenses.len(),
            count(Decision::Agrees),
            count(Decision::Differs),
            count(Decision::Undecided)
        )
    }

    fn sections(&self, form: Form) -> Vec<Section> {
        let heading = format!(
            "TPR with bands over victims at failure probability {} for all attacks together (heuristic)",
            short(self.failure_probability)
        );
        let mut sections = vec![
            Section::new("Defenses").heading(heading).table(self.defenses_table()),
            Section::new("Published findings, decided by the bands").table(self.findings_table()),
        ];
        if form == Form::Page {
            sections.push(Section::new("All attacks").table(self.evaluations_table()));
        }
        sections
    }

    fn figures(&self) -> Vec<Drawing> {
        let rocs = self.defenses.iter().filter_map(|defense| self.roc_figure(defense));
        self.rates_figure().into_iter().chain(rocs).collect()
    }

    fn meaning(&self) -> Vec<String> {
        let failure = self.failure_probability;
        vec![
            "LiRA on original samples is how defenses are published: the share of average samples found by an attack \
             that does not know the defense. The adapted attack on canaries represents what the most vulnerable \
             samples are exposed to. It is a lower bound of that: a better attack or better canaries may find more."
                .into(),
            format!(
                "A band is where the TPR lies when whole victims are resampled, widened to the Clopper-Pearson limits of the \
                 same rule. At each FPR all bands are meant to hold together, except with probability {} ({}): so they \
                 hold for the defense and the attack that look best. They have no finite-sample guarantee, since guesses \
                 about one victim share its training.",
                short(failure),
                meaning::one_in(failure)
            ),
            "A finding AGREES where the two bands are apart in the published order, DIFFERS where they are apart in the \
             other order, and is UNDECIDED where they overlap. The canaries of DP-SGD that leak most are selected by the \
             same guesses: their band is that of the largest rate, from the largest lower end to the largest upper one. \
             Findings that the recordings cannot speak of are left out."
                .into(),
            "Test accuracy is the mean over the models with its standard deviation. Defenses of different accuracy \
             cannot be compared directly: one that answers worse leaks less for that reason alone. Whether DP-SGD \
             leaks less is decided only where it is less accurate by at most 2%."
                .into(),
        ]
    }

    fn records(&self) -> Records<'_> {
        let rows = self.evaluations.iter().flat_map(|row| row.at.iter().map(move |rate| (row, rate)));
        Records::of(rows)
            .column("defense", |row| &row.0.defense)
            .column("family", |row| row.0.family.name())
            .column("canaries", |row| row.0.canaries.name())
            .column("role", |row| role(row.0.role))
            .column("attack", |row| &row.0.attack)
            .columns(fields!(row.0 => victims, samples, views, auc))
            .column("auc_lower", |row| row.0.auc_bootstrap[0])
            .column("auc_upper", |row| row.0.auc_bootstrap[1])
            .columns(fields!(row.1 => fpr, tpr))
            .column("tpr_lower", |row| row.1.lower)
            .column("tpr_upper", |row| row.1.upper)
            .into()
    }
}
