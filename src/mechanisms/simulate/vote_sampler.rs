//! Vote histograms of a model, before any noise.

use super::halves::Halves;
use super::model_votes::Votes;
use super::stream::{Stream, World};
use crate::model::VoteModel;
use ndarray::Array2;

/// Draws the vote histograms of a [`VoteModel`], for custom mechanisms: with other noise, a threshold, or several
/// answers from one histogram. [`ArgmaxSampler`](crate::simulate::ArgmaxSampler) draws its votes from the same tables.
///
/// # Example
/// ```
/// use leakbound::model::PateModel;
/// use leakbound::simulate::{Stream, StreamId, VoteSampler, World};
///
/// let model = PateModel::new(250, &[0.5, 0.3, 0.2], &[0.2, 0.3, 0.5])?;
/// let sampler = VoteSampler::new(&model.into());
/// let mut stream = Stream::new(StreamId { seed: 0, query: 0, world: World::Dataset, block: 0 });
/// let votes = sampler.draw(World::Dataset, 10_000, &mut stream);
/// assert!(votes.rows().into_iter().all(|histogram| histogram.sum() == 250));
/// let mean = votes.column(0).sum() as f64 / 1e4; // 125, with a standard deviation of 7.9 a sample
/// assert!((mean - 125.0).abs() < 0.4);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct VoteSampler {
    votes: Votes,
    classes: usize,
    /// Votes of fixed histograms, in both worlds.
    fixed: Option<[Vec<i64>; 2]>,
}

impl VoteSampler {
    /// The sampler of one query. Building its tables takes a few milliseconds and 1 MB for 250 voters and 10 classes.
    #[must_use]
    pub fn new(model: &VoteModel) -> Self {
        let fixed = match model {
            VoteModel::PromptPate(model) => Some(
                [model.histogram(), model.histogram_neighbor()]
                    .map(|histogram| histogram.counts().iter().map(|&votes| votes as i64).collect()),
            ),
            _ => None,
        };
        Self { votes: Votes::new(model, 1.0), classes: model.classes(), fixed }
    }

    /// Votes per class, shape [sample, class], in one of the worlds.
    ///
    /// An entry is negative if Private-kNN displaces a label that no neighbor has: the model takes it from the mean
    /// distribution of the last neighbor, independently of the votes. Samples are drawn in batches of at most 8192, all
    /// of whose random words are taken from the stream.
    pub fn draw(&self, world: World, samples: usize, stream: &mut Stream) -> Array2<i64> {
        let mut drawn = Array2::zeros((samples, self.classes));
        if let Some(worlds) = &self.fixed {
            for mut row in drawn.rows_mut() {
                row.iter_mut().zip(&worlds[world.index()]).for_each(|(entry, &votes)| *entry = votes);
            }
            return drawn;
        }
        // The samplers of Private-kNN add this to every class of the neighbor, to stay above 0.
        let raised = if world == World::Neighbor { self.votes.raised() as i64 } else { 0 };
        if self.votes.one_by_one() {
            let mut histogram = vec![0; self.classes];
            for mut row in drawn.rows_mut() {
                self.votes.draw_one(world, stream, &mut histogram);
                row.iter_mut().zip(&histogram).for_each(|(entry, &votes)| *entry = votes as i64 - raised);
            }
            return drawn;
        }
        let batch = self.votes.batch(self.classes);
        let (mut votes, mut words) = (vec![0; batch * self.votes.room(self.classes)], Halves::new(stream, batch));
        for mut rows in drawn.axis_chunks_iter_mut(ndarray::Axis(0), batch) {
            self.votes.draw(world, stream, &mut words, &mut votes);
            for ((sample, class), entry) in rows.indexed_iter_mut() {
                *entry = i64::from(votes[batch * class + sample]) - raised;
            }
        }
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::super::stream::StreamId;
    use super::*;
    use crate::histogram::VoteHistogram;
    use crate::model::{CapcModel, PateModel, PrivateKnnModel, PromptPateModel};

    fn draw(model: VoteModel, world: World, samples: usize) -> Array2<i64> {
        let mut stream = Stream::new(StreamId { seed: 4, query: 0, world, block: 0 });
        VoteSampler::new(&model).draw(world, samples, &mut stream)
    }

    /// Five standard errors of the mean: 6e-7 for each of the 24.
    #[test]
    fn means_are_those_of_the_models() {
        let (p, last) = ([0.7, 0.3, 0.0], [0.1, 0.2, 0.7]);
        let knn = |k| PrivateKnnModel::new(k, &p, &last, 0.5, 2).unwrap().with_points(3).unwrap();
        let cases: Vec<(VoteModel, [[f64; 3]; 2])> = vec![
            (
                PateModel::new(100, &p, &last).unwrap().with_changed_teachers(10).unwrap().into(),
                [[70.0, 30.0, 0.0], [64.0, 29.0, 7.0]],
            ),
            (
                CapcModel::new(&[p.to_vec(), last.to_vec(), p.to_vec()], &last).unwrap().into(),
                [[1.5, 0.8, 0.7], [0.9, 0.7, 1.4]],
            ),
            (knn(100).into(), [[70.0, 30.0, 0.0], [69.85, 29.7, 0.45]]),
            // Beyond the numbers that are drawn in batches.
            (knn(1 << 40).into(), {
                let k = (1u64 << 40) as f64;
                [[0.7 * k, 0.3 * k, 0.0], [0.7 * k - 0.15, 0.3 * k - 0.3, 0.45]]
            }),
        ];
        for (model, expected) in cases {
            for world in World::ALL {
                let samples = 10_001;
                let votes = draw(model.clone(), world, samples);
                assert_eq!(votes.dim(), (samples, 3));
                let total = votes.row(0).sum();
                assert!(votes.rows().into_iter().all(|histogram| histogram.sum() == total));
                for class in 0..3 {
                    let values = votes.column(class).mapv(|votes| votes as f64);
                    let error = values.std(1.0) / (samples as f64).sqrt();
                    let (mean, expected) = (values.mean().unwrap(), expected[world.index()][class]);
                    assert!((mean - expected).abs() <= 5.0 * error + 1e-9 * expected, "{mean} {expected} {error}");
                }
            }
        }
    }

    #[test]
    fn fixed_votes_are_themselves() {
        let histogram = |votes: [u64; 3]| VoteHistogram::new(votes.to_vec()).unwrap();
        let model = PromptPateModel::new(histogram([5, 3, 0]), histogram([4, 3, 1])).unwrap();
        assert_eq!(draw(model.into(), World::Neighbor, 2), ndarray::array![[4, 3, 1], [4, 3, 1]]);
    }
}
