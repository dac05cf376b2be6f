//! Presentation of an audit of tokens.

use super::document::Render;
use super::figure::{Axis, Curves, Drawing, Row, RowSeries, Rows, Series, SeriesKind};
use super::records::Records;
use super::section::{Columns, Form, Section, Table};
use crate::bound::Direction;
use crate::order;
use crate::quantity::Order;
use crate::study::{
    Contexts, Number, TokenComposition, TokenEpsilonRow, TokenPositionRow, TokenRenyiRow, TokensAnswer,
    TranscriptMemberRow, TranscriptRenyiRow, TranscriptSource, rounded_up, short, significant, significant_above,
    significant_below,
};
use crate::token::{TokenNeighbor, TokenNeighbors};
use easy_ext::ext;

/// Members that a terminal shows.
const SHOWN: usize = 12;

#[ext]
impl TokensAnswer {
    /// The rows of the member with the largest sum at each order.
    fn worst(&self) -> Vec<&TokenRenyiRow> {
        most_shown(self.renyi.iter().collect(), |row| row.order.to_bits(), |row| row.forward.0.max(row.reverse.0))
    }

    fn sums_words(&self) -> &'static str {
        match self.contexts {
            Contexts::Fixed => {
                "Exact for the recorded numbers: D of all answers is the sum over positions, because contexts do not depend on \
                 answers."
            }
            Contexts::Answered => {
                "Sums of exact values at the contexts that were recorded. Contexts hold earlier answers: another run \
                 has other contexts, and its sums may be larger. Theorems hold for every run with the same number of \
                 answers, and lower bounds for every mechanism that gave these."
            }
        }
    }

    fn renyi_section(&self, form: Form) -> Section {
        let rows = match form {
            Form::Page => self.renyi.iter().collect(),
            Form::Text => self.worst(),
        };
        let heading = match form {
            Form::Page => "Rényi divergences of all answers, in nats".to_owned(),
            Form::Text => "Rényi divergences of all answers, in nats, for the member that leaks most".to_owned(),
        };
        let answered = self.renyi.iter().any(|row| row.at_least.is_some());
        let replaced = self.replaced();
        let table = Table::of(rows)
            .short("α", |row| row.order)
            .exact("member", |row| row.member)
            .when(replaced, |table| table.exact("replaced by", |row| of(row.replaced_by)))
            .number("forward", 4, |row| row.forward.0)
            .number("reverse", 4, |row| row.reverse.0)
            .at_most("one answer, at most", 4, |row| row.largest.0)
            .when(answered, |table| table.at_least("by the tokens, at least", 4, |row| row.at_least.map(|one| one.0)));
        let note = match self.neighbors {
            TokenNeighbors::Removed => "Forward: the answers of all members from those without the member.",
            TokenNeighbors::Replaced => {
                "Forward: the answers of the ensemble from those with another model in place of the member."
            }
        };
        Section::new("Divergences").heading(heading).table(table).notes([self.sums_words(), note])
    }

    fn accountant_section(&self) -> Section {
        let table = Table::of(&self.accountants)
            .words("bound", |row| row.name)
            .short("α", |row| row.order)
            .number("one answer", 4, |row| row.answer.0)
            .at_most("exact, at most", 4, |row| row.largest.0)
            .when(self.accountants.iter().any(|row| !row.is_theorem()), |table| {
                table.exact("answers above", |row| if row.is_theorem() { String::new() } else { row.above.to_string() })
            })
            .number("all answers", 4, |row| row.all.0)
            .number("sum of exact ones", 4, |row| row.exact.0);
        let mut names: Vec<(&str, &str, bool)> =
            self.accountants.iter().map(|row| (row.name, row.source, row.is_theorem())).collect();
        names.dedup();
        let sources = names.into_iter().map(|(name, source, theorem)| {
            let kind = if theorem { "" } else { "what its authors charge, proved nowhere here: " };
            format!("{name}: {kind}{source}.")
        });
        Section::new("Accountants").heading("Accountants next to the exact values, in nats").table(table).notes(sources)
    }

    fn epsilon_section(&self) -> Section {
        let how = |row: &TokenEpsilonRow| match row.composition {
            TokenComposition::Renyi => "Rényi divergences",
            TokenComposition::PrivacyLoss => "privacy losses",
        };
        let table = Table::of(&self.epsilons)
            .words("bound of one answer", |row| row.name)
            .words("composed by", |row| how(row))
            .number(format!("ε at δ = {}", short(self.delta.0)), 4, |row| row.epsilon.0);
        let note = "Also where contexts depend on answers.";
        Section::new("Composition").heading("ε of all answers together, by accountants").table(table).notes([note])
    }

    fn replaced(&self) -> bool {
        self.neighbors == TokenNeighbors::Replaced
    }

    fn member_section(&self, form: Form) -> Section {
        let mut rows: Vec<_> = self.losses.iter().collect();
        let leak = |row: &crate::study::TokenMemberRow| row.loss.or(row.epsilon_at_most).map_or(0.0, |one| one.0);
        order::sort(&mut rows, |a, b| leak(b).total_cmp(&leak(a)));
        let hidden = rows.len().saturating_sub(SHOWN);
        if form == Form::Text {
            rows.truncate(SHOWN);
        }
        let (answered, fixed) = (rows.iter().any(|row| row.loss.is_some()), self.contexts == Contexts::Fixed);
        if !answered && !fixed {
            return Section::default();
        }
        let composed = rows.iter().any(|row| row.epsilon.is_some());
        let delta = short(self.delta.0);
        let table: Columns<_> = Table::of(rows)
            .exact("member", |row| row.member)
            .when(self.replaced(), |table| table.exact("replaced by", |row| of(row.replaced_by)))
            .when(answered, |table| {
                table
                    .number("loss of the answers", 4, |row| row.loss.map(|one| one.0))
                    .at_least(format!("ε at least, δ = {delta}"), 4, |row| row.epsilon_at_least.map(|one| one.0))
                    .at_least("μ at least", 4, |row| row.mu_at_least.map(|one| one.0))
            })
            .when(fixed && !composed, |table| {
                table.at_most(format!("ε at most, δ = {delta}"), 4, |row| row.epsilon_at_most.map(|one| one.0))
            })
            .when(composed, |table| table.words(format!("ε, δ = {delta}"), |row| enclosed(row.epsilon)));
        let mut notes = Vec::new();
        if answered {
            notes.push(format!(
                "Lower bounds are those of one run, from the tokens that were answered; all of them hold \
                 simultaneously except with probability {}, if the tokens were drawn from the recorded distributions.",
                rounded_up(self.failure_probability)
            ));
        }
        if composed {
            notes.push(
                "ε of all answers is enclosed: privacy losses of all positions are convolved, rounded to either side."
                    .into(),
            );
        } else if fixed {
            notes.push("Upper bounds are those of the sums, converted at the best order.".into());
        }
        if form == Form::Text && hidden > 0 {
            notes.push(format!("{hidden} members that show less are left out."));
        }
        Section::new("Members").heading("What each member leaks by all answers").table(table).notes(notes)
    }

    fn transcript_sections(&self, form: Form) -> [Section; 2] {
        let Some(found) = &self.transcripts else { return Default::default() };
        let mut rows: Vec<&TranscriptRenyiRow> = found.renyi.iter().collect();
        if form == Form::Text {
            rows = most_shown(rows, |row| row.order.to_bits(), |row| row.forward.0.max(row.reverse.0));
        }
        let shown = if form == Form::Text { ", for the member with the largest bound" } else { "" };
        let table = Table::of(rows)
            .short("α", |row| row.order)
            .exact("member", |row| row.member)
            .when(self.replaced(), |table| table.exact("replaced by", |row| of(row.replaced_by)))
            .at_least("forward, at least", 4, |row| row.forward.0)
            .number("exact", 4, |row| row.exact_forward.0)
            .at_least("reverse, at least", 4, |row| row.reverse.0)
            .number("exact", 4, |row| row.exact_reverse.0);
        let from = match found.source {
            TranscriptSource::Recorded => "recorded",
            TranscriptSource::Simulated => "drawn from the recorded distributions",
        };
        let how = format!(
            "{} transcripts of each ensemble, {from}: all positions, answered again. Their privacy losses are grouped, and the \
             groups are a k-cut of all answers. A tenth placed the groups (seed {}).",
            found.transcripts, found.seed
        );
        let hold = format!(
            "All lower bounds of this audit hold simultaneously except with probability {}; those by transcripts \
             whatever the recorded distributions are.",
            rounded_up(self.failure_probability)
        );
        let renyi = Section::new("Transcripts")
            .heading(format!("Rényi divergences of all answers by {} transcripts, in nats{shown}", found.transcripts))
            .table(table)
            .notes([how, hold]);
        let mut rows: Vec<&TranscriptMemberRow> = found.members.iter().collect();
        order::sort(&mut rows, |a, b| b.epsilon_at_least.0.total_cmp(&a.epsilon_at_least.0));
        if form == Form::Text {
            rows.truncate(SHOWN);
        }
        let table = Table::of(rows)
            .exact("member", |row| row.member)
            .when(self.replaced(), |table| table.exact("replaced by", |row| of(row.replaced_by)))
            .exact("groups", |row| row.groups)
            .at_least(format!("ε at least, δ = {}", short(self.delta.0)), 4, |row| row.epsilon_at_least.0)
            .at_least("μ at least", 4, |row| row.mu_at_least.0);
        [renyi, Section::new("Members by transcripts").heading("ε and μ of all answers by transcripts").table(table)]
    }

    fn leaking_section(&self) -> Section {
        let answered = self.leaking.iter().any(|row| row.token.is_some());
        let order = self.renyi.first().map_or(0.0, |row| row.order);
        let table = Table::of(&self.leaking)
            .exact("position", |row| row.position)
            .when(answered, |table| table.exact("token", |row| row.token.map_or_else(String::new, |t| t.to_string())))
            .exact("member", |row| row.member)
            .when(self.replaced(), |table| table.exact("replaced by", |row| of(row.replaced_by)))
            .words("direction", |row| row.direction.name())
            .number(format!("D, α = {}", short(order)), 4, |row| row.divergence.0)
            .when(answered, |table| table.number("loss of the answer", 4, |row| row.loss.map(|one| one.0)));
        Section::new("Positions").heading("Positions that leak most").table(table)
    }

    fn planted_section(&self) -> Section {
        let Some(test) = &self.planted else { return Section::default() };
        let words = format!(
            "{} planted sequences: the member that a sequence was planted in has rank {} by its likelihood on average, and \
             {} if no member remembers. p = {}: the probability of ranks as good by chance, exact for sequences that \
             were planted by a fair die.",
            test.sequences,
            significant(test.mean_rank.0, 3),
            significant(test.expected.0, 3),
            significant(test.p_value.0, 3)
        );
        Section::new("Planted sequences").heading("Planted sequences").notes([words])
    }

    fn growth(&self) -> Option<Drawing> {
        let curve = &self.curve;
        let last = curve.points.last()?;
        let mut series = vec![Series::new(
            format!("exact, {}", curve.neighbor),
            SeriesKind::Exact,
            std::iter::once([0.0, 0.0]).chain(curve.points.iter().copied()).collect(),
        )];
        for row in self.accountants.iter().filter(|row| row.order == curve.order.get() && row.all.0.is_finite()) {
            let kind = if row.is_theorem() { SeriesKind::Upper } else { SeriesKind::Reference };
            series.push(Series::new(row.name, kind, vec![[0.0, 0.0], [last[0], row.answer.0 * last[0]]]));
        }
        let figure = Curves {
            title: format!("D of order {} of all answers, in nats", curve.order),
            description: format!(
                "The {} divergence of the answers so far from those of the neighbor that shows most in the end.",
                curve.direction.name()
            ),
            x: Axis::linear("answers"),
            y: Axis::linear("Rényi divergence in nats"),
            series,
        };
        Some(figure.draw())
    }

    fn transcripts_figure(&self) -> Option<Drawing> {
        let found = self.transcripts.as_ref()?;
        let order = found.renyi.first()?.order;
        let mut shown: Vec<&TranscriptRenyiRow> = found.renyi.iter().filter(|row| row.order == order).collect();
        order::sort(&mut shown, |a, b| b.exact_forward.0.total_cmp(&a.exact_forward.0));
        shown.truncate(SHOWN);
        let row = |row: &TranscriptRenyiRow| Row {
            label: row.replaced_by.map_or_else(
                || format!("member {}", row.member),
                |spare| format!("spare {spare} for member {}", row.member),
            ),
            values: vec![Some(row.exact_forward.0), Some(row.forward.0)],
            bands: vec![None, None],
            note: String::new(),
        };
        let figure = Rows {
            title: format!("What {} transcripts show of D of order {}", found.transcripts, short(order)),
            description: "All answers of the ensemble from those of the neighbor.".into(),
            x: Axis::linear("Rényi divergence in nats"),
            series: vec![
                RowSeries { name: "exact".into(), kind: SeriesKind::Exact },
                RowSeries { name: "lower bound".into(), kind: SeriesKind::Lower },
            ],
            bar: None,
            rows: shown.into_iter().map(row).collect(),
            sorted_by: None,
        };
        Some(figure.draw())
    }

    fn positions_figure(&self) -> Option<Drawing> {
        let order = self.renyi.first()?.order;
        let rows = self.leaking.iter().map(|row| Row {
            label: format!("position {}", row.position),
            values: vec![Some(row.divergence.0)],
            bands: vec![None],
            note: format!("member {}", row.member),
        });
        let rows: Vec<Row> = rows.collect();
        (!rows.is_empty()).then(|| {
            Rows {
                title: "Positions that leak most".into(),
                description: format!("The largest D of order {} of any member, in either direction.", short(order)),
                x: Axis::linear("Rényi divergence in nats"),
                series: vec![RowSeries { name: "exact".into(), kind: SeriesKind::Exact }],
                bar: None,
                rows,
                sorted_by: None,
            }
            .draw()
        })
    }
}

