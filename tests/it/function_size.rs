//! Functions can be read at once: at most 80 lines, at most 6 parameters.

use crate::source::{code, files, read};
use std::path::Path;

const MOST_LINES: usize = 80;
const MOST_PARAMETERS: usize = 6;

#[test]
fn functions_are_short_and_have_few_parameters() {
    let root = Path::new(crate::ROOT);
    let folders =
        ["src", "cli", "train", "tests", "benches", "examples", "validation", "xtask", "python", "fft", "fuzz/src"];
    let sources = folders.iter().flat_map(|folder| files(&root.join(folder)));
    let (mut found, mut wrong) = (0, Vec::new());
    for path in sources {
        for Function { name, lines, parameters } in functions(&code(&read(&path))) {
            found += 1;
            if lines > MOST_LINES || parameters > MOST_PARAMETERS {
                let file = path.strip_prefix(root).unwrap().display();
                wrong.push(format!("{file}: {name} has {lines} lines and {parameters} parameters"));
            }
        }
    }
    assert!(found > 5000, "{found} functions");
    assert!(wrong.is_empty(), "more than {MOST_LINES} lines or {MOST_PARAMETERS} parameters:\n{}", wrong.join("\n"));
}

#[test]
fn lines_and_parameters_are_counted() {
    let sizes = |text: &str| -> Vec<(String, usize, usize)> {
        functions(&code(text)).into_iter().map(|found| (found.name, found.lines, found.parameters)).collect()
    };
    let one = |name: &str, lines, parameters| vec![(name.to_owned(), lines, parameters)];
    assert_eq!(sizes("fn f() {}"), one("f", 1, 0));
    assert_eq!(sizes("fn f(\n    a: u8,\n    b: u8,\n) {\n    // }\n    \"}\n\";\n}\n}"), one("f", 8, 2));
    assert_eq!(sizes("fn f<'a, T: Fn(u8, u8) -> u8>(&self, (a, b): (T, &'a T), c: [u8; 2]) -> u8;"), one("f", 1, 3));
    assert_eq!(
        sizes("fn f(a: BTreeMap<u8, Vec<u8>>, b: impl Fn(u8) -> Option<(u8, u8)>) where u8: Copy {}"),
        one("f", 1, 2)
    );
    assert_eq!(sizes("fn f(a in 0..3, (b, c) in (0..3, 1 << 4..4), d: bool) {\n}"), one("f", 2, 3));
    assert_eq!(sizes("type F = fn(u8, u8) -> u8; static G: &dyn Fn(u8) = &|_| ();"), []);
    let nested = [one("f", 4, 0), one("g", 2, 1)].concat();
    assert_eq!(sizes("fn f() {\n    fn g(a: u8) {\n    }\n}"), nested);
}

struct Function {
    name: String,
    /// From the name to the last brace.
    lines: usize,
    parameters: usize,
}

/// All functions of a text without comments and strings, those inside others too.
fn functions(code: &str) -> Vec<Function> {
    let word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let starts = code.match_indices("fn ").filter(|(at, _)| !code[..*at].ends_with(word));
    let function = |(start, _): (usize, &str)| {
        let after = &code[start + 3..];
        let name = &after[..after.find(|letter| !word(letter))?];
        let rest = &after[name.len()..];
        let generics = if rest.starts_with('<') { closing(rest, true)? } else { 0 };
        let list = rest[generics..].strip_prefix('(').filter(|_| !name.is_empty())?;
        let end = closing(&rest[generics..], true)?;
        let body = &rest[generics + end..];
        // A declaration in a trait ends without a body.
        let ends = |&(depth, _, letter): &(i32, usize, char)| letter == '{' || depth == 0 && letter == ';';
        let (_, open, letter) = brackets(body, false).find(ends)?;
        let length = if letter == '{' { open + closing(&body[open..], false)? } else { open };
        let whole = &code[start..code.len() - body[length..].len()];
        let parameters = parameters(&list[..end - 2]);
        Some(Function { name: name.to_owned(), lines: whole.lines().count(), parameters })
    };
    starts.filter_map(function).collect()
}

/// Parameters of a list, whose last one may end with a comma.
fn parameters(list: &str) -> usize {
    let (mut count, mut rest) = (0, list.trim());
    while !rest.is_empty() {
        count += 1;
        let end = brackets(rest, true).find(|&(depth, _, letter)| depth == 0 && letter == ',');
        rest = end.map_or("", |(_, at, _)| rest[at + 1..].trim());
    }
    count
}

/// The place after the bracket that closes the first one.
fn closing(text: &str, angles: bool) -> Option<usize> {
    brackets(text, angles).find(|&(depth, ..)| depth == 0).map(|(_, at, _)| at + 1)
}

/// Each letter, with how many brackets are open after it and its place. Angles are brackets where types are, and only
/// there; arrows and shifts are none.
fn brackets(text: &str, angles: bool) -> impl Iterator<Item = (i32, usize, char)> {
    let (mut depth, mut before) = (0, ' ');
    text.char_indices().map(move |(at, letter)| {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '<' if angles && before != '<' && !text[at + 1..].starts_with([' ', '<']) => depth += 1,
            '>' if angles && !matches!(before, ' ' | '-' | '=') => depth -= 1,
            _ => {}
        }
        before = letter;
        (depth, at, letter)
    })
}
