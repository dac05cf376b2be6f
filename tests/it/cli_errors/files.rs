//! Paths, huge files, a full disk.

use super::GOOD;
use crate::desk::Desk;
use std::fs::{self, File};

#[test]
fn paths() {
    let desk = Desk::new();
    desk.file("a.csv", GOOD);
    fs::create_dir(desk.path("folder")).unwrap();
    let rows = r"
        audit counts none.csv => 1: none.csv: cannot read: No such file or directory (os error 2)
        audit counts folder => 1: folder: whole file: found a directory, expected a file; hint: name one file inside it
        audit counts a.csv/inside => 1: a.csv/inside: cannot read: Not a directory (os error 20)
        audit counts '' => 2: a value is required for '<FILE>' but none was supplied
        audit counts 'two\nlines\e[2J.csv' => 1: two\nlines\u{1b}[2J.csv: cannot read: No such file or directory (os error 2)
        audit votes none.npz --model pate --noise gaussian:1 => 1: none.npz: cannot read: No such file or directory (os error 2)
        audit votes folder --model pate --noise gaussian:1 => 1: folder: whole file: found a directory, expected a file; hint: name one file inside it
        audit votes a.csv --model pate --noise gaussian:1 => 1: a.csv: whole file: found a file that starts with 6f 75 74 63 6f 6d, expected a numpy archive (.npz); hint: write it with numpy.savez_compressed
        exact --histogram 5,3 --neighbor 4,4 --noise gaussian:1 --output folder => 1: folder: cannot write: is a directory
        exact --histogram 5,3 --neighbor 4,4 --noise gaussian:1 --output none/result => 1: none/result: cannot write: No such file or directory (os error 2)
        exact --histogram 5,3 --neighbor 4,4 --noise gaussian:1 --output a.csv/result => 1: a.csv/result: cannot write: Not a directory (os error 20)
        exact --histogram 5,3 --neighbor 4,4 --noise gaussian:1 --output 'no\nne/result' => 1: no\nne/result: cannot write: No such file or directory (os error 2)
    ";
    desk.rejects("", rows);
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
