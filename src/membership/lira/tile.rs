//! The default attack on sixteen samples side by side, in the precision of the recording.
//!
//! Leaving one out of n values with mean m and sum of squares Q, at distance d from the mean, leaves
//! Q' = Q (1 - t), t = n d²/((n-1) Q), and the distance from the new mean is d n/(n-1). With v = Q'/(n-2),
//!
//! (x - m')²/v + ln v = n(n-2)/(n-1) · t/(1-t) + ln(1-t) + ln Q - ln(n-2),
//!
//! so that a victim costs one division per view, and one logarithm for the product of 1 - t over the views. Every set
//! is centered about a rough mean of its own before it is squared, so that rounding is relative to its spread.

use super::side_by_side::{LANES, Lanes, side_by_side, singles_side_by_side};
use crate::membership::shadow_scores::ScoreBlock;
use crate::special::ln_in_loops;
use crate::vectorized::{Arch, vectorized};
use ndarray::{ArrayView2, ArrayView3, ArrayViewMut2, Axis};
use std::borrow::Cow;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Range, Sub};

/// Tiles that are read together, so that memory is read in long runs.
const TOGETHER: usize = 4;

/// Views whose 1 - t are multiplied before a logarithm is taken: KEPT^20 is above the smallest normal single.
const PRODUCT: usize = 20;

/// A victim whose own score makes up more than 1 - this of a sum of squares is computed again in doubles: its rounding
/// would be magnified as often.
const KEPT: f64 = 1.0 / 16.0;

/// A standard deviation below this share of the mean is computed in doubles, where the floor of the resolution is
/// known.
const RELATIVE_SPREAD: f64 = 1.0 / 65_536.0;

