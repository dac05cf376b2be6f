//! Results as text, JSON and CSV: what the command prints.
//!
//! Every result is a plain struct that serialises to the documented JSON; text and CSV are made from the same struct.

mod bench;
mod counts;
mod document;
mod exact;
mod number;
mod self_check;
mod simulate;
mod table;
mod votes;
mod votes_text;

pub use crate::error::one_line;
pub use bench::{BenchDocument, BenchRow};
pub use counts::{BoundRow, Claim, CountsDocument, EpsilonRow, SetRow};
pub use document::{Document, Envelope, Warning};
pub use exact::{AccountantRow, DivergenceRow, ExactDocument, HockeyStickRow, OutcomeRow};
pub use number::{Number, short, significant};
pub use self_check::{CheckRow, CheckedQuery, SelfCheckDocument, TightnessRow};
pub use simulate::{CountsRow, LawPair, LawRow, SimulateDocument};
pub use votes::{
    AddedPoint, ComposedCurve, ComposedEpsilon, ComposedSection, ExactRow, LawKind, Meaning, SeriesCheck, SeriesNote,
    UpperRow, VotesDocument, VotesQuery,
};
