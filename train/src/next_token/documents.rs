//! Texts as documents: those held out, and those that models learn from.

use super::plan::NextTokenPlan;
use super::texts::Texts;
use crate::seed::{Purpose, stream};
use leakbound::error::Result;
use rand::seq::SliceRandom;

/// Whose texts they are: their documents share no random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Public = 0,
    Private = 1,
}

impl Owner {
    const fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Private => "private",
        }
    }
}

/// Documents in random order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Documents {
    /// That no model learns from.
    pub held_out: Vec<Vec<u8>>,
    /// The others.
    pub learned: Vec<Vec<u8>>,
}

impl Documents {
    /// Cuts each text into documents of nearly equal size, at least that of the plan if the text is as long as that,
    /// and holds a share of them out. Texts that do not fill one window of training are left out.
    ///
    /// # Errors
    /// [`Error::Input`](leakbound::Error::Input) if fewer than `parts` documents are left to learn from, or none is held
    /// out.
    pub fn of(texts: &Texts, plan: &NextTokenPlan, owner: Owner, parts: usize) -> Result<Self> {
        let mut documents: Vec<Vec<u8>> = texts
            .texts()
            .iter()
            .filter(|text| text.len() > plan.model.context)
            .flat_map(|text| cut(text, plan.document))
            .collect();
        let all = documents.len();
        documents.shuffle(&mut stream(plan.seed, Purpose::DocumentSplit, owner as u64, 0));
        let held_out = ((all as f64 * plan.held_out).ceil() as usize).max(1);
        if all < held_out + parts {
            let found = format!(
                "{} bytes of {} text: {}, {held_out} of them held out",
                texts.len(),
                owner.name(),
                several(all, "document"),
            );
            let expected = match owner {
                Owner::Public => "a document to learn from and one held out".into(),
                Owner::Private => format!("a document for each of {} and one held out", several(parts, "member")),
            };
            return Err(texts.fault(&found, &expected, "give more text, or take fewer members or shorter documents"));
        }
        let learned = documents.split_off(held_out);
        Ok(Self { held_out: documents, learned })
    }

    /// The documents to learn from, dealt to so many members in turn.
    pub fn dealt(&self, members: usize) -> Vec<Vec<Vec<u8>>> {
        (0..members).map(|member| self.learned.iter().skip(member).step_by(members).cloned().collect()).collect()
    }
}

fn several(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A text in pieces of at least `length` bytes, or whole if it is shorter.
fn cut(text: &[u8], length: usize) -> impl Iterator<Item = Vec<u8>> + '_ {
    let pieces = (text.len() / length).max(1);
    (0..pieces).map(move |piece| text[piece * text.len() / pieces..(piece + 1) * text.len() / pieces].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_without_a_rest() {
        let text: Vec<u8> = (0..103).collect();
        let pieces: Vec<Vec<u8>> = cut(&text, 20).collect();
        assert_eq!(pieces.concat(), text);
        assert!(pieces.len() == 5 && pieces.iter().all(|piece| (20..=21).contains(&piece.len())));
        assert_eq!(cut(&text, 200).collect::<Vec<_>>(), std::slice::from_ref(&text));
    }
}
