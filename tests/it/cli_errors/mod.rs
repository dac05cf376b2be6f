//! Every rejection of the command, as the user reads it: one line on stderr, nothing on stdout, no file left behind.

mod counts;
mod exact;
mod files;
mod options;
mod votes;

use assert_cmd::Command;
use ndarray_npy::NpzWriter;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Output;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A folder with the files of one test, in which the command runs.
struct Desk {
    folder: TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// A numpy archive.
    fn arrays(&self, name: &str, add: impl FnOnce(&mut NpzWriter<File>)) {
        let mut writer = NpzWriter::new(File::create(self.folder.path().join(name)).unwrap());
        add(&mut writer);
        writer.finish().unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_leakbound")).current_dir(self.folder.path()).args(arguments).output().unwrap()
    }

    /// The one line that a rejected run prints, without `error: `; the run must end with this status.
    fn rejected(&self, status: i32, arguments: &[&str]) -> String {
        let names = || {
            let mut names: Vec<_> = fs::read_dir(self.folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
            names.sort();
            names
        };
        let before = names();
        let mut all = arguments.to_vec();
        // Where the place of the result is not the subject, it must not appear.
        if !arguments.contains(&"--output") {
            all.extend(["--output", "result"]);
        }
        let start = Instant::now();
        let output = self.command(&all);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(start.elapsed() < Duration::from_secs(10), "{arguments:?}: {:?}", start.elapsed());
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert_eq!(names(), before, "{arguments:?}");
        let line = stderr.strip_prefix("error: ").and_then(|text| text.strip_suffix('\n'));
        let line = line.unwrap_or_else(|| panic!("{arguments:?}: {stderr}"));
        assert!(!line.contains(char::is_control), "{arguments:?}: {stderr}");
        line.to_owned()
    }

    /// Words separated by blanks.
    fn words(&self, status: i32, arguments: &str) -> String {
        self.rejected(status, &arguments.split_whitespace().collect::<Vec<_>>())
    }

    /// `audit counts` of a text.
    fn counts(&self, text: impl AsRef<[u8]>) -> String {
        self.file("a.csv", text);
        self.words(1, "audit counts a.csv")
    }

    /// `audit votes` of an archive.
    fn votes(&self, model: &str, add: impl FnOnce(&mut NpzWriter<File>)) -> String {
        self.arrays("v.npz", add);
        self.words(1, &format!("audit votes v.npz --noise gaussian:1 --model {model}"))
    }
}

/// One table that is good, so that only its companion is bad.
const GOOD: &str = "outcome,count,count_neighbor\na,60,50\nb,40,50\n";
