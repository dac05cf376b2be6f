//! Accountants that are wrong on purpose: a verifier that lets them pass is worth nothing.
//!
//! They are mistakes that were made, or are easily made. Two of them turn out to be correct as far as they go, and are
//! kept for that reason: seeing it takes a proof, and a verifier that refuted them would be wrong.
//!
//! *A noise on every count, accounted as one noise on the largest* (`threshold-per-class-as-max`) is conservative. Let
//! w(u) = Φ⁻¹(P(some u_c + Z_c ≥ 0)). The set {z : some z_c ≥ 0} grows with every coordinate, so ∂w/∂u_c ≥ 0, and a
//! shift of one coordinate by t changes w by at most t (Gaussian isoperimetry: Borell 1975, Sudakov and Tsirelson
//! 1974), so ∂w/∂u_c ≤ 1. A vote that moves from a to b changes w along e_b - e_a by |∂w/∂u_b - ∂w/∂u_a| ≤ 1 for each
//! vote in units of σ₁. The test is therefore the threshold at 0 of one Gaussian whose mean moves by at most 1, and
//! post-processing gives D_α ≤ α/(2σ₁²): the √2 of the whole noisy histogram is not needed. The claim with that of the
//! argmax is hardly loose: in 2,000 cases the exact divergence reached 0.9956 of it.
//!
//! *Laplace noise accounted as Gaussian noise of the same scale* (`laplace-as-gaussian`) has α/(2b²) as Rényi
//! divergence, which holds: pure 1/b-privacy implies it (Bun and Steinke 2016, Proposition 3.3). Its (ε, δ), taken from
//! the Gaussian trade-off, do not: at ε = 0 the total variation is 1 - e^{-1/(2b)} ≈ 0.5/b against 0.399/b.

use super::accountant::{Accountant, AccountantAnswer, ClaimScope};
use super::conversion::{ConversionAccountant, IMPROVED};
use super::curve::{CurveAccountant, Rdp};
use super::request::{Question, Request};
use super::sensitivity::SensitivityAccountant;
use super::token_ensemble::{MIXED_ENSEMBLE, TokenEnsemble};
use crate::accountant::{
    WorstCases, exponential_mechanism_rdp, gaussian_rdp, gnmax_data_independent, k_ary_randomized_response_rdp,
    laplace_mechanism_rdp, laplace_rdp, log_flip_probability, optimized_unary_rdp, subsampled_gaussian_rdp,
};
use crate::bound::Direction;
use crate::distribution::Noise;
use crate::divergence::{bernoulli_renyi, gdp_delta, gdp_epsilon};
use crate::histogram::VoteHistogram;
use crate::mechanism::{
    ABOVE_THRESHOLD, AdditiveNoise, CATEGORICAL, CONFIDENT_GNMAX, DISCRETE_GAUSSIAN, DISCRETE_LAPLACE,
    DISCRETE_LAPLACE_SUM, EXPONENTIAL, GAUSSIAN, GAUSSIAN_VECTOR, GNMAX, GNSS, LAPLACE, LAPLACE_VECTOR, LOCAL_HASHING,
    LocalProtocol, LocalRule, Mechanism, MechanismKind, NoisyArgmax, OPTIMIZED_UNARY, PERMUTE_AND_FLIP, POISSON,
    PoissonSubsample, RANDOMIZED_RESPONSE, ReplacedGaussian, Role, SHUFFLED_RESPONSE, SPARSE_VECTOR, STAIRCASE,
    SUBSAMPLED_GAUSSIAN_REPLACE, SUBSET_SELECTION, SYMMETRIC_UNARY, SampledVoters, ShuffledResponse, SmoothPair,
    SparseVector, TRUNCATED_GEOMETRIC, ThresholdNoise, WITHOUT_REPLACEMENT,
};
use crate::quantity::{Delta, Epsilon, NoiseScale, Order};
use crate::special::log_ndtr;
use std::f64::consts::SQRT_2;

/// A wrong accountant.
#[derive(Debug, Clone, Copy)]
pub struct Control {
    /// Its name, after `broken:`.
    pub name: &'static str,
    /// The mistake.
    pub mistake: &'static str,
    /// Whether some claim is below the leakage, or not a number.
    pub invalid: bool,
    build: Build,
}

