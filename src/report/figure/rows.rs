//! One row per query, method or outcome: bars for lower bounds, marks for everything else.

use super::axis::{Axis, Rail, Ruler, Scale};
use super::drawing::{Drawing, SMALL, TEXT, WIDTH, headline, px};
use super::ink::{Ink, SeriesKind, inks};
use super::text::{LONG_NAME, fitted, shortened, width, wrapped};
use super::words::{key, number};
use crate::order;
use maud::{Markup, html};
use serde::Serialize;

/// What is marked in every row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RowSeries {
    /// Its name.
    pub name: String,
    /// The kind of its values.
    pub kind: SeriesKind,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Its name.
    pub label: String,
    /// A value for each series, if it has one.
    pub values: Vec<Option<f64>>,
    /// Lower and upper limit around the value of each series, if it has any: a line behind the mark.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bands: Vec<Option<[f64; 2]>>,
    /// Text at the end of the row.
    pub note: String,
}

/// Rows over one axis.
///
/// At most 40 rows are drawn. If there are more, the figure shows those with the largest values (of the series that
/// sorts them, or else of any series with a guarantee) and states this.
///
/// ```
/// # use leakbound::report::{Axis, Row, RowSeries, Rows, SeriesKind};
/// let series = vec![RowSeries { name: "exact".into(), kind: SeriesKind::Exact }];
/// let row = |index: u32| Row { label: format!("query {index}"), values: vec![Some(f64::from(index))], bands: Vec::new(), note: String::new() };
/// let rows = (0..300).map(row).collect();
/// let figure = Rows {
///     title: "ε at least".into(),
///     description: String::new(),
///     x: Axis::linear("ε"),
///     series,
///     bar: None,
///     rows,
///     sorted_by: Some(0),
/// };
/// let svg = figure.draw().svg();
/// assert!(svg.contains("The largest 40 of 300 rows") && svg.contains("query 299") && !svg.contains("query 259<"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rows {
    /// Headline.
    pub title: String,
    /// What is shown, for readers who do not see the figure.
    pub description: String,
    /// The axis of the values.
    pub x: Axis,
    /// What is marked, most important first.
    pub series: Vec<RowSeries>,
    /// Which of them is drawn as a bar: a lower bound, as a rule.
    pub bar: Option<usize>,
    /// The rows.
    pub rows: Vec<Row>,
    /// The series whose values sort the rows, the largest first; without one they keep their order.
    pub sorted_by: Option<usize>,
}

/// What the parts of the figure share.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    row: f64,
}

impl Rows {
    /// The most rows that are drawn.
    pub const MOST: usize = 40;

    /// Draws the figure.
    #[must_use]
    pub fn draw(&self) -> Drawing {
        let (rows, cut) = self.shown();
        let inks = inks(self.series.iter().map(|series| (series.kind, series.name.as_str())));
        let title = wrapped(&self.title, WIDTH - 20.0, 16.0, 2);
        let (legend, legend_height) = self.legend(&inks, 34.0 + 20.0 * title.len() as f64);
        let widest = |texts: &mut dyn Iterator<Item = &String>, most: f64| {
            texts.map(|text| width(&shortened(text, LONG_NAME), SMALL)).fold(0.0, f64::max).min(most)
        };
        let labels = widest(&mut rows.iter().map(|row| &row.label), 250.0);
        let notes = widest(&mut rows.iter().map(|row| &row.note), 170.0);
        let row = if rows.len() > 14 { 18.0 } else { 24.0 };
        let top = 34.0 + 20.0 * title.len() as f64 + legend_height + 26.0;
        let frame = Frame {
            left: 20.0 + labels + 10.0,
            right: WIDTH - 14.0 - if notes > 0.0 { notes + 14.0 } else { 8.0 },
            top,
            bottom: top + row * rows.len() as f64,
            row,
        };
        // The length of a bar means nothing unless it starts at zero.
        let zero = (self.bar.is_some() && self.x.scale == Scale::Linear).then_some(0.0);
        let limits = rows.iter().flat_map(|row| row.bands.iter().flatten().flatten().copied());
        let values = rows.iter().flat_map(|row| row.values.iter().flatten().copied()).chain(limits).chain(zero);
        let ruler = Ruler::new(self.x.scale, values, [frame.left + 6.0, frame.right]);
        let mut words = vec![self.key()];
        words.extend(cut);
        let words: Vec<String> = words.iter().flat_map(|note| wrapped(note, WIDTH - 30.0, SMALL, 3)).collect();
        let body = html! {
            (headline(&title))
            (legend)
            (self.grid(&ruler, &frame))
            @for (index, row) in rows.iter().enumerate() {
                (self.row(row, &ruler, &inks, frame.top + frame.row * (index as f64 + 0.5), &frame))
            }
            @for (line, text) in words.iter().enumerate() {
                text class="quiet" x="20" y=(px(frame.bottom + 62.0 + 17.0 * line as f64)) font-size=(SMALL) fill="#5a6169" { (text) }
            }
        };
        let height = frame.bottom + 60.0 + 17.0 * words.len() as f64;
        Drawing::new(&self.title, &self.description, height, self.words(&rows), body)
    }

