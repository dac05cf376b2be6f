//! The leakage at one position.

use super::composed::{BothLosses, losses};
use super::loss::{OPERATION, privacy_loss, rejected};
use super::request::TokensStudy;
use super::transcript_losses::{Losses, Simulated, places_of, transcript_losses};
use crate::bound::{AtLeast, Claimed, Direction, Exact};
use crate::error::{Error, Result};
use crate::quantity::Order;
use crate::record::{RecordedPosition, TokenUse};
use crate::token::{Decoded, NextTokens, Released, TokenNeighbors, of_released};
use ndarray::{Array1, Array2, Axis, concatenate};

/// What positions are looked at with.
pub(super) struct Reading<'a> {
    pub(super) study: &'a TokensStudy,
    /// Whether the privacy losses of positions are wanted.
    pub(super) composed: bool,
    pub(super) all_orders: Vec<Order>,
    /// Transcripts that are drawn; recorded ones are read.
    pub(super) simulated: Option<Simulated>,
}

/// What is known about one position.
pub(super) struct PositionLeakage {
    pub(super) position: usize,
    /// \[order\]\[neighbor\]: D_α of both directions.
    pub(super) divergences: Vec<Vec<[f64; 2]>>,
    /// \[neighbor\], if they are wanted.
    pub(super) losses: Vec<BothLosses>,
    /// Of the answered token.
    pub(super) answered: Option<AnsweredToken>,
    /// \[neighbor\], if there are transcripts.
    pub(super) transcripts: Vec<Losses>,
}

/// What is known about the token that was answered.
pub(super) struct AnsweredToken {
    pub(super) token: usize,
    /// \[neighbor\]: ln of the probability that the ensemble answers so over that of the neighbor.
    pub(super) losses: Vec<f64>,
}

/// What a position shows.
pub(super) enum Shown {
    Answer(PositionLeakage),
    /// \[member\]: ln of the probability that the member gives the token of a planted sequence.
    Planted {
        sequence: usize,
        likelihoods: Vec<f64>,
    },
}

impl Reading<'_> {
    /// What a position shows.
    pub(super) fn shown(&self, index: usize) -> Result<Shown> {
        let recorded = self.study.recording.position(index)?;
        self.shown_of(index, recorded).map_err(|error| at_position(index, &error))
    }

    fn shown_of(&self, index: usize, recorded: RecordedPosition) -> Result<Shown> {
        let answered = match self.study.recording.uses()[index] {
            TokenUse::Answer(token) => token,
            TokenUse::Planted { sequence, token } => {
                // Of all tokens: a choice of them is a part of the mechanism.
                let position = NextTokens::from_logits(recorded.members, None)?;
                let likelihoods = (0..position.members()).map(|member| position.member(member)[token].ln()).collect();
                return Ok(Shown::Planted { sequence, likelihoods });
            }
        };
        let RecordedPosition { members, spares, public, transcripts: recorded_again } = recorded;
        let decoded = self.decoded(members, spares, public)?;
        let released = self.study.neighbors.released(&*self.study.mechanism, &decoded.position)?;
        let mut divergences = vec![vec![[0.0; 2]; released.neighbors().len()]; self.all_orders.len()];
        for one in of_released(&released, &self.all_orders) {
            let order = self.all_orders.iter().position(|order| *order == one.order).unwrap_or_default();
            let side = usize::from(one.direction == Direction::Reverse);
            divergences[order][one.neighbor][side] = one.value;
        }
        let answered = answered.map(|token| answer(token, &decoded, &released)).transpose()?;
        let losses = if self.composed { losses(&released) } else { Vec::new() };
        let places = match (self.simulated, &recorded_again) {
            (Some(simulated), _) => Some(simulated.places(index, &released)?),
            (None, Some(tokens)) => Some(places_of(tokens, &decoded)?),
            (None, None) => None,
        };
        let transcripts = places.map(|places| transcript_losses(&places, &released)).transpose()?;
        let transcripts = transcripts.unwrap_or_default();
        Ok(Shown::Answer(PositionLeakage { position: index, divergences, losses, answered, transcripts }))
    }

    /// The input of the mechanism; reserve models are set aside.
    fn decoded(
        &self,
        members: Array2<f64>,
        spares: Option<Array2<f64>>,
        public: Option<Array1<f64>>,
    ) -> Result<Decoded> {
        let public = public.as_ref().map(|public| public.view());
        let Some(spares) = spares.filter(|_| self.study.neighbors == TokenNeighbors::Replaced) else {
            return self.study.decoding.position(members, public);
        };
        let shaped = |error: ndarray::ShapeError| Error::Rejected { operation: OPERATION, reason: error.to_string() };
        let models = concatenate(Axis(0), &[members.view(), spares.view()]).map_err(shaped)?;
        let Decoded { position, kept } = self.study.decoding.position(models, public)?;
        Ok(Decoded { position: position.setting_aside(spares.nrows())?, kept })
    }
}

/// The same error with its place.
fn at_position(index: usize, error: &Error) -> Error {
    let what =
        if let Error::Rejected { operation: OPERATION, reason } = error { reason.clone() } else { error.to_string() };
    Error::rejected(OPERATION, format_args!("position {index}: {what}"))
}

fn answer(token: usize, decoded: &Decoded, released: &Released) -> Result<AnsweredToken> {
    let rejected = |why: &str| rejected(&format!("token {token} was answered, {why}"));
    let place = decoded
        .place_of(token)
        .ok_or_else(|| rejected("and is not among the likeliest tokens of the public model that may be given"))?;
    let whole = released.whole()[place];
    if !(whole > 0.0) {
        return Err(rejected("and has probability 0: this mechanism did not give it"));
    }
    let losses = released.neighbors().map(|other| privacy_loss(whole, other[place]));
    Ok(AnsweredToken { token, losses: losses.collect() })
}

/// The lower end of an exact value of tokens: their probabilities come from logits, by sums over all tokens.
pub(super) fn certain(value: f64) -> AtLeast {
    Exact { value, error: 1e-9 * value + 1e-12 }.at_least()
}

/// Whether an exact value is above a limit by more than rounding.
pub(super) fn is_above(exact: f64, limit: f64) -> bool {
    Claimed::new(limit).is_ok_and(|limit| certain(exact).refutes(limit))
}
