//! Presentation of the answer of `leakbound calibrate`.

use super::document::Render;
use super::figure::Drawing;
use super::meaning;
use super::records::{Records, cells};
use super::section::{Form, Section, Table};
use super::{Axis, Curves, Series, SeriesKind};
use crate::study::{CalibrateAnswer, Goal, ProfileKind, short, significant, significant_above};
use easy_ext::ext;

/// Digits of bounds in text.
const DIGITS: usize = 6;

#[ext]
impl CalibrateAnswer {
    /// The scale, and what is known below it.
    fn facts(&self) -> Vec<(String, String)> {
        let too_little = match &self.too_little {
            Some(scale) => format!("{} certainly misses the goal", significant(scale.0, DIGITS)),
            None => "unknown: nothing is known from below".into(),
        };
        let facts = [
            (self.parameter.as_str(), short(self.scale.0)),
            ("smaller noise", too_little),
            ("mechanism", self.mechanism.clone()),
            ("bounded by", self.bound.to_string()),
        ];
        facts.map(|(name, value)| (name.to_owned(), value)).to_vec()
    }

    fn trade_off(&self) -> Drawing {
        let series = vec![
            Series::new(
                "any attacker, at most",
                SeriesKind::Upper,
                self.attacks.iter().map(|row| [row.fpr, row.tpr.0]).collect(),
            ),
            Series::new("guessing", SeriesKind::Reference, self.attacks.iter().map(|row| [row.fpr; 2]).collect()),
        ];
        Curves {
            title: "Trade-off: what any attacker achieves at most".into(),
            description: "The largest true-positive rate at each false-positive rate, of both directions.".into(),
            x: Axis::log("false-positive rate"),
            y: Axis::log("true-positive rate"),
            series,
        }
        .draw()
    }

    fn profile_figure(&self) -> Drawing {
        let points = self.profile.iter().map(|at| [at.delta, at.epsilon.0]).collect();
        Curves {
            title: "Privacy profile: ε at each δ, at most".into(),
            description: "The larger ε of both directions.".into(),
            x: Axis::log("δ"),
            y: Axis::log("ε"),
            series: vec![Series::new("ε, at most", SeriesKind::Upper, points)],
        }
        .draw()
    }
}

impl Render for CalibrateAnswer {
    fn title(&self, _: &str) -> String {
        let times = if self.times == 1 { String::new() } else { format!(", run {} times", self.times) };
        format!("Least noise for {}{times}", self.goal)
    }

    fn sections(&self, _: Form) -> Vec<Section> {
        let profile =
            Table::of(&self.profile).short("δ", |row| row.delta).number("ε at most", DIGITS, |row| row.epsilon.0);
        let attacks =
            Table::of(&self.attacks).short("FPR", |row| row.fpr).number("TPR at most", DIGITS, |row| row.tpr.0);
        let advantage =
            format!("Largest advantage, TPR - FPR: at most {}", significant_above(self.advantage.0, DIGITS));
        vec![
            Section::new("Result").heading("").facts(self.facts()),
            Section::new("What it guarantees: ε at each δ").table(profile),
            Section::new("What it guarantees: true-positive rate of any attacker").table(attacks).notes([advantage]),
        ]
    }

    fn figures(&self) -> Vec<Drawing> {
        vec![self.trade_off(), self.profile_figure()]
    }

    fn meaning(&self) -> Vec<String> {
        let least = "The goal is certain to hold at the printed scale: every bound used is a theorem, rounded to the \
                     safe side, and holds in both directions. At 0.9998 of the scale the bound misses the goal. Noise \
                     that certainly misses it has an exact leakage above the goal.";
        let mu = format!(
            "A goal for μ is met up to a δ of {}: δ(ε) is at most that of μ-GDP and as much more, at every ε.",
            short(Goal::SLACK)
        );
        let attackers = "An attacker sees all outputs and decides between a dataset and a neighbor. Its true-positive rate is the \
                         probability that it names the first when it is the first, its false-positive rate that it does so \
                         when it is the second; both assignments are covered.";
        let theorems = (self.bound == ProfileKind::RenyiDivergences).then_some(meaning::UPPER);
        [least, &mu, attackers].into_iter().chain(theorems).map(str::to_owned).collect()
    }

    fn records(&self) -> Records<'_> {
        let scale = std::iter::once(cells!["scale", &self.parameter, self.scale]);
        let too_little = self.too_little.map(|scale| cells!["too-little", &self.parameter, scale]);
        let profile = self.profile.iter().map(|row| cells!["epsilon", short(row.delta), row.epsilon]);
        let attacks = self.attacks.iter().map(|row| cells!["tpr", short(row.fpr), row.tpr]);
        let advantage = std::iter::once(cells!["advantage", "", self.advantage]);
        Records::with("kind,at,value", scale.chain(too_little).chain(profile).chain(attacks).chain(advantage))
    }
}
