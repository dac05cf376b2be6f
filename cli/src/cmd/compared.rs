//! The attacks that `leakbound membership compare` runs.

use crate::args::values::Choice;
use leakbound::membership::Victims;
use leakbound::study::{Attack, compared_attacks};
use std::sync::LazyLock;

/// An attack of several on these victims, with this seed, as its own command runs it by default.
pub type Compared = fn(&Victims, u64) -> Attack;

pub static COMPARED: LazyLock<Vec<(&str, &str, Compared)>> =
    LazyLock::new(|| compared_attacks().into_iter().map(|attack| (attack.name, attack.about, attack.build)).collect());

/// Each once, in the order of the user; all of them where none is named.
pub fn wanted(asked: &[Choice<Compared>]) -> Vec<(&'static str, Compared)> {
    if asked.is_empty() {
        return COMPARED.iter().map(|&(name, _, build)| (name, build)).collect();
    }
    let mut wanted: Vec<(&'static str, Compared)> = Vec::new();
    for attack in asked {
        if wanted.iter().all(|(name, _)| *name != attack.name) {
            wanted.push((attack.name, attack.value));
        }
    }
    wanted
}
