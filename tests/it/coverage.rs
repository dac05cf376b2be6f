//! Coverage of every bound on a few cases: a small version of the experiment `coverage` of the validation package.
//!
//! False-alarm rate: a method that is wrong in exactly 5 % of its audits would miss the limit of three standard errors
//! with probability 0.0013; the seed is fixed: the test gives the same figures on every machine with the same sampler.

use leakbound::audit::Method;
use leakbound::bound::Validity;
use leakbound_validation::coverage::{CASES, allowed, simulate};

#[test]
fn no_bound_exceeds_the_truth_more_often_than_it_says() {
    const AUDITS: u64 = 1000;
    let valid: Vec<Method> =
        Method::ALL.into_iter().filter(|method| method.validity() == Validity::FiniteSample).collect();
    for case in ["P = Q, C = 5, n 1e3", "figure 6, n 1e3", "rare class, n 1e4"] {
        let case = CASES.iter().find(|known| known.name() == case).expect("a known case");
        for row in simulate(case, &valid, AUDITS).unwrap() {
            println!("{}: {row:?}", case.name());
            assert!(row.wrong as f64 <= allowed(AUDITS), "{}: {row:?}", case.name());
        }
    }
}
