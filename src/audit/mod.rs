//! Lower bounds on leakage from recorded outputs: the room where theory and evidence meet.

mod counts;
mod half_space;
mod line_search;
mod output_set;
mod pilot;
mod rectangle;
mod reference_laws;
mod region;
mod tangent;
mod variational;

pub use counts::{AuditPlan, EpsilonBound, Method, QueryAudit, RdpBound, audit_counts, rectangles};
pub use half_space::HalfSpace;
pub use output_set::{OutputSet, OutputSets, SetSource};
pub use pilot::split_pilot;
pub use rectangle::Rectangle;
pub use reference_laws::ReferenceLaws;
pub use region::Region;
pub use variational::{Variational, variational_bound};
