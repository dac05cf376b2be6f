//! Counts and raw outputs as CSV.

use super::lines::{Header, Line, Lines};
use super::number::{COUNT, count};
use super::rows::{check_name, csv_table, named_query, reject, world};
use super::table::Table;
use super::values::Values;
use crate::counts::MAX_COUNT;
use crate::error::Result;
use std::io::BufRead;
use std::path::Path;

const COLUMNS: &str = "`outcome`, `count`, `count_neighbor` or `world`, `output`, each optionally with `query`";

/// Which of the two CSV formats a header names.
enum Form {
    Counted,
    Raw,
}

/// One column of a format is enough to mean it: a later message then names the column that is missing.
fn form(header: &Header<'_>) -> Result<Form> {
    let counted = ["outcome", "count", "count_neighbor"].iter().filter(|name| header.has(name)).count();
    let raw = ["world", "output"].iter().filter(|name| header.has(name)).count();
    match (counted, raw) {
        (0, 0) => Err(header.missing(COLUMNS).into()),
        (_, 0) => Ok(Form::Counted),
        (0, _) => Ok(Form::Raw),
        _ => Err(header.fault("columns of counts and of raw outputs together", COLUMNS).into()),
    }
}

/// Reads either of the two CSV formats, as its header states.
pub(super) fn read(file: &Path, reader: impl BufRead) -> Result<Table<u64>> {
    let mut lines = Lines::new(file, reader);
    let header = lines.header(COLUMNS)?;
    match form(&header)? {
        Form::Counted => read_counted(&header, &mut lines),
        Form::Raw => read_raw(&header, &mut lines),
    }
}

/// Reads either of the two CSV formats, if outputs are numbers.
pub(super) fn read_values(file: &Path, reader: impl BufRead) -> Result<Values> {
    let mut lines = Lines::new(file, reader);
    let header = lines.header(COLUMNS)?;
    match form(&header)? {
        Form::Counted => Values::of_table(file, read_counted(&header, &mut lines)?),
        Form::Raw => {
            let mut values = Values::default();
            each_raw(&header, &mut lines, |line, query, side, output| {
                let mut counts = [0, 0];
                counts[side] = 1;
                values.take(query, output, counts, |found, expected| line.at("output").fault(found, expected))
            })?;
            Ok(values)
        }
    }
}

fn read_counted<R: BufRead>(header: &Header<'_>, lines: &mut Lines<'_, R>) -> Result<Table<u64>> {
    csv_table(header, lines, ["count", "count_neighbor"], |line, column, text| line.read(column, text, COUNT, count))
}

fn read_raw<R: BufRead>(header: &Header<'_>, lines: &mut Lines<'_, R>) -> Result<Table<u64>> {
    let mut table = Table::<u64>::new();
    each_raw(header, lines, |line, query, side, output| {
        let slot = table.slot(query, output).map_err(|misfit| reject(&line.at("output"), output, misfit))?;
        slot[side] = (slot[side] + 1).min(MAX_COUNT + 1);
        Ok(())
    })?;
    Ok(table.sorted())
}

/// Hands each row of raw outputs to `each`: its line, query, world (0 or 1) and output.
fn each_raw<R: BufRead>(
    header: &Header<'_>,
    lines: &mut Lines<'_, R>,
    mut each: impl FnMut(&Line<'_>, Option<&str>, usize, &str) -> Result<()>,
) -> Result<()> {
    let columns = [header.find("query")?, Some(header.require("world")?), Some(header.require("output")?)];
    lines.each_row(header, columns, |line, [query, text, output]| {
        let query = named_query(line, columns[0], &query)?;
        let side = world(line, &text)? as usize;
        check_name(line, "output", &output)?;
        each(line, query, side, &output)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        let read = read(Path::new("t.csv"), text.as_bytes());
        read.err().map_or_else(|| "accepted".into(), |error| error.to_string())
    }

    #[test]
    fn the_header_decides_the_format() {
        assert_eq!(message("outcome,count,count_neighbor,extra\na,1,1,?"), "accepted");
        assert_eq!(message("output,world,query\na,s,q"), "accepted");
        assert!(message("world,count\ns,1").contains("together"));
        assert!(
            message("Outcome,Count,Count_neighbor\ns,1,1")
                .ends_with("hint: names of columns are written in lower case")
        );
        assert!(message("outcome;count;count_neighbor\na;1;1").ends_with("hint: separate the columns by commas"));
        assert!(message("a,1,1\nb,1,1").ends_with("hint: the first line names the columns"));
    }

    #[test]
    fn raw_outputs_are_counted_and_sorted() {
        let table = read(Path::new("t.csv"), &b"world,output\ns,10\ns,9\ns_prime,10\ns,10\n"[..]).unwrap();
        let group = &table.into_groups()[0];
        assert_eq!(group.labels, ["9", "10"]);
        assert_eq!((group.side(0), group.side(1)), (vec![1, 2], vec![0, 1]));
    }

    #[test]
    fn the_number_of_distinct_outputs_is_bounded() {
        let mut text = String::from("world,output\n");
        for output in 0..=10_000 {
            text.push_str(&format!("s,{output}.5\n"));
        }
        assert_eq!(
            message(&text),
            "t.csv: line 10002, column output: found the new outcome `10000.5`, \
             expected at most 10000 outcomes of one query; hint: count outputs that are numbers in bins, such as \
             `quantile:20` with a pilot fraction of 0.1"
        );
    }
}
