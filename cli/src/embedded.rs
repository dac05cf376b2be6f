//! A command that another command runs, for its document.

use super::args::{Common, Format};
use super::command_line::Program;
use super::interruption::Interruption;
use super::output::Watch;
use super::session::{Found, Host, Session};
use leakbound::error::{Error, Result};
use leakbound::study::{Step, Verdict};
use std::sync::{Arc, Mutex, PoisonError};

/// Runs a command on the threads that there are, with the progress bar of `outer`: its verdict and its document.
///
/// # Errors
/// Those of the command.
pub(super) fn run_within(outer: &Common, mut line: impl Program) -> Result<(Verdict, Found)> {
    let watch = Watch::new(outer);
    let interruption = outer.session.noted().clone();
    let noting: Interruption = interruption.clone();
    let host = Arc::new(Host {
        progress: Some(Box::new(move |done, all, unit| {
            if watch.step(Step { done, all, unit }).is_break() {
                noting.note();
            }
        })),
        interruption,
        accountant: Mutex::default(),
        black_box: Mutex::default(),
        fewer: Mutex::default(),
        found: Mutex::default(),
    });
    // A result that goes into a file has the form that was requested for it.
    let common = line.common_mut();
    if common.output.is_none() {
        common.format = Format::Json;
    }
    common.session = Session::of(Arc::clone(&host));
    let verdict = line.run()?;
    let found = host.found.lock().unwrap_or_else(PoisonError::into_inner).take();
    Ok((verdict, found.ok_or_else(|| Error::rejected("document", "the command has none"))?))
}
