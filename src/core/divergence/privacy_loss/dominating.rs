//! One privacy loss that is at least as large as each of several.

use super::{Atom, LEAST, PrivacyLoss};
use crate::order;

/// The largest number of points at which profiles are compared; between points, their maximum is replaced by its chord.
const MOST_POINTS: usize = 400;
/// Losses closer than this are treated as equal.
const APART: f64 = 1e-12;
/// Relative rounding of a profile, whose terms are all positive, and of sums of its chords.
const ROUNDING: f64 = 2e-12;

impl PrivacyLoss {
    /// A loss whose privacy profile is at least that of every one of these, so it also dominates them under
    /// composition: the cost of an output whose pair of distributions is an unknown one of several. `None` for an empty
    /// list.
    ///
    /// In x = e^ε a profile δ(x) = Σ (p - x q)⁺ is convex, falls, and is linear between the ratios of its outcomes; so
    /// is the largest of several profiles, except where they cross. The piecewise linear function through its values at
    /// the ratios of all of them (at the 400 that keep it closest, if there are more) consists of chords of a convex
    /// function and hence is nowhere below it. Every convex function from (0, 1) that falls no faster than 1 - x is the
    /// profile of the pair with Q(ratio = x) = the change of slope at x and P = x Q (Zhu, Dong and Wang 2022,
    /// Proposition 8).
    ///
    /// If one of the losses has the largest profile at every ε, nothing is lost. Otherwise the pair is looser than any
    /// one choice, and over many outputs looser than the sum of the largest Rényi divergences. Composition is then not
    /// the tightest provable bound: with V₀ the profile of nothing and V_j(ε) = max over the losses L of output j of
    /// E[V_{j-1}(ε - L)], V bounds the profile of every choice, even one that depends on the outputs so far, and is at
    /// most that of the dominating pairs, as the largest of mixtures is at most the mixture of the largest. Such V are
    /// not convolutions: they cost outputs times lattice points times losses times outcomes, and are not offered.
    ///
    /// ```
    /// # use leakbound::divergence::PrivacyLoss;
    /// # use leakbound::distribution::OutcomeDistribution;
    /// let distribution = |p: [f64; 3]| OutcomeDistribution::from_probabilities(&p);
    /// let p = distribution([0.5, 0.3, 0.2])?;
    /// let losses = [PrivacyLoss::of_distributions(&p, &distribution([0.4, 0.4, 0.2])?)?, PrivacyLoss::of_distributions(&p, &distribution([0.5, 0.2, 0.3])?)?];
    /// let largest = losses.iter().map(PrivacyLoss::largest).fold(0.0, f64::max);
    /// assert!((largest - 1.5f64.ln()).abs() < 1e-15);
    /// assert!(PrivacyLoss::dominating(&losses).unwrap().largest() >= largest);
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    ///
    /// # References
    /// Zhu, Dong and Wang (2022), "Optimal accounting of differential privacy via characteristic function".
    #[must_use]
    pub fn dominating(losses: &[Self]) -> Option<Self> {
        if losses.len() < 2 {
            return losses.first().cloned();
        }
        let largest = |value: &dyn Fn(&Self) -> f64| losses.iter().map(value).fold(0.0, f64::max);
        let infinite = (largest(&|loss| loss.infinite) * (1.0 + ROUNDING)).min(1.0);
        let value =
            |l: f64| (largest(&|loss| loss.finite_profile(l) + loss.infinite) * (1.0 + ROUNDING)).clamp(infinite, 1.0);
        let knots = thinned_out(&knots(losses), value);
        // The remainder at the largest ratio is infinite loss, or practically so.
        let infinite = knots.first().map_or(infinite, |&largest| value(largest));
        // From the largest ratio down: slopes of the chords, as the fall of δ per unit of x, times the ratio where the
        // chord ends, so that ratios of any size are in range. Where a slope exceeds the steepest so far, P gets the
        // gain.
        let mut atoms = Vec::with_capacity(knots.len());
        let (mut right, mut above, mut steepest) = (infinite, None::<f64>, 0.0f64);
        let mut push = |l: f64, slope: f64, steepest: &mut f64| {
            // Rounding may leave a gain below 0, which is ignored.
            if slope > *steepest {
                atoms.push(Atom { l, p: slope - *steepest });
                *steepest = slope;
            }
        };
        for &l in &knots {
            let here = value(l);
            if let Some(next) = above {
                // (x_next - x)/x_next = 1 - e^{l - next}.
                push(next, (here - right) / -libm::expm1(l - next), &mut steepest);
                steepest *= libm::exp(l - next);
            }
            (right, above) = (here, Some(l));
        }
        if let Some(least) = above {
            push(least, 1.0 - right, &mut steepest);
        }
        // A loss whose probability underflows is possible all the same, and decides ε at δ = 0.
        if let Some(&l) = knots.first().filter(|&&l| atoms.first().is_none_or(|first: &Atom| first.l < l)) {
            atoms.insert(0, Atom { l, p: LEAST });
        }
        Some(Self { atoms, infinite })
    }

