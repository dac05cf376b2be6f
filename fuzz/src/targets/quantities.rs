//! Every quantity takes any double: a number of its domain unchanged, everything else with an error that prints.

use crate::input::typed;
use leakbound::Result;
use leakbound::quantity::{Delta, Epsilon, FailureProbability, NoiseScale, Order, Probability};

pub fn run(bytes: &[u8]) {
    let Some((value, parts)) = typed::<(f64, usize)>(bytes) else { return };
    let positive = value > 0.0;
    check(value, Epsilon::new(value).map(Epsilon::get), value >= 0.0);
    check(value, Delta::new(value).map(Delta::get), (0.0..1.0).contains(&value));
    check(value, Order::new(value).map(Order::get), value > 1.0 && value.is_finite());
    check(value, FailureProbability::new(value).map(FailureProbability::get), positive && value < 1.0);
    check(value, Probability::new(value).map(Probability::get), (0.0..=1.0).contains(&value));
    check(value, NoiseScale::new(value).map(NoiseScale::get), positive && value.is_finite());

    if let Ok(whole) = FailureProbability::new(value) {
        let share = whole.split(parts);
        assert!(FailureProbability::new(share.get()).is_ok(), "a share of {whole} is {share}");
        assert!(share <= whole, "one of {parts} shares of {whole} is {share}");
        // Subnormal shares are rounded too coarsely to add up.
        let sum = share.get() * parts.max(1) as f64;
        assert!(!share.get().is_normal() || sum <= whole.get() * (1.0 + 1e-15), "{parts} shares of {whole}: {share}");
    }
}

fn check(value: f64, result: Result<f64>, legal: bool) {
    match result {
        Ok(kept) => assert!(legal && kept.to_bits() == value.to_bits(), "{value} was accepted as {kept}"),
        Err(error) => {
            let text = error.to_string();
            let shown = text.split([' ', '`']).find_map(|word| word.parse::<f64>().ok());
            // A NaN has no bits to keep, and -0 may lose its sign.
            let same = shown.is_some_and(|shown| shown == value || (shown.is_nan() && value.is_nan()));
            assert!(!legal && same, "{value}: {error}");
        }
    }
}
