"""What a call from Python costs beside the work, and LiRA on an array against the command on its file.

    cargo bench --bench command
    python python/benchmarks/calls.py --criterion target/criterion --command target/release/leakbound

The work of a call is the time of the same words in a Rust program, as the bench `command` measures it. Rounds of LiRA
alternate between Python and the command; ratios are formed within a round.
"""

from __future__ import annotations

import argparse
import json
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


def work(criterion: Path, words: str) -> float:
    """Seconds of a command in process, the median of the bench."""
    for estimates in criterion.glob("*/new/estimates.json"):
        about = json.loads((estimates.parent / "benchmark.json").read_text())
        if about["full_id"] == f"answer: {words}":
            return float(json.loads(estimates.read_text())["median"]["point_estimate"]) * 1e-9
    raise SystemExit(f"{criterion}: no `answer: {words}`; run cargo bench --bench command first")


def seconds(call: Callable[[], object]) -> float:
    """Of one call, the median of rounds of a tenth of a second."""
    timer = timeit.Timer(call)
    number = max(1, int(0.1 / max(timer.timeit(20) / 20, 1e-7)))
    return statistics.median(timer.repeat(repeat=15, number=number)) / number


def resident() -> float:
    """Memory of this process, MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def calls(criterion: Path) -> None:
    confusion = "audit confusion --tp 90 --fn 10 --fp 5 --tn 95"
    exact = "exact --histogram 14,12 --neighbor 13,13 --noise gaussian:2 --orders 2"
    cases: list[tuple[str, Callable[[], object]]] = [
        (confusion, lambda: leakbound.audit_confusion(tp=90, fn=10, fp=5, tn=95)),
        (exact, lambda: leakbound.exact([14, 12], [13, 13], noise="gaussian:2", orders=[2])),
    ]
    print("| command | call from Python, us | the same words in Rust, us | difference, us |\n|---|---|---|---|")
    for words, call in cases:
        whole, inside = seconds(call) * 1e6, work(criterion, words) * 1e6
        print(f"| `{words}` | {whole:.1f} | {inside:.1f} | {whole - inside:.1f} |")


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
            leakbound.lira(logits, labels, keep)
            middle = time.perf_counter()
            subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
            ratios.append((middle - start) / (time.perf_counter() - middle))
        ended.set()
        watcher.join()
    print(
        f"\nLiRA on {logits.nbytes / 1e6:.0f} MB, {rounds} rounds in turn: Python takes {statistics.median(ratios):.3f} "
        f"[{min(ratios):.3f} .. {max(ratios):.3f}] times as long as the command, and {peak[0] - before:.0f} MB more memory "
        "than the arrays."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--criterion", type=Path, default=Path("target/criterion"))
    parser.add_argument("--command", default="target/release/leakbound")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    calls(options.criterion)
    lira(options.command, options.rounds)


if __name__ == "__main__":
    main()
