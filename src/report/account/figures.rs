//! The figures of `leakbound account`.

use crate::report::{Axis, Curves, Drawing, Series, SeriesKind};
use crate::study::{AccountAnswer, ComposedEpsilonAt, CostCurve, CostMeaning, LossComposition, Number};
use easy_ext::ext;

const fn kind(meaning: CostMeaning) -> SeriesKind {
    match meaning {
        CostMeaning::DataIndependent | CostMeaning::AnyData | CostMeaning::DataDependent => SeriesKind::Upper,
        CostMeaning::Expected => SeriesKind::Heuristic,
        CostMeaning::ExactGivenVotes
        | CostMeaning::ExactOfOneVoter
        | CostMeaning::ExactOfScenario
        | CostMeaning::ExactOfOneAnswer => SeriesKind::Exact,
    }
}

#[ext(AccountAnswerFigures)]
impl AccountAnswer {
    pub(crate) fn profile(&self) -> Drawing {
        let series = |curve: &CostCurve| {
            Series::new(
                match curve.meaning {
                    // All of its figure holds for that.
                    CostMeaning::AnyData => curve.name.to_owned(),
                    _ => format!("{} ({})", curve.name, curve.holds_for()),
                },
                kind(curve.meaning),
                curve.profile.iter().map(|at| [at.delta, at.epsilon.0]).collect(),
            )
        };
        let ends = |losses: &LossComposition| {
            let end = |pick: fn(&ComposedEpsilonAt) -> Number| -> Vec<[f64; 2]> {
                losses.profile.iter().map(|at| [at.delta, pick(at).0]).collect()
            };
            [
                Series::new("privacy-loss, at most", SeriesKind::Upper, end(|at| at.upper)),
                Series::new("privacy-loss, at least", SeriesKind::Lower, end(|at| at.lower)),
            ]
        };
        let figure = Curves {
            title: format!("ε of {} {} together against δ", self.queries, self.summed),
            description: format!("By every accountant, {} conversion.", self.conversion),
            x: Axis::log("δ"),
            y: Axis::log("ε"),
            series: self.curves.iter().map(series).chain(self.losses.iter().flat_map(ends)).collect(),
        };
        figure.draw()
    }

    pub(crate) fn rdp(&self) -> Option<Drawing> {
        let series = |curve: &CostCurve| {
            let points = self.orders.iter().zip(&curve.rdp).map(|(order, rdp)| [*order, rdp.0]).collect();
            Series::new(curve.name, kind(curve.meaning), points)
        };
        let title = format!("Rényi divergence of {} {} together", self.queries, self.summed);
        let series = self.curves.iter().map(series).collect();
        (self.orders.len() > 1).then(|| Curves::of_orders(title, "By every accountant.", series).draw())
    }
}
