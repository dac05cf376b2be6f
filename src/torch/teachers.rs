//! Teachers that vote: PATE's random partitions, CaPC's fixed one, and teachers that met one more point.

use super::device::TrainingDevice;
use super::ensemble::Ensemble;
use super::guard::guarded;
use super::mlp::MlpEnsemble;
use super::seed::{Purpose, stream};
use super::train::{TrainingImages, TrainingPlan, train};
use crate::error::{Error, Result};
use crate::record::ImageSet;
use ndarray::{Array1, Array2, Array3, Axis};
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::Serialize;
use std::ops::Range;
use tch::Tensor;

/// Networks trained side by side on one thread of a CPU: their parameters stay in its cache.
const GROUP: usize = 8;

/// Networks trained side by side on a GPU at most.
const GPU_GROUP: usize = 512;

/// Which teachers are trained, and how.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TeacherPlan {
    /// Number of teachers k of an ensemble.
    pub teachers: usize,
    /// Images of each teacher; as many as there are for all if absent.
    pub images: Option<usize>,
    /// Hidden units H of each network.
    pub hidden: usize,
    /// Instantiations N_g: ensembles trained, with other randomness each.
    pub instantiations: usize,
    /// Queries, drawn from the test images.
    pub queries: usize,
    /// Queries that adversaries choose: half with the smallest margin of the votes, the others at random.
    pub adversarial: usize,
    /// Retrainings of one teacher for each of them.
    pub retrainings: usize,
    /// Training of each network.
    pub training: TrainingPlan,
    /// Seed of everything random.
    pub seed: u64,
}

/// Recorded votes: classes, under the names of the arrays that `audit votes` reads.
#[derive(Debug, Clone, PartialEq)]
pub struct TeacherVotes {
    /// \[instantiation, query, teacher\]: a new random partition and new weights each time.
    pub pate_votes: Array3<u8>,
    /// The same with one partition.
    pub capc_votes: Array3<u8>,
    /// Test image behind each query.
    pub query_index: Array1<i32>,
    /// Its class.
    pub query_label: Array1<u8>,
    /// The second most common vote of all PATE teachers; the poisoned label.
    pub second_label: Array1<u8>,
    /// Queries that adversaries choose, as positions, sorted.
    pub adv_query: Array1<i32>,
    /// \[adversarial query, retraining\]: a PATE teacher that met the query with its label in place of one image.
    pub pate_nat_advq: Array2<u8>,
    /// The same with the poisoned label.
    pub pate_pois_advq: Array2<u8>,
    /// \[adversarial query, retraining\]: party 0, which met the query with its label beside its own images.
    pub capc_nat_advq: Array2<u8>,
    /// The same with the poisoned label.
    pub capc_pois_advq: Array2<u8>,
    /// \[query, teacher\]: PATE teachers that met the poisoned query `poison_query` in place of one image.
    pub pate_pois_natq: Array2<u8>,
    /// Position of that query.
    pub poison_query: i64,
    /// Training images of each teacher of `pate_votes`, \[instantiation, teacher, image\].
    pub pate_images: Array3<u32>,
    /// Training images of each party of `capc_votes`, \[party, image\].
    pub capc_images: Array2<u32>,
}

impl TeacherVotes {
    /// Share of votes for the query's class, over all PATE teachers.
    #[must_use]
    pub fn pate_accuracy(&self) -> f64 {
        accuracy(&self.pate_votes, &self.query_label)
    }

    /// Share of votes for the query's class, over all CaPC parties.
    #[must_use]
    pub fn capc_accuracy(&self) -> f64 {
        accuracy(&self.capc_votes, &self.query_label)
    }
}

fn accuracy(votes: &Array3<u8>, labels: &Array1<u8>) -> f64 {
    let right =
        votes.axis_iter(Axis(1)).zip(labels).map(|(votes, label)| votes.iter().filter(|&vote| vote == label).count());
    right.sum::<usize>() as f64 / votes.len() as f64
}

