//! Questions and their answers: each study is a typed request with its defaults that is run to a typed result.
//!
//! A [`Study`] holds everything that its answer depends on. Its [`Answer`] serializes to the documented JSON and
//! carries its claims and warnings; composition, claims and checks that no two figures of an answer contradict each
//! other belong to the study, so that the command, Python and Rust programs get the same numbers and the same caveats.

/// Implements `Answer` for a type with its schema and those of the fields `claims`, `warnings` and `seed` that it has.
macro_rules! answer {
    (@claims $self:ident $claims:expr) => {
        fn claims(&$self) -> &[$crate::study::Claim] {
            &$claims
        }
    };
    (@warnings $self:ident $warnings:expr) => {
        fn warnings(&$self) -> &[$crate::study::Warning] {
            &$warnings
        }
    };
    (@seed $self:ident $seed:expr) => {
        fn seed(&$self) -> Option<u64> {
            Some($seed)
        }
    };
    (@verdict $self:ident $verdict:expr) => {
        fn verdict(&$self) -> $crate::study::Verdict {
            $verdict
        }
    };
    ($answer:ident, $schema:expr, $($field:ident),*) => {
        answer!($answer, $schema, |self| $($field: self.$field),*);
    };
    ($answer:ident, $schema:expr, |$self:ident| $($field:ident: $value:expr),*) => {
        impl $crate::study::Answer for $answer {
            const SCHEMA: &'static str = $schema;

            $(answer!(@$field $self $value);)*
        }
    };
}

mod account;
mod bench;
mod bounds;
mod calibrate;
mod canaries;
mod catalog;
mod claim;
pub(crate) mod composed;
mod confusion;
mod counts;
pub(crate) mod evidence;
mod exact;
mod label_comparison;
mod label_dp;
mod mechanism;
mod membership;
mod merge;
mod meta_classifier;
mod number;
mod progress;
mod property;
mod questions;
mod rerun;
pub(crate) mod rows;
mod score_bounds;
mod score_renyi;
mod scores;
mod self_check;
mod simulate;
pub(crate) mod spending;
mod stream;
mod student_membership;
mod suite;
mod text_membership;
mod tokens;
mod verify;
mod votes;

pub use account::{AccountAnswer, AccountStudy, Answers, CostMeaning, LossComposition, Summed};
pub use bench::{BenchAnswer, BenchStudy, BenchWork, SweepAnswer, SweepPoint, SweepStudy, Varied};
pub use bounds::{Bounds, Methods};
pub use calibrate::{CalibrateAnswer, CalibrateStudy, Goal, ProfileKind};
pub use canaries::{
    CanaryAttackScores, CanaryAuditAnswer, CanaryAuditStudy, CanaryPlanAnswer, CanaryPlanStudy, PlannedGuesses,
};
pub use catalog::{CatalogAnswer, CatalogStudy};
pub use claim::{Claim, Claims};
pub use composed::Meaning;
pub use confusion::{ConfusionAnswer, ConfusionStudy};
pub use counts::{CountedQuery, CountsAnswer, CountsStudy};
pub use exact::{ExactAnswer, ExactStudy, Searched};
pub use label_comparison::{LabelComparisonAnswer, LabelComparisonStudy, LabelFinding, StudiedLabels};
pub use label_dp::{LabelAnswer, LabelStudy};
pub use mechanism::{CounterexampleFound, MechanismAnswer, MechanismStudy, Naming};
pub use membership::{
    Attack, ComparisonStudy, Decision, DefenseStudy, DefensesAnswer, Finding, Levels, LooksAt, Measures,
    MembershipAnswer, MembershipAttack, MembershipStudy, RecordedAnswers, RocCurve, ScoreHistogram, StudiedDefense,
    StudiedRecording, VictimModels,
};
pub use merge::MergeStudy;
pub use meta_classifier::{InferredValues, MetaClassifierAnswer, MetaClassifierStudy, TargetAnswers};
pub use number::Number;
pub use progress::{Progress, Step, unwatched};
pub use property::{PropertyAnswer, PropertyStudy};
pub use questions::{DpSgd, audit, calibrate, epsilon, epsilon_lower_bound, likelihood_ratio_attack};
pub use rerun::RerunAnswer;
pub use scores::{ScoreAnswers, ScoresAnswer, ScoresStudy};
pub use self_check::{CheckedAudit, ScoreCheckAnswer, ScoreCheckStudy, SelfCheckAnswer, SelfCheckStudy};
pub use simulate::{Checkpoints, Distributions, SimulateAnswer, SimulateStudy};
pub use stream::{StreamAnswer, StreamStudy};
pub use student_membership::{StudentFinding, StudentMembershipAnswer, StudentMembershipStudy};
pub use suite::SuiteAnswer;
pub use text_membership::{TextMembershipAnswer, TextMembershipStudy};
pub use tokens::{Contexts, TokensAnswer, TokensStudy};
pub use verify::{TestedAccountant, VerifyAnswer, VerifyStudy};
pub use votes::{AddedPoint, DistributionKind, ModeledQuery, Sampling, VotesAnswer, VotesStudy};

