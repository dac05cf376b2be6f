//! What a language model answers at recorded places.

use super::model::{ByteTransformer, TOKENS};
use super::positions::Position;
use crate::answers::numbers;
use crate::guard::guarded;
use leakbound::error::Result;
use tch::{Device, Tensor, no_grad};

/// Contexts of a pass.
const TOGETHER: usize = 64;

/// Logits of the next byte at each position, 256 after 256.
///
/// # Errors
/// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails.
pub(super) fn answers(transformer: &ByteTransformer, positions: &[Position], device: Device) -> Result<Vec<f32>> {
    guarded("answers", || {
        let mut answered = Vec::with_capacity(positions.len() * TOKENS);
        for pass in positions.chunks(TOGETHER) {
            let longest = pass.iter().map(|position| position.context.len()).max().unwrap_or(0);
            let mut bytes = Vec::with_capacity(pass.len() * longest);
            for position in pass {
                bytes.extend(position.context.iter().map(|&byte| i64::from(byte)));
                // No byte sees what comes behind it.
                bytes.resize(bytes.len() + longest - position.context.len(), 0);
            }
            let bytes = Tensor::from_slice(&bytes).view([-1, longest as i64]).to_device(device);
            let logits = no_grad(|| transformer.logits(&bytes));
            for (row, position) in (0..).zip(pass) {
                answered.extend(numbers(&logits.select(0, row).select(0, position.context.len() as i64 - 1))?);
            }
        }
        Ok(answered)
    })
}

/// Mean of -ln p of the bytes that come next, in nats.
pub(super) fn loss(logits: &[f32], positions: &[Position]) -> f64 {
    let of_row = |(row, position): (&[f32], &Position)| {
        let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f64 = row.iter().map(|&logit| f64::from(logit - most).exp()).sum();
        sum.ln() - f64::from(row[usize::from(position.token)] - most)
    };
    logits.chunks_exact(TOKENS).zip(positions).map(of_row).sum::<f64>() / positions.len() as f64
}
