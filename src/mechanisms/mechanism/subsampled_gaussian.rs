//! Gaussian noise on a Poisson subsample.

use super::binned::{Binned, Mixture, Normal, RealOutput, edges_around_far, edges_of_losses, resolvable};
use super::{Bins, BothLosses, DataKind, LargestLoss, Mechanism, MechanismKind, Parameter, Parameters, draw, losses};
use crate::accountant::{Statement, Theorem, WorstCases, subsampled_gaussian_group_rdp, subsampled_gaussian_rdp};
use crate::distribution::OutcomeDistribution;
use crate::divergence::LossCell;
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::quadrature::LogIntegral;
use crate::quantity::{NoiseScale, Order, Probability};
use crate::simulate::Sampler;
use crate::special::{log_binomial_pmf, log_sum_exp};
use std::f64::consts::SQRT_2;
use std::sync::Arc;

/// A count of a Poisson subsample with Gaussian noise. Neighbors differ by one added or removed record.
///
/// ```
/// # use leakbound::bound::Direction;
/// # use leakbound::mechanism::SubsampledGaussian;
/// # use leakbound::quantity::{NoiseScale, Order, Probability};
/// let mechanism = SubsampledGaussian { sigma: NoiseScale::new(2.0)?, rate: Probability::new(0.01)? };
/// // Far below the 0.25 of all records.
/// assert!(mechanism.theorem().at(Order::new(2.0)?, Direction::Forward).unwrap().value < 1e-4);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SubsampledGaussian {
    /// Standard deviation.
    pub sigma: NoiseScale,
    /// The probability that a record is drawn.
    pub rate: Probability,
}

/// One count of a Poisson subsample, with Gaussian noise.
pub const SUBSAMPLED_GAUSSIAN: &MechanismKind = &MechanismKind {
    name: "subsampled-gaussian",
    example: "subsampled-gaussian:sigma=1,rate=0.01",
    data: DataKind::OneRecord,
    parameters: &[Parameter::noise("sigma"), Parameter::number("rate", &[0.5, 0.1])],
    releases: Some("a count of a Poisson subsample with Gaussian noise"),
    theorems: &[&OF_SUBSAMPLE],
    noise_hides: true,
    read: |parameters| {
        let (sigma, rate) = (parameters.scale("sigma")?, parameters.probability("rate")?);
        Ok(Arc::new(SubsampledGaussian { sigma, rate }))
    },
    draw_data: draw::no_record,
    draw: |stream, _| Some(Arc::new(SubsampledGaussian { sigma: draw::scale(stream)?, rate: draw::rate(stream)? })),
};

static OF_SUBSAMPLE: Statement = Statement::for_any_data(
    "subsampled-gaussian",
    "steps of DP-SGD, a record added or removed",
    "Mironov, Talwar and Zhang (2019), section 3.3",
)
.certified(1e-9);

impl SubsampledGaussian {
    /// The theorem of the subsample.
    #[must_use]
    pub fn theorem(&self) -> Theorem {
        let Self { sigma, rate } = *self;
        Theorem::alike(&OF_SUBSAMPLE, move |order| subsampled_gaussian_rdp(order, rate, sigma, 1.0))
    }

    /// The theorem for votes, if each of `points` records adds a vote and displaces another.
    pub(super) fn of_votes(self, points: u64) -> Theorem {
        let Self { sigma, rate } = self;
        Theorem::alike(&OF_SUBSAMPLE, move |order| subsampled_gaussian_group_rdp(order, rate, sigma, SQRT_2, points))
    }

