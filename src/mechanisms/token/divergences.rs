//! Rényi divergences of distributions of many tokens.

use super::{NextTokens, Released, TokenMechanism};
use crate::bound::Direction;
use crate::error::Result;
use crate::quantity::Order;
use crate::special::log_sum_exp;
use crate::vectorized::{Arch, in_vectors};

/// Number of partial sums: the lanes of the widest instructions.
const LANES: usize = 8;
/// Whole orders up to this one are sums of products.
const LARGEST_WHOLE: f64 = 256.0;

/// What an answer reveals about one owner at a position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenDivergence {
    /// The neighbor, by its index in [`TokenNeighbors::of`](super::TokenNeighbors::of): the owner that is removed.
    pub neighbor: usize,
    /// The order.
    pub order: Order,
    /// D_α of the answer of the ensemble from the answer of the neighbor, or the reverse, in nats.
    pub value: f64,
    /// Forward: the ensemble comes first.
    pub direction: Direction,
}

/// The exact D_α of the answer at a position for each removed member, at each order and in both directions, in nats.
///
/// ```
/// # use leakbound::bound::Direction;
/// # use leakbound::quantity::Order;
/// # use leakbound::token::{ClippedLogits, NextTokens, TokenMechanism, TokenNeighbors, removed_members};
/// # use ndarray::array;
/// let position = NextTokens::from_logits(array![[3.0, 0.0, 0.0], [0.0, 0.0, 0.0]].view(), None)?;
/// let mechanism = ClippedLogits::new(1.0, 2.0, 1.0)?;
/// let order = Order::new(2.0)?;
/// let theorem = &mechanism.theorems(position.size(), TokenNeighbors::Removed)[0];
/// for found in removed_members(&mechanism, &position, &[order])? {
///     assert!(found.value <= theorem.at(order, found.direction).unwrap().value);
/// }
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # Errors
/// Those of [`TokenMechanism::released`].
pub fn removed_members(
    mechanism: &dyn TokenMechanism,
    position: &NextTokens,
    orders: &[Order],
) -> Result<Vec<TokenDivergence>> {
    let released = mechanism.released(position)?;
    Ok(of_released(&released, orders))
}

/// The same for an answer whose distributions are known.
#[must_use]
pub fn of_released(released: &Released, orders: &[Order]) -> Vec<TokenDivergence> {
    let mut found = Vec::with_capacity(2 * orders.len() * released.neighbors().len());
    for (neighbor, other) in released.neighbors().enumerate() {
        let values = renyi_of_both(released.whole(), other, orders);
        for (index, &order) in orders.iter().enumerate() {
            for (direction, values) in Direction::BOTH.into_iter().zip(&values) {
                found.push(TokenDivergence { neighbor, order, value: values[index], direction });
            }
        }
    }
    found
}

/// D_α(P‖Q) of probabilities that sum to 1 up to rounding, in nats.
pub(super) fn renyi(p: &[f64], q: &[f64], order: Order) -> f64 {
    renyi_of_both(p, q, &[order])[0][0]
}

/// D_α(P‖Q) and D_α(Q‖P) at several orders.
///
/// With d = p/q - 1, exp((α-1) D_α) - 1 = Σ q f_α(d), f_α(d) = (1+d)^α - 1 - α d ≥ 0, because the d have mean 0 under
/// Q: nothing cancels between tokens. Whole orders have f_n(d) = d² g_n(d) with g_1 = 0 and g_{n+1}(d) = (1+d) g_n(d) + n,
/// a sum of terms of one sign, and all of them are computed on the way to the largest.
fn renyi_of_both(p: &[f64], q: &[f64], orders: &[Order]) -> [Vec<f64>; 2] {
    let mut whole: Vec<u32> = orders.iter().filter_map(|&order| whole_order(order)).collect();
    whole.sort_unstable();
    whole.dedup();
    let [forward, reverse] = whole_orders(p, q, &whole);
    let values = |sums: &[f64], p: &[f64], q: &[f64]| {
        let value = |&order: &Order| {
            let found = whole_order(order).and_then(|order| whole.binary_search(&order).ok());
            let sum = found.map_or(f64::NAN, |index| sums[index]);
            if sum.is_finite() { sum.ln_1p() / (order.get() - 1.0) } else { any_order(p, q, order.get()) }
        };
        orders.iter().map(value).collect()
    };
    [values(&forward, p, q), values(&reverse, q, p)]
}

