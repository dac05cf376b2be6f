//! Running other programs: each is printed before it runs and named when it fails; none may read standard input.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Success, or one line that names what failed.
pub type Outcome = Result<(), String>;

/// The repository's root.
pub fn root() -> PathBuf {
    let xtask = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from("xtask"), PathBuf::from);
    xtask.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// The text of a file of the repository.
pub fn text(file: &str) -> Result<String, String> {
    std::fs::read_to_string(root().join(file)).map_err(|error| format!("{file}: {error}"))
}

/// A program that starts in the repository's root.
pub fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// The cargo that runs this program.
pub fn cargo<const N: usize>(arguments: [&str; N]) -> Command {
    let mut command = program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    with_state_of_builds(&mut command);
    command.args(arguments);
    command
}

/// Where nobody has compiled the library step by step, as on a machine that is thrown away afterwards, nothing is kept
/// for the next time either: that takes a fifth of the time of a first build.
pub fn with_state_of_builds(command: &mut Command) {
    if std::env::var_os("CARGO_INCREMENTAL").is_none() && !has_state_of("leakbound-") {
        command.env("CARGO_INCREMENTAL", "0");
    }
}

/// Whether an earlier build of a crate of such a name left what the next one begins with.
fn has_state_of(prefix: &str) -> bool {
    let Ok(states) = std::fs::read_dir(root().join("target/debug/incremental")) else { return false };
    states.flatten().any(|state| state.file_name().to_string_lossy().starts_with(prefix))
}

/// Runs a command with its output visible.
pub fn run_visibly(command: &mut Command) -> Outcome {
    announce(command);
    let status = command.status().map_err(|error| failure(command, &error))?;
    if status.success() { Ok(()) } else { Err(failure(command, &status)) }
}

/// Runs a command and shows its standard output only if it fails.
pub fn run_quietly(command: &mut Command) -> Outcome {
    announce(command);
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| failure(command, &error))?;
    if output.status.success() {
        return Ok(());
    }
    eprint!("{}", String::from_utf8_lossy(&output.stdout));
    Err(failure(command, &output.status))
}

/// The standard output of a command that must succeed; its other output is shown only if it fails.
pub fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| failure(command, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    Err(failure(command, &output.status))
}

/// Prints the command as one would type it.
pub fn announce(command: &Command) {
    println!("$ {}", describe(command));
}

/// The line that names a failed command.
pub fn failure(command: &Command, reason: &dyn std::fmt::Display) -> String {
    format!("`{}`: {reason}", describe(command))
}

/// The command as one would type it: variables, program without its folder, arguments.
fn describe(command: &Command) -> String {
    let quote = |text: &OsStr| {
        let text = text.to_string_lossy();
        let plain =
            !text.is_empty() && !text.contains(|letter: char| letter.is_whitespace() || "'\"$`;&|".contains(letter));
        if plain { text.into_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
    };
    let variables = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let program = Path::new(command.get_program());
    let program = program.strip_prefix(root()).unwrap_or(program);
    let cargo = program.file_stem().is_some_and(|name| name == "cargo");
    variables
        .map(|(name, value)| format!("{}={}", name.to_string_lossy(), quote(value)))
        .chain([if cargo { "cargo".into() } else { quote(program.as_os_str()) }])
        .chain(command.get_args().map(quote))
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_shown_as_typed() {
        let mut command = Command::new("/somewhere/bin/cargo");
        command.env("RUSTDOCFLAGS", "-D warnings").args(["doc", "--no-deps", "it's"]);
        assert_eq!(describe(&command), r"RUSTDOCFLAGS='-D warnings' cargo doc --no-deps 'it'\''s'");
    }

    #[test]
    fn failures_name_the_command() {
        let message = run_visibly(program("sh").args(["-c", "exit 3"])).unwrap_err();
        assert_eq!(message, "`sh -c 'exit 3'`: exit status: 3");
        let message = run_visibly(&mut program("no-such-program")).unwrap_err();
        assert!(message.starts_with("`no-such-program`: "), "{message}");
    }
}
