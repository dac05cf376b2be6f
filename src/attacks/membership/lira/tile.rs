//! The default attack on sixteen samples side by side, in the precision of the recording.
//!
//! Leaving one out of n values with mean m and sum of squares Q, at distance d from the mean, leaves
//! Q' = Q (1 - t), t = n d²/((n-1) Q), and the distance from the new mean is d n/(n-1). With v = Q'/(n-2),
//!
//! (x - m')²/v + ln v = n(n-2)/(n-1) · t/(1-t) + ln(1-t) + ln Q - ln(n-2),
//!
//! so a victim costs one division per view, and one logarithm for the product of 1 - t over the views. Every set is
//! centered about its own rough mean before it is squared, so that rounding is relative to its spread.
//!
//! Choices between numbers are made by masks and `&`, not by branches, so that a compiler makes vectors of the loops.

use super::real::Real;
use super::side_by_side::{LANES, Lanes};
use super::sums::{Models, VIEWS, WideLanes};
use crate::membership::shadow_scores::ScoreBlock;
use crate::special::ln_in_loops;
use crate::vectorized::{Arch, in_vectors};
use ndarray::{ArrayView1, ArrayView2, ArrayView3, ArrayViewMut2, Axis};
use pulp::{Simd, WithSimd};
use std::borrow::Cow;
use std::ops::Range;

/// Tiles that are read together, so that memory is read in long runs.
const TOGETHER: usize = 4;

/// Views whose 1 - t are multiplied before a logarithm is taken: KEPT^20 is above the smallest normal single.
const PRODUCT: usize = 20;

/// A victim whose own score makes up more than 1 - this of a sum of squares is computed again in doubles: its rounding
/// error would be magnified by up to the reciprocal.
const KEPT: f64 = 1.0 / 16.0;

/// A victim whose squared distance from the other side exceeds this many of its variances is computed again in doubles:
/// from 2^23 standard deviations on the floor of the resolution applies, and means are within 2^16 of them.
const FAR: f64 = (1u64 << 45) as f64;

/// A standard deviation below this share of the mean is computed in doubles, with the known floor of the resolution.
const RELATIVE_SPREAD: f64 = 1.0 / 65_536.0;

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
        for (tile, start) in tiles.iter_mut().zip((start..end).step_by(LANES)) {
            // Lanes beyond the last sample repeat the first.
            tile.samples = std::array::from_fn(|lane| lane % (end - start));
        }
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
            arch.dispatch(Prepare(tile));
            in_vectors!(arch, tile.guess());
        }
        for model in 0..models {
            let mut row = scores.index_axis_mut(Axis(0), model);
            let mut row = row.slice_axis_mut(Axis(0), (start..end).into());
            for (tile, mut row) in tiles.iter().zip(row.axis_chunks_iter_mut(Axis(0), LANES)) {
                let found = &tile.found[model][..row.len()];
                row.assign(&ArrayView1::from(found));
            }
        }
        for (tile, start) in tiles.iter().zip((start..end).step_by(LANES)) {
            tile.list_slow(start..end.min(start + LANES), &mut slow);
        }
    }
    slow
}

/// The work of a tile before its guesses, with the vectors of this machine.
struct Prepare<'a, F>(&'a mut Tile<F>);

