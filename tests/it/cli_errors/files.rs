//! Paths, huge files, a full disk.

use super::GOOD;
use crate::desk::Desk;
use std::fs::{self, File};

#[test]
fn paths() {
    let desk = Desk::new();
    desk.file("a.csv", GOOD);
    fs::create_dir(desk.path("folder")).unwrap();
    let counts = |path: &str| desk.rejected(1, &["audit", "counts", path]);
    let output = |path: &str| {
        let exact = ["exact", "--histogram", "5,3", "--neighbor", "4,4", "--noise", "gaussian:1"];
        desk.rejected(1, &[&exact[..], &["--output", path]].concat())
    };
    let lines = [
        counts("none.csv"),
        counts("folder"),
        counts("a.csv/inside"),
        desk.rejected(2, &["audit", "counts", ""]),
        counts("two\nlines\u{1b}[2J.csv"),
        desk.rejected(1, "audit votes none.npz --model pate --noise gaussian:1"),
        desk.rejected(1, "audit votes folder --model pate --noise gaussian:1"),
        desk.rejected(1, "audit votes a.csv --model pate --noise gaussian:1"),
        output("folder"),
        output("none/result"),
        output("a.csv/result"),
        output("no\nne/result"),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r"
    none.csv: cannot read: No such file or directory (os error 2)
    folder: whole file: found a directory, expected a file; hint: name one file inside it
    a.csv/inside: cannot read: Not a directory (os error 20)
    a value is required for '<FILE>' but none was supplied
    two\nlines\u{1b}[2J.csv: cannot read: No such file or directory (os error 2)
    none.npz: cannot read: No such file or directory (os error 2)
    folder: whole file: found a directory, expected a file; hint: name one file inside it
    a.csv: whole file: found a file that starts with 6f 75 74 63 6f 6d, expected a numpy archive (.npz); hint: write it with numpy.savez_compressed
    folder: cannot write: is a directory
    none/result: cannot write: No such file or directory (os error 2)
    a.csv/result: cannot write: Not a directory (os error 20)
    no\nne/result: cannot write: No such file or directory (os error 2)
    ");
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
    let lines = [
        desk.rejected(1, "audit counts a.csv"),
        desk.rejected(1, "audit counts b.csv"),
        desk.rejected(1, "audit votes a.npz --model pate --noise gaussian:1"),
        desk.rejected(1, "audit votes b.npz --model pate --noise gaussian:1"),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r"
    a.csv: byte 0: found a zero byte, expected recorded counts as CSV or JSON; hint: this is binary data, not text
    b.csv: byte 45: found a zero byte, expected recorded counts as CSV or JSON; hint: this is binary data, not text
    a.npz: whole file: found a file that starts with 00 00 00 00 00 00, expected a numpy archive (.npz); hint: write it with numpy.savez_compressed
    b.npz: whole file: found an archive without its directory, expected a complete numpy archive (.npz); hint: the file may be cut off
    ");
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
