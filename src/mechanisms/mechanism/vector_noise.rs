//! Several counts with noise on each.

use super::additive_noise::AdditiveNoise;
use super::binned::record;
use super::draw::pick;
use super::loss_lattice::{LossLattice, Sums};
use super::one_by_one::one_by_one;
use super::{Bins, BothLosses, DataKind, LargestLoss, Mechanism, MechanismKind, Parameter, Parameters, draw, required};
use crate::accountant::{Statement, Theorem, WorstCases, gaussian_rdp, laplace_rdp};
use crate::bound::outward::product_up;
use crate::distribution::{Noise, OutcomeDistribution};
use crate::divergence::EnclosedLoss;
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::quadrature::LogIntegral;
use crate::quantity::NoiseScale;
use crate::simulate::Sampler;
use rand::RngExt;
use rand_distr::{Distribution, Exp1, StandardNormal};
use std::sync::Arc;

/// d counts with independent noise on each, printed unchanged. One record changes every count by one.
///
/// The outputs are independent, so Rényi divergences are d times those of one count (Mironov 2017, Proposition 1, with
/// equality).
///
/// *Gaussian noise*: the sum of the outputs is sufficient, which gives one count with noise of scale σ/√d.
///
/// *Laplace noise*: the sum of ln P/Q of the outputs is sufficient, each between -1/σ and 1/σ. Outputs between the two
/// counts are cut into bins of equal steps of this sum, which is then on a lattice; outside, nothing is lost.
///
/// ```
/// # use leakbound::bound::Direction;
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::mechanism::{Bins, parse};
/// # use leakbound::quantity::Order;
/// let order = Order::new(3.0)?;
/// let [without, with] = [vec![0], vec![1]].map(|count| VoteHistogram::new(count).unwrap());
/// let renyi = |text: &str| {
///     parse(text).unwrap().output_pair(&without, &with, Bins::at(Some(order))).unwrap().renyi(Direction::Forward, order)
/// };
/// for noise in ["gaussian", "laplace"] {
///     let [one, four] = [renyi(&format!("{noise}:sigma=2")), renyi(&format!("{noise}-vector:sigma=2,counts=4"))];
///     assert!((four / one - 4.0).abs() < 0.01, "{four} {one}");
/// }
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VectorNoise {
    /// The noise on each count.
    noise: Noise,
    /// d.
    counts: u32,
}

/// Counts with Gaussian noise on each.
pub const GAUSSIAN_VECTOR: &MechanismKind = &MechanismKind {
    name: "gaussian-vector",
    example: "gaussian-vector:sigma=1,counts=3",
    data: DataKind::OneRecord,
    parameters: &[Parameter::noise("sigma"), Parameter::number("counts", &[2.0, 1.0, 3.0])],
    releases: Some("`counts` counts, each with Gaussian noise; a record changes every one of them by one"),
    theorems: &[&OF_GAUSSIAN],
    // d times the divergence of one count.
    noise_hides: false,
    read: |parameters| VectorNoise::read(Noise::Gaussian(parameters.scale("sigma")?), parameters),
    draw_data: draw::no_record,
    draw: |stream, _| {
        Some(Arc::new(VectorNoise {
            noise: Noise::Gaussian(draw::scale(stream)?),
            counts: *pick(stream, &[1, 2, 2, 3, 5, 10, 100, 10_000]),
        }))
    },
};

/// Counts with Laplace noise on each.
pub const LAPLACE_VECTOR: &MechanismKind = &MechanismKind {
    name: "laplace-vector",
    example: "laplace-vector:sigma=1,counts=3",
    releases: Some(
        "`counts` counts, each with Laplace noise of scale `sigma`; a record changes every one of them by one",
    ),
    theorems: &[&OF_LAPLACE],
    read: |parameters| VectorNoise::read(Noise::Laplace(parameters.scale("sigma")?), parameters),
    draw: |stream, _| {
        Some(Arc::new(VectorNoise {
            noise: Noise::Laplace(draw::scale(stream)?),
            counts: *pick(stream, &[1, 2, 2, 3, 5, 10, 100]),
        }))
    },
    ..*GAUSSIAN_VECTOR
};

