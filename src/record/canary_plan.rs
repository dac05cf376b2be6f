//! Plans of one-run audits, with the claim about the training.

use super::fault::{fault, hinted, quoted};
use super::input_file::{Digested, InputFile, hexadecimal, open};
use super::json::parse;
use super::text::read_whole_json;
use crate::audit::{GuessSelection, GuessedSides, MembersScore, OneRunGuesses, OneRunPlan};
use crate::counts::MAX_COUNT;
use crate::error::{Error, InputError, Result};
use crate::mechanism::{self, Mechanism};
use crate::quantity::{Delta, Epsilon, FailureProbability};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::Arc;

/// The schema of a plan's document.
const SCHEMA: &str = "leakbound.canary-plan/1";
/// Advice for a file of another kind.
const HINT: &str = "write the plan as a JSON document";

/// An audit of one training run as declared before training, and the claim about the training.
#[derive(Debug, Clone)]
pub struct CanaryPlan {
    /// Canaries, coins and analysis.
    pub audit: OneRunPlan,
    /// The claim.
    pub claim: Option<TrainingClaim>,
}

/// A claim about a training.
#[derive(Debug, Clone)]
pub enum TrainingClaim {
    /// ε-differential privacy at the plan's δ.
    Epsilon(Epsilon),
    /// μ-Gaussian differential privacy.
    Mu(f64),
    /// Only this mechanism, about a record, run many times: for DP-SGD its steps.
    Mechanism {
        /// The mechanism.
        mechanism: Arc<dyn Mechanism>,
        /// How often.
        times: u64,
    },
}

/// A plan in the form of a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "the plan of a one-run audit")]
pub struct RecordedCanaryPlan {
    /// Number of canaries.
    pub canaries: u64,
    /// The seed of the coins, of ties and of splits.
    pub seed: u64,
    /// A digit for each canary: 1 if the run is to be trained on it.
    pub coins: String,
    /// δ of the bound of ε.
    pub delta: f64,
    /// The probability that a bound is wrong.
    pub failure_probability: f64,
    /// How many canaries are guessed at.
    pub guesses: RecordedGuesses,
    /// Whether low scores mean members, as losses do, and not high ones.
    pub low_is_member: bool,
    /// Sets of scores that may be audited, each with an equal share of the failure probability.
    pub attacks: u64,
    /// The claim about the training.
    pub claim: Option<RecordedTrainingClaim>,
    /// SHA-256 of all other fields: depositing it before training proves that the plan existed then.
    pub sha256: String,
}

/// Numbers of guesses, or how they are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RecordedGuesses {
    /// Fixed numbers: canaries called members, and canaries called non-members.
    Declared(u64, u64),
    /// Chosen on a random half of the canaries, bounded on the other.
    Split,
    /// The best of a fixed list that shares the failure probability.
    PaidFor,
    /// All clear scores together, the clearer ones more often: for ε alone.
    Nested,
    /// The same for the highest scores alone.
    NestedMembers,
}

/// A claim about a training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RecordedTrainingClaim {
    /// ε at the plan's δ.
    Epsilon(f64),
    /// μ of Gaussian differential privacy.
    Mu(f64),
    /// A mechanism about a record, such as `subsampled-gaussian:sigma=1,rate=0.01`, and how often it runs.
    Mechanism(String, u64),
}

impl CanaryPlan {
    /// The digest that identifies the plan, as a recording of its run has it.
    #[must_use]
    pub fn sha256_bytes(&self) -> [u8; 32] {
        self.recorded().digest_bytes()
    }

    /// The form of documents.
    #[must_use]
    pub fn recorded(&self) -> RecordedCanaryPlan {
        let audit = &self.audit;
        let guesses = match audit.selection() {
            GuessSelection::Declared(OneRunGuesses { members, others }) => RecordedGuesses::Declared(members, others),
            // No plan has a naive selection.
            GuessSelection::Split | GuessSelection::Naive => RecordedGuesses::Split,
            GuessSelection::PaidFor => RecordedGuesses::PaidFor,
            GuessSelection::Nested(GuessedSides::Both) => RecordedGuesses::Nested,
            GuessSelection::Nested(GuessedSides::Members) => RecordedGuesses::NestedMembers,
        };
        let claim = self.claim.as_ref().map(|claim| match claim {
            TrainingClaim::Epsilon(epsilon) => RecordedTrainingClaim::Epsilon(epsilon.get()),
            TrainingClaim::Mu(mu) => RecordedTrainingClaim::Mu(*mu),
            TrainingClaim::Mechanism { mechanism, times } => {
                RecordedTrainingClaim::Mechanism(mechanism.to_string(), *times)
            }
        });
        let mut recorded = RecordedCanaryPlan {
            canaries: audit.canaries(),
            seed: audit.seed(),
            coins: digits(&audit.coins()),
            delta: audit.delta().get(),
            failure_probability: audit.failure_probability().get(),
            guesses,
            low_is_member: audit.members_score() == MembersScore::Low,
            attacks: audit.attacks() as u64,
            claim,
            sha256: String::new(),
        };
        recorded.sha256 = recorded.digest();
        recorded
    }
}

