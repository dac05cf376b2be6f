//! Values of options, read and checked.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command};
use leakbound::audit::Method;
use leakbound::bound::{Claimed, Direction};
use leakbound::histogram::{Changes, VoteHistogram};
use leakbound::quantity::{Delta, Epsilon, FailureProbability, Order, Probability};
use leakbound::study::{Methods, Number};
use serde::{Serialize, Serializer};
use std::ffi::OsStr;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

/// Rényi orders as written on the command line.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct Orders(pub Vec<Order>);

/// A value that was chosen by its name.
#[derive(Debug, Clone, Copy)]
pub struct Choice<T> {
    pub name: &'static str,
    pub value: T,
}

impl<T> Serialize for Choice<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

/// Names, their help texts, and what they mean.
pub type Names<T> = &'static [(&'static str, &'static str, T)];

/// Reads one of these names.
pub fn choice<T: Clone + Send + Sync + 'static>(names: Names<T>) -> impl TypedValueParser<Value = Choice<T>> {
    let known = names.iter().map(|(name, help, _)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(known).try_map(move |text| {
        let chosen = names.iter().find(|(name, ..)| *name == text);
        chosen.map(|(name, _, value)| Choice { name, value: value.clone() }).ok_or("no such name")
    })
}

/// A parser with the names that it reads, which shells complete and the help lists.
#[derive(Clone)]
struct Listed<P> {
    parser: P,
    names: Vec<&'static str>,
}

impl<P: TypedValueParser> TypedValueParser for Listed<P> {
    type Value = P::Value;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, text: &OsStr) -> Result<P::Value, clap::Error> {
        self.parser.parse_ref(command, arg, text)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names.iter().map(PossibleValue::new)))
    }
}

/// Reads what `parser` reads, and tells its names.
pub fn listed<P: TypedValueParser>(
    parser: P,
    names: impl IntoIterator<Item = &'static str>,
) -> impl TypedValueParser<Value = P::Value> {
    Listed { parser, names: names.into_iter().collect() }
}

/// Directions of divergences.
pub const DIRECTIONS: Names<&[Direction]> = &[
    ("forward", "D(P‖Q)", &[Direction::Forward]),
    ("reverse", "D(Q‖P)", &[Direction::Reverse]),
    ("both", "Both", &Direction::BOTH),
];

/// Directions as written on the command line.
pub type Directions = Choice<&'static [Direction]>;

/// The most threads.
pub const MOST_THREADS: usize = 4096;

pub type Parsed<T> = Result<T, String>;

/// A number in a document, where infinity is a word: null would say that the option was not given.
pub fn infinite<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    Number(*value).serialize(serializer)
}

/// The same of an option that may be absent.
pub fn some_infinite<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    value.map(Number).serialize(serializer)
}

/// A value as it is written.
pub fn written<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// The same of an option that may be absent.
pub fn some_written<S: Serializer>(value: &Option<impl Display>, serializer: S) -> Result<S::Ok, S::Error> {
    value.as_ref().map(ToString::to_string).serialize(serializer)
}

/// What the library reads from a text.
pub fn named<T: FromStr<Err = leakbound::Error>>(text: &str) -> Parsed<T> {
    text.trim().parse().map_err(|error: leakbound::Error| error.to_string())
}

pub fn number(text: &str) -> Parsed<f64> {
    text.trim().parse().map_err(|_| format!("`{text}` is not a number"))
}

pub fn quantity<T>(text: &str, check: impl Fn(f64) -> leakbound::Result<T>) -> Parsed<T> {
    check(number(text)?).map_err(|error| error.to_string())
}

pub fn delta(text: &str) -> Parsed<Delta> {
    quantity(text, Delta::new)
}

/// Infinity is a result and no question: every mechanism is (inf, δ)-differentially private.
pub fn epsilon(text: &str) -> Parsed<Epsilon> {
    Epsilon::new(bounded("epsilon", text)?).map_err(|error| error.to_string())
}

/// A finite number of at least 0.
pub fn bounded(quantity: &'static str, text: &str) -> Parsed<f64> {
    let value = number(text)?;
    let outside = leakbound::Error::Domain { quantity, value, domain: "[0, inf)" };
    if value >= 0.0 && value.is_finite() { Ok(value) } else { Err(outside.to_string()) }
}

