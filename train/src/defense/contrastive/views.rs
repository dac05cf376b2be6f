//! Random views of images: crops, flips and changes of color.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::ops::RangeInclusive;
use tch::{Kind, Tensor};

/// Share of an image that a crop covers.
const AREA: RangeInclusive<f64> = 0.2..=1.0;
/// The largest ratio of a crop's width to its height, both as shares of the image's; the smallest is its inverse.
const RATIO: f64 = 4.0 / 3.0;
/// How often colors are changed.
const JITTER: f64 = 0.8;
/// Factors of brightness, contrast and saturation.
const FACTOR: RangeInclusive<f64> = 0.6..=1.4;
/// How often an image in color loses its colors.
const GRAY: f64 = 0.2;
/// Weights of red, green and blue in gray: ITU-R BT.601.
const LUMA: [f32; 3] = [0.299, 0.587, 0.114];

/// `grid_sampler`: the mean of the four nearest pixels, weighted; at the edge the pixels of the edge.
const BILINEAR: i64 = 0;
const BORDER: i64 = 1;

/// One view: what is drawn, in the order in which it is carried out.
///
/// - A crop with a share of the image's area uniform on [0.2, 1] and a ratio of width to height log-uniform on
///   [3/4, 4/3], no wider and no higher than the image, at a uniform place in it, is stretched to the image's size by
///   bilinear interpolation.
/// - It is flipped (columns in reverse) with probability 1/2.
/// - With probability 0.8 brightness, contrast and, of images with three channels, saturation are multiplied by factors
///   uniform on [0.6, 1.4]: x ← b x, x ← μ + c (x - μ) with the image's mean gray μ, x ← g + s (x - g) with the pixel's
///   gray g; each time to within [0, 1].
/// - With probability 0.2 an image with three channels is gray.
///
/// Chen et al. (2020), appendix A, and He et al. (2020), section 3.3, also change hues and (Chen et al.) blur; the first
/// have crops from 0.08 of the area on.
#[derive(Debug, Clone, Copy, PartialEq)]
struct RandomView {
    /// Width and height of the crop as shares of the image's.
    size: [f64; 2],
    /// Its center on both axes, where the image reaches from -1 to 1.
    center: [f64; 2],
    flip: bool,
    brightness: f64,
    contrast: f64,
    saturation: f64,
}

impl RandomView {
    fn draw(stream: &mut ChaCha8Rng) -> Self {
        let area = stream.random_range(AREA);
        let ratio = libm::exp(stream.random_range(-1.0..=1.0) * libm::log(RATIO));
        let size = [area * ratio, area / ratio].map(|squared: f64| squared.sqrt().min(1.0));
        let center = size.map(|size| (1.0 - size) * stream.random_range(-1.0..=1.0));
        let flip = stream.random();
        let changed = stream.random_bool(JITTER);
        let mut factor = || {
            let factor = stream.random_range(FACTOR);
            if changed { factor } else { 1.0 }
        };
        let [brightness, contrast, saturation] = std::array::from_fn(|_| factor());
        let gray = stream.random_bool(GRAY);
        Self { size, center, flip, brightness, contrast, saturation: if gray { 0.0 } else { saturation } }
    }

    /// From a place in the view to its place in the image: x ↦ ± w x + c, y ↦ h y + d.
    fn affine(&self) -> [f32; 6] {
        let ([width, height], [across, down]) = (self.size, self.center);
        let width = if self.flip { -width } else { width };
        [width, 0.0, across, 0.0, height, down].map(|number| number as f32)
    }
}

/// Images [n, F] of shape \[channels, rows, columns\] in [0, 1], image n transformed by its view.
fn seen(images: &Tensor, shape: [usize; 3], views: &[RandomView]) -> Tensor {
    let [channels, rows, columns] = shape.map(|length| length as i64);
    let (count, device) = (views.len() as i64, images.device());
    let affine: Vec<f32> = views.iter().flat_map(RandomView::affine).collect();
    let affine = Tensor::from_slice(&affine).view([count, 2, 3]).to_device(device);
    let grid = Tensor::affine_grid_generator(&affine, [count, channels, rows, columns], false);
    let cropped = images.view([count, channels, rows, columns]).grid_sampler(&grid, BILINEAR, BORDER, false);
    let factors = |factor: &dyn Fn(&RandomView) -> f64| {
        let factors: Vec<f32> = views.iter().map(|view| factor(view) as f32).collect();
        Tensor::from_slice(&factors).view([count, 1, 1, 1]).to_device(device)
    };
    let bright = (cropped * factors(&|view| view.brightness)).clamp_(0.0, 1.0);
    let mean = gray(&bright).mean_dim([1i64, 2, 3].as_slice(), true, Kind::Float);
    let contrasted = ((bright - &mean) * factors(&|view| view.contrast) + mean).clamp_(0.0, 1.0);
    let colored = if channels == LUMA.len() as i64 {
        let gray = gray(&contrasted);
        ((contrasted - &gray) * factors(&|view| view.saturation) + gray).clamp_(0.0, 1.0)
    } else {
        contrasted
    };
    colored.view([count, -1])
}

