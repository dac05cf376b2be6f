//! SELENA: a network distilled from answers of networks that did not see the image.

use super::method::{Answers, Further, Method, PHASE, Queries, Task};
use crate::answers::{accuracy, logits, probabilities};
use crate::checkpoint::{TrainingCheckpoint, one_kept_or_made};
use crate::checks::reject;
use crate::groups::Trainer;
use crate::guard::{guarded, report};
use crate::seed::{Purpose, stream};
use crate::training_images::{Example, TrainingImages, check_tables};
use leakbound::error::Result;
use rand::RngExt;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use tch::Tensor;

/// The models of Split-AI of shadow model m train in the phase of this number plus m, apart from other recipes.
const SPLIT: u64 = 1 << 33;
/// So do the networks that are distilled from them.
const DISTILLED: u64 = 1 << 34;

/// A network that learns, for every image, the mean answer of models that were not trained on it.
///
/// Split-AI: of K models, each member is left out by L, drawn uniformly and independently, and learned by the K - L
/// others with its label. Its soft label is the mean of the softmax probabilities of the L. The network learns these
/// soft labels of all members by cross-entropy; all K + 1 have the same shape and training.
///
/// As published, Split-AI answers for an image that is not a member with the L models that left out a random member.
/// The recording has its own answers to the audited samples themselves as `split_ai_logits` \[model, sample, 1,
/// class\], ln of probabilities, those to their nearest neighbors as `split_ai_neighbor_logits` if these are asked
/// about, and the share of test images that it classifies correctly as `split_ai_test_accuracy` \[model\].
///
/// A checkpoint keeps a shadow model with its K + 1 networks, or nothing of it.
///
/// # References
/// Tang et al. (2022), "Mitigating membership inference attacks by self-distillation through a novel ensemble
/// architecture", Split-AI and Self-Distillation; Aerni, Zhang and Tramèr (2024), "Evaluations of machine learning
/// privacy defenses are misleading", appendices A.4 and B.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Selena {
    /// K, at least 2.
    pub models: usize,
    /// L, from 1 to K - 1.
    pub left_out: usize,
}

impl Selena {
    /// Those of the authors of SELENA and of Aerni et al. (2024).
    pub const PUBLISHED: Self = Self { models: 25, left_out: 10 };
}

/// What is drawn for a shadow model.
#[derive(Clone, Copy)]
enum Draw {
    Members = 0,
    Others = 1,
    Tests = 2,
}

/// The models that answer for an image, rising: for a member those that left it out.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LeaveOut {
    of_images: Vec<Vec<usize>>,
    of_tests: Vec<Vec<usize>>,
}

impl LeaveOut {
    /// For shadow model `number`, which is trained on `members` among the images, and for the test images.
    fn draw(
        selena: Selena,
        (number, seed): (usize, u64),
        (images, members): (usize, &[Example]),
        tests: usize,
    ) -> Self {
        let random = |draw: Draw| stream(seed, Purpose::LeaveOut, draw as u64, number as u64);
        let mut stream = random(Draw::Members);
        // For members and others alike, so that the models of an image do not depend on who else is a member.
        let own: Vec<Vec<usize>> = (0..images)
            .map(|_| {
                let mut set = index::sample(&mut stream, selena.models, selena.left_out).into_vec();
                set.sort_unstable();
                set
            })
            .collect();
        let of_a_member = |stream: &mut ChaCha8Rng| {
            let member = members[stream.random_range(0..members.len())];
            own[member.image as usize].clone()
        };
        let mut is_member = vec![false; images];
        members.iter().for_each(|member| is_member[member.image as usize] = true);
        let (mut of_others, mut of_tests) = (random(Draw::Others), random(Draw::Tests));
        let set = |(own, member): (&Vec<usize>, bool)| if member { own.clone() } else { of_a_member(&mut of_others) };
        Self {
            of_images: own.iter().zip(is_member).map(set).collect(),
            of_tests: (0..tests).map(|_| of_a_member(&mut of_tests)).collect(),
        }
    }

    /// The members that each of K models learns.
    fn tables(&self, models: usize, members: &[Example]) -> Vec<Vec<Example>> {
        let learns = |model: usize, member: &Example| !self.of_images[member.image as usize].contains(&model);
        (0..models).map(|model| members.iter().filter(|member| learns(model, member)).copied().collect()).collect()
    }

    /// Split-AI's probabilities [N + T, C] for images and test images, from those of each model.
    fn answers(&self, models: &[Vec<f32>], classes: usize) -> Vec<f32> {
        let sets = self.of_images.iter().chain(&self.of_tests);
        let mean = |(row, set): (usize, &Vec<usize>)| {
            let mean = |class: usize| {
                let sum: f64 = set.iter().map(|&model| f64::from(models[model][row * classes + class])).sum();
                (sum / set.len() as f64) as f32
            };
            (0..classes).map(mean).collect::<Vec<f32>>()
        };
        sets.enumerate().flat_map(mean).collect()
    }
}

