//! `cargo run --release -p leakbound-validation [-- NAME...] [--write] [--date YYYY-MM-DD] [--data FOLDER]`: runs
//! experiments, prints a verdict for each, and exits with 1 if one fails, or if one that was named cannot be done.

use clap::Parser;
use clap::builder::PossibleValuesParser;
use leakbound_validation::experiment::{ALL, DATA, Experiment, Verdict};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Runs experiments and prints a verdict for each.
#[derive(Parser)]
struct Request {
    /// Experiments; all if none is named
    #[arg(value_parser = PossibleValuesParser::new(ALL.iter().map(|experiment| experiment.name)))]
    names: Vec<String>,
    /// Write a result file for each
    #[arg(long)]
    write: bool,
    /// The date of the result files [default: today]
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = date)]
    date: Option<String>,
    /// The folder of recordings
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
}

fn main() -> ExitCode {
    let mut request = Request::parse();
    if let Some(folder) = request.data.take() {
        let _ = DATA.set(folder);
    }
    run(&request).unwrap_or_else(|message| {
        eprintln!("{message}");
        ExitCode::from(2)
    })
}

/// The date becomes part of a file name.
fn date(text: &str) -> Result<String, &'static str> {
    let is_date = text.len() == 10 && text.chars().all(|c| c.is_ascii_digit() || c == '-');
    if is_date { Ok(text.into()) } else { Err("expected a date as YYYY-MM-DD") }
}

fn run(request: &Request) -> Result<ExitCode, String> {
    let today = || time::OffsetDateTime::now_utc().date().to_string();
    let date = request.write.then(|| request.date.clone().unwrap_or_else(today));
    let named = |name: &String| ALL.iter().find(|experiment| experiment.name == name);
    // One that is named and set aside is a failure.
    let all: Vec<&Experiment> =
        if request.names.is_empty() { ALL.iter().collect() } else { request.names.iter().filter_map(named).collect() };
    let mut code = ExitCode::SUCCESS;
    for experiment in all {
        let start = Instant::now();
        print!("{}: ", experiment.name);
        let report = (experiment.run)();
        println!("{:?}: {} in {:.1} s\n", report.verdict, experiment.name, start.elapsed().as_secs_f64());
        let aside = report.verdict == Verdict::SetAside;
        if report.verdict == Verdict::Fail || (aside && !request.names.is_empty()) {
            code = ExitCode::FAILURE;
        }
        // What was not done replaces no result.
        if let Some(date) = date.as_ref().filter(|_| !aside) {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
            let file = folder.join(format!("{date}-{}.md", experiment.name));
            std::fs::create_dir_all(&folder)
                .and_then(|()| std::fs::write(&file, report.markdown(experiment.name, date)))
                .map_err(|error| format!("{}: {error}", file.display()))?;
            for (name, svg) in &report.figures {
                let file = folder.join(format!("{date}-{name}.svg"));
                std::fs::write(&file, svg).map_err(|error| format!("{}: {error}", file.display()))?;
            }
        }
    }
    Ok(code)
}
