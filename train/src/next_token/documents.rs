//! Documents: those of the public model, those held out, and those of each member.

use super::plan::NextTokenPlan;
use super::texts::Texts;
use crate::seed::{Purpose, stream};
use leakbound::error::Result;
use rand::seq::SliceRandom;

/// A file, or a piece of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Document {
    /// The file as it was named, with the number of the piece if there are several.
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Whose documents they are: no document has two owners.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Split {
    pub public: Vec<Document>,
    /// That no model learns from.
    pub held_out: Vec<Document>,
    /// \[member\]
    pub members: Vec<Vec<Document>>,
}

impl Split {
    /// Puts documents in random order, holds a share of the private ones out, and deals the others to the members in
    /// turn. Without public text, a share of the private documents is public. Documents that do not fill one window of
    /// training, the context and a byte, are left out.
    ///
    /// # Errors
    /// [`Error::Input`](leakbound::Error::Input) if a member is left without a document, or the public model.
    pub fn of(private: &Texts, public: Option<&Texts>, plan: &NextTokenPlan) -> Result<Self> {
        let context = plan.model.context;
        let hint = "give more text, or take fewer members, shorter documents or a shorter context";
        let own = public.map(|texts| documents(texts, plan));
        if let (Some([]), Some(texts)) = (own.as_deref(), public) {
            let expected = format!("a document of more than {context} bytes, the context of the public model");
            return Err(texts.fault("public text without one", &expected, hint));
        }
        let mut documents = documents(private, plan);
        documents.shuffle(&mut stream(plan.seed, Purpose::DocumentSplit, 0, 0));
        let all = documents.len();
        let part = |share: f64| ((all as f64 * share).ceil() as usize).max(1);
        let (shared, held_out) = (if own.is_some() { 0 } else { part(plan.public_share) }, part(plan.held_out));
        if all < shared + held_out + plan.members {
            let found = format!(
                "{} of more than {context} bytes, {shared} of them public and {held_out} held out",
                several(all, "document")
            );
            let expected = format!("a document for each of {}", several(plan.members, "member"));
            return Err(private.fault(&found, &expected, hint));
        }
        let learned = documents.split_off(shared + held_out);
        let held_out = documents.split_off(shared);
        let mut members = vec![Vec::new(); plan.members];
        for (number, document) in learned.into_iter().enumerate() {
            members[number % plan.members].push(document);
        }
        Ok(Self { public: own.unwrap_or(documents), held_out, members })
    }
}

fn documents(texts: &Texts, plan: &NextTokenPlan) -> Vec<Document> {
    let pieces = |(file, text): (String, &Vec<u8>)| {
        let pieces = cut(text, plan.document.unwrap_or(text.len()));
        let name = |piece: usize| if pieces.len() == 1 { file.clone() } else { format!("{file}, piece {piece}") };
        pieces
            .iter()
            .enumerate()
            .map(|(piece, &bytes)| Document { name: name(piece), bytes: bytes.into() })
            .collect::<Vec<_>>()
    };
    let names = texts.files().iter().map(|file| file.path.display().to_string());
    names.zip(texts.texts()).flat_map(pieces).filter(|document| document.bytes.len() > plan.model.context).collect()
}

fn several(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A text in pieces of nearly equal size and at least `length` bytes, or whole if it is shorter.
fn cut(text: &[u8], length: usize) -> Vec<&[u8]> {
    let pieces = (text.len() / length.max(1)).max(1);
    (0..pieces).map(|piece| &text[piece * text.len() / pieces..(piece + 1) * text.len() / pieces]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_without_a_rest() {
        let text: Vec<u8> = (0..103).collect();
        let pieces = cut(&text, 20);
        assert_eq!(pieces.concat(), text);
        assert!(pieces.len() == 5 && pieces.iter().all(|piece| (20..=21).contains(&piece.len())));
        assert_eq!(cut(&text, 200), [&text[..]]);
    }
}
