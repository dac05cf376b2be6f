//! A count with noise whose density is a staircase.

use super::binned::record;
use super::draw::pick;
use super::one_by_one::one_by_one;
use super::pure::{finite, pure_rdp};
use super::{
    Bins, BothLosses, DataKind, LargestLoss, Mechanism, MechanismKind, Parameter, Parameters, draw, rejected, required,
};
use crate::accountant::{Statement, Theorem, WorstCases};
use crate::bound::Direction;
use crate::distribution::{OutcomeDistribution, OutputPair};
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::quadrature::LogIntegral;
use crate::quantity::NoiseScale;
use crate::simulate::Sampler;
use crate::special::{log_sum_exp, softplus};
use rand::RngExt;
use rand_distr::{Distribution, Geometric};
use std::sync::Arc;

/// A count with staircase noise, printed unchanged. Neighbors differ by one in the count.
///
/// With b = e^{-ε}, ε = 1/σ, the density is a step function of |x|: on every unit interval from k to k + 1 it is a b^k
/// over a length γ and then a b^{k+1}, with a = (1-b)/(2(γ + b(1-γ))).
///
/// *There are three losses.* Let f be the density, P the output of a count of 0 and Q that of a count of 1. For x ≤ 0
/// and for x ≥ 1 a unit step of |x| changes f by exactly b, so ln P/Q is ε and -ε. Between them f is a up to γ and a b
/// from there on, and so is its mirror image 1 - x: with s = min(γ, 1-γ), ln P/Q is ε for x < s, 0 between s and 1 - s,
/// and -ε beyond. The part in the middle has the same probability m under both,
/// ```text
/// m = |1 - 2γ| a b for γ ≤ 1/2, |1 - 2γ| a beyond,
/// ```
/// and the others have (1-m)/(1+b) and b times that, as their losses require. So with probability m the output carries
/// no information, and otherwise it is randomized response with ε: e^{(α-1) D_α} = m + (1-m) e^{(α-1) D_α(response)}.
/// At γ = 1/2 it is randomized response.
///
/// `gamma` may be omitted from the text form: it is then 1/(1 + e^{ε/2}), which has the smallest mean of |x|.
///
/// ```
/// # use leakbound::bound::Direction;
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::mechanism::{Bins, parse};
/// # use leakbound::quantity::Order;
/// assert_eq!(parse("staircase:sigma=0.5")?.to_string(), "staircase:sigma=0.5,gamma=0.2689414213699951");
/// let [without, with] = [vec![0], vec![1]].map(|count| VoteHistogram::new(count).unwrap());
/// let pair = parse("staircase:sigma=1,gamma=0.5")?.output_pair(&without, &with, Bins::at(None))?;
/// let order = Order::new(2.0)?;
/// let response = parse("discrete-laplace:sigma=1")?.output_pair(&without, &with, Bins::at(None))?;
/// assert!((pair.renyi(Direction::Forward, order) - response.renyi(Direction::Forward, order)).abs() < 1e-14);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Geng and Viswanath (2014), "The optimal mechanism in differential privacy".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Staircase {
    /// 1/ε.
    sigma: NoiseScale,
    gamma: f64,
}

/// A count with staircase noise.
pub const STAIRCASE: &MechanismKind = &MechanismKind {
    name: "staircase",
    example: "staircase:sigma=1",
    data: DataKind::OneRecord,
    parameters: &[Parameter::noise("sigma"), Parameter::number("gamma", &[0.5, 0.25, 0.0]).optional()],
    releases: Some(
        "a count with noise whose density is a staircase: it falls by e^(-1/`sigma`) at `gamma` and at 1 + `gamma`, 2 \
         + `gamma` and so on from 0; without `gamma` that of the least mean size",
    ),
    theorems: &[&PURE, &ITSELF],
    // Pure 1/σ: D_α <= α/(2σ²).
    noise_hides: true,
    read: |parameters| {
        let sigma = parameters.scale("sigma")?;
        let gamma = if parameters.has("gamma") { parameters.number("gamma")? } else { Staircase::best_gamma(sigma) };
        required((0.0..=1.0).contains(&gamma), format_args!("gamma = {gamma} is not in [0, 1]"))?;
        Ok(Arc::new(Staircase { sigma, gamma }))
    },
    draw_data: draw::no_record,
    draw: |stream, _| {
        let sigma = draw::scale(stream)?;
        let gamma = match stream.random_range(0..3u32) {
            0 => Staircase::best_gamma(sigma),
            1 => *pick(stream, &[0.0, 0.5, 1.0, 0.25]),
            _ => stream.random(),
        };
        Some(Arc::new(Staircase { sigma, gamma }))
    },
};

