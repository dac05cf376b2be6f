//! `cargo xtask release --dry-run`: everything that a release of this machine publishes, in one folder with checksums, and
//! what a person must still do. Nothing is published.

use crate::command::{self, Outcome, cargo, output, run_quietly, run_visibly};
use crate::tools::CYCLONEDX;
use crate::venv::Environment;
use crate::{libtorch, python};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the files of a release are put together.
const FOLDER: &str = "target/release-files";
/// Where they are tried.
const TRIAL: &str = "target/release-trial";
/// Where packages of Python are installed to be tried.
const INSTALLED: Environment = Environment::new("target/release-installed");
/// A first bound, as in `docs/start/command.md`, and a figure of its answer.
const FIRST: [&str; 10] = ["audit", "confusion", "--tp", "900", "--fn", "100", "--fp", "50", "--tn", "950"];
const FIRST_EPSILON: &str = " 2.56111 ";
/// Checks of Python packages.
const CHECKS: Environment = Environment::new("target/release-checks");
const CHECKERS: &str = "twine>=6,<7\nabi3audit>=0.0.24\nauditwheel>=6.4\npatchelf\n";
const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];
const TEXTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Makes the files and checks them.
pub fn dry_run() -> Outcome {
    print!("{}", released(&["check"])?);
    let folder = emptied(FOLDER)?;
    emptied(TRIAL)?;
    let version = version()?;
    crates(released(&["crates"])?.split_whitespace(), &version, &folder)?;
    python_packages(&folder)?;
    program(&version, &folder)?;
    components(&folder)?;
    let sums = checksums(&folder)?;
    println!("\n{FOLDER}:\n{sums}");
    println!("What a person must still do for v{version}:");
    let mut check = command::program("python3");
    check.args(["packaging/release.py", "check", "--tag", &format!("v{version}")]);
    let left = check.output().map_err(|error| command::failure(&check, &error))?;
    for line in String::from_utf8_lossy(&left.stdout).lines() {
        println!("  - {line}");
    }
    println!("  - tag v{version}: the workflow `release` builds the other systems and publishes (see CONTRIBUTING.md)");
    Ok(())
}

/// What `packaging/release.py` says.
fn released(words: &[&str]) -> Result<String, String> {
    output(command::program("python3").arg("packaging/release.py").args(words))
}

/// A folder without files.
fn emptied(name: &str) -> Result<PathBuf, String> {
    let folder = command::root().join(name);
    let io = |error: std::io::Error| format!("{name}: {error}");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(io)?;
    }
    fs::create_dir_all(&folder).map_err(io)?;
    Ok(folder)
}

/// The version of the workspace.
fn version() -> Result<String, String> {
    let manifest = fs::read_to_string(command::root().join("Cargo.toml")).map_err(|error| error.to_string())?;
    let line = manifest.lines().find_map(|line| line.strip_prefix("version = \""));
    let version = line.and_then(|line| line.strip_suffix('"')).ok_or("Cargo.toml: no version of the workspace")?;
    Ok(version.into())
}

/// Packages for crates.io, each built from its archive alone.
fn crates<'a>(names: impl Iterator<Item = &'a str>, version: &str, folder: &Path) -> Outcome {
    libtorch::run()?;
    let names: Vec<&str> = names.collect();
    forget_packaged(&names, version)?;
    let mut package = cargo(["package", "--locked"]);
    for name in &names {
        package.args(["--package", name]);
    }
    run_visibly(&mut package)?;
    for name in names {
        copy(&command::root().join(format!("target/package/{name}-{version}.crate")), folder)?;
    }
    Ok(())
}

