use super::*;
use crate::report::section::Table as Cells;
use crate::report::text::table as written;

/// A title, a table like those of an audit, a line right below it, and a warning.
fn text() -> String {
    let rows =
        ["first", "the second query"].into_iter().flat_map(|query| ["forward", "reverse"].map(|way| (query, way)));
    let table = Cells::of(rows)
        .words("query", |row| row.0)
        .words("method", |_| "k-cut-region")
        .words("direction", |row| row.1)
        .exact("α = 2", |_| "3.8609e-4")
        .exact("α = 4", |_| "7.6475e-4")
        .exact("α = 8", |_| "0.0014972")
        .exact("validity", |_| "finite-sample");
    format!(
        "Audit of votes.npz (2 queries); forward is D(P‖Q) with P the column count\n\n{}\n  leakage certified in 2 of \
         2 queries\n\nwarning: {}\n",
        written(&table.into()).trim_end(),
        "0123456789".repeat(9)
    )
}

fn words(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace() && *character != RULE).collect()
}

#[test]
fn no_line_is_wider_and_nothing_is_lost() {
    let whole = text();
    for width in 0..140 {
        let fitted = fit(&whole, Some(width));
        assert!(fitted.lines().all(|line| line.width() <= width.max(NARROWEST)), "{width}\n{fitted}");
        // Keys are repeated, everything else is there once.
        for cell in ["certified", "3.8609e-4", "7.6475e-4", "0.0014972"] {
            let all = words(&fitted).matches(cell).count();
            assert_eq!(all, words(&whole).matches(cell).count(), "{width}: {cell}\n{fitted}");
        }
    }
    assert_eq!(fit(&whole, Some(139)), whole);
    assert_eq!(fit(&whole, None), whole);
}

#[test]
fn cells_that_are_empty_wide_or_marked_stay_in_their_columns() {
    let long = "x".repeat(30);
    let rows = [("字字字", "", "e\u{301}e\u{301}"), ("a b", "1", &long)];
    let table = Cells::of(rows).words("", |row| row.0).exact("naïve", |row| row.1).words("", |row| row.2);
    let fitted = fit(&written(&table.into()), Some(24));
    assert!(fitted.lines().all(|line| line.width() <= 24), "{fitted}");
    assert_eq!(words(&fitted).matches("e\u{301}e\u{301}").count(), 1, "{fitted}");
    assert_eq!(words(&fitted).matches('x').count(), 30, "{fitted}");
}
