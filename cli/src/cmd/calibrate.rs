//! `leakbound calibrate`: how much noise is enough.

use super::conclude::{Asked, conclude};
use crate::args::{CalibrateOptions, Common};
use crate::output::Output;
use leakbound::Result;
use leakbound::study::{CalibrateStudy, Goal, Verdict};

pub fn run(common: &Common, options: &CalibrateOptions) -> Result<Verdict> {
    let output = Output::open(common, &[])?;
    let study = CalibrateStudy {
        family: options.mechanism.0.clone(),
        histogram: options.histogram.clone(),
        times: options.times,
        goal: goal(options),
    };
    conclude(common, output, &study, Asked { options, inputs: Vec::new(), title: String::new(), warnings: Vec::new() })
}

/// The parser asks for one of the goals.
fn goal(options: &CalibrateOptions) -> Goal {
    let (rate, prior, delta) = (options.fpr, options.prior, options.delta);
    let goals = [
        options.epsilon.map(|epsilon| Goal::Epsilon { epsilon, delta }),
        options.mu.map(Goal::Mu),
        options.tpr.map(|most| Goal::TruePositiveRate { most, rate }),
        options.advantage.map(Goal::Advantage),
        options.posterior.map(|most| Goal::Posterior { most, prior, rate }),
    ];
    let Some(goal) = goals.into_iter().flatten().next() else { unreachable!("the parser asks for a goal") };
    goal
}
