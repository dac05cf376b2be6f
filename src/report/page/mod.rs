//! Results as one self-contained HTML page: no script, no network, readable in print and in the dark.

use super::content::Content;
use super::envelope::Envelope;
use super::figure::{Drawing, shortened, visible};
use super::meaning::one_in;
use super::section::{Body, Column, Section, Table};
use crate::study::{Claim, Warning, rounded_up, short, significant_below};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;

/// A result as a page with figures.
#[derive(Debug, Clone)]
pub struct Page {
    content: Content,
}

/// Longer tables are folded.
const LONG_TABLE: usize = 30;

/// Tables with more columns are set smaller in print.
const WIDE_TABLE: usize = 10;

/// Characters of a cell; the JSON has all of them.
const LONG_CELL: usize = 400;

const STYLE: &str = include_str!("style.css");

/// Characters of a title, and of a paragraph.
const LONG_TITLE: usize = 400;
const LONG_NOTE: usize = 3000;

impl Page {
    pub(super) fn new(mut content: Content) -> Self {
        content.sections.retain(Section::is_shown);
        Self { content }
    }

    /// The figures, each as a separate SVG file.
    #[must_use]
    pub fn figures(&self) -> Vec<String> {
        self.content.figures.iter().map(Drawing::svg).collect()
    }

    /// The page: HTML that is also well-formed XML.
    #[must_use]
    pub fn html(&self) -> String {
        let Content { envelope, title, sections, claims, figures, meaning } = &self.content;
        let mut lines = title.lines().filter(|line| !line.is_empty());
        let headline = lines.next().unwrap_or_default();
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    (PreEscaped("<meta charset=\"utf-8\"/><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/><meta name=\"color-scheme\" content=\"light dark\"/>"))
                    title { (shortened(headline, 200)) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    header {
                        p.brand { "leakbound " (envelope.version) }
                        h1 { (shortened(headline, LONG_TITLE)) }
                        @for line in lines { p.lead { (shortened(line, LONG_TITLE)) } }
                    }
                    main {
                        (self.links())
                        (self::claims(claims))
                        (warnings(&envelope.warnings))
                        @if !figures.is_empty() {
                            section id="figures" {
                                h2 { "Figures" }
                                @for (index, figure) in figures.iter().enumerate() {
                                    figure {
                                        (figure.inline(&format!("figure-{}", index + 1)))
                                        @if !figure.caption.is_empty() { figcaption { (shortened(&figure.caption, 1000)) } }
                                    }
                                }
                            }
                        }
                        @if !sections.is_empty() {
                            section id="tables" {
                                h2 { "Tables" }
                                @for section in sections { (self::section(section)) }
                            }
                        }
                        @if !meaning.is_empty() {
                            section id="meaning" {
                                h2 { "What these numbers mean" }
                                @for paragraph in meaning { p { (paragraph) } }
                            }
                        }
                        (provenance(envelope))
                    }
                }
            }
        };
        page.into_string() + "\n"
    }

    /// To the parts of the page.
    fn links(&self) -> Markup {
        let parts = [
            ("figures", "Figures", !self.content.figures.is_empty()),
            ("tables", "Tables", !self.content.sections.is_empty()),
            ("meaning", "What these numbers mean", !self.content.meaning.is_empty()),
            ("provenance", "Inputs and options", true),
        ];
        html! { nav { @for (id, name, _) in parts.iter().filter(|part| part.2) { a href={ "#" (id) } { (name) } } } }
    }
}

fn section(section: &Section) -> Markup {
    let title = shortened(&section.title, LONG_TITLE);
    let rows = if let Some(Body::Table(table)) = &section.body { table.rows() } else { 0 };
    // Where text has a sentence above the table, a page has it below.
    let heading = (section.heading != section.title).then_some(&section.heading);
    let notes = heading.into_iter().chain(&section.notes).filter(|note| !note.is_empty());
    let inner = html! {
        @match &section.body {
            None => {}
            Some(Body::Table(table)) => (self::table(table)),
            Some(Body::Facts(facts)) => (self::facts(facts)),
            Some(Body::Lines(lines)) => pre { @for line in lines.lines() { (visible(line)) "\n" } },
        }
        @for note in notes { p.note { (shortened(note, LONG_NOTE)) } }
    };
    html! {
        @if rows > LONG_TABLE {
            details {
                summary { h3 { (title) } span.count { (rows) " rows" } }
                (inner)
            }
        } @else {
            div.table {
                @if !title.is_empty() { h3 { (title) } }
                (inner)
            }
        }
    }
}

fn table(table: &Table) -> Markup {
    let class = |column: &Column| column.words.then_some("word");
    html! {
        div class=(if table.columns.len() > WIDE_TABLE { "scroll wide" } else { "scroll" }) {
            table {
                thead { tr { @for column in &table.columns { th class=[class(column)] scope="col" { (shortened(&column.name, LONG_CELL)) } } } }
                tbody {
                    @for row in 0..table.rows() {
                        tr { @for column in &table.columns { td class=[class(column)] { (shortened(&column.cells[row], LONG_CELL)) } } }
                    }
                }
            }
        }
    }
}

fn facts(facts: &[(String, String)]) -> Markup {
    html! {
        dl { @for (name, value) in facts { dt { (shortened(name, LONG_CELL)) } dd { (shortened(value, LONG_NOTE)) } } }
    }
}

fn claims(claims: &[(Claim, Option<&str>)]) -> Markup {
    html! {
        @if !claims.is_empty() {
            section id="claims" {
                h2 { "Claims" }
                @for (claim, refuted_by) in claims {
                    div class=(if claim.refuted { "claim refuted" } else { "claim" }) {
                        p {
                            strong { (if claim.refuted { "Refuted" } else { "Not refuted" }) ": " }
                            (visible(&claim.claim))
                        }
                        p {
                            @if claim.lower.0 == 0.0 {
                                "There is no lower bound above 0"
                            } @else {
                                "The value is at least " (significant_below(claim.lower.0, 6))
                            }
                            @if !claim.query.is_empty() { " (query " (shortened(&claim.query, LONG_CELL)) ")" }
                            @if claim.failure_probability > 0.0 {
                                ", unless an event of probability " (rounded_up(claim.failure_probability))
                                " (" (one_in(claim.failure_probability)) ") happened"
                            }
                            "."
                            @if let Some(by) = refuted_by { " It is refuted by " (by) "." }
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
    let inputs = Table::of(&envelope.inputs)
        .words("input", |input| input.path.to_string_lossy())
        .exact("bytes", |input| grouped(input.bytes))
        .words("SHA-256", |input| &input.sha256);
    html! {
        section id="provenance" {
            h2 { "Inputs and options" }
            @if !envelope.inputs.is_empty() { (table(&inputs.into())) }
            dl {
                @for (name, value) in options(&envelope.options) { dt { (name) } dd { (shortened(&value, 400)) } }
                // A scenario may bring its own seed.
                @if envelope.options.get("seed").and_then(Value::as_u64) != Some(envelope.seed) {
                    dt { "seed used" } dd { (envelope.seed) }
                }
                dt { "program" } dd { "leakbound " (envelope.version) }
                dt { "form" } dd { (envelope.schema) }
            }
            p.note { "The same inputs, options, seed and version give the same numbers, on any number of threads. The JSON document has every digit." }
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
