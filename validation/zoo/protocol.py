"""The audit's JSON-lines protocol, shared by every program of the zoo.

A request is one line `{"id": 7, "dataset": [...], "runs": 1000, "seed": 123}`; the answer is one line
`{"id": 7, "outputs": [...]}` with exactly `runs` outputs, or `{"id": 7, "error": "reason"}`.
"""

import json
import math
import sys

import numpy as np

# Runs are drawn in pieces so that a request for millions of vectors needs little memory.
PIECE = 1 << 16


def grid(values, digits=6):
    """Round to a decimal grid, so that an output shows the mechanism and not its floating point.

    The noise is a double, and the doubles that `x + noise` can reach depend on x (Mironov 2012). Rounding
    after the noise is post-processing. What remains are the gaps in the far tail of the generator, which
    draws its uniform numbers on a grid of 2^-53: events of probability near 1e-10.
    """
    return np.round(values, digits) + 0.0  # the sum turns -0.0 into 0.0


def number(record, low, high):
    """One record as a number in [low, high]; what is not a number counts as `low`."""
    try:
        value = float(record)
    except OverflowError:  # an integer beyond the range of doubles
        value = math.inf if record > 0 else -math.inf
    except (TypeError, ValueError):
        return float(low)
    return float(low) if math.isnan(value) else min(max(value, low), high)


def numbers(dataset, low, high):
    """The records as numbers in [low, high]. Clamping moves no two vectors further apart."""
    return np.array([number(record, low, high) for record in dataset], dtype=float)


def labels(dataset, names):
    """The records as indices into `names`; every unknown record counts as the last name."""
    place = {name: index for index, name in enumerate(names)}
    last = len(names) - 1
    return np.array([place.get(r, last) if isinstance(r, str) else last for r in dataset], dtype=int)


def counts(dataset, names):
    """How many records carry each name."""
    return np.bincount(labels(dataset, names), minlength=len(names)).astype(float)


def draw(weights, runs, rng):
    """Draw `runs` indices with probabilities proportional to `weights`."""
    edges = np.cumsum(weights) / np.sum(weights)
    return np.searchsorted(edges[:-1], rng.random(runs), side="right")


def _plain(value):
    """JSON has no infinities: they and NaN travel as strings."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return value


def _encode(outputs):
    """The outputs as JSON text without the outer brackets."""
    if isinstance(outputs, np.ndarray):
        outputs = outputs.tolist()
    try:
        return json.dumps(outputs, allow_nan=False)[1:-1]
    except ValueError:
        return json.dumps(_plain(outputs), allow_nan=False)[1:-1]


def _answer(mechanism, request):
    dataset, runs = request.get("dataset"), request.get("runs")
    if not isinstance(dataset, list):
        raise TypeError("the dataset is not an array")
    if isinstance(runs, bool) or not isinstance(runs, int) or runs < 1:
        raise ValueError("runs is not a positive integer")
    rng = np.random.default_rng(request.get("seed"))
    pieces = []
    for start in range(0, runs, PIECE):
        size = min(PIECE, runs - start)
        outputs = mechanism(dataset, size, rng)
        if len(outputs) != size:
            raise ValueError(f"{len(outputs)} outputs for {size} runs")
        pieces.append(_encode(outputs))
    return ", ".join(pieces)


def serve(mechanism):
    """Answer requests until the end of standard input."""
    for line in sys.stdin:
        if not line.strip():
            continue
        name = None
        try:
            request = json.loads(line)
            name = request.get("id")
            text = f'{{"id": {json.dumps(name)}, "outputs": [{_answer(mechanism, request)}]}}'
        except Exception as error:  # noqa: BLE001 - a request that fails must not end the program
            text = json.dumps({"id": name, "error": str(error) or type(error).__name__})
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def main(variants):
    """Serve the variant that the first argument names."""
    if len(sys.argv) != 2 or sys.argv[1] not in variants:
        sys.exit(f"usage: python3 {sys.argv[0]} " + "|".join(variants))
    serve(variants[sys.argv[1]])
