//! Outward rounding: every published formula at extreme inputs, against its value in real arithmetic.

use crate::experiment::Report;
use crate::tables::{Decimal, load};
use leakbound::accountant::{
    alibi_scale, confident_gnmax_cost, exponential_mechanism_rdp, gaussian_rdp, gnmax_data_dependent,
    gnmax_data_independent, gnss_rdp, group_rdp, k_ary_randomized_response_rdp, laplace_mechanism_rdp,
    lnmax_data_dependent, log_flip_probability, log_flip_probability_laplace, randomized_response_rdp,
    subsampled_gaussian_group_rdp, subsampled_gaussian_rdp, threshold_data_independent,
};
use leakbound::audit::Rectangle;
use leakbound::bound::Direction;
use leakbound::distribution::{ThresholdForm, ThresholdTest};
use leakbound::divergence::{
    RdpCurve, SharedTeachers, classic_epsilon_of_rdp, delta_of_rdp, epsilon_of_rdp, gaussian_sigma, gdp_delta,
};
use leakbound::histogram::VoteHistogram;
use leakbound::interval::{BinomialCounts, clopper_pearson_lower, clopper_pearson_upper, dkw_limits};
use leakbound::quantity::{Delta, Epsilon, FailureProbability, NoiseScale, Order, Probability};
use leakbound::{Error, Result};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The table.
pub const FILE: &str = "rounding.json";

/// Relative accuracy of the table.
const DIGITS: f64 = 1e-28;

/// On which side of the exact value a number must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// At least the exact value.
    Upper,
    /// At most the exact value.
    Lower,
    /// Rounded to nearest: no bound.
    Nearest,
}

impl Side {
    const fn name(self) -> &'static str {
        match self {
            Self::Upper => "upper",
            Self::Lower => "lower",
            Self::Nearest => "nearest",
        }
    }
}

#[derive(Debug, Deserialize)]
struct Entry {
    #[serde(flatten)]
    formula: Formula,
    expected: Decimal,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Formula {
    Mechanism(MechanismFormula),
    Other(OtherFormula),
}

/// Privacy costs of mechanisms, and what they are made of.
#[derive(Debug, Deserialize)]
#[serde(tag = "formula", content = "inputs", rename_all = "kebab-case")]
enum MechanismFormula {
    Gaussian { order: Order, scale: NoiseScale, sensitivity: f64 },
    Gnmax { order: Order, scale: NoiseScale },
    Threshold { order: Order, scale: NoiseScale },
    Laplace { order: Order, scale: NoiseScale, sensitivity: f64 },
    GnmaxDataDependent { order: Order, scale: NoiseScale, log_q: f64 },
    LnmaxDataDependent { order: Order, scale: NoiseScale, log_q: f64 },
    LnQGaussian { histogram: VoteHistogram, scale: NoiseScale },
    LnQLaplace { histogram: VoteHistogram, scale: NoiseScale },
    ConfidentGnmax(Confident),
    Gnss { order: Order, beta: f64, scale: NoiseScale },
    Group { order: Order, points: u64, scale: NoiseScale },
    RandomizedResponse { order: Order, truth: Probability },
    KAryResponse { order: Order, epsilon: Epsilon, answers: u64 },
    Exponential { order: Order, epsilon: Epsilon },
    AlibiScale { epsilon: Epsilon },
    SubsampledGaussian { order: Order, rate: Probability, scale: NoiseScale },
    SubsampledGroup { order: Order, rate: Probability, scale: NoiseScale, points: u64 },
    SharedTeachers { order: Order, voters: u64, p: f64, marked: f64, direction: Direction },
}

/// Curves and their conversion to other guarantees, and limits from counts.
#[derive(Debug, Deserialize)]
#[serde(tag = "formula", content = "inputs", rename_all = "kebab-case")]
enum OtherFormula {
    Epsilon { order: Order, rdp: f64, delta: Delta },
    ClassicEpsilon { order: Order, rdp: f64, delta: Delta },
    Delta { order: Order, rdp: f64, epsilon: Epsilon },
    Composed { values: Vec<f64>, times: u64 },
    GaussianSigma { epsilon: Epsilon, delta: Delta },
    GdpDelta { mu: f64, epsilon: Epsilon },
    ClopperPearsonLower { successes: u64, trials: u64, failure: FailureProbability },
    ClopperPearsonUpper { successes: u64, trials: u64, failure: FailureProbability },
    DkwLower { successes: u64, trials: u64, failure: FailureProbability },
    Corner(Counts),
    SetEpsilon(Counts),
    SetDelta(Counts),
}

#[derive(Debug, Deserialize)]
struct Confident {
    order: Order,
    threshold: f64,
    sigma1: NoiseScale,
    sigma2: NoiseScale,
    histogram: VoteHistogram,
    form: ThresholdForm,
}

/// The counts of one set of outputs under both datasets, and what a formula has besides.
#[derive(Debug, Deserialize)]
struct Counts {
    #[serde(flatten)]
    at: At,
    successes: u64,
    trials: u64,
    successes_neighbor: u64,
    trials_neighbor: u64,
    failure: FailureProbability,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged)]
