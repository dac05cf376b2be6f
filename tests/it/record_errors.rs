//! Every message about a bad input, as the user reads it: one line with file, place, what was found and expected.

use crate::arrays::{Stored, archive};
use crate::desk::table;
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
    let rows = r"
        => a.csv: whole file: found an empty file, expected recorded counts as CSV or JSON
        \n \n\r\n => a.csv: whole file: found nothing but blank lines, expected `outcome`, `count`, `count_neighbor` or `world`, `output`, each optionally with `query`
        outcome,count,count_neighbor\n => a.csv: line 1: found a header without rows, expected at least 1 row
        world,output\r\n\r\n => a.csv: line 1: found a header without rows, expected at least 1 row
        outcome,count\na,1\n => a.csv: line 1: found columns `outcome`, `count`, expected the column `count_neighbor`
        a,b\n1,2\n => a.csv: line 1: found columns `a`, `b`, expected `outcome`, `count`, `count_neighbor` or `world`, `output`, each optionally with `query`
        outcome,count,count,count_neighbor\n => a.csv: line 1: found the column `count` twice, expected each column once
        query,outcome,count,count_neighbor\nq,a,1,1\n,b,1,1\n => a.csv: line 3, column query: found an empty field, expected a name of 1 to 1024 bytes without control characters
        query,outcome,count,count_neighbor\nq,a,1,1\nr,a,1,0\n => a.csv: query `r`: found 0 samples under the neighbor (s_prime), expected at least 1 sample in each world; hint: a bound compares the outputs of two worlds; record both
        world,output\ns,a\nt,b\n => a.csv: line 3, column world: found `t`, expected `s` or `s_prime`
        world,output\ns,a\ns,b\n => a.csv: whole file: found 0 samples under the neighbor (s_prime), expected at least 1 sample in each world; hint: a bound compares the outputs of two worlds; record both
    ";
    table(rows, counts);
    let rows = r#"
        yes,-3,1 => a.csv: line 2, column count: found `-3`, expected a whole number from 0 to 2^53; hint: counts are never negative
        yes,1,2.5 => a.csv: line 2, column count_neighbor: found `2.5`, expected a whole number from 0 to 2^53; hint: counts are written with digits only
        yes,1e3,1 => a.csv: line 2, column count: found `1e3`, expected a whole number from 0 to 2^53; hint: counts are written with digits only
        yes,NaN,1 => a.csv: line 2, column count: found `NaN`, expected a whole number from 0 to 2^53
        yes,,1 => a.csv: line 2, column count: found an empty field, expected a whole number from 0 to 2^53
        yes,9007199254740993,1 => a.csv: line 2, column count: found `9007199254740993`, expected a whole number from 0 to 2^53; hint: above 2^53 a double no longer holds every whole number
        yes,123456789012345678901234567890123456789012345678901234567890123456789,1 => a.csv: line 2, column count: found `123456789012345678901234567890123456789012345678901234567890123456789`, expected a whole number from 0 to 2^53; hint: above 2^53 a double no longer holds every whole number
        yes,\e[2J,1 => a.csv: line 2, column count: found `\u{1b}[2J`, expected a whole number from 0 to 2^53
        yes,1,1\nno,1\n => a.csv: line 3: found 2 fields, expected 3 as in the header
        yes,1,1\r\n\r\nno,1,1,1\r\n => a.csv: line 4: found 4 fields, expected 3 as in the header
        yes,1,1\nno,1,1\nyes,2,2 => a.csv: line 4, column outcome: found `yes` a second time, expected each outcome once per query
        ,1,1 => a.csv: line 2, column outcome: found an empty field, expected a name of 1 to 1024 bytes without control characters; hint: give an absent answer a name, such as none
        yes,0,1\nno,0,1 => a.csv: whole file: found 0 samples under the dataset (s), expected at least 1 sample in each world; hint: a bound compares the outputs of two worlds; record both
        yes,1,0 => a.csv: whole file: found 0 samples under the neighbor (s_prime), expected at least 1 sample in each world; hint: a bound compares the outputs of two worlds; record both
        "yes,1,1\nno,2,2\n => a.csv: line 2: found `"yes,1,1` without a closing quote, expected a closing quote; hint: a field ends on its line; a quote inside a field is doubled
    "#;
    table(rows, with);
}

#[test]
fn counts_as_json() {
    let with = |count: &str| json(&format!(r#"[{{"outcome": "a", "count": {count}, "count_neighbor": 1}}]"#));
    let line = message(counts_from_bytes("a.json", b"[\n{\"outcome\": \"caf\xe9\"}]"));
    assert_eq!(line, "a.json: line 2: found the byte 0xe9, expected UTF-8 text; hint: save the file as UTF-8");
    let rows = r#"
        outcome,count => a.json: line 1, character 1: found `outcome,count`, expected JSON (expected value)
        [{"outcome": "a", => a.json: line 1, character 17: found the end of the text, expected JSON that is complete (EOF while parsing a value); hint: the file may be cut off
        [] => a.json: whole file: found no outcome, expected at least 1 outcome
        {} => a.json: outermost object: found another set of members, expected `queries`, or one query's `labels`, `counts` and `counts_neighbor`
        [7] => a.json: line 1, character 2: found integer `7`, expected an object with `outcome`, `count`, `count_neighbor`
        {"labels": ["a"], "counts": [1, 2], "counts_neighbor": [1]} => a.json: queries[0].counts: found length 2, expected 1, one per label
        {"queries": [{"labels": ["a"], "counts": [1], "counts_neighbor": [1], "weights": [1]}]} => a.json: line 1, character 79: found unknown field `weights`, expected one of `query`, `labels`, `counts`, `counts_neighbor`
    "#;
    table(rows, json);
    let rows = r#"
        -3 => a.json: line 1, character 29: found integer `-3`, expected a whole number from 0 to 2^53
        2.5 => a.json: line 1, character 30: found floating point `2.5`, expected a whole number from 0 to 2^53
        1e3 => a.json: line 1, character 30: found floating point `1000.0`, expected a whole number from 0 to 2^53
        NaN => a.json: line 1, character 28: found `NaN, "count_neighbor...`, expected JSON (expected value)
        "3" => a.json: line 1, character 30: found string "3", expected a whole number from 0 to 2^53
        null => a.json: line 1, character 31: found null, expected a whole number from 0 to 2^53
        9007199254740993 => a.json: line 1, character 43: found integer `9007199254740993`, expected a whole number from 0 to 2^53
        0 => a.json: whole file: found 0 samples under the dataset (s), expected at least 1 sample in each world; hint: a bound compares the outputs of two worlds; record both
    "#;
    table(rows, with);
}

