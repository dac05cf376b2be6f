//! Why a command that another program asked for has no answer.

use leakbound::error::Error;
use std::fmt;

/// Why there is no answer.
#[derive(Debug)]
pub enum Rejection {
    /// An option cannot be used: exit status 2 of the command.
    Usage {
        /// The name of the option, with underscores, where one is to blame.
        parameter: Option<String>,
        /// What is wrong, without the name.
        sentence: String,
    },
    /// The data or the system failed: exit status 1.
    Failed(Error),
    /// The work was interrupted.
    Interrupted,
}

impl fmt::Display for Rejection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage { parameter: None, sentence } => formatter.write_str(sentence),
            Self::Usage { parameter: Some(name), sentence } => write!(formatter, "{name}: {sentence}"),
            Self::Failed(error) => error.fmt(formatter),
            Self::Interrupted => formatter.write_str("the work was interrupted"),
        }
    }
}

impl std::error::Error for Rejection {}

impl Rejection {
    /// A usage error about no option in particular.
    pub(super) fn usage(sentence: impl Into<String>) -> Self {
        Self::Usage { parameter: None, sentence: sentence.into() }
    }
}
