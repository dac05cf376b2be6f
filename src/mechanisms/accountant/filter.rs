//! Privacy filters and odometers: budgets for releases that are chosen depending on earlier outputs.

use super::halving::halved;
use crate::bound::outward::{product_up, sum_up, up};
use crate::divergence::{Conversion, RdpCurve};
use crate::error::{Error, Result};
use crate::quantity::{Delta, Epsilon, Order};

/// A filter lets releases pass while all of them together are (ε, δ)-differentially private. Each release, its cost,
/// and whether there is another one may depend on the outputs before it.
///
/// A release passes if there is an order α at which the Rényi costs spent so far, plus its own, are at most the budget
/// B_α, the largest one with ε at δ/n for n orders. With a single order, δ is not shared.
///
/// *Theorem at one order* (Feldman and Zrnic 2021). Let ρ_t be the cost of release t at order α, in both directions, a
/// function of the outputs before it, and let Σ ρ_t ≤ B for all outputs. Then D_α of all outputs is at most B. By
/// induction from the last release back: given the outputs before it, the moment E (p/q)^α q of the rest is at most
/// exp((α-1) times the remaining budget), since the next release multiplies it by at most exp((α-1) ρ_t), and the
/// remaining budget falls by ρ_t.
///
/// *Theorem at n orders.* For each α let M_α be the same interaction, stopped before its costs at α exceed B_α. It is
/// (ε, δ/n)-differentially private. Assign each complete sequence of outputs to the first order at which its costs are
/// within the budget; the filter ensures that there is one. The sequences of an order are those of M_α with the same
/// probabilities. So for any set S of sequences, split by order into S_α,
/// ```text
/// P(S) = Σ P_α(S_α) ≤ Σ (e^ε Q_α(S_α) + δ/n) = e^ε Q(S) + δ.
/// ```
/// Without the share 1/n, the best order chosen at the end is not a theorem if costs depend on outputs:
/// [`PrivacyBudget`](super::PrivacyBudget) does that, as in the literature.
///
/// ```
/// # use leakbound::accountant::{PrivacyFilter, gaussian_rdp};
/// # use leakbound::divergence::{Conversion, RdpCurve};
/// # use leakbound::quantity::{Delta, Epsilon, NoiseScale, Order};
/// let orders = vec![Order::new(16.0)?];
/// let cost = RdpCurve::from_fn(&orders, |order| gaussian_rdp(order, NoiseScale::new(40.0).unwrap(), 1.0));
/// let mut filter = PrivacyFilter::new(Epsilon::new(1.0)?, Delta::new(1e-5)?, Conversion::Improved, &orders)?;
/// let mut releases = 0;
/// while filter.spend(&cost)? {
///     releases += 1;
/// }
/// assert_eq!(releases, 96);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Feldman and Zrnic (2021), "Individual privacy accounting via a Rényi filter"; Rogers, Roth, Ullman and Vadhan
/// (2016), "Privacy odometers and filters".
#[derive(Debug, Clone, PartialEq)]
pub struct PrivacyFilter {
    budgets: RdpCurve,
    spent: RdpCurve,
}

impl PrivacyFilter {
    /// An unspent filter, for costs on these orders, which are fixed before the first output.
    ///
    /// # Errors
    /// [`Error::Length`] without an order.
    pub fn new(epsilon: Epsilon, delta: Delta, conversion: Conversion, orders: &[Order]) -> Result<Self> {
        let share = Delta::new(delta.get() / orders.len().max(1) as f64 * (1.0 - f64::EPSILON))?;
        let share = if orders.len() == 1 { delta } else { share };
        let budgets = orders.iter().map(|&order| largest_rdp(epsilon, order, share, conversion)).collect();
        Ok(Self {
            budgets: RdpCurve::new(orders.to_vec(), budgets)?,
            spent: RdpCurve::new(orders.to_vec(), vec![0.0; orders.len()])?,
        })
    }

    /// Whether a release passes; if so, its cost is spent.
    ///
    /// # Errors
    /// [`Error::Rejected`] if the cost is on other orders.
    pub fn spend(&mut self, cost: &RdpCurve) -> Result<bool> {
        let after = self.spent.composed(cost)?;
        // A free release passes, even if no budget is above 0.
        let free = cost.values().iter().all(|value| *value == 0.0);
        let fits = free || after.values().iter().zip(self.budgets.values()).any(|(spent, budget)| spent <= budget);
        if fits {
            self.spent = after;
        }
        Ok(fits)
    }

    /// The amount spent at each order.
    #[must_use]
    pub const fn spent(&self) -> &RdpCurve {
        &self.spent
    }

