//! One side of a sample, the models trained on it or those not, as means and sums of squares of every view.

/// Where a downdated sum of squares keeps less than this share, it is summed again: below, 1e-10 of it would be
/// rounding.
const KEPT: f64 = 1e-5;

/// Count, means and sums of squared distances from them; one mean and sum for each view.
#[derive(Debug, Clone, Default)]
pub(super) struct Side {
    pub(super) models: usize,
    pub(super) mean: Vec<f64>,
    pub(super) squares: Vec<f64>,
}

impl Side {
    /// The side made of the models of `list`; `scores` holds the views of model after model.
    pub(super) fn of(scores: &[f64], views: usize, list: impl Iterator<Item = usize> + Clone) -> Self {
        let mut side = Self { models: 0, mean: vec![0.0; views], squares: vec![0.0; views] };
        let of_model = |model: usize| &scores[model * views..][..views];
        let Some(first) = list.clone().next().map(of_model) else { return side };
        // Sums of differences from one of them: equal scores have their own value as the mean, to the last bit.
        for model in list.clone() {
            side.models += 1;
            side.mean.iter_mut().zip(of_model(model)).zip(first).for_each(|((sum, x), first)| *sum += x - first);
        }
        let models = side.models as f64;
        side.mean.iter_mut().zip(first).for_each(|(mean, first)| *mean = first + *mean / models);
        for model in list {
            for ((squares, mean), x) in side.squares.iter_mut().zip(&side.mean).zip(of_model(model)) {
                *squares += (x - mean) * (x - mean);
            }
        }
        side
    }

    /// The same without one of its models. With d the distance of that model from the mean of n,
    ///
    /// mean' = mean - d/(n-1),  squares' = squares - d² n/(n-1),
    ///
    /// because Σ (x - mean')² over the others is Σ (x - mean)² - d² - (n-1)(mean - mean')². If nearly all of `squares`
    /// comes from that model, the rest is summed again.
    pub(super) fn without(
        &self,
        scores: &[f64],
        victim: usize,
        list: impl Iterator<Item = usize> + Clone,
        left: &mut Self,
    ) {
        let views = self.mean.len();
        left.models = self.models - 1;
        left.mean.resize(views, 0.0);
        left.squares.resize(views, 0.0);
        let rest = left.models.max(1) as f64;
        for view in 0..views {
            let d = scores[victim * views + view] - self.mean[view];
            left.mean[view] = self.mean[view] - d / rest;
            left.squares[view] = self.squares[view] - d * d * (self.models as f64 / rest);
            if !(left.squares[view] >= KEPT * self.squares[view]) {
                let others = || list.clone().filter(|&model| model != victim).map(|model| scores[model * views + view]);
                let first = others().next().unwrap_or(self.mean[view]);
                left.mean[view] = first + others().map(|x| x - first).sum::<f64>() / rest;
                left.squares[view] = others().map(|x| (x - left.mean[view]) * (x - left.mean[view])).sum();
            }
        }
    }

    /// The unbiased variance of a view; of at least two models.
    pub(super) fn variance(&self, view: usize) -> f64 {
        self.squares[view] / (self.models as f64 - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores that are equal everywhere carry no information, whatever their last bits are.
    #[test]
    fn equal_scores_are_their_own_mean() {
        for x in [-(49.0f64).ln(), 0.1, 1e-3, 1e300] {
            for models in 1..700 {
                let mut scores = vec![x; models];
                let side = Side::of(&scores, 1, 0..models);
                assert!(side.mean == [x] && side.squares == [0.0], "{x} {models}");
                if models > 1 {
                    // One other score does not disturb the rest.
                    scores[0] = 2.0 * x;
                    let mut left = Side::default();
                    Side::of(&scores, 1, 0..models).without(&scores, 0, 0..models, &mut left);
                    assert!(left.mean == [x] && left.squares == [0.0], "{x} {models}");
                }
            }
        }
    }
}
