//! Shell completions and the manual page, from the same definition as the parser.

use crate::args::{Cli, Common, Format};
use crate::output::print;
use clap::CommandFactory;
use leakbound::{Error, Result};

pub fn completions(common: &Common, shell: clap_complete::Shell) -> Result<bool> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "leakbound", &mut script);
    print(common, &[Format::Text], &script).map(|()| false)
}

pub fn man(common: &Common) -> Result<bool> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page).map_err(|source| Error::Io {
        path: "stdout".into(),
        action: "write",
        source,
    })?;
    print(common, &[Format::Text], &page).map(|()| false)
}
