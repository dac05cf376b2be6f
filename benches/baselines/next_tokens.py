"""Exact leakage of next tokens by NumPy: usage `next_tokens.py [POSITIONS = 64]`.

Eight language models answer with the exponential mechanism on the sum of their clipped logits. At each position of a
recording in half precision, [position, member, token], D_2 and D_8 of the answer from the one without each member are
formed, in both directions, and added up.
"""

import os
import sys
import tempfile

from measure import THREADS, measure

import numpy as np
from concurrent.futures import ThreadPoolExecutor

MEMBERS, TOKENS = 8, 50_000
CLIP, BATCH = 5.0, 8.0


def recording(path, positions):
    """Logits that fall as those of words do, with changes of each member."""
    token = np.arange(TOKENS)
    member = np.arange(MEMBERS)[:, None]
    logits = np.lib.format.open_memmap(path, mode="w+", dtype="<f2", shape=(positions, MEMBERS, TOKENS))
    for position in range(positions):
        rank = (token * 7_919 + 31 * position) % TOKENS + 1
        logits[position] = np.sin(1.7 * token + 2.3 * member**2 + 0.1 * position) - 1.2 * np.log(rank)
    logits.flush()


def softmax(logits):
    logits = logits - logits.max(-1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(-1, keepdims=True)
    return logits


def leakage(logits):
    """[order, direction, member] at one position."""
    logits = logits.astype(float)
    clipped = np.maximum(logits - logits.max(-1, keepdims=True) + CLIP, -CLIP)
    whole = softmax(clipped.sum(0) / BATCH)
    without = softmax((clipped.sum(0) - clipped) / BATCH)
    # Powers of ratios by products: np.power is some ten times slower.
    up = whole / without
    down = without / whole
    found = []
    for p, ratio in ((whole, up), (without, down)):
        second = (p * ratio).sum(-1)
        square = ratio * ratio
        eighth = (p * (square * square * square * ratio)).sum(-1)
        found.append((np.log(second), np.log(eighth) / 7.0))
    return np.array(found).swapaxes(0, 1)


def audit(path, threads):
    logits = np.load(path, mmap_mode="r")
    if threads == 1:
        return sum(leakage(position) for position in logits)
    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(leakage, logits))


def check(logits):
    """Against the definition by logarithms."""
    clipped = np.array([np.clip(row - max(row) + CLIP, -CLIP, CLIP) for row in logits.astype(float)])

    def logs(sums):
        return sums - np.log(np.exp(sums).sum())

    found = leakage(logits)
    for member in range(MEMBERS):
        p = logs(clipped.sum(0) / BATCH)
        q = logs(np.delete(clipped, member, 0).sum(0) / BATCH)
        for place, order in enumerate((2, 8)):
            expected = np.log(np.exp(order * p + (1 - order) * q).sum()) / (order - 1)
            if not abs(found[place, 0, member] - expected) < 1e-9:
                raise SystemExit(f"next_tokens.py: D is {found[place, 0, member]}, expected {expected}")


def main(positions):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "logits.npy")
        recording(path, positions)
        check(np.load(path, mmap_mode="r")[0])
        for threads in (1, THREADS):
            measure(
                f"numpy position by position, {threads} threads",
                f"{positions}x{MEMBERS}x{TOKENS}",
                positions,
                lambda: audit(path, threads),  # noqa: B023
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 64)
