//! Curves: bounds against the order, tightness against samples.

use super::axis::{Axis, Rail, Ruler};
use super::drawing::{Drawing, SMALL, TEXT, WIDTH, headline, px};
use super::ink::{Ink, SeriesKind, inks};
use super::text::{LONG_NAME, apart, fitted, shortened, width, wrapped};
use super::words::{key, number};
use crate::order;
use maud::{Markup, html};
use serde::Serialize;

/// One curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// Its name, which is shown next to the line.
    pub name: String,
    /// The kind of its values.
    pub kind: SeriesKind,
    /// Its points (x, y); NaN is left out, infinity and the zeros of a logarithmic axis are marked at the edge.
    pub points: Vec<[f64; 2]>,
    /// Limits around it, (x, lower, upper): shaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub band: Vec<[f64; 3]>,
}

impl Series {
    /// A curve through these points.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: SeriesKind, points: Vec<[f64; 2]>) -> Self {
        Self { name: name.into(), kind, points, band: Vec::new() }
    }

    /// The same curve between these limits (x, lower, upper).
    #[must_use]
    pub fn with_band(self, band: Vec<[f64; 3]>) -> Self {
        Self { band, ..self }
    }

    /// Values of one axis, 0 or 1, those of the band included.
    fn values(&self, axis: usize) -> impl Iterator<Item = f64> + Clone + '_ {
        let limits =
            self.band.iter().flat_map(move |limit| if axis == 0 { [limit[0]; 2] } else { [limit[1], limit[2]] });
        self.points.iter().map(move |point| point[axis]).chain(limits)
    }
}

/// Curves over one pair of axes, each named next to its line.
///
/// ```
/// # use leakbound::report::{Axis, Curves, Series, SeriesKind};
/// let figure = Curves {
///     title: "Noisy argmax".into(),
///     description: "A lower bound and the divergence itself.".into(),
///     x: Axis::log("order α"),
///     y: Axis::log("Rényi divergence in nats"),
///     series: vec![
///         Series::new("exact", SeriesKind::Exact, vec![[2.0, 0.24], [10.0, 0.4]]),
///         Series::new("two-cut-corner", SeriesKind::Lower, vec![[2.0, 0.0], [10.0, 0.3]]),
///     ],
/// };
/// assert!(figure.draw().svg().contains("two-cut-corner is 0 at order α = 2"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curves {
    /// Headline.
    pub title: String,
    /// What is shown, for readers who do not see the figure.
    pub description: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// The curves, most important first.
    pub series: Vec<Series>,
}

/// Sizes in pixels of the figure's own coordinates.
const LEFT: f64 = 74.0;
const PLOT: f64 = 380.0;
const LINE: f64 = 19.0;
/// The next line of a name, and the most room for one.
const NEXT: f64 = 15.0;
const NAMES: f64 = 250.0;
/// Room between the plot and the names next to it, with a sample of the line.
const GAP: f64 = 26.0;
const SAMPLE: f64 = 34.0;
/// Pixels between the markers of a curve with more points than are always marked.
const BETWEEN: f64 = 56.0;
const ALL_MARKED: usize = 12;

/// A point with its place.
struct Placed {
    x: f64,
    y: f64,
    rail: Rail,
    value: [f64; 2],
}

impl Curves {
    /// Rényi divergences against their order.
    #[must_use]
    pub fn of_orders(title: impl Into<String>, description: impl Into<String>, series: Vec<Series>) -> Self {
        let (x, y) = (Axis::log("order α"), Axis::log("Rényi divergence in nats"));
        Self { title: title.into(), description: description.into(), x, y, series }
    }

