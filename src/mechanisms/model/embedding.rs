//! Private-kNN: the search for a point of the feature space that is close to many queries.

use super::neighbor_sampling::NeighborSampling;
use crate::error::{Error, Result};
use crate::parallel;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, Zip};

/// The training points nearest to each of some queries, by brute force: Euclidean distances of the features.
///
/// # Example
/// ```
/// # use leakbound::model::NeighborIndex;
/// let (queries, points) = (ndarray::array![[0.0], [10.0]], ndarray::array![[9.0], [1.0], [4.0]]);
/// let index = NeighborIndex::new(queries.view(), points.view(), 3)?;
/// assert_eq!(index.neighbors(0), [1, 2, 0]);
/// assert_eq!(index.ranks_of(ndarray::array![7.5].view())?, [3, 2]);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct NeighborIndex {
    queries: Array2<f64>,
    /// Shape (query, rank): positions of the nearest points, and their squared distances in ascending order.
    nearest: Vec<Vec<usize>>,
    distances: Vec<Vec<f64>>,
}

/// A point of the feature space for an adversary to add.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// Its features.
    pub features: Array1<f64>,
    /// Its rank on every query, at most one more than the ranks of the index.
    pub ranks: Vec<u64>,
    /// E(x) = Σ_q ν(r_q(x)).
    pub expected_votes: f64,
    /// E(x) of the best weighted average of training points, before the ascent.
    pub expected_votes_average: f64,
}

/// Number of neighbors of a query that enter an average, which the published heuristic leaves open.
const AVERAGED: [usize; 2] = [200, 1000];
/// The largest number of steps of the ascent.
const MAX_STEPS: usize = 500;
/// Halvings of one step before it is considered not an ascent.
const HALVINGS: i32 = 12;
/// The smallest gain of a step, relative to E(x).
const LEAST_GAIN: f64 = 1e-9;

fn squared_distance(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
    Zip::from(a).and(b).fold(0.0, |sum, a, b| sum + (a - b) * (a - b))
}

impl NeighborIndex {
    /// Ranks the `points`, shape (point, feature), by their distance from each of the `queries`, shape (query,
    /// feature), and keeps the first `ranks` of them, or all; points at the same distance keep their order.
    ///
    /// # Errors
    /// [`Error::Length`] when there is no query, no point, no rank, or the numbers of features differ;
    /// [`Error::Domain`] for a feature that is not finite.
    pub fn new(queries: ArrayView2<'_, f64>, points: ArrayView2<'_, f64>, ranks: usize) -> Result<Self> {
        same_features(queries.ncols(), points.ncols())?;
        for (quantity, found) in [("list of queries", queries.nrows()), ("list of points", points.nrows())] {
            Error::check_length(found > 0 && ranks > 0, quantity, found, "at least 1, and 1 rank")?;
        }
        if let Some(&value) = queries.iter().chain(&points).find(|value| !value.is_finite()) {
            return Err(Error::Domain { quantity: "feature", value, domain: "(-inf, inf)" });
        }
        let kept = ranks.min(points.nrows());
        let (nearest, distances) = parallel::map(0..queries.nrows(), |query| {
            let mut all: Vec<(f64, usize)> = points
                .axis_iter(Axis(0))
                .enumerate()
                .map(|(index, point)| (squared_distance(queries.row(query), point), index))
                .collect();
            let nearer = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
            if kept < all.len() {
                all.select_nth_unstable_by(kept, nearer);
                all.truncate(kept);
            }
            all.sort_unstable_by(nearer);
            (all.iter().map(|pair| pair.1).collect(), all.iter().map(|pair| pair.0).collect())
        })
        .into_iter()
        .unzip();
        Ok(Self { queries: queries.to_owned(), nearest, distances })
    }

