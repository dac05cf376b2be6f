//! One side of a sample, the models trained on it or those not, as means and sums of squares of every view.

/// Where a downdated sum of squares keeps less than this share, it is summed again: below, 1e-10 of it would be rounding.
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
        for model in list.clone() {
            side.models += 1;
            add(&mut side.mean, &scores[model * views..][..views]);
        }
        side.mean.iter_mut().for_each(|mean| *mean /= side.models.max(1) as f64);
        for model in list {
            for ((squares, mean), x) in side.squares.iter_mut().zip(&side.mean).zip(&scores[model * views..][..views]) {
                *squares += (x - mean) * (x - mean);
            }
        }
        side
    }

    /// The same without one of its models. With d the distance of that model from the mean of n,
    ///
    /// mean' = mean - d/(n-1),  squares' = squares - d² n/(n-1),
    ///
    /// because Σ (x - mean')² over the others is Σ (x - mean)² - d² - (n-1)(mean - mean')². Where nearly all of
    /// `squares` is that model's, the rest is summed anew.
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
                left.mean[view] = others().sum::<f64>() / rest;
                left.squares[view] = others().map(|x| (x - left.mean[view]) * (x - left.mean[view])).sum();
            }
        }
    }

    /// The unbiased variance of a view; of at least two models.
    pub(super) fn variance(&self, view: usize) -> f64 {
        self.squares[view] / (self.models as f64 - 1.0)
    }
}

fn add(sums: &mut [f64], values: &[f64]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
}
