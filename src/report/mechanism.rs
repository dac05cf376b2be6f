//! Presentation of the answer of `leakbound audit mechanism`.

use super::document::Render;
use super::meaning;
use super::records::{Records, cells};
use super::section::{Form, Section, Table};
use super::words::distinct;
use super::{Column, Drawing, Histograms};
use crate::bound::Direction;
use crate::error::{echo, one_line};
use crate::report::failure::FailureNoteText;
use crate::study::{
    Claim, CounterexampleFound, EventBar, MechanismAnswer, Number, percent, short, significant, significant_below,
};
use easy_ext::ext;

/// Pairs and outcomes that are shown in text; all are in JSON.
const PAIRS: usize = 3;
const OUTCOMES: usize = 12;

/// The header of the flat table.
const HEADER: &str = "quantity,method,direction,order,delta,lower,failure_probability,validity";

#[ext]
impl EventBar {
    fn counts(&self) -> [u64; 2] {
        [self.count, self.count_neighbor]
    }
}

#[ext]
impl CounterexampleFound {
    fn section(&self) -> Section {
        let share = |inside: u64, outputs: u64| {
            let share = percent(inside as f64 / (outputs.max(1) as f64));
            format!("{inside} of {outputs} ({share})")
        };
        let facts = [
            ("claim", self.claim.clone()),
            ("dataset", echo(&self.dataset.to_string())),
            ("neighbor", echo(&self.neighbor.to_string())),
            ("event", one_line(&self.event)),
            ("of the dataset", share(self.inside, self.outputs)),
            ("of the neighbor", share(self.inside_neighbor, self.outputs_neighbor)),
        ];
        let p_value = self.p_value.map(|p| ("p-value", significant(p.0, 2)));
        let facts = facts.into_iter().chain(p_value).map(|(name, value)| (name.to_owned(), value)).collect();
        let shrunk = "shrunk, then confirmed on fresh outputs";
        Section::new("Counterexample").facts(facts).notes(self.shrunk.then_some(shrunk))
    }

    /// The event over the outputs of both datasets.
    fn figure(&self) -> Drawing {
        let all = [0, 1].map(|world| self.bars.iter().map(|bar| bar.counts()[world]).sum::<u64>().max(1) as f64);
        let column = |bar: &EventBar| Column {
            label: one_line(&bar.outcome),
            begins: bar.low.is_some(),
            shares: [0, 1].map(|world| bar.counts()[world] as f64 / all[world]),
            marked: bar.inside,
        };
        Histograms {
            title: format!("Outputs of both datasets, and the event that refutes {}", self.claim),
            description: format!("The event is {}.", one_line(&self.event)),
            x: one_line(&self.predicate.looks_at()),
            names: ["dataset".into(), "neighbor".into()],
            marked: "the event".into(),
            columns: self.bars.iter().map(column).collect(),
        }
        .draw()
    }
}

#[ext]
impl MechanismAnswer {
    fn shown_pairs(&self, form: Form) -> Section {
        let most = if form == Form::Page { usize::MAX } else { PAIRS };
        let table = Table::of(self.pairs.iter().take(most))
            .words("pair", |pair| one_line(&pair.pattern))
            .words("dataset", |pair| echo(&pair.dataset.to_string()))
            .words("neighbor", |pair| echo(&pair.neighbor.to_string()))
            .exact("runs", |pair| pair.runs)
            .number("share of a claim", 3, |pair| pair.score.filter(|_| pair.trouble.is_none()).map(|score| score.0))
            .words("trouble", |pair| pair.trouble.as_deref().map(one_line).unwrap_or_default());
        let title = match self.tried {
            1 => "The pair".to_owned(),
            tried => format!("The best of {tried} pairs of neighbors"),
        };
        Section::new(title).table(table).notes(self.naming.map(|naming| naming.words()))
    }

    fn outcomes(&self, form: Form) -> Section {
        let [all, all_neighbor] = [0, 1].map(|world| {
            let counts = self.witness.outcomes.iter();
            counts.map(|row| if world == 0 { row.count } else { row.count_neighbor }).sum::<u64>().max(1) as f64
        });
        let most = if form == Form::Page { usize::MAX } else { OUTCOMES };
        let seen = self.witness.outcomes.iter().filter(|row| row.count + row.count_neighbor > 0);
        let left = seen.clone().count().saturating_sub(most);
        let table = Table::of(seen.take(most))
            .words("outcome", |row| one_line(&row.outcome))
            .exact("dataset", |row| row.count)
            .exact("neighbor", |row| row.count_neighbor)
            .number("ratio", 3, |row| {
                let ratio = (row.count as f64 / all) / (row.count_neighbor as f64 / all_neighbor);
                ratio.is_finite().then_some(ratio)
            });
        let more = (left > 0).then(|| format!("and {left} more outcomes"));
        Section::new(format!("Outcomes of {}", one_line(&self.witness.looks_at))).table(table).notes(more)
    }
}

