//! Bounds on the privacy leakage of real mechanisms, from below and from above.

mod accountant;
mod audit;
mod bound;
mod counts;
mod divergence;
mod error;
mod histogram;
mod interval;
mod law;
mod model;
mod quadrature;
mod quantity;
pub mod record;
#[cfg(feature = "cli")]
pub mod report;
mod simulate;
mod solve;
pub mod special;

pub use accountant::{
    gaussian_rdp, gnmax_data_dependent, gnmax_data_independent, laplace_rdp, lnmax_data_independent,
    log_flip_probability,
};
pub use audit::{
    AuditPlan, EpsilonBound, Method, OutputSet, OutputSets, QueryAudit, RdpBound, Rectangle, SetSource, audit_counts,
    rectangles, split_pilot,
};
pub use bound::{Direction, Interval, LowerBound, UpperBound, Validity};
pub use counts::{MAX_COUNT, PairedCounts};
pub use divergence::{
    RdpCurve, Supremum, WorstNeighbors, bernoulli_renyi, classic_epsilon_of_rdp, delta_of_rdp, epsilon_at_delta,
    epsilon_of_rdp, gdp_of_laws, hockey_stick, order_grid, renyi_divergence, worst_neighbors,
};
pub use error::{Error, InputError, Result};
pub use histogram::{Adjacency, MAX_CLASSES, Neighbor, VoteHistogram};
pub use interval::{BinomialCounts, ProportionLimit, clopper_pearson, clopper_pearson_lower, clopper_pearson_upper};
pub use law::{Noise, OutcomeLaw, marked_argmax_law, multinomial_argmax_law, noisy_argmax_law};
pub use model::{Adversary, Composition, PateModel, PromptPateModel, VoteModel};
pub use quantity::{Delta, Epsilon, FailureProbability, NoiseScale, Order, Probability};
pub use simulate::{
    BLOCK_SAMPLES, MAX_OUTCOMES, Mechanism, NoisyArgmax, Simulation, Stream, StreamId, World, simulate,
};