/// An order that is a sum of products.
fn whole_order(order: Order) -> Option<u32> {
    let a = order.get();
    (a <= LARGEST_WHOLE && a.fract() == 0.0).then_some(a as u32)
}

/// Σ q f_n(d) at increasing whole orders, likewise with P and Q exchanged; not finite if a term overflows or one has
/// mass where the other has none.
fn whole_orders(p: &[f64], q: &[f64], orders: &[u32]) -> [Vec<f64>; 2] {
    let mut sums = [vec![0.0; orders.len()], vec![0.0; orders.len()]];
    if orders.is_empty() {
        return sums;
    }
    let mut block = Block { ratios: [[0.0; BLOCK]; 2], factors: [[0.0; BLOCK]; 2], weights: [[0.0; BLOCK]; 2] };
    in_vectors!(Arch::new(), {
        for (p, q) in p.chunks(BLOCK).zip(q.chunks(BLOCK)) {
            block.fill(p, q);
            block.add(orders, &mut sums);
        }
    });
    sums
}

/// Number of tokens processed together: their numbers stay in the nearest cache.
const BLOCK: usize = 256;

/// Numbers for some tokens, in both directions. Loops over tokens are the inner ones, which use wide instructions.
struct Block {
    /// 1 + d
    ratios: [[f64; BLOCK]; 2],
    /// g_n(d)
    factors: [[f64; BLOCK]; 2],
    /// q d²
    weights: [[f64; BLOCK]; 2],
}

impl Block {
    #[inline(always)]
    fn fill(&mut self, p: &[f64], q: &[f64]) {
        let count = p.len();
        let [forward, reverse] = &mut self.ratios;
        let [forward_weights, reverse_weights] = &mut self.weights;
        let numbers = forward.iter_mut().zip(reverse).zip(forward_weights.iter_mut().zip(reverse_weights));
        let products_are_normal = p.iter().zip(q).fold(true, |all, (p, q)| all & (p * q >= f64::MIN_POSITIVE));
        if products_are_normal {
            // A division takes as long as everything else, so there is one for both directions.
            for (((forward, reverse), (of_q, of_p)), (&p, &q)) in numbers.zip(p.iter().zip(q)) {
                let (change, inverse) = (p - q, 1.0 / (p * q));
                let (d, e) = (change * (p * inverse), -change * (q * inverse));
                (*forward, *reverse, *of_q, *of_p) = (1.0 + d, 1.0 + e, change * d, -change * e);
            }
        } else {
            for (((forward, reverse), (of_q, of_p)), (&p, &q)) in numbers.zip(p.iter().zip(q)) {
                let change = p - q;
                // Including when both are 0.
                let (d, e) = if p == q { (0.0, 0.0) } else { (change / q, -change / p) };
                (*forward, *reverse, *of_q, *of_p) = (1.0 + d, 1.0 + e, change * d, -change * e);
            }
        }
        // Absent tokens add nothing.
        for side in 0..2 {
            self.ratios[side][count..].fill(1.0);
            self.weights[side][count..].fill(0.0);
        }
    }

    /// Adds Σ q f_n(d) for some tokens.
    #[inline(always)]
    fn add(&mut self, orders: &[u32], sums: &mut [Vec<f64>; 2]) {
        for (side, sums) in sums.iter_mut().enumerate() {
            let (ratios, factors, weights) = (&self.ratios[side], &mut self.factors[side], &self.weights[side]);
            factors.fill(0.0);
            let mut reached = 1;
            for (&order, sum) in orders.iter().zip(sums) {
                while reached + 1 < order {
                    let n = f64::from(reached);
                    for (factor, ratio) in factors.iter_mut().zip(ratios) {
                        *factor = ratio.mul_add(ratio.mul_add(*factor, n), n + 1.0);
                    }
                    reached += 2;
                }
                if reached < order {
                    let n = f64::from(reached);
                    factors.iter_mut().zip(ratios).for_each(|(factor, ratio)| *factor = ratio.mul_add(*factor, n));
                    reached = order;
                }
                let mut lanes = [0.0; LANES];
                for (factors, weights) in factors.chunks_exact(LANES).zip(weights.chunks_exact(LANES)) {
                    for lane in 0..LANES {
                        lanes[lane] = weights[lane].mul_add(factors[lane], lanes[lane]);
                    }
                }
                *sum += lanes.iter().sum::<f64>();
            }
        }
    }
}

