//! Results as one self-contained HTML page: no script, no network, readable in print and in the dark.

mod account;
mod bench;
mod counts;
mod exact;
mod meaning;
mod membership;
mod scores;
mod simulate;
mod verify;
mod votes;

use super::envelope::Envelope;
use super::figure::{Drawing, shortened, visible};
use super::table::TextTable;
use crate::study::{Claim, Warning, short, significant};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;

/// A result as a page with figures.
#[derive(Debug, Clone)]
pub struct Page {
    /// Headline.
    title: String,
    /// Lines below it.
    lead: Vec<String>,
    claims: Vec<Claim>,
    figures: Vec<Drawing>,
    tables: Vec<PageTable>,
    /// What the numbers mean, a paragraph each.
    meaning: Vec<String>,
    /// None where a document has no page of its own.
    envelope: Option<Envelope>,
    /// The text of a document without a page of its own.
    text: String,
}

/// A table with what is said about it.
#[derive(Debug, Clone)]
struct PageTable {
    title: String,
    table: TextTable,
    note: String,
}

/// Longer tables are folded.
const LONG_TABLE: usize = 30;

/// Tables with more columns are set smaller in print.
const WIDE_TABLE: usize = 10;

/// Characters of a cell; the JSON has all of them.
const LONG_CELL: usize = 400;

const STYLE: &str = include_str!("style.css");

impl Page {
    /// The text of a document in a page.
    pub(super) fn of_text(text: &str) -> Self {
        let mut lines = text.lines();
        let title = lines.next().unwrap_or_default().to_owned();
        Self {
            title,
            lead: Vec::new(),
            claims: Vec::new(),
            figures: Vec::new(),
            tables: Vec::new(),
            meaning: Vec::new(),
            envelope: None,
            text: lines.map(|line| visible(line) + "\n").collect(),
        }
    }

    /// A page for a document: headline and lines below it.
    fn new(envelope: &Envelope, title: &str) -> Self {
        let mut lines = title.lines();
        let title = lines.next().unwrap_or_default().to_owned();
        let lead = lines.filter(|line| !line.is_empty()).map(str::to_owned).collect();
        Self { title, lead, envelope: Some(envelope.clone()), ..Self::of_text("") }
    }

    fn table(&mut self, title: impl Into<String>, table: TextTable, note: impl Into<String>) {
        if !table.rows.is_empty() {
            self.tables.push(PageTable { title: title.into(), table, note: note.into() });
        }
    }

    /// The figures, each as an SVG file of its own.
    #[must_use]
    pub fn figures(&self) -> Vec<String> {
        self.figures.iter().map(Drawing::svg).collect()
    }

    /// The page: HTML that is well-formed XML too.
    #[must_use]
    pub fn html(&self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    (PreEscaped("<meta charset=\"utf-8\"/><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/><meta name=\"color-scheme\" content=\"light dark\"/>"))
                    title { (shortened(&self.title, 200)) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    header {
                        p.brand { "leakbound" @if let Some(envelope) = &self.envelope { " " (envelope.version) } }
                        h1 { (shortened(&self.title, 400)) }
                        @for line in &self.lead { p.lead { (shortened(line, 400)) } }
                    }
                    main {
                        (self.links())
                        (claims(&self.claims))
                        @if let Some(envelope) = &self.envelope { (warnings(&envelope.warnings)) }
                        @if !self.figures.is_empty() {
                            section id="figures" {
                                h2 { "Figures" }
                                @for (index, figure) in self.figures.iter().enumerate() {
                                    figure {
                                        (figure.inline(&format!("figure-{}", index + 1)))
                                        @if !figure.caption.is_empty() { figcaption { (shortened(&figure.caption, 1000)) } }
                                    }
                                }
                            }
                        }
                        @if !self.tables.is_empty() {
                            section id="tables" {
                                h2 { "Tables" }
                                @for table in &self.tables { (table.html()) }
                            }
                        }
                        @if !self.text.is_empty() { pre { (self.text) } }
                        @if !self.meaning.is_empty() {
                            section id="meaning" {
                                h2 { "What these numbers mean" }
                                @for paragraph in &self.meaning { p { (paragraph) } }
                            }
                        }
                        @if let Some(envelope) = &self.envelope { (provenance(envelope)) }
                    }
                }
            }
        };
        page.into_string() + "\n"
    }
}

impl Page {
    /// To the parts of a page that has many.
    fn links(&self) -> Markup {
        let parts = [
            ("figures", "Figures", !self.figures.is_empty()),
            ("tables", "Tables", !self.tables.is_empty()),
            ("meaning", "What these numbers mean", !self.meaning.is_empty()),
            ("provenance", "Inputs and options", self.envelope.is_some()),
        ];
        let parts: Vec<_> = parts.into_iter().filter(|part| part.2).collect();
        html! {
            @if parts.len() > 1 {
                nav { @for (id, name, _) in parts { a href={ "#" (id) } { (name) } } }
            }
        }
    }
}

