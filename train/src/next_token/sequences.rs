//! What models predict for sequences of documents, from which membership is inferred.

use super::answers::{Said, said};
use super::documents::Document;
use super::models::LanguageModels;
use crate::checks::reject;
use crate::guard::TrainingProgress;
use crate::seed::{Purpose, stream};
use leakbound::error::Result;
use ndarray::Array2;
use rand::seq::index::sample;

/// How much of the documents is queried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequencePlan {
    /// The most documents of each member, and held out.
    pub documents: usize,
    /// The most sequences of a document: windows of a context and a byte that do not overlap.
    pub sequences: usize,
}

/// What two models predict for a sequence: ln p in nats of each byte except the first, which is only context.
#[derive(Debug, Clone, PartialEq)]
pub struct TextSequence {
    /// The document.
    pub document: String,
    /// Whether the target was trained on the document.
    pub member: bool,
    /// All bytes.
    pub text: Vec<u8>,
    /// ln p of each byte under the target.
    pub log_probabilities: Vec<f64>,
    /// Σ p ln p of the distributions that predicted them.
    pub means: Vec<f64>,
    /// Standard deviations of ln p under them, of variances of at least 1e-6.
    pub deviations: Vec<f64>,
    /// ln p of each byte under the public model.
    pub reference: Vec<f64>,
}

/// Scores of documents under every member, as the likelihood-ratio attack reads them.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberScores {
    /// Mean ln p of a byte \[member, document\], in nats.
    pub scores: Array2<f64>,
    /// Whether the member was trained on the document \[member, document\].
    pub keep: Array2<bool>,
}

/// Mean losses of a byte, in nats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenLosses {
    /// Of the public model on documents held out.
    pub public_on_held_out: f64,
    /// Of the mean member on documents held out.
    pub members_on_held_out: f64,
    /// Of the mean member on its own documents.
    pub members_on_own: f64,
}

/// Windows of one document.
struct Windows<'a> {
    document: &'a Document,
    /// The member that was trained on it.
    owner: Option<usize>,
    windows: Vec<&'a [u8]>,
}

