//! Mechanisms that see a record only sometimes: Rényi divergences from those of the mechanism itself, and from its
//! privacy losses.

use super::subsampled::{log_mean_exp, log_power_excess};
use crate::bound::outward::up;
use crate::divergence::PrivacyLoss;
use crate::quantity::{Order, Probability};
use crate::special::{log_sum_exp, softplus};

/// D_α of a mechanism known only by its Rényi divergences, on a Poisson subsample of rate γ. `added` is D_α(P ‖ Q) for
/// an added record, P with it and Q without, and `removed` is D_α(Q ‖ P). The larger of both directions of the
/// subsample:
/// ```text
/// D_α((1-γ) Q + γ P ‖ Q) ≤ α/(α-1) ln(1 - γ + γ e^{(α-1)/α D_α(P ‖ Q)})                (Minkowski's inequality)
/// D_α(Q ‖ (1-γ) Q + γ P) ≤ min(-ln(1-γ), ln(1 - γ + γ e^{(α-1) D_α(Q ‖ P)})/(α-1))    (the density; joint convexity)
/// ```
/// Rounded up.
///
/// *Proof.* With f = P/Q the first is α/(α-1) times ln of ‖1 - γ + γ f‖ in L^α(Q). In the second the mixture is at
/// least (1-γ) Q; and e^{(α-1) D_α} is jointly convex in the pairs (Q, Q) and (Q, P).
///
/// ```
/// # use leakbound::accountant::poisson_subsampled_rdp;
/// # use leakbound::quantity::{Order, Probability};
/// let (order, rate) = (Order::new(2.0)?, Probability::new(0.1)?);
/// let bound = poisson_subsampled_rdp(order, rate, 1.0, 1.0);
/// assert!((bound - 2.0 * (0.9 + 0.1 * 0.5f64.exp()).ln()).abs() < 1e-14);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Mironov, Talwar and Zhang (2019), for the setting; van Erven and Harremoës (2014), for the convexity.
#[must_use]
pub fn poisson_subsampled_rdp(order: Order, rate: Probability, added: f64, removed: f64) -> f64 {
    let (a, q) = (order.get(), rate.get());
    let minkowski = a / (a - 1.0) * log_mean_exp(q, (a - 1.0) / a * added);
    let against = (-libm::log1p(-q)).min(log_mean_exp(q, (a - 1.0) * removed) / (a - 1.0));
    up(minkowski.max(against), 16.0).min(up(added.max(removed), 0.0))
}

/// D_α of a mechanism on a sample without replacement that contains a share γ of the data, for neighbors in which a
/// record is replaced; `rdp` is D_α of the mechanism itself for such neighbors:
/// ```text
/// D ≤ ln(1 - γ + γ e^{(α-1) rdp})/(α-1).
/// ```
/// Rounded up.
///
/// *Proof.* Given the other drawn records, and the one drawn instead of the record if it is not drawn, the outputs are
/// (1-γ) A + γ B against (1-γ) A + γ B', with B and B' of neighbors. e^{(α-1) D_α} is jointly convex.
///
/// ```
/// # use leakbound::accountant::without_replacement_rdp;
/// # use leakbound::quantity::{Order, Probability};
/// let bound = without_replacement_rdp(Order::new(2.0)?, Probability::new(0.1)?, 1.0);
/// assert!((bound - (0.9 + 0.1 * 1f64.exp()).ln()).abs() < 1e-14);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Wang, Balle and Kasiviswanathan (2019), "Subsampled Rényi differential privacy and analytical moments accountant",
/// for the setting and for bounds that are tighter for small γ.
#[must_use]
pub fn without_replacement_rdp(order: Order, rate: Probability, rdp: f64) -> f64 {
    let a = order.get();
    up(log_mean_exp(rate.get(), (a - 1.0) * rdp) / (a - 1.0), 16.0).min(rdp)
}