fn digits(coins: &[bool]) -> String {
    coins.iter().map(|&coin| if coin { '1' } else { '0' }).collect()
}

impl RecordedCanaryPlan {
    /// SHA-256 of everything else.
    fn digest(&self) -> String {
        hexadecimal(&self.digest_bytes())
    }

    fn digest_bytes(&self) -> [u8; 32] {
        let unsigned = Self { sha256: String::new(), ..self.clone() };
        // A structure of numbers and texts is always written.
        Sha256::digest(serde_json::to_vec(&unsigned).unwrap_or_default()).into()
    }

    /// The plan, if nobody changed it; the place and the reason otherwise.
    fn plan(&self) -> std::result::Result<CanaryPlan, (&'static str, Error)> {
        let selection = match self.guesses {
            RecordedGuesses::Declared(members, others) => GuessSelection::Declared(OneRunGuesses { members, others }),
            RecordedGuesses::Split => GuessSelection::Split,
            RecordedGuesses::PaidFor => GuessSelection::PaidFor,
            RecordedGuesses::Nested => GuessSelection::Nested(GuessedSides::Both),
            RecordedGuesses::NestedMembers => GuessSelection::Nested(GuessedSides::Members),
        };
        let delta = Delta::new(self.delta).map_err(|error| ("plan, delta", error))?;
        let failure = FailureProbability::new(self.failure_probability);
        let failure = failure.map_err(|error| ("plan, failure_probability", error))?;
        let audit = OneRunPlan::new(self.canaries, self.seed, selection, delta, failure);
        let score = if self.low_is_member { MembersScore::Low } else { MembersScore::High };
        let audit = audit.map_err(|error| ("plan", error))?.with_members_score(score);
        let attacks = usize::try_from(self.attacks).unwrap_or(usize::MAX);
        let audit = audit.with_attacks(attacks).map_err(|error| ("plan, attacks", error))?;
        let claim = self
            .claim
            .as_ref()
            .map(RecordedTrainingClaim::claim)
            .transpose()
            .map_err(|error| ("plan, claim", error))?;
        Ok(CanaryPlan { audit, claim })
    }
}

impl TrainingClaim {
    /// μ of a claim of Gaussian differential privacy, or of mechanisms that are Gaussian together.
    #[must_use]
    pub fn mu(&self) -> Option<f64> {
        match self {
            Self::Epsilon(_) => None,
            Self::Mu(mu) => Some(*mu),
            Self::Mechanism { mechanism, times } => Some(mechanism.gaussian_mu()? * (*times as f64).sqrt()),
        }
    }

    /// Rejects an invalid claim.
    ///
    /// # Errors
    /// [`Error::Domain`] for an infinite ε, for a μ that is not in [0, inf), and unless a mechanism runs 1 to 2^53 times.
    pub fn check(&self) -> Result<()> {
        match *self {
            Self::Epsilon(epsilon) if epsilon == Epsilon::INFINITE => {
                Err(Error::Domain { quantity: "claimed epsilon", value: epsilon.get(), domain: "[0, inf)" })
            }
            Self::Mu(mu) if !(0.0..f64::INFINITY).contains(&mu) => {
                Err(Error::Domain { quantity: "claimed mu", value: mu, domain: "[0, inf)" })
            }
            Self::Mechanism { times, .. } if !(1..=MAX_COUNT).contains(&times) => {
                Err(Error::Domain { quantity: "times", value: times as f64, domain: "[1, 2^53]" })
            }
            _ => Ok(()),
        }
    }
}

