//! Next tokens of an ensemble and of a public model, at fixed places of texts and in answers drawn token by token.

use super::answers::loss;
use super::documents::{Document, Split};
use super::model::TOKENS;
use super::models::LanguageModels;
use super::plan::{Answering, NextTokenPlan, TokenRecordingPlan};
use super::planted::{MARK, Planted};
use super::texts::Texts;
use crate::guard::{TrainingProgress, report};
use crate::seed::{Purpose, stream};
use leakbound::error::{InputError, Result};
use leakbound::token;
use ndarray::{Array1, Array2, Array3, ArrayView1, Axis};
use rand::seq::index::sample;
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Positions that all models are asked about before the callback is.
const AT_ONCE: usize = 256;

/// Next tokens of an ensemble and of a public model: at answers or places of held-out text, then at all places of
/// planted sequences.
#[derive(Debug, Clone, PartialEq)]
pub struct NextTokens {
    /// Logits \[position, member, byte\].
    pub logits: Array3<f32>,
    /// Logits \[position, byte\] of the public model.
    pub public_logits: Array2<f32>,
    /// \[position\]: the byte that was answered, -1 if none was; at planted sequences their own byte.
    pub tokens: Array1<i64>,
    /// Planted sequences, if there are any.
    pub planted: Option<PlantedTokens>,
}

impl NextTokens {
    /// Puts what the models predicted after some contexts into these rows.
    fn put(&mut self, rows: &[usize], said: &[Vec<f32>]) {
        for (place, &row) in rows.iter().enumerate() {
            let part = |logits: &[f32]| Array1::from(logits[place * TOKENS..(place + 1) * TOKENS].to_vec());
            if let Some((public, members)) = said.split_first() {
                self.public_logits.row_mut(row).assign(&part(public));
                for (member, logits) in members.iter().enumerate() {
                    self.logits.index_axis_mut(Axis(0), row).row_mut(member).assign(&part(logits));
                }
            }
        }
    }
}

/// Where planted sequences are.
#[derive(Debug, Clone, PartialEq)]
pub struct PlantedTokens {
    /// \[position\]: the sequence, -1 elsewhere.
    pub canary: Array1<i64>,
    /// \[sequence\]: the member that was trained on it.
    pub member: Array1<i64>,
    /// Mean loss of the member that was trained on a sequence, in nats for each byte.
    pub owner_loss: f64,
    /// Mean loss of the public model on the sequences.
    pub public_loss: f64,
}

/// Rejects, before anything is trained, what [`LanguageModels::next_tokens`] would reject afterwards.
///
/// # Errors
/// Those of [`train_language_models`](super::train_language_models) and of [`LanguageModels::next_tokens`] that depend
/// on texts and plans alone.
pub fn check_next_tokens(
    private: &Texts,
    public: Option<&Texts>,
    plan: &NextTokenPlan,
    recorded: &TokenRecordingPlan,
) -> Result<()> {
    plan.check()?;
    let split = Split::of(private, public, plan)?;
    check_places(&split.held_out, plan.model.context, recorded.places()?)?;
    if let Some(Answering { mechanism, .. }) = &recorded.answering {
        let unknown = Array2::zeros((1 + plan.members, TOKENS));
        let position = token::NextTokens::from_logits(unknown.slice_axis(Axis(0), (1..).into()), Some(unknown.row(0)))?;
        mechanism.released(&position)?;
    }
    Ok(())
}

