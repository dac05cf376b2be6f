//! Any mechanism of one record, on a Poisson subsample.

use super::binned::record;
use super::wrapped::{CELLS, OF, SeldomSampler, base_of, drawn_of, mixed, of_subsample};
use super::{
    Bins, BothLosses, DISCRETE_GAUSSIAN, DISCRETE_LAPLACE, DataKind, GAUSSIAN, LAPLACE, LargestLoss, Mechanism,
    MechanismKind, Parameter, Parameters, draw,
};
use crate::accountant::{Statement, Theorem, WorstCases, rdp_of_loss, subsampled_gaussian_rdp};
use crate::bound::outward::up;
use crate::distribution::OutcomeDistribution;
use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::quantity::{NoiseScale, Order, Probability};
use crate::simulate::Sampler;
use std::sync::{Arc, OnceLock};

/// A mechanism of one record that is added or removed, on a Poisson subsample.
///
/// With P the outputs with the record and Q those without, the outputs are (1-q) Q + q P with the record and Q without
/// (given the other records of the subsample; hockey-stick divergences are jointly convex). If P against Q is the worst
/// pair of the mechanism, as for noise on a count, this is the worst pair of the subsample, in each direction
/// separately.
///
/// ```
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::mechanism::parse;
/// let [without, with] = [vec![0], vec![1]].map(|count| VoteHistogram::new(count).unwrap());
/// let subsampled = parse("poisson:rate=0.01,of=[laplace:sigma=1]")?;
/// assert_eq!(subsampled.to_string(), "poisson:rate=0.01,of=[laplace:sigma=1]");
/// let [_, added] = subsampled.enclosed_losses(&without, &with, 100)?;
/// assert!((added.at_most.largest() - (0.99 + 0.01 * 1f64.exp()).ln()).abs() < 1e-12);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Zhu, Dong and Wang (2022), "Optimal accounting of differential privacy via characteristic function", Theorem 11.
#[derive(Debug, Clone)]
pub struct PoissonSubsample {
    rate: Probability,
    base: Arc<dyn Mechanism>,
}

/// A mechanism of one record, on a Poisson subsample.
pub const POISSON: &MechanismKind = &MechanismKind {
    name: "poisson",
    example: "poisson:rate=0.01,of=[laplace:sigma=2]",
    data: DataKind::OneRecord,
    parameters: &[Parameter::number("rate", &[0.5, 0.1]), Parameter::word(OF)],
    releases: Some("a mechanism of one record on a Poisson subsample"),
    theorems: &[&SUBSAMPLED],
    noise_hides: false,
    read: |parameters| {
        let rate = parameters.probability("rate")?;
        Ok(Arc::new(PoissonSubsample { rate, base: base_of(parameters, DataKind::OneRecord)? }))
    },
    draw_data: draw::no_record,
    draw: |stream, _| {
        let rate = draw::rate(stream)?;
        let base = drawn_of(&[LAPLACE, DISCRETE_LAPLACE, GAUSSIAN, DISCRETE_GAUSSIAN], stream)?;
        Some(Arc::new(PoissonSubsample { rate, base }))
    },
};

static SUBSAMPLED: Statement = Statement::for_any_data(
    "poisson",
    "any mechanism of one record on a Poisson subsample",
    "Zhu, Dong and Wang (2022), Theorem 11, by the moments of the privacy loss, and leakbound, poisson_subsampled_rdp",
)
.certified(1e-3);

impl PoissonSubsample {
    /// The probability that the record is in the subsample.
    #[must_use]
    pub const fn rate(&self) -> Probability {
        self.rate
    }

    /// The mechanism that runs on the subsample.
    #[must_use]
    pub fn base(&self) -> &dyn Mechanism {
        &*self.base
    }

