//! Privacy profiles with certain upper bounds, and lower bounds if more is known, and what they imply about attackers.

use super::{Bracket, ComposedLoss, RdpCurve, gdp_delta};
use crate::bound::{Direction, Figures};
use crate::error::{Error, Result};
use crate::quantity::{Epsilon, Probability};

/// δ(ε) in both directions, bounded from above and from below.
///
/// With P and Q the distributions of all outputs under a dataset and a neighbor, δ(ε) = sup_S P(S) - e^ε Q(S) in the
/// forward direction and with P and Q exchanged in the reverse one. It is known by its closed form for Gaussian noise,
/// enclosed by composed privacy losses, or bounded from above by Rényi divergences (Balle et al. 2020, Theorem 21).
///
/// ```
/// # use leakbound::bound::Direction;
/// # use leakbound::divergence::CertifiedProfile;
/// # use leakbound::quantity::{Epsilon, Probability};
/// let profile = CertifiedProfile::gaussian(1.0)?;
/// let delta = profile.delta(Direction::Forward, Epsilon::new(1.0)?)?;
/// assert!((delta.upper - 0.126_936_737_506_643_9).abs() < 1e-11 && delta.lower <= delta.upper);
/// // Φ(Φ⁻¹(0.01) + 1): the best test of one unit of shift.
/// let tpr = profile.true_positive_rate(Direction::Forward, Probability::new(0.01)?)?;
/// assert!((tpr - 0.092_362_248).abs() < 1e-8);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct CertifiedProfile(Source);

#[derive(Debug, Clone)]
enum Source {
    /// The profile of μ-GDP.
    Gaussian(f64),
    /// Composed losses, each of which encloses the profile.
    Losses(Vec<ComposedLoss>),
    /// Upper bounds on the Rényi divergences of both directions.
    Rdp(RdpCurve),
}

/// Rounding of the closed form.
const SLIGHTLY: f64 = 1e-11;
/// Smaller differences of ε do not matter.
const FINEST: f64 = 1e-7;
/// Steps of a golden-section search, which reach a relative width of 1e-14.
const STEPS: usize = 70;
/// The largest number of intervals before a question is left open.
const MOST_INTERVALS: usize = 4_000;
/// Beyond this ε no test matters: e^ε overflows soon after.
const FARTHEST: f64 = 600.0;

impl CertifiedProfile {
    /// The profile of N(0, 1) against N(μ, 1).
    ///
    /// # Errors
    /// [`Error::Domain`] unless μ is in [0, inf).
    pub fn gaussian(mu: f64) -> Result<Self> {
        gdp_delta(mu, Epsilon::ZERO)?;
        Ok(Self(Source::Gaussian(mu)))
    }

    /// A profile enclosed by composed losses. Each of several enclosures is valid, and the best one is used.
    #[must_use]
    pub const fn of_losses(composed: Vec<ComposedLoss>) -> Self {
        Self(Source::Losses(composed))
    }

    /// A profile bounded from above by Rényi divergences that hold in both directions.
    #[must_use]
    pub const fn of_rdp(curve: RdpCurve) -> Self {
        Self(Source::Rdp(curve))
    }

    /// δ at ε.
    ///
    /// # Errors
    /// [`Error::Contradiction`] if several enclosures exclude each other: one of them is wrong.
    pub fn delta(&self, direction: Direction, epsilon: Epsilon) -> Result<Bracket> {
        let [lower, upper] = [Self::below, Self::above].map(|end| end(self, direction, epsilon.get()));
        let mut figures = Figures::new(format!("δ at ε = {epsilon}"));
        figures.at_least("the lower end", lower);
        figures.at_most("the upper end", upper);
        figures.check()?;
        Ok(Bracket { lower, upper })
    }

