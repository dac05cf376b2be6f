//! The text of a result: its sections one below the other, in lines of any length.

use super::content::Content;
use super::fit::RULE;
use super::section::{Body, Section, Table};
use crate::study::{Claim, Warning, rounded_up, significant_below};
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, LineStyle};
use unicode_width::UnicodeWidthStr;

/// Title, sections, claims and warnings, with an empty line after each of them.
pub(super) fn text(content: &Content) -> String {
    let mut text = paragraph(&content.title);
    text.extend(content.sections.iter().filter(|section| section.is_shown()).map(section));
    let claims: Vec<String> = content.claims.iter().map(|(claim, by)| self::claim(claim, *by)).collect();
    text += &paragraph(&claims.join("\n"));
    let warning = |warning: &Warning| format!("warning: {} (hint: {})\n", warning.message, warning.hint);
    text.extend(content.envelope.warnings.iter().map(warning));
    text
}

fn paragraph(lines: &str) -> String {
    if lines.is_empty() { String::new() } else { format!("{lines}\n\n") }
}

fn section(section: &Section) -> String {
    let notes = paragraph(&section.notes.join("\n"));
    let Some(body) = &section.body else { return notes };
    let heading = if section.heading.is_empty() { String::new() } else { format!("{}\n", section.heading) };
    let body = match body {
        Body::Table(table) => format!("{}\n", self::table(table)),
        Body::Facts(facts) => format!("{}\n", self::facts(facts)),
        Body::Lines(lines) => lines.clone(),
    };
    heading + &body + &notes
}

/// The table, each line without trailing spaces; [`fit`](super::fit::fit) brings it into the width of a terminal.
pub(super) fn table(table: &Table) -> String {
    let mut text = comfy_table::Table::new();
    text.load_style(NOTHING.header_separator(LineStyle::none().fill(RULE).junction(RULE)));
    text.set_header(table.columns.iter().map(|column| &column.name));
    text.add_rows((0..table.rows()).map(|row| table.columns.iter().map(move |column| &column.cells[row])));
    for (column, laid_out) in table.columns.iter().zip(text.column_iter_mut()) {
        laid_out.set_cell_alignment(if column.words { CellAlignment::Left } else { CellAlignment::Right });
        laid_out.set_padding((0, 2));
    }
    text.lines().map(|line| format!("  {}\n", line.trim_end())).collect()
}

fn facts(facts: &[(String, String)]) -> String {
    let width = facts.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
    facts.iter().map(|(name, value)| format!("  {name}{}  {value}\n", " ".repeat(width - name.width()))).collect()
}

fn claim(claim: &Claim, refuted_by: Option<&str>) -> String {
    let by = refuted_by.map_or_else(String::new, |by| format!(" by {by}"));
    let verdict = if claim.refuted { format!("REFUTED{by}") } else { "not refuted".into() };
    // A test that bounds nothing has no number to show; a bound of 0 means the same.
    let shown = match claim.lower.0 {
        0.0 => "no lower bound above 0".into(),
        lower => format!("at least {}", significant_below(lower, 6)),
    };
    let mut text = format!("claim {}: {verdict} ({shown}", claim.claim);
    if !claim.query.is_empty() {
        text += &format!(", query {}", claim.query);
    }
    if claim.failure_probability > 0.0 {
        text += &format!(", wrong with probability at most {}", rounded_up(claim.failure_probability));
    }
    text + ")"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Envelope, Page};

    fn content() -> Content {
        let envelope = Envelope {
            schema: "leakbound.test/1",
            command: "test".into(),
            version: "0",
            inputs: Vec::new(),
            options: serde_json::Value::Null,
            seed: 0,
            warnings: vec![Warning { code: "test", message: "few".into(), hint: "more".into() }],
        };
        let table =
            || Table::of([("ä", Some(0.25)), ("字", None)]).words("query", |row| row.0).number("D", 3, |row| row.1);
        let sections = vec![
            Section::new("Bounds").heading("Bounds, at least").table(table()).notes(["a note"]),
            Section::new("Nothing").table(Table::of([0; 0]).exact("n", |row| *row)).notes(["lost"]),
            Section::new("Facts").facts(vec![("case".into(), "<1>".into()), ("n".into(), "2".into())]),
            Section::new("Lines").heading("").lines("a\n\u{9b}b\n".into()),
        ];
        Content::new(&envelope, "Title\nsecond line", sections)
    }

    #[test]
    fn columns_are_aligned_and_a_table_without_rows_is_left_out() {
        let expected = "Title\nsecond line\n\nBounds, at least\n  query       D\n  ───────────────\n  ä       0.250\n  字\n\na note\n\n\
                        Facts\n  case  <1>\n  n     2\n\na\n\u{9b}b\nwarning: few (hint: more)\n";
        assert_eq!(text(&content()), expected);
    }

    #[test]
    fn the_page_is_made_of_the_same_parts() {
        let page = Page::new(content()).html();
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        let page = roxmltree::Document::parse_with_options(&page, options).unwrap();
        let texts = |name: &str| -> Vec<&str> {
            page.descendants().filter(|node| node.has_tag_name(name)).filter_map(|node| node.text()).collect()
        };
        assert_eq!(texts("h3"), ["Bounds", "Facts", "Lines"]);
        assert_eq!((texts("th"), texts("td")), (vec!["query", "D"], vec!["ä", "0.250", "字"]));
        assert_eq!(texts("p")[2..4], ["Bounds, at least", "a note"]);
        assert!(texts("dd").contains(&"<1>"));
    }
}
