"""An independent witness for the refutations of libraries.toml: one pair and one event for each, chosen by reading code.

It shares nothing with leakbound but the programs that serve the mechanisms. An event that is too much likelier in one
world, by exact binomial limits at 1e-6 each, shows that the claim does not hold.

    target/libraries/bin/python validation/libraries/by_hand.py [TEXT]    those whose line has this text
"""

import json
import math
import pathlib
import subprocess
import sys
import time
import tomllib

from scipy.stats import beta

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TABLE = tomllib.loads((HERE / "libraries.toml").read_text())
FAILURE = 1e-6
PIECE = 1000


def not_on_grid(places, low, high):
    """Whether y is in (low, high) and no multiple of 2^-places."""
    return lambda y: low < y < high and not (y * 2.0**places).is_integer()


# Between 1/2 and 1 a double is a multiple of 2^-53, above 1 of 2^-52. So is the sum of such noise and a value of 1 or more
# that ends up near 0, while noise alone near 0 has finer places.
NEAR_ZERO = not_on_grid(53, -0.5, 0.5)
ABOVE_ZERO = not_on_grid(53, 0, 0.5)


def fifth(y):
    """Uniform noise is (2u - 1) 5 for a multiple u of 2^-53: below 2 an exact multiple of 5 * 2^-52, and 1 is none."""
    return abs(y) < 1 and int(y * 2**52) % 5 == 0


def not_tenth(y):
    """The median of one record 0 is 10u, below 1 an exact multiple of 10 * 2^-53; that of one record 9 is mostly 9u."""
    return 0 < y < 1 and int(y * 2**53) % 10 != 0


ZEROS, TEN = [0, 0, 0, 0, 0], [10, 0, 0, 0, 0]
DIFFPRIVLIB = ["diffprivlib", "diffprivlib-old"]
# Mechanism, releases, dataset, neighbor, event, runs of each world.
CHECKS = [
    ("laplace", DIFFPRIVLIB, [0], [1], NEAR_ZERO, 20_000),
    ("laplace-truncated", DIFFPRIVLIB, [0], [1], ABOVE_ZERO, 20_000),
    ("laplace-folded", DIFFPRIVLIB, [0], [1], ABOVE_ZERO, 20_000),
    ("laplace-bounded-domain", DIFFPRIVLIB, [0], [1], ABOVE_ZERO, 20_000),
    ("laplace-bounded-noise", DIFFPRIVLIB, [0], [1], NEAR_ZERO, 20_000),
    ("gaussian", DIFFPRIVLIB, [0], [1], NEAR_ZERO, 20_000),
    ("gaussian-analytic", DIFFPRIVLIB, [0], [1], NEAR_ZERO, 20_000),
    ("staircase", DIFFPRIVLIB, [0], [1], NEAR_ZERO, 20_000),
    ("uniform", DIFFPRIVLIB, [0], [1], fifth, 20_000),
    ("mean", DIFFPRIVLIB, ZEROS, TEN, ABOVE_ZERO, 20_000),
    ("variance", DIFFPRIVLIB, ZEROS, TEN, ABOVE_ZERO, 10_000),
    ("sum", DIFFPRIVLIB, ZEROS, TEN, ABOVE_ZERO, 20_000),
    ("median", DIFFPRIVLIB, [9], [0], not_tenth, 20_000),
    ("linear-regression", ["diffprivlib"], [0], [2], lambda y: abs(y) > 20, 5_000),
    ("laplace", ["opendp-old"], [0], [1], NEAR_ZERO, 20_000),
    ("mean", ["opendp-old"], ZEROS, TEN, NEAR_ZERO, 20_000),
    ("randomized-response-bool", ["opendp-old"], ["no"], ["yes"], lambda y: not y, 20_000),
    ("sum-of-large-numbers", ["opendp-old"], [2, 2, 0, 2, 0], [0, 2, 0, 2, 0], lambda y: y > 5e16, 20_000),
    ("gaussian", ["pydp", "pipeline-dp"], [0], [1], NEAR_ZERO, 20_000),
    ("unary-encoding", ["pure-ldp-old"], [0], [1], lambda y: y[:2] == [1, 0], 20_000),
    ("unary-encoding-optimized", ["pure-ldp-old"], [0], [1], lambda y: y[:2] == [1, 0], 20_000),
    ("rappor", ["pure-ldp", "pure-ldp-old"], [0], [1], lambda y: y[0][1] == 0, 20_000),
    # Not shown by the audit, which sees the binary places of single numbers better than those of vectors.
    ("histogram-encoding", ["pure-ldp", "pure-ldp-old", "multi-freq-ldpy"], [1], [0], lambda y: NEAR_ZERO(y[0]), 20_000),
]


def claim(name, release):
    entry = next(m for m in TABLE["mechanism"] if m["name"] == name and release in m["libraries"])
    return entry["epsilon"], entry.get("delta", 0.0)


def count(release, name, worlds, event, runs):
    library = TABLE["library"][release]
    python = ROOT / "target" / library["environment"] / "bin" / "python"
    with subprocess.Popen(
        [python, HERE / library["program"], name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        counts = []
        for world, dataset in enumerate(worlds):
            inside = 0
            for piece in range(runs // PIECE):
                request = {"id": 1, "dataset": dataset, "runs": PIECE, "seed": 10_000 * (world + 1) + piece}
                program.stdin.write(json.dumps(request) + "\n")
                program.stdin.flush()
                inside += sum(map(event, json.loads(program.stdout.readline())["outputs"]))
            counts.append(inside)
        program.stdin.close()
    return counts


def limits(inside, runs):
    low = beta.ppf(FAILURE, inside, runs - inside + 1) if inside else 0.0
    high = beta.ppf(1 - FAILURE, inside + 1, runs - inside) if inside < runs else 1.0
    return low, high


def main():
    wanted = " ".join(sys.argv[1:])
    missed = 0
    for name, releases, dataset, neighbor, event, runs in CHECKS:
        for release in releases:
            line = f"{release} {name}"
            if wanted not in line:
                continue
            start = time.time()
            counts = count(release, name, (dataset, neighbor), event, runs)
            epsilon, delta = claim(name, release)
            (low, _), (_, high) = limits(counts[0], runs), limits(counts[1], runs)
            refuted = low > math.exp(epsilon) * high + delta
            missed += not refuted
            print(
                f"{line:<40} {dataset} {neighbor}: {counts[0]} and {counts[1]} of {runs}, "
                f"epsilon {epsilon:g} at delta {delta:g} is {'refuted' if refuted else 'NOT refuted'}, {time.time() - start:.1f} s",
                flush=True,
            )
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