/// Probabilities below this are bounded together: below 1e-308 doubles lose digits, and below 5e-324 they are 0. A
/// million of them add up to at most e^-650.
const LOST: f64 = 1e-290;
const LN_LOST: f64 = -650.0;
/// Orders at which the divergence is also evaluated to bound the lost terms, as multiples of the order, and one large
/// order, which is best if the loss is bounded.
const HIGHER: [f64; 4] = [2.0, 5.0, 1.3, 20.0];
const FAR_ORDER: f64 = 1e9;
/// Lost terms are negligible from this far below the sum on, in ln.
const NEGLIGIBLE: f64 = 40.0;

/// D_α of a pair from its privacy loss, or an upper bound from a loss that dominates it: ln E e^{(α-1) L}/(α-1), where
/// L is the loss under P. `bound` is an upper bound on D of the pair at any order, such as its largest loss. Rounded
/// up.
///
/// Every f-divergence is an average of hockey-stick divergences, so a loss whose profile is at least that of the pair
/// at every ε has no smaller Rényi divergence. With q = p e^{-l} it is ln(1 + Σ q (e^{αl} - 1 - α (e^l - 1))) without
/// cancellation, including the remaining mass of Q on outcomes that P does not have.
///
/// Outcomes of probability below 1e-290, and those whose loss is infinite from above, are not in the sum, however much
/// they contribute at a large order. By Hölder's inequality they have E e^{(α-1) L} ≤ P^{1-(α-1)/(A-1)} e^{(α-1) D_A}
/// for any order A > α, where D_A is taken from `bound`; the smallest value over some A is added.
///
/// ```
/// # use leakbound::accountant::rdp_of_loss;
/// # use leakbound::distribution::OutcomeDistribution;
/// # use leakbound::divergence::{PrivacyLoss, renyi_divergence};
/// # use leakbound::quantity::Order;
/// let [p, q] = [[0.6, 0.4], [0.5, 0.5]].map(|p| OutcomeDistribution::from_probabilities(&p).unwrap());
/// let (order, loss) = (Order::new(3.0)?, PrivacyLoss::of_distributions(&p, &q)?);
/// let found = rdp_of_loss(order, &loss, &|_| loss.largest());
/// assert!((found / renyi_divergence(&p, &q, order)? - 1.0).abs() < 1e-9);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Liese and Vajda (2006), IEEE Transactions on Information Theory 52, for the average.
#[must_use]
pub fn rdp_of_loss(order: Order, loss: &PrivacyLoss, bound: &dyn Fn(Order) -> f64) -> f64 {
    rdp_of_profiles(order, [loss, loss], bound)
}

/// The same for a profile that is that of one loss at ε ≥ 0 and of another at ε < 0: an outcome of loss l contributes
/// where ε is between 0 and l.
///
/// ```
/// # use leakbound::accountant::{rdp_of_loss, rdp_of_profiles};
/// # use leakbound::distribution::OutcomeDistribution;
/// # use leakbound::divergence::PrivacyLoss;
/// # use leakbound::quantity::Order;
/// let [p, q] = [[0.6, 0.4], [0.5, 0.5]].map(|p| OutcomeDistribution::from_probabilities(&p).unwrap());
/// let (order, loss) = (Order::new(3.0)?, PrivacyLoss::of_distributions(&p, &q)?);
/// assert_eq!(rdp_of_profiles(order, [&loss, &loss], &|_| 1.0), rdp_of_loss(order, &loss, &|_| 1.0));
/// # Ok::<(), leakbound::Error>(())
/// ```
#[must_use]
pub fn rdp_of_profiles(order: Order, profiles: [&PrivacyLoss; 2], bound: &dyn Fn(Order) -> f64) -> f64 {
    // Sums of probabilities are off by about 1e-13. Below ε = 0 that shifts the profile by the same amount, in ln x,
    // with a total weight of at most α (α-1) down to the smallest loss and α from there on.
    let [_, below] = profiles;
    let least = counting(below).map(|(l, _)| l.abs()).fold(0.0, f64::max);
    rounded_up(order, log_moment(order, profiles, bound), 1.0 + least)
}

