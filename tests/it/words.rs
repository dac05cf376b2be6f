//! Plain English: phrases that do not come back into pages and comments.

use crate::source::{files, read};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Phrases, and what to write instead.
const PHRASES: &[(&str, &str)] = &[
    ("again and again", "repeatedly"),
    ("anew", "again"),
    ("at hand", "given"),
    ("at once", "simultaneously, of bounds; immediately, of time"),
    ("beside", "next to, with"),
    ("came about", "arose"),
    ("detour", "directly"),
    ("for certain", "certainly"),
    ("goes on", "continues"),
    ("held against", "compared with"),
    ("in the place of", "instead of"),
    ("keeps to", "meets"),
    ("no proof", "not a proof"),
    ("overrules", "overrides"),
    ("right claim", "correct claim"),
    ("right mechanism", "correct mechanism"),
    ("right program", "correct program"),
    ("says", "shows, states, lists"),
    ("so many", "this many, the number of"),
    ("the other way round", "the reverse"),
];

#[test]
fn pages_and_comments_are_free_of_the_listed_phrases() {
    let root = Path::new(crate::ROOT);
    let mut pages = vec![root.join("README.md"), root.join("python/README.md")];
    pages_of(&root.join("docs"), &mut pages);
    assert!(pages.len() > 30, "{} pages", pages.len());
    let mut found = String::new();
    pages.iter().for_each(|path| check(path, &page(&read(path)), &mut found));
    for folder in ["src", "cli"] {
        files(&root.join(folder)).iter().for_each(|path| check(path, &comments(&read(path)), &mut found));
    }
    assert!(found.is_empty(), "{found}");
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

/// Every second piece between backquotes of a line is code.
fn without_code(text: &str) -> String {
    let prose = |line: &str| line.split('`').step_by(2).collect::<Vec<_>>().join("` `");
    text.lines().map(|line| prose(line) + "\n").collect()
}

fn check(path: &Path, prose: &str, found: &mut String) {
    for (number, line) in prose.lines().enumerate() {
        let words: Vec<&str> = line.split(|letter: char| !letter.is_alphanumeric() && letter != '%').collect();
        let spaced = format!(" {} ", words.join(" ").to_lowercase());
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
