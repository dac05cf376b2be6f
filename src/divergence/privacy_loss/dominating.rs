//! One privacy loss that is at least as large as each of several.

use super::{Atom, PrivacyLoss};

/// Points at which profiles are compared, at most; in between their largest is replaced by its chord.
const MOST_POINTS: f64 = 400.0;
/// Losses farther from 0 are taken for this one, beyond which e^l and e^-l leave the doubles: a larger one counts as
/// infinite.
const FARTHEST: f64 = 600.0;
/// Rounding of a profile, counted as infinite loss.
const ROUNDING: f64 = 1e-14;

impl PrivacyLoss {
    /// A loss whose privacy profile is at least that of every one of these, so that it dominates them under composition
    /// too: the cost of an output whose pair of laws is one of several and nobody says which. None for no loss.
    ///
    /// In x = e^ε a profile δ(x) = Σ (p - x q)⁺ is convex, falls, and is linear between the ratios of its outcomes; so is
    /// the largest of several profiles but for points where they cross. Through its values at the ratios of all of them
    /// (at 400 or so, if there are more) goes a piecewise linear function, a chord of a convex one and hence nowhere below
    /// it. Every convex function from (0, 1) that falls no faster than 1 - x is the profile of the pair with
    /// Q(ratio = x) = the change of slope at x and P = x Q (Zhu, Dong and Wang 2022, Proposition 8).
    ///
    /// Where one of the losses has the largest profile at every ε nothing is lost. Otherwise the pair is looser than any
    /// one choice, and over many outputs more so than the sum of the largest Rényi divergences. Composing is then not the
    /// tightest that can be proved: with V₀ the profile of nothing and V_j(ε) = max over the losses L of output j of
    /// E[V_{j-1}(ε - L)], V bounds the profile of every choice, even one that depends on the outputs so far, and is at most
    /// that of the dominating pairs, as the largest of mixtures is at most the mixture of the largest. Such V are no
    /// convolutions: they cost outputs times lattice points times losses times outcomes, and are not offered.
    ///
    /// ```
    /// # use leakbound::{OutcomeLaw, PrivacyLoss};
    /// let law = |p: [f64; 3]| OutcomeLaw::from_probabilities(&p);
    /// let p = law([0.5, 0.3, 0.2])?;
    /// let losses = [PrivacyLoss::of_laws(&p, &law([0.4, 0.4, 0.2])?)?, PrivacyLoss::of_laws(&p, &law([0.5, 0.2, 0.3])?)?];
    /// assert!(PrivacyLoss::dominating(&losses).unwrap().largest() >= 1.5f64.ln());
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
        let infinite = losses.iter().map(|loss| loss.infinite).fold(0.0, f64::max);
        let knots = knots(losses);
        let value = |l: f64| losses.iter().map(|loss| loss.finite_profile(l) + loss.infinite).fold(infinite, f64::max);
        // What is left at the largest ratio is infinite loss, or as good as that.
        let infinite = knots.first().map_or(infinite, |&largest| value(largest));
        // From the largest ratio down: slopes of the chords, as what δ loses per unit of x.
        let mut atoms = Vec::with_capacity(knots.len());
        let (mut right, mut above, mut steepest) = (infinite, None::<f64>, 0.0f64);
        for &l in &knots {
            let here = value(l);
            if let Some(next) = above {
                // x_next - x = e^l (e^{next - l} - 1).
                push(&mut atoms, next, (here - right) / (libm::exp(l) * libm::expm1(next - l)), &mut steepest);
            }
            (right, above) = (here, Some(l));
        }
        if let Some(least) = above {
            push(&mut atoms, least, (1.0 - right) * libm::exp(-least), &mut steepest);
        }
        Some(Self { atoms, infinite: (infinite + ROUNDING).min(1.0) })
    }

    /// Σ (p - e^l q)⁺ over finite losses: every term is positive, so that the sum has all digits.
    fn finite_profile(&self, l: f64) -> f64 {
        self.atoms.iter().take_while(|atom| atom.l > l).map(|atom| atom.p * -libm::expm1(l - atom.l)).sum()
    }
}

/// Puts what the slope gains over the steepest so far at the ratio where it does. Rounding may leave a gain below 0, which
/// is none.
fn push(atoms: &mut Vec<Atom>, l: f64, slope: f64, steepest: &mut f64) {
    if slope > *steepest {
        atoms.push(Atom { l, p: libm::exp(l) * (slope - *steepest) });
        *steepest = slope;
    }
}

