//! A simulation that is killed at random moments and resumed, against one that is left alone.

use crate::experiment::Report;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Rounds of the experiment, each killed until this many kills have met a running process.
const KILLS: u32 = 50;
/// How often a simulation is killed before it is left to end.
const KILLS_PER_RUN: u32 = 5;
const SEED: u64 = 9;
/// How long a simulation takes that is left alone, roughly.
const SECONDS: f64 = 2.0;

/// 40 parties with two distributions, three classes: slow enough on every machine to be killed.
const SCENARIO: &str = r#"
noise = "gaussian:4"
seed = 5

[[query]]
name = "capc"
model = "capc"
parties = [{ count = 30, p = [0.6, 0.3, 0.1] }, { count = 10, p = [0.2, 0.2, 0.6] }]
p_marked = [0.1, 0.1, 0.8]

[[query]]
name = "pate"
model = "pate"
k = 40
p = [0.5, 0.3, 0.2]
p_marked = [0.1, 0.1, 0.8]
"#;

/// Runs the command in a folder.
struct Runs<'a> {
    program: &'a Path,
    folder: &'a Path,
    samples: u64,
}

impl Runs<'_> {
    fn start(&self, output: &str, checkpoint: bool) -> Result<Child, String> {
        let mut command = Command::new(self.program);
        command.current_dir(self.folder).args(["simulate", "scenario.toml", "--format", "csv", "--quiet"]);
        command.args(["--samples", &self.samples.to_string(), "--output", output]);
        if checkpoint {
            command.args(["--checkpoint", "run.checkpoint", "--checkpoint-seconds", "0.02", "--resume"]);
        }
        command.stdin(Stdio::null()).spawn().map_err(|error| format!("{}: {error}", self.program.display()))
    }

    fn complete(&self, output: &str, checkpoint: bool) -> Result<Vec<u8>, String> {
        let status = self.start(output, checkpoint)?.wait().map_err(|error| error.to_string())?;
        if !status.success() {
            return Err(format!("the simulation ended with {status}"));
        }
        std::fs::read(self.folder.join(output)).map_err(|error| error.to_string())
    }

    /// Kills the simulation after a while; true where it was running.
    fn kill(&self, after: Duration) -> Result<bool, String> {
        let mut child = self.start("killed.csv", true)?;
        std::thread::sleep(after);
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return if status.success() { Ok(false) } else { Err(format!("the simulation ended with {status}")) };
        }
        // On Unix this is SIGKILL, which no program can see coming.
        child.kill().and_then(|()| child.wait()).map(|_| true).map_err(|error| error.to_string())
    }
}

/// Kills `program`, the command `leakbound`, at least `kills` times while it simulates, in runs of up to five kills
/// each.
pub fn compare(program: &Path, folder: &Path, kills: u32) -> Report {
    let setting = format!(
        "at least {kills} kills (SIGKILL) at random moments, seed {SEED}, each followed by --resume: counts against those \
         of a simulation that is left alone"
    );
    Report::filled(setting, |report| attempt(program, folder, kills, report))
}

fn attempt(program: &Path, folder: &Path, kills: u32, report: &mut Report) -> Result<(), String> {
    std::fs::write(folder.join("scenario.toml"), SCENARIO).map_err(|error| error.to_string())?;
    // As many samples as make the simulation last on this machine.
    let mut runs = Runs { program, folder, samples: 1_000_000 };
    let start = Instant::now();
    runs.complete("whole.csv", false)?;
    let seconds = start.elapsed().as_secs_f64();
    runs.samples = ((1e6 * SECONDS / seconds) as u64).clamp(1_000_000, 2_000_000_000);
    let whole = runs.complete("whole.csv", false)?;
    report.line(format!("{} samples per query and world", runs.samples));
    let mut moments = ChaCha8Rng::seed_from_u64(SEED);
    let (mut killed, mut run) = (0, 0);
    while killed < kills {
        run += 1;
        if run > 20 * kills {
            return Err(format!("only {killed} kills met a running process"));
        }
        let checkpoint = folder.join("run.checkpoint");
        if checkpoint.exists() {
            std::fs::remove_file(&checkpoint).map_err(|error| error.to_string())?;
        }
        let mut here = 0;
        for _ in 0..KILLS_PER_RUN.min(kills) {
            let moment = Duration::from_secs_f64(moments.random_range(0.0..0.4 * SECONDS));
            here += u32::from(runs.kill(moment)?);
        }
        killed += here;
        let share = if checkpoint.exists() { "a checkpoint" } else { "no checkpoint" };
        let counts = runs.complete("resumed.csv", true)?;
        report.claim(counts == whole, format!("run {run}: {here} kills, {share} left behind, same counts"));
    }
    let names = std::fs::read_dir(folder).map_err(|error| error.to_string())?;
    let names = names.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()));
    // A result is written once, at the end; a kill in that moment leaves its half beside it, as of every command.
    let left: Vec<String> = names.filter(|name| name.starts_with(".run.checkpoint")).collect();
    report.claim(left.is_empty(), format!("halves of checkpoints left behind: {left:?}"));
    report.line(format!("{killed} kills in {run} runs"));
    Ok(())
}

/// Builds the command and kills it 50 times.
pub fn report() -> Report {
    let built = build().and_then(|program| {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        Ok(compare(&program, folder.path(), KILLS))
    });
    built.unwrap_or_else(|error| Report::filled("the command leakbound cannot be built", |_| Err(error)))
}

/// The command, built as this program is: it lies in the same folder.
fn build() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = own.parent().ok_or("a program without a folder")?;
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--package", "leakbound-cli", "--bin", "leakbound"]);
    if folder.ends_with("release") {
        cargo.arg("--release");
    }
    let status = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).status().map_err(|error| format!("cargo: {error}"))?;
    if !status.success() {
        return Err(format!("cargo build ended with {status}"));
    }
    Ok(folder.join(format!("leakbound{}", std::env::consts::EXE_SUFFIX)))
}