    /// The rows that are drawn, and what is said about the others.
    fn shown(&self) -> (Vec<&Row>, Option<String>) {
        let all = self.rows.len();
        let certain = self.series.iter().any(|series| series.kind != SeriesKind::Heuristic);
        let counts = |index: usize| match self.sorted_by {
            Some(sorting) => index == sorting,
            None => !certain || self.series.get(index).is_some_and(|series| series.kind != SeriesKind::Heuristic),
        };
        let size = |row: &Row| {
            let values = row.values.iter().enumerate().filter(|(index, _)| counts(*index));
            values.filter_map(|(_, value)| *value).fold(f64::NEG_INFINITY, f64::max)
        };
        let mut rows: Vec<(usize, &Row)> = self.rows.iter().enumerate().collect();
        if self.sorted_by.is_some() || all > Self::MOST {
            order::sort(&mut rows, |a, b| size(b.1).total_cmp(&size(a.1)));
        }
        rows.truncate(Self::MOST);
        if self.sorted_by.is_none() {
            order::sort(&mut rows, |a, b| a.0.cmp(&b.0));
        }
        let cut = all.checked_sub(Self::MOST).filter(|rest| *rest > 0).map(|rest| {
            format!(
                "The largest {} of {all} rows; {rest} smaller ones are not shown here, and the table has them.",
                Self::MOST
            )
        });
        (rows.into_iter().map(|(_, row)| row).collect(), cut)
    }

    /// Names with their marks, in lines; and how high they are.
    fn legend(&self, inks: &[Ink], top: f64) -> (Markup, f64) {
        let (mut x, mut y) = (20.0, top);
        let entries: Vec<Markup> = self
            .series
            .iter()
            .zip(inks)
            .enumerate()
            .map(|(index, (series, ink))| {
                let name = fitted(&series.name, 320.0, TEXT);
                let room = 46.0 + width(&name, TEXT);
                if x > 20.0 && x + room > WIDTH {
                    (x, y) = (20.0, y + 20.0);
                }
                let start = x;
                x += room;
                html! {
                    g class=(ink.class) color=(ink.color) {
                        @if self.bar == Some(index) {
                            rect x=(px(start)) y=(px(y - 9.0)) width="20" height="10" fill="currentColor" opacity="0.3" {}
                            (ink.mark(start + 20.0, y - 4.0, ""))
                        } @else {
                            (ink.mark(start + 18.0, y - 4.0, ""))
                        }
                        text class="ink" x=(px(start + 30.0)) y=(px(y)) font-size=(TEXT) fill="#1c1f23" { (name) }
                    }
                }
            })
            .collect();
        (html! { @for entry in entries { (entry) } }, if self.series.is_empty() { 0.0 } else { y - top + 8.0 })
    }

    fn key(&self) -> String {
        let bar = self.bar.map(|_| "A bar ends at a lower bound: the value is at least there. ").unwrap_or_default();
        let kinds = self.series.iter().map(|series| series.kind);
        let hollow = kinds.clone().any(|kind| kind == SeriesKind::Heuristic);
        let hollow = if hollow { "Hollow or crossed marks: no finite-sample guarantee." } else { "" };
        format!("{bar}{hollow}").trim_end().to_owned()
    }

