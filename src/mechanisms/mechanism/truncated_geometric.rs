//! A count with discrete Laplace noise, cut off at 0 and at a limit.

use super::binned::record;
use super::discrete_noise::discrete_laplace;
use super::draw::pick;
use super::one_by_one::one_by_one;
use super::pure::{finite, pure_rdp};
use super::{Bins, BothLosses, DataKind, LargestLoss, Mechanism, MechanismKind, Parameter, Parameters, draw};
use crate::accountant::{Statement, Theorem, WorstCases};
use crate::distribution::{OutcomeDistribution, OutputPair};
use crate::divergence::EnclosedLoss;
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::quadrature::LogIntegral;
use crate::quantity::NoiseScale;
use crate::simulate::Sampler;
use crate::special::softplus;
use rand::RngExt;
use std::sync::Arc;

/// Outputs are listed up to this limit; beyond it there are two, which are equivalent.
const MOST_LISTED: u64 = 100;
/// Whole numbers up to this are exact doubles.
const MOST: u64 = 1 << 53;

/// A count with discrete Laplace noise, where values below 0 are printed as 0 and values above n as n. One record
/// increases a count of `count` by one.
///
/// Let c be the count without the record, r = e^{-1/σ}, and y the noisy count before it is cut off. The ratio of its
/// probabilities without and with the record is 1/r for every y ≤ c and r for every y ≥ c + 1.
///
/// *For c < n cutting off hides nothing.* All y ≤ 0 are printed as 0, and all of them are at most c; all y ≥ n are
/// printed as n, and all of them are at least c + 1. So only outputs of the same ratio are merged, and every divergence
/// is that of discrete Laplace noise: randomized response with ε = 1/σ.
///
/// *For c ≥ n it hides much.* With m = c - n, n is printed for all y ≥ n, on both sides of c. Every smaller output has
/// the ratio 1/r, so only whether n is printed matters: it is not printed with probability r^{m+1}/(1+r) without the
/// record, and r^{m+2}/(1+r) with it.
///
/// ```
/// # use leakbound::bound::Direction;
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::mechanism::{Bins, parse};
/// # use leakbound::quantity::Order;
/// let order = Order::new(2.0)?;
/// let [without, with] = [vec![0], vec![1]].map(|count| VoteHistogram::new(count).unwrap());
/// let renyi = |text: &str| {
///     parse(text).unwrap().output_pair(&without, &with, Bins::at(None)).unwrap().renyi(Direction::Forward, order)
/// };
/// let whole = renyi("discrete-laplace:sigma=2");
/// assert!((renyi("truncated-geometric:sigma=2,count=4,limit=5") / whole - 1.0).abs() < 1e-13);
/// assert!(renyi("truncated-geometric:sigma=2,count=7,limit=5") < 0.3 * whole);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Ghosh, Roughgarden and Sundararajan (2009), "Universally utility-maximizing privacy mechanisms".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TruncatedGeometric {
    sigma: NoiseScale,
    /// Without the record.
    count: u64,
    /// The largest output.
    limit: u64,
}

/// A count with discrete Laplace noise between 0 and a limit.
pub const TRUNCATED_GEOMETRIC: &MechanismKind = &MechanismKind {
    name: "truncated-geometric",
    example: "truncated-geometric:sigma=1,count=3,limit=10",
    data: DataKind::OneRecord,
    parameters: &[
        Parameter::noise("sigma"),
        Parameter::number("count", &[0.0, 1.0, 2.0]),
        Parameter::number("limit", &[1.0, 2.0, 3.0]),
    ],
    releases: Some(
        "a count, `count` without the record, with the noise of `discrete-laplace`; what is below 0 is released as 0, \
         what is above `limit` as `limit`",
    ),
    theorems: &[&ANY_COUNT, &THIS_COUNT],
    // Pure 1/σ: D_α <= α/(2σ²).
    noise_hides: true,
    read: |parameters| {
        Ok(Arc::new(TruncatedGeometric {
            sigma: parameters.scale("sigma")?,
            count: parameters.whole("count", [0, MOST])?,
            limit: parameters.whole("limit", [1, MOST])?,
        }))
    },
    draw_data: draw::no_record,
    draw: |stream, _| {
        let limit = *pick(stream, &[1, 1, 2, 3, 5, 20, 100, 101, 1_000_000]);
        let count = match stream.random_range(0..4u32) {
            0 => limit - 1,
            1 => limit + stream.random_range(0..3),
            _ => stream.random_range(0..limit),
        };
        Some(Arc::new(TruncatedGeometric { sigma: draw::scale(stream)?, count, limit }))
    },
};

static ANY_COUNT: Statement = Statement::for_any_data(
    "truncated-geometric",
    "a count with geometric noise, cut to a range",
    "Ghosh, Roughgarden and Sundararajan (2009), the mechanism, with Mironov (2017), Proposition 5",
);
static THIS_COUNT: Statement = Statement::for_these_data(
    "truncated-geometric-count",
    "the same for one known count",
    "leakbound, the two outputs that say all of TruncatedGeometric, rounded up",
);

