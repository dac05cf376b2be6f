//! `leakbound exact`.

use super::conclude::{Asked, conclude};
use crate::args::{Common, ExactOptions};
use crate::output::Output;
use leakbound::Result;
use leakbound::mechanism::NoisyArgmax;
use leakbound::study::{ExactStudy, Searched, Verdict};

pub fn run(common: &Common, options: &ExactOptions) -> Result<Verdict> {
    let output = Output::open(common, &[])?;
    let study = ExactStudy {
        mechanism: NoisyArgmax { noise: options.noise, test: options.threshold.test()? },
        histogram: options.histogram.clone(),
        searched: match (&options.neighbor, options.worst_neighbor) {
            (Some(neighbor), _) => Searched::Neighbor(neighbor.clone()),
            (None, Some(adjacency)) => Searched::All(adjacency),
            (None, None) => unreachable!("the parser asks for one of the two"),
        },
        orders: options.orders.0.clone(),
        epsilons: options.epsilons.clone(),
        claims: options.claims.claims(),
    };
    conclude(common, output, &study, Asked { options, inputs: Vec::new(), title: String::new(), warnings: Vec::new() })
}
