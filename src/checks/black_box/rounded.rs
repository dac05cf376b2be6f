//! A program with rounded outputs.

use super::dataset::Dataset;
use super::grid::Grid;
use super::source::{BlackBox, Ran};
use crate::program::{Exchange, Stop};

/// A program whose outputs are rounded to a grid before anything looks at them.
pub struct RoundedBlackBox {
    inner: Box<dyn BlackBox>,
    grid: Grid,
}

impl RoundedBlackBox {
    /// With the outputs of this program.
    #[must_use]
    pub fn new(inner: Box<dyn BlackBox>, grid: Grid) -> Self {
        Self { inner, grid }
    }
}

impl BlackBox for RoundedBlackBox {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn grid(&self) -> Option<Grid> {
        Some(self.grid)
    }

    fn run(&self, dataset: &Dataset, runs: usize, seed: u64, stop: &Stop<'_>) -> Exchange<Ran> {
        match self.inner.run(dataset, runs, seed, stop) {
            Exchange::Answered(Ok(outputs)) => {
                Exchange::Answered(Ok(outputs.into_iter().map(|output| self.grid.output(output)).collect()))
            }
            other => other,
        }
    }
}