    /// Number of ranks kept.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.distances[0].len()
    }

    /// The points nearest to a query, the nearest first; empty if there is no such query.
    #[must_use]
    pub fn neighbors(&self, query: usize) -> &[usize] {
        self.nearest.get(query).map_or(&[], Vec::as_slice)
    }

    /// The rank that a point would take on every query: one more than the number of nearer training points, and one
    /// more than [`NeighborIndex::ranks`] if all stored points are nearer.
    ///
    /// # Errors
    /// [`Error::Length`] for a different number of features.
    pub fn ranks_of(&self, point: ArrayView1<'_, f64>) -> Result<Vec<u64>> {
        same_features(self.queries.ncols(), point.len())?;
        Ok((0..self.distances.len()).map(|query| self.rank_of(query, point)).collect())
    }

    fn rank_of(&self, query: usize, point: ArrayView1<'_, f64>) -> u64 {
        let distance = squared_distance(self.queries.row(query), point);
        1 + self.distances[query].partition_point(|other| *other < distance) as u64
    }

    /// A point of the feature space that is among the nearest of many queries: a local maximum of E(x) = Σ_q ν(r_q(x)).
    ///
    /// Starts are the published averages: for each class the training points among the 200 (and 1000) nearest of its
    /// queries, each weighted by the number of queries it is near to; the average of all `points`; and the one of them
    /// with the largest E, so the result is never worse than a training point. From every start E ascends by x ← x + t
    /// (Σ_q w_q q/Σ_q w_q - x), where w_q is the slope of ν in the squared distance from q and t is the first of 1, ½,
    /// ¼, .. that gains: a step toward the queries that are about to be won. The best end is returned; it need not be
    /// the global maximum.
    ///
    /// `labels` holds the class of every query; `sampling` should have the same number of ranks as the index.
    ///
    /// # Errors
    /// [`Error::Length`] for a different number of labels than of queries or of features; as
    /// [`NeighborSampling::inclusion`].
    ///
    /// # References
    /// Chadha et al. (2024), "Auditing Private Prediction", appendix D.3, for the averages; the ascent is new here.
    pub fn worst_embedding(
        &self,
        points: ArrayView2<'_, f64>,
        labels: &[usize],
        sampling: &NeighborSampling,
    ) -> Result<Embedding> {
        same_features(self.queries.ncols(), points.ncols())?;
        Error::check_size("list of query labels", labels.len(), self.distances.len(), ", one per query")?;
        let (starts, average) = self.starts(points, labels);
        let best = |ends: Vec<(f64, Array1<f64>)>| {
            // The first one in a tie, so the result does not depend on the threads.
            ends.into_iter().reduce(|best, end| if end.0 > best.0 { end } else { best })
        };
        let value = |start: &Array1<f64>| Ok((self.expected_votes(start.view(), sampling)?, start.clone()));
        let averages = starts.iter().map(value).collect::<Result<Vec<_>>>()?;
        let nearest = self.best_point(points, sampling)?;
        let ends =
            parallel::try_map(starts.into_iter().chain([average, nearest]), |start| self.ascend(start, sampling))?;
        let expected_votes_average = best(averages).map_or(0.0, |(value, _)| value);
        let (expected_votes, features) = best(ends).unwrap_or_else(|| unreachable!("there is always a start"));
        Ok(Embedding { ranks: self.ranks_of(features.view())?, features, expected_votes, expected_votes_average })
    }

    /// The training point with the largest E(x); the first one in a tie.
    fn best_point(&self, points: ArrayView2<'_, f64>, sampling: &NeighborSampling) -> Result<Array1<f64>> {
        let values = parallel::try_map(points.outer_iter(), |point| self.expected_votes(point, sampling))?;
        let best = (0..values.len()).reduce(|best, point| if values[point] > values[best] { point } else { best });
        Ok(best.map_or_else(|| Array1::zeros(points.ncols()), |point| points.row(point).to_owned()))
    }

    /// Averages of the neighbors of the queries of one class, for every class; and that of all points.
    fn starts(&self, points: ArrayView2<'_, f64>, labels: &[usize]) -> (Vec<Array1<f64>>, Array1<f64>) {
        let mut classes = labels.to_vec();
        classes.sort_unstable();
        classes.dedup();
        let cases = classes.iter().flat_map(|class| AVERAGED.map(|averaged| (*class, averaged)));
        let average = |(class, averaged): (usize, usize)| {
            let mut sum = Array1::zeros(points.ncols());
            let mut count = 0.0;
            for (query, _) in labels.iter().enumerate().filter(|(_, label)| **label == class) {
                // A point that is near to several queries is added once for each: the weights of the histogram.
                for &point in self.nearest[query].iter().take(averaged).filter(|point| **point < points.nrows()) {
                    sum += &points.row(point);
                    count += 1.0;
                }
            }
            sum / f64::max(count, 1.0)
        };
        let all = points.mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(points.ncols()));
        (cases.map(average).collect(), all)
    }

    fn expected_votes(&self, point: ArrayView1<'_, f64>, sampling: &NeighborSampling) -> Result<f64> {
        sampling.expected_votes((0..self.distances.len()).map(|query| self.rank_of(query, point)))
    }

    fn ascend(&self, start: Array1<f64>, sampling: &NeighborSampling) -> Result<(f64, Array1<f64>)> {
        let (mut point, mut value) = (start.clone(), self.expected_votes(start.view(), sampling)?);
        for _ in 0..MAX_STEPS {
            let Some(target) = self.target(point.view(), sampling)? else { break };
            let mut gained = false;
            for halving in 0..=HALVINGS {
                let next = &point + &((&target - &point) * 0.5f64.powi(halving));
                let next_value = self.expected_votes(next.view(), sampling)?;
                if next_value > value * (1.0 + LEAST_GAIN) {
                    (point, value, gained) = (next, next_value, true);
                    break;
                }
            }
            if !gained {
                break;
            }
        }
        Ok((value, point))
    }

    /// The average of the queries weighted by how fast their ν falls with the squared distance; `None` if flat.
    fn target(&self, point: ArrayView1<'_, f64>, sampling: &NeighborSampling) -> Result<Option<Array1<f64>>> {
        let mut sum = Array1::zeros(point.len());
        let mut total = 0.0;
        for (query, distances) in self.distances.iter().enumerate() {
            // ν is a step function of the distance: its slope is taken over enough ranks to lose a neighbor or two.
            let window = (sampling.neighbors() / 4).clamp(1, 1 << 20);
            let rank = self.rank_of(query, point);
            let last = distances.len() as u64;
            let (near, far) = (rank.saturating_sub(window).max(1), (rank + window).min(last));
            if near >= far {
                continue;
            }
            let width = distances[far as usize - 1] - distances[near as usize - 1];
            let fall = sampling.inclusion(near)? - sampling.inclusion(far)?;
            let weight = fall / width;
            if weight > 0.0 && weight.is_finite() {
                sum.scaled_add(weight, &self.queries.row(query));
                total += weight;
            }
        }
        Ok((total > 0.0).then(|| sum / total))
    }
}

