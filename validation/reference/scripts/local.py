"""local.json: unary encodings, local hashing and subset selection, on the votes 0 and 1 of k classes.

    python validation/reference/scripts/local.py

Outcomes are vectors of k bits, bit c of the index for class c, in increasing order; for subset selection only those
with as many bits as the subset.  epsilon is the double nearest to 1/sigma.

First method: the outcomes in groups.  With lam the probability that the bit of the other class is 1 and that of the
vote is 0, the ratio of the probabilities of an outcome is e^eps, 1 or e^-eps, with probabilities lam e^eps, the rest
and lam, and lam is a closed form for each protocol.  It gives divergences for any number of classes.

Second method: for few classes the protocol itself, by enumeration of all vectors of bits, of all functions to the
hashes with all reports, and of all subsets, and sums over the outcomes.  For many classes the joint distribution of
the two bits that differ: from probabilities of single bits, and for subsets from binomial coefficients.
"""
from itertools import combinations, product

from mpmath import binomial, exp, log, mp, mpf

import table

DIGITS = 80
ORDERS = [1.0625, 1.5, 2, 8, 40, 1000, 10000]
EPSILONS = [0, 0.1, 1, 3]
SIGMAS = [0.0625, 0.25, 1, 3, 40, 1000]


def encoding(name, x, extra):
    """Probabilities of 1 for the bit of the vote and for another one."""
    if name == "symmetric-unary":
        root = mp.sqrt(x)
        return root / (root + 1), 1 / (root + 1)
    if name == "optimized-unary":
        return mpf(1) / 2, 1 / (x + 1)
    return x / (x + extra - 1), 1 / mpf(extra)


def rare(name, x, extra, k):
    """lam, in closed form."""
    if name == "symmetric-unary":
        return 1 / (mp.sqrt(x) + 1) ** 2
    if name == "optimized-unary":
        return 1 / (2 * (x + 1))
    if name == "local-hashing":
        return (extra - 1) / (extra * (x + extra - 1))
    return mpf(extra * (k - extra)) / ((k - 1) * (extra * x + k - extra))


def divergence(pairs, order):
    a = mpf(order)
    return log(sum(p * (p / q) ** (a - 1) for p, q in pairs)) / (a - 1)


def excess(pairs, epsilon):
    return sum((max(mpf(0), p - exp(mpf(epsilon)) * q) for p, q in pairs), mpf(0))


def in_groups(lam, x):
    rest = 1 - lam - lam * x
    pairs = [(lam * x, lam), (lam, lam * x), (rest, rest)]
    return [pair for pair in pairs if pair[0] > 0]


def enumerated(name, x, extra, k, vote):
    """The distribution over vectors of bits from the protocol itself."""
    found = {}

    def add(bits, p):
        index = sum(int(bit) << c for c, bit in enumerate(bits))
        found[index] = found.get(index, mpf(0)) + p

    if name == "subset-selection":
        sets = list(combinations(range(k), extra))
        weights = [x if vote in chosen else mpf(1) for chosen in sets]
        for chosen, weight in zip(sets, weights):
            add([c in chosen for c in range(k)], weight / sum(weights))
    elif name == "local-hashing":
        honest, lie = x / (x + extra - 1), 1 / (x + extra - 1)
        for values in product(range(extra), repeat=k):
            for report in range(extra):
                p = honest if report == values[vote] else lie
                add([value == report for value in values], p / mpf(extra) ** k)
    else:
        own, other = encoding(name, x, extra)
        for bits in product([0, 1], repeat=k):
            p = mpf(1)
            for c, bit in enumerate(bits):
                one = own if c == vote else other
                p *= one if bit else 1 - one
            add(bits, p)
    return [found[index] for index in sorted(found)]


def two_bits(name, x, extra, k):
    """Probabilities of the two bits that differ, under both votes."""
    if name == "subset-selection":
        total = binomial(k - 1, extra - 1) * x + binomial(k - 1, extra)
        one, both, none = binomial(k - 2, extra - 1), binomial(k - 2, extra - 2), binomial(k - 2, extra)
        pairs = [(one * x, one), (one, one * x), (both * x, both * x), (none, none)]
        return [(p / total, q / total) for p, q in pairs if p > 0]
    own, other = encoding(name, x, extra)

    def bit(one, value):
        return one if value else 1 - one

    return [(bit(own, a) * bit(other, b), bit(other, a) * bit(own, b)) for a, b in product([0, 1], repeat=2)]


class Compared:
    """Values with the worst relative difference to those of the second method."""

    def __init__(self):
        self.worst = mpf(0)

    def value(self, first, second):
        if first != second:
            self.worst = max(self.worst, abs(first - second) / max(abs(first), abs(second), mpf("1e-20")))
        assert self.worst < mpf("1e-38"), (first, second)
        return table.decimal(first)


def grouped(name, x, extra, k, index):
    """The probability of an outcome for vote 0, from its bits, without the enumeration of the protocol."""
    bits = bin(index).count("1")
    if name == "subset-selection":
        weight = x if index & 1 else mpf(1)
        return weight / (binomial(k - 1, extra - 1) * x + binomial(k - 1, extra))
    own, other = encoding(name, x, extra)
    p, others = (own, bits - 1) if index & 1 else (1 - own, bits)
    return p * other ** others * (1 - other) ** (k - 1 - others)


def entry(name, sigma, extra, k):
    x = exp(mpf(1.0 / sigma))
    first = in_groups(rare(name, x, extra, k), x)
    compared, expected = Compared(), {"p": []}
    if k <= 5:
        p, q = (enumerated(name, x, extra, k, vote) for vote in (0, 1))
        second = list(zip(p, q))
        outcomes = [i for i in range(1 << k) if name != "subset-selection" or bin(i).count("1") == extra]
        expected["p"] = [compared.value(grouped(name, x, extra, k, i), value) for i, value in zip(outcomes, p)]
    else:
        second = two_bits(name, x, extra, k)
    expected["divergences"] = [{"order": a, "value": compared.value(divergence(first, a), divergence(second, a))}
                               for a in ORDERS]
    expected["hockey_stick"] = [{"epsilon": e, "value": compared.value(excess(first, e), excess(second, e))}
                                for e in EPSILONS]
    parameters = {"local-hashing": ",hashes=%d", "subset-selection": ",size=%d"}.get(name, "")
    text = "%s:sigma=%r%s" % (name, sigma, parameters % extra if parameters else "")
    return {"mechanism": text, "classes": k, "expected": expected,
            "verify": {"rel_diff_second_method": float("%.3g" % compared.worst)}}


def main():
    mp.dps = DIGITS
    cases = [("symmetric-unary", 0, k) for k in (2, 4, 50)] + [("optimized-unary", 0, k) for k in (2, 4, 50)]
    cases += [("local-hashing", g, k) for g, k in ((2, 2), (2, 4), (3, 3), (4, 3), (1000, 60))]
    cases += [("subset-selection", w, k) for w, k in ((1, 2), (1, 4), (2, 4), (3, 5), (40, 100), (999, 1000))]
    entries = [entry(name, sigma, extra, k) for name, extra, k in cases for sigma in SIGMAS]
    table.write("local.json", entries)
    print("worst", max(e["verify"]["rel_diff_second_method"] for e in entries))


if __name__ == "__main__":
    main()