    /// Draws the figure.
    #[must_use]
    pub fn draw(&self) -> Drawing {
        let title = wrapped(&self.title, WIDTH - 20.0, 16.0, 2);
        // Names that are too long for a line have several.
        let names: Vec<Vec<String>> =
            self.series.iter().map(|series| wrapped(&shortened(&series.name, LONG_NAME), NAMES, TEXT, 4)).collect();
        let room = names.iter().flatten().map(|line| width(line, TEXT)).fold(60.0, f64::max);
        let line = names.iter().map(|lines| LINE + NEXT * (lines.len() - 1) as f64).fold(LINE, f64::max);
        let top = 22.0 + 20.0 * title.len() as f64;
        let plot = PLOT.max(line * self.series.len() as f64 + 10.0);
        let (right, bottom) = (WIDTH - GAP - SAMPLE - room - 8.0, top + plot);
        let values = |index: usize| self.series.iter().flat_map(move |series| series.values(index));
        let x = Ruler::new(self.x.scale, values(0), [LEFT, right]);
        let y = Ruler::new(self.y.scale, values(1), [bottom, top]);
        let placed: Vec<Vec<Placed>> = self.series.iter().map(|series| place(series, &x, &y)).collect();
        let inks = inks(self.series.iter().map(|series| (series.kind, series.name.as_str())));
        let notes: Vec<String> =
            self.notes(&placed).iter().flat_map(|note| wrapped(note, WIDTH - LEFT, SMALL, 4)).collect();
        let height = bottom + 62.0 + 17.0 * notes.len() as f64;
        let body = html! {
            (headline(&title))
            (self.grid(&x, &y, [LEFT, right, top, bottom]))
            @for (series, ink) in self.series.iter().zip(&inks) { (band(series, &x, &y, ink)) }
            @for index in (0..self.series.len()).rev() {
                (self.line(index, &placed[index], &inks[index]))
            }
            (named(&placed, &inks, &names, [right, top, bottom, line]))
            @for (line, note) in notes.iter().enumerate() {
                text class="quiet" x=(LEFT) y=(bottom + 64.0 + 17.0 * line as f64) font-size=(SMALL) fill="#5a6169" { (note) }
            }
        };
        Drawing::new(&self.title, &self.description, height, self.words(), body)
    }

    fn grid(&self, x: &Ruler, y: &Ruler, [left, right, top, bottom]: [f64; 4]) -> Markup {
        let columns = x.ticks_at(self.series.iter().flat_map(|series| series.points.iter().map(|point| point[0])));
        let mut rows = y.ticks();
        rows.extend(y.zero.map(|at| (at, "0".into())));
        rows.extend(y.infinity.map(|at| (at, "∞".into())));
        let mut columns_and_rails = columns;
        columns_and_rails.extend(x.zero.map(|at| (at, "0".into())));
        columns_and_rails.extend(x.infinity.map(|at| (at, "∞".into())));
        let middle = (top + bottom) / 2.0;
        html! {
            g class="grid" color="#d9dde2" font-size=(SMALL) {
                @for (at, label) in &columns_and_rails {
                    path d=(format!("M{} {}V{}", px(*at), px(top), px(bottom))) stroke="currentColor" {}
                    text class="quiet" x=(px(*at)) y=(px(bottom + 18.0)) text-anchor="middle" fill="#5a6169" { (label) }
                }
                @for (at, label) in &rows {
                    path d=(format!("M{} {}H{}", px(left), px(*at), px(right))) stroke="currentColor"
                        stroke-dasharray=[rail_dash(y, *at)] {}
                    text class="quiet" x=(px(left - 8.0)) y=(px(at + 4.0)) text-anchor="end" fill="#5a6169" { (label) }
                }
            }
            text x=(px((left + right) / 2.0)) y=(px(bottom + 40.0)) text-anchor="middle" font-size=(TEXT) fill="currentColor" {
                (fitted(&self.x.label, right - left, TEXT))
            }
            text transform=(format!("translate(16 {}) rotate(-90)", px(middle))) text-anchor="middle" font-size=(TEXT) fill="currentColor" {
                (fitted(&self.y.label, bottom - top, TEXT))
            }
        }
    }

    fn line(&self, index: usize, placed: &[Placed], ink: &Ink) -> Markup {
        let series = &self.series[index];
        let (mut path, mut rails) = (String::new(), String::new());
        let mut before = None;
        for point in placed {
            let path = if point.rail == Rail::Inside { &mut path } else { &mut rails };
            let pen = if before == Some(point.rail) { 'L' } else { 'M' };
            path.push_str(&format!("{pen}{} {}", px(point.x), px(point.y)));
            before = Some(point.rail);
        }
        let marked = marked(placed, index);
        html! {
            g class=(ink.class) color=(ink.color) {
                @if !path.is_empty() {
                    path d=(path) fill="none" stroke="currentColor" stroke-width=(ink.width) stroke-dasharray=(ink.dash)
                        stroke-linejoin="round" {}
                }
                @if !rails.is_empty() {
                    path d=(rails) fill="none" stroke="currentColor" stroke-width="1" opacity="0.6" {}
                }
                @for point in marked {
                    (ink.mark(point.x, point.y, &format!("{}: {} at {}", shortened(&series.name, LONG_NAME), number(point.value[1]), number(point.value[0]))))
                }
            }
        }
    }

