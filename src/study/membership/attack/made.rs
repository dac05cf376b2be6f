//! What an attack is, and what an attack looks at.

use crate::error::{Error, Result};
use crate::membership::{Guesses, MembershipScore, ScoredEmbeddings, Victims, ViewPairs};
use crate::study::Warning;
use crate::study::membership::recorded::{Answers, CHOICE, LooksAt, RecordedAnswers, Watch, WatchedAnswers};
use std::fmt;
use std::sync::Arc;

/// An attack with its settings.
///
/// A score is what the attack makes of recorded logits; without one it takes the score that suits it best. Recorded
/// scores are used as they are, and asking for another one is an error.
pub trait MembershipAttack: fmt::Debug + Send + Sync {
    /// Its name in the rows of an answer.
    fn name(&self) -> &'static str;

    /// The name of the JSON schema of its answer.
    fn schema(&self) -> &'static str;

    /// Its name for a reader.
    fn words(&self) -> String;

    /// The models that are attacked; none if every model is a victim whatever the settings.
    fn victims(&self) -> Option<&Victims> {
        None
    }

    /// The score of logits that was asked for.
    fn score(&self) -> Option<MembershipScore> {
        None
    }

    /// Whether its score is a confidence, so that one outside of \[0, 1\] is a fault.
    fn is_of_confidences(&self) -> bool {
        false
    }

    /// The input, if the attack needs more than a score, with the name of the input in errors. Fed with recorded
    /// scores, it would not be the attack of this name.
    fn wants(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// A warning for this number of models and views; `name` includes what the attack looks at.
    fn warning(&self, _name: &str, _models: usize, _views: usize) -> Option<Warning> {
        None
    }

    /// Guesses for every victim and sample. The answers may be read more than once.
    ///
    /// # Errors
    /// Those of the attack, and [`Error::Rejected`] for answers that it cannot use.
    fn guesses(&self, answers: &WatchedAnswers<'_, '_>) -> Result<Guesses>;
}

/// An attack, and the answers that it looks at.
#[derive(Debug, Clone)]
pub struct Attack {
    made: Arc<dyn MembershipAttack>,
    on: On,
}

/// What an attack looks at.
#[derive(Debug, Clone, Copy)]
enum On {
    Samples,
    Neighbors,
    Encoder(ViewPairs),
}

impl Attack {
    /// On the answers on the samples themselves.
    pub fn new(attack: impl MembershipAttack + 'static) -> Self {
        Self { made: Arc::new(attack), on: On::Samples }
    }

    /// The same attack on the answers at the nearest neighbor of each sample with the label of the sample. It needs
    /// those logits.
    ///
    /// A defense such as SELENA answers on a training sample like a model that never saw it, and on a near-duplicate of
    /// the sample like one that did.
    #[must_use]
    pub fn at_neighbors(self) -> Self {
        Self { on: On::Neighbors, ..self }
    }

    /// The same attack on the similarity of an encoder's embeddings of the views of a sample ([`ScoredEmbeddings`]). It
    /// needs embeddings and an attack that takes any score, not only confidences or correct answers.
    #[must_use]
    pub fn on_encoder(self, pairs: ViewPairs) -> Self {
        Self { on: On::Encoder(pairs), ..self }
    }

    /// Its name in the rows of an answer.
    #[must_use]
    pub fn name(&self) -> String {
        let name = self.made.name();
        match self.on {
            On::Samples => name.into(),
            On::Neighbors => format!("neighbor-{name}"),
            On::Encoder(_) => format!("encoder-{name}"),
        }
    }

    /// What the attack looks at.
    #[must_use]
    pub const fn looks_at(&self) -> LooksAt {
        match self.on {
            On::Samples => LooksAt::Sample,
            On::Neighbors => LooksAt::Neighbor,
            On::Encoder(_) => LooksAt::Encoder,
        }
    }

    /// Whether it is made on confidences of the samples.
    #[must_use]
    pub fn is_of_confidences(&self) -> bool {
        self.looks_at() == LooksAt::Sample && self.made.is_of_confidences()
    }

    pub(in crate::study::membership) fn schema(&self) -> &'static str {
        self.made.schema()
    }

    pub(in crate::study::membership) fn words(&self) -> String {
        let words = self.made.words();
        match self.on {
            On::Samples => words,
            On::Neighbors => format!("{words} on nearest neighbors"),
            On::Encoder(_) => format!("{words} on the encoder's views"),
        }
    }

    pub(in crate::study::membership) fn victims(&self) -> Option<&Victims> {
        self.made.victims()
    }

    /// The indices of the victims among this number of models.
    pub(in crate::study::membership) fn list_of_victims(&self, models: usize) -> Result<Vec<usize>> {
        match self.victims() {
            Some(victims @ Victims::HeldOut(_)) => victims.list(models),
            // Whether the other models are enough is for the attack to decide: a threshold needs none.
            Some(Victims::LeaveOneOut) | None => Ok((0..models).collect()),
        }
    }

    /// Guesses for every victim and sample.
    pub(in crate::study::membership) fn run(&self, answers: RecordedAnswers<'_>, watch: Watch<'_>) -> Result<Guesses> {
        match self.on {
            On::Samples => self.made.guesses(&WatchedAnswers { answers, watch }),
            On::Neighbors => self.made.guesses(&WatchedAnswers { answers: answers.at_neighbors()?, watch }),
            On::Encoder(pairs) => {
                self.check_takes_any_score()?;
                let scores = ScoredEmbeddings::new(answers.encoder()?, pairs)?;
                let answers = RecordedAnswers::scores(&scores, answers.labels());
                self.made.guesses(&WatchedAnswers { answers, watch })
            }
        }
    }

    /// Rejects an attack that cannot be made on the similarity of views.
    fn check_takes_any_score(&self) -> Result<()> {
        let of_its_own = if self.made.is_of_confidences() {
            Some(("RMIA", "confidences"))
        } else if self.made.score().is_some() {
            Some((CHOICE, "logits"))
        } else {
            self.made.wants()
        };
        of_its_own.map_or(Ok(()), |(operation, wants)| {
            let reason = format!("it looks at {wants}, and the score of an encoder is the similarity of its views");
            Err(Error::Rejected { operation, reason })
        })
    }

    /// Rejects recorded scores that could be fed to the attack, which would not be the attack of this name then.
    pub(in crate::study::membership) fn check_fed(&self, answers: RecordedAnswers<'_>) -> Result<()> {
        let looks_at_scores = self.looks_at() == LooksAt::Sample && matches!(answers.answers(), Ok(Answers::Scores(_)));
        self.made.wants().filter(|_| looks_at_scores).map_or(Ok(()), |(operation, wants)| {
            Err(Error::Rejected { operation, reason: format!("it looks at {wants}, and scores are recorded") })
        })
    }

    /// What a reader must know besides the rates.
    pub(in crate::study::membership) fn warning(&self, answers: RecordedAnswers<'_>) -> Option<Warning> {
        self.made.warning(&self.name(), answers.members().nrows(), answers.views(self.looks_at()))
    }
}

/// An attack as it runs in a comparison, with the defaults of its command.
#[derive(Debug, Clone, Copy)]
pub struct ComparedAttack {
    /// Its name.
    pub name: &'static str,
    /// What the attack is.
    pub about: &'static str,
    /// The attack on these victims, with this seed.
    pub build: fn(&Victims, u64) -> Attack,
}
