//! Numbers that options have, each within its domain.

use crate::args::values::{Parsed, number, quantity, whole_from};
use leakbound::quantity::NoiseScale;

pub fn any_count(text: &str) -> Parsed<usize> {
    whole_from(0, text, 1_000_000, "1e6").map(|count| count as usize)
}

pub fn count(text: &str) -> Parsed<usize> {
    whole_from(1, text, 1_000_000, "1e6").map(|count| count as usize)
}

pub fn two_or_more(text: &str) -> Parsed<usize> {
    whole_from(2, text, 1_000_000, "1e6").map(|count| count as usize)
}

/// A number that `inside` accepts if it is in the domain.
pub fn within(text: &str, inside: impl Fn(f64) -> bool, domain: &str) -> Parsed<f64> {
    let number = number(text)?;
    if inside(number) { Ok(number) } else { Err(format!("{number} is not in {domain}")) }
}

pub fn rate(text: &str) -> Parsed<f64> {
    within(text, |rate| rate > 0.0 && rate <= 1e3, "(0, 1000]")
}

pub fn factor(text: &str) -> Parsed<f64> {
    within(text, |factor| factor > 0.0 && factor <= 1.0, "(0, 1]")
}

/// Neither nothing nor all.
pub fn share(text: &str) -> Parsed<f64> {
    within(text, |share| share > 0.0 && share < 1.0, "(0, 1)")
}

pub fn below_1(text: &str) -> Parsed<f64> {
    within(text, |number| (0.0..1.0).contains(&number), "[0, 1)")
}

pub fn probability(text: &str) -> Parsed<f64> {
    within(text, |probability| (0.0..=1.0).contains(&probability), "[0, 1]")
}

pub fn percentage(text: &str) -> Parsed<f64> {
    within(text, |percentage| percentage > 0.0 && percentage <= 100.0, "(0, 100]")
}

pub fn at_least_0(text: &str) -> Parsed<f64> {
    within(text, |number| (0.0..f64::INFINITY).contains(&number), "[0, inf)")
}

pub fn above_0(text: &str) -> Parsed<f64> {
    within(text, |number| number > 0.0 && number.is_finite(), "(0, inf)")
}

pub fn noise_scale(text: &str) -> Parsed<NoiseScale> {
    quantity(text, NoiseScale::new)
}
