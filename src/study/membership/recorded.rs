//! Recorded answers of shadow models, from files or from memory.

use crate::error::{Error, Result};
use crate::membership::{
    MembershipScore, ScoreBlock, ScoredLogits, ShadowEmbeddings, ShadowLogits, ShadowScores, right_answers,
};
use crate::record::ShadowRecording;
use ndarray::{Array2, ArrayView2, Axis, CowArray, Ix4};
use std::ops::Range;

/// The name of a chosen score in messages.
pub(super) const CHOICE: &str = "choice of a score";

/// What shadow models answered, which model was trained on which sample, and what adaptive attacks look at in addition.
#[derive(Clone, Copy)]
pub struct RecordedAnswers<'a> {
    members: ArrayView2<'a, bool>,
    labels: Option<&'a [usize]>,
    answers: Option<Answers<'a>>,
    embeddings: Option<&'a dyn ShadowEmbeddings>,
    neighbors: Option<&'a dyn ShadowLogits>,
}

/// Answers on the samples themselves.
#[derive(Clone, Copy)]
pub(super) enum Answers<'a> {
    /// Logits, from which each attack computes the scores that it needs.
    Logits(&'a dyn ShadowLogits),
    /// Scores; high means member.
    Scores(&'a dyn ShadowScores),
}

/// What an attack looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LooksAt {
    /// The answers on the samples themselves.
    Sample,
    /// The answers at the nearest neighbor of each sample.
    Neighbor,
    /// The encoder's embeddings of views of the samples.
    Encoder,
}

impl<'a> From<&'a ShadowRecording> for RecordedAnswers<'a> {
    fn from(recording: &'a ShadowRecording) -> Self {
        let answers = match recording {
            ShadowRecording::Logits(logits) => Some(Answers::Logits(logits)),
            ShadowRecording::Scores(scores) => Some(Answers::Scores(scores)),
            ShadowRecording::Embeddings(_) => None,
        };
        let embeddings = recording.embeddings().map(|embeddings| embeddings as &dyn ShadowEmbeddings);
        let neighbors = recording.neighbors().map(|neighbors| neighbors as &dyn ShadowLogits);
        Self { members: recording.members(), labels: recording.labels(), answers, embeddings, neighbors }
    }
}

impl<'a> RecordedAnswers<'a> {
    /// Logits, from which each attack computes the scores that it needs.
    pub fn logits(logits: &'a dyn ShadowLogits) -> Self {
        let (members, labels) = (logits.members(), Some(logits.labels()));
        Self { labels, ..Self::of(members) }.answered(Answers::Logits(logits))
    }

    /// Scores, where high means member, and the label of each sample, if known.
    pub fn scores(scores: &'a dyn ShadowScores, labels: Option<&'a [usize]>) -> Self {
        Self { labels, ..Self::of(scores.members()) }.answered(Answers::Scores(scores))
    }

    /// Embeddings alone, and the label of each sample, if known.
    pub fn embeddings(embeddings: &'a dyn ShadowEmbeddings, labels: Option<&'a [usize]>) -> Self {
        Self { labels, embeddings: Some(embeddings), ..Self::of(embeddings.members()) }
    }

    const fn of(members: ArrayView2<'a, bool>) -> Self {
        Self { members, labels: None, answers: None, embeddings: None, neighbors: None }
    }

    const fn answered(self, answers: Answers<'a>) -> Self {
        Self { answers: Some(answers), ..self }
    }

    /// Adds embeddings by the same models of the same samples.
    ///
    /// # Errors
    /// [`Error::Rejected`] if the truth of the two differs.
    pub fn with_embeddings(self, embeddings: &'a dyn ShadowEmbeddings) -> Result<Self> {
        self.check_beside(embeddings.members(), "embeddings with answers")?;
        Ok(Self { embeddings: Some(embeddings), ..self })
    }

    /// Adds logits at the nearest neighbor of each sample, whose labels are those of the samples.
    ///
    /// # Errors
    /// [`Error::Rejected`] if the truth of the two differs.
    pub fn with_neighbors(self, logits: &'a dyn ShadowLogits) -> Result<Self> {
        self.check_beside(logits.members(), "answers at neighbors with answers")?;
        Ok(Self { neighbors: Some(logits), ..self })
    }

    fn check_beside(self, members: ArrayView2<'_, bool>, operation: &'static str) -> Result<()> {
        if self.members == members {
            return Ok(());
        }
        let reason = "they are of other models or samples than the answers".into();
        Err(Error::Rejected { operation, reason })
    }

    /// Whether there is what an attack looks at.
    #[must_use]
    pub fn has(self, looks_at: LooksAt) -> bool {
        match looks_at {
            LooksAt::Sample => self.answers.is_some(),
            LooksAt::Neighbor => self.neighbors.is_some(),
            LooksAt::Encoder => self.embeddings.is_some(),
        }
    }

