//! A public model and an ensemble that goes on from it, and the next tokens that they answer.

use super::answers::{answers, loss};
use super::documents::{Documents, Owner};
use super::learner::{Lesson, learn};
use super::model::{ByteTransformer, TOKENS};
use super::plan::NextTokenPlan;
use super::planted::Planted;
use super::positions::{Position, draw, of_planted, places};
use super::texts::Texts;
use crate::device::TrainingDevice;
use crate::guard::guarded;
use crate::progress::TrainingProgress;
use crate::seed::{Purpose, stream};
use leakbound::error::{Error, Result};
use ndarray::{Array1, Array2, Array3, s};
use rayon::prelude::*;

/// Parts of a batch of the public model on a CPU.
const PARTS: usize = 2;

/// Texts, and where and how closely watched models learn them.
#[derive(Clone, Copy)]
pub struct NextTokenTraining<'a> {
    /// What the members learn.
    pub private: &'a Texts,
    /// What the public model learns.
    pub public: &'a Texts,
    /// Where.
    pub device: TrainingDevice,
    /// Progress callback, in steps.
    pub progress: &'a TrainingProgress<'a>,
}

/// Next tokens of an ensemble and of a public model: at places of held-out private text, then at all places of planted
/// sequences.
#[derive(Debug, Clone, PartialEq)]
pub struct NextTokens {
    /// Logits \[position, member, byte\].
    pub logits: Array3<f32>,
    /// Logits \[position, byte\] of the public model.
    pub public_logits: Array2<f32>,
    /// \[position\]: the byte that comes next in the text.
    pub tokens: Array1<i64>,
    /// Planted sequences, if there are any.
    pub planted: Option<PlantedTokens>,
    /// How well the models know held-out text.
    pub losses: TokenLosses,
}

/// Where planted sequences are.
#[derive(Debug, Clone, PartialEq)]
pub struct PlantedTokens {
    /// \[position\]: the sequence, -1 elsewhere.
    pub canary: Array1<i64>,
    /// \[sequence\]: the member that was trained on it.
    pub member: Array1<i64>,
    /// How well the models know the sequences.
    pub losses: PlantedLosses,
}

/// Mean losses on held-out text, in nats for each byte.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenLosses {
    /// Of the public model on private text.
    pub public_on_private: f64,
    /// Of the mean member on private text.
    pub members_on_private: f64,
    /// Of the public model on public text.
    pub public_on_public: f64,
    /// Of the mean member on public text.
    pub members_on_public: f64,
}

/// Mean losses on planted sequences, in nats for each byte.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlantedLosses {
    /// Of the members that were trained on them.
    pub owner: f64,
    /// Of the public model.
    pub public: f64,
}

