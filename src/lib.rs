//! Bounds on the privacy leakage of real mechanisms, from below and from above.
//!
//! A mechanism prints outcomes; its law differs a little between a dataset and a neighbor. This crate measures that
//! difference as Rényi divergences and as (ε, δ):
//!
//! - **from below**, from counts of recorded or simulated outputs: [`audit_counts`] with a failure probability that is
//!   spent once and a [`Validity`] that says what is guaranteed;
//! - **exactly**, where the law can be computed: [`noisy_argmax_law`] for fixed votes ([`custom_argmax_law`] for noise of
//!   one's own), [`multinomial_argmax_law`] and [`marked_argmax_law`] for votes that are random themselves, compared by
//!   [`renyi_divergence`] and [`hockey_stick`];
//! - **from above**, by accountants such as [`gnmax_data_dependent`], composed as [`RdpCurve`]s.
//!
//! [`simulate`] draws the outputs of a [`VoteModel`], or of any [`Sampler`], reproducibly on any number of threads.
//! Divergences and ε are in nats; probabilities that matter in the tails travel with their logarithms or complements.
//!
//! ```
//! use leakbound::*;
//!
//! // A noisy argmax of five classes, and the same after one voter changed its mind.
//! let noise: Noise = "gaussian:2".parse()?;
//! let histogram = VoteHistogram::new(vec![14, 12, 10, 8, 6])?;
//! let neighbor = histogram.neighbor(Neighbor::Moved { from: 0, to: 1 })?;
//! let order = Order::new(2.0)?;
//!
//! // Exact leakage.
//! let (p, q) = (noisy_argmax_law(&histogram, noise)?, noisy_argmax_law(&neighbor, noise)?);
//! let exact = renyi_divergence(&p, &q, order)?;
//! assert!((exact - 0.239_564_145_745_804).abs() < 1e-14);
//!
//! // What an auditor sees of it in 100,000 outputs of each world, except with probability 5 %.
//! let model = PromptPateModel::new(histogram, neighbor)?;
//! let counts = simulate(&ArgmaxSampler::new(&model.into(), noise), Simulation::new(100_000)?, |_| ())?;
//! let plan = AuditPlan {
//!     orders: vec![order],
//!     delta: Delta::new(1e-5)?,
//!     failure: FailureProbability::new(0.05)?,
//!     methods: vec![Method::TwoCutCorner],
//!     directions: vec![Direction::Forward],
//!     seed: 0,
//!     resamples: 10_000,
//! };
//! let guide = Guide::from_laws(&p, &q, &plan.orders, &plan.directions, SetSource::ExactLaw)?;
//! let lower = audit_counts(&counts, &guide, &plan)?.rdp[0].bound;
//! assert!(lower.value > 0.2 && lower.value < exact && lower.validity == Validity::FiniteSample);
//! # Ok::<(), leakbound::Error>(())
//! ```

mod accountant;
mod audit;
mod bound;
#[cfg(feature = "cli")]
pub mod command;
mod counts;
mod divergence;
mod error;
mod histogram;
mod interval;
mod label_dp;
mod law;
pub mod mechanism;
mod membership;
mod model;
mod property;
mod quadrature;
mod quantity;
pub mod record;
#[cfg(feature = "report")]
pub mod report;
mod roc;
mod self_check;
mod simulate;
mod solve;
pub mod special;
pub mod study;
#[cfg(feature = "torch")]
pub mod torch;
mod variate;
mod vectorized;
pub mod verify;

