//! Confident-GNMax and Interactive-GNMax: a threshold test, then GNMax if it passes.

use super::gnmax::{gnmax_data_dependent, gnmax_data_independent, log_flip_probability};
use crate::bound::outward::{log_probability_up, product_down, product_up, sum_up, up};
use crate::distribution::{ThresholdOdds, ThresholdTest};
use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::quantity::{NoiseScale, Order, Probability};
use std::f64::consts::SQRT_2;

/// RDP of the answer of a noisy threshold test, passed or failed, when one vote moves: α/(2σ₁²) for any votes and both
/// forms of the test.
///
/// *One noise on the maximum.* Every count moves by at most 1, so max_i n_i does: if |a_i - b_i| ≤ 1 for all i, then
/// max a ≤ max (b + 1) = max b + 1, and vice versa. The answer is post-processing of a Gaussian mechanism of
/// sensitivity 1.
///
/// *Noise per class.* The noisy counts are a Gaussian mechanism of sensitivity √2, which by itself costs α/σ₁², twice
/// as much; but only one bit of them is printed. Let the vote move from class i to class j and let P, P' be the
/// probabilities to pass before and after. Say P' ≥ P. Let P'' be the probability if only class j gained its vote:
/// without the loss of class i it is at least P'. D_α of two Bernoulli distributions increases with the distance of P'
/// from P on either side of it, so D(P‖P') ≤ D(P‖P''), in both orders of the arguments, and P'' differs from P by one
/// count that moved by 1: at most α/(2σ₁²) by data processing. If P' < P, take P'' with the loss only. ∎ This is about
/// one printed bit; it does not make the two forms the same mechanism: their probabilities, and with them every
/// data-dependent cost, differ. And noisy counts that were reused for the argmax would cost α/σ₁² together with it;
/// here the argmax draws fresh noise.
///
/// ```
/// # use leakbound::accountant::threshold_data_independent;
/// # use leakbound::quantity::{NoiseScale, Order};
/// assert_eq!(threshold_data_independent(Order::new(9.0)?, NoiseScale::new(3.0)?), 0.5);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2018), "Scalable private learning with PATE", section 4.2 and appendix A, for the maximum.
#[must_use]
pub fn threshold_data_independent(order: Order, sigma: NoiseScale) -> f64 {
    product_up(0.5, gnmax_data_independent(order, sigma))
}

/// Data-dependent RDP of the answer of a noisy threshold test from ln q, q ≥ min(P(pass), P(fail)); see
/// [`ThresholdOdds::log_q`]. Never above [`threshold_data_independent`].
///
/// The theorem behind [`gnmax_data_dependent`] holds for every mechanism with RDP (μ, μ/s²); for both forms of the
/// test, s = σ₁√2.
///
/// ```
/// # use leakbound::accountant::threshold_data_dependent;
/// # use leakbound::distribution::{ThresholdForm, ThresholdTest};
/// # use leakbound::prelude::*;
/// let test = ThresholdTest::new(150.0, NoiseScale::new(30.0)?, ThresholdForm::Max)?;
/// let log_q = test.odds(&VoteHistogram::new(vec![240, 5, 5])?).log_q();
/// let rdp = threshold_data_dependent(Order::new(10.0)?, test.sigma(), log_q);
/// assert!((rdp / 0.000_470_825_107_033_034_6 - 1.0).abs() < 1e-11);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2018), Theorem 6 and Proposition 10.
#[must_use]
pub fn threshold_data_dependent(order: Order, sigma: NoiseScale, log_q: f64) -> f64 {
    let independent = threshold_data_independent(order, sigma);
    if log_q == f64::NEG_INFINITY {
        // No finite threshold is passed with probability 0, so the probability must have underflowed.
        return independent;
    }
    // Slightly less noise than there is, by a rounding error: a weaker guarantee. The double √2 is above √2.
    match NoiseScale::new(product_down(sigma.get(), SQRT_2.next_down())) {
        Ok(wider) => up(gnmax_data_dependent(order, wider, log_q), 8.0).min(independent),
        Err(_) => independent,
    }
}