impl Render for MechanismAnswer {
    fn title(&self, title: &str) -> String {
        let runs = match (self.runs.search, self.runs.bounded) {
            (search, 0) => format!("{search} runs of each dataset, over all pairs"),
            (0, fresh) => format!("{fresh} fresh runs of each dataset"),
            (search, fresh) => format!("{search} runs of each dataset to search, {fresh} fresh ones to bound"),
        };
        let runs = match self.runs.shrink {
            0 => runs,
            shrink => format!("{runs}, {shrink} to shrink"),
        };
        let rounded =
            self.round.map_or_else(String::new, |grid| format!("; outputs rounded to multiples of {}", grid.0));
        format!("{}\n{runs}; {}{rounded}", one_line(title), self.failure.words())
    }

    fn refuted_by(&self, claim: &Claim) -> Option<&'static str> {
        let found = self.counterexample.as_ref().filter(|found| found.claim == claim.claim)?;
        Some(match (found.is_of_bits(), found.is_rare()) {
            (true, _) => "the last binary places of the outputs, which floating-point noise leaks",
            (false, true) => "a rare event, seen in less than 5% of the outputs of each dataset",
            (false, false) => "an ordinary event",
        })
    }

    fn sections(&self, form: Form) -> Vec<Section> {
        let orders = distinct(self.bounds.iter().map(|row| row.order.to_bits()));
        let rows = distinct(self.bounds.iter().map(|row| (row.method, row.direction, row.validity)));
        let bounds = Table::of(rows)
            .words("method", |row| row.0)
            .words("direction", |row| row.1)
            .each(orders, |table, order| {
                let order = f64::from_bits(order);
                table.at_least(format!("α = {}", short(order)), 5, |row| {
                    let mut bounds = self.bounds.iter();
                    bounds.find(|b| (b.method, b.direction, b.order) == (row.0, row.1, order)).map(|b| b.rdp_lower.0)
                })
            })
            .exact("validity", |row| row.2);
        let epsilon = Table::of(&self.epsilon)
            .words("method", |row| row.method)
            .words("direction", |row| row.direction)
            .short("δ", |row| row.delta)
            .at_least("ε at least", 6, |row| row.epsilon_lower.0)
            .exact("validity", |row| row.validity);
        let again = "A saved counterexample (`save-counterexample`) can be tested again (`counterexample`).";
        let found = self.counterexample.iter();
        // Without a search it came from such a file.
        let notes = (self.runs.search > 0).then_some(again);
        let mut sections: Vec<Section> = found.map(|found| found.section().notes(notes)).collect();
        sections.extend([
            self.shown_pairs(form),
            self.outcomes(form),
            Section::new("Rényi divergence in nats, at least").table(bounds),
            Section::new("Differential privacy, at least").table(epsilon),
        ]);
        sections.extend(self.trade_off.iter().take(1).map(|row| {
            let mu = significant_below(row.mu_lower.0, 5);
            Section::default().notes([format!("μ of Gaussian differential privacy: at least {mu} ({})", row.validity)])
        }));
        let none = "not refuted: no violation of the claim was seen in these runs; that is not a proof";
        let stands = self.counterexample.is_none() && !self.claims.is_empty();
        sections.push(Section::default().notes(stands.then_some(none)));
        sections
    }

    fn figures(&self) -> Vec<Drawing> {
        self.counterexample.iter().map(CounterexampleFound::figure).collect()
    }

    fn meaning(&self) -> Vec<String> {
        let all = self.bounds.iter().map(|row| row.validity).chain(self.epsilon.iter().map(|row| row.validity));
        let mut words = meaning::lower_bounds(&self.failure, all, 1);
        let runs = if self.runs.bounded > 0 {
            "The pair of neighbors and the function from outputs to outcomes were chosen on other runs than those that are \
             bounded."
        } else {
            "The claims were tested by bets on outputs that were made before these were seen, so that the test could end \
             at any time. Nothing else is bounded."
        };
        if self.round.is_some() {
            words.push(
                "The outputs were rounded to a grid before anything looked at them: a lower bound or a refutation holds \
                 for the outputs themselves too."
                    .into(),
            );
        }
        let rest = "Outputs are assumed to be independent. A program that is not refuted may leak elsewhere.";
        words.push(format!("{runs} {rest}"));
        words
    }

    fn records(&self) -> Records<'_> {
        let bounds = self.bounds.iter().map(|row| {
            let (order, delta, lower, failure) = (row.order, None::<f64>, row.rdp_lower, row.failure_probability);
            cells!["rdp", row.method, row.direction, order, delta, lower, failure, row.validity]
        });
        let epsilon = self.epsilon.iter().map(|row| {
            let (order, delta, lower, failure) = (None::<f64>, row.delta, row.epsilon_lower, row.failure_probability);
            cells!["epsilon", row.method, row.direction, order, delta, lower, failure, row.validity]
        });
        let mu = self.trade_off.iter().map(|row| {
            let (order, delta, lower): (_, _, Number) = (None::<f64>, None::<f64>, row.mu_lower);
            cells!["mu", row.method, None::<Direction>, order, delta, lower, row.failure_probability, row.validity]
        });
        Records::with(HEADER, bounds.chain(epsilon).chain(mu))
    }
}
