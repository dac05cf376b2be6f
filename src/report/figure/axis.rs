//! From values to places: linear and logarithmic scales, ticks, and rails for zero and infinity.

use serde::Serialize;
use std::ops::RangeInclusive;

/// How values are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Equal differences are equally far apart.
    Linear,
    /// Equal ratios are equally far apart; zero has a separate rail beyond the end.
    Log,
}

/// What an axis measures, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Axis {
    /// Quantity and unit.
    pub label: String,
    /// The spacing.
    pub scale: Scale,
}

impl Axis {
    /// A linear axis.
    #[must_use]
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Linear }
    }

    /// A logarithmic axis.
    #[must_use]
    pub fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Log }
    }
}

/// Where a value is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rail {
    /// On the scale.
    Inside,
    /// A logarithmic scale has no place for it.
    Zero,
    /// No scale has a place for it.
    Infinity,
}

/// An axis with its values and its place.
#[derive(Debug, Clone)]
pub(super) struct Ruler {
    scale: Scale,
    /// Ends of the scale, logarithms to base 10 on a logarithmic one.
    low: f64,
    high: f64,
    /// Where the ends of the scale are.
    start: f64,
    end: f64,
    /// Where zero is, if it has a rail.
    pub zero: Option<f64>,
    /// Where infinity is, if some value is infinite.
    pub infinity: Option<f64>,
}

/// Room of a rail: its label and half of the longest tick next to it.
const RAIL: f64 = 46.0;

/// Labels of a scale at most.
const MOST_TICKS: f64 = 8.0;

impl Ruler {
    /// A scale for these values between two places; NaN is not a value.
    pub(super) fn new(scale: Scale, values: impl Iterator<Item = f64> + Clone, [mut start, mut end]: [f64; 2]) -> Self {
        let beyond = RAIL.copysign(end - start);
        let zero = (scale == Scale::Log && values.clone().any(|value| value <= 0.0)).then(|| {
            start += beyond;
            start - 0.6 * beyond
        });
        let infinity = values.clone().any(|value| value == f64::INFINITY).then(|| {
            end -= beyond;
            end + 0.6 * beyond
        });
        let finite = values.filter(|value| value.is_finite() && (scale == Scale::Linear || *value > 0.0));
        let (low, high) = match scale {
            Scale::Linear => linear_ends(finite),
            Scale::Log => log_ends(finite.map(f64::log10)),
        };
        Self { scale, low, high, start, end, zero, infinity }
    }

    /// Where a value is drawn; none for NaN and for minus infinity on a linear scale.
    pub(super) fn place(&self, value: f64) -> Option<(f64, Rail)> {
        if value == f64::INFINITY {
            return self.infinity.map(|at| (at, Rail::Infinity));
        }
        if self.scale == Scale::Log && value <= 0.0 {
            return self.zero.map(|at| (at, Rail::Zero));
        }
        value.is_finite().then(|| (self.at(value), Rail::Inside))
    }

    fn at(&self, value: f64) -> f64 {
        let value = if self.scale == Scale::Log { value.log10() } else { value };
        // Halves, because the difference of two doubles may be none.
        let share = (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0);
        self.start + share * (self.end - self.start)
    }

    /// Ends of the scale.
    pub(super) const fn ends(&self) -> [f64; 2] {
        [self.start, self.end]
    }

    /// Places and labels of round values.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let values = match self.scale {
            Scale::Linear => round_values(self.low, self.high),
            Scale::Log => log_values(self.low, self.high),
        };
        self.labeled(&values)
    }

    fn labeled(&self, values: &[f64]) -> Vec<(f64, String)> {
        // 1000 next to 10⁶ is 10³.
        let plain = if values.iter().any(|value| !PLAIN.contains(&exponent(*value))) { -2..=2 } else { PLAIN };
        values.iter().map(|&value| (self.at(value), tick_label(value, plain.clone()))).collect()
    }

    /// Ticks at the values themselves, if they are few and far enough apart.
    pub(super) fn ticks_at(&self, values: impl Iterator<Item = f64>) -> Vec<(f64, String)> {
        let mut values: Vec<f64> =
            values.filter(|value| matches!(self.place(*value), Some((_, Rail::Inside)))).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let ticks = self.labeled(&values);
        let apart = ticks.windows(2).all(|pair| (pair[1].0 - pair[0].0).abs() >= 30.0);
        if apart && (1..=MOST_TICKS as usize + 1).contains(&ticks.len()) { ticks } else { self.ticks() }
    }
}

fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |ends, value| match ends {
        None => Some((value, value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    })
}

/// The ends with zero, unless that would leave the values in a corner.
fn linear_ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut low, mut high) = ends(values).unwrap_or((0.0, 1.0));
    if low > 0.0 && low <= high / 2.0 {
        low = 0.0;
    }
    let room = (high / 2.0 - low / 2.0) * 0.08;
    high = (high + room).min(f64::MAX);
    low = if low == 0.0 { 0.0 } else { (low - room).max(f64::MIN) };
    if high > low {
        return (low, high);
    }
    // One value alone.
    let size = low.abs().max(f64::MIN_POSITIVE) / 2.0;
    if low == 0.0 { (0.0, 1.0) } else { (low - size, (high + size).min(f64::MAX)) }
}

fn log_ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = ends(values).unwrap_or((-1.0, 0.0));
    let room = (0.04 * (high - low)).max((0.25 - (high - low)) / 2.0).max(0.01);
    (low - room, high + room)
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn round_values(low: f64, high: f64) -> Vec<f64> {
    let rough = (high / MOST_TICKS - low / MOST_TICKS) * 1.4;
    let power = 10f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= rough).unwrap_or(rough);
    if !(step > 0.0 && step.is_finite()) {
        return vec![low, high];
    }
    let first = (low / step - 1e-9).ceil();
    (0..=2 * MOST_TICKS as u32)
        .map(|index| (first + f64::from(index)) * step)
        .take_while(|value| *value <= high + 1e-9 * step)
        .collect()
}

