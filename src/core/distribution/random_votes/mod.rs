//! Noisy argmax of a random histogram: multinomial votes, possibly with some votes from another distribution.
//!
//! With N_i independent Poisson variables of means ρkP_i, Mult(d, P) is their distribution given Σ N_i = d, for every
//! tilt ρ > 0. So the density of the winning noisy count x with winner c is a coefficient of a product of polynomials,
//! ```text
//! p_c(x) = [z^d] φ_c(z) Π_{i≠c} a_i(z) / (ρ^d P(Poi(k) = d)),
//! a_i(z) = Σ_n P(Poi(kP_i) = n) ρ^n F((x-n)/s) z^n,   φ_c the same with the density f((x-n)/s)/s.
//! ```
//! All coefficients are non-negative. ρ is chosen at every x so that the mean degree of the product is d: then the
//! coefficient is of the order 1/√k of the sum of all, and Fourier inversion on the unit circle gives it to a few units
//! in the last place, however small p_c is. Without the tilt, the error would be 1e-16 relative to the largest class,
//! and order 64 of a Rényi divergence multiplies the noise of a rare class by its ratio to the power 64. The absolute
//! values of the terms are summed along with every sum; if they show that digits were lost and the density matters, the
//! density is recomputed with the tilt of its own winner.
//!
//! *Wide noise*: if σ is larger than the spread of the votes and at most one vote is marked, the expectation over the
//! votes is a short series instead (`wide_noise`). It measures its own accuracy, and if that is not enough, the product
//! above is used.
//!
//! *m votes from another distribution P'*: Mult(k-m, P) + Mult(m, P') has the factors Σ_b (εP'_i)^b/b! a_i^{(b)}, where
//! a^{(b)} has n + b for n inside F, and m! times the coefficient of z^{k-m} ε^m. *B ~ Bin(m, ν) votes for y' that
//! displace Mult(B, P^k)*: a displaced y' is replaced by itself, so that S ~ Bin(m, ν(1 - P^k_{y'})) votes move to y'
//! from the other classes; these have the factors Σ_b (εp_i)^b/b! a_i^{(-b)} with p = P^k given not y', and y' has Σ_s
//! P(S = s) s! ε^{m-s} a_{y'}^{(s)}; the distribution is the coefficient of z^k ε^m.

mod charlier;
mod factors;
mod form;
mod integral;
mod inversion;
mod lanes;
mod lattice;
mod moments;
mod noise_table;
mod series;
mod spectrum;
mod votes;
mod wide_noise;

use super::categorical::{OutcomeDistribution, divided_by_sum};
use super::noise::Noise;
use crate::error::{Error, Result};
use crate::histogram::MAX_CLASSES;
use integral::Integral;
pub use votes::Displacement;
use votes::{MAX_MARKS, Marks, Votes};

/// The distribution of argmax(H + Z) for H ~ Mult(k, P) and Gaussian noise Z_c of standard deviation σ.
///
/// `probabilities` is P, one entry per class, summing to 1 within 1e-9. Every probability is accurate relative to its
/// own size, however small.
///
/// # Errors
/// [`Error::Domain`] for k = 0 or above 10^6, [`Error::Length`] and [`Error::Domain`] for a P that is not a
/// distribution, [`Error::Rejected`] for Laplace noise or for k/σ above about 20,000, [`Error::NoConvergence`] when the
/// integral does not reach its tolerance.
///
/// # Example
/// ```
/// # use leakbound::distribution::{Noise, multinomial_argmax_distribution};
/// let distribution = multinomial_argmax_distribution(10, &[0.1492, 0.5883, 0.2625], "gaussian:4".parse()?)?;
/// assert!((distribution.p()[0] - 0.159_520_995_319_951_5).abs() < 1e-13);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Chadha et al. (2024), "Auditing Private Prediction", section 5.1 (the model); the evaluation is new here.
pub fn multinomial_argmax_distribution(k: u64, probabilities: &[f64], noise: Noise) -> Result<OutcomeDistribution> {
    let p = normalized(probabilities, "vote probabilities")?;
    let [distribution] = distributions(k, &p, None, true, noise)?;
    Ok(distribution)
}

