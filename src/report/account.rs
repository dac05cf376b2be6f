//! Presentation of the answer of `leakbound account`.

mod figures;

use super::document::Render;
use super::figure::Drawing;
use super::meaning;
use super::records::{Cell, Records, cells};
use super::section::{Columns, Form, Section, Table};
use crate::report::account::figures::AccountAnswerFigures;
use crate::study::{
    AccountAnswer, BudgetRow, CostMeaning, FilterRow, Number, Summed, short, significant_above, significant_below,
};
use easy_ext::ext;

/// What something costs: the accountant, whom it holds for, ε, and the order that gives it.
type CostRow = (&'static str, String, String, Option<f64>);

const OF_RELEASES: &str = "What holds for any data also adaptively may be published, and covers releases that are chosen \
                           after the outputs before them; those of one record are between data with and without it, and \
                           those of a group between data with and without its records.";

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".into(), |share| format!("{:.2}%", 100.0 * share))
}

#[ext]
impl AccountAnswer {
    fn epsilon_table(&self) -> Columns<CostRow> {
        // Without a δ no order gives ε.
        let order = |order: f64| (self.delta > 0.0).then_some(order);
        let curves = self.curves.iter();
        let curves =
            curves.map(|row| (row.name, row.holds_for(), significant_above(row.epsilon.0, 6), order(row.order)));
        let losses = self.losses.iter().flat_map(|losses| {
            let meaning = match losses.meaning {
                CostMeaning::ExactOfScenario => "these two worlds, all answers composed",
                CostMeaning::AnyData => "any data, also adaptively, composed",
                _ => "these votes, any voter at each answer, composed",
            };
            let one_voter = losses.one_voter.iter().flatten().find(|at| at.delta == self.delta);
            let upper = ("privacy-loss, at most", meaning, losses.epsilon.upper);
            let lower = ("privacy-loss, at least", meaning, losses.epsilon.lower);
            let one_voter =
                one_voter.map(|at| (lower.0, "these votes, one voter at all answers, composed", at.epsilon));
            let rows = [upper, lower].into_iter().chain(one_voter);
            // The digits of an enclosure are rounded to its own side.
            let shown = move |name: &str, end: f64| match name == upper.0 {
                true => significant_above(end, 6),
                false => significant_below(end, 6),
            };
            rows.map(move |(name, meaning, epsilon)| (name, meaning.to_owned(), shown(name, epsilon.0), None))
        });
        Table::of(curves.chain(losses))
            .words("accountant", |row| row.0)
            .words("holds for", |row| row.1.clone())
            .exact("ε", |row| row.2.clone())
            .number("at order", 4, |row| row.3)
    }

    fn rdp_table(&self) -> Columns<(usize, &f64)> {
        Table::of(self.orders.iter().enumerate()).short("order α", |row| *row.1).each(&self.curves, |table, curve| {
            let value = |row: &(usize, &f64)| curve.rdp[row.0].0;
            if curve.meaning.is_bound() {
                table.at_most(curve.name, 6, value)
            } else {
                table.number(curve.name, 6, value)
            }
        })
    }

    fn filter_table(&self) -> Columns<&FilterRow> {
        Table::of(&self.filters)
            .short("budget", |row| row.budget)
            .exact("releases", |row| row.releases)
            .at_most("ε spent", 4, |row| row.epsilon.0)
            .number("order", 4, |row| row.order)
            .at_most("RDP budget", 4, |row| row.rdp.0)
    }

    fn budget_table(&self) -> Columns<&BudgetRow> {
        Table::of(&self.budgets)
            .short("budget", |row| row.budget)
            .at_most("ε spent", 4, |row| row.epsilon.0)
            .number("order", 4, |row| row.order)
            .exact("queries", |row| row.queries)
            .exact("labels", |row| row.labels)
            .exact("answered", |row| percent(row.success_rate))
            .exact("label accuracy", |row| percent(row.label_accuracy))
    }
}