/// How a wrong accountant is made.
#[derive(Debug, Clone, Copy)]
enum Build {
    /// Of its data-independent RDP for these mechanisms.
    Curve(&'static [&'static MechanismKind], Rdp),
    /// Under this name.
    Other(fn(&'static str) -> Box<dyn Accountant>),
}

const fn curve(
    name: &'static str,
    mistake: &'static str,
    mechanisms: &'static [&'static MechanismKind],
    rdp: Rdp,
) -> Control {
    Control { name, mistake, invalid: true, build: Build::Curve(mechanisms, rdp) }
}

const fn control(name: &'static str, mistake: &'static str, build: fn(&'static str) -> Box<dyn Accountant>) -> Control {
    Control { name, mistake, invalid: true, build: Build::Other(build) }
}

/// All of them.
pub const CONTROLS: [Control; 36] = [
    curve("gnmax-half", "GNMax as one Gaussian count: order/(2 sigma^2)", &[GNMAX], |mechanism, _, order| {
        Some(gaussian_rdp(order, sigma(mechanism)?, 1.0))
    }),
    curve(
        "threshold-forgotten",
        "Confident-GNMax without the threshold test",
        &[CONFIDENT_GNMAX],
        |mechanism, _, order| Some(gnmax_data_independent(order, sigma(mechanism)?)),
    ),
    control("composition-maximum", "composition by the maximum instead of the sum", |name| {
        Box::new(CurveAccountant { compose: |rdp, _| rdp, ..count_or_votes(name) })
    }),
    control(
        "laplace-as-gaussian",
        "Laplace noise as Gaussian noise of the same scale (its Rényi divergences hold)",
        |_| Box::new(LaplaceAsGaussian),
    ),
    control("conversion-sign", "conversion with the sign of ln delta flipped", |name| {
        Box::new(CurveAccountant { to_epsilon: with_wrong_sign, ..count_or_votes(name) })
    }),
    control("conversion-log10", "conversion with log10 for ln", |name| {
        Box::new(CurveAccountant { to_epsilon: with_log10, ..count_or_votes(name) })
    }),
    control("delta-forgotten", "an RDP value as epsilon, whatever delta", |name| {
        Box::new(CurveAccountant {
            to_epsilon: |rdp, _, _| rdp,
            to_delta: |rdp, _, epsilon| if rdp <= epsilon.get() { 0.0 } else { 1.0 },
            ..count_or_votes(name)
        })
    }),
    control(
        "data-dependent-runner-up",
        "the data-dependent bound without its condition, with q from the runner-up only",
        |name| Box::new(CurveAccountant::new(name, &[GNMAX], ClaimScope::DataDependentForward, runner_up)),
    ),
    control("data-dependent-ihr", "the data-dependent bound as printed in Ihrig (2021), Lemma 2.4.2", |name| {
        Box::new(CurveAccountant::new(name, &[GNMAX], ClaimScope::DataDependentForward, ihr))
    }),
    curve(
        "response-half",
        "randomized response as if a pure epsilon were a zero-concentrated epsilon^2/8: order/(8 sigma^2)",
        &[RANDOMIZED_RESPONSE],
        |mechanism, _, order| Some(0.25 * gaussian_rdp(order, sigma(mechanism)?, 1.0)),
    ),
    curve(
        "exponential-monotone",
        "the exponential mechanism as if votes were only added: epsilon of 1/sigma, where a vote that moves has 2/sigma",
        &[EXPONENTIAL],
        |mechanism, _, order| {
            Some(exponential_mechanism_rdp(order, Epsilon::new(sigma(mechanism)?.get().recip()).ok()?))
        },
    ),
    curve(
        "permute-and-flip-bounded-range",
        "permute-and-flip as the exponential mechanism of the same epsilon, whose log ratios have half the range",
        &[PERMUTE_AND_FLIP],
        |mechanism, _, order| Some(exponential_mechanism_rdp(order, Epsilon::new(2.0 / sigma(mechanism)?.get()).ok()?)),
    ),
    curve(
        "symmetric-unary-one-bit",
        "the symmetric unary encoding by the bit of one class: binary randomized response of half the epsilon",
        &[SYMMETRIC_UNARY],
        |mechanism, _, order| k_ary_randomized_response_rdp(order, local_epsilon(mechanism, 0.5)?, 2).ok(),
    ),
    curve(
        "optimized-unary-one-bit",
        "the optimized unary encoding by the bit of the vote, without that of the other class",
        &[OPTIMIZED_UNARY],
        bit_of_the_vote,
    ),
    curve(
        "local-hashing-as-unary",
        "local hashing as the optimized unary encoding, which leaks less than a response of fewer than e^epsilon + 1 hashes",
        &[LOCAL_HASHING],
        |mechanism, _, order| Some(optimized_unary_rdp(order, local_epsilon(mechanism, 1.0)?)),
    ),
    curve(
        "subset-with-replacement",
        "subset selection as if another class were in the subset with probability size/classes",
        &[SUBSET_SELECTION],
        with_replacement,
    ),
    curve(
        "discrete-laplace-as-laplace",
        "discrete Laplace noise as Laplace noise of the same scale, whose outputs between two counts hide more",
        &[DISCRETE_LAPLACE],
        |mechanism, _, order| Some(laplace_rdp(order, sigma(mechanism)?)),
    ),
    curve(
        "discrete-gaussian-sheppard",
        "discrete Gaussian noise with the variance of rounded Gaussian noise, sigma^2 + 1/12",
        &[DISCRETE_GAUSSIAN],
        |mechanism, _, order| {
            let rounded = libm::hypot(sigma(mechanism)?.get(), (1f64 / 12.0).sqrt());
            Some(gaussian_rdp(order, NoiseScale::new(rounded).ok()?, 1.0))
        },
    ),
    curve(
        "categorical-forward",
        "the divergence of two lists in one direction, without the reverse",
        &[CATEGORICAL],
        |mechanism, votes, order| {
            let theorems = mechanism.theorems_for(votes, &WorstCases::default());
            Some(theorems.first()?.at(order, Direction::Forward)?.value)
        },
    ),
    curve(
        "truncated-geometric-as-response",
        "the truncated geometric mechanism as randomized response of limit + 1 answers; more answers hide more",
        &[TRUNCATED_GEOMETRIC],
        |mechanism, _, order| {
            let answers = mechanism.parameters().number("limit").ok()? as u64 + 1;
            k_ary_randomized_response_rdp(order, local_epsilon(mechanism, 1.0)?, answers).ok()
        },
    ),
    curve(
        "discrete-laplace-sum-as-one",
        "a sum of discrete Laplace variables as one with the variance of all, whose largest loss is smaller",
        &[DISCRETE_LAPLACE_SUM],
        one_of_summed_variance,
    ),
    curve(
        "staircase-as-laplace",
        "staircase noise as Laplace noise of the same epsilon, which is outside of two counts half of the time only",
        &[STAIRCASE],
        |mechanism, _, order| Some(laplace_rdp(order, sigma(mechanism)?)),
    ),
    curve(
        "gaussian-vector-largest",
        "a vector of counts by its largest change, 1, whatever their number",
        &[GAUSSIAN_VECTOR],
        |mechanism, _, order| Some(gaussian_rdp(order, sigma(mechanism)?, 1.0)),
    ),
    curve(
        "laplace-vector-euclidean",
        "a vector of counts with Laplace noise by its Euclidean change in place of the sum of the changes",
        &[LAPLACE_VECTOR],
        |mechanism, _, order| {
            let counts = mechanism.parameters().number("counts").ok()?;
            Some(laplace_mechanism_rdp(order, sigma(mechanism)?, counts.sqrt()))
        },
    ),
    curve(
        "above-threshold-threshold-only",
        "above-threshold as if only the threshold had noise and the comparisons were free: epsilon of 1/threshold_sigma",
        &[ABOVE_THRESHOLD],
        |mechanism, _, order| pure_of_answers(mechanism, order, 0.0),
    ),
    curve(
        "above-threshold-half-answers",
        "above-threshold as if an answer moved by 1 against the shifted threshold, not by 2: 1/threshold_sigma + 1/sigma",
        &[ABOVE_THRESHOLD],
        |mechanism, _, order| pure_of_answers(mechanism, order, 1.0),
    ),
    curve(
        "above-threshold-gaussian-threshold",
        "above-threshold with Gaussian noise as if only the threshold had noise: order/(2 threshold_sigma^2)",
        &[ABOVE_THRESHOLD],
        |mechanism, _, order| {
            let found = mechanism.downcast::<SparseVector>()?;
            (found.noise == ThresholdNoise::Gaussian).then(|| gaussian_rdp(order, found.threshold_sigma, 1.0))
        },
    ),
    curve(
        "sparse-vector-no-cutoff",
        "the sparse vector technique with noise that does not grow with the cutoff, as in the variant without one that \
         Lyu, Su and Li (2017) list as Algorithm 6: 1/threshold_sigma + 1/sigma",
        &[SPARSE_VECTOR],
        |mechanism, _, order| pure_of_answers(mechanism, order, 1.0),
    ),
    curve(
        "replace-as-add",
        "DP-SGD under replace-one as if a record were only added or removed",
        &[SUBSAMPLED_GAUSSIAN_REPLACE],
        replaced_as_added,
    ),
    curve(
        "subsample-scaled",
        "a subsample as if the rate times the Rényi divergence were left, which holds near order 1 only",
        &[POISSON, WITHOUT_REPLACEMENT],
        scaled,
    ),
    curve(
        "shuffled-root",
        "shuffled answers as one answer with epsilon over the square root of the users",
        &[SHUFFLED_RESPONSE],
        over_root,
    ),
    control(
        "conversion-order",
        "a conversion that divides ln(1/delta) by the order in place of the order less 1",
        |name| {
            let to_epsilon = |rdp: f64, order: Order, delta: Delta| rdp - delta.get().ln() / order.get();
            Box::new(ConversionAccountant { name, to_epsilon, ..IMPROVED })
        },
    ),
    control("local-sensitivity", "the local sensitivity of the votes in place of the smooth one", |name| {
        Box::new(SensitivityAccountant { name, smooth: false })
    }),
    curve(
        "gnss-as-published",
        "GNSS as printed in Papernot et al. (2018), Theorem 23, which holds for little smoothing only",
        &[GNSS],
        |mechanism, _, order| {
            let release = mechanism.downcast::<SmoothPair>()?.release();
            Some(gnss_rdp_as_published(order, release.beta, release.sigma))
        },
    ),
    curve(
        "pmixed-as-published",
        "PMixED as charged by Flemings et al. (2024), by a triangle inequality that needs all orders",
        &[MIXED_ENSEMBLE],
        |mechanism, _, order| mechanism.downcast::<TokenEnsemble>()?.charged_by_pmixed(order),
    ),
    Control {
        invalid: false,
        ..curve(
            "threshold-per-class-as-max",
            "a threshold test with a noise on every count as one noise on the largest (conservative)",
            &[CONFIDENT_GNMAX],
            per_class,
        )
    },
];

/// The wrong accountant of a name.
#[must_use]
pub fn accountant(name: &str) -> Option<Box<dyn Accountant>> {
    let control = CONTROLS.iter().find(|control| control.name == name)?;
    Some(match control.build {
        Build::Curve(mechanisms, rdp) => {
            Box::new(CurveAccountant::new(control.name, mechanisms, ClaimScope::DataIndependent, rdp))
        }
        Build::Other(build) => build(control.name),
    })
}

/// The right curves of GNMax and of Gaussian noise on a count.
fn count_or_votes(name: &'static str) -> CurveAccountant {
    CurveAccountant::new(name, &[GNMAX, GAUSSIAN], ClaimScope::DataIndependent, |mechanism, votes, order| {
        gnmax(mechanism, votes, order).or_else(|| gaussian(mechanism, votes, order))
    })
}

/// The formula of the literature for the same release, which some tables were computed with:
/// ```text
/// α e^{2β}/σ² + [-½ ln(1 - 2αβ) + αβ]/(α-1),    1 < α < 1/(2β),
/// ```
/// infinite beyond. It is **not** an upper bound for αβ above about 1/4, see [`gnss_rdp`](crate::accountant::gnss_rdp).
///
/// ```
/// # use leakbound::verify::broken::gnss_rdp_as_published;
/// # use leakbound::quantity::{NoiseScale, Order};
/// let rdp = gnss_rdp_as_published(Order::new(20.0)?, 0.02, NoiseScale::new(5.0)?);
/// assert!((rdp - 0.896_054_880_207_439_5).abs() < 1e-14);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2018), Theorem 23.
#[must_use]
pub fn gnss_rdp_as_published(order: Order, beta: f64, sigma: NoiseScale) -> f64 {
    let (a, s) = (order.get(), sigma.get());
    if !(beta >= 0.0 && 2.0 * a * beta < 1.0) {
        return f64::INFINITY;
    }
    a * libm::exp(2.0 * beta) / s / s + (-0.5 * libm::log1p(-2.0 * a * beta) + beta * a) / (a - 1.0)
}

/// Randomized response of 1/τ + `steps`/σ, of Laplace noise of scale τ on the threshold and σ on the answers.
fn pure_of_answers(mechanism: &dyn Mechanism, order: Order, steps: f64) -> Option<f64> {
    let found = mechanism.downcast::<SparseVector>()?;
    if found.noise != ThresholdNoise::Laplace {
        return None;
    }
    let epsilon = found.threshold_sigma.get().recip() + steps / found.sigma.get();
    k_ary_randomized_response_rdp(order, Epsilon::new(epsilon).ok()?, 2).ok()
}

/// The first scale of noise.
fn sigma(mechanism: &dyn Mechanism) -> Option<NoiseScale> {
    NoiseScale::new(mechanism.numbers(Role::Noise).first()?.1).ok()
}

fn gnmax(mechanism: &dyn Mechanism, _: &VoteHistogram, order: Order) -> Option<f64> {
    mechanism.downcast::<NoisyArgmax>()?;
    Some(gnmax_data_independent(order, sigma(mechanism)?))
}

fn gaussian(mechanism: &dyn Mechanism, _: &VoteHistogram, order: Order) -> Option<f64> {
    mechanism.downcast::<AdditiveNoise>()?;
    Some(gaussian_rdp(order, sigma(mechanism)?, 1.0))
}

/// ρ + ln((α-1)/α) - (ln α - ln δ)/(α-1), where -ln δ became ln δ.
fn with_wrong_sign(rdp: f64, order: Order, delta: Delta) -> f64 {
    let (a, ln_delta) = (order.get(), delta.get().max(f64::MIN_POSITIVE).ln());
    (rdp + libm::log1p(-1.0 / a) - (a.ln() - ln_delta) / (a - 1.0)).max(0.0)
}

fn with_log10(rdp: f64, order: Order, delta: Delta) -> f64 {
    rdp - delta.get().log10() / (order.get() - 1.0)
}

struct LaplaceAsGaussian;

impl LaplaceAsGaussian {
    fn value(sigma: NoiseScale, request: &Request) -> crate::Result<f64> {
        let mu = f64::from(request.repetitions).sqrt() / sigma.get();
        match request.question {
            Question::Order(order) => Ok(f64::from(request.repetitions) * gaussian_rdp(order, sigma, 1.0)),
            Question::Delta(delta) => gdp_epsilon(mu, delta).map(Epsilon::get),
            Question::Epsilon(epsilon) => gdp_delta(mu, epsilon),
        }
    }
}

impl Accountant for LaplaceAsGaussian {
    fn name(&self) -> String {
        "laplace-as-gaussian".into()
    }

    fn answer(&self, request: &Request) -> AccountantAnswer {
        let Some(&AdditiveNoise { noise: Noise::Laplace(sigma) }) = request.mechanism.downcast() else {
            return AccountantAnswer::Declined("Laplace noise only".into());
        };
        Self::value(sigma, request)
            .map_or_else(|error| AccountantAnswer::Declined(error.to_string()), AccountantAnswer::Value)
    }

    fn mechanisms(&self) -> Vec<&'static MechanismKind> {
        vec![LAPLACE]
    }

    fn scope(&self) -> ClaimScope {
        ClaimScope::DataIndependent
    }
}

