//! Gaussian noise on a Poisson subsample in which a record is replaced: a step of DP-SGD under replace-one.

use super::binned::{Binned, Mixture, RealOutput, edges_around_far, edges_of_losses, resolvable};
use super::randomized_response::only_vote;
use super::{Bins, BothLosses, DataKind, LargestLoss, Mechanism, MechanismKind, Parameter, Parameters, draw, required};
use crate::accountant::{Statement, Theorem, WorstCases, replaced_gaussian_rdp};
use crate::distribution::OutcomeDistribution;
use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::quantity::{NoiseScale, Order, Probability};
use crate::simulate::Sampler;
use std::sync::Arc;

/// A step of DP-SGD for neighbors in which one record is replaced: a sum of vectors of norm at most 1 over a Poisson
/// subsample, with Gaussian noise.
///
/// The output is the coordinate in which the two records differ, (1-q) N(0, σ²) + q N(1, σ²) with one record and (1-q)
/// N(0, σ²) + q N(-1, σ²) with the other. Data are `[1, 0]` with the one and `[0, 1]` with the other. No other vectors
/// in any dimension leak more, for any divergence and any ε: see the proof at [`replaced_gaussian_rdp`]. So an
/// enclosure for this pair holds for all of DP-SGD, also composed.
///
/// ```
/// # use leakbound::bound::Direction;
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::mechanism::{Bins, parse};
/// # use leakbound::quantity::Epsilon;
/// let [one, other] = [vec![1, 0], vec![0, 1]].map(|record| VoteHistogram::new(record).unwrap());
/// let replaced = parse("subsampled-gaussian-replace:sigma=1,rate=1")?;
/// let delta = replaced.output_pair(&one, &other, Bins::at(None))?.delta(Direction::Forward, Epsilon::new(2.0)?);
/// // N(1, 1) against N(-1, 1): Φ(0) - e² Φ(-2).
/// assert!(delta < 0.331_901 && delta > 0.331, "{delta}");
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReplacedGaussian {
    /// Standard deviation, in units of the largest norm.
    pub sigma: NoiseScale,
    /// The probability that a record is drawn.
    pub rate: Probability,
}

/// A sum over a Poisson subsample in which one record is replaced, with Gaussian noise.
pub const SUBSAMPLED_GAUSSIAN_REPLACE: &MechanismKind = &MechanismKind {
    name: "subsampled-gaussian-replace",
    example: "subsampled-gaussian-replace:sigma=1,rate=0.01",
    data: DataKind::OneVoter,
    parameters: &[Parameter::noise("sigma"), Parameter::number("rate", &[0.5, 0.1])],
    releases: Some(
        "a step of DP-SGD where a record is replaced by another: a sum of vectors of norm 1 and less over a Poisson \
         subsample, with Gaussian noise. The histogram is `1,0` with the one record and `0,1` with the other; no \
         other two records leak more",
    ),
    theorems: &[&REPLACED],
    // As N(1, σ²) against N(-1, σ²).
    noise_hides: true,
    read: |parameters| {
        let (sigma, rate) = (parameters.scale("sigma")?, parameters.probability("rate")?);
        Ok(Arc::new(ReplacedGaussian { sigma, rate }))
    },
    draw_data: draw::one_of_two,
    draw: |stream, _| Some(Arc::new(ReplacedGaussian { sigma: draw::scale(stream)?, rate: draw::rate(stream)? })),
};

static REPLACED: Statement = Statement::for_any_data(
    "subsampled-gaussian-replace",
    "steps of DP-SGD, a record replaced",
    "leakbound, theorem of replaced_gaussian_rdp",
)
.certified(1e-9);

impl ReplacedGaussian {
    /// The theorem of DP-SGD under replace-one.
    #[must_use]
    pub fn theorem(&self) -> Theorem {
        let Self { sigma, rate } = *self;
        Theorem::alike(&REPLACED, move |order| replaced_gaussian_rdp(order, rate, sigma, 1.0))
    }

    fn binned(self, bins: Bins) -> Result<Binned> {
        let (shift, order) = (self.sigma.get().recip(), bins.order.map_or(1.0, Order::get));
        resolvable(shift, order)?;
        let far = self.far_peak(order);
        Ok(self.outputs(edges_around_far(&[0.0], &[-far, far], bins)))
    }