/// The larger of both divergences between the public model and its mixture with a member, whose `change` is p/p₀ - 1
/// for each token. `None` at orders that are not whole, and if terms overflow.
pub(super) fn mixture_distance(public: &[f64], change: &[f64], share: f64, order: Order) -> Option<f64> {
    let order_of_sum = whole_order(order)?;
    let mut sums = [[0.0; LANES]; 2];
    in_vectors!(Arch::new(), {
        let (publics, changes) = (public.chunks_exact(LANES), change.chunks_exact(LANES));
        for (lane, (&public, &change)) in publics.remainder().iter().zip(changes.remainder()).enumerate() {
            let [forward, reverse] = mixture_terms(public, share * change, order_of_sum);
            sums[0][lane] += forward;
            sums[1][lane] += reverse;
        }
        for (public, change) in publics.zip(changes) {
            for lane in 0..LANES {
                let [forward, reverse] = mixture_terms(public[lane], share * change[lane], order_of_sum);
                sums[0][lane] += forward;
                sums[1][lane] += reverse;
            }
        }
    });
    let sum = sums.map(|lanes| lanes.iter().sum::<f64>());
    let largest = sum[0].max(sum[1]);
    (sum[0].is_finite() && sum[1].is_finite()).then(|| largest.ln_1p() / (order.get() - 1.0))
}

/// p₀ f_n(x) and p̄ f_n(p₀/p̄ - 1) for p̄ = (1 + x) p₀.
#[inline(always)]
fn mixture_terms(public: f64, x: f64, order: u32) -> [f64; 2] {
    let y = 1.0 + x;
    let inverse = 1.0 / y;
    let e = -x * inverse;
    let (mut forward, mut reverse) = (0.0, 0.0);
    for n in 1..order {
        let n = f64::from(n);
        forward = y * forward + n * (x * x);
        reverse = inverse * reverse + n * (e * e);
    }
    [public * forward, public * y * reverse]
}

/// The same at any order, and if sums overflow.
fn any_order(p: &[f64], q: &[f64], a: f64) -> f64 {
    if p.iter().zip(q).any(|(&p, &q)| p > 0.0 && q == 0.0) {
        return f64::INFINITY;
    }
    // The quotient of a denormal number may leave the range of doubles.
    let log_ratio = |p: f64, q: f64| if q.is_normal() { (p / q).ln() } else { p.ln() - q.ln() };
    let ratios = || p.iter().zip(q).filter(|(_, q)| **q > 0.0).map(|(&p, &q)| (p, q, log_ratio(p, q)));
    let largest = ratios().map(|(.., l)| a * l).fold(0.0, f64::max);
    if largest > 1.0 {
        return (log_sum_exp(ratios().map(|(_, q, l)| a * l + q.ln())) / (a - 1.0)).max(0.0);
    }
    // q (e^{al} - 1 - a d) with l = ln(1+d).
    let sum: f64 = ratios()
        .map(|(p, q, _)| {
            let d = (p - q) / q;
            let f = if (a * d).abs() < 1e-2 { d * d * series(a, d) } else { libm::expm1(a * libm::log1p(d)) - a * d };
            q * f.max(0.0)
        })
        .sum();
    sum.ln_1p() / (a - 1.0)
}

/// ((1+d)^a - 1 - a d)/d² for small a d.
fn series(a: f64, d: f64) -> f64 {
    let mut coefficient = a * (a - 1.0) / 2.0;
    let (mut power, mut sum) = (1.0, 0.0);
    for k in 2..10u32 {
        sum += coefficient * power;
        coefficient *= (a - f64::from(k)) / f64::from(k + 1);
        power *= d;
    }
    sum
}