static OF_GAUSSIAN: Statement = Statement::for_any_data(
    "gaussian-vector",
    "several counts with Gaussian noise, such as a histogram",
    "Mironov (2017), Proposition 7 for each count, Proposition 1 for all",
);
static OF_LAPLACE: Statement = Statement::for_any_data(
    "laplace-vector",
    "several counts with Laplace noise",
    "Mironov (2017), Proposition 6 for each count, Proposition 1 for all",
);

/// The largest number of counts.
const MOST_COUNTS: u64 = 1_000_000_000;
/// The largest number of counts of a vector with Laplace noise whose losses are added up, and the largest loss.
const MOST_ADDED: u32 = 1_000;
const LARGEST_LOSS: f64 = 1_000.0;
/// Number of bins of all counts together, per requested bin.
const SHARED: u32 = 6;
const SHARED_LOSSES: u32 = 3;
/// Convolutions take time proportional to its square.
const MOST_BINS: usize = 2_000;
/// Up to this many counts, vectors are drawn count by count.
const MOST_DRAWN: u32 = 1_000;

impl VectorNoise {
    fn read(noise: Noise, parameters: &Parameters) -> Result<Arc<dyn Mechanism>> {
        let counts = parameters.whole("counts", [1, MOST_COUNTS])?;
        Ok(Arc::new(Self { noise, counts: counts as u32 }))
    }

    /// The theorem of the noise, multiplied by the number of counts.
    #[must_use]
    pub fn theorem(&self) -> Theorem {
        let counts = f64::from(self.counts);
        match self.noise {
            Noise::Gaussian(sigma) => {
                Theorem::alike(&OF_GAUSSIAN, move |order| product_up(counts, gaussian_rdp(order, sigma, 1.0)))
            }
            Noise::Laplace(b) => Theorem::alike(&OF_LAPLACE, move |order| product_up(counts, laplace_rdp(order, b))),
        }
    }

    /// The sum of the outputs of Gaussian noise, as one count.
    fn sum(self, sigma: NoiseScale) -> Result<AdditiveNoise> {
        Ok(AdditiveNoise { noise: Noise::Gaussian(NoiseScale::new(sigma.get() / f64::from(self.counts).sqrt())?) })
    }

    /// The losses of Laplace noise of a scale, with at most this many bins, and `shared` times that for all counts.
    fn lattice(self, scale: NoiseScale, bins: usize, shared: u32) -> Result<LossLattice> {
        let shift = scale.get().recip();
        let reason = format_args!("the losses of at most {MOST_ADDED} counts are added up, not of {}", self.counts);
        required(self.counts <= MOST_ADDED, reason)?;
        let loss = f64::from(self.counts) * shift;
        Error::check_domain(loss <= LARGEST_LOSS, "counts over noise scale", loss, "[0, 1000]")?;
        let bins = bins.clamp(1, MOST_BINS) as u32;
        Ok(LossLattice { counts: self.counts, shift, bins: (shared * bins / self.counts).clamp(1, bins) })
    }
}

/// For counts of 1, the sums are reversed.
fn rows(mut sums: Sums, record: usize) -> Vec<LogIntegral> {
    if record == 1 {
        sums.rows.reverse();
    }
    sums.rows
}

impl VectorNoise {
    /// Gaussian noise on every count, and the bin of the sum in units of its deviation.
    fn sum_sampler(self, sigma: NoiseScale, worlds: [f64; 2], bins: Bins) -> Result<Box<dyn Sampler>> {
        let (counts, edges) = (self.counts, self.sum(sigma)?.edges(bins)?);
        let d = f64::from(counts);
        Ok(one_by_one(edges.len() + 1, move |world, stream| {
            let mut normal = || -> f64 { StandardNormal.sample(stream) };
            let noise =
                if counts <= MOST_DRAWN { (0..counts).map(|_| normal()).sum::<f64>() } else { d.sqrt() * normal() };
            let sum = d * worlds[world.index()] / sigma.get() + noise;
            edges.partition_point(|edge| *edge <= sum / d.sqrt())
        }))
    }

