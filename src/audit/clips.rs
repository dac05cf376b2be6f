//! Log-ratios, with and without their extremes.

use crate::order;

/// The ratios unchanged, and cut at the ratio beyond which 1, 10 and 100 samples are expected: a rare outcome with an
/// extreme ratio makes the deviation large, and its mass counts just as well together with its neighbors.
pub(super) fn clips(log_ratio: &[f64], top: &[f64], base: &[f64], samples: u64) -> Vec<Vec<f64>> {
    let order = order::positions(log_ratio.len(), |a, b| log_ratio[a].total_cmp(&log_ratio[b]));
    let end = |classes: &mut dyn Iterator<Item = &usize>, expected: f64| {
        let mut beyond = 0.0;
        for &class in classes {
            beyond += top[class].max(base[class]) * samples as f64;
            if beyond >= expected {
                return log_ratio[class];
            }
        }
        0.0
    };
    let mut all: Vec<Vec<f64>> = Vec::new();
    for expected in [0.0, 1.0, 10.0, 100.0] {
        let low = end(&mut order.iter(), expected).min(0.0);
        let high = end(&mut order.iter().rev(), expected).max(0.0);
        let clipped: Vec<f64> = log_ratio.iter().map(|ratio| ratio.clamp(low, high)).collect();
        if !all.contains(&clipped) {
            all.push(clipped);
        }
    }
    all
}
