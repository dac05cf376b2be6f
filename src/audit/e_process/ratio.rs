//! The ratio of the distributions estimated from earlier outputs: a few levels, shrunk toward 1.

use crate::order;
use serde::{Deserialize, Serialize};

/// The largest number of levels, including that of unseen outcomes. Outcomes with nearly the same ratio share one, so a
/// block is a small table for any number of outcomes.
pub(super) const LEVELS: usize = 8;
/// Sorted outcomes are first combined into this many groups; then groups are merged by their distance.
const GROUPS: usize = 256;

/// Levels of P/Q as estimated before a block. Level 0 holds the unseen outcomes, with ratio 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Levels {
    /// ln of the estimated ratio, shrunk.
    pub(super) log_ratio: Vec<f64>,
    /// Probability of each level under both distributions, after shrinkage.
    pub(super) p: Vec<f64>,
    pub(super) q: Vec<f64>,
    /// The share of the estimated deviation from ratio 1 that is trusted; 0 if none, and then no bet is placed.
    pub(super) confidence: f64,
}

/// An outcome seen so far.
struct Seen {
    outcome: usize,
    log_ratio: f64,
    /// Mean of both frequencies.
    weight: f64,
    /// Geometric mean of both frequencies.
    mass: f64,
}

impl Levels {
    fn none() -> Self {
        Self { log_ratio: vec![0.0], p: vec![1.0], q: vec![1.0], confidence: 0.0 }
    }

    /// The levels of counts of both worlds, which may be fractions, and the level of each outcome.
    ///
    /// Frequencies are smoothed with half an output for each outcome seen (Jeffreys; Krichevsky and Trofimov 1981).
    /// The log ratios l of C outcomes have variances v = 1/x + 1/y; their mean square, less (C-1)(1/n + 1/n') for
    /// chance, estimates that of the true ones, τ², and l τ²/(τ² + v) is their posterior mean under a normal prior of
    /// variance τ² (Efron and Morris 1973). This does not matter for validity.
    pub(super) fn estimate(x: &[f64], y: &[f64]) -> (Vec<u8>, Self) {
        let nothing = || (vec![0; x.len()], Self::none());
        let (n, m): (f64, f64) = (x.iter().sum(), y.iter().sum());
        let outcomes: Vec<usize> = (0..x.len()).filter(|&c| x[c] + y[c] > 0.0).collect();
        if !(n > 0.0 && m > 0.0) || outcomes.len() < 2 {
            return nothing();
        }
        let half = 0.5 * outcomes.len() as f64;
        let raw = |c: usize| {
            let (p, q) = ((x[c] + 0.5) / (n + half), (y[c] + 0.5) / (m + half));
            (p, q, (p / q).ln())
        };
        let mean_square = |square: &dyn Fn(usize, f64) -> f64| -> f64 {
            outcomes.iter().map(|&c| 0.5 * (raw(c).0 + raw(c).1) * square(c, raw(c).2)).sum()
        };
        let signal = mean_square(&|_, l| l * l);
        let chance = (outcomes.len() - 1) as f64 * (1.0 / n + 1.0 / m);
        let tau = signal - chance;
        if !(tau > 0.0) {
            return nothing();
        }
        let shrink = |c: usize, l: f64| l * tau / (tau + 1.0 / (x[c] + 0.5) + 1.0 / (y[c] + 0.5));
        let believed = mean_square(&|c, l| shrink(c, l).powi(2));
        let mut seen: Vec<Seen> = outcomes
            .iter()
            .map(|&outcome| {
                let (p, q, l) = raw(outcome);
                Seen { outcome, log_ratio: shrink(outcome, l), weight: 0.5 * (p + q), mass: (p * q).sqrt() }
            })
            .collect();
        order::sort(&mut seen, |a, b| a.log_ratio.total_cmp(&b.log_ratio).then(a.outcome.cmp(&b.outcome)));
        let mut map = vec![0; x.len()];
        let mut levels =
            Self { log_ratio: vec![0.0], p: vec![0.0], q: vec![0.0], confidence: (believed / signal).sqrt() };
        for (level, group) in (1u8..).zip(groups(&seen)) {
            let members = &seen[group];
            let weight: f64 = members.iter().map(|seen| seen.weight).sum();
            let log_ratio = members.iter().map(|seen| seen.weight * seen.log_ratio).sum::<f64>() / weight;
            let mass: f64 = members.iter().map(|seen| seen.mass).sum();
            levels.log_ratio.push(log_ratio);
            levels.p.push(mass * libm::exp(0.5 * log_ratio));
            levels.q.push(mass * libm::exp(-0.5 * log_ratio));
            members.iter().for_each(|seen| map[seen.outcome] = level);
        }
        for distribution in [&mut levels.p, &mut levels.q] {
            let sum: f64 = distribution.iter().sum();
            distribution.iter_mut().for_each(|p| *p /= sum);
        }
        (map, levels)
    }

