//! Property inference: a student, and ensembles for each value of a property of its teachers' images.

mod plan;

pub(super) use plan::check_shares;
pub use plan::{EnsembleImages, PropertyPlan};

use super::answers::{indices, largest, probabilities};
use super::checks::reject;
use super::context::TrainingContext;
use super::groups::Trainer;
use super::guard::guarded;
use super::seed::{Purpose, shuffled, some_of, stream};
use super::training_images::{Example, TrainingImages, one_hot, rows_of};
use leakbound::error::{Error, Result};
use leakbound::record::ImageSet;
use ndarray::{Array1, Array2, Array4, ArrayView2, Axis};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Phase of the student, whose random numbers are shared with nothing else.
const STUDENT: u64 = 0;
/// Phase of its teachers; ensembles follow.
const TEACHERS: u64 = 1;

/// Answers to the public points, under the names of the arrays that `property distance` reads.
#[derive(Debug, Clone, PartialEq)]
pub struct PropertyModels {
    /// Probabilities \[point, class\].
    pub student: Array2<f32>,
    /// Probabilities \[property value, member, point, class\].
    pub ensembles: Array4<f32>,
    /// Test image behind each point, rising.
    pub point_index: Array1<i32>,
    /// Its class.
    pub point_label: Array1<u8>,
    /// The class that the teachers gave it.
    pub student_label: Array1<u8>,
    /// Share of the test images outside of the points that the student classifies correctly; none if all are points.
    pub student_accuracy: Option<f64>,
    /// Share of points that the members of each ensemble classify correctly.
    pub ensemble_accuracy: Array1<f64>,
}

/// Trains teachers whose images have the property, a student on the public points with their noisy plurality as labels,
/// and an ensemble for each value. Progress counts networks.
///
/// # Errors
/// [`Error::Domain`](leakbound::Error::Domain) for a count or a share out of range,
/// [`Error::Rejected`](leakbound::Error::Rejected) for too few images, points or property values,
/// [`Error::Length`](leakbound::Error::Length) if training and test images differ in shape,
/// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails, those of the checkpoint.
///
/// # References
/// Ihrig (2021), thesis, sections 4.4.1 and 5.3.1; its property there is the contrast of images, and the share of a
/// class in its section on meta-classifiers.
pub fn train_for_property(context: &TrainingContext<'_>, plan: &PropertyPlan) -> Result<PropertyModels> {
    plan.check()?;
    check_images("property", context, (plan.class, plan.points))?;
    let &TrainingContext { train, test, device, .. } = context;
    let classes = context.classes();
    let order = shuffled(train.len(), stream(plan.seed, Purpose::Split, STUDENT, 0));
    let (private, public) = match plan.ensembles {
        EnsembleImages::Private => (order.as_slice(), order.as_slice()),
        EnsembleImages::Public => order.split_at(order.len() / 2),
    };
    let points = some_of(test.len(), plan.points, stream(plan.seed, Purpose::Split, STUDENT, 1));
    let point_label: Array1<u8> = points.iter().map(|&point| test.labels[point as usize]).collect();

    let (images, test_inputs, point_inputs) = guarded("images", || {
        let [images, test_images] = [train, test].map(|set| TrainingImages::of(set, classes, device.tensors()));
        let point_inputs = rows_of(&test_images.inputs, points.iter().copied());
        Ok((images, test_images.inputs, point_inputs))
    })?;
    let trainer = context.trainer(plan.network, &plan.training, plan.seed);
    let labels = train.labels.to_vec();
    let answers = |phase: u64, images_of: &[u32], share: f64| -> Result<Vec<Vec<f32>>> {
        let tables = deal(images_of, &labels, (plan.class, share), plan.teachers, (plan.seed, phase))?;
        trainer
            .train_and_ask(phase, &images, &tables, &point_inputs, &|networks, _, asked| probabilities(networks, asked))
    };
    let teachers = answers(TEACHERS, private, plan.shares[plan.value])?;
    let student_label = noisy_plurality(&teachers, classes, plan);
    let mut ensembles = Vec::new();
    for (value, &share) in plan.shares.iter().enumerate() {
        ensembles.extend(answers(TEACHERS + 1 + value as u64, public, share)?.concat());
    }

    let student_images = guarded("images", || {
        Ok(TrainingImages {
            inputs: point_inputs.shallow_clone(),
            targets: one_hot(&student_label, classes, device.tensors()),
        })
    })?;
    let lesson: Vec<Example> = (0..plan.points as u32).map(Example::labeled).collect();
    let student_trainer = Trainer { training: &plan.student, ..trainer };
    let of_tests =
        student_trainer.train_and_ask(STUDENT, &student_images, &[lesson], &test_inputs, &|networks, _, asked| {
            probabilities(networks, asked)
        })?;
    let shape = (plan.shares.len(), plan.teachers, plan.points, classes);
    // The requested number.
    let of_tests = Array2::from_shape_vec((test.len(), classes), of_tests.concat()).unwrap_or_default();
    let ensembles = Array4::from_shape_vec(shape, ensembles).unwrap_or_default();
    let rows: Vec<usize> = points.iter().map(|&point| point as usize).collect();
    Ok(PropertyModels {
        student_accuracy: accuracy_elsewhere(&of_tests, test, &rows),
        ensemble_accuracy: ensembles
            .outer_iter()
            .map(|members| {
                let right: usize = members.outer_iter().map(|member| right(member, point_label.iter())).sum();
                right as f64 / (plan.teachers * plan.points) as f64
            })
            .collect(),
        student: of_tests.select(Axis(0), &rows),
        ensembles,
        point_index: indices(&points),
        point_label,
        student_label: student_label.into(),
    })
}