/// Gray [n, 1, rows, columns] of images [n, channels, rows, columns]: of three channels their luma, of others the mean.
fn gray(images: &Tensor) -> Tensor {
    let channel = [1i64].as_slice();
    if images.size()[1] != LUMA.len() as i64 {
        return images.mean_dim(channel, true, Kind::Float);
    }
    let weights = Tensor::from_slice(&LUMA).view([1, 3, 1, 1]).to_device(images.device());
    (images * weights).sum_dim_intlist(channel, true, Kind::Float)
}

/// Random views of the batches of several networks.
pub(super) struct RandomViews {
    shape: [usize; 3],
    streams: Vec<ChaCha8Rng>,
}

impl RandomViews {
    /// One stream for each network, for images of shape \[channels, rows, columns\].
    pub fn new(shape: [usize; 3], streams: Vec<ChaCha8Rng>) -> Self {
        Self { shape, streams }
    }

    /// A view of each of the images [M · B, F], those of network 0 first, as the stream of its network draws it.
    pub fn of(&mut self, images: &Tensor, batch: usize) -> Tensor {
        let draw = |stream: &mut ChaCha8Rng| (0..batch).map(|_| RandomView::draw(stream)).collect::<Vec<_>>();
        let views: Vec<RandomView> = self.streams.iter_mut().flat_map(draw).collect();
        seen(images, self.shape, &views)
    }
}

