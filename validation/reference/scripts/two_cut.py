"""two_cut_more.json: 2-cut lower bounds on the Renyi divergence from counts.

    python validation/reference/scripts/two_cut.py

x1 of n1 outputs fell in the set under the first dataset, x2 of n2 under the second.
Clopper-Pearson limits at one-sided error t give [l1, u1] and [l2, u2]; with
d(p, q) = ln(p^a q^(1-a) + (1-p)^a (1-q)^(1-a)) / (a-1):

    corner    d(l1, u2) if l1 > u2; d(u1, l2) if u1 < l2 (four tails only); else 0
    termwise  max(0, ln(l1^a u2^(1-a) + (1-u1)^a (1-l2)^(1-a)) / (a-1))

`tails: 4` is the undirected split t = g/4.  `tails: 2` is t = g/2: the corner then uses l1 and
u2 only (direction P(O) >= Q(O) fixed in advance), while `termwise` still uses all four limits:
that is the printed formula with two intervals of confidence 1-g, which hold jointly only at 1-2g.
`termwise_unclamped` may be negative or "-inf".

Second method: the limits are checked by another evaluation of the binomial tail at the root,
the bounds by mpmath in powers against Arb in logarithms; termwise <= corner for four tails.
"""
import random

import mpmath
from flint import arb, ctx
from mpmath import mp, mpf

import binomial_tail as bt
import clopper_pearson as cp
import table

ORDERS = [1.01, 1.5, 2.0, 5.0, 10.0, 32.0, 100.0, 1000.0]
FAILURES = [0.05, 0.01, 1e-3, 1e-6, 1e-9, 1e-12, 0.5]


def cases():
    """(x1, n1, x2, n2)."""
    yield from [
        (1, 1, 0, 1), (0, 1, 1, 1), (0, 1, 0, 1), (1, 1, 0, 100), (1, 1, 0, 10**12), (10, 10, 0, 10), (0, 10, 10, 10), (10, 10, 5, 10),
        (100, 100, 90, 100), (0, 1000, 30, 1000), (30, 1000, 0, 1000), (1000, 1000, 1000, 1000), (0, 10**6, 0, 10**6),
        (0, 10**6, 50, 10**6), (10**6, 10**6, 999900, 10**6), (550, 1000, 500, 1000), (500, 1000, 550, 1000), (530, 1000, 500, 1000),
        (7500, 10000, 2500, 10000), (50600, 10**5, 49400, 10**5), (49400, 10**5, 50600, 10**5), (63000, 10**5, 37000, 10**5),
        (507050, 10**6, 492950, 10**6), (507050, 10**6, 49295, 10**5), (50, 10**8, 5, 10**8), (5, 10**8, 50, 10**8),
        (50705000, 10**8, 49295000, 10**8), (10**8 - 5, 10**8, 10**8 - 50, 10**8), (5 * 10**9 + 10**6, 10**10, 5 * 10**9, 10**10),
        (507050000000, 10**12, 492950000000, 10**12), (10**12, 10**12, 999999999000, 10**12), (0, 10**12, 100, 10**12),
        (100, 10**12, 0, 10**12), (1, 10**12, 0, 10**12), (500000000000, 10**12, 500001000000, 10**12), (3 * 10**11, 10**12, 30, 100),
        (999999999999, 10**12, 5, 10), (2, 3, 1, 10**12),
    ]
    rng = random.Random(20240614)
    for _ in range(12):
        n1, n2 = (int(10 ** rng.uniform(1, 9)) for _ in range(2))
        yield rng.randint(0, n1), n1, rng.randint(0, n2), n2


LIMITS = {}


def limits(x, n, t):
    """(l, 1-l, u, 1-u) with the worst residual of the second tail evaluation."""
    if (x, n, t) not in LIMITS:
        low, low_c, up, up_c, how_low, how_up = bt.limits(x, n, t)
        residual = max(cp.check(x, n, low, t, how_low)[2], cp.check(n - x, n, up_c, t, how_up)[2])
        LIMITS[x, n, t] = (low, low_c, up, up_c), residual
    return LIMITS[x, n, t]


def combine(p, p_c, q, q_c, a):
    """ln(p^a q^(1-a) + p_c^a q_c^(1-a)) / (a-1) in Arb, and again in mpmath; None for ln 0."""
    terms = [(a * x.log() + (1 - a) * y.log()).exp() for x, y in ((p, q), (p_c, q_c)) if x > 0]
    if not terms:
        return None, 0.0
    value = sum(terms, arb(0)).log() / (a - 1)
    with mp.workdps(100):
        b = table.to_mpf(a)
        m = [table.to_mpf(x) for x in (p, q, p_c, q_c)]
        other = mp.log(sum((x / y) ** (b - 1) * x for x, y in (m[:2], m[2:]) if x > 0)) / (b - 1)
        return value, float(mpmath.nstr(abs(other - table.to_mpf(value)) / abs(other), 3)) if other else 0.0


def entry(x1, n1, x2, n2, order, g, tails):
    t = g / tails  # a power of two: exact
    (l1, l1_c, u1, u1_c), first = limits(x1, n1, t)
    (l2, l2_c, u2, u2_c), second = limits(x2, n2, t)
    a, zero = arb(order), arb(0)
    corner, side, difference = zero, "none", 0.0
    if l1 > u2:
        side = "p1_lower,p2_upper"
        corner, difference = combine(l1, l1_c, u2, u2_c, a)
    elif tails == 4 and u1 < l2:
        side = "p1_upper,p2_lower"
        corner, difference = combine(u1, u1_c, l2, l2_c, a)
    raw, other = combine(l1, u1_c, u2, l2_c, a)
    termwise = raw if raw is not None and raw > 0 else zero
    if tails == 4:
        assert termwise <= corner or (corner - termwise).contains(0), (x1, n1, x2, n2, order, g)
    difference = max(difference, other)
    assert difference < 1e-60, (x1, n1, x2, n2, order, g, difference)
    return {
        "inputs": {"x1": x1, "n1": n1, "x2": x2, "n2": n2, "order": order, "g": g, "tails": tails},
        "expected": {"corner": table.decimal(corner), "corner_side": side, "termwise": table.decimal(termwise),
                     "termwise_unclamped": "-inf" if raw is None else table.decimal(raw)},
        "limits": {"p1_lower": table.decimal(l1), "p1_upper": table.decimal(u1),
                   "p2_lower": table.decimal(l2), "p2_upper": table.decimal(u2)},
        "verify": {"limits_residual": max(first, second), "rel_diff_second_method": difference},
    }


def main():
    ctx.prec = bt.PRECISION
    entries, turn = [], 0
    for counts in cases():
        for tails in (4, 2):
            for _ in range(2):
                entries.append(entry(*counts, ORDERS[turn % len(ORDERS)], FAILURES[turn // 2 % len(FAILURES)], tails))
                turn += 1
    table.write("two_cut_more.json", entries)
    print("worst limit residual", max(e["verify"]["limits_residual"] for e in entries))
    print("worst bound difference", max(e["verify"]["rel_diff_second_method"] for e in entries))
    print("corner > 0:", sum(e["expected"]["corner"] != "0" for e in entries),
          "termwise > 0:", sum(e["expected"]["termwise"] != "0" for e in entries))


if __name__ == "__main__":
    main()
