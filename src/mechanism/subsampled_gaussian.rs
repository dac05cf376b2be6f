//! Gaussian noise on a Poisson subsample.

use super::binned::{Binned, Mixture, Normal, RealOutput, edges_around_far, edges_of_losses, resolvable};
use super::{Bins, Mechanism, MechanismKind, Parameter, Parameters, Relation, draw};
use crate::accountant::{
    Statement, Theorem, WorstCases, private_knn_rdp, subsampled_gaussian_group_rdp, subsampled_gaussian_rdp,
};
use crate::distribution::OutcomeDistribution;
use crate::divergence::EnclosedLoss;
use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::quantity::{NoiseScale, Order, Probability};
use crate::simulate::Sampler;
use std::f64::consts::SQRT_2;
use std::sync::Arc;

/// A count of a Poisson subsample with Gaussian noise. Neighbors differ by one record that is added or removed.
///
/// ```
/// # use leakbound::bound::Direction;
/// # use leakbound::mechanism::SubsampledGaussian;
/// # use leakbound::quantity::{NoiseScale, Order, Probability};
/// let mechanism = SubsampledGaussian { sigma: NoiseScale::new(2.0)?, rate: Probability::new(0.01)? };
/// for theorem in mechanism.theorems() {
///     // Far below the 0.25 of all records.
///     assert!(theorem.at(Order::new(2.0)?, Direction::Forward).unwrap().value < 1e-4);
/// }
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SubsampledGaussian {
    /// Standard deviation.
    pub sigma: NoiseScale,
    /// The probability with which a record is drawn.
    pub rate: Probability,
}

/// One count of a Poisson subsample, with Gaussian noise.
pub const SUBSAMPLED_GAUSSIAN: &MechanismKind = &MechanismKind {
    name: "subsampled-gaussian",
    relation: Relation::OneRecord,
    parameters: &[Parameter::noise("sigma"), Parameter::number("rate", &[0.5, 0.1])],
    releases: true,
    noise_hides: true,
    read: |parameters| {
        let (sigma, rate) = (parameters.scale("sigma")?, parameters.probability("rate")?);
        Ok(Arc::new(SubsampledGaussian { sigma, rate }))
    },
    draw_data: draw::no_record,
    draw: |stream, _| Some(Arc::new(SubsampledGaussian { sigma: draw::scale(stream)?, rate: draw::rate(stream)? })),
};

static OF_SUBSAMPLE: Statement =
    Statement::for_any_data("subsampled-gaussian", "Mironov, Talwar and Zhang (2019), section 3.3").certified(1e-9);
static OF_PRIVATE_KNN: Statement =
    Statement::for_any_data("private-knn", "Zhu et al. (2020); Mironov, Talwar and Zhang (2019)").certified(1e-9);

impl SubsampledGaussian {
    /// The theorem of the subsample, and that of Private-kNN, whose votes move by √2: with √2 times the noise they are
    /// one count.
    #[must_use]
    pub fn theorems(&self) -> Vec<Theorem> {
        let Self { sigma, rate } = *self;
        let mut theorems =
            vec![Theorem::new(&OF_SUBSAMPLE, move |order, _| subsampled_gaussian_rdp(order, rate, sigma, 1.0))];
        if let Ok(wider) = NoiseScale::new(sigma.get() * SQRT_2) {
            theorems.push(Theorem::new(&OF_PRIVATE_KNN, move |order, _| private_knn_rdp(order, rate, wider)));
        }
        theorems
    }

    /// The theorem for the votes of neighbors, to which each of `points` records adds a vote and displaces another.
    pub(super) fn of_votes(self, points: u64) -> Theorem {
        let Self { sigma, rate } = self;
        Theorem::new(&OF_SUBSAMPLE, move |order, _| subsampled_gaussian_group_rdp(order, rate, sigma, SQRT_2, points))
    }

    fn binned(self, bins: Bins) -> Result<Binned> {
        let (shift, rate, order) = (self.sigma.get().recip(), self.rate.get(), bins.order.map_or(1.0, Order::get));
        resolvable(shift, order)?;
        // E (1 + u)^α is largest near 0, where most of the mass is, and where the ratio is.
        let far = far_peak(rate, shift, order);
        Ok(self.outputs(edges_around_far(&[0.5 * shift], &[far], bins)))
    }

    /// Without the record and with it, in units of the noise.
    fn outputs(self, edges: Vec<f64>) -> Binned {
        let (rate, mean) = (self.rate.get(), self.sigma.get().recip());
        let outputs: [Box<dyn RealOutput>; 2] = [Box::new(Normal::at(0.0)), Box::new(Mixture { rate, mean })];
        let limits = if rate > 0.0 { [-(-rate).ln_1p(), f64::NEG_INFINITY] } else { [0.0; 2] };
        Binned { edges, outputs, limits: Some(limits) }
    }
}

/// Where φ(x) (1 - q + q e^{tx - t²/2})^α is largest far from 0, if it is: a fixed point of x = α t r(x), r the share
/// of the second term, which falls from α t.
fn far_peak(rate: f64, shift: f64, a: f64) -> f64 {
    let mut x = a * shift;
    for _ in 0..50 {
        let ratio = (1.0 - rate) / rate * libm::exp(0.5 * shift * shift - shift * x);
        x = a * shift / (1.0 + ratio);
    }
    x
}

