"""Gives mechanisms of the zoo to PyStatDP, the release of StatDP (Ding et al. 2018) in the package index.

Its `detect_counterexample` wants a function of a list of numbers that gives one output per call, a number or some
numbers. It makes its own neighbors and events, and returns a p-value; small ones speak against the claim. All settings
are its defaults but the processes. Prints one JSON line for each mechanism.

    target/peers-statdp/bin/python validation/peers/statdp_adapter.py NAME...
"""

import importlib
import json
import pathlib
import sys
import time
import tomllib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ZOO = HERE.parent / "zoo"
sys.path.insert(0, str(ZOO))

from pystatdp import pystatdp  # noqa: E402
from pystatdp.generators import ALL_DIFFER, ONE_DIFFER  # noqa: E402

EVENTS, TESTS = 100_000, 500_000
BLOCK = 10_000


MECHANISM = None
LEFT = {}


def one_by_one(queries, epsilon):
    """The mechanism, which is run a block at a time, hands out its outputs one by one."""
    # Its worker is a copy of this process, which has drawn nothing yet.
    key = tuple(queries.tolist())
    if not LEFT.get(key):
        outputs = MECHANISM(list(key), BLOCK, np.random.default_rng())
        # It takes numbers of numpy, and tuples of several outputs.
        LEFT[key] = list(map(tuple, outputs)) if np.ndim(outputs) > 1 else list(np.asarray(outputs))
    return LEFT[key].pop()


def main():
    global MECHANISM
    table = {entry["name"]: entry for entry in tomllib.loads((ZOO / "zoo.toml").read_text())["mechanism"]}
    for name in sys.argv[1:]:
        entry = table[name]
        script, variant = entry["arguments"]
        MECHANISM = importlib.import_module(script.removesuffix(".py")).VARIANTS[variant]
        differ = ALL_DIFFER if entry["relation"] == "linf:1" else ONE_DIFFER
        # All that it finds by itself, and the pair that zoo.toml has for it.
        pair = entry["pair"]
        for given in (None, (np.array(pair["dataset"]), np.array(pair["neighbor"]))):
            LEFT.clear()
            start = time.time()
            answer = {"name": name, "pair": "given" if given else "own"}
            try:
                [(_, p, first, second, _, event)] = pystatdp().detect_counterexample(
                    one_by_one, entry["epsilon"], {"epsilon": entry["epsilon"]}, databases=given, num_input=(5,),
                    sensitivity=differ, cores=1, quiet=True, loglevel=40,
                )  # fmt: skip
                answer |= {"p": p, "datasets": [first, second], "event": str(event)}
            except Exception as error:  # noqa: BLE001 - what it cannot do is a finding
                answer["error"] = f"{type(error).__name__}: {error}"
            candidates = 1 if given else 8 if differ == ALL_DIFFER else 2
            answer |= {"runs": candidates * EVENTS + TESTS, "seconds": round(time.time() - start, 1)}
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
