//! The saved state of an e-process: complete, so that it continues bit for bit as if never interrupted.

use super::history::Block;
use super::ratio::{LEVELS, Levels};
use super::{EProcess, MAX_OUTCOMES, Open};
use crate::counts::MAX_COUNT;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The version of the state; it changes with content or bets, because a process must continue as it began.
const FORMAT: &str = "leakbound.e-process/1";

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    format: String,
    outcomes: usize,
    horizon: Option<u64>,
    #[serde(default)]
    alone: bool,
    /// Outcome and its pilot counts of both worlds, if any.
    pilot: Vec<(usize, f64, f64)>,
    /// Outcome and its outputs in both worlds, if any.
    seen: Vec<(usize, u64, u64)>,
    blocks: Vec<Block>,
    open: Block,
    /// Level of each outcome that has one.
    levels: Vec<(usize, u8)>,
    left: u64,
}

impl From<EProcess> for State {
    fn from(process: EProcess) -> Self {
        let outcomes = process.outcomes();
        let ([p, q], [x, y]) = (&process.start, &process.seen);
        Self {
            format: FORMAT.to_owned(),
            outcomes,
            horizon: process.horizon,
            alone: process.alone,
            pilot: (0..outcomes).filter(|&c| p[c] + q[c] > 0.0).map(|c| (c, p[c], q[c])).collect(),
            seen: (0..outcomes).filter(|&c| x[c] + y[c] > 0).map(|c| (c, x[c], y[c])).collect(),
            open: Block::new(&process.open.levels, &process.open.table),
            levels: process.open.map.iter().copied().enumerate().filter(|&(_, level)| level > 0).collect(),
            left: process.open.left,
            blocks: process.blocks,
        }
    }
}

impl TryFrom<State> for EProcess {
    type Error = Error;

    fn try_from(state: State) -> Result<Self> {
        let reject = |reason: &str| Error::rejected("e-process state", reason.to_owned());
        if state.format != FORMAT {
            let found: String = state.format.chars().take(60).collect();
            return Err(Error::syntax("format of an e-process", found, FORMAT));
        }
        let outcomes = state.outcomes;
        if !(1..=MAX_OUTCOMES).contains(&outcomes) {
            return Err(reject("the number of outcomes is not in [1, 2^20]"));
        }
        let increasing = |outcomes: &mut dyn Iterator<Item = usize>| outcomes.is_sorted_by(|a, b| a < b);
        if !(increasing(&mut state.pilot.iter().map(|row| row.0))
            && increasing(&mut state.seen.iter().map(|row| row.0))
            && increasing(&mut state.levels.iter().map(|row| row.0)))
            || [
                state.pilot.last().map(|row| row.0),
                state.seen.last().map(|row| row.0),
                state.levels.last().map(|row| row.0),
            ]
            .iter()
            .any(|last| last.is_some_and(|last| last >= outcomes))
        {
            return Err(reject("outcomes are not listed in their order below their number"));
        }
        let all = || state.blocks.iter().chain([&state.open]);
        for block in all() {
            let known = |level: u8| usize::from(level) < block.levels.log_ratio.len();
            let sound = block.levels.is_sound()
                && block.pairs.iter().all(|&(x, y, count)| known(x) && known(y) && count > 0)
                && block.pairs.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1));
            if !sound {
                return Err(reject("a block holds impossible numbers"));
            }
        }
        let pairs = all().fold(0u64, |sum, block| sum.saturating_add(block.length()));
        let total = |of: &dyn Fn(&(usize, u64, u64)) -> u64| {
            state.seen.iter().fold(0u64, |sum, row| sum.saturating_add(of(row)))
        };
        if pairs > MAX_COUNT || total(&|row| row.1) != pairs || total(&|row| row.2) != pairs {
            return Err(reject("the number of pairs in the blocks differs from the number of outputs"));
        }
        if state.left > MAX_COUNT - pairs || (state.left == 0 && pairs < MAX_COUNT) {
            return Err(reject("the length of the open block is impossible"));
        }
        if !state.pilot.iter().all(|&(_, p, q)| p >= 0.0 && q >= 0.0 && p.is_finite() && q.is_finite()) {
            return Err(reject("a pilot count is not in [0, inf)"));
        }
        if state.horizon.is_some_and(|pairs| !(1..=MAX_COUNT).contains(&pairs)) {
            return Err(reject("the planned pairs are not in [1, 2^53]"));
        }
        let mut process = Self::new(outcomes)?;
        process.horizon = state.horizon;
        process.alone = state.alone && state.horizon.is_some();
        process.pairs = pairs;
        for (outcome, p, q) in state.pilot {
            (process.start[0][outcome], process.start[1][outcome]) = (p, q);
        }
        for (outcome, x, y) in state.seen {
            (process.seen[0][outcome], process.seen[1][outcome]) = (x, y);
        }
        let mut table = [0; LEVELS * LEVELS];
        for &(x, y, count) in &state.open.pairs {
            table[usize::from(x) * LEVELS + usize::from(y)] = count;
        }
        let mut map = vec![0; outcomes];
        for (outcome, level) in state.levels {
            if usize::from(level) >= state.open.levels.log_ratio.len() {
                return Err(reject("an outcome has a level that does not exist"));
            }
            map[outcome] = level;
        }
        let levels: Levels = state.open.levels;
        process.open = Open { levels, map, table, left: state.left };
        process.blocks = state.blocks;
        Ok(process)
    }
}
