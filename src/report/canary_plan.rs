//! How plans of one-run audits read, and what is concluded from them.

use super::document::Render;
use super::figure::Drawing;
use super::records::Records;
use super::section::{Columns, Form, Section, Table};
use crate::record::{RecordedCanaryPlan, RecordedGuesses, RecordedTrainingClaim};
use crate::study::{CanaryAuditAnswer, CanaryPlanAnswer, ForecastRange, ForecastRanges, short, significant};

impl RecordedCanaryPlan {
    fn guesses_words(&self) -> String {
        match self.guesses {
            RecordedGuesses::Declared(members, others) => format!(
                "the {members} canaries of highest score are called members, the {others} of lowest score non-members"
            ),
            RecordedGuesses::Split => "as many as are best on a random half, which is not bounded".into(),
            RecordedGuesses::PaidFor => "the best of a fixed list that shares the failure probability".into(),
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
    let rows = forecast.map(|forecast| [("ε", &forecast.epsilon), ("μ", &forecast.mu)]);
    Table::of(rows.into_iter().flatten())
        .words("quantity", |row| row.0)
        .number("5 % of audits below", 4, |row| row.1.low.0)
        .number("half of them", 4, |row| row.1.median.0)
        .number("95 % of them", 4, |row| row.1.high.0)
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

impl Render for CanaryPlanAnswer {
    fn sections(&self, _: Form) -> Vec<Section> {
        let plan = &self.plan;
        let fact = |name: &str, value: String| (name.to_owned(), value);
        let mut facts = vec![
            fact("canaries to train on", format!("{} of {}, by fair coins", self.members, plan.canaries)),
            fact("guesses", plan.guesses_words()),
            fact("largest ε that can be shown", significant(self.most_shown.0, 4)),
        ];
        if let (Some(words), Some(epsilon)) = (plan.claim_words(), self.claimed_epsilon) {
            let comes_to = match plan.claim {
                Some(RecordedTrainingClaim::Epsilon(_)) => format!("{words} at δ = {}", short(plan.delta)),
                _ => format!("{words}: ε = {} at δ = {}", significant(epsilon.0, 4), short(plan.delta)),
            };
            facts.insert(0, fact("claim", comes_to));
        }
        facts.push(fact("SHA-256 of the plan", plan.sha256.clone()));
        let needed = "The audit reads the JSON form of the plan: --format json --output PLAN.json.";
        vec![
            Section::new("Plan").heading("").facts(facts),
            forecast_section(self.forecast.as_ref()),
            Section::default().notes([needed]),
        ]
    }

    fn records(&self) -> Records<'_> {
        Records::of(self.plan.coins.bytes().enumerate())
            .column("canary", |row| row.0)
            .column("member", |row| u64::from(row.1 == b'1'))
            .into()
    }
}

impl Render for CanaryAuditAnswer {
    fn sections(&self, form: Form) -> Vec<Section> {
        let mut sections = self.audit.sections(form);
        sections.push(forecast_section(self.forecast.as_ref()));
        let most = significant(self.most_shown.0, 4);
        let plan = self.plan_sha256.get(..16).unwrap_or_default();
        sections.push(Section::default().notes([format!("Plan {plan}…; the largest ε that it can show is {most}.")]));
        sections
    }

    fn figures(&self) -> Vec<Drawing> {
        self.audit.figures()
    }

    fn meaning(&self) -> Vec<String> {
        self.audit.meaning()
    }

    fn records(&self) -> Records<'_> {
        self.audit.records()
    }
}
