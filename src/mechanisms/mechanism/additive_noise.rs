//! One number with noise.

use super::binned::{BetweenLaplace, Binned, Normal, edges_around, edges_of_losses, resolvable};
use super::{Bins, BothLosses, DataKind, LargestLoss, Mechanism, MechanismKind, Parameter, Parameters, draw};
use crate::accountant::{Statement, Theorem, WorstCases, gaussian_rdp, laplace_mechanism_rdp, laplace_rdp};
use crate::distribution::{Noise, OutcomeDistribution};
use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::quantity::{NoiseScale, Order};
use crate::simulate::Sampler;
use std::sync::Arc;

/// A count with Gaussian or Laplace noise, printed unchanged. Neighbors differ by one in the count.
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
    example: "gaussian:sigma=2",
    data: DataKind::OneRecord,
    parameters: &[Parameter::noise("sigma")],
    releases: Some("a count with Gaussian noise"),
    theorems: &[&OF_GAUSSIAN],
    noise_hides: true,
    read: |parameters| Ok(Arc::new(AdditiveNoise { noise: Noise::Gaussian(parameters.scale("sigma")?) })),
    draw_data: draw::no_record,
    draw: |stream, _| Some(Arc::new(AdditiveNoise { noise: Noise::Gaussian(draw::scale(stream)?) })),
};

/// One number with Laplace noise.
pub const LAPLACE: &MechanismKind = &MechanismKind {
    name: "laplace",
    example: "laplace:sigma=1",
    releases: Some("a count with Laplace noise of scale `sigma`"),
    theorems: &[&OF_LAPLACE],
    read: |parameters| Ok(Arc::new(AdditiveNoise { noise: Noise::Laplace(parameters.scale("sigma")?) })),
    draw: |stream, _| Some(Arc::new(AdditiveNoise { noise: Noise::Laplace(draw::scale(stream)?) })),
    ..*GAUSSIAN
};

pub(super) static OF_GAUSSIAN: Statement =
    Statement::for_any_data("gaussian", "a count with Gaussian noise", "Mironov (2017), Proposition 7");
pub(super) static OF_LAPLACE: Statement =
    Statement::for_any_data("laplace", "a count with Laplace noise", "Mironov (2017), Proposition 6");

impl AdditiveNoise {
    /// The theorem of the noise.
    #[must_use]
    pub fn theorems(&self) -> [Theorem; 1] {
        [match self.noise {
            Noise::Gaussian(sigma) => Theorem::alike(&OF_GAUSSIAN, move |order| gaussian_rdp(order, sigma, 1.0)),
            Noise::Laplace(b) => Theorem::alike(&OF_LAPLACE, move |order| laplace_rdp(order, b)),
        }]
    }

    /// The outer edges of the output bins, in units of the noise.
    pub(super) fn edges(&self, bins: Bins) -> Result<Vec<f64>> {
        Ok(self.binned(bins)?.edges)
    }

