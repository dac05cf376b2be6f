//! Results as text, JSON, CSV and pages: what the command prints and writes.
//!
//! Every result is a plain struct that serializes to the documented JSON. Its presentation is defined once:
//! [`Section`]s of tables and notes, figures, and flat [`Records`]. One function makes the text from them, one the
//! page, one CSV. The figures of pages, [`Curves`] and [`Rows`], also serve other programs.

mod account;
mod accountants;
mod advice;
mod bench;
mod bench_sweep;
mod bound_figures;
mod calibrate;
mod canaries;
mod catalog;
mod composed;
mod content;
mod counts;
mod document;
mod envelope;
mod exact;
mod failure;
mod figure;
mod fit;
mod label_comparison;
mod label_dp;
mod meaning;
mod mechanism;
mod membership;
mod meta_classifier;
mod page;
mod property;
mod recording;
mod records;
mod rerun;
mod score_check;
mod scores;
mod section;
mod self_check;
mod simulate;
mod stream;
mod student;
mod student_membership;
mod suite;
mod text;
mod tokens;
mod trade_off;
mod verify;
mod votes;
mod words;

pub use document::{Answered, Document, Render};
pub use envelope::Envelope;
pub use figure::{
    Axis, Column, Curves, Drawing, Histograms, PictureRow, Pictures, Row, RowSeries, Rows, Series, SeriesKind,
};
pub use page::Page;
pub use records::Records;
pub use section::{Form, Section, Table};

#[doc(hidden)]
pub use self::{
    accountants::AccountantsDocument,
    content::Content,
    figure::Scale,
    fit::fit,
    meta_classifier::MetaClassifierDocument,
    recording::{RecordingDocument, TrainingFact},
    records::{Cell, RecordColumns},
    section::Columns,
    student::{StudentDocument, StudentRow},
};