/// Theorem 6 of Papernot et al. (2018) with A and B as they are, whatever q.
fn bound(a: f64, q: f64, b: f64, ratio_exponent: f64, e2: f64) -> f64 {
    let first = (1.0 - q) / (1.0 - (q * e2.exp()).powf(ratio_exponent));
    ((1.0 - q) * first.powf(a - 1.0) + q * b.powf(a - 1.0)).ln() / (a - 1.0)
}

fn runner_up(mechanism: &dyn Mechanism, histogram: &VoteHistogram, order: Order) -> Option<f64> {
    let sigma = sigma(mechanism)?;
    let mut counts = histogram.counts().to_vec();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let [first, second, ..] = counts[..] else { return None };
    let log_q = log_ndtr(-((first - second) as f64) / (sigma.get() * SQRT_2));
    let (q, mu2) = (log_q.exp(), sigma.get() * (-log_q).sqrt());
    let mu1 = mu2 + 1.0;
    let variance = sigma.get() * sigma.get();
    let b = (mu1 / variance - log_q / (mu1 - 1.0)).exp();
    let value = bound(order.get(), q, b, (mu2 - 1.0) / mu2, mu2 / variance);
    // The smaller of the two, if there are two.
    Some(value.max(0.0).min(gnmax_data_independent(order, sigma)))
}

