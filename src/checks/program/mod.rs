//! Programs of the user: started, sent requests, waited for within limits, and ended with all their child processes.
//!
//! What a program does wrong is a [`Fault`], never an error of this library: it is a finding about the program.

mod fault;
mod group;
mod lines;
mod once;
mod stop;
mod watchdog;

pub use fault::{Fault, FaultKind};
pub(crate) use fault::{quoted, with_special_numbers_as_strings};
pub(crate) use lines::split_command;
pub use lines::{Exchange, Limits, LineProgram};
pub(crate) use once::run_once;
pub use stop::{Stop, Watch, never_stop};
pub(crate) use watchdog::Watchdog;
