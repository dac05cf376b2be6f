//! A number with Gaussian noise proportional to its smooth sensitivity.
//!
//! A pair of datasets gives two normal distributions of different widths, which are cut into bins.
//!
//! The possible pairs are those allowed by smooth sensitivity: widths w = SS(D), w' = SS(D') with |ln w'/w| ≤ β, and a
//! step |f(D) - f(D')| of at most the smaller width, because either bounds the change of f from its dataset to a
//! neighbor (Nissim, Raskhodnikova and Smith 2007, Definition 2.2). Every such pair occurs for some f.
//!
//! In units of σ w the distributions are N(0, 1) and N(m, r²) with r = w'/w. p^α q^{1-α} is again a normal density, of
//! precision α + (1-α)/r², with its own peak; the divergence is finite only if that precision is positive (Gil, Alajaji
//! and Linder 2013). Bins cover these densities, and reach far out if there is no peak. Cutting is post-processing: the
//! computed value is at most the truth.

use super::binned::{Binned, Normal, REACH, apart};
use super::{Bins, DataKind, LargestLoss, Mechanism, MechanismKind, Parameter, Parameters, draw, required, rounder};
use crate::accountant::{Statement, Theorem, WorstCases, gnss_rdp};
use crate::distribution::OutcomeDistribution;
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::quantity::{NoiseScale, Order};
use crate::simulate::Sampler;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// f(D) + SS(D) N(0, σ²) with the β-smooth sensitivity SS (GNSS). Neighbors differ by one record.
///
/// ```
/// # use leakbound::bound::Direction;
/// # use leakbound::mechanism::SmoothRelease;
/// # use leakbound::quantity::{NoiseScale, Order};
/// let [theorem] = SmoothRelease { sigma: NoiseScale::new(5.0)?, beta: 0.02 }.theorems();
/// assert!(theorem.at(Order::new(8.0)?, Direction::Forward).unwrap().value > 8.0 / 50.0);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Nissim, Raskhodnikova and Smith (2007); Papernot et al. (2018), Theorem 23, corrected: see
/// [`gnss_rdp`](crate::accountant::gnss_rdp).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SmoothRelease {
    /// Standard deviation divided by the smooth sensitivity.
    pub sigma: NoiseScale,
    /// β.
    pub beta: f64,
}

static OF_GNSS: Statement = Statement::for_any_data(
    "gnss",
    "a number with noise in proportion to its smooth sensitivity",
    "leakbound, corrected from Papernot et al. (2018), Theorem 23",
);

impl SmoothRelease {
    /// The theorem of the release.
    #[must_use]
    pub fn theorems(&self) -> [Theorem; 1] {
        let Self { sigma, beta } = *self;
        [Theorem::alike(&OF_GNSS, move |order| gnss_rdp(order, beta, sigma))]
    }
}

/// The release of one pair of datasets: D, whose data are `[0]`, and its neighbor D', with `[1]`. Theorems cover all
/// pairs.
pub const GNSS: &MechanismKind = &MechanismKind {
    name: "gnss",
    example: "gnss:sigma=5,beta=0.02,step=0.98,width=1,neighbor_width=0.981",
    data: DataKind::OneRecord,
    parameters: &[
        Parameter::noise("sigma"),
        Parameter::number("beta", &[]),
        Parameter::number("step", &[]),
        Parameter::number("width", &[]),
        Parameter::number("neighbor_width", &[]),
    ],
    releases: Some("a number with Gaussian noise in proportion to its smooth sensitivity, for one pair of datasets"),
    theorems: &[&OF_GNSS],
    // Its widths distinguish the datasets for any noise.
    noise_hides: false,
    read: |parameters| {
        let release = SmoothRelease { sigma: parameters.scale("sigma")?, beta: parameters.not_negative("beta")? };
        let (width, neighbor_width) = (parameters.scale("width")?, parameters.scale("neighbor_width")?);
        Ok(Arc::new(SmoothPair::new(release, parameters.number("step")?, width, neighbor_width)?))
    },
    draw_data: draw::no_record,
    draw: |stream, _| Some(Arc::new(draw_pair(stream)?)),
};