/// With (α₁, ε₁), (α₂, ε₂) the orders μ₁, μ₂ of Papernot et al. (2018), Proposition 10: the lemma has ε₂ where A's
/// exponent has the order, and reads μ for the orders in its condition.
fn ihr(mechanism: &dyn Mechanism, histogram: &VoteHistogram, order: Order) -> Option<f64> {
    let sigma = sigma(mechanism)?;
    let log_q = log_flip_probability(histogram, sigma);
    let (q, a2) = (log_q.exp(), sigma.get() * (-log_q).sqrt());
    let a1 = a2 + 1.0;
    let variance = sigma.get() * sigma.get();
    let (e1, e2) = (a1 / variance, a2 / variance);
    let limit = ((a2 - 1.0) * e2).exp() / (a1 / (a1 - 1.0) * (a2 / (a2 - 1.0))).powf(a2);
    if !(order.get() <= a1 && q <= limit) {
        return Some(gnmax_data_independent(order, sigma));
    }
    Some(bound(order.get(), q, e1.exp() / q.powf(1.0 / (a1 - 1.0)), (e2 - 1.0) / a2, e2))
}

/// A multiple of ε of a protocol whose scale is 1/ε.
fn local_epsilon(mechanism: &dyn Mechanism, times: f64) -> Option<Epsilon> {
    Epsilon::new(times / sigma(mechanism)?.get()).ok()
}

