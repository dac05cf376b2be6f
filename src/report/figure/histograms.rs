//! How often each of two datasets gives each kind of output, with a set of them marked.

use super::axis::{Ruler, Scale};
use super::drawing::{Drawing, SMALL, TEXT, WIDTH, headline, px};
use super::ink::SeriesKind;
use super::text::{fitted, wrapped};
use maud::{Markup, html};
use serde::Serialize;

/// Outputs that are drawn as one column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Column {
    /// The label below it; for a bin, the label at its left end.
    pub label: String,
    /// Whether it is a bin that begins at its label.
    pub begins: bool,
    /// The share of the outputs of each dataset.
    pub shares: [f64; 2],
    /// Whether it lies in the marked set.
    pub marked: bool,
}

/// Two histograms side by side, in columns of equal width.
///
/// ```
/// # use leakbound::report::{Column, Histograms};
/// let column = |label: &str, shares, marked| Column { label: label.into(), begins: false, shares, marked };
/// let figure = Histograms {
///     title: "Answers".into(),
///     description: "The set that tells the datasets apart is shaded.".into(),
///     x: "answer".into(),
///     names: ["dataset".into(), "neighbor".into()],
///     marked: "event".into(),
///     columns: vec![column("no", [0.2, 0.6], false), column("yes", [0.8, 0.4], true)],
/// };
/// assert!(figure.draw().svg().contains("yes: 80% and 40%"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Histograms {
    /// Headline.
    pub title: String,
    /// What is shown, for readers who do not see the figure.
    pub description: String,
    /// What the columns are.
    pub x: String,
    /// The names of both datasets.
    pub names: [String; 2],
    /// The name of the marked set.
    pub marked: String,
    /// The columns, from left to right.
    pub columns: Vec<Column>,
}

/// Sizes in pixels of the figure's own coordinates.
const LEFT: f64 = 74.0;
const RIGHT: f64 = 866.0;
const PLOT: f64 = 300.0;
/// Room for a label below the axis.
const LABEL: f64 = 44.0;

impl Histograms {
    /// Draws the figure.
    #[must_use]
    pub fn draw(&self) -> Drawing {
        let title = wrapped(&self.title, WIDTH - 20.0, 16.0, 3);
        let top = 56.0 + 20.0 * title.len() as f64;
        let bottom = top + PLOT;
        let shares = self.columns.iter().flat_map(|column| column.shares);
        let y = Ruler::new(Scale::Linear, shares.chain([0.0]), [bottom, top]);
        let body = html! {
            (headline(&title))
            (self.key(top - 20.0))
            (self.shaded(top, bottom))
            (self.grid(&y, top, bottom))
            (self.bars(&y, bottom))
        };
        Drawing::new(&self.title, &self.description, bottom + 58.0, self.words(), body)
    }

    fn column(&self, place: usize) -> [f64; 2] {
        let width = (RIGHT - LEFT) / self.columns.len().max(1) as f64;
        [LEFT + width * place as f64, LEFT + width * (place + 1) as f64]
    }

    /// What the colors are.
    fn key(&self, y: f64) -> Markup {
        let inks = [0, 1].map(|place| SeriesKind::Measured.ink([place; 2]));
        let mut x = LEFT;
        let mut places = Vec::new();
        for name in self.names.iter().chain([&self.marked]) {
            let name = fitted(name, 200.0, TEXT);
            places.push((x, name.clone()));
            x += 40.0 + super::text::width(&name, TEXT);
        }
        html! {
            g font-size=(TEXT) {
                @for (index, (x, name)) in places.iter().enumerate() {
                    @if let Some(ink) = inks.get(index) {
                        g class=(ink.class) color=(ink.color) {
                            rect x=(px(*x)) y=(px(y - 10.0)) width="13" height="11" fill="currentColor" {}
                        }
                    } @else {
                        rect x=(px(*x)) y=(px(y - 10.0)) width="13" height="11" fill="#8a7d1c" opacity="0.25" {}
                    }
                    text class="ink" x=(px(x + 18.0)) y=(px(y)) fill="#1c1f23" { (name) }
                }
            }
        }
    }