    /// Σ (p - e^l q)⁺ over finite losses: every term is positive, so the sum has all digits.
    fn finite_profile(&self, l: f64) -> f64 {
        self.atoms.iter().take_while(|atom| atom.l > l).map(|atom| atom.p * -libm::expm1(l - atom.l)).sum()
    }
}

/// The losses of all, largest first.
fn knots(losses: &[PrivacyLoss]) -> Vec<f64> {
    let mut all: Vec<f64> =
        losses.iter().flat_map(|loss| loss.atoms.iter().map(|atom| atom.l)).filter(|l| l.is_finite()).collect();
    order::falling(&mut all);
    all.dedup_by(|next, kept| *kept - *next < APART);
    all
}

/// A chord of the profile between two knots, and by how much it is above the profile at the knot in its middle.
struct Chord {
    ends: [usize; 2],
    values: [f64; 2],
    middle: (usize, f64),
    excess: f64,
}

impl Chord {
    fn new(knots: &[f64], value: impl Fn(f64) -> f64, ends: [usize; 2], values: [f64; 2]) -> Self {
        let middle = ends[0].midpoint(ends[1]);
        let here = value(knots[middle]);
        // In x = e^l the share of the way from the right end, the larger ratio, to the left one.
        let [right, left] = ends.map(|end| knots[end]);
        let share = libm::expm1(knots[middle] - right) / libm::expm1(left - right);
        let above = values[0] + share * (values[1] - values[0]) - here;
        // Neither absolute, which would lose the small delta of large losses, nor relative, which would ignore
        // everything else.
        let excess = if above > 0.0 { above / here.sqrt() } else { 0.0 };
        Self { ends, values, middle: (middle, here), excess }
    }

    fn halves(self, knots: &[f64], value: impl Fn(f64) -> f64) -> [Self; 2] {
        let (middle, here) = self.middle;
        let [first, last] = self.ends;
        let right = Self::new(knots, &value, [first, middle], [self.values[0], here]);
        [right, Self::new(knots, &value, [middle, last], [here, self.values[1]])]
    }
}

