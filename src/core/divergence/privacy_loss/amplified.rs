//! Privacy losses of mechanisms that see a record only sometimes.

use super::{Atom, EnclosedLoss, LEAST, PrivacyLoss};
use crate::order;
use crate::quantity::Probability;

/// The largest error of a logarithm, an exponential and a product, in units of the loss or of ln p.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

impl EnclosedLoss {
    /// The loss of (1-γ) Q + γ P against Q, from that of P against Q: the record is in a fraction γ of all subsamples,
    /// compared with never.
    ///
    /// With x = 1 - γ + γ e^ε, its profile at ln x is γ δ(ε), and 1 - x below 1 - γ. It increases with the profile of P
    /// against Q at every ε, so both ends of an enclosure of one give those of the other.
    ///
    /// # References
    /// Zhu, Dong and Wang (2022), "Optimal accounting of differential privacy via characteristic function", Theorem 11.
    #[must_use]
    pub fn with_seldom(&self, rate: Probability) -> Self {
        let of = |loss: &PrivacyLoss, sign: f64| with_seldom(loss, rate.get(), sign * ROUNDING);
        Self { at_least: of(&self.at_least, -1.0), at_most: of(&self.at_most, 1.0) }
    }

    /// The loss of P against (1-γ) P + γ Q, from that of P against Q: without the record, against it in γ of all
    /// subsamples. Its profile at ε is 1 - e^ε (1-γ) times that of P against Q where the ratio is γ e^ε/(1 - e^ε (1-γ)),
    /// and rises with that; see [`Self::with_seldom`].
    #[must_use]
    pub fn against_seldom(&self, rate: Probability) -> Self {
        let of = |loss: &PrivacyLoss, sign: f64| against_seldom(loss, rate.get(), sign * ROUNDING);
        Self { at_least: of(&self.at_least, -1.0), at_most: of(&self.at_most, 1.0) }
    }
}

/// ln(1 - γ + γ e^l).
fn ln_mean(rate: f64, l: f64) -> f64 {
    // Beyond this, γ e^l may overflow.
    if l > 600.0 { l + (rate + (1.0 - rate) * libm::exp(-l)).ln() } else { libm::log1p(rate * libm::expm1(l)) }
}

fn with_seldom(loss: &PrivacyLoss, rate: f64, nudge: f64) -> PrivacyLoss {
    // However rare, it remains possible.
    let least = if rate > 0.0 { LEAST } else { 0.0 };
    let infinite = if loss.infinite > 0.0 { (rate * loss.infinite).max(least) } else { 0.0 };
    let mut atoms: Vec<Atom> = Vec::with_capacity(loss.atoms.len() + 1);
    let mut total = infinite;
    for &Atom { l, p } in &loss.atoms {
        let (new, p) = (ln_mean(rate, l), p.max(LEAST));
        // γ p + (1-γ) q.
        let mass = rate * p + (1.0 - rate) * libm::exp(p.ln() - l);
        let mass = mass * (1.0 + nudge * (1.0 + p.ln().abs() + l.abs()));
        let mass = mass.max(least);
        total += mass;
        atoms.push(Atom { l: new + nudge * new.abs(), p: mass });
    }
    // Outcomes of Q alone.
    if rate < 1.0 && total < 1.0 {
        atoms.push(Atom { l: libm::log1p(-rate), p: 1.0 - total });
    }
    atoms.retain(|atom| atom.p > 0.0 && atom.p.is_finite());
    // Rounding may have reversed the order of two neighbors.
    order::sort(&mut atoms, |a, b| b.l.total_cmp(&a.l));
    PrivacyLoss { atoms, infinite }
}

