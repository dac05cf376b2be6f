//! A count with several discrete Laplace variables as noise.

use super::binned::record;
use super::discrete_noise::discrete_laplace;
use super::draw::pick;
use super::one_by_one::one_by_one;
use super::pure::{finite, pure_rdp};
use super::{Bins, BothLosses, DataKind, LargestLoss, Mechanism, MechanismKind, Parameter, Parameters, draw, losses};
use crate::accountant::{Statement, Theorem, WorstCases};
use crate::bound::Direction;
use crate::distribution::{DiscreteLaplaceSum, OutcomeDistribution, OutputPair};
use crate::divergence::LossCell;
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::quadrature::LogIntegral;
use crate::quantity::{NoiseScale, Order};
use crate::simulate::Sampler;
use std::sync::Arc;

/// A count with the sum of k independent discrete Laplace variables of scale σ, printed unchanged. Neighbors differ by
/// one in the count.
///
/// The sum has k times the variance of one variable, but it is not as private as one with that variance. As y → ∞, the
/// ratio of the probabilities of y for counts 0 and 1 falls to e^{-1/σ}, which is that of *one* of the variables: the
/// largest loss is 1/σ for any number of variables, approached but not reached for k ≥ 2.
///
/// *One variable bounds the sum.* Adding the others to its output is post-processing. So the sum is
/// (1/σ)-differentially private, and its divergences are at most those of discrete Laplace noise.
///
/// *The divergence itself* is a sum over all integers. Ratios decrease in y, because geometric sequences are
/// log-concave and so are their convolutions (Hoggar 1974), and lie between e^{1/σ} and e^{-1/σ}. So integers are taken
/// one by one, or for large noise in small groups. Each cell becomes two outcomes at the ends of its ratios with the
/// same total probabilities ([`EnclosedLoss`](crate::divergence::EnclosedLoss)), and the rest on either side gets the
/// largest ratio, with its remaining Q as an outcome of Q alone. Merging those outcomes gives the cells back, so their
/// divergence is an upper bound. In the tests it is at most 2e-3 above the divergence of the sum, up to order 1,000.
///
/// ```
/// # use leakbound::bound::Direction;
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::mechanism::{Bins, parse};
/// # use leakbound::quantity::Order;
/// let [without, with] = [vec![0], vec![1]].map(|count| VoteHistogram::new(count).unwrap());
/// let renyi = |text: &str, order: f64| {
///     let order = Order::new(order).unwrap();
///     let pair = parse(text).unwrap().output_pair(&without, &with, Bins::at(Some(order))).unwrap();
///     pair.renyi(Direction::Forward, order)
/// };
/// // Twice the variance: better on average, but not in the tail.
/// assert!(renyi("discrete-laplace-sum:sigma=2,terms=2", 2.0) < renyi("discrete-laplace:sigma=2", 2.0));
/// assert!(renyi("discrete-laplace-sum:sigma=2,terms=2", 200.0) > 1.15 * renyi("discrete-laplace:sigma=2.8284", 200.0));
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Ghosh, Roughgarden and Sundararajan (2009), "Universally utility-maximizing privacy mechanisms"; Hoggar (1974),
/// "Chromatic polynomials and logarithmic concavity".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LaplaceSum {
    sigma: NoiseScale,
    terms: u32,
}

/// A count with a sum of discrete Laplace variables.
pub const DISCRETE_LAPLACE_SUM: &MechanismKind = &MechanismKind {
    name: "discrete-laplace-sum",
    example: "discrete-laplace-sum:sigma=1,terms=2",
    data: DataKind::OneRecord,
    parameters: &[Parameter::noise("sigma"), Parameter::number("terms", &[2.0, 1.0, 3.0])],
    releases: Some("a count with the sum of `terms` independent noises of `discrete-laplace`"),
    theorems: &[&ONE_OF_THEM, &ITSELF],
    // Pure 1/σ: D_α <= α/(2σ²).
    noise_hides: true,
    read: |parameters| {
        let terms = parameters.whole("terms", [1, u64::from(MOST_TERMS)])?;
        Ok(Arc::new(LaplaceSum { sigma: parameters.scale("sigma")?, terms: terms as u32 }))
    },
    draw_data: draw::no_record,
    draw: |stream, _| {
        Some(Arc::new(LaplaceSum { terms: *pick(stream, &[1, 2, 2, 3, 5, 10]), sigma: draw::scale(stream)? }))
    },
};

