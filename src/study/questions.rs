//! Whole questions in one line, with the defaults of the command.

use super::account::{AccountStudy, Answers};
use super::bounds::Bounds;
use super::calibrate::{CalibrateStudy, Goal};
use super::counts::{CountedQuery, CountsStudy};
use super::mechanism::{MechanismAnswer, MechanismStudy};
use super::membership::{Attack, MembershipAnswer, MembershipStudy, RecordedAnswers};
use super::{Study, unwatched};
use crate::audit::Guide;
use crate::black_box::{BlackBox, Shrink, neighbor_pairs};
use crate::bound::{LowerBound, Validity};
use crate::counts::PairedCounts;
use crate::divergence::Bracket;
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::mechanism::{NoiseFamily, parse};
use crate::membership::{LiraPlan, MemoryScores};
use crate::quantity::{Delta, Epsilon, FailureProbability, NoiseScale, Order, Probability};
use crate::record::{ComposedReleases, Release, ReleasePart};
use crate::relation::Relation;
use ndarray::{Array2, Array3};

/// A lower bound of ε at δ from the counts of outcomes under a dataset and under its neighbor.
///
/// Each outcome is an output set, whichever world it is likelier in, and all sets share the failure probability. Both
/// directions hold simultaneously, and the larger one is returned. A set that is declared in advance, a pilot or the
/// distribution give sharper bounds: see [`CountsStudy`].
///
/// ```
/// use leakbound::prelude::*;
///
/// let (counts, neighbor) = (vec![900, 100], vec![50, 950]);
/// let counts = PairedCounts::new(vec!["member".into(), "non-member".into()], counts, neighbor)?;
/// let bound = epsilon_lower_bound(&counts, Delta::new(1e-5)?, FailureProbability::new(0.05)?)?;
/// assert!(bound.value > 2.5 && bound.validity == Validity::FiniteSample);
/// // Which outcome comes first does not matter.
/// let (counts, neighbor) = (vec![100, 900], vec![950, 50]);
/// let swapped = PairedCounts::new(vec!["non-member".into(), "member".into()], counts, neighbor)?;
/// assert_eq!(epsilon_lower_bound(&swapped, Delta::new(1e-5)?, FailureProbability::new(0.05)?)?, bound);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # Errors
/// Those of [`CountsStudy`].
pub fn epsilon_lower_bound(counts: &PairedCounts, delta: Delta, failure: FailureProbability) -> Result<LowerBound> {
    let guide = Guide::fixed_list(counts.outcomes());
    let query = CountedQuery { name: String::new(), counts: counts.clone(), guide };
    let bounds = Bounds::new(vec![Order::new(2.0)?], delta, failure);
    let study = CountsStudy { bounds, ..CountsStudy::new(vec![query]) };
    let answer = study.run(&unwatched)?;
    let sound = answer.epsilon.into_iter().filter(|row| row.validity == Validity::FiniteSample);
    let largest = sound.max_by(|a, b| a.epsilon_lower.0.total_cmp(&b.epsilon_lower.0));
    let row = largest.ok_or_else(|| Error::rejected("epsilon_lower_bound", "no method bounds ε for these counts"))?;
    Ok(LowerBound::new(row.epsilon_lower.0, failure, row.method, row.validity))
}

/// ε at δ of a mechanism that is run `times` times with fresh randomness, between two ends that hold.
///
/// The text form names the mechanism, such as `"laplace:scale=2"`. Privacy-loss distributions enclose ε of both
/// directions of the neighboring relation; the larger one counts.
///
/// ```
/// use leakbound::prelude::*;
///
/// let found = epsilon("laplace:scale=20", 10, Delta::new(1e-6)?)?;
/// // At most 10 times 1/20, which the lower end does not exceed either.
/// assert!(found.lower <= found.upper && found.upper <= 0.5);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # Errors
/// [`Error::Syntax`] and others for a text that names no mechanism; [`Error::Rejected`] for mechanisms on votes, whose
/// costs depend on the data: see [`AccountStudy`].
pub fn epsilon(mechanism: &str, times: u64, delta: Delta) -> Result<Bracket> {
    let release = Release {
        mechanism: parse(mechanism)?,
        data: VoteHistogram::new(vec![0])?,
        times,
        distance: 1,
        place: "mechanism".into(),
    };
    let releases = ComposedReleases { parts: vec![ReleasePart::Release(release)], group: 1 };
    let mut study = AccountStudy::new(Answers::Releases(releases), delta);
    study.privacy_losses = true;
    let losses = study.run(&unwatched)?.losses;
    let found =
        losses.ok_or_else(|| Error::rejected("epsilon", "the mechanism has no privacy losses to compose"))?.epsilon;
    Ok(Bracket { lower: found.lower.0, upper: found.upper.0 })
}

/// Training by DP-SGD: Gaussian noise on the clipped sum of a Poisson sample, step by step.
///
/// ```
/// use leakbound::prelude::*;
///
/// let training = DpSgd::new(0.01, 0.8, 1_000)?;
/// let epsilon = training.epsilon(Delta::new(1e-5)?)?;
/// assert!(3.13 < epsilon.lower && epsilon.upper < 3.15);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DpSgd {
    rate: Probability,
    sigma: NoiseScale,
    steps: u64,
}

