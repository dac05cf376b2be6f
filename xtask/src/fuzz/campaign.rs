//! `cargo xtask fuzz --hours N`: all targets in rotation, one on each core, for N hours of processor time in all.
//!
//! Hours are those that the fuzzers really got, so that a busy machine takes longer and not less. After each turn a
//! line goes to a ledger beside the corpus: a campaign that is interrupted goes on where it was, with another N if that
//! is asked for. At its end the corpus is reduced to the inputs that add coverage, and a result file is written.

use super::{Limits, Report, Target};
use crate::command::{self, Outcome};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Wall time of one turn: short, so that the targets share a night evenly and little is lost by an interruption.
const TURN_SECONDS: u32 = 120;

/// Turns that are done and not yet published, one line each: target, CPU seconds, inputs, coverage before and after,
/// the input that failed or nothing.
const LEDGER: &str = "fuzz/corpus/campaign.tsv";

/// One turn of one target.
#[derive(Debug, Clone, PartialEq)]
struct Turn {
    target: String,
    cpu_seconds: f64,
    inputs: u64,
    /// Edges covered by the corpus, and at the end of the turn.
    coverage: (u64, u64),
    finding: Option<String>,
}

impl Turn {
    fn line(&self) -> String {
        let Self { target, cpu_seconds, inputs, coverage: (first, last), finding } = self;
        format!("{target}\t{cpu_seconds:.2}\t{inputs}\t{first}\t{last}\t{}", finding.as_deref().unwrap_or_default())
    }

    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split('\t');
        let mut field = || fields.next();
        Some(Self {
            target: field()?.to_owned(),
            cpu_seconds: field()?.parse().ok()?,
            inputs: field()?.parse().ok()?,
            coverage: (field()?.parse().ok()?, field()?.parse().ok()?),
            finding: field().filter(|path| !path.is_empty()).map(str::to_owned),
        })
    }
}

/// All turns of one target.
#[derive(Debug, Default, PartialEq)]
struct Row {
    cpu_seconds: f64,
    inputs: u64,
    coverage: Option<(u64, u64)>,
    findings: BTreeSet<String>,
}

/// What the workers of a campaign share.
struct State {
    turns: Vec<Turn>,
    /// Targets that a worker has in hand.
    busy: BTreeSet<String>,
    /// Targets that failed would fail again at once: the others take their time.
    failed: BTreeSet<String>,
}

impl State {
    fn seconds(&self) -> f64 {
        self.turns.iter().map(|turn| turn.cpu_seconds).sum()
    }

    /// The target that has had the least time, of those that are free.
    fn next<'a>(&self, targets: &'a [Target]) -> Option<&'a Target> {
        let spent = |target: &Target| {
            self.turns.iter().filter(|turn| turn.target == target.name).map(|turn| turn.cpu_seconds).sum::<f64>()
        };
        let free = |target: &&Target| !self.busy.contains(&target.name) && !self.failed.contains(&target.name);
        targets.iter().filter(free).min_by(|a, b| spent(a).total_cmp(&spent(b)))
    }
}

/// Fuzzes on all cores until the targets have had `hours` of processor time together, earlier turns of the ledger
/// included.
pub fn run(targets: &[Target], hours: f64) -> Outcome {
    let ledger = command::root().join(LEDGER);
    let mut turns = read(&ledger)?;
    turns.retain(|turn| targets.iter().any(|target| target.name == turn.target));
    let state = Mutex::new(State { turns, busy: BTreeSet::new(), failed: BTreeSet::new() });
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(|| work(&state, targets, hours, &ledger))).collect();
        let ended = workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| Err("a worker panicked".into())));
        ended.collect::<Outcome>()
    })?;
    let turns = state.into_inner().map_err(|_| "a worker panicked")?.turns;
    let corpora = targets.iter().map(minimize).collect::<Result<Vec<_>, _>>()?;
    let rows = rows(targets, &turns);
    let date = command::output(command::program("date").args(["-u", "+%F"]))?;
    let result = format!("validation/results/{}-fuzzing.md", date.trim());
    let text = markdown(&rows, &corpora, date.trim(), hours);
    std::fs::write(command::root().join(&result), &text).map_err(|error| format!("{result}: {error}"))?;
    println!("\n{text}\n{result}");
    let findings: Vec<&str> = rows.values().flat_map(|row| &row.findings).map(String::as_str).collect();
    if !findings.is_empty() {
        return Err(format!("these inputs failed: {}", findings.join(", ")));
    }
    // What is published does not count for the next campaign.
    std::fs::remove_file(&ledger).map_err(|error| format!("{LEDGER}: {error}"))
}

