//! The methods that use the Clopper-Pearson limits at output sets: `two-cut-paper`, `two-cut-corner` and
//! `clopper-pearson`.

use super::method::{Bounds, Draws, Guarantee, MethodRow, Needs, rectangles, sure};
use super::output_set::OutputSets;

pub(super) const TWO_CUT_PAPER: MethodRow = MethodRow {
    name: "two-cut-paper",
    when: "To reproduce published numbers. `two-cut-corner` is never below it.",
    guarantee: Guarantee::Published,
    needs: Needs::Nothing,
    draws: Draws::Nothing,
    bounds: Bounds::Renyi(|task| {
        // It needs all four limits, whatever is declared.
        let undirected = OutputSets { directed: false, ..task.guide.sets.clone() };
        let rectangles = rectangles(task.counts, &undirected, task.failure)?;
        Ok(sure(move |order, direction| task.largest(rectangles.iter().map(|r| r.termwise(order, direction)))))
    }),
};

pub(super) const TWO_CUT_CORNER: MethodRow = MethodRow {
    name: "two-cut-corner",
    when: "One output set is declared beforehand, and you want ε and every Rényi order from the same limits.",
    guarantee: Guarantee::OutputSets,
    needs: Needs::Nothing,
    draws: Draws::Nothing,
    bounds: Bounds::Renyi(|task| {
        let rectangles = rectangles(task.counts, &task.guide.sets, task.failure)?;
        Ok(sure(move |order, direction| task.largest(rectangles.iter().map(|r| r.corner(order, direction)))))
    }),
};

pub(super) const CLOPPER_PEARSON: MethodRow = MethodRow {
    name: "clopper-pearson",
    when: "ε at δ with a guarantee. This is the default for ε.",
    guarantee: Guarantee::OutputSets,
    needs: Needs::Nothing,
    draws: Draws::Nothing,
    bounds: Bounds::Epsilon(|task| {
        Ok(task.of_rectangles(|rectangle, direction| Ok(rectangle.epsilon(task.delta, direction))))
    }),
};
