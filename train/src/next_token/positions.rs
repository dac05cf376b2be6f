//! Places where next tokens are recorded. Their contexts are fixed before any model answers.

use super::planted::{MARK, Planted};
use crate::seed::{Purpose, stream};
use rand::seq::index::sample;

/// A place in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Position {
    /// The bytes before it that a model sees.
    pub context: Vec<u8>,
    /// The byte that comes next.
    pub token: u8,
}

impl Position {
    fn at(text: &[u8], place: usize, context: usize) -> Self {
        Self { context: text[place.saturating_sub(context)..place].to_vec(), token: text[place] }
    }
}

/// Places in documents at which half a context is given at least: how many there are.
pub(super) fn places(documents: &[Vec<u8>], context: usize) -> usize {
    documents.iter().map(|document| document.len().saturating_sub(context / 2)).sum()
}

/// Random places in documents, `count` of those that [`places`] counts, or all if these are fewer; in their order.
pub(super) fn draw(documents: &[Vec<u8>], context: usize, count: usize, (seed, owner): (u64, u64)) -> Vec<Position> {
    let all: Vec<(&Vec<u8>, usize)> = documents
        .iter()
        .flat_map(|document| (context / 2..document.len()).map(move |place| (document, place)))
        .collect();
    let mut stream = stream(seed, Purpose::TokenPositions, owner, 0);
    let mut chosen = sample(&mut stream, all.len(), count.min(all.len())).into_vec();
    chosen.sort_unstable();
    chosen.into_iter().map(|place| Position::at(all[place].0, all[place].1, context)).collect()
}

/// Every place of planted sequences, each behind half a context of a held-out document and a new line.
pub(super) fn of_planted(planted: &Planted, held_out: &[Vec<u8>], context: usize) -> Vec<Position> {
    let mut positions = Vec::new();
    for (sequence, document) in planted.sequences.iter().zip(held_out.iter().cycle()) {
        let mut text = document[..document.len().min(context / 2)].to_vec();
        text.push(MARK);
        let start = text.len();
        text.extend(sequence);
        positions.extend((start..text.len()).map(|place| Position::at(&text, place, context)));
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_in_order_and_have_the_text_before_them() {
        let documents = [b"0123456789".to_vec(), b"abcde".to_vec()];
        assert_eq!(places(&documents, 4), 8 + 3);
        let all = draw(&documents, 4, 100, (1, 0));
        assert_eq!(all.len(), 11);
        assert_eq!(all[0], Position { context: b"01".to_vec(), token: b'2' });
        assert_eq!(all[7], Position { context: b"5678".to_vec(), token: b'9' });
        assert_eq!(all[8], Position { context: b"ab".to_vec(), token: b'c' });
        let some = draw(&documents, 4, 5, (1, 0));
        let place = |position: &Position| all.iter().position(|other| other == position).unwrap();
        assert!(some.len() == 5 && some.windows(2).all(|pair| place(&pair[0]) < place(&pair[1])));
    }

    #[test]
    fn a_planted_sequence_is_asked_for_letter_by_letter() {
        let planted = Planted { sequences: vec![b"XY".to_vec(), b"ZW".to_vec()], member: vec![0, 1] };
        let found = of_planted(&planted, &[b"0123456789".to_vec()], 6);
        let expected = [("012\n", 'X'), ("012\nX", 'Y'), ("012\n", 'Z'), ("012\nZ", 'W')];
        let found: Vec<(String, char)> = found
            .into_iter()
            .map(|position| (String::from_utf8(position.context).unwrap(), position.token.into()))
            .collect();
        assert_eq!(found, expected.map(|(context, token)| (context.to_owned(), token)));
    }
}
