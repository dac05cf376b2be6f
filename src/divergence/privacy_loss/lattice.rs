//! Losses on a lattice: a finer experiment for the upper side, a coarser one for the lower.
//!
//! *Upper.* An outcome of probabilities (p, q), loss l, is split in two with losses at the two lattice points around l
//! and the same total p and total q. Merging the two gives the outcome back, so the split pair of distributions
//! dominates the given one, for every ε and under composition. Its lower part is p (e^{g-l} - 1)/(e^Δ - 1) for the
//! upper point g (Doroshenko et al. 2022: "connect the dots", the smallest pair on the lattice that dominates).
//!
//! *Lower.* The sum of the losses, each rounded to the nearest lattice point, is a statistic of the outputs. For any
//! set A of its values δ(ε) ≥ P(A) - e^ε Q(A), with the statistic's own distribution under each dataset. A threshold on
//! it is nearly the best test, as the roundings average out: like the upper side it loses a term of second order in Δ.

use super::PrivacyLoss;

/// Mass on lattice points, as pairs of point and mass.
pub(super) type Masses = Vec<(i64, f64)>;

/// 2^50 steps.
const FARTHEST: f64 = (1u64 << 50) as f64;

/// One query on a lattice of step Δ.
#[derive(Debug, Clone)]
pub(super) struct OnLattice {
    /// P of the split pair.
    pub(super) upper: Masses,
    /// P and Q of the rounded statistic.
    pub(super) lower_p: Masses,
    pub(super) lower_q: Masses,
    /// Probability moved to an infinite loss on the upper side.
    pub(super) moved: f64,
}

impl OnLattice {
    /// Rounds a loss; the largest losses of probability at most `spare` together count as infinite on the upper side
    /// and as the largest of the others on the lower.
    pub(super) fn new(loss: &PrivacyLoss, step: f64, spare: f64) -> Self {
        let (kept, mut moved) = kept(loss, spare);
        let (mut upper, mut lower_p, mut lower_q) = (Masses::new(), Masses::new(), Masses::new());
        let cap = loss.atoms.get(kept).map_or(0, |atom| (atom.l / step).clamp(-FARTHEST, FARTHEST).round() as i64);
        for (index, atom) in loss.atoms.iter().enumerate() {
            // Beyond the whole numbers of a double: infinite or raised on the upper side, any place on the lower.
            let place = (atom.l / step).clamp(-FARTHEST, FARTHEST);
            if place == FARTHEST {
                moved += if index < kept { 0.0 } else { atom.p };
            }
            let nearest = if index < kept { cap } else { place.round() as i64 };
            add(&mut lower_p, nearest, atom.p);
            add(&mut lower_q, nearest, atom.p * libm::exp(-atom.l));
            if index < kept || place == FARTHEST {
                continue;
            }
            let below = place.floor();
            let rest = (place - below) * step;
            // p e^{g-l} (e^{l-f} - 1)/(e^Δ - 1) above and p (e^{g-l} - 1)/(e^Δ - 1) below, for f ≤ l < g = f + Δ.
            let whole = libm::expm1(step);
            let above = atom.p * libm::exp(step - rest) * libm::expm1(rest) / whole;
            if above > 0.0 {
                add(&mut upper, below as i64 + 1, above);
            }
            add(&mut upper, below as i64, atom.p * libm::expm1(step - rest) / whole);
        }
        Self { upper, lower_p, lower_q, moved }
    }
}

/// Adds to the mass of a point. Points come from the largest down, in pairs of neighbors, so that a mass of the same point
/// is one of the last two.
fn add(masses: &mut Masses, point: i64, mass: f64) {
    let last = masses.len().saturating_sub(2);
    match masses[last..].iter_mut().find(|known| known.0 == point) {
        Some(known) => known.1 += mass,
        None => masses.push((point, mass)),
    }
}

/// How many of the largest losses have at most the probability `spare` together, all but one at most, and what they
/// have.
pub(super) fn kept(loss: &PrivacyLoss, spare: f64) -> (usize, f64) {
    let (mut count, mut moved) = (0, 0.0);
    while count + 1 < loss.atoms.len() && moved + loss.atoms[count].p <= spare {
        moved += loss.atoms[count].p;
        count += 1;
    }
    (count, moved)
}
