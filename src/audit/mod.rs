//! Lower bounds on leakage from recorded outputs, where theory and evidence meet.

mod asymptotic_epsilon;
mod bins;
mod bootstrap;
mod canary;
mod clips;
mod counts;
mod dual_tangent;
mod e_process;
mod failure_budget;
mod forecast;
mod gdp;
mod guide;
mod half_space;
mod joint;
mod joint_beta;
mod joint_posterior;
mod k_cut;
mod k_cut_box;
mod least_favorable;
mod method;
mod methods;
mod outcome_rectangles;
mod output_set;
mod pair_stream;
mod pilot;
mod plan;
mod recommend;
mod rectangle;
mod reference_distributions;
mod region;
mod resamples;
mod stream_counts;
mod tails;
mod tangent;
mod trade_off_band;
mod two_cut;
mod variational;

pub use asymptotic_epsilon::{jeffreys_epsilon, katz_log_epsilon};
pub use bins::{BinRule, OutputBins, RealOutputs, StreamBins};
pub use bootstrap::{Bootstrap, BootstrapInterval};
pub use canary::{
    CanaryScoreModel, CanaryScores, ClaimedBounds, FalseClaims, GuessSelection, GuessedSides, MembersScore,
    NestedTests, OneRunAudit, OneRunForecast, OneRunGuesses, OneRunPlan, ScoreEvidence, ThresholdSelection,
    audit_one_run, audit_scores, best_threshold_false_claims, epsilon_of_error_rates, exposure, forecast_one_run,
    membership_advantage, one_run_epsilon, one_run_guesses, one_run_mu, one_run_p_value,
};
#[doc(hidden)]
pub use canary::{ForecastBound, MostShown, best_declared_guesses, best_guessed_sides, most_shown};
pub use counts::audit_counts;
pub use e_process::EProcess;
pub use failure_budget::{BoundEvent, FailureBudget, FailurePer};
pub use forecast::{expected_counts, samples_to_reach, typical_bound};
pub use gdp::gdp_bounds;
pub use guide::Guide;
pub use half_space::HalfSpace;
pub use joint::{JointQuery, joint_bound};
pub use joint_beta::{joint_beta_epsilon, joint_beta_region_epsilon};
pub use k_cut::SimultaneousIntervals;
pub use k_cut_box::KCutBox;
pub use method::rectangles;
pub use methods::Bounded;
#[doc(hidden)]
pub use methods::{DescribedMethod, methods};
pub use outcome_rectangles::outcome_rectangles;
pub use output_set::{OutputSet, OutputSets, SetSource};
pub use pair_stream::PairStream;
pub use pilot::split_pilot;
pub use plan::{AuditPlan, EpsilonBound, QueryAudit, RdpBound, Skipped};
pub use recommend::{Recommendation, recommend};
pub use rectangle::Rectangle;
pub use reference_distributions::{ReferenceDistributions, shrunken_pair};
pub use region::Region;
pub use stream_counts::{OutputWorld, StreamCounts, StreamOutput};
pub use tails::Tails;
pub use trade_off_band::{TradeOffBand, trade_off_band};
pub use variational::{Variational, variational_bound};

method::methods! {
    /// Rényi: each term of the 2-cut at its own worst corner ([`Rectangle::termwise`]).
    TwoCutPaper => two_cut::TWO_CUT_PAPER,
    /// Rényi: the worst corner of the 2-cut ([`Rectangle::corner`]).
    TwoCutCorner => two_cut::TWO_CUT_CORNER,
    /// Rényi: the 2-cut from one limit of P(O) - Q(O) ([`HalfSpace`]).
    TwoCutHalfSpace => half_space::TWO_CUT_HALF_SPACE,
    /// Rényi: the k-cut from the simultaneous intervals of Goodman ([`SimultaneousIntervals`]).
    KCutGoodman => k_cut::K_CUT_GOODMAN,
    /// Rényi: the k-cut from the simultaneous intervals of Sison and Glaz ([`SimultaneousIntervals`]).
    KCutSisonGlaz => k_cut::K_CUT_SISON_GLAZ,
    /// Rényi: the smallest k-cut in the box of all Clopper-Pearson limits ([`KCutBox`]).
    KCutBox => k_cut_box::K_CUT_BOX,
    /// Rényi: one limit of the tangent of the divergence at a reference ([`Variational`]).
    KCutVariational => variational::K_CUT_VARIATIONAL,
    /// Rényi: the box cut by one half-space, for all orders ([`Region`]).
    KCutRegion => region::K_CUT_REGION,
    /// Rényi: percentile bootstrap of the 2-cut ([`Bootstrap`]).
    BootstrapTwoCut => bootstrap::BOOTSTRAP_TWO_CUT,
    /// Rényi: percentile bootstrap of the k-cut ([`Bootstrap`]).
    BootstrapKCut => bootstrap::BOOTSTRAP_K_CUT,
    /// Rényi: a bet against each divergence, in a random order of the outputs ([`EProcess`]).
    EProcess => e_process::E_PROCESS,
    /// ε at δ from Clopper-Pearson limits ([`Rectangle::epsilon`]).
    ClopperPearson => two_cut::CLOPPER_PEARSON,
    /// ε at δ from Jeffreys limits ([`jeffreys_epsilon`]).
    Jeffreys => asymptotic_epsilon::JEFFREYS,
    /// ε at δ from the joint posterior of both probabilities ([`joint_beta_epsilon`]).
    JointBeta => joint_beta::JOINT_BETA,
    /// ε at δ from the log ratio of both probabilities ([`katz_log_epsilon`]).
    KatzLog => asymptotic_epsilon::KATZ_LOG,
    /// ε at δ of the Gaussian trade-off whose μ is bounded from Clopper-Pearson limits ([`gdp_bounds`]).
    Gdp => gdp::GDP,
}

#[cfg(test)]
mod tests;
