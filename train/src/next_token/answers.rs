//! What a language model predicts for texts.

use super::model::{ByteTransformer, TOKENS};
use crate::answers::numbers;
use crate::checks::unavailable;
use crate::guard::{TrainingProgress, guarded, report};
use leakbound::error::Result;
use tch::{Device, Kind, Tensor, no_grad};

/// Contexts of a pass.
const TOGETHER: usize = 64;
/// Added to no variance, but the least one: a byte that is certain has none.
const LEAST_VARIANCE: f64 = 1e-6;

/// Logits of the next byte behind each context, 256 after 256.
///
/// # Errors
/// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails.
pub(super) fn answers(transformer: &ByteTransformer, contexts: &[&[u8]], device: Device) -> Result<Vec<f32>> {
    guarded("answers", || {
        let mut answered = Vec::with_capacity(contexts.len() * TOKENS);
        for pass in contexts.chunks(TOGETHER) {
            let longest = pass.iter().map(|context| context.len()).max().unwrap_or(0);
            let mut bytes = Vec::with_capacity(pass.len() * longest);
            for context in pass {
                bytes.extend(context.iter().map(|&byte| i64::from(byte)));
                // No byte sees what comes behind it.
                bytes.resize(bytes.len() + longest - context.len(), 0);
            }
            let bytes = Tensor::from_slice(&bytes).view([-1, longest as i64]).to_device(device);
            let logits = no_grad(|| transformer.logits(&bytes));
            for (row, context) in (0..).zip(pass) {
                answered.extend(numbers(&logits.select(0, row).select(0, context.len() as i64 - 1))?);
            }
        }
        Ok(answered)
    })
}

/// What a model predicts for the bytes of a window except the first, which is only context. In nats.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Said {
    /// ln p of each byte.
    pub log_probabilities: Vec<f64>,
    /// Σ p ln p of the distribution that predicted the byte.
    pub means: Vec<f64>,
    /// The standard deviation of ln p under it, of a variance of at least 1e-6.
    pub deviations: Vec<f64>,
}

/// What a model predicts for windows of equal length.
///
/// # Errors
/// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails,
/// [`Error::Interrupted`](leakbound::Error::Interrupted) if the callback ends the work.
pub(super) fn said(
    transformer: &ByteTransformer,
    windows: &[&[u8]],
    device: Device,
    progress: &TrainingProgress<'_>,
) -> Result<Vec<Said>> {
    guarded("answers", || {
        let mut all = Vec::with_capacity(windows.len());
        for pass in windows.chunks(TOGETHER) {
            report(progress, 0)?;
            let bytes: Vec<i64> = pass.iter().flat_map(|window| window.iter().map(|&byte| i64::from(byte))).collect();
            let bytes = Tensor::from_slice(&bytes).view([pass.len() as i64, -1]).to_device(device);
            let length = bytes.size()[1] - 1;
            let logits = no_grad(|| transformer.logits(&bytes.narrow(1, 0, length)));
            let logs = logits.to_kind(Kind::Double).log_softmax(-1, Kind::Double);
            let (likely, last) = (logs.exp(), &[-1i64][..]);
            let means = (&likely * &logs).sum_dim_intlist(last, false, Kind::Double);
            let squares = (&likely * &logs * &logs).sum_dim_intlist(last, false, Kind::Double);
            let deviations = (squares - &means * &means).clamp_min(LEAST_VARIANCE).sqrt();
            let own = logs.gather(2, &bytes.narrow(1, 1, length).unsqueeze(2), false).squeeze_dim(2);
            let [own, means, deviations] = [own, means, deviations].map(|tensor| doubles(&tensor));
            let rows = own?.into_iter().zip(means?).zip(deviations?);
            all.extend(rows.map(|((log_probabilities, means), deviations)| Said {
                log_probabilities,
                means,
                deviations,
            }));
        }
        Ok(all)
    })
}

/// The numbers of a matrix, row by row.
fn doubles(tensor: &Tensor) -> Result<Vec<Vec<f64>>> {
    Vec::try_from(tensor).map_err(unavailable("answers"))
}

/// -ln p of a byte, in nats, by its logits.
pub(super) fn loss(logits: &[f32], byte: u8) -> f64 {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|&logit| f64::from(logit - most).exp()).sum();
    sum.ln() - f64::from(logits[usize::from(byte)] - most)
}

#[cfg(test)]
mod tests {
    use super::super::plan::ByteTransformerPlan;
    use super::*;
    use crate::sample::unwatched;
    use crate::seed::{Purpose, stream};

    /// Two ways to the same numbers: logits behind each context, and whole windows.
    #[test]
    fn what_is_said_of_a_window_follows_from_the_logits_behind_its_parts() {
        let plan = ByteTransformerPlan { width: 8, depth: 1, heads: 2, context: 6 };
        let model = ByteTransformer::new(&plan, stream(1, Purpose::Weights, 0, 0), Device::Cpu);
        let window = b"abcabd\xff";
        let found = said(&model, &[window, b"zzzzzzz"], Device::Cpu, &unwatched).unwrap().swap_remove(0);
        let contexts: Vec<&[u8]> = (1..window.len()).map(|length| &window[..length]).collect();
        let logits = answers(&model, &contexts, Device::Cpu).unwrap();
        for (place, row) in logits.chunks_exact(TOKENS).enumerate() {
            let logs: Vec<f64> = (0..=255).map(|byte| -loss(row, byte)).collect();
            let mean: f64 = logs.iter().map(|log| log.exp() * log).sum();
            let square: f64 = logs.iter().map(|log| log.exp() * log * log).sum();
            let expected = [logs[usize::from(window[place + 1])], mean, (square - mean * mean).sqrt()];
            let found = [found.log_probabilities[place], found.means[place], found.deviations[place]];
            for (found, expected) in found.into_iter().zip(expected) {
                assert!((found - expected).abs() < 1e-4, "{place}: {found} {expected}");
            }
        }
    }
}
