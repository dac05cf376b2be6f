//! Noisy argmax of votes that are each drawn from a separate distribution: every histogram if there are few, and
//! otherwise an expansion around independent counts.
//!
//! Let voter j vote for class i with probability P^j_i. With the differences δ_i f(h) = f(h + e_i) - f(h), the mean of
//! any function of the histogram is E f(H) = Π_j (1 + Σ_i P^j_i δ_i) f at h = 0. The exact distribution is beyond reach
//! (for k classes and f = Π 1{h_i = 1} it is a permanent), but noise makes f smooth: a difference is about 1/σ of it.
//! So the counts are first treated as independent, each with its exact Poisson-binomial distribution, E_0 f = Π_i Π_j
//! (1 + P^j_i δ_i) f, and the correction is expanded in the degree of the differences, now taken under E_0:
//! ```text
//! E f(H) = E_0 exp(Σ_n κ_n δ^n) f,    κ_n = (-1)^{m-1} (m-1)! Π_i 1/n_i! Σ_j Π_i (P^j_i)^{n_i},
//! ```
//! over the multi-indices n of degree m = Σ n_i with two classes or more: the logarithm of 1 + Σ P_i δ_i less those of
//! 1 + P_i δ_i. A voter who always votes the same has no κ: only undecided voters contribute, and the leading term is
//! -Σ_j P^j_a P^j_b δ_a δ_b ~ Σ_j P^j_a P^j_b/σ². The argmax of noisy counts is an integral of products over the
//! classes,
//! ```text
//! p_c = ∫ f_c(x) Π_{i≠c} F_i(x) dx,    F_i(x) = E Φ((x - H_i)/σ),
//! ```
//! on which δ^n acts factor by factor. The terms of every degree sum to 0 over the classes. For values of k/σ² met in
//! practice, two degrees gain a factor of 20 to 50; the series is asymptotic, and its last terms estimate its error.
//! That estimate is not a bound, least of all with few voters and little noise: with two voters and σ = 0.57, sizes
//! fall from 3e-6 to 1e-7 by degree 20, passing through 0, while the error is 2e-5. So for few voters, all histograms
//! are enumerated instead.

use super::categorical::OutcomeDistribution;
use super::class_groups::ClassGroups;
use super::cumulant_series::{Series, UndecidedVoters};
use super::enumerated_votes::{HistogramDistribution, most_histograms};
use super::independent_counts::{Lattice, Marginals, Sums};
use super::noise::Noise;
use super::random_votes::{gaussian_scale, normalized};
use crate::error::{Error, Result};
use crate::histogram::MAX_CLASSES;
use crate::quadrature::LogIntegral;

/// A distribution that was enumerated, or computed as a series with the sizes of its terms.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpandedDistribution {
    /// The distribution; its [`OutcomeDistribution::error`] includes the estimated remainder.
    pub distribution: OutcomeDistribution,
    /// `sizes[m]` is the largest relative change of a probability by the terms of degree m, from 0 to the last. Degree
    /// 0 treats the counts as independent. Empty if all histograms were enumerated.
    pub sizes: Vec<f64>,
    /// The remainder of the series relative to each probability, estimated from its last degrees: not a bound. 0 if all
    /// histograms were enumerated: nothing is left out, and [`OutcomeDistribution::error`] is the whole error.
    pub remainder: f64,
}

impl ExpandedDistribution {
    /// The last degree of the series; `None` if all histograms were enumerated.
    #[must_use]
    pub const fn degree(&self) -> Option<usize> {
        self.sizes.len().checked_sub(1)
    }
}

/// Degrees tried in turn, until the remainder is below [`ENOUGH`].
const DEGREES: [usize; 5] = [4, 8, 12, 16, 20];
const ENOUGH: f64 = 1e-12;
/// The largest remainder of a series that is returned.
const TOLERATED: f64 = 1e-5;
/// The largest mean ratio of the terms of two degrees to those of the two before.
const SLOWEST: f64 = 0.68;
/// Number of pairs of degrees before the last that are considered.
const LOOKED_BACK: usize = 6;
/// Sizes of terms below this may be rounding alone.
const ROUNDING: f64 = 1e-14;
/// The largest number of nodes of the integral, and of values of Φ at them.
const MAX_NODES: f64 = 5e4;
const MAX_TABLE_VALUES: f64 = 1e9;
/// The largest number of voters.
const MAX_VOTERS: usize = 1_000_000;