    /// What the lines mean, and what the axes cannot show.
    fn notes(&self, placed: &[Vec<Placed>]) -> Vec<String> {
        let mut notes = vec![key(self.series.iter().map(|series| series.kind))];
        for (rail, word) in [(Rail::Zero, "0"), (Rail::Infinity, "infinite")] {
            let mut sentences = Vec::new();
            for (series, points) in self.series.iter().zip(placed) {
                let at: Vec<f64> = points.iter().filter(|p| p.rail == rail).map(|p| p.value[0]).collect();
                if at.is_empty() {
                    continue;
                }
                let name = shortened(&series.name, LONG_NAME);
                sentences.push(if at.len() == points.len() {
                    format!("{name} is {word} everywhere")
                } else if at.len() == 1 {
                    format!("{name} is {word} at {} = {}", self.x.label, number(at[0]))
                } else {
                    let of = format!("{} of {} points", at.len(), points.len());
                    format!(
                        "{name} is {word} at {of} from {} = {} to {}",
                        self.x.label,
                        number(at[0]),
                        number(at[at.len() - 1])
                    )
                });
            }
            if !sentences.is_empty() {
                notes.push(format!("{}.", sentences.join("; ")));
            }
        }
        let lost: usize =
            self.series.iter().zip(placed).map(|(series, points)| series.points.len() - points.len()).sum();
        if lost > 0 {
            notes.push(format!("{lost} points that have no place on the axes are left out."));
        }
        notes
    }

    /// The description with the ends of every curve.
    fn words(&self) -> String {
        let curve = |series: &Series| {
            let points = sorted(&series.points);
            let ends = match (points.first(), points.last()) {
                (Some(first), Some(last)) if first != last => {
                    format!(
                        "{} at {} to {} at {}",
                        number(first[1]),
                        number(first[0]),
                        number(last[1]),
                        number(last[0])
                    )
                }
                (Some(only), _) => format!("{} at {}", number(only[1]), number(only[0])),
                _ => "no points".into(),
            };
            format!("{} ({}): {ends}", shortened(&series.name, LONG_NAME), series.kind.words())
        };
        let curves: Vec<String> = self.series.iter().map(curve).collect();
        format!("{} {} against {}. {}.", self.description, self.y.label, self.x.label, curves.join("; "))
    }
}

/// The names next to the ends of the lines, moved apart.
fn named(placed: &[Vec<Placed>], inks: &[Ink], names: &[Vec<String>], [right, top, bottom, line]: [f64; 4]) -> Markup {
    let mut ends: Vec<(usize, f64, f64)> = placed
        .iter()
        .enumerate()
        .map(|(index, points)| points.last().map_or((index, right, bottom), |point| (index, point.x, point.y)))
        .collect();
    order::sort(&mut ends, |a, b| a.2.total_cmp(&b.2).then(a.0.cmp(&b.0)));
    let wanted: Vec<f64> = ends.iter().map(|end| end.2).collect();
    let heights = apart(&wanted, line, [top + 0.5 * line - 3.5, bottom - 0.5 * line + 7.5]);
    let start = right + GAP;
    html! {
        @for ((index, x, y), height) in ends.iter().zip(heights) {
            g class=(inks[*index].class) color=(inks[*index].color) font-size=(TEXT) {
                @if !placed[*index].is_empty() {
                    path d=(format!("M{} {}L{} {}L{} {}", px(x + 7.0), px(*y), px(right + 6.0), px(*y), px(start - 3.0), px(height)))
                        fill="none" stroke="currentColor" stroke-width="0.9" opacity="0.55" {}
                }
                (inks[*index].sample(start, height))
                @let first = height + 4.5 - 0.5 * NEXT * (names[*index].len() - 1) as f64;
                @for (place, words) in names[*index].iter().enumerate() {
                    text class="ink" x=(px(start + SAMPLE)) y=(px(first + NEXT * place as f64)) fill="#1c1f23" { (words) }
                }
            }
        }
    }
}

/// The points that get a marker; curves that lie on each other show theirs in turn.
fn marked(placed: &[Placed], index: usize) -> Vec<&Placed> {
    if placed.len() <= ALL_MARKED {
        return placed.iter().collect();
    }
    let mut next = placed[0].x + BETWEEN * ((index as f64 * 0.38) % 1.0);
    let due = move |point: &&Placed| {
        let due = point.x >= next;
        if due {
            next = point.x + BETWEEN;
        }
        due
    };
    placed.iter().filter(due).collect()
}

