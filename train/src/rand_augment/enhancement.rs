//! Operations between an image and a poorer one, as Pillow's `ImageEnhance` has them.
//!
//! With factor f a pixel becomes p + f (x - p), rounded down, in single precision: x of the image and p of the poorer
//! one, so that 0 is the poorer image and 1 the image itself.

use super::canvas::Canvas;

fn blended(poorer: u8, pixel: u8, factor: f32) -> u8 {
    // Between two values of a byte for factors from 0 to 1.
    (f32::from(poorer) + factor * (f32::from(pixel) - f32::from(poorer))) as u8
}

/// Between black and the image.
pub(super) fn brightness(canvas: &mut Canvas, factor: f32) {
    canvas.pixels().iter_mut().for_each(|pixel| *pixel = blended(0, *pixel, factor));
}

/// Between the image's mean gray, rounded, and the image.
pub(super) fn contrast(canvas: &mut Canvas, factor: f32) {
    let gray = canvas.gray();
    let sum: u64 = gray.iter().map(|&pixel| u64::from(pixel)).sum();
    let mean = (sum as f64 / gray.len().max(1) as f64 + 0.5) as u8;
    canvas.pixels().iter_mut().for_each(|pixel| *pixel = blended(mean, *pixel, factor));
}

/// Between the image in gray and the image; one without colors stays as it is.
pub(super) fn color(canvas: &mut Canvas, factor: f32) {
    if !canvas.is_color() {
        return;
    }
    let gray = canvas.gray();
    for plane in canvas.planes() {
        plane.iter_mut().zip(&gray).for_each(|(pixel, &gray)| *pixel = blended(gray, *pixel, factor));
    }
}

/// Between the image smoothed and the image. A smoothed pixel is the mean of its 3 x 3 neighborhood, itself with weight
/// 5, rounded; at the border it is the pixel.
pub(super) fn sharpness(canvas: &mut Canvas, factor: f32) {
    let (rows, columns) = (canvas.rows, canvas.columns);
    for (before, after) in canvas.renewed() {
        for row in 1..rows.saturating_sub(1) {
            for column in 1..columns.saturating_sub(1) {
                let at = row * columns + column;
                let three = |at: usize| before[at - 1..=at + 1].iter().map(|&pixel| u32::from(pixel)).sum::<u32>();
                let sum = three(at - columns) + three(at) + three(at + columns) + 4 * u32::from(before[at]);
                // Rounded to the nearest thirteenth part: no sum is halfway between two.
                let smooth = ((2 * sum + 13) / 26) as u8;
                after[at] = blended(smooth, before[at], factor);
            }
        }
    }
}
