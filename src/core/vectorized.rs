//! Loops compiled for every known instruction set, and run with the widest available on the machine.
//!
//! The crate is compiled for the oldest machine of its architecture. Work given to [`vectorized`] is compiled again for
//! each newer set, with all functions that are inlined into it. Rust does not reorder or fuse floating-point
//! operations, so the results are the same on all of them.

#[doc(hidden)]
pub use pulp::Arch;

/// A closure that is compiled into its caller, where the instruction set is known.
struct Work<F>(F);

impl<R, F: FnOnce() -> R> pulp::NullaryFnOnce for Work<F> {
    type Output = R;

    #[inline(always)]
    fn call(self) -> R {
        (self.0)()
    }
}

/// Runs `work` with the instructions of `arch`: a closure marked `#[inline(always)]` that calls only functions marked
/// likewise.
#[inline(always)]
pub fn vectorized<R>(arch: Arch, work: impl FnOnce() -> R) -> R {
    arch.dispatch(Work(work))
}

/// Runs an expression with the instructions of an [`Arch`]: [`vectorized`] of a marked closure.
#[macro_export]
macro_rules! in_vectors {
    ($arch:expr, $work:expr) => {
        $crate::vectorized::vectorized(
            $arch,
            #[inline(always)]
            || $work,
        )
    };
}

pub use in_vectors;

/// The instructions of AVX2, FMA and their companions, if the machine has them.
#[cfg(target_arch = "x86_64")]
pub fn avx2(arch: Arch) -> Option<pulp::x86::V3> {
    match arch {
        Arch::V3(simd) => Some(simd),
        Arch::V4(simd) => Some(*simd),
        _ => None,
    }
}

/// Number of partial results: the lanes of the widest instructions.
const LANES: usize = 8;

/// The largest of some numbers; ∞ if one is NaN, and -∞ if there are none.
pub fn largest_of(values: &[f64]) -> f64 {
    let mut lanes = [f64::NEG_INFINITY; LANES];
    in_vectors!(Arch::new(), {
        let mut groups = values.chunks_exact(LANES);
        for group in &mut groups {
            for lane in 0..LANES {
                lanes[lane] = larger(lanes[lane], group[lane]);
            }
        }
        for (lane, value) in lanes.iter_mut().zip(groups.remainder()) {
            *lane = larger(*lane, *value);
        }
    });
    lanes.into_iter().fold(f64::NEG_INFINITY, larger)
}

#[inline(always)]
fn larger(largest: f64, value: f64) -> f64 {
    let value = if value < f64::INFINITY { value } else { f64::INFINITY };
    if value > largest { value } else { largest }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fused and separate products, sums in their order: bit for bit the baseline results.
    #[test]
    fn results_are_those_of_the_baseline() {
        #[inline(always)]
        fn sum(values: &[f64; 37]) -> f64 {
            values.iter().enumerate().map(|(index, x)| x.mul_add(*x, x / (1.0 + index as f64)) - x * 0.1).sum()
        }
        let values: [f64; 37] = std::array::from_fn(|index| (index as f64 * 0.37).sin());
        let wide = in_vectors!(Arch::new(), sum(&values));
        assert_eq!(wide.to_bits(), sum(&values).to_bits());
    }
}
