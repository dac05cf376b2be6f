//! Strong augmentation: two random operations on an image, then a square of it in gray.

mod canvas;
mod enhancement;
mod geometry;
mod operation;
mod tones;

use super::augment::{Augmentation, Move};
use canvas::Canvas;
use operation::Operation;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use tch::{Device, Tensor};

/// Operations on an image: Sohn et al. (2020), appendix D.
const OPERATIONS: usize = 2;
/// The value of all pixels that Cutout covers.
const GRAY: u8 = 127;

/// What is drawn for an image: how it is moved, the operations in their order, and the center of the square.
#[derive(Debug, Clone, PartialEq)]
struct StrongView {
    moved: Option<Move>,
    operations: [Operation; OPERATIONS],
    /// Row and column.
    center: [usize; 2],
}

impl StrongView {
    fn draw(weak: Option<Augmentation>, [channels, rows, columns]: [usize; 3], stream: &mut ChaCha8Rng) -> Self {
        Self {
            moved: weak.map(|weak| weak.draw_one(stream)),
            operations: std::array::from_fn(|_| Operation::draw(channels == 3, stream)),
            center: [stream.random_range(0..rows), stream.random_range(0..columns)],
        }
    }

    /// The view of an image, on a canvas of its shape.
    fn paint(&self, image: &[u8], canvas: &mut Canvas) {
        canvas.pixels().copy_from_slice(image);
        if let Some(by) = self.moved {
            shift(canvas, by);
        }
        self.operations.iter().for_each(|operation| operation.apply(canvas));
        cut_out(canvas, self.center);
    }
}

/// What [`moved`](super::augment::moved) does, for one image.
fn shift(canvas: &mut Canvas, by: Move) {
    let (rows, columns) = (canvas.rows as i64, canvas.columns as i64);
    for (before, after) in canvas.renewed() {
        for (row, after) in (0..).zip(after.chunks_exact_mut(columns as usize)) {
            let row = row - by.down;
            for (column, pixel) in (0..).zip(after) {
                let column = column - by.right;
                let inside = (0..rows).contains(&row) && (0..columns).contains(&column);
                let column = if by.flip { columns - 1 - column } else { column };
                *pixel = if inside { before[(row * columns + column) as usize] } else { 0 };
            }
        }
    }
}

/// Covers what the image has of a square around `center` whose side is half of its columns.
///
/// # References
/// DeVries and Taylor (2017), "Improved regularization of convolutional neural networks with Cutout", section 3.2; Sohn
/// et al. (2020), appendix D, for the gray.
fn cut_out(canvas: &mut Canvas, [row, column]: [usize; 2]) {
    let (rows, columns) = (canvas.rows, canvas.columns);
    let half = columns / 4;
    let covered = |center: usize, length: usize| center.saturating_sub(half)..(center + half).min(length);
    for plane in canvas.planes() {
        for row in covered(row, rows) {
            let row = &mut plane[row * columns..(row + 1) * columns];
            row[covered(column, columns)].fill(GRAY);
        }
    }
}

/// Strong views of the batches of several networks.
///
/// An image is moved as weak augmentation moves it, then changed by two operations, each drawn uniformly from those of
/// [`Operation`] and with a magnitude uniform on its published range, and by Cutout. All work on whole bytes.
///
/// # References
/// Sohn et al. (2020), "FixMatch: Simplifying semi-supervised learning with consistency and confidence", section 2.3 and
/// appendix D; Cubuk et al. (2020), "RandAugment: Practical automated data augmentation with a reduced search space".
pub(super) struct RandAugment {
    weak: Option<Augmentation>,
    shape: [usize; 3],
    streams: Vec<ChaCha8Rng>,
}

impl RandAugment {
    /// One stream for each network, for images of shape \[channels, rows, columns\].
    pub fn new(weak: Option<Augmentation>, shape: [usize; 3], streams: Vec<ChaCha8Rng>) -> Self {
        Self { weak, shape, streams }
    }

