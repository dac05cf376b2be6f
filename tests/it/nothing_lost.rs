//! Whatever ends a run, outputs are counted once, results are whole or absent, and no process stays behind.

#![cfg(unix)]

use crate::congruence::Congruence;
use crate::desk::{Desk, PROGRAM, Ran, signal};
use crate::json::codes;
use crate::scenarios::PROMPT;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A script of the shell, in which `$LEAKBOUND` is the command.
fn shell(desk: &Desk, script: &str) -> Command {
    let mut command = Command::new("sh");
    command.current_dir(desk.path("")).env("LEAKBOUND", PROGRAM).args(["-c", script]).stdin(Stdio::null());
    command
}

/// Everything in the folder but what is named.
fn others(desk: &Desk, known: &[&str]) -> Vec<String> {
    desk.names().into_iter().filter(|name| !known.contains(&&**name)).collect()
}

/// So many outputs of two equal worlds, one after the other, by a fixed linear congruence.
fn outputs(count: usize, seed: u64) -> String {
    let mut congruence = Congruence(seed);
    let mut text = String::from("world,output\n");
    for row in 0..count {
        text += if row % 2 == 0 { "s," } else { "s_prime," };
        text += if congruence.draw() >> 63 == 0 { "yes\n" } else { "no\n" };
    }
    text
}

