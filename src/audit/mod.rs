//! Lower bounds on leakage from recorded outputs: the room where theory and evidence meet.

mod bootstrap;
mod counts;
mod e_process;
mod output_set;
mod pair_stream;
mod pilot;
mod rectangle;
mod resamples;

pub use bootstrap::{Bootstrap, BootstrapInterval};
pub use counts::{AuditPlan, EpsilonBound, Method, QueryAudit, RdpBound, audit_counts, rectangles};
pub use e_process::EProcess;
pub use output_set::{OutputSet, OutputSets, SetSource};
pub use pair_stream::PairStream;
pub use pilot::split_pilot;
pub use rectangle::Rectangle;
