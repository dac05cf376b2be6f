//! Attacks that infer membership from recorded answers of shadow models, alone and side by side.

mod answer;
mod attack;
mod comparison;
mod defense_findings;
mod defense_rows;
mod defenses;
mod histogram;
mod measures;
mod recorded;
mod rows;
mod warnings;

pub use answer::{MembershipAnswer, VictimModels};
pub use attack::{Attack, ComparedAttack, MembershipAttack, compared_attacks};
pub use comparison::ComparisonStudy;
pub use defense_findings::{ComparedRate, Decision, Finding, FindingRow, RateSource};
pub use defense_rows::{AccuracySpread, AttackRole, BandedRate, DefenseEvaluation, DefenseRoc, DefenseRow};
pub use defenses::{DefenseStudy, DefensesAnswer, StudiedDefense, StudiedRecording};
pub use histogram::ScoreHistogram;
pub use measures::{Levels, Measures};
pub use recorded::{LooksAt, RecordedAnswers, WatchedAnswers};
pub use rows::{CanaryRow, LevelRow, RocCurve, RocLimit, RocSample, SampleCurve, SampleRow, TprRow};

use super::Study;
use super::progress::{Meter, Progress};
use crate::error::Result;

/// How well does an attack infer which samples a model was trained on?
///
/// The attack guesses for every victim and every sample, and its guesses are measured over all samples and sample by
/// sample.
///
/// ```
/// # use leakbound::membership::{LiraPlan, MemoryScores};
/// # use leakbound::study::{Attack, MembershipStudy, RecordedAnswers, Study, unwatched};
/// # use ndarray::{Array2, Array3};
/// // 40 models, 30 samples: members have higher scores.
/// let members = Array2::from_shape_fn((40, 30), |(m, s)| (m + s) % 2 == 0);
/// let scores = Array3::from_shape_fn((40, 30, 1), |(m, s, _)| {
///     f64::from(u8::from((m + s) % 2 == 0)) + ((m * 7 + s * 3) % 10) as f64 / 5.0
/// });
/// let scores = MemoryScores::double(scores, members)?;
/// let attack = Attack::lira(LiraPlan::default(), None);
/// let study = MembershipStudy::new(RecordedAnswers::scores(&scores, None), attack);
/// assert!(study.run(&unwatched)?.levels[0].auc > 0.7);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Clone)]
pub struct MembershipStudy<'a> {
    /// The recorded answers, which are read block by block and more than once.
    pub answers: RecordedAnswers<'a>,
    /// The attack.
    pub attack: Attack,
    /// What is measured of its guesses.
    pub measures: Measures,
}

impl<'a> MembershipStudy<'a> {
    /// With the usual measures.
    #[must_use]
    pub fn new(answers: RecordedAnswers<'a>, attack: Attack) -> Self {
        Self { answers, attack, measures: Measures::default() }
    }
}

impl Study for MembershipStudy<'_> {
    type Answer = MembershipAnswer;

    /// # Errors
    /// Those of the attack and of [`membership_metrics`](crate::membership::membership_metrics), and errors in reading
    /// the answers.
    fn run(&self, progress: &Progress<'_>) -> Result<MembershipAnswer> {
        let Self { answers, attack, measures } = self;
        let (models, samples) = answers.members().dim();
        let victims = attack.list_of_victims(models)?;
        let meter = Meter::new(progress, samples as u64, "samples");
        let watch = |more| meter.add_in_passes(more);
        let guesses = attack.run(*answers, &watch)?;
        let right = answers.right(&victims, &watch)?;
        let metrics = measures.metrics(&guesses, answers.labels(), right.as_ref())?;
        let warnings = warnings::undecided(&guesses, None).into_iter().chain(attack.warning(*answers));
        let models = VictimModels { victims: victims.len(), models, samples, views: answers.views(attack.looks_at()) };
        let found = [(attack.name(), metrics)];
        Ok(MembershipAnswer::new(attack.schema(), attack.words(), models, warnings.collect(), &found))
    }
}
