use super::*;
use crate::sample::sample;
use crate::seed::{Purpose, stream};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What Pillow makes of a part of an image; see validation/reference/scripts/rand_augment.py.
#[derive(Deserialize)]
struct Entry {
    images: Vec<usize>,
    rows: [usize; 2],
    columns: [usize; 2],
    operation: String,
    magnitude: f64,
    pixels: String,
}

fn operation(name: &str, magnitude: f64) -> Operation {
    let factor = magnitude as f32;
    match name {
        "identity" => Operation::Identity,
        "auto-contrast" => Operation::AutoContrast,
        "brightness" => Operation::Brightness(factor),
        "color" => Operation::Color(factor),
        "contrast" => Operation::Contrast(factor),
        "equalize" => Operation::Equalize,
        "posterize" => Operation::Posterize(magnitude as u8),
        "rotate" => Operation::Rotate(magnitude),
        "sharpness" => Operation::Sharpness(factor),
        "shear-x" => Operation::ShearX(magnitude),
        "shear-y" => Operation::ShearY(magnitude),
        "solarize" => Operation::Solarize(magnitude as u16),
        "translate-x" => Operation::TranslateX(magnitude),
        "translate-y" => Operation::TranslateY(magnitude),
        _ => panic!("{name}"),
    }
}

/// Every operation on gray images and on one in color, at the ends of its range and inside, pixel by pixel.
#[test]
fn operations_are_those_of_pillow() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../validation");
    let table = std::fs::read_to_string(format!("{folder}/reference/rand_augment.json")).unwrap();
    let entries: Vec<Entry> = serde_json::from_str(&table).unwrap();
    let [images, _] = sample();
    let mut changed = BTreeMap::new();
    for entry in &entries {
        let [rows, columns] = [entry.rows, entry.columns].map(|[from, to]| from..to);
        let mut before: Vec<u8> = Vec::new();
        for &image in &entry.images {
            for row in rows.clone() {
                before.extend(columns.clone().map(|column| images.pixels[[image, 0, row, column]]));
            }
        }
        let mut canvas = Canvas::new([entry.images.len(), rows.len(), columns.len()]);
        canvas.pixels().copy_from_slice(&before);
        operation(&entry.operation, entry.magnitude).apply(&mut canvas);
        let found: String = canvas.pixels().iter().map(|pixel| format!("{pixel:02x}")).collect();
        assert_eq!(found, entry.pixels, "{} {} {:?}", entry.operation, entry.magnitude, entry.images);
        *changed.entry(entry.operation.as_str()).or_insert(false) |= canvas.pixels() != before;
    }
    // All operations are there, and each but the identity has changed something.
    let unchanged: Vec<&str> = changed.iter().filter(|(_, changed)| !**changed).map(|(name, _)| *name).collect();
    assert_eq!((changed.len(), unchanged), (KINDS, vec!["identity"]));
}

/// 13,000 draws of 13 operations: each 1,000 times but for five standard errors (false alarms: 8e-6), and all
/// magnitudes within their ranges, within a hundredth of both ends (but for 4e-4 together).
#[test]
fn operations_and_magnitudes_are_uniform() {
    let mut stream = stream(1, Purpose::StrongViews, 0, 0);
    let mut counts = BTreeMap::<String, u32>::new();
    let mut angles = Vec::new();
    for _ in 0..13_000 {
        let drawn = Operation::draw(false, &mut stream);
        let name = format!("{drawn:?}");
        *counts.entry(name.split('(').next().unwrap().into()).or_default() += 1;
        match drawn {
            Operation::Rotate(angle) => angles.push(angle / ANGLE),
            Operation::Brightness(factor) => assert!((0.05..=0.95).contains(&factor)),
            Operation::Posterize(bits) => assert!((4..=8).contains(&bits)),
            Operation::Solarize(threshold) => assert!(threshold <= 256),
            _ => {}
        }
    }
    println!("{counts:?}");
    assert!(counts.len() == 13 && !counts.contains_key("Color"));
    let error = (13_000.0 / 13.0 * 12.0 / 13.0f64).sqrt();
    assert!(counts.values().all(|&count| (f64::from(count) - 1000.0).abs() < 5.0 * error));
    let ends = angles.iter().fold([0.0f64; 2], |[low, high], &angle| [low.min(angle), high.max(angle)]);
    assert!(ends[0] < -0.99 && ends[1] > 0.99 && ends[0] >= -1.0 && ends[1] <= 1.0, "{ends:?}");
    assert!((0..200).any(|_| matches!(Operation::draw(true, &mut stream), Operation::Color(_))));
}