impl Render for AccountAnswer {
    fn sections(&self, _: Form) -> Vec<Section> {
        let Self { queries, summed, conversion, conversion_words, .. } = self;
        let delta = short(self.delta);
        vec![
            Section::new(format!("ε at δ = {delta}"))
                .heading(format!(
                    "ε at δ = {delta} of {queries} {summed} together, {conversion} conversion ({conversion_words})"
                ))
                .table(self.epsilon_table()),
            Section::new(format!("Rényi divergence of all {summed} in nats")).table(self.rdp_table()),
            Section::new("Labeling until a budget is spent")
                .heading(format!(
                    "Budgets at δ = {delta}: recorded votes answered with fresh noise until the next answer would exceed \
                     the budget, charged what happened. The charges depend on the votes and the order is the best one \
                     afterwards: these are the figures that the literature reports, and no bounds of ε"
                ))
                .table(self.budget_table()),
            Section::new("Releases within a budget")
                .heading(format!(
                    "Budgets at δ = {delta}: releases that a privacy filter lets pass, in the order of the file. A theorem, \
                     also where releases are chosen after the outputs before them: the order is fixed before the first \
                     output, and other releases may pass instead while their Rényi divergences of this order add up to at \
                     most the RDP budget (Feldman and Zrnic 2021)"
                ))
                .table(self.filter_table()),
        ]
    }

    fn figures(&self) -> Vec<Drawing> {
        [Some(self.profile()), self.rdp()].into_iter().flatten().collect()
    }

    fn meaning(&self) -> Vec<String> {
        if self.summed == Summed::Releases {
            return vec![meaning::UPPER.into(), OF_RELEASES.into()];
        }
        vec![
            meaning::UPPER.into(),
            "A data-independent figure holds for all votes and may be published. The others hold for the recorded votes and \
             say something about them: a data-dependent cost is a theorem's, the exact cost per answer is the largest \
             divergence between the distribution of the answer and that of any histogram one moved vote away, or of answers \
             that each move by at most 1, conditional on these. An expected charge plans, and bounds no run."
                .into(),
        ]
    }

    fn records(&self) -> Records<'_> {
        let rdp = self.curves.iter().flat_map(|curve| {
            let values = self.orders.iter().zip(&curve.rdp);
            values.map(|(order, rdp)| cells!["rdp", curve.name, short(*order), *rdp])
        });
        let epsilon = self.curves.iter().flat_map(|curve| {
            curve.profile.iter().map(|at| cells!["epsilon", curve.name, short(at.delta), at.epsilon])
        });
        let losses = self.losses.iter().flat_map(|losses| &losses.profile).flat_map(|at| {
            [("privacy-loss-lower", at.lower), ("privacy-loss-upper", at.upper)]
                .map(|(name, end)| cells!["epsilon", name, short(at.delta), end])
        });
        let one_voter = self.losses.iter().flat_map(|losses| losses.one_voter.iter().flatten());
        let one_voter =
            one_voter.map(|at| cells!["epsilon", "privacy-loss-one-voter-lower", short(at.delta), at.epsilon]);
        let budgets = self.budgets.iter().flat_map(|row| {
            let values = [
                ("epsilon", Cell::from(row.epsilon)),
                ("queries", row.queries.into()),
                ("labels", row.labels.into()),
                ("success_rate", row.success_rate.map(Number).into()),
                ("label_accuracy", row.label_accuracy.map(Number).into()),
            ];
            values.map(|(name, value)| cells!["budget", name, short(row.budget), value])
        });
        let filters = self.filters.iter().flat_map(|row| {
            let values =
                [("epsilon", Cell::from(row.epsilon)), ("releases", row.releases.into()), ("rdp", row.rdp.into())];
            values.map(|(name, value)| cells!["filter", name, short(row.budget), value])
        });
        let rows = rdp.chain(epsilon).chain(losses).chain(one_voter).chain(budgets).chain(filters);
        Records::with("kind,name,at,value", rows)
    }
}
