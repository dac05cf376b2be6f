"""pate_costs.json: costs of PATE mechanisms and distributions of threshold tests.

    python validation/reference/scripts/pate_costs.py

`kind: lnmax`      ln q of a histogram under Laplace noise (union bound) and the cost of one query by Papernot et al. 2017,
                   Theorem 3: with e = 2/b, l = a-1, for q <= 1/(e^e + 1)
                   ln[(1-q) ((1-q)/(1 - e^e q))^l + q e^(e l)]/l, never above twice the Laplace mechanism.
`kind: threshold`  ln P(pass), ln P(fail) of a noisy threshold test (form max or per-class) and its cost by Papernot et al.
                   2018, Theorem 6, for a mechanism of RDP a/(2 s^2), with q = min(P(pass), P(fail)).
`kind: gnss`       the divergence of N(1, S^2) and N(0, (S e^-b)^2) with S = s e^b: the worst pair of the release with
                   smooth sensitivity.
`kind: k_rr`       k-ary randomised response.

Everything in mpmath with 5000 digits; the second method of lnmax and k_rr is another arrangement of the formula, that of
gnss is numerical integration; threshold has none beyond those of gnmax_more.json and tails.json.
"""
import random

import mpmath
from mpmath import mp, mpf

import table
from gnmax_cost import cost_mpmath

DIGITS = 5000  # q reaches 1e-4300


def laplace(a, b):
    a, b = mpf(a), mpf(b)
    return mp.log(a / (2 * a - 1) * mp.exp((a - 1) / b) + (a - 1) / (2 * a - 1) * mp.exp(-a / b)) / (a - 1)


def lnmax(histogram, b, order):
    rest = sorted(histogram, reverse=True)
    gaps = [mpf(rest[0] - n) / mpf(b) for n in rest[1:]]
    q = min(mp.fsum((2 + g) / 4 * mp.exp(-g) for g in gaps), 1 - mpf(1) / len(histogram))
    e, l, plain = 2 / mpf(b), mpf(order) - 1, 2 * laplace(order, b)
    if q > 1 / (mp.exp(e) + 1):
        return mp.log(q), plain, mpf(0)
    value = mp.log((1 - q) * ((1 - q) / (1 - mp.exp(e) * q)) ** l + q * mp.exp(e * l)) / l
    again = mp.log1p((1 - q) * mp.expm1(l * (mp.log1p(-q) - mp.log1p(-mp.exp(e) * q))) + q * mp.expm1(e * l)) / l
    return mp.log(q), min(value, plain), abs(again / value - 1)


def ndtr(z):
    return mp.erfc(-z / mp.sqrt(2)) / 2


def threshold(histogram, t, sigma, form, order):
    z = [(mpf(t) - n) / mpf(sigma) for n in histogram]
    if form == "max":
        fail, passes = ndtr(min(z)), ndtr(-min(z))
    else:
        fail = mp.fprod(ndtr(x) for x in z)
        passes = 1 - fail
    ln_q = mp.log(min(fail, passes))
    # s sqrt 2 is formed in double precision by the library; a relative 1e-16 of sigma is below the tolerance.
    cost, _, _ = cost_mpmath(ln_q, mp.sqrt(2) * mpf(sigma), order)
    return mp.log(passes), mp.log(fail), cost


def gnss(beta, sigma, order):
    a, r = mpf(order), mp.exp(-mpf(beta))
    s0, s1 = mpf(sigma) / r, mpf(sigma)
    # |f - f'| = 1 = s1/sigma.
    star = (1 - a) * s0**2 + a * s1**2
    if star <= 0:
        return None, None
    value = a / (2 * star) + mp.log(mp.sqrt(star) / (s0 ** (1 - a) * s1**a)) / (1 - a)
    with mp.workdps(40):
        centre = a * s1**2 / star
        width = s0 * s1 / mp.sqrt(star)
        density = lambda x, m, s: -((x - m) / s) ** 2 / 2 - mp.log(s) - mp.log(2 * mp.pi) / 2
        points = [centre + width * k for k in range(-20, 21, 4)]
        integral = mp.quad(lambda x: mp.exp(a * density(x, 1, s0) + (1 - a) * density(x, 0, s1)), points)
        again = mp.log(integral) / (a - 1)
    return value, abs(again / value - 1)


