"""Audits recorded scores by jax_privacy: its bound of one run with a threshold chosen on a random half.

    python jax_privacy_audits.py FOLDER RUNS.jsonl

reads the scores that `opacus_run.py` left, and prints how often the bounds of leakbound on the same scores, in the lines
of JSON, are at least as high.
"""

from __future__ import annotations

import json
import pathlib
import sys

import numpy as np
from jax_privacy import auditing


def main() -> None:
    folder, runs = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    counts: dict[str, list[int]] = {}
    for line in runs.read_text().splitlines():
        row = json.loads(line)
        if row["null"]:
            continue
        for name, audit in row["audits"].items():
            stem = f"{row['epsilon']:g}-{row['canaries']}-{row['seed']}-{name.replace(' ', '-')}"
            found = np.load(folder / f"{stem}.npz")
            auditor = auditing.CanaryScoreAuditor(found["scores"][found["coins"]], found["scores"][~found["coins"]])
            theirs = auditor.epsilon_one_run(0.05, 1e-5, threshold_strategy=auditing.Split(seed=row["seed"]))
            print(f"{stem}: {audit['epsilon']:.4f} and {theirs:.4f}")
            count = counts.setdefault(name, [0, 0, 0])
            count[0] += audit["epsilon"] >= theirs
            count[1] += theirs > row["claimed"]
            count[2] += 1
    for name, (at_least, refuted, all_of_them) in counts.items():
        print(f"{name}: at least as high in {at_least} of {all_of_them} runs; jax_privacy above the claim in {refuted}")


if __name__ == "__main__":
    main()
