//! Attention of tokens to those that they may see.

use tch::{Device, Kind, Tensor};

/// softmax(Q Kᵀ/√D + M) V for queries, keys and values [B, H, T, D] and a mask M [T, T], which is 0 where a token (row)
/// sees another (column) and -∞ elsewhere.
///
/// # References
/// Vaswani et al. (2017), "Attention is all you need", (1).
pub(super) fn attention(queries: &Tensor, keys: &Tensor, values: &Tensor, mask: &Tensor) -> Tensor {
    let dimension = queries.size()[3] as f64;
    let scores = queries.matmul(&keys.transpose(-2, -1)) / dimension.sqrt() + mask;
    scores.softmax(-1, queries.kind()).matmul(values)
}

/// The mask [T, T] of a context of `context` tokens with `queries` queries behind it, T = context + queries.
///
/// Tokens of the context see each other. A query sees the context and itself: it is the last token of a prompt of its
/// own, whatever is asked beside it.
pub(super) fn prompt_mask(context: usize, queries: usize, device: Device) -> Tensor {
    mask(context + queries, device, |row, column| column < context || column == row)
}

/// The mask [T, T] of a text of `tokens` tokens, each of which sees itself and those before it.
pub(super) fn causal_mask(tokens: usize, device: Device) -> Tensor {
    mask(tokens, device, |row, column| column <= row)
}

/// 0 where a token (row) sees another (column), -∞ elsewhere.
fn mask(tokens: usize, device: Device, sees: impl Fn(usize, usize) -> bool) -> Tensor {
    let mask: Vec<f32> = (0..tokens * tokens)
        .map(|place| if sees(place / tokens, place % tokens) { 0.0 } else { f32::NEG_INFINITY })
        .collect();
    Tensor::from_slice(&mask).view([tokens as i64, tokens as i64]).to_kind(Kind::Float).to_device(device)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: [usize; 4] = [2, 3, 6, 4];

    fn wave(phase: f64) -> Tensor {
        let count = SHAPE.iter().product::<usize>() as i64;
        let line = Tensor::linspace(0.0, 0.9 * count as f64, count, (Kind::Float, Device::Cpu)) + phase;
        ((&line * 1.7).sin() * 2.0).view(SHAPE.map(|length| length as i64))
    }

    #[test]
    fn attention_is_that_of_a_loop() {
        let [q, k, v] = [0.0, 0.4, 1.1].map(wave);
        let found = attention(&q, &k, &v, &prompt_mask(4, 2, Device::Cpu));
        let [batch, heads, tokens, dimension] = SHAPE;
        let mut furthest: f64 = 0.0;
        for (b, h, t) in (0..batch * heads * tokens).map(|i| (i / (heads * tokens), i / tokens % heads, i % tokens)) {
            let at = |tensor: &Tensor, token: usize, d: usize| {
                tensor.double_value(&[b as i64, h as i64, token as i64, d as i64])
            };
            // Four tokens of context; the two behind them see it and themselves.
            let seen: Vec<usize> = (0..tokens).filter(|&other| other < 4 || other == t).collect();
            let score = |other: usize| {
                (0..dimension).map(|d| at(&q, t, d) * at(&k, other, d)).sum::<f64>() / (dimension as f64).sqrt()
            };
            let weights: Vec<f64> = seen.iter().map(|&other| score(other).exp()).collect();
            for d in 0..dimension {
                let mean = seen.iter().zip(&weights).map(|(&other, weight)| weight * at(&v, other, d)).sum::<f64>()
                    / weights.iter().sum::<f64>();
                furthest = furthest.max((mean - at(&found, t, d)).abs());
            }
        }
        println!("furthest apart {furthest:e}");
        assert!(furthest < 1e-5);
    }
}
