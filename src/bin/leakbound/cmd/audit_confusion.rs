//! `leakbound audit confusion`: two outcomes, one declared output set.

use super::audit_counts::{AuditedQuery, finish};
use crate::args::{Common, ConfusionOptions};
use crate::output::{Output, envelope};
use leakbound::{OutputSet, OutputSets, PairedCounts, Result};

pub fn run(common: &Common, options: &ConfusionOptions) -> Result<bool> {
    let output = Output::open(common)?;
    // P is the world of members: the positive answer is the declared set, more likely under P.
    let counts = PairedCounts::new(
        vec!["positive".into(), "negative".into()],
        vec![options.true_positives, options.false_negatives],
        vec![options.false_positives, options.true_negatives],
    )?;
    let query =
        AuditedQuery { name: String::new(), counts, sets: OutputSets::declared(OutputSet::new(vec![true, false])) };
    let title = format!(
        "Confusion matrix of an attack: TP {}, FN {}, FP {}, TN {}; forward is members against non-members",
        options.true_positives, options.false_negatives, options.false_positives, options.true_negatives
    );
    let envelope = envelope("leakbound.audit-confusion/1", common, options, Vec::new(), Vec::new());
    finish(output, envelope, title, vec![query], &options.bound)
}
