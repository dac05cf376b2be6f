//! Every message about a bad input, as the user reads it: one line with file, place, what was found and expected.

use crate::arrays::{Stored, archive};
use crate::desk::{rows_of, table};
use leakbound::model::Adversary;
use leakbound::record::{
    ArrayFile, AtomicFile, VoteFile, counts_from_bytes, distribution_from_bytes, read_counts, read_distribution,
    votes_from_bytes,
};
use leakbound::{Error, Result};
use ndarray::{Array1, Array2, Array3, array};
use std::fs::{self, File};
use std::io::Cursor;
use std::path::Path;
use std::time::{Duration, Instant};

fn message<T>(result: Result<T>) -> String {
    let error: Error = result.err().expect("the input was accepted");
    let text = error.to_string();
    assert!(!text.contains(char::is_control), "{text:?}");
    text
}

fn counts(text: &str) -> String {
    message(counts_from_bytes("a.csv", text.as_bytes()))
}

fn distribution(text: &str) -> String {
    message(distribution_from_bytes("distribution.csv", text.as_bytes()))
}

fn json(text: &str) -> String {
    message(counts_from_bytes("a.json", text.as_bytes()))
}

fn pate(bytes: Vec<u8>) -> String {
    message(votes_from_bytes("v.npz", bytes).and_then(|mut file| file.pate(Adversary::NatAdvq)))
}

/// An archive with one array of the given header and data, which no writer would write.
fn forged(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("pate_votes.npy", zip::write::SimpleFileOptions::default()).unwrap();
    std::io::Write::write_all(&mut writer, &bytes).unwrap();
    writer.finish().unwrap().into_inner()
}