/// All knots if they are few. Otherwise the ends, then repeatedly the middle of the chord with the largest excess.
fn thinned_out(knots: &[f64], value: impl Fn(f64) -> f64) -> Vec<f64> {
    if knots.len() <= MOST_POINTS {
        return knots.to_vec();
    }
    let ends = [0, knots.len() - 1];
    let mut chords = vec![Chord::new(knots, &value, ends, ends.map(|end| value(knots[end])))];
    while chords.len() + 1 < MOST_POINTS {
        let worst = (0..chords.len()).max_by(|&a, &b| chords[a].excess.total_cmp(&chords[b].excess));
        let Some(worst) = worst.filter(|&worst| chords[worst].excess > 0.0) else { break };
        let halves = chords.swap_remove(worst).halves(knots, &value);
        chords.extend(halves);
    }
    let mut kept: Vec<usize> = chords.iter().map(|chord| chord.ends[0]).chain([knots.len() - 1]).collect();
    kept.sort_unstable();
    kept.into_iter().map(|knot| knots[knot]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::OutcomeDistribution;
    use crate::divergence::{ComposedDirection, hockey_stick};
    use crate::quadrature::LogIntegral;
    use crate::quantity::{Delta, Epsilon};
    use proptest::prelude::*;

    fn distribution(weights: &[f64]) -> OutcomeDistribution {
        let total: f64 = weights.iter().sum();
        OutcomeDistribution::from_probabilities(&weights.iter().map(|weight| weight / total).collect::<Vec<_>>())
            .unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        /// At least every profile at every ε, equal to the largest at the ratios themselves, of total probability 1.
        #[test]
        fn no_profile_is_above_it(
            p in prop::collection::vec(0.01f64..1.0, 4),
            others in prop::collection::vec(prop::collection::vec(0.01f64..1.0, 4), 1..6),
            at in 0.0f64..4.0,
        ) {
            let p = distribution(&p);
            let others: Vec<OutcomeDistribution> = others.iter().map(|q| distribution(q)).collect();
            let losses: Vec<PrivacyLoss> = others
                .iter()
                .flat_map(|q| [PrivacyLoss::of_distributions(&p, q).unwrap(), PrivacyLoss::of_distributions(q, &p).unwrap()])
                .collect();
            let one = PrivacyLoss::dominating(&losses).unwrap();
            let total: f64 = one.atoms.iter().map(|atom| atom.p).sum();
            prop_assert!((total + one.infinite - 1.0).abs() < 1e-9, "{total}");
            let largest = |epsilon: f64| {
                let epsilon = Epsilon::new(epsilon).unwrap();
                others
                    .iter()
                    .flat_map(|q| [hockey_stick(&p, q, epsilon).unwrap(), hockey_stick(q, &p, epsilon).unwrap()])
                    .fold(0.0, f64::max)
            };
            prop_assert!(one.finite_profile(at) + one.infinite >= largest(at) - 1e-15);
            for knot in knots(&losses).into_iter().filter(|l| *l >= 0.0) {
                prop_assert!((one.finite_profile(knot) - largest(knot)).abs() < 1e-11);
            }
        }
    }

    /// The probabilities of both large losses underflow, and one of them is the larger one of its pair only.
    #[test]
    fn losses_that_underflow_are_not_lost() {
        let pair = |ln_p: f64, ln_q: f64| {
            let of = |ln: f64| {
                let integrals = [ln, 0.0].map(|ln_value| LogIntegral { ln_value, error: 0.0 });
                OutcomeDistribution::from_integrals(&integrals).unwrap()
            };
            [PrivacyLoss::of_distributions(&of(ln_p), &of(ln_q)), PrivacyLoss::of_distributions(&of(ln_q), &of(ln_p))]
        };
        let losses: Vec<PrivacyLoss> = pair(-800.0, -798.0).into_iter().chain(pair(-900.0, -897.5)).flatten().collect();
        let one = PrivacyLoss::dominating(&losses).unwrap();
        assert!((one.largest() - 2.5).abs() < 1e-12 && one.infinite() == 0.0, "{one:?}");
        let twice = ComposedDirection::of_known(&[(one, 2)], Delta::new(0.0).unwrap(), 1e-3).unwrap();
        let epsilon = twice.epsilon(Delta::new(0.0).unwrap());
        assert!((5.0..5.000_001).contains(&epsilon.upper), "{epsilon:?}");
    }

    /// Composition preserves it: above the composition of any choice.
    #[test]
    fn compositions_are_dominated_too() {
        let p = distribution(&[5.0, 3.0, 2.0]);
        let pairs =
            [[5.5, 2.8, 1.7], [4.6, 3.1, 2.3]].map(|q| PrivacyLoss::of_distributions(&p, &distribution(&q)).unwrap());
        let one = PrivacyLoss::dominating(&pairs).unwrap();
        let delta = Delta::new(1e-4).unwrap();
        let upper = ComposedDirection::of_known(&[(one, 40)], delta, 1e-3).unwrap().epsilon(delta).upper;
        for times in [0, 10, 20, 40] {
            let losses = [(pairs[0].clone(), times), (pairs[1].clone(), 40 - times)];
            let some = ComposedDirection::of_known(&losses, delta, 1e-3).unwrap().epsilon(delta);
            assert!(some.lower <= upper, "{times}: {some:?} {upper}");
        }
    }

    /// If one of them gives an infinite loss, the dominating one does at least as often.
    #[test]
    fn an_outcome_that_one_neighbor_cannot_have_stays_infinite() {
        let (p, impossible, possible) =
            (distribution(&[2.0, 5.0, 3.0]), distribution(&[0.0, 6.0, 4.0]), distribution(&[1.0, 5.0, 4.0]));
        let losses = [&impossible, &possible].map(|q| PrivacyLoss::of_distributions(&p, q).unwrap());
        for losses in [[losses[0].clone(), losses[1].clone()], [losses[1].clone(), losses[0].clone()]] {
            let one = PrivacyLoss::dominating(&losses).unwrap();
            assert!(one.infinite >= 0.2 && one.infinite < 0.2 + 1e-12, "{}", one.infinite);
            for epsilon in [0.0, 0.1, 0.5, 5.0, 50.0].map(|epsilon| Epsilon::new(epsilon).unwrap()) {
                let largest = [&impossible, &possible].map(|q| hockey_stick(&p, q, epsilon).unwrap());
                let found = one.finite_profile(epsilon.get()) + one.infinite;
                assert!(found >= largest[0].max(largest[1]) - 1e-15, "{epsilon}: {found} {largest:?}");
            }
        }
    }

    /// Losses of ±10,000, whose powers overflow: no probability may get lost.
    #[test]
    fn losses_beyond_the_doubles_are_dominated_too() {
        let rare = |lead: f64, p: f64| {
            let ln = [p.ln(), (1.0 - p).ln(), -lead];
            let row = |ln_value: f64| crate::quadrature::LogIntegral { ln_value, error: 1e-14 };
            OutcomeDistribution::from_integrals(&ln.map(row)).unwrap()
        };
        for lead in [500.0, 700.0, 800.0, 20_000.0] {
            let (p, q) = (rare(lead, 0.35), rare(0.5 * lead, 0.34));
            let losses =
                [PrivacyLoss::of_distributions(&p, &q).unwrap(), PrivacyLoss::of_distributions(&q, &p).unwrap()];
            let one = PrivacyLoss::dominating(&losses).unwrap();
            let total: f64 = one.atoms.iter().map(|atom| atom.p).sum();
            assert!((total + one.infinite - 1.0).abs() < 1e-9, "{lead}: {total} {}", one.infinite);
            for epsilon in [0.0, 0.01, 0.02, 1.0, 300.0].map(|epsilon| Epsilon::new(epsilon).unwrap()) {
                let largest = hockey_stick(&p, &q, epsilon).unwrap().max(hockey_stick(&q, &p, epsilon).unwrap());
                let found = one.finite_profile(epsilon.get()) + one.infinite;
                assert!(found >= largest - 1e-15, "{lead} {epsilon}: {found} {largest}");
            }
        }
    }

    #[test]
    fn one_loss_dominates_itself_and_none_none() {
        let loss = PrivacyLoss::of_distributions(&distribution(&[2.0, 1.0]), &distribution(&[1.0, 2.0])).unwrap();
        assert_eq!(PrivacyLoss::dominating(std::slice::from_ref(&loss)), Some(loss));
        assert_eq!(PrivacyLoss::dominating(&[]), None);
    }

    /// The number of points is bounded for any losses; the chords add next to nothing.
    #[test]
    fn losses_are_thinned_out() {
        let classes = 2_000;
        let p: Vec<f64> = (0..classes).map(|i| 1.0 + f64::from(i) / f64::from(classes)).collect();
        let q: Vec<f64> = p.iter().rev().copied().collect();
        let loss = PrivacyLoss::of_distributions(&distribution(&p), &distribution(&q)).unwrap();
        let value = |l: f64| loss.finite_profile(l);
        let all = knots(std::slice::from_ref(&loss));
        assert!(all.len() > 1_900, "{}", all.len());
        let found = thinned_out(&all, value);
        assert!(found.len() <= MOST_POINTS && found.is_sorted_by(|a, b| a > b), "{}", found.len());
        assert!((found[0] - 2f64.ln()).abs() < 1e-3);
        let twice = PrivacyLoss::dominating(&[loss.clone(), loss.clone()]).unwrap();
        for l in [0.0, 0.1, 0.3, 0.6, 0.69] {
            let found = twice.finite_profile(l) + twice.infinite;
            assert!(found >= value(l) && found < value(l) * 1.001 + 1e-6, "{l}: {found} {}", value(l));
        }
    }

    /// Losses of 30 that almost never occur next to a thousand that almost always do: evenly spaced points would miss
    /// them.
    #[test]
    fn a_rare_large_loss_costs_the_others_nothing() {
        let classes = 1_000;
        let mut p: Vec<f64> = (0..classes).map(|i| 1.0 + 0.1 * f64::from(i) / f64::from(classes)).collect();
        let mut q: Vec<f64> = p.iter().rev().copied().collect();
        p.push(1e-6);
        q.push(1e-19);
        let (p, q) = (distribution(&p), distribution(&q));
        let losses = [PrivacyLoss::of_distributions(&p, &q).unwrap(), PrivacyLoss::of_distributions(&q, &p).unwrap()];
        let one = PrivacyLoss::dominating(&losses).unwrap();
        for epsilon in [0.0, 0.01, 0.05, 0.09, 1.0, 20.0].map(|epsilon| Epsilon::new(epsilon).unwrap()) {
            let exact = hockey_stick(&p, &q, epsilon).unwrap().max(hockey_stick(&q, &p, epsilon).unwrap());
            let found = one.finite_profile(epsilon.get()) + one.infinite;
            assert!(found >= exact && found < exact * 1.001 + 2e-14, "{epsilon}: {found} {exact}");
        }
    }
}