/// D_α of a bit that is 1 with probability 1/2 and with 1/(e^ε + 1).
fn bit_of_the_vote(mechanism: &dyn Mechanism, _: &VoteHistogram, order: Order) -> Option<f64> {
    let small = libm::exp(-local_epsilon(mechanism, 1.0)?.get());
    Some(bernoulli_renyi((0.5, 0.5), (small / (1.0 + small), 1.0 / (1.0 + small)), order))
}

/// The probability of the sets that tell two classes apart is (k-1)/k of its true value.
fn with_replacement(mechanism: &dyn Mechanism, histogram: &VoteHistogram, order: Order) -> Option<f64> {
    let LocalRule::SubsetSelection { size } = mechanism.downcast::<LocalProtocol>()?.rule() else { return None };
    let (k, w) = (histogram.classes() as f64, size as f64);
    let (a, e) = (order.get(), local_epsilon(mechanism, 1.0)?.get());
    // The least of two ratios, with e^{-αε} and e^{-ε} taken out of the powers.
    let rare = w * (k - w) / (k * (w + (k - w) * libm::exp(-e)));
    let value = (a - 1.0) * e + (rare * -libm::expm1(-(a - 1.0) * e) * -libm::expm1(-a * e)).ln();
    Some(if value > 40.0 { value } else { libm::log1p(libm::exp(value)) } / (a - 1.0))
}