/// Trains the public model on public documents and each member, from there on, on private documents of its own with the
/// sequences that are planted with it; then asks all of them at places that were fixed before.
///
/// Members are trained side by side on a CPU, each on one thread: the same seed gives the same logits on any number of
/// threads.
///
/// # Errors
/// [`Error::Domain`] and [`Error::Rejected`] for a plan that cannot be followed and a training that diverges,
/// [`Error::Input`] for texts that are too short or both private and public, [`Error::Unavailable`] if libtorch fails,
/// [`Error::Interrupted`] if the callback ends the training.
pub fn record_next_tokens(training: &NextTokenTraining<'_>, plan: &NextTokenPlan) -> Result<NextTokens> {
    plan.check()?;
    let NextTokenTraining { private, public, device: on, progress } = *training;
    private.check_apart(public)?;
    let context = plan.model.context;
    let of_public = Documents::of(public, plan, Owner::Public, 1)?;
    let of_private = Documents::of(private, plan, Owner::Private, plan.members)?;
    let available = places(&of_private.held_out, context);
    if available < plan.positions {
        let found = format!("{available} places with half a context before them in held-out private text");
        let expected = format!("{} positions", plan.positions);
        return Err(private.fault(
            &found,
            &expected,
            "hold out a larger share, give more text, or take fewer positions",
        ));
    }
    let planted = plan.planting.map(|planting| Planted::draw(planting, plan.members, plan.seed)).unwrap_or_default();
    let mut asked = draw(&of_private.held_out, context, plan.positions, (plan.seed, Owner::Private as u64));
    asked.extend(of_planted(&planted, &of_private.held_out, context));
    // Measured, and not recorded.
    let recorded = asked.len();
    asked.extend(draw(&of_public.held_out, context, plan.positions, (plan.seed, Owner::Public as u64)));

    let device = on.tensors();
    let model = guarded("training", || {
        let mut model = ByteTransformer::new(&plan.model, stream(plan.seed, Purpose::Weights, 0, 0), device);
        let parts = if on.is_cuda() { 1 } else { PARTS };
        let &NextTokenPlan { steps, ref schedule, .. } = plan;
        let lesson = Lesson { plan, documents: &of_public.learned, model: 0, steps, schedule, parts, device };
        learn(&mut model, &lesson, progress)?;
        Ok(model)
    })?;
    let of_model = answers(&model, &asked, device)?;
    let member = |(number, (mut documents, mut member)): (usize, (Vec<Vec<u8>>, ByteTransformer))| {
        let repeats = plan.planting.map_or(0, |planting| planting.repeats);
        planted.plant(number, &mut documents, repeats, plan.seed);
        let (steps, schedule) = (plan.member_steps, &plan.member_schedule);
        let (documents, model) = (&documents, 1 + number as u64);
        learn(&mut member, &Lesson { plan, documents, model, steps, schedule, parts: 1, device }, progress)?;
        answers(&member, &asked, device)
    };
    let work: Vec<_> =
        of_private.dealt(plan.members).into_iter().map(|documents| (documents, model.copied())).enumerate().collect();
    let of_members: Vec<Vec<f32>> = if on.is_cuda() {
        work.into_iter().map(member).collect::<Result<_>>()?
    } else {
        work.into_par_iter().map(member).collect::<Result<_>>()?
    };
    arranged(plan, &planted, &asked, recorded, &of_model, &of_members)
}

/// The arrays, and the losses.
fn arranged(
    plan: &NextTokenPlan,
    planted: &Planted,
    asked: &[Position],
    recorded: usize,
    of_model: &[f32],
    of_members: &[Vec<f32>],
) -> Result<NextTokens> {
    let shaped = |error: ndarray::ShapeError| Error::Unavailable { operation: "answers", reason: error.to_string() };
    let rows = Array2::from_shape_vec((asked.len(), TOKENS), of_model.to_vec()).map_err(shaped)?;
    let part = |logits: &[f32], from: usize, to: usize| loss(&logits[from * TOKENS..to * TOKENS], &asked[from..to]);
    let mean = |from, to| of_members.iter().map(|logits| part(logits, from, to)).sum::<f64>() / of_members.len() as f64;
    let (positions, all) = (plan.positions, asked.len());
    let length = plan.planting.map_or(0, |planting| planting.length);
    let planted = plan.planting.map(|planting| {
        let canary = |position: usize| position.checked_sub(positions).map_or(-1, |behind| (behind / length) as i64);
        let of_owner = planted.member.iter().enumerate().map(|(sequence, &member)| {
            let first = positions + sequence * length;
            part(&of_members[member], first, first + length)
        });
        PlantedTokens {
            canary: (0..recorded).map(canary).collect(),
            member: planted.member.iter().map(|&member| member as i64).collect(),
            losses: PlantedLosses {
                owner: of_owner.sum::<f64>() / planting.sequences as f64,
                public: part(of_model, positions, recorded),
            },
        }
    });
    Ok(NextTokens {
        logits: Array3::from_shape_fn((recorded, of_members.len(), TOKENS), |(position, member, byte)| {
            of_members[member][position * TOKENS + byte]
        }),
        public_logits: rows.slice(s![..recorded, ..]).to_owned(),
        tokens: asked[..recorded].iter().map(|position| i64::from(position.token)).collect(),
        planted,
        losses: TokenLosses {
            public_on_private: part(of_model, 0, positions),
            members_on_private: mean(0, positions),
            public_on_public: part(of_model, recorded, all),
            members_on_public: mean(recorded, all),
        },
    })
}
