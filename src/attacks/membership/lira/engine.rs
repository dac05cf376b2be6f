//! LiRA over blocks of samples, on all threads.

use super::convention::{Convention, Cut, Moments};
use super::estimator::{Estimator, Pool};
use super::plan::{Guesses, LiraMode, LiraPlan, LiraVariance, LiraVariant, LiraViews, Victims};
use super::sample::Sample;
use super::tile;
use crate::error::{Error, Result};
use crate::membership::AttackScores;
use crate::membership::shadow_scores::{ScoreBlock, ShadowScores, blocks, columns};
use crate::parallel;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis};
use std::ops::Range;

/// The likelihood ratio attack on recorded scores of shadow models.
///
/// For a victim's answer x on a sample, the other models that were trained on it have scores of mean μ_in and variance
/// σ²_in, those that were not μ_out and σ²_out. The score of the victim is
///
/// Λ = Σ_views ln N(x; μ_in, σ²_in) - ln N(x; μ_out, σ²_out)  (online),
/// Λ = -Σ_views ln(1 - Φ((x - μ_out)/σ_out))  (offline),
///
/// and **high means member**. That is the default; [`LiraVariant`] has the variants that other code computes under the
/// same name. With [`Victims::LeaveOneOut`] every model is a victim in turn and never contributes to its own μ and σ.
///
/// Online with independent views and a variance per sample, scores recorded in single precision are processed in single
/// precision, about their own centers: the result agrees with the same formula in double precision within 1e-5 of the
/// sum of the magnitudes of its terms, and whatever would lose more is computed again in doubles. The result does not
/// depend on the number of threads.
///
/// Shapes: scores \[model, sample, view\]; the result is \[victim, sample\]. Memory: the result, and blocks of 8 MiB
/// per thread. If a sample was seen by too few models, or by too many, the score is neutral and counted
/// ([`Guesses::undecided`]).
///
/// ```
/// # use leakbound::membership::{LiraPlan, MemoryScores, lira};
/// # use ndarray::{Array2, Array3};
/// // Models that were trained on the sample answer 1 higher.
/// let members = Array2::from_shape_fn((8, 1), |(m, _)| m % 2 == 0);
/// let scores = Array3::from_shape_fn((8, 1, 1), |(m, _, _)| (m / 2) as f64 + f64::from(u8::from(m % 2 == 0)));
/// let guesses = lira(&MemoryScores::double(scores, members)?, &LiraPlan::default())?;
/// // Victim 0: 1 among {2, 3, 4} and {0, 1, 2, 3}: variances 1 and 5/3, distances 2 and 1/2.
/// let expected = 0.5 * (0.25 * 0.6 + (5f64 / 3.0).ln() - 4.0);
/// assert!((guesses.scores.scores()[[0, 0]] - expected).abs() < 1e-14);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # Errors
/// [`Error::Rejected`] for a plan that its variant does not have, and if no guess has evidence; [`Error::Length`] and
/// [`Error::Domain`] for victims that do not exist or leave fewer than two shadow models; errors in reading the source.
///
/// # References
/// Carlini, Chien, Nasr, Song, Terzis and Tramèr (2022), "Membership inference attacks from first principles", sections
/// IV and V, algorithm 1; leave-one-out: Aerni, Zhang and Tramèr (2024), section 5.2.
pub fn lira(source: &impl ShadowScores, plan: &LiraPlan) -> Result<Guesses> {
    plan.check(source.views())?;
    let members = source.members();
    let job = Job {
        source,
        plan,
        members,
        victims: plan.victims.list(members.nrows())?,
        shadows: plan.victims.shadows(members.nrows()),
        blocks: blocks(source),
    };
    let mut scores = Array2::zeros((job.victims.len(), members.ncols()));
    let undecided =
        if plan.variant == LiraVariant::Leakbound { job.own(&mut scores)? } else { job.named(&mut scores)? };
    let reason = "every sample has too few models that were trained on it, or too few that were not";
    Error::check_possible(undecided != scores.len() as u64, "LiRA", reason)?;
    let truth = members.select(Axis(0), &job.victims);
    Ok(Guesses { scores: AttackScores::new(scores, truth)?, undecided })
}

struct Job<'a, S> {
    source: &'a S,
    plan: &'a LiraPlan,
    members: ArrayView2<'a, bool>,
    victims: Vec<usize>,
    shadows: Vec<bool>,
    blocks: Vec<Range<usize>>,
}

