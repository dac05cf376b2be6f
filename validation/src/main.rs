//! `cargo run --release -p leakbound-validation [-- NAME...] [--write] [--date YYYY-MM-DD] [--data FOLDER]`: runs
//! experiments, prints a verdict for each, and exits with 1 if one fails, or if one that was named cannot be done.

use leakbound_validation::experiment::{ALL, DATA, Experiment, Verdict};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// What the command line asks for.
struct Request {
    experiments: Vec<Experiment>,
    /// Whether they were named: one that is set aside is then a failure.
    named: bool,
    /// The date of the result files; None to write none.
    date: Option<String>,
}

fn main() -> ExitCode {
    match parse(std::env::args().skip(1)).and_then(|request| run(&request)) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Request, String> {
    let (mut experiments, mut write, mut date) = (Vec::new(), false, None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--write" => write = true,
            "--date" => {
                let given = arguments.next().filter(|date| is_date(date));
                date = Some(given.ok_or("--date needs a date as YYYY-MM-DD")?);
            }
            "--data" => {
                // Set once: a second folder would be ignored, so it is rejected.
                let folder = arguments.next().ok_or("--data needs a folder")?;
                DATA.set(folder.into()).map_err(|_| "--data comes twice")?;
            }
            name => experiments.push(*ALL.iter().find(|experiment| experiment.name == name).ok_or_else(|| {
                let names: Vec<&str> = ALL.iter().map(|experiment| experiment.name).collect();
                format!(
                    "`{name}` is no experiment; there are {}, and the options --write, --date and --data",
                    names.join(", ")
                )
            })?),
        }
    }
    let named = !experiments.is_empty();
    if !named {
        experiments.extend_from_slice(ALL);
    }
    let today = || time::OffsetDateTime::now_utc().date().to_string();
    Ok(Request { experiments, named, date: write.then(|| date.unwrap_or_else(today)) })
}

/// The date becomes part of a file name.
fn is_date(text: &str) -> bool {
    text.len() == 10 && text.chars().all(|c| c.is_ascii_digit() || c == '-')
}

fn run(request: &Request) -> Result<ExitCode, String> {
    let mut code = ExitCode::SUCCESS;
    for experiment in &request.experiments {
        let start = Instant::now();
        print!("{}: ", experiment.name);
        let report = (experiment.run)();
        println!("{:?}: {} in {:.1} s\n", report.verdict, experiment.name, start.elapsed().as_secs_f64());
        let aside = report.verdict == Verdict::SetAside;
        if report.verdict == Verdict::Fail || (aside && request.named) {
            code = ExitCode::FAILURE;
        }
        // What was not done replaces no result.
        if let Some(date) = request.date.as_ref().filter(|_| !aside) {
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