enum At {
    Divergence { order: Order, direction: Direction },
    Delta { delta: Delta },
    Epsilon { epsilon: Epsilon },
}

impl Counts {
    /// The lower bound of what is asked for.
    fn bound(&self) -> Result<f64> {
        let [p, q] = [(self.successes, self.trials), (self.successes_neighbor, self.trials_neighbor)]
            .map(|(successes, trials)| BinomialCounts::new(successes, trials));
        let rectangle = Rectangle::two_tails(p?, q?, self.failure)?;
        Ok(match self.at {
            At::Divergence { order, direction } => rectangle.corner(order, direction).value,
            At::Delta { delta } => rectangle.epsilon(delta, Direction::Forward).value,
            At::Epsilon { epsilon } => rectangle.delta(epsilon, Direction::Forward).value,
        })
    }
}

impl Formula {
    /// Its name, the side that it must be on, and what the library says.
    fn evaluate(&self) -> Result<(&'static str, Side, f64)> {
        match self {
            Self::Mechanism(formula) => formula.evaluate().map(|(name, value)| (name, Side::Upper, value)),
            Self::Other(formula) => formula.evaluate(),
        }
    }
}

impl MechanismFormula {
    /// Its name and an upper bound.
    fn evaluate(&self) -> Result<(&'static str, f64)> {
        Ok(match *self {
            Self::Gaussian { order, scale, sensitivity } => {
                ("Gaussian mechanism", gaussian_rdp(order, scale, sensitivity))
            }
            Self::Gnmax { order, scale } => ("GNMax", gnmax_data_independent(order, scale)),
            Self::Threshold { order, scale } => ("threshold test", threshold_data_independent(order, scale)),
            Self::Laplace { order, scale, sensitivity } => {
                ("Laplace mechanism", laplace_mechanism_rdp(order, scale, sensitivity))
            }
            Self::GnmaxDataDependent { order, scale, log_q } => {
                ("GNMax, data-dependent", gnmax_data_dependent(order, scale, log_q))
            }
            Self::LnmaxDataDependent { order, scale, log_q } => {
                ("LNMax, data-dependent", lnmax_data_dependent(order, scale, log_q))
            }
            Self::LnQGaussian { ref histogram, scale } => ("ln q of GNMax", log_flip_probability(histogram, scale)),
            Self::LnQLaplace { ref histogram, scale } => {
                ("ln q of LNMax", log_flip_probability_laplace(histogram, scale))
            }
            Self::ConfidentGnmax(Confident { order, threshold, sigma1, sigma2, ref histogram, form }) => {
                let test = ThresholdTest::new(threshold, sigma1, form)?;
                ("Confident-GNMax", confident_gnmax_cost(order, &test, sigma2, histogram).whole())
            }
            Self::Gnss { order, beta, scale } => ("GNSS", gnss_rdp(order, beta, scale)),
            Self::Group { order, points, scale } => {
                ("group", group_rdp(order, points, |order| gnmax_data_independent(order, scale)))
            }
            Self::RandomizedResponse { order, truth } => ("randomized response", randomized_response_rdp(order, truth)),
            Self::KAryResponse { order, epsilon, answers } => {
                ("k-ary response", k_ary_randomized_response_rdp(order, epsilon, answers)?)
            }
            Self::Exponential { order, epsilon } => {
                ("exponential mechanism", exponential_mechanism_rdp(order, epsilon))
            }
            Self::AlibiScale { epsilon } => ("scale of ALIBI", alibi_scale(epsilon)?.get()),
            Self::SubsampledGaussian { order, rate, scale } => {
                ("subsampled Gaussian", subsampled_gaussian_rdp(order, rate, scale, 1.0))
            }
            Self::SubsampledGroup { order, rate, scale, points } => {
                let value = subsampled_gaussian_group_rdp(order, rate, scale, 1.0, points);
                ("subsampled Gaussian, group", value)
            }
            Self::SharedTeachers { order, voters, p, marked, direction } => {
                let teachers = SharedTeachers::new(voters, &[p, 1.0 - p], &[marked, 1.0 - marked], 1)?;
                ("cap of shared teachers", teachers.cap(order, direction)?.value)
            }
        })
    }
}