static PURE: Statement = Statement::for_any_data(
    "staircase-pure",
    "a count with staircase noise, by its ε alone",
    "Geng and Viswanath (2014), ε, with Mironov (2017), Proposition 5",
);
static ITSELF: Statement = Statement::for_any_data(
    "staircase",
    "a count with staircase noise",
    "leakbound, the three losses of Staircase, rounded up",
);

impl Staircase {
    /// The γ with the smallest mean size of the noise, 1/(1 + e^{ε/2}).
    fn best_gamma(sigma: NoiseScale) -> f64 {
        (1.0 + libm::exp(0.5 / sigma.get())).recip()
    }

    /// Randomized response with ε, which bounds every mechanism with ε, and the divergence of the three outcomes.
    #[must_use]
    pub fn theorems(&self) -> Vec<Theorem> {
        let Some(epsilon) = finite(self.sigma.get().recip()) else { return Vec::new() };
        let pure = move |order| pure_rdp(order, epsilon);
        let mut all = vec![Theorem::alike(&PURE, pure)];
        let [without, with] = [0, 1].map(|record| OutcomeDistribution::from_integrals(&self.rows(record)));
        if let (Ok(without), Ok(with)) = (without, with)
            && let Ok(pair) = OutputPair::new(without, with)
        {
            // Both directions are equal.
            all.push(Theorem::alike(&ITSELF, move |order| pair.renyi_up(Direction::Forward, order).min(pure(order))));
        }
        all
    }

    /// Where the loss changes, between the counts: once or twice.
    fn edges(self) -> Vec<f64> {
        let mut edges = vec![self.gamma.min(1.0 - self.gamma), self.gamma.max(1.0 - self.gamma)];
        edges.dedup();
        edges
    }

    /// The outcomes from small outputs to large ones, of a count of 0 or 1.
    fn rows(self, count: usize) -> Vec<LogIntegral> {
        let e = self.sigma.get().recip();
        // In logarithms, because b may underflow.
        let ln_step = log_sum_exp([self.gamma.ln(), libm::log1p(-self.gamma) - e].into_iter());
        let ln_a = (-0.5 * libm::expm1(-e)).ln() - ln_step;
        let ln_middle = (1.0 - 2.0 * self.gamma).abs().ln() + ln_a - if self.gamma <= 0.5 { e } else { 0.0 };
        let others = libm::log1p(-libm::exp(ln_middle)) - softplus(-e);
        let row = |ln_value: f64| LogIntegral {
            ln_value,
            error: 16.0 * f64::EPSILON * (1.0 + if ln_value.is_finite() { ln_value.abs() } else { 0.0 } + e),
        };
        let mut rows = vec![row(others)];
        if self.edges().len() == 2 {
            rows.push(row(ln_middle));
        }
        rows.push(row(others - e));
        // Reversed for count 1.
        if count == 1 {
            rows.reverse();
        }
        rows
    }

    fn checked(self) -> Result<()> {
        let legal = self.sigma.get().recip() < f64::INFINITY;
        Error::check_domain(legal, "scale of staircase noise", self.sigma.get(), "(0, inf)")?;
        Ok(())
    }
}

