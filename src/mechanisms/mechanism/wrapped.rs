//! Code shared by mechanisms that wrap other mechanisms.

use super::{DataKind, Mechanism, MechanismKind, Parameters, parse, rejected};
use crate::accountant::{Scope, Theorem, poisson_subsampled_rdp};
use crate::bound::Direction;
use crate::distribution::OutcomeDistribution;
use crate::error::{Result, echo};
use crate::quadrature::LogIntegral;
use crate::quantity::{Order, Probability};
use crate::simulate::{Sampler, Stream, World};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// The parameter that holds the other mechanism.
pub(super) const OF: &str = "of";
/// Number of cells of the privacy losses from which Rényi divergences are computed.
pub(super) const CELLS: usize = 1_000;

/// The wrapped mechanism, which must have data of this kind and not wrap a third one.
pub(super) fn base_of(parameters: &Parameters, kind: DataKind) -> Result<Arc<dyn Mechanism>> {
    let text = parameters.word(OF)?;
    let nested = || rejected(format!("{OF} = `{}` is a mechanism of a mechanism of another", echo(text)));
    // Checked before reading, so no text can nest more deeply.
    if text.contains('[') {
        return Err(nested());
    }
    let base = parse(text)?;
    if base.kind().parameters.iter().any(|parameter| parameter.name == OF) {
        return Err(nested());
    }
    if base.kind().data != kind {
        let data = match kind {
            DataKind::OneRecord => "mechanisms with one record that is added or removed",
            DataKind::OneVoter => "mechanisms of the vote of one voter",
            DataKind::Votes => "mechanisms of votes",
            DataKind::Answers => "mechanisms of the answers to queries",
        };
        return Err(rejected(format!("{OF} = {} is not one of the {data}", base.kind())));
    }
    Ok(base)
}

/// A mechanism of one of these kinds.
pub(super) fn drawn_of(kinds: &[&MechanismKind], stream: &mut ChaCha8Rng) -> Option<Arc<dyn Mechanism>> {
    let kind = kinds[stream.random_range(0..kinds.len())];
    (kind.draw)(stream, 1)
}

/// The smallest of the theorems for any data in a direction; infinite without one.
pub(super) fn least(theorems: &[Theorem], order: Order, direction: Direction) -> f64 {
    let any_data = theorems.iter().filter(|theorem| theorem.statement().scope == Scope::AnyData);
    any_data.filter_map(|theorem| Some(theorem.at(order, direction)?.value)).fold(f64::INFINITY, f64::min)
}

/// D of a mechanism with these theorems on a subsample, at any order and in both directions.
pub(super) fn of_subsample(theorems: &[Theorem], rate: Probability, order: Order) -> f64 {
    let [removed, added] = Direction::BOTH.map(|direction| least(theorems, order, direction));
    poisson_subsampled_rdp(order, rate, added, removed)
}

/// (1-γ) of one distribution and γ of another.
pub(super) fn mixed(
    absent: &OutcomeDistribution,
    present: &OutcomeDistribution,
    rate: Probability,
) -> Result<OutcomeDistribution> {
    let [stay, come] = [libm::log1p(-rate.get()), rate.get().ln()];
    let error = absent.error().max(present.error()) + 8.0 * f64::EPSILON;
    let both = |(a, b): (&f64, &f64)| {
        let [a, b] = [stay + a, come + b];
        let (large, small) = (a.max(b), a.min(b));
        let ln_value = if small == f64::NEG_INFINITY { large } else { large + libm::log1p(libm::exp(small - large)) };
        LogIntegral { ln_value, error }
    };
    let rows: Vec<LogIntegral> = absent.ln_p().iter().zip(present.ln_p()).map(both).collect();
    OutcomeDistribution::from_integrals(&rows)
}

/// Draws of a mechanism for data without a record or, with probability `rate`, with it, in both worlds.
pub(super) struct SeldomSampler {
    /// Samplers of the two worlds; each draws without the record as for the dataset, with it as for the neighbor.
    pub worlds: [Box<dyn Sampler>; 2],
    pub rate: f64,
}

impl Sampler for SeldomSampler {
    fn outcomes(&self) -> usize {
        self.worlds[0].outcomes()
    }

    fn sample_block(&self, world: World, stream: &mut Stream, samples: u64, counts: &mut [u64]) {
        let present = (0..samples).filter(|_| stream.random_bool(self.rate)).count() as u64;
        let sampler = &self.worlds[world.index()];
        sampler.sample_block(World::Dataset, stream, samples - present, counts);
        sampler.sample_block(World::Neighbor, stream, present, counts);
    }
}