impl TruncatedGeometric {
    /// The theorem for any count, and the one for the given count, which is smaller unless that is below the limit.
    #[must_use]
    pub fn theorems(&self) -> Vec<Theorem> {
        let Some(epsilon) = finite(self.sigma.get().recip()) else { return Vec::new() };
        let any = move |order| pure_rdp(order, epsilon);
        let mut all = vec![Theorem::alike(&ANY_COUNT, any)];
        let two = [0, 1].map(|record| self.two_outputs(self.count + record));
        let pair = two.map(|rows| OutcomeDistribution::from_integrals(&rows).ok());
        if self.is_finite()
            && let [Some(without), Some(with)] = pair
            && let Ok(pair) = OutputPair::new(without, with)
        {
            let inside = self.count < self.limit;
            all.push(Theorem::new(&THIS_COUNT, move |order, direction| {
                if inside { any(order) } else { pair.renyi_up(direction, order).min(any(order)) }
            }));
        }
        all
    }

    /// ln P(noise ≥ k) = ln(r^k/(1+r)) for k ≥ 1, and from the complement for others.
    fn at_least(self, k: f64) -> LogIntegral {
        let e = self.sigma.get().recip();
        let ln_both = softplus(-e);
        if k >= 1.0 {
            return row(-k * e - ln_both, k * e);
        }
        // 1 - r^{1-k}/(1+r) = (1 + r (1 - r^{-k}))/(1+r).
        row(libm::log1p(-libm::exp(-e) * libm::expm1(k * e)) - ln_both, 0.0)
    }

    /// Whether the output is above the count without the record; for counts from the limit on, whether it is the limit.
    fn two_outputs(self, count: u64) -> [LogIntegral; 2] {
        let threshold = (self.count + 1).min(self.limit);
        let distance = threshold as f64 - count as f64;
        // The noise is symmetric: below the threshold is at least its mirror image.
        [self.at_least(1.0 - distance), self.at_least(distance)]
    }

    /// All outputs.
    fn outputs(self, count: u64) -> Vec<LogIntegral> {
        let (e, limit) = (self.sigma.get().recip(), self.limit as f64);
        let ln_share = (-libm::expm1(-e)).ln() - softplus(-e);
        let single = |output: u64| {
            let distance = (output as f64 - count as f64).abs() * e;
            row(ln_share - distance, distance + ln_share.abs())
        };
        let first = std::iter::once(self.at_least(count as f64));
        let last = std::iter::once(self.at_least(limit - count as f64));
        first.chain((1..self.limit).map(single)).chain(last).collect()
    }

    /// Whether the logarithms of all probabilities are finite.
    fn is_finite(self) -> bool {
        ((self.count.max(self.limit) + 2) as f64 * self.sigma.get().recip()).is_finite()
    }

    fn count_of(self, data: &VoteHistogram) -> Result<u64> {
        let legal = self.is_finite();
        Error::check_domain(legal, "scale of discrete Laplace noise", self.sigma.get(), "(count/1e308, inf)")?;
        Ok(self.count + record(data)? as u64)
    }
}

/// A logarithm with its rounding error, for terms of a given size.
fn row(ln_value: f64, size: f64) -> LogIntegral {
    LogIntegral { ln_value, error: 8.0 * f64::EPSILON * (1.0 + ln_value.abs() + size) }
}

