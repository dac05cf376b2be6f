//! The operations of RandAugment, and how far each goes.

use super::canvas::Canvas;
use super::{enhancement, geometry, tones};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

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

/// An operation without a magnitude.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Identity,
    AutoContrast,
    Brightness,
    Contrast,
    Equalize,
    Posterize,
    Rotate,
    Sharpness,
    ShearX,
    ShearY,
    Solarize,
    TranslateX,
    TranslateY,
    Color,
}

impl Kind {
    /// Those of an image with colors; without them all but the last one.
    pub const ALL: [Self; 14] = [
        Self::Identity,
        Self::AutoContrast,
        Self::Brightness,
        Self::Contrast,
        Self::Equalize,
        Self::Posterize,
        Self::Rotate,
        Self::Sharpness,
        Self::ShearX,
        Self::ShearY,
        Self::Solarize,
        Self::TranslateX,
        Self::TranslateY,
        Self::Color,
    ];

    /// The operation with a magnitude uniform on its range: Sohn et al. (2020), appendix D.
    fn draw(self, stream: &mut ChaCha8Rng) -> Operation {
        let factor = |stream: &mut ChaCha8Rng| stream.random_range(FACTOR.0..=FACTOR.1);
        let around = |stream: &mut ChaCha8Rng, most: f64| stream.random_range(-most..=most);
        match self {
            Self::Identity => Operation::Identity,
            Self::AutoContrast => Operation::AutoContrast,
            Self::Brightness => Operation::Brightness(factor(stream)),
            Self::Color => Operation::Color(factor(stream)),
            Self::Contrast => Operation::Contrast(factor(stream)),
            Self::Equalize => Operation::Equalize,
            Self::Posterize => Operation::Posterize(stream.random_range(BITS.0..=BITS.1)),
            Self::Rotate => Operation::Rotate(around(stream, ANGLE)),
            Self::Sharpness => Operation::Sharpness(factor(stream)),
            Self::ShearX => Operation::ShearX(around(stream, SHARE)),
            Self::ShearY => Operation::ShearY(around(stream, SHARE)),
            Self::Solarize => Operation::Solarize(stream.random_range(THRESHOLD.0..=THRESHOLD.1)),
            Self::TranslateX => Operation::TranslateX(around(stream, SHARE)),
            Self::TranslateY => Operation::TranslateY(around(stream, SHARE)),
        }
    }
}

impl Operation {
    /// One of the operations of images with or without colors, each as likely, with a magnitude.
    pub fn draw(colors: bool, stream: &mut ChaCha8Rng) -> Self {
        let kinds = &Kind::ALL[..if colors { Kind::ALL.len() } else { Kind::ALL.len() - 1 }];
        kinds[stream.random_range(0..kinds.len())].draw(stream)
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