static ONE_OF_THEM: Statement = Statement::for_any_data(
    "discrete-laplace-sum",
    "a sum of geometric noises, in closed form",
    "Mironov (2017), Proposition 5, for one of the variables, to which the others are added: post-processing",
);
static ITSELF: Statement = Statement::for_any_data(
    "discrete-laplace-sum-cells",
    "a sum of geometric noises; smaller than the closed form",
    "leakbound, theorem of LaplaceSum",
)
.certified(2e-3);

/// The largest number of variables.
const MOST_TERMS: u32 = 40;
/// Cells are integers.
const LARGEST_SCALE: f64 = 1e6;
/// The largest order for which outcomes are resolved.
const LARGEST_ORDER: f64 = 1e6;
/// For larger σ k^{3/4}, rounding of probabilities affects the divergence of cells.
const LARGEST_OF_CELLS: f64 = 200.0;
/// The integers for that divergence, for any order: those that matter at this order, one by one up to this many on
/// either side, and otherwise cut into half this number of cells. Everything beyond gets the largest ratio, which
/// affects divergences from a quarter of this order on.
const REACH_OF_CELLS: f64 = 4000.0;
const SINGLE: i64 = 1000;
/// Cells with a smaller range of losses, in units of 1/σ, are placed at its upper end: they are far from 0.
const THIN: f64 = 1e-3;

impl LaplaceSum {
    /// The theorem of one of the variables, and the divergence of the sum itself up to σ k^{3/4} = 200.
    #[must_use]
    pub fn theorems(&self) -> Vec<Theorem> {
        let Some(epsilon) = finite(self.sigma.get().recip()) else { return Vec::new() };
        let one = move |order| pure_rdp(order, epsilon);
        let mut all = vec![Theorem::alike(&ONE_OF_THEM, one)];
        if self.sigma.get() * libm::pow(f64::from(self.terms), 0.75) <= LARGEST_OF_CELLS {
            let mechanism = *self;
            all.push(Theorem::of_curve(&ITSELF, move |orders| {
                let pair = mechanism.dominating();
                let of_cells = |order: Order| match &pair {
                    Ok(pair) => pair.renyi_up(Direction::Forward, order),
                    Err(_) => f64::INFINITY,
                };
                orders.iter().map(|&order| of_cells(order).min(one(order))).collect()
            }));
        }
        all
    }

    fn sum(self) -> DiscreteLaplaceSum {
        DiscreteLaplaceSum::new(self.terms, self.sigma.get())
    }

    fn checked(self, order: f64) -> Result<()> {
        let sigma = self.sigma.get();
        let legal = sigma <= LARGEST_SCALE && sigma.recip() < f64::INFINITY;
        Error::check_domain(legal, "scale of discrete Laplace noise", sigma, "(0, 1e6]")?;
        Error::check_domain(order <= LARGEST_ORDER, "order of discrete Laplace noise", order, "(1, 1e6]")?;
        Ok(())
    }

    /// The farthest integer considered for an order: p^α q^{1-α} is largest where (α-1)(k-1)σ is the square of the
    /// position, and falls by a factor e per σ from there on.
    fn reach(self, order: f64) -> i64 {
        let (sigma, terms) = (self.sigma.get(), f64::from(self.terms));
        (libm::sqrt(order * terms * sigma) + 40.0 * sigma + 9.0 * sigma * libm::sqrt(2.0 * terms)) as i64 + 3
    }

