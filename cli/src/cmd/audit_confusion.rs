//! `leakbound audit confusion`: two outcomes, one declared output set.

use super::conclude::{Asked, conclude};
use crate::args::{Common, ConfusionOptions};
use crate::output::Output;
use leakbound::Result;
use leakbound::study::{ConfusionStudy, Verdict};

pub fn run(common: &Common, options: &ConfusionOptions) -> Result<Verdict> {
    let output = Output::open(common, &[])?;
    let study = ConfusionStudy {
        true_positives: options.true_positives,
        false_negatives: options.false_negatives,
        false_positives: options.false_positives,
        true_negatives: options.true_negatives,
        bounds: options.bound.bounds(),
        epsilons: options.further.epsilons.clone(),
        trade_off: options.further.trade_off,
        forecasts: !output.has_bounds_alone(),
        seed: common.seed,
    };
    let title = format!(
        "Confusion matrix of an attack: TP {}, FN {}, FP {}, TN {}; forward is members against non-members",
        options.true_positives, options.false_negatives, options.false_positives, options.true_negatives
    );
    conclude(common, output, &study, Asked { options, inputs: Vec::new(), title, warnings: Vec::new() })
}