    /// The larger divergence of both directions. For a mechanism whose worst pair is Gaussian noise: that of the
    /// subsampled Gaussian mechanism. For others, the smallest of the following: that of the losses as enclosed from
    /// above; the consequence of the mechanism's theorems by Minkowski's inequality; and, for Gaussian noise on the
    /// integers, the bound from whole orders.
    fn theorem(&self, known: &WorstCases) -> Option<Theorem> {
        let [without, with] = [0, 1].map(|count| VoteHistogram::new(vec![count]).ok());
        let (without, with, mechanism) = (without?, with?, self.clone());
        let theorems = self.base.theorems_for(&without, known);
        if let Some(sigma) = self.base.gaussian_mu().and_then(|mu| NoiseScale::new(mu.recip()).ok()) {
            return Some(Theorem::alike(&SUBSAMPLED, move |order| {
                subsampled_gaussian_rdp(order, mechanism.rate, sigma, 1.0)
            }));
        }
        let sigma = self.base.gaussian_moments().and_then(|mu| NoiseScale::new(mu.recip()).ok());
        let losses: OnceLock<Option<BothLosses>> = OnceLock::new();
        Some(Theorem::alike(&SUBSAMPLED, move |order| {
            let losses = losses.get_or_init(|| mechanism.enclosed_losses(&without, &with, CELLS).ok());
            let bound = |order: Order| {
                let whole = sigma.map_or(f64::INFINITY, |sigma| between_whole_orders(order, mechanism.rate, sigma));
                of_subsample(&theorems, mechanism.rate, order).min(whole)
            };
            let moments = losses.as_ref().map_or(f64::INFINITY, |losses| largest(order, losses, &bound));
            moments.min(bound(order))
        }))
    }
}

/// D_α of a Poisson subsample of outputs with the moments of Gaussian noise at whole orders. At those orders
/// ```text
/// E_Q (1 - γ + γ P/Q)^n = Σ_k (n choose k) (1-γ)^{n-k} γ^k E_Q (P/Q)^k
/// ```
/// equals that of the subsampled Gaussian, and is at least that of the other direction, because a map exchanges P and Q
/// (Mironov, Talwar and Zhang 2019, Theorem 5). Between whole orders (α-1) D_α, a logarithm of moments, is convex: it
/// is at most on the chord, which starts at 0 for order 1. Rounded up.
fn between_whole_orders(order: Order, rate: Probability, sigma: NoiseScale) -> f64 {
    let (a, low) = (order.get(), order.get().floor());
    let of_whole = |n: f64| {
        let rdp = |order| (n - 1.0) * subsampled_gaussian_rdp(order, rate, sigma, 1.0);
        Order::new(n).map_or(0.0, rdp)
    };
    let share = a - low;
    let chord = if share == 0.0 { of_whole(low) } else { (1.0 - share) * of_whole(low) + share * of_whole(low + 1.0) };
    up(chord / (a - 1.0), 8.0)
}

fn largest(order: Order, losses: &BothLosses, bound: &dyn Fn(Order) -> f64) -> f64 {
    losses.iter().map(|loss| rdp_of_loss(order, &loss.at_most, bound)).fold(0.0, f64::max)
}

