"""An independent witness for the zoo: one hand-chosen pair and one hand-chosen event for each mechanism.

A wrong and visible mechanism must be refuted by 10^4 runs of each world, a right one must not be by 10^5.
Needs numpy and scipy, and tomli before Python 3.11.

    python3 check.py [NAME ...]    check all mechanisms, or those named
    python3 check.py --table       print the table of README.md
"""

import json
import math
import pathlib
import subprocess
import sys
import time

from scipy.stats import beta, norm

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
RUNS = 100_000
SHORT = 10_000
PIECE = 20_000
# A bound in each of two worlds, on either side: a false alarm in one of a thousand mechanisms.
FAILURE = 1e-3

# Where the filters of "example.org" and "news.example" have their bits.
ONE, OTHER = [1, 4], [2, 8]
SINGLE_NODES = [0, 1, 3, 7]


def near(value, target):
    return abs(value - target) < 1e-5


def favor(report):
    """How many more bits of the one filter than of the other are set."""
    return sum(report[i] == "1" for i in ONE) - sum(report[i] == "1" for i in OTHER)


def fine_digits(y):
    return abs(y) < 0.5 and not (y * 2.0**53).is_integer()


def below_then_above(below, above):
    return lambda y: not any(y[:below]) and sum(y[below:]) >= above