fn against_seldom(loss: &PrivacyLoss, rate: f64, nudge: f64) -> PrivacyLoss {
    let mut infinite = loss.infinite;
    let mut atoms: Vec<Atom> = Vec::with_capacity(loss.atoms.len() + 1);
    // Outcomes of P alone have the loss -ln(1-γ).
    if rate < 1.0 && infinite > 0.0 {
        let l = -libm::log1p(-rate);
        atoms.push(Atom { l: l + nudge * l, p: infinite });
        infinite = 0.0;
    }
    atoms.extend(loss.atoms.iter().map(|&Atom { l, p }| {
        let new = -ln_mean(rate, -l);
        Atom { l: new + nudge * new.abs(), p }
    }));
    order::sort(&mut atoms, |a, b| b.l.total_cmp(&a.l));
    PrivacyLoss { atoms, infinite }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::OutcomeDistribution;
    use crate::divergence::hockey_stick;
    use crate::quantity::Epsilon;

    fn distribution(p: &[f64]) -> OutcomeDistribution {
        OutcomeDistribution::from_probabilities(p).unwrap()
    }

    fn near(loss: &EnclosedLoss, p: &OutcomeDistribution, q: &OutcomeDistribution) {
        for epsilon in [0.0, 0.05, 0.3, 1.0, 3.0].map(|epsilon| Epsilon::new(epsilon).unwrap()) {
            let truth = hockey_stick(p, q, epsilon).unwrap();
            let delta = |loss: &PrivacyLoss| {
                let above = loss.atoms.iter().filter(|atom| atom.l > epsilon.get());
                loss.infinite + above.map(|atom| atom.p * -libm::expm1(epsilon.get() - atom.l)).sum::<f64>()
            };
            let (lower, upper) = (delta(&loss.at_least), delta(&loss.at_most));
            assert!(lower <= truth + 1e-15 && truth <= upper + 1e-15, "{epsilon}: {lower} {truth} {upper}");
            assert!(upper - lower <= 1e-12, "{epsilon}: {lower} {truth} {upper}");
        }
        // Sums of the reverse profile, below 0.
        let total: f64 = loss.at_most.atoms.iter().map(|atom| atom.p).sum::<f64>() + loss.at_most.infinite;
        assert!((total - 1.0).abs() < 1e-12, "{total}");
    }

    /// Compared with mixtures written out, including if an outcome is impossible in one of the worlds.
    #[test]
    fn losses_of_mixtures_are_those_written_out() {
        let pairs = [
            ([0.5, 0.3, 0.2, 0.0], [0.2, 0.3, 0.5, 0.0]),
            ([0.5, 0.3, 0.0, 0.2], [0.2, 0.3, 0.5, 0.0]),
            ([1e-9, 0.3, 0.7 - 1e-9, 0.0], [0.1, 0.1, 0.2, 0.6]),
        ];
        for (p, q) in pairs {
            for rate in [0.0, 1e-6, 0.1, 0.9, 1.0] {
                let mixed = |first: [f64; 4], second: [f64; 4]| {
                    distribution(&[0, 1, 2, 3].map(|i| (1.0 - rate) * first[i] + rate * second[i]))
                };
                let loss = PrivacyLoss::of_distributions(&distribution(&p), &distribution(&q)).unwrap();
                let loss = EnclosedLoss::known(loss);
                let share = Probability::new(rate).unwrap();
                near(&loss.with_seldom(share), &mixed(q, p), &distribution(&q));
                near(&loss.against_seldom(share), &distribution(&p), &mixed(p, q));
            }
        }
    }

    /// Losses of ±2000 stay unchanged.
    #[test]
    fn huge_losses_are_no_overflow() {
        let loss = PrivacyLoss {
            atoms: vec![Atom { l: 2000.0, p: 0.5 }, Atom { l: 0.0, p: 0.5 }, Atom { l: -2000.0, p: 0.0 }],
            infinite: 0.0,
        };
        let share = Probability::new(0.25).unwrap();
        let [seldom, against] =
            [EnclosedLoss::known(loss.clone()).with_seldom(share), EnclosedLoss::known(loss).against_seldom(share)];
        assert!((seldom.at_most.largest() - (2000.0 + 0.25f64.ln())).abs() < 1e-9);
        assert!((against.at_most.largest() + 0.75f64.ln()).abs() < 1e-12);
    }
}
