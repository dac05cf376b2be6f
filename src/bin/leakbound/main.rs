//! The command `leakbound`.
fn main() {}
