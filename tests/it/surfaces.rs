//! What every command has in common: texts in the width of a terminal, short messages, CSV that spreadsheets may open.

use crate::desk::{Desk, Ran, Words, rows_of};
use leakbound::report::fit;
use std::collections::HashSet;

/// Runs as in a terminal of 40 columns, which none of these is.
fn run(desk: &Desk, words: &(impl Words + ?Sized)) -> Ran {
    Ran::of(desk.command(words).env("COLUMNS", "40"))
}

fn stdout(words: &str) -> String {
    let ran = run(&Desk::root(), words);
    let status = if ran.status == 3 { 3 } else { 0 };
    ran.printed(status)
}

#[test]
fn texts_fit_every_terminal_and_lose_nothing() {
    let mut wide = 0;
    for arguments in rows_of("surfaces", "texts_fit_every_terminal_and_lose_nothing").lines() {
        let whole = stdout(arguments);
        let longest = whole.lines().map(|line| line.chars().count()).max().unwrap();
        wide += usize::from(longest > 80);
        assert_eq!(fit(&whole, Some(longest)), whole, "{arguments}");
        for width in [120, 80, 60] {
            let fitted = fit(&whole, Some(width));
            let line = fitted.lines().max_by_key(|line| line.chars().count()).unwrap();
            assert!(line.chars().count() <= width, "{arguments} in {width}: {line}");
            let words: HashSet<&str> = fitted.split_whitespace().collect();
            let rule = |word: &str| word.starts_with('─');
            let lost: Vec<&str> =
                whole.split_whitespace().filter(|word| !rule(word) && !words.contains(word)).collect();
            // Words that are longer than a quarter of the line may have been broken.
            assert!(lost.iter().all(|word| word.chars().count() > width / 4), "{arguments} in {width}: {lost:?}");
        }
    }
    assert!(wide >= 5, "{wide} texts are wider than 80 columns");
}

#[test]
fn wide_tables_go_on_below_with_their_first_columns() {
    let text = stdout("audit counts validation/data/counts.csv --methods two-cut-corner");
    let table: String = text.lines().take(8).map(|line| line.to_owned() + "\n").collect();
    insta::assert_snapshot!(fit(&table, Some(72)));
}

/// A pipe is no terminal, whatever `COLUMNS` says.
#[test]
fn files_and_pipes_have_whole_lines() {
    let text = stdout("audit counts validation/data/counts.csv --methods all --resamples 200");
    assert!(text.lines().any(|line| line.chars().count() > 100), "{text}");
}

/// A value of any length, wherever it stands, is repeated to the 80th character at most; a path to the 160th.
#[test]
fn messages_repeat_little_of_what_they_are_about() {
    let desk = Desk::new();
    desk.file("a.csv", "outcome,count,count_neighbor\na,600,500\nb,400,500\n");
    let exact = ["exact", "--histogram", "5,3", "--neighbor", "4,4", "--noise"];
    for value in ["x".repeat(50_000), "ab cd ".repeat(5_000), format!("\u{1b}[31m{}", "é`\n".repeat(9_000))] {
        let value = value.as_str();
        let option = format!("--{value}");
        let key = format!("\"{}\" = 1\n", value.replace(['\u{1b}', '\n'], ""));
        desk.file("s.toml", key);
        let cell = value.replace('"', "");
        for (name, text) in [
            ("header.csv", format!("\"{cell}\",count\n1,2\n")),
            ("count.csv", format!("outcome,count,count_neighbor\na,\"{cell}\",1\n")),
            ("twice.csv", format!("outcome,count,count_neighbor\n\"{cell}\",1,1\n\"{cell}\",1,1\n")),
            ("key.json", serde_json::json!({ value: 1 }).to_string()),
            ("value.json", serde_json::json!([{"outcome": value, "count": value, "count_neighbor": 1}]).to_string()),
            ("distribution.csv", format!("outcome,p,q\n\"{cell}\",1,1\n")),
        ] {
            desk.file(name, text);
        }
        let cases: Vec<Vec<&str>> = vec![
            vec![value],
            vec!["audit", value],
            vec!["exact", &option],
            [&exact[..], &[value]].concat(),
            [&exact[..], &["gaussian:1", "--orders", value]].concat(),
            [&exact[..], &["gaussian:1", "--format", value]].concat(),
            [&exact[..], &["gaussian:1", value]].concat(),
            [&exact[..], &["gaussian:1", "--output", value]].concat(),
            vec!["audit", "counts", value],
            vec!["audit", "counts", "a.csv", "--methods", value],
            vec!["audit", "counts", "a.csv", "--composition", value],
            vec!["audit", "counts", "a.csv", "--distribution", "distribution.csv"],
            vec!["audit", "counts", "header.csv"],
            vec!["audit", "counts", "count.csv"],
            vec!["audit", "counts", "twice.csv"],
            vec!["audit", "counts", "key.json"],
            vec!["audit", "counts", "value.json"],
            vec!["audit", "votes", "v.npz", "--model", value, "--noise", "gaussian:1"],
            vec!["verify", "--accountant", value],
            vec!["verify", "--accountant", "gnmax-worst-case", "--property", value],
            vec!["verify", "--accountant", "gnmax-worst-case", "--case", value],
            vec!["membership", "lira", value],
            vec!["membership", "compare", "a.npz", "--attacks", value],
            vec!["simulate", "s.toml"],
            vec!["merge", value],
        ];
        for arguments in cases {
            let Ran { status, stdout, stderr, .. } = run(&desk, &arguments);
            let shown: Vec<String> = arguments.iter().map(|word| word.chars().take(20).collect()).collect();
            assert!(matches!(status, 1 | 2), "{shown:?}: {stderr}");
            let length = stderr.chars().count();
            assert!(stdout.is_empty() && length < 1_300, "{shown:?}: {length}");
            assert!(!stderr.contains('\u{1b}'), "{shown:?}: {stderr:?}");
            let repeated =
                if value.starts_with('x') { stderr.split(|c| c != 'x').map(str::len).max().unwrap() } else { 0 };
            let path = stderr.contains("cannot read") || stderr.contains("cannot write");
            assert!(repeated <= if path { 160 } else { 80 }, "{shown:?}: {stderr}");
        }
    }
}

#[test]
fn names_that_look_like_formulas_are_texts_in_csv() {
    let desk = Desk::new();
    let name = "=HYPERLINK(\"\"http://example.org\"\",\"\"look\"\")";
    let counts = format!(
        "outcome,count,count_neighbor,query\na,600,500,\"{name}\"\n-1,400,500,\"{name}\"\na,9,8,-1\nb,9,9,-1\n"
    );
    desk.file("a.csv", counts);
    let text = run(&desk, "audit counts a.csv --methods two-cut-corner --orders 2 --format csv").printed(0);
    let starts: HashSet<&str> = text.lines().skip(1).map(|line| &line[..4]).collect();
    assert_eq!(starts, HashSet::from(["\"'=H", "-1,r"]), "{text}");
}

/// What is written piece by piece is what is written at once.
#[test]
fn json_is_the_same_on_stdout_and_in_a_file() {
    let desk = Desk::new();
    let exact = "exact --histogram 5,3 --neighbor 4,4 --noise gaussian:1 --format json";
    let printed = run(&desk, exact).printed(0);
    assert_eq!(run(&desk, &format!("{exact} --output a.json")).printed(0), "");
    let written = desk.text("a.json");
    assert!(written.ends_with("}\n"));
    let without = |text: &str| text.lines().filter(|line| !line.contains("\"output\"")).collect::<Vec<_>>().join("\n");
    assert_eq!(without(&printed), without(&written));
}