EVENTS = {
    "laplace-count": lambda y: y < 2,
    "laplace-wrong-sensitivity": lambda y: y > 9,
    "laplace-vector": lambda y: y[0] < 12 and y[1] < 7,
    "laplace-linf-as-l1": lambda y: sum(y) > 66,
    "laplace-shared-noise": lambda y: near(y[0] - y[1], 5),
    "laplace-clamped": lambda y: y == 0,
    "laplace-rejection": lambda y: y < 0.15,
    "staircase": lambda y: y < 2,
    "truncated-laplace": lambda y: y < 3 - math.log(1 + (math.e - 1) / 0.04),
    "truncated-laplace-pure-claim": lambda y: y < 3 - math.log(1 + (math.e - 1) / 0.04) - 1e-5,
    "gaussian-analytic": lambda y: y > 0.7 + 1.8778756**2,
    "gaussian-mu": lambda y: y > 0.7,
    "gaussian-rdp": lambda y: y > 1.2,
    "gaussian-classic-large-epsilon": lambda y: y > 0.9,
    "gaussian-classic-small-delta": lambda y: y > 2.5,
    "gaussian-log10": lambda y: y > 1.35,
    "gaussian-half-sensitivity": lambda y: y > 0.2,
    "gaussian-rdp-half-sensitivity": lambda y: y > 1.9,
    "gaussian-variance-as-scale": lambda y: y > 0.7,
    "gaussian-vector-10": lambda y: sum(y) > math.sqrt(10),
    "gaussian-vector-100": lambda y: sum(y) > 5,
    "gaussian-linf-as-l2": lambda y: sum(y) > 40.5,
    "gaussian-cut-tails": lambda y: y > 6.2,
    "discrete-laplace": lambda y: y <= 2,
    "geometric-truncated": lambda y: y == 0,
    "geometric-rejection": lambda y: y == 0,
    "discrete-gaussian": lambda y: y > 3,
    "discrete-noise-on-reals": lambda y: near(y, round(y)),
    "discrete-rounded-first": lambda y: y <= 1,
    "response-binary": lambda y: y[0],
    "response-binary-wrong": lambda y: y[0],
    "response-k-ary": lambda y: y[0] == "flu",
    "response-k-ary-wrong": lambda y: y[0] == "flu",
    "unary-encoding": lambda y: y[0][2] and not y[0][1],
    "unary-encoding-wrong": lambda y: y[0][2] and not y[0][1],
    "rappor": lambda y: favor(y[0]) == 2,
    "rappor-many": lambda y: sum(map(favor, y[0])) > 3,
    "noisy-max-laplace": lambda y: y == 1,
    "noisy-max-exponential": lambda y: y == 1,
    "noisy-max-gumbel": lambda y: y == 1,
    "noisy-max-laplace-half": lambda y: y == 1,
    "noisy-max-exponential-half": lambda y: y == 1,
    "noisy-max-gumbel-half": lambda y: y == 1,
    "noisy-max-laplace-value": lambda y: y <= 0,
    "noisy-max-exponential-value": lambda y: y < 1,
    "noisy-max-gap": lambda y: y["winner"] == 1 and y["lead"] > 1,
    "top-three": lambda y: set(y) == {0, 1, 2},
    "top-three-wrong": lambda y: set(y) == {0, 1, 2},
    "permute-and-flip": lambda y: y == 1,
    "permute-and-flip-wrong": lambda y: y == 1,
    "exponential-vote": lambda y: y == "curry",
    "exponential-ballots": lambda y: y == "curry",
    "exponential-ballots-wrong": lambda y: y == "curry",
    "above-threshold": lambda y: y == 8,
    "above-threshold-gap": lambda y: y is not None and y[0] == 4 and y[1] > 2,
    "no-threshold-noise": lambda y: y is None,
    "sparse-vector-1": below_then_above(4, 2),
    "sparse-vector-2": below_then_above(4, 2),
    "sparse-vector-3": lambda y: len(y) == 7 and not any(y[:6]) and y[6] is not False and y[6] < 1.5,
    "sparse-vector-4": below_then_above(4, 3),
    "sparse-vector-4-true-price": below_then_above(4, 3),
    "sparse-vector-5": lambda y: y == [False, True],
    "sparse-vector-6": lambda y: sum(y[8:]) - sum(y[:8]) >= 3,
    "histogram": lambda y: y["blue"] < 0,
    "histogram-replace-one": lambda y: y["blue"] > 1 and y["red"] < 1,
    "histogram-zeros-kept": lambda y: y[1] == 0,
    "stability-histogram": lambda y: "violet" in y,
    "stability-histogram-no-threshold": lambda y: "violet" in y,
    "stability-histogram-true-count": lambda y: "blue" in y,
    "stability-histogram-threshold-too-low": lambda y: "violet" in y,
    "clipped-sum": lambda y: y > 13.5,
    "unclipped-sum": lambda y: y > 51,
    "mean-fixed-size": lambda y: y > 7,
    "mean-true-count": lambda y: y > 20,
    "mean-nan-when-empty": lambda y: y == "nan",
    "mean-noisy-count": lambda y: y["sum"] < 3.5 and y["count"] < 1,
    "mean-full-budget-twice": lambda y: y["sum"] < 3.5 and y["count"] < 1,
    "mean-range-from-data": lambda y: y == 5,
    "best-of-three": lambda y: y <= 2,
    "noisy-records": lambda y: len(y) == 2,
    "median-exponential": lambda y: y < 0.2,
    "median-exponential-wrong": lambda y: y < 1,
    "median-exponential-add-remove": lambda y: y > 9,
    "median-smooth-sensitivity": lambda y: y > 5,
    "median-local-sensitivity": lambda y: y == 5,
    "propose-test-release": lambda y: y is not None and y < 5,
    "propose-test-release-wrong": lambda y: y is not None and y < 5,
    "prefix-sums-tree": lambda y: all(y[i] - (y[i - 1] if i == 2 else 0) < 0 for i in SINGLE_NODES),
    "prefix-sums-tree-single-node": lambda y: sum(y[i] < 0.5 for i in SINGLE_NODES) >= 3,
    "prefix-sums-running-noise": lambda y: y[0] < 0,
    "prefix-sums-fresh-noise": lambda y: sum(v < 0.5 for v in y) >= 5,
    "dp-sgd-step": lambda y: y[0] < 0.5 - 0.05,
    "dp-sgd-noise-without-clip-norm": lambda y: y[0] < 0.5 - 0.2,
    "dp-sgd-per-example-clipping": lambda y: y[0] > 0.05,
    "dp-sgd-per-batch-clipping": lambda y: y[0] > 0.5,
    "dp-sgd-epoch": lambda y: y[0] > 0,
    "dp-sgd-noise-reused": lambda y: near(y[0] - y[1], 1.3),
    "dp-sgd-fixed-seed": lambda y: near(y[0] - y[1], 1.3 + FIXED_NOISE[0] - FIXED_NOISE[1]),
    "pate-gnmax": lambda y: y == "cat",
    "pate-gnmax-sigma-halved": lambda y: y == "cat",
    "pate-lnmax": lambda y: y == "dog",
    "poisson-laplace": lambda y: y > 1,
    "poisson-laplace-wrong-account": lambda y: y > 1,
    "poisson-gaussian": lambda y: y > 1.5,
    "subsample-without-replacement": lambda y: y > 1,
    "subsample-with-replacement": lambda y: y > 2.5,
    "first-quarter-as-sample": lambda y: y > 1,
    "floating-point-laplace": fine_digits,
    "floating-point-gaussian": fine_digits,
    "single-precision-noise": lambda y: float(np.float32(y)) == y,
    "snapping": lambda y: y <= -1,
    "integer-overflow": lambda y: y > 128,
    "name-and-shame": lambda y: "51 years, south" in y,
    "name-and-shame-wrong-delta": lambda y: "51 years, south" in y,
    "name-and-shame-rarely": lambda y: "51 years, south" in y,
}
FIXED_NOISE = np.random.default_rng(2024).normal(0, 2, 3)