/// RDP of one query to Confident-GNMax or Interactive-GNMax for any votes, whether or not it is answered: α/(2σ₁²) +
/// α/σ₂², the test and then GNMax, when one vote moves.
///
/// ```
/// # use leakbound::accountant::confident_gnmax_data_independent;
/// # use leakbound::quantity::{NoiseScale, Order};
/// let rdp = confident_gnmax_data_independent(Order::new(2.0)?, NoiseScale::new(10.0)?, NoiseScale::new(5.0)?);
/// assert!((rdp - 0.09).abs() < 1e-16);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2018), appendix A; composition by Mironov (2017), Proposition 1.
#[must_use]
pub fn confident_gnmax_data_independent(order: Order, sigma1: NoiseScale, sigma2: NoiseScale) -> f64 {
    sum_up(threshold_data_independent(order, sigma1), gnmax_data_independent(order, sigma2))
}

/// The cost of one query to Confident-GNMax or Interactive-GNMax, part by part.
///
/// Three different totals are in use:
///
/// | total | is |
/// |---|---|
/// | [`whole`](Self::whole) | a bound on the RDP of the query, answered or not: compare it with an exact distribution |
/// | [`realized`](Self::realized) | the charge for the realized query: always the test, and GNMax if it answered |
/// | [`expected`](Self::expected) | the mean of that over the noise of the test, for planning; not a bound for a single run |
///
/// Charging realized costs is valid if every cost is data-independent and the process stops *before* a budget at one
/// order is exceeded (Feldman and Zrnic 2021). Data-dependent charges reveal something about the votes, and their total
/// must be released with separate noise; see [`GnmaxSensitivity`](crate::accountant::GnmaxSensitivity).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConfidentCost {
    /// RDP of the answer of the test.
    pub threshold: f64,
    /// RDP of GNMax.
    pub answer: f64,
    /// The probability that the test passes.
    pub pass: f64,
}

impl ConfidentCost {
    /// The test and GNMax.
    #[must_use]
    pub fn whole(self) -> f64 {
        sum_up(self.threshold, self.answer)
    }

    /// The test, and GNMax if it answered.
    #[must_use]
    pub fn realized(self, answered: bool) -> f64 {
        if answered { self.whole() } else { self.threshold }
    }

    /// The mean of [`realized`](Self::realized) over the noise of the test.
    #[must_use]
    pub fn expected(self) -> f64 {
        self.threshold + self.pass * self.answer
    }
}

/// The data-dependent cost of one query to Confident-GNMax with the threshold test `test` and noise σ₂ of its argmax: a
/// bound on D_α(M(D)‖M(D')) for every D' that differs from D by one moved vote.
///
/// ```
/// # use leakbound::accountant::confident_gnmax_cost;
/// # use leakbound::distribution::{ThresholdForm, ThresholdTest};
/// # use leakbound::prelude::*;
/// let test = ThresholdTest::new(200.0, NoiseScale::new(150.0)?, ThresholdForm::Max)?;
/// let votes = VoteHistogram::new(vec![230, 15, 5])?;
/// let cost = confident_gnmax_cost(Order::new(8.0)?, &test, NoiseScale::new(40.0)?, &votes);
/// // The test is no surer than its noise allows; the answer is nearly certain.
/// assert!((cost.threshold * 45_000.0 / 8.0 - 1.0).abs() < 1e-14 && (cost.answer - 4.632e-5).abs() < 1e-8);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2018), appendix A; Malek Esmaeili et al. (2021), section 4, for noise per class.
#[must_use]
pub fn confident_gnmax_cost(
    order: Order,
    test: &ThresholdTest,
    sigma: NoiseScale,
    histogram: &VoteHistogram,
) -> ConfidentCost {
    cost(order, test, test.odds(histogram), sigma, histogram)
}