impl TeacherPlan {
    /// All networks trained: ensembles of both kinds and retrainings.
    #[must_use]
    pub fn networks(&self) -> u64 {
        (2 * self.instantiations * self.teachers + 4 * self.adversarial * self.retrainings + self.teachers) as u64
    }

    /// Images of each teacher.
    fn images_each(&self, available: usize) -> Result<usize> {
        let images = self.images.unwrap_or(available / self.teachers.max(1));
        let counts = [
            ("teachers", self.teachers),
            ("images of a teacher", images),
            ("hidden units", self.hidden),
            ("instantiations", self.instantiations),
            ("queries", self.queries),
            ("images in a step", self.training.batch),
            ("epochs", self.training.epochs),
        ];
        if let Some((quantity, _)) = counts.into_iter().find(|&(_, count)| count == 0) {
            return Err(Error::Domain { quantity, value: 0.0, domain: "[1, inf)" });
        }
        match images.checked_mul(self.teachers) {
            Some(needed) if needed <= available => Ok(images),
            _ => Err(Error::Refused {
                operation: "teachers",
                reason: format!(
                    "{} teachers with {images} images each need more than the {available} there are",
                    self.teachers
                ),
            }),
        }
    }
}

/// Trains teachers as Fashion-MNIST's recorded votes were: `progress` is told how many networks are done.
///
/// An adversarial query is met by a PATE teacher in place of one of its images, and by party 0 beside its own.
///
/// # Errors
/// [`Error::Domain`] for a count of 0, [`Error::Refused`] if there are too few images or queries,
/// [`Error::Length`] if training and test images differ in shape, [`Error::Unavailable`] if libtorch fails.
///
/// # References
/// Papernot et al. (2018), "Scalable private learning with PATE"; Choquette-Choo et al. (2021), "CaPC learning".
pub fn train_teachers(
    train: &ImageSet,
    test: &ImageSet,
    plan: &TeacherPlan,
    device: TrainingDevice,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<TeacherVotes> {
    let each = plan.images_each(train.len())?;
    if plan.queries > test.len() {
        let reason = format!("{} queries of {} test images", plan.queries, test.len());
        return Err(Error::Refused { operation: "teachers", reason });
    }
    if plan.adversarial > plan.queries {
        let reason = format!("{} adversarial queries of {}", plan.adversarial, plan.queries);
        return Err(Error::Refused { operation: "teachers", reason });
    }
    if train.shape() != test.shape() {
        let expected = format!("that of the training images, {:?}", train.shape());
        return Err(Error::Length { quantity: "shape of test images", found: test.shape().iter().product(), expected });
    }
    let mut lab = Lab::new(train, test, plan, device, progress)?;
    let partitions = |purpose: Split| -> Vec<Vec<u32>> { partition(train.len(), plan, each, purpose) };
    let (mut pate_images, mut tables) = (Vec::new(), Vec::new());
    for instantiation in 0..plan.instantiations {
        let teachers = partitions(Split::Pate(instantiation as u64));
        pate_images.extend(teachers.iter().flatten().copied());
        tables.extend(teachers);
    }
    let shape = (plan.instantiations, plan.teachers, plan.queries);
    let pate_votes = ballots(lab.vote(Phase::Pate, &tables)?, shape);
    let parties = partitions(Split::Capc);
    let tables: Vec<Vec<u32>> = (0..plan.instantiations).flat_map(|_| parties.clone()).collect();
    let capc_votes = ballots(lab.vote(Phase::Capc, &tables)?, shape);

    let second_label = second_votes(&pate_votes, lab.classes);
    lab.add_queries(&second_label)?;
    let adv_query = adversarial(&pate_votes, lab.classes, plan);
    // Of the queries with the most agreement, so that its own label is clearly not the poisoned one.
    let poison = poisoned(&pate_votes, lab.classes);
    let [natural, mislabelled] = [train.len(), train.len() + plan.queries].map(|start| start as u32);
    let met = |phase: Phase, first: u32| -> Vec<(Vec<u32>, usize)> {
        let mut all = Vec::new();
        for &query in &adv_query {
            for retraining in 0..plan.retrainings {
                let mut images = match phase {
                    Phase::CapcNatural | Phase::CapcPoisoned => parties[0].clone(),
                    _ => some_images(train.len(), each - 1, plan.seed, phase, (query, retraining)),
                };
                images.push(first + query as u32);
                all.push((images, query));
            }
        }
        all
    };
    let retrained = |phase, first| -> Result<Array2<u8>> {
        let (tables, asked): (Vec<_>, Vec<_>) = met(phase, first).into_iter().unzip();
        let votes = lab.vote_on_one(phase, &tables, &asked)?;
        Ok(Array2::from_shape_fn((adv_query.len(), plan.retrainings), |(row, column)| {
            votes[row * plan.retrainings + column]
        }))
    };
    let pate_nat_advq = retrained(Phase::PateNatural, natural)?;
    let pate_pois_advq = retrained(Phase::PatePoisoned, mislabelled)?;
    let capc_nat_advq = retrained(Phase::CapcNatural, natural)?;
    let capc_pois_advq = retrained(Phase::CapcPoisoned, mislabelled)?;
    let tables: Vec<Vec<u32>> = (0..plan.teachers)
        .map(|teacher| {
            let mut images = some_images(train.len(), each - 1, plan.seed, Phase::PateOther, (poison, teacher));
            images.push(mislabelled + poison as u32);
            images
        })
        .collect();
    let other = lab.vote(Phase::PateOther, &tables)?;
    let pate_pois_natq = Array2::from_shape_fn((plan.queries, plan.teachers), |(query, teacher)| other[teacher][query]);
    let images =
        |count: usize, images: Vec<u32>| Array1::from(images).into_shape_with_order((count, plan.teachers, each));
    Ok(TeacherVotes {
        pate_votes,
        capc_votes,
        query_index: lab.queries.iter().map(|&query| query as i32).collect(),
        query_label: lab.query_label,
        second_label: second_label.into(),
        adv_query: adv_query.iter().map(|&query| query as i32).collect(),
        pate_nat_advq,
        pate_pois_advq,
        capc_nat_advq,
        capc_pois_advq,
        pate_pois_natq,
        poison_query: poison as i64,
        // As many as were drawn.
        pate_images: images(plan.instantiations, pate_images).unwrap_or_default(),
        capc_images: images(1, parties.concat()).unwrap_or_default().index_axis_move(Axis(0), 0),
    })
}

/// Trainings that must not share random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Pate = 1,
    Capc = 2,
    PateNatural = 3,
    PatePoisoned = 4,
    CapcNatural = 5,
    CapcPoisoned = 6,
    PateOther = 7,
}