/// Waits as long as the slowest machine needs, and no longer: a test that hangs says nothing.
fn wait_until(mut what: impl FnMut() -> bool) {
    let start = Instant::now();
    while !what() {
        assert!(start.elapsed() < Duration::from_secs(600), "waited in vain");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn pairs(document: &Value) -> u64 {
    assert_eq!(document["outputs"], document["outputs_neighbor"]);
    document["pairs"].as_u64().unwrap()
}

#[test]
fn a_batch_is_counted_once() {
    let desk = Desk::new();
    desk.file("a.csv", outputs(600, 1));
    desk.file("b.csv", outputs(600, 2));
    let audit = "audit stream a.csv --state s --claim-rdp 2:0.001";
    assert_eq!(pairs(&desk.json(audit)), 300);
    let state = fs::read(desk.path("s")).unwrap();
    for _ in 0..3 {
        assert_eq!(
            desk.rejected(1, audit),
            format!(
                "a.csv: lines 1 to 601: found {} bytes that the state has counted already, as its batch 1, expected \
                 outputs that it has not counted; hint: --repeated skip counts only what follows them; --repeated count \
                 counts them again, as outputs of another recording that are the same by chance",
                outputs(600, 1).len()
            )
        );
    }
    // The name does not matter, nor where it comes from.
    fs::copy(desk.path("a.csv"), desk.path("copy.csv")).unwrap();
    desk.rejected(1, "audit stream copy.csv --state s --claim-rdp 2:0.001");
    Ran::of(&mut shell(&desk, "$LEAKBOUND audit stream - --state s --claim-rdp 2:0.001 < a.csv")).line(1);
    assert_eq!(fs::read(desk.path("s")).unwrap(), state);
    // Another batch is another batch, and those who mean it can count one again.
    assert_eq!(pairs(&desk.json("audit stream b.csv --state s --claim-rdp 2:0.001")), 600);
    assert_eq!(pairs(&desk.json(&format!("{audit} --repeated count"))), 900);
    assert_eq!(others(&desk, &["a.csv", "b.csv", "copy.csv", "s"]), Vec::<String>::new());
}

#[test]
fn a_file_that_has_grown_goes_on_where_it_was() {
    let desk = Desk::new();
    let all = outputs(40_000, 3);
    let end = |rows: usize| all.split_inclusive('\n').take(rows + 1).map(str::len).sum::<usize>();
    let whole = {
        desk.file("log", &all);
        desk.json("audit stream log")
    };
    // Longer than what is read at once, and shorter; with a wrong line in the end.
    for first in [100, 20_000] {
        let _ = fs::remove_file(desk.path("s"));
        desk.file("log", &all[..end(first)]);
        desk.json("audit stream log --state s");
        desk.file("log", &all);
        desk.is_rejected_as(1, "audit stream log --state s", &format!("log: lines 1 to {}: found ", first + 1));
        let grown = desk.json("audit stream log --state s --repeated skip");
        assert_eq!((&grown["bounds"], pairs(&grown)), (&whole["bounds"], 20_000));
        assert_eq!(codes(&grown), ["resumed"]);
        // Nothing new.
        assert_eq!(pairs(&desk.json("audit stream log --state s --repeated skip")), 20_000);
        // As much of it as there was before.
        desk.file("log", &all[..end(first)]);
        desk.rejected(1, "audit stream log --state s");
    }
    desk.file("log", all.replace("no\n", "yes\n"));
    let other = desk.json("audit stream log --state s");
    assert_eq!((pairs(&other), codes(&other)), (40_000, vec![]));
    // It begins alike and then differs, before the end of a batch that was counted.
    let mut lines: Vec<&str> = all.split_inclusive('\n').collect();
    (lines[1_001], lines[1_002]) = ("s,other\n", "s_prime,other\n");
    desk.file("log", lines.concat());
    let alike = desk.json("audit stream log --state s");
    assert_eq!((pairs(&alike), codes(&alike)), (60_000, vec!["similar-batch"]));
}

#[test]
fn a_line_that_was_counted_before_its_end_is_not_counted_as_another() {
    let desk = Desk::new();
    desk.file("log", "world,output\ns,a\ns_prime,ye");
    desk.json("audit stream log --state s");
    desk.file("log", "world,output\ns,a\ns_prime,yes\ns,b\n");
    assert_eq!(
        desk.rejected(1, "audit stream log --state s --repeated skip"),
        "log: line 3: found more of the last line that the state has counted, expected lines as they were counted; \
         hint: let an input end with a whole line"
    );
    desk.file("log", "world,output\ns,a\ns_prime,ye\ns,b\n");
    assert_eq!(desk.json("audit stream log --state s --repeated skip")["outputs"], 2);
}

#[test]
fn processes_on_one_state_take_turns() {
    let desk = Desk::new();
    let mut first = desk.start("audit stream - --state s --state-seconds 0 --format json");
    let all = outputs(4_000, 4);
    let (begin, end) = all.split_at(all.len() / 2);
    let mut stdin = first.stdin.take().unwrap();
    stdin.write_all(begin.as_bytes()).unwrap();
    // It saves while it holds the lock.
    wait_until(|| desk.path("s").exists());
    desk.file("b.csv", outputs(200, 5));
    let rejected = desk.run("audit stream b.csv --state s").line(1);
    let expected = "s: whole file: found a state that another process is changing, expected one process at a time; \
                    hint: wait until it has ended";
    assert_eq!(rejected, expected);
    stdin.write_all(end.as_bytes()).unwrap();
    drop(stdin);
    let document: Value = serde_json::from_slice(&first.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(pairs(&document), 2_000);
    // Several at once, each as often as it takes.
    std::thread::scope(|scope| {
        for seed in 10..14 {
            let desk = &desk;
            scope.spawn(move || {
                let name = format!("{seed}.csv");
                desk.file(&name, outputs(100, seed));
                let audit = format!("audit stream {name} --state s");
                wait_until(|| {
                    let ran = desk.run(&audit);
                    ran.status == 0 || !ran.line(1).contains("another process")
                });
            });
        }
    });
    assert_eq!(pairs(&desk.json("audit stream b.csv --state s")), 2_000 + 4 * 50 + 100);
}

/// A full disk at each of the places that are written, in turn: the retry counts every pair once.
#[test]
fn a_failing_write_loses_nothing() {
    let desk = Desk::new();
    desk.file("a.csv", outputs(400, 6));
    let ran = desk.run("audit stream a.csv --state s --format json --output /dev/full");
    assert!(ran.complaint(1).starts_with("/dev/full: cannot write: No space left"), "{ran:?}");
    assert_eq!(pairs(&serde_json::from_str(&ran.stdout).unwrap()), 200);
    let retried = desk.json("audit stream a.csv --state s");
    assert_eq!((pairs(&retried), codes(&retried)), (200, vec!["resumed"]));
    desk.rejected(1, "audit stream a.csv --state s");
    // A limit on the size of files: first the state cannot be written, then the result, then the page.
    let limited = "ulimit -f SIZE && exec $LEAKBOUND audit stream a.csv --state t --report page.html --output out.json \
                   --format json --orders 2,3,4,5,6,7,8";
    let retry = "audit stream a.csv --state t --orders 2,3,4,5,6,7,8";
    let mut failed = std::collections::BTreeSet::new();
    let sizes = std::iter::successors(Some(0u32), |size| Some(size + 1 + size / 4));
    for size in sizes {
        let ran = Ran::of(&mut shell(&desk, &limited.replace("SIZE", &size.to_string())));
        if ran.status == 0 {
            break;
        }
        let line = ran.complaint(1);
        assert!(line.contains(": cannot write: File too large"), "{line}");
        let place = line.split(':').next().unwrap();
        assert_eq!(ran.stdout.is_empty(), place != "out.json", "{ran:?}");
        failed.insert(place.to_owned());
        assert_eq!(pairs(&desk.json(retry)), 200);
        for name in ["t", "out.json", "page.html"] {
            let _ = fs::remove_file(desk.path(name));
        }
        assert_eq!(others(&desk, &["a.csv", "s"]), Vec::<String>::new());
    }
    assert!(failed.len() >= 2, "{failed:?}");
}

/// Killed at moments that a seed chooses, and repeated until it answers: every pair once, and the same bounds.
#[test]
fn a_killed_audit_goes_on() {
    const KILLS: usize = 6;
    let desk = Desk::new();
    desk.file("a.csv", outputs(60_000, 7));
    let whole = desk.json("audit stream a.csv");
    let mut congruence = Congruence(99);
    let mut resumed = 0;
    for round in 0..3 {
        let _ = fs::remove_file(desk.path("s"));
        // The first kill comes once there is a state, so that there is something to resume.
        let answer = (0..=KILLS).find_map(|attempt| {
            let mut child = desk.start("audit stream a.csv --state s --state-seconds 0 --format json");
            // In the end it is left alone, however slow the machine.
            if attempt < KILLS {
                wait_until(|| desk.path("s").exists() || child.try_wait().unwrap().is_some());
                std::thread::sleep(Duration::from_millis(congruence.draw() >> 57));
                let _ = child.kill();
            }
            let output = child.wait_with_output().unwrap();
            // Killed after its answer and before it could end, it has answered, and the state may know.
            let document: Option<Value> = serde_json::from_slice(&output.stdout).ok();
            println!("round {round}, run {attempt}: {}, {:?}", output.status, document.as_ref().map(codes));
            assert!(attempt < KILLS || document.is_some(), "{}", String::from_utf8_lossy(&output.stderr));
            document
        });
        let document = answer.unwrap();
        resumed += usize::from(codes(&document) == ["resumed"]);
        assert_eq!((&document["bounds"], pairs(&document)), (&whole["bounds"], 30_000));
        // A run that was killed while it noted its answer leaves at most what it was writing.
        let left = others(&desk, &["a.csv", "s", ".s.lock"]);
        assert!(left.len() <= 1, "{left:?}");
    }
    assert!(resumed > 0);
}

/// A reading that is ended with what it has counted is no new batch when the same input comes again.
#[test]
fn an_interrupted_input_may_come_again_whole() {
    let desk = Desk::new();
    let all = outputs(2_000, 8);
    let (begin, _) = all.split_at(all.len() / 2);
    let mut child = desk.start("audit stream - --state s --state-seconds 0");
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(begin.as_bytes()).unwrap();
    wait_until(|| desk.path("s").exists());
    signal(&child, "-TERM");
    let line = Ran::from(child.wait_with_output().unwrap()).line(143);
    drop(stdin);
    assert!(line.starts_with("s: cannot complete: interrupted after line "), "{line}");
    desk.file("a.csv", &all);
    let document = desk.json("audit stream a.csv --state s");
    assert_eq!((&document["bounds"], pairs(&document)), (&desk.json("audit stream a.csv")["bounds"], 1_000));
    assert_eq!(codes(&document), ["resumed"]);
}

#[test]
fn a_checkpoint_that_cannot_be_written_loses_no_result() {
    let desk = Desk::new();
    desk.file("s.toml", PROMPT);
    let simulate = "simulate s.toml --samples 3e5 --checkpoint c --checkpoint-seconds 0";
    let ran = Ran::of(&mut shell(&desk, &format!("ulimit -f 0 && exec $LEAKBOUND {simulate} --format json")));
    assert_eq!(ran.status, 1, "{ran:?}");
    let lines: Vec<&str> = ran.stderr.lines().collect();
    let (last, before) = lines.split_last().unwrap();
    assert!(last.starts_with("error: c: cannot write: File too large"), "{ran:?}");
    assert!(before.len() <= 1, "{ran:?}");
    for line in before {
        assert!(line.starts_with("warning: c: cannot write: File too large") && line.contains("continues"), "{line}");
    }
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(document["queries"], desk.json(simulate)["queries"]);
    assert_eq!(others(&desk, &["s.toml", "c"]), Vec::<String>::new());
}

/// Threads take none of the memory that the work needs, where the address space is limited.
#[cfg(target_os = "linux")]
#[test]
fn a_limited_address_space_means_fewer_threads() {
    let desk = Desk::new();
    let exact = "exact --histogram 14,12,10 --neighbor 13,13,10 --noise gaussian:2 --orders 2,10 --threads 200";
    let whole = desk.json(exact)["divergences"].clone();
    let limited =
        |limit: u64, words: &str| shell(&desk, &format!("ulimit -v {limit} && exec $LEAKBOUND {words} --format json"));
    // What the command itself takes is hundreds of megabytes where it is built with libtorch, which crashes on less.
    let starts = |limit: &u64| {
        let one = "exact --histogram 2,1 --neighbor 1,2 --noise gaussian:2 --threads 1";
        limited(*limit, one).output().unwrap().status.success()
    };
    let least = (20_000u64..4_000_000).step_by(20_000).find(starts).unwrap();
    for more in [20_000, 60_000, 100_000, 200_000, 240_000, 400_000, 900_000, 1_900_000] {
        let limit = least + more;
        let ran = Ran::of(&mut limited(limit, exact));
        let lines: Vec<&str> = ran.stderr.lines().collect();
        assert!(lines.len() <= 1 && matches!(ran.status, 0 | 1), "{limit}: {ran:?}");
        if ran.status == 0 {
            let document: Value = serde_json::from_str(&ran.stdout).unwrap();
            assert_eq!(document["divergences"], whole, "{limit}");
        }
        if (200_000..=400_000).contains(&more) {
            let said = "of 200 threads: the address space has ";
            let warned = lines[0].starts_with("warning: working on ") && lines[0].contains(said);
            assert!(ran.status == 0 && warned, "{ran:?}");
        }
    }
}

/// An audit of a count with noise, and its claim, as words of the shell.
fn noisy_count(more: &str) -> String {
    let program = format!("'python3 {}/examples/noisy_count.py 1.5'", crate::ROOT);
    format!(
        "audit mechanism --program {program} --dataset '[1, 1, 1]' --relation add-remove --claim-epsilon 1 --delta 0 \
         --runs 2e4 --shrink-runs 2000 --format json {more}"
    )
}

/// A disk that is full from the start leaves nothing; one that fills loses no answer, and what was kept of it goes on.
#[test]
fn an_audit_outlives_its_checkpoint() {
    let desk = Desk::new();
    let run =
        |limit: &str, more: &str| Ran::of(&mut shell(&desk, &format!("{limit} exec $LEAKBOUND {}", noisy_count(more))));
    let whole = run("", "").json(3);
    let line = run("ulimit -f 0;", "--checkpoint c").line(1);
    assert!(line.starts_with("c: cannot write: File too large"), "{line}");
    assert_eq!(others(&desk, &[]), Vec::<String>::new());
    let mut warned = 0;
    for blocks in [1, 8, 40] {
        let ran = run(&format!("ulimit -f {blocks};"), "--checkpoint c");
        assert_eq!(ran.status, 3, "{ran:?}");
        warned += ran.stderr.lines().count();
        assert!(ran.stderr.lines().all(|line| line.starts_with("warning: c: cannot write: File too large")), "{ran:?}");
        let found: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((&found["bounds"], &found["counterexample"]), (&whole["bounds"], &whole["counterexample"]));
        assert_eq!(codes(&found).contains(&"checkpoint-not-whole"), !ran.stderr.is_empty());
        let resumed = run("", "--checkpoint c --resume").json(3);
        assert_eq!((&resumed["bounds"], &resumed["runs"]), (&whole["bounds"], &whole["runs"]));
        fs::remove_file(desk.path("c")).unwrap();
    }
    assert!(warned >= 2, "{warned}");
}

/// A counterexample that cannot be written refutes as any other.
#[test]
fn a_counterexample_that_cannot_be_saved_is_found_all_the_same() {
    let desk = Desk::new();
    let audit = noisy_count("--save-counterexample case.json");
    let ran = Ran::of(&mut shell(&desk, &format!("ulimit -f 0 && exec $LEAKBOUND {audit}")));
    assert_eq!(ran.status, 3, "{ran:?}");
    assert!(ran.stderr.starts_with("warning: case.json: cannot write: File too large"), "{ran:?}");
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(codes(&found), ["counterexample-not-saved"]);
    assert_eq!(found["claims"][0]["refuted"], true);
    let to_full = noisy_count("--save-counterexample /dev/full");
    let ran = Ran::of(&mut shell(&desk, &format!("exec $LEAKBOUND {to_full}")));
    assert!(ran.status == 3 && ran.stderr.starts_with("warning: /dev/full: cannot write: No space left"), "{ran:?}");
    assert_eq!(others(&desk, &[]), Vec::<String>::new());
}

/// The same where the tests themselves run under nohup, whose children ignore hangups.
fn listening(script: &str) -> String {
    script.replacen("exec ", "exec env --default-signal=HUP ", 1)
}

#[test]
fn a_run_under_nohup_goes_on_without_its_terminal() {
    let desk = Desk::new();
    desk.file("s.toml", PROMPT);
    let simulate =
        "trap '' HUP; exec $LEAKBOUND simulate s.toml --samples 1e13 --checkpoint c --checkpoint-seconds 0 --quiet";
    for (ignoring, first, status) in [(true, "-HUP", 143), (false, "-HUP", 129)] {
        let _ = fs::remove_file(desk.path("c"));
        let script = if ignoring { simulate.to_owned() } else { listening(simulate.split_once("; ").unwrap().1) };
        let mut child = shell(&desk, &script).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let saved = || wait_until(|| desk.path("c").exists());
        saved();
        signal(&child, first);
        if ignoring {
            // It still saves.
            fs::remove_file(desk.path("c")).unwrap();
            saved();
            signal(&child, "-TERM");
        }
        assert_eq!(child.wait().unwrap().code(), Some(status));
    }
}

#[test]
fn help_that_cannot_be_printed_is_no_success() {
    let desk = Desk::new();
    for words in
        ["--help", "--version", "exact --help", "verify --accountant list", "schema exact", "completions bash", "man"]
    {
        let line = Ran::of(&mut shell(&desk, &format!("$LEAKBOUND {words} > /dev/full"))).line(1);
        assert!(line.starts_with("stdout: cannot write: No space left"), "{words}: {line}");
    }
    // A reader that has seen enough is no error.
    let ran = Ran::of(&mut shell(&desk, "{ $LEAKBOUND --help; echo $? >&2; } | head -c 1 > /dev/null"));
    assert_eq!(ran.stderr, "0\n");
    let help = desk.stdout("--help");
    assert!(help.contains("Exit status: 0 done, 1 bad data"), "{help}");
}

#[test]
fn names_of_accountants_come_in_every_form() {
    let desk = Desk::new();
    let text = desk.stdout("verify --accountant list");
    let names: Vec<&str> = text.lines().collect();
    let document = desk.json("verify --accountant list");
    assert_eq!(document["schema"], "leakbound.accountants/1");
    assert_eq!(document["accountants"], Value::from(names));
    assert_eq!(desk.stdout("verify --accountant list --format csv --output names.csv"), "");
    assert_eq!(desk.text("names.csv"), format!("accountant\n{text}"));
}

#[test]
fn texts_go_where_they_are_wanted() {
    let desk = Desk::new();
    for (words, form) in [("schema exact", "json"), ("completions bash", "text"), ("man", "text")] {
        let text = desk.stdout(words);
        assert_eq!(desk.stdout(&format!("{words} --output here")), "");
        assert_eq!((desk.text("here"), desk.stdout(&format!("{words} --format {form}"))), (text.clone(), text));
        for wrong in ["--format csv", "--report r.html", "--figures .", "--report r.html --figures ."] {
            let line = desk.rejected(2, &format!("{words} {wrong}"));
            let option = wrong.split(' ').next().unwrap();
            assert_eq!(line, format!("{option}: this command prints a text and nothing else"), "{words} {wrong}");
        }
        desk.is_rejected_as(1, &format!("{words} --output gone/file"), "gone/file: cannot write");
    }
}

/// Processes that have this word on their command line.
#[cfg(target_os = "linux")]
fn running(word: &str) -> usize {
    let lines = fs::read_dir("/proc").unwrap().filter_map(|entry| fs::read(entry.ok()?.path().join("cmdline")).ok());
    lines.filter(|line| line.split(|&byte| byte == 0).any(|argument| argument == word.as_bytes())).count()
}

/// The shell waits for a child of its own, which hangs: nothing of it is left, however the run ends. Without the mend
/// this test would leave processes that end by themselves after a while.
#[cfg(target_os = "linux")]
#[test]
fn no_process_is_left_behind() {
    let desk = Desk::new();
    let verify = |seconds: &str, more: &[&str]| {
        let mut command = desk.command("verify --property rdp-covers-exact --program");
        command.arg(format!("sh -c 'sleep {seconds}; true'")).args(more).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    };
    // The time for an answer, which is a fault of the program; and the time for all, which is none.
    let hung = Ran::of(&mut verify("301.25", &["--start-timeout", "0.2", "--cases", "1"]));
    assert_eq!(hung.status, 3, "{hung:?}");
    wait_until(|| running("301.25") == 0);
    let mut late = verify("302.25", &["--time-limit", "0.3", "--format", "json"]);
    let document = Ran::of(late.stdout(Stdio::piped())).json(0);
    assert_eq!(codes(&document), ["out-of-time", "nothing-tested"]);
    wait_until(|| running("302.25") == 0);
    for (name, status) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let child = verify("303.25", &[]).spawn().unwrap();
        wait_until(|| running("303.25") > 0);
        signal(&child, name);
        let line = Ran::from(child.wait_with_output().unwrap()).line(status);
        assert!(line.ends_with("interrupted after 0 cases; nothing is printed"), "{line}");
        wait_until(|| running("303.25") == 0);
    }
    // In a file of studies too, where the study that is running is named.
    let slow = "[[study]]\nname = 'slow'\ncommand = 'verify'\nproperty = 'rdp-covers-exact'\n\
                program = \"sh -c 'sleep 304.25; true'\"\n";
    desk.file("studies.toml", slow);
    let child = desk.start("run studies.toml");
    wait_until(|| running("304.25") > 0);
    signal(&child, "-INT");
    let line = Ran::from(child.wait_with_output().unwrap()).line(130);
    assert_eq!(line, "studies.toml: cannot complete: interrupted in study slow; nothing is printed");
    wait_until(|| running("304.25") == 0);
}

/// A process that is killed can end nothing, and a program that hangs sees no end of its stdin.
#[test]
#[cfg(target_os = "linux")]
fn a_killed_command_leaves_no_program_behind() {
    let desk = Desk::new();
    let relation = "--relation add-remove --dataset [1]";
    for (seconds, command) in [
        ("305.25", "verify --program".to_owned()),
        ("306.25", format!("audit mechanism {relation} --program")),
        ("307.25", format!("audit mechanism {relation} --exec")),
    ] {
        let mut command = desk.command(&command);
        command.arg(format!("sh -c 'sleep {seconds}; true' {{dataset}}"));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_until(|| running(seconds) > 0);
        // Until the one who ends it knows of it.
        std::thread::sleep(Duration::from_millis(100));
        child.kill().unwrap();
        child.wait().unwrap();
        wait_until(|| running(seconds) == 0);
    }
}

/// It ends at all: one case of these would take days.
#[test]
fn a_time_limit_holds_inside_a_case() {
    let desk = Desk::new();
    let document = desk.json("verify --accountant gnmax-data-dependent --simulate 1e13 --time-limit 0.3");
    assert_eq!(codes(&document)[0], "out-of-time");
    assert_eq!(document["properties"][0]["cases"], 0);
}

/// A full disk is told like any other, leaves what was there, and costs nobody the result: it is printed.
#[test]
fn a_result_that_cannot_be_written_is_printed() {
    let desk = Desk::new();
    let words = "exact --histogram 3,1 --neighbor 2,2 --noise gaussian:2 --orders 2,3,4";
    let whole = desk.stdout(words);
    desk.file("r", "old");
    for option in ["--output", "--report"] {
        let ran = Ran::of(&mut shell(&desk, &format!("ulimit -f 1 && exec $LEAKBOUND {words} {option} r")));
        assert_eq!(ran.stdout, whole, "{option}");
        assert!(ran.complaint(1).starts_with("r: cannot write: File too large"), "{ran:?}");
        assert_eq!(desk.text("r"), "old");
        assert_eq!(others(&desk, &["r"]), Vec::<String>::new());
    }
}