#[doc(hidden)]
pub use self::{
    account::{BudgetRow, ComposedEpsilonAt, CostCurve, EpsilonAtDelta, FilterRow},
    bench::{BenchRow, CostModel, CostTerm, GrowthRow, SweepRow},
    calibrate::AttackRow,
    canaries::{CanaryAttackRow, ForecastRange, ForecastRanges},
    catalog::{MechanismEntry, ParameterEntry},
    composed::{ComposedCurve, ComposedEpsilon, ComposedSection, CurveKind},
    counts::{DeltaRow, TradeOffPoint, TradeOffRow},
    exact::{AccountantRow, DivergenceRow, HockeyStickRow, OutcomeRow, ProfileEpsilonRow, TestPowerRow},
    label_comparison::{BandedAccuracy, BandedGain, LabelFindingRow, LabelMechanismRow},
    label_dp::LabelBoundRow,
    mechanism::{EventBar, OutcomeCount, RunsMade, TriedPair, WitnessFound},
    membership::{
        AccuracySpread, AttackRole, BandedRate, CanaryRow, ComparedAttack, ComparedRate, DefenseEvaluation, DefenseRoc,
        DefenseRow, FindingRow, LevelRow, RateSource, RocLimit, RocSample, SampleCurve, SampleRow, TprRow,
        WatchedAnswers, compared_attacks,
    },
    meta_classifier::{PairedAttackRow, PropertyAttackRow},
    number::{certain_digits, percent, rounded_up, short, significant, significant_above, significant_below},
    property::PropertyDistanceRow,
    rerun::Difference,
    rows::{BoundRow, DistributionDivergenceRow, EpsilonRow, FailureNote, ForecastRow, RecommendationRow, SetRow},
    score_bounds::ScoreBoundRow,
    scores::{FalseClaimRow, OneRunRow, RatePoint},
    self_check::{CheckRow, CheckedQuery, TightnessRow},
    simulate::{CountsRow, DistributionsRow, SaveMoment},
    stream::StreamBinsRow,
    student_membership::{AttackedStudentRow, AucRow, BudgetMembershipRow, ClassAucRow, StudentFindingRow},
    suite::{StudyOutcome, SuiteRow},
    text_membership::{TextAttackRow, TextRateRow, TextSizes, VulnerableSequenceRow},
    tokens::{
        LeakingPositionRow, PlantedTestRow, TokenAccountantRow, TokenComposition, TokenCurve, TokenEpsilonRow,
        TokenMemberRow, TokenPositionRow, TokenRenyiRow, TranscriptMemberRow, TranscriptRenyiRow, TranscriptSource,
        TranscriptsSection,
    },
    verify::{CounterexampleRow, PropertyRow},
    votes::{ExactRow, SeriesCheck, SeriesNote, UpperRow, VotesQuery},
};

use crate::error::Result;
use serde::Serialize;

/// A question, with everything that its answer depends on.
pub trait Study {
    /// The answer.
    type Answer: Answer;

    /// Does the work.
    ///
    /// # Errors
    /// Those of the study; [`Error::Interrupted`](crate::Error::Interrupted) if the progress callback breaks off.
    fn run(&self, progress: &Progress<'_>) -> Result<Self::Answer>;
}

/// The answer of a study: it serializes to the documented JSON.
pub trait Answer: Serialize {
    /// The name of its JSON schema, `leakbound.<study>/<version>`.
    const SCHEMA: &'static str;

    /// The name of the JSON schema of this answer, if studies with different schemas share an answer type.
    fn schema(&self) -> &'static str {
        Self::SCHEMA
    }

    /// The claims that were tested.
    fn claims(&self) -> &[Claim] {
        &[]
    }

    /// What a reader must know besides the numbers.
    fn warnings(&self) -> &[Warning] {
        &[]
    }

    /// The seed of its random numbers, if it is not that of the command line.
    fn seed(&self) -> Option<u64> {
        None
    }

    /// What the answer decides.
    fn verdict(&self) -> Verdict {
        if self.claims().iter().any(|claim| claim.refuted) { Verdict::Refuted } else { Verdict::Passed }
    }
}

/// What an answer decides: a result, never an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// No claim is refuted.
    Passed,
    /// A claim cannot hold.
    Refuted,
    /// A bound of this library was wrong more often than it guarantees, as one line.
    Broken(String),
}

/// Something that a reader must know besides the numbers.
///
/// An enum of cases would hide the measured number, so the message carries it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warning {
    /// Stable name of the kind of warning.
    pub code: &'static str,
    /// What was found, with its number.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}