/// A float type of recorded scores.
trait Real:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + MulAssign
    + Send
    + Sync
    + 'static
{
    /// All bits 0 or 1.
    type Mask: Copy;
    fn of(value: f64) -> Self;
    fn wide(self) -> f64;
    fn mask(chosen: bool) -> Self::Mask;
    /// One of two numbers, by their bits: of a condition compilers make a choice between addresses, which no vector can
    /// read.
    fn choose(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// self · factor + term, rounded once.
    fn times_plus(self, factor: Self, term: Self) -> Self;
    /// Copies the views of samples, a row each, into lanes.
    fn side_by_side(arch: Arch, rows: &[Self], views: usize, samples: &[usize; LANES], into: &mut [Lanes<Self>]);
}

impl Real for f32 {
    type Mask = u32;
    #[inline(always)]
    fn of(value: f64) -> Self {
        value as f32
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn mask(chosen: bool) -> u32 {
        u32::from(chosen).wrapping_neg()
    }
    #[inline(always)]
    fn choose(mask: u32, yes: Self, no: Self) -> Self {
        Self::from_bits(yes.to_bits() & mask | no.to_bits() & !mask)
    }
    #[inline(always)]
    fn times_plus(self, factor: Self, term: Self) -> Self {
        self.mul_add(factor, term)
    }
    fn side_by_side(arch: Arch, rows: &[Self], views: usize, samples: &[usize; LANES], into: &mut [Lanes<Self>]) {
        singles_side_by_side(arch, rows, views, samples, into);
    }
}

impl Real for f64 {
    type Mask = u64;
    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
    #[inline(always)]
    fn mask(chosen: bool) -> u64 {
        u64::from(chosen).wrapping_neg()
    }
    #[inline(always)]
    fn choose(mask: u64, yes: Self, no: Self) -> Self {
        Self::from_bits(yes.to_bits() & mask | no.to_bits() & !mask)
    }
    #[inline(always)]
    fn times_plus(self, factor: Self, term: Self) -> Self {
        self.mul_add(factor, term)
    }
    fn side_by_side(_arch: Arch, rows: &[Self], views: usize, samples: &[usize; LANES], into: &mut [Lanes<Self>]) {
        side_by_side(rows, views, samples, into);
    }
}

/// Sums of squares whose product cannot leave the doubles: each is between 1e-30 and 1e30.
const SQUARES: usize = 10;

/// A sample of a block that must be computed in doubles, with the victims meant; all of them if none are named.
pub(super) type Slow = (usize, Option<Vec<(usize, usize)>>);

/// Scores \[victim, sample\] of a block, and what was left out.
pub(super) fn leave_one_out(
    block: &ScoreBlock<'_>,
    members: ArrayView2<'_, bool>,
    scores: &mut ArrayViewMut2<'_, f64>,
) -> Vec<Slow> {
    match block {
        ScoreBlock::Single(block) => tiles(block.view(), members, scores),
        ScoreBlock::Double(block) => tiles(block.view(), members, scores),
    }
}

fn tiles<F: Real>(
    block: ArrayView3<'_, F>,
    members: ArrayView2<'_, bool>,
    scores: &mut ArrayViewMut2<'_, f64>,
) -> Vec<Slow> {
    let arch = Arch::new();
    let (models, samples, views) = block.dim();
    let mut tiles: Vec<Tile<F>> = (0..TOGETHER).map(|_| Tile::new(models, views)).collect();
    let mut slow = Vec::new();
    for start in (0..samples).step_by(TOGETHER * LANES) {
        let end = samples.min(start + TOGETHER * LANES);
        let tiles = &mut tiles[..(end - start).div_ceil(LANES)];
        for model in 0..models {
            let rows = block.index_axis(Axis(0), model);
            let rows = rows.slice_axis(Axis(0), (start..end).into());
            let rows = rows.to_slice().map_or_else(|| rows.iter().copied().collect(), Cow::Borrowed);
            let truth = members.index_axis(Axis(0), model);
            let truth = truth.slice_axis(Axis(0), (start..end).into());
            let truth = truth.to_slice().map_or_else(|| truth.iter().copied().collect(), Cow::Borrowed);
            for ((tile, rows), truth) in tiles.iter_mut().zip(rows.chunks(LANES * views)).zip(truth.chunks(LANES)) {
                tile.load(arch, model, rows, truth);
            }
        }
        for tile in &mut *tiles {
            vectorized(
                arch,
                #[inline(always)]
                || tile.prepare(),
            );
            vectorized(
                arch,
                #[inline(always)]
                || tile.guess(),
            );
        }
        for model in 0..models {
            let mut row = scores.index_axis_mut(Axis(0), model);
            let mut row = row.slice_axis_mut(Axis(0), (start..end).into());
            let found = tiles.iter().flat_map(|tile| &tile.found[model]);
            row.iter_mut().zip(found).for_each(|(score, found)| *score = *found);
        }
        for (tile, start) in tiles.iter().zip((start..end).step_by(LANES)) {
            tile.list_slow(start..end.min(start + LANES), &mut slow);
        }
    }
    slow
}

/// One side of every lane in one view.
#[derive(Clone, Copy)]
struct Center<F> {
    /// A rough mean, and how far the mean is from it.
    rough: Lanes<F>,
    rest: Lanes<F>,
    /// n/((n-1) Q), which makes t of a squared distance in its own side.
    own: Lanes<F>,
    /// (n-1)/Q, which makes a squared distance relative to the variance of the other side.
    other: Lanes<F>,
}

struct Tile<F> {
    views: usize,
    /// Scores, view by view within a model.
    scores: Vec<Lanes<F>>,
    /// Per model, 1 where it was trained on the lane's sample, else 0.
    member: Vec<Lanes<F>>,
    /// Models on each side: without and with the sample.
    count: [[f64; LANES]; 2],
    centers: [Vec<Center<F>>; 2],
    /// Σ ln Q over the views.
    log_squares: [[f64; LANES]; 2],
    /// Lanes that single precision or too few models rule out.
    poor: [bool; LANES],
    /// Scores of every model as victim.
    found: Vec<[f64; LANES]>,
    /// Lanes of every victim that must be computed again, and those of any.
    lost: Vec<u32>,
    lost_any: u32,
}

impl<F: Real> Tile<F> {
    fn new(models: usize, views: usize) -> Self {
        let zero = [F::of(0.0); LANES];
        let center = Center { rough: zero, rest: zero, own: zero, other: zero };
        Self {
            views,
            scores: vec![zero; models * views],
            member: vec![zero; models],
            count: [[0.0; LANES]; 2],
            centers: [vec![center; views], vec![center; views]],
            log_squares: [[0.0; LANES]; 2],
            poor: [false; LANES],
            found: vec![[0.0; LANES]; models],
            lost: vec![0; models],
            lost_any: 0,
        }
    }

    /// Copies what a model has of up to [`LANES`] samples into lanes; lanes beyond the last sample repeat the first.
    fn load(&mut self, arch: Arch, model: usize, rows: &[F], truth: &[bool]) {
        let samples = std::array::from_fn(|lane| lane % truth.len());
        let into = &mut self.scores[model * self.views..(model + 1) * self.views];
        F::side_by_side(arch, rows, self.views, &samples, into);
        for (weight, sample) in self.member[model].iter_mut().zip(samples) {
            *weight = F::of(f64::from(u8::from(truth[sample])));
        }
    }

    /// Samples that must be computed in doubles.
    fn list_slow(&self, samples: Range<usize>, slow: &mut Vec<Slow>) {
        for (lane, sample) in samples.enumerate() {
            if self.poor[lane] {
                slow.push((sample, None));
            } else if self.lost_any & (1 << lane) != 0 {
                let lost = self.lost.iter().enumerate().filter(|(_, lost)| *lost & (1 << lane) != 0);
                slow.push((sample, Some(lost.map(|(model, _)| (model, model)).collect())));
            }
        }
    }

    /// Centers and sums of squares of both sides.
    #[inline(always)]
    fn prepare(&mut self) {
        let (zero, one) = ([F::of(0.0); LANES], F::of(1.0));
        let views = self.views;
        for side in 0..2 {
            self.log_squares[side] = [0.0; LANES];
        }
        self.count = [[0.0; LANES]; 2];
        for member in &self.member {
            for (count, weight) in self.count[1].iter_mut().zip(member) {
                *count += weight.wide();
            }
        }
        for lane in 0..LANES {
            self.count[0][lane] = self.member.len() as f64 - self.count[1][lane];
            // A victim of either side must leave two models there.
            self.poor[lane] = self.count.iter().any(|count| count[lane] < 3.0);
        }
        let mut product = [[1.0f64; LANES]; 2];
        for view in 0..views {
            if view > 0 && view % SQUARES == 0 {
                self.add_logarithms(&mut product);
            }
            let (mut inside, mut all) = (zero, zero);
            for (x, w) in self.scores[view..].iter().step_by(views).zip(&self.member) {
                for lane in 0..LANES {
                    inside[lane] = w[lane].times_plus(x[lane], inside[lane]);
                    all[lane] += x[lane];
                }
            }
            let mut rough = [zero; 2];
            for lane in 0..LANES {
                rough[0][lane] = (all[lane] - inside[lane]) / F::of(self.count[0][lane].max(1.0));
                rough[1][lane] = inside[lane] / F::of(self.count[1][lane].max(1.0));
            }
            let (mut sums, mut squares) = ([zero; 2], [zero; 2]);
            for (x, w) in self.scores[view..].iter().step_by(views).zip(&self.member) {
                for lane in 0..LANES {
                    let (a, b) = (x[lane] - rough[0][lane], x[lane] - rough[1][lane]);
                    let (a, b) = ((one - w[lane]) * a, w[lane] * b);
                    sums[0][lane] += a;
                    sums[1][lane] += b;
                    squares[0][lane] = a.times_plus(a, squares[0][lane]);
                    squares[1][lane] = b.times_plus(b, squares[1][lane]);
                }
            }
            for lane in 0..LANES {
                let scale = rough[0][lane].wide().abs().max(rough[1][lane].wide().abs());
                for side in 0..2 {
                    let n = self.count[side][lane];
                    let rest = sums[side][lane].wide() / n;
                    let squared = squares[side][lane].wide();
                    let q = squared - n * rest * rest;
                    let least = RELATIVE_SPREAD * scale;
                    // Too little spread for the precision, or a rough mean that was no good.
                    self.poor[lane] |= !(q > n * least * least && q > 0.5 * squared && q < 1e30 && q > 1e-30);
                    let center = &mut self.centers[side][view];
                    center.rough[lane] = rough[side][lane];
                    center.rest[lane] = F::of(rest);
                    center.own[lane] = F::of(n / ((n - 1.0) * q));
                    center.other[lane] = F::of((n - 1.0) / q);
                    product[side][lane] *= q;
                }
            }
        }
        self.add_logarithms(&mut product);
    }

    /// Takes the logarithms of products of sums of squares.
    #[inline(always)]
    fn add_logarithms(&mut self, product: &mut [[f64; LANES]; 2]) {
        for (sum, product) in self.log_squares.as_flattened_mut().iter_mut().zip(product.as_flattened_mut()) {
            *sum += product.ln();
            *product = 1.0;
        }
    }

    /// The score of every model as victim.
    #[inline(always)]
    fn guess(&mut self) {
        let (zero, one) = ([F::of(0.0); LANES], F::of(1.0));
        self.lost_any = 0;
        // Per side: n(n-2)/(n-1) of its own victim, and the logarithms that do not depend on the victim.
        let views = self.views as f64;
        let mut factor = [[0.0; LANES]; 2];
        let mut constant = [[0.0; LANES]; 2];
        for side in 0..2 {
            for lane in 0..LANES {
                let (own, other) = (self.count[side][lane], self.count[1 - side][lane]);
                factor[side][lane] = own * (own - 2.0) / (own - 1.0);
                constant[side][lane] =
                    self.log_squares[1 - side][lane] - views * (other - 1.0).ln() - self.log_squares[side][lane]
                        + views * (own - 2.0).ln();
            }
        }
        let [outside, inside] = &self.centers;
        for (model, answer) in self.scores.chunks_exact(self.views).enumerate() {
            let member = &self.member[model];
            let is_member: Lanes<F::Mask> = std::array::from_fn(
                #[inline(always)]
                |lane| F::mask(member[lane] > F::of(0.5)),
            );
            let (mut own, mut other, mut kept) = (zero, zero, [one; LANES]);
            let mut least = [one; LANES];
            let mut log_kept = [0.0; LANES];
            let views = answer.chunks(PRODUCT).zip(outside.chunks(PRODUCT)).zip(inside.chunks(PRODUCT));
            for (chunk, ((x, o), i)) in views.enumerate() {
                if chunk > 0 {
                    for lane in 0..LANES {
                        log_kept[lane] += ln_in_loops(kept[lane].wide());
                        kept[lane] = one;
                    }
                }
                for ((x, outside), inside) in x.iter().zip(o).zip(i) {
                    for lane in 0..LANES {
                        let a = x[lane] - outside.rough[lane] - outside.rest[lane];
                        let b = x[lane] - inside.rough[lane] - inside.rest[lane];
                        let (a, b) = (a * a, b * b);
                        let t = F::choose(is_member[lane], b * inside.own[lane], a * outside.own[lane]);
                        let ratio = one - t;
                        own[lane] += t / ratio;
                        other[lane] += F::choose(is_member[lane], a * outside.other[lane], b * inside.other[lane]);
                        kept[lane] *= ratio;
                        least[lane] = if ratio < least[lane] { ratio } else { least[lane] };
                    }
                }
            }
            for lane in 0..LANES {
                log_kept[lane] += ln_in_loops(kept[lane].wide());
            }
            let mut lost = 0;
            for lane in 0..LANES {
                let side = usize::from(member[lane] > F::of(0.5));
                let own = factor[side][lane] * own[lane].wide() + log_kept[lane];
                let ratio = 0.5 * (other[lane].wide() + constant[side][lane] - own);
                self.found[model][lane] = if side == 1 { ratio } else { -ratio };
                // Overflow and NaN too.
                let good = least[lane].wide() >= KEPT && ratio.abs() < 1e30;
                lost |= u32::from(!good) << lane;
            }
            self.lost[model] = lost;
            self.lost_any |= lost;
        }
    }
}