fn same_features(expected: usize, found: usize) -> Result<()> {
    let fits = found == expected && found > 0;
    Error::check_length(fits, "point", found, format_args!("{} features, as the queries", expected.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::best_candidate;
    use ndarray::array;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Points and queries around two centers in five dimensions.
    fn clouds(points: usize, queries: usize) -> (Array2<f64>, Array2<f64>, Vec<usize>) {
        let mut stream = ChaCha8Rng::seed_from_u64(7);
        let mut cloud = |count: usize| {
            Array2::from_shape_fn((count, 5), |(row, _)| 3.0 * (row % 2) as f64 + stream.random::<f64>() - 0.5)
        };
        (cloud(points), cloud(queries), (0..queries).map(|query| query % 2).collect())
    }

    #[test]
    fn ranks_are_counted_one_by_one() {
        let (points, queries, _) = clouds(200, 6);
        let [full, short] = [200, 20].map(|ranks| NeighborIndex::new(queries.view(), points.view(), ranks).unwrap());
        for candidate in 0..20 {
            let point = points.row(candidate);
            for (query, (&rank, &cut)) in
                full.ranks_of(point).unwrap().iter().zip(&short.ranks_of(point).unwrap()).enumerate()
            {
                let distance = |other: ArrayView1<'_, f64>| squared_distance(queries.row(query), other);
                let nearer = points.rows().into_iter().filter(|other| distance(*other) < distance(point)).count();
                assert_eq!(rank, nearer as u64 + 1);
                assert_eq!(full.neighbors(query)[nearer], candidate);
                assert_eq!(cut, rank.min(21));
            }
        }
    }

    /// A point between the queries of one cloud votes on more of them than any training point.
    #[test]
    fn the_embedding_beats_every_training_point_and_its_start() {
        let (points, queries, labels) = clouds(400, 40);
        let sampling = NeighborSampling::new(10, 0.25, 400).unwrap();
        let index = NeighborIndex::new(queries.view(), points.view(), 400).unwrap();
        let ranks: Vec<u64> = points.rows().into_iter().flat_map(|point| index.ranks_of(point).unwrap()).collect();
        let ranks = Array2::from_shape_vec((400, 40), ranks).unwrap();
        let best = best_candidate(&sampling, ranks.view(), |_| true).unwrap().unwrap();
        let found = index.worst_embedding(points.view(), &labels, &sampling).unwrap();
        assert!(found.expected_votes > 1.2 * best.expected_votes, "{found:?} {best:?}");
        assert!(found.expected_votes >= found.expected_votes_average);
        assert!(found.expected_votes <= 0.25 * 40.0);
        let recounted = sampling.expected_votes(index.ranks_of(found.features.view()).unwrap()).unwrap();
        assert_eq!(found.expected_votes, recounted);
    }

    #[test]
    fn shapes_that_disagree_are_rejected() {
        let (queries, points) = (array![[0.0, 0.0]], array![[1.0, 0.0]]);
        let index = NeighborIndex::new(queries.view(), points.view(), 9).unwrap();
        let sampling = NeighborSampling::new(1, 0.5, 50).unwrap();
        let errors = [
            NeighborIndex::new(queries.view(), array![[1.0]].view(), 1).err(),
            NeighborIndex::new(Array2::zeros((0, 2)).view(), points.view(), 1).err(),
            NeighborIndex::new(queries.view(), points.view(), 0).err(),
            NeighborIndex::new(array![[f64::NAN, 1.0]].view(), points.view(), 1).err(),
            index.ranks_of(array![0.0].view()).err(),
            index.worst_embedding(points.view(), &[], &sampling).err(),
        ];
        let messages: Vec<String> = errors
            .into_iter()
            .map(|error| error.map_or_else(|| "accepted".into(), |error| error.to_string()))
            .collect();
        insta::assert_snapshot!(messages.join("\n"), @r"
        point has length 1; expected 2 features, as the queries
        list of queries has length 0; expected at least 1, and 1 rank
        list of queries has length 1; expected at least 1, and 1 rank
        feature = NaN is not in (-inf, inf)
        point has length 1; expected 2 features, as the queries
        list of query labels has length 0; expected 1, one per query
        ");
    }
}
