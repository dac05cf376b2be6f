//! `audit votes`: archives, queries and models.

use super::votes;
use crate::arrays::Stored;
use crate::desk::Desk;
use ndarray::{Array1, Array2, Array3, array};

#[test]
fn archives_of_votes() {
    let desk = Desk::new();
    let three: (&str, &dyn Stored) = ("pate_votes", &Array3::<u8>::zeros((1, 2, 3)));
    let both = |first: &dyn Stored, second: &dyn Stored| {
        votes(&desk, "prompt-pate", &[("histogram", first), ("histogram_prime", second)])
    };
    let pair = |first: Array2<u8>, second: Array2<u8>| both(&first, &second);
    let lines = [
        votes(&desk, "pate", &[]),
        votes(&desk, "pate", &[("votes", &array![[1u8]])]),
        votes(&desk, "pate", &[("pate_votes", &Array3::<f64>::zeros((1, 2, 3)))]),
        votes(&desk, "pate", &[("pate_votes", &Array2::<u8>::zeros((2, 3)))]),
        votes(&desk, "pate", &[three]),
        votes(
            &desk,
            "pate",
            &[three, ("adv_query", &array![0i32, 1]), ("pate_pois_advq", &Array2::<u8>::zeros((1, 3)))],
        ),
        pair(Array2::zeros((1, 0)), Array2::zeros((1, 0))),
        pair(Array2::zeros((0, 3)), Array2::zeros((0, 3))),
        pair(Array2::zeros((1, 3)), Array2::zeros((1, 3))),
        pair(array![[2, 1]], array![[2, 1, 0]]),
        pair(array![[2, 1]], array![[9, 1]]),
        votes(&desk, "prompt-pate", &[("votes", &Array1::<u8>::zeros(3))]),
        both(&array![[3i64, -1]], &array![[3i64, 0]]),
        both(&array![[3u64, 1 << 60]], &array![[3u64, 0]]),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r"
    v.npz: whole file: found an archive without arrays, expected at least 1 array
    v.npz: whole file: found arrays `votes`, expected the array `pate_votes`
    v.npz: array `pate_votes`: found dtype `f64`, expected an integer dtype; hint: numpy converts with .astype(numpy.int64)
    v.npz: array `pate_votes`: found shape [2, 3], expected 3 axes
    v.npz: whole file: found arrays `pate_votes`, expected the array `pate_pois_advq`
    v.npz: array `pate_pois_advq`: found 1 row, expected 2 rows, one per entry of `adv_query`
    v.npz: array `histogram`: found shape [1, 0], expected at least 1 entry on axis 1
    v.npz: array `histogram`: found shape [0, 3], expected at least 1 entry on axis 0
    v.npz: array `histogram`: found 0 votes on query 0, expected at least 1 vote
    v.npz: array `histogram_prime`: found 3 classes, expected 2 as in `histogram`
    v.npz: array `histogram_prime`: found 10 votes on query 0, expected 3 as in `histogram`, or one more or less
    v.npz: array `votes`: found shape [3], expected 2 axes
    v.npz: array `histogram`, index [0, 1]: found `-1`, expected a whole number of at least 0
    v.npz: array `histogram`, index [0, 1]: found `1152921504606846976`, expected a whole number from 0 to 2^49
    ");
}

#[test]
fn queries_and_models_that_the_file_does_not_have() {
    let desk = Desk::new();
    let votes = array![[[0u8, 1, 1], [1, 0, 0]]];
    let (query, poisoned) = (array![1i32], array![[0u8, 1]]);
    desk.arrays("v.npz", &[("pate_votes", &votes), ("adv_query", &query), ("pate_pois_advq", &poisoned)]);
    let rows = r"
        --model pate --noise gaussian:1 --queries 0 => 1: v.npz: --queries: found position 0, expected each of the recorded positions at most once: 1
        --model pate --noise gaussian:1 --queries 1,99999999999 => 1: v.npz: --queries: found position 99999999999, expected each of the recorded positions at most once: 1
        --model pate --noise gaussian:1 --adversary nat-advq => 1: v.npz: whole file: found arrays `pate_votes`, `adv_query`, `pate_pois_advq`, expected the array `pate_nat_advq`
        --model prompt-pate --noise gaussian:1 => 1: v.npz: whole file: found arrays `pate_votes`, `adv_query`, `pate_pois_advq`, expected either `votes` and `votes_prime` or `histogram` and `histogram_prime`
        --model pate --noise laplace:1 => 2: exact distribution of random votes: only Gaussian noise is supported, not laplace:1
    ";
    desk.rejects("audit votes v.npz", rows);
}
