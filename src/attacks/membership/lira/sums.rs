//! Sums over the models of both sides, of sixteen samples side by side.
//!
//! The vectors are written out: left to itself, a compiler keeps the sums in memory.

use super::real::Real;
use super::side_by_side::{LANES, Lanes};
use pulp::Simd;

/// Views whose sums are formed together, so that none waits for another.
pub(super) const VIEWS: usize = 2;

/// Models whose distances are added in the precision of the recording; the sums of such pieces are added in doubles. Equal
/// terms are all rounded to the same side, so that the error of one long sum would grow with their number.
const PIECE: usize = 256;

/// Sums in doubles, of sixteen samples.
pub(super) type WideLanes = [f64; LANES];

/// What the models have of a tile.
pub(super) struct Models<'a, F> {
    /// Scores, view by view within a model.
    pub scores: &'a [Lanes<F>],
    /// Per model, 1 on its side and 0 on the other.
    pub weights: &'a [[Lanes<F>; 2]],
    pub views: usize,
}

impl<F: Real> Models<'_, F> {
    /// Sums of the scores of a few views, without and with the sample.
    #[inline(always)]
    pub fn sums<const N: usize, S: Simd>(&self, simd: S, first: usize) -> [[Lanes<F>; 2]; N] {
        let zero = [F::of(0.0); LANES];
        let mut found = [[zero; 2]; N];
        for group in 0..F::vectors::<S>(&zero).len() {
            let mut sums = [[F::vectors::<S>(&zero)[group]; 2]; N];
            for (x, weights) in self.scores.chunks_exact(self.views).zip(self.weights) {
                let x = &x[first..first + N];
                let inside = F::vectors::<S>(&weights[1])[group];
                for view in 0..N {
                    let x = F::vectors::<S>(&x[view])[group];
                    sums[view][0] = F::plus(simd, sums[view][0], x);
                    sums[view][1] = F::fused(simd, inside, x, sums[view][1]);
                }
            }
            for view in 0..N {
                let [all, inside] = sums[view];
                F::vectors_mut::<S>(&mut found[view][0])[group] = F::minus(simd, all, inside);
                F::vectors_mut::<S>(&mut found[view][1])[group] = inside;
            }
        }
        found
    }

    /// Sums of distances from rough means, and of their squares: of each view, both of both sides.
    #[inline(always)]
    pub fn squares<const N: usize, S: Simd>(
        &self,
        simd: S,
        first: usize,
        rough: &[[Lanes<F>; 2]; N],
    ) -> [[[WideLanes; 2]; 2]; N] {
        let mut found = [[[[0.0; LANES]; 2]; 2]; N];
        for (scores, weights) in self.scores.chunks(PIECE * self.views).zip(self.weights.chunks(PIECE)) {
            let piece = Self { scores, weights, ..*self }.squares_of_piece(simd, first, rough);
            let found = found.as_flattened_mut().as_flattened_mut().as_flattened_mut();
            for (sum, more) in found.iter_mut().zip(piece.as_flattened().as_flattened().as_flattened()) {
                *sum += more.wide();
            }
        }
        found
    }

    /// The same of one piece, in the precision of the recording.
    #[inline(always)]
    fn squares_of_piece<const N: usize, S: Simd>(
        &self,
        simd: S,
        first: usize,
        rough: &[[Lanes<F>; 2]; N],
    ) -> [[[Lanes<F>; 2]; 2]; N] {
        let zero = [F::of(0.0); LANES];
        let mut found = [[[zero; 2]; 2]; N];
        for group in 0..F::vectors::<S>(&zero).len() {
            let nothing = F::vectors::<S>(&zero)[group];
            let (mut sums, mut squares) = ([[nothing; 2]; N], [[nothing; 2]; N]);
            let mut center = sums;
            for view in 0..N {
                for side in 0..2 {
                    center[view][side] = F::vectors::<S>(&rough[view][side])[group];
                }
            }
            for (x, weights) in self.scores.chunks_exact(self.views).zip(self.weights) {
                let x = &x[first..first + N];
                for view in 0..N {
                    let x = F::vectors::<S>(&x[view])[group];
                    for side in 0..2 {
                        let weight = F::vectors::<S>(&weights[side])[group];
                        let distance = F::times(simd, weight, F::minus(simd, x, center[view][side]));
                        sums[view][side] = F::plus(simd, sums[view][side], distance);
                        squares[view][side] = F::fused(simd, distance, distance, squares[view][side]);
                    }
                }
            }
            for view in 0..N {
                for side in 0..2 {
                    F::vectors_mut::<S>(&mut found[view][0][side])[group] = sums[view][side];
                    F::vectors_mut::<S>(&mut found[view][1][side])[group] = squares[view][side];
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectorized::Arch;
    use pulp::{Scalar, WithSimd};

    /// Both sums of two views and of one.
    struct Both<'a, F>(Models<'a, F>);

    type Found<F> = ([[Lanes<F>; 2]; VIEWS], [[[WideLanes; 2]; 2]; VIEWS], [[[WideLanes; 2]; 2]; 1]);

    impl<F: Real> WithSimd for Both<'_, F> {
        type Output = Found<F>;

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Found<F> {
            let Self(models) = self;
            let sums = models.sums(simd, 1);
            (sums, models.squares(simd, 1, &sums), models.squares(simd, 2, &[sums[1]]))
        }
    }

    fn check<F: Real>() {
        let (views, models) = (4, 13);
        let number = |index: usize| F::of((index as f64 * 0.7).sin() + 3.0);
        let scores: Vec<Lanes<F>> =
            (0..views * models).map(|row| std::array::from_fn(|lane| number(row * LANES + lane))).collect();
        let inside = |model: usize, lane: usize| (model * 5 + lane * 3) % 7 < 3;
        let weights: Vec<[Lanes<F>; 2]> = (0..models)
            .map(|model| {
                [false, true]
                    .map(|side| std::array::from_fn(|lane| F::of(f64::from(u8::from(inside(model, lane) == side)))))
            })
            .collect();
        let models_of = || Both(Models { scores: &scores, weights: &weights, views });
        let (sums, squares, of_one) = Arch::new().dispatch(models_of());
        let plain = models_of().with_simd(Scalar::new());
        for view in 0..VIEWS {
            for side in 0..2 {
                for lane in 0..LANES {
                    let of_side = (0..models).filter(|&model| usize::from(inside(model, lane)) == side);
                    let of_side: Vec<f64> =
                        of_side.map(|model| scores[model * views + 1 + view][lane].wide()).collect();
                    let sum = sums[view][side][lane];
                    let expected: f64 = of_side.iter().sum();
                    assert!((sum.wide() - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{view} {side} {lane}");
                    let distances = of_side.iter().map(|x| x - sum.wide());
                    let expected = [distances.clone().sum::<f64>(), distances.map(|d| d * d).sum()];
                    // No instruction set makes a difference.
                    assert_eq!(sum.wide().to_bits(), plain.0[view][side][lane].wide().to_bits());
                    for (moment, expected) in expected.into_iter().enumerate() {
                        let found = squares[view][moment][side][lane];
                        assert!(
                            (found - expected).abs() < 1e-4 * (1.0 + expected.abs()),
                            "{view} {moment} {side} {lane}"
                        );
                        assert_eq!(found.to_bits(), plain.1[view][moment][side][lane].to_bits());
                        assert_eq!(of_one[0][moment][side][lane], squares[1][moment][side][lane]);
                    }
                }
            }
        }
    }

    #[test]
    fn sums_are_those_of_both_sides() {
        check::<f32>();
        check::<f64>();
    }
}