/// The row of the largest value for each key, in the order of the keys; the first of equal ones.
fn most_shown<T>(rows: Vec<&T>, key: impl Fn(&T) -> u64, value: impl Fn(&T) -> f64) -> Vec<&T> {
    let mut most: Vec<&T> = Vec::new();
    for row in rows {
        match most.iter_mut().find(|known| key(known) == key(row)) {
            None => most.push(row),
            Some(known) if value(row) > value(known) => *known = row,
            Some(_) => {}
        }
    }
    most
}

impl Render for TokensAnswer {
    fn sections(&self, form: Form) -> Vec<Section> {
        let [by_transcripts, members_by_transcripts] = self.transcript_sections(form);
        vec![
            self.renyi_section(form),
            self.accountant_section(),
            self.epsilon_section(),
            self.member_section(form),
            by_transcripts,
            members_by_transcripts,
            self.leaking_section(),
            self.planted_section(),
        ]
    }

    fn figures(&self) -> Vec<Drawing> {
        [self.growth(), self.transcripts_figure(), self.positions_figure()].into_iter().flatten().collect()
    }

    /// A row for each position and order.
    fn records(&self) -> Records<'_> {
        Records::of(self.rows.iter().flat_map(of_orders))
            .column("position", |row| row.0)
            .column("token", |row| row.1)
            .column("order", |row| row.2.0.get())
            .column("member", |row| row.2.1.owner)
            .column("replaced_by", |row| row.2.1.replaced_by)
            .column("direction", |row| row.2.2)
            .column("divergence", |row| row.2.3)
            .into()
    }
}

fn of_orders(
    position: &TokenPositionRow,
) -> impl Iterator<Item = (usize, Option<usize>, (Order, TokenNeighbor, Direction, f64))> + '_ {
    position.largest.iter().map(|largest| (position.position, position.token, *largest))
}

/// The replacement model.
fn of(replaced_by: Option<u64>) -> String {
    replaced_by.map_or_else(String::new, |spare| spare.to_string())
}

/// "16.36 to 16.37".
fn enclosed(epsilon: Option<[Number; 2]>) -> String {
    epsilon.map_or_else(String::new, |[lower, upper]| {
        format!("{} to {}", significant_below(lower.0, 4), significant_above(upper.0, 4))
    })
}
