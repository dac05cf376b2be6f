//! Presentation of plans of one-run audits, and of their conclusions.

use super::document::Render;
use super::figure::{Axis, Drawing, Row, RowSeries, Rows, SeriesKind};
use super::records::Records;
use super::section::{Columns, Form, Section, Table};
use crate::error::one_line;
use crate::record::{RecordedCanaryPlan, RecordedGuesses, RecordedTrainingClaim};
use crate::report::scores::ScoresAnswerText;
use crate::study::{
    CanaryAttackRow, CanaryAuditAnswer, CanaryPlanAnswer, ForecastRange, ForecastRanges, short, significant,
    significant_above,
};
use easy_ext::ext;

#[ext]
impl RecordedCanaryPlan {
    fn guesses_words(&self) -> String {
        match self.guesses {
            RecordedGuesses::Declared(members, others) => format!(
                "the {members} canaries of highest score are called members, the {others} of lowest score non-members"
            ),
            RecordedGuesses::Split => "the number that is best on a random half, which is not bounded".into(),
            RecordedGuesses::PaidFor => "the best of a fixed list that shares the failure probability".into(),
            RecordedGuesses::Nested => "all clear scores, the clearer ones more often; for ε alone".into(),
            RecordedGuesses::NestedMembers => {
                "all clearly high scores, the clearer ones more often; for ε alone".into()
            }
        }
    }

    fn claim_words(&self) -> Option<String> {
        Some(match self.claim.as_ref()? {
            RecordedTrainingClaim::Epsilon(epsilon) => format!("ε ≤ {}", short(*epsilon)),
            RecordedTrainingClaim::Mu(mu) => format!("μ ≤ {}", short(*mu)),
            RecordedTrainingClaim::Mechanism(mechanism, times) => format!("{mechanism}, {times} times"),
        })
    }
}

fn forecast_table(forecast: Option<&ForecastRanges>) -> Columns<(&'static str, &ForecastRange)> {
    let epsilon = forecast.map(|forecast| ("ε", &forecast.epsilon));
    let mu = forecast.and_then(|forecast| Some(("μ", forecast.mu.as_ref()?)));
    Table::of(epsilon.into_iter().chain(mu))
        .words("quantity", |row| row.0)
        .number("5% of audits below", 4, |row| row.1.low.0)
        .number("half of them", 4, |row| row.1.median.0)
        .number("95% of them", 4, |row| row.1.high.0)
}

fn forecast_section(forecast: Option<&ForecastRanges>) -> Section {
    let note = forecast.map(|forecast| {
        format!(
            "{} simulated audits of a training that shows each canary as clearly as the claim allows, to an attacker who \
             sees all of it: a training that keeps the claim is not expected to show more, and an attack on the last \
             model only shows less.",
            forecast.repetitions
        )
    });
    let section = Section::new("Forecast").heading("Lower bounds to expect if the claim is true and tight");
    section.table(forecast_table(forecast)).notes(note)
}

/// A plan with what follows from it.
struct Planned<'a> {
    plan: &'a RecordedCanaryPlan,
    members: u64,
    claimed: Option<f64>,
    most: f64,
    forecast: Option<&'a ForecastRanges>,
}

