"""renyi_more.json: Renyi divergences of noisy argmax distributions and of nearly equal vectors.

    python validation/reference/scripts/renyi_divergence.py

With r = p/q and sum p = sum q = 1, sum p^a q^(1-a) - 1 = s,
s = sum_i q_i (r_i^a - 1 - a (r_i - 1)), every term >= 0, and
D_a(P||Q) = ln(1 + s) / (a - 1).  Evaluated with thousands of bits, so
that the cancellation inside a term is harmless.  `discrete` vectors need not sum to one:
their value is ln(sum p^a q^(1-a)) / (a - 1) as it stands.

Second method: for argmax pairs the direct sum of powers on distributions from the second
quadrature; for discrete pairs the direct sum in mpmath with 400 digits.
"""
import random

import mpmath
from flint import arb, ctx

import noisy_argmax as na
import table

WORK = 2000
ORDERS = [1.001, 1.01, 1.5, 2.0, 3.0, 10.0, 32.0, 64.0, 200.0, 1000.0]

# noise, scale, histogram, neighbor, number of orders taken from ORDERS
PAIRS = [
    ("gaussian", 40, [250] + [0] * 9, [249, 1] + [0] * 8, 10),   # consensus, moved
    ("gaussian", 40, [250] + [0] * 9, [249] + [0] * 9, 3),       # removed
    ("gaussian", 40, [250] + [0] * 9, [250, 1] + [0] * 8, 3),    # added
    ("gaussian", 10, [250] + [0] * 9, [249, 1] + [0] * 8, 10),
    ("gaussian", 5, [250, 0, 0], [249, 1, 0], 4),
    ("gaussian", 5, [1000, 0], [999, 1], 4),
    ("gaussian", 100, [125, 125], [124, 126], 4),
    ("gaussian", 40, [125, 125, 0, 0], [124, 126, 0, 0], 4),
    ("gaussian", 40, [70, 66, 40, 30, 20, 10, 8, 4, 1, 1], [69, 67, 40, 30, 20, 10, 8, 4, 1, 1], 10),
    ("gaussian", 40, [70, 66, 40, 30, 20, 10, 8, 4, 1, 1], [70, 66, 40, 30, 20, 10, 8, 4, 1, 0], 3),
    ("gaussian", 500, [5, 4, 3], [4, 5, 3], 4),
    ("gaussian", 500, [5, 4, 3], [5, 4, 4], 3),
    ("gaussian", 1, [3, 3, 3], [2, 4, 3], 4),
    ("gaussian", 0.3, [5, 5, 4], [4, 6, 4], 10),
    ("gaussian", 25, [250] + [0] * 49, [249, 1] + [0] * 48, 4),
    ("gaussian", 3, [5] * 50, [4, 6] + [5] * 48, 4),
    ("gaussian", 40, [25] * 10, [25] * 10, 1),
    ("laplace", 20, [250] + [0] * 9, [249, 1] + [0] * 8, 4),
    ("laplace", 2, [250, 0, 0], [249, 1, 0], 10),
    ("laplace", 20, [70, 66, 40, 30], [69, 67, 40, 30], 4),
    ("laplace", 500, [5, 4, 3], [5, 4, 4], 3),
    ("laplace", 1, [1000, 0], [999, 1], 3),
    ("laplace", 0.5, [3, 3, 3], [2, 4, 3], 4),
]


