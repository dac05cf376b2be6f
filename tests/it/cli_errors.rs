//! Every rejection of the command, as the user reads it: one line on stderr, nothing on stdout, no file left behind.

use crate::arrays::{Arrays, Stored};
use crate::desk::{Desk, rows_of, table};
use ndarray::{Array1, Array2, Array3, array};
use std::fs::{self, File};

/// `audit counts` of a text.
fn counts(desk: &Desk, text: impl AsRef<[u8]>) -> String {
    desk.file("a.csv", text);
    desk.rejected(1, "audit counts a.csv")
}

/// `audit votes` of an archive.
fn votes(desk: &Desk, model: &str, arrays: &Arrays<'_>) -> String {
    desk.arrays("v.npz", arrays);
    desk.rejected(1, &format!("audit votes v.npz --noise gaussian:1 --model {model}"))
}

/// One table that is good, so that only its companion is bad.
const GOOD: &str = "outcome,count,count_neighbor\na,60,50\nb,40,50\n";

#[test]
fn values_of_noise() {
    Desk::new().rejects("exact --histogram 5,3 --neighbor 4,4", &rows_of("cli_errors", "values_of_noise"));
}

#[test]
fn values_of_exact() {
    Desk::new()
        .rejects("exact --histogram 5,3 --neighbor 4,4 --noise gaussian:1", &rows_of("cli_errors", "values_of_exact"));
}

#[test]
fn values_of_audit_counts_and_confusion() {
    let desk = Desk::new();
    desk.file("a.csv", GOOD);
    desk.rejects("audit", &rows_of("cli_errors", "values_of_audit_counts_and_confusion"));
}

#[test]
fn values_of_audit_votes() {
    Desk::new()
        .rejects("audit votes v.npz --noise gaussian:1 --model", &rows_of("cli_errors", "values_of_audit_votes"));
}

/// Unknown and missing options keep the usage text that clap prints.
#[test]
fn unknown_options_end_with_2() {
    let desk = Desk::new();
    for arguments in ["exact --histogran 1", "exact", "audit", "magic", "", "audit counts a --pilot b --distribution c"]
    {
        let ran = desk.run(arguments);
        assert_eq!((ran.status, &*ran.stdout), (2, ""), "{arguments}");
        assert!(!ran.stderr.is_empty(), "{arguments}");
    }
}