impl Mechanism for Staircase {
    fn kind(&self) -> &'static MechanismKind {
        STAIRCASE
    }

    fn parameters(&self) -> Parameters {
        Parameters::default().with("sigma", self.sigma.get()).with("gamma", self.gamma)
    }

    fn theorems_for(&self, _: &VoteHistogram, _: &WorstCases) -> Vec<Theorem> {
        self.theorems()
    }

    fn largest_loss(&self, _: &VoteHistogram) -> LargestLoss {
        LargestLoss::over(1.0, self.sigma)
    }

    fn output_distribution(&self, data: &VoteHistogram, _: Bins) -> Result<OutcomeDistribution> {
        self.checked()?;
        OutcomeDistribution::from_integrals(&self.rows(record(data)?))
    }

    fn sampler(&self, data: &VoteHistogram, neighbor: &VoteHistogram, _: Bins) -> Result<Box<dyn Sampler>> {
        self.checked()?;
        let counts = [record(data)? as f64, record(neighbor)? as f64];
        let (Self { sigma, gamma }, edges) = (*self, self.edges());
        let b = libm::exp(-sigma.get().recip());
        let units = Geometric::new(1.0 - b).map_err(|error| rejected(error.to_string()))?;
        let first = if gamma == 0.0 { 0.0 } else { gamma / (gamma + (1.0 - gamma) * b) };
        // The noise as published: a sign, a geometric number of units, and the part of the unit.
        Ok(one_by_one(edges.len() + 1, move |world, stream| {
            let unit = units.sample(stream) as f64;
            let place: f64 = stream.random();
            let size =
                if stream.random_bool(first) { unit + gamma * place } else { unit + gamma + (1.0 - gamma) * place };
            let output = counts[world.index()] + if stream.random_bool(0.5) { size } else { -size };
            edges.partition_point(|edge| *edge <= output)
        }))
    }

    fn enclosed_losses(&self, data: &VoteHistogram, neighbor: &VoteHistogram, _: usize) -> Result<BothLosses> {
        (self as &dyn Mechanism).known_losses(data, neighbor)
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::super::tests::records;
    use super::*;
    use crate::quantity::Order;

    /// The density by its definition, summed over pieces on which it is constant for both counts.
    #[test]
    fn outcomes_keep_the_divergence_of_the_density() {
        let [without, with] = records();
        for (sigma, gamma) in [(1.0f64, 0.25), (0.5, 0.8), (2.0, 0.5), (0.3, 0.0), (5.0, 1.0), (1.0, 0.49)] {
            let e = sigma.recip();
            let b = libm::exp(-e);
            let a = 0.5 * (1.0 - b) / (gamma + b * (1.0 - gamma));
            let density = |x: f64| {
                let unit = x.abs().floor();
                a * libm::exp(-e * (unit + if x.abs() - unit < gamma { 0.0 } else { 1.0 }))
            };
            let mut edges: Vec<f64> =
                (-200..=200).flat_map(|k| [f64::from(k), f64::from(k) + gamma, f64::from(k) + 1.0 - gamma]).collect();
            edges.sort_by(f64::total_cmp);
            let text = format!("staircase:sigma={sigma},gamma={gamma}");
            let mechanism = parse(&text).unwrap();
            let pair = mechanism.output_pair(&without, &with, Bins::at(None)).unwrap();
            let theorems = mechanism.theorems_for(&without, &WorstCases::default());
            for order in [1.5, 3.0, 20.0] {
                let pieces = edges.windows(2).map(|ends| {
                    let (width, middle) = (ends[1] - ends[0], 0.5 * (ends[0] + ends[1]));
                    let (p, q) = (density(middle), density(middle - 1.0));
                    width * libm::pow(p / q, order - 1.0) * p
                });
                let expected = pieces.sum::<f64>().ln() / (order - 1.0);
                let order = Order::new(order).unwrap();
                for direction in Direction::BOTH {
                    let found = pair.renyi(direction, order);
                    assert!((found / expected - 1.0).abs() < 1e-11, "{text} {order}: {found} {expected}");
                    let [pure, itself] = [0, 1].map(|i| theorems[i].at(order, direction).unwrap().value);
                    assert!(
                        found <= itself && itself <= pure && itself < found * (1.0 + 1e-10),
                        "{found} {itself} {pure}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_best_gamma_is_the_default_and_others_are_checked() {
        let text = |text: &str| parse(text).map(|mechanism| mechanism.to_string()).map_err(|error| error.to_string());
        assert_eq!(text("staircase:sigma=1e300").unwrap(), format!("staircase:sigma={},gamma=0.5", 1e300));
        assert!(text("staircase:sigma=1,gamma=1.5").unwrap_err().contains("gamma = 1.5 is not in [0, 1]"));
    }
}