    /// Laplace noise on every count, and the sum of the losses of the bins.
    fn loss_sampler(self, scale: NoiseScale, worlds: [f64; 2], bins: Bins) -> Result<Box<dyn Sampler>> {
        let lattice = self.lattice(scale, bins.count, SHARED)?;
        // From the largest on.
        let (losses, bins) = (lattice.below().losses, f64::from(lattice.bins));
        Ok(one_by_one(losses.len(), move |world, stream| {
            let mut loss = || {
                let size: f64 = Exp1.sample(stream);
                let noise = scale.get() * if stream.random_bool(0.5) { size } else { -size };
                match worlds[world.index()] + noise {
                    output if output < 0.0 => bins as i64,
                    output if output >= 1.0 => -(bins as i64),
                    output => bins as i64 - 1 - 2 * (output * bins) as i64,
                }
            };
            let sum = (0..lattice.counts).map(|_| loss()).sum::<i64>();
            losses.partition_point(|loss| *loss > sum).min(losses.len() - 1)
        }))
    }
}

impl Mechanism for VectorNoise {
    fn kind(&self) -> &'static MechanismKind {
        match self.noise {
            Noise::Gaussian(_) => GAUSSIAN_VECTOR,
            Noise::Laplace(_) => LAPLACE_VECTOR,
        }
    }

    fn parameters(&self) -> Parameters {
        Parameters::default().with("sigma", self.noise.scale()).with("counts", f64::from(self.counts))
    }

    fn theorems_for(&self, _: &VoteHistogram, _: &WorstCases) -> Vec<Theorem> {
        vec![self.theorem()]
    }

    fn largest_loss(&self, _: &VoteHistogram) -> LargestLoss {
        match self.noise {
            Noise::Gaussian(_) => LargestLoss::Unbounded,
            Noise::Laplace(b) => LargestLoss::over(f64::from(self.counts), b),
        }
    }

    fn output_distribution(&self, data: &VoteHistogram, bins: Bins) -> Result<OutcomeDistribution> {
        match self.noise {
            Noise::Gaussian(sigma) => self.sum(sigma)?.output_distribution(data, bins),
            Noise::Laplace(scale) => {
                let record = record(data)?;
                OutcomeDistribution::from_integrals(&rows(self.lattice(scale, bins.count, SHARED)?.below(), record))
            }
        }
    }

    fn sampler(&self, data: &VoteHistogram, neighbor: &VoteHistogram, bins: Bins) -> Result<Box<dyn Sampler>> {
        let worlds = [record(data)? as f64, record(neighbor)? as f64];
        match self.noise {
            Noise::Gaussian(sigma) => self.sum_sampler(sigma, worlds, bins),
            Noise::Laplace(scale) => self.loss_sampler(scale, worlds, bins),
        }
    }

    fn enclosed_losses(&self, data: &VoteHistogram, neighbor: &VoteHistogram, bins: usize) -> Result<BothLosses> {
        let scale = match self.noise {
            Noise::Gaussian(sigma) => return self.sum(sigma)?.enclosed_losses(data, neighbor, bins),
            Noise::Laplace(scale) => scale,
        };
        if record(data)? == record(neighbor)? {
            return (self as &dyn Mechanism).known_losses(data, neighbor);
        }
        let lattice = self.lattice(scale, bins, SHARED_LOSSES)?;
        let [below, above] =
            [lattice.below(), lattice.above()].map(|sums| EnclosedLoss::of_cells(&lattice.cells(&sums)));
        // Reversed, counts of 1 are counts of 0.
        let both = EnclosedLoss { at_least: below.at_least, at_most: above.at_most };
        Ok([both.clone(), both])
    }

    fn gaussian_mu(&self) -> Option<f64> {
        match self.noise {
            Noise::Gaussian(sigma) => Some(f64::from(self.counts).sqrt() / sigma.get()),
            Noise::Laplace(_) => None,
        }
    }

    /// More counts.
    fn repeated(&self, times: u32) -> Option<Arc<dyn Mechanism>> {
        let counts = self.counts.checked_mul(times).filter(|&counts| u64::from(counts) <= MOST_COUNTS)?;
        let all = Self { counts, ..*self };
        // Otherwise a few of the outputs may still be composed one by one.
        let known = match self.noise {
            Noise::Gaussian(_) => true,
            Noise::Laplace(scale) => all.lattice(scale, 1, 1).is_ok(),
        };
        known.then(|| Arc::new(all) as _)
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::super::tests::{deltas, records};
    use super::*;
    use crate::bound::Direction;
    use crate::divergence::gdp_delta;
    use crate::quantity::{Epsilon, Order};

    /// Never above the theorem, and close to it.
    #[test]
    fn divergences_are_just_below_those_of_all_counts() {
        let [without, with] = records();
        for (noise, counts, sigma) in [
            ("gaussian", 1, 2.0),
            ("gaussian", 50, 3.0),
            ("gaussian", 1_000_000, 700.0),
            ("laplace", 1, 1.0),
            ("laplace", 2, 0.5),
            ("laplace", 5, 2.0),
            ("laplace", 30, 5.0),
            ("laplace", 1000, 100.0),
        ] {
            let text = format!("{noise}-vector:sigma={sigma},counts={counts}");
            let mechanism = parse(&text).unwrap();
            for a in [1.1, 2.0, 9.5, 300.0] {
                let order = Order::new(a).unwrap();
                let bound = mechanism.theorems_for(&without, &WorstCases::default())[0].at(order, Direction::Forward);
                let bound = bound.unwrap().value;
                let pair = mechanism.output_pair(&without, &with, Bins::at(Some(order))).unwrap();
                for direction in Direction::BOTH {
                    let found = pair.renyi(direction, order);
                    assert!(found <= bound * (1.0 + 1e-9), "{text} {a}: {found} {bound}");
                    assert!(found >= bound * 0.98, "{text} {a}: {found} {bound}");
                }
            }
        }
    }

    fn ends(text: &str, epsilon: f64, delta: f64) -> [f64; 2] {
        let [without, with] = records();
        let [loss, _] = parse(text).unwrap().enclosed_losses(&without, &with, 1000).unwrap();
        deltas(loss, 1, delta, epsilon)
    }

    /// A Gaussian vector is one count with less noise; a Laplace vector is the composition of its Laplace counts.
    #[test]
    fn profiles_are_enclosed() {
        let truth = gdp_delta(5f64.sqrt() / 4.0, Epsilon::new(0.7).unwrap()).unwrap();
        let [lower, upper] = ends("gaussian-vector:sigma=4,counts=5", 0.7, truth);
        assert!(lower <= truth && truth <= upper && upper < 1.01 * lower, "{lower} {truth} {upper}");
        let [without, with] = records();
        for (sigma, counts, epsilon) in [(1.0, 1, 0.5), (2.0, 3, 0.6), (10.0, 40, 1.0), (0.7, 8, 6.0)] {
            let [loss, _] =
                parse(&format!("laplace:sigma={sigma}")).unwrap().enclosed_losses(&without, &with, 2000).unwrap();
            let expected = deltas(loss, counts, 1e-3, epsilon);
            let text = format!("laplace-vector:sigma={sigma},counts={counts}");
            let found = ends(&text, epsilon, 1e-3);
            println!("{text}: {found:?} {expected:?}");
            // Both contain the truth, and are narrow.
            assert!(
                found[0] <= expected[1] && expected[0] <= found[1] && found[1] < 1.02 * found[0],
                "{text}: {found:?} {expected:?}"
            );
        }
    }

    #[test]
    fn hopeless_vectors_are_rejected_in_one_line() {
        let [data, _] = records();
        let fails = |text: &str| {
            let found = parse(text).and_then(|mechanism| mechanism.output_distribution(&data, Bins::at(None)));
            let error = found.unwrap_err().to_string();
            assert!(!error.contains('\n'), "{error}");
            error
        };
        assert!(fails("laplace-vector:sigma=1,counts=0").contains("counts = 0 is not in [1, 1000000000]"));
        assert!(fails("laplace-vector:sigma=1,counts=2000").contains("at most 1000 counts are added up, not of 2000"));
        assert!(fails("laplace-vector:sigma=0.001,counts=2").contains("counts over noise scale"));
        assert!(fails("gaussian-vector:sigma=1e-300,counts=2").contains("order over noise scale"));
    }
}
