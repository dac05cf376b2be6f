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

/// Runs a part of the decoder, whose panics are errors of the file.
pub(super) fn guarded<T>(path: &Path, work: impl FnOnce() -> std::result::Result<T, ParquetError>) -> Result<T> {
    let before = EXPECTED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    EXPECTED.set(before);
    match outcome {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(ParquetError::External(error))) => match error.downcast::<std::io::Error>() {
            Ok(error) => Err(unreadable(path, *error)),
            Err(error) => Err(damaged(path, &error.to_string())),
        },
        Ok(Err(error)) => Err(damaged(path, error.to_string().trim_start_matches("Parquet error: "))),
        Err(_) => Err(damaged(path, "values that do not fit their description")),
    }
}

fn damaged(path: &Path, why: &str) -> Error {
    let found = format!("a table that cannot be read ({})", shortened(why, 100));
    hinted(fault(path, "whole file", found, "a Parquet file"), "the file may be cut off or damaged").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_errors_of_the_file() {
        let message = |work: fn() -> std::result::Result<(), ParquetError>| {
            guarded(Path::new("t.parquet"), work).unwrap_err().to_string()
        };
        let io = || Err(ParquetError::External(Box::new(std::io::Error::from(std::io::ErrorKind::PermissionDenied))));
        insta::assert_snapshot!(
            [
                message(|| {
                    assert!(!is_panic_expected(), "inside");
                    Ok(())
                }),
                message(|| Err(ParquetError::General("bad magic".into()))),
                message(io),
            ]
            .join("\n"),
            @r"
        t.parquet: whole file: found a table that cannot be read (values that do not fit their description), expected a Parquet file; hint: the file may be cut off or damaged
        t.parquet: whole file: found a table that cannot be read (bad magic), expected a Parquet file; hint: the file may be cut off or damaged
        t.parquet: cannot read: permission denied
        "
        );
        assert!(!is_panic_expected());
    }
}
