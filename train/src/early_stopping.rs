//! Networks that end when they stop improving.

use super::ensemble::Ensemble;
use super::training_images::{Example, TrainingImages};
use serde::Serialize;
use tch::Tensor;

/// The most examples of all networks that are measured together: a bound on memory.
const EXAMPLES: usize = 1024;

/// Each network holds out a share of its images, is measured on them after every epoch, and ends with the parameters of
/// its best epoch, the first among ties. It is done when this many epochs in a row were not better.
///
/// The callback of Keras with `restore_best_weights`, as "Attacking PATE" (5.1.3) uses it, with accuracy as its
/// measure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EarlyStopping {
    /// Share of a network's images that it does not learn from, in (0, 1): at least one image, and not all.
    pub validation: f64,
    /// Epochs without a better accuracy after which a network is done.
    pub patience: usize,
}

impl EarlyStopping {
    /// How many of the images are held out; none of a single one.
    #[must_use]
    pub fn held_out(self, images: usize) -> usize {
        let most = images.saturating_sub(1);
        ((self.validation * images as f64).round() as usize).clamp(most.min(1), most)
    }
}

/// The parameters of each network's best epoch.
pub(super) struct BestParameters {
    patience: usize,
    held_out: Vec<Vec<Example>>,
    /// For each network how many of its images were right at best, and the epochs since.
    best: Vec<Option<u64>>,
    waited: Vec<usize>,
    /// Copies of parameters and running statistics.
    kept: Vec<Tensor>,
}

impl BestParameters {
    /// Before the first epoch, with the examples that each network does not learn from.
    pub fn new(ensemble: &mut dyn Ensemble, stopping: EarlyStopping, held_out: Vec<Vec<Example>>) -> Self {
        let kept = ensemble.parameters().iter().map(Tensor::copy).collect::<Vec<_>>();
        let statistics = ensemble.statistics().iter().map(Tensor::copy).collect::<Vec<_>>();
        let networks = held_out.len();
        Self {
            patience: stopping.patience,
            held_out,
            best: vec![None; networks],
            waited: vec![0; networks],
            kept: kept.into_iter().chain(statistics).collect(),
        }
    }

    /// After an epoch: keeps the networks that are better than before, and returns whether all are done.
    pub fn all_are_done(&mut self, ensemble: &mut dyn Ensemble, images: &TrainingImages) -> bool {
        let mut better = Vec::new();
        for (network, right) in right(ensemble, images, &self.held_out).into_iter().enumerate() {
            // One that is done keeps its best state, while others continue.
            if self.waited[network] >= self.patience {
                continue;
            }
            if self.best[network].is_none_or(|best| right > best) {
                (self.best[network], self.waited[network]) = (Some(right), 0);
                better.push(network as i64);
            } else {
                self.waited[network] += 1;
            }
        }
        let networks = ensemble.networks();
        let rows = Tensor::from_slice(&better).to_device(images.inputs.device());
        let mut kept = self.kept.iter();
        let mut keep = |tensors: &[Tensor]| {
            for (now, kept) in tensors.iter().zip(&mut kept) {
                let now = now.view([networks, -1]).index_select(0, &rows);
                // The view writes to what is kept.
                let _ = kept.view([networks, -1]).index_copy_(0, &rows, &now);
            }
        };
        keep(ensemble.parameters());
        keep(ensemble.statistics());
        self.waited.iter().all(|&waited| waited >= self.patience)
    }

    /// Gives every network the parameters of its best epoch.
    pub fn restore(self, ensemble: &mut dyn Ensemble) {
        let mut kept = self.kept.iter();
        ensemble.parameters().iter_mut().zip(&mut kept).for_each(|(now, kept)| now.copy_(kept));
        ensemble.statistics().iter_mut().zip(&mut kept).for_each(|(now, kept)| now.copy_(kept));
    }
}

