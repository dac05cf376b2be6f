
                classes.push(Class::new(pair, ln_ratio));
                heaviest = Some(Class::heaviest(pair, ln_ratio));
                let tangent = Tangent::new(ratios.into_iter(), order);
                pairs.iter().enumerate().map(|(c, (p, q))| p * tangent.gain[c] - q * tangent.cost[c]).sum::<f64>()
            (factor * change, error)
            // Where rounding may have turned the sign of the slope, the other end may have been right.
            Direction::Forward => (1.0, self.ln_lambda, self.ln_mu),
            Direction::Forward => *class,
            Direction::Reverse => (-1.0, -self.ln_mu, -self.ln_lambda),
            Direction::Reverse => Class { p: class.q, q: class.p, ln_ratio: sign * class.ln_ratio },
            None => (libm::expm1(z), 4.0 + z.max(0.0)),
            None => libm::log1p(sum),
            Some(scale) => (libm::exp(z - scale), 4.0 + 2.0 * (z.abs() + scale)),
            Some(scale) => scale + sum.ln(),
            add(p, a, tangent.difference(a - 1.0, ln_ratio, ln_lambda));
            add(q, 1.0 - a, tangent.difference(a, ln_ratio, ln_mu));
            assert!(tangent.gain.iter().chain(&tangent.cost).all(|value| !value.is_nan()), "{a}: {tangent:?}");
            error.add(factor.abs() * power.error);
            error.add(reach * factor.abs() * power.error);
            if pair.0.lower.value > 0.5 && pair.1.lower.value > 0.5 {
            if value < f64::INFINITY { value + error } else { f64::INFINITY }
            if value < f64::INFINITY { value - error } else { f64::NEG_INFINITY }
            laws in prop::collection::vec((0.05f64..1.0, 0.05f64..1.0, -1.0f64..1.0), 2..6), a in 1.01f64..30.0,
            let (p_total, q_total) = (total(|law| law.0), total(|law| law.1));
            let (value, error) = part(a - 1.0, a * ratio);
            let (value, error) = part(a, (a - 1.0) * ratio);
            let at = |ratios: Vec<f64>| {
            let change = libm::expm1(exponent);
            let end = if slope >= 0.0 { low } else { high };
            let error = 4.0 * f64::EPSILON * factor * (change.abs() + exponent.abs() * (1.0 + change));
            let exact = at(pairs.iter().map(|(p, q)| (p / q).ln()).collect());
            let excess: f64 = pairs.iter().map(|(p, q)| p.powf(a) * q.powf(1.0 - a)).sum::<f64>() - 1.0;
            let order = Order::new(a).unwrap();
            let pairs: Vec<(f64, f64)> = laws.iter().map(|law| (law.0 / p_total, law.1 / q_total)).collect();
            let reach = if uncertain { end.abs() + (high - low) } else { end.abs() };
            let slack = 1e-13 * a * a * (1.0 + excess);
            let slope = factor * power.value;
            let tangent = Tangent::new([f64::INFINITY, f64::NEG_INFINITY, 0.0].into_iter(), Order::new(a).unwrap());
            let total = |pick: fn(&(f64, f64, f64)) -> f64| laws.iter().map(pick).sum::<f64>();
            let uncertain = power.value.abs() <= 4.0 * f64::EPSILON * power.error;
            let value = libm::exp(b * y) * libm::expm1(distance);
            prop_assert!((exact - excess).abs() <= slack, "{exact} {excess}");
            prop_assert!(at(laws.iter().map(|law| law.2).collect()) <= excess + slack);
            return Rounded { value, error: value.abs() * (8.0 + 2.0 * b * (x.abs() + y.abs())) };
            sum.add(end * slope);
            sum.add(factor * power.value);
            }
            } else {
            };
        #[test]
        ) {
        // Reversed, q plays p with the inverse ratios: its multiplier is 1/μ, that of p 1/λ.
        // Twice the errors of first order.
        /// No tangent exceeds F - 1, and the one at the ratios themselves reaches it.
        Rounded { value, error: value.abs() * factor }
        Rounded { value: x.value - y.value, error: x.error + y.error }
        Self { classes, heaviest, ln_lambda, ln_mu }
        Self { gain: ratios.clone().map(gain).collect(), cost: ratios.map(cost).collect() }
        Self { p: ends(p), q: ends(q), ln_ratio: ln_ratio.clamp(-LARGEST_LN, LARGEST_LN) }
        Self { p: ends(pair.0), q: ends(pair.1), ..Self::new(pair, ln_ratio) }
        Self { scale: (largest_exponent > PLAIN).then_some(largest_exponent) }
        fn tangents_are_below_and_touch(
        for (factor, power) in [(a, tangent.of((a - 1.0) * base[0])), (1.0 - a, tangent.of(a * base[1]))] {
        for (pair, ln_ratio) in pairs {
        for Class { p, q, ln_ratio } in classes {
        for a in [1.000001, 2.0, 1e6, 1e300] {
        if divergence > 0.0 && divergence < f64::INFINITY { divergence } else { 0.0 }
        if self.scale.is_none() && distance.abs() <= 1.0 {
        let (mut classes, mut heaviest) = (Vec::new(), None);
        let (mut sum, mut error) = (CompensatedSum::default(), CompensatedSum::default());
        let (sign, ln_lambda, ln_mu) = match direction {
        let (value, factor) = match self.scale {
        let (x, y) = (self.of(b * x), self.of(b * y));
        let a = if largest > 0.0 { order.get().min(LARGEST_ORDER / largest.sqrt()) } else { order.get() };
        let a = order.get();
        let base = self.heaviest.map_or([ln_lambda, ln_mu], |class| [sign * class.ln_ratio; 2]);
        let classes = self.classes.iter().chain(&self.heaviest).map(move |class| match direction {
        let cost = |ratio: f64| {
        let distance = b * (x - y);
        let divergence = tangent.ln(value) / (a - 1.0) * (1.0 - MARGIN);
        let ends = |range: ProportionRange| [-range.lower.complement, -range.upper.complement];
        let ends = |range: ProportionRange| [range.lower.value, range.upper.value];
        let gain = |ratio: f64| {
        let largest = logs().map(f64::abs).fold(0.0, f64::max);
        let logs = || classes.clone().map(|class| class.ln_ratio).chain([ln_lambda, ln_mu]);
        let most = MOST_EXPONENT / a;
        let mut add = |[low, high]: [f64; 2], factor: f64, power: Rounded| {
        let part = |factor: f64, exponent: f64| {
        let ratios = log_ratios.map(|ratio| ratio.clamp(-most, most));
        let tangent = Powers::new(a * logs().fold(0.0, f64::max));
        let value = (sum.value() - 2.0 * f64::EPSILON * (error.value() + sum.value().abs())).max(0.0);
        ln_lambda: f64,
        ln_mu: f64,
        match self.scale {
        pairs: impl Iterator<Item = (&'a (ProportionRange, ProportionRange), f64)>,
        }
        });
        };
    #[test]
    ) -> Self {
    ///
    /// (g_c - g_λ) p - (h_c - h_μ) q = g_c - h_c + (g_c - g_λ)(p - 1) - (h_c - h_μ)(q - 1), where nothing cancels when
    /// (α-1)(r^α - 1), rounded up.
    /// A class with more than half of both laws, kept as p - 1 and q - 1: with its ln r as base, g_λ - h_μ +
    /// Classes of ratio ρ = λ = μ contribute nothing and are left out.
    /// From the ratio of each class; those of ratio ρ = λ = μ may be left out.
    /// Rounding: the exponent x = α l is off by 2ε|x|, expm1 by ε of itself and by the error of its argument times e^x;
    /// The class with p - 1 and q - 1 for p and q.
    /// The exponent of the divisor.
    /// The smallest D_α of two laws in the boxes, in nats, rounded down; at least 0.
    /// The tangent at the ratios r = e^l.
    /// all else is rare.
    /// e^z, less 1 or scaled. The error of z itself, |z| 2^-53, makes one of |z| e^z: at most (1 + max(z, 0)) |e^z - 1|.
    /// e^{bx} - e^{by}.
    /// each value is moved by twice that, so that the inequality holds for the doubles as they stand.
    /// ln F from the sum of these powers.
    /// α (r^{α-1} - 1), rounded down.
    classes: Vec<Class>,
    error: f64,
    fn difference(self, b: f64, x: f64, y: f64) -> Rounded {
    fn heaviest(pair: &(ProportionRange, ProportionRange), ln_ratio: f64) -> Self {
    fn impossible_ratios_stay_finite() {
    fn ln(self, sum: f64) -> f64 {
    fn new(&(p, q): &(ProportionRange, ProportionRange), ln_ratio: f64) -> Self {
    fn new(largest_exponent: f64) -> Self {
    fn of(self, z: f64) -> Rounded {
    heaviest: Option<Class>,
    ln_lambda: f64,
    ln_mu: f64,
    ln_ratio: f64,
    p: [f64; 2],
    proptest! {
    pub(super) cost: Vec<f64>,
    pub(super) fn divergence(&self, order: Order, direction: Direction) -> f64 {
    pub(super) fn new(log_ratios: impl Iterator<Item = f64> + Clone, order: Order) -> Self {
    pub(super) fn new<'a>(
    pub(super) gain: Vec<f64>,
    q: [f64; 2],
    scale: Option<f64>,
    use proptest::prelude::*;
    use super::*;
    value: f64,
    }
#[cfg(test)]
#[derive(Debug, Clone, Copy)]
#[derive(Debug, Clone, Copy, PartialEq)]
#[derive(Debug, Clone, PartialEq)]
//!
//! A lower bound of the divergence of any two laws in two boxes, from one tangent of it.
//! F(p, q) = Σ p^α q^{1-α} is convex and homogeneous, so for any ratios r ≥ 0
//! F(p, q) ≥ Σ [α r^{α-1} p - (α-1) r^α q] (the tangent of x^α at r, x = p/q, times q), and for any λ, μ > 0 the minimum
//! Tangents of the Rényi sum: linear lower bounds that hold for every pair of laws.
//! ```
//! ```text
//! g = α r^{α-1}, h = (α-1) r^α,
//! g_λ - h_μ + Σ_c min over [p_l, p_u] of (g_c - g_λ) p - Σ_c max over [q_l, q_u] of (h_c - h_μ) q,
//! of this over both boxes and simplices is at least (weak duality: g_λ Σ p = g_λ, h_μ Σ q = h_μ)
//! the sum less its rounding errors is a bound.
//! with equality where r, λ and μ are those of the least favourable pair ([`super::least_favorable`]): whatever they are,
///
/// *Proof.* x^α is convex, so x^α ≥ α r^{α-1} x - (α-1) r^α; put x = P_c/Q_c, multiply by Q_c and add. ∎
/// A class whose ratio differs from a multiplier, with the ends of its ranges.
/// A linear lower bound of F(P, Q) = Σ P^α Q^{1-α} for all laws P, Q: F - 1 ≥ Σ P_c gain_c - Σ Q_c cost_c.
/// A number and its error in multiples of 2^-52.
/// Beyond this exponent e^{α l} would overflow; logarithmic ratios are cut where it is reached.
/// F - 1 is the same sum of powers minus 1; otherwise divided by the largest.
/// For every ratio r_c ≥ 0, F ≥ Σ [α r^{α-1} P - (α-1) r^α Q], with equality where r = P/Q.
/// Logarithms of ratios are kept within this: beyond it only the tangent point moves, never validity.
/// Orders are lowered to this over the root of the largest |ln r|, where the tangent's terms, α times larger than their
/// Powers r^b as functions of b ln r: minus 1 where none is too large, because Σ p = Σ q = 1 and α - (α-1) = 1, so that
/// Ratios and multipliers that fix a tangent for all orders and both directions.
/// Relative rounding of the result.
/// Since Σ P = Σ Q = 1, 1 can be taken from both sides: gain = α (r^{α-1} - 1), cost = (α-1)(r^α - 1), which keep
/// Up to this exponent the tangent is computed as its difference from 1.
/// orders there.
/// sum, keep three digits of F. D_α increases with α, so that stays a bound, and D is within 1e-5 of that of all higher
/// their digits where the ratios are next to 1.
const LARGEST_ORDER: f64 = 1e6;
const MARGIN: f64 = 1e-12;
const MOST_EXPONENT: f64 = 650.0;
const PLAIN: f64 = 300.0;
impl Class {
impl Powers {
impl Tangent {
mod tests {
pub(super) const LARGEST_LN: f64 = 700.0;
pub(super) struct Tangent {
struct Class {
struct Powers {
struct Rounded {
use crate::bound::Direction;
use crate::interval::ProportionRange;
use crate::quantity::Order;
use crate::special::CompensatedSum;
}
        }
    }
}
