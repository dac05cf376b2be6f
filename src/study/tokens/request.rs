//! The request of an audit of tokens, and what cannot be answered.

use super::answer::Contexts;
use super::composed::is_composed;
use super::loss::rejected;
use super::transcript_losses::Simulated;
use crate::bound::Claimed;
use crate::error::Result;
use crate::quantity::{Delta, FailureProbability, Order};
use crate::record::TokenRecording;
use crate::study::bounds::{usual_delta, usual_failure, usual_orders};
use crate::study::claim::{Claims, with_claimed};
use crate::token::{Decoding, EnsembleSize, TokenMechanism, TokenNeighbor, TokenNeighbors};
use std::sync::Arc;

/// Planted sequences times members that are ranked: the distribution of the sum of ranks takes the square of this.
const MOST_RANKS: usize = 100_000;
/// Fewer transcripts are not bounded, because they would show nothing.
const FEWEST: u64 = 100;
/// The most transcripts times ensembles whose losses are kept.
const MOST_LOSSES: u64 = 20_000_000;

/// The leakage of an ensemble of language models by recorded next tokens.
///
/// At each position the distribution of the answer is compared with that of each neighboring ensemble: without a
/// member, or with another model in its place. If contexts do not depend on earlier answers, the sum over positions is
/// D_α of everything that was answered, and ε at δ of up to a thousand answers is enclosed by the convolution of their
/// privacy losses. If they do, the sum is that at the recorded contexts.
///
/// The tokens that were answered bound the leakage of the whole run from below, however contexts were obtained: see
/// [`Rectangle::of_observed_loss`](crate::audit::Rectangle::of_observed_loss). Each neighbor has an equal share of the
/// failure probability, so all of these bounds hold simultaneously. They require that the tokens were drawn from the
/// recorded distributions.
///
/// With fixed contexts, transcripts show more: all positions answered repeatedly, by the ensemble and by each neighbor,
/// recorded or simulated. Their privacy losses are grouped, and the groups are a k-cut whose bounds hold whatever gave
/// the tokens.
///
/// ```
/// # use leakbound::record::{MemoryArray, MemoryBudget, MemoryFile, MemoryFiles, read_tokens};
/// # use leakbound::study::{Contexts, Study, TokensStudy, unwatched};
/// # use leakbound::token::parse_mechanism;
/// # use std::sync::Arc;
/// // One position, two members, two tokens.
/// let logits: Vec<u8> = [2.0f64, 0.0, 0.0, 1.0].iter().flat_map(|logit| logit.to_le_bytes()).collect();
/// let (descriptor, shape) = ("<f8".into(), vec![1, 2, 2]);
/// let array = MemoryArray { descriptor, shape, fortran: false, bytes: Arc::new(logits) };
/// let files = MemoryFiles::from_iter([("logits.npy".into(), MemoryFile::of_array(array))]);
/// let recording = files.provide(|| read_tokens("logits.npy", MemoryBudget::default()))?;
/// let mut study = TokensStudy::new(recording, parse_mechanism("interpolated-tokens:share=0.5")?);
/// study.contexts = Contexts::Fixed;
/// let answer = study.run(&unwatched)?;
/// // ln(0.53743²/0.38447 + 0.46257²/0.61553)
/// assert!((answer.renyi[0].forward.0 - 0.09428).abs() < 1e-5);
/// assert!(answer.accountants[0].answer.0 > answer.accountants[0].largest.0);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Those of the mechanism and of [`Rectangle::of_observed_loss`](crate::audit::Rectangle::of_observed_loss); Mironov (2017), Proposition 1, for the composition.
pub struct TokensStudy {
    /// The answers of the ensemble.
    pub recording: TokenRecording,
    /// How logits are read.
    pub decoding: Decoding,
    /// How a token is drawn.
    pub mechanism: Arc<dyn TokenMechanism>,
    /// Which ensembles are neighbors.
    pub neighbors: TokenNeighbors,
    /// Where contexts come from.
    pub contexts: Contexts,
    /// The orders of Rényi divergences; positions are ranked by the first one.
    pub orders: Vec<Order>,
    /// δ of bounds of ε.
    pub delta: Delta,
    /// The probability that any lower bound is wrong.
    pub failure_probability: FailureProbability,
    /// What is claimed about all answers together.
    pub claims: Claims,
    /// What is claimed about each answer: D_α ≤ a value.
    pub answer_claims: Vec<(Order, Claimed)>,
    /// Number of transcripts to simulate of the ensemble and of each neighbor, to bound the leakage of all answers; if
    /// `None`, the recorded ones are used. Contexts must be fixed.
    pub transcripts: Option<u64>,
    /// The seed of simulated transcripts, and of the choice of the pilot.
    pub seed: u64,
    /// How many of the most leaking positions are listed.
    pub top: usize,
}

impl TokensStudy {
    /// Answers at temperature 1 by this mechanism, compared with the ensembles without a member, in contexts that depend
    /// on earlier answers, at the usual orders, δ and failure probability; without claims.
    #[must_use]
    pub fn new(recording: TokenRecording, mechanism: Arc<dyn TokenMechanism>) -> Self {
        Self {
            recording,
            decoding: Decoding::PLAIN,
            mechanism,
            neighbors: TokenNeighbors::Removed,
            contexts: Contexts::Answered,
            orders: usual_orders(),
            delta: usual_delta(),
            failure_probability: usual_failure(),
            claims: Claims::default(),
            answer_claims: Vec::new(),
            transcripts: None,
            seed: 0,
            top: 10,
        }
    }
}