    /// The same with the worlds exchanged.
    pub(super) fn reversed(&self) -> Self {
        let log_ratio = self.log_ratio.iter().map(|l| -l).collect();
        Self { log_ratio, p: self.q.clone(), q: self.p.clone(), confidence: self.confidence }
    }

    /// Whether this can have been returned by [`estimate`](Self::estimate).
    pub(super) fn is_sound(&self) -> bool {
        let levels = self.log_ratio.len();
        let distribution =
            |distribution: &[f64]| distribution.len() == levels && distribution.iter().all(|p| (0.0..=1.0).contains(p));
        (1..=LEVELS).contains(&levels)
            && self.log_ratio.iter().all(|l| l.is_finite())
            && distribution(&self.p)
            && distribution(&self.q)
            && (0.0..=1.0).contains(&self.confidence)
    }
}

/// Splits sorted outcomes into at most `LEVELS - 1` runs: neighbors are merged where that changes the ratios least, in
/// weighted squares (Ward 1963).
fn groups(seen: &[Seen]) -> Vec<std::ops::Range<usize>> {
    // Many outcomes start as short runs without a wide gap.
    let size = seen.len().div_ceil(GROUPS);
    let range = seen.last().map_or(0.0, |last| last.log_ratio) - seen.first().map_or(0.0, |first| first.log_ratio);
    let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
    for i in 0..seen.len() {
        match runs.last_mut() {
            Some(run) if run.len() < size && seen[i].log_ratio - seen[i - 1].log_ratio <= range / GROUPS as f64 => {
                run.end = i + 1;
            }
            _ => runs.push(i..i + 1),
        }
    }
    let moments = |range: &std::ops::Range<usize>| {
        let members = &seen[range.clone()];
        let weight: f64 = members.iter().map(|seen| seen.weight).sum();
        (weight, members.iter().map(|seen| seen.weight * seen.log_ratio).sum::<f64>() / weight)
    };
    let mut of: Vec<(f64, f64)> = runs.iter().map(moments).collect();
    while runs.len() >= LEVELS {
        let loss = |i: usize| {
            let ((w, l), (v, k)) = (of[i], of[i + 1]);
            w * v / (w + v) * (l - k).powi(2)
        };
        let Some(cheapest) = (0..runs.len() - 1).min_by(|&a, &b| loss(a).total_cmp(&loss(b))) else { break };
        let second = runs.remove(cheapest + 1);
        runs[cheapest].end = second.end;
        of.remove(cheapest + 1);
        of[cheapest] = moments(&runs[cheapest]);
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_outcomes_become_a_few_levels_that_keep_the_ratios() {
        let x: Vec<f64> = (0..1_000).map(|c| if c % 3 == 0 { 3e6 } else { 2e6 }).collect();
        let y: Vec<f64> = (0..1_000).map(|c| if c % 3 == 0 { 2e6 } else { 2e6 + f64::from(c % 2) * 1e5 }).collect();
        let (map, levels) = Levels::estimate(&x, &y);
        assert!(levels.is_sound() && levels.log_ratio.len() <= LEVELS && levels.confidence > 0.999);
        assert!((levels.p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let offset = (y.iter().sum::<f64>() / x.iter().sum::<f64>()).ln();
        for c in 0..1_000 {
            let l = levels.log_ratio[map[c] as usize];
            assert!((l - (x[c] / y[c]).ln() - offset).abs() < 1e-3, "{c}: {l}");
        }
    }

    #[test]
    fn chance_alone_is_not_believed() {
        for (x, y) in [
            (vec![], vec![]),
            (vec![5.0], vec![7.0]),
            (vec![5.0, 5.0], vec![5.0, 5.0]),
            (vec![52.0, 48.0], vec![49.0, 51.0]),
            (vec![0.0, 0.0], vec![1e9, 2e9]),
        ] {
            assert_eq!(Levels::estimate(&x, &y).1.confidence, 0.0);
        }
        let (map, levels) = Levels::estimate(&[1e12, 0.0, 0.0], &[0.0, 0.0, 1e12]);
        assert_eq!(map, [2, 0, 1]);
        assert!(levels.is_sound() && levels.log_ratio[2] > 10.0);
    }
}
