//! `audit counts` as text.

use super::{COUNTS, stdout};

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

    warning: 0.1 of the outputs were set aside as a pilot, and not bounded (hint: choose yourself: --pilot-fraction F, --pilot FILE, --distribution FILE or --methods NAME)
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