/// Powers of ten; their multiples by 2 and 5 where the scale is short, and round values where it is very short.
fn log_values(low: f64, high: f64) -> Vec<f64> {
    let decades = high - low;
    let step = (decades / MOST_TICKS).ceil().max(1.0) as i32;
    let factors: &[f64] = if decades > 4.0 {
        &[1.0]
    } else if decades > 2.2 {
        &[1.0, 3.0]
    } else {
        &[1.0, 2.0, 5.0]
    };
    let powers = (low.floor() as i32..=high.ceil() as i32).filter(|power| power.rem_euclid(step) == 0);
    // Written and read, because powers of ten made of doubles are not always the nearest ones.
    let values =
        powers.flat_map(|power| factors.iter().map(move |factor| format!("{factor}e{power}").parse().unwrap_or(0.0)));
    let values: Vec<f64> = values.filter(|value: &f64| (low..=high).contains(&value.log10())).collect();
    if values.len() >= 3 || decades > 1.0 { values } else { round_values(10f64.powf(low), 10f64.powf(high)) }
}

/// Powers of ten of numbers that are written out.
const PLAIN: RangeInclusive<i32> = -3..=4;

/// The power of ten of a number's first digit; 0 for 0.
fn exponent(value: f64) -> i32 {
    parts(value).1
}

/// A number with six digits as mantissa and exponent.
fn parts(value: f64) -> (String, i32) {
    let rounded = format!("{value:.5e}");
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    (mantissa.trim_end_matches('0').trim_end_matches('.').to_owned(), exponent.parse().unwrap_or(0))
}

/// A number for the reader of an axis, such as 0.05 or 2×10⁻⁵; written out where its power of ten is in this range.
fn tick_label(value: f64, plain: RangeInclusive<i32>) -> String {
    let (mantissa, exponent) = parts(value);
    if value == 0.0 {
        return "0".into();
    }
    if plain.contains(&exponent) {
        return format!("{mantissa}e{exponent}").parse::<f64>().unwrap_or(value).to_string();
    }
    let power: String = exponent.to_string().chars().map(superscript).collect();
    if mantissa == "1" { format!("10{power}") } else { format!("{mantissa}×10{power}") }
}

const fn superscript(digit: char) -> char {
    match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁰',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(scale: Scale, values: &[f64]) -> Vec<String> {
        let ruler = Ruler::new(scale, values.iter().copied(), [0.0, 400.0]);
        ruler.ticks().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(Scale::Linear, &[0.0, 1.0]), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(labels(Scale::Log, &[1e-7, 1e-3]), ["10⁻⁷", "10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³"]);
        assert_eq!(labels(Scale::Log, &[2.0, 64.0]), ["2", "5", "10", "20", "50"]);
        assert_eq!(labels(Scale::Log, &[0.5, 0.6]), ["0.5", "0.6", "0.7"]);
        assert_eq!(tick_label(2.5e-5, PLAIN), "2.5×10⁻⁵");
        assert_eq!(tick_label(1e10, PLAIN), "10¹⁰");
        assert_eq!(tick_label(-0.0, PLAIN), "0");
    }

    #[test]
    fn zero_and_infinity_have_rails() {
        let ruler = Ruler::new(Scale::Log, [0.0, 1e-3, 1.0, f64::INFINITY].into_iter(), [400.0, 0.0]);
        let [start, end] = ruler.ends();
        assert_eq!((start, end), (354.0, 46.0));
        let (zero, rail) = ruler.place(0.0).unwrap();
        assert!(rail == Rail::Zero && zero > start && zero < 400.0);
        let (infinity, rail) = ruler.place(f64::INFINITY).unwrap();
        assert!(rail == Rail::Infinity && infinity < end && infinity > 0.0);
        assert!(ruler.place(f64::NAN).is_none());
        let linear = Ruler::new(Scale::Linear, [0.0, 1.0].into_iter(), [0.0, 100.0]);
        assert_eq!(linear.place(0.0), Some((0.0, Rail::Inside)));
        assert!(linear.zero.is_none() && linear.infinity.is_none());
    }

    #[test]
    fn ticks_stand_at_a_few_values_themselves() {
        let orders = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        let ruler = Ruler::new(Scale::Log, orders.into_iter(), [0.0, 500.0]);
        let labels = |values: &[f64]| {
            let ticks = ruler.ticks_at(values.iter().copied()).into_iter();
            ticks.map(|(_, label)| label).collect::<Vec<_>>()
        };
        assert_eq!(labels(&orders), ["2", "4", "8", "16", "32", "64"]);
        assert_eq!(labels(&[2.0, 2.1, 64.0]), ["2", "5", "10", "20", "50"]);
    }

    proptest! {
        #[test]
        fn every_value_has_a_place(values in prop::collection::vec(prop_oneof![any::<f64>(), Just(0.0), 0.0..1.0f64], 0..9), log: bool) {
            let scale = if log { Scale::Log } else { Scale::Linear };
            let ruler = Ruler::new(scale, values.iter().copied(), [300.0, 10.0]);
            for value in values {
                if let Some((at, _)) = ruler.place(value) {
                    prop_assert!((9.0..=301.0).contains(&at), "{value} at {at}: {ruler:?}");
                }
            }
            let ticks = ruler.ticks();
            prop_assert!(ticks.len() <= 25, "{ticks:?}");
            for (at, _) in ticks {
                prop_assert!((8.0..=302.0).contains(&at), "{at}");
            }
        }
    }
}