    /// Views [n, F] in [0, 1] of images of `pixels` \[image, channel, row, column\]: the same number for each network,
    /// those of network 0 first.
    pub fn views(&mut self, pixels: &[u8], images: &[u32], device: Device) -> Tensor {
        let (weak, shape, area) = (self.weak, self.shape, self.shape.iter().product::<usize>());
        let batch = images.len() / self.streams.len().max(1);
        let draw = |stream: &mut ChaCha8Rng| {
            (0..batch).map(|_| StrongView::draw(weak, shape, stream)).collect::<Vec<StrongView>>()
        };
        let drawn: Vec<StrongView> = self.streams.iter_mut().flat_map(draw).collect();
        let mut painted = vec![0; images.len() * area];
        let paint = |canvas: &mut Canvas, (out, (&image, view)): (&mut [u8], (&u32, &StrongView))| {
            view.paint(&pixels[image as usize * area..][..area], canvas);
            out.copy_from_slice(canvas.pixels());
        };
        if device.is_cuda() {
            // All networks are trained together there, and the threads of the processor are free.
            let views = painted.par_chunks_exact_mut(area).zip(images.par_iter().zip(&drawn));
            views.for_each_init(|| Canvas::new(shape), paint);
        } else {
            let mut canvas = Canvas::new(shape);
            painted.chunks_exact_mut(area).zip(images.iter().zip(&drawn)).for_each(|view| paint(&mut canvas, view));
        }
        let views = Tensor::from_slice(&painted).view([images.len() as i64, area as i64]).to_device(device);
        views.to_kind(tch::Kind::Float) / 255.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::augment::moved;
    use crate::seed::{Purpose, streams};

    const SHAPE: [usize; 3] = [2, 9, 8];

    fn pixels() -> Vec<u8> {
        (0..3 * 144).map(|pixel| (pixel * 37 % 251) as u8).collect()
    }

    #[test]
    fn images_are_moved_as_weak_augmentation_moves_them() {
        let image = &pixels()[..144];
        let floats: Vec<f32> = image.iter().map(|&pixel| pixel.into()).collect();
        for (flip, down, right) in [(false, 0, 0), (true, 0, 0), (false, 2, -1), (true, -3, 2), (true, 1, -7)] {
            let by = Move { flip, down, right };
            let mut canvas = Canvas::new(SHAPE);
            canvas.pixels().copy_from_slice(image);
            shift(&mut canvas, by);
            let expected: Vec<f32> =
                moved(&Tensor::from_slice(&floats).view([1, 144]), SHAPE, &[by]).view([-1]).try_into().unwrap();
            assert_eq!(canvas.pixels().iter().map(|&pixel| f32::from(pixel)).collect::<Vec<_>>(), expected, "{by:?}");
        }
    }

    /// A square of 4 x 4 around the center, less what is outside.
    #[test]
    fn a_square_is_covered() {
        for (center, covered) in [([4, 3], 16), ([0, 0], 4), ([8, 7], 9), ([1, 7], 9)] {
            let mut canvas = Canvas::new(SHAPE);
            cut_out(&mut canvas, center);
            for plane in canvas.planes() {
                let gray = |row: usize, column: usize| {
                    let near = |at: usize, center: usize| at + 2 >= center && at < center + 2;
                    if near(row, center[0]) && near(column, center[1]) { GRAY } else { 0 }
                };
                let expected: Vec<u8> = (0..9).flat_map(|row| (0..8).map(move |column| gray(row, column))).collect();
                assert_eq!(plane, expected, "{center:?}");
                assert_eq!(plane.iter().filter(|&&pixel| pixel == GRAY).count(), covered, "{center:?}");
            }
        }
    }

    #[test]
    fn a_network_draws_the_same_views_whoever_is_beside_it() {
        let pixels = pixels();
        let augmenter = |networks: std::ops::Range<usize>| {
            let streams = streams(9, Purpose::StrongViews, 0, networks);
            RandAugment::new(Some(Augmentation { flip: true, shift: 1 }), SHAPE, streams)
        };
        let (mut together, mut alone) = (augmenter(0..2), augmenter(1..2));
        for _ in 0..50 {
            let both = together.views(&pixels, &[0, 1, 2, 0], Device::Cpu);
            assert_eq!(both.size(), [4, 144]);
            assert_eq!(both.narrow(0, 2, 2), alone.views(&pixels, &[2, 0], Device::Cpu));
        }
    }
}