/// V random views of each image [n, F], [n · V, F], those of the first image first.
pub(super) fn random_views(images: &Tensor, shape: [usize; 3], views: usize, stream: ChaCha8Rng) -> Tensor {
    let count = images.size()[0] * views as i64;
    let repeated = images.repeat_interleave_self_int(views as i64, 0, count);
    RandomViews::new(shape, vec![stream]).of(&repeated, count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Purpose, stream};
    use tch::Device;

    const PLAIN: RandomView = RandomView {
        size: [1.0, 1.0],
        center: [0.0, 0.0],
        flip: false,
        brightness: 1.0,
        contrast: 1.0,
        saturation: 1.0,
    };

    fn random(network: u64) -> ChaCha8Rng {
        stream(3, Purpose::RandomViews, 0, network)
    }

    /// Images of this shape, within [0, 1].
    fn images(count: i64, [channels, rows, columns]: [usize; 3]) -> Tensor {
        let pixels = (channels * rows * columns) as i64;
        let numbers = Tensor::linspace(0.0, 0.9 * (count * pixels) as f64, count * pixels, (Kind::Float, Device::Cpu));
        ((numbers.sin() + 1.0) / 2.0).view([count, pixels])
    }

    /// Pixel by pixel in doubles.
    fn seen_by_hand(image: &[f32], [channels, rows, columns]: [usize; 3], view: &RandomView) -> Vec<f64> {
        let at = |channel: usize, row: f64, column: f64| {
            let inside = |place: f64, length: usize| place.clamp(0.0, length as f64 - 1.0);
            let (row, column) = (inside(row, rows), inside(column, columns));
            let pixel = |row: usize, column: usize| {
                let place = (channel * rows + row.min(rows - 1)) * columns + column.min(columns - 1);
                f64::from(image[place])
            };
            let ([top, left], [down, right]) =
                ([row, column].map(|place| place.floor() as usize), [row.fract(), column.fract()]);
            (1.0 - down) * ((1.0 - right) * pixel(top, left) + right * pixel(top, left + 1))
                + down * ((1.0 - right) * pixel(top + 1, left) + right * pixel(top + 1, left + 1))
        };
        // The middle of pixel i of n is at (2 i + 1)/n - 1.
        let middle = |place: usize, length: usize| (2 * place + 1) as f64 / length as f64 - 1.0;
        let place = |middle: f64, length: usize| ((middle + 1.0) * length as f64 - 1.0) / 2.0;
        let mut out = Vec::new();
        for (channel, row, column) in (0..channels)
            .flat_map(|channel| (0..rows).flat_map(move |row| (0..columns).map(move |column| (channel, row, column))))
        {
            let sign = if view.flip { -1.0 } else { 1.0 };
            let across = sign * view.size[0] * middle(column, columns) + view.center[0];
            let down = view.size[1] * middle(row, rows) + view.center[1];
            let value = at(channel, place(down, rows), place(across, columns));
            out.push((view.brightness * value).clamp(0.0, 1.0));
        }
        let pixels = rows * columns;
        let gray = |out: &[f64], pixel: usize| match channels {
            3 => (0..3).map(|channel| f64::from(LUMA[channel]) * out[channel * pixels + pixel]).sum::<f64>(),
            _ => (0..channels).map(|channel| out[channel * pixels + pixel]).sum::<f64>() / channels as f64,
        };
        let mean = (0..pixels).map(|pixel| gray(&out, pixel)).sum::<f64>() / pixels as f64;
        out.iter_mut().for_each(|x| *x = (mean + view.contrast * (*x - mean)).clamp(0.0, 1.0));
        if channels == 3 {
            let grays: Vec<f64> = (0..pixels).map(|pixel| gray(&out, pixel)).collect();
            for (place, x) in out.iter_mut().enumerate() {
                let gray = grays[place % pixels];
                *x = (gray + view.saturation * (*x - gray)).clamp(0.0, 1.0);
            }
        }
        out
    }

    #[test]
    fn views_are_those_of_a_loop_over_pixels() {
        for shape in [[1, 5, 7], [3, 6, 4], [2, 3, 3]] {
            let mut stream = random(0);
            let mut views: Vec<RandomView> = (0..40).map(|_| RandomView::draw(&mut stream)).collect();
            views[0] = PLAIN;
            let images = images(40, shape);
            let (before, found) = (Vec::<Vec<f32>>::try_from(&images).unwrap(), seen(&images, shape, &views));
            let found = Vec::<Vec<f32>>::try_from(found).unwrap();
            for ((image, found), view) in before.iter().zip(&found).zip(&views) {
                for (found, expected) in found.iter().zip(seen_by_hand(image, shape, view)) {
                    assert!((f64::from(*found) - expected).abs() < 2e-6, "{view:?}: {found} {expected}");
                }
            }
            assert!(before[0].iter().zip(&found[0]).all(|(before, found)| (before - found).abs() < 1e-6));
        }
    }

    #[test]
    fn draws_keep_to_their_ranges() {
        let mut stream = random(1);
        let views: Vec<RandomView> = (0..4000).map(|_| RandomView::draw(&mut stream)).collect();
        let share = |of: &dyn Fn(&RandomView) -> bool| views.iter().filter(|view| of(view)).count() as f64 / 4000.0;
        for view in &views {
            let [width, height] = view.size;
            assert!(width <= 1.0 && height <= 1.0 && width * height > 0.15, "{view:?}");
            assert!(view.center.iter().zip(view.size).all(|(center, size)| center.abs() + size <= 1.0 + 1e-12));
            assert!((0.6..=1.4).contains(&view.brightness) && (0.6..=1.4).contains(&view.contrast), "{view:?}");
        }
        // 4,000 coins: six standard deviations are 0.047 at most.
        for (found, expected) in [
            (share(&|view| view.flip), 0.5),
            (share(&|view| view.brightness != 1.0), JITTER),
            (share(&|view| view.saturation == 0.0), GRAY),
            // Where neither side is cut: areas are uniform.
            (share(&|view| view.size[0] * view.size[1] < 0.4), 0.25),
        ] {
            println!("{found} {expected}");
            assert!((found - expected).abs() < 0.047, "{found} {expected}");
        }
    }

    #[test]
    fn a_network_sees_the_same_views_alone_and_beside_others() {
        let shape = [1, 6, 5];
        let images = images(8, shape);
        let mut together = RandomViews::new(shape, vec![random(0), random(1)]);
        let mut alone = RandomViews::new(shape, vec![random(1)]);
        for _ in 0..5 {
            let (both, one) = (together.of(&images, 4), alone.of(&images.narrow(0, 4, 4), 4));
            assert!(both.narrow(0, 4, 4) == one);
        }
        let [first, second] = [(), ()].map(|()| random_views(&images, shape, 3, random(0)));
        assert_eq!((first.size(), first == second), (vec![24, 30], true));
        let views = random_views(&images, shape, 3, random(0)).view([8, 3, 30]);
        assert!(views.select(1, 0) != views.select(1, 1));
    }
}
