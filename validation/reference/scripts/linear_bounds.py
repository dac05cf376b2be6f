"""linear_bounds.json: bounds from one linear functional of both distributions, by their formulas in 60 digits.

    python validation/reference/scripts/linear_bounds.py

Levels, with the double operations of the library: tail = ((g * 0.1) * (1 - 4 eps)) / tails and
main = (g * 0.9) * (1 - 4 eps), tails = 4 for two classes and 4 C otherwise.  Each class probability has
the one-sided Clopper-Pearson limits l, u at `tail`; all that follows is real arithmetic on them.

For values v on the classes of one world with counts x, n, the mean of the frequencies c, and the
extremes m_l, m_u of sum P v over {l <= P <= u, sum P = 1}:
    V_high = min(max E(v-c)^2, (max v - m)(m - min v) at the m in [m_l, m_u] nearest to the middle)
    V_low  = max(1/2 sum_ij l_i l_j (v_i-v_j)^2, min E max(0, |v - (m_l+m_u)/2| - (m_u-m_l)/2)^2)
    R      = max over m in {m_l, m_u} of max E|v-m|^3
    M      = max(max v - m_l, m_u - min v),   b = max v - m_l
Both worlds add up: V/n, R/n^2, and the larger M/n, b/n.  With L = min(R/V_low, M)/sqrt(V_low),
    width = min(sqrt(V_high) z(main - 0.5606 L), Bennett(V_high, b, main)),   lower limit = mean - width.

kind `half_space`: `width` is the supremum over u = p(1-p), v = q(1-q) within the limits of the width above with
V = u/n1 + v/n2 (both variances), R = u(1-2u)/n1^2 + v(1-2v)/n2^2, b = max((1-l1)/n1, u2/n2) and
M = max(u1/n1, (1-l1)/n1, u2/n2, (1-l2)/n2); `difference` = x1/n1 - x2/n2 - width is the lower limit Delta of p - q.
`forward` and `reverse` are the least 2-cut divergences D(p||q), D(q||p) over {box, p - q >= Delta}, 0 where it meets
p = q; `forward_least`, `reverse_least` the same for a width that is 2.1e-3 of itself larger, since the library stops
its search within 2e-3 of the supremum.  The region of two classes contains that set, whatever its score.
kind `tangent`: `excess` is the lower limit of E_P gain - E_Q cost, gain = a (r^(a-1) - 1),
cost = (a-1)(r^a - 1), r = e^l with the doubles l of `log_ratio`; `bound` = ln(1 + max(0, excess))/(a-1).

Second method: extremes over box and simplex by enumerating vertices against the greedy solution; the
half-space minimum by golden section on the value against the root of the derivative; the Bennett width
against the minimum over lambda of the exponential moment bound.
"""
import itertools

import mpmath
from flint import ctx
from mpmath import mp, mpf

import binomial_tail as bt
import table

EPS = 2.0 ** -52
BERRY_ESSEEN = mpf(5606) / 10000
WORST = {"vertices": 0.0, "minimum": 0.0, "bennett": 0.0}


def levels(g, tails):
    part = lambda share: g * share * (1.0 - 4.0 * EPS)
    return part(0.1) / tails, part(1.0 - 0.1)


LIMITS = {}


def limits(k, n, t):
    if (k, n, t) not in LIMITS:
        LIMITS[k, n, t] = [table.to_mpf(x) for x in bt.limits(k, n, t)[:4]]
    return LIMITS[k, n, t]


def box(counts, tail):
    n = sum(counts)
    if len(counts) == 2:
        l, lc, u, uc = limits(counts[0], n, tail)
        return [l, uc], [u, lc]
    pairs = [limits(k, n, tail) for k in counts]
    return [p[0] for p in pairs], [p[2] for p in pairs]


def greedy(values, low, high):
    """max sum P v."""
    spare, total = 1 - mp.fsum(low), mp.fsum(l * v for l, v in zip(low, values))
    for c in sorted(range(len(values)), key=lambda c: -values[c]):
        added = min(high[c] - low[c], spare)
        spare, total = spare - added, total + added * values[c]
    return total


def vertices(values, low, high):
    best = -mp.inf
    for free in range(len(values)):
        rest = [c for c in range(len(values)) if c != free]
        for ends in itertools.product((0, 1), repeat=len(rest)):
            p = {c: (low[c], high[c])[e] for c, e in zip(rest, ends)}
            p[free] = 1 - mp.fsum(p.values())
            if low[free] - mpf(10) ** -50 <= p[free] <= high[free] + mpf(10) ** -50:
                best = max(best, mp.fsum(p[c] * values[c] for c in p))
    return best