/// Which split of the images.
#[derive(Debug, Clone, Copy)]
enum Split {
    /// Of an instantiation.
    Pate(u64),
    Capc,
    Queries,
    Adversary,
}

impl Split {
    fn number(self) -> u64 {
        match self {
            Self::Queries => 0,
            Self::Adversary => 1,
            Self::Capc => 2,
            Self::Pate(instantiation) => 16 + instantiation,
        }
    }

    /// 0..n in random order.
    fn order(self, n: usize, seed: u64) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.shuffle(&mut stream(seed, Purpose::Split, self.number(), 0));
        order
    }
}

/// Images of each teacher, none of them in two hands.
fn partition(images: usize, plan: &TeacherPlan, each: usize, split: Split) -> Vec<Vec<u32>> {
    split.order(images, plan.seed).chunks_exact(each).take(plan.teachers).map(<[u32]>::to_vec).collect()
}

/// So many different images at random.
fn some_images(images: usize, count: usize, seed: u64, phase: Phase, (query, number): (usize, usize)) -> Vec<u32> {
    let mut stream = stream(seed, Purpose::Split, (1 << 32) + ((phase as u64) << 33) + query as u64, number as u64);
    rand::seq::index::sample(&mut stream, images, count).into_iter().map(|image| image as u32).collect()
}