    /// The log likelihood ratio of an output with the record and without it, ln(1 - q + q e^{(x - 1/2)/σ²}): the
    /// statistic of the most powerful test. For several releases it is the sum.
    ///
    /// ```
    /// # use leakbound::mechanism::SubsampledGaussian;
    /// # use leakbound::quantity::{NoiseScale, Probability};
    /// let mechanism = SubsampledGaussian { sigma: NoiseScale::new(2.0)?, rate: Probability::new(0.01)? };
    /// let ratio = 0.99 + 0.01 * ((3.0f64 - 0.5) / 4.0).exp();
    /// assert!((mechanism.log_likelihood_ratio(3.0) - ratio.ln()).abs() < 1e-15);
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    #[must_use]
    pub fn log_likelihood_ratio(&self, output: f64) -> f64 {
        let sigma = self.sigma.get();
        Mixture { rate: self.rate.get(), mean: sigma.recip() }.ln_ratio(output / sigma)
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

/// Where φ(x) (1 - q + q e^{tx - t²/2})^α is largest far from 0, if it is: a fixed point of x = α t r(x), where r is
/// the share of the second term; the iteration decreases from α t.
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

    fn is_of_added_records(&self) -> bool {
        true
    }

    fn theorems_for(&self, _: &VoteHistogram, _: &WorstCases) -> Vec<Theorem> {
        vec![self.theorem()]
    }

    fn largest_loss(&self, _: &VoteHistogram) -> LargestLoss {
        LargestLoss::Unbounded.of_subsample(self.rate)
    }

    fn output_distribution(&self, data: &VoteHistogram, bins: Bins) -> Result<OutcomeDistribution> {
        self.binned(bins)?.distribution(data)
    }

    fn sampler(&self, data: &VoteHistogram, neighbor: &VoteHistogram, bins: Bins) -> Result<Box<dyn Sampler>> {
        self.binned(bins)?.sampler(data, neighbor)
    }

    fn enclosed_losses(&self, data: &VoteHistogram, neighbor: &VoteHistogram, bins: usize) -> Result<BothLosses> {
        let shift = self.sigma.get().recip();
        resolvable(shift, 1.0)?;
        self.outputs(edges_of_losses(shift, bins)).enclosed_losses(data, neighbor)
    }

    /// Counts that move by a binomial number, by the published bound for groups.
    fn group_theorems(&self, _: &VoteHistogram, members: u64, _: &WorstCases) -> Vec<Theorem> {
        let Self { sigma, rate } = *self;
        if members > LARGEST_GROUP {
            return Vec::new();
        }
        vec![Theorem::alike(&OF_SUBSAMPLE, move |order| {
            subsampled_gaussian_group_rdp(order, rate, sigma, 1.0, members)
        })]
    }

    fn group_losses(&self, members: u64, bins: usize) -> Result<BothLosses> {
        let legal = (1..=LARGEST_GROUP).contains(&members);
        Error::check_domain(legal, "members of a group of subsamples", members as f64, "[1, 1000]")?;
        let shift = self.sigma.get().recip();
        resolvable(shift * members as f64, 1.0)?;
        Ok(self.binomial_losses(members, bins))
    }
}

/// The largest number of records of a group.
const LARGEST_GROUP: u64 = 1_000;

impl SubsampledGaussian {
    /// The losses between N(0, 1) and Σ w_b N(b t, 1), where b is a binomial number of m records.
    ///
    /// *Fewer records leak less.* In both directions the ratio of the densities, Σ w_b e^{b t x - b² t²/2}, grows with
    /// x, so the best test at every δ is a threshold. N(0, 1) passes it equally often for any m, and Σ w_b N(b t, 1)
    /// more often for larger b, which grows with m. The same holds for records that count for between 0 and 1.
    fn binomial_losses(self, members: u64, bins: usize) -> BothLosses {
        let (shift, rate) = (self.sigma.get().recip(), self.rate.get());
        let edges = edges_of_losses(shift * members as f64, bins);
        let weights: Vec<f64> = (0..=members).map(|b| log_binomial_pmf(b, members, rate)).collect();
        // The rounding error of the weights.
        let error = |ln: f64| if ln.is_finite() { 8.0 * f64::EPSILON * (1.0 + ln.abs()) } else { 0.0 };
        let without = Normal::at(0.0).bins(&edges);
        let mut with: Vec<LogIntegral> = vec![LogIntegral { ln_value: f64::NEG_INFINITY, error: 0.0 }; edges.len() + 1];
        for (b, &weight) in weights.iter().enumerate().filter(|(_, weight)| weight.is_finite()) {
            let part = Normal::at(shift * b as f64).bins(&edges);
            for (sum, part) in with.iter_mut().zip(part) {
                sum.ln_value = log_sum_exp([sum.ln_value, weight + part.ln_value].into_iter());
                sum.error = sum.error.max(part.error + error(weight)) + 4.0 * f64::EPSILON;
            }
        }
        // ln of the density without the records over that with them, and a bound on its error.
        let ratio = |x: f64| {
            let moved = |b: usize| shift * b as f64 * (x - 0.5 * shift * b as f64);
            let ln = log_sum_exp((0..weights.len()).map(|b| weights[b] + moved(b)));
            let off =
                |b: usize| error(weights[b]) + 8.0 * f64::EPSILON * (1.0 + (shift * b as f64).powi(2) + moved(b).abs());
            let shares = (0..weights.len()).map(|b| libm::exp(weights[b] + moved(b) - ln) * off(b));
            (-ln, shares.sum::<f64>())
        };
        let none = if rate < 1.0 { -(members as f64) * (-rate).ln_1p() } else { f64::INFINITY };
        let mut ratios = vec![(none, if none.is_finite() { 8.0 * f64::EPSILON * none } else { 0.0 })];
        ratios.extend(edges.iter().map(|&edge| ratio(edge)));
        ratios.push((if rate > 0.0 { f64::NEG_INFINITY } else { 0.0 }, 0.0));
        let cell = |bin: usize| {
            let ends = [ratios[bin], ratios[bin + 1]].map(|(l, error)| [l - error, l + error]);
            let losses = [ends[0][0].min(ends[1][0]), ends[0][1].max(ends[1][1])];
            LossCell { p: without[bin], q: with[bin], losses }
        };
        losses::of_cells(&(0..=edges.len()).map(cell).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{deltas, epsilons, records};
    use super::*;
    use crate::bound::Direction;
    use crate::divergence::{ComposedDirection, gdp_epsilon};
    use crate::quantity::Delta;

    fn pair(sigma: f64, rate: f64, order: Order) -> crate::distribution::OutputPair {
        super::super::tests::pair(&format!("subsampled-gaussian:sigma={sigma},rate={rate}"), Some(order))
    }

    fn mechanism(sigma: f64, rate: f64) -> SubsampledGaussian {
        SubsampledGaussian { sigma: NoiseScale::new(sigma).unwrap(), rate: Probability::new(rate).unwrap() }
    }

    /// With a rate of 1 there is no subsampling, even far from both means, where 1 + (e^x - 1) is 0 in doubles.
    #[test]
    fn all_records_are_the_gaussian_mechanism() {
        let [without, with] = records();
        let delta = Delta::new(1e-5).unwrap();
        for rate in [1.0, 1.0 - 1e-15, 0.999_999] {
            for losses in mechanism(1.0, rate).enclosed_losses(&without, &with, 2_000).unwrap() {
                let found = ComposedDirection::of_enclosed(&[(&losses, 4)], delta, 1e-3).unwrap().epsilon(delta);
                let truth = gdp_epsilon(2.0, delta).unwrap().get();
                println!("{rate}: {found:?} {truth}");
                assert!(found.lower <= truth && found.upper < 1.002 * truth);
                assert!(rate < 1.0 || found.upper >= truth);
            }
        }
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

    /// ε of this many outputs at δ, forward and reverse, enclosed.
    fn composed(sigma: f64, rate: f64, times: u64, delta: f64, bins: usize) -> [[f64; 2]; 2] {
        let ([data, neighbor], delta) = (records(), Delta::new(delta).unwrap());
        let losses = mechanism(sigma, rate).enclosed_losses(&data, &neighbor, bins).unwrap();
        losses.map(|loss| epsilons(loss, times, delta))
    }

    /// Between the values of other implementations: dp_accounting 0.6.0 from above, and from below with its optimistic
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

    /// One record as without groups; all records are Gaussian noise on a count that moves by m; and two records by Σ
    /// (p - e^ε q)⁺ over a fine grid of outputs.
    #[test]
    fn groups_of_a_subsample_are_enclosed() {
        let of = |sigma: f64, rate: f64, members: u64, delta: f64| {
            let (losses, delta) = (mechanism(sigma, rate).group_losses(members, 2_000), Delta::new(delta).unwrap());
            losses.unwrap().map(|loss| epsilons(loss, 10, delta))
        };
        for ([lower, upper], [low, high]) in of(0.8, 0.1, 1, 1e-5).into_iter().zip(composed(0.8, 0.1, 10, 1e-5, 2_000))
        {
            assert!(lower <= high && low <= upper && upper < 1.005 * lower, "{lower} {upper} {low} {high}");
        }
        let truth = crate::divergence::gdp_epsilon(3.0 / 9.0 * 10f64.sqrt(), Delta::new(1e-6).unwrap()).unwrap().get();
        for [lower, upper] in of(9.0, 1.0, 3, 1e-6) {
            assert!(lower <= truth && truth <= upper && upper < 1.005 * lower, "{lower} {truth} {upper}");
        }
        for [lower, upper] in of(2.0, 0.0, 3, 1e-6) {
            assert!(lower == 0.0 && upper < 1e-9, "{lower} {upper}");
        }
        let (t, rate, epsilon) = (1.0 / 0.9, 0.2, 0.4f64);
        let density = |x: f64| libm::exp(-0.5 * x * x) / (2.0 * std::f64::consts::PI).sqrt();
        let with = |x: f64| 0.64 * density(x) + 0.32 * density(x - t) + 0.04 * density(x - 2.0 * t);
        let sum = |excess: &dyn Fn(f64) -> f64| {
            (-200_000..=200_000).map(|i| excess(1e-4 * f64::from(i)).max(0.0)).sum::<f64>() * 1e-4
        };
        let truths = [sum(&|x| density(x) - epsilon.exp() * with(x)), sum(&|x| with(x) - epsilon.exp() * density(x))];
        let mechanism = mechanism(0.9, rate);
        for (loss, truth) in mechanism.group_losses(2, 2_000).unwrap().into_iter().zip(truths) {
            let [lower, upper] = deltas(loss, 1, 0.01, epsilon);
            assert!(
                lower <= truth + 1e-8 && truth <= upper + 1e-8 && upper < lower * 1.02 + 1e-8,
                "{lower} {truth} {upper}"
            );
        }
        let none: Result<BothLosses> = mechanism.group_losses(1_001, 10);
        assert!(none.is_err());
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
        // Little noise, and a rate that hardly matters.
        for [lower, upper] in composed(0.05, 0.3, 2, 1e-6, 2000).into_iter().chain(composed(5.0, 1e-6, 100, 1e-9, 500))
        {
            assert!(lower <= upper && upper.is_finite() && upper < lower * 1.01 + 1e-9, "{lower} {upper}");
        }
    }
}