#[test]
fn tables_of_counts() {
    let desk = Desk::new();
    let with = |rows: &str| counts(&desk, format!("outcome,count,count_neighbor\n{rows}"));
    let lines = [
        counts(&desk, b"outcome,count,count_neighbor\ncaf\xe9,1,1\n"),
        counts(&desk, [0u8; 100]),
        counts(&desk, "\u{feff}outcome,count,count_neighbor\r\na,1,1\r\nb,x,1\r\n"),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r"
    a.csv: line 2: found the byte 0xe9, expected UTF-8 text; hint: save the file as UTF-8
    a.csv: byte 0: found a zero byte, expected recorded counts as CSV or JSON; hint: this is binary data, not text
    a.csv: line 3, column count: found `x`, expected a whole number from 0 to 2^53
    ");
    let rows = r"
        => a.csv: whole file: found an empty file, expected recorded counts as CSV or JSON
        outcome,count\na,1\n => a.csv: line 1: found columns `outcome`, `count`, expected the column `count_neighbor`
        world,output\ns,a\n => a.csv: whole file: found 0 samples under the neighbor (s_prime), expected at least 1 sample in each world; hint: a bound compares the outputs of two worlds; record both
    ";
    table(rows, |text| counts(&desk, text));
    table(&rows_of("cli_errors", "tables_of_counts"), with);
}

#[test]
fn distributions_and_pilots() {
    let desk = Desk::new();
    desk.file("a.csv", GOOD);
    desk.file("q.csv", "query,outcome,count,count_neighbor\nx,a,6,5\nx,b,4,5\n");
    let distribution = |text: &str| {
        desk.file("distribution.csv", text);
        desk.rejected(1, "audit counts a.csv --distribution distribution.csv")
    };
    let pilot = |text: &str| {
        desk.file("pilot.csv", text);
        desk.rejected(1, "audit counts a.csv --pilot pilot.csv")
    };
    table(&rows_of("cli_errors", "distributions_and_pilots"), distribution);
    let rows = r"
        outcome,count,count_neighbor\na,6,5\nc,4,5\n => pilot.csv: whole file: found an outcome `c` that appears in only one of the two files, expected the same outcomes in the counts and in the file that chooses the sets
        query,outcome,count,count_neighbor\ny,a,6,5\ny,b,4,5\n => pilot.csv: whole file: found no such query, expected pilot counts without a query
        outcome,count,count_neighbor\na,0,5\nb,0,5\n => pilot.csv: whole file: found 0 samples under the dataset (s), expected at least 1 sample in each world; hint: a bound compares the outputs of two worlds; record both
    ";
    table(rows, pilot);
    let rows = r"
        q.csv --pilot a.csv => 1: a.csv: whole file: found no such query, expected pilot counts of query `x`
        a.csv --pilot none.csv => 1: none.csv: cannot read: No such file or directory (os error 2)
        a.csv --distribution . => 1: .: whole file: found a directory, expected a file; hint: name one file inside it
        a.csv --pilot-fraction 1e-9 => 2: pilot split: a fraction of 0.000000001 leaves a world without samples
    ";
    desk.rejects("audit counts", rows);
}

#[test]
fn a_result_never_replaces_its_own_input() {
    let desk = Desk::new();
    desk.file("counts.csv", GOOD);
    insta::assert_snapshot!(
        format!("error: {}", desk.rejected(1, "audit counts counts.csv --output ./counts.csv")),
        @"error: ./counts.csv: --output: found the input file itself, expected another file, because the result replaces it"
    );
    assert_eq!(desk.text("counts.csv"), GOOD);
}

#[test]
fn archives_of_votes() {
    let desk = Desk::new();
    let three: (&str, &dyn Stored) = ("pate_votes", &Array3::<u8>::zeros((1, 2, 3)));
    let both = |first: &dyn Stored, second: &dyn Stored| {
        votes(&desk, "prompt-pate", &[("histogram", first), ("histogram_prime", second)])
    };
    let pair = |first: Array2<u8>, second: Array2<u8>| both(&first, &second);
    let lines = [
        votes(&desk, "pate", &[]),
        votes(&desk, "pate", &[("votes", &array![[1u8]])]),
        votes(&desk, "pate", &[("pate_votes", &Array3::<f64>::zeros((1, 2, 3)))]),
        votes(&desk, "pate", &[("pate_votes", &Array2::<u8>::zeros((2, 3)))]),
        votes(&desk, "pate", &[three]),
        votes(
            &desk,
            "pate",
            &[three, ("adv_query", &array![0i32, 1]), ("pate_pois_advq", &Array2::<u8>::zeros((1, 3)))],
        ),
        pair(Array2::zeros((1, 0)), Array2::zeros((1, 0))),
        pair(Array2::zeros((0, 3)), Array2::zeros((0, 3))),
        pair(Array2::zeros((1, 3)), Array2::zeros((1, 3))),
        pair(array![[2, 1]], array![[2, 1, 0]]),
        pair(array![[2, 1]], array![[9, 1]]),
        votes(&desk, "prompt-pate", &[("votes", &Array1::<u8>::zeros(3))]),
        both(&array![[3i64, -1]], &array![[3i64, 0]]),
        both(&array![[3u64, 1 << 60]], &array![[3u64, 0]]),
    ];
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn queries_and_models_that_the_file_does_not_have() {
    let desk = Desk::new();
    let votes = array![[[0u8, 1, 1], [1, 0, 0]]];
    let (query, poisoned) = (array![1i32], array![[0u8, 1]]);
    desk.arrays("v.npz", &[("pate_votes", &votes), ("adv_query", &query), ("pate_pois_advq", &poisoned)]);
    desk.rejects("audit votes v.npz", &rows_of("cli_errors", "queries_and_models_that_the_file_does_not_have"));
}

#[test]
fn histograms() {
    let desk = Desk::new();
    desk.rejects("exact", &rows_of("cli_errors", "histograms"));
    let distinct = (0..300).map(|count| count.to_string()).collect::<Vec<_>>().join(",");
    let searched = "2: worst neighbor: the histogram has 89401 different neighbors; 1 to 50000 are searched";
    desk.rejects("exact --worst-neighbor moved --noise gaussian:1 --histogram", &format!("{distinct} => {searched}"));
    // A long value is not repeated whole.
    let wide = vec!["1"; 10_001].join(",");
    let line = desk.rejected(2, &["exact", "--histogram", &wide, "--neighbor", "1", "--noise", "gaussian:1"]);
    let expected = "vote histogram has length 10001; expected 1 to 10000 classes";
    assert!(line.len() < 400 && line.ends_with(expected), "{line}");
}

#[test]
fn mechanisms() {
    Desk::new().rejects("exact", &rows_of("cli_errors", "mechanisms"));
}

#[test]
fn options_that_exclude_or_need_each_other() {
    for (words, sentence) in [
        (
            "--mechanism exponential:sigma=1 --neighbor 2,2 --worst-neighbor moved",
            "'--neighbor <NEIGHBOR>' cannot be used",
        ),
        ("--mechanism exponential:sigma=1 --noise gaussian:1", "cannot be used with '--noise <NOISE>'"),
        ("--mechanism gnmax:sigma=1 --threshold 2 --threshold-noise gaussian:1", "--threshold <T>"),
        ("--mechanism gnmax:sigma=1 --threshold-form max", "--threshold-form"),
        ("--neighbor 2,2 --histogram 3,1", "name a mechanism: --noise gaussian:sigma=40"),
        ("", "--mechanism exponential:sigma=2 any other; `leakbound mechanisms` lists them all"),
        ("--noise gaussian:1 --neighbor 2,2", "--histogram: gnmax needs the votes per class, such as 3,1"),
        ("--noise gaussian:1 --histogram 2,2", "--neighbor: gnmax needs the votes per class of the neighbor, or"),
    ] {
        let ran = Desk::root().run(&format!("exact {words}"));
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
        assert!(ran.stderr.contains(sentence), "{ran:?}");
    }
}

#[test]
fn paths() {
    let desk = Desk::new();
    desk.file("a.csv", GOOD);
    fs::create_dir(desk.path("folder")).unwrap();
    desk.rejects("", &rows_of("cli_errors", "paths"));
}

/// Two gigabytes that take no room on the disk: rejected from their first bytes.
#[test]
fn huge_files_of_zeros() {
    let desk = Desk::new();
    let zeros = |name: &str, start: &[u8]| {
        File::options().write(true).open(desk.file(name, start)).unwrap().set_len(2 << 30).unwrap();
    };
    zeros("a.csv", b"");
    zeros("b.csv", GOOD.as_bytes());
    zeros("a.npz", b"");
    zeros("b.npz", b"PK\x03\x04");
    let rows = r"
        counts a.csv => 1: a.csv: byte 0: found a zero byte, expected recorded counts as CSV or JSON; hint: this is binary data, not text
        counts b.csv => 1: b.csv: byte 45: found a zero byte, expected recorded counts as CSV or JSON; hint: this is binary data, not text
        votes a.npz --model pate --noise gaussian:1 => 1: a.npz: whole file: found a file that starts with 00 00 00 00 00 00, expected a numpy archive (.npz); hint: write it with numpy.savez_compressed
        votes b.npz --model pate --noise gaussian:1 => 1: b.npz: whole file: found an archive without its directory, expected a complete numpy archive (.npz); hint: the file may be cut off
    ";
    desk.rejects("audit", rows);
}

/// The system's reason for a full disk is passed on.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let run = |more: &str| {
        let words = format!("exact --histogram 5,3 --neighbor 4,4 --noise gaussian:1 {more}");
        let full = File::options().write(true).open("/dev/full").unwrap();
        crate::desk::Ran::of(Desk::new().command(&words).stdout(full)).line(1)
    };
    let reason = "cannot write: No space left on device (os error 28)";
    assert_eq!(run(""), format!("stdout: {reason}"));
    assert_eq!(run("--output /dev/full"), format!("/dev/full: {reason}"));
}