    /// The last integer of every cell except that of the largest outputs, with 0 among them, mirrored around 0. Every
    /// integer is a cell, or the loss has equal steps, or, for many bins, the output has.
    fn cuts(self, bins: Bins, reach: i64) -> Vec<i64> {
        if self.terms == 1 {
            // Two ratios.
            return vec![0];
        }
        let count = bins.count.max(1) as i64;
        let cuts: Vec<i64> = if reach <= 4 * count {
            (0..=reach).collect()
        } else {
            let (sum, steps) = (self.sum(), count / 2);
            let level = |step: i64| -self.sigma.get().recip() * step as f64 / steps as f64;
            let last = |step: i64| last_above(&sum, level(step), reach);
            let mut all: Vec<i64> = std::iter::once(0).chain((1..steps).map(last)).collect();
            if bins.count >= MANY {
                let step = reach / (2 * count) + 1;
                all.extend((1..=2 * count).map(|i| i * step));
            }
            all
        };
        mirrored(cuts)
    }

    fn rows(self, count: i64, cuts: &[i64]) -> Vec<LogIntegral> {
        let sum = self.sum();
        (0..=cuts.len())
            .map(|cell| {
                let [low, high] = ends(cuts, cell);
                sum.between(low.map(|y| y - count), high.map(|y| y - count))
            })
            .collect()
    }

    /// The probabilities of every cell without and with the record, and two bounds on ln of their ratio.
    fn cells(self, cuts: &[i64]) -> Vec<LossCell> {
        let (sum, largest) = (self.sum(), self.sigma.get().recip());
        let [without, with] = [0, 1].map(|count| self.rows(count, cuts));
        let cell = |cell: usize| {
            let [low, high] = ends(cuts, cell).map(|end| end.map(|y| sum.log_ratio(y)));
            let most = low.map_or(largest, |[ratio, slack]| (ratio + slack).min(largest));
            let least = high.map_or(-largest, |[ratio, slack]| (ratio - slack).max(-largest));
            LossCell { p: without[cell], q: with[cell], losses: [least, most] }
        };
        (0..=cuts.len()).map(cell).collect()
    }

    /// A pair of distributions with at least the divergences of the sum, forward.
    fn dominating(self) -> Result<OutputPair> {
        self.checked(1.0)?;
        let reach = self.reach(REACH_OF_CELLS);
        let step = if reach <= SINGLE { 1 } else { reach / (SINGLE / 2) + 1 };
        let cuts = if self.terms == 1 { vec![0] } else { mirrored((0..=reach / step).map(|i| i * step).collect()) };
        let thin = THIN / self.sigma.get();
        let (mut p, mut q) = (Vec::new(), Vec::new());
        let mut push = |ln_p: f64, ln_q: f64, error: f64| {
            p.push(LogIntegral { ln_value: ln_p, error });
            q.push(LogIntegral { ln_value: ln_q, error });
        };
        let cells = self.cells(&cuts);
        for (place, cell) in cells.iter().enumerate() {
            let (ln_p, ln_q, error) = (cell.p.ln_value, cell.q.ln_value, cell.p.error.max(cell.q.error));
            let ([first, last], [low, high]) = (ends(&cuts, place), cell.losses);
            if self.terms == 1 || first == last {
                push(ln_p, ln_q, error);
            } else if first.is_none() || last.is_none() || high - low < thin {
                push(ln_p, ln_p - high, error);
                // q - p e^{-g}, and its possible rounding error.
                let left = (-libm::expm1(ln_p - ln_q - high)).max(0.0) + 2.0 * error;
                push(f64::NEG_INFINITY, ln_q + left.ln(), error);
            } else {
                // At the upper end, the share (1 - e^{f-l})/(1 - e^{f-g}), off by the error of l over g - f.
                let loss = (ln_p - ln_q).clamp(low, high);
                let whole = libm::expm1(low - high);
                let shares =
                    [libm::expm1(low - loss) / whole, libm::exp(low - loss) * libm::expm1(loss - high) / whole];
                for (share, end) in shares.into_iter().zip([high, low]) {
                    let ln_value = ln_p + share.max(f64::MIN_POSITIVE).ln();
                    push(ln_value, ln_value - end, error + 4.0 * error / (high - low) / share.max(1e-3));
                }
            }
        }
        OutputPair::new(OutcomeDistribution::from_integrals(&p)?, OutcomeDistribution::from_integrals(&q)?)
    }
}

