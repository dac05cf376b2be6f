//! The library has users of the command, of Python and of Rust: what it says to them names no option of a command line.

use crate::source::{code, files, read, strings, test_lines};
use std::path::Path;

/// They write command lines, for those who want to run one.
const COMMANDS: [&str; 1] = ["src/study/verify/reproduce.rs"];

#[test]
fn the_library_names_no_option_of_the_command() {
    let root = Path::new(crate::ROOT);
    let (mut found, mut wrong) = (0, Vec::new());
    for path in files(&root.join("src")) {
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
        if !COMMANDS.contains(&name.as_str()) && !name.ends_with("tests.rs") {
            let text = read(&path);
            found += strings(&text).len();
            wrong.extend(options(&text).into_iter().map(|(line, string)| format!("{name}:{line}: {string}")));
        }
    }
    assert!(found > 10_000, "{found} strings");
    assert!(wrong.is_empty(), "these name options of the command:\n{}", wrong.join("\n"));
}

#[test]
fn options_in_strings_are_found() {
    let lines = |text: &str| options(text).into_iter().map(|(line, _)| line).collect::<Vec<_>>();
    let named = [
        "f(\"--flip\")",
        "f(\"add --flip to it\")",
        "f(\"flip (--flip)\")",
        "f(\"`leakbound exact` shows it\")",
        "f(r#\"set \"--flip\"\"#)",
        "f(\"set \\\n   --flip\")",
    ];
    for text in named {
        assert_eq!(lines(text), [1], "{text}");
    }
    let free = [
        "// --flip\nf(\"a -- b, well--known, 2 --2\")",
        "/// ```\n/// f(\"--flip\")\n/// ```",
        "f(a --b, '\"', 'x')",
        "#[cfg(test)]\nmod tests {\n    f(\"--flip\");\n}",
        "#[cfg(all(test, unix))]\nconst OPTION: &str = \"--flip\";",
    ];
    for text in free {
        assert_eq!(lines(text), [0; 0], "{text}");
    }
    assert_eq!(lines("#[cfg(test)]\nmod tests;\n\nf(\"one\",\n\"--two\")"), [5]);
}

/// The strings of a text, outside of its tests, that name an option or a command, with their lines.
fn options(text: &str) -> Vec<(usize, String)> {
    let tests = test_lines(&code(text));
    let named = |string: &str| {
        string.contains("`leakbound ")
            || string.match_indices("--").any(|(at, _)| {
                !string[..at].ends_with(|before: char| before.is_alphanumeric() || before == '-')
                    && string[at + 2..].starts_with(|after: char| after.is_ascii_lowercase())
            })
    };
    let mut found = strings(text);
    found.retain(|(line, string)| named(string) && !tests.iter().any(|lines| lines.contains(line)));
    found
}