impl RecordedTrainingClaim {
    fn claim(&self) -> Result<TrainingClaim> {
        let claim = match self {
            Self::Epsilon(epsilon) => TrainingClaim::Epsilon(Epsilon::new(*epsilon)?),
            Self::Mu(mu) => TrainingClaim::Mu(*mu),
            Self::Mechanism(text, times) => {
                TrainingClaim::Mechanism { mechanism: mechanism::parse(text)?, times: *times }
            }
        };
        claim.check()?;
        Ok(claim)
    }
}

#[derive(Deserialize)]
#[serde(expecting = "the document of a plan")]
struct Document {
    plan: RecordedCanaryPlan,
}

/// Reads the plan of a one-run audit from its document.
///
/// # Errors
/// [`Error::Io`] when the file cannot be read; otherwise [`Error::Input`] for another document, for a plan whose SHA-256
/// is not that of its content, and for coins that are not those of its seed.
pub fn read_canary_plan(path: impl AsRef<Path>) -> Result<(CanaryPlan, InputFile)> {
    let file = path.as_ref();
    let mut digested = Digested::new(open(file)?);
    let text = read_whole_json(file, &mut digested, "the plan of a one-run audit", HINT)?;
    let plan = plan_of(file, &text)?;
    Ok((plan, digested.finish_unchanged(file)?))
}

/// Reads what [`read_canary_plan`] reads from bytes in memory; `name` is the file's name in messages.
///
/// # Errors
/// As [`read_canary_plan`].
pub fn canary_plan_from_text(name: impl AsRef<Path>, text: &str) -> Result<CanaryPlan> {
    plan_of(name.as_ref(), text)
}

