//! What a series looks like: its dash belongs to its kind, its color and marker to its kind and name.

use super::drawing::px;
use crate::order;
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
    /// What others are compared with: dash-dotted lines.
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

    /// Class and color. The colors are of Tol's vibrant and muted schemes, which color-blind readers tell apart; cyan and
    /// gray are darkened until they show on white.
    const fn colors(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Lower => &[("k3", "#332288"), ("k2", "#009988"), ("k1", "#0077bb"), ("k4", "#2b97c4")],
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
            Self::Exact => &[("k0", "#1c1f23"), ("k11", "#7a4b1e")],
            Self::Upper => &[("k5", "#cc3311"), ("k6", "#e0681f"), ("k7", "#d92c6c"), ("k10", "#882255")],
            Self::Heuristic | Self::Reference => &[("k8", "#6e6e6e"), ("k9", "#8a7d1c"), ("k10", "#882255")],
        }
    }

    /// Depends only on the kind, as the key of a figure explains.
    const fn dash(self) -> &'static str {
        match self {
            Self::Lower | Self::Measured | Self::Exact => "none",
            Self::Upper => "7 4",
            Self::Heuristic => "1.5 3.5",
            Self::Reference => "7 3 1.5 3",
        }
    }

    /// Hollow and crossed marks are without a guarantee.
    const fn markers(self) -> &'static [Marker] {
        match self {
            Self::Lower | Self::Measured => {
                &[Marker::Circle, Marker::Square, Marker::Up, Marker::Right, Marker::Left, Marker::Hourglass]
            }
            Self::Exact => &[Marker::Kite, Marker::Diamond, Marker::Star, Marker::Hourglass],
            Self::Upper => &[Marker::Down, Marker::Bar, Marker::Dash, Marker::Star, Marker::Plus],
            Self::Heuristic => &[
                Marker::HollowCircle,
                Marker::HollowSquare,
                Marker::HollowUp,
                Marker::Cross,
                Marker::HollowDown,
                Marker::HollowDiamond,
                Marker::HollowRight,
            ],
            Self::Reference => &[Marker::Bar, Marker::Plus, Marker::Dash, Marker::Star],
        }
    }

    /// What names are mixed with: found by search, so that the names in one figure look different (see the tests).
    const fn salt(self) -> u64 {
        match self {
            Self::Lower => 219_561,
            Self::Upper => 18_727_064,
            Self::Exact => 1_226,
            Self::Heuristic => 5_558,
            Self::Measured => 7_333,
            Self::Reference => 1,
        }
    }

    /// Color and marker of a name. A suffix in parentheses changes neither, and a direction changes only the marker.
    fn look(self, name: &str) -> [usize; 2] {
        let whole = name.split(" (").next().unwrap_or_default();
        let base = whole.split(" D(").next().unwrap_or_default();
        let [color, marker] = [base, whole].map(|text| mixed(self.salt(), text));
        [color as usize % self.colors().len(), (marker >> 16) as usize % self.markers().len()]
    }
}

/// A name as a number (FNV-1a, folded).
fn mixed(salt: u64, text: &str) -> u64 {
    let hash = text.bytes().fold(salt, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    hash ^ (hash >> 32)
}

/// A shape that marks a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Marker {
    Circle,
    Square,
    Up,
    Down,
    Right,
    Left,
    Diamond,
    Kite,
    Hourglass,
    Star,
    HollowCircle,
    HollowSquare,
    HollowUp,
    HollowDown,
    HollowRight,
    HollowDiamond,
    Plus,
    Cross,
    Bar,
    Dash,
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

/// The inks of series. A kind and a name look the same in every figure, whatever is next to them; only if two names of
/// a figure would look the same, the later one in the alphabet takes the next marker.
pub(super) fn inks<'a>(series: impl Iterator<Item = (SeriesKind, &'a str)>) -> Vec<Ink> {
    let series: Vec<(SeriesKind, &str)> = series.collect();
    let order = order::positions(series.len(), |a, b| series[a].1.cmp(series[b].1));
    let mut inks: Vec<Option<(Ink, &str)>> = vec![None; series.len()];
    for index in order {
        let (kind, name) = series[index];
        let [color, marker] = kind.look(name);
        let (colors, markers) = (kind.colors().len(), kind.markers().len());
        let next = |step: usize| kind.ink([(color + step / markers) % colors, (marker + step) % markers]);
        let free = |ink: &Ink| {
            let same = |(other, others): &(Ink, &str)| {
                *others != name && (other.color, other.marker) == (ink.color, ink.marker)
            };
            !inks.iter().flatten().any(same)
        };
        let found = (0..colors * markers).map(next).find(free).unwrap_or_else(|| next(0));
        inks[index] = Some((found, name));
    }
    inks.into_iter().flatten().map(|(ink, _)| ink).collect()
}

impl SeriesKind {
    pub(super) const fn ink(self, [color, marker]: [usize; 2]) -> Ink {
        let (class, color) = self.colors()[color];
        let width = if matches!(self, Self::Exact) { 2.8 } else { 1.8 };
        Ink { class, color, dash: self.dash(), width, marker: self.markers()[marker] }
    }
}

