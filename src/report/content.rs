//! A result in parts, ready for presentation.

use super::envelope::Envelope;
use super::figure::Drawing;
use super::section::Section;
use crate::study::Claim;

/// Everything that text and page are made from.
#[derive(Debug, Clone)]
pub struct Content {
    /// The common part.
    pub envelope: Envelope,
    /// Headline, and lines below it.
    pub title: String,
    /// The parts.
    pub sections: Vec<Section>,
    /// What was claimed, whether it is refuted, and what refutes it, if its number does not show it.
    pub claims: Vec<(Claim, Option<&'static str>)>,
    /// The figures of a page.
    pub figures: Vec<Drawing>,
    /// What the numbers of a page mean, a paragraph each.
    pub meaning: Vec<String>,
}

impl Content {
    /// Title and parts alone.
    #[must_use]
    pub fn new(envelope: &Envelope, title: impl Into<String>, sections: Vec<Section>) -> Self {
        let envelope = envelope.clone();
        Self { envelope, title: title.into(), sections, claims: Vec::new(), figures: Vec::new(), meaning: Vec::new() }
    }
}
