//! The sources of this repository, for tests about them.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// Words, `::` and single other characters.
pub fn tokens(code: &str) -> Vec<&str> {
    let word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if word(first) {
            rest.find(|letter| !word(letter)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

/// The text without comments, strings and characters; every line keeps its number.
pub fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    for (_, piece, skipped) in pieces(text) {
        if skipped {
            code.push(' ');
            code.extend(piece.chars().filter(|&letter| letter == '\n'));
        } else {
            code.push_str(piece);
        }
    }
    code
}

/// The strings outside of comments, with the lines that they begin on; one that goes on in the next line is whole.
pub fn strings(text: &str) -> Vec<(usize, String)> {
    let inside = |piece: &str| -> String {
        let string = piece.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"'));
        let mut lines = string.map_or("", |(string, _)| string).split("\\\n");
        let first = lines.next().unwrap_or_default().to_owned();
        lines.fold(first, |string, line| string + line.trim_start())
    };
    let literals = pieces(text).filter(|(_, piece, skipped)| *skipped && !piece.starts_with(['/', '\'']));
    literals.map(|(line, piece, _)| (line, inside(piece))).collect()
}

/// The lines of items that are there for tests alone, counted from 1, in a text without comments and strings.
pub fn test_lines(code: &str) -> Vec<RangeInclusive<usize>> {
    let items = code.match_indices("#[cfg(").filter(|(at, _)| {
        let condition = &code[at + "#[cfg(".len()..];
        condition.starts_with("test)") || condition.starts_with("all(test")
    });
    let item = |(start, _): (usize, &str)| {
        let mut open = 0;
        let end = code[start..].find(|letter| {
            open += i32::from("{[(".contains(letter)) - i32::from("}])".contains(letter));
            open == 0 && (letter == '}' || letter == ';')
        });
        let line = |at: usize| 1 + code[..at].matches('\n').count();
        line(start)..=line(end.map_or(code.len(), |end| start + end))
    };
    items.map(item).collect()
}

/// What a text consists of: its comments, strings and characters, and the letters between them, each with its line.
fn pieces(text: &str) -> impl Iterator<Item = (usize, &str, bool)> {
    let (mut at, mut line) = (0, 1);
    std::iter::from_fn(move || {
        let first = text[at..].chars().next()?;
        let inside_word = text[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        let skipped = literal(&text[at..], inside_word);
        let piece = &text[at..at + if skipped == 0 { first.len_utf8() } else { skipped }];
        let begun = line;
        line += piece.matches('\n').count();
        at += piece.len();
        Some((begun, piece, skipped > 0))
    })
}

/// The length of the comment, string or character that `rest` starts with; 0 if it starts with none.
fn literal(rest: &str, inside_word: bool) -> usize {
    let through = |from: usize, end: &str| rest[from..].find(end).map_or(rest.len(), |at| from + at + end.len());
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        let (mut at, mut open) = (2, 1);
        while open > 0 && at < rest.len() {
            let marks = [rest[at..].starts_with("/*"), rest[at..].starts_with("*/")];
            open = open + usize::from(marks[0]) - usize::from(marks[1]);
            at += if marks[0] || marks[1] { 2 } else { rest[at..].chars().next().map_or(1, char::len_utf8) };
        }
        return at;
    }
    let raw = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r')).filter(|_| !inside_word);
    if let Some(after) = raw {
        let hashes = after.len() - after.trim_start_matches('#').len();
        if after[hashes..].starts_with('"') {
            return through(rest.len() - after.len() + hashes + 1, &format!("\"{}", "#".repeat(hashes)));
        }
    }
    if let Some(after) = rest.strip_prefix('"') {
        let mut escaped = false;
        let end = after.find(|letter| {
            let closes = letter == '"' && !escaped;
            escaped = letter == '\\' && !escaped;
            closes
        });
        return end.map_or(rest.len(), |at| at + 2);
    }
    // A quote starts a character or a lifetime; a character is closed after one letter or one escape.
    match rest.strip_prefix('\'').map(|after| after.chars().take(2).collect::<Vec<_>>()).as_deref() {
        Some(['\\', _]) => through(3, "'"),
        Some([letter, '\'']) => 2 + letter.len_utf8(),
        _ => 0,
    }
}

/// All Rust files below a folder, sorted, build outputs left out; none if it does not exist.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries
        .flat_map(|path| match path.is_dir() {
            true if path.ends_with("target") => Vec::new(),
            true => self::files(&path),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    files.sort();
    files
}

pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