class Program:
    """One program of the zoo, spoken to through the protocol."""

    def __init__(self, arguments):
        self.process = subprocess.Popen(
            [sys.executable, *arguments], cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.seconds = 0.0
        self.number = 0
        self.ask([], 1)  # the start of the interpreter is not to be counted

    def ask(self, dataset, runs, seed=None):
        self.number += 1
        request = {"id": self.number, "dataset": dataset, "runs": runs, "seed": seed or 1000 + self.number}
        start = time.perf_counter()
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if self.number > 1:
            self.seconds += time.perf_counter() - start
        answer = json.loads(line)
        if answer["id"] != self.number:
            raise RuntimeError(f"answer to {answer['id']} instead of {self.number}")
        return answer.get("outputs", answer.get("error"))

    def hits(self, dataset, event):
        """For each of RUNS outputs, whether it lies in the event."""
        found = []
        for _ in range(RUNS // PIECE):
            outputs = self.ask(dataset, PIECE)
            if isinstance(outputs, str) or len(outputs) != PIECE:
                raise RuntimeError(f"no {PIECE} outputs but {outputs[:80]!r}")
            found.extend(bool(event(output)) for output in outputs)
        return np.array(found)

    def keeps_the_protocol(self, dataset):
        """The same seed gives the same outputs, and a request that cannot be met gets an error."""
        same = self.ask(dataset, 5, seed=1) == self.ask(dataset, 5, seed=1)
        return same and isinstance(self.ask(dataset, 0), str) and isinstance(self.ask("", 5), str)

    def end(self):
        self.process.stdin.close()
        return self.process.wait(timeout=60)


def losses(mechanism, p, q):
    """For each claim: the loss that the event shows when it has probability p here and q there."""
    found = []
    if "delta" in mechanism:  # then the loss is the delta that remains at the claimed epsilon
        found.append((p - math.exp(mechanism["epsilon"]) * q, mechanism["delta"]))
    elif "epsilon" in mechanism:
        loss = -math.inf if p == 0 else (math.log(p / q) if q > 0 else math.inf)
        found.append((loss, mechanism["epsilon"]))
    if "mu" in mechanism:
        found.append((float(norm.ppf(p) - norm.ppf(q)) if p > q else 0.0, mechanism["mu"]))
    for entry in mechanism.get("rdp", []):
        order, claim = map(float, entry.split(":"))
        if p <= q:
            loss = 0.0
        elif q == 0 or (p < 1 and q == 1):
            loss = math.inf
        else:
            terms = [order * math.log(p) + (1 - order) * math.log(q)]
            if p < 1:
                terms.append(order * math.log1p(-p) + (1 - order) * math.log1p(-q))
            loss = np.logaddexp.reduce(terms) / (order - 1)
        found.append((float(loss), claim))
    return found


def interval(hits, runs):
    """Clopper-Pearson bounds, each with failure probability FAILURE / 4."""
    n = int(hits)
    low = beta.ppf(FAILURE / 4, n, runs - n + 1) if n else 0.0
    high = beta.isf(FAILURE / 4, n + 1, runs - n) if n < runs else 1.0
    return float(low), float(high)


def worst(mechanism, ones):
    """The largest loss over claim: the event and its complement, in both directions."""
    directions = []
    for (low_p, _), (_, high_q) in (ones, ones[::-1]):
        directions.append(losses(mechanism, low_p, high_q))
    for (_, high_p), (low_q, _) in (ones, ones[::-1]):
        directions.append(losses(mechanism, 1 - high_p, 1 - low_q))
    return max((pair for found in directions for pair in found), key=lambda pair: pair[0] - pair[1])


def claim_text(mechanism):
    if "rdp" in mechanism:
        return "rdp " + ",".join(mechanism["rdp"])
    if "mu" in mechanism:
        return f"mu {mechanism['mu']:g}"
    delta = f", delta {mechanism['delta']:g}" if "delta" in mechanism else ""
    return f"epsilon {mechanism['epsilon']:g}{delta}"


def kind(mechanism):
    if mechanism["right"]:
        return "right"
    return "wrong" if mechanism["visible"] else "wrong, not visible"


def check(mechanism):
    """Run one mechanism; print one line; say whether all is as expected."""
    event = EVENTS[mechanism["name"]]
    program = Program(mechanism["arguments"])
    worlds = [program.hits(mechanism["pair"][part], event) for part in ("dataset", "neighbor")]
    seconds = program.seconds
    if not program.keeps_the_protocol(mechanism["dataset"]) or program.end() != 0:
        raise RuntimeError(f"{mechanism['name']} does not keep the protocol")

    def certified(runs):
        return worst(mechanism, [interval(world[:runs].sum(), runs) for world in worlds])

    runs = RUNS if mechanism["right"] else SHORT
    p, q = (float(world.mean()) for world in worlds)
    estimate = worst(mechanism, [(p, p), (q, q)])[0]
    bound, claim = certified(runs)
    refuted = bound > claim
    others = [n for n in (1000, RUNS) if n != runs and np.greater(*certified(n))]
    expected = refuted == (not mechanism["right"] and mechanism["visible"])
    verdict = f"{'' if refuted else 'not '}refuted with {runs}"
    if others:
        verdict += "; refuted with " + ", ".join(map(str, others))
    print(
        f"{'ok' if expected else 'NOT AS EXPECTED':3s} {mechanism['name']:38s} {kind(mechanism):18s} "
        f"{claim_text(mechanism):26s} P {p:.5f} Q {q:.5f} estimated {estimate:6.3f} shown {bound:6.3f} "
        f"{2 * RUNS / seconds / 1000:5.0f} thousand outputs a second, {verdict}",
        flush=True,
    )
    return expected


def table(mechanisms):
    print("| name | program | relation | claim | is | source |\n|---|---|---|---|---|---|")
    for m in mechanisms:
        program = " ".join(m["arguments"])
        print(
            f"| {m['name']} | `{program}` | {m['relation']} | {claim_text(m)} | {kind(m)} | {m['source']} |"
        )


def main():
    with open(HERE / "zoo.toml", "rb") as file:
        mechanisms = tomllib.load(file)["mechanism"]
    wanted = sys.argv[1:]
    if wanted == ["--table"]:
        return table(mechanisms)
    unknown = set(wanted) - {m["name"] for m in mechanisms}
    if unknown:
        sys.exit(f"no such mechanism: {', '.join(sorted(unknown))}")
    print(f"{time.strftime('%Y-%m-%d')}, numpy {np.__version__}, {RUNS} runs of each world")
    results = [check(m) for m in mechanisms if not wanted or m["name"] in wanted]
    print(f"{sum(results)} of {len(results)} as expected")
    return None if all(results) else sys.exit(1)


if __name__ == "__main__":
    main()