impl Mechanism for TruncatedGeometric {
    fn kind(&self) -> &'static MechanismKind {
        TRUNCATED_GEOMETRIC
    }

    fn parameters(&self) -> Parameters {
        let parameters = Parameters::default().with("sigma", self.sigma.get());
        parameters.with("count", self.count as f64).with("limit", self.limit as f64)
    }

    fn theorems_for(&self, _: &VoteHistogram, _: &WorstCases) -> Vec<Theorem> {
        self.theorems()
    }

    fn largest_loss(&self, _: &VoteHistogram) -> LargestLoss {
        LargestLoss::over(1.0, self.sigma)
    }

    fn output_distribution(&self, data: &VoteHistogram, _: Bins) -> Result<OutcomeDistribution> {
        let count = self.count_of(data)?;
        if self.limit <= MOST_LISTED {
            return OutcomeDistribution::from_integrals(&self.outputs(count));
        }
        OutcomeDistribution::from_integrals(&self.two_outputs(count))
    }

    fn sampler(&self, data: &VoteHistogram, neighbor: &VoteHistogram, _: Bins) -> Result<Box<dyn Sampler>> {
        let counts = [self.count_of(data)?, self.count_of(neighbor)?];
        let Self { sigma, count, limit } = *self;
        let listed = limit <= MOST_LISTED;
        Ok(one_by_one(if listed { limit as usize + 1 } else { 2 }, move |world, stream| {
            let noisy = counts[world.index()] as f64 + discrete_laplace(sigma.get(), stream);
            let output = noisy.clamp(0.0, limit as f64);
            if listed { output as usize } else { usize::from(output > count as f64 || output == limit as f64) }
        }))
    }

    /// At least the losses of this count, at most those of any count: of one below the limit.
    fn enclosed_losses(&self, data: &VoteHistogram, neighbor: &VoteHistogram, _: usize) -> Result<BothLosses> {
        let below_limit = Self { count: 0, ..*self };
        let [own, any] = [self, &below_limit].map(|of| (of as &dyn Mechanism).known_losses(data, neighbor));
        let ([forward, reverse], [any_forward, any_reverse]) = (own?, any?);
        Ok([
            EnclosedLoss { at_least: forward.at_least, ..any_forward },
            EnclosedLoss { at_least: reverse.at_least, ..any_reverse },
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::super::tests::records;
    use super::*;
    use crate::bound::Direction;
    use crate::quantity::Order;

    fn pair(text: &str) -> OutputPair {
        super::super::tests::pair(text, None)
    }

    /// P(noise ≥ k) as a sum over the integers.
    #[test]
    fn probabilities_are_sums_over_the_noise() {
        for (sigma, count, limit) in [(2.0f64, 0u64, 3u64), (0.5, 2, 3), (1.0, 3, 3), (3.0, 7, 4), (0.2, 1, 1)] {
            let r = libm::exp(-sigma.recip());
            let pair = pair(&format!("truncated-geometric:sigma={sigma},count={count},limit={limit}"));
            for (records, found) in [pair.dataset(), pair.neighbor()].into_iter().enumerate() {
                let mut expected = vec![0.0; limit as usize + 1];
                for z in -400i64..=400 {
                    let output = (count as i64 + records as i64 + z).clamp(0, limit as i64);
                    expected[output as usize] += (1.0 - r) / (1.0 + r) * libm::pow(r, z.abs() as f64);
                }
                for (found, expected) in found.p().iter().zip(&expected) {
                    assert!((found / expected - 1.0).abs() < 1e-13, "{sigma} {count} {limit}: {found} {expected}");
                }
            }
        }
    }

    /// A count from the limit on hides much, but only if the count is known to be that large.
    #[test]
    fn losses_from_above_are_those_of_any_count() {
        let [without, with] = records();
        for count in [0, 4, 5, 7, 3000] {
            let text = format!("truncated-geometric:sigma=2,count={count},limit=5");
            for (place, loss) in
                parse(&text).unwrap().enclosed_losses(&without, &with, 10).unwrap().into_iter().enumerate()
            {
                assert!((loss.at_most.largest() - 0.5).abs() < 1e-12, "{text}");
                let whole = place == 0 || count < 5;
                assert_eq!(loss.at_least.largest() > 0.499_999, whole, "{text} {place}");
            }
        }
    }

    /// Cutting off hides nothing of a count below the limit, and two outputs carry all the information.
    #[test]
    fn divergences_are_those_of_two_outputs() {
        for sigma in [0.3, 1.0, 4.0] {
            for (count, limit) in [(0, 1), (0, 9), (8, 9), (4, 9), (9, 9), (12, 9), (1, 1), (40, 1)] {
                let text = format!("truncated-geometric:sigma={sigma},count={count},limit={limit}");
                let listed = pair(&text);
                // The same distance from a limit that is not listed.
                let far = format!("truncated-geometric:sigma={sigma},count={},limit={}", count + 1000, limit + 1000);
                let two = pair(&far);
                assert_eq!((listed.outcomes(), two.outcomes()), (limit + 1, 2));
                let whole = pair(&format!("discrete-laplace:sigma={sigma}"));
                let theorems =
                    parse(&text).unwrap().theorems_for(&VoteHistogram::new(vec![0]).unwrap(), &WorstCases::default());
                for a in [1.1, 2.0, 30.0] {
                    let order = Order::new(a).unwrap();
                    for direction in Direction::BOTH {
                        let [found, other, whole] = [&listed, &two, &whole].map(|pair| pair.renyi(direction, order));
                        assert!((found / other - 1.0).abs() < 1e-11, "{text} {a}: {found} {other}");
                        if count < limit {
                            assert!((found / whole - 1.0).abs() < 1e-11, "{text} {a}: {found} {whole}");
                        } else {
                            assert!(found < whole, "{text} {a}: {found} {whole}");
                        }
                        let bounds: Vec<f64> =
                            theorems.iter().map(|theorem| theorem.at(order, direction).unwrap().value).collect();
                        assert!(bounds[0] >= bounds[1] && bounds[1] >= found * (1.0 - 1e-12), "{text} {a} {bounds:?}");
                        assert!(bounds[1] < found * (1.0 + 1e-9), "{text} {a}: {found} {bounds:?}");
                    }
                }
            }
        }
    }
}
