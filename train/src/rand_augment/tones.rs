//! Operations that map each value of a channel to another one, as Pillow's `ImageOps` has them.

use super::canvas::Canvas;

/// Pixels of each value.
type Histogram = [u32; 256];

/// What each value becomes.
type Table = [u8; 256];

fn mapped(canvas: &mut Canvas, table: impl Fn(&Histogram) -> Table) {
    for plane in canvas.planes() {
        let mut histogram = [0; 256];
        plane.iter().for_each(|&pixel| histogram[usize::from(pixel)] += 1);
        let table = table(&histogram);
        plane.iter_mut().for_each(|pixel| *pixel = table[usize::from(*pixel)]);
    }
}

fn table(value: impl Fn(usize) -> u8) -> Table {
    std::array::from_fn(value)
}

/// The darkest value of a channel becomes 0 and the lightest 255, those between them in proportion, rounded down.
pub(super) fn auto_contrast(canvas: &mut Canvas) {
    mapped(canvas, |histogram| {
        let there = |value: &usize| histogram[*value] > 0;
        let (low, high) = ((0..256).find(there).unwrap_or(0), (0..256).rev().find(there).unwrap_or(0));
        if high <= low {
            return table(|value| value as u8);
        }
        let scale = 255.0 / (high - low) as f64;
        let offset = -(low as f64) * scale;
        table(|value| (value as f64 * scale + offset) as u8)
    });
}

/// A value of a channel becomes the share of its pixels below it, in steps of ⌊(n - n_max)/255⌋ pixels, n_max those of
/// its lightest value; a channel whose step has no pixel is left unchanged.
pub(super) fn equalize(canvas: &mut Canvas) {
    mapped(canvas, |histogram| {
        let (all, lightest) = (histogram.iter().sum::<u32>(), histogram.iter().rev().find(|count| **count > 0));
        let step = (all - lightest.copied().unwrap_or(0)) / 255;
        if step == 0 {
            return table(|value| value as u8);
        }
        let mut below = step / 2;
        let mut equal = [0; 256];
        for (equal, count) in equal.iter_mut().zip(histogram) {
            *equal = (below / step).min(255) as u8;
            below += count;
        }
        equal
    });
}

/// Each value keeps this many of its highest bits, from 1 to 8.
pub(super) fn posterize(canvas: &mut Canvas, bits: u8) {
    let kept = 0xff_u8 << (8 - bits);
    mapped(canvas, |_| table(|value| value as u8 & kept));
}

/// Each value x of at least `threshold` becomes 255 - x.
pub(super) fn solarize(canvas: &mut Canvas, threshold: u16) {
    mapped(canvas, |_| table(|value| if value < usize::from(threshold) { value } else { 255 - value } as u8));
}
