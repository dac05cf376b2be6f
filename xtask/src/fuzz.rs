//! `cargo xtask fuzz`: libFuzzer on stable Rust.
//!
//! The coverage instrumentation is an LLVM pass that stable rustc can be asked for; only the sanitizers need a nightly
//! compiler, and safe Rust gains little from them.

use crate::command::{self, Outcome};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// What `cargo fuzz` would pass, less the sanitizer. Warnings are errors as in the rest of the gate.
const RUSTFLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing -Ccodegen-units=1 -Dwarnings";

/// Inputs of a smoke run after the seeds, and the seed of the fuzzer: every run of it does the same. A shared machine
/// may be slow, so an input has longer than when one waits for a hang.
const SMOKE: [&str; 4] = ["-runs=5000", "-seed=1", "-reload=0", "-timeout=60"];

/// What to fuzz and for how long.
#[derive(Debug, PartialEq, Eq)]
pub struct Options {
    /// Seconds for each target.
    seconds: u32,
    /// Names of targets; all when empty.
    targets: Vec<String>,
    /// A fixed number of inputs from the seeds alone, without the fuzzer's own lines; `seconds` is then only a limit.
    smoke: bool,
}

impl Options {
    /// All seeds of all targets and the same few thousand inputs every time.
    pub fn smoke() -> Self {
        Self { seconds: 120, targets: Vec::new(), smoke: true }
    }

    /// Reads `[--seconds N] [TARGET...]`.
    pub fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self { seconds: 60, targets: Vec::new(), smoke: false };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            if argument == "--seconds" {
                let value = arguments.next().map_or("", String::as_str);
                // libFuzzer reads 0 as no limit.
                options.seconds = value
                    .parse()
                    .ok()
                    .filter(|&seconds| seconds > 0)
                    .ok_or_else(|| format!("--seconds `{value}` cannot be read; expected a whole number from 1"))?;
            } else if argument.starts_with('-') {
                return Err(format!("`{argument}` is no option of fuzz"));
            } else {
                options.targets.push(argument.clone());
            }
        }
        Ok(options)
    }
}

/// Builds the targets and runs one after the other.
pub fn run(options: &Options) -> Outcome {
    let known = targets(&command::root().join("fuzz/fuzz_targets"))?;
    if let Some(unknown) = options.targets.iter().find(|target| !known.contains(target)) {
        return Err(format!("there is no fuzz target `{unknown}`; there are {}", known.join(", ")));
    }
    let chosen = if options.targets.is_empty() { &known } else { &options.targets };
    let host = host()?;
    build(chosen, &host)?;
    chosen.iter().try_for_each(|target| fuzz(target, &host, options))
}

