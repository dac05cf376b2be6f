//! `leakbound exact`.

use super::conclude::{Asked, conclude};
use crate::args::{Common, ExactOptions};
use crate::output::Output;
use leakbound::histogram::{Changes, VoteHistogram};
use leakbound::mechanism::{Mechanism, NoisyArgmax, Relation};
use leakbound::study::{ExactStudy, Searched, Verdict};
use leakbound::{Error, Result};
use std::sync::Arc;

pub fn run(common: &Common, options: &ExactOptions) -> Result<Verdict> {
    let output = Output::open(common, &[])?;
    let mechanism = mechanism(options)?;
    let relation = mechanism.kind().relation;
    let histogram = match &options.histogram {
        Some(histogram) => histogram.clone(),
        None if relation == Relation::OneRecord => VoteHistogram::new(vec![0])?,
        None => {
            let (words, example) = relation.data_in_words();
            let example = VoteHistogram::new(example.to_vec())?;
            return Err(missing("--histogram", &format!("the {words}, such as {example}"), &*mechanism));
        }
    };
    let searched = match (&options.neighbor, options.worst_neighbor) {
        (Some(neighbor), _) => Searched::Neighbor(neighbor.clone()),
        (None, Some(changes)) => {
            searchable(options, &histogram, changes)?;
            Searched::All(changes)
        }
        (None, None) if relation == Relation::OneRecord => Searched::Neighbor(other_count(&histogram)?),
        (None, None) => {
            let (data, change) = (relation.data_in_words().0, words(relation.changes()));
            let expected = format!("the {data} of the neighbor, or --worst-neighbor {change}");
            return Err(missing("--neighbor", &expected, &*mechanism));
        }
    };
    let study = ExactStudy {
        mechanism,
        histogram,
        searched,
        orders: options.orders.0.clone(),
        epsilons: options.epsilons.clone(),
        deltas: options.deltas.clone(),
        claims: options.claims.claims(),
    };
    conclude(common, output, &study, Asked { options, inputs: Vec::new(), title: String::new(), warnings: Vec::new() })
}

/// The parser asks for one of the two options.
fn mechanism(options: &ExactOptions) -> Result<Arc<dyn Mechanism>> {
    if let Some(named) = &options.mechanism {
        return Ok(Arc::clone(&named.mechanism));
    }
    let Some(noise) = options.noise else { unreachable!("the parser asks for one of the two") };
    Ok(Arc::new(NoisyArgmax { noise, test: options.threshold.test()? }))
}

/// With the record where it is missing, and without it where it is not.
fn other_count(histogram: &VoteHistogram) -> Result<VoteHistogram> {
    VoteHistogram::new(vec![u64::from(histogram.counts() != [1])])
}

/// Rejects the search of a named mechanism where there is no such neighbor, with what there may be.
fn searchable(options: &ExactOptions, histogram: &VoteHistogram, changes: Changes) -> Result<()> {
    let Some(named) = &options.mechanism else { return Ok(()) };
    if histogram.number_of(changes, false) > 0 {
        return Ok(());
    }
    let kind = named.mechanism.kind();
    let of_kind = words(kind.relation.changes());
    let reason = format!("no vote of this histogram can be {changes}; neighbors of {kind} have a vote {of_kind}");
    Err(Error::Rejected { operation: "--worst-neighbor", reason })
}

fn words(changes: &[Changes]) -> String {
    changes.iter().map(|changes| changes.name()).collect::<Vec<_>>().join(" or ")
}

fn missing(operation: &'static str, expected: &str, mechanism: &dyn Mechanism) -> Error {
    let reason = format!("{} needs {expected}", mechanism.kind());
    Error::Rejected { operation, reason }
}
