//! Flips and shifts of images, drawn for every training step or listed as the views that an attack asks for.

use crate::checks::reject;
use leakbound::error::Result;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use tch::Tensor;

/// How training images are varied at every step.
///
/// An image is flipped (columns in reverse) with probability 1/2 and shifted on each axis by a uniform whole number of
/// pixels from -`shift` to `shift`; pixels from outside the image are 0. Each network draws from its own stream.
///
/// # References
/// Aerni, Zhang and Tramèr (2024), "Evaluations of machine learning privacy defenses are misleading", appendix A.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Augmentation {
    /// Whether images are flipped.
    pub flip: bool,
    /// The farthest shift on each axis, in pixels.
    pub shift: usize,
}

impl Augmentation {
    /// # Errors
    /// [`Error::Rejected`](leakbound::Error::Rejected) if a shift could leave nothing of an image of shape \[channels,
    /// rows, columns\].
    pub(super) fn check(self, shape: [usize; 3]) -> Result<()> {
        check_shift("augmentation", self.shift, shape)
    }

    /// This many moves.
    fn draw(self, count: usize, stream: &mut ChaCha8Rng) -> Vec<Move> {
        (0..count).map(|_| self.draw_one(stream)).collect()
    }

    pub(super) fn draw_one(self, stream: &mut ChaCha8Rng) -> Move {
        let shift = self.shift as i64;
        Move {
            flip: self.flip && stream.random::<bool>(),
            down: stream.random_range(-shift..=shift),
            right: stream.random_range(-shift..=shift),
        }
    }

    /// K views [n, K, F] of images [n, F], each moved separately.
    pub(super) fn views(self, images: &Tensor, count: usize, shape: [usize; 3], stream: &mut ChaCha8Rng) -> Tensor {
        let (number, pixels) = (images.size()[0], images.size()[1]);
        let repeated = images.repeat_interleave_self_int(count as i64, 0, number * count as i64);
        moved(&repeated, shape, &self.draw(number as usize * count, stream)).view([number, count as i64, pixels])
    }
}

pub(super) fn check_shift(operation: &'static str, shift: usize, [_, rows, columns]: [usize; 3]) -> Result<()> {
    if shift < rows.min(columns) {
        return Ok(());
    }
    let reason = format!("a shift of {shift} pixels leaves nothing of an image of {rows} x {columns}");
    reject(operation, reason)
}

/// One flip and shift: first the flip, then a number of pixels downwards and to the right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Move {
    pub flip: bool,
    pub down: i64,
    pub right: i64,
}

/// The 18 views of an image: as it is and flipped, each with shifts of -s, 0, s pixels downwards, each with -s, 0, s to
/// the right, the last of these changing fastest. View [`ITSELF`] is the image itself.
///
/// Aerni, Zhang and Tramèr (2024), section 5.2, whose authors have the same views with s = 4 for images of 32 x 32.
pub(super) fn eighteen_views(shift: usize) -> Vec<Move> {
    let shifts = [-(shift as i64), 0, shift as i64];
    let flipped = |flip| shifts.into_iter().flat_map(move |down| shifts.map(|right| Move { flip, down, right }));
    [false, true].into_iter().flat_map(flipped).collect()
}

/// Where the image itself is among its 18 views.
pub(super) const ITSELF: usize = 4;

/// Images [N, F] of shape [channels, rows, columns], image n moved by `moves[n]`; 0 comes in from outside.
///
/// Pixel (r, c) of the result is pixel (r - down, c - right) of the image, or (r - down, W - 1 - (c - right)) where it
/// is flipped, W columns.
pub(super) fn moved(images: &Tensor, shape: [usize; 3], moves: &[Move]) -> Tensor {
    let [channels, rows, columns] = shape.map(|length| length as i64);
    let count = moves.len() as i64;
    let border = moves.iter().map(|by| by.down.abs().max(by.right.abs())).max().unwrap_or(0);
    let padded = images.view([count, channels, rows, columns]).constant_pad_nd([border; 4]);
    let width = columns + 2 * border;
    // For each image a number for each of its rows, and one for each of its columns.
    let along = |length: i64, number: &dyn Fn(&Move, i64) -> i64| {
        let numbers: Vec<i64> = moves.iter().flat_map(|by| (0..length).map(move |at| number(by, at))).collect();
        Tensor::from_slice(&numbers).view([count, length]).to_device(images.device())
    };
    let starts = along(rows, &|by, row| (row - by.down + border) * width);
    let places = along(columns, &|by, column| {
        let column = column - by.right;
        border + if by.flip { columns - 1 - column } else { column }
    });
    let from = (starts.unsqueeze(2) + places.unsqueeze(1)).view([count, 1, rows * columns]);
    padded.view([count, channels, -1]).gather(2, &from.expand([count, channels, -1], false), false).view([count, -1])
}