/// Removes what cargo keeps of archives of this version. It takes an archive with the name and version of an earlier one
/// for the same, so that packages would be built against what another one was packaged as before.
fn forget_packaged(names: &[&str], version: &str) -> Outcome {
    let mut clean = cargo(["clean"]);
    for name in names {
        clean.args(["--package", name]);
    }
    run_quietly(&mut clean)?;
    let home = std::env::home_dir().map(|home| home.join(".cargo"));
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or(home).ok_or("CARGO_HOME: not set")?;
    let Ok(registries) = fs::read_dir(home.join("registry/src")) else { return Ok(()) };
    // The registry of archives that are not published has no name before the hyphen.
    let unnamed = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('-'));
    for registry in registries.flatten().map(|entry| entry.path()).filter(unnamed) {
        for name in names {
            let kept = registry.join(format!("{name}-{version}"));
            if kept.exists() {
                fs::remove_dir_all(&kept).map_err(|error| format!("{}: {error}", kept.display()))?;
            }
        }
    }
    Ok(())
}

/// The wheel, built twice to the same bytes, and the source of the Python package.
fn python_packages(folder: &Path) -> Outcome {
    let first = python::built_wheel()?;
    let before = sum(&first)?;
    copy(&first, &command::root().join(TRIAL))?;
    // What was compiled for the first is not taken for the second.
    forget("dist")?;
    let second = python::built_wheel()?;
    if sum(&second)? != before {
        return Err(format!("{}: a build before, kept in {TRIAL}, has other bytes", second.display()));
    }
    println!("two builds of the wheel have the same bytes");
    let wheel = copy(&second, folder)?;
    let source = copy(&python::built_source()?, folder)?;
    CHECKS.require(CHECKERS)?;
    run_visibly(CHECKS.python().args(["-m", "twine", "check", "--strict"]).args([&wheel, &source]))?;
    run_visibly(CHECKS.python().args(["-m", "abi3audit", "--strict", "--report"]).arg(&wheel))?;
    run_visibly(CHECKS.python().args(["-m", "auditwheel", "show"]).arg(&wheel))?;
    installed(&wheel, &source)
}

/// Removes what was compiled of the packages that a wheel has in a profile, so that it is compiled again.
fn forget(profile: &str) -> Outcome {
    let mut clean = cargo(["clean", "--profile", profile, "--package", "leakbound-python"]);
    for name in released(&["crates"])?.split_whitespace() {
        clean.args(["--package", name]);
    }
    run_quietly(&mut clean)
}

/// The command of the package gives a first bound: as it comes from the wheel, and as it comes from the source, which pip
/// builds in a folder of its own.
fn installed(wheel: &Path, source: &Path) -> Outcome {
    INSTALLED.require("numpy>=1.23\n")?;
    let from_source = command::root().join(TRIAL).join("from-source");
    // Dependencies are compiled already. The rest is not: cargo would take it for that of the source.
    forget("release")?;
    let mut build = INSTALLED.pip();
    build.args(["wheel", "--quiet", "--no-deps", "--wheel-dir"]).arg(&from_source).arg(source);
    run_visibly(build.env("CARGO_TARGET_DIR", command::root().join("target")))?;
    let built = listed(&from_source)?;
    for path in &built {
        // Where maturin left it among the others.
        let _ = fs::remove_file(command::root().join("target/wheels").join(path.file_name().unwrap_or_default()));
    }
    for package in built.iter().map(PathBuf::as_path).chain([wheel]) {
        run_visibly(INSTALLED.pip().args(["install", "--quiet", "--force-reinstall", "--no-deps"]).arg(package))?;
        first_bound(&INSTALLED.program("leakbound"))?;
    }
    Ok(())
}

/// Whether a program gives a first bound, with nothing of this environment.
fn first_bound(program: &Path) -> Outcome {
    let mut bound = Command::new(program);
    let answer = output(bound.env_clear().current_dir(command::root().join(TRIAL)).args(FIRST))?;
    if !answer.contains(FIRST_EPSILON) {
        return Err(format!("{}: another answer than in docs/start/command.md:\n{answer}", program.display()));
    }
    println!("{}: a first bound", program.display());
    Ok(())
}