/// Shadow models that are trained one by one.
struct Models<'a> {
    selena: Selena,
    /// Without its own checkpoint.
    trainer: Trainer<'a>,
    queries: Queries,
    /// Training images of each.
    tables: &'a [Vec<Example>],
    /// Place of each nearest neighbor among the images.
    neighbors: &'a [u32],
    test_labels: &'a [u8],
}

/// The tensors of one of them, for one thread.
struct Tensors {
    images: TrainingImages,
    /// Queries on the distilled network.
    asked: Tensor,
    /// Queries on the models of Split-AI: training images and test images, [N + T, F].
    split_asked: Tensor,
}

impl Tensors {
    fn share(&self) -> Self {
        let [asked, split_asked] = [&self.asked, &self.split_asked].map(Tensor::shallow_clone);
        Self { images: self.images.share(), asked, split_asked }
    }
}

impl Models<'_> {
    /// Trains shadow model `number` with all that it is distilled from, and asks it.
    fn answers(&self, number: usize, tensors: &Tensors) -> Result<Answers> {
        let Tensors { images, asked, .. } = tensors;
        let (classes, queries) = (self.trainer.classes, self.queries);
        let all = images.inputs.size()[0] as usize;
        let split = self.split_answers(number, all, tensors)?;
        let (of_images, of_tests) = split.split_at(all * classes);
        let (lesson, split_accuracy) = guarded("soft labels", || {
            let rows = |answers: &[f32]| Tensor::from_slice(answers).view([-1, classes as i64]);
            let targets = rows(of_images).to_device(images.inputs.device());
            let lesson = TrainingImages { inputs: images.inputs.shallow_clone(), targets };
            Ok((lesson, accuracy(&rows(of_tests), self.test_labels)?))
        })?;
        let (phase, table) = (DISTILLED + number as u64, [self.tables[number].clone()]);
        let answers =
            self.trainer.train_and_ask(phase, &lesson, &table, asked, &|networks, _, asked| logits(networks, asked))?;
        // Single precision has no smaller probability but 0.
        let logs = |image: usize| {
            of_images[image * classes..][..classes].iter().map(|&probability| probability.max(f32::MIN_POSITIVE).ln())
        };
        let audited: Vec<f32> = (queries.fixed..queries.fixed + queries.attacked).flat_map(logs).collect();
        let mut all = answers;
        all.extend([audited, vec![split_accuracy as f32]]);
        if !self.neighbors.is_empty() {
            all.push(self.neighbors.iter().flat_map(|&image| logs(image as usize)).collect());
        }
        Ok(all)
    }

    /// Split-AI's probabilities for N training images and the test images.
    fn split_answers(&self, number: usize, all: usize, tensors: &Tensors) -> Result<Vec<f32>> {
        let trainer = self.trainer;
        let (sets, tables) = self.split(number, all)?;
        let (phase, images) = (SPLIT + number as u64, &tensors.images);
        let models = trainer.train_and_ask(phase, images, &tables, &tensors.split_asked, &|networks, _, asked| {
            probabilities(networks, asked)
        })?;
        Ok(sets.answers(&models, trainer.classes))
    }

    /// Which models answer for which of N images, and what each of them learns.
    fn split(&self, number: usize, all: usize) -> Result<(LeaveOut, Vec<Vec<Example>>)> {
        let (models, members) = (self.selena.models, &self.tables[number]);
        let seed = self.trainer.seed;
        let sets = LeaveOut::draw(self.selena, (number, seed), (all, members), self.test_labels.len());
        let tables = sets.tables(models, members);
        if let Some(empty) = tables.iter().position(Vec::is_empty) {
            let images = members.len();
            let reason = format!(
                "model {empty} of the {models} of SELENA leaves out all {images} images of shadow model {number}; take \
                 more images or leave out fewer"
            );
            return reject("defense", reason);
        }
        Ok((sets, tables))
    }

    /// What a shadow model answers, from the checkpoint if that has it.
    fn kept_answers(
        &self,
        number: usize,
        tensors: &Tensors,
        checkpoint: Option<&TrainingCheckpoint>,
    ) -> Result<Answers> {
        let found = || report(self.trainer.progress, self.selena.networks());
        one_kept_or_made(checkpoint, (PHASE, number), found, || self.answers(number, tensors))
    }
}

impl Method for Selena {
    fn networks(&self) -> u64 {
        self.models as u64 + 1
    }

    fn check(&self, _: usize) -> Result<()> {
        let &Self { models, left_out } = self;
        if left_out == 0 || left_out >= models {
            let reason = format!(
                "{left_out} of {models} models of SELENA leave out an image; at least one must, and one must learn it"
            );
            return reject("defense", reason);
        }
        Ok(())
    }

    fn further(&self, Queries { attacked, neighbors, .. }: Queries, classes: usize) -> Vec<Further> {
        let of_neighbors = Further::new("split_ai_neighbor_logits", vec![neighbors, 1, classes]);
        let mut all = vec![
            Further::new("split_ai_logits", vec![attacked, 1, classes]),
            Further::of_models("split_ai_test_accuracy", "mean-split-ai-test-accuracy"),
        ];
        all.extend((neighbors > 0).then_some(of_neighbors));
        all
    }