def spread(count, offset):
    """`count` orders spread over ORDERS, all of them for count 10."""
    return ORDERS if count >= len(ORDERS) else [ORDERS[(offset + (j * len(ORDERS)) // count) % len(ORDERS)] for j in range(count)]


def closed(p):
    """The same distribution with the largest class set to one minus the others, exactly summing to one."""
    top = max(range(len(p)), key=lambda c: float(p[c].log()))
    p = [x.mid() for x in p]
    return [1 - sum(p[:c] + p[c + 1:], arb(0)) if c == top else x for c, x in enumerate(p)]


def divergence(p, q, order):
    """D_order(P||Q) from the non-negative terms; p and q sum to one."""
    a, s = arb(order), arb(0)
    for x, y in zip(p, q):
        ratio = (x - y) / y
        s += y * ((a * ratio.log1p()).expm1() - a * ratio)
    return s.log1p() / (a - 1)


def powers(p, q, order):
    """ln(sum p^a q^(1-a)) / (a-1)."""
    a = arb(order)
    total = sum(((a * x.log() + (1 - a) * y.log()).exp() for x, y in zip(p, q)), arb(0))
    return total.log() / (a - 1)


def distributions(noise, scale, counts):
    """(distribution, distribution by the second quadrature)."""
    ctx.prec = na.PRECISION
    return na.distribution(counts, scale, noise), na.distribution(counts, scale, noise, second=True)


def close_all(distributions):
    """Close every distribution at a precision that keeps the square of its smallest probability."""
    bits = max(-float(x.log()) for p in distributions for x in p) / 0.693
    ctx.prec = WORK + int(2 * bits)
    return [closed(p) for p in distributions]


def agree(first, second, limit, what):
    if first == 0:  # equal distributions
        assert abs(second) < 1e-300, what
        return 0.0
    difference = table.relative_difference(first, second)
    assert difference < limit, (what, difference, first.str(20), second.str(20))
    return difference


def argmax_entries():
    for index, (noise, scale, counts, neighbor, orders) in enumerate(PAIRS):
        p, p2, q, q2 = close_all(distributions(noise, scale, counts) + distributions(noise, scale, neighbor))
        moved = sum((a - b) ** 2 for a, b in zip(counts, neighbor))
        for order in spread(orders, index):
            forward, reverse = divergence(p, q, order), divergence(q, p, order)
            what = (noise, scale, counts, neighbor, order)
            difference = max(agree(forward, powers(p2, q2, order), 1e-36, what),
                             agree(reverse, powers(q2, p2, order), 1e-36, what))
            bound = arb(order) * moved / (2 * arb(scale) ** 2)
            yield {"kind": "argmax",
                   "inputs": {"noise": noise, "scale": scale, "histogram": counts, "neighbor": neighbor, "alpha": order},
                   "expected": table.decimal(forward), "expected_reverse": table.decimal(reverse),
                   "verify": {"rel_diff_second_method": difference,
                              "below_mechanism_rdp": bool(forward <= bound and reverse <= bound) if noise == "gaussian" else None}}


def discrete_cases():
    """Vectors of doubles that differ by a relative 1e-3 .. 1e-9, exactly normalised or not."""
    rng = random.Random(20240612)
    for index, step in enumerate([1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9]):
        # dyadic with 45 bits, sum exactly one: the divergence is of second order
        n = 3 + index % 3 * 3
        unit = 2**45
        p = [rng.randrange(unit // (4 * n), unit // (2 * n)) for _ in range(n - 1)]
        p.append(unit - sum(p))
        q = list(p)
        for i in range(n - 1):
            change = int(q[i] * step * rng.uniform(-1, 1))
            q[i] += change
            q[-1] -= change
        assert sum(p) == sum(q) == unit
        yield [x / unit for x in p], [x / unit for x in q], True
    for index, step in enumerate([1e-3, 1e-5, 1e-7, 1e-9]):
        # one dominant class and tiny ones, rounded to doubles
        tiny = [10 ** -rng.uniform(3, 30) for _ in range(4)]
        p = [1 - sum(tiny)] + tiny
        shifted = [x * (1 + step * rng.uniform(-1, 1)) for x in tiny]
        yield p, [1 - sum(shifted)] + shifted, False


def discrete_entries():
    ctx.prec = WORK
    for index, (p, q, normalised) in enumerate(discrete_cases()):
        for order in spread(4, index):
            value = powers([arb(x) for x in p], [arb(x) for x in q], order)
            with mpmath.workdps(400):
                a = mpmath.mpf(order)
                direct = mpmath.log(mpmath.fsum(mpmath.mpf(x) ** a * mpmath.mpf(y) ** (1 - a) for x, y in zip(p, q))) / (a - 1)
                difference = float(mpmath.nstr(abs(direct / table.to_mpf(value) - 1), 3))
            assert difference < 1e-100, (p, q, order, difference)
            if normalised:
                difference = max(difference, agree(value, divergence([arb(x) for x in p], [arb(x) for x in q], order), 1e-100, order))
            yield {"kind": "discrete", "inputs": {"p": p, "q": q, "alpha": order},
                   "expected": table.decimal(value),
                   "verify": {"rel_diff_second_method": difference, "sums_to_one": normalised}}


def main():
    entries = list(argmax_entries()) + list(discrete_entries())
    table.write("renyi_more.json", entries)
    print("worst", max(e["verify"]["rel_diff_second_method"] for e in entries))
    print("above the Gaussian mechanism's RDP:", sum(e["verify"].get("below_mechanism_rdp") is False for e in entries))


if __name__ == "__main__":
    main()