/// Varies the batches of several networks, or leaves them as they are.
#[derive(Default)]
pub(super) struct Augmenter {
    augmentation: Option<Augmentation>,
    shape: [usize; 3],
    streams: Vec<ChaCha8Rng>,
}

impl Augmenter {
    /// One stream for each network.
    pub fn new(augmentation: Option<Augmentation>, shape: [usize; 3], streams: Vec<ChaCha8Rng>) -> Self {
        Self { augmentation, shape, streams }
    }

    /// Images [M · B, F], those of network 0 first, each moved as the stream of its network draws.
    pub fn vary(&mut self, images: Tensor, batch: usize) -> Tensor {
        let Some(augmentation) = self.augmentation else { return images };
        let moves: Vec<Move> = self.streams.iter_mut().flat_map(|stream| augmentation.draw(batch, stream)).collect();
        moved(&images, self.shape, &moves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Purpose, streams};

    const SHAPE: [usize; 3] = [2, 3, 4];

    /// Two images of 2 channels, 3 rows and 4 columns, every pixel another number.
    fn images() -> (Vec<f32>, Tensor) {
        let pixels: Vec<f32> = (1..=48).map(|pixel| pixel as f32).collect();
        let images = Tensor::from_slice(&pixels).view([2, 24]);
        (pixels, images)
    }

    /// Pixel by pixel.
    fn moved_by_hand(image: &[f32], by: Move) -> Vec<f32> {
        let mut out = vec![0.0; 24];
        for (channel, row, column) in
            (0..2).flat_map(|channel| (0..3).flat_map(move |row| (0..4).map(move |column| (channel, row, column))))
        {
            // Where this pixel goes.
            let flipped = if by.flip { 3 - column } else { column };
            let (to_row, to_column) = (row + by.down, flipped + by.right);
            if (0..3).contains(&to_row) && (0..4).contains(&to_column) {
                out[(channel * 12 + to_row * 4 + to_column) as usize] =
                    image[(channel * 12 + row * 4 + column) as usize];
            }
        }
        out
    }

    fn rows(tensor: &Tensor) -> Vec<Vec<f32>> {
        tensor.try_into().unwrap()
    }

    #[test]
    fn a_shift_takes_a_pixel_where_it_should() {
        let image = Tensor::from_slice(&[0f32, 0.0, 0.0, 0.0, 7.0, 0.0]).view([1, 6]);
        let moved = rows(&moved(&image, [1, 2, 3], &[Move { flip: false, down: -1, right: 1 }]));
        assert_eq!(moved, [[0.0, 0.0, 7.0, 0.0, 0.0, 0.0]]);
    }

    #[test]
    fn views_are_those_of_a_loop_over_pixels() {
        let (pixels, images) = images();
        let views = eighteen_views(2);
        assert_eq!(views.len(), 18);
        assert_eq!(views[ITSELF], Move { flip: false, down: 0, right: 0 });
        assert_eq!(views[0], Move { flip: false, down: -2, right: -2 });
        assert_eq!(views[5], Move { flip: false, down: 0, right: 2 });
        assert_eq!(views[13], Move { flip: true, down: 0, right: 0 });
        for view in views {
            // The second image stays, so that each has its own move.
            let stay = Move { flip: false, down: 0, right: 0 };
            let found = rows(&moved(&images, SHAPE, &[view, stay]));
            assert_eq!(found, [moved_by_hand(&pixels[..24], view), pixels[24..].to_vec()], "{view:?}");
        }
    }

    #[test]
    fn a_network_draws_the_same_moves_whoever_is_beside_it() {
        let (_, images) = images();
        let augmentation = Augmentation { flip: true, shift: 1 };
        let streams = |networks| streams(9, Purpose::Augmentation, 0, networks);
        let mut together = Augmenter::new(Some(augmentation), SHAPE, streams(0..2));
        let mut alone = Augmenter::new(Some(augmentation), SHAPE, streams(1..2));
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..200 {
            let both = rows(&together.vary(images.shallow_clone(), 1));
            assert_eq!(both[1], rows(&alone.vary(images.narrow(0, 1, 1), 1))[0]);
            seen.insert(both[1].iter().map(|&pixel| pixel as u8).collect::<Vec<u8>>());
        }
        // Each of the 2 x 3 x 3 moves has probability 1/18: all are seen in 200 draws but for 18 (17/18)^200 = 2e-4.
        assert_eq!(seen.len(), 18);
    }

    #[test]
    fn a_shift_out_of_the_image_is_rejected() {
        let check = |shift| Augmentation { flip: false, shift }.check([1, 28, 20]);
        assert!(check(19).is_ok());
        let message = check(20).unwrap_err().to_string();
        assert_eq!(message, "augmentation: a shift of 20 pixels leaves nothing of an image of 28 x 20");
    }
}
