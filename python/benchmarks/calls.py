"""What the Python layer adds to a call of the compiled module, and LiRA on an array against the command on its file.

    cargo xtask wheel && pip install target/wheels/leakbound-*.whl && cargo build --release
    python python/benchmarks/calls.py --command target/release/leakbound

The bench `command` measures the same request in a Rust program: what is left is the way to another thread and back. Rounds
of LiRA alternate between Python and the command; ratios are formed within a round.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
import threading
import time
import timeit
from collections.abc import Callable
from pathlib import Path

import leakbound
import numpy as np
from leakbound import _core


def seconds(call: Callable[[], object]) -> float:
    """Of one call, the least of thirty rounds, as others use the machine too."""
    return min(timeit.repeat(call, repeat=30, number=200)) / 200


def resident() -> float:
    """Memory of this process, MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def calls() -> None:
    options = '{"tp": 1, "fn": 1, "fp": 1, "tn": 1, "methods": "clopper-pearson"}'
    whole = seconds(lambda: leakbound.audit.confusion(tp=1, fn=1, fp=1, tn=1, methods="clopper-pearson")) * 1e6
    commands = _core.Commands()
    inside = seconds(lambda: commands.call("audit confusion", options, {})) * 1e6
    print(f"A small audit: {whole:.1f} us from Python, of which {inside:.1f} us in the compiled module with its work.")


def lira(command: str, rounds: int) -> None:
    random = np.random.default_rng(0)
    models, samples, views, classes = 64, 5000, 18, 10
    keep = random.permuted(np.tile(np.arange(models)[:, None] % 2 == 0, (1, samples)), axis=0)
    labels = random.integers(0, classes, samples)
    logits = random.normal(size=(models, samples, views, classes)).astype(np.float32)
    logits[:, np.arange(samples), :, labels] += (2 + 1.5 * keep.T)[:, :, None]
    with tempfile.TemporaryDirectory() as folder:
        words = [command, "membership", "lira", "--format", "json"]
        for name, array in (("logits", logits), ("labels", labels), ("keep", keep)):
            np.save(f"{folder}/{name}.npy", array)
            words += [f"--{name}", f"{folder}/{name}.npy"]
        before, peak, ended = resident(), [0.0], threading.Event()

        def watch() -> None:
            while not ended.wait(0.005):
                peak[0] = max(peak[0], resident())

        watcher = threading.Thread(target=watch)
        watcher.start()
        ratios = []
        for _ in range(rounds):
            start = time.perf_counter()
            leakbound.membership.lira(logits, labels, keep)
            middle = time.perf_counter()
            subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
            ratios.append((middle - start) / (time.perf_counter() - middle))
        ended.set()
        watcher.join()
    print(
        f"LiRA on {logits.nbytes / 1e6:.0f} MB, {rounds} rounds in turn: Python takes {statistics.median(ratios):.3f} "
        f"[{min(ratios):.3f} .. {max(ratios):.3f}] times as long as the command, and {peak[0] - before:.0f} MB more memory "
        "than the arrays."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default="target/release/leakbound")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    calls()
    lira(options.command, options.rounds)


if __name__ == "__main__":
    main()