/// Takes turns until the time is spent or no target is free.
fn work(state: &Mutex<State>, targets: &[Target], hours: f64, ledger: &Path) -> Outcome {
    let lock = || state.lock().map_err(|_| "a worker panicked");
    loop {
        let target = {
            let mut state = lock()?;
            let Some(target) = state.next(targets).filter(|_| state.seconds() < hours * 3600.0) else { return Ok(()) };
            state.busy.insert(target.name.clone());
            target
        };
        let turn = fuzz(target)?;
        let mut state = lock()?;
        state.busy.remove(&turn.target);
        append(ledger, &turn)?;
        let failure = turn.finding.as_ref().map_or_else(String::new, |input| format!(", FAILED on {input}"));
        if turn.finding.is_some() {
            state.failed.insert(turn.target.clone());
        }
        let Turn { target, cpu_seconds, inputs, coverage: (first, last), .. } = &turn;
        println!(
            "{:.2} of {hours} CPU hours: {target} {cpu_seconds:.0} s, {inputs} inputs, coverage {first} -> {last}{failure}",
            (state.seconds() + cpu_seconds) / 3600.0
        );
        state.turns.push(turn);
    }
}

/// One turn, with the time that the system counted for it.
fn fuzz(target: &Target) -> Result<Turn, String> {
    let fuzzer = target.fuzzer(&target.corpus(), &Limits::campaign(TURN_SECONDS))?;
    let mut timed = timed(&fuzzer);
    let output = timed.output().map_err(|error| command::failure(&fuzzer, &error))?;
    let lines: Vec<String> = String::from_utf8_lossy(&output.stderr).lines().map(str::to_owned).collect();
    let report = Report::read(&lines);
    let cpu_seconds = child_seconds(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| command::failure(&timed, &"the shell's `times` cannot be read"))?;
    match report.coverage {
        Some((first, last)) if last > 0 && (output.status.success() || report.artifact.is_some()) => Ok(Turn {
            target: target.name.clone(),
            cpu_seconds,
            inputs: report.runs,
            coverage: (first, last),
            finding: report.artifact,
        }),
        _ => Err(format!("{}\n{}", lines.join("\n"), command::failure(&fuzzer, &output.status))),
    }
}

/// The program under a shell that prints the processor time of its children at the end: the standard library cannot
/// ask.
fn timed(program: &std::process::Command) -> std::process::Command {
    let mut shell = command::program("sh");
    shell.args(["-c", "\"$@\" >/dev/null; status=$?; times; exit $status", "sh"]);
    shell.arg(program.get_program()).args(program.get_args());
    shell.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell
}

/// User and system seconds in the second line of `times`, as in `1m2.50s 0m0.25s`.
fn child_seconds(times: &str) -> Option<f64> {
    let seconds = |text: &str| {
        let (minutes, seconds) = text.strip_suffix('s')?.split_once('m')?;
        Some(60.0 * minutes.parse::<f64>().ok()? + seconds.parse::<f64>().ok()?)
    };
    let mut children = times.lines().nth(1)?.split_whitespace();
    Some(seconds(children.next()?)? + seconds(children.next()?)?)
}

fn read(ledger: &Path) -> Result<Vec<Turn>, String> {
    let Ok(text) = std::fs::read_to_string(ledger) else { return Ok(Vec::new()) };
    let turns = text.lines().map(|line| {
        Turn::parse(line).ok_or_else(|| format!("{LEDGER}: `{line}` cannot be read; remove it to start a new campaign"))
    });
    turns.collect()
}

fn append(ledger: &Path, turn: &Turn) -> Outcome {
    use std::io::Write as _;
    let mut options = std::fs::OpenOptions::new();
    let written = options.create(true).append(true).open(ledger).and_then(|mut file| writeln!(file, "{}", turn.line()));
    written.map_err(|error| format!("{LEDGER}: {error}"))
}

/// Keeps only the inputs that add coverage; the numbers of inputs before and after.
fn minimize(target: &Target) -> Result<(usize, usize), String> {
    let corpus = command::root().join(target.corpus());
    let small = PathBuf::from(format!("{}.minimized", corpus.display()));
    let files = |folder: &Path| std::fs::read_dir(folder).map_or(0, Iterator::count);
    let before = files(&corpus);
    if before == 0 {
        return Ok((0, 0));
    }
    let _ = std::fs::remove_dir_all(&small);
    std::fs::create_dir_all(&small).map_err(|error| format!("{}: {error}", small.display()))?;
    let mut merge = command::program(target.binary());
    merge.env("LEAKBOUND_FUZZ", &target.name).args(["-merge=1", "-rss_limit_mb=2048"]).arg(&small).arg(&corpus);
    command::output(&mut merge)?;
    let after = files(&small);
    // An input that ends the fuzzer is left out of a merge; an empty result is no corpus.
    if after == 0 {
        return Err(format!("{}: nothing is left after the merge", target.corpus()));
    }
    std::fs::remove_dir_all(&corpus)
        .and_then(|()| std::fs::rename(&small, &corpus))
        .map_err(|error| format!("{}: {error}", target.corpus()))?;
    Ok((before, after))
}