def largest(values, bounds):
    first = greedy(values, *bounds)
    second = vertices(values, *bounds)
    difference = abs(first - second) / (mpf(1e-30) + max(abs(v) for v in values))
    WORST["vertices"] = max(WORST["vertices"], float(difference))
    return first


def moments(counts, values, bounds):
    n = sum(counts)
    mean = mp.fsum(mpf(k) * v for k, v in zip(counts, values)) / n
    low, high = -largest([-v for v in values], bounds), largest(values, bounds)
    top, bottom = max(values), min(values)
    nearest = min(max((top + bottom) / 2, low), high)
    v_high = min(largest([(v - mean) ** 2 for v in values], bounds), (top - nearest) * (nearest - bottom))
    pairs = mp.fsum(a * b * (v - w) ** 2 for a, v in zip(bounds[0], values) for b, w in zip(bounds[0], values)) / 2
    middle, half = (low + high) / 2, (high - low) / 2
    apart = -largest([-max(mpf(0), abs(v - middle) - half) ** 2 for v in values], bounds)
    third = max(largest([abs(v - m) ** 3 for v in values], bounds) for m in (low, high))
    reach = top - low
    return mean, max(pairs, apart) / n, v_high / n, third / n**2, max(reach, high - bottom) / n, reach / n


def bennett(variance, reach, g):
    if variance <= 0 or reach <= 0:
        return mpf(0)
    y = -mp.log(g) * reach**2 / variance
    h = lambda u: (1 + u) * mp.log1p(u) - u
    high = y / 3 + mp.sqrt(y * y / 9 + 2 * y)
    u = mp.findroot(lambda u: h(u) - y, (high / 2, high), solver="anderson", tol=mpf(10) ** -90, verify=False)
    t = u * variance / reach
    # inf over lambda of (V (e^{lambda b} - 1 - lambda b)/b^2 + ln 1/g)/lambda is the same t.
    lam = mp.log1p(u) / reach
    other = (variance * (mp.expm1(lam * reach) - lam * reach) / reach**2 - mp.log(g)) / lam
    WORST["bennett"] = max(WORST["bennett"], float(abs(other - t) / t))
    return t


def quantile(g):
    """z with 1 - Phi(z) = g."""
    start = mp.sqrt(2) * mp.erfinv(1 - 2 * mpf(g)) if g > 1e-15 else mp.sqrt(-2 * mp.log(g))
    return mp.findroot(lambda z: mp.log(mp.erfc(z / mp.sqrt(2)) / 2) - mp.log(g), start)


def lower_limit(worlds, main):
    """worlds: (counts, values, box)."""
    parts = [moments(*world) for world in worlds]
    mean, v_low, v_high, third = (mp.fsum(p[i] for p in parts) for i in range(4))
    deviation, reach = (max(p[i] for p in parts) for i in (4, 5))
    width = bennett(v_high, reach, main)
    if v_low > 0:
        tail = mpf(main) - BERRY_ESSEEN * min(third / v_low, deviation) / mp.sqrt(v_low)
        if tail > 0:
            width = min(width, max(quantile(tail), mpf(0)) * mp.sqrt(v_high))
    return mean - width


def width_at(u, v, n1, n2, reach, deviation, main):
    variance = u / n1 + v / n2
    width = bennett(variance, reach, main)
    if variance > 0:
        third = u * (1 - 2 * u) / n1**2 + v * (1 - 2 * v) / n2**2
        tail = mpf(main) - BERRY_ESSEEN * min(third / variance, deviation) / mp.sqrt(variance)
        if tail > 0:
            width = min(width, max(quantile(tail), mpf(0)) * mp.sqrt(variance))
    return width


