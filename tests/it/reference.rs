//! Every entry of every table in `validation/reference` against the library, at the accuracy that the documentation
//! promises.

use crate::desk::{Desk, names};
use leakbound_validation::tables::ALL;

/// Checks one table and prints its worst errors.
fn check(file: &str) {
    let table = ALL.iter().find(|table| table.file == file).expect("a known table");
    let check = table.check();
    println!("{}", check.line());
    println!("{:?}", check.set_aside);
    assert!(check.passed(), "{}\n{}", check.line(), check.failures.join("\n"));
}

macro_rules! tables {
    ($($name:ident $file:literal)*) => {
        $(
            #[test]
            fn $name() {
                check($file);
            }
        )*

        #[test]
        fn no_table_is_forgotten() {
            // The last six are held against the library by src/attacks/membership/embeddings/tests.rs and lira/tests.rs,
            // train/src/rand_augment/operation/tests.rs, roc.rs, rounding.rs and verdicts.rs.
            let tested = [
                $($file,)*
                "encoder_scores.json",
                "membership.json",
                "rand_augment.json",
                "roc.json",
                "rounding.json",
                "verdicts.json",
            ];
            let files = names(&Desk::root().path("validation/reference"));
            for file in files.iter().filter(|name| name.ends_with(".json")) {
                assert!(tested.contains(&file.as_str()), "{file} is in no test");
            }
        }
    };
}

tables! {
    clopper_pearson "cp.json"
    clopper_pearson_more "cp_more.json"
    argmax "argmax.json"
    argmax_more "argmax_more.json"
    renyi "renyi.json"
    renyi_more "renyi_more.json"
    tails "tails.json"
    accountants "accountants.json"
    conversions "conversions_more.json"
    gnmax "gnmax_more.json"
    pate_costs "pate_costs.json"
    hockey_stick "hockey_more.json"
    distributions_of_random_votes "distributions.json"
    random_votes "random_votes_more.json"
    displaced_votes "displaced_votes.json"
    two_cut "two_cut_more.json"
    simultaneous_intervals "simul.json"
    simultaneous_intervals_more "simultaneous_more.json"
    berk_jones "berk_jones.json"
    k_cut "k_cut.json"
    linear_bounds "linear_bounds.json"
    epsilon_bounds "epsilon_bounds.json"
    one_run "one_run.json"
    worst_case "worst_case.json"
    selection "selection.json"
    local "local.json"
    discrete_noise "discrete_noise.json"
    more_noise "more_noise.json"
    above_threshold "above_threshold.json"
    mechanisms "mechanisms.json"
    subsampling "subsampling.json"
    best_of_runs "best_of_runs.json"
}
