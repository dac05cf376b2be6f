//! How one distribution is made from those of an ensemble.

use super::{DominatingAnswer, EnsembleSize, NextTokens, TokenNeighbors};
use crate::accountant::{Statement, Theorem};
use crate::error::Result;
use crate::mechanism::{Parameter, Parameters, write_text};
use crate::quantity::Order;
use crate::vectorized::{Arch, in_vectors};
use rand_chacha::ChaCha8Rng;
use std::fmt;
use std::sync::Arc;

/// A mechanism that answers with a token.
///
/// A mechanism is one file that implements this trait, plus a line of the registry
/// [`TOKEN_MECHANISMS`](super::TOKEN_MECHANISMS).
pub trait TokenMechanism: fmt::Debug + Send + Sync {
    /// Its kind.
    fn kind(&self) -> &'static TokenMechanismKind;

    /// Its parameters, from which [`TokenMechanismKind::read`] constructs it again.
    fn parameters(&self) -> Parameters;

    /// The distribution of its answer at a position, with all members and without each owner of
    /// [`models_of_owner`](TokenMechanismKind::models_of_owner) members.
    ///
    /// # Errors
    /// [`Error::Rejected`](crate::Error::Rejected) for a position without something the mechanism needs, such as a
    /// public model.
    fn released(&self, position: &NextTokens) -> Result<Released>;

    /// The theorems that bound D_α of one answer of an ensemble of this size against a neighbor, forward and reverse,
    /// for any predictions of the members. Empty for a mechanism whose leakage is unbounded on some data.
    fn theorems(&self, size: EnsembleSize, neighbors: TokenNeighbors) -> Vec<Theorem>;

    /// A pair of distributions that dominates those of one answer for all neighbors and any predictions of the members,
    /// if one is known: many answers are composed by its privacy loss.
    fn dominating(&self, _size: EnsembleSize, _neighbors: TokenNeighbors) -> Option<DominatingAnswer> {
        None
    }

    /// The charge of the mechanism's authors for D_α of one answer when a member is removed, if it is not proved in
    /// this library.
    fn charge(&self, _size: EnsembleSize, _order: Order) -> Option<Charge> {
        None
    }
}

/// A kind of mechanism: its complete description except for parameters.
#[derive(Debug)]
pub struct TokenMechanismKind {
    /// The name in the text form, in JSON and on the command line.
    pub name: &'static str,
    /// A text form of it.
    pub example: &'static str,
    /// Its answer, in words.
    pub releases: &'static str,
    /// The theorems that bound an answer of it.
    pub theorems: &'static [&'static Statement],
    /// Its parameters, in the order in which they are written.
    pub parameters: &'static [Parameter],
    /// Whether it needs a public model.
    pub needs_public: bool,
    /// How many models of the ensemble were trained on the records of one owner: adjacent ones, which are removed or
    /// replaced together.
    pub models_of_owner: usize,
    /// The mechanism with these parameters.
    pub read: fn(&Parameters) -> Result<Arc<dyn TokenMechanism>>,
    /// Parameters that provoke errors.
    pub draw: fn(&mut ChaCha8Rng) -> Option<Arc<dyn TokenMechanism>>,
}

impl fmt::Display for dyn TokenMechanism {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_text(formatter, self.kind().name, &self.parameters())
    }
}

/// The charge of a mechanism's authors for one answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Charge {
    /// Its name in tables and JSON.
    pub name: &'static str,
    /// Its authors.
    pub source: &'static str,
    /// The charge for D_α, in nats.
    pub value: f64,
}

/// Doubles of this many tokens of ten members take 160 KiB.
const TOKENS_AT_ONCE: usize = 2048;

/// The distributions of an answer: of an ensemble, and of its neighbors.
#[derive(Debug, Clone, PartialEq)]
pub struct Released {
    whole: Vec<f64>,
    /// \[neighbor, token\]
    neighbors: Vec<f64>,
}

impl Released {
    /// From the probabilities of the tokens with all members, and \[neighbor, token\] of each neighbor.
    pub(super) const fn new(whole: Vec<f64>, neighbors: Vec<f64>) -> Self {
        Self { whole, neighbors }
    }

    /// Means over all members of values \[member\]\[token\], and over all but each of them, which are 0 if nobody is
    /// left. Sums without one member are added up, not subtracted: a token that only one member knows keeps its digits.
    pub(super) fn means<'a>(members: usize, tokens: usize, of: impl Fn(usize) -> &'a [f64]) -> Self {
        let mut without = vec![0.0; members * tokens];
        let mut whole = vec![0.0; tokens];
        in_vectors!(Arch::new(), {
            // Some tokens of all members together stay in the cache.
            for start in (0..tokens).step_by(TOKENS_AT_ONCE) {
                let some = start..(start + TOKENS_AT_ONCE).min(tokens);
                for member in (0..members.saturating_sub(1)).rev() {
                    let (sums, later) = without[member * tokens..].split_at_mut(tokens);
                    add(&mut sums[some.clone()], &later[some.clone()]);
                    add(&mut sums[some.clone()], &of(member + 1)[some.clone()]);
                }
                for member in 0..members {
                    add(&mut without[member * tokens..][some.clone()], &whole[some.clone()]);
                    add(&mut whole[some.clone()], &of(member)[some.clone()]);
                }
            }
        });
        let mut means = Self { whole, neighbors: without };
        means.change(|sums, members| {
            let each = 1.0 / members.max(1) as f64;
            sums.iter_mut().for_each(|sum| *sum *= each);
        });
        means
    }

    /// Changes each of the distributions, given its number of members: neighbors lack one.
    pub(super) fn change(&mut self, mut change: impl FnMut(&mut [f64], usize)) {
        let members = self.neighbors.len() / self.whole.len();
        self.change_each(|one, without| change(one, if without.is_some() { members - 1 } else { members }));
    }

    /// Changes each of the distributions, given its neighbor, or `None`.
    pub(super) fn change_each(&mut self, mut change: impl FnMut(&mut [f64], Option<usize>)) {
        change(&mut self.whole, None);
        let neighbors = self.neighbors.chunks_exact_mut(self.whole.len());
        neighbors.enumerate().for_each(|(index, one)| change(one, Some(index)));
    }

    /// Probabilities of the tokens with all members.
    #[must_use]
    pub fn whole(&self) -> &[f64] {
        &self.whole
    }

    /// Probabilities of each neighbor: without each of the owners, in their order, or in the order of
    /// [`TokenNeighbors::of`].
    pub fn neighbors(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.neighbors.chunks_exact(self.whole.len())
    }
}

#[inline(always)]
fn add(sums: &mut [f64], terms: &[f64]) {
    sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}