fn rows(targets: &[Target], turns: &[Turn]) -> BTreeMap<String, Row> {
    let mut rows: BTreeMap<String, Row> = targets.iter().map(|target| (target.name.clone(), Row::default())).collect();
    for turn in turns {
        let row = rows.entry(turn.target.clone()).or_default();
        row.cpu_seconds += turn.cpu_seconds;
        row.inputs += turn.inputs;
        // A turn that ends while it still reads the corpus has covered less than the ones before.
        let (first, last) = row.coverage.unwrap_or(turn.coverage);
        row.coverage = Some((first, last.max(turn.coverage.1)));
        row.findings.extend(turn.finding.clone());
    }
    rows
}

fn markdown(rows: &BTreeMap<String, Row>, corpora: &[(usize, usize)], date: &str, asked: f64) -> String {
    let hours = rows.values().map(|row| row.cpu_seconds).sum::<f64>() / 3600.0;
    let inputs: u64 = rows.values().map(|row| row.inputs).sum();
    let mut text = format!(
        "# Fuzzing, {date}\n\n`cargo xtask fuzz --hours {asked}`: {hours:.2} CPU hours reached, {inputs} inputs in {} \
         targets, with debug assertions and overflow checks. CPU time is user and system time of the fuzzers. Coverage \
         is the number of edges after the corpus was read in the first turn, and the largest at the end of a turn.\n\n\
         | target | CPU minutes | inputs | coverage | corpus, minimized | findings |\n|---|---|---|---|---|---|\n",
        rows.len()
    );
    for ((name, row), (before, after)) in rows.iter().zip(corpora) {
        let (first, last) = row.coverage.unwrap_or_default();
        let findings: Vec<String> = row.findings.iter().map(|path| format!("`{path}`")).collect();
        let findings = if findings.is_empty() { "none".into() } else { findings.join(", ") };
        let minutes = row.cpu_seconds / 60.0;
        let _ = writeln!(
            text,
            "| `{name}` | {minutes:.1} | {} | {first} -> {last} | {before} -> {after} | {findings} |",
            row.inputs
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(name: &str) -> Target {
        Target { name: name.into(), host: "host".into() }
    }

    fn turn(name: &str, cpu_seconds: f64, coverage: (u64, u64), finding: Option<&str>) -> Turn {
        Turn { target: name.into(), cpu_seconds, inputs: 10, coverage, finding: finding.map(str::to_owned) }
    }

    #[test]
    fn a_line_of_the_ledger_is_read_as_it_was_written() {
        for finding in [None, Some("fuzz/artifacts/a/crash-0")] {
            let turn = turn("a", 12.25, (3, 5), finding);
            assert_eq!(Turn::parse(&turn.line()), Some(turn));
        }
        assert_eq!(Turn::parse("a\t1.0\t2"), None);
    }

    #[test]
    fn the_free_target_with_the_least_time_is_next() {
        let targets = [target("a"), target("b"), target("c")];
        let turns = vec![turn("a", 5.0, (1, 1), None), turn("b", 3.0, (1, 1), None), turn("c", 1.0, (1, 1), None)];
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let next = |busy: &[&str], failed: &[&str]| {
            let state = State { turns: turns.clone(), busy: names(busy), failed: names(failed) };
            state.next(&targets).map(|target| target.name.clone())
        };
        assert_eq!(next(&[], &[]).as_deref(), Some("c"));
        assert_eq!(next(&["c"], &[]).as_deref(), Some("b"));
        assert_eq!(next(&["a"], &["b", "c"]), None);
    }

    #[test]
    fn times_of_children_are_read() {
        assert_eq!(child_seconds("0m0.00s 0m0.01s\n2m1.50s 0m0.25s\n"), Some(121.75));
        assert_eq!(child_seconds("0m0.00s 0m0.01s\n"), None);
        let burn = command::output(&mut timed(command::program("true").args(["x"]))).unwrap();
        assert!(child_seconds(&burn).is_some(), "{burn}");
    }

    #[test]
    fn a_result_adds_up_turns_and_names_findings() {
        let targets = [target("a"), target("b")];
        let turns = [
            turn("a", 1800.0, (3, 5), None),
            turn("a", 1800.0, (5, 9), Some("fuzz/artifacts/a/crash-0")),
            turn("b", 3600.0, (2, 2), None),
        ];
        let text = markdown(&rows(&targets, &turns), &[(7, 4), (0, 0)], "2026-01-02", 2.0);
        assert!(text.contains("2.00 CPU hours reached, 30 inputs in 2 targets"), "{text}");
        assert!(text.contains("| `a` | 60.0 | 20 | 3 -> 9 | 7 -> 4 | `fuzz/artifacts/a/crash-0` |"), "{text}");
        assert!(text.contains("| `b` | 60.0 | 10 | 2 -> 2 | 0 -> 0 | none |"), "{text}");
    }
}
