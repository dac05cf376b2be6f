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
use std::fmt;

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

/// The counts of one set of outputs under both datasets.
#[derive(Debug, Deserialize)]
struct Counts {
    successes: u64,
    trials: u64,
    successes_neighbor: u64,
    trials_neighbor: u64,
    failure: f64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Formula {
    Mechanism(MechanismFormula),
    Conversion(ConversionFormula),
    Counts(CountsFormula),
}

/// As it is in the table.
impl fmt::Debug for Formula {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mechanism(formula) => formula.fmt(formatter),
            Self::Conversion(formula) => formula.fmt(formatter),
            Self::Counts(formula) => formula.fmt(formatter),
        }
    }
}

/// Privacy costs of mechanisms, and what they are made of.
#[derive(Debug, Deserialize)]
#[serde(tag = "formula", content = "inputs", rename_all = "kebab-case")]
enum MechanismFormula {
    Gaussian { order: f64, scale: f64, sensitivity: f64 },
    Gnmax { order: f64, scale: f64 },
    Threshold { order: f64, scale: f64 },
    Laplace { order: f64, scale: f64, sensitivity: f64 },
    GnmaxDataDependent { order: f64, scale: f64, log_q: f64 },
    LnmaxDataDependent { order: f64, scale: f64, log_q: f64 },
    LnQGaussian { histogram: Vec<u64>, scale: f64 },
    LnQLaplace { histogram: Vec<u64>, scale: f64 },
    ConfidentGnmax { order: f64, threshold: f64, sigma1: f64, sigma2: f64, histogram: Vec<u64>, form: ThresholdForm },
    Gnss { order: f64, beta: f64, scale: f64 },
    Group { order: f64, points: u64, scale: f64 },
    RandomizedResponse { order: f64, truth: f64 },
    KAryResponse { order: f64, epsilon: f64, answers: u64 },
    Exponential { order: f64, epsilon: f64 },
    AlibiScale { epsilon: f64 },
    SubsampledGaussian { order: f64, rate: f64, scale: f64 },
    SubsampledGroup { order: f64, rate: f64, scale: f64, points: u64 },
    SharedTeachers { order: f64, voters: u64, p: f64, marked: f64, direction: Direction },
}

/// Curves and their conversion to other guarantees.
#[derive(Debug, Deserialize)]
#[serde(tag = "formula", content = "inputs", rename_all = "kebab-case")]
enum ConversionFormula {
    Epsilon { order: f64, rdp: f64, delta: f64 },
    ClassicEpsilon { order: f64, rdp: f64, delta: f64 },
    Delta { order: f64, rdp: f64, epsilon: f64 },
    Composed { values: Vec<f64>, times: u64 },
    GaussianSigma { epsilon: f64, delta: f64 },
    GdpDelta { mu: f64, epsilon: f64 },
}

/// Limits from counts.
#[derive(Debug, Deserialize)]
#[serde(tag = "formula", content = "inputs", rename_all = "kebab-case")]
enum CountsFormula {
    ClopperPearsonLower {
        successes: u64,
        trials: u64,
        failure: f64,
    },
    ClopperPearsonUpper {
        successes: u64,
        trials: u64,
        failure: f64,
    },
    DkwLower {
        successes: u64,
        trials: u64,
        failure: f64,
    },
    Corner {
        order: f64,
        direction: Direction,
        #[serde(flatten)]
        counts: Counts,
    },
    SetEpsilon {
        delta: f64,
        #[serde(flatten)]
        counts: Counts,
    },
    SetDelta {
        epsilon: f64,
        #[serde(flatten)]
        counts: Counts,
    },
}

impl Counts {
    fn rectangle(&self) -> Result<Rectangle> {
        let [p, q] = [(self.successes, self.trials), (self.successes_neighbor, self.trials_neighbor)]
            .map(|(successes, trials)| BinomialCounts::new(successes, trials));
        Rectangle::two_tails(p?, q?, FailureProbability::new(self.failure)?)
    }
}