    /// The truth \[model, sample\].
    pub(super) const fn members(self) -> ArrayView2<'a, bool> {
        self.members
    }

    pub(super) const fn labels(self) -> Option<&'a [usize]> {
        self.labels
    }

    /// The answers on the samples.
    pub(super) fn answers(self) -> Result<Answers<'a>> {
        self.answers.ok_or_else(|| Error::Rejected {
            operation: "attack on the answers on samples",
            reason: "neither logits nor scores are recorded".into(),
        })
    }

    /// The embeddings of an encoder.
    pub(super) fn encoder(self) -> Result<&'a dyn ShadowEmbeddings> {
        self.embeddings.ok_or_else(|| Error::Rejected {
            operation: "attack on an encoder",
            reason: "no embeddings of views are recorded".into(),
        })
    }

    /// The answers at the nearest neighbors, as if they were those on the samples.
    pub(super) fn at_neighbors(self) -> Result<Self> {
        self.neighbors.map(Self::logits).ok_or_else(|| Error::Rejected {
            operation: "attack through neighbors",
            reason: "no answers at the nearest neighbors of the samples are recorded".into(),
        })
    }

    /// Views of a sample in the answers that an attack looks at; 1 if they were not recorded.
    pub(super) fn views(self, looks_at: LooksAt) -> usize {
        let of_answers = |answers| match answers {
            Answers::Logits(logits) => ShadowLogits::views(logits),
            Answers::Scores(scores) => ShadowScores::views(scores),
        };
        match looks_at {
            LooksAt::Sample => self.answers.map_or(1, of_answers),
            LooksAt::Neighbor => self.neighbors.map_or(1, |logits| logits.views()),
            LooksAt::Encoder => self.embeddings.map_or(1, |embeddings| embeddings.views()),
        }
    }

    /// Whether each victim predicts the label of each sample, if logits are recorded.
    pub(super) fn right(self, victims: &[usize], watch: Watch<'_>) -> Result<Option<Array2<bool>>> {
        let Some(Answers::Logits(source)) = self.answers else { return Ok(None) };
        Ok(Some(right_answers(&Watched { source, watch })?.1.select(Axis(0), victims)))
    }
}

/// Called with the number of samples that are read next, from any thread; an error ends the attack.
pub(super) type Watch<'a> = &'a (dyn Fn(u64) -> Result<()> + Sync);

/// The answers that an attack looks at, whose reading is watched.
pub struct WatchedAnswers<'a, 'w> {
    pub(super) answers: RecordedAnswers<'a>,
    pub(super) watch: Watch<'w>,
}

impl<'a> WatchedAnswers<'a, '_> {
    /// The label of each sample, if known.
    #[must_use]
    pub const fn labels(&self) -> Option<&'a [usize]> {
        self.answers.labels
    }

    /// Calls an attack with recorded scores, or with those made of recorded logits: with the score that is wanted, or
    /// with the usual one.
    ///
    /// # Errors
    /// [`Error::Rejected`] if a score is wanted and scores are recorded, or if neither scores nor logits are; those of
    /// the attack.
    pub fn scored<T>(
        &self,
        wanted: Option<MembershipScore>,
        usual: MembershipScore,
        attack: impl FnOnce(&Watched<'_, dyn ShadowScores + '_>) -> Result<T>,
    ) -> Result<T> {
        match self.answers.answers()? {
            Answers::Logits(source) => {
                let logits = Watched { source, watch: self.watch };
                let scores = ScoredLogits::new(&logits, wanted.unwrap_or(usual));
                attack(&Watched { source: &scores, watch: &|_| Ok(()) })
            }
            Answers::Scores(_) if wanted.is_some() => Err(Error::Rejected {
                operation: CHOICE,
                reason: "scores are recorded already; it is for recorded logits".into(),
            }),
            Answers::Scores(source) => attack(&Watched { source, watch: self.watch }),
        }
    }

    /// The logits.
    ///
    /// # Errors
    /// [`Error::Rejected`] in the name of an attack, with its reason, if scores are recorded, and if nothing is.
    pub fn logits(&self, attack: &'static str, reason: &str) -> Result<Watched<'_, dyn ShadowLogits + '_>> {
        match self.answers.answers()? {
            Answers::Logits(source) => Ok(Watched { source, watch: self.watch }),
            Answers::Scores(_) => Err(Error::rejected(attack, reason)),
        }
    }
}

/// Recorded logits or scores whose reading is watched.
pub struct Watched<'a, S: ?Sized> {
    source: &'a S,
    watch: Watch<'a>,
}

impl<S: ShadowLogits + ?Sized> ShadowLogits for Watched<'_, S> {
    fn members(&self) -> ArrayView2<'_, bool> {
        self.source.members()
    }

    fn labels(&self) -> &[usize] {
        self.source.labels()
    }

    fn views(&self) -> usize {
        self.source.views()
    }

    fn classes(&self) -> usize {
        self.source.classes()
    }

    fn logits(&self, samples: Range<usize>) -> Result<CowArray<'_, f64, Ix4>> {
        (self.watch)(samples.len() as u64)?;
        self.source.logits(samples)
    }
}

impl<S: ShadowScores + ?Sized> ShadowScores for Watched<'_, S> {
    fn members(&self) -> ArrayView2<'_, bool> {
        self.source.members()
    }

    fn views(&self) -> usize {
        self.source.views()
    }

    fn block(&self, samples: Range<usize>) -> Result<ScoreBlock<'_>> {
        (self.watch)(samples.len() as u64)?;
        self.source.block(samples)
    }
}
