//! One number with noise on the integers.

use super::binned::{edges_around, edges_of_losses, record};
use super::one_by_one::one_by_one;
use super::pure::pure_theorem;
use super::{Bins, BothLosses, DataKind, LargestLoss, Mechanism, MechanismKind, Parameter, Parameters, draw, losses};
use crate::accountant::{Statement, Theorem, WorstCases, gaussian_rdp};
use crate::bound::outward::quotient_up;
use crate::distribution::OutcomeDistribution;
use crate::divergence::LossCell;
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::quadrature::LogIntegral;
use crate::quantity::NoiseScale;
use crate::simulate::{Sampler, Stream};
use crate::special::{CompensatedSum, softplus};
use rand::RngExt;
use rand_distr::{Distribution, Exp1};
use std::sync::Arc;

/// Noise on the integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiscreteRule {
    /// z with probability proportional to e^{-|z|/σ}, the difference of two geometric variables.
    Laplace,
    /// z with probability proportional to e^{-z²/(2σ²)}.
    Gaussian,
}

/// A count with noise on the integers, printed unchanged. Neighbors differ by one in the count.
///
/// *Discrete Laplace noise is binary randomized response.* For a count c, the output y has probability proportional to
/// e^{-|y-c|/σ}. For counts 0 and 1 the ratio of the two is e^{(|y-1|-|y|)/σ}, which is e^{1/σ} for every y ≤ 0 and
/// e^{-1/σ} for every y ≥ 1. So the event y ≥ 1 carries all the information in y, and with r = e^{-1/σ} it has
/// probability r/(1 + r) for count 0 and 1/(1 + r) for count 1: randomized response with ε = 1/σ. Laplace noise on the
/// real numbers of the same scale leaks less.
///
/// *Discrete Gaussian noise* has D_α ≤ α/(2σ²): completing the square,
/// ```text
/// Σ P^α Q^{1-α} = e^{α(α-1)/(2σ²)} θ(1-α)/θ(0),   θ(x) = Σ e^{-(z-x)²/(2σ²)} over the integers z,
/// ```
/// and θ is largest at integers (Poisson's sum of cosines with positive weights), so D_α = α/(2σ²) at integer α. Its
/// outcomes are integers around the places where the sum is large; those between and beyond are merged. Merging is
/// post-processing, which never increases a divergence.
///
/// ```
/// # use leakbound::bound::Direction;
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::mechanism::{Bins, parse};
/// # use leakbound::quantity::Order;
/// let order = Order::new(3.0)?;
/// let [without, with] = [vec![0], vec![1]].map(|count| VoteHistogram::new(count).unwrap());
/// let pair = parse("discrete-gaussian:sigma=2")?.output_pair(&without, &with, Bins::at(Some(order)))?;
/// assert!((pair.renyi(Direction::Forward, order) - 3.0 / 8.0).abs() < 1e-12);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Ghosh, Roughgarden and Sundararajan (2009), "Universally utility-maximizing privacy mechanisms", for the geometric
/// mechanism; Canonne, Kamath and Steinke (2020), "The discrete Gaussian for differential privacy".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DiscreteNoise {
    /// The noise.
    pub rule: DiscreteRule,
    /// Its scale, in units of the change of the count.
    pub sigma: NoiseScale,
}

/// One number with discrete Laplace noise.
pub const DISCRETE_LAPLACE: &MechanismKind = &MechanismKind {
    name: "discrete-laplace",
    example: "discrete-laplace:sigma=1",
    data: DataKind::OneRecord,
    parameters: &[Parameter::noise("sigma")],
    releases: Some("a count with noise z on the integers, with probability proportional to e^(-abs(z)/`sigma`)"),
    theorems: &[&LAPLACE],
    // Pure 1/σ: D_α <= α/(2σ²).
    noise_hides: true,
    read: |parameters| Ok(Arc::new(DiscreteNoise { rule: DiscreteRule::Laplace, sigma: parameters.scale("sigma")? })),
    draw_data: draw::no_record,
    draw: |stream, _| Some(Arc::new(DiscreteNoise { rule: DiscreteRule::Laplace, sigma: draw::scale(stream)? })),
};