/// The area between the limits of a curve.
fn band(series: &Series, x: &Ruler, y: &Ruler, ink: &Ink) -> Markup {
    let mut limits: Vec<[f64; 3]> = series.band.clone();
    order::sort(&mut limits, |a, b| a[0].total_cmp(&b[0]));
    let side = |place: usize| {
        let points = limits.iter().filter_map(move |limit| Some((x.place(limit[0])?.0, y.place(limit[place])?.0)));
        points.collect::<Vec<_>>()
    };
    let (lower, upper) = (side(1), side(2));
    let points: Vec<String> =
        lower.iter().chain(upper.iter().rev()).map(|(x, y)| format!("{} {}", px(*x), px(*y))).collect();
    html! {
        @if lower.len() > 1 && upper.len() > 1 {
            g class=(ink.class) color=(ink.color) {
                path d=(format!("M{}Z", points.join("L"))) fill="currentColor" opacity="0.14" {}
            }
        }
    }
}

/// The broken line of a rail.
fn rail_dash(ruler: &Ruler, at: f64) -> Option<&'static str> {
    [ruler.zero, ruler.infinity].contains(&Some(at)).then_some("2 4")
}

fn sorted(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut points: Vec<[f64; 2]> = points.iter().copied().filter(|point| !point[0].is_nan()).collect();
    order::sort(&mut points, |a, b| a[0].total_cmp(&b[0]));
    points
}

fn place(series: &Series, x: &Ruler, y: &Ruler) -> Vec<Placed> {
    let points = sorted(&series.points).into_iter();
    points
        .filter_map(|value| {
            let ((x, _), (y, rail)) = (x.place(value[0])?, y.place(value[1])?);
            Some(Placed { x, y, rail, value })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(series: Vec<Series>) -> Curves {
        Curves {
            title: "Title".into(),
            description: "What it shows.".into(),
            x: Axis::log("order α"),
            y: Axis::log("nats"),
            series,
        }
    }

    #[test]
    fn a_small_figure() {
        let figure = figure(vec![
            Series::new("exact", SeriesKind::Exact, vec![[2.0, 0.25], [10.0, 0.5]]),
            Series::new("lower", SeriesKind::Lower, vec![[2.0, 0.0], [10.0, 0.125]]),
        ]);
        insta::assert_snapshot!(figure.draw().svg().replace("><", ">\n<"));
    }

    #[test]
    fn hostile_figures_are_well_formed() {
        let name = "</text><script>\"'&\u{0}\u{7}\u{202e}\u{ffff}\n".repeat(300);
        let inf = f64::INFINITY;
        let points = [
            vec![],
            vec![[2.0, 0.0]],
            vec![[2.0, inf], [3.0, inf]],
            vec![[f64::NAN, 1.0], [1.0, f64::NAN], [0.0, 1.0], [-1.0, -1.0], [inf, -inf]],
            vec![[5e-324, 5e-324], [f64::MAX, f64::MAX]],
            (0..10_000).map(|i| [f64::from(i), 1.0 / f64::from(i)]).collect(),
        ];
        for x in [Axis::log(&name), Axis::linear(&name)] {
            for y in [Axis::log(&name), Axis::linear(&name)] {
                for points in &points {
                    let series: Vec<Series> =
                        SeriesKind::ALL.map(|kind| Series::new(&name, kind, points.clone())).to_vec();
                    let figure =
                        Curves { title: name.clone(), description: name.clone(), x: x.clone(), y: y.clone(), series };
                    let svg = figure.draw().svg();
                    roxmltree::Document::parse(&svg).unwrap();
                    assert!(!svg.contains("NaN") && !svg.contains("inf ") && !svg.contains("<script"));
                }
            }
        }
        roxmltree::Document::parse(&figure(vec![]).draw().svg()).unwrap();
    }

    #[test]
    fn what_has_no_place_is_said() {
        let svg = figure(vec![
            Series::new("a", SeriesKind::Lower, vec![[2.0, 0.0], [3.0, 0.0]]),
            Series::new("b", SeriesKind::Upper, vec![[2.0, f64::INFINITY], [3.0, 1.0]]),
            Series::new("c", SeriesKind::Heuristic, vec![[2.0, f64::NAN], [3.0, 1.0]]),
        ])
        .draw()
        .svg();
        for words in [
            "a is 0 everywhere.",
            "b is infinite at order α = 2.",
            "1 points that have no place",
            "Solid: lower bound, dashed: upper bound, dotted: ",
        ] {
            assert!(svg.contains(words), "{words}");
        }
    }
}
