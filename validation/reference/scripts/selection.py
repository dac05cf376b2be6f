"""selection.json: the exponential mechanism and permute-and-flip.

    python validation/reference/scripts/selection.py

For scores n and a scale s, the exponential mechanism gives class c with probability proportional to e^(n_c/s), and
permute-and-flip with p_c times the integral of prod_(j != c) (1 - p_j u) over u from 0 to 1, p_c = e^((n_c - max n)/s).
The integral is that of the expanded polynomial.

Second method: both as noisy maxima.  With Gumbel noise, P(c) is the integral of v^(sum_(j != c) p_j/p_c) over the
distribution function v of the winner's noise; with exponential noise the product above is integrated numerically.
Divergences are compared on both, and hockey-stick divergences with their dual form.
"""
from mpmath import exp, log, mp, mpf, quad

import table

DIGITS, MORE = 60, 160
ORDERS = [1.5, 2, 8, 32]
EPSILONS = [0.1, 0.5, 1]
PAIRS = [
    (2, [3, 1, 4, 1, 5], [4, 0, 4, 2, 4]), (2, [3, 1, 4, 1, 5], [3, 1, 4, 2, 4]), (1, [5, 5], [4, 6]),
    (0.25, [5, 5], [4, 6]), (40, [125, 125], [124, 126]), (10, [250, 0], [249, 1]), (3, [20, 0, 0], [19, 1, 0]),
    (0.5, [9, 7, 7, 7], [8, 8, 7, 7]), (4, [1] * 26, [0, 2] + [1] * 24), (1, [30] * 8, [29, 31] + [30] * 6),
    (20, [70, 66, 40, 30, 20, 10, 8, 4, 1, 1], [69, 67, 40, 30, 20, 10, 8, 4, 1, 1]), (500, [5, 4, 3], [5, 4, 4]),
    (1, [1000, 0], [999, 1]), (0.125, [2, 1, 0], [2, 0, 1]),
]


def weights(scores, scale):
    most = max(scores)
    return [exp(mpf(n - most) / mpf(scale)) for n in scores]


def others(values, c):
    return values[:c] + values[c + 1:]


def exponential(scores, scale):
    w = weights(scores, scale)
    return [x / sum(w) for x in w]


def gumbel(scores, scale):
    w = weights(scores, scale)
    return [1 / (1 + sum(x / y for x in others(w, c))) for c, y in enumerate(w)]


def permute_and_flip(scores, scale):
    """By the coefficients of the polynomial, which alternate: with digits to spare."""
    with mp.workdps(MORE):
        p = weights(scores, scale)
        found = []
        for c, first in enumerate(p):
            coefficients = [mpf(1)]
            for x in others(p, c):
                longer = coefficients + [mpf(0)]
                for power, a in enumerate(coefficients):
                    longer[power + 1] -= a * x
                coefficients = longer
            found.append(first * sum(a / (power + 1) for power, a in enumerate(coefficients)))
    return [+x for x in found]


def exponential_noise(scores, scale):
    p = weights(scores, scale)

    def below(c):
        rest = others(p, c)
        return lambda u: mp.fprod(1 - x * u for x in rest)

    return [first * quad(below(c), [0, mpf(1) / 2, 1]) for c, first in enumerate(p)]


def renyi(p, q, order):
    a = mpf(order)
    return log(sum(x * (x / y) ** (a - 1) for x, y in zip(p, q))) / (a - 1)


def excess(p, q, epsilon):
    return sum((max(mpf(0), x - exp(mpf(epsilon)) * y) for x, y in zip(p, q)), mpf(0))


def dual(p, q, epsilon):
    return 1 - sum(min(x, exp(mpf(epsilon)) * y) for x, y in zip(p, q))


class Compared:
    """Values with the worst relative difference to those of the second method."""

    def __init__(self):
        self.worst = mpf(0)

    def value(self, first, second):
        if first != 0:
            # A small difference of probabilities near 1 has lost digits of either: it is compared absolutely.
            self.worst = max(self.worst, abs(first - second) / max(abs(first), mpf("1e-12")))
        assert self.worst < mpf("1e-36"), (first, second)
        return table.decimal(first)


def main():
    mp.dps = DIGITS
    entries = []
    rules = [("exponential", exponential, gumbel), ("permute-and-flip", permute_and_flip, exponential_noise)]
    for name, first, second in rules:
        for scale, scores, neighbor in PAIRS:
            (p, p2), (q, q2) = [(first(n, scale), second(n, scale)) for n in (scores, neighbor)]
            compared = Compared()
            expected = {
                "p": [compared.value(x, y) for x, y in zip(p, p2)],
                "divergences": [{"order": a, "forward": compared.value(renyi(p, q, a), renyi(p2, q2, a)),
                                 "reverse": compared.value(renyi(q, p, a), renyi(q2, p2, a))} for a in ORDERS],
                "hockey_stick": [{"epsilon": e, "forward": compared.value(excess(p, q, e), dual(p2, q2, e)),
                                  "reverse": compared.value(excess(q, p, e), dual(q2, p2, e))} for e in EPSILONS]}
            entries.append({"kind": name, "inputs": {"scale": scale, "histogram": scores, "neighbor": neighbor},
                            "expected": expected, "verify": {"rel_diff_second_method": float("%.3g" % compared.worst)}})
    table.write("selection.json", entries)
    print("worst", max(e["verify"]["rel_diff_second_method"] for e in entries))


if __name__ == "__main__":
    main()
