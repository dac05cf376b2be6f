//! The project's own commands, run as `cargo xtask NAME`.

mod adapters;
mod additions;
mod command;
mod compare;
mod data;
mod deny;
mod fuzz;
mod gate;
mod libtorch;
mod links;
mod mutants;
mod python;
mod python_api;
mod readme;
mod release;
mod site;
mod spelling;
mod tools;
mod training;
mod venv;

use std::process::ExitCode;
use std::time::Instant;

/// Experiments that train networks.
const TRAINED: [&str; 3] = ["prompt-pate", "ihr-row", "meta-classifier"];

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test                              every check a change must pass; what CI runs
  fuzz [--seconds N] [TARGET...]    fuzz all or the named targets on stable Rust, N = 60 seconds each
  fuzz --hours N [TARGET...]        the same in rotation for N hours of processor time in all, with a result file in
                                    validation/results; goes on where it was interrupted
  bench [FILTER]                    run the benches, or those whose name contains FILTER
  compare [ARGUMENT...]             run the Python programs of benches/baselines and ours in turn and print the
                                    ratios of their rates; installs what they need in target/baselines first
  data fashion-mnist [PATH]         unpack Fashion-MNIST from Debian's package, or from PATH, and print its folder
  deny                              licenses, sources and known vulnerabilities of all dependencies; installs
                                    cargo-deny in target/tools first
  libtorch                          unpack what the feature `torch` links to into target/libtorch
  python                            the tests of the Python package, which `test` runs too
  python-api [--check]              write the modules of the Python package that `leakbound schema` says; or only compare
                                    them, with the command that the tests built
  release --dry-run                 make and check all that a release of this machine publishes, in target/release-files,
                                    and say what a person must still do
  wheel                             build the wheel of the Python package into target/wheels
  site                              build the documentation as a site into target/site and check its links; installs
                                    Sphinx in target/site-env first
  examples [--update] [PAGE...]     draw the figures of the pages again, run the blocks of all pages or of those named, and
                                    compare; or write what differs. Uses the command and the Python package of the tests
  spelling                          American spelling of all tracked files; installs codespell in target/spelling first
  validate [ARGUMENT...]            redo the published tables and figures, in release mode; `verify-others`
                                    and `libraries` install Python packages in target first, `prompt-pate`,
                                    and `ihr-row` unpack libtorch
  validate opacus [OPTION...]       audits of trainings by Opacus and by the command, some hour; installs Opacus
                                    in target/training first
  validate additions                a toy mechanism, attack, method and command, each one file and lines of a
                                    `mod.rs`, added to a copy of the repository in target, built and run
  validate mutants [OPTION...]      which changes of the statistical rooms no unit test notices; installs
                                    cargo-mutants in target/tools first";

fn main() -> ExitCode {
    if let Some(status) = links::as_rustdoc() {
        return status;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let start = Instant::now();
    let (name, outcome) = match arguments.split_first().map(|(name, rest)| (name.as_str(), rest)) {
        Some(("test", [])) => ("test", gate::run()),
        Some(("fuzz", rest)) => match fuzz::Options::parse(rest) {
            Ok(options) => ("fuzz", fuzz::run(&options)),
            Err(message) => return usage(&message),
        },
        Some(("bench", rest @ ([] | [_]))) => {
            let mut bench = command::cargo(["bench", "--workspace", "--all-features", "--bench", "*", "--"]);
            ("bench", libtorch::run().and_then(|()| command::run_visibly(bench.args(rest))))
        }
        Some(("compare", rest)) => ("compare", compare::run(rest)),
        Some(("data", [name, rest @ ..])) if name == "fashion-mnist" && rest.len() < 2 => {
            ("data", data::fashion_mnist(rest.first().map(String::as_str)))
        }
        Some(("deny", [])) => ("deny", deny::run()),
        Some(("python", [])) => ("python", python::test()),
        Some(("python-api", [])) => ("python-api", python_api::write()),
        Some(("python-api", [flag])) if flag == "--check" => ("python-api", python_api::check()),
        Some(("release", [flag])) if flag == "--dry-run" => ("release", release::dry_run()),
        Some(("wheel", [])) => ("wheel", python::wheel()),
        Some(("site", [])) => ("site", site::run()),
        Some(("examples", rest)) => ("examples", site::examples(rest)),
        Some(("spelling", [])) => ("spelling", spelling::run()),
        Some(("libtorch", [])) => ("libtorch", libtorch::run()),
        Some(("validate", [name, rest @ ..])) if name == additions::NAME => ("validate", additions::run(rest)),
        Some(("validate", [name, rest @ ..])) if name == training::NAME => ("validate", training::run(rest)),
        Some(("validate", [name, rest @ ..])) if name == mutants::NAME => ("validate", mutants::run(rest)),
        Some(("validate", rest)) => ("validate", validate(rest)),
        Some(("help" | "--help" | "-h", _)) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Some(_) => return usage(&format!("cannot read `{}`", arguments.join(" "))),
        None => return usage("a command is missing"),
    };
    let seconds = start.elapsed().as_secs_f64();
    match outcome {
        Ok(()) => {
            println!("xtask {name}: passed in {seconds:.1} s");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("xtask {name}: FAILED after {seconds:.1} s: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Runs experiments; those that train networks with what links to libtorch.
fn validate(arguments: &[String]) -> command::Outcome {
    let mut validate =
        command::cargo(["run", "--release", "-p", "leakbound-validation", "--bin", "leakbound-validation"]);
    if arguments.iter().any(|argument| TRAINED.contains(&argument.as_str())) {
        libtorch::run()?;
        validate.args(["--features", "torch"]);
    }
    adapters::install_for(arguments)?;
    command::run_visibly(validate.arg("--").args(arguments))
}

fn usage(message: &str) -> ExitCode {
    eprintln!("{message}\n{USAGE}");
    ExitCode::from(2)
}
