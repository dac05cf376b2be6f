//! The sources of this repository, for tests about them.

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
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = literal(rest, code.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_'));
        if skipped == 0 {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            code.push(' ');
            code.extend(rest[..skipped].chars().filter(|&letter| letter == '\n'));
            rest = &rest[skipped..];
        }
    }
    code
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
