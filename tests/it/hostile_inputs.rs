//! Files that change while they are read, that ask for more memory than there is, pipes, and names that rewrite a
//! terminal.

use crate::arrays::npy;
use crate::desk::Desk;
use leakbound::membership::{ScoreBlock, ShadowScores};
use leakbound::record::{MemoryBudget, ShadowRecording, VoteFile, read_shadow_models};
use ndarray::{Array2, Array3, Array4, array};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Writes over a file in place, as long after the last time as every file system tells apart.
fn overwrite(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() + Duration::from_secs(5)).unwrap();
}

fn scores(desk: &Desk, name: &str, plus: f64) -> PathBuf {
    let scores = Array3::from_shape_fn((8, 6, 1), |(m, s, _)| (m * 5 + s) as f64 % 7.0 + plus);
    desk.arrays(name, &[("scores", &scores), ("keep", &Array2::from_shape_fn((8, 6), |(m, s)| (m + s) % 2 == 0))])
}

#[test]
fn a_file_that_is_overwritten_while_it_is_read_gives_no_result() {
    let desk = Desk::new();
    let path = scores(&desk, "s.npz", 0.0);
    let other = fs::read(scores(&desk, "t.npz", 1.0)).unwrap();
    let recording = read_shadow_models(std::slice::from_ref(&path), MemoryBudget::of_machine()).unwrap();
    overwrite(&path, &other);
    let error = recording.inputs().unwrap_err().to_string();
    assert!(error.contains("s.npz: whole file: found a file that changed while it was read"), "{error}");

    let votes = |name: &str, first: u8| desk.arrays(name, &[("votes", &array![[first, 1, 2]])]);
    let (path, other) = (votes("v.npz", 0), fs::read(votes("w.npz", 2)).unwrap());
    let mut file = VoteFile::open(&path).unwrap();
    overwrite(&path, &other);
    let error = file.histograms(0).unwrap_err().to_string();
    assert!(error.contains("v.npz: "), "{error}");
}

#[test]
fn a_file_that_is_replaced_while_it_is_read_keeps_its_own_identity() {
    let desk = Desk::new();
    let path = scores(&desk, "s.npz", 0.0);
    let before = read_shadow_models(std::slice::from_ref(&path), MemoryBudget::of_machine()).unwrap();
    let identity = before.inputs().unwrap();
    fs::rename(scores(&desk, "t.npz", 1.0), &path).unwrap();
    let ShadowRecording::Scores(file) = &before else { panic!("scores expected") };
    let ScoreBlock::Double(block) = file.block(0..6).unwrap() else { panic!("doubles expected") };
    assert_eq!(block[[0, 0, 0]], 0.0);
    assert_eq!(before.inputs().unwrap(), identity);
    let after = read_shadow_models(&[path], MemoryBudget::of_machine()).unwrap();
    assert_ne!(after.inputs().unwrap()[0].sha256, identity[0].sha256);
}

#[test]
fn memory_is_counted_before_it_is_taken() {
    let desk = Desk::new();
    // 4 MB as they are stored, 32 MB as numbers of 64 bits, and what an accountant holds of each query.
    desk.compressed("h.npz", &[("histogram", &Array2::<u8>::ones((1 << 20, 4)))]);
    let line = desk.rejected(1, "account h.npz --noise gaussian:2 --max-memory 64M");
    assert_eq!(
        line,
        "h.npz: array `histogram`: found data that take 128.0 MiB of memory, expected at most 64.0 MiB; hint: split \
         the recording, or allow more (`max-memory`) where the machine has it"
    );
    desk.compressed("v.npz", &[("votes", &Array2::<u8>::zeros((1, 1 << 21)))]);
    let line = desk.rejected(1, "account v.npz --noise gaussian:2 --max-memory 3M");
    assert!(line.starts_with("v.npz: array `votes`: found shape [1, 2097152], data that take 4.0 MiB"), "{line}");
    desk.stdout("account v.npz --noise gaussian:2 --max-memory 64M");
    assert!(desk.rejected(2, "account v.npz --noise gaussian:2 --max-memory 4").contains("such as 4G"));
}

