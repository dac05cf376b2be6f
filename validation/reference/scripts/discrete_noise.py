"""discrete_noise.json: a count of 0 or 1 with discrete Laplace or discrete Gaussian noise.

    python validation/reference/scripts/discrete_noise.py

Probabilities are proportional to e^(-|z|/sigma) and to e^(-z^2/(2 sigma^2)).  First method: sums over the integers.
Second method: for discrete Laplace noise two outcomes, those up to 0 and those from 1 on; for discrete Gaussian noise
Poisson's formula for the sums, and the hockey-stick divergence by its dual form.  `theorem` is the divergence of the
two outcomes, and order/(2 sigma^2).  Both directions are alike.  The values for scale 1 of a file
mechanisms.json are compared too, where its folder is given as an argument.
"""
import json
import sys

from mpmath import cos, exp, floor, log, mp, mpf, pi

import table

DIGITS = 60
ORDERS = [1.0625, 1.5, 2, 2.75, 8, 40]
EPSILONS = [0, 0.1, 0.5, 1]
LAPLACE = [0.0625, 0.25, 1, 3, 20]
GAUSSIAN = [0.25, 0.5, 1, 2, 6, 40]


def reach(sigma, name):
    """Terms beyond it are below 1e-70 of the largest."""
    return int(165 * sigma) + 3 if name == "discrete-laplace" else int(19 * sigma) + 3


def weight(name, z, sigma):
    s = mpf(sigma)
    return exp(-abs(z) / s) if name == "discrete-laplace" else exp(-mpf(z) ** 2 / (2 * s * s))


def by_sum(name, sigma, order):
    a, n = mpf(order), reach(sigma, name)
    places = range(-n - int(order) - 1, n + 2)
    total = sum(weight(name, z, sigma) for z in range(-n, n + 1))
    # One power of the weights, as their logarithms are exact.
    s = mpf(sigma)

    def exponent(z):
        if name == "discrete-laplace":
            return -(a * abs(z) + (1 - a) * abs(z - 1)) / s
        return -(a * mpf(z) ** 2 + (1 - a) * mpf(z - 1) ** 2) / (2 * s * s)

    return log(sum(exp(exponent(z)) for z in places) / total) / (a - 1)


def laplace_by_two(sigma, order):
    a, r = mpf(order), exp(-1 / mpf(sigma))
    p, q = 1 / (1 + r), r / (1 + r)
    return log(p ** a * q ** (1 - a) + q ** a * p ** (1 - a)) / (a - 1)


def theta(x, sigma):
    """The sum of e^(-(z-x)^2/(2 sigma^2)) over the integers by Poisson's formula."""
    s = mpf(sigma)
    n = int(floor(mpf(3) / s)) + 3
    return s * mp.sqrt(2 * pi) * (1 + 2 * sum(exp(-2 * (pi * s * k) ** 2) * cos(2 * pi * k * x)
                                              for k in range(1, n + 1)))


def gaussian_by_poisson(sigma, order):
    a, s = mpf(order), mpf(sigma)
    return a / (2 * s * s) + log(theta(1 - a, sigma) / theta(mpf(0), sigma)) / (a - 1)


def deltas(name, sigma, epsilon):
    """The sum of max(0, P - e^eps Q), and 1 less the sum of min(P, e^eps Q)."""
    n, x = reach(sigma, name), exp(mpf(epsilon))
    total = sum(weight(name, z, sigma) for z in range(-n, n + 1))
    pairs = [(weight(name, z, sigma) / total, x * weight(name, z - 1, sigma) / total) for z in range(-n, n + 2)]
    return sum((max(mpf(0), p - q) for p, q in pairs), mpf(0)), 1 - sum(min(p, q) for p, q in pairs)


class Compared:
    def __init__(self):
        self.worst = mpf(0)

    def value(self, first, second):
        self.worst = max(self.worst, abs(first - second) / max(abs(first), mpf("1e-12")))
        assert self.worst < mpf("1e-40"), (first, second)
        return table.decimal(first)


def entry(name, sigma):
    compared, divergences = Compared(), []
    for order in ORDERS:
        first = by_sum(name, sigma, order)
        if name == "discrete-laplace":
            second = theorem = laplace_by_two(sigma, order)
        else:
            second, theorem = gaussian_by_poisson(sigma, order), mpf(order) / (2 * mpf(sigma) ** 2)
        divergences.append({"order": order, "value": compared.value(first, second), "theorem": table.decimal(theorem)})
    hockey = [{"epsilon": e, "value": compared.value(*deltas(name, sigma, e))} for e in EPSILONS]
    return {"mechanism": "%s:sigma=%r" % (name, sigma),
            "expected": {"divergences": divergences, "hockey_stick": hockey},
            "verify": {"rel_diff_second_method": float("%.3g" % compared.worst)}}


def compare_with(path):
    """The values of another table, of 20 digits or more."""
    pairs = []
    for row in json.load(open(path)):
        name = row["mechanism"]
        if name in ("discrete-laplace", "discrete-gaussian"):
            for d in row["divergences"]:
                pairs += [(by_sum(name, row["scale"], d["order"]), d[way]) for way in ("forward", "reverse")]
            for d in row["hockey_stick"]:
                found = deltas(name, row["scale"], d["epsilon"])[0]
                pairs += [(found, d["delta_" + way]) for way in ("forward", "reverse")]
    worst = max(abs(found - mpf(value)) / max(found, mpf("1e-6")) for found, value in pairs)
    print("%d values of %s: %s" % (len(pairs), path, mp.nstr(worst, 3)))


def main():
    mp.dps = DIGITS
    entries = [entry("discrete-laplace", sigma) for sigma in LAPLACE]
    entries += [entry("discrete-gaussian", sigma) for sigma in GAUSSIAN]
    table.write("discrete_noise.json", entries)
    print("worst", max(e["verify"]["rel_diff_second_method"] for e in entries))
    for path in sys.argv[1:]:
        compare_with(path)


if __name__ == "__main__":
    main()
