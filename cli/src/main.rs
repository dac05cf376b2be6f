//! The command `leakbound`.

use std::process::ExitCode;

fn main() -> ExitCode {
    leakbound_cli::main()
}