impl Formula {
    /// Its name, the side that it must be on, and what the library says.
    fn evaluate(&self) -> Result<(&'static str, Side, f64)> {
        match self {
            Self::Mechanism(formula) => formula.evaluate().map(|(name, value)| (name, Side::Upper, value)),
            Self::Conversion(formula) => formula.evaluate(),
            Self::Counts(formula) => formula.evaluate(),
        }
    }
}

impl MechanismFormula {
    /// Its name and an upper bound.
    fn evaluate(&self) -> Result<(&'static str, f64)> {
        let scale = NoiseScale::new;
        let votes = |histogram: &[u64]| VoteHistogram::new(histogram.to_vec());
        Ok(match *self {
            Self::Gaussian { order, scale: sigma, sensitivity } => {
                ("Gaussian mechanism", gaussian_rdp(Order::new(order)?, scale(sigma)?, sensitivity))
            }
            Self::Gnmax { order, scale: sigma } => ("GNMax", gnmax_data_independent(Order::new(order)?, scale(sigma)?)),
            Self::Threshold { order, scale: sigma } => {
                ("threshold test", threshold_data_independent(Order::new(order)?, scale(sigma)?))
            }
            Self::Laplace { order, scale: b, sensitivity } => {
                ("Laplace mechanism", laplace_mechanism_rdp(Order::new(order)?, scale(b)?, sensitivity))
            }
            Self::GnmaxDataDependent { order, scale: sigma, log_q } => {
                ("GNMax, data-dependent", gnmax_data_dependent(Order::new(order)?, scale(sigma)?, log_q))
            }
            Self::LnmaxDataDependent { order, scale: b, log_q } => {
                ("LNMax, data-dependent", lnmax_data_dependent(Order::new(order)?, scale(b)?, log_q))
            }
            Self::LnQGaussian { ref histogram, scale: sigma } => {
                ("ln q of GNMax", log_flip_probability(&votes(histogram)?, scale(sigma)?))
            }
            Self::LnQLaplace { ref histogram, scale: b } => {
                ("ln q of LNMax", log_flip_probability_laplace(&votes(histogram)?, scale(b)?))
            }
            Self::ConfidentGnmax { order, threshold, sigma1, sigma2, ref histogram, form } => {
                let test = ThresholdTest::new(threshold, scale(sigma1)?, form)?;
                let cost = confident_gnmax_cost(Order::new(order)?, &test, scale(sigma2)?, &votes(histogram)?);
                ("Confident-GNMax", cost.whole())
            }
            Self::Gnss { order, beta, scale: sigma } => ("GNSS", gnss_rdp(Order::new(order)?, beta, scale(sigma)?)),
            Self::Group { order, points, scale: sigma } => {
                let sigma = scale(sigma)?;
                let rdp = |order| gnmax_data_independent(order, sigma);
                ("group", group_rdp(Order::new(order)?, points, rdp))
            }
            Self::RandomizedResponse { order, truth } => {
                ("randomized response", randomized_response_rdp(Order::new(order)?, Probability::new(truth)?))
            }
            Self::KAryResponse { order, epsilon, answers } => {
                let value = k_ary_randomized_response_rdp(Order::new(order)?, Epsilon::new(epsilon)?, answers)?;
                ("k-ary response", value)
            }
            Self::Exponential { order, epsilon } => {
                let value = exponential_mechanism_rdp(Order::new(order)?, Epsilon::new(epsilon)?);
                ("exponential mechanism", value)
            }
            Self::AlibiScale { epsilon } => ("scale of ALIBI", alibi_scale(Epsilon::new(epsilon)?)?.get()),
            Self::SubsampledGaussian { order, rate, scale: sigma } => {
                let value = subsampled_gaussian_rdp(Order::new(order)?, Probability::new(rate)?, scale(sigma)?, 1.0);
                ("subsampled Gaussian", value)
            }
            Self::SubsampledGroup { order, rate, scale: sigma, points } => {
                let (order, rate) = (Order::new(order)?, Probability::new(rate)?);
                let value = subsampled_gaussian_group_rdp(order, rate, scale(sigma)?, 1.0, points);
                ("subsampled Gaussian, group", value)
            }
            Self::SharedTeachers { order, voters, p, marked, direction } => {
                let teachers = SharedTeachers::new(voters, &[p, 1.0 - p], &[marked, 1.0 - marked], 1)?;
                ("cap of shared teachers", teachers.cap(Order::new(order)?, direction)?.value)
            }
        })
    }
}