pub use accountant::{
    Answer, ComposedTheorem, ConfidentCost, FlipProbability, GnmaxSensitivity, Labeling, PrivacyBudget, Scope,
    Statement, Theorem, VoteCost, WorstCase, WorstCases, WorstHistogram, WorstVotes, agibi_rdp, alibi_rdp, alibi_scale,
    argmax_data_dependent, argmax_data_independent, confident_gnmax_cost, confident_gnmax_data_independent,
    exponential_mechanism_rdp, gaussian_rdp, gnmax_data_dependent, gnmax_data_independent, gnmax_worst_case,
    gnmax_worst_case_curve, gnmax_worst_histogram, gnss_rdp, gnss_rdp_as_published, group_rdp, interactive_gnmax_cost,
    k_ary_randomized_response_rdp, label_until_spent, laplace_mechanism_rdp, laplace_rdp, lnmax_data_dependent,
    lnmax_data_independent, log_flip_probability, log_flip_probability_laplace, log_flip_probability_of_parties,
    private_knn_rdp, randomized_response_rdp, smooth_sensitivity, subsampled_gaussian_group_rdp,
    subsampled_gaussian_rdp, threshold_data_dependent, threshold_data_independent, threshold_local_sensitivities,
};
pub use audit::{
    AuditPlan, BinRule, Bootstrap, BootstrapInterval, BoundEvent, Bounded, EProcess, EpsilonBound, FailureBudget,
    FailurePer, Guide, HalfSpace, JointQuery, KCutBox, Method, OutputBins, OutputSet, OutputSets, PairStream,
    QueryAudit, RdpBound, RealOutputs, Recommendation, Rectangle, ReferenceLaws, Region, SetSource,
    SimultaneousIntervals, Skipped, StreamBins, Tails, TradeOffBand, Variational, audit_counts, expected_counts,
    gdp_bounds, jeffreys_epsilon, joint_beta_epsilon, joint_beta_region_epsilon, joint_bound, katz_log_epsilon,
    outcome_rectangles, recommend, rectangles, samples_to_reach, shrunken_pair, split_pilot, trade_off_band,
    typical_bound, variational_bound,
};
pub use audit::{
    CanaryScores, FalseClaims, GuessSelection, OneRunAudit, OneRunGuesses, ScoreEvidence, ThresholdSelection,
    audit_one_run, audit_scores, best_threshold_false_claims, epsilon_of_error_rates, exposure, gdp_over_hull,
    membership_advantage, one_run_epsilon, one_run_guesses, one_run_mu, one_run_over_hull, one_run_p_value,
    variational_error_as_published,
};
pub use bound::{Direction, Directions, Figures, Interval, LowerBound, UpperBound, Validity};
pub use counts::{MAX_COUNT, PairedCounts, hardly_repeats};
pub use divergence::{Bracket, ComposedLoss, PrivacyLoss, compose_losses};
pub use divergence::{
    Conversion, RdpCurve, SharedTeachers, Supremum, WorstNeighbors, bernoulli_renyi, classic_epsilon_of_rdp,
    delta_of_rdp, epsilon_at_delta, epsilon_of_rdp, gaussian_sigma, gdp_delta, gdp_epsilon, gdp_of_laws, hockey_stick,
    order_grid, renyi_divergence, smallest_epsilon, worst_neighbors, worst_neighbors_of,
};
pub use error::{Error, InputError, Result};
pub use histogram::{Adjacency, MAX_CLASSES, Neighbor, VoteHistogram};
pub use interval::{
    BerkJones, BinomialCounts, ProportionLimit, ProportionRange, RectangleProbability, SisonGlaz, adjusted_log_lower,
    clopper_pearson, clopper_pearson_lower, clopper_pearson_open, clopper_pearson_simultaneous, clopper_pearson_upper,
    dkw_limits, goodman, jeffreys_lower, jeffreys_upper, katz_log_lower, sison_glaz,
};
pub use interval::{bailey_lower, inverse_sinh_lower};
pub use label_dp::{
    AntipodesInterval, LabelAudit, LabelCanaries, LabelThreshold, agibi_labels, agibi_posterior, alibi_labels,
    alibi_posterior, antipodes_interval, audit_labels, simplex_projection,
};
pub use law::{
    Displacement, ExpandedLaw, LogConcaveNoise, Noise, OutcomeLaw, OutputPair, ThresholdForm, ThresholdOdds,
    ThresholdTest, confident_argmax_law, custom_argmax_law, displaced_argmax_laws, interactive_argmax_law,
    marked_argmax_law, marked_argmax_laws, multinomial_argmax_law, noisy_argmax_law, poisson_multinomial_argmax_law,
};
pub use mechanism::{AdditiveNoise, NoisyArgmax, RandomVotes, RandomizedResponse, SmoothRelease, SubsampledGaussian};
pub use membership::{
    AttackScores, CanaryAccuracy, CanaryIndependence, Dilution, Level, LevelMetrics, MembershipMetrics, MembershipPlan,
    SampleLevel, SampleMetrics, TprAtFpr, VictimBootstrap, canary_accuracy, canary_independence, dilution,
    membership_metrics, sample_level, tpr_at_fpr, victim_bootstrap,
};
pub use membership::{
    Guesses, LiraMode, LiraPlan, LiraVariance, LiraVariant, LiraViews, MembershipScore, MemoryLogits, MemoryScores,
    ScoreBlock, ScoredLogits, ShadowLogits, ShadowScores, Victims, fisher_score, lira,
};
pub use membership::{RmiaPlan, label_only, right_answers, risk_score, rmia, threshold_attack, trained_attacker};
pub use model::{
    Adversary, BestCandidate, CapcModel, Composition, Embedding, NeighborIndex, NeighborLaws, NeighborSampling,
    PateModel, PoisonSearch, PrivateKnnModel, PromptPateModel, VoteModel, best_candidate, wrong_label,
};
pub use property::{PropertyDecision, RestoredPoints, property_distance, restore_labeled_points};
pub use quantity::{Delta, Epsilon, FailureProbability, NoiseScale, Order, Probability};
pub use roc::{BestThreshold, Roc, RocPoint};
pub use self_check::self_check_scores;
pub use self_check::{
    BoundTightness, CheckCase, CheckRuns, CheckSizes, CheckVerdict, CheckedQuantity, MethodCheck, self_check,
};
pub use simulate::{
    ArgmaxSampler, BLOCK_SAMPLES, BlockSet, ConfidentSampler, Estimate, MAX_OUTCOMES, PartialCounts, RaoBlackwell,
    SAMPLER_VERSION, Sampler, Shard, Simulation, Stream, StreamId, VoteSampler, World, chi_square_p_value,
    draw_confident_answer, fill_noise, noise_approximation_errors, rao_blackwell, sample_laws, simulate,
};

/// The examples of the README are compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
