//! Presentation of the answer of `leakbound membership students`.

use super::document::Render;
use super::figure::{Axis, Curves, Drawing, Series, SeriesKind};
use super::records::Records;
use super::section::{Form, Section, Table};
use crate::study::{
    AttackedStudentRow, BudgetMembershipRow, Decision, Number, StudentFinding, StudentMembershipAnswer, percent, short,
    significant,
};
use easy_ext::ext;

fn name(budget: Option<Number>) -> String {
    budget.map_or_else(|| "none".into(), |budget| short(budget.0))
}

const fn words(finding: StudentFinding) -> &'static str {
    match finding {
        StudentFinding::NearGuessing => "the AUC is within 0.05 of 0.5 for all budgets",
        StudentFinding::NoRise => "the AUC does not rise by 0.05 with the budget",
    }
}

const fn decided(decision: Decision) -> &'static str {
    match decision {
        Decision::Agrees => "AGREES",
        Decision::Differs => "DIFFERS",
        Decision::Undecided => "undecided",
    }
}

impl Render for StudentMembershipAnswer {
    fn title(&self, title: &str) -> String {
        format!(
            "{title}\n{} private images and {} others; AUC limits hold together for independent images, except with \
             probability {}",
            self.members,
            self.non_members,
            significant(self.failure_probability.0, 3)
        )
    }

    fn sections(&self, form: Form) -> Vec<Section> {
        let tpr = format!("TPR at FPR {}", percent(self.fpr));
        let budgets = Table::of(&self.budgets)
            .exact("budget", |row| name(row.budget))
            .exact("students", |row| row.students)
            .number("AUC", 4, |row| row.auc)
            .at_least("from", 4, |row| row.lower)
            .at_most("to", 4, |row| row.upper)
            .number("smallest", 4, |row| row.smallest)
            .number("largest", 4, |row| row.largest)
            .number("trained attacker", 4, |row| row.attacker)
            .percent(tpr, |row| row.tpr)
            .percent("risk near ½", |row| row.risk_near_half)
            .number("largest risk", 3, |row| row.risk_largest);
        let findings = Table::of(&self.findings)
            .words("", |row| decided(row.decision))
            .words("published finding", |row| words(row.finding));
        let mut sections = vec![
            Section::new("Threshold on the loss, means over students").table(budgets),
            Section::new("Findings").table(findings),
        ];
        if form == Form::Page {
            sections.push(Section::new("AUC by class").table(self.classes_table()));
        }
        sections
    }

    fn figures(&self) -> Vec<Drawing> {
        self.auc().into_iter().chain([self.risk()]).collect()
    }

    fn meaning(&self) -> Vec<String> {
        vec![
            "An AUC of 0.5 is that of a guess. It shows how well private images are distinguished from others on \
             average, not how well the most exposed one is."
                .into(),
            "Limits are of the AUC of the distributions that private images and others come from, for the given models \
             and every number of images (Hoeffding 1963). They take the images for independent draws, given a model; \
             nothing is assumed about how students depend on each other: a mean over students has the means of their \
             limits."
                .into(),
            "TPR is that of the rule \"score > above\", where `above` is the score of an image that is not private: the \
             lowest with which no larger share of such images is accused than the false-positive rate."
                .into(),
            "The risk score is the probability of membership after the answer was seen, with even odds before; it is \
             estimated on three quarters of the images and read on the fourth."
                .into(),
        ]
    }

    fn records(&self) -> Records<'_> {
        Records::of(&self.students)
            .column("budget", |row| row.budget)
            .column("auc", |row| Number(row.threshold.auc))
            .column("auc_lower", |row| Number(row.threshold.lower))
            .column("auc_upper", |row| Number(row.threshold.upper))
            .column("above", |row| row.above)
            .column("tpr", |row| Number(row.tpr))
            .column("tpr_lower", |row| Number(row.tpr_lower))
            .column("tpr_upper", |row| Number(row.tpr_upper))
            .column("attacker_auc", |row| Number(row.attacker.auc))
            .column("attacker_lower", |row| Number(row.attacker.lower))
            .column("attacker_upper", |row| Number(row.attacker.upper))
            .column("risk_near_half", |row| Number(row.risk_near_half))
            .column("risk_largest", |row| Number(row.risk_largest))
            .into()
    }
}

#[ext]
impl StudentMembershipAnswer {
    fn classes_table(&self) -> Table {
        let classes = self.students.first().map_or(0, |student| student.classes.len());
        Table::of(&self.students)
            .exact("budget", |row| name(row.budget))
            .each(0..classes, |table, class| {
                table.number(format!("class {class}"), 3, move |row| row.classes.get(class).and_then(|row| row.auc))
            })
            .into()
    }

    /// AUC against finite budgets: Figures 6.3 to 6.5 of the thesis.
    fn auc(&self) -> Option<Drawing> {
        let budgets = self.budgets.iter().filter_map(|row| Some((row.budget?.0, row)));
        let private: Vec<(f64, &BudgetMembershipRow)> = budgets.filter(|(budget, _)| budget.is_finite()).collect();
        let (first, last) = (private.first()?.0, private.last()?.0);
        let points = |value: fn(&BudgetMembershipRow) -> f64| private.iter().map(|(x, row)| [*x, value(row)]).collect();
        let band = private.iter().map(|(x, row)| [*x, row.lower, row.upper]).collect();
        let mut series = vec![
            Series::new("threshold on the loss", SeriesKind::Measured, points(|row| row.auc)).with_band(band),
            Series::new("trained attacker", SeriesKind::Heuristic, points(|row| row.attacker)),
            Series::new("guess", SeriesKind::Reference, vec![[first, 0.5], [last, 0.5]]),
        ];
        let without = self.budgets.iter().find(|row| row.budget.is_none());
        series.extend(
            without.map(|row| {
                Series::new("without privacy", SeriesKind::Reference, vec![[first, row.auc], [last, row.auc]])
            }),
        );
        let figure = Curves {
            title: "Membership of private images".into(),
            description:
                "The area under the ROC of both attacks at each budget, with its limits for independent images.".into(),
            x: Axis::linear("privacy budget ε"),
            y: Axis::linear("AUC"),
            series,
        };
        (private.len() > 1).then(|| figure.draw())
    }

    /// Risk scores of private images: Figure 6.6 of the thesis. Of several students with one budget the first.
    fn risk(&self) -> Drawing {
        let mut shown: Vec<&AttackedStudentRow> = Vec::new();
        for student in &self.students {
            if shown.iter().all(|other| other.budget != student.budget) {
                shown.push(student);
            }
        }
        let curve = |student: &&AttackedStudentRow| {
            let last = student.risk_quantiles.len().max(2) - 1;
            let points = student.risk_quantiles.iter().enumerate().map(|(k, &risk)| [risk, k as f64 / last as f64]);
            let name =
                student.budget.map_or_else(|| "without privacy".into(), |budget| format!("ε = {}", short(budget.0)));
            Series::new(name, SeriesKind::Measured, points.collect())
        };
        let figure = Curves {
            title: "Privacy-risk scores of private images".into(),
            description: "The share of private images whose risk score is at most so large.".into(),
            x: Axis::linear("privacy-risk score"),
            y: Axis::linear("share of private images"),
            series: shown.iter().map(curve).collect(),
        };
        figure.draw()
    }
}