/// The distribution of argmax(H + Z) for H = Σ_j Mult(1, P^j) and Gaussian noise Z_c of standard deviation σ.
///
/// `parties` has one row P^j per voter, one entry per class, summing to 1 within 1e-9. If the voters have at most 1,000
/// histograms, of at most 20,000 counts together, the distribution is Σ_h P(H = h) P(argmax(h + Z) = c), for every
/// noise. Otherwise it is a series in the degree of the dependence between the counts, up to degree 20, which stops
/// when the last two degrees change no probability by more than 1e-12 of itself; [`ExpandedDistribution::sizes`] shows
/// how fast it converges, and [`ExpandedDistribution::remainder`] estimates its remainder. The noise must be larger
/// than the spread of the undecided votes: Σ_j P^j_a P^j_b for two classes well below σ². 250 voters with σ = 40 reach
/// 1e-10 in some milliseconds.
///
/// # Errors
/// [`Error::Length`] and [`Error::Domain`] for no voter, more than 10^6, or rows that are not distributions on the same
/// classes; [`Error::Rejected`] for Laplace noise. For histograms, those of
/// [`noisy_argmax_distribution`](crate::distribution::noisy_argmax_distribution). For a series, [`Error::Rejected`] for
/// k/σ above about 10,000 (5,000 for more than 30 classes) and more than 25 classes of undecided voters, and
/// [`Error::NoConvergence`] if the last terms leave more than 1e-5, or the terms of two degrees are on average more
/// than 0.68 of the two before.
///
/// # Example
/// ```
/// # use leakbound::distribution::poisson_multinomial_argmax_distribution;
/// // Two voters who know and one who does not.
/// let parties = [vec![1.0, 0.0], vec![0.0, 1.0], vec![0.25, 0.75]];
/// let found = poisson_multinomial_argmax_distribution(&parties, "gaussian:6".parse()?)?;
/// // The difference of the counts is ±1, that of the noise normal with 6√2: 0.25 Φ(1/√72) + 0.75 Φ(-1/√72).
/// assert!((found.distribution.p()[0] - 0.476_546_403_938_732).abs() < 1e-14);
/// // Two histograms, and nothing left out.
/// assert_eq!((found.degree(), found.remainder), (None, 0.0));
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn poisson_multinomial_argmax_distribution(parties: &[Vec<f64>], noise: Noise) -> Result<ExpandedDistribution> {
    let sigma = gaussian_scale(noise)?;
    let parties = checked(parties)?;
    match HistogramDistribution::new(&parties, most_histograms(parties[0].len())) {
        Some(histograms) => {
            let distribution = histograms.argmax(noise)?;
            Ok(ExpandedDistribution { distribution, sizes: Vec::new(), remainder: 0.0 })
        }
        None => expansion(&parties, sigma),
    }
}

/// The series for voters with these distributions and noise of standard deviation `sigma`.
fn expansion(parties: &[Vec<f64>], sigma: f64) -> Result<ExpandedDistribution> {
    let groups = ClassGroups::new(parties[0].len(), parties.iter().map(Vec::as_slice));
    let parties: Vec<Vec<f64>> = parties.iter().map(|party| groups.shortened(party)).collect();
    let marginals = Marginals::new(&parties, groups.multiplicity());
    let lattice = Lattice::new(&marginals, sigma);
    let reason = format_args!("{} voters with noise of {sigma} need too many nodes", parties.len());
    let possible = lattice.nodes() <= MAX_NODES && lattice.nodes() * parties.len() as f64 <= MAX_TABLE_VALUES;
    Error::check_possible(possible, "exact distribution of random votes", reason)?;
    let undecided = UndecidedVoters::new(&parties);
    let mut best: Option<(f64, ExpandedDistribution)> = None;
    for degree in DEGREES {
        let tables = lattice.tables(&marginals, degree);
        let Some(series) = Series::new(&undecided, &tables.scales(), degree)? else { break };
        let Some((left, found)) = expanded(&tables.sums(series.terms()), &groups) else { continue };
        let better = best.as_ref().is_none_or(|best| left < best.0);
        let done = left <= ENOUGH || !better;
        if better {
            best = Some((left, found));
        }
        if done {
            break;
        }
    }
    match best {
        Some((left, best)) if left <= TOLERATED && best.remainder.is_finite() => Ok(best),
        best => Err(Error::NoConvergence {
            quantity: "expansion of the distribution of undecided voters (the noise is too small for them)",
            residual: best.as_ref().map_or(f64::INFINITY, |(left, best)| left.max(best.remainder)),
            tolerance: TOLERATED,
            iterations: best.and_then(|(_, best)| best.degree()).unwrap_or(0),
        }),
    }
}