pub fn failure_probability(text: &str) -> Parsed<FailureProbability> {
    quantity(text, FailureProbability::new)
}

pub fn mu(text: &str) -> Parsed<f64> {
    bounded("mu", text)
}

pub fn fraction(text: &str) -> Parsed<f64> {
    let value = number(text)?;
    if value > 0.0 && value < 1.0 { Ok(value) } else { Err(format!("pilot fraction = {value} is not in (0, 1)")) }
}

pub fn seed(text: &str) -> Parsed<u64> {
    text.trim().parse().map_err(|_| format!("`{text}` is not a whole number in [0, 2^64)"))
}

pub fn threads(text: &str) -> Parsed<usize> {
    let threads = text.trim().parse().ok().filter(|count| (1..=MOST_THREADS).contains(count));
    threads.ok_or_else(|| format!("`{text}` is not a whole number of threads in [1, {MOST_THREADS}]"))
}

/// A number of outputs, digit by digit: a count above 2^53 would be rounded.
pub fn count(text: &str) -> Parsed<u64> {
    let count = text.trim().parse().ok().filter(|count| *count <= leakbound::counts::MAX_COUNT);
    count.ok_or_else(|| format!("`{text}` is not a whole number in [0, 2^53]"))
}

pub fn resamples(text: &str) -> Parsed<usize> {
    whole_from(100, text, 1_000_000, "10^6").map(|resamples| resamples as usize)
}

pub fn samples(text: &str) -> Parsed<u64> {
    whole_from(1, text, leakbound::counts::MAX_COUNT, "2^53")
}

/// Reads whole numbers in [`least`, `most`], also in powers of ten; `words` are how messages write the latter.
pub fn whole<T: TryFrom<u64>>(
    least: u64,
    most: u64,
    words: &'static str,
) -> impl Fn(&str) -> Parsed<T> + Clone + Send + Sync + 'static {
    move |text| T::try_from(whole_from(least, text, most, words)?).map_err(|_| format!("`{text}` is too large"))
}

/// A whole number of at least `least`, also in powers of ten.
pub fn whole_from(least: u64, text: &str, most: u64, words: &str) -> Parsed<u64> {
    let value = number(text)?;
    if value >= least as f64 && value <= most as f64 && value.fract() == 0.0 {
        Ok(value as u64)
    } else {
        Err(format!("`{text}` is not a whole number in [{least}, {words}]"))
    }
}

/// `2,5` or `2..64`: every whole order of the range.
pub fn orders(text: &str) -> Parsed<Orders> {
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

pub fn methods(text: &str) -> Parsed<Methods> {
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

pub fn histogram(text: &str) -> Parsed<VoteHistogram> {
    let counts = text.split(',').map(count).collect::<Parsed<_>>()?;
    VoteHistogram::new(counts).map_err(|error| error.to_string())
}

pub fn changes(text: &str) -> Parsed<Changes> {
    text.parse().map_err(|_| {
        let [others @ .., last] = Changes::ALL.map(Changes::name);
        format!("`{text}` is not {} or {last}", others.join(", "))
    })
}

pub fn claim_rdp(text: &str) -> Parsed<(Order, Claimed)> {
    let (order, value) = text.split_once(':').ok_or_else(|| format!("`{text}` is not ORDER:VALUE"))?;
    Ok((quantity(order, Order::new)?, claimed(bounded("Rényi divergence", value)?)?))
}

pub fn claim_mu(text: &str) -> Parsed<Claimed> {
    claimed(mu(text)?)
}

fn claimed(value: f64) -> Parsed<Claimed> {
    Claimed::new(value).map_err(|error| error.to_string())
}

/// Any number but infinity.
pub fn threshold(text: &str) -> Parsed<f64> {
    let value = number(text)?;
    if value.is_finite() { Ok(value) } else { Err(format!("threshold = {value} is not in (-inf, inf)")) }
}

/// A time of at most a day.
pub fn seconds(text: &str) -> Parsed<f64> {
    let value = bounded("number of seconds", text)?;
    match Duration::try_from_secs_f64(value) {
        Ok(time) if time.as_secs() <= 86_400 => Ok(value),
        _ => Err(format!("`{text}` is more than a day")),
    }
}

pub fn probability(text: &str) -> Parsed<Probability> {
    quantity(text, Probability::new)
}
