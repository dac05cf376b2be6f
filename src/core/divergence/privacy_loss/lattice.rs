//! Losses on a lattice: a finer experiment for the upper side, a coarser one for the lower.
//!
//! *Upper.* An outcome of probabilities (p, q), loss l, is split in two with losses at the two lattice points around l
//! and the same total p and total q. Merging the two gives the outcome back, so the split pair of distributions
//! dominates the given one, for every ε and under composition. Its lower part is p (e^{g-l} - 1)/(e^Δ - 1) for the
//! upper point g (Doroshenko et al. 2022: "connect the dots", the smallest dominating pair on the lattice).
//!
//! *Lower.* The sum of the losses, each rounded to the nearest lattice point, is a statistic of the outputs. For any
//! set A of its values δ(ε) ≥ P(A) - e^ε Q(A), with the statistic's own distribution under each dataset. A threshold on
//! it is nearly the best test, since roundings average out: like the upper side, it loses a term of order Δ².

use super::PrivacyLoss;

/// Mass on lattice points, as pairs of point and mass.
pub(super) type Masses = Vec<(i64, f64)>;

/// Steps from this size on are never rounded up on the lower side.
const WIDE: f64 = 4.0;
/// 2^50 steps.
const FARTHEST: f64 = (1u64 << 50) as f64;

/// The upper side of one query on a lattice of step Δ.
#[derive(Debug, Clone)]
pub(super) struct Above {
    /// P of the split pair.
    pub(super) p: Masses,
    /// Probability moved to an infinite loss.
    pub(super) moved: f64,
}

impl Above {
    /// Splits every loss; the largest, with total probability at most `spare`, count as infinite.
    pub(super) fn new(loss: &PrivacyLoss, step: f64, spare: f64) -> Self {
        let (kept, mut moved) = kept(loss, spare);
        let mut p = Masses::new();
        for atom in &loss.atoms[kept..] {
            let place = place(atom.l, step);
            // Beyond the whole numbers that a double represents.
            if place == FARTHEST {
                moved += atom.p;
                continue;
            }
            let below = place.floor();
            let rest = (place - below) * step;
            // p (1 - e^{f-l})/(1 - e^-Δ) above and p e^{f-l} (1 - e^{l-g})/(1 - e^-Δ) below, for f ≤ l < g = f + Δ.
            let whole = libm::expm1(-step);
            let above = atom.p * libm::expm1(-rest) / whole;
            if above > 0.0 {
                add(&mut p, below as i64 + 1, above);
            }
            add(&mut p, below as i64, atom.p * libm::exp(-rest) * libm::expm1(rest - step) / whole);
        }
        Self { p, moved }
    }
}

/// The lower side of one query: P of the rounded statistic, and Q times e^x at the point x, which is about P and never
/// too small for a double.
#[derive(Debug, Clone)]
pub(super) struct Below {
    pub(super) p: Masses,
    pub(super) q: Masses,
}

impl Below {
    /// Rounds every loss; the largest, with total probability at most `spare`, count as the largest of the others.
    /// Losses below the whole numbers of a double, and subnormal probabilities, are in no set.
    pub(super) fn new(loss: &PrivacyLoss, step: f64, spare: f64) -> Self {
        let (kept, _) = kept(loss, spare);
        let (mut p, mut q) = (Masses::new(), Masses::new());
        let cap = loss.atoms.get(kept).map_or(0.0, |atom| place(atom.l, step));
        for (index, atom) in loss.atoms.iter().enumerate() {
            let place = if index < kept { cap } else { place(atom.l, step) };
            if place == -FARTHEST || atom.p < f64::MIN_POSITIVE {
                continue;
            }
            // Any point is valid. The nearest point of a wide lattice may be so far above that Q e^x overflows.
            let nearest = if step < WIDE { place.round() } else { place.floor() };
            add(&mut p, nearest as i64, atom.p);
            // At least the smallest double: a Q of 0 would make the statistic certain.
            let relative = atom.p * libm::exp(nearest * step - atom.l);
            add(&mut q, nearest as i64, relative.max(f64::MIN_POSITIVE));
        }
        Self { p, q }
    }
}

fn place(loss: f64, step: f64) -> f64 {
    (loss / step).clamp(-FARTHEST, FARTHEST)
}

/// Adds to the mass of a point. Points come from the largest down, in pairs of neighbors, so a mass at the same point
/// is one of the last two.
fn add(masses: &mut Masses, point: i64, mass: f64) {
    let last = masses.len().saturating_sub(2);
    match masses[last..].iter_mut().find(|known| known.0 == point) {
        Some(known) => known.1 += mass,
        None => masses.push((point, mass)),
    }
}

/// How many of the largest losses have total probability at most `spare`, at most all but one, and that probability.
pub(super) fn kept(loss: &PrivacyLoss, spare: f64) -> (usize, f64) {
    let (mut count, mut moved) = (0, 0.0);
    while count + 1 < loss.atoms.len() && moved + loss.atoms[count].p <= spare {
        moved += loss.atoms[count].p;
        count += 1;
    }
    (count, moved)
}
