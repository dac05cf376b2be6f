//! What each member of an ensemble of 8 leaks at one position of 50,000 tokens: exact D_2 and D_8 in both directions.

use criterion::{Criterion, criterion_group};
use leakbound::quantity::{Order, Probability};
use leakbound::token::{ClippedLogits, MixedTokens, NextTokens, TokenMechanism, removed_members};
use ndarray::{Array1, Array2};
use std::hint::black_box;

const MEMBERS: usize = 8;
const TOKENS: usize = 50_000;

/// Logits that fall as those of words do, with changes of each member.
fn logits() -> (Array2<f64>, Array1<f64>) {
    let public = |token: usize| -1.2 * ((token * 7_919 % TOKENS + 1) as f64).ln();
    let change = |member: usize, token: usize| (1.7 * token as f64 + 2.3 * (member * member) as f64).sin();
    let members = Array2::from_shape_fn((MEMBERS, TOKENS), |(member, token)| public(token) + change(member, token));
    (members, Array1::from_shape_fn(TOKENS, public))
}

fn leakage(criterion: &mut Criterion) {
    let (members, public) = logits();
    criterion.bench_function("next tokens from logits, 8 x 50,000", |bencher| {
        bencher.iter(|| NextTokens::from_logits(black_box(members.view()), Some(public.view())).expect("a position"));
    });
    let position = NextTokens::from_logits(members.view(), Some(public.view())).expect("a position");
    let orders = [2.0, 8.0].map(|order| Order::new(order).expect("an order"));
    let order = Order::new(3.0).expect("an order");
    let mixed = MixedTokens::new(order, 0.01, Probability::new(1.0).expect("a rate")).expect("a mechanism");
    let clipped = ClippedLogits::new(5.0, 8.0, 1.0).expect("a mechanism");
    for (name, mechanism) in [("mixtures", &mixed as &dyn TokenMechanism), ("clipped logits", &clipped)] {
        criterion.bench_function(&format!("{name}, 8 x 50,000"), |bencher| {
            bencher.iter(|| removed_members(mechanism, black_box(&position), &orders).expect("divergences"));
        });
    }
}

criterion_group!(benches, leakage);
