"""Exact output distribution of the noisy argmax of a fixed histogram, in ball arithmetic.

Class c wins when counts[c] + Z_c is the largest.  With d_i = (counts[c] -
counts[i]) / scale and standardised noise of density f and distribution F,

    p_c = integral over z of f(z) prod_{i != c} F(z + d_i).

Equal counts share one value.  Gaussian noise: trapezoid rule on the window in
which the log-integrand is within NATS of its peak, halving the step until two
sums agree; second method Gauss-Legendre panels on that window.  Laplace noise:
Gauss-Legendre panels between the kinks (no error beyond rounding for the
exponential polynomials met here); second method the exact piecewise integral.
"""
from functools import cache

from flint import arb, ctx

PRECISION = 384
NATS = 130
AGREE = arb(2) ** -180  # relative agreement asked of two trapezoid sums


@cache
def _nodes(count, prec):
    return [arb.legendre_p_root(count, i, weight=True) for i in range(count)]


def _panels(f, a, b, panels, nodes=48):
    """Gauss-Legendre on `panels` equal panels of [a, b]."""
    half, total = (b - a) / (2 * panels), arb(0)
    for j in range(panels):
        for node, weight in _nodes(nodes, ctx.prec):
            total += weight * f(a + half * (2 * j + 1 + node))
    return total * half


# --- Gaussian -------------------------------------------------------------

def ndtr(x):
    """Standard normal distribution function, relatively accurate in both tails."""
    return (-x / arb(2).sqrt()).erfc() / 2


def _gaussian_integrand(shifts):
    constant = 1 / (2 * arb.pi()).sqrt()

    def f(z):
        value = constant * (-z * z / 2).exp()
        for d, m in shifts:
            value *= ndtr(z + d) ** m
        return value
    return f


def _window(f):
    """(left, right): the log-concave f is e^-NATS of its peak outside."""
    def g(z):
        return f(arb(z)).log().mid()

    # bracket the peak by doubling, then ternary search
    left, right = arb(-1), arb(1)
    while g(left * 2) > g(left):
        left *= 2
    while g(right * 2) > g(right):
        right *= 2
    left, right = left * 2, right * 2
    for _ in range(90):
        a, b = (2 * left + right).mid() / 3, (left + 2 * right).mid() / 3
        if g(a) < g(b):
            left = a.mid()
        else:
            right = b.mid()
        if right - left < arb(2) ** -8:
            break
    peak = ((left + right) / 2).mid()
    top, ends = g(peak), []
    for sign in (-1, 1):
        step = arb(1) / 8
        while g(peak + sign * step) > top - NATS:
            step = step * 5 / 4
        ends.append((peak + sign * step).mid())
    return ends


def _gaussian(shifts, second):
    f = _gaussian_integrand(shifts)
    left, right = _window(f)
    if second:
        value, panels = _panels(f, left, right, 16), 32
        while True:
            finer = _panels(f, left, right, panels)
            if abs(finer - value) < abs(finer) * AGREE or panels > 512:
                return finer
            value, panels = finer, panels * 2
    count = 64
    step = ((right - left) / count).mid()
    total = sum((f(left + step * j) for j in range(count + 1)), arb(0))
    while count < 2**14:
        middle = sum((f(left + step * j + step / 2) for j in range(count)), arb(0))
        finer = (total + middle) / 2 * step
        if abs(finer - total * step) < abs(finer) * AGREE:
            return finer
        total, step, count = total + middle, step / 2, 2 * count
    raise ArithmeticError(f"trapezoid rule did not settle for {shifts}")


# --- Laplace --------------------------------------------------------------

def _laplace_integrand(shifts):
    def f(z, inside):
        # `inside` picks the branch of every absolute value, so that panels may touch kinks
        value = (-abs(z)).exp() / 2
        for d, m in shifts:
            tail = ((-(z + d)) if inside + d > 0 else (z + d)).exp() / 2
            value *= (1 - tail if inside + d > 0 else tail) ** m
        return value
    return f


def _laplace(shifts, second):
    kinks = sorted({float((-d).mid()) for d, _ in shifts} | {0.0})
    exact = {float((-d).mid()): -d for d, _ in shifts} | {0.0: arb(0)}
    points = [exact[k] for k in kinks]
    if second:
        return _laplace_exact(shifts, points)
    f = _laplace_integrand(shifts)
    points = [points[0] - 200] + points + [points[-1] + 200]
    total = arb(0)
    for a, b in zip(points, points[1:]):
        inside = (a + b) / 2
        degree = 1 + sum(m for _, m in shifts)  # the integrand is a polynomial in e^z and e^-z
        panels = int(float(b - a) * degree / 40) + 1
        total += _panels(lambda z: f(z, inside), a, b, panels)
    return total


def _laplace_exact(shifts, points):
    """Sum of integrals of exponential polynomials: dict {power j: coefficient of e^(j z)}."""
    infinity = None
    edges = [infinity] + points + [infinity]
    total = arb(0)
    for a, b in zip(edges, edges[1:]):
        inside = (b - 1) if a is infinity else (a + 1) if b is infinity else (a + b) / 2
        poly = {-1 if inside > 0 else 1: arb(1) / 2}
        for d, m in shifts:
            for _ in range(m):
                grown = {}
                for power, c in poly.items():
                    if inside + d > 0:
                        grown[power] = grown.get(power, arb(0)) + c
                        key, factor = power - 1, -(-d).exp() / 2
                    else:
                        key, factor = power + 1, d.exp() / 2
                    grown[key] = grown.get(key, arb(0)) + c * factor
                poly = grown
        for power, c in poly.items():
            if power == 0:
                total += c * (b - a)
                continue
            upper = (b * power).exp() if b is not infinity else arb(0)
            lower = (a * power).exp() if a is not infinity else arb(0)
            total += c * (upper - lower) / power
    return total


# --- distributions -----------------------------------------------------------------

@cache
def _distribution_by_count(counts, scale, noise, second):
    """{count: p of one class with that count} for a sorted tuple of counts."""
    distribution = {}
    for own in set(counts):
        others = list(counts)
        others.remove(own)
        shifts = [((arb(own) - arb(n)) / arb(scale), others.count(n)) for n in sorted(set(others))]
        if not shifts:
            distribution[own] = arb(1)
        elif noise == "gaussian":
            distribution[own] = _gaussian(shifts, second)
        else:
            distribution[own] = _laplace(shifts, second)
    return distribution


def distribution(counts, scale, noise="gaussian", second=False):
    """[P(argmax = c)] for the histogram `counts`."""
    by_count = _distribution_by_count(tuple(sorted(counts)), scale, noise, second)
    return [by_count[n] for n in counts]


def complements(p):
    """1 - p_c as the sum of the other classes (no cancellation)."""
    return [sum(p[:c] + p[c + 1:], arb(0)) for c in range(len(p))]


def logs(p):
    """ln p_c, from the complement for a class above one half."""
    return [(-q).log1p() if q < 0.5 else x.log() for x, q in zip(p, complements(p))]