impl LanguageModels {
    /// Asks all models for the next byte. If the ensemble answers, each prompt is half a context of held-out text, and
    /// the answer is drawn from the distribution that the mechanism makes from the recorded logits.
    ///
    /// # Errors
    /// [`Error::Domain`](leakbound::Error::Domain) for a count of 0, [`Error::Input`](leakbound::Error::Input) for too
    /// little text held out, [`Error::Rejected`](leakbound::Error::Rejected) for a mechanism that rejects the ensemble,
    /// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails,
    /// [`Error::Interrupted`](leakbound::Error::Interrupted) if the callback, which counts nothing, ends the work.
    pub fn next_tokens(&self, plan: &TokenRecordingPlan, progress: &TrainingProgress<'_>) -> Result<NextTokens> {
        let Self { plan: trained, split, planted, .. } = self;
        let (context, positions) = (trained.model.context, plan.positions);
        let wanted = plan.places()?;
        check_places(&split.held_out, context, wanted)?;
        let chosen = draw(&split.held_out, context, wanted, trained.seed);
        let asked = of_planted(planted, &split.held_out, context);
        let all = positions + asked.len();
        let mut rows = NextTokens {
            logits: Array3::zeros((all, trained.members, TOKENS)),
            public_logits: Array2::zeros((all, TOKENS)),
            tokens: Array1::from_elem(all, -1),
            planted: None,
        };
        match &plan.answering {
            Some(answering) => {
                let halves = chosen.into_iter().map(|position| {
                    let start = position.context.len().saturating_sub(context / 2);
                    position.context[start..].to_vec()
                });
                generate(self, answering, plan, (halves.collect(), progress), &mut rows)?;
            }
            None => self.ask(&chosen, 0, (plan, progress), &mut rows)?,
        }
        self.ask(&asked, positions, (plan, progress), &mut rows)?;
        for (row, position) in (positions..).zip(&asked) {
            rows.tokens[row] = i64::from(position.token);
        }
        rows.planted = trained.planting.map(|planting| self.planted(&rows, positions, planting.length));
        Ok(rows)
    }

