"""Binomial tails and one-sided Clopper-Pearson limits in ball arithmetic.

I_x(k, n-k+1) = P(Bin(n, x) >= k) is evaluated in three unrelated ways:
`tail_by_sum` (the finite sum), `tail_by_integral` (Gauss-Legendre panels on
one half of the beta density, times its gamma-function constant) and
`tail_by_ratio` (both halves of the beta integral in mpmath on other panels,
no constant at all).
"""
from functools import cache

import mpmath
from flint import arb, ctx
from scipy.stats import beta

from table import to_mpf

PRECISION = 448
SHORT_SUM = 300
NATS = 170
PANELS, NODES = 24, 64


@cache
def gauss_legendre():
    return [arb.legendre_p_root(NODES, i, weight=True) for i in range(NODES)]


def log_density(k, n, x):
    """ln of the density of Beta(k, n-k+1) at x."""
    constant = arb(n + 1).lgamma() - arb(k).lgamma() - arb(n - k + 1).lgamma()
    return constant + (k - 1) * x.log() + (n - k) * (1 - x).log()


def tail_by_sum(k, n, x):
    """P(Bin(n, x) >= k) by the shorter of the two finite sums."""
    if k > n - k + 1:  # P(X >= k) = sum over the n - k + 1 terms from the top
        term, total = x ** n, arb(0)
        for j in range(n, k - 1, -1):
            total += term
            term = term * j * (1 - x) / ((n - j + 1) * x)
        return total
    term, total = ((1 - x).log() * n).exp(), arb(0)
    for j in range(k):
        total += term
        term = term * (n - j) * x / ((j + 1) * (1 - x))
    return 1 - total


def _reach(shape, x, end):
    """A point between x and `end` beyond which exp(shape) is below e^-NATS of its peak."""
    width = end - x
    while shape(x + width * 9 / 10) < -NATS:
        width = (width * 9 / 10).mid()
    return (x + width).mid()


def tail_by_integral(k, n, x):
    """P(Bin(n, x) >= k) by quadrature of the half of the beta density beyond x.

    For k and n-k above SHORT_SUM, where the cut keeps away from 0 and 1.
    """
    def shape(t):
        return (k - 1) * (t / x).log() + (n - k) * ((1 - t) / (1 - x)).log()

    lower = x * (n - 1) < k - 1
    width = _reach(shape, x, arb(0) if lower else arb(1)) - x
    part, step = arb(0), width / (2 * PANELS)
    for j in range(PANELS):
        for node, weight in gauss_legendre():
            part += weight * shape(x + step * (2 * j + 1 + node)).exp()
    part = part * abs(step)
    part = part * log_density(k, n, x).exp()
    return part if lower else 1 - part


def tail_by_ratio(k, n, x, panels=32, degree=5):
    """P(Bin(n, x) >= k) = A / (A + B), A and B the two halves of the beta integral."""
    with mpmath.workdps(75):
        x = to_mpf(x)
        if n == 1:
            return arb(str(x))

        def shape(t):
            value = mpmath.mpf(0)
            if k > 1:
                value += (k - 1) * mpmath.log(t / x) if t > 0 else -mpmath.inf
            if n > k:
                value += (n - k) * mpmath.log((1 - t) / (1 - x)) if t < 1 else -mpmath.inf
            return value

        mode = mpmath.mpf(k - 1) / (n - 1)

        def half(end):
            # the half line from x towards `end`, cut NATS below the largest value on it
            inside = mode if (mode - x) * (end - x) > 0 else x
            top, width = shape(inside), end - inside
            while width and shape(inside + width / 2) - top < -NATS:
                width /= 2
            points = [x + (inside - x) * j / 8 for j in range(8)] if inside != x else []
            points += [inside + width * j / panels for j in range(panels + 1)]
            gauss = mpmath.calculus.quadrature.GaussLegendre(mpmath.mp)
            total = mpmath.mpf(0)
            nodes = gauss.get_nodes(-1, 1, degree, mpmath.mp.prec)
            for a, b in zip(points, points[1:]):
                m, h = (a + b) / 2, (b - a) / 2
                total += h * mpmath.fsum(w * mpmath.exp(shape(m + h * t)) for t, w in nodes)
            return abs(total)

        below, above = half(mpmath.mpf(0)), half(mpmath.mpf(1))
        return arb(mpmath.nstr(below / (below + above), 70))


def lower_limit(k, n, alpha):
    """x with P(Bin(n, x) >= k) = alpha, 1 <= k <= n, and the name of the method."""
    ctx.prec = PRECISION
    alpha = arb(alpha)
    if k == n:
        return (alpha.log() / n).exp(), "closed"
    if k == 1:
        return -(((-alpha).log1p() / n).expm1()), "closed"
    short = min(k, n - k + 1) <= SHORT_SUM
    tail = tail_by_sum if short else tail_by_integral
    x = arb(float(beta.ppf(float(alpha), k, n - k + 1)))
    for _ in range(80):  # Newton in (ln x, ln tail), which is concave
        value = tail(k, n, x)
        slope = (log_density(k, n, x)).exp() * x / value
        step = -(value / alpha).log() / slope
        if step < -0.5:  # only a start above the root asks for more than it should
            step = arb(-0.5)
        x = (x * step.exp()).mid()
        if abs(step) < arb(2) ** -200:
            # error of x is bounded by the ball of the last step
            return arb(x, abs(step.rad() * x).upper()), "sum" if short else "beta-integral"
    raise ArithmeticError(f"no root for {k}, {n}, {alpha}: last step {step}")


def limits(k, n, alpha):
    """(lower, 1-lower, upper, 1-upper) at one-sided error alpha, with method names."""
    ctx.prec = PRECISION
    low, how_low = (arb(0), "exact") if k == 0 else lower_limit(k, n, alpha)
    mirror, how_up = (arb(0), "exact") if k == n else lower_limit(n - k, n, alpha)
    return low, 1 - low, 1 - mirror, mirror, how_low, how_up