    /// The marked columns.
    fn shaded(&self, top: f64, bottom: f64) -> Markup {
        html! {
            @for (place, _) in self.columns.iter().enumerate().filter(|(_, column)| column.marked) {
                @let [left, right] = self.column(place);
                rect x=(px(left)) y=(px(top)) width=(px(right - left)) height=(px(bottom - top)) fill="#8a7d1c" opacity="0.16" {}
            }
        }
    }

    fn grid(&self, y: &Ruler, top: f64, bottom: f64) -> Markup {
        let middle = (top + bottom) / 2.0;
        html! {
            g class="grid" color="#d9dde2" font-size=(SMALL) {
                @for (at, label) in y.ticks() {
                    path d=(format!("M{} {}H{}", px(LEFT), px(at), px(RIGHT))) stroke="currentColor" {}
                    text class="quiet" x=(px(LEFT - 8.0)) y=(px(at + 4.0)) text-anchor="end" fill="#5a6169" { (label) }
                }
                @for (x, room, label) in self.labels() {
                    text class="quiet" x=(px(x)) y=(px(bottom + 18.0)) text-anchor="middle" fill="#5a6169" {
                        (fitted(&label, room, SMALL))
                    }
                }
            }
            text x=(px((LEFT + RIGHT) / 2.0)) y=(px(bottom + 42.0)) text-anchor="middle" font-size=(TEXT) fill="currentColor" {
                (fitted(&self.x, RIGHT - LEFT, TEXT))
            }
            text transform=(format!("translate(16 {}) rotate(-90)", px(middle))) text-anchor="middle" font-size=(TEXT) fill="currentColor" {
                "share of the outputs"
            }
        }
    }

    /// The labels that fit, with their places and the room that they have.
    fn labels(&self) -> Vec<(f64, f64, String)> {
        let [left, right] = self.column(0);
        let each = (LABEL / (right - left)).ceil().max(1.0) as usize;
        let room = (right - left) * each as f64 - 4.0;
        let label = |(place, column): (usize, &Column)| {
            let [left, right] = self.column(place);
            let x = if column.begins { left } else { f64::midpoint(left, right) };
            (x, room, column.label.clone())
        };
        self.columns.iter().enumerate().step_by(each).map(label).collect()
    }

    fn bars(&self, y: &Ruler, bottom: f64) -> Markup {
        let inks = [0, 1].map(|place| SeriesKind::Measured.ink([place; 2]));
        html! {
            @for (world, ink) in inks.iter().enumerate() {
                g class=(ink.class) color=(ink.color) {
                    @for (place, column) in self.columns.iter().enumerate() {
                        @let [left, right] = self.column(place);
                        @let width = (right - left) * 0.42;
                        @let x = f64::midpoint(left, right) + if world == 0 { -width } else { 0.0 };
                        @let top = y.place(column.shares[world]).map_or(bottom, |(at, _)| at);
                        @if bottom > top {
                            rect x=(px(x)) y=(px(top)) width=(px(width)) height=(px(bottom - top)) fill="currentColor" {
                                title { (words(column)) }
                            }
                        }
                    }
                }
            }
            path d=(format!("M{} {}H{}", px(LEFT), px(bottom), px(RIGHT))) stroke="currentColor" {}
        }
    }

    /// The description with every column.
    fn words(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(words).collect();
        let [first, second] = &self.names;
        format!("{} Shares of {first} and {second}. {}.", self.description, columns.join("; "))
    }
}

/// A column in words.
fn words(column: &Column) -> String {
    let percent = |share: f64| format!("{:.3}", 100.0 * share).trim_end_matches('0').trim_end_matches('.').to_owned();
    let [first, second] = column.shares.map(percent);
    let from = if column.begins { "from " } else { "" };
    let marked = if column.marked { " (marked)" } else { "" };
    format!("{from}{}: {first}% and {second}%{marked}", column.label)
}
