//! The README's first command is a promise: it is run by the command that the tests built.

use crate::command::{self, Outcome};

/// Runs the first `sh` block of README.md in the repository's root. A release build would take longer than most steps.
pub fn run() -> Outcome {
    if !command::root().join("README.md").exists() {
        println!("there is no README.md yet");
        return Ok(());
    }
    let text = command::text("README.md")?;
    let script = first_sh_block(&text).ok_or("README.md has no ```sh block")?;
    let script = script.replace("cargo run --release -- ", "target/debug/leakbound ");
    command::run_quietly(command::program("sh").args(["-eu", "-c", &script]))
}

/// The lines of the first fenced block whose language is `sh`; none if it is empty or never closed.
fn first_sh_block(markdown: &str) -> Option<String> {
    let mut lines = markdown.lines();
    lines.find(|line| line.strip_prefix("```").and_then(|info| info.split_whitespace().next()) == Some("sh"))?;
    let mut block = Vec::new();
    for line in lines {
        if line.starts_with("```") {
            let script = block.join("\n");
            return (!script.trim().is_empty()).then_some(script);
        }
        block.push(line);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::first_sh_block;

    #[test]
    fn the_first_sh_block_is_found_among_others() {
        let markdown = "# t\n```text\nsh\n```\n```sh\ncargo run -- \\\n  exact\n```\n```sh\nfalse\n```\n";
        assert_eq!(first_sh_block(markdown).as_deref(), Some("cargo run -- \\\n  exact"));
    }

    #[test]
    fn attributes_after_the_language_are_allowed_and_other_languages_are_not() {
        assert_eq!(first_sh_block("```sh title=x\ntrue\n```").as_deref(), Some("true"));
        assert_eq!(first_sh_block("```shell\ntrue\n```"), None);
    }

    #[test]
    fn an_empty_or_open_block_is_no_command() {
        assert_eq!(first_sh_block("```sh\n\n```\n"), None);
        assert_eq!(first_sh_block("```sh\ntrue\n"), None);
        assert_eq!(first_sh_block("no block"), None);
    }
}
