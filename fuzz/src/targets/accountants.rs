//! Any order, scale and ln q: accountants are no NaN, never negative, and a data-dependent cost is never the larger.

use crate::input::typed;
use leakbound::accountant::{
    gaussian_rdp, gnmax_data_dependent, gnmax_data_independent, group_rdp, laplace_rdp, lnmax_data_independent,
    subsampled_gaussian_group_rdp, subsampled_gaussian_rdp,
};
use leakbound::divergence::{classic_epsilon_of_rdp, delta_of_rdp, epsilon_of_rdp};
use leakbound::quantity::{Delta, Epsilon, NoiseScale, Order, Probability};

pub fn run(bytes: &[u8]) {
    let Some((order, scale, log_q, delta, rdp)) = typed::<(f64, f64, f64, f64, f64)>(bytes) else { return };
    let (Ok(order), Ok(scale)) = (Order::new(order), NoiseScale::new(scale)) else { return };
    let cost = |name: &str, value: f64| {
        assert!(value >= 0.0, "{name} at order {order}, scale {scale}, ln q {log_q}: {value}");
        value
    };
    let independent = cost("gnmax-data-independent", gnmax_data_independent(order, scale));
    // Any double is taken as ln q; what is no logarithm of a probability proves nothing.
    for log_q in [log_q, -log_q.abs()] {
        let dependent = cost("gnmax-data-dependent", gnmax_data_dependent(order, scale, log_q));
        assert!(dependent <= independent, "order {order}, scale {scale}, ln q {log_q}: {dependent} > {independent}");
    }
    let whole = cost("gaussian", gaussian_rdp(order, scale, 1.0));
    if let Ok(rate) = Probability::new(log_q.abs().fract()) {
        let sampled = cost("subsampled gaussian", subsampled_gaussian_rdp(order, rate, scale, 1.0));
        assert!(sampled <= whole, "order {order}, scale {scale}, rate {rate}: {sampled} > {whole}");
        let group = cost("group", subsampled_gaussian_group_rdp(order, rate, scale, 1.0, 2));
        assert!(group <= gaussian_rdp(order, scale, 2.0), "order {order}, scale {scale}, rate {rate}: {group}");
        cost("generic group", group_rdp(order, 3, |order| gaussian_rdp(order, scale, 1.0)));
    }
    let laplace = cost("laplace", laplace_rdp(order, scale));
    // Never above the pure ε of the mechanism.
    assert!(laplace <= 1.0 / scale.get() * (1.0 + 1e-12), "order {order}, scale {scale}: {laplace}");
    cost("lnmax-data-independent", lnmax_data_independent(order, scale));
    let (Ok(delta), Ok(rdp)) = (Delta::new(delta), Epsilon::new(rdp.abs())) else { return };
    let epsilon = cost("improved epsilon", epsilon_of_rdp(rdp.get(), order, delta).get());
    let classic = cost("classic epsilon", classic_epsilon_of_rdp(rdp.get(), order, delta).get());
    assert!(epsilon <= classic * (1.0 + 1e-12), "{rdp} {order} {delta}: {epsilon} {classic}");
    let back = cost("delta", delta_of_rdp(rdp.get(), order, Epsilon::new(epsilon).expect("checked above")));
    assert!(back <= 1.0, "{rdp} {order} {delta}: delta {back}");
}