    /// The budget B_α at each order.
    #[must_use]
    pub const fn budgets(&self) -> &RdpCurve {
        &self.budgets
    }
}

/// The largest RDP of an order with this ε at δ; 0 if none is positive.
fn largest_rdp(epsilon: Epsilon, order: Order, delta: Delta, conversion: Conversion) -> f64 {
    let fits = |rdp: f64| conversion.epsilon(rdp, order, delta) <= epsilon;
    if !fits(0.0) || epsilon == Epsilon::INFINITE {
        return if epsilon == Epsilon::INFINITE { f64::INFINITY } else { 0.0 };
    }
    let (mut low, mut high) = (0.0, 1.0);
    while fits(high) && high < f64::MAX {
        (low, high) = (high, (2.0 * high).min(f64::MAX));
    }
    halved(low, high, 2_000, fits).0
}

/// An odometer: at any time the ε at δ of the releases so far, where each release, its cost, and the end may depend on
/// the outputs before it and on the readings.
///
/// It shows one of the levels B, 2B, 4B, ... of Rényi divergence of one order, which is fixed beforehand: the first
/// level that the costs do not exceed. Level k gets δ/((k+1)(k+2)) of δ.
///
/// *Theorem.* For each level k let M_k be the same interaction, stopped before its costs exceed 2^k B: a filter, which
/// is (ε_k, δ_k)-differentially private. The sequences of outputs that end at level k are those of M_k with the same
/// probabilities. So for any set S of sequences that end with a reading of at most ε,
/// ```text
/// P(S) ≤ Σ (e^ε_k Q(S_k) + δ_k) ≤ e^ε Q(S) + δ,   Σ 1/((k+1)(k+2)) = 1.
/// ```
///
/// ```
/// # use leakbound::accountant::PrivacyOdometer;
/// # use leakbound::divergence::Conversion;
/// # use leakbound::quantity::{Delta, Order};
/// let mut odometer = PrivacyOdometer::new(Order::new(16.0)?, 0.1, Delta::new(1e-5)?, Conversion::Improved)?;
/// let readings: Vec<f64> = (0..4).map(|_| { odometer.spend(0.09); odometer.reading().get() }).collect();
/// assert!(readings.windows(2).all(|pair| pair[0] <= pair[1]) && readings[3] < 1.5);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Feldman and Zrnic (2021), "Individual privacy accounting via a Rényi filter", for the filter of each level; Rogers,
/// Roth, Ullman and Vadhan (2016), "Privacy odometers and filters", for the question.
#[derive(Debug, Clone, PartialEq)]
pub struct PrivacyOdometer {
    order: Order,
    first: f64,
    delta: Delta,
    conversion: Conversion,
    spent: f64,
}

impl PrivacyOdometer {
    /// An odometer for costs at this order, whose first level is `first` nats.
    ///
    /// # Errors
    /// [`Error::Domain`] for a level that is not positive and finite.
    pub fn new(order: Order, first: f64, delta: Delta, conversion: Conversion) -> Result<Self> {
        Error::check_domain(first > 0.0 && first < f64::INFINITY, "level of the odometer", first, "(0, inf)")?;
        Ok(Self { order, first, delta, conversion, spent: 0.0 })
    }

    /// Adds the Rényi divergence of a release at the order of the odometer; NaN and negative values count as infinite.
    pub fn spend(&mut self, cost: f64) {
        self.spent = if cost >= 0.0 { sum_up(self.spent, cost) } else { f64::INFINITY };
    }

    /// The sum of the added divergences.
    #[must_use]
    pub const fn spent(&self) -> f64 {
        self.spent
    }

    /// ε of all releases so far; 0 if nothing is spent.
    #[must_use]
    pub fn reading(&self) -> Epsilon {
        if self.spent == 0.0 {
            return Epsilon::ZERO;
        }
        let (mut level, mut k) = (self.first, 0.0);
        while level < self.spent && level < f64::INFINITY {
            level *= 2.0;
            k += 1.0;
        }
        let share = self.delta.get() / ((k + 1.0) * (k + 2.0)) * (1.0 - 2.0 * f64::EPSILON);
        Delta::new(share).map_or(Epsilon::INFINITE, |delta| self.conversion.epsilon(level, self.order, delta))
    }
}

