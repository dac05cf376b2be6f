//! Sequences that are planted.

use super::plan::Planting;
use crate::seed::{Purpose, stream};
use rand::RngExt;
use rand::seq::IndexedRandom;
use std::cmp::Reverse;

/// What sequences are made of.
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// The byte before and after a sequence.
pub(super) const MARK: u8 = b'\n';

/// Random sequences, each with the member that is trained on it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Planted {
    /// The letters of each.
    pub sequences: Vec<Vec<u8>>,
    /// Its member, a fair die.
    pub member: Vec<usize>,
}

impl Planted {
    pub fn draw(planting: Planting, members: usize, seed: u64) -> Self {
        let mut stream = stream(seed, Purpose::PlantedSequences, 0, 0);
        let mut planted = Self::default();
        for _ in 0..planting.sequences {
            let letters = (0..planting.length).map(|_| *LETTERS.choose(&mut stream).unwrap_or(&LETTERS[0]));
            planted.sequences.push(letters.collect());
            planted.member.push(stream.random_range(0..members));
        }
        planted
    }

    /// Puts the sequences of one member in random places of its documents, on separate lines, each a number of times.
    pub fn plant(&self, member: usize, documents: &mut [Vec<u8>], repeats: usize, seed: u64) {
        let mut stream = stream(seed, Purpose::PlantedPlaces, 0, member as u64);
        let mut places = Vec::new();
        for sequence in (0..self.sequences.len()).filter(|&sequence| self.member[sequence] == member) {
            for _ in 0..repeats {
                let document = stream.random_range(0..documents.len());
                places.push((Reverse(stream.random_range(0..=documents[document].len())), document, sequence));
            }
        }
        // From behind, so that no sequence is put into another one.
        places.sort_unstable();
        for (Reverse(place), document, sequence) in places {
            let line = [&[MARK], self.sequences[sequence].as_slice(), &[MARK]].concat();
            documents[document].splice(place..place, line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sequence_stands_with_one_member_as_often_as_wanted() {
        let planting = Planting { sequences: 30, length: 5, repeats: 7 };
        let planted = Planted::draw(planting, 3, 9);
        assert_eq!(planted, Planted::draw(planting, 3, 9));
        let mut met = 0;
        for member in 0..3 {
            // Short documents: many sequences share a place.
            let mut documents = vec![b"....".to_vec(), b"......".to_vec()];
            planted.plant(member, &mut documents, planting.repeats, 9);
            let text = documents.join(&MARK);
            for (sequence, &owner) in planted.sequences.iter().zip(&planted.member) {
                let line = [&[MARK], sequence.as_slice(), &[MARK]].concat();
                let times = text.windows(line.len()).filter(|window| **window == *line).count();
                assert_eq!(times, if owner == member { 7 } else { 0 });
                met += times;
            }
        }
        assert_eq!(met, 30 * 7);
    }
}
