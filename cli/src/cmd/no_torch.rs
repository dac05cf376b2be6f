//! `leakbound torch` in a program that was built without libtorch.

use crate::args::{Common, TorchCommand};
use leakbound::{Error, Result};

pub fn run(_: &Common, _: &TorchCommand) -> Result<bool> {
    Err(Error::Unavailable {
        operation: "torch",
        reason: "this program was built without the feature `torch`; in a clone, `cargo xtask libtorch && cargo build \
                 --release --features torch` makes one that has it"
            .into(),
    })
}