def k_rr(epsilon, k, order):
    e, a = mpf(epsilon), mpf(order)
    lie = 1 / (mp.exp(e) + k - 1)
    truth = mp.exp(e) * lie
    value = mp.log(truth**a * lie ** (1 - a) + lie**a * truth ** (1 - a) + (k - 2) * lie) / (a - 1)
    again = mp.log1p(lie * -mp.expm1(-(a - 1) * e) * mp.expm1(a * e)) / (a - 1)
    return value, abs(again / value - 1)


HISTOGRAMS = [[250] + [0] * 9, [200, 40, 10], [100, 99, 51], [126, 124], [25] * 10, [12, 0], [5000, 0, 0], [7, 3, 3, 1]]
ORDERS = [1.001, 1.01, 1.5, 2.0, 5.0, 10.0, 50.0, 200.0]


def main():
    mp.dps = DIGITS
    rng = random.Random(20261121)
    entries, worst = [], mpf(0)

    def add(kind, inputs, expected, difference):
        nonlocal worst
        assert difference < mpf(10) ** -30, (kind, inputs, difference)
        worst = max(worst, difference)
        expected = {name: table.decimal(value) for name, value in expected.items()}
        entries.append({"kind": kind, "inputs": inputs, "expected": expected,
                        "verify": {"rel_diff_second_method": float(mpmath.nstr(difference, 3))}})

    for histogram in HISTOGRAMS:
        for b in [0.5, 2, 20, 40]:
            for order in rng.sample(ORDERS, 3):
                ln_q, cost, difference = lnmax(histogram, b, order)
                add("lnmax", {"histogram": histogram, "b": b, "order": order}, {"ln_q": ln_q, "epsilon": cost}, difference)
    for histogram, t, sigma in [(HISTOGRAMS[0], 200, 150), (HISTOGRAMS[1], 150, 30), (HISTOGRAMS[2], 200, 10),
                                (HISTOGRAMS[3], 120.5, 2), (HISTOGRAMS[4], 40, 5), (HISTOGRAMS[5], 6, 0.25),
                                (HISTOGRAMS[7], 30, 1), (HISTOGRAMS[7], -12, 1)]:
        for form in ["max", "per-class"]:
            for order in rng.sample(ORDERS, 3):
                ln_pass, ln_fail, cost = threshold(histogram, t, sigma, form, order)
                add("threshold", {"histogram": histogram, "threshold": t, "sigma": sigma, "form": form, "order": order},
                    {"ln_pass": ln_pass, "ln_fail": ln_fail, "epsilon": cost}, mpf(0))
    for beta in [0.0, 1e-4, 0.01, 0.02, 0.05, 0.2]:
        for sigma in [0.5, 5, 40]:
            for order in [1.01, 2.0, 8.0, 20.0]:
                value, difference = gnss(beta, sigma, order)
                if value is not None:
                    add("gnss", {"beta": beta, "sigma": sigma, "order": order}, {"epsilon": value}, difference)
    for epsilon in [1e-8, 0.1, 1.0, 5.0, 30.0]:
        for k in [2, 3, 10, 1000]:
            order = rng.choice(ORDERS)
            value, difference = k_rr(epsilon, k, order)
            add("k_rr", {"epsilon": epsilon, "k": k, "order": order}, {"epsilon": value}, difference)
    table.write("pate_costs.json", entries)
    print("worst", mpmath.nstr(worst, 3))


if __name__ == "__main__":
    main()
