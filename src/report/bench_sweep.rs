//! Presentation of the answer of `leakbound bench --sweep`.

use super::bench::readable_rate;
use super::document::Render;
use super::figure::Drawing;
use super::records::{Records, fields};
use super::section::{Form, Section, Table};
use super::words::distinct;
use super::{Axis, Curves, Series, SeriesKind};
use crate::study::{CostModel, SweepAnswer, SweepPoint, SweepRow, Varied, percent, short, significant};
use easy_ext::ext;

/// Digits of costs and ratios.
const DIGITS: usize = 3;

#[ext]
impl SweepAnswer {
    fn works(&self) -> Vec<&'static str> {
        distinct(self.rows.iter().map(|row| row.work))
    }

    fn varied(&self) -> Vec<Varied> {
        Varied::ALL.into_iter().filter(|varied| self.rows.iter().any(|row| row.varied == *varied)).collect()
    }

    fn row(&self, work: &str, varied: Varied, value: f64) -> Option<&SweepRow> {
        let is = |row: &&SweepRow| row.work == work && row.varied == varied && row.point.value(varied) == value;
        self.rows.iter().find(is)
    }

    fn rate_section(&self, varied: Varied) -> Section {
        let mut values: Vec<f64> =
            self.rows.iter().filter(|row| row.varied == varied).map(|row| row.point.value(varied)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let beside = if varied == Varied::Threads { "efficiency" } else { "÷ model" };
        let compared = |row: &SweepRow| {
            let ratio = row.ratio.map(|ratio| significant(ratio, DIGITS));
            if varied == Varied::Threads { row.efficiency.map(percent) } else { ratio }.unwrap_or_default()
        };
        let table = Table::of(values).short(varied.symbol(), |value| *value).each(self.works(), |table, work| {
            let cell = |value: &f64, write: &dyn Fn(&SweepRow) -> String| {
                self.row(work, varied, *value).map(write).unwrap_or_default()
            };
            table
                .exact(work, |value| cell(value, &|row| readable_rate(row.rate)))
                .exact(beside, |value| cell(value, &compared))
        });
        let title = format!("Rates against the {}", of(varied));
        Section::new(title)
            .heading(format!("Samples per second against the {}; {}", of(varied), others(varied)))
            .table(table)
    }

    fn setup_section(&self) -> Section {
        let slow = self.rows.iter().max_by(|a, b| a.setup_seconds.total_cmp(&b.setup_seconds));
        let note = slow.map(|row| {
            let SweepPoint { classes, voters, .. } = row.point;
            format!(
                "Before it draws, a sampler makes its tables, once for a query: at most {} s, for {} with C = {classes} and \
                 k = {voters}.",
                significant(row.setup_seconds, 2),
                row.work
            )
        });
        Section::new("Setup").heading("").notes(note)
    }

    fn model_section(&self) -> Section {
        let table = Table::of(&self.models)
            .words("work", |model| model.work)
            .words("nanoseconds of a sample, by the model", |model| formula(model))
            .number("measured ÷ model, at most", DIGITS, |model| model.largest_ratio)
            .words("at", |model| place(&model.at));
        Section::new("Cost model")
            .heading("Cost of a sample on one thread")
            .table(table)
            .notes(["The model is fitted to all points on one thread; no term is negative. C: classes, k: voters."])
    }

    fn growth_section(&self) -> Section {
        let times = |factor: f64| format!("{} times", significant(factor, DIGITS));
        let table = Table::of(&self.growth)
            .words("work", |row| row.work)
            .words("from", |row| format!("{} = {}", row.varied.symbol(), short(row.from)))
            .words("to", |row| format!("{} = {}", row.varied.symbol(), short(row.to)))
            .exact("cost, measured", |row| times(row.measured))
            .exact("by the model", |row| times(row.modeled));
        Section::new("Growth").heading("Growth of the cost of a sample").table(table)
    }

    fn rate_figure(&self, varied: Varied) -> Drawing {
        let of_work = |work: &'static str| self.rows.iter().filter(move |row| row.work == work && row.varied == varied);
        let measured = self.works().into_iter().map(|work| {
            let points = of_work(work).map(|row| [row.point.value(varied), row.rate]);
            Series::new(work, SeriesKind::Measured, points.collect())
        });
        let modeled = self.works().into_iter().map(|work| {
            let points = of_work(work).filter_map(|row| Some([row.point.value(varied), 1e9 / row.modeled?]));
            Series::new(format!("{work}, model"), SeriesKind::Reference, points.collect())
        });
        Curves {
            title: format!("Samples per second against the {}", of(varied)),
            description: format!("At {}. Both axes are logarithmic.", others(varied)),
            x: Axis::log(of(varied)),
            y: Axis::log("samples per second"),
            series: measured.chain(modeled).collect(),
        }
        .draw()
    }

    fn efficiency_figure(&self) -> Drawing {
        let series = self.works().into_iter().map(|work| {
            let rows = self.rows.iter().filter(|row| row.work == work);
            let points = rows.filter_map(|row| Some([row.point.threads as f64, row.efficiency?]));
            Series::new(work, SeriesKind::Measured, points.collect())
        });
        Curves {
            title: "Parallel efficiency against the number of threads".into(),
            description: format!(
                "The rate over that of one thread times the number of threads; 1 is the best. {} cores.",
                self.cores
            ),
            x: Axis::log("threads"),
            y: Axis::linear("efficiency"),
            series: series.collect(),
        }
        .draw()
    }
}

