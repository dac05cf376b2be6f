//! `audit votes`: text, and values in their order.

use super::{COUNTS, EXACT, FASHION, VOTES, json, stdout};
use crate::json::{curve, number, numbers, rows};

#[test]
fn prompt_votes_text() {
    insta::assert_snapshot!(stdout(VOTES), @"
    Audit of validation/data/prompt_votes.npz: prompt-pate, fixed votes, 10 classes, gaussian:40 noise, 3 queries
    1e5 outputs simulated per query and world, seed 0
    failure probability 0.05 for all numbers of this answer together, 0.00556 per query and method

    Rényi divergence of order 2, forward, per query (nats)
      query   label   k-cut-region     exact   gnmax-data-dependent   gnmax-data-independent   gnmax-worst-case   lower/exact   ε at least
      ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
          0       4        5.57e-5   5.72e-4                0.00125                  0.00125            8.01e-4         9.7 %            0
          1       9              0   4.18e-7                1.67e-5                  0.00125            8.01e-4         0.0 %            0
          2       2        2.12e-4   7.65e-4                0.00125                  0.00125            8.01e-4        27.8 %       0.0101

    leakage certified in 2 of 3 queries

    Mean over the queries, forward, per order (nats)
      order α   k-cut-region      exact   gnmax-data-dependent   gnmax-data-independent   gnmax-worst-case   lower/exact
      ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
            2       8.950e-5   4.458e-4               8.389e-4                 0.001250           8.001e-4        20.1 %
            8       3.596e-4   0.001810               0.003341                 0.005000           0.003205        19.9 %

    Composed: one answer to each of 3 queries (independent). The sum of the lower bounds is a bound: the outputs are independent under both datasets, so divergences add. Each ε is the larger of both directions, as differential privacy demands.
      curve                    RDP is      α = 2      α = 8   ε at δ = 1e-5   ε is
      ──────────────────────────────────────────────────────────────────────────────────────
      lower-sum                bound    2.685e-4   0.001078         0.01729   illustrative
      lower-joint              bound    4.009e-4   0.001479        0.001477   illustrative
      exact-sum                bound    0.001338   0.005429          0.1248   bound
      gnmax-data-dependent     bound    0.002517    0.01003          0.1917   bound
      gnmax-data-independent   bound    0.003750    0.01500          0.2210   bound
      gnmax-worst-case         bound    0.002401   0.009613          0.1852   bound
    ");
}

#[test]
fn pate_votes_text() {
    insta::assert_snapshot!(
        stdout(&format!("audit votes {FASHION} --model pate --noise gaussian:40 --queries 18,32 --samples 1e5 --failure-per query")),
        @"
    Audit of validation/data/fashion_votes.npz: pate, pois-advq, k = 250 teachers, 10 classes, gaussian:40 noise, 2 queries
    1e5 outputs simulated per query and world, seed 0
    failure probability 0.05 per query and method

    Rényi divergence of order 2, forward, per query (nats)
      query   label   k-cut-region     exact   gnmax-data-dependent   gnmax-data-independent   gnmax-worst-case   lower/exact   ε at least
      ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
         18       4              0   1.78e-4                0.00125                  0.00125            8.01e-4         0.0 %            0
         32       9              0   2.67e-7                1.54e-5                  0.00125            8.01e-4         0.0 %            0

    leakage certified in 0 of 2 queries

    Mean over the queries, forward, per order (nats)
      order α   k-cut-region      exact   gnmax-data-dependent   gnmax-data-independent   gnmax-worst-case   lower/exact
      ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
            2              0   8.907e-5               6.327e-4                 0.001250           8.001e-4         0.0 %
            4              0   1.774e-4               0.001259                 0.002500           0.001601         0.0 %
            8              0   3.519e-4               0.002511                 0.005000           0.003205         0.0 %
           16              0   6.902e-4               0.005019                  0.01000           0.006434         0.0 %
           32              0   0.001317                0.01011                  0.02000            0.01309         0.0 %
           64              0   0.002338                0.02548                  0.04000            0.02817         0.0 %

    Composed: one answer to each of 2 queries (shared-teachers). The sum of the lower bounds is illustrative: teachers trained once make the answers dependent, and a sum can overstate what they leak together; the largest single query bounds it. Each ε is the larger of both directions, as differential privacy demands.
      curve                    RDP is            α = 2      α = 4      α = 8     α = 16     α = 32     α = 64   ε at δ = 1e-5   ε is
      ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
      lower-sum                illustrative          0          0          0          0          0          0               0   illustrative
      lower-largest-query      bound                 0          0          0          0          0          0               0   illustrative
      exact-sum                illustrative   1.781e-4   3.549e-4   7.037e-4   0.001380   0.002633   0.004676         0.08259   illustrative
      gnmax-data-dependent     illustrative   0.001266   0.002517   0.005021    0.01004    0.02021    0.05095          0.1523   illustrative
      gnmax-data-independent   bound          0.002500   0.005000    0.01000    0.02000    0.04000    0.08000          0.1776   bound
      gnmax-worst-case         bound          0.001601   0.003201   0.006409    0.01287    0.02617    0.05634          0.1523   bound

    warning: bounds and exact values hold for the model fitted to the recorded votes, not for the training itself (hint: record more instantiations to see how much the fit matters)
    "
    );
}

#[test]
fn lower_exact_and_upper_values_are_in_order() {
    for arguments in
        [VOTES, &format!("audit votes {FASHION} --model pate --noise gaussian:40 --queries 18,32 --samples 1e5")]
    {
        let document = json(arguments);
        for query in rows(&document["queries"]) {
            for exact in rows(&query["exact"]) {
                let order = &exact["order"];
                let upper = |name: &str| {
                    let row = rows(&query["upper"]).iter().find(|row| row["name"] == name && &row["order"] == order);
                    number(&row.unwrap()["rdp"])
                };
                let (dependent, independent) = (upper("gnmax-data-dependent"), upper("gnmax-data-independent"));
                assert!(number(&exact["forward"]) <= dependent && dependent <= independent, "{query}");
                assert!(number(&exact["reverse"]) <= independent, "{query}");
                // These runs are of fixed seeds: here no bound happens to be wrong.
                for lower in rows(&query["lower"]).iter().filter(|lower| &lower["order"] == order) {
                    let direction = lower["direction"].as_str().unwrap();
                    assert!(number(&lower["rdp_lower"]) <= number(&exact[direction]), "{lower} {exact}");
                }
            }
        }
        let values = |name: &str| numbers(&curve(&document, name, "forward")["values"]);
        let names = ["lower-sum", "exact-sum", "gnmax-data-dependent", "gnmax-data-independent"];
        for pair in names.windows(2) {
            let (below, above) = (values(pair[0]), values(pair[1]));
            assert!(below.iter().zip(&above).all(|(below, above)| below <= above), "{pair:?}");
        }
    }
    let exact = json(EXACT);
    for (divergence, accountant) in rows(&exact["divergences"]).iter().zip(rows(&exact["accountants"])) {
        assert!(number(&divergence["forward"]) <= number(&accountant["rdp"]));
    }
}

#[test]
fn the_seed_decides_and_the_threads_do_not() {
    let counts = |more: &str| {
        let document = json(&format!("{VOTES} {more}"));
        rows(&document["queries"]).iter().map(|query| query["counts"].to_string()).collect::<Vec<_>>()
    };
    let once = counts("--threads 1");
    assert_eq!(once, counts("--threads 2"));
    assert_eq!(once, counts("--seed 0"));
    assert_ne!(once, counts("--seed 1"));
    // A query keeps its samples in other company.
    let alone = json(&VOTES.replace("0,1,2", "2"));
    assert_eq!(alone["queries"][0]["counts"].to_string(), once[2]);
    let pilot = |seed: u64| stdout(&format!("audit counts {COUNTS} --pilot-fraction 0.1 --format csv --seed {seed}"));
    assert_eq!(pilot(5), pilot(5));
    assert_ne!(pilot(5), pilot(6));
}
