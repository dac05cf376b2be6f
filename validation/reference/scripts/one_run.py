"""one_run.json: audits by one training run.

    python validation/reference/scripts/one_run.py

`kind: p_value`  beta + 2 m delta alpha of Steinke, Nasr and Jagielski (2023), Theorem 5.2, before it is cut at 1: beta =
                 P(W >= v), alpha = max over i = 1..v of P(v > W >= v - i)/i, W ~ Bin(r, e^eps/(1 + e^eps)).
`kind: epsilon`  the eps at which that is f, by bisection between 0 and the value for delta = 0; only where it is below f
                 at eps = 0.
`kind: mu`       the largest mu that the recursion of Mahloujifar, Melis and Chaudhuri (2025) refutes, by bisection.

mpmath with 60 digits; the second method of a p-value sums over wrong instead of right guesses, that of a root is the
residual at the root with 90 digits.
"""
import random

import mpmath
from mpmath import mp, mpf

import table


def p_value(v, r, m, eps, delta, by_wrong=False):
    odds = mp.exp(mpf(eps))  # of a right guess
    # mass[k] = P(k right guesses), from either end.
    mass = [None] * (r + 1)
    if by_wrong:
        mass[r] = (odds / (1 + odds)) ** r
        for k in range(r, 0, -1):
            mass[k - 1] = mass[k] * k / ((r - k + 1) * odds)
    else:
        mass[0] = (1 + odds) ** -r
        for k in range(r):
            mass[k + 1] = mass[k] * (r - k) * odds / (k + 1)
    beta = mp.fsum(mass[v:])
    alpha, total = mpf(0), mpf(0)
    for i in range(1, v + 1):
        total += mass[v - i]
        alpha = max(alpha, total / i)
    return beta + 2 * m * mpf(delta) * alpha


def refuted(v, r, m, f, mu):
    right, wrong = mpf(f) * v / m, mpf(f) * (r - v) / m
    for i in range(v - 1, -1, -1):
        blown = mp.ncdf(quantile(right) - mu) if right < 1 else mpf(1)
        if blown <= wrong:
            break
        right, wrong = right + mpf(i) / (r - i) * (blown - wrong), blown
        if right + wrong > 2:
            return True
    return right + wrong > mpf(r) / m


def quantile(p):
    return mp.sqrt(2) * mp.erfinv(2 * p - 1)


def bisect(above, low, high, steps):
    low, high = mpf(low), mpf(high)
    for _ in range(steps):
        middle = (low + high) / 2
        if above(middle):
            high = middle
        else:
            low = middle
    return (low + high) / 2


def main():
    stream = random.Random(7)
    entries = []
    cases = [(90, 100, 1000), (75, 100, 100), (1, 1, 1), (5, 5, 40), (120, 120, 120), (170, 200, 5000), (3, 10, 10)]
    cases += [(stream.randint(r // 2, r), r, r + stream.randint(0, 300)) for r in (7, 20, 60, 150)]
    for v, r, m in cases:
        for eps, delta in [(0.0, 0.0), (0.0, 1e-3), (0.5, 1e-6), (1.0, 1e-5), (4.0, 1e-4), (9.0, 0.0)]:
            with mp.workdps(60):
                value = p_value(v, r, m, eps, delta)
                second = p_value(v, r, m, eps, delta, by_wrong=True)
                entries.append({
                    "kind": "p_value",
                    "inputs": {"right": v, "guesses": r, "canaries": m, "epsilon": eps, "delta": delta},
                    "expected": table.decimal(value),
                    "verify": {"rel_diff_second_method": float(mpmath.nstr(abs(value - second) / value, 3))},
                })
    for v, r, m in cases:
        for delta, f in [(0.0, 0.05), (1e-6, 0.05), (1e-4, 1e-3), (1e-9, 1e-12)]:
            with mp.workdps(60):
                if p_value(v, r, m, 0, delta) >= mpf(f):
                    continue
                eps = bisect(lambda e: p_value(v, r, m, e, delta) > mpf(f), 0, 60, 145)
            with mp.workdps(90):
                residual = abs(p_value(v, r, m, eps, delta) / mpf(f) - 1)
            entries.append({
                "kind": "epsilon",
                "inputs": {"right": v, "guesses": r, "canaries": m, "delta": delta, "failure": f},
                "expected": table.decimal(eps),
                "verify": {"rel_residual": float(mpmath.nstr(residual, 3))},
            })
    for v, r, m, f in [(75, 100, 100, 0.05), (58, 60, 60, 0.05), (40, 40, 200, 0.01), (20, 20, 20, 1e-6), (28, 40, 40, 0.3)]:
        with mp.workdps(30):
            mu = bisect(lambda mu: not refuted(v, r, m, f, mu), 0, 16, 90)
            entries.append({
                "kind": "mu",
                "inputs": {"right": v, "guesses": r, "canaries": m, "failure": f},
                "expected": mpmath.nstr(mu, 24),
                "verify": {"method": "bisection with 30 digits, 90 halvings"},
            })
    table.write("one_run.json", entries)


if __name__ == "__main__":
    main()