    fn answers(&self, task: &Task<'_>) -> Result<Vec<Answers>> {
        let &Task { trainer, images, tables, asked, queries, neighbors, test_labels } = task;
        let all = images.inputs.size()[0] as usize;
        check_tables("defense", self.networks(), all)?;
        let tensors = guarded("images", || {
            let before = queries.before_tests() as i64;
            let tests = asked.narrow(0, before, asked.size()[0] - before);
            let split_asked = Tensor::cat(&[&images.inputs, &tests], 0);
            Ok(Tensors { images: images.share(), asked: asked.shallow_clone(), split_asked })
        })?;
        let checkpoint = trainer.checkpoint;
        let trainer = Trainer { checkpoint: None, ..trainer };
        let models = Models { selena: *self, trainer, queries, tables, neighbors, test_labels };
        // Before hours of training: whether every model of each has an image.
        (0..tables.len()).try_for_each(|number| models.split(number, all).map(drop))?;
        let model = |(number, tensors): (usize, Tensors)| models.kept_answers(number, &tensors, checkpoint);
        trainer.device.each((0..tables.len()).map(|number| (number, tensors.share())).collect(), model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SELENA: Selena = Selena::PUBLISHED;

    /// 300 images; the last hundred are members when they are even.
    fn members() -> Vec<Example> {
        (0..300).filter(|image| image < &200 || image % 2 == 0).map(Example::labeled).collect()
    }

    fn drawn(number: usize) -> LeaveOut {
        LeaveOut::draw(SELENA, (number, 7), (300, &members()), 50)
    }

    #[test]
    fn each_member_is_left_out_by_exactly_as_many_models() {
        let (sets, members) = (drawn(3), members());
        let tables = sets.tables(25, &members);
        for member in &members {
            let learns: Vec<usize> = (0..25).filter(|&model| tables[model].contains(member)).collect();
            let left_out = &sets.of_images[member.image as usize];
            assert_eq!((learns.len(), left_out.len()), (15, 10));
            assert!(left_out.iter().all(|model| !learns.contains(model)));
        }
        assert_eq!(tables.iter().map(Vec::len).sum::<usize>(), 250 * 15);
        // 250 members, each learned with probability 0.6: 150 with standard deviation 7.7; one of 25 models beyond six
        // of them with probability 5e-8.
        let sizes: Vec<usize> = tables.iter().map(Vec::len).collect();
        println!("{sizes:?}");
        assert!(sizes.iter().all(|size| size.abs_diff(150) < 47), "{sizes:?}");
        assert!(tables.iter().flatten().all(|example| members.contains(example)));
    }

    #[test]
    fn outsiders_are_answered_by_the_models_of_a_member() {
        let (sets, members) = (drawn(3), members());
        let of_members: Vec<&Vec<usize>> =
            members.iter().map(|member| &sets.of_images[member.image as usize]).collect();
        let outsiders = (200..300).filter(|image| image % 2 == 1).map(|image| &sets.of_images[image]);
        let all: Vec<&Vec<usize>> = outsiders.chain(&sets.of_tests).collect();
        assert_eq!(all.len(), 100);
        assert!(all.iter().all(|set| of_members.contains(set)));
        // 100 draws from 250 members are of 82 different ones on average; of 50 or fewer with probability below 1e-12.
        assert!(all.iter().collect::<std::collections::BTreeSet<_>>().len() > 50);
        assert_eq!(sets, drawn(3));
        assert_ne!(sets, drawn(4));
        // A member's models do not depend on who else is one.
        let fewer: Vec<Example> = members[..100].to_vec();
        let of_fewer = LeaveOut::draw(SELENA, (3, 7), (300, &fewer), 50);
        assert_eq!(of_fewer.of_images[..100], sets.of_images[..100]);
    }

    #[test]
    fn answers_are_means_of_the_models_that_left_out_the_image() {
        let sets = LeaveOut { of_images: vec![vec![0, 2], vec![1, 2]], of_tests: vec![vec![0, 1]] };
        let models = [
            vec![0.5f32, 0.5, 0.9, 0.1, 0.25, 0.75],
            vec![0.0, 1.0, 0.5, 0.5, 0.75, 0.25],
            vec![1.0, 0.0, 0.0, 1.0, 0.1, 0.9],
        ];
        assert_eq!(sets.answers(&models, 2), [0.75, 0.25, 0.25, 0.75, 0.5, 0.5]);
    }

    #[test]
    fn numbers_of_models_that_do_not_fit_are_rejected() {
        for (models, left_out) in [(25, 0), (25, 25), (1, 1), (0, 0)] {
            let error = Selena { models, left_out }.check(10).unwrap_err().to_string();
            let expected = format!(
                "defense: {left_out} of {models} models of SELENA leave out an image; at least one must, and one must \
                 learn it"
            );
            assert_eq!(error, expected);
        }
        assert!(SELENA.check(10).is_ok());
    }
}
