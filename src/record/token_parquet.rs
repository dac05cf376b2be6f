//! Next tokens in a Parquet table, a row for each position.

use super::budget::Room;
use super::input_file::InputReader;
use super::npy_array::NpyArray;
use super::parquet::{Column, ParquetTable, Values};
use crate::error::Result;
use std::path::Path;

/// A wanted column.
pub(super) struct Wanted {
    pub(super) name: &'static str,
    /// How deep its lists are.
    pub(super) lists: usize,
    pub(super) kind: Kind,
}

impl Wanted {
    fn words(&self) -> &'static str {
        match (self.lists, self.kind) {
            (0, _) => "a value in each row",
            (1, _) => "a list of tokens in each row",
            (_, Kind::Floats) => "a list of models in each row, a list of tokens each",
            (_, Kind::WholeNumbers) => "a list of ensembles in each row, a list of tokens each",
        }
    }
}

/// What a column holds.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Floats,
    WholeNumbers,
}

/// What was read of a table.
pub(super) struct Columns {
    pub(super) arrays: Vec<(&'static str, NpyArray)>,
    /// The names of all columns.
    pub(super) names: Vec<String>,
}

/// The columns of a table as arrays \[position, ...\] with one axis more than the depth of their lists; null whole
/// numbers are -1.
pub(super) fn read_columns(path: &Path, reader: &InputReader, wanted: &[Wanted], room: &mut Room) -> Result<Columns> {
    let names: Vec<&'static str> = wanted.iter().map(|one| one.name).collect();
    let table = ParquetTable::open(path, reader, &names)?;
    let mut gathered: Vec<Gathered> = Vec::new();
    let mut first = 0;
    for group in 0..table.groups() {
        for column in table.group(group, first, room)? {
            let place = gathered.iter().position(|own| own.name == column.name);
            let own = match place {
                Some(place) => &mut gathered[place],
                None => {
                    let Some(own) = wanted.iter().find(|own| own.name == column.name) else { continue };
                    gathered.push(Gathered::new(&column, own)?);
                    let last = gathered.len() - 1;
                    &mut gathered[last]
                }
            };
            own.add(&column, room)?;
        }
        first += table.rows(group)?;
    }
    let arrays = gathered.into_iter().map(|own| (own.name, own.array(path))).collect();
    Ok(Columns { arrays, names: table.names() })
}

/// What was read of a column.
struct Gathered {
    name: &'static str,
    descriptor: &'static str,
    /// Lengths of lists and of the lists in them, the same in all rows.
    lengths: Vec<usize>,
    rows: usize,
    bytes: Vec<u8>,
}

impl Gathered {
    fn new(column: &Column, wanted: &Wanted) -> Result<Self> {
        let descriptor = match (&column.values, wanted.kind) {
            (Values::Whole(_), Kind::WholeNumbers) => "<i8",
            (Values::Half(_), Kind::Floats) => "<f2",
            (Values::Single(_), Kind::Floats) => "<f4",
            (Values::Double(_), Kind::Floats) => "<f8",
            (other, Kind::WholeNumbers) => return Err(column.at(other.kind(), "whole numbers").into()),
            (other, Kind::Floats) => return Err(column.at(other.kind(), "floating-point numbers").into()),
        };
        if column.lists() != wanted.lists {
            let found = ["a value", "a list", "a list of lists"][column.lists()];
            return Err(column.at(format!("{found} in each row"), wanted.words()).into());
        }
        Ok(Self { name: column.name, descriptor, lengths: Vec::new(), rows: 0, bytes: Vec::new() })
    }

    fn add(&mut self, column: &Column, room: &mut Room) -> Result<()> {
        self.check_lengths(column)?;
        self.rows += if column.lists() == 0 { column.present().len() } else { column.outer().len() };
        let count = if column.lists() == 0 { column.present().len() } else { column.values.len() };
        room.take(count as u64, column.values.width(), |found, expected| column.at(found, expected))?;
        match &column.values {
            Values::Half(values) => self.bytes.extend(values.iter().flat_map(|bits| bits.to_le_bytes())),
            Values::Single(values) => self.bytes.extend(values.iter().flat_map(|value| value.to_le_bytes())),
            Values::Double(values) => self.bytes.extend(values.iter().flat_map(|value| value.to_le_bytes())),
            // No entry of a list is null.
            Values::Whole(values) if column.lists() > 0 => {
                self.bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            }
            Values::Whole(values) => {
                let mut values = values.iter();
                for &present in column.present() {
                    let value = if present { values.next().copied() } else { None };
                    self.bytes.extend(value.unwrap_or(-1).to_le_bytes());
                }
            }
            Values::Truth(_) | Values::Text(_) => (),
        }
        Ok(())
    }

    /// All rows have the same shape.
    fn check_lengths(&mut self, column: &Column) -> Result<()> {
        if column.lists() == 0 {
            return Ok(());
        }
        if self.lengths.is_empty() {
            self.lengths.extend(column.outer().first());
            self.lengths.extend(column.inner().first());
        }
        let mut entry = 0;
        for (row, &outer) in column.outer().iter().enumerate() {
            let expected = self.lengths.first().copied().unwrap_or(outer);
            let of = |length: usize| format!("{length}, as in the first row");
            if outer != expected {
                return Err(column.at_row(row, format!("a list of {outer}"), of(expected)).into());
            }
            if column.lists() == 2 {
                let tokens = self.lengths.get(1).copied().unwrap_or_default();
                let inner = &column.inner()[entry..entry + outer];
                if let Some(model) = inner.iter().position(|&length| length != tokens) {
                    let found = format!("a list of {} of model {model}", inner[model]);
                    return Err(column.at_row(row, found, of(tokens)).into());
                }
                entry += outer;
            }
        }
        Ok(())
    }

    fn array(self, path: &Path) -> NpyArray {
        let shape: Vec<usize> = std::iter::once(self.rows).chain(self.lengths).collect();
        NpyArray::of_bytes(path, self.name, self.descriptor, &shape, self.bytes)
    }
}
