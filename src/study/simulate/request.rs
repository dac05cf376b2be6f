//! What is simulated, how much of it, and where it is saved.

use crate::error::Result;
use crate::record::{PartialSimulation, Scenario};
use crate::simulate::{Shard, Simulation};
use crate::study::votes::Sampling;

/// What do the mechanisms of a scenario print?
///
/// ```
/// # use leakbound::record::scenario_from_bytes;
/// # use leakbound::simulate::Simulation;
/// # use leakbound::study::{SimulateStudy, Study, unwatched};
/// let text = b"model = 'prompt-pate'\nnoise = 'gaussian:4'\nhistogram = [3, 1]\nhistogram_neighbor = [2, 2]\n";
/// let scenario = scenario_from_bytes("votes.toml", text)?;
/// let mut study = SimulateStudy::new(scenario, Simulation::new(100_000)?.seed(1));
/// study.distributions = true;
/// let answer = study.run(&unwatched)?;
/// assert_eq!(answer.queries[0].counts.iter().sum::<u64>(), 100_000);
/// assert!(answer.distributions[0].distributions.as_ref().unwrap().p_value > 1e-6);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub struct SimulateStudy<'a> {
    /// The queries, and how they compose; its samples and seed are not read.
    pub scenario: Scenario,
    /// Outputs per query and world, and the seed.
    pub simulation: Simulation,
    /// The part that is drawn.
    pub shard: Shard,
    /// How counts are drawn.
    pub sampling: Sampling,
    /// Whether counts are compared with the computed distributions.
    pub distributions: bool,
    /// Where it is saved, if anywhere.
    pub checkpoints: Option<&'a dyn Checkpoints>,
}

impl SimulateStudy<'_> {
    /// All outputs, drawn one by one; nothing is compared and nothing saved.
    #[must_use]
    pub const fn new(scenario: Scenario, simulation: Simulation) -> Self {
        Self {
            scenario,
            simulation,
            shard: Shard::WHOLE,
            sampling: Sampling::MonteCarlo,
            distributions: false,
            checkpoints: None,
        }
    }
}

/// Where a simulation is saved, to be resumed.
pub trait Checkpoints: Sync {
    /// What was saved of a simulation earlier, or the simulation as given, with nothing drawn yet.
    ///
    /// # Errors
    /// Those of reading, also for what was saved of another simulation.
    fn resume(&self, simulation: PartialSimulation) -> Result<PartialSimulation>;

    /// Whether it is time to save; called after each block of samples, on any thread.
    fn is_due(&self) -> bool;

    /// Saves the finished work.
    ///
    /// # Errors
    /// Those that end the simulation.
    fn save(&self, simulation: &PartialSimulation, moment: SaveMoment) -> Result<()>;
}

/// Why a simulation is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaveMoment {
    /// It is [time](Checkpoints::is_due); the simulation continues.
    Due,
    /// The progress callback broke off.
    Interrupted,
    /// All of the shard is drawn.
    Complete,
}
