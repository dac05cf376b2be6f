//! Noisy argmax with Gaussian noise: one table of ln Φ on a shared lattice serves all classes.
//!
//! With t = (x - n_max)/σ and gaps d_i = (n_max - n_i)/σ the integrand of class c is exp(g_c),
//! g_c(t) = -(t+d_c)²/2 - ln √(2π) + Σ_{i≠c} ln Φ(t+d_i): concave, with g_c'' ≤ -1.

use super::count_groups::CountGroups;
use crate::error::Result;
use crate::quadrature::{FIRST_LEVEL, LogIntegral, Node, log_concave_trapezoid};
use crate::special::{LN_SQRT_2PI, log_ndtr};
use std::collections::HashMap;

/// ln P of one class of each group.
pub(super) fn distribution(groups: &CountGroups) -> Result<Vec<LogIntegral>> {
    let mut lattice = Lattice::new(groups);
    let mut start = 0;
    (0..groups.groups.len())
        .map(|group| {
            let (integral, peak) = log_concave_trapezoid(|node| lattice.log_integrand(node, group), start)?;
            start = peak; // the next count is the nearest one, and so is its peak
            Ok(integral)
        })
        .collect()
}

/// Nodes on a page of the table.
const PAGE: usize = 16;
/// Up to this many groups, the table also keeps ln Φ of each; above, it is recomputed where needed.
const KEPT_GROUPS: usize = 64;
/// From here on ln Φ(z) > -2e-21, which is below rounding even for 10,000 classes.
const NEGLIGIBLE: f64 = 9.5;

/// Σ_i m_i ln Φ(t+d_i) at the nodes visited so far, in pages because counts may be far apart.
struct Lattice<'a> {
    groups: &'a CountGroups,
    kept: usize,
    pages: HashMap<(u32, i64), usize>,
    values: Vec<f64>,
    /// The page last used on each level.
    last: Vec<(i64, usize)>,
}

impl<'a> Lattice<'a> {
    fn new(groups: &'a CountGroups) -> Self {
        let kept = if groups.groups.len() <= KEPT_GROUPS { groups.groups.len() } else { 0 };
        Self { groups, kept, pages: HashMap::new(), values: Vec::new(), last: vec![(i64::MIN, 0); 16] }
    }

    /// Where the entries of a node start in `values`.
    fn entries(&mut self, node: Node) -> usize {
        // On the finer levels, only odd indices are new.
        let place = if node.level == FIRST_LEVEL { node.index } else { node.index >> 1 };
        let (page, line) = (place.div_euclid(PAGE as i64), place.rem_euclid(PAGE as i64) as usize);
        let stride = self.kept + 1;
        let last = &mut self.last[node.level as usize];
        if last.0 != page {
            let length = self.values.len();
            let offset = *self.pages.entry((node.level, page)).or_insert(length);
            if offset == length {
                self.values.resize(length + PAGE * stride, f64::NAN);
            }
            *last = (page, offset);
        }
        last.1 + line * stride
    }

    fn log_integrand(&mut self, node: Node, group: usize) -> f64 {
        let entries = self.entries(node);
        let t = node.t();
        if self.values[entries].is_nan() {
            self.fill(entries, t);
        }
        let z = t + self.groups.groups[group].gap;
        let own = if self.kept > 0 { self.values[entries + 1 + group] } else { log_ndtr(z) };
        -0.5 * z * z - LN_SQRT_2PI + (self.values[entries] - own)
    }

    fn fill(&mut self, entries: usize, t: f64) {
        let mut sum = 0.0;
        for (index, group) in self.groups.groups.iter().enumerate() {
            let z = t + group.gap;
            let value = if z < NEGLIGIBLE { log_ndtr(z) } else { 0.0 };
            if self.kept > 0 {
                self.values[entries + 1 + index] = value;
            } else if value == 0.0 {
                break; // the gaps increase
            }
            sum += group.multiplicity * value;
        }
        self.values[entries] = sum;
    }
}