/// One number with discrete Gaussian noise.
pub const DISCRETE_GAUSSIAN: &MechanismKind = &MechanismKind {
    name: "discrete-gaussian",
    example: "discrete-gaussian:sigma=1",
    releases: Some("a count with noise z on the integers, with probability proportional to e^(-z²/(2 `sigma`²))"),
    theorems: &[&GAUSSIAN],
    read: |parameters| Ok(Arc::new(DiscreteNoise { rule: DiscreteRule::Gaussian, sigma: parameters.scale("sigma")? })),
    draw: |stream, _| Some(Arc::new(DiscreteNoise { rule: DiscreteRule::Gaussian, sigma: draw::scale(stream)? })),
    ..*DISCRETE_LAPLACE
};

static LAPLACE: Statement = Statement::for_any_data(
    "discrete-laplace",
    "a count with geometric noise",
    "Ghosh, Roughgarden and Sundararajan (2009), the mechanism, with Mironov (2017), Proposition 5",
);
static GAUSSIAN: Statement = Statement::for_any_data(
    "discrete-gaussian",
    "a count with discrete Gaussian noise",
    "Canonne, Kamath and Steinke (2020), concentrated differential privacy of the discrete Gaussian",
);

/// Sums are over single integers.
const LARGEST_SCALE: f64 = 1e6;
/// The largest order for which outcomes are resolved.
const LARGEST_ORDER: f64 = 1e6;
/// Terms below e^-80 of the first are omitted; together they are below 1e-25 of it.
const NEGLIGIBLE: f64 = 80.0;

impl DiscreteNoise {
    /// The theorem of the noise; `None` if 1/σ overflows, which gives no guarantee.
    #[must_use]
    pub fn theorem(&self) -> Option<Theorem> {
        let sigma = self.sigma;
        match self.rule {
            DiscreteRule::Laplace => pure_theorem(&LAPLACE, sigma.get().recip()),
            DiscreteRule::Gaussian => Some(Theorem::alike(&GAUSSIAN, move |order| gaussian_rdp(order, sigma, 1.0))),
        }
    }

    /// The last integer of every outcome except that of the largest outputs.
    fn cuts(self, bins: Bins) -> Result<Vec<i64>> {
        if self.rule == DiscreteRule::Laplace {
            return Ok(vec![0]);
        }
        let (sigma, order) = (self.sigma.get(), bins.order.map_or(1.0, |order| order.get()));
        Error::check_domain(sigma <= LARGEST_SCALE, "scale of discrete Gaussian noise", sigma, "(0, 1e6]")?;
        let legal = order <= LARGEST_ORDER && order / sigma <= 1e9;
        Error::check_domain(legal, "order of discrete Gaussian noise", order, "(1, 1e6]")?;
        let centers = [0.0, 1.0, 1.0 - order, order].map(|center| center / sigma);
        let mut cuts: Vec<i64> =
            edges_around(&centers, bins.count).into_iter().map(|edge| (edge * sigma).floor() as i64).collect();
        // Edges further apart than integers skip none; closer ones fall on the same integer.
        let [floor, ceiling] = [order.floor() as i64, order.ceil() as i64];
        cuts.extend([0, 1 - floor, floor, 1 - ceiling, ceiling].into_iter().flat_map(|place| [place - 1, place]));
        cuts.sort_unstable();
        cuts.dedup();
        Ok(cuts)
    }
}

/// The largest number of records of a group.
const LARGEST_GROUP: u64 = 1 << 40;

impl DiscreteNoise {
    /// The losses of Laplace noise between the counts 0 and m: the loss of y is (m - 2y)/σ from 0 to m and constant
    /// beyond, and with r = e^{-1/σ}
    /// ```text
    /// P(y ≤ 0) = Q(y ≥ m) = 1/(1+r),   P(y ≥ m) = Q(y ≤ 0) = r^m/(1+r),   P(a ≤ y ≤ b) = (r^a - r^{b+1})/(1+r).
    /// ```
    fn laplace_group_losses(self, members: u64, bins: usize) -> BothLosses {
        let step = self.sigma.get().recip();
        let (m, total) = (members as f64, -softplus(-step));
        let width = (members / bins.max(1) as u64).max(1);
        // ln P, ln Q, and the losses of the first and of the last integer.
        let mut cells = vec![(total, total - m * step, [m * step; 2])];
        let mut first = 1;
        while first < members {
            let last = (first + width - 1).min(members - 1);
            let (a, b) = (first as f64, last as f64);
            let ln_share = (-libm::expm1(-step * (b - a + 1.0))).ln() + total;
            cells.push((ln_share - a * step, ln_share - (m - b) * step, [(m - 2.0 * a) * step, (m - 2.0 * b) * step]));
            first = last + 1;
        }
        cells.push((total - m * step, total, [-m * step; 2]));
        let slack = |l: f64| 8.0 * f64::EPSILON * l.abs();
        let cell = |&(p, q, [high, low]): &(f64, f64, [f64; 2])| {
            let losses = if low == high { [low, high] } else { [low - slack(low), high + slack(high)] };
            LossCell { p: row(p), q: row(q), losses }
        };
        losses::of_cells(&cells.iter().map(cell).collect::<Vec<_>>())
    }