    /// Where φ(z) p^α r^{1-α} is largest far from 0, if it is: a fixed point of z = ν (α P(p) + (α-1) P(r)), where P
    /// are the shares of the second terms; the iteration decreases from (2α - 1) ν.
    fn far_peak(self, a: f64) -> f64 {
        let (rate, shift) = (self.rate.get(), self.sigma.get().recip());
        if rate == 1.0 {
            return (2.0 * a - 1.0) * shift;
        }
        let share = |exponent: f64| ((1.0 - rate) / rate * libm::exp(-exponent) + 1.0).recip();
        let mut z = (2.0 * a - 1.0) * shift;
        for _ in 0..50 {
            let [p, r] = [z, -z].map(|z| share(shift * z - 0.5 * shift * shift));
            z = shift * (a * p + (a - 1.0) * r);
        }
        z
    }

    /// With the one record and with the other, in units of the noise.
    fn outputs(self, edges: Vec<f64>) -> Binned {
        let (rate, mean) = (self.rate.get(), self.sigma.get().recip());
        let outputs = [mean, -mean].map(|mean| Box::new(Mixture { rate, mean }) as Box<dyn RealOutput>);
        let limits = if rate > 0.0 { [f64::NEG_INFINITY, f64::INFINITY] } else { [0.0; 2] };
        Binned { edges, outputs, limits: Some(limits) }
    }
}

/// The record in these data, counted as [`Binned`] does.
fn which(data: &VoteHistogram) -> Result<VoteHistogram> {
    let reason = format_args!("data are [1, 0] or [0, 1], one record or the other, not {}", data.classes());
    required(data.classes() == 2, reason)?;
    VoteHistogram::new(vec![only_vote(data)? as u64])
}

