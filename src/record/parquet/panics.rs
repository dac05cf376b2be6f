//! Damage that a decoder answers with a panic.

use super::super::fault::{fault, hinted, shortened, unreadable};
use crate::error::{Error, Result};
use parquet::errors::ParquetError;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

thread_local! {
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread, while it unwinds, is the answer of a decoder to damaged data and becomes an error: the
/// decoder of Parquet panics on some of them. A panic hook need not print it.
///
/// ```
/// let print = std::panic::take_hook();
/// std::panic::set_hook(Box::new(move |panic| {
///     if !leakbound::record::is_panic_expected() {
///         print(panic);
///     }
/// }));
/// # assert!(!leakbound::record::is_panic_expected());
/// ```
#[must_use]
pub fn is_panic_expected() -> bool {
    EXPECTED.get()
}

/// The message of the decoder for a page whose bytes are not those that were written.
const MISMATCH: &str = "CRC checksum mismatch";

/// Runs a part of the decoder, whose panics are errors of this place of the file.
pub(super) fn guarded<T>(
    path: &Path,
    place: &str,
    work: impl FnOnce() -> std::result::Result<T, ParquetError>,
) -> Result<T> {
    let before = EXPECTED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    EXPECTED.set(before);
    match outcome {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(ParquetError::External(error))) => match error.downcast::<std::io::Error>() {
            Ok(error) => Err(unreadable(path, *error)),
            Err(error) => Err(damaged(path, place, &error.to_string())),
        },
        Ok(Err(error)) => Err(damaged(path, place, error.to_string().trim_start_matches("Parquet error: "))),
        Err(_) => Err(damaged(path, place, "values that do not fit their description")),
    }
}

fn damaged(path: &Path, place: &str, why: &str) -> Error {
    if why.contains(MISMATCH) {
        let error = fault(path, place, "a page that does not match its checksum", "the bytes that were written");
        return hinted(error, "the file is damaged: copy it again, or write it again").into();
    }
    if why.contains("encrypted") {
        let error = fault(path, "whole file", "an encrypted Parquet table", "a table without encryption");
        return hinted(error, "decrypt it with the program that has its keys").into();
    }
    let found = format!("a table that cannot be read ({})", shortened(why, 100));
    hinted(fault(path, place, found, "a Parquet file"), "the file may be cut off, damaged or encrypted").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_errors_of_the_file() {
        let message = |work: fn() -> std::result::Result<(), ParquetError>| {
            guarded(Path::new("t.parquet"), "row group 2, column `a`", work).unwrap_err().to_string()
        };
        let io = || Err(ParquetError::External(Box::new(std::io::Error::from(std::io::ErrorKind::PermissionDenied))));
        insta::assert_snapshot!(
            [
                message(|| {
                    assert!(!is_panic_expected(), "inside");
                    Ok(())
                }),
                message(|| Err(ParquetError::General("bad magic".into()))),
                message(|| Err(ParquetError::General("Page CRC checksum mismatch".into()))),
                message(|| Err(ParquetError::General("Parquet file has an encrypted footer but".into()))),
                message(io),
            ]
            .join("\n"),
            @r"
        t.parquet: row group 2, column `a`: found a table that cannot be read (values that do not fit their description), expected a Parquet file; hint: the file may be cut off, damaged or encrypted
        t.parquet: row group 2, column `a`: found a table that cannot be read (bad magic), expected a Parquet file; hint: the file may be cut off, damaged or encrypted
        t.parquet: row group 2, column `a`: found a page that does not match its checksum, expected the bytes that were written; hint: the file is damaged: copy it again, or write it again
        t.parquet: whole file: found an encrypted Parquet table, expected a table without encryption; hint: decrypt it with the program that has its keys
        t.parquet: cannot read: permission denied
        "
        );
        assert!(!is_panic_expected());
    }
}