/// Names of the files in fuzz/fuzz_targets.
fn targets(folder: &Path) -> Result<Vec<String>, String> {
    let files = std::fs::read_dir(folder).map_err(|error| format!("fuzz/fuzz_targets: {error}"))?;
    let mut names: Vec<String> = files
        .filter_map(|file| Some(file.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort_unstable();
    Ok(names)
}

/// The target triple of this compiler. Naming it keeps build scripts and procedural macros uninstrumented.
fn host() -> Result<String, String> {
    let mut rustc = command::program(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    let output = rustc.arg("-vV").output().map_err(|error| command::failure(&rustc, &error))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| command::failure(&rustc, &"prints no host triple"))
}

fn build(targets: &[String], host: &str) -> Outcome {
    share_lockfile()?;
    let mut build = command::cargo(["build", "--release", "--manifest-path", "fuzz/Cargo.toml", "--target", host]);
    build.env("CARGO_TARGET_DIR", "fuzz/target").env("RUSTFLAGS", RUSTFLAGS).env_remove("CARGO_ENCODED_RUSTFLAGS");
    for target in targets {
        build.args(["--bin", target]);
    }
    command::run_visibly(&mut build)
}

/// Fuzzes the versions that are tested: fuzz/Cargo.lock starts from the workspace's whenever that is newer.
fn share_lockfile() -> Outcome {
    let (from, to) = (command::root().join("Cargo.lock"), command::root().join("fuzz/Cargo.lock"));
    let changed = |path| std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    if changed(&from) > changed(&to) {
        std::fs::copy(&from, &to).map_err(|error| format!("fuzz/Cargo.lock: {error}"))?;
    }
    Ok(())
}

/// Runs one target; new inputs go to its corpus, crashes to its artifacts.
fn fuzz(target: &str, host: &str, options: &Options) -> Outcome {
    let binary = command::root().join("fuzz/target").join(host).join("release").join(target);
    let [corpus, artifacts, seeds] = ["corpus", "artifacts", "seeds"].map(|folder| format!("fuzz/{folder}/{target}"));
    // A smoke run starts from the seeds, whatever earlier runs have found.
    let corpus = if options.smoke { format!("fuzz/corpus/.smoke/{target}") } else { corpus };
    if options.smoke && command::root().join(&corpus).is_dir() {
        std::fs::remove_dir_all(command::root().join(&corpus)).map_err(|error| format!("{corpus}: {error}"))?;
    }
    for folder in [&corpus, &artifacts] {
        std::fs::create_dir_all(command::root().join(folder)).map_err(|error| format!("{folder}: {error}"))?;
    }
    let mut fuzzer = command::program(binary);
    fuzzer.args(["-timeout=10", "-rss_limit_mb=2048"]).arg(format!("-max_total_time={}", options.seconds));
    if options.smoke {
        fuzzer.args(SMOKE);
    }
    fuzzer.arg(format!("-artifact_prefix={artifacts}/")).arg(corpus);
    if command::root().join(&seeds).is_dir() {
        fuzzer.arg(seeds);
    }
    command::announce(&fuzzer);
    let (passed, lines) = follow(&mut fuzzer, !options.smoke).map_err(|error| command::failure(&fuzzer, &error))?;
    let report = Report::read(&lines);
    if !passed && options.smoke {
        eprintln!("{}", lines.join("\n"));
    }
    match report {
        Report { artifact: Some(artifact), .. } => Err(format!(
            "fuzz target {target} failed on the input {artifact}\n  reproduce: fuzz/target/{host}/release/{target} \
             {artifact}\n  once mended, move it to fuzz/seeds/{target}/"
        )),
        _ if !passed => Err(command::failure(&fuzzer, &"ended with an error, see above")),
        Report { coverage: None | Some((_, 0)), .. } => {
            Err(format!("fuzz target {target} reports no coverage: its instrumentation is lost"))
        }
        Report { coverage: Some((first, last)), runs, .. } => {
            println!("{target}: {runs} inputs, coverage {first} -> {last}, no failure");
            Ok(())
        }
    }
}

/// Runs the fuzzer and keeps its lines; the verdict is whether it ended well.
fn follow(fuzzer: &mut Command, visible: bool) -> std::io::Result<(bool, Vec<String>)> {
    let mut child = fuzzer.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let mut lines = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        for line in BufReader::new(stderr).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned();
            if visible {
                eprintln!("{line}");
            }
            lines.push(line);
        }
    }
    Ok((child.wait()?.success(), lines))
}

/// What libFuzzer's lines say.
#[derive(Debug, PartialEq, Eq)]
struct Report {
    /// Edges covered by the corpus and at the end.
    coverage: Option<(u64, u64)>,
    /// Inputs tried.
    runs: u64,
    /// The input that failed.
    artifact: Option<String>,
}

impl Report {
    fn read(lines: &[String]) -> Self {
        let after = |mark: &'static str| {
            lines.iter().filter_map(move |line| line.split_once(mark)).map(|(_, rest)| rest.trim_start())
        };
        let number = |text: &str| text.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok();
        let mut coverage = after("cov:").filter_map(number);
        let first = coverage.next();
        Self {
            coverage: first.map(|first| (first, coverage.next_back().unwrap_or(first))),
            runs: after("Done ").filter_map(number).next_back().unwrap_or(0),
            artifact: after("Test unit written to ").next_back().map(|path| path.trim_start_matches("./").to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_are_read() {
        let read = |text| Options::parse(&words(text));
        assert_eq!(read(""), Ok(Options { seconds: 60, targets: vec![], smoke: false }));
        assert_eq!(read("a --seconds 5 b"), Ok(Options { seconds: 5, targets: words("a b"), smoke: false }));
        assert!(read("--seconds").unwrap_err().contains("--seconds ``"));
        assert!(read("--seconds 0").is_err() && read("--seconds x").is_err());
        assert!(read("--second 1").unwrap_err().contains("`--second`"));
    }

    #[test]
    fn a_quiet_end_is_read() {
        let lines = "#4\tINITED cov: 12 ft: 13 corp: 1/1b exec/s: 0 rss: 39Mb\n#9\tNEW    cov: 45 ft: 60 corp: 2/2b\n\
                     #99\tDONE   cov: 47 ft: 60 corp: 2/2b lim: 4\nDone 99 runs in 4 second(s)";
        let lines: Vec<String> = lines.lines().map(str::to_owned).collect();
        assert_eq!(Report::read(&lines), Report { coverage: Some((12, 47)), runs: 99, artifact: None });
    }

    #[test]
    fn a_crash_names_its_artifact() {
        let lines = ["artifact_prefix='fuzz/artifacts/a/'; Test unit written to fuzz/artifacts/a/crash-0".to_owned()];
        let artifact = Some("fuzz/artifacts/a/crash-0".to_owned());
        assert_eq!(Report::read(&lines), Report { coverage: None, runs: 0, artifact });
    }
}
