//! Results as text, and values in their order.

use super::{CONFUSION, COUNTS, EXACT, FASHION, VOTES, json, stdout};
use crate::desk::Desk;
use crate::json::{curve, number, numbers, rows};

#[test]
fn exact_text() {
    insta::assert_snapshot!(stdout(EXACT), @"
    Noisy argmax with gaussian:2 noise
    histogram 14,12,10,8,6
    neighbor 13,13,10,8,6

      class                     P                     Q                 ln P                 ln Q
      ─────────────────────────────────────────────────────────────────────────────────────────────
          0     0.725072624332703     0.469361676047780   -0.321483457650907   -0.756381643449271
          1     0.222155515073695     0.469361676047780    -1.50437762400833   -0.756381643449271
          2    0.0463940302708682    0.0537403730696977    -3.07058448598250    -2.92359073369575
          3   0.00595012012195728   0.00702356067725816    -5.12434387106414    -4.95848497055384
          4   4.27710200776447e-4   5.12714157484807e-4    -7.75706469270849    -7.57579206597130

    Rényi divergence in nats; the accountants bound both directions from above, or the one they name
      order α              D(P‖Q)              D(Q‖P)   gnmax-data-dependent   gnmax-data-independent   gnmax-worst-case
      ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
            2   0.239564145745804   0.312352841854614               0.500000                 0.500000           0.325858
           10   0.399220743846952   0.664022700391515                2.50000                  2.50000            2.29550

    Privacy profile: the smallest δ at each ε
        ε         δ, P over Q         δ, Q over P
      ─────────────────────────────────────────────
      0.1   0.206347749905454   0.226796583781866
        1                   0                   0

    Largest true-positive rate of any test at a false-positive rate
        FPR   TPR, P over Q   TPR, Q over P
      ───────────────────────────────────────
      0.001      0.00154481      0.00211276
       0.01       0.0154481       0.0211276
        0.1        0.154481        0.211276
    ");
}

#[test]
fn exact_text_of_the_worst_neighbor() {
    insta::assert_snapshot!(
        stdout("exact --histogram 14,12,10,8,6 --worst-neighbor moved --noise gaussian:2 --orders 2,10 --epsilons 0.1,1"),
        @"
    Noisy argmax with gaussian:2 noise
    histogram 14,12,10,8,6
    worst of 20 neighbors; distributions are those of the worst change, first order

      class                     P                     Q                 ln P                 ln Q
      ─────────────────────────────────────────────────────────────────────────────────────────────
          0     0.725072624332703     0.893694619565266   -0.321483457650907   -0.112391151016555
          1     0.222155515073695    0.0721531287014547    -1.50437762400833    -2.62896463085692
          2    0.0463940302708682    0.0302429116181826    -3.07058448598250    -3.49849344863572
          3   0.00595012012195728   0.00365872245223339    -5.12434387106414    -5.61064124927019
          4   4.27710200776447e-4   2.50617662863795e-4    -7.75706469270849    -8.29158203568840

    Rényi divergence in nats; the accountants bound both directions from above, or the one they name
      order α              D(P‖Q)              D(Q‖P)   worst P‖Q   worst Q‖P   gnmax-data-dependent   gnmax-data-independent   gnmax-worst-case
      ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
            2   0.302950835564604   0.312352841854614       1 → 0       0 → 1               0.500000                 0.500000           0.325858
           10    1.62938674902069    1.41267345937468       4 → 0       0 → 4                2.50000                  2.50000            2.29550

    Privacy profile: the smallest δ at each ε
        ε          δ, P over Q          δ, Q over P
      ───────────────────────────────────────────────
      0.1    0.206347749905454    0.226796583781866
        1   0.0260229764580637   0.0221268188371491

    Largest true-positive rate of any test at a false-positive rate
        FPR   TPR, P over Q   TPR, Q over P
      ───────────────────────────────────────
      0.001      0.00643507      0.00493370
       0.01       0.0470892       0.0358731
        0.1        0.265255        0.221260
    "
    );
}

#[test]
fn exact_text_with_laplace_noise() {
    insta::assert_snapshot!(
        stdout("exact --histogram 14,12,10,8,6 --neighbor 13,13,10,8,6 --noise laplace:2 --orders 2,10 --epsilons 0.1,1"),
        @"
    Noisy argmax with laplace:2 noise
    histogram 14,12,10,8,6
    neighbor 13,13,10,8,6

      class                     P                    Q                 ln P                 ln Q
      ────────────────────────────────────────────────────────────────────────────────────────────
          0     0.649518482584630    0.437859323975037   -0.431523986641061   -0.825857598333621
          1     0.235175932169026    0.437859323975037    -1.44742139740698   -0.825857598333621
          2    0.0783271995278915   0.0844052326564061    -2.54686036047126    -2.47212588100339
          3    0.0271881601967489   0.0293164206463533    -3.60497368732925    -3.52960748832611
          4   0.00979022552170343   0.0105596987471668    -4.62637078678028    -4.55071052884136

    Rényi divergence in nats; the accountants bound both directions from above, or the one they name
      order α              D(P‖Q)              D(Q‖P)   lnmax-data-dependent   lnmax-data-independent
      ─────────────────────────────────────────────────────────────────────────────────────────────────
            2   0.179638515846255   0.218615220311269               0.400608                 0.400608
           10   0.346679291154166   0.530043797277209               0.857381                 0.857381

    Privacy profile: the smallest δ at each ε
        ε         δ, P over Q         δ, Q over P
      ─────────────────────────────────────────────
      0.1   0.165609091519156   0.177949723110498
        1                   0                   0

    Largest true-positive rate of any test at a false-positive rate
        FPR   TPR, P over Q   TPR, Q over P
      ───────────────────────────────────────
      0.001      0.00148340      0.00186184
       0.01       0.0148340       0.0186184
        0.1        0.148340        0.186184
    "
    );
}

#[test]
fn long_histograms_are_shortened_in_text_only() {
    let histogram = (0..10_000).map(|class| (class % 97).to_string()).collect::<Vec<_>>().join(",");
    let arguments = format!("exact --histogram {histogram} --neighbor {histogram} --noise gaussian:20 --orders 2");
    let text = stdout(&arguments);
    assert!(text.lines().all(|line| line.chars().count() < 200), "{}", &text[..500]);
    assert!(text.contains("... (10000 classes)") && text.contains("(9960 more classes in the JSON document)"));
    assert_eq!(rows(&json(&arguments)["outcomes"]).len(), 10_000);
}

#[test]
fn numbers_far_from_1_are_short() {
    let text = stdout("exact --histogram 5,3 --neighbor 4,4 --noise laplace:1e300 --orders 1e250");
    assert!(text.contains("laplace:1e300") && text.contains(" 1e250 "), "{text}");
}

/// The change that is worst at the first order is not the one that is worst at order 10 or at ε.
#[test]
fn claims_are_tested_on_every_neighbor_searched() {
    let worst = "exact --histogram 14,12,10,8,6 --worst-neighbor moved --noise gaussian:2 --orders 2,10";
    let document = json(worst);
    let [forward, reverse] = ["forward", "reverse"].map(|direction| number(&document["divergences"][1][direction]));
    let largest = forward.max(reverse);
    for (value, status) in [(largest * (1.0 - 1e-9), 3), (largest * (1.0 + 1e-9), 0)] {
        Desk::root().run(&format!("{worst} --claim-rdp 10:{value}")).printed(status);
    }
    // A claim at an order that is not among --orders is searched as well.
    Desk::root().run(&format!("{worst} --claim-rdp 64:1.7")).printed(3);
}

#[test]
fn confusion_text() {
    insta::assert_snapshot!(stdout(CONFUSION), @"
    Confusion matrix of an attack: TP 90, FN 10, FP 5, TN 95; forward is members against non-members
    failure probability 0.05 for all numbers of this answer together

    Rényi divergence in nats, at least
      method           direction    α = 2    α = 4    α = 8   α = 16   α = 32   α = 64        validity
      ──────────────────────────────────────────────────────────────────────────────────────────────────
      two-cut-corner   forward     1.7999   1.9233   1.9602   1.9750   1.9817   1.9848   finite-sample
      two-cut-corner   reverse     1.5000   1.5763   1.5991   1.6083   1.6124   1.6143   finite-sample

    Differential privacy, at least
      method            direction      δ   ε at least        validity
      ─────────────────────────────────────────────────────────────────
      clopper-pearson   forward     1e-5      1.98796   finite-sample
      clopper-pearson   reverse     1e-5      1.61627   finite-sample

    output set 1: {positive} (declared, two tails)
    two-cut-corner: there is one output set

    Samples per world to certify D, if it is as it looks, at α = 2, forward
         D   method           half of D   nine tenths
      ─────────────────────────────────────────────────
      2.60   two-cut-corner          50         1.3e3
    ");
}

#[test]
fn counts_text() {
    insta::assert_snapshot!(stdout(&format!("audit counts {COUNTS}")), @"
    Audit of validation/data/counts.csv (1 query); forward is D(P‖Q) with P the column count
    failure probability 0.05 for all numbers of this answer together, 0.0250 per query and method

    Rényi divergence in nats, at least
      method              direction      α = 2     α = 4     α = 8    α = 16    α = 32    α = 64        validity
      ────────────────────────────────────────────────────────────────────────────────────────────────────────────
      k-cut-variational   forward     0.062748   0.11219   0.17047   0.21363   0.23547   0.23866   finite-sample
      k-cut-variational   reverse     0.066531   0.12666   0.20496   0.26496   0.29594   0.30931   finite-sample

    Differential privacy, at least
      method            direction      δ   ε at least        validity
      ─────────────────────────────────────────────────────────────────
      clopper-pearson   forward     1e-5     0.257720   finite-sample
      clopper-pearson   reverse     1e-5     0.328853   finite-sample

    output set 1: {9} (pilot, two tails)
    output set 2: {0, 9} (pilot, two tails)
    output set 3: {0, 7, 9} (pilot, two tails)
    output set 4: {0, 2, 3, 4, 5, 6, 7, 9} (pilot, two tails)
    output set 5: {0, 2, 3, 4, 5, 6, 7, 8, 9} (pilot, two tails)
    k-cut-variational: expected to certify 91 % of the divergence if the pilot is right; next two-cut-half-space with 88 %

    Samples per world to certify D, if it is as it looks, at α = 2, forward
           D   method              half of D   nine tenths
      ──────────────────────────────────────────────────────
      0.0715   k-cut-variational       2.0e3         4.2e4

    warning: 0.1 of the outputs were set aside as a pilot, and not bounded (hint: choose yourself: a pilot fraction, a recorded pilot, the distribution or the methods)
    ");
}

#[test]
fn counts_text_with_a_pilot() {
    insta::assert_snapshot!(stdout(&format!("audit counts {COUNTS} --pilot-fraction 0.1 --failure-per query")), @"
    Audit of validation/data/counts.csv (1 query); forward is D(P‖Q) with P the column count
    failure probability 0.05 per query and method

    Rényi divergence in nats, at least
      method              direction      α = 2     α = 4     α = 8    α = 16    α = 32    α = 64        validity
      ────────────────────────────────────────────────────────────────────────────────────────────────────────────
      k-cut-variational   forward     0.064145   0.11436   0.17320   0.21658   0.23845   0.24216   finite-sample
      k-cut-variational   reverse     0.068195   0.12964   0.20919   0.26970   0.30074   0.31394   finite-sample

    Differential privacy, at least
      method            direction      δ   ε at least        validity
      ─────────────────────────────────────────────────────────────────
      clopper-pearson   forward     1e-5     0.259471   finite-sample
      clopper-pearson   reverse     1e-5     0.331097   finite-sample

    output set 1: {9} (pilot, two tails)
    output set 2: {0, 9} (pilot, two tails)
    output set 3: {0, 7, 9} (pilot, two tails)
    output set 4: {0, 2, 3, 4, 5, 6, 7, 9} (pilot, two tails)
    output set 5: {0, 2, 3, 4, 5, 6, 7, 8, 9} (pilot, two tails)
    k-cut-variational: expected to certify 92 % of the divergence if the pilot is right; next two-cut-half-space with 89 %

    Samples per world to certify D, if it is as it looks, at α = 2, forward
           D   method              half of D   nine tenths
      ──────────────────────────────────────────────────────
      0.0715   k-cut-variational       1.3e3         3.0e4
    ");
}

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