impl Render for SweepAnswer {
    fn title(&self, _: &str) -> String {
        format!("Speed of simulation against its parameters, on {} cores, {}", self.cores, self.machine)
    }

    fn sections(&self, _: Form) -> Vec<Section> {
        let rates = self.varied().into_iter().map(|varied| self.rate_section(varied));
        rates.chain([self.setup_section(), self.model_section(), self.growth_section()]).collect()
    }

    fn figures(&self) -> Vec<Drawing> {
        let figure = |varied| match varied {
            Varied::Threads => self.efficiency_figure(),
            Varied::Classes | Varied::Voters | Varied::Sigma => self.rate_figure(varied),
        };
        self.varied().into_iter().map(figure).collect()
    }

    fn meaning(&self) -> Vec<String> {
        let meaning = [
            "One quantity at a time changes around the base case: 10 classes, 250 voters, Gaussian noise of scale 40, one \
             thread. Votes follow Zipf's law: the c-th class has a probability proportional to 1/c.",
            "Each number is that of the fastest of four rounds. What else runs on the machine can only slow a round down.",
            "A column ÷ model has the measured cost of a sample over that of the cost model. Below 1 a sample is \
             cheaper than the model predicts.",
            "Efficiency is the rate on N threads over N times the rate on one. Threads that share a core, a cache or a clock \
             lower it.",
        ];
        meaning.map(str::to_owned).to_vec()
    }

    fn records(&self) -> Records<'_> {
        Records::of(&self.rows)
            .column("work", |row| row.work)
            .column("varied", |row| row.varied.name())
            .column("classes", |row| row.point.classes)
            .column("voters", |row| row.point.voters)
            .column("sigma", |row| row.point.sigma)
            .column("threads", |row| row.point.threads)
            .columns(fields!(row => setup_seconds, samples, seconds, rate, nanoseconds, modeled, ratio, efficiency))
            .into()
    }
}

/// What changes, in words.
const fn of(varied: Varied) -> &'static str {
    match varied {
        Varied::Classes => "number of classes C",
        Varied::Voters => "number of voters k",
        Varied::Sigma => "noise scale σ",
        Varied::Threads => "number of threads",
    }
}

/// What stays as it is.
fn others(varied: Varied) -> String {
    let base = SweepPoint::BASE;
    let named = |other: &Varied| match other {
        Varied::Threads => "1 thread".to_owned(),
        Varied::Classes | Varied::Voters | Varied::Sigma => {
            format!("{} = {}", other.symbol(), short(base.value(*other)))
        }
    };
    Varied::ALL.iter().filter(|other| **other != varied).map(named).collect::<Vec<_>>().join(", ")
}

fn place(point: &SweepPoint) -> String {
    format!("C = {}, k = {}, σ = {}", point.classes, point.voters, short(point.sigma))
}

/// The sum of the terms that cost something.
fn formula(model: &CostModel) -> String {
    let term = |cost: f64, term: &str| {
        let cost = significant(cost, DIGITS);
        if term == "1" { cost } else { format!("{cost} {term}") }
    };
    let terms = model.terms.iter().filter(|one| one.nanoseconds > 0.0).map(|one| term(one.nanoseconds, one.term));
    terms.collect::<Vec<_>>().join(" + ")
}
