"""conversions_more.json: (eps, delta) from RDP curves given on order grids.

    python validation/reference/scripts/rdp_conversion.py

`kind` and value, each a minimum over the orders a of the entry (rho = rdp at a):
    rdp_to_dp_epsilon          rho + ln((a-1)/a) - (ln delta + ln a)/(a-1)   Balle et al. 2020, Thm 21
    rdp_to_dp_epsilon_classic  rho + ln(1/delta)/(a-1)                       Mironov 2017, Prop. 3
    rdp_to_dp_delta            exp((a-1)(rho-eps)) (1-1/a)^(a-1) / a         Balle et al. 2020
    rdp_to_dp_delta_classic    exp((a-1)(rho-eps))                           Mironov 2017
`expected` is the minimum as it stands; `clamped_expected` is max(0, eps) or min(1, delta).
Second method: Arb on the rearranged Balle form (ln(1/delta) + (a-1) ln(1-1/a) - ln a)/(a-1) + rho
and delta = exp((a-1)(rho-eps)) (1-1/a)^a / (a-1); and for every improved epsilon the delta
formula at that epsilon must return the given delta.
"""
import mpmath
from flint import arb, ctx
from mpmath import mp, mpf

import table

INTEGERS = list(range(2, 65))
MIXED = [1.01, 1.05, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0, 20.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1000.0]
CLOSE = [1.0001, 1.001, 1.01, 1.1]
DELTAS = [1e-3, 1e-5, 1e-6, 1e-9, 1e-12, 1e-15, 0.1, 1e-100]
EPSILONS = [0.0, 0.1, 1.0, 3.0, 10.0, 100.0]


def laplace(a, b):
    """RDP of the Laplace mechanism of scale b, rounded to a double."""
    with mpmath.workdps(30):
        a, b = mpf(a), mpf(b)
        return float(mp.log(a / (2 * a - 1) * mp.exp((a - 1) / b) + (a - 1) / (2 * a - 1) * mp.exp(-a / b)) / (a - 1))


CURVES = [  # name, orders, rdp values (doubles)
    ("gaussian sigma 40, 1000 queries", MIXED, [1000 * a / 40**2 for a in MIXED]),
    ("gaussian sigma 40, 1 query", MIXED, [a / 40**2 for a in MIXED]),
    ("gaussian sigma 1", INTEGERS, [a / 2 for a in INTEGERS]),
    ("gaussian sigma 0.1", CLOSE + [2.0], [50 * a for a in CLOSE + [2.0]]),
    ("laplace scale 20, 100 queries", MIXED[:20], [100 * laplace(a, 20) for a in MIXED[:20]]),
    ("laplace scale 1", MIXED[:20], [laplace(a, 1) for a in MIXED[:20]]),
    ("consensus", MIXED, [1e-60 * 1.3 ** (i * i / 8) for i, a in enumerate(MIXED)]),
    ("zero", MIXED, [0.0 for a in MIXED]),
    ("one order", [8.0], [0.25]),
    ("steep", MIXED, [1e-6 * a * a for a in MIXED]),
]


def epsilon(a, rho, delta, classic):
    if classic:
        return rho - mp.log(delta) / (a - 1)
    return rho + mp.log((a - 1) / a) - (mp.log(delta) + mp.log(a)) / (a - 1)


def ln_delta(a, rho, eps, classic):
    value = (a - 1) * (rho - eps)
    return value if classic else value + (a - 1) * mp.log(1 - 1 / a) - mp.log(a)


def epsilon_arb(a, rho, delta, classic):
    a, rho, delta = arb(a), arb(rho), arb(delta)
    if classic:
        return rho + (1 / delta).log() / (a - 1)
    return ((1 / delta).log() + (a - 1) * (-1 / a).log1p() - a.log()) / (a - 1) + rho


def delta_arb(a, rho, eps, classic):
    a, rho, eps = arb(a), arb(rho), arb(eps)
    value = ((a - 1) * (rho - eps)).exp()
    return value if classic else value * (1 - 1 / a) ** a / (a - 1)


def best(orders, values):
    return min(zip(values, orders))


def main():
    mp.dps, ctx.prec = 80, 300
    entries = []
    for number, (name, orders, rdp) in enumerate(CURVES):
        pairs = [(mpf(a), mpf(r)) for a, r in zip(orders, rdp)]
        for classic, suffix in ((False, ""), (True, "_classic")):
            for delta in DELTAS[number % 2::2]:
                value, order = best(orders, [epsilon(a, r, mpf(delta), classic) for a, r in pairs])
                other = min(epsilon_arb(a, r, delta, classic).mid() for a, r in zip(orders, rdp))
                difference = float(mpmath.nstr(abs(table.to_mpf(other) / value - 1), 3))
                if not classic:
                    a, r = pairs[orders.index(order)]
                    back = mp.exp(ln_delta(a, r, value, False)) / mpf(delta)
                    assert abs(back - 1) < mpf(10) ** -70
                entries.append({"kind": "rdp_to_dp_epsilon" + suffix,
                                "inputs": {"curve": name, "orders": orders, "rdp": rdp, "delta": delta},
                                "expected": table.decimal(value), "best_order": order,
                                "clamped_expected": table.decimal(max(mpf(0), value)),
                                "verify": {"rel_diff_second_method": difference}})
            for eps in EPSILONS[number % 2::2]:
                value, order = best(orders, [ln_delta(a, r, mpf(eps), classic) for a, r in pairs])
                difference = float(mpmath.nstr(abs(table.to_mpf(delta_arb(order, rdp[orders.index(order)], eps, classic)) / mp.exp(value) - 1), 3))
                entries.append({"kind": "rdp_to_dp_delta" + suffix,
                                "inputs": {"curve": name, "orders": orders, "rdp": rdp, "epsilon": eps},
                                "expected": table.decimal(mp.exp(value)), "best_order": order, "log_expected": table.decimal(value),
                                "clamped_expected": table.decimal(min(mpf(1), mp.exp(value))),
                                "verify": {"rel_diff_second_method": difference}})
    for e in entries:
        assert e["verify"]["rel_diff_second_method"] < 1e-60, e
    table.write("conversions_more.json", entries)
    print("worst", max(e["verify"]["rel_diff_second_method"] for e in entries))


if __name__ == "__main__":
    main()
