//! What there is to see of shadow models: audited samples, random views, synthetic images.

use leakbound::membership::CanaryKind;
use leakbound::record::ImageSet;
use leakbound::report::{Axis as Plotted, Curves, Drawing, PictureRow, Pictures, Series, SeriesKind};
use leakbound_train::{FurtherAnswers, ShadowAnswers, Shown};
use ndarray::{Array4, Array5, ArrayView4, Axis, Ix4, Slice};

/// Images in a row of a sheet, and models that have one.
const PICTURES: usize = 16;
const MODELS: usize = 4;

/// Audited samples, and what the defense has to show.
pub fn figures(answers: &ShadowAnswers, train: &ImageSet, canaries: &CanaryKind) -> Vec<Drawing> {
    let shown = answers.further.iter().filter_map(shown);
    let views = answers.views.as_ref().map(views);
    [audited(answers, train, canaries)].into_iter().chain(views).chain(shown).collect()
}

/// The first audited samples as models meet them.
fn audited(answers: &ShadowAnswers, train: &ImageSet, canaries: &CanaryKind) -> Drawing {
    let pictures = match &answers.canary_pixels {
        Some(pixels) => first(pixels.view()),
        None => {
            let images: Vec<usize> = answers.audit_index.iter().take(PICTURES).map(|&image| image as usize).collect();
            train.pixels.select(Axis(0), &images)
        }
    };
    let labels: Vec<String> = answers.labels.iter().take(PICTURES).map(ToString::to_string).collect();
    let name = format!("{canaries}; labels in training {}", labels.join(", "));
    Pictures {
        title: "Audited samples".into(),
        description: "The first of them, each in the training set of some models only.".into(),
        rows: vec![PictureRow { name, pictures }],
    }
    .draw()
}

/// Views of the first samples, a row of each.
fn views(samples: &Array5<f32>) -> Drawing {
    let row = |(sample, views): (usize, ArrayView4<'_, f32>)| PictureRow {
        name: format!("sample {sample}"),
        pictures: first(views).mapv(byte),
    };
    Pictures {
        title: "Random views".into(),
        description: "What the encoder embeds of the first audited samples, the same for all models.".into(),
        rows: samples.outer_iter().enumerate().map(row).collect(),
    }
    .draw()
}

/// A pixel in [0, 1].
fn byte(pixel: f32) -> u8 {
    (255.0 * pixel).round() as u8
}

fn shown(further: &FurtherAnswers) -> Option<Drawing> {
    match further.shown {
        Shown::Nothing => None,
        Shown::Images => Some(sheet(further)),
        Shown::Iterations => Some(course(further)),
    }
}

/// Images of the first models.
fn sheet(further: &FurtherAnswers) -> Drawing {
    let rows = further.values.outer_iter().take(MODELS).enumerate().filter_map(|(model, images)| {
        let images = images.into_dimensionality::<Ix4>().ok()?;
        let pictures = first(images).mapv(byte);
        Some(PictureRow { name: format!("model {model}"), pictures })
    });
    Pictures {
        title: title(further.name),
        description: "The first images of the first models.".into(),
        rows: rows.collect(),
    }
    .draw()
}

/// The name of an array in words.
fn title(name: &str) -> String {
    let mut words = name.replace('_', " ");
    words[..1].make_ascii_uppercase();
    words
}

/// As many images as fit in a row.
fn first<T: Clone>(images: ArrayView4<'_, T>) -> Array4<T> {
    images.slice_axis(Axis(0), Slice::from(..PICTURES.min(images.len_of(Axis(0))))).to_owned()
}

/// What a number of each model does over the iterations: mean, least and most.
fn course(further: &FurtherAnswers) -> Drawing {
    let (mut points, mut band) = (Vec::new(), Vec::new());
    let iterations = further.values.axis_iter(Axis(further.values.ndim() - 1));
    for (iteration, models) in iterations.enumerate() {
        let x = iteration as f64 + 1.0;
        let (mut sum, mut least, mut most) = (0.0, f64::INFINITY, f64::NEG_INFINITY);
        for &value in &models {
            let value = f64::from(value);
            (sum, least, most) = (sum + value, value.min(least), value.max(most));
        }
        points.push([x, sum / models.len() as f64]);
        band.push([x, least, most]);
    }
    let name = title(further.name);
    Curves {
        title: name.clone(),
        description: "Mean over the models, shaded from the least to the most.".into(),
        x: Plotted::linear("iteration"),
        y: Plotted::linear(name.clone()),
        series: vec![Series::new(name, SeriesKind::Measured, points).with_band(band)],
    }
    .draw()
}
