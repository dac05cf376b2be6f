"""gnmax_more.json: data-dependent RDP cost of one GNMax query.

    python validation/reference/scripts/gnmax_cost.py

Papernot et al. 2018, Theorem 6 with the higher orders of Proposition 10.  With
L = ln(1/q), mu2 = sigma sqrt(L), mu1 = mu2 + 1, e1 = mu1/sigma^2, e2 = mu2/sigma^2: if
mu1 >= a, mu2 > 1 and q <= e^((mu2-1) e2) / (mu1/(mu1-1) mu2/(mu2-1))^mu2, then

    bound(a) = ln[(1-q) A^(a-1) + q B^(a-1)] / (a-1),
    A = (1-q) / (1 - (q e^e2)^((mu2-1)/mu2)),   B = e^e1 / q^(1/(mu1-1)),

and the cost is min(bound, a/sigma^2); otherwise a/sigma^2.
`kind: ln_q` takes ln q as given; `kind: histogram` forms
q = min(1 - 1/C, 1/2 sum_{i != top} erfc((n_top - n_i) / (2 sigma))).

Evaluated in mpmath and again in Arb from the expanded exponents.
`branch` says which value won: data_dependent, fallback_smaller (bound applies
but is above a/sigma^2) or fallback (a condition fails, named in `failed`).
"""
import random

import mpmath
from flint import arb, ctx
from mpmath import mp, mpf

import table

DIGITS = 2500  # q reaches 1e-1700 and the cost is about q


def cost_mpmath(ln_q, sigma, order):
    q, s, a = mp.exp(ln_q), mpf(sigma), mpf(order)
    mu2 = s * mp.sqrt(-ln_q)
    mu1 = mu2 + 1
    e1, e2, plain = mu1 / s**2, mu2 / s**2, a / s**2
    failed = []
    if not mu1 >= a:
        failed.append("mu1 >= order")
    if not mu2 > 1:
        failed.append("mu2 > 1")
    elif not ln_q <= (mu2 - 1) * e2 - mu2 * mp.log(mu1 / (mu1 - 1) * mu2 / (mu2 - 1)):
        failed.append("q small enough")
    if failed:
        return plain, "fallback", failed
    big_a = (1 - q) / (1 - (q * mp.exp(e2)) ** ((mu2 - 1) / mu2))
    big_b = mp.exp(e1) / q ** (1 / (mu1 - 1))
    bound = mp.log((1 - q) * big_a ** (a - 1) + q * big_b ** (a - 1)) / (a - 1)
    return (bound, "data_dependent", []) if bound < plain else (plain, "fallback_smaller", [])


def bound_arb(ln_q, sigma, order):
    """The bound from u = ln(1-q), v = ln(1 - (q e^e2)^((mu2-1)/mu2)) and ln B."""
    s, a = arb(sigma), arb(order)
    mu2 = s * (-ln_q).sqrt()
    u = (-(ln_q.exp())).log1p()
    v = (-(((ln_q + mu2 / s**2) * (1 - 1 / mu2)).exp())).log1p()
    ln_b = (mu2 + 1) / s**2 - ln_q / mu2
    first = u + (a - 1) * (u - v)
    second = ln_q + (a - 1) * ln_b
    return (first.expm1() + second.exp()).log1p() / (a - 1)


def ln_q_of(histogram, sigma):
    """(mpmath, Arb) values of ln q and whether the cap 1 - 1/C was used."""
    rest = sorted(histogram, reverse=True)
    top, rest = rest[0], rest[1:]
    q = mp.fsum(mp.erfc(mpf(top - n) / (2 * mpf(sigma))) for n in rest) / 2
    cap = 1 - mpf(1) / len(histogram)
    half = sum((((arb(top) - n) / (2 * arb(sigma))).erfc() for n in rest), arb(0)) / 2
    if q < cap:
        return mp.log(q), half.log(), False
    return mp.log(cap), (1 - arb(1) / len(histogram)).log(), True


DIRECT = [
    (-690.0, [100, 10, 1]), (-627.2879617772957, [100, 40, 500]), (-460.0, [40, 5]), (-230.0, [40, 100, 2]), (-100.0, [40, 10, 1]),
    (-50.0, [40, 20, 0.5]), (-30.0, [40, 4, 150]), (-20.0, [40, 100]), (-12.5, [40, 10]), (-9.115466408731283, [40, 20]),
    (-5.903330380876797, [40, 100]), (-3.0, [40, 7]), (-2.0, [40, 500]), (-1.0, [40, 10]), (-0.7, [40]), (-0.4054651081081643, [40, 1]),
    (-0.1, [40, 4]), (-1e-3, [40, 1000]),
]
ORDERS = [1.001, 1.01, 1.5, 2.0, 5.0, 10.0, 20.0, 50.0, 200.0]
HISTOGRAMS = [
    ([250] + [0] * 9, [2, 5, 10, 20, 40, 100]), ([200, 50] + [0] * 8, [40, 10]), ([150, 100] + [0] * 8, [40, 4]),
    ([126, 124], [40, 1]), ([125, 125], [40]), ([100, 99, 51], [40, 2]), ([5000, 0], [100]), ([5000] + [100] * 9, [100]),
    ([240] + [1] * 10, [40]), ([25] * 10, [40]), ([30] + [20] * 11, [15]), ([4500, 300, 200], [150, 60]),
]


def entry(kind, inputs, ln_q, ln_q_arb, sigma, order, extra):
    value, branch, failed = cost_mpmath(ln_q, sigma, order)
    if branch == "fallback":
        difference = table.relative_difference(arb(order) / arb(sigma) ** 2, arb(mpmath.nstr(value, 60)))
    else:
        other = bound_arb(ln_q_arb, sigma, order)
        if branch == "fallback_smaller":
            assert other > arb(order) / arb(sigma) ** 2
            difference = 0.0
        else:
            difference = float(mpmath.nstr(abs(table.to_mpf(other) / value - 1), 3))
    assert difference < 1e-50, (kind, inputs, difference)
    return {"kind": kind, "inputs": {**inputs, "sigma": sigma, "order": order},
            "expected": {"epsilon": table.decimal(value), **extra}, "branch": branch, "failed": failed,
            "verify": {"rel_diff_second_method": difference}}


def main():
    mp.dps = DIGITS
    ctx.prec = int(DIGITS * 3.33)
    rng = random.Random(20240613)
    entries = []
    for ln_q, sigmas in DIRECT:
        for sigma in sigmas:
            for order in rng.sample(ORDERS, 4):
                entries.append(entry("ln_q", {"ln_q": ln_q}, mpf(ln_q), arb(ln_q), sigma, order, {}))
    for histogram, sigmas in HISTOGRAMS:
        for sigma in sigmas:
            ln_q, ln_q_arb, capped = ln_q_of(histogram, sigma)
            for order in rng.sample(ORDERS, 4):
                entries.append(entry("histogram", {"histogram": histogram}, ln_q, ln_q_arb, sigma, order,
                                     {"ln_q": table.decimal(ln_q), "q_capped": capped}))
    table.write("gnmax_more.json", entries)
    print("worst", max(e["verify"]["rel_diff_second_method"] for e in entries))
    for branch in ("data_dependent", "fallback_smaller", "fallback"):
        print(branch, sum(e["branch"] == branch for e in entries))


if __name__ == "__main__":
    main()
