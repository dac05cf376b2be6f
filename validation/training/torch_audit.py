"""The audits of `opacus_audit.py` by `leakbound torch dpsgd`: the same claims, networks, canaries and seeds.

    python torch_audit.py LEAKBOUND IMAGES RUNS.jsonl OURS.jsonl

takes the program, the folder of Fashion-MNIST and the lines that `opacus_audit.py` left, and prints the medians of both.
Each training leaves a line in OURS.jsonl; those that are there are not run again.
"""

from __future__ import annotations

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

KINDS = ("dirac", "images")


def main() -> None:
    program, images, runs, file = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
    theirs = [row for row in map(json.loads, runs.read_text().splitlines()) if not row["null"]]
    ours = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    done = {key(row) for row in ours}
    wanted = [(row, kind) for row in theirs for kind in KINDS if key({**row, "kind": kind}) not in done]
    with ThreadPoolExecutor(2) as workers, file.open("a") as lines:
        for row in workers.map(lambda one: audited(program, images, *one), wanted):
            print(json.dumps(row), file=lines, flush=True)
            ours.append(row)
    print(
        "| claimed ε | canaries | Opacus, gradients | torch dpsgd, gradients | torch dpsgd, images "
        "| Opacus, accuracy | torch dpsgd, accuracy | torch dpsgd, refuted |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for epsilon, canaries in sorted({(row["epsilon"], row["canaries"]) for row in theirs}):

        def in_cell(rows: list[dict]) -> list[dict]:
            return [row for row in rows if (row["epsilon"], row["canaries"]) == (epsilon, canaries)]

        opacus, own = in_cell(theirs), in_cell(ours)
        bounds = [[row["audits"]["gradients"]["epsilon"] for row in opacus]]
        bounds += [[row["lower"] for row in own if row["kind"] == kind] for kind in KINDS]
        medians = " | ".join(f"{statistics.median(one):.2f} ({min(one):.2f} to {max(one):.2f})" for one in bounds)
        accuracies = " | ".join(f"{100 * statistics.mean(row['accuracy'] for row in of):.1f} %" for of in (opacus, own))
        refuted = sum(row["refuted"] for row in own)
        print(f"| {epsilon:g} | {canaries} | {medians} | {accuracies} | {refuted} of {len(own)} |")


def key(row: dict) -> tuple:
    return row["epsilon"], row["canaries"], row["seed"], row["kind"]


def audited(program: str, images: str, row: dict, kind: str) -> dict:
    """A training with the canaries of a plan, audited."""
    # Images that are canaries come beside the others; half of them are expected to take part.
    others = 60_000 - row["canaries"]
    expected = others + row["canaries"] // 2 if kind == "images" else others
    batch = round(row["rate"] * expected)
    epochs = round(row["steps"] * batch / expected)
    claim = f"subsampled-gaussian:sigma={row['sigma']},rate={batch / expected}"
    with tempfile.TemporaryDirectory() as folder:
        plan, recording = f"{folder}/plan.json", f"{folder}/run.npz"
        run = [program, "canaries", "plan", "--canaries", str(row["canaries"]), "--mechanism", claim]
        run += ["--times", str(row["steps"]), "--seed", str(3 * row["seed"] + 1), "--format", "json", "--output", plan]
        subprocess.run([*run, "--quiet"], check=True)
        run = [program, "torch", "dpsgd", "--data", images, "--recording", recording, "--canary-plan", plan]
        run += ["--canary-kind", kind, "--hidden", "32", "--images", str(others), "--batch", str(batch)]
        run += ["--epochs", str(epochs), "--learning-rate", "0.5", "--noise-multiplier", str(row["sigma"])]
        # A training of its own: with one seed the noise of all claims would be the same but for its scale.
        seed = 1000 * row["seed"] + round(10 * row["epsilon"]) + row["canaries"] // 1000
        run += ["--seed", str(seed), "--device", "cpu", "--threads", "1", "--quiet", "--format", "json"]
        document = json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
        run = [program, "canaries", "audit", plan, recording, "--quiet", "--format", "json"]
        answer = json.loads(subprocess.run(run, check=False, capture_output=True, text=True).stdout)
    accuracy = next(fact["value"] for fact in document["facts"] if fact["name"] == "mean-accuracy")
    return {
        **{name: row[name] for name in ("epsilon", "canaries", "seed")},
        "kind": kind,
        "lower": max(float(line["lower"]) for line in answer["epsilon"]),
        "refuted": any(claim["refuted"] for claim in answer["claims"]),
        "accuracy": float(accuracy),
    }


if __name__ == "__main__":
    main()
