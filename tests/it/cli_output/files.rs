//! Where results go, and what stands beside the commands: help, completions, the manual.

use super::{COUNTS, EXACT, FASHION, command, stdout};
use std::fs;

#[test]
fn a_file_holds_what_stdout_would() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("result");
    for format in ["text", "json", "csv"] {
        let arguments = format!("{EXACT} --format {format}");
        let file = command(&arguments).arg("--output").arg(&path).output().unwrap();
        assert_eq!((file.status.code(), &*file.stdout, &*file.stderr), (Some(0), &b""[..], &b""[..]));
        let written = fs::read_to_string(&path).unwrap();
        if format == "json" {
            // The options tell where the result went.
            assert_eq!(written.lines().count(), stdout(&arguments).lines().count());
        } else {
            assert_eq!(written, stdout(&arguments));
        }
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_failure_leaves_the_old_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("result");
    fs::write(&path, "old").unwrap();
    for arguments in [
        "audit counts no/such/file.csv",
        "audit votes validation/data/counts.csv --model pate --noise gaussian:1",
        "exact --histogram 5 --worst-neighbor moved --noise gaussian:1",
    ] {
        let output = command(arguments).arg("--output").arg(&path).output().unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{arguments}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old", "{arguments}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{arguments}");
    }
    let output = command(EXACT).arg("--output").arg(path.join("inside")).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "a file is no folder");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
}

/// Root may write anywhere; then there is nothing to see.
#[cfg(unix)]
#[test]
fn a_folder_that_may_not_be_written_to_is_left_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("result");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let writable = fs::write(folder.path().join("probe"), "").is_ok();
    let output = command(EXACT).arg("--output").arg(&path).output().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    if !writable {
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    }
}

#[test]
fn every_help_holds_an_example_that_runs() {
    for command in ["exact", "audit counts", "audit confusion", "audit votes", "schema", "completions", "man"] {
        let help = stdout(&format!("{command} --help"));
        let (_, example) = help.split_once("Example:\n").unwrap_or_else(|| panic!("{command}: {help}"));
        let words = example.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = words.strip_prefix("leakbound ").unwrap_or_else(|| panic!("{example}"));
        assert!(words.starts_with(command), "{example}");
        let words = words.split(" > ").next().unwrap();
        let words = words.replace("fashion_votes.npz", FASHION).replace("counts.csv", COUNTS).replace("1e6", "1e3");
        assert!(!stdout(&words).is_empty(), "{words}");
    }
    assert!(stdout("--help").contains("Commands:"));
    assert!(stdout("audit --help").contains("confusion"));
    assert_eq!(stdout("--version"), format!("leakbound {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_and_manual_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&format!("completions {shell}"));
        assert!(
            ["exact", "audit", "worst-neighbor", "pilot-fraction"].iter().all(|word| script.contains(word)),
            "{shell}"
        );
    }
    let page = stdout("man");
    assert!(page.contains(".TH leakbound 1") && page.contains(".SH SYNOPSIS") && page.contains("audit"), "{page}");
}

#[test]
fn schemas_are_those_of_the_commands_that_were_asked_for() {
    let read = |words: &str| serde_json::from_str::<serde_json::Value>(&stdout(words)).unwrap();
    let audits = read("schema audit");
    let names: Vec<&str> =
        audits["commands"].as_array().unwrap().iter().map(|row| row["command"].as_str().unwrap()).collect();
    assert_eq!(names, ["audit counts", "audit confusion", "audit scores", "audit votes", "audit stream"]);
    let exact = &read("schema exact")["commands"][0];
    let option =
        |name: &str| exact["options"].as_array().unwrap().iter().find(|row| row["name"] == name).cloned().unwrap();
    assert_eq!(option("worst_neighbor")["choices"], serde_json::json!(["moved", "added", "removed"]));
    assert_eq!(option("worst_neighbor")["option"], "--worst-neighbor");
    assert_eq!(option("delta")["default"], "1e-5");
    assert_eq!(option("delta")["kind"], "number");
    assert_eq!(option("neighbor")["excludes"], serde_json::json!(["worst_neighbor"]));
    assert_eq!(exact["document"]["properties"]["distribution_error"]["$ref"], "#/$defs/Number");
    let rejected = command("schema nonsense").output().unwrap();
    assert_eq!(rejected.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&rejected.stderr).contains("there is no command `nonsense`"));
}

/// As with `| head -1`: the reader has gone before anything is written.
#[test]
fn a_closed_stdout_is_no_panic() {
    for arguments in [EXACT, "schema exact", "man", "completions bash", "--help", "exact --help", "nonsense"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_leakbound"));
        child.args(arguments.split_whitespace()).stdout(writer.try_clone().unwrap());
        let output = child.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!stderr.contains("panicked"), "{arguments}: {stderr}");
        assert_eq!(output.status.code(), Some(if arguments == "nonsense" { 2 } else { 0 }), "{arguments}");
        let closed = child.stderr(writer).status().unwrap();
        assert_eq!(closed.code(), output.status.code(), "{arguments}");
    }
}