impl Planned<'_> {
    fn section(&self) -> Section {
        let plan = self.plan;
        let fact = |name: &str, value: String| (name.to_owned(), value);
        let mut facts = vec![
            fact("canaries to train on", format!("{} of {}, by fair coins", self.members, plan.canaries)),
            fact("guesses", plan.guesses_words()),
            fact("members have", if plan.low_is_member { "low scores".into() } else { "high scores".into() }),
            fact("largest ε that can be shown", significant_above(self.most, 4)),
        ];
        if plan.attacks > 1 {
            let share = significant(plan.failure_probability / plan.attacks as f64, 3);
            facts.push(fact("sets of scores", format!("{}, each with a failure probability of {share}", plan.attacks)));
        }
        if let (Some(words), Some(epsilon)) = (plan.claim_words(), self.claimed) {
            let comes_to = match plan.claim {
                Some(RecordedTrainingClaim::Epsilon(_)) => format!("{words} at δ = {}", short(plan.delta)),
                _ => format!("{words}: ε = {} at δ = {}", significant(epsilon, 4), short(plan.delta)),
            };
            facts.insert(0, fact("claim", comes_to));
        }
        facts.push(fact("SHA-256 of the plan", plan.sha256.clone()));
        Section::new("Plan").heading("").facts(facts)
    }

    /// The result, the forecast, the claim and the largest possible bound, on one axis.
    fn figure(&self, found: Option<f64>) -> Drawing {
        let forecast = self.forecast.map(|forecast| forecast.epsilon);
        let marks = [
            ("this run, at least", SeriesKind::Lower, found, None),
            (
                "forecast of a perfect attack",
                SeriesKind::Heuristic,
                forecast.map(|range| range.median.0),
                forecast.map(|range| [range.low.0, range.high.0]),
            ),
            ("claim", SeriesKind::Reference, self.claimed, None),
            ("largest that can be shown", SeriesKind::Reference, Some(self.most), None),
        ];
        let marks: Vec<_> = marks.into_iter().filter(|(_, _, value, _)| value.is_some()).collect();
        let only =
            |index: usize, mark| (0..marks.len()).map(|other| if other == index { mark } else { None }).collect();
        let rows = marks.iter().enumerate().map(|(index, &(name, _, value, band))| Row {
            label: name.to_owned(),
            values: only(index, value),
            bands: (0..marks.len()).map(|other| band.filter(|_| other == index)).collect(),
            note: value.map_or_else(String::new, |value| significant(value, 3)),
        });
        let rows = rows.collect();
        let series = marks.iter().map(|&(name, kind, ..)| RowSeries { name: name.to_owned(), kind }).collect();
        Rows {
            title: format!("ε at δ = {}", short(self.plan.delta)),
            description:
                "Lower bounds of ε next to the claim. The line around the forecast covers nine tenths of the audits of \
                 a training that leaks all that is claimed, by an attacker who sees all of it."
                    .into(),
            x: Axis::linear("ε"),
            series,
            bar: found.map(|_| 0),
            rows,
            sorted_by: None,
        }
        .draw()
    }
}

#[ext]
impl CanaryPlanAnswer {
    fn planned(&self) -> Planned<'_> {
        Planned {
            plan: &self.plan,
            members: self.members,
            claimed: self.claimed_epsilon.map(|epsilon| epsilon.0),
            most: self.most_shown.0,
            forecast: self.forecast.as_ref(),
        }
    }
}

#[ext]
impl CanaryAuditAnswer {
    fn planned(&self) -> Planned<'_> {
        Planned {
            plan: &self.plan,
            members: self.audit.members,
            claimed: self.claimed_epsilon.map(|epsilon| epsilon.0),
            most: self.most_shown.0,
            forecast: self.forecast.as_ref(),
        }
    }

    /// The set of scores with the largest bound of ε, the first one of several.
    fn largest(&self) -> Option<&CanaryAttackRow> {
        self.attacks.iter().reduce(|best, attack| if attack.epsilon.0 > best.epsilon.0 { attack } else { best })
    }
}

impl Render for CanaryPlanAnswer {
    fn sections(&self, _: Form) -> Vec<Section> {
        let needed = "The audit reads the JSON document of the plan: save it before training.";
        vec![self.planned().section(), forecast_section(self.forecast.as_ref()), Section::default().notes([needed])]
    }

    fn figures(&self) -> Vec<Drawing> {
        vec![self.planned().figure(None)]
    }

    fn records(&self) -> Records<'_> {
        Records::of(self.plan.coins.bytes().enumerate())
            .column("canary", |row| row.0)
            .column("member", |row| u64::from(row.1 == b'1'))
            .into()
    }
}

/// What each of several sets of scores shows.
fn attack_table(attacks: &[CanaryAttackRow]) -> Columns<&CanaryAttackRow> {
    Table::of(attacks.iter())
        .words("scores", |row| one_line(&row.scores))
        .at_least("ε at least", 4, |row| row.epsilon.0)
        .exact("guesses", |row| row.guesses)
        .exact("right", |row| row.right)
}

impl Render for CanaryAuditAnswer {
    fn sections(&self, form: Form) -> Vec<Section> {
        let mut sections = self.audit.sections(form);
        if self.attacks.len() > 1 {
            // The outcome of the guesses is that of the set with the largest bound.
            let words = self.audit.one_run_words(self.largest().map(|attack| attack.scores.as_str()));
            sections[0] = Section::default().notes(words);
            let note = "All of these bounds hold simultaneously: each has a share of the failure probability.";
            sections.push(Section::new("Sets of scores").heading("").table(attack_table(&self.attacks)).notes([note]));
        }
        sections.push(forecast_section(self.forecast.as_ref()));
        sections.push(self.planned().section());
        sections
    }

    fn figures(&self) -> Vec<Drawing> {
        let found = self.audit.epsilon.iter().map(|row| row.lower.0).fold(0.0, f64::max);
        let mut figures = vec![self.planned().figure(Some(found))];
        figures.extend(self.audit.figures());
        figures
    }

    fn meaning(&self) -> Vec<String> {
        self.audit.meaning()
    }

    fn records(&self) -> Records<'_> {
        self.audit.records()
    }
}