/// The distribution of argmax(H + Z) for H ~ Mult(k-1, P) + Mult(1, P'): one voter of k was trained on the changed
/// point.
///
/// # Errors
/// As [`multinomial_argmax_distribution`], also for P'.
///
/// # Example
/// ```
/// # use leakbound::distribution::{Noise, marked_argmax_distribution};
/// let (p, marked) = ([0.1492, 0.5883, 0.2625], [0.5036, 0.1086, 0.3878]);
/// let distribution = marked_argmax_distribution(10, &p, &marked, "gaussian:4".parse()?)?;
/// assert!((distribution.p()[0] - 0.188_986_685_179_190_98).abs() < 1e-10);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn marked_argmax_distribution(
    k: u64,
    probabilities: &[f64],
    marked: &[f64],
    noise: Noise,
) -> Result<OutcomeDistribution> {
    let (p, marked) = both(probabilities, marked, CHANGED)?;
    let [distribution] = distributions(k, &p, Some(&Marks::Added { marks: 1, distribution: &marked }), false, noise)?;
    Ok(distribution)
}

/// The distributions of argmax(H + Z) for H ~ Mult(k, P) and of argmax(H' + Z) for H' ~ Mult(k-m, P) + Mult(m, P'): m
/// voters of k were trained on changed points.
///
/// Both are computed in one pass: faster than [`multinomial_argmax_distribution`] and [`marked_argmax_distribution`],
/// and equal to them for m = 1.
///
/// # Errors
/// As [`multinomial_argmax_distribution`], also for P'; [`Error::Domain`] for an m outside [1, 64] or above k.
///
/// # Example
/// ```
/// # use leakbound::distribution::{Noise, marked_argmax_distributions};
/// let (p, marked) = ([0.1492, 0.5883, 0.2625], [0.5036, 0.1086, 0.3878]);
/// let [distribution, neighbor] = marked_argmax_distributions(10, &p, &marked, 1, "gaussian:4".parse()?)?;
/// assert!((distribution.p()[0] - 0.159_520_995_319_951_5).abs() < 1e-13);
/// assert!((neighbor.p()[0] - 0.188_986_685_179_190_98).abs() < 1e-10);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Chadha et al. (2024), "Auditing Private Prediction", section 5.1 (m = 1) and appendix C (m points).
pub fn marked_argmax_distributions(
    k: u64,
    probabilities: &[f64],
    marked: &[f64],
    m: u64,
    noise: Noise,
) -> Result<[OutcomeDistribution; 2]> {
    let (p, marked) = both(probabilities, marked, CHANGED)?;
    check_marks("number of changed voters", m, k)?;
    distributions(k, &p, Some(&Marks::Added { marks: m, distribution: &marked }), true, noise)
}

