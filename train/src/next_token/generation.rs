//! Answers of an ensemble, drawn token by token.

use super::model::TOKENS;
use super::models::LanguageModels;
use super::plan::{Answering, TokenRecordingPlan};
use super::rows::Rows;
use crate::progress::{TrainingProgress, report};
use crate::seed::{Purpose, stream};
use leakbound::error::Result;
use leakbound::token::NextTokens;
use ndarray::{Array2, ArrayView1};
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Answers behind each prompt; the tokens of a prompt have rows one after the other. Prompts are answered side by side,
/// each with a stream of its own.
pub(super) fn generate(
    models: &LanguageModels,
    answering: &Answering,
    plan: &TokenRecordingPlan,
    (prompts, progress): (Vec<Vec<u8>>, &TrainingProgress<'_>),
    rows: &mut Rows,
) -> Result<()> {
    let (context, seed) = (models.plan.model.context, models.plan.seed);
    let mut texts = prompts;
    let mut streams: Vec<ChaCha8Rng> =
        (0..texts.len() as u64).map(|prompt| stream(seed, Purpose::AnsweredTokens, 0, prompt)).collect();
    for token in 0..answering.length {
        report(progress, 0)?;
        // The last prompt may have fewer answers.
        let row = |prompt: usize| prompt * answering.length + token;
        let open: Vec<usize> = (0..texts.len()).filter(|&prompt| row(prompt) < plan.positions).collect();
        let contexts: Vec<&[u8]> =
            open.iter().map(|&prompt| &texts[prompt][texts[prompt].len().saturating_sub(context)..]).collect();
        let said = models.logits(&contexts, plan.precision)?;
        let places: Vec<usize> = open.iter().map(|&prompt| row(prompt)).collect();
        rows.put(&places, &said);
        let released: Vec<Vec<f64>> = (0..open.len())
            .into_par_iter()
            .map(|place| {
                let position = position(&said, place)?;
                Ok(answering.mechanism.released(&position)?.whole().to_vec())
            })
            .collect::<Result<_>>()?;
        for ((&prompt, &place), probabilities) in open.iter().zip(&places).zip(&released) {
            let byte = drawn(probabilities, &mut streams[prompt]);
            rows.tokens[place] = byte as i64;
            texts[prompt].push(byte as u8);
        }
    }
    Ok(())
}

/// What all models said behind one context.
fn position(said: &[Vec<f32>], place: usize) -> Result<NextTokens> {
    let rows = said.iter().flat_map(|logits| &logits[place * TOKENS..(place + 1) * TOKENS]);
    let all: Vec<f64> = rows.map(|&logit| f64::from(logit)).collect();
    let (public, members) = all.split_at(TOKENS.min(all.len()));
    let members = Array2::from_shape_vec((members.len() / TOKENS, TOKENS), members.to_vec()).unwrap_or_default();
    NextTokens::from_logits(members.view(), Some(ArrayView1::from(public)))
}

/// A token by its probability.
fn drawn(probabilities: &[f64], stream: &mut impl Rng) -> usize {
    let mut left = stream.random::<f64>() * probabilities.iter().sum::<f64>();
    let crossed = probabilities.iter().position(|&probability| {
        left -= probability;
        left < 0.0
    });
    // Rounding may leave a rest behind the last token that is ever given.
    let last = || probabilities.iter().rposition(|&probability| probability > 0.0);
    crossed.or_else(last).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 20,000 draws: each count lies within 5 standard deviations of its mean, but for a probability below 1e-5.
    #[test]
    fn tokens_are_drawn_by_their_probabilities() {
        let probabilities = [0.0, 0.5, 0.0, 0.2, 0.3, 0.0];
        let mut stream = stream(1, Purpose::AnsweredTokens, 0, 0);
        let mut counts = [0f64; 6];
        (0..20_000).for_each(|_| counts[drawn(&probabilities, &mut stream)] += 1.0);
        for (count, probability) in counts.into_iter().zip(probabilities) {
            let mean = 20_000.0 * probability;
            assert!((count - mean).abs() <= 5.0 * (mean * (1.0 - probability)).sqrt(), "{counts:?}");
        }
    }
}