/// The command with its manual page and completions.
fn program(version: &str, folder: &Path) -> Outcome {
    run_visibly(&mut cargo([
        "build",
        "--profile",
        "dist",
        "--locked",
        "--package",
        "leakbound-cli",
        "--bin",
        "leakbound",
    ]))?;
    let host = output(command::program("rustc").arg("-vV"))?;
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc names no host")?;
    let name = format!("leakbound-{version}-{host}");
    let place = folder.join(&name);
    let built = command::root().join("target/dist/leakbound");
    let io = |error: std::io::Error| format!("{}: {error}", place.display());
    fs::create_dir_all(place.join("completions")).map_err(io)?;
    for shell in SHELLS {
        let text = output(Command::new(&built).args(["completions", shell]))?;
        fs::write(place.join("completions").join(format!("leakbound.{shell}")), text).map_err(io)?;
    }
    fs::write(place.join("leakbound.1"), output(Command::new(&built).arg("man"))?).map_err(io)?;
    copy(&built, &place)?;
    for text in TEXTS {
        copy(&command::root().join(text), &place)?;
    }
    let archive = format!("{name}.tar.gz");
    run_visibly(command::program("tar").current_dir(folder).args(["czf", &archive, &name]))?;
    fs::remove_dir_all(&place).map_err(io)?;
    let trial = command::root().join(TRIAL);
    run_visibly(command::program("tar").current_dir(&trial).arg("xzf").arg(folder.join(&archive)))?;
    first_bound(&trial.join(&name).join("leakbound"))
}

/// What the command and the module of Python are made of (CycloneDX).
fn components(folder: &Path) -> Outcome {
    CYCLONEDX.require()?;
    let time = output(command::program("git").args(["log", "-1", "--format=%ct"]))?;
    let here = format!("file://{}", command::root().display());
    for manifest in ["cli/Cargo.toml", "python/Cargo.toml"] {
        let mut list = cargo(["cyclonedx", "--format", "json", "--target", "all", "--manifest-path", manifest]);
        let tools = command::root().join("target/tools/bin");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let all = std::env::join_paths(std::iter::once(tools).chain(std::env::split_paths(&path)));
        // With the time of the commit there is no random number either.
        list.env("PATH", all.map_err(|error| error.to_string())?).env("SOURCE_DATE_EPOCH", time.trim());
        run_quietly(&mut list)?;
    }
    for member in ["", "cli", "python", "train", "validation", "xtask"] {
        for path in listed(&command::root().join(member))? {
            if path.to_string_lossy().ends_with(".cdx.json") {
                let io = |error: std::io::Error| format!("{}: {error}", path.display());
                if matches!(member, "cli" | "python") {
                    let list = fs::read_to_string(&path).map_err(io)?.replace(&here, "file://.");
                    fs::write(folder.join(path.file_name().ok_or("a file without a name")?), list).map_err(io)?;
                }
                fs::remove_file(&path).map_err(io)?;
            }
        }
    }
    Ok(())
}

/// Writes `SHA256SUMS` of all files, and gives it.
fn checksums(folder: &Path) -> Result<String, String> {
    let files: Vec<PathBuf> = listed(folder)?.into_iter().filter_map(|path| Some(path.file_name()?.into())).collect();
    let sums = output(Command::new("sha256sum").current_dir(folder).arg("--").args(files))?;
    fs::write(folder.join("SHA256SUMS"), &sums).map_err(|error| format!("SHA256SUMS: {error}"))?;
    Ok(sums)
}

fn sum(path: &Path) -> Result<String, String> {
    let line = output(Command::new("sha256sum").arg(path))?;
    Ok(line.split_whitespace().next().unwrap_or_default().to_owned())
}

/// The files of a folder by their names.
fn listed(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    Ok(files)
}

/// Copies a file into a folder, and says where it is there.
fn copy(from: &Path, folder: &Path) -> Result<PathBuf, String> {
    let copied = folder.join(from.file_name().ok_or("a file without a name")?);
    fs::copy(from, &copied).map_err(|error| format!("{}: {error}", from.display()))?;
    Ok(copied)
}
