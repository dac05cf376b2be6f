//! Every rejection of the command, as the user reads it: one line on stderr, nothing on stdout, no file left behind.

mod counts;
mod exact;
mod files;
mod options;
mod votes;

use crate::arrays::Arrays;
use crate::desk::Desk;

/// `audit counts` of a text.
fn counts(desk: &Desk, text: impl AsRef<[u8]>) -> String {
    desk.file("a.csv", text);
    desk.rejected(1, "audit counts a.csv")
}

/// `audit votes` of an archive.
fn votes(desk: &Desk, model: &str, arrays: &Arrays<'_>) -> String {
    desk.arrays("v.npz", arrays);
    desk.rejected(1, &format!("audit votes v.npz --noise gaussian:1 --model {model}"))
}

/// One table that is good, so that only its companion is bad.
const GOOD: &str = "outcome,count,count_neighbor\na,60,50\nb,40,50\n";
