//! Images on the device, and networks that answer about them.

use super::plan::StudentPlan;
use crate::answers::logits;
use crate::checkpoint::Dependence;
use crate::checks::unavailable;
use crate::context::TrainingContext;
use crate::ensemble::logits_of_all;
use crate::groups::Trainer;
use crate::guard::guarded;
use crate::teachers::split::Phase;
use crate::training_images::{Example, TrainingImages, one_hot};
use leakbound::error::Result;
use leakbound::record::ImageSet;
use ndarray::{Array2, Axis};
use serde::Serialize;
use tch::Tensor;

/// Trainings of students, separate from the phases of the teachers: the run is added.
const STUDENTS: u64 = 1 << 32;
/// Training of networks without privacy.
const BASELINES: u64 = 1 << 33;

/// Which images of the two halves of a data set are what.
pub(super) struct Parts {
    /// Test images that teachers label.
    pub public: Vec<u32>,
    /// Test images that measure.
    pub held_out: Vec<u32>,
    /// Training images that students are queried on.
    pub private: Vec<u32>,
}

/// A student to be trained: its run, and the labels that it gets, none for the images that it does not see.
pub(super) struct Pupil<'a> {
    pub run: u64,
    /// For each public image.
    pub labels: &'a [Option<u8>],
}

/// Images of all parts, and how networks are trained on them.
pub(super) struct Lab<'a> {
    teachers: Trainer<'a>,
    students: Trainer<'a>,
    /// Training images that students are queried on, which their answers depend on.
    private: &'a [u32],
    train: TrainingImages,
    /// Public images, then those that measure, then private ones: [P + H + V, F].
    asked: Tensor,
    /// P and P + H.
    ends: [i64; 2],
}

impl<'a> Lab<'a> {
    pub fn new(context: &TrainingContext<'a>, parts: &'a Parts, plan: &'a StudentPlan) -> Result<Self> {
        let &TrainingContext { train, test, device, .. } = context;
        let classes = context.classes();
        let some = |set: &ImageSet, images: &[u32]| {
            let (mut pixels, mut labels) = (Vec::new(), Vec::new());
            for &image in images {
                pixels.extend(set.pixels.index_axis(Axis(0), image as usize));
                labels.push(set.labels[image as usize]);
            }
            TrainingImages::new(&pixels, &labels, classes, device.tensors())
        };
        let ends = [parts.public.len() as i64, (parts.public.len() + parts.held_out.len()) as i64];
        guarded("images", || {
            let asked = [some(test, &parts.public), some(test, &parts.held_out), some(train, &parts.private)];
            Ok(Self {
                teachers: context.trainer(plan.network, &plan.training, plan.seed),
                students: context.trainer(plan.student_network, &plan.student_training, plan.seed),
                private: &parts.private,
                train: TrainingImages::of(train, classes, device.tensors()),
                asked: Tensor::cat(&asked.map(|images| images.inputs), 0),
                ends,
            })
        })
    }

    /// Votes of a teacher for each table of training images, on the public images and on those that measure.
    pub fn votes(&self, tables: &[Vec<Example>]) -> Result<Vec<Vec<u8>>> {
        let asked = self.asked.narrow(0, 0, self.ends[1]);
        // As those of the recipe for teachers: the same seed gives the same teachers.
        self.teachers.train_and_ask(Phase::Pate as u64, &self.train, tables, &asked, &|networks, _, images| {
            logits_of_all(networks, images).argmax(-1, false).try_into()
        })
    }

    /// Logits of each student on all images that are queried on, \[image, class\].
    ///
    /// Students of one run start from the same weights, so that none depends on which other budgets there are.
    pub fn students(&self, pupils: &[Pupil<'_>]) -> Result<Vec<Array2<f32>>> {
        let public = self.asked.narrow(0, 0, self.ends[0]);
        let work = pupils.iter().map(|pupil| (pupil, public.shallow_clone(), self.asked.shallow_clone())).collect();
        // Not of `self`, whose tensors cannot be seen by two threads.
        let (students, private, classes) = (&self.students, self.private, self.students.classes);
        let student = |(pupil, inputs, asked): (&Pupil<'_>, Tensor, Tensor)| {
            let labels: Vec<u8> = pupil.labels.iter().map(|label| label.unwrap_or(0)).collect();
            let labeled = (0..).zip(pupil.labels).filter(|(_, label)| label.is_some());
            let table: Vec<Example> = labeled.map(|(image, _)| Example::labeled(image)).collect();
            let targets = guarded("labels", || Ok(one_hot(&labels, classes, students.device.tensors())))?;
            let images = TrainingImages { inputs, targets };
            let phase = STUDENTS + pupil.run;
            let student = learner(students, private, pupil.labels)?;
            let logits = student
                .train_and_ask(phase, &images, &[table], &asked, &|networks, _, asked| logits(networks, asked))?;
            by_image(logits.into_iter().flatten().collect(), classes)
        };
        students.device.each(work, student)
    }

    /// Logits of each network without privacy on all images that are queried on, \[image, class\]: trained as a student,
    /// but on all training images and with their own labels.
    pub fn baselines(&self, networks: usize) -> Result<Vec<Array2<f32>>> {
        let all: Vec<Example> = (0..self.train.inputs.size()[0] as u32).map(Example::labeled).collect();
        let tables = vec![all; networks];
        let baselines = learner(&self.students, self.private, &networks)?;
        let logits = baselines.train_and_ask(BASELINES, &self.train, &tables, &self.asked, &|networks, _, asked| {
            logits(networks, asked)
        })?;
        logits.into_iter().map(|logits| by_image(logits, self.students.classes)).collect()
    }
}

/// How students or baselines are trained on this lesson. The checkpoint is that of the teachers: it has to know what else
/// their answers depend on.
fn learner<'a, T: Serialize + ?Sized>(students: &Trainer<'a>, private: &[u32], lesson: &T) -> Result<Trainer<'a>> {
    let dependence = Dependence::on(&(students.network, students.training, private, lesson))?;
    Ok(Trainer { dependence, ..*students })
}

fn by_image(logits: Vec<f32>, classes: usize) -> Result<Array2<f32>> {
    Array2::from_shape_vec((logits.len() / classes, classes), logits).map_err(unavailable("answers"))
}
