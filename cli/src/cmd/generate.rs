//! Shell completions and the manual page, from the same definition as the parser.

use crate::args::Cli;
use crate::output::print;
use clap::CommandFactory;
use leakbound::{Error, Result};

pub fn completions(shell: clap_complete::Shell) -> Result<bool> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "leakbound", &mut script);
    print(&script).map(|()| false)
}

pub fn man() -> Result<bool> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page).map_err(|source| Error::Io {
        path: "stdout".into(),
        action: "write",
        source,
    })?;
    print(&page).map(|()| false)
}