/// The same for Interactive-GNMax, where the test compares max_j {n_j - M p_j} with T for the probabilities p that a
/// student expects. They are public, so a moved vote moves each score by at most 1, as it does a count.
///
/// # Errors
/// [`Error::Length`](crate::Error::Length) unless there is one probability per class.
///
/// ```
/// # use leakbound::accountant::interactive_gnmax_cost;
/// # use leakbound::distribution::{ThresholdForm, ThresholdTest};
/// # use leakbound::prelude::*;
/// let test = ThresholdTest::new(100.0, NoiseScale::new(50.0)?, ThresholdForm::Max)?;
/// let (votes, order) = (VoteHistogram::new(vec![240, 10])?, Order::new(8.0)?);
/// let student = [Probability::new(0.9)?, Probability::new(0.1)?];
/// let cost = interactive_gnmax_cost(order, &test, NoiseScale::new(40.0)?, &votes, &student)?;
/// // The teachers agree with the student: they are asked with probability Φ((240 - 225 - 100)/50) = Φ(-1.7).
/// assert!((cost.pass - 0.044_565_462_758_543_04).abs() < 1e-15);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2018), Algorithm 2.
pub fn interactive_gnmax_cost(
    order: Order,
    test: &ThresholdTest,
    sigma: NoiseScale,
    histogram: &VoteHistogram,
    student: &[Probability],
) -> Result<ConfidentCost> {
    Ok(cost(order, test, test.interactive_odds(histogram, student)?, sigma, histogram))
}

