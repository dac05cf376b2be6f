//! Scores of all sequences, piece by piece.

use super::part::TextPart;
use super::ragged::Ragged;
use super::score::{TextRule, TextScore};
use super::sequence::TextSequence;
use super::sequences::TextSequences;
use crate::error::Result;
use crate::parallel;
use std::ops::Range;

/// Numbers of a part in a piece: some parts of it fit a cache, and threads have enough pieces.
const PIECE: usize = 1 << 17;

/// Scores of every sequence \[score, sequence\]; none if a score has no value. `watch` receives the number of sequences
/// after each piece, and ends the work by an error.
///
/// Only the pieces being worked on are in memory, one for each thread.
///
/// ```
/// # use leakbound::membership::{MemoryText, Ragged, TextRule, TextScore, text_scores};
/// let text = MemoryText::new(Ragged::of_length(vec![-1.0, -2.0, -3.0, -4.0], 2), vec![true, false])?;
/// let scores = text_scores(&text, &[TextScore::Loss, TextScore::MinK], TextRule::default(), &|_| Ok(()))?;
/// assert_eq!(scores, [[Some(-1.5), Some(-3.5)], [Some(-2.0), Some(-4.0)]]);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # Errors
/// [`Error::Rejected`](crate::Error::Rejected) for a score that needs more than is recorded; errors in reading the
/// sequences; those of `watch`.
pub fn text_scores(
    source: &dyn TextSequences,
    scores: &[TextScore],
    rule: TextRule,
    watch: &(dyn Fn(usize) -> Result<()> + Sync),
) -> Result<Vec<Vec<Option<f64>>>> {
    let needed = scores.iter().flat_map(|score| score.needs());
    let mut parts: Vec<TextPart> = needed.copied().chain([TextPart::LogProbabilities]).collect();
    parts.sort_unstable();
    parts.dedup();
    let of_piece = |sequences: Range<usize>| {
        let found = piece(source, &parts, scores, (rule, sequences.clone()))?;
        watch(sequences.len()).map(|()| found)
    };
    let pieces = parallel::try_map(pieces(source, &parts), of_piece)?;
    let joined = |score: usize| pieces.iter().flat_map(|piece| piece[score].iter().copied()).collect();
    Ok((0..scores.len()).map(joined).collect())
}

/// Ranges of at least one sequence, each ending once a part (tokens, or losses of neighbors or candidates) reaches the
/// size of a piece.
fn pieces(source: &dyn TextSequences, parts: &[TextPart]) -> Vec<Range<usize>> {
    let others: Vec<TextPart> = parts.iter().copied().filter(|part| !part.is_of_tokens()).collect();
    let (mut pieces, mut start, mut numbers) = (Vec::new(), 0, vec![0; others.len()]);
    for end in 1..=source.members().len() {
        for (&part, numbers) in others.iter().zip(&mut numbers) {
            *numbers += source.length(part, end - 1);
        }
        let last = end == source.members().len();
        let tokens = source.tokens_before(end) - source.tokens_before(start);
        if last || numbers.iter().chain([&tokens]).any(|&numbers| numbers >= PIECE) {
            pieces.push(start..end);
            start = end;
            numbers.fill(0);
        }
    }
    pieces
}

fn piece(
    source: &dyn TextSequences,
    parts: &[TextPart],
    scores: &[TextScore],
    (rule, sequences): (TextRule, Range<usize>),
) -> Result<Vec<Vec<Option<f64>>>> {
    let read = |&part: &TextPart| Ok((part, source.read(part, sequences.clone())?));
    let rows: Vec<(TextPart, Ragged)> = parts.iter().map(read).collect::<Result<_>>()?;
    let mut found = vec![Vec::with_capacity(sequences.len()); scores.len()];
    let own = rows.iter().find(|(part, _)| *part == TextPart::LogProbabilities);
    for place in 0..sequences.len() {
        let mut sequence = TextSequence::new(own.map_or(&[], |(_, rows)| rows.row(place)))?;
        for (part, rows) in &rows {
            sequence = sequence.with(*part, rows.row(place))?;
        }
        for (score, found) in scores.iter().zip(&mut found) {
            found.push(score.of(&sequence, rule)?);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::sequences::MemoryText;
    use super::*;
    use crate::error::Error;

    #[test]
    fn pieces_cover_all_sequences_in_order() {
        let mut tokens = Ragged::default();
        for sequence in 0..2000 {
            tokens.push((0..1 + sequence % 1500).map(|token| -f64::from(token)));
        }
        let members = (0..2000).map(|sequence| sequence % 2 == 0).collect();
        let text = MemoryText::new(tokens, members).unwrap();
        let pieces = pieces(&text, &[TextPart::LogProbabilities]);
        assert!(pieces.len() > 1 && pieces[0].start == 0 && pieces.windows(2).all(|pair| pair[0].end == pair[1].start));
        let scores = text_scores(&text, &[TextScore::Loss], TextRule::default(), &|_| Ok(())).unwrap();
        let expected: Vec<_> = (0..2000).map(|sequence| Some(-f64::from(sequence % 1500) / 2.0)).collect();
        assert_eq!(scores, [expected]);
        let ended = text_scores(&text, &[TextScore::Loss], TextRule::default(), &|_| Err(Error::Interrupted));
        assert!(matches!(ended, Err(Error::Interrupted)));
        assert!(text_scores(&text, &[TextScore::Zlib], TextRule::default(), &|_| Ok(())).is_err());
    }

    /// Short texts with many candidates would otherwise be read all together.
    #[test]
    fn candidates_close_a_piece_too() {
        let (sequences, candidates) = (300, 1000);
        let members = (0..sequences).map(|sequence| sequence % 2 == 0).collect();
        let text = MemoryText::new(Ragged::of_length(vec![-1.0; sequences], 1), members).unwrap();
        let losses = Ragged::of_length(vec![2.0; sequences * candidates], candidates);
        let text = text.with(TextPart::CandidateLosses, losses).unwrap();
        let both = [TextPart::LogProbabilities, TextPart::CandidateLosses];
        assert_eq!(pieces(&text, &both), [0..132, 132..264, 264..300]);
        assert_eq!(pieces(&text, &both[..1]).len(), 1);
        let scores = text_scores(&text, &[TextScore::Exposure], TextRule::default(), &|_| Ok(())).unwrap();
        assert_eq!(scores, [vec![Some(1000f64.log2()); sequences]]);
    }
}