/// The variance of a variable of scale 1/ε is 1/(2 sinh²(ε/2)).
fn one_of_summed_variance(mechanism: &dyn Mechanism, _: &VoteHistogram, order: Order) -> Option<f64> {
    let terms = mechanism.parameters().number("terms").ok()?;
    let half = 0.5 * local_epsilon(mechanism, 1.0)?.get();
    // sinh(half)/sqrt(terms), in logarithms where it overflows.
    let one = if half > 300.0 { half - 0.5 * terms.ln() } else { libm::asinh(libm::sinh(half) / terms.sqrt()) };
    k_ary_randomized_response_rdp(order, Epsilon::new(2.0 * one).ok()?, 2).ok()
}

/// The distance of the two worlds is that of one record from none.
fn replaced_as_added(mechanism: &dyn Mechanism, _: &VoteHistogram, order: Order) -> Option<f64> {
    let ReplacedGaussian { sigma, rate } = *mechanism.downcast()?;
    Some(subsampled_gaussian_rdp(order, rate, sigma, 1.0))
}

/// The rate times the least theorem of the mechanism itself.
fn scaled(mechanism: &dyn Mechanism, data: &VoteHistogram, order: Order) -> Option<f64> {
    let poisson = mechanism.downcast::<PoissonSubsample>().map(|all| (all.rate(), all.base()));
    let (rate, base) = poisson.or_else(|| mechanism.downcast::<SampledVoters>().map(|all| (all.rate(), all.base())))?;
    let whole = base.theorems_for(data, &WorstCases::default());
    let least = whole.iter().filter_map(|theorem| Some(theorem.at(order, Direction::Forward)?.value));
    Some(rate.get() * least.reduce(f64::min)?)
}