/// How many of its own examples each network gets right: the class with the largest logit is that with the largest
/// target.
fn right(ensemble: &mut dyn Ensemble, images: &TrainingImages, tables: &[Vec<Example>]) -> Vec<u64> {
    let longest = tables.iter().map(Vec::len).max().unwrap_or(0);
    let columns = (EXAMPLES / tables.len().max(1)).max(1);
    let mut right = vec![0; tables.len()];
    for start in (0..longest).step_by(columns) {
        let end = longest.min(start + columns);
        // Networks with fewer examples see their first one again; it is not counted twice.
        let of_table = |table: &Vec<Example>| {
            (start..end).map(|column| *table.get(column).unwrap_or(&table[0])).collect::<Vec<_>>()
        };
        let (inputs, targets) = images.rows(&tables.iter().flat_map(of_table).collect::<Vec<_>>());
        let shape = [tables.len() as i64, (end - start) as i64, -1];
        let same =
            ensemble.logits(&inputs.view(shape)).argmax(-1, false).eq_tensor(&targets.view(shape).argmax(-1, false));
        for (network, table) in tables.iter().enumerate() {
            let count = (table.len().min(end) as i64 - start as i64).max(0);
            right[network] +=
                same.get(network as i64).narrow(0, 0, count).count_nonzero(None::<i64>).int64_value(&[]) as u64;
        }
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::{Device, Kind};

    /// Networks that answer the logits that are their parameters, [M, C], whatever they see.
    struct Constant([Tensor; 1]);

    impl Ensemble for Constant {
        fn mapped(&self, change: &dyn Fn(&Tensor) -> Tensor) -> Box<dyn Ensemble> {
            Box::new(Self(self.0.each_ref().map(change)))
        }

        fn networks(&self) -> i64 {
            self.0[0].size()[0]
        }

        fn parameters(&mut self) -> &mut [Tensor] {
            &mut self.0
        }

        fn logits(&self, inputs: &Tensor) -> Tensor {
            self.0[0].unsqueeze(1).expand([-1, inputs.size()[1], -1], false)
        }
    }

    #[test]
    fn each_network_ends_with_its_best_epoch() {
        let floats = (Kind::Float, Device::Cpu);
        let images = TrainingImages { inputs: Tensor::zeros([3, 1], floats), targets: Tensor::eye(3, floats) };
        let held_out: Vec<Vec<Example>> = [vec![0, 1, 1], vec![2]]
            .into_iter()
            .map(|images: Vec<u32>| images.into_iter().map(Example::labeled).collect())
            .collect();
        // The class that each network answers after each epoch. The first is best after the second epoch, and done
        // after the fourth: its fifth would be as good. The second is best immediately.
        let mut networks = Constant([Tensor::zeros([2, 3], floats)]);
        let mut best = BestParameters::new(&mut networks, EarlyStopping { validation: 0.5, patience: 2 }, held_out);
        let mut done = Vec::new();
        for (epoch, classes) in [[0i64, 2], [1, 0], [0, 1], [2, 2]].iter().enumerate() {
            let logits = Tensor::from_slice(classes).one_hot(3).to_kind(Kind::Float) * (epoch as f64 + 1.0);
            networks.0[0].copy_(&logits);
            done.push(best.all_are_done(&mut networks, &images));
        }
        assert_eq!(done, [false, false, false, true]);
        best.restore(&mut networks);
        let kept: Vec<Vec<f32>> = (&networks.0[0]).try_into().unwrap();
        assert_eq!(kept, [[0.0, 2.0, 0.0], [0.0, 0.0, 1.0]]);
    }

    #[test]
    fn some_images_are_held_out_and_some_learned() {
        let held_out = |validation, images| EarlyStopping { validation, patience: 1 }.held_out(images);
        assert_eq!([held_out(0.1, 240), held_out(0.01, 10), held_out(0.99, 10), held_out(0.5, 1)], [24, 1, 9, 0]);
    }
}
