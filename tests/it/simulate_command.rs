//! `leakbound simulate`, `merge` and `bench` as their user sees them.

use crate::desk::{Desk, rows_of, says};
use crate::json::{codes, number, rows};
use leakbound::record::read_counts;
use serde_json::Value;
use std::fs;

/// Two queries of 8 blocks each, the last of them short.
const SCENARIO: &str = "
samples = 500_000
seed = 3
noise = 'gaussian:4'

[[query]]
name = 'teachers'
model = 'pate'
k = 10
p = [0.1492, 0.5883, 0.2625]
p_marked = [0.5036, 0.1086, 0.3878]

[[query]]
name = 'prompts'
model = 'prompt-pate'
histogram = [3, 1]
histogram_neighbor = [2, 2]
";

/// A folder with the scenario.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.file("s.toml", SCENARIO);
    desk
}

/// The counts of every query, in both worlds.
fn counts(document: &Value) -> Value {
    document["queries"].clone()
}

#[test]
fn the_text_has_counts_and_exact_distributions() {
    insta::assert_snapshot!(desk().stdout("simulate s.toml"));
}

#[test]
fn the_document_says_what_decides_the_counts() {
    let desk = desk();
    let document = desk.json("simulate s.toml --shard 2/3");
    let plan = &document["plan"];
    assert_eq!((&document["schema"], &plan["sampling"]), (&"leakbound.simulate/1".into(), &"monte-carlo".into()));
    assert_eq!((plan["seed"].as_u64(), plan["samples"].as_u64()), (Some(3), Some(500_000)));
    assert_eq!((document["seed"].as_u64(), document["shard"].as_str()), (Some(3), Some("2/3")));
    assert_eq!((document["blocks"].to_string(), document["blocks_in_all"].as_u64()), ("[[2,5]]".into(), Some(8)));
    assert_eq!(document["inputs"][0]["name"], "s.toml");
    let distribution = &document["distributions"][0];
    assert!((number(&distribution["p"][0]) - 0.159_520_995_319_951_5).abs() < 1e-12, "{distribution}");
    assert!(number(&distribution["p_value"]) > 1e-6);
    assert_eq!(desk.json("simulate s.toml --no-distribution")["distributions"].to_string(), "[]");
    // The command line overrules the file, a seed of 0 too.
    let plan = desk.json("simulate s.toml --samples 7 --seed 0")["plan"].clone();
    assert_eq!((plan["seed"].as_u64(), plan["samples"].as_u64()), (Some(0), Some(7)));
}

/// Counts never depend on who draws which block.
#[test]
fn shards_and_threads_do_not_matter() {
    let desk = desk();
    let whole = desk.json("simulate s.toml");
    for threads in 1..=4 {
        let again = desk.json(&format!("--threads {threads} simulate s.toml"));
        assert_eq!(counts(&again), counts(&whole), "{threads} threads");
    }
    for shards in 1..=7 {
        let mut files = String::new();
        for shard in (1..=shards).rev() {
            let threads = 1 + shard % 2;
            desk.stdout(&format!(
                "simulate s.toml --threads {threads} --shard {shard}/{shards} --format json --output {shard}.json"
            ));
            files += &format!(" {shard}.json");
        }
        let merged = desk.json(&format!("merge{files}"));
        assert_eq!(counts(&merged), counts(&whole), "{shards} shards");
        assert_eq!((&merged["plan"], &merged["blocks"]), (&whole["plan"], &whole["blocks"]));
        // What is merged can be merged again.
        desk.file("merged.json", merged.to_string());
        assert_eq!(counts(&desk.json("merge merged.json")), counts(&whole));
    }
}

#[test]
fn the_audit_reads_what_simulation_writes() {
    let desk = desk();
    desk.stdout("simulate s.toml --format json --output a.json");
    desk.stdout("simulate s.toml --format csv --output a.csv");
    let read = |name: &str| read_counts(desk.path(name)).unwrap().queries;
    assert_eq!(read("a.json"), read("a.csv"));
    assert_eq!(read("a.csv")[1].query.as_deref(), Some("prompts"));
    assert_eq!(read("a.csv")[1].counts.trials(), 500_000);
    let audit = desk.json("audit counts a.json --pilot-fraction 0.1");
    assert!(rows(&audit["bounds"]).iter().any(|bound| number(&bound["rdp_lower"]) > 0.01));
    // A query without a name has no column of names.
    let alone: String = SCENARIO.lines().take_while(|line| !line.contains("prompts")).collect::<Vec<_>>().join("\n");
    let alone = alone.replace("[[query]]\nname = 'teachers'", "").replace("[[query]]", "");
    desk.file("s.toml", alone);
    desk.stdout("simulate s.toml --format csv --output a.csv");
    assert!(desk.text("a.csv").starts_with("outcome,count,count_neighbor\n0,"));
    assert_eq!(read("a.csv")[0].query, None);
}

