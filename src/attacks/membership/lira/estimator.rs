//! The default estimator, one sample at a time in double precision.

use super::multivariate::Fitted;
use super::plan::{LiraMode, LiraPlan, LiraVariance, LiraViews};
use super::sample::{Sample, floor};
use super::side::Side;
use crate::special::log_ndtr;
use std::f64::consts::LN_2;

/// Pooled unbiased variances of one victim: among the models trained on a sample, and among those not.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pool {
    squares: [f64; 2],
    freedom: [f64; 2],
}

impl Pool {
    pub(super) fn add(&mut self, other: &Self) {
        for side in 0..2 {
            self.squares[side] += other.squares[side];
            self.freedom[side] += other.freedom[side];
        }
    }

    fn variance(&self, side: usize) -> Option<f64> {
        (self.freedom[side] > 0.0).then(|| self.squares[side] / self.freedom[side])
    }
}

/// Both sides of a sample, from which victims are left out one by one.
pub(super) struct Estimator<'a> {
    plan: &'a LiraPlan,
    sample: &'a Sample<'a>,
    /// Without and with the sample: the index is the truth.
    sides: [Side; 2],
    left: Side,
    fitted: Option<Fitted>,
}

impl<'a> Estimator<'a> {
    pub(super) fn new(plan: &'a LiraPlan, sample: &'a Sample<'a>) -> Self {
        let side = |member| Side::of(sample.scores, sample.views, sample.side(member));
        let sides = [side(false), side(true)];
        let fitted = (plan.views == LiraViews::Multivariate).then(|| Fitted::new(sample, &sides));
        Self { plan, sample, sides, left: Side::default(), fitted }
    }

    /// Leaves the victim out of its own side, if it has one; that side is then `self.left`.
    fn leave_out(&mut self, victim: usize) -> bool {
        if !self.sample.shadows[victim] {
            return false;
        }
        let own = self.sample.members[victim];
        if self.sides[usize::from(own)].models < 2 {
            let views = self.sample.views;
            self.left = Side { models: 0, mean: vec![0.0; views], squares: vec![0.0; views] };
        } else {
            let side = self.sample.side(own);
            self.sides[usize::from(own)].without(self.sample.scores, victim, side, &mut self.left);
        }
        true
    }

    fn pair(&self, victim: usize, left_out: bool) -> [&Side; 2] {
        [false, true].map(|member| match left_out && self.sample.members[victim] == member {
            true => &self.left,
            false => &self.sides[usize::from(member)],
        })
    }

    /// What this sample adds to the pooled variances of a victim.
    pub(super) fn pool(&mut self, victim: usize) -> Pool {
        let left_out = self.leave_out(victim);
        let mut pool = Pool::default();
        for (index, side) in self.pair(victim, left_out).into_iter().enumerate() {
            pool.squares[index] = side.squares.iter().sum();
            pool.freedom[index] = (self.sample.views * side.models.saturating_sub(1)) as f64;
        }
        pool
    }

    /// The score of a victim; `None` without evidence.
    pub(super) fn score(&mut self, victim: usize, pool: Option<&Pool>) -> Option<f64> {
        let left_out = self.leave_out(victim);
        let [outside, inside] = self.pair(victim, left_out);
        let enough = |side: &Side| side.models > usize::from(self.plan.variance == LiraVariance::PerSample);
        if !enough(outside) || (self.plan.mode == LiraMode::Online && !enough(inside)) {
            return None;
        }
        let answer = self.sample.answer(victim);
        if let Some(fitted) = &self.fitted {
            let excluded = left_out.then_some(victim);
            return Some(fitted.ratio(self.sample, answer, excluded, [outside, inside]));
        }
        let pooled = match pool {
            Some(pool) => [
                Some(pool.variance(0)?),
                if self.plan.mode == LiraMode::Online { Some(pool.variance(1)?) } else { None },
            ],
            None => [None; 2],
        };
        let mut score = 0.0;
        for (view, &x) in answer.iter().enumerate() {
            let online = self.plan.mode == LiraMode::Online;
            let floor = floor(x, outside.mean[view], if online { inside.mean[view] } else { 0.0 });
            let normal = |side: &Side, pooled: Option<f64>| {
                let variance = pooled.unwrap_or_else(|| side.variance(view)).max(floor);
                (x - side.mean[view], variance)
            };
            let (d, v) = normal(outside, pooled[0]);
            if online {
                let (e, w) = normal(inside, pooled[1]);
                score += 0.5 * (d * d / v + v.ln() - e * e / w - w.ln());
            } else {
                score -= log_ndtr(-d / v.sqrt());
            }
        }
        Some(score)
    }

    /// The score of no evidence.
    pub(super) fn neutral(mode: LiraMode, views: usize) -> f64 {
        if mode == LiraMode::Online { 0.0 } else { views as f64 * LN_2 }
    }
}
