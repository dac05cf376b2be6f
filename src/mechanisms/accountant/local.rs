//! Protocols of local differential privacy: unary encodings, local hashing, subset selection.
//!
//! *One formula.* In every protocol here, an output is equivalent to one bit per class: the bit of the encoding,
//! whether the class has the reported hash, or whether it is in the subset. A change of the vote from v to w exchanges
//! the roles of two bits, so only they matter. Outputs with b_v = b_w have the same probability under both votes. Those
//! with b_v = 1 and b_w = 0 have probability m under the vote v and λ under w, and those with b_v = 0 and b_w = 1 the
//! reverse; m/λ = e^ε in each protocol. With m = λ e^ε and the rest 1 - λ - λ e^ε,
//! ```text
//! Σ P^α Q^{1-α} - 1 = λ (e^{αε} + e^{(1-α)ε} - 1 - e^ε) = λ (1 - e^{-(α-1)ε}) (e^{αε} - 1),
//! ```
//! as for randomized response, where λ is the probability of each untrue answer. The protocols differ only in λ, and D
//! grows with it. Both directions are equal.

use super::randomized_response::{ln_of_exp_and, of_rare_side};
use crate::error::{Error, Result};
use crate::quantity::{Epsilon, Order};
use crate::special::softplus;
use std::f64::consts::LN_2;

/// The error of -ln λ of several terms beyond a unit of their sizes, in units.
const TERMS: f64 = 4.0;

/// RDP of the symmetric unary encoding: every bit of the one-hot vector of the vote is kept with probability
/// e^{ε/2}/(e^{ε/2} + 1) and flipped otherwise:
/// ```text
/// D = ln[1 + λ (1 - e^{-(α-1)ε}) (e^{αε} - 1)]/(α-1),   λ = 1/(e^{ε/2} + 1)².
/// ```
/// *Derivation.* The bits are independent, and only those of the two votes matter: λ is the probability that both are
/// flipped, e^ε λ that both are kept. D is also the sum of the divergences of the two bits, 2 D_α(p‖1-p). For any
/// number of classes from 2 on; rounded up, by 1e-13 of itself for ε above 1e-9; never above ε.
///
/// ```
/// # use leakbound::accountant::{randomized_response_rdp, symmetric_unary_rdp};
/// # use leakbound::quantity::{Epsilon, Order, Probability};
/// let order = Order::new(2.0)?;
/// let rdp = symmetric_unary_rdp(order, Epsilon::new(2.0 * 3f64.ln())?);
/// assert!((rdp - 2.0 * randomized_response_rdp(order, Probability::new(0.75)?)).abs() < 1e-13);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Erlingsson, Pihur and Korolova (2014), "RAPPOR", whose one-time form it is; Wang, Blocki, Li and Jha (2017),
/// "Locally differentially private protocols for frequency estimation", for the name.
#[must_use]
pub fn symmetric_unary_rdp(order: Order, epsilon: Epsilon) -> f64 {
    let minus_ln_rare = 2.0 * softplus(0.5 * epsilon.get());
    of_rare_side(order.get(), epsilon.get(), [minus_ln_rare, TERMS + minus_ln_rare])
}

/// RDP of the optimized unary encoding: the bit of the vote is 1 with probability 1/2, every other one with probability
/// 1/(e^ε + 1):
/// ```text
/// D = ln[1 + λ (1 - e^{-(α-1)ε}) (e^{αε} - 1)]/(α-1),   λ = 1/(2 (e^ε + 1)).
/// ```
/// *Derivation.* The bits are independent: λ is the probability of 0 for the vote and of 1 for the other class, and 1
/// for the vote and 0 for the other class has 1/2 · e^ε/(e^ε + 1) = e^ε λ. For any number of classes from 2 on; rounded
/// up, by 1e-13 of itself for ε above 1e-9; never above ε.
///
/// ```
/// # use leakbound::accountant::optimized_unary_rdp;
/// # use leakbound::divergence::bernoulli_renyi;
/// # use leakbound::quantity::{Epsilon, Order};
/// let order = Order::new(8.0)?;
/// let rdp = optimized_unary_rdp(order, Epsilon::new(3f64.ln())?);
/// let (vote, other) = ((0.5, 0.5), (0.25, 0.75));
/// let of_bits = bernoulli_renyi(vote, other, order) + bernoulli_renyi(other, vote, order);
/// assert!((rdp - of_bits).abs() < 1e-13);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Wang, Blocki, Li and Jha (2017), "Locally differentially private protocols for frequency estimation".
#[must_use]
pub fn optimized_unary_rdp(order: Order, epsilon: Epsilon) -> f64 {
    let minus_ln_rare = LN_2 + ln_of_exp_and(epsilon.get(), 1.0);
    of_rare_side(order.get(), epsilon.get(), [minus_ln_rare, TERMS + minus_ln_rare])
}

