//! Audits of other people's differential privacy libraries, as they are installed from the package index.

use crate::audit_mechanism::{Claimed, refuted};
use crate::experiment::Report;
use leakbound::study::MechanismAnswer;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Runs of each world, for mechanisms that do not say otherwise.
const RUNS: u64 = 100_000;

/// A release of a library, and the program that serves its mechanisms.
#[derive(Debug, Deserialize)]
struct Library {
    /// As its authors write it.
    name: String,
    /// Under which its version is known.
    package: String,
    /// A file of this folder.
    program: String,
    /// A folder of `target`: a virtual environment.
    environment: String,
}

/// A mechanism of some releases.
#[derive(Debug, Deserialize)]
struct Entry {
    name: String,
    libraries: Vec<String>,
    #[serde(flatten)]
    claimed: Claimed,
    runs: Option<u64>,
    /// Whether outputs are real numbers. Such mechanisms are audited as released and with outputs rounded.
    #[serde(default)]
    real: bool,
    /// Why a release does not keep the claim, found or checked without this command.
    #[serde(default)]
    faults: BTreeMap<String, String>,
    /// The releases whose outputs tell the worlds apart by their last binary places only, checked without this command.
    #[serde(default)]
    binary_places: Vec<String>,
}

#[derive(Deserialize)]
struct Table {
    library: BTreeMap<String, Library>,
    mechanism: Vec<Entry>,
}

/// A library that is installed.
struct Installed<'a> {
    library: &'a Library,
    python: PathBuf,
    version: String,
}

/// The version of a package, from its own environment.
fn installed<'a>(library: &'a Library) -> Option<Installed<'a>> {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
    let python = target.join(&library.environment).join("bin/python");
    let code = format!("import importlib.metadata; print(importlib.metadata.version('{}'))", library.package);
    let output = Command::new(&python).args(["-c", &code]).output().ok().filter(|output| output.status.success())?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Some(Installed { library, python, version })
}

/// What one audit is expected to say, and why.
enum Expected<'a> {
    Stands,
    Fault(&'a str),
    BinaryPlaces,
}

/// Counts of verdicts.
#[derive(Default)]
struct Tally {
    stand: u64,
    faults: u64,
    binary_places: u64,
}

fn audit(
    entry: &Entry,
    key: &str,
    installed: &Installed<'_>,
    is_rounded: bool,
    report: &mut Report,
    tally: &mut Tally,
) {
    let Installed { library, python, version } = installed;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("libraries").join(&library.program);
    let mut words = vec![python.display().to_string(), script.display().to_string(), entry.name.clone()];
    words.extend(is_rounded.then(|| "rounded".to_owned()));
    let start = Instant::now();
    let found = entry.claimed.audit(&shell_words::join(words), entry.runs.unwrap_or(RUNS), false);
    let seconds = start.elapsed().as_secs_f64();
    let variant = if is_rounded { ", rounded" } else { "" };
    let name = format!("{} {version}: {}{variant}", library.name, entry.name);
    let Some(answer) = report.found(&name, found) else { return };
    let expected = match entry.faults.get(key) {
        Some(why) => Expected::Fault(why),
        None if !is_rounded && entry.binary_places.iter().any(|release| release == key) => Expected::BinaryPlaces,
        None => Expected::Stands,
    };
    let is_refuted = refuted(&answer);
    report.line(format!(
        "{name:<54} {:<12} {:<40} {:<7} {:>6} {seconds:>5.1}",
        entry.claimed.relation(),
        proved(&answer),
        if is_refuted { "refuted" } else { "stands" },
        answer.runs.search + answer.runs.bounded,
    ));
    if let Some(found) = &answer.counterexample {
        report.line(format!(
            "    {} against {}: {} in {} of {} and {} of {}",
            found.dataset,
            found.neighbor,
            found.event,
            found.inside,
            found.outputs,
            found.inside_neighbor,
            found.outputs_neighbor
        ));
    }
    match (is_refuted, expected) {
        (false, Expected::Stands) => tally.stand += 1,
        (true, Expected::Fault(why)) => {
            tally.faults += 1;
            report.line(format!("    {why}"));
        }
        (true, Expected::BinaryPlaces) => tally.binary_places += 1,
        (true, Expected::Stands) => report.claim(false, format!("{name} is refuted, and nobody knows why")),
        (false, Expected::Fault(why)) => report.claim(false, format!("{name} stands: {why}")),
        (false, Expected::BinaryPlaces) => report.claim(false, format!("{name} stands as released")),
    }
}

/// The claims, each with the largest lower bound of what it is about.
fn proved(answer: &MechanismAnswer) -> String {
    let claims = answer.claims.iter().map(|claim| format!("{}: {:.4}", claim.claim, claim.lower.0));
    claims.collect::<Vec<_>>().join(", ")
}

/// All libraries that are installed.
pub fn report() -> Report {
    let mut report = Report::new(format!(
        "Libraries from the package index as black boxes: {RUNS} runs of each world, fewer where the library is slow; \
         failure probability 0.05 for each audit, seed 0. After the neighbors come each claim with what is proved of it, the verdict, \
         runs of each world with those of the search, and seconds. `rounded` is the same mechanism with its outputs \
         rounded to multiples of 1e-6, which keeps any claim. OpenDP, PyDP and PipelineDP take no seed, so that their figures differ \
         from time to time."
    ));
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("libraries/libraries.toml"));
    let table: Option<Table> =
        report.found("libraries.toml", text).and_then(|text| report.found("libraries.toml", toml::from_str(&text)));
    let Some(table) = table else { return report };
    let mut tally = Tally::default();
    for (key, library) in &table.library {
        let Some(installed) = installed(library) else {
            report.line(format!("{} is not installed in target/{}", library.name, library.environment));
            continue;
        };
        for entry in table.mechanism.iter().filter(|entry| entry.libraries.contains(key)) {
            audit(entry, key, &installed, false, &mut report, &mut tally);
            if entry.real {
                audit(entry, key, &installed, true, &mut report, &mut tally);
            }
        }
    }
    let Tally { stand, faults, binary_places } = tally;
    let all = stand + faults + binary_places;
    let line = format!(
        "{all} audits: {stand} claims stand, {faults} are refuted for a fault that libraries.toml names, \
             {binary_places} by the last binary places of the outputs"
    );
    report.claim(all > 0, line);
    report
}
