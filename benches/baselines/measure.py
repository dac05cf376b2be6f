"""What the programs of this folder share: how a rate is measured and written, and the works themselves.

A program writes one JSON object per variant to standard output, with the keys `variant`, `params`, `rate_median`
(items per second of wall time) and `sec_median` (seconds of one run). `cargo xtask compare` reads them.
"""

import json
import math
import os
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

# Set before NumPy and numba are imported, which read them once.
THREADS = 2
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, str(THREADS))

import numpy as np  # noqa: E402

# The works of `leakbound bench`: votes of 250 teachers, the vote probabilities of each teacher, and those of the one
# teacher whose data changes in the other world.
VOTES = np.array([75, 55, 33, 25, 20, 15, 12, 8, 5, 2], float)
P = np.array([0.30, 0.22, 0.13, 0.10, 0.08, 0.06, 0.05, 0.03, 0.02, 0.01])
P_MARKED = np.array([0.05] * 9 + [0.55])
# The same with a hundred classes: 482 votes by Zipf's law, and probabilities by it.
VOTES_100 = np.floor(100 / np.arange(1.0, 101.0))
P_100 = 1 / np.arange(1.0, 101.0) / np.sum(1 / np.arange(1.0, 101.0))
P_MARKED_100 = np.array([0.005] * 99 + [0.505])


def parties(count=250):
    """Vote probabilities of parties of which most are nearly sure of one of two classes, [party, class]."""
    return np.random.default_rng(250).dirichlet([6.0, 3.0] + [0.125] * 8, size=count)


def measure(variant, params, items, run, *, repeat=1, warm=False):
    """Runs `run` and writes the rate of `items` per second; returns the last result.

    With `warm` one run goes before that is not measured: what is compiled on first use has its time there.
    """
    if warm:
        run()
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        result = run()
        seconds.append(time.perf_counter() - start)
    median = statistics.median(seconds)
    row = {"variant": variant, "params": params, "rate_median": items / median, "sec_median": median}
    print(json.dumps(row), flush=True)
    return result


def in_threads(part, total, threads):
    """Sums `part(seed, share)` over threads; NumPy's generators draw without the interpreter's lock."""
    share = total // threads
    if threads == 1:
        return part(1, share)
    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(lambda thread: part(thread + 1, share), range(threads)))


def check(counts, distribution, what):
    """Stops if class counts do not have the distribution: a fast program that is wrong is no baseline.

    The largest of ten |z| exceeds 6 with probability 2e-8 if counts have the distribution. Single precision and ties that count
    for two classes move it by less than 1 at the sizes used here. Counts of which a few are expected have longer tails than
    normal variables, so no variance is taken to be less than 4.
    """
    counts, total = np.asarray(counts, float), float(np.sum(counts))
    z = (counts - total * distribution) / np.sqrt(np.maximum(total * distribution * (1 - distribution), 4.0))
    if not np.max(np.abs(z)) < 7:
        raise SystemExit(f"{what}: class counts differ from the distribution by {np.max(np.abs(z)):.1f} standard deviations")


def poisson_log_weights(mean, top):
    """ln of mean^h / h! e^(-mean) for h = 0..top."""
    h = np.arange(top + 1)
    return h * math.log(max(mean, 1e-300)) - mean - np.array([math.lgamma(x + 1) for x in h])