fn over_root(mechanism: &dyn Mechanism, _: &VoteHistogram, order: Order) -> Option<f64> {
    let users = mechanism.downcast::<ShuffledResponse>()?.users() as f64;
    k_ary_randomized_response_rdp(order, local_epsilon(mechanism, users.sqrt().recip())?, 2).ok()
}

fn per_class(mechanism: &dyn Mechanism, _: &VoteHistogram, order: Order) -> Option<f64> {
    let test = mechanism.downcast::<NoisyArgmax>()?.test?;
    Some(gaussian_rdp(order, test.sigma(), 1.0) + gnmax_data_independent(order, sigma(mechanism)?))
}

#[cfg(test)]
mod tests {
    use super::super::property::PropertyKind;
    use super::super::run::{Plan, PropertyVerdict, verify};
    use super::*;
    use crate::accountant::gnss_rdp;
    use crate::program::never_stop;
    use std::time::Instant;

    #[test]
    fn the_published_formula_is_safe_for_little_smoothing_and_wrong_beyond() {
        let (order, sigma) = (Order::new(20.0).unwrap(), NoiseScale::new(5.0).unwrap());
        let ratio = |beta| gnss_rdp_as_published(order, beta, sigma) / gnss_rdp(order, beta, sigma);
        assert!(ratio(0.0) == 2.0 && ratio(0.005) > 1.5 && ratio(0.02) < 0.5, "{} {}", ratio(0.005), ratio(0.02));
        assert_eq!(gnss_rdp_as_published(order, 0.025, sigma), f64::INFINITY);
    }

    /// Every invalid one is refuted within 2,000 cases, and shrunk to at most three classes and five votes.
    #[test]
    fn every_invalid_control_is_refuted_by_a_small_case() {
        for control in CONTROLS {
            let start = Instant::now();
            let accountant = accountant(control.name).unwrap();
            let outcome = verify(&*accountant, &Plan { cases: 2_000, seed: 1, ..Plan::default() }, &never_stop);
            println!("{}: {} in {:?}", control.name, outcome.invalid(), start.elapsed());
            assert_eq!(outcome.invalid(), control.invalid, "{}", control.name);
            for finding in &outcome.findings {
                let PropertyVerdict::Refuted(found) = &finding.verdict else {
                    println!(
                        "  {}: share {:?} of {} cases",
                        finding.property.name, finding.largest_share, finding.cases
                    );
                    continue;
                };
                println!("  {}: {} {:?}", finding.property.name, found.case.json(), found.problem);
                let votes = found.case.request.histogram.counts();
                if finding.property.kind == PropertyKind::Validity {
                    assert!(votes.len() <= 3 && votes.iter().sum::<u64>() <= 5, "{votes:?}");
                }
                assert!(control.invalid || finding.property.kind == PropertyKind::Structure);
            }
        }
    }
}