#[test]
fn shapes_are_compared_before_anything_is_read() {
    let desk = Desk::new();
    desk.file("logits.npy", npy(&Array4::<f32>::zeros((4, 3, 1, 2))));
    desk.file("labels.npy", npy(&array![0i64, 1, 0]));
    // A file of 80 GB that takes no room on the disk.
    let header = npy(&Array2::<bool>::default((1, 1)));
    let text = String::from_utf8_lossy(&header).replace("(1, 1)", "(4, 20000000000)");
    let mut header: Vec<u8> = header[..10].to_vec();
    let dictionary = text[text.find('{').unwrap()..=text.find('}').unwrap()].to_owned();
    header.extend(format!("{dictionary:117}\n").bytes());
    header[8] = 118;
    let keep = desk.file("keep.npy", &header);
    File::options().write(true).open(keep).unwrap().set_len(128 + 80_000_000_000).unwrap();
    let line = desk.rejected(1, "membership lira --logits logits.npy --labels labels.npy --keep keep.npy");
    assert_eq!(
        line,
        "keep.npy: whole file: found shape [4, 20000000000], expected shape [4, 3], a truth value for each model and sample"
    );
}

#[test]
fn a_score_that_is_no_confidence_is_named_with_its_place() {
    let desk = Desk::new();
    scores(&desk, "s.npz", 0.5);
    let line = desk.rejected(1, "membership rmia s.npz");
    assert_eq!(line, "s.npz: array `scores`, index [0, 1, 0]: found `1.5`, expected a confidence from 0 to 1");
}

const CANARIES: &str = "label_true,label_trained,p_0,p_1,p_2\n0,1,.5,.3,.2\n1,2,.2,.6,.2\n2,0,.1,.2,.7\n0,2,.6,.2,.2\n";

#[cfg(unix)]
#[test]
fn a_pipe_is_read_once() {
    let desk = Desk::new();
    desk.file("l.csv", CANARIES);
    let made = std::process::Command::new("mkfifo").arg(desk.path("l.pipe")).status().unwrap();
    assert!(made.success());
    let pipe = desk.path("l.pipe");
    let writer = std::thread::spawn(move || fs::write(pipe, CANARIES).unwrap());
    let epsilon = |name: &str| {
        let document = desk.json(&["label-dp", "memorization", name]);
        (document["epsilon"].clone(), document["inputs"][0]["sha256"].clone())
    };
    let piped = epsilon("l.pipe");
    writer.join().unwrap();
    assert_eq!(piped, epsilon("l.csv"));
    // An archive is read at several places; nobody waits for the other end of the pipe.
    let line = desk.rejected(1, "account l.pipe --noise gaussian:2");
    assert!(line.contains("a pipe or device") && line.ends_with("save it as a file first"), "{line}");
}

#[test]
fn names_that_rewrite_a_terminal_are_rejected_or_spelled_out() {
    let desk = Desk::new();
    for name in ['\u{fffe}', '\u{ffff}', '\u{9b}', '\u{7f}', '\u{202e}', '\u{61c}'] {
        let text = format!("query,outcome,count,count_neighbor\nq{name},a,5,5\nq{name},b,5,5\n");
        desk.file("q.csv", text);
        let line = desk.rejected(1, "audit counts q.csv");
        let code = u32::from(name);
        assert!(line.starts_with(&format!("q.csv: line 2, column query: found `q\\u{{{code:x}}}`")), "{line}");
    }
    #[cfg(unix)]
    {
        let name = "c\u{9b}2J\u{7f}\u{202e}\u{ffff}.csv";
        desk.file(name, "outcome,count,count_neighbor\na,50,40\nb,50,60\n");
        for format in ["json", "text", "csv"] {
            let stdout = desk.stdout(&["audit", "counts", name, "--format", format, "--report", "page.html"]);
            let page = desk.text("page.html");
            roxmltree::Document::parse(page.trim_start_matches("<!DOCTYPE html>")).unwrap();
            for hidden in ['\u{9b}', '\u{7f}', '\u{202e}', '\u{ffff}'] {
                assert!(![&stdout, &page].iter().any(|text| text.contains(hidden)), "{hidden:?} in {format}");
            }
            if format == "json" {
                let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
                assert_eq!(document["inputs"][0]["name"], name);
            }
        }
    }
}
