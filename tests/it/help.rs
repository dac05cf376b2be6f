//! What a help shows first: what a user needs first, on two screens.

use crate::desk::stdout;
use serde_json::Value;

/// Two screens of 40 lines.
const LINES: usize = 80;
/// Options before those that are rarely needed.
const OPTIONS: usize = 12;

/// The commands, as `schema` lists them, with the options that all of them share.
fn commands() -> Vec<(String, Vec<String>)> {
    let schema: Value = serde_json::from_str(&stdout("schema")).unwrap();
    let shared = |command: &Value| {
        let shared = command["options"].as_array().unwrap().iter().filter(|option| option["shared"] == true);
        shared.map(|option| option["option"].as_str().unwrap().to_owned()).collect()
    };
    let commands = schema["commands"].as_array().unwrap().iter();
    commands.map(|command| (command["command"].as_str().unwrap().to_owned(), shared(command))).collect()
}

/// The options of a part of a help, without those that every program has.
fn options(help: &str) -> Vec<&str> {
    let options = help.lines().filter_map(|line| line.strip_prefix("      --"));
    options.map(|option| option.split_whitespace().next().unwrap()).collect()
}

#[test]
fn every_help_begins_with_a_dozen_options_on_two_screens() {
    let commands = commands();
    assert!(commands.len() > 35, "{commands:?}");
    for (command, shared) in commands {
        let help = stdout(&format!("{command} --help"));
        let (first, advanced) = help.split_once("\nAdvanced:\n").unwrap_or_else(|| panic!("{command}: {help}"));
        assert!(first.lines().count() <= LINES, "{command}: {} lines before `Advanced`", first.lines().count());
        let shown = options(first);
        assert!(shown.len() <= OPTIONS, "{command}: {} options before `Advanced`: {shown:?}", shown.len());
        let (own, output) = first.split_once("\nOutput:\n").unwrap_or_else(|| panic!("{command}: {help}"));
        assert_eq!(options(output), ["format", "output", "report"], "{command}");
        let own = options(own);
        assert!(own.iter().all(|own| shared.iter().all(|shared| shared[2..] != **own)), "{command}: {own:?}");
        let advanced = options(advanced);
        let last: Vec<&str> = shared.iter().map(|shared| &shared[2..]).filter(|name| advanced.contains(name)).collect();
        assert!(advanced.ends_with(&last) && last.len() + 3 == shared.len(), "{command}: {advanced:?}");
    }
}

#[test]
fn the_short_help_leaves_out_what_is_rarely_needed() {
    let [short, long] = ["-h", "--help"].map(|help| stdout(&format!("audit mechanism {help}")));
    assert!(!short.contains("Advanced") && !short.contains("--answer-timeout"), "{short}");
    assert!(short.contains("--claim-epsilon <E>") && short.contains("see more with '--help'"), "{short}");
    assert!(long.contains("--answer-timeout <S>"), "{long}");
    let groups = |help: &str| -> Vec<String> {
        let heads = help.lines().filter(|line| !line.starts_with(' '));
        heads.filter_map(|line| line.strip_suffix(':')).map(str::to_owned).collect()
    };
    assert_eq!(groups(&long)[..4], ["Options", "Bounds", "Output", "Advanced"]);
}