impl Mechanism for SubsampledGaussian {
    fn kind(&self) -> &'static MechanismKind {
        SUBSAMPLED_GAUSSIAN
    }

    fn parameters(&self) -> Parameters {
        Parameters::default().with("sigma", self.sigma.get()).with("rate", self.rate.get())
    }

    fn theorems_for(&self, _: &VoteHistogram, _: &WorstCases) -> Vec<Theorem> {
        self.theorems()
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
        let shift = self.sigma.get().recip();
        resolvable(shift, 1.0)?;
        self.outputs(edges_of_losses(shift, bins)).enclosed_losses(data, neighbor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::Direction;
    use crate::divergence::{PrivacyLoss, compose_losses};
    use crate::quantity::Delta;

    fn pair(sigma: f64, rate: f64, order: Order) -> crate::distribution::OutputPair {
        let mechanism: Arc<dyn Mechanism> = Arc::new(SubsampledGaussian {
            sigma: NoiseScale::new(sigma).unwrap(),
            rate: Probability::new(rate).unwrap(),
        });
        let [data, neighbor] = [0, 1].map(|count| VoteHistogram::new(vec![count]).unwrap());
        mechanism.output_pair(&data, &neighbor, Bins::at(Some(order))).unwrap()
    }

    /// Never above the theorem, and close to it.
    #[test]
    fn binned_divergences_are_just_below_the_theorem() {
        let rate = Probability::new(0.1).unwrap();
        for scale in [0.3, 1.0, 7.0, 300.0] {
            for a in [1.01, 2.0, 9.5, 500.0] {
                let order = Order::new(a).unwrap();
                let truth = subsampled_gaussian_rdp(order, rate, NoiseScale::new(scale).unwrap(), 1.0);
                let pair = pair(scale, 0.1, order);
                let largest =
                    Direction::BOTH.map(|direction| pair.renyi(direction, order)).into_iter().fold(0.0, f64::max);
                assert!(largest <= truth * (1.0 + 1e-9), "{scale} {a}: {largest} {truth}");
                assert!(largest >= truth * 0.9, "{scale} {a}: {largest} {truth}");
            }
        }
    }

    /// Two places with most of the integral, ratios that overflow; expected values with 60 digits.
    #[test]
    fn far_tails_of_a_subsample_count() {
        let order = Order::new(120.0).unwrap();
        let pair = pair(3.6, 0.01, order);
        for (direction, truth) in
            [(Direction::Forward, 4.393_373_728_654_144e-4), (Direction::Reverse, 4.590_292_521_229_673e-3)]
        {
            let found = pair.renyi(direction, order);
            assert!(found <= truth * (1.0 + 1e-10) && found >= 0.97 * truth, "{found} {truth}");
        }
    }

    /// ε of so many outputs at δ, forward and reverse, enclosed.
    fn composed(sigma: f64, rate: f64, times: u64, delta: f64, bins: usize) -> [[f64; 2]; 2] {
        let mechanism =
            SubsampledGaussian { sigma: NoiseScale::new(sigma).unwrap(), rate: Probability::new(rate).unwrap() };
        let [data, neighbor] = [0, 1].map(|count| VoteHistogram::new(vec![count]).unwrap());
        let delta = Delta::new(delta).unwrap();
        mechanism.enclosed_losses(&data, &neighbor, bins).unwrap().map(|loss| {
            let epsilon = |loss: PrivacyLoss| compose_losses(&[(loss, times)], delta, 1e-3).unwrap().epsilon(delta);
            [epsilon(loss.at_least).lower, epsilon(loss.at_most).upper]
        })
    }

    /// Between what two other implementations have: dp_accounting 0.6.0 from above, and from below with its optimistic
    /// rounding to a grid of 1e-4.
    #[test]
    fn compositions_of_dp_sgd_are_enclosed() {
        let cases = [
            (1000, 1e-5, [1.983_185, 3.141_018], [1.933_179, 3.091_017]),
            (1000, 1e-10, [2.850_501, 5.916_831], [2.800_513, 5.866_869]),
            (10_000, 1e-5, [8.385_115, 10.053_659], [7.885_080, 9.553_657]),
            (10_000, 1e-10, [11.730_714, 15.057_836], [11.235_311, 14.557_673]),
        ];
        for (times, delta, above, below) in cases {
            let found = composed(0.8, 0.01, times, delta, 1000);
            for (([lower, upper], above), below) in found.into_iter().zip(above).zip(below) {
                assert!(lower <= above && below <= upper, "{times} {delta}: {lower} {upper}, {below} {above}");
                assert!(upper < lower * 1.003, "{times} {delta}: {lower} {upper}");
            }
        }
    }

    /// With all records it is the Gaussian mechanism; with none, nothing.
    #[test]
    fn extreme_rates_have_closed_forms() {
        let delta = Delta::new(1e-6).unwrap();
        let truth = crate::divergence::gdp_epsilon(0.5 * 8f64.sqrt(), delta).unwrap().get();
        for [lower, upper] in composed(2.0, 1.0, 8, 1e-6, 1000) {
            assert!(lower <= truth && truth <= upper && upper < lower * 1.002, "{lower} {truth} {upper}");
        }
        for [lower, upper] in composed(2.0, 0.0, 8, 1e-6, 1000) {
            assert!(lower == 0.0 && upper < 1e-9, "{lower} {upper}");
        }
        // Little noise, and a rate that hardly says anything.
        for [lower, upper] in composed(0.05, 0.3, 2, 1e-6, 2000).into_iter().chain(composed(5.0, 1e-6, 100, 1e-9, 500))
        {
            assert!(lower <= upper && upper.is_finite() && upper < lower * 1.01 + 1e-9, "{lower} {upper}");
        }
    }
}
