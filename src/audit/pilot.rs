//! Splitting recorded counts into a pilot, for choosing, and the rest, for bounding.

use crate::counts::PairedCounts;
use crate::error::{Error, Result};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Binomial, Distribution};

/// Puts each recorded output into the pilot with probability `fraction`, independently.
///
/// Given its size, the pilot is independent of the rest, so choosing an output set from it costs no failure
/// probability. The split is a function of the counts and the seed.
///
/// # Errors
/// [`Error::Domain`] unless 0 < `fraction` < 1; [`Error::Rejected`] if a world has no output left in one of the parts.
///
/// # Example
/// ```
/// # use leakbound::audit::split_pilot;
/// # use leakbound::counts::PairedCounts;
/// let counts = PairedCounts::new(vec!["a".into(), "b".into()], vec![600, 400], vec![500, 500])?;
/// let (pilot, rest) = split_pilot(&counts, 0.1, 7)?;
/// assert_eq!(pilot.counts()[0] + rest.counts()[0], 600);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn split_pilot(counts: &PairedCounts, fraction: f64, seed: u64) -> Result<(PairedCounts, PairedCounts)> {
    Error::check_domain(fraction > 0.0 && fraction < 1.0, "pilot fraction", fraction, "(0, 1)")?;
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    let mut thin = |world: &[u64]| -> Result<(Vec<u64>, Vec<u64>)> {
        let mut parts = (Vec::with_capacity(world.len()), Vec::with_capacity(world.len()));
        for &count in world {
            let pilot = Binomial::new(count, fraction)
                .map_err(|_| Error::Domain { quantity: "pilot fraction", value: fraction, domain: "(0, 1)" })?
                .sample(&mut stream);
            parts.0.push(pilot);
            parts.1.push(count - pilot);
        }
        Ok(parts)
    };
    let (pilot, rest) = thin(counts.counts())?;
    let (pilot_neighbor, rest_neighbor) = thin(counts.counts_neighbor())?;
    let part = |counts_s, counts_neighbor| {
        PairedCounts::new(counts.labels().to_vec(), counts_s, counts_neighbor).map_err(|_| {
            Error::rejected("pilot split", format_args!("a fraction of {fraction} leaves a world without samples"))
        })
    };
    Ok((part(pilot, pilot_neighbor)?, part(rest, rest_neighbor)?))
}
