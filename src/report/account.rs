//! The document of `leakbound account`.

use super::document::Render;
use super::envelope::Envelope;
use super::page::Page;
use super::table::{TextTable, csv_text};
use crate::error::Result;
use crate::study::{AccountAnswer, CostMeaning, Number, short, significant};
use serde::Serialize;

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".into(), |share| format!("{:.2} %", 100.0 * share))
}

impl AccountAnswer {
    pub(super) fn epsilon_table(&self) -> TextTable {
        let mut table = TextTable::new(&["accountant", "holds for", "ε", "at order"], &[0, 1]);
        for curve in &self.curves {
            table.row(vec![
                curve.name.into(),
                curve.holds_for(),
                significant(curve.epsilon.0, 6),
                significant(curve.order, 4),
            ]);
        }
        if let Some(losses) = &self.losses {
            let meaning = match losses.meaning {
                CostMeaning::ExactOfScenario => "these two worlds, all answers composed",
                _ => "these votes, any voter at each answer, composed",
            };
            let ends = [losses.epsilon.lower, losses.epsilon.upper].map(|end| significant(end.0, 6));
            table.row(vec!["privacy-loss, at most".into(), meaning.into(), ends[1].clone(), String::new()]);
            table.row(vec!["privacy-loss, at least".into(), meaning.into(), ends[0].clone(), String::new()]);
            let one_voter = losses.one_voter.iter().flatten().find(|at| at.delta == self.delta);
            if let Some(at) = one_voter {
                let meaning = "these votes, one voter at all answers, composed";
                let epsilon = significant(at.epsilon.0, 6);
                table.row(vec!["privacy-loss, at least".into(), meaning.into(), epsilon, String::new()]);
            }
        }
        table
    }

    pub(super) fn rdp_table(&self) -> TextTable {
        let mut header = vec!["order α"];
        header.extend(self.curves.iter().map(|curve| curve.name));
        let mut table = TextTable::new(&header, &[]);
        for (index, &order) in self.orders.iter().enumerate() {
            let values = self.curves.iter().map(|curve| significant(curve.rdp[index].0, 6));
            table.row(std::iter::once(short(order)).chain(values).collect());
        }
        table
    }

    pub(super) fn budget_table(&self) -> TextTable {
        let header = ["budget", "ε spent", "order", "queries", "labels", "answered", "label accuracy"];
        let mut table = TextTable::new(&header, &[]);
        for row in &self.budgets {
            table.row(vec![
                short(row.budget),
                significant(row.epsilon.0, 4),
                significant(row.order, 4),
                row.queries.to_string(),
                row.labels.to_string(),
                percent(row.success_rate),
                percent(row.label_accuracy),
            ]);
        }
        table
    }

    pub(super) fn epsilon_words(&self) -> String {
        format!(
            "ε at δ = {} of {} answers together, {} conversion ({})",
            short(self.delta),
            self.queries,
            self.conversion,
            self.conversion_words
        )
    }

    pub(super) fn budget_words(&self) -> String {
        format!(
            "Budgets at δ = {}: recorded votes answered with fresh noise until the next answer would exceed the budget, \
             charged what happened. The charges depend on the votes and the order is the best one afterwards: these are the \
             figures that the literature reports, and no bounds of ε",
            short(self.delta)
        )
    }
}

impl Render for AccountAnswer {
    fn text(&self, title: &str) -> String {
        let mut text = format!("{}\n\n{}\n{}", title, self.epsilon_words(), self.epsilon_table().text());
        text += &format!("Rényi divergence of all answers in nats\n{}", self.rdp_table().text());
        if !self.budgets.is_empty() {
            text += &format!("{}\n{}", self.budget_words(), self.budget_table().text());
        }
        text
    }

    fn csv(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Row {
            kind: &'static str,
            name: String,
            at: String,
            value: String,
        }
        let row = |kind, name: &str, at: String, value: String| Row { kind, name: name.into(), at, value };
        let rdp = self.curves.iter().flat_map(|curve| {
            self.orders
                .iter()
                .zip(&curve.rdp)
                .map(move |(order, rdp)| row("rdp", curve.name, short(*order), rdp.text()))
        });
        let epsilon = self.curves.iter().flat_map(|curve| {
            curve.profile.iter().map(move |at| row("epsilon", curve.name, short(at.delta), at.epsilon.text()))
        });
        let budgets = self.budgets.iter().flat_map(|budget| {
            let at = || short(budget.budget);
            let number = |share: Option<f64>| share.map_or_else(String::new, |share| Number(share).text());
            [
                row("budget", "epsilon", at(), budget.epsilon.text()),
                row("budget", "queries", at(), budget.queries.to_string()),
                row("budget", "labels", at(), budget.labels.to_string()),
                row("budget", "success_rate", at(), number(budget.success_rate)),
                row("budget", "label_accuracy", at(), number(budget.label_accuracy)),
            ]
        });
        let losses = self.losses.iter().flat_map(|losses| {
            losses.profile.iter().flat_map(|at| {
                [("privacy-loss-lower", at.lower), ("privacy-loss-upper", at.upper)]
                    .map(|(name, end)| row("epsilon", name, short(at.delta), end.text()))
            })
        });
        let one_voter = self.losses.iter().flat_map(|losses| losses.one_voter.iter().flatten());
        let one_voter =
            one_voter.map(|at| row("epsilon", "privacy-loss-one-voter-lower", short(at.delta), at.epsilon.text()));
        csv_text(rdp.chain(epsilon).chain(losses).chain(one_voter).chain(budgets))
    }

    fn page(&self, envelope: &Envelope, title: &str) -> Option<Page> {
        Some(self.as_page(envelope, title))
    }
}
