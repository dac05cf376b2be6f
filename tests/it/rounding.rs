//! Published bounds err outward: no formula of `validation/reference/rounding.json` is on the wrong side of its value
//! in real arithmetic, at orders from 1 + 2^-52 to 10^6, scales from 10^-3 to 10^6 and deltas from 10^-300 to 1 -
//! 10^-12.

use leakbound::accountant::{laplace_mechanism_rdp, subsampled_gaussian_rdp};
use leakbound::quantity::{NoiseScale, Order, Probability};
use leakbound_validation::rounding::{Side, rows};

#[test]
fn no_bound_is_on_the_wrong_side() {
    let rows = rows();
    for (name, row) in &rows {
        println!("{name:<28} {:?} {:>4} cases {:.1e} at {}", row.side, row.cases, row.worst, row.at);
    }
    let wrong: Vec<String> =
        rows.iter().flat_map(|(name, row)| row.wrong.iter().map(move |wrong| format!("{name}: {wrong}"))).collect();
    assert!(wrong.is_empty(), "{} on the wrong side\n{}", wrong.len(), wrong.join("\n"));
    assert!(rows.len() >= 29 && rows.values().map(|row| row.cases).sum::<usize>() > 1_000);
    // Outward is no excuse for loose. Left out are costs below 1e-290, which are rounded absolutely, and fallbacks.
    for name in ["Laplace mechanism", "Gaussian mechanism", "GNMax", "k-ary response", "epsilon of RDP", "delta of RDP"]
    {
        assert!(rows[name].worst < 1e-11, "{name}: {:e} at {}", rows[name].worst, rows[name].at);
    }
    assert!(rows.values().all(|row| row.side != Side::Nearest || row.worst < 1e-12));
}

/// Much noise next to order 1, where the first orders of two exponentials cancel.
#[test]
fn laplace_noise_next_to_order_one() {
    let value = laplace_mechanism_rdp(Order::new(1.0001).unwrap(), NoiseScale::new(1000.0).unwrap(), 1.0);
    assert!((4.998_833_583_208e-7..4.998_833_583_208e-7 * (1.0 + 1e-12)).contains(&value), "{value:e}");
}

/// A rate so small that the square of the excess decides: its peak, at two shifts, lies beyond the order times the
/// shift.
#[test]
fn rare_subsamples_with_little_noise() {
    let order = Order::new(1.01).unwrap();
    let value = subsampled_gaussian_rdp(order, Probability::new(1e-20).unwrap(), NoiseScale::new(0.2).unwrap(), 1.0);
    // 60 digits, by the trapezoid rule from -16 to 26 standard deviations.
    let exact = 3.521_092_219_745_154e-30;
    assert!(value >= exact && value < exact * (1.0 + 1e-9), "{value:e} {exact:e}");
}

/// The square of the shift underflows, its product with the order does not.
#[test]
fn a_huge_order_costs_no_more_than_pure_privacy() {
    for (a, b) in [(4.484_155e256, 1e300), (1e300, 1e300), (1e200, 1e160)] {
        let cost = leakbound::accountant::laplace_rdp(Order::new(a).unwrap(), NoiseScale::new(b).unwrap());
        assert!(cost <= 1.0 / b * (1.0 + 1e-15), "{a} {b}: {cost:e}");
    }
}
