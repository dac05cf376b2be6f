"""cp_more.json: one-sided Clopper-Pearson limits.

    python validation/reference/scripts/clopper_pearson.py

The root comes from Newton's method on the binomial tail (finite sum, or 
quadrature of the beta density); the tail at the root is then evaluated by a
second, unrelated method and its relative residual is stored.
"""
import random

from flint import arb, ctx

import binomial_tail as bt
import table

ALPHAS = [0.5, 0.25, 0.1, 0.05, 0.025, 0.0125, 0.01, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-15, 0.9, 0.99]
TRIALS = [1, 2, 3, 5, 10, 37, 100, 1000, 12345, 10**5, 10**6, 10**7, 10**8, 10**9, 10**10, 10**11, 10**12]


def cases():
    rng = random.Random(20240611)
    turn = 0
    for n in TRIALS:
        ks = [0, 1, 2, 3, 5, 10, n // 1000, n // 4, n // 2, n - 2, n - 1, n, rng.randint(0, n), rng.randint(0, n)]
        for k in sorted({k for k in ks if 0 <= k <= n}):
            yield k, n, ALPHAS[turn % len(ALPHAS)]
            turn += 1
    n = 2**53
    for k, alpha in [(0, 1e-15), (1, 0.05), (2, 1e-12), (10, 0.025), (n // 1000, 0.05), (n // 4, 1e-9),
                     (n // 2, 0.025), (n // 2, 0.99), (n - 2, 0.01), (n, 0.5), (10**6, 1e-15)]:
        yield k, n, alpha


def second(k, n, x, first):
    """Tail at the root by a method other than `first`."""
    if first in ("beta-integral", "closed") and min(k, n - k + 1) <= 4000:
        return bt.tail_by_sum(k, n, x), "sum"
    return bt.tail_by_ratio(k, n, x.mid()), "ratio-of-integrals"


def check(k, n, x, alpha, first):
    if first == "exact":
        return ["exact", "exact", 0.0]
    value, name = second(k, n, x, first)
    residual = table.relative_difference(value, arb(alpha))
    assert residual < 1e-40, (k, n, alpha, first, name, residual)
    return [first, name, residual]


def main():
    entries = []
    for k, n, alpha in cases():
        low, low_c, up, up_c, how_low, how_up = bt.limits(k, n, alpha)
        entries.append({
            "inputs": {"k": k, "n": n, "alpha": alpha},
            "expected": {"lower": table.decimal(low), "one_minus_lower": table.decimal(low_c),
                         "upper": table.decimal(up), "one_minus_upper": table.decimal(up_c)},
            "verify": {"lower": check(k, n, low, alpha, how_low),
                       "upper": check(n - k, n, up_c, alpha, how_up)}})
    table.write("cp_more.json", entries)
    print("worst residual", max(e["verify"][s][2] for e in entries for s in ("lower", "upper")))


if __name__ == "__main__":
    ctx.prec = bt.PRECISION
    main()