def worst_width(l1, u1, n1, l2, u2, n2, main):
    """The supremum of width_at over the box: a grid that is refined around its best point, in every step from the
    three best, so that ridges where the smaller of two widths changes are followed."""
    reach = max((1 - l1) / n1, u2 / n2)
    deviation = max(u1 / n1, (1 - l1) / n1, u2 / n2, (1 - l2) / n2)
    span = lambda l, u: (min(l * (1 - l), u * (1 - u)),
                         mpf(1) / 4 if l < 0.5 < u else max(l * (1 - l), u * (1 - u)))
    (a, b), (c, d) = span(l1, u1), span(l2, u2)
    known = {}

    def value(u, v):
        if (u, v) not in known:
            with mp.workdps(35):
                known[u, v] = width_at(u, v, n1, n2, reach, deviation, main)
        return known[u, v]

    best = {(u, v): value(u, v) for u in mp.linspace(a, b, 9) for v in mp.linspace(c, d, 9)}
    su, sv = (b - a) / 8, (d - c) / 8
    for _ in range(36):
        top = sorted(best, key=best.get, reverse=True)[:3]
        su, sv = su / 2, sv / 2
        for u, v in top:
            for i in (-1, 0, 1):
                for j in (-1, 0, 1):
                    point = min(max(u + i * su, a), b), min(max(v + j * sv, c), d)
                    best[point] = value(*point)
        best = {point: best[point] for point in sorted(best, key=best.get, reverse=True)[:40]}
    top = max(best, key=best.get)
    return width_at(*top, n1, n2, reach, deviation, main)


def renyi(p, q, a):
    terms = [(x, y) for x, y in ((p, q), (1 - p, 1 - q)) if x > 0]
    if any(y <= 0 for _, y in terms):
        return mp.inf
    return mp.log(mp.fsum(mp.exp(a * mp.log(x) + (1 - a) * mp.log(y)) for x, y in terms)) / (a - 1)


def golden(f, low, high):
    ratio = (mp.sqrt(5) - 1) / 2
    x, y = high - ratio * (high - low), low + ratio * (high - low)
    fx, fy = f(x), f(y)
    for _ in range(160):
        if fx < fy:
            high, y, fy = y, x, fx
            x = high - ratio * (high - low)
            fx = f(x)
        else:
            low, x, fx = x, y, fy
            y = low + ratio * (high - low)
            fy = f(y)
    return min(fx, fy)


def half_space_minimum(l1, u1, l2, u2, delta, a, forward):
    d = (lambda p, q: renyi(p, q, a)) if forward else (lambda p, q: renyi(q, p, a))
    if l2 > u1:
        return d(u1, l2)
    if l1 >= u2 + delta:
        return d(l1, u2) if l1 > u2 else mpf(0)
    if delta <= 0:
        return mpf(0) if l1 <= u2 else d(l1, u2)
    start, end = max(l2, l1 - delta), min(u2, u1 - delta)
    slope_of = lambda l: a * mp.exp((a - 1) * l) - (a - 1) * mp.exp(a * l)

    def slope(q):
        p = q + delta
        x, y = mp.log(p / q), mp.log((1 - p) / (1 - q))
        return slope_of(x) - slope_of(y) if forward else slope_of(-x) - slope_of(-y)

    tiny = (end - start) * mpf(10) ** -55
    low, high = start + (tiny if start <= 0 else 0), end - (tiny if end + delta >= 1 else 0)
    if slope(high) <= 0:
        best = high
    elif slope(low) >= 0:
        best = low
    else:
        for _ in range(400):
            middle = (low + high) / 2
            low, high = (middle, high) if slope(middle) < 0 else (low, middle)
        best = low
    value = d(best + delta, best)
    other = golden(lambda q: d(q + delta, q), start, end)
    other = min(other, d(end + delta, end) if end + delta < 1 else other, value if best in (start, end) else other)
    WORST["minimum"] = max(WORST["minimum"], float(abs(other - value) / value))
    return value


def half_space(x1, n1, x2, n2, order, g):
    tail, main = levels(g, 4)
    l1, _, u1, _ = limits(x1, n1, tail)
    l2, _, u2, _ = limits(x2, n2, tail)
    width = worst_width(l1, u1, mpf(n1), l2, u2, mpf(n2), main)
    at = lambda width: mpf(x1) / n1 - mpf(x2) / n2 - width
    ends = [[half_space_minimum(l1, u1, l2, u2, at(w), mpf(order), forward) for forward in (True, False)]
            for w in (width, width * mpf(10021) / 10000)]
    names = ["forward", "reverse", "forward_least", "reverse_least"]
    return {"kind": "half_space", "inputs": {"x1": x1, "n1": n1, "x2": x2, "n2": n2, "order": order, "g": g},
            "expected": {"width": table.decimal(width), "difference": table.decimal(at(width)),
                         **{name: table.decimal(end) for name, end in zip(names, ends[0] + ends[1])}}}


