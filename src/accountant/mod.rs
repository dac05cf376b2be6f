//! Upper bounds: what accountants promise.

mod gaussian;
mod gnmax;
mod group;
mod laplace;
mod subsampled;
mod worst_case;

pub use gaussian::gaussian_rdp;
pub use gnmax::{gnmax_data_dependent, gnmax_data_independent, log_flip_probability, log_flip_probability_of_parties};
pub use group::group_rdp;
pub use laplace::{laplace_rdp, lnmax_data_independent};
pub use subsampled::{subsampled_gaussian_group_rdp, subsampled_gaussian_rdp};
pub use worst_case::{
    WorstCase, WorstHistogram, WorstVotes, gnmax_worst_case, gnmax_worst_case_curve, gnmax_worst_histogram,
};
