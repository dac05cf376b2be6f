//! RMIA, the robust membership inference attack: is the answer on x more surprising than those on others?

use super::lira::{Guesses, Victims};
use super::means::means;
use super::shadow_scores::ShadowScores;
use crate::error::{Error, Result};
use crate::membership::AttackScores;
use crate::parallel;
use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut1, Axis};

/// What [`rmia`] computes; the default is online with γ = 2 and a = 0.3.
#[derive(Debug, Clone, PartialEq)]
pub struct RmiaPlan {
    /// Offline: only models that were not trained on the sample are looked at, from which the others are guessed.
    pub offline: bool,
    /// How many times larger the ratio of x must be than that of z, γ ≥ 1.
    pub gamma: f64,
    /// Offline: the slope a in \[0, 1\] of the line from confidences outside to those inside.
    pub slope: f64,
    /// Who is attacked.
    pub victims: Victims,
}

impl Default for RmiaPlan {
    fn default() -> Self {
        Self { offline: false, gamma: 2.0, slope: 0.3, victims: Victims::LeaveOneOut }
    }
}

/// The relative membership inference attack.
///
/// With P(s|θ) the confidence of the victim θ in the label of the sample s, averaged over the views, and P(s) the
/// confidence expected of other models, r_s = P(s|θ)/P(s), and the score of x is the share of all other samples z with
/// r_x ≥ γ r_z. **High means member.**
///
/// P(s) = (mean inside + mean outside)/2 over the other models (online), or ((1+a) mean outside + 1 - a)/2 (offline),
/// with a substitute for the unknown mean inside. The population z consists of all other recorded samples, members or
/// not, because the attacker does not know which of them the victim was trained on. Members among them make the share
/// smaller for every x, but only the order of the scores matters.
///
/// Shapes: confidences \[model, sample, view\] in \[0, 1\], as [`ScoredLogits`](crate::membership::ScoredLogits) of
/// [`Confidence`](crate::membership::MembershipScore::Confidence) gives them; the result is \[victim, sample\]. A
/// sample without other models on a side that is needed has the score 0 and is counted as undecided; it is not part of
/// any population.
///
/// ```
/// # use leakbound::membership::{MemoryScores, RmiaPlan, Victims, rmia};
/// # use ndarray::{Array2, Array3};
/// let members = Array2::from_shape_fn((4, 2), |(m, s)| (m + s) % 2 == 0);
/// let confident = Array3::from_shape_fn((4, 2, 1), |(m, s, _)| if (m + s) % 2 == 0 { 0.9 } else { 0.3 });
/// let guesses = rmia(&MemoryScores::double(confident, members)?, &RmiaPlan::default())?;
/// // 0.9 against 0.6 on one sample, 0.3 against 0.6 on the other: 1.5 is more than twice 0.5.
/// assert_eq!((guesses.scores.scores()[[0, 0]], guesses.scores.scores()[[0, 1]]), (1.0, 0.0));
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # Errors
/// [`Error::Domain`] for γ below 1, a outside of \[0, 1\] and a confidence outside of \[0, 1\]; [`Error::Rejected`] for
/// a single sample, for another mode, and if no guess has evidence; victims as for [`lira`](crate::membership::lira).
///
/// # References
/// Zarifzadeh, Liu and Shokri (2024), "Low-cost high-power membership inference attacks", equations 2, 4, 10.
pub fn rmia(source: &impl ShadowScores, plan: &RmiaPlan) -> Result<Guesses> {
    Error::check_domain(plan.gamma >= 1.0 && plan.gamma < f64::INFINITY, "gamma of RMIA", plan.gamma, "[1, inf)")?;
    Error::check_domain((0.0..=1.0).contains(&plan.slope), "slope of RMIA", plan.slope, "[0, 1]")?;
    let rejected = |reason: &str| Error::rejected("RMIA", reason);
    let members = source.members();
    let (models, samples) = members.dim();
    if samples < 2 {
        return Err(rejected("a sample is compared with others, but there is only one"));
    }
    let (victims, shadows) = (plan.victims.list(models)?, plan.victims.shadows(models));
    let confidence = means(source)?;
    let legal = |value: f64| (0.0..=1.0).contains(&value);
    Error::check_domain_of_all(&confidence, legal, "confidence of a shadow model", "[0, 1]")?;
    let sides = Sides::new(&confidence, members, &shadows);
    let mut scores = Array2::zeros((victims.len(), samples));
    let undecided = parallel::map(scores.outer_iter_mut().zip(&victims), |(mut row, &victim)| {
        let ratios = sides.ratios(plan, confidence.row(victim), shadows[victim].then(|| members.row(victim)));
        let decided = shares(&ratios, plan.gamma, &mut row);
        (samples - decided) as u64
    });
    let undecided: u64 = undecided.into_iter().sum();
    if undecided == (victims.len() * samples) as u64 {
        return Err(rejected("every sample has models on one side only"));
    }
    Ok(Guesses { scores: AttackScores::new(scores, members.select(Axis(0), &victims))?, undecided })
}

/// Sums and counts of the confidences of the shadow models, per sample and side, outside first.
struct Sides {
    sums: Vec<[f64; 2]>,
    counts: Vec<[f64; 2]>,
}