/// RDP of local hashing: a hash of the vote by a random function to g values, reported by g-ary randomized response
/// along with the function:
/// ```text
/// D = ln[1 + λ (1 - e^{-(α-1)ε}) (e^{αε} - 1)]/(α-1),   λ = (g - 1)/(g (e^ε + g - 1)).
/// ```
/// *Derivation.* The likelihood of function and report is that of randomized response, so it depends on which classes
/// have the reported hash. The vote has it with probability e^ε/(e^ε + g - 1); given the report and the hash of the
/// vote, every other class has it with probability 1/g, independently, because the function is uniform among all
/// functions. So it is a unary encoding with these two probabilities, and λ = (g - 1)/(e^ε + g - 1) · 1/g. Only two
/// classes matter, so pairwise independent functions have the same D. For any number of classes from 2 on; rounded up,
/// by 1e-13 of itself for ε above 1e-9; never above ε.
///
/// # Errors
/// [`Error::Domain`] for fewer than 2 hashes.
///
/// ```
/// # use leakbound::accountant::{k_ary_randomized_response_rdp, local_hashing_rdp, optimized_unary_rdp};
/// # use leakbound::quantity::{Epsilon, Order};
/// let (order, epsilon) = (Order::new(2.0)?, Epsilon::new(3f64.ln())?);
/// let rdp = local_hashing_rdp(order, epsilon, 4)?;
/// // Of e^ε + 1 hashes it leaks as much as the optimized unary encoding, and always less than the response alone.
/// assert!((rdp - optimized_unary_rdp(order, epsilon)).abs() < 1e-13);
/// assert!(rdp < k_ary_randomized_response_rdp(order, epsilon, 4)?);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Bassily and Smith (2015), "Local, private, efficient protocols for succinct histograms", for two values; Wang,
/// Blocki, Li and Jha (2017), "Locally differentially private protocols for frequency estimation", for g.
pub fn local_hashing_rdp(order: Order, epsilon: Epsilon, hashes: u64) -> Result<f64> {
    Error::check_domain(hashes >= 2, "number of hashes", hashes as f64, "[2, 2^64)")?;
    let others = hashes as f64 - 1.0;
    let minus_ln_rare = ln_of_exp_and(epsilon.get(), others) + libm::log1p(others.recip());
    Ok(of_rare_side(order.get(), epsilon.get(), [minus_ln_rare, TERMS + minus_ln_rare]))
}

/// RDP of subset selection: one of the sets of w among k classes, where each set that contains the vote is e^ε times as
/// likely as each that does not:
/// ```text
/// D = ln[1 + λ (1 - e^{-(α-1)ε}) (e^{αε} - 1)]/(α-1),   λ = w (k - w)/((k - 1) (w e^ε + k - w)).
/// ```
/// *Derivation.* The probabilities of the sets add up to Z = C(k-1, w-1) e^ε + C(k-1, w) times that of one without the
/// vote, and C(k-2, w-1) sets hold one of two classes and not the other: λ = C(k-2, w-1)/Z, and
/// C(k-1, w-1) = C(k-2, w-1) (k-1)/(k-w), C(k-1, w) = C(k-2, w-1) (k-1)/w. Sets of one class are k-ary randomized
/// response; the set of all classes carries no information. Rounded up, by 1e-13 of itself for ε above 1e-9; never
/// above ε.
///
/// # Errors
/// [`Error::Domain`] for fewer than 2 classes, and for a size that is 0 or above the number of classes.
///
/// ```
/// # use leakbound::accountant::{k_ary_randomized_response_rdp, subset_selection_rdp};
/// # use leakbound::quantity::{Epsilon, Order};
/// let (order, epsilon) = (Order::new(2.0)?, Epsilon::new(0.5)?);
/// let rdp = subset_selection_rdp(order, epsilon, 10, 1)?;
/// assert!((rdp - k_ary_randomized_response_rdp(order, epsilon, 10)?).abs() < 1e-14);
/// // Larger sets leak more, until half of the classes are in them or nearly so.
/// assert!(subset_selection_rdp(order, epsilon, 10, 4)? > 2.0 * rdp);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Ye and Barg (2018), "Optimal schemes for discrete distribution estimation under locally differential privacy"; Wang
/// et al. (2016), "Mutual information optimally local private discrete distribution estimation".
pub fn subset_selection_rdp(order: Order, epsilon: Epsilon, classes: u64, size: u64) -> Result<f64> {
    Error::check_domain(classes >= 2, "number of classes", classes as f64, "[2, 2^64)")?;
    Error::check_domain((1..=classes).contains(&size), "size of the subset", size as f64, "[1, classes]")?;
    if size == classes {
        return Ok(0.0);
    }
    let (inside, outside) = (size as f64, (classes - size) as f64);
    // (k-1)/(k-w) = 1 + (w-1)/(k-w).
    let minus_ln_rare = ln_of_exp_and(epsilon.get(), outside / inside) + libm::log1p((size - 1) as f64 / outside);
    Ok(of_rare_side(order.get(), epsilon.get(), [minus_ln_rare, TERMS + minus_ln_rare]))
}

