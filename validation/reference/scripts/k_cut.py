"""k_cut.json: lower bounds of the Renyi divergence that use the counts of every outcome.

    python validation/reference/scripts/k_cut.py

`box`: the least divergence of two distributions within Clopper-Pearson limits, each of the 4C tails at failure/(4C) (failure/4
for two outcomes, whose limits coincide in pairs).  It is found by alternating minimisation, which shares nothing with
the library's direct solution: p = clip(lambda q), q = clip(p/mu), the multipliers exactly from the sorted breakpoints.
Second method: the tangent at the ratios p/q, minimised over both boxes and simplices by fractional knapsacks, which is
a lower bound of that minimum; the relative gap between both is stored.

`goodman`, `edgeworth`, `exact`: ln(sum of p_l^a q_u^(1-a))/(a-1), at least 0, from the intervals of simultaneous.py at
failure/2 in each world, in powers and again in logarithms; "0" where nothing can be said.
"""
from fractions import Fraction

from flint import ctx
from mpmath import exp, log, mp, mpf

import binomial_tail as bt
import simultaneous as si
import table

CASES = [
    ([140, 120, 100, 80, 60], [90, 170, 100, 80, 60]), ([600, 300, 100], [450, 350, 200]), ([60, 40], [45, 55]),
    ([0, 500, 500], [100, 450, 450]), ([1000, 0, 0], [900, 60, 40]), ([1], [1]), ([1, 0, 0], [0, 0, 1]), ([0, 7, 0], [5, 0, 4]),
    ([10**12, 0, 0], [10**12 - 90, 60, 30]), ([10**12 - 150, 100, 50, 0], [10**12 - 600, 400, 0, 200]),
    ([9 * 10**6, 10**6 - 100, 100], [9 * 10**6 - 30_000, 10**6 + 29_600, 400]), ([200] * 8 + [0, 1], [150] * 7 + [350, 0, 201]),
    ([5 * 10**5, 3 * 10**5, 2 * 10**5], [49 * 10**4, 31 * 10**4, 2 * 10**5]),
]
TURNS = [(2.0, 0.05), (10.0, 0.05), (1.5, 1e-3), (64.0, 0.025)]
GAP = mpf(10) ** -30


def clip(scale, values, ranges):
    return [min(max(scale * x, low), high) for x, (low, high) in zip(values, ranges)]


def project(values, ranges):
    """clip(scale values) with sum 1: the sum is linear in the scale between the sorted breakpoints."""
    marks = sorted({end / x for x, pair in zip(values, ranges) if x > 0 for end in pair})
    low, high = mpf(0), None
    for mark in marks:
        if sum(clip(mark, values, ranges)) <= 1:
            low = mark
        else:
            high = mark
            break
    first = sum(clip(low, values, ranges))
    if high is None:
        return clip(low, values, ranges)
    last = sum(clip(high, values, ranges))
    return clip(low + (1 - first) * (high - low) / (last - first), values, ranges)


def knapsack(costs, ranges):
    """Least cost of a distribution within the ranges."""
    distribution = [low for low, _ in ranges]
    left = 1 - sum(distribution)
    for i in sorted(range(len(costs)), key=lambda i: costs[i]):
        part = min(left, ranges[i][1] - ranges[i][0])
        distribution[i] += part
        left -= part
    assert abs(left) < mpf(10) ** -40
    return sum(c * x for c, x in zip(costs, distribution))


def box(counts, neighbor, order, failure):
    """Smallest divergence in the box and the relative gap of its certificate."""
    if len(counts) == 1:
        return mpf(0), 0.0
    tails = 4 if len(counts) == 2 else 4 * len(counts)
    tail = Fraction(failure) / tails
    with mp.workdps(100):
        ctx.prec = bt.PRECISION
        from flint import arb, fmpq
        t = arb(fmpq(tail.numerator, tail.denominator))
        limits = []
        for world in (counts, neighbor):
            n = sum(world)
            known = {x: bt.limits(x, n, t) for x in set(world)}
            limits.append([tuple(table.to_mpf(known[x][i]) for i in (0, 2)) for x in world])
        p_box, q_box = limits
        p = project([mpf(1)] * len(counts), p_box)
        a, best = mpf(order), None
        for turn in range(4000):
            q = project(p, q_box)
            p = project(q, p_box)
            if turn % 20 and turn > 40:
                continue
            ratio = [x / y for x, y in zip(p, q)]
            value = sum(x * r ** (a - 1) for x, r in zip(p, ratio))
            below = knapsack([a * r ** (a - 1) for r in ratio], p_box) + knapsack([-(a - 1) * r ** a for r in ratio], q_box)
            if best is None or value - below < best[0]:
                best = value - below, value, below
            if best[0] < GAP * max(value - 1, mpf(10) ** -20):
                break
        gap, value, below = best
        divergence = log(value) / (a - 1)
        if divergence < mpf(10) ** -40:
            return mpf(0), 0.0
        return divergence, float((value - below) / (value - 1))


def termwise(method, counts, neighbor, order, failure):
    """The printed form from intervals at half the failure probability."""
    with mp.workdps(140):
        half = Fraction(failure) / 2
        half = mpf(half.numerator) / half.denominator
        low, high = si.intervals(counts, half, method)[0], si.intervals(neighbor, half, method)[1]
        a = mpf(order)
        total = sum(p ** a * q ** (1 - a) for p, q in zip(low, high) if p > 0)
        if total <= 1:
            return mpf(0)
        value = log(total) / (a - 1)
        again = log(sum(exp(a * log(p) - (a - 1) * log(q)) for p, q in zip(low, high) if p > 0)) / (a - 1)
        assert abs(again / value - 1) < mpf(10) ** -60
        return value


def entry(counts, neighbor, order, failure):
    least, gap = box(counts, neighbor, order, failure)
    assert gap < 1e-25, (counts, neighbor, order, gap)
    expected = {"box": table.decimal(least)}
    for method in ("goodman", "edgeworth", "exact"):
        if all(si.affordable(world, method) for world in (counts, neighbor)):
            expected[method] = table.decimal(termwise(method, counts, neighbor, order, failure))
    return {"inputs": {"counts": counts, "neighbor": neighbor, "order": order, "failure": failure},
            "expected": expected, "verify": {"certificate_gap": gap}}


def main():
    entries = []
    for i, (counts, neighbor) in enumerate(CASES):
        for j in (0, 1):
            pair = (counts, neighbor) if j == 0 else (neighbor, counts)
            for k in (i + j, i + j + 2):
                entries.append(entry(*pair, *TURNS[k % len(TURNS)]))
    table.write("k_cut.json", entries)
    print("worst gap", max(e["verify"]["certificate_gap"] for e in entries))
    for method in ("box", "goodman", "edgeworth", "exact"):
        values = [e["expected"][method] for e in entries if method in e["expected"]]
        print(method, len(values), "of which positive", sum(v != "0" for v in values))


if __name__ == "__main__":
    main()
