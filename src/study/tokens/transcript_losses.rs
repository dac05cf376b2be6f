//! Privacy losses of transcripts at one position.

use super::loss::{privacy_loss, rejected};
use crate::error::Result;
use crate::token::{Decoded, Released};
use ndarray::Array2;
use rand::SeedableRng;
use rand::distr::Distribution;
use rand::distr::weighted::WeightedIndex;
use rand_chacha::ChaCha8Rng;

/// Transcripts that are drawn from the recorded distributions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Simulated {
    pub(super) count: usize,
    pub(super) seed: u64,
}

/// Privacy losses of transcripts against a neighbor: of the ensemble's, and of the neighbor's.
pub(super) type Losses = [Vec<f64>; 2];

impl Simulated {
    /// Places of tokens \[ensemble, transcript\] at a position; a function of seed, position and ensemble.
    pub(super) fn places(self, position: usize, released: &Released) -> Result<Array2<usize>> {
        let ensembles: Vec<&[f64]> = std::iter::once(released.whole()).chain(released.neighbors()).collect();
        let mut places = Array2::zeros((ensembles.len(), self.count));
        for (index, (probabilities, mut row)) in ensembles.iter().zip(places.outer_iter_mut()).enumerate() {
            let wrong = |error: rand::distr::weighted::Error| rejected(&format!("no distribution of tokens: {error}"));
            let tokens = WeightedIndex::new(*probabilities).map_err(wrong)?;
            let mut stream = ChaCha8Rng::seed_from_u64(self.seed);
            // Stream 0 chooses the pilot, which must not depend on what is drawn.
            stream.set_stream((1 + position * ensembles.len() + index) as u64);
            row.iter_mut().for_each(|place| *place = tokens.sample(&mut stream));
        }
        Ok(places)
    }
}

/// The places of recorded tokens \[ensemble, transcript\], each among those that may be given.
pub(super) fn places_of(tokens: &Array2<usize>, decoded: &Decoded) -> Result<Array2<usize>> {
    let mut places = Array2::zeros(tokens.dim());
    for (place, &token) in places.iter_mut().zip(tokens) {
        *place = decoded.place_of(token).ok_or_else(|| {
            rejected(&format!(
                "token {token} of a transcript is not among the likeliest tokens of the public model that may be given"
            ))
        })?;
    }
    Ok(places)
}

/// \[neighbor\]: what a position adds to the privacy loss of every transcript.
pub(super) fn transcript_losses(places: &Array2<usize>, released: &Released) -> Result<Vec<Losses>> {
    let whole = released.whole();
    let of_ensemble = places.row(0);
    check(&of_ensemble, whole, "all members")?;
    let of_neighbor = |(other, places): (&[f64], ndarray::ArrayView1<'_, usize>)| {
        check(&places, other, "a neighbor")?;
        let loss = |&place: &usize| privacy_loss(whole[place], other[place]);
        Ok([of_ensemble.iter().map(loss).collect(), places.iter().map(loss).collect()])
    };
    released.neighbors().zip(places.outer_iter().skip(1)).map(of_neighbor).collect()
}

/// Tokens of transcripts have a probability under the ensemble that gave them.
fn check(places: &ndarray::ArrayView1<'_, usize>, probabilities: &[f64], whose: &str) -> Result<()> {
    match places.iter().position(|&place| !(probabilities[place] > 0.0)) {
        None => Ok(()),
        Some(index) => Err(rejected(&format!(
            "the token of transcript {index} of the ensemble with {whose} has probability 0: this mechanism did not give it"
        ))),
    }
}