impl<F: Real> WithSimd for Prepare<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.0.prepare(simd);
    }
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
    /// The sample of every lane, counted from the first of the tile.
    samples: [usize; LANES],
    /// Scores, view by view within a model.
    scores: Vec<Lanes<F>>,
    /// Per model, whether it was trained on the lane's sample.
    member: Vec<[bool; LANES]>,
    /// Per model, 1 on its side and 0 on the other.
    weights: Vec<[Lanes<F>; 2]>,
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
            samples: [0; LANES],
            scores: vec![zero; models * views],
            member: vec![[false; LANES]; models],
            weights: vec![[zero; 2]; models],
            count: [[0.0; LANES]; 2],
            centers: [vec![center; views], vec![center; views]],
            log_squares: [[0.0; LANES]; 2],
            poor: [false; LANES],
            found: vec![[0.0; LANES]; models],
            lost: vec![0; models],
            lost_any: 0,
        }
    }

    /// Copies what a model has of up to [`LANES`] samples into lanes.
    fn load(&mut self, arch: Arch, model: usize, rows: &[F], truth: &[bool]) {
        let into = &mut self.scores[model * self.views..(model + 1) * self.views];
        F::side_by_side(arch, rows, self.views, &self.samples, into);
        self.member[model] = truth.try_into().unwrap_or_else(|_| self.samples.map(|sample| truth[sample]));
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
    fn prepare<S: Simd>(&mut self, simd: S) {
        let views = self.views;
        self.log_squares = [[0.0; LANES]; 2];
        self.count = [[0.0; LANES]; 2];
        let (none, all) = (F::of(0.0), F::of(1.0));
        for ([outside, inside], member) in self.weights.iter_mut().zip(&self.member) {
            for lane in 0..LANES {
                let member = F::mask(member[lane]);
                inside[lane] = F::choose(member, all, none);
                outside[lane] = F::choose(member, none, all);
                self.count[1][lane] += inside[lane].wide();
            }
        }
        for lane in 0..LANES {
            self.count[0][lane] = self.member.len() as f64 - self.count[1][lane];
            // A victim of either side must leave two models there.
            self.poor[lane] = self.count.iter().any(|count| count[lane] < 3.0);
        }
        let mut product = [[1.0f64; LANES]; 2];
        for first in (0..views).step_by(VIEWS) {
            if first + VIEWS <= views {
                self.centers::<VIEWS, S>(simd, first, &mut product);
            } else {
                for view in first..views {
                    self.centers::<1, S>(simd, view, &mut product);
                }
            }
        }
        self.add_logarithms(&mut product);
    }

    /// Centers and sums of squares of both sides in a few views.
    #[inline(always)]
    fn centers<const N: usize, S: Simd>(&mut self, simd: S, first: usize, product: &mut [[f64; LANES]; 2]) {
        let models = Models { scores: &self.scores, weights: &self.weights, views: self.views };
        let sums: [_; N] = models.sums(simd, first);
        let rough = sums.map(
            #[inline(always)]
            |sums: [Lanes<F>; 2]| {
                let mut rough = sums;
                for side in 0..2 {
                    for lane in 0..LANES {
                        rough[side][lane] = sums[side][lane] / F::of(self.count[side][lane].max(1.0));
                    }
                }
                rough
            },
        );
        let found = models.squares(simd, first, &rough);
        for view in 0..N {
            self.center(first + view, &rough[view], &found[view], product);
        }
    }

    /// The center of both sides in one view.
    #[inline(always)]
    fn center(
        &mut self,
        view: usize,
        rough: &[Lanes<F>; 2],
        [sums, squares]: &[[WideLanes; 2]; 2],
        product: &mut [[f64; LANES]; 2],
    ) {
        if view > 0 && view.is_multiple_of(SQUARES) {
            self.add_logarithms(product);
        }
        let mut least = [0.0f64; LANES];
        for lane in 0..LANES {
            least[lane] = RELATIVE_SPREAD * rough[0][lane].wide().abs().max(rough[1][lane].wide().abs());
        }
        for side in 0..2 {
            let center = &mut self.centers[side][view];
            center.rough = rough[side];
            for lane in 0..LANES {
                let n = self.count[side][lane];
                let rest = sums[side][lane] / n;
                let squared = squares[side][lane];
                let q = squared - n * rest * rest;
                let enough = n * least[lane] * least[lane];
                // Too little spread for the precision, or a rough mean that was no good.
                self.poor[lane] |= !((q > enough) & (q > 0.5 * squared) & (q < 1e30) & (q > 1e-30));
                let inverse = 1.0 / q;
                center.rest[lane] = F::of(rest);
                center.own[lane] = F::of(n / (n - 1.0) * inverse);
                center.other[lane] = F::of((n - 1.0) * inverse);
                product[side][lane] *= q;
            }
        }
    }

    /// Takes the logarithms of products of sums of squares.
    #[inline(always)]
    fn add_logarithms(&mut self, product: &mut [[f64; LANES]; 2]) {
        for (sum, product) in self.log_squares.as_flattened_mut().iter_mut().zip(product.as_flattened_mut()) {
            *sum += ln_in_loops(*product);
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
                |lane| F::mask(member[lane]),
            );
            let (mut own, mut other, mut kept) = (zero, zero, [one; LANES]);
            let mut least = [one; LANES];
            let [mut log_kept, mut own_sum, mut other_sum] = [[0.0; LANES]; 3];
            let views = answer.chunks(PRODUCT).zip(outside.chunks(PRODUCT)).zip(inside.chunks(PRODUCT));
            for (chunk, ((x, o), i)) in views.enumerate() {
                if chunk > 0 {
                    for lane in 0..LANES {
                        log_kept[lane] += ln_in_loops(kept[lane].wide());
                        own_sum[lane] += own[lane].wide();
                        other_sum[lane] += other[lane].wide();
                        kept[lane] = one;
                    }
                    (own, other) = (zero, zero);
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
            let score = &mut self.found[model];
            for lane in 0..LANES {
                let is_member = f64::mask(member[lane]);
                let factor = f64::choose(is_member, factor[1][lane], factor[0][lane]);
                let constant = f64::choose(is_member, constant[1][lane], constant[0][lane]);
                let other = other_sum[lane] + other[lane].wide();
                let own = factor * (own_sum[lane] + own[lane].wide()) + log_kept[lane];
                let ratio = 0.5 * (other + constant - own);
                score[lane] = f64::choose(is_member, ratio, -ratio);
                // Not so where there is NaN.
                let good = (least[lane].wide() >= KEPT) & (other < FAR) & (ratio.abs() < FAR);
                lost |= u32::from(!good) << lane;
            }
            self.lost[model] = lost;
            self.lost_any |= lost;
        }
    }
}
