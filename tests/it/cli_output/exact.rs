//! `exact` as text.

use super::{EXACT, json, stdout};
use crate::desk::Desk;
use crate::json::{number, rows};

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
    assert!(text.contains("... (10000 classes)") && text.contains("(9960 more classes in --format json)"));
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
