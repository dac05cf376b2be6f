//! ROC, AUC and TPR at FPR of 10^6 scores, with and without ties, against scikit-learn: validation/reference/roc.json.

use crate::json::reference;
use leakbound::quantity::Probability;
use leakbound::roc::Roc;
use serde::Deserialize;
use sha2::{Digest, Sha256};

#[derive(Deserialize)]
struct Row {
    guesses: u64,
    bits: u32,
    shift: u64,
    members: u64,
    points: usize,
    auc: f64,
    fprs: Vec<f64>,
    tprs: Vec<f64>,
    balanced_accuracy: f64,
    threshold_sum: f64,
    counts_sha256: String,
}

/// Scores of members and of non-members, as validation/reference/scripts/roc.py makes them.
fn guesses(row: &Row) -> [Vec<f64>; 2] {
    let mut classes = [Vec::new(), Vec::new()];
    for i in 1..=row.guesses {
        let mut z = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        let score = (z >> 1 & ((1 << row.bits) - 1)) as f64;
        if z & 1 == 1 { classes[0].push(score + row.shift as f64) } else { classes[1].push(score) }
    }
    classes
}

#[test]
fn a_million_scores_as_scikit_learn_has_them() {
    let rows: Vec<Row> = reference("roc.json");
    for row in &rows {
        let [members, non_members] = guesses(row);
        let roc = Roc::new(&members, &non_members).unwrap();
        assert_eq!((roc.members(), roc.len()), (row.members, row.points), "{} bits", row.bits);
        assert!((roc.auc() - row.auc).abs() < 1e-12, "{} {}", roc.auc(), row.auc);
        for (fpr, tpr) in row.fprs.iter().zip(&row.tprs) {
            let found = roc.tpr(roc.at_fpr(Probability::new(*fpr).unwrap()));
            assert!((found - tpr).abs() < 1e-12, "{fpr}: {found} {tpr}");
        }
        assert!((roc.best_threshold().balanced_accuracy - row.balanced_accuracy).abs() < 1e-12);
        let sum: f64 = roc.points().filter_map(|point| point.threshold).sum();
        assert!((sum / row.threshold_sum - 1.0).abs() < 1e-12, "{sum} {}", row.threshold_sum);
        let mut digest = Sha256::new();
        for point in roc.points() {
            digest.update((point.true_positives as u32).to_le_bytes());
            digest.update((point.false_positives as u32).to_le_bytes());
        }
        let digest: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest, row.counts_sha256, "{} bits", row.bits);
    }
}
