//! Lower bounds on leakage from recorded outputs: the room where theory and evidence meet.

mod asymptotic_epsilon;
mod counts;
mod e_process;
mod forecast;
mod gdp;
mod half_space;
mod joint;
mod joint_beta;
mod k_cut;
mod k_cut_box;
mod least_favorable;
mod output_set;
mod pilot;
mod rectangle;
mod tails;
mod tangent;
mod trade_off_band;

pub use asymptotic_epsilon::{jeffreys_epsilon, katz_log_epsilon};
pub use counts::{AuditPlan, EpsilonBound, Method, QueryAudit, RdpBound, audit_counts, rectangles};
pub use e_process::EProcess;
pub use forecast::{expected_counts, samples_to_reach};
pub use gdp::gdp_bounds;
pub use half_space::HalfSpace;
pub use joint::{JointQuery, joint_bound};
pub use joint_beta::{joint_beta_epsilon, joint_beta_region_epsilon};
pub use k_cut::SimultaneousIntervals;
pub use k_cut_box::KCutBox;
pub use output_set::{OutputSet, OutputSets, SetSource};
pub use pilot::split_pilot;
pub use rectangle::Rectangle;
pub use tails::Tails;
pub use trade_off_band::{TradeOffBand, trade_off_band};