impl DpSgd {
    /// Each record joins a batch with probability `rate`; the noise multiplier is `sigma`.
    ///
    /// # Errors
    /// [`Error::Domain`] for a rate outside of \[0, 1\], a noise multiplier that is not positive and finite, or no step.
    pub fn new(rate: f64, sigma: f64, steps: u64) -> Result<Self> {
        Error::check_domain(steps > 0, "number of steps", steps as f64, "[1, 2^64)")?;
        Ok(Self { rate: Probability::new(rate)?, sigma: NoiseScale::new(sigma)?, steps })
    }

    /// ε at δ of the whole training, when one record is added or removed, between two ends that hold: quote the upper
    /// one.
    ///
    /// # Errors
    /// Those of [`epsilon()`].
    pub fn epsilon(&self, delta: Delta) -> Result<Bracket> {
        let Self { rate, sigma, steps } = self;
        epsilon(&format!("subsampled-gaussian:sigma={},rate={}", sigma.get(), rate.get()), *steps, delta)
    }
}

/// The least scale of noise with which a mechanism that is run `times` times certainly meets a goal.
///
/// ```
/// use leakbound::prelude::*;
///
/// let goal = Goal::Epsilon { epsilon: Epsilon::new(1.0)?, delta: Delta::new(1e-6)? };
/// let sigma = calibrate("gaussian:sigma=?", 1, goal)?;
/// assert!(4.22 < sigma && sigma < 4.23);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # Errors
/// Those of [`NoiseFamily::parse`] and of [`CalibrateStudy`].
pub fn calibrate(mechanism: &str, times: u64, goal: Goal) -> Result<f64> {
    let study = CalibrateStudy { times, ..CalibrateStudy::new(NoiseFamily::parse(mechanism)?, goal) };
    Ok(study.run(&unwatched)?.scale.0)
}

/// Does a program leak more than (ε, δ), and how much?
///
/// All neighbors of `dataset`, a JSON array of records, are tried. The answer has the claim's verdict, lower bounds for
/// the pair that leaks most and, if the claim is refuted, the counterexample; all of it fails with probability at most
/// 0.05. At most 65% of the `runs` of each dataset search, and the others bound: see [`MechanismStudy`].
///
/// ```
/// use leakbound::prelude::*;
/// use rand::{RngExt, SeedableRng};
/// use rand_chacha::ChaCha8Rng;
///
/// // The number of records plus Laplace noise of scale 1/2: ε is 2.
/// let count = FunctionBlackBox::new("count", |dataset: &Dataset, runs, seed| {
///     let mut random = ChaCha8Rng::seed_from_u64(seed);
///     let noise = |u: f64| -0.5 * u.signum() * (1.0 - 2.0 * u.abs()).ln();
///     let output = |_| Output::Number(dataset.records().len() as f64 + noise(random.random_range(-0.5..0.5)));
///     Ok((0..runs).map(output).collect())
/// });
/// let claim = (Epsilon::new(1.0)?, Delta::new(0.0)?);
/// let answer = audit(&count, "[1, 1, 1]", Relation::AddRemove, claim, 20_000)?;
/// assert!(answer.claims[0].refuted && answer.claims[0].lower.0 > 1.5);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # Errors
/// [`Error::Input`] for a text that is not a dataset; those of [`MechanismStudy`].
pub fn audit(
    program: &dyn BlackBox,
    dataset: &str,
    relation: Relation,
    claim: (Epsilon, Delta),
    runs: u64,
) -> Result<MechanismAnswer> {
    let mut bounds = Bounds { delta: claim.1, ..Bounds::default() };
    bounds.claims.epsilon = Some(claim);
    let pairs = neighbor_pairs(relation, &dataset.parse()?, None)?;
    let shrink = Shrink { relation: Some(relation), domain: None };
    MechanismStudy { shrink, ..MechanismStudy::new(program, pairs, bounds, runs) }.run(&unwatched)
}

/// The likelihood ratio attack on recorded scores \[model, sample, view\], where high means member; `members` \[model,
/// sample\] is the truth.
///
/// Each model is a victim in turn, and the others are its shadow models (Carlini et al. 2022).
///
/// ```
/// use leakbound::prelude::*;
/// use ndarray::{Array2, Array3};
///
/// let members = Array2::from_shape_fn((40, 30), |(m, s)| (m + s) % 2 == 0);
/// let scores = Array3::from_shape_fn((40, 30, 1), |(m, s, _)| {
///     f64::from(u8::from((m + s) % 2 == 0)) + ((m * 7 + s * 3) % 10) as f64 / 5.0
/// });
/// assert!(likelihood_ratio_attack(scores, members)?.levels[0].auc > 0.7);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # Errors
/// Those of [`MemoryScores::double`] and of [`MembershipStudy`].
pub fn likelihood_ratio_attack(scores: Array3<f64>, members: Array2<bool>) -> Result<MembershipAnswer> {
    let scores = MemoryScores::double(scores, members)?;
    let answers = RecordedAnswers::scores(&scores, None);
    MembershipStudy::new(answers, Attack::lira(LiraPlan::default(), None)).run(&unwatched)
}