/// Cuts from 0 on, and their mirror images.
fn mirrored(mut cuts: Vec<i64>) -> Vec<i64> {
    cuts.extend(cuts.iter().map(|cut| -cut).collect::<Vec<_>>());
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// From this number of bins on, cells also have equal steps of the output.
const MANY: usize = 100;

/// The first and the last integer of a cell; `None` if it is unbounded.
fn ends(cuts: &[i64], cell: usize) -> [Option<i64>; 2] {
    [cell.checked_sub(1).map(|below| cuts[below] + 1), cuts.get(cell).copied()]
}

/// The last integer from 1 on whose ln ratio is at least a level, or 0; at most `reach`.
fn last_above(sum: &DiscreteLaplaceSum, level: f64, reach: i64) -> i64 {
    let (mut inside, mut outside) = (0, reach + 1);
    while outside - inside > 1 {
        let middle = inside + (outside - inside) / 2;
        if sum.log_ratio(middle)[0] >= level { inside = middle } else { outside = middle }
    }
    inside
}

impl Mechanism for LaplaceSum {
    fn kind(&self) -> &'static MechanismKind {
        DISCRETE_LAPLACE_SUM
    }

    fn parameters(&self) -> Parameters {
        Parameters::default().with("sigma", self.sigma.get()).with("terms", f64::from(self.terms))
    }

    fn theorems_for(&self, _: &VoteHistogram, _: &WorstCases) -> Vec<Theorem> {
        self.theorems()
    }

    fn largest_loss(&self, _: &VoteHistogram) -> LargestLoss {
        LargestLoss::over(1.0, self.sigma)
    }

    fn output_distribution(&self, data: &VoteHistogram, bins: Bins) -> Result<OutcomeDistribution> {
        let (count, order) = (record(data)? as i64, bins.order.map_or(1.0, Order::get));
        self.checked(order)?;
        OutcomeDistribution::from_integrals(&self.rows(count, &self.cuts(bins, self.reach(order))))
    }

    fn sampler(&self, data: &VoteHistogram, neighbor: &VoteHistogram, bins: Bins) -> Result<Box<dyn Sampler>> {
        let (counts, order) = ([record(data)? as i64, record(neighbor)? as i64], bins.order.map_or(1.0, Order::get));
        self.checked(order)?;
        let (cuts, Self { sigma, terms }) = (self.cuts(bins, self.reach(order)), *self);
        Ok(one_by_one(cuts.len() + 1, move |world, stream| {
            let noise: f64 = (0..terms).map(|_| discrete_laplace(sigma.get(), stream)).sum();
            let output = (noise as i64).saturating_add(counts[world.index()]);
            cuts.partition_point(|cut| *cut < output)
        }))
    }

    fn enclosed_losses(&self, data: &VoteHistogram, neighbor: &VoteHistogram, bins: usize) -> Result<BothLosses> {
        self.checked(1.0)?;
        let cells = self.cells(&self.cuts(Bins { order: None, count: bins }, self.reach(1.0)));
        Ok(losses::of_records(&cells, [record(data)?, record(neighbor)?]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::super::tests::{deltas, records};
    use super::*;

    /// Σ P^α Q^{1-α} over the integers, one by one.
    fn of_all_integers(terms: u32, sigma: f64, a: f64) -> f64 {
        let sum = DiscreteLaplaceSum::new(terms, sigma);
        let reach = (200.0 * sigma + 3.0 * (a * f64::from(terms) * sigma).sqrt()) as i64 + 50;
        let exponents = (-reach..=reach).map(|y| a * sum.at(y).ln_value + (1.0 - a) * sum.at(y - 1).ln_value);
        crate::special::log_sum_exp(exponents) / (a - 1.0)
    }

    #[test]
    fn divergences_and_theorems_are_around_the_sum_over_all_integers() {
        let [without, with] = records();
        for (terms, sigma) in [(1, 2.0), (2, 0.3), (2, 2.0), (3, 1.0), (5, 0.5), (5, 20.0), (2, 60.0), (10, 4.0)] {
            let mechanism = parse(&format!("discrete-laplace-sum:sigma={sigma},terms={terms}")).unwrap();
            let theorems = mechanism.theorems_for(&without, &WorstCases::default());
            for a in [1.1, 1.5, 2.0, 7.5, 40.0, 1000.0] {
                let order = Order::new(a).unwrap();
                let expected = of_all_integers(terms, sigma, a);
                // The logarithm of a sum near 1 loses digits.
                let lost = 1e-12 + 1e-14 / expected / (a - 1.0);
                let pair = mechanism.output_pair(&without, &with, Bins::at(Some(order))).unwrap();
                for direction in Direction::BOTH {
                    let found = pair.renyi(direction, order);
                    assert!(
                        found <= expected * (1.0 + lost) && found >= expected * (0.995 - lost),
                        "{terms} {sigma} {a}: {found} {expected}"
                    );
                }
                let [one, cells] = [0, 1].map(|i| theorems[i].at(order, Direction::Reverse).unwrap().value);
                println!("{terms} {sigma} {a}: one {:.6}, cells 1 + {:e}", one / expected, cells / expected - 1.0);
                assert!(
                    one >= cells && cells >= expected * (1.0 - lost),
                    "{terms} {sigma} {a}: {one} {cells} {expected}"
                );
                assert!(cells <= expected * (1.0 + 2e-3), "{terms} {sigma} {a}: {cells} {expected}");
            }
        }
    }

    /// Two variables with half of the noise each hide less than one with all of it.
    #[test]
    fn the_largest_loss_is_that_of_one() {
        let [without, with] = records();
        for terms in [1, 2, 5] {
            let mechanism = parse(&format!("discrete-laplace-sum:sigma=4,terms={terms}")).unwrap();
            for loss in mechanism.enclosed_losses(&without, &with, 1000).unwrap() {
                assert!((loss.at_most.largest() - 0.25).abs() < 1e-12, "{}", loss.at_most.largest());
                assert!(loss.at_least.largest() > 0.23, "{}", loss.at_least.largest());
            }
        }
    }

    /// Σ (P - e^ε Q)⁺ over the integers lies between the ends.
    #[test]
    fn enclosed_losses_are_around_the_sum_over_all_integers() {
        let [without, with] = records();
        for (terms, sigma, epsilon) in [(2, 0.4, 1.0), (3, 2.0, 0.2), (2, 50.0, 0.01), (4, 300.0, 0.001)] {
            let sum = DiscreteLaplaceSum::new(terms, sigma);
            let reach = (60.0 * sigma) as i64 + 40;
            let p = |y: i64| libm::exp(sum.at(y).ln_value);
            let truth: f64 = (-reach..=reach).map(|y| (p(y) - libm::exp(epsilon) * p(y - 1)).max(0.0)).sum();
            let mechanism = parse(&format!("discrete-laplace-sum:sigma={sigma},terms={terms}")).unwrap();
            for loss in mechanism.enclosed_losses(&without, &with, 1000).unwrap() {
                let [lower, upper] = deltas(loss, 1, 0.5 * truth, epsilon);
                assert!(
                    lower <= truth * (1.0 + 1e-12) && truth <= upper * (1.0 + 1e-12),
                    "{terms} {sigma}: {lower} {truth} {upper}"
                );
                assert!(upper - lower < 0.02 * truth, "{terms} {sigma}: {lower} {truth} {upper}");
            }
        }
    }

    #[test]
    fn hopeless_scales_orders_and_sums_are_rejected() {
        let [data, _] = records();
        let fails = |text: &str, bins: Bins| {
            let found = parse(text).and_then(|mechanism| mechanism.output_distribution(&data, bins));
            found.unwrap_err().to_string()
        };
        let at = Bins::at(None);
        assert!(fails("discrete-laplace-sum:sigma=1e7,terms=2", at).contains("scale of discrete Laplace noise"));
        assert!(fails("discrete-laplace-sum:sigma=1e-310,terms=2", at).contains("scale of discrete Laplace noise"));
        assert!(fails("discrete-laplace-sum:sigma=1,terms=0", at).contains("terms = 0 is not in [1, 40]"));
        assert!(fails("discrete-laplace-sum:sigma=1,terms=2.5", at).contains("terms = 2.5"));
        let order = Bins::at(Order::new(1e7).ok());
        assert!(fails("discrete-laplace-sum:sigma=1,terms=2", order).contains("order of discrete Laplace noise"));
    }
}
