//! Where results go, and what stands beside the commands: help, completions, the manual.

use super::{COUNTS, EXACT, FASHION, stdout};
use crate::desk::{Desk, Ran, rows_of, says};
use crate::json::{row, texts};
use std::fs;

#[test]
fn a_file_holds_what_stdout_would() {
    let desk = Desk::new();
    for format in ["text", "json", "csv"] {
        let words = format!("{EXACT} --format {format}");
        assert_eq!(desk.stdout(&format!("{words} --output result")), "");
        let written = desk.text("result");
        if format == "json" {
            // The options tell where the result went.
            assert_eq!(written.lines().count(), stdout(&words).lines().count());
        } else {
            assert_eq!(written, stdout(&words));
        }
    }
    assert_eq!(desk.names(), ["result"]);
}

#[test]
fn a_failure_leaves_the_old_result() {
    let desk = Desk::new();
    desk.file("result", "old");
    fs::copy(Desk::root().path(COUNTS), desk.path("counts.csv")).unwrap();
    for words in [
        "audit counts no/such/file.csv",
        "audit votes counts.csv --model pate --noise gaussian:1",
        "exact --histogram 5 --worst-neighbor moved --noise gaussian:1",
    ] {
        desk.failed(&format!("{words} --output result"));
        assert_eq!(desk.text("result"), "old", "{words}");
        assert_eq!(desk.names(), ["counts.csv", "result"], "{words}");
    }
    desk.rejected(1, &format!("{EXACT} --output result/inside"));
    assert_eq!(desk.text("result"), "old");
}

/// Root may write anywhere; then there is nothing to see.
#[cfg(unix)]
#[test]
fn a_folder_that_may_not_be_written_to_is_left_alone() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    desk.file("result", "old");
    let allow = |mode: u32| fs::set_permissions(desk.path(""), fs::Permissions::from_mode(mode)).unwrap();
    allow(0o555);
    let writable = fs::write(desk.path("probe"), "").is_ok();
    let ran = desk.run(&format!("{EXACT} --output result"));
    allow(0o755);
    if !writable {
        ran.line(1);
        assert_eq!(desk.text("result"), "old");
    }
}

#[test]
fn every_help_holds_an_example_that_runs() {
    for command in rows_of("cli_output_files", "every_help_holds_an_example_that_runs").lines() {
        let help = stdout(&format!("{command} --help"));
        let examples = help.split_once("Example:\n").or_else(|| help.split_once("Examples:\n"));
        let (_, examples) = examples.unwrap_or_else(|| panic!("{command}: {help}"));
        let words = examples.split("\n\n").next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        let mut commands = words.split("leakbound ");
        assert_eq!(commands.next(), Some(""), "{examples}");
        for words in commands {
            assert!(words.starts_with(command), "{examples}");
            let words = words.split(" > ").next().unwrap();
            let words = words.replace("fashion_votes.npz", FASHION).replace("counts.csv", COUNTS).replace("1e6", "1e3");
            let words = shell_words::split(&words).unwrap();
            let ran = Desk::root().run(&words.iter().map(String::as_str).collect::<Vec<_>>());
            // Some claims are there to be refuted.
            assert!([0, 3].contains(&ran.status) && !ran.stdout.is_empty(), "{ran:?}");
        }
    }
    assert!(stdout("--help").contains("Commands:"));
    assert!(stdout("audit --help").contains("confusion"));
    assert_eq!(stdout("--version"), format!("leakbound {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_and_manual_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&format!("completions {shell}"));
        says(&script, &["exact", "audit", "worst-neighbor", "pilot-fraction"]);
    }
    // Names that our own parsers read are offered as clap's are.
    for (shell, names) in [
        (
            "bash",
            ["-W \"moved added removed shifted\"", "-W \"nat-advq pois-advq pois-natq\"", "-W \"auto all two-cut"],
        ),
        ("zsh", [":ADJACENCY:(moved added removed shifted)", ":(nat-advq pois-advq pois-natq)", ":(auto all two-cut"]),
        ("fish", ["-a \"moved\\t''", "-a \"nat-advq\\t''", "-a \"auto\\t''"]),
    ] {
        says(&stdout(&format!("completions {shell}")), &names);
    }
    let page = stdout("man");
    assert!(page.contains(".TH leakbound 1") && page.contains(".SH SYNOPSIS") && page.contains("audit"), "{page}");
}

#[test]
fn schemas_are_those_of_the_commands_that_were_asked_for() {
    let read = |words: &str| serde_json::from_str::<serde_json::Value>(&stdout(words)).unwrap();
    let audits = read("schema audit");
    assert_eq!(
        texts(&audits["commands"], "command"),
        [
            "audit counts",
            "audit confusion",
            "audit scores",
            "audit votes",
            "audit stream",
            "audit mechanism",
            "audit tokens"
        ]
    );
    let exact = &read("schema exact")["commands"][0];
    let option = |name: &str| row(&exact["options"], "name", name);
    assert_eq!(option("worst_neighbor")["choices"], serde_json::json!(["moved", "added", "removed", "shifted"]));
    assert_eq!(option("worst_neighbor")["option"], "--worst-neighbor");
    assert_eq!(option("delta")["default"], "1e-5");
    assert_eq!(option("delta")["kind"], "number");
    assert_eq!(option("neighbor")["excludes"], serde_json::json!(["worst_neighbor"]));
    assert_eq!(exact["document"]["properties"]["distribution_error"]["$ref"], "#/$defs/Number");
    let bench = &read("schema bench")["commands"][0];
    assert_eq!(bench["document"]["properties"]["rows"]["items"]["$ref"], "#/$defs/BenchRow");
    assert_eq!(bench["documents_with"]["--sweep"]["properties"]["rows"]["items"]["$ref"], "#/$defs/SweepRow");
    assert!(exact.get("documents_with").is_none());
    assert!(Desk::root().rejected(2, "schema nonsense").contains("unknown command `nonsense`"));
}

/// As with `| head -1`: the reader has gone before anything is written.
#[test]
fn a_closed_stdout_is_no_panic() {
    for arguments in [EXACT, "schema exact", "man", "completions bash", "--help", "exact --help", "nonsense"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Desk::root().command(arguments);
        let ran = Ran::of(command.stdout(writer.try_clone().unwrap()));
        assert!(!ran.stderr.contains("panicked"), "{ran:?}");
        assert_eq!(ran.status, if arguments == "nonsense" { 2 } else { 0 }, "{ran:?}");
        let closed = command.stderr(writer).status().unwrap();
        assert_eq!(closed.code(), Some(ran.status), "{arguments}");
    }
}
