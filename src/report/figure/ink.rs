//! What a series looks like: color, dash and marker, each of which alone tells most series apart.

use super::drawing::px;
use maud::{Markup, html};
use serde::Serialize;

/// What the values of a series are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SeriesKind {
    /// Lower bounds with a guarantee: solid lines.
    Lower,
    /// The quantity itself: thick lines.
    Exact,
    /// Upper bounds: dashed lines.
    Upper,
    /// Without a guarantee: dotted lines.
    Heuristic,
    /// Frequencies and counts of the data themselves: solid lines.
    Measured,
    /// What others are held against: dash-dotted lines.
    Reference,
}

impl SeriesKind {
    /// All kinds, in the order of keys.
    pub(super) const ALL: [Self; 6] =
        [Self::Lower, Self::Exact, Self::Upper, Self::Heuristic, Self::Measured, Self::Reference];

    /// What the kind is called in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Lower => "lower bound",
            Self::Exact => "exact value",
            Self::Upper => "upper bound",
            Self::Heuristic => "no finite-sample guarantee",
            Self::Measured => "measured",
            Self::Reference => "for comparison",
        }
    }

    /// How its lines are drawn.
    pub(super) const fn line(self) -> &'static str {
        match self {
            Self::Lower | Self::Measured => "solid",
            Self::Exact => "thick",
            Self::Upper => "dashed",
            Self::Heuristic => "dotted",
            Self::Reference => "dash-dotted",
        }
    }

    /// Class and color, cycled among the series of the kind. The colors are of Tol's vibrant and muted schemes, which
    /// color-blind readers tell apart; cyan and gray are darkened until they show on white.
    const fn colors(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Lower => &[("k1", "#0077bb"), ("k2", "#009988"), ("k3", "#332288"), ("k4", "#2b97c4")],
            Self::Measured => &[
                ("k1", "#0077bb"),
                ("k6", "#e0681f"),
                ("k2", "#009988"),
                ("k10", "#882255"),
                ("k3", "#332288"),
                ("k7", "#d92c6c"),
                ("k9", "#8a7d1c"),
                ("k4", "#2b97c4"),
            ],
            Self::Exact => &[("k0", "#1c1f23")],
            Self::Upper => &[("k5", "#cc3311"), ("k6", "#e0681f"), ("k7", "#d92c6c")],
            Self::Heuristic => &[("k8", "#6e6e6e"), ("k9", "#8a7d1c"), ("k10", "#882255")],
            Self::Reference => &[("k8", "#6e6e6e"), ("k9", "#8a7d1c"), ("k10", "#882255")],
        }
    }

    const fn dashes(self) -> &'static [&'static str] {
        match self {
            Self::Lower => &["none", "none", "none", "none", "11 3", "11 3 2 3"],
            Self::Measured => &["none", "none", "none", "none", "11 3", "11 3 2 3"],
            Self::Exact => &["none", "9 3"],
            Self::Upper => &["7 4", "3 3", "12 4 3 4"],
            Self::Heuristic => &["1.5 3.5", "1.5 3.5", "1.5 3.5", "1 6"],
            Self::Reference => &["7 3 1.5 3"],
        }
    }

    const fn markers(self) -> &'static [Marker] {
        match self {
            Self::Lower | Self::Measured => &[Marker::Circle, Marker::Square, Marker::Up, Marker::Plus, Marker::Right],
            Self::Exact => &[Marker::Diamond, Marker::HollowDiamond],
            Self::Upper => &[Marker::Down, Marker::Bar, Marker::HollowDown, Marker::Cross],
            Self::Heuristic => &[Marker::HollowCircle, Marker::HollowSquare, Marker::HollowUp, Marker::Cross],
            Self::Reference => &[Marker::Bar, Marker::Plus, Marker::Cross, Marker::HollowDiamond],
        }
    }
}

/// A shape that marks a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    Circle,
    Square,
    Up,
    Down,
    Right,
    Diamond,
    HollowCircle,
    HollowSquare,
    HollowUp,
    HollowDown,
    HollowDiamond,
    Plus,
    Cross,
    Bar,
}

/// How one series is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ink {
    pub class: &'static str,
    pub color: &'static str,
    pub dash: &'static str,
    pub width: f64,
    pub marker: Marker,
}

