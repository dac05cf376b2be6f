//! Next tokens of an ensemble and of a public model.

use super::answers::loss;
use super::documents::{Document, Split};
use super::generation::generate;
use super::model::TOKENS;
use super::models::LanguageModels;
use super::plan::{Answering, NextTokenPlan, TokenRecordingPlan};
use super::positions::{Position, draw, of_planted, places};
use super::rows::Rows;
use super::texts::Texts;
use crate::progress::{TrainingProgress, report};
use leakbound::error::{InputError, Result};
use leakbound::token;
use ndarray::{Array1, Array2, Array3, Axis};

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
    /// \[position\]: the byte that was answered, -1 where nothing was; at planted sequences their own byte.
    pub tokens: Array1<i64>,
    /// Planted sequences, if there are any.
    pub planted: Option<PlantedTokens>,
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
    /// Asks all models what comes next. Where the ensemble answers, each prompt is half a context of held-out text, and
    /// the answer is drawn from the distribution that the mechanism makes of the logits as they are recorded.
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
        let mut rows = Rows {
            logits: Array3::zeros((all, trained.members, TOKENS)),
            public: Array2::zeros((all, TOKENS)),
            tokens: Array1::from_elem(all, -1),
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
        let planted = trained.planting.map(|planting| self.planted(&rows, positions, planting.length));
        Ok(NextTokens { logits: rows.logits, public_logits: rows.public, tokens: rows.tokens, planted })
    }

    /// Asks all models at positions, of which the first has the row `first`.
    fn ask(
        &self,
        positions: &[Position],
        first: usize,
        (plan, progress): (&TokenRecordingPlan, &TrainingProgress<'_>),
        rows: &mut Rows,
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
    fn planted(&self, rows: &Rows, positions: usize, length: usize) -> PlantedTokens {
        let member = &self.planted.member;
        let canary = |row: usize| row.checked_sub(positions).map_or(-1, |behind| (behind / length) as i64);
        let (mut owner_loss, mut public_loss) = (0.0, 0.0);
        let all = rows.tokens.len();
        for row in positions..all {
            let byte = rows.tokens[row] as u8;
            let owner = member[(row - positions) / length];
            owner_loss += loss(&rows.logits.index_axis(Axis(0), row).row(owner).to_vec(), byte);
            public_loss += loss(&rows.public.row(row).to_vec(), byte);
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