impl PageTable {
    fn html(&self) -> Markup {
        let rows = self.table.rows.len();
        html! {
            @if rows > LONG_TABLE {
                details {
                    summary { h3 { (self.title) } span.count { (rows) " rows" } }
                    (self.table.html())
                    @if !self.note.is_empty() { p.note { (self.note) } }
                }
            } @else {
                div.table {
                    h3 { (self.title) }
                    (self.table.html())
                    @if !self.note.is_empty() { p.note { (self.note) } }
                }
            }
        }
    }
}

impl TextTable {
    fn html(&self) -> Markup {
        let class = |column: usize| self.words.contains(&column).then_some("word");
        html! {
            div class=(if self.header.len() > WIDE_TABLE { "scroll wide" } else { "scroll" }) {
                table {
                    thead { tr { @for (column, name) in self.header.iter().enumerate() { th class=[class(column)] scope="col" { (shortened(name, LONG_CELL)) } } } }
                    tbody {
                        @for row in &self.rows {
                            tr { @for (column, cell) in row.iter().enumerate() { td class=[class(column)] { (shortened(cell, LONG_CELL)) } } }
                        }
                    }
                }
            }
        }
    }
}

fn claims(claims: &[Claim]) -> Markup {
    html! {
        @if !claims.is_empty() {
            section id="claims" {
                h2 { "Claims" }
                @for claim in claims {
                    div class=(if claim.refuted { "claim refuted" } else { "claim" }) {
                        p {
                            strong { (if claim.refuted { "Refuted" } else { "Not refuted" }) ": " }
                            (visible(&claim.claim))
                        }
                        p {
                            "The value is at least " (significant(claim.lower.0, 6))
                            @if !claim.query.is_empty() { " (query " (shortened(&claim.query, LONG_CELL)) ")" }
                            @if claim.failure_probability > 0.0 {
                                ", unless an event of probability " (short(claim.failure_probability))
                                " (" (meaning::one_in(claim.failure_probability)) ") happened"
                            }
                            "."
                            @if !claim.refuted { " This does not show that the claim is true." }
                        }
                    }
                }
            }
        }
    }
}

fn warnings(warnings: &[Warning]) -> Markup {
    html! {
        @if !warnings.is_empty() {
            section id="warnings" {
                h2 { "Warnings" }
                ul {
                    @for warning in warnings {
                        li { (shortened(&warning.message, 1000)) span.hint { "Hint: " (shortened(&warning.hint, 1000)) } }
                    }
                }
            }
        }
    }
}

/// What the result was computed from.
fn provenance(envelope: &Envelope) -> Markup {
    html! {
        section id="provenance" {
            h2 { "Inputs and options" }
            @if !envelope.inputs.is_empty() {
                div.scroll {
                    table {
                        thead { tr { th.word scope="col" { "input" } th scope="col" { "bytes" } th.word scope="col" { "SHA-256" } } }
                        tbody {
                            @for input in &envelope.inputs {
                                tr {
                                    td.word { (shortened(&input.path.to_string_lossy(), LONG_CELL)) }
                                    td { (grouped(input.bytes)) }
                                    td.word { code { (input.sha256) } }
                                }
                            }
                        }
                    }
                }
            }
            dl {
                @for (name, value) in options(&envelope.options) { dt { (name) } dd { (shortened(&value, 400)) } }
                // A scenario may bring a seed of its own.
                @if envelope.options.get("seed").and_then(Value::as_u64) != Some(envelope.seed) {
                    dt { "seed used" } dd { (envelope.seed) }
                }
                dt { "program" } dd { "leakbound " (envelope.version) }
                dt { "form" } dd { (envelope.schema) }
            }
            p.note { "The same inputs, options, seed and version give the same numbers, on any number of threads. The form json has every digit." }
        }
    }
}

/// Options that have a value, by their names on the command line.
fn options(value: &Value) -> Vec<(String, String)> {
    let Value::Object(options) = value else { return Vec::new() };
    let given = options.iter().filter(|(_, value)| !value.is_null() && **value != Value::Array(Vec::new()));
    given.map(|(name, value)| (name.replace('_', "-"), words(value))).collect()
}

/// An option's value.
fn words(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::Bool(value) => if *value { "yes" } else { "no" }.into(),
        Value::Number(number) if number.is_f64() => number.as_f64().map_or_else(String::new, short),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(values) => {
            range(values).unwrap_or_else(|| values.iter().map(words).collect::<Vec<_>>().join(", "))
        }
        Value::Object(_) => value.to_string(),
    }
}

/// `2..64` for every whole number between them.
fn range(values: &[Value]) -> Option<String> {
    let numbers: Vec<f64> = values.iter().map(Value::as_f64).collect::<Option<_>>()?;
    let steps = numbers.len() > 3 && numbers.windows(2).all(|pair| pair[1] == pair[0] + 1.0);
    steps.then(|| format!("{}..{}", short(numbers[0]), short(numbers[numbers.len() - 1])))
}

/// Digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let (head, tail) = digits.split_at(first);
    let groups = tail.as_bytes().chunks(3).map(|group| String::from_utf8_lossy(group).into_owned());
    let head = (!head.is_empty()).then(|| head.to_owned());
    head.into_iter().chain(groups).collect::<Vec<_>>().join(" ")
}
