//! Branch and bound over the plane: boxes that may contain a better critical point are quartered.

use super::line::{LineSupremum, Side, add_logs, line_supremum, log_excess_beyond};
use super::objective::{BLOCK, Outcome, Reach, Slack, moment};
use super::plane::outcomes;
use crate::special::{log_ndtr, ndtr};
use rustc_hash::FxBuildHasher;
use std::collections::HashMap;
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// Target relative width of the enclosure, as long as the search extends over fewer standard deviations than this;
/// beyond, where α/σ² is close anyway and no composition is optimal, it grows to a largest width.
const TOLERANCE: f64 = 1e-4;
const NARROW: f64 = 8.0;
const WIDEST_TOLERANCE: f64 = 1e-3;
/// Boxes examined for one order before its enclosure is left at its width.
const MAX_BOXES: usize = 20_000;
/// Approximate number of boxes in the first subdivision.
const FIRST_BOXES: f64 = 200.0;
/// F varies more slowly across, where only the share of "neither" changes.
const ASPECT: f64 = 1.5;
/// No box is smaller than 2^-LEVELS.
const LEVELS: i32 = 20;

/// Enclosure of sup ln F, and where the lower end is attained: t infinite for the half-line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PlaneSupremum {
    pub(super) lower: f64,
    pub(super) upper: f64,
    pub(super) s: f64,
    pub(super) t: f64,
    /// The half-line alone: C = 2.
    pub(super) line: LineSupremum,
}

/// The plane of one noise scale: outcomes do not depend on the order, so boxes are kept from one order to the next.
#[derive(Debug)]
pub(super) struct Plane {
    h: f64,
    /// The index of the outcomes of a box, by its level and position.
    places: HashMap<(i32, i32, i32), usize, FxBuildHasher>,
    outcomes: Vec<[Outcome; 3]>,
    last: Option<(f64, f64)>,
}

/// The remaining part of the plane: t ≤ `t`, u ≥ `u`, v ≥ `v`.
#[derive(Debug, Clone, Copy)]
struct Triangle {
    t: f64,
    u: f64,
    v: f64,
}

fn reach(level: i32) -> Reach {
    let s = 0.5f64.powi(level + 1);
    Reach { s, t: ASPECT * s }
}

fn center(box_: Reach, i: i32, j: i32) -> (f64, f64) {
    (f64::from(2 * i + 1) * box_.s, f64::from(2 * j + 1) * box_.t)
}

impl Plane {
    pub(super) fn new(h: f64) -> Self {
        Self { h, places: HashMap::default(), outcomes: Vec::new(), last: None }
    }

    /// Encloses the supremum at one order.
    ///
    /// Outside a triangle, other theorems hold. Revealing t whenever it is below -t₁, and with it s, is a finer
    /// experiment than any with t ≥ t₁: there F - 1 ≤ Φ(t₁) (F₂ - 1) + Φ(-t₁) (e^{α(α-1)h²} - 1) with the supremum F₂
    /// of the half-line. If u ≤ u₁, the first count seldom matters: F ≤ e^{α(α-1)h²/2} (1 + excess) by revealing the
    /// second count altogether; likewise for v. Within the triangle, a supremum is a critical point.
    pub(super) fn supremum(&mut self, a: f64) -> PlaneSupremum {
        let h = self.h;
        let whole = a * (a - 1.0) * h * h;
        let tolerance = (TOLERANCE * (a * h / NARROW).max(1.0).powf(1.5)).min(WIDEST_TOLERANCE);
        let line = line_supremum(a, SQRT_2 * h);
        let mut found = PlaneSupremum { lower: line.lower, upper: whole, s: line.s, t: f64::INFINITY, line };
        if !(whole > line.lower * (1.0 + tolerance)) {
            return found;
        }
        if let Some((s, t)) = self.last {
            let value = moment(&outcomes(s, t, h, Reach { s: 0.0, t: 0.0 }), a).ln;
            if value > found.lower {
                (found.lower, found.s, found.t) = (value, s, t);
            }
        }
        let (triangle, outside) = remaining(a, h, whole, &line, found.lower * (1.0 + tolerance));
        found.upper = outside.min(whole);
        let mut level = first_level(triangle);
        let mut active = first_boxes(triangle, level);
        let mut seen = 0;
        while !active.is_empty() {
            seen += active.len();
            let box_ = reach(level);
            let slack = Slack::new(a, SQRT_2 * h, box_);
            let mut values = Vec::with_capacity(active.len());
            for block in active.chunks(BLOCK) {
                let mut kept = [0; BLOCK];
                for (kept, &(i, j)) in kept.iter_mut().zip(block) {
                    *kept = *self.places.entry((level, i, j)).or_insert(self.outcomes.len());
                    if *kept == self.outcomes.len() {
                        let (s, t) = center(box_, i, j);
                        self.outcomes.push(outcomes(s, t, h, box_));
                    }
                }
                let mut boxes = [&self.outcomes[0]; BLOCK];
                for (box_, kept) in boxes.iter_mut().zip(kept) {
                    *box_ = &self.outcomes[kept];
                }
                for (&(i, j), (ln, upper)) in block.iter().zip(slack.look(&boxes[..block.len()])) {
                    if ln > found.lower {
                        let (s, t) = center(box_, i, j);
                        (found.lower, found.s, found.t) = (ln, s, t);
                    }
                    values.push((i, j, upper));
                }
            }
            let goal = found.lower * (1.0 + tolerance);
            let last = seen > MAX_BOXES || level == LEVELS;
            active.clear();
            for (i, j, upper) in values {
                if upper > goal && !last {
                    active.extend([(2 * i, 2 * j), (2 * i + 1, 2 * j), (2 * i, 2 * j + 1), (2 * i + 1, 2 * j + 1)]);
                } else {
                    found.upper = found.upper.max(upper);
                }
            }
            level += 1;
        }
        found.upper = found.upper.min(whole);
        if found.t.is_finite() {
            self.last = Some((found.s, found.t));
        }
        found
    }
}