/// A filter for releases whose (ε_t, δ_t) may depend on the outputs before them: the releases that pass are (ε, δ' +
/// δ'')-differentially private.
///
/// A release passes while Σ δ_t ≤ δ'' and
/// ```text
/// √(2 ln(1/δ') Σ ε_t²) + Σ ε_t²/2 ≤ ε
/// ```
/// with its own: advanced composition, without a loss for choosing adaptively (Whitehouse et al. 2023, Theorem 1).
///
/// *If all δ_t are 0*, this follows from the filter of [`PrivacyFilter`]: ε_t costs at most α ε_t²/2 at order α (Bun
/// and Steinke 2016, Proposition 3.3). With z = Σ ε_t²/2 at most the largest number Z that passes, which is fixed
/// beforehand, D_α ≤ α Z at every α, and the order 1 + √(ln(1/δ')/Z) gives ε = Z + 2 √(Z ln(1/δ')).
///
/// ```
/// # use leakbound::accountant::ApproximateFilter;
/// # use leakbound::quantity::{Delta, Epsilon};
/// let mut filter = ApproximateFilter::new(Epsilon::new(1.0)?, Delta::new(1e-6)?, Delta::new(1e-6)?)?;
/// let mut releases = 0;
/// while filter.spend(Epsilon::new(0.01)?, Delta::new(1e-9)?) {
///     releases += 1;
/// }
/// // By simple addition it is 100.
/// assert_eq!(releases, 349);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Whitehouse, Ramdas, Rogers and Wu (2023), "Fully-adaptive composition in differential privacy", Theorem 1.
#[derive(Debug, Clone, PartialEq)]
pub struct ApproximateFilter {
    epsilon: Epsilon,
    slack: Delta,
    delta: Delta,
    squares: f64,
    deltas: f64,
}

impl ApproximateFilter {
    /// An unspent filter: δ' is the slack of composition, δ'' the total that the releases may add.
    ///
    /// # Errors
    /// [`Error::Domain`] for δ' = 0.
    pub fn new(epsilon: Epsilon, slack: Delta, delta: Delta) -> Result<Self> {
        Error::check_domain(slack.get() > 0.0, "slack of the filter", 0.0, "(0, 1]")?;
        Ok(Self { epsilon, slack, delta, squares: 0.0, deltas: 0.0 })
    }

    /// Whether a release passes; if so, its cost is spent.
    pub fn spend(&mut self, epsilon: Epsilon, delta: Delta) -> bool {
        let squares = sum_up(self.squares, product_up(epsilon.get(), epsilon.get()));
        let deltas = sum_up(self.deltas, delta.get());
        let fits = deltas <= self.delta.get() && self.value(squares) <= self.epsilon.get();
        if fits {
            (self.squares, self.deltas) = (squares, deltas);
        }
        fits
    }

    /// The amount spent: ε at δ' plus the δ added by the releases, and that δ.
    #[must_use]
    pub fn spent(&self) -> (f64, f64) {
        (self.value(self.squares), self.deltas)
    }

