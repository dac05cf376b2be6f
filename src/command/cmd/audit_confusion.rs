//! `leakbound audit confusion`: two outcomes, one declared output set.

use super::audit_counts::{Asked, AuditedQuery, finish};
use crate::command::args::{Common, ConfusionOptions};
use crate::command::output::{Output, envelope};
use crate::study::{Warning, significant};
use crate::{Composition, Guide, OutputSet, PairedCounts, Result};

pub fn run(common: &Common, options: &ConfusionOptions) -> Result<bool> {
    let output = Output::open(common, &[])?;
    // P is the world of members: the positive answer is the declared set, more likely under P.
    let counts = PairedCounts::new(
        vec!["positive".into(), "negative".into()],
        vec![options.true_positives, options.false_negatives],
        vec![options.false_positives, options.true_negatives],
    )?;
    let query = AuditedQuery { name: String::new(), counts, guide: Guide::declared(OutputSet::new(vec![true, false])) };
    let title = format!(
        "Confusion matrix of an attack: TP {}, FN {}, FP {}, TN {}; forward is members against non-members",
        options.true_positives, options.false_negatives, options.false_positives, options.true_negatives
    );
    let envelope = envelope("leakbound.audit-confusion/1", common, options, Vec::new(), contradicted(&query));
    let asked = Asked { bound: &options.bound, further: &options.further, composition: Composition::PerQuery };
    finish(output, envelope, title, &[query], asked, common.seed)
}

/// Bounds of a declared direction are 0 where the attack answers the other way round, which may be a slip.
fn contradicted(query: &AuditedQuery) -> Vec<Warning> {
    let rate = |counts: &[u64]| counts[0] as f64 / (counts[0] + counts[1]) as f64;
    let (members, others) = (rate(query.counts.counts()), rate(query.counts.counts_neighbor()));
    if members >= others {
        return Vec::new();
    }
    vec![Warning {
        code: "direction-contradicted",
        message: format!(
            "members are called members less often than others are ({} against {})",
            significant(members, 3),
            significant(others, 3)
        ),
        hint: "if the attack's answer means the opposite, exchange --tp with --fn and --fp with --tn; decide before \
               looking at the counts"
            .into(),
    }]
}
