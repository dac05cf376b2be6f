//! Values of options, read and checked.

use clap::ValueEnum;
use leakbound::audit::{BinRule, Method};
use leakbound::bound::{Claimed, Direction};
use leakbound::histogram::{Changes, VoteHistogram};
use leakbound::quantity::{Delta, Epsilon, FailureProbability, Order};
use leakbound::study::{Methods, Number};
use serde::{Serialize, Serializer};

/// Rényi orders as written on the command line.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct Orders(pub Vec<Order>);

/// Directions as written on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Directions {
    /// D(P‖Q)
    Forward,
    /// D(Q‖P)
    Reverse,
    /// Both
    Both,
}

impl Directions {
    /// The directions meant.
    pub fn list(self) -> Vec<Direction> {
        match self {
            Self::Forward => vec![Direction::Forward],
            Self::Reverse => vec![Direction::Reverse],
            Self::Both => Direction::BOTH.to_vec(),
        }
    }
}

/// The most threads.
pub const MOST_THREADS: usize = 4096;

pub(super) type Parsed<T> = Result<T, String>;

/// A number in a document, where infinity is a word: null would say that the option was not given.
pub(super) fn infinite<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    Number(*value).serialize(serializer)
}

/// The same of an option that may be absent.
pub(super) fn some_infinite<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    value.map(Number).serialize(serializer)
}

pub(super) fn number(text: &str) -> Parsed<f64> {
    text.trim().parse().map_err(|_| format!("`{text}` is not a number"))
}

pub(super) fn quantity<T>(text: &str, check: impl Fn(f64) -> leakbound::Result<T>) -> Parsed<T> {
    check(number(text)?).map_err(|error| error.to_string())
}

pub(super) fn delta(text: &str) -> Parsed<Delta> {
    quantity(text, Delta::new)
}

/// Infinity is a result and no question: every mechanism is (inf, δ)-differentially private.
pub(super) fn epsilon(text: &str) -> Parsed<Epsilon> {
    Epsilon::new(bounded("epsilon", text)?).map_err(|error| error.to_string())
}

/// A finite number of at least 0.
pub(super) fn bounded(quantity: &'static str, text: &str) -> Parsed<f64> {
    let value = number(text)?;
    let outside = leakbound::Error::Domain { quantity, value, domain: "[0, inf)" };
    if value >= 0.0 && value.is_finite() { Ok(value) } else { Err(outside.to_string()) }
}

pub(super) fn failure_probability(text: &str) -> Parsed<FailureProbability> {
    quantity(text, FailureProbability::new)
}

pub(super) fn mu(text: &str) -> Parsed<f64> {
    bounded("mu", text)
}

pub(super) fn fraction(text: &str) -> Parsed<f64> {
    let value = number(text)?;
    if value > 0.0 && value < 1.0 { Ok(value) } else { Err(format!("pilot fraction = {value} is not in (0, 1)")) }
}

pub(super) fn seed(text: &str) -> Parsed<u64> {
    text.trim().parse().map_err(|_| format!("`{text}` is not a whole number in [0, 2^64)"))
}

pub(super) fn threads(text: &str) -> Parsed<usize> {
    let threads = text.trim().parse().ok().filter(|count| (1..=MOST_THREADS).contains(count));
    threads.ok_or_else(|| format!("`{text}` is not a whole number of threads in [1, {MOST_THREADS}]"))
}

/// A number of outputs, digit by digit: a count above 2^53 would be rounded.
pub(super) fn count(text: &str) -> Parsed<u64> {
    let count = text.trim().parse().ok().filter(|count| *count <= leakbound::counts::MAX_COUNT);
    count.ok_or_else(|| format!("`{text}` is not a whole number in [0, 2^53]"))
}

pub(super) fn resamples(text: &str) -> Parsed<usize> {
    whole_from(100, text, 1_000_000, "10^6").map(|resamples| resamples as usize)
}

pub(super) fn samples(text: &str) -> Parsed<u64> {
    whole(text, leakbound::counts::MAX_COUNT, "2^53")
}

/// A whole number of at least 1, also in powers of ten.
pub(super) fn whole(text: &str, most: u64, words: &str) -> Parsed<u64> {
    whole_from(1, text, most, words)
}

/// A whole number of at least `least`, also in powers of ten.
pub(super) fn whole_from(least: u64, text: &str, most: u64, words: &str) -> Parsed<u64> {
    let value = number(text)?;
    if value >= least as f64 && value <= most as f64 && value.fract() == 0.0 {
        Ok(value as u64)
    } else {
        Err(format!("`{text}` is not a whole number in [{least}, {words}]"))
    }
}

/// `2,5` or `2..64`: every whole order of the range.
pub(super) fn orders(text: &str) -> Parsed<Orders> {
    let mut orders = Vec::new();
    for part in text.split(',') {
        if let Some((from, to)) = part.split_once("..") {
            let whole = |end: &str| {
                end.trim().parse::<u32>().map_err(|_| format!("`{part}` is not a range of whole orders such as 2..64"))
            };
            let (from, to) = (whole(from)?, whole(to)?);
            if from > to || to - from > 10_000 {
                return Err(format!("`{part}` is not a range of 1 to 10,000 orders"));
            }
            for order in from..=to {
                orders.push(Order::new(f64::from(order)).map_err(|error| error.to_string())?);
            }
        } else {
            orders.push(quantity(part, Order::new)?);
        }
    }
    let mut distinct: Vec<Order> = Vec::with_capacity(orders.len());
    for order in orders {
        if !distinct.contains(&order) {
            distinct.push(order);
        }
    }
    Ok(Orders(distinct))
}

pub(super) fn methods(text: &str) -> Parsed<Methods> {
    match text {
        "all" => return Ok(Methods::All),
        "auto" => return Ok(Methods::Auto),
        _ => {}
    }
    let mut methods = Vec::new();
    for name in text.split(',') {
        let method: Method = name.trim().parse().map_err(|error: leakbound::Error| error.to_string())?;
        if !methods.contains(&method) {
            methods.push(method);
        }
    }
    Ok(Methods::Named(methods))
}

pub(super) fn histogram(text: &str) -> Parsed<VoteHistogram> {
    let counts = text.split(',').map(count).collect::<Parsed<_>>()?;
    VoteHistogram::new(counts).map_err(|error| error.to_string())
}

pub(super) fn changes(text: &str) -> Parsed<Changes> {
    text.parse().map_err(|_| {
        let [others @ .., last] = Changes::ALL.map(Changes::name);
        format!("`{text}` is not {} or {last}", others.join(", "))
    })
}

pub(super) fn claim_rdp(text: &str) -> Parsed<(Order, Claimed)> {
    let (order, value) = text.split_once(':').ok_or_else(|| format!("`{text}` is not ORDER:VALUE"))?;
    Ok((quantity(order, Order::new)?, claimed(bounded("Rényi divergence", value)?)?))
}

pub(super) fn claim_mu(text: &str) -> Parsed<Claimed> {
    claimed(mu(text)?)
}

fn claimed(value: f64) -> Parsed<Claimed> {
    Claimed::new(value).map_err(|error| error.to_string())
}

pub(super) fn bins(text: &str) -> Parsed<BinRule> {
    text.trim().parse().map_err(|error: leakbound::Error| error.to_string())
}