impl Mechanism for PoissonSubsample {
    fn kind(&self) -> &'static MechanismKind {
        POISSON
    }

    fn parameters(&self) -> Parameters {
        Parameters::default().with("rate", self.rate.get()).with_word(OF, &self.base.to_string())
    }

    fn is_of_added_records(&self) -> bool {
        true
    }

    fn theorems_for(&self, _: &VoteHistogram, known: &WorstCases) -> Vec<Theorem> {
        self.theorem(known).into_iter().collect()
    }

    fn largest_loss(&self, data: &VoteHistogram) -> LargestLoss {
        self.base.largest_loss(data).of_subsample(self.rate)
    }

    fn output_distribution(&self, data: &VoteHistogram, bins: Bins) -> Result<OutcomeDistribution> {
        let absent = self.base.output_distribution(&VoteHistogram::new(vec![0])?, bins)?;
        if record(data)? == 0 {
            return Ok(absent);
        }
        mixed(&absent, &self.base.output_distribution(data, bins)?, self.rate)
    }

    fn sampler(&self, data: &VoteHistogram, neighbor: &VoteHistogram, bins: Bins) -> Result<Box<dyn Sampler>> {
        let without = VoteHistogram::new(vec![0])?;
        let worlds = [self.base.sampler(&without, data, bins)?, self.base.sampler(&without, neighbor, bins)?];
        Ok(Box::new(SeldomSampler { worlds, rate: self.rate.get() }))
    }

    fn enclosed_losses(&self, data: &VoteHistogram, neighbor: &VoteHistogram, bins: usize) -> Result<BothLosses> {
        let losses = self.base.enclosed_losses(data, neighbor, bins)?;
        let [forward, reverse] = &losses;
        Ok(match [record(data)?, record(neighbor)?] {
            [0, 1] => [forward.against_seldom(self.rate), reverse.with_seldom(self.rate)],
            [1, 0] => [forward.with_seldom(self.rate), reverse.against_seldom(self.rate)],
            _ => losses,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::super::tests::{epsilons, records};
    use super::*;
    use crate::bound::Direction;
    use crate::quantity::Delta;

    /// A subsample of Gaussian noise has a separate mechanism, which shares no code with this.
    #[test]
    fn gaussian_noise_on_a_subsample_is_the_subsampled_gaussian() {
        let [without, with] = records();
        let delta = Delta::new(1e-6).unwrap();
        let composed = |text: &str| {
            let losses = parse(text).unwrap().enclosed_losses(&without, &with, 1500).unwrap();
            losses.map(|loss| epsilons(loss, 50, delta))
        };
        let ours = composed("poisson:rate=0.05,of=[gaussian:sigma=0.9]");
        let other = composed("subsampled-gaussian:sigma=0.9,rate=0.05");
        for (ours, other) in ours.into_iter().zip(other) {
            assert!(ours[0] <= other[1] && other[0] <= ours[1] && ours[1] < 1.002 * ours[0], "{ours:?} {other:?}");
        }
    }

    /// Laplace noise: the divergence of the subsample by a sum over a fine grid.
    #[test]
    fn the_theorem_of_laplace_noise_is_the_divergence_of_the_mixture() {
        let [without, with] = records();
        let (scale, rate): (f64, f64) = (0.7, 0.2);
        let density = |x: f64| libm::exp(-x.abs() / scale) / (2.0 * scale);
        let step = 1e-4;
        for a in [1.5, 2.0, 6.0] {
            let (mut added, mut removed) = (0.0, 0.0);
            for i in -160_000..=170_000 {
                let x = step * (f64::from(i) + 0.5);
                let (q, p) = (density(x), density(x - 1.0));
                let mixture = (1.0 - rate) * q + rate * p;
                added += step * libm::pow(mixture / q, a) * q;
                removed += step * libm::pow(q / mixture, a) * mixture;
            }
            let expected = added.max(removed).ln() / (a - 1.0);
            let mechanism = parse(&format!("poisson:rate={rate},of=[laplace:sigma={scale}]")).unwrap();
            let order = Order::new(a).unwrap();
            let theorems = mechanism.theorems_for(&without, &WorstCases::default());
            let bound = theorems[0].at(order, Direction::Forward).unwrap().value;
            assert!(bound >= expected * (1.0 - 1e-7) && bound < expected * (1.0 + 1e-4), "{a}: {bound} {expected}");
            let pair = mechanism.output_pair(&without, &with, Bins::at(Some(order))).unwrap();
            let exact = Direction::BOTH.map(|direction| pair.renyi(direction, order)).into_iter().fold(0.0, f64::max);
            assert!(exact <= bound && exact > 0.999 * bound, "{a}: {exact} {bound}");
        }
    }

    /// Noise on the integers: the divergence of the subsample summed over them.
    #[test]
    fn the_theorem_of_discrete_gaussian_noise_is_the_sum_over_the_integers() {
        let [without, _] = records();
        for (sigma, rate) in [(0.4f64, 0.3), (1.0, 0.01), (3.0, 0.5)] {
            let term = |z: f64| libm::exp(-0.5 * z * z / (sigma * sigma));
            let total: f64 = (-60..=60).map(|z| term(f64::from(z))).sum();
            let mechanism = parse(&format!("poisson:rate={rate},of=[discrete-gaussian:sigma={sigma}]")).unwrap();
            let theorems = mechanism.theorems_for(&without, &WorstCases::default());
            for a in [1.2, 2.0, 2.5, 3.0, 7.3, 12.0] {
                let (mut added, mut removed) = (0.0, 0.0);
                for z in (-60..=60).map(f64::from) {
                    // In logarithms, because a power of the ratio may overflow.
                    let ln_q = -0.5 * z * z / (sigma * sigma) - total.ln();
                    let ln_mixture = (1.0 - rate + rate * libm::exp((z - 0.5) / (sigma * sigma))).ln();
                    added += libm::exp(ln_q + a * ln_mixture);
                    removed += libm::exp(ln_q + (1.0 - a) * ln_mixture);
                }
                let expected = added.max(removed).ln() / (a - 1.0);
                let bound = theorems[0].at(Order::new(a).unwrap(), Direction::Forward).unwrap().value;
                assert!(bound >= expected * (1.0 - 1e-9) - 1e-13, "{sigma} {rate} {a}: {bound} {expected}");
                let close = if a.fract() == 0.0 { 1.0 + 1e-9 } else { 1.01 };
                assert!(bound <= expected * close + 1e-13, "{sigma} {rate} {a}: {bound} {expected}");
            }
        }
    }

    /// If probabilities leave the range of doubles, the bound must not jump: at order 262 the relevant outputs are 52
    /// standard deviations out.
    #[test]
    fn the_theorem_does_not_jump_where_doubles_end() {
        let [without, _] = records();
        for text in [
            "poisson:rate=0.0012,of=[discrete-gaussian:sigma=5]",
            "poisson:rate=0.0002,of=[gaussian:sigma=5]",
            "poisson:rate=0.001,of=[laplace:sigma=0.2]",
        ] {
            let theorems = parse(text).unwrap().theorems_for(&without, &WorstCases::default());
            let at = |a: f64| (a - 1.0) * theorems[0].at(Order::new(a).unwrap(), Direction::Forward).unwrap().value;
            for a in (1..80).map(|i| 2.0 + 10.0 * f64::from(i)) {
                let [low, middle, high] = [at(a - 5.0), at(a), at(a + 5.0)];
                assert!(middle <= 0.5 * (low + high) * (1.0 + 1e-3), "{text} {a}: {low} {middle} {high}");
            }
        }
    }

    /// At this order the relevant outputs are 50 standard deviations out, with a probability that underflows.
    #[test]
    fn no_tail_below_the_doubles_is_forgotten() {
        let [without, with] = records();
        let mechanism = parse("poisson:rate=0.004,of=[gaussian:sigma=2]").unwrap();
        let order = Order::new(100.0).unwrap();
        let pair = mechanism.output_pair(&without, &with, Bins::at(Some(order))).unwrap();
        let bound = mechanism.theorems_for(&without, &WorstCases::default())[0].at(order, Direction::Forward);
        assert!(pair.renyi(Direction::Reverse, order) <= bound.unwrap().value);
    }

    #[test]
    fn what_has_no_subsample_is_rejected_in_one_line() {
        for (text, words) in [
            ("poisson:rate=0.1", "of is missing"),
            ("poisson:rate=2,of=[laplace:sigma=1]", "rate: "),
            ("poisson:rate=0.1,of=[laplace:sigma=0]", "sigma: noise scale = 0"),
            ("poisson:rate=0.1,of=3", "of: `3` is not a word"),
            ("poisson:rate=0.1,of=[gnmax:sigma=1]", "of = gnmax is not one of the mechanisms with one record"),
            ("poisson:rate=0.1,of=[poisson:rate=0.1,of=[laplace:sigma=1]]", "a mechanism of a mechanism"),
            ("poisson:rate=0.1,of=[poisson:rate=0.1,of=laplace:sigma=1]", "a mechanism of a mechanism"),
            ("poisson:rate=0.1,of=[laplace:sigma=1", "a bracket is not closed"),
            ("poisson:rate=0.1,of=laplace:sigma=1]", "a bracket is not opened"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(words) && !error.contains('\n'), "{text}: {error}");
        }
        let same = ["poisson:rate=0.1,of=laplace:sigma=1", "poisson: rate=0.1, of=[ laplace:sigma=1.0 ]"];
        for text in same {
            assert_eq!(parse(text).unwrap().to_string(), "poisson:rate=0.1,of=[laplace:sigma=1]");
        }
    }
}
