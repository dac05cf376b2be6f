//! Noisy argmax with Laplace noise: Gauss-Legendre panels between the kinks at the counts.
//!
//! Distances are in units of the scale b. In the panel above the count of group i, at the distance s from it,
//! Σ ln F = Σ_{j below or at i} m_j ln(1 - e^{-(s+δ_ij)}/2) + M (s - ln 2) - U with M the number of classes above and
//! U their summed distances from i: beyond 40 from every kink the logarithms vanish and the integral is closed.
//! Every integrand is log-concave over the line, so on the way down from the top, a class is finished once its
//! integrand falls and is negligible.

use super::count_groups::CountGroups;
use crate::error::Result;
use crate::quadrature::LogIntegral;
use std::f64::consts::LN_2;

/// Nodes and weights of the 16-point Gauss-Legendre rule on [-1, 1]; abscissae are symmetric (Abramowitz and Stegun,
/// table 25.4; recomputed by Newton's method on P_16 in the tests).
pub(super) const GAUSS_LEGENDRE: [(f64, f64); 8] = [
    (0.095_012_509_837_637_440_185, 0.189_450_610_455_068_496_285),
    (0.281_603_550_779_258_913_230, 0.182_603_415_044_923_588_867),
    (0.458_016_777_657_227_386_342, 0.169_156_519_395_002_538_189),
    (0.617_876_244_402_643_748_447, 0.149_595_988_816_576_732_081),
    (0.755_404_408_355_003_033_895, 0.124_628_971_255_533_872_052),
    (0.865_631_202_387_831_743_880, 0.095_158_511_682_492_784_810),
    (0.944_575_023_073_232_576_078, 0.062_253_523_938_647_892_863),
    (0.989_400_934_991_649_932_596, 0.027_152_459_411_754_094_852),
];
/// Beyond this distance from a kink, ln(1 - e^{-z}/2) is below 1e-19 of anything it is added to.
const FAR: f64 = 45.0;
/// A class is finished when its falling integrand is below exp(-45) of its integral so far.
const DROP: f64 = 45.0;

/// ln P of one class of each group.
pub(super) fn distribution(groups: &CountGroups) -> Result<Vec<LogIntegral>> {
    let mut classes: Vec<Gathered> = groups.groups.iter().map(|_| Gathered::default()).collect();
    let mut above = 0.0;
    let (mut distances_above, mut distances_to_upper) = (0.0, 0.0);
    for index in 0..groups.groups.len() {
        let width = if index == 0 { f64::INFINITY } else { groups.distance(index, index - 1) };
        let panel = Panel { groups, index, above, distances_above, distances_to_upper };
        if !panel.integrate(width, &mut classes) {
            break;
        }
        // Moving to the panel below: every class above this count is farther away, and this group joins them.
        above += groups.groups[index].multiplicity;
        distances_to_upper = distances_above;
        if index + 1 < groups.groups.len() {
            distances_above += above * groups.distance(index + 1, index);
        }
    }
    // Below the smallest count everything is exponential with slope C, one for each class.
    let lowest = -distances_above - above * LN_2;
    for class in classes.iter_mut().filter(|class| !class.finished) {
        class.add(lowest - above.ln(), 0.0);
    }
    Ok(classes.into_iter().map(Gathered::into_integral).collect())
}

impl CountGroups {
    /// Distance of group `low` below group `high`, in noise scales, from the exact difference of the counts.
    fn distance(&self, low: usize, high: usize) -> f64 {
        (self.groups[high].count - self.groups[low].count) as f64 / self.scale
    }
}

/// The integral of one class so far.
#[derive(Default)]
struct Gathered {
    /// ln of the parts, with the difference from a rule with half the points.
    parts: Vec<f64>,
    largest: Option<f64>,
    distance: f64,
    finished: bool,
}