#[test]
fn parts_that_do_not_fit_are_rejected() {
    let desk = desk();
    for shard in 1..=3 {
        desk.stdout(&format!("simulate s.toml --shard {shard}/3 --format json --output {shard}.json"));
    }
    desk.stdout("simulate s.toml --shard 3/3 --seed 4 --format json --output seed.json");
    desk.stdout("simulate s.toml --shard 3/3 --samples 5e5 --format json --output same.json");
    desk.stdout("simulate s.toml --shard 3/3 --samples 6e5 --format json --output samples.json");
    desk.file("s.toml", SCENARIO.replace("gaussian:4", "gaussian:5"));
    desk.stdout("simulate s.toml --shard 3/3 --format json --output scenario.json");
    desk.rejects("", &rows_of("simulate_command", "parts_that_do_not_fit_are_rejected"));
    let document = desk.json("merge 1.json same.json --partial");
    assert_eq!((document["blocks"].to_string(), codes(&document)[0]), ("[[0,2],[5,8]]".into(), "partial"));
}

#[test]
fn a_checkpoint_is_never_overwritten_by_accident() {
    let desk = desk();
    let whole = desk.json("simulate s.toml");
    // Where there is none, --resume starts.
    let first = desk.json("simulate s.toml --checkpoint c --resume");
    let file = fs::read(desk.path("c")).unwrap();
    // A complete one is only read.
    let again = desk.json("simulate s.toml --checkpoint c --resume");
    assert_eq!((counts(&first), counts(&again)), (counts(&whole), counts(&whole)));
    assert_eq!(fs::read(desk.path("c")).unwrap(), file);
    desk.file("cut", &file[..file.len() - 9]);
    desk.rejects("simulate s.toml", &rows_of("simulate_command", "a_checkpoint_is_never_overwritten_by_accident"));
    assert_eq!(fs::read(desk.path("c")).unwrap(), file);
}

/// 10^13 samples: announced, small in memory, and saved on Ctrl-C.
#[cfg(target_os = "linux")]
#[test]
fn a_hopeless_simulation_says_so_and_can_be_interrupted() {
    let desk = desk();
    let arguments = "simulate s.toml --samples 1e13 --checkpoint c --output result";
    let mut child = desk.command(arguments).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut stderr = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut note = String::new();
    std::io::BufRead::read_line(&mut stderr, &mut note).unwrap();
    assert!(note.starts_with("note: about ") && note.ends_with("Ctrl-C saves what is done\n"), "{note}");
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kilobytes: u64 = most.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kilobytes < 300_000, "{kilobytes} kB");
    crate::desk::signal(&child, "-INT");
    let status = child.wait().unwrap();
    let mut error = String::new();
    std::io::Read::read_to_string(&mut stderr, &mut error).unwrap();
    assert_eq!(status.code(), Some(130), "{error}");
    assert_eq!(error, "error: c: cannot complete: interrupted at 0.0%, which is saved; --resume continues\n");
    assert!(!desk.path("result").exists());
    let saved = leakbound::record::Checkpoint::read(desk.path("c")).unwrap();
    assert!(saved.simulation.samples() > 0);
}

/// Killed without warning, at random moments, and resumed; `cargo run -p leakbound-validation -- kill-resume` does it
/// 50 times.
#[cfg(unix)]
#[test]
fn killed_simulations_go_on() {
    let program = std::path::Path::new(crate::desk::PROGRAM);
    let report = leakbound_validation::kill_resume::compare(program, &Desk::new().path(""), 4);
    report.lines.iter().for_each(|line| println!("{line}"));
    assert_eq!(report.verdict, leakbound_validation::experiment::Verdict::Pass, "{:?}", report.lines);
}

/// 10^12 samples of every query in no time, said to be no simulation; without parts.
#[test]
fn counts_are_drawn_from_distributions() {
    let desk = desk();
    let document = desk.json("simulate s.toml --samples 1e12 --sampling exact-distribution");
    assert_eq!(document["plan"]["sampling"], "exact-distribution");
    assert_eq!(document["blocks"].to_string(), "[[0,15258790]]");
    assert_eq!(document["warnings"][0]["code"], "exact-distribution-sampling");
    for (query, distribution) in rows(&document["queries"]).iter().zip(rows(&document["distributions"])) {
        let drawn: u64 = rows(&query["counts"]).iter().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(drawn, 1_000_000_000_000);
        let fits = ["p_value", "p_value_neighbor"].map(|world| number(&distribution[world]));
        assert!(fits.iter().all(|&fit| fit > 1e-6), "{distribution}");
    }
    desk.file("a.json", document.to_string());
    let text = desk.stdout("simulate s.toml --samples 9 --sampling exact-distribution");
    assert!(text.starts_with("Counts drawn from the distributions of s.toml"), "{text}");
    let rows = r"
        merge a.json => 1: a.json: plan.sampling: found `exact-distribution`, expected `monte-carlo`; hint: counts that are drawn directly from a distribution have no parts
        simulate s.toml --sampling exact-distribution --shard 1/2 => 2: sampling from the exact distribution: it takes no time and has no blocks, so there is nothing to share or to save
        simulate s.toml --sampling exact-distribution --checkpoint c => 2: sampling from the exact distribution: it takes no time and has no blocks, so there is nothing to share or to save
        simulate s.toml --sampling exact => 2: invalid value 'exact' for '--sampling <SAMPLING>': expected monte-carlo, exact-distribution
    ";
    desk.rejects("", rows);
}