/// The class with most votes of the teachers for each point, after noise (GNMax).
fn noisy_plurality(teachers: &[Vec<f32>], classes: usize, plan: &PropertyPlan) -> Vec<u8> {
    let mut noise = stream(plan.seed, Purpose::Labels, 0, 0);
    (0..plan.points)
        .map(|point| {
            let mut votes = vec![0.0; classes];
            for teacher in teachers {
                votes[largest(&teacher[point * classes..][..classes])] += 1.0;
            }
            for votes in &mut votes {
                let normal: f64 = StandardNormal.sample(&mut noise);
                *votes += plan.sigma.get() * normal;
            }
            largest(&votes) as u8
        })
        .collect()
}

/// Points whose most probable class is the label.
pub(super) fn right<'a>(probabilities: ArrayView2<'_, f32>, labels: impl Iterator<Item = &'a u8>) -> usize {
    let rows = probabilities.into_outer_iter().zip(labels);
    rows.filter(|(row, label)| largest(&row.to_vec()) == usize::from(**label)).count()
}

/// Accuracy on the test images that are not at these places, rising.
fn accuracy_elsewhere(probabilities: &Array2<f32>, test: &ImageSet, places: &[usize]) -> Option<f64> {
    let others: Vec<usize> = (0..test.len()).filter(|image| places.binary_search(image).is_err()).collect();
    let labels: Vec<u8> = others.iter().map(|&image| test.labels[image]).collect();
    let right = right(probabilities.select(Axis(0), &others).view(), labels.iter());
    (!others.is_empty()).then(|| right as f64 / others.len() as f64)
}

/// # Errors
/// [`Error::Rejected`](leakbound::Error::Rejected) for a class that does not exist and for too few test images,
/// [`Error::Length`](leakbound::Error::Length) if training and test images differ in shape.
pub(super) fn check_images(
    operation: &'static str,
    context: &TrainingContext<'_>,
    (class, points): (u8, usize),
) -> Result<()> {
    let (classes, tests) = (context.classes(), context.test.len());
    if usize::from(class) >= classes {
        return reject(operation, format!("class {class} of {classes}, counted from 0"));
    }
    Error::check_possible(points <= tests, operation, format_args!("{points} public points of {tests} test images"))?;
    context.check_shapes()
}

/// Leaves a share of the images of one class (the nearest whole number of them) at random, and deals out the rest to
/// the networks, equally many images to each.
///
/// Of each `phase` the choice and the order are other ones.
///
/// # Errors
/// [`Error::Rejected`](leakbound::Error::Rejected) if there are fewer images than networks.
fn deal(
    images: &[u32],
    labels: &[u8],
    (class, share): (u8, f64),
    networks: usize,
    (seed, phase): (u64, u64),
) -> Result<Vec<Vec<Example>>> {
    let order = reduced(images, labels, (class, share), &mut stream(seed, Purpose::Split, phase, 0));
    let each = order.len() / networks;
    Error::check_possible(each != 0, "property", format_args!("{} images for {networks} networks", order.len()))?;
    Ok(order.chunks_exact(each).take(networks).map(Example::all).collect())
}