def tangent(x, y, log_ratio, order, g):
    tail, main = levels(g, 4 if len(x) == 2 else 4 * len(x))
    a = mpf(order)
    gain = [a * mp.expm1((a - 1) * mpf(l)) for l in log_ratio]
    cost = [(a - 1) * mp.expm1(a * mpf(l)) for l in log_ratio]
    excess = lower_limit([(x, gain, box(x, tail)), (y, [-c for c in cost], box(y, tail))], main)
    bound = mp.log1p(max(excess, mpf(0))) / (a - 1)
    return {"kind": "tangent", "inputs": {"x": x, "y": y, "log_ratio": log_ratio, "order": order, "g": g},
            "expected": {"excess": table.decimal(excess), "bound": table.decimal(bound)}}


ORDERS = [1.01, 1.5, 2.0, 5.0, 10.0, 32.0, 100.0]
FAILURES = [0.05, 0.01, 1e-3, 1e-6, 0.5, 0.05, 1e-30, 0.05, 0.999]
PAIRS = [
    (1, 1, 0, 1), (0, 1, 1, 1), (0, 1, 0, 1), (1, 1, 0, 100), (1, 1, 0, 10**12), (10, 10, 0, 10), (0, 10, 10, 10), (100, 100, 90, 100),
    (30, 1000, 0, 1000), (0, 1000, 30, 1000), (1000, 1000, 1000, 1000), (550, 1000, 500, 1000), (500, 1000, 550, 1000), (7500, 10000, 2500, 10000),
    (50600, 10**5, 49400, 10**5), (507050, 10**6, 492950, 10**6), (507050, 10**6, 49295, 10**5), (50, 10**8, 5, 10**8), (5, 10**8, 50, 10**8),
    (50705000, 10**8, 49295000, 10**8), (10**8 - 5, 10**8, 10**8 - 50, 10**8), (507050000000, 10**12, 492950000000, 10**12),
    (10**12, 10**12, 999999999000, 10**12), (10**12, 10**12, 0, 10**12), (500001000000, 10**12, 500000000000, 10**12), (100, 10**12, 0, 10**12),
    (500002000000, 10**12, 500000000000, 10**12), (3 * 10**11, 10**12, 30, 100), (999999999999, 10**12, 5, 10), (10**6, 10**6, 999900, 10**6),
]
TANGENTS = [
    ([1, 0], [0, 1], [-0.5, 0.5]), ([0, 0, 1], [1, 0, 0], [-1.0, 0.0, 1.0]), ([0, 500, 500], [100, 400, 500], [-0.25, 0.0, 0.125]),
    ([0, 0, 10**12], [10**12, 0, 0], [-2.0, 0.0, 2.0]), ([20000, 30000, 50000], [30000, 30000, 40000], [-0.375, 0.0, 0.21875]),
    ([200000, 300000, 500000], [300000, 300000, 400000], [-0.375, 0.0, 0.21875]), ([50, 9950, 10**7], [10, 9990, 10**7], [-1.5, -0.25, 0.0]),
    ([299999 * 10**6, 300000 * 10**6, 400001 * 10**6], [300000 * 10**6] * 2 + [400000 * 10**6], [-3e-6, 0.0, 2.5e-6]),
    ([299000, 300000, 401000], [300000, 300000, 400000], [-0.003, 0.0, 0.0025]), ([7, 3, 0, 5, 985], [9, 3, 1, 7, 980], [-0.4, -0.1, 0.0, 0.1, 0.3]),
    ([70200, 13100, 9000, 5200, 2500], [2500, 5200, 9000, 33300, 50000], [-1.0, -0.5, 0.0, 0.5, 1.0]),
    ([2500, 5200, 9000, 13100, 70200], [2500, 5200, 9000, 33300, 50000], [-0.75, -0.5, 0.0, 0.0625, 0.3125]),
    ([5, 10**9], [0, 1], [-0.5, 0.25]),
]


def main():
    ctx.prec, mp.dps = bt.PRECISION, 100
    entries, turn = [], 0
    for pair in PAIRS:
        for _ in range(3):
            entries.append(half_space(*pair, ORDERS[turn % len(ORDERS)], FAILURES[turn % len(FAILURES)]))
            turn += 1
    for case in TANGENTS:
        for _ in range(4):
            entries.append(tangent(*case, ORDERS[turn % len(ORDERS)], FAILURES[turn % len(FAILURES)]))
            turn += 1
    table.write("linear_bounds.json", entries)
    print("worst differences of the second methods", WORST)
    positive = [e for e in entries if any(float(e["expected"].get(k, "0")) > 0 for k in ("forward", "bound"))]
    print(len(entries), "entries,", len(positive), "with a positive bound")


if __name__ == "__main__":
    main()
