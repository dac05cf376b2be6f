//! Plain English: phrases that do not come back into pages, comments and messages.

use crate::source::{code, files, read, strings, test_lines};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Phrases, and what to write instead.
const PHRASES: &[(&str, &str)] = &[
    ("again and again", "repeatedly"),
    ("anew", "again"),
    ("are no", "are not"),
    ("are none", "are not any of them"),
    ("at hand", "given"),
    ("at once", "simultaneously, of bounds; immediately, of time"),
    ("beside", "next to, with"),
    ("came about", "arose"),
    ("detour", "directly"),
    ("for certain", "certainly"),
    ("goes on", "continues"),
    ("held against", "compared with"),
    ("in the place of", "instead of"),
    ("is no", "is not a"),
    ("is none", "is not one of them"),
    ("keeps to", "meets"),
    ("no proof", "not a proof"),
    ("overrules", "overrides"),
    ("right claim", "correct claim"),
    ("right mechanism", "correct mechanism"),
    ("right program", "correct program"),
    ("says", "shows, states, lists"),
    ("so many", "this many, the number of"),
    ("stands in", "appears in"),
    ("the other way round", "the reverse"),
    ("whoever", "anyone who"),
];

/// Right English that contains one of them.
const RIGHT: &[&str] = &[
    "are no further",
    "are no longer",
    "is no further",
    "is no guarantee",
    "is no larger",
    "is no longer",
    "is no wider",
    "there are no",
    "there are none",
    "there is no",
    "there is none",
];

#[test]
fn pages_and_comments_are_free_of_the_listed_phrases() {
    let root = Path::new(crate::ROOT);
    let mut pages = vec![root.join("README.md"), root.join("python/README.md")];
    pages_of(&root.join("docs"), &mut pages);
    assert!(pages.len() > 30, "{} pages", pages.len());
    let mut found = String::new();
    pages.iter().for_each(|path| check(path, &page(&read(path)), &mut found));
    for folder in ["src", "cli", "train"] {
        files(&root.join(folder)).iter().for_each(|path| check(path, &comments(&read(path)), &mut found));
    }
    assert!(found.is_empty(), "{found}");
}

#[test]
fn messages_are_free_of_the_listed_phrases() {
    let root = Path::new(crate::ROOT);
    let (mut strings, mut found) = (0, String::new());
    for folder in ["src", "cli/src", "train/src"] {
        for path in files(&root.join(folder)).iter().filter(|path| !path.ends_with("tests.rs")) {
            let messages = messages(&read(path));
            strings += messages.matches(END).count();
            check(path, &messages, &mut found);
        }
    }
    assert!(strings > 3_000, "{strings} strings");
    assert!(found.is_empty(), "{found}");
}

#[test]
fn phrases_in_messages_are_found() {
    let places = |text: &str| {
        let mut found = String::new();
        check(Path::new("a"), &messages(text), &mut found);
        found.lines().map(|line| line.split(": ").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let bad = [
        "f(\"the audit goes on\")",
        "f(\"it goes \\\n    on\")",
        "f(r#\"it is none of \"them\"\"#)",
        "f(\"first\\nbeside it\")",
        "f(\"`{name}` is no number\")",
        "f(\"{rate:.1} %\")",
    ];
    for text in bad {
        assert_eq!(places(text), ["a:1"], "{text}");
    }
    let good = [
        "// goes on\nf(\"one\")",
        "f(\"it goes\", \"on\")",
        "f(\"there is no file\")",
        "f(\"the array `beside`\")",
        "f(\"{rate:.1}%\")",
        "#[cfg(test)]\nmod tests {\n    f(\"start anew\");\n}",
    ];
    for text in good {
        assert_eq!(places(text), [""; 0], "{text}");
    }
    assert_eq!(places("f(\"one\");\nf(\"two\", \"beside it\")"), ["a:2"]);
}

fn pages_of(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages_of(&path, pages);
        } else if path.extension().is_some_and(|kind| kind == "md") {
            pages.push(path);
        }
    }
}

/// The prose of a page, line by line: without code and HTML comments.
fn page(text: &str) -> String {
    let mut inside = false;
    let mut out = String::new();
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        out += if inside || fence || line.starts_with("<!--") { "" } else { line };
        out.push('\n');
    }
    without_code(&out)
}

/// The documentation comments of a source, line by line: without code.
fn comments(text: &str) -> String {
    let mut inside = false;
    let mut out = String::new();
    for line in text.lines() {
        let line = line.trim_start();
        let words = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).unwrap_or_default();
        let fence = words.trim_start().starts_with("```");
        inside ^= fence;
        out += if inside || fence { "" } else { words };
        out.push('\n');
    }
    without_code(&out)
}

/// What follows each message.
const END: &str = " | ";

/// The messages of a source, which are its strings outside of tests, on the lines that they begin on: without code.
fn messages(text: &str) -> String {
    let tests = test_lines(&code(text));
    let mut lines = vec![String::new(); text.lines().count() + 1];
    for (line, string) in strings(text) {
        // A single word is a name.
        if string.contains(' ') && !tests.iter().any(|lines| lines.contains(&line)) {
            let words = without_code(&with_numbers(&string.replace("\\n", " ").replace('\n', " ")));
            lines[line - 1] += &(words.trim_end().to_owned() + END);
        }
    }
    lines.join("\n")
}

/// The message with a number instead of each placeholder.
fn with_numbers(message: &str) -> String {
    let mut pieces = message.split('{');
    let first = pieces.next().unwrap_or_default().to_owned();
    let rest = |piece: &str| piece.split_once('}').map_or(piece, |(_, rest)| rest.trim_start_matches('}')).to_owned();
    pieces.fold(first, |text, piece| text + "5" + &rest(piece))
}

/// Every second piece between backquotes of a line is code.
fn without_code(text: &str) -> String {
    let prose = |line: &str| line.split('`').step_by(2).collect::<Vec<_>>().join("` `");
    text.lines().map(|line| prose(line) + "\n").collect()
}

fn check(path: &Path, prose: &str, found: &mut String) {
    for (number, line) in prose.lines().enumerate() {
        let words: Vec<&str> = line.split(|letter: char| !letter.is_alphanumeric() && letter != '%').collect();
        let spaced = format!(" {} ", words.join(" ").to_lowercase());
        let spaced = RIGHT.iter().fold(spaced, |text, right| text.replace(&format!(" {right} "), " "));
        let place = format!("{}:{}", path.display(), number + 1);
        for (phrase, better) in PHRASES.iter().filter(|(phrase, _)| spaced.contains(&format!(" {phrase} "))) {
            let _ = writeln!(found, "{place}: `{phrase}`; write: {better}");
        }
        let digit = |word: &str| word.chars().next_back().is_some_and(|letter| letter.is_ascii_digit());
        if words.windows(2).any(|pair| digit(pair[0]) && pair[1] == "%") {
            let _ = writeln!(found, "{place}: a space before %; write: 5%");
        }
    }
}