impl Mechanism for ReplacedGaussian {
    fn kind(&self) -> &'static MechanismKind {
        SUBSAMPLED_GAUSSIAN_REPLACE
    }

    fn parameters(&self) -> Parameters {
        Parameters::default().with("sigma", self.sigma.get()).with("rate", self.rate.get())
    }

    fn theorems_for(&self, _: &VoteHistogram, _: &WorstCases) -> Vec<Theorem> {
        vec![self.theorem()]
    }

    fn largest_loss(&self, _: &VoteHistogram) -> LargestLoss {
        LargestLoss::Unbounded.of_subsample(self.rate)
    }

    fn output_distribution(&self, data: &VoteHistogram, bins: Bins) -> Result<OutcomeDistribution> {
        self.binned(bins)?.distribution(&which(data)?)
    }

    fn sampler(&self, data: &VoteHistogram, neighbor: &VoteHistogram, bins: Bins) -> Result<Box<dyn Sampler>> {
        self.binned(bins)?.sampler(&which(data)?, &which(neighbor)?)
    }

    fn treats_classes_alike(&self) -> bool {
        true
    }

    fn enclosed_losses(&self, data: &VoteHistogram, neighbor: &VoteHistogram, bins: usize) -> Result<BothLosses> {
        let shift = self.sigma.get().recip();
        resolvable(shift, 1.0)?;
        let edges = edges_of_losses(2.0 * shift, bins).into_iter().map(|edge| edge - shift).collect();
        self.outputs(edges).enclosed_losses(&which(data)?, &which(neighbor)?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::super::tests::{either_vote, epsilons, records};
    use super::*;
    use crate::bound::Direction;
    use crate::divergence::gdp_epsilon;
    use crate::quantity::Delta;

    fn mechanism(sigma: f64, rate: f64) -> Arc<dyn Mechanism> {
        parse(&format!("subsampled-gaussian-replace:sigma={sigma},rate={rate}")).unwrap()
    }

    /// Never above the theorem, and close to it.
    #[test]
    fn binned_divergences_are_just_below_the_theorem() {
        let [one, other] = either_vote();
        for (sigma, rate) in [(0.3, 0.1), (1.0, 0.1), (1.0, 0.9), (7.0, 0.01), (300.0, 0.5)] {
            for a in [1.01, 2.0, 9.5, 500.0] {
                let order = Order::new(a).unwrap();
                let theorem = mechanism(sigma, rate).downcast::<ReplacedGaussian>().unwrap().theorem();
                let pair = mechanism(sigma, rate).output_pair(&one, &other, Bins::at(Some(order))).unwrap();
                for direction in Direction::BOTH {
                    let (found, bound) = (pair.renyi(direction, order), theorem.at(order, direction).unwrap().value);
                    assert!(found <= bound * (1.0 + 1e-9), "{sigma} {rate} {a}: {found} {bound}");
                    assert!(found >= bound * 0.9, "{sigma} {rate} {a}: {found} {bound}");
                }
            }
        }
    }

    /// ε of this many outputs at δ, forward and reverse, enclosed.
    fn composed(sigma: f64, rate: f64, times: u64, delta: f64) -> [[f64; 2]; 2] {
        let ([one, other], delta) = (either_vote(), Delta::new(delta).unwrap());
        let losses = mechanism(sigma, rate).enclosed_losses(&one, &other, 1000).unwrap();
        losses.map(|loss| epsilons(loss, times, delta))
    }

    /// Between the values from rounding the same pair with dp_accounting 0.6.0, which has no accountant for it: from
    /// above by connected dots, from below by its optimistic rounding, on a grid of 1e-4.
    #[test]
    fn compositions_of_dp_sgd_are_enclosed() {
        let cases = [
            (1000, 1e-5, 4.178_002, 4.228_005),
            (1000, 1e-10, 7.028_918, 7.078_895),
            (10_000, 1e-5, 15.651_040, 16.151_055),
            (10_000, 1e-10, 22.106_459, 22.606_910),
        ];
        for (times, delta, below, above) in cases {
            for [lower, upper] in composed(0.8, 0.01, times, delta) {
                assert!(lower <= above && below <= upper, "{times} {delta}: {lower} {upper}, {below} {above}");
                assert!(upper < lower * 1.003, "{times} {delta}: {lower} {upper}");
            }
        }
    }

    /// With all records it is the Gaussian mechanism of sensitivity 2; with none, nothing.
    #[test]
    fn extreme_rates_have_closed_forms() {
        let delta = Delta::new(1e-6).unwrap();
        let truth = gdp_epsilon(2.0 / 4.0 * 8f64.sqrt(), delta).unwrap().get();
        for [lower, upper] in composed(4.0, 1.0, 8, 1e-6) {
            assert!(lower <= truth && truth <= upper && upper < lower * 1.002, "{lower} {truth} {upper}");
        }
        for [lower, upper] in composed(2.0, 0.0, 8, 1e-6) {
            assert!(lower == 0.0 && upper < 1e-9, "{lower} {upper}");
        }
        for [lower, upper] in composed(0.05, 0.3, 2, 1e-6).into_iter().chain(composed(5.0, 1e-6, 100, 1e-9)) {
            assert!(lower <= upper && upper.is_finite() && upper < lower * 1.01 + 1e-9, "{lower} {upper}");
        }
    }

    /// Both directions are equal, and lie between those of an added record and of groups of two.
    #[test]
    fn replacing_costs_more_than_adding() {
        let added = parse("subsampled-gaussian:sigma=1,rate=0.02").unwrap();
        let [without, with] = records();
        let delta = Delta::new(1e-5).unwrap();
        let losses = added.enclosed_losses(&without, &with, 1000).unwrap();
        let of_added = losses.map(|loss| epsilons(loss, 100, delta)[1]);
        let [forward, reverse] = composed(1.0, 0.02, 100, 1e-5);
        assert!((forward[0] - reverse[0]).abs() < 1e-3 * forward[0] && forward[1] < 1.003 * forward[0]);
        assert!(forward[0] > of_added[0].max(of_added[1]), "{forward:?} {of_added:?}");
    }

    #[test]
    fn other_data_are_rejected() {
        for votes in [vec![1], vec![1, 0, 0], vec![1, 1], vec![0, 0]] {
            let Ok(data) = VoteHistogram::new(votes) else { continue };
            assert!(mechanism(1.0, 0.1).output_distribution(&data, Bins::at(None)).is_err(), "{data}");
        }
    }
}
