//! Exponentials and logarithms for a box, in loops compiled for the vector instructions of the machine.

use crate::special::{LN_SQRT_2PI, NormalTails, exp_in_loops, exp_less_one_in_loops, ln_in_loops};
use crate::vectorized::{Arch, in_vectors};

/// Number of points whose normal distributions are computed side by side.
pub(super) const LANES: usize = 16;

/// φ at each point.
pub(super) fn densities(points: &[f64; LANES]) -> [f64; LANES] {
    in_vectors!(Arch::new(), {
        let mut densities = *points;
        for x in &mut densities {
            *x = exp_in_loops(-0.5 * *x * *x - LN_SQRT_2PI);
        }
        densities
    })
}

/// Φ(-|x|) at each point.
pub(super) fn smaller_tails(points: &[f64; LANES]) -> [f64; LANES] {
    let tails = NormalTails::get();
    in_vectors!(Arch::new(), {
        let mut smaller = *points;
        for x in &mut smaller {
            *x = tails.smaller(*x);
        }
        smaller
    })
}

/// ln(x + rest) of each, where rest is the rounding error of x.
pub(super) fn logarithms(x: &[[f64; 3]; 2], rest: &[[f64; 3]; 2]) -> [[f64; 3]; 2] {
    in_vectors!(Arch::new(), {
        let mut logarithms = *x;
        for (x, rest) in logarithms.as_flattened_mut().iter_mut().zip(rest.as_flattened()) {
            *x = ln_in_loops(*x) + rest / *x;
        }
        logarithms
    })
}

/// e^l - 1 of each.
pub(super) fn growths(mut l: [f64; 3]) -> [f64; 3] {
    in_vectors!(Arch::new(), {
        for l in &mut l {
            *l = exp_less_one_in_loops(*l);
        }
        l
    })
}
