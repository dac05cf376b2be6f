//! The probabilities of the three cells of the plane: neither, first, second.

use super::cone::{corner, ln_first_wins};
use crate::special::log_ndtr;

/// Neither, first, second.
pub(super) struct Cells {
    pub(super) p: [f64; 3],
    /// The rounding error of the cell computed from the others.
    pub(super) rest: [f64; 3],
    /// The cell computed from the others.
    found: Option<usize>,
}

impl Cells {
    /// At (s, u, v), from Φ(-|x|) of each.
    pub(super) fn near([s, u, v]: [f64; 3], smaller: [f64; 3], largest_rest: f64) -> Self {
        let pair = |x: f64, smaller: f64| if x > 0.0 { [smaller, 1.0 - smaller] } else { [1.0 - smaller, smaller] };
        let [[behind_s, ahead_s], [below_u, above_u], [below_v, above_v]] =
            [pair(s, smaller[0]), pair(u, smaller[1]), pair(v, smaller[2])];
        let cone = |cell: usize| {
            if cell == 1 { above_u * ahead_s + corner(u, s) } else { above_v * behind_s + corner(v, -s) }
        };
        Self::complete(s >= 0.0, below_u * below_v, cone, largest_rest)
    }

    /// The same far out, where probabilities may underflow, with their logarithms.
    pub(super) fn far([s, u, v]: [f64; 3], largest_rest: f64) -> (Self, [f64; 3]) {
        let mut ln_p = [log_ndtr(-u) + log_ndtr(-v), 0.0, 0.0];
        let neither = libm::exp(ln_p[0]);
        let cone = |cell: usize| {
            ln_p[cell] = if cell == 1 { ln_first_wins(u, s) } else { ln_first_wins(v, -s) };
            libm::exp(ln_p[cell])
        };
        let cells = Self::complete(s >= 0.0, neither, cone, largest_rest);
        if let Some(found) = cells.found {
            ln_p[found] = cells.p[found].ln() + cells.rest[found] / cells.p[found];
        }
        (cells, ln_p)
    }

    /// All cells, from "neither" and the cone of a winner.
    ///
    /// The leading cone is computed from the others if these are less than `largest_rest` together, and so is any cell
    /// above one half: the others have its digits.
    fn complete(first_leads: bool, neither: f64, mut cone: impl FnMut(usize) -> f64, largest_rest: f64) -> Self {
        let (ahead, behind) = if first_leads { (1, 2) } else { (2, 1) };
        let mut p = [neither, 0.0, 0.0];
        p[behind] = cone(behind);
        let found = if neither + p[behind] < largest_rest {
            Some(ahead)
        } else {
            p[ahead] = cone(ahead);
            p.iter().position(|&p| p > 0.5)
        };
        let mut rest = [0.0; 3];
        if let Some(found) = found {
            let others = p[(found + 1) % 3] + p[(found + 2) % 3];
            p[found] = 1.0 - others;
            rest[found] = (1.0 - p[found]) - others;
        }
        Self { p, rest, found }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::special::ndtr;

    /// Both forms give the same three cells, whichever leads.
    #[test]
    fn far_and_near_cells_are_the_same() {
        for (u, v) in [(0.7, -1.1), (-1.1, 0.7), (-2.0, -3.0), (1.5, 1.5), (3.0, 0.2), (-0.3, -6.0)] {
            let place = [(u - v) * std::f64::consts::FRAC_1_SQRT_2, u, v];
            let near = Cells::near(place, place.map(|x: f64| ndtr(-x.abs())), 0.5);
            let (far, ln_p) = Cells::far(place, 0.5);
            for (cell, ln) in ln_p.iter().enumerate() {
                assert!(
                    (near.p[cell] / far.p[cell] - 1.0).abs() < 1e-10,
                    "{u} {v} {cell}: {} {}",
                    near.p[cell],
                    far.p[cell]
                );
                assert!((ln - far.p[cell].ln()).abs() < 1e-10, "{u} {v} {cell}");
            }
        }
    }
}