/// Rows that are distributions on the same classes.
fn checked(parties: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
    let (found, expected) = (parties.len(), format_args!("1 to {MAX_VOTERS} voters"));
    Error::check_length((1..=MAX_VOTERS).contains(&found), "list of voters", found, expected)?;
    let classes = parties[0].len().min(MAX_CLASSES);
    let rows = parties.iter().map(|row| {
        let row = normalized(row, "vote probabilities of a voter")?;
        Error::check_size("vote probabilities of a voter", row.len(), classes, " classes")?;
        Ok(row)
    });
    rows.collect()
}

/// The distribution from the contributions of each degree to each class, and its estimated remainder, by which degrees
/// are compared. `None` if these are not probabilities: a series that is far from converging.
fn expanded(sums: &Sums, groups: &ClassGroups) -> Option<(f64, ExpandedDistribution)> {
    let places = groups.entries();
    let p: Vec<f64> = (0..places).map(|place| sums.by_degree.iter().map(|degree| degree[place]).sum()).collect();
    let total: f64 = p.iter().zip(groups.multiplicity()).map(|(p, classes)| p * classes).sum();
    if !p.iter().all(|p| (0.0..2.0).contains(p)) || !((total - 1.0).abs() < TOLERATED) {
        return None;
    }
    let relative = |(term, p): (&f64, &f64)| if *term == 0.0 { 0.0 } else { (term / p).abs() };
    let sizes: Vec<f64> =
        sums.by_degree.iter().map(|degree| degree.iter().zip(&p).map(relative).fold(0.0, f64::max)).collect();
    let left = left_by_last_terms(&sizes) + (total - 1.0).abs();
    let remainder = left.max(left_by_all_terms(&sizes));
    let error = remainder + sums.step_error + 1e-14;
    let integral = |p: &f64| LogIntegral { ln_value: (p / total).ln(), error };
    let integrals: Vec<LogIntegral> = p.iter().map(integral).collect();
    let distribution = OutcomeDistribution::from_groups(groups.places(), groups.multiplicity(), &integrals).ok()?;
    Some((left, ExpandedDistribution { distribution, sizes, remainder }))
}

/// Four times the geometric series that starts with the last four sizes, two by two; at least four times the last two.
fn left_by_last_terms(sizes: &[f64]) -> f64 {
    let last = sizes.len() - 1;
    let (before, tail) = (sizes[last - 3] + sizes[last - 2], sizes[last - 1] + sizes[last]);
    let ratio = tail / before;
    if tail <= ROUNDING {
        4.0 * tail
    } else if ratio < 1.0 {
        4.0 * tail * (ratio / (1.0 - ratio)).max(1.0)
    } else {
        f64::INFINITY
    }
}