#[cfg(test)]
mod tests {
    use super::super::randomized_response::k_ary_randomized_response_rdp;
    use super::*;
    use crate::divergence::bernoulli_renyi;

    fn order(a: f64) -> Order {
        Order::new(a).unwrap()
    }

    fn epsilon(e: f64) -> Epsilon {
        Epsilon::new(e).unwrap()
    }

    /// The divergence of two bits whose roles are exchanged: 1 with probability p for the vote, q for another class.
    fn of_bits(p: (f64, f64), q: (f64, f64), order: Order) -> f64 {
        bernoulli_renyi(p, q, order) + bernoulli_renyi(q, p, order)
    }

    #[test]
    fn encodings_are_the_sum_of_the_divergences_of_two_bits() {
        for a in [1.0001, 1.5, 2.0, 8.0, 300.0] {
            for e in [1e-3, 0.1, 1.0, 5.0, 20.0] {
                let (x, root) = (libm::exp(e), libm::exp(0.5 * e));
                let symmetric = (root / (root + 1.0), 1.0 / (root + 1.0));
                let rare = (1.0 / (x + 1.0), x / (x + 1.0));
                let near = |value: f64, expected: f64| {
                    assert!((value / expected - 1.0).abs() < 1e-11, "{a} {e}: {value} {expected}");
                };
                near(
                    symmetric_unary_rdp(order(a), epsilon(e)),
                    of_bits(symmetric, (symmetric.1, symmetric.0), order(a)),
                );
                near(optimized_unary_rdp(order(a), epsilon(e)), of_bits((0.5, 0.5), rare, order(a)));
                for g in [2.0, 3.0, 100.0] {
                    let (p, q) = ((x / (x + g - 1.0), (g - 1.0) / (x + g - 1.0)), (1.0 / g, (g - 1.0) / g));
                    near(local_hashing_rdp(order(a), epsilon(e), g as u64).unwrap(), of_bits(p, q, order(a)));
                }
            }
        }
    }

    /// No mechanism of pure ε leaks more than binary randomized response of ε (Kairouz, Oh and Viswanath 2015), and a
    /// larger ε leaks more.
    #[test]
    fn no_input_leaves_the_range() {
        for a in [1.0 + f64::EPSILON, 1.5, 2.0, 1e4, 1e300] {
            let mut last = [0.0; 7];
            for e in [0.0, 1e-300, 1e-9, 0.1, 1.0, 10.0, 699.9, 700.1, 1e4, 1e300, f64::INFINITY] {
                let hashing = |g: u64| local_hashing_rdp(order(a), epsilon(e), g).unwrap();
                let subsets = |k: u64, w: u64| subset_selection_rdp(order(a), epsilon(e), k, w).unwrap();
                let values = [
                    symmetric_unary_rdp(order(a), epsilon(e)),
                    optimized_unary_rdp(order(a), epsilon(e)),
                    hashing(2),
                    hashing(u64::MAX),
                    subsets(2, 1),
                    subsets(1000, 999),
                    subsets(u64::MAX, u64::MAX / 2),
                ];
                let binary = k_ary_randomized_response_rdp(order(a), epsilon(e), 2).unwrap();
                for (value, last) in values.into_iter().zip(&mut last) {
                    assert!((0.0..=e).contains(&value), "{a} {e}: {values:?}");
                    assert!(value <= binary * (1.0 + 1e-11) && value >= *last * (1.0 - 1e-11), "{a} {e}: {values:?}");
                    *last = value;
                }
            }
        }
    }

    #[test]
    fn what_is_no_protocol_is_rejected() {
        let (order, epsilon) = (order(2.0), epsilon(1.0));
        assert!(local_hashing_rdp(order, epsilon, 1).is_err());
        assert!(subset_selection_rdp(order, epsilon, 1, 1).is_err());
        assert!(
            subset_selection_rdp(order, epsilon, 3, 0).is_err() && subset_selection_rdp(order, epsilon, 3, 4).is_err()
        );
        assert_eq!(subset_selection_rdp(order, epsilon, 3, 3).unwrap(), 0.0);
    }
}
