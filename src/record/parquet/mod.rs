//! Tables in Parquet files: named columns are read, one group of rows at a time.

mod column;
mod levels;
mod panics;
mod source;

pub(super) use column::{Column, Values};
pub use panics::is_panic_expected;

use super::budget::Room;
use super::fault::{fault, hinted, listed, quoted};
use super::input_file::InputReader;
use crate::error::{Error, InputError, Result};
use column::place_of;
use panics::guarded;
use parquet::basic::{Compression, Repetition};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::Type;
use source::Source;
use std::path::Path;

/// How a file starts, plain and encrypted.
pub(super) const MAGIC: [&[u8; 4]; 2] = [b"PAR1", b"PARE"];

/// Lists within lists: the most that any recording has.
const MOST_LISTS: usize = 2;

/// A file whose schema was read.
pub(super) struct ParquetTable<'a> {
    path: &'a Path,
    reader: SerializedFileReader<Source>,
    /// The parts that are read of the columns with a known name.
    leaves: Vec<Leaf>,
}

/// A column of numbers, texts or lists of them.
struct Leaf {
    name: &'static str,
    /// Its place among those of the file that have values.
    index: usize,
    /// The definition levels at which there is an entry of each list that it is in.
    lists: Vec<i16>,
}

impl<'a> ParquetTable<'a> {
    /// Opens a file, and looks for columns of these names; others are not looked at.
    pub(super) fn open(path: &'a Path, reader: &InputReader, names: &[&'static str]) -> Result<Self> {
        let reader = guarded(path, "whole file", || SerializedFileReader::new(Source(reader.again())))?;
        let mut table = Self { path, reader, leaves: Vec::new() };
        for &name in names {
            table.leaves.extend(table.leaf(name)?);
        }
        Ok(table)
    }

    fn at(&self, place: String, found: impl Into<String>, expected: impl Into<String>) -> InputError {
        fault(self.path, place, found, expected)
    }

    fn root(&self) -> &Type {
        self.reader.metadata().file_metadata().schema()
    }

    fn leaf(&self, name: &'static str) -> Result<Option<Leaf>> {
        let named = |field: &&std::sync::Arc<Type>| field.name() == name;
        let mut fields = self.root().get_fields().iter().filter(named);
        let Some(mut at) = fields.next() else { return Ok(None) };
        let place = || format!("column {}", quoted(name));
        if fields.next().is_some() {
            return Err(self.at(place(), "the column twice", "columns with different names").into());
        }
        let (mut level, mut lists) = (0, Vec::new());
        loop {
            match at.get_basic_info().has_repetition().then(|| at.get_basic_info().repetition()) {
                Some(Repetition::OPTIONAL) => level += 1,
                Some(Repetition::REPEATED) => {
                    level += 1;
                    lists.push(level);
                }
                _ => (),
            }
            if at.is_primitive() {
                break;
            }
            let [only] = at.get_fields() else {
                let found = "a column of records";
                return Err(self.at(place(), found, "numbers, texts or lists of them").into());
            };
            at = only;
        }
        if lists.len() > MOST_LISTS {
            let found = format!("lists within {} lists", lists.len() - 1);
            return Err(self.at(place(), found, "at most lists of lists").into());
        }
        let descriptor = self.reader.metadata().file_metadata().schema_descr();
        let index = (0..descriptor.num_columns()).find(|&index| descriptor.get_column_root(index).name() == name);
        let index = index.ok_or_else(|| Error::from(self.at(place(), "no values", "a column with values")))?;
        Ok(Some(Leaf { name, index, lists }))
    }

    /// The names of all columns.
    pub(super) fn names(&self) -> Vec<String> {
        self.root().get_fields().iter().map(|field| field.name().to_owned()).collect()
    }

    /// Whether there is a column of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.leaves.iter().any(|leaf| leaf.name == name)
    }

    /// That a column is missing.
    pub(super) fn missing(&self, expected: &str) -> InputError {
        self.at("whole file".into(), format!("columns {}", listed(&self.names())), expected)
    }

    /// The number of groups of rows.
    pub(super) fn groups(&self) -> usize {
        self.reader.num_row_groups()
    }

    /// The columns of a group of rows, in the order of their names, with the number of its rows and the first of them.
    /// They may take what is left of `room`, and nothing of it is taken permanently.
    pub(super) fn group(&self, group: usize, first_row: usize, room: &Room) -> Result<Vec<Column>> {
        let mut room = *room;
        self.leaves.iter().map(|leaf| self.column(leaf, group, first_row, &mut room)).collect()
    }

    /// The number of rows of a group.
    pub(super) fn rows(&self, group: usize) -> Result<usize> {
        let rows = self.reader.metadata().row_group(group).num_rows();
        usize::try_from(rows).map_err(|_| {
            let found = format!("a group of {rows} rows");
            hinted(self.at("whole file".into(), found, "a complete table"), "the file may be damaged").into()
        })
    }

    fn column(&self, leaf: &Leaf, group: usize, first_row: usize, room: &mut Room) -> Result<Column> {
        let rows = self.rows(group)?;
        let codec = self.reader.metadata().row_group(group).column(leaf.index).compression();
        if matches!(codec, Compression::BROTLI(_) | Compression::LZO) {
            let name = codec.to_string();
            let found = format!("compression by {}", name.split('(').next().unwrap_or_default());
            let error = self.at(place_of(group, leaf.name), found, "none, or Snappy, gzip, LZ4 or Zstandard");
            return Err(hinted(error, "write the table with another compression, such as zstd").into());
        }
        let values = self.counted(leaf, group)?;
        let place = || format!("column {}", quoted(leaf.name));
        if (values as usize) < rows {
            let found = format!("{values} values of {rows} rows");
            return Err(hinted(self.at(place(), found, "a complete column"), "the file may be damaged").into());
        }
        // The widest value, and the levels of some rows.
        room.take(values, 2 * size_of::<u64>() as u64, |found, expected| self.at(place(), found, expected))?;
        let reader = guarded(self.path, &place_of(group, leaf.name), || {
            self.reader.get_row_group(group)?.get_column_reader(leaf.index)
        })?;
        let descriptor = self.reader.metadata().file_metadata().schema_descr().column(leaf.index);
        column::read(self.path, leaf.name, reader, &descriptor, &leaf.lists, [group, rows, first_row])
    }

    /// The number of values that the pages of a column declare: a small page may unpack to many.
    fn counted(&self, leaf: &Leaf, group: usize) -> Result<u64> {
        guarded(self.path, &place_of(group, leaf.name), || {
            let mut pages = self.reader.get_row_group(group)?.get_column_page_reader(leaf.index)?;
            let mut values = 0u64;
            while let Some(page) = pages.peek_next_page()? {
                values += page.num_levels.unwrap_or(0) as u64;
                pages.skip_next_page()?;
            }
            Ok(values)
        })
    }
}