    /// An upper bound on the smallest ε ≥ 0 with δ(ε) ≤ δ in both directions.
    #[must_use]
    pub fn epsilon(&self, delta: f64) -> f64 {
        let holds = |epsilon: f64| Direction::BOTH.iter().all(|&direction| self.above(direction, epsilon) <= delta);
        if holds(0.0) {
            return 0.0;
        }
        let Some(mut high) = (0..70).map(|power| FINEST * 2f64.powi(power)).find(|&epsilon| holds(epsilon)) else {
            return f64::INFINITY;
        };
        let mut low = 0.5 * high;
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if holds(middle) { high = middle } else { low = middle }
        }
        high
    }

    /// An upper bound on the true-positive rate of every attacker with this false-positive rate. A positive means the
    /// dataset in the forward direction and the neighbor in the reverse one.
    ///
    /// A test S with Q(S) ≤ f has P(S) ≤ δ(ε) + e^ε f for every ε, including negative ones, where
    /// δ(-ε) = 1 - e^{-ε} + e^{-ε} δ'(ε) with δ' from the other direction. The smallest of these bounds is the
    /// trade-off curve; each one is valid, wherever the search for the smallest ends.
    ///
    /// # Errors
    /// [`Error::Domain`] for a rate of 0 or 1, which a rounded profile cannot bound.
    ///
    /// # References
    /// Kairouz, Oh and Viswanath (2015), "The composition theorem for differential privacy"; Dong, Roth and Su (2022),
    /// Proposition 6.
    pub fn true_positive_rate(&self, direction: Direction, rate: Probability) -> Result<f64> {
        let rate = inner(rate)?;
        let bound = |epsilon: f64| self.extended(direction, epsilon, Self::above) + libm::exp(epsilon) * rate;
        // Convex in e^ε, so it has one minimum; beyond the ends the bound is at least 1.
        let (mut low, mut high) = (-FARTHEST.min(40.0), -rate.ln());
        let golden = 0.5 * (5f64.sqrt() - 1.0);
        let inside = |low: f64, high: f64| [high - golden * (high - low), low + golden * (high - low)];
        let mut least = 1f64;
        for _ in 0..STEPS {
            let [left, right] = inside(low, high);
            let values = [bound(left), bound(right)];
            least = least.min(values[0]).min(values[1]);
            if values[0] < values[1] { high = right } else { low = left }
        }
        Ok(least.max(rate))
    }

    /// Whether some attacker with this false-positive rate certainly has a true-positive rate above `most`. False if
    /// there is no lower bound.
    ///
    /// The smallest of δ(ε) + e^ε f is above `most` if δ(b) + e^a f is, on each of some intervals [a, b] that cover all
    /// relevant ε.
    ///
    /// # Errors
    /// As [`Self::true_positive_rate`].
    pub fn some_rate_is_above(&self, direction: Direction, rate: Probability, most: f64) -> Result<bool> {
        let rate = inner(rate)?;
        if !(most > rate && most < 1.0) || matches!(self.0, Source::Rdp(_)) {
            return Ok(most < rate);
        }
        let at_least =
            |low: f64, high: f64| self.extended(direction, high, Self::below).max(0.0) + libm::exp(low) * rate > most;
        // Elsewhere e^ε f, or 1 - e^ε for a negative ε, is already larger.
        Ok(everywhere([libm::log1p(-most), (most / rate).ln()], at_least))
    }

    /// Whether δ(ε) is at most that of μ-GDP plus `slack`, at every ε ≥ 0 and in both directions.
    ///
    /// This holds on an interval [a, b] if δ(a) is at most that of μ-GDP at b plus `slack`.
    ///
    /// # Errors
    /// [`Error::Domain`] unless μ is in [0, inf).
    pub fn is_gaussian(&self, mu: f64, slack: f64) -> Result<bool> {
        gdp_delta(mu, Epsilon::ZERO)?;
        if let Source::Gaussian(own) = self.0 {
            return Ok(own <= mu);
        }
        let end = self.epsilon(slack);
        let holds = |low: f64, high: f64| {
            let allowed = slack + gdp(mu, high) * (1.0 - SLIGHTLY);
            Direction::BOTH.iter().all(|&direction| self.above(direction, low) <= allowed)
        };
        Ok(end.is_finite() && everywhere([0.0, end], holds))
    }

    /// Whether δ(ε) is certainly above that of μ-GDP plus `slack`, at some ε ≥ 0 in some direction.
    ///
    /// # Errors
    /// [`Error::Domain`] unless μ is in [0, inf).
    pub fn is_not_gaussian(&self, mu: f64, slack: f64) -> Result<bool> {
        gdp_delta(mu, Epsilon::ZERO)?;
        if let Source::Gaussian(own) = self.0 {
            return Ok(own * (1.0 - SLIGHTLY) > mu);
        }
        let end = self.epsilon(slack).min(FARTHEST);
        let above = |epsilon: f64| {
            let allowed = slack + gdp(mu, epsilon) * (1.0 + SLIGHTLY);
            Direction::BOTH.iter().any(|&direction| self.below(direction, epsilon) > allowed)
        };
        Ok((0..=100).any(|step| above(end * f64::from(step) / 100.0)))
    }

    /// An upper bound on δ.
    fn above(&self, direction: Direction, epsilon: f64) -> f64 {
        match &self.0 {
            // An underflow does not prove 0.
            Source::Gaussian(mu) if *mu > 0.0 => (gdp(*mu, epsilon) * (1.0 + SLIGHTLY)).clamp(f64::MIN_POSITIVE, 1.0),
            Source::Gaussian(_) => 0.0,
            Source::Losses(composed) => {
                let all = composed.iter().map(|composed| composed.in_direction(direction).upper_delta(epsilon));
                all.fold(1.0, f64::min)
            }
            Source::Rdp(curve) => {
                if curve.values().iter().all(|value| *value == 0.0) {
                    return 0.0;
                }
                Epsilon::new(epsilon).map_or(1.0, |epsilon| curve.delta(epsilon).0)
            }
        }
    }

    /// A lower bound on δ.
    fn below(&self, direction: Direction, epsilon: f64) -> f64 {
        match &self.0 {
            Source::Gaussian(mu) => gdp(*mu, epsilon) * (1.0 - SLIGHTLY),
            Source::Losses(composed) => {
                let all = composed.iter().map(|composed| composed.in_direction(direction).lower_delta(epsilon));
                all.fold(0.0, f64::max)
            }
            Source::Rdp(_) => 0.0,
        }
    }

    /// δ(ε), including for a negative ε.
    fn extended(&self, direction: Direction, epsilon: f64, side: fn(&Self, Direction, f64) -> f64) -> f64 {
        if epsilon >= 0.0 {
            return side(self, direction, epsilon);
        }
        libm::exp(epsilon) * side(self, direction.reversed(), -epsilon) - libm::expm1(epsilon)
    }
}

