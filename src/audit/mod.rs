//! Lower bounds on leakage from recorded outputs: the room where theory and evidence meet.

mod asymptotic_epsilon;
mod counts;
mod gdp;
mod joint_beta;
mod joint_posterior;
mod output_set;
mod pilot;
mod rectangle;
mod tails;
mod trade_off_band;

pub use asymptotic_epsilon::{jeffreys_epsilon, katz_log_epsilon};
pub use counts::{AuditPlan, EpsilonBound, Method, QueryAudit, RdpBound, audit_counts, rectangles};
pub use gdp::gdp_bounds;
pub use joint_beta::{joint_beta_epsilon, joint_beta_region_epsilon};
pub use output_set::{OutputSet, OutputSets, SetSource};
pub use pilot::split_pilot;
pub use rectangle::Rectangle;
pub use tails::Tails;
pub use trade_off_band::{TradeOffBand, trade_off_band};
