//! `audit counts`: tables, distributions and pilots.

use super::{GOOD, counts};
use crate::desk::{Desk, table};

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
    let rows = r"
        => a.csv: line 1: found a header without rows, expected at least 1 row
        a,-3,5\n => a.csv: line 2, column count: found `-3`, expected a whole number from 0 to 2^53; hint: counts are never negative
        a,2.5,5\n => a.csv: line 2, column count: found `2.5`, expected a whole number from 0 to 2^53; hint: counts are written with digits only
        a,NaN,5\n => a.csv: line 2, column count: found `NaN`, expected a whole number from 0 to 2^53
        a,1,5\nb,1\n => a.csv: line 3: found 2 fields, expected 3 as in the header
        a,0,1\nb,0,1\n => a.csv: whole file: found 0 samples under the dataset (s), expected at least 1 sample in each world; hint: a bound compares the outputs of two worlds; record both
        a,9007199254740993,1\n => a.csv: line 2, column count: found `9007199254740993`, expected a whole number from 0 to 2^53; hint: above 2^53 a double no longer holds every whole number
    ";
    table(rows, with);
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
    let rows = r"
        outcome,p,q\na,0.5,0.5\nb,0.4,0.5\n => distribution.csv: whole file: found p summing to 0.9, expected probabilities that sum to 1 within 1e-9
        outcome,p,q\na,0.5,0.5\nc,0.5,0.5\n => distribution.csv: whole file: found an outcome `b` that stands in one of the two files only, expected the same outcomes in the counts and in the file that chooses the sets
        outcome,p,q\na,1.5,0.5\nb,-0.5,0.5\n => distribution.csv: line 2, column p: found `1.5`, expected a probability from 0 to 1; hint: counts go in the columns count and count_neighbor of a counts file
        outcome,p,q\na,nan,0.5\nb,0.5,0.5\n => distribution.csv: line 2, column p: found `nan`, expected a probability from 0 to 1
        query,outcome,p,q\nx,a,0.5,0.5\nx,b,0.5,0.5\n => distribution.csv: whole file: found no such query, expected a distribution without a query
        => distribution.csv: whole file: found an empty file, expected the distribution of the outputs as CSV or JSON
    ";
    table(rows, distribution);
    let rows = r"
        outcome,count,count_neighbor\na,6,5\nc,4,5\n => pilot.csv: whole file: found an outcome `c` that stands in one of the two files only, expected the same outcomes in the counts and in the file that chooses the sets
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
