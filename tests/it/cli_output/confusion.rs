//! `audit confusion` as text.

use super::{CONFUSION, stdout};

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