impl OtherFormula {
    fn evaluate(&self) -> Result<(&'static str, Side, f64)> {
        use Side::{Lower, Nearest, Upper};
        Ok(match *self {
            Self::Epsilon { order, rdp, delta } => ("epsilon of RDP", Upper, epsilon_of_rdp(rdp, order, delta).get()),
            Self::ClassicEpsilon { order, rdp, delta } => {
                ("epsilon of RDP, classic", Upper, classic_epsilon_of_rdp(rdp, order, delta).get())
            }
            Self::Delta { order, rdp, epsilon } => ("delta of RDP", Upper, delta_of_rdp(rdp, order, epsilon)),
            Self::Composed { ref values, times } => {
                let orders = [Order::new(2.0)?];
                let mut curves = values.iter().map(|&value| RdpCurve::new(orders.to_vec(), vec![value]));
                let first = RdpCurve::new(orders.to_vec(), vec![0.0])?;
                let sum = curves.try_fold(first, |sum, curve| sum.composed(&curve?))?;
                ("composition of RDP", Upper, sum.repeated(times as f64).values()[0])
            }
            Self::GaussianSigma { epsilon, delta } => {
                ("noise for epsilon, delta", Upper, gaussian_sigma(epsilon, delta)?.get())
            }
            Self::GdpDelta { mu, epsilon } => ("delta of mu-GDP", Nearest, gdp_delta(mu, epsilon)?),
            Self::ClopperPearsonLower { successes, trials, failure } => {
                let limit = clopper_pearson_lower(BinomialCounts::new(successes, trials)?, failure)?;
                ("Clopper-Pearson, lower", Lower, limit.value)
            }
            Self::ClopperPearsonUpper { successes, trials, failure } => {
                let limit = clopper_pearson_upper(BinomialCounts::new(successes, trials)?, failure)?;
                ("Clopper-Pearson, upper", Upper, limit.value)
            }
            Self::DkwLower { successes, trials, failure } => {
                let [lower, _] = dkw_limits(BinomialCounts::new(successes, trials)?, failure);
                ("uniform band, lower", Lower, lower.value)
            }
            Self::Corner(ref counts) => ("two-cut divergence", Lower, counts.bound()?),
            Self::SetEpsilon(ref counts) => ("epsilon of one set", Lower, counts.bound()?),
            Self::SetDelta(ref counts) => ("delta of one set", Lower, counts.bound()?),
        })
    }
}

/// What was found of one formula.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The side that its values must be on.
    pub side: Side,
    /// Entries.
    pub cases: usize,
    /// The largest relative error, on the right side or not.
    pub worst: f64,
    /// The entry that has it.
    pub at: String,
    /// Entries on the wrong side, or without a value.
    pub wrong: Vec<String>,
}

/// Every entry of the table, by formula.
#[must_use]
pub fn rows() -> BTreeMap<&'static str, Row> {
    let mut rows = BTreeMap::new();
    for Entry { formula, expected } in load::<Entry>(FILE) {
        let (name, side, value) = formula.evaluate().unwrap_or_else(|error: Error| {
            // Every input of the table is legal.
            panic!("{formula:?}: {error}")
        });
        let row = rows.entry(name).or_insert(Row { side, cases: 0, worst: 0.0, at: String::new(), wrong: Vec::new() });
        row.cases += 1;
        let error = if value == expected.value && value.is_infinite() { 0.0 } else { expected.error_of(value) };
        // The table has 30 digits; a bound that is exact has more.
        let error = if error.abs() < DIGITS * expected.value.abs() { 0.0 } else { error };
        // A number that no double holds is at most the smallest double, and never 0 from above.
        let holds = match side {
            Side::Upper => error >= 0.0 && !(expected.underflows && value == 0.0),
            Side::Lower => error <= 0.0,
            Side::Nearest => true,
        };
        if !holds {
            row.wrong.push(format!("{formula:?}: {value:e}, exact {:e}, error {error:.2e}", expected.value));
        }
        // Of values below the normal doubles only the side can be told.
        if expected.value.abs() >= f64::MIN_POSITIVE && expected.value.is_finite() {
            let relative = (error / expected.value).abs();
            if !(relative <= row.worst) {
                (row.worst, row.at) = (relative, format!("{formula:?}"));
            }
        }
    }
    rows
}

/// The table of formulas with their worst relative errors and sides.
pub fn report() -> Report {
    let mut report = Report::new(
        "published formulas at extreme orders, scales, rates, deltas and counts against their values in real arithmetic \
         (reference/rounding.json, 120 digits): the largest relative error, and values on the wrong side of the exact one",
    );
    for (name, row) in rows() {
        let line = format!(
            "{name:<28} {:<8} {:>4} cases  worst relative error {:8.1e}  on the wrong side {}",
            row.side.name(),
            row.cases,
            row.worst,
            row.wrong.len(),
        );
        report.claim(row.wrong.is_empty(), line);
        report.line(format!("      worst at {}", row.at));
        for wrong in row.wrong {
            report.line(format!("      wrong: {wrong}"));
        }
    }
    report
}
