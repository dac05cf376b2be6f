//! The least scale of noise that is enough.

use crate::error::Result;
use crate::study::number::{digits_above, digits_below, nearest_digits};

/// Scales that are looked at.
const SCALES: [f64; 2] = [1e-6, 1e9];
/// How far the scale below that is not enough may be, relative to the one that is.
pub(super) const CLOSE: f64 = 2e-4;
/// The same if evaluating a scale takes almost no time.
pub(super) const CLOSEST: f64 = 1e-7;
/// Factors between the scales on the way to the first two between which the least one is.
const FIRST_STRIDE: f64 = 1.1;
const LONGEST_STRIDE: f64 = 4.0;
/// Digits of the scale that is found.
const DIGITS: usize = 6;

/// Where a property begins to hold as the scale grows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Least {
    /// At this scale, and not just below it.
    At {
        /// The scale, of few digits.
        enough: f64,
        /// A scale as close below as requested at which it does not hold.
        too_little: f64,
    },
    /// At every scale that was looked at, down to this one.
    Everywhere(f64),
    /// At none that was looked at, up to this one.
    Nowhere(f64),
}

/// The least scale at which `holds`: in longer and longer strides from `start`, where it may be, and then by halving in
/// logarithms. The scale that is returned was looked at itself, whatever the property does elsewhere.
pub(super) fn least(start: f64, close: f64, mut holds: impl FnMut(f64) -> Result<bool>) -> Result<Least> {
    let [smallest, largest] = SCALES;
    let start = if start.is_nan() { 1.0 } else { start.clamp(smallest, largest) };
    let (mut low, mut high, mut stride) = (start, start, FIRST_STRIDE);
    if holds(start)? {
        loop {
            if low <= smallest {
                return Ok(Least::Everywhere(high));
            }
            low = (low / stride).max(smallest);
            if !holds(low)? {
                break;
            }
            high = low;
            stride = (stride * stride).min(LONGEST_STRIDE);
        }
    } else {
        loop {
            if high >= largest {
                return Ok(Least::Nowhere(high));
            }
            low = high;
            high = (high * stride).min(largest);
            if holds(high)? {
                break;
            }
            stride = (stride * stride).min(LONGEST_STRIDE);
        }
    }
    while high > low * (1.0 + close) {
        let middle = (low * high).sqrt();
        if holds(middle)? { high = middle } else { low = middle }
    }
    // Rounds to few digits if the property also holds there: to the nearest if the search leaves no others, and upward
    // if rounding may meet a step of an enclosure.
    let near = nearest_digits(high, DIGITS);
    let only = (near > low && high - low < digits_above(high, DIGITS) - digits_below(high, DIGITS)).then_some(near);
    for enough in only.into_iter().chain([digits_above(high, DIGITS)]) {
        if enough == high || holds(enough)? {
            return Ok(Least::At { enough, too_little: low });
        }
    }
    Ok(Least::At { enough: high, too_little: low })
}

/// The number of few digits that is not above.
pub(super) fn rounded_down(value: f64) -> f64 {
    digits_below(value, DIGITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_are_found_where_they_are_the_least() {
        for truth in [2.0, 0.5, 1e-3, 40.0] {
            let found = least(1.0, CLOSEST, |scale| Ok(scale >= truth)).unwrap();
            assert!(
                matches!(found, Least::At { enough, too_little } if enough == truth && too_little < truth),
                "{found:?}"
            );
        }
    }

    #[test]
    fn the_least_scale_is_found_wherever_it_is() {
        for truth in [2.3e-6, 0.012_345_678, 0.999_999, 1.0, 1.000_001, 57.0, 6.02e8] {
            for start in [1.0, truth, 0.99 * truth, 300.0 * truth, 0.0, f64::INFINITY, f64::NAN] {
                let mut looks = 0;
                let found = least(start, CLOSE, |scale| {
                    looks += 1;
                    Ok(scale >= truth)
                });
                let Least::At { enough, too_little } = found.unwrap() else { panic!("{truth}") };
                assert!(enough >= truth && too_little < truth, "{truth}: {enough} {too_little}");
                assert!(enough <= truth * (1.0 + 1.1 * CLOSE) && too_little >= truth * (1.0 - 1.1 * CLOSE), "{truth}");
                assert!(format!("{enough:e}").len() <= 12, "{enough}");
                let near = (start / truth - 1.0).abs() < 0.05;
                assert!(!near || looks <= 13, "{truth} from {start}: {looks}");
            }
        }
        assert!(matches!(least(1.0, CLOSE, |_| Ok(true)).unwrap(), Least::Everywhere(1e-6)));
        assert!(matches!(least(1.0, CLOSE, |_| Ok(false)).unwrap(), Least::Nowhere(1e9)));
    }
}