    /// Asks all models at positions; the first has the row `first`.
    fn ask(
        &self,
        positions: &[Position],
        first: usize,
        (plan, progress): (&TokenRecordingPlan, &TrainingProgress<'_>),
        rows: &mut NextTokens,
    ) -> Result<()> {
        for (part, positions) in positions.chunks(AT_ONCE).enumerate() {
            report(progress, 0)?;
            let contexts: Vec<&[u8]> = positions.iter().map(|position| position.context.as_slice()).collect();
            let start = first + part * AT_ONCE;
            let places: Vec<usize> = (start..start + positions.len()).collect();
            rows.put(&places, &self.logits(&contexts, plan.precision)?);
        }
        Ok(())
    }

    /// Where the planted sequences are, and how well they are known.
    fn planted(&self, rows: &NextTokens, positions: usize, length: usize) -> PlantedTokens {
        let member = &self.planted.member;
        let canary = |row: usize| row.checked_sub(positions).map_or(-1, |behind| (behind / length) as i64);
        let (mut owner_loss, mut public_loss) = (0.0, 0.0);
        let all = rows.tokens.len();
        for row in positions..all {
            let byte = rows.tokens[row] as u8;
            let owner = member[(row - positions) / length];
            owner_loss += loss(&rows.logits.index_axis(Axis(0), row).row(owner).to_vec(), byte);
            public_loss += loss(&rows.public_logits.row(row).to_vec(), byte);
        }
        let count = (all - positions) as f64;
        PlantedTokens {
            canary: (0..all).map(canary).collect(),
            member: member.iter().map(|&member| member as i64).collect(),
            owner_loss: owner_loss / count,
            public_loss: public_loss / count,
        }
    }
}

/// Rejects fewer places than are wanted.
fn check_places(held_out: &[Document], context: usize, wanted: usize) -> Result<()> {
    let available = places(held_out, context);
    if available >= wanted {
        return Ok(());
    }
    let first = held_out.first().map_or("texts", |document| document.name.as_str());
    Err(InputError {
        file: first.into(),
        place: format!("this and {} more documents held out", held_out.len().saturating_sub(1)),
        found: format!("{available} places with half a context before them"),
        expected: format!("{wanted} positions or prompts"),
        hint: Some("hold out a larger share, give more text, or take fewer positions".into()),
    }
    .into())
}

/// Answers after each prompt; the tokens of a prompt have rows one after the other. Prompts are answered side by side,
/// each with its own stream.
fn generate(
    models: &LanguageModels,
    answering: &Answering,
    plan: &TokenRecordingPlan,
    (prompts, progress): (Vec<Vec<u8>>, &TrainingProgress<'_>),
    rows: &mut NextTokens,
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

/// What all models predicted after one context.
fn position(said: &[Vec<f32>], place: usize) -> Result<token::NextTokens> {
    let rows = said.iter().flat_map(|logits| &logits[place * TOKENS..(place + 1) * TOKENS]);
    let all: Vec<f64> = rows.map(|&logit| f64::from(logit)).collect();
    let (public, members) = all.split_at(TOKENS.min(all.len()));
    let members = Array2::from_shape_vec((members.len() / TOKENS, TOKENS), members.to_vec()).unwrap_or_default();
    token::NextTokens::from_logits(members.view(), Some(ArrayView1::from(public)))
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

/// A place in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Position {
    /// The bytes before it that a model sees.
    pub context: Vec<u8>,
    /// The byte that comes next.
    pub token: u8,
}

impl Position {
    fn at(text: &[u8], place: usize, context: usize) -> Self {
        Self { context: text[place.saturating_sub(context)..place].to_vec(), token: text[place] }
    }
}

/// Places in documents at which half a context is given at least: how many there are.
fn places(documents: &[Document], context: usize) -> usize {
    documents.iter().map(|document| document.bytes.len().saturating_sub(context / 2)).sum()
}

/// Random places in documents, `count` of those that [`places`] counts, or all if these are fewer; in their order.
fn draw(documents: &[Document], context: usize, count: usize, seed: u64) -> Vec<Position> {
    // Where the places of each document end among all: all of them would take many times the room of the text.
    let mut all = 0;
    let count_of = |document: &Document| {
        all += document.bytes.len().saturating_sub(context / 2);
        all
    };
    let ends: Vec<usize> = documents.iter().map(count_of).collect();
    let mut stream = stream(seed, Purpose::TokenPositions, 0, 0);
    let mut chosen = sample(&mut stream, all, count.min(all)).into_vec();
    chosen.sort_unstable();
    let position = |place: usize| {
        let document = ends.partition_point(|&end| end <= place);
        let first = document.checked_sub(1).map_or(0, |before| ends[before]);
        Position::at(&documents[document].bytes, context / 2 + place - first, context)
    };
    chosen.into_iter().map(position).collect()
}

/// Every place of planted sequences, each behind half a context of a held-out document and a new line.
fn of_planted(planted: &Planted, held_out: &[Document], context: usize) -> Vec<Position> {
    let mut positions = Vec::new();
    for (sequence, document) in planted.sequences.iter().zip(held_out.iter().cycle()) {
        let mut text = document.bytes[..document.bytes.len().min(context / 2)].to_vec();
        text.push(MARK);
        let start = text.len();
        text.extend(sequence);
        positions.extend((start..text.len()).map(|place| Position::at(&text, place, context)));
    }
    positions
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

    fn document(text: &str) -> Document {
        Document { name: String::new(), bytes: text.into() }
    }

    #[test]
    fn places_are_in_order_and_have_the_text_before_them() {
        let documents = ["0123456789", "abcde"].map(document);
        assert_eq!(places(&documents, 4), 8 + 3);
        let all = draw(&documents, 4, 100, 1);
        assert_eq!(all.len(), 11);
        assert_eq!(all[0], Position { context: b"01".to_vec(), token: b'2' });
        assert_eq!(all[7], Position { context: b"5678".to_vec(), token: b'9' });
        assert_eq!(all[8], Position { context: b"ab".to_vec(), token: b'c' });
        let some = draw(&documents, 4, 5, 1);
        let place = |position: &Position| all.iter().position(|other| other == position).unwrap();
        assert!(some.len() == 5 && some.windows(2).all(|pair| place(&pair[0]) < place(&pair[1])));
    }

    #[test]
    fn a_planted_sequence_is_asked_for_letter_by_letter() {
        let planted = Planted { sequences: vec![b"XY".to_vec(), b"ZW".to_vec()], member: vec![0, 1] };
        let found = of_planted(&planted, &[document("0123456789")], 6);
        let expected = [("012\n", 'X'), ("012\nX", 'Y'), ("012\n", 'Z'), ("012\nZ", 'W')];
        let found: Vec<(String, char)> = found
            .into_iter()
            .map(|position| (String::from_utf8(position.context).unwrap(), position.token.into()))
            .collect();
        assert_eq!(found, expected.map(|(context, token)| (context.to_owned(), token)));
    }
}
