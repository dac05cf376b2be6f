//! One column of a group of rows.

use super::super::fault::{fault, hinted, quoted};
use super::levels::{Gap, Rows};
use super::panics::guarded;
use crate::error::{Error, InputError, Result};
use parquet::basic::{ConvertedType, LogicalType, Type as PhysicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::schema::types::ColumnDescriptor;
use std::path::{Path, PathBuf};

/// Rows that are decoded together.
const BATCH: usize = 1024;

/// The values of a column, in the type of the file.
pub(in super::super) enum Values {
    /// Bits of numbers in half precision.
    Half(Vec<u16>),
    Single(Vec<f32>),
    Double(Vec<f64>),
    Whole(Vec<i64>),
    Truth(Vec<bool>),
    Text(Vec<ByteArray>),
}

impl Values {
    /// The type of the values, for messages.
    pub(in super::super) const fn kind(&self) -> &'static str {
        match self {
            Self::Half(_) | Self::Single(_) | Self::Double(_) => "floating-point numbers",
            Self::Whole(_) => "whole numbers",
            Self::Truth(_) => "truth values",
            Self::Text(_) => "texts",
        }
    }

    /// Bytes of one in an array.
    pub(in super::super) const fn width(&self) -> u64 {
        match self {
            Self::Half(_) => 2,
            Self::Single(_) => 4,
            Self::Double(_) | Self::Whole(_) => 8,
            Self::Truth(_) => 1,
            Self::Text(_) => size_of::<ByteArray>() as u64,
        }
    }

    /// The number of values.
    pub(in super::super) const fn len(&self) -> usize {
        match self {
            Self::Half(values) => values.len(),
            Self::Single(values) => values.len(),
            Self::Double(values) => values.len(),
            Self::Whole(values) => values.len(),
            Self::Truth(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }
}

/// A column of a group of rows, in which no list is empty and no entry of a list is null.
pub(in super::super) struct Column {
    file: PathBuf,
    pub(in super::super) name: &'static str,
    first_row: usize,
    rows: Rows,
    lists: usize,
    pub(in super::super) values: Values,
}

impl Column {
    /// How deep its lists are: 0 for none.
    pub(in super::super) const fn lists(&self) -> usize {
        self.lists
    }

    /// \[row\]: whether it has a value; of columns without lists.
    pub(in super::super) fn present(&self) -> &[bool] {
        &self.rows.present
    }

    /// \[row\]: entries of its list.
    pub(in super::super) fn outer(&self) -> &[usize] {
        &self.rows.outer
    }

    /// \[entry of the lists of all rows\]: entries of the list in it.
    pub(in super::super) fn inner(&self) -> &[usize] {
        &self.rows.inner
    }

    /// An error of the column as a whole.
    pub(in super::super) fn at(&self, found: impl Into<String>, expected: impl Into<String>) -> InputError {
        fault(&self.file, format!("column {}", quoted(self.name)), found, expected)
    }

    /// An error of a row, counted from the start of this group; messages count from 1, as tables are shown.
    pub(in super::super) fn at_row(
        &self,
        row: usize,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> InputError {
        fault(&self.file, place_of_row(self.first_row + row, self.name), found, expected)
    }
}

fn place_of_row(row: usize, name: &str) -> String {
    format!("row {}, column {}", row + 1, quoted(name))
}

/// Where a group of rows keeps a column, for messages.
pub(super) fn place_of(group: usize, name: &str) -> String {
    format!("row group {}, column {}", group + 1, quoted(name))
}

/// Reads a column of a group: `rows` rows, the first of them with number `first_row`.
pub(super) fn read(
    file: &Path,
    name: &'static str,
    reader: ColumnReader,
    descriptor: &ColumnDescriptor,
    lists: &[i16],
    [group, rows, first_row]: [usize; 3],
) -> Result<Column> {
    let found = Rows::new(lists, descriptor.max_def_level());
    let mut pump = Pump { file, name, rows: found, group, wanted: rows, first_row };
    let kind = (descriptor.logical_type_ref(), descriptor.converted_type());
    let values = match reader {
        ColumnReader::FloatColumnReader(reader) => Values::Single(pump.all(reader)?),
        ColumnReader::DoubleColumnReader(reader) => Values::Double(pump.all(reader)?),
        ColumnReader::BoolColumnReader(reader) => Values::Truth(pump.all(reader)?),
        ColumnReader::Int32ColumnReader(reader) if is_whole(kind) => {
            let unsigned = is_unsigned(kind);
            let widened = |value: i32| if unsigned { i64::from(value as u32) } else { i64::from(value) };
            Values::Whole(pump.all(reader)?.into_iter().map(widened).collect())
        }
        ColumnReader::Int64ColumnReader(reader) if is_whole(kind) => {
            let values = pump.all(reader)?;
            if is_unsigned(kind) && values.iter().any(|&value| value < 0) {
                return Err(pump.at("a whole number of 2^63 or more", "whole numbers below 2^63").into());
            }
            Values::Whole(values)
        }
        ColumnReader::ByteArrayColumnReader(reader) => Values::Text(pump.all(reader)?),
        ColumnReader::FixedLenByteArrayColumnReader(reader) if matches!(kind.0, Some(LogicalType::Float16)) => {
            let bits = |bytes: &[u8]| bytes.try_into().map_or(0, u16::from_le_bytes);
            Values::Half(pump.all(reader)?.iter().map(|value| bits(value.data())).collect())
        }
        _ => {
            let physical: PhysicalType = descriptor.physical_type();
            let found = kind.0.map_or_else(|| format!("{physical}"), |logical| format!("{physical} of {logical:?}"));
            let error = pump.at(format!("the type {found}"), "numbers, truth values or texts");
            return Err(hinted(error, "convert the column before it is written").into());
        }
    };
    let Pump { rows: found, .. } = pump;
    Ok(Column { file: file.into(), name, first_row, rows: found, lists: lists.len(), values })
}

/// Whether whole numbers are meant as such, not as dates or the digits of decimals.
const fn is_whole((logical, converted): (Option<&LogicalType>, ConvertedType)) -> bool {
    use ConvertedType as C;
    match logical {
        // Unknown is the type of a column of nulls.
        Some(LogicalType::Integer(_) | LogicalType::Unknown) => true,
        Some(_) => false,
        None => matches!(
            converted,
            C::NONE | C::INT_8 | C::INT_16 | C::INT_32 | C::INT_64 | C::UINT_8 | C::UINT_16 | C::UINT_32 | C::UINT_64
        ),
    }
}

const fn is_unsigned((logical, converted): (Option<&LogicalType>, ConvertedType)) -> bool {
    use ConvertedType as C;
    match logical {
        Some(LogicalType::Integer(kind)) => !kind.is_signed,
        _ => matches!(converted, C::UINT_8 | C::UINT_16 | C::UINT_32 | C::UINT_64),
    }
}

/// Takes all values out of a reader.
struct Pump<'a> {
    file: &'a Path,
    name: &'static str,
    rows: Rows,
    group: usize,
    wanted: usize,
    first_row: usize,
}

impl Pump<'_> {
    fn at(&self, found: impl Into<String>, expected: impl Into<String>) -> InputError {
        fault(self.file, format!("column {}", quoted(self.name)), found, expected)
    }

    fn all<T: DataType>(&mut self, mut reader: ColumnReaderImpl<T>) -> Result<Vec<T::T>> {
        let place = place_of(self.group, self.name);
        let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
        while self.rows.count() < self.wanted {
            definitions.clear();
            repetitions.clear();
            let before = values.len();
            let (records, _, levels) = guarded(self.file, &place, || {
                reader.read_records(BATCH, Some(&mut definitions), Some(&mut repetitions), &mut values)
            })?;
            if records == 0 && levels == 0 {
                break;
            }
            // Columns that are required have no levels.
            let levels = levels.max(values.len() - before);
            for index in 0..levels {
                let definition = definitions.get(index).copied().unwrap_or(self.rows.defined());
                let added = self.rows.add(definition, repetitions.get(index).copied().unwrap_or(0));
                added.map_err(|gap| self.gap(gap))?;
            }
        }
        if self.rows.count() != self.wanted || values.len() != self.rows.values() {
            let found = format!("{} of {} rows", self.rows.count(), self.wanted);
            return Err(hinted(self.at(found, "a complete column"), "the file may be cut off or damaged").into());
        }
        Ok(values)
    }

    fn gap(&self, gap: Gap) -> Error {
        let place = place_of_row(self.first_row + self.rows.count().saturating_sub(1), self.name);
        let found = match gap {
            Gap::Empty => "no values",
            Gap::Null => "a null in a list",
        };
        let error = fault(self.file, place, found, "at least one value, and none that is null");
        let hint = "leave the column out where it is not known of every row; and, of lists of tokens, a first one that has \
                    null";
        hinted(error, hint).into()
    }
}