#[test]
fn counts_as_csv() {
    let with = |rows: &str| counts(&format!("outcome,count,count_neighbor\n{rows}"));
    let lines = [
        message(counts_from_bytes("a.csv", b"outcome,count,count_neighbor\ncaf\xe9,1,1\n")),
        message(counts_from_bytes("a.csv", &[0; 4096])),
        counts(&format!("outcome,count,count_neighbor\n{}", "7".repeat(2 << 20))),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r"
    a.csv: line 2: found the byte 0xe9, expected UTF-8 text; hint: save the file as UTF-8
    a.csv: byte 0: found a zero byte, expected recorded counts as CSV or JSON; hint: this is binary data, not text
    a.csv: line 2: found a line of more than 1 MiB, expected one row of a table a line
    ");
    table(&rows_of("record_errors", "counts_as_csv"), counts);
    table(&rows_of("record_errors", "counts_as_csv 2"), with);
}

#[test]
fn counts_as_json() {
    let with = |count: &str| json(&format!(r#"[{{"outcome": "a", "count": {count}, "count_neighbor": 1}}]"#));
    let line = message(counts_from_bytes("a.json", b"[\n{\"outcome\": \"caf\xe9\"}]"));
    assert_eq!(line, "a.json: line 2: found the byte 0xe9, expected UTF-8 text; hint: save the file as UTF-8");
    table(&rows_of("record_errors", "counts_as_json"), json);
    table(&rows_of("record_errors", "counts_as_json 2"), with);
}

#[test]
fn distributions() {
    let json = |text: &str| message(distribution_from_bytes("distribution.json", text.as_bytes()));
    table(&rows_of("record_errors", "distributions"), distribution);
    let rows = r#"
        {"labels": ["a", "b"], "p": [0.5, 0.5], "q": [1.5, -0.5]} => distribution.json: line 1, character 49: found floating point `1.5`, expected a probability from 0 to 1
        {"labels": ["a", "b"], "p": [0.5, 0.5], "q": [1]} => distribution.json: queries[0].q: found length 1, expected 2, one per label
        [{"outcome": "a", "p": NaN, "q": 1}] => distribution.json: line 1, character 24: found `NaN, "q": 1}]`, expected JSON (expected value)
    "#;
    table(rows, json);
}

#[test]
fn archives() {
    let votes: (&str, &dyn Stored) = ("pate_votes", &Array3::<u8>::zeros((2, 3, 4)));
    let poisoned: (&str, &dyn Stored) = ("pate_nat_advq", &Array2::<u8>::zeros((2, 5)));
    let good = archive(&[votes]);
    let mut damaged = good.clone();
    let middle = damaged.iter().position(|&byte| byte == b'{').unwrap() + 120;
    damaged[middle] ^= 0xff;
    let header =
        |dtype: &str, shape: &str| format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let arrays = || ArrayFile::from_bytes("v.npz", good.clone()).unwrap();
    let mut labels = votes_from_bytes("v.npz", archive(&[("query_label", &Array1::<u8>::zeros(3))])).unwrap();
    let lines = [
        pate(Vec::new()),
        pate(b"outcome,count,count_neighbor\n".to_vec()),
        pate(b"\x93NUMPY\x01\x00".to_vec()),
        pate(good[..good.len() / 2].to_vec()),
        pate(good[..good.len() - 10].to_vec()),
        pate(damaged),
        pate(archive(&[])),
        pate(archive(&[("votes", &array![1u8])])),
        pate(good.clone()),
        pate(archive(&[("pate_votes", &Array3::<f32>::zeros((2, 3, 4)))])),
        pate(archive(&[("pate_votes", &Array2::<u8>::zeros((2, 3)))])),
        pate(archive(&[("pate_votes", &Array3::<u8>::zeros((2, 3, 0)))])),
        pate(archive(&[("pate_votes", &Array3::<i64>::from_elem((1, 1, 1), -1))])),
        pate(forged(&header("|u1", "(4000000, 1000, 250)"), b"")),
        pate(forged(&header("<i8", "(4294967296, 4294967296, 2)"), b"")),
        pate(forged(&header("|u1", "(1, 2, 3)"), b"12345")),
        pate(forged(&header("|u1", "(1, 2, 3)"), b"1234567")),
        pate(forged(&header("|O", "(1, 2, 3)"), b"123456")),
        pate(forged("{'descr': ((((((((((", b"")),
        pate(archive(&[votes, poisoned, ("adv_query", &array![0i32, 3])])),
        pate(archive(&[votes, poisoned, ("adv_query", &array![0i32]), ("query_label", &array![0u8, 1, 2])])),
        message(arrays().array::<i32, ndarray::Ix3>("pate_votes")),
        message(arrays().whole_numbers::<ndarray::Ix1>("pate_votes")),
        message(labels.prompt_pate()),
    ];
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn files_and_folders() {
    let folder = tempfile::tempdir().unwrap();
    let inside = |name: &str| folder.path().join(name);
    fs::write(inside("empty"), "").unwrap();
    let without_folder = |text: String| text.replace(&format!("{}/", folder.path().display()), "");
    fs::create_dir(inside("folder")).unwrap();
    insta::assert_snapshot!(without_folder(
        [
            message(read_counts(inside("none.csv"))),
            message(read_distribution(inside("none.csv"))),
            message(VoteFile::open(inside("none.npz"))),
            message(read_counts(inside("folder"))),
            message(VoteFile::open(inside("folder"))),
            message(read_counts(inside("empty"))),
            message(VoteFile::open(inside("empty"))),
            message(AtomicFile::create(inside("folder"))),
            message(AtomicFile::create(inside("none").join("result.json"))),
        ]
        .join("\n")
    ));
}

#[test]
fn two_gigabytes_of_zeros_are_rejected_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let zeros = |name: &str, start: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, start).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(2 << 30).unwrap();
        path
    };
    let timed = |read: &dyn Fn(&Path) -> String, path: &Path| {
        let start = Instant::now();
        let text = read(path).replace(&format!("{}/", folder.path().display()), "");
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}: {text}", start.elapsed());
        text
    };
    let read_counts = |path: &Path| message(read_counts(path));
    let open = |path: &Path| message(VoteFile::open(path));
    let rows = format!(
        "outcome,count,count_neighbor\n{}",
        (0..9_000).map(|row| format!("outcome {row},1,1\n")).collect::<String>()
    );
    let lines = [
        timed(&read_counts, &zeros("a.csv", b"")),
        timed(&read_counts, &zeros("a.json", b"")),
        timed(&read_counts, &zeros("b.csv", b"world,output\ns,1\n")),
        timed(&read_counts, &zeros("c.csv", rows.as_bytes())),
        timed(&|path| message(read_distribution(path)), &zeros("distribution.csv", b"")),
        timed(&open, &zeros("a.npz", b"")),
        timed(&open, &zeros("b.npz", b"PK\x03\x04")),
    ];
    insta::assert_snapshot!(lines.join("\n"));
}
