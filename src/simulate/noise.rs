//! Noise of unit scale.

use super::stream::Stream;
use rand::Rng;
use rand_distr::{Distribution, Exp1, StandardNormal};

/// A symmetric law of scale 1.
///
/// Both samplers are 256-layer ziggurats in double precision. Where a draw falls on the edge of a layer (1 % of the
/// draws) or beyond the last one they call the platform's exp and ln: two platforms whose functions differ in the last
/// bit may differ in a sample with a probability of about 1e-15 per draw. Everything else is the same everywhere.
pub(super) trait UnitNoise {
    /// One draw.
    fn draw(stream: &mut Stream) -> f64;
}

/// N(0, 1).
pub(super) struct UnitGaussian;

impl UnitNoise for UnitGaussian {
    #[inline]
    fn draw(stream: &mut Stream) -> f64 {
        StandardNormal.sample(stream)
    }
}

/// Density exp(-|x|)/2: an exponential variable, then a random sign.
pub(super) struct UnitLaplace;

impl UnitNoise for UnitLaplace {
    #[inline]
    fn draw(stream: &mut Stream) -> f64 {
        let size: f64 = Exp1.sample(stream);
        let sign = stream.next_u64() & (1 << 63);
        f64::from_bits(size.to_bits() | sign)
    }
}

#[cfg(test)]
mod tests {
    use super::super::goodness_of_fit::p_value;
    use super::super::stream::{StreamId, World};
    use super::*;
    use crate::special::ndtri;

    const CELLS: usize = 1000;
    const DRAWS: u64 = 2_000_000;

    /// How many of the draws fall into each of `CELLS` cells that are equally probable under a law with this
    /// distribution function, given through its quantiles.
    fn p_value_of<N: UnitNoise>(seed: u64, quantile: impl Fn(f64) -> f64) -> f64 {
        let edges: Vec<f64> = (1..CELLS).map(|cell| quantile(cell as f64 / CELLS as f64)).collect();
        let mut stream = Stream::new(StreamId { seed, query: 0, world: World::Dataset, block: 0 });
        let mut counts = vec![0; CELLS];
        for _ in 0..DRAWS {
            let draw = N::draw(&mut stream);
            counts[edges.partition_point(|&edge| edge < draw)] += 1;
        }
        p_value(&counts, &vec![1.0 / CELLS as f64; CELLS])
    }

    /// Each fails with probability 1e-6 over the seeds.
    #[test]
    fn draws_have_their_laws() {
        let gaussian = p_value_of::<UnitGaussian>(1, ndtri);
        let laplace = p_value_of::<UnitLaplace>(2, |p| if p < 0.5 { (2.0 * p).ln() } else { -(2.0 * (1.0 - p)).ln() });
        println!("p-values: Gaussian {gaussian:.3}, Laplace {laplace:.3}");
        assert!(gaussian > 1e-6 && laplace > 1e-6);
    }
}