impl LanguageModels {
    /// What the target and the public model predict for the target's documents, which it was trained on, and for
    /// held-out documents, which no model was trained on.
    ///
    /// # Errors
    /// [`Error::Rejected`](leakbound::Error::Rejected) if there is no such member,
    /// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails,
    /// [`Error::Interrupted`](leakbound::Error::Interrupted) if the callback ends the work.
    pub fn text_sequences(
        &self,
        plan: SequencePlan,
        target: usize,
        progress: &TrainingProgress<'_>,
    ) -> Result<Vec<TextSequence>> {
        self.check_target(target)?;
        let documents = self.windows(plan, &[Some(target), None]);
        let mut models = self.each_said(&documents, progress)?;
        let (of_target, of_public) = (models.swap_remove(1 + target), models.swap_remove(0));
        let texts = documents.iter().flat_map(|windows| windows.windows.iter().map(move |text| (windows, text)));
        let sequence = |(((windows, text), said), reference): (((&Windows<'_>, &&[u8]), Said), Said)| TextSequence {
            document: windows.document.name.clone(),
            member: windows.owner.is_some(),
            text: text.to_vec(),
            log_probabilities: said.log_probabilities,
            means: said.means,
            deviations: said.deviations,
            reference: reference.log_probabilities,
        };
        Ok(texts.zip(of_target).zip(of_public).map(sequence).collect())
    }

    /// Rejects a member that there is not.
    fn check_target(&self, target: usize) -> Result<()> {
        let members = self.plan.members;
        if target < members {
            return Ok(());
        }
        let reason = format!("no member {target}; members are 0 to {}", members - 1);
        reject("target", reason)
    }

    /// Scores of documents of all members and of documents held out, under every member.
    ///
    /// # Errors
    /// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails,
    /// [`Error::Interrupted`](leakbound::Error::Interrupted) if the callback ends the work.
    pub fn member_scores(&self, plan: SequencePlan, progress: &TrainingProgress<'_>) -> Result<MemberScores> {
        let members = self.plan.members;
        let owners: Vec<Option<usize>> = (0..members).map(Some).chain([None]).collect();
        let documents = self.windows(plan, &owners);
        let models = self.each_said(&documents, progress)?;
        let mut scores = Array2::zeros((members, documents.len()));
        for (member, said) in models[1..].iter().enumerate() {
            let mut said = said.iter();
            for (place, document) in documents.iter().enumerate() {
                scores[[member, place]] = -loss(said.by_ref().take(document.windows.len()));
            }
        }
        let keep = Array2::from_shape_fn(scores.dim(), |(member, place)| documents[place].owner == Some(member));
        Ok(MemberScores { scores, keep })
    }

    /// How well the models know documents.
    ///
    /// # Errors
    /// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails,
    /// [`Error::Interrupted`](leakbound::Error::Interrupted) if the callback ends the work.
    pub fn losses(&self, plan: SequencePlan, progress: &TrainingProgress<'_>) -> Result<TokenLosses> {
        let members = self.plan.members;
        let owners: Vec<Option<usize>> = [None].into_iter().chain((0..members).map(Some)).collect();
        let documents = self.windows(plan, &owners);
        let owner: Vec<Option<usize>> =
            documents.iter().flat_map(|document| document.windows.iter().map(|_| document.owner)).collect();
        let models = self.each_said(&documents, progress)?;
        let of = |model: usize, wanted: Option<usize>| {
            loss(models[model].iter().zip(&owner).filter(|(_, owner)| **owner == wanted).map(|(said, _)| said))
        };
        let mean = |of_member: &dyn Fn(usize) -> f64| (0..members).map(of_member).sum::<f64>() / members as f64;
        Ok(TokenLosses {
            public_on_held_out: of(0, None),
            members_on_held_out: mean(&|member| of(1 + member, None)),
            members_on_own: mean(&|member| of(1 + member, Some(member))),
        })
    }

    /// What the public model and each member predict for the windows of documents, one document after the other.
    fn each_said(&self, documents: &[Windows<'_>], progress: &TrainingProgress<'_>) -> Result<Vec<Vec<Said>>> {
        let windows: Vec<&[u8]> = documents.iter().flat_map(|document| document.windows.iter().copied()).collect();
        self.each(|model, device| said(model, &windows, device, progress))
    }

    /// Windows of documents of these owners; none is that of documents held out.
    fn windows(&self, plan: SequencePlan, owners: &[Option<usize>]) -> Vec<Windows<'_>> {
        let length = self.plan.model.context + 1;
        let of_owner = |&owner: &Option<usize>| {
            let documents = owner.map_or(&self.split.held_out, |member| &self.split.members[member]);
            documents.iter().enumerate().take(plan.documents).map(move |(number, document)| {
                let whole = document.bytes.len() / length;
                // Held out first, then one group of streams for each member.
                let group = owner.map_or(0, |member| 1 + member as u64);
                let mut stream = stream(self.plan.seed, Purpose::TextSequences, group, number as u64);
                let mut chosen = sample(&mut stream, whole, plan.sequences.min(whole)).into_vec();
                chosen.sort_unstable();
                let window = |place: usize| &document.bytes[place * length..(place + 1) * length];
                Windows { document, owner, windows: chosen.into_iter().map(window).collect() }
            })
        };
        owners.iter().flat_map(of_owner).collect()
    }
}

/// The mean loss of a byte.
fn loss<'a>(said: impl Iterator<Item = &'a Said>) -> f64 {
    let (mut sum, mut bytes) = (0.0, 0);
    for said in said {
        sum -= said.log_probabilities.iter().sum::<f64>();
        bytes += said.log_probabilities.len();
    }
    sum / bytes as f64
}
