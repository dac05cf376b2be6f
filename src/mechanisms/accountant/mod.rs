//! Upper bounds: the guarantees of accountants.

mod amplified;
mod budget;
mod confident;
mod exponential;
mod filter;
mod gaussian;
mod gnmax;
mod gnss;
mod group;
mod halving;
mod label_noise;
mod labeling;
mod laplace;
mod lnmax;
mod local;
mod randomized_response;
mod replaced;
mod selected;
mod smooth_sensitivity;
mod subsampled;
mod theorem;
mod vote_cost;
mod worst_case;

pub use amplified::{poisson_subsampled_rdp, rdp_of_loss, rdp_of_own_loss, rdp_of_profiles, without_replacement_rdp};
pub use budget::PrivacyBudget;
pub use confident::{
    ConfidentCost, confident_gnmax_cost, confident_gnmax_data_independent, interactive_gnmax_cost,
    threshold_data_dependent, threshold_data_independent,
};
pub use exponential::exponential_mechanism_rdp;
pub use filter::{ApproximateFilter, PrivacyFilter, PrivacyOdometer};
pub use gaussian::gaussian_rdp;
pub use gnmax::{gnmax_data_dependent, gnmax_data_independent, log_flip_probability, log_flip_probability_of_parties};
pub use gnss::gnss_rdp;
pub use group::group_rdp;
pub use label_noise::{agibi_rdp, alibi_rdp, alibi_scale};
pub use labeling::{ChargedAnswer, Labeling, label_until_spent};
pub use laplace::{laplace_mechanism_rdp, laplace_rdp, lnmax_data_independent};
pub use lnmax::{lnmax_data_dependent, log_flip_probability_laplace};
pub use local::{local_hashing_rdp, optimized_unary_rdp, subset_selection_rdp, symmetric_unary_rdp};
pub use randomized_response::{k_ary_randomized_response_rdp, randomized_response_rdp};
pub use replaced::replaced_gaussian_rdp;
pub use selected::{Runs, RunsDistribution};
pub use smooth_sensitivity::{GnmaxSensitivity, smooth_sensitivity, threshold_local_sensitivities};
pub use subsampled::{subsampled_gaussian_group_rdp, subsampled_gaussian_rdp};
pub use theorem::{ComposedTheorem, Scope, Statement, Theorem, WorstCases};
pub(crate) use theorem::{GNMAX_WORST_CASE, MIRONOV_GROUP};
pub use vote_cost::{FlipProbability, VoteCost};
#[doc(hidden)]
pub use vote_cost::{argmax_data_dependent, argmax_data_independent};
pub use worst_case::{
    WorstCase, WorstHistogram, WorstVotes, gnmax_worst_case, gnmax_worst_case_curve, gnmax_worst_histogram,
};
