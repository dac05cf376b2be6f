//! What README.md and docs say is what the program does: every shown command prints the shown lines, every link leads
//! somewhere.

use crate::desk::Desk;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(crate::ROOT)
}

/// README.md and the pages in docs.
fn pages() -> Vec<PathBuf> {
    let docs = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> =
        docs.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect();
    pages.sort();
    pages.push(root().join("README.md"));
    pages
}

/// Fenced blocks with their languages.
fn blocks(markdown: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut lines = markdown.lines();
    while let Some(line) = lines.next() {
        let Some(language) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
        blocks.push((language.to_owned(), block.join("\n")));
    }
    blocks
}

/// Runs a command and holds each shown line against what it printed; `...` stands for lines that are left out.
fn prints(page: &Path, arguments: &str, shown: &str) {
    let words = shell_words::split(arguments).unwrap();
    let arguments: Vec<&str> = words.iter().map(String::as_str).collect();
    let ran = Desk::root().run(&arguments);
    let printed = ran.stdout + &ran.stderr;
    let mut rest = printed.lines().map(str::trim_end);
    for line in shown.lines().map(str::trim_end).filter(|line| !line.is_empty() && line.trim() != "...") {
        assert!(
            rest.any(|printed| printed == line),
            "{}: {arguments:?} does not print, in this place:\n{line}",
            page.display()
        );
    }
}

#[test]
fn shown_commands_print_what_is_shown() {
    let mut commands = 0;
    for page in pages() {
        let blocks = blocks(&std::fs::read_to_string(&page).unwrap());
        for (place, (language, block)) in blocks.iter().enumerate() {
            if let Some((arguments, shown)) =
                block.strip_prefix("$ leakbound ").and_then(|block| block.split_once('\n'))
            {
                prints(&page, arguments, shown);
                commands += 1;
            }
            // The first command of README.md, whose output is the next block.
            if let Some(arguments) = block.strip_prefix("cargo run --release -- ").filter(|_| language == "sh") {
                prints(&page, arguments, &blocks[place + 1].1);
                commands += 1;
            }
        }
    }
    assert!(commands >= 5, "{commands}");
}

#[test]
fn links_lead_somewhere() {
    let mut links = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.starts_with("http") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            assert!(anchor.is_empty(), "{}: {target} has an anchor, which nothing checks", page.display());
            assert!(page.parent().unwrap().join(file).exists(), "{}: {target}", page.display());
            links += 1;
        }
    }
    assert!(links > 30, "{links}");
}

#[test]
fn the_readme_is_short() {
    let length = std::fs::metadata(root().join("README.md")).unwrap().len();
    assert!(length <= 12 << 10, "{length} bytes");
}
