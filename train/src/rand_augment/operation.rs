//! The operations of RandAugment, and how far each goes.

use super::canvas::Canvas;
use super::{enhancement, geometry, tones};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Operations.
const KINDS: usize = 14;
/// Factors of enhancements.
const FACTOR: (f32, f32) = (0.05, 0.95);
/// Bits that are kept.
const BITS: (u8, u8) = (4, 8);
/// Degrees.
const ANGLE: f64 = 30.0;
/// Shear, and shares of rows and columns.
const SHARE: f64 = 0.3;
/// Values of a channel, and one more: with it nothing is inverted.
const THRESHOLD: (u16, u16) = (0, 256);

/// An operation with its magnitude; see the functions that carry it out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Operation {
    Identity,
    AutoContrast,
    Brightness(f32),
    Color(f32),
    Contrast(f32),
    Equalize,
    Posterize(u8),
    Rotate(f64),
    Sharpness(f32),
    ShearX(f64),
    ShearY(f64),
    Solarize(u16),
    TranslateX(f64),
    TranslateY(f64),
}

impl Operation {
    /// One of the operations of images with or without colors, each as likely, with a magnitude uniform on its range: Sohn
    /// et al. (2020), appendix D.
    pub fn draw(colors: bool, stream: &mut ChaCha8Rng) -> Self {
        // Those of an image with colors; without them all but the last one.
        let kinds = if colors { KINDS } else { KINDS - 1 };
        let kind = stream.random_range(0..kinds);
        let factor = |stream: &mut ChaCha8Rng| stream.random_range(FACTOR.0..=FACTOR.1);
        let around = |stream: &mut ChaCha8Rng, most: f64| stream.random_range(-most..=most);
        match kind {
            0 => Self::Identity,
            1 => Self::AutoContrast,
            2 => Self::Brightness(factor(stream)),
            3 => Self::Contrast(factor(stream)),
            4 => Self::Equalize,
            5 => Self::Posterize(stream.random_range(BITS.0..=BITS.1)),
            6 => Self::Rotate(around(stream, ANGLE)),
            7 => Self::Sharpness(factor(stream)),
            8 => Self::ShearX(around(stream, SHARE)),
            9 => Self::ShearY(around(stream, SHARE)),
            10 => Self::Solarize(stream.random_range(THRESHOLD.0..=THRESHOLD.1)),
            11 => Self::TranslateX(around(stream, SHARE)),
            12 => Self::TranslateY(around(stream, SHARE)),
            _ => Self::Color(factor(stream)),
        }
    }

    pub fn apply(self, canvas: &mut Canvas) {
        match self {
            Self::Identity => {}
            Self::AutoContrast => tones::auto_contrast(canvas),
            Self::Brightness(factor) => enhancement::brightness(canvas, factor),
            Self::Color(factor) => enhancement::color(canvas, factor),
            Self::Contrast(factor) => enhancement::contrast(canvas, factor),
            Self::Equalize => tones::equalize(canvas),
            Self::Posterize(bits) => tones::posterize(canvas, bits),
            Self::Rotate(degrees) => geometry::rotate(canvas, degrees),
            Self::Sharpness(factor) => enhancement::sharpness(canvas, factor),
            Self::ShearX(share) => geometry::shear_x(canvas, share),
            Self::ShearY(share) => geometry::shear_y(canvas, share),
            Self::Solarize(threshold) => tones::solarize(canvas, threshold),
            Self::TranslateX(share) => geometry::translate_x(canvas, share),
            Self::TranslateY(share) => geometry::translate_y(canvas, share),
        }
    }
}

#[cfg(test)]
mod tests;