impl TokensStudy {
    pub(super) fn size(&self) -> EnsembleSize {
        EnsembleSize { members: self.recording.members(), tokens: self.decoding.kept(self.recording.tokens()) }
    }

    pub(super) fn all_neighbors(&self) -> Vec<TokenNeighbor> {
        let each = self.mechanism.kind().models_of_owner;
        self.neighbors.of(self.recording.members() / each, self.recording.spares() / each)
    }

    /// Whether ε of all answers is known from their privacy losses.
    pub(super) fn is_composed(&self) -> bool {
        self.contexts == Contexts::Fixed && is_composed(self.recording.answers(), self.all_neighbors().len())
    }

    /// Transcripts of each ensemble.
    pub(super) fn transcript_count(&self) -> Option<u64> {
        self.transcripts.or_else(|| self.recording.transcripts().map(|[_, count]| count as u64))
    }

    pub(super) fn simulated(&self) -> Option<Simulated> {
        self.transcripts.map(|count| Simulated { count: count as usize, seed: self.seed })
    }

    /// The orders that are asked for, and those of claims.
    pub(super) fn all_orders(&self) -> Vec<Order> {
        with_claimed(&self.orders, self.claims.rdp.iter().chain(&self.answer_claims))
    }

    pub(super) fn check(&self) -> Result<()> {
        self.problem()
            .or_else(|| self.problem_of_transcripts())
            .or_else(|| self.problem_of_claims())
            .map_or(Ok(()), |reason| Err(rejected(&reason)))
    }

    /// What is wrong with the recording for this study.
    fn problem(&self) -> Option<String> {
        if self.orders.is_empty() {
            return Some("no order is given".into());
        }
        let (each, name) = (self.mechanism.kind().models_of_owner, self.mechanism.kind().name);
        if self.mechanism.kind().needs_public && !self.recording.has_public() {
            return Some(format!("{name} needs a public model, and none was recorded"));
        }
        let members = self.recording.members();
        if !members.is_multiple_of(each) {
            return Some(format!("{name} takes {each} models of each owner, and {members} were recorded"));
        }
        let spares = self.recording.spares();
        if self.neighbors == TokenNeighbors::Replaced && (spares == 0 || !spares.is_multiple_of(each)) {
            return Some(format!(
                "members are to be replaced by models that were set aside, and {spares} were recorded; {each} or a multiple \
                 is needed, as `spare_logits` [position, spare, token]"
            ));
        }
        let planted = self.recording.planted().len();
        if planted * members > MOST_RANKS {
            return Some(format!(
                "{planted} planted sequences of {members} members; sequences times members may be {MOST_RANKS} at most"
            ));
        }
        let claims = !self.claims.is_empty() || !self.answer_claims.is_empty();
        (self.recording.answers() == 0 && claims)
            .then(|| "claims are about answers, and every position is one of a planted sequence".into())
    }

    fn problem_of_transcripts(&self) -> Option<String> {
        let count = self.transcript_count()?;
        if self.contexts == Contexts::Answered {
            return Some(
                "transcripts are answers in contexts that were fixed beforehand: say so by `fixed` contexts".into(),
            );
        }
        if self.recording.answers() == 0 {
            return Some("transcripts are of answers, and every position is one of a planted sequence".into());
        }
        let neighbors = self.all_neighbors().len();
        let ensembles = neighbors + 1;
        match self.recording.transcripts() {
            Some(_) if self.transcripts.is_some() => {
                Some("transcripts were recorded; there is nothing to simulate".into())
            }
            Some([recorded, _]) if recorded != ensembles => Some(format!(
                "transcripts of {recorded} ensembles were recorded; {ensembles} are expected, the whole one and {neighbors} \
                 neighbors"
            )),
            Some(_) | None => problem_of_count(count, ensembles),
        }
    }

    fn problem_of_claims(&self) -> Option<String> {
        let silent = !self.recording.has_answers() && self.transcript_count().is_none();
        let composed = |delta: Delta| self.is_composed() && delta == self.delta;
        let of_epsilon = self.claims.epsilon.is_some_and(|(_, delta)| !composed(delta));
        let of_tokens = of_epsilon || self.claims.mu.is_some();
        let of_sums = !self.claims.rdp.is_empty() && self.contexts == Contexts::Answered;
        (silent && (of_tokens || of_sums))
            .then(|| "the claim is tested by the tokens that were answered, and none were recorded".into())
    }

    /// Single bounds are those of the answered tokens, and those of transcripts.
    pub(super) fn failure_of_each(&self) -> FailureProbability {
        let kinds = usize::from(self.recording.has_answers()) + usize::from(self.transcript_count().is_some());
        self.failure_probability.split(kinds.max(1))
    }
}

/// Why this number of transcripts cannot be bounded.
fn problem_of_count(count: u64, ensembles: usize) -> Option<String> {
    if count < FEWEST {
        return Some(format!("{count} transcripts: at least {FEWEST} of each ensemble are needed"));
    }
    (count.saturating_mul(ensembles as u64) > MOST_LOSSES)
        .then(|| format!("{count} transcripts of {ensembles} ensembles; together there may be {MOST_LOSSES} at most"))
}