/// Images in random order, of one class only a share of them (the nearest whole number), at random.
pub(crate) fn reduced(images: &[u32], labels: &[u8], (class, share): (u8, f64), stream: &mut ChaCha8Rng) -> Vec<u32> {
    let mut order = images.to_vec();
    order.shuffle(stream);
    let of_class = |image: &u32| labels[*image as usize] == class;
    let mut left = (share * order.iter().filter(|image| of_class(image)).count() as f64).round() as usize;
    order.retain(|image| {
        let stays = !of_class(image) || left > 0;
        left -= usize::from(stays && of_class(image));
        stays
    });
    // Those that stayed were the first of their class.
    order.shuffle(stream);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{rejection, train_on_sample};
    use crate::{NetworkPlan, Optimizer, Schedule, TrainingPlan};
    use leakbound::property::property_distance;
    use leakbound::quantity::{Delta, NoiseScale};

    fn plan(value: usize) -> PropertyPlan {
        let training = TrainingPlan::new(15, 32, Optimizer::ADAM, Schedule::Constant { rate: 2e-3 });
        PropertyPlan {
            class: 1,
            shares: vec![1.0, 0.05],
            value,
            teachers: 8,
            ensembles: EnsembleImages::Public,
            points: 200,
            sigma: NoiseScale::new(1.0).unwrap(),
            network: NetworkPlan::Mlp { hidden: 16 },
            training: training.clone(),
            student: training,
            seed: 1,
        }
    }

    #[test]
    fn a_property_is_inferred_whichever_it_is() {
        for value in 0..2 {
            let models = train_on_sample(train_for_property, &plan(value)).unwrap();
            let (student, ensembles) = (models.student.mapv(f64::from), models.ensembles.mapv(f64::from));
            let decision = property_distance(student.view(), ensembles.view(), 999, 0).unwrap();
            println!("{decision:?}, accuracy {:?} {}", models.student_accuracy, models.ensemble_accuracy);
            assert_eq!(decision.value, value);
            assert!(models.student_accuracy.unwrap() > 0.4);
            assert_eq!(models, train_on_sample(train_for_property, &plan(value)).unwrap());
        }
    }

    #[test]
    fn labels_cost_what_gnmax_costs() {
        let (delta, plan) = (Delta::new(1e-5).unwrap(), plan(0));
        // 200 answers of sensitivity √2 and noise 1 are a Gaussian mechanism with μ = 20.
        let exact = leakbound::divergence::gdp_epsilon(20.0, delta).unwrap().get();
        let found = plan.label_epsilon(delta).get();
        println!("{found}, exactly {exact}");
        assert!(found > exact && found < 1.05 * exact);
    }

    #[test]
    fn what_cannot_be_trained_is_rejected() {
        let message = |change: &dyn Fn(&mut PropertyPlan)| {
            rejection(plan(0), change, |plan| train_on_sample(train_for_property, plan))
        };
        assert_eq!(message(&|plan| plan.teachers = 0), "teachers = 0 is not in [1, inf)");
        assert_eq!(message(&|plan| plan.teachers = 2000), "property: 1000 images for 2000 networks");
        assert_eq!(message(&|plan| plan.class = 10), "property: class 10 of 10, counted from 0");
        assert_eq!(message(&|plan| plan.points = 501), "property: 501 public points of 500 test images");
        assert_eq!(message(&|plan| plan.shares = vec![1.0, f64::NAN]), "share of a class = NaN is not in (0, 1]");
        let one = "property: 1 property values, and the student has number 0";
        assert_eq!(message(&|plan| plan.shares = vec![1.0]), one);
    }

    /// The images of the class that stay are as likely at the end as at the start: 500 of 4,500, and the first half has
    /// 250 with a standard deviation of 10.5; five of them, false alarms in 6e-7 of seeds.
    #[test]
    fn what_stays_of_a_class_is_spread_over_all_networks() {
        let labels: Vec<u8> = (0..5000).map(|image| (image % 5) as u8).collect();
        let images: Vec<u32> = (0..5000).collect();
        let order = reduced(&images, &labels, (2, 0.5), &mut stream(3, Purpose::Split, 0, 0));
        let first = order[..order.len() / 2].iter().filter(|&&image| labels[image as usize] == 2).count();
        println!("{first} of 500");
        assert!(order.len() == 4500 && (198..=302).contains(&first));
    }

    #[test]
    fn a_class_is_reduced_and_nothing_is_dealt_twice() {
        let labels: Vec<u8> = (0..100).map(|image| image % 5).collect();
        let images: Vec<u32> = (0..100).collect();
        let parts = deal(&images, &labels, (2, 0.25), 5, (1, 0)).unwrap();
        assert!(parts.len() == 5 && parts.iter().all(|part| part.len() == 17));
        let mut dealt: Vec<u32> = parts.concat().iter().map(|example| example.image).collect();
        dealt.sort_unstable();
        assert!(dealt.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(dealt.iter().filter(|&&image| labels[image as usize] == 2).count(), 5);
        assert_ne!(parts, deal(&images, &labels, (2, 0.25), 5, (1, 1)).unwrap());
        let message = deal(&images[..3], &labels, (2, 1.0), 5, (1, 0)).unwrap_err().to_string();
        assert_eq!(message, "property: 3 images for 5 networks");
    }
}