/// The losses of all, largest first, thinned out evenly.
fn knots(losses: &[PrivacyLoss]) -> Vec<f64> {
    let finite = losses.iter().flat_map(|loss| loss.atoms.iter().map(|atom| atom.l)).filter(|l| l.is_finite());
    let mut all: Vec<f64> = finite.map(|l| l.clamp(-FARTHEST, FARTHEST)).collect();
    all.sort_by(|a, b| b.total_cmp(a));
    let (Some(&largest), Some(&least)) = (all.first(), all.last()) else { return Vec::new() };
    let apart = ((largest - least) / MOST_POINTS).max(1e-12);
    let mut knots = vec![largest];
    for l in all {
        if knots[knots.len() - 1] - l >= apart {
            knots.push(l);
        }
    }
    knots
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::{compose_losses, hockey_stick};
    use crate::law::OutcomeLaw;
    use crate::quantity::{Delta, Epsilon};
    use proptest::prelude::*;

    fn law(weights: &[f64]) -> OutcomeLaw {
        let total: f64 = weights.iter().sum();
        OutcomeLaw::from_probabilities(&weights.iter().map(|weight| weight / total).collect::<Vec<_>>()).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        /// Above every profile at every ε, equal to the largest at the ratios themselves, of total probability 1.
        #[test]
        fn no_profile_is_above_it(
            p in prop::collection::vec(0.01f64..1.0, 4),
            others in prop::collection::vec(prop::collection::vec(0.01f64..1.0, 4), 1..6),
            at in 0.0f64..4.0,
        ) {
            let p = law(&p);
            let others: Vec<OutcomeLaw> = others.iter().map(|q| law(q)).collect();
            let losses: Vec<PrivacyLoss> = others
                .iter()
                .flat_map(|q| [PrivacyLoss::of_laws(&p, q).unwrap(), PrivacyLoss::of_laws(q, &p).unwrap()])
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

    /// Composition keeps it: above the composition of any choice.
    #[test]
    fn compositions_are_dominated_too() {
        let p = law(&[5.0, 3.0, 2.0]);
        let pairs = [[5.5, 2.8, 1.7], [4.6, 3.1, 2.3]].map(|q| PrivacyLoss::of_laws(&p, &law(&q)).unwrap());
        let one = PrivacyLoss::dominating(&pairs).unwrap();
        let delta = Delta::new(1e-4).unwrap();
        let upper = compose_losses(&[(one, 40)], delta, 1e-3).unwrap().epsilon(delta).upper;
        for times in [0, 10, 20, 40] {
            let losses = [(pairs[0].clone(), times), (pairs[1].clone(), 40 - times)];
            let some = compose_losses(&losses, delta, 1e-3).unwrap().epsilon(delta);
            assert!(some.lower <= upper, "{times}: {some:?} {upper}");
        }
    }

    /// What one of them shows for certain, the dominating one shows as often.
    #[test]
    fn an_outcome_that_one_neighbor_cannot_have_stays_infinite() {
        let (p, impossible, possible) = (law(&[2.0, 5.0, 3.0]), law(&[0.0, 6.0, 4.0]), law(&[1.0, 5.0, 4.0]));
        let losses = [&impossible, &possible].map(|q| PrivacyLoss::of_laws(&p, q).unwrap());
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

    /// Losses of ±10,000, whose powers are no doubles: nothing of the probability may get lost.
    #[test]
    fn losses_beyond_the_doubles_are_dominated_too() {
        let rare = |lead: f64, p: f64| {
            let ln = [p.ln(), (1.0 - p).ln(), -lead];
            let row = |ln_value: f64| crate::quadrature::LogIntegral { ln_value, error: 1e-14 };
            OutcomeLaw::from_integrals(&ln.map(row)).unwrap()
        };
        for lead in [500.0, 700.0, 800.0, 20_000.0] {
            let (p, q) = (rare(lead, 0.35), rare(0.5 * lead, 0.34));
            let losses = [PrivacyLoss::of_laws(&p, &q).unwrap(), PrivacyLoss::of_laws(&q, &p).unwrap()];
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
        let loss = PrivacyLoss::of_laws(&law(&[2.0, 1.0]), &law(&[1.0, 2.0])).unwrap();
        assert_eq!(PrivacyLoss::dominating(std::slice::from_ref(&loss)), Some(loss));
        assert_eq!(PrivacyLoss::dominating(&[]), None);
    }

    /// Losses of both signs too: the number of points is bounded whatever the losses.
    #[test]
    fn losses_are_thinned_out() {
        let classes = 2_000;
        let p: Vec<f64> = (0..classes).map(|i| 1.0 + f64::from(i) / f64::from(classes)).collect();
        let q: Vec<f64> = p.iter().rev().copied().collect();
        let loss = PrivacyLoss::of_laws(&law(&p), &law(&q)).unwrap();
        let found = knots(&[loss]);
        assert!(found.len() as f64 <= MOST_POINTS + 1.0, "{}", found.len());
        assert!((found[0] - 2f64.ln()).abs() < 1e-3);
    }
}
