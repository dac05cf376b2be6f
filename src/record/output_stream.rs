//! Raw outputs as they come, row by row in bounded memory.

use super::fault::{fault, hinted, quoted};
use super::input_file::{Digested, InputFile};
use super::lines::{Line, Lines};
use super::rows::{check_name, world};
use super::table::MAX_OUTCOMES;
use super::text::{Text, sniff};
use super::values::{NUMBER, number};
use crate::audit::OutputWorld;
use crate::error::Result;
use std::collections::HashMap;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

const COLUMNS: &str = "`world`, `output`";

/// Names of outcomes in the order in which they came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutcomeNames {
    names: Vec<String>,
    positions: HashMap<String, usize>,
}

impl OutcomeNames {
    /// The names.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The most names there can be.
    pub const MOST: usize = MAX_OUTCOMES;

    /// The number of a name, which is added if it is new; `None` if there is no room for it.
    pub(super) fn position(&mut self, name: &str) -> Option<usize> {
        if let Some(&position) = self.positions.get(name) {
            return Some(position);
        }
        if self.names.len() == Self::MOST {
            return None;
        }
        self.positions.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        Some(self.names.len() - 1)
    }
}

/// Reads CSV with the columns `world` (`s` or `s_prime`) and `output`, one row per output, and hands each row with its
/// line number, world, outcome and the names so far to `each`, until the end or until `each` breaks off. `file` names
/// the reader in messages. Returns the identity of what was read, if that was everything.
///
/// # Errors
/// [`Error::Input`](crate::Error::Input) with the line of what is wrong, [`Error::Io`](crate::Error::Io) when the
/// reader fails, and whatever `each` returns.
///
/// # Example
/// ```
/// # use leakbound::audit::OutputWorld;
/// # use leakbound::record::{OutcomeNames, read_outputs};
/// # use std::ops::ControlFlow;
/// let mut names = OutcomeNames::default();
/// let mut neighbors = 0;
/// let text = b"world,output\ns,cat\ns_prime,dog\ns_prime,cat\n";
/// read_outputs("t.csv", &text[..], &mut names, |_, world, _, _| {
///     neighbors += u32::from(world == OutputWorld::Neighbor);
///     Ok(ControlFlow::Continue(()))
/// })?;
/// assert_eq!((names.names(), neighbors), (&["cat".to_owned(), "dog".to_owned()][..], 2));
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn read_outputs(
    file: impl AsRef<Path>,
    reader: impl Read,
    names: &mut OutcomeNames,
    mut each: impl FnMut(u64, OutputWorld, usize, &OutcomeNames) -> Result<ControlFlow<()>>,
) -> Result<Option<InputFile>> {
    read_rows(file.as_ref(), reader, |line, world, output| {
        let Some(outcome) = names.position(output) else {
            let found = format!("the new outcome {}", quoted(output));
            let error = line.at("output").fault(found, format!("at most {} outcomes", OutcomeNames::MOST));
            return Err(hinted(error, "count outputs that are numbers in bins, such as `quantile:20`").into());
        };
        each(line.number(), world, outcome, names)
    })
}

/// Reads what [`read_outputs`] reads if every output is a number, and hands each row with its line number, world and
/// value to `each`. Infinite values are written `inf` and `-inf`; `nan` is rejected.
///
/// # Errors
/// As [`read_outputs`], and [`Error::Input`](crate::Error::Input) for an output that is not a number.
pub fn read_real_outputs(
    file: impl AsRef<Path>,
    reader: impl Read,
    mut each: impl FnMut(u64, OutputWorld, f64) -> Result<ControlFlow<()>>,
) -> Result<Option<InputFile>> {
    read_rows(file.as_ref(), reader, |line, world, output| {
        each(line.number(), world, line.read("output", output, NUMBER, number)?)
    })
}

/// The rows of raw outputs of one query.
fn read_rows(
    file: &Path,
    reader: impl Read,
    mut each: impl FnMut(&Line<'_>, OutputWorld, &str) -> Result<ControlFlow<()>>,
) -> Result<Option<InputFile>> {
    let mut digested = Digested::new(reader);
    let Text::Csv(reader) = sniff(file, &mut digested, "raw outputs")? else {
        return Err(fault(file, "whole file", "JSON", "raw outputs as CSV").into());
    };
    let mut lines = Lines::new(file, reader);
    let header = lines.header(COLUMNS)?;
    if !header.has("world") && !header.has("output") {
        return Err(header.missing(COLUMNS).into());
    }
    if header.has("query") {
        let error = header.fault("a column `query`", COLUMNS);
        return Err(hinted(error, "a stream is of one query; split the file by query").into());
    }
    let columns = [Some(header.require("world")?), Some(header.require("output")?)];
    let mut rows = 0u64;
    while let Some(line) = lines.next()? {
        let [text, output] = line.fields(&header, columns)?;
        let world = world(&line, &text)?;
        check_name(&line, "output", &output)?;
        rows += 1;
        if each(&line, world, &output)?.is_break() {
            return Ok(None);
        }
    }
    if rows == 0 {
        return Err(header.alone().into());
    }
    drop(lines);
    digested.finish(file).map(Some)
}