impl ConversionFormula {
    fn evaluate(&self) -> Result<(&'static str, Side, f64)> {
        use Side::{Nearest, Upper};
        Ok(match *self {
            Self::Epsilon { order, rdp, delta } => {
                ("epsilon of RDP", Upper, epsilon_of_rdp(rdp, Order::new(order)?, Delta::new(delta)?).get())
            }
            Self::ClassicEpsilon { order, rdp, delta } => {
                let value = classic_epsilon_of_rdp(rdp, Order::new(order)?, Delta::new(delta)?);
                ("epsilon of RDP, classic", Upper, value.get())
            }
            Self::Delta { order, rdp, epsilon } => {
                ("delta of RDP", Upper, delta_of_rdp(rdp, Order::new(order)?, Epsilon::new(epsilon)?))
            }
            Self::Composed { ref values, times } => {
                let orders = [Order::new(2.0)?];
                let mut curves = values.iter().map(|&value| RdpCurve::new(orders.to_vec(), vec![value]));
                let first = RdpCurve::new(orders.to_vec(), vec![0.0])?;
                let sum = curves.try_fold(first, |sum, curve| sum.composed(&curve?))?;
                ("composition of RDP", Upper, sum.repeated(times as f64).values()[0])
            }
            Self::GaussianSigma { epsilon, delta } => {
                ("noise for epsilon, delta", Upper, gaussian_sigma(Epsilon::new(epsilon)?, Delta::new(delta)?)?.get())
            }
            Self::GdpDelta { mu, epsilon } => ("delta of mu-GDP", Nearest, gdp_delta(mu, Epsilon::new(epsilon)?)?),
        })
    }
}

impl CountsFormula {
    fn evaluate(&self) -> Result<(&'static str, Side, f64)> {
        use Side::{Lower, Upper};
        Ok(match *self {
            Self::ClopperPearsonLower { successes, trials, failure } => {
                let counts = BinomialCounts::new(successes, trials)?;
                let value = clopper_pearson_lower(counts, FailureProbability::new(failure)?)?.value;
                ("Clopper-Pearson, lower", Lower, value)
            }
            Self::ClopperPearsonUpper { successes, trials, failure } => {
                let counts = BinomialCounts::new(successes, trials)?;
                let value = clopper_pearson_upper(counts, FailureProbability::new(failure)?)?.value;
                ("Clopper-Pearson, upper", Upper, value)
            }
            Self::DkwLower { successes, trials, failure } => {
                let counts = BinomialCounts::new(successes, trials)?;
                let [lower, _] = dkw_limits(counts, FailureProbability::new(failure)?);
                ("uniform band, lower", Lower, lower.value)
            }
            Self::Corner { order, direction, ref counts } => {
                ("two-cut divergence", Lower, counts.rectangle()?.corner(Order::new(order)?, direction).value)
            }
            Self::SetEpsilon { delta, ref counts } => {
                let bound = counts.rectangle()?.epsilon(Delta::new(delta)?, Direction::Forward);
                ("epsilon of one set", Lower, bound.value)
            }
            Self::SetDelta { epsilon, ref counts } => {
                let bound = counts.rectangle()?.delta(Epsilon::new(epsilon)?, Direction::Forward);
                ("delta of one set", Lower, bound.value)
            }
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