/// The inks of series of these kinds, in their order.
pub(super) fn inks(kinds: impl Iterator<Item = SeriesKind>) -> Vec<Ink> {
    let mut seen = Vec::new();
    kinds
        .map(|kind| {
            let index = seen.iter().filter(|other| **other == kind).count();
            seen.push(kind);
            let (class, color) = kind.colors()[index % kind.colors().len()];
            Ink {
                class,
                color,
                dash: kind.dashes()[index % kind.dashes().len()],
                width: if kind == SeriesKind::Exact { 2.8 } else { 1.8 },
                marker: kind.markers()[index % kind.markers().len()],
            }
        })
        .collect()
}

impl Ink {
    /// The marker around a point; the group that it stands in gives the color.
    pub(super) fn mark(&self, x: f64, y: f64, title: &str) -> Markup {
        let at = |points: &[(f64, f64)]| {
            let points = points.iter().map(|(dx, dy)| format!("{} {}", px(x + dx), px(y + dy)));
            format!("M{}", points.collect::<Vec<_>>().join("L"))
        };
        let triangle = |sign: f64| at(&[(-4.4, 3.2 * sign), (4.4, 3.2 * sign), (0.0, -4.6 * sign)]) + "Z";
        let square = || at(&[(-3.5, -3.5), (3.5, -3.5), (3.5, 3.5), (-3.5, 3.5)]) + "Z";
        let diamond = || at(&[(0.0, -5.2), (4.4, 0.0), (0.0, 5.2), (-4.4, 0.0)]) + "Z";
        let circle = || {
            let (x, y) = (px(x - 3.8), px(y));
            format!("M{x} {y}a3.8 3.8 0 1 0 7.6 0a3.8 3.8 0 1 0 -7.6 0Z")
        };
        let plus = || at(&[(-4.6, 0.0), (4.6, 0.0)]) + &at(&[(0.0, -4.6), (0.0, 4.6)]);
        let cross = || at(&[(-3.6, -3.6), (3.6, 3.6)]) + &at(&[(-3.6, 3.6), (3.6, -3.6)]);
        let (path, filled) = match self.marker {
            Marker::Circle => (circle(), true),
            Marker::Square => (square(), true),
            Marker::Up => (triangle(1.0), true),
            Marker::Down => (triangle(-1.0), true),
            Marker::Right => (at(&[(-3.2, -4.4), (-3.2, 4.4), (4.6, 0.0)]) + "Z", true),
            Marker::Diamond => (diamond(), true),
            Marker::HollowCircle => (circle(), false),
            Marker::HollowSquare => (square(), false),
            Marker::HollowUp => (triangle(1.0), false),
            Marker::HollowDown => (triangle(-1.0), false),
            Marker::HollowDiamond => (diamond(), false),
            Marker::Plus => (plus(), false),
            Marker::Cross => (cross(), false),
            Marker::Bar => (at(&[(0.0, -6.0), (0.0, 6.0)]), false),
        };
        let hollow = path.ends_with('Z') && !filled;
        html! {
            path class=[hollow.then_some("paper")] d=(path) fill=(if filled { "currentColor" } else if hollow { "#ffffff" } else { "none" })
                stroke="currentColor" stroke-width=(if filled { 1.0 } else { 1.8 }) {
                @if !title.is_empty() { title { (title) } }
            }
        }
    }

    /// A piece of its line with its marker, for keys; `y` is its height.
    pub(super) fn sample(&self, x: f64, y: f64) -> Markup {
        html! {
            path d=(format!("M{} {}h26", px(x), px(y))) fill="none" stroke="currentColor" stroke-width=(self.width)
                stroke-dasharray=(self.dash) {}
            (self.mark(x + 13.0, y, ""))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_dozen_series_of_a_kind_look_different() {
        for kind in SeriesKind::ALL {
            let count = if kind == SeriesKind::Exact { 2 } else { 12 };
            let inks = inks(std::iter::repeat_n(kind, count));
            let looks: HashSet<String> =
                inks.iter().map(|ink| format!("{} {} {:?}", ink.color, ink.dash, ink.marker)).collect();
            assert_eq!(looks.len(), count, "{kind:?}");
        }
    }
}
