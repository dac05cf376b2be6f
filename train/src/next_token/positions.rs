//! Places where next tokens are recorded. Their contexts are fixed before any model answers.

use super::documents::Document;
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
pub(super) fn places(documents: &[Document], context: usize) -> usize {
    documents.iter().map(|document| document.bytes.len().saturating_sub(context / 2)).sum()
}

/// Random places in documents, `count` of those that [`places`] counts, or all if these are fewer; in their order.
pub(super) fn draw(documents: &[Document], context: usize, count: usize, seed: u64) -> Vec<Position> {
    // Where the places of each document end among all: all of them would take many times the room of the text.
    let mut all = 0;
    let count_of = |document: &Document| {
        all += document.bytes.len().saturating_sub(context / 2);
        all
    };
    let ends: Vec<usize> = documents.iter().map(count_of).collect();
    let mut stream = stream(seed, Purpose::TokenPositions, 0, 0);
    let mut chosen = sample(&mut stream, all, count.min(all)).into_vec();
    chosen.sort_unstable();
    let position = |place: usize| {
        let document = ends.partition_point(|&end| end <= place);
        let first = document.checked_sub(1).map_or(0, |before| ends[before]);
        Position::at(&documents[document].bytes, context / 2 + place - first, context)
    };
    chosen.into_iter().map(position).collect()
}

/// Every place of planted sequences, each behind half a context of a held-out document and a new line.
pub(super) fn of_planted(planted: &Planted, held_out: &[Document], context: usize) -> Vec<Position> {
    let mut positions = Vec::new();
    for (sequence, document) in planted.sequences.iter().zip(held_out.iter().cycle()) {
        let mut text = document.bytes[..document.bytes.len().min(context / 2)].to_vec();
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

    fn document(text: &str) -> Document {
        Document { name: String::new(), bytes: text.into() }
    }

    #[test]
    fn places_are_in_order_and_have_the_text_before_them() {
        let documents = ["0123456789", "abcde"].map(document);
        assert_eq!(places(&documents, 4), 8 + 3);
        let all = draw(&documents, 4, 100, 1);
        assert_eq!(all.len(), 11);
        assert_eq!(all[0], Position { context: b"01".to_vec(), token: b'2' });
        assert_eq!(all[7], Position { context: b"5678".to_vec(), token: b'9' });
        assert_eq!(all[8], Position { context: b"ab".to_vec(), token: b'c' });
        let some = draw(&documents, 4, 5, 1);
        let place = |position: &Position| all.iter().position(|other| other == position).unwrap();
        assert!(some.len() == 5 && some.windows(2).all(|pair| place(&pair[0]) < place(&pair[1])));
    }

    #[test]
    fn a_planted_sequence_is_asked_for_letter_by_letter() {
        let planted = Planted { sequences: vec![b"XY".to_vec(), b"ZW".to_vec()], member: vec![0, 1] };
        let found = of_planted(&planted, &[document("0123456789")], 6);
        let expected = [("012\n", 'X'), ("012\nX", 'Y'), ("012\n", 'Z'), ("012\nZ", 'W')];
        let found: Vec<(String, char)> = found
            .into_iter()
            .map(|position| (String::from_utf8(position.context).unwrap(), position.token.into()))
            .collect();
        assert_eq!(found, expected.map(|(context, token)| (context.to_owned(), token)));
    }
}
