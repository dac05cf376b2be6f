//! Noisy argmax of votes that are each drawn from a separate distribution: every histogram individually.

use super::categorical::OutcomeDistribution;
use super::noise::Noise;
use super::noisy_argmax_distribution;
use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::quadrature::LogIntegral;
use crate::special::log_sum_exp;
use std::collections::BTreeMap;

/// The largest number of enumerated histograms, and of counts in all of them: some tens of milliseconds.
const MAX_HISTOGRAMS: usize = 1000;
const MAX_COUNTS: usize = 20_000;

/// The largest number of enumerated histograms with this many classes.
pub(super) const fn most_histograms(classes: usize) -> usize {
    let most = MAX_COUNTS / classes;
    if most < MAX_HISTOGRAMS { most } else { MAX_HISTOGRAMS }
}

/// The possible histograms of some voters, with their probabilities.
pub(super) struct HistogramDistribution {
    histograms: BTreeMap<Vec<u64>, f64>,
    /// Relative rounding error of a probability: two operations per voter.
    rounding: f64,
}

impl HistogramDistribution {
    /// For voters with these distributions, all on the same classes; `None` if there are more than `most` histograms.
    pub(super) fn new(parties: &[Vec<f64>], most: usize) -> Option<Self> {
        let classes = parties.first()?.len();
        let mut decided = vec![0; classes];
        let mut undecided = Vec::new();
        for party in parties {
            let choices: Vec<(usize, f64)> = party.iter().copied().enumerate().filter(|(_, p)| *p > 0.0).collect();
            match choices[..] {
                [(class, _)] => decided[class] += 1,
                _ => undecided.push(choices),
            }
        }
        let mut histograms = BTreeMap::from([(decided, 1.0)]);
        for choices in &undecided {
            let mut next: BTreeMap<Vec<u64>, f64> = BTreeMap::new();
            for (counts, weight) in histograms {
                for &(class, p) in choices {
                    let mut counts = counts.clone();
                    counts[class] += 1;
                    *next.entry(counts).or_default() += weight * p;
                }
            }
            if next.len() > most {
                return None;
            }
            histograms = next;
        }
        Some(Self { histograms, rounding: 2.0 * undecided.len() as f64 * f64::EPSILON })
    }

    /// P(c) = Σ_h P(H = h) P(argmax(h + Z) = c). All terms are positive, so the relative error of the sum is at most
    /// the largest of a term.
    ///
    /// # Errors
    /// Those of [`noisy_argmax_distribution`].
    pub(super) fn argmax(&self, noise: Noise) -> Result<OutcomeDistribution> {
        let mut terms: Vec<Vec<f64>> = Vec::new();
        let mut error = 0.0f64;
        for (counts, weight) in &self.histograms {
            let given = noisy_argmax_distribution(&VoteHistogram::new(counts.clone())?, noise)?;
            terms.resize(given.outcomes(), Vec::new());
            error = error.max(given.error());
            // Probabilities that underflow keep their logarithms.
            terms.iter_mut().zip(given.ln_p()).for_each(|(terms, ln_p)| terms.push(weight.ln() + ln_p));
        }
        let error = error + self.rounding + terms.len() as f64 * f64::EPSILON;
        let sums: Vec<LogIntegral> =
            terms.iter().map(|terms| LogIntegral { ln_value: log_sum_exp(terms.iter().copied()), error }).collect();
        OutcomeDistribution::from_integrals(&sums)
    }
}