/// Votes of trained networks, with their numbers, on the queries or some of them.
type Question<'a> =
    dyn Fn(&mut MlpEnsemble, Range<usize>, &Tensor) -> std::result::Result<Vec<Vec<i64>>, tch::TchError> + Sync + 'a;

/// Images and queries on the device, and who is told about the progress.
struct Lab<'a> {
    images: TrainingImages,
    queries: Vec<u32>,
    query_inputs: Tensor,
    query_label: Array1<u8>,
    classes: usize,
    plan: &'a TeacherPlan,
    device: TrainingDevice,
    progress: &'a (dyn Fn(u64) + Sync),
}

impl<'a> Lab<'a> {
    fn new(
        train: &ImageSet,
        test: &ImageSet,
        plan: &'a TeacherPlan,
        device: TrainingDevice,
        progress: &'a (dyn Fn(u64) + Sync),
    ) -> Result<Self> {
        let classes = train.classes.max(test.classes);
        let mut queries = Split::Queries.order(test.len(), plan.seed);
        queries.truncate(plan.queries);
        queries.sort_unstable();
        let query_label: Array1<u8> = queries.iter().map(|&query| test.labels[query as usize]).collect();
        let pixels: Vec<u8> = queries
            .iter()
            .flat_map(|&query| test.pixels.index_axis(Axis(0), query as usize).iter().copied().collect::<Vec<_>>())
            .collect();
        guarded("images", || {
            let images = |pixels: &[u8], labels: &Array1<u8>| {
                TrainingImages::new(pixels, &labels.to_vec(), classes, device.tensors())
            };
            let query_inputs = images(&pixels, &query_label).inputs;
            let train = images(&train.pixels.iter().copied().collect::<Vec<_>>(), &train.labels);
            Ok(Self {
                images: train,
                queries,
                query_inputs,
                query_label: query_label.clone(),
                classes,
                plan,
                device,
                progress,
            })
        })
    }

    /// Puts the queries behind the training images: with their labels, and then with the poisoned ones.
    fn add_queries(&mut self, poisoned: &[u8]) -> Result<()> {
        guarded("images", || {
            let target = |labels: &[u8]| super::train::one_hot(labels, self.classes, self.device.tensors());
            let [natural, poisoned] = [target(&self.query_label.to_vec()), target(poisoned)];
            let inputs = Tensor::cat(&[&self.images.inputs, &self.query_inputs, &self.query_inputs], 0);
            let targets = Tensor::cat(&[&self.images.targets, &natural, &poisoned], 0);
            self.images = TrainingImages { inputs, targets };
            Ok(())
        })
    }

    /// Votes of a network for each table on every query.
    fn vote(&self, phase: Phase, tables: &[Vec<u32>]) -> Result<Vec<Vec<u8>>> {
        let groups = self.in_groups(phase, tables, &|network, _, queries| {
            let (count, pixels) = queries.size2()?;
            network.logits(&queries.expand([network.networks(), count, pixels], false)).argmax(-1, false).try_into()
        })?;
        Ok(groups
            .into_iter()
            .flat_map(|group: Vec<Vec<i64>>| group)
            .map(|votes| votes.iter().map(|&vote| vote as u8).collect())
            .collect())
    }

    /// Votes of a network for each table on a query of its own.
    fn vote_on_one(&self, phase: Phase, tables: &[Vec<u32>], asked: &[usize]) -> Result<Vec<u8>> {
        let groups = self.in_groups(phase, tables, &|network, range, queries| {
            let rows: Vec<i64> = asked[range].iter().map(|&query| query as i64).collect();
            let inputs = queries.index_select(0, &Tensor::from_slice(&rows).to_device(queries.device())).unsqueeze(1);
            network.logits(&inputs).argmax(-1, false).try_into()
        })?;
        Ok(groups.into_iter().flatten().flatten().map(|vote: i64| vote as u8).collect())
    }

