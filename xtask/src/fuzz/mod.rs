//! `cargo xtask fuzz`: libFuzzer on stable Rust.
//!
//! The coverage instrumentation is an LLVM pass that stable rustc can be asked for; only the sanitizers need a nightly
//! compiler, and safe Rust gains little from them.

mod campaign;

use crate::command::{self, Outcome};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What `cargo fuzz` would pass, less the sanitizer. Warnings are errors as in the rest of the gate.
const RUSTFLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing -Dwarnings";

/// Where the files of the targets are.
const TARGETS: &str = "fuzz/src/targets";

/// What to fuzz and for how long.
#[derive(Debug, PartialEq)]
pub struct Options {
    length: Length,
    /// Names of targets; all when empty.
    targets: Vec<String>,
}

/// How long.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Length {
    /// Seconds for each target, one after the other.
    Seconds(u32),
    /// Hours of processor time for all together.
    Hours(f64),
}

impl Options {
    /// Reads `[--seconds N | --hours N] [TARGET...]`.
    pub fn parse(arguments: &[String]) -> Result<Self, String> {
        let (mut length, mut targets) = (None, Vec::new());
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let given = if argument == "--seconds" {
                Some(Length::seconds(arguments.next()))
            } else if argument == "--hours" {
                Some(Length::hours(arguments.next()))
            } else if argument.starts_with('-') {
                return Err(format!("`{argument}` is no option of fuzz"));
            } else {
                targets.push(argument.clone());
                None
            };
            if let Some(given) = given
                && length.replace(given?).is_some()
            {
                return Err("--seconds and --hours exclude each other, and each is given once".into());
            }
        }
        Ok(Self { length: length.unwrap_or(Length::Seconds(60)), targets })
    }
}

impl Length {
    fn seconds(value: Option<&String>) -> Result<Self, String> {
        let value = value.map_or("", String::as_str);
        // libFuzzer reads 0 as no limit.
        let seconds = value.parse().ok().filter(|&seconds| seconds > 0).map(Self::Seconds);
        seconds.ok_or_else(|| format!("--seconds `{value}` cannot be read; expected a whole number from 1"))
    }

    fn hours(value: Option<&String>) -> Result<Self, String> {
        let value = value.map_or("", String::as_str);
        let hours = value.parse().ok().filter(|&hours| hours > 0.0 && hours <= 10_000.0).map(Self::Hours);
        hours.ok_or_else(|| format!("--hours `{value}` cannot be read; expected a number above 0, up to 10000"))
    }
}

/// Builds the targets and runs one after the other.
pub fn run(options: &Options) -> Outcome {
    let known = targets(&command::root().join(TARGETS))?;
    if let Some(unknown) = options.targets.iter().find(|target| !known.contains(target)) {
        return Err(format!("there is no fuzz target `{unknown}`; there are {}", known.join(", ")));
    }
    let names = if options.targets.is_empty() { &known } else { &options.targets };
    let host = host()?;
    let chosen: Vec<Target> = names.iter().map(|name| Target { name: name.clone(), host: host.clone() }).collect();
    build(&host)?;
    match options.length {
        Length::Seconds(seconds) => chosen.iter().try_for_each(|target| target.run(seconds)),
        Length::Hours(hours) => campaign::run(&chosen, hours),
    }
}

/// Names of the files in this folder.
fn targets(folder: &Path) -> Result<Vec<String>, String> {
    let files = std::fs::read_dir(folder).map_err(|error| format!("{TARGETS}: {error}"))?;
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
    let text = command::output(rustc.arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| command::failure(&rustc, &"prints no host triple"))
}

fn build(host: &str) -> Outcome {
    let mut build = command::cargo(["build", "--package", "leakbound-fuzz", "--profile", "fuzz", "--target", host]);
    build.env("CARGO_TARGET_DIR", "fuzz/target").env("RUSTFLAGS", RUSTFLAGS).env_remove("CARGO_ENCODED_RUSTFLAGS");
    command::run_visibly(&mut build)
}

/// A fuzz target that is built.
struct Target {
    name: String,
    host: String,
}

/// Where libFuzzer stops, as it is told.
struct Limits(Vec<String>);

impl Limits {
    /// A time for all inputs, and one for a single input.
    fn time(seconds: u32, input_seconds: u32) -> Self {
        Self(vec![format!("-max_total_time={seconds}"), format!("-timeout={input_seconds}")])
    }

    /// Hours are spent where others work too, and the limit of an input is wall time.
    fn campaign(seconds: u32) -> Self {
        Self::time(seconds, 120)
    }
}