    /// ln of the probabilities of the integers between the cuts, of Gaussian noise on a count.
    fn gaussian_rows(self, count: i64, cuts: &[i64]) -> Vec<LogIntegral> {
        let (far, sigma) = (i64::MAX / 4, self.sigma.get());
        let total = ln_sum(-far, far, sigma);
        let lows = std::iter::once(-far).chain(cuts.iter().map(|cut| cut + 1 - count));
        let highs = cuts.iter().map(|cut| cut - count).chain([far]);
        lows.zip(highs).map(|(low, high)| row(ln_sum(low, high, sigma) - total)).collect()
    }

    /// The losses of Gaussian noise: ln P/Q of y is m (m - 2y)/(2σ²) for the counts 0 and m.
    fn gaussian_losses(self, counts: [i64; 2], bins: usize) -> Result<BothLosses> {
        // Checks the scale.
        self.cuts(Bins::at(None))?;
        let sigma = self.sigma.get();
        let distance = counts[0].abs_diff(counts[1]) as f64;
        let edges =
            edges_of_losses(distance.max(1.0) / sigma, bins).into_iter().map(|edge| (edge * sigma).floor() as i64);
        let mut cuts: Vec<i64> = edges.flat_map(|edge| [edge, edge + 1]).collect();
        cuts.dedup();
        cuts.sort_unstable();
        cuts.dedup();
        let rows = counts.map(|count| self.gaussian_rows(count, &cuts));
        let middle = 0.5 * (counts[0] + counts[1]) as f64;
        let loss = |y: f64| (middle - y) / sigma / sigma;
        let step = (counts[1] - counts[0]) as f64;
        let cell = |cell: usize| {
            let smallest = cell.checked_sub(1).map_or(f64::NEG_INFINITY, |below| cuts[below] as f64 + 1.0);
            let largest = cuts.get(cell).map_or(f64::INFINITY, |&cut| cut as f64);
            let ends = [smallest, largest].map(|y| if step == 0.0 { 0.0 } else { step * loss(y) });
            let [low, high] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
            let slack = |end: f64| if end.is_finite() { 4.0 * f64::EPSILON * end.abs() } else { 0.0 };
            LossCell { p: rows[0][cell], q: rows[1][cell], losses: [low - slack(low), high + slack(high)] }
        };
        Ok(losses::of_cells(&(0..=cuts.len()).map(cell).collect::<Vec<_>>()))
    }
}

/// The logarithm of a sum, with its rounding.
fn row(ln_value: f64) -> LogIntegral {
    LogIntegral { ln_value, error: 8.0 * f64::EPSILON * (1.0 + ln_value.abs()) }
}

/// ln of the sum of e^{-z²/(2σ²)} over the integers from `low` to `high`, which may be far away.
fn ln_sum(low: i64, high: i64, sigma: f64) -> f64 {
    if low <= 0 && high >= 0 {
        // Around 0, both sides, with 0 once.
        let sides = [high, -low].map(|far| if far >= 1 { libm::exp(ln_sum(1, far, sigma)) } else { 0.0 });
        return libm::log1p(sides[0] + sides[1]);
    }
    let (near, far) = if low > 0 { (low, high) } else { (-high, -low) };
    let mut sum = CompensatedSum::default();
    for step in 0..=far.saturating_sub(near) {
        // (z² - near²)/(2σ²) for z = near + step.
        let exponent = 0.5 * (step as f64 / sigma) * ((2.0 * near as f64 + step as f64) / sigma);
        if exponent > NEGLIGIBLE {
            break;
        }
        sum.add(libm::exp(-exponent));
    }
    let first = near as f64 / sigma;
    -0.5 * first * first + sum.value().ln()
}