    /// Trains a network for each table, a group at a time, and asks each group.
    fn in_groups(&self, phase: Phase, tables: &[Vec<u32>], ask: &Question<'_>) -> Result<Vec<Vec<Vec<i64>>>> {
        // The tensors of `self` may not be seen by two threads: what the groups need besides is taken out of it.
        let &Self { classes, plan, device, progress, .. } = self;
        let steps = plan.training.steps(tables.iter().map(Vec::len).max().unwrap_or(0));
        let size = if device.is_cuda() { GPU_GROUP } else { GROUP };
        let group = |start: usize, images: TrainingImages, queries: Tensor| {
            guarded("training", || {
                let range = start..tables.len().min(start + size);
                let streams = |purpose| -> Vec<_> {
                    range.clone().map(|network| stream(plan.seed, purpose, phase as u64, network as u64)).collect()
                };
                let inputs = images.inputs.size()[1] as usize;
                let mut network =
                    MlpEnsemble::new(&mut streams(Purpose::Weights), inputs, plan.hidden, classes, device.tensors());
                let tables: Vec<&[u32]> = tables[range.clone()].iter().map(Vec::as_slice).collect();
                train(&mut network, &images, &tables, streams(Purpose::Order), &plan.training, steps);
                let networks = range.len() as u64;
                let votes = ask(&mut network, range, &queries);
                progress(networks);
                votes.map_err(|error| Error::Unavailable { operation: "votes", reason: error.to_string() })
            })
        };
        // Tensors may go to another thread but not be seen by two.
        let groups: Vec<_> = (0..tables.len())
            .step_by(size)
            .map(|start| (start, self.images.share(), self.query_inputs.shallow_clone()))
            .collect();
        if device.is_cuda() {
            return groups.into_iter().map(|(start, images, queries)| group(start, images, queries)).collect();
        }
        let group = &group;
        groups.into_par_iter().map(|(start, images, queries)| group(start, images, queries)).collect()
    }
}

/// \[instantiation, query, teacher\] from a row of votes for each teacher.
fn ballots(votes: Vec<Vec<u8>>, (instantiations, teachers, queries): (usize, usize, usize)) -> Array3<u8> {
    Array3::from_shape_fn((instantiations, queries, teachers), |(instantiation, query, teacher)| {
        votes[instantiation * teachers + teacher][query]
    })
}

/// Votes per class on every query, all instantiations together.
fn histograms(votes: &Array3<u8>, classes: usize) -> Vec<Vec<u64>> {
    let count = |votes: ndarray::ArrayView2<'_, u8>| {
        let mut histogram = vec![0; classes];
        votes.iter().for_each(|&vote| histogram[usize::from(vote)] += 1);
        histogram
    };
    votes.axis_iter(Axis(1)).map(count).collect()
}

/// Classes of a histogram by their votes, the most first; of two with as many the smaller class.
fn ranked(histogram: &[u64]) -> Vec<usize> {
    let mut classes: Vec<usize> = (0..histogram.len()).collect();
    classes.sort_by_key(|&class| std::cmp::Reverse(histogram[class]));
    classes
}

/// The second most common vote on every query; with one class that class.
fn second_votes(votes: &Array3<u8>, classes: usize) -> Vec<u8> {
    histograms(votes, classes).iter().map(|histogram| *ranked(histogram).get(1).unwrap_or(&0) as u8).collect()
}

/// Votes between the first and the second class.
fn margins(votes: &Array3<u8>, classes: usize) -> Vec<u64> {
    let margin = |histogram: &Vec<u64>| {
        let order = ranked(histogram);
        histogram[order[0]] - order.get(1).map_or(0, |&second| histogram[second])
    };
    histograms(votes, classes).iter().map(margin).collect()
}