/// The triangle beyond which ln F is below the goal, or else below the value returned with it.
fn remaining(a: f64, h: f64, whole: f64, line: &LineSupremum, goal: f64) -> (Triangle, f64) {
    let half = 0.5 * whole;
    let spare = goal - half; // positive: the half-line alone reaches 2/π of the whole
    let far = |start: f64, side: Side| {
        let mut x = start;
        while log_excess_beyond(a, h, x, side) > log_expm1(spare.max(1e-300)) {
            x -= 0.25;
            if x < start - 1e3 {
                break;
            }
        }
        x
    };
    let (u, v) = (far(-(a - 1.0) * h, Side::Rising), far(-h, Side::Falling));
    let beyond = |t: f64| {
        if whole < 1.0 {
            libm::log1p(ndtr(t) * libm::expm1(line.upper) + ndtr(-t) * libm::expm1(whole))
        } else {
            add_logs(log_ndtr(t) + line.upper, log_ndtr(-t) + whole)
        }
    };
    let mut t = 0.5;
    while beyond(t) > goal && t < 30.0 {
        t += 0.125;
    }
    let outside = beyond(t).max(half + add_logs(0.0, log_excess_beyond(a, h, u, Side::Rising)));
    (Triangle { t, u, v }, outside.max(half + add_logs(0.0, log_excess_beyond(a, h, v, Side::Falling))))
}

/// ln(e^x - 1) for x > 0.
fn log_expm1(x: f64) -> f64 {
    if x > 40.0 { x } else { libm::expm1(x).ln() }
}

fn first_level(triangle: Triangle) -> i32 {
    // Legs of the triangle in s: at the top, t - √2 v and √2 u - t.
    let width = 2.0 * triangle.t - SQRT_2 * (triangle.u + triangle.v);
    let height = triangle.t - (triangle.u + triangle.v) * FRAC_1_SQRT_2;
    let level = (FIRST_BOXES / (0.5 * width * height / ASPECT)).log2() * 0.5;
    level.floor().clamp(-40.0, 2.0) as i32
}

fn first_boxes(triangle: Triangle, level: i32) -> Vec<(i32, i32)> {
    let box_ = reach(level);
    let index = |x: f64, reach: f64| (x / (2.0 * reach)).floor() as i32;
    let bottom = (triangle.u + triangle.v) * FRAC_1_SQRT_2;
    let mut boxes = Vec::new();
    for j in index(bottom, box_.t)..=index(triangle.t, box_.t) {
        let top = f64::from(j + 1) * 2.0 * box_.t;
        let (low, high) = (SQRT_2 * triangle.u - top, top - SQRT_2 * triangle.v);
        boxes.extend((index(low, box_.s)..=index(high, box_.s)).map(|i| (i, j)));
    }
    boxes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A right triangle with height t - (u + v)/√2: 50 to 200 boxes by area, plus those cut by its border.
    #[test]
    fn the_first_subdivision_has_about_two_hundred_boxes() {
        for step in 0..40 {
            let triangle = Triangle { t: 0.5 + 0.25 * f64::from(step), u: -4.0 - 0.1 * f64::from(step), v: -3.0 };
            let area = (triangle.t - (triangle.u + triangle.v) * FRAC_1_SQRT_2).powi(2);
            let level = first_level(triangle);
            let (box_, boxes) = (reach(level), first_boxes(triangle, level).len());
            let by_area = area / (4.0 * box_.s * box_.t);
            assert!(by_area > 0.249 * FIRST_BOXES && by_area < 1.001 * FIRST_BOXES, "{triangle:?}: {by_area}");
            assert!(boxes as f64 > by_area && boxes < 400, "{triangle:?}: {boxes}");
        }
    }
}