impl Ink {
    /// The marker around a point; its group gives the color.
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
        let right = || at(&[(-3.2, -4.4), (-3.2, 4.4), (4.6, 0.0)]) + "Z";
        let (path, filled) = match self.marker {
            Marker::Circle => (circle(), true),
            Marker::Square => (square(), true),
            Marker::Up => (triangle(1.0), true),
            Marker::Down => (triangle(-1.0), true),
            Marker::Right => (right(), true),
            Marker::Left => (at(&[(3.2, -4.4), (3.2, 4.4), (-4.6, 0.0)]) + "Z", true),
            Marker::Diamond => (diamond(), true),
            Marker::Kite => (at(&[(0.0, -6.6), (2.8, 0.0), (0.0, 6.6), (-2.8, 0.0)]) + "Z", true),
            Marker::Hourglass => (at(&[(-4.2, -4.2), (4.2, -4.2), (-4.2, 4.2), (4.2, 4.2)]) + "Z", true),
            Marker::Star => {
                let (far, near) = (5.8, 1.7);
                let points = [(0.0, -far), (near, -near), (far, 0.0), (near, near)];
                let turned = points.map(|(dx, dy): (f64, f64)| (-dx, -dy));
                (at(&[points, turned].concat()) + "Z", true)
            }
            Marker::HollowCircle => (circle(), false),
            Marker::HollowSquare => (square(), false),
            Marker::HollowUp => (triangle(1.0), false),
            Marker::HollowDown => (triangle(-1.0), false),
            Marker::HollowRight => (right(), false),
            Marker::HollowDiamond => (diamond(), false),
            Marker::Plus => (plus(), false),
            Marker::Cross => (cross(), false),
            Marker::Bar => (at(&[(0.0, -6.0), (0.0, 6.0)]), false),
            Marker::Dash => (at(&[(-6.0, 0.0), (6.0, 0.0)]), false),
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

    fn looks<'a>(series: impl IntoIterator<Item = (SeriesKind, &'a str)>) -> Vec<(&'static str, Marker)> {
        inks(series.into_iter()).into_iter().map(|ink| (ink.color, ink.marker)).collect()
    }

    /// Names in one figure: the colors of the first ones differ, and the looks of all.
    #[test]
    fn names_of_one_figure_look_different_without_moving_each_other() {
        use SeriesKind::{Exact, Heuristic, Lower, Measured, Reference, Upper};
        let lower = ["k-cut-region", "two-cut-corner", "clopper-pearson", "lower-largest-query"];
        let others =
            ["k-cut-box", "k-cut-goodman", "k-cut-sison-glaz", "k-cut-variational", "two-cut-half-space", "gdp"];
        let mut figures: Vec<(SeriesKind, usize, Vec<String>)> = vec![
            (Lower, 4, lower.iter().chain(&others).map(|name| (*name).to_owned()).collect()),
            (Exact, 2, vec!["exact-per-query (these votes)".into(), "exact-one-voter (one voter)".into()]),
            (Exact, 2, vec!["D(P‖Q)".into(), "D(Q‖P)".into()]),
            (Exact, 2, vec!["P".into(), "Q".into()]),
            (Exact, 2, vec!["exact-sum".into(), "joint-exact".into()]),
            (Heuristic, 2, vec!["lower-sum".into(), "gnmax-data-dependent".into(), "confident-gnmax-expected".into()]),
            (Measured, 6, ["lira", "rmia", "threshold", "label-only", "risk", "attacker"].map(String::from).to_vec()),
            (Measured, 2, vec!["trained on it".into(), "not trained on it".into()]),
            (Reference, 2, vec!["claim".into(), "largest that can be shown".into()]),
        ];
        for family in ["gnmax", "lnmax", "confident-gnmax", "confident-lnmax"] {
            let of = |end: &str| format!("{family}-{end}");
            let forward = ["data-dependent-forward", "worst-case D(P‖Q)", "worst-case D(Q‖P)"];
            let names = ["data-dependent", "data-independent", "worst-case"].into_iter().chain(forward).map(of);
            figures.push((Upper, 3, names.chain(["privacy-loss, at most".to_owned()]).collect()));
        }
        for (kind, colors, names) in figures {
            let names: Vec<(SeriesKind, &str)> = names.iter().map(|name| (kind, name.as_str())).collect();
            let together = looks(names.clone());
            let alone: Vec<_> = names.iter().map(|&one| looks([one])[0]).collect();
            assert_eq!(together, alone, "{names:?}");
            assert_eq!(together.iter().collect::<HashSet<_>>().len(), names.len(), "{names:?} {together:?}");
            let first: HashSet<&str> = together.iter().take(colors).map(|look| look.0).collect();
            assert_eq!(first.len(), colors, "{names:?} {together:?}");
        }
    }

    #[test]
    fn a_look_belongs_to_kind_and_name() {
        let upper = |name| (SeriesKind::Upper, name);
        let [first, second] = ["gnmax-data-dependent", "gnmax-data-independent"].map(upper);
        let turned = looks([second, first, upper("gnmax-worst-case")]);
        assert_eq!(looks([first, second]), [turned[1], turned[0]]);
        // Words in parentheses and directions keep the color.
        let [plain, marked] =
            [looks([upper("gnmax-worst-case (any votes)")])[0], looks([upper("gnmax-worst-case D(Q‖P)")])[0]];
        assert_eq!((plain, plain.0), (turned[2], marked.0));
        assert!(SeriesKind::ALL.iter().all(|kind| inks([(*kind, "a")].into_iter())[0].dash == kind.dash()));
    }

    #[test]
    fn a_dozen_series_of_a_kind_look_different() {
        for kind in SeriesKind::ALL {
            let count = if kind == SeriesKind::Exact { 8 } else { 12 };
            let names: Vec<String> = (0..count).map(|index| format!("file {index}")).collect();
            let looks: HashSet<_> = looks(names.iter().map(|name| (kind, name.as_str()))).into_iter().collect();
            assert_eq!(looks.len(), count, "{kind:?}");
        }
    }
}
