//! Several studies together.

use super::{Answer, Verdict};
use serde::Serialize;
use serde_json::value::RawValue;

/// The outcome of one study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StudyOutcome {
    /// No claim is refuted.
    Passed,
    /// A claim is refuted.
    Refuted,
    /// There is no answer, or it must not be relied on.
    Failed,
}

/// One study of a suite.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SuiteRow {
    /// Its name.
    pub name: String,
    /// The command that answers it, such as `audit counts`.
    pub command: String,
    /// Its outcome.
    pub outcome: StudyOutcome,
    /// Why it failed.
    pub message: Option<String>,
    /// The document of its answer.
    #[cfg_attr(feature = "schema", schemars(with = "Option<serde_json::Map<String, serde_json::Value>>"))]
    pub document: Option<Box<RawValue>>,
    /// The tables of its answer.
    #[serde(skip)]
    pub text: String,
}

/// The answer of `leakbound run`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SuiteAnswer {
    /// The studies, in the order of the file.
    pub studies: Vec<SuiteRow>,
}

impl SuiteAnswer {
    /// Number of studies with this outcome.
    #[must_use]
    pub fn count(&self, outcome: StudyOutcome) -> usize {
        self.studies.iter().filter(|study| study.outcome == outcome).count()
    }
}

impl Answer for SuiteAnswer {
    const SCHEMA: &'static str = "leakbound.run/1";

    /// A failed study outweighs a refuted claim, because its answer is unknown.
    fn verdict(&self) -> Verdict {
        match (self.count(StudyOutcome::Failed), self.count(StudyOutcome::Refuted)) {
            (0, 0) => Verdict::Passed,
            (0, _) => Verdict::Refuted,
            (failed, _) => Verdict::Broken(format!("{failed} of {} studies failed", self.studies.len())),
        }
    }
}
