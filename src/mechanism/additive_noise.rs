//! One number with noise.

use super::binned::{BetweenLaplace, Binned, Normal, edges_around, edges_of_losses, resolvable};
use super::{Bins, Mechanism, MechanismKind, Parameter, Parameters, Relation, draw};
use crate::accountant::{Statement, Theorem, WorstCases, gaussian_rdp, laplace_rdp};
use crate::distribution::{Noise, OutcomeDistribution};
use crate::divergence::EnclosedLoss;
use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::quantity::{NoiseScale, Order};
use crate::simulate::Sampler;
use std::sync::Arc;

/// A count with Gaussian or Laplace noise, printed as it is. Neighbors differ by one in the count.
///
/// ```
/// # use leakbound::bound::Direction;
/// # use leakbound::mechanism::AdditiveNoise;
/// # use leakbound::quantity::Order;
/// let [theorem] = AdditiveNoise { noise: "gaussian:2".parse()? }.theorems();
/// assert_eq!(theorem.at(Order::new(4.0)?, Direction::Reverse).unwrap().value, 0.5);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdditiveNoise {
    /// The noise, in units of the change of the count.
    pub noise: Noise,
}

/// One number with Gaussian noise.
pub const GAUSSIAN: &MechanismKind = &MechanismKind {
    name: "gaussian",
    relation: Relation::OneRecord,
    parameters: &[Parameter::noise("sigma")],
    releases: true,
    noise_hides: true,
    read: |parameters| Ok(Arc::new(AdditiveNoise { noise: Noise::Gaussian(parameters.scale("sigma")?) })),
    draw_data: draw::no_record,
    draw: |stream, _| Some(Arc::new(AdditiveNoise { noise: Noise::Gaussian(draw::scale(stream)?) })),
};

/// One number with Laplace noise.
pub const LAPLACE: &MechanismKind = &MechanismKind {
    name: "laplace",
    relation: Relation::OneRecord,
    parameters: &[Parameter::noise("sigma")],
    releases: true,
    noise_hides: true,
    read: |parameters| Ok(Arc::new(AdditiveNoise { noise: Noise::Laplace(parameters.scale("sigma")?) })),
    draw_data: draw::no_record,
    draw: |stream, _| Some(Arc::new(AdditiveNoise { noise: Noise::Laplace(draw::scale(stream)?) })),
};

pub(super) const OF_GAUSSIAN_NOISE: Statement = Statement::for_any_data("gaussian", "Mironov (2017), Proposition 7");
pub(super) const OF_LAPLACE_NOISE: Statement = Statement::for_any_data("laplace", "Mironov (2017), Proposition 6");
static OF_GAUSSIAN: Statement = OF_GAUSSIAN_NOISE;
static OF_LAPLACE: Statement = OF_LAPLACE_NOISE;

impl AdditiveNoise {
    /// The theorem of the noise.
    #[must_use]
    pub fn theorems(&self) -> [Theorem; 1] {
        [match self.noise {
            Noise::Gaussian(sigma) => Theorem::new(&OF_GAUSSIAN, move |order, _| gaussian_rdp(order, sigma, 1.0)),
            Noise::Laplace(b) => Theorem::new(&OF_LAPLACE, move |order, _| laplace_rdp(order, b)),
        }]
    }

    /// Where the bins of the output end, in units of the noise.
    pub(super) fn edges(&self, bins: Bins) -> Result<Vec<f64>> {
        Ok(self.binned(bins)?.edges)
    }

    fn binned(&self, bins: Bins) -> Result<Binned> {
        let (shift, order) = (self.noise.scale().recip(), bins.order.map_or(1.0, Order::get));
        resolvable(shift, order)?;
        Ok(match self.noise {
            Noise::Laplace(_) => BetweenLaplace::pair(shift, bins.count),
            // The peaks of p^α q^{1-α} in both directions, and where the densities cross.
            Noise::Gaussian(_) => {
                normal_pair(shift, edges_around(&[0.5 * shift, (1.0 - order) * shift, order * shift], bins.count))
            }
        })
    }
}

/// N(0, 1) and N(shift, 1).
fn normal_pair(shift: f64, edges: Vec<f64>) -> Binned {
    let outputs = [0.0, shift].map(|mean| Box::new(Normal::at(mean)) as _);
    Binned { edges, outputs, limits: Some([f64::INFINITY, f64::NEG_INFINITY]) }
}