/// A pair of datasets whose number is released with noise proportional to its smooth sensitivity.
///
/// ```
/// # use leakbound::mechanism::{SmoothPair, SmoothRelease};
/// # use leakbound::quantity::NoiseScale;
/// let release = SmoothRelease { sigma: NoiseScale::new(5.0)?, beta: 0.02 };
/// let width = |value| NoiseScale::new(value);
/// assert!(SmoothPair::new(release, 0.98, width(1.0)?, width(0.981)?).is_ok());
/// // Smooth sensitivity cannot fall by a tenth from one dataset to its neighbor.
/// assert!(SmoothPair::new(release, 0.5, width(1.0)?, width(0.9)?).is_err());
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SmoothPair {
    release: SmoothRelease,
    step: f64,
    width: NoiseScale,
    neighbor_width: NoiseScale,
}

/// A peak farther out does not count.
const FARTHEST: f64 = 1e6;
/// If there is no peak, each edge is farther out than the previous one by this factor, up to the last.
const GROWTH: f64 = 1.06;
const LAST: f64 = 1e4;
/// Edges closer than this, in units of the first distribution, have nothing between them.
const CLOSE: f64 = 0.02;
/// Tolerance for rounding of a width at the edge of the allowed range.
const ROUNDING: f64 = 1e-12;

impl SmoothPair {
    /// With the step |f(D) - f(D')| and the smooth sensitivities of D and D'.
    ///
    /// # Errors
    /// [`Error::Rejected`] for a step or widths that are impossible for any function and dataset: |ln width ratio| is
    /// at most β, and the step at most the smaller width.
    pub fn new(release: SmoothRelease, step: f64, width: NoiseScale, neighbor_width: NoiseScale) -> Result<Self> {
        let (beta, wide, neighbor_wide) = (release.beta, width.get(), neighbor_width.get());
        required((0.0..f64::INFINITY).contains(&beta), format_args!("beta = {beta} is not in [0, inf)"))?;
        let reason = format_args!("widths {wide} and {neighbor_wide} differ by a factor of more than e^{beta}");
        required((neighbor_wide / wide).ln().abs() <= beta + ROUNDING, reason)?;
        let most = wide.min(neighbor_wide);
        let reason = format_args!("step = {step} is not in [0, {most}], the smaller width");
        required(step >= 0.0 && step <= most * (1.0 + ROUNDING), reason)?;
        Ok(Self { release, step, width, neighbor_width })
    }

    /// The release that this pair belongs to.
    #[must_use]
    pub const fn release(&self) -> SmoothRelease {
        self.release
    }

    /// Bins that resolve D_α in both directions.
    fn binned(self, bins: Bins) -> Result<Binned> {
        let Self { release: SmoothRelease { sigma, beta }, step, width, neighbor_width } = self;
        // Rounding beyond the edge is undone.
        let ratio = (neighbor_width.get() / width.get()).clamp(libm::exp(-beta), libm::exp(beta));
        let mean = (step / width.get()).min(ratio).min(1.0) / sigma.get();
        let edges = edges(mean, ratio, bins.order.map_or(1.0, Order::get), bins.count)?;
        let neighbor = Normal { mean, deviation: ratio };
        Ok(Binned { edges, outputs: [Box::new(Normal::at(0.0)), Box::new(neighbor)], limits: None })
    }
}

/// Edges around the peaks of both distributions and of p^α q^{1-α} in both directions.
fn edges(mean: f64, ratio: f64, a: f64, bins: usize) -> Result<Vec<f64>> {
    let precision = ratio.powi(-2);
    let mut all = vec![0.0, mean];
    // (precision, precision times peak)
    let peaks = [
        (1.0, 0.0),
        (precision, precision * mean),
        (a + (1.0 - a) * precision, (1.0 - a) * precision * mean),
        (1.0 - a + a * precision, a * precision * mean),
    ];
    for (precision, weighted) in peaks {
        let (peak, width) = (weighted / precision, precision.sqrt().recip());
        if precision > 0.0 && peak.abs() + REACH * width < FARTHEST {
            let step = 2.0 * REACH / bins as f64;
            all.extend((0..=bins).map(|i| peak + width * (step * i as f64 - REACH)));
        } else {
            let far = std::iter::successors(Some(REACH), |edge| Some(edge * GROWTH)).take_while(|edge| *edge < LAST);
            // Fewer if there are fewer of the others.
            let far: Vec<f64> = far.step_by(Bins::MANY.div_ceil(bins.max(1))).collect();
            all.extend(far.iter().flat_map(|edge| [mean - edge, mean + edge]));
        }
    }
    if let Some(&value) = all.iter().find(|edge| !(edge.abs() < 1e8)) {
        return Err(Error::Domain { quantity: "place of a bin", value, domain: "(-1e8, 1e8)" });
    }
    Ok(apart(all, CLOSE))
}

