//! Named variants: what other people's code computes, step by step as it does, turned so that high means member.

use super::plan::{LiraMode, LiraPlan, LiraVariance, LiraVariant};
use super::sample::Sample;
use crate::special::{log_ndtr, ndtri};

/// What all of them add to a standard deviation.
const ADDED: f64 = 1e-30;

/// ln sqrt(2π).
const LN_SQRT_2PI: f64 = 0.918_938_533_204_672_741_780_329_736_406;

/// How a variant computes.
pub(super) struct Convention {
    variant: LiraVariant,
    mode: LiraMode,
    pooled: bool,
    /// Divisor n - this.
    less: usize,
    median: bool,
}

/// Count, mean and sum of squared distances of a growing set of numbers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn push(&mut self, x: f64) {
        self.count += 1.0;
        let d = x - self.mean;
        self.mean += d / self.count;
        self.squares += d * (x - self.mean);
    }

    pub(super) fn add(&mut self, other: &Self) {
        if other.count > 0.0 {
            let (count, d) = (self.count + other.count, other.mean - self.mean);
            self.squares += other.squares + d * d * (self.count / count) * other.count;
            self.mean += d * (other.count / count);
            self.count = count;
        }
    }

    /// The standard deviation with divisor n - `less`, if there are enough numbers.
    fn deviation(&self, less: usize) -> Option<f64> {
        (self.count > less as f64).then(|| (self.squares / (self.count - less as f64)).sqrt())
    }
}

/// How many models of each side count: without and with the sample.
pub(super) type Cut = [usize; 2];

impl Convention {
    pub(super) fn new(plan: &LiraPlan) -> Self {
        Self {
            variant: plan.variant,
            mode: plan.mode,
            pooled: plan.variance == LiraVariance::Pooled,
            less: usize::from(plan.variant == LiraVariant::Aerni2024),
            median: !matches!(plan.variant, LiraVariant::Aerni2024 | LiraVariant::LeakPro),
        }
    }

    /// Whether all sides are cut to the smallest of any sample.
    pub(super) fn cuts(&self) -> bool {
        self.variant == LiraVariant::Carlini2022
    }

    pub(super) fn pools(&self) -> bool {
        self.pooled
    }

    fn center(&self, values: &[f64], sorted: &mut Vec<f64>) -> f64 {
        if !self.median {
            return values.iter().sum::<f64>() / values.len() as f64;
        }
        sorted.clear();
        sorted.extend(values);
        sorted.sort_unstable_by(f64::total_cmp);
        let n = sorted.len();
        if n % 2 == 1 { sorted[n / 2] } else { (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0 }
    }

    /// What this sample adds to the pooled spread of both sides.
    pub(super) fn pool(&self, sample: &Sample<'_>, victim: usize, cut: Cut) -> [Moments; 2] {
        let (mut values, mut sorted) = (Vec::new(), Vec::new());
        let mut pool = [Moments::default(); 2];
        for (index, moments) in pool.iter_mut().enumerate() {
            for view in 0..sample.views {
                side_values(sample, index == 1, victim, view, cut, &mut values);
                if values.is_empty() {
                    continue;
                }
                let is_centered = self.variant == LiraVariant::TfAmia;
                let about = if is_centered { self.center(&values, &mut sorted) } else { 0.0 };
                values.iter().for_each(|x| moments.push(x - about));
            }
        }
        pool
    }

    /// The score of a victim; `None` if the original divides by zero.
    pub(super) fn score(
        &self,
        sample: &Sample<'_>,
        victim: usize,
        cut: Cut,
        pool: Option<&[Moments; 2]>,
    ) -> Option<f64> {
        let (mut values, mut sorted) = (Vec::new(), Vec::new());
        let answer = &sample.scores[victim * sample.views..][..sample.views];
        let needed = match self.mode {
            LiraMode::Online => [true, true],
            LiraMode::Offline => [true, false],
            LiraMode::InOnly => [false, true],
        };
        let mut sum = 0.0;
        for (view, &x) in answer.iter().enumerate() {
            let (mut centers, mut deviations) = ([0.0; 2], [0.0; 2]);
            for index in (0..2).filter(|&index| needed[index]) {
                side_values(sample, index == 1, victim, view, cut, &mut values);
                if values.is_empty() {
                    return None;
                }
                centers[index] = self.center(&values, &mut sorted);
                deviations[index] = match pool {
                    // One spread for both sides.
                    Some(pool) if self.cuts() && self.mode == LiraMode::Online => pool[1].deviation(self.less)?,
                    Some(pool) => pool[index].deviation(self.less)?,
                    None => {
                        let mut moments = Moments::default();
                        values.iter().for_each(|&x| moments.push(x));
                        moments.deviation(self.less)?
                    }
                };
            }
            let z = |index: usize| (x - centers[index]) / (deviations[index] + ADDED);
            let density = |index: usize| -0.5 * z(index) * z(index) - (deviations[index] + ADDED).ln() - LN_SQRT_2PI;
            sum += match (self.variant, self.mode) {
                (LiraVariant::TfOffset, LiraMode::Online) => x - (centers[0] + centers[1]) / 2.0,
                (LiraVariant::TfOffset, _) => x - centers[0],
                (_, LiraMode::Online) => density(1) - density(0),
                (_, LiraMode::InOnly) => density(1),
                (LiraVariant::LeakPro, LiraMode::Offline) => log_ndtr(z(0)),
                (_, LiraMode::Offline) => -density(0),
            };
        }
        Some(sum / sample.views as f64)
    }

    /// The score of no evidence: a ratio of 1, or an answer at the center with a deviation of 1.
    pub(super) fn neutral(&self) -> f64 {
        match (self.variant, self.mode) {
            (LiraVariant::TfOffset, _) | (_, LiraMode::Online) => 0.0,
            (LiraVariant::LeakPro, _) => log_ndtr(ndtri(0.5)),
            (_, LiraMode::InOnly) => -LN_SQRT_2PI,
            (_, LiraMode::Offline) => LN_SQRT_2PI,
        }
    }
}

/// The scores of one side in one view, the victim left out.
fn side_values(sample: &Sample<'_>, member: bool, victim: usize, view: usize, cut: Cut, into: &mut Vec<f64>) {
    into.clear();
    let models = sample.side(member).filter(|&model| model != victim).take(cut[usize::from(member)]);
    into.extend(models.map(|model| sample.scores[model * sample.views + view]));
}