impl Mechanism for AdditiveNoise {
    fn kind(&self) -> &'static MechanismKind {
        match self.noise {
            Noise::Gaussian(_) => GAUSSIAN,
            Noise::Laplace(_) => LAPLACE,
        }
    }

    fn parameters(&self) -> Parameters {
        Parameters::default().with("sigma", self.noise.scale())
    }

    fn theorems_for(&self, _: &VoteHistogram, _: &WorstCases) -> Vec<Theorem> {
        self.theorems().to_vec()
    }

    fn output_distribution(&self, data: &VoteHistogram, bins: Bins) -> Result<OutcomeDistribution> {
        self.binned(bins)?.distribution(data)
    }

    fn sampler(&self, data: &VoteHistogram, neighbor: &VoteHistogram, bins: Bins) -> Result<Box<dyn Sampler>> {
        self.binned(bins)?.sampler(data, neighbor)
    }

    fn enclosed_losses(
        &self,
        data: &VoteHistogram,
        neighbor: &VoteHistogram,
        bins: usize,
    ) -> Result<[EnclosedLoss; 2]> {
        let shift = self.noise.scale().recip();
        resolvable(shift, 1.0)?;
        let binned = match self.noise {
            Noise::Laplace(_) => BetweenLaplace::pair(shift, bins),
            Noise::Gaussian(_) => normal_pair(shift, edges_of_losses(shift, bins)),
        };
        binned.enclosed_losses(data, neighbor)
    }

    fn gaussian_mu(&self) -> Option<f64> {
        match self.noise {
            Noise::Gaussian(sigma) => Some(sigma.get().recip()),
            Noise::Laplace(_) => None,
        }
    }

    /// The sum of Gaussian outputs is sufficient: one output with less noise.
    fn repeated(&self, times: u32) -> Option<Arc<dyn Mechanism>> {
        let Noise::Gaussian(sigma) = self.noise else { return None };
        let sigma = NoiseScale::new(sigma.get() / f64::from(times).sqrt()).ok()?;
        Some(Arc::new(Self { noise: Noise::Gaussian(sigma) }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use crate::bound::Direction;
    use crate::divergence::gdp_delta;
    use crate::quantity::Epsilon;

    fn pair(text: &str, order: Option<Order>) -> crate::distribution::OutputPair {
        let [data, neighbor] = [0, 1].map(|count| VoteHistogram::new(vec![count]).unwrap());
        parse(text).unwrap().output_pair(&data, &neighbor, Bins::at(order)).unwrap()
    }

    /// Never above the closed forms, and close to them.
    #[test]
    fn binned_divergences_are_just_below_the_true_ones() {
        for scale in [0.3, 1.0, 7.0, 300.0] {
            let sigma = NoiseScale::new(scale).unwrap();
            for a in [1.01, 2.0, 9.5, 500.0] {
                let order = Order::new(a).unwrap();
                let cases = [("gaussian", gaussian_rdp(order, sigma, 1.0)), ("laplace", laplace_rdp(order, sigma))];
                for (name, truth) in cases {
                    let pair = pair(&format!("{name}:sigma={scale}"), Some(order));
                    let largest =
                        Direction::BOTH.map(|direction| pair.renyi(direction, order)).into_iter().fold(0.0, f64::max);
                    assert!(largest <= truth * (1.0 + 1e-9), "{name} {scale} {a}: {largest} {truth}");
                    assert!(largest >= truth * 0.99, "{name} {scale} {a}: {largest} {truth}");
                }
            }
        }
    }

    #[test]
    fn binned_profiles_are_just_below_the_true_ones() {
        for (sigma, epsilon) in [(1.0, 1.0), (3.0, 0.1), (0.5, 4.0)] {
            let epsilon = Epsilon::new(epsilon).unwrap();
            let found = pair(&format!("gaussian:sigma={sigma}"), None).delta(Direction::Forward, epsilon);
            let truth = gdp_delta(1.0 / sigma, epsilon).unwrap();
            assert!(found <= truth * (1.0 + 1e-12) && found >= truth * 0.99, "{found} {truth}");
        }
    }

    #[test]
    fn hopeless_scales_are_rejected() {
        let data = VoteHistogram::new(vec![0]).unwrap();
        assert!(parse("gaussian:sigma=1e-300").unwrap().output_distribution(&data, Bins::at(None)).is_err());
        let votes = VoteHistogram::new(vec![3, 1]).unwrap();
        let error = parse("gaussian:sigma=1").unwrap().output_distribution(&votes, Bins::at(None)).unwrap_err();
        assert!(error.to_string().contains("a number has the histogram 0"), "{error}");
    }
}