/// The distributions of argmax(H + Z) for H ~ Mult(k, P) and of argmax(H' + Z) for H' ~ Mult(k, P) + B·1{y'} - Mult(B,
/// P^k), B ~ Bin(m, ν): m points were added that may displace nearest neighbors.
///
/// The displaced votes are drawn independently of H, so a class may be left with a negative number of votes.
///
/// # Errors
/// As [`multinomial_argmax_distribution`], also for P^k; [`Error::Domain`] for an m outside [1, 64] or above k, a ν
/// outside [0, 1] and an unknown label.
///
/// # Example
/// With one neighbor, who certainly votes 0 and is certainly displaced, the noise is around one vote for label 1.
/// ```
/// # use leakbound::distribution::{Displacement, displaced_argmax_distributions};
/// let displacement = Displacement { distribution: &[1.0, 0.0], points: 1, inclusion: 1.0, label: 1 };
/// let [distribution, neighbor] = displaced_argmax_distributions(1, &[1.0, 0.0], &displacement, "gaussian:2".parse()?)?;
/// assert!((distribution.p()[0] - 0.638_163_195_084_118_5).abs() < 1e-13);
/// assert!((neighbor.p()[1] - distribution.p()[0]).abs() < 1e-14);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Chadha et al. (2024), "Auditing Private Prediction", section 6 (m = 1) and appendix C (m points).
pub fn displaced_argmax_distributions(
    k: u64,
    probabilities: &[f64],
    displacement: &Displacement<'_>,
    noise: Noise,
) -> Result<[OutcomeDistribution; 2]> {
    let (p, distribution) = both(probabilities, displacement.distribution, "label probabilities of the last neighbor")?;
    let Displacement { points, inclusion, label, .. } = *displacement;
    check_marks("number of added points", points, k)?;
    let quantity = "probability that the added point is among the neighbors";
    Error::check_domain((0.0..=1.0).contains(&inclusion), quantity, inclusion, "[0, 1]")?;
    Error::check_domain(label < p.len(), "label of the added point", label as f64, "[0, classes - 1]")?;
    distributions(
        k,
        &p,
        Some(&Marks::Displaced(Displacement { distribution: &distribution, points, inclusion, label })),
        true,
        noise,
    )
}

/// The name of P' in messages.
const CHANGED: &str = "vote probabilities of the changed voter";

fn distributions<const N: usize>(
    k: u64,
    p: &[f64],
    marks: Option<&Marks<'_>>,
    plain: bool,
    noise: Noise,
) -> Result<[OutcomeDistribution; N]> {
    let sigma = gaussian_scale(noise)?;
    let votes = Votes::new(k, p, marks, plain)?;
    let integrals = match wide_noise::distributions(&votes, sigma) {
        Some(integrals) => integrals,
        None => Integral::new(&votes, sigma).distributions()?,
    };
    let distribution = |integrals: &Vec<_>| {
        OutcomeDistribution::from_integrals(&votes.of_class.iter().map(|&group| integrals[group]).collect::<Vec<_>>())
    };
    let distributions = integrals.iter().map(distribution).collect::<Result<Vec<_>>>()?;
    distributions.try_into().map_err(|distributions: Vec<OutcomeDistribution>| {
        Error::length("list of distributions", distributions.len(), N)
    })
}

/// σ, or an error for noise that is not Gaussian.
pub(super) fn gaussian_scale(noise: Noise) -> Result<f64> {
    let Noise::Gaussian(sigma) = noise else {
        let reason = format!("only Gaussian noise is supported, not {noise}");
        return Err(Error::rejected("exact distribution of random votes", reason));
    };
    Ok(sigma.get())
}

/// Checks two distributions over the same classes.
fn both(p: &[f64], other: &[f64], quantity: &'static str) -> Result<(Vec<f64>, Vec<f64>)> {
    let p = normalized(p, "vote probabilities")?;
    let other = normalized(other, quantity)?;
    Error::check_size(quantity, other.len(), p.len(), " classes")?;
    Ok((p, other))
}

fn check_marks(quantity: &'static str, marks: u64, k: u64) -> Result<()> {
    Error::check_domain((1..=MAX_MARKS.min(k)).contains(&marks), quantity, marks as f64, "[1, 64], at most k")
}

/// Checks a probability vector and divides it by its sum.
pub fn normalized(probabilities: &[f64], quantity: &'static str) -> Result<Vec<f64>> {
    let (found, expected) = (probabilities.len(), format_args!("1 to {MAX_CLASSES} classes"));
    Error::check_length((1..=MAX_CLASSES).contains(&found), quantity, found, expected)?;
    divided_by_sum(probabilities, quantity, "sum of vote probabilities")
}

#[cfg(test)]
mod tests;
