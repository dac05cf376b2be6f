//! Shell completions and the manual page, from the same definition as the parser.

use crate::args::{Common, Format};
use crate::output::print;
use leakbound::{Error, Result};

pub fn completions(common: &Common, shell: clap_complete::Shell, mut parser: clap::Command) -> Result<bool> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut parser, "leakbound", &mut script);
    print(common, &[Format::Text], &script).map(|()| false)
}

pub fn man(common: &Common, parser: clap::Command) -> Result<bool> {
    let mut page = Vec::new();
    clap_mangen::Man::new(parser).render(&mut page).map_err(|source| Error::Io {
        path: "stdout".into(),
        action: "write",
        source,
    })?;
    print(common, &[Format::Text], &page).map(|()| false)
}