impl Mechanism for DiscreteNoise {
    fn kind(&self) -> &'static MechanismKind {
        match self.rule {
            DiscreteRule::Laplace => DISCRETE_LAPLACE,
            DiscreteRule::Gaussian => DISCRETE_GAUSSIAN,
        }
    }

    fn parameters(&self) -> Parameters {
        Parameters::default().with("sigma", self.sigma.get())
    }

    fn theorems_for(&self, _: &VoteHistogram, _: &WorstCases) -> Vec<Theorem> {
        self.theorem().into_iter().collect()
    }

    fn largest_loss(&self, _: &VoteHistogram) -> LargestLoss {
        match self.rule {
            DiscreteRule::Laplace => LargestLoss::over(1.0, self.sigma),
            DiscreteRule::Gaussian => LargestLoss::Unbounded,
        }
    }

    fn output_distribution(&self, data: &VoteHistogram, bins: Bins) -> Result<OutcomeDistribution> {
        let (count, sigma, cuts) = (record(data)? as i64, self.sigma.get(), self.cuts(bins)?);
        if self.rule == DiscreteRule::Laplace {
            let e = sigma.recip();
            Error::check_domain(e < f64::INFINITY, "scale of discrete Laplace noise", sigma, "(0, inf)")?;
            let mut rows = [row(-softplus(-e)), row(-e - softplus(-e))];
            // Reversed for count 1.
            rows.rotate_left(count as usize);
            return OutcomeDistribution::from_integrals(&rows);
        }
        OutcomeDistribution::from_integrals(&self.gaussian_rows(count, &cuts))
    }

    fn sampler(&self, data: &VoteHistogram, neighbor: &VoteHistogram, bins: Bins) -> Result<Box<dyn Sampler>> {
        let counts = [record(data)? as i64, record(neighbor)? as i64];
        let (cuts, Self { rule, sigma }) = (self.cuts(bins)?, *self);
        Ok(one_by_one(cuts.len() + 1, move |world, stream| {
            let noise = match rule {
                DiscreteRule::Laplace => discrete_laplace(sigma.get(), stream),
                DiscreteRule::Gaussian => gaussian(sigma.get(), stream),
            };
            let output = (noise as i64).saturating_add(counts[world.index()]);
            cuts.partition_point(|cut| *cut < output)
        }))
    }

    fn enclosed_losses(&self, data: &VoteHistogram, neighbor: &VoteHistogram, bins: usize) -> Result<BothLosses> {
        match self.rule {
            DiscreteRule::Laplace => (self as &dyn Mechanism).known_losses(data, neighbor),
            DiscreteRule::Gaussian => self.gaussian_losses([record(data)? as i64, record(neighbor)? as i64], bins),
        }
    }

    /// At whole k, θ(k) is θ(0), and mapping y to 1 - y turns count 0 into count 1.
    fn gaussian_moments(&self) -> Option<f64> {
        match self.rule {
            DiscreteRule::Gaussian => Some(self.sigma.get().recip()),
            DiscreteRule::Laplace => None,
        }
    }

    /// A count that moves by m. Laplace noise is then pure m/σ; Gaussian noise has D_α ≤ α m²/(2σ²), since
    /// Σ P^α Q^{1-α} = e^{α(α-1)m²/(2σ²)} θ(m(1-α))/θ(0) and θ is largest at 0. Fewer records leak less: the ratio of
    /// two probabilities grows with the output, so the best test at every δ is a threshold.
    fn group_theorems(&self, _: &VoteHistogram, members: u64, _: &WorstCases) -> Vec<Theorem> {
        let (sigma, distance) = (self.sigma, members as f64);
        let theorem = match self.rule {
            DiscreteRule::Gaussian => {
                Some(Theorem::alike(&GAUSSIAN, move |order| gaussian_rdp(order, sigma, distance)))
            }
            DiscreteRule::Laplace => pure_theorem(&LAPLACE, quotient_up(distance, sigma.get())),
        };
        theorem.into_iter().collect()
    }

    fn group_losses(&self, members: u64, bins: usize) -> Result<BothLosses> {
        let step = self.sigma.get().recip();
        let legal = (1..=LARGEST_GROUP).contains(&members) && step * (members as f64) < 1e12;
        Error::check_domain(legal, "members of a group", members as f64, "[1, 2^40]")?;
        match self.rule {
            DiscreteRule::Laplace => Ok(self.laplace_group_losses(members, bins)),
            DiscreteRule::Gaussian => self.gaussian_losses([0, members as i64], bins),
        }
    }
}