impl Gathered {
    fn add(&mut self, ln_part: f64, distance: f64) {
        let scale = self.largest.map_or(ln_part, |largest| largest.max(ln_part));
        let before = self.largest.map_or(0.0, |largest| libm::exp(largest - scale));
        self.distance = self.distance * before + distance * libm::exp(ln_part - scale);
        self.largest = Some(scale);
        self.parts.push(ln_part);
    }

    fn into_integral(self) -> LogIntegral {
        let ln_value = crate::special::log_sum_exp(self.parts.iter().copied());
        let truncation = self.largest.map_or(0.0, |largest| self.distance * libm::exp(largest - ln_value));
        LogIntegral { ln_value, error: truncation + 4.0 * f64::EPSILON * (1.0 + ln_value.abs()) }
    }
}

/// The stretch from the count of group `index` up to the next larger count.
struct Panel<'a> {
    groups: &'a CountGroups,
    index: usize,
    /// M, the number of classes above.
    above: f64,
    /// U, their summed distances.
    distances_above: f64,
    /// Their summed distances from the upper end of the panel.
    distances_to_upper: f64,
}

/// Values at one point of a panel: Σ ln F and, for each class at or below, ln f - ln F.
struct Point {
    sum: f64,
    ratios: Vec<f64>,
}

