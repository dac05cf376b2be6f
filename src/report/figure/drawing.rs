//! A figure that has been drawn.

use super::text::shortened;
use maud::{Markup, PreEscaped, html};

/// Color of text and lines outside a page.
const INK: &str = "#1c1f23";
/// Characters of what is said about a figure.
const LONG_TITLE: usize = 300;
const LONG_DESCRIPTION: usize = 3000;

/// Sizes in pixels of a figure's own coordinates: its width, small text and text.
pub(super) const WIDTH: f64 = 880.0;
pub(super) const SMALL: f64 = 12.0;
pub(super) const TEXT: f64 = 13.0;

const FONT: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif";

/// A figure as SVG elements with a title and a description for those who do not see it.
///
/// Colors are presentation attributes, which every program for SVG understands; classes next to them let the style
/// sheet of a page replace them.
#[derive(Debug, Clone)]
pub struct Drawing {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) title: String,
    /// What the figure shows, in a sentence or two.
    pub(in crate::report) caption: String,
    /// The title with the most important values, for readers who do not see the figure.
    pub(super) description: String,
    pub(super) body: Markup,
}

impl Drawing {
    pub(super) fn new(title: &str, caption: &str, height: f64, description: String, body: Markup) -> Self {
        Self { width: WIDTH, height, title: title.to_owned(), caption: caption.to_owned(), description, body }
    }

    /// The figure as a separate file: white background, no style sheet, nothing to load.
    #[must_use]
    pub fn svg(&self) -> String {
        let Self { width, height, .. } = self;
        let root = html! {
            svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title desc" width=(width) height=(height)
                viewBox=(self.view_box()) font-family=(FONT) color=(INK) {
                title id="title" { (shortened(&self.title, LONG_TITLE)) }
                desc id="desc" { (shortened(&self.description, LONG_DESCRIPTION)) }
                rect width=(width) height=(height) fill="#ffffff" {}
                (self.body)
            }
        };
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", root.into_string())
    }

    /// The figure as part of a page; `id` is its own there.
    pub(in crate::report) fn inline(&self, id: &str) -> Markup {
        html! {
            svg role="img" aria-labelledby=(format!("{id}-title {id}-desc")) viewBox=(self.view_box())
                font-family=(FONT) color=(INK) style=(PreEscaped(format!("max-width:{}px", self.width))) {
                title id={ (id) "-title" } { (shortened(&self.title, LONG_TITLE)) }
                desc id={ (id) "-desc" } { (shortened(&self.description, LONG_DESCRIPTION)) }
                (self.body)
            }
        }
    }

    fn view_box(&self) -> String {
        format!("0 0 {} {}", self.width, self.height)
    }
}

/// The lines of the title, at the top.
pub(super) fn headline(lines: &[String]) -> Markup {
    html! {
        @for (line, text) in lines.iter().enumerate() {
            text x="10" y=(24.0 + 20.0 * line as f64) font-size="16" font-weight="600" fill="currentColor" { (text) }
        }
    }
}

/// A coordinate with no more digits than can be seen.
pub(super) fn px(value: f64) -> f64 {
    (value * 10.0).round() / 10.0 + 0.0
}