    fn grid(&self, ruler: &Ruler, frame: &Frame) -> Markup {
        let Frame { left, right, top, bottom, .. } = *frame;
        let mut ticks = ruler.ticks();
        ticks.extend(ruler.zero.map(|at| (at, "0".into())));
        ticks.extend(ruler.infinity.map(|at| (at, "∞".into())));
        html! {
            g class="grid" color="#d9dde2" font-size=(SMALL) {
                @for (at, label) in &ticks {
                    path d=(format!("M{} {}V{}", px(*at), px(top - 4.0), px(bottom + 4.0))) stroke="currentColor" {}
                    text class="quiet" x=(px(*at)) y=(px(bottom + 18.0)) text-anchor="middle" fill="#5a6169" { (label) }
                    @if bottom - top > 320.0 {
                        text class="quiet" x=(px(*at)) y=(px(top - 9.0)) text-anchor="middle" fill="#5a6169" { (label) }
                    }
                }
            }
            text x=(px((left + right) / 2.0)) y=(px(bottom + 38.0)) text-anchor="middle" font-size=(TEXT) fill="currentColor" {
                (fitted(&self.x.label, right - left, TEXT))
            }
        }
    }

    fn row(&self, row: &Row, ruler: &Ruler, inks: &[Ink], y: f64, frame: &Frame) -> Markup {
        let start = ruler.ends()[0];
        let placed = |index: usize| {
            row.values.get(index).copied().flatten().and_then(|value| Some((value, ruler.place(value)?)))
        };
        let band = |index: usize| {
            let ends = row.bands.get(index).copied().flatten()?;
            let [from, to] = ends.map(|end| ruler.place(end).map(|(x, _)| x));
            from.zip(to)
        };
        let height = (frame.row * 0.5).round();
        html! {
            text x=(px(frame.left - 8.0)) y=(px(y + 4.0)) text-anchor="end" font-size=(SMALL) fill="currentColor" {
                (fitted(&row.label, frame.left - 24.0, SMALL))
            }
            // The most important marks last, on top of the others.
            @for index in (0..self.series.len()).rev() {
                @if let Some((value, (x, rail))) = placed(index) {
                    g class=(inks[index].class) color=(inks[index].color) {
                        @if let Some((from, to)) = band(index) {
                            path d=(format!("M{} {}H{}", px(from), px(y), px(to))) stroke="currentColor" stroke-width="5"
                                opacity="0.35" {}
                        }
                        @if self.bar == Some(index) && rail != Rail::Zero && x > start {
                            rect x=(px(start)) y=(px(y - height / 2.0)) width=(px(x - start)) height=(height)
                                fill="currentColor" opacity="0.3" {}
                        }
                        (inks[index].mark(x, y, &format!("{}, {}: {}", shortened(&row.label, LONG_NAME), shortened(&self.series[index].name, LONG_NAME), number(value))))
                    }
                }
            }
            @if !row.note.is_empty() {
                text class="quiet" x=(px(WIDTH - 12.0)) y=(px(y + 4.0)) text-anchor="end" font-size=(SMALL) fill="#5a6169" {
                    (fitted(&row.note, 170.0, SMALL))
                }
            }
        }
    }

