//! Lower bounds on leakage from recorded outputs: the room where theory and evidence meet.

mod counts;
mod k_cut;
mod k_cut_box;
mod least_favorable;
mod output_set;
mod pilot;
mod rectangle;
mod tangent;

pub use counts::{AuditPlan, EpsilonBound, Method, QueryAudit, RdpBound, audit_counts, rectangles};
pub use k_cut::SimultaneousIntervals;
pub use k_cut_box::KCutBox;
pub use output_set::{OutputSet, OutputSets, SetSource};
pub use pilot::split_pilot;
pub use rectangle::Rectangle;
