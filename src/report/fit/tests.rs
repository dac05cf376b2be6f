use super::*;
use crate::report::table::TextTable;

/// A title, a table like those of an audit, a line right below it, and a warning.
fn text() -> String {
    let mut table =
        TextTable::new(&["query", "method", "direction", "α = 2", "α = 4", "α = 8", "validity"], &[0, 1, 2]);
    for query in ["first", "the second query"] {
        for direction in ["forward", "reverse"] {
            let cells = [query, "k-cut-region", direction, "3.8609e-4", "7.6475e-4", "0.0014972", "finite-sample"];
            table.row(cells.map(str::to_owned).to_vec());
        }
    }
    format!(
        "Audit of votes.npz (2 queries); forward is D(P‖Q) with P the column count\n\n{}\n  leakage certified in 2 of \
         2 queries\n\nwarning: {}\n",
        table.text().trim_end(),
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
    let mut table = TextTable::new(&["", "naïve", ""], &[0, 2]);
    table.row(vec!["字字字".into(), String::new(), "e\u{301}e\u{301}".into()]);
    table.row(vec!["a b".into(), "1".into(), "x".repeat(30)]);
    let fitted = fit(&table.text(), Some(24));
    assert!(fitted.lines().all(|line| line.width() <= 24), "{fitted}");
    assert_eq!(words(&fitted).matches("e\u{301}e\u{301}").count(), 1, "{fitted}");
    assert_eq!(words(&fitted).matches('x').count(), 30, "{fitted}");
}