fn plan_of(file: &Path, text: &str) -> Result<CanaryPlan> {
    #[derive(Deserialize)]
    struct Schema {
        schema: Option<String>,
    }
    let found: Schema = parse(file, text)?;
    if found.schema.as_deref() != Some(SCHEMA) {
        let found = found.schema.map_or_else(|| "JSON without a schema".into(), |schema| quoted(&schema));
        return Err(hinted(fault(file, "schema", found, format!("`{SCHEMA}`")), HINT).into());
    }
    let Document { plan: recorded, .. } = parse(file, text)?;
    let digest = recorded.digest();
    if digest != recorded.sha256 {
        let found = format!("a plan with SHA-256 {}…", digest.get(..8).unwrap_or_default());
        let expected = format!("{}, as when it was made", quoted(&recorded.sha256));
        let error = fault(file, "plan, sha256", found, expected);
        return Err(hinted(error, "an analysis that is chosen after training guarantees nothing").into());
    }
    let plan = recorded.plan().map_err(|(place, error)| -> InputError {
        fault(file, place, error.to_string(), "a plan as this program writes it")
    })?;
    if recorded.coins != digits(&plan.audit.coins()) {
        let error = fault(file, "plan, coins", "other coins", "those of the seed");
        return Err(hinted(error, "each canary is in or out by its own coin, which nobody chooses").into());
    }
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn plan(claim: Option<TrainingClaim>) -> CanaryPlan {
        let guesses = GuessSelection::Declared(OneRunGuesses { members: 3, others: 2 });
        let (delta, failure) = (Delta::new(1e-5).unwrap(), FailureProbability::new(0.05).unwrap());
        CanaryPlan { audit: OneRunPlan::new(40, 7, guesses, delta, failure).unwrap(), claim }
    }

    fn document(plan: &RecordedCanaryPlan) -> Value {
        json!({ "schema": SCHEMA, "plan": plan, "title": "beside" })
    }

    fn read(document: &Value) -> Result<CanaryPlan> {
        canary_plan_from_text("plan.json", &document.to_string())
    }

    #[test]
    fn plans_are_read_back() {
        let mechanism = mechanism::parse("subsampled-gaussian:sigma=0.8,rate=0.01").unwrap();
        let claims = [
            None,
            Some(TrainingClaim::Epsilon(Epsilon::new(8.0).unwrap())),
            Some(TrainingClaim::Mu(0.1)),
            Some(TrainingClaim::Mechanism { mechanism, times: 1_000 }),
        ];
        for claim in claims {
            let recorded = plan(claim).recorded();
            let again = read(&document(&recorded)).unwrap();
            assert_eq!(again.recorded(), recorded);
        }
        let recorded = plan(None).recorded();
        assert_eq!(recorded.coins.len(), 40);
        let nested = [GuessedSides::Both, GuessedSides::Members].map(GuessSelection::Nested);
        let audit = plan(None).audit.with_members_score(MembersScore::Low).with_attacks(3).unwrap();
        let recorded = CanaryPlan { audit, claim: None }.recorded();
        assert_eq!((read(&document(&recorded)).unwrap().audit, recorded.low_is_member), (audit, true));
        for selection in nested.into_iter().chain([GuessSelection::Split, GuessSelection::PaidFor]) {
            let audit = plan(None).audit;
            let audit = OneRunPlan::new(40, 7, selection, audit.delta(), audit.failure_probability()).unwrap();
            let recorded = CanaryPlan { audit, claim: None }.recorded();
            assert_eq!(read(&document(&recorded)).unwrap().audit.selection(), selection);
        }
    }

    #[test]
    fn changed_plans_are_rejected() {
        let recorded = plan(Some(TrainingClaim::Epsilon(Epsilon::new(8.0).unwrap()))).recorded();
        let signed = |mut plan: RecordedCanaryPlan| {
            plan.sha256 = plan.digest();
            document(&plan)
        };
        let other = |change: fn(&mut RecordedCanaryPlan)| {
            let mut plan = recorded.clone();
            change(&mut plan);
            plan
        };
        let more = other(|plan| plan.guesses = RecordedGuesses::Declared(4, 2));
        let mut unknown = document(&recorded);
        unknown["plan"]["epsilon"] = json!(1);
        let cases = [
            document(&more),
            signed(other(|plan| plan.coins = "1".repeat(40))),
            signed(other(|plan| plan.guesses = RecordedGuesses::Declared(30, 11))),
            signed(other(|plan| plan.delta = 2.0)),
            signed(other(|plan| plan.attacks = 0)),
            signed(other(|plan| plan.claim = Some(RecordedTrainingClaim::Mechanism("nothing".into(), 1)))),
            signed(other(|plan| plan.claim = Some(RecordedTrainingClaim::Mechanism("gaussian:sigma=1".into(), 0)))),
            signed(other(|plan| plan.claim = Some(RecordedTrainingClaim::Mu(-1.0)))),
            unknown,
            json!({ "schema": "leakbound.exact/1" }),
            json!({ "plan": 1 }),
            json!([1]),
        ];
        let messages = cases.map(|document| read(&document).unwrap_err().to_string());
        insta::assert_snapshot!(messages.join("\n"), @r"
        plan.json: plan, sha256: found a plan with SHA-256 5da3e882…, expected `a4fdc37a1000993d36de7e376b75b5250c99c6076c866079dd7b4cef272d1fca`, as when it was made; hint: an analysis that is chosen after training guarantees nothing
        plan.json: plan, coins: found other coins, expected those of the seed; hint: each canary is in or out by its own coin, which nobody chooses
        plan.json: plan: found one-run audit: 30 + 11 guesses about 40 canaries; expected 1 to 40 guesses, expected a plan as this program writes it
        plan.json: plan, delta: found delta = 2 is not in [0, 1), expected a plan as this program writes it
        plan.json: plan, attacks: found attacks = 0 is not in [1, 1000], expected a plan as this program writes it
        plan.json: plan, claim: found mechanism: unknown mechanism `nothing`; known: poisson, gnmax, lnmax, gaussian, laplace, gnss, local-hashing, staircase, exponential, categorical, confident-gnmax, confident-lnmax, symmetric-unary, optimized-unary, above-threshold, gaussian-vector, sparse-vector, permute-and-flip, subset-selection, laplace-vector, discrete-laplace, discrete-gaussian, randomized-response, truncated-geometric, without-replacement, shuffled-response, subsampled-gaussian, discrete-laplace-sum, subsampled-gaussian-replace, expected a plan as this program writes it
        plan.json: plan, claim: found times = 0 is not in [1, 2^53], expected a plan as this program writes it
        plan.json: plan, claim: found claimed mu = -1 is not in [0, inf), expected a plan as this program writes it
        plan.json: line 1, character 135: found unknown field `epsilon`, expected one of `canaries`, `seed`, `coins`, `delta`, `failure_probability`, `guesses`, `low_is_member`, `attacks`, `claim`, `sha...
        plan.json: schema: found `leakbound.exact/1`, expected `leakbound.canary-plan/1`; hint: write the plan as a JSON document
        plan.json: schema: found JSON without a schema, expected `leakbound.canary-plan/1`; hint: write the plan as a JSON document
        plan.json: line 1, character 2: found integer `1`, expected a string
        ");
    }
}