/// Half with the smallest margin, the others at random, sorted.
fn adversarial(votes: &Array3<u8>, classes: usize, plan: &TeacherPlan) -> Vec<usize> {
    let margins = margins(votes, classes);
    let mut order: Vec<usize> = (0..margins.len()).collect();
    order.sort_by_key(|&query| margins[query]);
    let (close, rest) = order.split_at(plan.adversarial / 2);
    let mut rest = rest.to_vec();
    rest.sort_unstable();
    rest.shuffle(&mut stream(plan.seed, Purpose::Split, Split::Adversary.number(), 0));
    let mut chosen: Vec<usize> = close.iter().chain(&rest[..plan.adversarial - close.len()]).copied().collect();
    chosen.sort_unstable();
    chosen
}

/// The query that a poisoner mislabels: the one on which the teachers agree most.
fn poisoned(votes: &Array3<u8>, classes: usize) -> usize {
    let margins = margins(votes, classes);
    (0..margins.len()).max_by_key(|&query| (margins[query], std::cmp::Reverse(query))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{ImagePart, read_images};
    use crate::torch::{DeviceChoice, Optimizer, Schedule};

    fn plan() -> TeacherPlan {
        TeacherPlan {
            teachers: 10,
            images: None,
            hidden: 16,
            instantiations: 1,
            queries: 100,
            adversarial: 2,
            retrainings: 2,
            training: TrainingPlan {
                epochs: 10,
                batch: 32,
                optimizer: Optimizer::ADAM,
                schedule: Schedule::Constant { rate: 1e-3 },
            },
            seed: 1,
        }
    }

    fn train_on_sample(plan: &TeacherPlan) -> Result<TeacherVotes> {
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/validation/data/fashion_sample.npz");
        let [(train, _), (test, _)] =
            [ImagePart::Train, ImagePart::Test].map(|part| read_images(sample, part).unwrap());
        train_teachers(&train, &test, plan, TrainingDevice::open(DeviceChoice::Cpu)?, &|_| ())
    }

    #[test]
    fn teachers_learn_and_two_runs_agree() {
        let votes = train_on_sample(&plan()).unwrap();
        let accuracy = votes.pate_accuracy();
        println!("mean accuracy {accuracy}, with one partition {}", votes.capc_accuracy());
        // Ten classes: a network that learnt nothing has 10 %. Processors differ in the last digits: room for them.
        assert!(accuracy > 0.4 && votes.capc_accuracy() > 0.4, "{accuracy}");
        let mut images: Vec<u32> = votes.pate_images.iter().copied().collect();
        images.sort_unstable();
        assert_eq!(images, (0..2000).collect::<Vec<u32>>());
        assert_eq!(votes, train_on_sample(&plan()).unwrap());
    }

    #[test]
    fn what_cannot_be_trained_is_refused() {
        let refused = |change: &dyn Fn(&mut TeacherPlan)| {
            let mut plan = plan();
            change(&mut plan);
            train_on_sample(&plan).unwrap_err().to_string()
        };
        let messages = [
            refused(&|plan| plan.teachers = 0),
            refused(&|plan| plan.images = Some(201)),
            refused(&|plan| plan.queries = 501),
            refused(&|plan| plan.adversarial = 101),
            refused(&|plan| plan.training.batch = 0),
        ];
        assert_eq!(messages[0], "teachers = 0 is not in [1, inf)");
        assert_eq!(messages[1], "teachers: 10 teachers with 201 images each need more than the 2000 there are");
        assert_eq!(messages[2], "teachers: 501 queries of 500 test images");
        assert_eq!(messages[3], "teachers: 101 adversarial queries of 100");
        assert_eq!(messages[4], "images in a step = 0 is not in [1, inf)");
    }
}