    /// The losses of counts that are this many noise scales apart.
    fn losses(&self, shift: f64, bins: usize) -> Result<Binned> {
        resolvable(shift, 1.0)?;
        Ok(match self.noise {
            Noise::Laplace(_) => BetweenLaplace::pair(shift, bins),
            Noise::Gaussian(_) => normal_pair(shift, edges_of_losses(shift, bins)),
        })
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

    fn largest_loss(&self, _: &VoteHistogram) -> LargestLoss {
        match self.noise {
            Noise::Gaussian(_) => LargestLoss::Unbounded,
            Noise::Laplace(b) => LargestLoss::over(1.0, b),
        }
    }

    fn output_distribution(&self, data: &VoteHistogram, bins: Bins) -> Result<OutcomeDistribution> {
        self.binned(bins)?.distribution(data)
    }

    fn sampler(&self, data: &VoteHistogram, neighbor: &VoteHistogram, bins: Bins) -> Result<Box<dyn Sampler>> {
        self.binned(bins)?.sampler(data, neighbor)
    }

    fn enclosed_losses(&self, data: &VoteHistogram, neighbor: &VoteHistogram, bins: usize) -> Result<BothLosses> {
        self.losses(self.noise.scale().recip(), bins)?.enclosed_losses(data, neighbor)
    }

    /// A count that moves by m has the theorems of noise 1/m as large. If the ratio of two densities grows with the
    /// output, the best test at every δ is a threshold, whose power grows with the distance: fewer records leak less.
    fn group_theorems(&self, _: &VoteHistogram, members: u64, _: &WorstCases) -> Vec<Theorem> {
        let distance = members as f64;
        vec![match self.noise {
            Noise::Gaussian(sigma) => Theorem::alike(&OF_GAUSSIAN, move |order| gaussian_rdp(order, sigma, distance)),
            Noise::Laplace(b) => Theorem::alike(&OF_LAPLACE, move |order| laplace_mechanism_rdp(order, b, distance)),
        }]
    }

    fn group_losses(&self, members: u64, bins: usize) -> Result<BothLosses> {
        let [without, with] = [VoteHistogram::new(vec![0])?, VoteHistogram::new(vec![1])?];
        // The second of the two outputs is the one with all members.
        self.losses(members as f64 / self.noise.scale(), bins)?.enclosed_losses(&without, &with)
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
    use super::super::tests::{epsilons, pair, records};
    use super::*;
    use crate::bound::Direction;
    use crate::divergence::{ComposedDirection, EnclosedLoss, gdp_delta, gdp_epsilon};
    use crate::quantity::{Delta, Epsilon};

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

    /// m records equal one with an m-th of the noise: Gaussian ε in closed form, Laplace ε at δ = 0 and its theorem.
    #[test]
    fn groups_have_closed_forms() {
        use crate::divergence::gdp_epsilon;
        use crate::quantity::Delta;
        let (data, delta) = (VoteHistogram::new(vec![0]).unwrap(), Delta::new(1e-6).unwrap());
        for members in [1u64, 3, 40] {
            let gaussian = parse("gaussian:sigma=20").unwrap();
            let truth = gdp_epsilon(members as f64 / 20.0, delta).unwrap().get();
            for loss in gaussian.group_losses(members, 1_000).unwrap() {
                let [lower, upper] = epsilons(loss, 1, delta);
                assert!(lower <= truth && truth <= upper && upper < 1.01 * lower, "{members}: {lower} {truth} {upper}");
            }
            let laplace = parse("laplace:sigma=20").unwrap();
            let [forward, reverse] = laplace.group_losses(members, 100).unwrap();
            for largest in [forward.at_most.largest(), reverse.at_most.largest()] {
                assert!((largest - members as f64 / 20.0).abs() < 1e-12, "{members}: {largest}");
            }
            let order = Order::new(4.0).unwrap();
            let at = |text: &str, members| {
                let theorems = parse(text).unwrap().group_theorems(&data, members, &WorstCases::default());
                theorems[0].at(order, Direction::Forward).unwrap().value
            };
            assert!(
                (at("gaussian:sigma=20", members) / at(&format!("gaussian:sigma={}", 20.0 / members as f64), 1) - 1.0)
                    .abs()
                    < 1e-12
            );
            assert!(
                (at("laplace:sigma=20", members) / at(&format!("laplace:sigma={}", 20.0 / members as f64), 1) - 1.0)
                    .abs()
                    < 1e-12
            );
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

    fn at_delta(value: f64) -> Delta {
        Delta::new(value).unwrap()
    }

    /// The two ends for N(0, 1) and N(mu, 1), from cells out to 39 standard deviations.
    fn gaussian(mu: f64) -> EnclosedLoss {
        let text = format!("gaussian:sigma={}", mu.recip());
        let [without, with] = records();
        let [forward, _] = parse(&text).unwrap().enclosed_losses(&without, &with, 2_000).unwrap();
        forward
    }

    /// A composition for a tiny δ covers only large losses; it must still be valid at a δ far from it.
    #[test]
    fn far_from_its_delta_an_enclosure_is_wide_and_not_wrong() {
        for (mu, times) in [(10.0 / 3.0, 10u64), (2f64.sqrt(), 1), (1.27, 1), (0.1, 400)] {
            let loss = gaussian(mu);
            let together = mu * (times as f64).sqrt();
            for target in [1e-3, 1e-30, 1e-60, 1e-120, 1e-250] {
                let composed = ComposedDirection::of_enclosed(&[(&loss, times)], at_delta(target), 1e-3).unwrap();
                for at in [0.9, 0.5, 0.1, 1e-2, 1e-5, 1e-12, 1e-40, 1e-100, 1e-200] {
                    let truth = gdp_epsilon(together, at_delta(at)).unwrap().get();
                    let found = composed.epsilon(at_delta(at));
                    let wide = 1e-9 * (1.0 + truth);
                    assert!(
                        found.lower <= truth + wide && truth <= found.upper + wide,
                        "{mu} {times} {target:e} {at:e}: {found:?} {truth}"
                    );
                }
            }
        }
    }

    /// No noise makes an unbounded loss bounded, however rare large losses are.
    #[test]
    fn unbounded_losses_have_no_epsilon_without_a_delta() {
        let [without, with] = records();
        for text in [
            "gaussian:sigma=1e4",
            "gaussian-vector:sigma=1e4,counts=2",
            "discrete-gaussian:sigma=2e5",
            "subsampled-gaussian:sigma=2e3,rate=0.01",
            "poisson:rate=0.01,of=[gaussian:sigma=100]",
        ] {
            for loss in parse(text).unwrap().enclosed_losses(&without, &with, 500).unwrap() {
                let composed = ComposedDirection::of_enclosed(&[(&loss, 3)], at_delta(0.0), 1e-3).unwrap();
                // Without the record, no loss of a subsample is above -ln(1 - rate).
                let bounded = text.contains("rate") && loss.at_most.largest() < 1.0;
                assert!(bounded || composed.epsilon(at_delta(0.0)).upper == f64::INFINITY, "{text}");
                assert!(composed.epsilon(at_delta(1e-12)).upper < 1.0, "{text}");
            }
        }
    }
}
