"""ROC, AUC and TPR at FPR of 10^6 scores with ties, by scikit-learn: writes ../roc.json.

Score and truth of guess i come from the 64-bit product z = (i + 1) * 0x9E3779B97F4A7C15 mod 2^64, mixed as in splitmix64:
the lowest bit is the truth (1 = member), the next `bits` bits the score, plus `shift` for members. With 12 bits every
score is met hundreds of times, with 40 bits almost none twice.
"""
import hashlib
import json
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve

N = 1_000_000
FPRS = [0.0, 0.0001, 0.001, 0.01, 0.1, 0.5, 1.0]


def guesses(bits, shift):
    with np.errstate(over="ignore"):
        z = (np.arange(N, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    truth = (z & np.uint64(1)).astype(np.int64)
    score = ((z >> np.uint64(1)) & np.uint64(2**bits - 1)).astype(np.float64) + shift * truth
    return truth, score


rows = []
for bits, shift in [(12, 300), (40, 2**37), (3, 0), (1, 1)]:
    truth, score = guesses(bits, shift)
    fpr, tpr, thresholds = roc_curve(truth, score, drop_intermediate=False)
    members, others = int(truth.sum()), int(N - truth.sum())
    # Counts are whole; scikit-learn hands back quotients.
    tp, fp = np.rint(tpr * members).astype("<u4"), np.rint(fpr * others).astype("<u4")
    at = [float(tpr[np.flatnonzero(fpr <= f)[-1]]) for f in FPRS]
    rows.append({
        "guesses": N, "bits": bits, "shift": shift, "members": members, "points": len(tp),
        "auc": float(roc_auc_score(truth, score)), "fprs": FPRS, "tprs": at,
        "balanced_accuracy": float((1 + np.max(tpr - fpr)) / 2),
        "threshold_sum": float(np.sum(thresholds[1:])),
        "counts_sha256": hashlib.sha256(np.stack([tp, fp], 1).tobytes()).hexdigest(),
    })
out = Path(__file__).resolve().parent.parent / "roc.json"
out.write_text(json.dumps(rows, indent=1) + "\n")
