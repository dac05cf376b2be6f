//! Images that an audit puts into training sets, and wrong labels.

use super::seed::{Purpose, sampled, shuffled, stream};
use crate::checks::reject;
use leakbound::error::{Error, Result};
use leakbound::membership::CanaryKind;
use leakbound::record::ImageSet;
use ndarray::{Array4, Axis};
use rand::{Rng, RngExt};

/// Streams of [`Purpose::Canaries`], one for each thing that is drawn: sets that differ in the kind of canaries have
/// the same audited and the same fixed images.
enum Draw {
    Images = 0,
    Labels = 1,
    Pixels = 2,
    Others = 3,
}

impl Draw {
    fn stream(self, seed: u64) -> rand_chacha::ChaCha8Rng {
        stream(seed, Purpose::Canaries, self as u64, 0)
    }
}

/// Training images audited, in random order, and training images that every model has, sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AuditSplit {
    pub audit: Vec<u32>,
    pub fixed: Vec<u32>,
}

impl AuditSplit {
    /// Draws the given numbers of images at random; `audit` + `fixed` may not exceed `images`.
    pub fn draw(images: usize, audit: usize, fixed: usize, seed: u64) -> Self {
        let mut order = shuffled(images, Draw::Images.stream(seed));
        let mut fixed = order[audit..audit + fixed].to_vec();
        fixed.sort_unstable();
        order.truncate(audit);
        Self { audit: order, fixed }
    }
}

/// The audited samples as models meet them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Canaries {
    /// \[sample, channel, row, column\].
    pub pixels: Array4<u8>,
    /// Labels that models are trained on.
    pub labels: Vec<u8>,
    /// How many of the samples are attacked: all of them, or the first half if the others are their duplicates.
    pub attacked: usize,
    /// Labels of the copies that every model is trained on: of every sample in its order, or of none.
    pub copies: Vec<u8>,
    /// Images of the other data set.
    pub source: Option<Vec<u32>>,
}

impl Canaries {
    /// Canaries instead of the training images `audit`, for C classes; `others` is the other data set of
    /// [`CanaryKind::OutOfDistribution`].
    pub fn make(
        kind: CanaryKind,
        train: &ImageSet,
        audit: &[u32],
        classes: usize,
        others: Option<&ImageSet>,
        seed: u64,
    ) -> Result<Self> {
        let chosen = |images: &ImageSet, chosen: &[u32]| {
            images.pixels.select(Axis(0), &chosen.iter().map(|&image| image as usize).collect::<Vec<_>>())
        };
        let true_labels =
            |audit: &[u32]| -> Vec<u8> { audit.iter().map(|&image| train.labels[image as usize]).collect() };
        let wrong = |labels: &[u8]| {
            Error::check_possible(classes >= 2, "canaries", "a wrong label needs two classes or more")?;
            Ok::<_, Error>(wrong_labels(labels, classes, &mut Draw::Labels.stream(seed)))
        };
        let mut labels = Draw::Labels.stream(seed);
        let mut any_labels = || -> Vec<u8> { audit.iter().map(|_| labels.random_range(0..classes) as u8).collect() };
        let all = |pixels, labels, source| Self { pixels, labels, attacked: audit.len(), copies: Vec::new(), source };
        let [channels, rows, columns] = train.shape();
        let shape = (audit.len(), channels, rows, columns);
        Ok(match kind {
            CanaryKind::Original => all(chosen(train, audit), true_labels(audit), None),
            CanaryKind::Mislabeled => all(chosen(train, audit), wrong(&true_labels(audit))?, None),
            CanaryKind::Duplicated => {
                if !audit.len().is_multiple_of(2) {
                    let reason = format!("duplicated canaries are pairs, and {} audited images are not", audit.len());
                    return reject("canaries", reason);
                }
                let attacked = audit.len() / 2;
                let pair = audit[..attacked].repeat(2);
                let own = true_labels(&audit[..attacked]);
                let labels = [wrong(&own)?, own].concat();
                Self { pixels: chosen(train, &pair), labels, attacked, copies: Vec::new(), source: None }
            }
            CanaryKind::AlwaysDuplicated => {
                let own = true_labels(audit);
                Self { copies: own.clone(), ..all(chosen(train, audit), wrong(&own)?, None) }
            }
            CanaryKind::Poisoned => {
                let labels = wrong(&true_labels(audit))?;
                Self { copies: labels.clone(), ..all(chosen(train, audit), labels, None) }
            }
            CanaryKind::OutOfDistribution => {
                let Some(others) = others else {
                    return reject("canaries", "images of another data set are needed");
                };
                if others.shape() != train.shape() {
                    let expected = format!("that of the training images, {:?}", train.shape());
                    let found = others.shape().iter().product();
                    return Err(Error::Length { quantity: "shape of out-of-distribution images", found, expected });
                }
                if others.len() < audit.len() {
                    let reason = format!("{} canaries of {} other images", audit.len(), others.len());
                    return reject("canaries", reason);
                }
                let source = sampled(others.len(), audit.len(), &mut Draw::Others.stream(seed));
                all(chosen(others, &source), any_labels(), Some(source))
            }
            CanaryKind::Uniform => {
                let mut pixels = Draw::Pixels.stream(seed);
                all(Array4::from_shape_simple_fn(shape, || pixels.random()), any_labels(), None)
            }
            CanaryKind::Blank => {
                let mut colors = Draw::Pixels.stream(seed);
                let colors: Vec<u8> = (0..audit.len() * channels).map(|_| colors.random()).collect();
                let pixels = Array4::from_shape_fn(shape, |(image, channel, _, _)| colors[image * channels + channel]);
                all(pixels, any_labels(), None)
            }
        })
    }
}