impl Sides {
    fn new(confidence: &Array2<f64>, members: ArrayView2<'_, bool>, shadows: &[bool]) -> Self {
        let samples = confidence.ncols();
        let mut sides = Self { sums: vec![[0.0; 2]; samples], counts: vec![[0.0; 2]; samples] };
        let models = confidence.outer_iter().zip(members.outer_iter()).zip(shadows);
        for ((confidence, members), _) in models.filter(|(_, is_shadow)| **is_shadow) {
            let samples = sides.sums.iter_mut().zip(&mut sides.counts);
            for ((sums, counts), (&p, &member)) in samples.zip(confidence.iter().zip(members)) {
                sums[usize::from(member)] += p;
                counts[usize::from(member)] += 1.0;
            }
        }
        sides
    }

    /// r_s of a victim for every sample with models on the sides that are needed; `own` if the victim is itself a
    /// shadow model, and is left out.
    fn ratios(
        &self,
        plan: &RmiaPlan,
        confidence: ArrayView1<'_, f64>,
        own: Option<ArrayView1<'_, bool>>,
    ) -> Vec<Option<f64>> {
        let ratio = |(sample, &p): (usize, &f64)| {
            let mean = |member: bool| {
                let side = usize::from(member);
                let (n, sum) = (self.counts[sample][side], self.sums[sample][side]);
                let is_own = own.is_some_and(|members| members[sample] == member);
                // Rounding may leave less than nothing when the victim is taken out.
                let left = if is_own { ((sum - p).max(0.0), n - 1.0) } else { (sum, n) };
                (left.1 > 0.0).then(|| left.0 / left.1)
            };
            let expected = if plan.offline {
                0.5 * ((1.0 + plan.slope) * mean(false)? + 1.0 - plan.slope)
            } else {
                0.5 * (mean(false)? + mean(true)?)
            };
            Some(p / expected.max(f64::MIN_POSITIVE))
        };
        confidence.iter().enumerate().map(ratio).collect()
    }
}

/// Writes the share of the other samples z with γ r_z ≤ r_x for every x with a ratio, and returns their number.
fn shares(ratios: &[Option<f64>], gamma: f64, shares: &mut ArrayViewMut1<'_, f64>) -> usize {
    // Doubles that are at least 0 are ordered like their bits; adding 0 makes -0 equal to it.
    let keyed =
        ratios.iter().enumerate().filter_map(|(sample, ratio)| Some(((ratio.as_ref()? + 0.0).to_bits(), sample)));
    let mut rising: Vec<(u64, usize)> = keyed.collect();
    rising.sort_unstable();
    let others = rising.len().saturating_sub(1).max(1) as f64;
    let mut below = 0;
    for &(key, sample) in &rising {
        let ratio = f64::from_bits(key);
        // The larger r_x, the more z are below it: each search continues where the one before ended.
        while rising.get(below).is_some_and(|&(z, _)| gamma * f64::from_bits(z) <= ratio) {
            below += 1;
        }
        // x is one of them only where γ = 1, or all is 0.
        let itself = usize::from(gamma * ratio <= ratio);
        shares[sample] = (below - itself) as f64 / others;
    }
    rising.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::membership::MemoryScores;
    use ndarray::{Array3, array};
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn the_share_is_that_of_all_pairs() {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(5);
        let members = Array2::from_shape_simple_fn((9, 30), || generator.random::<f64>() < 0.5);
        let p = Array2::from_shape_simple_fn((9, 30), || (generator.random::<f64>() * 8.0).round() / 8.0);
        let source = MemoryScores::double(p.clone().insert_axis(Axis(2)), members.clone()).unwrap();
        for (offline, gamma) in [(false, 1.0), (false, 2.0), (true, 1.5)] {
            let plan = RmiaPlan { offline, gamma, ..RmiaPlan::default() };
            let found = rmia(&source, &plan).unwrap();
            for victim in 0..9 {
                let ratio = |s: usize| {
                    let mean = |member: bool| {
                        let side: Vec<f64> =
                            (0..9).filter(|&m| m != victim && members[[m, s]] == member).map(|m| p[[m, s]]).collect();
                        (!side.is_empty()).then(|| side.iter().sum::<f64>() / side.len() as f64)
                    };
                    let expected =
                        if offline { 0.5 * (1.3 * mean(false)? + 0.7) } else { 0.5 * (mean(false)? + mean(true)?) };
                    Some(p[[victim, s]] / expected)
                };
                let others = |x: usize| (0..30).filter(move |&z| z != x);
                for x in 0..30 {
                    let Some(r) = ratio(x) else { continue };
                    let all = others(x).filter_map(ratio).count() as f64;
                    // Equal ratios may round apart: sums are formed in another order.
                    let share = |slack: f64| {
                        others(x).filter_map(ratio).filter(|z| gamma * z <= r * (1.0 + slack)).count() as f64 / all
                    };
                    let got = found.scores.scores()[[victim, x]];
                    assert!(share(-1e-12) - 1e-12 <= got && got <= share(1e-12) + 1e-12, "{victim} {x}: {got}");
                }
            }
        }
    }

    #[test]
    fn wishes_and_recordings_are_checked() {
        let source = |value: f64| {
            let members = array![[true, false], [false, true], [true, false], [false, true]];
            MemoryScores::double(Array3::from_elem((4, 2, 1), value), members).unwrap()
        };
        // Nothing but zeros: no ratio is below another, and none is NaN.
        assert!(rmia(&source(0.0), &RmiaPlan::default()).is_ok());
        assert!(rmia(&source(1.5), &RmiaPlan::default()).is_err());
        for plan in [
            RmiaPlan { gamma: 0.5, ..RmiaPlan::default() },
            RmiaPlan { gamma: f64::NAN, ..RmiaPlan::default() },
            RmiaPlan { slope: 2.0, ..RmiaPlan::default() },
        ] {
            assert!(rmia(&source(0.5), &plan).is_err());
        }
    }
}