impl Target {
    fn binary(&self) -> PathBuf {
        command::root().join("fuzz/target").join(&self.host).join("fuzz/fuzz")
    }

    /// Inputs that were found, outside git.
    fn corpus(&self) -> String {
        format!("fuzz/corpus/{}", self.name)
    }

    /// libFuzzer on a corpus and the seeds; new inputs go to the corpus, those that fail to the artifacts.
    fn fuzzer(&self, corpus: &str, limits: &Limits) -> Result<Command, String> {
        let [artifacts, seeds] = ["artifacts", "seeds"].map(|folder| format!("fuzz/{folder}/{}", self.name));
        for folder in [corpus, &artifacts] {
            std::fs::create_dir_all(command::root().join(folder)).map_err(|error| format!("{folder}: {error}"))?;
        }
        let mut fuzzer = command::program(self.binary());
        fuzzer.env("LEAKBOUND_FUZZ", &self.name);
        fuzzer.arg("-rss_limit_mb=2048").args(&limits.0).arg(format!("-artifact_prefix={artifacts}/")).arg(corpus);
        if command::root().join(&seeds).is_dir() {
            fuzzer.arg(seeds);
        }
        Ok(fuzzer)
    }

    /// Runs for some seconds, with the fuzzer's own lines.
    fn run(&self, seconds: u32) -> Outcome {
        let mut fuzzer = self.fuzzer(&self.corpus(), &Limits::time(seconds, 10))?;
        command::announce(&fuzzer);
        let (passed, lines) = follow(&mut fuzzer).map_err(|error| command::failure(&fuzzer, &error))?;
        self.verdict(&fuzzer, passed, &lines)
    }

    fn verdict(&self, fuzzer: &Command, passed: bool, lines: &[String]) -> Outcome {
        let name = &self.name;
        match Report::read(lines) {
            Report { artifact: Some(artifact), .. } => Err(format!(
                "fuzz target {name} failed on the input {artifact}\n  reproduce: LEAKBOUND_FUZZ={name} cargo run \
                 --package leakbound-fuzz -- {artifact}\n  once mended, move it to fuzz/seeds/{name}/"
            )),
            _ if !passed => Err(command::failure(fuzzer, &"ended with an error, see above")),
            Report { coverage: None | Some((_, 0)), .. } => {
                Err(format!("fuzz target {name} reports no coverage: its instrumentation is lost"))
            }
            Report { coverage: Some((first, last)), runs, .. } => {
                println!("{name}: {runs} inputs, coverage {first} -> {last}, no failure");
                Ok(())
            }
        }
    }
}

/// Runs the fuzzer, shows its lines and keeps them; the verdict is whether it ended well.
fn follow(fuzzer: &mut Command) -> std::io::Result<(bool, Vec<String>)> {
    let mut child = fuzzer.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let mut lines = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        for line in BufReader::new(stderr).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned();
            eprintln!("{line}");
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
        // Lines that come while a large corpus is read count a part of it only.
        let read = lines.iter().position(|line| line.contains("INITED")).unwrap_or(0);
        let coverage = |lines: &[String]| -> Vec<u64> {
            lines.iter().filter_map(|line| number(line.split_once("cov:")?.1.trim_start())).collect()
        };
        let covered = coverage(&lines[read..]);
        Self {
            coverage: covered.first().copied().zip(covered.last().copied()),
            runs: after("Done ").filter_map(number).next_back().unwrap_or(0),
            // A slow input is written too, and is no failure: on a busy machine any input may be one.
            artifact: after("Test unit written to ")
                .rfind(|path| !path.contains("/slow-unit-"))
                .map(|path| path.trim_start_matches("./").to_owned()),
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
        assert_eq!(read(""), Ok(Options { length: Length::Seconds(60), targets: vec![] }));
        assert_eq!(read("a --seconds 5 b"), Ok(Options { length: Length::Seconds(5), targets: words("a b") }));
        assert_eq!(read("--hours .5 a"), Ok(Options { length: Length::Hours(0.5), targets: words("a") }));
        assert!(read("--seconds").unwrap_err().contains("--seconds ``"));
        assert!(read("--seconds 0").is_err() && read("--seconds x").is_err());
        assert!(read("--hours 0").is_err() && read("--hours inf").is_err() && read("--hours nan").is_err());
        assert!(read("--hours 1 --seconds 1").unwrap_err().contains("exclude"));
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
        let lines =
            ["artifact_prefix='fuzz/artifacts/a/'; Test unit written to fuzz/artifacts/a/slow-unit-0".to_owned()];
        assert_eq!(Report::read(&lines), Report { coverage: None, runs: 0, artifact: None });
    }
}
