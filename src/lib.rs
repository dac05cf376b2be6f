//! Bounds on the privacy leakage of real mechanisms, from below and from above.
//!
//! The outputs of a mechanism have one distribution for a dataset and a slightly different one for its neighbor. This
//! crate measures the difference as Rényi divergences and as (ε, δ):
//!
//! - **from below**, from counts of recorded or simulated outputs: [`audit::audit_counts`] with a failure probability
//!   that is spent once and a [`bound::Validity`] that names the guarantee;
//! - **exactly**, if the distribution can be computed: [`distribution::noisy_argmax_distribution`] for fixed votes
//!   ([`distribution::custom_argmax_distribution`] for user-defined noise),
//!   [`distribution::multinomial_argmax_distribution`] and [`distribution::marked_argmax_distribution`] for random
//!   votes, compared by [`divergence::renyi_divergence`] and [`divergence::hockey_stick`];
//! - **from above**, by accountants such as [`accountant::gnmax_data_dependent`], composed as
//!   [`divergence::RdpCurve`]s.
//!
//! | module | content |
//! |---|---|
//! | [`study`] | whole questions, each with one request and one typed answer: start here |
//! | [`mechanism`] | mechanisms as data: parameters, output distribution, sampler, theorems |
//! | [`distribution`], [`divergence`] | output distributions and their divergences, privacy losses, composition |
//! | [`audit`], [`interval`], [`roc`] | lower bounds from counts and scores, and the confidence limits below them |
//! | [`accountant`], [`verify`] | upper bounds, and tests of anyone's accountant |
//! | [`model`], [`simulate`] | vote models of private prediction; samplers on any number of threads |
//! | [`token`] | ensembles of language models that answer with tokens, and what each member of them leaks |
//! | [`membership`], [`label_dp`], [`property`] | attacks on recorded models |
//! | [`record`], [`json`], [`report`] | files in, documents out |
//! | [`quantity`], [`relation`], [`counts`], [`histogram`], [`bound`], [`error`] | the vocabulary; [`prelude`] has the names that most programs need |
//!
//! [`simulate::simulate`] draws the outputs of a [`model::VoteModel`], or of any [`simulate::Sampler`], reproducibly on
//! any number of threads. Divergences and ε are in nats; probabilities that matter in the tails travel with their
//! logarithms or complements.
//!
//! ```
//! use leakbound::divergence::renyi_divergence;
//! use leakbound::distribution::noisy_argmax_distribution;
//! use leakbound::model::PromptPateModel;
//! use leakbound::prelude::*;
//! use leakbound::simulate::ArgmaxSampler;
//!
//! // A noisy argmax of five classes, and the same after one voter changed its mind.
//! let noise: Noise = "gaussian:2".parse()?;
//! let histogram = VoteHistogram::new(vec![14, 12, 10, 8, 6])?;
//! let neighbor = histogram.neighbor(Neighbor::Moved { from: 0, to: 1 })?;
//! let order = Order::new(2.0)?;
//!
//! // Exact leakage.
//! let (p, q) = (noisy_argmax_distribution(&histogram, noise)?, noisy_argmax_distribution(&neighbor, noise)?);
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
//! let guide = Guide::from_distributions(&p, &q, &plan.orders, &plan.directions, SetSource::ExactDistribution)?;
//! let lower = audit_counts(&counts, &guide, &plan)?.rdp[0].bound;
//! assert!(lower.value > 0.2 && lower.value < exact && lower.validity == Validity::FiniteSample);
//! # Ok::<(), leakbound::Error>(())
//! ```

// Each package re-exports those below it.
#[cfg(all(feature = "attacks", not(feature = "study")))]
#[doc(inline)]
pub use leakbound_attacks::*;
#[cfg(not(feature = "attacks"))]
#[doc(inline)]
pub use leakbound_audit::*;
#[cfg(not(feature = "study"))]
#[doc(inline)]
pub use leakbound_mechanisms::*;
#[cfg(feature = "report")]
#[doc(inline)]
pub use leakbound_report::*;
#[cfg(all(feature = "study", not(feature = "report")))]
#[doc(inline)]
pub use leakbound_study::*;

/// The names that most programs need.
///
/// ```
/// use leakbound::prelude::*;
///
/// let mechanism = NoisyArgmax { noise: "gaussian:2".parse()?, test: None };
/// let [dataset, neighbor] = [[14, 12], [13, 13]].map(|votes| VoteHistogram::new(votes.to_vec()));
/// let pair = mechanism.output_pair(&dataset?, &neighbor?)?;
/// assert!(pair.renyi(Direction::Forward, Order::new(2.0)?) < 0.5);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub mod prelude {
    #[cfg(feature = "study")]
    pub use leakbound_study::prelude::*;
    #[cfg(not(feature = "study"))]
    pub use {leakbound_audit::prelude::*, leakbound_mechanisms::prelude::*};
}

/// The examples of the README are compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

/// So are those of the Rust page of the site.
#[cfg(doctest)]
#[doc = include_str!("../docs/start/rust.md")]
mod start {}
