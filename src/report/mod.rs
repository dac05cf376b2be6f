//! Results as text, JSON, CSV and pages: what the command prints and writes.
//!
//! Every result is a plain struct that serializes to the documented JSON; text, CSV and the page ([`Document::page`]) are
//! made from the same struct. The figures of pages, [`Curves`] and [`Rows`], serve other programs too.

mod account;
mod accountants;
mod advice;
mod bench;
mod composed;
mod counts;
mod document;
mod envelope;
mod exact;
mod failure;
mod figure;
mod fit;
mod label_dp;
mod membership;
mod page;
mod property;
mod recording;
mod rerun;
mod score_check;
mod scores;
mod self_check;
mod simulate;
mod stream;
mod student;
mod suite;
mod table;
mod trade_off;
mod verify;
mod votes;

pub use crate::error::one_line;
pub use accountants::AccountantsDocument;
pub use document::{Answered, Document, Render};
pub use envelope::Envelope;
pub use figure::{Axis, Curves, Drawing, Row, RowSeries, Rows, Scale, Series, SeriesKind};
pub use fit::fit;
pub use page::Page;
pub use recording::{RecordingDocument, TrainingFact};
pub use student::{StudentDocument, StudentRow};