fn cost(
    order: Order,
    test: &ThresholdTest,
    odds: ThresholdOdds,
    sigma: NoiseScale,
    histogram: &VoteHistogram,
) -> ConfidentCost {
    // One probability, or a product with one factor per class.
    let log_q = log_probability_up(odds.log_q(), 8.0 + 2.0 * histogram.classes() as f64);
    ConfidentCost {
        threshold: threshold_data_dependent(order, test.sigma(), log_q),
        answer: gnmax_data_dependent(order, sigma, log_flip_probability(histogram, sigma)),
        pass: odds.pass(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::{Noise, ThresholdForm, confident_argmax_distribution, interactive_argmax_distribution};
    use crate::divergence::{
        Conversion, RdpCurve, bernoulli_renyi_of_logs, order_grid, renyi_divergence, smallest_epsilon,
    };
    use crate::histogram::VoteChange;
    use crate::quantity::Delta;
    use proptest::prelude::*;

    const FORMS: [ThresholdForm; 2] = [ThresholdForm::Max, ThresholdForm::PerClass];

    fn order(a: f64) -> Order {
        Order::new(a).unwrap()
    }

    fn scale(sigma: f64) -> NoiseScale {
        NoiseScale::new(sigma).unwrap()
    }

    proptest! {
        /// The bit of either form, compared with the bound proved above, for every move.
        #[test]
        fn the_test_costs_no_more_than_half_of_gnmax(
            counts in prop::collection::vec(0u64..12, 2..5), threshold in -3.0f64..15.0, sigma in 0.2f64..6.0,
            a in 1.01f64..60.0,
        ) {
            let histogram = VoteHistogram::new(counts).unwrap();
            for form in FORMS {
                let test = ThresholdTest::new(threshold, scale(sigma), form).unwrap();
                let odds = test.odds(&histogram);
                let dependent = threshold_data_dependent(order(a), scale(sigma), odds.log_q());
                let independent = threshold_data_independent(order(a), scale(sigma));
                prop_assert!(dependent <= independent);
                for change in histogram.neighbors(VoteChange::Moved) {
                    let other = test.odds(&histogram.neighbor(change).unwrap());
                    // In logarithms: probabilities of exp(-800) are 0 in doubles.
                    let logs = |odds: ThresholdOdds| [odds.ln_pass, odds.ln_fail];
                    let exact = bernoulli_renyi_of_logs(logs(odds), logs(other), order(a));
                    prop_assert!(exact <= dependent * (1.0 + 1e-9) + 1e-14, "{form}: {exact} {dependent}");
                }
            }
        }
    }

    /// Whole mechanisms with all their outcomes.
    #[test]
    fn costs_bound_the_exact_distributions() {
        let student = [0.6, 0.3, 0.1].map(|p| Probability::new(p).unwrap());
        for counts in [[9, 1, 0], [4, 4, 2], [6, 3, 1], [0, 0, 10]] {
            let histogram = VoteHistogram::new(counts.to_vec()).unwrap();
            for (form, threshold, s1, s2) in FORMS
                .into_iter()
                .flat_map(|form| [(form, 6.0, 3.0, 1.5), (form, 2.0, 1.0, 4.0), (form, 14.0, 2.0, 0.7)])
            {
                let test = ThresholdTest::new(threshold, scale(s1), form).unwrap();
                let noise = Noise::Gaussian(scale(s2));
                for a in [1.2, 3.0, 20.0] {
                    let confident = confident_gnmax_cost(order(a), &test, scale(s2), &histogram);
                    let interactive = interactive_gnmax_cost(order(a), &test, scale(s2), &histogram, &student).unwrap();
                    let most = confident_gnmax_data_independent(order(a), scale(s1), scale(s2));
                    assert!(confident.whole() <= most && interactive.whole() <= most);
                    assert!(confident.expected() <= confident.whole());
                    for change in histogram.neighbors(VoteChange::Moved) {
                        let other = histogram.neighbor(change).unwrap();
                        let distribution = |histogram| confident_argmax_distribution(histogram, &test, noise).unwrap();
                        let exact =
                            renyi_divergence(&distribution(&histogram), &distribution(&other), order(a)).unwrap();
                        assert!(exact <= confident.whole() * (1.0 + 1e-12), "{histogram} {form} {a}");
                        let distribution =
                            |histogram| interactive_argmax_distribution(histogram, &student, &test, noise).unwrap();
                        let exact =
                            renyi_divergence(&distribution(&histogram), &distribution(&other), order(a)).unwrap();
                        assert!(exact <= interactive.whole() * (1.0 + 1e-12), "{histogram} {form} {a}");
                    }
                }
            }
        }
    }

    /// Far below the threshold, the test passes with a probability below every double; at a high order it still leaks.
    /// D is at least [α ln p + (1-α) ln p']/(α-1) for the pass alone.
    #[test]
    fn tests_that_hardly_ever_pass_are_not_free() {
        for form in FORMS {
            let test = ThresholdTest::new(50.0, scale(1.0), form).unwrap();
            let ln_pass = |count| test.odds(&VoteHistogram::new(vec![count, 2 - count]).unwrap()).ln_pass;
            let log_q = test.odds(&VoteHistogram::new(vec![2, 0]).unwrap()).log_q();
            let a = 500.0;
            let least = (a * ln_pass(2) - (a - 1.0) * ln_pass(1)) / (a - 1.0);
            let cost = threshold_data_dependent(order(a), scale(1.0), log_q);
            assert!(least > 40.0 && cost >= least, "{form}: {cost} {least}");
        }
    }

    /// The two forms are different mechanisms: with many equal counts, the less likely answer of one is several times
    /// as likely as that of the other, and so are their data-dependent costs.
    #[test]
    fn the_forms_have_costs_of_their_own() {
        let histogram = VoteHistogram::new(vec![6; 50]).unwrap();
        let [one, each] = FORMS.map(|form| {
            let test = ThresholdTest::new(14.0, scale(2.0), form).unwrap();
            threshold_data_dependent(order(2.0), scale(2.0), test.odds(&histogram).log_q())
        });
        assert!(each > 10.0 * one && each < threshold_data_independent(order(2.0), scale(2.0)), "{one} {each}");
    }

    /// The default orders compared with a continuous order, for sums of data-dependent costs: within 0.1%.
    #[test]
    fn the_order_grid_is_dense_enough() {
        let votes =
            [[240, 6, 4], [180, 60, 10], [130, 110, 10], [249, 1, 0]].map(|n| VoteHistogram::new(n.to_vec()).unwrap());
        let test = ThresholdTest::new(200.0, scale(150.0), ThresholdForm::Max).unwrap();
        for (times, delta) in [(1.0, 1e-5), (100.0, 1e-6), (2000.0, 1e-5), (30.0, 1e-12)] {
            let rdp = |order| {
                times * votes.iter().map(|n| confident_gnmax_cost(order, &test, scale(40.0), n).whole()).sum::<f64>()
            };
            let delta = Delta::new(delta).unwrap();
            for conversion in [Conversion::Improved, Conversion::Classic] {
                let fine = smallest_epsilon(rdp, delta, conversion).0.get();
                let curve = RdpCurve::from_fn(&order_grid(), rdp);
                let grid = if conversion == Conversion::Improved {
                    curve.epsilon(delta)
                } else {
                    curve.classic_epsilon(delta)
                };
                assert!(grid.0.get() >= fine && grid.0.get() < 1.001 * fine, "{times} {delta}: {} {fine}", grid.0);
            }
        }
    }
}