/// Training images of one model or run with wrong labels, rising.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MislabeledImages {
    pub images: Vec<u32>,
    /// Their classes.
    pub truth: Vec<u8>,
    /// The classes that they are labeled with.
    pub wrong: Vec<u8>,
}

impl MislabeledImages {
    /// Draws images with these labels, of C classes, uniformly and independently.
    pub fn draw(labels: &[u8], classes: usize, count: usize, (seed, model): (u64, u64)) -> Self {
        let mut draws = stream(seed, Purpose::Canaries, 0, model);
        let mut images = sampled(labels.len(), count, &mut draws);
        images.sort_unstable();
        let truth: Vec<u8> = images.iter().map(|&image| labels[image as usize]).collect();
        let wrong = wrong_labels(&truth, classes, &mut draws);
        Self { images, truth, wrong }
    }

    /// The labels with those of these images wrong.
    pub fn among(&self, labels: &[u8]) -> Vec<u8> {
        let mut labels = labels.to_vec();
        for (&image, &label) in self.images.iter().zip(&self.wrong) {
            labels[image as usize] = label;
        }
        labels
    }
}

/// A class other than each label, uniform and independent; there are at least two classes.
pub(super) fn wrong_labels(labels: &[u8], classes: usize, stream: &mut impl Rng) -> Vec<u8> {
    let wrong = |&label: &u8| {
        let other = stream.random_range(1..classes);
        ((usize::from(label) + other) % classes) as u8
    };
    labels.iter().map(wrong).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array1;

    const CLASSES: usize = 5;

    /// Images of 2 channels, 2 rows and 1 column, all pixels of image n being n.
    fn images(count: usize) -> ImageSet {
        ImageSet {
            pixels: Array4::from_shape_fn((count, 2, 2, 1), |(image, ..)| image as u8),
            labels: Array1::from_shape_fn(count, |image| (image % CLASSES) as u8),
            classes: CLASSES,
        }
    }

    fn canaries(kind: CanaryKind, audit: &[u32]) -> Result<Canaries> {
        Canaries::make(kind, &images(100), audit, CLASSES, Some(&images(200)), 7)
    }

    #[test]
    fn audited_and_fixed_images_are_different_and_do_not_depend_on_each_other() {
        let split = AuditSplit::draw(100, 20, 80, 7);
        let mut all = [split.audit.clone(), split.fixed].concat();
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<u32>>());
        assert_eq!(AuditSplit::draw(100, 20, 30, 7).audit, split.audit);
        assert_ne!(AuditSplit::draw(100, 20, 80, 8).audit, split.audit);
    }

    #[test]
    fn each_kind_is_what_it_says() {
        let audit: Vec<u32> = (10..90).collect();
        let own = |images: &[u32]| images.iter().map(|image| (image % CLASSES as u32) as u8).collect::<Vec<_>>();
        let pixel = |canaries: &Canaries| canaries.pixels.iter().step_by(4).map(|&n| n.into()).collect::<Vec<u32>>();
        let original = canaries(CanaryKind::Original, &audit).unwrap();
        assert_eq!((pixel(&original), &original.labels, original.attacked), (audit.clone(), &own(&audit), 80));

        let wrong = canaries(CanaryKind::Mislabeled, &audit).unwrap();
        assert_eq!(pixel(&wrong), audit);
        assert!(wrong.labels.iter().zip(own(&audit)).all(|(&wrong, own)| wrong != own && usize::from(wrong) < CLASSES));

        let pairs = canaries(CanaryKind::Duplicated, &audit).unwrap();
        assert_eq!((pixel(&pairs), pairs.attacked), (audit[..40].repeat(2), 40));
        assert!(pairs.labels[..40] == wrong.labels[..40] && pairs.labels[40..] == own(&audit[..40]));

        // The same wrong labels; of the copies the right ones, or the wrong ones again.
        for (kind, copies) in
            [(CanaryKind::AlwaysDuplicated, own(&audit)), (CanaryKind::Poisoned, wrong.labels.clone())]
        {
            let copied = canaries(kind, &audit).unwrap();
            assert_eq!((pixel(&copied), &copied.labels, copied.attacked), (audit.clone(), &wrong.labels, 80));
            assert_eq!(copied.copies, copies, "{kind}");
        }
        assert!(original.copies.is_empty() && wrong.copies.is_empty() && pairs.copies.is_empty());

        let other = canaries(CanaryKind::OutOfDistribution, &audit).unwrap();
        let mut source = other.source.clone().unwrap();
        assert_eq!(pixel(&other), source);
        source.sort_unstable();
        source.dedup();
        assert_eq!(source.len(), 80);

        let uniform = canaries(CanaryKind::Uniform, &audit).unwrap();
        let mean = uniform.pixels.iter().map(|&value| f64::from(value)).sum::<f64>() / 320.0;
        // Uniform on 0 to 255: standard deviation 73.9, that of the mean of 320 is 4.1; beyond 5 of these with
        // probability 6e-7.
        println!("mean {mean}");
        assert!((mean - 127.5).abs() < 20.7, "{mean}");

        let blank = canaries(CanaryKind::Blank, &audit).unwrap();
        assert!(blank.pixels.iter().collect::<Vec<_>>().chunks(2).all(|channel| channel[0] == channel[1]));
        assert_ne!(blank.pixels[[0, 0, 0, 0]], blank.pixels[[1, 0, 0, 0]]);
    }

    #[test]
    fn what_cannot_be_made_is_rejected() {
        let message = |kind, audit: &[u32]| canaries(kind, audit).unwrap_err().to_string();
        assert_eq!(
            message(CanaryKind::Duplicated, &[1, 2, 3]),
            "canaries: duplicated canaries are pairs, and 3 audited images are not"
        );
        let many: Vec<u32> = (0..201).map(|image| image % 100).collect();
        assert_eq!(message(CanaryKind::OutOfDistribution, &many), "canaries: 201 canaries of 200 other images");
        let make = |others: Option<&ImageSet>, kind, classes| {
            Canaries::make(kind, &images(9), &[1], classes, others, 7).unwrap_err().to_string()
        };
        let narrow = ImageSet { pixels: Array4::zeros((9, 2, 1, 1)), ..images(9) };
        assert_eq!(
            make(Some(&narrow), CanaryKind::OutOfDistribution, CLASSES),
            "shape of out-of-distribution images has length 2; expected that of the training images, [2, 2, 1]"
        );
        assert_eq!(
            make(None, CanaryKind::OutOfDistribution, CLASSES),
            "canaries: images of another data set are needed"
        );
        assert_eq!(make(None, CanaryKind::Mislabeled, 1), "canaries: a wrong label needs two classes or more");
    }

    /// 9,000 labels: each of nine wrong classes 1,000 times, within five standard errors (false alarms: 6e-6).
    #[test]
    fn wrong_labels_are_uniform() {
        let wrong = wrong_labels(&[7; 9000], 10, &mut stream(1, Purpose::Canaries, 0, 0));
        for class in 0..10 {
            let count = wrong.iter().filter(|&&label| label == class).count() as f64;
            println!("{class}: {count}");
            let expected = if class == 7 { 0.0 } else { 1000.0 };
            assert!((count - expected).abs() <= 5.0 * (expected * 8.0 / 9.0f64).sqrt());
        }
    }

    #[test]
    fn canaries_have_another_label() {
        let labels: Vec<u8> = (0..40).map(|image| image % 4).collect();
        let canaries = MislabeledImages::draw(&labels, 4, 10, (5, 0));
        let changed = canaries.among(&labels);
        let different: Vec<u32> = (0..40).filter(|&image| changed[image as usize] != labels[image as usize]).collect();
        assert_eq!(different, canaries.images);
    }
}