    fn value(&self, squares: f64) -> f64 {
        if squares == 0.0 { 0.0 } else { up((2.0 * -self.slack.get().ln() * squares).sqrt() + 0.5 * squares, 8.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::order_grid;

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).unwrap()
    }

    fn delta(value: f64) -> Delta {
        Delta::new(value).unwrap()
    }

    /// At one order, ε at δ of the budget is the ε of the filter, and no larger budget has it.
    #[test]
    fn budgets_are_the_largest() {
        for conversion in [Conversion::Improved, Conversion::Classic] {
            for a in [1.1, 2.0, 16.0, 1e4] {
                for (e, d) in [(1.0, 1e-5), (8.0, 1e-12), (0.1, 1e-3), (3.0, 0.5)] {
                    let order = Order::new(a).unwrap();
                    let filter = PrivacyFilter::new(epsilon(e), delta(d), conversion, &[order]).unwrap();
                    let budget = filter.budgets().values()[0];
                    let of = |rdp: f64| conversion.epsilon(rdp, order, delta(d)).get();
                    assert!(budget == 0.0 || of(budget) <= e, "{a} {e} {d}: {budget}");
                    assert!(of(budget + 1e-9 * (1.0 + budget)) > e, "{a} {e} {d}: {budget}");
                }
            }
        }
        let order = Order::new(2.0).unwrap();
        let all = PrivacyFilter::new(Epsilon::INFINITE, delta(1e-5), Conversion::Improved, &[order]).unwrap();
        assert_eq!(all.budgets().values(), [f64::INFINITY]);
        assert!(PrivacyFilter::new(epsilon(1.0), delta(0.0), Conversion::Improved, &[]).is_err());
    }

    /// Over many orders the filter has a share of δ at each, which costs little; choosing the best order afterwards
    /// would let more pass.
    #[test]
    fn many_orders_share_delta() {
        let orders = order_grid();
        let cost = RdpCurve::from_fn(&orders, |order| 1e-3 * order.get());
        let passed = |orders: &[Order]| {
            let cost = RdpCurve::from_fn(orders, |order| 1e-3 * order.get());
            let mut filter = PrivacyFilter::new(epsilon(2.0), delta(1e-6), Conversion::Improved, orders).unwrap();
            let mut count = 0;
            while filter.spend(&cost).unwrap() {
                count += 1;
            }
            let expected = f64::from(count) * cost.values()[0];
            assert!((filter.spent().values()[0] - expected).abs() <= 1e-9 * expected);
            count
        };
        let best = orders.iter().map(|order| passed(std::slice::from_ref(order))).max().unwrap();
        let all = passed(&orders);
        assert!(all < best && all > best / 2, "{all} {best}");
        // For fixed costs, the best order is also a theorem.
        let mut budget =
            super::super::PrivacyBudget::new(epsilon(2.0), delta(1e-6), Conversion::Improved, orders).unwrap();
        assert!(budget.queries_left(&cost).unwrap() >= u64::try_from(best).unwrap() && budget.spend(&cost).unwrap());
    }

    /// An adversary who chooses after every output: the exact divergence of the whole interaction is at most the
    /// budget. The outputs are bits by randomized response; the next bit has the largest cost that still passes after a
    /// 1, or half of it after a 0.
    #[test]
    fn adaptive_interactions_stay_within_the_budget() {
        let order = Order::new(3.0).unwrap();
        let (budget, steps) = (0.4, 9);
        let rdp = |e: f64| {
            let p = 1.0 / (1.0 + libm::exp(-e));
            crate::divergence::bernoulli_renyi((p, 1.0 - p), (1.0 - p, p), order)
        };
        // E (p/q)^α q from here on, with the remaining budget.
        fn moment(left: f64, last: bool, steps: u32, a: f64, rdp: &dyn Fn(f64) -> f64) -> f64 {
            if steps == 0 {
                return 1.0;
            }
            let (mut low, mut high) = (0.0, 5.0);
            let share = if last { 0.9 * left } else { 0.3 * left };
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if rdp(middle) <= share { low = middle } else { high = middle }
            }
            let p = 1.0 / (1.0 + libm::exp(-low));
            let spent = rdp(low);
            let next = |last| moment((left - spent).max(0.0), last, steps - 1, a, rdp);
            let weight = |p: f64, q: f64| libm::pow(p, a) * libm::pow(q, 1.0 - a);
            weight(p, 1.0 - p) * next(true) + weight(1.0 - p, p) * next(false)
        }
        let divergence = moment(budget, true, steps, order.get(), &rdp).ln() / (order.get() - 1.0);
        assert!(divergence <= budget + 1e-12 && divergence > 0.8 * budget, "{divergence}");
    }

    #[test]
    fn odometers_read_at_least_the_conversion() {
        let order = Order::new(8.0).unwrap();
        let mut odometer = PrivacyOdometer::new(order, 0.01, delta(1e-6), Conversion::Improved).unwrap();
        assert_eq!(odometer.reading(), Epsilon::ZERO);
        let mut last = 0.0;
        for _ in 0..2_000 {
            odometer.spend(0.003);
            let reading = odometer.reading().get();
            let least = Conversion::Improved.epsilon(odometer.spent(), order, delta(1e-6)).get();
            assert!(reading >= least && reading >= last, "{reading} {least} {last}");
            last = reading;
        }
        // At most twice the divergence and a share of δ.
        let most = Conversion::Improved.epsilon(2.0 * odometer.spent(), order, delta(1e-9)).get();
        assert!(last <= most, "{last} {most}");
        odometer.spend(f64::NAN);
        assert_eq!(odometer.reading(), Epsilon::INFINITE);
        assert!(PrivacyOdometer::new(order, 0.0, delta(1e-6), Conversion::Improved).is_err());
    }

    #[test]
    fn approximate_filters_add_squares_and_deltas() {
        let mut filter = ApproximateFilter::new(epsilon(2.0), delta(1e-6), delta(3e-7)).unwrap();
        assert!(filter.spend(epsilon(0.1), delta(1e-7)));
        let expected = (2.0 * 1e6f64.ln() * 0.01).sqrt() + 0.005;
        assert!((filter.spent().0 - expected).abs() < 1e-12 && filter.spent().1 == 1e-7);
        assert!(!filter.spend(epsilon(0.1), delta(4e-7)) && !filter.spend(epsilon(1.0), delta(0.0)));
        assert!(filter.spend(epsilon(0.2), delta(0.0)) && !filter.spend(Epsilon::INFINITE, delta(0.0)));
        assert!(ApproximateFilter::new(epsilon(2.0), delta(0.0), delta(0.0)).is_err());
    }
}