/// A rate between 0 and 1.
fn inner(rate: Probability) -> Result<f64> {
    let rate = rate.get();
    Error::check_domain(rate > 0.0 && rate < 1.0, "false-positive rate", rate, "(0, 1)")?;
    Ok(rate)
}

fn gdp(mu: f64, epsilon: f64) -> f64 {
    Epsilon::new(epsilon).and_then(|epsilon| gdp_delta(mu, epsilon)).unwrap_or(0.0)
}

/// Whether a property holds on intervals that cover this one; if it holds on an interval, it must hold on all its
/// parts. Intervals without it are halved up to a limit, and then it answers no.
fn everywhere([low, high]: [f64; 2], holds: impl Fn(f64, f64) -> bool) -> bool {
    let mut open = vec![(low, high)];
    for _ in 0..MOST_INTERVALS {
        let Some((low, high)) = open.pop() else { return true };
        if holds(low, high) {
            continue;
        }
        let middle = 0.5 * (low + high);
        // If it fails at a point, it fails on every interval around it.
        if !(middle > low && middle < high && holds(middle, middle)) {
            return false;
        }
        open.extend([(middle, high), (low, middle)]);
    }
    open.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::OutcomeDistribution;
    use crate::divergence::{EnclosedLoss, PrivacyLoss, TestPower, compose_losses, gdp_epsilon};
    use crate::quantity::{Delta, Order};
    use crate::special::{log_ndtr, ndtri};

    const BOTH: [Direction; 2] = Direction::BOTH;

    fn rate(value: f64) -> Probability {
        Probability::new(value).unwrap()
    }

    /// Φ(Φ⁻¹(f) + μ).
    fn gaussian_power(mu: f64, f: f64) -> f64 {
        libm::exp(log_ndtr(ndtri(f) + mu))
    }

    /// Two outputs of a small asymmetric pair, composed exactly and as an enclosure.
    fn pair() -> ([OutcomeDistribution; 2], CertifiedProfile) {
        let one = |p: [f64; 3]| OutcomeDistribution::from_probabilities(&p).unwrap();
        let two = |p: [f64; 3]| -> OutcomeDistribution {
            let both: Vec<f64> = p.iter().flat_map(|a| p.map(|b| a * b)).collect();
            OutcomeDistribution::from_probabilities(&both).unwrap()
        };
        let (p, q) = ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]);
        let (p, q) = (p, [q[0], 0.1, 0.7]);
        let losses = [(one(p), one(q)), (one(q), one(p))]
            .map(|(p, q)| EnclosedLoss::known(PrivacyLoss::of_distributions(&p, &q).unwrap()));
        let composed = compose_losses(&[(&losses, 2)], Delta::new(0.2).unwrap(), 1e-5).unwrap();
        ([two(p), two(q)], CertifiedProfile::of_losses(vec![composed]))
    }

    #[test]
    fn gaussian_profiles_have_the_power_of_the_best_test() {
        for mu in [0.1, 1.0, 3.0] {
            let profile = CertifiedProfile::gaussian(mu).unwrap();
            for f in [1e-6, 0.001, 0.1, 0.5, 0.9] {
                let truth = gaussian_power(mu, f);
                for direction in BOTH {
                    let found = profile.true_positive_rate(direction, rate(f)).unwrap();
                    assert!(
                        found >= truth * (1.0 - 1e-12) && found < truth * (1.0 + 1e-7),
                        "{mu} {f}: {found} {truth}"
                    );
                    let above = |most: f64| profile.some_rate_is_above(direction, rate(f), most).unwrap();
                    assert!(above(truth * 0.999) || truth * 0.999 >= 1.0, "{mu} {f}");
                    assert!(!above((truth * 1.0001).min(1.0 - 1e-12)), "{mu} {f}");
                }
            }
            let epsilon = gdp_epsilon(mu, Delta::new(1e-5).unwrap()).unwrap().get();
            assert!((profile.epsilon(1e-5) - epsilon).abs() < 1e-8, "{mu}");
            assert!(profile.is_gaussian(mu, 0.0).unwrap() && !profile.is_gaussian(0.99 * mu, 0.0).unwrap());
        }
    }

    /// Compared with the Neyman-Pearson curve of the nine outcomes.
    #[test]
    fn enclosed_profiles_stand_around_the_exact_trade_off() {
        let ([p, q], profile) = pair();
        for (direction, p, q) in [(BOTH[0], &p, &q), (BOTH[1], &q, &p)] {
            let outcomes = (0..9).map(|i| ([p.p()[i], q.p()[i]], [p.ln_p()[i], q.ln_p()[i]]));
            let power = TestPower::of_outcomes(outcomes);
            for f in [0.003, 0.05, 0.3, 0.8] {
                let truth = power.at(rate(f));
                let found = profile.true_positive_rate(direction, rate(f)).unwrap();
                assert!(found >= truth * (1.0 - 1e-12) && found < truth * 1.001, "{f} {direction}: {found} {truth}");
                assert!(profile.some_rate_is_above(direction, rate(f), 0.995 * truth).unwrap(), "{f} {direction}");
                assert!(!profile.some_rate_is_above(direction, rate(f), truth * 1.00001).unwrap(), "{f} {direction}");
            }
        }
    }

    /// The smallest μ by the definition, on a fine grid of ε.
    #[test]
    fn the_least_mu_of_a_discrete_pair_is_found_from_both_sides() {
        let ([p, q], profile) = pair();
        let delta = |p: &OutcomeDistribution, q: &OutcomeDistribution, e: f64| -> f64 {
            (0..9).map(|i| (p.p()[i] - e.exp() * q.p()[i]).max(0.0)).sum()
        };
        let fits = |mu: f64| {
            (0..=4_000)
                .map(|step| f64::from(step) / 1000.0)
                .all(|e| delta(&p, &q, e).max(delta(&q, &p, e)) <= gdp(mu, e))
        };
        let least = (100..400).map(|step| f64::from(step) / 100.0).find(|&mu| fits(mu)).unwrap();
        assert!(profile.is_gaussian(least * 1.01, 1e-12).unwrap(), "{least}");
        assert!(
            !profile.is_gaussian(least * 0.98, 1e-12).unwrap() && profile.is_not_gaussian(least * 0.98, 1e-12).unwrap()
        );
        assert!(!profile.is_not_gaussian(least * 1.01, 1e-12).unwrap());
    }

    /// Rényi divergences bound from above and give no bound from below.
    #[test]
    fn rdp_bounds_the_same_profile() {
        let orders: Vec<Order> = (2..200).map(|order| Order::new(f64::from(order)).unwrap()).collect();
        let profile = CertifiedProfile::of_rdp(RdpCurve::from_fn(&orders, |order| 0.5 * order.get()));
        let exact = CertifiedProfile::gaussian(1.0).unwrap();
        for epsilon in [0.5, 3.0, 6.0].map(|epsilon| Epsilon::new(epsilon).unwrap()) {
            let [bound, truth] = [&profile, &exact].map(|profile| profile.delta(BOTH[0], epsilon).unwrap());
            assert!(bound.lower == 0.0 && bound.upper >= truth.upper, "{epsilon}");
        }
        let [bound, truth] = [&profile, &exact].map(|profile| profile.true_positive_rate(BOTH[1], rate(0.01)).unwrap());
        assert!(bound >= truth && bound < 1.0, "{bound} {truth}");
        assert!(!profile.some_rate_is_above(BOTH[0], rate(0.01), 0.02).unwrap());
        assert!(profile.true_positive_rate(BOTH[0], rate(0.0)).is_err());
        let nothing = CertifiedProfile::of_rdp(RdpCurve::from_fn(&orders, |_| 0.0));
        assert_eq!(nothing.epsilon(0.0), 0.0);
    }
}
