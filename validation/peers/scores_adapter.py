"""Gives mechanisms of the zoo to jax_privacy's CanaryScoreAuditor and to privacy-estimates.

Neither searches: both want a pair of worlds, a score of each output and, for the second, a threshold. They are given the
hand-chosen pair of zoo.toml and the output itself as the score, in both directions with half of the failure probability
each. Only mechanisms with a pure or approximate claim and a single number as output can be given to them.
Prints one JSON line for each mechanism.

    target/peers-scores/bin/python validation/peers/scores_adapter.py RUNS NAME...
"""

import importlib
import json
import pathlib
import sys
import time
import tomllib

import numpy as np
from jax_privacy import auditing
from privacy_estimates import AttackResults, compute_eps_lo

HERE = pathlib.Path(__file__).resolve().parent
ZOO = HERE.parent / "zoo"
sys.path.insert(0, str(ZOO))
FAILURE = 0.05


def jax_privacy(worlds, delta):
    """With its defaults: Clopper-Pearson limits for all thresholds at once."""
    bounds = []
    for first, second in (worlds, worlds[::-1]):
        for sign in (1, -1):
            auditor = auditing.CanaryScoreAuditor(sign * first, sign * second)
            bounds.append(auditor.epsilon_clopper_pearson(significance=FAILURE / 4, delta=delta))
    return max(bounds)


def privacy_estimates(worlds, delta):
    """Its own method, joint beta, at the threshold that half of the outputs choose, on the other half."""
    halves = [np.array_split(world, 2) for world in worlds]
    candidates = np.unique(np.quantile(np.concatenate([half[0] for half in halves]), np.linspace(0, 1, 100)))
    best, chosen = -1.0, None
    for threshold in candidates:
        for inside in (lambda x, t=threshold: x > t, lambda x, t=threshold: x <= t):
            p, q = (np.mean(inside(half[0])) for half in halves)
            for order, (a, b) in enumerate(((p, q), (q, p))):
                # Ratios of small probabilities are mostly chance.
                ratio = np.log((a - delta) / b) if b > 0 and a > max(delta, 0.01) else -1.0
                if ratio > best:
                    best, chosen = ratio, (inside, order)
    if chosen is None:
        return 0.0
    inside, order = chosen
    first, second = (halves[order][1], halves[1 - order][1])
    hits, false = int(np.sum(inside(first))), int(np.sum(inside(second)))
    results = AttackResults(TP=hits, FN=len(first) - hits, FP=false, TN=len(second) - false)
    return compute_eps_lo(results, delta=delta, alpha=FAILURE, method="joint-beta")


def main():
    table = {entry["name"]: entry for entry in tomllib.loads((ZOO / "zoo.toml").read_text())["mechanism"]}
    runs = int(sys.argv[1])
    for name in sys.argv[2:]:
        entry = table[name]
        script, variant = entry["arguments"]
        answer = {"name": name, "runs": runs}
        try:
            mechanism = importlib.import_module(script.removesuffix(".py")).VARIANTS[variant]
            rng = np.random.default_rng(0)
            worlds = [np.asarray(mechanism(entry["pair"][world], runs, rng), dtype=float) for world in ("dataset", "neighbor")]
            if any(world.ndim != 1 for world in worlds):
                raise ValueError("an output is more than one number")
            for tool in (jax_privacy, privacy_estimates):
                start = time.time()
                bound = float(tool(worlds, entry.get("delta", 0.0)))
                answer[tool.__name__] = [bound, round(time.time() - start, 2)]
        except Exception as error:  # noqa: BLE001 - what they cannot take is a finding
            answer["error"] = f"{type(error).__name__}: {error}"
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