/// D_α of a pair from its own privacy loss, which must contain every outcome of the pair with at least its probability;
/// Q must have no outcome that P lacks. `bound` is as for [`rdp_of_loss`], which adds 1e-13 α for errors that a loss
/// that only dominates may hide: here small losses give small divergences. Rounded up.
///
/// No term of Σ q (e^{αl} - 1 - α (e^l - 1)) is negative, so only the rounding of the losses matters: an error e of a
/// loss shifts D_α by at most e Σ p e^{(α-1) l} |1 - e^{-αl}| / Σ p e^{(α-1) l} ≤ 2 e α |l|.
///
/// ```
/// # use leakbound::accountant::rdp_of_own_loss;
/// # use leakbound::distribution::OutcomeDistribution;
/// # use leakbound::divergence::PrivacyLoss;
/// # use leakbound::quantity::Order;
/// // Randomized response with ε = 1e-6: ε² + O(ε⁴) at order 2.
/// let [p, q] = [[1e-6f64, 0.0], [0.0, 1e-6]].map(|ln| {
///     let weights = ln.map(f64::exp);
///     OutcomeDistribution::from_probabilities(&weights.map(|weight| weight / (weights[0] + weights[1]))).unwrap()
/// });
/// let loss = PrivacyLoss::of_distributions(&p, &q)?;
/// let found = rdp_of_own_loss(Order::new(2.0)?, &loss, &|_| loss.largest());
/// assert!(found >= 1e-12 && found < 1.00001e-12, "{found}");
/// # Ok::<(), leakbound::Error>(())
/// ```
#[must_use]
pub fn rdp_of_own_loss(order: Order, loss: &PrivacyLoss, bound: &dyn Fn(Order) -> f64) -> f64 {
    let farthest = counting(loss).map(|(l, _)| l.abs()).fold(0.0, f64::max);
    rounded_up(order, log_moment(order, [loss, loss], bound), farthest)
}

/// The losses whose probabilities are large enough to be summed individually.
fn counting(loss: &PrivacyLoss) -> impl Iterator<Item = (f64, f64)> + '_ {
    loss.atoms().filter(|(_, p)| *p >= LOST)
}

/// D_α from ln of E e^{(α-1) L} - 1, off by 1e-13 α times `size` if losses are off by 5e-14 and sums of probabilities
/// by 1e-13.
fn rounded_up(order: Order, ln: f64, size: f64) -> f64 {
    if ln == f64::INFINITY {
        return ln;
    }
    let a = order.get();
    up((softplus(ln) / (a - 1.0)) * (1.0 + 1e-12) + 1e-13 * a * size, 8.0)
}

/// ln of E e^{(α-1) L} - 1, including the lost terms.
fn log_moment(order: Order, [above, below]: [&PrivacyLoss; 2], bound: &dyn Fn(Order) -> f64) -> f64 {
    let a = order.get();
    let infinite = above.infinite().max(below.infinite());
    let term = |l: f64, p: f64| p.ln() - l + log_power_excess(a, libm::expm1(l), || l);
    let mut terms: Vec<f64> = counting(above).filter(|(l, _)| *l > 0.0).map(|(l, p)| term(l, p)).collect();
    terms.extend(counting(below).filter(|(l, _)| *l <= 0.0).map(|(l, p)| term(l, p)));
    // (1+u)^α - 1 - αu at u = -1, on the remaining mass of Q.
    let of_q: f64 = below.atoms().map(|(l, p)| libm::exp(p.ln() - l)).sum();
    terms.push(((1.0 - of_q).max(0.0) * (a - 1.0)).ln());
    if terms.iter().any(|term| term.is_nan()) {
        return f64::INFINITY;
    }
    let found = log_sum_exp(terms.iter().copied());
    let ln_p = log_sum_exp([LN_LOST, infinite.ln()].into_iter());
    log_sum_exp([found, ln_lost(order, ln_p, bound, found - NEGLIGIBLE)].into_iter())
}

