"""The audits of `opacus_audit.py` by `leakbound torch dpsgd`: the same claims, networks, canaries and seeds.

    python torch_audit.py LEAKBOUND IMAGES RUNS.jsonl

takes the program, the folder of Fashion-MNIST and the lines that `opacus_audit.py` left, and prints the medians of both.
"""

from __future__ import annotations

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile


def main() -> None:
    program, images, runs = sys.argv[1:]
    rows = [json.loads(line) for line in pathlib.Path(runs).read_text().splitlines()]
    cells: dict[tuple[float, int], list[list[float]]] = {}
    accuracies: dict[float, list[float]] = {}
    for row in rows:
        if row["null"]:
            continue
        bounds = cells.setdefault((row["epsilon"], row["canaries"]), [[], [], []])
        bounds[0].append(row["audits"]["gradients"]["epsilon"])
        for place, kind in ((1, "dirac"), (2, "images")):
            found, accuracy = audited(program, images, row, kind)
            bounds[place].append(found)
            accuracies.setdefault(row["epsilon"], []).append(accuracy)
    print("| claimed ε | canaries | Opacus, gradients | torch dpsgd, gradients | torch dpsgd, images | accuracy |")
    print("|---|---|---|---|---|---|")
    for (epsilon, canaries), bounds in sorted(cells.items()):
        medians = " | ".join(f"{statistics.median(one):.2f} ({min(one):.2f} to {max(one):.2f})" for one in bounds)
        print(f"| {epsilon:g} | {canaries} | {medians} | {100 * statistics.mean(accuracies[epsilon]):.1f} % |")


def audited(program: str, images: str, row: dict, kind: str) -> tuple[float, float]:
    """The bound of ε of one training, and its accuracy."""
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
        run += ["--seed", str(seed), "--device", "cpu", "--quiet", "--format", "json"]
        document = json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
        run = [program, "canaries", "audit", plan, recording, "--quiet", "--format", "json"]
        answer = json.loads(subprocess.run(run, check=False, capture_output=True, text=True).stdout)
    accuracy = next(fact["value"] for fact in document["facts"] if fact["name"] == "mean-accuracy")
    return max(float(line["lower"]) for line in answer["epsilon"]), float(accuracy)


if __name__ == "__main__":
    main()