impl Panel<'_> {
    /// Adds the panel's part to every unfinished class; false when all are finished.
    fn integrate(&self, width: f64, classes: &mut [Gathered]) -> bool {
        let near = width.min(FAR);
        if width > FAR {
            self.integrate_far(width, classes);
        }
        let pieces = (near * ((1.0 + self.above) / 8.0).max(1.0)).ceil().max(1.0);
        let step = near / pieces;
        let mut high = self.point(near);
        let mut piece = pieces;
        while piece >= 1.0 {
            let low_end = (piece - 1.0) * step;
            let low = self.point(low_end);
            self.integrate_piece(low_end, step, classes);
            let mut active = false;
            for (class, gathered) in classes.iter_mut().enumerate() {
                let (top, bottom) = (self.log_integrand(&high, class), self.log_integrand(&low, class));
                let negligible = gathered.largest.is_some_and(|largest| top < largest - DROP);
                gathered.finished |= bottom <= top && negligible;
                active |= !gathered.finished;
            }
            if !active {
                return false;
            }
            high = low;
            piece -= 1.0;
        }
        true
    }

    /// The part farther than FAR above the kink, where the log-integrand is linear: exp(α + β s).
    fn integrate_far(&self, width: f64, classes: &mut [Gathered]) {
        let length = width - FAR;
        for (class, gathered) in classes.iter_mut().enumerate().filter(|(_, gathered)| !gathered.finished) {
            let below = class >= self.index;
            let slope = self.above - if below { 1.0 } else { 0.0 };
            let own = if below { -LN_2 - self.groups.distance(class, self.index) } else { 0.0 };
            // The distances first: they cancel in the panel of the second largest count, and may be 1e16 times ln 2.
            let at = |s: f64| {
                (self.above * s - self.distances_above) - self.above * LN_2 + own - if below { s } else { 0.0 }
            };
            let part = if slope == 0.0 {
                at(FAR) + length.ln()
            } else if slope < 0.0 {
                // Above all counts, where the panel has no end.
                at(FAR)
            } else {
                // At the upper end, use the distances there: in a wide panel, at(width) is a difference of large
                // numbers.
                let own = if below { -LN_2 - self.groups.distance(class, self.index - 1) } else { 0.0 };
                let at_width = own - self.above * LN_2 - self.distances_to_upper;
                at_width + (-libm::expm1(-slope * length)).ln() - slope.ln()
            };
            gathered.add(part, 0.0);
        }
    }

    /// Gauss-Legendre on [low, low + step]: the sum over two halves, with its distance from the undivided rule.
    fn integrate_piece(&self, low: f64, step: f64, classes: &mut [Gathered]) {
        let half = 0.5 * step;
        let rule = |from: f64, length: f64| -> Vec<(Point, f64)> {
            GAUSS_LEGENDRE
                .iter()
                .flat_map(|&(node, weight)| [(-node, weight), (node, weight)])
                .map(|(node, weight)| (self.point(from + 0.5 * length * (1.0 + node)), 0.5 * length * weight))
                .collect()
        };
        let (whole, mut halves) = (rule(low, step), rule(low, half));
        halves.extend(rule(low + half, half));
        for (class, gathered) in classes.iter_mut().enumerate().filter(|(_, gathered)| !gathered.finished) {
            let value = |points: &[(Point, f64)], scale: f64| -> f64 {
                points.iter().map(|(point, weight)| weight * libm::exp(self.log_integrand(point, class) - scale)).sum()
            };
            let scale =
                halves.iter().fold(f64::NEG_INFINITY, |top: f64, (point, _)| top.max(self.log_integrand(point, class)));
            let fine = value(&halves, scale);
            let coarse = value(&whole, scale);
            gathered.add(scale + fine.ln(), (fine - coarse).abs() / fine);
        }
    }

    /// Σ ln F and the ratios at the distance s above the kink.
    fn point(&self, s: f64) -> Point {
        let mut sum = self.above * (s - LN_2) - self.distances_above;
        let mut ratios = Vec::with_capacity(self.groups.groups.len() - self.index);
        for (offset, group) in self.groups.groups[self.index..].iter().enumerate() {
            let z = s + self.groups.distance(self.index + offset, self.index);
            let ln_f = if z < FAR { libm::log1p(-0.5 * libm::exp(-z)) } else { 0.0 };
            sum += group.multiplicity * ln_f;
            ratios.push(-z - LN_2 - ln_f);
        }
        Point { sum, ratios }
    }

    /// ln of the integrand of a class: above the point f = F, so only the sum remains.
    fn log_integrand(&self, point: &Point, class: usize) -> f64 {
        point.sum + if class >= self.index { point.ratios[class - self.index] } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::{GAUSS_LEGENDRE, Gathered};
    use crate::distribution::{Noise, noisy_argmax_distribution};
    use crate::histogram::VoteHistogram;
    use crate::quantity::NoiseScale;

    #[test]
    fn a_far_class_takes_nothing_from_a_tie() {
        for scale in [1.0, 1e-3, 1e-70] {
            let histogram = VoteHistogram::new(vec![100_000, 100_000, 0]).unwrap();
            let distribution =
                noisy_argmax_distribution(&histogram, Noise::Laplace(NoiseScale::new(scale).unwrap())).unwrap();
            assert!((distribution.p()[0] - 0.5).abs() < 1e-14, "{scale}: {distribution:?}");
        }
    }

    #[test]
    fn the_rule_integrates_even_powers_exactly() {
        for power in (0..32).step_by(2) {
            let sum: f64 = GAUSS_LEGENDRE.iter().map(|(x, w)| 2.0 * w * x.powi(power)).sum();
            let exact = 2.0 / f64::from(power + 1);
            assert!((sum / exact - 1.0).abs() < 1e-14, "{power}: {sum} {exact}");
        }
    }

    /// 0.3 that is off by a thousandth of itself, and 0.1 that is exact.
    #[test]
    fn the_error_of_a_sum_is_the_mean_of_those_of_its_parts() {
        for turned in [false, true] {
            let mut parts = [(0.3f64, 1e-3), (0.1, 0.0)];
            if turned {
                parts.reverse();
            }
            let mut gathered = Gathered::default();
            parts.into_iter().for_each(|(part, distance)| gathered.add(part.ln(), distance));
            let integral = gathered.into_integral();
            assert!((integral.ln_value - 0.4f64.ln()).abs() < 1e-15);
            assert!((integral.error / 7.5e-4 - 1.0).abs() < 1e-9, "{}", integral.error);
        }
    }
}