/// The same by the sizes of two degrees each, s_0, s_1, ..., s_K: at the larger of the last ratio and the mean one, from the
/// largest of the last sizes continued at it. A size may be small because it changes sign, which the earlier ones
/// reveal. Infinite if sizes do not fall by [`SLOWEST`] on average.
fn left_by_all_terms(sizes: &[f64]) -> f64 {
    let pairs: Vec<f64> = sizes[1..].chunks(2).map(|pair| pair.iter().sum()).collect();
    let last = pairs.len() - 1;
    let tail = pairs[last];
    if tail <= ROUNDING {
        return 4.0 * tail;
    }
    let mean_ratio = (tail / pairs[0]).powf(1.0 / last as f64);
    let ratio = mean_ratio.max(tail / pairs[last - 1]);
    if !(mean_ratio <= SLOWEST && ratio < 1.0) {
        return f64::INFINITY;
    }
    let continued = |(place, size): (usize, &f64)| size * ratio.powi((last - place) as i32);
    let envelope = pairs.iter().enumerate().skip(last.saturating_sub(LOOKED_BACK)).map(continued).fold(0.0, f64::max);
    4.0 * envelope * (ratio / (1.0 - ratio)).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::{multinomial_argmax_distribution, noisy_argmax_distribution};
    use crate::histogram::VoteHistogram;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn noise(sigma: f64) -> Noise {
        format!("gaussian:{sigma}").parse().unwrap()
    }

    /// All votes of few voters, each with the distribution of its histogram.
    fn enumerated(parties: &[Vec<f64>], noise: Noise) -> Vec<f64> {
        let classes = parties[0].len();
        let mut distribution = vec![0.0; classes];
        for votes in 0..classes.pow(parties.len() as u32) {
            let (mut rest, mut weight, mut counts) = (votes, 1.0, vec![0; classes]);
            for party in parties {
                weight *= party[rest % classes];
                counts[rest % classes] += 1;
                rest /= classes;
            }
            if weight > 0.0 {
                let given = noisy_argmax_distribution(&VoteHistogram::new(counts).unwrap(), noise).unwrap();
                distribution.iter_mut().zip(given.p()).for_each(|(sum, p)| *sum += weight * p);
            }
        }
        distribution
    }

    fn distance(found: &OutcomeDistribution, expected: &[f64]) -> f64 {
        found.p().iter().zip(expected).map(|(found, expected)| (found / expected - 1.0).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn distributions_are_those_of_an_enumeration() {
        let parties = [
            vec![0.5, 0.5, 0.0, 0.0],
            vec![0.1, 0.2, 0.3, 0.4],
            vec![1.0, 0.0, 0.0, 0.0],
            vec![0.0, 0.75, 0.0, 0.25],
            vec![0.25, 0.25, 0.5, 0.0],
            vec![0.0, 0.0, 1.0, 0.0],
            vec![0.9, 0.0, 0.0, 0.1],
        ];
        for sigma in [3.0, 4.0, 7.9, 8.1, 20.0] {
            let found = expansion(&parties, sigma).unwrap();
            let expected = enumerated(&parties, noise(sigma));
            let off = distance(&found.distribution, &expected);
            println!("sigma {sigma}: off by {off:.1e}, remainder {:.1e}, sizes {:?}", found.remainder, found.sizes);
            assert!(off <= found.remainder + 1e-12);
            let found = poisson_multinomial_argmax_distribution(&parties, noise(sigma)).unwrap();
            assert!(distance(&found.distribution, &expected) < 1e-12 && found.distribution.error() < 1e-12);
            assert_eq!((found.degree(), found.remainder), (None, 0.0));
        }
    }

    /// Voters who are all alike have a multinomial histogram.
    #[test]
    fn equal_voters_are_multinomial() {
        for (k, sigma, p) in [
            (250, 40.0, vec![0.6, 0.4]),
            (250, 40.0, vec![0.4, 0.3, 0.2, 0.1]),
            (250, 40.0, vec![0.46, 0.02, 0.4, 0.05, 0.03, 0.04]),
            (1000, 40.0, vec![0.5, 0.45, 0.05]),
            (40, 10.0, vec![0.9, 0.05, 0.05]),
        ] {
            let parties = vec![p.clone(); k];
            let found = expansion(&parties, sigma).unwrap();
            let expected = multinomial_argmax_distribution(k as u64, &p, noise(sigma)).unwrap();
            let off = distance(&found.distribution, expected.p());
            println!("{k} {sigma} {p:?}: off by {off:.1e}, remainder {:.1e}, sizes {:?}", found.remainder, found.sizes);
            assert!(off <= found.remainder + 1e-12);
            let found = poisson_multinomial_argmax_distribution(&parties, noise(sigma)).unwrap();
            assert!(distance(&found.distribution, expected.p()) <= found.remainder + 1e-12);
            // 861 histograms of 40 voters with three classes, 251 of 250 with two.
            assert_eq!(found.degree().is_none(), k == 40 || p.len() == 2, "{k} {p:?}");
        }
    }

    /// With thousands of classes, two of them with votes: fast enough, and each of the others has its share.
    #[test]
    fn classes_without_a_vote_are_alike() {
        let classes = 10_000;
        let mut parties = vec![vec![0.0; classes]; 3];
        for (party, p) in parties.iter_mut().zip([1.0, 0.25, 0.0]) {
            party[7] = p;
            party[9_999] = 1.0 - p;
        }
        let found = expansion(&parties, 6.0).unwrap();
        let mut expected = vec![0.0; classes];
        for (votes, weight) in [(2, 0.25), (1, 0.75)] {
            let mut counts = vec![0; classes];
            (counts[7], counts[9_999]) = (votes, 3 - votes);
            let given = noisy_argmax_distribution(&VoteHistogram::new(counts).unwrap(), noise(6.0)).unwrap();
            expected.iter_mut().zip(given.p()).for_each(|(sum, p)| *sum += weight * p);
        }
        let off = distance(&found.distribution, &expected);
        assert!(off <= found.remainder + 1e-11, "{off}");
        let found = poisson_multinomial_argmax_distribution(&parties, noise(6.0)).unwrap();
        assert!(found.degree().is_none() && distance(&found.distribution, &expected) < 1e-11);
        // One class without a vote is computed as any other is.
        let few = [vec![0.5, 0.5, 0.0], vec![1.0, 0.0, 0.0]];
        let found = expansion(&few, 4.0).unwrap();
        assert!(distance(&found.distribution, &enumerated(&few, noise(4.0))) <= found.remainder + 1e-12);
    }

    /// For this series, an estimate from the last terms alone was below the error. Enumeration leaves nothing out, and
    /// probabilities that underflow keep their logarithms.
    #[test]
    fn few_voters_with_little_noise_are_enumerated() {
        let rows = [
            [0.0, 0.0, 1.0],
            [0.361_431_858_396_191_9, 0.719_330_532_359_454_8, 0.405_634_399_971_753_2],
            [0.833_732_880_968_451_1, 0.579_122_244_905_292_1, 0.441_270_843_592_432_5],
        ];
        let parties = rows.map(|row| row.map(|weight| weight / row.iter().sum::<f64>()).to_vec());
        let sigma = 0.869_264_244_086_053_5;
        let expected = enumerated(&parties, noise(sigma));
        if let Ok(series) = expansion(&parties, sigma) {
            let off = distance(&series.distribution, &expected);
            println!("off by {off:.2e}, remainder {:.2e}, sizes {:?}", series.remainder, series.sizes);
            assert!(off <= series.remainder);
        }
        let found = poisson_multinomial_argmax_distribution(&parties, noise(sigma)).unwrap();
        assert!(distance(&found.distribution, &expected) < 1e-12);
        assert_eq!((found.degree(), found.remainder), (None, 0.0));
        let sure = [vec![1.0, 0.0, 0.0], vec![0.75, 0.25, 0.0]];
        let found = poisson_multinomial_argmax_distribution(&sure, noise(0.01)).unwrap().distribution;
        // One vote of a half each, whose noise decides, and two votes against none.
        assert!((found.p()[1] - 0.125).abs() < 1e-12 && found.p()[2] == 0.0 && found.ln_p()[2] < -2000.0, "{found:?}");
    }

    /// Four times the rest of a geometric series of pairs, and four times the last pair where they fall fast. A last
    /// pair that is small by chance is replaced by the value expected from those before it.
    #[test]
    fn the_remainder_continues_the_last_terms() {
        let close = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
        for remainder in [left_by_last_terms, left_by_all_terms] {
            // Pairs 0.3 and 0.2: a ratio of 2/3, so that 0.4 is left of the series.
            close(remainder(&[1.0, 0.1, 0.2, 0.15, 0.05]), 4.0 * 0.4);
            close(remainder(&[1.0, 0.05, 0.05, 0.006, 0.004]), 4.0 * 0.01);
            assert_eq!(remainder(&[1.0, 0.1, 0.1, 0.15, 0.05]), f64::INFINITY);
            assert!(remainder(&[1.0, 0.0, 0.0, 0.0, 0.0]) < 1e-15);
        }
        // Pairs 0.4, 0.2, 0.1 and 0.0032: a mean ratio of 1/5, and a fifth of 0.1 where 0.0032 is.
        let sizes = [1.0, 0.3, 0.1, 0.1, 0.1, 0.05, 0.05, 0.0016, 0.0016];
        close(left_by_all_terms(&sizes), 4.0 * 0.02);
        close(left_by_last_terms(&sizes), 4.0 * 0.0032);
        assert_eq!(left_by_all_terms(&[1.0, 0.1, 0.1, 0.1, 0.04]), f64::INFINITY);
    }

    #[test]
    fn what_cannot_be_expanded_is_rejected() {
        let message = |parties: &[Vec<f64>], noise: &str| {
            poisson_multinomial_argmax_distribution(parties, noise.parse().unwrap()).unwrap_err().to_string()
        };
        let even = vec![0.5, 0.5];
        let series = |parties: &[Vec<f64>], sigma: f64| expansion(parties, sigma).unwrap_err().to_string();
        insta::assert_snapshot!(
            [
                message(&[], "gaussian:1"),
                message(&[vec![]], "gaussian:1"),
                message(&[even.clone(), vec![1.0]], "gaussian:1"),
                message(&[vec![0.5, 0.6]], "gaussian:1"),
                message(std::slice::from_ref(&even), "laplace:1"),
                series(std::slice::from_ref(&even), 1e-9),
                message(&vec![vec![0.6, 0.2, 0.2]; 100], "gaussian:2").split(": residual").next().unwrap_or_default().into(),
                message(&vec![vec![1.0 / 26.0; 26]; 3], "gaussian:2"),
            ]
            .join("\n"),
            @"
            list of voters has length 0; expected 1 to 1000000 voters
            vote probabilities of a voter has length 0; expected 1 to 10000 classes
            vote probabilities of a voter has length 1; expected 2 classes
            sum of vote probabilities = 1.1 is not in [1 - 1e-9, 1 + 1e-9]
            exact distribution of random votes: only Gaussian noise is supported, not laplace:1
            exact distribution of random votes: 1 voters with noise of 0.000000001 need too many nodes
            expansion of the distribution of undecided voters (the noise is too small for them) did not converge
            exact distribution of random votes: undecided voters have 26 classes; 25 can be expanded
            "
        );
    }

    /// Voters with enough histograms for the series, against the enumeration of all of them.
    #[test]
    fn many_histograms_are_a_series_within_its_remainder() {
        let mut stream = ChaCha8Rng::seed_from_u64(8);
        for (classes, voters, sigma) in [(3, 46, 6.0), (3, 46, 9.0), (4, 18, 8.0), (4, 18, 12.0)] {
            let parties: Vec<Vec<f64>> = (0..voters)
                .map(|_| {
                    let weights: Vec<f64> = (0..classes).map(|_| stream.random::<f64>().powi(3)).collect();
                    weights.iter().map(|weight| weight / weights.iter().sum::<f64>()).collect()
                })
                .collect();
            assert!(HistogramDistribution::new(&parties, most_histograms(classes)).is_none());
            let histograms = HistogramDistribution::new(&parties, 1330).unwrap();
            let found = poisson_multinomial_argmax_distribution(&parties, noise(sigma)).unwrap();
            let off = distance(&found.distribution, histograms.argmax(noise(sigma)).unwrap().p());
            println!("{classes} {voters} {sigma}: off by {off:.1e}, remainder {:.1e}", found.remainder);
            assert!(found.degree().is_some() && off <= found.remainder + 1e-12);
        }
    }

    proptest! {
        /// A distribution or an error for every input, and probabilities that sum to 1.
        #[test]
        fn every_call_returns(
            weights in prop::collection::vec(prop::collection::vec(prop_oneof![Just(0.0), 0.0..1.0f64], 3), 1..12),
            sigma in prop_oneof![1e-3..1.0f64, 1.0..100.0f64],
        ) {
            let parties: Vec<Vec<f64>> = weights
                .iter()
                .filter(|row| row.iter().sum::<f64>() > 0.0)
                .map(|row| row.iter().map(|weight| weight / row.iter().sum::<f64>()).collect())
                .collect();
            if let Ok(found) = poisson_multinomial_argmax_distribution(&parties, noise(sigma)) {
                prop_assert!((found.distribution.p().iter().sum::<f64>() - 1.0).abs() < 1e-11);
                prop_assert!(found.remainder <= TOLERATED);
                if parties.len() < 6 {
                    let off = distance(&found.distribution, &enumerated(&parties, noise(sigma)));
                    prop_assert!(off <= found.remainder + 1e-10, "{} {}", off, found.remainder);
                }
            } else {
                prop_assert!(sigma < 4.0 || parties.is_empty(), "{}", sigma);
            }
        }
    }
}