/// Discrete Laplace noise: the whole part of an exponential variable is geometric.
pub(super) fn discrete_laplace(scale: f64, stream: &mut Stream) -> f64 {
    let mut geometric = || {
        let size: f64 = Exp1.sample(stream);
        (scale * size).floor()
    };
    geometric() - geometric()
}

/// Discrete Gaussian noise by rejection from discrete Laplace noise (Canonne, Kamath and Steinke 2020).
fn gaussian(sigma: f64, stream: &mut Stream) -> f64 {
    let scale = sigma.floor() + 1.0;
    loop {
        let value = discrete_laplace(scale, stream);
        let distance = (value.abs() - sigma * sigma / scale) / sigma;
        if stream.random_bool(libm::exp(-0.5 * distance * distance)) {
            return value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::super::tests::{deltas, pair, records};
    use super::*;
    use crate::bound::Direction;
    use crate::quantity::Order;

    /// The divergence of all integers, one by one: θ(1-α)/θ(0) e^{α(α-1)/(2σ²)}.
    fn of_all_integers(sigma: f64, a: f64) -> f64 {
        let theta = |x: f64| -> f64 {
            let middle = x.round() as i64;
            (middle - 400..=middle + 400).map(|z| libm::exp(-0.5 * ((z as f64 - x) / sigma).powi(2))).sum()
        };
        0.5 * a / sigma / sigma + (theta(1.0 - a) / theta(0.0)).ln() / (a - 1.0)
    }

    #[test]
    fn gaussian_outcomes_keep_the_divergence_of_all_integers() {
        for sigma in [0.1, 0.3, 0.7, 1.0, 2.5, 20.0] {
            for a in [1.1, 1.5, 2.0, 2.7, 7.5, 40.0, 1000.0] {
                let order = Order::new(a).unwrap();
                let expected = of_all_integers(sigma, a);
                let bound = parse(&format!("discrete-gaussian:sigma={sigma}")).unwrap();
                let bound = bound.downcast::<DiscreteNoise>().unwrap().theorem().unwrap();
                // The sums above lose digits if their ratio is near 1.
                assert!(bound.at(order, Direction::Forward).unwrap().value >= expected * (1.0 - 1e-10));
                for direction in Direction::BOTH {
                    let found = pair(&format!("discrete-gaussian:sigma={sigma}"), Some(order)).renyi(direction, order);
                    assert!(found <= expected * (1.0 + 1e-9), "{sigma} {a} {direction}: {found} {expected}");
                    // Bins of two or more integers lose a little.
                    let least = if sigma < 8.0 { 1.0 - 1e-9 } else { 0.99 };
                    assert!(found >= expected * least, "{sigma} {a} {direction}: {found} {expected}");
                }
            }
        }
    }

    #[test]
    fn sums_over_integers_are_those_written_out() {
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-14, "{found} {expected}");
        let term = |z: f64| libm::exp(-0.5 * (z / 1.5).powi(2));
        near(ln_sum(-1, 2, 1.5), (1.0 + 2.0 * term(1.0) + term(2.0)).ln());
        near(ln_sum(-3, -2, 1.5), (term(2.0) + term(3.0)).ln());
        near(ln_sum(5, 5, 1.5), -0.5 * (5.0f64 / 1.5).powi(2));
        // All integers for large noise: a Gaussian integral to within e^{-2π²σ²}.
        let all = ln_sum(-i64::MAX / 4, i64::MAX / 4, 1000.0);
        near(all, 1000f64.ln() + crate::special::LN_SQRT_2PI);
    }

    #[test]
    fn discrete_laplace_noise_is_randomized_response() {
        let distribution = pair("discrete-laplace:sigma=2", None);
        let r = libm::exp(-0.5);
        let (with, without) = (distribution.neighbor().p(), distribution.dataset().p());
        assert!((without[1] - r / (1.0 + r)).abs() < 1e-15 && (with[1] - 1.0 / (1.0 + r)).abs() < 1e-15);
        let below = |z: i32| libm::exp(-0.5 * f64::from(z.abs())) * (1.0 - r) / (1.0 + r);
        let largest: f64 = (-200..=0).map(below).sum();
        assert!((largest - without[0]).abs() < 1e-14);
    }

    /// Σ (P - e^ε Q)⁺ over the integers, one by one.
    #[test]
    fn enclosed_losses_stand_around_the_sum_over_all_integers() {
        let [without, with] = records();
        for (sigma, epsilon) in [(0.4, 2.0), (1.0, 0.5), (3.0, 1.0), (40.0, 0.02)] {
            let term = |z: i64| libm::exp(-0.5 * (z as f64 / sigma).powi(2));
            let total: f64 = (-2000..=2000).map(term).sum();
            let excess = |y: i64| (term(y) - libm::exp(epsilon) * term(y - 1)).max(0.0) / total;
            let truth: f64 = (-2000..=2000).map(excess).sum();
            let mechanism = parse(&format!("discrete-gaussian:sigma={sigma}")).unwrap();
            for loss in mechanism.enclosed_losses(&without, &with, 1000).unwrap() {
                let [lower, upper] = deltas(loss, 1, 0.5 * truth, epsilon);
                assert!(
                    lower <= truth * (1.0 + 1e-12) && truth <= upper * (1.0 + 1e-12),
                    "{sigma}: {lower} {truth} {upper}"
                );
                assert!(upper - lower < 0.02 * truth, "{sigma}: {lower} {truth} {upper}");
            }
        }
    }

    /// Counts m apart: Σ (P - e^ε Q)⁺ over the integers, one by one, and divergences of all orders below the theorem.
    #[test]
    fn groups_stand_around_the_sum_over_all_integers() {
        let data = VoteHistogram::new(vec![0]).unwrap();
        let cases = [(1u64, 0.5, 0.7), (2, 1.0, 0.5), (5, 3.0, 1.0), (30, 9.0, 2.0)];
        for (name, power) in [("discrete-laplace", 1), ("discrete-gaussian", 2)] {
            for (members, sigma, epsilon) in cases {
                let term = |z: i64| {
                    let scaled = (z as f64 / sigma).abs();
                    libm::exp(if power == 1 { -scaled } else { -0.5 * scaled * scaled })
                };
                let total: f64 = (-3000..=3000).map(term).sum();
                let both = |y: i64| (term(y) / total, term(y - members as i64) / total);
                let truth: f64 = (-2000..=2000).map(both).map(|(p, q)| (p - libm::exp(epsilon) * q).max(0.0)).sum();
                let mechanism = parse(&format!("{name}:sigma={sigma}")).unwrap();
                for bins in [1_000, 7] {
                    for loss in mechanism.group_losses(members, bins).unwrap() {
                        let [lower, upper] = deltas(loss, 1, 0.5 * truth, epsilon);
                        let seen = format!("{name} {members} {sigma} {bins}: {lower} {truth} {upper}");
                        assert!(lower <= truth * (1.0 + 1e-12) && truth <= upper * (1.0 + 1e-12), "{seen}");
                        assert!(bins < 10 || upper - lower < 0.03 * truth, "{seen}");
                    }
                }
                let theorems = mechanism.group_theorems(&data, members, &WorstCases::default());
                for a in [1.1, 2.0, 3.5, 20.0] {
                    let positive = (-300..=300).map(both).filter(|(p, q)| *p > 0.0 && *q > 0.0);
                    let terms: Vec<f64> = positive.map(|(p, q)| a * p.ln() + (1.0 - a) * q.ln()).collect();
                    let exact = crate::special::log_sum_exp(terms.iter().copied()) / (a - 1.0);
                    let bound = theorems[0].at(Order::new(a).unwrap(), Direction::Forward).unwrap().value;
                    assert!(exact <= bound + 1e-9, "{name} {members} {sigma} {a}: {exact} {bound}");
                }
            }
        }
        assert!(parse("discrete-laplace:sigma=2").unwrap().group_losses(1 << 41, 10).is_err());
    }

    #[test]
    fn hopeless_scales_and_orders_are_rejected() {
        let data = VoteHistogram::new(vec![0]).unwrap();
        let fails = |text: &str, bins: Bins| {
            let mechanism = parse(text).unwrap();
            mechanism.output_distribution(&data, bins).unwrap_err().to_string()
        };
        assert!(fails("discrete-gaussian:sigma=1e7", Bins::at(None)).contains("scale of discrete Gaussian noise"));
        let order = Order::new(1e7).ok();
        assert!(fails("discrete-gaussian:sigma=1", Bins::at(order)).contains("order of discrete Gaussian noise"));
        assert!(fails("discrete-gaussian:sigma=1e-300", Bins::at(None)).contains("order of discrete Gaussian noise"));
        assert!(fails("discrete-laplace:sigma=1e-310", Bins::at(None)).contains("scale of discrete Laplace noise"));
    }
}