#[test]
fn distributions() {
    let json = |text: &str| message(distribution_from_bytes("distribution.json", text.as_bytes()));
    let rows = r"
        => distribution.csv: whole file: found an empty file, expected the distribution of the outputs as CSV or JSON
        outcome,p,q\n => distribution.csv: line 1: found a header without rows, expected at least 1 row
        outcome,p\na,1\n => distribution.csv: line 1: found columns `outcome`, `p`, expected the column `q`
        outcome,count,count_neighbor\na,1,1\n => distribution.csv: line 1: found columns `outcome`, `count`, `count_neighbor`, expected the column `p`
        outcome,p,q\na,NaN,1\n => distribution.csv: line 2, column p: found `NaN`, expected a probability from 0 to 1
        outcome,p,q\na,1,-0.5\n => distribution.csv: line 2, column q: found `-0.5`, expected a probability from 0 to 1
        outcome,p,q\na,12,1\n => distribution.csv: line 2, column p: found `12`, expected a probability from 0 to 1; hint: counts go in the columns count and count_neighbor of a counts file
        outcome,p,q\na,,1\n => distribution.csv: line 2, column p: found an empty field, expected a probability from 0 to 1
        outcome,p,q\na,0.5,0.5\nb,0.4,0.5\n => distribution.csv: whole file: found p summing to 0.9, expected probabilities that sum to 1 within 1e-9
        outcome,p,q\na,0.5,0.5\na,0.5,0.5\n => distribution.csv: line 3, column outcome: found `a` a second time, expected each outcome once per query
        query,outcome,p,q\nx,a,1,1\ny,a,1,0.999999\n => distribution.csv: query `y`: found q summing to 0.999999, expected probabilities that sum to 1 within 1e-9
    ";
    table(rows, distribution);
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
    insta::assert_snapshot!(lines.join("\n"), @r"
    v.npz: whole file: found an empty file, expected a numpy archive (.npz)
    v.npz: whole file: found a file that starts with 6f 75 74 63 6f 6d, expected a numpy archive (.npz); hint: write it with numpy.savez_compressed
    v.npz: whole file: found a file that starts with 93 4e 55 4d 50 59, expected a numpy archive (.npz); hint: this is a single array (.npy); name it with numpy.savez(file, pate_votes=array)
    v.npz: whole file: found an archive without its directory, expected a complete numpy archive (.npz); hint: the file may be cut off
    v.npz: whole file: found an archive whose directory cannot be read (i/o error), expected a numpy archive (.npz); hint: the file may be cut off or damaged
    v.npz: array `pate_votes`: found data that cannot be unpacked (Invalid checksum), expected an array as numpy.savez or savez_compressed writes it; hint: the file may be damaged
    v.npz: whole file: found an archive without arrays, expected at least 1 array
    v.npz: whole file: found arrays `votes`, expected the array `pate_votes`
    v.npz: whole file: found arrays `pate_votes`, expected the array `pate_nat_advq`
    v.npz: array `pate_votes`: found dtype `f32`, expected an integer dtype; hint: numpy converts with .astype(numpy.int64)
    v.npz: array `pate_votes`: found shape [2, 3], expected 3 axes
    v.npz: array `pate_votes`: found shape [2, 3, 0], expected at least 1 entry on axis 2
    v.npz: array `pate_votes`, index [0, 0, 0]: found `-1`, expected a class from 0 to 9999
    v.npz: array `pate_votes`: found less data, expected 1000000000000 bytes of data for shape [4000000, 1000, 250]; hint: the file may be cut off
    v.npz: array `pate_votes`: found shape [4294967296, 4294967296, 2] of dtype `i64`, expected an array of fewer than 2^62 bytes
    v.npz: array `pate_votes`: found less data, expected 6 bytes of data for shape [1, 2, 3]; hint: the file may be cut off
    v.npz: array `pate_votes`: found more data, expected 6 bytes of data for shape [1, 2, 3]
    v.npz: array `pate_votes`: found dtype `|O`, expected an integer dtype; hint: numpy converts with .astype(numpy.int64)
    v.npz: array `pate_votes`: found a structured dtype, expected a numpy array
    v.npz: array `adv_query`, index [1]: found `3`, expected a position from 0 to 2 of `pate_votes`
    v.npz: array `pate_nat_advq`: found 2 rows, expected 1 row, one per entry of `adv_query`
    v.npz: array `pate_votes`: found dtype `u8`, expected dtype `i32`
    v.npz: array `pate_votes`: found shape [2, 3, 4], expected 1 axis
    v.npz: whole file: found arrays `query_label`, expected either `votes` and `votes_prime` or `histogram` and `histogram_prime`
    ");
}

#[test]
fn files_and_folders() {
    let folder = tempfile::tempdir().unwrap();
    let inside = |name: &str| folder.path().join(name);
    fs::write(inside("empty"), "").unwrap();
    let without_folder = |text: String| text.replace(&format!("{}/", folder.path().display()), "");
    fs::create_dir(inside("folder")).unwrap();
    insta::assert_snapshot!(
        without_folder(
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
        ),
        @r"
        none.csv: cannot read: No such file or directory (os error 2)
        none.csv: cannot read: No such file or directory (os error 2)
        none.npz: cannot read: No such file or directory (os error 2)
        folder: whole file: found a directory, expected a file; hint: name one file inside it
        folder: whole file: found a directory, expected a file; hint: name one file inside it
        empty: whole file: found an empty file, expected recorded counts as CSV or JSON
        empty: whole file: found an empty file, expected a numpy archive (.npz)
        folder: cannot write: is a directory
        none/result.json: cannot write: No such file or directory (os error 2)
        "
    );
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
    insta::assert_snapshot!(lines.join("\n"), @r"
    a.csv: byte 0: found a zero byte, expected recorded counts as CSV or JSON; hint: this is binary data, not text
    a.json: byte 0: found a zero byte, expected recorded counts as CSV or JSON; hint: this is binary data, not text
    b.csv: byte 17: found a zero byte, expected recorded counts as CSV or JSON; hint: this is binary data, not text
    c.csv: line 9002: found a line of more than 1 MiB, expected one row of a table a line
    distribution.csv: byte 0: found a zero byte, expected the distribution of the outputs as CSV or JSON; hint: this is binary data, not text
    a.npz: whole file: found a file that starts with 00 00 00 00 00 00, expected a numpy archive (.npz); hint: write it with numpy.savez_compressed
    b.npz: whole file: found an archive without its directory, expected a complete numpy archive (.npz); hint: the file may be cut off
    ");
}
