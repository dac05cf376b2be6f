//! Privacy losses in both directions.

use crate::divergence::{EnclosedLoss, LossCell};

/// Forward and reverse.
pub type BothLosses = [EnclosedLoss; 2];

/// From cells of the forward loss.
pub(super) fn of_cells(cells: &[LossCell]) -> BothLosses {
    let exchanged: Vec<LossCell> = cells.iter().map(|cell| cell.exchanged()).collect();
    [cells, &exchanged].map(EnclosedLoss::of_cells)
}

/// Between two numbers of records, from cells of the loss between none and one.
pub(super) fn of_records(cells: &[LossCell], records: [usize; 2]) -> BothLosses {
    if records[0] != records[1] {
        let mut both = of_cells(cells);
        both.rotate_left(records[0]);
        return both;
    }
    let alike = |cell: &LossCell| {
        let own = if records[0] == 0 { cell.p } else { cell.q };
        LossCell { p: own, q: own, losses: [0.0; 2] }
    };
    let loss = EnclosedLoss::of_cells(&cells.iter().map(alike).collect::<Vec<_>>());
    [loss.clone(), loss]
}
