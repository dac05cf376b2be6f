//! The attacks: one file and one line of the list for each.

mod label_only;
mod lira;
mod made;
mod risk;
mod rmia;
mod threshold;
mod trained;

pub use made::{Attack, ComparedAttack, MembershipAttack};

use crate::membership::Victims;

const COMPARED: &[&[ComparedAttack]] = &[
    // What a comparison runs of each attack.
    lira::COMPARED,
    rmia::COMPARED,
    risk::COMPARED,
    label_only::COMPARED,
    threshold::COMPARED,
    trained::COMPARED,
];

/// The attacks that a comparison runs by default: those on the samples, those on their nearest neighbors, those on an
/// encoder.
///
/// ```
/// # use leakbound::membership::Victims;
/// # use leakbound::study::{LooksAt, compared_attacks};
/// let names: Vec<&str> = compared_attacks().iter().map(|attack| attack.name).collect();
/// assert_eq!((names[0], names[3]), ("lira", "rmia"));
/// let last = compared_attacks().pop().unwrap();
/// assert_eq!((last.build)(&Victims::LeaveOneOut, 0).looks_at(), LooksAt::Encoder);
/// ```
#[must_use]
pub fn compared_attacks() -> Vec<ComparedAttack> {
    let mut all = COMPARED.concat();
    all.sort_by_key(|attack| (attack.build)(&Victims::LeaveOneOut, 0).looks_at());
    all
}