/// Pairs at the edges of the range allowed by smooth sensitivity, and inside it.
fn draw_pair(stream: &mut ChaCha8Rng) -> Option<SmoothPair> {
    let sigma = draw::scale(stream)?;
    let beta = if stream.random_bool(0.3) {
        *draw::pick(stream, &[0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5])
    } else {
        draw::between(stream, 1e-5, 2.0)
    };
    let width = if stream.random_bool(0.5) { 1.0 } else { draw::between(stream, 0.01, 100.0) };
    let side =
        if stream.random_bool(0.7) { *draw::pick(stream, &[-1.0, -1.0, 1.0]) } else { stream.random_range(-1.0..1.0) };
    let neighbor_width = width * libm::exp(side * beta);
    let share = if stream.random_bool(0.7) { 1.0 } else { *draw::pick(stream, &[0.0, 0.1, 0.5]) };
    let step = share * width.min(neighbor_width);
    let (width, neighbor_width) = (NoiseScale::new(width).ok()?, NoiseScale::new(neighbor_width).ok()?);
    SmoothPair::new(SmoothRelease { sigma, beta }, step, width, neighbor_width).ok()
}

impl Mechanism for SmoothPair {
    fn kind(&self) -> &'static MechanismKind {
        GNSS
    }

    fn parameters(&self) -> Parameters {
        let release = Parameters::default().with("sigma", self.release.sigma.get()).with("beta", self.release.beta);
        let pair = release.with("step", self.step).with("width", self.width.get());
        pair.with("neighbor_width", self.neighbor_width.get())
    }

    fn theorems_for(&self, _: &VoteHistogram, _: &WorstCases) -> Vec<Theorem> {
        self.release.theorems().to_vec()
    }

    fn largest_loss(&self, _: &VoteHistogram) -> LargestLoss {
        LargestLoss::Unbounded
    }

    fn output_distribution(&self, data: &VoteHistogram, bins: Bins) -> Result<OutcomeDistribution> {
        self.binned(bins)?.distribution(data)
    }

    fn sampler(&self, data: &VoteHistogram, neighbor: &VoteHistogram, bins: Bins) -> Result<Box<dyn Sampler>> {
        self.binned(bins)?.sampler(data, neighbor)
    }

    /// Pairs with rounder numbers; impossible ones are left out.
    fn simpler(&self) -> Vec<Arc<dyn Mechanism>> {
        let Self { release: SmoothRelease { sigma, beta }, step, width, neighbor_width } = *self;
        let (width, neighbor_width) = (width.get(), neighbor_width.get());
        let with = |beta: f64, step: f64, width: f64, neighbor_width: f64| -> Option<Arc<dyn Mechanism>> {
            let (width, neighbor_width) = (NoiseScale::new(width).ok()?, NoiseScale::new(neighbor_width).ok()?);
            Some(Arc::new(Self::new(SmoothRelease { sigma, beta }, step, width, neighbor_width).ok()?))
        };
        // Only the ratios matter.
        let mut all = vec![with(beta, step / width, 1.0, neighbor_width / width)];
        for beta in rounder(beta, &[0.0, 0.1, 0.01, 1.0]) {
            let nearest = neighbor_width.clamp(width * libm::exp(-beta), width * libm::exp(beta));
            let step = step.min(width).min(nearest);
            all.extend([with(beta, step, width, neighbor_width), with(beta, step, width, nearest)]);
        }
        let most = width.min(neighbor_width);
        all.extend(rounder(step, &[most, 0.0]).into_iter().map(|step| with(beta, step, width, neighbor_width)));
        for neighbor_width in rounder(neighbor_width, &[width]) {
            let shorter = step.min(neighbor_width);
            all.extend([with(beta, step, width, neighbor_width), with(beta, shorter, width, neighbor_width)]);
        }
        all.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::Direction;
    use crate::distribution::OutputPair;
    use crate::quantity::Epsilon;

    /// The pair with the widths 3 and 3r, r = e^{side β}, and this share of the largest step.
    fn pair(sigma: f64, beta: f64, side: f64, share: f64, order: Option<Order>) -> OutputPair {
        let scale = |value: f64| NoiseScale::new(value).unwrap();
        let ratio = libm::exp(side * beta);
        let release = SmoothRelease { sigma: scale(sigma), beta };
        let pair = SmoothPair::new(release, 3.0 * share * ratio.min(1.0), scale(3.0), scale(3.0 * ratio)).unwrap();
        let [data, neighbor] = [0, 1].map(|count| VoteHistogram::new(vec![count]).unwrap());
        (&pair as &dyn Mechanism).output_pair(&data, &neighbor, Bins::at(order)).unwrap()
    }

    /// D_α(N(0, 1) ‖ N(m, r²)) by Gil, Alajaji and Linder (2013), Table 2.
    fn closed_form(a: f64, m: f64, r: f64) -> f64 {
        let mixed = (1.0 - a) + a * r * r;
        if mixed <= 0.0 {
            return f64::INFINITY;
        }
        0.5 * a * m * m / mixed + (0.5 * mixed.ln() - a * r.ln()) / (1.0 - a)
    }

    #[test]
    fn binned_divergences_are_just_below_those_of_normal_distributions() {
        let mut least: f64 = 1.0;
        for (sigma, beta) in [(5.0, 0.02), (1.0, 0.3), (0.2, 0.05), (300.0, 1e-3), (40.0, 0.0)] {
            for (side, share) in [(-1.0, 1.0), (1.0, 1.0), (0.5, 0.0), (0.0, 1.0)] {
                let (r, m) = (libm::exp(side * beta), share * libm::exp(side * beta).min(1.0) / sigma);
                for a in [1.001, 1.5, 2.0, 8.0, 20.0, 300.0] {
                    let order = Order::new(a).unwrap();
                    let pair = pair(sigma, beta, side, share, Some(order));
                    let truths = [closed_form(a, m, r), closed_form(a, m / r, 1.0 / r)];
                    for (direction, truth) in Direction::BOTH.into_iter().zip(truths) {
                        let found = pair.renyi(direction, order);
                        assert!(
                            found <= truth * (1.0 + 1e-9) + 1e-15,
                            "{sigma} {beta} {side} {share} {a}: {found} {truth}"
                        );
                        let bound = gnss_rdp(order, beta, NoiseScale::new(sigma).unwrap());
                        assert!(
                            found <= bound * (1.0 + 1e-9) + 1e-15,
                            "{sigma} {beta} {side} {share} {a}: {found} {bound}"
                        );
                        if truth == f64::INFINITY {
                            assert!(found > 1e3, "{sigma} {beta} {side} {share} {a}: {found}");
                        } else if truth > 1e-12 {
                            least = least.min(found / truth);
                            assert!(found >= 0.9 * truth, "{sigma} {beta} {side} {share} {a}: {found} {truth}");
                        }
                    }
                }
            }
        }
        println!("{least}");
    }

    /// ∫ max(0, p - e^ε q) by the midpoint rule.
    #[test]
    fn binned_profiles_are_just_below_those_of_normal_distributions() {
        for (sigma, beta, side, epsilon) in [(1.0, 0.3, -1.0, 0.5), (5.0, 0.02, 1.0, 0.1), (2.0, 0.5, 1.0, 0.0)] {
            let (r, m) = (libm::exp(side * beta), libm::exp(side * beta).min(1.0) / sigma);
            let density = |x: f64, s: f64| libm::exp(-0.5 * x * x / s / s) / s / (2.0 * std::f64::consts::PI).sqrt();
            let excess = |x: f64| (density(x, 1.0) - libm::exp(epsilon) * density(x - m, r)).max(0.0);
            let truth: f64 = (-100_000..100_000).map(|i| 1e-4 * excess(1e-4 * (f64::from(i) + 0.5))).sum();
            let found = pair(sigma, beta, side, 1.0, None).delta(Direction::Forward, Epsilon::new(epsilon).unwrap());
            assert!(found <= truth * (1.0 + 1e-6) && found >= 0.98 * truth, "{sigma} {beta}: {found} {truth}");
        }
    }
}