/// ln of E e^{(α-1) L} of outcomes with this total probability, by the first order at which it is negligible, or else
/// by the best one.
fn ln_lost(order: Order, ln_p: f64, bound: &dyn Fn(Order) -> f64, negligible: f64) -> f64 {
    let a = order.get();
    let mut least = f64::INFINITY;
    for higher in std::iter::once(FAR_ORDER).chain(HIGHER.map(|factor| factor * a)) {
        let Some(higher) = Order::new(higher).ok().filter(|higher| *higher > order) else { continue };
        let share = (a - 1.0) / (higher.get() - 1.0);
        let lost = ln_p * (1.0 - share) + (a - 1.0) * bound(higher);
        if lost < least {
            least = lost;
        }
        if least < negligible {
            break;
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::Direction;
    use crate::distribution::{OutcomeDistribution, OutputPair};

    fn pairs() -> Vec<OutputPair> {
        let distribution = |p: &[f64]| OutcomeDistribution::from_probabilities(p).unwrap();
        [
            ([0.7, 0.2, 0.1], [0.1, 0.2, 0.7]),
            ([0.34, 0.33, 0.33], [0.33, 0.34, 0.33]),
            ([0.999, 0.0005, 0.0005], [0.5, 0.25, 0.25]),
        ]
        .iter()
        .map(|(p, q)| OutputPair::new(distribution(p), distribution(q)).unwrap())
        .collect()
    }

    fn mixed(first: &OutcomeDistribution, second: &OutcomeDistribution, rate: f64) -> OutcomeDistribution {
        let p: Vec<f64> = first.p().iter().zip(second.p()).map(|(a, b)| (1.0 - rate) * a + rate * b).collect();
        OutcomeDistribution::from_probabilities(&p).unwrap()
    }

    /// No mixture exceeds the bounds; with every record and with none, they have the known values.
    #[test]
    fn no_mixture_is_above_the_bounds() {
        for pair in pairs() {
            for a in [1.01, 2.0, 7.5, 300.0].map(|a| Order::new(a).unwrap()) {
                let of = |p: &OutcomeDistribution, q: &OutcomeDistribution| {
                    crate::divergence::renyi_divergence(p, q, a).unwrap()
                };
                let (q, p) = (pair.dataset(), pair.neighbor());
                let [removed, added] = Direction::BOTH.map(|direction| pair.renyi(direction, a));
                for rate in [0.0, 1e-4, 0.1, 0.7, 1.0] {
                    let share = Probability::new(rate).unwrap();
                    let mixture = mixed(q, p, rate);
                    let bound = poisson_subsampled_rdp(a, share, added, removed) + 1e-15;
                    assert!(of(&mixture, q) <= bound && of(q, &mixture) <= bound, "{rate} {a}: {bound}");
                    let bound = without_replacement_rdp(a, share, added.max(removed)) + 1e-15;
                    for third in [q, p] {
                        let [with, without] = [q, p].map(|own| mixed(third, own, rate));
                        assert!(of(&with, &without) <= bound && of(&without, &with) <= bound, "{rate} {a}: {bound}");
                    }
                }
                let everything = poisson_subsampled_rdp(a, Probability::new(1.0).unwrap(), added, removed);
                assert!((everything / added.max(removed) - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn divergences_of_losses_are_those_of_the_pairs() {
        for pair in pairs() {
            for direction in Direction::BOTH {
                let loss = pair.privacy_loss(direction);
                for a in [1.01, 2.0, 7.5, 300.0, 1e5].map(|a| Order::new(a).unwrap()) {
                    let (found, expected) = (rdp_of_loss(a, &loss, &|_| loss.largest()), pair.renyi(direction, a));
                    assert!(found >= expected && found <= expected * (1.0 + 1e-6), "{a}: {found} {expected}");
                }
            }
        }
    }
}
