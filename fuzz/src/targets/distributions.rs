//! Small histograms, any noise: distributions sum to 1, divergences are no NaN, rise with the order and obey the
//! accountants.

use crate::input::typed;
use leakbound::accountant::{
    gnmax_data_dependent, gnmax_data_independent, lnmax_data_independent, log_flip_probability,
};
use leakbound::distribution::{
    Noise, OutcomeDistribution, marked_argmax_distribution, multinomial_argmax_distribution, noisy_argmax_distribution,
};
use leakbound::divergence::{hockey_stick, renyi_divergence};
use leakbound::histogram::{VoteChange, VoteHistogram};
use leakbound::quantity::{Epsilon, NoiseScale, Order};

pub fn run(bytes: &[u8]) {
    let Some((form, scale, order, epsilon, change, counts)) = typed::<(u8, f64, f64, f64, u8, Vec<u16>)>(bytes) else { return };
    let order = Order::new(order).unwrap_or(Order::new(2.0).expect("a legal order"));
    let counts: Vec<u64> = counts.into_iter().take(8).map(u64::from).collect();
    if form & 2 != 0 {
        return random_votes(form, scale, order, &counts);
    }
    let Ok(scale) = NoiseScale::new(scale) else { return };
    let noise = if form & 1 == 0 { Noise::Gaussian(scale) } else { Noise::Laplace(scale) };
    let Ok(histogram) = VoteHistogram::new(counts) else { return };
    let Some(p) = distribution(&histogram, noise) else { return };
    let changes = histogram.neighbors(VoteChange::Moved);
    if changes.is_empty() {
        return;
    }
    let change = changes[usize::from(change) % changes.len()];
    let neighbor = histogram.neighbor(change).expect("a change that was offered");
    let Some(q) = distribution(&neighbor, noise) else { return };
    for (a, b, votes) in [(&p, &q, &histogram), (&q, &p, &neighbor)] {
        let exact = divergences(a, b, order);
        let promised = match noise {
            Noise::Gaussian(sigma) => {
                let independent = gnmax_data_independent(order, sigma);
                let dependent = gnmax_data_dependent(order, sigma, log_flip_probability(votes, sigma));
                assert!(dependent <= independent, "{votes} {noise} {order}: {dependent} {independent}");
                dependent
            }
            Noise::Laplace(b) => lnmax_data_independent(order, b),
        };
        // Rounding of logarithms, which grow with the squared distance of the counts.
        let size = a.ln_p().iter().chain(b.ln_p()).fold(1.0, |size: f64, ln| size.max(ln.abs()));
        let slack = promised * 1e-9 + size * 1e-12;
        assert!(exact <= promised + slack, "{votes} against {change:?}, {noise}, order {order}: {exact} > {promised}");
        if let Ok(epsilon) = Epsilon::new(epsilon) {
            let delta = hockey_stick(a, b, epsilon).expect("distributions of one length");
            assert!((0.0..=1.0).contains(&delta), "{a:?} {b:?} {epsilon}: {delta}");
        }
    }
}

/// The distribution of a histogram, rejected only where its counts are too far apart.
fn distribution(histogram: &VoteHistogram, noise: Noise) -> Option<OutcomeDistribution> {
    match noisy_argmax_distribution(histogram, noise) {
        Ok(distribution) => {
            check(&distribution);
            Some(distribution)
        }
        Err(error) => {
            assert!(error.to_string().starts_with("spread of the counts"), "{histogram} {noise}: {error}");
            None
        }
    }
}

/// D_α, no NaN and not above the divergence of a larger order.
fn divergences(p: &OutcomeDistribution, q: &OutcomeDistribution, order: Order) -> f64 {
    let at = |order| renyi_divergence(p, q, order).expect("distributions of one length");
    let value = at(order);
    assert!(value >= 0.0, "{p:?} {q:?} {order}: {value}");
    if let Ok(larger) = Order::new(order.get() * 2.0) {
        let more = at(larger);
        assert!(more >= value * (1.0 - 1e-9) - 1e-15, "{p:?} {q:?} {order}: {value}, of twice the order {more}");
    }
    value
}

/// Few voters and moderate noise, so that each distribution takes milliseconds.
fn random_votes(form: u8, scale: f64, order: Order, weights: &[u64]) {
    let k = u64::from(form >> 2) % 24 + 1;
    let Ok(scale) = NoiseScale::new(0.5 + scale.abs() % 50.0) else { return };
    let weights = &weights[..weights.len().min(4)];
    let normalized = |weights: Vec<f64>| -> Option<Vec<f64>> {
        let total: f64 = weights.iter().sum();
        (total > 0.0).then(|| weights.iter().map(|weight| weight / total).collect())
    };
    let Some(votes) = normalized(weights.iter().map(|&weight| weight as f64).collect()) else { return };
    let Some(marked) = normalized(weights.iter().rev().map(|&weight| weight as f64).collect()) else { return };
    let noise = Noise::Gaussian(scale);
    let distributions =
        [multinomial_argmax_distribution(k, &votes, noise), marked_argmax_distribution(k, &votes, &marked, noise)];
    let [p, q] = distributions
        .map(|distribution| distribution.unwrap_or_else(|error| panic!("{k} {votes:?} {marked:?} {noise}: {error}")));
    check(&p);
    check(&q);
    let independent = gnmax_data_independent(order, scale);
    for (a, b) in [(&p, &q), (&q, &p)] {
        let exact = divergences(a, b, order);
        assert!(exact <= independent * (1.0 + 1e-9) + 1e-10, "{k} {votes:?} {noise}: {exact} {independent}");
    }
}

fn check(distribution: &OutcomeDistribution) {
    let sum: f64 = distribution.p().iter().sum();
    assert!((sum - 1.0).abs() < 1e-11, "{distribution:?} sums to {sum}");
    for outcome in 0..distribution.outcomes() {
        let (p, ln_p, rest) =
            (distribution.p()[outcome], distribution.ln_p()[outcome], distribution.complement()[outcome]);
        assert!((0.0..=1.0).contains(&p) && (0.0..=1.0).contains(&rest) && ln_p <= 0.0, "{distribution:?}");
    }
}