#[test]
fn the_bench_is_a_table_of_works() {
    let desk = desk();
    let document = desk.json("bench --seconds 0.01 --threads 2");
    assert_eq!(document["schema"], "leakbound.bench/1");
    let rows = rows(&document["rows"]);
    let names: Vec<String> =
        rows.iter().map(|row| format!("{} {}", row["work"].as_str().unwrap(), row["threads"])).collect();
    let works = ["fixed", "pate", "capc", "private-knn", "exact-distribution-pair"];
    let expected: Vec<String> =
        ["1", "2"].iter().flat_map(|threads| works.map(|work| format!("{work} {threads}"))).collect();
    assert_eq!(names, expected);
    for row in rows {
        let number = |name: &str| number(&row[name]);
        assert!(number("samples") > 0.0 && number("seconds") > 0.0, "{row}");
        assert!((number("rate") * number("seconds") / number("samples") - 1.0).abs() < 1e-9, "{row}");
    }
    let text = desk.stdout("bench --seconds 0.01 --threads 1 --work pate,fixed");
    assert!(text.contains("  pate ") && text.contains("1 thread ") && !text.contains("capc"), "{text}");
}

/// A few points in hardly any time: the shape of the answer, and what its numbers have to do with each other.
#[test]
fn a_sweep_changes_one_quantity_at_a_time() {
    let desk = desk();
    let command = "bench --sweep --seconds 0.001 --threads 2 --work fixed,pate --vary sigma,threads";
    let document = desk.json(command);
    assert_eq!(document["schema"], "leakbound.bench-sweep/1");
    let rows = rows(&document["rows"]);
    let names: Vec<String> = rows
        .iter()
        .map(|row| format!("{} {}", row["work"].as_str().unwrap(), row["varied"].as_str().unwrap()))
        .collect();
    let expected = ["fixed", "pate"].map(|work| {
        let series = |varied: &str, points| vec![format!("{work} {varied}"); points];
        [series("sigma", 6), series("threads", 2)].concat()
    });
    assert_eq!(names, expected.concat());
    for row in rows {
        let number = |name: &str| number(&row[name]);
        assert_eq!([number("classes"), number("voters")], [10.0, 250.0]);
        assert!((number("rate") * number("seconds") / number("samples") - 1.0).abs() < 1e-9, "{row}");
        assert!((number("nanoseconds") * number("rate") / (1e9 * number("threads")) - 1.0).abs() < 1e-9, "{row}");
        let (alone, efficient) = (number("threads") == 1.0, row["varied"] == "threads");
        assert!(row["ratio"].is_number() == alone && row["efficiency"].is_number() == efficient, "{row}");
    }
    assert_eq!(document["models"].as_array().unwrap().len(), 2);
    assert_eq!(document["growth"].as_array().unwrap().len(), 2);
    let text = desk.stdout(command);
    says(&text, &["against the noise scale σ; C = 10, k = 250, 1 thread", "efficiency", "÷ model"]);
    says(&text, &["Growth of the cost"]);
    assert!(!text.contains("number of classes"), "{text}");
    let csv = desk.stdout(&format!("{command} --format csv"));
    assert_eq!(csv.lines().count(), 17);
    assert!(csv.starts_with("work,varied,classes,voters,sigma,threads,"), "{csv}");
}

#[test]
fn a_sweep_rejects_what_it_cannot_measure() {
    let desk = desk();
    let rows = r"
        --sweep --work fixed,exact-distribution-pair => 2: sweep: exact-distribution-pair draws no samples; leave this work out
        --sweep --vary k => 2: invalid value 'k' for '--vary <NAME,...>': expected classes, voters, sigma, threads
        --vary sigma => 2: --vary: it sets what a sweep changes, but --sweep is missing
        --sweep --seconds -1 => 2: invalid value '-1' for '--seconds <S>': number of seconds = -1 is not in [0, inf)
    ";
    desk.rejects("bench", rows);
}