impl<S: ShadowScores> Job<'_, S> {
    /// The default estimator; the number of guesses without evidence.
    fn own(&self, scores: &mut Array2<f64>) -> Result<u64> {
        let plan = self.plan;
        if plan.variance == LiraVariance::Pooled {
            let sample = |sample: &Sample<'_>| {
                let mut estimator = Estimator::new(plan, sample);
                self.victims.iter().map(|&victim| estimator.pool(victim)).collect::<Vec<Pool>>()
            };
            let pools = self.gathered(vec![Pool::default(); self.victims.len()], sample, Pool::add)?;
            return self.fill(
                scores,
                |sample, victims| {
                    let mut estimator = Estimator::new(plan, sample);
                    victims.iter().map(|&(row, victim)| estimator.score(victim, Some(&pools[row]))).collect()
                },
                Estimator::neutral(plan.mode, self.source.views()),
                false,
            );
        }
        let fast = plan.victims == Victims::LeaveOneOut
            && plan.mode == LiraMode::Online
            && plan.views == LiraViews::Independent;
        self.fill(
            scores,
            |sample, victims| {
                let mut estimator = Estimator::new(plan, sample);
                victims.iter().map(|&(_, victim)| estimator.score(victim, None)).collect()
            },
            Estimator::neutral(plan.mode, self.source.views()),
            fast,
        )
    }

    /// A named variant; the number of guesses without evidence.
    fn named(&self, scores: &mut Array2<f64>) -> Result<u64> {
        let convention = Convention::new(self.plan);
        let cuts = if convention.cuts() { self.cuts() } else { vec![[usize::MAX; 2]; self.victims.len()] };
        let pools = if convention.pools() {
            let sample = |sample: &Sample<'_>| {
                let pool = |(&victim, &cut)| convention.pool(sample, victim, cut);
                self.victims.iter().zip(&cuts).map(pool).collect::<Vec<_>>()
            };
            let add = |sum: &mut [Moments; 2], more: &[Moments; 2]| {
                sum.iter_mut().zip(more).for_each(|(sum, more)| sum.add(more));
            };
            Some(self.gathered(vec![[Moments::default(); 2]; self.victims.len()], sample, add)?)
        } else {
            None
        };
        self.fill(
            scores,
            |sample, victims| {
                let pool = |row: usize| pools.as_ref().map(|pools| &pools[row]);
                victims.iter().map(|&(row, victim)| convention.score(sample, victim, cuts[row], pool(row))).collect()
            },
            convention.neutral(),
            false,
        )
    }

    /// The smallest number of shadow models on each side of any sample, for each victim.
    fn cuts(&self) -> Vec<Cut> {
        let mut cuts = vec![[usize::MAX; 2]; self.victims.len()];
        for truth in self.members.columns() {
            let mut sides = [0; 2];
            truth
                .iter()
                .zip(&self.shadows)
                .for_each(|(&member, &shadow)| sides[usize::from(member)] += usize::from(shadow));
            for (cut, &victim) in cuts.iter_mut().zip(&self.victims) {
                for (side, cut) in cut.iter_mut().enumerate() {
                    let own = self.shadows[victim] && usize::from(truth[victim]) == side;
                    *cut = (*cut).min(sides[side] - usize::from(own));
                }
            }
        }
        cuts
    }

    /// Adds up the contributions of every sample to every victim, in the order of the blocks.
    fn gathered<T: Clone + Send + Sync>(
        &self,
        zero: Vec<T>,
        sample: impl Fn(&Sample<'_>) -> Vec<T> + Sync,
        add: impl Fn(&mut T, &T) + Sync,
    ) -> Result<Vec<T>> {
        let sum = |sums: &mut Vec<T>, more: Vec<T>| sums.iter_mut().zip(&more).for_each(|(sum, more)| add(sum, more));
        let block = |range: &Range<usize>| -> Result<Vec<T>> {
            let block = self.source.block(range.clone())?;
            let mut sums = zero.clone();
            self.samples(&block, range, 0..block.samples(), |_, one| sum(&mut sums, sample(one)));
            Ok(sums)
        };
        let mut sums = zero.clone();
        for part in parallel::try_map(&self.blocks, block)? {
            sum(&mut sums, part);
        }
        Ok(sums)
    }

    /// Calls `work` with some samples of a block, one after the other.
    fn samples(
        &self,
        block: &ScoreBlock<'_>,
        range: &Range<usize>,
        within: Range<usize>,
        mut work: impl FnMut(usize, &Sample<'_>),
    ) {
        let mut scores = Vec::new();
        for index in within {
            block.sample(index, &mut scores);
            let members = self.members.column(range.start + index).to_vec();
            let views = self.source.views();
            work(index, &Sample { scores: &scores, views, members: &members, shadows: &self.shadows });
        }
    }

    /// Fills the scores block by block; `work` scores victims (row and model) on one sample.
    fn fill(
        &self,
        scores: &mut Array2<f64>,
        work: impl Fn(&Sample<'_>, &[(usize, usize)]) -> Vec<Option<f64>> + Sync,
        neutral: f64,
        fast: bool,
    ) -> Result<u64> {
        let all: Vec<(usize, usize)> = self.victims.iter().copied().enumerate().collect();
        let one = |(range, mut part): (Range<usize>, ArrayViewMut2<'_, f64>)| -> Result<u64> {
            let block = self.source.block(range.clone())?;
            let mut undecided = 0;
            let mut slowly = |index: usize, rows: &[(usize, usize)], part: &mut ArrayViewMut2<'_, f64>| {
                self.samples(&block, &range, index..index + 1, |_, sample| {
                    for (&(row, _), score) in rows.iter().zip(work(sample, rows)) {
                        undecided += u64::from(score.is_none());
                        part[[row, index]] = score.unwrap_or(neutral);
                    }
                });
            };
            if fast {
                let members = self.members.slice_axis(Axis(1), range.clone().into());
                for (index, rows) in tile::leave_one_out(&block, members, &mut part) {
                    slowly(index, rows.as_deref().unwrap_or(&all), &mut part);
                }
            } else {
                for index in 0..range.len() {
                    slowly(index, &all, &mut part);
                }
            }
            Ok(undecided)
        };
        Ok(parallel::try_map(columns(scores, &self.blocks), one)?.into_iter().sum())
    }
}
