//! Texts of the command as texts of Python.

/// The longest line.
pub const WIDTH: usize = 120;

/// The names of options as those of parameters: `--claim-rdp` becomes `claim_rdp` in backquotes.
pub fn of_parameters(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("--") {
        let (before, after) = rest.split_at(at);
        let name: String =
            after[2..].chars().take_while(|letter| letter.is_ascii_lowercase() || *letter == '-').collect();
        let quoted = before.ends_with('`');
        out.push_str(before);
        if name.is_empty() {
            out.push_str("--");
        } else {
            let mark = if quoted { "" } else { "`" };
            out.push_str(&format!("{mark}{}{mark}", name.replace('-', "_")));
        }
        rest = &after[2 + name.len()..];
    }
    out + rest
}

/// The text with a capital at its start.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// One paragraph as a sentence: links of Rust's documentation as code, one line, a full stop.
pub fn sentence(text: &str) -> String {
    let text = text.split("\n\n").next().unwrap_or_default();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace("[`", "`").replace("`]", "`");
    if text.is_empty() || text.ends_with(['.', ':', '?']) { text } else { text + "." }
}

/// Lines of at most the width, with an indent, and a larger one after the first.
pub fn wrapped(text: &str, first: usize, more: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut line = " ".repeat(first);
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(std::mem::replace(&mut line, " ".repeat(more)));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    lines.push(line);
    lines.join("\n")
}

/// A docstring of one paragraph.
pub fn docstring(text: &str, indent: usize) -> String {
    let pad = " ".repeat(indent);
    let one = format!("{pad}\"\"\"{text}\"\"\"");
    if one.chars().count() <= WIDTH {
        return one;
    }
    format!("{}\n{pad}\"\"\"", wrapped(&format!("\"\"\"{text}"), indent, indent))
}

/// Imports from a module of those of the names that the text uses, and nothing where it uses none.
pub fn import(module: &str, names: &[&str], text: &str) -> String {
    let used: Vec<&str> = names.iter().copied().filter(|name| has_word(text, name)).collect();
    if used.is_empty() {
        return String::new();
    }
    let line = format!("from {module} import {}\n", used.join(", "));
    if line.chars().count() <= WIDTH {
        return line;
    }
    format!("from {module} import (\n{})\n", used.iter().map(|name| format!("    {name},\n")).collect::<String>())
}

fn has_word(text: &str, word: &str) -> bool {
    let part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_parameters() {
        assert_eq!(of_parameters("implies --trade-off"), "implies `trade_off`");
        assert_eq!(of_parameters("`--flip` or -- none"), "`flip` or -- none");
    }

    #[test]
    fn imports_are_those_that_are_used() {
        assert_eq!(import("typing", &["Any", "Literal"], "x: Any"), "from typing import Any\n");
        assert_eq!(import("typing", &["Any"], "Anything"), "");
    }
}