    /// The description with the first rows.
    fn words(&self, rows: &[&Row]) -> String {
        let row = |row: &&Row| {
            let values = self.series.iter().zip(&row.values);
            let values: Vec<String> = values
                .filter_map(|(series, value)| {
                    Some(format!("{} {}", shortened(&series.name, LONG_NAME), number((*value)?)))
                })
                .collect();
            format!("{}: {}", shortened(&row.label, LONG_NAME), values.join(", "))
        };
        let first: Vec<String> = rows.iter().take(5).map(row).collect();
        let kinds = key(self.series.iter().map(|series| series.kind));
        format!(
            "{} {kinds} {} in {} rows, starting with: {}.",
            self.description,
            self.x.label,
            self.rows.len(),
            first.join("; ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(kinds: &[SeriesKind]) -> Vec<RowSeries> {
        kinds.iter().map(|&kind| RowSeries { name: kind.words().into(), kind }).collect()
    }

    #[test]
    fn a_small_figure() {
        let figure = Rows {
            title: "Two queries".into(),
            description: "What it shows.".into(),
            x: Axis::log("nats"),
            series: series(&SeriesKind::ALL[..4]),
            bar: Some(0),
            rows: vec![
                Row {
                    label: "a".into(),
                    values: vec![Some(0.1), Some(0.2), Some(0.5), None],
                    bands: Vec::new(),
                    note: "50%".into(),
                },
                Row {
                    label: "b".into(),
                    values: vec![Some(0.0), Some(0.3), Some(f64::INFINITY), Some(0.4)],
                    bands: Vec::new(),
                    note: "0%".into(),
                },
            ],
            sorted_by: Some(1),
        };
        insta::assert_snapshot!(figure.draw().svg().replace("><", ">\n<"));
    }

    #[test]
    fn hostile_rows_are_well_formed() {
        let name = "</svg><script>\"'&\u{0}\u{7}\u{202e}\u{ffff}\n".repeat(300);
        let values = [f64::NAN, 0.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, 5e-324, f64::MAX];
        for x in [Axis::log(&name), Axis::linear(&name)] {
            let row = |value: f64| Row {
                label: name.clone(),
                values: vec![Some(value); 5],
                bands: vec![Some([0.0, value]); 5],
                note: name.clone(),
            };
            let figure = Rows {
                title: name.clone(),
                description: name.clone(),
                x,
                series: SeriesKind::ALL.map(|kind| RowSeries { name: name.clone(), kind }).to_vec(),
                rows: values
                    .into_iter()
                    .map(row)
                    .chain([Row { label: String::new(), values: vec![], bands: vec![], note: String::new() }])
                    .collect(),
                bar: Some(0),
                sorted_by: Some(0),
            };
            let svg = figure.draw().svg();
            roxmltree::Document::parse(&svg).unwrap();
            assert!(!svg.contains("\"NaN") && !svg.contains("<script"));
            let empty = Rows { rows: vec![], series: vec![], ..figure };
            roxmltree::Document::parse(&empty.draw().svg()).unwrap();
        }
    }

    #[test]
    fn the_largest_rows_come_first() {
        let row = |label: &str, lower, exact| Row {
            label: label.into(),
            values: vec![lower, exact],
            bands: Vec::new(),
            note: String::new(),
        };
        let figure = Rows {
            title: String::new(),
            description: String::new(),
            x: Axis::linear("nats"),
            series: series(&[SeriesKind::Lower, SeriesKind::Exact]),
            bar: None,
            rows: vec![row("a", Some(9.0), Some(1.0)), row("b", Some(0.0), Some(2.0)), row("c", Some(0.5), None)],
            sorted_by: Some(1),
        };
        let (rows, cut) = figure.shown();
        assert_eq!(rows.iter().map(|row| row.label.as_str()).collect::<Vec<_>>(), ["b", "a", "c"]);
        assert_eq!(cut, None);
    }

    /// Rows keep their order, and what has no guarantee chooses none.
    #[test]
    fn without_a_series_to_sort_by_the_largest_rows_are_drawn() {
        let row = |index: u32| Row {
            label: index.to_string(),
            values: vec![
                Some(f64::from(index * 7 % 300)),
                Some(f64::from(300 - index)),
                Some(1e9 / f64::from(index + 1)),
            ],
            bands: Vec::new(),
            note: String::new(),
        };
        let figure = Rows {
            title: String::new(),
            description: String::new(),
            x: Axis::linear("ε"),
            series: series(&[SeriesKind::Lower, SeriesKind::Lower, SeriesKind::Heuristic]),
            bar: Some(0),
            rows: (0..300).map(row).collect(),
            sorted_by: None,
        };
        let (rows, cut) = figure.shown();
        let size = |index: u32| (index * 7 % 300).max(300 - index);
        let mut sizes: Vec<u32> = (0..300).map(size).collect();
        sizes.sort_unstable();
        let least = sizes[300 - 40];
        let shown: Vec<u32> = rows.iter().map(|row| row.label.parse().unwrap()).collect();
        assert!(shown.len() == 40 && shown.is_sorted() && shown.iter().all(|&index| size(index) >= least), "{shown:?}");
        let words = "The largest 40 of 300 rows; 260 smaller ones are not shown here, and the table has them.";
        assert_eq!(cut.unwrap(), words);
    }
}
